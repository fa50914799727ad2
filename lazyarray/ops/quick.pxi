# The native ways of the direct tier: what the plainest calls of public functions do, without NumPy.
#
# Each takes a call's arguments and gives its result, or None where they are anything else than expected.


cdef Quick quick_of(str name):
    if name == "array": return quick_array
    if name == "asarray" or name == "asanyarray": return quick_asarray
    if name == "copy": return quick_copy
    if name == "empty": return quick_empty
    if name == "zeros": return quick_zeros
    if name == "ones": return quick_ones
    if name == "reshape": return quick_reshape
    if name == "ravel": return quick_ravel
    if name == "transpose": return quick_transpose
    if name == "squeeze": return quick_squeeze
    if name == "atleast_1d": return quick_atleast_1d
    if name == "atleast_2d": return quick_atleast_2d
    if name == "expand_dims": return quick_expand_dims
    if name == "arange": return quick_arange
    if name == "argmax": return quick_argmax
    if name == "concatenate" or name == "concat": return quick_concatenate
    if name == "argmin": return quick_argmin
    if name == "count_nonzero": return quick_count_nonzero
    if name == "diag": return quick_diag
    return NULL


cdef Tensor only(PyObject** args, Py_ssize_t n):
    """The only argument, if it is an array (no scalar)."""
    return first_array(args) if n == 1 else None


cdef Tensor first_array(PyObject** args):
    return <Tensor>args[0] if Py_TYPE(<object>args[0]) == type_of_arrays() else None


cdef Tensor written(Tensor t):
    """``t``, whose memory the caller has written."""
    t.v.chunk.written_once()
    recorder().inlined += 1
    return t


cdef Tensor room_for(int code, int ndim, const npy_intp* shape):
    """A new small array on the host for the caller to write; None if it isn't small, or there is no memory."""
    cdef Tensor t = empty_like_shape(code, ndim, shape, cpu0())
    return t if <npy_intp>t.v.chunk.nbytes <= recorder().policy.direct_bytes and t.v.chunk.allocate() else None


cdef object quick_array(PyObject** args, Py_ssize_t n):
    cdef Tensor t = only(args, n)
    if t is not None:
        return copied(t, t.v.dtype)
    return of_numbers(<object>args[0]) if n == 1 and type(<object>args[0]) is list else None


cdef Tensor of_numbers(list items):
    """A vector of a list of numbers and scalars that are at hand; None for any other.

    Floats, or integers, or both, which makes floats.
    """
    cdef npy_intp n = len(items), i
    cdef int code = -1
    cdef char* to
    cdef Tensor t, out
    if not (current_device() == cpu0()) or not lone_ops():
        return None
    for o in items:
        if type(o) is float or type(o) is _float64:
            code = D_F8
        elif type(o) is int:
            code = D_IL if code < 0 else code
        elif is_tensor(o):
            t = <Tensor>o
            if t.v.layout.ndim or not at_hand(t.v.chunk, False) or not (t.v.chunk.device == cpu0()):
                return None
            if t.v.dtype == D_F8:
                code = D_F8
            elif t.v.dtype == D_IL:
                code = D_IL if code < 0 else code
            else:
                return None
        else:
            return None
    if code < 0:
        return None
    out = empty_like_shape(code, 1, &n, cpu0())
    if not out.v.chunk.allocate():
        return None
    to = out.v.chunk.data
    for i in range(n):
        o = items[i]
        if is_tensor(o):
            t = <Tensor>o
            if t.v.dtype == code:
                memcpy(to + 8 * i, t.v.chunk.data + t.v.layout.offset, 8)
            else:
                (<double*>to)[i] = (<int64_t*>(t.v.chunk.data + t.v.layout.offset))[0]
        elif not put_number(to + 8 * i, o, code):
            return None
    return written(out)


cdef object quick_asarray(PyObject** args, Py_ssize_t n):
    cdef Tensor t = only(args, n)
    return quick_array(args, n) if t is None else t


cdef object quick_copy(PyObject** args, Py_ssize_t n):
    cdef Tensor t = only(args, n)
    return None if t is None or not contiguous(t) else cast(t, t.v.dtype)


cdef object quick_empty(PyObject** args, Py_ssize_t n):
    if n != 1 and n != 2:
        return None
    return unwritten(<object>args[0], <object>args[1] if n == 2 else None)


cdef object quick_zeros(PyObject** args, Py_ssize_t n):
    return quick_filled(args, n, 0)


