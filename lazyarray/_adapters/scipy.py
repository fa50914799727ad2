"""SciPy's sparse arrays and their factors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from lazyarray._adapters.wrapping import host, lent
from lazyarray.lazy._lazy import Tensor
from lazyarray.ops._rows import asarray

__all__: list[str] = []

SPARSE = [
    f"{kind}_{of}" for kind in "bsr coo csc csr dia dok lil".split() for of in ("array", "matrix")
]


def keep_numpys(kind: Any) -> None:
    """Has sparse arrays' ``data``, ``indices`` and the like be NumPy's, whatever they are set to.

    SciPy makes another one ``np.empty_like`` those, and its C++ would write to a copy of that.
    """
    base = [c for c in kind.__mro__ if "tocsr" in vars(c)][-1]  # of all formats
    plain = base.__setattr__
    if hasattr(plain, "__lazyarray__"):
        return

    def set_attribute(self: Any, name: str, value: Any) -> None:
        plain(self, name, host(value) if isinstance(value, Tensor) else value)

    set_attribute.__lazyarray__ = True  # type: ignore[attr-defined]
    base.__setattr__ = set_attribute


def filling(function: Callable[..., Any], take: Callable[[Any], Any]) -> Callable[..., Any]:
    """``toarray`` and ``todense``, which write to an NDArray's own memory where that is ``out``."""

    @functools.wraps(function)
    def call(self: Any, order: Any = None, out: Any = None) -> Any:
        if not isinstance(out, Tensor):
            return function(self, order, out)
        memory = lent(out)
        found = function(self, order, memory)
        return out if found is memory else found

    return call


def given_back(function: Callable[..., Any], take: Callable[[Any], Any]) -> Callable[..., Any]:
    """What takes NumPy's arrays, with results of the library that it was given arrays of.

    So SciPy's own are under ``SCIPY_ARRAY_API``, where arrays of two libraries are refused.
    """

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = [*args, *kwargs.values()]
        taken = [take(a) for a in given]
        found = function(*taken[: len(args)], **dict(zip(kwargs, taken[len(args) :], strict=True)))
        if not any(isinstance(a, Tensor) for a in given):
            return found
        back = [_back(f, given, taken) for f in (found if type(found) is tuple else (found,))]
        return tuple(back) if type(found) is tuple else back[0]

    return call


def _back(found: Any, given: list[Any], taken: list[Any]) -> Any:
    if type(found) is not np.ndarray:
        return found
    for mine, theirs in zip(given, taken, strict=True):
        if found is theirs:  # `output`
            return mine
    return asarray(found)


class _Solver:
    """SciPy's factors of a sparse matrix, which are of C: ``solve`` takes NumPy's arrays only."""

    def __init__(self, factors: Any) -> None:
        self._factors = factors

    def __getattr__(self, name: str) -> Any:
        return getattr(self._factors, name)

    def solve(self, rhs: Any, trans: str = "N") -> Any:
        return self._factors.solve(host(rhs), trans)


def solving(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function``, whose result solves for right sides that may be NDArrays."""
    if hasattr(function, "__lazyarray__") and hasattr(function, "__solves__"):
        return function

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        found = function(*[host(a) for a in args], **kwargs)
        return (lambda rhs: found(host(rhs))) if callable(found) else _Solver(found)

    call.__lazyarray__ = call.__solves__ = True  # type: ignore[attr-defined]
    return call
