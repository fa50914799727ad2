"""CUDA devices: finding and opening them, and what others have on them."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import sys
from types import ModuleType
from typing import Any

from lazyarray.lazy import _lazy

__all__ = ["count", "memory_info", "open_device", "shared"]

DRIVER = "libcuda.so.1"
FORKED = (
    "CUDA can't be used in a process that was forked after a GPU was opened: start it another way "
    '(multiprocessing\'s "spawn"), or open the GPU there alone'
)
_opened: set[int] = set()
_forked = False


def _in_child() -> None:
    global _forked
    _forked = bool(_opened)
    _opened.clear()


os.register_at_fork(after_in_child=_in_child)


def _cupy(number: int) -> ModuleType:
    try:
        return importlib.import_module("cupy")
    except ImportError as exc:
        raise RuntimeError(
            f'gpu({number}) needs CuPy: pip install "lazyarray-engine[cuda]" (and an NVIDIA driver)'
        ) from exc


@functools.cache
def _is_installed() -> bool:
    # Asked once: a search costs 60 us, and an interrupt that comes at its end is lost.
    return importlib.util.find_spec("cupy") is not None


def count() -> int:
    """The number of CUDA devices that CuPy finds; 0 without CuPy or without a driver."""
    if "cupy" not in sys.modules and not _is_installed():
        return 0
    try:
        cupy = importlib.import_module("cupy")
        return int(cupy.cuda.runtime.getDeviceCount())
    except Exception:  # whatever an unusable installation raises: there are none
        return 0


def open_device(number: int) -> None:
    """Makes GPU ``number`` usable; RuntimeError, saying what is missing, if it is not there."""
    if number in _opened:
        return
    if _forked:
        raise RuntimeError(FORKED)
    cupy = _cupy(number)
    try:
        found = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as exc:
        raise RuntimeError(f"gpu({number}): CuPy finds no CUDA device: {exc}") from exc
    if number >= found:
        raise RuntimeError(f"gpu({number}): there are {found} CUDA devices")
    from lazyarray.lazy.cuda import services

    with cupy.cuda.Device(number):
        cupy.cuda.runtime.memGetInfo()  # makes the device's context, which CuPy and we share
        driver = os.environ.get("LAZYARRAY_CUDA_DRIVER") or DRIVER
        _lazy.open_gpu(number, driver, _blas(cupy), services)
    _opened.add(number)


def _blas(cupy: ModuleType) -> str:
    """The path of the cuBLAS that CuPy uses, "" if it can't be found."""
    given = os.environ.get("LAZYARRAY_CUDA_BLAS")
    if given is not None:
        return given
    try:
        cupy.cuda.device.get_cublas_handle()  # loads it
    except Exception:  # whatever CuPy raises without it: products will, too, and nothing else
        return ""
    with open("/proc/self/maps") as maps:
        for line in maps:
            path = line.split(maxsplit=5)[-1].strip()
            if os.path.basename(path).startswith("libcublas.so"):
                return path
    return ""


def shared(x: Any) -> tuple[int, int, Any, int, int, str, tuple[int, ...], tuple[int, ...]] | None:
    """What :func:`lazyarray.lazy._share.adopt_gpu` needs of an array of CuPy's, PyTorch's, ...

    The memory's start and length, its owner, the device's number, and the array's address, dtype,
    shape and strides; None if ``x`` is not in the memory of a GPU.
    """
    if not hasattr(x, "__cuda_array_interface__"):
        return None
    import cupy

    a = cupy.asarray(x)
    number = int(a.device.id)
    memory = a.data.mem
    cupy.cuda.get_current_stream().synchronize()
    return memory.ptr, memory.size, a, number, a.data.ptr, a.dtype.char, a.shape, a.strides


def memory_info(number: int) -> tuple[int, int]:
    """Free and total bytes of GPU ``number``, as the device counts them."""
    open_device(number)
    import cupy

    with cupy.cuda.Device(number):
        free, total = cupy.cuda.runtime.memGetInfo()
    return int(free), int(total)
