"""``round`` to decimals: NumPy's bits, layout and warnings, in passes."""

import warnings

import numpy as np
import pytest

import lazyarray as la

DECIMALS = [1, 2, -1, -3, 8, 9, 10, 11, 20, 300, 320, -310, 400]


def rounded(function, x, decimals):
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        y = function(x, decimals)
        values = np.asarray(y)
    steps = [step for step, n in zip(y.strides, y.shape, strict=True) if n > 1]
    return values, steps, {str(w.message).split("\n")[0] for w in met}


@pytest.mark.parametrize("dtype", "efdg")
@pytest.mark.parametrize("shape", [(7,), (5, 9), (3, 1, 4), (70_000,)])
def test_decimals(dtype, shape):
    rng = np.random.default_rng(len(shape))
    with np.errstate(over="ignore"):
        x = (rng.standard_normal(shape) * 10.0 ** rng.integers(-6, 7, shape)).astype(dtype)
    x.flat[:4] = [np.nan, np.inf, -0.0, -np.inf][: x.size]
    a = la.array(x)
    for view in (lambda v: v, lambda v: v.T, lambda v: v[::2], lambda v: v[::-1]):
        for decimals in DECIMALS:
            want, *told = rounded(np.round, view(x), decimals)
            got, *found = rounded(la.round, view(a), decimals)
            np.testing.assert_array_equal(got, want)
            np.testing.assert_array_equal(np.signbit(got), np.signbit(want))
            assert (got.dtype, found) == (want.dtype, told)


def test_in_a_pass_and_its_gradient():
    x = la.array(np.linspace(-3, 3, 100_001))
    y = (la.round(x, 2) * 2).sum()
    y.wait_to_read()
    assert "fused pass" in str(la.explain())
    assert y.item() == (np.round(x.asnumpy(), 2) * 2).sum()
    x.attach_grad()
    with la.autograd.record():
        la.round(x, 1).sum().backward()
    np.testing.assert_array_equal(x.grad, np.zeros(x.size))
