"""Advanced and boolean indexing, and the functions that select and store by index.

A key is split in two: its slices give a view (the base), its index arrays and masks a key for that
view. Selecting is one instruction on the base; the result's shape follows from
shapes alone, unless a mask is an NDArray, whose true elements must be counted: that waits.
Storing never waits. An index out of bounds is an IndexError: at once in a list or NumPy array, at
the wait in an NDArray.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazyarray import _numpy_facts
from lazyarray.lazy._lazy import Tensor, Unheld, returned
from lazyarray.ops import _layout
from lazyarray.ops._differentiable import follows
from lazyarray.ops._layout import Shape, deliver, gil_op, gil_write, looked_at, operands, values
from lazyarray.ops._moves import picked, stored
from lazyarray.ops._rows import (
    array,
    astype,
    fill_from,
    fill_where,
    holdable,
    holds_arrays,
    holds_scalar,
    public,
    take_along,
)
from lazyarray.ops.joining import stack
from lazyarray.ops.manipulation import broadcast_arrays, ravel, reshape

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray

__all__ = [
    "take",
    "take_along_axis",
    "put_along_axis",
    "compress",
    "extract",
    "choose",
    "put",
    "putmask",
    "place",
]


# ---- keys ---------------------------------------------------------------------------------------


_INPUT: Any = object()


class _Index(NamedTuple):
    """An advanced index of an array, taken apart."""

    base: NDArray  # the view that the slices of the key select
    inner: list[Any]  # the key for the base: full slices, NumPy arrays, _INPUT for each input
    inputs: list[NDArray]  # the index arrays and masks that are NDArrays
    shape: tuple[Any, ...]  # of what is selected; None: as many as a mask has true elements
    pattern: tuple[Any, ...]  # what of the key decides the memory order of what is selected
    whole: bool  # it is one mask for all axes


def _entry(k: Any) -> Any:
    """One entry of a key: None, Ellipsis, a slice, an intp scalar, or an index array or mask."""
    if k is None or k is Ellipsis or isinstance(k, slice):
        return k
    if not isinstance(k, (Tensor, np.ndarray, np.bool_, bool)) and hasattr(k, "__index__"):
        return np.intp(operator.index(k))
    a = k if isinstance(k, Tensor) else np.array(k)  # a copy: the caller may change it
    if a.size == 0 and not isinstance(k, (Tensor, np.ndarray)):
        a = a.astype(np.intp)
    if a.dtype.kind not in "biu":
        raise IndexError(
            "arrays used as indices must be of integer (or boolean) type"
            if isinstance(k, (Tensor, np.ndarray))
            else "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and "
            "integer or boolean arrays are valid indices"
        )
    return a


def _is_basic(k: Any) -> bool:
    return k is None or k is Ellipsis or isinstance(k, slice)


def _is_mask(k: Any) -> bool:
    return not _is_basic(k) and k.dtype.kind == "b"


def _is_index(k: Any) -> bool:
    """Whether an entry of a key is an integer or an array of integers."""
    return not _is_basic(k) and k.dtype.kind != "b"


def _axes_of(k: Any) -> int:
    """How many axes an entry of a key indexes."""
    if k is None or k is Ellipsis:
        return 0
    return k.ndim if _is_mask(k) else 1


def _check_entry(k: Any, shape: Shape, axis: int) -> None:
    """What can be wrong with an index or mask for the axes of an array from ``axis`` on."""
    if _is_mask(k):
        for i, n in enumerate(k.shape):
            if n not in (0, shape[axis + i]):  # a mask without elements fits, as in NumPy
                raise IndexError(
                    f"boolean index did not match indexed array along axis {axis + i}; size of "
                    f"axis is {shape[axis + i]} but size of corresponding boolean axis is {n}"
                )
    elif type(k) is np.intp and not -shape[axis] <= k < shape[axis]:
        raise IndexError(f"index {k} is out of bounds for axis {axis} with size {shape[axis]}")


def _check_bounds(k: Any, shape: Shape, axis: int) -> None:
    """IndexError if an index of a NumPy array is out of bounds; an NDArray is checked later."""
    if isinstance(k, np.ndarray) and k.dtype.kind in "iu" and k.size:
        n = shape[axis]
        few = k.ravel().tolist() if k.size < 32 else (k.min(), k.max())
        if min(few) < -n or max(few) >= n:
            wrong = k[(k < -n) | (k >= n)][0]
            raise IndexError(f"index {wrong} is out of bounds for axis {axis} with size {n}")


def _common_shape(shapes: list[tuple[int | None, ...]]) -> tuple[int | None, ...]:
    """The broadcast shape of index arrays; None is the length of a mask's selection, unknown."""
    if shapes and shapes.count(shapes[0]) == len(shapes):
        return shapes[0]
    try:
        known = [[1 if n is None else n for n in s] for s in shapes]  # which gives way to others
        common = np.broadcast_shapes(*map(tuple, known))
    except ValueError:
        texts = " ".join([_text(s) for s in shapes])
        raise IndexError(
            f"shape mismatch: indexing arrays could not be broadcast together with shapes {texts} "
        ) from None
    if (None,) in shapes and common[-1] == 1:
        return (*common[:-1], None)
    return common


