# Places: x[:, i, j] and x[:, i, j] = v for integer arrays and numbers of axes in a row, off the GIL.


cdef extern from "lazy/cpu/gather.h" namespace "lazyarray" nogil:
    Loop store_one "lazyarray::store_blocks<1>"
    Loop store_two "lazyarray::store_blocks<2>"
    Loop store_three "lazyarray::store_blocks<3>"
    enum:
        kIndexed "lazyarray::kIndexed"


cdef Kernel* _place_gathers[kIndexed][32]
cdef Kernel* _place_stores[kIndexed][32]


cdef Kernel* places_kernel(int code, int axes, bint stores) except NULL:
    """The kernel that reads or writes blocks by indices of so many axes."""
    cdef Kernel** k = &_place_stores[axes - 1][code] if stores else &_place_gathers[axes - 1][code]
    cdef int i
    if k[0] is NULL:
        k[0] = new_kernel("setitem" if stores else "getitem", GUFUNC, 1 + axes, 1)
        k[0].gathers = not stores
        if stores:
            k[0].fn = store_one if axes == 1 else store_two if axes == 2 else store_three
            k[0].check = out_of_bounds
        k[0].dtypes[0] = k[0].dtypes[axes + 1] = code
        for i in range(1, axes + 1):
            k[0].dtypes[i] = D_IL
    return k[0]


cdef struct Spot:  # what a key of numbers and arrays selects
    int front           # axes before them, which are whole
    int axes[kIndexed]  # those that have an array
    int many            # arrays
    int behind          # the first axis after them: from it on they are whole
    npy_intp block      # bytes of these, which lie in a row
    npy_intp offset
    npy_intp shape[2 * kMaxDims]  # of the result: what is in front, the arrays' axes, what is behind
    int ndim, indexed             # of these so many are the arrays'
    npy_intp count                # elements of the arrays
    int named                     # what an index out of bounds calls the first of the axes


cdef bint is_number_or_indices(object o) except -1:
    """Whether an entry of a key is Python's integer, or an array or a list of some integers."""
    cdef Tensor t
    if isinstance(o, Tensor):
        t = <Tensor>o
        return t.v.layout.ndim > 0 and t.v.layout.size() > 0 and info(t.v.dtype).type_num != cnp.NPY_ULONG \
            and (info(t.v.dtype).kind == c"i" or info(t.v.dtype).kind == c"u")
    if isinstance(o, np.ndarray):
        return o.ndim > 0 and o.size > 0 and o.dtype.kind in "iu"
    return type(o) is int or type(o) is list and len(<list>o) > 0 and type((<list>o)[0]) is int


cdef bint in_c_order(Tensor t) noexcept:
    """Whether the elements lie in C order, though perhaps apart or broadcast."""
    cdef npy_intp last = 0
    cdef int i
    for i in range(t.v.layout.ndim - 1, -1, -1):
        if t.v.layout.shape()[i] != 1 and t.v.layout.strides()[i] != 0:
            if t.v.layout.strides()[i] < last:
                return False
            last = t.v.layout.strides()[i]
    return True


cdef bint broadcasts_with(Layout* l, npy_intp* shape, int ndim) noexcept:
    """Whether an array of no more axes broadcasts with a shape, which becomes what both make."""
    cdef int i, k
    for i in range(l.ndim):
        k = ndim - l.ndim + i
        if l.shape()[i] != 1 and l.shape()[i] != shape[k]:
            if shape[k] != 1:
                return False
            shape[k] = l.shape()[i]
    return True


