"""Gradients at NaN: NaN where a choice made the result NaN, 0 where NaN is ignored."""

import numpy as np
import pytest

import lazyarray as la
from lazyarray import autograd, nn

NAN = float("nan")


def gradients(function, *values, dtype=float):
    """The gradients of the sum of the result, and the result."""
    xs = [la.array(np.array(v, dtype)) for v in values]
    for x in xs:
        x.attach_grad()
    with np.errstate(all="ignore"), autograd.record():
        y = function(*xs)
        total = la.sum(y)
    total.backward()
    return [x.grad.tolist() for x in xs], y.tolist()


def same(got, want):
    np.testing.assert_array_equal(np.array(got), np.array(want))


# Of x = [-0.5, NaN, 0.5, 2] the gradients.
ONE = {
    "relu": (nn.relu, [0, NAN, 1, 1]),
    "relu6": (nn.relu6, [0, NAN, 1, 1]),
    "leaky_relu": (lambda x: nn.leaky_relu(x, 0.25), [0.25, NAN, 1, 1]),
    "prelu": (lambda x: nn.prelu(x, la.array([0.25])), [0.25, NAN, 1, 1]),
    "hardtanh": (nn.hardtanh, [1, NAN, 1, 0]),
    "hardsigmoid": (lambda x: nn.hardsigmoid(x) * 6, [1, NAN, 1, 1]),
    "abs": (la.abs, [-1, NAN, 1, 1]),
    "fabs": (la.fabs, [-1, NAN, 1, 1]),
    "clip": (lambda x: la.clip(x, 0, 1), [0, NAN, 1, 0]),
    "clip low": (lambda x: la.clip(x, 0, None), [0, NAN, 1, 1]),
    "clip high": (lambda x: la.clip(x, None, 1), [1, NAN, 1, 0]),
    "maximum": (lambda x: la.maximum(x, 0.25), [0, NAN, 1, 1]),
    "minimum": (lambda x: la.minimum(x, 1), [1, NAN, 1, 0]),
    "fmax": (lambda x: la.fmax(x, 0.25), [0, 0, 1, 1]),
    "fmin": (lambda x: la.fmin(x, 1), [1, 0, 1, 0]),
    "fmax of NaN": (lambda x: la.fmax(x, NAN), [1, NAN, 1, 1]),
    "copysign": (lambda x: la.copysign(x, 1), [-1, NAN, 1, 1]),
    "max": (la.max, [0, NAN, 0, 0]),
    "min": (la.min, [0, NAN, 0, 0]),
    "ptp": (la.ptp, [0, NAN, 0, 0]),
    "max where": (
        lambda x: la.max(x, where=la.array([1, 1, 0, 1]) > 0, initial=-9),
        [0, NAN, 0, 0],
    ),
    "max elsewhere": (
        lambda x: la.max(x, where=la.array([1, 0, 1, 1]) > 0, initial=-9),
        [0, 0, 0, 1],
    ),
    "nanmax": (la.nanmax, [0, 0, 0, 1]),
    "nanmin": (la.nanmin, [1, 0, 0, 0]),
    "nansum": (la.nansum, [1, 0, 1, 1]),
    "nanprod": (la.nanprod, [1, 0, -1, -0.25]),
    "nanmean": (lambda x: la.nanmean(x) * 3, [1, 0, 1, 1]),
    "nancumsum": (la.nancumsum, [4, 0, 2, 1]),
    "median": (la.median, [0, NAN, 0, 0]),
    "quantile": (lambda x: la.quantile(x, [0.0, 0.5]), [0, NAN, 0, 0]),
    "nanmedian": (la.nanmedian, [0, 0, 1, 0]),
    "nanquantile": (lambda x: la.nanquantile(x, 0.5), [0, 0, 1, 0]),
    "sort": (lambda x: la.sort(x) * la.array([1.0, 2, 3, 4]), [1, 4, 2, 3]),
    "nan_to_num": (la.nan_to_num, [1, 0, 1, 1]),
    "where": (lambda x: la.where(la.isnan(x), 0.0, x), [1, 0, 1, 1]),
    "maximum.accumulate": (la.maximum.accumulate, [1, 3, 0, 0]),
    "minimum.accumulate": (la.minimum.accumulate, [1, 3, 0, 0]),
    "floor": (la.floor, [0, 0, 0, 0]),
    "sign": (la.sign, [0, 0, 0, 0]),
    "l1_loss": (lambda x: nn.l1_loss(x, la.zeros(4), "sum"), [-1, NAN, 1, 1]),
    "huber_loss": (lambda x: nn.huber_loss(x, la.zeros(4), "sum"), [-0.5, NAN, 0.5, 1]),
    "smooth_l1_loss": (lambda x: nn.smooth_l1_loss(x, la.zeros(4), "sum"), [-0.5, NAN, 0.5, 1]),
    "max_pool1d": (lambda x: nn.max_pool1d(x.reshape(1, 4), 2), [0, 1, 0, 1]),  # by its place
}


