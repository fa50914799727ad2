# From and to NumPy and Python scalars.


cdef class _ChunkRef:
    """What a NumPy view of a chunk's memory has as its base."""

    cdef Chunk* chunk

    def __dealloc__(self):
        if self.chunk is not NULL:
            self.chunk.drop_handle()


cdef object numpy_view(const View* v, bint writable):
    """A NumPy array on the memory itself. The caller knows that nobody else uses it now."""
    if not v.on_host():
        raise TypeError("an array on a GPU has no NumPy view: asnumpy() copies it")
    need_memory(v.chunk)
    cdef cnp.dtype d = _dtypes[v.dtype]
    Py_INCREF(d)  # stolen
    cdef View* w = <View*>v
    cdef object a = PyArray_NewFromDescr(
        &PyArray_Type, d, w.layout.ndim, w.layout.shape(), w.layout.strides(),
        v.chunk.data + w.layout.offset, NPY_ARRAY_WRITEABLE if writable else 0, None)
    cdef _ChunkRef ref = _ChunkRef.__new__(_ChunkRef)
    v.chunk.add_handle()
    ref.chunk = v.chunk
    Py_INCREF(ref)  # stolen
    cnp.PyArray_SetBaseObject(<cnp.ndarray>a, ref)
    return a


cdef bint is_on_chunk(object a) noexcept:
    """Whether a NumPy array is, or is a view of, one that `numpy_view` made."""
    while a is not None and Py_TYPE(a) == &PyArray_Type:
        a = <object>PyArray_BASE(<cnp.ndarray>a) if PyArray_BASE(<cnp.ndarray>a) is not NULL else None
    return type(a) is _ChunkRef


cdef enum:
    _COLUMN = 32768  # bytes that are copied here, without letting go of the GIL


cdef Tensor from_numpy(object array, CDevice device, Py_ssize_t known=0):
    """A new tensor with a copy of a NumPy array, in its layout ('K' order).

    Or on its memory, where that is large and the caller has all ``known`` references to the array.
    """
    cdef cnp.ndarray a = array
    cdef int code = dtype_of_type_num(a.descr.type_num)
    cdef int i, ndim = cnp.PyArray_NDIM(a)
    cdef npy_intp step
    cdef char* from_
    if code < 0:
        code = dtype_code(a.dtype)  # raises
    if not cnp.PyArray_ISNOTSWAPPED(a):
        a = a.astype(a.dtype.newbyteorder("="))
    if not device.on_host():
        return moved(from_numpy(a, cpu0()), device)
    cdef Tensor t = empty_like_shape(code, ndim, <const npy_intp*>cnp.PyArray_DIMS(a), device)
    cdef cnp.ndarray w
    cdef bint fortran = not cnp.PyArray_IS_C_CONTIGUOUS(a)
    if not fortran or cnp.PyArray_IS_F_CONTIGUOUS(a):
        if fortran:
            step = info(code).size
            for i in range(ndim):
                t.v.layout.strides()[i] = step
                step *= t.v.layout.shape()[i]
        if known and take_memory(t.v.chunk, a, known + 1):
            return t
        need_memory(t.v.chunk)
        memcpy(t.v.chunk.data, cnp.PyArray_DATA(a), t.v.chunk.nbytes)
    elif ndim == 1 and t.v.itemsize() == 8 and t.v.chunk.nbytes <= _COLUMN \
            and cnp.PyArray_ISALIGNED(a) and t.v.chunk.allocate():  # a column
        from_ = cnp.PyArray_BYTES(a)
        step = cnp.PyArray_STRIDES(a)[0]
        for i in range(<int>t.v.layout.shape()[0]):
            (<int64_t*>t.v.chunk.data)[i] = (<int64_t*>(from_ + i * step))[0]
    else:
        like = np.empty_like(a)
        for i in range(ndim):
            t.v.layout.strides()[i] = like.strides[i]
        w = numpy_view(&t.v, True)
        w[...] = a
    return t


cdef object _generic = np.generic
cdef object _float64 = np.float64, _int64 = np.int64, _float32 = np.float32


cdef PyTypeObject* _numpys_types[kDtypes]
for _code in range(kDtypes):
    _number = np_dtype(_code).type
    _numpys_types[_code] = <PyTypeObject*>_number


cdef int code_of_scalar(object o) noexcept:
    """The dtype of one of NumPy's scalars; -1 of any other object, also where a user derived its type from theirs."""
    cdef int code
    for code in range(kDtypes):
        if Py_TYPE(o) == _numpys_types[code]:
            return code
    return -1


cdef inline const char* inside_scalar(object o) noexcept:
    """The value of such a scalar, which lies behind what all objects begin with."""
    return <const char*><PyObject*>o + sizeof(PyObject)


