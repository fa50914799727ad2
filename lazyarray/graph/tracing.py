"""``la.trace``: a function's ops as a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lazyarray.graph.calls import Watch, mark
from lazyarray.graph.graph import Graph
from lazyarray.graph.lift import Lifter
from lazyarray.graph.nodes import VAR, Node, Spec, mapped, place_of
from lazyarray.graph.trees import Place, named, numbered, structured, unique
from lazyarray.lazy._lazy import Program, Tensor, TracingError, veiled
from lazyarray.ops import _rows
from lazyarray.ops._layout import k_order, new

__all__ = ["trace"]


def trace(function: Callable[..., object], /, *examples: object, **named_examples: object) -> Graph:
    """The graph of what a function does: :func:`lazyarray.trace`, which tells more.

    Args:
        function: the function.
        examples: its arguments: arrays or specs, also in nested lists, tuples and dicts.
        named_examples: those by name.
    Returns: a :class:`Graph`.
    Raises: ``TracingError``, with the line, where the function asks for a value.

    >>> import lazyarray as la
    >>> la.graph.trace(la.exp, la.ones(3))
    Graph(x: float64 (3,)):
        %0 = exp(x)
        return %0
    """
    given: list[Any] = []
    names: list[str] = []
    takes = numbered(named(function, examples, named_examples), given, names)
    return _traced(function, takes, given, unique(names))


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
    return veiled(new(x.shape, x.dtype, k_order(x), device))
