# Reduction: ``ufunc.reduce`` in NumPy's own order of operations.


cdef extern from "lazy/cpu/rows.h" namespace "lazyarray" nogil:
    RowsLoop rows_loop(int)

cdef extern from "lazy/cpu/pairwise.h" namespace "lazyarray" nogil:
    Loop pairwise_loop(int)

cdef extern from "lazy/cpu/narrow_sums.h" namespace "lazyarray" nogil:
    Loop narrow_sum(int)
    RowsLoop narrow_rows(int)


cdef dict _reductions = {}  # rows by the ufunc that is reduced


def reduction_of(ufunc):
    """The row of ``ufunc.reduce``; None: it has none."""
    return _reductions.get(ufunc)


cdef enum:
    _FOLDED = 16  # arrays in a list
    _LOOKED_AT = 16384  # bools: what decides is often among the first, and to find it there takes half a microsecond


cdef npy_intp decided_at(const char* bools, char value, npy_intp n) noexcept:
    """How many of the bools there need to be looked at: up to the first such one, if that comes early."""
    cdef const char* found = <const char*>memchr(bools, value, _LOOKED_AT)
    return n if found is NULL else found - bools + 1


def masked_reduce(ufunc, x, axis, dtype, keepdims, where):
    """``ufunc.reduce`` where a mask is true."""
    return ufunc.reduce(x, axis, dtype, None, keepdims, where=where)


def reduce_into(ufunc, x, out, **kwargs):
    """``ufunc.reduce(x, out=out)``, which older NumPys get wrong where ``x`` goes backwards."""
    if _numpy_facts.REDUCES_INTO_OUT or not isinstance(x, np.ndarray) or min(x.strides, default=0) >= 0:
        ufunc.reduce(x, out=out, **kwargs)
    else:
        out[...] = ufunc.reduce(x, **kwargs)


