"""What Dask does otherwise for arrays of NumPy's: ``argmax`` and its kin, ``unique``, assignment.

It keeps values and places in records, which no array of ours has. It has another way for arrays
without records (CuPy's), but asks for it by a TypeError of ``np.empty_like``,
which gives NumPy's records for a lazyarray.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from lazyarray import _public
from lazyarray._ndarray import NDArray
from lazyarray.dask._replace import replace
from lazyarray.dask.metas import remembered
from lazyarray.dask.tasks import finished

__all__ = ["adapt_core", "adapt_reductions", "adapt_routines", "adapt_slicing"]


def adapt_core(core: Any) -> None:
    """Of an array with blocks of both kinds, NumPy's records are dicts where they meet ours."""

    def make(plain: Any) -> Any:
        def _concatenate2(arrays: Any, axes: Any = None) -> Any:
            if not axes or not isinstance(arrays, (list, tuple, Iterator)):
                return plain(arrays, axes)
            arrays = list(arrays)
            if len(axes) > 1:
                arrays = [core._concatenate2(a, axes=axes[1:]) for a in arrays]
            if any(isinstance(a, dict) for a in arrays):
                arrays = [
                    a if isinstance(a, dict) else {name: a[name] for name in a.dtype.names or ()}
                    for a in arrays
                ]
            return plain(arrays, axes[:1])

        return _concatenate2

    replace(core, "_concatenate2", make)


def adapt_reductions(reductions: Any) -> None:
    """``arg_chunk`` and ``arg_combine``: a dict of arrays for a record."""

    def make_chunk(plain: Any) -> Any:
        def arg_chunk(func: Any, argfunc: Any, x: Any, axis: Any, offset_info: Any) -> Any:
            if not isinstance(x, NDArray):
                return plain(func, argfunc, x, axis, offset_info)
            along = None if len(axis) == x.ndim or x.ndim == 1 else axis[0]
            vals = func(x, axis=along, keepdims=True)
            arg = argfunc(x, axis=along, keepdims=True)
            if not x.ndim:
                pass  # its place is 0
            elif along is None:
                offset, shape = offset_info
                la = _public.namespace
                inside = la.unravel_index(arg, x.shape)
                arg = sum(  # the place in all of the array
                    (o + i) * step for o, i, step in zip(offset, inside, _steps(shape), strict=True)
                )
            else:
                arg = arg + offset_info
            return {"vals": vals, "arg": arg}

        return arg_chunk

    def make_combine(plain: Any) -> Any:
        def arg_combine(argfunc: Any, data: Any, axis: Any = None, **kwargs: Any) -> Any:
            if not isinstance(data, dict):
                return plain(argfunc, data, axis=axis, **kwargs)
            arg, vals = reductions._arg_combine(data, axis, argfunc, keepdims=True)
            return {"vals": vals, "arg": arg}

        return arg_combine

    replace(reductions, "arg_chunk", make_chunk)
    replace(reductions, "arg_combine", make_combine)
    replace(reductions, "prefixscan_blelloch", remembered)
    # A slice of NaNs is an error only if no other block has a number, either: Dask asks in another
    # way where these raise.
    for name in ("nanargmin", "nanargmax"):
        replace(reductions.chunk, name, _waiting)


def _waiting(plain: Any) -> Any:
    """``plain``, which raises its error at the call and not at the wait."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return finished(plain(*args, **kwargs))

    return call


def _steps(shape: Any) -> list[int]:
    steps = [1]
    for n in reversed(shape[1:]):
        steps.insert(0, steps[0] * n)
    return steps


def adapt_routines(routines: Any) -> None:
    """``unique`` without places and counts."""

    def make(plain: Any) -> Any:
        def unique(
            ar: Any,
            return_index: bool = False,
            return_inverse: bool = False,
            return_counts: bool = False,
        ) -> Any:
            if isinstance(ar._meta, NDArray) and not (
                return_index or return_inverse or return_counts
            ):
                return routines.unique_no_structured_arr(ar)
            return plain(ar, return_index, return_inverse, return_counts)

        return unique

    replace(routines, "unique", make)
    replace(routines, "coarsen", remembered)
    replace(routines, "histogram", remembered)


def adapt_slicing(slicing: Any) -> None:
    """``x[indices] = v``: of indices in NumPy's arrays, those beyond the block are left out."""

    def make(plain: Any) -> Any:
        def setitem(x: Any, v: Any, indices: Any) -> Any:
            indices = [i.asnumpy() if isinstance(i, NDArray) else i for i in indices]
            if isinstance(x, NDArray) and np.isscalar(x):  # which never changes
                x = _public.namespace.full((), x)
            return plain(x, v, indices)

        return setitem

    replace(slicing, "setitem", make)
    replace(slicing, "slice_with_bool_dask_array", remembered)
