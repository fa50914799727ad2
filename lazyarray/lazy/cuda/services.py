"""What the native runner asks of Python: kernels compiled, memory, and calls of CuPy."""

from __future__ import annotations

import gc
from contextlib import AbstractContextManager
from typing import Any

from lazyarray import storage
from lazyarray.engine import Device
from lazyarray.lazy import _lazy
from lazyarray.lazy.cuda import calls, compiler, views
from lazyarray.lazy.cuda.source import Unsupported, combines, source, words

__all__ = ["allocate", "compiled", "library", "reclaim", "scope", "view"]

view = views.view

# Read and written with the GIL held, by worker threads.
_functions: dict[tuple[int, Any], Any] = {}


def compiled(number: int, spec: Any, given: int) -> tuple[int, int] | None:
    """The functions of a kernel on GPU ``number``: addresses, the second 0 for elementwise ones.

    None if there is no such kernel. It will be given an argument of so many words.
    """
    key = number, spec
    if key not in _functions:
        try:
            text = source(spec)
        except Unsupported:
            return None
        if words(spec) != given:  # the driver would read on behind them
            raise AssertionError(f"{given} words for a kernel that takes {words(spec)}: {spec}")
        import cupy

        with cupy.cuda.Device(number):
            module = compiler.module(text)
            kernel = module.get_function("kernel")
            combine = module.get_function("combine") if combines(spec) else None
        _functions[key] = kernel, combine
    kernel, combine = _functions[key]
    return kernel.ptr, combine.ptr if combine is not None else 0


def allocate(number: int, stream: int, nbytes: int) -> tuple[int, Any]:
    """Memory from CuPy's pool, of a stream: its address, and what keeps it. MemoryError if none."""
    with views.on(number, stream) as cupy:
        try:
            pointer = cupy.get_default_memory_pool().malloc(nbytes)
        except cupy.cuda.memory.OutOfMemoryError as exc:
            raise MemoryError(str(exc)) from None
    return pointer.ptr, pointer.mem


def scope(number: int) -> AbstractContextManager[Any]:
    """A context in which CuPy's calls go to this thread's own stream on GPU ``number``."""
    return views.on(number, _lazy.stream_of_thread(number))


def reclaim(number: int) -> None:
    """Lets go of what only the garbage collector or CuPy's pool holds."""
    import cupy

    gc.collect()
    with cupy.cuda.Device(number):
        cupy.get_default_memory_pool().free_all_blocks()


def library(number: int, stream: int, call: Any) -> bool:
    """Does a call by CuPy; False if it is not known to do what NumPy does."""
    with views.on(number, stream) as cupy:
        given = cupy.cuda.get_allocator()

        def allocator(nbytes: int) -> Any:
            try:
                return given(nbytes)
            except MemoryError:
                storage.trim(Device("gpu", number))  # what our pool keeps for the next arrays
                return given(nbytes)

        with cupy.cuda.using_allocator(allocator):
            return calls.run(call)
