"""Shapes and dtypes through a graph: its functions run on arrays without values."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.context import current_context
from lazyarray.functions.memory import to_device
from lazyarray.graph.nodes import CONST, VAR, Entry, Node, Shape, Spec, shape_of
from lazyarray.graph.parameters import shapes_of_parameters
from lazyarray.graph.running import called
from lazyarray.lazy._lazy import Program, Tensor
from lazyarray.ops._layout import new

if TYPE_CHECKING:
    from lazyarray.graph.graph import Graph


def infer(graph: Graph, known: Mapping[str, Any], default: Any = float) -> dict[Entry, Spec]:
    """The spec of each output of each node: see :meth:`lazyarray.Graph.infer`."""
    specs = _of_variables(graph, known, default)
    found = _walk(graph, specs, _refuse)
    missing = [n.name for n in graph.variables if Entry(n) not in found]
    if missing:
        raise ValueError(f"the shapes of {', '.join(missing)} are not known: give them")
    return found


def infer_partial(graph: Graph, known: Mapping[str, Any]) -> dict[Entry, Spec]:
    """The specs of what follows from shapes with unknown lengths: see ``infer_shape_partial``.

    What depends on an unknown length is found by trying two: where it differs, it isn't known.
    """
    specs = _of_variables(graph, known, float)
    found: list[dict[Entry, Spec]] = []
    for length in _TRIED:
        guessed: set[Entry] = set()

        def fill(
            node: Node,
            left: list[Entry],
            arrays: dict[Entry, Any],
            length: int = length,
            guessed: set[Entry] = guessed,
        ) -> bool:
            for e in left:
                spec = specs.get(e, Spec())
                if spec.shape is not None:
                    full = tuple([length if n is None else n for n in spec.shape])
                    arrays[e] = new(full, spec.dtype)
                    guessed.add(e)
                    return False
            return True

        found.append(_walk(graph, specs, fill, guessed))
    return {
        entry: spec._replace(shape=_common(spec.shape, found[1][entry].shape))
        for entry, spec in found[0].items()
        if entry in found[1]
    }


_TRIED = (24, 48)  # they can be halved, and put in rows of 2, 3, 4, 6, 8


def _common(a: Shape | None, b: Shape | None) -> Shape | None:
    if a is None or b is None or len(a) != len(b):
        return None
    return tuple([n if n == m else None for n, m in zip(a, b, strict=True)])


def infer_types(graph: Graph, dtypes: Mapping[str, Any]) -> dict[Entry, Spec]:
    """Specs whose dtypes are right: those of shapes are made up where they are not known.

    A dtype never depends on a shape; but a function has to take the shape. ValueError if it takes
    none of those tried.
    """
    known = {name: Spec(None, np.dtype(dtype)) for name, dtype in dtypes.items()}
    specs = _of_variables(graph, known, default_dtype(graph, dtypes))
    problem: Exception | None = None
    for ndim, follow in itertools.product((2, 4, 3, 1, 0, 5), (True, False)):

        def guess(
            node: Node,
            left: list[Entry],
            arrays: dict[Entry, Any],
            ndim: int = ndim,
            follow: bool = follow,  # what else the node takes
        ) -> bool:
            like = [arrays[other].shape for other in node.inputs if follow and other in arrays]
            shape, dtype = specs[left[0]]
            if shape is None:
                shape = like[0] if like else (_TRIED[0],) * ndim
            arrays[left[0]] = new(tuple([_TRIED[0] if n is None else n for n in shape]), dtype)
            return False

        try:
            found = _walk(graph, specs, guess)
        except Exception as exc:
            problem = exc
            continue
        return {Entry(n): specs[Entry(n)] for n in graph.variables} | found
    raise ValueError(
        "infer_type: the dtypes don't follow without shapes: give those of the variables, "
        "var(name, shape=...)"
    ) from problem


def reshaped(
    graph: Graph, shapes: Mapping[str, Any], arrays: Mapping[str, Any]
) -> dict[Entry, Spec]:
    """Specs for other shapes: arguments keep theirs, unless they follow from others."""
    dtypes = {name: Spec(None, x.dtype) for name, x in arrays.items()}
    known = {
        name: Spec(shape_of(s), arrays[name].dtype) for name, s in shapes.items() if name in arrays
    }
    unknown = [name for name in shapes if name not in arrays]
    if unknown:
        raise TypeError(f"the graph has no arguments {unknown}: it has {[*arrays]}")
    kept = {name: Spec(x.shape, x.dtype) for name, x in arrays.items()}
    try:
        return infer(graph, dtypes | known)
    except ValueError:
        return infer(graph, kept | known)


def default_dtype(graph: Graph, dtypes: Mapping[str, Any]) -> Any:
    """The dtype of variables of which none is said.

    As in MXNet, where one dtype of floats is named, it is that.
    """
    named = [np.dtype(d) for d in dtypes.values()]
    named += [n.spec.dtype for n in graph.variables if n.name not in dtypes and n.spec.dtype]
    floats = {d for d in named if d.kind in "fc"}
    return floats.pop() if len(floats) == 1 else float


def _of_variables(graph: Graph, known: Mapping[str, Any], default: Any) -> dict[Entry, Spec]:
    names = graph.list_inputs()
    unknown = [name for name in known if name not in names]
    if unknown:
        raise TypeError(f"the graph has no arguments {unknown}: its arguments are {names}")
    return {Entry(node): merged(node, known.get(node.name), default) for node in graph.variables}


# Asked what to do with a node that takes entries whose shapes don't follow: it gives an array for
# one of them, from which those of others may follow; true leaves the node out.
_Lacking = Callable[[Node, list[Entry], dict[Entry, Any]], bool]


def _walk(
    graph: Graph, specs: dict[Entry, Spec], lacking: _Lacking, guessed: set[Entry] | None = None
) -> dict[Entry, Spec]:
    """The specs of what the nodes give. Who fails on what was ``guessed`` gives nothing."""
    specs = dict(specs)
    arrays: dict[Entry, Any] = {}
    guessed = set() if guessed is None else guessed
    with Program():
        for node in graph.nodes:
            if node.op == CONST:
                arrays[Entry(node)] = to_device(node.value, current_context())  # as all here
            elif node.op != VAR:
                left = _complete(node, specs, arrays)
                while left and not lacking(node, left, arrays):
                    left = _complete(node, specs, arrays)
                if left:
                    continue
                doubtful = not guessed.isdisjoint(node.inputs)
                try:
                    results = called(node, arrays, None)
                except Exception:
                    if doubtful:
                        continue
                    raise
                arrays.update(zip(node.results, results, strict=True))
                if doubtful:
                    guessed.update(node.results)
            else:
                _fill(node, specs, arrays)
        return {entry: Spec(x.shape, x.dtype) for entry, x in arrays.items()}


def _refuse(node: Node, left: list[Entry], arrays: dict[Entry, Any]) -> bool:
    raise ValueError(
        f"the shapes of {', '.join([e.node.name for e in left])}, which {node.op} of node "
        f"{node.name!r} takes, are not known and don't follow: give them"
    )


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


def _complete(node: Node, specs: dict[Entry, Spec], arrays: dict[Entry, Any]) -> list[Entry]:
    """Finds the shapes of a node's parameters from its data's; gives what is left."""
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
    return [e for e in lacking if e not in arrays]
