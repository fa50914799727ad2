"""``la.engine.get().cores``: how many cores native compute takes, also while it is under way."""

import threading
import time

import numpy as np
import pytest

import lazyarray as la
from lazyarray import engine

pytestmark = pytest.mark.host


@pytest.fixture
def process_engine():
    e = engine.get()
    before = e.cores
    yield e
    e.cores = before


def work(n):
    x = la.full(n, 0.5)
    for _ in range(10):
        x = la.sin(x) + x
    return x


def test_one_core_is_no_more_than_one(process_engine):
    """Passes are not split, and two at once take turns: processor time is the clock's at most."""
    process_engine.cores = 1
    shares = []
    for _ in range(3):  # the compiler may still be at work for the tests before
        la.waitall()
        processor, clock = time.process_time(), time.perf_counter()
        x, y = work(2_000_000), work(2_000_000) + 1
        x.wait_to_read()
        y.wait_to_read()
        processor, clock = time.process_time() - processor, time.perf_counter() - clock
        assert clock > 0.02
        shares.append(processor / clock)
    assert min(shares) < 1.25
    np.testing.assert_array_equal(x, y - 1)


def test_set_while_work_is_under_way(process_engine):
    want = work(100_000).asnumpy()
    stop = threading.Event()

    def change():
        k = 0
        while not stop.is_set():
            process_engine.cores = 1 + k % 3
            k += 1
            time.sleep(0)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(30):
            results = [work(100_000) for _ in range(3)]
            for x in results:
                np.testing.assert_array_equal(x, want)
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("cores", [0, -1, 1.5, True, "2", None])
def test_bad_input(process_engine, cores):
    kind = ValueError if type(cores) is int else TypeError
    with pytest.raises(kind, match="cores is"):
        process_engine.cores = cores
    process_engine.cores = 10**30
    assert process_engine.cores == 1 << 20
