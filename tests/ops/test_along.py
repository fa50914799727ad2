"""argmax, sort, argsort and running sums run NumPy's own loops, off the GIL, with NumPy's bits."""

import numpy as np
import pytest

import lazyarray as la
from lazyarray.lazy._lazy import gil_ops

from .compare import on_gpu, rng

# Running sums go line by line where fewer than eight lie side by side, four lines at a time.
SHAPES = [(1,), (7,), (1000,), (5, 9), (3, 4, 70), (2, 100, 33), (9, 3), (13, 7, 2), (6, 1)]


def sample(dtype, shape):
    a = (rng.standard_normal(shape) * 30).astype(dtype)
    if a.dtype.kind == "c":
        a = (a + 1j * rng.standard_normal(shape)).astype(dtype)
    if a.dtype.kind in "fc" and a.size > 5:
        a.flat[:4] = 1, 0.0, -0.0, np.nan
    return a


def equal(got, want):
    assert (got.dtype, got.shape, got.strides) == (want.dtype, want.shape, want.strides)
    host = got.asnumpy()
    np.testing.assert_array_equal(host, want)
    if want.dtype.kind == "f":
        exact = host == want  # a GPU adds up in another order
        np.testing.assert_array_equal(np.signbit(host)[exact], np.signbit(want)[exact])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", "?bBhHiIlLqQefdgFDG")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_along_each_axis(dtype, shape):
    a = sample(dtype, shape)
    x = la.array(a)
    before = gil_ops()
    results = []
    for axis in (*range(a.ndim), -1, None):
        for name in ("argmax", "argmin", "cumsum", "cumprod"):
            if on_gpu() and name == "cumprod" and a.dtype.kind in "fc":
                continue  # in another order other partial products overflow
            results.append((getattr(la, name)(x, axis), getattr(np, name)(a, axis)))
    for kind in (None, "stable"):
        theirs = "stable" if on_gpu() else kind
        results.append((la.sort(x, kind=kind), np.sort(a, kind=theirs)))
        results.append((la.argsort(x, kind=kind), np.argsort(a, kind=theirs)))
    native = gil_ops() == before
    for got, want in results:
        equal(got, want)
    assert native or dtype == "?"  # bool has no multiply of its own dtype: NumPy's cumprod casts
    equal(la.argmax(x, 0, keepdims=True), np.argmax(a, 0, keepdims=True))


VIEWS = {
    "first columns": lambda a: a[:, :6],
    "some rows": lambda a: a[1::3, 2:8],
    "of three axes": lambda a: a.reshape(4, 10, 9)[..., 1:7],
    "rows of three axes": lambda a: a.reshape(4, 10, 9)[:, 2:5],
    "windows": lambda a: np.lib.stride_tricks.as_strided(a, (30, 7), 2 * a.strides[1:]),
    "backwards": lambda a: a[::-1, :6],
    "turned": lambda a: a.T[:6],
    "one column": lambda a: a[:, 4:5],
    "one row": lambda a: a[4:5, :6],
    "repeated": lambda a: np.broadcast_to(a[0], (5, 9)),
    "each row repeated": lambda a: np.broadcast_to(a[:, None, :6], (40, 5, 6)),
    "blocks repeated": lambda a: np.broadcast_to(a.reshape(4, 1, 10, 9), (4, 3, 10, 9)),
}


@pytest.mark.parametrize("dtype", "bqfdD")
@pytest.mark.parametrize("name", VIEWS)
def test_along_views(dtype, name):
    a = sample(dtype, (40, 9))
    x = la.array(a)
    view = VIEWS[name](a)
    if name == "windows":
        mine = la.lib.stride_tricks.as_strided(x, view.shape, view.strides)
    elif "repeated" in name:
        few = {"repeated": x[0], "each row repeated": x[:, None, :6]}
        mine = la.broadcast_to(few.get(name, x.reshape(4, 1, 10, 9)), view.shape)
    else:
        mine = VIEWS[name](x)
    before = gil_ops()
    for call in ("argmax", "argmin", "sort", "argsort"):
        for axis in range(view.ndim):
            theirs = {"kind": "stable"} if on_gpu() and "sort" in call else {}
            equal(getattr(la, call)(mine, axis), getattr(np, call)(view, axis, **theirs))
    if name in ("first columns", "some rows", "of three axes", "windows") and not on_gpu():
        la.sort(mine)
        assert gil_ops() - before < 2 * view.ndim  # along the last axis none


