"""Runs a program in the ways in which lazyarray may run it, and compares each with NumPy."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import random
import re
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

import lazyarray as la
from lazyarray import engine
from lazyarray.lazy._lazy import TracingError
from lazyarray.lazy.cpu.jit._tier import _set_jit, refused_loops

from ..lazy.fusing import figures
from .phrases import LIBM, LIBM2
from .programs import PASSES, Failed, Program

# What a figure may be. The first is so for half of the programs: the figures that users have.
FIGURES: dict[str, list[float]] = {
    "inline_ns": [0, 0, 4000, 10000],
    "mid_ns": [0, 100, 2500],
    "stretch_ns": [0, 300, 3000, 30000],
    "cold_stretches": [1, 2, 16],
    "new_stretches": [1, 3, 64],
    "direct_bytes": [0, 0, 300, 32768],
    "hosted_bytes": [0, 4000, 400000],
    "lent_bytes": [1, 1, 500, 16384],
    "gil_ns": [0, 0, 50000],
    "cheap_ns": [0, 100, 20000],
    "group_ns": [0, 100000],
    "fuse_ns": [0, 0, 1000],
    "flush_ns": [1, 300, 1e15],
    "age_ns": [0, 200000, 1e15],
    "call_age_ns": [0, 2000000, 1e15],
    "tile_bytes": [8, 200, 1000, 65536, 98304],
    "stream": [0, 1 << 20, 32 << 20],
    "stream_bytes": [1000, 262144],
    "ahead_bytes": [300, 24576],
    "ns_per_byte": [0.25, 1e9],
    "least": [1, 4, 9, 256, 1024],
    "most": [1, 16, 8192],
    "row": [1, 4, 16, 40, 8192],
    "panels": [2, 3, 8],
    "panel": [1, 16, 256],
    "widest": [1, 16, 2048],
    "split_ns": [0, 0, 100000],
    "task_ns": [0, 0, 25000],
}
SMALL = 20_000  # elements of a program that may be cut into single ones


@dataclasses.dataclass(frozen=True)
class Way:
    """How a program is run: with which figures, in segments of how many ops, compiled or not."""

    name: str
    figures: tuple[tuple[str, float], ...] = ()
    bulk: int = 0
    compiled: bool = False
    jit: bool = False  # its chains become loops of LLVM's at once


def ways(program: Program) -> list[Way]:
    """The ways for this program: the users' own, and some of all others."""
    rng = random.Random(program.seed)
    small = program.elements() <= SMALL
    figures = {}
    for name, values in FIGURES.items():
        sane = [
            v for v in values if small or name not in ("tile_bytes", "least", "most") or v >= 200
        ]
        figures[name] = rng.choice(sane)
    found = [Way("usual"), Way("figures", tuple(figures.items()), rng.choice((0, 2, 7, 100000)))]
    kind = rng.random()
    if kind < 0.3:
        found.append(Way("alone", (("fuses", 0), ("inline_ns", 0)), 1))
    elif kind < 0.5:
        eager = (("inline_ns", 0), ("fuse_ns", 0), ("flush_ns", 1e15), ("age_ns", 1e15))
        found.append(Way("whole", eager, 100000))
    elif kind < 0.8:
        found.append(Way("compiled", compiled=True))
    if rng.random() < (0.15 if program.seed % PASSES else 0.6):
        found.append(
            Way("jit", (("inline_ns", 0), ("fuse_ns", 0), *found[1].figures), 100000, jit=True)
        )
    return found


class Wrong(Exception):
    """What lazyarray did, and NumPy didn't."""


def check(program: Program, only: Way | None = None) -> None:
    """Runs the program in each of its ways, or in one; raises :class:`Wrong`."""
    want = on_numpy(program)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for way in [only] if only else ways(program):
            run(program, way, want)


# A dtype that no GPU has, the host's memory, the order of what is equal (docs/gpu.md).
_HOSTS = re.compile(r"'[gG]'|frombuffer|partition|argsort\((?!.*stable)")


