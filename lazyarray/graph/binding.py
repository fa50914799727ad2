"""Binding: which arrays an executor is given, checked against what the graph needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.context import current_context
from lazyarray.functions import creation
from lazyarray.graph.executor import Arrays, Executor
from lazyarray.graph.infer import default_dtype, infer
from lazyarray.graph.nodes import Entry, Spec, shape_of
from lazyarray.graph.placement import context, devices_of, groups
from lazyarray.lazy._lazy import Tensor

if TYPE_CHECKING:
    from lazyarray.graph.graph import Graph

REQUESTS = ("write", "add", "null")


def bind(
    graph: Graph,
    ctx: Any,
    args: Any,
    args_grad: Any,
    grad_req: Any,
    aux_states: Any,
    group2ctx: Mapping[str, Any] | None,
    shared: Executor | None,
) -> Executor:
    """See :meth:`lazyarray.Graph.bind`."""
    device = current_context() if ctx is None else context(ctx)
    names = graph.list_arguments()
    arrays = _by_name(args, names, "args", True)
    arrays |= _by_name(aux_states, graph.list_auxiliary_states(), "aux_states", True)
    gradients = _by_name(args_grad, names, "args_grad", False)
    requests = _requests(grad_req, names)
    gradients = {n: g for n, g in gradients.items() if requests[n] != "null"}
    specs = infer(graph, {name: Spec(x.shape, x.dtype) for name, x in arrays.items()})
    devices = devices_of(graph, device, groups(group2ctx))
    for node in graph.variables:
        x = arrays[node.name]
        if x.shape != specs[Entry(node)].shape:
            raise ValueError(
                f"bind: argument {node.name!r} has shape {x.shape}, not {specs[Entry(node)].shape}"
            )
        if context(x.device) != devices[node]:
            raise ValueError(
                f"bind: argument {node.name!r} is on {context(x.device)!r}, not on "
                f"{devices[node]!r}"
            )
    for name, g in gradients.items():
        x = arrays[name]
        if not g.flags.writeable:
            raise ValueError(f"bind: the gradient of {name!r} is read-only, or a scalar")
        if g.shape != x.shape or g.dtype != x.dtype:
            raise ValueError(
                f"bind: the gradient of {name!r} has shape {g.shape} and {g.dtype}, not "
                f"{x.shape} and {x.dtype}"
            )
        if x.dtype.kind not in "fc":
            raise TypeError(f"bind: {name!r} is of {x.dtype}: only floats have gradients")
    return Executor(graph, device, arrays, gradients, requests, group2ctx, shared)


def simple_bind(
    graph: Graph,
    ctx: Any,
    grad_req: Any,
    type_dict: Mapping[str, Any] | None,
    group2ctx: Mapping[str, Any] | None,
    shared: Executor | None,
    shapes: Mapping[str, Any],
) -> Executor:
    """See :meth:`lazyarray.Graph.simple_bind`."""
    device = current_context() if ctx is None else context(ctx)
    names = graph.list_arguments()
    requests = _requests(grad_req, names)
    dtypes = dict(type_dict or {})
    known = {
        name: Spec(
            None if name not in shapes else shape_of(shapes[name], partial=True),
            None if name not in dtypes else np.dtype(dtypes[name]),
        )
        for name in {**shapes, **dtypes}
    }
    specs = infer(graph, known, default_dtype(graph, dtypes))
    devices = devices_of(graph, device, groups(group2ctx))
    arrays: Arrays = {}
    gradients: Arrays = {}
    for node in graph.variables:
        spec = specs[Entry(node)]
        arrays[node.name] = creation.zeros(spec.known, spec.dtype, device=devices[node])
        real = spec.dtype is not None and spec.dtype.kind in "fc"
        if not node.aux and requests[node.name] != "null" and real:
            gradients[node.name] = creation.zeros_like(arrays[node.name])
    return Executor(graph, device, arrays, gradients, requests, group2ctx, shared)


def _by_name(given: Any, names: Sequence[str], what: str, complete: bool) -> Arrays:
    """Arrays in a list or by name, as a dict."""
    if given is None:
        found: dict[str, Any] = {}
    elif isinstance(given, Mapping):
        unknown = [name for name in given if name not in names]
        if unknown:
            raise TypeError(f"bind: {what} has {unknown}, which are not among {[*names]}")
        found = dict(given)
    else:
        listed = [given] if isinstance(given, Tensor) else [*given]
        if len(listed) != len(names):
            raise TypeError(f"bind: {what} are {len(listed)} arrays for {[*names]}")
        found = dict(zip(names, listed, strict=True))
    found = {name: x for name, x in found.items() if x is not None}
    missing = [name for name in names if name not in found]
    if complete and missing:
        raise TypeError(f"bind: {what} lacks {missing}")
    for name, x in found.items():
        if not isinstance(x, Tensor):
            raise TypeError(f"bind: {name!r} has to be an NDArray, not {type(x).__name__}")
    return found


def _requests(grad_req: Any, names: Sequence[str]) -> dict[str, str]:
    """What is asked for each argument's gradient."""
    if isinstance(grad_req, str):
        found = dict.fromkeys(names, grad_req)
    elif isinstance(grad_req, Mapping):
        unknown = [name for name in grad_req if name not in names]
        if unknown:
            raise ValueError(f"grad_req has {unknown}, which are not among {[*names]}")
        found = {name: grad_req.get(name, "null") for name in names}
    else:
        listed = [*grad_req]
        if len(listed) != len(names):
            raise ValueError(f"grad_req has {len(listed)} requests for {[*names]}")
        found = dict(zip(names, listed, strict=True))
    for name, request in found.items():
        if request not in REQUESTS:
            raise ValueError(
                f"grad_req of {name!r} is one of {', '.join(REQUESTS)}, not {request!r}"
            )
    return found
