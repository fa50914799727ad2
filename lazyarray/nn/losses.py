"""Losses, with their reductions."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazyarray.lazy._lazy import is_recording, note_call, paused
from lazyarray.nn import _native
from lazyarray.nn.activations import sigmoid
from lazyarray.nn.choices import spread
from lazyarray.nn.inputs import floats, integers, known, narrowed, reduced
from lazyarray.nn.softmaxes import log_softmax, logsumexp
from lazyarray.ops import names as op
from lazyarray.ops._differentiable import differentiable
from lazyarray.ops._layout import operands
from lazyarray.ops._rows import select

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike

__all__ = [
    "cross_entropy",
    "nll_loss",
    "mse_loss",
    "l1_loss",
    "smooth_l1_loss",
    "huber_loss",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
]

_exp, _log, _log1p, _abs = op.exp, op.log, op.log1p, op.absolute
_maximum, _minimum, _less_equal = op.maximum, op.minimum, op.less_equal
_max, _sum = op.max, op.sum


# ---- classes ------------------------------------------------------------------------------------


def _as_rows(
    name: str, x: NDArray, target: NDArray, axis: int | None
) -> tuple[NDArray, tuple[int, ...]]:
    """x with its classes as rows (b, c), and the targets' shape, which is checked."""
    if x.ndim == 0:
        raise ValueError(f"{name}: the first array has an axis of classes, not shape ()")
    axis = min(1, x.ndim - 1) if axis is None else normalize_axis_index(axis, x.ndim)
    shape = x.shape[:axis] + x.shape[axis + 1 :]
    if target.shape != shape:
        raise ValueError(
            f"{name}: for an input of shape {x.shape} with classes along axis {axis} the target is "
            f"of shape {shape}, not {target.shape}"
        )
    rows = x if axis == x.ndim - 1 else x.swapaxes(axis, -1) if x.ndim == 2 else _last(x, axis)
    return rows if rows.ndim == 2 else rows.reshape(target.size, x.shape[axis]), shape


def _last(x: NDArray, axis: int) -> NDArray:
    return x.transpose(*[i for i in range(x.ndim) if i != axis], axis)


def _chosen_gradient(g: Any, y: Any, target: Any, n: int) -> Any:
    each = select(y[1].detach(), g[0], 0)  # zero, too, where the mean is over none: 0 / 0
    return -spread(each.reshape(-1, 1), target.reshape(-1, 1), n)


@differentiable(x=_chosen_gradient)
def _chosen(x: NDArray, target: NDArray, n: int, ignored: int) -> tuple[NDArray, NDArray]:
    """-x[b, target[b]] of rows (b, n), and which of them count."""
    return _native.class_losses(x, 0.0, 0.0, target, ignored)


def nll_loss(
    input: ArrayLike,
    target: ArrayLike,
    axis: int | None = None,
    *,
    reduction: str = "mean",
    ignore_index: int = -100,
) -> NDArray:
    """The negative of log-probabilities ``input`` at the classes ``target``.

    The second half of :func:`cross_entropy`.

    Args:
        input: log-probabilities, an array (n, c, ...).
        target: integers (n, ...) from 0 to c - 1.
        axis: the axis of the classes; None: the second one, the only one of a vector.
        reduction: "mean" over those that count, "sum", or "none".
        ignore_index: integers equal to it count nothing.
    Returns: an array without axes; for "none" (n, ...).
    Raises: ValueError for shapes that don't fit, or another ``reduction``; IndexError at the wait
        for a class that there is not; TypeError unless the input is of floats.

    >>> import lazyarray as la
    >>> la.nn.nll_loss(la.log([[0.5, 0.5], [0.25, 0.75]]), [0, 1]).item()
    0.4904146265058631
    """
    x, dtype = floats("nll_loss", input)
    target = integers("nll_loss", target, x)
    rows, shape = _as_rows("nll_loss", x, target, axis)
    losses, counted = _chosen(rows, target.reshape(-1), rows.shape[1], ignore_index)
    if known(reduction) == "none":
        return narrowed(losses.reshape(shape), dtype)
    total = losses.sum()
    return narrowed(total / counted.detach().sum() if reduction == "mean" else total, dtype)


def _cross_entropy(
    x: NDArray, target: NDArray, smoothing: float, reduction: str, ignored: int
) -> NDArray:
    """The reduced losses of logits (b, c) with classes (b), as one call for autograd.

    Of the logits the largest is kept, and the logarithm of the rest, not their softmax: before the
    gradient nothing of their size is made.
    """
    with paused():
        top = _max(x, 1, None, True)
        total = _log(_sum(_exp(x - top), 1, None, None, True))
        losses, counted = _native.class_losses(x, top, total, target, ignored)
        if smoothing:
            even = total.reshape(-1) - (x - top).mean(axis=1)
            losses = losses * (1 - smoothing) + select(counted, even, 0) * smoothing
        saved = [x, top, total, target, counted]
        result = losses if reduction == "none" else losses.sum()
        if reduction == "mean":
            saved.append(counted.sum())
            result = result / saved[5]
    rule = partial(_cross_entropy_gradient, smoothing, reduction)
    note_call("cross_entropy", rule, [x], [result], saved)
    return result


