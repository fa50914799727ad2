"""Runs everything at once for a while: python -m tests.faults.soak [--minutes 20] [--seed 1]

Threads that share arrays record in-place ops, views, reductions, draws, gradients, compiled
functions, copies and failing ops, while the profiler comes and goes. Results are compared with
NumPy's; at the end the memory in use, and what the process holds, are what they were.
"""

import argparse
import gc
import os
import sys
import tempfile
import threading
import time

import numpy as np

import lazyarray as la
from lazyarray.lazy.cpu.jit._tier import compiled_loops

# What the process may grow by: in all, and for each loop that was compiled meanwhile (120 KB, and
# its plans).
GROWTH, LOOP = 64 << 20, 256 << 10


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def same(got, want):
    np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-10, atol=1e-10)


# Each takes a Generator and the arrays that all threads read, as (lazyarray, NumPy array).


def elementwise(rng, shared):
    (x, a), (y, b) = (shared[i] for i in rng.integers(0, len(shared), 2))
    n = min(len(a), len(b))
    x, a, y, b = x[:n], a[:n], y[:n], b[:n]
    z, c = x * y + 1, a * b + 1
    for _ in range(rng.integers(1, 20)):
        z, c = (z - y) / (x * x + 2), (c - b) / (a * a + 2)
    same(z, c)


def in_place(rng, shared):
    a = rng.random((rng.integers(1, 400), rng.integers(1, 60)))
    x = la.array(a)
    for _ in range(rng.integers(1, 10)):
        i = int(rng.integers(0, len(a)))
        x[i:] += x[: len(a) - i]
        a[i:] += a[: len(a) - i].copy()
        x.T[...] *= 0.5
        a *= 0.5
        x[i] = 3.0
        a[i] = 3.0
    same(x, a)


def reductions(rng, shared):
    x, a = shared[rng.integers(0, len(shared))]
    n = len(a) // 50
    x, a = x[: n * 50].reshape(n, 50), a[: n * 50].reshape(n, 50)
    e = la.exp(x - x.max(axis=1, keepdims=True))
    f = np.exp(a - a.max(axis=1, keepdims=True))
    same(e / e.sum(axis=1, keepdims=True), f / f.sum(axis=1, keepdims=True))
    same(x.sum(axis=0), a.sum(axis=0))
    same(x.sum(), a.sum())


def draws(rng, shared):
    seed, n = int(rng.integers(0, 1 << 30)), int(rng.integers(1, 20_000))
    g, h = la.random.default_rng(seed), np.random.default_rng(seed)
    same(g.random(n) + g.normal(size=n), h.random(n) + h.normal(size=n))


def gradients(rng, shared):
    a = rng.random(rng.integers(1, 5_000)) + 0.5
    x = la.array(a)
    x.attach_grad()
    with la.autograd.record():
        y = (la.log(x) * x + x[::2].sum()).sum()
    y.backward()
    want = np.log(a) + 1
    want[::2] += len(a)
    same(x.grad, want)


@la.compile
def _compiled(x, y):
    z = x * y + la.sqrt(x)
    return z / (z.sum() + 1), z.max()


def compiled(rng, shared):
    a, b = rng.random(n := int(rng.choice([10, 1000, 20_000]))) + 1, rng.random(n)
    z = a * b + np.sqrt(a)
    u, v = _compiled(la.array(a), la.array(b))
    same(u, z / (z.sum() + 1))
    same(v, z.max())


def copies(rng, shared):
    x, a = shared[rng.integers(0, len(shared))]
    y = la.empty(len(a))
    x.copyto(y)
    z = y.as_in_context(la.cpu(1)) * 2
    same(z.as_in_context(la.cpu(0)) + x, a * 3)


def picks(rng, shared):
    x, a = shared[rng.integers(0, len(shared))]
    i = rng.integers(0, len(a), 500)
    same(x[la.array(i)] + 1, a[i] + 1)
    same(x[x > 0.5], a[a > 0.5])
    same(la.sort(x[:1000]), np.sort(a[:1000]))


