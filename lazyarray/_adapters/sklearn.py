"""scikit-learn's checks of parameters."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from lazyarray._adapters.generators import numpys_generator
from lazyarray._adapters.wrapping import host
from lazyarray.lazy._lazy import Tensor

__all__: list[str] = []


def adapt_validation(module: Any) -> None:
    """Parameters that scikit-learn declares to be NumPy's arrays, or generators, become such."""
    check, decorate = module.validate_parameter_constraints, module.validate_params

    def arrays(constraints: Any) -> set[str]:
        """Which parameters are to be NumPy's arrays."""
        return {
            name
            for name, allowed in (constraints.items() if isinstance(constraints, dict) else ())
            if isinstance(allowed, list) and any(a is np.ndarray for a in allowed)
        }

    @functools.wraps(check)
    def checked(constraints: Any, params: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        named = arrays(constraints)
        given = {k: host(v) if k in named else numpys_generator(v) for k, v in params.items()}
        return check(constraints, given, *args, **kwargs)

    @functools.wraps(decorate)
    def validated(constraints: Any, *args: Any, **kwargs: Any) -> Any:
        decorator, named = decorate(constraints, *args, **kwargs), arrays(constraints)

        def adapted(function: Callable[..., Any]) -> Callable[..., Any]:
            made = decorator(function)
            if not named:
                return made
            signature = inspect.signature(function)

            @functools.wraps(made)
            def call(*args: Any, **kwargs: Any) -> Any:
                given = (*args, *kwargs.values())
                if not any(isinstance(a, Tensor) for a in given) or takes_all_libraries():
                    return made(*args, **kwargs)
                bound = signature.bind(*args, **kwargs)
                for name in named & bound.arguments.keys():
                    bound.arguments[name] = host(bound.arguments[name])
                return made(*bound.args, **bound.kwargs)

            return call

        return adapted

    module.validate_parameter_constraints, module.validate_params = checked, validated


def takes_all_libraries() -> bool:
    """Whether scikit-learn computes in the library of the arrays that it is given."""
    return bool(sys.modules["sklearn._config"].get_config()["array_api_dispatch"])
