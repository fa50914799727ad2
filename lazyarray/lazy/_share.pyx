# distutils: language = c++
"""Memory shared with others than the engine's ops: zero-copy exports and imports, RNG state."""

import numpy as np

cimport numpy as cnp
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_CheckExact
from cpython.ref cimport Py_INCREF
from libc.stdint cimport int32_t
from libcpp.string cimport string

from lazyarray.engine._engine cimport CDevice, Device, atomic
from lazyarray.lazy._lazy cimport (
    D_F8,
    Layout,
    Tensor,
    copy_into,
    cpu0,
    moved,
    current_device,
    drop_owner,
    dtype_code,
    empty_like_shape,
    fresh,
    info,
    kMaxDims,
    lazy,
    new_tensor,
    np_dtype,
    only_transferred,
    npy_intp,
    set_k_layout,
    shape_tuple,
    view_of,
    wait,
    View,
)
from lazyarray.storage._storage cimport Chunk, need_memory, store

from lazyarray.engine._engine import check_methods
from lazyarray.lazy._lazy import gpu_view, quiesce_gpu

cnp.import_array()


cdef extern from "numpy/arrayobject.h":
    ctypedef struct PyTypeObject:
        pass
    object PyArray_NewFromDescr(PyTypeObject*, cnp.dtype, int, npy_intp*, npy_intp*, void*, int,
                                object)
    PyTypeObject PyArray_Type
    int NPY_ARRAY_WRITEABLE


cdef extern from "lazy/dlpack.h" namespace "lazyarray":
    string flaw_of_capsule(object)


# ---- exports ------------------------------------------------------------------------------------

cdef class _Export:
    """The base of an exported NumPy array: while it lives, ops on the chunk end before their push."""

    cdef Chunk* chunk

    def __dealloc__(self):
        if self.chunk is not NULL:
            if self.chunk.device.has_streams():
                # What its last user launched may be under way, on a stream that our ops don't wait for.
                try:
                    quiesce_gpu(self.chunk.device.id)
                except BaseException:
                    pass  # the device failed, which each use says, or the interpreter ends
            store().drop_export(self.chunk)
            self.chunk.drop_handle()


def export(Tensor x not None, str what):
    """A NumPy array on x's memory itself; waits, as ``what``, for every use of it first.

    It is writable if ``x`` is.

    Until the array and all that shares its memory are gone, each op on ``x`` (or a view of it)
    has run when its call returns.
    """
    cdef Chunk* c = x.v.chunk
    if not c.device.on_host():
        raise TypeError(f"an array on gpu({c.device.id}) is no memory of the host's: asnumpy() copies it, "
                        "ascupy() and DLPack share it")
    cdef _Export base = _Export.__new__(_Export)
    c.add_handle()
    store().add_export(c)  # before the wait: another thread may push meanwhile
    base.chunk = c
    wait(x, True, what)
    need_memory(c)
    store().publish(c)
    cdef cnp.dtype d = np_dtype(x.v.dtype)
    Py_INCREF(d)  # stolen
    a = PyArray_NewFromDescr(&PyArray_Type, d, x.v.layout.ndim, x.v.layout.shape(),
                             x.v.layout.strides(), c.data + x.v.layout.offset,
                             0 if x.v.readonly else NPY_ARRAY_WRITEABLE, None)
    Py_INCREF(base)  # stolen
    cnp.PyArray_SetBaseObject(<cnp.ndarray>a, base)
    return a


def export_gpu(Tensor x not None, str what):
    """A CuPy array on x's memory itself; waits, as ``what``, for every use of it first.

    While it, or what shares its memory, lives, each op on ``x`` first waits for all that was launched on
    the device, and has run there when its call returns: nobody can tell what others do with it.
    """
    cdef Chunk* c = x.v.chunk
    cdef _Export base = _Export.__new__(_Export)
    c.add_handle()
    store().add_export(c)
    base.chunk = c
    wait(x, True, what)
    need_memory(c, True)
    store().publish(c)
    return gpu_view(x, base)


