"""``la.trace``: of a function its graph, of an array NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from lazyarray._ndarray import NDArray
from lazyarray.functions.products import trace as trace_of_matrix
from lazyarray.lazy._lazy import Unheld
from lazyarray.ops import hosts

if TYPE_CHECKING:
    from lazyarray._types import ArrayLike, DTypeLike
    from lazyarray.graph import Graph

__all__ = ["trace"]


@overload
def trace(function: Callable[..., object], /, *examples: object, **named: object) -> Graph: ...
@overload
def trace(
    a: ArrayLike,
    offset: int = ...,
    axis1: int = ...,
    axis2: int = ...,
    dtype: DTypeLike = ...,
    out: NDArray | None = ...,
) -> NDArray: ...
def trace(*args: Any, **kwargs: Any) -> Any:
    """The graph of what a function does: ``trace(function, *examples)``; or NumPy's ``trace``.

    NumPy's ``trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None)``, of an array, is the
    sum of a diagonal.

    Examples are arrays or specs (:func:`lazyarray.spec`: a shape and a dtype), also in nested
    lists, tuples and dicts; whatever else is passed is a constant. The function runs once, on
    arrays without values. Its parameters are the graph's arguments, under their names; those that
    it writes in place are auxiliary states, which the graph writes too. Arrays that it uses without
    being given them are constants, by reference. Calls of public functions that give new arrays
    are nodes as they are; all else, in-place code and views too, becomes calls to the same effect.
    (What isn't callable is an array.)

    Args:
        a: the function, before its examples; or an array of two axes at least.
        offset: which diagonal: 0 is the main one, positive ones lie above it.
        axis1: the rows' axis.
        axis2: the columns' axis.
        dtype: what is added in, and the result's dtype.
        out: an array for the sum.
    Returns: a :class:`Graph`; of an array one without the two axes.
    Raises: ``TracingError``, with the line, where the function asks for a value; ValueError for an
        array of fewer than two axes.

    >>> import lazyarray as la
    >>> def f(x, b):
    ...     x[1:] += b
    ...     return x.sum()
    >>> la.trace(f, la.ones(3), la.ones(2))
    Graph(aux x: float64 (3,), b: float64 (2,)):
        %0 = x[1:]
        %1 = add(%0, b)
        %2 = setitem(x, %1, key=[1:])
        %3 = sum(%2)
        x[...] = %2
        return %3
    """
    if args and type(args[0]) is NDArray:
        return args[0].trace(*args[1:], **kwargs)
    if args and callable(args[0]):
        from lazyarray import graph  # only now: most programs have no graphs

        return graph.trace(*args, **kwargs)
    try:
        return trace_of_matrix(*args, **kwargs)
    except Unheld as error:
        return hosts.handed_over(np.trace, args, kwargs, error)


trace._implementation = trace_of_matrix._implementation  # type: ignore[attr-defined]
trace.__wrapped__ = trace_of_matrix  # type: ignore[attr-defined]  # whose signature is NumPy's
