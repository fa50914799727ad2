# Instructions that take the GIL and call NumPy.


cdef int _PIECES_A_CORE = 4  # in case the threads are not equally fast, or begin later
cdef dict _py_kernels = {}
cdef long long _gil_ops = 0


def gil_ops():
    """How many instructions that take the GIL were recorded so far."""
    return _gil_ops


cdef class _Look:
    """What an op calls that looks at an array's values: a function, and what it gave."""

    cdef object function, found

    def __call__(self, list outs, list ins):
        self.found = self.function(ins[0])


cdef object looked_at(Tensor x, str name, object function):
    """``function`` of the values of an array on the host, on its memory itself: an op, over when this returns."""
    cdef npy_intp one = 1
    cdef Tensor done = empty_like_shape(D_BOOL, 1, &one, x.v.device())
    cdef _Look look = _Look.__new__(_Look)
    look.function = function
    with paused():
        py_call(look, name, [done], [x], 0, True)  # so cheap an op is run by its pusher, who would wait for it
    flush(False)
    _engine.wait_var(done.v.chunk, False)
    raise_error(_recorder.engine().error_of(done.v.chunk))
    return look.found


cdef class _KernelRef:
    cdef Kernel* k


cdef int py_call(object fn, str name, list outs, list ins, double cost_ns,
                 int overwrites) except -1:
    """Records ``fn(outs, ins)``, called with the GIL on NumPy views of the tensors' memory.

    ``overwrites`` has a bit for each output: whether all of it is written, and nothing of it read.

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
    if nout > MOST_OUTPUTS:
        raise ValueError(f"{name}: at most {MOST_OUTPUTS} outputs, not {nout}")
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
    context = contextvars.copy_context()
    errors = logging_errstate()
    if errors is not None:
        context.run(_errstate_var.set, errors)
    cdef PyCallPtr fresh
    fresh.reset(new PyCall())
    cdef PyCall* call = fresh.get()
    call.views.reserve(nin + nout)
    cdef Instr* instr = _recorder.begin(ref.k, nin, nout)
    instr.py.swap(fresh)
    call.fn = <void*>fn
    Py_INCREF(fn)
    call.gives = isinstance(fn.whole if isinstance(fn, Pieces) else fn, Giving)
    call.context = <void*>context
    Py_INCREF(context)
    for k in range(nin + nout):
        t = ins[k] if k < nin else outs[k - nin]
        set_operand(instr, k, &t.v)
        call.views.push_back(t.v)
        if k >= nin:
            instr.bytes += t.v.layout.size() * t.v.itemsize()
            if overwrites >> (k - nin) & 1 and covers_chunk(&t.v):
                instr.overwrites |= 1 << (k - nin)
    instr.cost_ns = cost_ns
    return emit(instr)


cdef CError* _run_python(Instr& instr, const Crew* crew) noexcept nogil:
    adopt_worker_thread()
    with gil:
        return _call_python(instr, crew)


_OURS = (*native_files(), "numpy/", os.path.dirname(np.__file__) + os.sep,
         os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep)


_PYTHONS = ("<frozen ", os.path.dirname(os.__file__) + os.sep)  # the standard library, and what is installed


cdef list _chain(object exc):
    """An exception and those that it came of."""
    cdef list found = []
    while exc is not None and exc not in found:
        found.append(exc)
        exc = exc.__context__
    return found


cdef bint from_elsewhere(object exc) except -1:
    """Whether code of neither NumPy's nor ours raised it: a user's function, a handler of signals or of warnings."""
    for e in _chain(exc):
        at = e.__traceback__
        while at is not None:
            name = at.tb_frame.f_code.co_filename
            if not name.startswith(_OURS) and not (name.startswith(_PYTHONS) and "-packages" not in name):
                return True
            at = at.tb_next
    return False


cdef int _drop_frames(object exc) except -1:
    """Takes the traceback from an exception, unless a frame of the user's own function is in it."""
    if not from_elsewhere(exc):
        for e in _chain(exc):
            e.__traceback__ = None
    return 0


cdef class UsersOwn:
    """What an instruction calls that calls a function of the program's: what that raises is the call's failure."""

    cdef readonly object function

    def __init__(self, function):
        self.function = function

    def __call__(self, list outs, list ins):
        self.function(outs, ins)


