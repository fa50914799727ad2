# x[mask] and x[mask] = values, off the GIL, for a mask of x's axes, or of the first of them.


cdef Kernel* _pick_kernels[32]
cdef Kernel* _place_kernels[32]
cdef Kernel* _place_rows_kernels[32]
cdef Kernel* _fill_kernels[32]


cdef Kernel* storing(Kernel** known, int code, Loop fn) except NULL:
    """The kernel of a way of ``x[mask] = values`` for a dtype; a `check` of it looks at the mask."""
    if known[code] is NULL:
        known[code] = new_kernel("setitem", GUFUNC, 2, 1)
        known[code].fn = fn
        known[code].checked = 0
        known[code].dtypes[0] = D_BOOL
        known[code].dtypes[1] = known[code].dtypes[2] = code
    return known[code]


cdef bint evenly(Tensor x, npy_intp* step) noexcept:
    """Whether the elements, in C order, lie one ``step`` apart, as those of a column do.

    Only what is contiguous does where others than our loops may run what is recorded: on GPUs, in what is captured.
    """
    cdef Layout* l = &x.v.layout
    cdef npy_intp together = 1
    cdef int i
    step[0] = x.v.itemsize()
    if contiguous(x):
        return True
    if not x.v.on_host() or recorder().captures:
        return False
    for i in range(l.ndim - 1, -1, -1):
        if l.shape()[i] == 1:
            continue
        if together == 1:
            step[0] = l.strides()[i]
        elif l.strides()[i] != step[0] * together:
            return False
        together *= l.shape()[i]
    return True


cdef bint masks_all(Tensor x, Tensor mask, npy_intp* step) noexcept:
    """Whether the mask, in C order, chooses among all elements, which lie one ``step`` apart."""
    return mask.v.dtype == D_BOOL and x.v.layout.ndim > 0 and x.v.device() == mask.v.device() \
        and x.v.layout.same_shape(mask.v.layout) and contiguous(mask) and evenly(x, step)


cdef Instr* masked(Kernel* k, Tensor first, Tensor second, Tensor out, npy_intp n, npy_intp count, npy_intp step):
    cdef Instr* instr = recorder().begin(k, 2, 1)
    set_operand(instr, 0, &first.v)
    set_operand(instr, 1, &second.v)
    set_operand(instr, 2, &out.v)
    instr.set_ndim(0)
    instr.ncore = 2
    instr.core[0] = n
    instr.core[1] = count
    instr.ncore_steps = 1
    instr.core_steps[0] = step
    instr.bytes = count * out.v.itemsize()
    instr.cost_ns = 50 + n * 0.6 + 0.02 * instr.bytes
    return instr


cdef Tensor picked_now(Tensor x, Tensor mask, npy_intp step, bint known):
    """``x[mask]`` of a few elements that are at hand, one ``step`` apart; None for any other."""
    cdef char* args[3]
    cdef npy_intp dims[3]
    cdef npy_intp steps[4]
    cdef Tensor out
    if not is_ready(x) or not is_ready(mask):
        return None
    args[0], args[1] = x.v.elements(), mask.v.elements()
    dims[0], dims[1] = 1, x.v.layout.size()
    dims[2] = count_true(args[1], dims[1])
    out = small_array(x.v.dtype, 1, &dims[2])
    if out is None:
        return None
    args[2] = out.v.chunk.data
    steps[0] = steps[1] = steps[2] = 0
    steps[3] = step
    pick_of_size(x.v.itemsize())(args, dims, steps, NULL)
    if not known:
        seen_as_wait("?a boolean index")
    return written(out)


