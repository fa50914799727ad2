"""Every public function at several sizes, each call waited for, against NumPy.

    python -m benchmarks.calls [--sizes 0,3,100,...] [--only TEXT] [--over 1.5] [--json FILE]

Size 0 is one number: an element of an array. The calls are in ``benchmarks.calls_table``.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import math
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy

import lazyarray
from benchmarks.calls_table import CUBIC, CUBIC_SIZES, Call, candidates, operands
from benchmarks.worker import settle

SIZES = (0, 3, 100, 1000, 10**5, 10**6)
BURST = 1e-3  # seconds of a burst
BURSTS = 10
MORE_BURSTS = 10  # for a row that seems slow: what disturbed all of the first ones is seldom there
SEEMS_SLOW = 1.2
PATIENCE = 0.7  # seconds for the bursts of one row, five of them at least
SLOWEST = 0.4  # seconds: a call that takes NumPy longer is left out
PROBES = (100, 1000)  # sizes at which NumPy alone runs, to see what a call's time grows like
MANY = 1000  # elements of one array, in a longer list
SERIAL = itertools.count()
LARGE = 10**4  # from this size on BLAS's threads have to be waited for


@dataclass
class Timed:
    """A row of the table: microseconds of one call."""

    size: int
    call: str
    numpy: float
    lazyarray: float

    @property
    def ratio(self) -> float:
        """lazyarray's time over NumPy's."""
        return self.lazyarray / self.numpy


@dataclass
class Found:
    """What was measured, and what could not be."""

    rows: list[Timed] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


class Side:
    """One library with its own copies of the operands of a call."""

    def __init__(self, xp: Any, call: Call, given: dict[str, Any]) -> None:
        self.xp, self.call = xp, call
        self.names: dict[str, Any] = {"xp": xp, "np": numpy, "math": math}
        for name in call.names & set(given):
            value = given[name]
            if xp is lazyarray and isinstance(value, numpy.generic):
                value = lazyarray.array([value])[0]  # what reading an element gives
            elif isinstance(value, numpy.ndarray):
                value = xp.array(value)
            self.names[name] = value
        kinds = (numpy.ndarray, lazyarray.NDArray)
        self.arrays = sorted(n for n in self.names if isinstance(self.names[n], kinds))
        lazyarray.waitall()
        self.code = call.code()
        self.repeats = 1

    def seed(self) -> None:
        """So that draws are the same ones in each burst."""
        if self.call.draws:
            self.xp.random.seed(0)
            self.names["rng"] = self.xp.random.default_rng(0)

    def value(self) -> Any:
        """The call's result; for one that has none, the arrays that it names."""
        self.seed()
        result = eval(self.code, self.names)
        self.in_place = self.call.statement or result is None
        return tuple(self.names[n] for n in self.arrays) if self.in_place else result

    def prepare(self) -> Any:
        """Makes the function that is timed, and gives the call's result."""
        result = self.value()
        wait = ""
        if self.xp is lazyarray:
            wait = waiting(result)
            if self.in_place:
                wait = "\n".join(f"{name}.wait_to_read()" for name in self.arrays)
        keeps = "" if self.call.statement else "_result = "
        if written := self.call.writes & set(self.names):
            keeps = f"global {', '.join(written)}\n"
        self.burst = function(f"{keeps}{self.call.text}\n{wait}", self.names)
        self.waits = 0.0
        if wait:
            self.names["_result"] = result
            wait_again, empty = (
                function(text, self.names | {"_result": result}) for text in (wait, "pass")
            )
            lazyarray.waitall()
            self.waits = max(0.0, min(wait_again(200) for _ in range(5))
                             - min(empty(200) for _ in range(5)))  # fmt: skip
        return result

    def time(self) -> float:
        """Seconds of one call, in one burst."""
        self.seed()
        return self.burst(self.repeats) - self.waits


def function(text: str, names: dict[str, Any]) -> Callable[[int], float]:
    """Runs a text some number of times, and gives the seconds of one."""
    body = text.replace("\n", "\n        ")
    # lazyarray counts waits by code objects, and those of one name and text are equal
    name = f"_burst{next(SERIAL)}"
    source = (
        f"def {name}(_n):\n    _start = _clock()\n    for _ in range(_n):\n"
        f"        {body}\n    return (_clock() - _start) / _n\n"
    )
    space = names
    space["_clock"] = time.perf_counter
    space["_waitall"] = lazyarray.waitall
    space["_wait"] = wait_for
    exec(compile(source, "<burst>", "exec"), space)
    return space.pop(name)


