"""Manipulation of shapes: views where NumPy's functions give views, copies where they copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from lazyarray import _numpy_facts
from lazyarray.functions._checks import copy_mode
from lazyarray.lazy._lazy import Tensor
from lazyarray.ops import _layout
from lazyarray.ops._layout import Shape, as_given, viewed
from lazyarray.ops._rows import (
    asarray,
    assign_to,
    astype,
    contiguous_signature,
    probe,
    public,
    retype,
    seen,
    strided,
)

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike

__all__ = [
    "reshape",
    "ravel",
    "transpose",
    "permute_dims",
    "matrix_transpose",
    "swapaxes",
    "moveaxis",
    "rollaxis",
    "squeeze",
    "expand_dims",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "diagonal",
    "copy",
]
METHODS = ["flatten", "view"]


# ---- other shapes -------------------------------------------------------------------------------


def reshape(
    x: ArrayLike, /, shape: int | Sequence[int], order: str = "C", *, copy: bool | None = None
) -> NDArray:
    """The same elements in another shape: a view where NumPy's is one, else a copy.

    Args:
        shape: the new lengths; one may be -1: it is inferred.
        order: in what order elements are read and placed: "C", "F", or "A": Fortran's if the memory
            is.
        copy: True always copies; False forbids it; None copies where a view will not do.
    Returns: an array of that shape.
    Raises: ValueError if the sizes differ, and for ``copy=False`` where only a copy will do.

    >>> import lazyarray as la
    >>> la.reshape(la.arange(6), (2, -1)).asnumpy()
    array([[0, 1, 2],
           [3, 4, 5]])
    """
    x, copy = as_given(x), copy_mode(copy)
    if not copy:
        try:
            return seen(x, _in_place(probe(x), shape, order))
        except ValueError:
            pass  # only a copy will do, or it is no reshape at all
    order = _c_or_f(x, order)
    target = _in_place(probe(x, contiguous=True), shape, "C").shape
    if copy is False:
        raise ValueError("Unable to avoid creating a copy while reshaping.")
    return viewed(_copied(x, order), np.reshape, target, order=order)


def _in_place(v: np.ndarray, shape: Any, order: str) -> np.ndarray:
    """A view in another shape, or ValueError: ``v.reshape(shape, order=order, copy=False)``."""
    if _numpy_facts.RESHAPE_COPY:
        return v.reshape(shape, order=order, copy=False)  # type: ignore[call-overload]
    # NumPy 2.0 would copy, from memory that isn't there: what it does before that.
    if order == "A":
        order = "F" if v.flags.fnc else "C"
    given = shape if isinstance(shape, Sequence) else (shape,)
    wanted: Any = np.broadcast_to(np.int8(0), v.shape)
    lengths = wanted.reshape(given, order=order).shape  # its errors, its -1
    if order == "F":
        v, lengths = v.T, lengths[::-1]
    steps = _steps(v, lengths) if v.size else np.empty(lengths, v.dtype).strides
    v = np.lib.stride_tricks.as_strided(v, lengths, steps, writeable=v.flags.writeable)
    return v.T if order == "F" else v


def _steps(v: np.ndarray, lengths: Shape) -> list[int]:
    """The strides that axes of these lengths, in C order, have in v's memory; ValueError: none."""
    runs: list[tuple[int, int]] = []
    for n, step in zip(v.shape, v.strides, strict=True):
        if n == 1:
            continue
        if runs and runs[-1][1] == n * step:
            runs[-1] = runs[-1][0] * n, step
        else:
            runs.append((n, step))
    steps, left, step = [], 1, v.itemsize
    for n in reversed(lengths):
        if n > 1 and left == 1:
            left, step = runs.pop()
        if left % n:
            raise ValueError("only a copy will do")
        steps.append(step)
        left, step = left // n, step * n
    return steps[::-1]


def ravel(a: ArrayLike, order: str = "C") -> NDArray:
    """All elements along one axis: a view if they lie so in memory, else a copy.

    Args:
        order: in what order: "K" as they lie in memory, the others as in :func:`reshape`.
    Returns: a vector of all elements.

    >>> import lazyarray as la
    >>> la.ravel(la.array([[1, 2], [3, 4]]), order="F").asnumpy()
    array([1, 3, 2, 4])
    """
    v = _read_in(asarray(a), order)
    return _flat(v if probe(v).flags.c_contiguous else _copied(v, "C"))


@public("ndarray.flatten")
def flatten(x: Any, order: str = "C") -> NDArray:
    """A copy of all elements along one axis, in ``order`` as in :func:`ravel`.

    >>> import lazyarray as la
    >>> la.array([[1, 2], [3, 4]]).flatten().asnumpy()
    array([1, 2, 3, 4])
    """
    return _flat(_copied(_read_in(asarray(x), order), "C"))


