"""``cupy.cuda`` of the simulated device."""

from .._memory import (
    BaseMemory,
    Memory,
    MemoryPointer,
    MemoryPool,
    UnownedMemory,
    alloc,
    get_allocator,
    set_allocator,
    using_allocator,
)
from .._raw import Function
from .._streams import (
    Device,
    Event,
    ExternalStream,
    Stream,
    get_current_stream,
    get_elapsed_time,
)
from . import compiler, device, driver, function, memory, nccl, nvrtc, runtime, stream


def is_available():
    return runtime.getDeviceCount() > 0


__all__ = [
    "BaseMemory", "Device", "Event", "ExternalStream", "Function", "Memory", "MemoryPointer",
    "MemoryPool", "Stream", "UnownedMemory", "alloc", "compiler", "device", "driver", "function",
    "get_allocator", "get_current_stream", "get_elapsed_time", "is_available", "memory", "nccl",
    "nvrtc", "runtime", "set_allocator", "stream", "using_allocator",
]  # fmt: skip
