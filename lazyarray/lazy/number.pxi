# Numbers that a compiled function takes anew in each call: while it is captured they stand for floats and ints.

import operator as _operator


class NumberAsked(TracingError):
    """The value of a number that changes from call to call was asked for: it has to be a constant."""


cdef class Number:
    """Stands for a Python number in a capture.

    In arithmetic with arrays it is an operand as weak as the number itself, whose value each call
    brings; with numbers it makes another such number. Whatever else looks at it gets the value that it
    has now, and `session.looked` says that what was captured holds for that value alone.
    """

    def __init__(self, value, session, Py_ssize_t index):
        self.value, self.session, self.index = value, session, index

    cdef object look(self):
        self.session.looked = True
        return self.value

    @property
    def __class__(self):
        return type(self.value)

    def __add__(self, other): return derived(_operator.add, self, other)
    def __radd__(self, other): return derived(_operator.add, other, self)
    def __sub__(self, other): return derived(_operator.sub, self, other)
    def __rsub__(self, other): return derived(_operator.sub, other, self)
    def __mul__(self, other): return derived(_operator.mul, self, other)
    def __rmul__(self, other): return derived(_operator.mul, other, self)
    def __truediv__(self, other): return derived(_operator.truediv, self, other)
    def __rtruediv__(self, other): return derived(_operator.truediv, other, self)
    def __floordiv__(self, other): return derived(_operator.floordiv, self, other)
    def __rfloordiv__(self, other): return derived(_operator.floordiv, other, self)
    def __mod__(self, other): return derived(_operator.mod, self, other)
    def __rmod__(self, other): return derived(_operator.mod, other, self)

    def __pow__(self, other, mod):
        return pow(self.look(), other, mod) if mod is not None else derived(_operator.pow, self, other)

    def __rpow__(self, other, mod):
        return derived(_operator.pow, other, self)

    def __neg__(self): return self.session.derive(_operator.neg, (self,))
    def __pos__(self): return self.session.derive(_operator.pos, (self,))
    def __abs__(self): return self.session.derive(_operator.abs, (self,))

    def __float__(self): return float(self.look())
    def __int__(self): return int(self.look())
    def __complex__(self): return complex(self.look())
    def __index__(self): return _operator.index(self.look())
    def __bool__(self): return bool(self.look())
    def __hash__(self): return hash(self.look())
    def __repr__(self): return repr(self.look())
    def __str__(self): return str(self.look())
    def __format__(self, spec): return format(self.look(), spec)
    def __reduce__(self): return type(self.value), (self.look(),)
    def __getattr__(self, name): return getattr(self.look(), name)
    def __round__(self, *args): return round(self.look(), *args)
    def __trunc__(self): return _operator.methodcaller("__trunc__")(self.look())
    def __floor__(self): return _operator.methodcaller("__floor__")(self.look())
    def __ceil__(self): return _operator.methodcaller("__ceil__")(self.look())
    def __and__(self, other): return looked(_operator.and_, self, other)
    def __rand__(self, other): return looked(_operator.and_, other, self)
    def __or__(self, other): return looked(_operator.or_, self, other)
    def __ror__(self, other): return looked(_operator.or_, other, self)
    def __xor__(self, other): return looked(_operator.xor, self, other)
    def __rxor__(self, other): return looked(_operator.xor, other, self)
    def __lshift__(self, other): return looked(_operator.lshift, self, other)
    def __rlshift__(self, other): return looked(_operator.lshift, other, self)
    def __rshift__(self, other): return looked(_operator.rshift, self, other)
    def __rrshift__(self, other): return looked(_operator.rshift, other, self)
    def __divmod__(self, other): return looked(divmod, self, other)
    def __rdivmod__(self, other): return looked(divmod, other, self)
    def __invert__(self): return ~self.look()

    def __richcmp__(self, other, int op):
        if isinstance(other, Tensor):
            return NotImplemented
        return _COMPARE[op](self.look(), plain(other))

    # NumPy would take it for an array of float64, which is not as weak as the number is.

    def __array__(self, *args, **kwargs):
        raise NumberAsked("NumPy asks for the value of a number")

    def __array_ufunc__(self, *args, **kwargs):
        raise NumberAsked("NumPy asks for the value of a number")

    def __array_function__(self, *args, **kwargs):
        raise NumberAsked("NumPy asks for the value of a number")


_COMPARE = (_operator.lt, _operator.le, _operator.eq, _operator.ne, _operator.gt, _operator.ge)
cdef tuple _numbers = (int, float, bool, complex, Number)


cdef object plain(object o):
    """``o``, or the value of a number, which is looked at."""
    return (<Number>o).look() if type(o) is Number else o


cdef object derived(object op, object a, object b):
    if type(a) in _numbers and type(b) in _numbers:
        return ((<Number>a) if type(a) is Number else (<Number>b)).session.derive(op, (a, b))
    return looked(op, a, b)


cdef object looked(object op, object a, object b):
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return NotImplemented  # the array's own operator takes it
    return op(plain(a), plain(b))


cdef Tensor number_tensor(Number number, int dtype, CDevice device):
    """The number as an array without axes; in a capture one that each call gives another in the place of."""
    cdef Device where = new_device(device)
    if capturing() and not number.session.closed:
        return number.session.array(number, _dtypes[dtype], where)
    return number_array(number.value, _dtypes[dtype], where)


def number_array(value, dtype, Device device not None):
    """A Python number as an array without axes; OverflowError for an integer that doesn't fit."""
    cdef Tensor t
    cdef int code = dtype_code(dtype)
    if not device.c.on_host():
        return moved(number_array(value, dtype, Device()), device.c)
    t = new_element(code, device.c)
    put_scalar(t.v.elements(), value, code)
    return t
