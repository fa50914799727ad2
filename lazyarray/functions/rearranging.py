"""Elements in another order: reversed, turned, rolled."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from lazyarray.functions.manipulation import ravel, reshape
from lazyarray.ops import _layout
from lazyarray.ops._layout import viewed
from lazyarray.ops._rows import asarray, assign_to, lies_in, rolled

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, ShapeLike

__all__ = ["flip", "fliplr", "flipud", "rot90", "roll"]
_BACKWARDS = slice(None, None, -1)
_IN_CACHE = 1 << 20  # bytes: a copy for each axis takes less time there than views of all parts


def flip(m: ArrayLike, axis: int | tuple[int, ...] | None = None) -> NDArray:
    """A view with the order of elements reversed along the axes named, or along all.

    Args:
        m: an array.
        axis: the axis, or several; None: all.
    Returns: a view of m's shape.

    >>> import lazyarray as la
    >>> la.flip(la.array([1, 2, 3])).asnumpy()
    array([3, 2, 1])
    """
    x = asarray(m)
    if axis is None:
        return x[(_BACKWARDS,) * x.ndim]
    axes = normalize_axis_tuple(axis, x.ndim)
    key = [slice(None)] * x.ndim
    for a in axes:
        key[a] = _BACKWARDS
    return x[tuple(key)]


def flipud(m: ArrayLike) -> NDArray:
    """A view with the rows (axis 0) in reverse order.

    Args:
        m: an array of one axis at least.
    Returns: a view of m's shape.
    Raises: ValueError for an array without axes.

    >>> import lazyarray as la
    >>> la.flipud(la.array([[1], [2]])).asnumpy()
    array([[2],
           [1]])
    """
    x = asarray(m)
    if x.ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return x[::-1, ...]


def fliplr(m: ArrayLike) -> NDArray:
    """A view with the columns (axis 1) in reverse order.

    Args:
        m: an array of two axes at least.
    Returns: a view of m's shape.
    Raises: ValueError for fewer axes.

    >>> import lazyarray as la
    >>> la.fliplr(la.array([[1, 2]])).asnumpy()
    array([[2, 1]])
    """
    x = asarray(m)
    if x.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return x[:, ::-1]


def rot90(m: ArrayLike, k: int = 1, axes: tuple[int, int] = (0, 1)) -> NDArray:
    """A view turned by ``k`` quarter turns from the first of ``axes`` towards the second.

    Args:
        m: an array of two axes at least.
        k: how many quarter turns; negative: the other way round.
        axes: the plane.
    Returns: a view; for odd ``k`` the lengths of the two axes are exchanged.
    Raises: ValueError for equal axes, or axes that there are not.

    >>> import lazyarray as la
    >>> la.rot90(la.array([[1, 2], [3, 4]])).asnumpy()
    array([[2, 4],
           [1, 3]])
    """
    return viewed(m, np.rot90, k, axes)


def roll(a: ArrayLike, shift: ShapeLike, axis: int | Sequence[int] | None = None) -> NDArray:
    """Elements shifted along axes; what leaves at one end enters at the other.

    Args:
        shift: by how many places; several for several axes.
        axis: the axis, or several; None: of the flattened array, whose shape is put back.
    Returns: an array of a's shape.
    Raises: ValueError if ``shift`` and ``axis`` do not broadcast.

    >>> import lazyarray as la
    >>> la.roll(la.arange(5), 2).asnumpy()
    array([3, 4, 0, 1, 2])
    """
    x = asarray(a)
    simple = rolled(x, shift, axis)
    if simple is not None:
        return simple
    if axis is None:
        return reshape(roll(ravel(x), shift, 0), x.shape)
    axes = normalize_axis_tuple(axis, x.ndim, allow_duplicate=True)
    pairs = np.broadcast(shift, axes)  # type: ignore[arg-type]
    if pairs.ndim > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    shifts = dict.fromkeys(range(x.ndim), 0)
    for by, along in pairs:
        shifts[int(along)] += int(by)
    moved = {d: by % n for (d, by), n in zip(shifts.items(), x.shape, strict=True) if n and by % n}
    if x.nbytes <= _IN_CACHE and x.size and x.ndim and lies_in(x, "C"):
        found: Any = x
        for d, by in (moved or {0: 0}).items():
            found = rolled(found, by, d)
        return found
    # Along each axis: (where from, where to) of the part that stays and of the part that wraps.
    moves = []
    for d in range(x.ndim):
        by = moved.get(d, 0)
        whole = [(slice(None), slice(None))]
        parts = [(slice(None, -by), slice(by, None)), (slice(-by, None), slice(None, by))]
        moves.append(parts if by else whole)
    out = _layout.new_like(x)
    for move in product(*moves):
        source, target = tuple([m[0] for m in move]), tuple([m[1] for m in move])
        assign_to(out[(*target, ...)], x[(*source, ...)])
    return out
