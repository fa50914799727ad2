"""Functions that leave NaNs out against NumPy: bits, dtypes, masks, errors."""

import warnings

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import asynchronous, check, layouts, on_gpu, pending, rng, same

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
NANS = rng.standard_normal((3, 4, 5))
NANS[NANS > 1] = np.nan
NANS[:, 1, 2] = np.nan
SIGNS = np.array([[0.0, -0.0, np.nan, -0.0], [np.inf, -np.inf, np.nan, 1]])
ARRAYS = [
    *layouts(NANS),
    SIGNS,
    NANS.astype("f4"),
    NANS.astype("e"),
    NANS.astype("g"),
    NANS + 1j * NANS[::-1],
    (NANS + 2j).astype("F"),
    rng.integers(-5, 5, (3, 4, 5)),
    rng.integers(0, 5, (3, 4, 5)).astype("u1"),
    NANS > 0,
    np.array(np.nan),
    np.array(2.0),
    np.array([np.nan, np.nan]),
    np.zeros((0, 3)),
    np.zeros((3, 0)),
    rng.standard_normal((40, 300)),
    np.where(rng.random(9001) > 0.9, np.nan, rng.standard_normal(9001)),
]
AXES = [None, 0, -1, (0, 1), (0, 0), 5]
SUMS = ["nansum", "nanprod", "nanmean", "nanvar", "nanstd"]
EXTREMA = ["nanmax", "nanmin"]


@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("name", [*SUMS, *EXTREMA, "nanmedian"])
def test_reductions(name, axis):
    for a in ARRAYS:
        if name == "nanmedian" and a.dtype.kind == "c":
            continue  # np.ma.median's order of complex numbers is not defined
        check(name, a, axis)
        check(name, a, axis, keepdims=True)


@pytest.mark.parametrize("name", SUMS)
def test_dtype_where_out(name):
    for a in (NANS, NANS.astype("f4"), NANS + 1j, rng.integers(-5, 5, (3, 4, 5))):
        for dtype in ("f4", "f8", "c16", "i8"):
            # A last bit decides what is truncated.
            if a.dtype.kind != "c" and not (on_gpu() and dtype == "i8"):
                check(name, a, 1, dtype)
        for where in (NANS > 0, np.array([True, False, True, True, False]), True, False):
            check(name, a, axis=(0, 2), where=where)
            check(name, a, 1, where=where, keepdims=True)
        if name in ("nansum", "nanprod"):
            check(name, a, 0, initial=3, where=NANS > 0)
    for dtype in ("f8", "f4", "i8"):
        ours, theirs = la.zeros((3, 5), dtype=dtype), np.zeros((3, 5), dtype)
        try:
            getattr(np, name)(NANS, 1, out=theirs)
        except TypeError:
            with pytest.raises(TypeError):
                getattr(la, name)(la.array(NANS), 1, out=ours)
            continue
        assert getattr(la, name)(la.array(NANS), 1, out=ours) is ours
        same(ours, theirs)


@pytest.mark.parametrize("name", EXTREMA)
def test_extrema(name):
    for a in (NANS, SIGNS, NANS.astype("f4"), rng.integers(-5, 5, (3, 4))):
        check(name, a, initial=0.5)
        check(name, a, 0, initial=0, where=a > 0)
        check(name, a, where=a > 0)  # nothing to begin with
    out = la.zeros((3, 5))
    assert getattr(la, name)(la.array(NANS), 1, out) is out
    same(out, getattr(np, name)(NANS, 1))


@pytest.mark.parametrize("name", ["nanvar", "nanstd"])
def test_degrees_of_freedom(name):
    for a in (NANS, NANS.astype("f4"), NANS + 1j):
        for ddof in (1, 2.5, 40):
            check(name, a, 1, ddof=ddof)
            check(name, a, 1, correction=ddof)
        check(name, a, ddof=1, correction=1)
        check(name, a, 1, mean=np.nanmean(a, 1, keepdims=True))
        check(name, a, (0, 2), mean=np.nanmean(a, (0, 2), keepdims=True), keepdims=True)


@pytest.mark.parametrize("axis", [None, 0, -1, 5, (0, 1)], ids=str)
@pytest.mark.parametrize("name", ["nanargmax", "nanargmin"])
def test_indices(name, axis):
    full = np.nan_to_num(NANS)
    for a in [*ARRAYS, full, full.T, np.where(full > 0.5, np.nan, full)]:
        if isinstance(axis, tuple) and a.ndim < 2:
            continue
        check(name, a, axis)
        check(name, a, axis, keepdims=True)


