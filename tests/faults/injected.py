"""Runs a scenario while its n-th allocation fails, for many n: in a process of its own.

    LD_PRELOAD=faults.so python -m tests.faults.injected NAME [FIRST [STEP [TIMES]]]

Every array must then either raise MemoryError or hold what NumPy says; afterwards the program goes
on, and no memory is missing.
"""

import contextlib
import ctypes
import faulthandler
import gc
import sys

import numpy as np

import lazyarray as la

from .scenarios import ALL


def check(pairs):
    """Compares; gives how many arrays had no memory."""
    refused = 0
    for x, want in pairs:
        try:
            got = x.asnumpy()
        except MemoryError:
            refused += 1
            continue
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
    return refused


def settle():
    for _ in range(1000):
        try:
            la.waitall()
            break
        except MemoryError:
            pass
    gc.collect()


def in_use():
    settle()
    return la.storage.pool_stats()["in_use"]


def attempt(scenario, n, first, times):
    """How many allocations there were, and whether it was noticed that one failed."""
    noticed = False
    faults = ctypes.CDLL(None)
    faults.faults_arm.argtypes = [ctypes.c_long, ctypes.c_long]
    faults.faults_disarm.restype = ctypes.c_long
    faults.faults_arm(first, times)
    try:
        noticed = check(scenario(n)) > 0
    except MemoryError:
        noticed = True
    finally:
        count = faults.faults_disarm()
    with contextlib.suppress(MemoryError):  # of what the scenario had begun
        settle()
    return count, noticed


def main(name, first=1, step=1, times=1, most=100_000):
    faulthandler.enable()
    scenario = ALL[name]
    check(scenario(0))
    check(scenario(1))
    before = in_use()
    count, _ = attempt(scenario, 2, 0, 0)
    refused = 0
    position = first
    while position <= min(count, most):
        print(position, flush=True)
        faulthandler.dump_traceback_later(60, exit=True)
        _, noticed = attempt(scenario, 2 + position, position, times)
        refused += noticed
        if check(scenario(3 + position)):
            sys.exit(f"{name}: no memory after the fault at {position} was over")
        if left := in_use() - before:
            sys.exit(f"{name}: {left} bytes are missing after the fault at {position}")
        faulthandler.cancel_dump_traceback_later()
        position += step
    print(f"{name}: {count} allocations, {refused} noticed", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
