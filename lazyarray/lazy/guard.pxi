# Guards: whether what a compiled function's Python found, when it was captured, is there still.


cdef extern from "Python.h":
    PyObject* PyDict_GetItemWithError(object, object) except? NULL
    int PyDict_Next(object, Py_ssize_t*, PyObject**, PyObject**)
    PyObject* _PyType_Lookup(PyTypeObject*, object)
    object PyObject_GenericGetDict(object, void*)
    PyObject* PyCell_Get(object) except? NULL  # NULL, without an error: it is empty


class _Absent:
    """A mark: there is nothing in a place."""

    def __repr__(self):
        return "nothing"


ABSENT = _Absent()


cdef class Varying:
    """What a place holds that the program takes anew in each call: arrays, in a tree, or a number.

    ``taken(tree, leaves)`` takes a tree apart, as it was done at the capture; ``key`` is its
    :func:`call_key`. A number has none.
    """

    cdef readonly int first      # of the call's inputs, or numbers
    cdef readonly object tree, taken, kind
    cdef readonly bytes key

    def __init__(self, int first, tree, taken, key, kind=None):
        self.first, self.tree, self.taken, self.key, self.kind = first, tree, taken, key, kind

    cdef bint takes(self, object now, list arrays, list numbers) except -1:
        """Whether it is of the kind that was captured. Adds what the call is to have."""
        cdef list leaves
        if self.kind is not None:
            return type(now) is self.kind and placed(numbers, self.first, [now])
        if self.tree is None:
            if not isinstance(now, Tensor):
                return False
            leaves = [now]
        else:
            leaves = []
            if self.taken(now, leaves) != self.tree:
                return False
        for x in leaves:  # put there by another thread, that captures
            if (<Tensor>x).v.chunk.error.load() == _unknown_value:
                return False
        return call_key(leaves) == self.key and placed(arrays, self.first, leaves)


cdef bint placed(list to, int first, list leaves) except -1:
    """Puts leaves where they belong; false if other ones are there already: places held the same."""
    cdef int i
    for i in range(len(leaves)):
        if first + i < len(to):
            if to[first + i] is not leaves[i] and not alike(to[first + i], leaves[i]):
                return False
        else:
            to.append(leaves[i])
    return True


cpdef bint alike(object now, object was) except -1:
    """Whether two constants are the same for all that a program may do with them."""
    if now is was:
        return True
    t = type(was)
    if type(now) is not t:
        return False
    if t is int or t is str or t is bytes or t is frozenset:
        return now == was
    if t is float or t is complex:
        return repr(now) == repr(was)  # 0.0 and -0.0 are not the same, and NaN is
    if t is tuple:
        if len(now) != len(was):
            return False
        for a, b in zip(now, was):
            if not alike(a, b):
                return False
        return True
    if is_of(was, _generic):
        return now.tobytes() == was.tobytes() and now.dtype == was.dtype
    return False


cdef enum PlaceKind:
    IN_DICT      # one item, by its key
    IN_CELL
    IN_TYPE      # an attribute of a class, found as Python finds it
    IN_LIST      # all of its items
    WHOLE_DICT   # all of them: keys and values by turns
    DICT_OF      # which dict an object's attributes are in, and its class
    ASKED        # what a function says of the object
    COUNT        # how many items a dict, or that of a class, has


cdef struct Check:
    int kind
    PyObject* holder
    PyObject* key
    PyObject* was


cdef class Guard:
    """What was found in places, to be looked for again: ``check`` is one comparison for each.

    ``places`` are (kind, holder, key, what was there): see ``lazyarray._compile.places``.
    """

    cdef list places  # keeps what `checks` borrow
    cdef vector[Check] checks
    cdef readonly bint varies
    cdef int failed

    def __init__(self, list places not None):
        cdef Check c
        self.places = places
        self.failed = -1
        for kind, holder, key, was in places:
            c.kind = kind
            c.holder = <PyObject*>holder
            c.key = <PyObject*>key
            c.was = <PyObject*>was
            self.varies = self.varies or isinstance(was, Varying) or (
                type(was) is tuple and any([isinstance(x, Varying) for x in was]))
            self.checks.push_back(c)

    def stands(self, Program program not None):
        """Whether all is as it was, for the program too; for a guard of which nothing varies."""
        return program.stands() and self.check(None, None)

    cpdef bint check(self, list arrays, list numbers) except -1:
        """Whether all is as it was. What varies is appended to ``arrays`` and ``numbers``."""
        cdef size_t i
        for i in range(self.checks.size()):
            if not self.holds(&self.checks[i], arrays, numbers):
                self.failed = i
                return False
        return True

    def failure(self):
        """The number of the place that the last check failed at."""
        return self.failed

    cdef bint holds(self, Check* c, list arrays, list numbers) except -1:
        cdef object holder = <object>c.holder, was = <object>c.was, items
        cdef PyObject* now
        cdef PyObject* key
        cdef Py_ssize_t i = 0, n = 0
        if c.kind == IN_DICT:
            now = PyDict_GetItemWithError(holder, <object>c.key)
            return self.same(now, was, arrays, numbers)
        if c.kind == IN_TYPE:
            return self.same(_PyType_Lookup(<PyTypeObject*>c.holder, <object>c.key), was, arrays, numbers)
        if c.kind == IN_CELL:
            now = PyCell_Get(holder)
            try:
                return self.same(now, was, arrays, numbers)
            finally:
                if now is not NULL:
                    Py_DECREF(<object>now)
        if c.kind == IN_LIST:
            if len(<list>holder) != len(<tuple>was):
                return False
            for i in range(len(<tuple>was)):
                if i >= len(<list>holder):
                    return False
                if not self.same(<PyObject*>(<list>holder)[i], (<tuple>was)[i], arrays, numbers):
                    return False
            return True
        if c.kind == WHOLE_DICT:
            if 2 * len(<dict>holder) != len(<tuple>was):
                return False
            while PyDict_Next(holder, &i, &key, &now):
                if 2 * n + 1 >= len(<tuple>was) or not alike(<object>key, (<tuple>was)[2 * n]) \
                        or not self.same(now, (<tuple>was)[2 * n + 1], arrays, numbers):
                    return False
                n += 1
            return True
        if c.kind == DICT_OF:
            return type(holder) is <object>c.key and PyObject_GenericGetDict(holder, NULL) is was
        if c.kind == COUNT:
            return len(holder.__dict__ if isinstance(holder, type) else holder) == was
        items = (<object>c.key)(holder)
        if type(was) is not tuple or type(items) is not tuple:
            return self.same(<PyObject*>items, was, arrays, numbers)
        if len(items) != len(was):
            return False
        for a, b in zip(items, was):
            if not self.same(<PyObject*>a, b, arrays, numbers):
                return False
        return True

    cdef inline bint same(self, PyObject* now, object was, list arrays, list numbers) except -1:
        if now == <PyObject*>was:
            return True
        if now is NULL:
            return was is ABSENT
        if type(was) is Varying:
            return (<Varying>was).takes(<object>now, arrays, numbers)
        return alike(<object>now, was)
