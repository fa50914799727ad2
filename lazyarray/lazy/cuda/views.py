"""CuPy on a stream and on memory of ours."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

__all__ = ["on", "view"]


@contextmanager
def on(number: int, stream: int) -> Iterator[ModuleType]:
    """CuPy, with its calls going to a stream of GPU ``number``."""
    import cupy

    with cupy.cuda.Device(number), _external(number, stream):
        yield cupy


class _Address:
    """The address of a stream, as CUDA's stream protocol wants it."""

    def __init__(self, stream: int):
        self._stream = stream

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._stream


@functools.cache
def _external(number: int, stream: int) -> Any:
    import cupy

    if hasattr(cupy.cuda.Stream, "from_external"):  # since CuPy 14
        return cupy.cuda.Stream.from_external(_Address(stream))
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