cdef list spot_of(Spot* s, Tensor x, tuple key):
    """The arrays of a key of numbers and integer arrays of axes in a row, and what it selects; None: it's no such key."""
    cdef Layout* l = &x.v.layout
    cdef npy_intp k
    cdef int n = len(key), front = 0, axis, i
    cdef Tensor t
    cdef list arrays = []
    while n and type(key[n - 1]) is slice and key[n - 1] == _WHOLE:
        n -= 1
    while front < n and type(key[front]) is slice and key[front] == _WHOLE:
        front += 1
    if front == n or len(key) > l.ndim or l.size() == 0:
        return None
    for axis in range(front, n):  # before one of them is an IndexError: among none nothing is out of bounds
        if not is_number_or_indices(key[axis]):
            return None
    s.offset, s.front, s.behind, s.many, s.indexed = l.offset, front, n, 0, 0
    for axis in range(front, n):
        o = key[axis]
        if type(o) is int:
            k = o
            if not -l.shape()[axis] <= k < l.shape()[axis]:
                return None
            s.offset += (k + l.shape()[axis] if k < 0 else k) * l.strides()[axis]
            continue
        t = as_indices(o, x, axis) if s.many < kIndexed else None
        if t is None or not in_c_order(t):
            return None
        same_device(x, t)
        arrays.append(t)
        s.axes[s.many] = axis
        s.many += 1
        s.indexed = max(s.indexed, t.v.layout.ndim)
    s.ndim, s.named = front + s.indexed + l.ndim - n, s.axes[0]
    if not s.many or s.ndim > kMaxDims:
        return None
    for i in range(front):
        s.shape[i] = l.shape()[i]
    for i in range(s.indexed):
        s.shape[front + i] = 1
    for t in arrays:
        if not broadcasts_with(&t.v.layout, &s.shape[front], s.indexed):
            return None
    s.count, s.block = 1, x.v.itemsize()
    for i in range(s.indexed):
        s.count *= s.shape[front + i]
    for i in range(l.ndim - 1, n - 1, -1):
        if l.shape()[i] != 1 and l.strides()[i] != s.block:
            return None
        s.block *= l.shape()[i]
        s.shape[front + s.indexed + i - n] = l.shape()[i]
    for i in range(s.ndim):
        if s.shape[i] == 0:
            return None
    return arrays


cdef Tensor over_shape(Tensor t, int dtype, int n, const npy_intp* shape):
    """The elements in C order, over a shape that they broadcast to."""
    cdef Tensor out
    if t.v.dtype == dtype and t.v.layout.ndim == n and contiguous(t) \
            and memcmp(t.v.layout.shape(), shape, n * sizeof(npy_intp)) == 0:
        return t
    out = empty_like_shape(dtype, n, shape, t.v.device())
    assign(out, t)
    return out


cdef int emit_places(Kernel* k, Spot* s, Tensor x, Tensor from_, list arrays, Tensor to, npy_intp each) except -1:
    """Records an instruction that reads or writes x's blocks at some places; of the other end, ``each`` is its step."""
    cdef Layout* l = &x.v.layout
    cdef Instr* instr
    cdef Tensor t
    cdef npy_intp rows = 1
    cdef bint one_for_all = from_ is not x and from_.v.layout.ndim < s.ndim
    cdef int i, j
    arrays = [over_shape(<Tensor>o, D_IL, s.indexed, &s.shape[s.front]) for o in arrays]
    instr = recorder().begin(k, 1 + s.many, 1)
    set_operand(instr, 0, &from_.v)
    for i in range(s.many):
        t = <Tensor>arrays[i]
        set_operand(instr, 1 + i, &t.v)
    set_operand(instr, 1 + s.many, &to.v)
    instr.ops[1 + s.many if to is x else 0].offset = s.offset
    instr.set_ndim(s.front)
    for i in range(s.front):
        rows *= s.shape[i]
        instr.shape()[i] = s.shape[i]
        instr.strides(0)[i] = 0 if one_for_all else from_.v.layout.strides()[i]
        for j in range(s.many):
            instr.strides(1 + j)[i] = 0
        instr.strides(1 + s.many)[i] = to.v.layout.strides()[i]
    instr.ncore = 4
    instr.core[0], instr.core[1], instr.core[2] = l.shape()[s.axes[0]], s.count, s.block
    instr.core[3] = s.named
    instr.ncore_steps = 2 + 3 * (s.many - 1)
    instr.core_steps[0], instr.core_steps[1] = l.strides()[s.axes[0]], each
    for i in range(1, s.many):
        instr.core_steps[3 * i - 1] = l.shape()[s.axes[i]]
        instr.core_steps[3 * i] = l.strides()[s.axes[i]]
        instr.core_steps[3 * i + 1] = s.axes[i]
    instr.bytes = rows * s.count * s.block
    instr.cost_ns = 50 + (s.many + rows) * s.count * 1.5 + 0.15 * instr.bytes
    instr.overwrites = to is not x
    return emit(as_pick(instr, x.v.dtype, True) if k.gathers and each == s.block else instr)