def check_on(device: la.Context, program: Program) -> None:
    """Runs the program on a GPU, where a sum has another order; raises :class:`Wrong`.

    Its inputs had better be small: where a sum overflows is a matter of its order, too.
    """
    if _HOSTS.search(str(program)):
        return
    want = on_numpy(program)
    if (names := steady(program, want)) is None:
        return
    with warnings.catch_warnings(), device:
        warnings.simplefilter("ignore")
        way = Way(str(device))
        with over(program):
            got = attempt(way, program, inputs(program))
            compare(way, got, want, names, nearly)
        if said := hazards():
            raise Wrong(f"{way.name}: {said}")


def hazards() -> str:
    """What the simulated device says of accesses that nothing orders."""
    if not os.environ.get("LAZYARRAY_SIM_HAZARDS"):
        return ""
    from cupy import _sim  # the stand-in

    la.waitall()
    return "; ".join(_sim.hazards())


def on_numpy(program: Program, xp: Any = np) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return program.run(xp, program.arrays())


# What a GPU rounds its own way: sums and products in another order, another C library's functions.
ROUNDED = {
    "sum", "mean", "prod", "std", "var", "nansum", "nanmean", "nanprod", "nanstd", "nanvar",
    "cumsum", "cumprod", "cumulative_sum", "cumulative_prod", "nancumsum", "nancumprod",
    "average", "trapezoid", "dot", "matmul", "inner", "vdot", "vecdot", "matvec", "vecmat",
    "tensordot", "trace", "cov", "corrcoef",
    *re.findall(r"xp\.(?!abs)(\w+)", " ".join((*LIBM, *LIBM2))),
}  # fmt: skip

ZEROS = {"max", "min", "amax", "amin", "maximum", "minimum", "fmax", "fmin"}  # of either sign

SUMS = {"sum", "mean", "nansum", "nanmean", "cumsum", "dot", "matmul", "inner", "trace"}


class Shaken:
    """NumPy, with other last bits in what a GPU rounds its own way."""

    def __init__(self, sign: int) -> None:
        self._sign = sign

    def __getattr__(self, name: str) -> Any:
        function = getattr(np, name)
        if name in ZEROS:
            return self._signed(function)
        if name not in ROUNDED:
            return function

        def shaken(*args: Any, **kwargs: Any) -> Any:
            result = function(*args, **kwargs)
            given = "out" in kwargs or len(args) > 3  # (a, axis, dtype, out)
            if name.endswith("prod") and result.dtype.kind == "f" and not given:
                # In which order it overflows, and then meets a zero, is no matter either.
                wide = function(*args[:2], **{**kwargs, "dtype": np.longdouble})
                result = wide.astype(result.dtype)
            if name in ("prod", "nanprod") and result.dtype.kind in "fc" and not given:
                x = np.asarray(args[0])
                with np.errstate(all="ignore"):
                    large, small = (
                        function(np.where(part, x, 1).astype(x.dtype), *args[1:], **kwargs)
                        for part in (np.abs(x) > 1, ~(np.abs(x) > 1))
                    )
                    other = np.where(np.isfinite(large), result, large * small)
                result = other.astype(result.dtype)
            if result.dtype.kind in "fc":
                one = np.finfo(result.dtype)
                # NumPy rounds each step of some sums to halves, a GPU the last one: five in a
                # hundred of 2000 terms' sum.
                if one.bits == 16 and name in SUMS and not given and self._sign > 0:
                    exact = [np.asarray(x, float) if np.ndim(x) else x for x in args]
                    options = {k: v for k, v in kwargs.items() if k != "dtype"}
                    result = np.asarray(function(*exact, **options)).astype(result.dtype)
                most = float(one.eps) * (16 if one.bits == 16 else 2)
                off = self._sign * np.random.default_rng(0).uniform(-most, most, result.shape)
                size = result
                if name in SUMS and not given:  # terms that cancel leave the rounding of each
                    size = function(*(np.abs(x) if np.ndim(x) else x for x in args), **kwargs)
                result += (size * off).astype(result.dtype)
            return result

        return shaken

    def _signed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def signed(*args: Any, **kwargs: Any) -> Any:
            result = function(*args, **kwargs)
            if result.dtype.kind == "f":
                zeros = np.copysign(np.zeros_like(result), self._sign)
                np.copyto(result, zeros, where=result == 0)
            return result

        return signed


