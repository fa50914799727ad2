"""One long line, of which threads sort parts: NumPy's bits, whatever is equal in it."""

import numpy as np
import pytest

import lazyarray as la

from .fusing import figures, same

NUMBERS = "bBhHiIlLqQfd"
SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 100, 1000, 1003, 4099, 20011]


@pytest.fixture(params=[1, 2, 3, 8, 64], autouse=True)
def cores(request):
    engine = la.engine.get()
    before = engine.cores
    engine.cores = request.param
    with figures(split_ns=0, task_ns=0, inline_ns=0):
        yield request.param
    engine.cores = before


def lines(n, dtype):
    """Lines of ``n`` elements: without equals, with a few, all equal, in order, backwards."""
    rng = np.random.default_rng(n)
    kind = np.dtype(dtype).kind
    yield rng.permutation(n).astype(dtype)
    yield rng.integers(0, 5, n).astype(dtype)
    yield np.full(n, 3, dtype)
    yield np.arange(n).astype(dtype)
    yield np.arange(n)[::-1].astype(dtype)
    if kind == "i":
        yield rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, n, dtype)
    if kind == "f":
        x = rng.standard_normal(n).astype(dtype)
        yield x.copy()
        x[rng.random(n) < 0.1] = np.nan
        yield x.copy()
        x[rng.random(n) < 0.1] = 0.0
        yield x.copy()
        x[rng.random(n) < 0.1] = -0.0
        yield x.copy()
        x[rng.random(n) < 0.1] = np.inf
        x[rng.random(n) < 0.1] = -np.inf
        x[: n // 2] = np.copysign(np.nan, -1)
        yield x
        yield np.where(rng.random(n) < 0.5, 0.0, -0.0).astype(dtype)


def exactly(got, want):
    """The same bits, those of NaNs too."""
    got = got.asnumpy()
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    assert got.tobytes() == want.tobytes()


@pytest.mark.parametrize("dtype", NUMBERS)
def test_lines(dtype):
    for n in SIZES:
        for x in lines(n, dtype):
            a = la.array(x)
            for kind in (None, "stable"):
                exactly(la.sort(a, kind=kind), np.sort(x, kind=kind))
                exactly(la.argsort(a, kind=kind), np.argsort(x, kind=kind))
                here, there = la.array(x), x.copy()
                here.sort(kind=kind)
                there.sort(kind=kind)
                exactly(here, there)


def test_in_place_between_other_ops():
    x = np.random.default_rng(1).standard_normal((6, 500))
    for view in (
        lambda v: v,
        lambda v: v[2],
        lambda v: v[1:4],
        lambda v: v[:, 10:400],
        lambda v: v.reshape(-1),
        lambda v: v[::-1],
        lambda v: v[3, ::2],
    ):
        for axis in (0, -1):
            a, b = la.array(x), x.copy()
            for m, y in ((la, a), (np, b)):
                y *= 2
                before = m.exp(y)
                view(y).sort(axis)
                after = y + before
                y -= 1
                view(y).sort(axis, kind="stable")
                if m is np:
                    want = before, after, y
                else:
                    got = before, after, y
            same(got, want)
    with pytest.raises(ValueError, match="read-only"):
        la.broadcast_to(a, a.shape).sort()
    bad = la.take(la.arange(3.0), la.array([0, 7, 1]))
    bad.sort()
    with pytest.raises(IndexError):
        bad.asnumpy()


@pytest.mark.parametrize("dtype", "?eFDg")
def test_dtypes_that_are_sorted_whole(dtype):
    x = (np.random.default_rng(0).integers(-5, 5, 999) + 0.5).astype(dtype)
    for kind in (None, "stable"):
        same(la.sort(la.array(x), kind=kind), np.sort(x, kind=kind))
        same(la.argsort(la.array(x), kind=kind), np.argsort(x, kind=kind))


def test_what_is_sorted_stays():
    x = np.random.default_rng(0).standard_normal(5000)
    a = la.array(x)
    y = la.sort(a)
    a += 1
    same(y, np.sort(x))
    same(la.sort(a[::-1]), np.sort(x + 1))
    same(la.sort(a.reshape(1, -1)), np.sort((x + 1).reshape(1, -1)))
    a.sort()
    same(a, np.sort(x + 1))
    same(la.sort(a.reshape(50, 100), axis=None), np.sort(x + 1))


def test_equals_among_few_looks():
    # 8192 elements are looked at before an argsort in parts; the equals are elsewhere.
    n = 100_000
    x = np.random.default_rng(0).permutation(n).astype(float)
    step = n // 8192
    x[[step + 1, 2 * step + 1, 3 * step + 2]] = 7.5
    exactly(la.argsort(la.array(x)), np.argsort(x))
    exactly(la.sort(la.array(x)), np.sort(x))
