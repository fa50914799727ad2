"""The memory's address, by NumPy's array interface."""

import numpy as np
import pytest

import lazyarray as la

pytestmark = pytest.mark.host


def test_array_interface():
    x = la.arange(6.0).reshape(2, 3)[:, ::2]
    found, want = x.__array_interface__, np.arange(6.0).reshape(2, 3)[:, ::2].__array_interface__
    assert {**found, "data": None} == {**want, "data": None, "descr": found["descr"]} | {
        "strides": x.strides}  # fmt: skip
    address, readonly = found["data"]
    assert readonly is False and address == x.ctypes.data

    class Seen:
        __array_interface__ = found

    host = np.asarray(Seen())
    x *= 2  # the memory is lent: this has run
    assert host.tolist() == x.tolist() == [[0, 4], [6, 10]]
    x.setflags(write=False)
    assert x.__array_interface__["data"] == (address, True)
    assert not hasattr(x, "__array_interface__")  # what asks so goes on to np.asarray


def test_numpy_does_not_see_it():
    x = la.ones(3)

    def convert():
        return np.asarray(x), np.array(x, copy=True), np.asarray(x, copy=False)

    copy, other, same = convert()
    x += 1
    assert copy.tolist() == other.tolist() == [1, 1, 1] and same.tolist() == [2, 2, 2]
    y = la.ones(1000)
    for _ in range(3):
        np.asarray(y)
    from lazyarray.lazy import _share

    assert _share.export_count(y) == 0  # so ops on it stay asynchronous
