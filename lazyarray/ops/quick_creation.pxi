# Native ways of creation: of numbers and lists, of shapes, like others, of ranges. None for anything else.


cdef object quick_array(PyObject** args, Py_ssize_t n):
    """``array(obj, dtype, ctx=None, copy=True, order="K", subok=False, ndmin)``."""
    cdef npy_intp ndmin = 0
    cdef Tensor t
    if 5 <= n <= 7 and (n < 6 or <object>args[5] is False) and (n < 7 or index_of(<object>args[6], &ndmin)) and 0 <= ndmin <= 32:
        t = first_array(args)
        if is_word(args[4], "K"):
            n = 4
        elif t is not None and (is_word(args[4], "C") or is_word(args[4], "F")) and <object>args[1] is None \
                and <object>args[2] is None and <object>args[3] is True and ndmin <= t.v.layout.ndim:
            return ordered_copy(t, is_word(args[4], "F"))
    t = new_array(args, n, False)
    while t is not None and t.v.layout.ndim < ndmin:
        t = with_axis(t, 0)
    return t


cdef object quick_asarray(PyObject** args, Py_ssize_t n):
    return new_array(args, n, True)


cdef inline bint is_native(object o):
    """Whether it is an array of NumPy's own class, with bytes in this machine's order."""
    return type(o) is np.ndarray and cnp.PyArray_ISNOTSWAPPED(o)


cdef object new_array(PyObject** args, Py_ssize_t n, bint may_be_itself):
    """``array(obj, dtype, ctx=None, copy=True)``; ``may_be_itself``: an array that is right already is not copied."""
    cdef Tensor t
    cdef object items = <object>args[0] if n else None
    cdef npy_intp nothing = 0
    cdef int code = -1
    if n < 1 or n > 4 or n > 2 and <object>args[2] is not None or n == 4 and (may_be_itself or <object>args[3] is not True):
        return None
    if n > 1 and <object>args[1] is not None:
        if not names_dtype(<object>args[1]):
            return None
        code = dtype_code(<object>args[1])
    t = first_array(args)
    if not may_be_itself and is_derived(<object>args[0]):  # copies are of no class
        t = <Tensor>args[0]
    if t is not None:
        if code < 0 or code == t.v.dtype:
            if may_be_itself or contiguous(t):
                return t if may_be_itself else duplicate(t)
            kept = ordered_copy(t, order_of_axes(t) == b"F") if order_of_axes(t) else None
            return copied(t, t.v.dtype) if kept is None else kept
        return None if may_be_itself and one_to_numpy(code, t.v.dtype) else recoded(t, code)
    if is_tensor(<object>args[0]):
        t = <Tensor>args[0]
        return boxed(t, 0) if code < 0 or code == t.v.dtype else None
    if is_native(<object>args[0]):
        t = from_numpy(<object>args[0], current_device())
        return t if code < 0 or code == t.v.dtype else recoded(t, code)
    if type(items) is range and items.stop - items.start <= _DIRECT_ITEMS and items.start - items.stop <= _DIRECT_ITEMS:
        items = list(items)
    if not is_sequence(items):
        return of_number(items, code)
    if not len(items):
        return written(small_array(D_F8 if code < 0 else code, 1, &nothing)) if current_device() == cpu0() else None
    t = of_arrays(items, 0, True)
    if t is not None:
        return t if code < 0 or code == t.v.dtype else recoded(t, code)
    return of_numbers(items, code)


cdef object quick_copy(PyObject** args, Py_ssize_t n):
    """``copy(a, order)``: as the array lies, if nothing else is asked for."""
    cdef PyObject* placed[2]
    if n != 1:
        return quick_copy_method(args, n)
    order = "K"
    placed[0], placed[1] = args[0], <PyObject*>order
    return quick_copy_method(placed, 2)


cdef object quick_empty(PyObject** args, Py_ssize_t n):
    return new_in_order(args, n, 1)


cdef Tensor new_in_order(PyObject** args, Py_ssize_t n, Py_ssize_t at):
    """An unwritten array of a shape, with the dtype at ``at``, then ``ctx=None, order="C", device=None``."""
    cdef Tensor t
    if not at <= n <= at + 4 or n > at + 1 and <object>args[at + 1] is not None or n > at + 3 and <object>args[at + 3] is not None:
        return None
    cdef bint fortran = n > at + 2 and is_word(args[at + 2], "F")
    if n > at + 2 and not fortran and not is_word(args[at + 2], "C"):
        return None
    t = of_shape(<object>args[0], <object>args[at] if n > at else None)
    if t is not None and fortran:
        lay_in_fortran_order(t)
    return t