def test_waits_for_pending_input_and_hands_errors_on():
    x = la.arange(1_000_000.0)
    y = la.sort(-x)
    assert (
        la.argmin(y).item() == 0 and la.cumsum(y)[-1].item() == np.cumsum(-np.arange(1e6)[::-1])[-1]
    )
    broken = x[la.array([5_000_000])]
    for f in (la.sort, la.argsort, la.cumsum, la.argmax):
        with pytest.raises(IndexError):
            f(broken).asnumpy()


@pytest.mark.host
def test_overflow_is_the_accumulations_own():
    with np.errstate(over="raise"):
        y = la.cumprod(la.full(400, 10.0))
    with pytest.raises(FloatingPointError):
        y.asnumpy()


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "u8", "i4", "?", "D"])
@pytest.mark.parametrize("n", [0, 1, 2, 5, 1000, 60_000, 200_000])
def test_running_sums_at_the_call_and_as_ops(dtype, n, direct):
    a = sample(dtype, (n,))
    x = la.array(a)
    with np.errstate(all="ignore"):
        for f in (
            lambda xp, v: xp.cumsum(v),
            lambda xp, v: xp.cumsum(v, axis=0),
            lambda xp, v: v.cumsum(-1),
            lambda xp, v: xp.cumprod(v),
            lambda xp, v: v.cumprod(axis=None),
            lambda xp, v: xp.add.accumulate(v),
            lambda xp, v: xp.multiply.accumulate(v),
            lambda xp, v: xp.subtract.accumulate(v[v == v]) if dtype != "?" else v,
            lambda xp, v: xp.cumsum(v[::2]),
            lambda xp, v: xp.cumsum(v, dtype="f8" if dtype != "D" else "D"),
        ):
            got, want = f(la, x), f(np, a)
            np.testing.assert_array_equal(got.asnumpy(), want)
            assert got.dtype == want.dtype and got.shape == want.shape


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_an_overflow_of_a_running_sum_is_told(name, direct):
    x = la.array([1e308, 1e308, 1.0, -np.inf])
    with np.errstate(over="raise", invalid="raise"), pytest.raises(FloatingPointError):
        getattr(la, name)(x).wait_to_read()
    ufunc = {"cumsum": la.add, "cumprod": la.multiply}[name]
    for running in (getattr(la, name), ufunc.accumulate):
        with pytest.warns(RuntimeWarning, match="overflow encountered in accumulate"):
            running(x[:2]).wait_to_read()


@pytest.mark.parametrize("name", ["maximum", "minimum"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u8", "i4", "f2", "?"])
def test_running_extremes(name, dtype, direct):
    rng = np.random.default_rng(4)
    for n in (1, 2, 5, 200, 8000):
        x = (rng.normal(size=n) * 100).astype(dtype)
        for several in (False, True) if dtype[0] == "f" else (False,):
            x[rng.integers(0, n, n // 3)] = 0.0  # of two zeros the last one counts
            x[rng.integers(0, n, n // 3)] = -0.0
            if several:
                x[rng.integers(0, n, 2)] = np.nan
            cut = x[: n // 40 * 40]
            for a in (x, x[::2], x[::-1], cut.reshape(4, -1), cut.reshape(-1, 4).T,
                      cut.reshape(-1, 40), cut.reshape(2, -1, 20)):  # fmt: skip
                for axis in range(a.ndim):
                    want = getattr(np, name).accumulate(a, axis=axis)
                    got = getattr(la, name).accumulate(la.array(a), axis=axis).asnumpy()
                    assert got.dtype == want.dtype and got.tobytes() == want.tobytes()
