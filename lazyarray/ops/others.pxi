# Calls that NumPy or another class answers: with what lazyarray doesn't hold, or of classes that programs derive.


cdef extern from "Python.h":
    ctypedef object (*ternaryfunc)(object, object, object)
    ctypedef PyObject* (*vectorcallfunc)(PyObject*, PyObject**, size_t, PyObject*)
    object PyObject_Vectorcall(object, PyObject**, size_t, PyObject*)
    PyObject* raw_vectorcall "PyObject_Vectorcall"(object, PyObject**, size_t, PyObject*) noexcept
    object PyObject_VectorcallMethod(object, PyObject**, size_t, PyObject*)
    object PyMethod_New(object, object)
    Py_ssize_t PyVectorcall_NARGS(size_t)
    vectorcallfunc PyVectorcall_Function(object)
    void Py_XDECREF(PyObject*)
    PyObject* _PyType_Lookup(PyTypeObject*, object) noexcept


cdef extern from "engine/types.h" namespace "lazyarray":
    int put_in_type(PyTypeObject*, object, object) except -1


cdef extern from "engine/calls.h" namespace "lazyarray":
    PyObject** items_of(object) noexcept
    PyObject* taken_error(object) noexcept
    ternaryfunc call_by_vector(PyTypeObject*, Py_ssize_t, bint)
    object call_packed(ternaryfunc, PyObject*, PyObject**, Py_ssize_t, PyObject*)
    void failing_reduction "lazyarray::Failing<0>::tell"(PyTypeObject*, ternaryfunc)
    void failing_choice "lazyarray::Failing<1>::tell"(PyTypeObject*, ternaryfunc)
    void failing_product "lazyarray::Failing<2>::tell"(PyTypeObject*, ternaryfunc)


cdef tuple tuple_of(PyObject** args, Py_ssize_t n):
    """What a call gives by place."""
    return tuple([<object>args[i] for i in range(n)])


cdef dict dict_of(PyObject** args, Py_ssize_t n, PyObject* names):
    """... and by name."""
    return {} if names is NULL else {name: <object>args[n + i] for i, name in enumerate(<tuple>names)}


cdef PyObject* handed_over(PyObject* result, object host, PyObject** args, size_t flags, PyObject* names) except NULL:
    """The result of a call; where that met what lazyarray doesn't hold, what NumPy's ``host`` gives."""
    cdef PyObject* error
    cdef Py_ssize_t n
    if result is not NULL:
        if derived_made and any_derived(host, args, flags, names):
            return of_derived(result, host, args, flags, names)
        return result
    if host is None:
        return NULL
    error = taken_error(Unheld)
    if error is NULL:
        return NULL
    n = PyVectorcall_NARGS(flags)
    why = <object>error
    Py_DECREF(why)
    if is_unhelds_alone(host, args, flags, names):
        return of_hosts(host, args, flags, names)
    found = handed(_taught["handed_over"](host, tuple_of(args, n), dict_of(args, n, names), why))
    Py_INCREF(found)
    return <PyObject*>found


cdef bint derived_made = False     # whether there are classes that programs derive from arrays
cdef object _derived = None        # the base of classes that programs derive from arrays, once there is one
cdef frozenset _keep_class = frozenset()  # NumPy's functions whose results are of their first operand's class
cdef frozenset _wrap_class = frozenset()  # ... which the class's __array_wrap__ makes
cdef frozenset _number_class = frozenset()  # ... which give numbers as numbers
cdef frozenset _drop_class = frozenset()  # ... that give arrays of no derived class
cdef frozenset _join_class = frozenset()  # ... which join arrays


def expect_derived(kind, keep, wrapped, drop, numbers, joins, wrap):
    """From now on operands may be of classes that programs derive: of ``kind``.

    ``keep`` are NumPy's functions whose results are of their first operand's class, ``wrapped`` those that the
    class's ``__array_wrap__`` makes so; of those of ``drop`` they are of no derived class,
    numbers of those of ``numbers`` are none, and those of ``joins`` join arrays.
    ``wrap`` is then the arrays' ``__array_wrap__``, which methods of such classes call.
    """
    global _derived, derived_made, _derived_own, _derived_functions, _keep_class, _wrap_class, _drop_class, _number_class, _join_class
    put_in_type(type_of_arrays(), "__array_wrap__", wrap)
    _derived, _wrap_class, _drop_class = kind, frozenset(wrapped), frozenset(drop)
    _number_class, _join_class = frozenset(numbers), frozenset(joins)
    _keep_class = _wrap_class | frozenset(keep)
    _derived_own = _PyType_Lookup(<PyTypeObject*>kind, "__array_ufunc__")
    _derived_functions = _PyType_Lookup(<PyTypeObject*>kind, "__array_function__")
    derived_made = True


