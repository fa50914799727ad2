"""Indexing: what ``x[key]`` and ``x[key] = value`` do where the key is more than slices.

A key is split in two: its slices give a view (the base), its index arrays and masks a key for that
view. Selecting is one instruction on the base; the result's shape follows from
shapes alone, unless a mask is an NDArray, whose true elements must be counted: that waits.
Storing never waits. An index out of bounds is an IndexError: at once in a list or NumPy array, at
the wait in an NDArray.
"""

from __future__ import annotations

import math
import operator
from contextlib import suppress
from itertools import islice
from numbers import Number
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lazyarray.functions._checks import check_bounds, check_fits, indices_in
from lazyarray.functions.manipulation import reshape
from lazyarray.functions.selecting import take
from lazyarray.lazy._lazy import Tensor, returned, shape_text
from lazyarray.ops import _layout
from lazyarray.ops._differentiable import follows
from lazyarray.ops._layout import Shape, gil_op, gil_write, looked_at, values
from lazyarray.ops._moves import picked, stored
from lazyarray.ops._rows import array, fill_from, fill_where, holds_arrays, public, take_along

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray


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
        with suppress(TypeError):  # it may be an array for all that
            return np.intp(operator.index(k))
    a = k if isinstance(k, Tensor) else indices_in(k)  # a copy: the caller may change it
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


def _common_shape(shapes: list[tuple[int | None, ...]]) -> tuple[int | None, ...]:
    """The broadcast shape of index arrays; None is the length of a mask's selection, unknown."""
    if shapes and shapes.count(shapes[0]) == len(shapes):
        return shapes[0]
    try:
        known = [[1 if n is None else n for n in s] for s in shapes]  # which gives way to others
        common = np.broadcast_shapes(*map(tuple, known))
    except ValueError as error:
        if "mismatch" not in str(error):  # they are too many elements
            raise
        texts = " ".join([shape_text(s) for s in shapes])
        raise IndexError(
            f"shape mismatch: indexing arrays could not be broadcast together with shapes {texts} "
        ) from None
    if (None,) in shapes and common[-1] == 1:
        return (*common[:-1], None)
    return common


def _by_indices(x: NDArray, entries: list[Any]) -> _Index:
    """Takes a key apart that holds nothing but indices, of the first axes."""
    arrays = [k for k in entries if type(k) is not np.intp]
    selected = _common_shape([k.shape for k in arrays])
    for axis, k in enumerate(entries):
        _check_entry(k, x.shape, axis)
        if 0 not in selected:
            check_bounds(k, x.shape, axis)
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
            # An axis without elements has none to select.
            some = min(2 if count is None else count, 0 if 0 in axes else 2)
            pattern.extend([("l", (some,), None)] * len(axes) or ["mask"])
        else:
            fancy += [] if type(k) is np.intp else [k.shape]
            pattern.append(_layout.signature(k))
        inner.append(_INPUT if isinstance(k, Tensor) else k)
    selected = _common_shape(fancy)
    if 0 not in selected:
        for k, axis in axis_of:
            check_bounds(k, x.shape, axis)
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
        check_fits(value.shape, shape, whole)
    else:
        # Python objects that the dtype can't hold are an error here.
        constant = np.array(value, None if isinstance(value, np.ndarray) else x.dtype)
        check_fits(constant.shape, shape, whole)

    def store(a: np.ndarray, *arrays: np.ndarray) -> None:
        a[_filled(inner, arrays)] = arrays[-1] if constant is None else constant

    return gil_write("setitem", store, base, inputs)


def _is_constant(value: Any) -> bool:
    """Whether a value is a number that is known. (Arrays without axes may be numbers, too.)"""
    number = isinstance(value, (Number, np.bool_)) and not isinstance(value, Tensor)
    return number and not isinstance(value, np.timedelta64)
