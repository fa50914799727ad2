# Floating-point warnings: judged by the filters that `warnings` had when the op was recorded, given
# at the next wait.


cdef extern from "Python.h":
    int PyGC_Disable()
    int PyGC_Enable()
    Py_ssize_t Py_REFCNT(PyObject*)


cdef enum:
    MAY_RAISE = 1      # in the number of a state of the filters: a warning may be an error there
    LOGS = 2           # ... a catch_warnings(record=True) takes them
    MOST_STATES = 512
    MOST_LOGS = 64


cdef class _Filters:
    """The filters of RuntimeWarnings at some moment; of a ``catch_warnings(record=True)`` also its list."""

    cdef tuple rules
    cdef uint32_t number, plain  # plain: of the same rules without a list; 0 if they show all
    cdef list home, log

    cdef str action(self, str text, str module, int line):
        """What becomes of a RuntimeWarning."""
        for action, message, _, of, at in self.rules:
            if (at == 0 or at == line) and _matches(message, text) and _matches(of, module):
                return action
        return warnings.defaultaction

    cdef bint ended(self):
        """Whether the block that recorded is over: then nobody else holds its filters."""
        return Py_REFCNT(<PyObject*>self.home) == 1 + (self.home is _filters_seen)


cdef bint _matches(object pattern, str text):
    if pattern is None:
        return True
    return pattern == text if isinstance(pattern, str) else pattern.match(text) is not None


cdef dict _warnings_dict = warnings.__dict__
# Python 3.14 may keep the filters in a context variable.
cdef object _warnings_context = warnings._get_context if getattr(sys.flags, "context_aware_warnings", 0) else None

cdef dict _states = {}         # by number
cdef dict _plain_states = {}   # by rules
cdef list _logging_states = []
cdef uint32_t _last_state = 0

# What the filters were when they were looked at last. They change in place at their ends only.
cdef list _filters_seen = None
cdef Py_ssize_t _seen_length = -1
cdef object _seen_first = None, _seen_last = None
cdef uint32_t _seen_number = 0


cdef inline list filters_now():
    if _warnings_context is None:
        return <list>_warnings_dict["filters"]
    return _warnings_context()._filters


cdef uint32_t current_filters() noexcept:
    """The number of the filters' state; 0 if they are nothing to be kept."""
    global _filters_seen, _seen_length, _seen_first, _seen_last, _seen_number
    cdef list now
    cdef Py_ssize_t n
    try:
        now = filters_now()
        n = len(now)
        if now is _filters_seen and n == _seen_length \
                and (n == 0 or now[0] is _seen_first and now[n - 1] is _seen_last):
            return _seen_number
        _seen_number = noticed(now).number
        _filters_seen, _seen_length = now, n
        _seen_first, _seen_last = (now[0], now[n - 1]) if n else (None, None)
        return _seen_number
    except Exception:  # filters of somebody's own making
        return 0


cdef uint32_t plain_filters() noexcept:
    """The same for what runs again: of equal filters it is one number."""
    cdef _Filters state = _states.get(current_filters())
    return 0 if state is None else state.plain


cdef _Filters noticed(list now):
    """The state that the filters are in."""
    cdef _Filters state
    rules = tuple([rule for rule in now if issubclass(RuntimeWarning, rule[2])])
    if _warnings_context is None:
        log = getattr(warnings._showwarnmsg_impl, "__self__", None)  # a list's append
    else:
        log = _warnings_context().log
    cdef _Filters plain = _plain_states.get(rules)
    if plain is None:
        if len(_plain_states) >= MOST_STATES:
            _states.clear()
            _plain_states.clear()
            _logging_states.clear()
        plain = _plain_states[rules] = new_state(rules, False)
        if any([rule[0] in ("ignore", "error") for rule in rules]):
            plain.plain = plain.number
    if not isinstance(log, list):
        return plain
    for state in _logging_states:
        if state.home is now and state.log is log and state.rules == rules:
            return state
    if len(_logging_states) >= MOST_LOGS:
        state = _logging_states.pop(0)
        del _states[state.number]
    state = new_state(rules, True)
    state.plain, state.home, state.log = plain.plain, now, log
    _logging_states.append(state)
    return state


cdef _Filters new_state(tuple rules, bint logs):
    global _last_state
    cdef _Filters state = _Filters.__new__(_Filters)
    _last_state += 1
    state.rules = rules
    raises = warnings.defaultaction == "error" or any([rule[0] == "error" for rule in rules])
    state.number = (_last_state << 2) | (MAY_RAISE if raises else 0) | (LOGS if logs else 0)
    _states[state.number] = state
    return state


cdef uint32_t _filters_of_inline() noexcept nogil:
    """The filters for an instruction that runs as it is made: it only borrows its arrays."""
    cdef uint32_t number
    cdef int collects
    with gil:
        collects = PyGC_Disable()
        number = current_filters()
        if collects:
            PyGC_Enable()
    return number


cdef list texts_of(const FpWarning* w):
    if not w.flags:
        return [w.op.decode()]  # a kernel's own
    # In NumPy's order.
    return [f"{flag_text(flag).decode()} encountered in {w.op.decode()}" for flag in (1, 2, 4, 8)
            if w.flags & flag]


