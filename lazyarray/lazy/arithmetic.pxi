# Arithmetic of two numbers, of which one is an array without axes that is at hand: see arithmetic.h. The
# functions return None where it isn't that simple.


cdef extern from "lazy/arithmetic.h" namespace "lazyarray" nogil:
    cdef cppclass Term:
        int kind
        bint weak, array, scalar, other_size, truth, narrow
        int64_t whole
        double real, imag
        void take(double) noexcept
        void take(double, double) noexcept
        void take_single "take"(double, int) noexcept
        void take_whole(int64_t) noexcept
    int WHOLE "lazyarray::Term::WHOLE"
    int SINGLE "lazyarray::Term::SINGLE"
    int DOUBLE "lazyarray::Term::DOUBLE"
    int COMPLEX "lazyarray::Term::COMPLEX"
    bint double_of "lazyarray::real_of<double>"(int, double, double, double*) noexcept
    bint float_of "lazyarray::real_of<float>"(int, float, float, float*) noexcept
    bint whole_of(int, int64_t, int64_t, int64_t*) noexcept
    bint whole_of_size(int, int, bint, int64_t, int64_t, int64_t*) noexcept
    bint whole_fits(int64_t, int, bint) noexcept
    bint is_of_bits(int) noexcept
    void put_whole(char*, int, int64_t) noexcept
    bint complex_of(int, const Term&, const Term&, double*) noexcept
    bint magnitude_of(const Term&, double*) noexcept
    bint compare_of "lazyarray::compare_of<double>"(int, double, double) noexcept
    bint compare_whole "lazyarray::compare_of<int64_t>"(int, int64_t, int64_t) noexcept
    bint single_of(const Term&, float*) noexcept
    bint are_single(const Term&, const Term&) noexcept


# NumPy's scalars of the other integers, by their sizes: 1, 2, 4, and 8 for those without a sign.
cdef PyTypeObject* _signed[4]
cdef PyTypeObject* _unsigned[4]
_signed[0] = <PyTypeObject*>np.int8
_signed[1] = <PyTypeObject*>np.int16
_signed[2] = <PyTypeObject*>np.int32
_signed[3] = NULL
_unsigned[0] = <PyTypeObject*>np.uint8
_unsigned[1] = <PyTypeObject*>np.uint16
_unsigned[2] = <PyTypeObject*>np.uint32
_unsigned[3] = <PyTypeObject*>np.uint64


cdef bint take_numpys(object o, Term* v) noexcept:
    """The value of one of NumPy's scalars of the other integers."""
    cdef int64_t value = 0
    cdef int64_t n
    cdef int i
    for i in range(4):
        if Py_TYPE(o) == _signed[i] or Py_TYPE(o) == _unsigned[i]:
            break
    else:
        return False
    cdef bint signed = Py_TYPE(o) == _signed[i]
    cnp.PyArray_ScalarAsCtype(o, &value)
    n = whole_at(<char*>&value, 1 << i, signed)
    v.other_size = True
    v.narrow = signed or i < 3
    v.take_whole(n)
    return signed or n >= 0


cdef bint take_term(object o, Term* v) noexcept:
    """The value of a Python number, or of an array without axes that is at hand.

    Of integers those that 64 bits hold, which `other_size` says of other dtypes than int64; truths are 0 and 1.
    """
    cdef int64_t n
    cdef float single
    cdef Tensor t
    cdef char* p
    cdef type kind = type(o)
    v.array = v.scalar = v.other_size = v.truth = v.narrow = False
    v.weak = True
    if kind is float:
        v.take(PyFloat_AS_DOUBLE(o))
        return True
    if kind is int:
        n = 0
        if not whole_number(o, &n):
            return False
        v.take_whole(n)
        return True
    if kind is complex:
        v.take(PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o))
        return True
    v.weak = False
    if kind is bool:
        v.other_size = v.truth = v.narrow = True
        v.take_whole(o is True)
        return True
    if kind is _float64:
        v.take(PyFloat_AS_DOUBLE(o))
        return True
    if kind is _int64:
        cnp.PyArray_ScalarAsCtype(o, &n)
        v.take_whole(n)
        return True
    if kind is _float32:
        cnp.PyArray_ScalarAsCtype(o, &single)
        v.take_single(single, SINGLE)
        return True
    if not is_tensor(o):
        return take_numpys(o, v)
    t = <Tensor>o
    if t.v.layout.ndim or not t.v.near():
        return False
    p = t.v.elements()
    v.array = True
    v.scalar = is_scalar(t)
    v.weak = t.v.drawn  # to NumPy it is Python's number
    if t.v.dtype == D_F8:
        v.take((<double*>p)[0])
    elif t.v.dtype == D_IL:
        v.take_whole((<int64_t*>p)[0])
    elif t.v.dtype == D_F4:
        v.take_single((<float*>p)[0], SINGLE)
    elif t.v.dtype == D_C16:
        v.take((<double*>p)[0], (<double*>p)[1])
    elif info(t.v.dtype).kind in b"iu":
        v.other_size = True
        n = whole_at(p, info(t.v.dtype).size, info(t.v.dtype).kind == b"i")
        v.take_whole(n)
        v.narrow = info(t.v.dtype).kind == b"i" or info(t.v.dtype).size < 8
        return info(t.v.dtype).kind == b"i" or n >= 0
    elif t.v.dtype == D_BOOL:
        v.other_size = v.truth = v.narrow = True
        v.take_whole(p[0] != 0)
    else:
        return False
    return True


