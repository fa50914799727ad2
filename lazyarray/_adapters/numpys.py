"""NumPy's own modules that ask for NumPy's type."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from lazyarray.lazy._lazy import Tensor

__all__: list[str] = []

# The names of numpy.polynomial's functions begin so.
_SERIES = {
    "polynomial": "poly",
    "chebyshev": "cheb",
    "legendre": "leg",
    "hermite": "herm",
    "hermite_e": "herme",
    "laguerre": "lag",
}


def adapt_series(module: ModuleType) -> None:
    """Functions that ask whether ``x`` is one of NumPy's arrays before they spread ``c`` over it.

    Of a vector ``c`` that makes no difference: then NumPy's own run by operators, asynchronously.
    """
    kind = module.__name__.rpartition(".")[2]

    def adapted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            given = [*args, *kwargs.values()]
            if not any(isinstance(a, Tensor) for a in given) or (
                name.endswith("val") and all(np.ndim(a) < 2 for a in [*args[1:], kwargs.get("c")])
            ):
                return function(*args, **kwargs)
            ours = importlib.import_module(f"lazyarray.polynomial.{kind}")
            return getattr(ours, name)(*args, **kwargs)

        call.__lazyarray__ = True  # type: ignore[attr-defined]
        return call

    for what in ("val", "val2d", "val3d", "grid2d", "grid3d", "valfromroots"):
        name = _SERIES[kind] + what
        function = getattr(module, name, None)
        if function is not None and not hasattr(function, "__lazyarray__"):
            setattr(module, name, adapted(name, function))
