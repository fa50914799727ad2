"""Trees of arguments and results: nested tuples, lists and dicts with places for arrays."""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lazyarray.graph.nodes import Spec, mapped
from lazyarray.lazy._lazy import Tensor


@dataclass(frozen=True)
class Place:
    """In the tree of what a graph takes or gives: the number of an array."""

    number: int


def structured(tree: Any, arrays: Sequence[Any]) -> Any:
    """A tree with arrays in their places."""
    return mapped(tree, lambda x: arrays[x.number] if isinstance(x, Place) else x)


def named(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The arguments as (name, value), in a tuple and a dict."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        parameters = {}.values()
    names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if names and names[0] in ("x1", "self"):
        names = names if names[0] == "x1" else names[1:]
    several = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "arg")
    names += [f"{several}{i}" for i in range(len(args) - len(names))]
    positional = tuple(zip(names, args, strict=False))
    return positional, {key: (key, value) for key, value in kwargs.items()}


def numbered(tree: Any, given: list[Any], names: list[str]) -> Any:
    """The tree with places for arrays and specs: they go to ``given``, their names to ``names``."""

    def number(tree: Any, path: str) -> Any:
        if isinstance(tree, (Tensor, np.ndarray, Spec)):
            given.append(tree)
            names.append(path)
            return Place(len(given) - 1)
        if isinstance(tree, (tuple, list)):
            parts = [number(t, f"{path}_{i}") for i, t in enumerate(tree)]
            if hasattr(tree, "_fields"):
                return type(tree)(*parts)
            return tuple(parts) if isinstance(tree, tuple) else parts
        if isinstance(tree, dict):
            return {key: number(t, f"{path}_{key}") for key, t in tree.items()}
        return tree

    positional, keywords = tree
    args = tuple([number(value, name) for name, value in positional])
    return args, {key: number(value, name) for key, (name, value) in keywords.items()}


def unique(names: list[str]) -> list[str]:
    """The names, with numbers behind those that came before."""
    counts: Counter[str] = Counter()
    found: list[str] = []
    for name in names:
        counts[name] += 1
        found.append(name if counts[name] == 1 and name not in found else f"{name}_{counts[name]}")
    return found
