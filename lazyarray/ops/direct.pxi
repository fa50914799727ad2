# The direct tier: calls of small complete arrays, at once, by NumPy's own function on copies.
#
# A function that no native instruction expresses costs its Python layers and an operator, ten times what
# NumPy takes for three elements. Where all operands are complete, on the host and small, and nobody
# records, captures, profiles or forbids hidden waits, NumPy's function computes the same now. It gets
# copies: so another thread may go on writing the arrays while NumPy lets go of the GIL. They are read-only:
# a call that writes to one (an `out` given by position) raises, and a view of one is known by it, however
# NumPy found the memory. What isn't plain goes the long way, and so does a call that raises: where an error
# is raised does not depend on sizes.


cdef extern from "Python.h":
    object PyObject_GetItem(object, object)
    int PyObject_SetItem(object, object, object) except -1
    Py_ssize_t PY_SSIZE_T_MAX


cdef extern from "numpy/arrayobject.h":
    object PyArray_New(PyTypeObject*, int, npy_intp*, int, npy_intp*, void*, int, int, object)
    object PyArray_NewFromDescr(PyTypeObject*, cnp.dtype, int, npy_intp*, npy_intp*, void*, int, object)
    object PyArray_Scalar(void*, cnp.dtype, object)
    PyTypeObject PyArray_Type
    int NPY_ARRAY_WRITEABLE


# ---- operands and results -----------------------------------------------------------------------


cdef struct Scan:
    npy_intp left     # bytes that operands may still take
    npy_intp largest  # integer that may be the length of a result
    bint fits, arrays
    CDevice device    # of the arrays


cdef enum:
    _DIRECT_LENGTH = 10_000  # of a result, that a number names
    _DIRECT_ITEMS = 1_000_000  # of a list
    _DIRECT_DEPTH = 3      # of lists in it


cdef dict _PLAIN_TYPES = dict.fromkeys((float, bool, type(None), complex, type(Ellipsis), type, slice))


cdef bint may_run_now() noexcept:
    """Whether calls may run here and now, unseen by anybody."""
    return lone_ops() and not no_sync_now() and not scalars_are_read


cdef void begin_scan(Scan* scan) noexcept:
    scan.left = recorder().policy.direct_bytes
    scan.largest = _DIRECT_LENGTH
    scan.fits, scan.arrays = True, False


cdef bint is_ours(object o) noexcept:
    """Whether ``o`` is an array, of no class that a user derived."""
    return is_tensor(o) and (Py_TYPE(o) == type_of_arrays() or is_scalar(<Tensor>o))


cdef object copied_out(Tensor t, Scan* scan):
    """A read-only NumPy array, or a scalar, of the same values and layout; None if not at hand or not small."""
    cdef Chunk* c = t.v.chunk
    cdef Layout* l = &t.v.layout
    cdef npy_intp low = 0, high = 0, size = info(t.v.dtype).size
    cdef cnp.ndarray a, memory
    if not at_hand(c, False) or scan.arrays and not (c.device == scan.device):
        return None
    scan.arrays = True
    scan.device = c.device
    cdef cnp.dtype d = np_dtype(t.v.dtype)
    if is_scalar(t):
        return PyArray_Scalar(c.data + l.offset, d, None)
    l.extent(size, low, high)
    scan.left -= max(high - low, l.size() * size)  # the second is more where elements overlap
    if scan.left < 0:
        return None
    Py_INCREF(d)  # stolen
    if l.c_contiguous(size):
        a = PyArray_NewFromDescr(&PyArray_Type, d, l.ndim, l.shape(), NULL, NULL, 0, None)
        memcpy(cnp.PyArray_DATA(a), c.data + l.offset, l.size() * size)
        cnp.PyArray_CLEARFLAGS(a, NPY_ARRAY_WRITEABLE)
        return a
    # With its gaps: NumPy's bits, and the layout of what it gives, depend on the steps.
    high -= low
    memory = PyArray_New(&PyArray_Type, 1, &high, cnp.NPY_INT8, NULL, NULL, 0, 0, None)
    memcpy(cnp.PyArray_DATA(memory), c.data + low, high)
    a = PyArray_NewFromDescr(&PyArray_Type, d, l.ndim, l.shape(), l.strides(),
                             cnp.PyArray_BYTES(memory) + l.offset - low, 0, None)
    Py_INCREF(memory)  # stolen
    cnp.PyArray_SetBaseObject(a, memory)
    return a


cdef object locked(cnp.ndarray a):
    """A read-only view of a NumPy array, which is the user's."""
    cdef cnp.dtype d = <cnp.dtype>a.descr
    Py_INCREF(d)  # stolen
    v = PyArray_NewFromDescr(&PyArray_Type, d, cnp.PyArray_NDIM(a), <npy_intp*>cnp.PyArray_DIMS(a),
                             <npy_intp*>cnp.PyArray_STRIDES(a), cnp.PyArray_DATA(a), 0, None)
    Py_INCREF(a)  # stolen
    cnp.PyArray_SetBaseObject(v, a)
    return v


