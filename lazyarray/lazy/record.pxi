# Emitting instructions: inline, or into the open segment.


cdef Kernel* new_kernel(str name, KernelKind kind, int nin, int nout) except NULL:
    cdef Kernel* k = new Kernel()
    k.name = intern_name(name.encode())
    k.kind = kind
    k.nin = nin
    k.nout = nout
    recorder().made_kernel()
    return k


cdef void set_operand(Instr* instr, int k, const View* v) noexcept:
    if v is NULL:
        instr.ops[k].chunk = NULL
    else:
        instr.ops[k].chunk = v.chunk
        instr.ops[k].offset = v.layout.offset
        instr.ops[k].detached = v.detached


cdef bint take_numbers(Instr* instr, const View** views, const View** used) noexcept:
    """Makes numbers that are alone constants of the instruction, for which no chunk is made; whether there were any.

    `used` gets the other views. Not where somebody may follow a number's ways: autograd, or a program.
    """
    cdef int k, number = 0, n = 0
    cdef bint found = False
    cdef char[3][32] values
    for k in range(instr.nin):
        found = found or views[k] is not NULL and (<View*>views[k]).alone()
    if not found or instr.nin > 3 or recording() or capturing():
        return False
    memcpy(used, views, instr.nop * sizeof(View*))
    for k in range(instr.nin):
        if views[k] is NULL:
            memcpy(values[n], instr.constants[number], 32)
            number += 1
        elif (<View*>views[k]).alone():
            memcpy(values[n], (<View*>views[k]).elements(), (<View*>views[k]).itemsize())
            used[k] = NULL
        else:
            continue
        n += 1
    memcpy(instr.constants, values, n * 32)
    return True


cdef int emit_elementwise(Instr* instr, Layout* space, const View** views,
                          bint overwrites) except -1:
    """Completes and emits an elementwise instruction over `space`."""
    cdef int k
    cdef const View* used[8]
    if take_numbers(instr, views, used):
        views = used
    cdef npy_intp n = space.size(), step
    cdef const View* forward[8]
    cdef list copies = None, written = None
    cdef int axes = -1  # not asked yet
    cdef Tensor t
    set_space(instr[0], space[0], views)
    for k in range(instr.nop):
        set_operand(instr, k, views[k])
    if not instr.kernel.any_order:
        # Such a loop gives other bits for elements that it meets backwards: in several axes NumPy's
        # iterator may hand them over in order. Or may write out what has no step.
        turn_round(instr[0])
        for k in range(instr.nop if instr.ndim > 1 else 0):
            step = instr.strides(k)[instr.ndim - 1]
            if step > 0 or (step == 0 and not (k == 1 and instr.kernel.minds_still)):
                continue
            if axes < 0:
                axes = buffered_axes(instr[0])
            if not steps_evenly(instr[0], k, axes):
                if copies is None:
                    copies, written = [], []
                    memcpy(forward, views, instr.nop * sizeof(View*))
                if k < instr.nin:
                    t = in_order(views[k], space, views[instr.nin] if overwrites else NULL)
                else:
                    t = output_in_order(instr, space, views, k)
                    written.append((tensor_on(views[k]), t))
                    instr.overwrites |= 1 << (k - instr.nin)
                copies.append(t)
                forward[k] = &t.v
        if copies is not None:
            set_space(instr[0], space[0], forward)
            for k in range(instr.nop):
                set_operand(instr, k, forward[k])
    for k in range(instr.nin, instr.nop):
        instr.bytes += n * views[k].itemsize()
        if overwrites:
            instr.overwrites |= 1 << (k - instr.nin)
    instr.cost_ns = 30 + n * instr.kernel.cost
    if instr.zeros and views[instr.nin].chunk.pool.zeros_at_hand(instr.bytes):
        instr.cost_ns = 5000  # two or three system calls: see MemoryPool::allocate_zeroed
    emit(instr)
    if written is not None:
        for to, t in written:
            copy_into(to, t)
    return 0


cdef Tensor tensor_on(const View* v):
    """A tensor that is this view."""
    cdef View* w = <View*>v
    cdef Tensor t = new_tensor(w.chunk, w.dtype)
    t.v.layout = w.layout
    return t