cdef class Reduction(Row):
    """``ufunc.reduce`` over axes, in NumPy's own order of operations.

    ``pairwise``: NumPy's loop adds up floats in pairs; ``decides``: one element of bools may decide;
    ``largest``: the result is the largest element (False: the smallest) but for NaN if ``skips_nan``;
    ``running``: NumPy's function that gives all results on the way.
    """

    @property
    def __doc__(self):
        # In each class: a class's own docstring would hide an inherited one.
        return documented(self.doc, self)

    def __init__(self, object ufunc, *, str name, str section="", str doc="", bint pairwise=False,
                 bint decides=False, largest=None, bint skips_nan=False, str running="",
                 double cost=0.4):
        self.ufunc = ufunc
        self.name = name
        self.section = section
        self.doc = doc
        self.pairwise = pairwise
        self.decides = decides
        self.first = largest is not None  # of the elements it starts with; others with the identity
        formulas.JOINS[name] = formulas.Join(ufunc.__name__, largest, skips_nan, pairwise, running)
        self.cost = cost
        self.kernels = {}
        _reductions[ufunc] = self

    cdef object kernel_for(self, int source, int target):
        """(kernel, dtype of its input), or None where NumPy's reduction can't be replayed."""
        cdef Kernel* k
        cdef Kernel* without  # the same for floats without -0.0: a long run of them may be cut anywhere
        cdef cnp.ndarray one
        key = (source, target)
        if key in self.kernels:
            return self.kernels[key]
        kernel = None
        st, tt = np_dtype(source), np_dtype(target)
        # Casting floats on the way makes NumPy sum buffer by buffer: not the same order.
        if tt.char != "?" and (source == target or st.kind in "biu" and tt.kind in "iu"):
            k = loop_kernel(self.name, REDUCE, 1, 1, self.ufunc, (tt, tt, tt))
            if self.pairwise:
                put_before(k, pairwise_loop(dtype_code(tt)))
            k.checks_flags = tt.kind in "fc"
            k.starts_with_first = self.first
            k.any_order = tt.kind in "iu" or not self.pairwise and tt.char in "fd"
            k.split = self.split_of(tt)
            k.add_rows = rows_loop(dtype_code(tt)) if self.pairwise else NULL
            # NumPy's loops take vectors: the narrower the elements, the more at once.
            k.cost = self.cost * (4 if tt.char in "eFDgG" else tt.itemsize / 8)
            if not self.first:
                one = np.asarray(self.ufunc.reduce(np.zeros(0, tt), dtype=tt))
                memcpy(k.identity, cnp.PyArray_DATA(one), tt.itemsize)
            k.code = code_of(self.name, 2 * tt.char)
            if self.first and tt.kind == "f":
                without = new_kernel(self.name, REDUCE, 1, 1)
                without[0] = k[0]
                without.split = SPLIT_ANY
                k.of_plus_zeros = without
            kernel = _Kernel.__new__(_Kernel)
            (<_Kernel>kernel).k = k
        elif tt.char == "?" and (self.decides or self.first and source == target):
            k = loop_kernel(self.name, REDUCE, 1, 1, self.ufunc, (tt, tt, tt))
            k.starts_with_first = self.first
            if not self.first:
                k.identity[0] = self.ufunc.identity
            k.split = SPLIT_ANY
            k.any_order = True
            k.cost = 0.03
            kernel = _Kernel.__new__(_Kernel)
            (<_Kernel>kernel).k = k
        self.kernels[key] = kernel
        return kernel

    cdef object narrow_kernel(self, int source, int target):
        """A kernel that adds integers or bools to wider integers as they are; None where a cast comes first."""
        cdef Kernel* k
        key = (source, target, "narrow")
        if key in self.kernels:
            return self.kernels[key]
        kernel = None
        st, tt = np_dtype(source), np_dtype(target)
        if self.pairwise and tt.kind in "iu" and tt.itemsize == 8 and narrow_sum(source) != NULL:
            k = loop_kernel(self.name, REDUCE, 1, 1, self.ufunc, (tt, tt, tt))
            k.dtypes[0] = source
            k.join = k.fn
            k.fn = narrow_sum(source)
            k.data = NULL
            k.add_rows = narrow_rows(source)
            k.split = SPLIT_ANY
            k.any_order = True
            k.cost = 0.05 * st.itemsize
            kernel = _Kernel.__new__(_Kernel)
            (<_Kernel>kernel).k = k
        self.kernels[key] = kernel
        return kernel

    cdef Split split_of(self, object dtype):
        """How a long run may be cut so that its bits stay NumPy's."""
        if dtype.kind in "iu":
            return SPLIT_ANY  # exact, whatever the order
        if self.pairwise and dtype.char in "fdg":
            return SPLIT_PAIRWISE
        if self.pairwise and dtype.char in "FDG":
            return SPLIT_PAIRWISE_COMPLEX
        # Half-precision sums keep a float inside the loop, products are taken one after the other, and
        # the sign of a zero maximum depends on the order.
        return SPLIT_NONE

    cdef object reduce(self, Tensor x, object axis, object dtype, Tensor out, bint keepdims):
        cdef int ndim = x.v.layout.ndim, i, n, code
        cdef unsigned long long mask = axis_mask(axis, ndim)
        cdef npy_intp shape[kMaxDims]
        cdef Layout* l = &x.v.layout
        if self.pairwise and dtype is None and out is None:
            found = rows_moment(MOMENT_SUM, x, axis, 0, keepdims)
            if found is not None:
                return found
        n = 0
        for i in range(ndim):
            if not mask >> i & 1:
                shape[n] = l.shape()[i]
                n += 1
            elif keepdims:
                shape[n] = 1
                n += 1
        if self.first:
            for i in range(ndim):
                if mask >> i & 1 and l.shape()[i] == 0:
                    raise ValueError(f"zero-size array to reduction operation "
                                     f"{self.ufunc.__name__} which has no identity")
        # All of an array with gaps is several runs of elements, which NumPy alone can reduce: at once, if that can be.
        cdef npy_intp every = l.size(), step
        cdef bint told = out is None and 1 < ndim < 64 and mask == (<unsigned long long>1 << ndim) - 1 and every \
            and not l.reshape(1, &every, x.v.itemsize(), &step) and not l.f_contiguous(x.v.itemsize())
        if told:
            found = direct_call(self.ufunc.reduce, (x, None, dtype, None, keepdims), PY_SSIZE_T_MAX, _DIRECT_LENGTH, 1)
            if found is not None:
                return found
        code = reduced_dtype(self.ufunc, x.v.dtype, dtype, out)
        cdef Tensor result = empty_like_shape(code, n, shape, x.v.device())
        if l.size() == 0 or not l.c_contiguous(x.v.itemsize()):
            kept_order(x, mask, keepdims, result, None)
        if out is not None:
            if shape_tuple(&out.v) != shape_tuple(&result.v):
                raise ValueError(
                    f"output parameter for reduction operation {self.ufunc.__name__} has the "
                    f"wrong shape: {shape_tuple(&out.v)} instead of {shape_tuple(&result.v)}")
        # Where out's is another dtype than the loop's, NumPy goes by buffers, and keeps parts of sums there.
        # Where its axes don't lie as the operand's, NumPy goes along others, or by another loop.
        cdef bint buffered = out is not None and (
            out.v.dtype != code or not lies_forwards(&out.v.layout) and out.v.chunk.plain())
        cdef bint sorts = out is None or kept_axes(l, mask) < 2
        cdef bint replays = False
        cdef Tensor source = x
        cdef Tensor values = None
        # ... and with an output it goes backwards along no axis that it can turn round.
        kernel = None if l.size() == 0 or buffered or out is not None and goes_backwards(l) else self.kernel_for(x.v.dtype, code)
        if kernel is not None and x.v.dtype != (<_Kernel>kernel).k.dtypes[0]:
            narrow = self.narrow_kernel(x.v.dtype, code)
            if narrow is not None and x.v.on_host():
                replays = self.replay((<_Kernel>narrow).k, (<_Kernel>kernel).k, x, result, mask, sorts)
            if not replays:
                source = cast(x, (<_Kernel>kernel).k.dtypes[0])
        if kernel is not None and not replays:
            replays = self.replay((<_Kernel>kernel).k, (<_Kernel>kernel).k, source, result, mask, sorts)
        if not replays:
            ufunc = self.ufunc
            axes = tuple([i for i in range(ndim) if mask >> i & 1])
            loop_dtype = np_dtype(code)
            if out is None and not told:
                found = direct_call(ufunc.reduce, (x, axes, loop_dtype, None, bool(keepdims)), PY_SSIZE_T_MAX, _DIRECT_LENGTH, 1)
                if found is not None:
                    return found

            # NumPy's order goes by an output's steps, too, where the operand has none; but not by those of its own.
            spread = False
            for i in range(ndim if out is None else 0):
                spread |= not mask >> i & 1 and l.strides()[i] == 0 and l.shape()[i] > 1

            def piece(v, out):
                if spread:
                    out[...] = ufunc.reduce(v, axis=axes, dtype=loop_dtype, keepdims=keepdims)
                else:
                    reduce_into(ufunc, v, out, axis=axes, dtype=loop_dtype, keepdims=keepdims)

            def call(outs, ins):
                piece(ins[0], outs[0])

            cost = 2000 + 1.0 * l.size()
            if out is not None:
                values = numpys_values(call, self.name, out, [x], cost)
                if values is None:
                    return out
            call.axes, call.keepdims = axes, bool(keepdims)  # for those who trace
            if out is None and not spread:
                i = slowest_kept(l, mask)
                if i >= 0:
                    n = i if keepdims else i - len([a for a in axes if a < i])
                    call = Pieces(call, piece, (i, n), True, 2)
            if recording() and wants_gradient(x) and inexact(code):
                with paused():
                    py_call(call, self.name, [result], [source], cost, True)
                _note_reduction(self.name, source, result, axes, None, None)
            else:
                py_call(call, self.name, [result], [x], cost, True)
        if out is None:
            return returned(result)
        deliver_values(out, result, values)
        return out

    cpdef object folded(self, object parts, object axis, object dtype, bint keepdims):
        """``op(op(parts[0], parts[1]), ...)``: what NumPy computes for a list of arrays along its axis 0.

        None where it isn't that. (Joined into one array, each part would be copied, and fuse with nothing.)
        """
        cdef Tensor first = None, t
        if type(axis) is not int or axis != 0 or keepdims or not 2 <= len(parts) <= _FOLDED or recording() or capturing():
            return None
        for part in parts:
            if not is_tensor(part) or not is_ours(part):
                return None
            t = <Tensor>part
            if first is None:
                first = t
            if t.v.dtype != first.v.dtype or not (t.v.device() == first.v.device()) \
                    or not t.v.layout.same_shape(first.v.layout) or not t.v.layout.c_contiguous(t.v.itemsize()):
                return None
        # Of one element each NumPy reduces a row, and 0-d ones are scalars.
        if first.v.layout.size() < 2 or reduced_dtype(self.ufunc, first.v.dtype, dtype, None) != first.v.dtype:
            return None
        if self.steps is None:
            row = row_of(self.ufunc)
            if row is None:
                return None
            self.steps = row.named(row.name, reduces=True)
        result = first
        if not self.first and info(first.v.dtype).kind in b"fc":  # -0.0 becomes 0.0, an infinite imaginary part NaN
            result = self.steps.binary(result, self.ufunc.identity, None)
        for part in parts[1:]:
            result = self.steps.binary(result, part, None)
        return result

    cdef bint replay(self, Kernel* kernel, Kernel* of_sums, Tensor x, Tensor out, unsigned long long mask,
                     bint sorts) except -1:
        """Emits the native reduction if its order of operations is NumPy's; else returns False.

        ``of_sums``: the kernel for results of ``kernel``; ``sorts``: whether NumPy goes by the steps of the input
        alone.
        """
        cdef Layout* l = &x.v.layout
        cdef Axes axes
        if not joined_axes(&axes, x, out, mask, sorts):
            return False
        cdef int instructions = instructions_of(&axes, kernel)
        if instructions == 0:
            return False
        if self.decides and axes.n == 1 and axes.si[0] == 1 and kernel.dtypes[0] == D_BOOL and axes.shape[0] > _LOOKED_AT \
                and may_run_now() and x.v.at_hand():
            axes.shape[0] = decided_at(x.v.chunk.data + l.offset, not kernel.identity[0], axes.shape[0])
        if instructions == 1:
            emit_reduction(kernel, x, out, &axes)
        else:
            emit_rows_first(kernel, of_sums, x, out, &axes)
        return True

    @property
    def _implementation(self):
        return Implementation(self)

    def __call__(self, a, axis=None, dtype=None, out=None, keepdims=False, initial=_no_value, where=True,
                 **rest):
        """Reduces ``a`` over ``axis`` (an int, a tuple, or None for all)."""
        if rest:
            raise unknown_argument(self.name, rest)
        return self.asked(a, axis, dtype, out, keepdims, initial, where)

    cpdef object asked(self, x, axis, dtype, out, keepdims, initial, where):
        """The call; that of the method of a class that a program derives; NumPy's for what lazyarray doesn't hold."""
        keepdims = False if keepdims is _no_value else keepdims
        if initial is None and self.first:
            initial = _no_value  # there is none
        # Here None is no mask. As a mask None is not true.
        where = None if where is True or where is _no_value else where if where is not None else False
        cdef bint derived = is_derived(x)
        cdef bint is_method = derived and hasattr(x, self.name)  # nanmax is none, and part of a function
        cdef bint is_others = is_method and answers(x) and not passes(self) if derived else asks_its_class(x)
        cdef bint is_numpys = not is_others and (is_unheld(x) or is_of_others(x)) and out is None and where is None \
            and not is_tensor(initial) and numpy_may()
        if not derived and not is_others and not is_numpys:
            try:
                return self.call(x, axis, dtype, out, keepdims, initial, where)
            except Unheld as e:
                error = e
        given = {"axis": axis, "dtype": dtype, "out": out, "keepdims": keepdims or None, "where": where}
        given = {key: value for key, value in given.items() if value is not None}
        if initial is not _no_value:
            given["initial"] = initial
        if is_numpys:
            return handed(_taught["of_hosts"](getattr(np, self.name), (x,), given))
        if is_others:
            return of_its_class(self, getattr(np, self.name), (x,), given)
        if derived and not is_method:
            plain = x.view(type_object(type_of_arrays()))
            return x._wrapped(self.call(plain, axis, dtype, out, keepdims, initial, where))
        if derived:
            return getattr(x, self.name)(**given)
        return handed(_taught["handed_over"](getattr(np, self.name), (x,), given, error))

    cdef object call(self, x, axis, dtype, out, keepdims, initial, where):
        if is_symbol(x):
            return built(x, self.name, (x,), {
                "axis": axis, "dtype": dtype, "out": out, "keepdims": keepdims or None,
                "initial": None if initial is _no_value else initial, "where": where})
        if out is not None:
            if of_numpys(out):
                return into_numpys(self, out, (x,), {"axis": axis, "dtype": dtype, "keepdims": keepdims, "initial": initial,
                                                     "where": True if where is None else where})
            out = out_array(out)
        cdef bint starts = initial is not _no_value
        if (type(x) is list or type(x) is tuple) and out is None and not starts and where is None:
            found = self.folded(x, axis, dtype, keepdims)
            if found is not None:
                return found
        if out is None and (starts or where is not None):
            if not starts:
                found = direct_call(functools.partial(masked_reduce, self.ufunc), (x, axis, dtype, bool(keepdims), where),
                                    PY_SSIZE_T_MAX, _DIRECT_LENGTH, 1)
            else:
                found = direct_call(self.ufunc.reduce, (x, axis, dtype, None, bool(keepdims), initial,
                                                        True if where is None else where),
                                    PY_SSIZE_T_MAX, _DIRECT_LENGTH, LIGHT_TIMES if where is None else 1)
            if found is not None:
                return found
        cdef Tensor t = as_tensor(x)
        if not starts and where is None:
            return handed(self.reduce(t, axis, dtype, out, keepdims))
        if where is not None:
            where = as_mask(where, t.v.device())
            np.broadcast_shapes(where.shape, shape_tuple(&t.v))
            if where.ndim > t.v.layout.ndim:
                raise ValueError("input operand has more dimensions than allowed by the axis remapping")
            if initial is None or not starts and self.ufunc.identity is None:
                raise ValueError(
                    f"reduction operation {self.ufunc.__name__!r} does not have an identity, so to "
                    "use a where mask one has to specify 'initial'")
        mask = axis_mask(axis, t.v.layout.ndim)
        axes = tuple([i for i in range(t.v.layout.ndim) if mask >> i & 1])
        if initial is None and not all([shape_tuple(&t.v)[i] for i in axes]):
            raise ValueError(f"zero-size array to reduction operation {self.ufunc.__name__} which has no identity")
        code = reduced_dtype(self.ufunc, t.v.dtype, dtype, out)
        shape = reduced_shape(shape_tuple(&t.v), axes, keepdims)
        if out is not None:
            if out.shape != shape:
                raise ValueError(f"output parameter for reduction operation {self.name} has the "
                                 f"wrong shape: {out.shape} instead of {shape}")
        ins = [t]
        kwargs = {"axis": axes, "dtype": np_dtype(code), "keepdims": bool(keepdims)}
        if starts:
            if isinstance(initial, Tensor):
                ins.append(initial)
            elif initial is None:
                kwargs["initial"] = None
            else:
                kwargs["initial"] = number_of(initial, code)
        if where is not None:
            ins.append(where)
        ufunc = self.ufunc
        masked, from_array = where is not None, isinstance(initial, Tensor)

        def run(outs, arrays):
            if masked:
                kwargs["where"] = arrays[-1]
            if from_array:
                kwargs["initial"] = arrays[1][()]
            reduce_into(ufunc, arrays[0], outs[0], **kwargs)

        cost = 2000 + 1.0 * t.v.layout.size()
        cdef Tensor values = None
        if out is not None:
            values = numpys_values(run, self.name, out, ins, cost)
            if values is None:
                return out
        cdef Tensor made = make(shape, np_dtype(code), t.v.device())
        kept_order(t, mask, keepdims, made, where)
        if recording() and wants_gradient(t) and inexact(code) and not from_array:
            with paused():
                result, = call(self.name, run, ins, [made], cost=cost)
            _note_reduction(self.name, t, result, axes, where, initial if starts else None)
        else:
            result, = call(self.name, run, ins, [made], cost=cost)
        if out is not None:
            deliver_values(out, result, values)
            return out
        return handed(returned(result))