cdef object _zero = 0  # in every dtype no bit is set


cdef object quick_zeros(PyObject** args, Py_ssize_t n):
    return filled(new_in_order(args, n, 1), _zero)


cdef object quick_ones(PyObject** args, Py_ssize_t n):
    return filled(new_in_order(args, n, 1), True)


cdef object quick_full(PyObject** args, Py_ssize_t n):
    """``full(shape, fill_value, dtype, ...)`` of a number."""
    cdef int code
    cdef PyObject* placed[6]
    if not 2 <= n <= 6:
        return None
    memcpy(placed, args, n * sizeof(PyObject*))
    if n == 2 or <object>args[2] is None:
        code = number_code(<object>args[1])
        if code < 0:
            return None
        dtype = np_dtype(code)
        placed[2] = <PyObject*>dtype
    return filled(new_in_order(placed, max(n, 3), 2), <object>args[1])


cdef int number_code(object o) noexcept:
    """The dtype that NumPy has for one of Python's numbers, or of a scalar; -1 for anything else."""
    if type(o) is float:
        return D_F8
    if type(o) is int:
        return D_IL
    if type(o) is bool:
        return D_BOOL
    return (<Tensor>o).v.dtype if is_tensor(o) and not (<Tensor>o).v.layout.ndim else -1


cdef object quick_zeros_like(PyObject** args, Py_ssize_t n):
    return filled(alike(args, n, 1), _zero)


cdef object quick_ones_like(PyObject** args, Py_ssize_t n):
    return filled(alike(args, n, 1), True)


cdef object quick_empty_like(PyObject** args, Py_ssize_t n):
    return alike(args, n, 1)


cdef object quick_full_like(PyObject** args, Py_ssize_t n):
    return filled(alike(args, n, 2), <object>args[1]) if n > 1 else None


cdef Tensor alike(PyObject** args, Py_ssize_t n, Py_ssize_t at):
    """An unwritten array like the first argument, whose axes lie in C or Fortran order, of the dtype at ``at``, if any."""
    cdef Tensor t = first_array(args) if n == at or n == at + 1 else None
    cdef int code
    if t is None and (n == at or n == at + 1) and is_native(<object>args[0]) \
            and cnp.PyArray_NBYTES(<object>args[0]) <= most_bytes(False):
        t = from_numpy(<object>args[0], current_device())
    cdef char order = 0 if t is None else order_of_axes(t)
    if not order:
        return None
    code = t.v.dtype
    if n > at and <object>args[at] is not None:
        if not names_dtype(<object>args[at]):
            return None
        code = dtype_code(<object>args[at])
    cdef Tensor out = empty_like_shape(code, t.v.layout.ndim, t.v.layout.shape(), t.v.device())
    if order == b"F":
        lay_in_fortran_order(out)
    return out


cdef char order_of_axes(Tensor t) noexcept:
    """``b"C"`` or ``b"F"`` as an array's axes lie, perhaps with gaps or backwards; 0 for other orders."""
    cdef int i
    cdef npy_intp step, before = 0
    cdef bint falls = True, rises = True
    if contiguous(t):
        return b"C"
    if t.v.layout.f_contiguous(t.v.itemsize()):
        return b"F"
    for i in range(t.v.layout.ndim):
        step = abs(t.v.layout.strides()[i])
        if step == 0 or t.v.layout.shape()[i] < 2:
            return 0
        falls = falls and (i == 0 or step < before)
        rises = rises and (i == 0 or step > before)
        before = step
    if falls:
        return b"C"
    return b"F" if rises else 0


cdef void lay_in_fortran_order(Tensor t) noexcept:
    """Has the elements of a new array lie so."""
    cdef npy_intp step = t.v.itemsize()
    cdef int i
    for i in range(t.v.layout.ndim):
        t.v.layout.strides()[i] = step
        step *= t.v.layout.shape()[i] if t.v.layout.shape()[i] else 1


