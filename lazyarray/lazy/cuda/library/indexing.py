"""Elements by indices and masks: take and its adjoint, picking and placing by masks, keys.

CuPy takes indices modulo the length, and of several values that are stored in one place keeps any:
so indices are checked first, which waits for them, and of such values only the last is stored.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazyarray.lazy._lazy import shape_text
from lazyarray.lazy.cuda.library import along, calls
from lazyarray.lazy.cuda.library.calls import Array, Call, Hosted, Shape, check_bounds, runs
from lazyarray.lazy.cuda.library.kernels import launch

# ---- native instructions ------------------------------------------------------------------------


@runs()
def take(call: Call) -> None:
    """Blocks by indices; see lazy/cpu/gather.h."""
    n, m, block, axis = call.core
    item = call.dtypes[0].itemsize
    index = call.view(1, (m,), (call.dtypes[1].itemsize,))
    check_bounds(index, n, axis)
    many = block // item
    if 0 in (*call.shape, m, many):
        return
    source = call.view(0, (*call.shape, n, many), (*call.steps[0], call.core_steps[0], item))
    out = call.view(2, (*call.shape, m, many), (*call.steps[2], block, item))
    _taken(source, index, len(call.shape), out)


def _taken(x: Array, index: Array, axis: int, out: Array | None = None) -> Array:
    """``np.take`` of indices that are right."""
    if math.prod(x.shape[:axis]) > 1:  # else CuPy multiplies no lengths
        calls.countable(index.size * math.prod(x.shape[axis + 1 :]))
    return calls.cupy().take(x, index, axis=axis, out=out)


@runs()
def scatter(call: Call) -> None:
    """Sums of blocks by indices, in the indices' order; see lazy/cpu/scatter.h."""
    n, m, block, axis = call.core
    index = call.view(1, (m,), (call.core_steps[1],))
    check_bounds(index, n, axis)
    outer = math.prod(call.shape)
    for k, step in ((0, m * block), (2, n * block)):
        if _steps(call.shape, step) != _long(call.shape, call.steps[k]):
            raise Hosted("sums into memory with gaps")
    if call.core_steps[0] != block and n > 1:
        raise Hosted("sums into memory with gaps")
    _add_up(call, index % n if m else index, outer, n, m, block)


@runs()
def add_rows(call: Call) -> None:
    """Sums of rows by indices, in their order; what is out of bounds counts for nothing."""
    n, m, k = call.core
    index = call.view(1, (m,), (call.dtypes[1].itemsize,))
    index = calls.cupy().where(index < 0, index + n, index)
    _add_up(call, index, 1, n, m, k * call.dtypes[0].itemsize)


def _steps(shape: Shape, step: int) -> Shape:
    """The bytes along the axes of a shape in C order that count, those longer than one."""
    steps = []
    for n in reversed(shape):
        steps.append(step)
        step *= n
    return _long(shape, tuple(reversed(steps)))


def _long(shape: Shape, steps: Shape) -> Shape:
    return tuple([step for n, step in zip(shape, steps, strict=True) if n > 1])


def _add_up(call: Call, index: Array, outer: int, n: int, m: int, block: int) -> None:
    xp = calls.cupy()
    dtype = call.dtypes[0]
    real = np.dtype(dtype.char.lower())  # complex numbers are pairs
    size = block // real.itemsize
    order = along.order_of(index)
    starts = xp.searchsorted(index[order], xp.arange(n + 1, dtype=np.int64))
    blocks, to = [call.view(k, (1,), (dtype.itemsize,)) for k in (0, 2)]
    launch("sums", real, outer * n * size, blocks, order, starts, to, n, m, size)


@runs()
def getitem(call: Call) -> None:
    """The elements at which a mask is true; their number is that of the output's."""
    n, count = call.core
    calls.countable(count)
    if count:
        source, mask, out = [
            call.view(k, (length,), (call.dtypes[k].itemsize,))
            for k, length in enumerate((n, n, count))
        ]
        out[...] = source[mask]


@runs()
def setitem(call: Call) -> None:
    """Values stored where a mask is true, in turn, or one value in all places."""
    n, have = call.core
    mask, out = [call.view(k, (n,), (call.dtypes[k].itemsize,)) for k in (0, 2)]
    values = call.view(1, (have,), (call.dtypes[1].itemsize,))
    if have == 1:
        calls.cupy().copyto(out, values, where=mask)
        return
    want = int(mask.sum())
    _check_count(have, want)
    calls.countable(want)
    if want:
        out[mask] = values


def _check_count(have: int, want: int) -> None:
    if have not in (1, want):
        raise ValueError(
            f"NumPy boolean array indexing assignment cannot assign {have} input values to the "
            f"{want} output values where the mask is true"
        )


# ---- keys ---------------------------------------------------------------------------------------


def _expanded(x: Array, key: Any) -> list[Any]:
    """The key as full slices, integers and arrays of integers, one for each axis; checked."""
    xp = calls.cupy()
    entries: list[Any] = []
    for k in key if isinstance(key, tuple) else (key,):
        if isinstance(k, np.ndarray):
            k = xp.asarray(k)
        if isinstance(k, xp.ndarray) and k.dtype.kind == "b":
            if k.ndim == 0:
                raise Hosted("an index without axes")
            entries += k.nonzero()
        elif isinstance(k, (slice, type(Ellipsis), int, np.integer)) or (
            isinstance(k, xp.ndarray) and k.dtype.kind in "iu"
        ):
            if isinstance(k, slice) and k != slice(None):
                raise Hosted("a slice beside arrays")
            entries.append(k)
        else:
            raise Hosted(f"an index of type {type(k).__name__}")
    rest = x.ndim - len(entries)
    dots = [i for i, k in enumerate(entries) if k is Ellipsis]
    if dots:
        entries[dots[0] : dots[0] + 1] = [slice(None)] * (rest + 1)
    else:
        entries += [slice(None)] * rest
    if len(entries) != x.ndim:
        raise Hosted("an index of other axes")
    arrays = [(axis, k) for axis, k in enumerate(entries) if isinstance(k, xp.ndarray)]
    if all(k.size for _, k in arrays):  # else nothing is selected, and NumPy looks at none
        for axis, k in arrays:
            check_bounds(k, x.shape[axis], axis)
    return entries