def steady(program: Program, want: dict[str, Any]) -> list[str] | None:
    """The names whose values last bits don't decide (a large product's remainder, say).

    None if they decide whether the program runs at all: how many values differ, say.
    """
    try:
        shaken = [on_numpy(program, Shaken(sign)) for sign in (1, -1)]
    except Exception:
        return None

    def same(a: Any, b: Any) -> bool:
        if Failed in (type(a), type(b)):
            return bool(a == b)
        return not nearly(np.asarray(a), np.asarray(b))

    return [n for n in sorted(want) if all(n in s and same(s[n], want[n]) for s in shaken)]


def run(program: Program, way: Way, want: dict[str, Any]) -> None:
    """One way, against NumPy's values."""
    order = sorted(want)
    random.Random(program.seed + 1).shuffle(order)
    with (
        figures(**dict(way.figures)),
        over(program),
        engine.bulk(way.bulk) if way.bulk else contextlib.nullcontext(),
    ):
        if way.jit:
            before = refused_loops()
            with eager():
                # The first compares a tile of each; where flags are heard of, tiles are done again.
                for heard in (False, False, True):
                    compare(way, attempt(way, program, inputs(program), heard), want, order)
            fresh = [t for t in refused_loops() if t.startswith("other bits") and t not in before]
            if fresh:
                raise Wrong(f"{way.name}: {fresh}")
            return
        if not way.compiled:
            compare(way, attempt(way, program, inputs(program)), want, order)
            return
        compiled = la.compile(lambda given: program.run(la, given))
        for _ in range(3):
            try:
                got = compiled(inputs(program))
            except TracingError:  # it needs values
                return
            except Exception as exc:
                raise Wrong(f"{way.name}: {type(exc).__name__}: {exc}") from exc
            compare(way, got, want, order)


@contextlib.contextmanager
def eager() -> Iterator[None]:
    old = _set_jit("eager" if find_spec("llvmlite") else "0")
    try:
        yield
    finally:
        _set_jit(old)


@contextlib.contextmanager
def over(program: Program) -> Iterator[None]:
    """In the end nothing is left of it, not even an error that no array has any more."""
    try:
        yield
    finally:
        if any("tried(" in line for line in program.lines):
            with contextlib.suppress(ValueError, IndexError):
                la.waitall()


def inputs(program: Program) -> dict[str, Any]:
    return {x.name: x.view(la.array(x.base())) for x in program.inputs}


def attempt(
    way: Way, program: Program, given: dict[str, Any], heard: bool = False
) -> dict[str, Any]:
    try:
        return program.run(la, given, heard)
    except Exception as exc:
        raise Wrong(f"{way.name}: {type(exc).__name__}: {exc}") from exc


def compare(
    way: Way,
    got: dict[str, Any],
    want: dict[str, Any],
    order: list[str],
    differ: Callable[[np.ndarray, np.ndarray], str] | None = None,
) -> None:
    if sorted(got) != sorted(want):
        raise Wrong(f"{way.name}: names {sorted(got)} for {sorted(want)}")
    # What was made of nothing is laid out by rules of its own.
    ordered = all(np.size(x) for x in want.values())  # (one, where the line failed)
    for name in order:
        if isinstance(failed := want[name], Failed):
            if said := unlike(got[name], failed):
                raise Wrong(f"{way.name}: {name}: {said}")
            continue
        try:
            x = got[name].asnumpy() if isinstance(got[name], la.NDArray) else np.asarray(got[name])
        except Exception as exc:
            raise Wrong(f"{way.name}: {name}: {type(exc).__name__}: {exc}") from exc
        said = (differ or difference)(x, np.asarray(want[name]))
        if said or (ordered and (said := order_differs(got[name], want[name]))):
            raise Wrong(f"{way.name}: {name}: {said}")


