# Single elements: read, written and computed at once, without an instruction.
#
# A loop over single elements costs what its bookkeeping costs. Where everything is complete and plain
# (see `at_hand`), the effect of an instruction run inline is a few bytes moved and a version counted;
# whatever is not plain (pending, failed, another device, floating-point flags) goes the long way.


cdef bint at_hand(Chunk* c, bint write) noexcept:
    """Whether the memory can be read (or written) now, with nothing to be told to anybody."""
    return c.data is not NULL and (c.idle() if write else c.readable()) and c.plain() \
        and c.error.load() is NULL and not c.deleted.load()


cdef bint lone_ops() noexcept:
    """Whether instructions may run in the caller's thread now, in the engine's usual way, unseen."""
    return _recorder.policy.inline_ns > _LONE_NS and not _recorder.engine().stopped() \
        and _recorder.engine().policy() != NAIVE and not recording() and not capturing() \
        and not _recorder.engine().tracing()


cdef enum:
    _LONE_NS = 100


cdef extern from *:
    """
    // Scalars that died, kept with their chunks: loops over single numbers make and drop one after the
    // other, and half of what one costs is making the two. The GIL guards them.
    struct Spares {
      static constexpr int kMost = 16384;  // of half a KB each, at most
      PyObject* kept[kMost];
      int n = 0;
    };
    static Spares spares;
    static struct { Py_ssize_t view, handle, weak; } tensor_parts;
    static PyTypeObject** types_of_scalars;
    static destructor plain_dealloc;

    static void keep_or_dealloc(PyObject* o) {
      char* p = reinterpret_cast<char*>(o);
      lazyarray::View& v = *reinterpret_cast<lazyarray::View*>(p + tensor_parts.view);
      // A scalar, not an object of a class derived from its: such a class has a dealloc of its own.
      if (Py_TYPE(o) == types_of_scalars[v.dtype] && spares.n < Spares::kMost) {
        lazyarray::Chunk* c = reinterpret_cast<Handle*>(p + tensor_parts.handle)->chunk;
        if (c && c == v.chunk && c->reusable() && !v.layout.ndim && !v.layout.offset && !v.detached &&
            !*reinterpret_cast<PyObject**>(p + tensor_parts.weak)) {
          spares.kept[spares.n++] = o;
          return;
        }
      }
      plain_dealloc(o);
    }
    // A scalar whose value is the caller's to write. There must be a spare one.
    static PyObject* spare_scalar(int dtype) {
      PyObject* o = spares.kept[--spares.n];
      lazyarray::View& v =
          *reinterpret_cast<lazyarray::View*>(reinterpret_cast<char*>(o) + tensor_parts.view);
      v.dtype = dtype;
      v.readonly = true;
      v.chunk->renew(lazyarray::info(dtype).size);
      return PyObject_Init(o, types_of_scalars[dtype]);
    }
    static destructor take_over(PyTypeObject* t, Py_ssize_t view, Py_ssize_t handle, PyTypeObject** scalars) {
      if (t->tp_dealloc == keep_or_dealloc) return keep_or_dealloc;
      if (!plain_dealloc) plain_dealloc = t->tp_dealloc;
      tensor_parts.view = view;
      tensor_parts.handle = handle;
      tensor_parts.weak = t->tp_weaklistoffset;
      types_of_scalars = scalars;
      return t->tp_dealloc == plain_dealloc ? t->tp_dealloc = keep_or_dealloc : nullptr;
    }
    """
    cdef cppclass Spares:
        int n
    Spares spares
    object spare_scalar(int)
    destructor take_over(PyTypeObject*, Py_ssize_t, Py_ssize_t, PyTypeObject**)


cdef destructor keeping_spares(type t) except NULL:
    """Has the type keep scalars that died; its dealloc."""
    cdef Tensor like = blank_tensor(D_F8)
    cdef char* p = <char*><PyObject*>like
    cdef destructor found = take_over(<PyTypeObject*>t, <char*>&like.v - p, <char*>&like.handle - p,
                                      _scalar_types)
    if found is NULL:
        raise SystemError(f"{t.__name__} has a dealloc of its own")
    return found


cdef Tensor new_element(int dtype, CDevice device):
    """A scalar that is written already, by the caller."""
    cdef Tensor t
    _recorder.inlined += 1
    if spares.n and device == cpu0():
        return spare_scalar(dtype)
    t = blank_tensor(dtype)
    seal(t)
    cdef Chunk* c = _recorder.store().create(info(dtype).size, device)
    c.adopt_handle()
    c.written_once()
    t.v.chunk = t.handle.chunk = c
    return t


