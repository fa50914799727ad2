# Where elements are not zero: count_nonzero, nonzero, flatnonzero, argwhere.


cdef npy_intp set_among(const char* p, npy_intp n, int dtype) noexcept:
    """How many of ``n`` elements that lie together are not zero; -1 for dtypes whose zeros have several bits set."""
    if dtype == D_BOOL:
        return count_true(p, n)
    if dtype == D_F8:
        return count_set(<const double*>p, n)
    if dtype == D_F4:
        return count_set(<const float*>p, n)
    if info(dtype).kind not in b"iu":
        return -1
    if info(dtype).size == 8:
        return count_set(<const int64_t*>p, n)
    if info(dtype).size == 4:
        return count_set(<const int32_t*>p, n)
    if info(dtype).size == 2:
        return count_set(<const int16_t*>p, n)
    return count_set(p, n)


cdef void put_places_of(const char* p, npy_intp n, int dtype, int64_t* to, npy_intp count) noexcept:
    """The places of the ``count`` elements that `set_among` has found."""
    if dtype == D_BOOL and count < n // 32:  # else the places that tests of bits mispredict take longer
        places_of_true(p, n, <npy_intp*>to)
    elif dtype == D_F8:
        put_places(<const double*>p, to, count)
    elif dtype == D_F4:
        put_places(<const float*>p, to, count)
    elif info(dtype).size == 8:
        put_places(<const int64_t*>p, to, count)
    elif info(dtype).size == 4:
        put_places(<const int32_t*>p, to, count)
    elif info(dtype).size == 2:
        put_places(<const int16_t*>p, to, count)
    else:
        put_places(p, to, count)


ctypedef fused Truth:
    char
    float
    double
    int16_t
    int32_t
    int64_t


cdef inline void put_places(const Truth* p, int64_t* to, npy_intp count) noexcept:
    """The places of the ``count`` elements that aren't zero, without a branch that depends on one."""
    cdef int64_t* end = to + count
    cdef int64_t i = 0
    while to < end:
        to[0] = i
        to += p[i] != 0
        i += 1


cdef void split_places(int64_t* places, npy_intp n, npy_intp width, int64_t* within) noexcept:
    """`split_any` of places that ascend, in 0.6 of its time."""
    cdef int64_t i, row = 0, start = 0
    for i in range(n):
        if places[i] - start >= width:
            row = places[i] // width if places[i] - start >= 4 * width else row + 1
            start = row * width
            while places[i] - start >= width:
                start += width
                row += 1
        within[i] = places[i] - start
        places[i] = row


cdef npy_intp set_in(Tensor t) noexcept:
    return set_among(t.v.elements(), t.v.layout.size(), t.v.dtype)


cdef object quick_count_nonzero(PyObject** args, Py_ssize_t nargs):
    cdef Tensor t = only(args, nargs)
    cdef npy_intp count
    if t is None or not contiguous(t) and not in_fortran_order(t) or not t.v.at_hand() or t.v.layout.size() * t.v.itemsize() > most_bytes(True):
        return None
    count = set_in(t)
    if count < 0:
        return None
    t = new_element(D_IL, t.v.device())
    (<int64_t*>t.v.elements())[0] = count
    return t


cdef Tensor places_set(Tensor t):
    """Where elements are not zero, of all in C order; None where it isn't that simple."""
    cdef npy_intp count
    cdef Tensor places
    if t is None or not t.v.layout.ndim or not is_ready(t, True):
        return None
    count = set_in(t)
    places = small_array(D_IL, 1, &count, True) if count >= 0 else None
    if places is not None:
        put_places_of(t.v.elements(), t.v.layout.size(), t.v.dtype, <int64_t*>places.v.chunk.data, count)
    return places


cdef object quick_flatnonzero(PyObject** args, Py_ssize_t nargs):
    cdef Tensor places = places_set(only(args, nargs))
    return None if places is None or not seen_as_wait("flatnonzero()") else written(places)


cdef object quick_nonzero(PyObject** args, Py_ssize_t nargs):
    """The indices of what is not zero, along each axis."""
    cdef Tensor t = only(args, nargs), rows = places_set(t), within
    cdef npy_intp count
    cdef int axis
    if rows is None or not seen_as_wait("nonzero()"):
        return None
    count = rows.v.layout.size()
    cdef list found = []
    for axis in range(t.v.layout.ndim - 1, 0, -1):
        within = small_array(D_IL, 1, &count, True)
        if within is None:
            return None
        split_places(<int64_t*>rows.v.chunk.data, count, t.v.layout.shape()[axis], <int64_t*>within.v.chunk.data)
        found.append(written(within))
    found.append(written(rows))
    return tuple(found[::-1])


cdef cnp.ndarray places_among(object o):
    """`places_set` of an array of NumPy's, as such."""
    cdef cnp.ndarray a, places
    cdef cnp.npy_intp count
    cdef int dtype
    if type(o) is not np.ndarray:
        return None
    a = o
    dtype = dtype_of_type_num(cnp.PyArray_TYPE(a))
    if dtype < 0 or not cnp.PyArray_ISCARRAY_RO(a) or not cnp.PyArray_NDIM(a):
        return None
    count = set_among(cnp.PyArray_BYTES(a), cnp.PyArray_SIZE(a), dtype)
    if count < 0:
        return None
    places = cnp.PyArray_EMPTY(1, &count, cnp.NPY_INTP, 0)
    put_places_of(cnp.PyArray_BYTES(a), cnp.PyArray_SIZE(a), dtype, <int64_t*>cnp.PyArray_DATA(places), count)
    return places


def flatnonzero(a):
    """``numpy.flatnonzero``, in less time for numbers that lie together."""
    places = places_among(a)
    return np.flatnonzero(a) if places is None else places


def nonzero(a):
    """``numpy.nonzero``, in less time for numbers that lie together."""
    cdef cnp.ndarray within, rows = places_among(a)
    cdef cnp.npy_intp count
    cdef list found
    cdef int axis
    if rows is None:
        return np.nonzero(a)
    count, found = cnp.PyArray_SIZE(rows), [rows]
    for axis in range(cnp.PyArray_NDIM(a) - 1, 0, -1):
        within = cnp.PyArray_EMPTY(1, &count, cnp.NPY_INTP, 0)
        split_places(<int64_t*>cnp.PyArray_DATA(rows), count, cnp.PyArray_DIM(a, axis),
                     <int64_t*>cnp.PyArray_DATA(within))
        found.insert(1, within)
    return tuple(found)


def argwhere(a):
    """``numpy.argwhere``, in less time for numbers that lie together."""
    cdef cnp.npy_intp[2] shape
    cdef cnp.ndarray found, rows = places_among(a)
    cdef int64_t* to
    cdef int axis
    if rows is None:
        return np.argwhere(a)
    shape[0], shape[1] = cnp.PyArray_NDIM(a), cnp.PyArray_SIZE(rows)
    found = cnp.PyArray_EMPTY(2, shape, cnp.NPY_INTP, 0)
    to = <int64_t*>cnp.PyArray_DATA(found)
    memcpy(to, cnp.PyArray_DATA(rows), shape[1] * 8)
    for axis in range(shape[0] - 1, 0, -1):
        split_places(to, shape[1], cnp.PyArray_DIM(a, axis), to + axis * shape[1])
    return found.T