def unlike(got: Any, failed: Failed) -> str:
    """What came in place of the error."""
    if isinstance(got, Failed) and failed.handed_on:
        return (
            ""  # what shapes and dtypes don't allow is told at the call, before the operand's error
        )
    if not isinstance(got, Failed):
        try:
            got.asnumpy()
            return f"no error for {failed}"
        except Exception as exc:
            got = Failed(type(exc))
    return "" if issubclass(got.error, failed.error) else f"{got} for {failed}"


def order_differs(got: Any, want: Any) -> str:
    """What differs of the axes' order in memory, which decides what a sum of them adds first."""
    if not isinstance(got, la.NDArray) or not isinstance(want, np.ndarray) or not want.size:
        return ""
    axes = [i for i, n in enumerate(want.shape) if n > 1]
    g, w = ([np.sign(x.strides[i]) for i in axes] for x in (got, want))
    if g != w:
        return f"strides {got.strides} for {want.strides}"
    g, w = (sorted(axes, key=lambda i: abs(x.strides[i])) for x in (got, want))
    return f"strides {got.strides} for {want.strides}" if g != w else ""


def difference(got: np.ndarray, want: np.ndarray) -> str:
    """What is not equal, bit for bit (but for the bits of a NaN); or nothing."""
    if (got.dtype, got.shape) != (want.dtype, want.shape):
        return f"{got.dtype} {got.shape} for {want.dtype} {want.shape}"
    with np.errstate(all="ignore"):
        same = got == want
        if want.dtype.kind in "fc":
            same |= np.isnan(got) & np.isnan(want)
            for part in ("real", "imag") if want.dtype.kind == "c" else ("real",):
                g, w = getattr(got, part), getattr(want, part)
                same &= (np.signbit(g) == np.signbit(w)) | np.isnan(w)
        if want.dtype.kind == "c":
            same |= _rounded_apart(got, want)
    wrong = np.argwhere(~same)
    # NumPy's loops may meet a single element by the step of its view, backwards say; ours don't.
    alone = want.size == 1 and want.dtype.kind in "fc"
    if not len(wrong) or (alone and np.allclose(got, want, 1e-5, 0.0)):
        return ""
    at = tuple(int(i) for i in wrong[0])
    return f"{len(wrong)} of {want.size} differ, first at {at}: {got[at]!r} for {want[at]!r}"


def _rounded_apart(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Where complex numbers differ in their last bits alone, or are both infinite or NaN.

    NumPy multiplies them with one rounding less where its vectors take them, which depends on the
    steps, on how many there are, and on whether the shapes are alike: (1,) and (1,), or (1,) and
    (1, 1).
    """
    size = np.abs(want)
    largest = size[np.isfinite(size)].max(initial=0.0)
    near = np.abs(got - want) <= 64 * np.finfo(want.dtype).eps * np.maximum(size, largest)
    return near | ~(np.isfinite(got) | np.isfinite(want))


def nearly(got: np.ndarray, want: np.ndarray) -> str:
    """What is not equal but for rounding, which may turn some comparisons over; or nothing."""
    said = difference(got, want)
    if not said or (got.dtype, got.shape) != (want.dtype, want.shape):
        return said
    with np.errstate(all="ignore"):
        wide = np.complex128 if want.dtype.kind == "c" else np.float64
        g, w = got.astype(wide), want.astype(wide)
        scale = np.abs(w[np.isfinite(w)]).max(initial=1.0)
        apart = ~((np.abs(g - w) <= 1e-2 * np.abs(w) + 1e-3 * scale) | (g == w))
        apart &= ~(np.isnan(g) & np.isnan(w))
    return said if apart.sum() > 1 + 0.02 * want.size else ""
