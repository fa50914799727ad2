"""Pooling: maxima and means of windows."""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.functions.joining import stack
from lazyarray.lazy._lazy import note_call, paused
from lazyarray.nn import _native
from lazyarray.nn.choices import spread
from lazyarray.nn.convolution import unfold
from lazyarray.nn.geometry import Windows, windows
from lazyarray.nn.inputs import channels_first, floats, narrowed, pair
from lazyarray.ops import names as op
from lazyarray.ops._rows import array, select

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, ShapeLike

__all__ = [
    "max_pool1d",
    "max_pool2d",
    "avg_pool1d",
    "avg_pool2d",
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "global_avg_pool",
]

_sum: Any = op.sum
_WIDE = 7  # from so many columns on windows side by side are added up where they lie


def _images(name: str, x: NDArray, axes: int) -> tuple[NDArray, bool]:
    """x as images (n, c, h, w), and whether it was a single one."""
    single = x.ndim == axes + 1
    if not single and x.ndim != axes + 2:
        raise ValueError(
            f"{name}: input (n, channels, {'h, ' * (axes - 1)}w) or one without n, not shape "
            f"{x.shape}"
        )
    x = x[None] if single else x
    return (x if axes == 2 else x[:, :, None]), single


def _pooled(
    name: str,
    axes: int,
    pool: Any,
    x: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
) -> NDArray:
    """``pool(planes, windows)`` of planes (b, h, w) of x, whatever their order in memory."""
    x, dtype = floats(name, x)
    x, single = _images(name, x, axes)
    geometry = windows(name, x.shape[2:], kernel_size, stride, padding, dilation, axes)
    for k, p in zip(geometry.kernel, geometry.padding, strict=True):
        if p > k // 2:
            raise ValueError(f"{name}: a padding of {padding} is more than half of {kernel_size}")
    n, c, h, w = x.shape
    first = channels_first(x)
    y = pool((x.swapaxes(0, 1) if first else x).reshape(n * c, h, w), geometry)
    shape = geometry.shape if axes == 2 else geometry.shape[1:]
    y = y.reshape(c, n, *shape).swapaxes(0, 1) if first else y.reshape(n, c, *shape)
    y = narrowed(y, dtype)
    return y[0] if single else y


# ---- maxima -------------------------------------------------------------------------------------


def _max_gradient(plane: tuple[int, ...], gradients: list[Any], saved: list[Any]) -> Any:
    (places,) = saved
    b, oh, ow = places.shape
    g, index = gradients[0].reshape(b, oh * ow), places.reshape(b, oh * ow)
    return [spread(g, index, plane[0] * plane[1]).reshape(b, *plane)]


def _maxima(x: NDArray, geometry: Windows) -> NDArray:
    with paused():
        values, places = _native.maxima(x, geometry)
    note_call("max_pool", partial(_max_gradient, x.shape[1:]), [x], [values], [places])
    return values


def max_pool2d(
    x: ArrayLike,
    kernel_size: ShapeLike,
    stride: ShapeLike | None = None,
    padding: ShapeLike = 0,
    dilation: ShapeLike = 1,
) -> NDArray:
    """The maxima of windows of images (n, c, h, w) or (c, h, w).

    What ``padding`` adds is never the maximum. NaN in a window is its maximum. The gradient goes to
    the first of several maxima.

    Args:
        x: images (n, c, h, w), or one (c, h, w).
        kernel_size: how large a window is: a number, or (rows, columns).
        stride: the distance of windows; None: ``kernel_size``.
        padding: what is added on each side, at most half of a window.
        dilation: the distance of a window's elements.
    Returns: an array (n, c, oh, ow).
    Raises: ValueError for shapes that don't fit; TypeError unless x is of floats.

    >>> import lazyarray as la
    >>> la.nn.max_pool2d(la.arange(16.0).reshape(1, 4, 4), 2).asnumpy()
    array([[[ 5.,  7.],
            [13., 15.]]])
    """
    return _pooled("max_pool2d", 2, _maxima, x, kernel_size, stride, padding, dilation)


