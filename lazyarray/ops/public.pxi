# Functions of the public namespace: what becomes of a call before it is recorded.


ctypedef object (*objectcall)(PyObject*, PyObject**, size_t, PyObject*)


cdef enum:
    _DEEPEST = 64  # axes that an array of NumPy's may have


cdef bint _symbols = False  # whether there may be any


def expect_symbols():
    """From now on arguments may be symbols: objects with a ``__lazyarray_function__``."""
    global _symbols
    _symbols = True


cdef frozenset _CREATING = frozenset([getattr(np, name) for name in (
    "arange array asanyarray asarray ascontiguousarray asfortranarray empty eye frombuffer fromfile fromfunction "
    "fromiter fromstring full genfromtxt identity loadtxt ones require tri zeros").split()])


cdef class Public:
    """A function of the public namespace, which is NumPy's own, ``host``, for what lazyarray doesn't hold.

    Graphs know it by the name ``op``: a call with symbols builds a node, and one in a trace is noted. "": they don't.
    """

    cdef readonly object recorded, host
    cdef readonly str op  # None: of what only passes a call on
    cdef readonly bint writes  # to its first argument, and gives None
    cdef bint asks  # its first argument's class
    cdef bint dispatches  # NumPy asks the classes of all arguments
    cdef bint creates  # NumPy asks the class of ``like``
    cdef bint gives_back  # an array of ours that is all it is given
    cdef int owner_at  # the place of the argument whose method NumPy's function calls, or -1
    cdef int out_at  # the place of ``out`` among its arguments, or -1
    cdef vectorcallfunc called
    cdef object __weakref__
    cdef dict __dict__

    def __init__(self, recorded, host, str module, str op=None, bint writes=False):
        self.recorded, self.host, self.writes = recorded, host, writes
        self.asks = host is not None and host in _asking
        self.dispatches = type(host) is type(np.append)
        self.creates = host is not None and host in _CREATING
        self.gives_back = host is not None and host in (np.asarray, np.asanyarray)
        self.owner_at = -1 if host not in _by_method else 1 if host is np.compress else 0
        self.op = f"{module}.{recorded.__name__}".partition(".")[2] if op is None else op or None
        code = getattr(recorded, "__code__", None)
        places = () if code is None else code.co_varnames[:code.co_argcount]
        self.out_at = places.index("out") if "out" in places else -1
        self.called = <vectorcallfunc>call_public
        functools.update_wrapper(self, recorded, COPIED)
        self.__module__ = module

    @property
    def __doc__(self):
        # In each class: a class's own docstring would hide an inherited one.
        return documented(self.recorded.__doc__, self.recorded)

    @property
    def _implementation(self):
        if not self.dispatches:
            raise AttributeError(f"{self!r} asks no classes")
        return Implementation(self)

    def __call__(self, *args, **kwargs):
        return self.recorded(*args, **kwargs)  # seen by inspect only: see call_by_vector

    # As NumPy's own functions are to inspect and pydoc: a routine, which is no method.
    def __get__(self, instance, owner):
        return self

    def __repr__(self):
        return f"<function {self.__name__} of {self.__module__}>"

    def __reduce__(self):
        return self.__name__


cdef PyObject* call_public(PyObject* function, PyObject** args, size_t flags, PyObject* names) except NULL:
    return called(<Public>function, <vectorcallfunc>recorded_call, args, flags, names)


cdef inline PyObject* called(Public self, vectorcallfunc own, PyObject** args, size_t flags, PyObject* names) except NULL:
    """A call: what another class answers, NumPy's function, or ``own`` way."""
    cdef PyObject* result
    if names is NULL and PyVectorcall_NARGS(flags) == 1 and Py_TYPE(<object>args[0]) == type_of_arrays():
        if self.gives_back and not (_symbols or recorder().captures):
            Py_INCREF(<object>args[0])
            return args[0]
        result = own(<PyObject*>self, args, flags, names)  # there is no other class
        return result if result is not NULL else handed_over(result, self.host, args, flags, names)
    if not self.writes and (is_hosts_alone(self.host, args, flags, names)
                            or (begins_unheld(args, flags) or self.creates and asks_unheld(args, flags, names))
                            and is_unhelds_alone(self.host, args, flags, names)):
        return of_hosts(self.host, args, flags, names)
    if self.dispatches and is_answered(args, flags, names) \
            or self.asks and PyVectorcall_NARGS(flags) and asks_its_class(<object>args[0]):
        if not passes(self):
            return asked_of_class(self, args, flags, names)
    elif self.creates and names is not NULL and is_like(args, flags, names):
        return asked_of_like(self, args, flags, names)
    if derived_made and 0 <= self.owner_at < PyVectorcall_NARGS(flags) and is_derived(<object>args[self.owner_at]):
        return of_method(self.host, args, flags, names)
    return handed_over(own(<PyObject*>self, args, flags, names), self.host, args, flags, names)


