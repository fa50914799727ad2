# Ufunc: elementwise ops that run a NumPy ufunc's loops.


def _note_masked(name, operands, where, result, keeps):
    """Notes a call of a ufunc by NumPy, for autograd."""
    _taught["of_masked"](name, operands, where, result, keeps)


cdef inline bint numpys_steps(Ufunc self, Resolved* r, Layout* space, const View* a, const View* b,
                              Tensor out) noexcept:
    """Whether an op's bits depend on steps that only NumPy knows: then the call is its own.

    An older one's steps matter to many; today's to functions of float16, whose loops over what lies in a row
    round one of 3000 halves in another way (cbrt, exp, log10, ...).
    """
    return (_walks_in_buffers or b is NULL and info(r.inputs[0]).code == c"e" and not self.exact) \
        and not r.kernel.any_order and r.kernel.nout == 1 and not in_runs(space, a, b, out)


cdef dict _ufuncs = {}  # the table's rows by the ufunc that they run


def row_of(ufunc):
    """The row of a ufunc's calls; None: it has none."""
    return _ufuncs.get(ufunc)


cdef enum:
    _FEW_BYTES = 8192  # on the stack


cdef tuple common_shape(list shapes):
    """To which these broadcast: most often they are alike. ValueError if they don't."""
    if shapes and shapes.count(shapes[0]) == len(shapes):
        return shapes[0]
    return np.broadcast_shapes(*shapes)


cdef tuple _OUT = ("out",), _OUT_WHERE = ("out", "where")


