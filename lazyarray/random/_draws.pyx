# distutils: language = c++
"""Draws at once: NumPy's own method, called where nothing is pending.

A small draw from a stream on which nothing is pending costs less than the bookkeeping of an op. So it is
made where it is written, with the very arguments, and counts as a write of the stream's variable. All
else goes the long way, which is an op.

What keeps the order: under the GIL the stream is found to be idle, so every draw that was pushed is over;
NumPy's method is then the next thing that happens to it. Where NumPy lets go of the GIL (to fill an array),
it holds the bit generator's lock, which every draw takes, a worker's too: whatever other threads push
meanwhile comes after. Two threads that don't wait for each other have no order between them but that.
"""

cimport numpy as cnp

from cpython.object cimport PyObject

import functools
import inspect

import numpy as np

from lazyarray.engine._engine cimport CDevice, Device
from lazyarray.lazy._lazy cimport (
    is_of,
    Tensor,
    array_of,
    from_numpy,
    at_hand,
    D_F8,
    D_IL,
    current_device,
    empty_like_shape,
    index_of,
    instant,
    is_scalar,
    is_tensor,
    new_element,
    npy_intp,
    real_now,
    read_out,
    recorder,
    reorder,
    scalars_are_read,
    seen_as_wait,
    take_flags,
    value_now,
    written_now,
    written_once,
)

from lazyarray.engine._engine import check_methods
from lazyarray.ops.hosts import note

cnp.import_array()


cdef extern from "Python.h":
    ctypedef struct CType "PyTypeObject":
        pass
    CType* type_of "Py_TYPE"(PyObject*)
    CType PyFloat_Type, PyLong_Type, PyBool_Type, PyList_Type, PyTuple_Type
    PyObject* Py_None
    PyObject* Py_True
    Py_ssize_t PyVectorcall_NARGS(size_t)
    object PyObject_Vectorcall(PyObject*, PyObject**, size_t, PyObject*)
    object PyVectorcall_Call(object, object, object)
    object PyMethod_New(object, object)
    long PyLong_AsLongAndOverflow(object, int*)
    double PyFloat_AS_DOUBLE(object)
    void* PyCapsule_GetPointer(object, const char*) except NULL


cdef extern from "engine/calls.h" namespace "lazyarray":
    void call_by_vector(CType*, Py_ssize_t, bint)


# ---- streams ------------------------------------------------------------------------------------

cdef class Source:
    """What holds NumPy's generator. It is replaced only where no draw is pending, or by an op."""

    cdef public object generator
    cdef public bint own  # nobody else knows its bit generator
    cdef int busy  # draws of NumPy's under way in a caller's thread, which may have let go of the GIL
    cdef Bits bits

    def __init__(self, generator):
        self.generator = generator

    cpdef object now(self):
        """NumPy's generator, as it is now."""
        return self.generator

    cdef Source root(self):
        """Whose bits it draws."""
        return self


cdef class Sharing(Source):
    """NumPy's ``Generator`` on the bits of another source, whose generator is a ``RandomState``."""

    cdef Source other
    cdef object seen  # the generator whose bits they are

    def __init__(self, Source other not None):
        self.other = other

    cpdef object now(self):
        if self.seen is not self.other.generator:
            seen = self.other.generator
            self.generator = np.random.Generator(seen._bit_generator)
            self.seen = seen
        return self.generator

    cdef Source root(self):
        return self.other


def parameters_of(way):
    """The names of a function's parameters: that may be given by place, of the rest of these, by name alone.

    As `inspect.signature` has them, which takes fifty times as long: a program waits for some three hundred.
    """
    code = inspect.unwrap(way).__code__
    names, count = code.co_varnames, code.co_argcount
    end = count + code.co_kwonlyargcount
    return names[:count], names[end:end + 1] if code.co_flags & inspect.CO_VARARGS else (), names[count:end]


cdef class Drawn:
    """The native part of a stream: its source, its variable, its device."""

    cdef readonly Source _source
    cdef readonly Tensor _resource
    cdef readonly Device _device

    def _hold(self, Source source not None, Tensor resource not None, Device device not None):
        self._source, self._resource, self._device = source, resource, device

    def _at_once(self, generator):
        """Replaces NumPy's generator, if nothing is pending; else False."""
        if not instant(self._resource.v.chunk):
            return False
        self._source.generator = generator
        return written_now(self._resource.v.chunk)


include "words.pxi"
include "plain.pxi"


# ---- functions that draw ------------------------------------------------------------------------

cdef enum:
    _MOST = 12  # arguments


# What an argument is: a value, or array of values; what gives the number of draws; ...
cdef enum Role:
    VALUE, SIZE, POPULATION, SHUFFLED


