# argmax, argmin, sort, argsort and running sums along an axis, by NumPy's own loops off the GIL.


cdef extern from "ops/along.h" namespace "lazyarray" nogil:
    ctypedef void (*Running)(const char*, npy_intp, npy_intp, char*, npy_intp, npy_intp, npy_intp, npy_intp) noexcept
    Running running_of(char, int) noexcept
    cdef cppclass Along:
        Running running
        Loop fn
        void* data
        npy_intp size
        bint any_order
        int (*sort)(void*, npy_intp, void*) noexcept
        int (*argsort)(void*, npy_intp*, npy_intp, void*) noexcept
        npy_intp find(char*, npy_intp)
        void put_in_order(char*, npy_intp)
    void extremum_loop(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void sort_loop(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void argsort_loop(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void accumulate_loop(char**, const npy_intp*, const npy_intp*, void*) noexcept
    bint fill_along(Along&, int, int)
    void copy_swapped(int, char*, const char*, npy_intp)


cdef dict _along_kernels = {}
cdef double* _ALONG_COST = [0.5, 0.5, 10.0, 20.0, 15.0, 25.0]


cdef Kernel* along_kernel(str name, int what, int dtype) except? NULL:
    """The kernel of `fill_along`'s `what`, or NULL if NumPy has no such loop for the dtype."""
    cdef Kernel* k
    cdef Along* along
    found = _along_kernels.get((what, dtype))
    if found is None:
        along = new Along()
        if not fill_along(along[0], info(dtype).type_num, what):
            return NULL
        k = new_kernel(name, GUFUNC, 1, 1)
        k.fn = extremum_loop if what < 2 else sort_loop if what < 4 else argsort_loop
        k.data = along
        k.dtypes[0] = dtype
        k.dtypes[1] = dtype if 2 <= what < 4 else D_IL
        k.cost = 0.02 if what < 2 and dtype == D_BOOL else _ALONG_COST[what]
        k.apart = True
        k.stable = what in (3, 5)
        k.sort = along.sort
        k.argsort = along.argsort
        found = _Kernel.__new__(_Kernel)
        (<_Kernel>found).k = k
        _along_kernels[what, dtype] = found
    return (<_Kernel>found).k


cdef npy_intp line_step(Tensor x) noexcept:
    """Bytes from a line of the last axis to the next one's, where they have no gaps and lie evenly; 0: they don't."""
    cdef const Layout* l = &x.v.layout
    cdef npy_intp item = x.v.itemsize(), step = 0, next_step = 0
    cdef bint steps = False  # also by zero: a broadcast axis
    cdef int i
    if contiguous(x):
        return l.shape()[l.ndim - 1] * item
    if not x.v.on_host() or l.shape()[l.ndim - 1] > 1 and l.strides()[l.ndim - 1] != item:
        return 0
    for i in range(l.ndim - 2, -1, -1):
        if l.shape()[i] > 1:
            if steps and l.strides()[i] != next_step:
                return 0
            if not steps:
                steps, step = True, l.strides()[i]
            next_step = l.strides()[i] * l.shape()[i]
    return step if step >= item else 0


cdef int emit_lines(Kernel* k, Tensor x, Tensor out, npy_intp lines, npy_intp n, npy_intp to) except -1:
    """One instruction over lines with a `line_step`; `to` bytes from one line's output to the next's."""
    cdef Instr* instr = recorder().begin(k, 1, 1)
    set_operand(instr, 0, &x.v)
    set_operand(instr, 1, &out.v)
    instr.set_ndim(1)
    instr.shape()[0] = lines
    instr.strides(0)[0] = line_step(x)
    instr.strides(1)[0] = to
    instr.ncore = 1
    instr.core[0] = n
    instr.ncore_steps = 0
    instr.overwrites = out is not x
    instr.bytes = out.v.layout.size() * out.v.itemsize()
    instr.cost_ns = 50 + lines * (20 + n * <double>k.cost)
    emit(instr)
    return 0


def arg_extremum(Tensor x not None, int axis, bint smallest):
    """argmax or argmin along an axis, of an array that has elements; None where NumPy must do it."""
    cdef int n = x.v.layout.ndim, i, m = 0
    cdef npy_intp shape[kMaxDims]
    cdef Kernel* k = along_kernel("argmin" if smallest else "argmax", smallest, x.v.dtype)
    if k is NULL or n == 0 or x.v.layout.size() == 0:
        return None
    for i in range(n):
        if i != axis:
            shape[m] = x.v.layout.shape()[i]
            m += 1
    cdef Tensor lines = x
    if axis != n - 1:
        lines = view_of(x)
        lines.v.layout.resize(n)
        m = 0
        for i in range(n):
            if i != axis:
                lines.v.layout.shape()[m] = x.v.layout.shape()[i]
                lines.v.layout.strides()[m] = x.v.layout.strides()[i]
                m += 1
        lines.v.layout.shape()[m] = x.v.layout.shape()[axis]
        lines.v.layout.strides()[m] = x.v.layout.strides()[axis]
    if not line_step(lines):
        lines = cast_c(lines, lines.v.dtype)
    cdef Tensor out = empty_like_shape(D_IL, n - 1, shape, x.v.device())
    emit_lines(k, lines, out, out.v.layout.size(), x.v.layout.shape()[axis], sizeof(npy_intp))
    return returned(out)


def ordered(Tensor x not None, int axis, bint indices, bint stable):
    """sort or argsort along the last axis, whose lines have no gaps; None where NumPy must do it.

    Or sort along the first axis of one in Fortran order, which is the same.
    """
    cdef int n = x.v.layout.ndim, code
    if n == 0 or x.v.layout.size() == 0:
        return None
    if not indices and axis == 0 and in_fortran_order(x):
        t = ordered(transposed(x), n - 1, False, stable)
        return None if t is None else transposed(t)
    if axis != n - 1 or not line_step(x):
        return None
    cdef str name = "argsort" if indices else "sort"
    cdef Kernel* k = along_kernel("stable_" + name if stable else name, 2 + 2 * indices + stable,
                                  x.v.dtype)
    if k is NULL:
        return None
    code = k.dtypes[1]
    cdef npy_intp length = x.v.layout.shape()[n - 1]
    cdef Tensor out = empty_like_shape(code, n, x.v.layout.shape(), x.v.device())
    emit_lines(k, x, out, x.v.layout.size() // length, length, length * info(code).size)
    return out


def ordered_in_place(Tensor x not None, int axis, bint stable):
    """Sorts the lines along the last axis themselves, which have no gaps (or along the first one, in Fortran order);
    False where NumPy must do it."""
    cdef int n = x.v.layout.ndim
    cdef npy_intp length, step
    cdef Kernel* k
    if n > 1 and axis == 0 and in_fortran_order(x):
        return ordered_in_place(transposed(x), n - 1, stable)
    if not n or axis != n - 1 or not x.v.layout.size() or unwritable(x) or is_window(x):
        return False
    step = line_step(x)
    if not step:
        return False
    k = along_kernel("stable_sort" if stable else "sort", 2 + stable, x.v.dtype)
    if k is NULL:
        return False
    length = x.v.layout.shape()[axis]
    emit_lines(k, x, x, x.v.layout.size() // length, length, step)
    return True


def accumulated(Ufunc row not None, Tensor x not None, int axis, dtype):
    """``ufunc.accumulate`` of a vector, or an array in C or Fortran order, as `dtype` (None: x's); None where NumPy must do it."""
    cdef int n = x.v.layout.ndim, i
    cdef int code = x.v.dtype if dtype is None else dtype_code(dtype)
    cdef npy_intp outer = 1, inner = 1, length
    cdef Kernel* k
    cdef Along* along
    if n == 0 or x.v.layout.size() == 0 or row.nin != 2 or row.nout != 1:
        return None
    if in_fortran_order(x):
        t = accumulated(row, transposed(x), n - 1 - axis, dtype)
        return None if t is None else transposed(t)
    if not contiguous(x) and (n > 1 or not x.v.on_host()):
        return None
    key = (row.name, code)
    found = _along_kernels.get(key)
    if found is None:
        d = np_dtype(code)
        if row.ufunc.resolve_dtypes((d, d, None)) != (d, d, d):
            return None
        k = loop_kernel(row.name, GUFUNC, 1, 1, row.ufunc, (d, d, d))
        along = new Along()
        along.fn = k.fn
        along.data = k.data
        along.size = info(code).size
        along.any_order = d.kind != "c"
        along.running = running_of(ord(row.line), info(code).type_num) if row.line else NULL
        k.fn = accumulate_loop
        k.told_of = "accumulate"
        k.data = along
        k.dtypes[0] = k.dtypes[1] = code
        k.checks_flags = d.kind in "fc"
        k.cost = max(row.cost, <float>1.0)
        k.apart = True
        found = _Kernel.__new__(_Kernel)
        (<_Kernel>found).k = k
        _along_kernels[key] = found
    k = (<_Kernel>found).k
    if x.v.dtype != code:
        x = cast(x, code)
    for i in range(axis):
        outer *= x.v.layout.shape()[i]
    for i in range(axis + 1, n):
        inner *= x.v.layout.shape()[i]
    length = x.v.layout.shape()[axis]
    cdef Tensor out = empty_like_shape(code, n, x.v.layout.shape(), x.v.device())
    cdef npy_intp step = inner * info(code).size
    cdef Instr* instr = recorder().begin(k, 1, 1)
    set_operand(instr, 0, &x.v)
    set_operand(instr, 1, &out.v)
    instr.set_ndim(1)
    instr.shape()[0] = outer
    instr.strides(0)[0] = instr.strides(1)[0] = length * step
    instr.ncore = 2
    instr.core[0] = length
    instr.core[1] = inner
    instr.ncore_steps = 2
    instr.core_steps[0] = x.v.layout.strides()[0] if n == 1 else step
    instr.core_steps[1] = step
    instr.overwrites = 1
    instr.bytes = x.v.layout.size() * info(code).size
    instr.cost_ns = 50 + x.v.layout.size() * <double>k.cost
    emit(instr)
    return out
