# Native ways of statistics: of small arrays of float64, and of integers and bools that are such numbers as well. None
# where a floating-point flag is raised, or a value asks for NumPy's own care.


cdef extern from "lazy/cpu/pairwise.h" namespace "lazyarray" nogil:
    double pairwise_sum(const double*, npy_intp)
    ctypedef enum Moment "lazyarray::Moment":
        MOMENT_SUM "lazyarray::Moment::SUM"
        MOMENT_MEAN "lazyarray::Moment::MEAN"
        MOMENT_VAR "lazyarray::Moment::VAR"
        MOMENT_STD "lazyarray::Moment::STD"
    void moments(Moment, const double*, npy_intp, npy_intp, npy_intp, double*)
    void moments(Moment, const float*, npy_intp, npy_intp, npy_intp, float*)


cdef enum:
    _STATISTIC = 4096  # elements, on the stack
    _SORTED = 1024     # a sort of so many takes less than NumPy's Python layers of quantiles, ...
    _HALVED = 512      # ... or of medians


cdef double _BYTE_NS = 0.0125  # to add up floats in pairs, from the caches

# What a statistic is over, line after line: the axis between the outer ones and the inner ones.
cdef struct Lines:
    npy_intp outer, length, inner
    int axis  # -1: all of them

cdef double _EXACT = 9007199254740992  # beyond it not all integers are doubles


cdef bint take_lines(object o, object axis, double* values, Lines* lines, bint any_order, npy_intp most=_STATISTIC) except -1:
    """Writes the elements line after line; whether that was possible.

    ``any_order``: the order in which they are added up does not matter, so their layout doesn't.
    """
    cdef Tensor x = <Tensor>o
    cdef const Layout* l = &x.v.layout
    cdef npy_intp size = l.size(), i, j, k
    cdef double* to = values
    cdef int ndim = l.ndim, d
    if not ndim or not size or size > most or x.v.dtype not in (D_F8, D_IL, D_BOOL) or not may_run_now() \
            or not x.v.near() or size * x.v.itemsize() > recorder().policy.direct_bytes:
        return False
    if ndim > 1 and not contiguous(x):
        return False
    lines.axis = -1
    lines.outer = lines.inner = 1
    lines.length = size
    if axis is not None:
        lines.axis = axis_of(axis, ndim)
        if lines.axis < 0:
            return False
        lines.length = l.shape()[lines.axis]
        for d in range(lines.axis):
            lines.outer *= l.shape()[d]
        for d in range(lines.axis + 1, ndim):
            lines.inner *= l.shape()[d]
    cdef npy_intp step = l.strides()[0] if ndim == 1 else x.v.itemsize(), apart = step * lines.inner
    cdef npy_intp length = lines.length, inner = lines.inner
    cdef int dtype = x.v.dtype
    cdef char* first = x.v.elements()
    cdef char* p
    for i in range(lines.outer):
        for j in range(inner):
            p = first + i * length * apart + j * step
            if dtype == D_F8:
                for k in range(length):
                    to[k] = (<double*>(p + k * apart))[0]
            else:
                for k in range(length):
                    if dtype == D_BOOL:
                        to[k] = p[k * apart] != 0
                        continue
                    to[k] = <double>(<int64_t*>(p + k * apart))[0]
                    if not -_EXACT <= to[k] * size <= _EXACT:  # their sum is exact, too
                        return False
            to += length
    take_flags(False)
    return True


cdef Tensor reduced_array(Tensor x, const Lines* lines, bint keepdims, npy_intp first=-1):
    """An array to be written, of what a statistic leaves of ``x``, behind an axis of ``first`` points; None without memory."""
    cdef npy_intp shape[kMaxDims]
    cdef int n = 0, d
    if first >= 0:
        shape[0] = first
        n = 1
    for d in range(x.v.layout.ndim):
        if lines.axis >= 0 and d != lines.axis:
            shape[n] = x.v.layout.shape()[d]
            n += 1
        elif keepdims:
            shape[n] = 1
            n += 1
        if n == kMaxDims:
            return None
    cdef int dtype = D_F4 if x.v.dtype == D_F4 else D_F8
    return new_element(dtype, cpu0()) if n == 0 else small_array(dtype, n, shape)


cdef object told_numbers(Tensor x, const Lines* lines, bint keepdims, const double* found, npy_intp points=1, bint several=False):
    """The array of what was found for each line (point after point), if no flag was raised meanwhile."""
    if flagged():
        return None
    cdef Tensor out = reduced_array(x, lines, keepdims, points if several else -1)
    if out is None:
        return None
    memcpy(out.v.elements(), found, points * lines.outer * lines.inner * sizeof(double))
    return out if is_scalar(out) else written(out)


