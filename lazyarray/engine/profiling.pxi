# Profiling: the lines that push, the waits, and the engine's own profile as dicts.


# Never freed: a profile may be read at exit.
cdef Sites* _sites = new Sites(f"{os.path.dirname(os.path.dirname(__file__))}{os.sep}".encode())


cdef Sites* sites() noexcept:
    return _sites


def pass_over(str folder):
    """Has the lines of files in the folder passed over where a user's line is looked for."""
    _sites.pass_over(os.path.join(folder, "").encode())


# What catches in a `with`, and in the functions of test tools that call one.
_CATCHERS = frozenset("""
    raises assertRaises assertRaisesRegex assertRaisesRegexp assert_raises assert_raises_regex suppress handle
    warns assertWarns assertWarnsRegex assert_warns suppress_warnings ExitStack
""".split())
_CATCHING = frozenset({"record"})  # catch_warnings(record=True)

# What no operation raises for the values that it meets: an `except` of these alone isn't waited for.
_OTHER_ERRORS = frozenset("""
    KeyboardInterrupt SystemExit GeneratorExit StopIteration StopAsyncIteration CancelledError
    ImportError ModuleNotFoundError NameError AttributeError SyntaxError EOFError
    OSError IOError FileNotFoundError FileExistsError PermissionError BrokenPipeError ConnectionError
    TimeoutError CalledProcessError JSONDecodeError UnicodeDecodeError UnicodeError
""".split())


cdef Handlers* _new_handlers() except NULL:
    cdef HandlerOps ops
    ops.push_exc_info, ops.with_except_start = _opmap["PUSH_EXC_INFO"], _opmap["WITH_EXCEPT_START"]
    ops.check_exc_match, ops.check_eg_match = _opmap["CHECK_EXC_MATCH"], _opmap["CHECK_EG_MATCH"]
    ops.pop_top = _opmap["POP_TOP"]
    ops.extended_arg, ops.load_name = _opmap["EXTENDED_ARG"], _opmap["LOAD_NAME"]
    ops.load_global, ops.load_attr = _opmap["LOAD_GLOBAL"], _opmap["LOAD_ATTR"]
    ops.load_method, ops.kw_names = _opmap.get("LOAD_METHOD", -1), _opmap.get("KW_NAMES", -1)
    ops.load_const, ops.build_tuple, ops.reraise = _opmap["LOAD_CONST"], _opmap["BUILD_TUPLE"], _opmap["RERAISE"]
    ops.jump_if_false = _opmap.get("POP_JUMP_FORWARD_IF_FALSE", _opmap.get("POP_JUMP_IF_FALSE", -1))  # since 3.12
    package, standard = os.path.dirname(os.path.dirname(__file__)), os.path.dirname(os.__file__)
    return new Handlers(f"{package}{os.sep}".encode(), f"{standard}{os.sep}".encode(), ops, _CATCHERS,
                        _CATCHING, _OTHER_ERRORS)


cdef Handlers* _handlers = _new_handlers()


cdef bint handlers_around() noexcept:
    return _handlers.around()


cdef uint32_t _here() noexcept nogil:
    return _sites.here()  # whoever asks has the GIL


interpreter().here = _here
interpreter().refer = refer_to
interpreter().release = release
interpreter().copy_context = copy_of_context


def native_files():
    """What file names of native functions begin with in tracebacks: of modules, and of what these include."""
    try:
        raise ImportError
    except ImportError as exc:
        name = exc.__traceback__.tb_frame.f_code.co_filename  # as the build called Cython
        return "lazyarray/", name[:name.rindex("engine/")]


cdef str site_text(uint32_t site):
    """``file:line in function`` of where something was pushed."""
    if not site:
        return "an unknown line"
    file, line, function = <object>_sites.place(site)
    return f"{file}:{line} in {function}"


def user_line():
    """The number of the user's line that runs now."""
    return _sites.here()


def line_text(uint32_t number):
    """``file:line in function`` of such a number."""
    return site_text(number)


cdef int64_t wait_starts(CEngine* c) noexcept:
    """The time, where waits are profiled; else 0."""
    return c.now() if c.profiling() else 0


cdef void note_wait(CEngine* c, const char* name, int64_t start) noexcept:
    """Notes a wait that began at ``start`` (0: it isn't profiled) and ends now, with the user's line."""
    cdef ProfileSpan s
    if start == 0:
        return
    s.end = c.now()
    s.start = start
    s.kind = SPAN_WAIT
    s.name = name
    s.thread = this_thread()
    s.worker = c.current_worker()
    s.site = _sites.here()
    c.profile().add(s)


cdef list _profile_dicts(CEngine* c):
    cdef vector[ProfileBlockPtr] blocks = c.profile().take()
    cdef ProfileEvent* t
    cdef size_t i, k
    out = []
    for i in range(blocks.size()):
        for k in range(blocks[i].get().ops.size()):
            t = &blocks[i].get().ops[k]
            out.append({"name": t.name.decode(), "seq": t.seq, "queued": t.queued,
                        "ready": t.ready, "start": t.start, "end": t.end, "worker": t.worker,
                        "skipped": t.skipped, "device": (t.device.kind, t.device.id)})
    return out