cdef Tensor filled(Tensor t, object value):
    """``t``, which nobody knows, with that number everywhere; None where it isn't simply one of its dtype."""
    cdef npy_intp i, size
    cdef int64_t number
    cdef long double one[2]  # 32 bytes, aligned
    cdef char* p
    if t is None or not (t.v.device() == cpu0()):
        return None
    if <npy_intp>t.v.chunk.nbytes > recorder().policy.direct_bytes * (4 if value is _zero else 1):
        if is_tensor(value) or not may_run_now() or not put_number(<char*>one, value, t.v.dtype):
            return None
        fill(t, value)
        return t
    if not t.v.chunk.allocate():
        return None
    p = t.v.chunk.data
    if value is _zero:
        memset(p, 0, t.v.chunk.nbytes)
        return written(t)
    size = info(t.v.dtype).size
    if not t.v.layout.size() or not put_value(p, value, t.v.dtype):
        return None
    if size == 8:
        number = (<int64_t*>p)[0]
        for i in range(1, t.v.layout.size()):
            (<int64_t*>p)[i] = number
    else:
        repeat_first(p, size, t.v.layout.size())
    return written(t)


cdef object quick_eye(PyObject** args, Py_ssize_t n):
    """``eye(n)`` and ``identity(n)``, of float64."""
    cdef npy_intp i, side
    cdef Tensor t
    if n != 1 or type(<object>args[0]) is not int:
        return None
    t = of_shape((<object>args[0], <object>args[0]), None)
    if t is None or not (t.v.device() == cpu0()) or not may_run_now() \
            or <npy_intp>t.v.chunk.nbytes > most_bytes(True) or not t.v.chunk.allocate():
        return None
    memset(t.v.chunk.data, 0, t.v.chunk.nbytes)
    side = t.v.layout.shape()[0]
    for i in range(side):
        (<double*>t.v.chunk.data)[i * (side + 1)] = 1
    return written(t)


cdef object quick_arange(PyObject** args, Py_ssize_t n):
    """A range of Python's numbers, or of integers that were computed."""
    cdef npy_intp start = 0, stop = 0, step = 1
    cdef Py_ssize_t i
    cdef object dtype = <object>args[3] if n == 4 else None
    cdef int code = D_IL
    cdef Tensor t
    if n < 1 or n > 4:
        return None
    if dtype is not None and dtype is not float and dtype is not int:
        if not names_dtype(dtype):
            return None
        code = dtype_code(dtype)
    n = min(n, 3)
    while n > 1 and <object>args[n - 1] is None:
        n -= 1
    for i in range(n):
        if type(<object>args[i]) is float or is_tensor(<object>args[i]) and (<Tensor><object>args[i]).v.dtype == D_F8:
            return range_of_floats(args, n) if dtype is None or dtype is float or code == D_F8 else None
    if dtype is float or code == D_F8:
        return range_of_floats(args, n)
    for i in range(n):  # a range of other integers is one of their dtype
        if is_tensor(<object>args[i]) and (<Tensor><object>args[i]).v.dtype != D_IL:
            return None
    if not index_of(<object>args[0], &stop):
        return None
    if n > 1:
        start = stop
        if not index_of(<object>args[1], &stop) or n > 2 and not index_of(<object>args[2], &step):
            return None
    if max(start, stop, step) > _FAR or min(start, stop, step) < -_FAR:
        return None
    cdef npy_intp length = 0
    if step > 0 and start < stop:
        length = (stop - start + step - 1) // step
    elif step < 0 and start > stop:
        length = (start - stop - step - 1) // -step
    if not length or code != D_IL and (length > _DIRECT_LENGTH or not holds_range(code, start, start + (length - 1) * step)):
        return None
    t = ramp(start, step, length)
    return t if t is None or code == D_IL else recoded(t, code)


cdef extern from "lazy/arithmetic.h" namespace "lazyarray" nogil:
    bint whole_fits(int64_t, int, bint)


cdef bint holds_range(int code, npy_intp first, npy_intp last) noexcept:
    """Whether a dtype has all integers between these: a range of it is one of int64, cast."""
    cdef npy_intp most
    if info(code).kind == b"f" and info(code).size <= 4:
        most = 1l << (24 if info(code).size == 4 else 11)
        return max(abs(first), abs(last)) <= most
    if info(code).kind == b"i" or info(code).kind == b"u":
        return whole_fits(first, info(code).size, info(code).kind == b"i") \
            and whole_fits(last, info(code).size, info(code).kind == b"i")
    return False


