"""A contestant's process, driven by JSON on pipes: ``python -m benchmarks.worker NAME SUITE``."""

from __future__ import annotations

import gc
import json
import math
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from benchmarks.contestants import Library
from benchmarks.row import Row
from benchmarks.suite import suite

SHORTEST = 10e-3  # seconds of a turn: long enough for threads that slept to be awake for most of it
LONGEST_SETTLING = 0.5


@dataclass
class Prepared:
    """A row that is ready to be timed: its work, and how often a timing repeats it."""

    run: Callable[[], Any]
    repeats: int


def leaves(result: Any) -> Iterator[Any]:
    """The arrays and numbers of a result."""
    if isinstance(result, tuple | list):
        for item in result:
            yield from leaves(item)
    else:
        yield result


def checksum(library: Library, result: Any) -> list[list[float]]:
    """For each array of a result, and for the imaginary part of a complex one: mean magnitude,
    mean, and three of the elements. Of None, nothing."""
    sums: list[list[float]] = []
    for leaf in leaves(result) if result is not None else ():
        values = leaf if isinstance(leaf, float) else library.host(leaf)
        array = numpy.asarray(values).ravel()
        for part in (array.real, array.imag) if numpy.iscomplexobj(array) else (array,):
            part = part.astype(numpy.float64)
            picked = part[[0, part.size // 2 + part.size // 7, -1]]
            sums.append([float(numpy.abs(part).mean()), float(part.mean()), *map(float, picked)])
    return sums


def spinning() -> bool:
    """Whether another thread of this process has a core or waits for one (on Linux; else False)."""
    own = str(threading.get_native_id())
    try:
        for thread in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{thread}/stat") as f:
                # "number (name) state ...", where the name may hold anything
                if f.read().rpartition(")")[2].split()[0] == "R" and thread != own:
                    return True
    except OSError:
        pass
    return False


def settle() -> None:
    """Waits until this process's threads (BLAS's, OpenMP's) have stopped looking out for more
    work, so that they take nothing from the contestant whose turn is next."""
    end = time.perf_counter() + LONGEST_SETTLING
    while spinning() and time.perf_counter() < end:
        time.sleep(2e-3)


def timed(library: Library, run: Callable[[], Any], repeats: int) -> float:
    """Seconds of one of ``repeats`` runs, each waited for.

    One more comes first and is not timed: the contestants before this one left the processor's
    caches cold and gave back the pages that this one's memory will come from.
    """
    wait = library.wait
    wait(run())
    gc.collect()
    gc.disable()
    start = time.perf_counter()
    for _ in range(repeats):
        wait(run())
    seconds = time.perf_counter() - start
    gc.enable()
    return seconds / repeats


def answer(
    library: Library, name: str, rows: Sequence[Row], prepared: dict[int, Prepared], request: Any
) -> Any:
    """Does what the driver asks for: ``["prepare", row]``, ``["time", row]``, ``["drop", row]``."""
    what, index = request
    row = rows[index]
    if what == "drop":
        del prepared[index]
        gc.collect()
        library.trim()
        return {}
    if what == "time":
        seconds = timed(library, prepared[index].run, prepared[index].repeats) / row.per
    else:
        run = library.prepare(name, row)
        if run is None:
            return {"absent": True}
        result = run()  # compiles, fills caches and pools
        library.wait(result)
        sums = checksum(library, result)
        del result
        guess = max(1, math.ceil(SHORTEST / 10 / timed(library, run, 1)))
        repeats = max(1, math.ceil(SHORTEST / timed(library, run, guess)))
        prepared[index] = Prepared(run, repeats)
    settle()
    return {"seconds": seconds} if what == "time" else {"checksum": sums}


def main() -> None:
    """Answers requests until the driver closes the pipe."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints must not get among the replies

    def reply(message: Any) -> None:
        replies.write(json.dumps(message) + "\n")
        replies.flush()

    chosen = suite(sys.argv[2])
    contestant = chosen.contestants[sys.argv[1]]
    code = contestant.code or contestant.library
    try:
        library = chosen.open_library(contestant.library)
    except Exception:
        reply({"error": traceback.format_exc()})
        return
    reply({"version": library.version})
    prepared: dict[int, Prepared] = {}
    for line in sys.stdin:
        try:
            reply(answer(library, code, chosen.rows, prepared, json.loads(line)))
        except Exception:
            reply({"error": traceback.format_exc()})


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
