"""summary(): where the time went, in words."""

from __future__ import annotations

import concurrent.futures
import functools
import os
import time

import numpy as np

from lazyarray.profiler.session import session
from lazyarray.profiler.tables import Row, merged, recording

__all__ = ["bandwidth", "summary"]

_MOST = 5  # lines of a list
_LARGE = 1 << 20  # bytes that an operator moves from which on memory may be what it waits for


@functools.cache
def bandwidth() -> float:
    """Bytes a second that memory delivers: the best of a few copies by all cores, made once.

    64 MB are copied, each core a part of them; each byte is read and written, and counts as two.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    source = np.ones((cores or 1, 8_000_000 // (cores or 1)))
    target = np.zeros_like(source)
    best = 0.0
    with concurrent.futures.ThreadPoolExecutor(len(source)) as pool:
        for _ in range(5):
            begun = time.perf_counter()
            list(pool.map(np.copyto, target, source))
            best = max(best, 2 * source.nbytes / (time.perf_counter() - begun))
    return best


def summary() -> str:
    """Where the time of the last recording went, in words.

    What each thread did: how long it waited, for which lines; which operators ran for longest, and
    of those that move much memory, how much of what memory delivers they reach; how busy the
    workers were; how long operators had to wait, for what they depend on and for a worker; the most
    that was pending and in use. What memory delivers is measured when this is first asked, by a
    copy with all cores, which takes a moment.

    Returns: a str.
    Raises: RuntimeError if nothing was profiled, or ``aggregate_stats`` was off.

    >>> import lazyarray as la
    >>> with la.profiler.profile("trace.json"):
    ...     x = float((la.ones((500, 500)) @ la.ones((500, 500))).sum())
    >>> print(la.profiler.summary())  # doctest: +ELLIPSIS
    Profiled for ...
    """
    with session.lock:
        found = recording()
        seconds = session.profiled()
        rows = [Row(*r) for r in found.rows()]
        threads, workers = found.threads(), found.workers()
        counters, latencies, lost = found.counters(), found.latencies(), found.lost
    wall = max(seconds * 1e9, 1.0)
    parts = [
        _head(rows, seconds, lost),
        *[_thread(t, wall) for t in threads],
        _waits([r for r in rows if r.kind == "wait"], wall),
        _operators([r for r in rows if r.kind == "operator"]),
        _workers(workers, wall),
        _latencies(*latencies),
        _counters(counters),
    ]
    return "\n".join(p for p in parts if p)


def _head(rows: list[Row], seconds: float, lost: int) -> str:
    operators = sum(r.count for r in rows if r.kind == "operator")
    ops = sum(r.ops for r in rows if r.kind == "operator")
    inline = sum(r.count for r in rows if r.kind == "inline")
    text = (
        f"Profiled for {_time(seconds * 1e9)}: {_count(ops, 'operation')} in "
        f"{_count(operators, 'operator')}, and {_count(inline, 'tiny one')} run by the caller."
    )
    if lost:
        text += f" {_count(lost, 'entry', 'entries')} found no room and are missing."
    return text


def _thread(thread: tuple[str, int, int, int, int, int], wall: float) -> str:
    name, waited, ran_in_waits, ran, inline, inlined = thread
    said = []
    if waited:
        helped = f", {_time(ran_in_waits)} of it running operators itself" if ran_in_waits else ""
        said.append(f"waited for {_part(waited, wall)}{helped}")
    if ran:
        said.append(f"ran operators as it pushed them for {_part(ran, wall)}")
    if inline:
        said.append(f"ran {_count(inlined, 'tiny operation')} in {_part(inline, wall)}")
    rest = max(0.0, wall - waited - ran - inline)
    said.append(f"did other things (Python, recording) for {_part(rest, wall)}")
    return f"{name} " + "; ".join(said) + "."


def _waits(rows: list[Row], wall: float) -> str:
    waits = sorted(merged(rows, by_line=True), key=lambda r: -r.total)
    if not waits:
        return "Nothing waited."
    lines = ["It was waited for:"]
    for r in waits[:_MOST]:
        lines.append(f"  {_part(r.total, wall)}, {_times(r.count)}: {_at(r)}")
    return "\n".join(lines + _rest(waits, "place"))


def _operators(rows: list[Row]) -> str:
    total = sum(r.total for r in rows)
    if not rows or not total:
        return ""
    best = bandwidth() / 1e9
    moved = sum(r.bytes for r in rows)
    lines = [
        f"Operators ran for {_time(total)}, all added up, and moved {moved / 1e6:.1f} MB. Memory "
        f"delivers {best:.1f} GB/s here (measured: a copy by all cores). The longest:"
    ]
    found = sorted(merged(rows, by_line=True), key=lambda r: -r.total)
    for r in found[:_MOST]:
        text = f"  {_part(r.total, total)}, {_times(r.count)} {_time(r.avg)}: {_at(r)}"
        if r.bytes / r.count >= _LARGE:
            text += f"; moves {r.rate:.1f} GB/s, {100 * r.rate / best:.0f} % of memory's"
            text += ", so from the caches" if r.rate > best else ""
        lines.append(text)
    return "\n".join(lines + _rest(found, "operator"))


def _workers(workers: list[tuple[str, int, int, int]], wall: float) -> str:
    if not workers:
        return "There were no workers."
    lines = ["Workers:"]
    active = [w for w in workers if w[1]]
    for name, busy, ran, joined in active:
        helped = f", took part in others' {_times(joined)}" if joined else ""
        idle = max(0.0, wall - busy)
        lines.append(
            f"  {name}: idle {100 * idle / wall:.0f} %; ran {_count(ran, 'operator')}{helped}"
        )
    if len(active) < len(workers):
        lines.append(f"  {_count(len(workers) - len(active), 'worker')} had nothing to do")
    return "\n".join(lines)


def _latencies(count: int, inputs: int, workers: int) -> str:
    if not count:
        return ""
    return (
        f"An operator waited, on average, {_time(inputs / count)} for those it depends on and "
        f"{_time(workers / count)} for somebody to run it."
    )


def _counters(counters: dict[str, tuple[int, float, float, float]]) -> str:
    said = []
    if "pending operators" in counters:
        most = int(counters["pending operators"][3])
        size = counters.get("pending bytes", (0, 0.0, 0.0, 0.0))[3]
        said.append(f"at most {_count(most, 'operator')} ({size / 1e6:.1f} MB) were pending")
    for name, (_, _, _, high) in sorted(counters.items()):
        if name.startswith("pool memory in use, "):
            said.append(f"arrays on {name.rpartition(', ')[2]} took at most {high / 1e6:.1f} MB")
    return ("; ".join(said)[:1].upper() + "; ".join(said)[1:] + ".") if said else ""


# ---- words ---------------------------------------------------------------------------------------


def _time(ns: float) -> str:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.0f} ns"


def _part(ns: float, whole: float) -> str:
    return f"{_time(ns)} ({100 * ns / whole:.0f} %)"


def _count(n: int, one: str, many: str | None = None) -> str:
    return f"{n} {one if n == 1 else many or one + 's'}"


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n} times"


def _at(r: Row) -> str:
    return f"{r.name} at {r.where}" if r.place else r.name


def _rest(rows: list[Row], what: str) -> list[str]:
    rest = rows[_MOST:]
    if not rest:
        return []
    return [f"  {_time(sum(r.total for r in rest))} in {_count(len(rest), 'other ' + what)}"]
