# Native ways of picking and storing elements by integers: x[k], x[i, j] = v, take, put.


cdef extern from *:
    """
    static bool within(const npy_intp* k, npy_intp n, npy_intp length) {
      bool fine = true;
      for (npy_intp i = 0; i < n; ++i) fine &= size_t(k[i] + length) < 2 * size_t(length);
      return fine;
    }
    template <class T>
    static void pick_places(char* out, const char* base, const npy_intp* k, npy_intp n, npy_intp length,
                            npy_intp step) {
      for (npy_intp i = 0; i < n; ++i)
        reinterpret_cast<T*>(out)[i] =
            *reinterpret_cast<const T*>(base + (k[i] < 0 ? k[i] + length : k[i]) * step);
    }
    template <class T>
    static void store_places(char* base, const char* values, npy_intp each, const npy_intp* k, npy_intp n,
                             npy_intp length, npy_intp step) {
      for (npy_intp i = 0; i < n; ++i)
        *reinterpret_cast<T*>(base + (k[i] < 0 ? k[i] + length : k[i]) * step) =
            *reinterpret_cast<const T*>(values + i * each);
    }
    """
    bint within(const npy_intp*, npy_intp, npy_intp) noexcept
    void pick_places[T](char*, const char*, const npy_intp*, npy_intp, npy_intp, npy_intp) noexcept
    void store_places[T](char*, const char*, npy_intp, const npy_intp*, npy_intp, npy_intp, npy_intp) noexcept


cdef enum:
    _LISTED = 64  # integers in lists


cdef struct Places:
    npy_intp* indices[kMaxDims]  # along each axis; NULL: one number, in `at`
    npy_intp at[kMaxDims]
    npy_intp n
    npy_intp listed[_LISTED]


cdef bint places_of(Places* p, Tensor x, object key, bint writes) except -1:
    """Whether a key has an index in bounds for each axis, numbers or vectors of one length; which."""
    cdef int axis, ndim = x.v.layout.ndim
    cdef tuple keys = key if type(key) is tuple else (key,)
    cdef npy_intp length, i, used = 0
    cdef Tensor t
    if len(keys) != ndim or not lone_ops() or not at_hand(x.v.chunk, writes) \
            or not (x.v.chunk.device == cpu0()):
        return False
    p.n = -1
    for axis in range(ndim):
        o = keys[axis]
        p.indices[axis] = NULL
        if index_of(o, &p.at[axis]):
            if not within(&p.at[axis], 1, x.v.layout.shape()[axis]):
                return False
            continue
        length = -1
        if is_tensor(o):
            t = <Tensor>o
            if t.v.layout.ndim == 1 and t.v.dtype == D_IL and contiguous(t) and at_hand(t.v.chunk, False) \
                    and t.v.chunk.device == x.v.chunk.device and not (writes and t.v.chunk == x.v.chunk):
                length = t.v.layout.shape()[0]
                p.indices[axis] = <npy_intp*>(t.v.chunk.data + t.v.layout.offset)
        elif type(o) is list:
            if 0 < len(<list>o) <= _LISTED - used:
                length = len(<list>o)
                p.indices[axis] = &p.listed[used]
                for i in range(length):
                    if type((<list>o)[i]) is not int or not index_of((<list>o)[i], &p.listed[used + i]):
                        return False
                used += length
        elif type(o) is np.ndarray:
            if cnp.PyArray_NDIM(<cnp.ndarray>o) == 1 and cnp.PyArray_TYPE(<cnp.ndarray>o) == cnp.NPY_LONG \
                    and cnp.PyArray_ISCARRAY_RO(<cnp.ndarray>o):
                length = cnp.PyArray_SIZE(<cnp.ndarray>o)
                p.indices[axis] = <npy_intp*>cnp.PyArray_DATA(<cnp.ndarray>o)
        if length < 0 or p.n >= 0 and length != p.n \
                or not within(p.indices[axis], length, x.v.layout.shape()[axis]):
            return False
        p.n = length
    return p.n >= 0


cdef npy_intp offset_of(Places* p, Tensor x, npy_intp i) noexcept:
    """Where in the memory of x the i-th of the elements lies, from x's first."""
    cdef npy_intp offset = 0, k
    cdef int axis
    for axis in range(x.v.layout.ndim):
        k = p.at[axis] if p.indices[axis] is NULL else p.indices[axis][i]
        offset += (k + x.v.layout.shape()[axis] if k < 0 else k) * x.v.layout.strides()[axis]
    return offset


cdef Tensor picked_elements(Tensor x, object key):
    """``x[i, j]`` for an index of each axis, numbers or vectors of one length; None for other keys."""
    cdef Places p
    cdef npy_intp i, size = x.v.itemsize()
    cdef Tensor out
    cdef char* base
    if not places_of(&p, x, key, False):
        return None
    out = room_for(x.v.dtype, 1, &p.n)
    if out is None:
        return None
    base = x.v.chunk.data + x.v.layout.offset
    if size == 8 and x.v.layout.ndim == 1:
        pick_places[int64_t](out.v.chunk.data, base, p.indices[0], p.n, x.v.layout.shape()[0],
                             x.v.layout.strides()[0])
    else:
        for i in range(p.n):
            memcpy(out.v.chunk.data + i * size, base + offset_of(&p, x, i), size)
    return written(out)


