"""Layouts by asking NumPy itself: what a function's result looks like, without its values.

A view function (``transpose``, ``diagonal``, ...) gets a *probe*: a NumPy array with an array's
dtype, shape and strides at an address that nobody ever reads. A function that makes new arrays
gets *miniatures*: small arrays with the same axes in the same memory order, no axis longer than
two. So views, strides, dtypes and error texts are NumPy's by construction; only shapes have rules
of their own here. ``gil_op`` records such a function as one instruction that takes the GIL.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from lazyarray.lazy._lazy import Giving, Pieces, Tensor, is_recording, paused, recorded, returned
from lazyarray.ops._differentiable import follows, note
from lazyarray.ops._rows import (
    array,
    asarray,
    assign_to,
    call,
    contiguous_signature,
    empty,
    inside,
    out_array,
    own_array,
    probe,
    seen,
    strided,
)

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray.engine import Device

Shape = tuple[int, ...]


def viewed(x: Any, function: Callable[..., np.ndarray], *args: Any, **kwargs: Any) -> NDArray:
    """The view of ``x`` that NumPy's view function gives of an array of its layout."""
    x = as_given(x)
    return seen(x, function(probe(x), *args, **kwargs))


def as_given(x: Any) -> NDArray:
    """``x`` as an array; NumPy's scalars, whose views are scalars, as one of ours."""
    made = asarray(x)
    return returned(made) if made is not x and isinstance(x, np.generic) else made


# ---- operands -----------------------------------------------------------------------------------


def device_of(*objects: Any) -> Device | None:
    """The first array's device, or that of the first in lists and tuples; None if there is none."""
    for o in objects:
        if isinstance(o, Tensor):
            found: Device = o.device
            return found
    arrays = inside([o for o in objects if isinstance(o, (list, tuple))], Tensor)
    return arrays[0].device if arrays else None


def operands(*objects: Any) -> list[NDArray]:
    """The objects as arrays: array-likes join the first array's device."""
    if False not in [isinstance(o, Tensor) for o in objects]:
        return [*objects]
    device = device_of(*objects)
    return [o if isinstance(o, Tensor) else array(o, None, device) for o in objects]


def values(o: Any, what: str) -> np.ndarray:
    """The values of an array-like; those of an NDArray are waited for, by ``what``."""
    o = own_array(o)
    x: Any = o
    return x._fetched(what) if isinstance(o, Tensor) else np.asarray(o)


def looked_at(o: Any, what: str, function: Callable[[np.ndarray], Any]) -> Any:
    """``function`` of the values of an array-like, as :func:`values`, but without a copy of them.

    It reads them where they are, as an op, and keeps nothing of them.
    """
    x: Any = o
    return x._looked_at(what, function) if isinstance(o, Tensor) else function(np.asarray(o))


def deliver(
    result: NDArray,
    out: NDArray | None,
    name: str,
    broadcasts: bool = False,
    back: Literal["safe", "unsafe"] | None = None,
) -> NDArray:
    """``result``, or ``out`` with the result written into it; ``broadcasts``: as a ufunc's.

    ``back``: as that of NumPy's functions that work on a copy of ``out`` in the result's dtype,
    made by a cast of that kind; it is written back by any.
    """
    if out is None:
        return result
    out = out_array(out)
    if not (broadcasts and fits(result.shape, out.shape)):
        check_shape(out, result.shape, name)
    source, target = (out.dtype, result.dtype) if back else (result.dtype, out.dtype)
    rule = back or "same_kind"
    if not np.can_cast(source, target, rule):
        raise TypeError(
            f"Cannot cast array data from {source!r} to {target!r} according to the rule {rule!r}"
        )
    assign_to(out, result)
    return out


def check_shape(out: NDArray, shape: Shape, name: str) -> None:
    """ValueError unless ``out`` has the shape of the result that is written into it."""
    if out.shape != shape:
        raise ValueError(
            f"output parameter for {name} has the wrong shape: {out.shape} instead of {shape}"
        )


