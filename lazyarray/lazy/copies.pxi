# Casts, copies, fills.


cdef object _codes = None  # whether an op on these dtypes is compiled: the compiled tier's


def teach_codes(codes):
    """``codes(name, dtypes)`` is asked when a kernel is made."""
    global _codes
    _codes = codes


cdef const char* code_of(str name, str dtypes) except? NULL:
    """A kernel's name for the compiled tier, or NULL. The dtypes by their characters, the output's last."""
    if _codes is None or not _codes(name, dtypes):
        return NULL
    return intern_name(name.encode())


cdef Kernel* _casts[32][32]
memset(_casts, 0, sizeof(_casts))


cdef Kernel* cast_kernel(int source, int target) except NULL:
    cdef Kernel* k = _casts[source][target]
    if k is NULL:
        k = new_kernel("copy" if source == target else "cast", ELEMENTWISE, 1, 1)
        k.fn = cast_loop(info(source).type_num, info(target).type_num)
        k.dtypes[0] = source
        k.dtypes[1] = target
        k.casts_range = cast_checks_range(info(source).type_num, info(target).type_num)
        k.checks_flags = (info(source).kind in b"fc" or info(target).code == b"e") and source != target
        k.long_double = source == target or info(source).size > 8 or info(target).code == b"e"
        k.any_order = True
        k.copies = source == target
        k.cost = cost_of_cast(source, target)
        k.code = code_of(k.name.decode(), chr(info(source).code) + chr(info(target).code))
        _casts[source][target] = k
    return k


cdef double cost_of_cast(int source, int target) noexcept:
    """Nanoseconds an element."""
    cdef char a = info(source).kind, b = info(target).kind
    cdef int size = max(info(source).size, info(target).size)
    if source == target:
        return 0.03 * size
    if size > 8 or a == b"c" or b == b"c" or info(source).code == b"e" or info(target).code == b"e":
        return 0.6
    if (a == b"f") != (b == b"f") and info(target if a == b"f" else source).size == 8:
        return 0.4  # integers of 64 bits: SSE has no instruction for several at once
    return 0.03 * size


cdef Tensor cast_now(const Kernel* k, Tensor x):
    """`cast` of a few elements in a row that are at hand; None for any other, and where a flag was raised."""
    cdef npy_intp n = x.v.layout.size()
    cdef char* args[2]
    cdef Tensor out
    if not lone_ops() or not x.v.near() or not x.v.layout.c_contiguous(x.v.itemsize()) \
            or n * max(x.v.itemsize(), info(k.dtypes[1]).size) > _recorder.policy.direct_bytes:
        return None
    out = empty_like_shape(k.dtypes[1], x.v.layout.ndim, x.v.layout.shape(), cpu0())
    if not out.v.chunk.allocate():
        return None
    args[0], args[1] = x.v.elements(), out.v.chunk.data
    if not run_cast(k[0], args, n):
        return None
    written_once(out.v.chunk)
    _recorder.inlined += 1
    return out


cdef Tensor cast(Tensor x, int dtype):
    """A new tensor with x's elements as `dtype`, in x's layout order."""
    cdef Kernel* k = cast_kernel(x.v.dtype, dtype)
    cdef Tensor out = cast_now(k, x)
    if out is not None:
        return out
    out = fresh(dtype, x.v.layout.size(), x.v.device())
    cdef const View* views[2]
    views[0] = &x.v
    views[1] = &out.v
    out.v.layout.resize(x.v.layout.ndim)
    if x.v.layout.ndim:
        memcpy(out.v.layout.shape(), x.v.layout.shape(), x.v.layout.ndim * sizeof(npy_intp))
    set_k_layout(out.v.layout, info(dtype).size, 1, views)
    emit_elementwise(_recorder.begin(k, 1, 1), &out.v.layout, views, True)
    return out


