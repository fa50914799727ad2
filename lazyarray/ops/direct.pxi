# The direct tier: calls of small complete arrays, at once, by NumPy's own function on copies.
#
# A function that no native instruction expresses costs its Python layers and an operator, ten times what
# NumPy takes for three elements. Where all operands are complete, on the host and small, and nobody
# records, captures, profiles or forbids hidden waits, NumPy's function computes the same now. It gets
# copies: so another thread may go on writing the arrays while NumPy lets go of the GIL. Of larger ones it gets
# the memory itself, and the call is an op that reads it (while_held). Where a call's parameters don't tell that it writes
# to nothing, the copies are read-only: one that does (an `out` given by position) raises. Views of a copy are known by
# their place in memory, however NumPy found it; views of one in a list, by being read-only. What isn't plain goes the long way, and so does a call that NumPy refuses:
# where an error is raised does not depend on sizes. What a handler of signals raises meanwhile is raised.


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


# Functions that take little for each element: arrays may be so many times as large.
LIGHT_TIMES = 4


# ---- operands and results -----------------------------------------------------------------------


cdef enum:
    _DIRECT_ARGUMENTS = 16
    _TABLE_TIMES = 64  # so many times as large may be what is only looked up in: it may have to be cast
    _GAPS = 4  # times an operand's elements are more to copy than a loan costs
    _DIRECT_LENGTH = 10_000  # of a result, that a number names
    _DIRECT_RESULT = 1 << 22  # bytes of a result that is as many times as large as its operands
    _DIRECT_ITEMS = 1_000_000  # of a list
    _DIRECT_DEPTH = 3      # of lists in it


cdef struct Scan:
    npy_intp left     # bytes that operands may still take
    npy_intp largest  # integer that may be the length of a result
    double most       # the product of integers in a tuple, which may be its shape
    bint fits, arrays
    CDevice device    # of the arrays
    npy_intp lends    # from so many bytes on an array's memory is lent
    int tables        # a bit for each argument in which the function only looks up few places
    bint table        # whether the next one is such
    bint pure         # the call writes to nothing: many of NumPy's functions copy a read-only array first
    int loans
    Chunk* lent[_DIRECT_ARGUMENTS]


cdef struct Given:  # the arguments of a call as NumPy gets them
    Scan scan
    PyObject* operands[_DIRECT_ARGUMENTS]
    Py_ssize_t count


cdef dict _PLAIN_TYPES = dict.fromkeys((bool, type(None), complex, type(Ellipsis), type))


cdef bint may_run_now() noexcept:
    """Whether calls may run here and now, unseen by anybody."""
    return lone_ops() and not no_sync_now() and not scalars_are_read


cdef void begin_scan(Scan* scan) noexcept:
    scan.left = recorder().policy.direct_bytes
    scan.largest = _DIRECT_LENGTH
    scan.most = INFINITY
    scan.fits, scan.arrays = True, False
    scan.lends, scan.loans, scan.tables = PY_SSIZE_T_MAX, 0, 0
    scan.table = scan.pure = False


cdef bint is_ours(object o) noexcept:
    """Whether ``o`` is an array, of no class that a user derived."""
    return is_tensor(o) and (Py_TYPE(o) == type_of_arrays() or is_scalar(<Tensor>o))


cdef object copied_out(Tensor t, Scan* scan, bint writable):
    """A NumPy array, or a scalar, of the same values and layout; None if not at hand or not small.

    Or one on the memory itself, which is then noted in ``scan.lent``.
    """
    cdef Layout* l = &t.v.layout
    cdef npy_intp low = 0, high = 0, size = info(t.v.dtype).size
    cdef cnp.ndarray a, memory
    if not t.v.at_hand() or scan.arrays and not (t.v.device() == scan.device):
        return None
    scan.arrays = True
    scan.device = t.v.device()
    cdef cnp.dtype d = np_dtype(t.v.dtype)
    if is_scalar(t):
        number = drawn_number(t)
        if number is not None:
            return number
        return PyArray_Scalar(t.v.elements(), d, None)
    recorder().asked()
    # Of integers and truths no results depend on the steps: a column's copy lies in a row.
    cdef bint packs = l.ndim == 1 and l.strides()[0] > size and info(t.v.dtype).kind in b"iub"
    cdef npy_intp count = l.size() * size
    if not packs:
        l.extent(size, low, high)
    # A column of a matrix is lent as well: a copy would have its gaps, and those are most of it.
    cdef bint gaps = high - low > _GAPS * count
    cdef bint lend = scan.loans < _DIRECT_ARGUMENTS and (
        count >= scan.lends or high - low >= scan.lends and gaps)
    scan.left -= high - low if gaps and not lend else count // _TABLE_TIMES if lend and scan.table else count
    if scan.left < 0:
        return None
    if lend:
        scan.lent[scan.loans] = t.v.chunk
        scan.loans += 1
        return numpy_view(&t.v, not lazy(t.v.chunk).immutable)
    Py_INCREF(d)  # stolen
    if packs or l.c_contiguous(size):
        a = PyArray_NewFromDescr(&PyArray_Type, d, l.ndim, l.shape(), NULL, NULL, 0, None)
        if packs:
            copy_steps(<int>size, cnp.PyArray_BYTES(a), &size, t.v.elements(), l.strides(), l.shape(), 1)
        else:
            memcpy(cnp.PyArray_DATA(a), t.v.elements(), count)
        if not writable:
            cnp.PyArray_CLEARFLAGS(a, NPY_ARRAY_WRITEABLE)
        return a
    # With its gaps: NumPy's bits, and the layout of what it gives, depend on the steps.
    high -= low
    memory = PyArray_New(&PyArray_Type, 1, &high, cnp.NPY_INT8, NULL, NULL, 0, 0, None)
    memcpy(cnp.PyArray_DATA(memory), t.v.elements() + low - l.offset, high)
    a = PyArray_NewFromDescr(&PyArray_Type, d, l.ndim, l.shape(), l.strides(),
                             cnp.PyArray_BYTES(memory) + l.offset - low, NPY_ARRAY_WRITEABLE if writable else 0, None)
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


