"""Arrays of other objects: what is copied, and when; what is refused."""

import numpy as np
import pytest

import lazyarray as la


def test_array_copies_at_the_call():
    host = np.arange(4.0)
    x = la.array(host)
    host[:] = 0
    assert x.asnumpy().tolist() == [0, 1, 2, 3]
    y = la.array(x)
    x += 1
    assert y.asnumpy().tolist() == [0, 1, 2, 3] and y.var != x.var


def test_array_in_the_machines_byte_order():
    x = la.array(np.arange(3, dtype=">i4"))
    assert x.dtype == np.int32 and x.asnumpy().tolist() == [0, 1, 2]


def test_array_of_lists_of_arrays():
    x, y = la.arange(3), la.ones(3)
    got = la.array([x, y * 2, [7, 8, 9]])
    np.testing.assert_array_equal(got.asnumpy(), [[0, 1, 2], [2, 2, 2], [7, 8, 9]])
    assert la.array([la.array(1), 2.5]).asnumpy().tolist() == [1, 2.5]
    assert la.array([[x[0], x[1]], [x[2], 5]]).asnumpy().tolist() == [[0, 1], [2, 5]]


def test_asarray_copies_only_where_it_must():
    x = la.ones((2, 3))
    assert la.asarray(x) is x and la.asarray(x, "float64") is x
    assert la.asarray(x, order="F") is not x
    assert la.asarray(x, copy=True) is not x
    assert la.asarray(x, copy=False) is x
    for sequence in (x, [1, 2]):
        with pytest.raises(ValueError, match="copy is True, False or None"):
            la.array(sequence, copy="never")
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        la.asarray(x, "int8", copy=False)
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        la.asarray([1], copy=False)
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        la.array(x, order="F", copy=False)


INF, NAN = np.inf, np.nan


@pytest.mark.parametrize("name", ["asarray", "asarray_chkfinite", "real_if_close"])
@pytest.mark.parametrize("number", [2.0, 3, 2 + 0j])
def test_of_a_scalar_an_array_is_made(name, number, direct):
    scalar = la.array([number])[0]
    made, wanted = getattr(la, name)(scalar), getattr(np, name)(np.array([number])[0]).dtype
    assert type(made) is la.NDArray and made.shape == () and made.dtype == wanted
    made[...] = 5
    assert made.item() == 5 and scalar.item() == number


def test_asarray_chkfinite():
    x = la.ones(2)
    assert la.asarray_chkfinite(x) is x
    assert la.asarray_chkfinite([1, 2], float).dtype == np.float64
    for bad in (NAN, INF, complex(0, NAN)):
        with pytest.raises(ValueError, match="array must not contain infs or NaNs"):
            la.asarray_chkfinite([1, bad])
    with la.no_sync():
        la.asarray_chkfinite(la.arange(3) * 2)  # integers are finite
        with pytest.raises(RuntimeError, match="asarray_chkfinite"):
            la.asarray_chkfinite(la.arange(3.0) * 2)


class Holder:
    """What another library may have: an object whose ``__array__`` gives one of ours."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


def test_objects_that_give_arrays():
    x = la.arange(3.0)
    assert la.asarray(Holder(x)) is x
    copied = la.array(Holder(x))
    copied += 1
    assert copied.tolist() == [1, 2, 3] and x.tolist() == [0, 1, 2]
    assert (x + Holder(x)).tolist() == [0, 2, 4] and la.sum(Holder(x)) == 3
    assert la.array(Holder(x), dtype="int32").dtype == "int32"
    x[:] = Holder(copied)
    assert x.tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="__array__"):
        la.asarray(Holder(3))


@pytest.mark.parametrize("n", [3, 500, 5000, 40_000])
@pytest.mark.parametrize("d", ["?", "f4", "f8"])
def test_lists_of_arrays_of_any_size(n, d):
    base = np.random.default_rng(0).random((n, 3, 4)).astype(d)
    for part in (lambda x: x, lambda x: x[:, 1], lambda x: x.T, lambda x: x[0, ::-1]):
        want = np.array([part(x) for x in base])
        x = la.array(base)
        for found in (la.array([part(row) for row in x]), la.stack([part(row) for row in x])):
            assert found.dtype == want.dtype
            np.testing.assert_array_equal(found.asnumpy(), want)


@pytest.mark.parametrize("order", ["A", "K"])
def test_any_order_copies_nothing(order):
    x = la.arange(24.0).reshape(4, 6)
    for v in (x, x.T, x[:, ::2], x[::-1, :3]):
        assert la.asarray(v, order=order) is v and la.array(v, order=order, copy=None) is v
        assert la.asanyarray(v, order=order).strides == v.strides
        assert la.require(v, requirements="A") is v


@pytest.mark.parametrize("kind", ["lq", "ql", "LQ", "QL"])
def test_c_long_and_long_long_share_memory(kind):
    found = []
    for xp in (np, la):
        x = xp.arange(4, dtype=kind[0])
        as_is, other = x.astype(kind[1], copy=False), xp.asarray(x, dtype=kind[1])
        other[0] = 7
        shared = xp.array(x[::2], kind[1], copy=False)
        shared[1] = 9
        copied = xp.array(x, dtype=kind[1])
        copied[:] = 1
        found.append((as_is is x, other.dtype, x.tolist(), x.astype(kind[1]) is x))
    assert found[0] == found[1]
