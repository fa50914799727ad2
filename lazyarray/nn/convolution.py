"""Convolutions: windows as columns, by a native loop, and one matrix product for all images.

The columns' order (Chellapilla et al. 2006; cuDNN's) is (channel, row, column of the window; image,
window), so that the product is (out channel; image, window): the result lies in memory by channels
first. Elementwise functions keep that order, and pooling, batch norm and the next convolution take
it as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lazyarray.nn import _native
from lazyarray.nn.geometry import Windows, windows
from lazyarray.nn.inputs import channels_first, floats, narrowed
from lazyarray.ops._differentiable import differentiable

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, ShapeLike

__all__ = ["conv1d", "conv2d"]


def _unfold_gradient(g: Any, geometry: Windows, shape: tuple[int, ...], first: bool) -> Any:
    return fold(g, geometry, shape, first)


@differentiable(x=_unfold_gradient)
def unfold(x: NDArray, geometry: Windows, shape: tuple[int, ...], first: bool) -> NDArray:
    """The windows of x (n, c, h, w) as columns (c * elements of a window, n * windows).

    ``shape`` is x's, and ``first`` whether x lies by channels first: so will its gradient.
    """
    return _native.unfold(x, geometry)


@differentiable(columns=lambda g, geometry, shape, first: unfold(g, geometry, shape, first))
def fold(columns: NDArray, geometry: Windows, shape: tuple[int, ...], first: bool) -> NDArray:
    """The adjoint of `unfold`: sums over an element's places in windows."""
    return _native.fold(columns, geometry, shape, first)


def _columns(x: NDArray, geometry: Windows) -> NDArray:
    whole = geometry.kernel == (1, 1) and geometry.stride == (1, 1) and geometry.padding == (0, 0)
    if whole:
        return x.swapaxes(0, 1).reshape(x.shape[1], x.shape[0] * x.shape[2] * x.shape[3])
    return unfold(x, geometry, x.shape, channels_first(x))


def _convolution(
    name: str,
    axes: int,
    x: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
) -> NDArray:
    x, weight, bias, dtype = floats(name, x, weight, optional=(bias,))
    single = x.ndim == axes + 1
    if single:
        x = x[None]
    out = weight.shape[0] if weight.ndim else 0
    fits = x.ndim == axes + 2 and weight.ndim == axes + 2 and groups >= 1
    if not fits or x.shape[1] != weight.shape[1] * groups or out % groups:
        raise ValueError(
            f"{name}: input of shape {x.shape[single:]} with a weight of shape {weight.shape} and "
            f"{groups} groups: they are (n, channels, {'h, ' * (axes - 1)}w) and (out channels, "
            f"channels / groups, {'kh, ' * (axes - 1)}kw)"
        )
    if bias is not None and bias.shape != (out,):
        raise ValueError(f"{name}: a bias of shape {bias.shape} for {out} channels")
    if axes == 1:
        x = x[:, :, None]
    n = x.shape[0]
    geometry = windows(name, x.shape[2:], weight.shape[2:], stride, padding, dilation, axes)
    rows, columns = geometry.shape
    cols = _columns(x, geometry)
    length = weight.shape[1] * geometry.kernel[0] * geometry.kernel[1]
    if groups == 1:
        y = weight.reshape(out, length) @ cols
    else:
        stack = cols.reshape(groups, length, cols.shape[1])
        y = (weight.reshape(groups, out // groups, length) @ stack).reshape(out, cols.shape[1])
    if bias is not None:
        y = y + bias[:, None]
    y = y.reshape(out, n, rows, columns) if axes == 2 else y.reshape(out, n, columns)
    y = narrowed(y.swapaxes(0, 1), dtype)
    return y[0] if single else y


def conv2d(
    x: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike | None = None,
    stride: ShapeLike = 1,
    padding: ShapeLike | str = 0,
    dilation: ShapeLike = 1,
    groups: int = 1,
) -> NDArray:
    """Cross-correlation of images (n, c, h, w), or one (c, h, w), with ``weight``.

    The result is a view of memory by channels first; with p zeros, dilation d and stride s,
    oh = (h + 2 p - d (kh - 1) - 1) // s + 1.

    Args:
        x: images (n, c, h, w), or one (c, h, w).
        weight: an array (out, c / groups, kh, kw).
        bias: a vector (out,), or None.
        stride: the distance of windows: a number, or (rows, columns).
        padding: zeros on each side: a number, or (rows, columns); "same" keeps h and w (of an odd
            number of zeros the bottom and right get the more), "valid" is 0.
        dilation: the distance of a window's elements: a number, or (rows, columns).
        groups: how many groups of channels there are: each group of out channels sees its own.
    Returns: an array (n, out, oh, ow).
    Raises: ValueError for shapes that don't fit; TypeError unless all are floats.

    >>> import lazyarray as la
    >>> x = la.arange(9.0).reshape(1, 1, 3, 3)
    >>> la.nn.conv2d(x, la.ones((1, 1, 2, 2))).asnumpy()
    array([[[[ 8., 12.],
             [20., 24.]]]])
    """
    return _convolution("conv2d", 2, x, weight, bias, stride, padding, dilation, groups)


def conv1d(
    x: ArrayLike,
    weight: ArrayLike,
    bias: ArrayLike | None = None,
    stride: ShapeLike = 1,
    padding: ShapeLike | str = 0,
    dilation: ShapeLike = 1,
    groups: int = 1,
) -> NDArray:
    """Cross-correlation of sequences (n, c, w), or one (c, w), with ``weight``.

    Args:
        x: sequences (n, c, w), or one (c, w).
        weight: an array (out, c / groups, kw).
        bias: a vector (out,), or None.
        stride: the distance of windows.
        padding: zeros on each side, or "same", or "valid".
        dilation: the distance of a window's elements.
        groups: how many groups of channels there are, each for itself.
    Returns: an array (n, out, ow), as :func:`conv2d`.
    Raises: ValueError for shapes that don't fit; TypeError unless all are floats.

    >>> import lazyarray as la
    >>> x = la.arange(4.0).reshape(1, 1, 4)
    >>> la.nn.conv1d(x, la.ones((1, 1, 3)), padding="same").asnumpy()
    array([[[1., 3., 6., 5.]]])
    """
    return _convolution("conv1d", 1, x, weight, bias, stride, padding, dilation, groups)
