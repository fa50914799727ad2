"""SciPy's sparse arrays and their factors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from lazyarray._adapters.wrapping import host, lent
from lazyarray.lazy._lazy import Tensor

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