cdef object drawn_number(Tensor t):
    """The Python number that a draw is to NumPy; None for any other number, and where it isn't to be read now."""
    return number_at_hand(t) if t.v.drawn else None


cdef object number_at_hand(Tensor t):
    """The value of a scalar of float64, int64, bool or complex128; None where it isn't to be read now."""
    cdef char* p
    if recording() or capturing() or not t.v.near():
        return None
    p = t.v.elements()
    if t.v.dtype == D_F8:
        return (<double*>p)[0]
    if t.v.dtype == D_IL:
        return (<int64_t*>p)[0]
    return bool(p[0]) if t.v.dtype == D_BOOL else complex((<double*>p)[0], (<double*>p)[1])


# The commonest of what `take_term` takes, at less than its price.

cdef inline char* scalar_at_hand(object o, int dtype) noexcept:
    """Where the value of a scalar of the dtype is; null for all else."""
    cdef View* v
    if Py_TYPE(o) != _scalar_types[dtype]:
        return NULL
    v = &(<Tensor>o).v
    return v.elements() if v.dtype == dtype and not v.layout.ndim and v.near() else NULL


cdef bint double_at_hand(object o, double* value) noexcept:
    """The value of a scalar of float64, or of a Python number that is one."""
    cdef char* p = scalar_at_hand(o, D_F8)
    cdef int64_t n
    if p is not NULL:
        value[0] = (<double*>p)[0]
        return True
    if type(o) is float:
        value[0] = PyFloat_AS_DOUBLE(o)
        return True
    if type(o) is not int or not whole_number(o, &n):
        return False
    value[0] = <double>n
    return True


cdef bint are_double(object a, object b, double* x, double* y) noexcept:
    """Both such values, where a Python number may be an integer of more than 63 bits."""
    return (double_at_hand(a, x) or put_large(x, a, D_F8)) and (double_at_hand(b, y) or put_large(y, b, D_F8))


cdef bint whole_at_hand(object o, int64_t* value) noexcept:
    """The same of int64."""
    cdef char* p = scalar_at_hand(o, D_IL)
    if p is not NULL:
        value[0] = (<int64_t*>p)[0]
        return True
    return type(o) is int and whole_number(o, value)


cdef inline bint whole_number(object o, int64_t* value) noexcept:
    """The value of a Python integer of 64 bits. (Beside floats NumPy rounds it to one, as C does.)"""
    cdef int overflow = 0
    value[0] = PyLong_AsLongAndOverflow(o, &overflow)
    return not overflow


cdef inline Tensor new_double(double value):
    cdef Tensor t = new_element(D_F8, cpu0())
    (<double*>t.v.elements())[0] = value
    return t


cdef inline Tensor new_whole(int64_t value):
    cdef Tensor t = new_element(D_IL, cpu0())
    (<int64_t*>t.v.elements())[0] = value
    return t


cdef inline Tensor new_single(float value):
    cdef Tensor t = new_element(D_F4, cpu0())
    (<float*>t.v.elements())[0] = value
    return t


cdef inline Tensor new_complex(double real, double imag):
    cdef Tensor t = new_element(D_C16, cpu0())
    (<double*>t.v.elements())[0] = real
    (<double*>t.v.elements())[1] = imag
    return t


