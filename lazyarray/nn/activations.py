"""Activations: elementwise functions, most of them with a gradient rule for the whole call."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from lazyarray.lazy.formulas import FORMULAS, function
from lazyarray.nn import _native
from lazyarray.nn.inputs import (
    channel_sums,
    floats,
    inverse,
    narrowed,
    real_floats,
    reals,
    widened,
)
from lazyarray.ops import names as op
from lazyarray.ops._differentiable import differentiable
from lazyarray.ops._layout import operands
from lazyarray.ops._rows import clamp, select
from lazyarray.ops.elementwise.slopes import lost
from lazyarray.ops.gradients import teach

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike

__all__ = [
    "relu",
    "relu6",
    "leaky_relu",
    "prelu",
    "elu",
    "selu",
    "celu",
    "gelu",
    "silu",
    "swish",
    "softplus",
    "sigmoid",
    "log_sigmoid",
    "hardtanh",
    "hardsigmoid",
    "erf",
]

_exp, _expm1, _log1p, _tanh = op.exp, op.expm1, op.log1p, op.tanh
_abs, _maximum, _minimum = op.absolute, op.maximum, op.minimum
_greater, _at_least, _less = op.greater, op.greater_equal, op.less

# NumPy's loops under a name of their own, whose gradients are not theirs.
_relu = op.maximum.named("relu")
teach(
    {
        # y is 0 there, or NaN.
        "relu": (lambda g, y: select(_greater(y, 0), g, y.detach()), None),
        "erf": (lambda g, a: g * ((2 / math.sqrt(math.pi)) * _exp(-a * a)),),
    }
)
FORMULAS["erf"] = function("erf", complex=False)


def relu(x: ArrayLike) -> NDArray:
    """max(x, 0) elementwise (Nair, Hinton 2010). The gradient at 0 is 0.

    Args:
        x: an array.
    Returns: an array of x's shape.
    Raises: nothing of its own.

    >>> import lazyarray as la
    >>> la.nn.relu([-1.0, 0.0, 2.0]).asnumpy()
    array([0., 0., 2.])
    """
    return _relu(x, 0)


def relu6(x: ArrayLike) -> NDArray:
    """min(max(x, 0), 6) elementwise.

    Args:
        x: an array.
    Returns: an array of x's shape.
    Raises: TypeError for complex numbers.

    >>> import lazyarray as la
    >>> la.nn.relu6([-1.0, 2.0, 8.0]).asnumpy()
    array([0., 2., 6.])
    """
    return hardtanh(x, 0.0, 6.0)


def _sloped(g: Any, x: Any, slope: Any) -> Any:
    """g above 0, its product with the slope below, NaN where x is NaN."""
    return select(_greater(x, 0), g, g * slope + lost(x, x))


@differentiable(x=lambda g, x, negative_slope: _sloped(g, x, negative_slope))
def leaky_relu(x: ArrayLike, negative_slope: float = 0.01) -> NDArray:
    """x where it is positive, else ``negative_slope * x`` (Maas et al. 2013).

    Args:
        x: an array.
        negative_slope: the slope below 0.
    Returns: an array of x's shape.
    Raises: TypeError for complex numbers.

    >>> import lazyarray as la
    >>> la.nn.leaky_relu([-1.0, 2.0], 0.1).asnumpy()
    array([-0.1,  2. ])
    """
    x = real_floats(x)
    return select(_greater(x, 0), x, x * negative_slope)


def _slopes(x: NDArray, weight: NDArray) -> NDArray:
    """A slope for each channel, or one for all, as it broadcasts with x."""
    return weight.reshape((1,) * x.ndim if weight.size == 1 else (-1, *(1,) * (x.ndim - 2)))


def _prelu_weight(g: Any, x: Any, weight: Any) -> Any:
    part = widened(g * _minimum(x, 0))
    total = part.sum() if weight.size == 1 else channel_sums(part)
    return narrowed(total.reshape(weight.shape), weight.dtype)


@differentiable(
    x=lambda g, x, weight: _sloped(g, x, _slopes(x, weight)),
    weight=_prelu_weight,
)
def _prelu(x: Any, weight: Any) -> NDArray:
    return select(_greater(x, 0), x, x * _slopes(x, weight))


def prelu(x: ArrayLike, weight: ArrayLike) -> NDArray:
    """x where it is positive, else ``weight * x`` (He et al. 2015).

    Args:
        x: an array (n, c, ...).
        weight: one slope, or one for each of the c channels.
    Returns: an array of x's shape.
    Raises: ValueError for another number of slopes; TypeError for complex numbers.

    >>> import lazyarray as la
    >>> la.nn.prelu(la.array([[-1.0, -1.0]]), la.array([0.1, 0.5])).asnumpy()
    array([[-0.1, -0.5]])
    """
    x, weight = map(reals, operands(x, weight))
    if weight.size != 1 and (weight.ndim != 1 or x.ndim < 2 or weight.size != x.shape[1]):
        raise ValueError(
            f"prelu: the weight is one number or one for each channel of x {x.shape}, not of shape "
            f"{weight.shape}"
        )
    return _prelu(x, weight)


def _elu_gradient(g: Any, x: Any, alpha: float, scale: float, rate: float) -> Any:
    low = _exp(_minimum(x, 0) * rate) * (alpha * rate * scale)
    return select(_greater(x, 0), g * scale, g * low)


@differentiable(x=_elu_gradient)
def _elu(x: Any, alpha: float, scale: float, rate: float) -> NDArray:
    """scale * (x, or alpha (exp(rate x) - 1) below 0); exp never overflows."""
    x = real_floats(x)
    low = _expm1(_minimum(x, 0) * rate) * (alpha * scale)
    return select(_greater(x, 0), x if scale == 1.0 else x * scale, low)


def elu(x: ArrayLike, alpha: float = 1.0) -> NDArray:
    """x where it is positive, else alpha (exp(x) - 1) (Clevert et al. 2015).

    Args:
        x: an array.
        alpha: the limit far below 0, negated.
    Returns: an array of x's shape.
    Raises: TypeError for complex numbers.

    >>> import lazyarray as la
    >>> la.nn.elu([-1.0, 2.0]).asnumpy()
    array([-0.63212056,  2.        ])
    """
    return _elu(x, alpha, 1.0, 1.0)


def selu(x: ArrayLike) -> NDArray:
    """elu with the scale and alpha that keep mean and variance (Klambauer et al. 2017).

    Args:
        x: an array.
    Returns: an array of x's shape.
    Raises: TypeError for complex numbers.

    >>> import lazyarray as la
    >>> la.nn.selu([-1.0, 2.0]).asnumpy()
    array([-1.11133074,  2.10140197])
    """
    return _elu(x, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1.0)


def celu(x: ArrayLike, alpha: float = 1.0) -> NDArray:
    """x where it is positive, else alpha (exp(x / alpha) - 1) (Barron 2017).

    Args:
        x: an array.
        alpha: the limit far below 0, negated.
    Returns: an array of x's shape.
    Raises: TypeError for complex numbers; ValueError for an alpha of 0.

    >>> import lazyarray as la
    >>> la.nn.celu([-1.0, 2.0], 2.0).asnumpy()
    array([-0.78693868,  2.        ])
    """
    return _elu(x, alpha, 1.0, inverse("celu", "alpha", alpha))


def erf(x: ArrayLike) -> NDArray:
    """The error function, by the C library's loop for float32 and float64.

    Args:
        x: an array of floats.
    Returns: an array of x's shape.
    Raises: TypeError for integers and complex numbers.

    >>> import lazyarray as la
    >>> la.nn.erf([0.0, 0.5]).asnumpy()
    array([0.        , 0.52049988])
    """
    x, dtype = floats("erf", x)
    return narrowed(_native.erf(x), dtype)


_C, _A = math.sqrt(2 / math.pi), 0.044715


def _gelu_gradient(g: Any, x: Any, approximate: str) -> Any:
    if approximate == "none":
        density = _exp(x * x * -0.5) * (1 / math.sqrt(2 * math.pi))
        return g * ((1 + erf(x * math.sqrt(0.5))) * 0.5 + x * density)
    square = x * x
    t = _tanh(x * (square * (_C * _A) + _C))
    return g * ((1 + t + x * (1 - t * t) * (square * (3 * _C * _A) + _C)) * 0.5)


@differentiable(x=_gelu_gradient)
def _gelu(x: Any, approximate: str) -> NDArray:
    if approximate == "none":
        return x * ((1 + erf(x * math.sqrt(0.5))) * 0.5)
    return x * ((1 + _tanh(x * (x * x * (_C * _A) + _C))) * 0.5)


def gelu(x: ArrayLike, approximate: str = "none") -> NDArray:
    """x times the normal distribution's function of it (Hendrycks, Gimpel 2016).

    Args:
        x: an array of floats.
        approximate: "tanh" takes the tanh formula: a vector loop, where the exact one, "none",
            calls the C library's erf for each element.
    Returns: an array of x's shape.
    Raises: TypeError for integers; ValueError for another ``approximate``.

    >>> import lazyarray as la
    >>> la.nn.gelu([-1.0, 2.0]).asnumpy()
    array([-0.15865525,  1.95449974])
    """
    if approximate not in ("none", "tanh"):
        raise ValueError(f"gelu: approximate is 'none' or 'tanh', not {approximate!r}")
    x, dtype = floats("gelu", x)
    return narrowed(_gelu(x, approximate), dtype)


def _sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)), by an exponential that can't overflow."""
    e = _exp(-_abs(x))
    return select(_at_least(x, 0), 1.0, e) / (1 + e)


