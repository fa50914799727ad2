# Native ways of small arrays made of others' elements: repeated, inserted, left out, each once. None for anything else.


cdef extern from "lazy/cpu/expand.h" namespace "lazyarray" nogil:
    void repeat_first(char*, npy_intp, npy_intp)
    void repeat_blocks(int, npy_intp, const char*, npy_intp, npy_intp, char*)


cdef object quick_append(PyObject** args, Py_ssize_t n):
    """A small vector with a number, or another one, after it."""
    cdef Tensor t = first_array(args) if n == 2 or n == 3 and <object>args[2] is None else None, out
    cdef npy_intp length, size
    if t is None or t.v.layout.ndim != 1:
        return None
    if Py_TYPE(<object>args[1]) == type_of_arrays():
        return join((t, <Tensor>args[1]), 0) if (<Tensor>args[1]).v.layout.ndim == 1 else None
    if not is_ready(t, True) or number_code(<object>args[1]) not in (D_IL, t.v.dtype) or t.v.dtype not in (D_F8, D_IL):
        return None
    length, size = t.v.layout.shape()[0] + 1, t.v.itemsize()
    out = small_array(t.v.dtype, 1, &length, True)
    if out is None or not put_value(out.v.chunk.data + (length - 1) * size, <object>args[1], t.v.dtype):
        return None
    memcpy(out.v.chunk.data, t.v.elements(), (length - 1) * size)
    return written(out)


cdef object quick_repeat(PyObject** args, Py_ssize_t nargs):
    """The elements of an array, or its entries along an axis, each as often as a number says."""
    cdef Tensor t = first_array(args) if nargs == 2 or nargs == 3 else None, out
    cdef npy_intp shape[kMaxDims]
    cdef npy_intp i, nbytes, times = 0
    cdef int axis = 0, ndim = 1
    if t is None or type(<object>args[1]) is not int or not index_of(<object>args[1], &times) \
            or not 0 <= times <= _DIRECT_LENGTH or not is_ready(t, True) or not t.v.layout.size():
        return None
    nbytes = t.v.itemsize()
    if nargs == 2 or <object>args[2] is None:
        shape[0] = t.v.layout.size()
    else:
        ndim = t.v.layout.ndim
        axis = axis_of(<object>args[2], ndim)
        if axis < 0:
            return None
        memcpy(shape, t.v.layout.shape(), ndim * sizeof(npy_intp))
        for i in range(axis + 1, ndim):
            nbytes *= shape[i]
    shape[axis] *= times
    out = small_array(t.v.dtype, ndim, shape, True)
    if out is None:
        return None
    repeat_blocks(<int>t.v.itemsize(), nbytes, t.v.elements(), t.v.layout.size() * t.v.itemsize() // nbytes, times,
                  out.v.chunk.data)
    return written(out)


cdef object quick_tile(PyObject** args, Py_ssize_t n):
    """A vector or a matrix, so many times along the last axis, or along two."""
    cdef Tensor t = first_array(args) if n == 2 else None, out
    cdef npy_intp[2] shape, times
    cdef npy_intp i, nbytes, rows
    cdef int ndim
    cdef char* to
    if t is None or not 1 <= t.v.layout.ndim <= 2 or not is_ready(t, True) or not t.v.layout.size():
        return None
    given = <object>args[1] if type(<object>args[1]) is tuple else (<object>args[1],)
    ndim = max(len(<tuple>given), t.v.layout.ndim)
    times[0] = 1
    if ndim > 2 or not len(<tuple>given):
        return None
    for i in range(len(<tuple>given)):
        o = (<tuple>given)[i]
        if type(o) is not int or not index_of(o, &times[2 - len(<tuple>given) + i]):
            return None
    if not 0 < times[0] <= _DIRECT_LENGTH or not 0 < times[1] <= _DIRECT_LENGTH:
        return None
    rows = t.v.layout.shape()[0] if t.v.layout.ndim == 2 else 1
    nbytes = t.v.layout.shape()[t.v.layout.ndim - 1] * t.v.itemsize()
    shape[0] = rows * times[0]
    shape[1] = t.v.layout.shape()[t.v.layout.ndim - 1] * times[1]
    out = small_array(t.v.dtype, ndim, &shape[2 - ndim], True)
    if out is None:
        return None
    to = out.v.chunk.data
    repeat_blocks(<int>t.v.itemsize(), nbytes, t.v.elements(), rows, times[1], to)
    repeat_first(to, rows * times[1] * nbytes, times[0])
    return written(out)


cdef object quick_pad(PyObject** args, Py_ssize_t n):
    """``pad(array, pad_width, mode)``: zeros around a vector or a matrix, so many on each side."""
    cdef Tensor t = first_array(args) if n == 2 or n == 3 and is_word(args[2], "constant") else None, out
    cdef npy_intp shape[2]
    cdef npy_intp i, width, rows, nbytes
    if t is None or not 1 <= t.v.layout.ndim <= 2 or not is_ready(t) or not t.v.layout.size() \
            or type(<object>args[1]) is not int or not index_of(<object>args[1], &width) or not 0 <= width <= _DIRECT_LENGTH:
        return None
    for i in range(t.v.layout.ndim):
        shape[i] = t.v.layout.shape()[i] + 2 * width
    out = small_array(t.v.dtype, t.v.layout.ndim, shape)
    if out is None:
        return None
    memset(out.v.chunk.data, 0, out.v.chunk.nbytes)
    rows = t.v.layout.shape()[0] if t.v.layout.ndim == 2 else 1
    nbytes = t.v.layout.shape()[t.v.layout.ndim - 1] * t.v.itemsize()
    for i in range(rows):
        memcpy(out.v.chunk.data + (i + width if t.v.layout.ndim == 2 else 0) * shape[t.v.layout.ndim - 1] * t.v.itemsize()
               + width * t.v.itemsize(), t.v.elements() + i * nbytes, nbytes)
    return written(out)


