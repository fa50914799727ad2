"""A stand-in for CuPy on simulated devices: what lazyarray asks of it, and NumPy's functions.

Only names that CuPy has are here, with CuPy's parameters (_names.py), so a program that runs here
asks for nothing that CuPy lacks.
"""

import sys

import numpy

from . import _functions, _sim, cuda, fft, lib, linalg, random
from ._core import array, asarray, asnumpy, ndarray
from ._memory import get_default_memory_pool
from ._raw import RawKernel, RawModule
from ._ufuncs import UFunc as ufunc

__version__ = "14.2.0"

ascontiguousarray = asanyarray = asarray
_functions.fill({"": globals(), "linalg": vars(linalg), "fft": vars(fft)})


def get_array_module(*args):
    on_device = any(isinstance(a, ndarray) for a in args)
    return sys.modules[__name__] if on_device else numpy


def is_available():
    return cuda.is_available()


__all__ = [
    "RawKernel", "RawModule", "array", "asanyarray", "asarray", "ascontiguousarray", "asnumpy",
    "cuda", "fft", "get_array_module", "get_default_memory_pool", "is_available", "lib", "linalg",
    "_sim", "ndarray", "random", "ufunc",
]  # fmt: skip
