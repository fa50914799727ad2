# gather: elements picked by integer indices along one axis, off the GIL; and its gradient, scatter.


cdef extern from "lazy/cpu/scatter.h" namespace "lazyarray" nogil:
    Loop scatter_of(char)


cdef extern from "lazy/cpu/gather.h" namespace "lazyarray" nogil:
    void repeat_places(const npy_intp*, npy_intp, npy_intp*, npy_intp)


cdef object _WHOLE = slice(None)
cdef Kernel* _gather_kernels[2][32]


cdef Kernel* gather_kernel(int code, bint adds) except NULL:
    """The kernel of `gather` for a dtype, or of `scatter`."""
    cdef Kernel* k = _gather_kernels[adds][code]
    if k is NULL:
        k = _gather_kernels[adds][code] = new_kernel("scatter" if adds else "take", GUFUNC, 2, 1)
        if adds:
            k.fn = scatter_of(info(code).code)
        k.gathers = not adds
        if adds:
            k.check = out_of_bounds
        k.dtypes[0] = k.dtypes[2] = code
        k.dtypes[1] = D_IL
    return k


cdef Instr* over_blocks(Kernel* k, Tensor x, Tensor index, Tensor out, Layout* lengths, int axis,
                        int named):
    """An instruction that reads or adds blocks: `lengths` has the axis that is indexed."""
    cdef Instr* instr = recorder().begin(k, 2, 1)
    cdef npy_intp block = info(k.dtypes[0]).size
    cdef int i
    for i in range(axis + 1, lengths.ndim):
        block *= lengths.shape()[i]
    set_operand(instr, 0, &x.v)
    set_operand(instr, 1, &index.v)
    set_operand(instr, 2, &out.v)
    instr.set_ndim(axis)
    for i in range(axis):
        instr.shape()[i] = lengths.shape()[i]
        instr.strides(0)[i] = x.v.layout.strides()[i]
        instr.strides(1)[i] = 0
        instr.strides(2)[i] = out.v.layout.strides()[i]
    instr.ncore = 4
    instr.core[0] = lengths.shape()[axis]
    instr.core[1] = index.v.layout.size()
    instr.core[2] = block
    instr.core[3] = named
    instr.ncore_steps = 2
    instr.core_steps[0] = lengths.strides()[axis]
    instr.core_steps[1] = block if k.gathers else sizeof(npy_intp)
    instr.overwrites = 1
    instr.bytes = out.v.chunk.nbytes
    instr.cost_ns = 50 + index.v.layout.size() * 1.5 + 0.15 * instr.bytes
    return instr


cdef Kernel* _picks[2][32]
memset(_picks, 0, sizeof(_picks))


cdef Kernel* pick_kernel(int code, int axes) except NULL:
    cdef Kernel* k = _picks[axes - 1][code]
    cdef int i
    if k is NULL:
        k = new_kernel("take", PICK, 1 + axes, 1)
        k.gathers = True
        for i in range(axes):
            k.dtypes[1 + i] = D_IL
        k.dtypes[0] = k.dtypes[1 + axes] = code
        _picks[axes - 1][code] = k
    return k


cdef Instr* as_pick(Instr* instr, int code, bint on_host) except NULL:
    """The gather as an instruction of passes, if it moves single elements by the indices of one axis or two."""
    cdef int i, axes = instr.nin - 1
    if not on_host or instr.ndim or axes > 2 or instr.core[2] != info(code).size or not instr.core[1] \
            or capturing() or recording():
        return instr
    instr.kernel = pick_kernel(code, axes)
    instr.set_ndim(1)
    instr.shape()[0] = instr.core[1]
    for i in range(instr.nop):
        instr.strides(i)[0] = 0 if i == 0 else sizeof(npy_intp) if i < instr.nin else instr.core[2]
    return instr