def max_pool1d(
    x: ArrayLike,
    kernel_size: ShapeLike,
    stride: ShapeLike | None = None,
    padding: ShapeLike = 0,
    dilation: ShapeLike = 1,
) -> NDArray:
    """The maxima of windows of sequences (n, c, w) or (c, w); see :func:`max_pool2d`.

    Args:
        x: sequences (n, c, w), or one (c, w).
        kernel_size: how long a window is.
        stride: the distance of windows; None: ``kernel_size``.
        padding: what is added on each side, at most half of a window.
        dilation: the distance of a window's elements.
    Returns: an array (n, c, ow).
    Raises: ValueError for shapes that don't fit; TypeError unless x is of floats.

    >>> import lazyarray as la
    >>> la.nn.max_pool1d(la.arange(6.0).reshape(1, 6), 2).asnumpy()
    array([[1., 3., 5.]])
    """
    return _pooled("max_pool1d", 1, _maxima, x, kernel_size, stride, padding, dilation)


# ---- means --------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def _shares(geometry: Windows, plane: tuple[int, int]) -> np.ndarray:
    """1 / (how many elements of each window are on the plane)."""
    met = []
    for n, k, s, p, many in zip(
        plane, geometry.kernel, geometry.stride, geometry.padding, geometry.shape, strict=True
    ):
        start = np.arange(many) * s - p
        met.append(np.minimum(start + k, n) - np.maximum(start, 0))
    return 1 / np.multiply.outer(*met)


def _means(inclusive: bool, x: NDArray, geometry: Windows) -> NDArray:
    b, h, w = x.shape
    (oh, ow), (kh, kw) = geometry.shape, geometry.kernel
    if kw >= _WIDE and geometry.stride == geometry.kernel and geometry.padding == (0, 0):
        x = x[:, : oh * kh, : ow * kw]
        if oh == ow == 1:
            return _sum(x.reshape(b, kh * kw), 1).reshape(b, 1, 1) * (1 / (kh * kw))
        return _sum(_sum(x.reshape(b, oh, kh, ow, kw), 4), 2) * (1 / (kh * kw))
    total = _sum(unfold(x[:, None], geometry, (b, 1, h, w), False), 0).reshape(b, *geometry.shape)
    if inclusive or geometry.padding == (0, 0):
        return total * (1 / (geometry.kernel[0] * geometry.kernel[1]))
    return total * array(_shares(geometry, (h, w)), x.dtype, x.device)


def avg_pool2d(
    x: ArrayLike,
    kernel_size: ShapeLike,
    stride: ShapeLike | None = None,
    padding: ShapeLike = 0,
    *,
    count_include_pad: bool = True,
) -> NDArray:
    """The means of windows of images (n, c, h, w) or (c, h, w).

    Args:
        x: images (n, c, h, w), or one (c, h, w).
        kernel_size: how large a window is: a number, or (rows, columns).
        stride: the distance of windows; None: ``kernel_size``.
        padding: zeros on each side, at most half of a window.
        count_include_pad: whether these zeros count as elements.
    Returns: an array (n, c, oh, ow).
    Raises: ValueError for shapes that don't fit; TypeError unless x is of floats.

    >>> import lazyarray as la
    >>> la.nn.avg_pool2d(la.arange(16.0).reshape(1, 4, 4), 2).asnumpy()
    array([[[ 2.5,  4.5],
            [10.5, 12.5]]])
    """
    pool = partial(_means, count_include_pad)
    return _pooled("avg_pool2d", 2, pool, x, kernel_size, stride, padding, 1)


def avg_pool1d(
    x: ArrayLike,
    kernel_size: ShapeLike,
    stride: ShapeLike | None = None,
    padding: ShapeLike = 0,
    *,
    count_include_pad: bool = True,
) -> NDArray:
    """The means of windows of sequences (n, c, w) or (c, w); see :func:`avg_pool2d`.

    Args:
        x: sequences (n, c, w), or one (c, w).
        kernel_size: how long a window is.
        stride: the distance of windows; None: ``kernel_size``.
        padding: zeros on each side, at most half of a window.
        count_include_pad: whether these zeros count as elements.
    Returns: an array (n, c, ow).
    Raises: ValueError for shapes that don't fit; TypeError unless x is of floats.

    >>> import lazyarray as la
    >>> la.nn.avg_pool1d(la.arange(6.0).reshape(1, 6), 2).asnumpy()
    array([[0.5, 2.5, 4.5]])
    """
    pool = partial(_means, count_include_pad)
    return _pooled("avg_pool1d", 1, pool, x, kernel_size, stride, padding, 1)


