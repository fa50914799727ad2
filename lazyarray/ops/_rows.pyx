# distutils: language = c++
"""The native classes of the op table's rows: what an op's call does before it is recorded.

A row looks up the loop for the operands' dtypes (once for each combination), casts what the loop
needs cast, infers shape and layout, keeps overlapping operands apart, and emits an instruction.
"""

import numpy as np

cimport numpy as cnp
from libc.stdlib cimport calloc, malloc
from libc.string cimport memcpy

from lazyarray.engine._engine cimport CDevice, Device
from lazyarray.lazy._lazy cimport (
    D_BOOL,
    D_C16,
    D_F8,
    D_IL,
    ELEMENTWISE,
    MATMUL,
    REDUCE,
    Instr,
    Layout,
    Loop,
    View,
    assign,
    cast,
    current_device,
    dtype_code,
    emit,
    emit_elementwise,
    empty_like_shape,
    fill,
    fresh,
    from_numpy,
    info,
    kDtypes,
    kMaxDims,
    kMaxOperands,
    kOperandKinds,
    kWeakComplex,
    kWeakFloat,
    kWeakInt,
    may_overlap,
    new_kernel,
    new_tensor,
    np_dtype,
    npy_intp,
    numpy_view,
    put_scalar,
    py_call,
    recorder,
    same_device,
    self_overlaps,
    set_k_layout,
    set_operand,
    shape_tuple,
    view_of,
    where_of_size,
)

cnp.import_array()


cdef extern from "numpy/ufuncobject.h":
    ctypedef struct PyUFuncObject:
        int nin, nout, nargs, ntypes
        Loop* functions
        void** data
        char* types


# ---- operands -----------------------------------------------------------------------------------

cdef object _generic = np.generic


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
    if isinstance(o, _generic):
        return dtype_code((<object>o).dtype)
    if isinstance(o, bool):
        return D_BOOL
    if isinstance(o, int):
        return kWeakInt
    if isinstance(o, float):
        return kWeakFloat
    if isinstance(o, complex):
        return kWeakComplex
    return -1


cdef tuple _operand_types = (float, int, complex, np.generic, np.ndarray, list, tuple)


cdef bint is_operand(object o):
    """Whether an operator takes `o`; for anything else it returns NotImplemented."""
    if isinstance(o, Tensor) or isinstance(o, _operand_types):
        return True
    return hasattr(o, "__array__") and getattr(o, "__array_ufunc__", True) is not None


cdef Tensor as_tensor_on(object o, CDevice device):
    """`o` as a tensor: itself, or a copy of an array-like on `device`."""
    if isinstance(o, Tensor):
        return o
    return from_numpy(np.asarray(o), device)


cdef Tensor as_tensor(object o):
    return as_tensor_on(o, current_device())


cdef inline const View* view_or_null(Tensor t) noexcept:
    if t is None:
        return NULL
    return &t.v


cdef int broadcast(const View** views, int n, Layout* out) except -1:
    """The common shape of the operands (null: a constant); ValueError as NumPy's."""
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
                shapes = " ".join([str(shape_tuple(views[m])) for m in range(n)
                                   if views[m] is not NULL])
                raise ValueError(
                    f"operands could not be broadcast together with shapes {shapes} ")
            out.shape()[i + j] = d
    return 0


cdef Tensor output_like(Layout* space, int dtype, int nin, const View** views, CDevice device):
    """A new output over `space`'s shape, laid out as NumPy lays out this ufunc's output."""
    cdef Tensor out = fresh(dtype, space.size(), device)
    out.v.layout.resize(space.ndim)
    if space.ndim:
        memcpy(out.v.layout.shape(), space.shape(), space.ndim * sizeof(npy_intp))
    set_k_layout(out.v.layout, info(dtype).size, nin, views)
    return out


cdef Tensor apart(Tensor x, Tensor out):
    """`x`, or a copy of it if writing `out` element by element would change it under the loop."""
    if x.v.chunk != out.v.chunk:
        return x
    if x.v.dtype == out.v.dtype and x.v.layout.same_view(out.v.layout):
        return x
    if may_overlap(x.v.layout, x.v.itemsize(), out.v.layout, out.v.itemsize()):
        return cast(x, x.v.dtype)
    return x


cdef int check_out_dtype(object ufunc, Tensor out, int dtype) except -1:
    """That a result of `dtype` may be written into `out`."""
    if dtype != out.v.dtype and not np.can_cast(np_dtype(dtype), np_dtype(out.v.dtype),
                                                "same_kind"):
        try:
            from numpy._core._exceptions import _UFuncOutputCastingError
        except ImportError:
            raise TypeError(
                f"Cannot cast ufunc {ufunc.__name__!r} output from {np_dtype(dtype)!r} to "
                f"{np_dtype(out.v.dtype)!r} with casting rule 'same_kind'") from None
        raise _UFuncOutputCastingError(ufunc, "same_kind", np_dtype(dtype),
                                       np_dtype(out.v.dtype), 0)
    return 0


cdef int check_out_shape(Tensor out, Layout* space) except -1:
    """That a result over `space` may be written into `out`."""
    cdef View want
    if not broadcasts_to(space, &out.v.layout):
        want.layout = space[0]
        raise ValueError(
            f"non-broadcastable output operand with shape {shape_tuple(&out.v)} doesn't match "
            f"the broadcast shape {shape_tuple(&want)}")
    if self_overlaps(out.v.layout):
        raise ValueError("output array is read-only: it is a broadcast view")
    return 0


cdef bint contiguous(Tensor t) noexcept:
    return t.v.layout.c_contiguous(t.v.itemsize())


# ---- rows ---------------------------------------------------------------------------------------

