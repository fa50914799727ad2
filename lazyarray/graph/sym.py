"""``la.sym``: lazyarray's functions, building nodes of a graph instead of computing.

Each public function is here under its own name (``la.sym.exp``, ``la.sym.linalg.inv``) and takes
Symbols in the place of arrays, as ``la.exp`` itself does; besides ``name=``, ``attr=`` (attributes)
and ``num_outputs=`` (of a function whose number of results depends on shapes).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

from lazyarray.graph import registry
from lazyarray.graph.scopes import NameManager, Prefix
from lazyarray.graph.symbol import Group, Symbol, Variable, apply, fromjson, load, var

__all__ = ["Group", "NameManager", "Prefix", "Variable", "fromjson", "load", "var"]


class Space:
    """The functions of one namespace, such as ``la.sym.linalg``."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.__doc__ = f"The functions of ``la.{name}``, building nodes of a graph."

    if TYPE_CHECKING:  # so that each name of one is a function, too

        def __call__(
            self,
            *args: object,
            name: str | None = None,
            attr: dict[str, str] | None = None,
            num_outputs: int | None = None,
            **kwargs: object,
        ) -> Symbol: ...

    def __getattr__(self, name: str) -> Space:
        found = _member(self._name, name)
        if found is None:
            raise AttributeError(f"la.sym.{self._name} has no function {name!r}", name=name)
        return found

    def __dir__(self) -> list[str]:
        return [op.rpartition(".")[2] for op in registry.names(self._name)]

    def __repr__(self) -> str:
        return f"<la.sym.{self._name}>"


@cache
def _member(space: str, name: str) -> Any:
    """The function or the namespace of a name in a namespace; None if there is neither."""
    op = f"{space}.{name}" if space else name
    if any(s == op or s.startswith(op + ".") for s in registry.SPACES):
        return Space(op)
    return _builder(op) if registry.known(op) else None


def _builder(op: str) -> Callable[..., Symbol]:
    function = registry.function_of(op)

    def build(
        *args: Any,
        name: str | None = None,
        attr: dict[str, str] | None = None,
        num_outputs: int | None = None,
        **kwargs: Any,
    ) -> Symbol:
        return apply(op, args, kwargs, name=name, attr=attr, num_outputs=num_outputs)

    build.__name__ = build.__qualname__ = op.rpartition(".")[2]
    build.__doc__ = f"A node that calls ``la.{op}``:\n\n{function.__doc__ or ''}"
    return build


def __getattr__(name: str) -> Space:
    found = None if name.startswith("_") else _member("", name)
    if found is None:
        raise AttributeError(f"la.sym has no function {name!r}", name=name)
    return found


def __dir__() -> list[str]:
    spaces = {s.partition(".")[0] for s in registry.SPACES}
    return [*__all__, *spaces, *[op for op in registry.names() if "." not in op]]
