# Native ways for lists: of numbers, of lists of numbers, of small arrays. None where they hold anything else.


cdef Tensor of_arrays(object items, int axis=0, bint in_c_order=False):
    """An array of arrays of one shape and dtype along a new axis, all at hand, not large; None for anything else.

    ``in_c_order``: in whatever order they are.
    """
    cdef npy_intp shape[kMaxDims]
    cdef npy_intp steps[kMaxDims]
    cdef Tensor first, t, out
    cdef npy_intp i = 0
    cdef int d, ndim
    if not len(items) or not Py_TYPE(items[0]) == type_of_arrays() or not may_run_now():
        return None
    first = <Tensor>items[0]
    ndim = first.v.layout.ndim
    if ndim == 0 or ndim == kMaxDims:
        return None
    for o in items:
        if not Py_TYPE(o) == type_of_arrays():
            return None
        t = <Tensor>o
        if t.v.dtype != first.v.dtype or not t.v.layout.same_shape(first.v.layout) or not t.v.near():
            return None
    for d in range(ndim + 1):
        shape[d] = <npy_intp>len(items) if d == axis else first.v.layout.shape()[d - (d > axis)]
    out = small_array(first.v.dtype, ndim + 1, shape, True)
    if out is None:
        return None
    if not in_c_order and ndim > 1:
        lay_as_joined(out, tuple(items), axis)
    for d in range(ndim):
        steps[d] = out.v.layout.strides()[d + (d >= axis)]
    for o in items:
        t = <Tensor>o
        copy_steps(<int>t.v.itemsize(), out.v.chunk.data + i * out.v.layout.strides()[axis], steps,
                   t.v.elements(), t.v.layout.strides(), t.v.layout.shape(), ndim)
        i += 1
    return written(out)


cdef Tensor of_number(object value, int dtype):
    """An array of a bool, an int or a float, without axes; None for anything else. ``dtype`` as in `of_numbers`."""
    cdef Tensor out
    if dtype < 0:
        dtype = D_F8 if type(value) is float else D_IL if type(value) is int else D_BOOL if type(value) is bool else -1
    if dtype < 0 or not (current_device() == cpu0()):
        return None
    out = small_array(dtype, 0, NULL)
    return written(out) if out is not None and put_number(out.v.chunk.data, value, dtype) else None


cdef Tensor of_numbers(object items, int dtype):
    """An array of a list of numbers and scalars that are at hand, or of such lists; None for any other.

    Of that dtype, if each number is simply one of it; with -1 the one that bools, integers and floats have in common.
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
    if dtype >= 0:
        code = dtype
    out = empty_like_shape(code, 2 if nested else 1, shape, cpu0())
    if not out.v.chunk.allocate():
        return None
    to = out.v.chunk.data
    if not nested:
        return written(out) if put_numbers(to, items, shape[0], code) else None
    for i in range(shape[0]):
        if not put_numbers(to + info(code).size * shape[1] * i, items[i], shape[1], code):
            return None
    return written(out)


cdef bint are_numbers(object items, int* code) except -1:
    """Whether all are numbers or scalars at hand; `code` is the dtype that they have in common."""
    cdef Tensor t
    cdef int own
    for o in items:
        if type(o) is float or type(o) is _float64:
            own = D_F8
        elif type(o) is int:
            own = D_IL
        elif type(o) is bool:
            own = D_BOOL
        elif is_tensor(o):
            t = <Tensor>o
            own = t.v.dtype
            if t.v.layout.ndim or not t.v.near():
                return False
        else:
            return False
        if code[0] >= 0 and own != code[0] and not (is_common(own) and is_common(code[0])):
            return False
        if code[0] < 0 or own == D_F8 or code[0] == D_BOOL:
            code[0] = own
    return True


cdef inline bint is_common(int dtype) noexcept:
    return dtype == D_F8 or dtype == D_IL or dtype == D_BOOL


cdef bint put_numbers(char* to, object items, npy_intp n, int code) except -1:
    """Writes ``n`` such numbers one after the other; false if one of them can't be."""
    cdef int size = info(code).size
    if len(items) != n:  # a finalizer that ran meanwhile changed the list
        return False
    for o in items:
        if not put_value(to, o, code):
            return False
        to += size
    return True


cdef bint put_value(char* to, object o, int code) noexcept:
    """`put_number`, also for scalars that are at hand."""
    cdef Tensor t
    cdef char* p
    cdef int64_t n
    if not is_tensor(o):
        return put_number(to, o, code)
    t = <Tensor>o
    if t.v.layout.ndim or not t.v.near():
        return False
    p = t.v.elements()
    if t.v.dtype == code:
        memcpy(to, p, info(code).size)
        return True
    if t.v.dtype != D_BOOL and t.v.dtype != D_IL or code != D_F8 and code != D_IL:
        return False
    n = p[0] if t.v.dtype == D_BOOL else (<int64_t*>p)[0]
    if code == D_F8:
        (<double*>to)[0] = n
    else:
        (<int64_t*>to)[0] = n
    return True
