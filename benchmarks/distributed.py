"""Collectives: `make bench-distributed`.

Latency and bandwidth of allreduce against plain mpi4py, in alternation; how much of a step's
communication is hidden behind its backward pass; what follows from these figures for more ranks;
the time of a step in 1, 2 and 4 processes.

    python -m benchmarks.distributed --ranks 2
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import lazyarray as la

D = la.distributed
MIB = 1 << 20


def shortest(f: Callable[[], Any], times: int) -> float:
    """Seconds of the fastest of some runs, begun by all ranks together."""
    best = math.inf
    for _ in range(times):
        D.barrier()
        start = time.perf_counter()
        f()
        best = min(best, time.perf_counter() - start)
    return best


IN_A_ROW = 4


def allreduces(comm: Any, quick: bool) -> list[tuple[int, list[float]]]:
    """(bytes, seconds): of mpi4py and ours, in place, waited for each; then of several in a row.

    The slowest rank's. Who waits for each pays for what wakes the threads; who issues several, as a
    step does, has the bandwidth.
    """
    from mpi4py import MPI  # when init() has begun it

    rows = []
    for nbytes in (8, 1024, 64 * 1024, MIB, 8 * MIB, 64 * MIB):
        xs = [np.ones(nbytes // 8) for _ in range(IN_A_ROW)]
        ys = [la.ones(nbytes // 8) for _ in range(IN_A_ROW)]
        la.waitall()

        def plain(xs: list[np.ndarray] = xs) -> None:
            comm.Allreduce(MPI.IN_PLACE, xs[0])

        def ours(ys: list[la.NDArray] = ys) -> None:
            D.allreduce(ys[0], out=ys[0])
            ys[0].wait_to_read()

        def plain_row(xs: list[np.ndarray] = xs) -> None:
            for x in xs:
                comm.Allreduce(MPI.IN_PLACE, x)

        def our_row(ys: list[la.NDArray] = ys) -> None:
            for y in ys:
                D.allreduce(y, out=y)
            ys[-1].wait_to_read()  # they end in turn

        best = [math.inf] * 4
        rounds, times = (2, 5) if quick else (5, 10 if nbytes > MIB else 40)
        for _ in range(rounds):
            for x, y in zip(xs, ys, strict=True):
                x[:], y[:] = 1, 1
            for i, f in enumerate((plain, ours, plain_row, our_row)):
                best[i] = min(best[i], shortest(f, times) / (1 if i < 2 else IN_A_ROW))
        slowest = [max(each) for each in zip(*D.world().exchange(best), strict=True)]
        rows.append((nbytes, slowest))
    return rows


class Step:
    """A deep network of equal layers: its backward pass, and what its gradients weigh."""

    def __init__(self, width: int, layers: int, batch: int) -> None:
        rng = np.random.default_rng(0)
        self.params = [
            la.array((rng.standard_normal((width, width)) / width**0.5).astype("f4"))
            for _ in range(layers)
        ]
        for p in self.params:
            p.attach_grad()
        self.x = la.array(rng.standard_normal((batch, width)).astype("f4"))
        self.nbytes = sum(p.nbytes for p in self.params)
        self.many = D.DataParallel(la.nn.SGD(self.params, lr=1e-6), first=MIB, bucket=MIB)

    def forward(self) -> la.NDArray:
        x = self.x
        with la.autograd.record():
            for p in self.params:
                x = la.maximum(x @ p, 0)
            return x.mean()

    def backward(self) -> None:
        self.forward().backward()

    def before(self) -> None:
        """What no gradient can travel during."""
        self.forward()
        la.waitall()

    def computed(self) -> None:
        self.backward()
        self.many.trainer.step()
        la.waitall()

    def communicated(self) -> None:
        self.many.average()
        la.waitall()

    def whole(self) -> None:
        self.backward()
        self.many.step()
        la.waitall()


class Elsewhere(Step):
    """The same gradients, made by something that needs no core, as a GPU: each in some time."""

    def __init__(self, width: int, layers: int, milliseconds: float) -> None:
        super().__init__(width, layers, 1)
        self.milliseconds = milliseconds
        self.device = la.engine.get().new_variable()

    def before(self) -> None:
        pass

    def backward(self) -> None:
        for p in reversed(self.params):
            la.engine.get().push_sync(
                lambda run_ctx: time.sleep(self.milliseconds * 1e-3),
                la.cpu(0),
                mutable_vars=[self.device, p.grad.var],
                name="backward",
            )


def slow_network(gigabits: float) -> None:
    """Has each allreduce last as long as on a network that needs no core to move the data."""
    backend: Any = D.world().backend
    fast = backend.allreduce

    def slow(source: np.ndarray, to: np.ndarray, op: str) -> None:
        end = time.perf_counter() + 2 * (D.size() - 1) / D.size() * source.nbytes * 8e-9 / gigabits
        fast(source, to, op)
        time.sleep(max(0.0, end - time.perf_counter()))

    backend.allreduce = slow


def overlap(step: Step, quick: bool, file: str) -> dict[str, float]:
    """Milliseconds of a step, and of its parts alone; to ``file`` a trace of rank 0's steps."""
    for _ in range(3):
        step.whole()
    times = dict.fromkeys(("before", "computed", "communicated", "whole"), math.inf)
    for _ in range(3 if quick else 8):  # in turn: other programs use the machine, too
        for name in times:
            times[name] = min(times[name], 1e3 * shortest(getattr(step, name), 2))
    if D.rank() == 0:
        la.profiler.set_config(filename=file)
        la.profiler.start()
    for _ in range(5):
        step.whole()
    if D.rank() == 0:
        la.profiler.stop()
        la.profiler.dump()
    D.barrier()
    each = D.world().exchange(times)
    slowest = {name: max(t[name] for t in each) for name in times}
    hidden = slowest["computed"] + slowest["communicated"] - slowest["whole"]
    # The first bucket is ready after a part of the backward pass, the last one after all of it.
    part = 1 - 1 / len(step.params)
    backward = slowest["computed"] - slowest["before"]
    slowest["hidden"] = hidden / (part * min(backward, slowest["communicated"]))
    slowest["megabytes"] = step.nbytes / 1e6
    return slowest


