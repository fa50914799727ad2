"""Gradient rules of functions that are no single instruction, such as ``sort`` or ``take``.

Ops that are native instructions have their rules in ``gradients.py``. What runs NumPy, or native
loops without a rule, gets one for the whole call: ``gil_op(..., gradient=rules)``, which ends in
``note``, or ``@differentiable(a=rule)``.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from lazyarray.lazy._lazy import Tensor, is_recording, note_call, note_constant, paused, tracked
from lazyarray.ops._rows import full

P = ParamSpec("P")
R = TypeVar("R")


def follows(*arrays: Any) -> bool:
    """Whether a gradient is wanted of one of the arrays here."""
    return is_recording() and any(map(tracked, arrays))


_GRADIENTS, _INPUTS, _OUTPUTS = "ghkl", "abcd", "yzwv"


def note(name: str, rules: Sequence[Any], inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
    """Notes a call that was made while autograd was paused, with a rule for each input.

    As in the op table a rule's parameters say what it needs: ``g h k l``, the gradients of the
    outputs (zeros, where nothing leads from one to a head), ``a b c d``, the inputs, ``y z w v``,
    the outputs; None in place of a rule, and none for the last inputs: zero. It gives a gradient of
    the input's shape.
    """
    if not any(rule and tracked(x) for rule, x in zip(rules, inputs, strict=False)):
        note_constant(inputs, outputs)
        return
    named = [parameters(rule) for rule in rules]
    named += [()] * (len(inputs) - len(rules))
    of = [tracked(x) for x in inputs]
    needed = {p for i, names in enumerate(named) if of[i] for p in names}
    places = dict(zip(_INPUTS, inputs, strict=False)) | dict(zip(_OUTPUTS, outputs, strict=False))
    kept = {p: x for p, x in places.items() if p in needed and isinstance(x, Tensor)}
    fixed = {p: x for p, x in places.items() if p in needed and p not in kept}
    like = [(y.shape, y.dtype, y.device) for y in outputs]
    keys = list(kept)

    def rule(gradients: list[Any], saved: list[Any]) -> list[Any]:
        values = fixed | dict(zip(keys, saved, strict=True))
        for p, g, (shape, dtype, device) in zip(_GRADIENTS, gradients, like, strict=False):
            if p in needed:
                values[p] = _zeros(shape, dtype, device) if g is None else g
        return [
            rules[i](**{p: values[p] for p in names}) if of[i] and names else None
            for i, names in enumerate(named)
        ]

    note_call(name, rule, inputs, outputs, list(kept.values()))


def parameters(rule: Any) -> tuple[str, ...]:
    """What a rule, a plain function, names; nothing for None."""
    if rule is None:
        return ()
    code = rule.__code__
    names: tuple[str, ...] = code.co_varnames[: code.co_argcount]
    return names


def refuse(name: str, *arrays: Any) -> None:
    """NotImplementedError if a gradient is wanted of arrays whose values leave lazyarray here."""
    if follows(*arrays):
        raise NotImplementedError(
            f"autograd has no gradient rule for {name!r}: use x.detach() if it is meant as a "
            "constant, or write an autograd.Function"
        )


def summed_to(g: Any, shape: tuple[int, ...]) -> Any:
    """The gradient of what was broadcast from ``shape``: summed over the axes that it repeated."""
    extra = g.ndim - len(shape)
    axes = [*range(extra), *[extra + i for i, n in enumerate(shape) if n != g.shape[extra + i]]]
    if not axes:
        return g
    if g.dtype != np.float16:
        return g.sum(axis=tuple(axes)).reshape(shape)
    # Halves end to count at 2048.
    return g.sum(axis=tuple(axes), dtype=np.float32).astype(g.dtype).reshape(shape)


def _zeros(shape: tuple[int, ...], dtype: Any, device: Any) -> Any:
    return full(shape, 0, dtype, device)


def differentiable(**rules: Callable[..., Any]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Gives a function a gradient: for each parameter that may be tracked a rule, by its name.

    A rule's own parameters say what it needs: ``g``, the gradient of the result (for several
    results a tuple, None: zero), ``y``, the result (or results), and the function's parameters by
    their names; arrays among what is named are kept, and checked for not having been overwritten.
    It gives the gradient of the parameter, of its shape. Rules are written with lazyarray's ops.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        named = {of: parameters(rule) for of, rule in rules.items()}
        every = signature.parameters.values()
        plain = not any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in every)
        defaults = {p.name: p.default for p in every if p.default is not p.empty}
        names = [*signature.parameters]
        unknown = {name for needed in named.values() for name in needed} - {"g", "y", *names}
        if unknown or set(rules) - set(names):
            raise TypeError(f"{function.__name__} has no parameters {unknown or set(rules)}")

        @lru_cache
        def needed_for(of: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
            """What the rules for these parameters need: of the parameters, and the results."""
            needed = {name for p in of for name in named[p]}
            return tuple(sorted(needed - {"g", "y"})), "y" in needed

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if not is_recording():
                return function(*args, **kwargs)
            if plain:
                # What signature.bind does, in a tenth of its time; wrong ones the call refuses.
                given = defaults | dict(zip(names, args, strict=False)) | kwargs
            else:
                bound = signature.bind(*args, **kwargs)
                bound.apply_defaults()
                given = bound.arguments
            of = tuple([name for name in rules if tracked(given.get(name))])
            with paused():
                result = function(*args, **kwargs)
            several = isinstance(result, (tuple, list))
            results: Sequence[Any] = list(result) if several else [result]  # type: ignore[call-overload]
            needed, saves_results = needed_for(of)
            # An array that the rule held itself would keep its own history alive.
            keys = [name for name in needed if isinstance(given[name], Tensor)]
            fixed = {name: given[name] for name in needed if name not in keys}
            saved = [given[name] for name in keys] + (list(results) if saves_results else [])

            def rule(gradients: list[Any], saved: list[Any]) -> list[Any]:
                values = fixed | dict(zip(keys, saved, strict=False))
                values["g"] = tuple(gradients) if several else gradients[0]
                if saves_results:
                    ys = saved[len(keys) :]
                    values["y"] = tuple(ys) if several else ys[0]
                return [
                    rules[p](**{name: values[name] for name in named[p]}) if p in of else None
                    for p in names
                ]

            # All are named: leaves behind one that doesn't change with them get zeros.
            note_call(function.__name__, rule, [given[name] for name in names], results, saved)
            return result

        return call

    return decorate
