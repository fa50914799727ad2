# NDArray's operators: each slot calls its row of the op table.

from lazyarray.lazy._lazy cimport NEGATIVE_EXPONENT
from lazyarray.ops.operators import BINARY as _binary, COMPARISONS as _comparisons, REFLECTED as _reflected


cdef extern from "Python.h":
    object PyObject_RichCompare(object, object, int)
    Py_hash_t _Py_HashDouble(object, double)


cdef int64_t _HASHED_AS_THEY_ARE = (1l << 61) - 1  # integers below, by Python


cdef Ufunc _add = op.add
cdef Ufunc _subtract = op.subtract
cdef Ufunc _multiply = op.multiply
cdef Ufunc _divide = op.divide
cdef Ufunc _floor_divide = op.floor_divide
cdef Ufunc _remainder = op.remainder
cdef Ufunc _divmod = op.divmod
cdef Ufunc _power = op.power
cdef Ufunc _scalar_power = ops.elementwise.scalar_power
cdef Ufunc _scalar_product = ops.elementwise.scalar_product
cdef Ufunc _scalar_magnitude = ops.elementwise.scalar_magnitude
cdef Ufunc _negative = op.negative
cdef Ufunc _positive = op.positive
cdef Ufunc _absolute = op.absolute
cdef Ufunc _invert = op.invert
cdef Ufunc _and = op.bitwise_and
cdef Ufunc _or = op.bitwise_or
cdef Ufunc _xor = op.bitwise_xor
cdef Ufunc _left_shift = op.left_shift
cdef Ufunc _right_shift = op.right_shift
cdef Ufunc _square = op.square
cdef Ufunc _sqrt = op.sqrt
cdef Ufunc _reciprocal = op.reciprocal
cdef Ufunc _less = op.less
cdef Ufunc _less_equal = op.less_equal
cdef Ufunc _greater = op.greater
cdef Ufunc _greater_equal = op.greater_equal
cdef Ufunc _equal = op.equal
cdef Ufunc _not_equal = op.not_equal
cdef MatMul _matmul = op.matmul


cdef inline bint is_usual(object o):
    t = type(o)
    return t is int or t is float or is_tensor(o)


cdef inline bint is_with_axes(object o):
    return is_tensor(o) and (<Tensor>o).v.layout.ndim > 0


cdef inline bint meets_derived(Tensor self, object other) except -1:
    """Whether a scalar's operator is that of another's class, which a program derives.

    An array leaves the turn to it: as to Python such a class is one of its own.
    """
    return derived_made and is_scalar(self) and is_derived(other)


cdef dict _reflected_of = {row: name for name, row in _reflected.items()}


cdef object with_derived(Row row, object a, object b):
    """``a op b`` of such two: as in NumPy by the ufunc, or by the method of a class that wants none."""
    if getattr(type(b), "__array_ufunc__", a) is None:
        return getattr(b, _reflected_of[row])(a)
    return row(a, b)


cdef inline object binary(Ufunc row, int op, Tensor self, object a, object b):
    """``a op b``, of which ``self`` is one; `op` is what `quick` calls it."""
    cdef Tensor t
    if meets_derived(self, b if a is self else a):
        return with_derived(row, a, b)
    if not scalars_are_read and (self.v.drawn and is_pythons(a) and is_pythons(b) or is_float_of_complex(a, b)):
        return of_draws(row, op, a, b)
    if self.v.layout.ndim == 0 and is_with_axes(b if a is self else a):  # nothing that scalars do for themselves
        found = row.binary(a, b, None)
        return read_out(found) if scalars_are_read else found
    if self.v.layout.ndim == 0 and op != NOT_QUICK and not scalars_are_read:
        if self.v.dtype != D_IL and is_whole(self):
            t = quick_whole(op, self, b if a is self else a, a is not self)
            if t is not None:
                return t
        t = quick(op, a, b)
        if t is not None:
            return t
    if is_scalar(self) and self.v.dtype != D_BOOL and not scalars_are_read:
        found = of_scalars(_python_of[row], a, b)
        if found is not None:
            return found
        if row is _multiply and is_complex(a, b):
            row = _scalar_product
    if not (is_usual(a) and is_usual(b)):
        return operated(row, a, b)
    found = row.binary(a, b, None)
    return read_out(found) if scalars_are_read else found


