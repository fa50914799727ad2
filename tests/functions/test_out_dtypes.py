"""``out=`` of another dtype decides in what NumPy computes; so it does here."""

import numpy as np
import pytest

import lazyarray as la

X = np.random.default_rng(0).standard_normal((3, 40))
SUMS = ("sum", "mean", "prod", "nansum", "std", "var", "nanmean", "nanvar")
RUNNING = ("cumsum", "cumprod", "nancumsum", "nancumprod", "cumulative_sum", "cumulative_prod")
RANKS = ("median", "nanmedian", "ptp", "max", "quantile", "percentile", "nanquantile")


@pytest.mark.parametrize("out", ["f", "d", "D"])
@pytest.mark.parametrize("dtype", ["i", "f", "d"])
@pytest.mark.parametrize("name", [*SUMS, *RUNNING, *RANKS, "round"])
def test_a_function(name, dtype, out):
    x = (X * 10).astype(dtype)
    axis = {"decimals": 1} if name == "round" else {"axis": 1}
    more = (0.3,) if "quantile" in name or "percentile" in name else ()
    shape = (3, 40) if name in RUNNING or name == "round" else (3,)
    got, want = la.zeros(shape, out), np.zeros(shape, out)
    if name == "round" and out == "D":
        pytest.skip("NumPy goes on with complex numbers, their parts one by one")
    with np.errstate(all="ignore"):
        try:
            getattr(np, name)(x, *more, out=want, **axis)
        except TypeError:
            with pytest.raises(TypeError):
                getattr(la, name)(la.array(x), *more, out=got, **axis)
            return
        getattr(la, name)(la.array(x), *more, out=got, **axis)
        np.testing.assert_array_equal(got.asnumpy(), want)


def test_products_of_integers_do_not_overflow_on_their_way_into_floats():
    out = la.zeros(100)
    la.cumprod(la.full(100, 10), out=out)
    assert out[-1].item() == pytest.approx(1e100)


@pytest.mark.parametrize("q", [[0.1, 0.7], [[0.1], [0.7]]])
@pytest.mark.parametrize("keepdims", [False, True])
def test_several_quantiles(q, keepdims):
    want = np.quantile(X.astype("f"), q, axis=0, keepdims=keepdims)
    out = la.zeros(want.shape)
    la.quantile(la.array(X, "f"), q, axis=0, out=out, keepdims=keepdims)
    np.testing.assert_allclose(out.asnumpy(), want, 1e-6)
