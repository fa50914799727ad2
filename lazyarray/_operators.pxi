# NDArray's operators: each slot calls its row of the op table.


cdef Ufunc _add = table["add"]
cdef Ufunc _subtract = table["subtract"]
cdef Ufunc _multiply = table["multiply"]
cdef Ufunc _divide = table["divide"]
cdef Ufunc _floor_divide = table["floor_divide"]
cdef Ufunc _remainder = table["remainder"]
cdef Ufunc _divmod = table["divmod"]
cdef Ufunc _power = table["power"]
cdef Ufunc _negative = table["negative"]
cdef Ufunc _positive = table["positive"]
cdef Ufunc _absolute = table["absolute"]
cdef Ufunc _invert = table["invert"]
cdef Ufunc _and = table["bitwise_and"]
cdef Ufunc _or = table["bitwise_or"]
cdef Ufunc _xor = table["bitwise_xor"]
cdef Ufunc _left_shift = table["left_shift"]
cdef Ufunc _right_shift = table["right_shift"]
cdef Ufunc _square = table["square"]
cdef Ufunc _sqrt = table["sqrt"]
cdef Ufunc _reciprocal = table["reciprocal"]
cdef Ufunc _less = table["less"]
cdef Ufunc _less_equal = table["less_equal"]
cdef Ufunc _greater = table["greater"]
cdef Ufunc _greater_equal = table["greater_equal"]
cdef Ufunc _equal = table["equal"]
cdef Ufunc _not_equal = table["not_equal"]
cdef MatMul _matmul = table["matmul"]


cdef inline bint is_usual(object o):
    t = type(o)
    return t is int or t is float or is_tensor(o)


cdef inline object binary(Ufunc row, int op, Tensor self, object a, object b):
    """``a op b``, of which ``self`` is one; `op` is what `quick` calls it."""
    cdef Tensor t
    if self.v.layout.ndim == 0 and op != NOT_QUICK and not scalars_are_read:
        t = quick(op, a, b)
        if t is None and is_whole(self) and self.v.dtype != D_IL:
            t = quick_whole(op, self, b if a is self else a, a is not self)
        if t is not None:
            return t
    if not (is_usual(a) and is_usual(b)) and (not is_operand(b) or not is_operand(a)):
        return NotImplemented
    found = row.binary(a, b, None)
    return read_out(found) if scalars_are_read else found


cdef inline bint is_whole(Tensor x) noexcept:
    return info(x.v.dtype).kind in b"iu"


cdef inline object logical(Ufunc row, int op, Tensor self, object a, object b):
    """``a op b``, of which ``self`` is one, for the operations on bits."""
    cdef Tensor t
    if self.v.layout.ndim == 0 and not scalars_are_read:
        if self.v.dtype == D_BOOL and op <= QUICK_XOR:
            t = quick_logic(op, self, b if a is self else a)
        else:
            t = quick_whole(op, self, b if a is self else a, a is not self)
        if t is not None:
            return t
    return binary(row, NOT_QUICK, self, a, b)


cdef inline object negated(Ufunc row, int op, Tensor a):
    cdef Tensor t
    if a.v.layout.ndim == 0 and not scalars_are_read:
        t = quick_unary(op, a)
        if t is not None:
            return t
    return unary(row, a)


cdef inline object unary(Ufunc row, Tensor a):
    found = row.unary(a, None)
    return read_out(found) if scalars_are_read else found


cdef object divided(Tensor self, object a, object b):
    """``divmod(a, b)``."""
    cdef Tensor whole, rest
    if self.v.layout.ndim == 0 and not scalars_are_read:
        whole = quick(QUICK_FLOOR, a, b)
        rest = None if whole is None else quick(QUICK_MOD, a, b)
        if rest is not None:
            return whole, rest
    return binary(_divmod, NOT_QUICK, self, a, b)


cdef object repeated(Tensor number, object other):
    """``[0] * n`` and ``n * (0,)`` with an element ``n`` repeat the sequence; None for all else."""
    if type(other) is not list and type(other) is not tuple:
        return None
    if number.v.layout.ndim or info(number.v.dtype).kind not in b"iu":
        return None
    return other * int(number) or None


cdef inline object inplace(Ufunc row, Tensor a, object b):
    if not is_operand(b):
        return NotImplemented
    return row.binary(a, b, a)


cdef Ufunc power_shortcut(Tensor a, object exponent):
    """NumPy's array ``**`` with these Python exponents runs another ufunc, with other bits."""
    t = type(exponent)
    if t is Number:
        return power_shortcut(a, (<Number>exponent).look())
    if t is not int and t is not float:
        return None
    kind = info(a.v.dtype).kind
    if t is int and exponent < 0 and (kind == b"i" or kind == b"b") and a.v.layout.size():
        raise ValueError("Integers to negative integer powers are not allowed.")
    if is_scalar(a):
        return None
    if kind == b"f" or kind == b"c":
        if exponent == 2:
            return _square
        if exponent == 1:
            return _positive
        if exponent == -1:
            return _reciprocal
        if exponent == 0.5:
            return _sqrt
    elif t is int and exponent == 2:  # integers, and bool, whose square is int8
        return _square
    return None


# NumPy copies up to this many elements without letting go of the GIL.
cdef enum:
    _COPIED_WITH_THE_GIL = 500
    _COPIED_SOON = 32768  # bytes: to copy them takes less than an instruction


