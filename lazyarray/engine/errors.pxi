# Errors between native code and Python: notes, tracebacks, raising.


cdef object _native_types = {
    <int>RUNTIME: RuntimeError,
    <int>VALUE: ValueError,
    <int>MEMORY: MemoryError,
    <int>FLOATING_POINT: FloatingPointError,
    <int>ZERO_DIVISION: ZeroDivisionError,
    <int>OVERFLOW_: OverflowError,
    <int>INDEX: IndexError,
}


cdef object _site_note(const char* name, uint32_t site):
    what = f"op {name.decode()!r}" if name is not NULL and name[0] else "an op"
    return f"lazyarray: {what} pushed at {site_text(site)}" if site else f"lazyarray: {what}"


cdef extern from *:
    """
    #include <frameobject.h>
    static PyObject* new_frame(PyObject* code, PyObject* globals) {
      return (PyObject*)PyFrame_New(PyThreadState_Get(), (PyCodeObject*)code, globals, NULL);
    }
    """
    object new_frame(object code, object globals)


cdef bytes _NOTHING = bytes([_opmap["NOP"], 0])


cdef object _without_locals(object traceback):
    """A traceback that shows the same lines, of frames without variables.

    A frame holds what its function closes over, its locals and its callers'. Among these is, as a rule,
    the array that the error will poison, which will hold the error: a cycle that no collector sees.
    """
    steps, known, last = [], {}, None
    while traceback is not None:
        steps.append(traceback)
        traceback = traceback.tb_next
    for step in reversed(steps):
        frame = step.tb_frame
        code = frame.f_code
        if code not in known:
            names = {name: frame.f_globals[name] for name in ("__name__", "__file__", "__loader__", "__spec__")
                     if name in frame.f_globals}  # where the text of the lines is found
            # As long as it was, so that its table of positions holds; the instructions name variables.
            known[code] = new_frame(code.replace(
                co_argcount=0, co_posonlyargcount=0, co_kwonlyargcount=0, co_nlocals=0, co_flags=0,
                co_varnames=(), co_freevars=(), co_cellvars=(), co_exceptiontable=b"",
                co_code=_NOTHING * (len(code.co_code) // 2)), names)
        last = types.TracebackType(last, known[code], step.tb_lasti, step.tb_lineno)
    return last


cdef Py_ssize_t _MOST_LINKS = 1000  # of a chain: each takes a frame here


cdef object _kept(object exc, dict known):
    """What an error keeps of an exception: a copy of it, and of those that it came from, without frames."""
    if exc is None or id(exc) in known or len(known) == _MOST_LINKS:
        return known.get(id(exc))
    new = known[id(exc)] = _copy_of(exc)  # the user may go on with it; itself if it can't be copied
    context, cause, quiet = exc.__context__, exc.__cause__, exc.__suppress_context__
    new.__traceback__ = _without_locals(exc.__traceback__)
    new.__context__ = _kept(context, known)
    new.__cause__ = _kept(cause, known)
    new.__suppress_context__ = quiet
    if isinstance(new, AttributeError):
        new.obj = None  # Python's own doing: the object that lacks the attribute
    if isinstance(new, BaseExceptionGroup):
        for part in new.exceptions:
            part.__traceback__ = _without_locals(part.__traceback__)
    return new


cdef CError* error_from_exception(object exc, const char* name, uint32_t site) noexcept:
    """A new native error that holds `exc`, its traceback, and a note of where it was pushed.

    Without memory for that it is one that says so: a failure must never come to look like success.
    """
    cdef CError* e = NULL
    try:
        exc = _kept(exc, {})
        try:
            note = _site_note(name, site)
            if note not in getattr(exc, "__notes__", ()):
                exc.add_note(note)
        except Exception:
            pass
        held = (exc, exc.__traceback__, exc.__context__)
        e = new CError(RUNTIME, string())
        Py_INCREF(held)
        e.exception = <void*>held
        return e
    except BaseException:
        return CError.no_memory()


cdef tuple _exception_of(CError* e):
    """What to raise, its traceback and its context.

    A new exception each time: what is raised holds the frames of the waiter, whose locals hold
    the poisoned array, which holds its error: a cycle that no collector sees.
    """
    if e.exception is not NULL:
        exc, tb, context = <object><PyObject*>e.exception
        return _copy_of(exc), tb, context
    if e.kind == LINALG:
        from numpy.linalg import LinAlgError
        exc = LinAlgError(e.message.decode())
    else:
        exc = _native_types[<int>e.kind](e.message.decode())
    exc.add_note(_site_note(e.op, e.site))
    return exc, None, None


cdef dict _fields = {}  # exception type -> its attributes that are not in __dict__


cdef object _copy_of(object exc):
    """A copy of an exception made without its type's own __new__ and __init__; itself if that can't be."""
    kind = type(exc)
    fields = _fields.get(kind)
    if fields is None:
        fields = _fields[kind] = [
            name for c in kind.__mro__ for name, what in vars(c).items()
            if isinstance(what, (types.MemberDescriptorType, types.GetSetDescriptorType))
            and not name.startswith("__")
        ]
    try:
        # Of the types it derives from, the first that is no class statement's.
        builtin = next(c for c in kind.__mro__ if not c.__flags__ & Py_TPFLAGS_HEAPTYPE)
        new = builtin.__new__(kind, *exc.args)
        if type(new) is not kind:
            return exc
        for name in fields:
            # No step of Python's own here: a signal's handler would raise in it, and that be taken for a failure.
            try:
                value = getattr(exc, name)
                # None may stand for "not set", and to set it would be something else.
                if getattr(new, name, fields) is not value:
                    setattr(new, name, value)
            except (AttributeError, TypeError):
                pass
        vars(new).update(vars(exc))
        if hasattr(exc, "__notes__"):
            new.__notes__ = list(exc.__notes__)
        new.__cause__ = exc.__cause__
        new.__suppress_context__ = exc.__suppress_context__
    except Exception:
        return exc
    return new


cdef int raise_error(CError* e, bint seen=True) except -1:
    """Raises what `e` stands for, consuming the reference; does nothing for NULL.

    `seen`: wait_for_all need not raise it again.
    """
    if e is NULL:
        return 0
    if seen:
        e.seen.store(True)
    try:
        exc, tb, context = _exception_of(e)
    finally:
        e.unref()
    # As it was when the op failed, not with the exception that this waiter happens to handle as its
    # context.
    try:
        raise exc.with_traceback(tb)
    finally:
        exc.__context__ = context


cdef int check_status(Status status, object interrupt) except -1:
    if status == OK:
        return 0
    if status == INTERRUPTED:
        raise interrupt[0] if interrupt else KeyboardInterrupt()
    if status == SELF_WAIT:
        raise RuntimeError(
            "this wait can never end: inside an op, it waits for the op itself "
            "(its own output, wait_for_all, or work that depends on it)"
        )
    if status == STOPPED:
        raise RuntimeError("the engine is stopped: call start() before pushing")
    if status == DELETED:
        raise ValueError("the variable has been deleted")
    if status == FOREIGN:
        raise ValueError("the variable belongs to another engine")
    if status == BROKEN:
        raise RuntimeError(
            "this process was forked while engine work was in flight that could not be drained; "
            "its arrays' contents are unknown here"
        )
    if status == NO_MEMORY:
        raise MemoryError("out of memory")
    raise TimeoutError("engine wait timed out")


cdef list _late = []
cdef object get_ident = threading.get_ident, _main = threading.main_thread().ident


cdef cbool poll_signals(void* arg) noexcept nogil:
    # `arg` is a list that receives the exception of a signal handler.
    with gil:
        try:
            PyErr_CheckSignals()
            if _late and get_ident() == _main:
                raise _late.pop(0)
        except BaseException as exc:
            (<list>arg).append(exc)
            return False
        return True


cdef int _raise_late(void* unused) except -1:
    """In the main thread, between two lines of whatever it runs."""
    if _late:
        raise _late.pop(0)
    return 0


cdef int raise_later(object exc) except -1:
    """Has the main thread raise, at its next line, what a signal handler raised where nobody could hear of it."""
    _late.append(exc)
    Py_AddPendingCall(_raise_late, NULL)
    return 0