cdef bint covers_chunk(const View* v) noexcept:
    """Whether a write through the view overwrites the whole chunk."""
    cdef View* w = <View*>v
    return w.alone() or <size_t>(w.layout.size() * info(v.dtype).size) == w.chunk.nbytes \
        and not self_overlaps(w.layout) and nests(w.layout, info(v.dtype).size)


cdef tuple tuple_of_lengths(const npy_intp* n, int count):
    if count == 1:
        return (n[0],)
    if count == 2:
        return (n[0], n[1])
    if count == 3:
        return (n[0], n[1], n[2])
    return tuple([n[i] for i in range(count)])


cdef tuple shape_tuple(const View* v):
    cdef View* w = <View*>v
    return tuple_of_lengths(w.layout.shape(), w.layout.ndim)


cpdef str shape_text(shape):
    """As NumPy's errors write a shape: without spaces."""
    return f"({','.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


cdef int assign(Tensor to, Tensor value) except -1:
    """``to[...] = value``: broadcasts, casts as NumPy's assignment does, and allows overlap."""
    same_device(to, value)
    return copy_into(to, value)


cdef Kernel* _transfers[32]
memset(_transfers, 0, sizeof(_transfers))


cdef bint only_transferred(CDevice a, CDevice b) noexcept:
    """Whether only a transfer brings values from the one to the other: one is out of the host's reach."""
    return not (a == b) and not (a.on_host() and b.on_host())


cdef Tensor compact(Tensor x):
    """``x``, or a copy of it, whose elements lie together in K order."""
    cdef const View* views[1]
    cdef Layout whole
    cdef int i
    views[0] = &x.v
    whole.resize(x.v.layout.ndim)
    for i in range(whole.ndim):
        whole.shape()[i] = x.v.layout.shape()[i]
    set_k_layout(whole, x.v.itemsize(), 1, views)
    for i in range(whole.ndim):
        if whole.shape()[i] > 1 and whole.strides()[i] != x.v.layout.strides()[i]:
            return cast(x, x.v.dtype)
    return x


cdef int emit_transfer(Tensor to, Tensor x, bint overwrites) except -1:
    """Moves the bytes of ``x`` to ``to``, both compact and laid out alike, on another device."""
    cdef int d = x.v.dtype
    cdef Kernel* k = _transfers[d]
    if k is NULL:
        k = _transfers[d] = new_kernel("copyto", TRANSFER, 1, 1)
        k.dtypes[0] = k.dtypes[1] = d
    cdef int i, n = x.v.layout.ndim
    cdef Instr* instr = _recorder.begin(k, 1, 1)
    instr.set_ndim(n)
    for i in range(n):
        instr.shape()[i] = x.v.layout.shape()[i]
        instr.strides(0)[i] = x.v.layout.strides()[i]
        instr.strides(1)[i] = to.v.layout.strides()[i]
    set_operand(instr, 0, &x.v)
    set_operand(instr, 1, &to.v)
    instr.overwrites = overwrites
    instr.bytes = x.v.layout.size() * info(d).size
    instr.cost_ns = 20000 + 0.1 * instr.bytes
    return emit(instr)


cdef Tensor moved(Tensor x, CDevice device):
    """A copy of ``x`` on another device, in x's layout order."""
    cdef Tensor t
    cdef int i
    t = compact(x)
    cdef Tensor to = fresh(x.v.dtype, t.v.layout.size(), device)
    to.v.layout = t.v.layout
    to.v.layout.offset = 0
    emit_transfer(to, t, True)  # of nothing, too: who waits for it waits for x
    return to


cdef int copy_into(Tensor to, Tensor value) except -1:
    """``assign``, also from one device to another: runs where ``to`` is."""
    cdef Tensor near
    if only_transferred(to.v.device(), value.v.device()):
        if to.v.readonly:
            raise ValueError("assignment destination is read-only")
        if not holds(to.v.device(), value.v.dtype):
            value = cast(value, to.v.dtype)
        near = compact(value)
        if to.v.dtype == near.v.dtype and to.v.layout.same_shape(near.v.layout) \
                and same_steps(&to.v.layout, &near.v.layout):
            if near.v.layout.size() or recording():
                emit_transfer(to, near, covers_chunk(&to.v))
            return 0
        return copy_here(to, moved(near, to.v.device()))
    return copy_here(to, value)


