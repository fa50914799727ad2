"""The backend ``"lazyarray"`` of ``dask.array``: what creates its arrays and its random numbers."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import dask.array as da
import numpy as np
from dask import config
from dask.array.backends import ArrayBackendEntrypoint

from lazyarray import _public
from lazyarray._ndarray import NDArray
from lazyarray.dask.arrays import PARTS, adapt, refuse, to_lazyarray

if TYPE_CHECKING:
    from collections.abc import Callable

    from lazyarray.random import RandomState

__all__ = ["PCG64", "LazyarrayBackend"]


class PCG64(np.random.PCG64):
    """NumPy's generator of bits, whose name tells Dask that draws are to be lazyarrays.

    >>> import lazyarray as la
    >>> from lazyarray.dask.backend import PCG64
    >>> import numpy as np
    >>> rng = la.random.default_rng(PCG64(7))
    >>> bool(rng.random() == np.random.default_rng(7).random())
    True
    """


def _made(which: str, /, *args: object, meta: object = None, **kwargs: object) -> da.Array:
    refuse(kwargs.get("dtype"))
    with config.set({"array.backend": "numpy"}):
        return getattr(da, which)(*args, meta=_meta() if meta is None else meta, **kwargs)


def _meta() -> NDArray:
    return _public.namespace.empty((0,))


class LazyarrayBackend(ArrayBackendEntrypoint):
    """What ``array.backend: lazyarray`` stands for; Dask makes one by the entry point.

    >>> import dask.array as da, lazyarray.dask
    >>> lazyarray.dask.register()
    >>> x = da.arange(6, chunks=3).to_backend("lazyarray")
    >>> (x[::2] + 1).compute()
    array([1, 3, 5])
    """

    def __init__(self) -> None:
        for name in PARTS:  # with LAZYARRAY_ADAPT=0 nobody has done so
            if name in sys.modules:
                adapt(sys.modules[name])

    @classmethod
    def to_backend_dispatch(cls) -> Callable[..., NDArray]:
        """The function that makes a chunk one of lazyarray's.

        Returns: a function of a chunk, and of more for ``la.asarray``.
        Raises: nothing.
        """
        return to_lazyarray

    @classmethod
    def to_backend(cls, data: da.Array, **kwargs: object) -> da.Array:
        """``data`` with chunks of lazyarray's; itself if they are, and nothing else is asked for.

        Args:
            data: an array of Dask's.
            kwargs: more for ``la.asarray``: ``device``, say.
        Returns: a :class:`dask.array.Array`.
        Raises: TypeError for dtypes that no lazyarray has, and for arrays with masks.
        """
        refuse(data.dtype, data._meta)
        if isinstance(data._meta, NDArray) and not kwargs:
            return data
        meta = to_lazyarray(np.empty((0,) * data.ndim, data.dtype), **kwargs)
        return data.map_blocks(to_lazyarray, dtype=meta.dtype, meta=meta, **kwargs)

    @property
    def RandomState(self) -> type[RandomState]:
        """NumPy's old streams, as lazyarray has them."""
        return _public.namespace.random.RandomState

    @property
    def default_bit_generator(self) -> type[PCG64]:
        """What ``da.random.default_rng`` draws from: the bits are NumPy's."""
        return PCG64

    @staticmethod
    def ones(*args: object, **kwargs: object) -> da.Array:
        """``da.ones`` in chunks of lazyarray's.

        Args:
            *args: those of ``da.ones``.
            **kwargs: the same, by name.
        Returns: a :class:`dask.array.Array`.
        Raises: TypeError for dtypes that no lazyarray has; else as ``da.ones``.
        """
        return _made("ones", *args, **kwargs)

    @staticmethod
    def zeros(*args: object, **kwargs: object) -> da.Array:
        """``da.zeros`` in chunks of lazyarray's.

        Args:
            *args: those of ``da.zeros``.
            **kwargs: the same, by name.
        Returns: a :class:`dask.array.Array`.
        Raises: TypeError for dtypes that no lazyarray has; else as ``da.zeros``.
        """
        return _made("zeros", *args, **kwargs)

    @staticmethod
    def empty(*args: object, **kwargs: object) -> da.Array:
        """``da.empty`` in chunks of lazyarray's.

        Args:
            *args: those of ``da.empty``.
            **kwargs: the same, by name.
        Returns: a :class:`dask.array.Array`.
        Raises: TypeError for dtypes that no lazyarray has; else as ``da.empty``.
        """
        return _made("empty", *args, **kwargs)

    @staticmethod
    def full(*args: object, **kwargs: object) -> da.Array:
        """``da.full`` in chunks of lazyarray's.

        Args:
            *args: those of ``da.full``.
            **kwargs: the same, by name.
        Returns: a :class:`dask.array.Array`.
        Raises: TypeError for dtypes that no lazyarray has; else as ``da.full``.
        """
        return _made("full", *args, **kwargs)

    @staticmethod
    def arange(*args: object, like: object = None, **kwargs: object) -> da.Array:
        """``da.arange`` in chunks of lazyarray's.

        Args:
            *args: those of ``da.arange``.
            like: an array: of its kind are the chunks.
            **kwargs: the same as ``args``, by name.
        Returns: a :class:`dask.array.Array`, of one axis.
        Raises: TypeError for dtypes that no lazyarray has; else as ``da.arange``.
        """
        refuse(kwargs.get("dtype"))
        with config.set({"array.backend": "numpy"}):
            return da.arange(*args, like=_meta() if like is None else like, **kwargs)
