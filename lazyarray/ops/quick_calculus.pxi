# Native ways of calculus and of comparison: interpolation, differences, integrals, of small vectors of float64. None
# where a floating-point flag is raised.


cdef object quick_interp(PyObject** args, Py_ssize_t n):
    """The piecewise linear function through points, at one place or at those of a vector, by the formula of NumPy's loop."""
    cdef Tensor xp, fp, x, t
    cdef double at = 0
    cdef double* places = &at
    cdef npy_intp i, length, count = 1, near = 0
    if n != 3:
        return None
    x = <Tensor>args[0] if Py_TYPE(<object>args[0]) == type_of_arrays() and (<Tensor>args[0]).v.layout.ndim == 1 else None
    if x is not None:
        x = doubles(x)
        if x is None:
            return None
        places, count = <double*>(x.v.elements()), x.v.layout.shape()[0]
    elif not double_at_hand(<object>args[0], &at) or is_tensor(<object>args[0]) and not is_scalar(<Tensor>args[0]):
        return None
    xp, fp = doubles(<object>args[1]), doubles(<object>args[2])
    if xp is None or fp is None:
        return None
    length = xp.v.layout.shape()[0]
    if length == 0 or length != fp.v.layout.shape()[0] or not count:
        return None
    if count >= _SEARCHED:
        t = small_array(D_F8, 1, &count)
        take_flags(False)
        if t is None or not interpolated_at(places, count, <double*>(xp.v.elements()), <double*>(fp.v.elements()), length,
                                            (<double*>fp.v.elements())[0], (<double*>fp.v.elements())[length - 1],
                                            <double*>t.v.elements()):
            return None
        return None if flagged() else written(t)
    for i in range(length - 1):
        if not (<double*>(xp.v.elements()))[i] <= (<double*>(xp.v.elements()))[i + 1]:
            return None  # where NumPy's search comes to is its own business
    t = new_element(D_F8, cpu0()) if x is None else small_array(D_F8, 1, &count)
    if t is None:
        return None
    take_flags(False)
    for i in range(count):
        if not interpolated(places[i], <double*>(xp.v.elements()), <double*>(fp.v.elements()), length,
                            &near, <double*>(t.v.elements()) + i):
            take_flags(False)
            return None
    if x is None:
        return t
    return None if flagged() else written(t)


cdef bint interpolated(double x, const double* at, const double* values, npy_intp high, npy_intp* near,
                       double* found) noexcept:
    """The function's value at ``x``; false where it isn't a number, of which NumPy takes another way.

    ``near``: the interval of the place before, which is looked at first, and then that of this one.
    """
    cdef npy_intp low = near[0]
    cdef double slope
    if x < at[0]:
        found[0] = values[0]
    elif x >= at[high - 1]:
        found[0] = values[high - 1]
    elif x != x:
        return False
    else:
        # at[low] <= x < at[low + 1]
        if low + 2 < high and at[low + 1] <= x < at[low + 2]:
            low += 1
        elif not at[low] <= x < at[low + 1]:
            low = last_not_above(at, high, x)
        near[0] = low
        slope = (values[low + 1] - values[low]) / (at[low + 1] - at[low])
        found[0] = values[low] if at[low] == x else slope * (x - at[low]) + values[low]
    return found[0] == found[0]


cdef Tensor floats_in(object o):
    """A small vector of float64, or a list of such numbers alone; None for anything else."""
    cdef Tensor t = numbers_in(o)
    return None if t is None or t.v.dtype != D_F8 else doubles(t)


cdef object quick_gradient(PyObject** args, Py_ssize_t n):
    """``gradient(f)`` or ``gradient(f, spacing)`` of a vector."""
    cdef double spacing = 1
    cdef npy_intp i, length
    cdef double* p
    cdef double* to
    cdef Tensor x = floats_in(<object>args[0]) if 1 <= n <= 2 else None, out
    if x is None or n == 2 and type(<object>args[1]) is not float and type(<object>args[1]) is not int \
            or n == 2 and not plain_number(<object>args[1], &spacing):
        return None
    length = x.v.layout.shape()[0]
    if length < 2:
        return None
    out = small_array(D_F8, 1, &length)
    if out is None:
        return None
    take_flags(False)
    p, to = <double*>(x.v.elements()), <double*>out.v.chunk.data
    to[0] = (p[1] - p[0]) / spacing
    for i in range(1, length - 1):
        to[i] = (p[i + 1] - p[i - 1]) / (2.0 * spacing)
    to[length - 1] = (p[length - 1] - p[length - 2]) / spacing
    return None if flagged() else written(out)


