# Other libraries' functions that take NDArrays: what is called in their place (_adapters/).


cdef class Lent:
    """A function of another library's, or a method: called with what ``take`` gives of its arguments.

    It is native, so that no frame of Python's comes between the caller and the function: libraries look at
    their caller's (where to tell a warning, what a name in a query is), and count references. A ``take``
    whose ``arrays_only`` is true changes NDArrays and what holds some; it is not asked about all else.
    """

    cdef object function, take
    cdef bint arrays_only
    cdef vectorcallfunc called
    cdef object __weakref__
    cdef dict __dict__

    def __init__(self, function, take):
        self.function, self.take = function, take
        self.arrays_only = getattr(take, "arrays_only", False)
        self.called = <vectorcallfunc>call_lent
        functools.update_wrapper(self, function)

    def __call__(self, *args, **kwargs):
        return self.function(*args, **kwargs)  # seen by inspect only: see call_by_vector

    def __get__(self, instance, owner):
        return self if instance is None else PyMethod_New(self, instance)

    def __getattr__(self, str name):
        return getattr(self.function, name)  # __code__, __defaults__, what decorators keep there

    @property
    def __signature__(self):
        # Of a compiled __call__ inspect knows none, and not all who ask follow __wrapped__.
        return inspect.signature(self.function)

    def __repr__(self):
        return f"<function {self.__qualname__}>"

    def __reduce__(self):
        return self.__qualname__


cdef enum:
    _LENT_ARGUMENTS = 32


cdef PyObject* call_lent(PyObject* function, PyObject** args, size_t flags, PyObject* names) except NULL:
    cdef Lent self = <Lent>function
    cdef Py_ssize_t i, n = PyVectorcall_NARGS(flags)
    cdef PyObject* given[_LENT_ARGUMENTS]
    cdef list held = None  # what was taken; all else is borrowed: pandas counts references
    if names is not NULL:
        n += len(<tuple>names)
    if n > _LENT_ARGUMENTS:
        o = call_packed(<ternaryfunc>lent_of_many, function, args, PyVectorcall_NARGS(flags), names)
        Py_INCREF(o)
        return <PyObject*>o
    for i in range(n):
        o = <object>args[i]
        given[i] = args[i]
        t = type(o)
        if t is str or t is int or t is float or t is bool or o is None or t is np.ndarray or isinstance(o, type):
            continue
        if self.arrays_only and not isinstance(o, Tensor) and t is not tuple and t is not list and t is not dict \
                and t is not slice:
            continue
        found = self.take(o)
        if found is not o:
            if held is None:
                held = []
            held.append(found)
            given[i] = <PyObject*>found
    o = found = t = None
    # Raw: an error goes on without a line of this file in its traceback.
    if held is None:
        return raw_vectorcall(self.function, args, flags, names)
    return raw_vectorcall(self.function, given, PyVectorcall_NARGS(flags), names)


cdef object lent_of_many(function, args, PyObject* keywords):
    cdef Lent self = <Lent>function
    given = {} if keywords is NULL else <object>keywords
    return self.function(*[self.take(o) for o in args], **{key: self.take(o) for key, o in given.items()})


cdef Lent _any_lent = Lent.__new__(Lent)
call_by_vector(<PyTypeObject*>Lent, <char*>&_any_lent.called - <char*><PyObject*>_any_lent, True)
_any_lent = None
