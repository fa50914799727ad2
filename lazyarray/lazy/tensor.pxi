# Dtypes, tensors and the current device.


cdef list _dtypes = [np.dtype(chr(info(i).code)) for i in range(kDtypes)]


cdef object np_dtype(int code):
    return _dtypes[code]


class Unheld(TypeError):
    """Something is of a kind that arrays can't have: public functions hand it to NumPy then.

    Its text, a pattern and what stands in it, is made when it is asked for: mostly nobody does.
    """

    def __str__(self):
        args = TypeError.args.__get__(self)
        return args[0].format(*args[1:]) if len(args) > 1 else TypeError.__str__(self)


# By types and strings.
cdef dict _known_codes = {float: D_F8, int: D_IL, bool: D_BOOL, complex: D_C16}


cdef int dtype_code(object dtype) except -1:
    """The code of a dtype-like; TypeError for one that arrays can't have."""
    if isinstance(dtype, type) or type(dtype) is str:
        known = _known_codes.get(dtype)
        if known is not None:
            return known
    if isinstance(dtype, Tensor):  # in the place of `out`, say
        raise TypeError("Cannot construct a dtype from an array")
    cdef cnp.dtype d = dtype if isinstance(dtype, cnp.dtype) else np.dtype(dtype)
    cdef int code = dtype_of_type_num(d.type_num)
    if code < 0:
        raise Unheld(
            "lazyarray has no dtype {}: its dtypes are bool, the integers, floats and complex "
            "numbers (no object, string, datetime or structured ones)", d
        )
    if not cnp.PyDataType_ISNOTSWAPPED(d):
        raise Unheld("lazyarray's arrays have the machine's byte order, not that of {!r}", d.str)
    if type(dtype) is str or isinstance(dtype, type) and dtype.__module__ == "numpy":
        _known_codes[dtype] = code
    return code



@cython.freelist(64)
cdef class Tensor:
    """A view of a chunk: memory that is an engine variable, a dtype, a shape and strides."""

    def __cinit__(self):
        if not _making:  # an array made by hand is a vector without elements, until its __init__
            self.v.set_chunk(_recorder.store().create(0, current_device()))
            self.v.chunk.adopt_handle()
            self.v.dtype = D_F8
            self.v.layout.resize(1)
            self.v.layout.shape()[0] = 0
            self.v.layout.strides()[0] = info(D_F8).size


cdef extern from "lazy/cpu/backend.h" namespace "lazyarray" nogil:
    cdef cppclass Planner:
        uint64_t hits, misses
    cdef cppclass CpuBackend(Backend):
        CpuBackend(Runtime*, const TilePolicy*) except +
        Planner planner


cdef Recorder* _recorder = NULL
cdef CpuBackend* _host_backend = NULL
cdef Engine _engine = None
cdef type _array_type = Tensor
cdef destructor array_dealloc = (<PyTypeObject*>Tensor).tp_dealloc
cdef tuple _no_args = ()
cdef int _making = 0  # new_tensor calls under way: none but it makes tensors


cdef Recorder* recorder() noexcept:
    return _recorder


cdef void set_array_type(type t):
    """What new arrays are instances of: the room above names its class here."""
    global _array_type, array_dealloc
    _array_type = t
    array_dealloc = keeping_spares(t)


cdef PyTypeObject* type_of_arrays() noexcept:
    return <PyTypeObject*>_array_type


# The types of scalars, by dtype: each is of Tensor's size, and has no dealloc of its own.
cdef PyTypeObject* _scalar_types[kDtypes]
for _code in range(kDtypes):
    _scalar_types[_code] = <PyTypeObject*>Tensor  # until the room above names its classes


cdef void set_scalar_type(str kinds, type t):
    """What scalars of the dtypes of these kinds are instances of."""
    # An array becomes one by a store: so the types are alike, and not counted (made by a class statement).
    if t.__basicsize__ != Tensor.__basicsize__ or t.__flags__ >> 9 & 1:
        raise SystemError(f"{t.__name__} can't be a type of scalars")
    keeping_spares(t)
    for code in range(kDtypes):
        if chr(info(code).kind) in kinds:
            _scalar_types[code] = <PyTypeObject*>t


cdef inline void seal(Tensor t) noexcept:
    Py_SET_TYPE(t, _scalar_types[t.v.dtype])
    t.v.readonly = True


cdef Tensor as_scalar(Tensor t):
    """Makes a scalar of a new array without axes: it never changes from here on.

    It is what NumPy would return as a scalar. Nobody else may have seen the array.
    """
    if Py_TYPE(t) != <PyTypeObject*>_array_type and not is_scalar(t):
        return t  # of a class that a program derived: its objects are others (the collector knows of them)
    seal(t)
    return t


cpdef Tensor returned(Tensor t):
    """A new array as NumPy returns it: as a scalar where it has no axes."""
    return t if t.v.layout.ndim else as_scalar(t)


cdef Tensor as_array(Tensor t):
    """The reverse, of a scalar that nobody else has seen."""
    if t is _true or t is _false:
        return cast(t, D_BOOL)
    Py_SET_TYPE(t, <PyTypeObject*>_array_type)
    t.v.readonly = False
    return t


cdef bint is_scalar(Tensor t) noexcept:
    """Whether the array is what NumPy returns as a scalar."""
    return Py_TYPE(t) == _scalar_types[t.v.dtype]