def fits(shape: Shape, into: Shape) -> bool:
    """Whether a result of the shape may be written into an array of the other, as ufuncs do."""
    try:
        return np.broadcast_shapes(shape, into) == into
    except ValueError:
        return False


# ---- memory order -------------------------------------------------------------------------------


def order_of(order: Any, default: str = "C") -> str:
    """An ``order=`` as one of "C", "F", "A" and "K"; NumPy's errors."""
    if order is None:
        return default
    name = order.decode("ascii", "replace") if isinstance(order, bytes) else order
    if not isinstance(name, str):
        raise TypeError(f"order must be str, not {type(order).__name__}")
    if name.upper() not in ("C", "F", "A", "K"):
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    return name.upper()


def k_order(x: Any) -> list[int]:
    """The axes of new memory like that of an array, slowest first (NumPy's order 'K')."""
    steps = [abs(s) for s in x.strides]
    return sorted(range(x.ndim), key=lambda axis: -steps[axis])


def new(
    shape: Shape, dtype: Any, order: Sequence[int] | None = None, device: Device | None = None
) -> NDArray:
    """An unwritten array whose axes lie in memory in ``order``, slowest first (None: C order)."""
    flat = empty(shape, dtype, device)
    if order is None:
        return flat
    strides = [0] * len(shape)
    step = flat.itemsize
    for axis in reversed(order):
        strides[axis] = step
        step *= shape[axis] or 1
    return strided(flat, shape, tuple(strides), 0)


def new_like(x: NDArray) -> NDArray:
    """An unwritten array of x's dtype and shape, laid out as ``np.empty_like`` lays it out."""
    return new(x.shape, x.dtype, k_order(x), x.device)


def joined_shape(parts: list[NDArray], axis: int) -> tuple[tuple[int, ...], int]:
    """The shape of arrays joined along an axis, and the axis; NumPy's errors."""
    first, ndim = parts[0].shape, parts[0].ndim
    if ndim == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    axis = normalize_axis_index(axis, ndim)
    total = 0
    for i, x in enumerate(parts):
        shape = x.shape
        if len(shape) != ndim:
            raise ValueError(
                "all the input arrays must have same number of dimensions, but the array at "
                f"index 0 has {ndim} dimension(s) and the array at index {i} has {x.ndim} "
                "dimension(s)"
            )
        if shape[:axis] != first[:axis] or shape[axis + 1 :] != first[axis + 1 :]:
            d = next(d for d in range(ndim) if d != axis and shape[d] != first[d])
            raise ValueError(
                "all the input array dimensions except for the concatenation axis must match "
                f"exactly, but along dimension {d}, the array at index 0 has size "
                f"{first[d]} and the array at index {i} has size {shape[d]}"
            )
        total += shape[axis]
    if total > np.iinfo(np.intp).max:
        raise ValueError("negative dimensions are not allowed")  # as NumPy's sum of them is
    return (*first[:axis], total, *first[axis + 1 :]), axis


# ---- miniatures ---------------------------------------------------------------------------------


def signature(x: Any) -> tuple[Hashable, ...]:
    """What of an array decides dtype and layout of a function's result."""
    if isinstance(x, Tensor):
        found = contiguous_signature(x)
        if found is not None:
            return found
    shape, strides = x.shape, x.strides
    small = tuple([min(n, 2) for n in shape])
    order = tuple(k_order(x))
    step, dense = x.itemsize, True
    for axis in reversed(order):
        dense = dense and (shape[axis] == 1 or strides[axis] == step)
        step *= shape[axis]
    return (x.dtype.char, small, order, tuple([s == 0 for s in strides]), dense)


