# Loops of three operands: where and clip, and stores where a mask is true.


formulas.FORMULAS["where"] = formulas.Formula(bool="b if a else c")
formulas.FORMULAS["clip"] = formulas.formula("clipped(a, b, c)", complex="complex_clipped(a, b, c)")

cdef Kernel* _where_kernels[32]


cdef Kernel* where_kernel(int code) except NULL:
    cdef Kernel* k = _where_kernels[code]
    if k is NULL:
        k = new_kernel("where", ELEMENTWISE, 3, 1)
        k.fn = where_of_size(info(code).size)
        k.dtypes[0] = D_BOOL
        k.dtypes[1] = k.dtypes[2] = k.dtypes[3] = code
        k.any_order = True
        k.cost = 0.4
        k.code = code_of("where", "?" + 3 * chr(info(code).code))
        _where_kernels[code] = k
    return k


def fill_where(Tensor x not None, Tensor mask not None, value):
    """``x[mask] = value`` for a scalar and a mask of x's shape."""
    if unwritable(x):
        raise ValueError("assignment destination is read-only")
    same_device(x, mask)
    mask = apart(mask, x)
    cdef Instr* instr = recorder().begin(where_kernel(x.v.dtype), 3, 1)
    try:
        put_scalar(instr.constants[0], value, x.v.dtype)
    except BaseException:
        recorder().give_back(instr)
        raise
    cdef const View* views[4]
    views[0] = &mask.v
    views[1] = NULL
    views[2] = &x.v
    views[3] = &x.v
    emit_elementwise(instr, &x.v.layout, views, False)


cdef dict _warnings = {}  # by text and code of a dtype


def warn_where(Tensor x not None, Tensor wrong not None, str text):
    """Has ``text`` given as a RuntimeWarning of the caller's line if an element of ``wrong``, bools, is true.

    ``x``, of the same shape, is the result that it is about: the warning comes when x's values do, or makes an
    error of them if a filter says so. While autograd records, which would take x for overwritten, the warning
    comes with nobody's values. On a device of streams (a GPU) there is none.
    """
    cdef _Kernel known
    cdef Tensor kept = x
    if x.v.device().has_streams():
        return
    if recording():
        kept = wrong
        x = empty_like_shape(D_BOOL, wrong.v.layout.ndim, wrong.v.layout.shape(), wrong.v.device())
    key = text, x.v.dtype
    known = _warnings.get(key)
    if known is None:
        known = _warnings[key] = _Kernel.__new__(_Kernel)
        known.k = new_kernel("warning", ELEMENTWISE, 2, 1)
        known.k.fn = warning_of_size(info(x.v.dtype).size)
        known.k.dtypes[0] = D_BOOL
        known.k.dtypes[1] = known.k.dtypes[2] = x.v.dtype
        known.k.warning = intern_name(text.encode())
        known.k.checks_flags = known.k.any_order = True
    cdef const View* views[3]
    views[0] = &wrong.v
    views[1] = &kept.v
    views[2] = &x.v
    with paused():
        emit_elementwise(recorder().begin(known.k, 2, 1), &x.v.layout, views, kept is not x)


cdef int put_branch(char* to, object value, int code) except -1:
    """A scalar branch of ``where``; NumPy wraps a Python integer that the dtype can't hold."""
    try:
        put_scalar(to, value, code)
    except OverflowError:
        put_scalar(to, np.asarray(value).astype(np_dtype(code))[()], code)
    return 0


cdef Tensor ternary(Kernel* k, list operands, bint wraps, Tensor into=None):
    """A new array of an elementwise instruction on three tensors or scalars, the first a tensor.

    Or ``into``, if it has the result's shape and dtype, and nothing is to follow what is written there. Each is
    cast to the kernel's dtype; ``wraps``: a Python integer that doesn't fit, too.
    """
    cdef const View* views[4]
    cdef Layout space
    cdef Tensor first = operands[0], t
    cdef int i, constants = 0
    cdef list casts = []
    for i in range(3):
        views[i] = NULL
        if isinstance(operands[i], Tensor):
            t = operands[i]
            same_device(first, t)
            views[i] = &t.v  # the output is laid out like what was given, not like its cast
    broadcast(views, 3, &space)
    cdef bint new = into is None or into.v.dtype != k.dtypes[3] or not into.v.layout.same_shape(space) \
        or unwritable(into) or recording() or not (into.v.device() == first.v.device())
    cdef Tensor out = output_like(&space, k.dtypes[3], 3, views, first.v.device()) if new else into
    for i in range(3):
        if views[i] is NULL:
            continue
        t = operands[i]
        if t.v.dtype != k.dtypes[i]:
            t = cast(t, k.dtypes[i])
        elif not new:
            t = apart(t, out)
        casts.append(t)
        views[i] = &t.v
    views[3] = &out.v
    cdef Instr* instr = recorder().begin(k, 3, 1)
    try:
        for i in range(3):
            if views[i] is NULL:
                if wraps:
                    put_branch(instr.constants[constants], operands[i], k.dtypes[i])
                else:
                    put_scalar(instr.constants[constants], operands[i], k.dtypes[i])
                constants += 1
    except BaseException:
        recorder().give_back(instr)
        raise
    emit_elementwise(instr, &space, views, new or covers_chunk(&out.v))
    return out


