"""Reductions: rows of ``ufunc.reduce``, and what is composed of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazyarray.lazy._lazy import paused, returned
from lazyarray.ops import elementwise
from lazyarray.ops._differentiable import follows, note
from lazyarray.ops._layout import gil_op
from lazyarray.ops._rows import (
    Choice,
    Reduction,
    Row,
    asarray,
    call,
    dtype_of,
    full,
    normalize_axes,
    reduced_like,
    reduced_shape,
    select,
    writable,
)

__all__ = ["mean", "std", "var"]


def _doc(summary: str, name: str, first: bool) -> str:
    dtype = "" if name in ("sum", "prod") else "dtype: what elements are cast to first.\n        "
    empty = "\n    Raises: ValueError without an element or an ``initial`` one." if first else ""
    return f"""{summary}

    Args:
        {dtype}axis: the axis, or several as a tuple; None: all.
    Returns: an array without these axes.{empty}

    >>> import numpy as np, lazyarray as la
    >>> x = np.array([[0.0, 2.0], [3.0, 4.0]])
    >>> la.{name}(la.array(x), axis=1).asnumpy() == np.{name}(x, axis=1)
    array([ True,  True])
    """


def _row(
    name: str, ufunc: np.ufunc, section: str, summary: str, first: bool = False, cost: float = 0.4
) -> Row:
    doc = _doc(summary, name, first)
    row = Reduction if name in ("sum", "prod") else Choice
    return row(ufunc, name=name, section=section, doc=doc, first=first, cost=cost)


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

    Args:
        axis: the axis, or several as a tuple; None: all.
        dtype: what is added in, and the result's dtype; None: that of floats, float64 for integers.
    Returns: an array without these axes; NaN, and a RuntimeWarning when it runs, where there is no
        element.

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

    Args:
        axis: the axis, or several as a tuple; None: all.
        dtype: what is computed in, and the result's dtype; None: that of floats, float64 for
            integers.
        ddof: what is subtracted from the number n of elements in the denominator, ``n - ddof``.
    Returns: an array without these axes; NaN, and a RuntimeWarning when it runs, where n is not
        over ddof.

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

    Args:
        axis: the axis, or several as a tuple; None: all.
        dtype: what is computed in, and the result's dtype; None: that of floats, float64 for
            integers.
        ddof: what is subtracted from the number n of elements in the denominator, ``n - ddof``.
    Returns: an array without these axes; NaN, and a RuntimeWarning when it runs, where n is not
        over ddof.

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
    axes = normalize_axes(axis, x.ndim)
    count = _count(x.shape, axes)
    given = dtype_of(dtype)
    if where is None and out is None and count and (given is None or given == x.dtype):
        whole = given is None and x.dtype.kind in "biu"
        if name == "mean" and (x.dtype.char in "fdFD" or whole):
            return _mean(x, axes, count, keepdims)
        if name != "mean" and (x.dtype.char in "fd" or whole) and count > more["ddof"]:
            return _variance(name, x, axes, count, keepdims, **more)
    function = getattr(np, name)
    inputs = [x] if where is None else [x, asarray(where, x.device)]
    shape = reduced_shape(x.shape, axes, keepdims)
    cost = 3000 + 2.0 * x.size
    plain = {"axis": axes, "dtype": given, "keepdims": keepdims}

    def run(v: np.ndarray, *masks: np.ndarray, **to: Any) -> np.ndarray:
        mask = {"where": masks[0]} if masks else {}
        return function(v, **plain, **mask, **more, **to)

    rule = _moment_rule(name, axes, more.get("ddof", 0))
    rules = [rule if len(inputs) > 1 else lambda g, a, y: rule(g, a, None, y)]
    if out is not None:

        def mini(v: np.ndarray, *masks: np.ndarray, **to: Any) -> np.ndarray:
            return function(np.ones([max(n, 1) for n in v.shape], v.dtype), **plain, **to)

        key = tuple(plain.values())
        return gil_op(name, run, inputs, shape, key, mini=mini, into=out, cost=cost, gradient=rules)

    def into(outs: list[np.ndarray], ins: list[np.ndarray]) -> None:
        # NumPy's own output: its layout and its dtype while summing decide the bits.
        outs[0][...] = run(*ins)

    target = reduced_like(x, axes, keepdims, function(np.ones(2, x.dtype), dtype=given).dtype)
    if follows(*inputs):
        with paused():
            (result,) = call(name, into, inputs, [target], cost=cost)
        note(name, rules, inputs, [result])
    else:
        (result,) = call(name, into, inputs, [target], cost=cost)
    return returned(result)


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
