"""Initial weights, drawn from the devices' streams (``la.random.seed``)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.random.devices import newer_here

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import DTypeLike

__all__ = ["xavier_uniform", "xavier_normal", "kaiming_uniform", "kaiming_normal"]


def _fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """How many inputs and outputs a unit of a weight (out, in, ...) has."""
    if len(shape) < 2:
        raise ValueError(f"initial weights have two axes (out, in, ...) or more, not shape {shape}")
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def _fan(shape: tuple[int, ...], mode: str) -> int:
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"mode is 'fan_in' or 'fan_out', not {mode!r}")
    return max(_fans(shape)[mode == "fan_out"], 1)


def _uniform(shape: tuple[int, ...], bound: float, dtype: Any) -> NDArray:
    return _drawn("random", shape, dtype) * (2 * bound) - bound


def _drawn(name: str, shape: tuple[int, ...], dtype: Any) -> NDArray:
    dtype = np.dtype(dtype)
    if dtype.kind != "f":
        raise TypeError(f"initial weights are floats, not of {dtype}")
    stream = dtype if dtype in (np.float32, np.float64) else np.dtype(np.float64)
    return getattr(newer_here(), name)(shape, stream).astype(dtype, copy=False)


def xavier_uniform(
    shape: tuple[int, ...], gain: float = 1.0, dtype: DTypeLike = "float32"
) -> NDArray:
    """Weights (out, in, ...), uniform within gain sqrt(6 / (fan in + fan out)).

    Glorot, Bengio (2010).

    Args:
        shape: the lengths (out, in, ...), two at least.
        gain: a factor.
        dtype: a dtype of floats.
    Returns: an array of that shape.
    Raises: ValueError for fewer axes; TypeError for another dtype.

    >>> import lazyarray as la
    >>> bool((abs(la.nn.xavier_uniform((3, 3))) <= 1).all())
    True
    """
    bound = gain * math.sqrt(6 / max(sum(_fans(shape)), 1))
    return _uniform(shape, bound, dtype)


def xavier_normal(
    shape: tuple[int, ...], gain: float = 1.0, dtype: DTypeLike = "float32"
) -> NDArray:
    """Normal weights (out, in, ...) of deviation gain sqrt(2 / (fan in + fan out)).

    Glorot, Bengio (2010).

    Args:
        shape: the lengths (out, in, ...), two at least.
        gain: a factor.
        dtype: a dtype of floats.
    Returns: an array of that shape.
    Raises: ValueError for fewer axes; TypeError for another dtype.

    >>> import lazyarray as la
    >>> la.nn.xavier_normal((2, 3)).shape
    (2, 3)
    """
    deviation = gain * math.sqrt(2 / max(sum(_fans(shape)), 1))
    return _drawn("standard_normal", shape, dtype) * deviation


def kaiming_uniform(
    shape: tuple[int, ...],
    gain: float = math.sqrt(2),
    mode: str = "fan_in",
    dtype: DTypeLike = "float32",
) -> NDArray:
    """Weights (out, in, ...), uniform within gain sqrt(3 / fan) (He et al. 2015).

    The default gain is for ReLU.

    Args:
        shape: the lengths (out, in, ...), two at least.
        gain: a factor.
        mode: which fan: "fan_in" or "fan_out".
        dtype: a dtype of floats.
    Returns: an array of that shape.
    Raises: ValueError for fewer axes, or another ``mode``; TypeError for another dtype.

    >>> import lazyarray as la
    >>> la.nn.kaiming_uniform((8, 3, 5, 5)).dtype
    dtype('float32')
    """
    return _uniform(shape, gain * math.sqrt(3 / _fan(shape, mode)), dtype)


def kaiming_normal(
    shape: tuple[int, ...],
    gain: float = math.sqrt(2),
    mode: str = "fan_in",
    dtype: DTypeLike = "float32",
) -> NDArray:
    """Normal weights (out, in, ...) of deviation gain / sqrt(fan) (He et al. 2015).

    Args:
        shape: the lengths (out, in, ...), two at least.
        gain: a factor.
        mode: which fan: "fan_in" or "fan_out".
        dtype: a dtype of floats.
    Returns: an array of that shape.
    Raises: ValueError for fewer axes, or another ``mode``; TypeError for another dtype.

    >>> import lazyarray as la
    >>> la.nn.kaiming_normal((4, 3), dtype="float64").dtype
    dtype('float64')
    """
    deviation = gain / math.sqrt(_fan(shape, mode))
    return _drawn("standard_normal", shape, dtype) * deviation
