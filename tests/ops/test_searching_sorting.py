"""Searching, sorting and statistics against NumPy, over layouts, dtypes, axes and bad arguments."""

import numpy as np
import pytest

import lazyarray as la

from .compare import asynchronous, check, lay, layouts, pending, rng, same

pytestmark = pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
FLOATS = rng.integers(-4, 5, (4, 5, 6)) / 2
NANS = np.where(FLOATS > 1.5, np.nan, FLOATS)
INTS = rng.integers(-4, 5, (4, 5, 6))
BASES = [
    *layouts(FLOATS),
    NANS,
    INTS,
    INTS.astype("u1"),
    INTS > 0,
    FLOATS.astype("f4")[0],
    FLOATS.astype("e")[0],
    FLOATS[0, 0],
    FLOATS + 1j * FLOATS[::-1],
    np.array(2.5),
    np.zeros((0, 3)),
    np.zeros((3, 0)),
]
AXES = [None, 0, 1, -1, 3]


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


# ---- sorting ------------------------------------------------------------------------------------


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


# ---- statistics ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("dtype", [None, "f4", "i2", "c16"])
def test_running(name, dtype):
    for a in BASES:
        for axis in AXES:
            check(name, a, axis, dtype)
    other = {"cumsum": "cumulative_sum", "cumprod": "cumulative_prod"}[name]
    for a in BASES:
        for axis in AXES:
            for initial in (False, True):
                check(other, a, axis=axis, dtype=dtype, include_initial=initial)
    out = la.zeros(3)
    assert la.cumsum(la.ones(3), out=out) is out
    same(out, np.arange(1.0, 4))


@pytest.mark.parametrize(
    "limits",
    [(-1, 1), (0, None), (None, 1.5), (None, None), (-1.5, 2), (INTS, None), (FLOATS, 3),
     (np.float32(-1), 1), (-1, INTS[0]), (-1000, 1000), (300, 400), (1, -1), (0, np.nan),
     (1 + 1j, None), (0, INTS[:, :2])],
)  # fmt: skip
def test_clip(limits):
    for a in BASES:
        check("clip", a, *limits)
        check("clip", a, min=limits[0], max=limits[1])
    x = la.array(INTS)
    x.clip(0, 2, out=x)
    same(x, INTS.clip(0, 2))


@pytest.mark.parametrize("decimals", [0, 1, -1, 3])
def test_round(decimals):
    for a in BASES:
        for b in (a, a * 1.23456 if a.dtype.kind in "fc" else a):
            check("round", b, decimals)
            check("around", b, decimals)
    same(la.array(FLOATS).round(decimals), FLOATS.round(decimals))


@pytest.mark.parametrize("axis", [*AXES, (0, 1), (-1, 0)])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_ptp_median(axis):
    for a in BASES:
        check("ptp", a, axis)
        check("ptp", a, axis, keepdims=True)
        check("median", a, axis)
        check("median", a, axis, keepdims=True)


@pytest.mark.parametrize(
    ("axis", "weights"),
    [(None, None), (0, None), ((0, 1), None), (None, INTS + 9), (1, np.arange(5.0)),
     (-1, np.arange(6)), ((0, 1), FLOATS[..., 0] + 5), (None, np.arange(5)), (0, np.arange(5)),
     (0, np.zeros(4)), (9, None)],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_average(axis, weights):
    for a in (FLOATS, INTS, FLOATS.astype("f4"), FLOATS[0], FLOATS.T):
        check("average", a, axis, weights)
        check("average", a, axis, weights, returned=True)
        check("average", a, axis, weights, keepdims=True)


@pytest.mark.parametrize("n", [0, 1, 2, 9, -1])
def test_diff(n):
    for a in BASES:
        for axis in (-1, 0, 1, 5):
            if n:
                check("diff", a, n, axis)
                check("diff", a, n, axis, prepend=0, append=[[1.0]] if a.ndim == 2 else 7)
            elif a.ndim:
                same(la.diff(lay(a), 0, axis), a)


@pytest.mark.parametrize("args", [(), (1,), (-1, 1, 0), (0, 0, 0), (0, 0, 7), (0, 0, 1, "f4")])
def test_trace(args):
    for a in BASES:
        check("trace", a, *args)
    same(la.array(FLOATS).trace(1), FLOATS.trace(1))


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


def test_trim_zeros_of_all_kinds():
    for a in ([0, 0, 0], [], [0.0, np.nan, 0], [0, 1j, 2, 0], [False, True], [5]):
        for trim in ("fb", "f", "b", "BF"):
            check("trim_zeros", np.array(a), trim)
    m = np.zeros((5, 6, 7))
    m[1:3, 2, 3:5] = [[1, 0], [0, np.nan]]
    for axis in (None, 0, 1, (0, 2), -1):
        check("trim_zeros", m, axis=axis)
        check("trim_zeros", np.zeros((2, 3, 4)), axis=axis)


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