cdef bint is_complex(object a, object b):
    """Whether two operands are scalars or numbers, and one of them complex."""
    cdef bint found = False
    for o in (a, b):
        if is_tensor(o):
            if not is_scalar(<Tensor>o):
                return False
            found = found or info((<Tensor>o).v.dtype).kind == b"c"
        else:
            found = found or isinstance(o, complex) or isinstance(o, np.complexfloating)
    return found


# Python's operators of the rows, for what NumPy computes: the plain ones, and those in place.
cdef dict _python_of = {row: own for own, row in (_binary | _comparisons).items()} | {_scalar_power: operator.pow, _scalar_product: operator.mul}
cdef dict _inplace_of = {row: getattr(operator, "i" + own.__name__.rstrip("_"))
                         for own, row in _binary.items() if own is not divmod}


cdef object operated(Row row, object a, object b):
    """``a op b`` where one of them is neither an array nor a usual number.

    As in NumPy every sequence is an operand; with what lazyarray can't hold NumPy computes.
    """
    cdef bint first = is_tensor(a)
    other = b if first else a
    if not is_operand(other):
        converted = converted_operand(other)
        if converted is None:
            return with_object(row, a, b)
        a, b = (a, converted) if first else (converted, b)
    elif first and goes_first(other, <Tensor>a):
        return NotImplemented
    elif is_foreign(other):
        return call_of_ufunc(row.ufunc, (a, b))
    elif type(other) is np.matrix and not capturing():
        return ops.hosts.with_matrix(_python_of[row], a, b)
    try:
        if isinstance(row, MatMul):
            return handed((<MatMul>row).product(as_tensor_like(a, b), as_tensor_like(b, a), None))
        return handed((<Ufunc>row).binary(a, b, None))
    except Unheld as error:
        return handed(ops.hosts.handed_over(_python_of[row], (a, b), {}, error))


cdef object with_object(Row row, object a, object b):
    """``a op b`` where one of them is an object of some class of a program's: NumPy has each element meet it."""
    cdef bint first = is_tensor(a)
    cdef Tensor x = <Tensor>(a if first else b)
    other = b if first else a
    if row is _equal or row is _not_equal:
        return compared_with_object(row, x, other)
    if is_left_to(other, x, row):
        return NotImplemented
    return handed(ops.hosts.handed_over(_python_of[row], (a, b), {}, no_number(other)))


cdef bint is_left_to(object o, Tensor x, Row row=None) except -1:
    """Whether an operator of ``x`` leaves it to an object, which NumPy makes no array of, what it does.

    (NumPy's ``@`` refuses it itself, as it has no axes.)
    """
    return is_scalar(x) or has_own_way(o) or isinstance(o, _NO_NUMBERS) and not isinstance(row, MatMul)


cdef object no_number(object o):
    return Unheld(f"{type(o).__name__} is no number")


cdef object compared_with_object(Row row, Tensor x, object other):
    """``x == other`` or ``x != other``: element by element, as in NumPy, where `other` is no number and no sequence."""
    if has_own_way(other):
        return NotImplemented
    if isinstance(other, _NO_NUMBERS) \
            or type(other).__eq__ is object.__eq__ and (row is not _not_equal or type(other).__ne__ is object.__ne__):
        return handed(returned(functions.full_like(x, row is _not_equal, np.bool_)))
    return handed(ops.hosts.handed_over(row.ufunc, (x, other), {}, no_number(other)))


cdef tuple _NO_NUMBERS = (type(None), str, bytes, set, frozenset, dict)


cdef inline Tensor as_tensor_like(object a, object b):
    """`a` as an array, on the device of `b` if only that is one."""
    return <Tensor>a if is_tensor(a) else as_tensor_on(a, (<Tensor>b).v.device())


cdef inline bint is_whole(Tensor x) noexcept:
    return info(x.v.dtype).kind in b"iu"


cdef inline object logical(Ufunc row, int op, Tensor self, object a, object b):
    """``a op b``, of which ``self`` is one, for the operations on bits."""
    cdef Tensor t
    if meets_derived(self, b if a is self else a):
        return with_derived(row, a, b)
    if self.v.layout.ndim == 0 and not scalars_are_read and not self.v.drawn:
        if self.v.dtype == D_BOOL and op <= QUICK_XOR:
            t = quick_logic(op, self, b if a is self else a)
        else:
            t = quick_whole(op, self, b if a is self else a, a is not self)
        if t is not None:
            return t
    return binary(row, op if self.v.drawn else NOT_QUICK, self, a, b)


