"""Functions of Dask's that are replaced by ones which know of lazyarrays."""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable
from typing import Any

__all__ = ["replace"]


def replace(module: Any, name: str, make: Callable[[Any], Callable[..., Any]]) -> None:
    """Puts ``make(function)`` in the place of a function, once, in all of Dask's modules."""
    plain = getattr(module, name, None)
    if plain is None:
        warnings.warn(
            f"lazyarray does not know this version of Dask: {module.__name__} has no {name}",
            RuntimeWarning,
            stacklevel=2,
        )
    if plain is None or hasattr(plain, "__lazyarray__"):
        return
    new: Any = functools.wraps(plain)(make(plain))
    new.__lazyarray__ = True
    setattr(module, name, new)
    for known, other in sys.modules.copy().items():
        if known.startswith("dask.") and vars(other).get(name) is plain:
            setattr(other, name, new)