cdef bint stored_elements(Tensor x, object key, object value) except -1:
    """``x[i, j] = value`` for such a key, and a number or as many values of x's dtype; else false."""
    cdef Places p
    cdef npy_intp i, size = x.v.itemsize(), each = 0
    cdef long double number[2]  # 32 bytes, aligned
    cdef char* values = <char*>number
    cdef Tensor v
    cdef char* base
    if is_scalar(x) or unwritable(x) or not places_of(&p, x, key, True) \
            or p.n * size > recorder().policy.direct_bytes:
        return False
    if is_tensor(value):
        v = <Tensor>value
        if v.v.dtype != x.v.dtype or v.v.layout.ndim > 1 or not at_hand(v.v.chunk, False) \
                or v.v.chunk == x.v.chunk or not (v.v.chunk.device == cpu0()):
            return False
        if v.v.layout.ndim:
            if v.v.layout.shape()[0] != p.n:
                return False
            each = v.v.layout.strides()[0]
        values = v.v.chunk.data + v.v.layout.offset
    elif not put_number(values, value, x.v.dtype):
        return False
    base = x.v.chunk.data + x.v.layout.offset
    if size == 8 and x.v.layout.ndim == 1:
        store_places[int64_t](base, values, each, p.indices[0], p.n, x.v.layout.shape()[0],
                              x.v.layout.strides()[0])
    else:
        for i in range(p.n):
            memcpy(base + offset_of(&p, x, i), values + i * each, size)
    changed(x.v.chunk)
    return True


cdef void changed(Chunk* c):
    """Counts a write of the caller's."""
    c.version.fetch_add(1)
    issue(c, 1)
    recorder().inlined += 1


cdef object quick_take(PyObject** args, Py_ssize_t n):
    """The elements of a vector at some places."""
    cdef Tensor x = first_array(args) if n == 2 or n == 3 else None
    if n == 3 and (x is None or x.v.layout.ndim != 1 or axis_of(<object>args[2], 1) != 0):
        return None
    return None if x is None or type(<object>args[1]) is tuple else picked_elements(x, <object>args[1])


cdef object quick_where(PyObject** args, Py_ssize_t n):
    """Elements of two small vectors or numbers of float64, by a mask."""
    cdef double numbers[2]
    cdef char* from_[2]
    cdef npy_intp steps[2]
    cdef npy_intp i
    cdef bint real = False
    cdef Tensor mask = first_array(args) if n == 3 else None, t
    cdef const char* chosen
    if mask is None or mask.v.dtype != D_BOOL or not is_ready(mask):
        return None
    for i in range(2):
        o = <object>args[i + 1]
        if Py_TYPE(o) == type_of_arrays():
            t = <Tensor>o
            if t.v.dtype != D_F8 or not t.v.layout.same_shape(mask.v.layout) or not is_ready(t):
                return None
            from_[i], steps[i], real = t.v.chunk.data + t.v.layout.offset, 8, True
        elif double_at_hand(o, &numbers[i]):
            from_[i], steps[i] = <char*>&numbers[i], 0
            real = real or type(o) is not int
        else:
            return None
    t = room_for(D_F8, mask.v.layout.ndim, mask.v.layout.shape()) if real and mask.v.layout.ndim else None
    if t is None:
        return None
    chosen = mask.v.chunk.data + mask.v.layout.offset
    for i in range(mask.v.layout.size()):
        (<double*>t.v.chunk.data)[i] = (<double*>(from_[0] + i * steps[0]))[0] if chosen[i] \
            else (<double*>(from_[1] + i * steps[1]))[0]
    return written(t)


cdef object quick_put(PyObject** args, Py_ssize_t n):
    """Stores values at places of a vector; the vector, if that was possible."""
    cdef Tensor x = first_array(args) if n == 3 else None
    if x is None or type(<object>args[1]) is tuple:
        return None
    return x if stored_elements(x, <object>args[1], <object>args[2]) else None


cdef object quick_copyto(PyObject** args, Py_ssize_t n):
    """Copies an array to another of its shape and dtype; that one, if it was possible."""
    cdef Tensor to, x
    cdef Py_ssize_t nbytes
    if n != 2 or not is_tensor(<object>args[0]) or not is_tensor(<object>args[1]):
        return None
    to, x = <Tensor>args[0], <Tensor>args[1]
    nbytes = to.v.layout.size() * to.v.itemsize()
    if is_scalar(to) or unwritable(to) or to.v.chunk == x.v.chunk or to.v.dtype != x.v.dtype \
            or not to.v.layout.same_shape(x.v.layout) or not contiguous(to) or not contiguous(x) \
            or not may_run_now() or nbytes > recorder().policy.direct_bytes \
            or not at_hand(to.v.chunk, True) or not at_hand(x.v.chunk, False) \
            or not (to.v.chunk.device == cpu0()) or not (x.v.chunk.device == cpu0()):
        return None
    memcpy(to.v.chunk.data + to.v.layout.offset, x.v.chunk.data + x.v.layout.offset, nbytes)
    changed(to.v.chunk)
    return to
