# distutils: language = c++
"""The process's chunk store, and what its pools say of themselves."""

from lazyarray.engine._engine import check_methods
from lazyarray.engine.settings import int_env

from lazyarray.engine._engine cimport CDevice, Device, graveyard, process_engine

warm_heap()

cdef ChunkStore* _store = NULL


cdef ChunkStore* store() except NULL:
    # Never freed: chunks may outlive every Python object.
    global _store
    if _store is NULL:
        limit = int_env("LAZYARRAY_MEM_LIMIT", 0, least=0)
        _store = new ChunkStore(process_engine().c)
        _store.set_limit(limit)
    return _store


cdef MakeRoom _make_room = NULL  # the recorder's: runs what is pending


cdef void set_make_room(MakeRoom finish):
    global _make_room
    _make_room = finish


cdef int refused(Chunk* c, bint for_all) except -1:
    """Tries again when what is pending has run: it may hold what is missing. MemoryError."""
    if _make_room is not NULL:
        _make_room()
    if not c.allocate(for_all):
        raise MemoryError(f"unable to allocate {c.nbytes} bytes")
    return 0


cdef MemoryPool* _pool_of(Device ctx) except NULL:
    cdef CDevice d = (ctx or Device("cpu", 0)).c
    if not d.on_host() and store().make_pool is NULL:
        raise RuntimeError(f"{ctx!r} is not in use: la.gpu({d.id}) opens it")
    return store().pool(d)


def pool_stats(Device ctx=None):
    """What the memory pool of ``ctx`` (default ``cpu(0)``) holds: a dict, in bytes.

    ``in_use`` by live arrays, ``cached`` for reuse, the ``peak`` of ``in_use``, the ``limit``
    (0: none), and how many allocations were served from the cache (``hits``) or not (``misses``).

    Args:
        ctx: the device; None: ``cpu(0)``.
    Returns: a dict of ints.
    Raises: RuntimeError for a GPU that is not in use; TypeError for what is no device.

    >>> import lazyarray as la
    >>> sorted(la.storage.pool_stats())
    ['cached', 'hits', 'in_use', 'limit', 'misses', 'peak']
    """
    cdef PoolStats s = _pool_of(ctx).stats()
    return {"in_use": s.in_use, "cached": s.cached, "peak": s.peak, "limit": s.limit,
            "hits": s.hits, "misses": s.misses}


def trim(Device ctx=None):
    """Gives the cached memory of ``ctx`` back to the system, and what the C library keeps of NumPy's.

    Args:
        ctx: the device; None: ``cpu(0)``.
    Returns: None.
    Raises: RuntimeError for a GPU that is not in use; TypeError for what is no device.
    """
    cdef MemoryPool* pool = _pool_of(ctx)
    with nogil:  # it may wait for a device
        pool.trim()
        trim_heap()
    graveyard().sweep()

check_methods(globals())
