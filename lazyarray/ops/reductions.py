"""Reductions: rows of ``ufunc.reduce``, and what is composed of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazyarray.lazy._lazy import paused, returned
from lazyarray.ops import elementwise
from lazyarray.ops._differentiable import follows, note
from lazyarray.ops._rows import (
    Reduction,
    Row,
    asarray,
    assign_to,
    call,
    full,
    normalize_axes,
    out_array,
    reduced_like,
    reduced_shape,
    select,
    writable,
)

__all__ = ["mean", "std", "var"]


def _doc(summary: str, name: str) -> str:
    return f"""{summary}

    Arguments are those of ``numpy.{name}``; ``axis`` may be a tuple.

    >>> import numpy as np, lazyarray as la
    >>> x = np.array([[0.0, 2.0], [3.0, 4.0]])
    >>> la.{name}(la.array(x), axis=1).asnumpy() == np.{name}(x, axis=1)
    array([ True,  True])
    """


def _row(
    name: str, ufunc: np.ufunc, section: str, summary: str, first: bool = False, cost: float = 0.4
) -> Row:
    doc = _doc(summary, name)
    return Reduction(ufunc, name=name, section=section, doc=doc, first=first, cost=cost)


TABLE: dict[str, Row] = {
    "sum": _row("sum", np.add, "statistics", "Sum over axes."),
    "prod": _row("prod", np.multiply, "statistics", "Product over axes.", cost=0.8),
    "max": _row("max", np.maximum, "statistics", "Maximum over axes.", first=True),
    "min": _row("min", np.minimum, "statistics", "Minimum over axes.", first=True),
    "all": _row("all", np.logical_and, "logic", "Whether all over the axes are true."),
    "any": _row("any", np.logical_or, "logic", "Whether any over the axes is true."),
}

ALIASES = {"amax": "max", "amin": "min"}

_sum = TABLE["sum"]


def _count(shape: tuple[int, ...], axes: tuple[int, ...]) -> int:
    count = 1
    for axis in axes:
        count *= shape[axis]
    return count


def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any = None,
) -> Any:
    """Arithmetic mean over ``axis``, in NumPy's order of operations (``numpy._core._methods``).

    >>> import lazyarray as la
    >>> la.mean(la.array([[1.0, 2.0], [3.0, 5.0]]), axis=0).asnumpy()
    array([2. , 3.5])
    """
    return _moment("mean", a, axis, dtype, out, keepdims, where, {})


def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    correction: float | None = None,
) -> Any:
    """Variance over ``axis`` with ``n - ddof`` in the denominator (``correction`` is ``ddof``).

    >>> import lazyarray as la
    >>> la.var(la.array([1.0, 2.0, 3.0, 4.0])).item()
    1.25
    """
    return _moment(
        "var",
        a,
        axis,
        dtype,
        out,
        keepdims,
        where,
        {"ddof": ddof if correction is None else correction},
    )


def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = None,
    correction: float | None = None,
) -> Any:
    """Standard deviation over ``axis``: the square root of :func:`var`.

    >>> import lazyarray as la
    >>> la.std(la.array([1.0, 1.0, 3.0, 3.0])).item()
    1.0
    """
    return _moment(
        "std",
        a,
        axis,
        dtype,
        out,
        keepdims,
        where,
        {"ddof": ddof if correction is None else correction},
    )


# As numpy/_core/_methods.py writes them, so that the bits are the same.


def _divisor(x: Any, n: float) -> float:
    """``n`` as NumPy divides by it.

    There it is an intp or a double, so that complex64 and float32 are divided as doubles. For
    float32 this gives other bits only where it can't hold ``n``.
    """
    char = x.dtype.char
    exact = char not in "fF" or (char == "f" and float(np.float32(n)) == n)
    return n if exact else np.float64(n)


def _mean(x: Any, axes: tuple[int, ...], count: int, keepdims: bool) -> Any:
    if x.dtype.kind in "biu":
        # NumPy adds doubles. Up to here their sums are exact, in any order, as integers' are.
        exact = x.dtype.itemsize <= 4 and count <= 1 << 21
        return _sum(x, axes, np.int64 if exact else np.float64, None, keepdims) / count
    total = writable(_sum(x, axes, None, None, keepdims))
    total /= _divisor(x, count)
    return returned(total)


def _variance(
    name: str, x: Any, axes: tuple[int, ...], count: int, keepdims: bool, ddof: float
) -> Any:
    off = writable(x - _mean(x, axes, count, True))
    off *= off
    result = writable(_sum(off, axes, None, None, keepdims))
    result /= _divisor(x, count - ddof)
    return returned(elementwise.root(result, out=result) if name == "std" else result)


def _moment(
    name: str,
    a: Any,
    axis: Any,
    dtype: Any,
    out: Any,
    keepdims: bool,
    where: Any,
    more: dict[str, Any],
) -> Any:
    x = asarray(a)
    if out is not None:
        out = out_array(out)
    axes = normalize_axes(axis, x.ndim)
    count = _count(x.shape, axes)
    given = None if dtype is None else np.dtype(dtype)
    if where is None and out is None and count and (given is None or given == x.dtype):
        whole = given is None and x.dtype.kind in "biu"
        if name == "mean" and (x.dtype.char in "fdFD" or whole):
            return _mean(x, axes, count, keepdims)
        if name != "mean" and (x.dtype.char in "fd" or whole) and count > more["ddof"]:
            return _variance(name, x, axes, count, keepdims, **more)
    if follows(x):  # by the same instruction, with a rule
        mask = None if where is None else asarray(where, x.device)
        with paused():
            result = _moment(name, x, axis, dtype, None, keepdims, mask, more)
        note(name, [_moment_rule(name, axes, more.get("ddof", 0))], [x, mask], [result])
        if out is None:
            return result
        if out.shape != result.shape:
            raise _wrong_shape(name, out, result.shape)
        assign_to(out, result)
        return out
    function = getattr(np, name)
    masked = where is not None
    inputs = [x, asarray(where, x.device)] if masked else [x]
    result_dtype = function(np.ones(2, x.dtype), dtype=given).dtype

    def run(outs: list[np.ndarray], ins: list[np.ndarray]) -> None:
        mask = {"where": ins[1]} if masked else {}
        arguments = {"axis": axes, "dtype": given, "keepdims": keepdims, **mask, **more}
        if out is not None:
            function(ins[0], out=outs[0], **arguments)
        else:  # NumPy's own output: its layout and its dtype while summing decide the bits
            outs[0][...] = function(ins[0], **arguments)

    shape = reduced_shape(x.shape, axes, keepdims)
    target = reduced_like(x, axes, keepdims, result_dtype) if out is None else out
    if out is not None and out.shape != shape:
        raise _wrong_shape(name, out, shape)
    result = call(name, run, inputs, [target], cost=3000 + 2.0 * x.size)[0]
    return returned(result) if out is None else result


def _wrong_shape(name: str, out: Any, shape: tuple[int, ...]) -> ValueError:
    return ValueError(
        f"output parameter for reduction operation {name} has the wrong shape: {out.shape} instead "
        f"of {shape}"
    )


def _moment_rule(name: str, axes: tuple[int, ...], ddof: float) -> Any:
    """The gradient rule of a moment over the elements, or those where a mask is true."""

    def rule(g: Any, a: Any, b: Any, y: Any) -> Any:
        kept = reduced_shape(a.shape, axes, True)
        every = full(a.shape, True, np.bool_, a.device)
        mask = every if b is None else every & b
        g = g.reshape(kept) / (_sum(mask, axes, np.intp, keepdims=True).astype(y.real.dtype) - ddof)
        if name != "mean":
            g = g * (a - mean(a, axes, None, None, True, where=b))
            if name == "var":
                g = 2 * g
            else:  # of equal elements it is 0
                y = y.reshape(kept)
                g = g / select(elementwise.TABLE["equal"](y, 0), 1.0, y)
        return select(mask, g, 0.0)

    return rule