cdef dict _roles = {"size": SIZE}
cdef dict _of_many = {}  # functions of which there is a loop for many numbers, by NumPy's class and name
# A draw of these has as many numbers as the vectors that it is given.
cdef frozenset _OF_VECTORS = frozenset(("dirichlet", "multinomial", "multivariate_hypergeometric", "multivariate_normal"))


# What it takes over of the function that it stands for: all but the docstring.
cdef tuple COPIED = tuple([name for name in functools.WRAPPER_ASSIGNMENTS if name != "__doc__"])


cdef object documented(way, like=None):
    from lazyarray._docstrings import completed  # when somebody reads it
    return completed(way.__doc__, way, None if like is None else inspect.unwrap(like).__doc__)


cdef void as_drawn(object given) noexcept:
    """Has a number print as NumPy's draws, which are Python numbers."""
    if is_tensor(given) and is_scalar(<Tensor>given) and (<Tensor>given).v.dtype in (D_F8, D_IL):
        (<Tensor>given).v.drawn = True


cdef class Draw:
    """A function that draws from one stream: at once where it can, else by ``__wrapped__``.

    ``numpys`` is the method of NumPy's that does it at once. Its parameters are
    those of ``way`` (Python's function, whose name and text it has) that ``names`` lists; arguments by other
    names go the long way.
    """

    cdef object __weakref__
    cdef dict __dict__
    cdef void* vectorcall
    cdef object numpys, way
    cdef tuple names
    cdef int positional  # how many of them may be given by position
    cdef Role roles[_MOST]
    cdef bint repeats, pythons, judges, of_vectors
    cdef Drawn stream
    cdef int plain, parameters  # what plain draws are (plain.pxi), how many parameters they have
    cdef bint compared
    cdef str owner  # NumPy's class

    def __init__(self, way, numpys, names, Drawn stream=None):
        by_place, several, _ = parameters_of(way)
        self.way, self.numpys, self.stream, self.names = way, numpys, stream, tuple(names)
        self.judges = way.__name__ != "multivariate_normal"
        self.of_vectors = way.__name__ in _OF_VECTORS
        self.pythons = way.__name__ != "integers"  # NumPy gives scalars as Python's numbers
        if len(self.names) > _MOST:
            raise ValueError(f"{way.__name__} has too many parameters")
        for i, name in enumerate(self.names):
            self.repeats = name in several  # the lengths of the axes
            self.roles[i] = SIZE if self.repeats else _roles.get(name, VALUE)
            self.positional += name in by_place
        if way.__name__ in ("choice", "permutation", "permuted"):
            self.roles[0] = POPULATION
        elif way.__name__ == "shuffle":
            self.roles[0] = SHUFFLED
        self.owner = numpys.__qualname__.partition(".")[0]
        self.plain = _kinds.get(way.__name__, NEVER)
        if self.plain and self.owner == "RandomState":
            self.plain |= OLDER
        while self.names[self.parameters : self.parameters + 1] and self.names[self.parameters] in _parameters:
            self.parameters += 1
        functools.update_wrapper(self, way, COPIED)
        if self.plain == NORMAL or self.plain & OLDER and (self.plain & ~OLDER <= CHOICE or self.plain & ~OLDER == PERMUTATION):
            _of_many[getattr(np.random, self.owner), way.__name__] = self
        self.vectorcall = <void*>_call

    def __call__(self, *args, **kwargs):
        return PyVectorcall_Call(self, args, kwargs)

    @property
    def __doc__(self):
        # In each class: a class's own docstring would hide an inherited one.
        return documented(self.way)

    # As functions are to inspect and pydoc: routines, which are no methods. So help() has the signature.
    def __get__(self, instance, owner):
        return self

    def __repr__(self):
        return f"<function {self.__qualname__}>"

    def __reduce__(self):
        return self.__qualname__

    cdef object give(self, object result, Py_ssize_t n):
        """What the long way gave, to a caller who may want NumPy's scalars."""
        if not scalars_are_read:
            # NumPy's is a scalar of its own where a dtype was asked for, the last of randint's four arguments.
            if self.pythons and self.roles[0] != POPULATION and n < 4:
                as_drawn(result)
            return result
        found = read_out(result)
        return found.item() if self.pythons and found is not result else found

    cdef object wrap(self, object result, Drawn stream, object of):
        """What NumPy gave, as ours; itself for a caller who wants NumPy's scalars."""
        given = array_of(result, stream._device.c)
        if given is result and type(result) is np.ndarray and not isinstance(of, np.ndarray):
            note(result)
        elif type(result) is float or type(result) is int:
            as_drawn(given)
        return result if scalars_are_read and read_out(given) is not given else given