def wrapper_of(tuple operands):
    """The operand whose class the result of a ufunc is of, as NumPy chooses it; None: it is of no derived one.

    The first with the greatest ``__array_priority__``; before arrays of no derived class where they are alike.
    """
    cdef double priority, greatest = 0
    cdef object found = None
    cdef bint any_yet = False, derived
    for o in operands:
        derived = is_derived(o)
        if not derived and (is_scalar(<Tensor>o) if is_tensor(o) else not cnp.PyArray_Check(o)):
            continue
        priority = priority_of(o) if derived else 0
        if not any_yet or priority > greatest or derived and found is None and priority == greatest == 0:
            any_yet, greatest, found = True, priority, o if derived else None
    return found


# The place of the operand that decides the class, of functions where it isn't the first; and what does as they do.
cdef dict _deciding = {np.compress: (1, np.take), np.extract: (1, np.take), np.apply_along_axis: (2, np.median),
                       np.linalg.solve: (1, np.linalg.inv), np.linalg.lstsq: (1, np.linalg.inv)}
# Functions whose results are of the class that an op's of their operands is of; those in which the second operand's
# goes before the first's if its priority is greater.
cdef frozenset _as_an_op = frozenset([np.kron, np.clip, np.quantile, np.percentile, np.nanquantile, np.nanpercentile,
                                      np.linspace, np.logspace, np.geomspace])
cdef frozenset _as_a_product = frozenset([np.dot, np.inner, np.correlate])


cdef object deciding_operand(object host, PyObject** args, Py_ssize_t n):
    """The argument that decides the class of a function's result; what it gives may be no array."""
    first = <object>args[0]
    if n > 1 and host in _as_an_op:
        found = wrapper_of(tuple_of(args, min(n, 3)))
        return first if found is None else found
    if n > 1 and host in _as_a_product and is_derived(<object>args[1]) and (
            priority_of(<object>args[1]) > (priority_of(first) if is_derived(first) else 0)):
        return <object>args[1]
    return first


cdef PyObject* of_derived(PyObject* result, object host, PyObject** args, size_t flags,
                          PyObject* names) except NULL:
    """The result of a call as one of the class that an operand is of, where NumPy's ``host`` gives such."""
    cdef Py_ssize_t i, n = PyVectorcall_NARGS(flags)
    cdef bint keeps
    found = decider = None
    if isinstance(host, np.ufunc):
        if names is not NULL and "subok" in <tuple>names and not <object>args[n + (<tuple>names).index("subok")]:
            return result
        if n > <Py_ssize_t>host.nin or (names is not NULL and "out" in <tuple>names):
            n = min(n, <Py_ssize_t>host.nin)
            outs = given_out(dict_of(args, PyVectorcall_NARGS(flags), names).get("out")) or given_out(
                tuple_of(args + n, PyVectorcall_NARGS(flags) - n))
            if outs:
                if not is_derived(<object>result) and type(<object>result) is not tuple:
                    return result  # what the program gave
                found = _derived._as_outputs(<object>result, host, tuple_of(args, n), outs)
                n = 0
    else:
        if host in _drop_class and is_derived(<object>result):
            found = (<object>result).view(type_object(type_of_arrays()))
        keeps = host in _keep_class
        for i in range(0 if names is NULL else len(<tuple>names)):
            if (<tuple>names)[i] == "subok":
                keeps = <object>args[n + i]
        place, like = _deciding.get(host, (n, None))
        if n > <Py_ssize_t>place and (names is NULL or "out" not in <tuple>names):
            return of_derived(result, like, args + <Py_ssize_t>place, 1, NULL)
        if host in _join_class:
            found = _derived._joined(<object>result, tuple_of(args, n), dict_of(args, n, names))
        if n and keeps and not (host in _number_class and (not is_tensor(<object>result) or is_scalar(<Tensor>result))):
            decider = deciding_operand(host, args, n)
        n = 0
    if n:  # a ufunc
        wrapper = wrapper_of(tuple_of(args, n))
        if wrapper is not None:
            found = wrapper._wrapped(<object>result, (host, tuple_of(args, n), 0))
    elif is_derived(decider):
        if names is not NULL and "out" in <tuple>names:
            return result  # what the program gave
        way = decider._wrapped if host in _wrap_class else decider._like
        found = way(<object>result)
    if found is None:
        return result
    Py_INCREF(found)
    Py_DECREF(<object>result)
    return <PyObject*>found


