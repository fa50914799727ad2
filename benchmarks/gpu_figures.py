"""What lazyarray does beside the main thread on a GPU: pushing, copies under compute, two streams.

``python -m benchmarks.gpu_figures ROUNDS SCALE TEXT`` prints a line of JSON for each figure whose
name has TEXT in it; ``python -m benchmarks.gpu_figures device`` one about the device.
"""

from __future__ import annotations

import importlib
import json
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from benchmarks.row import Array, Module

BATCHES = 8


def median(rounds: int, *turns: Callable[[], float]) -> list[float]:
    """The median of what each gives, over rounds in which they alternate; one more comes first."""
    for turn in turns:
        turn()
    times: list[list[float]] = [[] for _ in turns]
    for _ in range(rounds):
        for turn, mine in zip(turns, times, strict=True):
            mine.append(turn())
    return [statistics.median(mine) for mine in times]


def timed(la: Module, work: Callable[[], object]) -> Callable[[], float]:
    """Seconds of some work, from idle to idle."""

    def run() -> float:
        la.waitall()
        start = time.perf_counter()
        kept = work()
        la.waitall()
        seconds = time.perf_counter() - start
        del kept
        return seconds

    return run


def figure(what: str, value: float, unit: str, limit: float, beside: str = "") -> dict[str, Any]:
    """A figure that should be at most ``limit``, and what it was found beside."""
    return {"what": what, "value": value, "unit": unit, "limit": limit, "beside": beside}


# ---- figures -------------------------------------------------------------------------------------


def pushing(la: Module, rounds: int, scale: float) -> Iterator[dict[str, Any]]:
    """1000 ops on arrays of the device: how long until the calls have returned."""
    count = 1000
    x, y = la.ones(1000, dtype="float32"), la.ones(1000, dtype="float32")

    def independent() -> float:
        la.waitall()
        start = time.perf_counter()
        kept = [x + y for _ in range(count)]
        seconds = time.perf_counter() - start
        la.waitall()
        del kept
        return seconds / count

    def dependent() -> float:
        z = x
        la.waitall()
        start = time.perf_counter()
        for _ in range(count // 2):
            z = z * y + x
        seconds = time.perf_counter() - start
        la.waitall()
        return seconds / count

    one, other = median(5 * rounds, independent, dependent)
    yield figure(f"pushing {count} ops x + y, without a wait, an op", one * 1e6, "us", 1)
    yield figure(f"pushing {count} dependent ops, without a wait, an op", other * 1e6, "us", 1)


class Stages:
    """Batches on their way to the device, through ``times`` products each, and back."""

    def __init__(self, la: Module, values: numpy.ndarray, place: Any) -> None:
        self.gpu, self.times = la.gpu(0), 1
        self.weight = la.array(values, ctx=self.gpu)
        self.host = [la.array(values, ctx=place) for _ in range(BATCHES)]
        self.back = [la.array(values, ctx=place) for _ in range(BATCHES)]
        self.there = self.into()

    def product(self, x: Array) -> Array:
        for _ in range(self.times):
            x = x @ self.weight
        return x

    def into(self) -> list[Array]:
        return [x.as_in_context(self.gpu) for x in self.host]

    def compute(self) -> list[Array]:
        return [self.product(x) for x in self.there]

    def out(self) -> None:
        for x, y in zip(self.there, self.back, strict=True):
            x.copyto(y)

    def all(self) -> None:
        for x, y in zip(self.host, self.back, strict=True):
            self.product(x.as_in_context(self.gpu)).copyto(y)


def pipeline(la: Module, rounds: int, scale: float) -> Iterator[dict[str, Any]]:
    """Copy in, compute, copy out, over batches, against the longest of the three alone."""
    n = max(16, int(4096 * math.sqrt(scale)))
    values = numpy.random.default_rng(0).random((n, n), dtype="float32")
    values /= n
    for kind, place in (("pinned", la.cpu_pinned(0)), ("pageable", la.cpu(0))):
        stages = Stages(la, values, place)
        alone = [timed(la, work) for work in (stages.into, stages.compute, stages.out)]
        into, one, out = median(1, *alone)
        # So that the copy in of the first and the copy out of the last batch, beside which nothing
        # can run, are little of the whole.
        stages.times = max(1, math.ceil(2 * max(into, out) / one))
        into, work, out, total = median(rounds, *alone, timed(la, stages.all))
        rate = BATCHES * values.nbytes / 1e9
        yield figure(
            f"copy in, {stages.times} products of {n} x {n} float32, copy out, {BATCHES} batches, "
            f"{kind} memory, of the longest stage alone",
            total / max(into, work, out),
            "",
            1.15,
            f"in {into * 1e3:.3g} ms ({rate / into:.1f} GB/s), compute {work * 1e3:.3g}, out "
            f"{out * 1e3:.3g} ({rate / out:.1f} GB/s), all {total * 1e3:.3g}",
        )


def streams(la: Module, rounds: int, scale: float) -> Iterator[dict[str, Any]]:
    """Two chains of kernels that each leave half of the device idle."""
    # A product's kernel works on blocks of about 128 x 128, one to a multiprocessor.
    side = max(1, math.isqrt(device()["multiprocessors"] // 2))
    n = max(16, int(128 * side * min(1.0, math.sqrt(scale))))
    rng = numpy.random.default_rng(0)
    first, second = (la.array(rng.random((n, n), dtype="float32") / n) for _ in range(2))

    def chain(x: Array) -> Array:
        z = x
        for _ in range(50):
            z = z @ x
        return z

    def one_by_one() -> None:
        chain(first).wait_to_read()
        chain(second).wait_to_read()

    apart, together = median(
        rounds, timed(la, one_by_one), timed(la, lambda: (chain(first), chain(second)))
    )
    yield figure(
        f"two independent chains of 50 products {n} x {n} float32, of the same one by one",
        together / apart,
        "",
        0.75,
        f"one by one {apart * 1e3:.3g} ms, side by side {together * 1e3:.3g}",
    )


FIGURES = {"pushing": pushing, "copy in, compute, copy out": pipeline, "two streams": streams}


def device() -> dict[str, Any]:
    """What the first CUDA device is; RuntimeError if there is none."""
    la = importlib.import_module("lazyarray")
    free, total = la.context.memory_info(la.gpu(0))
    cupy = importlib.import_module("cupy")
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    name = properties["name"]
    return {
        "name": name.decode() if isinstance(name, bytes) else name,
        "multiprocessors": int(properties.get("multiProcessorCount", 8)),
        "free": free,
        "total": total,
        "cuda": cupy.cuda.runtime.runtimeGetVersion(),
        "driver": cupy.cuda.runtime.driverGetVersion(),
    }


def main() -> None:
    """Prints the device, or the figures."""
    if sys.argv[1] == "device":
        try:
            print(json.dumps(device()))
        except RuntimeError as error:
            sys.exit(str(error))
        return
    la = importlib.import_module("lazyarray")
    rounds, scale, text = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3].lower()
    with la.gpu(0):
        for name, measure in FIGURES.items():
            if text in name:
                for found in measure(la, rounds, scale):
                    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
