# Calls of the direct tier: functions and methods that NumPy runs at once on copies (direct.pxi), and what
# writes to an array, by a copy that replaces its memory.


ctypedef object (*Quick)(PyObject**, Py_ssize_t)  # a native way for the plainest arguments; None for others


# Arguments that are no business of NumPy's, or that it would write to.
cdef frozenset _LONG_WAY = frozenset(("out", "ctx", "device", "like"))


# Functions with native ways that read vectors alone, and whose results do not tell how these lay.
cdef frozenset _OF_VALUES = frozenset((
    "allclose", "append", "argmax", "argmin", "argsort", "array_equal", "average", "bincount", "count_nonzero", "cumprod",
    "cumsum", "delete", "diff", "gradient", "histogram", "insert", "interp", "isclose", "nonzero", "norm", "repeat",
    "sort", "tile", "trapezoid", "unique", "where"))


# What has NumPy write to what it is given.
cdef frozenset _WRITTEN = frozenset(("inplace", "out", "overwrite_input"))


# How large the results are depends on the values, or they are text: each call counts as a wait, whose value is there.
cdef frozenset _WAITING = frozenset((
    "argwhere", "bincount", "extract", "flatnonzero", "format_float_positional", "format_float_scientific", "intersect1d", "nonzero", "polymul", "setdiff1d",
    "setxor1d", "union1d", "unique", "unique_all", "unique_counts", "unique_inverse"))


# NumPy multiplies a matrix by itself in another way: with views of one memory these go the long way, unless one is a
# vector.
cdef frozenset _PRODUCTS = frozenset("dot einsum inner multi_dot tensordot".split())


cdef class Direct(Public):
    """A function of the public namespace, or a method of arrays, which is run at once where that is possible.

    ``recorded`` is the function itself, ``numpys`` NumPy's of the same meaning (None: its own way is as
    fast); ``most`` is how many bytes its operands may have, where that is less than the policy's
    ``direct_bytes``, ``largest`` the largest integer among them. Where NumPy's is but a call of an array's
    method, ``method`` is that method's name. ``of_lists``: for arrays the way of ``recorded`` is as fast.
    ``hosted``: as what ``recorded`` records is a call of NumPy's, too, calls of ``hosted_of`` arguments (-1: all)
    may have operands of so many bytes, or of the policy's ``hosted_bytes``, if that is less. ``linear`` tells of
    the first two arguments whether the work is as large as the operands: then they may have the latter; and
    ``times`` as much, as the function does little for each element. ``tables``: a bit for each argument in which it
    only looks up places, so that this one's size counts for little. ``bare``: what is called in the place of
    ``numpys`` where no argument is given by name. ``some``: NumPy's fails arrays of nothing; such go the long way.
    """

    cdef readonly object numpys
    cdef object bare
    cdef readonly str method
    cdef readonly bint of_lists
    cdef tuple parameters  # their names, interned: what may be given by place, then what only by name
    cdef tuple defaults    # the last parameters' values
    cdef Py_ssize_t by_place, place_alone  # how many may be given by place, and how many must be
    cdef Py_ssize_t first_written  # from this place on arguments may have NumPy write to others
    cdef bint apart  # whether its operands may be copies apart from each other where they share memory
    cdef readonly npy_intp hosted
    cdef readonly int hosted_of
    cdef npy_intp times
    cdef int tables
    cdef object linear
    cdef bint of_values, some
    cdef bint wraps  # indices, which NumPy (2.4) wraps step by step, in years or never: the long way
    cdef npy_intp most, largest
    cdef str waits
    cdef Quick quick

    def __init__(self, recorded, numpys, str module, npy_intp most=PY_SSIZE_T_MAX,
                 npy_intp largest=_DIRECT_LENGTH, *, str method=None, bint writes=False,
                 bint of_lists=False, npy_intp hosted=0, int hosted_of=-1, linear=None, npy_intp times=1,
                 int tables=0, bare=None, bint some=False, host=None):
        super().__init__(recorded, host, module, None, writes)
        self.some = some
        self.hosted, self.hosted_of, self.linear, self.times = hosted, hosted_of, linear, times
        self.numpys, self.most, self.largest, self.tables = numpys, most, largest, tables
        self.bare = numpys if bare is None else bare
        self.method = None if method is None else sys.intern(method)
        self.of_lists = of_lists
        self.take_parameters(recorded)
        self.apart = not writes and recorded.__name__ not in _PRODUCTS
        self.wraps = recorded.__name__ in ("take", "choose", "put")
        self.of_values = not writes and recorded.__name__ in _OF_VALUES
        self.waits = recorded.__name__ + "()" if recorded.__name__ in _WAITING else None
        for name in (f"{module}.{recorded.__name__}", recorded.__qualname__.replace("Methods", "NDArray"), recorded.__name__):
            if self.quick is NULL:
                self.quick = quick_of(name)
        if recorded.__name__ == "sort" and not writes:  # the method of that name sorts in place
            self.quick = quick_sort
        self.called = <vectorcallfunc>call_direct

    cdef void take_parameters(self, recorded) except *:
        code = getattr(recorded, "__code__", None)
        self.parameters = self.defaults = ()
        self.by_place = self.first_written = PY_SSIZE_T_MAX
        if code is None:
            return
        names = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount]
        alone = recorded.__kwdefaults__ or {}
        self.parameters = tuple([sys.intern(name) for name in names])
        self.defaults = (recorded.__defaults__ or ()) + tuple([alone[name] for name in names[code.co_argcount:]])
        self.by_place = PY_SSIZE_T_MAX if code.co_flags & inspect.CO_VARARGS else code.co_argcount
        self.place_alone = code.co_posonlyargcount
        for i in range(code.co_argcount):
            if names[i] in _WRITTEN:
                self.first_written = min(self.first_written, i)

    @property
    def __doc__(self):
        return documented(self.recorded.__doc__, self.recorded)


