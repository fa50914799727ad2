"""What Dask asks of a type of arrays: to be known as chunks, sizes, tokens, and its look-ups."""

from __future__ import annotations

from typing import Any

import numpy as np

from lazyarray import _public
from lazyarray._ndarray import NDArray
from lazyarray.dask import metas, places, tasks, wire
from lazyarray.lazy._lazy import Tensor

__all__ = ["adapt", "refuse", "to_lazyarray"]


def adapt(module: Any) -> None:
    """Registers lazyarrays with one of :data:`PARTS`, which has just been imported."""
    PARTS[module.__name__](module)


# ---- sizes and tokens ---------------------------------------------------------------------------


def size(x: Any) -> int:
    """The bytes that ``x`` holds, or will hold once what is pending has run.

    Of an axis that was broadcast one element counts, as Dask counts NumPy's.
    """
    n: int = x.itemsize
    for length, step in zip(x.shape, x.strides, strict=True):
        n *= length if step else min(length, 1)
    return n


def _sizes(sizeof: Any) -> None:
    sizeof.sizeof.register(Tensor, size)


def _tokens(tokenize: Any) -> None:
    def token(x: Any) -> Any:
        # One of NumPy's of the same values has another: their blocks aren't the same. In C order:
        # Dask's token of NumPy's arrays is one of the memory, the same of a square x and x.T.
        device = str(x.device)
        return "lazyarray", device, tokenize.normalize_token(np.asarray(x.asnumpy(), order="C"))

    tokenize.normalize_token.register(Tensor, token)


# ---- dask.array's look-ups ----------------------------------------------------------------------


def to_lazyarray(data: Any, **kwargs: Any) -> Any:
    """An array of lazyarray's of ``data``'s values; ``data`` itself if it is one.

    Args:
        data: an array, or what is like one.
        kwargs: more for ``la.asarray``: ``device``, say.
    Returns: an array.
    Raises: TypeError for objects, strings, dates and records, and for masks, which no lazyarray
        holds.
    """
    refuse(getattr(data, "dtype", None), data)
    return _public.namespace.asarray(data, **kwargs)


def refuse(dtype: Any, like: Any = None) -> None:
    """TypeError for a dtype that no lazyarray has, and for an array with a mask."""
    if isinstance(like, np.ma.MaskedArray):
        raise TypeError("no lazyarray holds a mask: keep such chunks with the 'numpy' backend")
    if dtype is not None and np.dtype(dtype).char not in _HELD:
        raise TypeError(
            f"no lazyarray holds {np.dtype(dtype)}: keep such chunks with the 'numpy' backend"
        )


_HELD = "?bBhHiIlLqQefdgFDG"


def _lookups(dispatch: Any) -> None:
    from dask.array.numpy_compat import divide

    la = _public.namespace
    dispatch.concatenate_lookup.register(Tensor, _concatenate)
    dispatch.take_lookup.register(Tensor, la.take)
    dispatch.tensordot_lookup.register(Tensor, la.tensordot)
    dispatch.einsum_lookup.register(Tensor, la.einsum)
    dispatch.empty_lookup.register(Tensor, la.empty)
    dispatch.divide_lookup.register(Tensor, divide)  # which then casts, where there is a dtype
    dispatch.percentile_lookup.register(Tensor, _percentile)
    dispatch.numel_lookup.register(Tensor, _numel)
    dispatch.nannumel_lookup.register(Tensor, _nannumel)
    dispatch.to_numpy_dispatch.register(Tensor, _to_numpy)


def _concatenate(arrays: Any, axis: int = 0) -> Any:
    """Chunks of NumPy's may be among them; masked ones stay NumPy's."""
    if any(isinstance(a, np.ma.MaskedArray) for a in arrays):
        return np.ma.concatenate([_to_numpy(a) for a in arrays], axis)
    return _public.namespace.concatenate(arrays, axis=axis)


def _percentile(a: Any, q: Any, method: str = "linear") -> Any:
    from dask.array.percentile import _percentile as percentile

    return percentile(a, q, method)


def _numel(x: Any, **kwargs: Any) -> Any:
    from dask.array.backends import _numel_arraylike

    return _numel_arraylike(x, **kwargs)


def _nannumel(x: Any, **kwargs: Any) -> Any:
    return _public.namespace.sum(~_public.namespace.isnan(x), **kwargs)


def _to_numpy(data: Any, **_: Any) -> Any:
    return data.asnumpy() if isinstance(data, NDArray) else data


def _chunks(chunk_types: Any) -> None:
    if not chunk_types.is_valid_chunk_type(Tensor):
        chunk_types.register_chunk_type(Tensor)


# The parts of Dask by the modules that they are in, and who registers us there.
PARTS = {
    "dask.sizeof": _sizes,
    "dask.tokenize": _tokens,
    "dask.array.dispatch": _lookups,
    "dask.array.chunk_types": _chunks,
    "dask.array.core": places.adapt_core,
    "dask.array.utils": metas.adapt_utils,
    "dask.array._reductions_generic": metas.adapt_reductions,
    "dask.array.reductions": places.adapt_reductions,
    "dask.array.slicing": places.adapt_slicing,
    "dask.array.routines": places.adapt_routines,
    "dask.local": tasks.adapt_local,
    "distributed.system_monitor": tasks.adapt_monitor,
    "distributed.worker": tasks.adapt_worker,
    "distributed.protocol.serialize": wire.register,
    "distributed.protocol.cuda": wire.register_cuda,
}
