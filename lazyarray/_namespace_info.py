"""What the array API standard asks of the namespace: its version, devices, dtypes, limits."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from lazyarray import _public
from lazyarray.context import Context, as_device, cpu, cpu_pinned, current_context

__all__ = ["__array_api_version__", "__array_namespace_info__"]

__array_api_version__ = "2025.12"

_VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", __array_api_version__)


def namespace(api_version: str | None = None) -> ModuleType:
    """What ``x.__array_namespace__`` gives: lazyarray; ValueError for a version it doesn't know."""
    if api_version is not None and api_version not in _VERSIONS:
        raise ValueError(
            f"version {api_version!r} of the array API standard is not supported: "
            f"one of {', '.join(_VERSIONS)}"
        )
    return _public.namespace


_KINDS = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
_KINDS["integral"] = _KINDS["signed integer"] + _KINDS["unsigned integer"]
_KINDS["numeric"] = _KINDS["integral"] + _KINDS["real floating"] + _KINDS["complex floating"]


class Info:
    """The inspection functions of the array API standard.

    >>> import lazyarray as la
    >>> info = la.__array_namespace_info__()
    >>> info.default_device(), info.default_dtypes()["real floating"]
    (cpu(0), dtype('float64'))
    """

    __module__ = "lazyarray"

    def capabilities(self) -> dict[str, Any]:
        """What the library can do: boolean indexing, data-dependent shapes, up to 64 axes."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Context:
        """The device that new arrays are made on: :func:`current_context`."""
        return current_context()

    def devices(self) -> list[Context]:
        """The default device and host memory; ``cpu(1)``, ``cpu(2)``, ... exist when asked for."""
        return list(dict.fromkeys((current_context(), cpu(), cpu_pinned())))

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype[Any]]:
        """The dtypes of arrays made from Python's numbers, and of indices."""
        as_device(device)
        return {
            "real floating": np.dtype(np.float64),
            "complex floating": np.dtype(np.complex128),
            "integral": np.dtype(np.intp),
            "indexing": np.dtype(np.intp),
        }

    def dtypes(
        self, *, device: Any = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, np.dtype[Any]]:
        """The standard's dtypes by name: of a kind, of a tuple of kinds, or all of them."""
        as_device(device)
        kinds = (kind,) if isinstance(kind, str) else ("bool", "numeric") if kind is None else kind
        names: tuple[str, ...] = ()
        for one in kinds:
            if one not in _KINDS:
                raise ValueError(f"unsupported kind: {one!r}")
            names += _KINDS[one]
        return {name: np.dtype(name) for name in names}


def __array_namespace_info__() -> Info:
    """The array API standard's inspection functions: devices, dtypes, capabilities.

    Returns: an object with ``capabilities``, ``default_device``, ``default_dtypes``, ``devices``
        and ``dtypes``.
    Raises: nothing.

    >>> import lazyarray as la
    >>> list(la.__array_namespace_info__().dtypes(kind="real floating"))
    ['float32', 'float64']
    """
    return Info()