cdef class DirectMethod(Direct):
    """A method of arrays: run at once where that is possible, by a native way or by NumPy's ``method``.

    ``direct``: else its calls are passed on. What its docstring does not say of arguments, result and errors, the
    function of its name says.
    """

    cdef vectorcallfunc passed_on, of_arrays

    def __init__(self, recorded, str method, bint writes, bint direct=True, **limits):
        name = recorded.__name__
        super().__init__(recorded, None, "lazyarray", method=method, writes=writes, **limits,
                         host=getattr(np.ndarray, name) if direct and not writes else None)
        self.op = None
        self.__qualname__ = f"NDArray.{name}"
        if not direct:
            self.passed_on = PyVectorcall_Function(recorded)
            self.called = <vectorcallfunc>pass_on
        if name in _asked_methods:
            self.of_arrays, self.called = self.called, <vectorcallfunc>call_method

    @property
    def __doc__(self):
        spaces = (_public.namespace, _public.namespace.autograd)
        like = next((f for s in spaces if (f := getattr(s, self.__name__, None)) is not None), None)
        return documented(self.recorded.__doc__, self.recorded, like)

    def __get__(self, instance, owner):
        return self if instance is None else PyMethod_New(self, instance)

    def __repr__(self):
        return f"<method {self.__name__!r} of 'lazyarray.NDArray' objects>"

    def __reduce__(self):
        return getattr, (type_object(type_of_arrays()), self.__name__)


cdef PyObject* pass_on(PyObject* function, PyObject** args, size_t flags, PyObject* names) except NULL:
    cdef DirectMethod self = <DirectMethod>function
    return self.passed_on(<PyObject*>self.recorded, args, flags, names)


cdef PyObject* call_method(PyObject* function, PyObject** args, size_t flags, PyObject* names) except NULL:
    """A call of ``ndarray.argmax(x)`` by name: no function asks a derived class for a method of its own again."""
    cdef DirectMethod self = <DirectMethod>function
    if derived_made and PyVectorcall_NARGS(flags) and is_derived(<object>args[0]):
        found = PyObject_Vectorcall(getattr(_derived, self.__name__), args, flags, names)
        Py_INCREF(found)
        return <PyObject*>found
    return self.of_arrays(function, args, flags, names)