cdef bint placed_now(Tensor x, Tensor mask, Tensor values, npy_intp step) except -1:
    """``x[mask] = values`` of a few elements that are at hand; false for any other, and where they don't fit."""
    cdef char* args[3]
    cdef npy_intp dims[3]
    cdef npy_intp steps[4]
    if not is_ready(mask) or not is_ready(values) or not x.v.near() or not at_hand(x.v.chunk, True):
        return False
    args[0], args[1], args[2] = mask.v.elements(), values.v.elements(), x.v.elements()
    dims[0], dims[1], dims[2] = 1, x.v.layout.size(), values.v.layout.size()
    if dims[2] != 1 and dims[2] != count_true(args[0], dims[1]):
        return False
    steps[0] = steps[1] = steps[2] = 0
    steps[3] = step
    place_of_size(x.v.itemsize())(args, dims, steps, NULL)
    changed(x.v.chunk)
    return True


cdef Tensor in_memory(Tensor t):
    """``t``, with memory."""
    need_memory(t.v.chunk)
    return t


cdef bint is_mask(object o) noexcept:
    """Whether an entry of a key is an array of bools, ours or NumPy's."""
    if isinstance(o, Tensor):
        return (<Tensor>o).v.dtype == D_BOOL
    return type(o) is np.ndarray and cnp.PyArray_TYPE(<cnp.ndarray>o) == cnp.NPY_BOOL


cdef Tensor given_mask(Tensor x, object key):
    """A key that is an array of ours, or for x on the host a mask of NumPy's, in C order, or a list. None for any other."""
    cdef Tensor mask
    if isinstance(key, Tensor):
        return <Tensor>key
    if type(key) is list and <list>key and type((<list>key)[0]) is bool and x.v.device() == cpu0() \
            and not recorder().captures:
        mask = of_numbers(key, -1)
        return mask if mask is not None and mask.v.dtype == D_BOOL else None
    if type(key) is not np.ndarray or cnp.PyArray_TYPE(<cnp.ndarray>key) != cnp.NPY_BOOL \
            or not cnp.PyArray_NDIM(<cnp.ndarray>key) or not x.v.on_host() or recorder().captures:
        return None
    if not cnp.PyArray_IS_C_CONTIGUOUS(<cnp.ndarray>key):
        key = np.ascontiguousarray(key)
    return written(from_numpy(key, x.v.device()))


cdef Tensor picked(Tensor x, object key):
    """``x[mask]``, which waits for the mask: the result's length depends on it. None for other keys."""
    cdef Tensor mask, still
    cdef npy_intp n, count, step
    cdef bint known = not isinstance(key, Tensor)  # NumPy's mask is no wait
    mask = given_mask(x, key)
    if mask is None:
        return None
    if recording() and wants_gradient(x):  # then NumPy's indexing tells which elements are meant
        return None
    same_device(x, mask)
    if mask.v.dtype == D_BOOL and x.v.layout.ndim == 0 and mask.v.layout.ndim == 0:
        return picked_now(x, mask, x.v.itemsize(), known)
    if mask.v.dtype != D_BOOL or mask.v.layout.ndim == 0:
        return None
    if x.v.on_host():
        if mask.v.layout.ndim < x.v.layout.ndim:
            return picked_rows(x, mask, known)
        if x.v.layout.same_shape(mask.v.layout):
            x = x if evenly(x, &step) else cast_c(x, x.v.dtype)
            mask = mask if contiguous(mask) else cast_c(mask, D_BOOL)
    if not masks_all(x, mask, &step):
        return None
    cdef Tensor out = picked_now(x, mask, step, known)
    if out is not None:
        return out
    if not known:
        wait(mask, False, "?a boolean index")
    if not masks_all(x, mask, &step):  # another thread gave one a new shape meanwhile
        return None
    n = x.v.layout.size()
    if not mask.v.on_host():
        mask = cast(mask, D_BOOL)  # what is counted here is what picks there
    still = in_memory(settled(mask, False))
    count = count_true(still.v.elements(), n)
    out = empty_like_shape(x.v.dtype, 1, &count, x.v.device())
    if count == 0:
        return out
    cdef int code = x.v.dtype
    if _pick_kernels[code] is NULL:
        _pick_kernels[code] = new_kernel("getitem", GUFUNC, 2, 1)
        _pick_kernels[code].fn = pick_of_size(info(code).size)
        _pick_kernels[code].dtypes[0] = _pick_kernels[code].dtypes[2] = code
        _pick_kernels[code].dtypes[1] = D_BOOL
    cdef Instr* instr = masked(_pick_kernels[code], x, still if mask.v.on_host() else mask, out, n, count, step)
    instr.overwrites = 1
    emit(instr)
    return out