def get(x: Array, key: Any) -> Array:
    """``x[key]`` for arrays of integers and masks beside full slices."""
    entries = _expanded(x, key)
    shapes = [k.shape for k in entries if isinstance(k, calls.cupy().ndarray)]
    axes = [i for i, k in enumerate(entries) if not isinstance(k, slice)]
    if shapes and math.prod(x.shape[: axes[0]]) > 1:  # as in _taken
        rest = [n for i, n in enumerate(x.shape) if i > axes[0] and i not in axes]
        calls.countable(math.prod((*np.broadcast_shapes(*shapes), *rest)))
    return x[tuple(entries)]


def put(x: Array, key: Any, value: Any) -> None:
    """``x[key] = value`` for such a key; where a place is named twice, the last value stays."""
    xp = calls.cupy()
    entries = _expanded(x, key)
    axes = [i for i, k in enumerate(entries) if not isinstance(k, slice)]
    if not axes:
        x[...] = value
        return
    lengths = [x.shape[i] for i in axes]
    picked = [xp.asarray(entries[i], dtype=np.int64) for i in axes]
    shape = np.broadcast_shapes(*[k.shape for k in picked])
    rest = tuple([n for i, n in enumerate(x.shape) if i not in axes])
    # The value over (*shape, *rest): NumPy has the indices' axes in their place if adjacent.
    at = axes[0] if axes == list(range(axes[0], axes[0] + len(axes))) else 0
    given = xp.asarray(value)
    (mask, *others) = key if isinstance(key, tuple) else (key,)
    if not others and not rest and getattr(mask, "dtype", None) == np.bool_:
        _check_count(given.size, math.prod(shape))
    while given.ndim > len(shape) + len(rest) and given.shape[0] == 1:
        given = given[0]
    wanted = (*rest[:at], *shape, *rest[at:])
    try:
        given = xp.broadcast_to(given, wanted)
    except ValueError:
        raise ValueError(
            f"shape mismatch: value array of shape {shape_text(given.shape)} could not be "
            f"broadcast to indexing result of shape {shape_text(wanted)}"
        ) from None
    if 0 in shape or x.size == 0:
        return
    place = xp.zeros(shape, np.int64)
    for k, n in zip(picked, lengths, strict=True):
        place = place * n + k % n
    given = xp.moveaxis(given, tuple(range(at, at + len(shape))), tuple(range(len(shape))))
    given = xp.ascontiguousarray(given).reshape(-1, *rest)
    flat = place.reshape(-1)
    if flat.size > 1:
        order = along.order_of(flat)
        places = flat[order]
        last = xp.ones(flat.shape, np.bool_)
        last[:-1] = places[1:] != places[:-1]
        chosen = order[last]
        flat, given = flat[chosen], given[chosen]
    key = []
    for n in reversed(lengths):
        key.append(flat % n)
        flat = flat // n
    moved = xp.moveaxis(x, tuple(axes), tuple(range(len(axes))))
    moved[tuple(reversed(key))] = given


def take_along(x: Array, index: Array, axis: int | None) -> Array:
    """``np.take_along_axis``."""
    if axis is None:
        x, axis = x.reshape(-1), 0
    return get(x, _key_along(x, index, axis))


def put_along(x: Array, index: Array, value: Any, axis: int | None) -> None:
    """``np.put_along_axis``."""
    if axis is None:
        if not x.flags.c_contiguous:
            raise Hosted("the flattened array is no view")
        x, axis = x.reshape(-1), 0
    put(x, _key_along(x, index, axis), value)


def _key_along(x: Array, index: Array, axis: int) -> tuple[Any, ...]:
    xp = calls.cupy()
    if index.ndim != x.ndim or index.dtype.kind not in "iu":
        raise Hosted("an index along an axis that has other axes")
    axis = normalize_axis_index(axis, x.ndim)
    key = []
    for i, n in enumerate(x.shape):
        along_it = [1] * x.ndim
        along_it[i] = n
        key.append(index if i == axis else xp.arange(n).reshape(along_it))
    return tuple(key)


def take_mode(x: Array, index: Any, axis: int | None, mode: str) -> Array:
    """``np.take``."""
    xp = calls.cupy()
    index = xp.asarray(index)
    if axis is None:
        x, axis = x.reshape(-1), 0
    axis = normalize_axis_index(axis, x.ndim)
    n = x.shape[axis]
    if index.dtype.kind not in "iu" or (n == 0 and index.size):
        raise Hosted("a take of nothing")
    if 0 in x.shape[:axis]:  # no index is looked at, as in NumPy
        index = xp.zeros_like(index)
    elif mode == "raise":
        check_bounds(index, n, axis)
    elif mode == "clip":
        index = xp.clip(index, 0, n - 1)
    else:
        index = index % n
    return _taken(x, index, axis)
