# distutils: language = c++
"""Tensors (views of chunks), and how instructions on them reach the recorder."""

import contextvars
import os
import sys
import threading
import time
import warnings

import numpy as np

cimport numpy as cnp
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.complex cimport PyComplex_ImagAsDouble, PyComplex_RealAsDouble
from cpython.float cimport PyFloat_AsDouble
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.string cimport memcpy, memset

from lazyarray.engine._engine cimport (
    OK,
    SELF_WAIT,
    adopt_worker_thread,
    bulk_is_explicit,
    check_status,
    error_from_exception,
    get_bulk,
    graveyard,
    intern_name,
    process_engine,
    raise_error,
    set_flush_hook,
    site_line,
    NAIVE,
)
from lazyarray.storage._storage cimport store

cnp.import_array()


cdef extern from "Python.h":
    ctypedef object (*newfunc)(type, object, object)
    ctypedef struct PyTypeObject:
        newfunc tp_new
    int PyContextVar_Get(object, PyObject*, PyObject**) except -1
    PyObject* PyEval_GetFrame()
    int PyErr_CheckSignals() except -1


cdef extern from "numpy/arrayobject.h":
    object PyArray_NewFromDescr(PyTypeObject*, cnp.dtype, int, npy_intp*, npy_intp*, void*, int,
                                object)
    PyTypeObject PyArray_Type
    int NPY_ARRAY_WRITEABLE, NPY_ARRAY_ALIGNED


# ---- dtypes -------------------------------------------------------------------------------------

cdef list _dtypes = [np.dtype(chr(info(i).code)) for i in range(kDtypes)]


cdef object np_dtype(int code):
    return _dtypes[code]


cdef int dtype_code(object dtype) except -1:
    """The code of a dtype-like; TypeError for one that arrays can't have."""
    cdef cnp.dtype d = dtype if isinstance(dtype, np.dtype) else np.dtype(dtype)
    cdef int code = dtype_of_type_num(d.type_num)
    if code < 0:
        raise TypeError(
            f"lazyarray has no dtype {d}: its dtypes are bool, the integers, floats and complex "
            "numbers (no object, string, datetime or structured ones)"
        )
    return code


# ---- tensors ------------------------------------------------------------------------------------

cdef class Tensor:
    """A view of a chunk: memory that is an engine variable, a dtype, a shape and strides."""

    def __dealloc__(self):
        # Any thread, also inside the garbage collector and at exit: only counters and free lists.
        if self.v.chunk is not NULL:
            self.v.chunk.drop_handle()


cdef Recorder* _recorder = NULL
cdef Engine _engine = None
cdef type _array_type = Tensor
cdef tuple _no_args = ()


cdef Recorder* recorder() noexcept:
    return _recorder


cdef void set_array_type(type t):
    """What new arrays are instances of: the room above names its class here."""
    global _array_type
    _array_type = t


cdef Tensor new_tensor(Chunk* chunk, int dtype):
    """A tensor on `chunk` with a handle of its own; the caller sets the layout."""
    cdef Tensor t = (<PyTypeObject*>_array_type).tp_new(_array_type, _no_args, None)
    chunk.add_handle()
    t.v.chunk = chunk
    t.v.dtype = dtype
    return t


cdef Tensor fresh(int dtype, npy_intp size, CDevice device):
    cdef Chunk* chunk = _recorder.store().create(size * info(dtype).size, device)
    cdef Tensor t = new_tensor(chunk, dtype)
    chunk.unref()  # create()'s own reference
    return t


cdef Tensor empty_like_shape(int dtype, int ndim, const npy_intp* shape, CDevice device):
    """A new C-ordered tensor without memory yet."""
    cdef npy_intp size = 1
    for i in range(ndim):
        size *= shape[i]
    cdef Tensor t = fresh(dtype, size, device)
    t.v.layout.resize(ndim)
    if ndim:
        memcpy(t.v.layout.shape(), shape, ndim * sizeof(npy_intp))
    t.v.layout.set_c_order(info(dtype).size)
    return t


cdef Tensor view_of(Tensor base):
    """A view with base's dtype and offset; the caller sets shape and strides."""
    cdef Tensor t = new_tensor(base.v.chunk, base.v.dtype)
    t.v.layout.offset = base.v.layout.offset
    return t


