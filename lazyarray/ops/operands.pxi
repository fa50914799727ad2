# Operands: what a call's arguments are, their common shape, and where a result may go.


cdef object _generic = np.generic
cdef object _float64 = np.float64


cdef int kind_of(object o) except -2:
    """The operand kind of a Python or NumPy scalar, or -1 for anything else."""
    t = type(o)
    if t is float:
        return kWeakFloat
    if t is int:
        return kWeakInt
    if t is bool:
        return D_BOOL
    if t is complex:
        return kWeakComplex
    if t is _float64:
        return D_F8
    cdef int code = code_of_scalar(o)
    if code >= 0:
        return code
    if is_of(o, _generic):
        return dtype_of_type_num(cnp.PyArray_DescrFromScalar(o).type_num)  # -1: not held
    if isinstance(o, bool):
        return D_BOOL
    # Numbers of derived types, as those of enums, are not weak to NumPy.
    if isinstance(o, int):
        return D_IL if fits_in(o, PY_SSIZE_T_MAX) else -1
    if isinstance(o, float):
        return D_F8
    if isinstance(o, complex):
        return D_C16
    return -1


cdef object weak_type(int kind):
    """The type that stands for a Python number of that kind where NumPy resolves dtypes."""
    return int if kind == kWeakInt else float if kind == kWeakFloat else complex


cdef object plain(object o):
    """A draw as the Python number that it is to NumPy, whose dtype doesn't count; anything else as it is."""
    number = drawn_number(<Tensor>o) if is_tensor(o) else None
    return o if number is None else number


cdef inline int kind_of_tensor(Tensor t) noexcept:
    """Its dtype; of a draw whose value isn't there yet, that of Python's numbers."""
    if not t.v.drawn:
        return t.v.dtype
    if t.v.dtype == D_C16:
        return kWeakComplex
    return kWeakFloat if t.v.dtype == D_F8 else kWeakInt if t.v.dtype == D_IL else t.v.dtype


cdef extern from "Python.h":
    PyObject* _PyType_Lookup(PyTypeObject*, object) noexcept  # makes no error to tell that there is none


cdef inline bint is_symbol(object o) noexcept:
    """Whether calls with `o` are not to be done but built: see lazyarray.graph.Symbol."""
    t = type(o)
    return not isinstance(o, Tensor) and t is not float and t is not int \
        and _PyType_Lookup(<PyTypeObject*>t, "__lazyarray_function__") is not NULL


cdef object built(object symbol, str name, tuple args, dict kwargs):
    """What a call of the op ``name`` gives where ``symbol`` is among the arguments."""
    return symbol.__lazyarray_function__(name, args, {k: v for k, v in kwargs.items() if v is not None})


# The commonest first that is asked for: each that is not the one takes 40 ns.
cdef tuple _operand_types = (list, tuple, complex, float, int, np.generic, np.ndarray)


cdef extern from "Python.h":
    bint PySequence_Check(object)


cdef bint has_own_way(object o) except -1:
    """Whether operators leave it to the other operand what they do."""
    return is_symbol(o) or getattr(o, "__array_ufunc__", True) is None or priority_of(o) > 0


cdef double priority_of(object o) except? -1:
    """An object's ``__array_priority__``; 0 where it has none, or none that is a number, which NumPy passes over."""
    priority = getattr(o, "__array_priority__", 0.0)
    try:
        return float(priority)
    except Exception:
        return 0.0


cdef object converted_operand(object o):
    """A NumPy array of an operand that NumPy makes one of: a sequence, a number, a date; else None."""
    if isinstance(o, (str, bytes)) or has_own_way(o):
        return None
    if not PySequence_Check(o) and not isinstance(o, _taught["numbers"]) and not lends_memory(o):
        return None
    return np.asarray(o)


cdef bint lends_memory(object o) except -1:
    """Whether NumPy makes an array of an object by what it tells of its memory."""
    return not isinstance(o, type) and (hasattr(o, "__array_interface__") or hasattr(o, "__array_struct__"))


cdef bint is_array_like(object o) except -1:
    """Whether NumPy takes an object for an array, and not for a sequence of its items."""
    if cnp.PyArray_Check(o) or PyObject_CheckBuffer(o):
        return True
    return lends_memory(o) or not isinstance(o, type) and hasattr(o, "__array__")


cdef inline bint is_plainly_numpys(object o) noexcept:
    """Whether ``o`` is of NumPy's own class of arrays, or one of its scalars."""
    return cnp.PyArray_CheckExact(o) or code_of_scalar(o) >= 0


