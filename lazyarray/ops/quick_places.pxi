# Native ways of picking and storing elements by integers: x[k], x[i, j] = v, take, put.


cdef extern from "ops/places.h" namespace "lazyarray":
    cppclass Places:
        const char* indices[kMaxDims]
        npy_intp steps[kMaxDims]
        npy_intp at[kMaxDims]
        npy_intp n
        npy_intp listed[64]
        bint within(int, npy_intp, npy_intp) noexcept
    void pick_places(npy_intp, char*, const char*, const Places&, const Layout&) noexcept
    void store_places(npy_intp, char*, const char*, npy_intp, const Places&, const Layout&) noexcept
    void add_places[T](char*, const char*, npy_intp, const Places&, const Layout&, bint, T*) noexcept
    void restore_places[T](char*, const Places&, const Layout&, const T*) noexcept
    void split_any(int64_t*, npy_intp, int64_t, int64_t*) noexcept
    void copy_steps(int, char*, const npy_intp*, const char*, const npy_intp*, const npy_intp*, int) noexcept
    npy_intp count_set[T](const T*, npy_intp) noexcept


cdef enum:
    _LISTED = 64  # Places::kListed


cdef bint places_of(Places* p, Tensor x, object key, bint writes) except -1:
    """Whether a key has an index in bounds for each axis, numbers or vectors of one length; which."""
    cdef int axis, ndim = x.v.layout.ndim
    cdef tuple keys = key if type(key) is tuple else (key,)
    # No copy is made of what is read or written: as many as NumPy gets at the call.
    cdef npy_intp length, i, used = 0, most = most_bytes(True) // x.v.itemsize()
    cdef cnp.ndarray a
    cdef Tensor t
    if len(keys) != ndim or not lone_ops() or not at_hand(x.v.chunk, writes) \
            or not (x.v.device() == cpu0()):
        return False
    p.n = -1
    for axis in range(ndim):
        o = keys[axis]
        p.indices[axis] = NULL
        if index_of(o, &p.at[axis]):
            if not p.within(axis, 1, x.v.layout.shape()[axis]):
                return False
            continue
        length, p.steps[axis] = -1, 8
        if is_tensor(o):
            t = <Tensor>o
            if t.v.layout.ndim == 1 and t.v.dtype == D_IL and t.v.at_hand() \
                    and t.v.device() == x.v.device() and not (writes and t.v.same_memory(x.v)):
                length, p.steps[axis] = t.v.layout.shape()[0], t.v.layout.strides()[0]
                p.indices[axis] = t.v.elements()
        elif type(o) is list:
            if 0 < len(<list>o) <= _LISTED - used:
                length = len(<list>o)
                p.indices[axis] = <const char*>&p.listed[used]
                for i in range(length):
                    if type((<list>o)[i]) is not int or not index_of((<list>o)[i], &p.listed[used + i]):
                        return False
                used += length
        elif type(o) is np.ndarray:
            a = o
            if cnp.PyArray_NDIM(a) == 1 and cnp.PyArray_TYPE(a) == cnp.NPY_LONG and cnp.PyArray_ISBEHAVED_RO(a):
                length, p.steps[axis] = cnp.PyArray_DIM(a, 0), cnp.PyArray_STRIDE(a, 0)
                p.indices[axis] = cnp.PyArray_BYTES(a)
        # What is stored must not change the indices; by those that go backwards NumPy stores the last values first.
        if length < 0 or length > most or p.n >= 0 and length != p.n \
                or writes and (p.steps[axis] < 0 or lie_on(x.v.chunk, p.indices[axis], length, p.steps[axis], 8)) \
                or not p.within(axis, length, x.v.layout.shape()[axis]):
            return False
        p.n = length
    return p.n >= 0


cdef inline bint lie_on(Chunk* c, const char* p, npy_intp n, npy_intp step, npy_intp size) noexcept:
    """Whether some of ``n`` elements are the chunk's, by whatever way somebody came to them."""
    cdef npy_intp last = step * (n - 1)
    return n and p + min(last, 0) < c.data + c.nbytes and p + max(last, 0) + size > c.data


