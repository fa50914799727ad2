"""Device memory: blocks, pointers into them, and the pool, whose arenas belong to streams."""

import contextlib
import ctypes
import threading

from . import _streams
from ._driver import CUDARuntimeError, check, current_device, in_context, lib


class OutOfMemoryError(MemoryError):
    def __init__(self, size, total, limit=0):
        said = f"Out of memory allocating {size:,} bytes (allocated so far: {total:,} bytes"
        super().__init__(said + (f", limit set to: {limit:,} bytes)." if limit else ")."))
        self._size, self._total, self._limit = size, total, limit

    def __reduce__(self):
        return (type(self), (self._size, self._total, self._limit))


class BaseMemory:
    ptr = 0
    size = 0
    device_id = 0

    @property
    def device(self):
        return _streams.Device(self.device_id)


def _allocate(size: int) -> int:
    address = ctypes.c_uint64()
    check(in_context().cuMemAlloc_v2(ctypes.byref(address), size))
    return address.value


class Memory(BaseMemory):
    def __init__(self, size):
        self.size = size
        self.device_id = current_device()
        self.ptr = _allocate(size) if size else 0

    def __del__(self):
        if self.ptr:
            lib.cuMemFree_v2(self.ptr)


class UnownedMemory(BaseMemory):
    def __init__(self, ptr, size, owner, device_id=-1):
        if device_id < 0:
            if not ptr:
                raise RuntimeError("UnownedMemory requires explicit device_id for a null pointer.")
            device_id = lib.sim_device_of(ptr, None)
            if device_id < 0:
                raise CUDARuntimeError(1)
        self.ptr, self.size, self._owner, self.device_id = ptr, size, owner, device_id


class PooledMemory(BaseMemory):
    def __init__(self, pool, ptr, size, device_id, stream):
        self._pool, self._stream = pool, stream
        self.ptr, self.size, self.device_id = ptr, size, device_id

    def __del__(self):
        self.free()

    def free(self):
        if self.ptr and self._pool is not None:
            self._pool._take_back(self)
            self.ptr = 0


class MemoryPointer:
    def __init__(self, mem, offset):
        if not isinstance(mem, BaseMemory):
            raise TypeError(f"mem must be BaseMemory, not {type(mem).__name__}")
        self.mem = mem
        self.ptr = mem.ptr + offset
        self.device_id = mem.device_id

    @property
    def device(self):
        return self.mem.device

    def __int__(self):
        return self.ptr

    def __add__(self, offset):
        return MemoryPointer(self.mem, self.ptr - self.mem.ptr + offset)

    def __sub__(self, offset):
        return self + -offset

    def copy_from_host_async(self, mem, size, stream=None):
        address = mem.value if isinstance(mem, ctypes.c_void_p) else int(mem)
        check(in_context().cuMemcpyHtoDAsync_v2(self.ptr, address, size, _streams.pointer(stream)))

    def copy_to_host_async(self, mem, size, stream=None):
        address = mem.value if isinstance(mem, ctypes.c_void_p) else int(mem)
        check(in_context().cuMemcpyDtoHAsync_v2(address, self.ptr, size, _streams.pointer(stream)))

    def copy_from_device_async(self, src, size, stream=None):
        check(in_context().cuMemcpyDtoDAsync_v2(self.ptr, src.ptr, size, _streams.pointer(stream)))

    copy_from_device = copy_from_device_async

    def memset_async(self, value, size, stream=None):
        check(in_context().cuMemsetD8Async(self.ptr, value, size, _streams.pointer(stream)))

    memset = memset_async


