"""``la.set_scalars``: whether scalars are arrays that come later, or NumPy's, read at once."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from functools import WRAPPER_ASSIGNMENTS, cache, update_wrapper, wraps
from types import FunctionType, ModuleType
from typing import Any

from lazyarray import _memmap, _public, functions, ops, protocols
from lazyarray._flat import flatiter
from lazyarray.engine._engine import Scope, hold_at_fork
from lazyarray.lazy._lazy import numpys, read_scalars
from lazyarray.ops._rows import Public

__all__ = ["set_scalars"]

_KINDS = ("array", "numpy")
_VARIABLE = "LAZYARRAY_SCALARS"
_lock = threading.RLock()
hold_at_fork(_lock, pushes=True)
_now = "array"
_changing: list[str] = []  # kinds to which a change has begun, and was not ended

# What is native asks a flag. Functions written in Python are replaced, where users find them, as
# long as scalars are NumPy's: otherwise they cost nothing.
_OPERATORS = ("__getitem__", "__next__", "__call__", "__iter__")
_replaced: dict[tuple[Any, str], Any] = {}  # by where and the name: what was there


class _Setting(Scope):
    """What :func:`set_scalars` gives: as a context manager it puts back what was set before."""

    def __init__(self, kind: str, before: str) -> None:
        self._kind, self._before = kind, before

    def _enter(self) -> _Setting:
        return self

    def _leave(self) -> None:
        _switch(self._before)

    def __repr__(self) -> str:
        return f"<scalars as {self._kind!r}; before: {self._before!r}>"


def set_scalars(kind: str) -> _Setting:
    """Chooses what results are that NumPy returns as scalars; as a context manager, in a block.

    "array", the default: :class:`lazyarray.Scalar`, asynchronous as all arrays. "numpy": NumPy's
    own scalars, which are read at once, for programs that ask ``isinstance(t, float)``: elements,
    reductions to one value, draws without a size, and what is computed of these. Each is a wait
    then: :func:`sync_report` counts it, and inside :class:`no_sync` it raises. While
    ``autograd.record()`` or ``la.compile`` notes what is done, results stay arrays.

    It holds for the process, all its threads; ``LAZYARRAY_SCALARS=numpy`` sets it at the start.
    Functions that were imported by name (``from lazyarray import mean``) before it was set go on
    giving arrays.

    Args:
        kind: "array" or "numpy".
    Returns: a context manager, which sets the former kind at its end.
    Raises: ValueError for any other ``kind``.

    >>> import lazyarray as la
    >>> x = la.array([1.0, 2.0])
    >>> with la.set_scalars("numpy"):
    ...     x.sum(), isinstance(x[0], float)
    (np.float64(3.0), True)
    >>> type(x.sum()).__name__
    'RealScalar'
    """
    if kind not in _KINDS:
        raise ValueError(f"set_scalars takes 'array' or 'numpy', not {kind!r}")
    setting = None
    try:
        with _lock:
            setting = _Setting(kind, _now)
            _switch(kind)
        return setting
    except BaseException:
        if setting is not None:
            setting.__exit__()
        raise


def from_environment() -> None:
    """Sets what ``LAZYARRAY_SCALARS`` says; ValueError if that is neither kind."""
    kind = os.environ.get(_VARIABLE, "").strip()
    if kind and kind not in _KINDS:
        raise ValueError(f"{_VARIABLE}={kind!r}: 'array' or 'numpy' is wanted")
    _switch(kind or "array")


def _switch(kind: str) -> None:
    """Sets a kind. Where it was interrupted it can be called again: `_now` comes last."""
    global _now
    with _lock:
        if kind == _now and not _changing:
            return
        _changing.append(kind)
        read_scalars(False)
        for (place, name), old in _replaced.items():
            setattr(place, name, old)
        _replaced.clear()
        if kind == "numpy":
            _replace()
            read_scalars(True)
        _now = kind
        _changing.clear()


def _replace() -> None:
    from lazyarray import fft, linalg, random
    from lazyarray.random.distributions import Distributions
    from lazyarray.random.samples import Samples

    sections: list[Any] = [*ops.SECTIONS, *functions.SECTIONS, *protocols.SECTIONS, _memmap]
    names = [name for section in sections for name in section.__all__]
    places: list[tuple[ModuleType, list[str]]] = [(_public.namespace, names)]
    places += [(space, list(space.__all__)) for space in (linalg, fft, random)]
    for space, listed in places:
        for name in listed:
            thing = getattr(space, name)
            if isinstance(thing, (FunctionType, Public)):
                _put(space, name, thing, space.__name__)
            elif isinstance(thing, type) and thing.__module__.startswith("lazyarray."):
                _replace_methods(thing)
    for cls in (flatiter, Distributions, Samples, random.Generator, random.RandomState):
        _replace_methods(cls)


def _replace_methods(cls: type) -> None:
    for name, thing in list(vars(cls).items()):
        if isinstance(thing, FunctionType) and (name[0] != "_" or name in _OPERATORS):
            _put(cls, name, thing, cls.__module__)


def _put(place: Any, name: str, function: Any, space: str) -> None:
    if (place, name) not in _replaced:
        _replaced[place, name] = function
        setattr(place, name, _reading(function, name, space))


@cache
def _reading(function: Any, name: str, space: str) -> Callable[..., Any]:
    """``function``, which gives NumPy's scalars to those that are not lazyarray."""
    drawn = space.startswith("lazyarray.random") and name not in ("integers", "random_integers")

    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        asked = sys._getframe(1).f_globals.get("__name__", "")
        if asked == "lazyarray" or asked.startswith("lazyarray."):
            return result
        found = numpys(result)
        return found.item() if drawn and found is not result else found

    return _Reading(function, call) if isinstance(function, Public) else wraps(function)(call)


class _Reading:
    """What stands for a function whose docstring is made when it is asked for: all take long."""

    __slots__ = ("__call__", "__dict__", "__weakref__")  # a slot costs no call of its own
    __wrapped__: Any
    __name__: str

    def __init__(self, function: Any, call: Callable[..., Any]) -> None:
        self.__call__ = call
        update_wrapper(self, function, [x for x in WRAPPER_ASSIGNMENTS if x != "__doc__"])

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        found: str = self.__wrapped__.__doc__
        return found

    def __get__(self, instance: Any, owner: Any) -> _Reading:
        return self  # to inspect and pydoc a routine, as the function is

    def __repr__(self) -> str:
        return repr(self.__wrapped__)

    def __reduce__(self) -> str:
        return self.__name__
