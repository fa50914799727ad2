"""Casts equal NumPy's astype, for every pair of dtypes and layout."""

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import there

DTYPES = "?bBhHiIlLqQefdgFDG"
rng = np.random.default_rng(0)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("target", DTYPES)
def test_cast(source, target):
    base = rng.integers(0, 100, (6, 10)) + (rng.random((6, 10)) if source in "efdgFDG" else 0)
    a = base.astype(source)
    for view in (lambda v: v, lambda v: v[::2, ::-1], lambda v: v.T, lambda v: v[0, 0]):
        want = view(a).astype(target)
        got = view(la.array(a)).astype(target)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got.asnumpy(), want)


@pytest.mark.parametrize("place", [0, 511, 512, 1023, 1024, 1499])
@pytest.mark.parametrize("source, target", [("f4", "i4"), ("f8", "i8"), ("f8", "i4")])
@pytest.mark.host  # a GPU's kernels raise no flags
def test_one_value_among_many_that_does_not_fit(source, target, place):
    """The range is checked block by block."""
    x = np.arange(1500).astype(source)
    x[place] = np.nan
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(la.array(x).astype(target).asnumpy(), x.astype(target))
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError):
        la.array(x).astype(target).wait_to_read()


ODD = [np.nan, np.inf, -np.inf, -0.5, -0.99, -1.5, -129.5, 255.9, 300, -32769.5, 65536, 70000]
ODD += [sign * (2.0**k + more) for k in (31, 32, 40, 62, 63, 64, 90) for sign in (1, -1)
        for more in (0, 5)]  # fmt: skip


@pytest.mark.host  # a GPU has its own
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("source", "efdFDg")
@pytest.mark.parametrize("target", "bBhHilqLQI")
def test_what_does_not_fit(source, target):
    """NumPy's bytes and its flag, from arrays in rows and in steps, complete and pending."""

    def told(x):
        with np.errstate(all="raise"):
            try:
                np.asarray(x.astype(target))
            except FloatingPointError as error:
                return str(error)
        return ""

    x = np.array(ODD).astype(source)
    if target == "I":  # below and above, NumPy's own loops differ
        x = x[(x.real > -(2**31)) & (x.real < 2**32)]
    for times in (1, 3, 40, 500):
        many = np.tile(x, times)
        for view in (lambda v: v, lambda v: v[::2], lambda v: v[::-1], lambda v: v[1]):
            want, ours = view(many).astype(target), view(la.array(many))
            np.testing.assert_array_equal(ours.astype(target).asnumpy(), want)
            pending = view(la.positive(la.array(many)))
            np.testing.assert_array_equal(pending.astype(target).asnumpy(), want)
            assert told(ours) == told(view(many))


@pytest.mark.parametrize("n", [1, 2, 3, 7, 64, 1000, 1001, 1023, 1024, 1025, 5000])
def test_fills(n):
    """One element goes to all of them, twice as many at a time."""
    for dtype in there(DTYPES):
        one, a = la.ones(1, dtype), la.zeros(n + 2, dtype)
        a[1:-1] = one
        want = np.zeros(n + 2, dtype)
        want[1:-1] = 1
        np.testing.assert_array_equal(a.asnumpy(), want)
