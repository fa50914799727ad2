"""Scopes in which graphs are built: attributes of the nodes, and their names."""

from __future__ import annotations

import threading
from collections import Counter
from typing import ClassVar, TypeVar

from lazyarray.engine._engine import Stacked

__all__ = ["AttrScope", "NameManager", "Prefix"]

S = TypeVar("S", bound="_Scope")


class _Scope(Stacked):
    """A ``with`` block; each thread has a stack of them."""

    _stacks: ClassVar[threading.local]

    @classmethod
    def _stack(cls: type[S]) -> list[S]:
        if not hasattr(cls._stacks, "open"):
            cls._stacks.open = []
        opened: list[S] = cls._stacks.open
        return opened


class AttrScope(_Scope):
    """A block whose nodes get attributes, such as ``ctx_group``; inner ones come before outer ones.

    Args:
        **attributes: their names and values.
    Raises: ValueError for a value that is no string.

    >>> import lazyarray as la
    >>> with la.AttrScope(ctx_group="dev1"):
    ...     y = la.sym.exp(la.sym.var("x"))
    >>> y.attr("ctx_group")
    'dev1'
    """

    _stacks = threading.local()

    def __init__(self, **attributes: str) -> None:
        self._attributes = checked_attributes(attributes)

    @classmethod
    def current(cls) -> dict[str, str]:
        """The attributes that a node gets here.

        Returns: a dict of str by str.
        Raises: nothing.

        >>> import lazyarray as la
        >>> with la.AttrScope(ctx_group="dev1"):
        ...     la.AttrScope.current()
        {'ctx_group': 'dev1'}
        """
        found: dict[str, str] = {}
        for scope in cls._stack():
            found |= scope._attributes
        return found


def checked_attributes(attributes: dict[str, str]) -> dict[str, str]:
    """Attributes, of which each is a string; ValueError otherwise, and TypeError for no dict."""
    if not isinstance(attributes, dict):
        raise TypeError(f"attributes are a dict, not {attributes!r}")
    for key, value in attributes.items():
        if not isinstance(value, str):
            raise ValueError(f"attributes are strings: {key}={value!r}")
    return attributes


class NameManager(_Scope):
    """A block in which nodes without a name are called ``exp0``, ``exp1``, ... from the start.

    >>> import lazyarray as la
    >>> with la.sym.NameManager():
    ...     la.sym.exp(la.sym.var("x")).name
    'exp0'
    """

    _stacks = threading.local()

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def get(self, name: str | None, hint: str) -> str:
        """The name of a node: the one given, or else made of what it does.

        Args:
            name: the name that is given; None: one is made.
            hint: what the node does, "exp" for one.
        Returns: a str.
        Raises: TypeError for a name that is no string.
        """
        if name:
            if not isinstance(name, str):
                raise TypeError(f"the name of a node is a string, not {name!r}")
            return name
        self._counts[hint] += 1
        return f"{hint}{self._counts[hint] - 1}"

    @classmethod
    def current(cls) -> NameManager:
        """The one that names nodes here: the innermost.

        Returns: a :class:`NameManager`.
        Raises: nothing.
        """
        stack = NameManager._stack()
        if not stack:
            stack.append(NameManager())
        return stack[-1]


class Prefix(NameManager):
    """A block in which the names of nodes, also those given, get a prefix.

    Args:
        prefix: what the names begin with.
    Raises: nothing.

    >>> import lazyarray as la
    >>> with la.sym.Prefix("net_"):
    ...     la.sym.exp(la.sym.var("x"), name="e").name
    'net_e'
    """

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix

    def get(self, name: str | None, hint: str) -> str:
        """The name of a node, with the prefix.

        Args:
            name: the name that is given; None: one is made.
            hint: what the node does, "exp" for one.
        Returns: a str.
        Raises: TypeError for a name that is no string.
        """
        return self._prefix + super().get(name, hint)
