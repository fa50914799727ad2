"""Functions that select by index, mask or condition against NumPy."""

import numpy as np
import pytest

import lazyarray as la
from lazyarray.functions import selecting, storing

from ..ops.compare import check, rng, same

X = np.arange(120.0).reshape(4, 5, 6)
I, J = np.array([2, 0, -1]), np.array([[1], [0]])
M = X > 50
BASES = [
    X,
    X.transpose(2, 0, 1).copy().transpose(1, 2, 0),
    np.asfortranarray(X),
    np.repeat(X, 2, 1)[:, ::-2],
]


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip"])
@pytest.mark.parametrize("axis", [None, 0, 1, -1, 3])
def test_take(axis, mode):
    for a in BASES:
        for i in (
            I,
            J,
            np.array(2),
            [0, 1],
            1,
            np.array([True, False]),
            np.array([9]),
            np.array([1.5]),
            [],
            range(0),
            range(2),
        ):
            check("take", a, i, axis, mode=mode)
    check("take", np.zeros((0, 3)), [0], 0)
    check("take", X, I, 0, mode="other")


def test_indices_that_wrap_around_nothing(direct):
    """NumPy 2.4's own never ends for these."""
    nothing = la.zeros((2, 0, 0))
    assert la.take(nothing, [0, 3], 1, mode="wrap").shape == (2, 2, 0)
    assert nothing.take([0, 3], 1, mode="wrap").shape == (2, 2, 0)
    assert np.take(nothing, [0, 3], 1, mode="wrap").shape == (2, 2, 0)
    assert la.take([[], []], la.array([0, 3]), 0, mode="wrap").shape == (2, 0)
    with pytest.raises(IndexError, match="non-empty take from an empty axes"):
        la.take([[], []], la.array([0, 3]), 1, mode="wrap").wait_to_read()


def test_indices_that_wrap_from_afar(direct):
    """NumPy 2.4's own takes years for these."""
    x, far = la.arange(3), [2**62, -(2**62), -1, 3]
    near = [i % 3 for i in far]
    for indices in (far, la.array(far)):
        assert la.take(x, indices, mode="wrap").tolist() == near
        assert x.take(indices, mode="wrap").tolist() == near
        assert la.choose(indices, [7, 8, 9], mode="wrap").tolist() == [7 + i for i in near]
        stored = la.zeros(3)
        la.put(stored, indices, [1, 2, 3, 4], mode="wrap")
        assert stored.tolist() == [4, 1, 3]
    small = np.array([-100, 100], "i1")
    assert la.take(la.arange(1000), small, mode="wrap").tolist() == [900, 100]


def test_take_out():
    out = la.zeros((3, 5, 6))
    assert la.take(la.array(X), I, 0, out) is out
    same(out, X[I])
    with pytest.raises(ValueError, match="wrong shape"):
        la.take(la.array(X), I, 0, la.zeros(3))


@pytest.mark.parametrize("axis", [0, 1, -1, None, 4])
def test_along_axis(axis):
    for a in BASES:
        i = rng.integers(0, 3, (4, 5, 6))
        for index in (i, i[:1], i[:, :2], i[..., :1], i[0], i.ravel(), i + 9, i * 1.5, i[:3, :2]):
            check("take_along_axis", a, index, axis)
    x, a = la.array(X), X.copy()
    i = X.argmax(1, keepdims=True)
    la.put_along_axis(x, la.array(i), -1, 1)
    np.put_along_axis(a, i, -1, 1)
    same(x, a)
    for bad, error in [(i * 1.5, IndexError), (i[0], ValueError)]:
        with pytest.raises(error):
            la.put_along_axis(x, bad, 0, 1)


def test_compress_extract_choose():
    for a in BASES:
        for axis in (None, 0, -1):
            check("compress", [True, False, True], a, axis)
            check("compress", np.array([0, 1, 1]), a, axis)
        check("compress", [[True]], a)
        check("extract", M, a)
    check("choose", np.array([0, 1, 1]), [np.arange(3), np.arange(3.0) + 10])
    check("choose", np.array([0, 3, -1]), [np.arange(3), np.array(7)], mode="wrap")
    check("choose", np.array([0, 3, 1]), [np.arange(3), np.array(7)])


V = np.arange(6.0)


N = np.arange(6).reshape(2, 3)
CHOICES = [
    ([V < 2, V > 4], [V, V * 10], 0),
    ([V < 2, V > 0], [V, 2.5], -1),
    ([V < 2], [V.astype("f4")], 2.5),
    ([V < 2], [V.astype("f4")], np.float64(2)),
    ([N > 2, N[0] > 1], [N, N * 1.0], 9),
    ([N > 2], [1j], N),
    ([True, False], [3, N], 1.5),
    ([N > 2], [7], np.uint8(1)),
    ([N > 2], [N.astype("u1")], 300),
    ([N], [N], 0),
    ([], [], 0),
    ([N > 2], [], 0),
    ([V < 2], [N], 0),
]


@pytest.mark.parametrize("number", range(len(CHOICES)))
def test_select(number):
    conditions, choices, default = CHOICES[number]
    check("select", conditions, choices, default)


def test_select_is_recorded():
    x = la.array(V) * 1
    with la.no_sync():
        got = la.select([x < 2, x > 3], [x, x * 2])
    assert got.tolist() == [0, 1, 0, 0, 8, 10]


def test_take_looks_at_no_index_where_nothing_leads_to_it():
    check("take", np.zeros((0, 3)), [0, 7], 1)
    check("take", np.zeros((2, 0, 3)), [0, 7], 2)
    check("take", np.zeros((0, 3)), [0, 7], 0)  # refused


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("shape", [(70, 90), (300, 250), (20, 30, 40)])
def test_elements_along_an_axis_are_moved_natively(shape, order, monkeypatch):
    monkeypatch.setattr(selecting, "gil_op", None)
    monkeypatch.setattr(storing, "gil_write", None)
    x = np.asarray(rng.random(shape), order=order)
    y = la.array(x)
    for axis in range(len(shape)):
        n, few = shape[axis], [*shape]
        few[axis] = 3
        for index in (rng.integers(-n, n, shape), rng.integers(0, n, few)):
            for i in (index, index.astype("i4"), index[:1] if axis else index[:, :1]):
                ours = la.array(i)
                same(la.take_along_axis(y, ours, axis), np.take_along_axis(x, i, axis))
                for v in (7.0, rng.random(i.shape), rng.random(i.shape[1:])):
                    np.put_along_axis(x, i, v, axis)
                    la.put_along_axis(y, ours, v if isinstance(v, float) else la.array(v), axis)
                    same(y, x)
    with pytest.raises(IndexError, match="index 999 is out of bounds for axis 0 with size"):
        la.take_along_axis(y, la.zeros(shape, int) + 999, 0).asnumpy()
