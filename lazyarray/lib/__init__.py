"""``numpy.lib``: what of it is about arrays, and what is NumPy's own all the same."""

from __future__ import annotations

import sys

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

# Programs import them as modules, too.
for _module in (array_utils, format, introspect, mixins, npyio):
    sys.modules.setdefault(f"{__name__}.{_module.__name__.rpartition('.')[2]}", _module)