cdef Tensor picked_elements(Tensor x, object key):
    """``x[i, j]`` for an index of each axis, numbers or vectors of one length; None for other keys.

    Or of a vector ``x[i]`` for an array of any shape whose elements lie in a row.
    """
    cdef Places p
    cdef Tensor out, shaped = None
    if is_tensor(key) and x.v.layout.ndim == 1 and (<Tensor>key).v.layout.ndim > 1 and contiguous(<Tensor>key):
        shaped = <Tensor>key
        key = raveled(shaped)
    if not places_of(&p, x, key, False):
        return None
    if shaped is None:
        out = empty_like_shape(x.v.dtype, 1, &p.n, cpu0())
    else:
        out = empty_like_shape(x.v.dtype, shaped.v.layout.ndim, shaped.v.layout.shape(), cpu0())
    if not out.v.chunk.allocate():
        return None
    pick_places(x.v.itemsize(), out.v.chunk.data, x.v.elements(), p, x.v.layout)
    return written(out)


cdef bint stored_elements(Tensor x, object key, object value) except -1:
    """``x[i, j] = value`` for such a key, and a number or as many values; else false."""
    cdef Places p
    cdef npy_intp each = 0
    cdef long double number[2 * _LISTED]  # 32 bytes each, aligned
    cdef char* values = <char*>number
    cdef Tensor v
    if is_scalar(x) or unwritable(x) or not places_of(&p, x, key, True):
        return False
    if is_tensor(value):
        v = <Tensor>value
        if v.v.dtype != x.v.dtype or v.v.layout.ndim > 1 or not v.v.at_hand() or not (v.v.device() == cpu0()):
            return False
        if v.v.same_memory(x.v):
            v = ordered_copy(v, False)
            if v is None:
                return False
        if v.v.layout.ndim:
            if v.v.layout.shape()[0] != p.n:
                return False
            each = v.v.layout.strides()[0]
        values = v.v.elements()
        if lie_on(x.v.chunk, values, p.n, each, x.v.itemsize()):
            return False
    elif type(value) is list:
        each = x.v.itemsize()
        if len(<list>value) != p.n or p.n > _LISTED or not put_numbers(values, value, p.n, x.v.dtype):
            return False
    elif not put_number(values, value, x.v.dtype):
        return False
    store_places(x.v.itemsize(), x.v.elements(), values, each, p, x.v.layout)
    changed(x.v.chunk)
    return True


cdef bint stored_now(Tensor to, object value) except -1:
    """``to[...] = value`` for not many elements, and a number or values of the same dtype; else false.

    Values that overlap must lie in a row, as the elements do.
    """
    cdef npy_intp steps[kMaxDims]
    cdef long double number[2]  # 32 bytes, aligned
    cdef char* values = <char*>number
    cdef Layout* l = &to.v.layout
    cdef Layout* m
    cdef npy_intp size = to.v.itemsize()
    cdef int axis, extra
    cdef bint overlaps
    cdef Tensor t
    if not may_run_now() or not to.v.near() or l.size() * size > 4 * recorder().policy.direct_bytes \
            or not at_hand(to.v.chunk, True):
        return False
    memset(steps, 0, l.ndim * sizeof(npy_intp))
    if is_tensor(value):
        t = <Tensor>value
        m = &t.v.layout
        extra = l.ndim - m.ndim
        if t.v.dtype != to.v.dtype or extra < 0 or not t.v.near():
            return False
        if to.v.same_view(t.v):
            return True  # z[k] += 1 ends so
        overlaps = t.v.same_memory(to.v) and to.v.may_overlap(t.v)
        for axis in range(m.ndim):
            if m.shape()[axis] == l.shape()[axis + extra]:
                steps[axis + extra] = m.strides()[axis]
            elif m.shape()[axis] != 1:
                return False
        values = t.v.elements()
        if m.same_shape(l[0]) and contiguous(to) and contiguous(t):
            memmove(to.v.elements(), values, l.size() * size)
            changed(to.v.chunk)
            return True
        if overlaps:
            return False
    elif not put_number(values, value, to.v.dtype):
        return False
    copy_steps(<int>size, to.v.elements(), l.strides(), values, steps, l.shape(), l.ndim)
    changed(to.v.chunk)
    return True


cdef void changed(Chunk* c):
    """Counts a write of the caller's."""
    c.version.fetch_add(1)
    issue(c, 1)
    recorder().inlined += 1


cdef object quick_take(PyObject** args, Py_ssize_t n):
    """The elements of a vector at some places, or the rows of a matrix."""
    cdef Tensor x = first_array(args) if n == 2 or n == 3 else None
    if n == 3 and x is not None and x.v.layout.ndim == 2 and axis_of(<object>args[2], 2) == 0:
        return rows_now(x, <object>args[1])
    if n == 3 and (x is None or x.v.layout.ndim != 1 or axis_of(<object>args[2], 1) != 0):
        return None
    return None if x is None or type(<object>args[1]) is tuple else picked_elements(x, <object>args[1])