cdef double sum_of(const double* p, npy_intp n, bint in_pairs) noexcept:
    """The sum in NumPy's order: in pairs, or one after the other, as along an axis that isn't the last."""
    cdef double total = 0
    cdef npy_intp i
    if in_pairs:
        return total + pairwise_sum(p, n)
    for i in range(n):
        total += p[i]
    return total


cdef Tensor rows_moment(Moment which, Tensor x, object axis, npy_intp ddof, bint keepdims):
    """Of each row of a complete array of float64 or float32, the rows without gaps; None where they are no such rows."""
    cdef const Layout* l = &x.v.layout
    cdef npy_intp size = l.size()
    cdef int ndim = l.ndim
    cdef Lines lines
    cdef double cost = size * x.v.itemsize() * _BYTE_NS
    if which == MOMENT_VAR or which == MOMENT_STD:
        cost *= 2
    if not ndim or not size or x.v.dtype not in (D_F8, D_F4) or cost > recorder().policy.inline_ns \
            or not recorder().policy.direct_bytes or not may_run_now() or not contiguous(x) or not x.v.near():
        return None
    lines.outer, lines.length, lines.inner, lines.axis = 1, size, 1, -1
    if axis is not None:
        lines.axis = ndim - 1
        if axis_of(axis, ndim) != lines.axis:
            return None
        lines.length = l.shape()[lines.axis]
        lines.outer = size // lines.length
    cdef Tensor out = reduced_array(x, &lines, keepdims) if ddof < lines.length else None
    if out is None:
        return None
    take_flags(False)
    if x.v.dtype == D_F8:
        moments(which, <const double*>x.v.elements(), lines.outer, lines.length, ddof, <double*>out.v.elements())
    else:
        moments(which, <const float*>x.v.elements(), lines.outer, lines.length, ddof, <float*>out.v.elements())
    if flagged():
        return None
    return out if is_scalar(out) else written(out)


cdef Tensor numbers_in(object o):
    """An array that isn't a scalar, or the one of a list of numbers; None for anything else."""
    return <Tensor>o if Py_TYPE(o) == type_of_arrays() else of_numbers(o, -1) if type(o) is list else None


cdef bint are_none(PyObject** args, Py_ssize_t start, Py_ssize_t end) noexcept:
    cdef Py_ssize_t i
    for i in range(start, end):
        if <object>args[i] is not None:
            return False
    return True


cdef bint is_everywhere(PyObject** args, Py_ssize_t n, Py_ssize_t at) noexcept:
    """Whether ``where`` is as if it were not given."""
    return at >= n or <object>args[at] is True


cdef bint is_word(PyObject* o, str word) except -1:
    return type(<object>o) is str and <str><object>o == word


cdef bint take_flag(PyObject** args, Py_ssize_t n, Py_ssize_t at, bint* flag) noexcept:
    """Reads an argument that is to be True or False, which it is if it isn't given."""
    flag[0] = at < n and <object>args[at] is True
    return at >= n or flag[0] or <object>args[at] is False


cdef object _numpys_moments = (_methods._mean, _methods._var, _methods._std)


cdef bint is_of_numpys(Tensor x, str ours) except -1:
    """Whether a moment of that array is a call of NumPy's, should it be recorded: it is none of these dtypes."""
    return x.v.layout.ndim > 0 and x.v.layout.size() > 0 and info(x.v.dtype).kind in b"fc" and chr(info(x.v.dtype).code) not in ours


cdef object numpys_moment(int which, Tensor x, object axis, npy_intp ddof, bint keepdims):
    """The mean (0), ``var`` (1) or ``std`` (2) of an array, by NumPy, at once; None for any other."""
    cdef int i
    if axis is not None and type(axis) is not int and type(axis) is not tuple:
        return None
    for i in range(x.v.layout.ndim):
        if ddof >= x.v.layout.shape()[i]:  # there may be a warning
            return None
    more = (ddof,) if which else ()
    return direct_call(_numpys_moments[which], (x, axis, None, None, *more, keepdims), PY_SSIZE_T_MAX, _DIRECT_LENGTH, 1)