def model(latency: float, gigabits: float, ranks: int, nbytes: float) -> float:
    """Seconds of a ring allreduce (Patarasuk, Yuan 2009) with a tree's latency for its agreement.

    2 (p - 1) messages of ``nbytes / p`` each, and ``log2 p`` for the ranks to agree.
    """
    rate = gigabits * 1e9 / 8
    return 2 * (ranks - 1) * (latency + nbytes / ranks / rate) + latency * math.log2(ranks)


def advised(latency: float, gigabits: float, ranks: int) -> float:
    """Bytes of a bucket whose latency costs a tenth of its transfer."""
    rate = gigabits * 1e9 / 8
    steps = 2 * (ranks - 1) + math.log2(ranks)
    return 10 * steps * latency * rate * ranks / (2 * (ranks - 1))


def message(comm: Any, times: int) -> float:
    """Seconds that a message of 8 bytes takes from rank 0 to rank 1: half of there and back."""
    x = np.zeros(1)
    best = math.inf
    for _ in range(times):
        comm.Barrier()
        start = time.perf_counter()
        if comm.Get_rank() == 0:
            comm.Send(x, 1)
            comm.Recv(x, 1)
        elif comm.Get_rank() == 1:
            comm.Recv(x, 0)
            comm.Send(x, 0)
        best = min(best, time.perf_counter() - start)
    return float(comm.bcast(best, 0)) / 2


