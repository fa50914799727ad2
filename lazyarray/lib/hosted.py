"""Modules of NumPy whose functions are run by NumPy itself, at the call.

They are about coefficients, or their results' dtypes depend on values: there is nothing to gain
from recording them. They wait for the lazyarrays they are given, and return lazyarrays.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from lazyarray.lazy._lazy import Tensor
from lazyarray.ops import _rows
from lazyarray.ops._layout import values


def _tensors(o: Any) -> Iterator[Any]:
    if isinstance(o, Tensor):
        yield o
    elif isinstance(o, (list, tuple)):
        for part in o:
            yield from _tensors(part)


def to_host(o: Any, what: str) -> Any:
    """The object with NumPy arrays for the lazyarrays in it, which are waited for."""
    if isinstance(o, Tensor):
        return values(o, what)
    return type(o)([to_host(v, what) for v in o]) if type(o) in (list, tuple) else o


def to_lazy(o: Any, device: Any = None) -> Any:
    """The object with lazyarrays for the NumPy arrays and scalars in it."""
    if isinstance(o, (np.ndarray, np.generic)):
        return _rows.array(o, None, device)
    return type(o)([to_lazy(v, device) for v in o]) if type(o) in (list, tuple) else o


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of lazyarrays, which waits for them."""
    what = f"{function.__name__}()"

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        found = next(_tensors([*args, *kwargs.values()]), None)
        named = {key: to_host(value, what) for key, value in kwargs.items()}
        result = function(*to_host(args, what), **named)
        return to_lazy(result, found.device if found is not None else None)

    return call


def names_of(
    module: types.ModuleType, own: dict[str, Any]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a module that stands for one of NumPy's."""

    def get(name: str) -> Any:
        if name in own:
            return own[name]
        if name not in module.__all__:
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        found = getattr(module, name)
        own[name] = wrapped(found) if callable(found) else to_lazy(found)
        return own[name]

    return get, lambda: list(module.__all__)
