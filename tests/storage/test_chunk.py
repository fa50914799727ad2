"""Chunks: memory lives as long as a view, an operation or another library uses it."""

import gc
import threading
import time
import weakref

import numpy as np
import pytest

import lazyarray as la
from lazyarray.storage import pool_stats

from ..waiting import settle

pytestmark = pytest.mark.host
N = 300_000  # bytes, less than what NumPy's results keep of their own
naive = isinstance(la.engine.get(), la.engine.NaiveEngine)
asynchronous = pytest.mark.skipif(naive, reason="the naive engine runs each op at the call")


def filled(value=1):
    x = la.full(N, value, "u1")
    x.wait_to_read()
    return x


def in_use(pending=False):
    gc.collect()  # what other tests have left
    if pending:  # what waits for an event
        time.sleep(0.02)
    else:
        settle()
    return pool_stats()["in_use"]


def test_a_view_keeps_the_memory():
    before = in_use()
    x = filled()
    one = in_use() - before
    views = [x[5:], x[::-1], x.reshape(300, 1000).T, x.view("u4"), x[7:9]]
    assert all(view.var == x.var for view in views) and in_use() - before == one
    views[4][...] = 9
    del x
    assert in_use() - before == one
    last = views.pop()
    views.clear()
    assert in_use() - before == one and last.tolist() == [9, 9]
    del last
    assert in_use() == before


def test_a_copy_has_memory_of_its_own():
    before = in_use()
    x = filled()
    one = in_use() - before
    y = x.copy()
    y += 1
    y.wait_to_read()
    assert y.var != x.var and in_use() - before == 2 * one
    del x
    assert in_use() - before == one and (y.asnumpy() == 2).all()


@asynchronous
def test_pending_operations_keep_the_memory():
    """An array may go before what reads it has run; the memory goes after it."""
    before = in_use()
    x = filled(3)
    one = in_use() - before
    go = threading.Event()
    la.engine.get().push_sync(lambda ctx: go.wait(20), la.cpu(), mutable_vars=[x.var])
    y = x + 1  # waits for that
    del x
    gc.collect()
    assert in_use(pending=True) - before == one
    go.set()
    assert (y.asnumpy() == 4).all()
    assert in_use() - before == one  # y's own
    del y
    assert in_use() == before


@asynchronous
def test_memory_of_a_pending_array_is_nobody_elses():
    """What is allocated meanwhile lies elsewhere, although nobody holds the array any more."""
    go = threading.Event()
    x = filled(3)
    la.engine.get().push_sync(lambda ctx: go.wait(20), la.cpu(), const_vars=[x.var])
    y = x * 2
    x[...] = 7  # waits for what reads it
    z = x + 1
    del x
    others = [filled(k) for k in range(5)]
    go.set()
    assert (z.asnumpy() == 8).all() and (y.asnumpy() == 6).all()
    assert [int(o.min()) for o in others] == [int(o.max()) for o in others] == [*range(5)]


@asynchronous
def test_failed_operations_let_go():
    before = in_use()
    for _ in range(20):
        x = filled()

        def fail(ctx):
            raise ValueError("no")

        la.engine.get().push_sync(fail, la.cpu(), mutable_vars=[x.var])
        y = x + 1
        with pytest.raises(ValueError, match="no"):
            y.wait_to_read()
        del x, y
    assert in_use() == before


# ---- memory that others know --------------------------------------------------------------------


def test_an_export_keeps_the_memory():
    before = in_use()
    x = filled(5)
    host = np.asarray(x, copy=False)
    del x
    gc.collect()
    assert in_use() > before
    others = [filled(6) for _ in range(3)]
    assert (host == 5).all() and all(np.asarray(o, copy=False) is not host for o in others)
    del host, others
    gc.collect()
    assert in_use() == before


class Buffer(np.ndarray):
    """NumPy's memory, which tells when it goes."""


def test_memory_of_others_is_in_no_pool_and_stays_while_it_is_used():
    before = pool_stats()
    host = Buffer((N,), "u1")
    host[...] = np.arange(N)
    gone = weakref.ref(host)
    x = la.from_dlpack(host)
    part = x[10:20]
    assert pool_stats()["in_use"] == before["in_use"]
    x[10] = 99
    x.wait_to_read()
    assert host[10] == 99
    del host, x
    gc.collect()
    assert gone() is not None and part.tolist() == [99, *range(11, 20)]
    del part
    gc.collect()
    assert gone() is None
    after = pool_stats()
    assert after["in_use"] == before["in_use"] and after["cached"] == before["cached"]


def test_one_memory_is_one_variable():
    host = np.zeros(N)
    x = la.from_dlpack(host)
    again, part = la.from_dlpack(host), la.from_dlpack(host[100:200])
    assert x.var == again.var == part.var
    part += 1
    assert float(x.sum()) == float(again[150:].sum()) * 2 == 100
    # Once all are gone the memory is taken anew, and an array that comes to lie there is another.
    first = x.var.version
    del x, again, part
    fresh = la.from_dlpack(host)
    assert fresh.var.version < first and float(fresh.sum()) == 100


@asynchronous
def test_a_new_array_at_the_place_of_an_old_one_is_another():
    """Its variable knows nothing of what was there: no error, no version, no gradient."""
    for k in range(200):
        x = la.full(1000, float(k))
        if k % 2:

            def fail(ctx):
                raise ValueError(k)  # noqa: B023  # it runs in this round

            la.engine.get().push_sync(fail, la.cpu(), mutable_vars=[x.var])
            with pytest.raises(ValueError):
                x.wait_to_read()
        else:
            x.attach_grad()
            x.wait_to_read()
        del x
        y = la.full(1000, float(k))
        assert y.var.version == 1 and y.grad is None and int(y.sum()) == 1000 * k