cdef object quick_trapezoid(PyObject** args, Py_ssize_t n):
    """``trapezoid(y, x, dx)`` of a vector."""
    cdef double values[_STATISTIC]
    cdef double width = 1
    cdef npy_intp i, length
    cdef double* p
    cdef double* at = NULL
    cdef Tensor y = floats_in(<object>args[0]) if 1 <= n <= 3 else None, x, out
    if y is None or n == 3 and not plain_number(<object>args[2], &width):
        return None
    length = y.v.layout.shape()[0]
    if n > 1 and <object>args[1] is not None:
        x = floats_in(<object>args[1])
        if x is None or x.v.layout.shape()[0] != length:
            return None
        at = <double*>(x.v.elements())
    if not 2 <= length <= _STATISTIC:
        return None
    take_flags(False)
    p = <double*>(y.v.elements())
    for i in range(length - 1):
        if at is not NULL:
            width = at[i + 1] - at[i]
        values[i] = width * (p[i + 1] + p[i]) / 2.0
    values[0] = sum_of(values, length - 1, True)
    if flagged():
        return None
    out = new_element(D_F8, cpu0())
    (<double*>out.v.elements())[0] = values[0]
    return out


ctypedef fused Rounded:
    float
    double


cdef inline void round_each(Rounded* p, npy_intp n, npy_intp decimals) noexcept:
    cdef npy_intp i
    cdef double ten = 1
    for i in range(abs(decimals)):
        ten *= 10
    cdef Rounded power = <Rounded>ten
    for i in range(n):
        p[i] = <Rounded>rint(p[i] * power) / power if decimals >= 0 else <Rounded>rint(p[i] / power) * power


cdef object quick_round(PyObject** args, Py_ssize_t n):
    """``round(a, decimals)``, as NumPy does it: floats by a power of ten, `rint` and the power again; integers are copied."""
    cdef Tensor x = <Tensor>args[0] if 1 <= n <= 3 and is_tensor(<object>args[0]) and is_ours(<object>args[0]) else None, out
    cdef npy_intp decimals = 0
    cdef char order
    cdef bint whole
    if x is None or n == 3 and <object>args[2] is not None or not may_run_now() or not x.v.near() \
            or n > 1 and (type(<object>args[1]) is not int or not index_of(<object>args[1], &decimals)) \
            or not -15 <= decimals <= 15:
        return None
    whole = info(x.v.dtype).kind in b"iu" and decimals >= 0
    if not whole and x.v.dtype != D_F8 and x.v.dtype != D_F4:
        return None
    if is_scalar(x):
        out = new_element(x.v.dtype, cpu0())
        memcpy(out.v.elements(), x.v.elements(), x.v.itemsize())
    else:
        order = order_of_axes(x) if x.v.layout.ndim and x.v.layout.size() * x.v.itemsize() <= most_bytes(whole) else 0
        out = ordered_copy(x, order == b"F") if order else None
    if out is None or whole:
        return out
    take_flags(False)
    if x.v.dtype == D_F8:
        round_each(<double*>out.v.elements(), out.v.layout.size(), decimals)
    else:
        round_each(<float*>out.v.elements(), out.v.layout.size(), decimals)
    return None if flagged() else out


cdef object quick_diff(PyObject** args, Py_ssize_t n):
    """``diff(a)`` of a vector of floats or of int64."""
    cdef Tensor x = only(args, n), out
    cdef npy_intp i, length, item
    cdef npy_intp apart[3]
    cdef const int64_t* p
    cdef int64_t* to
    cdef const LineLoops* loops
    cdef char* ends[3]
    if x is None or x.v.layout.ndim != 1 or not is_ready(x):
        return None
    loops = line_loops(b"-", x.v.dtype)
    length, item = x.v.layout.shape()[0] - 1, x.v.itemsize()
    out = small_array(x.v.dtype, 1, &length) if length > 0 and (loops is not NULL or x.v.dtype == D_IL) else None
    if out is None:
        return None
    if loops is NULL:
        p, to = <const int64_t*>(x.v.elements()), <int64_t*>out.v.chunk.data
        for i in range(length):
            to[i] = <int64_t>(<uint64_t>p[i + 1] - <uint64_t>p[i])
        return written(out)
    ends[0], ends[1], ends[2] = x.v.elements() + item, x.v.elements(), out.v.chunk.data
    apart[0] = apart[1] = apart[2] = 0  # from row to row: there is one
    take_flags(False)
    loops.both(ends, length, 1, apart)
    return None if flagged() else written(out)


cdef object quick_cumsum(PyObject** args, Py_ssize_t n):
    """``cumsum(a, axis)`` of floats or of integers of 64 bits."""
    return run_along(b"+", np.add, args, n)


cdef object quick_cumprod(PyObject** args, Py_ssize_t n):
    """``cumprod(a, axis)`` of floats or of integers of 64 bits."""
    return run_along(b"*", np.multiply, args, n)


