# Arrays from Python: made, converted, assigned to, viewed; and instructions that take the GIL.


cdef Tensor make(tuple shape, object dtype, CDevice device):
    """A new C-ordered tensor on `device`."""
    cdef npy_intp dims[kMaxDims]
    if len(shape) > kMaxDims:
        raise ValueError(f"maximum supported dimension for an ndarray is {kMaxDims}, "
                         f"found {len(shape)}")
    for i, d in enumerate(shape):
        if d < 0:
            raise ValueError("negative dimensions are not allowed")
        dims[i] = d
    return empty_like_shape(dtype_code(dtype), len(shape), dims, device)


def call(str name, fn, list ins, list outs, *, Device device=None, double cost=5000.0,
         object overwrites=True):
    """Records one instruction that takes the GIL and calls ``fn(outs, ins)`` on NumPy views.

    ``outs`` holds ``(shape, dtype)`` of new arrays, or arrays to write into; returns the arrays.
    ``cost`` is an estimate in nanoseconds: a cheap one whose inputs are complete runs at once.
    ``overwrites``: whether each output is written whole and not read; True or False holds for all.
    """
    cdef int k, mask = -1 if overwrites is True else 0
    if type(overwrites) is not bool:
        for k, whole in enumerate(overwrites):
            mask |= <int>bool(whole) << k
    tensors = [as_tensor(x) for x in ins]
    cdef CDevice where = current_device()
    if device is not None:
        where = device.c
    elif tensors:
        where = (<Tensor>tensors[0]).v.device()
    results = [o if isinstance(o, Tensor) else make(tuple(o[0]), o[1], where) for o in outs]
    py_call(fn, name, results, tensors, cost, mask)
    return results


def kept(array, Device device=None, bint alone=False):
    """An array of a new NumPy array, which nobody else knows: on its memory, if it is large, else a copy.

    ``alone``: nobody else knows the buffer that it is a view of, either.
    """
    cdef CDevice where = current_device() if device is None else device.c
    cdef cnp.ndarray a
    cdef Tensor t
    if type(array) is np.ndarray and not cnp.PyArray_ISCARRAY(array) and cnp.PyArray_ISFARRAY(array):
        return kept(array.T, device, alone or cnp.PyArray_CHKFLAGS(array, cnp.NPY_ARRAY_OWNDATA)).T
    if type(array) is not np.ndarray or not cnp.PyArray_ISCARRAY(array) \
            or not (alone or cnp.PyArray_CHKFLAGS(array, cnp.NPY_ARRAY_OWNDATA)):
        return from_numpy(np.asarray(array), where)
    a = array
    t = empty_like_shape(dtype_code(a.descr), cnp.PyArray_NDIM(a), <const npy_intp*>cnp.PyArray_DIMS(a), where)
    if not t.v.chunk.take_over(cnp.PyArray_BYTES(a), <void*><PyObject*>a, drop_owner):
        return from_numpy(a, where)
    Py_INCREF(a)
    return t


def dtype_of(dtype):
    """A dtype-like as a dtype, or None; TypeError for what no array has, and for an array."""
    return None if dtype is None else np_dtype(dtype_code(dtype))


def empty(tuple shape, dtype, Device device=None):
    """A new array whose memory is not written; ``device`` None is the current one."""
    return make(shape, dtype, device.c if device is not None else current_device())


def unwritten(shape, dtype):
    """A new C-ordered array on the current device, for a shape that is an int or a tuple of them.

    None if it isn't simply that: errors are the caller's to find.
    """
    return of_shape(shape, dtype)


cdef bint add_length(object d, npy_intp* dims, int* n, double* size) noexcept:
    """Appends a length to ``dims``; false for what is none, and where the array would be too large."""
    cdef npy_intp length
    if not index_of(d, &length):
        return False
    size[0] *= length
    if length < 0 or size[0] > 1e15:
        return False
    dims[n[0]] = length
    n[0] += 1
    return True


