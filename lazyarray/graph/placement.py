"""Devices: which node runs where, and the copies between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lazyarray.context import Context, as_device
from lazyarray.graph.nodes import CONST, SERIALS, VAR, Entry, Node, mapped

if TYPE_CHECKING:
    from lazyarray.graph.graph import Graph

Devices = dict[Node, Context]


def context(device: Any) -> Context:
    """A device as a Context; TypeError for what is none."""
    found = as_device(device)
    if found is None:
        raise TypeError("a device is a Context, not None")
    return Context(found.device_type, found.device_id)


def groups(group2ctx: Mapping[str, Any] | None) -> dict[str, Context]:
    """The devices of the groups that ``group2ctx`` names."""
    if group2ctx is not None and not isinstance(group2ctx, Mapping):
        raise TypeError(f"group2ctx is a dict of devices, not {type(group2ctx).__name__}")
    return {name: context(device) for name, device in (group2ctx or {}).items()}


def devices_of(graph: Graph, default: Context, group2ctx: Mapping[str, Context]) -> Devices:
    """Where each node runs: on its group's device, or the default one.

    A variable without a group is where the first node that takes it runs.
    """
    found: Devices = {}
    for node in graph.nodes:
        group = node.attributes.get("ctx_group", "")
        if group in group2ctx:
            found[node] = group2ctx[group]
        elif node.op == CONST:
            found[node] = context(node.value.ctx)
        elif node.op != VAR:
            found[node] = default
    for node in graph.nodes:
        for entry in node.inputs:
            found.setdefault(entry.node, found[node])
    return {node: found.get(node, default) for node in graph.nodes}


def placed(graph: Graph, devices: Devices) -> tuple[Graph, Devices]:
    """The graph with one copy for each edge to another device and each such device."""
    made: dict[Entry, Entry] = {}
    copies: dict[tuple[Entry, Context], Entry] = {}
    where: Devices = {}

    def on(entry: Entry, device: Context) -> Entry:
        if devices[entry.node] == device:
            return made[entry]
        if (entry, device) not in copies:
            name = f"{entry.node.name}_to_{device.device_type}{device.device_id}"
            node = Node("to_device", name, (made[entry],), {"device": device})
            node.line = entry.node.line
            where[node] = device
            copies[entry, device] = Entry(node)
        return copies[entry, device]

    for node in graph.nodes:
        device = devices[node]

        def leaf(x: Any, device: Context = device) -> Any:
            return on(x, device) if isinstance(x, Entry) else x

        new = node
        if node.op not in (VAR, CONST):
            args, kwargs = mapped((node.args, node.kwargs), leaf)
            new = replace(node, args=args, kwargs=kwargs, serial=next(SERIALS))
        where[new] = device
        made.update(zip(node.results, new.results, strict=True))
    updates = [(node, on(entry, devices[node])) for node, entry in graph.updates]
    outputs = [made[e] for e in graph.outputs]
    result = type(graph)(outputs, graph.variables, updates, graph.takes, graph.gives, graph.retrace)
    return result, where
