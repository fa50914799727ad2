"""``numpy.lib``: what of it is about arrays, and what is NumPy's own all the same."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np
from numpy.lib import Arrayterator, array_utils, format, introspect, npyio

from lazyarray.lib import mixins, scimath, stride_tricks
from lazyarray.version import __version__

__all__ = [
    "Arrayterator",
    "NumpyVersion",
    "array_utils",
    "format",
    "introspect",
    "mixins",
    "npyio",
    "recfunctions",
    "scimath",
    "stride_tricks",
]


class NumpyVersion(np.lib.NumpyVersion):
    """``numpy.lib.NumpyVersion``; of ``la.__version__`` it is that of NumPy, as programs mean it.

    Args:
        vstring: a version, as "2.1.0".
    Raises: ValueError for what is no version.

    >>> import lazyarray as la
    >>> la.lib.NumpyVersion(la.__version__) >= "2.0.0"
    True
    """

    def __init__(self, vstring: str) -> None:
        own = vstring == __version__
        super().__init__(np.__version__ if own else vstring)


# Programs import them as modules, too.
for _module in (array_utils, format, introspect, npyio):
    sys.modules.setdefault(f"{__name__}.{_module.__name__.rpartition('.')[2]}", _module)


def __getattr__(name: str) -> Any:
    if name == "recfunctions":  # which NumPy, too, imports where it is asked for
        return importlib.import_module("lazyarray.lib.recfunctions")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)