cdef Tensor of_shape(object shape, object dtype):
    """`unwritten`."""
    cdef npy_intp dims[kMaxDims]
    cdef int n = 0, code = D_F8
    cdef double size = 1
    if type(shape) is list:
        shape = tuple(<list>shape)
    if type(shape) is tuple:
        if len(<tuple>shape) > kMaxDims:
            return None
        for d in <tuple>shape:
            if not add_length(d, dims, &n, &size):
                return None
    elif not add_length(shape, dims, &n, &size):
        return None
    if dtype is not None:
        if not names_dtype(dtype):
            return None
        code = dtype_code(dtype)
    return empty_like_shape(code, n, dims, current_device())


cdef bint names_dtype(object dtype) noexcept:
    """Whether it is one of the usual things that say a dtype: a type, NumPy's object, a string."""
    return isinstance(dtype, type) or type(dtype) is str or isinstance(dtype, cnp.dtype)


cdef extern from "lazy/cpu/ramp.h" namespace "lazyarray" nogil:
    Loop ramp_of(bint)


cdef Kernel* _ramps[2]


def ramp(start, step, npy_intp n):
    """``arange`` of n > 0 numbers on the current device, from Python ints or floats; else None."""
    cdef bint real = type(start) is float or type(step) is float
    cdef int code = D_F8 if real else D_IL, k
    cdef Instr* instr
    if _ramps[real] is NULL:
        _ramps[real] = new_kernel("arange", GUFUNC, 2, 1)
        _ramps[real].fn = ramp_of(real)
        _ramps[real].dtypes[0] = _ramps[real].dtypes[1] = _ramps[real].dtypes[2] = code
    if real:
        if start == 0 and signbit(<double>start):
            return None  # the first is -0.0, not -0.0 + 0 * step
        step = (start + step) - start  # the difference of the first two, as NumPy takes it
    cdef Tensor out = empty_like_shape(code, 1, &n, current_device())
    instr = recorder().begin(_ramps[real], 2, 1)
    if not put_number(instr.constants[0], start, code) \
            or not put_number(instr.constants[1], step, code):
        recorder().give_back(instr)
        return None
    set_operand(instr, 0, NULL)
    set_operand(instr, 1, NULL)
    set_operand(instr, 2, &out.v)
    instr.set_ndim(0)
    instr.ncore = 1
    instr.core[0] = n
    instr.ncore_steps = 0
    instr.overwrites = 1
    instr.bytes = n * 8
    instr.cost_ns = 50 + n * 0.6
    emit(instr)
    return out


def plain_array(obj):
    """A new array of a list of Python floats or ints, or a copy of a NumPy array; else None."""
    cdef Tensor out
    cdef npy_intp n, i
    cdef int code
    cdef char* to
    if type(obj) is np.ndarray:
        return from_numpy(obj, current_device())
    if type(obj) is not list or not <list>obj or not current_device().on_host():
        return None
    kind = type((<list>obj)[0])
    if kind is not float and kind is not int:
        return None
    code = D_F8 if kind is float else D_IL
    n = len(<list>obj)
    out = in_memory(empty_like_shape(code, 1, &n, current_device()))
    to = out.v.chunk.data
    for i in range(n):
        o = (<list>obj)[i]
        if type(o) is not kind or not put_number(to + 8 * i, o, code):
            return None
    return out


cdef Tensor listed(object o):
    """An array, or one of a list of numbers; None for anything else."""
    return <Tensor>o if isinstance(o, Tensor) else of_numbers(o, -1) if type(o) is list else None


def outer(Ufunc row not None, a, b):
    """The row on all pairs of elements of two vectors, or lists of numbers; None for anything else."""
    cdef Tensor x = listed(a), y = listed(b), column
    if x is None or y is None or x.v.layout.ndim != 1 or y.v.layout.ndim != 1:
        return None
    column = view_of(x)
    column.v.layout.resize(2)
    column.v.layout.shape()[0] = x.v.layout.shape()[0]
    column.v.layout.strides()[0] = x.v.layout.strides()[0]
    column.v.layout.shape()[1] = 1
    column.v.layout.strides()[1] = 0
    return row.binary(column, y, None)


def unwritten_like(x):
    """A new array of x's device, dtype and shape, for a C-ordered NDArray; None for anything else."""
    if not isinstance(x, Tensor):
        return None
    cdef Tensor t = <Tensor>x
    if not contiguous(t):
        return None
    return empty_like_shape(t.v.dtype, t.v.layout.ndim, t.v.layout.shape(), t.v.device())