cdef Tensor gather(Tensor x, Tensor index, int axis, int named):
    """``take(x, index, axis)``, in C order: whose lengths are x's, with index's in the axis's place.

    None if x's blocks behind the axis aren't contiguous, or the indices are no integers.
    An index out of bounds is the result's IndexError, which calls the axis `named`.
    """
    cdef Layout* l = &x.v.layout
    cdef npy_intp shape[2 * kMaxDims]
    cdef npy_intp block = x.v.itemsize()
    cdef int i, n = 0, many = index.v.layout.ndim
    cdef char kind = info(index.v.dtype).kind
    if kind != b"i" and kind != b"u" or info(index.v.dtype).type_num == cnp.NPY_ULONG \
            or l.ndim - 1 + many > kMaxDims:
        return None
    for i in range(axis):
        if l.shape()[i] == 0:  # nothing is looked up, not even an index out of bounds
            return None
    for i in range(l.ndim - 1, axis, -1):
        if l.shape()[i] != 1 and l.strides()[i] != block:
            return None
        block *= l.shape()[i]
    same_device(x, index)
    if not contiguous(index) or index.v.dtype != D_IL:
        index = cast_c(index, D_IL)
    for i in range(l.ndim):
        if i != axis:
            shape[n] = l.shape()[i]
            n += 1
            continue
        memcpy(&shape[n], index.v.layout.shape(), many * sizeof(npy_intp))
        n += many
    cdef Tensor out = empty_like_shape(x.v.dtype, n, shape, x.v.device())
    if out.v.layout.size() == 0 and index.v.layout.size() == 0:
        _note_gather(x, index, out, axis)
        return out
    cdef Kernel* k = gather_kernel(x.v.dtype, False)
    if recording() and wants_gradient(x):
        with paused():
            emit(over_blocks(k, x, index, out, l, axis, named))
        _note_gather(x, index, out, axis)
    else:
        emit(as_pick(over_blocks(k, x, index, out, l, axis, named), x.v.dtype, x.v.on_host()))
    return returned(out)


def _note_gather(x, index, out, axis):
    shape = x.shape

    def rule(gradients, saved):
        return [scatter(gradients[0], saved[0], axis, shape)]

    note_call("take", rule, [x], [out], [index])


def scatter(Tensor g not None, Tensor index not None, int axis, tuple shape):
    """Zeros of ``shape``, to which g's entries along ``axis`` are added where ``index`` says.

    g has index's axes in the axis's place, as `gather` gives them. What has one index is added in
    the order of the indices.
    """
    cdef int code = g.v.dtype
    cdef Tensor out = make(shape, np_dtype(code), g.v.device())
    cdef Kernel* k
    if scatter_of(info(code).code) is NULL:  # halves: sums are kept in single precision
        return cast(scatter(cast(g, D_F4), index, axis, shape), code)
    if not contiguous(g):
        g = cast_c(g, code)
    if not contiguous(index) or index.v.dtype != D_IL:
        index = cast_c(index, D_IL)
    if out.v.layout.size() == 0:
        return out
    k = gather_kernel(code, True)
    # The instruction's own view of g: index's axes are one.
    cdef Layout* l = &out.v.layout
    cdef Tensor blocks = view_of(g)
    cdef npy_intp step = index.v.layout.size()
    cdef int i
    for i in range(axis, l.ndim):
        step *= l.shape()[i] if i > axis else 1
    blocks.v.layout.resize(axis)
    blocks.v.layout.offset = g.v.layout.offset
    step *= g.v.itemsize()
    for i in range(axis - 1, -1, -1):
        blocks.v.layout.shape()[i] = l.shape()[i]
        blocks.v.layout.strides()[i] = step
        step *= l.shape()[i]
    if recording() and wants_gradient(g):
        with paused():
            emit(over_blocks(k, blocks, index, out, l, axis, axis))
        _note_scatter(g, index, out, axis)
    else:
        emit(over_blocks(k, blocks, index, out, l, axis, axis))
    return out


def _note_scatter(g, index, out, axis):
    def rule(gradients, saved):
        cdef Tensor t = gradients[0]
        return [gather(t if contiguous(t) else cast_c(t, t.v.dtype), saved[0], axis, axis)]

    note_call("scatter", rule, [g], [out], [index])


