"""What an executor's plan did with each node's results, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lazyarray.graph.nodes import CONST, VAR, Entry
from lazyarray.graph.placement import Devices
from lazyarray.graph.text import expression, labels

if TYPE_CHECKING:
    from lazyarray.graph.executor import _Run
    from lazyarray.graph.graph import Graph


def described(graph: Graph, run: _Run, requests: Mapping[str, str], devices: Devices) -> str:
    """A line for each node, one for each gradient, and the sums."""
    called = labels(graph)
    several = len(set(devices.values())) > 1
    rows = []
    for node in graph.nodes:
        if node.op in (VAR, CONST):
            continue
        kinds = ", ".join([kind_of(e, run) for e in node.results])
        where = f" on {devices[node]!r}" if several else ""
        rows.append((f"{called[node]} = {expression(node, called)}", kinds + where))
    width = max([len(row) for row, _ in rows], default=0)
    text = [f"{row:<{width}}  {kind}" for row, kind in rows]
    text += [f"gradient of {name}: {request}" for name, request in requests.items()]
    m = run.program.memory()
    text.append(
        f"{m['instructions']} instructions in {m['operators']} operators, "
        f"{m['temporaries']} temporaries in scratch"
    )
    text.append(
        f"Total {m['planned']} bytes planned, {m['unplanned']} bytes without planning, "
        f"{m['bound']} bytes alive at once"
    )
    return "\n".join(text)


def kind_of(entry: Entry, run: _Run) -> str:
    """How a result is written.

    "null": it has no memory, because a fused pass needs it tile by tile only, or it is the same
    memory as an input's; "write-in-place": over an input that dies; "write": elsewhere in the
    block; "write (own memory)": it is looked at from outside, or tiny.
    """
    chunk = run.chunks.get(entry)
    places = run.places
    if chunk is None or places.get(chunk) == _TEMPORARY:
        return "null"
    inputs = [run.chunks.get(e) for e in entry.node.inputs]
    if chunk in inputs:
        return "null (a view)"
    place = places.get(chunk, _OWN)
    if place == _OWN:
        return "write (own memory)"
    taken = [c for c in inputs if c is not None and places.get(c) == place]
    return f"write-in-place at {place}" if taken else f"write at {place}"


_OWN, _TEMPORARY = -1, -2
