"""Little address space: python -m tests.faults.limited [SEED [SECONDS [MEGABYTES]]]

Each op gives what NumPy says, or MemoryError; nothing else, and the process goes on.
"""

import contextlib
import faulthandler
import random
import resource
import signal
import sys
import time
import warnings

import lazyarray as la


def sums(n, i):
    x = la.ones(n) * i + 1
    return x, lambda: x[0].item() == i + 1 and x[-1].item() == i + 1


def ordered(n, i):
    x = la.sort(la.arange(float(n))[::-1] + i)
    return x, lambda: x[0].item() == i


def gradients(n, i):
    x = la.full(n, 3.0)
    x.attach_grad()
    with la.autograd.record():
        y = (x * x).sum()
    y.backward()
    return x.grad, lambda: x.grad[0].item() == 6.0


def transformed(n, i):
    x = la.fft.fft(la.ones(n))
    return x, lambda: abs(x[0].item() - n) < 1e-6 * n


def drawn(n, i):
    x = la.random.default_rng(i).random(n)
    return x, lambda: 0 <= x[0].item() < 1


@la.compile
def _step(x, y):
    return (x * y + 1) / (y + 1)


def stepped(n, i):
    x = _step(la.ones(n), la.ones(n))
    return x, lambda: x[n // 2].item() == 1.0


# No products: OpenBLAS ends the process where it finds no room for its own buffers.
WAYS = [sums, sums, sums, ordered, gradients, transformed, drawn, stepped]


def main(seed=1, seconds=10.0, megabytes=60):
    faulthandler.enable()
    warnings.simplefilter("ignore")
    for way in WAYS:  # libraries and threads are there
        way(1000, 1)[1]()
        way(100_000, 1)[1]()
    la.waitall()
    la.storage.trim()
    with open("/proc/self/statm") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    most = now + (megabytes << 20)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    rng, keep, refused, done = random.Random(seed), [], 0, 0
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        # Python's own objects may find no memory anywhere, also in the handler.
        with contextlib.suppress(MemoryError):
            try:
                while time.monotonic() < until:
                    signal.alarm(60)
                    way = rng.choice(WAYS)
                    x, right = way(int(10 ** rng.uniform(2, 6)), done)
                    keep.append((x, right, way.__name__))
                    done += 1
                    if done % 20 == 0:
                        _, right, name = rng.choice(keep)
                        assert right(), f"a wrong value of {name}"
            except MemoryError:
                del keep[len(keep) // 2 :]  # (a slice would be a new list)
                refused += 1
    while True:
        try:
            assert all(right() for _, right, _ in keep)
            break
        except MemoryError:
            del keep[len(keep) // 2 :]
    keep.clear()
    while True:
        try:
            la.waitall()
            break
        except MemoryError:
            pass
    print(f"{done} programs in {megabytes} MB, {refused} times MemoryError, all else right")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *map(float, sys.argv[2:3]), *map(int, sys.argv[3:]))