cdef class Choice(Reduction):
    """A reduction that is one of the elements, or a truth value: NumPy's takes no dtype."""

    @property
    def __doc__(self):
        return documented(self.doc, self)

    def __call__(self, a, axis=None, out=None, keepdims=False, initial=_no_value, where=True, *, dtype=None,
                 **rest):
        """Reduces ``a`` over ``axis`` (an int, a tuple, or None for all)."""
        if self.decides and initial is not _no_value:
            rest = {"initial": initial} | rest
        if rest:
            raise unknown_argument(self.name, rest)
        return self.asked(a, axis, dtype, out, keepdims, initial, where)


cdef Tensor numpys_values(object run, str name, Tensor out, list ins, double cost):
    """Has NumPy reduce into ``out`` itself; while autograd records, into the array that is returned."""
    if not recording():
        py_call(run, name, [out], ins, cost, True)
        return None
    values = make(shape_tuple(&out.v), np_dtype(out.v.dtype), out.v.device())
    with paused():
        py_call(run, name, [values], ins, cost, True)
    return values


cdef int deliver_values(Tensor out, Tensor result, Tensor values) except -1:
    """Writes ``result``, whose gradient is recorded, into ``out``, and then NumPy's values, if there are any."""
    assign(out, result)
    if values is not None:
        with paused():
            assign(out, values)
    return 0


