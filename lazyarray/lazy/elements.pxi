# Single elements: read, written and computed at once, without an instruction.
#
# A loop over single elements costs what its bookkeeping costs. Where everything is complete and plain
# (see `at_hand`), the effect of an instruction run inline is a few bytes moved and a version counted;
# whatever is not plain (pending, failed, another device, floating-point flags) goes the long way.


cdef bint lone_ops() noexcept:
    """Whether instructions may run in the caller's thread now, in the engine's usual way, unseen."""
    return _recorder.policy.inline_ns > _LONE_NS and not _recorder.engine().stopped() \
        and _recorder.engine().policy() != NAIVE and not recording() and not capturing() \
        and not _recorder.engine().profiling()


cdef enum:
    _LONE_NS = 100


cdef extern from "lazy/spares.h" namespace "lazyarray":
    cdef cppclass Spares:
        int n
        void miss()
    Spares spares
    object spare_scalar(int)
    destructor take_over(PyTypeObject*, Py_ssize_t, PyTypeObject**)


cdef destructor keeping_spares(type t) except NULL:
    """Has the type keep scalars that died; its dealloc."""
    cdef Tensor like = blank_tensor(D_F8)
    cdef char* p = <char*><PyObject*>like
    cdef destructor found = take_over(<PyTypeObject*>t, <char*>&like.v - p, _scalar_types)
    if found is NULL:
        raise SystemError(f"{t.__name__} has a dealloc of its own, or lies otherwise in memory")
    return found


cdef Tensor new_element(int dtype, CDevice device):
    """A scalar that is written already, by the caller."""
    cdef Tensor t
    cdef Chunk* c
    _recorder.inlined += 1
    if not (device == cpu0()):
        t = blank_tensor(dtype)
        c = _recorder.store().create(info(dtype).size, device)
        c.adopt_handle()
        written_once(c)
        t.v.set_chunk(c)
    elif spares.n:
        return <Tensor>spare_scalar(dtype)
    else:
        spares.miss()
        t = blank_tensor(dtype)
        t.v.stand_alone()
    seal(t)
    return t


cdef Tensor _true = None, _false = None


cdef Tensor truth(bint value):
    """One of the two scalars that comparisons on the host give, as NumPy's ``True_`` and ``False_``."""
    global _true, _false
    cdef Tensor t = _true if value else _false
    # Not if somebody has made another array of it: NDArray's setters and __init__ are open to all.
    if t is not None and t.v.at_hand() and not t.v.layout.ndim and t.v.dtype == D_BOOL \
            and t.v.elements()[0] == value:
        return t
    t = new_element(D_BOOL, cpu0())
    t.v.elements()[0] = value
    if value:
        _true = t
    else:
        _false = t
    return t


cdef Tensor get_element(Tensor x, npy_intp offset):
    """A copy of the element at `offset` of the chunk, or None if it isn't at hand."""
    global _late_reads
    cdef Chunk* c = x.v.chunk
    if not at_hand(c, False) or not lone_ops():
        return None
    _late_reads = 0
    _recorder.asked()
    if x.v.dtype == D_BOOL and c.device == cpu0():
        return truth(c.data[offset])
    cdef Tensor t = new_element(x.v.dtype, c.device)
    if info(x.v.dtype).size == 8:
        memcpy(t.v.elements(), c.data + offset, 8)
    else:
        memcpy(t.v.elements(), c.data + offset, info(x.v.dtype).size)
    return t


cdef int _late_reads = 0  # elements in a row that were not there when they were read


cdef cbool _poll_once(void* arg) noexcept nogil:
    poll_signals(arg)
    return False


cdef bint caught_up(Tensor x, bint all_of_it) except -1:
    """Waits for ``x``, of which an element is read that isn't there, if it's the last of many such reads in a row,
    or the first of many, as ``all_of_it`` is read.

    Each would be an instruction, at several times the price of a read, for as long as x is pending (which takes
    long if its writer needs the GIL); and a program that reads so many reads on. Whether it waited: then other
    code may have run, and given x another shape. An error of x's comes where the element is used, as ever.

    The writer may wait for the reader, who has no reason to expect a wait here. So it's given up after the first
    slice of 50 ms, and the next thousands of reads are recorded.
    """
    global _late_reads
    cdef CEngine* e = _recorder.engine()
    cdef Chunk* c = x.v.chunk
    cdef Status status
    if c.readable() or not c.plain() or e.policy() == NAIVE or e.stopped() or recording() or capturing() \
            or no_sync_now() or bulk_is_explicit() or e.current() is not NULL:
        return False
    cdef int most = _recorder.policy.late_reads
    if all_of_it:
        if x.v.layout.shape()[0] < most:
            return False
    else:
        _late_reads += 1
        if _late_reads < most:
            return False
    _late_reads = 0
    cdef _Place place = place_of("elements read one by one")
    cdef int64_t profiled = e.now() if e.profiling() else 0
    place.count += 1
    start = time.perf_counter_ns()
    interrupt = []
    cdef void* arg = <void*>interrupt
    c.ref()  # another thread may resize x
    try:
        flush(False)
        with nogil:
            status = e.wait(c, False, _poll_once, arg)
    finally:
        _spend(place, time.perf_counter_ns() - start)
        c.unref()
        if profiled:
            note_wait(e, "elements read one by one", profiled)
    if status == INTERRUPTED and not interrupt:
        _late_reads = -_recorder.policy.given_up
    else:
        check_status(status, interrupt)
    return True


