"""pandas: indexing, constructors, operators, and what it finds a dtype for."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from lazyarray._adapters.wrapping import OPERATORS, host, wrap

__all__: list[str] = []

_BOTH = (
    "__init__ __getitem__ __setitem__ groupby head tail nlargest nsmallest isin take shift where "
    "mask clip"
)

_METHODS = {
    "DataFrame": [*_BOTH.split(), *OPERATORS, "insert", "reindex", "set_index", "from_records"],
    "Series": [*_BOTH.split(), *OPERATORS, "repeat", "searchsorted", "reindex", "drop"],
    "Index": ["__new__", "__getitem__", "__contains__", "get_loc", "isin", "take", *OPERATORS],
    "RangeIndex": ["__getitem__", "__contains__", "get_loc", "take"],  # which has its own
    "MultiIndex": ["from_arrays", "from_product"],
    "Categorical": ["__init__", "from_codes"],
}

_FUNCTIONS = (
    "unique factorize cut qcut crosstab get_dummies date_range to_datetime to_timedelta isna notna"
)

# Private, but the way of all that comes as objects: rows, records, what users' functions return.
_INFERRING = "maybe_convert_objects map_infer map_infer_mask"


def adapt_pandas(pandas: ModuleType) -> None:
    for name, methods in _METHODS.items():
        wrap(getattr(pandas, name, None), methods)
    frame = pandas.DataFrame()
    for indexer in (frame.loc, frame.iloc, frame.at, frame.iat):
        wrap(type(indexer), ["__getitem__", "__setitem__"])
    wrap(pandas, _FUNCTIONS.split())
    lib = getattr(getattr(pandas, "_libs", None), "lib", None)
    for name in _INFERRING.split():
        function = getattr(lib, name, None)
        if function is not None and not hasattr(function, "__wrapped__"):
            setattr(lib, name, _inferring(function, lib))


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
