# Native ways for lists: of numbers, of lists of numbers, of small arrays. None where they hold anything else.


cdef Tensor of_arrays(object items):
    """An array of small C-ordered arrays of one shape and dtype, all at hand; None for anything else."""
    cdef npy_intp shape[kMaxDims]
    cdef Tensor first, t, out
    cdef npy_intp i = 0, nbytes
    if not len(items) or not Py_TYPE(items[0]) == type_of_arrays() or not may_run_now():
        return None
    first = <Tensor>items[0]
    if first.v.layout.ndim == 0 or first.v.layout.ndim == kMaxDims:
        return None
    nbytes = first.v.layout.size() * first.v.itemsize()
    for o in items:
        if not Py_TYPE(o) == type_of_arrays():
            return None
        t = <Tensor>o
        if t.v.dtype != first.v.dtype or not t.v.layout.same_shape(first.v.layout) or not contiguous(t) \
                or not at_hand(t.v.chunk, False) or not (t.v.chunk.device == cpu0()):
            return None
    shape[0] = len(items)
    memcpy(&shape[1], first.v.layout.shape(), first.v.layout.ndim * sizeof(npy_intp))
    out = room_for(first.v.dtype, first.v.layout.ndim + 1, shape)
    if out is None:
        return None
    for o in items:
        t = <Tensor>o
        memcpy(out.v.chunk.data + i * nbytes, t.v.chunk.data + t.v.layout.offset, nbytes)
        i += 1
    return written(out)


cdef Tensor of_columns(object items):
    """A matrix whose columns are small vectors as of `of_arrays`; None for anything else."""
    cdef Tensor rows = of_arrays(items), t
    cdef npy_intp shape[2]
    cdef npy_intp i, j, k, n, size
    cdef char* p
    if rows is None or rows.v.layout.ndim != 2:
        return None
    n, k, size = rows.v.layout.shape()[1], rows.v.layout.shape()[0], rows.v.itemsize()
    shape[0], shape[1] = n, k
    t = room_for(rows.v.dtype, 2, shape)
    if t is None:
        return None
    p = rows.v.chunk.data
    for j in range(k):
        for i in range(n):
            if size == 8:
                (<int64_t*>t.v.chunk.data)[i * k + j] = (<int64_t*>p)[0]
            else:
                memcpy(t.v.chunk.data + (i * k + j) * size, p, size)
            p += size
    return written(t)


cdef Tensor of_number(object value):
    """An array of a float or an int, without axes; None for anything else."""
    cdef int code = D_F8 if type(value) is float else D_IL if type(value) is int else -1
    cdef Tensor out
    if code < 0 or not (current_device() == cpu0()):
        return None
    out = room_for(code, 0, NULL)
    return written(out) if out is not None and put_number(out.v.chunk.data, value, code) else None


cdef Tensor of_numbers(object items):
    """An array of a list of numbers and scalars that are at hand, or of such lists; None for any other.

    Floats, or integers, or both, which makes floats.
    """
    cdef npy_intp shape[2]
    cdef npy_intp i
    cdef int code = -1
    cdef bint nested
    cdef char* to
    cdef Tensor out
    shape[0] = len(items)
    if not shape[0] or not (current_device() == cpu0()) or not lone_ops():
        return None
    nested = is_sequence(items[0])
    shape[1] = len(items[0]) if nested else 1
    if nested:
        for row in items:
            if not is_sequence(row) or len(row) != shape[1] or not are_numbers(row, &code):
                return None
    elif not are_numbers(items, &code):
        return None
    if code < 0:
        return None
    out = empty_like_shape(code, 2 if nested else 1, shape, cpu0())
    if not out.v.chunk.allocate():
        return None
    to = out.v.chunk.data
    if not nested:
        return written(out) if put_numbers(to, items, shape[0], code) else None
    for i in range(shape[0]):
        if not put_numbers(to + 8 * shape[1] * i, items[i], shape[1], code):
            return None
    return written(out)


cdef bint are_numbers(object items, int* code) except -1:
    """Whether all are numbers or scalars at hand; `code` is the dtype that they have in common."""
    cdef Tensor t
    for o in items:
        if type(o) is float or type(o) is _float64:
            code[0] = D_F8
        elif type(o) is int:
            code[0] = D_IL if code[0] < 0 else code[0]
        elif is_tensor(o):
            t = <Tensor>o
            if t.v.layout.ndim or not at_hand(t.v.chunk, False) or not (t.v.chunk.device == cpu0()):
                return False
            if t.v.dtype == D_F8:
                code[0] = D_F8
            elif t.v.dtype == D_IL:
                code[0] = D_IL if code[0] < 0 else code[0]
            else:
                return False
        else:
            return False
    return True


cdef bint put_numbers(char* to, object items, npy_intp n, int code) except -1:
    """Writes ``n`` such numbers one after the other; false if one of them can't be."""
    cdef Tensor t
    if len(items) != n:  # a finalizer that ran meanwhile changed the list
        return False
    for o in items:
        if is_tensor(o):
            t = <Tensor>o
            if t.v.layout.ndim or not at_hand(t.v.chunk, False):
                return False
            if t.v.dtype == code:
                memcpy(to, t.v.chunk.data + t.v.layout.offset, 8)
            else:
                (<double*>to)[0] = (<int64_t*>(t.v.chunk.data + t.v.layout.offset))[0]
        elif not put_number(to, o, code):
            return False
        to += 8
    return True