cdef bint leads(Tensor mask, Tensor x, int axis) noexcept:
    """Whether the mask is of x's axes from ``axis`` on, but perhaps not of the last ones."""
    cdef int i
    if mask.v.dtype != D_BOOL or mask.v.layout.ndim == 0 or axis + mask.v.layout.ndim > x.v.layout.ndim:
        return False
    for i in range(mask.v.layout.ndim):
        if mask.v.layout.shape()[i] != x.v.layout.shape()[axis + i]:
            return False
    return True


cdef Tensor picked_rows(Tensor x, Tensor mask, bint known):
    """``x[mask]`` for a mask of the first axes, which it waits for: a gather of what is behind them.

    None if it's not, and where those axes don't lie in C order: NumPy's result has them as they lie.
    """
    cdef Tensor places, rows
    cdef npy_intp step
    cdef int i, many = mask.v.layout.ndim
    if not leads(mask, x, 0) or x.v.layout.size() == 0:
        return None
    for i in range(many, x.v.layout.ndim - 1):
        if abs(x.v.layout.strides()[i]) < abs(x.v.layout.strides()[i + 1]) \
                and x.v.layout.shape()[i] != 1 and x.v.layout.shape()[i + 1] != 1:
            return None
    mask = mask if contiguous(mask) else cast_c(mask, D_BOOL)
    if not known:
        wait(mask, False, "?a boolean index")
    if not leads(mask, x, 0) or x.v.layout.size() == 0:  # another thread gave one a new shape meanwhile
        return None
    places = places_chosen(mask)
    if many == 1:
        rows = gathered(x, places)
        if rows is not None:
            return rows
    x = x if contiguous(x) else cast_c(x, x.v.dtype)
    rows = view_of(x)
    rows.v.layout.resize(x.v.layout.ndim - many + 1)
    rows.v.layout.shape()[0] = mask.v.layout.size()
    step = x.v.itemsize()  # not that of axis many - 1: one of length one may have any
    for i in range(x.v.layout.ndim - 1, many - 1, -1):
        rows.v.layout.shape()[i - many + 1] = x.v.layout.shape()[i]
        rows.v.layout.strides()[i - many + 1] = x.v.layout.strides()[i]
        step *= x.v.layout.shape()[i]
    rows.v.layout.strides()[0] = step
    return gather(rows, places, 0, 0)


cdef Tensor places_chosen(Tensor mask):
    """Where a mask in C order is true, of all its elements; it has been waited for."""
    cdef Tensor still = in_memory(settled(mask, False))
    cdef npy_intp n = still.v.layout.size()
    cdef npy_intp count = count_true(still.v.elements(), n)
    cdef Tensor places = in_memory(empty_like_shape(D_IL, 1, &count, mask.v.device()))
    places_of_true(still.v.elements(), n, <npy_intp*>places.v.elements())
    return written(places)