cdef object quick_where(PyObject** args, Py_ssize_t n):
    """Elements of two small arrays of one dtype, or numbers, by a mask; or, of a mask alone, where it is set."""
    cdef long double numbers[4]  # twice 32 bytes, aligned
    cdef char* given[4]
    cdef npy_intp steps[4]
    cdef npy_intp i, size
    cdef int code = -1
    cdef Tensor mask = first_array(args) if n == 3 else None, t
    if n == 1:
        return quick_nonzero(args, n)
    if mask is None or mask.v.dtype != D_BOOL or not mask.v.layout.ndim or not is_ready(mask):
        return None
    for i in range(1, 3):
        if Py_TYPE(<object>args[i]) != type_of_arrays():
            continue
        t = <Tensor>args[i]
        if code >= 0 and t.v.dtype != code or not t.v.layout.same_shape(mask.v.layout) or not is_ready(t):
            return None
        code = t.v.dtype
    if code < 0:  # two numbers
        kinds = {type(<object>args[1]), type(<object>args[2])}
        code = D_IL if kinds == {int} else D_F8 if kinds <= {int, float} else -1
    if code < 0:
        return None
    given[0], steps[0], size = mask.v.elements(), 1, info(code).size
    for i in range(1, 3):
        o = <object>args[i]
        if Py_TYPE(o) == type_of_arrays():
            given[i], steps[i] = (<Tensor>o).v.elements(), size
        elif may_be(o, code) and put_value(<char*>&numbers[2 * (i - 1)], o, code):
            given[i], steps[i] = <char*>&numbers[2 * (i - 1)], 0
        else:
            return None
    t = small_array(code, mask.v.layout.ndim, mask.v.layout.shape())
    if t is None:
        return None
    given[3], steps[3], n = t.v.chunk.data, size, mask.v.layout.size()
    where_of_size(<int>size)(given, &n, steps, NULL)
    return written(t)


cdef bint may_be(object o, int code) noexcept:
    """Whether what is picked from a number and an array of a dtype has that dtype: a scalar's counts as an array's."""
    cdef char kind = info(code).kind
    if is_tensor(o):
        return True  # `put_value` asks for its dtype
    if type(o) is int:
        return kind in b"iufc"
    return type(o) is float and kind in b"fc" or type(o) is _float64 and code == D_F8


cdef object quick_put(PyObject** args, Py_ssize_t n):
    """Stores values at places of a vector; the vector, if that was possible."""
    cdef Tensor x = first_array(args) if n == 3 else None
    if x is None or type(<object>args[1]) is tuple:
        return None
    return x if stored_elements(x, <object>args[1], <object>args[2]) else None


cdef object quick_copyto(PyObject** args, Py_ssize_t n):
    """Copies an array to another of its dtype; that one, if it was possible."""
    cdef Tensor to, value
    if n != 2 or not is_tensor(<object>args[0]) or not is_tensor(<object>args[1]) or not may_run_now():
        return None
    to, value = <Tensor>args[0], <Tensor>args[1]
    if is_scalar(to) or unwritable(to) or value.v.dtype != to.v.dtype or not (value.v.device() == to.v.device()):
        return None
    store(to, value)
    return to


cdef object quick_compress(PyObject** args, Py_ssize_t n):
    """``compress(condition, a)``: the elements of a short vector where as long a mask is true."""
    return None if n != 2 else compressed(<object>args[1], <object>args[0])


cdef object quick_compress_method(PyObject** args, Py_ssize_t n):
    return None if n != 2 else compressed(<object>args[0], <object>args[1])


cdef Tensor compressed(object x, object mask):
    if Py_TYPE(x) != type_of_arrays() or Py_TYPE(mask) != type_of_arrays():
        return None
    cdef Tensor t = <Tensor>x, m = <Tensor>mask
    if t.v.layout.ndim != 1 or m.v.dtype != D_BOOL or not m.v.layout.same_shape(t.v.layout):
        return None
    return picked_now(t, m, t.v.itemsize(), True)


cdef object quick_putmask(PyObject** args, Py_ssize_t n):
    return None if n != 3 else stored_masked(args, False)


cdef object quick_place(PyObject** args, Py_ssize_t n):
    return None if n != 3 else stored_masked(args, True)


