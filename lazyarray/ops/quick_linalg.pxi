# Native ways of linear algebra: products, norms, and LAPACK's routines through the loops of NumPy's generalised ufuncs,
# for small arrays of float64. None where a flag is raised, as it is by a singular matrix.


cdef object quick_dot(PyObject** args, Py_ssize_t n):
    cdef object out = <object>args[2] if n == 3 else None
    if n != 2 and n != 3 or out is not None and Py_TYPE(out) != type_of_arrays():
        return None
    return dot(_products, <object>args[0], <object>args[1], out)


cdef object quick_vdot(PyObject** args, Py_ssize_t n):
    """The product of two vectors of integers or bools, or of small ones of float64 in C order.

    By the loop itself: NumPy tells of no floating-point flag there, and follows other steps than `dot`.
    """
    cdef Tensor x = first_array(args) if n == 2 else None, y
    if x is None or Py_TYPE(<object>args[1]) != type_of_arrays():
        return None
    y = <Tensor>args[1]
    if x.v.dtype != y.v.dtype or x.v.layout.ndim != 1 or not x.v.layout.same_shape(y.v.layout):
        return None
    if info(x.v.dtype).kind in b"iub":
        return dot(_products, x, y)
    if x.v.dtype != D_F8 or not is_ready(x) or not is_ready(y):
        return None
    return _products.by_loop(x, y)


cdef object quick_inner(PyObject** args, Py_ssize_t n):
    """The product of vectors and matrices."""
    cdef Tensor x, y
    if n != 2 or not is_tensor(<object>args[0]) or not is_tensor(<object>args[1]):
        return None
    x, y = <Tensor>args[0], <Tensor>args[1]
    if not 1 <= x.v.layout.ndim <= 2 or not 1 <= y.v.layout.ndim <= 2:
        return None
    return dot(_products, x, y if y.v.layout.ndim == 1 else transposed(y))


cdef object quick_matvec(PyObject** args, Py_ssize_t n):
    """The product of a matrix and a vector of float64 or float32 in C order."""
    return of_matrix_and_vector(args, n, 0)


cdef object quick_vecmat(PyObject** args, Py_ssize_t n):
    """The product of a vector and a matrix of float64 or float32 in C order."""
    return of_matrix_and_vector(args, n, 1)


cdef object of_matrix_and_vector(PyObject** args, Py_ssize_t n, int matrix):
    """Their product, by the loop of NumPy's ``matmul``, which gives the same bits; ``matrix``: which of both is one."""
    cdef Tensor x = first_array(args) if n == 2 else None, y
    if x is None or Py_TYPE(<object>args[1]) != type_of_arrays():
        return None
    y = <Tensor>args[1]
    if x.v.dtype != y.v.dtype or x.v.dtype != D_F8 and x.v.dtype != D_F4 or x.v.layout.ndim != 2 - matrix \
            or y.v.layout.ndim != 1 + matrix or not contiguous(x) or not contiguous(y) \
            or x.v.layout.shape()[1 - matrix] != y.v.layout.shape()[0]:
        return None
    return _products.product(x, y, None)


cdef object quick_norm(PyObject** args, Py_ssize_t n):
    """The root of the sum of squares, of all elements or along an axis."""
    cdef Tensor x, found
    cdef bint keepdims
    if not 1 <= n <= 4 or not take_flag(args, n, 3, &keepdims):
        return None
    x = numbers_in(<object>args[0])
    if x is None:
        return None
    order = <object>args[1] if n > 1 else None
    axis = <object>args[2] if n > 2 else None
    if order is not None and (type(order) is not int or order != 2 or axis is None and x.v.layout.ndim != 1):
        return None
    if axis is not None:
        return norm_along(x, axis, keepdims)
    if keepdims or not is_ready(x):
        return None
    if x.v.dtype == D_IL:
        x = as_doubles(x)
        if x is None:
            return None
    elif x.v.dtype != D_F8 and x.v.dtype != D_F4:
        return None
    if x.v.layout.ndim != 1:
        x = raveled(x)
    found = dot(_products, x, x)  # NumPy's product of the elements, in their order, with themselves
    if found is None or not is_scalar(found) or not found.v.at_hand():
        return None
    if found.v.dtype == D_F8:
        (<double*>found.v.elements())[0] = sqrt((<double*>found.v.elements())[0])
    else:
        (<float*>found.v.elements())[0] = sqrtf((<float*>found.v.elements())[0])
    return found