cdef object numpys_operand(object o, Scan* scan, int depth):
    """The argument as NumPy takes it; `scan.fits` is false then if it can't be."""
    cdef Py_ssize_t i, n
    cdef list parts
    cdef bint changed = False
    cdef type t = type(o)
    if is_tensor(o):
        if is_ours(o):
            found = copied_out(<Tensor>o, scan)
            if found is not None:
                return found
    elif t is int:
        if -scan.largest <= o <= scan.largest:
            return o
    elif t is str:
        if depth == 0:  # an option
            return o
    elif t in _PLAIN_TYPES or isinstance(o, cnp.dtype):
        return o
    elif isinstance(o, _generic):
        if dtype_of_type_num(cnp.PyArray_DescrFromScalar(o).type_num) >= 0:
            return o
    elif t is list or t is tuple:
        n = len(o)
        if n <= _DIRECT_ITEMS and depth < _DIRECT_DEPTH:
            parts = list(o)
            for i in range(n):
                part = parts[i]
                if type(part) is not float:
                    found = numpys_operand(part, scan, depth + 1)
                    if not scan.fits:
                        return None
                    if found is not part:
                        changed = True
                        parts[i] = found
            if not changed:
                return o
            return parts if t is list else tuple(parts)
    elif t is np.ndarray:
        scan.left -= cnp.PyArray_NBYTES(<cnp.ndarray>o)
        if scan.left >= 0 and dtype_of_type_num((<cnp.ndarray>o).descr.type_num) >= 0:
            return locked(o)
    scan.fits = False
    return None


cdef object as_ours(object o, CDevice device, bint* fits):
    """A result of NumPy's as one of ours; `fits` is false then if it is nothing that can be so."""
    if isinstance(o, (tuple, list)):
        parts = []
        for part in o:
            parts.append(as_ours(part, device, fits))
            if not fits[0]:
                return None
        if type(o) is tuple or type(o) is list:
            return parts if type(o) is list else tuple(parts)
        return type(o)(*parts)
    # A view of what was given, as it was, is to be a view of the array, which only the long way makes.
    # None is what comes of a call that writes to its arguments.
    found = o
    if type(o) is not np.ndarray or cnp.PyArray_ISWRITEABLE(<cnp.ndarray>o):
        found = array_of(o, device)
    fits[0] = found is not o
    return found


# ---- calls --------------------------------------------------------------------------------------


ctypedef object (*Quick)(PyObject**, Py_ssize_t)  # a native way for the plainest arguments; None for others


# Arguments that are no business of NumPy's, or that it would write to.
cdef frozenset _LONG_WAY = frozenset(("out", "ctx", "device", "like"))


# How large the results are depends on the values: each call counts as a wait, whose value is there.
cdef frozenset _WAITING = frozenset((
    "argwhere", "bincount", "extract", "flatnonzero", "intersect1d", "nonzero", "polymul", "setdiff1d",
    "setxor1d", "union1d", "unique", "unique_all", "unique_counts", "unique_inverse", "unique_values"))


cdef enum:
    _DIRECT_ARGUMENTS = 16


cdef extern from "Python.h":
    ctypedef PyObject* (*vectorcallfunc)(PyObject*, PyObject**, size_t, PyObject*)
    object PyObject_Vectorcall(object, PyObject**, size_t, PyObject*)
    Py_ssize_t PyVectorcall_NARGS(size_t)
    void Py_XDECREF(PyObject*)


cdef extern from *:
    """
    static void call_by_vector(PyTypeObject* t, Py_ssize_t offset) {
      t->tp_vectorcall_offset = offset;
      t->tp_call = PyVectorcall_Call;
      t->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
      PyType_Modified(t);
    }
    """
    void call_by_vector(PyTypeObject*, Py_ssize_t)


cdef class Direct:
    """A function of the public namespace, which is run at once where that is possible.

    ``recorded`` is the function itself, ``numpys`` NumPy's of the same meaning (None: its own way is as
    fast); ``most`` is how many bytes its operands may have, where that is less than the policy's
    ``direct_bytes``, ``largest`` the largest integer among them.
    """

    cdef readonly object recorded, numpys
    cdef npy_intp most, largest
    cdef str waits
    cdef Quick quick
    cdef vectorcallfunc called
    cdef object __weakref__
    cdef dict __dict__

    def __init__(self, recorded, numpys, str module, npy_intp most=PY_SSIZE_T_MAX,
                 npy_intp largest=_DIRECT_LENGTH):
        self.recorded, self.numpys, self.most, self.largest = recorded, numpys, most, largest
        self.waits = recorded.__name__ + "()" if recorded.__name__ in _WAITING else None
        self.quick = quick_of(recorded.__name__)
        self.called = <vectorcallfunc>call_direct
        functools.update_wrapper(self, recorded)
        self.__module__ = module

    def __call__(self, *args, **kwargs):
        return self.recorded(*args, **kwargs)  # seen by inspect only: see call_by_vector

    # As NumPy's own functions are to inspect and pydoc: a routine, which is no method.
    def __get__(self, instance, owner):
        return self

    def __repr__(self):
        return f"<function {self.__name__} of {self.__module__}>"

    def __reduce__(self):
        return self.__name__


