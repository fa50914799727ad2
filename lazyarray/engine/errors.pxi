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


cdef CError* error_from_exception(object exc, const char* name, uint32_t site) noexcept:
    """A new native error that holds `exc`, its traceback, and a note of where it was pushed.

    Without memory for that it is one that says so: a failure must never come to look like success.
    """
    cdef CError* e = NULL
    try:
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
    """A copy of an exception made without its __init__; itself if its type refuses that."""
    kind = type(exc)
    fields = _fields.get(kind)
    if fields is None:
        fields = _fields[kind] = [
            name for c in kind.__mro__ for name, what in vars(c).items()
            if isinstance(what, (types.MemberDescriptorType, types.GetSetDescriptorType))
            and not name.startswith("__")
        ]
    try:
        new = kind.__new__(kind, *exc.args)
        if type(new) is not kind:
            return exc
        for name in fields:
            with contextlib.suppress(AttributeError, TypeError):
                value = getattr(exc, name)
                # None may stand for "not set", and to set it would be something else.
                if getattr(new, name, fields) is not value:
                    setattr(new, name, value)
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


cdef cbool poll_signals(void* arg) noexcept nogil:
    # `arg` is a list that receives the exception of a signal handler.
    with gil:
        try:
            PyErr_CheckSignals()
        except BaseException as exc:
            (<list>arg).append(exc)
            return False
        return True