cdef Tensor _true = None, _false = None


cdef Tensor truth(bint value):
    """One of the two scalars that comparisons on the host give, as NumPy's ``True_`` and ``False_``."""
    global _true, _false
    cdef Tensor t = _true if value else _false
    # Not if somebody has made another array of it: NDArray's setters and __init__ are open to all.
    if t is not None and at_hand(t.v.chunk, False) and not t.v.layout.ndim and t.v.dtype == D_BOOL \
            and t.v.chunk.data[t.v.layout.offset] == value:
        return t
    t = new_element(D_BOOL, cpu0())
    t.v.chunk.data[0] = value
    if value:
        _true = t
    else:
        _false = t
    return t


cdef Tensor get_element(Tensor x, npy_intp offset):
    """A copy of the element at `offset` of the chunk, or None if it isn't at hand."""
    cdef Chunk* c = x.v.chunk
    if not at_hand(c, False) or not lone_ops():
        return None
    cdef Tensor t = new_element(x.v.dtype, c.device)
    memcpy(t.v.chunk.data, c.data + offset, info(x.v.dtype).size)
    return t


cdef bint set_element(Tensor x, npy_intp offset, object value) except -1:
    """Writes a number or a 0-d tensor to the element at `offset`; false if that isn't plain."""
    cdef Chunk* c = x.v.chunk
    cdef Tensor t
    if not at_hand(c, True) or x.v.readonly or not lone_ops():
        return False
    if is_tensor(value):
        t = <Tensor>value
        if t.v.dtype != x.v.dtype or t.v.layout.ndim or not at_hand(t.v.chunk, False) \
                or not (t.v.chunk.device == c.device) \
                or t.v.chunk == c and t.v.layout.offset == offset:
            return False
        memmove(c.data + offset, t.v.chunk.data + t.v.layout.offset, info(x.v.dtype).size)
    elif not put_number(c.data + offset, value, x.v.dtype):
        return False
    c.version.fetch_add(1)
    issue(c, 1)
    _recorder.inlined += 1
    return True


cdef Tensor lone_op(const Kernel* k, object a, object b, Tensor out):
    """An elementwise kernel on one element of each operand, or None if that isn't plain.

    The operands are 0-d tensors or numbers, `b` None for an op of one input; with `out`, a 0-d tensor
    of the kernel's dtype, the result is written there.
    """
    cdef CDevice device
    cdef long double constants[3][2]  # 32 bytes each, aligned
    cdef char* args[3]
    cdef npy_intp steps[3]
    cdef npy_intp one = 1
    cdef npy_intp[2] none = [0, 0]
    cdef int i, nin = k.nin, dtype
    cdef Tensor t, result
    cdef Tensor first = None
    cdef char* cast_args[2]
    if k.int_power or k.cost > 50 or not lone_ops():
        return None
    for i in range(nin):
        o = b if i else a
        dtype = k.dtypes[i]
        steps[i] = 0
        if is_tensor(o):
            t = <Tensor>o
            if t.v.layout.ndim or not at_hand(t.v.chunk, False):
                return None
            args[i] = t.v.chunk.data + t.v.layout.offset
            if first is None:
                first = t
            elif not (t.v.chunk.device == first.v.chunk.device):
                return None
            if t.v.dtype != dtype:
                if cast_checks_range(info(t.v.dtype).type_num, info(dtype).type_num):
                    return None
                cast_args[0] = args[i]
                cast_args[1] = <char*>constants[i]
                cast_loop(info(t.v.dtype).type_num, info(dtype).type_num)(cast_args, &one, none,
                                                                          NULL)
                args[i] = <char*>constants[i]
        elif put_number(<char*>constants[i], o, dtype):
            args[i] = <char*>constants[i]
        else:
            return None
    device = first.v.chunk.device if first is not None else current_device()
    if first is None and not (device == cpu0()):
        return None
    dtype = k.dtypes[nin]
    steps[nin] = info(dtype).size
    if out is None and dtype == D_BOOL and device == cpu0():
        args[nin] = <char*>constants[2]
        k.fn(args, &one, steps, k.data)
        if k.checks_flags and take_flags(k.long_double):
            return None
        return truth((<char*>constants[2])[0])
    if out is None:
        result = new_element(dtype, device)
        args[nin] = result.v.chunk.data
        k.fn(args, &one, steps, k.data)
        if k.checks_flags and take_flags(k.long_double):
            return None  # raised again, and judged, on the long way
        return result
    if out.v.readonly or out.v.dtype != dtype or not at_hand(out.v.chunk, True) \
            or not (out.v.chunk.device == device):
        return None
    args[nin] = <char*>constants[2]
    k.fn(args, &one, steps, k.data)
    if k.checks_flags and take_flags(k.long_double):
        return None
    memcpy(out.v.chunk.data + out.v.layout.offset, <char*>constants[2], info(dtype).size)
    out.v.chunk.version.fetch_add(1)
    issue(out.v.chunk, 1)
    _recorder.inlined += 1
    return out


