"""Gradient rules of functions that are no single instruction, such as ``sort`` or ``take``.

Ops that are native instructions have their rules in ``gradients.py``. A function that runs NumPy,
or native loops without a rule, gets one for the whole call: ``@differentiable(a=rule)``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from lazyarray.lazy._lazy import Tensor, is_recording, note_call, paused, tracked

P = ParamSpec("P")
R = TypeVar("R")


def differentiable(**rules: Callable[..., Any]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Gives a function a gradient: for each parameter that may be tracked a rule, by its name.

    A rule's own parameters say what it needs: ``g``, the gradient of the result (for several
    results a tuple, None: zero), ``y``, the result (or results), and the function's parameters by
    their names; arrays among what is named are kept, and checked for not having been overwritten.
    It gives the gradient of the parameter, of its shape. Rules are written with lazyarray's own ops.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        named = {of: tuple(inspect.signature(rule).parameters) for of, rule in rules.items()}
        needed = {name for names in named.values() for name in names}
        unknown = needed - {"g", "y", *signature.parameters}
        if unknown or set(rules) - set(signature.parameters):
            raise TypeError(f"{function.__name__} has no parameters {unknown or set(rules)}")

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if not is_recording():
                return function(*args, **kwargs)
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            given = bound.arguments
            of = [name for name in rules if tracked(given[name])]
            with paused():
                result = function(*args, **kwargs)
            several = isinstance(result, (tuple, list))
            results: Sequence[Any] = list(result) if several else [result]  # type: ignore[call-overload]
            kept = [name for name in needed if isinstance(given.get(name), Tensor)]
            saves_results = any("y" in named[name] for name in of)

            def rule(gradients: list[Any], saved: list[Any]) -> list[Any]:
                values = given | dict(zip(kept, saved, strict=False))
                values["g"] = tuple(gradients) if several else gradients[0]
                if saves_results:
                    ys = saved[len(kept) :]
                    values["y"] = tuple(ys) if several else ys[0]
                return [rules[p](**{name: values[name] for name in named[p]}) for p in of]

            saved = [given[name] for name in kept] + (list(results) if saves_results else [])
            note_call(function.__name__, rule, [given[name] for name in of], results, saved)
            # What is kept is the tape's to hold: an array here would keep its own history alive.
            for name in (*kept, *of):
                given[name] = None
            return result

        return call

    return decorate