cdef bint is_operand(object o):
    """Whether an operator takes `o`; for anything else it returns NotImplemented."""
    t = type(o)
    if t is float or t is int or is_tensor(o) or is_plainly_numpys(o) or isinstance(o, _operand_types):
        return True
    override = getattr(o, "__array_ufunc__", o)
    return override is not None and (override is not o or hasattr(o, "__array__"))


cdef bint goes_first(object o, Tensor x) except -1:
    """Whether an object asks, as in NumPy, for its own operators before that of ``x`` on the left.

    (A framework's tensor says so, too, of NumPy's arrays, which it knows: ours it would refuse.)
    """
    if isinstance(o, Tensor) or is_plainly_numpys(o) or isinstance(o, _operand_types):
        return False
    if not hasattr(o, "__array_priority__") or hasattr(o, "__array_ufunc__") or hasattr(o, "__dlpack__"):
        return False
    return priority_of(o) > (-1e6 if is_scalar(x) else 0.0)


cdef bint is_foreign(object o):
    """Whether `o` is of a type with its own idea of what ufuncs do: pandas' Series, say; a GPU's array is an operand."""
    return not isinstance(o, Tensor) and not is_plainly_numpys(o) and not isinstance(o, _operand_types) \
        and not isinstance(o, type) and getattr(o, "__array_ufunc__", None) is not None and not hasattr(o, "__cuda_array_interface__")


cdef int _ufunc_calls = 0


cdef object call_of_ufunc(object ufunc, tuple args):
    """A call of NumPy's own ufunc with arrays of ours, which asks them for their ``__array_ufunc__``."""
    global _ufunc_calls
    row = row_of(ufunc)
    found = NotImplemented if row is None else told_by_class(row, "__call__", args, {})
    if found is not NotImplemented:
        return found
    _ufunc_calls += 1
    try:
        return ufunc(*args)
    finally:
        _ufunc_calls -= 1


cdef bint calls_ufuncs() noexcept:
    """Whether such a call is under way (or was, in another thread: then a way is longer, that is all)."""
    return _ufunc_calls > 0


cdef Tensor as_tensor_on(object o, CDevice device):
    """`o` as a tensor: itself, or a copy of an array-like on `device`."""
    if isinstance(o, Tensor):
        return o
    if cnp.PyArray_CheckExact(o):
        return from_numpy(o, device)
    cdef Tensor t = of_numbers(o, -1) if is_sequence(o) and device == cpu0() else None
    return from_object(o, None, device, False) if t is None else t


cdef enum:
    NO_TENSOR, SOME_TENSOR, TOO_DEEP


cdef int search(object o, int depth):
    """Whether an array comes before what is nested deeper than an array can be (itself, perhaps)."""
    cdef int found
    for item in o:
        if isinstance(item, Tensor):
            return SOME_TENSOR
        if is_sequence(item):
            found = TOO_DEEP if depth == kMaxDims else search(item, depth + 1)
            if found != NO_TENSOR:
                return found
    return NO_TENSOR


cdef bint holds_tensors(object o):
    """Whether there is an array in nested lists and tuples; not where NumPy refuses them."""
    return search(o, 1) == SOME_TENSOR


def holds_arrays(o):
    """Whether ``o`` is a list or tuple with an array somewhere in it."""
    return is_sequence(o) and holds_tensors(o)


cdef inline bint is_sequence(object o) noexcept:
    return type(o) is list or type(o) is tuple


cdef Tensor from_object(object o, object dtype, CDevice device, bint copy=True):
    """An array of an array-like's values; arrays in lists are copied by ops, so nothing waits.

    ``copy``: not even that which ``o.__array__()`` gives is taken as it is.
    """
    try:
        return from_values(o, dtype, device, copy)
    except ValueError:
        plain = own_arrays(o, 0) if is_sequence(o) else o
        if plain is o:
            raise
    return from_values(plain, dtype, device, copy)


cdef object own_arrays(object o, int depth):
    """Nested lists with `own_array` of what is in them; ``o`` itself where that changes nothing."""
    if depth > kMaxDims or not is_sequence(o):
        return own_array(o) if hasattr(o, "__array__") and not isinstance(o, type) else o
    found = [own_arrays(item, depth + 1) for item in o]
    return found if any([a is not b for a, b in zip(found, o)]) else o