# Arithmetic of two numbers, without a look at the table: double precision and integers of 64 bits, of
# which one is an array without axes. What would raise a flag (overflow, division by zero, a result that
# is no normal number) goes the long way, where it is judged.


cdef struct _Operand:
    double real
    int64_t whole
    bint is_whole
    bint array, scalar  # an array without axes, and one of double precision that NumPy gives as a scalar


cdef int64_t _EXACT = 1l << 53  # doubles hold each integer up to here


cdef bint take_operand(object o, _Operand* v) noexcept:
    """The value of a Python float or int, or of an array without axes that is at hand."""
    cdef int overflow = 0
    cdef Tensor t
    cdef char* p
    cdef type kind = type(o)
    v.array = v.scalar = False
    if kind is float or kind is _float64:
        v.real = PyFloat_AS_DOUBLE(o)
        v.is_whole = False
        return True
    if kind is int:
        v.whole = PyLong_AsLongAndOverflow(o, &overflow)
        v.is_whole = True
        return not overflow and -_EXACT <= v.whole <= _EXACT
    if not is_tensor(o):
        return False
    t = <Tensor>o
    if t.v.layout.ndim or not at_hand(t.v.chunk, False) or not (t.v.chunk.device == cpu0()):
        return False
    p = t.v.chunk.data + t.v.layout.offset
    v.array = True
    v.scalar = t.v.dtype == D_F8 and is_scalar(t)
    if t.v.dtype == D_F8:
        v.real = (<double*>p)[0]
        v.is_whole = False
    elif t.v.dtype == D_IL:
        v.whole = (<int64_t*>p)[0]
        v.is_whole = True
    else:
        return False
    return True


cdef extern from *:
    """
    #include <cfloat>
    #include <cmath>
    // The result of an operation on doubles, if it raises no flag that anybody may want to know of.
    static bool double_of(int op, double a, double b, double* r) {
      switch (op) {
        case QUICK_ADD: *r = a + b; return std::isfinite(*r);
        case QUICK_SUBTRACT: *r = a - b; return std::isfinite(*r);
        case QUICK_MULTIPLY: *r = a * b; break;
        case QUICK_DIVIDE: *r = a / b; break;
        case QUICK_POWER: *r = std::pow(a, b); break;  // as NumPy's scalars
        default: return false;
      }
      return std::isfinite(*r) && (std::fabs(*r) > DBL_MIN || a == 0) && (b != 0 || op != QUICK_DIVIDE);
    }
    static bool whole_of(int op, long a, long b, long* r) {
      switch (op) {
        case QUICK_ADD: return !__builtin_add_overflow(a, b, r);
        case QUICK_SUBTRACT: return !__builtin_sub_overflow(a, b, r);
        case QUICK_MULTIPLY: return !__builtin_mul_overflow(a, b, r);
        case QUICK_FLOOR:
        case QUICK_MOD: {
          if (b == 0 || b == -1) return false;  // -1: the least of all numbers has no opposite
          const long rest = a % b, off = rest && (rest < 0) != (b < 0);
          *r = op == QUICK_MOD ? (off ? rest + b : rest) : a / b - off;
          return true;
        }
        case QUICK_POWER: {  // what is too large loses its upper bits, as NumPy's
          if (b < 0) return false;
          unsigned long product = 1, square = a;
          for (unsigned long n = b; n; n >>= 1, square *= square)
            if (n & 1) product *= square;
          *r = product;
          return true;
        }
        case QUICK_AND: *r = a & b; return true;
        case QUICK_OR: *r = a | b; return true;
        case QUICK_XOR: *r = a ^ b; return true;
        default: return false;
      }
    }
    template <class T>
    static bool compare_of(int op, T a, T b) {
      switch (op) {
        case Py_LT: return a < b;
        case Py_LE: return a <= b;
        case Py_EQ: return a == b;
        case Py_NE: return a != b;
        case Py_GT: return a > b;
        default: return a >= b;
      }
    }
    """
    bint double_of(int, double, double, double*) noexcept
    bint whole_of(int, long, long, long*) noexcept
    bint compare_of "compare_of<double>"(int, double, double) noexcept
    bint compare_whole "compare_of<long>"(int, long, long) noexcept