cdef object quick_ones(PyObject** args, Py_ssize_t n):
    return quick_filled(args, n, 1)


cdef object quick_filled(PyObject** args, Py_ssize_t n, int value):
    cdef Tensor t = quick_empty(args, n)
    cdef npy_intp i, size
    cdef char* p
    if t is None or not (t.v.chunk.device == cpu0()) \
            or <npy_intp>t.v.chunk.nbytes > recorder().policy.direct_bytes or not t.v.chunk.allocate():
        return None
    p = t.v.chunk.data
    memset(p, 0, t.v.chunk.nbytes)
    if value:
        size = info(t.v.dtype).size
        for i in range(t.v.layout.size()):
            if t.v.dtype == D_F8:
                (<double*>p)[i] = 1
            elif i == 0:
                put_scalar(p, value, t.v.dtype)
            else:
                memcpy(p + i * size, p, size)
    return written(t)


cdef Tensor reshaped(Tensor x, shape):
    """A view of a C-ordered array in a shape of ints, of which one may be -1; None for anything else."""
    cdef npy_intp dims[kMaxDims]
    cdef npy_intp size = x.v.layout.size(), product = 1
    cdef int i, n, unknown = -1, overflow = 0
    cdef tuple lengths = (shape,) if type(shape) is int else tuple(shape) if type(shape) is list else \
        shape if type(shape) is tuple else None
    if lengths is None or len(lengths) > kMaxDims or is_scalar(x) or not size or not contiguous(x):
        return None
    n = len(lengths)
    for i in range(n):
        if type(lengths[i]) is not int:
            return None
        dims[i] = PyLong_AsLongAndOverflow(lengths[i], &overflow)
        if dims[i] == -1 and unknown < 0:
            unknown = i
        elif overflow or dims[i] <= 0 or dims[i] > size:
            return None
        else:
            product *= dims[i]
            if product > size:
                return None
    if unknown >= 0:
        dims[unknown] = size // product
        product *= dims[unknown]
    if product != size:
        return None
    cdef Tensor t = view_of(x)
    t.v.layout.resize(n)
    if n:
        memcpy(t.v.layout.shape(), dims, n * sizeof(npy_intp))
    t.v.layout.set_c_order(x.v.itemsize())
    t.v.layout.offset = x.v.layout.offset
    return t


cdef object quick_reshape(PyObject** args, Py_ssize_t n):
    cdef Tensor t = first_array(args) if n == 2 else None
    return None if t is None else reshaped(t, <object>args[1])


cdef Tensor raveled(Tensor x):
    """A view of a C-ordered array as a vector; None for any other."""
    cdef npy_intp size = x.v.layout.size()
    if not contiguous(x) or is_scalar(x):
        return None
    cdef Tensor t = view_of(x)
    t.v.layout.resize(1)
    t.v.layout.shape()[0] = size
    t.v.layout.strides()[0] = x.v.itemsize()
    return t


cdef object quick_ravel(PyObject** args, Py_ssize_t n):
    cdef Tensor t = only(args, n)
    return None if t is None else raveled(t)


cdef Tensor permuted(Tensor x, int ndim, const int* axes):
    """A view with these of the array's axes, in this order; -1 is a new one, of length one."""
    cdef Tensor t = view_of(x)
    cdef int i
    t.v.layout.resize(ndim)
    for i in range(ndim):
        t.v.layout.shape()[i] = 1 if axes[i] < 0 else x.v.layout.shape()[axes[i]]
        t.v.layout.strides()[i] = 0 if axes[i] < 0 else x.v.layout.strides()[axes[i]]
    return t


cdef object quick_transpose(PyObject** args, Py_ssize_t n):
    cdef Tensor t = only(args, n)
    return None if t is None else transposed(t)


cdef Tensor transposed(Tensor t):
    """A view with the axes in the reverse order."""
    cdef int axes[kMaxDims]
    cdef int i
    for i in range(t.v.layout.ndim):
        axes[i] = t.v.layout.ndim - 1 - i
    return permuted(t, t.v.layout.ndim, axes)


cdef object quick_squeeze(PyObject** args, Py_ssize_t n):
    cdef Tensor t = only(args, n)
    return None if t is None else squeezed(t)


cdef Tensor squeezed(Tensor t):
    """A view without the axes of length one."""
    cdef int axes[kMaxDims]
    cdef int i, n = 0
    for i in range(t.v.layout.ndim):
        if t.v.layout.shape()[i] != 1:
            axes[n] = i
            n += 1
    return permuted(t, n, axes)


