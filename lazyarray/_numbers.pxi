# Operators of numbers: draws, which are Python's to NumPy, and where NumPy's scalars have rules of their own.


# Draws are Python's numbers to NumPy, and so is what is computed of them and of Python's own numbers: it prints as
# one, integers are as large as they must be, and a division by zero raises.

cdef inline bint is_pythons(object o):
    t = type(o)
    return t is float or t is int or t is bool or t is complex or is_tensor(o) and (<Tensor>o).v.drawn


cdef inline bint is_float_of_complex(object a, object b):
    """Whether ``a op b`` is Python's: to its ``complex``, on the left, NumPy's float64 is a ``float``."""
    cdef Tensor t
    if type(a) is not complex:
        if not is_tensor(a):
            return False
        t = <Tensor>a
        if not t.v.drawn or t.v.dtype != D_C16:
            return False
    return is_tensor(b) and (<Tensor>b).v.dtype == D_F8 and is_scalar(<Tensor>b)


cdef inline bint is_integer(object o):
    return type(o) is int or is_tensor(o) and (<Tensor>o).v.dtype == D_IL


cdef object as_pythons(object value):
    """A Python number as a scalar that prints as one; itself if it is a truth, or where that doesn't hold it."""
    found = value if type(value) is bool else array_of(value, cpu0())
    if is_tensor(found):
        (<Tensor>found).v.drawn = True
    return found


cdef inline object as_drawn_as(Tensor number, object part):
    """A part of a number, made for it: Python's if the number is."""
    if number.v.drawn and is_tensor(part):
        (<Tensor>part).v.drawn = True
    return part


cdef object of_draws(Ufunc row, int op, object a, object b):
    """``a op b`` of two numbers that are Python's to NumPy, one of them drawn or a float64."""
    cdef Tensor t = None
    # Of integers these lose their upper bits where they are NumPy's.
    if op < QUICK_LEFT and (op != QUICK_POWER or not (is_integer(a) and is_integer(b))):
        t = quick(op, a, b)
    if t is None or t.v.dtype == D_C16:
        x, y = plain(a), plain(b)
        if is_tensor(y):
            number = number_at_hand(<Tensor>y)
            y = y if number is None else number
        if not is_tensor(x) and not is_tensor(y):
            return as_pythons(_python_of[row](x, y))
        t = row.binary(a, b, None)
    t.v.drawn = t.v.dtype in (D_F8, D_IL, D_C16)
    return t


cdef object power_of_draw(Tensor a, object exponent, object modulus):
    """``pow`` of three."""
    return of_draw(lambda x: pow(x, plain(exponent), plain(modulus)), a)


cdef object of_draw(object own, Tensor a):
    """Python's operator of one; None if it isn't there yet."""
    number = plain(a)
    return None if is_tensor(number) else as_pythons(own(number))


# NumPy's own scalars have rules of their own, too: they tell of overflows of integers, say "scalar" in their
# warnings, and multiply complex numbers by other code than arrays.

cdef object numpys_number(object o):
    """NumPy's scalar that an operand is, or Python's number; None for an array and what isn't there yet."""
    o = plain(o)
    if is_tensor(o):
        if not is_scalar(<Tensor>o) or not (<Tensor>o).v.near():
            return None
        return only_value(<Tensor>o)
    t = type(o)
    return o if t is float or t is int or t is bool or t is complex or is_of(o, np.generic) else None


cdef object of_scalars(object own, object a, object b):
    """Python's operator of two numbers, as NumPy's scalars have it; None if one isn't there yet."""
    if recording() or capturing() or recorder().engine().profiling():  # who sees instructions
        return None
    x, y = numpys_number(a), numpys_number(b)
    if x is None or y is None:
        return None
    found = own(x, y)
    return tuple([array_of(v, cpu0()) for v in found]) if type(found) is tuple else array_of(found, cpu0())