class MemoryPool:
    """As CuPy's: a block goes back to the arena of the (device, stream) that it was taken for.

    It may be taken again at once; that is safe in this stream alone, so it is spoilt there, in the
    stream's order. Blocks are kept by exact size: the driver sees writes behind their ends.
    """

    UNIT = 512

    def __init__(self, allocator=None):
        self._lock = threading.RLock()  # entered again by __del__
        self._arenas: dict[tuple[int, int], dict[int, list[int]]] = {}
        self._used: dict[int, int] = {}
        self._free: dict[int, int] = {}
        self._limit: dict[int, int] = {}

    def _rounded(self, size):
        return -(-size // self.UNIT) * self.UNIT

    def malloc(self, size):
        size = int(size)
        if size < 0:
            raise OverflowError("can't convert negative value to size_t")
        device, stream = current_device(), _streams.get_current_stream().ptr
        if size == 0:
            return MemoryPointer(UnownedMemory(0, 0, None, device), 0)
        rounded = self._rounded(size)
        with self._lock:
            blocks = self._arenas.setdefault((device, stream), {}).get(size)
            if blocks:
                ptr = blocks.pop()
                self._free[device] -= rounded
            else:
                ptr = self._from_driver(size, rounded, device)
            self._used[device] = self._used.get(device, 0) + rounded
        return MemoryPointer(PooledMemory(self, ptr, size, device, stream), 0)

    def _from_driver(self, size, rounded, device):
        limit = self._limit.get(device, 0)
        for last in (False, True):
            total = self._used.get(device, 0) + self._free.get(device, 0)
            if not limit or total + rounded <= limit:
                try:
                    return _allocate(size)
                except CUDARuntimeError as error:
                    if error.status != 2:
                        raise
            if last:
                raise OutOfMemoryError(rounded, total, limit)
            self.free_all_blocks()

    def _take_back(self, memory):
        if lib is None:  # the interpreter ends
            return
        with self._lock:
            rounded = self._rounded(memory.size)
            lib.sim_poison(memory.ptr, memory.size, memory._stream)
            arena = self._arenas.setdefault((memory.device_id, memory._stream), {})
            arena.setdefault(memory.size, []).append(memory.ptr)
            self._used[memory.device_id] -= rounded
            self._free[memory.device_id] = self._free.get(memory.device_id, 0) + rounded

    def free_all_blocks(self, stream=None):
        device = current_device()
        with self._lock:
            for where, arena in list(self._arenas.items()):  # __del__ may add one
                if where[0] != device or (stream is not None and where[1] != stream.ptr):
                    continue
                for size, blocks in list(arena.items()):
                    while blocks:
                        lib.cuMemFree_v2(blocks.pop())
                        self._free[device] -= self._rounded(size)

    def free_all_free(self):
        self.free_all_blocks()

    def n_free_blocks(self):
        device = current_device()
        with self._lock:
            arenas = [a for where, a in list(self._arenas.items()) if where[0] == device]
            return sum(len(blocks) for arena in arenas for blocks in list(arena.values()))

    def used_bytes(self):
        return self._used.get(current_device(), 0)

    def free_bytes(self):
        return self._free.get(current_device(), 0)

    def total_bytes(self):
        return self.used_bytes() + self.free_bytes()

    def set_limit(self, size=None, fraction=None):
        if (size is None) == (fraction is None) and size is not None:
            raise ValueError("size and fraction cannot be specified at one time")
        if fraction is not None:
            size = int(fraction * _streams.Device().mem_info[1])
        self._limit[current_device()] = size or 0

    def get_limit(self):
        return self._limit.get(current_device(), 0)


_pool = MemoryPool()
_allocator = _pool.malloc
_mine = threading.local()


def get_default_memory_pool():
    return _pool


def alloc(size):
    return get_allocator()(size)


def set_allocator(allocator=None):
    global _allocator
    _allocator = allocator or (lambda size: MemoryPointer(Memory(size), 0))


def get_allocator():
    return getattr(_mine, "allocator", None) or _allocator


@contextlib.contextmanager
def using_allocator(allocator):
    """Of this thread alone."""
    before = getattr(_mine, "allocator", None)
    _mine.allocator = allocator
    try:
        yield
    finally:
        _mine.allocator = before
