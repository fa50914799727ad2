"""Layers: functions of ``la.nn`` whose parameters' shapes follow from the data's.

Called without them, as in MXNet, they get variables named after the node: ``fc1_weight``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lazyarray.graph import registry
from lazyarray.graph.nodes import Entry, Node, Shape, Spec

Arguments = Mapping[str, Any]


@dataclass(frozen=True)
class Layer:
    """What is known of a layer: its parameters, by their names in the function's signature."""

    parameters: tuple[str, ...]
    aux: tuple[str, ...] = ()  # among them
    # The shapes of what is not known, from the data's shape and the call's other arguments.
    shapes: Callable[[tuple[int, ...], Arguments], dict[str, Shape]] = lambda data, given: {}
    # What MXNet's own argument says of them: num_hidden, num_filter.
    hints: Callable[[Arguments], dict[str, Shape]] = lambda given: {}
    options: tuple[str, ...] = ()


LAYERS: dict[str, Layer] = {}


def complete(
    op: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    name: str,
    attributes: dict[str, str],
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a layer's call with variables for the parameters that it lacks."""
    return args, kwargs


def shapes_of_parameters(node: Node, arrays: Mapping[Entry, Any]) -> dict[Entry, Shape]:
    """The shapes of a layer's parameters, as far as they follow from its data."""
    return {}
