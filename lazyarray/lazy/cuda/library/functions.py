"""What stands for NumPy's functions on a device; see stand_ins.py.

Each takes NumPy's arguments, and raises Hosted for those whose results CuPy's would not be.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from lazyarray.lazy.cuda.library import along, calls, indexing
from lazyarray.lazy.cuda.library.calls import Array, Hosted, Shape
from lazyarray.lazy.cuda.library.stand_ins import FUNCTIONS, UFUNCS, stands_for
from lazyarray.lazy.formulas import CUPY, JOINS, running

# What NumPy gives for an argument that was not given.
_NO_VALUE: Any = np._NoValue


FUNCTIONS["getitem"] = indexing.get
FUNCTIONS["setitem"] = indexing.put
FUNCTIONS[np.take_along_axis] = indexing.take_along
FUNCTIONS[np.put_along_axis] = indexing.put_along


# ---- sorting and searching ----------------------------------------------------------------------


def _last(x: Array, axis: int | None) -> tuple[Array, int]:
    """The array with the axis (None: all of its elements) as its last one; and the axis."""
    if axis is None:
        return x.reshape(-1), 0
    if x.ndim == 0:
        raise Hosted("an array without axes")
    axis = normalize_axis_index(axis, x.ndim)
    return calls.cupy().moveaxis(x, axis, -1), axis


@stands_for(np.sort)
def _sort(a: Array, axis: int | None = -1, kind: Any = None, *, stable: Any = None) -> Array:
    return _ordered(along.sorted_lines, a, axis)


@stands_for(np.argsort)
def _argsort(a: Array, axis: int | None = -1, kind: Any = None, *, stable: Any = None) -> Array:
    return _ordered(along.order_of, a, axis)


def _ordered(by: Callable[[Array], Array], a: Array, axis: int | None) -> Array:
    x, axis = _last(a, axis)
    if x.size == 0:
        raise Hosted("nothing to sort")
    return calls.cupy().moveaxis(by(x), -1, axis)


@stands_for(np.partition)
def _partition(a: Array, kth: Any, axis: int | None = -1, kind: Any = None) -> Array:
    return _sort(a, axis)  # which has every element in its place


@stands_for(np.argpartition)
def _argpartition(a: Array, kth: Any, axis: int | None = -1, kind: Any = None) -> Array:
    return _argsort(a, axis)


@stands_for(np.flip)
def _flip(m: Array, axis: Any = None) -> Array:
    return calls.cupy().flip(m, axis)


@stands_for(np.lexsort)
def _lexsort(keys: Any, axis: int = -1) -> Array:
    xp = calls.cupy()
    moved = [_last(k, axis)[0] for k in keys]
    if moved[0].size == 0:
        raise Hosted("nothing to sort")
    order = along.order_of(moved[0])
    for key in moved[1:]:
        order = xp.take_along_axis(order, along.order_of(xp.take_along_axis(key, order, -1)), -1)
    return xp.moveaxis(order, -1, normalize_axis_index(axis, order.ndim))


@stands_for(np.argmax)
def _argmax(a: Array, axis: int | None = None, out: None = None, *, keepdims: Any = False) -> Array:
    return _extremum("argmax", a, axis, keepdims)


@stands_for(np.argmin)
def _argmin(a: Array, axis: int | None = None, out: None = None, *, keepdims: Any = False) -> Array:
    return _extremum("argmin", a, axis, keepdims)


def _extremum(name: str, a: Array, axis: int | None, keepdims: Any) -> Array:
    x, at = _last(a, axis)
    if x.size == 0:
        raise Hosted("nothing to choose from")
    found = along.first(name, x)
    if keepdims is _NO_VALUE or not keepdims:
        return found
    return found.reshape((1,) * a.ndim) if axis is None else calls.cupy().expand_dims(found, at)


@stands_for(np.count_nonzero)
def _count_nonzero(a: Array, axis: Any = None, *, keepdims: Any = False) -> Array:
    xp = calls.cupy()
    return xp.sum(a != 0, axis=axis, dtype=np.int64, keepdims=bool(keepdims))


@stands_for(np.searchsorted)
def _searchsorted(a: Array, v: Array, side: str = "left", sorter: Any = None) -> Array:
    if a.dtype != v.dtype or a.dtype.kind == "c" or a.ndim != 1 or sorter is not None:
        raise Hosted("a search by another order")
    return calls.cupy().searchsorted(a, v, side)


@stands_for(np.median)
def _median(a: Array, axis: Any = None, keepdims: bool = False, **kwargs: Any) -> Array:
    xp = calls.cupy()
    if a.dtype.char not in "fd" or a.size == 0 or kwargs:
        raise Hosted("a median of other numbers")
    axes = tuple(range(a.ndim)) if axis is None else normalize_axis_tuple(axis, a.ndim)
    if not axes:
        raise Hosted("a median over no axis")
    kept = [i for i in range(a.ndim) if i not in axes]
    lines = a.transpose([*kept, *axes]).reshape((*[a.shape[i] for i in kept], -1))
    lines = along.sorted_lines(lines)
    n = lines.shape[-1]
    middle = lines[..., n // 2]
    if n % 2 == 0:
        middle = (lines[..., n // 2 - 1] + middle) / 2
    found = xp.where(lines[..., -1] != lines[..., -1], lines[..., -1], middle)
    return found.reshape(_shape_kept(a, axes)) if keepdims else found


def _shape_kept(a: Array, axes: Shape) -> Shape:
    return tuple([1 if i in axes else n for i, n in enumerate(a.shape)])


# ---- sums ---------------------------------------------------------------------------------------


def _reduction(name: str, reduction: str) -> Callable[..., None]:
    """CuPy's reduction for that of a ufunc."""
    neutral = getattr(np, name).identity  # leaves the others as they are; None: no number does

    def reduce(
        x: Array,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = _NO_VALUE,
        where: Any = True,
    ) -> None:
        xp = calls.cupy()
        if out is None or initial is not _NO_VALUE or x.size == 0 or axis == ():
            raise Hosted(f"{name}.reduce")
        if out[0].dtype != dtype:
            raise Hosted(f"{name}.reduce into another dtype")
        if where is not True:
            if neutral is None or where.ndim > x.ndim:
                raise Hosted(f"{name}.reduce where a mask is true")
            x = xp.where(where, x, x.dtype.type(neutral))
        sums = bool(JOINS[reduction].running)
        options = {"dtype": dtype} if sums else {}
        if sums and dtype is not None and np.dtype(dtype).kind == "b":
            raise Hosted("a sum of booleans as a boolean")
        out[0][...] = getattr(xp, reduction)(x, axis=axis, keepdims=keepdims, **options)

    return reduce


