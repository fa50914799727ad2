"""What the native runner asks of Python: kernels compiled, memory, and calls of CuPy."""

from __future__ import annotations

import gc
from contextlib import AbstractContextManager
from typing import Any

from lazyarray.lazy import _lazy
from lazyarray.lazy.cuda import calls, device
from lazyarray.lazy.cuda.source import Unsupported, source

__all__ = ["allocate", "compiled", "library", "quiesce", "reclaim", "scope", "view"]

# Bits as NumPy's: no product and sum in one rounding, no approximate division.
OPTIONS = ("-std=c++17", "--fmad=false")

view = device.view

# Read and written with the GIL held, by worker threads.
_modules: dict[tuple[int, Any], Any] = {}


def compiled(number: int, spec: Any) -> tuple[int, int] | None:
    """The functions of a kernel on GPU ``number``: addresses, the second 0 for elementwise ones.

    None if there is no such kernel.
    """
    key = number, spec
    if key not in _modules:
        try:
            text = source(spec)
        except Unsupported:
            return None
        import cupy

        with cupy.cuda.Device(number):
            module = cupy.RawModule(code=text, options=OPTIONS, backend="nvrtc")
            kernel = module.get_function("kernel").kernel
            combine = module.get_function("combine").kernel if spec[1] else None
        _modules[key] = module, kernel, combine
    _, kernel, combine = _modules[key]
    return kernel.ptr, combine.ptr if combine is not None else 0


def allocate(number: int, stream: int, nbytes: int) -> tuple[int, Any]:
    """Memory from CuPy's pool, of a stream: its address, and what keeps it. MemoryError if none."""
    with device.on(number, stream) as cupy:
        try:
            pointer = cupy.get_default_memory_pool().malloc(nbytes)
        except cupy.cuda.memory.OutOfMemoryError as exc:
            raise MemoryError(str(exc)) from None
    return pointer.ptr, pointer.mem


def scope(number: int) -> AbstractContextManager[Any]:
    """A context in which CuPy's calls go to this thread's own stream on GPU ``number``."""
    return device.on(number, _lazy.stream_of_thread(number))


def reclaim(number: int) -> None:
    """Lets go of what only the garbage collector or CuPy's pool holds."""
    import cupy

    gc.collect()
    with cupy.cuda.Device(number):
        cupy.get_default_memory_pool().free_all_blocks()


def quiesce(number: int) -> None:
    """Waits for all that was launched on GPU ``number``, by whomever."""
    import cupy

    cupy.cuda.Device(number).synchronize()


def library(number: int, stream: int, call: Any) -> bool:
    """Does a call by CuPy; False if it is not known to do what NumPy does."""
    with device.on(number, stream):
        return calls.run(call)
