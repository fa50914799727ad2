"""CUDA devices: finding and opening them, CuPy's memory, and its view of ours."""

from __future__ import annotations

import functools
import importlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from lazyarray.lazy import _lazy

__all__ = ["count", "memory_info", "on", "open_device", "shared", "view"]

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
            f'gpu({number}) needs CuPy: pip install "lazyarray[cuda]" (and an NVIDIA driver)'
        ) from exc


def count() -> int:
    """The number of CUDA devices that CuPy finds; 0 without CuPy or without a driver."""
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
    from lazyarray.lazy.cuda import room

    with cupy.cuda.Device(number):
        cupy.cuda.runtime.memGetInfo()  # makes the device's context, which CuPy and we share
        driver = os.environ.get("LAZYARRAY_CUDA_DRIVER", DRIVER)
        _lazy.open_gpu(number, driver, _blas(cupy), room)
    _opened.add(number)


@contextmanager
def on(number: int, stream: int) -> Iterator[ModuleType]:
    """CuPy, with its calls going to a stream of GPU ``number``."""
    import cupy

    with cupy.cuda.Device(number), _external(number, stream):
        yield cupy


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


class _Handle:
    """The address of a stream, as CUDA's stream protocol wants it."""

    def __init__(self, stream: int):
        self._stream = stream

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._stream


@functools.cache
def _external(number: int, stream: int) -> Any:
    import cupy

    if hasattr(cupy.cuda.Stream, "from_external"):  # since CuPy 14
        return cupy.cuda.Stream.from_external(_Handle(stream))
    return cupy.cuda.ExternalStream(stream, number)


def view(
    base: int,
    nbytes: int,
    number: int,
    offset: int,
    shape: tuple[int, ...],
    dtype: str,
    strides: tuple[int, ...],
    owner: object = None,
) -> Any:
    """A CuPy array on memory of ours: ``nbytes`` from the address ``base`` on GPU ``number``."""
    import cupy

    memory = cupy.cuda.UnownedMemory(base, nbytes, owner, number)
    pointer = cupy.cuda.MemoryPointer(memory, offset)
    return cupy.ndarray(shape, dtype, memptr=pointer, strides=strides)


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