# NumPy's functions that only call a method of their first argument, which a derived class may have of its own.
cdef frozenset _by_method = frozenset([getattr(np, name) for name in (
    "argmax argmin argpartition argsort around choose clip compress cumprod cumsum diagonal mean nonzero put ravel repeat "
    "reshape round searchsorted squeeze std swapaxes take trace transpose var").split()])
# ... and the methods that ask no class again, those of reductions among them.
cdef frozenset _asked_methods = frozenset([f.__name__ for f in _by_method] + "all any max min prod sum".split())


cdef PyObject* of_method(object host, PyObject** args, size_t flags, PyObject* names) except NULL:
    cdef Py_ssize_t n = PyVectorcall_NARGS(flags)
    found = handed(_derived._by_method(host, tuple_of(args, n), dict_of(args, n, names)))
    Py_INCREF(found)
    return <PyObject*>found


cdef dict _AS_IF_NOT = {"axis": 0, "dtype": None, "out": None, "keepdims": False}


cdef PyObject* _derived_own = NULL  # what such classes have as __array_ufunc__ that define none


cdef PyObject* _derived_functions = NULL  # ... as __array_function__


cdef bint says_itself(object o) except -1:
    """Whether an operand's class says itself what ufuncs do (NEP 13)."""
    if is_tensor(o):
        return is_derived(o) \
            and _PyType_Lookup(Py_TYPE(o), "__array_ufunc__") != _derived_own
    return is_foreign(o)


cdef bint is_derived(object o) noexcept:
    return derived_made and is_of(o, _derived)


cdef bint any_derived(object host, PyObject** args, size_t flags, PyObject* names) except -1:
    """Whether an argument of ``host`` is of a class that a program derives, or holds such: joined arrays, outputs."""
    cdef Py_ssize_t i, n = PyVectorcall_NARGS(flags)
    cdef bint joins = host in _join_class
    for i in range(n if names is NULL else n + len(<tuple>names)):
        if holds_derived(<object>args[i], joins):
            return True
    return False


cdef bint holds_derived(object o, bint in_lists) except -1:
    if isinstance(o, tuple) or in_lists and isinstance(o, list):
        for part in o:
            if holds_derived(part, in_lists):
                return True
        return False
    return is_derived(o)


cdef bint is_told(object o) except -1:
    """The same of arrays of ours: of classes that programs derive."""
    return is_tensor(o) and says_itself(o)


def asks(*operands, bint others=False):
    """Whether a ufunc of these is asked of a class that a program derives, or of one of ``others``."""
    return any([says_itself(o) if others else is_told(o) for o in operands])


cdef tuple given_out(object out):
    """``out`` as NumPy's protocol has it: a tuple; empty where there is none."""
    if type(out) is not tuple:
        out = (out,)
    return () if all([o is None for o in <tuple>out]) else out


cdef int put_in_turn(object o, list asked) except -1:
    """Adds one of each class to those that are asked, a derived class before its base (NEP 13, NEP 18)."""
    kind = type(o)
    i = len(asked)
    for k, a in enumerate(asked):
        if kind is type(a):
            return 0
        if i > k and issubclass(kind, type(a)):
            i = k
    asked.insert(i, o)
    return 0


cdef object told_by_class(Row row, str method, tuple inputs, dict named):
    """What an operand's class says itself that a ufunc, or a method of it, gives (NEP 13); NotImplemented: none does."""
    cdef list asked = []
    cdef tuple out = given_out(named.get("out"))
    cdef bint one_of_ours = False
    refuses = None
    for o in inputs + out if out else inputs:
        if type(o) is not list and type(o) is not int and type(o) is not float and says_itself(o):
            put_in_turn(o, asked)
            one_of_ours = one_of_ours or is_tensor(o)
        elif derived_made and not is_tensor(o) and getattr(type(o), "__array_ufunc__", o) is None:
            refuses = o
    if not asked:
        return NotImplemented
    if one_of_ours and refuses is not None:
        raise TypeError(f"operand {type(refuses).__name__!r} does not support ufuncs (__array_ufunc__=None)")
    named = {name: value for name, value in named.items() if name != "out"}
    if out:
        named["out"] = out
    if one_of_ours or any([is_written_here(type(o).__array_ufunc__) for o in asked]):
        return told_in_turn(row, method, asked, inputs, named)
    return NotImplemented if method == "__call__" else getattr(row.ufunc, method)(*inputs, **named)


