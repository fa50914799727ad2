"""Shapes and dtypes through a graph: its functions run on arrays without values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from lazyarray.context import current_context
from lazyarray.graph.graph import Graph, called
from lazyarray.graph.nodes import CONST, VAR, Entry, Node, Shape, Spec, shape_of
from lazyarray.graph.parameters import shapes_of_parameters
from lazyarray.lazy._lazy import Program, Tensor
from lazyarray.ops._layout import new
from lazyarray.ops.interop import to_device


def infer(graph: Graph, known: Mapping[str, Any], default: Any = float) -> dict[Entry, Spec]:
    """The spec of each output of each node: see :meth:`lazyarray.Graph.infer`."""
    names = graph.list_inputs()
    unknown = [name for name in known if name not in names]
    if unknown:
        raise TypeError(f"the graph has no arguments {unknown}: its arguments are {names}")
    specs: dict[Entry, Spec] = {}
    for node in graph.variables:
        specs[Entry(node)] = merged(node, known.get(node.name), default)
    arrays: dict[Entry, Any] = {}
    with Program():
        for node in graph.nodes:
            if node.op == CONST:
                arrays[Entry(node)] = to_device(node.value, current_context())  # as all here
            elif node.op != VAR:
                _complete(node, specs, arrays)
                results = called(node, arrays, None)
                arrays.update(zip(node.results, results, strict=True))
            else:
                _fill(node, specs, arrays)
        missing = [n.name for n in graph.variables if Entry(n) not in arrays]
        if missing:
            raise ValueError(f"the shapes of {', '.join(missing)} are not known: give them")
        for entry, x in arrays.items():
            specs[entry] = Spec(x.shape, x.dtype)
    return specs


def merged(node: Node, given: Any, default: Any) -> Spec:
    """What is known of a variable: by itself, and as given (a shape, a spec or an array)."""
    shape, dtype = node.spec
    if isinstance(given, Spec):
        more = given
    elif isinstance(given, (Tensor, np.ndarray)):
        more = Spec(given.shape, given.dtype)
    elif given is None:
        more = Spec()
    else:
        more = Spec(shape_of(given, partial=True))
    if more.shape is not None:
        if shape is not None and not _agree(shape, more.shape):
            raise ValueError(f"argument {node.name!r} has shape {more.shape}, not {Spec(shape)}")
        shape = more.shape if shape is None else unified(shape, more.shape)
    if dtype is not None and more.dtype is not None and dtype != more.dtype:
        raise ValueError(f"argument {node.name!r} has dtype {more.dtype}, not {dtype}")
    return Spec(shape, more.dtype or dtype or np.dtype(default))


def _agree(a: tuple[Any, ...], b: tuple[Any, ...]) -> bool:
    return len(a) == len(b) and all(n == m or None in (n, m) for n, m in zip(a, b, strict=True))


def unified(a: tuple[Any, ...], b: tuple[Any, ...]) -> tuple[Any, ...]:
    """Two shapes that agree, as one."""
    return tuple([m if n is None else n for n, m in zip(a, b, strict=True)])


def _fill(node: Node, specs: dict[Entry, Spec], arrays: dict[Entry, Any]) -> None:
    spec = specs[Entry(node)]
    if spec.complete:
        arrays[Entry(node)] = new(spec.known, spec.dtype)


def _following(node: Node, arrays: Mapping[Entry, Any]) -> Iterator[tuple[Entry, Shape]]:
    """Parameters without a shape, with theirs; twice, as one that is found may tell of another."""
    for _ in range(2):
        for entry, shape in shapes_of_parameters(node, arrays).items():
            if entry not in arrays:
                yield entry, shape


def _complete(node: Node, specs: dict[Entry, Spec], arrays: dict[Entry, Any]) -> None:
    """Finds the shapes of a node's parameters from its data's; ValueError for what is left."""
    lacking = [e for e in node.inputs if e not in arrays]
    for entry, shape in _following(node, arrays) if lacking else ():
        old = specs[entry]
        if old.shape is not None and not _agree(old.shape, shape):
            raise ValueError(
                f"argument {entry.node.name!r} has shape {Spec(old.shape)}, not {Spec(shape)}, "
                f"which {node.op} of node {node.name!r} needs"
            )
        found = shape if old.shape is None else unified(old.shape, shape)
        specs[entry] = Spec(found, old.dtype)
        _fill(entry.node, specs, arrays)
    left = [e.node.name for e in lacking if e not in arrays]
    if left:
        raise ValueError(
            f"the shapes of {', '.join(left)}, which {node.op} of node {node.name!r} takes, are "
            "not known and don't follow: give them"
        )