cdef Tensor from_values(object o, object dtype, CDevice device, bint copy):
    cdef Tensor t
    if is_sequence(o) and holds_tensors(o):
        t = of_sequence(o, dtype) if device == cpu0() else None
        return _taught["stack"](o, dtype) if t is None else t
    if not cnp.PyArray_Check(o) and not isinstance(o, type) and hasattr(o, "__cuda_array_interface__"):
        return from_gpu(o, dtype, device)
    if is_of_others(o) and dtype is None:
        raise Unheld(f"lazyarray has no {type(o).__name__}: its functions hand those to NumPy")
    try:
        return from_numpy(np.asarray(o, dtype), device)
    except TypeError as error:  # an array's, that NumPy takes for an element of an array of objects
        if str(error) == "only 0-dimensional arrays can be converted to Python scalars":
            raise ValueError("setting an array element with a sequence.") from error
        raise
    except ValueError:
        t = given_by(o)
        if t is None:
            raise
    return converted(t, np_dtype(t.v.dtype) if dtype is None else dtype, copy)


cdef Tensor given_by(object o):
    """The array that an object's ``__array__`` gives, which NumPy refuses to take; None: another kind of object."""
    method = getattr(o, "__array__", None)
    found = None if method is None or isinstance(o, type) else method()
    return found if isinstance(found, Tensor) else None


def own_array(o):
    """The array that an object of a program's has as its ``__array__``; anything else as it is."""
    if o is None or isinstance(o, (Tensor, str, bytes) + _operand_types):
        return o
    found = given_by(o)
    return o if found is None else found


cdef bint is_held(object o):
    """Whether ``o`` isn't a NumPy array, or scalar, of what lazyarray can't hold."""
    if cnp.PyArray_Check(o):
        return dtype_of_type_num((<cnp.ndarray>o).descr.type_num) >= 0 and not is_of_others(o)
    return not is_of(o, _generic) or dtype_of_type_num(cnp.PyArray_DescrFromScalar(o).type_num) >= 0


def holdable(o):
    """Whether ``o`` isn't a NumPy array, or scalar, of what lazyarray can't hold."""
    return is_held(o)


def inside(o, kind):
    """What of a kind (a type, or a tuple of types) is among nested lists, tuples and dicts: a list."""
    cdef list found = []
    cdef int few = 64
    if collected(o, kind, found, &few):
        return found
    cdef list left = [o]
    found = []
    cdef set seen = set()  # a list may be in itself, and no depth is too deep
    while left:
        o = left.pop()
        t = type(o)
        if t is str or t is int or t is float or t is bytes or t is bool or o is None:
            continue
        if isinstance(o, kind):
            found.append(o)
        elif isinstance(o, (list, tuple, dict)) and id(o) not in seen:
            seen.add(id(o))
            left.extend(reversed(list((<dict>o).values()) if isinstance(o, dict) else list(o)))
    return found


cdef bint collected(object o, object kind, list found, int* left) except -1:
    """The same of few objects. False: there are more than ``left``, or a list is in itself."""
    t = type(o)
    if t is str or t is int or t is float or t is bytes or t is bool or o is None:
        return True
    left[0] -= 1
    if left[0] < 0:
        return False
    if isinstance(o, kind):
        found.append(o)
        return True
    if isinstance(o, dict):
        o = list((<dict>o).values())
    elif not isinstance(o, (list, tuple)):
        return True
    if len(o) > 64:
        return False
    for part in o:
        if not collected(part, kind, found, left):
            return False
    return True


def is_of_strings(o):
    """Whether NumPy makes an array of strings or objects of it: a string or None, or a sequence that begins with one."""
    cdef object first = o
    for _ in range(64):  # a list may be in itself
        if not isinstance(first, (list, tuple)) or not len(first):
            break
        first = first[0]
    return first is None or isinstance(first, (str, bytes))


cdef inline bint is_of_others(object o):
    """Whether ``o`` is a NumPy array that knows more than its values: masked, a matrix, a user's."""
    return cnp.PyArray_Check(o) and not cnp.PyArray_CheckExact(o) and not isinstance(o, np.memmap)


cdef Tensor from_gpu(object o, object dtype, CDevice device):
    """A copy of an array that others have on a GPU, on the device where it is."""
    cdef Tensor there = _taught["from_gpu"](o)
    return cast(there, there.v.dtype if dtype is None else dtype_code(dtype))


cdef Tensor as_tensor(object o):
    return as_tensor_on(o, current_device())


cdef Tensor as_mask(object where, CDevice device):
    """What ``where=`` was given as an array on `device`; TypeError unless it is one of bools."""
    if not is_tensor(where) and not cnp.PyArray_Check(where):
        where = np.array(where, np.bool_)
    elif is_tensor(where) and is_scalar(<Tensor>where):
        where = cast(<Tensor>where, D_BOOL)  # as NumPy's scalars, which any cast makes a truth
    if where.dtype != np.bool_:
        raise TypeError(f"Cannot cast array data from {where.dtype!r} to {np.dtype(np.bool_)!r} "
                        "according to the rule 'safe'")
    return as_tensor_on(where, device)


