"""pandas: whatever of its methods and functions takes arguments, and what it finds a dtype for."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from lazyarray._adapters.wrapping import OPERATORS, host, wrap
from lazyarray.ops._rows import Lent

__all__: list[str] = []

# Bases come first: what a class inherits of them is done.
_CLASSES = (
    "Index RangeIndex MultiIndex CategoricalIndex IntervalIndex DatetimeIndex TimedeltaIndex "
    "PeriodIndex Series DataFrame Categorical Timestamp Timedelta Period Interval DateOffset"
)
_SPECIAL = ["__init__", "__new__", "__getitem__", "__setitem__", "__contains__", *OPERATORS]
# They count frames up to the one whose variables are named in a text, as `Lent` leaves them; but
# what they are given is looked at by name.
_LEFT = {"eval", "query"}
_ARRAYS = "IntegerArray FloatingArray BooleanArray SparseArray"
# What properties give that are called, or asked for places.
_PLACES = {"pandas.core.groupby.indexing": "GroupByNthSelector GroupByPositionalSelector"}
_KINDS = "is_float is_integer is_number is_bool is_complex is_scalar infer_dtype"

# Private, but the way of all that comes as objects: rows, records, what users' functions return.
_INFERRING = "maybe_convert_objects map_infer map_infer_mask"


def adapt_pandas(pandas: ModuleType) -> None:
    for kind in _kinds(pandas):
        public = [name for name in dir(kind) if name[0] != "_" and name not in _LEFT]
        wrap(kind, [*public, *_SPECIAL], make=Lent)
    frame = pandas.DataFrame()
    for indexer in (frame.loc, frame.iloc, frame.at, frame.iat):
        wrap(type(indexer), ["__getitem__", "__setitem__"], make=Lent)
    for name in _ARRAYS.split():
        wrap(getattr(pandas.arrays, name, None), ["__init__"], make=Lent)
    for module, classes in _PLACES.items():
        for name in classes.split():
            kind = getattr(sys.modules.get(module), name, None)
            wrap(kind, ["__call__", "__getitem__"], make=Lent)
    wrap(pandas.api.types, _KINDS.split(), make=Lent)
    functions = (FunctionType, BuiltinFunctionType)
    wrap(
        pandas,
        [n for n, f in vars(pandas).items() if isinstance(f, functions) and n not in _LEFT],
        make=Lent,
    )
    _count_references()
    wrap(pandas.tseries.offsets.BaseOffset, OPERATORS, make=Lent)
    lib = getattr(getattr(pandas, "_libs", None), "lib", None)
    for name in _INFERRING.split():
        function = getattr(lib, name, None)
        if function is not None and not hasattr(function, "__wrapped__"):
            setattr(lib, name, _inferring(function, lib))


def _kinds(pandas: Any) -> Iterator[type]:
    """The classes whose methods users call: tables, labels, times, groups, windows, texts."""
    for name in _CLASSES.split():
        kind = getattr(pandas, name, None)
        if kind is not None:
            yield kind
    yield pandas.Series.str
    typing = getattr(pandas.api, "typing", None)  # since 2.1
    for name in getattr(typing, "__all__", ()):
        kind = getattr(typing, name)
        if isinstance(kind, type) and kind.__module__.startswith("pandas."):
            yield kind


def _count_references() -> None:
    """Warnings of what changes a column that nobody has: pandas counts the references to it.

    A function of Python's takes them over of its caller; one that is native leaves them there.
    """
    for name in ("frame", "generic", "series"):
        module: Any = sys.modules.get(f"pandas.core.{name}")
        most = getattr(module, "REF_COUNT_METHOD", None)  # since 3.0
        if most is not None:
            module.REF_COUNT_METHOD = most + 1


def _inferring(function: Callable[..., Any], lib: Any) -> Callable[..., Any]:
    """``function``, which finds objects a dtype: without it for our scalars."""
    again = lib.maybe_convert_objects

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        if getattr(result, "dtype", None) != np.object_ or not lib.infer_dtype(
            result, skipna=True
        ).startswith("mixed"):
            return result
        numbers = [host(o) for o in result.ravel()]
        if all(a is b for a, b in zip(numbers, result.ravel(), strict=True)):
            return result
        objects = np.empty(len(numbers), object)
        objects[:] = numbers
        return again(objects).reshape(result.shape)

    return call