@differentiable(x=lambda g, y: g * (y * (1 - y)))
def sigmoid(x: ArrayLike) -> NDArray:
    """1 / (1 + exp(-x)) elementwise, exact to the last bits also where it is tiny.

    Args:
        x: an array.
    Returns: an array of x's shape.
    Raises: TypeError for complex numbers.

    >>> import lazyarray as la
    >>> la.nn.sigmoid([-2.0, 0.0, 2.0]).asnumpy()
    array([0.11920292, 0.5       , 0.88079708])
    """
    return _sigmoid(real_floats(x))


@differentiable(x=lambda g, x: g * sigmoid(-x))
def log_sigmoid(x: ArrayLike) -> NDArray:
    """log(1 / (1 + exp(-x))) elementwise, without overflow.

    Args:
        x: an array.
    Returns: an array of x's shape.
    Raises: TypeError for complex numbers.

    >>> import lazyarray as la
    >>> la.nn.log_sigmoid([-1000.0, 0.0]).asnumpy()
    array([-1.00000000e+03, -6.93147181e-01])
    """
    x = real_floats(x)
    return _minimum(x, 0) - _log1p(_exp(-_abs(x)))


def _silu_gradient(g: Any, x: Any) -> Any:
    s = sigmoid(x)
    return g * (s * (1 + x * (1 - s)))


