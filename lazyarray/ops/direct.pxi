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
    "setxor1d", "union1d", "unique", "unique_all", "unique_counts", "unique_inverse"))


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
    cdef Py_ssize_t i, k, count = 0, every = n
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
            found = None
            # NumPy multiplies a matrix by itself in another way: one array stays one, and views of one
            # memory go the long way.
            if is_tensor(<object>args[i]):
                for k in range(i):
                    if args[k] == args[i]:
                        found = <object>given[k]
                    elif is_tensor(<object>args[k]) \
                            and (<Tensor>args[k]).v.chunk == (<Tensor>args[i]).v.chunk:
                        return None
            if found is None:
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