def join(arrays, axis):
    """``concatenate`` of arrays of one device; None for anything else."""
    cdef Tensor first, t, part, out
    cdef npy_intp shape[kMaxDims]
    cdef npy_intp start = 0, total = 0
    cdef int i, at, n, common
    cdef bint gaps = False
    if type(arrays) is not list and type(arrays) is not tuple or type(axis) is not int:
        return None
    parts = tuple(arrays)
    if not parts or not isinstance(parts[0], Tensor):
        return None
    first = parts[0]
    n = first.v.layout.ndim
    if not -n <= axis < n:
        return None
    at = axis + n if axis < 0 else axis
    common = first.v.dtype
    for o in parts:
        if not isinstance(o, Tensor):
            return None
        t = <Tensor>o
        if t.v.layout.ndim != n or not (t.v.device() == first.v.device()):
            return None
        if t.v.dtype != common:
            common = dtype_code(np.promote_types(np_dtype(common), np_dtype(t.v.dtype)))
        for i in range(n):
            if i != at and t.v.layout.shape()[i] != first.v.layout.shape()[i]:
                return None
        if t.v.layout.shape()[at] > PY_SSIZE_T_MAX - total:
            return None  # the long way tells what is wrong
        total += t.v.layout.shape()[at]
        gaps = gaps or t.v.layout.size() == 0
    for i in range(n):
        shape[i] = total if i == at else first.v.layout.shape()[i]
    out = empty_like_shape(common, n, shape, first.v.device())
    lay_as_joined(out, parts, -1)
    for o in parts:
        t = <Tensor>o
        part = view_of(out)
        part.v.layout.resize(n)
        memcpy(part.v.layout.shape(), t.v.layout.shape(), n * sizeof(npy_intp))
        memcpy(part.v.layout.strides(), out.v.layout.strides(), n * sizeof(npy_intp))
        part.v.layout.offset = start * out.v.layout.strides()[at]
        start += t.v.layout.shape()[at]
        assign(part, t)
    if gaps:  # of parts without elements nothing was written
        note_constant(parts, [out])
    return out


cdef int lay_as_joined(Tensor out, tuple parts, int at) except -1:
    """Has a new array's elements lie as NumPy's of these arrays, joined (PyArray_CreateMultiSortedStridePerm).

    An insertion sort of the axes by steps, in which C order wins where the arrays disagree. The arrays have no axis
    ``at`` yet (-1: they have all).
    """
    cdef Layout* l = &out.v.layout
    cdef int order[kMaxDims]
    cdef int i, j, k, a, b
    cdef bint told, longer
    cdef npy_intp step = out.v.itemsize()
    cdef Tensor t
    for i in range(l.ndim):
        j = i
        for k in range(i - 1, -1, -1):
            if i == at or order[k] == at:
                continue
            a, b = i - (0 <= at < i), order[k] - (0 <= at < order[k])
            told, longer = False, True
            for o in parts:
                t = <Tensor>o
                if t.v.layout.shape()[a] != 1 and t.v.layout.shape()[b] != 1:
                    told = True
                    longer = abs(t.v.layout.strides()[a]) > abs(t.v.layout.strides()[b])
                    if not longer:
                        break
            if not longer:
                break
            if told:
                j = k
        for k in range(i, j, -1):
            order[k] = order[k - 1]
        order[j] = i
    for i in range(l.ndim - 1, -1, -1):
        l.strides()[order[i]] = step
        step *= max(l.shape()[order[i]], 1)
    return 0


def unwritten_joined(list parts, tuple shape, dtype):
    """An unwritten array of that shape, which lies as NumPy's of these arrays, joined."""
    cdef Tensor t = <Tensor>parts[0]
    t = make(shape, dtype, t.v.device())
    lay_as_joined(t, tuple(parts), -1)
    return t


cdef Tensor along_axis(Tensor x, int axis, npy_intp start, npy_intp n):
    """A view of ``n`` entries of an axis."""
    cdef Tensor t = view_of(x)
    t.v.layout = x.v.layout
    t.v.layout.shape()[axis] = n
    t.v.layout.offset += start * x.v.layout.strides()[axis]
    return t


