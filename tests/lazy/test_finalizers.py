"""Finalizers that run while an op is being recorded, and change what it is about to use."""

import time

import numpy as np
import pytest

import lazyarray as la
from lazyarray.ops._layout import gil_op


class Last:
    def __init__(self, do):
        self.do = do

    def __del__(self):
        self.do()


def buried(do):
    """A worker lets go of an object whose finalizer calls ``do`` at the next sweep."""
    x, last = la.array(np.arange(3.0)), Last(do)
    gil_op("probe", lambda q, last=last: q * 2, [x], x.shape, (do,))
    del last
    time.sleep(0.05)


def test_a_resize_leaves_the_op_its_memory():
    x, keep = la.array(np.ones(3000)), []

    def do():
        x.resize(5000, refcheck=False)
        keep.extend(la.full(3000, 7.0) for _ in range(3))

    buried(do)
    y = x + 1
    np.testing.assert_array_equal(y.asnumpy(), np.full(3000, 2.0))


def test_a_mask_may_lose_its_trues():
    x, m = la.array(np.arange(100.0)), la.array(np.ones(100, bool))

    def do():
        m[:] = False

    buried(do)
    y = x[m].asnumpy()
    assert y.size == 0 or (y == np.arange(100)).all()


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.host  # which zero is the minimum depends on the order
def test_minimum_of_rows_in_a_pass_has_numpys_zeros(axis):
    a = np.where(np.random.default_rng(0).random((3000, 64)) < 0.5, 0.0, -0.0)
    got = (la.array(a) * 1.0).min(axis=axis).asnumpy()
    assert (np.signbit(got) == np.signbit(a.min(axis=axis))).all()
