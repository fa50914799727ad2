"""lazyarray under Dask: arrays in blocks that are lazyarrays, on threads, processes, clusters.

Installing ``lazyarray-engine[dask]`` is enough: ``dask.config.set({"array.backend": "lazyarray"})``
and ``x.to_backend("lazyarray")`` find the backend by its entry point, and what Dask asks of a type
of arrays (sizes, tokens, how they travel) is registered in each process as soon as that process has
imported both. ``docs/dask.md`` says what is decided, and what isn't there.

>>> import dask, dask.array as da, lazyarray.dask
>>> lazyarray.dask.register()                    # an installed lazyarray needs no such line
>>> with dask.config.set({"array.backend": "lazyarray"}):
...     x = da.ones((4, 6), chunks=(2, 3))
>>> (x * 2 + 1).sum(axis=0).compute()
array([12., 12., 12., 12., 12., 12.])
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if find_spec("dask") is None:
    raise ImportError(
        "lazyarray.dask needs Dask, which is an extra: pip install 'lazyarray-engine[dask]'"
    )

from lazyarray.dask.arrays import PARTS, adapt

if TYPE_CHECKING:
    from lazyarray.dask.backend import LazyarrayBackend
    from lazyarray.dask.workers import EngineThreads

__all__ = ["EngineThreads", "LazyarrayBackend", "register"]


def register() -> None:
    """Registers lazyarrays with the parts of Dask that this process has imported, and the backend.

    It is called when lazyarray and Dask have both been imported; call it yourself where
    ``LAZYARRAY_ADAPT=0`` is set, or where lazyarray is imported from its sources and not
    installed, so that Dask finds no entry point.

    Returns: None.
    Raises: nothing.

    >>> import dask.array, dask.sizeof, lazyarray as la, lazyarray.dask
    >>> lazyarray.dask.register()
    >>> dask.sizeof.sizeof(la.ones(1000))
    8000
    """
    for name in PARTS:
        module = _imported(name)
        if module is not None:
            adapt(module)
    if (backends := _imported("dask.array.backends")) and _imported("dask.array"):
        from lazyarray.dask.backend import LazyarrayBackend

        backends.array_creation_dispatch.register_backend("lazyarray", LazyarrayBackend())


def _imported(name: str) -> Any:
    """A module, if it has been imported to its end."""
    module = sys.modules.get(name)
    return None if getattr(getattr(module, "__spec__", None), "_initializing", False) else module


def __getattr__(name: str) -> Any:
    """What needs all of Dask; the rest is loaded while parts of Dask are still being imported."""
    if name == "LazyarrayBackend":
        from lazyarray.dask.backend import LazyarrayBackend

        return LazyarrayBackend
    if name == "EngineThreads":
        if find_spec("distributed") is None:
            raise ImportError(
                "lazyarray.dask needs distributed for EngineThreads, which is an extra: "
                "pip install 'lazyarray-engine[dask]'"
            )
        from lazyarray.dask.workers import EngineThreads

        return EngineThreads
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
