"""Functions that take NDArrays in the place of a library's own: they get the values."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from lazyarray.lazy import _share
from lazyarray.lazy._lazy import Tensor
from lazyarray.ops._rows import Public, Row, own_array
from lazyarray.ops.operators import METHODS, REFLECTED

__all__: list[str] = []

WHAT = "a call of another library"
_LENT_TO = f"?{WHAT}"
_FEW = 64  # elements of a list that is looked into for lists
_DEEP = 4  # dicts in dicts

OPERATORS = [*REFLECTED, *[name for name, row in METHODS.items() if row.ufunc.nin == 2]]


def wrap(
    place: Any,
    names: Iterable[str],
    take: Callable[[Any], Any] | None = None,
    make: Callable[..., Any] | None = None,
) -> None:
    """``place`` is a class, which may inherit a method, or a module; None: it isn't there.

    ``make`` is :class:`Lent` where a library looks at its caller's frames.
    """
    for name in names if place is not None else ():
        found: Any = next(
            (vars(c)[name] for c in getattr(place, "__mro__", (place,)) if name in vars(c)), None
        )
        function = getattr(found, "__func__", found)  # of a class's method
        if not callable(function) or hasattr(function, "__lazyarray__"):
            continue
        if isinstance(place, type) and isinstance(found, type):  # a class in a class is no method
            continue
        if found is object.__init__ or (name == "__new__" and type(found) is BuiltinFunctionType):
            continue
        call: Any = (make or taking)(function, take or host)
        call.__lazyarray__ = True
        if make is not None:  # where pickle finds it, though it was a base's
            of_class = isinstance(place, type)
            call.__module__ = place.__module__ if of_class else place.__name__
            call.__qualname__ = f"{place.__qualname__}.{name}" if of_class else name
        try:
            setattr(place, name, call if function is found else type(found)(call))
        except TypeError:  # older Cython's classes can't be changed: pandas 2's intervals
            return


def taking(function: Callable[..., Any], take: Callable[[Any], Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = {key: take(value) for key, value in kwargs.items()} if kwargs else kwargs
        return function(*[take(a) for a in args], **given)

    return call


def _values(x: Any) -> Any:
    return x._fetched(WHAT)


def host(o: Any, of: Callable[[Any], Any] = _values, deep: int = _DEEP) -> Any:
    """``o``, or the values of an NDArray: NumPy's; also in a list, a tuple, a dict, a slice.

    Dicts may hold themselves: they are looked into ``deep`` levels down.
    """
    if isinstance(o, Tensor):
        x: Any = o
        return of(x) if x.ndim else x._number(WHAT)
    kind = type(o)
    if kind is slice:
        return slice(host(o.start), host(o.stop), host(o.step))
    if kind is dict:
        taken = {key: host(v, of, deep - 1) for key, v in o.items()} if deep else o
        return o if all(taken[key] is v for key, v in o.items()) else taken
    if kind is list or kind is tuple:
        kinds = {*map(type, o)}  # by their types, as there may be a million
        if any(issubclass(t, (Tensor, slice)) for t in kinds) or (
            len(o) <= _FEW and kinds & {list, tuple, dict}
        ):
            found = [host(v, of, deep) for v in o]
            return o if all(a is b for a, b in zip(found, o, strict=True)) else kind(found)
    return o


def lent(o: Any) -> Any:
    """The same, but an NDArray's own memory, where what is called may write to it."""
    return _memory(o) if isinstance(o, Tensor) and o.ndim else host(o, _memory)


def _memory(x: Any) -> Any:
    return _share.export(x, _LENT_TO)


host.arrays_only = lent.arrays_only = True  # type: ignore[attr-defined]  # see Lent


class _Giving:
    """A user's function, whose results are NumPy's. It is equal to another one of that function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return host(self.function(*args, **kwargs))

    def __eq__(self, other: object) -> bool:
        return self.function == (other.function if isinstance(other, _Giving) else other)

    def __hash__(self) -> int:
        return hash(self.function)


def giving(o: Any) -> Any:
    """A user's function, whose results are NumPy's; of all else the host's."""
    users = isinstance(o, (FunctionType, MethodType, functools.partial, Public, Row))
    return _Giving(o) if users else host(o)


def compared(o: Any) -> Any:
    """The same for assertions. Of an object whose ``__array__`` gives a lazyarray, its values.

    NumPy would refuse that.
    """
    return giving(own_array(o))
