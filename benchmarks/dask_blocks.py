"""Dask's arrays, blocks of NumPy's and of lazyarray's in turns: python -m benchmarks.dask_blocks

Each program is run on threads (as many as there are cores) and on a cluster of processes, a worker
a core, by the same lines: only the blocks differ. Data are made before, and kept by the workers.
The minimum of the rounds counts. After the table: what a task costs beside its work, what travels,
and a model of more workers made of both.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from collections.abc import Callable
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.sizeof import sizeof

import lazyarray as la
from lazyarray.dask import EngineThreads, tasks

BACKENDS = ("numpy", "lazyarray")
SWEEPS = 4  # of Jacobi's


def _random(shape: tuple[int, ...], chunks: Any, seed: int = 0) -> Any:
    return da.random.default_rng(seed).random(shape, chunks=chunks)


# ---- the programs: data, then what is timed -----------------------------------------------------


def chain(n: int) -> tuple[list[Any], Callable[..., Any]]:
    """Elementwise: arithmetic of four operands."""
    x = [_random((n,), n // 4, seed) for seed in range(4)]
    return x, lambda a, b, c, d: ((a * b + c * d - a) / (b + 1.5)).sum()


def black_scholes(n: int) -> tuple[list[Any], Callable[..., Any]]:
    """Elementwise: calls and puts; the error function by its tanh formula, which NumPy has."""
    x = [_random((n // 4,), n // 16, seed) for seed in range(3)]

    def cdf(z: Any) -> Any:
        return 0.5 * (1 + np.tanh(0.7978845608 * (z + 0.044715 * z * z * z)))

    def prices(s: Any, k: Any, t: Any) -> Any:
        s, k, t = s * 90 + 10, k * 90 + 10, t + 0.1
        d1 = (np.log(s / k) + (0.1 + 0.02) * t) / (0.2 * np.sqrt(t))
        d2 = d1 - 0.2 * np.sqrt(t)
        call = s * cdf(d1) - k * np.exp(-0.1 * t) * cdf(d2)
        return (call + (call - s + k * np.exp(-0.1 * t))).sum()

    return x, prices


def standardise(n: int) -> tuple[list[Any], Callable[..., Any]]:
    """Elementwise, after reductions: columns of mean 0 and deviation 1."""
    x = _random((n // 50, 50), (n // 200, 50))
    return [x], lambda x: abs((x - x.mean(axis=0)) / x.std(axis=0)).sum(axis=0)


def kmeans(n: int) -> tuple[list[Any], Callable[..., Any]]:
    """Elementwise: one step, the nearest of 16 centres, and their means."""
    points, centres = _random((n // 64, 4), (n // 256, 4)), np.random.default_rng(1).random((16, 4))

    def step(points: Any) -> Any:
        nearest = ((points[:, None, :] - centres) ** 2).sum(axis=-1).argmin(axis=1)
        return [da.where((nearest == k)[:, None], points, 0.0).sum(axis=0) for k in range(4)]

    return [points], step


def jacobi(n: int) -> tuple[list[Any], Callable[..., Any]]:
    """Stencil: 4 sweeps by map_overlap."""
    side = math.isqrt(n)
    x = _random((side, side), (side // 2, side // 2))

    def sweep(b: Any) -> Any:
        out = b.copy()
        out[1:-1, 1:-1] = 0.25 * (b[:-2, 1:-1] + b[2:, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:])
        return out

    def sweeps(x: Any) -> Any:
        for _ in range(SWEEPS):
            x = da.map_overlap(sweep, x, depth=1, boundary="nearest", dtype=float, meta=x._meta)
        return x.sum()

    return [x], sweeps


def qr(n: int) -> tuple[list[Any], Callable[..., Any]]:
    """LAPACK: tall and skinny."""
    x = _random((n // 64, 32), (n // 256, 32))
    return [x], lambda x: abs(da.linalg.qr(x)[1]).sum()


def gram(n: int) -> tuple[list[Any], Callable[..., Any]]:
    """BLAS: x @ x.T."""
    side = math.isqrt(n) // 2
    x = _random((side, side), (side // 2, side // 2))
    return [x], lambda x: (x @ x.T).sum()


ELEMENTWISE = (chain, black_scholes, standardise, kmeans)
PROGRAMS = (*ELEMENTWISE, jacobi, qr, gram)


# ---- timing -------------------------------------------------------------------------------------


def seconds(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def prepared(program: Callable[..., Any], n: int, backend: str) -> Callable[[], Any]:
    """A call that makes the graph and computes it."""
    with dask.config.set({"array.backend": backend}):
        data, of = program(n)
        data = list(dask.persist(*data))
    return lambda: host(dask.compute(of(*data))[0])


def host(result: Any) -> Any:
    """NumPy's values: what is handed on as pending is waited for."""
    return [np.asarray(r) for r in result] if isinstance(result, list) else np.asarray(result)


