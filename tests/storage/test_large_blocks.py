"""Large blocks of memory: zeros that nobody writes, and how long what is freed stays cached."""

import time

import numpy as np
import pytest

import lazyarray as la
from lazyarray import engine

from ..waiting import settle

MB = 1 << 20
# Around MemoryPool::kMapped (a class of 3.5 to 4 MiB is the first) and PoolPolicy::large.
SIZES = [MB, 7 * MB // 2, 7 * MB // 2 + 1, 4 * MB, 5 * MB, 28 * MB, 28 * MB + 1, 32 * MB, 40 * MB]


def is_zero(x):
    return not x.asnumpy().ravel(order="K").view("u1").any()


@pytest.mark.parametrize("size", SIZES)
def test_zeros_are_zeros(size):
    """Whatever the block held before: nothing, another's numbers, or half of them."""
    la.storage.trim()
    assert is_zero(la.zeros(size, "u1"))
    assert is_zero(la.zeros(size, "u1"))
    for touched in (slice(None), slice(0, 1), slice(-1, None), slice(None, None, 4096)):
        x = la.zeros(size, "u1")
        x[touched] = 7
        x.wait_to_read()
        assert x[touched].asnumpy().all()
        del x
        y = la.zeros(size, "u1")
        assert is_zero(y)
        y += 1
        assert (y.asnumpy() == 1).all()
        del y
        z = la.empty(size, "u1")
        z[...] = 0
        assert is_zero(z)
        z[...] = 3
        z[...] = 0
        assert is_zero(z)


@pytest.mark.parametrize("size", [5 * MB, 40 * MB])
def test_every_way_to_zeros(size):
    n = size // 8
    la.full(n, 5.0).wait_to_read()
    for make in (
        lambda: la.zeros(n),
        lambda: la.zeros((n // 2, 2), order="F"),
        lambda: la.full(n, 0.0),
        lambda: la.zeros_like(la.empty(n)),
        lambda: la.zeros(n, complex),
        lambda: la.zeros(n, bool),
    ):
        x = make()
        x.wait_to_read()
        assert x.var.version == 1
        assert is_zero(x)
        x[...] = 9
    assert np.signbit(la.full(n, -0.0).asnumpy()).all()
    with engine.bulk(100):
        x, y = la.ones(n), la.zeros(n)
        x += y
        y += x
        y[::2] = 0
        z = la.zeros(n)
    assert (y[1::2].asnumpy() == 1).all()
    assert is_zero(y[::2].copy())
    assert is_zero(z)


@pytest.mark.parametrize("size", [5 * MB, 40 * MB])
def test_compiled_zeros(size):
    """A program's memory is used again, and is dirty then."""
    n = size // 8

    @la.compile
    def f(x):
        z = la.zeros(n)
        z[1:] += x[1:]
        w = la.zeros(n)
        w[0] = 1
        return (z * 2).sum(), w

    x = la.ones(n)
    for _ in range(3):
        total, w = f(x)
        assert float(total) == 2.0 * (n - 1)
        assert float(w.sum()) == 1
        w += 5
        x = x * 1


def test_large_blocks_go_back():
    x = la.ones(48 * MB, "u1")
    y = la.ones(8 * MB, "u1")
    settle()
    la.storage.trim()
    before = la.storage.pool_stats()["cached"]
    del x, y
    cached = la.storage.pool_stats()["cached"] - before
    assert cached >= 56 * MB  # the next round of a loop finds them
    misses = la.storage.pool_stats()["misses"]
    x = la.ones(48 * MB, "u1")
    x.wait_to_read()
    assert la.storage.pool_stats()["misses"] == misses
    settle()
    del x
    if engine.get().__class__.__name__ == "NaiveEngine":
        time.sleep(1.2)
        la.ones(64 * MB, "u1").wait_to_read()  # who needs more looks
        assert la.storage.pool_stats()["cached"] < before + 56 * MB + 64 * MB
        return
    for _ in range(100):
        time.sleep(0.1)
        if la.storage.pool_stats()["cached"] < before + 48 * MB:
            break
    else:
        raise AssertionError(la.storage.pool_stats())
    assert la.storage.pool_stats()["cached"] >= before + 8 * MB


def test_what_workers_let_go_of_goes_back():
    la.storage.trim()
    x = la.ones(48 * MB, "u1")
    total = (x[: 40 * MB].copy() + x[8 * MB :].copy()[: 40 * MB]).max()
    assert int(total) == 2
    del x
    if engine.get().__class__.__name__ == "NaiveEngine":
        return
    for _ in range(100):
        time.sleep(0.1)
        if la.storage.pool_stats()["cached"] < 32 * MB:
            return
    raise AssertionError(la.storage.pool_stats())


def test_what_the_engine_let_go_of_last_goes_back():
    if engine.get().__class__.__name__ == "NaiveEngine":
        return
    la.storage.trim()
    x = la.ones(48 * MB, "u1")
    x.wait_to_read()
    engine.get().push_sync(lambda ctx: time.sleep(0.1), la.cpu(), const_vars=[x.var])
    del x
    for _ in range(100):
        time.sleep(0.1)
        if la.storage.pool_stats()["in_use"] < 32 * MB > la.storage.pool_stats()["cached"]:
            return
    raise AssertionError(la.storage.pool_stats())