cdef object norm_along(Tensor x, object axis, bint keepdims):
    cdef double values[_STATISTIC]
    cdef Lines lines
    cdef npy_intp i, k
    if x.v.dtype != D_F8 or not take_lines(x, axis, values, &lines, False):
        return None
    for i in range(lines.outer * lines.inner):
        for k in range(i * lines.length, (i + 1) * lines.length):
            values[k] *= values[k]
        values[i] = sqrt(sum_of(&values[i * lines.length], lines.length, lines.inner == 1))
    return told_numbers(x, &lines, keepdims, values)


cdef Tensor as_doubles(Tensor whole):
    """A copy, as float64, of a small array of int64 in C order; None without memory."""
    cdef npy_intp i
    cdef Tensor x = small_array(D_F8, whole.v.layout.ndim, whole.v.layout.shape())
    if x is None:
        return None
    for i in range(whole.v.layout.size()):
        (<double*>x.v.chunk.data)[i] = <double>(<int64_t*>(whole.v.elements()))[i]
    return written(x)


cdef enum:
    _DIAGONAL = 4096  # elements, on the stack


cdef object quick_trace(PyObject** args, Py_ssize_t n):
    """The sum of a matrix's diagonal."""
    cdef Tensor x = only(args, n), t
    cdef npy_intp i, step, length
    cdef double total = 0
    cdef int64_t whole = 0
    cdef const char* p
    cdef double values[_DIAGONAL]
    if x is None or x.v.layout.ndim != 2 or x.v.dtype != D_F8 and x.v.dtype != D_IL or not may_run_now() or not x.v.near():
        return None
    length = min(x.v.layout.shape()[0], x.v.layout.shape()[1])
    if not length or length > _DIAGONAL:
        return None
    step = x.v.layout.strides()[0] + x.v.layout.strides()[1]
    p = x.v.elements()
    if x.v.dtype == D_F8:
        for i in range(length):
            values[i] = (<double*>(p + i * step))[0]
        take_flags(False)
        total = sum_of(values, length, True)
        if flagged():
            return None
    else:
        for i in range(length):
            whole = <int64_t>(<uint64_t>whole + (<uint64_t*>(p + i * step))[0])
    t = new_element(x.v.dtype, cpu0())
    if x.v.dtype == D_F8:
        (<double*>t.v.elements())[0] = total
    else:
        (<int64_t*>t.v.elements())[0] = whole
    return t


cdef object quick_cross(PyObject** args, Py_ssize_t n):
    """The cross products of vectors of three, or of rows of them."""
    cdef double values[_STATISTIC]
    cdef double others[_STATISTIC]
    cdef Lines lines
    cdef npy_intp i, k
    cdef double* a
    cdef double* b
    cdef double found[3]
    cdef Tensor x = numbers_in(<object>args[0]) if n == 2 else None, y, out
    y = None if x is None else numbers_in(<object>args[1])
    if y is None or x.v.dtype == D_BOOL or y.v.dtype == D_BOOL or not x.v.layout.same_shape(y.v.layout) \
            or x.v.layout.ndim == 0 or x.v.layout.shape()[x.v.layout.ndim - 1] != 3 \
            or not take_lines(x, -1, values, &lines, True) or not take_lines(y, -1, others, &lines, True):
        return None
    cdef int dtype = D_F8 if x.v.dtype == D_F8 or y.v.dtype == D_F8 else D_IL
    out = small_array(dtype, x.v.layout.ndim, x.v.layout.shape())
    if out is None:
        return None
    for i in range(lines.outer):
        a, b = &values[3 * i], &others[3 * i]
        found[0] = a[1] * b[2] - a[2] * b[1]
        found[1] = a[2] * b[0] - a[0] * b[2]
        found[2] = a[0] * b[1] - a[1] * b[0]
        for k in range(3):
            if dtype == D_F8:
                (<double*>out.v.chunk.data)[3 * i + k] = found[k]
            elif abs(a[k]) > 4e7 or abs(b[k]) > 4e7:  # doubles hold the products of smaller integers
                return None
            else:
                (<int64_t*>out.v.chunk.data)[3 * i + k] = <int64_t>found[k]
    return None if flagged() else written(out)