cdef bint keeps_order(Layout* l, Spot* s) noexcept:
    """Whether the axes without indices lie in C order: so NumPy lays out the result, whose indexed axes are outermost."""
    cdef npy_intp last = 1
    cdef int i
    for i in range(l.ndim - 1, -1, -1):
        if not s.front <= i < s.behind and l.shape()[i] != 1:
            if abs(l.strides()[i]) < last:
                return False
            last = abs(l.strides()[i])
    return True


cdef Tensor gathered_at(Tensor x, tuple key, int named=-1):
    """``x[:, i, j]`` for numbers and one to three integer arrays of axes in a row; None for other keys.

    As NumPy's, the result lies in memory with the arrays' axes first. ``named`` is what an IndexError calls their axis.
    """
    cdef Layout* l = &x.v.layout
    cdef Layout before = x.v.layout
    cdef Chunk* memory = x.v.chunk
    cdef Spot s
    cdef Tensor view, out, found
    cdef list arrays = spot_of(&s, x, key)
    cdef bint alone
    if arrays is None:
        return None
    if named >= 0:
        s.named = named
    if s.many == 1 and not s.front:
        view = view_of(x)  # without the numbers' axes
        view.v.layout.resize(l.ndim - s.behind + 1)
        view.v.layout.offset = s.offset
        view.v.layout.shape()[0] = l.shape()[s.axes[0]]
        view.v.layout.strides()[0] = l.strides()[s.axes[0]]
        memcpy(view.v.layout.shape() + 1, l.shape() + s.behind, (l.ndim - s.behind) * sizeof(npy_intp))
        memcpy(view.v.layout.strides() + 1, l.strides() + s.behind, (l.ndim - s.behind) * sizeof(npy_intp))
        return gather(view, <Tensor>arrays[0], 0, s.axes[0])
    if s.front and not keeps_order(l, &s):
        return None
    alone = s.behind == s.front + 1
    if alone:
        out = columns_picked(x, <Tensor>arrays[0], s.front)
        if out is not None:
            return out
        out = columns_gathered(x, <Tensor>arrays[0], s.front)
        if out is not None:
            return out
    found = None
    if not x.v.on_host() or capturing() or recording() and wants_gradient(x):
        found = gather(x, <Tensor>arrays[0], s.front, s.front) if alone else None
        if found is None:
            return None
    if s.front:
        out = index_outermost(x, s.ndim, s.shape, s.front, s.indexed)
    else:
        out = empty_like_shape(x.v.dtype, s.ndim, s.shape, x.v.device())
    if found is not None:
        assign(out, found)
        return out
    if x.v.chunk != memory or not l.same_view(before):  # another thread had its turn, and resized x
        return None
    emit_places(places_kernel(x.v.dtype, s.many, False), &s, x, x, arrays, out,
                out.v.layout.strides()[s.front + s.indexed - 1] if s.front else s.block)
    return out


cdef Tensor columns_gathered(Tensor x, Tensor index, int axis):
    """``x[:, index]`` of an array that lies with this axis outermost, as NumPy's result does; None for others.

    Their columns lie in rows, and are gathered as such.
    """
    cdef int axes[kMaxDims]
    cdef int i, many = index.v.layout.ndim
    cdef npy_intp block = x.v.itemsize()
    if many != 1 or not axis or not x.v.on_host() or capturing() or recording() and wants_gradient(x):
        return None
    for i in range(x.v.layout.ndim - 1, -1, -1):
        if i != axis and x.v.layout.shape()[i] != 1:
            if x.v.layout.strides()[i] != block:
                return None
            block *= x.v.layout.shape()[i]
    for i in range(x.v.layout.ndim):
        axes[i] = i + 1 if i < axis else 0 if i == axis else i
    cdef Tensor found = gather(axis_moved(x, axis, 0), index, 0, axis)
    return None if found is None else permuted(found, x.v.layout.ndim, axes)


cdef bint has_one_step(Tensor t, Spot* s, npy_intp* step) noexcept:
    """Whether an array of the result's shape has a step from place to place, and its blocks lie in a row.

    Axes of length one may have any step.
    """
    cdef Layout* l = &t.v.layout
    cdef npy_intp block = t.v.itemsize(), whole = 0
    cdef bint found = False
    cdef int i
    step[0] = 0
    if l.ndim != s.ndim or memcmp(l.shape(), s.shape, l.ndim * sizeof(npy_intp)) != 0:
        return False
    for i in range(l.ndim - 1, s.front + s.indexed - 1, -1):
        if l.shape()[i] != 1 and l.strides()[i] != block:
            return False
        block *= l.shape()[i]
    for i in range(s.front + s.indexed - 1, s.front - 1, -1):
        if l.shape()[i] == 1:
            continue
        if not found:
            step[0] = whole = l.strides()[i]
            found = True
        elif l.strides()[i] != whole:
            return False
        whole *= l.shape()[i]
    return True


