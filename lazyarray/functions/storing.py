"""Values stored in arrays, by index, by mask or on a diagonal."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.functions._checks import (
    along,
    as_dtype_of,
    check_bounds,
    check_fits,
    goes_natively,
    is_scalar,
    key_along,
    listed,
    wrapped,
)
from lazyarray.functions.editing import resize
from lazyarray.functions.index_tricks import check_cube
from lazyarray.functions.manipulation import ravel
from lazyarray.lazy._lazy import Tensor, Unheld, shape_text
from lazyarray.ops._differentiable import follows
from lazyarray.ops._layout import gil_write, operands, values
from lazyarray.ops._moves import stored
from lazyarray.ops._rows import (
    assign_to,
    holds_scalar,
    is_window,
    mask_of,
    out_array,
    select,
    strided,
)

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import Array, ArrayLike, Casting

__all__ = ["put_along_axis", "put", "putmask", "place", "fill_diagonal", "copyto"]


def put_along_axis(arr: NDArray, indices: ArrayLike, values: ArrayLike, axis: int | None) -> None:
    """Stores ``values`` where :func:`take_along_axis` would take them; changes ``arr``.

    Args:
        arr: the array that is changed.
        indices: integers: an array with as many axes, which broadcasts to ``arr`` in all but one.
        values: what is stored, broadcast to the indices.
        axis: that axis; None: of the flattened array.
    Returns: None.
    Raises: ValueError for another number of axes; IndexError for indices that are no integers, and
        when ``arr`` is read if one is out of bounds.

    >>> import lazyarray as la
    >>> x = la.array([[3, 1, 2]])
    >>> la.put_along_axis(x, la.argmax(x, axis=1, keepdims=True), 9, axis=1)
    >>> x.asnumpy()
    array([[9, 1, 2]])
    """
    x, index, new = operands(_changed("put_along_axis", arr), indices, as_dtype_of(arr, values))
    if index.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if axis is not None and index.ndim != x.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    check_fits(new.shape, along(x, index, axis))
    if not isinstance(indices, Tensor) and axis is not None:
        check_bounds(np.asarray(indices), x.shape, axis)
    if follows(x, new):
        return stored("put_along_axis", x, new, lambda a, v: put_along_axis(a, index, v, axis))
    if axis is not None and goes_natively(x, index, axis):
        x[key_along(x.shape, index, axis)] = new
        return
    gil_write("put_along_axis", lambda v, i, w: np.put_along_axis(v, i, w, axis), x, [index, new])


def put(a: NDArray, ind: ArrayLike, v: ArrayLike, mode: str = "raise") -> None:
    """Stores ``v``, repeated as needed, at indices of the flattened array; changes ``a``.

    Args:
        a: the array that is changed.
        ind: integers.
        v: what is stored.
        mode: for indices out of bounds: "raise", "wrap" (start again) or "clip" (the nearest).
    Returns: None.
    Raises: IndexError for an index out of bounds: when ``a`` is read if the indices are not
        computed yet.

    >>> import lazyarray as la
    >>> x = la.zeros(3)
    >>> la.put(x, [0, 2], 5)
    >>> x.asnumpy()
    array([5., 0., 5.])
    """

    def function(x: np.ndarray, i: np.ndarray, w: np.ndarray) -> None:
        np.put(x, wrapped(i, x.size, mode), w, mode)  # type: ignore[arg-type]

    x, ind = _changed("put", a), listed(ind)
    if ind.ndim == 0 and ind.dtype.kind == "u":
        ind = ind.astype(np.intp)
    np.put(np.zeros(1), np.zeros(0, ind.dtype), 0, mode)  # type: ignore[arg-type]  # NumPy's errors
    if x.size == 0 and ind.size:
        raise IndexError("cannot replace elements of an empty array")
    if mode == "raise":
        check_bounds(ind, (x.size,), 0)
    _store("put", function, x, ind, v)


def putmask(a: NDArray, /, mask: ArrayLike, values: ArrayLike) -> None:
    """Stores ``values`` (repeated to a's size) where a mask of a's shape is true; changes ``a``.

    Args:
        a: the array that is changed.
        mask: an array of bools, of a's size.
        values: what is stored, each value at its own place.
    Returns: None.
    Raises: ValueError if the sizes differ, TypeError for an array that is not cast safely.

    >>> import lazyarray as la
    >>> x = la.arange(3)
    >>> la.putmask(x, x > 0, 7)
    >>> x.asnumpy()
    array([0, 7, 7])
    """
    _store_masked("putmask", np.putmask, a, mask, values)


def place(arr: NDArray, mask: ArrayLike, vals: ArrayLike) -> None:
    """Stores the first values where a mask of arr's shape is true, in turn; changes ``arr``.

    Args:
        arr: the array that is changed.
        mask: an array of bools, of arr's size.
        vals: the values, which start again when they run out.
    Returns: None.
    Raises: ValueError if the sizes differ, and where there is a place but no value.

    >>> import lazyarray as la
    >>> x = la.arange(4)
    >>> la.place(x, x % 2 == 1, [7, 8])
    >>> x.asnumpy()
    array([0, 7, 2, 8])
    """
    _store_masked("place", np.place, arr, mask, vals)


def _changed(name: str, a: Any) -> NDArray:
    if isinstance(a, np.ndarray):
        raise Unheld(f"{name} changes one of NumPy's arrays")
    if not isinstance(a, Tensor) or holds_scalar(a):
        raise TypeError(f"{name}: the array to change is an NDArray, not {type(a).__name__}")
    return a


def _store(name: str, function: Callable[..., Any], a: NDArray, where: Any, values: Any) -> None:
    x, *inputs = operands(_changed(name, a), where, as_dtype_of(a, values))
    if follows(x, inputs[1]):
        mask = inputs[0]
        return stored(name, x, inputs[1], lambda a, v: _store(name, function, a, mask, v))
    gil_write(name, function, x, inputs)


def _store_masked(name: str, function: Callable[..., Any], a: NDArray, mask: Any, v: Any) -> None:
    x, m = operands(_changed(name, a), mask)
    if m.size != x.size:
        raise ValueError(f"{name}: mask and data must be the same size")
    if is_scalar(v):  # as a number: of any dtype
        v = v.astype(x.dtype)
    (v,) = operands(as_dtype_of(x, v))
    if not np.can_cast(v.dtype, x.dtype, "safe"):
        what = "array data" if v.ndim else "scalar"
        raise TypeError(
            f"Cannot cast {what} from {v.dtype!r} to {x.dtype!r} according to the rule 'safe'"
        )
    _store(name, function, x, m, v)


def fill_diagonal(a: NDArray, val: ArrayLike, wrap: bool = False) -> None:
    """Stores a value, or values in turn, on the main diagonal; changes ``a``.

    Args:
        a: an array of two axes at least, which is changed; all of one length if they are more.
        val: a number, or an array, whose values are stored in turn.
        wrap: whether a new diagonal starts below the first, in a matrix with more rows than
            columns.
    Returns: None.
    Raises: ValueError for other arrays.

    >>> import lazyarray as la
    >>> x = la.zeros((2, 2), int)
    >>> la.fill_diagonal(x, 5)
    >>> x.asnumpy()
    array([[5, 0],
           [0, 5]])
    """
    _changed("fill_diagonal", a)
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if a.ndim > 2:
        check_cube(a)
    if not isinstance(val, Tensor):
        val = np.asarray(val, None if isinstance(val, np.ndarray) else a.dtype)
    if a.size == 0 or val.size == 0:
        return
    if wrap and a.ndim == 2 and a.shape[0] > a.shape[1] + 1:
        if follows(a, val):
            return stored("fill_diagonal", a, val, lambda x, v: fill_diagonal(x, v, True))
        gil_write(
            "fill_diagonal", lambda x, v: np.fill_diagonal(x, v, True), a, operands(a, val)[1:]
        )
        return
    n = min(a.shape)
    diagonal = strided(a, (n,), (sum(a.strides),), 0)
    if val.ndim:
        val = ravel(val)[:n] if val.size >= n else resize(val, n)
    assign_to(diagonal, val)


def copyto(
    dst: Array, src: ArrayLike, casting: Casting = "same_kind", where: ArrayLike = True
) -> None:
    """Copies values into an array, where a mask is true; both broadcast to its shape.

    Waits if ``dst`` is a NumPy array.

    Args:
        dst: the array that is changed.
        src: the values, which broadcast to it.
        where: a mask that broadcasts to it: other places keep their values.
    Returns: None.
    Raises: ValueError if shapes do not broadcast.

    >>> import lazyarray as la
    >>> x = la.zeros(3)
    >>> la.copyto(x, [1, 2, 3], where=[True, False, True])
    >>> x.asnumpy()
    array([1., 0., 3.])
    """
    if not isinstance(dst, Tensor):
        hosts: list[Any] = [
            values(o, "copyto()") if isinstance(o, Tensor) else o for o in (src, where)
        ]
        np.copyto(dst, hosts[0], casting=casting, where=hosts[1])
        return
    to: NDArray = out_array(dst)
    new: Any = src
    if type(new) in (int, float, complex, bool):  # weak, as in NumPy
        one = np.empty((), to.dtype)
        np.copyto(one, new, casting=casting)
        new = one[()]
    else:
        (new,) = operands(new)
        if not np.can_cast(new.dtype, to.dtype, casting):
            raise TypeError(
                f"Cannot cast array data from {new.dtype!r} to {to.dtype!r} according to the "
                f"rule {casting!r}"
            )
    if where is not True:
        mask = mask_of(where, to.device)
        if mask.ndim > to.ndim:
            raise ValueError(
                f"could not broadcast where mask from shape {shape_text(mask.shape)} into shape "
                f"{shape_text(to.shape)}"
            )
        if isinstance(new, Tensor):
            new = new.astype(to.dtype, copy=False)
        (given,) = operands(new)
        if is_window(to) and not follows(to, given):  # one element of a place may be chosen alone
            gil_write("copyto", _copy_chosen, to, [given, mask])
            return
        new = select(mask, new, to)
    assign_to(to, new)


def _copy_chosen(to: np.ndarray, new: np.ndarray, mask: np.ndarray) -> None:
    np.copyto(to, new, where=mask)