cdef int _put_off(object exc, object again) except -1:
    """Has the main thread raise ``exc`` later, unless what the second call raised is the same: that is a failure."""
    if type(again) is not type(exc) or isinstance(exc, KeyboardInterrupt):
        raise_later(exc)
    return 0


cdef bint _is_handlers(object fn, object exc) except -1:
    """Whether a handler of signals (or of warnings) raised it, in a main thread that makes the call for itself.

    Then it is no failure of the call's.
    """
    if isinstance(exc, KeyboardInterrupt):
        return True
    return not isinstance(fn, UsersOwn) and threading.get_ident() == threading.main_thread().ident \
        and (isinstance(exc, SystemExit) or from_elsewhere(exc))


def _log(str text):
    """Makes a floating-point warning of NumPy's, "Warning: overflow encountered in exp", the instruction's."""
    cdef Called* now = &mode().called
    cdef Instr* instr = now.instr
    text = text.strip().removeprefix("Warning: ")
    if instr is NULL:  # a thread that the call has started
        warnings.warn(text, RuntimeWarning, stacklevel=2)
        return
    what, _, name = text.partition(" encountered in ")
    for flag in (1, 2, 4, 8):
        if now.refusal[0] is NULL and what == flag_text(flag).decode():
            if now.told is not NULL:
                if now.told[0] & flag:
                    return
                now.told[0] |= flag
            now.refusal[0] = warn(_recorder.executor.runtime, instr[0], flag, intern_name(name.encode()))


class _Log:
    """Where NumPy writes the warnings of calls."""

    write = staticmethod(_log)


cdef object _logging = None  # an errstate as what _logging_of is, but that warnings go to _Log


cdef object logging_errstate():
    """What np.errstate is to be while NumPy runs a call that is recorded now; None: as it is."""
    global _logging, _logging_of
    current_errstate()
    if _errstate_seen is NULL:
        return None
    if _logging_of == _errstate_seen:
        return _logging
    now, found = <object>_errstate_seen, None
    modes = np.geterr()
    if "warn" in modes.values() and not {"call", "log"} & {*modes.values()}:
        with np.errstate(call=_Log, **{k: "log" for k, v in modes.items() if v == "warn"}):
            found = _errstate_var.get()
    if _errstate_seen == <PyObject*>now:  # no other thread has come to another meanwhile
        _logging = found
        _logging_of = <PyObject*>now
    return found


cdef class Giving:
    """What an instruction calls that makes its results itself: ``function(*inputs)`` gives them, in a sequence.

    The arrays that NumPy has allocated for them become the outputs' memory, where they are large. A None leaves
    an output as it is.
    """

    cdef readonly object function

    def __init__(self, function):
        self.function = function

    def __call__(self, list outs, list ins):
        _write(outs, list(self.function(*ins)))

    cdef int run(self, Instr& instr, list ins) except -1:
        cdef PyCall* call = instr.py.get()
        cdef list found = list((<object>call.context).run(self.function, *ins)), outs = []
        cdef Py_ssize_t k
        if len(found) != instr.nop - instr.nin:
            raise SystemError(f"{len(found)} results for {instr.nop - instr.nin} outputs")
        for k in range(len(found)):
            if _taken_over(&call.views[instr.nin + k], found, k):
                found[k] = None
            outs.append(None if found[k] is None else numpy_view(&call.views[instr.nin + k], True))
        (<object>call.context).run(_write, outs, found)
        return 0


def _write(list outs, list values):
    for to, value in zip(outs, values, strict=True):
        if value is not None:
            to[...] = value


cdef void drop_owner(void* owner) noexcept nogil:
    drop_ref(<PyObject*>owner)  # any thread, with the GIL or without