cdef Tensor output_in_order(Instr* instr, Layout* space, const View** views, int k):
    """An array for output `k`, with its elements in the order in which the operands are walked."""
    cdef View* w = <View*>views[k]
    cdef Tensor t = fresh(w.dtype, space.size(), w.chunk.device)
    t.v.layout = w.layout
    set_k_layout(t.v.layout, w.itemsize(), instr.nop, views)
    return t


cdef Tensor in_order(const View* v, Layout* space, const View* out):
    """A copy over `space`, laid out as `out` is (if given, without gaps), else in C order."""
    cdef View* w = <View*>v
    cdef View* o = <View*>out
    cdef Tensor t = empty_like_shape(w.dtype, space.ndim, space.shape(), w.chunk.device)
    if o is not NULL:
        for i in range(space.ndim):
            t.v.layout.strides()[i] = abs(o.layout.strides()[i]) // o.itemsize() * w.itemsize()
    copy_into(t, tensor_on(v))
    return t


cdef object _errstate_var = None
cdef PyObject* _errstate_seen = NULL
cdef ErrState _errstate
cdef PyObject* _logging_of = NULL  # see logging_errstate


def _find_errstate_var():
    try:
        from numpy._core.umath import _extobj_contextvar
        return _extobj_contextvar
    except ImportError:  # a private name; without it every op asks np.geterr()
        return None


_errstate_var = _find_errstate_var()
cdef enum:
    WARNS = 1          # of these
    RAISES = 2
    MOST_OUTPUTS = 32  # of one instruction
_MODES = {"ignore": 0, "warn": 1, "raise": 2, "call": 3, "print": 4, "log": 5}


cdef inline PyObject* errstate_object() noexcept:
    """What np.errstate changes the identity of: it lives in a context variable, which keeps it; NULL: not known."""
    cdef PyObject* now = NULL
    if _errstate_var is not None:
        PyContextVar_Get(_errstate_var, NULL, &now)
        if now is not NULL:
            Py_DECREF(<object>now)
    return now


cdef inline bint errstate_is_known() noexcept:
    """Whether `_errstate` is this thread's."""
    cdef PyObject* now = errstate_object()
    return now is not NULL and now == _errstate_seen


cdef bint heeds(int flags) noexcept:
    """Whether one of these flags is more than an underflow, which NumPy's default ignores: then NumPy or an instruction
    has to do again what raised it, so that it is judged."""
    return flags != 0 and (flags != kUnder or not errstate_is_known() or _errstate.under != IGNORE)


cdef bint flagged(bint x87=False) noexcept:
    """... of those that are up now, which are cleared."""
    return heeds(take_flags(x87))


cdef ErrState current_errstate() except *:
    global _errstate_seen, _errstate, _logging_of
    cdef PyObject* at = errstate_object()
    cdef PyObject* before
    cdef ErrState found
    if at is not NULL and at == _errstate_seen:
        return _errstate
    now = None if at is NULL else <object>at
    modes = np.geterr()
    found.divide = _MODES[modes["divide"]]
    found.over = _MODES[modes["over"]]
    found.under = _MODES[modes["under"]]
    found.invalid = _MODES[modes["invalid"]]
    found.handler = handler_number() if {"call", "log"} & set(modes.values()) else 0
    if now is not None:
        # All at once, after the last of Python. Held, so that the address can't come to mean another state.
        before = _errstate_seen
        Py_INCREF(now)
        _errstate = found
        _errstate_seen = <PyObject*>now
        _logging_of = NULL
        if before is not NULL:
            Py_DECREF(<object>before)
    return found