cdef Tensor quick(int op, object a, object b):
    """``a op b``, or None where it isn't that simple."""
    cdef Term x, y
    cdef double r
    cdef int64_t n
    if not lone_ops():
        return None
    if double_at_hand(a, &x.real) and double_at_hand(b, &y.real):
        return new_double(r) if double_of(op, x.real, y.real, &r) else None
    if op != QUICK_DIVIDE and whole_at_hand(a, &x.whole) and whole_at_hand(b, &y.whole):
        return new_whole(n) if whole_of(op, x.whole, y.whole, &n) else None
    if not take_term(a, &x) or not take_term(b, &y):
        if op > QUICK_DIVIDE or not are_double(a, b, &x.real, &y.real):
            return None
        return new_double(r) if double_of(op, x.real, y.real, &r) else None
    if op >= QUICK_POWER and (x.other_size > (x.array or x.truth) or y.other_size > (y.array or y.truth)):
        return None  # for a scalar of its smaller integers NumPy takes an array's loop
    if x.other_size and not is_widened(op, &x, &y) or y.other_size and not is_widened(op, &y, &x):
        return None
    if x.kind == WHOLE and y.kind == WHOLE and op != QUICK_DIVIDE:
        return new_whole(n) if whole_of(op, x.whole, y.whole, &n) else None
    if x.kind == COMPLEX or y.kind == COMPLEX or x.kind == SINGLE or y.kind == SINGLE:
        return quick_special(op, &x, &y)
    # NumPy calls the C library for its scalars only, and has loops of its own for remainders of arrays.
    if op >= QUICK_POWER and not (as_numpys_double(&x, &y) and as_numpys_double(&y, &x) and (x.scalar or y.scalar)):
        return None
    return new_double(r) if double_of(op, x.real, y.real, &r) else None


cdef inline bint is_widened(int op, const Term* x, const Term* other) noexcept:
    """Whether ``x``, which is no int64, is computed with as the ``other``'s dtype has it: int64 or float64."""
    if x.truth and op > QUICK_DIVIDE:
        return False
    if other.kind == DOUBLE:
        return True
    return x.narrow and other.kind == WHOLE and not other.other_size and (x.truth or not other.weak)


cdef inline bint as_numpys_double(const Term* x, const Term* other) noexcept:
    """Whether NumPy computes with ``x`` as with its scalars of float64: an integer it does beside one of those."""
    return not x.array or x.scalar and (x.kind == DOUBLE or not other.weak and other.array == other.scalar)


cdef Tensor quick_special(int op, const Term* x, const Term* y):
    """The same of complex numbers and single precision."""
    cdef double[2] c
    cdef double r
    cdef float p, q, s
    if x.array > x.scalar or y.array > y.scalar:  # arrays have other loops
        return None
    if x.kind == COMPLEX or y.kind == COMPLEX:
        if x.kind == SINGLE or y.kind == SINGLE or not complex_of(op, x[0], y[0], c):
            return None
        return new_complex(c[0], c[1])
    if are_single(x[0], y[0]):
        if single_of(x[0], &p) and single_of(y[0], &q) and float_of(op, p, q, &s):
            return new_single(s)
        return None
    if op == QUICK_POWER and (x.kind == WHOLE or y.kind == WHOLE):  # NumPy takes it for an array's
        return None
    return new_double(r) if double_of(op, x.real, y.real, &r) else None


cdef Tensor quick_whole(int op, Tensor a, object other, bint turned):
    """``a op other``, or turned round, of integers of one dtype, or a Python number that it holds.

    The quotient of two integers of any dtype is a float64.
    """
    cdef int size = info(a.v.dtype).size, overflow = 0
    cdef bint is_signed = info(a.v.dtype).kind == b"i"
    cdef int64_t x, y, r
    cdef double quotient
    cdef Tensor t
    if not is_signed and info(a.v.dtype).kind != b"u" or not lone_ops() or not a.v.near():
        return None
    x = whole_at(a.v.elements(), size, is_signed)
    if type(other) is int:
        y = PyLong_AsLongAndOverflow(other, &overflow)
        if not (put_large(&y, other, a.v.dtype) if overflow else whole_fits(y, size, is_signed)):
            return None
    elif is_tensor(other):
        t = <Tensor>other
        if t.v.dtype != a.v.dtype or t.v.layout.ndim or not t.v.near():
            return None
        y = whole_at(t.v.elements(), size, is_signed)
    else:
        return None
    if not is_signed and (x < 0 or y < 0) and not is_of_bits(op):  # beyond 63 bits
        return None
    if turned:
        x, y = y, x
    if op == QUICK_DIVIDE:
        return new_double(quotient) if double_of(op, <double>x, <double>y, &quotient) else None
    if not whole_of_size(op, size, is_signed, x, y, &r):
        return None
    t = new_element(a.v.dtype, cpu0())
    put_whole(t.v.elements(), size, r)
    return t