cdef object quick_mean(PyObject** args, Py_ssize_t n):
    """``mean(a, axis, dtype, out, keepdims, where)``."""
    cdef double values[_STATISTIC]
    cdef Lines lines
    cdef bint keepdims
    cdef npy_intp i
    cdef Tensor x = numbers_in(<object>args[0]) if 1 <= n <= 6 else None
    if x is None or not are_none(args, 2, min(n, 4)) or not take_flag(args, n, 4, &keepdims) or not is_everywhere(args, n, 5):
        return None
    axis = <object>args[1] if n > 1 else None
    found = rows_moment(MOMENT_MEAN, x, axis, 0, keepdims)
    if found is not None:
        return found
    if is_of_numpys(x, "fdFD"):
        return numpys_moment(0, x, axis, 0, keepdims)
    if not take_lines(x, axis, values, &lines, False):
        return None
    for i in range(lines.outer * lines.inner):
        values[i] = sum_of(&values[i * lines.length], lines.length, lines.inner == 1) / <double>lines.length
    return told_numbers(x, &lines, keepdims, values)


cdef object quick_mean_method(PyObject** args, Py_ssize_t n):
    return quick_mean(args, n) if n and is_tensor(<object>args[0]) else None


cdef object quick_std_method(PyObject** args, Py_ssize_t n):
    return moment(args, n, True) if n and is_tensor(<object>args[0]) else None


cdef object quick_var(PyObject** args, Py_ssize_t n):
    return moment(args, n, False)


cdef object quick_std(PyObject** args, Py_ssize_t n):
    return moment(args, n, True)


cdef object moment(PyObject** args, Py_ssize_t n, bint root):
    """``var`` and ``std(a, axis, dtype, out, ddof, keepdims, where, mean, correction)``, as numpy/_core/_methods.py has it."""
    cdef double values[_STATISTIC]
    cdef Lines lines
    cdef bint keepdims
    cdef npy_intp i, k, ddof = 0
    cdef double middle
    cdef double* p
    cdef Tensor x = numbers_in(<object>args[0]) if 1 <= n <= 9 else None
    if x is None or not are_none(args, 2, min(n, 4)) or not take_flag(args, n, 5, &keepdims) \
            or not is_everywhere(args, n, 6) or not are_none(args, 7, n) \
            or n > 4 and (type(<object>args[4]) is not int or not index_of(<object>args[4], &ddof)):
        return None
    axis = <object>args[1] if n > 1 else None
    found = rows_moment(MOMENT_STD if root else MOMENT_VAR, x, axis, ddof, keepdims)
    if found is not None:
        return found
    if is_of_numpys(x, "fd"):
        return numpys_moment(1 + root, x, axis, ddof, keepdims)
    if not take_lines(x, axis, values, &lines, False) or ddof >= lines.length:
        return None
    for i in range(lines.outer * lines.inner):
        p = &values[i * lines.length]
        middle = sum_of(p, lines.length, lines.inner == 1) / <double>lines.length
        for k in range(lines.length):
            p[k] -= middle
            p[k] *= p[k]
        values[i] = sum_of(p, lines.length, lines.inner == 1) / <double>(lines.length - ddof)
        if root:
            values[i] = sqrt(values[i])
    return told_numbers(x, &lines, keepdims, values)


cdef object quick_average(PyObject** args, Py_ssize_t n):
    """``average(a, axis, weights, returned, keepdims)``, with weights of the same shape."""
    cdef double values[_STATISTIC]
    cdef double weights[_STATISTIC]
    cdef double total
    cdef Lines lines, others
    cdef bint keepdims, returned
    cdef npy_intp i, k
    cdef Tensor x = numbers_in(<object>args[0]) if 3 <= n <= 5 else None
    cdef Tensor w = None if x is None else numbers_in(<object>args[2])
    if w is None or not w.v.layout.same_shape(x.v.layout) or not take_flag(args, n, 3, &returned) or returned \
            or not take_flag(args, n, 4, &keepdims) \
            or not take_lines(x, <object>args[1], values, &lines, False) \
            or not take_lines(w, <object>args[1], weights, &others, False):
        return None
    for i in range(lines.outer * lines.inner):
        total = sum_of(&weights[i * lines.length], lines.length, lines.inner == 1)
        if total == 0:
            return None
        for k in range(i * lines.length, (i + 1) * lines.length):
            values[k] *= weights[k]
        values[i] = sum_of(&values[i * lines.length], lines.length, lines.inner == 1) / total
    return told_numbers(x, &lines, keepdims, values)


# ---- by rank --------------------------------------------------------------------------------------