@pytest.mark.parametrize("name", ONE)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_one_operand(name, dtype):
    function, want = ONE[name]
    (got,), _ = gradients(function, [-0.5, NAN, 0.5, 2], dtype=dtype)
    same(got, want)


@pytest.mark.parametrize("name", [n for n in ONE if n not in ("max where", "max elsewhere")])
def test_no_nan_no_difference(name):
    function, _ = ONE[name]
    (got,), _ = gradients(function, [-0.5, 0.25, 0.5, 2])
    if name != "fmax of NaN":
        assert np.isfinite(got).all()


@pytest.mark.parametrize("name", ["elu", "selu", "celu", "softplus", "silu", "gelu", "sigmoid"])
def test_smooth_where_they_are_pieced(name):
    (got,), y = gradients(getattr(nn, name), [-0.5, NAN, 0.5, 30])
    assert np.isnan([got[1], y[1]]).all() and np.isfinite([got[0], *got[2:]]).all()


TWO = {
    "maximum": (la.maximum, [0, NAN, 0, NAN, 0.5], [1, 0, NAN, NAN, 0.5]),
    "minimum": (la.minimum, [1, NAN, 0, NAN, 0.5], [0, 0, NAN, NAN, 0.5]),
    "fmax": (la.fmax, [0, 0, 1, NAN, 0.5], [1, 1, 0, NAN, 0.5]),
    "fmin": (la.fmin, [1, 0, 1, NAN, 0.5], [0, 1, 0, NAN, 0.5]),
}


@pytest.mark.parametrize("name", TWO)
def test_two_operands(name):
    function, *want = TWO[name]
    got, _ = gradients(function, [1, NAN, 1, NAN, 1], [2, 2, NAN, NAN, 1])
    same(got, want)


def test_limits():
    got, _ = gradients(la.clip, [1, NAN, 1, 1, 5], [0, 0, NAN, 2, 0], [3, 3, 3, NAN, 3])
    same(got, [[1, NAN, 0, 0, 0], [0, 0, NAN, 0, 0], [0, 0, 0, NAN, 1]])


def test_powers():
    got, _ = gradients(la.power, [NAN, NAN, 0, 1, 0], [0, 2, NAN, NAN, 2])
    same(got, [[0, NAN, NAN, NAN, 0], [NAN, NAN, NAN, 0, 0]])  # 1 ** NaN is 1


@pytest.mark.filterwarnings("ignore:All-NaN")
def test_rows_and_all_nan():
    a = [[1, NAN, 3], [1, 2, 3], [NAN, NAN, NAN]]
    for function, want in (
        (lambda x: la.max(x, axis=1), [[0, NAN, 0], [0, 0, 1], [NAN] * 3]),
        (lambda x: la.nanmin(x, axis=1), [[1, 0, 0], [1, 0, 0], [NAN] * 3]),
        (lambda x: la.median(x, axis=1), [[0, NAN, 0], [0, 1, 0], [NAN] * 3]),
        (lambda x: la.nanmedian(x, axis=1), [[0.5, 0, 0.5], [0, 1, 0], [NAN] * 3]),
        (lambda x: la.max(x, axis=0), [[0, NAN, 0], [0, 0, 0], [NAN] * 3]),
    ):
        (got,), _ = gradients(function, a)
        same(got, want)


def test_second_derivatives_leave_no_trace():
    x = la.array([-1.0, 0.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = (nn.relu(x) ** 2).sum()
        first = autograd.grad(y, x, create_graph=True)
        total = (first * la.array([1.0, 10.0, 100.0])).sum()
    total.backward()
    assert x.grad.tolist() == [0, 0, 200]


def test_probabilities_that_are_nan():
    for p in ([NAN], [0.5]):
        (g,), y = gradients(
            lambda x: nn.binary_cross_entropy(x, la.array([1.0]), "sum"), np.array(p)
        )
        assert np.isnan(y) == np.isnan(g[0]) == np.isnan(p[0])


@pytest.mark.parametrize("ufunc", [la.maximum, la.minimum])
def test_running_extremes_are_those_without_a_tape(ufunc):
    x = la.array([1.0, 3.0, NAN, 2.0, 5.0, NAN])
    plain = ufunc.accumulate(x).tolist()
    x.attach_grad()
    with autograd.record():
        same(ufunc.accumulate(x).tolist(), plain)
