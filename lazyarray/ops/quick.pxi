# The native ways of the direct tier: what the plainest calls of public functions do, without NumPy.
#
# Each takes a call's arguments and gives its result, or None where they are anything else than expected.


cdef object _result_type = np.result_type._implementation
cdef object _on_bytes = _share.on_bytes


# By the names of functions, and NDArray.* of methods.
cdef dict _WAYS = {
    "array": <size_t>&quick_array, "asarray": <size_t>&quick_asarray, "asanyarray": <size_t>&quick_asarray,
    "copy": <size_t>&quick_copy, "empty": <size_t>&quick_empty, "zeros": <size_t>&quick_zeros,
    "ones": <size_t>&quick_ones, "full": <size_t>&quick_full, "zeros_like": <size_t>&quick_zeros_like,
    "ones_like": <size_t>&quick_ones_like, "empty_like": <size_t>&quick_empty_like,
    "full_like": <size_t>&quick_full_like, "reshape": <size_t>&quick_reshape, "ravel": <size_t>&quick_ravel,
    "transpose": <size_t>&quick_transpose, "squeeze": <size_t>&quick_squeeze, "atleast_1d": <size_t>&quick_atleast_1d,
    "atleast_2d": <size_t>&quick_atleast_2d, "atleast_3d": <size_t>&quick_atleast_3d,
    "NDArray.copy": <size_t>&quick_copy_method, "nonzero": <size_t>&quick_nonzero,
    "flatnonzero": <size_t>&quick_flatnonzero, "repeat": <size_t>&quick_repeat,
    "expand_dims": <size_t>&quick_expand_dims, "arange": <size_t>&quick_arange, "argmax": <size_t>&quick_argmax,
    "NDArray.argmax": <size_t>&quick_argmax_method, "NDArray.argmin": <size_t>&quick_argmin_method,
    "concatenate": <size_t>&quick_concatenate, "concat": <size_t>&quick_concatenate, "argmin": <size_t>&quick_argmin,
    "argsort": <size_t>&quick_argsort, "diagonal": <size_t>&quick_diagonal, "moveaxis": <size_t>&quick_moveaxis,
    "rollaxis": <size_t>&quick_rollaxis, "bincount": <size_t>&quick_bincount,
    "count_nonzero": <size_t>&quick_count_nonzero, "diag": <size_t>&quick_diag,
    "frombuffer": <size_t>&quick_frombuffer, "fromiter": <size_t>&quick_fromiter, "copyto": <size_t>&quick_copyto, "dot": <size_t>&quick_dot,
    "NDArray.dot": <size_t>&quick_dot, "vdot": <size_t>&quick_vdot, "interp": <size_t>&quick_interp,
    "hstack": <size_t>&quick_hstack, "vstack": <size_t>&quick_vstack, "stack": <size_t>&quick_stack,
    "column_stack": <size_t>&quick_column_stack, "inner": <size_t>&quick_inner, "matvec": <size_t>&quick_matvec, "vecmat": <size_t>&quick_vecmat, "norm": <size_t>&quick_norm,
    "append": <size_t>&quick_append, "eye": <size_t>&quick_eye, "identity": <size_t>&quick_eye,
    "where": <size_t>&quick_where, "isfortran": <size_t>&quick_isfortran, "put": <size_t>&quick_put,
    "unravel_index": <size_t>&quick_unravel_index, "NDArray.sort": <size_t>&quick_sort_in_place,
    "result_type": <size_t>&quick_result_type, "searchsorted": <size_t>&quick_searchsorted,
    "NDArray.searchsorted": <size_t>&quick_searchsorted, "take": <size_t>&quick_take, "real": <size_t>&quick_real,
    "imag": <size_t>&quick_imag, "ascontiguousarray": <size_t>&quick_ascontiguousarray,
    "asfortranarray": <size_t>&quick_asfortranarray, "may_share_memory": <size_t>&quick_may_share_memory,
    "shares_memory": <size_t>&quick_shares_memory, "mean": <size_t>&quick_mean, "var": <size_t>&quick_var,
    "std": <size_t>&quick_std, "NDArray.mean": <size_t>&quick_mean_method,
    "NDArray.std": <size_t>&quick_std_method, "average": <size_t>&quick_average, "median": <size_t>&quick_median,
    "percentile": <size_t>&quick_percentile, "quantile": <size_t>&quick_quantile, "trace": <size_t>&quick_trace,
    "cross": <size_t>&quick_cross, "linspace": <size_t>&quick_linspace, "inv": <size_t>&quick_inv,
    "det": <size_t>&quick_det, "solve": <size_t>&quick_solve, "cholesky": <size_t>&quick_cholesky,
    "eigh": <size_t>&quick_eigh, "eigvalsh": <size_t>&quick_eigvalsh, "histogram": <size_t>&quick_histogram,
    "allclose": <size_t>&quick_allclose, "array_equal": <size_t>&quick_array_equal, "unique": <size_t>&quick_unique,
    "tile": <size_t>&quick_tile, "meshgrid": <size_t>&quick_meshgrid, "insert": <size_t>&quick_insert,
    "delete": <size_t>&quick_delete, "gradient": <size_t>&quick_gradient, "trapezoid": <size_t>&quick_trapezoid,
    "round": <size_t>&quick_round, "around": <size_t>&quick_round, "pad": <size_t>&quick_pad, "clip": <size_t>&quick_clip,
    "diff": <size_t>&quick_diff, "cumsum": <size_t>&quick_cumsum, "cumprod": <size_t>&quick_cumprod, "isclose": <size_t>&quick_isclose, "svd": <size_t>&quick_svd,
    "svdvals": <size_t>&quick_svdvals, "matrix_rank": <size_t>&quick_matrix_rank, "pinv": <size_t>&quick_pinv,
    "eig": <size_t>&quick_eig, "eigvals": <size_t>&quick_eigvals,
    "NDArray.byteswap": <size_t>&quick_byteswap, "compress": <size_t>&quick_compress,
    "NDArray.compress": <size_t>&quick_compress_method, "putmask": <size_t>&quick_putmask, "place": <size_t>&quick_place,
    "fill_diagonal": <size_t>&quick_fill_diagonal, "resize": <size_t>&quick_resize,
    "lazyarray.linalg.diagonal": <size_t>&quick_matrix_diagonal}


