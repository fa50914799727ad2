# At once: what a function of NumPy's gives for small operands, in the caller's thread, with no instruction.


cdef bint instant(Chunk* state) noexcept:
    """Whether what is done to `state` now comes after all that was done to it, and nobody looks on."""
    return lone_ops() and at_hand(state, True)


cdef bint written_now(Chunk* c) except -1:
    """Counts a write that the caller has done at once."""
    c.version.fetch_add(1)
    issue(c, 1)
    _recorder.inlined += 1
    return True


cdef bint seen_as_wait(str what) except -1:
    """Counts what would be a wait where work is pending; false inside `no_sync`, where it is to raise."""
    if mode().no_sync:
        return False
    cdef _Place place = place_of(what)
    place.count += 1
    return True


cdef struct _Work:
    int (*run)(void*) except -1
    void* arg
    PyObject* raised


cdef CError* _run_work(void* arg, CRunContext& ctx) noexcept nogil:
    with gil:
        _do(<_Work*>arg)
    return NULL


cdef void _do(_Work* work) noexcept:
    try:
        work.run(work.arg)
    except BaseException as exc:
        Py_INCREF(exc)
        work.raised = <PyObject*>exc


cdef bint while_held(Chunk** read, int n, int (*work)(void*) except -1, void* arg) except -1:
    """Calls ``work(arg)`` here and now, as an op that reads these chunks, which are at hand.

    So no other thread's op writes to them meanwhile, though ``work`` may let go of the GIL. False if the engine
    takes no op, or if one of them is no longer at hand. What ``work`` raises is raised.
    """
    cdef CEngine* e = _recorder.engine()
    cdef _Work now
    cdef int k
    now.run, now.arg = work, arg
    now.raised = NULL
    step_aside()
    cdef COp* op = e.new_op()
    try:
        for k in range(n):
            op.merge_use(read[k], False)
    except BaseException:
        e.discard(op)
        raise
    # Since they were looked at, another thread or a finalizer may have pushed what writes to one: the operator would be a
    # worker's, which needs the GIL. From here on nobody else gets it.
    for k in range(n):
        if not at_hand(read[k], False):
            e.discard(op)
            return False
    op.name = "at once"
    op.prop = PROP_ASYNC  # for its pusher: who is at hand has no writer, so it is ready
    op.payload.run = _run_work
    op.payload.arg = &now
    op.payload.own_errors = True
    cdef Status status = e.push(op, True, True)
    if status != OK:
        return False
    e.wait_op(op, NULL, NULL)
    e.release(op)
    if now.raised is not NULL:
        exc = <object>now.raised
        Py_DECREF(exc)
        raise exc
    return True


cdef object value_now(Tensor x, npy_intp most, CDevice device):
    """A copy of an array of at most `most` elements for NumPy; None if it isn't at hand on `device`.

    Scalars come as Python's or NumPy's.
    """
    if x.v.layout.size() > most or not x.v.at_hand() or not (x.v.device() == device):
        return None
    if is_scalar(x):
        if x.v.dtype == D_F8:
            return (<double*>x.v.elements())[0]
        if x.v.dtype == D_IL:
            return (<npy_intp*>x.v.elements())[0]
    cdef cnp.ndarray a
    cdef cnp.dtype d = _dtypes[x.v.dtype]
    if not x.v.layout.c_contiguous(info(x.v.dtype).size):
        return cnp.PyArray_NewCopy(numpy_view(&x.v, False), cnp.NPY_KEEPORDER)
    Py_INCREF(d)  # stolen
    a = PyArray_NewFromDescr(&PyArray_Type, d, x.v.layout.ndim, x.v.layout.shape(), NULL, NULL, 0, None)
    memcpy(cnp.PyArray_DATA(a), x.v.elements(),
           x.v.layout.size() * info(x.v.dtype).size)
    return cnp.PyArray_ToScalar(cnp.PyArray_DATA(a), a) if is_scalar(x) else a


cdef bint real_now(Tensor x, CDevice device, double* value) noexcept:
    """The value of a float64 or int64 without axes, if it is at hand on ``device``."""
    if x.v.layout.ndim or not x.v.at_hand() or not (x.v.device() == device) or capturing():
        return False
    if x.v.dtype == D_F8:
        value[0] = (<double*>x.v.elements())[0]
    elif x.v.dtype == D_IL:
        value[0] = <double>(<npy_intp*>x.v.elements())[0]
    else:
        return False
    return True


cdef object array_of(object value, CDevice device):
    """What NumPy returned, as an array or scalar of ours; itself if that can't hold it."""
    cdef Tensor x
    cdef int overflow = 0, code
    cdef long n
    t = type(value)
    if not device.on_host():
        value = array_of(value, cpu0())
        return moved(<Tensor>value, device) if is_tensor(value) else value
    if t is np.ndarray:
        code = dtype_of_type_num((<cnp.dtype>cnp.PyArray_DESCR(value)).type_num)
        if code < 0:
            return value
        x = from_numpy(value, device)
        written_once(x.v.chunk)
        _recorder.inlined += 1
    elif t is float:
        x = new_element(D_F8, device)
        (<double*>x.v.elements())[0] = PyFloat_AS_DOUBLE(value)
    elif t is int:
        n = PyLong_AsLongAndOverflow(value, &overflow)
        if overflow:
            return value
        x = new_element(D_IL, device)
        (<npy_intp*>x.v.elements())[0] = n
    elif t is bool:
        x = new_element(D_BOOL, device)
        x.v.elements()[0] = value
    elif t is complex:
        x = new_element(D_C16, device)
        put_number(x.v.elements(), value, D_C16)
    else:
        code = code_of_scalar(value)
        if code < 0:
            return value
        x = new_element(code, device)
        memcpy(x.v.elements(), inside_scalar(value), info(code).size)
    return x


cdef bint reorder(Tensor x, const npy_intp* order, npy_intp n) except -1:
    """Puts the ``n`` rows of a vector or C-ordered array in another order, if it is at hand."""
    cdef Chunk* c = x.v.chunk
    cdef npy_intp i, step, row = info(x.v.dtype).size
    cdef char* first
    cdef char* copy
    if x.v.readonly or not at_hand(c, True) or x.v.layout.shape()[0] != n:
        return False
    if x.v.layout.ndim > 1:
        if not x.v.layout.c_contiguous(row):
            return False
        for i in range(1, x.v.layout.ndim):
            row *= x.v.layout.shape()[i]
        step = row
    else:
        step = x.v.layout.strides()[0]
        if abs(step) < row:
            return False
    copy = <char*>PyMem_Malloc(n * row)
    if copy is NULL:
        raise MemoryError()
    first = c.data + x.v.layout.offset
    for i in range(n):
        memcpy(copy + i * row, first + order[i] * step, row)
    for i in range(n):
        memcpy(first + i * step, copy + i * row, row)
    PyMem_Free(copy)
    return written_now(c)