def _cross_entropy_gradient(
    smoothing: float, reduction: str, gradients: list[Any], saved: list[Any]
) -> list[Any]:
    x, top, total, target, counted = saved[:5]
    each = gradients[0] / saved[5] if reduction == "mean" else gradients[0]
    each = select(counted, each, 0).reshape(-1, 1)  # zero, too, if the mean is over none
    n = x.shape[1]
    # Where this is recorded itself, x's part in the sum has to be.
    share = _exp(x - logsumexp(x, 1, True) if is_recording() else x - top - total)
    true = each * (1 - smoothing) if smoothing else each
    d = share * each - spread(true, target.reshape(-1, 1), n)
    return [d - each * (smoothing / n) if smoothing else d]


def cross_entropy(
    logits: ArrayLike,
    target: ArrayLike,
    axis: int | None = None,
    *,
    label_smoothing: float = 0.0,
    reduction: str = "mean",
    ignore_index: int = -100,
) -> NDArray:
    """-log of the softmax of ``logits`` at the true classes, or its mean under probabilities.

    Args:
        logits: an array (n, c, ...).
        target: integers (n, ...) from 0 to c - 1, or an array of the logits' shape, of
            probabilities.
        axis: the axis of the classes; None: the second one, the only one of a vector.
        label_smoothing: the share of all classes, in equal parts, that is mixed in (Szegedy et al.
            2016).
        reduction: "mean" over those that count, "sum", or "none".
        ignore_index: integers equal to it count nothing.
    Returns: an array without axes; for "none" (n, ...).
    Raises: ValueError for shapes that don't fit, or another ``reduction``; IndexError at the wait
        for a class that there is not; TypeError unless the logits are floats.

    >>> import lazyarray as la
    >>> la.nn.cross_entropy([[0.0, 0.0], [0.0, 100.0]], [0, 1]).item()
    0.34657359027997264
    """
    if not 0 <= label_smoothing <= 1:
        raise ValueError(f"cross_entropy: label_smoothing is from 0 to 1, not {label_smoothing}")
    known(reduction)
    x, dtype = floats("cross_entropy", logits)
    (target,) = operands(x, target)[1:]
    if target.dtype.kind == "f":
        return narrowed(_soft(x, target, axis, label_smoothing, reduction), dtype)
    target = integers("cross_entropy", target)
    rows, shape = _as_rows("cross_entropy", x, target, axis)
    y = _cross_entropy(rows, target.reshape(-1), label_smoothing, reduction, ignore_index)
    return narrowed(y if reduction != "none" or y.shape == shape else y.reshape(shape), dtype)


def _soft(x: NDArray, target: Any, axis: int | None, smoothing: float, reduction: str) -> NDArray:
    """cross_entropy with probabilities."""
    if target.shape != x.shape or x.ndim == 0:
        raise ValueError(
            f"cross_entropy: logits of shape {x.shape} take probabilities of that shape, or "
            f"classes as integers; the target is {target.dtype} of shape {target.shape}"
        )
    axis = min(1, x.ndim - 1) if axis is None else normalize_axis_index(axis, x.ndim)
    if smoothing:
        target = target * (1 - smoothing) + smoothing / x.shape[axis]
    losses = -(log_softmax(x, axis) * target).sum(axis=axis)
    return reduced(losses, reduction)


# ---- numbers ------------------------------------------------------------------------------------


def _both(name: str, input: Any, target: Any) -> tuple[Any, Any, Any]:
    """Two arrays of floats of one shape, and the result's dtype."""
    x, t, dtype = floats(name, input, target)
    if x.shape != t.shape:
        raise ValueError(f"{name}: input of shape {x.shape}, but target of shape {t.shape}")
    return x, t, dtype


def mse_loss(input: ArrayLike, target: ArrayLike, reduction: str = "mean") -> NDArray:
    """(input - target)^2. Both are of one shape.

    Args:
        input: an array of floats.
        target: an array of the same shape.
        reduction: "mean", "sum", or "none".
    Returns: an array without axes; for "none" of input's shape.
    Raises: ValueError for different shapes, or another ``reduction``; TypeError for integers.

    >>> import lazyarray as la
    >>> la.nn.mse_loss([1.0, 2.0], [1.0, 4.0]).item()
    2.0
    """
    x, t, dtype = _both("mse_loss", input, target)
    return narrowed(reduced(op.square(x - t), known(reduction)), dtype)


def l1_loss(input: ArrayLike, target: ArrayLike, reduction: str = "mean") -> NDArray:
    """abs(input - target). Both are of one shape.

    Args:
        input: an array of floats.
        target: an array of the same shape.
        reduction: "mean", "sum", or "none".
    Returns: an array without axes; for "none" of input's shape.
    Raises: ValueError for different shapes, or another ``reduction``; TypeError for integers.

    >>> import lazyarray as la
    >>> la.nn.l1_loss([1.0, 2.0], [1.0, 4.0]).item()
    1.0
    """
    x, t, dtype = _both("l1_loss", input, target)
    return narrowed(reduced(_abs(x - t), known(reduction)), dtype)