cdef object with_places(Tensor x, object key, bint waits):
    """A key of full slices and a mask of one axis behind them, with the places of its true elements instead.

    NumPy takes it for the same. The key itself where it is no such key, or the mask is pending and not waited for.
    """
    cdef Tensor mask
    cdef int axis
    axis = len(<tuple>key) - 1 if type(key) is tuple else 0
    if axis < 1 or not is_mask((<tuple>key)[axis]) or not is_whole_before(key, axis) \
            or not x.v.on_host() or capturing() or recording() and wants_gradient(x):
        return key
    mask = given_mask(x, (<tuple>key)[axis])
    if mask is None or mask.v.layout.ndim != 1 or not leads(mask, x, axis) or not (mask.v.device() == x.v.device()):
        return key
    mask = mask if contiguous(mask) else cast_c(mask, D_BOOL)
    if waits and isinstance((<tuple>key)[axis], Tensor):
        wait(mask, False, "?a boolean index")
        if not leads(mask, x, axis):  # another thread gave one a new shape meanwhile
            return key
    elif not mask.v.at_hand():
        return key
    return (<tuple>key)[:axis] + (places_chosen(mask),)


cdef bint is_whole_before(tuple key, int axis):
    """Whether the key has nothing but full slices before ``axis``."""
    cdef int i
    for i in range(axis):
        k = key[i]
        if type(k) is not slice or k != _WHOLE:
            return False
    return True


cdef Tensor mask_within(Tensor x, object key):
    """The mask of a key with nothing but full slices before it, of fewer axes than x: over x's shape. Else None."""
    cdef Tensor mask, over
    cdef int i, axis = 0
    if type(key) is tuple:
        axis = len(<tuple>key) - 1
        if not is_whole_before(key, axis):
            return None
        key = (<tuple>key)[axis] if axis >= 0 else None
    if not isinstance(key, Tensor):
        return None
    mask = <Tensor>key
    if not leads(mask, x, axis) or mask.v.layout.ndim == x.v.layout.ndim:
        return None
    over = view_of(mask)
    over.v.layout.resize(x.v.layout.ndim)
    for i in range(x.v.layout.ndim):
        over.v.layout.shape()[i] = x.v.layout.shape()[i]
        over.v.layout.strides()[i] = 0
    for i in range(mask.v.layout.ndim):
        over.v.layout.strides()[axis + i] = mask.v.layout.strides()[i]
    return over


cdef enum:
    _SHORT = 8  # elements of a row
    _MANY = 100_000


cdef bint fill_rows(Tensor x, Tensor mask, object value) except -1:
    """``x[mask] = value`` for a number and a mask of the first axes, both in C order; false where it isn't done."""
    cdef int code = x.v.dtype
    cdef Tensor one
    cdef npy_intp n = mask.v.layout.size()
    cdef Instr* instr
    if not x.v.on_host() or not (mask.v.device() == x.v.device()) or unwritable(x) or x.v.layout.size() == 0 \
            or not contiguous(x) or not contiguous(mask) or mask.v.same_memory(x.v) or recorder().captures \
            or recording() and wants_gradient(x):
        return False
    if x.v.layout.size() < _SHORT * n and x.v.layout.size() >= _MANY:
        return False  # a pass chooses among so many by vector instructions, and on all cores
    one = new_element(code, x.v.device())
    if not put_number(one.v.elements(), value, code):
        return False
    instr = masked(storing(_fill_kernels, code, fill_of_size(info(code).size)), mask, one, x, n, x.v.layout.size() // n,
                   x.v.itemsize())
    instr.bytes = x.v.layout.size() * x.v.itemsize()
    instr.cost_ns = 50 + n * 0.8 + 0.05 * instr.bytes
    emit(instr)
    return True


cdef bint masked_set(Tensor x, object key, object value) except -1:
    """``x[mask] = value`` for a mask of x's shape and a number or vector; false for anything else.

    A number also goes where a mask of some axes is true, with full slices before it.
    """
    cdef Tensor mask
    cdef bint known = type(key) is np.ndarray or type(key) is list  # then a wrong number of values is an error at once
    if known:
        key = given_mask(x, key)
    if type(value) is float or type(value) is int or type(value) is bool:
        mask = mask_within(x, key)
        if mask is not None:
            if not isinstance(key, Tensor) or not fill_rows(x, <Tensor>key, value):
                fill_where(x, mask, value)
            return True
    if not isinstance(key, Tensor):
        return False
    mask = <Tensor>key
    if mask.v.dtype != D_BOOL or x.v.layout.ndim == 0:
        return False
    if not x.v.layout.same_shape(mask.v.layout):
        return isinstance(value, Tensor) and fill_rows_from(x, mask, <Tensor>value)
    if isinstance(value, Tensor):
        if known and (<Tensor>value).v.layout.size() != 1 \
                and (<Tensor>value).v.layout.size() != count_true(mask.v.elements(), mask.v.layout.size()):
            return False
        return fill_from(x, mask, value)
    if type(value) is float or type(value) is int or type(value) is bool:
        fill_where(x, mask, value)
        return True
    return False