cdef class Ufunc(UfuncMethods):
    """An elementwise op that runs the compiled loops of a NumPy ufunc.

    ``name``, ``ufunc``: NumPy's; ``nin``, ``nout``: how many operands and results there are;
    ``section``: of the list of functions. ``formula``: what generated code computes; ``exact``: it
    is one IEEE or integer operation, so it gives an element the same bits wherever that lies;
    ``line``: the sign of its loop in cpu/lines.h; ``compares``: it takes Python integers that no
    dtype holds; ``exponents``: ``b`` of integers must not be negative, and numbers' values choose
    what is done; ``weights``: ``b`` are sums of weights, which must not be zero; ``bad_strided``:
    NumPy's loops write a strided output wrongly; ``mended``: they are wrong or slow elsewhere (mended.h);
    ``quotients``: NumPy's ufunc that gives the whole quotients of which these are the remainders;
    ``rows_alone``: the kinds of dtypes whose loops have vector instructions only where both operands lie in a row;
    ``no_minus_zero``: none of its real results is -0.0;
    ``x87``: they raise flags in the x87 unit, too. ``smooth``, ``example``, ``vectors``,
    ``vector_of``: see ``op()``.
    """

    @property
    def __doc__(self):
        # In each class: a class's own docstring would hide an inherited one.
        return documented(self.doc, self)

    def __init__(self, object ufunc, *, str name=None, str section="", str doc="", double cost=0.5,
                 double vector=0, formula=None, bint exact=False, str line="", bint compares=False,
                 bint exponents=False, bint bad_strided=False, int mended=0, bint x87=False,
                 tuple smooth=(), str example="", bint vectors=False, str vector_of="fd", bint reduces=False,
                 bint weights=False, object quotients=None, bint no_minus_zero=False, str rows_alone=""):
        self.ufunc = ufunc
        self.name = name or ufunc.__name__
        self.section = section
        self.doc = doc
        self.nin = ufunc.nin
        self.nout = ufunc.nout
        self.cost = cost
        self.vector = vector or cost
        self.called = <void*><vectorcallfunc>call_row
        self.formula = formula
        if formula is not None:
            formulas.FORMULAS[self.name] = formula
        self.exact = exact
        self.line = line
        self.compares = compares
        self.exponents = exponents
        self.weights = weights
        self.bad_strided = bad_strided
        self.mended = mended
        self.quotients = quotients
        self.no_minus_zero = no_minus_zero
        self.rows_alone = rows_alone
        self.x87 = x87
        self.smooth = smooth
        self.example = example
        self.vectors = vectors
        self.vector_of = vector_of
        self.reduces = reduces
        self.loops = {}
        if self.nin > 2 or self.nout > 2:
            raise ValueError(f"{self.name}: rows take at most two inputs and two outputs")
        _ufuncs.setdefault(ufunc, self)  # copies of other names come later
        self.table = <Resolved**>calloc(kOperandKinds * (kOperandKinds if self.nin == 2 else 1),
                                        sizeof(void*))

    def named(self, str name, mended=None, bint reduces=False, bint weights=False):
        """The same loops under another name, which has gradient rules of its own.

        Args:
            name: the name.
            mended: how its loops are mended; None: as these.
            reduces: whether they are steps of a reduction: their flags are told of as its.
            weights: whether ``b`` are sums of weights, which must not be zero.
        Returns: a new :class:`ufunc`.
        Raises: nothing.
        """
        return Ufunc(self.ufunc, name=name, reduces=reduces, cost=self.cost, vector=self.vector,
                     formula=None if weights else self.formula,
                     exact=self.exact, line=self.line, compares=self.compares,
                     exponents=self.exponents, bad_strided=self.bad_strided,
                     mended=self.mended if mended is None else mended,
                     quotients=self.quotients, x87=self.x87, smooth=self.smooth, example=self.example, vectors=self.vectors,
                     vector_of=self.vector_of, weights=weights, no_minus_zero=self.no_minus_zero,
                     rows_alone=self.rows_alone)

    cdef Resolved* resolve(self, int ka, int kb) except NULL:
        cdef Resolved* r = self.table[ka * (kOperandKinds if self.nin == 2 else 1)
                                      + (kb if self.nin == 2 else 0)]
        if r is not NULL:
            return r
        kinds = [ka, kb][:self.nin]
        if all(k >= kDtypes for k in kinds):
            # Python scalars alone take their default dtypes.
            given = [np_dtype({<int>kWeakInt: D_IL, <int>kWeakFloat: D_F8}.get(k, D_C16))
                     for k in kinds]
        else:
            given = [np_dtype(k) if k < kDtypes else weak_type(k) for k in kinds]
        dtypes = self.ufunc.resolve_dtypes(tuple(given) + (None,) * self.nout)
        r = <Resolved*>calloc(1, sizeof(Resolved))
        r.kernel = self.kernel_for(dtypes)
        for i in range(self.nin):
            r.inputs[i] = dtype_code(dtypes[i])
        for i in range(self.nout):
            r.outputs[i] = dtype_code(dtypes[self.nin + i])
        self.table[ka * (kOperandKinds if self.nin == 2 else 1)
                   + (kb if self.nin == 2 else 0)] = r
        return r

    cdef Kernel* kernel_for(self, tuple dtypes) except NULL:
        cdef Kernel* k = loop_kernel(self.name, ELEMENTWISE, self.nin, self.nout, self.ufunc, dtypes)
        k.checks_flags = True
        if all(d.kind == "b" for d in dtypes) or self.exact and all(d.kind in "biu" for d in dtypes):
            k.checks_flags = False
        if self.x87:
            k.long_double = True
        if self.reduces:
            k.told_of = "reduce"
        k.any_order = self.exact and all(d.char in "?bBhHiIlLqQfd" for d in dtypes)
        k.slow_still = all(d == dtypes[0] and d.kind in self.rows_alone for d in dtypes)
        k.no_minus_zero = self.no_minus_zero and dtypes[-1].kind == "f"
        if self.line and all(d == dtypes[0] for d in dtypes):
            k.lines = line_loops(ord(self.line), dtype_code(dtypes[0]))
        if self.nout == 1 and not self.weights:  # a compiled loop would check nothing
            k.code = code_of(self.name, "".join([d.char for d in dtypes]))
        k.minds_still = self.exponents and dtypes[1].kind in "fc"
        if self.exponents and dtypes[1].kind == "i":
            k.check = negative_exponent
        elif self.weights:
            k.check = weights_of_zero
        k.cost = self.vector if dtypes[0].char in self.vector_of else self.cost
        if dtypes[0].char in "eFDgG":
            k.cost *= 4
        elif k.cost < 2:  # vector instructions: by the bytes
            k.cost *= max([d.itemsize for d in dtypes]) / 8
        mend(k, self.mended, ord(dtypes[0].kind), ord(dtypes[0].char), dtypes[0].itemsize)
        if self.quotients is not None and dtypes[0].kind in "iu":
            mend_remainder(k, loop_kernel(self.quotients.__name__, ELEMENTWISE, 2, 1, self.quotients, dtypes),
                           ord(dtypes[0].kind), dtypes[0].itemsize)
        return k

    cdef object unary(self, object a, Tensor out):
        cdef int ka
        cdef Tensor t, lone
        if is_tensor(a):
            t = <Tensor>a
        else:
            ka = kind_of(a)
            if ka >= 0 and out is None and self.nout == 1:
                lone = lone_op(self.resolve(ka, 0).kernel, a, None, None)
                if lone is not None:
                    return lone
            elif ka < 0 and out is None and is_foreign(a):
                return call_of_ufunc(self.ufunc, (a,))
            t = as_tensor(a)
        cdef Resolved* r = self.resolve(t.v.dtype, 0)
        if t.v.layout.ndim == 0 and self.nout == 1 and (out is None or out.v.layout.ndim == 0):
            lone = lone_op(r.kernel, t, None, out)
            if lone is not None:
                return lone
        if out is not None:
            check_out_dtype(self.ufunc, out, r.outputs[0])
        cdef Tensor given = t
        if r.inputs[0] != t.v.dtype:
            t = cast(t, r.inputs[0])
        cdef const View* views[3]
        cdef Layout space
        cdef Tensor first, second
        views[0] = &given.v  # the output is laid out like what was given, not like its cast
        if out is not None:
            same_device(t, out)
            check_out_shape(out, &t.v.layout, views, 1)
            if self.bad_strided and (not contiguous(out) or out.v.dtype != r.outputs[0]):
                assign(out, self.unary(t, None))
                return out
            if is_window(out) and not recording() or (not r.kernel.any_order and written_under(t, out)):  # see binary()
                return self.python((a,), out, {})
            if numpys_steps(self, r, &out.v.layout, &given.v, NULL, out):
                return self.python((a,), out, {})
            if out.v.dtype != r.outputs[0]:
                assign(out, self.unary(t, None))
                return out
            t = apart(t, out)
            first = out
        elif numpys_steps(self, r, &given.v.layout, &given.v, NULL, None):
            return self.python((a,), None, {})
        else:
            first = output_like(&t.v.layout, r.outputs[0], 1, views, t.v.device())
        views[1] = &first.v
        if self.nout == 2:
            second = output_like(&first.v.layout, r.outputs[1], 1, views, t.v.device())
            views[2] = &second.v
        views[0] = &t.v
        emit_elementwise(recorder().begin(r.kernel, 1, self.nout), &first.v.layout, views,
                         out is None or covers_chunk(&first.v))
        if out is None and first.v.layout.ndim == 0:
            as_scalar(first)
            if self.nout == 2:
                as_scalar(second)
        return first if self.nout == 1 else (first, second)

    cdef object binary(self, object a, object b, Tensor out):
        cdef Tensor ta = None, tb = None
        cdef int ka, kb
        cdef Number na = None, nb = None
        if is_tensor(a) and (<Tensor>a).v.drawn:
            a = plain(a)
        if is_tensor(b) and (<Tensor>b).v.drawn:
            b = plain(b)
        if is_tensor(a):
            ta = <Tensor>a
            ka = kind_of_tensor(ta)
        else:
            ka = kind_of(a)
            if ka < 0 and type(a) is Number:
                a, na = self.weak(a)
                ka = kind_of(a)
            if ka < 0:
                if out is None and is_foreign(a):
                    return call_of_ufunc(self.ufunc, (a, b))
                ta = as_tensor_on(a, (<Tensor>b).v.device() if isinstance(b, Tensor)
                                  else current_device())
                ka = ta.v.dtype
        if is_tensor(b):
            tb = <Tensor>b
            kb = kind_of_tensor(tb)
        else:
            kb = kind_of(b)
            if kb < 0 and type(b) is Number:
                b, nb = self.weak(b)
                kb = kind_of(b)
            if kb < 0:
                if out is None and is_foreign(b):
                    return call_of_ufunc(self.ufunc, (a, b))
                tb = as_tensor_on(b, ta.v.device() if ta is not None else current_device())
                kb = tb.v.dtype
        cdef Resolved* r = self.resolve(ka, kb)
        if na is not None:
            ta = number_tensor(na, r.inputs[0], tb.v.device() if tb is not None else current_device())
            ka = r.inputs[0]
        if nb is not None:
            tb = number_tensor(nb, r.inputs[1], ta.v.device() if ta is not None else current_device())
            kb = r.inputs[1]
        cdef Tensor lone
        if (ta is None or ta.v.layout.ndim == 0) and (tb is None or tb.v.layout.ndim == 0) \
                and self.nout == 1 and (out is None or out.v.layout.ndim == 0):
            lone = lone_op(r.kernel, a if ta is None else ta, b if tb is None else tb, out)
            if lone is not None:
                return lone
        if out is not None:
            check_out_dtype(self.ufunc, out, r.outputs[0])
        if ta is None and tb is None:
            if type(a) is int and type(b) is not int:  # which need not fit b's dtype
                tb = scalar_tensor(b, r.inputs[1])
            else:
                ta = scalar_tensor(a, r.inputs[0])
        cdef Tensor given_a = ta, given_b = tb
        if ta is not None and ka != r.inputs[0]:
            ta = cast(ta, r.inputs[0])
        if tb is not None and kb != r.inputs[1]:
            tb = cast(tb, r.inputs[1])
        if ta is not None and tb is not None:
            same_device(ta, tb)
        cdef const View* views[4]
        cdef Layout space
        cdef Layout* shape
        cdef Tensor first, second
        # The output is laid out like what was given, not like its casts.
        views[0] = view_or_null(given_a)
        views[1] = view_or_null(given_b)
        if views[1] is NULL or (views[0] is not NULL and
                                ta.v.layout.same_shape((<View*>views[1]).layout)):
            shape = &ta.v.layout
        elif views[0] is NULL:
            shape = &tb.v.layout
        else:
            broadcast(views, 2, &space, out)
            shape = &space
        if out is not None:
            same_device(ta if ta is not None else tb, out)
            check_out_shape(out, shape, views, 2)
            if is_window(out) and not recording() or (not r.kernel.any_order and (written_under(ta, out) or written_under(tb, out))):
                # NumPy computes into a copy of the output, laid out by rules of its iterator's.
                return self.python((a if na is None else na, b if nb is None else nb), out, {})
            if numpys_steps(self, r, &out.v.layout, views[0], views[1], out):
                return self.python((a if na is None else na, b if nb is None else nb), out, {})
            if out.v.dtype != r.outputs[0]:
                assign(out, self.binary(a if na is None else na, b if nb is None else nb, None))
                return out
            if ta is not None:
                ta = apart(ta, out)
            if tb is not None:
                tb = apart(tb, out)
            first = out
        elif numpys_steps(self, r, shape, views[0], views[1], None):
            return self.python((a if na is None else na, b if nb is None else nb), None, {})
        else:
            first = output_like(shape, r.outputs[0], 2, views,
                                ta.v.device() if ta is not None else tb.v.device())
        views[2] = &first.v
        if self.nout == 2:
            second = output_like(shape, r.outputs[1], 2, views, first.v.device())
            views[3] = &second.v
        views[0] = view_or_null(ta)
        views[1] = view_or_null(tb)
        cdef Instr* instr = recorder().begin(r.kernel, 2, self.nout)
        try:
            if ta is None:
                put_scalar(instr.constants[0], a, r.inputs[0])
            elif tb is None:
                put_scalar(instr.constants[0], b, r.inputs[1])
        except OverflowError:
            recorder().give_back(instr)
            if not self.compares:
                raise
            # NumPy compares any Python integer with any integer array.
            return self.python((a, b), out, {})
        except BaseException:
            recorder().give_back(instr)
            raise
        emit_elementwise(instr, &first.v.layout, views, out is None or
                         (covers_chunk(&first.v) and first is not ta and first is not tb
                          and not shares(first, ta) and not shares(first, tb)))
        if out is None and first.v.layout.ndim == 0:
            as_scalar(first)
            if self.nout == 2:
                as_scalar(second)
        return first if self.nout == 1 else (first, second)

    cdef tuple weak(self, Number number):
        """The value of a number, which says how weak it is, and the number; None if the op looks at it."""
        if self.exponents:  # NumPy does other things for some exponents
            return number.look(), None
        return number.value, number

    cdef object in_loop_of(self, tuple args, Tensor out, int code):
        """The call in the loop for results of a dtype, where operands are cast safely to it; None elsewhere."""
        cdef int kinds[2]
        cdef int i, kind
        if self.nin > 2:
            return None
        cdef list operands = [plain(a) for a in args]
        kinds[1] = 0
        for i in range(self.nin):
            a = operands[i]
            kinds[i] = (<Tensor>a).v.dtype if is_tensor(a) else kind_of(a)
            if kinds[i] < 0 or kinds[i] == kWeakInt and not fits_in(a, PY_SSIZE_T_MAX):
                return None
        key = (kinds[0] << 16 | kinds[1] << 8) | code
        cdef tuple inputs = self.loops.get(key)
        if inputs is None:
            inputs = self.loops[key] = self.safe_inputs([kinds[i] for i in range(self.nin)], np_dtype(code))
        if not inputs:
            return None
        for i in range(self.nin):
            kind = inputs[i]
            if kind != kinds[i] and kinds[i] < kDtypes:
                if not is_tensor(operands[i]) or not contiguous(<Tensor>operands[i]):
                    return None
                operands[i] = cast(<Tensor>operands[i], kind)
        return self.unary(operands[0], out) if self.nin == 1 else self.binary(operands[0], operands[1], out)

    cdef tuple safe_inputs(self, list kinds, object dtype):
        """The dtypes that a loop for results of ``dtype`` takes, if it is what operands of these choose; else nothing."""
        cdef Resolved* r
        if self.exponents or self.nout != 1:
            return ()
        given = [np_dtype(k) if k < kDtypes else weak_type(k) for k in kinds]
        try:
            dtypes = self.ufunc.resolve_dtypes((*given, None), signature=(None,) * self.nin + (dtype,))
        except TypeError:
            return ()
        codes = tuple([dtype_code(d) for d in dtypes[:self.nin]])
        cast_kinds = [k if k >= kDtypes else c for k, c in zip(kinds, codes)]
        if not all([k >= kDtypes or np.can_cast(np_dtype(k), np_dtype(c)) for k, c in zip(kinds, codes)]):
            return ()
        r = self.resolve(cast_kinds[0], cast_kinds[self.nin - 1] if self.nin == 2 else 0)
        found = tuple([r.inputs[i] for i in range(self.nin)])
        return codes if found == codes and np_dtype(r.outputs[0]) == dtypes[self.nin] else ()

    cdef bint write_few(self, tuple args, Tensor out, dict kwargs) except -1:
        """The call on the memory of few elements at hand, for which NumPy keeps the GIL; whether that was possible."""
        cdef char before[_FEW_BYTES]
        cdef PyObject* given[6]
        cdef npy_intp low = 0, high = 0
        cdef int n = 0
        cdef Tensor t
        cdef char* start
        if not recorder().policy.direct_bytes or not may_run_now() or unwritable(out) or is_scalar(out) \
                or not at_hand(out.v.chunk, True) or out.v.layout.size() > _COPIED_WITH_THE_GIL:
            return False
        out.v.layout.extent(out.v.itemsize(), low, high)
        if high - low > _FEW_BYTES:
            return False
        cdef list operands = [None] * (len(args) + 1 + len(kwargs))
        for o in (*args, out, *kwargs.values()):
            if Py_TYPE(o) == type_of_arrays():
                t = <Tensor>o
                if not t.v.at_hand() or not (t.v.device() == out.v.device()) or t.v.layout.size() > _COPIED_WITH_THE_GIL:
                    return False
                o = numpy_view(&t.v, t is out)
            elif type(o) is not float and type(o) is not int and type(o) is not bool:
                return False
            operands[n] = o
            given[n] = <PyObject*>o
            n += 1
        start = out.v.chunk.data + low
        memcpy(before, start, high - low)
        try:
            PyObject_Vectorcall(self.ufunc, given, len(args), <PyObject*>(_OUT_WHERE if kwargs else _OUT))
        except BaseException as exc:
            memcpy(start, before, high - low)
            if not isinstance(exc, Exception):
                raise
            refused(exc)  # made again, the long way
            return False
        changed(out.v.chunk)
        return True

    cdef Tensor masked_now(self, tuple args, Tensor out, object where):
        """The call where a mask is true, of small arrays in C order of the loop's own dtypes; None for any other.

        As NumPy does, the loop is called for each run of elements.
        """
        cdef long double numbers[2][2]  # 32 bytes each, aligned
        cdef char* starts[3]
        cdef char* data[3]
        cdef int kinds[2]
        cdef npy_intp steps[3]
        cdef npy_intp at = 0, n, count
        cdef int i, k
        cdef bint shaped = False
        cdef Resolved* r
        cdef Tensor mask, t, to
        if type(where) is not type_object(type_of_arrays()) or self.nin > 2 or self.nout != 1:
            return None
        mask = <Tensor>where
        if mask.v.dtype != D_BOOL or not mask.v.layout.ndim or not is_ready(mask):
            return None
        kinds[1] = 0
        for i in range(self.nin):
            o = args[i]
            if Py_TYPE(o) == type_of_arrays():
                t = <Tensor>o
                if not t.v.layout.same_shape(mask.v.layout) or not is_ready(t):
                    return None
                kinds[i], shaped = t.v.dtype, True
            else:
                kinds[i] = kind_of(o)
                if kinds[i] < kDtypes:
                    return None
        if not shaped:
            return None
        r = self.resolve(kinds[0], kinds[1])
        if r.kernel.check is not NULL or out is not None and (
                unwritable(out) or is_scalar(out) or out.v.dtype != r.outputs[0] or not is_ready(out)
                or not out.v.layout.same_shape(mask.v.layout) or not at_hand(out.v.chunk, True)):
            return None
        for i in range(self.nin):
            o = args[i]
            if kinds[i] >= kDtypes:
                if not put_number(<char*>numbers[i], o, r.inputs[i]):
                    return None
                starts[i], steps[i] = <char*>numbers[i], 0
            elif kinds[i] != r.inputs[i]:
                return None
            else:
                t = <Tensor>o
                starts[i], steps[i] = t.v.elements(), t.v.itemsize()
        to = small_array(r.outputs[0], mask.v.layout.ndim, mask.v.layout.shape(), True)
        if to is None:
            return None
        if out is not None:
            memcpy(to.v.chunk.data, out.v.elements(), to.v.chunk.nbytes)
        starts[self.nin], steps[self.nin] = to.v.chunk.data, to.v.itemsize()
        n = mask.v.layout.size()
        take_flags(r.kernel.long_double)
        while at < n:
            if not mask.v.elements()[at]:
                at += 1
                continue
            count = 1
            while at + count < n and mask.v.elements()[at + count]:
                count += 1
            for k in range(self.nin + 1):
                data[k] = starts[k] + at * steps[k]
            r.kernel.fn(data, &count, steps, r.kernel.data)
            at += count
        if flagged(r.kernel.long_double):
            return None  # made again, the long way, which warns
        if out is None:
            return written(to)
        memcpy(out.v.elements(), to.v.chunk.data, to.v.chunk.nbytes)
        changed(out.v.chunk)
        return out

    cdef object python(self, tuple args, object out, dict kwargs):
        """The op as one instruction that calls the ufunc itself: `where=`, odd operands."""
        cdef Tensor t, result
        ufunc = self.ufunc
        if len(kwargs) == 1 and "where" in kwargs:
            found = self.masked_now(args, out, kwargs["where"])
            if found is not None:
                return found
        if out is not None and len(kwargs) == ("where" in kwargs) and self.write_few(args, <Tensor>out, kwargs):
            return out
        if out is not None and "where" in kwargs and len(kwargs) == 1 and not any(
                [is_tensor(a) and a is not out and shares(out, a) for a in args]):
            def masked(to, where, *operands):
                ufunc(*operands, out=to, where=where)

            if direct_write(masked, (out, kwargs["where"], *args)):
                return out
        if out is None and kwargs:
            found = direct_call(ufunc, (*args, *kwargs.values(), None), PY_SSIZE_T_MAX, _DIRECT_LENGTH, 1,
                                (*kwargs, "out"))  # None as given: NumPy tells of a mask without an output
            if found is not None:
                return found
        tensors, slots = [], []
        device = None
        for a in args:
            if isinstance(a, Tensor):
                device = a
        for a in map(plain, args):
            # (An integer alone is of a dtype that holds it.)
            if kind_of(a) >= 0 and (self.nin > 1 or kind_of(a) != kWeakInt or fits_in(a, PY_SSIZE_T_MAX)):
                slots.append(a)
            else:
                t = as_tensor_on(a, (<Tensor>device).v.device() if device is not None
                                 else current_device())
                slots.append(_Slot(len(tensors)))
                tensors.append(t)
        where = kwargs.pop("where", None)
        if where is not None and where is not True:
            t = as_mask(where, (<Tensor>device).v.device() if device is not None
                        else current_device())
            kwargs["where"] = _Slot(len(tensors))
            tensors.append(t)
        shapes = [shape_tuple(&(<Tensor>tensors[s.index]).v) if isinstance(s, _Slot) else () for s in slots]
        if out is not None:
            shapes.append(shape_tuple(&(<Tensor>out).v))
        if "where" in kwargs:
            shapes.append(shape_tuple(&t.v))
        try:
            shape = common_shape([shape_tuple(&(<Tensor>x).v) for x in tensors])
        except ValueError:
            raise not_together(shapes) from None
        kinds = tuple([np_dtype((<Tensor>tensors[s.index]).v.dtype) if isinstance(s, _Slot)
                       else np_dtype(kind_of(s)) if kind_of(s) < kDtypes else weak_type(kind_of(s))
                       for s in slots])
        loop = {"casting": kwargs.get("casting", "same_kind")}
        if "signature" in kwargs:
            loop["signature"] = kwargs["signature"]
        if "dtype" in kwargs:
            loop["signature"] = (None,) * self.nin + (kwargs["dtype"],) * self.nout
        given = None if out is None else np_dtype((<Tensor>out).v.dtype)
        if loop["casting"] == "equiv":  # NumPy 2.4's resolve_dtypes crashes where it refuses a Python number
            one = [s if isinstance(k, type) else np.ones(1, k) for s, k in zip(slots, kinds)]
            with np.errstate(all="ignore"):
                self.ufunc(*one, **loop)  # raises
        result_dtype = self.ufunc.resolve_dtypes(kinds + (given,) * self.nout, **loop)[self.nin]
        cdef const View* views[3]
        cdef Layout space
        cdef int n = 0
        if out is None and tensors:
            for x in tensors:
                views[n] = &(<Tensor>x).v
                n += 1
            broadcast(views, n, &space)
            result = output_like(&space, dtype_code(result_dtype), n, views, (<Tensor>tensors[0]).v.device())
        elif out is None:
            result = make(shape, result_dtype, current_device())
        else:
            result = out
            given_shape = shape_tuple(&result.v)
            fits = len(shape) <= len(given_shape) and all(
                [n == m or n == 1 for n, m in zip(shape, given_shape[len(given_shape) - len(shape):])])
            if not fits:
                raise out_too_small(result, shape, shapes)
            if unwritable(result):
                raise ValueError("output array is read-only")
        # With a mask the output is read too: what is masked out stays.
        keeps = "where" in kwargs and out is not None

        def call(outs, ins):
            named = {k: ins[v.index] if isinstance(v, _Slot) else v for k, v in kwargs.items()}
            ufunc(*[ins[s.index] if isinstance(s, _Slot) else s for s in slots], out=outs[0],
                  **named)

        if out is None and not kwargs:
            call.operands = slots  # for those who trace

        cdef bint noted = recording() and inexact(result.v.dtype) and (
            keeps and wants_gradient(result) or any([wants_gradient(x) for x in tensors]))
        if noted:
            refuse_leaf(result.v.chunk)
            tensors = [cast(x, (<Tensor>x).v.dtype) if shares(result, x) else x for x in tensors]
            with paused():
                py_call(call, self.name, [result], tensors, 1000 + 2.0 * result.v.layout.size(),
                        not keeps)
            operands = [tensors[s.index] if isinstance(s, _Slot) else s for s in slots]
            _note_masked(self.name, operands, tensors[-1] if "where" in kwargs else None, result, keeps)
        else:
            py_call(call, self.name, [result], tensors, 1000 + 2.0 * result.v.layout.size(), not keeps)
        return returned(result) if out is None else result

    cdef object two(self, tuple args, object out):
        """The op where it has two outputs; ``out`` is None, Ellipsis or a tuple of two."""
        cdef Tensor to, result
        cdef const View* views[1]
        if out is None or out is Ellipsis:
            pass
        elif not isinstance(out, tuple):
            raise TypeError("'out' must be a tuple of arrays")
        elif len(out) != 2:
            raise ValueError("The 'out' tuple must have exactly one entry per ufunc output")
        results = (self.unary(args[0], None) if self.nin == 1
                   else self.binary(args[0], args[1], None))
        if out is None:
            return results
        if out is Ellipsis:
            return tuple([writable(r) for r in results])
        own = shape = shape_tuple(&(<Tensor>results[0]).v)
        for place, (o, r) in enumerate(zip(out, results), self.nin):  # every error before the first write
            if o is None:
                continue
            to, result = out_array(o), r
            same_device(result, to)
            check_out_dtype(self.ufunc, to, result.v.dtype, place)
            views[0] = &result.v
            check_out_shape(to, &result.v.layout, views, 1)
            shape = np.broadcast_shapes(shape, shape_tuple(&to.v))
        if shape != own:  # an output that is larger makes the other one so
            for o in out:
                if o is not None and o.shape != shape:
                    raise out_too_small(o, shape, [own, *[x.shape for x in out if x is not None]])
            results = [wide(r, shape) if o is None else r for o, r in zip(out, results)]
        # Of two that share memory NumPy writes the first to a copy, which comes last; the second to one if it
        # shares an operand's, too.
        pairs = list(zip(out, results))
        copied = any([is_tensor(o) and o is not out[1] and out[1] is not None and shares(out[1], o) for o in args])
        for o, r in pairs if copied else reversed(pairs):
            if o is not None:
                assign(o, r)
        return tuple([r if o is None else o for o, r in zip(out, results)])

    def __call__(self, *args, out=None, where=True, dtype=None, casting="same_kind", **rest):
        """Applies the op to array-likes.

        ``out`` receives the result; ``where`` masks elements; ``dtype`` (or ``signature``) chooses
        the loop, ``order`` the result's layout, as in NumPy.
        """
        if self.nin < len(args) <= self.nin + self.nout and out is None:
            out = args[self.nin:] + (None,) * (self.nin + self.nout - len(args))
            args = args[:self.nin]
        if len(args) != self.nin:
            raise TypeError(f"{self.name}() takes from {self.nin} to {self.nin + self.nout} positional arguments "
                            f"but {len(args)} {'was' if len(args) == 1 else 'were'} given")
        for o in args:
            if is_symbol(o):
                rest.update(out=out, where=None, dtype=None, casting=None)
                rest.update(chosen_loop(where, dtype, casting))
                return built(o, self.name, args, rest)
        if where is None:
            where = False  # as NumPy has it: None is not true
        if out is not None:
            asked = [o for o in (out if type(out) is tuple else (out,)) if is_foreign(o)]
            if asked:
                rest.update(chosen_loop(where, dtype, casting), out=out if type(out) is tuple else (out,))
                found = told_by_class(self, "__call__", args, rest)
                return self.ufunc(*args, **rest) if found is NotImplemented else found
            if of_numpys(out):
                return into_numpys(self, out, args, rest | chosen_loop(where, dtype, casting))
        if self.nout == 2:
            if out is not None and out is not Ellipsis and type(out) is not tuple:
                raise TypeError("'out' must be a tuple of arrays")
            if where is True and dtype is None and casting == "same_kind" and not rest:
                return handed(self.two(args, out))
            return handed(self.method("__call__", *args, out=out, **rest | chosen_loop(where, dtype, casting)))
        if out is not None:
            if out is Ellipsis:  # an array, also of shape ()
                return writable(as_tensor(self(*args, **rest | chosen_loop(where, dtype, casting))))
            out = sole_out(out)
        if dtype is not None and where is True and casting == "same_kind" and not rest:
            result = self.in_loop_of(args, out, dtype_code(dtype))
            if result is not None:
                return handed(result)
        if where is not True or dtype is not None or casting != "same_kind" or rest:
            order = rest.pop("order", None)
            if isinstance(order, bytes):
                order = order.decode("ascii", "replace")
            if order is not None and not isinstance(order, str):
                raise TypeError(f"order must be str, not {type(order).__name__}")
            order = "K" if order is None else order.upper()
            if order != "K" and order not in ("C", "F", "A"):
                raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
            if order != "K" and out is None:
                result = self(*args, **rest | chosen_loop(where, dtype, casting))
                if order == "A":  # what counts is how the operands lie, not the result
                    order = "F" if all([lies_in_fortran_order(o) for o in args]) else "C"
                return in_memory_order(result, order) if isinstance(result, Tensor) and not is_scalar(result) else result
            kwargs = loop_choice(self.name, rest)
            if dtype is not None:
                kwargs["dtype"] = np_dtype(dtype_code(dtype))
            if casting != "same_kind":
                kwargs["casting"] = casting
            if where is not True:
                kwargs["where"] = where
            return handed(self.python(args, out, kwargs))
        if self.nin == 1:
            return handed(self.unary(args[0], out))
        return handed(self.binary(args[0], args[1], out))