cdef bint sort_lines(double* values, const Lines* lines, npy_intp most) except -1:
    """Sorts each line; false where the order of equals could be seen, or something is not a number."""
    cdef Kernel* k = along_kernel("sort", 2, D_F8)
    cdef npy_intp i
    if lines.length > most:
        return False
    for i in range(lines.outer * lines.inner * lines.length):
        if values[i] != values[i] or values[i] == 0 and signbit(values[i]):
            return False
    for i in range(lines.outer * lines.inner):
        (<Along*>k.data).put_in_order(<char*>&values[i * lines.length], lines.length)
    take_flags(False)
    return True


cdef bint many_numbers(Tensor x, object axis, npy_intp few, Lines* lines) noexcept:
    """Whether it is more than a few float64 numbers without gaps, all of one line."""
    cdef npy_intp n = x.v.layout.size()
    lines.outer, lines.length, lines.inner, lines.axis = 1, n, 1, -1
    if axis is not None:
        if type(axis) is not int or x.v.layout.ndim != 1 or (<object>axis != 0 and <object>axis != -1):
            return False
        lines.axis = 0
    return n > few and x.v.dtype == D_F8 and x.v.layout.ndim > 0 and is_ready(x, True)


cdef object quick_median(PyObject** args, Py_ssize_t n):
    """``median(a, axis, out, overwrite_input, keepdims)``."""
    cdef double values[_STATISTIC]
    cdef Lines lines
    cdef bint keepdims, overwrite
    cdef npy_intp i, half
    cdef double* p
    cdef Tensor x = numbers_in(<object>args[0]) if 1 <= n <= 5 else None
    if x is None or not are_none(args, 2, min(n, 3)) or not take_flag(args, n, 3, &overwrite) \
            or not take_flag(args, n, 4, &keepdims):
        return None
    if many_numbers(x, <object>args[1] if n > 1 else None, _HALVED, &lines):
        if not middle(<const double*>x.v.elements(), lines.length, values):
            return None
        if lines.length % 2 == 0:
            values[0] = (values[0] + values[1]) / 2
        return told_numbers(x, &lines, keepdims, values)
    if not take_lines(x, <object>args[1] if n > 1 else None, values, &lines, True) \
            or not sort_lines(values, &lines, _HALVED):
        return None
    half = lines.length // 2
    for i in range(lines.outer * lines.inner):
        p = &values[i * lines.length + half]
        values[i] = p[0] if lines.length % 2 else (p[-1] + p[0]) / 2
    return told_numbers(x, &lines, keepdims, values)


cdef object quick_percentile(PyObject** args, Py_ssize_t n):
    return points_between(args, n, 100)


cdef object quick_quantile(PyObject** args, Py_ssize_t n):
    return points_between(args, n, 1)


cdef object points_between(PyObject** args, Py_ssize_t n, double whole):
    """``quantile`` and ``percentile(a, q, axis, out, overwrite_input, method, keepdims, weights)``, by "linear"."""
    cdef double values[_STATISTIC]
    cdef double found[_STATISTIC]
    cdef double points[_VECTOR]
    cdef double at, low
    cdef double* p
    cdef Lines lines
    cdef bint keepdims, overwrite, several
    cdef npy_intp i, j, count = 1, every
    cdef Tensor x = numbers_in(<object>args[0]) if 2 <= n <= 8 else None, q
    if x is None or x.v.dtype == D_BOOL or not are_none(args, 3, min(n, 4)) or not take_flag(args, n, 4, &overwrite) \
            or n > 5 and not is_word(args[5], "linear") or not take_flag(args, n, 6, &keepdims) or not are_none(args, 7, n):
        return None
    given = <object>args[1]
    if whole == 1 and x.v.dtype != D_F8 and type(given) is not float:
        return None  # an integer of integers is one
    several = type(given) is not float and type(given) is not int
    if several:
        q = numbers_in(given)
        if q is None or q.v.layout.ndim != 1 or not contiguous(q) or not q.v.near() or q.v.dtype not in (D_F8, D_IL):
            return None
        count = q.v.layout.shape()[0]
        if count > _VECTOR:
            return None
        for i in range(count):
            points[i] = (<double*>q.v.elements())[i] if q.v.dtype == D_F8 else <double>(<int64_t*>q.v.elements())[i]
    elif not plain_number(given, points):
        return None
    for i in range(count):
        if not 0 <= points[i] <= whole:
            return None
        if whole != 1:
            points[i] /= whole
    if count <= _FEW_POINTS and many_numbers(x, <object>args[2] if n > 2 else None, _SORTED, &lines):
        if not linear_quantiles(<const double*>x.v.elements(), lines.length, points, count, found):
            return None
        return told_numbers(x, &lines, keepdims, found, count, several)
    if not take_lines(x, <object>args[2] if n > 2 else None, values, &lines, True) \
            or not sort_lines(values, &lines, _SORTED):
        return None
    every = lines.outer * lines.inner
    if count * every > _STATISTIC:
        return None
    for i in range(count):
        at = <double>(lines.length - 1) * points[i]
        low = floor(at)
        for j in range(every):
            p = &values[j * lines.length]
            if not linear_between(p[<npy_intp>low], p[min(<npy_intp>low + 1, lines.length - 1)], at - low,
                                  &found[i * every + j]):
                take_flags(False)
                return None
    return told_numbers(x, &lines, keepdims, found, count, several)