def mask_of(where, Device device not None):
    """`as_mask`, for functions."""
    return as_mask(where, device.c)


cdef inline const View* view_or_null(Tensor t) noexcept:
    if t is None:
        return NULL
    return &t.v


cdef double _TOO_MANY = 2.0 ** 58  # elements: of 32 bytes, the widest dtype, they'd be too many bytes


cdef object not_together(list shapes):
    """NumPy's error of operands, and outputs, that cannot be broadcast together."""
    texts = " ".join([shape_text(shape) for shape in shapes])
    return ValueError(f"operands could not be broadcast together with shapes {texts} ")


cdef list shapes_of(const View** views, int n, Tensor out):
    """The shapes of operands (null: a constant), and of the output unless it is None."""
    shapes = [() if views[i] is NULL else shape_tuple(views[i]) for i in range(n)]
    return shapes if out is None else [*shapes, shape_tuple(&out.v)]


cdef int broadcast(const View** views, int n, Layout* out, Tensor target=None) except -1:
    """The common shape of the operands (null: a constant); ValueError as NumPy's.

    The error names `target`, too, to which the result would have been written.
    """
    cdef int ndim = 0, i, k, j
    cdef npy_intp d, have
    cdef View* v
    for k in range(n):
        if views[k] is not NULL and views[k].layout.ndim > ndim:
            ndim = views[k].layout.ndim
    out.resize(ndim)
    for i in range(ndim):
        out.shape()[i] = 1
    for k in range(n):
        if views[k] is NULL:
            continue
        v = <View*>views[k]
        j = ndim - v.layout.ndim
        for i in range(v.layout.ndim):
            d = v.layout.shape()[i]
            have = out.shape()[i + j]
            if d == have or d == 1:
                continue
            if have != 1:
                raise not_together(shapes_of(views, n, target))
            out.shape()[i + j] = d
    cdef double size = 1
    for i in range(ndim):
        size *= max(out.shape()[i], 1)
    if size >= _TOO_MANY:
        raise ValueError("array is too big; `arr.size * arr.dtype.itemsize` is larger than the "
                         "maximum possible size.")
    return 0


cdef Tensor output_like(Layout* space, int dtype, int nin, const View** views, CDevice device):
    """A new output over `space`'s shape, laid out as NumPy lays out this ufunc's output."""
    cdef Tensor out = fresh(dtype, space.size(), device)
    out.v.layout.resize(space.ndim)
    if space.ndim:
        memcpy(out.v.layout.shape(), space.shape(), space.ndim * sizeof(npy_intp))
    set_k_layout(out.v.layout, info(dtype).size, nin, views)
    return out


cdef bint written_under(Tensor x, Tensor out) noexcept:
    """Whether writing `out` element by element would change `x` under the loop."""
    if x is None or not x.v.same_memory(out.v) \
            or x.v.dtype == out.v.dtype and x.v.same_view(out.v) and nests(out.v.layout, out.v.itemsize()):
        return False
    return x.v.may_overlap(out.v)


cpdef bint is_window(Tensor x) noexcept:
    """Whether elements of the array may share memory (as those of `as_strided` may).

    Of what is written to one place the last stays. In which order NumPy's iterator writes depends on which operands
    it copies, turns round and buffers: so such an output is left to NumPy.
    """
    return not nests(x.v.layout, x.v.itemsize())


cdef bint _walks_in_buffers = not _numpy_facts.BUFFERS_WHERE_IT_PAYS


cdef bint in_runs(Layout* space, const View* a, const View* b, Tensor out) noexcept:
    """Whether older NumPys, too, hand these to a loop as they lie; else by way of buffers, in other steps."""
    cdef bint c = True, f = True
    cdef const View* views[3]
    cdef int k
    if space.ndim < 2 or (a if a is not NULL else b).chunk.device.has_streams():
        return True
    views[0], views[1], views[2] = a, b, &out.v if out is not None else NULL
    for k in range(3):
        if views[k] is NULL or views[k].layout.ndim == 0:
            continue
        if not views[k].layout.same_shape(space[0]):
            return False
        c = c and views[k].layout.c_contiguous(views[k].itemsize())
        f = f and views[k].layout.f_contiguous(views[k].itemsize())
    return c or f


cdef Tensor apart(Tensor x, Tensor out):
    """`x`, or a copy of it if writing `out` element by element would change it under the loop."""
    return cast(x, x.v.dtype) if written_under(x, out) else x


