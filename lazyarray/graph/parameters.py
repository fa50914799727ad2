"""Layers: functions of ``la.nn`` whose parameters' shapes follow from the data's.

Called without its weight, as in MXNet, a layer gets variables named after its node: ``fc1_weight``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lazyarray.graph import registry
from lazyarray.graph.nodes import VAR, Entry, Node, Shape, shape_of

Given = dict[str, Any]
Shapes = dict[str, Shape]


@dataclass(frozen=True)
class Layer:
    """What is known of a layer's parameters, by their names in its signature."""

    shapes: Callable[
        [tuple[int, ...], Given], Shapes
    ]  # from the data's shape and the other arguments
    data: str = "x"
    aux: tuple[str, ...] = ()  # parameters that it writes
    # Of a layer that can't do without a weight: from MXNet's arguments, as far as they tell.
    sizes: Callable[[Given], Shapes] | None = None
    options: tuple[str, ...] = ()


def _linear(x: tuple[int, ...], given: Given) -> Shapes:
    return {"weight": (None, x[-1]), "bias": (None,)}


def _linear_sizes(given: Given) -> Shapes:
    n = _needed(given, "num_hidden")
    return {"weight": (n, None), "bias": (n,)}


def _convolution(axes: int) -> Layer:
    def shapes(x: tuple[int, ...], given: Given) -> Shapes:
        return {"weight": (None, x[1] // given.get("groups", 1), *(None,) * axes), "bias": (None,)}

    def sizes(given: Given) -> Shapes:
        n, kernel = _needed(given, "num_filter"), _needed(given, "kernel")
        window = (kernel,) * axes if isinstance(kernel, int) else tuple(kernel)
        if len(window) != axes:
            raise ValueError(f"the kernel has {axes} lengths, not {kernel!r}")
        return {"weight": (n, None, *window), "bias": (n,)}

    return Layer(shapes, sizes=sizes, options=("num_filter", "kernel", "no_bias"))


def _per_channel(*names: str) -> Callable[[tuple[int, ...], Given], Shapes]:
    return lambda x, given: dict.fromkeys(names, (x[1],))


def _layer_norm(x: tuple[int, ...], given: Given) -> Shapes:
    return dict.fromkeys(("weight", "bias"), shape_of(given["normalized_shape"]))


def _embedding_sizes(given: Given) -> Shapes:
    return {"weight": (_needed(given, "input_dim"), _needed(given, "output_dim"))}


def _needed(given: Given, option: str) -> Any:
    if given.get(option) is None:
        raise TypeError(f"it has no weight: give it, or {option}=")
    return given[option]


LAYERS = {
    "nn.linear": Layer(_linear, sizes=_linear_sizes, options=("num_hidden", "no_bias")),
    "nn.conv1d": _convolution(1),
    "nn.conv2d": _convolution(2),
    "nn.batch_norm": Layer(
        _per_channel("running_mean", "running_var", "weight", "bias"),
        aux=("running_mean", "running_var"),
    ),
    "nn.layer_norm": Layer(_layer_norm),
    "nn.group_norm": Layer(_per_channel("weight", "bias")),
    "nn.embedding": Layer(
        lambda x, given: {},
        data="indices",
        sizes=_embedding_sizes,
        options=("input_dim", "output_dim"),
    ),
}


def _by_name(op: str, args: tuple[Any, ...], kwargs: Given) -> Given:
    """The arguments of a layer's call by the names of its parameters."""
    signature = registry.signature_of(op)
    return dict(signature.bind_partial(*args, **kwargs).arguments) if signature else kwargs


def complete(
    op: str, args: tuple[Any, ...], kwargs: Given, variable: Callable[[str, Shape], Any]
) -> tuple[tuple[Any, ...], Given]:
    """A layer's arguments, with ``variable(parameter, shape)`` for those that it needs."""
    layer = LAYERS.get(op)
    if layer is None or layer.sizes is None:
        return args, kwargs
    options = {key: kwargs[key] for key in layer.options if key in kwargs}
    plain = {key: value for key, value in kwargs.items() if key not in options}
    given = _by_name(op, args, plain)
    if "weight" in given:
        if options:
            raise TypeError(
                f"{op}: {[*options]} say of what shape a weight is to be made: it has one"
            )
        return args, plain
    try:
        sizes = layer.sizes(options)
    except TypeError as exc:
        raise TypeError(f"{op}: {exc}") from None
    if options.get("no_bias"):
        sizes.pop("bias", None)
    made = {name: variable(name, shape) for name, shape in sizes.items() if name not in given}
    return args, plain | made


def states(op: str, args: tuple[Any, ...], kwargs: Given) -> list[Node]:
    """The variables among a layer's arguments that it writes."""
    layer = LAYERS.get(op)
    if layer is None or not layer.aux:
        return []
    given = _by_name(op, args, kwargs)
    found = [given.get(name) for name in layer.aux]
    return [e.node for e in found if isinstance(e, Entry) and e.node.op == VAR]


def shapes_of_parameters(node: Node, arrays: Mapping[Entry, Any]) -> dict[Entry, Shape]:
    """The shapes of a layer's parameters, as far as they follow from that of its data."""
    layer = LAYERS.get(node.op)
    if layer is None:
        return {}
    given = _by_name(node.op, node.args, node.kwargs)
    data: Any = given.get(layer.data)
    if data not in arrays:
        return {}
    try:
        shapes = layer.shapes(arrays[data].shape, given)
    except IndexError:
        raise ValueError(
            f"{node.op} of node {node.name!r} takes no data of shape {arrays[data].shape}"
        ) from None
    weight: Any = given.get("weight")
    # A bias is as long as the weight, which may be known.
    if shapes.get("bias") == (None,) and weight in arrays:
        shapes["bias"] = (arrays[weight].shape[0],)
    return {given[name]: s for name, s in shapes.items() if isinstance(given.get(name), Entry)}
