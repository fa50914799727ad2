"""Processes made while work is under way: python -m tests.faults.pools METHOD [ROUNDS]

METHOD: fork, forkserver, spawn (process pools and bare processes) or raw (os.fork).
"""

import concurrent.futures
import faulthandler
import multiprocessing
import os
import signal
import sys
import threading

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


class Load:
    """Threads that keep the engine busy until the block ends."""

    def __enter__(self):
        self.over, self.errors = threading.Event(), []
        self.threads = [threading.Thread(target=self.run, args=(i,)) for i in range(3)]
        for t in self.threads:
            t.start()

    def run(self, n):
        try:
            while not self.over.is_set():
                compute(n)
        except BaseException as exc:
            self.errors.append(exc)

    def __exit__(self, *exc):
        self.over.set()
        for t in self.threads:
            t.join()
        assert not self.errors, self.errors


def pools(method, rounds):
    context = multiprocessing.get_context(method)
    for k in range(rounds):
        pending = la.array(np.arange(100_000.0)) * 2 + k  # an open segment
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
            assert list(pool.map(compute, range(6))) == list(range(6))
        results = context.Queue()
        process = context.Process(target=report, args=(k, results))
        process.start()
        assert results.get(timeout=60) == k
        process.join()
        assert process.exitcode == 0
        assert pending[1].item() == 2 + k


def raw(rounds):
    for k in range(rounds):
        x = la.array(np.arange(100_000.0))
        y = x * 2 + k
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
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        assert (y + x)[1].item() == 3 + k


def main(method, rounds=2):
    faulthandler.enable()
    signal.alarm(60 + 10 * rounds)
    compute(0)
    with Load():
        raw(rounds) if method == "raw" else pools(method, rounds)
    compute(1)
    print("ok")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