cdef bint descends(Tensor x) noexcept:
    """Whether no step is shorter than the next: a new array like it is one in C order."""
    cdef Layout* l = &x.v.layout
    cdef int i
    for i in range(1, l.ndim):
        if abs(l.strides()[i - 1]) < abs(l.strides()[i]):
            return False
    return True


cdef Kernel* _rolls[32]
memset(_rolls, 0, sizeof(_rolls))


cdef Kernel* roll_kernel(int code) except NULL:
    cdef Kernel* k = _rolls[code]
    if k is NULL:
        k = new_kernel("roll", ROLL, 1, 1)
        k.fn, k.cost = cast_kernel(code, code).fn, cast_kernel(code, code).cost
        k.dtypes[0] = k.dtypes[1] = code
        _rolls[code] = k
    return k


cdef bint emit_roll(Tensor to, Tensor x, const npy_intp* by) except -1:
    """Writes ``x``, moved along each axis by fewer places than there are, to ``to``, which is new and in C order.

    False if that takes too many axes, or autograd is to follow it.
    """
    cdef Layout* l = &x.v.layout
    cdef npy_intp lengths[4]
    cdef npy_intp steps[4]
    cdef npy_intp places[4]
    cdef npy_intp size = x.v.itemsize(), rows
    cdef int a, n = 0
    cdef Instr* instr
    if recording() or not x.v.on_host():
        return False
    for a in range(l.ndim):
        if l.shape()[a] == 1 and (n or a < l.ndim - 1):
            continue
        if n and not by[a] and steps[n - 1] == l.strides()[a] * l.shape()[a]:  # with the one before it is one line
            lengths[n - 1] *= l.shape()[a]
            places[n - 1] *= l.shape()[a]
            steps[n - 1] = l.strides()[a]
            continue
        if n == 4:
            return False
        lengths[n], steps[n], places[n] = l.shape()[a], l.strides()[a], by[a]
        n += 1
    instr = recorder().begin(roll_kernel(x.v.dtype), 1, 1)
    instr.set_ndim(n)
    rows = l.size() // lengths[n - 1]
    for a in range(n - 1, -1, -1):
        instr.shape()[a], instr.strides(0)[a], instr.strides(1)[a] = lengths[a], steps[a], size
        instr.core[a] = places[a]
        size *= lengths[a]
    set_operand(instr, 0, &x.v)
    set_operand(instr, 1, &to.v)
    instr.overwrites = 1
    instr.bytes = size
    instr.cost_ns = 30 + 10 * rows + l.size() * instr.kernel.cost
    emit(instr)
    return True


def rolled(x, shift, axis):
    """``roll`` by integers of an array of which a new one is in C order; None for others, and if that takes several copies."""
    cdef Tensor t, out, flat, to
    cdef npy_intp by[kMaxDims]
    cdef npy_intp one
    cdef int at = 0, moved = 0, overflow = 0
    if isinstance(shift, Tensor) and known_integer(shift, &one):
        shift = one
    if not isinstance(x, Tensor) or (type(shift) is not int and type(shift) is not tuple):
        return None
    t = x
    if not contiguous(t) and not descends(t) or not t.v.layout.size() or is_scalar(t) or not t.v.layout.ndim:
        return None
    if axis is None:
        shifts, axes = (shift,), (0,)
    else:
        shifts, axes = shift if type(shift) is tuple else (shift,), axis if type(axis) is tuple else (axis,)
    if len(shifts) != len(axes):
        return None
    flat = t if axis is not None else raveled(t if contiguous(t) else cast_c(t, t.v.dtype))
    memset(by, 0, sizeof(by))
    for along, places in zip(axes, shifts):
        if type(along) is not int or type(places) is not int or not -flat.v.layout.ndim <= along < flat.v.layout.ndim:
            return None
        at = along % flat.v.layout.ndim
        by[at] = PyLong_AsLongAndOverflow((by[at] + places) % flat.v.layout.shape()[at], &overflow)
    out = empty_like_shape(t.v.dtype, t.v.layout.ndim, t.v.layout.shape(), t.v.device())
    to = out if axis is not None else raveled(out)
    if emit_roll(to, flat, by):
        return out
    for i in range(flat.v.layout.ndim):
        if by[i]:
            at = i
            moved += 1
    if moved > 1:
        return None
    if moved:
        assign(along_axis(to, at, by[at], flat.v.layout.shape()[at] - by[at]),
               along_axis(flat, at, 0, flat.v.layout.shape()[at] - by[at]))
        assign(along_axis(to, at, 0, by[at]), along_axis(flat, at, flat.v.layout.shape()[at] - by[at], by[at]))
    else:
        assign(to, flat)
    return out