def _binned(x: NDArray, axis: int, n: int, count: int) -> NDArray:
    """The means along an axis of n elements in `count` bins, which may overlap.

    Not by a product with 0 and 1: a bin has nothing to do with an infinity in another one.
    """
    start = np.arange(count) * n // count
    length = -(-np.arange(1, count + 1) * n // count) - start
    kept = [1] * x.ndim
    kept[axis] = count
    short = int(length.min())  # the others are one longer
    if short > count:
        every = slice(None)
        bins = [
            x[(*[every] * axis, slice(first, first + many))].sum(axis=axis)
            for first, many in zip(start.tolist(), length.tolist(), strict=True)
        ]
        total = stack(bins, axis)
    else:
        total = x.take(start, axis)
        for i in range(1, short):
            total = total + x.take(start + i, axis)
        if short < length.max():
            last = x.take(np.minimum(start + short, n - 1), axis)
            longer = array(length > short, None, x.device).reshape(kept)
            total = total + select(longer, last, 0)
    return total / array(length, x.dtype, x.device).reshape(kept)


def _adaptive(name: str, axes: int, x: Any, output_size: Any) -> NDArray:
    x, dtype = floats(name, x)
    _images(name, x, axes)
    sizes = pair(name, "output_size", output_size, axes, 1)[2 - axes :]
    plane = x.shape[-axes:]
    if 0 in plane:
        raise ValueError(f"{name}: planes without elements in an input of shape {x.shape}")
    if all(n % m == 0 for n, m in zip(plane, sizes, strict=True)):
        kernel = tuple([n // m for n, m in zip(plane, sizes, strict=True)])
        return narrowed((avg_pool2d if axes == 2 else avg_pool1d)(x, kernel), dtype)
    for axis, (n, m) in enumerate(zip(plane, sizes, strict=True), x.ndim - axes):
        x = _binned(x, axis, n, m)
    return narrowed(x, dtype)


def adaptive_avg_pool2d(x: ArrayLike, output_size: ShapeLike) -> NDArray:
    """Means over bins of images.

    Bin i of h is rows i H // h up to (i + 1) H / h, rounded up; bins overlap where h doesn't divide
    H.

    Args:
        x: images (n, c, H, W), or one (c, H, W).
        output_size: how many bins: a number, or (h, w).
    Returns: an array (n, c, h, w).
    Raises: ValueError for shapes that don't fit; TypeError unless x is of floats.

    >>> import lazyarray as la
    >>> la.nn.adaptive_avg_pool2d(la.arange(9.0).reshape(1, 3, 3), 2).asnumpy()
    array([[[2., 3.],
            [5., 6.]]])
    """
    return _adaptive("adaptive_avg_pool2d", 2, x, output_size)


def adaptive_avg_pool1d(x: ArrayLike, output_size: ShapeLike) -> NDArray:
    """Means over bins of sequences (n, c, W) or (c, W); see :func:`adaptive_avg_pool2d`.

    Args:
        x: sequences (n, c, W), or one (c, W).
        output_size: how many bins.
    Returns: an array (n, c, w).
    Raises: ValueError for shapes that don't fit; TypeError unless x is of floats.

    >>> import lazyarray as la
    >>> la.nn.adaptive_avg_pool1d(la.arange(5.0).reshape(1, 5), 2).asnumpy()
    array([[1., 3.]])
    """
    return _adaptive("adaptive_avg_pool1d", 1, x, output_size)


def global_avg_pool(x: ArrayLike) -> NDArray:
    """The means of each channel.

    Args:
        x: an array (n, c, ...).
    Returns: an array (n, c).
    Raises: ValueError for fewer than two axes; TypeError unless x is of floats.

    >>> import lazyarray as la
    >>> la.nn.global_avg_pool(la.arange(8.0).reshape(1, 2, 2, 2)).asnumpy()
    array([[1.5, 5.5]])
    """
    x, dtype = floats("global_avg_pool", x)
    if x.ndim < 3 or 0 in x.shape[2:]:
        raise ValueError(f"global_avg_pool: input (n, channels, ...), not shape {x.shape}")
    n, c = x.shape[:2]
    size = math.prod(x.shape[2:])
    if channels_first(x):
        y = _sum(x.swapaxes(0, 1).reshape(c, n, size), 2).T
    else:
        y = _sum(x.reshape(n, c, size), 2)
    return narrowed(y * (1 / size), dtype)
