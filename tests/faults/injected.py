"""Runs a scenario while its n-th allocation fails, for many n: in a process of its own.

    LD_PRELOAD=faults.so python -m tests.faults.injected NAME,NAME [FIRST [STEP [TIMES]]]
    LAZYARRAY_MEM_LIMIT=16777216 python -m tests.faults.injected limit VALUES

Every array must then either raise MemoryError or hold what NumPy says; afterwards the program goes
on, and no memory is missing.
"""

import contextlib
import ctypes
import faulthandler
import gc
import sys
import time

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


def inject(name, first=1, step=1, times=1):
    """Has the allocations at `first`, `first` + `step`, ... fail, in turn."""
    scenario = ALL[name]
    check(scenario(0))
    check(scenario(1))
    before = in_use()
    count, _ = attempt(scenario, 2, 0, 0)
    noticed = 0
    for position in range(first, count + 1, step):
        faulthandler.dump_traceback_later(60, exit=True)
        noticed += attempt(scenario, 2 + position, position, times)[1]
        go_on(name, position, before)
        faulthandler.cancel_dump_traceback_later()
    print(f"{name}: {count} allocations, {noticed} failures noticed", flush=True)
    return noticed


def go_on(name, n, before):
    if check(ALL[name](n + 3)):
        sys.exit(f"{name}: no memory after the fault at {n} was over")
    end = time.monotonic() + 5  # a worker lets go of what it ran a moment after it is complete
    while (left := in_use() - before) and time.monotonic() < end:
        time.sleep(0.001)
    if left:
        sys.exit(f"{name}: {left} bytes are missing after the fault at {n}")


def limit(values):
    """Runs each scenario in what others leave of LAZYARRAY_MEM_LIMIT, for so many sizes of that."""
    most, block, noticed = la.storage.pool_stats()["limit"], 1 << 14, 0
    for name, scenario in ALL.items():
        check(scenario(0))
        before = in_use()
        rng = np.random.default_rng(1)
        for k in range(values):
            faulthandler.dump_traceback_later(60, exit=True)
            free = int(2 ** rng.uniform(14, 23))
            taken = (most - before - free) // block
            others = [la.zeros(block, dtype="u1") for _ in range(taken)]
            la.waitall()
            try:
                noticed += check(scenario(k)) > 0
            except MemoryError:
                noticed += 1
            with contextlib.suppress(MemoryError):
                settle()
            del others
            go_on(name, k, before)
            faulthandler.cancel_dump_traceback_later()
    print(f"{noticed} noticed")


def main(names, *numbers):
    faulthandler.enable()
    if names == "limit":
        return limit(*numbers)
    total = sum(inject(name, *numbers) for name in names.split(","))
    print(f"{total} of them noticed")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