cdef bint _taken_over(View* v, list found, Py_ssize_t k) except -1:
    """Whether the array in a list became the memory of an output: nobody else knows it, and it is as the output is."""
    cdef cnp.ndarray a
    cdef int i
    if type(found[k]) is not np.ndarray:
        return False
    a = <cnp.ndarray>found[k]
    if a.descr.type_num != info(v.dtype).type_num or cnp.PyArray_NDIM(a) != v.layout.ndim or not covers_chunk(v):
        return False
    for i in range(v.layout.ndim):
        if cnp.PyArray_DIM(a, i) != v.layout.shape()[i] \
                or v.layout.shape()[i] != 1 and cnp.PyArray_STRIDE(a, i) != v.layout.strides()[i]:
            return False
    cdef Py_ssize_t known = 2  # here, and in the list
    if mode().called.given is not NULL:
        # Until the call is over. (A loop's variable would be one more reference to the last.)
        known += sum([kept is a for kept in <list>mode().called.given])
    return take_memory(v.chunk, a, known)


cdef bint take_memory(Chunk* c, cnp.ndarray a, Py_ssize_t known) except -1:
    """Whether an array's memory became a new chunk's: it is all that the chunk needs, and only the caller knows it.

    ``known`` is how many references the caller has. Its dtype and steps are the caller's business.
    """
    if Py_REFCNT(<PyObject*>a) != known or cnp.PyArray_NBYTES(a) != <npy_intp>c.nbytes \
            or not cnp.PyArray_CHKFLAGS(a, cnp.NPY_ARRAY_OWNDATA) or not cnp.PyArray_ISBEHAVED(a) \
            or not c.take_over(cnp.PyArray_BYTES(a), <void*><PyObject*>a, drop_owner):
        return False
    Py_INCREF(a)
    return True


cdef class Pieces:
    """What an instruction calls that may be called in pieces, by several threads, as no place of its result along
    some axis is computed from another place of an operand.

    ``function(*inputs)`` gives the results (one, or a sequence of ``nout``), or with ``into`` writes ``out=``. Each
    operand is cut along its axis in ``cut`` (inputs, then outputs; None: all of it is given each time). ``whole``
    is what is called for all at once: a `Giving`, or ``fn(outs, ins)``. A piece has ``least`` places.
    """

    cdef readonly object whole, function
    cdef readonly tuple cut
    cdef readonly bint into
    cdef readonly int least

    def __init__(self, whole, function, cut, bint into, int least=1):
        self.whole = whole
        self.function = function
        self.cut = tuple(cut)
        self.into = into
        self.least = least

    def __call__(self, list outs, list ins):
        self.whole(outs, ins)

    cdef npy_intp length(self, PyCall* call) except -1:
        """How many places there are."""
        for k, axis in enumerate(self.cut):
            if axis is not None:
                return call.views[k].layout.shape()[<int>axis]
        return 1

    def piece(self, list outs, list ins, first, last):
        """The call for the places from ``first`` to ``last``."""
        cdef list parts = []
        for axis, whole in zip(self.cut, ins + outs, strict=True):
            parts.append(whole if axis is None else whole[(slice(None),) * axis + (slice(first, last),)])
        given, to = parts[:len(ins)], parts[len(ins):]
        if self.into:
            self.function(*given, out=to[0])
        else:
            found = self.function(*given)
            _write(to, [found] if len(to) == 1 else list(found))