cdef Quick quick_of(str name):
    return <Quick><void*><size_t>_WAYS.get(name, 0)


cdef Tensor only(PyObject** args, Py_ssize_t n):
    """The only argument, if it is an array (no scalar)."""
    return first_array(args) if n == 1 else None


cdef inline Tensor only_tensor(PyObject** args, Py_ssize_t n):
    """The only argument, if it is an array or a scalar of ours, of no class that a user derived."""
    return <Tensor>args[0] if n == 1 and is_ours(<object>args[0]) else None


cdef inline Tensor first_array(PyObject** args):
    return <Tensor>args[0] if Py_TYPE(<object>args[0]) == type_of_arrays() else None


cdef Tensor written(Tensor t):
    """``t``, whose memory the caller has written."""
    written_once(t.v.chunk)
    recorder().inlined += 1
    return t


cdef Tensor small_array(int code, int ndim, const npy_intp* shape, bint hosted=False):
    """A new small array on the host for the caller to write; None if it isn't small, or there is no memory.

    ``hosted``: it may be as large as what NumPy gets at the call.
    """
    cdef Tensor t = empty_like_shape(code, ndim, shape, cpu0())
    return t if <npy_intp>t.v.chunk.nbytes <= most_bytes(hosted) and t.v.chunk.allocate() else None


cdef bint is_ready(Tensor x, bint hosted=False) noexcept:
    """Whether all elements of a small array lie in a row on cpu(0), to be read here and now."""
    return may_run_now() and contiguous(x) and x.v.near() and x.v.layout.size() * x.v.itemsize() <= most_bytes(hosted)


cdef inline npy_intp most_bytes(bint hosted) noexcept:
    cdef npy_intp small = recorder().policy.direct_bytes
    return max(small, recorder().policy.hosted_bytes) if hosted and small else small


cdef object quick_hstack(PyObject** args, Py_ssize_t n):
    cdef object arrays = <object>args[0] if n == 1 else None
    if not is_sequence(arrays) or not len(arrays) or not is_tensor(arrays[0]):
        return None
    return join(arrays, int((<Tensor>arrays[0]).v.layout.ndim != 1))