cdef object told_in_turn(Row row, str method, list asked, tuple inputs, dict named):
    """What the first of these classes that knows an answer says; each is told of the ufunc that its module knows."""
    known = row_of(row.ufunc)  # a copy of a row is known to nobody
    row = row if known is None else known
    for o in asked:
        way = type(o).__array_ufunc__
        if way is None:
            raise TypeError(f"operand {type(o).__name__!r} does not support ufuncs (__array_ufunc__=None)")
        found = way(o, row if is_written_here(way) else row.ufunc, method, *inputs, **named)
        if found is not NotImplemented:
            return found
    raise TypeError(f"operand type(s) all returned NotImplemented from __array_ufunc__({row!r}, {method!r}, ...): "
                    + ", ".join([repr(type(o).__name__) for o in inputs]))


def told_of(Row row, str method, tuple inputs, dict named):
    """The same for the operators and methods of classes that programs derive: ``asks`` has said so."""
    return told_by_class(row, method, inputs, named)


cdef dict told(dict given):
    """The arguments of a ufunc's method, but for those that are as if they were not given."""
    return {name: value for name, value in given.items() if name not in _AS_IF_NOT or value is not _AS_IF_NOT[name]}


cdef inline object of_class_of(object x, object result):
    """The result of a reduction of ``x``: of its class, where that is one that a program derives."""
    return x._wrapped(result) if is_derived(x) else result


cdef object overridden(Row row, Py_ssize_t nin, PyObject** args, size_t flags, PyObject* names):
    """What the class of an operand, or of ``out``, that a program derives makes of a ufunc; NotImplemented: none."""
    cdef Py_ssize_t i, n = PyVectorcall_NARGS(flags)
    cdef bint found = False
    for i in range(n if names is NULL else n + len(<tuple>names)):
        o = <object>args[i]
        if is_told(o) or type(o) is tuple and any([is_told(part) for part in <tuple>o]):
            found = True
    if not found:
        return NotImplemented
    named = dict_of(args, n, names)
    if n > nin:
        named["out"] = tuple_of(args + nin, n - nin)
    return told_by_class(row, "__call__", tuple_of(args, min(n, nin)), named)


cdef enum:
    _IN_LISTS = 100  # elements of lists whose classes are asked


cdef bint is_hosts_alone(object host, PyObject** args, size_t flags, PyObject* names) except -1:
    """Whether a call is of NumPy's matrices, masked arrays and the like, of numbers and options: it is NumPy's alone."""
    cdef Py_ssize_t i, n = PyVectorcall_NARGS(flags), named = 0 if names is NULL else len(<tuple>names)
    cdef bint found = False
    if n == 0 or host is None:
        return False
    first = <object>args[0]
    if cnp.PyArray_CheckExact(first) or is_tensor(first):
        return False
    if type(first) is list or type(first) is tuple:
        first = first[0] if len(first) else None
        if cnp.PyArray_CheckExact(first) or not cnp.PyArray_Check(first):
            return False
    if named and not cnp.PyArray_Check(first) or not numpy_may():
        return False
    for i in range(named):
        if (<tuple>names)[i] in _LONG_WAY:
            return False
    for i in range(n + named):
        o = <object>args[i]
        if (type(o) is list or type(o) is tuple) and len(o) <= _IN_LISTS:
            for part in o:
                if not is_hosts(part, &found):
                    return False
        elif not is_hosts(o, &found):
            return False
    return found


cdef inline bint is_hosts(object o, bint* found) except -1:
    """Whether ``o`` is an array of NumPy's, a number or an option; ``found``: one of a class of its own came."""
    if cnp.PyArray_Check(o):
        found[0] = found[0] or is_of_others(o)
        return True
    return is_plain_to_numpy(o) or is_of(o, _generic)