cdef object quick_meshgrid(PyObject** args, Py_ssize_t n):
    """The two coordinates of a grid of two vectors of one size of elements."""
    cdef Tensor x = first_array(args) if n == 2 else None, y, xs, ys
    cdef npy_intp shape[2]
    cdef npy_intp i, j
    if x is None or Py_TYPE(<object>args[1]) != type_of_arrays():
        return None
    y = <Tensor>args[1]
    if x.v.layout.ndim != 1 or y.v.layout.ndim != 1 or not is_ready(x) or not is_ready(y) \
            or x.v.itemsize() != 8 or y.v.itemsize() != 8:
        return None
    shape[0], shape[1] = y.v.layout.shape()[0], x.v.layout.shape()[0]
    xs, ys = small_array(x.v.dtype, 2, shape), small_array(y.v.dtype, 2, shape)
    if xs is None or ys is None:
        return None
    for i in range(shape[0]):
        memcpy(xs.v.chunk.data + i * shape[1] * 8, x.v.elements(), shape[1] * 8)
        for j in range(shape[1]):
            (<int64_t*>ys.v.chunk.data)[i * shape[1] + j] = (<int64_t*>(y.v.elements()))[i]
    return written(xs), written(ys)


cdef object quick_delete(PyObject** args, Py_ssize_t n):
    """A vector without one of its elements."""
    cdef Tensor t = first_array(args) if n == 2 or n == 3 and <object>args[2] is None else None
    return None if t is None or t.v.layout.ndim != 1 else edited(t, <object>args[1], None)


cdef object quick_insert(PyObject** args, Py_ssize_t n):
    """A vector with a number more, before one of its elements."""
    cdef Tensor t = first_array(args) if n == 3 or n == 4 and <object>args[3] is None else None
    return None if t is None or t.v.layout.ndim != 1 or <object>args[2] is None else edited(t, <object>args[1], <object>args[2])


cdef Tensor edited(Tensor t, object where, object value):
    cdef npy_intp at, length = t.v.layout.shape()[0], size = t.v.itemsize(), more = -1 if value is None else 1
    cdef Tensor out
    if type(where) is not int or not index_of(where, &at) or not is_ready(t) \
            or value is not None and (number_code(value) not in (D_IL, t.v.dtype) or t.v.dtype not in (D_F8, D_IL)):
        return None
    if at < 0:
        at += length
    if not 0 <= at <= length - (value is None):
        return None
    more += length
    out = small_array(t.v.dtype, 1, &more)
    if out is None or value is not None and not put_value(out.v.chunk.data + at * size, value, t.v.dtype):
        return None
    memcpy(out.v.chunk.data, t.v.elements(), at * size)
    if value is None:
        memcpy(out.v.chunk.data + at * size, t.v.elements() + (at + 1) * size, (length - 1 - at) * size)
    else:
        memcpy(out.v.chunk.data + (at + 1) * size, t.v.elements() + at * size, (length - at) * size)
    return written(out)


cdef object quick_unique(PyObject** args, Py_ssize_t n):
    """``unique(ar, return_index, return_inverse, return_counts, axis)``: each element once, sorted, and how often it is there."""
    cdef Tensor t = numbers_in(<object>args[0]) if 1 <= n <= 5 else None, out, counts = None
    cdef Kernel* k
    cdef npy_intp i, size, count = 0
    cdef int64_t* p
    cdef int64_t values[_SORTED]
    cdef int64_t numbers[_SORTED]
    cdef bint index, inverse, counted, same
    if t is None or not take_flag(args, n, 1, &index) or index or not take_flag(args, n, 2, &inverse) or inverse \
            or not take_flag(args, n, 3, &counted) or not are_none(args, 4, n) or t.v.dtype not in (D_F8, D_IL) \
            or not is_ready(t) or not 0 < t.v.layout.size() <= _SORTED:
        return None
    size = t.v.layout.size()
    memcpy(values, t.v.elements(), size * 8)
    if t.v.dtype == D_F8:
        for i in range(size):
            if (<double*>values)[i] != (<double*>values)[i] or (<double*>values)[i] == 0 and signbit((<double*>values)[i]):
                return None  # which of two equals is kept is NumPy's own business
    k = along_kernel("sort", 2, t.v.dtype)
    (<Along*>k.data).put_in_order(<char*>values, size)
    take_flags(False)
    for i in range(size):
        if count and values[count - 1] == values[i]:
            numbers[count - 1] += 1
        else:
            values[count] = values[i]
            numbers[count] = 1
            count += 1
    out = small_array(t.v.dtype, 1, &count)
    if counted:
        counts = small_array(D_IL, 1, &count)
    if out is None or counted and counts is None or not seen_as_wait("unique()"):
        return None
    memcpy(out.v.chunk.data, values, count * 8)
    if not counted:
        return written(out)
    memcpy(counts.v.chunk.data, numbers, count * 8)
    return written(out), written(counts)