cdef bint same_device(Tensor a, Tensor b) except -1:
    if a.v.chunk.device == b.v.chunk.device:
        return True
    raise ValueError(
        f"operands are on different devices, {_device(a)} and {_device(b)}: "
        "move one with copyto, as_in_context or to_device"
    )


cdef object _device(Tensor t):
    cdef Device d = Device.__new__(Device)
    d.c = t.v.chunk.device
    return d


cdef extern from *:
    """
    // The device that new arrays are made on; per thread, 0 stands for cpu(0).
    static lazyarray::Device& thread_device() {
      static thread_local lazyarray::Device d;
      return d;
    }
    """
    CDevice& thread_device() noexcept


cdef CDevice current_device() noexcept:
    return thread_device()


def swap_current_device(Device device not None):
    """Makes ``device`` the one that this thread makes new arrays on; returns the old one."""
    cdef Device old = Device.__new__(Device)
    old.c = thread_device()
    cdef CDevice* now = &thread_device()
    now[0] = device.c
    return old


# ---- recording ----------------------------------------------------------------------------------

cdef Kernel* new_kernel(str name, KernelKind kind, int nin, int nout) except NULL:
    cdef Kernel* k = new Kernel()
    k.name = intern_name(name.encode())
    k.kind = kind
    k.nin = nin
    k.nout = nout
    return k


cdef void set_operand(Instr* instr, int k, const View* v) noexcept:
    if v is NULL:
        instr.ops[k].chunk = NULL
    else:
        instr.ops[k].chunk = v.chunk
        instr.ops[k].offset = v.layout.offset


cdef int emit_elementwise(Instr* instr, Layout* space, const View** views,
                          bint overwrites) except -1:
    """Completes and emits an elementwise instruction over `space`."""
    cdef int k
    cdef npy_intp n = space.size()
    for k in range(instr.nop):
        set_operand(instr, k, views[k])
    set_space(instr[0], space[0], views)
    for k in range(instr.nin, instr.nop):
        instr.bytes += n * views[k].itemsize()
        if overwrites:
            instr.overwrites |= 1 << (k - instr.nin)
    instr.cost_ns = 30 + n * instr.kernel.cost
    return emit(instr)


cdef object _errstate_var = None
cdef PyObject* _errstate_seen = NULL
cdef ErrState _errstate


def _find_errstate_var():
    try:
        from numpy._core.umath import _extobj_contextvar
        return _extobj_contextvar
    except ImportError:  # a private name; without it every op asks np.geterr()
        return None


_errstate_var = _find_errstate_var()
_MODES = {"ignore": 0, "warn": 1, "raise": 2, "call": 3, "print": 4, "log": 5}


cdef int _capture_errstate(Instr* instr) except -1:
    # np.errstate lives in a context variable; its object changes when the state does.
    global _errstate_seen, _errstate
    cdef PyObject* now = NULL
    if _errstate_var is not None:
        PyContextVar_Get(_errstate_var, NULL, &now)
        if now is not NULL:
            Py_DECREF(<object>now)  # kept alive by the context for as long as it is current
    if now is NULL or now != _errstate_seen:
        modes = np.geterr()
        _errstate.divide = _MODES[modes["divide"]]
        _errstate.over = _MODES[modes["over"]]
        _errstate.under = _MODES[modes["under"]]
        _errstate.invalid = _MODES[modes["invalid"]]
        if now is not NULL:
            # Held, so that the address can't come to mean another state.
            Py_INCREF(<object>now)
            if _errstate_seen is not NULL:
                Py_DECREF(<object>_errstate_seen)
            _errstate_seen = now
    instr.errstate = _errstate
    return 0


