"""dumps(): the sums of a recording, as a table or as JSON."""

from __future__ import annotations

import json
import math
from typing import NamedTuple

from lazyarray.profiler._profiler import Recording
from lazyarray.profiler.session import session

__all__ = ["Row", "dumps", "merged", "recording"]

_TITLES = {
    "operator": "Operators",
    "inline": "Operations run inline",
    "wait": "Waits",
    "event": "Events",
    "task": "Tasks",
    "frame": "Frames",
}
_WIDEST = 160  # characters of a name in the text, whose columns are as wide as the widest
_ORDERS = ("total", "count", "min", "max", "avg", "bytes", "name")


class Row(NamedTuple):
    """What all entries of one kind and name came to. Times are nanoseconds."""

    kind: str
    name: str
    place: tuple[str, int, str] | None  # file, line, function
    count: int  # type: ignore[assignment]  # hides the tuple's method
    total: int
    min: int
    max: int
    bytes: int
    ops: int

    @property
    def avg(self) -> float:
        """The time of one."""
        return self.total / self.count

    @property
    def rate(self) -> float:
        """Bytes a nanosecond, which is GB/s."""
        return self.bytes / self.total if self.total else 0.0

    @property
    def where(self) -> str:
        """The line, or nothing."""
        return "{}:{} in {}".format(*self.place) if self.place else ""


def recording() -> Recording:
    """The last recording, up to date. With the session's lock held."""
    if session.recording is None:
        raise RuntimeError("nothing was profiled yet: call start() first")
    if not session.recording.sums:
        raise RuntimeError("nothing was summed up: set_config(aggregate_stats=True) before start()")
    session.drain()
    return session.recording


def merged(rows: list[Row], by_line: bool) -> list[Row]:
    """One row for each kind and name, or for each of their lines."""
    found: dict[tuple[object, ...], Row] = {}
    for r in rows:
        key = (r.kind, r.name, r.place if by_line else None)
        s = found.get(key)
        if s is not None:
            r = Row(
                *r[:3],
                s.count + r.count,
                s.total + r.total,
                min(s.min, r.min),
                max(s.max, r.max),
                s.bytes + r.bytes,
                s.ops + r.ops,
            )
        found[key] = r if by_line else r._replace(place=None)
    return list(found.values())


def dumps(
    sort_by: str = "total", format: str = "table", reset: bool = False, ascending: bool = False
) -> str:
    """The sums of what was recorded so far, by name: a table, or JSON with ``format="json"``.

    Of each operator (a fused one is named after what it fuses), inline operation, wait, event, task
    and frame: how often, the total, least, greatest and mean time in milliseconds, and of operators
    the bytes they moved and how fast; of each counter its last, least and greatest value. What has
    not ended is not in it. JSON is an object with a list of objects for each of these kinds
    (``"operators"``, ``"inline"``, ``"waits"``, ``"events"``, ``"tasks"``, ``"frames"``), with
    ``"counters"``, and ``"seconds"``, the time that was profiled.

    Args:
        sort_by: ``"total"``, ``"count"``, ``"min"``, ``"max"``, ``"avg"``, ``"bytes"`` or
            ``"name"``; the greatest come first.
        format: "table" or "json".
        reset: whether the sums begin anew.
        ascending: whether the least come first.
    Returns: a str.
    Raises: RuntimeError if nothing was profiled, or ``aggregate_stats`` was off; ValueError for
        another ``sort_by`` or ``format``.

    >>> import json
    >>> import lazyarray as la
    >>> with la.profiler.profile("trace.json"):
    ...     x = la.ones(3) * 2
    >>> table = json.loads(la.profiler.dumps(format="json"))
    >>> [row["count"] for row in table["inline"] if row["name"] == "multiply"]
    [1]
    """
    if sort_by not in _ORDERS:
        raise ValueError(f"sort_by is one of {', '.join(_ORDERS)}, not {sort_by!r}")
    if format not in ("table", "json"):
        raise ValueError(f"format is 'table' or 'json', not {format!r}")
    with session.lock:
        found = recording()
        rows, counters = [Row(*r) for r in found.rows()], found.counters()
        seconds = session.profiled()
        if reset:
            found.reset()
            session.begin_anew()
    waits = merged([r for r in rows if r.kind == "wait"], by_line=True)
    others = merged([r for r in rows if r.kind != "wait"], by_line=False)
    table = sorted(
        others + waits,
        key=lambda r: getattr(r, sort_by),
        reverse=(sort_by != "name") != ascending,
    )
    if format == "json":
        return _json(table, counters, seconds)
    return _table(table, counters, seconds)


def _json(
    rows: list[Row], counters: dict[str, tuple[int, float, float, float]], seconds: float
) -> str:
    out: dict[str, object] = {"seconds": seconds}
    for kind, title in _TITLES.items():
        out["inline" if kind == "inline" else title.lower()] = [
            {
                "name": r.name,
                **({"file": r.place[0], "line": r.place[1], "function": r.place[2]}
                   if r.place else {}),
                "count": r.count,
                "total_ms": r.total / 1e6,
                "min_ms": r.min / 1e6,
                "max_ms": r.max / 1e6,
                "avg_ms": r.avg / 1e6,
                **({"bytes": r.bytes, "GB/s": r.rate, "ops": r.ops}
                   if kind in ("operator", "inline") else {}),
            }
            for r in rows
            if r.kind == kind
        ]  # fmt: skip
    out["counters"] = {
        name: {
            "count": counted,
            **dict(zip(("last", "min", "max"), map(_written, rest), strict=True)),
        }
        for name, (counted, *rest) in sorted(counters.items())
    }
    return json.dumps(out, allow_nan=False)


def _written(value: float) -> float | str:
    """A number as JSON has it: it has none of NaN, nor of infinities, which traces quote, too."""
    return value if math.isfinite(value) else str(value)


def _cut(name: str) -> str:
    return name if len(name) <= _WIDEST else name[:_WIDEST] + "..."


def _table(
    rows: list[Row], counters: dict[str, tuple[int, float, float, float]], seconds: float
) -> str:
    lines = [f"Profiled for {seconds:.3f} s"]
    for kind, title in _TITLES.items():
        mine = [r for r in rows if r.kind == kind]
        if not mine:
            continue
        moves = kind in ("operator", "inline")
        names = [f"{_cut(r.name)}  {r.where}".rstrip() for r in mine]
        wide = max(len(title), *map(len, names))
        head = f"{title:<{wide}} {'count':>9} {'total ms':>11} {'min':>9} {'max':>9} {'avg':>9}"
        lines += ["", head + (f" {'MB':>10} {'GB/s':>7}" if moves else "")]
        for r, name in zip(mine, names, strict=True):
            times = f"{r.min / 1e6:>9.4f} {r.max / 1e6:>9.4f} {r.avg / 1e6:>9.4f}"
            line = f"{name:<{wide}} {r.count:>9} {r.total / 1e6:>11.4f} {times}"
            lines.append(line + (f" {r.bytes / 1e6:>10.3f} {r.rate:>7.2f}" if moves else ""))
    if counters:
        wide = max(len("Counters"), *[len(_cut(name)) for name in counters])
        lines += ["", f"{'Counters':<{wide}} {'count':>9} {'last':>14} {'min':>14} {'max':>14}"]
        for name, (count, *values) in sorted(counters.items()):
            lines.append(
                f"{_cut(name):<{wide}} {count:>9}" + "".join(f" {v:>14.6g}" for v in values)
            )
    return "\n".join(lines) + "\n"
