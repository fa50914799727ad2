# MatMul: products of matrices and vectors, and np.dot.


cdef extern from "lazy/cpu/products.h" namespace "lazyarray" nogil:
    Loop product_loop(int)


cdef extern from "lazy/cpu/float_products.h" namespace "lazyarray" nogil:
    cppclass Numpys:
        Loop fn
        void* data
    Loop float_product_loop(int)
    bint is_small_product(npy_intp, npy_intp, npy_intp)


cdef Tensor cast_c(Tensor x, int dtype):
    """``x`` as another dtype in C order, as a gufunc's operands are cast: BLAS sees the order."""
    cdef Tensor t = empty_like_shape(dtype, x.v.layout.ndim, x.v.layout.shape(),
                                     x.v.device())
    assign(t, x)
    return t


cdef int outer_of(Tensor x, Layout* outer) except -1:
    """The axes of a stack of matrices but for the matrices' own."""
    outer.resize(max(x.v.layout.ndim - 2, 0))
    memcpy(outer.shape(), x.v.layout.shape(), outer.ndim * sizeof(npy_intp))
    memcpy(outer.strides(), x.v.layout.strides(), outer.ndim * sizeof(npy_intp))
    return 0


cdef enum:
    _SHORT_VECTOR = 4096  # elements: their product takes some 100 ns, BLAS's threads take no part


cdef tuple _RARER = ("axes", "casting", "order", "dtype", "subok", "signature")
cdef MatMul _products = None  # the only one