def full(tuple shape, value, dtype, Device device=None):
    """A new array filled with a scalar."""
    cdef Tensor t = empty(shape, dtype, device)
    fill(t, value)
    return t


def array(obj, dtype=None, Device device=None, bint copy=True):
    """An array with a copy of ``obj``'s values."""
    cdef CDevice where = current_device() if device is None else device.c
    cdef Tensor t
    cdef int code
    if isinstance(obj, Tensor):
        t = obj
        if device is not None and not (t.v.device() == where):
            raise ValueError("the array is on another device: use copyto or as_in_context")
        if dtype is None:
            return copied(t, t.v.dtype) if copy else t
        return converted(t, dtype, copy)
    if dtype is not None:
        dtype = np_dtype(dtype_code(dtype))
    return from_object(obj, dtype, where, copy)


def astype(Tensor x not None, dtype, bint copy=True):
    """A copy of ``x`` as ``dtype`` (or ``x`` itself if nothing changes and ``copy`` is false)."""
    return converted(x, dtype, copy)


cdef Tensor converted(Tensor x, object dtype, bint copy):
    """The same."""
    cdef int code = dtype_code(dtype)
    return x if code == x.v.dtype and not copy else recoded(x, code)


cdef bint one_to_numpy(int a, int b) noexcept:
    """Whether two dtypes are one to NumPy: C's long and long long of one length."""
    return a == b or info(a).kind == info(b).kind and info(a).size == info(b).size and info(a).kind in b"iu"


cdef Tensor recoded(Tensor x, int code):
    """A copy with a dtype, which may be its own; warns of imaginary parts that are lost."""
    tell_of_lost_parts(x.v.dtype, code)
    return copied(x, code)


cdef int tell_of_lost_parts(int code, int to) except -1:
    """Warns of complex numbers that are made real."""
    if info(code).kind == b"c" and info(to).kind != b"c" and info(to).kind != b"b":
        import warnings
        warnings.warn("Casting complex values to real discards the imaginary part",
                      np.exceptions.ComplexWarning, stacklevel=users_frame()[0])
    return 0


cdef str _OURS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")


def users_frame():
    """The innermost frame that is none of this package's, and its depth: a warning's ``stacklevel``."""
    depth, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OURS):
        depth, frame = depth + 1, frame.f_back
    return depth, frame


cdef Tensor copied(Tensor x, int dtype):
    """A copy in order 'K', which for a view with a broadcast axis isn't that of a ufunc's output."""
    if not self_overlaps(x.v.layout):
        return cast(x, dtype)
    cdef Tensor t = fresh(dtype, x.v.layout.size(), x.v.device())
    cdef npy_intp step = info(dtype).size
    cdef npy_intp* strides = x.v.layout.strides()
    cdef int i, n = x.v.layout.ndim
    t.v.layout.resize(n)
    memcpy(t.v.layout.shape(), x.v.layout.shape(), n * sizeof(npy_intp))
    # By stride, the largest first; Python's sort is stable.
    for i in reversed(sorted(range(n), key=lambda i: -abs(strides[i]))):
        t.v.layout.strides()[i] = step
        step *= max(t.v.layout.shape()[i], 1)
    assign(t, x)
    return t


def asarray(o, Device device=None):
    """``o`` itself if it is an array, else a new array on ``device``; None is the current one."""
    if device is not None:
        return as_tensor_on(o, device.c)
    return as_tensor(o)


def assign_to(Tensor to not None, value):
    """``to[...] = value``."""
    store(to, value)