def waiting(result: Any) -> str:
    """The text that waits for a result."""
    if isinstance(result, lazyarray.NDArray):
        return "_result.wait_to_read()"
    if isinstance(result, list | tuple):
        if len(result) > MANY:
            return "_wait(_result[-1])"
        if all(isinstance(part, lazyarray.NDArray) for part in result):
            return "for _part in _result: _part.wait_to_read()"
        return "_wait(_result)" if any(map(_has_array, result)) else ""
    return "_waitall()" if type(result).__module__.startswith("lazyarray") else ""


def _has_array(value: Any) -> bool:
    parts = isinstance(value, list | tuple)
    return any(map(_has_array, value)) if parts else isinstance(value, lazyarray.NDArray)


def wait_for(value: Any) -> None:
    """Waits for the arrays in nested lists and tuples."""
    if isinstance(value, lazyarray.NDArray):
        value.wait_to_read()
    elif isinstance(value, list | tuple):
        for part in value:
            wait_for(part)


def difference(got: Any, want: Any, unknown: bool) -> str | None:
    """How two results differ, or None."""
    if isinstance(want, list | tuple):
        if len(got) != len(want):
            return f"{len(got)} parts, not {len(want)}"
        pairs = zip(got, want, strict=True) if len(want) <= MANY else [(got[0], want[0])]
        return next(filter(None, (difference(g, w, unknown) for g, w in pairs)), None)
    if not isinstance(want, numpy.ndarray | numpy.generic | float | complex | int):
        return None
    a, b = numpy.asarray(got), numpy.asarray(want)
    if (a.shape, a.dtype) != (b.shape, b.dtype):
        return f"{a.dtype} {a.shape}, not {b.dtype} {b.shape}"
    if unknown or a.dtype.kind not in "fciub" or numpy.array_equal(a, b):
        return None
    scale = numpy.abs(b[numpy.isfinite(b)]).max(initial=1e-300) if a.dtype.kind in "fc" else 1
    fine = numpy.allclose(a, b, rtol=1e-5, atol=1e-6 * scale, equal_nan=True)
    return None if fine else "other values"


def numpys(call: Call, given: dict[str, Any]) -> tuple[float, Any] | None:
    """The seconds of a call with NumPy and its result, or None where NumPy refuses it."""
    try:
        side = Side(numpy, call, given)
        start = time.perf_counter()
        result = side.value()
        return time.perf_counter() - start, result
    except Exception:
        return None


def size_of(value: Any) -> int:
    """Bytes of the arrays in a result."""
    if isinstance(value, list | tuple):
        return sum(map(size_of, value[:MANY]))
    return value.nbytes if isinstance(value, numpy.ndarray) else 0


def too_slow(call: Call, size: int, probes: dict[int, dict[str, Any]]) -> bool:
    """Whether NumPy would need too long, or too much memory, as the time at small sizes tells."""
    found = [numpys(call, probes[n]) for n in PROBES]
    found = [f and min(f, numpys(call, probes[n]) or f, key=lambda x: x[0])
             for f, n in zip(found, PROBES, strict=True)]  # fmt: skip
    if not (found[0] and found[1]):
        return False
    small, large = found[0], found[1]
    decades = math.log10(size / PROBES[1])
    grown = max(1.0, large[0] / small[0]) ** decades * large[0]
    bytes_grown = max(1.0, size_of(large[1]) / max(1, size_of(small[1]))) ** decades
    return grown > 3 * SLOWEST or bytes_grown * size_of(large[1]) > 2e9


