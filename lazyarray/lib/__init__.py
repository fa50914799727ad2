"""``numpy.lib``: what of it is about arrays."""

from __future__ import annotations

from numpy.lib import NumpyVersion, array_utils

from lazyarray.lib import scimath, stride_tricks

__all__ = ["NumpyVersion", "array_utils", "scimath", "stride_tricks"]