def _read_in(x: NDArray, order: str) -> NDArray:
    """A view of ``x`` whose C order is x's ``order``."""
    order = _layout.order_of(order)
    if order == "K":
        axes = _layout.infer("order K", np.logical_not, (_layout.signature(x),))[0][1]
        return x if axes is None else permute_dims(x, axes)
    return x if _c_or_f(x, order) == "C" else permute_dims(x)


def _flat(x: NDArray) -> NDArray:
    """An array that is contiguous in C order, along one axis."""
    return strided(x, (x.size,), (x.itemsize,), 0)


def squeeze(a: ArrayLike, axis: int | tuple[int, ...] | None = None) -> NDArray:
    """A view without the axes of length one: those named, or all.

    Args:
        axis: the axis, or several; None: all of length one.
    Returns: a view without these axes; the array itself, if ``axis`` is None and it has none.
    Raises: ValueError if one of them has another length.

    >>> import lazyarray as la
    >>> la.squeeze(la.zeros((1, 3, 1)), axis=0).shape
    (3, 1)
    """
    if axis is None and isinstance(a, Tensor) and 1 not in a.shape:
        return a
    return viewed(a, np.squeeze, axis)


def expand_dims(a: ArrayLike, axis: int | tuple[int, ...]) -> NDArray:
    """A view with axes of length one inserted, at their positions in the result.

    Args:
        axis: where the new axis is in the result, or several.
    Returns: a view with so many axes more.

    >>> import lazyarray as la
    >>> la.expand_dims(la.zeros((2, 3)), (0, -1)).shape
    (1, 2, 3, 1)
    """
    return viewed(a, np.expand_dims, axis)


@overload
def atleast_1d(x: ArrayLike, /) -> NDArray: ...
@overload
def atleast_1d(*arys: ArrayLike) -> tuple[NDArray, ...]: ...
def atleast_1d(*arys: ArrayLike) -> NDArray | tuple[NDArray, ...]:
    """Each argument as a view of at least one dimension; a tuple of them if there are several.

    Args:
        arys: arrays.
    Returns: a view, or a tuple of them.

    >>> import lazyarray as la
    >>> la.atleast_1d(3.0).shape
    (1,)
    """
    return _each(arys, lambda x: x.reshape(1) if x.ndim == 0 else x)


@overload
def atleast_2d(x: ArrayLike, /) -> NDArray: ...
@overload
def atleast_2d(*arys: ArrayLike) -> tuple[NDArray, ...]: ...
def atleast_2d(*arys: ArrayLike) -> NDArray | tuple[NDArray, ...]:
    """Each argument as a view of at least two dimensions, new axes in front.

    Args:
        arys: arrays.
    Returns: a view, or a tuple of them.

    >>> import lazyarray as la
    >>> la.atleast_2d(la.zeros(3)).shape
    (1, 3)
    """
    return _each(arys, lambda x: x.reshape(1, 1) if x.ndim == 0 else _lift(x, 2, x[None]))


@overload
def atleast_3d(x: ArrayLike, /) -> NDArray: ...
@overload
def atleast_3d(*arys: ArrayLike) -> tuple[NDArray, ...]: ...
def atleast_3d(*arys: ArrayLike) -> NDArray | tuple[NDArray, ...]:
    """Each argument as a view of at least three dimensions: (N,) is (1, N, 1), (M, N) (M, N, 1).

    Args:
        arys: arrays.
    Returns: a view, or a tuple of them.

    >>> import lazyarray as la
    >>> la.atleast_3d(la.zeros((2, 3))).shape
    (2, 3, 1)
    """

    def lift(x: NDArray) -> NDArray:
        if x.ndim == 0:
            return x.reshape(1, 1, 1)
        return _lift(x, 3, x[..., None] if x.ndim == 2 else x[None, :, None] if x.ndim == 1 else x)

    return _each(arys, lift)


def _lift(x: NDArray, ndim: int, lifted: NDArray) -> NDArray:
    return x if x.ndim >= ndim else lifted


def _each(arrays: tuple[Any, ...], function: Any) -> Any:
    results = tuple([function(asarray(x)) for x in arrays])
    return results[0] if len(results) == 1 else results


# ---- axes in another order ----------------------------------------------------------------------