cdef inline object negated(Ufunc row, int op, Tensor a):
    cdef Tensor t
    if a.v.layout.ndim == 0 and not scalars_are_read:
        t = quick_unary(op, a)
        if t is not None:
            t.v.drawn = a.v.drawn
            return t
        if a.v.drawn:
            return signed(operator.neg if op == QUICK_SUBTRACT else operator.abs, row, a)
        if is_scalar(a):
            number = numpys_number(a)
            if number is not None and not recording() and not capturing():
                return array_of(-number if op == QUICK_SUBTRACT else abs(number), cpu0())
            if row is _absolute and info(a.v.dtype).kind == b"c":
                row = _scalar_magnitude
    return unary(row, a)


cdef inline object unary(Ufunc row, Tensor a):
    found = row.unary(a, None)
    return read_out(found) if scalars_are_read else found


cdef object signed(object own, Ufunc row, Tensor a):
    found = of_draw(own, a) if a.v.drawn and not scalars_are_read else None
    return unary(row, a) if found is None else found


cdef object divided(Tensor self, object a, object b):
    """``divmod(a, b)``."""
    cdef Tensor whole, rest
    if meets_derived(self, b if a is self else a):
        return with_derived(_divmod, a, b)
    if self.v.drawn and not scalars_are_read and is_pythons(a) and is_pythons(b):
        return of_draws(_floor_divide, QUICK_FLOOR, a, b), of_draws(_remainder, QUICK_MOD, a, b)
    if self.v.layout.ndim == 0 and not scalars_are_read:
        if self.v.dtype != D_IL and is_whole(self):
            whole = quick_whole(QUICK_FLOOR, self, b if a is self else a, a is not self)
            rest = None if whole is None else quick_whole(QUICK_MOD, self, b if a is self else a, a is not self)
        else:
            whole = quick(QUICK_FLOOR, a, b)
            rest = None if whole is None else quick(QUICK_MOD, a, b)
        if rest is not None:
            return whole, rest
    return binary(_divmod, NOT_QUICK, self, a, b)


cdef inline bint repeats(Tensor number, object other) except -1:
    """Whether ``[0] * n`` and ``n * (0,)`` repeat the sequence: with an element ``n``, which is an integer."""
    if type(other) is not list and type(other) is not tuple or not is_scalar(number):
        return False
    if info(number.v.dtype).kind not in b"iu":
        raise TypeError(f"can't multiply sequence by non-int of type 'numpy.{number.dtype.name}'")
    return True


cdef inline object inplace(Ufunc row, Tensor a, object b):
    if derived_made and is_told(b):
        return told_by_class(row, "__call__", (a, b), {"out": (a,)})
    return row.binary(a, b, a) if is_usual(b) else operated_inplace(row, a, b)


cdef object operated_inplace(Row row, Tensor a, object b):
    """``a op= b`` where `b` is neither an array nor a usual number: see `operated`."""
    if not is_operand(b):
        converted = converted_operand(b)
        if converted is None:
            if is_left_to(b, a):
                return NotImplemented
            return ops.hosts.in_place(_inplace_of[row], a, b, no_number(b))
        b = converted
    elif goes_first(b, a):
        return NotImplemented
    elif is_foreign(b):
        return row.ufunc(a, b, out=(a,))
    try:
        if isinstance(row, MatMul):
            return (<MatMul>row).product(a, as_tensor_like(b, a), a)
        return (<Ufunc>row).binary(a, b, a)
    except Unheld as error:
        return ops.hosts.in_place(_inplace_of[row], a, b, error)


cdef bint _powers_keep_dtypes = _numpy_facts.POWERS_KEEP_DTYPES


cdef object exponent_of(Tensor a, object exponent):
    """What older NumPys take an exponent for that is one of their scalars: see ``_numpy_facts``."""
    if not is_of(exponent, np.integer) and not is_of(exponent, np.floating) and not (
            isinstance(exponent, np.ndarray) and exponent.ndim == 0 and exponent.dtype.kind in "iuf"):
        return exponent
    if is_scalar(a):
        return exponent
    if exponent == 2:
        return 2 if info(a.v.dtype).kind == b"b" else exponent.item()
    return exponent.item() if info(a.v.dtype).kind in b"fc" and exponent in (-1, 0, 0.5, 1) else exponent