cdef bint fill_rows_from(Tensor x, Tensor mask, Tensor values) except -1:
    """``x[mask] = values`` for a mask of the first axes, and a row for each true one, or one for all; all in C order.

    False where it isn't done, and for too few or too many rows, where the mask is at hand.
    """
    cdef int code = x.v.dtype, many = mask.v.layout.ndim, rest = x.v.layout.ndim - many, i
    cdef npy_intp n = mask.v.layout.size(), rows = 1
    cdef Layout* l = &values.v.layout
    cdef Instr* instr
    cdef Kernel* k
    if not leads(mask, x, 0) or rest < 1 or not x.v.on_host() or not (mask.v.device() == x.v.device()) \
            or not (values.v.device() == x.v.device()) or values.v.dtype != code or unwritable(x) \
            or x.v.layout.size() == 0 or not contiguous(x) or not contiguous(mask) or not contiguous(values) \
            or values.v.same_memory(x.v) or mask.v.same_memory(x.v) or recorder().captures \
            or recording() and (wants_gradient(x) or wants_gradient(values)):
        return False
    if l.ndim != rest and l.ndim != rest + 1:
        return False
    for i in range(rest):
        if l.shape()[l.ndim - rest + i] != x.v.layout.shape()[many + i]:
            return False
    if l.ndim > rest:
        rows = l.shape()[0]
        if rows != 1 and mask.v.at_hand() and count_true(mask.v.elements(), n) != rows:
            return False
    k = storing(_place_rows_kernels, code, place_rows_of_size(info(code).size))
    k.check = misfit_rows
    instr = masked(k, mask, values, x, n, rows, x.v.itemsize())
    instr.ncore = 3
    instr.core[2] = x.v.layout.size() // n
    instr.bytes = 2 * values.v.layout.size() * x.v.itemsize()
    instr.cost_ns = 50 + n * 0.8 + 0.1 * instr.bytes
    emit(instr)
    return True


def fill_from(Tensor x not None, Tensor mask not None, Tensor values not None):
    """``x[mask] = values`` for a vector of values or a single one; false if NumPy must do it.

    Too few or too many are a ValueError at the wait.
    """
    if unwritable(x):
        raise ValueError("assignment destination is read-only")
    if recording() and (wants_gradient(x) or wants_gradient(values)):
        return False
    cdef int code = x.v.dtype
    cdef npy_intp step
    if mask.v.dtype != D_BOOL or not x.v.layout.same_shape(mask.v.layout) or not (mask.v.device() == x.v.device()) \
            or not (values.v.device() == x.v.device()) or values.v.layout.ndim > 1 or values.v.dtype != code \
            or values.v.same_memory(x.v) or mask.v.same_memory(x.v) or not evenly(x, &step):
        return False  # of parts of x NumPy reads what it has just written
    mask = mask if contiguous(mask) else cast_c(mask, D_BOOL)
    values = values if contiguous(values) else cast_c(values, code)
    if not masks_all(x, mask, &step):
        return False
    if placed_now(x, mask, values, step):
        return True
    cdef Kernel* k = storing(_place_kernels, code, place_of_size(info(code).size))
    k.check = misfit
    emit(masked(k, mask, values, x, x.v.layout.size(), values.v.layout.size(), step))
    return True