cdef object quick_linspace(PyObject** args, Py_ssize_t n):
    """``linspace(start, stop, num, endpoint, retstep, dtype, axis, ctx, device)`` between Python's numbers, as NumPy's function."""
    cdef double start, stop, delta, step
    cdef npy_intp num = 50, i
    cdef bint endpoint = True, retstep
    cdef double* to
    cdef Tensor t
    if not 2 <= n <= 9 or not plain_number(<object>args[0], &start) or not plain_number(<object>args[1], &stop) \
            or n > 2 and (type(<object>args[2]) is not int or not index_of(<object>args[2], &num)) \
            or n > 3 and not take_flag(args, n, 3, &endpoint) or not take_flag(args, n, 4, &retstep) or retstep \
            or n > 5 and <object>args[5] is not None and <object>args[5] is not float \
            or n > 6 and (type(<object>args[6]) is not int or <object>args[6] != 0) or not are_none(args, 7, n):
        return None
    delta = stop - start
    if not 2 <= num <= _DIRECT_LENGTH or not isfinite(delta) or not (current_device() == cpu0()):
        return None
    step = delta / <double>(num - 1 if endpoint else num)
    if step == 0 or abs(step) < 1e-290:  # numbers below the normal ones
        return None
    t = small_array(D_F8, 1, &num)
    if t is None:
        return None
    to = <double*>t.v.chunk.data
    for i in range(num):
        to[i] = <double>i * step + start
    if endpoint:
        to[num - 1] = stop
    return written(t)


cdef npy_intp _FAR = 1l << 40


cdef bint plain_number(object o, double* value) noexcept:
    """Whether ``o`` is a float, or an integer that is one as well; its value. Computed ones are known at hand."""
    cdef npy_intp n
    if type(o) is float:
        value[0] = <double>o
        return True
    if is_tensor(o) and (<Tensor>o).v.dtype == D_F8:
        return real_now(<Tensor>o, cpu0(), value)
    if not index_of(o, &n) or is_tensor(o) and (<Tensor>o).v.dtype != D_IL:
        return False
    value[0] = <double>n
    return -_FAR <= n <= _FAR


cdef object range_of_floats(PyObject** args, Py_ssize_t n):
    """A range of numbers some of which are floats; its length is found as NumPy finds it."""
    cdef double start = 0, stop = 0, step = 1, length
    if not plain_number(<object>args[0], &stop):
        return None
    if n > 1:
        start = stop
        if not plain_number(<object>args[1], &stop) or n > 2 and not plain_number(<object>args[2], &step):
            return None
    if step == 0:
        return None
    length = ceil((stop - start) / step)
    if not 0 < length <= _DIRECT_LENGTH:  # not a number, too
        return None
    return ramp(start, step, <npy_intp>length)


cdef object quick_byteswap(PyObject** args, Py_ssize_t n):
    """A copy of a small array, or a scalar, with the bytes of each element in the other order."""
    cdef Tensor x = only_tensor(args, n), out
    if x is None or not is_ready(x, True):
        return None
    out = new_element(x.v.dtype, cpu0()) if is_scalar(x) else small_array(x.v.dtype, x.v.layout.ndim, x.v.layout.shape(), True)
    if out is None:
        return None
    copy_swapped(info(x.v.dtype).type_num, out.v.elements(), x.v.elements(), x.v.layout.size())
    return out if is_scalar(x) else written(out)


cdef object quick_resize(PyObject** args, Py_ssize_t n):
    """The elements of a small array over and over, in a shape of Python's integers."""
    cdef Tensor x = first_array(args) if n == 2 else None, out
    cdef npy_intp shape[kMaxDims]
    cdef npy_intp have, size, product = 1
    cdef int i, ndim
    if x is None or not x.v.layout.size() or not is_ready(x):
        return None
    lengths = <object>args[1]
    lengths = (lengths,) if type(lengths) is int else lengths
    if type(lengths) is not tuple or not 0 < len(<tuple>lengths) <= kMaxDims:
        return None
    ndim = len(<tuple>lengths)
    for i in range(ndim):
        if not index_of((<tuple>lengths)[i], &shape[i]) or not 0 < shape[i] <= _DIRECT_RESULT // product:
            return None
        product *= shape[i]
    out = small_array(x.v.dtype, ndim, shape, True)
    if out is None:
        return None
    have, size = min(x.v.layout.size() * x.v.itemsize(), <npy_intp>out.v.chunk.nbytes), <npy_intp>out.v.chunk.nbytes
    memcpy(out.v.chunk.data, x.v.elements(), have)
    repeat_bytes(out.v.chunk.data, have, size)
    return written(out)


cdef void repeat_bytes(char* p, npy_intp have, npy_intp size) noexcept:
    """Repeats the first ``have`` bytes until there are ``size``, twice as many each time."""
    while have < size:
        memcpy(p + have, p, min(have, size - have))
        have += min(have, size - have)