cdef object with_axis(Tensor t, int at):
    cdef int axes[kMaxDims + 1]
    cdef int i, n = t.v.layout.ndim + 1
    if n > kMaxDims:
        return None
    for i in range(n):
        axes[i] = -1 if i == at else i - (i > at)
    return permuted(t, n, axes)


cdef object quick_expand_dims(PyObject** args, Py_ssize_t n):
    cdef int overflow = 0, ndim
    cdef long at
    cdef Tensor t = first_array(args) if n == 2 else None
    if t is None or type(<object>args[1]) is not int or not contiguous(t):
        return None
    ndim = t.v.layout.ndim + 1
    at = PyLong_AsLongAndOverflow(<object>args[1], &overflow)
    if overflow or at < -ndim or at >= ndim:
        return None
    t = with_axis(t, at + ndim if at < 0 else at)
    if t is not None:
        t.v.layout.set_c_order(t.v.itemsize())
    return t


cdef object quick_arange(PyObject** args, Py_ssize_t n):
    """A range of integers, Python's or such as were computed."""
    cdef npy_intp start = 0, stop = 0, step = 1
    if n < 1 or n > 3 or not index_of(<object>args[0], &stop):
        return None
    if n > 1:
        start = stop
        if not index_of(<object>args[1], &stop) or n > 2 and not index_of(<object>args[2], &step):
            return None
    if step <= 0 or start >= stop or max(abs(start), abs(stop), step) > _FAR:
        return None
    return ramp(start, step, (stop - start + step - 1) // step)


cdef npy_intp _FAR = 1l << 40


cdef object quick_concatenate(PyObject** args, Py_ssize_t n):
    if n != 1 and n != 2:
        return None
    return join(<object>args[0], <object>args[1] if n == 2 else 0)


cdef object quick_atleast_1d(PyObject** args, Py_ssize_t n):
    cdef Tensor t = only(args, n)
    return None if t is None or t.v.layout.ndim < 1 else t


cdef object quick_atleast_2d(PyObject** args, Py_ssize_t n):
    cdef Tensor t = only(args, n)
    if t is None or t.v.layout.ndim < 1:
        return None
    return with_axis(t, 0) if t.v.layout.ndim == 1 else t


cdef object quick_argmax(PyObject** args, Py_ssize_t n):
    cdef Tensor t = only(args, n)
    return None if t is None else extremum(t, 0)


cdef object quick_argmin(PyObject** args, Py_ssize_t n):
    cdef Tensor t = only(args, n)
    return None if t is None else extremum(t, 1)


cdef extern from *:
    """
    static npy_intp first_extremum(PyArray_ArgFunc* function, char* p, npy_intp n) {
      npy_intp found = 0;
      function(p, n, &found, nullptr);
      return found;
    }
    """
    npy_intp first_extremum(void*, char*, npy_intp) noexcept


cdef Tensor extremum(Tensor x, int what):
    """The index of the largest (0) or smallest (1) element of all; None where it isn't that simple."""
    cdef Kernel* k
    cdef Tensor t
    cdef npy_intp n = x.v.layout.size()
    if not may_run_now() or not contiguous(x) or not n or not at_hand(x.v.chunk, False) \
            or n * x.v.itemsize() > recorder().policy.direct_bytes:
        return None
    k = along_kernel("argmin" if what else "argmax", what, x.v.dtype)
    if k is NULL:
        return None
    t = new_element(D_IL, x.v.chunk.device)
    (<int64_t*>t.v.chunk.data)[0] = first_extremum((<Along*>k.data).extremum,
                                                   x.v.chunk.data + x.v.layout.offset, n)
    return t


cdef object quick_count_nonzero(PyObject** args, Py_ssize_t nargs):
    cdef Tensor t = only(args, nargs)
    cdef npy_intp i, n, count = 0
    cdef char* p
    if t is None or not contiguous(t) or not at_hand(t.v.chunk, False):
        return None
    n = t.v.layout.size()
    p = t.v.chunk.data + t.v.layout.offset
    if n * t.v.itemsize() > recorder().policy.direct_bytes:
        return None
    if t.v.dtype == D_BOOL:
        count = count_true(p, n)
    elif t.v.dtype == D_F8:
        for i in range(n):
            count += (<double*>p)[i] != 0
    elif t.v.dtype == D_IL:
        for i in range(n):
            count += (<int64_t*>p)[i] != 0
    else:
        return None
    t = new_element(D_IL, t.v.chunk.device)
    (<int64_t*>t.v.chunk.data)[0] = count
    return t


cdef object quick_diag(PyObject** args, Py_ssize_t nargs):
    """A matrix with a vector on its diagonal. (The other way round it is a view.)"""
    cdef Tensor t = only(args, nargs), out
    cdef npy_intp i, n, size
    cdef npy_intp[2] shape
    if t is None or t.v.layout.ndim != 1 or not at_hand(t.v.chunk, False) \
            or not (t.v.chunk.device == cpu0()):
        return None
    n = t.v.layout.shape()[0]
    size = t.v.itemsize()
    shape[0] = shape[1] = n
    if n > 1024:
        return None
    out = room_for(t.v.dtype, 2, shape)
    if out is None:
        return None
    memset(out.v.chunk.data, 0, out.v.chunk.nbytes)
    for i in range(n):
        memcpy(out.v.chunk.data + i * (n + 1) * size,
               t.v.chunk.data + t.v.layout.offset + i * t.v.layout.strides()[0], size)
    return written(out)


cdef Tensor picked_elements(Tensor x, object key):
    """``x[i, j]`` for an index of each axis, numbers or vectors of one length; None for other keys."""
    cdef npy_intp* indices[kMaxDims]
    cdef npy_intp at[kMaxDims]
    cdef npy_intp n = -1, i, k, offset, length, size = x.v.itemsize()
    cdef int axis, ndim = x.v.layout.ndim
    cdef tuple keys = key if type(key) is tuple else (key,)
    cdef Tensor t, out
    cdef char* base
    if len(keys) != ndim or not lone_ops() or not at_hand(x.v.chunk, False):
        return None
    for axis in range(ndim):
        o = keys[axis]
        indices[axis] = NULL
        if index_of(o, &at[axis]):
            continue
        length = -1
        if is_tensor(o):
            t = <Tensor>o
            if t.v.layout.ndim == 1 and t.v.dtype == D_IL and contiguous(t) and at_hand(t.v.chunk, False) \
                    and t.v.chunk.device == x.v.chunk.device:
                length = t.v.layout.shape()[0]
                indices[axis] = <npy_intp*>(t.v.chunk.data + t.v.layout.offset)
        elif type(o) is np.ndarray:
            if cnp.PyArray_NDIM(<cnp.ndarray>o) == 1 and cnp.PyArray_TYPE(<cnp.ndarray>o) == cnp.NPY_LONG \
                    and cnp.PyArray_ISCARRAY_RO(<cnp.ndarray>o):
                length = cnp.PyArray_SIZE(<cnp.ndarray>o)
                indices[axis] = <npy_intp*>cnp.PyArray_DATA(<cnp.ndarray>o)
        if length < 0 or n >= 0 and length != n:
            return None
        n = length
    if n < 0 or not (x.v.chunk.device == cpu0()):
        return None
    out = room_for(x.v.dtype, 1, &n)
    if out is None:
        return None
    base = x.v.chunk.data + x.v.layout.offset
    for i in range(n):
        offset = 0
        for axis in range(ndim):
            k = at[axis] if indices[axis] is NULL else indices[axis][i]
            length = x.v.layout.shape()[axis]
            if k < -length or k >= length:
                return None
            offset += (k + length if k < 0 else k) * x.v.layout.strides()[axis]
        if size == 8:
            (<int64_t*>out.v.chunk.data)[i] = (<int64_t*>(base + offset))[0]
        else:
            memcpy(out.v.chunk.data + i * size, base + offset, size)
    return written(out)


cdef Tensor of_sequence(object o, object dtype):
    """An array of nested lists with arrays in them that are all small and at hand; else None."""
    cdef Scan scan
    cdef Tensor t = of_numbers(<list>o) if dtype is None and type(o) is list else None
    if t is not None or not may_run_now() or not recorder().policy.direct_bytes:
        return t
    begin_scan(&scan)
    parts = numpys_operand(o, &scan, 0)
    if not scan.fits or not (scan.device == cpu0()):
        return None
    try:
        a = np.array(parts, dtype)
    except Exception:
        return None
    return written(from_numpy(a, scan.device)) if dtype_of_type_num((<cnp.ndarray>a).descr.type_num) >= 0 else None