@differentiable(x=_silu_gradient)
def silu(x: ArrayLike) -> NDArray:
    """x times its sigmoid (Elfwing et al. 2017; "swish", Ramachandran et al. 2017).

    Args:
        x: an array.
    Returns: an array of x's shape.
    Raises: TypeError for complex numbers.

    >>> import lazyarray as la
    >>> la.nn.silu([-1.0, 2.0]).asnumpy()
    array([-0.26894142,  1.76159416])
    """
    x = real_floats(x)
    return x * _sigmoid(x)


swish = silu


@differentiable(
    x=lambda g, x, beta, threshold: select(_greater(x * beta, threshold), g, g * sigmoid(x * beta)),
)
def softplus(x: ArrayLike, beta: float = 1.0, threshold: float = 20.0) -> NDArray:
    """log(1 + exp(beta x)) / beta, and x itself where beta x is above the threshold.

    Args:
        x: an array.
        beta: how sharp the bend is.
        threshold: from where on it is x itself.
    Returns: an array of x's shape.
    Raises: TypeError for complex numbers; ValueError for a beta of 0.

    >>> import lazyarray as la
    >>> la.nn.softplus([-1.0, 0.0, 30.0]).asnumpy()
    array([ 0.31326169,  0.69314718, 30.        ])
    """
    x = real_floats(x)
    t = x * beta
    soft = _maximum(t, 0) + _log1p(_exp(-_abs(t)))
    if beta != 1.0:
        soft = soft * inverse("softplus", "beta", beta)
    return select(_greater(t, threshold), x, soft)


def _within(g: Any, x: Any, low: float, high: float) -> Any:
    return select(_greater(x, low) & _less(x, high), g, lost(x, x))


@differentiable(x=lambda g, x, min_val, max_val: _within(g, x, min_val, max_val))
def hardtanh(x: ArrayLike, min_val: float = -1.0, max_val: float = 1.0) -> NDArray:
    """x, not below ``min_val`` nor above ``max_val``; there the gradient is 0.

    Args:
        x: an array.
        min_val: the least value.
        max_val: the greatest value.
    Returns: an array of x's shape.
    Raises: ValueError unless ``min_val`` is below ``max_val``; TypeError for complex numbers.

    >>> import lazyarray as la
    >>> la.nn.hardtanh([-3.0, 0.5, 3.0]).asnumpy()
    array([-1. ,  0.5,  1. ])
    """
    if min_val >= max_val:
        raise ValueError(f"hardtanh: min_val is below max_val, not {min_val} and {max_val}")
    return clamp(real_floats(x), min_val, max_val)


@differentiable(x=lambda g, x: _within(g * (1 / 6), x, -3.0, 3.0))
def hardsigmoid(x: ArrayLike) -> NDArray:
    """x / 6 + 1/2, not below 0 nor above 1 (Courbariaux et al. 2015, PyTorch's slope).

    Args:
        x: an array.
    Returns: an array of x's shape.
    Raises: TypeError for complex numbers.

    >>> import lazyarray as la
    >>> la.nn.hardsigmoid([-4.0, 0.0, 1.5]).asnumpy()
    array([0.  , 0.5 , 0.75])
    """
    return clamp(real_floats(x) * (1 / 6) + 0.5, 0.0, 1.0)