cdef object number_of(object value, int code):
    """A number of that dtype, as NumPy makes it of whatever starts a reduction; its error, if it makes none."""
    place = np.empty((), np_dtype(code))
    place[()] = value
    return place[()]


def _note_reduction(name, x, result, axes, where, initial):
    """Notes a reduction that NumPy does, for autograd."""
    _taught["of_reduction"](name, x, result, axes, where, initial)


cdef int kept_order(Tensor x, unsigned long long mask, bint keepdims, Tensor out, Tensor where) except -1:
    """Lays `out` out in the order of x's kept axes, as NumPy does; the order of a sum follows.

    ``where``: a mask of its elements, or None; its axes count, too.
    """
    cdef View kept[2]
    cdef const View* views[2]
    cdef const Layout* l
    cdef int n, i, j, k
    for k in range(1 if where is None else 2):
        l = &x.v.layout if k == 0 else &where.v.layout
        kept[k].dtype = x.v.dtype
        kept[k].layout.resize(out.v.layout.ndim)
        n = 0
        for i in range(x.v.layout.ndim):
            if mask >> i & 1 and not keepdims:
                continue
            j = i - (x.v.layout.ndim - l.ndim)
            kept[k].layout.shape()[n] = 1 if mask >> i & 1 or j < 0 else l.shape()[j]
            kept[k].layout.strides()[n] = 0 if kept[k].layout.shape()[n] == 1 else l.strides()[j]
            n += 1
        views[k] = &kept[k]
    set_k_layout(out.v.layout, out.v.itemsize(), 1 if where is None else 2, views)
    return 0