cdef int emit(Instr* instr) except -1:
    """Runs the instruction now if it is tiny and ready, else records it. Takes it over."""
    cdef Recorder* rec = _recorder
    cdef bint naive = rec.engine().policy() == NAIVE
    cdef bint full
    cdef Status status
    instr.has_refs = False
    if rec.engine().stopped():
        rec.give_back(instr)
        raise RuntimeError("the engine is stopped: call start() before using arrays")
    if instr.kernel.checks_flags:
        _capture_errstate(instr)
    # A PYTHON instruction may let go of the GIL while it runs, and so must be known to the engine:
    # a tiny one is pushed, and run by its pusher (see Recorder::push_group).
    if instr.cost_ns < rec.policy.inline_ns and instr.kernel.kind != PYTHON \
            and not (naive and bulk_is_explicit()) and rec.ready(instr[0]):
        rec.run_inline(instr[0])
        if naive:
            _raise_naive(instr)
        rec.give_back(instr)
        return 0
    cdef vector[Chunk*] outs
    if naive:
        for k in range(instr.nin, instr.nop):
            instr.ops[k].chunk.ref()
            outs.push_back(instr.ops[k].chunk)
    instr.site.capture()
    cdef vector[Chunk*] exported
    if rec.store().exports.load():
        for k in range(instr.nop):
            if instr.ops[k].chunk is not NULL and instr.ops[k].chunk.exports.load():
                instr.ops[k].chunk.ref()
                exported.push_back(instr.ops[k].chunk)
    full = rec.append(instr, 1 if naive and not bulk_is_explicit() else get_bulk())
    if full:
        flush(True)
    if exported.size():
        _finish(exported)
    if rec.over_budget():
        _throttle()
    if naive:
        _raise_outs(outs)
    return 0


cdef int _raise_naive(Instr* instr) except -1:
    cdef CError* e
    for k in range(instr.nin, instr.nop):
        e = _recorder.engine().error_of(instr.ops[k].chunk)
        if e is not NULL:
            _recorder.give_back(instr)
            raise_error(e)
    return 0


cdef int _raise_outs(vector[Chunk*]& outs) except -1:
    cdef CError* e = NULL
    for c in outs:
        if e is NULL and not bulk_is_explicit():
            e = _recorder.engine().error_of(c)
        c.unref()
    return raise_error(e)


cdef cbool _poll(void* arg) noexcept nogil:
    with gil:
        try:
            PyErr_CheckSignals()
        except BaseException as exc:
            (<list>arg).append(exc)
            return False
        return True


cdef int _finish(vector[Chunk*]& chunks) except -1:
    """Waits for all uses of memory that others can touch, before they get the chance."""
    cdef CEngine* e = _recorder.engine()
    cdef Status status = OK
    flush(False)
    interrupt = []
    cdef void* arg = <void*>interrupt
    for c in chunks:
        if status == OK:
            with nogil:
                status = e.wait(c, True, _poll, arg)
            if status == SELF_WAIT:  # an op that uses the memory itself pushed this one
                status = OK
        c.unref()
    return check_status(status, interrupt)


cdef int _throttle() except -1:
    cdef CEngine* e = _recorder.engine()
    cdef int64_t max_bytes = _recorder.max_pending_bytes, max_ops = _recorder.max_pending_ops
    cdef Status status
    flush(True)
    interrupt = []
    cdef void* arg = <void*>interrupt
    with nogil:
        status = e.throttle(max_bytes, max_ops, _poll, arg)
    return check_status(status, interrupt)


cdef int flush(bint wake) except -1:
    """Pushes the open segment; `wake` is false if the caller waits at once, and helps."""
    graveyard().sweep()
    return check_status(_recorder.flush(wake), None)


cdef int _flush_hook() except -1:
    return flush(True)


# ---- waiting ------------------------------------------------------------------------------------

_no_sync = threading.local()
_syncs = {}  # (code, byte offset, what) -> [count, nanoseconds]


cdef extern from *:
    """
    static PyObject* frame_code(int* lasti) {
      lazyarray::Site site;
      site.capture();
      if (!site.code) Py_RETURN_NONE;
      *lasti = site.lasti;
      return site.code;
    }
    static int no_sync_depth(int change) {
      static thread_local int depth = 0;
      return depth += change;
    }
    """
    object frame_code(int* lasti)
    int no_sync_depth(int change)


