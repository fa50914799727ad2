"""The types that Dask keeps of its arrays: of 0-d results, and of what it takes for NumPy's."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from lazyarray import _public
from lazyarray._ndarray import NDArray
from lazyarray.dask._replace import replace

__all__ = ["adapt_reductions", "adapt_utils", "remembered"]


def _empty(dtype: Any) -> Any:
    return _public.namespace.empty((), dtype)


def adapt_utils(utils: Any) -> None:
    """What makes arrays of NumPy's of what NumPy calls a scalar."""
    replace(utils, "meta_from_array", _meta_from_array)
    replace(utils, "compute_meta", _compute_meta)
    replace(utils, "scipy_linalg_safe", _scipy_linalg)


def _meta_from_array(plain: Any) -> Any:
    def meta_from_array(x: Any, ndim: int | None = None, dtype: Any = None) -> Any:
        meta = plain(x, ndim, dtype)
        if getattr(meta, "ndim", None) == 0 and type(meta) is not NDArray:
            known = getattr(x, "_meta", None)
            if isinstance(x if known is None else known, NDArray):
                return _empty(meta.dtype)
        return meta

    return meta_from_array


def _compute_meta(plain: Any) -> Any:
    def compute_meta(func: Any, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(func, np.vectorize):
            return plain(func, dtype, *args, **kwargs)

        @functools.wraps(func, updated=())
        def arrays(*args: Any, **kwargs: Any) -> Any:
            result = func(*args, **kwargs)
            if isinstance(result, NDArray) and type(result) is not NDArray:
                return _empty(result.dtype)
            return result

        meta = plain(arrays, dtype, *args, **kwargs)
        if meta is None and dtype is not None and any(map(_ours, args)):
            return _empty(dtype)  # of what it can't try, Dask says it is NumPy's
        return meta

    return compute_meta


def _ours(x: Any) -> bool:
    return isinstance(getattr(x, "_meta", x), NDArray)


def remembered(plain: Any) -> Any:
    """``plain``, whose (first) result has the type of the arrays that it is given.

    Dask tells some of its arrays their dtype alone, and takes their blocks to be NumPy's.
    """

    def call(*args: Any, **kwargs: Any) -> Any:
        result = plain(*args, **kwargs)
        if any(map(_ours, args)):
            x = result[0] if isinstance(result, tuple) else result
            x._meta = _public.namespace.empty((0,) * x.ndim, x.dtype)
        return result

    return call


def _scipy_linalg(plain: Any) -> Any:
    def scipy_linalg_safe(func_name: str, *args: Any, **kwargs: Any) -> Any:
        """SciPy's results are NumPy's."""
        result = plain(func_name, *args, **kwargs)
        if not any(isinstance(a, NDArray) for a in args):
            return result
        asarray = _public.namespace.asarray
        return tuple(map(asarray, result)) if isinstance(result, tuple) else asarray(result)

    return scipy_linalg_safe


def adapt_reductions(generic: Any) -> None:
    """A reduction of all axes drops what it is told of the type, if that is a scalar to NumPy."""

    def make(plain: Any) -> Any:
        def partial_reduce(func: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
            result = plain(func, x, *args, **kwargs)
            if not result.ndim and isinstance(x._meta, NDArray) and _held(result):
                result._meta = _empty(result.dtype)
            return result

        return partial_reduce

    replace(generic, "partial_reduce", make)


def _held(x: Any) -> bool:
    return type(x._meta) is not NDArray and x.dtype is not None and x.dtype.kind in "biufc"
