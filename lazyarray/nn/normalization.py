"""Normalisation over batches, layers and groups: one rule for all, over different axes."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from lazyarray.functions.conversion import ascontiguousarray
from lazyarray.lazy._lazy import (
    Tensor,
    is_recording,
    is_training,
    note_call,
    note_constant,
    paused,
    tracked,
)
from lazyarray.nn.inputs import channel_sums, floats, listed, narrowed
from lazyarray.ops import names as op
from lazyarray.ops._layout import device_of
from lazyarray.ops._rows import asarray

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, ShapeLike

__all__ = ["batch_norm", "layer_norm", "group_norm"]

Sums = Callable[[Any], Any]

_sum, _sqrt = op.sum, op.sqrt


def _moments(x: Any, sums: Sums, count: int) -> tuple[Any, Any]:
    """Mean and variance, by two passes: the difference of large sums would cancel."""
    mean = sums(x) * (1 / count)
    d = x - mean
    return mean, sums(d * d) * (1 / count)


def _scale(variance: Any, eps: float) -> Any:
    return 1 / _sqrt(variance + eps)


def _gradient(
    sums: Sums,
    weight_sums: Sums,
    count: int,
    eps: float,
    wanted: tuple[bool, bool, bool],
    gradients: list[Any],
    saved: list[Any],
) -> list[Any]:
    """Ioffe, Szegedy (2015), section 3, for whichever axes are summed over."""
    g = gradients[0]
    x, mean, scale = saved[:3]
    weight = saved[3] if len(saved) > 3 else None
    if is_recording():  # the gradient's own gradient goes by way of the moments, too
        mean, variance = _moments(x, sums, count)
        scale = _scale(variance, eps)
    normal = (x - mean) * scale
    found: list[Any] = [None, None, None]
    whole = weight_sums is sums
    of_weight: Any = weight_sums(g * normal) if wanted[1] or (wanted[0] and whole) else None
    of_bias: Any = weight_sums(g) if wanted[2] or (wanted[0] and whole) else None
    if wanted[0]:
        if whole:
            d = g - of_bias * (1 / count) - normal * (of_weight * (1 / count))
            found[0] = d * (scale if weight is None else scale * weight)
        else:
            g = g if weight is None else g * weight
            d = g - sums(g) * (1 / count) - normal * (sums(g * normal) * (1 / count))
            found[0] = d * scale
    if wanted[1]:
        found[1] = of_weight
    if wanted[2]:
        found[2] = of_bias
    return found


def _normalized(
    name: str,
    x: Any,
    weight: Any,
    bias: Any,
    sums: Sums,
    weight_sums: Sums,
    count: int,
    eps: float,
) -> tuple[Any, Any, Any]:
    """(x - mean) / sqrt(variance + eps) * weight + bias, the mean and the variance.

    One call for autograd. ``sums`` adds over what shares a mean, ``weight_sums`` over what shares a
    weight; both keep the axes.
    """
    with paused():
        mean, variance = _moments(x, sums, count)
        scale = _scale(variance, eps)
        y = (x - mean) * (scale if weight is None else scale * weight)
        if bias is not None:
            y = y + bias
    wanted = (tracked(x), tracked(weight), tracked(bias))
    saved = [x, mean, scale] + ([weight] if weight is not None and wanted[0] else [])
    rule = partial(_gradient, sums, weight_sums, count, eps, wanted)
    note_call(name, rule, [x, weight, bias], [y], saved)
    return y, mean, variance


# ---- batches ------------------------------------------------------------------------------------


def _per_channel(name: str, x: NDArray, *arrays: Any) -> list[Any]:
    """Vectors of a number for each channel, as they broadcast with x (n, c, ...)."""
    for a in arrays:
        if a is not None and a.shape != x.shape[1:2]:
            raise ValueError(
                f"{name}: input of shape {x.shape} has {x.shape[1]} channels, but a parameter is "
                f"of shape {a.shape}"
            )
    kept = (1, x.shape[1], *(1,) * (x.ndim - 2))
    return [None if a is None else a.reshape(kept) for a in arrays]


def batch_norm(
    x: ArrayLike,
    running_mean: ArrayLike | None = None,
    running_var: ArrayLike | None = None,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    training: bool | None = None,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> NDArray:
    """x (n, c, ...) with mean 0 and variance 1 in each channel, times weight (c) plus bias (c).

    Ioffe, Szegedy (2015). In training mean and variance are the batch's, and the running ones are
    updated in place: multiplied by 1 - ``momentum``, plus ``momentum`` times the batch's (the
    variance's unbiased estimate, as in PyTorch). Otherwise they are the running ones.

    Args:
        x: an array (n, c, ...) of floats.
        running_mean: a vector (c,), or None.
        running_var: a vector (c,), or None.
        weight: what each channel is multiplied by, a vector (c,), or None.
        bias: what is added then, a vector (c,), or None.
        training: whether it trains; None: ``la.autograd.is_training()``.
        momentum: the share of the batch's.
        eps: what is added to the variance.
    Returns: an array of x's shape.
    Raises: ValueError for shapes that don't fit, for less than two numbers a channel, and without
        running ones when not in training; TypeError unless x is of floats.

    >>> import lazyarray as la
    >>> x = la.array([[1.0, 5.0], [3.0, 5.0]])
    >>> mean, var = la.zeros(2), la.ones(2)
    >>> y = la.nn.batch_norm(x, mean, var, training=True)
    >>> y.asnumpy().round(2), mean.asnumpy()
    (array([[-1.,  0.],
           [ 1.,  0.]]), array([0.2, 0.5]))
    """
    x = asarray(x, device_of(x, running_mean, running_var, weight, bias))
    x, weight, bias, dtype = floats("batch_norm", x, optional=(weight, bias))
    if x.ndim < 2:
        raise ValueError(f"batch_norm: input (n, channels, ...), not shape {x.shape}")
    training = is_training() if training is None else training
    for r in (running_mean, running_var) if training else ():
        if r is not None and not isinstance(r, Tensor):
            raise TypeError(f"batch_norm writes to running means, which are no {type(r).__name__}")
        if r is not None and r.dtype.kind != "f":
            raise TypeError(f"batch_norm writes to running means of floats, not of {r.dtype}")
        if r is not None and not r.flags.writeable:
            raise ValueError("batch_norm writes to running means, and one is read-only")
        if r is not None and r.device != x.device:
            raise ValueError(f"batch_norm: running means on {r.device!r}, and x on {x.device!r}")
    given = [None if r is None else asarray(r, x.device) for r in (running_mean, running_var)]
    running = _per_channel("batch_norm", x, *given)
    weight, bias = _per_channel("batch_norm", x, weight, bias)
    if not training:
        if running_mean is None or running_var is None:
            raise ValueError("batch_norm: without training it needs running_mean and running_var")
        mean, variance = [r if r.dtype == x.dtype else r.astype(x.dtype) for r in running]
        scale = _scale(variance, eps)
        y = (x - mean) * (scale if weight is None else scale * weight)
        return narrowed(y if bias is None else y + bias, dtype)
    count = x.size // x.shape[1] if x.shape[1] else 0
    if count < 2:
        raise ValueError(
            f"batch_norm: less than two numbers a channel in a batch of shape {x.shape}"
        )
    y, mean, variance = _normalized(
        "batch_norm", x, weight, bias, channel_sums, channel_sums, count, eps
    )
    with paused():
        if running_mean is not None:
            _move(running_mean, mean, momentum)
        if running_var is not None:
            _move(running_var, variance, momentum, count / (count - 1))
    return narrowed(y, dtype)


def _move(running: Any, seen: Any, momentum: float, factor: float = 1.0) -> None:
    running *= 1 - momentum
    running += seen.reshape(-1) * (momentum * factor)


# ---- layers and groups --------------------------------------------------------------------------


def layer_norm(
    x: ArrayLike,
    normalized_shape: ShapeLike,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    eps: float = 1e-5,
) -> NDArray:
    """Arrays with mean 0 and variance 1 over their last axes (Ba et al. 2016).

    Args:
        x: an array of floats.
        normalized_shape: the lengths of these axes; an integer is a shape of one axis.
        weight: what it is multiplied by, of that shape, or None.
        bias: what is added then, of that shape, or None.
        eps: what is added to the variance.
    Returns: an array of x's shape.
    Raises: ValueError for shapes that don't fit; TypeError unless x is of floats.

    >>> import lazyarray as la
    >>> la.nn.layer_norm(la.array([[1.0, 3.0], [5.0, 5.0]]), 2, eps=0.01).asnumpy().round(2)
    array([[-1.,  1.],
           [ 0.,  0.]])
    """
    x, weight, bias, dtype = floats("layer_norm", x, optional=(weight, bias))
    whole: Any = listed(normalized_shape)
    shape = tuple(map(operator.index, whole if isinstance(whole, tuple) else (whole,)))
    axes = len(shape)
    if not shape or x.shape[-axes:] != shape or x.ndim < axes:
        raise ValueError(f"layer_norm: input of shape {x.shape} doesn't end with {shape}")
    for p in (weight, bias):
        if p is not None and p.shape != shape:
            raise ValueError(f"layer_norm: a parameter of shape {p.shape} for layers of {shape}")
    count = math.prod(shape)
    if x.size == 0:
        return narrowed(_of_nothing(x, weight, bias), dtype)
    rows = ascontiguousarray(x).reshape(-1, count)
    weight, bias = [p if p is None else p.reshape(1, count) for p in (weight, bias)]
    y = _normalized("layer_norm", rows, weight, bias, _row_sums, _column_sums, count, eps)[0]
    return narrowed(y.reshape(x.shape), dtype)


def _of_nothing(x: Any, *parameters: Any) -> Any:
    """The result for an x without elements, which has the parameters' gradients: zeros."""
    y = x * 1
    note_constant(parameters, [y])
    return y