cdef int wait(Tensor x, bint everything, str what) except -1:
    """Waits for x's writers (or all uses) and raises what poisoned it.

    `what` names the sync for the report; a leading "?" marks one that the user may not see.
    """
    cdef Chunk* c = x.v.chunk
    cdef int lasti = -1
    cdef bint pending = not (c.idle() if everything else c.readable())
    if no_sync_depth(0) and what[0] == "?":
        raise RuntimeError(
            f"{what[1:]} waits for the value of an array, inside la.no_sync(): "
            "wait explicitly (asnumpy, item, wait_to_read) or keep the computation in arrays"
        )
    code = frame_code(&lasti)
    key = (code, lasti, what)
    row = _syncs.get(key)
    if row is None:
        row = _syncs[key] = [0, 0]
    row[0] += 1
    if pending:
        start = time.perf_counter_ns()
        flush(False)
        try:
            _engine.wait_var(c, everything)
        finally:
            row[1] += time.perf_counter_ns() - start
    elif c.error.load() is not NULL:
        raise_error(_recorder.engine().error_of(c))
    if _recorder.runtime.any_warning.load():
        _give_warnings()
    return 0


cdef int _give_warnings() except -1:
    cdef vector[FpWarning] pending
    _recorder.runtime.warn_lock.lock()
    pending.swap(_recorder.runtime.warnings)
    _recorder.runtime.any_warning.store(False)
    _recorder.runtime.warn_lock.unlock()
    todo = []
    for w in pending:
        text = f"{flag_text(w.flag).decode()} encountered in {w.op.decode()}"
        if w.site.code is NULL:
            todo.append((text, "<unknown>", 0))
        else:
            code = <object>w.site.code
            todo.append((text, code.co_filename, site_line(w.site.code, w.site.lasti)))
            Py_DECREF(code)
    for text, file, line in todo:
        warnings.warn_explicit(text, RuntimeWarning, file, line)
    return 0


def waitall():
    """Waits for everything pushed so far; raises the first error that no wait has raised yet."""
    cdef int lasti = -1
    code = frame_code(&lasti)
    row = _syncs.setdefault((code, lasti, "waitall"), [0, 0])
    row[0] += 1
    start = time.perf_counter_ns()
    try:
        _engine.wait_for_all()
    finally:
        row[1] += time.perf_counter_ns() - start
        if _recorder.runtime.any_warning.load():
            _give_warnings()


def sync_rows(bint reset=False):
    """The syncs so far: (file, line, function, what, count, nanoseconds), most time first."""
    out = []
    for (code, lasti, what), (count, ns) in _syncs.items():
        if code is None:
            out.append(("<unknown>", 0, "?", what.lstrip("?"), count, ns))
        else:
            out.append((code.co_filename, site_line(<PyObject*>code, lasti), code.co_name,
                        what.lstrip("?"), count, ns))
    if reset:
        _syncs.clear()
    out.sort(key=lambda r: (-r[5], -r[4]))
    return out


cdef class no_sync:
    """Within the block, a hidden wait (``if x:``, ``float(x)``, ``repr``, ``tolist``) raises.

    Explicit ones (``asnumpy``, ``item``, ``wait_to_read``) still work. Per thread; nests.

    >>> import lazyarray as la
    >>> x = la.ones(3)
    >>> with la.no_sync():
    ...     float(x.sum())
    Traceback (most recent call last):
    RuntimeError: float() waits for the value of an array, inside la.no_sync(): wait explicitly (asnumpy, item, wait_to_read) or keep the computation in arrays
    """

    def __enter__(self):
        no_sync_depth(1)

    def __exit__(self, *exc):
        no_sync_depth(-1)


# ---- from and to NumPy and Python ---------------------------------------------------------------

cdef class _ChunkRef:
    """What a NumPy view of a chunk's memory has as its base."""

    cdef Chunk* chunk

    def __dealloc__(self):
        if self.chunk is not NULL:
            self.chunk.drop_handle()


cdef object numpy_view(const View* v, bint writable):
    """A NumPy array on the memory itself. The caller knows that nobody else uses it now."""
    if not v.chunk.allocate():
        raise MemoryError(f"unable to allocate {v.chunk.nbytes} bytes")
    cdef cnp.dtype d = _dtypes[v.dtype]
    Py_INCREF(d)  # stolen
    cdef View* w = <View*>v
    cdef object a = PyArray_NewFromDescr(
        &PyArray_Type, d, w.layout.ndim, w.layout.shape(), w.layout.strides(),
        v.chunk.data + w.layout.offset, NPY_ARRAY_WRITEABLE if writable else 0, None)
    cdef _ChunkRef ref = _ChunkRef.__new__(_ChunkRef)
    v.chunk.add_handle()
    ref.chunk = v.chunk
    Py_INCREF(ref)  # stolen
    cnp.PyArray_SetBaseObject(<cnp.ndarray>a, ref)
    return a