cdef class MatMul(Row):
    """``matmul``: NumPy's gufunc loop, which calls BLAS, or our own for what BLAS has not."""

    @property
    def __doc__(self):
        # In each class: a class's own docstring would hide an inherited one.
        return documented(self.doc, self)

    def __init__(self, object ufunc, *, str section="", str doc=""):
        global _products
        self.ufunc = ufunc
        self.name = ufunc.__name__
        self.section = section
        self.doc = doc
        self.kernels = <Kernel**>calloc(kDtypes * kDtypes, sizeof(void*))
        _products = self

    cdef Kernel* kernel_for(self, int a, int b) except NULL:
        cdef Kernel* k = self.kernels[a * kDtypes + b]
        cdef Numpys* numpys
        cdef bint alike
        if k is NULL:
            dtypes = self.ufunc.resolve_dtypes((np_dtype(a), np_dtype(b), None))
            k = loop_kernel(self.name, GUFUNC, 2, 1, self.ufunc, dtypes)
            k.checks_flags = dtypes[2].kind in "fc"
            k.product = k.apart = True
            k.cores = cores_of([(0, 1), (1, 2), (0, 2)])
            # Nanoseconds a multiply-add: BLAS at some 40 to 80 Gflop/s a core, a loop of ours, or a plain one.
            k.cost = {"f": 0.015, "d": 0.03, "F": 0.06, "D": 0.12}.get(dtypes[2].char, 1.0)
            k.blas = dtypes[2].char in "fdFD"
            alike = dtypes[0] == dtypes[1] == dtypes[2]
            if alike and product_loop(k.dtypes[2]) is not NULL:
                k.fn = product_loop(k.dtypes[2])
                k.rows_apart = True
                k.cost = 0.01 if dtypes[2].char == "?" else 0.1
            elif alike and float_product_loop(k.dtypes[2]) is not NULL:
                numpys = new Numpys()  # lives for ever, as the kernel
                numpys.fn, numpys.data = k.fn, k.data
                k.fn, k.data = float_product_loop(k.dtypes[2]), numpys
            self.kernels[a * kDtypes + b] = k
        return k

    cdef Tensor by_loop(self, Tensor x, Tensor y):
        """The product of two vectors at hand, of one length and float dtype, whatever flags that raises."""
        cdef char* data[3]
        cdef npy_intp dims[4]
        cdef npy_intp steps[9]
        cdef Kernel* k = self.kernel_for(x.v.dtype, x.v.dtype)
        cdef Tensor t = new_element(x.v.dtype, cpu0())
        data[0], data[1], data[2] = x.v.elements(), y.v.elements(), t.v.elements()
        dims[0] = dims[1] = dims[3] = 1
        dims[2] = x.v.layout.shape()[0]
        memset(steps, 0, sizeof(steps))
        steps[4], steps[5] = x.v.layout.strides()[0], y.v.layout.strides()[0]
        k.fn(data, dims, steps, k.data)
        return t

    cdef Tensor of_vectors(self, Tensor x, Tensor y):
        """The product of two vectors of float64 or float32 that are at hand, at once; None for any other.

        And where a flag is raised, which an instruction tells of.
        """
        cdef npy_intp n = x.v.layout.shape()[0]
        cdef Tensor t
        if x.v.dtype != y.v.dtype or x.v.dtype != D_F8 and x.v.dtype != D_F4 or n != y.v.layout.shape()[0] \
                or not 0 < n <= _SHORT_VECTOR or not may_run_now() or not x.v.near() or not y.v.near():
            return None
        take_flags(False)
        t = self.by_loop(x, y)
        return None if flagged() else t

    cdef object product(self, Tensor a, Tensor b, Tensor out):
        cdef Layout* la = &a.v.layout
        cdef Tensor found = self.of_vectors(a, b) if out is None and la.ndim == 1 and b.v.layout.ndim == 1 else None
        if found is not None:
            return found
        cdef Layout* lb = &b.v.layout
        if la.ndim == 0 or lb.ndim == 0:
            raise ValueError(
                f"matmul: Input operand {0 if la.ndim == 0 else 1} does not have enough dimensions (has 0, gufunc core "
                "with signature (n?,k),(k,m?)->(n?,m?) requires 1)")
        same_device(a, b)
        cdef Kernel* k = self.kernel_for(a.v.dtype, b.v.dtype)
        cdef Tensor given_a = a, given_b = b
        if a.v.dtype != k.dtypes[0]:
            a = cast_c(a, k.dtypes[0])
            la = &a.v.layout
        if b.v.dtype != k.dtypes[1]:
            b = cast_c(b, k.dtypes[1])
            lb = &b.v.layout
        cdef npy_intp n = 1, m = 1, kk, kb
        cdef npy_intp an = 0, ak, bk, bm = 0
        cdef bint va = la.ndim == 1, vb = lb.ndim == 1
        kk = la.shape()[la.ndim - 1]
        ak = la.strides()[la.ndim - 1]
        if not va:
            n = la.shape()[la.ndim - 2]
            an = la.strides()[la.ndim - 2]
        kb = lb.shape()[0 if vb else lb.ndim - 2]
        bk = lb.strides()[0 if vb else lb.ndim - 2]
        if not vb:
            m = lb.shape()[lb.ndim - 1]
            bm = lb.strides()[lb.ndim - 1]
        if kk != kb:
            raise ValueError(
                "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc "
                f"signature (n?,k),(k,m?)->(n?,m?) (size {kb} is different from {kk})")
        if n == kk == m == 1 and info(k.dtypes[2]).kind == b"c":
            an = ak = bk = bm = 0  # as NumPy's, whose loop then multiplies by itself: BLAS has NaN for infinities
        # Batch axes, broadcast.
        cdef Layout outer_a, outer_b, space, batch
        cdef int i
        outer_of(a, &outer_a)
        outer_of(b, &outer_b)
        cdef View wa, wb
        cdef const View* views[2]
        if la.ndim > 2 or lb.ndim > 2:
            outer_of(given_a, &wa.layout)
            outer_of(given_b, &wb.layout)
            views[0] = &wa
            views[1] = &wb
            try:
                broadcast(views, 2, &space)
            except ValueError:
                texts = []
                for shape_given in (shape_tuple(&a.v), shape_tuple(&b.v)):
                    stack = ",".join(map(str, shape_given[:-2]))
                    texts.append(f"{shape_text(shape_given)}->({stack},newaxis,newaxis)")
                raise ValueError(
                    "operands could not be broadcast together with remapped shapes [original->"
                    f"remapped]: {' '.join(texts)}  and requested shape ({n},{m})") from None
        cdef npy_intp shape[kMaxDims]
        cdef int ndim = space.ndim
        for i in range(ndim):
            shape[i] = space.shape()[i]
        if not va:
            shape[ndim] = n
            ndim += 1
        if not vb:
            shape[ndim] = m
            ndim += 1
        cdef Tensor result = empty_like_shape(k.dtypes[2], ndim, shape, a.v.device())
        if space.ndim > 1:  # matrices in C order; the stack of them lies as what was given does
            batch = space
            set_k_layout(batch, n * m * result.v.itemsize(), 2, views)
            memcpy(result.v.layout.strides(), batch.strides(), space.ndim * sizeof(npy_intp))
        cdef Tensor target = result
        if out is not None:
            target = loops_output(self.ufunc, out, result, 2 - va - vb, [a, b])
        cdef Layout* lo = &target.v.layout
        cdef Instr* instr = recorder().begin(k, 2, 1)
        set_operand(instr, 0, &a.v)
        set_operand(instr, 1, &b.v)
        set_operand(instr, 2, &target.v)
        cdef int axes = space.ndim, lead, j
        instr.set_ndim(axes)
        for i in range(axes):
            instr.shape()[i] = space.shape()[i]
            j = i - (axes - outer_a.ndim)
            instr.strides(0)[i] = 0 if j < 0 or outer_a.shape()[j] == 1 else outer_a.strides()[j]
            j = i - (axes - outer_b.ndim)
            instr.strides(1)[i] = 0 if j < 0 or outer_b.shape()[j] == 1 else outer_b.strides()[j]
            instr.strides(2)[i] = lo.strides()[i]
        instr.core[0] = n
        instr.core[1] = kk
        instr.core[2] = m
        instr.wide = is_wide(recorder().executor.runtime, instr[0], <double>n * kk * m)
        instr.ncore = 3
        instr.ncore_steps = 6
        instr.core_steps[0] = an
        instr.core_steps[1] = ak
        instr.core_steps[2] = bk
        instr.core_steps[3] = bm
        instr.core_steps[4] = 0 if va else lo.strides()[space.ndim]
        instr.core_steps[5] = 0 if vb else lo.strides()[ndim - 1]
        instr.bytes = target.v.layout.size() * target.v.itemsize()
        instr.overwrites = covers_chunk(&target.v)
        cdef double call = 8 if info(k.dtypes[2]).kind == b"f" and is_small_product(n, kk, m) else 30  # or BLAS's
        instr.cost_ns = 70 + <double>space.size() * (call + <double>n * m * kk * k.cost)
        emit(instr)
        if out is None:
            return returned(result)
        if target is not out:
            assign(out, target)
        return out

    def __call__(self, a, b, /, out=None, **rest):
        """The matrix product of ``a`` (..., n, k) and ``b`` (..., k, m)."""
        if derived_made:
            found = told_by_class(self, "__call__", (a, b), rest | {"out": out})
            if found is not NotImplemented:
                return found
            if out is None and (is_derived(a) or is_derived(b)):
                wrapper, plain = wrapper_of((a, b)), type_object(type_of_arrays())
                found = self(*[o.view(plain) if is_derived(o) else o for o in (a, b)], **rest)
                return found if wrapper is None else wrapper._wrapped(found, (self.ufunc, (a, b), 0))
        if rest:
            unknown = {name: value for name, value in rest.items() if name not in _RARER}
            if unknown:
                raise unknown_argument(self.name, unknown)
        elif is_symbol(a) or is_symbol(b):
            return built(a if is_symbol(a) else b, self.name, (a, b), {"out": out})
        if is_foreign(a) or is_foreign(b):
            given = rest if out is None else rest | {"out": out}
            return self.ufunc(a, b, **given) if given else call_of_ufunc(self.ufunc, (a, b))
        try:
            if out is not None and of_numpys(out):
                return into_numpys(self, out, (a, b), rest)
            return _taught["matmul"](a, b, out, **rest) if rest else self.call(a, b, out)
        except Unheld as error:
            given = rest if out is None else rest | {"out": out}
            return handed(_taught["handed_over"](np.matmul, (a, b), given, error))

    cdef object call(self, a, b, out):
        cdef Tensor ta = as_tensor_on(a, (<Tensor>b).v.device() if isinstance(b, Tensor)
                                      else current_device())
        cdef Tensor tb = as_tensor_on(b, ta.v.device())
        if out is Ellipsis:
            return writable(self.product(ta, tb, None))
        return handed(self.product(ta, tb, None if out is None else sole_out(out)))