# ---- LAPACK ---------------------------------------------------------------------------------------


cdef enum:
    _SIDE = 64  # of a matrix: beyond it LAPACK's own time counts, and a worker may take it


cdef struct Routine:  # a loop of numpy.linalg's for float64
    Loop fn
    void* data

cdef dict _routines = {}  # indices of the loops, by name


cdef bint find_routine(str name, int operands, int results, Routine* routine) except -1:
    cdef PyUFuncObject* u
    cdef object ufunc = getattr(_umath_linalg, name, None)
    if ufunc is None:
        return False
    index = _routines.get(name)
    if index is None:
        types = (_float64,) * ufunc.nin + (np_dtype(results),) * ufunc.nout
        index = _routines[name] = find_loop(ufunc, types) if ufunc.nargs == operands else -1
    if index < 0:  # another version of NumPy has another routine of this name
        return False
    u = <PyUFuncObject*>ufunc
    routine.fn = u.functions[<int>index]
    routine.data = u.data[<int>index]
    return True


cdef Tensor small_matrix(object o, bint square):
    """A small matrix of float64, at hand, with whatever steps; None for anything else."""
    cdef Tensor x = numbers_in(o)
    if x is None or x.v.layout.ndim != 2 or not x.v.layout.size() or not may_run_now() or not x.v.near() \
            or x.v.layout.shape()[0] > _SIDE or x.v.layout.shape()[1] > _SIDE \
            or square and x.v.layout.shape()[0] != x.v.layout.shape()[1]:
        return None
    if x.v.dtype == D_IL and contiguous(x):
        return as_doubles(x)
    return x if x.v.dtype == D_F8 else None


cdef bint run_routine(str name, tuple operands, const npy_intp* lengths, int results=D_F8) except -1:
    """One call of a routine; ``lengths`` of its signature's axes. False if it failed."""
    cdef Routine routine
    cdef char* data[4]
    cdef npy_intp dims[4]
    cdef npy_intp steps[16]
    cdef int n = len(operands), i, d, at
    cdef Tensor t
    if not find_routine(name, n, results, &routine):
        return False
    dims[0] = 1
    memcpy(&dims[1], lengths, 3 * sizeof(npy_intp))
    at = n
    for i in range(n):
        t = operands[i]
        data[i] = t.v.elements()
        steps[i] = 0
        for d in range(t.v.layout.ndim):
            steps[at] = t.v.layout.strides()[d]
            at += 1
    take_flags(True)
    routine.fn(data, dims, steps, routine.data)
    return not flagged(True)


cdef object solved(str name, tuple operands, Tensor out, const npy_intp* lengths):
    """The routine's result, for the caller to give; None if it failed."""
    if out is None or not run_routine(name, operands + (out,), lengths):
        return None
    return out if is_scalar(out) else written(out)


cdef object quick_inv(PyObject** args, Py_ssize_t n):
    cdef npy_intp[3] lengths
    cdef Tensor x = small_matrix(<object>args[0], True) if n == 1 else None
    if x is None:
        return None
    lengths[0] = x.v.layout.shape()[0]
    return solved("inv", (x,), small_array(D_F8, 2, x.v.layout.shape()), lengths)


cdef object quick_det(PyObject** args, Py_ssize_t n):
    cdef npy_intp[3] lengths
    cdef Tensor x = small_matrix(<object>args[0], True) if n == 1 else None
    if x is None:
        return None
    lengths[0] = x.v.layout.shape()[0]
    return solved("det", (x,), new_element(D_F8, cpu0()), lengths)


cdef object quick_cholesky(PyObject** args, Py_ssize_t n):
    """``cholesky(a, upper)``, of the lower triangle."""
    cdef npy_intp[3] lengths
    cdef bint upper
    cdef Tensor x = small_matrix(<object>args[0], True) if 1 <= n <= 2 and take_flag(args, n, 1, &upper) and not upper \
        else None
    if x is None:
        return None
    lengths[0] = x.v.layout.shape()[0]
    return solved("cholesky_lo", (x,), small_array(D_F8, 2, x.v.layout.shape()), lengths)


