"""Linear layers and dropout."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from lazyarray.functions.manipulation import copy
from lazyarray.lazy._lazy import is_noting, is_training
from lazyarray.ops import names as op
from lazyarray.ops._differentiable import differentiable, summed_to
from lazyarray.ops._layout import operands
from lazyarray.ops._rows import asarray, select
from lazyarray.random.devices import newer_here

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike

__all__ = ["linear", "dropout"]

_add, _at_least = op.add, op.greater_equal


def _conj(x: Any) -> Any:
    return x.conj() if x.dtype.kind == "c" else x


@differentiable(
    x=lambda g, weight: g @ _conj(weight),
    weight=lambda g, x: g.T @ _conj(x),
    bias=lambda g: summed_to(g, g.shape[1:]),
)
def _linear(x: Any, weight: Any, bias: Any) -> NDArray:
    """Of rows; the weight's gradient comes in the weight's own order, (out, in)."""
    y = x @ weight.T
    if bias is None:
        return y
    return _add(y, bias, out=y if bias.dtype == y.dtype else None)


def linear(x: ArrayLike, weight: ArrayLike, bias: ArrayLike | None = None) -> NDArray:
    """x (..., in) times the transposed ``weight`` (out, in), plus ``bias`` (out).

    Args:
        x: an array (..., in).
        weight: a matrix (out, in).
        bias: a vector (out,), or None.
    Returns: an array (..., out).
    Raises: ValueError for shapes that don't fit.

    >>> import lazyarray as la
    >>> la.nn.linear([1.0, 2.0], [[1.0, 1.0], [0.0, 3.0]], [0.0, 1.0]).asnumpy()
    array([3., 7.])
    """
    if bias is None:
        x, weight = operands(x, weight)
    else:
        x, weight, bias = operands(x, weight, bias)
    shape, (out, size) = x.shape, weight.shape if weight.ndim == 2 else (0, -1)
    if not shape or shape[-1] != size or (bias is not None and bias.shape != (out,)):
        raise ValueError(
            f"linear: x of shape {shape} with a weight of shape {weight.shape} and a bias of shape "
            f"{None if bias is None else bias.shape}: they are (..., in), (out, in), (out,)"
        )
    if len(shape) == 2:
        return _linear(x, weight, bias)
    rows = x.reshape(math.prod(shape[:-1]), size)
    return _linear(rows, weight, bias).reshape(*shape[:-1], out)


def _dropped_gradient(g: Any, keep: Any, scale: float) -> Any:
    return _dropped(g, keep, scale)


@differentiable(x=_dropped_gradient)
def _dropped(x: Any, keep: Any, scale: float) -> NDArray:
    return select(keep, x * scale, 0.0)


def dropout(x: ArrayLike, p: float = 0.5, training: bool | None = None) -> NDArray:
    """x with each element zero with probability p, and else divided by 1 - p (Hinton et al. 2012).

    The numbers come from the stream of x's device, which ``la.random.seed`` starts anew: one
    float32 for each element.

    Args:
        x: an array of floats.
        p: the probability, from 0 to 1.
        training: whether it is done; None: ``la.autograd.is_training()``.
    Returns: an array of x's shape; ``x`` itself when not in training.
    Raises: ValueError unless p is from 0 to 1; TypeError for integers.

    >>> import lazyarray as la
    >>> la.random.seed(2)
    >>> la.nn.dropout(la.ones(6), 0.5, training=True).asnumpy()
    array([0., 0., 0., 2., 2., 2.])
    """
    if not 0 <= p <= 1:
        raise ValueError(f"dropout: p is a probability, not {p}")
    x = asarray(x)
    if x.dtype.kind not in "fc":
        raise TypeError(f"dropout takes arrays of floats, not of {x.dtype}")
    if not (is_training() if training is None else training) or p == 0:
        return copy(x) if is_noting() else x  # a graph knows the call by its new array
    keep = _at_least(newer_here(x).random(x.shape, "float32"), p)
    return _dropped(x, keep, 0.0 if p == 1 else 1 / (1 - p))
