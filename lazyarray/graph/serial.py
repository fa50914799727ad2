"""Graphs as JSON, and back."""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.context import Context
from lazyarray.graph import registry
from lazyarray.graph.nodes import CONST, OPAQUE, VAR, Entry, Node, Spec, shape_of
from lazyarray.graph.trees import Place
from lazyarray.ops import _rows

if TYPE_CHECKING:
    from lazyarray.graph.graph import Graph

FORMAT, VERSION = "lazyarray graph", 1
_MOST_OUTPUTS = 1 << 16


# ---- writing ------------------------------------------------------------------------------------


def dumps(graph: Graph) -> str:
    """The graph as JSON, which names public functions; TypeError for nodes that are none."""
    number = {node: i for i, node in enumerate(graph.nodes)}

    def entry(e: Entry) -> list[int]:
        return [number[e.node], e.output]

    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "nodes": [_node(n, lambda x: {"@": "entry", "of": entry(x)}) for n in graph.nodes],
        "inputs": [number[n] for n in graph.variables],
        "outputs": [entry(e) for e in graph.outputs],
        "updates": [[number[n], entry(e)] for n, e in graph.updates],
        "takes": _written(graph.takes, None),
        "gives": _written(graph.gives, None),
    }
    # A line for each node.
    lines = ",\n".join([f"  {json.dumps(n)}" for n in document.pop("nodes")])
    rest = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in document.items()]
    return "{\n" + ",\n".join([*rest[:2], f' "nodes": [\n{lines}\n ]', *rest[2:]]) + "\n}\n"


Write = Callable[[Entry], Any] | None


def _node(node: Node, entry: Write) -> dict[str, Any]:
    if node.op == OPAQUE:
        raise TypeError(
            f"a graph with an op that has no public name can't be written as JSON: {node.name}, "
            f"recorded at {node.line}"
        )
    written: dict[str, Any] = {"op": node.op, "name": node.name}
    if node.op == VAR:
        if node.spec.shape is not None:
            written["shape"] = list(node.spec.shape)
        if node.spec.dtype is not None:
            written["dtype"] = node.spec.dtype.name
    elif node.op == CONST:
        values = np.ascontiguousarray(node.value.asnumpy())
        written |= {"dtype": values.dtype.name, "shape": list(node.value.shape)}
        written["data"] = base64.b64encode(values.tobytes()).decode()
    else:
        written["args"] = [_written(a, entry) for a in node.args]
        written["kwargs"] = {key: _written(a, entry) for key, a in node.kwargs.items()}
        if node.outputs:
            written["outputs"] = node.outputs
    if node.aux:
        written["aux"] = True
    if node.attributes:
        written["attributes"] = dict(sorted(node.attributes.items()))
    if node.line and node.op not in (VAR, CONST):
        written["line"] = node.line
    return written


def _written(x: Any, entry: Write) -> Any:
    if isinstance(x, Entry) and entry is not None:
        return entry(x)
    if x is None or isinstance(x, (str, bool)) or type(x) is int:
        return x
    if type(x) is float:
        return x if math.isfinite(x) else {"@": "float", "of": repr(x)}
    if type(x) is complex:
        return {"@": "complex", "of": [_written(x.real, entry), _written(x.imag, entry)]}
    if isinstance(x, np.generic):
        data = base64.b64encode(x.tobytes()).decode()
        return {"@": "scalar", "dtype": x.dtype.name, "of": data, "text": str(x)}
    if isinstance(x, np.dtype):
        return {"@": "dtype", "of": x.name}
    if isinstance(x, Context):
        return {"@": "context", "of": [x.device_type, x.device_id]}
    if isinstance(x, Place):
        return {"@": "place", "of": x.number}
    if x is Ellipsis:
        return {"@": "ellipsis"}
    if isinstance(x, slice):
        return {"@": "slice", "of": [_written(p, entry) for p in (x.start, x.stop, x.step)]}
    if isinstance(x, tuple):
        return {"@": "tuple", "of": [_written(p, entry) for p in x]}
    if isinstance(x, list):
        return [_written(p, entry) for p in x]
    if isinstance(x, dict):
        return {"@": "dict", "of": [[_written(k, entry), _written(v, entry)] for k, v in x.items()]}
    raise TypeError(f"a graph with {type(x).__name__} {x!r} can't be written as JSON")


# ---- reading ------------------------------------------------------------------------------------