def _text(shape: tuple[int | None, ...]) -> str:
    """A shape as NumPy's errors about indices write it."""
    return f"({','.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def _by_indices(x: NDArray, entries: list[Any]) -> _Index:
    """Takes a key apart that holds nothing but indices, of the first axes."""
    arrays = [k for k in entries if type(k) is not np.intp]
    selected = _common_shape([k.shape for k in arrays])
    for axis, k in enumerate(entries):
        _check_entry(k, x.shape, axis)
        if 0 not in selected:
            _check_bounds(k, x.shape, axis)
    pattern = (*[_layout.signature(k) for k in entries], Ellipsis)
    inputs = [k for k in arrays if isinstance(k, Tensor)]
    inner = [_INPUT if isinstance(k, Tensor) else k for k in entries]
    shape = (*selected, *x.shape[len(entries) :])
    return _Index(x, [*inner, Ellipsis], inputs, shape, pattern, False)


def _resolve(x: NDArray, key: Any, known: bool) -> _Index:
    """Takes a key apart. If the shape must be ``known``, NDArray masks are waited for."""
    if isinstance(key, Tensor) and x.ndim:  # the commonest keys, by a shorter way
        if key.dtype.kind in "iu":
            leading = (_layout.signature(key), Ellipsis)
            return _Index(x, [_INPUT], [key], (*key.shape, *x.shape[1:]), leading, False)
        if key.dtype.kind == "b" and key.shape == x.shape and not known:
            return _Index(x, [_INPUT], [key], (None,), (), True)
    entries = [_entry(k) for k in (key if type(key) is tuple else (key,))]
    if 0 < len(entries) <= x.ndim and all(map(_is_index, entries)):
        return _by_indices(x, entries)
    if known:
        entries = [values(k, "a boolean index") if _is_mask(k) else k for k in entries]
    used = sum([_axes_of(k) for k in entries])
    rest = x.ndim - used  # the axes that an Ellipsis stands for
    if rest < 0:
        raise IndexError(
            f"too many indices for array: array is {x.ndim}-dimensional, but {used} were indexed"
        )
    whole = len(entries) == 1 and _is_mask(entries[0]) and rest == 0
    if not any(k is Ellipsis for k in entries):
        entries.append(Ellipsis)
    outer: list[Any] = []
    axis_of: list[tuple[Any, int]] = []
    axis = 0
    for k in entries:
        if _is_basic(k):
            outer += [] if k is None else [k]
        else:
            _check_entry(k, x.shape, axis)
            axis_of.append((k, axis))
            outer += [slice(None)] * _axes_of(k)
        axis += rest if k is Ellipsis else _axes_of(k)
    base = x[tuple(outer)]

    lengths = iter(base.shape)
    before: list[int] = []  # the basic axes in front of the first index array, and the others
    after: list[int] = []
    fancy: list[tuple[int | None, ...]] = []
    inner: list[Any] = []
    pattern: list[Any] = []
    seen = gap = apart = False  # index arrays; a basic entry behind one; one behind that
    for k in entries:
        if _is_basic(k):
            gap = seen
            axes = [1] if k is None else islice(lengths, rest if k is Ellipsis else 1)
            (after if seen else before).extend(axes)
            inner.append(slice(None) if isinstance(k, slice) else k)
            pattern.append(inner[-1] if k is None or k is Ellipsis else ":")
            continue
        seen, apart = True, apart or gap
        axes = list(islice(lengths, _axes_of(k)))
        if _is_mask(k):
            # To NumPy a mask is one index array for each of its axes.
            count = None if isinstance(k, Tensor) else int(np.count_nonzero(k))
            fancy += [(count,)] * max(len(axes), 1)
            some = 0 if 0 in axes else 2  # an axis without elements has none to select
            pattern.extend([("l", (some,), None)] * len(axes) or ["mask"])
        else:
            fancy += [] if type(k) is np.intp else [k.shape]
            pattern.append(_layout.signature(k))
        inner.append(_INPUT if isinstance(k, Tensor) else k)
    selected = _common_shape(fancy)
    if 0 not in selected:
        for k, axis in axis_of:
            _check_bounds(k, x.shape, axis)
    shape = (*selected, *before, *after) if apart else (*before, *selected, *after)
    inputs = [k for k in entries if isinstance(k, Tensor)]
    return _Index(base, inner, inputs, shape, tuple(pattern), whole)