# ---- counts ---------------------------------------------------------------------------------------


cdef const double* numbers_of(Tensor x, double* values, npy_intp* size) except? NULL:
    """The elements of an array as doubles, in any order: where they are, or in ``values``; NULL where they aren't at hand."""
    cdef Lines lines
    if x.v.dtype == D_F8 and x.v.layout.size() and x.v.layout.ndim and is_ready(x, True):
        size[0] = x.v.layout.size()
        return <const double*>x.v.elements()
    if not take_lines(x, None, values, &lines, True):
        return NULL
    size[0] = lines.length
    return values


cdef object histogram_between(Tensor x, object edges):
    """``histogram(a, edges)``, and the edges as they are."""
    cdef double values[_STATISTIC]
    cdef double limits[_SORTED]
    cdef Lines lines
    cdef npy_intp size = 0, bins
    cdef Tensor borders = numbers_in(edges), found
    if borders is None or borders.v.layout.ndim != 1 or borders.v.dtype == D_BOOL or borders.v.layout.size() < 2 \
            or not take_lines(borders, None, limits, &lines, True, _SORTED):
        return None
    bins = lines.length - 1
    cdef const double* p = numbers_of(x, values, &size)
    found = None if p is NULL else small_array(D_IL, 1, &bins)
    if found is None:
        return None
    memset(found.v.chunk.data, 0, bins * sizeof(npy_intp))
    if not count_between[double, double](<const char*>p, size, <const char*>limits, bins, <npy_intp*>found.v.chunk.data):
        return None
    return written(found), borders


cdef object quick_histogram(PyObject** args, Py_ssize_t n):
    """``histogram(a, bins, range)`` of so many bins of one width, by the formulas of numpy/lib/_histograms_impl.py."""
    cdef double values[_STATISTIC]
    cdef double low, high, step
    cdef npy_intp i, size = 0, bins = 10, edges_count
    cdef const double* p
    cdef double* edges
    cdef npy_intp* counts
    cdef Tensor x = numbers_in(<object>args[0]) if 1 <= n <= 3 else None, found, borders
    if x is None or x.v.dtype == D_BOOL:
        return None
    if n == 2 and type(<object>args[1]) is not int:
        return histogram_between(x, <object>args[1])
    if n > 1 and (type(<object>args[1]) is not int or not index_of(<object>args[1], &bins)) or not 0 < bins <= _SORTED:
        return None
    p = numbers_of(x, values, &size)
    if p is NULL:
        return None
    low = high = p[0]
    for i in range(size):
        if not isfinite(p[i]) or p[i] == 0 and signbit(p[i]):
            return None
        low, high = min(low, p[i]), max(high, p[i])
    if n == 3 and <object>args[2] is not None:
        limits = <object>args[2]
        if type(limits) is not tuple or len(<tuple>limits) != 2 or not plain_number((<tuple>limits)[0], &low) \
                or not plain_number((<tuple>limits)[1], &high) or not low <= high:
            return None
    if low == high:
        low, high = low - 0.5, high + 0.5
    edges_count = bins + 1
    step = (high - low) / <double>bins
    if not isfinite(step) or step < 1e-290:
        take_flags(False)
        return None
    found, borders = small_array(D_IL, 1, &bins), small_array(D_F8, 1, &edges_count)
    if found is None or borders is None:
        return None
    edges, counts = <double*>borders.v.chunk.data, <npy_intp*>found.v.chunk.data
    for i in range(bins):
        edges[i] = <double>i * step + low
        counts[i] = 0
    edges[bins] = high
    for i in range(bins):
        if edges[i] >= edges[i + 1]:  # NumPy refuses so many
            return None
    if not count_bins[double, double](<const char*>p, size, <const char*>edges, bins, counts):
        return None
    return None if flagged() else (written(found), written(borders))