cdef bint is_known(Tensor x) noexcept:
    """Whether ``x`` is a number that was computed at the call: to read it is no wait."""
    return (x.v.alone() or lazy(x.v.chunk).at_once and x.v.at_hand()) and is_scalar(x) and not no_sync_now() \
        and not capturing() and not _recorder.executor.runtime.any_warning.load()


cdef bint set_element(Tensor x, npy_intp offset, object value) except -1:
    """Writes a number or a 0-d tensor to the element at `offset`; false if that isn't plain."""
    cdef Chunk* c = x.v.chunk
    cdef Tensor t
    if not at_hand(c, True) or x.v.readonly or not lone_ops():
        return False
    if is_tensor(value):
        t = <Tensor>value
        if t.v.layout.ndim or not t.v.at_hand() or not (t.v.device() == c.device) \
                or t.v.elements() == c.data + offset:
            return False
        if t.v.dtype == x.v.dtype:
            memmove(c.data + offset, t.v.elements(), info(x.v.dtype).size)
        elif not is_scalar(t) or not put_element(c.data + offset, t, x.v.dtype):
            return False
    elif not put_number(c.data + offset, value, x.v.dtype) and not put_large(c.data + offset, value, x.v.dtype):
        return False
    c.version.fetch_add(1)
    issue(c, 1)
    _recorder.inlined += 1
    return True


cdef Tensor lone_op(const Kernel* k, object a, object b, Tensor out):
    """An elementwise kernel on one element of each operand, or None if that isn't plain.

    The operands are 0-d tensors or numbers, `b` None for an op of one input; with `out`, a 0-d tensor
    of the kernel's dtype, the result is written there.
    """
    cdef CDevice device
    cdef long double constants[3][2]  # 32 bytes each, aligned
    cdef char* args[3]
    cdef npy_intp one = 1
    cdef npy_intp[2] none = [0, 0]
    cdef int i, nin = k.nin, dtype
    cdef Tensor t, result
    cdef Tensor first = None
    cdef char* cast_args[2]
    if k.check is not NULL or k.cost > 50 or not lone_ops():
        return None
    for i in range(nin):
        o = b if i else a
        dtype = k.dtypes[i]
        if is_tensor(o):
            t = <Tensor>o
            if t.v.layout.ndim or not t.v.at_hand():
                return None
            args[i] = t.v.elements()
            if first is None:
                first = t
            elif not (t.v.device() == first.v.device()):
                return None
            if t.v.dtype != dtype:
                if info(t.v.dtype).kind in b"fc" and info(dtype).kind in b"iu":
                    return None  # its flags would be the kernel's
                cast_args[0] = args[i]
                cast_args[1] = <char*>constants[i]
                cast_loop(info(t.v.dtype).type_num, info(dtype).type_num)(cast_args, &one, none,
                                                                          NULL)
                args[i] = <char*>constants[i]
        elif put_number(<char*>constants[i], o, dtype):
            args[i] = <char*>constants[i]
        else:
            return None
    device = first.v.device() if first is not None else current_device()
    if first is None and not (device == cpu0()):
        return None
    dtype = k.dtypes[nin]
    if out is None and dtype == D_BOOL and device == cpu0():
        args[nin] = <char*>constants[2]
        if heeds(run_element(k[0], args)):
            return None  # done again, and judged, on the long way
        return truth((<char*>constants[2])[0])
    if out is None:
        result = new_element(dtype, device)
        args[nin] = result.v.elements()
        return None if heeds(run_element(k[0], args)) else result
    # Complex numbers written in place have other last bits: see set_space.
    if out.v.readonly or out.v.dtype != dtype or info(dtype).kind == b"c" or not at_hand(out.v.chunk, True) \
            or not (out.v.device() == device):
        return None
    args[nin] = <char*>constants[2]
    if heeds(run_element(k[0], args)):
        return None
    memcpy(out.v.elements(), <char*>constants[2], info(dtype).size)
    out.v.chunk.version.fetch_add(1)
    issue(out.v.chunk, 1)
    _recorder.inlined += 1
    return out


cdef bint index_of(object k, npy_intp* i) noexcept:
    """The value of an integer that is at hand: Python's, or that of an array without axes."""
    cdef int overflow = 0
    cdef Tensor t
    if type(k) is int:
        i[0] = PyLong_AsLongAndOverflow(k, &overflow)
        return not overflow
    if not is_tensor(k):
        return False
    t = <Tensor>k
    if t.v.layout.ndim or info(t.v.dtype).kind not in b"iu" or not t.v.at_hand() or capturing():
        return False
    i[0] = whole_at(t.v.elements(), info(t.v.dtype).size, info(t.v.dtype).kind == b"i")
    return i[0] >= 0 or info(t.v.dtype).kind == b"i"


cdef bint known_integer(object o, npy_intp* value) noexcept:
    """Whether it is an integer, of Python or one that was computed at the call, which is no wait; its value."""
    return (type(o) is int or is_tensor(o) and is_known(<Tensor>o)) and index_of(o, value)