def huber_loss(
    input: ArrayLike, target: ArrayLike, reduction: str = "mean", delta: float = 1.0
) -> NDArray:
    """d^2 / 2 for d = abs(input - target) up to delta, delta (d - delta / 2) beyond (Huber 1964).

    Args:
        input: an array of floats.
        target: an array of the same shape.
        reduction: "mean", "sum", or "none".
        delta: up to where it is a square.
    Returns: an array without axes; for "none" of input's shape.
    Raises: ValueError for different shapes, another ``reduction``, or a delta that is not positive;
        TypeError for integers.

    >>> import lazyarray as la
    >>> la.nn.huber_loss([1.0, 2.0], [1.5, 5.0], "none").asnumpy()
    array([0.125, 2.5  ])
    """
    if delta <= 0:
        raise ValueError(f"huber_loss: delta is positive, not {delta}")
    x, t, dtype = _both("huber_loss", input, target)
    d = _abs(x - t)
    near = _minimum(d, delta)
    return narrowed(reduced(near * (d - near * 0.5), known(reduction)), dtype)


def smooth_l1_loss(
    input: ArrayLike, target: ArrayLike, reduction: str = "mean", beta: float = 1.0
) -> NDArray:
    """huber_loss / beta: d^2 / (2 beta) up to beta, d - beta / 2 beyond (Girshick 2015).

    Args:
        input: an array of floats.
        target: an array of the same shape.
        reduction: "mean", "sum", or "none".
        beta: up to where it is a square.
    Returns: an array without axes; for "none" of input's shape.
    Raises: ValueError for different shapes, another ``reduction``, or a negative beta; TypeError
        for integers.

    >>> import lazyarray as la
    >>> la.nn.smooth_l1_loss([1.0, 2.0], [1.5, 5.0], "none").asnumpy()
    array([0.125, 2.5  ])
    """
    if beta < 0:
        raise ValueError(f"smooth_l1_loss: beta is not negative, as {beta} is")
    if beta == 0:
        return l1_loss(input, target, reduction)
    return huber_loss(input, target, reduction, beta) * (1 / beta)


def _floored_log(x: Any) -> Any:
    """log(x), but -100 where it would be less."""
    none = _less_equal(x, 0)
    return _maximum(select(none, -100.0, _log(select(none, 1.0, x))), -100.0)


def _spread(x: Any) -> Any:
    """x (1 - x), and 1e-12 where that is 0, as PyTorch has it: it divides a gradient.

    Nothing less than exp(-100), from where on the loss is flat, or than what has an inverse.
    """
    d = x * (1 - x)
    least = max(4 * float(np.finfo(x.dtype).tiny), math.exp(-100))
    return select(_less_equal(d, 0), 1e-12, _maximum(d, least))


@differentiable(
    x=lambda g, x, t: g * (x - t) / _spread(x),
    t=lambda g, x: g * (_floored_log(1 - x) - _floored_log(x)),
)
def _binary(x: Any, t: Any) -> Any:
    return (t - 1) * _floored_log(1 - x) - t * _floored_log(x)


def binary_cross_entropy(input: ArrayLike, target: ArrayLike, reduction: str = "mean") -> NDArray:
    """-(target log(input) + (1 - target) log(1 - input)); no logarithm is taken below -100.

    Args:
        input: probabilities.
        target: probabilities, of the same shape.
        reduction: "mean", "sum", or "none".
    Returns: an array without axes; for "none" of input's shape.
    Raises: ValueError for different shapes, or another ``reduction``; TypeError for integers.

    >>> import lazyarray as la
    >>> la.nn.binary_cross_entropy([0.5, 0.0], [1.0, 0.0], "none").asnumpy()
    array([0.69314718, 0.        ])
    """
    x, t, dtype = _both("binary_cross_entropy", input, target)
    return narrowed(reduced(_binary(x, t), known(reduction)), dtype)


@differentiable(x=lambda g, x, t: g * (sigmoid(x) - t), t=lambda g, x: -g * x)
def _binary_logits(x: Any, t: Any) -> Any:
    return _maximum(x, 0) - x * t + _log1p(_exp(-_abs(x)))


def binary_cross_entropy_with_logits(
    input: ArrayLike, target: ArrayLike, reduction: str = "mean"
) -> NDArray:
    """binary_cross_entropy(sigmoid(input), target), without overflow.

    Args:
        input: an array of floats.
        target: probabilities, of the same shape.
        reduction: "mean", "sum", or "none".
    Returns: an array without axes; for "none" of input's shape.
    Raises: ValueError for different shapes, or another ``reduction``; TypeError for integers.

    >>> import lazyarray as la
    >>> la.nn.binary_cross_entropy_with_logits([0.0, -1000.0], [1.0, 0.0], "none").asnumpy()
    array([0.69314718, 0.        ])
    """
    x, t, dtype = _both("binary_cross_entropy_with_logits", input, target)
    return narrowed(reduced(_binary_logits(x, t), known(reduction)), dtype)
