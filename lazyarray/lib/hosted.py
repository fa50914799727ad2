"""Modules of NumPy whose functions are run by NumPy itself, at the call.

They are about coefficients, or their results' dtypes depend on values: there is nothing to gain
from recording them. They wait for the lazyarrays they are given, and return lazyarrays.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from lazyarray.lazy._lazy import Tensor
from lazyarray.ops import _rows
from lazyarray.ops._layout import device_of
from lazyarray.ops._rows import Public
from lazyarray.ops.hosts import to_host, to_lazy


def wrapped(function: Callable[..., Any], module: str) -> Callable[..., Any]:
    """The function of lazyarrays, which waits for them, for a module of ours."""
    what = f"{function.__name__}()"

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        arrays = _rows.inside((args, kwargs), Tensor)
        if not arrays:
            return to_lazy(function(*args, **kwargs))
        result = function(*to_host(args, what), **to_host(kwargs, what))
        return to_lazy(result, device_of(*arrays))

    return Public(call, function, module, "")


def of_hosts(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as it is, given NumPy arrays for lazyarrays, which it waits for."""
    what = f"{function.__name__}()"

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return function(*to_host(args, what), **to_host(kwargs, what))

    return call


def names_of(
    module: types.ModuleType, namespace: dict[str, Any]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of the module with this namespace, for one of NumPy's."""

    ours = module.__name__.replace("numpy", "lazyarray", 1)

    def get(name: str) -> Any:
        if name not in module.__all__:
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        found = getattr(module, name)
        if not isinstance(found, type):  # NumPy's classes are what they are
            found = wrapped(found, ours) if callable(found) else to_lazy(found)
        namespace[name] = found  # it is not asked for again
        return found

    return get, lambda: list(module.__all__)