def _filled(inner: list[Any], arrays: Any) -> tuple[Any, ...]:
    """The key with the values of its inputs."""
    given = iter(arrays)
    return tuple([next(given) if k is _INPUT else k for k in inner])


def _miniature_key(pattern: tuple[Any, ...]) -> tuple[Any, ...]:
    basic = {None: None, Ellipsis: Ellipsis, ":": slice(None), "mask": np.array(True)}
    return tuple(
        [np.zeros_like(_layout.miniature(k)) if type(k) is tuple else basic[k] for k in pattern]
    )


# ---- x[key] and x[key] = value ------------------------------------------------------------------


@public("getitem")
def get(x: NDArray, key: Any) -> NDArray:
    """``x[key]`` for a key with index arrays or masks: a new array, selected as NumPy does."""
    if type(key) is list and x.ndim:  # NDArray itself knows the arrays that can be done natively
        key = _entry(key)
        found = take_along(x, key, 0) if key.dtype.kind in "iu" and x.shape[0] else None
        if found is not None:
            return found
    counted = _counted(x, key)
    if counted is not None:
        return get(x, counted) if follows(x) else x[counted]
    if follows(x):
        blocks = _blocks(x, key)
        return picked(x, lambda a: a[key]) if blocks is None else blocks
    base, inner, inputs, shape, pattern, _ = _resolve(x, key, known=True)

    def select(a: np.ndarray, *arrays: np.ndarray, out: np.ndarray) -> None:
        out[...] = a[_filled(inner, arrays)]

    result: NDArray = gil_op(
        "getitem",
        select,
        [base, *inputs],
        shape,
        pattern,
        mini=lambda a, *arrays: a[_miniature_key(pattern)],
        out=True,
        cost=3000 + 4.0 * math.prod(shape),
    )
    if shape or any(k is Ellipsis for k in (key if type(key) is tuple else (key,))):
        return result
    return returned(result)


def _counted(x: NDArray, key: Any) -> Any:
    """``key`` with the places of the true elements instead of its one mask, of one axis; else None.

    Behind full slices only. A gather is native, and NumPy's own way with masks is as this.
    """
    *slices, mask = key if type(key) is tuple else (key,)
    if (
        x.ndim < 2
        or len(slices) >= x.ndim
        or any(type(k) is not slice or k != slice(None) for k in slices)
    ):
        return None
    if not isinstance(mask, Tensor | np.ndarray) or mask.dtype.kind != "b" or mask.ndim != 1:
        return None
    if mask.shape[0] != x.shape[len(slices)]:
        return None
    return (*slices, looked_at(mask, "a boolean index", np.flatnonzero))


def _blocks(x: NDArray, key: Any) -> NDArray | None:
    """``x[i, j]`` for integers of the first axes as a gather of what is behind them; else None."""
    entries = [_entry(k) for k in (key if type(key) is tuple else (key,))]
    if not 0 < len(entries) <= x.ndim or not all(map(_is_index, entries)) or 0 in x.shape:
        return None
    _by_indices(x, entries)  # its errors
    places: Any = 0
    for n, k in zip(x.shape, entries, strict=False):
        # Through a gather, which finds what is out of bounds.
        numbers = array(np.arange(n), None, x.device)
        places = places * n + (int(k) % n if type(k) is np.intp else take(numbers, k))
    rest = x.shape[len(entries) :]
    return take(reshape(x, (-1, *rest)), places, 0)