def lend(Tensor x not None, str what):
    """The address of x's first element, which is lent for as long as the memory lives."""
    cdef Chunk* c = x.v.chunk
    store().add_export(c)  # one that nobody drops, whatever other exports there are
    wait(x, True, what)
    need_memory(c, True)
    store().publish(c)
    return <size_t>c.data + x.v.layout.offset


def export_count(Tensor x not None):
    """How many zero-copy exports (and imports) of x's memory live."""
    return x.v.chunk.exports.load()


def offset(Tensor x not None):
    """Bytes from the start of the chunk to x's first element."""
    return x.v.layout.offset


def address(Tensor x not None):
    """Where x's first element lies, if others can see that memory; else None."""
    if not x.v.chunk.exports.load() and not lazy(x.v.chunk).immutable or not x.v.has_memory():
        return None
    return <size_t>x.v.elements()


# ---- imports ------------------------------------------------------------------------------------

def check_capsule(capsule):
    """Raises for what no DLPack capsule is, or one of a tensor that can't be."""
    if not PyCapsule_CheckExact(capsule):
        raise TypeError(f"__dlpack__() gave a {type(capsule).__name__}, not a capsule")
    flaw = flaw_of_capsule(capsule)
    if flaw.size():
        raise BufferError(f"from_dlpack: this capsule can't be imported: {flaw.decode()}")


cdef object _root_of(cnp.ndarray a):
    """A NumPy array on all of the memory that ``a`` is a part of, and whether that never changes."""
    root = a
    while isinstance((<object>root).base, np.ndarray):
        root = root.base
    base = root.base
    if isinstance(base, memoryview):
        base = base.obj
    if base is None or isinstance(base, np.ndarray):
        return root, False
    try:
        return np.frombuffer(base, np.uint8), type(base) is bytes
    except Exception:  # it is no buffer, or none in a row: nobody knows what its memory is
        return root, False


cdef Tensor _adopted(char* first, size_t nbytes, object owner, CDevice place, bint never_changes):
    """A tensor, without a layout, on memory that isn't known yet, in a chunk that keeps ``owner``."""
    cdef Chunk* c = store().create(nbytes, place)
    c.data = first
    Py_INCREF(owner)
    c.owner = <void*><PyObject*>owner
    c.drop_owner = drop_owner
    lazy(c).immutable = True  # until somebody imports it who may write
    if not never_changes:
        store().add_export(c)
    if nbytes:
        store().publish(c)
    cdef Tensor t = new_tensor(c, D_F8)
    c.unref()  # create()'s own reference
    return t


def on_bytes(bytes b not None, int code, npy_intp n):
    """A read-only vector on the memory of ``b``, of ``n`` elements that fill it: the quick way of `adopt`."""
    cdef Tensor t
    cdef Chunk* c = store().find(PyBytes_AS_STRING(b), PyBytes_GET_SIZE(b))
    if c is NULL:
        t = _adopted(PyBytes_AS_STRING(b), PyBytes_GET_SIZE(b), b, cpu0(), True)
    else:
        t = new_tensor(c, code)
        c.unref()  # find()'s
    t.v.dtype = code
    t.v.readonly = True
    t.v.layout.resize(1)
    t.v.layout.offset = PyBytes_AS_STRING(b) - t.v.chunk.data
    t.v.layout.shape()[0] = n
    t.v.layout.strides()[0] = info(code).size
    return t


