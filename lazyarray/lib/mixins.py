"""``numpy.lib.mixins``, with lazyarray's ufuncs for programs that have it in NumPy's place."""

from __future__ import annotations

from types import CellType, FunctionType
from typing import Any

import numpy as np

from lazyarray.ops import names

__all__ = ["NDArrayOperatorsMixin"]


class NDArrayOperatorsMixin(np.lib.mixins.NDArrayOperatorsMixin):
    """``numpy.lib.mixins.NDArrayOperatorsMixin``: operators by a class's ``__array_ufunc__``.

    That is called with lazyarray's ufunc where its module has lazyarray in NumPy's place, so that
    ``ufunc is np.add`` says what it says there, and else with NumPy's.

    Raises: nothing.

    >>> import lazyarray as np
    >>> class Logged(np.lib.mixins.NDArrayOperatorsMixin):
    ...     def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
    ...         return ufunc is np.multiply
    >>> Logged() * 2, 2 - Logged()
    (True, False)
    """

    __slots__ = ()


def _ours(cell: CellType) -> CellType:
    found = cell.cell_contents
    return CellType(getattr(names, found.__name__, found)) if isinstance(found, np.ufunc) else cell


def _operators() -> dict[str, Any]:
    """NumPy's methods, which find their ufuncs in their closures."""
    found = {}
    for name, f in vars(np.lib.mixins.NDArrayOperatorsMixin).items():
        if isinstance(f, FunctionType) and f.__closure__:
            closure = tuple(map(_ours, f.__closure__))
            found[name] = FunctionType(
                f.__code__, f.__globals__, f.__name__, f.__defaults__, closure
            )
    return found


for _name, _method in _operators().items():
    setattr(NDArrayOperatorsMixin, _name, _method)