def timed(call: Call, size: int, given: dict[str, Any], expected: Any, found: Found) -> None:
    """Times a call with both libraries, bursts in turn, and adds it to what was found."""
    theirs, ours = Side(numpy, call, given), Side(lazyarray, call, given)
    try:
        difference_found = difference(ours.prepare(), expected, call.unknown)
        theirs.prepare()
    except Exception as error:
        found.wrong.append(f"{size}: `{call.text}` raises {type(error).__name__}: {error}"[:300])
        return
    if difference_found:
        found.wrong.append(f"{size}: `{call.text}` differs: {difference_found}")
    sides = (theirs, ours)
    for side in sides:
        side.seed()
        once = 1.0
        for _ in range(3):  # the first call may wake BLAS's threads
            once = min(once, max(side.burst(1), 1e-8))
        if once < BURST / 4:
            side.seed()
            once = max(side.burst(max(1, round(BURST / 4 / once))), 1e-8)
        side.repeats = max(1, min(20000, round(BURST / once)))
    best = [math.inf, math.inf]
    end = time.perf_counter() + PATIENCE
    gc.collect(0)
    gc.disable()
    for turn in range(BURSTS + MORE_BURSTS):
        if turn >= 5 and time.perf_counter() > end:
            break
        if turn == BURSTS and best[1] <= SEEMS_SLOW * best[0]:
            break
        for n in (0, 1) if turn % 2 else (1, 0):
            if size >= LARGE:
                settle()
            best[n] = min(best[n], sides[n].time())
    gc.enable()
    found.rows.append(Timed(size, call.text, best[0] * 1e6, max(best[1], 1e-9) * 1e6))


def measure(sizes: Sequence[int], only: str) -> Found:
    """Times all calls whose text has ``only`` in it."""
    found = Found()
    probes = {n: operands(n) for n in PROBES}
    for size in sizes:
        given = operands(size)
        smaller = operands(CUBIC_SIZES[size]) if size in CUBIC_SIZES else given
        seen = set()
        for row in candidates(size):
            for call in row:
                if call.text in seen or only not in call.text:
                    break
                taken = smaller if CUBIC.search(call.text) else given
                if size > PROBES[1] and taken is given and too_slow(call, size, probes):
                    found.left_out.append(f"{size}: `{call.text}`")
                    break
                result = numpys(call, taken)
                if result is None:
                    continue
                seen.add(call.text)
                if result[0] > SLOWEST:
                    found.left_out.append(f"{size}: `{call.text}`")
                else:
                    timed(call, size, taken, result[1], found)
                break
        print(summary(size, found.rows), file=sys.stderr, flush=True)
    return found


def summary(size: int, rows: Sequence[Timed]) -> str:
    """A line of the summary: counts, and the geometric mean, of one size."""
    ratios = [row.ratio for row in rows if row.size == size]
    if not ratios:
        return f"| {size} | 0 |"
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    counts = " | ".join(str(sum(r > limit for r in ratios)) for limit in (1.2, 1.5, 2))
    return f"| {size or '0-d'} | {len(ratios)} | {mean:.2f} | {counts} | {max(ratios):.2f} |"


def report(found: Found, sizes: Sequence[int], over: float) -> str:
    """The tables, as Markdown."""
    lines = [
        "| size | calls | geometric mean | over 1.2 | over 1.5 | over 2 | worst |",
        "|---|---|---|---|---|---|---|",
        *(summary(size, found.rows) for size in sizes),
    ]
    for size in sizes:
        rows = [row for row in found.rows if row.size == size and row.ratio >= over]
        lines += ["", f"## {f'{size} elements' if size else '0-d'}", ""]
        lines += ["| lazyarray / NumPy | NumPy us | lazyarray us | call |", "|---|---|---|---|"]
        for row in sorted(rows, key=lambda row: -row.ratio):
            text = row.call.replace("|", "\\|")
            lines.append(f"| {row.ratio:.2f} | {row.numpy:.4g} | {row.lazyarray:.4g} | `{text}` |")
    for title, texts in (("Raises, or differs", found.wrong), ("Too slow", found.left_out)):
        if texts:
            lines += ["", f"## {title}", "", *(f"* {text}" for text in texts)]
    return "\n".join(lines)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="0 is one number")
    parser.add_argument("--only", default="", help="the calls with this text in them")
    parser.add_argument("--over", type=float, default=0.0, help="print rows from this ratio on")
    parser.add_argument("--json", help="keep the figures in this file")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    warnings.simplefilter("ignore")
    with numpy.errstate(all="ignore"):
        found = measure(sizes, options.only)
    print(report(found, sizes, options.over))
    if options.json:
        with open(options.json, "w") as file:
            json.dump(asdict(found), file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
