"""Searching against NumPy, over layouts, dtypes, axes; what waits, and what looks ahead."""

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import asynchronous, check, pending, same
from .samples import AXES, BASES, FLOATS, INTS, NANS

pytestmark = pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")


# ---- searching ----------------------------------------------------------------------------------


def test_where():
    for c in (FLOATS > 0, INTS, NANS, True, np.array(False)):
        for x, y in [
            (FLOATS, INTS),
            (1, INTS),
            (FLOATS[0], 2.5),
            (1, 2),
            (INTS[:1], np.float32(1)),
        ]:
            check("where", c, x, y)
    check("where", FLOATS > 0, FLOATS[:3], 1)
    check("where", FLOATS > 0, strides=False)
    check("where", FLOATS > 0, 1)


@pytest.mark.parametrize("dtype", ["?", "i2", "f4", "f8", "D", "g"])
@pytest.mark.parametrize("shape", [(1, 5), (30, 3333), (9, 1), (400, 300), (3000, 7)])
def test_where_rows_are_chosen(shape, dtype):
    x, y = [(np.arange(shape[0] * shape[1]).reshape(shape) * k).astype(dtype) for k in (3, -7)]
    c = np.arange(shape[0]).reshape(-1, 1) % 3 == 0
    a, b, mask = la.array(x), la.array(y), la.array(c)
    for p, q, ours, others in ((x, y, a, b), (x, y[0], a, b[0]), (x[:, :1], y, a[:, :1], b)):
        same(la.where(mask, ours, others), np.where(c, p, q))
        same(la.where(mask, ours[:, ::-1], others), np.where(c, p[:, ::-1], q))
    same(la.where(mask, a, 1), np.where(c, x, 1))
    for source in (y, y[0]):
        np.copyto(x, source, where=c)
        la.copyto(a, la.array(source), where=mask)
        same(a, x)


@pytest.mark.parametrize("name", ["nonzero", "argwhere", "flatnonzero"])
def test_nonzero(name):
    for a in BASES:
        check(name, a, strides=False)


@pytest.mark.parametrize("axis", [*AXES, (0, 1), (0, 0)])
def test_count_nonzero(axis):
    for a in BASES:
        check("count_nonzero", a, axis)
        check("count_nonzero", a, axis, keepdims=True)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
@pytest.mark.parametrize("axis", AXES)
def test_argmax_argmin(name, axis):
    for a in BASES:
        check(name, a, axis)
        check(name, a, axis, keepdims=True)
    out = la.zeros((4, 6), dtype="i8")
    if axis == 1:
        assert getattr(la, name)(la.array(FLOATS), axis, out) is out
        same(out, getattr(np, name)(FLOATS, axis))
        assert getattr(la.array(FLOATS), name)(1).dtype == np.intp


@pytest.mark.parametrize("side", ["left", "right", "middle"])
def test_searchsorted(side):
    a = np.sort(FLOATS.ravel())
    for v in (FLOATS, INTS, 1, 0.5, [1, 2], np.array(1.0), np.nan):
        check("searchsorted", a, v, side)
        check("searchsorted", a.astype("i4"), v, side)
    check("searchsorted", FLOATS[0, 0], INTS, side, np.argsort(FLOATS[0, 0]))
    check("searchsorted", FLOATS, 1, side)


# ---- asynchrony ---------------------------------------------------------------------------------


@asynchronous
def test_nothing_here_waits_but_nonzero():
    x = la.array(FLOATS)
    with pending(x), la.no_sync():
        results = [
            la.sort(x), la.argsort(x, 0, "stable"), la.argmax(x, 1), la.cumsum(x), la.clip(x, 0, 1),
            la.median(x), la.where(x > 0, x, 0), la.count_nonzero(x), la.average(x, 0),
        ]  # fmt: skip
        with pytest.raises(RuntimeError, match="no_sync"):
            la.nonzero(x)
    wanted = [
        np.sort(FLOATS), np.argsort(FLOATS, 0, "stable"), np.argmax(FLOATS, 1), np.cumsum(FLOATS),
        np.clip(FLOATS, 0, 1), np.median(FLOATS), np.where(FLOATS > 0, FLOATS, 0),
        np.count_nonzero(FLOATS), np.average(FLOATS, 0),
    ]  # fmt: skip
    same(results, wanted)