cdef Tensor values_for(Tensor x, object value):
    """A number, or an array of x's dtype that no gradient is wanted of, as an array beside x; None for anything else."""
    cdef Tensor values
    if isinstance(value, Tensor):
        values = <Tensor>value
        if values.v.dtype != x.v.dtype or not (values.v.device() == x.v.device()) \
                or recording() and wants_gradient(values):
            return None
        return values
    if type(value) is np.ndarray:
        return from_numpy(value, x.v.device()) if value.dtype == np_dtype(x.v.dtype) else None
    if type(value) is list or type(value) is tuple:
        return of_numbers(value, x.v.dtype)
    values = new_element(x.v.dtype, x.v.device())
    return values if put_number(values.v.elements(), value, x.v.dtype) else None


cdef bint stored_apart(Tensor x, object key, object value) except -1:
    """``x[:, index] = value`` where what is behind the axis lies apart: the same with that axis as the last one."""
    cdef int axes[kMaxDims]
    cdef int i, axis = len(<tuple>key) - 1 if type(key) is tuple else 0, rest = x.v.layout.ndim - 1, many, skipped
    cdef Tensor index, values
    key = (<tuple>key)[axis] if type(key) is tuple and axis >= 0 and is_whole_before(key, axis) else key
    if not 0 <= axis < rest or not is_number_or_indices(key) or type(key) is int:
        return False
    index, values = as_indices(key, x, axis), values_for(x, value)
    if index is None or values is None:
        return False
    many = index.v.layout.ndim
    skipped = rest + many - values.v.layout.ndim  # axes that it is broadcast along
    if skipped < 0 or rest + many > kMaxDims:
        return False
    if values.v.layout.ndim:
        for i in range(rest + many):
            axes[i] = max(-1, (i if i < axis else i + many if i < rest else i - rest + axis) - skipped)
        values = permuted(values, rest + many, axes)
    return stored_at(axis_moved(x, axis, rest), (_WHOLE,) * rest + (index,), values, axis)


cdef bint stored_at(Tensor x, object key, object value, int named=-1) except -1:
    """``x[:, i, j] = value`` for such a key, and a number or an array of x's dtype; false where it isn't done.

    Of several values for one place the last one stays. ``named`` is what an IndexError calls their axis.
    """
    cdef Spot s
    cdef Layout before = x.v.layout, result
    cdef Chunk* memory = x.v.chunk
    cdef Tensor values, t
    cdef list arrays
    cdef npy_intp each = 0
    cdef int rest
    cdef bint one
    if not x.v.on_host() or capturing() or unwritable(x) or is_scalar(x) or recording() and wants_gradient(x):
        return False
    arrays = spot_of(&s, x, key if type(key) is tuple else (key,))
    if arrays is None:
        return stored_apart(x, key, value)
    if named >= 0:
        s.named = named
    values = values_for(x, value)
    if values is None:
        return False
    if values.v.same_memory(x.v):
        return False
    for t in arrays:
        if t.v.same_memory(x.v):
            return False
    result.resize(s.ndim)
    memcpy(result.shape(), s.shape, s.ndim * sizeof(npy_intp))
    if not broadcasts_to(&values.v.layout, &result):
        return False
    rest = s.ndim - s.front - s.indexed
    one = values.v.layout.ndim <= rest  # block for all places
    if one:
        values = over_shape(values, x.v.dtype, rest, &s.shape[s.ndim - rest])
    elif not has_one_step(values, &s, &each):
        broadcast_strides(values.v.layout, s.ndim, result.strides())
        result.offset = values.v.layout.offset
        values = view_of(values)
        values.v.layout = result
        if not has_one_step(values, &s, &each):
            values = over_shape(values, x.v.dtype, s.ndim, s.shape)
            has_one_step(values, &s, &each)
    if x.v.chunk != memory or not x.v.layout.same_view(before):  # another thread had its turn, and resized x
        return False
    emit_places(places_kernel(x.v.dtype, s.many, True), &s, x, values, arrays, x, each)
    return True