cdef Tensor host_index(object index, npy_intp n, int axis, CDevice device):
    """A NumPy integer array as indices, in its order in memory; IndexError at once if one is out of bounds."""
    cdef cnp.ndarray a = index
    if a.dtype.kind not in "iu" or a.dtype.char in "LQ":
        return None
    if a.dtype != np.intp or not (cnp.PyArray_ISCARRAY_RO(a) or cnp.PyArray_ISFARRAY_RO(a)):
        a = np.array(a, np.intp)
    cdef npy_intp* p = <npy_intp*>cnp.PyArray_DATA(a)
    cdef npy_intp i
    for i in range(cnp.PyArray_SIZE(a)):
        if p[i] < -n or p[i] >= n:
            raise IndexError(f"index {p[i]} is out of bounds for axis {axis} with size {n}")
    return from_numpy(a, device)


def take_along(Tensor x not None, index, int axis):
    """`gather` for an NDArray or a NumPy array of indices; None where NumPy must do it."""
    cdef int i
    for i in range(axis):
        if x.v.layout.shape()[i] == 0:
            return None
    if not isinstance(index, Tensor):
        index = host_index(index, x.v.layout.shape()[axis], axis, x.v.device())
        if index is None:
            return None
    return gather(x, index, axis, axis)


def places_repeated(cnp.ndarray counts not None, npy_intp total, Device device not None):
    """Where the elements of `repeat` come from: each place as often as its count says, of ``total`` in all."""
    cdef bint near = device.c.on_host()
    cdef Tensor places = in_memory(empty_like_shape(D_IL, 1, &total, device.c if near else cpu0()))
    counts = np.ascontiguousarray(counts, np.intp)
    repeat_places(<npy_intp*>cnp.PyArray_DATA(counts), cnp.PyArray_SIZE(counts), <npy_intp*>places.v.elements(), total)
    written(places)
    return places if near else moved(places, device.c)


cdef enum:
    _FEW_PICKED = 16


cdef int few_indices(Tensor index, npy_intp n, npy_intp* at) except -1:
    """How many indices of an axis of ``n``, which are there, from 0 on; 0 if they are many, or may be wrong."""
    cdef int count, i
    if index.v.dtype != D_IL or index.v.layout.ndim != 1 or index.v.layout.shape()[0] > _FEW_PICKED \
            or not index.v.at_hand() or not contiguous(index) or not index.v.on_host():
        return 0
    count = <int>index.v.layout.shape()[0]
    memcpy(at, index.v.elements(), count * sizeof(npy_intp))
    for i in range(count):
        if not -n <= at[i] < n:
            return 0
        at[i] += n if at[i] < 0 else 0
    return count


cdef Tensor index_outermost(Tensor x, int n, const npy_intp* shape, int axis, int many):
    """A new array of x's dtype, in which ``many`` axes from ``axis`` on, an index's, are the outermost in memory."""
    cdef npy_intp step = x.v.itemsize(), size = 1
    cdef int i
    for i in range(n):
        size *= shape[i]
    cdef Tensor out = fresh(x.v.dtype, size, x.v.device())
    out.v.layout.resize(n)
    memcpy(out.v.layout.shape(), shape, n * sizeof(npy_intp))
    for i in range(n - 1, -1, -1):
        if not axis <= i < axis + many:
            out.v.layout.strides()[i] = step
            step *= shape[i]
    for i in range(axis + many - 1, axis - 1, -1):
        out.v.layout.strides()[i] = step
        step *= shape[i]
    return out


cdef Tensor columns_picked(Tensor x, Tensor index, int axis):
    """``x[:, :, index]`` for few indices that are there: each a copy of a view. None for any others."""
    cdef npy_intp at[_FEW_PICKED]
    cdef npy_intp shape[kMaxDims]
    cdef int n = x.v.layout.ndim, j
    cdef Tensor out
    if not x.v.layout.size() or capturing() or recording():
        return None
    cdef int count = few_indices(index, x.v.layout.shape()[axis], at)
    if not count:
        return None
    memcpy(shape, x.v.layout.shape(), n * sizeof(npy_intp))
    shape[axis] = count
    out = index_outermost(x, n, shape, axis, 1)
    for j in range(count):
        assign(along_axis(out, axis, j, 1), along_axis(x, axis, at[j], 1))
    return out


cdef Tensor as_indices(object o, Tensor x, int axis):
    """An entry of a key as an array of indices of an axis; None if it's no array and no list of integers.

    IndexError at once if one that the host knows is out of bounds.
    """
    if isinstance(o, Tensor):
        return <Tensor>o
    if type(o) is list and o and type((<list>o)[0]) is int:
        o = np.asarray(o)
    return host_index(o, x.v.layout.shape()[axis], axis, x.v.device()) if isinstance(o, np.ndarray) else None