cdef object run_along(char sign, object ufunc, PyObject** args, Py_ssize_t n):
    """``cumsum(a, axis, dtype, out)`` without a dtype, ``out`` a vector like ``a``, if there is one."""
    cdef Tensor x, out, made
    cdef int axis
    if not 1 <= n <= 4 or n > 2 and <object>args[2] is not None:
        return None
    x = first_array(args)
    if x is not None and x.v.layout.ndim > 1:
        axis = -1 if n == 1 or not are_none(args, 2, n) else axis_of(<object>args[1], x.v.layout.ndim)
        made = None if axis < 0 or running_of(sign, info(x.v.dtype).type_num) is NULL \
            else accumulated(<Ufunc>row_of(ufunc), x, axis, None)
        return made
    if n > 1 and <object>args[1] is not None and not is_first_axis(<object>args[1]):
        return None
    if n < 4 or <object>args[3] is None:
        return running_now(sign, x)
    if x is None or Py_TYPE(<object>args[3]) != type_of_arrays():
        return None
    out = <Tensor>args[3]
    if out.v.dtype != x.v.dtype or out.v.layout.ndim != 1 or out.v.layout.size() != x.v.layout.size() \
            or unwritable(out) or not is_ready(out, True) or not at_hand(out.v.chunk, True):
        return None
    made = running_now(sign, x)
    if made is None or made.v.dtype != out.v.dtype:
        return None
    memcpy(out.v.elements(), made.v.chunk.data, made.v.chunk.nbytes)
    changed(out.v.chunk)
    return out


cdef bint is_first_axis(object axis) except -1:
    return type(axis) is int and (axis == 0 or axis == -1)


cdef Tensor running_now(char sign, Tensor x):
    """Running sums or products of a vector, at once; None where it isn't that simple."""
    cdef npy_intp length, item
    cdef Tensor out
    cdef Running run
    if x is None or x.v.layout.ndim != 1 or not is_ready(x, True):
        return None
    run = running_of(sign, info(x.v.dtype).type_num)
    length, item = x.v.layout.shape()[0], x.v.itemsize()
    out = small_array(x.v.dtype, 1, &length, True) if run is not NULL and length else None
    if out is None:
        return None
    take_flags(False)
    run(x.v.elements(), 0, item, out.v.chunk.data, 0, item, length, 1)
    return None if flagged() else written(out)


cdef object quick_clip(PyObject** args, Py_ssize_t n):
    """``clip(a, min, max)`` of float64, or of one of Python's floats, between two numbers, as NumPy's loop does it."""
    cdef double low, high, value
    cdef npy_intp i
    cdef Tensor x = None, out
    cdef const double* p = &value
    cdef bint in_place = n == 4 and <object>args[3] is <object>args[0]
    if n != 3 and not in_place or not is_bound(<object>args[1], &low) or not is_bound(<object>args[2], &high) or low != low or high != high \
            or not may_run_now():
        return None
    if type(<object>args[0]) is float:
        value = <double><object>args[0]
        if not (current_device() == cpu0()):
            return None
    else:
        x = <Tensor>args[0] if is_tensor(<object>args[0]) and is_ours(<object>args[0]) else None
        if x is None or x.v.dtype != D_F8 or not x.v.near() \
                or not is_scalar(x) and (not x.v.layout.ndim or not is_ready(x)):
            return None
        p = <double*>(x.v.elements())
        if in_place and (is_scalar(x) or unwritable(x) or not at_hand(x.v.chunk, True)):
            return None
    if in_place and x is None:
        return None
    out = x if in_place else new_element(D_F8, cpu0()) if x is None or is_scalar(x) \
        else small_array(D_F8, x.v.layout.ndim, x.v.layout.shape())
    if out is None:
        return None
    for i in range(1 if x is None or is_scalar(x) else x.v.layout.size()):
        value = p[i]
        if value < low:
            value = low
        if value > high:
            value = high
        (<double*>(out.v.elements()))[i] = value
    if in_place:
        changed(x.v.chunk)
        return x
    return out if is_scalar(out) else written(out)


cdef bint is_bound(object o, double* value) noexcept:
    """Whether ``o`` is a number that float64 is limited by: Python's, or a scalar of float64 or int64 at hand."""
    if is_tensor(o) and ((<Tensor>o).v.dtype != D_F8 and (<Tensor>o).v.dtype != D_IL or not is_scalar(<Tensor>o)):
        return False
    return double_at_hand(o, value) if is_tensor(o) else plain_number(o, value)


# ---- comparison -----------------------------------------------------------------------------------