def adopt(cnp.ndarray a not None, Device device=None):
    """An array on the memory of an aligned NumPy array, which it keeps alive; read-only if that is.

    The same memory has one chunk, and so one variable, however often it is imported; ops on it
    have run when their call returns, for as long as it lives. (Those on the memory of ``bytes``, which never
    changes, run when they like.) It is on a CPU: on cpu(0) for a GPU.
    """
    cdef int code = dtype_code(a.dtype)
    cdef int ndim = cnp.PyArray_NDIM(a)
    cdef bint never_changes
    cdef Tensor t
    cdef Chunk* c
    cdef CDevice place = device.c if device is not None else current_device()
    if ndim > kMaxDims:
        raise ValueError(f"maximum supported dimension for an ndarray is {kMaxDims}, found {ndim}")
    low, high = np.lib.array_utils.byte_bounds(a)
    if a.size == 0:
        high = low
    c = store().find(<const char*><size_t>low, high - low)
    if c is NULL:
        root, never_changes = _root_of(a)
        first, last = np.lib.array_utils.byte_bounds(root)
        if first > low or last < high:  # a root that was made by hand doesn't hold its views
            root, first, last, never_changes = a, low, high, False
        if not place.on_host():
            place = cpu0()
        t = _adopted(<char*><size_t>first, last - first, root, place, never_changes)
    else:
        t = new_tensor(c, code)
        c.unref()  # find()'s
    c = t.v.chunk
    t.v.dtype = code
    t.v.readonly = not cnp.PyArray_ISWRITEABLE(a)
    if not t.v.readonly:
        lazy(c).immutable = False
    t.v.layout.resize(ndim)
    t.v.layout.offset = <npy_intp>(<char*>cnp.PyArray_DATA(a) - c.data)
    for i in range(ndim):
        t.v.layout.shape()[i] = cnp.PyArray_DIM(a, i)
        t.v.layout.strides()[i] = cnp.PyArray_STRIDE(a, i)
    return t


def own(Tensor x not None):
    """Has an array on memory of others, who have let go of it, be like any other."""
    x.v.chunk.own()


def adopt_gpu(size_t first, size_t nbytes, object owner, Device device not None, size_t start,
              object dtype, tuple shape, tuple strides, bint readonly):
    """An array on memory of others on a GPU, kept by ``owner``.

    That memory is ``nbytes`` from the address ``first``, if these hold the array: of others than CuPy's it tells the
    array's own length, without what lies before its first element or comes by overlapping steps.
    """
    cdef Tensor t
    cdef Layout layout
    cdef npy_intp low, high
    cdef int i, code = dtype_code(dtype), ndim = len(shape)
    cdef Chunk* c
    layout.resize(ndim)
    for i in range(ndim):
        layout.shape()[i] = shape[i]
        layout.strides()[i] = strides[i]
    layout.offset = <npy_intp>start
    layout.extent(info(code).size, low, high)
    # One byte at least: where one block ends the next may begin.
    c = store().find(<const char*>low, max(high - low, 1))
    if c is NULL:
        if first > <size_t>low or first + nbytes < <size_t>high:
            first, nbytes = low, high - low
        c = store().create(nbytes, device.c)
        c.data = <char*>first
        Py_INCREF(owner)
        c.owner = <void*><PyObject*>owner
        c.drop_owner = drop_owner
        store().add_export(c)
        if nbytes:
            store().publish(c)
    t = new_tensor(c, code)
    c.unref()  # create()'s own reference, or find()'s
    t.v.readonly = readonly
    t.v.layout = layout
    t.v.layout.offset = <npy_intp>(start - <size_t>c.data)
    return t


# ---- other devices ------------------------------------------------------------------------------

def copy_across(Tensor to not None, Tensor x not None):
    """``to[...] = x`` where the two may be on different devices."""
    copy_into(to, x)


def copied_to(Tensor x not None, Device device not None):
    """A copy of ``x`` on ``device``, in x's layout order."""
    if only_transferred(device.c, x.v.device()):
        return moved(x, device.c)
    cdef Tensor to = fresh(x.v.dtype, x.v.layout.size(), device.c)
    cdef const View* views[1]
    cdef int n = x.v.layout.ndim
    to.v.layout.resize(n)
    for i in range(n):
        to.v.layout.shape()[i] = x.v.layout.shape()[i]
    views[0] = &x.v
    set_k_layout(to.v.layout, info(x.v.dtype).size, 1, views)
    copy_into(to, x)
    return to


# ---- resources ----------------------------------------------------------------------------------

def resource(Device device not None):
    """A one-element array that stands for state which ops change in order (an RNG's).

    A failed op never poisons it, so it says nothing about the ops after it.
    """
    cdef npy_intp one = 1
    cdef Tensor t = empty_like_shape(dtype_code(np.uint64), 1, &one, device.c)
    lazy(t.v.chunk).resource = True
    return t

check_methods(globals())
