"""pandas, taught to take an NDArray where it takes one of NumPy's: it asks for that very type.

It would take a mask for names of columns (``df[mask]``), or worse, for places (``df.iloc[mask]``), and keep
scalars as objects. So the functions where arrays come in, listed here, get the values: they are waited for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from lazyarray.lazy._lazy import Tensor

__all__: list[str] = []

_OPERATORS = [
    f"__{kind}{name}__"
    for name in "add sub mul truediv floordiv mod pow and or xor matmul".split()
    for kind in ("", "r")
] + [f"__{name}__" for name in "eq ne lt le gt ge".split()]
_BOTH = "__init__ __getitem__ __setitem__ groupby head tail nlargest nsmallest isin take shift where mask clip"
_METHODS = {
    "DataFrame": [*_BOTH.split(), *_OPERATORS, "insert", "reindex", "set_index", "from_records"],
    "Series": [*_BOTH.split(), *_OPERATORS, "repeat", "searchsorted", "reindex", "drop"],
    "Index": ["__new__", "__getitem__", "__contains__", "get_loc", "isin", "take", *_OPERATORS],
    "MultiIndex": ["from_arrays", "from_product"],
    "Categorical": ["__init__", "from_codes"],
}
_FUNCTIONS = "unique factorize cut qcut crosstab get_dummies date_range to_datetime to_timedelta isna notna"
# Private, but the way of all that comes as objects: rows, records, what users' functions return.
_INFERRING = "maybe_convert_objects map_infer map_infer_mask"


def adapt(pandas: ModuleType) -> None:
    """Puts functions that look for NDArrays among their arguments in the place of pandas' own."""
    for name, methods in _METHODS.items():
        _wrap(getattr(pandas, name, None), methods)
    frame = pandas.DataFrame()
    for indexer in (frame.loc, frame.iloc, frame.at, frame.iat):
        _wrap(type(indexer), ["__getitem__", "__setitem__"])
    _wrap(pandas, _FUNCTIONS.split())
    lib = getattr(getattr(pandas, "_libs", None), "lib", None)
    for name in _INFERRING.split():
        function = getattr(lib, name, None)
        if function is not None and not hasattr(function, "__wrapped__"):
            setattr(lib, name, _inferring(function, lib))


def _wrap(place: Any, names: list[str]) -> None:
    """``place`` is a class, which may inherit a method, or a module."""
    for name in names:
        found: Any = next((vars(c)[name] for c in getattr(place, "__mro__", (place,)) if name in vars(c)), None)
        function = getattr(found, "__func__", found)  # of a class's method
        if not callable(function) or found is object.__init__ or hasattr(function, "__lazyarray__"):
            continue
        call: Any = _taking(function)
        setattr(place, name, call if function is found else type(found)(call))


def _taking(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = {key: host(value) for key, value in kwargs.items()} if kwargs else kwargs
        return function(*[host(a) for a in args], **given)

    call.__lazyarray__ = True  # type: ignore[attr-defined]
    return call


def host(o: Any) -> Any:
    """``o``, or if it is an NDArray its values: NumPy's array or scalar. Also in a list, a tuple, a dict, a slice."""
    if isinstance(o, Tensor):
        x: Any = o
        return x._fetched("pandas") if x.ndim else x._number("pandas")
    kind = type(o)
    if kind is slice:
        return slice(host(o.start), host(o.stop), host(o.step))
    if kind is dict:
        found = any(isinstance(v, Tensor) or type(v) is list for v in o.values())
        return {key: host(v) for key, v in o.items()} if found else o
    if (kind is list or kind is tuple) and any(isinstance(v, (Tensor, slice)) for v in o):
        return kind([host(v) for v in o])
    return o


def _inferring(function: Callable[..., Any], lib: Any) -> Callable[..., Any]:
    """``function``, which makes an array of a dtype of one of objects, for which our scalars are but objects."""
    again = lib.maybe_convert_objects

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        if getattr(result, "dtype", None) != np.object_ or not lib.infer_dtype(result, skipna=True).startswith("mixed"):
            return result
        numbers = [host(o) for o in result.ravel()]
        if all(a is b for a, b in zip(numbers, result.ravel(), strict=True)):
            return result
        objects = np.empty(len(numbers), object)
        objects[:] = numbers
        return again(objects).reshape(result.shape)

    return call