def transpose(a: ArrayLike, axes: Sequence[int] | None = None) -> NDArray:
    """A view with the axes permuted: axis ``i`` of the result is axis ``axes[i]`` of ``a``.

    Args:
        axes: a permutation of the axes, of which ``axes[i]`` becomes axis ``i``; None: reversed.
    Returns: a view.
    Raises: ValueError if ``axes`` is no permutation; AxisError if there is no such axis.

    >>> import lazyarray as la
    >>> la.transpose(la.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    x = as_given(a)
    if axes is None:
        return x.T
    wanted: Any = axes
    return seen(x, probe(x).transpose(wanted.tolist() if isinstance(wanted, Tensor) else wanted))


permute_dims = transpose


def matrix_transpose(x: ArrayLike, /) -> NDArray:
    """A view with the last two axes exchanged.

    Returns: a view (..., N, M) of an array (..., M, N).
    Raises: ValueError for fewer than two axes.

    >>> import lazyarray as la
    >>> la.matrix_transpose(la.zeros((2, 3, 4))).shape
    (2, 4, 3)
    """
    a = asarray(x)
    if a.ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {a.ndim}")
    return a.mT


def swapaxes(a: ArrayLike, axis1: int, axis2: int) -> NDArray:
    """A view with two axes exchanged.

    Args:
        axis1: one axis.
        axis2: the other.
    Returns: a view.
    Raises: AxisError if there is no such axis.

    >>> import lazyarray as la
    >>> la.swapaxes(la.zeros((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    x = asarray(a)
    return seen(x, probe(x).swapaxes(axis1, axis2))


def moveaxis(
    a: ArrayLike, source: int | Sequence[int], destination: int | Sequence[int]
) -> NDArray:
    """A view with axes moved to new positions; the others keep their order.

    Args:
        source: the axis, or several.
        destination: where each is in the result.
    Returns: a view.
    Raises: AxisError if there is no such axis; ValueError if one is named twice, or the numbers of
        axes differ.

    >>> import lazyarray as la
    >>> la.moveaxis(la.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    return viewed(a, np.moveaxis, source, destination)


def rollaxis(a: ArrayLike, axis: int, start: int = 0) -> NDArray:
    """A view with an axis moved to just before axis ``start`` (:func:`moveaxis` is clearer).

    Args:
        start: before which axis it goes.
    Returns: a view.

    >>> import lazyarray as la
    >>> la.rollaxis(la.zeros((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    return viewed(a, np.rollaxis, axis, start)


# ---- parts --------------------------------------------------------------------------------------


def diagonal(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> NDArray:
    """A view of the diagonal of two axes, as the last axis; read-only, as NumPy's.

    Args:
        offset: which diagonal: 0 is the main one, positive ones lie above it.
        axis1: the rows' axis.
        axis2: the columns' axis.
    Returns: a read-only view without the two axes, with the diagonal as the last one.
    Raises: ValueError for fewer than two axes or for equal ones; AxisError if there is no such
        axis.

    >>> import lazyarray as la
    >>> la.diagonal(la.array([[1, 2], [3, 4]])).asnumpy()
    array([1, 4])
    """
    return viewed(a, np.diagonal, offset, axis1, axis2)


def view(x: NDArray, dtype: Any = None) -> NDArray:
    """A view of the same memory as another dtype, as ``numpy.ndarray.view``.

    If the item size changes, the last axis is resized: it must be contiguous, and its bytes a
    multiple of the new item size (ValueError).

    >>> import lazyarray as la
    >>> la.array([1.0]).view("u8").asnumpy()
    array([4607182418800017408], dtype=uint64)
    """
    if dtype is None:
        return strided(x, x.shape, x.strides, 0)
    r = probe(x).view(dtype)
    return retype(x, r.dtype, r.shape, r.strides)


# ---- copies -------------------------------------------------------------------------------------


def copy(a: ArrayLike, order: str = "K", subok: bool = False) -> NDArray:
    """A copy with memory of its own, laid out in ``order`` ("K": as ``a`` lies).

    Returns: an array of a's shape and dtype.

    >>> import lazyarray as la
    >>> x = la.zeros(2)
    >>> y = la.copy(x)
    >>> y[0] = 1
    >>> x.asnumpy()
    array([0., 0.])
    """
    x = asarray(a)
    order = _layout.order_of(order, "K")
    return _copied(x, order if order == "K" else _c_or_f(x, order))


def _copied(x: NDArray, order: str) -> NDArray:
    if order == "K" or (order == "C" and contiguous_signature(x) is not None):
        return astype(x, x.dtype)
    axes = range(x.ndim)
    to = _layout.new(x.shape, x.dtype, list(axes if order == "C" else reversed(axes)), x.device)
    assign_to(to, x)
    return to


def _c_or_f(x: NDArray, order: str) -> str:
    order = _layout.order_of(order)
    if order == "A":
        return "F" if probe(x).flags.fnc else "C"
    if order == "K":
        raise ValueError("order 'K' is not permitted for reshaping")
    return order