cdef Ufunc power_shortcut(Tensor a, object exponent):
    """NumPy's array ``**`` with these Python exponents runs another ufunc, with other bits."""
    t = type(exponent)
    if t is Number:
        return power_shortcut(a, (<Number>exponent).look())
    if t is not int and t is not float:
        return None
    kind = info(a.v.dtype).kind
    if t is int and exponent < 0 and (kind == b"i" or kind == b"b") and a.v.layout.size():
        if exponent < -(2 ** (63 if kind == b"b" else 8 * a.v.itemsize() - 1)):
            return None  # the dtype does not hold it: another error
        raise ValueError((<bytes>NEGATIVE_EXPONENT).decode())
    if is_scalar(a):
        return None
    if kind == b"f" or kind == b"c":
        # Since NumPy 2.3 a float of 2, 1 or -1 is an exponent like any other; for real numbers the first two have
        # the same bits all the same.
        same = t is int or not _powers_keep_dtypes
        if exponent == 2 and (same or kind == b"f"):
            return _square
        if exponent == 1 and (not _powers_keep_dtypes or kind == b"f"):
            return _positive
        if exponent == -1 and same:
            return _reciprocal
        if exponent == 0.5:
            return _sqrt
    elif t is int and exponent == 2:  # integers, and bool, whose square is int8
        return _square
    return None


def power_row(Tensor a, exponent):
    """The row that NumPy runs for ``a ** exponent`` with ``a`` alone; None: it is that of the power."""
    t = type(exponent)
    cdef bint inexact = info(a.v.dtype).kind in b"fc"
    if t is int and exponent < 0 and not inexact:
        return None
    if not _powers_keep_dtypes:
        return power_shortcut(a, exponent)
    if t is int and (exponent == 2 or exponent == -1):
        return _square if exponent == 2 else _reciprocal
    return _sqrt if t is float and exponent == 0.5 and inexact else None


cdef inline Ufunc power_for(Tensor a, object b):
    """Scalars and numbers have a power of their own, in the last bits."""
    if info(a.v.dtype).kind in b"biu" and (type(b) is float or type(b) is complex):
        return _power  # the number isn't of a's kind: NumPy's scalar has its ufunc compute
    if not is_scalar(a) or (not is_scalar(<Tensor>b) if is_tensor(b) else not is_usual(b) and not isinstance(b, np.generic)):
        return _power
    return _scalar_power


cdef inline Ufunc compared(int op):
    if op == Py_EQ: return _equal
    if op == Py_NE: return _not_equal
    if op == Py_LT: return _less
    if op == Py_LE: return _less_equal
    return _greater if op == Py_GT else _greater_equal