cdef int store(Tensor to, object value) except -1:
    """``to[...] = value``."""
    cdef Tensor t
    if unwritable(to):
        raise ValueError("assignment destination is read-only")
    if stored_now(to, value):
        return 0
    if isinstance(value, Tensor):
        t = <Tensor>value
        # What the in-place operators end with: x[1:] += y stores x[1:] into itself.
        if t.v.dtype != to.v.dtype or not t.v.same_view(to.v):
            tell_of_lost_parts(t.v.dtype, to.v.dtype)
            assign(to, t)
    elif kind_of(value) >= 0:
        fill(to, value)
    elif cnp.PyArray_Check(value) and is_held(value):
        t = as_tensor_on(value, to.v.device())
        tell_of_lost_parts(t.v.dtype, to.v.dtype)
        assign(to, t)
    else:
        # As NumPy: each Python object is made one of the array's dtype, or it is an error; and an object that gives
        # an array is asked for one of that dtype (pandas refuses there what is missing).
        t = from_object(value, np_dtype(to.v.dtype), to.v.device(), False)
        # Of arrays, axes of length one in front don't count.
        if t.v.layout.ndim > to.v.layout.ndim > 0 and not is_array_like(value):
            raise ValueError("setting an array element with a sequence. The requested array would exceed the "
                             f"maximum number of dimension of {to.v.layout.ndim}.")
        assign(to, t)
    return 0


cdef bint may_overflow(int code, int to) noexcept:
    """Whether a number of the first dtype may be none of the second, an integer's."""
    cdef char a = info(code).kind, b = info(to).kind
    if b != c"i" and b != c"u" or a == c"b":
        return False
    if a == c"f" or a == c"c":
        return True
    if a == b:
        return info(code).size > info(to).size
    return a == c"i" or info(code).size >= info(to).size


cdef bint fits_integer(object number, int code) noexcept:
    """Whether Python's number is surely one of an integer dtype, cut to a whole one."""
    cdef double value, most = 2.0 ** (8 * info(code).size - 1)
    if type(number) is float:
        value = number
    elif type(number) is int:
        value = <double><int64_t>number
    else:
        return False
    if info(code).kind == c"i":
        return -most < value < most - 1
    return 0 <= value < 2 * most - 1


def _set_scalar(list outs, list ins):
    outs[0][...] = ins[0][()]


cdef int store_item(Tensor to, object value) except -1:
    """``to[...] = value``, as item assignment has it: a scalar that the integer dtype can't hold is an error.

    (What is no scalar wraps around, in NumPy as here.) A scalar that is not known yet is the array's error.
    """
    cdef Tensor t
    if is_sequence(value) and len(value):
        t = of_numbers(value, to.v.dtype)
        if t is not None and not unwritable(to) and stored_now(to, t):
            return 0
    elif is_tensor(value) and is_scalar(<Tensor>value):
        t = <Tensor>value
        if may_overflow(t.v.dtype, to.v.dtype) and not unwritable(to) and to.v.on_host() \
                and t.v.device() == to.v.device() and not recording() and not capturing():
            number = value_now(t, 1, t.v.device())
            if number is not None:
                if not fits_integer(number, to.v.dtype):
                    np.empty((), np_dtype(to.v.dtype))[()] = np_dtype(t.v.dtype).type(number).real  # NumPy's error, if any
            else:
                call("setitem", _set_scalar, [t], [to], cost=3000 + 2.0 * to.v.layout.size())
                return 0
    return store(to, value)


def assign_item(Tensor to not None, value):
    """``to[...] = value`` by an item's rules: a scalar that the array's integers can't hold is an error."""
    store_item(to, value)


def contiguous_signature(Tensor x not None):
    """(dtype, shape with no length over two, None) of an array in C order; None for any other."""
    if not x.v.layout.c_contiguous(x.v.itemsize()):
        return None
    cdef npy_intp* shape = x.v.layout.shape()
    return (chr(info(x.v.dtype).code), tuple([min(shape[i], 2) for i in range(x.v.layout.ndim)]),
            None)


def scalar_like(Tensor t not None, like):
    """The new array ``t``, as a scalar if ``like`` is one."""
    return as_scalar(t) if isinstance(like, Tensor) and is_scalar(<Tensor>like) else t


def writable(Tensor x not None):
    """``x``, a result that nobody else has seen, as an array that can be written to."""
    return as_array(x) if is_scalar(x) else x


def holds_scalar(x):
    """Whether ``x`` is what NumPy returns as a scalar."""
    return isinstance(x, Tensor) and is_scalar(<Tensor>x)


