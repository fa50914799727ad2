"""Running a graph, node by node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from lazyarray.context import Context
from lazyarray.graph import registry, text
from lazyarray.graph.nodes import CONST, OPAQUE, VAR, Entry, Node, mapped
from lazyarray.graph.trees import numbered, structured
from lazyarray.lazy._lazy import Tensor
from lazyarray.ops import _rows

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray.graph.graph import Graph

# Nodes that copy an array to change it; they change itself if it is a new one for them alone.
_UPDATES = {"setitem", "setview"}
_MAKE_NEW = {*_UPDATES, "empty", "zeros", "ones", "full", "copy"}


def run(
    graph: Graph,
    arrays: Mapping[Node, NDArray],
    hear: Callable[[Entry, NDArray], object] | None = None,
    devices: Mapping[Node, Context] | None = None,
) -> list[NDArray]:
    """See :meth:`lazyarray.Graph.run`."""
    if not isinstance(arrays, Mapping):
        raise TypeError(f"arrays are given by the variables' nodes, not as {type(arrays).__name__}")
    values: dict[Entry, Any] = {Entry(n): x for n, x in arrays.items()}
    uses = Counter([e for n in graph.nodes for e in n.inputs])
    uses.update([*graph.outputs, *[e for _, e in graph.updates]])
    uses.update(map(Entry, [*graph.variables, *[n for n, _ in graph.updates]]))
    left = Counter(uses)
    for node in graph.nodes:
        if node.op == CONST:
            values[Entry(node)] = node.value
        if node.op in (VAR, CONST):
            continue
        base = node.inputs[0] if node.op in _UPDATES else None
        in_place = base is not None and uses[base] == 1 and base.node.op in _MAKE_NEW
        device = devices.get(node) if devices else None
        results = called(node, values, device, in_place)
        for entry, result in zip(node.results, results, strict=True):
            values[entry] = result
            if hear is not None:
                hear(entry, result)
        # What nobody needs any more goes now: so the planner sees what is temporary.
        del results, result
        for e in node.inputs:
            left[e] -= 1
            if not left[e]:
                del values[e]
        for e in node.results:
            if not left[e]:
                del values[e]
    # All are read before the first is written.
    news = [values[e] for _, e in graph.updates]
    outputs = [values[e] for e in graph.outputs]
    if graph.updates:
        old = {id(values[Entry(n)]) for n, _ in graph.updates}
        outputs = [y.copy() if id(y) in old else y for y in outputs]
        news = [y.copy() if id(y) in old else y for y in news]
    for (node, _), new in zip(graph.updates, news, strict=True):
        values[Entry(node)][...] = new
    return outputs


def called(
    node: Node, values: Mapping[Entry, Any], device: Context | None, in_place: bool = False
) -> list[NDArray]:
    """The results of one node."""

    def leaf(x: Any) -> Any:
        return values[x] if isinstance(x, Entry) else x

    function = node.value if node.op == OPAQUE else registry.function_of(node.op)
    args, kwargs = mapped(node.args, leaf), mapped(node.kwargs, leaf)
    if in_place:
        kwargs["in_place"] = True
    try:
        if device is None:
            result = function(*args, **kwargs)
        else:
            with device:
                result = function(*args, **kwargs)
    except Exception as exc:
        exc.add_note(
            f"in node {node.name!r} of a graph, {_described(node, values)}, built at {node.line}"
        )
        raise
    results = list(result) if isinstance(result, (tuple, list)) else [result]
    if isinstance(result, (tuple, list)) != bool(node.outputs) or len(results) != (
        node.outputs or 1
    ):
        raise TypeError(
            f"node {node.name!r}: {node.op} gives {len(results)} results, where the graph was "
            f"built for {node.outputs or 1}: build it with num_outputs={len(results)}"
        )
    for r in results:
        if not isinstance(r, Tensor):
            raise TypeError(
                f"node {node.name!r}: {node.op} gives {type(r).__name__}, not an NDArray"
            )
    return results


def _described(node: Node, values: Mapping[Entry, Any]) -> str:
    """The call that a node is, and the shapes of what it takes."""
    names = {e.node: e.node.name for e in node.inputs}
    shapes = [f"{names[e.node]} {values[e].shape}" for e in node.inputs if e in values]
    return f"{text.expression(node, names)} with {', '.join(shapes)}"


def called_with(graph: Graph, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a graph gives for arguments as its function took them, or by position or name."""
    if graph.takes is None:
        named = dict(zip(graph.list_inputs(), args, strict=False)) | kwargs
        if len(args) > len(graph.variables):
            raise TypeError(f"the graph takes {len(graph.variables)} arrays, not {len(args)}")
        outputs = graph.eval(**named)
        return outputs[0] if len(outputs) == 1 else tuple(outputs)
    given: list[Any] = []
    takes = numbered(
        (tuple([("", a) for a in args]), {k: (k, v) for k, v in kwargs.items()}), given, []
    )
    if repr(takes) != repr(graph.takes):
        raise TypeError("the arguments are not nested as those that the graph was traced with")
    arrays: dict[Node, Any] = {}
    for node, x in zip(graph.variables, given, strict=False):
        array = _rows.asarray(x)
        if array.shape != node.spec.shape:
            raise ValueError(
                f"argument {node.name!r} has shape {array.shape}, not {node.spec.shape}, with "
                "which the graph was traced"
            )
        arrays[node] = array
    outputs = run(graph, arrays)
    return structured(graph.gives, outputs)
