# Chunks and pools as the upper rooms' extension modules see them.
from libc.stdint cimport int32_t, uint64_t
from libcpp cimport bool as cbool

from lazyarray.engine._engine cimport CDevice, CEngine, CError, CVar, atomic


cdef extern from "storage/pool.h" namespace "lazyarray" nogil:
    cdef cppclass PoolStats:
        uint64_t in_use, cached, peak, limit, hits, misses

    void warm_heap()
    void trim_heap()

    const size_t kMapped "lazyarray::MemoryPool::kMapped"

    cdef cppclass MemoryPool:
        PoolStats stats()
        void trim()
        cbool zeros_at_hand(size_t)


cdef extern from "storage/chunk.h" namespace "lazyarray" nogil:
    cdef cppclass Chunk(CVar):
        char* data
        size_t nbytes
        CDevice device
        MemoryPool* pool
        atomic[int32_t] handles
        void* owner
        void (*drop_owner)(void*) noexcept
        cbool published
        cbool foreign()
        cbool own()
        cbool take_over(char*, void*, void (*)(void*) noexcept nogil)
        cbool plain()
        cbool allocate()
        cbool allocate(cbool)
        void add_handle()
        void adopt_handle()
        void drop_handle()
        void end_handle()

    cdef cppclass ChunkStore:
        ChunkStore(CEngine*)
        Chunk* create(size_t, CDevice) except +
        MemoryPool* pool(CDevice) except +
        MemoryPool* (*make_pool)(CDevice) noexcept
        void set_limit(uint64_t)
        atomic[int32_t] exports
        void add_export(Chunk*)
        void drop_export(Chunk*)
        void publish(Chunk*) except +
        Chunk* find(const char*, size_t)


ctypedef int (*MakeRoom)() except -1

cdef ChunkStore* store() except NULL
cdef void set_make_room(MakeRoom finish)
cdef int refused(Chunk* c, bint for_all) except -1


cdef inline int need_memory(Chunk* c, bint for_all=False) except -1:
    """Sees to it that the chunk has memory; MemoryError. ``for_all``: see ``Chunk::allocate``."""
    return 0 if c.allocate(for_all) else refused(c, for_all)