def _row_sums(x: Any) -> Any:
    return _sum(x, 1, None, None, True)


def _column_sums(x: Any) -> Any:
    return _sum(x, 0, None, None, True)


def group_norm(
    x: ArrayLike,
    num_groups: int,
    weight: ArrayLike | None = None,
    bias: ArrayLike | None = None,
    eps: float = 1e-5,
) -> NDArray:
    """x (n, c, ...) with mean 0 and variance 1 over each group of an image's channels.

    Wu, He (2018).

    Args:
        x: an array (n, c, ...) of floats.
        num_groups: how many groups.
        weight: what each channel is multiplied by, a vector (c,), or None.
        bias: what is added then, a vector (c,), or None.
        eps: what is added to the variance.
    Returns: an array of x's shape.
    Raises: ValueError for shapes that don't fit; TypeError unless x is of floats.

    >>> import lazyarray as la
    >>> la.nn.group_norm(la.array([[1.0, 3.0, 5.0, 5.0]]), 2, eps=0.01).asnumpy().round(2)
    array([[-1.,  1.,  0.,  0.]])
    """
    x, weight, bias, dtype = floats("group_norm", x, optional=(weight, bias))
    if x.ndim < 2 or num_groups < 1 or x.shape[1] % num_groups:
        raise ValueError(
            f"group_norm: {num_groups} groups of the channels of an input of shape {x.shape}"
        )
    _per_channel("group_norm", x, weight, bias)
    n, c = x.shape[:2]
    if x.size == 0:
        return narrowed(_of_nothing(x, weight, bias), dtype)
    each = c // num_groups
    groups = ascontiguousarray(x).reshape(n, num_groups, each, x.size // (n * c))
    weight, bias = [p if p is None else p.reshape(1, num_groups, each, 1) for p in (weight, bias)]
    count = each * groups.shape[3]
    y = _normalized("group_norm", groups, weight, bias, _group_sums, _image_sums, count, eps)[0]
    return narrowed(y.reshape(x.shape), dtype)


def _group_sums(x: Any) -> Any:
    return _sum(x, (2, 3), None, None, True)


def _image_sums(x: Any) -> Any:
    return _sum(_sum(x, 3, None, None, True), 0, None, None, True)
