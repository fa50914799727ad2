"""How long the threads of NumPy's OpenBLAS spin after a product."""

from __future__ import annotations

import ctypes
import glob
import os
import threading

import numpy as np

__all__ = ["calm", "spin"]

# As the logarithm of processor cycles: 2 ** 20 are 0.4 ms. OpenBLAS's own is 26: each of its
# threads takes 26 ms of a core after each product that it had a part in, which nothing else gets
# then. Products that follow each other within this still find them awake (waking costs 5 to 50 us).
SPIN = 20


def _library() -> ctypes.CDLL | None:
    root = os.path.join(os.path.dirname(np.__file__), "..", "numpy.libs", "*openblas*")
    for path in glob.glob(root):
        try:
            lib = ctypes.CDLL(path)
        except OSError:
            continue
        names = ("openblas_read_env", "openblas_thread_timeout", "blas_thread_shutdown_")
        if all(hasattr(lib, name) for name in names):
            return lib
    return None


def spin() -> int | None:
    """The logarithm of the cycles that OpenBLAS was told to spin; 0: its own; None: not known."""
    lib = _library()
    return None if lib is None else int(lib.openblas_thread_timeout())


def calm() -> bool:
    """Has OpenBLAS's threads spin for a shorter time, unless the user has set that; whether it did.

    ``OPENBLAS_THREAD_TIMEOUT`` is read as the library is loaded, with NumPy; so the library is told
    to read its environment again, and to end its threads: the next product starts them anew. How
    many there are stays as it is. Not where another thread may be in a product.
    """
    name = "OPENBLAS_THREAD_TIMEOUT"
    if name in os.environ or threading.active_count() > 1:
        return False
    lib = _library()
    if lib is None or lib.openblas_thread_timeout():
        return False
    os.environ[name] = str(SPIN)
    try:
        lib.openblas_read_env()
    finally:
        del os.environ[name]  # it is not for processes that this one starts
    lib.blas_thread_shutdown_()
    return True