@pytest.mark.parametrize("n", [16383, 16384, 16385, 100_000])
@pytest.mark.parametrize("name", ["any", "all"])
def test_what_decides_comes_early_or_late(name, n):
    """Around what is looked at before the rest is (reduction.pxi)."""
    decides = name == "any"
    for place in (None, 0, 1, 5000, 16383, 16384, 16385, n - 1):
        a = np.full(n, not decides)
        if place is not None:
            a[place % n] = decides
        for base in (a, np.repeat(a, 2)[::2], a[3:], a.reshape(1, -1), a.view("u1") * 3):
            check(name, base)
            check(name, base, axis=-1, keepdims=True)
        x = la.array(a)
        with pending(x):
            late = getattr(x, name)()
            x[...] = not decides
        assert bool(late) is bool(getattr(a, name)())
        out = la.zeros((), bool)
        getattr(la, name)(la.array(a), out=out)
        assert bool(out) is bool(getattr(a, name)())
    odd = np.zeros(n, "u1")
    odd[9] = 2
    same(getattr(la.array(odd).view(bool), name)(), getattr(odd.view(bool), name)())


def test_any_in_a_captured_program_looks_at_all():
    f = la.compile(lambda x: x.any())
    x = la.zeros(50_000, bool)
    x[3] = True
    assert bool(f(x))
    y = la.zeros(50_000, bool)
    assert not bool(f(y))
    y[40_000] = True
    assert bool(f(y))


def test_a_sorter_of_floats():
    for xp in (np, la):
        with pytest.raises(TypeError, match="sorter must only contain integers"):
            xp.searchsorted(xp.arange(3), 1, sorter=[1.1])


class One:
    def __index__(self):
        return 1


@pytest.mark.parametrize("name", ["argmax", "argmin", "nanargmax", "nanargmin"])
def test_an_axis_may_be_any_index(name, direct):
    a = np.arange(6.0).reshape(2, 3)
    same(getattr(la, name)(la.array(a), axis=One()), getattr(np, name)(a, axis=1))
    same(la.unwrap(la.array(a), axis=One()), np.unwrap(a, axis=1))


@pytest.mark.parametrize("dtype", "?bBhHiIlLqQefdgFD")
def test_count_nonzero_of_many(dtype, direct):
    """Around the vectors and the counters of places.h, with every element set and with some."""
    for n in (0, 1, 7, 63, 64, 65, 255, 16319, 16320, 16321, 40_000):
        some = (np.arange(n) % 3).astype(dtype)
        for a in (some, np.ones(n, dtype), np.ones(n + 1, dtype)[1:], some[::-1]):
            assert la.count_nonzero(la.array(a)) == np.count_nonzero(a), n
    if np.dtype(dtype).kind in "fc":
        odd = np.array([-0.0, np.nan, 0.0, np.inf, 5e-324] * 30).astype(dtype)
        assert la.count_nonzero(la.array(odd)) == np.count_nonzero(odd)


@pytest.mark.parametrize("dtype", "?bBhHiIlLqQefdgFD")
@pytest.mark.parametrize("share", [0, 0.01, 1 / 32, 0.5, 1])
def test_places_of_many(dtype, share):
    """Around the words of masks.h, rows of no elements in between, and what goes to NumPy."""
    some = np.random.default_rng(2)
    for shape in (
        (8,),
        (39,),
        (40,),
        (41,),
        (70_000,),
        (3, 1),
        (300, 200),
        (40, 1, 50),
        (7, 3, 2, 9),
        (0, 3),
    ):
        a = (some.standard_normal(shape) * 60).astype(dtype)
        a[some.random(shape) >= share] = 0
        for x in (a, a.T, a[::-1]):
            for later in (False, True):
                ours = la.array(x) if not later else la.array(x) + la.zeros((), dtype)
                for name in ("nonzero", "argwhere", "flatnonzero", "where"):
                    same(getattr(la, name)(ours), getattr(np, name)(x), strides=False)
                same(ours.nonzero(), x.nonzero(), strides=False)