cdef Tensor quick(int op, object a, object b):
    """``a op b``, or None where it isn't that simple."""
    cdef _Operand x, y
    cdef double r
    cdef long n
    cdef Tensor t
    if not lone_ops() or not take_operand(a, &x) or not take_operand(b, &y):
        return None
    # NumPy calls the C library for its scalars only.
    if op == QUICK_POWER and not (x.is_whole and y.is_whole) and (x.array > x.scalar or y.array > y.scalar or not (x.scalar or y.scalar)):
        return None
    if x.is_whole and y.is_whole and op != QUICK_DIVIDE:
        if not whole_of(op, x.whole, y.whole, &n):
            return None
        t = new_element(D_IL, cpu0())
        (<int64_t*>t.v.chunk.data)[0] = n
        return t
    if not double_of(op, x.whole if x.is_whole else x.real, y.whole if y.is_whole else y.real, &r):
        return None
    t = new_element(D_F8, cpu0())
    (<double*>t.v.chunk.data)[0] = r
    return t


cdef Tensor quick_logic(int op, Tensor a, object b):
    """``a & b`` and its kin of two truths, or None where it isn't that simple."""
    cdef bint x, y
    cdef Tensor t
    if a.v.dtype != D_BOOL or not lone_ops() or not at_hand(a.v.chunk, False) \
            or not (a.v.chunk.device == cpu0()):
        return None
    x = (a.v.chunk.data + a.v.layout.offset)[0]
    if type(b) is bool:
        y = b
    elif is_tensor(b):
        t = <Tensor>b
        if t.v.dtype != D_BOOL or t.v.layout.ndim or not at_hand(t.v.chunk, False):
            return None
        y = (t.v.chunk.data + t.v.layout.offset)[0]
    else:
        return None
    return truth(x and y if op == QUICK_AND else x or y if op == QUICK_OR else x != y)


cdef Tensor quick_part(Tensor x, int part):
    """The real (0) or imaginary (1) part of a complex number; None where it isn't that simple."""
    cdef Tensor t
    if x.v.dtype != D_C16 or x.v.layout.ndim or not lone_ops() or not at_hand(x.v.chunk, False):
        return None
    t = new_element(D_F8, x.v.chunk.device)
    (<double*>t.v.chunk.data)[0] = (<double*>(x.v.chunk.data + x.v.layout.offset))[part]
    return t


cdef Tensor quick_compare(int op, object a, object b):
    """``a op b`` for Python's number of the comparison, or None where it isn't that simple."""
    cdef _Operand x, y
    if not lone_ops() or not take_operand(a, &x) or not take_operand(b, &y):
        return None
    if x.is_whole and y.is_whole:
        return truth(compare_whole(op, x.whole, y.whole))
    return truth(compare_of(op, x.whole if x.is_whole else x.real, y.whole if y.is_whole else y.real))


cdef Tensor quick_unary(int op, Tensor a):
    """``-a`` or ``abs(a)``, or None where it isn't that simple."""
    cdef _Operand x
    cdef Tensor t
    if not lone_ops() or not take_operand(a, &x):
        return None
    if x.is_whole:
        if x.whole == INT64_MIN:
            return None
        t = new_element(D_IL, cpu0())
        (<int64_t*>t.v.chunk.data)[0] = -x.whole if op == QUICK_SUBTRACT or x.whole < 0 else x.whole
        return t
    t = new_element(D_F8, cpu0())
    (<double*>t.v.chunk.data)[0] = -x.real if op == QUICK_SUBTRACT else fabs(x.real)
    return t


cdef bint index_of(object k, npy_intp* i) noexcept:
    """The value of an integer that is at hand: Python's, or that of an array without axes."""
    cdef int overflow = 0
    cdef Tensor t
    if type(k) is int:
        i[0] = PyLong_AsLongAndOverflow(k, &overflow)
        return not overflow
    if not is_tensor(k):
        return False
    t = <Tensor>k
    if t.v.layout.ndim or t.v.dtype != D_IL or not at_hand(t.v.chunk, False) or capturing():
        return False
    i[0] = (<int64_t*>(t.v.chunk.data + t.v.layout.offset))[0]
    return True
