"""The memory's address, by NumPy's array interface."""

import ctypes

import numpy as np
import pytest

import lazyarray as la
from lazyarray.lazy import _share

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


@pytest.mark.host
@pytest.mark.parametrize("n", [3, 1_000_000])
def test_an_address_taken_once(n):
    """`x.ctypes.data` is good for as long as the memory lives."""
    x = la.ones(n)
    address = x.ctypes.data
    first = ctypes.c_double.from_address(address)
    for factor in (1, 3, 9):
        assert first.value == factor
        x *= 3
    y = x + 1
    ctypes.memset(address, 0, 8 * n)
    assert y[0] == 28 and x[-1] == 0


@pytest.mark.host
def test_pytorch_takes_numbers():
    torch = pytest.importorskip("torch")
    for x in (la.arange(3.0), la.arange(3), la.arange(4.0).reshape(2, 2), la.arange(6.0)[::2]):
        got = torch.asarray(x)
        np.testing.assert_array_equal(got.numpy(), x.asnumpy())
        assert got.numpy().dtype == x.dtype


@pytest.mark.host
def test_arguments_of_foreign_functions():
    kind = la.ctypeslib.ndpointer("f8", ndim=1, flags="C_CONTIGUOUS")
    assert kind is la.ctypeslib.ndpointer("f8", ndim=1, flags="C_CONTIGUOUS")
    fill = ctypes.CDLL(None).memset
    old, fill.argtypes = fill.argtypes, [kind, ctypes.c_int, ctypes.c_size_t]
    try:
        x, host = la.arange(4.0) + 1, np.ones(4)
        fill(x, 0, 16)
        fill(host, 0, 8)
        np.testing.assert_array_equal(x.asnumpy(), [0, 0, 3, 4])
        np.testing.assert_array_equal(host, [0, 1, 1, 1])
        for wrong in (la.arange(4), la.ones((2, 2)), la.arange(8.0)[::2], [1.0]):
            with pytest.raises(ctypes.ArgumentError):
                fill(wrong, 0, 8)
    finally:
        fill.argtypes = old
    assert _share.export_count(x) == 0


@pytest.mark.host
def test_an_address_outlives_other_exports():
    """What is lent for good stays so when a memoryview that was there before is released."""
    x = la.ones(1_000_000)
    view = memoryview(x)
    address = x.__array_interface__["data"][0]
    view.release()
    del view
    assert _share.export_count(x)
    first = ctypes.c_double.from_address(address)
    x *= 3
    assert first.value == 3