def table(title: str, n: int, rounds: int) -> float:
    """Prints it; gives the nanoseconds that an element of a Jacobi sweep takes with lazyarray."""
    print(f"\n{title}, {n:,} elements\n\n| program | numpy ms | lazyarray ms | lazyarray / numpy |")
    print("|---|---|---|---|")
    ratios = {}
    for program in PROGRAMS:
        runs = {backend: prepared(program, n, backend) for backend in BACKENDS}
        got = {b: np.asarray(run(), dtype=float) for b, run in runs.items()}
        np.testing.assert_allclose(got["lazyarray"], got["numpy"], rtol=1e-6)
        best = dict.fromkeys(BACKENDS, math.inf)
        for _ in range(rounds):
            for backend, run in runs.items():
                best[backend] = min(best[backend], seconds(run))
        if program is jacobi:
            element_ns = best["lazyarray"] / (SWEEPS * n) * 1e9
        ratios[program] = best["lazyarray"] / best["numpy"]
        name = program.__name__.replace("_", " ")
        numbers = " | ".join(f"{best[b] * 1e3:.1f}" for b in BACKENDS)
        print(f"| {name} | {numbers} | {ratios[program]:.2f} |", flush=True)
    for what, chosen in (("elementwise", ELEMENTWISE), ("all", PROGRAMS)):
        mean = math.exp(sum(math.log(ratios[p]) for p in chosen) / len(chosen))
        print(f"| geometric mean, {what} | | | {mean:.2f} |")
    return element_ns


def per_task(rounds: int, end: Callable[[Any], Any] = lambda _: None) -> dict[str, float]:
    """Microseconds that a task on a block of 8 numbers takes, all in all."""
    n, found = 2000, {}
    for backend in BACKENDS:
        with dask.config.set({"array.backend": backend}):
            x = dask.persist(da.ones(8 * n, chunks=8))[0]
        y = x.map_blocks(np.add, 1.0, dtype=float, meta=x._meta)
        found[backend] = min(seconds(lambda y=y: end(dask.persist(y))) for _ in range(rounds))
        found[backend] *= 1e6 / n
    return found


def wire(client: Any, rounds: int) -> tuple[float, int, int]:
    """Nanoseconds that a byte takes from worker to worker; bytes of an array, and of its frames."""
    from distributed import wait
    from distributed.protocol import serialize

    x = la.ones((4 << 20,)) * 2
    a, b = sorted(client.scheduler_info()["workers"])[:2]
    best = math.inf
    for k in range(rounds):
        there = client.submit(lambda k: la.ones((4 << 20,)) * k, k, workers=[a], pure=False)
        wait(there)
        start = time.perf_counter()
        wait(client.submit(lambda x: None, there, workers=[b], pure=False))
        best = min(best, time.perf_counter() - start)
    frames = serialize(x)[1]
    return best / x.nbytes * 1e9, sizeof(x), sum(memoryview(f).nbytes for f in frames)


def model(task_us: float, byte_ns: float, element_ns: float) -> None:
    """Seconds of a Jacobi sweep on 1e11 elements in square blocks of 1e7, by the workers.

    Each element costs element_ns on a worker's one core. A block has 10 tasks (itself, its 4 edges
    cut off and sent, 4 received, one sum), which the scheduler, one thread, handles in turn.
    """
    elements, block = 1e11, 1e7
    blocks = elements / block
    print(
        "\n| workers | work s | wire s | scheduler s | all s | efficiency |"
        "\n|---|---|---|---|---|---|"
    )
    alone = elements * element_ns * 1e-9
    for workers in (1, 10, 100, 1000, 10_000):
        turns = math.ceil(blocks / workers)  # the last may leave workers idle
        work = turns * block * element_ns * 1e-9
        sent = turns * 4 * math.sqrt(block) * 8 * byte_ns * 1e-9 * (workers > 1)
        scheduled = 10 * blocks * task_us * 1e-6
        most = max(work + sent, scheduled)
        figures = " | ".join(f"{f:.3g}" for f in (work, sent, scheduled, most))
        print(f"| {workers} | {figures} | {alone / workers / most:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--elements", type=int, default=32_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--hand-on", action="store_true", help="threads, tasks that don't wait at their end"
    )
    args = parser.parse_args()
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    with dask.config.set(scheduler="threads", num_workers=cores):
        if args.hand_on:
            tasks.finished = lambda result: result
            table("Threads, pending arrays handed on", args.elements, args.rounds)
            return
        # Beside the scheduler, which is another process on a cluster.
        element_ns = cores * table("Threads", args.elements, args.rounds)
        local = per_task(args.rounds)
    from distributed import Client, LocalCluster, wait

    options = {"n_workers": cores, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        client.register_plugin(EngineThreads())
        table(f"distributed, {cores} processes", args.elements, args.rounds)
        over = per_task(args.rounds, wait)
        byte_ns, held, sent = wire(client, args.rounds)
    print("\nA task, all in all, us: threads", {k: round(v) for k, v in local.items()}, end="; ")
    print("distributed", {k: round(v) for k, v in over.items()})
    print(
        f"A byte between two workers: {byte_ns:.2f} ns; "
        f"an array of {held:,} bytes is sent as {sent:,}"
    )
    model(over["lazyarray"], byte_ns, element_ns)


if __name__ == "__main__":
    main()