cdef object quick_vstack(PyObject** args, Py_ssize_t n):
    cdef object arrays = <object>args[0] if n == 1 else None
    if not is_sequence(arrays) or not len(arrays) or not is_tensor(arrays[0]):
        return None
    return of_arrays(arrays) if (<Tensor>arrays[0]).v.layout.ndim == 1 else join(arrays, 0)


cdef object quick_stack(PyObject** args, Py_ssize_t n):
    cdef object arrays = <object>args[0] if n == 1 or n == 2 else None
    if not is_sequence(arrays) or not len(arrays) or not is_tensor(arrays[0]):
        return None
    cdef int axis = axis_of(<object>args[1], (<Tensor>arrays[0]).v.layout.ndim + 1) if n == 2 else 0
    return of_arrays(arrays, axis) if axis >= 0 else None


cdef object quick_column_stack(PyObject** args, Py_ssize_t n):
    cdef object arrays = <object>args[0] if n == 1 else None
    if not is_sequence(arrays) or not len(arrays) or not is_tensor(arrays[0]):
        return None
    return of_arrays(arrays, 1) if (<Tensor>arrays[0]).v.layout.ndim == 1 else join(arrays, 1)


cdef Tensor doubles(object o):
    """A small vector of float64 in C order, or a list of numbers as such; None for anything else."""
    cdef Tensor t = None
    if Py_TYPE(o) == type_of_arrays():
        t = <Tensor>o
    elif type(o) is list:
        t = of_numbers(o, D_F8)
    return t if t is not None and t.v.dtype == D_F8 and t.v.layout.ndim == 1 and is_ready(t) else None


cdef object quick_result_type(PyObject** args, Py_ssize_t n):
    """The common dtype of arrays, dtypes and Python's numbers."""
    cdef PyObject* given[4]
    cdef Py_ssize_t i
    if n > 4:
        return None
    for i in range(n):
        given[i] = args[i]
        if is_tensor(<object>args[i]):
            typed = promoting(<object>args[i])  # which lives for ever
            given[i] = <PyObject*>typed
    return PyObject_Vectorcall(_result_type, given, n, NULL)