cdef bint same_steps(Layout* a, Layout* b) noexcept:
    cdef int i
    for i in range(a.ndim):
        if a.shape()[i] > 1 and a.strides()[i] != b.strides()[i]:
            return False
    return True


cdef extern from *:
    """
    // As a gufunc's: bytes (n), which may be among those that they are moved to (n).
    static void move_loop(char** args, const npy_intp* dims, const npy_intp*, void*) {
      std::memmove(args[1], args[0], dims[1]);
    }
    """
    void move_loop(char**, const npy_intp*, const npy_intp*, void*) noexcept nogil


cdef Kernel* _moves[32]
memset(_moves, 0, sizeof(_moves))


cdef bint moves(Tensor to, Tensor value) noexcept:
    """Whether ``to[...] = value`` moves one run of bytes within an array of the host."""
    cdef npy_intp size = value.v.itemsize()
    return to.v.dtype == value.v.dtype and to.v.layout.same_shape(value.v.layout) \
        and to.v.layout.c_contiguous(size) and value.v.layout.c_contiguous(size) \
        and to.v.chunk.plain() and not capturing() and not recording()


cdef int emit_move(Tensor to, Tensor value) except -1:
    cdef int d = to.v.dtype
    cdef Kernel* k = _moves[d]
    if k is NULL:
        k = _moves[d] = new_kernel("copyto", GUFUNC, 1, 1)
        k.fn = move_loop
        k.dtypes[0] = k.dtypes[1] = d
    cdef Instr* instr = _recorder.begin(k, 1, 1)
    set_operand(instr, 0, &value.v)
    set_operand(instr, 1, &to.v)
    instr.set_ndim(0)
    instr.ncore = 1
    instr.core[0] = instr.bytes = to.v.layout.size() * info(d).size
    instr.ncore_steps = 0
    instr.cost_ns = 30 + 0.05 * instr.bytes
    return emit(instr)


cdef int copy_here(Tensor to, Tensor value) except -1:
    cdef Layout* a = &to.v.layout
    cdef Layout* b = &value.v.layout
    cdef int extra = b.ndim - a.ndim
    cdef int i
    cdef bint fits = True
    if to.v.readonly:
        raise ValueError("assignment destination is read-only")
    for i in range(b.ndim):
        if i < extra:
            fits = fits and b.shape()[i] == 1
        else:
            fits = fits and (b.shape()[i] == 1 or b.shape()[i] == a.shape()[i - extra])
    if not fits:
        raise ValueError(
            f"could not broadcast input array from shape {shape_text(shape_tuple(&value.v))} "
            f"into shape {shape_text(shape_tuple(&to.v))}"
        )
    if a.size() == 0 and not recording():  # the tape wants to know what nothing was made of, too
        return 0
    if to.v.same_memory(value.v):
        if to.v.dtype == value.v.dtype and to.v.same_view(value.v):
            return 0
        if to.v.may_overlap(value.v):
            if moves(to, value):
                return emit_move(to, value)
            value = cast(value, value.v.dtype)  # the right-hand side as it is before the write
            b = &value.v.layout
    cdef Tensor whole = value  # keeps what b points to, also where it is the copy made above
    if extra > 0:  # leading axes of length one
        value = view_of(value)
        value.v.layout.resize(a.ndim)
        for i in range(a.ndim):
            value.v.layout.shape()[i] = b.shape()[i + extra]
            value.v.layout.strides()[i] = b.strides()[i + extra]
    cdef Tensor target = to
    if not nests(a[0], to.v.itemsize()):
        target, value = in_writing_order(to, value)
    cdef const View* views[2]
    views[0] = &value.v
    views[1] = &target.v
    emit_elementwise(_recorder.begin(cast_kernel(value.v.dtype, to.v.dtype), 1, 1), &target.v.layout, views,
                     covers_chunk(&to.v))
    return 0