def reduced_like(Tensor x not None, axes, bint keepdims, dtype):
    """An array, not written yet, laid out as a reduction of ``x`` over ``axes`` is."""
    cdef unsigned long long mask = axis_mask(axes, x.v.layout.ndim)
    cdef Tensor out = make(reduced_shape(shape_tuple(&x.v), axes, keepdims), dtype, x.v.device())
    kept_order(x, mask, keepdims, out, None)
    return out


cdef class _Kernel:
    cdef Kernel* k


cdef unsigned long long axis_mask(object axis, int ndim) except? 0:
    """The axes as bits; AxisError for one out of range, ValueError for one given twice."""
    cdef unsigned long long mask = 0
    cdef int a
    if axis is None:
        return (1ull << ndim) - 1 if ndim < 64 else ~0ull
    if not isinstance(axis, tuple):
        if ndim == 0 and (axis == 0 or axis == -1):
            return 0  # NumPy lets these through
        axis = (axis,)
    for entry in axis:
        if isinstance(entry, bool) or not hasattr(entry, "__index__"):
            raise TypeError(f"an axis is an integer, not {type(entry).__name__}")
        i = entry.__index__()
        if not -ndim <= i < ndim:
            raise np.exceptions.AxisError(i, ndim)
        a = i % ndim
        if mask >> a & 1:
            raise ValueError("duplicate value in 'axis'")
        mask |= 1ull << a
    return mask