cdef bint in_one_order(Tensor x) noexcept:
    return x.v.layout.c_contiguous(x.v.itemsize()) or x.v.layout.f_contiguous(x.v.itemsize())


cdef bint blas_takes(Tensor x) noexcept:
    """Whether np.dot gives the operand to BLAS as it is; others it copies, np.matmul does not."""
    cdef Layout* l = &x.v.layout
    cdef npy_intp item = x.v.itemsize()
    cdef bint dense = False
    cdef int i, long_axes = 0
    if contiguous(x):
        return True
    for i in range(l.ndim):
        if l.shape()[i] <= 1:
            continue
        if l.strides()[i] <= 0 or l.strides()[i] % item:
            return False
        long_axes += 1
        dense = dense or l.strides()[i] == item
    return dense or long_axes < 2


cdef bint has_gaps(Tensor x) noexcept:
    """Whether it is a matrix, no row or column, that lies in neither order."""
    return x.v.layout.ndim == 2 and x.v.layout.shape()[0] > 1 and x.v.layout.shape()[1] > 1 and not in_one_order(x)


cdef bint is_nonzero(Tensor x) noexcept:
    """Whether the one element is a real number that is known not to be zero."""
    if not is_ready(x):
        return False
    if x.v.dtype == D_F8:
        return (<double*>x.v.elements())[0] != 0
    return x.v.dtype == D_F4 and (<float*>x.v.elements())[0] != 0


