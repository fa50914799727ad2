"""Gradients of functions that only move elements: found by moving the elements' numbers.

What such a function makes of ``arange(x.size)`` tells which element of x each of its results is: so
a selection is recorded as a gather of the flattened array, and a store as which value, if any, came
to lie where. Whatever indices, masks or modes a function takes, its own code says what they mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.lazy._lazy import Tensor, note_call, paused, tracked
from lazyarray.ops._rows import array, full, scalar_like, scatter, select, take_along

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray


def numbers(x: NDArray) -> NDArray:
    """The numbers of x's elements in C order, in x's shape."""
    found: Any = (
        array(np.arange(x.size), None, x.device) if x.size else full((0,), 0, np.intp, x.device)
    )
    return found.reshape(x.shape)


def picked(x: NDArray, select: Callable[[Any], Any]) -> NDArray:
    """``select(x)``, which holds elements of ``x`` and nothing else, recorded as a gather."""
    places = select(numbers(x))
    flat = x.reshape(-1)
    found = take_along(flat, places.reshape(-1), 0) if places.size else flat[:0].copy()
    assert found is not None
    result: NDArray = found.reshape(places.shape)
    return scalar_like(result, places)


def stored(name: str, x: NDArray, value: Any, store: Callable[[Any, Any], object]) -> None:
    """``store(x, value)``, which copies elements of ``value`` into ``x``, recorded.

    Where several are stored in one place, the gradient goes to the one that is left there.
    """
    values: NDArray | None = value if isinstance(value, Tensor) else None
    shape = () if values is None else values.shape
    if values is not None and values.var == x.var:
        value = values = values.copy()
    places = full(x.shape, -1, np.intp, x.device)
    store(places, 0 if values is None else numbers(values))
    follow = values is not None and tracked(values)
    size = math.prod(shape)

    def rule(gradients: list[Any], saved: list[Any]) -> list[Any]:
        g, places = gradients[0], saved[0]
        kept = places < 0
        before = select(kept, g, 0.0)
        if not follow or not size:
            return [before, None]
        moved, at = select(kept, 0.0, g), select(kept, 0, places)
        return [before, scatter(moved.reshape(-1), at.reshape(-1), 0, (size,)).reshape(shape)]

    note_call(name, rule, [x, value], [x], [places])  # an error for a leaf, before it is written
    with paused():
        store(x, value)