cdef Direct _like = Direct.__new__(Direct)
call_by_vector(<PyTypeObject*>Public, <char*>&_like.called - <char*><PyObject*>_like, False)
call_by_vector(<PyTypeObject*>Direct, <char*>&_like.called - <char*><PyObject*>_like, False)
call_by_vector(<PyTypeObject*>DirectMethod, <char*>&_like.called - <char*><PyObject*>_like, True)
_like = None


cdef Ufunc _any_ufunc = Ufunc.__new__(Ufunc)
cdef ternaryfunc _ufunc_of_tuple = call_by_vector(
    <PyTypeObject*>Ufunc, <char*>&_any_ufunc.called - <char*><PyObject*>_any_ufunc, False)
_any_ufunc = None


cdef PyObject* wrong_call(PyObject* row, PyObject* args, PyObject* keywords) except NULL:
    """A row's call has failed: where its arguments don't fit, the error names the function, as Python does."""
    cdef PyObject* raised = taken_error(TypeError)
    if raised is NULL:
        return NULL
    error = <object>raised
    Py_DECREF(error)
    if str(error).startswith("__call__()"):
        like = signature_alone(<object>row)
        like(*<object>args, **({} if keywords is NULL else <object>keywords))
    raise error


cdef object signature_alone(row):
    """A function of the row's name and parameters that does nothing."""
    signature = inspect.signature(row)
    parameters = [p if p.default is p.empty else p.replace(default=None)
                  for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
    scope = {}
    exec(f"def {row.name}{signature.replace(parameters=parameters)}: pass", scope)
    return scope[row.name]


failing_reduction(<PyTypeObject*>Reduction, <ternaryfunc>wrong_call)
failing_choice(<PyTypeObject*>Choice, <ternaryfunc>wrong_call)
failing_product(<PyTypeObject*>MatMul, <ternaryfunc>wrong_call)


cdef PyObject* call_row(PyObject* function, PyObject** args, size_t flags, PyObject* names) except NULL:
    """An elementwise op's call, or NumPy's."""
    if is_hosts_alone((<Ufunc>function).ufunc, args, flags, names) \
            or begins_unheld(args, flags) and is_unhelds_alone((<Ufunc>function).ufunc, args, flags, names):
        return of_hosts((<Ufunc>function).ufunc, args, flags, names)
    if derived_made:
        found = overridden(<Ufunc>function, (<Ufunc>function).nin, args, flags, names)
        if found is not NotImplemented:
            Py_INCREF(found)
            return <PyObject*>found
    return handed_over((<vectorcallfunc>call_ufunc)(function, args, flags, names), (<Ufunc>function).ufunc,
                       args, flags, names)


cdef object call_ufunc(PyObject* function, PyObject** args, size_t flags, PyObject* names):
    """An elementwise op's call: of its operands alone, or with what `Ufunc.__call__` knows."""
    cdef Ufunc self = <Ufunc>function
    cdef Py_ssize_t n = PyVectorcall_NARGS(flags)
    cdef Tensor out = None
    cdef bint plain = self.nout == 1 and (n == self.nin or n == self.nin + 1 and names is NULL)
    if plain and (n > self.nin or names is not NULL):
        plain = (names is NULL or len(<tuple>names) == 1 and (<tuple>names)[0] == "out") and is_tensor(<object>args[self.nin])
        out = sole_out(<object>args[self.nin]) if plain else None
    if plain and not is_symbol(<object>args[0]) and (self.nin == 1 or not is_symbol(<object>args[1])):
        if self.nin == 1:
            return handed(self.unary(<object>args[0], out))
        return handed(self.binary(<object>args[0], <object>args[1], out))
    return call_packed(_ufunc_of_tuple, function, args, n, names)


cdef object type_object(PyTypeObject* t):
    return <object><PyObject*>t


def set_method(t, str name, *, bint writes=False, bint native=False, **limits):
    """Makes a method of a native class one that is run at once where that is possible; ``native``: not by NumPy's."""
    owner = next(c for c in t.__mro__ if name in vars(c))
    method = DirectMethod(owner.__dict__[name], None if native else name, writes, **limits)
    put_in_type(<PyTypeObject*>owner, name, method)


def tell_methods(t):
    """Makes the other methods of a native class such that help() tells all of them; calls are passed on."""
    kind = type(t.item)
    for owner in t.__mro__:
        for name, thing in list(vars(owner).items()):
            if name[0] != "_" and type(thing) is kind:
                put_in_type(<PyTypeObject*>owner, name, DirectMethod(thing, None, False, False))


hinted = set()


def set_hint(t, str name, hint):
    """Puts an attribute that only raises among those of a native class's first base, and its name in `hinted`."""
    hinted.add(name)
    put_in_type(<PyTypeObject*>t.__base__, name, hint)


cdef PyObject* call_direct(PyObject* function, PyObject** args, size_t flags, PyObject* names) except NULL:
    return called(<Public>function, <vectorcallfunc>call_or_record, args, flags, names)


cdef PyObject* call_or_record(PyObject* function, PyObject** args, size_t flags, PyObject* names) except NULL:
    cdef Direct self = <Direct>function
    cdef Py_ssize_t n = PyVectorcall_NARGS(flags)
    if self.writes:
        if self.quick is not NULL and names is NULL and self.quick(args, n) is not None \
                or written_by(self, args, n, names):
            Py_INCREF(None)
            return <PyObject*>None
    elif recorder().policy.direct_bytes and may_run_now():
        if self.hosted:  # else it may be recorded as what fuses with that
            have_at_hand(args, n if names is NULL else n + len(<tuple>names), self.times)
        result = None if self.quick is NULL else quickly(self, args, n, names)
        if result is None:
            result = run_at_once(self, args, n, names)
        if result is not None:
            Py_INCREF(result)
            return <PyObject*>result
    return recorded_call(function, args, flags, names)


cdef int have_at_hand(PyObject** args, Py_ssize_t n, npy_intp times) except -1:
    """Where an argument that may go to NumPy at the call is pending, runs what is open, if that is little."""
    cdef Py_ssize_t i
    cdef Tensor t
    for i in range(n):
        if is_tensor(<object>args[i]):
            t = <Tensor>args[i]
            if not t.v.at_hand() and t.v.on_host() and t.v.layout.size() * t.v.itemsize() <= times * most_bytes(True):
                return finish_open()
    return 0


cdef bint take_operands(Given* given, PyObject** args, Py_ssize_t n, bint apart=False) except -1:
    """Makes NumPy's operands of these arguments, but for those that are made; whether all can be such.

    One array stays one; ``apart``: matrices of one memory may be copies apart from each other.
    """
    cdef Py_ssize_t i, k
    if n > _DIRECT_ARGUMENTS:
        return False
    for i in range(given.count, n):
        found = None
        if is_tensor(<object>args[i]):
            for k in range(i):
                if args[k] == args[i]:
                    found = <object>given.operands[k]
                elif not apart and is_tensor(<object>args[k]) and (<Tensor>args[k]).v.same_memory((<Tensor>args[i]).v) \
                        and (<Tensor>args[k]).v.layout.ndim > 1 and (<Tensor>args[i]).v.layout.ndim > 1:
                    return False
        if found is None:
            given.scan.table = given.scan.tables >> i & 1
            found = numpys_operand(<object>args[i], &given.scan, 0)
        if not given.scan.fits:
            return False
        Py_INCREF(found)
        given.operands[given.count] = <PyObject*>found
        given.count += 1
    if not given.scan.arrays:
        given.scan.device = current_device()
        return given.scan.device == cpu0()
    return True


cdef void set_limits(Scan* scan, npy_intp most, npy_intp largest) noexcept:
    """What NumPy makes of the operands is to stay small, too."""
    scan.left = min(scan.left, most)
    scan.largest = largest
    if largest < _DIRECT_LENGTH:
        scan.most = _DIRECT_RESULT / max(scan.left, 1)


cdef void as_hosted(Scan* scan, npy_intp times) noexcept:
    """Lets operands be as large as those of calls that NumPy makes either way; large ones are lent."""
    scan.left = max(scan.left, times * recorder().policy.hosted_bytes)
    scan.lends = recorder().policy.lent_bytes


cdef void give_back(Given* given) noexcept:
    cdef Py_ssize_t i
    for i in range(given.count):
        Py_XDECREF(given.operands[i])


cdef object run_at_once(Direct self, PyObject** args, Py_ssize_t n, PyObject* names):
    """The call's result where its native way knew none, or None if it is to go the long way."""
    cdef Given given
    cdef Py_ssize_t i, every = n
    cdef npy_intp hosted
    if self.of_values and self.quick is not NULL and writes_nothing(self, n, names):
        result = quickly_of_packed(self, args, n, names)
        if result is not None:
            return result
    if names is not NULL:
        every += len(<tuple>names)
        for i in range(n, every):
            if (<tuple>names)[i - n] in _LONG_WAY and <object>args[i] is not None:
                return None
    if self.wraps and is_to_wrap(args, every) or self.some and (not n or is_nothing(<object>args[0])):
        return None
    cdef bint as_method = self.method is not None and n and is_tensor(<object>args[0])
    if not as_method and self.numpys is None or self.of_lists and n and is_tensor(<object>args[0]):
        return None
    begin_scan(&given.scan)
    if self.hosted_of < 0 or self.hosted_of == every:
        hosted = recorder().policy.hosted_bytes * self.times
        if self.linear is None or n < 2 or not self.linear(<object>args[0], <object>args[1]):
            hosted = min(hosted, self.hosted)
        given.scan.left = max(given.scan.left, hosted)
    set_limits(&given.scan, self.most, self.largest)
    given.scan.pure = writes_nothing(self, n, names)
    if given.scan.pure:
        given.scan.lends = recorder().policy.lent_bytes
    if names is NULL:
        given.scan.tables = self.tables
    given.count = 0
    try:
        if not take_operands(&given, args, every, self.apart):
            return None
        return answer(self.method if as_method else self.bare if names is NULL else self.numpys, as_method, &given, n, names,
                      self.waits, True)
    finally:
        give_back(&given)


cdef inline bint writes_nothing(Direct self, Py_ssize_t n, PyObject* names) except -1:
    """Whether a call has no argument that may have NumPy write to one of them."""
    return n <= self.first_written and (names is NULL or _WRITTEN.isdisjoint(<tuple>names))


cdef object quickly(Direct self, PyObject** args, Py_ssize_t n, PyObject* names):
    """What the native way gives for the call, with each argument in its parameter's place; None where it can't."""
    cdef PyObject* placed[_DIRECT_ARGUMENTS]
    cdef Py_ssize_t i, k, at, end = n, every = len(self.parameters), required = every - len(self.defaults)
    if n > self.by_place:
        return None
    if names is NULL:
        return self.quick(args, n)
    # Behind any number of arguments (*args) those by name have no places.
    if every > _DIRECT_ARGUMENTS or n > every or self.by_place == PY_SSIZE_T_MAX:
        return None
    for i in range(every):
        placed[i] = args[i] if i < n else <PyObject*>self.defaults[i - required] if i >= required else NULL
    for k in range(len(<tuple>names)):
        at = max(n, self.place_alone)
        while at < every and <PyObject*>self.parameters[at] != <PyObject*>(<tuple>names)[k]:
            at += 1
        if at == every:
            return None
        placed[at] = args[n + k]
        end = max(end, at + 1)
    for i in range(required):
        if placed[i] is NULL:
            return None
    return self.quick(placed, end)


cdef object quickly_of_packed(Direct self, PyObject** args, Py_ssize_t n, PyObject* names):
    """The same with copies in the place of small vectors whose elements don't lie in a row; None where there are none."""
    cdef PyObject* packed[_DIRECT_ARGUMENTS]
    cdef list copies = []
    cdef Py_ssize_t i, every = n if names is NULL else n + len(<tuple>names)
    cdef Tensor t
    if every > _DIRECT_ARGUMENTS:
        return None
    for i in range(every):
        packed[i] = args[i]
        if Py_TYPE(<object>args[i]) != type_of_arrays():
            continue
        t = <Tensor>args[i]
        if t.v.layout.ndim == 1 and not contiguous(t):
            t = ordered_copy(t, False) if t.v.layout.size() * t.v.itemsize() <= most_bytes(False) else None
            if t is None:
                return None
            copies.append(t)
            packed[i] = <PyObject*>t
    return quickly(self, packed, n, names) if copies else None


cdef bint is_nothing(object o) except -1:
    """Whether an operand has no elements, or is none."""
    if is_tensor(o):
        return (<Tensor>o).v.layout.size() == 0
    if not cnp.PyArray_CheckExact(o):
        try:
            o = np.asarray(o)
        except Exception as exc:
            return refused(exc) is None
    return cnp.PyArray_SIZE(o) == 0


cdef bint is_to_wrap(PyObject** args, Py_ssize_t every) except -1:
    """Whether a call's arguments say ``mode="wrap"``."""
    cdef Py_ssize_t i
    for i in range(every):
        if type(<object>args[i]) is str and <str>args[i] == "wrap":
            return True
    return False


cdef struct Asked:
    Given* given
    PyObject* function
    bint as_method
    Py_ssize_t n
    PyObject* names
    PyObject* result


cdef int ask(void* arg) except -1:
    cdef Asked* now = <Asked*>arg
    if now.as_method:
        result = PyObject_VectorcallMethod(<object>now.function, now.given.operands, now.n, now.names)
    else:
        result = PyObject_Vectorcall(<object>now.function, now.given.operands, now.n, now.names)
    Py_INCREF(result)
    now.result = <PyObject*>result
    return 0


cdef object refused(object exc):
    """None: NumPy refuses the call, which is to go the long way. What a handler raised there is no refusal."""
    if from_elsewhere(exc):
        raise exc
    return None


cdef object answer(object function, bint as_method, Given* given, Py_ssize_t n, PyObject* names, str waits,
                   bint or_numpys=False):
    """What NumPy gives for the operands, as ours; None where it gives nothing that can be so.

    ``or_numpys``: or as NumPy's, a new array of strings and the like.
    """
    cdef bint fits = True
    cdef Asked asked
    asked.given, asked.function, asked.as_method, asked.n, asked.names = given, <PyObject*>function, as_method, n, names
    try:
        if not given.scan.loans:
            ask(&asked)
        elif not while_held(given.scan.lent, given.scan.loans, ask, &asked):
            return None
    except Exception as exc:
        return refused(exc)
    result = <object>asked.result
    Py_DECREF(result)
    found = as_ours(result, given, &fits)
    if fits and waits is not None:
        seen_as_wait(waits)
    if not fits and or_numpys and is_unheld(result) and cnp.PyArray_BASE(<cnp.ndarray>result) is NULL \
            and not (given.scan.arrays and cnp.PyArray_TYPE(<cnp.ndarray>result) == cnp.NPY_OBJECT):
        return _taught["note"](result)  # (an array of objects holds ours themselves)
    return found if fits else None


cdef object direct_call(object function, tuple args, npy_intp most=PY_SSIZE_T_MAX,
                        npy_intp largest=_DIRECT_LENGTH, npy_intp hosted=0, tuple names=None):
    """``function(*args)``, one of NumPy's, at once, or None where it is to go the long way.

    ``hosted``: operands may have so many times the policy's ``hosted_bytes``. ``names``: those of the last arguments.
    """
    cdef Py_ssize_t n = len(args)
    cdef PyObject* named = NULL
    if names is not None:
        n -= len(names)
        named = <PyObject*>names
    cdef Given given
    if not recorder().policy.direct_bytes or not may_run_now():
        return None
    begin_scan(&given.scan)
    if hosted:
        have_at_hand(items_of(args), len(args), hosted)
        as_hosted(&given.scan, hosted)
    set_limits(&given.scan, most, largest)
    given.count = 0
    try:
        if not take_operands(&given, items_of(args), len(args)):
            return None
        return answer(function, False, &given, n, named, None)
    finally:
        give_back(&given)


cdef object direct_elementwise(object function, tuple args):
    """`direct_call`, for other rooms."""
    return direct_call(function, args)


def at_once(function, tuple args, npy_intp most=PY_SSIZE_T_MAX, npy_intp largest=_DIRECT_LENGTH, bint hosted=False):
    """``function(*args)``, one of NumPy's, at once; None where it is to go the long way.

    The limits are those of :class:`Direct`; ``hosted``: operands may be as large as there.
    """
    return direct_call(function, args, most, largest, hosted)


cdef Tensor direct_get(Tensor x, object key):
    """``x[key]``, or None where it isn't that simple."""
    return direct_call(_get_item, (x, key), PY_SSIZE_T_MAX, _DIRECT_LENGTH, 1)


def _get_item(a, key):
    return a[key]


cdef bint write_at_once(object function, bint as_method, PyObject** args, Py_ssize_t n, PyObject* names,
                        npy_intp most, npy_intp hosted=0) except -1:
    """A call that writes to its first argument, on a copy that this becomes; whether that was possible."""
    cdef Given given
    cdef Asked asked
    cdef Tensor x
    cdef Chunk* c
    cdef Layout before
    cdef cnp.ndarray copy
    cdef uint64_t issued
    cdef Py_ssize_t every = n if names is NULL else n + len(<tuple>names)
    if n == 0 or not recorder().policy.direct_bytes or not may_run_now() or not is_tensor(<object>args[0]):
        return False
    x = <Tensor>args[0]
    if unwritable(x) or is_scalar(x):
        return False
    c = x.v.chunk
    if not at_hand(c, True) or x.v.layout.size() * x.v.itemsize() > _COPIED_IN_AND_OUT \
            or not contiguous(x) and x.v.layout.size() > _COPIED_WITH_THE_GIL:
        return False
    begin_scan(&given.scan)
    given.scan.left = min(max(given.scan.left, min(hosted, recorder().policy.hosted_bytes)), most)
    given.count = 0
    c.ref()  # NumPy may let go of the GIL, and another thread resize x
    try:
        before = x.v.layout
        if not take_operands(&given, args, 1):
            return False
        if hosted:
            given.scan.lends = recorder().policy.lent_bytes
        if not take_operands(&given, args, every):
            return False
        copy = <cnp.ndarray>given.operands[0]
        cnp.PyArray_ENABLEFLAGS(copy, NPY_ARRAY_WRITEABLE)
        issued = c.issued
        asked.given, asked.function, asked.as_method, asked.n, asked.names = &given, <PyObject*>function, as_method, n, names
        try:
            if not given.scan.loans:
                ask(&asked)
            elif not while_held(given.scan.lent, given.scan.loans, ask, &asked):
                return False
        except Exception as exc:
            refused(exc)
            return False
        result = <object>asked.result
        Py_DECREF(result)
        if result is not None:
            return False
        # Another thread may have written, or given x another shape or memory.
        if c.issued != issued or not at_hand(c, True) or x.v.chunk != c or not x.v.layout.same_view(before) \
                or x.v.itemsize() != cnp.PyArray_ITEMSIZE(copy):
            return False
        if contiguous(x):
            memcpy(c.data + x.v.layout.offset, cnp.PyArray_DATA(copy), cnp.PyArray_NBYTES(copy))
        else:
            view = numpy_view(&x.v, True)
            view[...] = copy
        changed(c)
        return True
    finally:
        give_back(&given)
        c.unref()


cdef bint written_by(Direct self, PyObject** args, Py_ssize_t n, PyObject* names) except -1:
    if self.wraps and is_to_wrap(args, n + (0 if names is NULL else len(<tuple>names))):
        return False
    return write_at_once(self.numpys if self.method is None else self.method, self.method is not None,
                         args, n, names, self.most, self.hosted)


cdef bint direct_write(object function, tuple args) except -1:
    """``function(*args)``, one of NumPy's, which writes to the first of them; whether that was possible."""
    return write_at_once(function, False, items_of(args), len(args), NULL, PY_SSIZE_T_MAX, PY_SSIZE_T_MAX)


cdef enum:
    _COPIED_WITH_THE_GIL = 500  # elements: so many NumPy copies without letting go of it
    _COPIED_IN_AND_OUT = 1 << 17  # bytes: that takes as long as recording the call


def _set_item(a, key, value):
    PyObject_SetItem(a, key, value)


cdef bint direct_set(Tensor x, object key, object value) except -1:
    """``x[key] = value``; whether that was possible."""
    return direct_write(_set_item, (x, key, value))