@public("setitem", writes=True)
def set(x: NDArray, key: Any, value: Any) -> None:
    """``x[key] = value`` for a key with index arrays or masks; never waits."""
    if isinstance(key, Tensor) and key.dtype.kind == "b" and key.shape == x.shape and x.ndim:
        if _is_constant(value):
            return fill_where(x, key, value)
        if isinstance(value, Tensor) and fill_from(x, key, value):
            return None
    if holds_arrays(value):
        value = array(value, x.dtype, device=x.device)
    if follows(x, value):
        return stored("setitem", x, value, lambda a, v: set(a, key, v))
    base, inner, inputs, shape, _, whole = _resolve(x, key, known=False)
    if whole and _is_constant(value) and inputs and inputs[0].shape == base.shape and base.ndim:
        fill_where(base, inputs[0], value)
        return None
    constant = None
    if isinstance(value, Tensor):
        inputs.append(value)
        _check_fits(value.shape, shape, whole)
    else:
        # Python objects that the dtype can't hold are an error here.
        constant = np.array(value, None if isinstance(value, np.ndarray) else x.dtype)
        _check_fits(constant.shape, shape, whole)

    def store(a: np.ndarray, *arrays: np.ndarray) -> None:
        a[_filled(inner, arrays)] = arrays[-1] if constant is None else constant

    return gil_write("setitem", store, base, inputs)


def _is_constant(value: Any) -> bool:
    """Whether a value is a number that is known. (Arrays without axes may be numbers, too.)"""
    return not isinstance(value, Tensor) and np.isscalar(value)


def _check_fits(value: Shape, shape: tuple[int | None, ...], whole: bool = False) -> None:
    """That a value of shape ``value`` can be stored in a selection of ``shape``."""
    if whole and len(value) > 1:
        raise TypeError(
            "NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, input "
            f"has {len(value)} dimensions"
        )
    extra = max(len(value) - len(shape), 0)
    pairs = zip(reversed(value[extra:]), reversed(shape), strict=False)
    if any(n != 1 for n in value[:extra]) or any(
        n not in (1, m) and m is not None for n, m in pairs
    ):
        raise ValueError(
            f"shape mismatch: value array of shape {_text(value)} could not be broadcast to "
            f"indexing result of shape {_text(shape)}"
        )


# ---- functions that select ----------------------------------------------------------------------


_INTO: Literal["safe", "unsafe"] = "unsafe" if _numpy_facts.TAKES_INTO_ANY else "safe"


def take(
    a: Any,
    indices: Any,
    axis: int | None = None,
    out: NDArray | None = None,
    mode: str = "raise",
) -> NDArray:
    """The elements at ``indices`` along an axis, or of the flattened array.

    Args:
        indices: integers, in an array of any shape.
        axis: the axis; None: of the flattened array.
        mode: for indices out of bounds: "raise", "wrap" (start again) or "clip" (the nearest).
    Returns: an array of a's shape, with the axis replaced by the shape of ``indices``.
    Raises: IndexError for an index out of bounds: at the wait if the indices are an NDArray that is
        not computed yet; TypeError for indices that are no integers; ValueError for another
        ``mode``.

    >>> import lazyarray as la
    >>> la.take(la.array([10, 20, 30]), [2, 0]).asnumpy()
    array([30, 10])
    """
    indices = _listed(indices)
    x: NDArray = a if isinstance(a, Tensor) else operands(a, indices)[0]
    x = ravel(x) if axis is None or x.ndim == 0 else x
    axis = 0 if axis is None else normalize_axis_index(axis, x.ndim)
    if mode == "wrap" and not x.shape[axis]:
        mode = "clip"  # nothing is nearest either; NumPy (2.4) would never end
    if mode == "raise" and x.shape[axis]:
        native = take_along(x, indices, axis)
        if native is not None:
            return deliver(native, out, "take", back=_INTO)
        _check_bounds(indices, x.shape, axis)
    if follows(x):
        return deliver(
            picked(x, lambda a: take(a, indices, axis, None, mode)), out, "take", back=_INTO
        )
    _, index = operands(x, indices)

    def function(v: np.ndarray, i: np.ndarray, out: np.ndarray) -> None:
        i = _near(i, v.shape[axis], mode)
        out[...] = np.take(v, i, axis, mode=mode)  # type: ignore[call-overload]

    result = gil_op(
        "take",
        function,
        [x, index],
        (*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]),
        (axis, mode),
        out=True,
        mini=lambda v, i: np.take(v, np.zeros_like(i), axis, mode=mode),  # type: ignore[call-overload]
    )
    return deliver(result, out, "take", back=_INTO)