cdef class _InPieces:
    """A call that is made in pieces. Threads claim them in order, and change this, with the GIL held."""

    cdef Pieces call
    cdef list outs, ins
    cdef object context, error  # the error of the first piece that failed
    cdef npy_intp next, length, tasks, failed_at
    cdef Called called
    cdef int told

    cdef void work(self) noexcept:
        cdef Called* now = &mode().called
        cdef Called before = now[0]
        cdef npy_intp first = 0
        now[0] = self.called
        try:
            context = self.context.copy()  # no two threads may be inside one
            while self.error is None and self.next < self.tasks:
                first = self.next
                self.next += 1
                args = (self.outs, self.ins, first * self.length // self.tasks, (first + 1) * self.length // self.tasks)
                try:
                    context.run(self.call.piece, *args)
                except BaseException as exc:
                    if not _is_handlers(self.call, exc):
                        raise
                    try:  # as in _call_python
                        context.run(self.call.piece, *args)
                    except BaseException as again:
                        _put_off(exc, again)
                        raise
                    _put_off(exc, None)
        except BaseException as exc:
            # Those before it were claimed before: the least of all that failed comes here.
            if self.error is None or first < self.failed_at:
                self.error, self.failed_at = exc, first
        now[0] = before


cdef void _work_on(void* pieces) noexcept nogil:
    adopt_worker_thread()
    with gil:
        (<_InPieces>pieces).work()


cdef bint _called_in_pieces(Instr& instr, const Crew* crew, list ins) except -1:
    """Whether the call was worth it."""
    cdef PyCall* call = instr.py.get()
    cdef Pieces fn = <Pieces>call.fn
    cdef npy_intp length = fn.length(call), tasks
    cdef double most = _PIECES_A_CORE * (<CEngine*>crew.engine).cores()
    if crew.call_ns > 0:
        most = min(most, instr.cost_ns / crew.call_ns)
    tasks = min(length // fn.least, <npy_intp>most)
    if tasks < 2:
        return False
    cdef _InPieces pieces = _InPieces.__new__(_InPieces)
    pieces.call, pieces.ins, pieces.context = fn, ins, <object>call.context
    pieces.outs = [numpy_view(&call.views[k], True) for k in range(instr.nin, instr.nop)]
    pieces.length, pieces.tasks = length, tasks
    pieces.called = mode().called
    pieces.called.told = &pieces.told
    pieces.called.given = <PyObject*>NULL  # a piece may be made again as it is
    cdef void* given = <void*>pieces
    cdef int places = <int>tasks - 1
    with nogil:
        (<CEngine*>crew.engine).share(<COp*>crew.op, _work_on, given, places)
    if pieces.error is not None:
        raise pieces.error
    return True


def once(function, *args, **kwargs):
    """``function(*args, **kwargs)``, a function of C's, for instructions that change what they read: a stream, or sums.

    A handler of signals may raise before or after it, and then the instruction is made again. What was done by then is
    not done twice: it gives what it gave. (A handler runs between two bytecodes, of which there are none in here.)
    """
    cdef Called* now = &mode().called
    cdef list given
    if now.given is NULL:
        return function(*args, **kwargs)
    given = <list>now.given
    now.next += 1
    if now.next <= len(given):
        return given[now.next - 1]
    result = function(*args, **kwargs)
    given.append(result)
    return result


cdef CError* _call_python(Instr& instr, const Crew* crew) noexcept:
    cdef CError* refusal = NULL
    cdef Called* now = &mode().called
    cdef Called before = now[0]
    cdef list given = None
    now.instr, now.refusal, now.told, now.given, now.next = &instr, &refusal, <int*>NULL, <PyObject*>NULL, 0
    try:
        given = []
        now.given = <PyObject*>given
        try:
            _call_numpy(instr, crew)
        except BaseException as exc:
            if not _is_handlers(<object>instr.py.get().fn, exc):
                raise
            # Ctrl-C, say: the call is made once more, but for what `once` has done.
            now.next = 0
            try:
                _call_numpy(instr, crew)
            except BaseException as again:
                _put_off(exc, again)
                raise
            _put_off(exc, None)
        return refusal
    except BaseException as exc:
        try:
            _drop_frames(exc)
        except BaseException:  # no memory: the frames live longer
            pass
        if refusal is not NULL:
            refusal.unref()
        return error_from_exception(exc, instr.kernel.name, instr.site)
    finally:
        now[0] = before


cdef int _call_numpy(Instr& instr, const Crew* crew) except -1:
    cdef PyCall* call = instr.py.get()
    cdef list ins = [], outs = []
    for k in range(instr.nin):
        # Inputs, too, are writable to NumPy, though no op writes one: many of its functions
        # copy a read-only array first (argmax of a million: 220 us for 80).
        ins.append(numpy_view(&call.views[k], not lazy(call.views[k].chunk).immutable))
    fn = <object>call.fn
    if type(fn) is Pieces:
        if crew is not NULL and _called_in_pieces(instr, crew, ins):
            return 0
        fn = (<Pieces>fn).whole
    if call.gives:
        return (<Giving>fn).run(instr, ins)
    for k in range(instr.nin, instr.nop):
        outs.append(numpy_view(&call.views[k], True))
    (<object>call.context).run(fn, outs, ins)
    return 0