cdef int emit(Instr* instr) except -1:
    """Runs the instruction now if it is tiny and ready, else records it. Takes it over."""
    cdef Recorder* rec = _recorder
    cdef bint naive = rec.engine().policy() == NAIVE
    cdef RecorderFull full
    cdef int k
    cdef Status status
    cdef list held = None
    cdef Held used, outs, exported
    instr.has_refs = False
    try:
        if rec.engine().stopped():
            raise RuntimeError("the engine is stopped: call start() before using arrays")
        for k in range(instr.nop):
            if instr.ops[k].chunk is not NULL and instr.ops[k].chunk.deleted.load():
                raise ValueError("the variable has been deleted")
        if instr.kernel.checks_flags:
            if errstate_is_known():
                instr.errstate = _errstate
            else:  # Python is asked, in which other threads may go on
                hold(instr, used)
                instr.errstate = current_errstate()
            if instr.kernel.warning is not NULL:
                instr.errstate.invalid = WARNS
        if rec.store().exports.load() and not capturing():
            quiesce_lent(instr, used)
        if not naive and _may_fail(instr) and not capturing() and _writes_pending(instr) and _is_caught():
            _finish_outputs(instr, used)
        # Whatever may fail comes before the tape, the versions or a program know of the instruction.
        if naive:
            outs.chunks.reserve(instr.nop)
        if rec.store().exports.load():
            exported.chunks.reserve(instr.nop)
        if capturing():
            mode().capturing.reserve(instr.nop - instr.nin)
        if _recorder.tape.scopes and recording():
            held = tape(instr)
    except BaseException:
        rec.give_back(instr)
        raise
    for k in range(instr.nin, instr.nop):
        issue(instr.ops[k].chunk, 1)
    if _gpu_services is not None:
        rec.price(instr[0])
    if capturing():
        return capture(instr)
    # A PYTHON instruction may let go of the GIL while it runs, and so must be known to the engine:
    # a tiny one is pushed, and run by its pusher (see Recorder::push_group).
    if instr.cost_ns < rec.policy.inline_ns and instr.kernel.kind != PYTHON \
            and not (naive and bulk_is_explicit()) and rec.ready(instr[0]) \
            and (naive or not (rec.joins(instr[0]) or rec.in_stretch(instr[0]))) and rec.run_inline(instr[0]):
        if naive:
            _raise_naive(instr)
        if rec.executor.runtime.any_warning.load() or _has_failed(instr):
            return _end_inline(instr)
        rec.give_back(instr)
        # A loop of failing inline ops never flushes. Finalizers may run here, which no instruction
        # that only borrows its chunks would survive.
        graveyard().sweep()
        return 0
    instr.site = sites().here()
    if instr.kernel.checks_flags or instr.kernel.kind == PYTHON:
        instr.filters = current_filters()
    cdef bint caught = not naive and _may_fail(instr) and _is_caught()
    cdef Chunk* here[MOST_OUTPUTS]
    cdef uint32_t healthy = 0  # of these, those that are arrays already
    cdef int nout = instr.nop - instr.nin
    if naive:
        for k in range(instr.nin, instr.nop):
            outs.add(instr.ops[k].chunk)
    cdef bint heals = caught or naive and not (_recorder.tape.scopes and recording()) \
        and _recorder.engine().current() is NULL
    for k in range(nout if heals else 0):
        here[k] = instr.ops[instr.nin + k].chunk
        here[k].ref()
        if here[k].readable() and here[k].error.load() is NULL:
            healthy |= 1 << k
    if exported.chunks.capacity():
        for k in range(instr.nop):
            if instr.ops[k].chunk is not NULL and instr.ops[k].chunk.exports.load():
                exported.add(instr.ops[k].chunk)
    cdef CDevice device = instr.device()  # once appended, it may have run and be gone
    cdef bint told = bulk_is_explicit()  # how many are recorded
    cdef bint decides = not naive and not told
    cdef int most = 1 if naive and not told else get_bulk()
    cdef int64_t most_ns
    cdef bint tiny = rec.is_tiny(instr[0])
    cdef double cost = instr.cost_ns  # once it is pushed, it may be gone
    full = rec.append(instr, rec.bulk_on(device, most) if decides else most, most)
    try:
        if full:
            flush(True, full == MANY and decides)
        if exported.chunks.size():
            _finish(exported.chunks)
        elif decides and tiny:
            most_ns = rec.lag()
            if most_ns and not (most_ns > 0 and no_sync_now()):
                rec.caught_up(_catch_up("tiny ops in a row", most_ns))
        elif decides and rec.in_vain(cost):
            _catch_up("loops that are new each time", <int64_t>(4 * rec.policy.flush_ns))
        if rec.over_budget(device):
            _throttle(device)
        if naive:
            try:
                _raise_outs(outs.chunks)
            except BaseException:
                _heal(here, nout if heals else 0, healthy)
                raise
        if caught:
            _raise_here(here, nout, healthy)
        elif naive:
            _give_naive()
    finally:
        for k in range(nout if heals else 0):
            here[k].unref()
    return 0