cdef class Method(Draw):
    """The same as a method of a stream; its arguments are told of by the module's function."""

    @property
    def __doc__(self):
        from lazyarray import _public
        return documented(self.way, getattr(_public.namespace.random, self.way.__name__, None))

    def __get__(self, obj, owner):
        return self if obj is None else PyMethod_New(self, obj)


cdef object _call(PyObject* callable, PyObject** args, size_t nargsf, PyObject* names):
    cdef Draw f = <Draw>callable
    cdef Py_ssize_t first = 0, n = PyVectorcall_NARGS(nargsf), nk = 0, i, k
    cdef Drawn stream = f.stream
    cdef Role role
    cdef PyObject* o
    cdef CType* t
    cdef PyObject* given[_MOST + 1]
    cdef npy_intp most = recorder().policy.draws
    cdef double total = 1, values = 1, population = 0
    cdef list held = None
    cdef bint tensors = False, options = False, failed
    cdef Source root
    if stream is None:
        if n == 0 or not isinstance(<object>args[0], Drawn):
            return f.give(PyObject_Vectorcall(<PyObject*>f.way, args, nargsf, names), n)
        first, stream = 1, <Drawn><object>args[0]
    elif not (current_device() == stream._device.c):
        return f.give(PyObject_Vectorcall(<PyObject*>f.way, args, nargsf, names), n)
    n -= first
    if names is not NULL:
        nk = len(<tuple><object>names)
    if n + nk > _MOST or (n > f.positional and not f.repeats) \
            or not instant(stream._resource.v.chunk):
        return f.give(PyObject_Vectorcall(<PyObject*>f.way, args, nargsf, names), n + nk)
    if f.plain:
        drawn = plain_draw(f, stream, args + first, n, names)
        if drawn is not None:
            return drawn
    for i in range(n + nk):
        o = args[first + i]
        if i >= n:
            k = _place(f, (<tuple><object>names)[i - n])
            if k < 0:
                break
            role = f.roles[k]
        else:
            k = 0 if f.repeats else i
            role = f.roles[k]
        options = options or k > 2
        t = type_of(o)
        given[1 + i] = o
        if role == VALUE and (t == &PyFloat_Type or t == &PyLong_Type or o == Py_None
                              or t == &PyBool_Type):
            continue
        if is_tensor(<object>o):
            if role == SHUFFLED:
                if n + nk > 1:
                    break
                return _shuffled(f, stream, <Tensor><object>o, args, nargsf, names)
            value = value_now(<Tensor><object>o, most, stream._device.c)
            if value is None or not f.judges and not _all_finite(value):
                break
            tensors = True
            if held is None:
                held = []
            held.append(value)
            o = given[1 + i] = <PyObject*>value
        if role == SIZE:
            if not _add_sizes(<object>o, &total):
                break
        elif not _add_values(<object>o, role, most, &values, &population):
            break
        elif role == SHUFFLED and not seen_as_wait("shuffle()"):
            break
    else:
        # Of a range, which is not made, a few numbers are drawn with replacement.
        if population and f.roles[0] == POPULATION and n + nk <= 2 and f.positional > 2:
            population = 0
        if (total * values if f.of_vectors else max(total, values)) <= most and population <= most \
                and (f.judges or not tensors or not options):
            generator = stream._source.now()  # held: another thread may replace it
            given[0] = <PyObject*>generator
            result = None
            failed = False
            root = stream._source.root()
            root.busy += 1
            try:
                result = PyObject_Vectorcall(<PyObject*>f.numpys, given, n + 1, names)
            except (ValueError, TypeError):
                if not tensors or not f.judges:
                    raise
                failed = True
            finally:
                root.busy -= 1
            if not failed:
                take_flags(False)  # the flags that it has raised are nobody's
                written_now(stream._resource.v.chunk)
                return f.wrap(result, stream, <object>args[first] if n else None)
            # An array's value is wrong: the result's error, which its wait raises. Nothing was drawn, for all look at
            # their parameters first, but multivariate_normal: its arrays come here only where they can't be wrong.
    return f.give(PyObject_Vectorcall(<PyObject*>f.way, args, nargsf, names), n + nk)


cdef bint _all_finite(object value) noexcept:
    """Whether it is an array of int64 or float64 that are finite: a factorisation of these does not fail."""
    cdef double* p
    cdef npy_intp i
    if type(value) is not np.ndarray:
        return False
    if cnp.PyArray_TYPE(<cnp.ndarray>value) != cnp.NPY_DOUBLE:
        return cnp.PyArray_TYPE(<cnp.ndarray>value) == cnp.NPY_INT64
    p = <double*>cnp.PyArray_DATA(<cnp.ndarray>value)
    for i in range(cnp.PyArray_SIZE(<cnp.ndarray>value)):  # a copy without gaps, in some order
        if not isfinite(p[i]):
            return False
    return True