def miniature(sign: tuple[Any, ...]) -> np.ndarray:
    """A small array of ones with the dtype, axes and memory order that ``signature`` tells."""
    dtype, shape = np.dtype(sign[0]), sign[1]
    if sign[2] is None:
        return np.ones(shape, dtype)
    strides = [0] * len(shape)
    step = dtype.itemsize * (1 if sign[4] else 2)  # with gaps it is in no order to some of NumPy's
    for axis in reversed(sign[2]):
        if not sign[3][axis]:
            strides[axis] = step
            step *= shape[axis] or 1
    return np.ndarray(shape, dtype, np.ones(max(step // dtype.itemsize, 1), dtype), 0, strides)


Result = tuple[Any, tuple[int, ...] | None, bool]  # dtype, memory order, whether it is no array
_inferred: dict[Hashable, list[Result]] = {}


def _hashable(o: Any) -> Hashable:
    if isinstance(o, (tuple, list)):
        return tuple(map(_hashable, o))
    return (o.dtype.char, _hashable(o.tolist())) if isinstance(o, (np.ndarray, Tensor)) else o


def infer(
    key: Hashable, function: Callable[..., Any], signs: tuple[tuple[Hashable, ...], ...]
) -> list[Result]:
    """Dtype and memory order of each result of ``function``, from a run on miniatures.

    ``key`` names the function with all its other arguments; the answer is kept.
    """
    place = (key, signs)
    try:
        found = _inferred.get(place)
    except TypeError:  # an array among the arguments, say an axis
        place = (_hashable(key), signs)
        found = _inferred.get(place)
    if found is None:
        with np.errstate(all="ignore"):
            results = function(*[miniature(s) for s in signs])
        if not isinstance(results, (tuple, list)):
            results = (results,)
        found = []
        for result in results:
            r = np.asarray(result)
            order = None if r.flags.c_contiguous else tuple(k_order(r))
            found.append((r.dtype, order, r is not result))
        if len(_inferred) > 4096:
            _inferred.clear()
        _inferred[place] = found
    return found


def gil_op(
    name: str,
    function: Callable[..., Any],
    inputs: Sequence[NDArray],
    shapes: Shape | list[Shape],
    key: Hashable = (),
    *,
    mini: Callable[..., Any] | None = None,
    out: bool = False,
    into: NDArray | None = None,
    cost: float | None = None,
    gradient: Sequence[Callable[..., Any] | None] = (),
    cut: Cut | None = None,
) -> Any:
    """Records ``function(*inputs)``, on NumPy arrays, as one instruction that takes the GIL.

    ``shapes`` is the result's shape, or a list of shapes for several results; ``key`` holds the
    arguments that ``function`` has bound; ``mini`` stands in for it on miniatures. With ``out``
    the function takes ``out=`` itself. Errors that its dtypes cause are raised here. ``gradient``
    holds a rule of autograd for each input, as :func:`lazyarray.ops._differentiable.note` has them.
    ``cut`` lets threads share a large call: see :class:`lazyarray.lazy._lazy.Pieces`.

    ``into``, where it is given, is the one result: the functions take ``out=``, and NumPy writes
    there itself, since its dtype may decide what is computed, and its layout in which order.
    """
    if into is not None:
        return _gil_op_into(name, function, inputs, shapes, key, mini, into, cost, gradient)
    found = infer((name, key), mini or function, tuple([signature(x) for x in inputs]))
    several = isinstance(shapes, list)
    wanted: Any = shapes if several else (shapes,)
    targets = [  # a new one in C order is left to `call`
        (shape, dtype) if order is None else new(shape, dtype, order, inputs[0].device)
        for shape, (dtype, order, _) in zip(wanted, found, strict=True)
    ]

    def into_it(outs: list[np.ndarray], ins: list[np.ndarray]) -> None:
        function(*ins, out=outs[0])

    run: Any = into_it if out else Giving(function if several else lambda *ins: (function(*ins),))
    if cut is not None:
        run = Pieces(run, function, cut, out)
    if cost is None:
        cost = _gil_cost(inputs, wanted)
    if gradient and follows(*inputs):
        with paused():
            results = call(name, run, [*inputs], targets, cost=cost)
        note(name, gradient, inputs, results)
    else:
        results = call(name, run, [*inputs], targets, cost=cost)
    for result, (_, _, scalar) in zip(results, found, strict=True):
        if scalar:
            returned(result)
    return results if several else results[0]


Cut = tuple[int | None, ...]  # the axis along which each operand is cut, inputs first


def widest(shape: Shape, *but: int) -> int | None:
    """The longest axis but these, the slowest of equal ones; None if none has two places."""
    taken = [axis % len(shape) for axis in but] if shape else []
    free = [(n, -axis) for axis, n in enumerate(shape) if n > 1 and axis not in taken]
    return -max(free)[1] if free else None


def cut_apart(
    shape: Shape, axes: Sequence[int], keepdims: bool = True, lead: int = 0
) -> Cut | None:
    """How a function is cut that goes along ``axes``, and leaves them out unless ``keepdims``.

    ``lead``: how many axes the result has in front of the array's.
    """
    axis = widest(shape, *axes)
    if axis is None:
        return None
    gone = 0 if keepdims else sum(a % len(shape) < axis for a in axes)
    return axis, lead + axis - gone


def cut_places(shape: Shape, inputs: int, at: int = 0) -> Cut | None:
    """How a function is cut that looks up each place of its input number ``at`` in the others."""
    axis = widest(shape)
    return None if axis is None else (*[axis if k == at else None for k in range(inputs)], axis)


def _gil_cost(inputs: Sequence[NDArray], shapes: Sequence[Shape]) -> float:
    """What a call is taken to cost, in nanoseconds, by the largest of its arrays."""
    return 3000 + 2.0 * max([x.size for x in inputs] + [math.prod(shape) for shape in shapes])


def _gil_op_into(
    name: str,
    function: Callable[..., Any],
    inputs: Sequence[NDArray],
    shape: Any,
    key: Hashable,
    mini: Callable[..., Any] | None,
    into: NDArray,
    cost: float | None,
    gradient: Sequence[Callable[..., Any] | None],
) -> NDArray:
    to = out_array(into)
    small = mini or function

    def tried(*v: np.ndarray) -> Any:
        try:
            result = small(*v)
        except TypeError:  # of these dtypes alone: ``out`` may make it another loop
            result = small(np.ones(v[0].shape), *v[1:])
        return small(*v, out=np.empty(np.shape(result), to.dtype))

    infer((name, "out", key, to.dtype), tried, tuple([signature(x) for x in inputs]))  # its errors
    check_shape(to, shape, name)
    if cost is None:
        cost = _gil_cost(inputs, [shape])

    def run(outs: list[np.ndarray], ins: list[np.ndarray]) -> None:
        function(*ins, out=outs[0])

    if not is_recording():
        return call(name, run, [*inputs], [to], cost=cost)[0]
    with paused():
        (values,) = call(name, run, [*inputs], [new_like(to)], cost=cost)
    if any(map(recorded, inputs)):  # the gradient is that of the result by itself
        plain = gil_op(name, function, inputs, shape, key, mini=mini, cost=cost, gradient=gradient)
        assign_to(to, plain)
        with paused():
            assign_to(to, values)
    else:
        assign_to(to, values)
    return to


def gil_write(
    name: str,
    function: Callable[..., Any],
    x: NDArray,
    inputs: Sequence[NDArray],
    cost: float | None = None,
) -> None:
    """Records ``function(x, *inputs)``, which changes the NumPy array ``x`` in place."""
    if any(s == 0 and n > 1 for n, s in zip(x.shape, x.strides, strict=True)):
        raise ValueError("assignment destination is read-only")

    def run(outs: list[np.ndarray], ins: list[np.ndarray]) -> None:
        function(outs[0], *ins)

    call(name, run, list(inputs), [x], cost=cost or 3000 + 2.0 * x.size, overwrites=False)
