"""Numbers in JSON, SQLite, `statistics` and the like, and a backend for einops."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from lazyarray._adapters.wrapping import host, wrap
from lazyarray._ndarray import BoolScalar, IntegralScalar, RealScalar
from lazyarray.lazy._lazy import Tensor
from lazyarray.ops._rows import Lent

__all__: list[str] = []


def _is_pythons(o: Any, kinds: Any) -> bool:
    """Whether it is a scalar of ours that is a number of Python's to NumPy."""
    return isinstance(o, Tensor) and isinstance(o, kinds)


def teach_array_api(module: Any) -> None:
    """What functions for arrays of any library ask: a Scalar is an array that never changes."""
    for name, answer in (
        ("is_writeable_array", lambda x: x.flags.writeable),
        ("is_python_scalar", lambda x: False),  # though it is a float to `isinstance`
    ):
        wrap(module, [name], answer, make=_answering)


def _answering(function: Callable[..., Any], answer: Callable[[Any], Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(x: Any) -> Any:
        return answer(x) if isinstance(x, Tensor) else function(x)

    return call


def teach_json(module: Any) -> None:
    # NumPy's float64 is a float, its draws are Python's numbers; others of its scalars are refused.
    encoder, make = module.JSONEncoder, module._make_iterencode
    others = encoder.default

    @functools.wraps(others)
    def default(self: Any, o: Any) -> Any:
        return o.item() if _is_pythons(o, (float, int)) else others(self, o)

    # Its encoder in Python (``indent=``, ``json.dump``) asks ``isinstance(x, float)``: it is true.
    @functools.wraps(make)
    def make_iterencode(
        markers: Any, default: Any, text: Any, indent: Any, number: Any, *rest: Any
    ) -> Any:
        def written(o: Any) -> Any:
            return number(o.item() if isinstance(o, Tensor) else o)

        return make(markers, default, text, indent, written, *rest)

    if not hasattr(others, "__lazyarray__"):
        default.__lazyarray__ = True  # type: ignore[attr-defined]
        encoder.default, module._make_iterencode = default, make_iterencode


# What draws, or tells what is: called often, and not with arrays.
_DRAWING = ("get_", "draw", "has_", "is_", "in_", "can_", "format_", "start_", "drag_", "end_")


_OF_COLUMNS = ("hist", "boxplot", "violinplot")  # which take apart what they are given first


def adapt_axes(axes: type) -> None:
    """Each method that plots gets NumPy's arrays: a histogram of a matrix is one of its columns."""
    plots = [name for name in dir(axes) if not name.startswith(("_", *_DRAWING))]
    wrap(axes, _OF_COLUMNS, make=Lent)
    wrap(axes, plots, plotted, make=Lent)


def plotted(o: Any) -> Any:
    """The values; but what is of a class that matplotlib knows units of, in lists, too."""
    registry = sys.modules["matplotlib.units"].registry
    first = o[0] if type(o) in (list, tuple) and o else o
    if isinstance(first, Tensor) and any(kind in registry for kind in type(first).__mro__[:-1]):
        return o
    return host(o)


def teach_sqlite(module: Any) -> None:
    for kind in (BoolScalar, IntegralScalar, RealScalar):
        module.register_adapter(kind, kind.item)


def teach_statistics(module: Any) -> None:
    # A mean of integers is one, too, where their type is none of Python's; draws are Python's.
    def plain(data: Any) -> list[Any]:
        return [x.item() if _is_pythons(x, int) else x for x in data]

    for name in ("_sum", "_ss"):
        adds = getattr(module, name)
        setattr(
            module, name, functools.wraps(adds)(lambda data, *c, adds=adds: adds(plain(data), *c))
        )

    # To issubclass() our floats are none of Python's, as NumPy's are.
    numpys = module._coerce

    def coerce(one: type, other: type) -> type:
        for kind, beside in ((one, other), (other, one)):
            if kind is RealScalar and issubclass(beside, (float, Fraction)):
                return kind
        return numpys(one, other)

    module._coerce = coerce


def teach_sympy(sympify: Any) -> None:
    # Scalars are numbers to SymPy, as NumPy's are; to arrays its operators leave the turn.
    numpys = sympify._is_numpy_instance
    sympify._is_numpy_instance = lambda a: isinstance(a, Tensor) or numpys(a)


def pythons(o: Any) -> Any:
    """The values; of a scalar, Python's number, which ``float``'s own methods ask for."""
    return o.item() if isinstance(o, Tensor) and not o.ndim else host(o)


def make_backend(backends: Any) -> None:
    from lazyarray import _public

    class LazyarrayBackend(backends.NumpyBackend):
        framework_name = "lazyarray"  # einops finds it by this

        def __init__(self) -> None:
            self.np = _public.namespace

        def is_appropriate_type(self, tensor: Any) -> bool:
            return isinstance(tensor, Tensor)

        def from_numpy(self, x: np.ndarray) -> Any:
            return self.np.array(x)

        def to_numpy(self, x: Any) -> np.ndarray:
            values: np.ndarray = x.asnumpy()
            return values

    backends._lazyarray = LazyarrayBackend  # subclasses are looked up, and not kept