for _name, _join in JOINS.items():
    if not _join.skips_nan:
        UFUNCS[_join.op, "reduce"] = _reduction(_join.op, _name)


def _moment(name: str) -> Callable[..., Array]:
    def moment(
        a: Array,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: Any = False,
        **kwargs: Any,
    ) -> Array:
        axes = tuple(range(a.ndim)) if axis is None else normalize_axis_tuple(axis, a.ndim)
        count = 1
        for i in axes:
            count *= a.shape[i]
        if kwargs or out is not None or dtype not in (None, a.dtype) or not axes or count <= ddof:
            raise Hosted(name)
        if a.size == 0 or a.dtype.char not in "fdFD":
            raise Hosted(name)
        kept = keepdims is not _NO_VALUE and bool(keepdims)
        return getattr(calls.cupy(), name)(a, axis=axes, keepdims=kept, ddof=ddof)

    return moment


for _name in ("var", "std"):  # of complex numbers: the others, and means, are composed of sums
    FUNCTIONS[getattr(np, _name)] = _moment(_name)


def _running(name: str) -> Callable[..., Array]:
    def run(a: Array, axis: int | None = None, dtype: Any = None, out: Any = None) -> Array:
        if a.ndim == 0 or a.size == 0 or (dtype is not None and np.dtype(dtype).kind == "b"):
            raise Hosted(name)
        calls.countable(a.size)
        if dtype is None and a.dtype.kind in "biu":
            dtype = np.uint64 if a.dtype.kind == "u" else np.int64
        axis = 0 if axis is None else axis
        x = calls.cupy().ascontiguousarray(a)
        found = getattr(calls.cupy(), name)(x, axis=axis, dtype=dtype or a.dtype)
        if out is None:
            return found
        if out.dtype != found.dtype:
            raise Hosted(f"{name} into another dtype")
        out[...] = found
        return out

    return run


