"""What runs beside what: independent chains, pushing, a busy main thread, a pending sync.

``python -m benchmarks.parallel ROUNDS`` prints the figures that are no rows of the table.
"""

from __future__ import annotations

import importlib
import sys
import threading
import time

import numpy

from benchmarks.row import Aim, Array, Module, Row


def matmul_chains(np: Module, *squares: Array) -> list[Array]:
    """The ninth power of each matrix."""
    last = []
    for a in squares:
        z = a
        for _ in range(8):
            z = z @ a
        last.append(z)
    return last


def squares() -> list[numpy.ndarray]:
    """Four matrices whose powers stay small."""
    rng = numpy.random.default_rng(0)
    return [rng.random((400, 400)) / 400 for _ in range(4)]


ROWS = [
    Row(
        "4 independent chains of 8 matmuls, 400 x 400",
        matmul_chains,
        squares,
        aims=(Aim(1, ("numpy",)),),
    )
]


def push_time(la: Module, rounds: int) -> str:
    """Six matmuls of 1500 x 1500: how long the pushes take, against the work."""
    a = la.array(numpy.random.default_rng(0).random((1500, 1500)))
    best = (float("inf"), 1.0, 1.0)
    for _ in range(rounds):
        la.waitall()
        start = time.perf_counter()
        keep = [a @ a for _ in range(6)]
        pushed = time.perf_counter() - start
        la.waitall()
        total = time.perf_counter() - start
        best = min(best, (pushed / total, pushed, total))
        del keep
    share, pushed, total = best
    return (
        f"pushing six 1500 x 1500 matmuls: {pushed * 1e3:.3f} ms of {total * 1e3:.0f} ms, "
        f"{share:.2%} (aim: under 5 %)"
    )


def pending_sync(la: Module, rounds: int) -> str:
    """A tiny sync on a pending operand, against the same on complete operands."""
    x, y = la.ones(10), la.ones(10)
    e = la.engine.get()
    complete, pending = [], []
    for _ in range(rounds * 100):
        start = time.perf_counter()
        float((x * y).sum())
        complete.append(time.perf_counter() - start)
        with la.engine.bulk(64):
            old = la.lazy._lazy._set_policy("inline_ns", 0)  # recorded, so pending at the sync
            start = time.perf_counter()
            float((x * y).sum())
            pending.append(time.perf_counter() - start)
            la.lazy._lazy._set_policy("inline_ns", old)
    e.wait_for_all()
    complete.sort()
    pending.sort()
    middle = len(complete) // 2
    return (
        f"float((x * y).sum()): complete {complete[middle] * 1e6:.2f} us, recorded and pending "
        f"{pending[middle] * 1e6:.2f} us: {(pending[middle] - complete[middle]) * 1e6:+.2f} us "
        "(aim: at most 5 us more; medians)"
    )


def recording(la: Module, rounds: int) -> str:
    """Recording an op whose operand is still being written, so that nothing runs inline."""
    e = la.engine.get()
    x, y = la.ones(10), la.ones(10)
    best = float("inf")
    count = 200
    for _ in range(rounds * 20):
        gate = threading.Event()
        e.push_sync(lambda ctx, gate=gate: gate.wait(), la.cpu(0), mutable_vars=[x.var])
        with la.engine.bulk(1000):
            start = time.perf_counter()
            keep = [x + y for _ in range(count)]
            best = min(best, (time.perf_counter() - start) / count)
        gate.set()
        la.waitall()
        del keep
    return f"recording an op on a pending operand: {best * 1e6:.3f} us (aim: at most 0.3 us)"


def busy_main(la: Module, rounds: int) -> str:
    """A 1M-element add with the main thread asleep, and busy in Python."""
    a = la.ones(1_000_000)
    out = la.empty(1_000_000)
    e = la.engine.get()

    def once(busy: bool) -> float:
        e.trace_start()
        la.add(a, a, out=out)
        end = time.perf_counter() + 0.01
        if busy:
            while time.perf_counter() < end:
                pass
        else:
            time.sleep(0.01)
        out.wait_to_read()
        rows = e.trace_stop()
        return min(r["end"] - r["start"] for r in rows) / 1e6

    idle, busy = float("inf"), float("inf")
    for _ in range(rounds * 4):
        idle = min(idle, once(False))
        busy = min(busy, once(True))
    return (
        f"a 1M-element add on a worker: {idle:.3f} ms with the main thread idle, {busy:.3f} ms "
        f"with it busy in Python: {busy / idle:.2f}"
    )


def main() -> None:
    """Prints each figure as an item of a list."""
    la = importlib.import_module("lazyarray")  # not above: every contestant imports this module
    rounds = int(sys.argv[1])
    for figure in (recording, pending_sync, push_time, busy_main):
        print("*", figure(la, rounds), flush=True)


if __name__ == "__main__":
    main()