cdef Direct _like = Direct.__new__(Direct)
call_by_vector(<PyTypeObject*>Direct, <char*>&_like.called - <char*><PyObject*>_like)
_like = None


cdef object call_direct(PyObject* function, PyObject** args, size_t flags, PyObject* names):
    cdef Direct self = <Direct>function
    if recorder().policy.direct_bytes and may_run_now():
        result = at_once(self, args, PyVectorcall_NARGS(flags), names)
        if result is not None:
            return result
    return PyObject_Vectorcall(self.recorded, args, flags, names)


cdef object at_once(Direct self, PyObject** args, Py_ssize_t n, PyObject* names):
    """The call's result, or None if it is to go the long way."""
    cdef PyObject* given[_DIRECT_ARGUMENTS]
    cdef Scan scan
    cdef Py_ssize_t i, count = 0, every = n
    cdef bint fits = True
    if self.quick is not NULL and names is NULL:
        result = self.quick(args, n)
        if result is not None:
            return result
    if self.numpys is None:
        return None
    if names is not NULL:
        every += len(<tuple>names)
        for i in range(n, every):
            if (<tuple>names)[i - n] in _LONG_WAY and <object>args[i] is not None:
                return None
    if every > _DIRECT_ARGUMENTS:
        return None
    begin_scan(&scan)
    scan.left = min(scan.left, self.most)
    scan.largest = self.largest
    try:
        for i in range(every):
            found = numpys_operand(<object>args[i], &scan, 0)
            if not scan.fits:
                return None
            Py_INCREF(found)
            given[i] = <PyObject*>found
            count += 1
        if not scan.arrays:
            scan.device = current_device()
            if not (scan.device == cpu0()):
                return None
        try:
            result = PyObject_Vectorcall(self.numpys, given, n, names)
        except Exception:
            return None
        result = as_ours(result, scan.device, &fits)
        if fits and self.waits is not None:
            seen_as_wait(self.waits)
        return result if fits else None
    finally:
        for i in range(count):
            Py_XDECREF(given[i])


cdef Tensor direct_get(Tensor x, object key):
    """``x[key]``, or None where it isn't that simple."""
    cdef Scan scan
    cdef bint fits = True
    begin_scan(&scan)
    if not scan.left or not may_run_now() or not is_ours(x):
        return None
    copy = numpys_operand(x, &scan, 0)
    if scan.fits:
        key = numpys_operand(key, &scan, 0)
    if not scan.fits:
        return None
    try:
        result = PyObject_GetItem(copy, key)
    except Exception:
        return None
    result = as_ours(result, scan.device, &fits)
    return result if fits else None


def direct_write(Tensor x not None, function, tuple args):
    """``function(x, *args)``, which writes to x, on a copy that x becomes; whether that was possible."""
    cdef Scan scan
    cdef Chunk* c = x.v.chunk
    cdef cnp.ndarray copy
    cdef uint64_t issued
    begin_scan(&scan)
    if not scan.left or not may_run_now() or unwritable(x) or is_scalar(x) or not at_hand(c, True):
        return False
    if not contiguous(x) and x.v.layout.size() > _COPIED_WITH_THE_GIL:
        return False
    copy = copied_out(x, &scan)
    parts = numpys_operand(args, &scan, 0)
    if copy is None or not scan.fits:
        return False
    cnp.PyArray_ENABLEFLAGS(copy, NPY_ARRAY_WRITEABLE)
    issued = c.issued
    try:
        function(copy, *parts)
    except Exception:
        return False
    if c.issued != issued or not at_hand(c, True):  # NumPy let go of the GIL, another thread wrote
        return False
    if contiguous(x):
        memcpy(c.data + x.v.layout.offset, cnp.PyArray_DATA(copy), cnp.PyArray_NBYTES(copy))
    else:
        view = numpy_view(&x.v, True)
        view[...] = copy
    c.version.fetch_add(1)
    issue(c, 1)
    recorder().inlined += 1
    return True


cdef enum:
    _COPIED_WITH_THE_GIL = 500  # elements: so many NumPy copies without letting go of it


def _set_item(a, key, value):
    PyObject_SetItem(a, key, value)


cdef bint direct_set(Tensor x, object key, object value) except -1:
    """``x[key] = value``; whether that was possible."""
    return direct_write(x, _set_item, (key, value))


# ---- native ways --------------------------------------------------------------------------------


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