cdef Tensor rows_now(Tensor x, object index):
    """``x[index]`` of a small matrix at hand whose rows don't lie together, for a vector of indices; else None."""
    cdef npy_intp shape[2]
    cdef npy_intp i, at, size = x.v.itemsize(), rows = x.v.layout.shape()[0]
    cdef int64_t* places
    cdef Tensor out
    if Py_TYPE(index) != type_of_arrays() or (<Tensor>index).v.dtype != D_IL or (<Tensor>index).v.layout.ndim != 1 \
            or not is_ready(<Tensor>index) or not x.v.near() or not x.v.layout.size():
        return None
    places = <int64_t*>(<Tensor>index).v.elements()
    shape[0], shape[1] = (<Tensor>index).v.layout.size(), x.v.layout.shape()[1]
    out = small_array(x.v.dtype, 2, shape)
    if out is None:
        return None
    for i in range(shape[0]):
        at = places[i] + (rows if places[i] < 0 else 0)
        if not 0 <= at < rows:
            return None
        copy_steps(<int>size, out.v.chunk.data + i * shape[1] * size, &size,
                   x.v.elements() + at * x.v.layout.strides()[0], x.v.layout.strides() + 1, shape + 1, 1)
    return written(out)


cdef Tensor gathered(Tensor x, object key):
    """``x[key]`` for integer arrays of axes in a row, one to three, and numbers; None for any other key."""
    cdef Tensor index, found
    cdef int axis = 0
    if x.v.layout.ndim == 2 and not contiguous(x):
        found = rows_now(x, key)
        if found is not None:
            return found
    if type(key) is tuple:
        axis = len(<tuple>key) - 1
        if axis == 1 and x.v.layout.ndim == 2 and is_whole_before(key, 1):
            found = rows_now(transposed(x), (<tuple>key)[1])
            if found is not None:
                return transposed(found)
        if axis:
            found = gathered_at(x, key)
            if found is not None or axis >= x.v.layout.ndim - 1 or not is_whole_before(key, axis):
                return found
        key = (<tuple>key)[axis]
    index = as_indices(key, x, axis) if axis < x.v.layout.ndim else None
    if index is None:
        return None
    if axis:
        return apart_gathered(x, index, axis)
    if x.v.layout.ndim == 1 and not in_c_order(index):
        return gathered_as(x, index)
    found = gather(x, index, 0, 0)
    return found if found is not None else apart_gathered(x, index, 0)


cdef Tensor gathered_as(Tensor x, Tensor index):
    """A vector's elements at indices in another order than C: as NumPy's, the result lies as the indices do."""
    cdef int order[kMaxDims]
    cdef int back[kMaxDims]
    cdef int i, n = index.v.layout.ndim
    for i in range(n):
        order[i] = i
    slowest_first(&index.v.layout, index.v.itemsize(), order)
    for i in range(n):
        back[order[i]] = i
    cdef Tensor found = gather(x, permuted(index, n, order), 0, 0)
    if found is None or recording() or capturing():
        return None if found is None else permuted(found, n, back)
    found.v.layout = permuted(found, n, back).v.layout  # nobody knows it yet
    return found


cdef Tensor apart_gathered(Tensor x, Tensor index, int axis):
    """``x[:, index]`` where what is behind the axis lies in C order, but apart; None for other arrays and indices.

    It is what the index selects of that axis as the last one, with its axes put back.
    """
    cdef int axes[kMaxDims]
    cdef int i, many = index.v.layout.ndim, rest = x.v.layout.ndim - 1
    cdef Tensor found
    if axis == rest or not many or is_mask(index) or not x.v.on_host() or capturing() or recording() and wants_gradient(x):
        return None
    found = gathered_at(axis_moved(x, axis, rest), (_WHOLE,) * rest + (index,), axis)
    if found is None:
        return None
    for i in range(rest + many):
        axes[i] = i if i < axis else rest + i - axis if i < axis + many else i - many
    return permuted(found, rest + many, axes)
