"""Processes made while work is under way: python -m tests.faults.pools METHOD [ROUNDS [THREADS]]

METHOD: fork, forkserver, spawn (process pools and bare processes) or raw (os.fork). THREADS push
all the while: half of them wait for what they push now and then, the others run ahead.
"""

import concurrent.futures
import faulthandler
import multiprocessing
import os
import signal
import sys
import threading
import time

import numpy as np

import lazyarray as la


def compute(n):
    a = np.arange(20_000.0) % 7 + n
    x = la.array(a)
    y = (la.exp(-x) * x + 1).sum() + (x.reshape(200, 100) @ la.ones((100, 3)))[0, 0]
    want = (np.exp(-a) * a + 1).sum() + a[:100].sum()
    assert np.isclose(y.item(), want), (y, want)
    g, h = la.random.default_rng(n), np.random.default_rng(n)
    assert (g.random(100).asnumpy() == h.random(100)).all()
    return n


def report(n, results):
    results.put(compute(n))


def run_ahead(n):
    """Pushes for a while and looks at the last result alone."""
    x = la.array(np.arange(20_000.0))
    for k in range(100):
        y = x * 2 + k + n
        z = (y * y).sum() + la.sort(y)[0]
    assert z.item() == ((np.arange(20_000.0) * 2 + 99 + n) ** 2).sum() + 99 + n


class Load:
    """Threads that keep the engine busy until the block ends."""

    def __init__(self, threads):
        self.count = threads

    def __enter__(self):
        self.over, self.errors = threading.Event(), []
        self.threads = [threading.Thread(target=self.run, args=(i,)) for i in range(self.count)]
        for t in self.threads:
            t.start()

    def run(self, n):
        try:
            while not self.over.is_set():
                compute(n) if n % 2 else run_ahead(n)
        except BaseException as exc:
            self.errors.append(exc)

    def __exit__(self, *exc):
        self.over.set()
        for t in self.threads:
            t.join()
        assert not self.errors, self.errors


children, forks = 0, []


def taken(count, seconds=None):
    global children
    children += count
    if seconds is not None:
        forks.append(seconds)


def pools(method, rounds):
    context = multiprocessing.get_context(method)
    for k in range(rounds):
        pending = la.array(np.arange(100_000.0)) * 2 + k  # an open segment
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
            assert list(pool.map(compute, range(6))) == list(range(6))
            taken(6)
        results = context.Queue()
        process = context.Process(target=report, args=(k, results))
        process.start()
        assert results.get(timeout=250) == k
        process.join()
        assert process.exitcode == 0
        taken(1)
        assert pending[1].item() == 2 + k


def raw(rounds):
    for k in range(rounds):
        x = la.array(np.arange(100_000.0))
        y = x * 2 + k
        began = time.monotonic()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                signal.alarm(60)
                assert y[3].item() == 6 + k and (y + x)[1].item() == 3 + k
                compute(k)
                code = 0
            finally:
                os._exit(code)
        taken(1, time.monotonic() - began)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        assert (y + x)[1].item() == 3 + k


def main(method, rounds=2, threads=3):
    faulthandler.enable()
    signal.alarm(200 + 10 * rounds)
    unraisable = []
    sys.unraisablehook = unraisable.append  # where the hook of a fork says that it did not drain
    compute(0)
    with Load(threads):
        raw(rounds) if method == "raw" else pools(method, rounds)
    compute(1)
    assert not unraisable, unraisable
    print(f"{method}, {threads} threads: {children} children right", end="")
    print(f", the longest fork {max(forks):.3f} s" if forks else "")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
