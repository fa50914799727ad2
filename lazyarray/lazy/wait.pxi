# Waits: what makes one, their report, no_sync.


cdef class _Place:
    """What the waits of one line for one purpose came to."""

    cdef str what
    cdef long long count, ns
    cdef bint merged  # into _elsewhere


cdef struct _Seen:
    uint32_t site
    PyObject* what
    PyObject* place


cdef dict _syncs = {}  # (site, what) -> _Place
# The places seen last, found without making a key. They borrow from _syncs, and are forgotten with it.
cdef _Seen _seen[256]


cdef int _MOST_PLACES = 10_000
cdef _Place _elsewhere = _Place.__new__(_Place)  # what the cheaper places came to when they got too many


cdef int _forget_cheapest() except -1:
    """Makes space: adds the cheaper half of the places to the one that stands for all others."""
    cdef _Place place
    items = sorted(_syncs.items(), key=lambda item: ((<_Place>item[1]).ns, (<_Place>item[1]).count))
    for key, found in items[:len(items) // 2]:
        place = found
        place.merged = True
        _elsewhere.count += place.count
        _elsewhere.ns += place.ns
        del _syncs[key]
    memset(_seen, 0, sizeof(_seen))
    return 0


cdef void _spend(_Place place, long long ns):
    """Counts the time that a wait took, at its end."""
    if place.merged:  # meanwhile, by another thread
        place = _elsewhere
    place.ns += ns


cdef _Place place_of(str what):
    """The place that waits now."""
    cdef uint32_t site = sites().here()
    cdef _Seen* s = &_seen[((<size_t><PyObject*>what >> 4) + site) % 256]
    if s.site == site and s.what == <PyObject*>what:
        return <_Place>s.place
    key = (site, what)
    cdef _Place place = _syncs.get(key)
    if place is None:
        if len(_syncs) >= _MOST_PLACES:
            _forget_cheapest()
        place = _syncs[key] = _Place.__new__(_Place)
        place.what = what
    s.site, s.what, s.place = site, <PyObject*>place.what, <PyObject*>place
    return place


cdef int no_sync_now() noexcept:
    """How many blocks of `no_sync` this thread is in."""
    return mode().no_sync


cdef int wait(Tensor x, bint everything, str what) except -1:
    """Waits for x's writers (or all uses) and raises what poisoned it.

    `what` names the sync for the report; a leading "?" marks one that the user may not see.
    """
    cdef Chunk* c = NULL
    _recorder.asked()
    if not x.v.alone():
        c = x.v.chunk
    # What an op launched on a device may be under way though the op is complete.
    cdef bint pending = c is not NULL \
        and (not (c.idle() if everything else c.readable()) or c.footprint.load() is not NULL)
    refuse_to_wait(what)
    if mode().no_sync and what[0] == "?":
        raise RuntimeError(
            f"{what[1:]} waits for the value of an array, inside la.no_sync(): "
            "wait explicitly (asnumpy, item, wait_to_read) or keep the computation in arrays"
        )
    cdef _Place place = place_of(what)
    cdef int64_t profiled
    place.count += 1
    if pending:
        profiled = _recorder.engine().now() if _recorder.engine().profiling() else 0
        start = time.perf_counter_ns()
        c.ref()  # another thread may resize x
        try:
            flush(False)
            _engine.wait_var(c, everything)
        finally:
            _spend(place, time.perf_counter_ns() - start)
            c.unref()
            if profiled:
                note_wait(_recorder.engine(), intern_name(what.lstrip("?").encode()), profiled)
    elif c is not NULL and c.error.load() is not NULL:
        graveyard().sweep()
        raise_error(_recorder.engine().error_of(c))
    if _recorder.executor.runtime.any_warning.load():
        give_warnings()
    return 0


cdef Tensor settled(Tensor x, bint lets_go):
    """``x``, which was waited for, or a copy of it on the host that no other thread can write to.

    Another thread may have pushed a write since the wait, and may push one while the caller lets
    go of the GIL (``lets_go``) as it reads. Not so inside an op that uses it: later writers wait for that op.
    """
    cdef CEngine* e = _recorder.engine()
    cdef bint away = not x.v.on_host()
    if x.v.alone() or not away and (e.holds(x.v.chunk) or x.v.chunk.readable() and not lets_go):
        return x
    cdef Tensor t = moved(x, cpu0()) if away else cast(x, x.v.dtype)
    cdef Chunk* copied = t.v.chunk
    cdef Status status
    interrupt = []
    cdef void* arg = <void*>interrupt
    flush(False)
    with nogil:
        status = e.wait(copied, False, poll_signals, arg)
    if status == SELF_WAIT and not away:  # whoever writes to it next waits for this op
        return x
    check_status(status, interrupt)
    _engine.wait_var(t.v.chunk, False)
    return t


def waitall():
    """Waits for everything pushed so far; raises the first error that no wait has raised yet.

    Returns: None.
    Raises: what an op raised, as its own type; RuntimeError inside an op.
    """
    refuse_to_wait("waitall")
    cdef _Place place = place_of("waitall")
    place.count += 1
    start = time.perf_counter_ns()
    try:
        flush(False)  # this thread helps
        _engine.wait_for_all()
    finally:
        _spend(place, time.perf_counter_ns() - start)
        if _recorder.executor.runtime.any_warning.load():
            give_warnings()


def sync_rows(bint reset=False):
    """The syncs so far: (file, line, function, what, count, nanoseconds), most time first.

    Places that were too many (the cheapest of over 10 000) are one row, of file "<elsewhere>".
    """
    global _elsewhere
    cdef dict sums = {}
    cdef _Place place
    if _elsewhere.count:
        sums["<elsewhere>", 0, "?", "other waits"] = (_elsewhere.count, _elsewhere.ns)
    for (site, what), found in _syncs.items():
        place = found
        line = <object>sites().place(site) if site else ("<unknown>", 0, "?")
        key = (*line, what.lstrip("?"))
        count, ns = sums.get(key, (0, 0))
        sums[key] = (count + place.count, ns + place.ns)
    if reset:
        memset(_seen, 0, sizeof(_seen))
        _syncs.clear()
        _elsewhere = _Place.__new__(_Place)
    return sorted([key + sum for key, sum in sums.items()], key=lambda r: (-r[5], -r[4]))


cdef class no_sync:
    """Within the block, a hidden wait (``if x:``, ``float(x)``, ``repr``, ``tolist``) raises.

    Explicit ones (``asnumpy``, ``item``, ``wait_to_read``) still work. Inside a ``try`` no operation
    waits for its errors: they come when the result is read. Per thread; nests.

    >>> import lazyarray as la
    >>> x = la.ones(3)
    >>> with la.no_sync():
    ...     float(x.sum())
    Traceback (most recent call last):
    RuntimeError: float() waits for the value of an array, inside la.no_sync(): wait explicitly (asnumpy, item, wait_to_read) or keep the computation in arrays
    """

    cdef Entered[int, OfSyncs] entered

    def __init__(self):
        pass  # and no arguments

    def __enter__(self):
        self.entered.enter(mode().no_sync)
        mode().no_sync = mode().no_sync + 1

    def __exit__(self, *exc):
        if not self.entered.leave(&mode().no_sync):
            raise RuntimeError("no_sync(): left more often than entered, in this thread")