def out_array(out):
    """``out`` if it is an array that results may be written to; TypeError for all else."""
    if isinstance(out, Tensor) and not is_scalar(<Tensor>out):
        return out
    if not is_held(out):
        raise Unheld("the result is to be written into one of NumPy's arrays")
    raise TypeError(f"return arrays must be of ArrayType: out is an NDArray, not {type(out).__name__}")


def of_numpys(out):
    """Whether ``out`` is a NumPy array, or a tuple with one in it: it is written at once."""
    if type(out) is tuple:
        return any([isinstance(o, np.ndarray) for o in out])
    return isinstance(out, np.ndarray)


cdef object into_numpys(function, out, tuple args, dict kwargs):
    """A call whose ``out`` is one of NumPy's."""
    return _taught["into_numpys"](function, out, args, kwargs | {"out": out})


def sole_out(out):
    """The array that ``out`` of a ufunc of one output names: itself, in a tuple, or None."""
    if isinstance(out, tuple):
        if len(out) != 1:
            raise ValueError("The 'out' tuple must have exactly one entry per ufunc output")
        out = out[0]
    return None if out is None else out_array(out)


cdef int check_out_dtype(object ufunc, Tensor out, int dtype, int place=0) except -1:
    """That a result of `dtype` may be written into `out`, the ufunc's operand number `place`."""
    if dtype != out.v.dtype and not np.can_cast(np_dtype(dtype), np_dtype(out.v.dtype),
                                                "same_kind"):
        try:
            from numpy._core._exceptions import _UFuncOutputCastingError
        except ImportError:
            raise TypeError(
                f"Cannot cast ufunc {ufunc.__name__!r} output from {np_dtype(dtype)!r} to "
                f"{np_dtype(out.v.dtype)!r} with casting rule 'same_kind'") from None
        raise _UFuncOutputCastingError(ufunc, "same_kind", np_dtype(dtype),
                                       np_dtype(out.v.dtype), place)
    return 0


cdef bint unwritable(Tensor t) noexcept:
    return t.v.readonly or self_overlaps(t.v.layout)


cdef object out_too_small(Tensor out, tuple shape, list operands):
    """NumPy's error of an output, to which a result of the shape made of the operands cannot be written."""
    own = shape_tuple(&out.v)
    try:
        full = np.broadcast_shapes(own, shape)
    except ValueError:
        return not_together(operands)
    return ValueError(
        f"non-broadcastable output operand with shape {shape_text(own)} doesn't match "
        f"the broadcast shape {shape_text(full)}")


cdef int check_out_shape(Tensor out, Layout* space, const View** views, int n) except -1:
    """That a result over `space`, made of the operands, may be written into `out`."""
    cdef View want
    if not broadcasts_to(space, &out.v.layout):
        want.layout = space[0]
        raise out_too_small(out, shape_tuple(&want), shapes_of(views, n, out))
    if unwritable(out):
        raise ValueError("output array is read-only")
    return 0


cdef Tensor loops_output(object ufunc, Tensor out, Tensor result, int core, list inputs):
    """Where a generalised ufunc is to write: `out`, or an array laid out alike which is copied there.

    `result` has the shape and dtype of what it gives; no loop goes over its last `core` axes.
    """
    cdef Layout* want = &result.v.layout
    cdef Layout* have = &out.v.layout
    cdef const View* views[1]
    cdef Tensor x
    cdef int i
    check_out_dtype(ufunc, out, result.v.dtype)
    for i in range(1, core + 1):
        if have.ndim < core or have.shape()[have.ndim - i] != want.shape()[want.ndim - i]:
            raise ValueError(
                f"{ufunc.__name__}: Output operand 0 has shape {shape_tuple(&out.v)} instead of "
                f"{shape_tuple(&result.v)}")
    views[0] = &result.v
    check_out_shape(out, want, views, 1)
    same_device(result, out)
    if not have.same_shape(want[0]):
        return result
    # BLAS reads while it writes; what it does depends on the layout.
    for x in inputs:
        if x.v.same_memory(out.v):
            break
    else:
        if out.v.dtype == result.v.dtype:
            return out
    views[0] = &out.v
    return output_like(want, result.v.dtype, 1, views, result.v.device())


cdef bint contiguous(Tensor t) noexcept:
    return t.v.layout.c_contiguous(t.v.itemsize())


cdef bint shares(Tensor out, Tensor x) noexcept:
    return x is not None and x.v.same_memory(out.v)


cdef bint broadcasts_to(Layout* a, Layout* b) noexcept:
    cdef int lead = b.ndim - a.ndim, i
    if lead < 0:
        return False
    for i in range(a.ndim):
        if a.shape()[i] != 1 and a.shape()[i] != b.shape()[i + lead]:
            return False
    return True