cdef class Operators(Tensor):
    """The operators of arrays and scalars."""

    def __add__(self, other): return binary(_add, QUICK_ADD, self, self, other)
    def __radd__(self, other):
        if isinstance(other, bytes):  # else these take the array for more bytes
            raise TypeError(f"unsupported operand type(s) for +: {type(other).__name__!r} and {type(self).__name__!r}")
        return binary(_add, QUICK_ADD, self, other, self)
    def __sub__(self, other): return binary(_subtract, QUICK_SUBTRACT, self, self, other)
    def __rsub__(self, other): return binary(_subtract, QUICK_SUBTRACT, self, other, self)
    def __mul__(self, other):
        if repeats(self, other):
            return other * int(self)
        return binary(_multiply, QUICK_MULTIPLY, self, self, other)
    def __rmul__(self, other):
        if repeats(self, other):
            return other * int(self)
        return binary(_multiply, QUICK_MULTIPLY, self, other, self)
    def __truediv__(self, other): return binary(_divide, QUICK_DIVIDE, self, self, other)
    def __rtruediv__(self, other): return binary(_divide, QUICK_DIVIDE, self, other, self)
    def __floordiv__(self, other): return binary(_floor_divide, QUICK_FLOOR, self, self, other)
    def __rfloordiv__(self, other): return binary(_floor_divide, QUICK_FLOOR, self, other, self)
    def __mod__(self, other): return binary(_remainder, QUICK_MOD, self, self, other)
    def __rmod__(self, other): return binary(_remainder, QUICK_MOD, self, other, self)
    def __divmod__(self, other): return divided(self, self, other)
    def __rdivmod__(self, other): return divided(self, other, self)
    def __and__(self, other): return logical(_and, QUICK_AND, self, self, other)
    def __rand__(self, other): return logical(_and, QUICK_AND, self, other, self)
    def __or__(self, other): return logical(_or, QUICK_OR, self, self, other)
    def __ror__(self, other): return logical(_or, QUICK_OR, self, other, self)
    def __xor__(self, other): return logical(_xor, QUICK_XOR, self, self, other)
    def __rxor__(self, other): return logical(_xor, QUICK_XOR, self, other, self)
    def __lshift__(self, other): return logical(_left_shift, QUICK_LEFT, self, self, other)
    def __rlshift__(self, other): return logical(_left_shift, QUICK_LEFT, self, other, self)
    def __rshift__(self, other): return logical(_right_shift, QUICK_RIGHT, self, self, other)
    def __rrshift__(self, other): return logical(_right_shift, QUICK_RIGHT, self, other, self)

    def __pow__(self, other, mod):
        if mod is not None:
            found = power_of_draw(self, other, mod) if (<Tensor>self).v.drawn else None
            return NotImplemented if found is None else found
        if meets_derived(self, other):
            return with_derived(_power, self, other)
        if (<Tensor>self).v.drawn:
            return binary(_power, QUICK_POWER, self, self, other)
        if is_tensor(other) and (<Tensor>other).v.drawn:
            other = plain(other)
        if not _powers_keep_dtypes:
            other = exponent_of(self, other)
        cdef Ufunc short = power_shortcut(self, other)
        if short is not None:
            return unary(short, self)
        return binary(power_for(self, other), QUICK_POWER, self, self, other)

    def __rpow__(self, other, mod):
        return binary(power_for(self, other), QUICK_POWER, self, other, self)

    def __matmul__(self, other):
        if meets_derived(self, other):
            return with_derived(_matmul, self, other)
        if is_tensor(other):
            return handed(_matmul.product(self, <Tensor>other, None))
        return operated(_matmul, self, other)

    def __rmatmul__(self, other): return operated(_matmul, other, self)

    def __neg__(self): return negated(_negative, QUICK_SUBTRACT, self)
    def __pos__(self):
        if is_scalar(self) and (<Tensor>self).v.dtype != D_BOOL and lone_ops():
            return handed(self)  # it never changes
        return signed(operator.pos, _positive, self)

    def __abs__(self): return negated(_absolute, QUICK_ADD, self)
    def __invert__(self):
        cdef Tensor t = None
        if (<Tensor>self).v.layout.ndim == 0 and not scalars_are_read and not (<Tensor>self).v.drawn:
            t = quick_inverted(self)
        return signed(operator.invert, _invert, self) if t is None else t

    def __richcmp__(self, other, int op):
        cdef Tensor t
        if meets_derived(self, other):
            return NotImplemented  # NumPy's scalars leave it to the array, too
        if (<Tensor>self).v.layout.ndim == 0 and not scalars_are_read and not is_with_axes(other):
            t = quick_compare(op, self, other)
            if (<Tensor>self).v.drawn and is_pythons(other):
                if t is not None:
                    return <bint>(t.v.elements()[0] != 0)
                x, y = plain(self), plain(other)
                if not is_tensor(x) and not is_tensor(y):
                    return PyObject_RichCompare(x, y, op)
            if t is not None:
                return t
            # The order of complex scalars raises no flag in NumPy, that of arrays does; long ones take less time so.
            if is_scalar(self) and (info((<Tensor>self).v.dtype).kind == b"c" and op != Py_EQ and op != Py_NE
                                    or info((<Tensor>self).v.dtype).code in b"gG" and not is_tensor(other)):
                found = of_scalars(_python_of[compared(op)], self, other)
                if found is not None:
                    return found
        if not is_usual(other):
            return operated(compared(op), self, other)
        return handed(compared(op).binary(self, other, None))

    # Beside __richcmp__: a type that defines one of the two inherits neither.
    # A scalar is hashed as the number that it is: counts[x[i]] += 1.
    def __hash__(self):
        cdef bint one = is_scalar(self)
        if one and is_known(self):
            if self.v.dtype == D_F8:
                return _Py_HashDouble(self, (<double*>self.v.elements())[0])
            if self.v.dtype == D_IL and 0 <= (<int64_t*>self.v.elements())[0] < _HASHED_AS_THEY_ARE:
                return (<int64_t*>self.v.elements())[0]
        else:
            # gather() and as_completed() file what they await in a dict; and nothing may wait there.
            if sys._getframe().f_globals.get("__name__") == "asyncio.tasks":
                return object.__hash__(self)
            if not one:
                raise TypeError(f"unhashable type: {type(self).__name__!r}")
        return hash(scalar(self, "?hash()"))
