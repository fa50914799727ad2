"""lazyarray under Dask: blocks of ``dask.array`` that are lazyarrays, on threads, processes, clusters.

Installing ``lazyarray-engine[dask]`` is enough: ``dask.config.set({"array.backend": "lazyarray"})``
and ``x.to_backend("lazyarray")`` find the backend by its entry point, and what Dask asks of a type
of arrays (sizes, tokens, how they travel) is registered in each process as soon as that process has
imported both. ``docs/dask.md`` says what is decided, and what isn't there.

>>> import dask, dask.array as da
>>> with dask.config.set({"array.backend": "lazyarray"}):
...     x = da.ones((4, 6), chunks=(2, 3))
>>> (x * 2 + 1).sum(axis=0).compute()
array([12., 12., 12., 12., 12., 12.])
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if find_spec("dask") is None:
    raise ImportError(
        "lazyarray.dask needs Dask, which is an extra: pip install 'lazyarray-engine[dask]'"
    )

from lazyarray.dask.arrays import register

if TYPE_CHECKING:
    from lazyarray.dask.backend import LazyarrayBackend
    from lazyarray.dask.workers import EngineThreads

__all__ = ["EngineThreads", "LazyarrayBackend", "register"]


def __getattr__(name: str) -> Any:
    """What needs all of Dask; the rest is loaded while parts of Dask are still being imported."""
    if name == "LazyarrayBackend":
        from lazyarray.dask.backend import LazyarrayBackend

        return LazyarrayBackend
    if name == "EngineThreads":
        from lazyarray.dask.workers import EngineThreads

        return EngineThreads
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