cdef inline bint is_unheld(object o) noexcept:
    """Whether ``o`` is a plain NumPy array of what lazyarray doesn't hold: of strings, objects, dates, records."""
    return cnp.PyArray_CheckExact(o) and dtype_of_type_num((<cnp.ndarray>o).descr.type_num) < 0


cdef inline bint begins_unheld(PyObject** args, size_t flags) noexcept:
    """Whether a call's first argument is such an array, or begins with one."""
    if not PyVectorcall_NARGS(flags):
        return False
    o = <object>args[0]
    if type(o) is list:
        return len(<list>o) > 0 and is_unheld((<list>o)[0])
    return is_unheld(o) or type(o) is tuple and len(<tuple>o) > 0 and is_unheld((<tuple>o)[0])


cdef inline bint numpy_may() noexcept:
    """Whether NumPy may make what is asked for: nobody captures, and new arrays are on the host."""
    return not recorder().captures and current_device() == cpu0()


cdef bint is_unhelds_alone(object host, PyObject** args, size_t flags, PyObject* names) except -1:
    """Whether a call is of such arrays and of options, all as NumPy takes them: lazyarray has no part in it."""
    cdef Py_ssize_t i, n = PyVectorcall_NARGS(flags), named = 0 if names is NULL else len(<tuple>names)
    if host is None or not numpy_may():
        return False
    for i in range(named):
        if (<tuple>names)[i] in _LONG_WAY:
            return False
    cdef int left = _IN_LISTS
    for i in range(n + named):
        if i >= n and (<tuple>names)[i - n] == "dtype":  # whatever says what one is
            continue
        if not are_plain_to_numpy(<object>args[i], &left):
            return False
    return True


cdef bint are_plain_to_numpy(object o, int* left) except -1:
    """Whether ``o`` is as NumPy takes it, also in lists. ``left``: how many elements of lists are asked."""
    if type(o) is not list and type(o) is not tuple:
        return is_plain_to_numpy(o)
    left[0] -= <int>len(o)
    if left[0] < 0:
        return False
    for part in o:
        if not are_plain_to_numpy(part, left):
            return False
    return True


cdef bint all_plain(object groups) except -1:
    """Whether all arguments, of several groups, are as NumPy takes them."""
    for group in groups:
        for o in group:
            if not is_plain_to_numpy(o):
                return False
    return True


cdef inline bint is_plain_to_numpy(object o) noexcept:
    t = type(o)
    return t is str or t is int or t is float or t is bool or o is None or cnp.PyArray_CheckExact(o) \
        or cnp.PyArray_DescrCheck(o) or o is object


cdef PyObject* of_hosts(object host, PyObject** args, size_t flags, PyObject* names) except NULL:
    """What NumPy's function gives of such arguments: see `from_hosts` of ops/hosts.py, of which this is what is usual."""
    cdef Py_ssize_t i, n = PyVectorcall_NARGS(flags)
    result = PyObject_Vectorcall(host, args, flags, names)
    cdef bint plain = cnp.PyArray_CheckExact(result)
    cdef PyObject* memory = NULL
    if plain:
        memory = memory_of(<cnp.ndarray>result)
    for i in range(n if names is NULL else n + len(<tuple>names)):
        o = <object>args[i]
        if cnp.PyArray_CheckExact(o):
            plain = plain and <PyObject*>o != memory and memory_of(<cnp.ndarray>o) != memory
        elif (type(o) is list or type(o) is tuple) and memory != <PyObject*>result:
            for part in o:
                plain = plain and not cnp.PyArray_Check(part) and type(part) is not list and type(part) is not tuple
    if plain and is_unheld(result) and (begins_unheld(args, flags) and host not in <tuple>_taught["makers"]
                                        or news_of(result) in <set>_taught["told"]):
        found = result
    elif plain and not is_unheld(result) and cnp.PyArray_ISNOTSWAPPED(<cnp.ndarray>result):
        found = handed(array(result, None, None))
    else:
        found = handed(_taught["from_hosts"](host, tuple_of(args, n), dict_of(args, n, names), result))
    Py_INCREF(found)
    return <PyObject*>found


cdef inline PyObject* memory_of(cnp.ndarray a) noexcept:
    """Whose memory an array has: NumPy's views all have the owner as their base."""
    cdef PyObject* base = cnp.PyArray_BASE(a)
    return <PyObject*>a if base is NULL else base