def loads(text: str | bytes) -> dict[str, Any]:
    """What the parts of a graph are, from JSON; ValueError if it is corrupt or names no op."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as exc:
        raise ValueError(f"this is no JSON of a graph: {exc}") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ValueError("this JSON is not a graph's")
    if document.get("version") != VERSION:
        raise ValueError(f"a graph of version {document.get('version')}, not {VERSION}")
    nodes: list[Node] = []
    try:
        for i, written in enumerate(document["nodes"]):
            nodes.append(_read_node(written, i, nodes))

        def entry(pair: Any) -> Entry:
            return _entry(pair, nodes, len(nodes), "an output")

        return {
            "outputs": [entry(p) for p in document["outputs"]],
            "inputs": [_variable(nodes, i) for i in document["inputs"]],
            "updates": [(_variable(nodes, i), entry(p)) for i, p in document["updates"]],
            "takes": _read(document["takes"], None),
            "gives": _read(document["gives"], None),
        }
    except (
        KeyError,
        TypeError,
        IndexError,
        AttributeError,
        ArithmeticError,
        RecursionError,
    ) as exc:
        raise ValueError(f"the JSON of a graph is corrupt: {type(exc).__name__}: {exc}") from exc


def _variable(nodes: list[Node], i: int) -> Node:
    if not isinstance(i, int) or not 0 <= i < len(nodes) or nodes[i].op not in (VAR, CONST):
        raise ValueError(f"the JSON of a graph is corrupt: node {i!r} is no variable")
    return nodes[i]


def _entry(pair: Any, nodes: list[Node], limit: int, who: str) -> Entry:
    i, k = pair
    if not isinstance(i, int) or not isinstance(k, int) or i < 0:
        raise ValueError(f"the JSON of a graph is corrupt: {who} is of node {i!r}")
    if i >= limit:
        raise ValueError(
            f"the JSON of a graph is corrupt: {who} is of node {i}, which doesn't come before it "
            "(a cycle, or a missing node)"
        )
    if not 0 <= k < (nodes[i].outputs or 1):
        raise ValueError(
            f"the JSON of a graph is corrupt: node {nodes[i].name!r} has no output {k}"
        )
    return Entry(nodes[i], k)


def _read_node(written: Mapping[str, Any], i: int, nodes: list[Node]) -> Node:
    op, name = written["op"], written["name"]
    if not isinstance(op, str) or not isinstance(name, str) or not name:
        raise ValueError(f"the JSON of a graph is corrupt: node {i} is {op!r}, called {name!r}")
    node = Node(op, name, aux=bool(written.get("aux")), line=written.get("line"))
    node.attributes = {str(k): str(v) for k, v in written.get("attributes", {}).items()}
    if op == VAR:
        shape = written.get("shape")
        dtype = written.get("dtype")
        node.spec = Spec(
            None if shape is None else shape_of(shape, partial=True),
            None if dtype is None else _dtype(dtype),
        )
    elif op == CONST:
        data = np.frombuffer(base64.b64decode(written["data"]), _dtype(written["dtype"]))
        node.value = _rows.array(data.reshape(written["shape"]))
    else:
        registry.function_of(op)

        def entry(pair: Any) -> Entry:
            return _entry(pair, nodes, i, f"an input of node {name!r}")

        node.outputs = written.get("outputs", 0)
        if type(node.outputs) is not int or not 0 <= node.outputs <= _MOST_OUTPUTS:
            raise ValueError(
                f"the JSON of a graph is corrupt: {name!r} has outputs {node.outputs!r}"
            )
        node.args = tuple([_read(a, entry) for a in written["args"]])
        node.kwargs = {str(k): _read(a, entry) for k, a in written["kwargs"].items()}
        registry.normal_form(op, node.args, node.kwargs)  # refuses what the function doesn't take
    return node


def _dtype(name: Any) -> np.dtype:
    """A dtype that arrays can have, of its name."""
    if not isinstance(name, str):
        raise ValueError(f"the JSON of a graph is corrupt: {name!r} is no dtype")
    return _rows.empty((0,), np.dtype(name)).dtype


def _read(x: Any, entry: Callable[[Any], Entry] | None) -> Any:
    if isinstance(x, list):
        return [_read(p, entry) for p in x]
    if not isinstance(x, dict):
        return x
    kind = x["@"]
    of: Any = x.get("of")
    if kind == "entry" and entry is not None:
        return entry(of)
    if kind == "tuple":
        return tuple([_read(p, entry) for p in of])
    if kind == "slice":
        return slice(*[_read(p, entry) for p in of])
    if kind == "dict":
        return {_read(k, entry): _read(v, entry) for k, v in of}
    if kind == "complex":
        return complex(*[_read(p, entry) for p in of])
    if kind == "scalar":
        return np.frombuffer(base64.b64decode(of), _dtype(x["dtype"]))[0]
    simple: dict[str, Callable[[Any], Any]] = {
        "float": float,
        "dtype": np.dtype,
        "context": lambda of: Context(*of),
        "place": Place,
        "ellipsis": lambda of: Ellipsis,
    }
    if kind not in simple:
        raise ValueError(f"the JSON of a graph is corrupt: it holds a {kind!r}")
    return simple[kind](of)