cdef PyObject* recorded_call(PyObject* function, PyObject** args, size_t flags, PyObject* names) noexcept:
    """The function's own call, what builds a node instead, or what notes it; NULL with an error raised."""
    cdef Public self = <Public>function
    if (_symbols or recorder().captures) and self.op is not None:
        return (<vectorcallfunc>seen_call)(<PyObject*>self, args, flags, names)
    return own_call(<PyObject*>self, args, flags, names)


cdef object seen_call(PyObject* function, PyObject** args, size_t flags, PyObject* names):
    """A call where there may be symbols, or some thread captures."""
    cdef Public self = <Public>function
    cdef Py_ssize_t i, n = PyVectorcall_NARGS(flags), every = n if names is NULL else n + len(<tuple>names)
    cdef PyObject* notes = noting()
    symbol = None
    if _symbols:
        for i in range(every):
            symbol = symbol_in(<object>args[i], 0)
            if symbol is not None:
                break
    if symbol is None and notes is NULL:
        return (<objectcall>own_call)(function, args, flags, names)
    given = tuple_of(args, n)
    named = dict_of(args, n, names)
    if symbol is not None and self.writes:
        raise TypeError(f"{self.op} changes what it is given, and a Symbol is a value: nothing is written")
    if symbol is not None:
        return symbol.__lazyarray_function__(self.op, given, named)
    watch = <object>notes
    watch.begin(self.op, given, named)
    result = None
    try:
        result = (<objectcall>own_call)(function, args, flags, names)
        return result
    finally:
        watch.end(result)


cdef object symbol_in(object o, int depth):
    """The first symbol that an argument is, or that lists, tuples, dicts and slices in it hold; else None."""
    t = type(o)
    if t is dict:
        o = tuple((<dict>o).values())
    elif t is slice:
        o = o.start, o.stop, o.step
    elif t is not list and not isinstance(o, tuple):
        return o if is_symbol(o) else None
    if depth < _DEEPEST:
        for part in o:
            found = symbol_in(part, depth + 1)
            if found is not None:
                return found
    return None


cdef PyObject* own_call(PyObject* function, PyObject** args, size_t flags, PyObject* names) noexcept:
    """The function's own call, or one that writes into an array of NumPy's; NULL with an error raised."""
    cdef Public self = <Public>function
    cdef Py_ssize_t n = PyVectorcall_NARGS(flags)
    if names is NULL and (self.out_at < 0 or n <= self.out_at):
        return raw_vectorcall(self.recorded, args, flags, names)
    return (<vectorcallfunc>call_with_out)(<PyObject*>self, args, flags, names)


cdef object call_with_out(PyObject* function, PyObject** args, size_t flags, PyObject* names):
    """A call that may have an ``out``, or arguments that are as if they were not given."""
    cdef Public self = <Public>function
    cdef Py_ssize_t i, n = PyVectorcall_NARGS(flags)
    for i in range(0 if names is NULL else len(<tuple>names)):
        if <object>args[n + i] is _no_value:
            given = dict_of(args, n, names)
            return self.recorded(*tuple_of(args, n), **{name: o for name, o in given.items() if o is not _no_value})
    out = out_among(self, args, n, names)
    if out is None or not of_numpys(out):
        return PyObject_Vectorcall(self.recorded, args, flags, names)
    return _taught["into_numpys"](self.recorded, out, tuple_of(args, n), dict_of(args, n, names))


cdef object out_among(Public self, PyObject** args, Py_ssize_t n, PyObject* names):
    """What ``out`` of the call is; None without one."""
    cdef Py_ssize_t i
    if names is not NULL:
        for i in range(len(<tuple>names)):
            if (<tuple>names)[i] == "out":
                return <object>args[n + i]
    return <object>args[self.out_at] if 0 <= self.out_at < n else None


def public(str op, *, bint writes=False, host=None):
    """A decorator: makes a function that NDArray calls by itself known to graphs, as ``op``."""
    return lambda function: Public(function, host, "lazyarray", op, writes)
