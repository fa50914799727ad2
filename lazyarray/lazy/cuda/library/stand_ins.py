"""Stand-ins: what a function written against NumPy is given for CuPy's arrays.

A PYTHON instruction's function gets NumPy views on the host. On a device it gets these, and each
call of NumPy's that meets one is looked up in a table of what does the same with CuPy. What is not
in the table, or asks for values on the host, is Hosted: a result is NumPy's, or the host makes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from lazyarray.lazy.cuda.library import calls
from lazyarray.lazy.cuda.library.calls import SUPPORTED, Array, Hosted

# By NumPy's functions, and by the name of a ufunc and of its method.
FUNCTIONS: dict[Any, Callable[..., Any]] = {}
UFUNCS: dict[tuple[str, str], Callable[..., Any]] = {}


class StandIn(NDArrayOperatorsMixin):
    """One CuPy array."""

    __slots__ = ("of",)

    def __init__(self, of: Array) -> None:
        self.of = of

    @property
    def shape(self) -> tuple[int, ...]:
        """The array's."""
        shape: tuple[int, ...] = self.of.shape
        return shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The array's."""
        dtype: np.dtype[Any] = self.of.dtype
        return dtype

    @property
    def ndim(self) -> int:
        """The array's."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The array's."""
        size: int = self.of.size
        return size

    def __len__(self) -> int:
        return self.shape[0]

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        known = FUNCTIONS.get(func)
        if known is None:
            raise Hosted(f"np.{func.__name__}")
        return _wrapped(known(*_bare(args), **_bare(kwargs)))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        known = UFUNCS.get((ufunc.__name__, method))
        if known is None:
            raise Hosted(f"np.{ufunc.__name__}, {method}")
        return _wrapped(known(*_bare(inputs), **_bare(kwargs)))

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise Hosted("values on the host")

    __bool__ = __int__ = __float__ = __complex__ = __index__ = __iter__ = __array__

    def __getitem__(self, key: Any) -> StandIn:
        return StandIn(FUNCTIONS["getitem"](self.of, _bare(key)))

    def __setitem__(self, key: Any, value: Any) -> None:
        value = _bare(value)
        if isinstance(value, np.ndarray) and not isinstance(value, calls.cupy().ndarray):
            if value.dtype.char not in SUPPORTED:
                raise Hosted("values of the host")
            value = calls.cupy().asarray(value)
        if key is Ellipsis:
            self.of[...] = value
        else:
            FUNCTIONS["setitem"](self.of, _bare(key), value)

    def sort(self, axis: int = -1, kind: Any = None, *, stable: Any = None) -> None:
        """As ``numpy.ndarray.sort``."""
        self.of[...] = FUNCTIONS[np.sort](self.of, axis, kind, stable=stable)

    def partition(self, kth: Any, axis: int = -1, kind: Any = None) -> None:
        """As ``numpy.ndarray.partition``."""
        self.of[...] = FUNCTIONS[np.partition](self.of, kth, axis, kind)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # a protocol's
            raise AttributeError(name)
        raise Hosted(f"ndarray.{name}")


def _bare(o: Any) -> Any:
    """Arguments with CuPy's arrays for their stand-ins."""
    if isinstance(o, StandIn):
        return o.of
    if isinstance(o, (tuple, list)):
        made = [_bare(v) for v in o]
        return tuple(made) if isinstance(o, tuple) else made
    if isinstance(o, dict):
        return {key: _bare(v) for key, v in o.items()}
    return o


def _wrapped(o: Any) -> Any:
    """Results with stand-ins for CuPy's arrays."""
    if isinstance(o, tuple):
        return tuple([_wrapped(v) for v in o])
    return StandIn(o) if isinstance(o, calls.cupy().ndarray) else o


def stands_for(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Notes a function as what stands for NumPy's."""

    def note(made: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            FUNCTIONS[function] = made
        return made

    return note


def through(outs: list[Array], ins: list[Array], original: Callable[..., Any]) -> None:
    """Calls an instruction's function with stand-ins for the arrays."""
    if any(x.dtype.char not in SUPPORTED for x in (*outs, *ins)):
        raise Hosted("a dtype that CuPy lacks")
    original([StandIn(x) for x in outs], [StandIn(x) for x in ins])