cdef object quick_frombuffer(PyObject** args, Py_ssize_t n):
    """A view of all that bytes hold, as elements of a type."""
    cdef int code
    if n < 1 or n > 2 or type(<object>args[0]) is not bytes or not (current_device() == cpu0()):
        return None
    code = D_F8 if n == 1 else native_code(<object>args[1])
    if code < 0 or PyBytes_GET_SIZE(<object>args[0]) % info(code).size:
        return None
    return _on_bytes(<object>args[0], code, PyBytes_GET_SIZE(<object>args[0]) // info(code).size)


cdef object quick_fromiter(PyObject** args, Py_ssize_t n):
    """``fromiter(iter, dtype, count)``."""
    cdef int code = native_code(<object>args[1]) if 2 <= n <= 3 and current_device() == cpu0() else -1
    if code < 0:
        return None
    return written(from_numpy(np.fromiter(<object>args[0], np_dtype(code), -1 if n == 2 else <object>args[2]), cpu0()))


cdef object quick_concatenate(PyObject** args, Py_ssize_t n):
    if n != 1 and n != 2:
        return None
    cdef object arrays = <object>args[0], axis = <object>args[1] if n == 2 else 0
    found = join(arrays, axis)
    if found is None and is_sequence(arrays) and list in [type(o) for o in arrays]:
        found = join([of_numbers(o, -1) if type(o) is list else o for o in arrays], axis)
    return found


cdef object quick_argmax(PyObject** args, Py_ssize_t n):
    return extremum_of_list(args, n, 0)


cdef object quick_argmin(PyObject** args, Py_ssize_t n):
    return extremum_of_list(args, n, 1)


cdef object quick_argmax_method(PyObject** args, Py_ssize_t n):
    return quick_extremum(args, n, 0)


cdef object quick_argmin_method(PyObject** args, Py_ssize_t n):
    return quick_extremum(args, n, 1)


cdef object extremum_of_list(PyObject** args, Py_ssize_t n, int what):
    """The same, where a list of numbers is an array, too."""
    if n != 1 or type(<object>args[0]) is not list:
        return quick_extremum(args, n, what)
    cdef Tensor t = of_numbers(<object>args[0], -1)
    return None if t is None else extremum(t, what)


cdef object quick_extremum(PyObject** args, Py_ssize_t n, int what):
    """``argmax(a, axis, out, keepdims)``."""
    cdef Tensor t = first_array(args) if 1 <= n <= 4 else None, found
    cdef int axis
    if t is None or n > 2 and <object>args[2] is not None or n > 3 and type(<object>args[3]) is not bool:
        return None
    if n == 1:
        return extremum(t, what)
    axis = axis_of(<object>args[1], t.v.layout.ndim)
    if axis < 0:
        return None
    if t.v.layout.ndim == 1:
        return extremum(t, what) if n < 4 or <object>args[3] is False else None
    found = extrema(t, what) if axis == t.v.layout.ndim - 1 else None
    if found is None:
        found = arg_extremum(t, axis, what)
    if found is not None and n > 3 and <object>args[3] is True:
        found.v.layout = t.v.layout
        found.v.layout.shape()[axis] = 1
        found.v.layout.offset = 0
        found.v.layout.set_c_order(found.v.itemsize())
    return found


cdef Tensor extrema(Tensor x, int what):
    """The same of each line along the last axis; None where it isn't that simple."""
    cdef npy_intp n = x.v.layout.shape()[x.v.layout.ndim - 1], i
    cdef Kernel* k
    cdef Tensor out
    if not x.v.layout.size() or not is_ready(x):
        return None
    k = along_kernel("argmin" if what else "argmax", what, x.v.dtype)
    out = None if k is NULL else small_array(D_IL, x.v.layout.ndim - 1, x.v.layout.shape())
    if out is None:
        return None
    for i in range(out.v.layout.size()):
        (<int64_t*>out.v.chunk.data)[i] = (<Along*>k.data).find(x.v.elements() + i * n * x.v.itemsize(), n)
    return written(out)


cdef object quick_sort_in_place(PyObject** args, Py_ssize_t n):
    """Sorts the lines along an axis of a small array; the array, if it was possible."""
    cdef Tensor x = first_array(args) if n == 1 or n == 2 else None, lines, to
    cdef int axis = -1 if x is None else x.v.layout.ndim - 1
    if axis >= 0 and n == 2:
        axis = axis_of(<object>args[1], x.v.layout.ndim)
    if axis < 0 or unwritable(x) or not x.v.layout.size() or not may_run_now() or not x.v.near() \
            or not at_hand(x.v.chunk, True):
        return None
    to = axis_moved(x, axis, x.v.layout.ndim - 1)
    if contiguous(to) and is_ready(to):
        if not lines_in_order(to):
            return None
    else:
        lines = sorted_lines(to)
        if lines is None:
            return None
        copy_steps(<int>x.v.itemsize(), x.v.elements(), to.v.layout.strides(), lines.v.elements(),
                   lines.v.layout.strides(), lines.v.layout.shape(), lines.v.layout.ndim)
    changed(x.v.chunk)
    return x


cdef bint lines_in_order(Tensor x) except -1:
    """Sorts the lines along the last axis of an array in C order, if NumPy has a loop for that."""
    cdef Kernel* k = along_kernel("sort", 2, x.v.dtype)
    cdef npy_intp length = x.v.layout.shape()[x.v.layout.ndim - 1], i
    if k is NULL:
        return False
    for i in range(x.v.layout.size() // length):
        (<Along*>k.data).put_in_order(x.v.elements() + i * length * x.v.itemsize(), length)
    return True


cdef Tensor sorted_lines(Tensor x):
    """A copy in C order of a small array, sorted along the last axis; None of any other."""
    cdef Tensor lines = ordered_copy(x, False) if x.v.layout.size() * x.v.itemsize() <= _SORTED_BYTES else None
    return lines if lines is not None and lines_in_order(lines) else None


cdef object quick_sort(PyObject** args, Py_ssize_t n):
    return quick_sorted(args, n, False)


cdef object quick_argsort(PyObject** args, Py_ssize_t n):
    return quick_sorted(args, n, True)


cdef object quick_sorted(PyObject** args, Py_ssize_t n, bint indices):
    """Along an axis, by NumPy's own loop without its Python."""
    cdef Tensor t = first_array(args) if n == 1 or n == 2 else None
    cdef int axis = -1 if t is None else t.v.layout.ndim - 1
    if axis >= 0 and n == 2:
        axis = axis_of(<object>args[1], axis + 1)
    if axis < 0:
        return None
    found = ordered(t, axis, indices, False)
    return found if found is not None or indices else sorted_across(t, axis)


cdef enum:
    _SORTED_BYTES = 1 << 16  # which NumPy sorts at the call, too


cdef Tensor sorted_across(Tensor x, int axis):
    """A sorted copy of a small array in C or Fortran order along an axis whose elements don't lie together; else None."""
    cdef Tensor lines, out, to
    cdef int n = x.v.layout.ndim
    cdef bint fortran = in_fortran_order(x)
    if not x.v.layout.size() or not fortran and not contiguous(x):
        return None
    lines = sorted_lines(axis_moved(x, axis, n - 1))
    out = None if lines is None else small_array(x.v.dtype, n, x.v.layout.shape(), True)
    if out is None:
        return None
    if fortran:
        lay_in_fortran_order(out)
    to = axis_moved(out, axis, n - 1)
    copy_steps(<int>x.v.itemsize(), out.v.chunk.data, to.v.layout.strides(), lines.v.elements(), lines.v.layout.strides(),
               lines.v.layout.shape(), n)
    return written(out)


cdef Tensor extremum(Tensor x, int what):
    """The index of the largest (0) or smallest (1) element of all; None where it isn't that simple."""
    cdef Kernel* k
    cdef Tensor t
    cdef npy_intp n = x.v.layout.size()
    if not n or not is_ready(x, True):
        return None
    k = along_kernel("argmin" if what else "argmax", what, x.v.dtype)
    if k is NULL:
        return None
    t = new_element(D_IL, x.v.device())
    (<int64_t*>t.v.elements())[0] = (<Along*>k.data).find(x.v.elements(), n)
    return t


cdef object quick_searchsorted(PyObject** args, Py_ssize_t n):
    """Where one number, or each of a few, belongs in a vector of float64 or int64, however long."""
    cdef Tensor x = first_array(args) if n == 2 or n == 3 else None, keys, places
    cdef npy_intp i
    cdef double at = 0
    cdef int64_t whole = 0
    cdef bint is_whole, right = False
    if n == 3:
        if type(<object>args[2]) is not str or <str>args[2] not in ("left", "right"):
            return None
        right = <str>args[2] == "right"
    if x is None or x.v.layout.ndim != 1 or not may_run_now() or not x.v.near() or x.v.dtype != D_F8 and x.v.dtype != D_IL:
        return None
    is_whole = x.v.dtype == D_IL
    keys = first_array(args + 1)
    if keys is not None and keys.v.layout.ndim:
        if keys.v.dtype != x.v.dtype or not is_ready(keys, True):
            return None
        if keys.v.layout.size() >= _SEARCHED and contiguous(x) and x.v.layout.size() <= _TABLE * keys.v.layout.size():
            places = small_array(D_IL, keys.v.layout.ndim, keys.v.layout.shape(), True)
            if places is None or not searched_as(info(x.v.dtype).type_num, x.v.elements(), x.v.layout.size(), keys.v.elements(),
                                                 keys.v.layout.size(), right, <npy_intp*>places.v.chunk.data):
                return None
            return written(places)
        if keys.v.layout.size() > _FEW_KEYS:
            return None
        places = small_array(D_IL, keys.v.layout.ndim, keys.v.layout.shape())
        for i in range(0 if places is None else keys.v.layout.size()):
            if is_whole:
                whole = (<int64_t*>keys.v.elements())[i]
            else:
                at = (<double*>keys.v.elements())[i]
            if at != at:
                return None
            (<int64_t*>places.v.chunk.data)[i] = place_in(x, at, whole, right)
        return None if places is None else written(places)
    if not (whole_at_hand(<object>args[1], &whole) if is_whole else double_at_hand(<object>args[1], &at)) or at != at:
        return None
    cdef Tensor t = new_element(D_IL, cpu0())
    (<int64_t*>t.v.elements())[0] = place_in(x, at, whole, right)
    return t


cdef enum:
    _FEW_KEYS = 64  # for more, of a table that is much longer, NumPy's loop remembers the last place


cdef npy_intp place_in(Tensor x, double at, int64_t whole, bint right) noexcept:
    """Where ``at``, or in a vector of int64 ``whole``, belongs in a vector."""
    cdef npy_intp low = 0, high = x.v.layout.shape()[0], middle
    cdef bint found, is_whole = x.v.dtype == D_IL
    cdef char* p
    while low < high:
        middle = low + (high - low) // 2
        p = x.v.elements() + middle * x.v.layout.strides()[0]
        if right:
            found = (<int64_t*>p)[0] <= whole if is_whole else (<double*>p)[0] <= at
        else:
            found = (<int64_t*>p)[0] < whole if is_whole else (<double*>p)[0] < at
        if found:
            low = middle + 1
        else:
            high = middle
    return low


cdef object quick_bincount(PyObject** args, Py_ssize_t n):
    """``bincount(x, weights, minlength)``: how often each integer is there, of a small vector of them; or sums of doubles."""
    cdef Tensor x = first_array(args) if 1 <= n <= 3 else None, counts, weights = None
    cdef npy_intp size, length = 0
    cdef int64_t least = 0, most = -1
    cdef int64_t* p
    if x is None or x.v.layout.ndim != 1 or x.v.dtype != D_IL or not is_ready(x) \
            or not (x.v.device() == cpu0()) \
            or n == 3 and (not index_of(<object>args[2], &length) or not 0 <= length <= _DIRECT_LENGTH):
        return None
    if n > 1 and <object>args[1] is not None:
        weights = first_array(args + 1)
        if weights is None or weights.v.dtype != D_F8 or not weights.v.layout.same_shape(x.v.layout) \
                or not weights.v.layout.size() or not is_ready(weights):  # (of nothing NumPy gives integers)
            return None
    size = x.v.layout.size()
    p = <int64_t*>(x.v.elements())
    if size:
        least_and_most(p, size, &least, &most)
    if least < 0 or most > _DIRECT_LENGTH:
        return None
    length = max(most + 1, length)
    counts = small_array(D_IL if weights is None else D_F8, 1, &length)
    if counts is None or not seen_as_wait("bincount()"):
        return None
    memset(counts.v.chunk.data, 0, length * 8)
    if weights is not None:
        weigh_integers(p, size, <double*>weights.v.elements(), length, <double*>counts.v.chunk.data)
        take_flags(False)  # of which NumPy tells nothing
    else:
        count_integers(p, size, 0, length, <npy_intp*>counts.v.chunk.data)
    return written(counts)


cdef enum:
    _VECTOR = 64  # elements: beyond these NumPy's way is as fast


cdef object quick_unravel_index(PyObject** args, Py_ssize_t n):
    """The indices along each axis of one place in an array of a shape."""
    cdef npy_intp at, left = 1
    cdef npy_intp lengths[kMaxDims]
    cdef int axis, ndim
    cdef Tensor t
    if n != 2 or type(<object>args[1]) is not tuple or not may_run_now() or not index_of(<object>args[0], &at) or at < 0:
        return None
    ndim = len(<tuple>args[1])
    if ndim == 0 or ndim > kMaxDims:
        return None
    for axis in range(ndim):
        if not index_of((<tuple>args[1])[axis], &lengths[axis]) or lengths[axis] <= 0 \
                or left > PY_SSIZE_T_MAX // lengths[axis]:
            return None
        left *= lengths[axis]
    if at >= left:
        return None
    found = []
    for axis in range(ndim):
        left //= lengths[axis]
        t = new_element(D_IL, cpu0())
        (<int64_t*>t.v.elements())[0] = at // left
        at %= left
        found.append(t)
    return tuple(found)


def unravel_index(indices, shape, order="C"):
    """``numpy.unravel_index``, in less time for many integers that lie together."""
    cdef npy_intp lengths[kMaxDims]
    cdef uint64_t total = 1
    cdef npy_intp i, n
    cdef int axis, ndim
    cdef cnp.ndarray x
    if type(indices) is not np.ndarray or type(shape) is not tuple or order != "C":
        return np.unravel_index(indices, shape, order)
    x, n, ndim = indices, cnp.PyArray_SIZE(indices), len(<tuple>shape)
    cdef bint fits = 0 < ndim <= kMaxDims and cnp.PyArray_NDIM(x) and cnp.PyArray_TYPE(x) == cnp.NPY_LONG and cnp.PyArray_ISCARRAY_RO(x)
    for axis in range(ndim if fits else 0):
        fits = fits and index_of((<tuple>shape)[axis], &lengths[axis]) and 0 < lengths[axis] <= 1 << 51 \
            and total <= <uint64_t>((1 << 51) // lengths[axis])
        total *= <uint64_t>lengths[axis] if fits else 1
    cdef const uint64_t* p = <const uint64_t*>cnp.PyArray_DATA(x)
    for i in range(n if fits else 0):
        fits &= p[i] < total
    if not fits:
        return np.unravel_index(indices, shape, order)
    cdef list found = [np.empty_like(x) for axis in range(ndim)]
    cdef int64_t* rows = <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>found[0])
    memcpy(rows, p, n * 8)
    for axis in range(ndim - 1, 0, -1):
        split_any(rows, n, lengths[axis], <int64_t*>cnp.PyArray_DATA(<cnp.ndarray>found[axis]))
    return tuple(found)


cdef object quick_diag(PyObject** args, Py_ssize_t nargs):
    """A matrix with a vector on one of its diagonals, or a view of a matrix's."""
    cdef Tensor t, out
    cdef npy_intp i, n, size, k = 0
    cdef npy_intp[2] shape
    if not 1 <= nargs <= 2 or nargs == 2 and (type(<object>args[1]) is not int or not index_of(<object>args[1], &k)):
        return None
    if is_tensor(<object>args[0]) and (<Tensor>args[0]).v.layout.ndim == 2:
        return diagonal_of(<Tensor>args[0], <object>args[1] if nargs == 2 else 0, 0, 1)
    t = numbers_in(<object>args[0])
    if t is None or t.v.layout.ndim != 1 or not t.v.near() or not may_run_now() or not -1024 < k < 1024:
        return None
    size = t.v.itemsize()
    shape[0] = shape[1] = n = t.v.layout.shape()[0] + abs(k)
    if n > 1024:
        return None
    out = small_array(t.v.dtype, 2, shape, True)
    if out is None:
        return None
    memset(out.v.chunk.data, 0, out.v.chunk.nbytes)
    for i in range(t.v.layout.shape()[0]):
        memcpy(out.v.chunk.data + ((i + max(-k, 0)) * n + i + max(k, 0)) * size,
               t.v.elements() + i * t.v.layout.strides()[0], size)
    return written(out)


cdef Tensor of_sequence(object o, object dtype):
    """An array of nested lists with arrays in them that are all small and at hand; else None."""
    cdef Scan scan
    cdef Tensor t = of_numbers(o, -1) if dtype is None and is_sequence(o) else None
    if t is not None or not may_run_now() or not recorder().policy.direct_bytes:
        return t
    begin_scan(&scan)
    parts = numpys_operand(o, &scan, 0)
    if not scan.fits or not (scan.device == cpu0()):
        return None
    try:
        a = np.array(parts, dtype)
    except Exception as exc:
        return refused(exc)
    return written(from_numpy(a, scan.device)) if dtype_of_type_num((<cnp.ndarray>a).descr.type_num) >= 0 else None


cdef object _positional = multiarray.dragon4_positional
cdef object _scientific = multiarray.dragon4_scientific


def format_float_positional(x, *how):
    """NumPy's, without its layer of Python where nothing is asked for."""
    return np.format_float_positional(x, *how) if how else _positional(x)


def format_float_scientific(x, *how):
    """NumPy's, without its layer of Python where nothing is asked for."""
    return np.format_float_scientific(x, *how) if how else _scientific(x)
