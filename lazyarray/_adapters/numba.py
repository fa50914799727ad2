"""Numba: compiled functions take NDArrays, and what they name of lazyarray is NumPy's.

A compiled function works on the arguments' own memory, so what it writes is seen; the call waits
for them first. Numba knows NumPy's functions by their identity. Where it reads the names of a
function that is to be compiled, it is given those, so ``np.zeros`` in a program whose ``np`` is
lazyarray compiles as it does with NumPy. What such a function makes is NumPy's.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from lazyarray._adapters.wrapping import host, lent, wrap
from lazyarray.lazy._lazy import Tensor
from lazyarray.ops._rows import Lent

__all__: list[str] = []


def adapt_numba(module: Any) -> None:
    if module.__name__ == "numba.core.dispatcher":
        wrap(module.Dispatcher, ["__call__"], lent, make=Lent)
    elif module.__name__ == "numba.stencils.stencil":
        wrap(module.StencilFunc, ["__call__"], lent, make=Lent)
    elif module.__name__ == "numba.core.interpreter":
        wrap(module.Interpreter, ["get_global_value", "get_closure_value"], make=_naming)
    else:  # numba.core.typing.typeof
        of = module.typeof_impl
        of.register(Tensor, lambda value, context: of(lent(value), context))


def _naming(find: Callable[..., Any], _: Any) -> Callable[..., Any]:
    @functools.wraps(find)
    def named(self: Any, name: Any) -> Any:
        return _numpys(find(self, name))

    return named


def _numpys(value: Any) -> Any:
    """NumPy's module, function, class or array for one of ours; all else as it is."""
    if isinstance(value, ModuleType):
        room, dot, rest = value.__name__.partition(".")
        return sys.modules.get(f"numpy{dot}{rest}", value) if room == "lazyarray" else value
    room, dot, rest = (getattr(value, "__module__", None) or "").partition(".")
    if room == "lazyarray" and isinstance(name := getattr(value, "__name__", None), str):
        return getattr(sys.modules.get(f"numpy{dot}{rest}"), name, value)
    return host(value)