cdef bint take_numbers(object o, double* values, npy_intp* count) except -1:
    """Writes the elements of a small array, or of one of Python's numbers, whose count is one then."""
    cdef Lines lines
    cdef Tensor t
    if Py_TYPE(o) != type_of_arrays() and type(o) is not list:
        count[0] = 1
        return plain_number(o, values)
    t = numbers_in(o)
    if t is None or not take_lines(t, None, values, &lines, True):
        return False
    count[0] = t.v.layout.size()
    return True


cdef inline bint are_close(double x, double y, double relative, double absolute, bint nan_equals) noexcept:
    """``isclose`` of two numbers. All of it is computed, whatever the first part says: each may raise a flag."""
    cdef double limit = absolute + relative * abs(y), difference = abs(x - y)
    return (x == y) | (difference <= limit) & (isfinite(y) != 0) | nan_equals & (x != x) & (y != y)


cdef object quick_allclose(PyObject** args, Py_ssize_t n):
    """``allclose(a, b, rtol, atol, equal_nan)`` of arrays of one shape, or of one and a number."""
    cdef double a[_STATISTIC]
    cdef double b[_STATISTIC]
    cdef double relative = 1e-5, absolute = 1e-8, x, y
    cdef npy_intp i, count, others
    cdef bint nan_equals, close = True
    if not 2 <= n <= 5 or n > 2 and not plain_number(<object>args[2], &relative) \
            or n > 3 and not plain_number(<object>args[3], &absolute) or not take_flag(args, n, 4, &nan_equals) \
            or not isfinite(relative) or not isfinite(absolute) \
            or not is_tensor(<object>args[0]) and not is_tensor(<object>args[1]) \
            or not take_numbers(<object>args[0], a, &count) or not take_numbers(<object>args[1], b, &others):
        return None
    if Py_TYPE(<object>args[0]) == type_of_arrays() and Py_TYPE(<object>args[1]) == type_of_arrays():
        if not (<Tensor>args[0]).v.layout.same_shape((<Tensor>args[1]).v.layout):
            return None
    elif count != 1 and others != 1:
        return None
    take_flags(False)
    for i in range(max(count, others)):
        x, y = a[i if count > 1 else 0], b[i if others > 1 else 0]
        close &= are_close(x, y, relative, absolute, nan_equals)
    return None if flagged() else close


cdef object quick_isclose(PyObject** args, Py_ssize_t n):
    """``isclose(a, b, rtol, atol, equal_nan)`` of arrays of one shape, or of an array and a number."""
    cdef double a[_STATISTIC]
    cdef double b[_STATISTIC]
    cdef double relative = 1e-5, absolute = 1e-8
    cdef npy_intp i, count, others
    cdef bint nan_equals
    cdef Tensor like, out
    if not 2 <= n <= 5 or n > 2 and not plain_number(<object>args[2], &relative) \
            or n > 3 and not plain_number(<object>args[3], &absolute) or not take_flag(args, n, 4, &nan_equals) \
            or not isfinite(relative) or not isfinite(absolute) or Py_TYPE(<object>args[0]) != type_of_arrays():
        return None
    like = <Tensor>args[0]
    if Py_TYPE(<object>args[1]) == type_of_arrays():
        if not like.v.layout.same_shape((<Tensor>args[1]).v.layout):
            return None
    elif type(<object>args[1]) is not float and type(<object>args[1]) is not int:
        return None
    if not take_numbers(<object>args[0], a, &count) or not take_numbers(<object>args[1], b, &others):
        return None
    out = small_array(D_BOOL, like.v.layout.ndim, like.v.layout.shape())
    if out is None:
        return None
    take_flags(False)
    for i in range(count):
        out.v.chunk.data[i] = are_close(a[i], b[i if others > 1 else 0], relative, absolute, nan_equals)
    return None if flagged() else written(out)


cdef object quick_array_equal(PyObject** args, Py_ssize_t n):
    """``array_equal(a, b)`` of arrays of one dtype."""
    cdef Tensor x = first_array(args) if n == 2 else None, y
    cdef npy_intp i, size
    cdef const char* p
    cdef const char* q
    y = None if x is None else numbers_in(<object>args[1])
    if y is None or x.v.dtype != y.v.dtype or x.v.dtype not in (D_F8, D_IL, D_BOOL) or not is_ready(x) or not is_ready(y):
        return None
    if not x.v.layout.same_shape(y.v.layout):
        return False
    p, q, size = x.v.elements(), y.v.elements(), x.v.layout.size()
    for i in range(size):
        if (<double*>p)[i] != (<double*>q)[i] if x.v.dtype == D_F8 else \
                (<int64_t*>p)[i] != (<int64_t*>q)[i] if x.v.dtype == D_IL else p[i] != q[i]:
            return False
    return True
