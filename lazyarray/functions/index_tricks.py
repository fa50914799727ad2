"""Arrays written as index expressions, and indices: of flattened arrays, diagonals, triangles.

What is made of Python numbers alone is known at the call. An index out of bounds is an error at
the call in a list or NumPy array, at the wait in an NDArray.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from lazyarray.functions.conversion import array as made
from lazyarray.functions.creation import ones
from lazyarray.functions.joining import concatenate
from lazyarray.functions.manipulation import swapaxes, transpose
from lazyarray.functions.patterns import indices
from lazyarray.functions.ranges import arange, known, linspace
from lazyarray.functions.searching import nonzero
from lazyarray.lazy._lazy import Giving, Tensor, Unheld, returned
from lazyarray.ops import _rows
from lazyarray.ops._layout import device_of, gil_op, operands, values
from lazyarray.ops._rows import array, asarray, assign_to, at_once, call
from lazyarray.ops.hosts import handed_over

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import Array, ArrayLike, Mode, ShapeLike
    from lazyarray.engine import Device

__all__ = [
    "mgrid",
    "ogrid",
    "r_",
    "c_",
    "s_",
    "index_exp",
    "ix_",
    "ndindex",
    "ndenumerate",
    "unravel_index",
    "ravel_multi_index",
    "diag_indices",
    "diag_indices_from",
    "tril_indices",
    "tril_indices_from",
    "triu_indices",
    "triu_indices_from",
    "mask_indices",
]

s_ = np.s_
index_exp = np.index_exp
ndindex = np.ndindex


# ---- grids --------------------------------------------------------------------------------------


def _counts(step: Any) -> bool:
    """Whether a step is a number of points."""
    return isinstance(step, (complex, np.complexfloating))


def _progression(key: slice) -> tuple[int, Any, Any, list[Any]]:
    """The length, step and start that a slice of a grid means, and what decides the dtype."""
    start, stop, step = [known(v) for v in (key.start, key.stop, key.step)]
    start = 0 if start is None else start
    step = 1 if step is None else step
    if not _counts(step):
        return math.ceil((stop - start) / step), step, start, [start, stop, step]
    count = abs(step)  # as a float: a grid of so many places is never one of integers
    length = int(count)
    step = length if length == 1 else (stop - start) / float(length - 1)
    return length, step, start, [start, stop, count]


# How long an axis may be of what NumPy makes at the call, by the number of axes.
_LENGTHS = {1: 10_000, 2: 180, 3: 32}


class _Grid:
    """Coordinates of a grid of points, by slices ``start:stop:step``, one an axis.

    An imaginary step is a number of points, from start to stop inclusive. ``mgrid`` gives all
    coordinates of all points as one array, ``ogrid`` vectors that broadcast against each other.

    >>> import lazyarray as la
    >>> la.mgrid[0:2, 0:3].shape, [x.shape for x in la.ogrid[0:2, 0:3]]
    ((2, 2, 3), [(2, 1), (1, 3)])
    >>> la.mgrid[0:1:3j].asnumpy()
    array([0. , 0.5, 1. ])
    """

    def __init__(self, sparse: bool) -> None:
        self._sparse = sparse
        self._numpys = (np.ogrid if sparse else np.mgrid).__getitem__

    def __getitem__(self, key: slice | Sequence[slice]) -> Any:
        axes = len(key) if isinstance(key, tuple) and not self._sparse else 1
        longest = _LENGTHS.get(axes, 16)
        found = at_once(self._numpys, (key,), 0, longest)
        if found is not None:
            return found
        if isinstance(key, slice):
            if not _counts(known(key.step)):
                start = 0 if key.start is None else key.start
                return arange(start, key.stop, key.step)
            length, step, start, kinds = _progression(key)
            return arange(0, length, 1, np.result_type(*kinds)) * step + start
        axes = [_progression(k) for k in key]
        dtype = np.result_type(0, *[kind for axis in axes for kind in axis[3]])
        grids: Any = indices([axis[0] for axis in axes], dtype, self._sparse)  # type: ignore[call-overload]
        scaled = [g * step + start for g, (_, step, start, _) in zip(grids, axes, strict=True)]
        if self._sparse:
            return tuple(scaled)
        for grid, coordinates in zip(grids, scaled, strict=True):
            assign_to(grid, coordinates)
        return grids


mgrid = _Grid(False)
ogrid = _Grid(True)


# ---- arrays by index expressions ----------------------------------------------------------------


class _Joined:
    """Arrays, numbers and slices (ranges) joined: ``r_`` along the first axis, ``c_`` as columns.

    A first entry ``"axis,ndim,where"`` tells ``r_`` along which axis, how many axes each entry
    gets at least, and where its own axes go among those. There are no matrices (ValueError).

    >>> import lazyarray as la
    >>> la.r_[1:4, 0, la.array([7, 8])].asnumpy()
    array([1, 2, 3, 0, 7, 8])
    >>> la.c_[la.array([1, 2]), [3, 4]].asnumpy()
    array([[1, 3],
           [2, 4]])
    """

    def __init__(self, numpys: Any, axis: int, ndmin: int, first: int) -> None:
        self._numpys = numpys.__getitem__
        self._defaults = axis, ndmin, first

    def __len__(self) -> int:
        return 0

    def __getitem__(self, key: Any) -> NDArray:
        found: NDArray | None = at_once(self._numpys, (key,), hosted=True)
        if found is not None:
            return found
        if isinstance(key, str):
            raise ValueError("there are no matrices in lazyarray: use la.block")
        try:
            return self._join(key)
        except Unheld as error:
            return handed_over(self._numpys, (key,), {}, error)

    def _join(self, key: Any) -> NDArray:
        items = list(key) if isinstance(key, tuple) else [key]
        axis, ndmin, first = self._defaults
        if items and isinstance(items[0], str):
            axis, ndmin, first = _directive(items.pop(0), axis, ndmin, first)
        place = next((item.device for item in items if isinstance(item, Tensor)), None)
        entries = [_joinable(item, ndmin, first, place) for item in items]
        if entries:
            dtype = np.result_type(*[e.dtype if isinstance(e, Tensor) else e for e in entries])
            entries = [made(e, dtype, copy=None, ndmin=ndmin, device=place) for e in entries]
        return concatenate(entries, axis)


def _directive(text: str, axis: int, ndmin: int, first: int) -> tuple[int, int, int]:
    if text in ("r", "c"):
        raise ValueError("there are no matrices in lazyarray: use la.block")
    try:
        numbers = [int(part) for part in text.split(",")][:3]
    except ValueError as exc:
        what = f" {text!r}" if "," in text else ""
        raise ValueError(f"unknown special directive{what}") from exc
    axis, ndmin, first = numbers + [axis, ndmin, first][len(numbers) :]
    return axis, ndmin, first


def _joinable(item: Any, ndmin: int, first: int, place: Any) -> Any:
    """An entry of ``r_`` with at least ``ndmin`` axes; a number stays one: its dtype is weak."""
    if isinstance(item, str):
        raise ValueError("special directives must be the first entry.")
    if type(item) in np.ScalarType:
        return item
    if isinstance(item, slice):
        start = 0 if item.start is None else item.start
        step = known(item.step)
        if _counts(step):
            item = linspace(start, item.stop, int(abs(step)), device=place)
        else:
            item = arange(start, item.stop, step, device=place)
        x = made(item, copy=None, ndmin=ndmin)
        return swapaxes(x, -1, first) if ndmin > 1 and first != -1 else x
    x = made(item, copy=None, device=place)
    added = ndmin - x.ndim
    if added <= 0:
        return x
    own = made(x, copy=None, ndmin=ndmin)
    if first == -1:
        return own
    at = first + added + 1 if first < 0 else first
    axes = list(range(ndmin))
    return transpose(own, axes[:at] + axes[added:] + axes[at:added])


r_ = _Joined(np.r_, 0, 1, -1)
c_ = _Joined(np.c_, -1, 2, 0)


def ix_(*args: ArrayLike) -> tuple[NDArray, ...]:
    """Vectors of indices, each along an axis of its own: as a key they select all combinations.

    Waits for masks that are NDArrays.

    Args:
        args: vectors of indices; masks become the indices of their true elements.
    Returns: a tuple of arrays that broadcast against each other.
    Raises: ValueError for other arrays than vectors.

    >>> import lazyarray as la
    >>> la.arange(6).reshape(2, 3)[la.ix_([0, 1], [0, 2])].asnumpy()
    array([[0, 2],
           [3, 5]])
    """
    out = []
    for i, arg in enumerate(args):
        x = asarray(arg)
        if x.size == 0 and not isinstance(arg, (Tensor, np.ndarray)):
            x = x.astype(np.intp)
        if x.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if x.dtype == np.bool_:
            (x,) = nonzero(x)
        out.append(x.reshape((1,) * i + (x.size,) + (1,) * (len(args) - i - 1)))
    return tuple(out)


def ndenumerate(arr: ArrayLike) -> np.ndenumerate[Any]:
    """An iterator of pairs (index, element), as NumPy's. Waits for the values.

    Args:
        arr: an array.
    Returns: an iterator.

    >>> import lazyarray as la
    >>> list(la.ndenumerate(la.array([[5, 6]])))
    [((0, 0), np.int64(5)), ((0, 1), np.int64(6))]
    """
    return np.ndenumerate(values(arr, "ndenumerate()"))


# ---- indices -------------------------------------------------------------------------------------


def unravel_index(
    indices: ArrayLike, shape: ShapeLike, order: Literal["C", "F"] = "C"
) -> tuple[NDArray, ...]:
    """Indices of a flattened array as indices along each axis of a ``shape``.

    Args:
        indices: integers, an array of any shape.
        shape: the lengths of the axes.
        order: which axis runs fastest: the last one ("C") or the first ("F").
    Returns: a tuple of arrays, one for each axis, of the shape of ``indices``.
    Raises: ValueError for an index out of bounds: at the wait if it is not computed yet; TypeError
        for what is no integer.

    >>> import lazyarray as la
    >>> [i.item() for i in la.unravel_index(la.argmax(la.array([[1, 2], [9, 4]])), (2, 2))]
    [1, 0]
    """
    dims: Any = shape if isinstance(shape, (int, np.integer)) else tuple(shape)  # type: ignore[arg-type]
    if not isinstance(indices, Tensor):
        found: Any = np.unravel_index(indices, dims, order)  # type: ignore[arg-type]
        return tuple([returned(array(i)) if isinstance(i, np.generic) else array(i) for i in found])
    x: NDArray = indices
    return tuple(
        gil_op(
            "unravel_index",
            lambda i: _rows.unravel_index(i, dims, order),
            [x],
            [x.shape] * (len(dims) if isinstance(dims, tuple) else 1),
            (dims, order),
            mini=lambda i: np.unravel_index(np.zeros_like(i), dims, order),
        )
    )


def ravel_multi_index(
    multi_index: ArrayLike,
    dims: ShapeLike,
    mode: Mode | tuple[Mode, ...] = "raise",
    order: Literal["C", "F"] = "C",
) -> NDArray:
    """Indices along each axis of a shape ``dims`` as indices of the flattened array.

    Args:
        multi_index: a tuple of arrays of integers, one for each axis.
        dims: the lengths of the axes.
        mode: for indices out of bounds: "raise", "wrap" or "clip", or one of these for each axis.
        order: which axis runs fastest: the last one ("C") or the first ("F").
    Returns: an array of integers, of the arrays' shape.
    Raises: ValueError for an index out of bounds: at the wait if it is not computed yet; TypeError
        for what is no integer.

    >>> import lazyarray as la
    >>> la.ravel_multi_index(la.array([[0, 1], [2, 0]]), (2, 3)).asnumpy()
    array([2, 3])
    """
    parts: list[Any] = list(multi_index)  # type: ignore[arg-type]
    given: Any = dims if isinstance(dims, (int, np.integer)) else tuple(dims)  # type: ignore[arg-type]
    modes: Any = mode if isinstance(mode, str) else tuple(mode)
    if not any(isinstance(i, Tensor) for i in parts):
        return returned(array(np.ravel_multi_index(tuple(parts), given, modes, order)))

    def ravelled(*i: Any) -> Any:
        return np.ravel_multi_index(i, given, modes, order)

    xs = operands(*parts)
    return gil_op(
        "ravel_multi_index",
        ravelled,
        xs,
        np.broadcast_shapes(*[x.shape for x in xs]),
        (given, modes, order),
        mini=lambda *i: ravelled(*[np.zeros_like(v) for v in i]),
    )


def diag_indices(n: int, ndim: int = 2) -> tuple[NDArray, ...]:
    """The indices of the main diagonal of an array with ``ndim`` axes of length ``n``.

    Args:
        n: the length of each axis.
        ndim: how many axes.
    Returns: a tuple of ``ndim`` vectors of ``n``.
    Raises: TypeError for what is no integer.

    >>> import lazyarray as la
    >>> [i.asnumpy().tolist() for i in la.diag_indices(3)]
    [[0, 1, 2], [0, 1, 2]]
    """
    return (arange(n),) * ndim


def diag_indices_from(arr: Array) -> tuple[NDArray, ...]:
    """:func:`diag_indices` for an array of two or more axes, all of one length.

    Args:
        arr: an array of two or more axes, all of one length.
    Returns: a tuple of vectors, one for each axis.
    Raises: ValueError for another array.

    >>> import lazyarray as la
    >>> [i.asnumpy().tolist() for i in la.diag_indices_from(la.ones((2, 2)))]
    [[0, 1], [0, 1]]
    """
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    check_cube(arr)
    return (arange(arr.shape[0], device=device_of(arr)),) * arr.ndim


def check_cube(x: Any) -> None:
    if len({*x.shape}) > 1:
        raise ValueError("All dimensions of input must be of equal length")


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[NDArray, NDArray]:
    """The indices on and below the ``k``-th diagonal of an ``n`` x ``m`` matrix.

    Args:
        n: how many rows.
        m: how many columns; None: n.
    Returns: a pair of vectors: rows and columns.
    Raises: TypeError for what is no number.

    >>> import lazyarray as la
    >>> [i.asnumpy().tolist() for i in la.tril_indices(2)]
    [[0, 1, 1], [0, 0, 1]]
    """
    return _triangle("tril_indices", n, k, m, None)


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[NDArray, NDArray]:
    """The indices on and above the ``k``-th diagonal of an ``n`` x ``m`` matrix.

    Args:
        n: how many rows.
        m: how many columns; None: n.
    Returns: a pair of vectors: rows and columns.
    Raises: TypeError for what is no number.

    >>> import lazyarray as la
    >>> [i.asnumpy().tolist() for i in la.triu_indices(2)]
    [[0, 0, 1], [0, 1, 1]]
    """
    return _triangle("triu_indices", n, k, m, None)


def _triangle(
    name: str, n: int, k: int, m: int | None, device: Device | None
) -> tuple[NDArray, NDArray]:
    rows, k, columns = known(n), known(k), known(n if m is None else m)
    upper = name == "triu_indices"
    last = k - 1 if upper else k  # of the diagonals below
    deep = len(np.arange(max(rows, 0)))
    # The row that each column's part below begins in, as np.tri has it, which cuts floats.
    first = np.arange(-last, columns - last, dtype=np.intp)
    below = int(np.clip(deep - first, 0, deep).sum())
    count = deep * len(first) - below if upper else below

    run = Giving(lambda: getattr(np, name)(rows, k, columns))
    targets = [((count,), np.dtype(np.intp))] * 2
    results = call(name, run, [], targets, device=device, cost=9000 + 9.0 * count)
    return results[0], results[1]


def tril_indices_from(arr: Array, k: int = 0) -> tuple[NDArray, NDArray]:
    """:func:`tril_indices` for a matrix.

    Args:
        arr: a matrix.
    Returns: a pair of vectors: rows and columns.
    Raises: ValueError unless it has two axes.

    >>> import lazyarray as la
    >>> [i.asnumpy().tolist() for i in la.tril_indices_from(la.ones((2, 1)))]
    [[0, 1], [0, 0]]
    """
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return _triangle("tril_indices", arr.shape[-2], k, arr.shape[-1], device_of(arr))


def triu_indices_from(arr: Array, k: int = 0) -> tuple[NDArray, NDArray]:
    """:func:`triu_indices` for a matrix.

    Args:
        arr: a matrix.
    Returns: a pair of vectors: rows and columns.
    Raises: ValueError unless it has two axes.

    >>> import lazyarray as la
    >>> [i.asnumpy().tolist() for i in la.triu_indices_from(la.ones((2, 1)))]
    [[0], [0]]
    """
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return _triangle("triu_indices", arr.shape[-2], k, arr.shape[-1], device_of(arr))


def mask_indices(
    n: int, mask_func: Callable[..., ArrayLike], k: ArrayLike = 0
) -> tuple[NDArray, ...]:
    """The indices of an ``n`` x ``n`` matrix that ``mask_func(matrix, k)`` doesn't make zero.

    Waits for what that function makes of ones: how many there are depends on it.

    Args:
        n: how many rows and columns.
        mask_func: a function as :func:`triu`.
        k: its second argument.
    Returns: a pair of vectors: rows and columns.
    Raises: what the function raises.

    >>> import lazyarray as la
    >>> [i.asnumpy().tolist() for i in la.mask_indices(2, la.triu)]
    [[0, 0, 1], [0, 1, 1]]
    """
    return nonzero(mask_func(ones((n, n), int), k) != 0)