def products(rng, shared):
    a = rng.random((rng.integers(1, 120), rng.integers(1, 120)))
    x = la.array(a)
    same(x @ x.T, a @ a.T)


def errors(rng, shared):
    x, a = shared[rng.integers(0, len(shared))]
    with la.engine.bulk(16):  # else the error comes in its line, as `run` catches it
        bad = x[la.array(np.array([len(a) + 5]))] + 1
    good = x + 1
    for _ in range(2):
        try:
            bad.asnumpy()
        except IndexError:
            continue
        raise AssertionError("an index out of bounds was not noticed")
    same(good, a + 1)


KINDS = [
    *(elementwise, in_place, reductions, draws, gradients, compiled),
    *(copies, picks, products, errors),
]


class Board:
    """What every thread adds to, in place, without a lock: whole numbers, so in whatever order."""

    def __init__(self):
        self.x, self.total, self.lock = la.zeros(30_000), 0.0, threading.Lock()

    def add(self, n):
        self.x += n
        with self.lock:
            self.total += n

    def check(self):
        np.testing.assert_array_equal(self.x.asnumpy(), np.full(30_000, self.total))


class Worker(threading.Thread):
    def __init__(self, seed, until, shared, board):
        super().__init__()
        self.rng, self.until, self.shared, self.board = (
            np.random.default_rng(seed),
            until,
            shared,
            board,
        )
        self.rounds, self.error = 0, None

    def run(self):
        try:
            while time.monotonic() < self.until:
                KINDS[self.rng.integers(0, len(KINDS))](self.rng, self.shared)
                self.board.add(float(self.rng.integers(1, 10)))
                self.rounds += 1
        except BaseException as exc:
            self.error = exc


def profiles(until, rng, stopped):
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < until and not stopped.is_set():
            la.profiler.set_config(filename=os.path.join(folder, "trace.json"))
            la.profiler.start()
            stopped.wait(rng.random())
            la.profiler.stop()
            la.profiler.dumps(reset=True)
            stopped.wait(rng.random() * 2)
            la.profiler.set_config(filename="profile.json")  # the default: the folder goes


def bout(seed, seconds, threads):
    """Runs the threads for a while; gives how many programs they ran."""
    rng = np.random.default_rng(seed)
    until = time.monotonic() + seconds
    arrays = [rng.random(int(n)) for n in rng.integers(2_000, 40_000, 4)]
    shared, board, stopped = [(la.array(a), a) for a in arrays], Board(), threading.Event()
    workers = [Worker(seed * 100 + i, until, shared, board) for i in range(threads)]
    profiler = threading.Thread(target=profiles, args=(until, rng, stopped))
    for t in (*workers, profiler):
        t.start()
    for t in workers:
        t.join()
    stopped.set()
    profiler.join()
    for w in workers:
        if w.error:
            raise w.error
    board.check()
    return sum(w.rounds for w in workers)


def settled():
    """The bytes in use when nothing is under way."""
    try:
        la.waitall()
    except IndexError:  # of errors()
        return settled()
    gc.collect()
    return la.storage.pool_stats()["in_use"]


def soak(seconds, seed=1, threads=4, each=20.0, say=print):
    bout(seed, min(each, seconds), threads)  # caches fill
    base, rss, loops, runs = settled(), resident(), sum(compiled_loops().values()), 0
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        seed += 1
        runs += bout(seed, min(each, max(1.0, seconds - (time.monotonic() - began))), threads)
        left, now = settled() - base, resident()
        say(
            f"{time.monotonic() - began:6.0f} s  {runs} programs, {left:+d} bytes in use, "
            f"{(now - rss) / 2**20:+.0f} MiB resident",
            flush=True,
        )
        assert left == 0, f"{left} bytes are still in use (seed {seed})"
    la.storage.trim()
    return resident() - rss - LOOP * (sum(compiled_loops().values()) - loops)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=4)
    args = parser.parse_args()
    grown = soak(args.minutes * 60, args.seed, args.threads)
    if grown > GROWTH:
        sys.exit(f"the process grew by {grown / 2**20:.0f} MiB, less what compiled loops take")
    print("ok")


if __name__ == "__main__":
    main()