cdef Tensor quick_inverted(Tensor a):
    """``~a`` of an integer or a truth that is at hand; else None."""
    cdef int size = info(a.v.dtype).size
    cdef Tensor t
    if info(a.v.dtype).kind not in b"iub" or not lone_ops() or not a.v.near():
        return None
    if a.v.dtype == D_BOOL:
        return truth(not (a.v.elements())[0])
    t = new_element(a.v.dtype, cpu0())
    put_whole(t.v.elements(), size, ~whole_at(a.v.elements(), size, True))
    return t


cdef Tensor quick_logic(int op, Tensor a, object b):
    """``a & b`` and its kin of two truths, or None where it isn't that simple."""
    cdef bint x, y
    cdef Tensor t
    if a.v.dtype != D_BOOL or not lone_ops() or not a.v.near():
        return None
    x = (a.v.elements())[0]
    if type(b) is bool:
        y = b
    elif is_tensor(b):
        t = <Tensor>b
        if t.v.dtype != D_BOOL or t.v.layout.ndim or not t.v.near():
            return None
        y = (t.v.elements())[0]
    else:
        return None
    return truth(x and y if op == QUICK_AND else x or y if op == QUICK_OR else x != y)


cdef Tensor quick_part(Tensor x, int part):
    """The real (0) or imaginary (1) part of a number; None where it isn't that simple."""
    cdef Tensor t
    cdef bint is_complex = info(x.v.dtype).kind == b"c"
    if x.v.layout.ndim or not lone_ops() or not x.v.at_hand() \
            or (x.v.dtype != D_C16 and x.v.dtype != D_C8 if is_complex else part == 0):
        return None
    if not is_complex:
        t = new_element(x.v.dtype, x.v.device())
        memset(t.v.elements(), 0, info(x.v.dtype).size)
        return t
    cdef bint is_double = x.v.dtype == D_C16
    t = new_element(D_F8 if is_double else D_F4, x.v.device())
    if is_double:
        (<double*>t.v.elements())[0] = (<double*>(x.v.elements()))[part]
    else:
        (<float*>t.v.elements())[0] = (<float*>(x.v.elements()))[part]
    return t


cdef Tensor quick_compare(int op, object a, object b):
    """``a op b`` for Python's number of the comparison, or None where it isn't that simple."""
    cdef Term x, y
    cdef float p, q
    if not lone_ops():
        return None
    if double_at_hand(a, &x.real) and double_at_hand(b, &y.real):
        return truth(compare_of(op, x.real, y.real))
    if whole_at_hand(a, &x.whole) and whole_at_hand(b, &y.whole):
        return truth(compare_whole(op, x.whole, y.whole))
    if not take_term(a, &x) or not take_term(b, &y):
        if are_double(a, b, &x.real, &y.real):
            return truth(compare_of(op, x.real, y.real))
        return None
    if x.kind == WHOLE and y.kind == WHOLE:
        return truth(compare_whole(op, x.whole, y.whole))
    if x.kind == COMPLEX or y.kind == COMPLEX:
        if x.kind == SINGLE or y.kind == SINGLE:
            return None
        if op == Py_EQ:
            return truth(x.real == y.real and x.imag == y.imag)
        if op == Py_NE:
            return truth(x.real != y.real or x.imag != y.imag)
        return None
    if are_single(x, y):
        if not single_of(x, &p) or not single_of(y, &q):
            return None
        return truth(compare_of(op, p, q))
    return truth(compare_of(op, x.real, y.real))


cdef Tensor new_whole_like(Tensor a, int64_t value):
    """The number as a scalar of the integer dtype of ``a``, or None where it doesn't hold it."""
    cdef int size = info(a.v.dtype).size
    if not whole_fits(value, size, info(a.v.dtype).kind == b"i"):
        return None
    cdef Tensor t = new_element(a.v.dtype, cpu0())
    put_whole(t.v.elements(), size, value)
    return t


cdef Tensor quick_unary(int op, Tensor a):
    """``-a`` or ``abs(a)``, or None where it isn't that simple."""
    cdef Term x
    cdef double r
    cdef bint negative = op == QUICK_SUBTRACT
    if not lone_ops():
        return None
    if Py_TYPE(a) == _scalar_types[D_F8] and double_at_hand(a, &r):
        return new_double(-r if negative else fabs(r))
    if not take_term(a, &x) or x.truth:
        return None
    if x.kind == WHOLE:
        if x.whole == INT64_MIN:
            return None
        return new_whole_like(a, -x.whole if negative or x.whole < 0 else x.whole)
    if x.kind == COMPLEX:
        if negative:
            return new_complex(-x.real, -x.imag)
        return new_double(r) if x.scalar and magnitude_of(x, &r) else None
    r = -x.real if negative else fabs(x.real)
    return new_single(r) if x.kind == SINGLE else new_double(r)