cdef Tensor from_numpy(object array, CDevice device):
    """A new tensor with a copy of a NumPy array, in its layout ('K' order)."""
    cdef cnp.ndarray a = array
    cdef int code = dtype_code(a.dtype)
    cdef int ndim = cnp.PyArray_NDIM(a)
    if not a.dtype.isnative:
        a = a.astype(a.dtype.newbyteorder("="))
    cdef Tensor t = empty_like_shape(code, ndim, <const npy_intp*>cnp.PyArray_DIMS(a), device)
    cdef cnp.ndarray w
    if cnp.PyArray_IS_C_CONTIGUOUS(a):
        if not t.v.chunk.allocate():
            raise MemoryError(f"unable to allocate {t.v.chunk.nbytes} bytes")
        memcpy(t.v.chunk.data, cnp.PyArray_DATA(a), t.v.chunk.nbytes)
    else:
        like = np.empty_like(a)
        for i in range(ndim):
            t.v.layout.strides()[i] = like.strides[i]
        w = numpy_view(&t.v, True)
        w[...] = a
    return t


cdef int put_scalar(char* to, object value, int dtype) except -1:
    """Writes a Python or NumPy scalar as one element of `dtype`.

    OverflowError for a Python integer out of range, as NumPy's.
    """
    cdef double d
    cdef long long n
    if dtype == D_F8:
        (<double*>to)[0] = PyFloat_AsDouble(value)
        return 0
    if dtype == D_IL and type(value) is int:
        (<long*>to)[0] = value
        return 0
    cdef cnp.ndarray a = np.zeros((), _dtypes[dtype])
    a[()] = value
    memcpy(to, cnp.PyArray_DATA(a), info(dtype).size)
    return 0


# ---- casts, copies, fills -----------------------------------------------------------------------

cdef Kernel* _casts[32][32]
memset(_casts, 0, sizeof(_casts))


cdef Kernel* cast_kernel(int source, int target) except NULL:
    cdef Kernel* k = _casts[source][target]
    if k is NULL:
        k = new_kernel("copy" if source == target else "cast", ELEMENTWISE, 1, 1)
        k.fn = cast_loop(info(source).type_num, info(target).type_num)
        k.dtypes[0] = source
        k.dtypes[1] = target
        k.casts_range = cast_checks_range(info(source).type_num, info(target).type_num)
        k.checks_flags = info(source).kind in b"fc" and source != target
        k.long_double = source == target or info(source).size > 8
        k.cost = 0.25 if source == target else 0.6
        _casts[source][target] = k
    return k


cdef Tensor cast(Tensor x, int dtype):
    """A new tensor with x's elements as `dtype`, in x's layout order."""
    cdef Kernel* k = cast_kernel(x.v.dtype, dtype)
    cdef Tensor out = fresh(dtype, x.v.layout.size(), x.v.chunk.device)
    cdef const View* views[2]
    views[0] = &x.v
    views[1] = &out.v
    out.v.layout.resize(x.v.layout.ndim)
    if x.v.layout.ndim:
        memcpy(out.v.layout.shape(), x.v.layout.shape(), x.v.layout.ndim * sizeof(npy_intp))
    set_k_layout(out.v.layout, info(dtype).size, 1, views)
    emit_elementwise(_recorder.begin(k, 1, 1), &out.v.layout, views, True)
    return out


cdef bint covers_chunk(const View* v) noexcept:
    """Whether a write through the view overwrites the whole chunk."""
    cdef View* w = <View*>v
    return <size_t>(w.layout.size() * info(v.dtype).size) == v.chunk.nbytes \
        and not self_overlaps(w.layout)


cdef tuple shape_tuple(const View* v):
    cdef View* w = <View*>v
    return tuple([w.layout.shape()[i] for i in range(w.layout.ndim)])


cdef int assign(Tensor to, Tensor value) except -1:
    """``to[...] = value``: broadcasts, casts as NumPy's assignment does, and allows overlap."""
    same_device(to, value)
    return copy_into(to, value)