cdef Tensor unshared(Tensor x):
    """``x``, of which a view is wanted that may be written to: a copy if it is a scalar."""
    return cast(x, x.v.dtype) if is_scalar(x) else x


cdef Tensor typed_like(Tensor t, Tensor like):
    """The new array ``t``, as a scalar if ``like`` is one."""
    return as_scalar(t) if is_scalar(like) else t


cdef inline Tensor blank_tensor(int dtype):
    global _making
    cdef Tensor t
    _making += 1
    try:
        t = <Tensor>(<PyTypeObject*>_array_type).tp_new(_array_type, _no_args, None)
    finally:
        _making -= 1
    t.v.dtype = dtype
    return t


cdef Tensor new_tensor(Chunk* chunk, int dtype):
    """A tensor on `chunk` with a handle of its own; the caller sets the layout."""
    cdef Tensor t = blank_tensor(dtype)
    chunk.add_handle()
    t.v.set_chunk(chunk)
    return t


cdef int check_size(npy_intp size, npy_intp itemsize) except -1:
    """That the bytes of an array can be counted; NumPy's error."""
    if size > PY_SSIZE_T_MAX // itemsize:
        raise ValueError("array is too big; `arr.size * arr.dtype.itemsize` is larger than the "
                         "maximum possible size.")
    return 0


cdef inline bint holds(CDevice device, int dtype) noexcept:
    """Whether arrays on the device may have the dtype."""
    return device.on_host() or _recorder.executor.on(device).holds(dtype)


cdef Tensor fresh(int dtype, npy_intp size, CDevice device):
    check_size(size, info(dtype).size)
    if not holds(device, dtype):
        raise TypeError(f"arrays on {device.text().decode()} can't have dtype {_dtypes[dtype]}")
    cdef Tensor t = blank_tensor(dtype)
    t.v.set_chunk(_recorder.store().create(size * info(dtype).size, device))
    t.v.chunk.adopt_handle()
    return t


cdef Tensor empty_like_shape(int dtype, int ndim, const npy_intp* shape, CDevice device):
    """A new C-ordered tensor without memory yet."""
    cdef npy_intp size = 1
    cdef double exact = 1
    for i in range(ndim):
        size *= shape[i]
        exact *= shape[i]
    check_size(size if exact < <double>PY_SSIZE_T_MAX else PY_SSIZE_T_MAX, info(dtype).size)
    cdef Tensor t = fresh(dtype, size, device)
    t.v.layout.resize(ndim)
    if ndim:
        memcpy(t.v.layout.shape(), shape, ndim * sizeof(npy_intp))
    t.v.layout.set_c_order(info(dtype).size)
    return t


cdef Tensor view_of(Tensor base):
    """A view with base's dtype and offset; the caller sets shape and strides."""
    cdef Chunk* chunk = base.v.chunk
    cdef Tensor t = new_tensor(chunk, base.v.dtype)
    t.v.made_of = True
    if lazy(chunk).owner is NULL and not base.v.made_of:
        lazy(chunk).owner = &base.v
    t.v.layout.offset = base.v.layout.offset
    t.v.readonly = base.v.readonly
    t.v.detached = base.v.detached
    return t


cdef Tensor owner_of(Tensor t):
    """The array that is all of the memory of ``t``, and that others were made from; None if it is gone."""
    if t.v.alone():
        return None
    cdef const HeldView* v = lazy(t.v.chunk).owner
    if v is NULL or not covers_chunk(v):
        return None
    cdef PyObject* o = <PyObject*>(<char*>v - (<char*>&t.v - <char*><PyObject*>t))
    return <Tensor>o if Py_REFCNT(o) > 0 else None  # at 0 its weak references are told of its death


cdef uint64_t _moved = 0  # how often an array left memory that a program uses by reference


cdef int become(Tensor x, Tensor other) except -1:
    """Makes ``x`` itself the view that ``other`` is."""
    global _moved
    cdef Chunk* old = x.v.chunk
    other.v.chunk.add_handle()
    x.v.set_chunk(other.v.chunk)
    x.v.layout = other.v.layout
    x.v.dtype = other.v.dtype
    x.v.made_of = other.v.made_of
    x.v.readonly = other.v.readonly
    x.v.detached = other.v.detached
    if is_captured(old):
        _moved += 1
    if x.v.chunk == old:
        old.drop_handle()  # its views go on being made from it
    else:
        x.v.leave(old)
    return 0


cdef CDevice cpu0() noexcept:
    cdef CDevice d
    return d


cdef bint same_device(Tensor a, Tensor b) except -1:
    if a.v.device() == b.v.device():
        return True
    raise ValueError(
        f"operands are on different devices, {a.v.device().text().decode()} and {b.v.device().text().decode()}: "
        "move one with copyto, as_in_context or to_device"
    )


cdef CDevice current_device() noexcept:
    return mode().device


cdef class DeviceScope(Device):
    """A device that is, within a ``with`` block, the one that this thread makes new arrays on."""

    cdef Entered[CDevice, OfDevices] entered

    def _checked(self):
        """Raises if the device is not there."""

    def __enter__(self):
        self._checked()
        self.entered.enter(mode().device)
        mode().device = self.c
        return self

    def __exit__(self, *exc):
        if not self.entered.leave(&mode().device):
            raise RuntimeError(f"{self!r}: left more often than entered, in this thread")


def swap_current_device(Device device not None):
    """Makes ``device`` the one that this thread makes new arrays on; returns the old one."""
    cdef Device old = new_device(mode().device)
    mode().device = device.c
    return old