def _near(i: np.ndarray, n: int, mode: str) -> np.ndarray:
    """For "wrap", indices from 0 to n: NumPy (2.4) takes a step of n at a time, however far."""
    if mode == "wrap" and n and np.can_cast(i.dtype, np.intp):
        return np.remainder(i, n, dtype=np.intp)
    return i


def _listed(indices: Any) -> Any:
    """As NumPy: a list of indices becomes integers, whatever it holds; an array must hold them."""
    if isinstance(indices, (list, tuple, float)):
        return np.array(indices, np.intp)
    return indices if isinstance(indices, Tensor) else np.asarray(indices)


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> NDArray:
    """Elements by an index array that matches ``arr`` in all axes but one (as argsort gives).

    Args:
        arr: the array.
        indices: integers: an array with as many axes, which broadcasts to ``arr`` in all but one.
        axis: that axis; None: of the flattened array.
    Returns: an array of the shape of ``indices``, broadcast.
    Raises: ValueError for another number of axes; IndexError for indices that are no integers, and
        at the wait if one is out of bounds.

    >>> import lazyarray as la
    >>> x = la.array([[3, 1, 2]])
    >>> la.take_along_axis(x, la.argsort(x, axis=1), axis=1).asnumpy()
    array([[1, 2, 3]])
    """
    x, index = operands(arr, indices)
    if index.ndim == 1 and index.dtype.kind == "i" and (axis is None or x.ndim == 1):
        return take(x, index, axis)
    shape = _along(x, index, axis) if axis is None or index.ndim == x.ndim else ()
    if follows(x) and axis is not None and index.dtype.kind in "iu":
        return x[_key_along(x.shape, index, axis)]
    return gil_op(
        "take_along_axis",
        lambda v, i: np.take_along_axis(v, i, axis),
        [x, index],
        shape,
        axis,
        mini=lambda v, i: np.take_along_axis(v, np.zeros_like(i), axis),
    )


def _key_along(shape: Shape, index: NDArray, axis: int) -> tuple[Any, ...]:
    """The key that selects along an axis: positions along the others."""
    key: list[Any] = list(np.ix_(*map(np.arange, shape)))
    key[axis] = index
    return tuple(key)


def put_along_axis(arr: NDArray, indices: Any, values: Any, axis: int | None) -> None:
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
    x, index, new = operands(_changed("put_along_axis", arr), indices, values)
    if index.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if axis is not None and index.ndim != x.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    _check_fits(new.shape, _along(x, index, axis))
    if follows(x, new):
        return stored("put_along_axis", x, new, lambda a, v: put_along_axis(a, index, v, axis))
    gil_write("put_along_axis", lambda v, i, w: np.put_along_axis(v, i, w, axis), x, [index, new])


def _along(x: NDArray, index: NDArray, axis: int | None) -> Shape:
    if axis is None:
        return index.shape
    at = normalize_axis_index(axis, x.ndim)
    fixed = (*x.shape[:at], 1, *x.shape[at + 1 :])
    try:
        return np.broadcast_shapes(fixed, index.shape)
    except ValueError:
        raise IndexError(
            "shape mismatch: indexing arrays could not be broadcast together with shapes "
            f"{_text(fixed)} {_text(index.shape)} "
        ) from None


def compress(
    condition: Any, a: Any, axis: int | None = None, out: NDArray | None = None
) -> NDArray:
    """The entries along an axis for which a vector of conditions is true.

    Waits for the conditions, if they are an NDArray: the result's shape depends on them.

    Args:
        condition: a vector of bools, no longer than the axis.
        axis: the axis; None: of the flattened array.
    Returns: an array, along the axis as long as there are true conditions.
    Raises: ValueError unless the conditions are a vector; IndexError if one beyond the axis is
        true.

    >>> import lazyarray as la
    >>> la.compress([True, False, True], la.array([1, 2, 3])).asnumpy()
    array([1, 3])
    """
    if np.ndim(condition) != 1:
        raise ValueError("condition must be a 1-d array")
    return take(a, looked_at(condition, "compress()", np.flatnonzero), axis, out)