cdef tuple in_writing_order(Tensor to, Tensor value):
    """Of a target whose elements may meet a view, and a copy of the value, whose C order is the one that NumPy writes in.

    Of what is written to one place the last stays. NumPy goes along ascending addresses, the longest steps outermost.
    """
    cdef const Layout* ours = &to.v.layout
    cdef const Layout* theirs = &value.v.layout
    cdef int n = ours.ndim, missing = n - theirs.ndim, i, k
    cdef int axes[kMaxDims]
    cdef Tensor target = view_of(to), source = view_of(value), copied
    cdef npy_intp length, step, from_step
    target.v.layout.resize(n)
    source.v.layout.resize(n)
    for i in range(n):
        k = i
        while k and abs(ours.strides()[axes[k - 1]]) < abs(ours.strides()[i]):
            axes[k] = axes[k - 1]
            k -= 1
        axes[k] = i
    for i in range(n):
        k = axes[i]
        length, step = ours.shape()[k], ours.strides()[k]
        from_step = theirs.strides()[k - missing] if k >= missing and theirs.shape()[k - missing] > 1 else 0
        if step < 0:
            target.v.layout.offset += step * (length - 1)
            source.v.layout.offset += from_step * (length - 1)
            step, from_step = -step, -from_step
        target.v.layout.shape()[i] = source.v.layout.shape()[i] = length
        target.v.layout.strides()[i], source.v.layout.strides()[i] = step, from_step
    copied = empty_like_shape(value.v.dtype, n, source.v.layout.shape(), value.v.device())
    copy_here(copied, source)
    return target, copied


cdef int fill(Tensor to, object value) except -1:
    """``to[...] = value`` for a Python or NumPy scalar."""
    cdef Kernel* k = cast_kernel(to.v.dtype, to.v.dtype)
    cdef Instr* instr = _recorder.begin(k, 1, 1)
    cdef const View* views[2]
    views[0] = NULL
    views[1] = &to.v
    try:
        put_scalar(instr.constants[0], value, to.v.dtype)
    except BaseException:
        _recorder.give_back(instr)
        raise
    cdef bint whole = covers_chunk(&to.v)
    instr.zeros = whole and to.v.chunk.nbytes >= kMapped and to.v.chunk.issued == 0 \
        and to.v.chunk.plain() and not capturing() and all_zero(instr.constants[0], info(to.v.dtype).size)
    emit_elementwise(instr, &to.v.layout, views, whole)
    return 0


cdef bint all_zero(const char* p, int n) noexcept:
    cdef int i
    for i in range(n):
        if p[i]:
            return False
    return True


_all_raises = contextvars.Context()
_all_raises.run(np.seterr, all="raise")


cdef CError* _recast(Instr& instr, const Block& block, cbool* invalid) noexcept nogil:
    adopt_worker_thread()
    with gil:
        try:
            arrays = []
            for k in range(2):
                d = _dtypes[instr.kernel.dtypes[k]]
                Py_INCREF(d)
                arrays.append(PyArray_NewFromDescr(
                    &PyArray_Type, d, block.ndim, <npy_intp*>block.shape, <npy_intp*>block.strides[k],
                    block.ptrs[k], NPY_ARRAY_WRITEABLE, None))
            if arrays[1].dtype.char != "I":  # where the real parts alone, which no warning is told of, give other values
                arrays[0] = arrays[0].real
            try:
                # Judged once the whole copy is made. Nothing of Python's runs here: a signal handler that raises
                # could leave the state set, and be taken for the copy's error.
                _all_raises.copy().run(operator.setitem, arrays[1], ..., arrays[0])
            except FloatingPointError:
                invalid[0] = True
            return NULL
        except BaseException as exc:
            return error_from_exception(exc, instr.kernel.name, instr.site)
