"""Graphs as text: the readable print, and the picture's source for Graphviz."""

from __future__ import annotations

import itertools
import os
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.graph.nodes import CONST, OPAQUE, VAR, Entry, Node, Spec

if TYPE_CHECKING:
    from lazyarray.graph.graph import Graph

Specs = dict[Entry, Spec]


def labels(graph: Graph) -> dict[Node, str]:
    """What each node is called in print: its name, or a number if nobody named it."""
    found: dict[Node, str] = {}
    number = itertools.count()
    for node in graph.nodes:
        hint = node.op.rpartition(".")[2].lower()
        given = node.op in (VAR, CONST) or not re.fullmatch(rf"{re.escape(hint)}\d+", node.name)
        found[node] = node.name if given else f"%{next(number)}"
    return found


def printed(graph: Graph, specs: Specs | None = None, lines: bool = False) -> str:
    """The graph, a line for each call; with shapes and dtypes, and where each was built."""
    called = labels(graph)
    arguments = [_declared(n, specs) for n in graph.variables]
    rows = []
    for node in graph.nodes:
        if node.op == VAR:
            continue
        notes = []
        if specs is not None:
            notes.append(", ".join([str(specs[e]) for e in node.results]))
        if node.attributes:
            notes.append(", ".join([f"{k}={v}" for k, v in sorted(node.attributes.items())]))
        if lines and node.line:
            notes.append(os.path.basename(node.line.partition(" in ")[0]))
        rows.append(
            (f"{called[node]} = {expression(node, called)}", "; ".join(filter(None, notes)))
        )
    width = max([len(row) for row, note in rows if note], default=0)
    text = [f"Graph({', '.join(arguments)}):"]
    for row, note in rows:
        text.append(f"    {row:<{width}}  # {note}" if note else f"    {row}")
    for node, entry in graph.updates:
        text.append(f"    {called[node]}[...] = {_entry(entry, called)}")
    text.append(f"    return {', '.join([_entry(e, called) for e in graph.outputs])}")
    return "\n".join(text)


def _declared(node: Node, specs: Specs | None) -> str:
    known = str(specs[Entry(node)] if specs is not None else node.spec)
    kind = "aux " if node.aux else ""
    return f"{kind}{node.name}" + (f": {known}" if known else "")


def expression(node: Node, called: dict[Node, str]) -> str:
    """The call that a node is, as Python would have it."""
    if node.op == CONST:
        return f"<array {node.value.dtype} {node.value.shape}>"
    if node.op == "getitem":
        key = node.args[1] if len(node.args) > 1 else node.kwargs["key"]
        return f"{_text(node.args[0], called)}[{_index(key, called)}]"
    args = [_text(a, called) for a in node.args]
    args += [f"{key}={_text(value, called)}" for key, value in node.kwargs.items()]
    name = f"<{node.name}>" if node.op == OPAQUE else node.op
    return f"{name}({', '.join(args)})"


def _entry(entry: Entry, called: dict[Node, str]) -> str:
    name = called[entry.node]
    return f"{name}[{entry.output}]" if entry.node.outputs else name


def _text(tree: Any, called: dict[Node, str]) -> str:
    if isinstance(tree, Entry):
        return _entry(tree, called)
    if isinstance(tree, slice):
        return f"[{_index(tree, called)}]"
    if isinstance(tree, tuple):
        parts = [_text(t, called) for t in tree]
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
    if isinstance(tree, list):
        return f"[{', '.join([_text(t, called) for t in tree])}]"
    if isinstance(tree, dict):
        return "{" + ", ".join([f"{k!r}: {_text(t, called)}" for k, t in tree.items()]) + "}"
    if isinstance(tree, np.dtype):
        return tree.name
    if isinstance(tree, np.generic):
        return f"{tree.dtype.name}({tree.item()!r})"
    return "..." if tree is Ellipsis else repr(tree)


def _index(key: Any, called: dict[Node, str]) -> str:
    if isinstance(key, tuple) and not isinstance(key, Entry):
        return ", ".join([_index(k, called) for k in key]) + ("," if len(key) == 1 else "") or "()"
    if isinstance(key, slice):
        parts = ["" if p is None else _text(p, called) for p in (key.start, key.stop, key.step)]
        return ":".join(parts[:2] if key.step is None else parts)
    return _text(key, called)


# ---- Graphviz -----------------------------------------------------------------------------------

_STYLE = {
    VAR: 'shape=ellipse, style=filled, fillcolor="#8dd3c7"',
    CONST: 'shape=ellipse, style="filled,dashed", fillcolor="#d9d9d9"',
    OPAQUE: 'shape=box, style="filled,dashed", fillcolor="#fb8072"',
}
_CALL = 'shape=box, style=filled, fillcolor="#80b1d3"'


def dot(graph: Graph, specs: Specs | None = None) -> str:
    """The source of a picture for Graphviz: boxes are calls, ellipses are variables."""
    number = {node: f"n{i}" for i, node in enumerate(graph.nodes)}
    text = ["digraph Graph {", "  rankdir=BT;", "  node [fontsize=10]; edge [fontsize=9];"]
    for node in graph.nodes:
        style = _STYLE.get(node.op, _CALL)
        what = node.name if node.op in (VAR, CONST) else f"{node.name}\n{_options(node)}"
        if node.aux:
            style += ", peripheries=2"
        text.append(f"  {number[node]} [label={_quoted(what)}, {style}];")
    for node in graph.nodes:
        for e in node.inputs:
            label = f" [label={_quoted(str(specs[e]))}]" if specs is not None else ""
            text.append(f"  {number[e.node]} -> {number[node]}{label};")
    for i, e in enumerate(graph.outputs):
        label = f" [label={_quoted(str(specs[e]))}]" if specs is not None else ""
        text.append(
            f"  out{i} [label=output{i if len(graph.outputs) > 1 else ''}, shape=plaintext];"
        )
        text.append(f"  {number[e.node]} -> out{i}{label};")
    for state, e in graph.updates:
        text.append(f"  {number[e.node]} -> {number[state]} [style=dashed, constraint=false];")
    return "\n".join([*text, "}"])


def _options(node: Node) -> str:
    """The op with what it takes besides arrays."""

    class Arrays(dict[Node, str]):
        def __missing__(self, node: Node) -> str:
            return "·"

    return expression(node, Arrays())


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