cdef int hold(Instr* instr, Held& held) except -1:
    """Before the GIL is let go of: other threads go on meanwhile, and may give an array of ours other memory."""
    for k in range(instr.nop):
        if instr.ops[k].chunk is not NULL:
            held.add(instr.ops[k].chunk)
    return 0


cdef int quiesce_lent(Instr* instr, Held& held) except -1:
    """Waits for what others may have launched on memory of GPUs that the instruction uses."""
    cdef vector[Chunk*] lent
    for k in range(instr.nop):
        if instr.ops[k].chunk is not NULL and instr.ops[k].chunk.exports.load() \
                and instr.ops[k].chunk.device.has_streams():
            lent.push_back(instr.ops[k].chunk)
    if not lent.size():
        return 0
    hold(instr, held)
    return quiesce(lent)


cdef int quiesce(vector[Chunk*]& lent) except -1:
    """Waits for all that was launched on the GPUs of these chunks, by whomever."""
    cdef set done = set()
    for c in lent:
        if c.device.id not in done:
            done.add(c.device.id)
            quiesce_gpu(c.device.id)
    return 0


# -- an error or a warning that the program waits for: a `try` or a `with` stands around the line
#
# Anywhere else it comes at the wait for a result. There it would come too late: the block would be over.


cdef bint _may_fail(Instr* instr) noexcept:
    """Whether the values may make an error, or a warning that somebody collects."""
    cdef const Kernel* k = instr.kernel
    cdef ErrState* e = &instr.errstate
    if k.kind == PYTHON or k.gathers or k.check is not NULL or k.invalid is not NULL:
        return True
    if not k.checks_flags:
        return False
    if RAISES in (e.divide, e.over, e.under, e.invalid):
        return True
    return instr.filters & (MAY_RAISE | LOGS) and WARNS in (e.divide, e.over, e.under, e.invalid)


cdef bint _is_caught() noexcept:
    return not no_sync_now() and not bulk_is_explicit() and not (_recorder.tape.scopes and recording()) \
        and _recorder.engine().current() is NULL and handlers_around()


cdef bint _writes_pending(Instr* instr) noexcept:
    cdef int k
    for k in range(instr.nin, instr.nop):
        if not instr.ops[k].chunk.readable():
            return True
    return False


cdef int _finish_outputs(Instr* instr, Held& held) except -1:
    """Waits for arrays that the instruction will write: an error that they hold then is its own."""
    cdef int k
    hold(instr, held)
    flush(False)
    for k in range(instr.nin, instr.nop):
        _engine.wait_var(instr.ops[k].chunk, False)
    return 0


cdef int _raise_here(Chunk** outs, int nout, uint32_t healthy) except -1:
    """Waits for what was recorded just now. What was written in place is as NumPy leaves it, and not poisoned."""
    cdef _Place place = place_of("an op inside try or with")
    cdef int k
    place.count += 1
    start = time.perf_counter_ns()
    try:
        flush(False)
        for k in range(nout):
            _engine.wait_var(outs[k], False)
    finally:
        _spend(place, time.perf_counter_ns() - start)
        _heal(outs, nout, healthy)
    if _recorder.executor.runtime.any_warning.load():
        give_warnings()
    return 0


cdef int _heal(Chunk** outs, int nout, uint32_t healthy) noexcept:
    """Takes the error from what was healthy before it: whoever was told of it may go on with the array."""
    cdef int k
    for k in range(nout):
        if healthy >> k & 1:
            _recorder.engine().set_error(outs[k], NULL)
    return 0


cdef bint _has_failed(Instr* instr) noexcept:
    cdef int k
    for k in range(instr.nin, instr.nop):
        if instr.ops[k].chunk.error.load() is not NULL:
            return True
    return False


cdef int _end_inline(Instr* instr) except -1:
    """Ends an instruction that ran inline, and failed, or after which there are warnings to be given."""
    cdef CError* e
    cdef CError* failure = NULL
    cdef int k
    cdef bint caught = (_has_failed(instr) or current_filters() & LOGS) and _is_caught()
    for k in range(instr.nin, instr.nop if caught else instr.nin):
        e = _recorder.engine().error_of(instr.ops[k].chunk)
        if e is NULL:
            continue
        if e.op == instr.kernel.name and e.site == sites().here():  # its own, not an input's
            _recorder.engine().set_error(instr.ops[k].chunk, NULL)
        if failure is not NULL:
            failure.unref()
        failure = e
    _recorder.give_back(instr)
    graveyard().sweep()
    raise_error(failure)
    if caught and _recorder.executor.runtime.any_warning.load():
        give_warnings()
    elif _recorder.engine().policy() == NAIVE:
        _give_naive()
    return 0