cdef object quick_solve(PyObject** args, Py_ssize_t n):
    """``solve(a, b)`` of a vector or a matrix."""
    cdef npy_intp[3] lengths
    cdef Tensor x = small_matrix(<object>args[0], True) if n == 2 else None, y
    y = None if x is None else numbers_in(<object>args[1])
    if y is None or y.v.layout.ndim not in (1, 2) or y.v.layout.shape()[0] != x.v.layout.shape()[0] \
            or not y.v.layout.size() or not y.v.near():
        return None
    if y.v.dtype == D_IL and contiguous(y):
        y = as_doubles(y)
    if y is None or y.v.dtype != D_F8:
        return None
    lengths[0] = x.v.layout.shape()[0]
    if y.v.layout.ndim == 2:
        lengths[1] = y.v.layout.shape()[1]
        if lengths[1] > _SIDE:
            return None
    return solved("solve1" if y.v.layout.ndim == 1 else "solve", (x, y),
                  small_array(D_F8, y.v.layout.ndim, y.v.layout.shape()), lengths)


cdef object _eigen = type(np.linalg.eigh(np.eye(1)))  # a named tuple


cdef object quick_eigh(PyObject** args, Py_ssize_t n):
    """``eigh(a, UPLO)`` of the lower triangle."""
    cdef npy_intp[3] lengths
    cdef Tensor x = small_matrix(<object>args[0], True) if n == 1 or n == 2 and is_word(args[1], "L") else None, w, v
    if x is None:
        return None
    lengths[0] = x.v.layout.shape()[0]
    w, v = small_array(D_F8, 1, lengths), small_array(D_F8, 2, x.v.layout.shape())
    if w is None or v is None or not run_routine("eigh_lo", (x, w, v), lengths):
        return None
    return _eigen(written(w), written(v))


cdef object quick_eigvalsh(PyObject** args, Py_ssize_t n):
    """``eigvalsh(a, UPLO)`` of the lower triangle."""
    cdef npy_intp[3] lengths
    cdef Tensor x = small_matrix(<object>args[0], True) if n == 1 or n == 2 and is_word(args[1], "L") else None
    if x is None:
        return None
    lengths[0] = x.v.layout.shape()[0]
    return solved("eigvalsh_lo", (x,), small_array(D_F8, 1, lengths), lengths)


cdef object _singular = type(np.linalg.svd(np.eye(1)))
cdef object _of_eig = type(np.linalg.eig(np.eye(1)))


cdef bint take_side_lengths(Tensor x, npy_intp* lengths) noexcept:
    lengths[0], lengths[1] = x.v.layout.shape()[0], x.v.layout.shape()[1]
    lengths[2] = min(lengths[0], lengths[1])
    return True


cdef tuple singular_values(Tensor x, bint full):
    """The three arrays of `svd`, or None."""
    cdef npy_intp[3] lengths
    cdef npy_intp[2] shape
    cdef Tensor u, s, vh
    take_side_lengths(x, lengths)
    shape[0], shape[1] = lengths[0], lengths[0] if full else lengths[2]
    u = small_array(D_F8, 2, shape)
    shape[0], shape[1] = lengths[1] if full else lengths[2], lengths[1]
    vh = small_array(D_F8, 2, shape)
    s = small_array(D_F8, 1, &lengths[2])
    if u is None or s is None or vh is None or not run_routine("svd_f" if full else "svd_s", (x, u, s, vh), lengths):
        return None
    return written(u), written(s), written(vh)


cdef object quick_svd(PyObject** args, Py_ssize_t n):
    """``svd(a, full_matrices, compute_uv, hermitian)``."""
    cdef bint full = True, vectors = True, hermitian
    cdef Tensor x = small_matrix(<object>args[0], False) if 1 <= n <= 4 and (n < 2 or take_flag(args, n, 1, &full)) \
        and (n < 3 or take_flag(args, n, 2, &vectors)) and take_flag(args, n, 3, &hermitian) and not hermitian else None
    if x is None:
        return None
    if not vectors:
        return values_alone(x)
    found = singular_values(x, full)
    return None if found is None else _singular(*found)


cdef object values_alone(Tensor x):
    cdef npy_intp[3] lengths
    take_side_lengths(x, lengths)
    return solved("svd", (x,), small_array(D_F8, 1, &lengths[2]), lengths)


