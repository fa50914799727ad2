"""Sorting and partitioning against NumPy, also in place."""

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import check, layouts, rng, same
from .samples import AXES, BASES, FLOATS, INTS

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning"),
]


@pytest.mark.parametrize("axis", AXES)
def test_sort(axis):
    for a in BASES:
        check("sort", a, axis)
        check("argsort", a, axis)
        for kind in ("stable", "heapsort", "mergesort"):
            check("sort", a, axis, kind)
            check("argsort", a, axis, kind)
        check("argsort", a, axis, stable=True)
        check("sort", a, axis, "bogo")


@pytest.mark.parametrize("axis", AXES[1:])
def test_sort_in_place(axis):
    for a in BASES:
        if not a.flags.writeable:
            continue
        want, x = a.copy("K"), la.array(a)
        try:
            want.sort(axis)
        except Exception as exc:
            with pytest.raises(type(exc)):
                x.sort(axis)
            continue
        var = x.var
        x.sort(axis)
        same(x, want)
        assert x.var == var
    x = la.array(FLOATS)
    x[1:, ::2].sort(0)  # through a view
    want = FLOATS.copy()
    want[1:, ::2].sort(0)
    same(x, want)
    with pytest.raises(ValueError, match="read-only"):
        la.broadcast_to(la.ones(1), (3,)).sort()


@pytest.mark.parametrize("kth", [0, 2, -1, [0, 3], 4, 9, -9, 1.5, [[1]]])
def test_partition(kth):
    for a in BASES:
        for axis in AXES:
            check("partition", a, kth, axis)
            check("argpartition", a, kth, axis)


def test_lexsort():
    keys = [INTS[0, 0], INTS[1, 0], FLOATS[2, 0]]
    check("lexsort", keys)
    check("lexsort", INTS)
    check("lexsort", INTS, 0)
    check("lexsort", [INTS[0], INTS[1]], 0)
    check("lexsort", [INTS[0], INTS[1][:2]])
    check("lexsort", [])
    check("lexsort", keys, 1)


@pytest.mark.host  # a GPU sorts
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("order", "CF")
def test_partition_in_place(axis, order):
    for n in (7, 50, 300):
        a = np.array(rng.permutation(n * 40).reshape(n, 40) / 4, order=order)
        x, every = la.array(a), la.array(np.repeat(a, 2, 0))
        x.partition(3, axis)
        a.partition(3, axis)
        same(x, a)
        view = every[::2]
        view.partition([2, -1], axis)
        want = np.array(every.asnumpy())
        assert np.array_equal(np.partition(want[::2], [2, -1], axis), want[::2])


def test_partition_in_place_of_what_cannot_be():
    x = la.array([3.0, 1.0, 2.0])
    for args, error in (((7,), ValueError), ((1, 4), np.exceptions.AxisError), ((1.5,), TypeError),
                        ((1, -1, "quick"), ValueError)):  # fmt: skip
        with pytest.raises(error):
            x.partition(*args)
        with pytest.raises(error):
            x.asnumpy().partition(*args)
    with pytest.raises(ValueError, match="read-only"):
        la.broadcast_to(x, (2, 3)).partition(1)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        x.partition(1)
    assert x.tolist() == [3, 1, 2]


F = rng.standard_normal((3, 4, 5))
ARRAYS = [
    *layouts(F),
    F.astype("f4"),
    F.astype("e"),
    rng.integers(-9, 9, (3, 4, 5)),
    rng.integers(0, 9, (3, 4, 5)).astype("u1"),
    F > 0,
    F + 1j,
    F[0, 0],
    np.array(2.0),
    np.zeros((0, 3)),
    F[:, :2],
]


def test_sort_complex():
    for a in [*ARRAYS, rng.integers(0, 3, 8).astype("h"), F.astype("g"), (F + 1j).astype("F")]:
        check("sort_complex", a)