cdef Py_ssize_t _place(Draw f, object name) except -2:
    """The number of the parameter of that name; -1 if NumPy's method has none."""
    if f.repeats:
        return -1
    for i in range(len(f.names)):
        if <PyObject*>name == <PyObject*>f.names[i]:
            return i
    return f.names.index(name) if name in f.names else -1


cdef bint _add_sizes(object size, double* total) except -1:
    """Multiplies by a length, or the lengths in a tuple or list; false if that is not what it is."""
    cdef int overflow = 0
    if size is None:
        return True
    if type(size) is int:
        total[0] *= PyLong_AsLongAndOverflow(size, &overflow)
        return not overflow
    if type(size) is tuple or type(size) is list:
        for length in size:
            if type(length) is not int or not _add_sizes(length, total):
                return False
        return True
    return is_of(size, np.integer) and _add_sizes(int(size), total)


cdef bint _add_values(object o, Role role, npy_intp most, double* values, double* population) except -1:
    """Counts the elements of an argument that is none of ours; false if it is no plain one."""
    cdef double n = 1
    cdef int overflow = 0
    cdef npy_intp left = most
    t = type(o)
    if t is list or t is tuple:
        if role == SHUFFLED:
            n = len(o)
            if t is tuple or n > most:
                return False
        else:
            if not _plain(o, &left, 0):
                return False
            n = most - left
    elif t is np.ndarray:
        n = (<cnp.ndarray>o).size
    elif t is range and role == POPULATION:
        n = len(o)
    elif role == SHUFFLED:
        return False
    elif t is int:
        if role == POPULATION:
            n = PyLong_AsLongAndOverflow(o, &overflow)
            return not overflow and _add_population(n, population)
    elif not (t is float or t is bool or t is str or o is None or t is type
              or is_of(o, np.generic) or isinstance(o, np.dtype)):
        return False
    if role == VALUE:
        values[0] = max(values[0], n)
    else:
        population[0] += n
    return n <= most


cdef inline bint _add_population(double n, double* population) noexcept:
    population[0] += n
    return True


cdef bint _plain(object o, npy_intp* left, int depth) except -1:
    """Whether lists in lists hold only what NumPy reads without asking Python, and not too much."""
    for x in o:
        t = type(x)
        if t is list or t is tuple:
            if depth == 8 or not _plain(x, left, depth + 1):
                return False
            continue
        left[0] -= 1
        if left[0] < 0 or not (t is float or t is int or t is bool or t is str
                               or is_of(x, np.generic)):
            return False
    return True


cdef object _shuffled(Draw f, Drawn stream, Tensor x, PyObject** args, size_t nargsf, PyObject* names):
    """Shuffles an array of ours along its first axis.

    NumPy shuffles an index, as it would the array: it may let go of the GIL as it does so, and other
    threads may use the array then. The elements change places in one go.
    """
    cdef npy_intp n
    cdef npy_intp i
    cdef npy_intp* order
    cdef PyObject* given[2]
    cdef Source root
    # (Where there is nothing, but more than one axis, nothing is drawn either.)
    if x.v.layout.ndim and x.v.layout.size() and not x.v.readonly and x.v.layout.size() <= recorder().policy.draws \
            and x.v.device() == stream._device.c and instant(x.v.chunk):
        n = x.v.layout.shape()[0]
        if x.v.layout.ndim == 1 and shuffle_now(f, stream, x, n):
            return None
        index = cnp.PyArray_SimpleNew(1, &n, cnp.NPY_INTP)
        order = <npy_intp*>cnp.PyArray_DATA(index)
        for i in range(n):
            order[i] = i
        generator = stream._source.now()
        given[0], given[1] = <PyObject*>generator, <PyObject*>index
        root = stream._source.root()
        root.busy += 1
        try:
            PyObject_Vectorcall(<PyObject*>f.numpys, given, 2, NULL)
        finally:
            root.busy -= 1
        written_now(stream._resource.v.chunk)
        if not reorder(x, order, n):
            x[...] = x[index]
        return None
    return PyObject_Vectorcall(<PyObject*>f.way, args, nargsf, names)


cdef Draw _like = Draw.__new__(Draw)
call_by_vector(<CType*>Draw, <char*>&_like.vectorcall - <char*><PyObject*>_like, False)
call_by_vector(<CType*>Method, <char*>&_like.vectorcall - <char*><PyObject*>_like, True)
_like = None

check_methods(globals())