cdef tuple place_of_warning(const FpWarning* w):
    """File, line, module's name and its registry of what was shown."""
    if not w.site:
        return "<unknown>", 0, "<unknown>", None
    file, line, _ = <object>sites().place(w.site)
    name = module_of(file)
    if name is None:
        name = "__main__"
        if getattr(sys.modules.get(name), "__file__", None) is not None:
            return file, line, file.removesuffix(".py"), registry_of(file)
    module = sys.modules.get(name)
    return file, line, name, None if module is None else module.__dict__.setdefault("__warningregistry__", {})


cdef enum:
    MOST_FILES = 1024

# What was shown of code that is no module's, by its file: it has a registry where it runs, which nobody knows here.
cdef dict _registries = {}


cdef dict registry_of(object file):
    if file not in _registries and len(_registries) >= MOST_FILES:
        _registries.clear()
    return _registries.setdefault(file, {})


# By files: the name of the module that one is, None for none, and of how many modules then. All of them are looked
# through, 17 us where NumPy takes 1 for a warning.
cdef dict _files = {}


cdef object module_of(object file):
    name, counted = _files.get(file, (None, -1))
    if counted < 0 or (len(sys.modules) != counted if name is None
                       else getattr(sys.modules.get(name), "__file__", None) != file):
        if len(_files) >= MOST_FILES:
            _files.clear()
        name = None
        for candidate, module in sys.modules.copy().items():  # one step: other threads import
            if getattr(module, "__file__", None) == file:
                name = candidate
                break
        _files[file] = name, len(sys.modules)
    return name


cdef CError* _refuse(Instr& instr, const FpWarning& w) noexcept nogil:
    """The op's error, if a filter makes one of its warnings an error; else null."""
    cdef CError* e = NULL
    cdef int collects
    adopt_worker_thread()
    with gil:
        collects = 0 if instr.has_refs else PyGC_Disable()
        try:
            e = refused(instr, &w)
        except BaseException as exc:
            e = error_from_exception(exc, instr.kernel.name, instr.site)
        if collects:
            PyGC_Enable()
    return e


cdef CError* refused(Instr& instr, const FpWarning* w) except? NULL:
    cdef _Filters state = _states.get(w.filters)
    if state is None:
        return NULL
    file, line, module, _ = place_of_warning(w)
    for text in texts_of(w):
        if state.action(text, module, line) == "error":
            return error_from_exception(RuntimeWarning(text), instr.kernel.name, instr.site)
    return NULL


cdef int give_warnings() except -1:
    """Gives the warnings of the ops that have run."""
    cdef vector[FpWarning] pending
    cdef Runtime* runtime = &_recorder.executor.runtime
    runtime.warn_lock.lock()
    pending.swap(runtime.warnings)
    runtime.any_warning.store(False)
    runtime.warn_lock.unlock()
    todo = []
    for w in pending:
        place = place_of_warning(&w)
        todo += [(w.filters, text, place, w.mode, w.flags, w.handler) for text in texts_of(&w)]
    cdef list failed = []
    cdef set shown = set()
    for number, text, place, mode, flags, handler in todo:
        try:
            if mode == WARN or not told_otherwise(mode, text, flags, _handlers.get(handler)):
                give_warning(number, text, place, shown)
        except Exception as exc:  # the others are not lost for it
            failed.append(exc)
    if failed:
        raise failed[0]
    return 0


# What np.seterrcall and np.errstate(call=...) knew as an op was recorded, by numbers: the last ones.
cdef dict _handlers = {}
cdef uint32_t _handlers_made = 0
_MOST_HANDLERS = 1024


cdef uint32_t handler_number() except? 0:
    """The number of the handler that is known now; 0: there is none."""
    global _handlers_made
    handler = np.geterrcall()
    if handler is None:
        return 0
    for number, known in list(_handlers.items()):
        if known is handler:
            return number
    if len(_handlers) == _MOST_HANDLERS:
        del _handlers[next(iter(_handlers))]
    _handlers_made += 1
    _handlers[_handlers_made] = handler
    return _handlers_made


cdef bint told_otherwise(int mode, str text, int flags, handler) except -1:
    """Tells of a flag as np.errstate has it; false: nobody is there to be told."""
    if mode == PRINT:
        print(f"Warning: {text}", file=sys.stderr)
        return True
    if handler is None:
        return False
    if mode == CALL:
        handler(text.partition(" encountered in ")[0], flags)
    else:
        handler.write(f"Warning: {text}\n")
    return True


cdef int give_warning(uint32_t number, str text, tuple place, set shown) except -1:
    cdef _Filters state = _states.get(number), now
    file, line, module, registry = place
    if state is None or number == current_filters():
        warnings.warn_explicit(text, RuntimeWarning, file, line, module, registry)
        return 0
    action = state.action(text, module, line)
    if action == "ignore":
        return 0
    if action != "always" and (text, file, line) in shown:
        return 0
    shown.add((text, file, line))
    if state.log is not None and state.ended():
        state.log.append(warnings.WarningMessage(RuntimeWarning(text), RuntimeWarning, file, line))
        return 0
    now = _states.get(current_filters())
    if now is not None and now.action(text, module, line) in ("ignore", "error"):
        warnings.showwarning(RuntimeWarning(text), RuntimeWarning, file, line)
    else:
        warnings.warn_explicit(text, RuntimeWarning, file, line, module, registry)
    return 0