cdef object stored_masked(PyObject** args, bint in_turn):
    """Stores values where a mask is true: each at its own place, or ``in_turn``; the array, if that was possible."""
    cdef Tensor x = first_array(args), mask = first_array(args + 1)
    cdef long double room[2 * _LISTED]  # 32 bytes each, aligned
    cdef const char* values = <char*>room
    cdef char* over = NULL
    cdef npy_intp count, need, n, size
    if x is None or mask is None or mask.v.dtype != D_BOOL or unwritable(x) or not mask.v.layout.same_shape(x.v.layout) \
            or mask.v.same_memory(x.v) or not is_ready(x) or not is_ready(mask) or not at_hand(x.v.chunk, True):
        return None
    count = values_in(<object>args[2], x, <char*>room, &values)
    if count <= 0:
        return None
    n, size = x.v.layout.size(), x.v.itemsize()
    need = count_true(mask.v.elements(), n) if in_turn else n
    if need > count > 1:  # over and over
        over = <char*>malloc(need * size)
        if over is NULL:
            return None
        memcpy(over, values, count * size)
        repeat_bytes(over, count * size, need * size)
        values, count = over, need
    store_masked(x, mask.v.elements(), values, min(count, need), in_turn)
    free(over)
    changed(x.v.chunk)
    return x


cdef void store_masked(Tensor x, const char* mask, const char* values, npy_intp count, bint in_turn) noexcept:
    """Stores one value, or as many as there are places: elements, or ``in_turn`` those where the mask is true."""
    cdef char* given[4]
    cdef npy_intp dims[3]
    cdef npy_intp steps[4]
    cdef npy_intp size = x.v.itemsize()
    given[0], given[1], given[2], given[3] = <char*>mask, <char*>values, x.v.elements(), x.v.elements()
    if in_turn:
        dims[0], dims[1], dims[2] = 1, x.v.layout.size(), count
        steps[0] = steps[1] = steps[2] = 0
        steps[3] = size
        place_of_size(<int>size)(given, dims, steps, NULL)
    else:
        dims[0] = x.v.layout.size()
        steps[0], steps[1], steps[2], steps[3] = 1, 0 if count == 1 else size, size, size
        where_of_size(<int>size)(given, dims, steps, NULL)


cdef npy_intp values_in(object o, Tensor x, char* room, const char** values) except -2:
    """How many values of x's dtype a number, a short list of numbers or an array holds; -1 for anything else.

    Those of a list are put into ``room``; else ``values`` is where an array has its own.
    """
    cdef Tensor t
    cdef int code = x.v.dtype
    if Py_TYPE(o) == type_of_arrays():
        t = <Tensor>o
        if t.v.dtype != code or t.v.same_memory(x.v) or not is_ready(t):
            return -1
        values[0] = t.v.elements()
        return t.v.layout.size()
    if type(o) is not list:
        return 1 if not is_tensor(o) and may_be(o, code) and put_number(room, o, code) else -1
    if len(<list>o) > _LISTED:
        return -1
    for item in <list>o:
        if not may_be(item, code):
            return -1
    return len(<list>o) if put_numbers(room, o, len(<list>o), code) else -1


cdef object quick_fill_diagonal(PyObject** args, Py_ssize_t n):
    """Stores a number on the diagonal of a matrix; the matrix, if that was possible."""
    cdef Tensor x = first_array(args) if n == 2 or n == 3 and <object>args[2] is False else None
    cdef long double number[2]  # 32 bytes, aligned
    cdef npy_intp i, size, rows, columns
    cdef char* p
    if x is None or x.v.layout.ndim != 2 or unwritable(x) or not contiguous(x) or not may_run_now() or not x.v.near() \
            or not at_hand(x.v.chunk, True) or is_tensor(<object>args[1]) or not may_be(<object>args[1], x.v.dtype):
        return None
    rows, columns, size = x.v.layout.shape()[0], x.v.layout.shape()[1], x.v.itemsize()
    if min(rows, columns) > _DIRECT_LENGTH or not put_number(<char*>number, <object>args[1], x.v.dtype):
        return None
    p = x.v.elements()
    for i in range(min(rows, columns)):
        if size == 8:  # in one instruction
            (<int64_t*>p)[0] = (<int64_t*>number)[0]
        else:
            memcpy(p, number, size)
        p += (columns + 1) * size
    changed(x.v.chunk)
    return x