def strided(Tensor x not None, tuple shape, tuple strides, npy_intp offset):
    """A view of x's memory: ``offset`` in bytes from x's first element, ``strides`` in bytes.

    Checked against the chunk's bounds.
    """
    cdef Tensor t = view_of(unshared(x))
    cdef npy_intp low, high
    cdef int n = len(shape)
    if n > kMaxDims:
        raise ValueError(f"maximum supported dimension for an ndarray is {kMaxDims}, found {n}")
    t.v.layout.resize(n)
    t.v.layout.offset += offset
    low = high = t.v.layout.offset
    for i in range(n):
        t.v.layout.shape()[i] = shape[i]
        t.v.layout.strides()[i] = strides[i]
        if shape[i] > 0:
            if strides[i] < 0:
                low += (shape[i] - 1) * strides[i]
            else:
                high += (shape[i] - 1) * strides[i]
    if t.v.layout.size() > 0 and (low < 0 or high + t.v.itemsize() > <npy_intp>t.v.chunk.nbytes):
        raise ValueError("the view reaches outside the array's memory")
    return t


cdef extern from "ops/probe.h" namespace "lazyarray":
    char* reserve_zeros() noexcept


cdef char* _NOWHERE = reserve_zeros()  # the address of every probe


def probe(Tensor x not None, bint contiguous=False):
    """A NumPy array of x's layout. Its memory holds nothing: only for functions that make views.

    With ``contiguous`` it has x's shape and dtype in C order.
    """
    cdef Layout* l = &x.v.layout
    cdef npy_intp* strides = NULL
    if not contiguous:
        strides = l.strides()
    return cnp.PyArray_New(np.ndarray, l.ndim, l.shape(), info(x.v.dtype).type_num, strides,
                           _NOWHERE, 0, 0 if x.v.readonly and not is_scalar(x) else cnp.NPY_ARRAY_WRITEABLE,
                           None)


def seen(Tensor x not None, cnp.ndarray r not None):
    """The view of ``x`` that ``r`` is of x's probe."""
    cdef Tensor t = view_of(unshared(x))
    cdef int n = cnp.PyArray_NDIM(r)
    cdef npy_intp low = 0, high = 0
    t.v.readonly = not cnp.PyArray_ISWRITEABLE(r)
    t.v.layout.resize(n)
    t.v.layout.offset += cnp.PyArray_BYTES(r) - _NOWHERE
    if n:
        memcpy(t.v.layout.shape(), cnp.PyArray_DIMS(r), n * sizeof(npy_intp))
        memcpy(t.v.layout.strides(), cnp.PyArray_STRIDES(r), n * sizeof(npy_intp))
    t.v.layout.extent(t.v.itemsize(), low, high)
    if high > low and (low < 0 or high > <npy_intp>t.v.chunk.nbytes):
        raise ValueError("the view reaches outside the array's memory")
    return returned(t) if is_scalar(x) else t


def stretched(Tensor x not None, tuple shape):
    """``x`` as a view of a shape that it broadcasts to, not for writing; None where NumPy must say what is wrong."""
    cdef int n = len(shape), i
    cdef npy_intp size = 1, most = 1 << 30  # NumPy knows how large one may be
    cdef Layout to
    if n > kMaxDims:
        return None
    to.resize(n)
    for i in range(n):
        if type(shape[i]) is not int or not 0 <= shape[i] <= most:
            return None
        to.shape()[i] = shape[i]
        size *= max(to.shape()[i], 1)
        if size > most:
            return None
    if not broadcasts_to(&x.v.layout, &to):
        return None
    broadcast_strides(x.v.layout, n, to.strides())
    cdef Tensor t = view_of(unshared(x))
    to.offset = t.v.layout.offset
    t.v.layout = to
    t.v.readonly = True
    return returned(t) if is_scalar(x) else t


def retype(Tensor x not None, dtype, tuple shape, tuple strides):
    """A view of the same bytes as another dtype; the caller knows that it fits.

    Unheld if its elements would not be aligned: the loops need that.
    """
    cdef Tensor base = view_of(unshared(x))
    base.v.dtype = dtype_code(dtype)
    cdef int align = info(base.v.dtype).align
    if base.v.layout.offset % align or any([s % align for s in strides]):
        raise Unheld(f"a view as {np.dtype(dtype)} would not be aligned: copy the array first")
    return strided(base, shape, strides, 0)