cdef class Operators(Tensor):
    """The part of NDArray that its operators are."""

    def __add__(self, other): return binary(_add, QUICK_ADD, self, self, other)
    def __radd__(self, other):
        if isinstance(other, (bytes, bytearray)):  # else they take the array for more bytes
            raise TypeError(f"unsupported operand type(s) for +: {type(other).__name__!r} and {type(self).__name__!r}")
        return binary(_add, QUICK_ADD, self, other, self)
    def __iadd__(self, other): return inplace(_add, self, other)
    def __sub__(self, other): return binary(_subtract, QUICK_SUBTRACT, self, self, other)
    def __rsub__(self, other): return binary(_subtract, QUICK_SUBTRACT, self, other, self)
    def __isub__(self, other): return inplace(_subtract, self, other)
    def __mul__(self, other): return repeated(self, other) or binary(_multiply, QUICK_MULTIPLY, self, self, other)
    def __rmul__(self, other): return repeated(self, other) or binary(_multiply, QUICK_MULTIPLY, self, other, self)
    def __imul__(self, other): return inplace(_multiply, self, other)
    def __truediv__(self, other): return binary(_divide, QUICK_DIVIDE, self, self, other)
    def __rtruediv__(self, other): return binary(_divide, QUICK_DIVIDE, self, other, self)
    def __itruediv__(self, other): return inplace(_divide, self, other)
    def __floordiv__(self, other): return binary(_floor_divide, QUICK_FLOOR, self, self, other)
    def __rfloordiv__(self, other): return binary(_floor_divide, QUICK_FLOOR, self, other, self)
    def __ifloordiv__(self, other): return inplace(_floor_divide, self, other)
    def __mod__(self, other): return binary(_remainder, QUICK_MOD, self, self, other)
    def __rmod__(self, other): return binary(_remainder, QUICK_MOD, self, other, self)
    def __imod__(self, other): return inplace(_remainder, self, other)
    def __divmod__(self, other): return divided(self, self, other)
    def __rdivmod__(self, other): return divided(self, other, self)
    def __and__(self, other): return logical(_and, QUICK_AND, self, self, other)
    def __rand__(self, other): return logical(_and, QUICK_AND, self, other, self)
    def __iand__(self, other): return inplace(_and, self, other)
    def __or__(self, other): return logical(_or, QUICK_OR, self, self, other)
    def __ror__(self, other): return logical(_or, QUICK_OR, self, other, self)
    def __ior__(self, other): return inplace(_or, self, other)
    def __xor__(self, other): return logical(_xor, QUICK_XOR, self, self, other)
    def __rxor__(self, other): return logical(_xor, QUICK_XOR, self, other, self)
    def __ixor__(self, other): return inplace(_xor, self, other)
    def __lshift__(self, other): return logical(_left_shift, QUICK_LEFT, self, self, other)
    def __rlshift__(self, other): return logical(_left_shift, QUICK_LEFT, self, other, self)
    def __ilshift__(self, other): return inplace(_left_shift, self, other)
    def __rshift__(self, other): return logical(_right_shift, QUICK_RIGHT, self, self, other)
    def __rrshift__(self, other): return logical(_right_shift, QUICK_RIGHT, self, other, self)
    def __irshift__(self, other): return inplace(_right_shift, self, other)

    def __pow__(self, other, mod):
        if mod is not None:
            return NotImplemented
        cdef Ufunc short = power_shortcut(self, other)
        if short is not None:
            return unary(short, self)
        return binary(_power, QUICK_POWER, self, self, other)

    def __rpow__(self, other, mod):
        return binary(_power, QUICK_POWER, self, other, self)

    def __ipow__(self, other):
        cdef Ufunc short = power_shortcut(self, other)
        if short is not None:
            return short.unary(self, self)
        return inplace(_power, self, other)

    def __matmul__(self, other):
        if not is_operand(other):
            return NotImplemented
        if is_foreign(other):
            return np.matmul(self, other)
        return handed(_matmul.product(self, as_tensor_on(other, self.v.chunk.device), None))

    def __rmatmul__(self, other):
        if not is_operand(other):
            return NotImplemented
        if is_foreign(other):
            return np.matmul(other, self)
        return handed(_matmul.product(as_tensor_on(other, self.v.chunk.device), self, None))

    def __imatmul__(self, other):
        if not is_operand(other):
            return NotImplemented
        return _matmul.product(self, as_tensor_on(other, self.v.chunk.device), self)

    def __neg__(self): return negated(_negative, QUICK_SUBTRACT, self)
    def __pos__(self): return unary(_positive, self)
    def __abs__(self): return negated(_absolute, QUICK_ADD, self)
    def __invert__(self): return unary(_invert, self)

    def __richcmp__(self, other, int op):
        cdef Tensor t
        if (<Tensor>self).v.layout.ndim == 0 and not scalars_are_read:
            t = quick_compare(op, self, other)
            if t is not None:
                return t
        if not is_operand(other):
            if (op == Py_EQ or op == Py_NE) and (other is None or isinstance(other, (str, bytes))):
                # Element by element, as in NumPy: `x == None` is an array.
                return handed(returned(ops.full_like(self, op == Py_NE, np.bool_)))
            return NotImplemented
        if op == Py_EQ: return handed(_equal.binary(self, other, None))
        if op == Py_NE: return handed(_not_equal.binary(self, other, None))
        if op == Py_LT: return handed(_less.binary(self, other, None))
        if op == Py_LE: return handed(_less_equal.binary(self, other, None))
        if op == Py_GT: return handed(_greater.binary(self, other, None))
        return handed(_greater_equal.binary(self, other, None))

    # Beside __richcmp__: a type that defines one of the two inherits neither.
    # An element is hashed as the number that it is: counts[x[i]] += 1.
    def __hash__(self):
        if self.v.layout.ndim:
            raise TypeError("unhashable type: 'NDArray'")
        return hash(scalar(self, "?hash()"))