@pytest.mark.parametrize("name", ["nancumsum", "nancumprod"])
def test_running(name):
    for a in ARRAYS:
        for axis in (None, 0, -1, 5):
            check(name, a, axis)
            check(name, a, axis, "c16")
    out = la.zeros((3, 4, 5))
    assert getattr(la, name)(la.array(NANS), 1, out=out) is out


@pytest.mark.parametrize(
    "options",
    [{}, {"nan": 3}, {"posinf": 7, "neginf": -7}, {"nan": np.inf, "posinf": 1},
     {"nan": np.arange(4.0), "neginf": np.float64(2)}, {"nan": 10**400},
     {"nan": [7, 8, 9, 1], "posinf": (1.5, 2, 3, 4), "neginf": [5]}],
)  # fmt: skip
def test_nan_to_num(options):
    for a in [*(ARRAYS if options.get("neginf", -7) == -7 else []), SIGNS,
              SIGNS.astype("f4"), SIGNS * (1 + 2j), SIGNS.T[:, :1]]:  # fmt: skip
        check("nan_to_num", a, **options)
    x = la.array(SIGNS)
    view = x[:, 1:]
    assert la.nan_to_num(view, copy=False) is view
    want = SIGNS.copy()
    np.nan_to_num(want[:, 1:], copy=False)
    same(x, want)
    ints = la.array([1, 2])
    assert la.nan_to_num(ints) is not ints and la.nan_to_num(ints, copy=False) is ints


@asynchronous
def test_nothing_waits():
    x = la.array(NANS)
    names = [*SUMS, *EXTREMA, "nanmedian", "nancumsum", "nancumprod", "nan_to_num"]
    with pending(x), la.no_sync():
        results = [getattr(la, name)(x) for name in names]
        wrong = la.nanargmax(x, 0)
    same(results, [getattr(np, name)(NANS) for name in names])
    with pytest.raises(ValueError, match="All-NaN"):
        wrong.asnumpy()


def test_moments_are_native():
    from lazyarray.lazy._lazy import gil_ops

    x = la.array(NANS)
    before = gil_ops()
    results = [getattr(la, name)(x, 0) for name in (*SUMS, *EXTREMA)] + [la.nan_to_num(x)]
    assert gil_ops() == before
    assert [r.shape for r in results] == [(4, 5)] * 7 + [(3, 4, 5)]


WARNED = {
    "nanmean": "Mean of empty slice",
    "nanvar": "Degrees of freedom <= 0 for slice.",
    "nanstd": "Degrees of freedom <= 0 for slice.",
    "nanmax": "All-NaN slice encountered",
    "nanmin": "All-NaN slice encountered",
}


def told(function, *args, **options):
    """The result, and (text, whether of this file) of each warning."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = np.asarray(function(*args, **options))
    return result, [(str(w.message), w.filename == __file__) for w in found]


@pytest.mark.parametrize("name", WARNED)
@pytest.mark.parametrize("n", [1, 3, 700, 100_000])
@pytest.mark.host  # a GPU's kernels give no warnings
def test_slices_of_nans_are_told_of(name, n):
    a = np.ones((2, n))
    a[0] = np.nan
    for options in ({"axis": 1}, {"axis": 1, "keepdims": True}, {"axis": 0}, {}):
        result, texts = told(getattr(la, name), la.array(a), **options)
        want, numpys = told(getattr(np, name), a, **options)
        assert np.array_equal(result, want, equal_nan=True)
        assert [text for text, _ in texts] == [text for text, _ in numpys]
        assert all(here for _, here in texts)
    out = la.zeros(2)
    _, texts = told(getattr(la, name), la.array(a), 1, out=out)
    assert texts == [(WARNED[name], True)]
    with np.errstate(all="ignore"):  # it is no floating-point error
        assert told(getattr(la, name), la.array(a), axis=1)[1] == [(WARNED[name], True)]
    x = la.array(a)
    assert told(lambda: getattr(la, name)(x * 2 + 1, axis=1).asnumpy())[1] == [(WARNED[name], True)]


@pytest.mark.parametrize("name", WARNED)
@pytest.mark.host  # a GPU's kernels give no warnings
def test_a_filter_makes_an_error_of_it(name):
    x = la.array([[1.0, 2.0], [np.nan, np.nan]])
    with warnings.catch_warnings(), pytest.raises(RuntimeWarning, match=WARNED[name][:8]):
        warnings.simplefilter("error")
        getattr(la, name)(x + 1, axis=1).wait_to_read()


def test_gradients_with_warnings():
    x = la.array([[1.0, np.nan], [np.nan, np.nan]])
    x.attach_grad()
    with la.autograd.record():
        y = la.nanmean(x, axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        y.backward()
        assert x.grad.asnumpy()[0].tolist() == [1.0, 0.0]