for _name in running().values():
    FUNCTIONS[getattr(np, _name)] = _running(_name)


@stands_for(np.round)
def _round(a: Array, decimals: int = 0, out: Any = None) -> Array:
    """NumPy's steps: scaled, rounded to the nearest, scaled back."""
    xp = calls.cupy()
    if out is not None:
        raise Hosted("rounding into an array")
    if a.dtype.kind in "iu" and decimals >= 0:
        return a.copy()
    if a.dtype.char not in "fd":
        raise Hosted("rounding of other numbers")
    scale = a.dtype.type(10.0 ** abs(decimals))
    if decimals >= 0:
        return xp.rint(a * scale) / scale
    return xp.rint(a / scale) * scale


# ---- arithmetic ---------------------------------------------------------------------------------


def _arithmetic(name: str) -> Callable[..., Array]:
    """One IEEE operation on floats, or exact on integers: the bits don't depend on who does it."""
    dtypes = [{c} for c in CUPY[name]]

    def operation(*inputs: Any, out: Any = (), where: Any = True, **kwargs: Any) -> Array:
        xp = calls.cupy()
        arrays = [*[x for x in inputs if isinstance(x, xp.ndarray)], *out]
        numbers = {type(x) for x in inputs if not isinstance(x, xp.ndarray)}
        wanted = {x.dtype.char for x in arrays}
        allowed = {int} if wanted == {"l"} else {int, float}
        if wanted not in dtypes or numbers - allowed or set(kwargs) - {"casting"}:
            raise Hosted(f"np.{name} of other numbers")
        if where is not True and not out:
            raise Hosted(f"np.{name} where a mask is true, of which the rest is anything")
        found = getattr(xp, name)(*inputs)
        if not out:
            return found
        xp.copyto(out[0], found, where=where)
        return out[0]

    return operation


for _name in CUPY:
    UFUNCS[_name, "__call__"] = _arithmetic(_name)


# ---- indices ------------------------------------------------------------------------------------


@stands_for(np.take)
def _take(
    a: Array, indices: Any, axis: int | None = None, out: None = None, mode: str = "raise"
) -> Array:
    return indexing.take_mode(a, indices, axis, mode)


@stands_for(np.delete)
def _delete(a: Array, obj: Any, axis: int) -> Array:
    kept = np.delete(np.arange(a.shape[axis]), obj)
    return indexing.take_mode(a, kept, axis, "clip")


def _start_again(i: Any, n: Any, dtype: Any = None, **kwargs: Any) -> Array:
    """Indices modulo the length of an axis."""
    xp = calls.cupy()
    if type(n) is not int or n <= 0 or kwargs or np.dtype(dtype).kind != "i":
        raise Hosted("a remainder of other numbers")
    if not isinstance(i, xp.ndarray) or i.dtype.kind not in "biu":
        raise Hosted("a remainder of other numbers")
    return xp.remainder(i.astype(dtype, copy=False), n)


UFUNCS[np.remainder.__name__, "__call__"] = _start_again


# ---- products -----------------------------------------------------------------------------------


@stands_for(np.vdot)
def _vdot(a: Array, b: Array) -> Array:
    if a.dtype != b.dtype or a.dtype.char not in "fdFD":
        raise Hosted("vdot of other numbers")
    return (a.reshape(-1).conj() * b.reshape(-1)).sum()


@stands_for(np.dot)
def _dot(a: Array, b: Array, out: Any = None) -> Array:
    """Of more axes than two: one product of matrices."""
    xp = calls.cupy()
    if a.dtype != b.dtype or a.dtype.char not in "fdFD" or 0 in (a.ndim, b.ndim, a.size, b.size):
        raise Hosted("dot of other numbers")
    summed = max(b.ndim - 2, 0)
    right = xp.moveaxis(b, summed, 0)
    matrices = a.reshape(1, -1, a.shape[-1]), right.reshape(1, right.shape[0], -1)
    found = xp.matmul(*matrices).reshape((*a.shape[:-1], *right.shape[1:]))
    if out is None:
        return found
    out[...] = found
    return out
