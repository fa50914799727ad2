"""A stand-in for CuPy on simulated devices: what lazyarray asks of it, and NumPy's functions.

Only names that CuPy has are here, with CuPy's parameters (_names.py), so a program that runs here
asks for nothing that CuPy lacks.
"""

from . import _functions, _raw, cuda
from ._core import array, asarray, asnumpy, ndarray
from ._memory import get_default_memory_pool
from ._raw import RawKernel, RawModule

__version__ = "14.2.0"
_functions.fill(globals())