cdef int _give_naive() except -1:
    """Each line has run when it returns: its warnings don't wait for a line that asks for values."""
    if _recorder.executor.runtime.any_warning.load() and not bulk_is_explicit() \
            and _recorder.engine().current() is NULL:
        give_warnings()
    return 0


cdef int _raise_naive(Instr* instr) except -1:
    cdef CError* e
    cdef int j
    for k in range(instr.nin, instr.nop):
        e = _recorder.engine().error_of(instr.ops[k].chunk)
        if e is not NULL:
            if e.op == instr.kernel.name and e.site == sites().here() and not (_recorder.tape.scopes and recording()):
                for j in range(instr.nin, instr.nop):  # its own, not an input's: see _heal
                    _recorder.engine().set_error(instr.ops[j].chunk, NULL)
            _recorder.give_back(instr)
            raise_error(e)
    return 0


cdef int _raise_outs(vector[Chunk*]& outs) except -1:
    cdef CError* e = NULL
    for c in outs:
        if e is NULL and not bulk_is_explicit():
            e = _recorder.engine().error_of(c)
    return raise_error(e)


cdef int _finish(vector[Chunk*]& chunks) except -1:
    """Waits for all uses of memory that others can touch, before they get the chance."""
    cdef CEngine* e = _recorder.engine()
    cdef Status status = OK
    cdef int64_t profiled = e.now() if e.profiling() else 0
    flush(False)
    interrupt = []
    cdef void* arg = <void*>interrupt
    for c in chunks:
        if status == OK:
            with nogil:
                status = e.wait(c, True, poll_signals, arg)
            if status == SELF_WAIT:  # an op that uses the memory itself pushed this one
                status = OK
    note_wait(e, "memory that others can touch", profiled)
    return check_status(status, interrupt)


cdef bint _catch_up(str what, int64_t most_ns) except -1:
    """Runs what is open, and waits for all, but no longer than ``most_ns`` (-1: without a limit); whether it was in time."""
    flush(False)
    return _run_down(0, 0, what, most_ns)


cdef int finish_open() except -1:
    """Runs what is open, if that is all that is pending, and little (`nearly_done`)."""
    if _recorder.nearly_done() and not bulk_is_explicit() and _recorder.engine().current() is NULL:
        _catch_up("operands of a call", -1)
    return 0


cdef int _throttle(const CDevice& device) except -1:
    # Half of it, so that what is recorded next is a segment, not an op at a time.
    flush(True)
    _run_down(_recorder.budget(device) // 2, _recorder.max_pending_ops, "too far ahead", -1)
    return 0


cdef bint _run_down(int64_t max_bytes, int64_t max_ops, str what, int64_t most_ns) except -1:
    """Helps until no more than so much is pending, or for so long (-1: without a limit); whether it was in time."""
    cdef CEngine* e = _recorder.engine()
    cdef int64_t profiled = e.now() if e.profiling() else 0
    cdef Status status
    interrupt = []
    cdef void* arg = <void*>interrupt
    with nogil:
        status = e.throttle(max_bytes, max_ops, poll_signals, arg, most_ns)
    note_wait(e, intern_name(what.encode()), profiled)
    if status == TIMEOUT:
        return False
    check_status(status, interrupt)
    return True


cdef int _make_room() except -1:
    flush(True)
    _run_down(0, 0, "no memory is left", -1)
    with nogil:
        _recorder.engine().await_releases()  # what has run is let go of a moment later
    return 0


cdef int flush(bint wake, bint rounds = False) except -1:
    """Pushes the open segment; `wake` is false if the caller waits at once, and helps."""
    graveyard().sweep()
    step_aside()
    return check_status(_recorder.flush(wake, ITS_ROUNDS if rounds else ALL_OF_IT), None)


cdef int _flush_hook() except -1:
    return flush(True)


def _forked():
    _recorder.forked()