cdef int copy_into(Tensor to, Tensor value) except -1:
    """``assign``, also from one CPU device to another: runs where ``to`` is."""
    cdef Layout* a = &to.v.layout
    cdef Layout* b = &value.v.layout
    cdef int extra = b.ndim - a.ndim
    cdef int i
    cdef bint fits = True
    for i in range(b.ndim):
        if i < extra:
            fits = fits and b.shape()[i] == 1
        else:
            fits = fits and (b.shape()[i] == 1 or b.shape()[i] == a.shape()[i - extra])
    if not fits:
        raise ValueError(
            f"could not broadcast input array from shape {shape_tuple(&value.v)} "
            f"into shape {shape_tuple(&to.v)}"
        )
    if a.size() == 0:
        return 0
    if to.v.chunk == value.v.chunk:
        if to.v.dtype == value.v.dtype and a.same_view(b[0]):
            return 0
        if may_overlap(a[0], to.v.itemsize(), b[0], value.v.itemsize()):
            value = cast(value, value.v.dtype)  # the right-hand side as it is before the write
            b = &value.v.layout
    if extra > 0:  # leading axes of length one
        value = view_of(value)
        value.v.layout.resize(a.ndim)
        for i in range(a.ndim):
            value.v.layout.shape()[i] = b.shape()[i + extra]
            value.v.layout.strides()[i] = b.strides()[i + extra]
    cdef const View* views[2]
    views[0] = &value.v
    views[1] = &to.v
    emit_elementwise(_recorder.begin(cast_kernel(value.v.dtype, to.v.dtype), 1, 1), a, views,
                     covers_chunk(&to.v))
    return 0


cdef int fill(Tensor to, object value) except -1:
    """``to[...] = value`` for a Python or NumPy scalar."""
    cdef Kernel* k = cast_kernel(to.v.dtype, to.v.dtype)
    cdef Instr* instr = _recorder.begin(k, 1, 1)
    cdef const View* views[2]
    views[0] = NULL
    views[1] = &to.v
    try:
        put_scalar(instr.constants[0], value, to.v.dtype)
    except BaseException:
        _recorder.give_back(instr)
        raise
    emit_elementwise(instr, &to.v.layout, views, covers_chunk(&to.v))
    return 0


cdef CError* _recast(Instr& instr, char** ptrs, cbool* invalid) noexcept nogil:
    adopt_worker_thread()
    with gil:
        try:
            arrays = []
            for k in range(2):
                d = _dtypes[instr.kernel.dtypes[k]]
                Py_INCREF(d)
                arrays.append(PyArray_NewFromDescr(
                    &PyArray_Type, d, instr.ndim, instr.shape(), instr.strides(k), ptrs[k],
                    NPY_ARRAY_WRITEABLE, None))
            try:
                with np.errstate(all="raise"):  # judged once the whole copy is made
                    np.copyto(arrays[1], arrays[0], casting="unsafe")
            except FloatingPointError:
                invalid[0] = True
            return NULL
        except BaseException as exc:
            return error_from_exception(exc, instr.kernel.name, &instr.site)


# ---- instructions that take the GIL -------------------------------------------------------------

cdef dict _py_kernels = {}


cdef class _KernelRef:
    cdef Kernel* k


cdef int py_call(object fn, str name, list outs, list ins, double cost_ns,
                 bint overwrites) except -1:
    """Records ``fn(outs, ins)``, called with the GIL on NumPy views of the tensors' memory.

    The outputs' shapes and dtypes are known here, their values when it has run. It runs in a
    copy of the caller's context, so np.errstate holds.
    """
    cdef _KernelRef ref = _py_kernels.get(name)
    if ref is None:
        ref = _KernelRef()
        ref.k = new_kernel(name, PYTHON, 0, 0)
        _py_kernels[name] = ref
    cdef int nin = len(ins), nout = len(outs), k
    cdef Tensor t
    if nout > 32:
        raise ValueError(f"{name}: at most 32 outputs, not {nout}")
    cdef Tensor first = None
    for o in outs:
        first = o if first is None else first
        same_device(first, o)
    for o in ins:
        first = o if first is None else first
        same_device(first, o)
    cdef Instr* instr = _recorder.begin(ref.k, nin, nout)
    cdef PyCall* call = new PyCall()
    instr.py.reset(call)
    call.fn = <PyObject*>fn
    Py_INCREF(fn)
    context = contextvars.copy_context()
    call.context = <PyObject*>context
    Py_INCREF(context)
    for k in range(nin + nout):
        t = ins[k] if k < nin else outs[k - nin]
        set_operand(instr, k, &t.v)
        call.views.push_back(t.v)
        if k >= nin:
            instr.bytes += t.v.layout.size() * t.v.itemsize()
            if overwrites and covers_chunk(&t.v):
                instr.overwrites |= 1 << (k - nin)
    instr.cost_ns = cost_ns
    return emit(instr)


