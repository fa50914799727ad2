"""``la.trace``: a function's ops as a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from lazyarray._ndarray import NDArray
from lazyarray.functions.products import trace as trace_of_matrix
from lazyarray.graph.calls import Watch, mark
from lazyarray.graph.graph import Graph
from lazyarray.graph.lift import Lifter
from lazyarray.graph.nodes import VAR, Node, Spec, mapped, place_of
from lazyarray.graph.trees import Place, named, numbered, structured, unique
from lazyarray.lazy._lazy import Program, Tensor, TracingError, Unheld, veiled
from lazyarray.ops import _rows, hosts
from lazyarray.ops._layout import k_order, new

if TYPE_CHECKING:
    from lazyarray._types import ArrayLike, DTypeLike

__all__ = ["trace"]


@overload
def trace(function: Callable[..., Any], /, *examples: Any, **named: Any) -> Graph: ...
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
    if not args or not callable(args[0]):
        try:
            return trace_of_matrix(*args, **kwargs)
        except Unheld as error:
            return hosts.handed_over(np.trace, args, kwargs, error)
    function, *examples = args
    given: list[Any] = []
    names: list[str] = []
    takes = numbered(named(function, tuple(examples), kwargs), given, names)
    return _traced(function, takes, given, unique(names))


trace.__wrapped__ = trace_of_matrix  # type: ignore[attr-defined]  # whose signature is NumPy's


def _traced(function: Callable[..., Any], takes: Any, given: list[Any], names: list[str]) -> Graph:
    stand_ins = [_stand_in(x) for x in given]
    nodes = [
        Node(VAR, name, spec=Spec(x.shape, x.dtype))
        for name, x in zip(names, stand_ins, strict=True)
    ]
    args, kwargs = structured(takes, stand_ins)
    program = Program()
    results: list[Any] = []
    with program, Watch(program) as watch:
        mark(stand_ins)
        try:
            result = function(*args, **kwargs)
        except TracingError as exc:
            exc.add_note(f"asked for at {place_of(exc)}")
            raise
        except Exception as exc:
            if not given:
                exc.add_note(
                    "lazyarray: none of the examples is an array; "
                    "one of a shape alone is la.spec(shape, dtype)"
                )
            raise
        gives = mapped(result, lambda x: _place(x, results))
        mark(results)
    chunks = {program.chunk_of(x): node for x, node in zip(stand_ins, nodes, strict=True)}
    outputs, updates = Lifter(program, watch.calls).lift(chunks)
    for node, _ in updates:
        node.aux = node.op == VAR

    def retrace(specs: dict[str, Spec]) -> Graph:
        return _traced(function, takes, [specs[name] for name in names], names)

    graph = Graph(outputs, nodes, updates, takes, gives, retrace)
    found = graph.infer()
    for entry, y in zip(graph.outputs, results, strict=True):
        if found[entry] != Spec(y.shape, y.dtype):
            raise RuntimeError(
                f"the trace went wrong: {found[entry]} for {Spec(y.shape, y.dtype)}; "
                "please report it"
            )
    return graph


def _place(x: Any, results: list[Any]) -> Any:
    """The place of a result that is an array."""
    if isinstance(x, np.ndarray):
        x = _rows.array(x)
    if not isinstance(x, Tensor):
        return x
    results.append(x)
    return Place(len(results) - 1)


def _stand_in(x: Any) -> Any:
    """An array that lies in memory as the example does, but for gaps."""
    if isinstance(x, Spec):
        if not x.complete or x.dtype is None:
            raise ValueError(f"a trace needs all lengths and the dtype, not {x}")
        return veiled(new(x.known, x.dtype))
    device = x.device if isinstance(x, Tensor) else None
    return veiled(new(x.shape, x.dtype, k_order([x], x.ndim), device))