cdef object quick_svdvals(PyObject** args, Py_ssize_t n):
    cdef Tensor x = small_matrix(<object>args[0], False) if n == 1 else None
    return None if x is None else values_alone(x)


cdef object quick_matrix_rank(PyObject** args, Py_ssize_t n):
    """How many singular values are over NumPy's default limit."""
    cdef Tensor x = small_matrix(<object>args[0], False) if n == 1 else None, s, t
    cdef npy_intp i, count = 0
    cdef double* p
    cdef double limit
    s = None if x is None else values_alone(x)
    if s is None:
        return None
    p = <double*>s.v.chunk.data
    limit = p[0] * (max(x.v.layout.shape()[0], x.v.layout.shape()[1]) * 2.0 ** -52)
    if limit < 1e-290:  # below the normal numbers NumPy may warn
        return None
    for i in range(s.v.layout.shape()[0]):
        count += p[i] > limit
    t = new_element(D_IL, cpu0())
    (<int64_t*>t.v.elements())[0] = count
    return t


cdef object quick_pinv(PyObject** args, Py_ssize_t n):
    """``pinv(a)``, from the singular values as NumPy makes it of them."""
    cdef Tensor x = small_matrix(<object>args[0], False) if n == 1 else None, u, s, scaled
    cdef npy_intp i, k, rows, count
    cdef npy_intp[2] shape
    cdef double* p
    cdef double limit, share
    found = None if x is None else singular_values(x, False)
    if found is None:
        return None
    u, s, vh = found
    rows, count = u.v.layout.shape()[0], u.v.layout.shape()[1]
    p = <double*>s.v.chunk.data
    limit = 1e-15 * p[0]
    scaled = small_array(D_F8, 2, u.v.layout.shape())
    if scaled is None:
        return None
    take_flags(False)
    for k in range(count):
        share = 1 / p[k] if p[k] > limit else 0.0
        for i in range(rows):
            (<double*>scaled.v.chunk.data)[i * count + k] = share * (<double*>u.v.chunk.data)[i * count + k]
    if flagged():
        return None
    return transposed(<Tensor>vh) @ transposed(written(scaled))


cdef object quick_eig(PyObject** args, Py_ssize_t n):
    return eigenvalues(args, n, True)


cdef object quick_eigvals(PyObject** args, Py_ssize_t n):
    return eigenvalues(args, n, False)


cdef bint _eig_is_complex = _numpy_facts.EIG_IS_COMPLEX


cdef object eigenvalues(PyObject** args, Py_ssize_t n, bint vectors):
    """Of a matrix that isn't symmetric; as NumPy 2.4 has them, real ones where all of them are."""
    cdef npy_intp[3] lengths
    cdef Tensor x = small_matrix(<object>args[0], True) if n == 1 else None, w, v = None
    cdef npy_intp i, side
    cdef double* p
    if x is None:
        return None
    side = x.v.layout.shape()[0]
    for i in range(side * side):
        if not isfinite((<double*>(x.v.elements() + i // side * x.v.layout.strides()[0]
                                   + i % side * x.v.layout.strides()[1]))[0]):
            return None
    take_side_lengths(x, lengths)
    w = small_array(D_C16, 1, lengths)
    if vectors:
        v = small_array(D_C16, 2, x.v.layout.shape())
    if w is None or vectors and v is None \
            or not run_routine("eig" if vectors else "eigvals", (x, w, v) if vectors else (x, w), lengths, D_C16):
        return None
    p = <double*>w.v.chunk.data
    for i in range(side):
        if _eig_is_complex or p[2 * i + 1] != 0:
            break
    else:
        w = real_parts(w)
        v = real_parts(v) if vectors else None
        if w is None or vectors and v is None:
            return None
    w = written(w)
    return _of_eig(w, written(v)) if vectors else w


cdef Tensor real_parts(Tensor z):
    cdef npy_intp i
    cdef Tensor x = small_array(D_F8, z.v.layout.ndim, z.v.layout.shape())
    if x is not None:
        for i in range(z.v.layout.size()):
            (<double*>x.v.chunk.data)[i] = (<double*>z.v.chunk.data)[2 * i]
    return x
