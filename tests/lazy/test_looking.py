"""Values that are looked at where they lie, to become text or a shape."""

import threading

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import pending, same


def test_looking_waits_for_what_was_written_and_holds_back_what_comes():
    x = la.zeros(100_000)
    with pending(x):
        x[5] = 1
        found = []
        thread = threading.Thread(target=lambda: found.append(la.flatnonzero(x).tolist()))
        thread.start()
    thread.join()
    x[6] = 1
    assert found == [[5]] and la.flatnonzero(x).tolist() == [5, 6]


@pytest.mark.parametrize("n", [100, 8192, 8193, 100_000])
def test_looking_is_a_hidden_wait(n):
    x = la.ones(n)
    for look in (
        la.nonzero,
        la.argwhere,
        la.flatnonzero,
        la.unique,
        la.trim_zeros,
        la.array2string,
    ):
        with la.no_sync(), pytest.raises(RuntimeError, match="no_sync"):
            look(x)
    la.array2string(x)
    assert "array2string()" in str(la.sync_report())


@pytest.mark.parametrize("n", [100, 100_000])
def test_looking_at_what_failed(n):
    x = la.ones(n)
    la.engine.get().push_sync(lambda run: 1 / 0, la.cpu(), [], [x.var])
    for look in (la.nonzero, la.trim_zeros, la.array_repr, la.unique):
        with pytest.raises(ZeroDivisionError):
            look(x)


def test_a_formatter_of_the_users():
    x = la.arange(10_000.0)
    text = la.array2string(x, formatter={"float": lambda v: str(float(x[int(v)] + 1))}, threshold=5)
    assert text.startswith("[1.0 2.0 3.0 ...")


def test_looking_while_recording_leaves_no_trace():
    x = la.ones(100_000)
    x.attach_grad()
    with la.autograd.record():
        y = (x * x).sum()
        assert la.flatnonzero(x).size == 100_000
    y.backward()
    same(x.grad, np.full(100_000, 2.0))
