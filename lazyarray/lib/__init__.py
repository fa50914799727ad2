"""``numpy.lib``: what of it is about arrays, and what is NumPy's own all the same."""

from __future__ import annotations

from numpy.lib import Arrayterator, NumpyVersion, array_utils, format, introspect, mixins, npyio

from lazyarray.lib import scimath, stride_tricks

__all__ = [
    "Arrayterator",
    "NumpyVersion",
    "array_utils",
    "format",
    "introspect",
    "mixins",
    "npyio",
    "scimath",
    "stride_tricks",
]
