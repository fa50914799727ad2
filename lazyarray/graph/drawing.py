"""A graph as a picture for notebooks: SVG, in layers, made here so that nobody needs Graphviz."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from lazyarray.graph.nodes import CONST, OPAQUE, VAR, Node

if TYPE_CHECKING:
    from lazyarray.graph.graph import Graph

MOST = 150  # nodes; a larger graph is not drawn
_COLORS = {VAR: "#8dd3c7", CONST: "#d9d9d9", OPAQUE: "#fb8072"}
_CALL = "#80b1d3"
_HEIGHT, _GAP, _LETTER = 22, 34, 6.5  # of a box, between layers; in pixels


def svg(graph: Graph) -> str:
    """Boxes for calls and variables, data going down; "" for a graph of more than `MOST` nodes."""
    if len(graph.nodes) > MOST:
        return ""
    places, width, height = _places(graph)
    lines = []
    for node in graph.nodes:
        x, y, _ = places[node]
        for e in node.inputs:
            from_x, from_y, _ = places[e.node]
            lines.append(_line(from_x, from_y + _HEIGHT, x, y))
    for state, e in graph.updates:
        (from_x, from_y, _), (x, y, _) = places[e.node], places[state]
        lines.append(_line(from_x, from_y, x, y, ' stroke-dasharray="4"'))
    outputs = {e.node for e in graph.outputs}
    boxes = [_box(node, *places[node], bold=node in outputs) for node in graph.nodes]
    return (
        f'<svg width="{width:.0f}" height="{height:.0f}" font-family="sans-serif" font-size="11">'
        f"{''.join([*lines, *boxes])}</svg>"
    )


def _label(node: Node) -> str:
    text = node.name if node.op in (VAR, CONST) else node.op
    return text if len(text) <= 24 else text[:23] + "…"


def _places(graph: Graph) -> tuple[dict[Node, tuple[float, float, float]], float, float]:
    """Each node's middle, top and width; the picture's size."""
    layer: dict[Node, int] = {}
    for node in graph.nodes:  # in topological order
        layer[node] = 1 + max([layer[e.node] for e in node.inputs], default=-1)
    for node in reversed(graph.nodes):  # what has no inputs stands above the first who reads it
        if not node.inputs:
            readers = [layer[n] for n in graph.nodes if any(e.node is node for e in n.inputs)]
            layer[node] = max(0, min(readers, default=1) - 1)
    rows: list[list[Node]] = [[] for _ in range(max(layer.values(), default=-1) + 1)]
    for node in graph.nodes:
        rows[layer[node]].append(node)
    middle: dict[Node, float] = {}
    widths = {node: _LETTER * len(_label(node)) + 14 for node in graph.nodes}
    for row in rows:
        # Under the mean of what they read, and then side by side.
        def wish(node: Node) -> float:
            above = [middle[e.node] for e in node.inputs if e.node in middle]
            return sum(above) / len(above) if above else 0.0

        right = 0.0
        for node in sorted(row, key=wish):
            left = max(right, wish(node) - widths[node] / 2)
            middle[node] = left + widths[node] / 2
            right = left + widths[node] + 12
    places = {
        node: (middle[node], 4.0 + layer[node] * (_HEIGHT + _GAP), widths[node])
        for node in graph.nodes
    }
    width = max((x + w / 2 for x, _, w in places.values()), default=0.0) + 4
    return places, width, len(rows) * (_HEIGHT + _GAP) - _GAP + 8


def _line(x: float, y: float, to_x: float, to_y: float, more: str = "") -> str:
    return f'<line x1="{x:.0f}" y1="{y:.0f}" x2="{to_x:.0f}" y2="{to_y:.0f}" stroke="#999"{more}/>'


def _box(node: Node, x: float, y: float, width: float, *, bold: bool) -> str:
    round_ = _HEIGHT / 2 if node.op in (VAR, CONST) else 3
    return (
        f'<rect x="{x - width / 2:.0f}" y="{y:.0f}" width="{width:.0f}" height="{_HEIGHT}" '
        f'rx="{round_}" fill="{_COLORS.get(node.op, _CALL)}" stroke="#333" '
        f'stroke-width="{2 if bold else 0.5}"/>'
        f'<text x="{x:.0f}" y="{y + 15:.0f}" text-anchor="middle" fill="#111">'
        f"{html.escape(_label(node))}</text>"
    )