def one_step(quick: bool) -> dict[str, float]:
    """Milliseconds of a step: of a batch that the ranks share, and with one of its size each."""
    batch = 256 if quick else 1024
    found: dict[str, float] = {"processes": D.size()}
    for name, share in (("shared", batch // D.size()), ("each", batch)):
        step = Step(512, 8, share)
        for _ in range(4):  # the third one takes the order of the gradients
            step.whole()
        for part in ("whole", "computed", "communicated"):
            found[f"{name} {part}"] = 1e3 * min(
                shortest(getattr(step, part), 3) for _ in range(3 if quick else 8)
            )
    each = D.world().exchange(found)
    return {name: max(e[name] for e in each) for name in found}


STEP_LINE = "a step: "  # before what each run of `--part step` prints


def steps_of(processes: tuple[int, ...], quick: bool) -> list[dict[str, float]]:
    """:func:`one_step` in launches of their own, one after the other."""
    rows = []
    for n in processes:
        done = subprocess.run(
            [sys.executable, "-m", "lazyarray.launch", "-n", str(n), "-m", __spec__.name,
             "--part", "step", *(["--quick"] if quick else [])],
            stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
        line = next(text for text in done.stdout.splitlines() if STEP_LINE in text)
        rows.append(json.loads(line.partition(STEP_LINE)[2]))
    return rows


def print_steps(rows: list[dict[str, float]]) -> None:
    print("a step of a network of 8.4 MB of gradients, in ms; in brackets the computation alone")
    print(f"{'processes':>10} {'one batch, shared':>24} {'a batch each':>24}")
    for row in rows:
        times = [
            f"{row[f'{k} whole']:.1f} ({row[f'{k} computed']:.1f})" for k in ("shared", "each")
        ]
        print(f"{row['processes']:10.0f} {times[0]:>24} {times[1]:>24}")


def print_model(latency: float, measured: bool) -> None:
    """A table of what follows for more ranks."""
    how = "as it was measured here" if measured else "as it was given"
    print(
        f"model: 100 MB of gradients, {latency * 1e6:.2f} us a message, {how}; buckets whose "
        "latency costs a tenth"
    )
    for gigabits in (25.0, 200.0):
        for ranks in (8, 64, 256, 1024):
            print(
                f"  {gigabits:4.0f} Gbit/s, {ranks:4d} ranks: "
                f"{model(latency, gigabits, ranks, 1e8) * 1e3:6.1f} ms, buckets of "
                f"{advised(latency, gigabits, ranks) / MIB:6.1f} MiB"
            )


def collectives(args: argparse.Namespace) -> None:
    """What all ranks of one launch measure, and rank 0 prints."""
    comm = D.world().backend._comm.Dup()  # type: ignore[attr-defined]
    rows = allreduces(comm, args.quick)
    latency = message(comm, 500) if D.size() > 1 else math.nan
    slow_network(args.network)
    steps = {
        "on the cores that move the data": Step(512, 8, 256 if args.quick else 1024),
        "elsewhere": Elsewhere(512, 8, 5),
    }
    found = {name: overlap(step, args.quick, args.trace) for name, step in steps.items()}
    if D.rank():
        return
    print(
        f"{D.size()} ranks on {os.cpu_count()} cores; the shortest of several, the slowest rank's"
    )
    print("allreduce in place, us: waited for each; each of several in a row; bandwidth / mpi4py's")
    head = f"{'mpi4py':>10} {'lazyarray':>10}"
    print(f"{'bytes':>10} {head} {'more':>9} {'bandwidth':>10} {head} {'bandwidth':>10}")
    for nbytes, seconds in rows:
        plain, ours, plain_row, our_row = (1e6 * t for t in seconds)
        print(
            f"{nbytes:10d} {plain:10.1f} {ours:10.1f} {ours - plain:9.1f} {plain / ours:10.2f} "
            f"{plain_row:10.1f} {our_row:10.1f} {plain_row / our_row:10.2f}"
        )
    for name, figures in found.items():
        print(
            f"a step with {figures['megabytes']:.1f} MB of gradients at {args.network:g} Gbit/s, "
            f"computed {name}: compute alone {figures['computed']:.1f} ms ({figures['before']:.1f} "
            f"of it before the backward pass), communication alone "
            f"{figures['communicated']:.1f}, both {figures['whole']:.1f}: {figures['hidden']:.0%} "
            "of what can overlap does"
        )
    print(f"a trace of such steps: {args.trace}")
    given = args.latency is not None
    print_model(args.latency * 1e-6 if given else latency, not given)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a fifth of the time")
    parser.add_argument("--ranks", type=int, default=2, help="of all but the table of steps")
    parser.add_argument(
        "--latency", type=float, help="us a message in the model (default: as measured, by MPI)"
    )
    parser.add_argument(
        "--network", type=float, default=2, help="Gbit/s that the steps' collectives are slowed to"
    )
    parser.add_argument(
        "--trace",
        default=os.path.join(tempfile.gettempdir(), "collectives.json"),
        help="a file for rank 0's steps, as ui.perfetto.dev shows them",
    )
    parser.add_argument(
        "--part", choices=("collectives", "step"), help="only this, in the ranks of one launch"
    )
    args = parser.parse_args()
    if args.part is None:  # started plainly: it starts the launches
        program = [sys.executable, "-m", "lazyarray.launch", "-n", str(args.ranks), "-m"]
        given = [__spec__.name, *sys.argv[1:], "--part", "collectives"]
        subprocess.run([*program, *given], check=True)
        print_steps(steps_of((1, 2, 4), args.quick))
        return
    D.init("mpi")
    if args.part == "collectives":
        collectives(args)
        return
    found = one_step(args.quick)
    if D.rank() == 0:
        print(STEP_LINE + json.dumps(found))


if __name__ == "__main__":
    main()