cdef bint fits_in(object number, npy_intp largest) noexcept:
    """Whether an int is not larger, without its sign."""
    cdef int overflow = 0
    cdef long n = PyLong_AsLongAndOverflow(number, &overflow)
    return not overflow and -largest <= n <= largest


cdef bint short_range(slice s, npy_intp largest) except -1:
    """Whether a slice is of Python's numbers, and means no more elements, should it be a range."""
    cdef double part[3]
    cdef int i = 0
    for o in (s.start, s.stop, s.step):
        part[i] = i == 2
        if type(o) is int:
            if not fits_in(o, largest):
                return False
            part[i] = <long>o
        elif type(o) is float:
            part[i] = o
        elif type(o) is complex:
            return abs(o) <= largest
        elif o is not None:
            return False
        i += 1
    return abs(part[1] - part[0]) <= largest * abs(part[2])  # false for what is not a number


cdef object numpys_operand(object o, Scan* scan, int depth):
    """The argument as NumPy takes it; `scan.fits` is false then if it can't be."""
    cdef Py_ssize_t i, n
    cdef double product = 1
    cdef list parts
    cdef bint changed = False
    cdef type t = type(o)
    if is_tensor(o):
        if is_ours(o):
            found = copied_out(<Tensor>o, scan, scan.pure and depth == 0)
            if found is not None:
                return found
    elif t is float:
        return o
    elif t is int:
        if fits_in(o, scan.largest):
            return o
    elif t is str:
        if depth == 0:  # an option
            return o
    elif t in _PLAIN_TYPES or isinstance(o, cnp.dtype):
        return o
    elif t is slice:
        if short_range(<slice>o, scan.largest):
            return o
    elif is_of(o, _generic):
        if dtype_of_type_num(cnp.PyArray_DescrFromScalar(o).type_num) >= 0:
            return o
    elif t is list or t is tuple:
        n = len(o)
        if n <= _DIRECT_ITEMS and depth < _DIRECT_DEPTH:
            parts = list(o)
            for i in range(n):
                part = parts[i]
                if type(part) is int and t is tuple:  # it may be a shape
                    product *= abs(<double>part)
                    if product > scan.most:
                        scan.fits = False
                        return None
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
    elif t is range:
        if not o[_DIRECT_ITEMS:]:
            numpys_operand(tuple(o), scan, depth)
            return o
    elif t is np.ndarray:
        scan.left -= cnp.PyArray_NBYTES(<cnp.ndarray>o)
        if scan.left >= 0 and dtype_of_type_num((<cnp.ndarray>o).descr.type_num) >= 0:
            return o if scan.pure and depth == 0 else locked(o)
    scan.fits = False
    return None


cdef bint shows_operand(Given* given, cnp.ndarray a) noexcept:
    """Whether an array of NumPy's is one of the operands, or lies in the memory of one."""
    cdef Py_ssize_t i
    cdef int axis
    cdef npy_intp low, high, step
    cdef bint views = cnp.PyArray_BASE(a) is not NULL
    for i in range(given.count):
        if given.operands[i] == <PyObject*>a:
            return True
        if not views or Py_TYPE(<object>given.operands[i]) != &PyArray_Type:
            continue
        operand = <cnp.ndarray>given.operands[i]
        low, high = 0, cnp.PyArray_ITEMSIZE(operand)
        for axis in range(cnp.PyArray_NDIM(operand)):
            step = (cnp.PyArray_DIMS(operand)[axis] - 1) * cnp.PyArray_STRIDES(operand)[axis]
            if step < 0:
                low += step
            else:
                high += step
        if low <= cnp.PyArray_BYTES(a) - cnp.PyArray_BYTES(operand) < high:
            return True
    return False


cdef object as_ours(object o, Given* given, bint* fits, Py_ssize_t known=1):
    """A result of NumPy's as one of ours; `fits` is false then if it is nothing that can be so.

    ``known`` is how many references the caller has to the result.
    """
    if Py_TYPE(o) == &PyArray_Type:
        # A view of what was given, as it was, is to be a view of the array, which only the long way makes.
        if cnp.PyArray_ISWRITEABLE(<cnp.ndarray>o) and cnp.PyArray_ISNOTSWAPPED(<cnp.ndarray>o) \
                and not shows_operand(given, <cnp.ndarray>o) and not (given.scan.loans and is_on_chunk(o)) \
                and dtype_of_type_num((<cnp.ndarray>o).descr.type_num) >= 0:
            return written(from_numpy(o, given.scan.device, known))
        fits[0] = False
        return None
    if isinstance(o, (tuple, list)):
        parts = []
        for part in o:
            parts.append(as_ours(part, given, fits, 2))
            if not fits[0]:
                return None
        if type(o) is tuple or type(o) is list:
            return parts if type(o) is list else tuple(parts)
        return type(o)(*parts)
    if o is True or o is False or type(o) is str:  # not NumPy's: `allclose` and its kind, and text
        return o
    # None is what comes of a call that writes to its arguments.
    found = array_of(o, given.scan.device)
    fits[0] = found is not o
    return found