def news_of(cnp.ndarray host not None, str what=""):
    """By what is remembered that the line of the user's that runs was told of such an array."""
    return sites().here(), type(host), host.descr.type_num, what


# How the names of dtypes begin that lazyarray doesn't hold.
cdef tuple _UNHELD_NAMES = ("datetime64", "timedelta64", "object", "str", "bytes", "U", "S", "M", "m", "O", "<U", "<M", "<m")


cdef bint asks_unheld(PyObject** args, size_t flags, PyObject* names) except -1:
    """Whether the call of a function that creates asks for what lazyarray doesn't hold: by a dtype, or of strings."""
    cdef Py_ssize_t i, n = PyVectorcall_NARGS(flags)
    for i in range(0 if names is NULL else len(<tuple>names)):
        if (<tuple>names)[i] == "dtype":
            o = <object>args[n + i]
            return o is object or o is str or type(o) is list or type(o) is str and o.startswith(_UNHELD_NAMES) \
                or cnp.PyArray_DescrCheck(o) and dtype_of_type_num((<cnp.dtype>o).type_num) < 0
    return n == 1 and type(<object>args[0]) is list and is_of_strings(<object>args[0])


# What NumPy has done by a method of its first argument, or by its operators, if that is no array of its own:
# `np.mean(series)` is `series.mean()`, which leaves out what is missing, and `np.flip(series)` is a Series.
cdef frozenset _asking = frozenset([getattr(np, name) for name in (
    "all any amax amin argmax argmin argpartition argsort around choose clip compress cumprod cumsum flip fliplr "
    "flipud max mean min nonzero prod ptp repeat reshape round searchsorted squeeze std sum swapaxes take "
    "transpose var").split()])


cdef inline bint asks_its_class(object o) except -1:
    """Whether a first argument's class does such functions itself: pandas' Series, Xarray's arrays, a user's (NEP 18)."""
    cdef int left = 0
    t = type(o)
    if is_tensor(o) or t is np.ndarray or t is list or t is tuple or t is float or t is int or recorder().captures:
        return False
    return is_foreign(o) or answers_functions(o, &left)


cdef PyObject* _numpys_own = _PyType_Lookup(<PyTypeObject*>np.ndarray, "__array_function__")


cdef bint answers_functions(object o, int* left) except -1:
    """Whether a class says itself what NumPy's functions are (NEP 18): quantities, Dask's arrays; also in a list.

    A GPU's array is an operand; of ours those of classes that programs derive. ``left``: how many elements of lists are asked.
    """
    cdef PyTypeObject* kind
    cdef PyObject* found
    if is_tensor(o):
        return is_derived(o) and _PyType_Lookup(Py_TYPE(o), "__array_function__") != _derived_functions
    if o is None or type(o) is int or type(o) is float or type(o) is bool or type(o) is str:
        return False
    if type(o) is list or type(o) is tuple:
        for part in o:
            left[0] -= 1
            if left[0] < 0:
                break
            if answers_functions(part, left):
                return True
        return False
    kind = Py_TYPE(o)
    found = _PyType_Lookup(kind, "__array_function__")
    return found is not NULL and found != _numpys_own and not isinstance(o, Tensor) and not is_symbol(o) \
        and not hasattr(o, "__cuda_array_interface__")


cdef bint is_answered(PyObject** args, size_t flags, PyObject* names) except -1:
    """Whether one of the arguments is of such a class."""
    cdef Py_ssize_t i, n = PyVectorcall_NARGS(flags)
    cdef int left = _IN_LISTS
    if recorder().captures:
        return False
    for i in range(n if names is NULL else n + len(<tuple>names)):
        if answers_functions(<object>args[i], &left):
            return True
    return False


cdef PyObject* asked_of_class(Public function, PyObject** args, size_t flags, PyObject* names) except NULL:
    cdef Py_ssize_t n = PyVectorcall_NARGS(flags)
    found = of_its_class(function, function.host, tuple_of(args, n), dict_of(args, n, names))
    Py_INCREF(found)
    return <PyObject*>found


cdef bint is_like(PyObject** args, size_t flags, PyObject* names) except -1:
    """Whether the call of a function that creates has a ``like`` whose class answers it."""
    cdef Py_ssize_t i, n = PyVectorcall_NARGS(flags)
    for i in range(len(<tuple>names)):
        if (<tuple>names)[i] == "like":
            like = <object>args[n + i]
            if like is None or isinstance(like, np.ndarray) or isinstance(like, Tensor) and not is_derived(like):
                return False
            if not hasattr(type(like), "__array_function__"):
                raise TypeError("The `like` argument must be an array-like that implements the `__array_function__` protocol.")
            return not is_derived(like) or answers(like)
    return False


