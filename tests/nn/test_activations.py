"""Activations: values against NumPy, gradients against differences, extremes, dtypes."""

import math
import warnings

import numpy as np
import pytest

import lazyarray as la
from lazyarray import nn
from lazyarray.nn import activations

from .checks import check_gradients, close, gradients, normal

X = np.concatenate([normal(30) * 3, [-30.0, 30.0, -0.001, 0.001, 2.9, 6.1]])
_erf = np.vectorize(math.erf)
_sigmoid = lambda x: 1 / (1 + np.exp(-x))  # noqa: E731

CASES = {
    "relu": (nn.relu, lambda x: np.where(x > 0, x, 0)),
    "relu6": (nn.relu6, lambda x: np.clip(x, 0, 6)),
    "leaky_relu": (nn.leaky_relu, lambda x: np.where(x > 0, x, 0.01 * x)),
    "leaky_relu(2)": (lambda x: nn.leaky_relu(x, 2.0), lambda x: np.where(x > 0, x, 2 * x)),
    "elu": (lambda x: nn.elu(x, 0.7), lambda x: np.where(x > 0, x, 0.7 * np.expm1(x))),
    "selu": (
        nn.selu,
        lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
    ),
    "celu": (lambda x: nn.celu(x, 1.5), lambda x: np.where(x > 0, x, 1.5 * np.expm1(x / 1.5))),
    "gelu": (nn.gelu, lambda x: x * (1 + _erf(x / math.sqrt(2))) / 2),
    "gelu(tanh)": (
        lambda x: nn.gelu(x, "tanh"),
        lambda x: x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2,
    ),
    "silu": (nn.silu, lambda x: x * _sigmoid(x)),
    "softplus": (nn.softplus, lambda x: np.where(x > 20, x, np.log1p(np.exp(x)))),
    "softplus(2, 3)": (
        lambda x: nn.softplus(x, 2.0, 3.0),
        lambda x: np.where(2 * x > 3, x, np.log1p(np.exp(2 * x)) / 2),
    ),
    "sigmoid": (nn.sigmoid, _sigmoid),
    "log_sigmoid": (nn.log_sigmoid, lambda x: -np.log1p(np.exp(-x))),
    "hardtanh": (lambda x: nn.hardtanh(x, -0.5, 2.0), lambda x: np.clip(x, -0.5, 2)),
    "hardsigmoid": (nn.hardsigmoid, lambda x: np.clip(x / 6 + 0.5, 0, 1)),
    "erf": (nn.erf, _erf),
}


@pytest.mark.parametrize("name", CASES)
def test_values(name):
    ours, numpys = CASES[name]
    close(ours(la.array(X)), numpys(X))
    square = X.reshape(6, 6)
    close(ours(la.array(square).T[::2]), numpys(square.T[::2]))
    assert ours(la.array(X.astype("f4"))).dtype == np.float32
    assert ours(la.array(X.astype("f2"))).dtype == np.float16
    assert ours(la.ones((0, 3))).shape == (0, 3)
    assert isinstance(ours([0.5, -0.5]), la.NDArray)


@pytest.mark.parametrize("name", CASES)
def test_gradients(name):
    check_gradients(CASES[name][0], X[np.abs(X) < 20], tol=1e-6)


@pytest.mark.parametrize("slopes", [1, 3])
@pytest.mark.parametrize("shape", [(4, 3), (4, 3, 5), (2, 3, 2, 2)])
def test_prelu(shape, slopes):
    x, w = normal(*shape), normal(slopes, seed=1)
    each = w if slopes == 1 else w.reshape(1, 3, *(1,) * (len(shape) - 2))
    close(nn.prelu(x, w), np.where(x > 0, x, x * each))
    check_gradients(nn.prelu, x, w)
    check_gradients(lambda x, w: nn.prelu(x.swapaxes(0, 1), w), np.swapaxes(x, 0, 1).copy(), w)


def test_extremes_raise_no_warning_and_lose_nothing():
    x = np.array([-800.0, -40.0, 0.0, 40.0, 800.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ours, _ in CASES.values():
            assert np.isfinite(gradients(ours, x)[0]).all()
            assert np.isfinite(ours(la.array(x)).asnumpy()).all()
        assert nn.sigmoid(-40.0).item() == pytest.approx(math.exp(-40), rel=1e-14)
        assert nn.log_sigmoid(-800.0).item() == -800


def test_gradient_at_the_corners():
    x = np.array([-1.0, 0.0, 6.0])
    assert gradients(nn.relu, x)[0].tolist() == [0, 0, 1]
    assert gradients(nn.relu6, x)[0].tolist() == [0, 0, 0]
    assert gradients(nn.leaky_relu, x)[0].tolist() == [0.01, 0.01, 1]


def test_integers_are_what_numpy_makes_of_them():
    i = la.array([-1, 2])
    assert nn.relu(i).dtype == np.int64 and nn.sigmoid(i).dtype == np.float64
    for refuses in (nn.erf, nn.gelu):
        with pytest.raises(TypeError, match="int64"):
            refuses(i)


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u2", "i4", "u8"])
def test_integers_become_the_floats_that_exp_makes_of_them(dtype):
    a = np.array([0, 1, 7]).astype(dtype)
    for name in set(REAL) - {"gelu", "erf", "logsumexp"}:
        got = getattr(nn, name)(la.array(a))
        assert got.dtype == np.exp(a).dtype, name
        close(got, getattr(nn, name)(a.astype("f8")), 3e-3)


def test_nothing_waits():
    with la.no_sync():
        x = la.ones(1000)
        for ours, _ in CASES.values():
            x = ours(x)
    assert np.isfinite(x.asnumpy()).all()


def test_bad_arguments():
    with pytest.raises(ValueError, match=r"\(4, 3\).*\(2,\)"):
        nn.prelu(la.ones((4, 3)), la.ones(2))
    with pytest.raises(ValueError, match="approximate"):
        nn.gelu(la.ones(2), "erf")
    with pytest.raises(ValueError, match="min_val"):
        nn.hardtanh(la.ones(2), 1.0, -1.0)
    for call in (nn.celu, nn.softplus):
        for zero in (0, 0.0):
            with pytest.raises(ValueError, match="is not 0"):
                call(la.ones(2), zero)


REAL = """relu6 leaky_relu elu selu celu gelu silu softplus sigmoid log_sigmoid hardtanh hardsigmoid
    erf softmax log_softmax logsumexp""".split()


@pytest.mark.parametrize("name", REAL)
def test_complex_numbers_are_refused(name):
    """They have no order: sigmoid([1j]) was 0.73."""
    with pytest.raises(TypeError, match="complex128"):
        getattr(nn, name)(la.array([1j, 2.0]))
    with pytest.raises(TypeError, match="complex128"):
        nn.prelu(la.array([[1j, 2.0]]), la.array(0.1))


def test_relu_as_a_call_of_numpys_has_its_gradient():
    """A rule that a file above the op table taught: without it the gradient was zero."""
    x = la.array([[-1.0, 2.0], [3.0, -4.0]])
    x.attach_grad()
    with la.autograd.record():
        mask = la.array([[True, True], [False, True]])
        y = activations._relu(x, 0, where=mask, out=la.zeros((2, 2)))
    y.backward()
    assert x.grad.tolist() == [[0, 1], [0, 0]]
