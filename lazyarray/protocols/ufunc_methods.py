"""Calls and methods of ufuncs: reduce, accumulate, reduceat, outer, at, and ufuncs without a row.

The rows' methods (``la.add.reduce``) and NumPy's protocol (``np.add.reduce(x)``) end here. Each
is an op with a row of its own (``add.reduce`` is ``sum``) or one instruction that calls NumPy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazyarray.functions import sums
from lazyarray.functions.broadcasting import broadcast_to
from lazyarray.functions.selecting import take, take_along_axis
from lazyarray.lazy._lazy import Tensor, note_call, once, paused, tracked
from lazyarray.lazy.formulas import JOINS
from lazyarray.ops import _layout, _rows, hosts
from lazyarray.ops._differentiable import follows, summed_to
from lazyarray.ops._moves import numbers
from lazyarray.ops._rows import reduction_of, row_of

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray.engine import Device


_SCALARS = (bool, int, float, complex, np.generic)
_MISSING: Any = np._NoValue  # what help() shows: <no value>


# ---- results into `out` -------------------------------------------------------------------------


def deliver(result: NDArray, out: Any, where: Any = True, casting: Any = "same_kind") -> Any:
    """``result`` written into ``out``; a NumPy array is written at once, so this waits."""
    if out is None:
        return result
    _refuse(result, out, casting)
    if isinstance(out, Tensor):
        result = result if where is True else _rows.select(where, result, out)
        return _layout.deliver(result, out, "a ufunc", broadcasts=True, back="unsafe")
    mask = where if where is True else _layout.values(where, "out= of NumPy")
    np.copyto(out, _layout.values(result, "out= of NumPy"), casting=casting, where=mask)
    return out


def deliver_each(
    results: tuple[NDArray, ...],
    outs: tuple[Any, ...],
    where: Any = True,
    casting: Any = "same_kind",
) -> tuple[Any, ...]:
    """Each of several results as by :func:`deliver`; all errors come before the first write."""
    if where is not True:
        where = _rows.mask_of(where, results[0].device)
        shape = np.broadcast_shapes(results[0].shape, where.shape)
        if shape != results[0].shape:
            results = tuple([broadcast_to(result, shape).copy() for result in results])
    pairs = list(zip(results, outs, strict=True))
    given = [out for out in outs if out is not None]
    full = given[0].shape if given else ()
    for out in given[1:]:
        if out.shape != full:  # one may be larger than the operands, but so must all be then
            small, full = sorted((full, out.shape), key=math.prod)
            raise ValueError(
                f"non-broadcastable output operand with shape {small} doesn't match the broadcast "
                f"shape {full}"
            )
    for result, out in pairs:
        if out is not None:
            _refuse(result, out, casting)
    return tuple([deliver(result, out, where, casting) for result, out in pairs])


def _refuse(result: NDArray, out: Any, casting: Any) -> None:
    if not np.can_cast(result.dtype, out.dtype, casting):
        raise TypeError(
            f"Cannot cast ufunc output from {result.dtype!r} to {out.dtype!r} with casting rule "
            f"{casting!r}"
        )
    if not _layout.fits(result.shape, out.shape):
        raise ValueError(
            f"non-broadcastable output operand with shape {out.shape} doesn't match the broadcast "
            f"shape {result.shape}"
        )
    if not out.flags.writeable:
        raise ValueError("output array is read-only")


def _only(out: Any) -> Any:
    """The one array that ``out`` of a method names, or None."""
    given = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    if given is Ellipsis:
        return None
    return given if isinstance(given, np.ndarray) else _rows.sole_out(out)


def _into(
    out: Any, shape: _layout.Shape, name: str, device: Device, record: Callable[[Any], Any]
) -> Any:
    """``record(to)`` with the array that the op writes: ``out``, None, or one for a NumPy array."""
    if out is None:
        return record(None)
    if out.shape != shape:
        raise ValueError(
            f"output parameter for {name} has the wrong shape: {out.shape} instead of {shape}"
        )
    if isinstance(out, Tensor):
        return record(out)
    return deliver(record(_rows.empty(shape, out.dtype, device)), out)


def _op(
    name: str,
    function: Callable[..., np.ndarray],
    inputs: list[NDArray],
    shape: _layout.Shape,
    out: Any,
    key: Hashable,
    mini: Callable[..., np.ndarray] | None = None,
) -> Any:
    """``function(*inputs)`` as one instruction, which writes into ``out`` if that is given."""

    def record(to: Any) -> Any:
        return _layout.gil_op(name, function, inputs, shape, key, mini=mini, into=to)

    return _into(out, shape, name, inputs[0].device, record)


# ---- calls --------------------------------------------------------------------------------------


def call(ufunc: np.ufunc, *inputs: Any, out: Any = None, where: Any = True, **kwargs: Any) -> Any:
    """A ufunc that has no row (SciPy's, say), elementwise: one instruction that calls it.

    Of other signatures: NumPy calls it now, as only its result tells what shape it has.
    """
    if ufunc.signature is not None:
        if out is not None:
            kwargs["out"] = out
        why = TypeError(f"the ufunc {ufunc.__name__} has no counterpart in lazyarray")
        return hosts.handed_over(ufunc, inputs, kwargs, why)
    fixed = [o if not isinstance(o, Tensor) and isinstance(o, _SCALARS) else None for o in inputs]
    arrays = _layout.operands(*[o for o, f in zip(inputs, fixed, strict=True) if f is None])

    def function(*v: np.ndarray) -> Any:
        rest = iter(v)
        return ufunc(*[next(rest) if f is None else f for f in fixed], **kwargs)

    casting = kwargs.get("casting", "same_kind")
    # All elements are computed, also those that `where` leaves out: SciPy's loops move the pointers
    # they are given, and so write beyond the array where NumPy calls them for parts of a row.
    shape = np.broadcast_shapes(*[x.shape for x in arrays])
    key = (ufunc, *map(_key, fixed), *[(k, str(v)) for k, v in kwargs.items()])
    shapes: Any = shape if ufunc.nout == 1 else [shape] * ufunc.nout
    results = _layout.gil_op(ufunc.__name__, function, arrays, shapes, key)
    if ufunc.nout == 1:
        return deliver(results, _only(out), where, casting)
    outs = out or (None,) * ufunc.nout
    return deliver_each(results, outs, where, casting)


def _key(scalar: Any) -> Hashable:
    return scalar if scalar is None else (type(scalar), scalar)


# ---- methods ------------------------------------------------------------------------------------


def _binary(ufunc: np.ufunc, method: str) -> str:
    """The method's full name; NumPy's errors for ufuncs that don't have it."""
    what = "outer product" if method == "outer" else method
    if ufunc.signature is not None:
        raise RuntimeError(f"{what.capitalize()} is not defined on ufunc with signature")
    if ufunc.nin != 2:
        raise ValueError(f"{what} only supported for binary functions")
    if ufunc.nout != 1 and method != "outer":
        raise ValueError(f"{what} only supported for functions returning a single value")
    return f"{ufunc.__name__}.{method}"


def _refuse_nothing(ufunc: np.ufunc, x: NDArray, axes: tuple[int, ...]) -> None:
    if 0 in [x.shape[a] for a in axes] and 0 not in _rows.reduced_shape(x.shape, axes, False):
        raise ValueError(
            f"zero-size array to reduction operation {ufunc.__name__} which has no identity"
        )


def reduce(
    ufunc: np.ufunc,
    x: Any,
    axis: Any = 0,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = _MISSING,
    where: Any = True,
) -> Any:
    """``ufunc.reduce``: the ufunc between the elements along axes."""
    name = _binary(ufunc, "reduce")
    if out is Ellipsis:
        more = {} if initial is _MISSING else {"initial": initial}
        return _rows.writable(reduce(ufunc, x, axis, dtype, None, keepdims, where=where, **more))
    x, out = _rows.asarray(x), _only(out)
    row = reduction_of(ufunc)
    if initial is None and where is not True:  # that is: without the ufunc's own
        raise ValueError(
            f"reduction operation {ufunc.__name__!r} does not have an identity, so to use a where "
            "mask one has to specify 'initial'"
        )
    if axis is None and x.ndim == 1:
        axis = 0
    if row is not None:

        def record(to: Any) -> Any:
            return row.asked(x, axis, dtype, to, keepdims, initial, where)

        if out is None or isinstance(out, Tensor):
            return record(out)
        axes = _rows.normalize_axes(axis, x.ndim)
        shape = _rows.reduced_shape(x.shape, axes, keepdims)
        return _into(out, shape, name, x.device, record)
    alone = x.ndim == 0 and axis in (None, 0, -1)  # which NumPy takes for an axis there
    axes = () if alone else _rows.normalize_axes(axis, x.ndim)
    if initial is None or (initial is _MISSING and ufunc.identity is None):
        _refuse_nothing(ufunc, x, axes)
    kwargs: dict[str, Any] = {
        "axis": axis if alone else axes,
        "dtype": _rows.dtype_of(dtype),
        "keepdims": keepdims,
    }
    if initial is not _MISSING:
        kwargs["initial"] = initial
    masked = where is not True
    inputs = _layout.operands(x, where) if masked else [x]

    def function(v: np.ndarray, *masks: np.ndarray, **to: Any) -> Any:
        return ufunc.reduce(v, **kwargs, where=masks[0] if masks else True, **to)

    shape = _rows.reduced_shape(x.shape, axes, keepdims)
    return _op(name, function, inputs, shape, out, (*map(str, kwargs.values()), masked))


def _running_extreme(ufunc: np.ufunc, x: NDArray, axis: int, dtype: Any) -> NDArray:
    """``maximum.accumulate`` and ``minimum``'s as a selection: of the last that set the record."""
    along = [1] * x.ndim
    along[axis] = -1
    with paused():
        records = accumulate(ufunc, x, axis, dtype)
        places = _rows.array(np.arange(x.shape[axis]).reshape(along), None, x.device)
        # A NaN is a record, and all after it are NaN.
        sets = (x == records) | (x != x)
        index = accumulate(np.maximum, _rows.select(sets, places, 0), axis)
    found = take_along_axis(x, index, axis)
    return found if dtype is None else _rows.astype(found, dtype, copy=False)


# What running a ufunc over an axis is composed of, where its gradient is wanted.
_RUNNING: dict[np.ufunc, Callable[..., NDArray]] = {
    getattr(np, join.op): getattr(sums, join.running)
    if join.running
    else partial(_running_extreme, getattr(np, join.op))
    for join in JOINS.values()
    if join.running or (join.largest is not None and not join.skips_nan)
}
# ... of these with a loop of ours.
_RUNNING_SUMS = frozenset(getattr(np, join.op) for join in JOINS.values() if join.running)


def accumulate(ufunc: np.ufunc, x: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
    """``ufunc.accumulate``: each element with all before it along an axis."""
    name = _binary(ufunc, "accumulate")
    x = _rows.asarray(x)
    out = _only(out)
    if out is None and ufunc in _RUNNING_SUMS and x.ndim and type(axis) is int:
        return _RUNNING[ufunc](x, axis, dtype)
    if follows(x) and ufunc in _RUNNING and x.ndim:
        if not isinstance(out, Tensor):
            return deliver(_RUNNING[ufunc](x, axis, dtype), out)
        with paused():
            values = accumulate(ufunc, x, axis, dtype, _layout.new_like(out))
        _rows.assign_to(out, _RUNNING[ufunc](x, axis, dtype))
        with paused():
            _rows.assign_to(out, values)
        return out
    row = row_of(ufunc) if ufunc in _RUNNING and out is None and dtype is None else None
    if row is not None and type(axis) is int and -x.ndim <= axis < x.ndim:
        found = _rows.accumulated(row, x, axis % x.ndim, None)
        if found is not None:
            return found
    function = partial(ufunc.accumulate, axis=axis, dtype=dtype)
    return _op(name, function, [x], x.shape, out, (axis, _rows.dtype_of(dtype)))


def reduceat(
    ufunc: np.ufunc, x: Any, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None
) -> Any:
    """``ufunc.reduceat``: reduces slices along an axis, each from one index to the next.

    Indices in an NDArray that are out of bounds are an IndexError at the wait.
    """
    name = _binary(ufunc, "reduceat")
    x = _rows.asarray(x)
    if not x.ndim:
        raise TypeError("cannot reduceat on a scalar")
    axis = normalize_axis_index(axis, x.ndim)
    n = x.shape[axis]
    if not isinstance(indices, Tensor):
        indices = np.array(indices, np.intp)
        for i in indices.ravel().tolist():
            if not 0 <= i < n:
                raise IndexError(f"index {i} out-of-bounds in {name} [0, {n})")
    if indices.ndim != 1:
        raise ValueError("indices of reduceat have one axis")
    if indices.dtype.kind not in "iu":
        raise TypeError(f"indices of reduceat are integers, not {indices.dtype}")
    function = partial(ufunc.reduceat, axis=axis, dtype=dtype)

    def mini(v: np.ndarray, at: np.ndarray, **to: Any) -> np.ndarray:
        return function(v, at * 0, **to)

    shape = (*x.shape[:axis], indices.size, *x.shape[axis + 1 :])
    key = (axis, _rows.dtype_of(dtype))
    return _op(name, function, _layout.operands(x, indices), shape, _only(out), key, mini)


def outer(ufunc: np.ufunc, a: Any, b: Any, /, *, out: Any = None, **kwargs: Any) -> Any:
    """``ufunc.outer``: the ufunc of each element of ``a`` with each of ``b``."""
    _binary(ufunc, "outer")
    a, b = _layout.operands(a, b)
    pair = (a.reshape(a.shape + (1,) * b.ndim), b)
    function = row_of(ufunc) or partial(call, ufunc)
    if out is None or ufunc.nout > 1 or not isinstance(_only(out), np.ndarray):
        return function(*pair, out=out, **kwargs)
    return deliver(function(*pair, **kwargs), _only(out), kwargs.get("where", True))


def at(ufunc: np.ufunc, a: Any, indices: Any, /, *values: Any) -> None:
    """``ufunc.at``: unbuffered, in place, so that an index given twice counts twice.

    If ``a`` is a NumPy array it is changed at once: this waits for the others.
    """
    if ufunc.nout != 1:
        raise ValueError("Only single output ufuncs supported at this time")
    if not isinstance(a, Tensor):
        entries = indices if isinstance(indices, tuple) else (indices,)
        host = [[_host(o) for o in group] for group in (entries, values)]
        ufunc.at(a, tuple(host[0]) if isinstance(indices, tuple) else host[0][0], *host[1])
        return
    x: NDArray = _rows.out_array(a)
    name = f"{ufunc.__name__}.at"
    ufunc.at(np.ones(1, x.dtype), [0], *[np.ones(1, _dtype_of(v)) for v in values])  # its errors
    inputs: list[NDArray] = []

    def slot(o: Any) -> Any:
        if o is None or o is Ellipsis or isinstance(o, (slice, int)):
            return lambda ins: o
        place = len(inputs)
        inputs.append(o if isinstance(o, Tensor) else _rows.array(o, None, x.device))
        return lambda ins: ins[place]

    def index(o: Any) -> Any:
        if isinstance(o, (list, range)) and not _rows.holds_arrays(o):
            o = np.asarray(o)
            o = o if o.size else o.astype(np.intp)  # a list of nothing is no float64 here
        if isinstance(o, Tensor) and o.dtype.kind not in "iub":
            raise IndexError("arrays used as indices must be of integer (or boolean) type")
        known.append(o)
        return slot(o)

    known: list[Any] = []
    keys = [index(k) for k in (indices if isinstance(indices, tuple) else (indices,))]
    if not any(isinstance(o, Tensor) for o in known):  # what is wrong is told here
        selected = np.broadcast_to(np.int8(0), x.shape)[tuple(known)].shape
        for v in values:
            given = np.shape(v)
            if len(given) > len(selected) or np.broadcast_shapes(given, selected) != selected:
                raise ValueError("array is not broadcastable to correct shape")
    operands = [slot(v) for v in values]

    def run(to: np.ndarray, *ins: np.ndarray) -> None:
        once(ufunc.at, to, tuple([k(ins) for k in keys]), *[v(ins) for v in operands])

    if follows(x, *values) and ufunc in (np.add, np.subtract):
        key = indices if isinstance(indices, tuple) else (indices,)
        _added(ufunc, x, key, values[0], lambda: _layout.gil_write(name, run, x, inputs))
    else:
        _layout.gil_write(name, run, x, inputs)


def _added(ufunc: np.ufunc, x: NDArray, key: Any, value: Any, write: Callable[[], None]) -> None:
    """``add.at`` and ``subtract.at``, recorded: each value's gradient is that of its place."""
    shape, follow = np.shape(value), isinstance(value, Tensor) and tracked(value)
    places = numbers(x)[key]

    def rule(gradients: list[Any], saved: list[Any]) -> list[Any]:
        (g,) = gradients
        if not follow:
            return [g, None]
        part = take(g.reshape(-1), saved[0])
        return [g, summed_to(part if ufunc is np.add else -part, shape)]

    note_call(f"{ufunc.__name__}.at", rule, [x, value], [x], [places])
    with paused():
        write()


def _host(o: Any) -> Any:
    return _layout.values(o, "ufunc.at of a NumPy array") if isinstance(o, Tensor) else o


def _dtype_of(value: Any) -> np.dtype[Any]:
    return value.dtype if isinstance(value, Tensor) else np.asarray(value).dtype


METHODS: dict[str, Callable[..., Any]] = {
    "__call__": call,
    "reduce": reduce,
    "accumulate": accumulate,
    "reduceat": reduceat,
    "outer": outer,
    "at": at,
}
_rows.teach(methods=METHODS)