cdef PyObject* asked_of_like(Public function, PyObject** args, size_t flags, PyObject* names) except NULL:
    cdef Py_ssize_t n = PyVectorcall_NARGS(flags)
    named = dict_of(args, n, names)
    like = named.pop("like")
    way = type(like).__array_function__
    found = way(like, function if is_written_here(way) else function.host, (type(like),), tuple_of(args, n), named)
    if found is NotImplemented:
        raise TypeError(f"no implementation found for 'lazyarray.{function.__name__}' on types that implement "
                        f"__array_function__: {[type(like)]}")
    Py_INCREF(found)
    return <PyObject*>found


cdef object of_its_class(object function, object host, tuple given, dict named):
    """What classes of arguments say that a function is, which is NumPy's ``host`` to those that know no other."""
    found = of_classes_here(function, host, given, named)
    if found is not NotImplemented:
        return found
    why = TypeError(f"{host.__name__}() is given what has a way of its own for it")
    return handed(_taught["handed_over"](host, given, named, why))


cdef tuple _NAMES = ("np", "numpy", "la", "lazyarray", "xp")


cpdef bint is_written_here(object method) except -1:
    """Whether a method's module has lazyarray in NumPy's place: then its functions are what that compares with."""
    names = getattr(getattr(method, "__wrapped__", method), "__globals__", None)
    if type(names) is not dict:
        return False
    cdef bint here = False
    for name in _NAMES:  # by a function of it: an object may stand for the module, and ``xp`` be an array
        add = getattr((<dict>names).get(name), "add", None)
        if add is np.add:
            return False
        here |= add is _public.namespace.add
    return here


cdef object of_classes_here(object function, object host, tuple given, dict named):
    """What a class answers that is derived, or written with lazyarray in NumPy's place; NotImplemented: there is none.

    In NumPy's order (NEP 18): our own arrays answer with what the function does, if all are of their class.
    """
    cdef list asked = all_asked(given, named, True)
    if not any([answers(o) and (is_tensor(o) or is_written_here(type(o).__array_function__)) for o in asked]):
        return NotImplemented
    kinds = tuple([type(o) for o in asked])
    for o in asked:
        found = NotImplemented
        if answers(o):
            way = type(o).__array_function__
            found = way(o, function if is_written_here(way) else host, kinds, given, named)
        elif all([issubclass(kind, Tensor) for kind in kinds]):
            found = Implementation(function)(*given, **named)
        if found is not NotImplemented:
            return found
    raise TypeError(f"no implementation found for 'lazyarray.{function.__name__}' on types that implement "
                    f"__array_function__: {list(kinds)}")


cdef object _passing = None  # the function that runs past the classes


cdef class Implementation:
    """A function past the classes that answer it, as NumPy's ``_implementation``: what their ``super()`` calls."""

    cdef readonly object function

    def __init__(self, function):
        self.function = function

    def __call__(self, *args, **kwargs):
        global _passing
        if all_asked(args, kwargs, False):
            _passing = self.function
        try:
            return self.function(*args, **kwargs)
        finally:
            _passing = None


cdef bint passes(object function):
    """Whether a call is that of an ``_implementation``: once."""
    global _passing
    if _passing is not function:
        return False
    _passing = None
    return True


cdef bint answers(object o) except -1:
    cdef int left = 0
    return answers_functions(o, &left)


cdef list all_asked(tuple given, dict named, bint ours):
    """One of each class that answers functions, and of our arrays' where they are asked, too."""
    cdef int left = _IN_LISTS
    cdef list asked = []
    ask_all(given, asked, &left, ours)
    ask_all(tuple(named.values()), asked, &left, ours)
    return asked


cdef int ask_all(object values, list asked, int* left, bint ours) except -1:
    for o in values:
        left[0] -= 1
        if left[0] < 0:
            return 0
        if type(o) is list or type(o) is tuple:
            ask_all(o, asked, left, ours)
        elif answers_functions(o, left) or ours and is_tensor(o) and not is_scalar(<Tensor>o):
            put_in_turn(o, asked)
    return 0