def extract(condition: Any, arr: Any) -> NDArray:
    """The elements at which a condition is true, flattened.

    Waits for the condition, if it is an NDArray: the result's shape depends on it.

    Args:
        condition: an array of bools, of arr's size.
        arr: the array.
    Returns: a vector.
    Raises: IndexError if the condition is true beyond the array.

    >>> import lazyarray as la
    >>> la.extract([True, False, True], la.array([1, 2, 3])).asnumpy()
    array([1, 3])
    """
    return take(ravel(arr), looked_at(condition, "extract()", np.flatnonzero))


def choose(a: Any, choices: Any, out: NDArray | None = None, mode: str = "raise") -> NDArray:
    """At each place the element of that array of ``choices`` which ``a`` names there.

    Args:
        a: integers from 0 to n - 1.
        choices: n arrays, which broadcast with ``a``; an array counts by its first axis.
        mode: for integers out of bounds: "raise", "wrap" (start again) or "clip" (the nearest).
    Returns: an array of the common shape.
    Raises: ValueError if the shapes do not broadcast, without choices, and at the wait for an
        integer out of bounds.

    >>> import lazyarray as la
    >>> la.choose(la.array([0, 1]), [la.array([1, 2]), la.array([3, 4])]).asnumpy()
    array([1, 4])
    """
    given = list(choices)
    x, *options = operands(a, *given)
    if any(type(c) in (int, float, complex) for c in given):  # Python's numbers are weak
        pairs = zip(given, options, strict=True)
        dtype = np.result_type(
            *[c if type(c) in (int, float, complex) else o.dtype for c, o in pairs]
        )
        options = [astype(o, dtype, False) for o in options]
    if follows(*options):
        together = stack(broadcast_arrays(*options))
        return deliver(
            picked(together, lambda n: choose(x, list(n), mode=mode)), out, "choose", back="unsafe"
        )
    result = gil_op(
        "choose",
        lambda i, *arrays: np.choose(_near(i, len(arrays), mode), arrays, mode=mode),  # type: ignore[call-overload]
        [x, *options],
        np.broadcast_shapes(*[o.shape for o in (x, *options)]),
        mode,
        mini=lambda i, *arrays: np.choose(np.zeros_like(i), arrays, mode=mode),  # type: ignore[call-overload]
    )
    return deliver(result, out, "choose", back="unsafe")


# ---- functions that store -----------------------------------------------------------------------


def put(a: NDArray, ind: Any, v: Any, mode: str = "raise") -> None:
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
        np.put(x, _near(i, x.size, mode), w, mode)  # type: ignore[arg-type]

    if mode == "raise" and isinstance(a, Tensor):
        _check_bounds(ind := _listed(ind), (a.size,), 0)
    _store("put", function, a, ind, v)


def putmask(a: NDArray, mask: Any, values: Any) -> None:
    """Stores ``values`` (repeated to a's size) where a mask of a's shape is true; changes ``a``.

    Args:
        a: the array that is changed.
        mask: an array of bools, of a's size.
        values: what is stored, each value at its own place.
    Returns: None.
    Raises: ValueError if the sizes differ.

    >>> import lazyarray as la
    >>> x = la.arange(3)
    >>> la.putmask(x, x > 0, 7)
    >>> x.asnumpy()
    array([0, 7, 7])
    """
    _store("putmask", np.putmask, a, mask, values)


def place(arr: NDArray, mask: Any, vals: Any) -> None:
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
    _store("place", np.place, arr, mask, vals)


def _changed(name: str, a: NDArray) -> NDArray:
    if not holdable(a):
        raise Unheld(f"{name} changes one of NumPy's arrays")
    if not isinstance(a, Tensor) or holds_scalar(a):
        raise TypeError(f"{name}: the array to change is an NDArray, not {type(a).__name__}")
    return a


def _store(name: str, function: Callable[..., Any], a: NDArray, where: Any, values: Any) -> None:
    x, *inputs = operands(_changed(name, a), where, values)
    if follows(x, inputs[1]):
        mask = inputs[0]
        return stored(name, x, inputs[1], lambda a, v: _store(name, function, a, mask, v))
    gil_write(name, function, x, inputs)