cdef bint put_number(char* to, object value, int dtype) noexcept:
    """`put_scalar` where it is simple: a number that fits, or has the dtype. Else false."""
    cdef long n
    cdef int overflow = 0, code
    cdef const char* p
    t = type(value)
    if t is float or t is _float64:
        return put_real(to, PyFloat_AS_DOUBLE(value), dtype)
    if t is int or t is bool:
        n = PyLong_AsLongAndOverflow(value, &overflow)
        return not overflow and put_integer(to, n, dtype)
    if t is complex and dtype == D_C16:
        (<double*>to)[0] = (<complex>value).real
        (<double*>to)[1] = (<complex>value).imag
        return True
    if t is complex and dtype == D_C8:
        return put_single(to, (<complex>value).real) and put_single(to + 4, (<complex>value).imag)
    code = code_of_scalar(value)
    if code < 0:
        return False
    p = inside_scalar(value)
    if code == dtype:
        memcpy(to, p, info(code).size)
        return True
    if code == D_F4:
        return put_real(to, (<const float*>p)[0], dtype)
    if code == D_F2:
        return put_real(to, half_value(<char*>p), dtype)
    if info(code).kind in b"iu":
        n = whole_at(p, info(code).size, info(code).kind == b"i")
        return (n >= 0 or info(code).kind == b"i") and put_integer(to, n, dtype)
    return False


cdef bint put_large(void* to, object value, int dtype) noexcept:
    """Writes a Python integer of more than 63 bits where it is simple: a float64, complex128 or uint64. Else false."""
    if type(value) is not int:
        return False
    try:
        if dtype == D_F8 or dtype == D_C16:
            return put_real(<char*>to, PyLong_AsDouble(value), dtype)
        if info(dtype).kind == b"u" and info(dtype).size == 8:
            (<uint64_t*>to)[0] = <uint64_t>value
            return True
    except OverflowError:
        pass
    return False


cdef bint put_integer(char* to, long n, int dtype) noexcept:
    """Writes an integer that is simply one of the dtype."""
    cdef int size = info(dtype).size
    cdef char kind = info(dtype).kind
    if kind == b"b":
        to[0] = n != 0
        return True
    if kind == b"i":
        if size == 8:
            (<int64_t*>to)[0] = n
            return True
        if n < -(1l << (8 * size - 1)) or n >= 1l << (8 * size - 1):
            return False
        memcpy(to, &n, size)  # the low bytes come first, see meson.build
        return True
    if kind == b"u":
        if n < 0 or size < 8 and n >= 1l << (8 * size):
            return False
        memcpy(to, &n, size)
        return True
    return (dtype == D_F8 or dtype == D_C16 or -(1l << 53) <= n <= 1l << 53) and put_real(to, n, dtype)


cdef bint put_real(char* to, double d, int dtype) noexcept:
    """Writes a float as one of the dtype: integers lose what is behind the point, as in NumPy."""
    if dtype == D_F8:
        (<double*>to)[0] = d
    elif dtype == D_F4:
        return put_single(to, d)
    elif dtype == D_C16:
        (<double*>to)[0] = d
        (<double*>to)[1] = 0
    elif dtype == D_C8:
        (<float*>to)[1] = 0
        return put_single(to, d)
    elif dtype == D_F2:
        return put_half(to, d)
    elif dtype == D_BOOL:
        to[0] = d != 0
    elif info(dtype).kind == b"i" or info(dtype).kind == b"u":
        return -9e15 < d < 9e15 and put_integer(to, <long>d, dtype)
    else:
        return False
    return True


cdef bint put_element(char* to, Tensor t, int dtype) noexcept:
    """The same of an element that is at hand, of a dtype that programs compute in."""
    if t.v.dtype == D_F8:
        return put_real(to, (<double*>t.v.elements())[0], dtype)
    if t.v.dtype == D_IL:
        return put_integer(to, (<int64_t*>t.v.elements())[0], dtype)
    if t.v.dtype == D_F4:
        return put_real(to, (<float*>t.v.elements())[0], dtype)
    return t.v.dtype == D_BOOL and put_integer(to, t.v.elements()[0] != 0, dtype)


cdef inline bint put_single(char* to, double d) noexcept:
    """Writes a float that is normal in single precision, or 0; false of others, whose flags may be asked for."""
    if not FLT_MIN <= fabs(d) <= FLT_MAX and d != 0:
        return False
    (<float*>to)[0] = <float>d
    return True


cdef double half_value(char* p) noexcept:
    """The number of half precision at ``p``."""
    cdef char* args[2]
    cdef double value = 0
    cdef npy_intp one = 1
    cdef npy_intp[2] none = [0, 0]
    args[0], args[1] = p, <char*>&value
    cast_loop(info(D_F2).type_num, info(D_F8).type_num)(args, &one, none, NULL)
    return value


cdef bint put_half(char* to, double d) noexcept:
    """The same of half precision, of numbers that are normal there, or 0."""
    cdef char* args[2]
    cdef npy_intp one = 1
    cdef npy_intp[2] none = [0, 0]
    if not (6.2e-5 < fabs(d) <= 65504 or d == 0):
        return False
    args[0], args[1] = <char*>&d, to
    cast_loop(info(D_F8).type_num, info(D_F2).type_num)(args, &one, none, NULL)
    return True


cdef int put_scalar(char* to, object value, int dtype) except -1:
    """Writes a Python or NumPy scalar as one element of `dtype`.

    OverflowError for a Python integer out of range, as NumPy's.
    """
    if put_number(to, value, dtype):
        return 0
    if type(value) is Number:
        return put_scalar(to, (<Number>value).look(), dtype)
    if dtype == D_F8:
        if isinstance(value, float):  # of a class that may have a way of its own to be a float
            value = PyNumber_Float(value)
        (<double*>to)[0] = PyFloat_AsDouble(value)
        return 0
    cdef cnp.ndarray a = np.zeros((), _dtypes[dtype])
    a[()] = value
    memcpy(to, cnp.PyArray_DATA(a), info(dtype).size)
    return 0