cdef object dot_of_rows(MatMul row, Tensor x, Tensor y):
    """``np.dot`` of a stack of matrices of integers in C order: that of one matrix, whose rows are all of theirs."""
    cdef Tensor rows = view_of(x), found
    cdef int n = x.v.layout.ndim
    cdef npy_intp shape[kMaxDims]
    rows.v.layout.resize(2)
    rows.v.layout.shape()[1] = x.v.layout.shape()[n - 1]
    rows.v.layout.shape()[0] = x.v.layout.size() // x.v.layout.shape()[n - 1]
    rows.v.layout.set_c_order(x.v.itemsize())
    found = dot(row, rows, y)
    if found is None or not contiguous(found):
        return None
    memcpy(shape, x.v.layout.shape(), n * sizeof(npy_intp))
    shape[n - 1] = y.v.layout.shape()[1] if y.v.layout.ndim == 2 else 1
    found = view_of(found)
    found.v.layout.resize(n - 2 + y.v.layout.ndim)
    memcpy(found.v.layout.shape(), shape, found.v.layout.ndim * sizeof(npy_intp))
    found.v.layout.set_c_order(x.v.itemsize())
    return found


def dot(MatMul row not None, a, b, Tensor out=None):
    """``np.dot`` of vectors and matrices that are of one of BLAS's dtypes together, or of integers or bools; else None.

    ``out``, if given, must be of exactly the result's kind.
    """
    cdef Tensor x, y
    cdef int common
    if not isinstance(a, Tensor) or not isinstance(b, Tensor):
        return None
    x, y = a, b
    cdef int n = x.v.layout.ndim, m = y.v.layout.ndim
    if out is None and n > 2 and 1 <= m <= 2 and x.v.dtype == y.v.dtype and info(x.v.dtype).kind in b"iub" and x.v.layout.size() \
            and contiguous(x) and contiguous(y):
        return dot_of_rows(row, x, y)
    if n < 1 or n > 2 or m < 1 or m > 2 or x.v.layout.shape()[n - 1] != y.v.layout.shape()[0]:
        return None
    common = x.v.dtype
    if common != y.v.dtype:
        common = dtype_code(np.promote_types(np_dtype(common), np_dtype(y.v.dtype)))
    cdef char code = info(common).code
    if out is not None and not (out.v.dtype == common and contiguous(out) and not is_scalar(out) and shape_tuple(&out.v)
                                == shape_tuple(&x.v)[:n - 1] + shape_tuple(&y.v)[1:]):
        return None
    if info(common).kind in b"iub" and x.v.dtype == y.v.dtype:  # whose sums have no order
        return row.product(x, y, out)
    if code != b"f" and code != b"d" and code != b"F" and code != b"D":
        return None
    if x.v.layout.size() == 1 and not is_nonzero(x) or y.v.layout.size() == 1 and not is_nonzero(y):
        return None  # BLAS adds nothing, where a product of matrices makes NaN of infinities
    if x.v.dtype != common:
        x = copied(x, common)
    if y.v.dtype != common:
        y = copied(y, common)
    # np.dot copies a matrix that is in neither order (cblas_matrixproduct).
    if not blas_takes(x) or has_gaps(x):
        x = cast_c(x, x.v.dtype)
    if not blas_takes(y) or has_gaps(y):
        y = cast_c(y, y.v.dtype)
    return row.product(x, y, out)
