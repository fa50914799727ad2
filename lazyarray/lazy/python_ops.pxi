# Instructions that take the GIL and call NumPy.


cdef dict _py_kernels = {}
cdef long long _gil_ops = 0


def gil_ops():
    """How many instructions that take the GIL were recorded so far."""
    return _gil_ops


cdef class _KernelRef:
    cdef Kernel* k


cdef int py_call(object fn, str name, list outs, list ins, double cost_ns,
                 bint overwrites) except -1:
    """Records ``fn(outs, ins)``, called with the GIL on NumPy views of the tensors' memory.

    The outputs' shapes and dtypes are known here, their values when it has run. It runs in a
    copy of the caller's context, so np.errstate holds.
    """
    cdef _KernelRef ref = _py_kernels.get(name)
    if ref is None:
        ref = _KernelRef()
        ref.k = new_kernel(name, PYTHON, 0, 0)
        _py_kernels[name] = ref
    cdef int nin = len(ins), nout = len(outs), k
    cdef Tensor t
    if nout > 32:
        raise ValueError(f"{name}: at most 32 outputs, not {nout}")
    cdef Tensor first = None
    for o in outs:
        t = o
        if t.v.readonly:
            raise ValueError("assignment destination is read-only")
        first = t if first is None else first
        same_device(first, o)
    for o in ins:
        first = o if first is None else first
        same_device(first, o)
    global _gil_ops
    _gil_ops += 1
    cdef Instr* instr = _recorder.begin(ref.k, nin, nout)
    cdef PyCall* call = new PyCall()
    instr.py.reset(call)
    call.fn = <PyObject*>fn
    Py_INCREF(fn)
    context = contextvars.copy_context()
    call.context = <PyObject*>context
    Py_INCREF(context)
    for k in range(nin + nout):
        t = ins[k] if k < nin else outs[k - nin]
        set_operand(instr, k, &t.v)
        call.views.push_back(t.v)
        if k >= nin:
            instr.bytes += t.v.layout.size() * t.v.itemsize()
            if overwrites and covers_chunk(&t.v):
                instr.overwrites |= 1 << (k - nin)
    instr.cost_ns = cost_ns
    return emit(instr)


cdef CError* _run_python(Instr& instr) noexcept nogil:
    adopt_worker_thread()
    with gil:
        return _call_python(instr)


_OURS = ("lazyarray" + os.sep, os.path.dirname(np.__file__) + os.sep,
         os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep)


cdef int _drop_frames(object exc) except -1:
    """Takes the traceback from an exception, unless a frame of the user's own function is in it.

    The frames hold the outputs, which will hold the error, and (where the pusher runs the op)
    the pusher's frames with all their locals: a cycle that no collector sees. See _exception_of.
    """
    todo = []
    while exc is not None and exc not in todo:
        todo.append(exc)
        for frame, _ in traceback.walk_tb(exc.__traceback__):
            if not frame.f_code.co_filename.startswith(_OURS):
                return 0
        exc = exc.__context__
    for exc in todo:
        exc.__traceback__ = None
    return 0


cdef CError* _call_python(Instr& instr):
    cdef PyCall* call = instr.py.get()
    try:
        ins, outs = [], []
        for k in range(instr.nop):
            # Inputs, too, are writable to NumPy, though no op writes one: many of its functions
            # copy a read-only array first (argmax of a million: 220 us for 80).
            (outs if k >= instr.nin else ins).append(numpy_view(&call.views[k], True))
        (<object>call.context).run(<object>call.fn, outs, ins)
        return NULL
    except BaseException as exc:
        _drop_frames(exc)
        return error_from_exception(exc, instr.kernel.name, &instr.site)