cdef Tensor wide(Tensor x, tuple shape):
    """A copy in a shape that it broadcasts to."""
    cdef Tensor copy = make(shape, np_dtype(x.v.dtype), x.v.device())
    assign(copy, x)
    return copy


cdef object unknown_argument(str name, dict rest):
    return TypeError(f"{name}() got an unexpected keyword argument {next(iter(rest))!r}")


cdef dict chosen_loop(where, dtype, casting):
    """What of these was given, for NumPy's ufunc, which may get it."""
    given = {} if where is True else {"where": where}
    if dtype is not None:
        given["dtype"] = dtype
    if casting != "same_kind":
        given["casting"] = casting
    return given


cdef dict loop_choice(str name, dict rest):
    """The rarer arguments of a ufunc's call, for NumPy: ``signature``."""
    if not isinstance(rest.pop("subok", True), bool):
        raise TypeError("'subok' must be a boolean")
    signature = rest.pop("sig", None) or rest.pop("signature", None)
    if rest:
        raise unknown_argument(name, rest)
    return {} if signature is None else {"signature": signature}


cdef bint lies_in_fortran_order(object o) except -1:
    return (probe(o) if is_tensor(o) else np.asarray(o)).flags.f_contiguous


cdef Tensor in_memory_order(Tensor x, str order):
    return _taught["array"](x, copy=None, order=order)


class _Slot:
    """The place of a tensor among the inputs of an instruction."""

    def __init__(self, index):
        self.index = index


cdef Tensor scalar_tensor(object value, int dtype):
    """A number as an array; Unheld for an integer of more than 64 bits, which is an object to NumPy."""
    if dtype == D_IL and type(value) is int and not (-(1 << 63) <= value < 1 << 63):
        raise Unheld(f"lazyarray has no integer as large as {value}")
    cdef Tensor t = empty_like_shape(dtype, 0, NULL, current_device())
    fill(t, value)
    return t