def normalize_axes(axis, int ndim):
    """The axes as a sorted tuple of non-negative integers (None: all); other than reductions, it takes a list."""
    if isinstance(axis, list):
        axis = tuple(axis)
    if ndim == 0 and axis is not None and not isinstance(axis, tuple):
        axis = (axis,)  # ufunc.reduce alone is lenient
    cdef unsigned long long mask = axis_mask(axis, ndim)
    return tuple([i for i in range(ndim) if mask >> i & 1])


def reduced_shape(tuple shape, axes, bint keepdims):
    """What a reduction over ``axes`` leaves of ``shape``."""
    if keepdims:
        return tuple([1 if i in axes else d for i, d in enumerate(shape)])
    return tuple([d for i, d in enumerate(shape) if i not in axes])


cdef dict _reduced_dtypes = {}


cdef int reduced_dtype(object ufunc, int source, object dtype, Tensor out) except -1:
    """The dtype of a reduction's loop: it takes part in the choice what ``out`` is, if given."""
    cdef int target = -1 if out is None else out.v.dtype
    if dtype is not None:
        return dtype_code(dtype)
    key = (ufunc, source, target)
    code = _reduced_dtypes.get(key)
    if code is None:
        if out is None:
            found = ufunc.reduce(np.ones(1, np_dtype(source))).dtype
        else:
            found = ufunc.resolve_dtypes((np_dtype(target), np_dtype(source), None),
                                         casting="unsafe", reduction=True)[2]
        code = _reduced_dtypes[key] = dtype_code(found)
    return code
