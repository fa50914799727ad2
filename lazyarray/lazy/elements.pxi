# Single elements: read, written and computed at once, without an instruction.
#
# A loop over single elements costs what its bookkeeping costs. Where everything is complete and plain
# (see `at_hand`), the effect of an instruction run inline is a few bytes moved and a version counted;
# whatever is not plain (pending, failed, another device, floating-point flags) goes the long way.


cdef inline bint at_hand(Chunk* c, bint write) noexcept:
    """Whether the memory can be read (or written) now, with nothing to be told to anybody."""
    return c.data is not NULL and (c.idle() if write else c.readable()) and c.plain() \
        and c.error.load() is NULL and not c.deleted.load()


cdef inline bint lone_ops() noexcept:
    """Whether instructions may run in the caller's thread now, in the engine's usual way, unseen."""
    return _recorder.policy.inline_ns > _LONE_NS and not _recorder.engine().stopped() \
        and _recorder.engine().policy() != NAIVE and not recording() and not capturing() \
        and not _recorder.engine().tracing()


cdef enum:
    _LONE_NS = 100


cdef inline Tensor new_element(int dtype, CDevice device):
    """A scalar that is written already, by the caller."""
    cdef Tensor t = blank_tensor(dtype)
    seal(t)
    cdef Chunk* c = _recorder.store().create(info(dtype).size, device)
    c.adopt_handle()
    c.written_once()
    t.v.chunk = t.handle.chunk = c
    _recorder.inlined += 1
    return t


cdef Tensor get_element(Tensor x, npy_intp offset):
    """A copy of the element at `offset` of the chunk, or None if it isn't at hand."""
    cdef Chunk* c = x.v.chunk
    if not at_hand(c, False) or not lone_ops():
        return None
    cdef Tensor t = new_element(x.v.dtype, c.device)
    memcpy(t.v.chunk.data, c.data + offset, info(x.v.dtype).size)
    return t


cdef bint set_element(Tensor x, npy_intp offset, object value) except -1:
    """Writes a number or a 0-d tensor to the element at `offset`; false if that isn't plain."""
    cdef Chunk* c = x.v.chunk
    cdef Tensor t
    if not at_hand(c, True) or x.v.readonly or not lone_ops():
        return False
    if is_tensor(value):
        t = <Tensor>value
        if t.v.dtype != x.v.dtype or t.v.layout.ndim or not at_hand(t.v.chunk, False) \
                or not (t.v.chunk.device == c.device) \
                or t.v.chunk == c and t.v.layout.offset == offset:
            return False
        memmove(c.data + offset, t.v.chunk.data + t.v.layout.offset, info(x.v.dtype).size)
    elif not put_number(c.data + offset, value, x.v.dtype):
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
    cdef long double constants[3][2]  # 32 bytes each, aligned
    cdef char* args[3]
    cdef npy_intp steps[3]
    cdef npy_intp one = 1
    cdef npy_intp[2] none = [0, 0]
    cdef int i, nin = k.nin, dtype
    cdef Tensor t, result
    cdef Tensor first = None
    cdef char* cast_args[2]
    if k.int_power or k.cost > 50 or not lone_ops():
        return None
    for i in range(nin):
        o = b if i else a
        dtype = k.dtypes[i]
        steps[i] = 0
        if is_tensor(o):
            t = <Tensor>o
            if t.v.layout.ndim or not at_hand(t.v.chunk, False):
                return None
            args[i] = t.v.chunk.data + t.v.layout.offset
            if first is None:
                first = t
            elif not (t.v.chunk.device == first.v.chunk.device):
                return None
            if t.v.dtype != dtype:
                if cast_checks_range(info(t.v.dtype).type_num, info(dtype).type_num):
                    return None
                cast_args[0] = args[i]
                cast_args[1] = <char*>constants[i]
                cast_loop(info(t.v.dtype).type_num, info(dtype).type_num)(cast_args, &one, none,
                                                                          NULL)
                args[i] = <char*>constants[i]
        elif put_number(<char*>constants[i], o, dtype):
            args[i] = <char*>constants[i]
        else:
            return None
    dtype = k.dtypes[nin]
    steps[nin] = info(dtype).size
    if out is None:
        result = new_element(dtype, first.v.chunk.device)
        args[nin] = result.v.chunk.data
        k.fn(args, &one, steps, k.data)
        if k.checks_flags and take_flags(k.long_double):
            return None  # raised again, and judged, on the long way
        return result
    if out.v.readonly or out.v.dtype != dtype or not at_hand(out.v.chunk, True) \
            or not (out.v.chunk.device == first.v.chunk.device):
        return None
    args[nin] = <char*>constants[2]
    k.fn(args, &one, steps, k.data)
    if k.checks_flags and take_flags(k.long_double):
        return None
    memcpy(out.v.chunk.data + out.v.layout.offset, <char*>constants[2], info(dtype).size)
    out.v.chunk.version.fetch_add(1)
    issue(out.v.chunk, 1)
    _recorder.inlined += 1
    return out