cdef CDevice device_among(a, b, c) noexcept:
    """The device of the first that is an array; else the current one."""
    for o in (a, b, c):
        if isinstance(o, Tensor):
            return (<Tensor>o).v.device()
    return current_device()


cdef dict _NUMBERS = {float: 0.0, int: 0, complex: 0j}  # which live for ever: see quick_result_type


cdef object promoted_as(object o, int kind):
    """What stands for an operand of that kind where NumPy promotes dtypes."""
    if kind < kDtypes:
        return np_dtype(kind)
    return o if not is_tensor(o) else _NUMBERS[weak_type(kind)]


def promoting(o):
    """What stands for an operand, of whatever type, where NumPy promotes dtypes: a draw is as weak as Python's numbers."""
    return promoted_as(o, kind_of_tensor(<Tensor>o)) if is_tensor(o) else o


cdef int _common[32 * 32]  # by two kinds of operands: the code of their common dtype and 1, once it was asked for


cdef int common_dtype(object x, int kx, object y, int ky) except -1:
    """The dtype to which NumPy promotes two operands: whatever their values, that depends on their kinds alone."""
    cdef int* known = &_common[32 * kx + ky]
    if not known[0]:
        known[0] = dtype_code(np.result_type(promoted_as(x, kx), promoted_as(y, ky))) + 1
    return known[0] - 1


def select(condition, x, y):
    """``where(condition, x, y)`` with three arguments: a native loop that moves bytes."""
    cdef PyObject* given[3]
    if may_run_now():  # gradient rules come here, others did already
        given[0], given[1], given[2] = <PyObject*>condition, <PyObject*>x, <PyObject*>y
        found = quick_where(given, 3)
        if found is not None:
            return found
    cdef Tensor c = as_tensor_on(condition, device_among(condition, x, y))
    x, y = plain(x), plain(y)
    cdef int kx = kind_of(x), ky = kind_of(y)
    if kx < 0:
        x = as_tensor_on(x, c.v.device())
        kx = kind_of_tensor(<Tensor>x)
    if ky < 0:
        y = as_tensor_on(y, c.v.device())
        ky = kind_of_tensor(<Tensor>y)
    return ternary(where_kernel(common_dtype(x, kx, y, ky)), [c, x, y], True)


cdef dict _clip_kernels = {}


def clamp(Tensor x not None, low, high, Tensor into=None):
    """``clip(x, low, high)`` by the loops of NumPy's ufunc; the limits are scalars or arrays.

    ``into`` itself, if it could be written; else a new array.
    """
    operands, kinds = [x], [np_dtype(x.v.dtype)]
    for limit in (plain(low), plain(high)):
        kind = kind_of(limit)
        if kind < 0:
            limit = as_tensor_on(limit, x.v.device())
            kind = (<Tensor>limit).v.dtype
        operands.append(limit)
        kinds.append(np_dtype(kind) if kind < kDtypes else weak_type(kind))
    cdef Kernel* k
    key = tuple([kind.char if isinstance(kind, cnp.dtype) else kind for kind in kinds])  # equal dtypes may be two
    found = _clip_kernels.get(key)
    if found is None:
        ufunc = np._core.umath.clip
        k = loop_kernel("clip", ELEMENTWISE, 3, 1, ufunc, ufunc.resolve_dtypes((*kinds, None)))
        k.cost = 0.5
        k.code = code_of("clip", "".join([chr(info(k.dtypes[i]).code) for i in range(4)]))
        found = _Kernel.__new__(_Kernel)
        (<_Kernel>found).k = k
        _clip_kernels[key] = found
    t = ternary((<_Kernel>found).k, operands, False, into)
    return t if t is into else returned(t)