cdef CError* _run_python(Instr& instr) noexcept nogil:
    adopt_worker_thread()
    with gil:
        return _call_python(instr)


cdef CError* _call_python(Instr& instr):
    cdef PyCall* call = instr.py.get()
    try:
        ins, outs = [], []
        for k in range(instr.nop):
            (outs if k >= instr.nin else ins).append(numpy_view(&call.views[k], k >= instr.nin))
        (<object>call.context).run(<object>call.fn, outs, ins)
        return NULL
    except BaseException as exc:
        return error_from_exception(exc, instr.kernel.name, &instr.site)


# ---- set-up -------------------------------------------------------------------------------------

def _int_setting(name, default):
    text = os.environ.get(name, "").strip()
    if not text:
        return default
    try:
        value = int(text)
    except ValueError:
        raise ValueError(f"{name}={text!r}: an integer is wanted") from None
    if value < 1:
        raise ValueError(f"{name}={text!r}: at least 1 is wanted")
    return value


cdef int (*_openblas_threads)() noexcept nogil
_openblas_threads = NULL


cdef int _blas_threads() noexcept nogil:
    return _openblas_threads() if _openblas_threads is not NULL else 2


def _find_blas():
    # NumPy's wheels bring their own OpenBLAS; asking it is one call. Elsewhere: assume threads.
    global _openblas_threads
    import ctypes
    import glob

    root = os.path.join(os.path.dirname(np.__file__), "..", "numpy.libs", "*openblas*")
    for path in glob.glob(root):
        try:
            lib = ctypes.CDLL(path)
        except OSError:
            continue
        for name in ("scipy_openblas_get_num_threads64_", "openblas_get_num_threads64_",
                     "scipy_openblas_get_num_threads", "openblas_get_num_threads"):
            if hasattr(lib, name):
                address = ctypes.cast(getattr(lib, name), ctypes.c_void_p).value
                _openblas_threads = <int (*)() noexcept nogil><size_t>address
                return


def _stats():
    return {"ops": _recorder.recorded + _recorder.inlined, "recorded": _recorder.recorded,
            "inlined": _recorder.inlined}


def _set_policy(name, double value):
    """Changes one figure of the flush policy; for tests and measurements. Returns the old one."""
    if name == "inline_ns":
        old, _recorder.policy.inline_ns = _recorder.policy.inline_ns, value
    elif name == "flush_ns":
        old, _recorder.policy.flush_ns = _recorder.policy.flush_ns, value
    elif name == "cheap_ns":
        old, _recorder.policy.cheap_ns = _recorder.policy.cheap_ns, value
    elif name == "group_ns":
        old, _recorder.policy.group_ns = _recorder.policy.group_ns, value
    elif name == "max_pending_bytes":
        old, _recorder.max_pending_bytes = _recorder.max_pending_bytes, <int64_t>value
    elif name == "max_pending_ops":
        old, _recorder.max_pending_ops = _recorder.max_pending_ops, <int64_t>value
    else:
        raise ValueError(f"no such figure: {name}")
    return old


def _default_budget():
    try:
        ram = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        ram = 8 << 30
    return min(4 << 30, ram // 4)


cdef int _set_up() except -1:
    global _recorder, _engine
    from lazyarray.engine import _engine as engine_module

    _engine = process_engine()
    _recorder = new Recorder(_engine.c, store())
    _recorder.runtime.hooks.python = _run_python
    _recorder.runtime.hooks.recast = _recast
    _recorder.runtime.hooks.blas_threads = _blas_threads
    _recorder.max_pending_bytes = _int_setting("LAZYARRAY_MAX_PENDING_BYTES", _default_budget())
    set_flush_hook(_flush_hook)
    engine_module.stat_sources.append(_stats)
    _find_blas()
    return 0


_set_up()