cdef class Row:
    """One op of the table: its name, the NumPy ufunc it runs (or None), its section and doc."""

    def __repr__(self):
        return f"<lazyarray op {self.name!r}>"

    @property
    def __name__(self):
        return self.name

    @property
    def __signature__(self):
        import inspect
        return inspect.signature(type(self).__call__)

    def __reduce__(self):
        return self.name


cdef class Ufunc(Row):
    """An elementwise op that runs the compiled loops of a NumPy ufunc."""

    def __init__(self, object ufunc, *, str name=None, str section="", str doc="", double cost=0.5):
        self.ufunc = ufunc
        self.name = name or ufunc.__name__
        self.section = section
        self.__doc__ = doc
        self.nin = ufunc.nin
        self.nout = ufunc.nout
        self.cost = cost
        self.comparison = ufunc.__name__ in (
            "less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
        self.power = ufunc.__name__ == "power"
        # NumPy's loops for these write a strided boolean output wrongly.
        self.bad_strided = ufunc.__name__ in ("isnan", "isinf", "isfinite", "signbit")
        if self.nin > 2 or self.nout > 2:
            raise ValueError(f"{self.name}: rows take at most two inputs and two outputs")
        self.table = <Resolved**>calloc(kOperandKinds * (kOperandKinds if self.nin == 2 else 1),
                                        sizeof(void*))

    cdef Resolved* resolve(self, int ka, int kb) except NULL:
        cdef Resolved* r = self.table[ka * (kOperandKinds if self.nin == 2 else 1)
                                      + (kb if self.nin == 2 else 0)]
        if r is not NULL:
            return r
        kinds = [ka, kb][:self.nin]
        if all(k >= kDtypes for k in kinds):
            # Python scalars alone take their default dtypes.
            given = [np_dtype({<int>kWeakInt: D_IL, <int>kWeakFloat: D_F8}.get(k, D_C16))
                     for k in kinds]
        else:
            given = [np_dtype(k) if k < kDtypes else
                     {<int>kWeakInt: int, <int>kWeakFloat: float}.get(k, complex) for k in kinds]
        dtypes = self.ufunc.resolve_dtypes(tuple(given) + (None,) * self.nout)
        r = <Resolved*>calloc(1, sizeof(Resolved))
        r.kernel = self.kernel_for(dtypes)
        for i in range(self.nin):
            r.inputs[i] = dtype_code(dtypes[i])
        for i in range(self.nout):
            r.outputs[i] = dtype_code(dtypes[self.nin + i])
        self.table[ka * (kOperandKinds if self.nin == 2 else 1)
                   + (kb if self.nin == 2 else 0)] = r
        return r

    cdef Kernel* kernel_for(self, tuple dtypes) except NULL:
        cdef PyUFuncObject* u = <PyUFuncObject*>self.ufunc
        cdef int index = find_loop(self.ufunc, dtypes)
        cdef Kernel* k = new_kernel(self.name, ELEMENTWISE, self.nin, self.nout)
        k.fn = u.functions[index]
        k.data = u.data[index]
        for i, d in enumerate(dtypes):
            k.dtypes[i] = dtype_code(d)
            k.checks_flags = True
            k.long_double = k.long_double or d.char in "gG"
        if all(d.char == "?" for d in dtypes):
            k.checks_flags = False
        k.int_power = self.power and dtypes[1].kind == "i"
        k.cost = self.cost * (4 if dtypes[0].char in "eFDgG" else 1)
        return k

    cdef object unary(self, object a, Tensor out):
        cdef int ka
        cdef Tensor t
        if isinstance(a, Tensor):
            t = a
        else:
            ka = kind_of(a)
            t = as_tensor(a)
        cdef Resolved* r = self.resolve(t.v.dtype, 0)
        if out is not None:
            check_out_dtype(self.ufunc, out, r.outputs[0])
        if r.inputs[0] != t.v.dtype:
            t = cast(t, r.inputs[0])
        cdef const View* views[3]
        cdef Layout space
        cdef Tensor first, second
        views[0] = &t.v
        if out is not None:
            check_out_shape(out, &t.v.layout)
            if out.v.dtype != r.outputs[0] or self.bad_strided and not contiguous(out):
                assign(out, self.unary(t, None))
                return out
            t = apart(t, out)
            views[0] = &t.v
            first = out
        else:
            first = output_like(&t.v.layout, r.outputs[0], 1, views, t.v.chunk.device)
        views[1] = &first.v
        if self.nout == 2:
            second = output_like(&first.v.layout, r.outputs[1], 1, views, t.v.chunk.device)
            views[2] = &second.v
        emit_elementwise(recorder().begin(r.kernel, 1, self.nout), &first.v.layout, views,
                         out is None or covers(first))
        return first if self.nout == 1 else (first, second)

    cdef object binary(self, object a, object b, Tensor out):
        cdef Tensor ta = None, tb = None
        cdef int ka, kb
        if isinstance(a, Tensor):
            ta = a
            ka = ta.v.dtype
        else:
            ka = kind_of(a)
            if ka < 0:
                ta = as_tensor_on(a, (<Tensor>b).v.chunk.device if isinstance(b, Tensor)
                                  else current_device())
                ka = ta.v.dtype
        if isinstance(b, Tensor):
            tb = b
            kb = tb.v.dtype
        else:
            kb = kind_of(b)
            if kb < 0:
                tb = as_tensor_on(b, ta.v.chunk.device if ta is not None else current_device())
                kb = tb.v.dtype
        cdef Resolved* r = self.resolve(ka, kb)
        if out is not None:
            check_out_dtype(self.ufunc, out, r.outputs[0])
        if ta is None and tb is None:
            ta = scalar_tensor(a, r.inputs[0])
        if ta is not None and ka != r.inputs[0]:
            ta = cast(ta, r.inputs[0])
        if tb is not None and kb != r.inputs[1]:
            tb = cast(tb, r.inputs[1])
        if ta is not None and tb is not None:
            same_device(ta, tb)
        cdef const View* views[4]
        cdef Layout space
        cdef Layout* shape
        cdef Tensor first, second
        views[0] = view_or_null(ta)
        views[1] = view_or_null(tb)
        if views[1] is NULL or (views[0] is not NULL and
                                ta.v.layout.same_shape((<View*>views[1]).layout)):
            shape = &ta.v.layout
        elif views[0] is NULL:
            shape = &tb.v.layout
        else:
            broadcast(views, 2, &space)
            shape = &space
        if out is not None:
            same_device(ta if ta is not None else tb, out)
            check_out_shape(out, shape)
            if out.v.dtype != r.outputs[0]:
                assign(out, self.binary(a, b, None))
                return out
            if ta is not None:
                ta = apart(ta, out)
                views[0] = &ta.v
            if tb is not None:
                tb = apart(tb, out)
                views[1] = &tb.v
            first = out
        else:
            first = output_like(shape, r.outputs[0], 2, views,
                                ta.v.chunk.device if ta is not None else tb.v.chunk.device)
        views[2] = &first.v
        if self.nout == 2:
            second = output_like(shape, r.outputs[1], 2, views, first.v.chunk.device)
            views[3] = &second.v
        cdef Instr* instr = recorder().begin(r.kernel, 2, self.nout)
        try:
            if ta is None:
                put_scalar(instr.constants[0], a, r.inputs[0])
            elif tb is None:
                put_scalar(instr.constants[0], b, r.inputs[1])
        except OverflowError:
            recorder().give_back(instr)
            if not self.comparison:
                raise
            # NumPy compares any Python integer with any integer array.
            return self.python((a, b), out, {})
        except BaseException:
            recorder().give_back(instr)
            raise
        emit_elementwise(instr, &first.v.layout, views, out is None or
                         (covers(first) and first is not ta and first is not tb
                          and not shares(first, ta) and not shares(first, tb)))
        return first if self.nout == 1 else (first, second)

    cdef object python(self, tuple args, object out, dict kwargs):
        """The op as one instruction that calls the ufunc itself: `where=`, odd operands."""
        cdef Tensor t, result
        tensors, slots = [], []
        device = None
        for a in args:
            if isinstance(a, Tensor):
                device = a
        for a in args:
            if kind_of(a) >= 0:
                slots.append(a)
            else:
                t = as_tensor_on(a, (<Tensor>device).v.chunk.device if device is not None
                                 else current_device())
                slots.append(_Slot(len(tensors)))
                tensors.append(t)
        where = kwargs.pop("where", None)
        if where is not None and where is not True:
            t = as_tensor(where)
            kwargs["where"] = _Slot(len(tensors))
            tensors.append(t)
        shape = np.broadcast_shapes(*[shape_tuple(&(<Tensor>x).v) for x in tensors])
        kinds = tuple([np_dtype((<Tensor>tensors[s.index]).v.dtype) if isinstance(s, _Slot)
                       else (s.dtype if isinstance(s, np.generic) else type(s)) for s in slots])
        dtype = kwargs.get("dtype")
        if dtype is not None:
            result_dtype = np.dtype(dtype)
        else:
            result_dtype = self.ufunc.resolve_dtypes(
                kinds + (None,) * self.nout)[self.nin]
        if out is None:
            result = make(shape, result_dtype, tensors[0])
        else:
            result = out
            if shape_tuple(&result.v) != shape:
                raise ValueError(
                    f"non-broadcastable output operand with shape {shape_tuple(&result.v)} "
                    f"doesn't match the broadcast shape {shape}")
        ufunc = self.ufunc
        # With a mask the output is read too: what is masked out stays.
        keeps = "where" in kwargs and out is not None

        def call(outs, ins):
            named = {k: ins[v.index] if isinstance(v, _Slot) else v for k, v in kwargs.items()}
            ufunc(*[ins[s.index] if isinstance(s, _Slot) else s for s in slots], out=outs[0],
                  **named)

        py_call(call, self.name, [result], tensors, 1000 + 2.0 * result.v.layout.size(), not keeps)
        return result

    def __call__(self, *args, out=None, where=True, dtype=None, casting=None):
        """Applies the op to array-likes.

        ``out`` receives the result; ``where`` masks elements; ``dtype`` chooses the loop, as in
        NumPy.
        """
        if len(args) == self.nin + 1 and out is None:
            out = args[self.nin]
            args = args[:self.nin]
        if len(args) != self.nin:
            raise TypeError(f"{self.name}() takes {self.nin} positional arguments but "
                            f"{len(args)} were given")
        if isinstance(out, tuple) and len(out) == 1:
            out = out[0]
        if out is not None and not isinstance(out, Tensor):
            raise TypeError(f"out is an NDArray, not {type(out).__name__}")
        if self.nout == 2 and out is not None:
            raise TypeError(f"{self.name}() has two outputs and takes no out=")
        if where is not True or dtype is not None or casting is not None:
            kwargs = {}
            if dtype is not None:
                kwargs["dtype"] = np_dtype(dtype_code(dtype))
            if casting is not None:
                kwargs["casting"] = casting
            if where is not True:
                kwargs["where"] = where
            return self.python(args, out, kwargs)
        if self.nin == 1:
            return self.unary(args[0], out)
        return self.binary(args[0], args[1], out)


class _Slot:
    """The place of a tensor among the inputs of an instruction."""

    def __init__(self, index):
        self.index = index


cdef bint shares(Tensor out, Tensor x) noexcept:
    return x is not None and x.v.chunk == out.v.chunk


cdef bint covers(Tensor t) noexcept:
    return <size_t>(t.v.layout.size() * t.v.itemsize()) == t.v.chunk.nbytes


cdef bint broadcasts_to(Layout* a, Layout* b) noexcept:
    cdef int lead = b.ndim - a.ndim, i
    if lead < 0:
        return False
    for i in range(a.ndim):
        if a.shape()[i] != 1 and a.shape()[i] != b.shape()[i + lead]:
            return False
    return True


cdef int find_loop(object ufunc, tuple dtypes) except -1:
    """The first of the ufunc's loops for these dtypes: later duplicates give other bits."""
    cdef PyUFuncObject* u = <PyUFuncObject*>ufunc
    want = [np.dtype(d).num for d in dtypes]
    for i in range(u.ntypes):
        if [<int>u.types[i * u.nargs + j] for j in range(u.nargs)] == want:
            return i
    raise TypeError(f"ufunc {ufunc.__name__!r} has no loop for {', '.join(map(str, dtypes))}")


cdef Tensor scalar_tensor(object value, int dtype):
    cdef Tensor t = empty_like_shape(dtype, 0, NULL, current_device())
    fill(t, value)
    return t


cdef Tensor make(tuple shape, object dtype, Tensor like):
    """A new C-ordered tensor on like's device (or the current one)."""
    cdef npy_intp dims[kMaxDims]
    if len(shape) > kMaxDims:
        raise ValueError(f"maximum supported dimension for an ndarray is {kMaxDims}, "
                         f"found {len(shape)}")
    for i, d in enumerate(shape):
        dims[i] = d
    return empty_like_shape(dtype_code(dtype), len(shape), dims,
                            like.v.chunk.device if like is not None else current_device())


def call(str name, fn, list ins, list outs, *, Device device=None, double cost=5000.0,
         bint overwrites=True):
    """Records one instruction that takes the GIL and calls ``fn(outs, ins)`` on NumPy views.

    ``outs`` holds ``(shape, dtype)`` of new arrays, or arrays to write into; returns the arrays.
    ``cost`` is an estimate in nanoseconds: a cheap one whose inputs are complete runs at once.
    """
    tensors = [as_tensor(x) for x in ins]
    cdef Tensor like = None
    if device is None and tensors:
        like = tensors[0]
    results = []
    cdef Tensor t
    for o in outs:
        if isinstance(o, Tensor):
            results.append(o)
            continue
        t = make(tuple(o[0]), o[1], like)
        if device is not None:
            t = make_on(tuple(o[0]), o[1], device)
        results.append(t)
    py_call(fn, name, results, tensors, cost, overwrites)
    return results


cdef Tensor make_on(tuple shape, object dtype, Device device):
    cdef npy_intp dims[kMaxDims]
    if len(shape) > kMaxDims:
        raise ValueError(f"maximum supported dimension for an ndarray is {kMaxDims}, "
                         f"found {len(shape)}")
    for i, d in enumerate(shape):
        if d < 0:
            raise ValueError("negative dimensions are not allowed")
        dims[i] = d
    return empty_like_shape(dtype_code(dtype), len(shape), dims, device.c)


def empty(tuple shape, dtype, Device device=None):
    """A new array whose memory is not written; ``device`` None is the current one."""
    cdef Device d = device
    if d is None:
        d = Device.__new__(Device)
        d.c = current_device()
    return make_on(shape, dtype, d)


def full(tuple shape, value, dtype, Device device=None):
    """A new array filled with a scalar."""
    cdef Tensor t = empty(shape, dtype, device)
    fill(t, value)
    return t


def array(obj, dtype=None, Device device=None, bint copy=True):
    """An array with a copy of ``obj``'s values."""
    cdef Device d = device
    cdef Tensor t
    cdef int code
    if d is None:
        d = Device.__new__(Device)
        d.c = current_device()
    if isinstance(obj, Tensor):
        t = obj
        if device is not None and not (t.v.chunk.device == d.c):
            raise ValueError("the array is on another device: use copyto or as_in_context")
        code = t.v.dtype if dtype is None else dtype_code(dtype)
        return copied(t, code) if copy or code != t.v.dtype else t
    if dtype is not None:
        dtype = np_dtype(dtype_code(dtype))
    a = np.asarray(obj, dtype)
    return from_numpy(a, d.c)


def astype(Tensor x not None, dtype, bint copy=True):
    """A copy of ``x`` as ``dtype`` (or ``x`` itself if nothing changes and ``copy`` is false)."""
    cdef int code = dtype_code(dtype)
    if code == x.v.dtype and not copy:
        return x
    if info(x.v.dtype).kind == b"c" and info(code).kind != b"c" and info(code).kind != b"b":
        import warnings
        warnings.warn("Casting complex values to real discards the imaginary part",
                      np.exceptions.ComplexWarning, stacklevel=3)
    return copied(x, code)


cdef Tensor copied(Tensor x, int dtype):
    """A copy in order 'K', which for a view with a broadcast axis isn't that of a ufunc's output."""
    if not self_overlaps(x.v.layout):
        return cast(x, dtype)
    cdef Tensor t = fresh(dtype, x.v.layout.size(), x.v.chunk.device)
    cdef npy_intp step = info(dtype).size
    cdef npy_intp* strides = x.v.layout.strides()
    cdef int i, n = x.v.layout.ndim
    t.v.layout.resize(n)
    memcpy(t.v.layout.shape(), x.v.layout.shape(), n * sizeof(npy_intp))
    # By stride, the largest first; Python's sort is stable.
    for i in reversed(sorted(range(n), key=lambda i: -abs(strides[i]))):
        t.v.layout.strides()[i] = step
        step *= max(t.v.layout.shape()[i], 1)
    assign(t, x)
    return t


def asarray(o):
    """``o`` itself if it is an array, else a new array on the current device."""
    return as_tensor(o)


def assign_to(Tensor to not None, value):
    """``to[...] = value``."""
    if self_overlaps(to.v.layout):
        raise ValueError("assignment destination is read-only")
    if kind_of(value) >= 0:
        fill(to, value)
    else:
        assign(to, as_tensor_on(value, to.v.chunk.device))


def strided(Tensor x not None, tuple shape, tuple strides, npy_intp offset):
    """A view of x's memory: ``offset`` in bytes from x's first element, ``strides`` in bytes.

    Checked against the chunk's bounds.
    """
    cdef Tensor t = view_of(x)
    cdef npy_intp low, high
    cdef int n = len(shape)
    if n > kMaxDims:
        raise ValueError(f"maximum supported dimension for an ndarray is {kMaxDims}, found {n}")
    t.v.layout.resize(n)
    t.v.layout.offset = x.v.layout.offset + offset
    low = high = t.v.layout.offset
    for i in range(n):
        t.v.layout.shape()[i] = shape[i]
        t.v.layout.strides()[i] = strides[i]
        if shape[i] > 0:
            if strides[i] < 0:
                low += (shape[i] - 1) * strides[i]
            else:
                high += (shape[i] - 1) * strides[i]
    if t.v.layout.size() > 0 and (low < 0 or high + t.v.itemsize() > <npy_intp>t.v.chunk.nbytes):
        raise ValueError("the view reaches outside the array's memory")
    return t


def retype(Tensor x not None, dtype, tuple shape, tuple strides):
    """A view of the same bytes as another dtype; the caller knows that it fits."""
    cdef Tensor base = view_of(x)
    base.v.dtype = dtype_code(dtype)
    return strided(base, shape, strides, 0)


# ---- reductions ---------------------------------------------------------------------------------

cdef class Reduction(Row):
    """``ufunc.reduce`` over axes, in NumPy's own order of operations."""

    def __init__(self, object ufunc, *, str name, str section="", str doc="", bint first=False,
                 double cost=0.4):
        self.ufunc = ufunc
        self.name = name
        self.section = section
        self.__doc__ = doc
        self.first = first  # max and min start with the first element; sums with the identity
        self.cost = cost
        self.kernels = {}

    cdef object kernel_for(self, int source, int target):
        """(kernel, dtype of its input), or None where NumPy's reduction can't be replayed."""
        cdef PyUFuncObject* u = <PyUFuncObject*>self.ufunc
        cdef Kernel* k
        cdef cnp.ndarray one
        key = (source, target)
        if key in self.kernels:
            return self.kernels[key]
        kernel = None
        st, tt = np_dtype(source), np_dtype(target)
        # Casting floats on the way makes NumPy sum buffer by buffer: not the same order.
        if tt.char != "?" and (source == target or st.kind in "biu" and tt.kind in "iu"):
            k = new_kernel(self.name, REDUCE, 1, 1)
            index = find_loop(self.ufunc, (tt, tt, tt))
            k.fn = u.functions[index]
            k.data = u.data[index]
            k.dtypes[0] = k.dtypes[1] = target
            k.checks_flags = tt.kind in "fc"
            k.long_double = tt.char in "gG"
            k.starts_with_first = self.first
            k.cost = self.cost * (4 if tt.char in "eFDgG" else 1)
            if not self.first:
                one = np.asarray(self.ufunc.reduce(np.zeros(0, tt), dtype=tt))
                memcpy(k.identity, cnp.PyArray_DATA(one), tt.itemsize)
            kernel = _Kernel.__new__(_Kernel)
            (<_Kernel>kernel).k = k
        elif tt.char == "?" and self.ufunc in (np.logical_and, np.logical_or):
            k = new_kernel(self.name, REDUCE, 1, 1)
            index = find_loop(self.ufunc, (tt, tt, tt))
            k.fn = u.functions[index]
            k.data = u.data[index]
            k.dtypes[0] = k.dtypes[1] = target
            k.identity[0] = 1 if self.ufunc is np.logical_and else 0
            k.cost = 0.1
            kernel = _Kernel.__new__(_Kernel)
            (<_Kernel>kernel).k = k
        self.kernels[key] = kernel
        return kernel

    cdef object reduce(self, Tensor x, object axis, object dtype, Tensor out, bint keepdims):
        cdef int ndim = x.v.layout.ndim, i, n, code
        cdef unsigned long long mask = axis_mask(axis, ndim)
        cdef npy_intp shape[kMaxDims]
        cdef Layout* l = &x.v.layout
        n = 0
        for i in range(ndim):
            if not mask >> i & 1:
                shape[n] = l.shape()[i]
                n += 1
            elif keepdims:
                shape[n] = 1
                n += 1
        if self.first:
            for i in range(ndim):
                if mask >> i & 1 and l.shape()[i] == 0:
                    raise ValueError(f"zero-size array to reduction operation "
                                     f"{self.ufunc.__name__} which has no identity")
        code = reduced_dtype(self.ufunc, x.v.dtype, dtype)
        cdef Tensor result = empty_like_shape(code, n, shape, x.v.chunk.device)
        if not l.c_contiguous(x.v.itemsize()):
            kept_order(x, mask, keepdims, result)
        kernel = self.kernel_for(x.v.dtype, code)
        if out is not None:
            if shape_tuple(&out.v) != shape_tuple(&result.v):
                raise ValueError(
                    f"output parameter for reduction operation {self.ufunc.__name__} has the "
                    f"wrong shape: {shape_tuple(&out.v)} instead of {shape_tuple(&result.v)}")
        cdef Tensor source = x
        if kernel is not None and x.v.dtype != (<_Kernel>kernel).k.dtypes[0]:
            source = cast(x, (<_Kernel>kernel).k.dtypes[0])
        if kernel is None or l.size() == 0 or not self.replay((<_Kernel>kernel).k, source, result,
                                                              mask):
            ufunc = self.ufunc
            axes = tuple([i for i in range(ndim) if mask >> i & 1])
            loop_dtype = np_dtype(code)

            def call(outs, ins):
                ufunc.reduce(ins[0], axis=axes, dtype=loop_dtype, out=outs[0], keepdims=keepdims)

            py_call(call, self.name, [result], [x], 2000 + 1.0 * l.size(), True)
        if out is not None:
            check_out_dtype(self.ufunc, out, code)
            assign(out, result)
            return out
        return result

    cdef bint replay(self, Kernel* kernel, Tensor x, Tensor out, unsigned long long mask) except -1:
        """Emits the native reduction if its order of operations is NumPy's; else returns False.

        That is so where the input is contiguous in C order, or where all of it is reduced along
        one run of equal steps.
        """
        cdef Layout* l = &x.v.layout
        cdef npy_intp shape[kMaxDims]
        cdef npy_intp si[kMaxDims]
        cdef npy_intp so[kMaxDims]
        cdef unsigned int reduced = 0, red
        cdef int n = 0, i
        cdef npy_intp item = info(kernel.dtypes[1]).size, step
        cdef bint contiguous = l.c_contiguous(x.v.itemsize())
        # Output strides, C order over the kept axes.
        step = item
        cdef npy_intp outs[kMaxDims]
        for i in range(l.ndim - 1, -1, -1):
            outs[i] = 0
            if not mask >> i & 1:
                outs[i] = step
                step *= l.shape()[i]
        for i in range(l.ndim):
            if l.shape()[i] == 1:
                continue
            red = mask >> i & 1
            if n > 0 and (reduced >> (n - 1) & 1) == red \
                    and si[n - 1] == l.strides()[i] * l.shape()[i] \
                    and so[n - 1] == outs[i] * l.shape()[i]:
                shape[n - 1] *= l.shape()[i]
            else:
                shape[n] = l.shape()[i]
                if red:
                    reduced |= 1u << n
                n += 1
                if n > 31:
                    return False
            si[n - 1] = l.strides()[i]
            so[n - 1] = outs[i]
        if not contiguous and not (n == 1 and reduced == 1 and si[0] > 0):
            return False
        if n > 2:
            return False
        cdef bint any_reduced = reduced != 0
        if n == 0:
            n = 1
            shape[0] = 1
            si[0] = so[0] = 0
            reduced = 1
        elif not any_reduced:
            return False
        cdef Instr* instr = recorder().begin(kernel, 1, 1)
        set_operand(instr, 0, &x.v)
        set_operand(instr, 1, &out.v)
        instr.set_ndim(n)
        memcpy(instr.shape(), shape, n * sizeof(npy_intp))
        memcpy(instr.strides(0), si, n * sizeof(npy_intp))
        memcpy(instr.strides(1), so, n * sizeof(npy_intp))
        instr.reduced = reduced
        instr.overwrites = 1
        instr.bytes = out.v.chunk.nbytes
        instr.cost_ns = 40 + l.size() * kernel.cost
        emit(instr)
        return True

    def __call__(self, x, axis=None, dtype=None, out=None, keepdims=False, *, initial=None,
                 where=None):
        """Reduces ``x`` over ``axis`` (an int, a tuple, or None for all)."""
        cdef Tensor t = as_tensor(x)
        if out is not None and not isinstance(out, Tensor):
            raise TypeError(f"out is an NDArray, not {type(out).__name__}")
        if initial is None and where is None:
            return self.reduce(t, axis, dtype, out, keepdims)
        mask = axis_mask(axis, t.v.layout.ndim)
        axes = tuple([i for i in range(t.v.layout.ndim) if mask >> i & 1])
        code = reduced_dtype(self.ufunc, t.v.dtype, dtype)
        shape = reduced_shape(shape_tuple(&t.v), axes, keepdims)
        ins = [t]
        kwargs = {"axis": axes, "dtype": np_dtype(code), "keepdims": bool(keepdims)}
        if initial is not None:
            if isinstance(initial, Tensor):
                ins.append(initial)
            else:
                kwargs["initial"] = initial
        if where is not None:
            ins.append(as_tensor(where))
        ufunc = self.ufunc
        masked, from_array = where is not None, isinstance(initial, Tensor)

        def run(outs, arrays):
            if masked:
                kwargs["where"] = arrays[-1]
            if from_array:
                kwargs["initial"] = arrays[1][()]
            ufunc.reduce(arrays[0], out=outs[0], **kwargs)

        result, = call(self.name, run, ins, [(shape, np_dtype(code))],
                       cost=2000 + 1.0 * t.v.layout.size())
        if out is not None:
            check_out_dtype(self.ufunc, out, code)
            assign(out, result)
            return out
        return result


cdef int kept_order(Tensor x, unsigned long long mask, bint keepdims, Tensor out) except -1:
    """Lays `out` out in the order of x's kept axes, as NumPy does; the order of a sum follows."""
    cdef View kept
    cdef const View* views[1]
    cdef int n = 0, i
    kept.dtype = x.v.dtype
    kept.layout.resize(out.v.layout.ndim)
    for i in range(x.v.layout.ndim):
        if mask >> i & 1 and not keepdims:
            continue
        kept.layout.shape()[n] = 1 if mask >> i & 1 else x.v.layout.shape()[i]
        kept.layout.strides()[n] = 0 if mask >> i & 1 else x.v.layout.strides()[i]
        n += 1
    views[0] = &kept
    set_k_layout(out.v.layout, out.v.itemsize(), 1, views)
    return 0


cdef class _Kernel:
    cdef Kernel* k


cdef unsigned long long axis_mask(object axis, int ndim) except? 0:
    """The axes as bits; AxisError for one out of range, ValueError for one given twice."""
    cdef unsigned long long mask = 0
    cdef int a
    if axis is None:
        return (1ull << ndim) - 1 if ndim < 64 else ~0ull
    if not isinstance(axis, (tuple, list)):
        if ndim == 0 and (axis == 0 or axis == -1):
            return 0  # NumPy lets these through
        axis = (axis,)
    for entry in axis:
        if isinstance(entry, bool) or not hasattr(entry, "__index__"):
            raise TypeError(f"an axis is an integer, not {type(entry).__name__}")
        i = entry.__index__()
        if not -ndim <= i < ndim:
            raise np.exceptions.AxisError(i, ndim)
        a = i % ndim
        if mask >> a & 1:
            raise ValueError("duplicate value in 'axis'")
        mask |= 1ull << a
    return mask


def normalize_axes(axis, int ndim):
    """The axes as a sorted tuple of non-negative integers (None: all)."""
    if ndim == 0 and axis is not None and not isinstance(axis, (tuple, list)):
        raise np.exceptions.AxisError(axis, 0)  # ufunc.reduce alone is lenient
    cdef unsigned long long mask = axis_mask(axis, ndim)
    return tuple([i for i in range(ndim) if mask >> i & 1])


def reduced_shape(tuple shape, axes, bint keepdims):
    """What a reduction over ``axes`` leaves of ``shape``."""
    if keepdims:
        return tuple([1 if i in axes else d for i, d in enumerate(shape)])
    return tuple([d for i, d in enumerate(shape) if i not in axes])


cdef dict _reduced_dtypes = {}


cdef int reduced_dtype(object ufunc, int source, object dtype) except -1:
    if dtype is not None:
        return dtype_code(dtype)
    key = (ufunc, source)
    code = _reduced_dtypes.get(key)
    if code is None:
        code = dtype_code(ufunc.reduce(np.ones(1, np_dtype(source))).dtype)
        _reduced_dtypes[key] = code
    return code


# ---- matrix product -----------------------------------------------------------------------------

cdef class MatMul(Row):
    """``matmul``: NumPy's gufunc loop, which calls BLAS."""

    def __init__(self, object ufunc, *, str section="", str doc=""):
        self.ufunc = ufunc
        self.name = ufunc.__name__
        self.section = section
        self.__doc__ = doc
        self.kernels = {}

    cdef object kernel_for(self, int a, int b):
        cdef PyUFuncObject* u = <PyUFuncObject*>self.ufunc
        cdef Kernel* k
        key = (a, b)
        found = self.kernels.get(key)
        if found is None:
            dtypes = self.ufunc.resolve_dtypes((np_dtype(a), np_dtype(b), None))
            index = find_loop(self.ufunc, dtypes)
            k = new_kernel(self.name, MATMUL, 2, 1)
            k.fn = u.functions[index]
            k.data = u.data[index]
            for i in range(3):
                k.dtypes[i] = dtype_code(dtypes[i])
            k.checks_flags = dtypes[2].kind in "fc"
            k.long_double = dtypes[2].char in "gG"
            k.splittable = False
            k.cost = 0.05 if dtypes[2].char in "fdFD" else 1.0
            found = _Kernel.__new__(_Kernel)
            (<_Kernel>found).k = k
            self.kernels[key] = found
        return found

    cdef object product(self, Tensor a, Tensor b, Tensor out):
        cdef Layout* la = &a.v.layout
        cdef Layout* lb = &b.v.layout
        if la.ndim == 0 or lb.ndim == 0:
            raise ValueError(
                "matmul: Input operand 0 does not have enough dimensions (has 0, gufunc core "
                "with signature (n?,k),(k,m?)->(n?,m?) requires 1)")
        same_device(a, b)
        cdef Kernel* k = (<_Kernel>self.kernel_for(a.v.dtype, b.v.dtype)).k
        if a.v.dtype != k.dtypes[0]:
            a = cast(a, k.dtypes[0])
            la = &a.v.layout
        if b.v.dtype != k.dtypes[1]:
            b = cast(b, k.dtypes[1])
            lb = &b.v.layout
        cdef npy_intp n = 1, m = 1, kk, kb
        cdef npy_intp an = 0, ak, bk, bm = 0
        cdef bint va = la.ndim == 1, vb = lb.ndim == 1
        kk = la.shape()[la.ndim - 1]
        ak = la.strides()[la.ndim - 1]
        if not va:
            n = la.shape()[la.ndim - 2]
            an = la.strides()[la.ndim - 2]
        kb = lb.shape()[0 if vb else lb.ndim - 2]
        bk = lb.strides()[0 if vb else lb.ndim - 2]
        if not vb:
            m = lb.shape()[lb.ndim - 1]
            bm = lb.strides()[lb.ndim - 1]
        if kk != kb:
            raise ValueError(
                "matmul: Input operand 1 has a mismatch in its core dimension 0, with gufunc "
                f"signature (n?,k),(k,m?)->(n?,m?) (size {kb} is different from {kk})")
        # Batch axes, broadcast.
        cdef Layout outer_a, outer_b, space
        cdef int i
        outer_a.resize(0 if va else la.ndim - 2)
        for i in range(outer_a.ndim):
            outer_a.shape()[i] = la.shape()[i]
            outer_a.strides()[i] = la.strides()[i]
        outer_b.resize(0 if vb else lb.ndim - 2)
        for i in range(outer_b.ndim):
            outer_b.shape()[i] = lb.shape()[i]
            outer_b.strides()[i] = lb.strides()[i]
        cdef View wa, wb
        cdef const View* views[2]
        wa.layout = outer_a
        wb.layout = outer_b
        views[0] = &wa
        views[1] = &wb
        try:
            broadcast(views, 2, &space)
        except ValueError:
            raise ValueError(
                "operands could not be broadcast together with remapped shapes [original->"
                f"remapped]: {shape_tuple(&a.v)} {shape_tuple(&b.v)}") from None
        cdef npy_intp shape[kMaxDims]
        cdef int ndim = space.ndim
        for i in range(ndim):
            shape[i] = space.shape()[i]
        if not va:
            shape[ndim] = n
            ndim += 1
        if not vb:
            shape[ndim] = m
            ndim += 1
        cdef Tensor result = empty_like_shape(k.dtypes[2], ndim, shape, a.v.chunk.device)
        cdef Tensor direct = None
        if out is not None:
            if shape_tuple(&out.v) != shape_tuple(&result.v):
                raise ValueError(
                    f"matmul: Output operand 0 has shape {shape_tuple(&out.v)} instead of "
                    f"{shape_tuple(&result.v)}")
            check_out_dtype(self.ufunc, out, k.dtypes[2])
            check_out_shape(out, &result.v.layout)
            # An output that overlaps an input needs a temporary; BLAS reads while it writes.
            if out.v.dtype == k.dtypes[2] and out.v.chunk != a.v.chunk \
                    and out.v.chunk != b.v.chunk:
                direct = out
        cdef Tensor target = direct if direct is not None else result
        cdef Layout* lo = &target.v.layout
        cdef Instr* instr = recorder().begin(k, 2, 1)
        set_operand(instr, 0, &a.v)
        set_operand(instr, 1, &b.v)
        set_operand(instr, 2, &target.v)
        cdef int axes = space.ndim, lead, j
        instr.set_ndim(axes)
        for i in range(axes):
            instr.shape()[i] = space.shape()[i]
            j = i - (axes - outer_a.ndim)
            instr.strides(0)[i] = 0 if j < 0 or outer_a.shape()[j] == 1 else outer_a.strides()[j]
            j = i - (axes - outer_b.ndim)
            instr.strides(1)[i] = 0 if j < 0 or outer_b.shape()[j] == 1 else outer_b.strides()[j]
            instr.strides(2)[i] = lo.strides()[i]
        instr.core[0] = n
        instr.core[1] = kk
        instr.core[2] = m
        instr.core_steps[0] = an
        instr.core_steps[1] = ak
        instr.core_steps[2] = bk
        instr.core_steps[3] = bm
        instr.core_steps[4] = 0 if va else lo.strides()[space.ndim]
        instr.core_steps[5] = 0 if vb else lo.strides()[ndim - 1]
        instr.bytes = target.v.layout.size() * target.v.itemsize()
        if direct is None or covers(target):
            instr.overwrites = 1
        instr.cost_ns = 100 + <double>space.size() * n * m * kk * k.cost
        emit(instr)
        if out is not None and direct is None:
            assign(out, result)
        return out if out is not None else result

    def __call__(self, a, b, /, out=None):
        """The matrix product of ``a`` (..., n, k) and ``b`` (..., k, m)."""
        cdef Tensor ta = as_tensor_on(a, (<Tensor>b).v.chunk.device if isinstance(b, Tensor)
                                      else current_device())
        cdef Tensor tb = as_tensor_on(b, ta.v.chunk.device)
        if out is not None and not isinstance(out, Tensor):
            raise TypeError(f"out is an NDArray, not {type(out).__name__}")
        return self.product(ta, tb, out)


# ---- where --------------------------------------------------------------------------------------

cdef Kernel* _where_kernels[32]


def select(condition, x, y):
    """``where(condition, x, y)`` with three arguments: a native loop that moves bytes."""
    cdef Tensor c = as_tensor(condition)
    cdef int kx = kind_of(x), ky = kind_of(y)
    cdef Tensor tx = None, ty = None
    if kx < 0:
        tx = as_tensor_on(x, c.v.chunk.device)
        kx = tx.v.dtype
    if ky < 0:
        ty = as_tensor_on(y, c.v.chunk.device)
        ky = ty.v.dtype
    dtype = np.result_type(np_dtype(kx) if kx < kDtypes else x, np_dtype(ky) if ky < kDtypes else y)
    cdef int code = dtype_code(dtype)
    if c.v.dtype != D_BOOL:
        c = cast(c, D_BOOL)
    if tx is not None and kx != code:
        tx = cast(tx, code)
    if ty is not None and ky != code:
        ty = cast(ty, code)
    for t in (tx, ty):
        if t is not None:
            same_device(c, t)
    cdef Kernel* k = _where_kernels[code]
    if k is NULL:
        k = new_kernel("where", ELEMENTWISE, 3, 1)
        k.fn = where_of_size(info(code).size)
        k.dtypes[0] = D_BOOL
        k.dtypes[1] = k.dtypes[2] = k.dtypes[3] = code
        k.cost = 1.0
        _where_kernels[code] = k
    cdef const View* views[4]
    cdef Layout space
    views[0] = &c.v
    views[1] = view_or_null(tx)
    views[2] = view_or_null(ty)
    broadcast(views, 3, &space)
    cdef Tensor out = output_like(&space, code, 3, views, c.v.chunk.device)
    views[3] = &out.v
    cdef Instr* instr = recorder().begin(k, 3, 1)
    try:
        if tx is None:
            put_scalar(instr.constants[0], x, code)
        if ty is None:
            put_scalar(instr.constants[1 if tx is None else 0], y, code)
    except BaseException:
        recorder().give_back(instr)
        raise
    emit_elementwise(instr, &space, views, True)
    return out
