"""Pools: what arrays take of them and give back, reuse, limits, by the pools' own figures."""

import gc
import itertools
import math
import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import lazyarray as la
from lazyarray.storage import pool_stats, trim

from ..waiting import settle

pytestmark = pytest.mark.host
IN_THE_CHUNK = 64  # bytes: a chunk has room for them itself
MB = 1 << 20
naive = isinstance(la.engine.get(), la.engine.NaiveEngine)


def filled(n, value=1, ctx=None):
    """An array of ``n`` bytes, which are written, and nothing is under way."""
    x = la.full(n, value, "u1", ctx=ctx)
    x.wait_to_read()
    return x


def address(x):
    return np.asarray(x, copy=False).ctypes.data


def block(n):
    """The bytes of the block that an array of ``n`` bytes takes."""
    if n <= 1024:
        return -(-n // 64) * 64
    step = 1 << (math.ceil(math.log2(n)) - 3)  # four sizes for each power of two
    return -(-n // step) * step


def changed(do, ctx=None):
    """What ``do`` returns, and by how much it changed the figures."""
    gc.collect()  # what other tests have left
    settle()
    before = pool_stats(ctx)
    found = do()
    settle()
    after = pool_stats(ctx)
    return found, {name: after[name] - before[name] for name in before}


# Around the borders of classes, of pages, of what is mapped by itself and of what counts as large.
SIZES = [
    65,
    128,
    129,
    1000,
    1024,
    1025,
    1280,
    1281,
    4096,
    65536,
    65537,
    3 * MB + 1,
    4 * MB,
    32 * MB,
]


@pytest.mark.parametrize("n", SIZES)
def test_an_array_takes_a_block_and_gives_it_back(n):
    x, taken = changed(lambda: filled(n))
    assert taken["in_use"] == block(n) >= n
    assert block(n) <= max(1.25 * n, n + 63)
    assert taken["hits"] + taken["misses"] == 1
    assert address(x) % 64 == 0 and x.asnumpy().all()
    before = pool_stats()
    del x
    after = pool_stats()
    assert before["in_use"] - after["in_use"] == block(n)
    assert after["cached"] - before["cached"] == block(n)


@pytest.mark.parametrize("n", SIZES)
def test_what_is_given_back_is_taken_again(n):
    trim()
    x, first = changed(lambda: filled(n))
    assert (first["misses"], first["hits"]) == (1, 0)
    at = address(x)
    del x
    y, again = changed(lambda: filled(n, 2))
    assert (again["misses"], again["hits"]) == (0, 1)
    assert again["cached"] == -block(n)
    assert address(y) == at and (y.asnumpy() == 2).all()


def test_a_block_serves_all_sizes_of_its_class_and_no_other():
    trim()
    at = address(filled(1100))
    for n in (1025, 1280):
        x, taken = changed(lambda n=n: filled(n))
        assert taken["hits"] == 1 and address(x) == at
        del x
    for n in (1024, 1281):
        x, taken = changed(lambda n=n: filled(n))
        assert taken["misses"] == 1 and address(x) != at
    assert pool_stats()["cached"] >= 1280


def test_live_arrays_have_blocks_of_their_own():
    arrays = [filled(5000, k) for k in range(50)]
    places = sorted(map(address, arrays))
    assert all(b - a >= block(5000) for a, b in itertools.pairwise(places))
    assert [int(x.max()) for x in arrays] == [int(x.min()) for x in arrays] == list(range(50))


def test_single_elements_ask_no_pool():
    def make():
        return [filled(n) for n in (0, 1, 8, IN_THE_CHUNK)], la.array(2.5), la.ones(8)

    _, taken = changed(make)
    assert not any(taken.values())
    _, taken = changed(lambda: filled(IN_THE_CHUNK + 1))
    assert taken["hits"] + taken["misses"] == 1


def test_what_nobody_wrote_takes_nothing():
    x, taken = changed(lambda: la.empty(MB, "u1"))
    assert not taken["in_use"]
    _, taken = changed(lambda: x.__setitem__(0, 3) or x.wait_to_read())
    assert taken["in_use"] == block(MB) and int(x[0]) == 3


def test_trimming_gives_back_what_is_cached_and_nothing_else():
    kept = filled(100_000, 7)
    for n in SIZES:
        filled(n)
    settle()
    assert pool_stats()["cached"] > 32 * MB
    _, given = changed(trim)
    assert given["in_use"] == 0 and pool_stats()["cached"] == 0
    assert (kept.asnumpy() == 7).all()
    trim()  # nothing is left
    assert pool_stats()["cached"] == 0


def test_the_peak_stays():
    most = pool_stats()["peak"]
    x = filled(most + 8 * MB)
    peak = pool_stats()["peak"]
    assert peak == pool_stats()["in_use"] >= most + 8 * MB
    del x
    assert pool_stats()["peak"] == peak
    filled(1000)
    assert pool_stats()["peak"] == peak
    trim()


def test_each_device_has_a_pool():
    other = la.cpu(3)
    trim(other)
    (x, taken), here = changed(lambda: changed(lambda: filled(9000, 5, other), other))
    assert taken["in_use"] == block(9000) and not any(here.values())
    del x
    trim()  # the host's
    assert pool_stats(other)["cached"] == block(9000)
    trim(other)
    assert pool_stats(other)["cached"] == 0


def test_bad_devices():
    for ask in (pool_stats, trim):
        with pytest.raises(TypeError):
            ask("cpu")
        with pytest.raises(RuntimeError, match="not in use"):
            ask(la.Context("gpu", 7))


def test_threads_take_and_give_blocks_side_by_side():
    """Each finds in its arrays what it wrote itself."""
    wrong = []

    def work(number):
        rng = np.random.default_rng(number)
        mine = []
        for n in rng.integers(65, 20_000, 400):
            mine.append((filled(int(n), number), number))
            if len(mine) > 8:
                x, value = mine.pop(int(rng.integers(8)))
                if not (x.asnumpy() == value).all():
                    wrong.append(number)

    settle()
    before = pool_stats()["in_use"]
    threads = [threading.Thread(target=work, args=(k,)) for k in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    settle()
    assert not wrong
    assert pool_stats()["in_use"] == before


# ---- limits -------------------------------------------------------------------------------------


def run(code, limit):
    """Runs a program whose arrays may take ``limit`` bytes; what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", "import lazyarray as la\n" + textwrap.dedent(code)],
        env=os.environ | {"LAZYARRAY_MEM_LIMIT": str(limit)},
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.skipif(naive, reason="the naive engine raises errors at the call")
def test_over_the_limit_is_a_memory_error_of_its_array_alone():
    out = run(
        """
        import time
        from lazyarray.storage import pool_stats
        x = la.full(6_000_000, 1, "u1")
        x.wait_to_read()
        y = la.full(6_000_000, 2, "u1")  # together they are over it
        z = y + 1
        for array in (z, y, y):
            try:
                array.wait_to_read()
            except MemoryError:
                print("MemoryError")
        print(int(x.max()), pool_stats()["in_use"] <= pool_stats()["limit"] == 10_000_000)
        del x
        while pool_stats()["in_use"]:  # a worker lets go of it a moment later
            time.sleep(0.01)
        y[...] = 4
        print(int(y.max()))
        """,
        10_000_000,
    )
    assert out == ["MemoryError"] * 3 + ["1", "True", "4"]


def test_what_is_cached_makes_room():
    """Live and cached blocks together stay within the limit, whoever has allocated them."""
    out = run(
        """
        import numpy as np
        from lazyarray.storage import pool_stats

        def total():
            return pool_stats()["in_use"] + pool_stats()["cached"]

        for n in (6_000_000, 7_000_000, 5_000_000, 8_000_000, 300_000, 7_500_000):
            x = la.full(n, 3, "u1")
            x.wait_to_read()
            assert total() <= 10_000_000, (n, pool_stats())
            del x
        bits = la.unpackbits(la.full(800_000, 255, "u1"))  # NumPy allocates its memory
        assert int(bits.min()) == 1 and total() <= 10_000_000, pool_stats()
        print("ok")
        """,
        10_000_000,
    )
    assert out == ["ok"]


def test_no_limit():
    assert run("print(la.storage.pool_stats()['limit'])", 0) == ["0"]
    for wrong in ("-1", "many"):
        with pytest.raises(AssertionError, match="LAZYARRAY_MEM_LIMIT"):
            run("la.ones(3)", wrong)
