# distutils: language = c++
"""NDArray: the array that users touch. Its slots call the op table; its views are its own."""

import numbers
import operator
import os
import pickle
import sys
from copy import deepcopy
from opcode import _nb_ops, opmap
from operator import index
from types import GenericAlias, MethodType

import numpy as np

cimport numpy as cnp
from cpython.buffer cimport PyBUF_WRITABLE
from cpython.complex cimport PyComplex_FromDoubles
from cpython.long cimport PyLong_AsLongAndOverflow, PyLong_FromDouble
from cpython.object cimport PyObject, PyTypeObject, Py_EQ, Py_GE, Py_GT, Py_LE, Py_LT, Py_NE
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from lazyarray.engine._engine cimport Device, Var
from lazyarray.lazy._lazy cimport (
    is_of,
    D_BOOL,
    D_C8,
    D_C16,
    D_F2,
    D_F4,
    D_F8,
    D_IL,
    Layout,
    NOT_QUICK,
    Number,
    QUICK_ADD,
    QUICK_AND,
    QUICK_DIVIDE,
    QUICK_FLOOR,
    QUICK_LEFT,
    QUICK_MOD,
    QUICK_MULTIPLY,
    QUICK_OR,
    QUICK_POWER,
    QUICK_RIGHT,
    QUICK_SUBTRACT,
    QUICK_XOR,
    Tensor,
    as_scalar,
    assign,
    at_hand,
    become,
    capturing,
    cast,
    cpu0,
    moved,
    array_of,
    covers_chunk,
    dtype_code,
    fill,
    flush,
    from_numpy,
    caught_up,
    get_element,
    is_known,
    handed,
    index_of,
    info,
    is_scalar,
    kDtypes,
    is_tensor,
    kMaxDims,
    lazy,
    lone_ops,
    np_dtype,
    npy_intp,
    looked_at,
    numpy_view,
    quick,
    quick_compare,
    quick_logic,
    quick_part,
    quick_unary,
    quick_whole,
    read_out,
    recording,
    returned,
    scalars_are_read,
    set_array_type,
    set_element,
    set_scalar_type,
    settled,
    shape_tuple,
    view_of,
    wait,
    half_value,
    whole_at,
)
from lazyarray.storage._storage cimport Chunk
from lazyarray.ops._rows cimport MatMul, Reduction, Row, Ufunc, as_tensor_on, call_of_ufunc, calls_ufuncs, converted, converted_operand, diagonal_of, direct_elementwise, direct_get, direct_set, duplicate, gathered, goes_first, has_own_way, is_foreign, is_held, is_operand, plain, masked_set, \
    part_of, picked, picked_elements, raveled, reordered, reshaped, squeezed, store_item, stored_elements, swapped, transposed, viewed_as

from lazyarray import _numpy_facts, autograd, functions, ops, protocols
from lazyarray._flat import flagsobj, flatiter
from lazyarray._namespace_info import namespace
from lazyarray._text import repr_of_one
from lazyarray.context import Context
from lazyarray.engine._engine import check_methods
from lazyarray.lazy import _share
from lazyarray.lazy._lazy import Unheld, attach_leaf, detached, gpu_view, leaf_grad
from lazyarray.ops import names as op
from lazyarray.ops._rows import hinted
from lazyarray.functions import indexing
from lazyarray.functions._files import replacing

cnp.import_array()


cdef extern from "Python.h":
    int PySlice_Unpack(object, Py_ssize_t*, Py_ssize_t*, Py_ssize_t*) except -1
    Py_ssize_t PySlice_AdjustIndices(Py_ssize_t, Py_ssize_t*, Py_ssize_t*, Py_ssize_t)
    Py_ssize_t PyNumber_AsSsize_t(object, object) except? -1
    object PyBytes_FromStringAndSize(const char*, Py_ssize_t)


cdef extern from "engine/types.h" namespace "lazyarray":
    int put_in_type(PyTypeObject*, object, object) except -1
    void set_metatype(PyTypeObject*, object)
    void tell_no_sequence(PyTypeObject*)


cdef extern from "numpy/arrayobject.h":
    object PyArray_Scalar(void*, cnp.dtype, object)


cdef extern from "_frames.h" namespace "lazyarray":
    object names_of_caller()
    PyObject* running() noexcept
    bint is_operator(int, int, int, int) noexcept


cdef extern from "_lending.h" namespace "lazyarray":
    void lend_arrays(object)
    int lend(object, Py_buffer*, int) except -1
    void guard_interface(object, int)


include "_numbers.pxi"
include "_operators.pxi"
include "_methods.pxi"


# The rows of one and of two inputs by the ufunc that they run.
cdef dict _library_ufuncs = {ufunc: False for ufunc in vars(np).values() if isinstance(ufunc, np.ufunc)}


cdef bint is_library_ufunc(object ufunc) except -1:
    """Whether it is a ufunc of another library than NumPy, for elements and not for objects."""
    found = _library_ufuncs.get(ufunc)
    if found is None:
        found = ufunc.signature is None and any(loop[0] != "O" for loop in ufunc.types)
        if len(_library_ufuncs) < 2000:  # programs may make theirs (np.frompyfunc) without end
            _library_ufuncs[ufunc] = found
    return found


cdef dict _rows_of_one = {row.ufunc: row for row in ops.elementwise.TABLE.values()
                          if isinstance(row, Ufunc) and row.nin == 1 and row.nout == 1}
cdef dict _rows_of = {row.ufunc: row for row in (*ops.elementwise.TABLE.values(), _matmul)
                      if isinstance(row, MatMul) or isinstance(row, Ufunc) and row.nin == 2 and row.nout == 1}


# NumPy's function that is given steps in the memory itself: in a copy, which may lie otherwise, they would lead
# to other elements, or beyond it. So it gets a view.
cdef object _AS_STRIDED = np.lib.stride_tricks.as_strided.__code__


cdef inline bint _is_plain(object o):
    return isinstance(o, Tensor) or isinstance(o, (np.generic, float, int)) and is_held(o)


cdef inline bint is_numpys(object o):
    """Whether ``o`` is NumPy's array, of what lazyarray can hold."""
    return type(o) is np.ndarray and is_held(o)


cdef inline object number_again(object o):
    """NumPy's scalar, of which its comparisons make an array without axes before they ask us."""
    if type(o) is np.ndarray and cnp.PyArray_NDIM(<cnp.ndarray>o) == 0 and cnp.PyArray_ISNUMBER(o):
        return o[()]
    return o


cdef class ArrayVar(Var):
    """The engine variable of an array. Called, it is NumPy's method: ``x.var(axis=0)``."""

    cdef Tensor array

    def __dealloc__(self):
        if self.c is not NULL:  # else made by hand
            (<Chunk*>self.c).end_handle()

    def __call__(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False, **kwargs):
        """The array's variance over ``axis``."""
        return handed(functions.var(self.array, axis, dtype, out, ddof, keepdims, **kwargs))


# Functions, not methods: a type without native methods is as large as Tensor, whose freed objects
# are used again.


cdef Tensor awaited(Tensor array, str what):
    """The array, or its copy on the host, waited for as `what`."""
    if not array.v.on_host():
        array = moved(array, cpu0())
    wait(array, False, what)
    return array


cdef object copy_out(Tensor array):
    """A NumPy array with a copy of the values, which were waited for."""
    cdef Layout* l = &array.v.layout
    cdef bint strided = not l.c_contiguous(array.v.itemsize())
    # NumPy lets go of the GIL as it copies, memcpy doesn't.
    cdef Tensor x = settled(array, strided and l.size() > _COPIED_WITH_THE_GIL)
    cdef cnp.ndarray out
    if strided:
        out = np.empty_like(numpy_view(&x.v, False), subok=False)
        out[...] = numpy_view(&x.v, False)
        return out
    if not x.v.chunk.allocate():
        raise MemoryError(f"unable to allocate {x.v.chunk.nbytes} bytes")
    l = &x.v.layout  # another thread may have given the array another shape meanwhile
    out = cnp.PyArray_SimpleNew(l.ndim, l.shape(), info(x.v.dtype).type_num)
    memcpy(cnp.PyArray_DATA(out), x.v.elements(), cnp.PyArray_NBYTES(out))
    return out


cdef object scalar(Tensor array, str what):
    """The only element as a Python scalar; a wait, of the kind `what`."""
    if is_known(array):
        return only_element(array)
    return only_element(settled(awaited(array, what), False))


cdef object only_element(Tensor x):
    """The only element, which is there, as a Python scalar."""
    return element_value(x, x.v.layout.offset)


cdef object only_value(Tensor x):
    """The element of an array without axes, which is there, as NumPy's scalar."""
    cdef cnp.dtype d = np_dtype(x.v.dtype)
    return numpy_view(&x.v, False)[()] if not x.v.has_memory() \
        else PyArray_Scalar(x.v.elements(), d, None)


cdef list listed(Layout* l, int axis, char* p, char code):
    """The elements from ``axis`` on, which are there, as nested lists: of doubles, longs or truths."""
    cdef npy_intp i, n = l.shape()[axis], step = l.strides()[axis]
    if axis < l.ndim - 1:
        return [listed(l, axis + 1, p + i * step, code) for i in range(n)]
    if code == b"d":
        return [(<double*>(p + i * step))[0] for i in range(n)]
    if code == b"l":
        return [(<int64_t*>(p + i * step))[0] for i in range(n)]
    return [(p + i * step)[0] != 0 for i in range(n)]


cdef object element_value(Tensor x, npy_intp at):
    """The element at `at` bytes of the memory, as a Python scalar."""
    cdef char* p = x.v.elements() + at - x.v.layout.offset
    cdef char code = info(x.v.dtype).code
    cdef cnp.dtype d
    if not x.v.has_memory():
        return numpy_view(&x.v, False).item()
    elif code == b"d":
        return (<double*>p)[0]
    elif info(x.v.dtype).kind == b"i":
        return whole_at(p, info(x.v.dtype).size, True)
    elif info(x.v.dtype).kind == b"u":
        return <uint64_t>whole_at(p, info(x.v.dtype).size, False)
    elif code == b"?":
        return p[0] != 0
    elif code == b"f":
        return (<float*>p)[0]
    elif code == b"F":
        return PyComplex_FromDoubles((<float*>p)[0], (<float*>p)[1])
    elif code == b"D":
        return PyComplex_FromDoubles((<double*>p)[0], (<double*>p)[1])
    elif code == b"e":
        return half_value(p)
    d = np_dtype(x.v.dtype)
    return PyArray_Scalar(p, d, None).item()


cdef int lent(Tensor array, Py_buffer* view, int flags) except -1:
    """The memory itself, or for what only reads an array on a GPU a copy of it."""
    if not array.v.on_host():
        if flags & PyBUF_WRITABLE:
            raise BufferError("an array on a GPU has no memory that the host could write to")
        exported = copy_out(awaited(array, "?buffer"))
        exported.flags.writeable = False
    else:
        exported = _share.export(array, "?buffer")
    return lend(exported, view, flags)


cdef str with_device(Array x, str text):
    """A repr with the device, where that is another than cpu(0)."""
    return text if x.v.device() == cpu0() else f"{text[:-1]}, device={x.ctx!r})"


cdef object number(Tensor array, str what):
    """The value of an array without axes as a Python scalar."""
    if array.v.layout.ndim:
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
    return scalar(array, what)


cdef object twin(object array, object memo):
    """A copy, with a gradient of its own if the array has one."""
    made = array.copy("K")
    leaf = leaf_grad(array)
    if leaf is not None:
        attach_leaf(made, deepcopy(leaf[0], memo), leaf[1], True)
    return made


cdef class Array(Methods):
    """What arrays and scalars have in common."""

    __array_priority__ = 1000.0
    __class_getitem__ = classmethod(GenericAlias)

    # -- what it is

    @property
    def shape(self):
        """The length of each axis, a tuple of ints; set, it reshapes in place."""
        return shape_tuple(&self.v)

    @shape.setter
    def shape(self, shape):
        cdef Tensor t
        if shape is None:
            raise TypeError("Use () not None as shape arguments")
        try:
            t = functions.reshape(self, shape, copy=False)
        except ValueError:
            functions.reshape(self, shape)  # raises, unless only a copy will do
            raise AttributeError("Incompatible shape for in-place modification. Use `.reshape()` "
                                 "to make a copy with the desired shape.") from None
        become(self, t)

    @property
    def strides(self):
        """Bytes from one element to the next along each axis."""
        return tuple([self.v.layout.strides()[i] for i in range(self.v.layout.ndim)])

    @property
    def ndim(self):
        """The number of axes."""
        return self.v.layout.ndim

    @property
    def size(self):
        """The number of elements."""
        return self.v.layout.size()

    @property
    def dtype(self):
        """The NumPy dtype of the elements; set, it is as if :meth:`view` had made the array."""
        return np_dtype(self.v.dtype)

    @dtype.setter
    def dtype(self, dtype):
        become(self, functions.view(self, np.dtype(dtype)))

    @property
    def itemsize(self):
        """Bytes of one element."""
        return self.v.itemsize()

    @property
    def nbytes(self):
        """Bytes of all elements."""
        return self.v.layout.size() * self.v.itemsize()

    @property
    def var(self):
        """The engine variable of the array's memory, the same for all its views.

        Called, it is NumPy's method: ``x.var(axis=0)`` is the variance.
        """
        cdef ArrayVar v = ArrayVar.__new__(ArrayVar)
        # It keeps the memory alive, so it counts as a handle.
        self.v.chunk.add_handle()
        v.c = self.v.chunk
        v.array = self
        return v

    @property
    def ctx(self):
        """The device that the array lives on."""
        cdef Device where = <Device>Context.__new__(Context)
        where.c = self.v.device()
        return where

    @property
    def context(self):
        """The device that the array lives on (MXNet's name for ``ctx``)."""
        return self.ctx

    @property
    def device(self):
        """The device that the array lives on (the array API's name for ``ctx``)."""
        return self.ctx

    def __dir__(self):
        # Without the names that only say what to write in their place.
        return [n for n in object.__dir__(self) if n not in hinted or hasattr(type(self), n)]

    # -- gradients

    def attach_grad(self, grad_req="write"):
        """Gives the array a gradient, :attr:`grad`, that ``backward`` writes ("add": adds) to.

        What is computed from the array inside ``autograd.record()`` can then be differentiated.
        What was recorded of the array before stays. "null" takes the gradient away.
        """
        autograd.attach_grad(self, grad_req)

    def drop_grad(self):
        """Takes the gradient of :meth:`attach_grad` away; what was recorded of the array stays.

        Returns: None.
        Raises: nothing.
        """
        autograd.drop_grad(self)

    @property
    def grad(self):
        """The array that collects the gradient; None without :meth:`attach_grad`."""
        found = leaf_grad(self)
        return None if found is None else found[0]

    def backward(self, out_grad=None, retain_graph=False, train_mode=True):
        """Computes the gradients of all arrays with :meth:`attach_grad` that this one was made of.

        Args:
            out_grad: this array's own gradient; None: ones.
        Returns: None: the gradients are in :attr:`grad`.
        """
        autograd.backward([self], None if out_grad is None else [out_grad], retain_graph, train_mode)

    def detach(self):
        """A view of the array whose values are constants to ``backward``.

        Returns: a view of the same shape.
        Raises: nothing.
        """
        return detached(self)

    # -- waiting

    def wait_to_read(self):
        """Blocks until what was written to the array is there; raises what made it fail.

        Returns: the array itself.
        Raises: the error of the operation that failed to write it.
        """
        wait(self, False, "wait_to_read")
        return self

    def wait_to_write(self):
        """Blocks until every use of the array, reads too, is done.

        Returns: the array itself.
        Raises: the error of the operation that failed to write it.
        """
        wait(self, True, "wait_to_write")
        return self

    def __await__(self):
        return protocols.awaiting.awaited(self)

    def _state(self):
        """"pending", "complete" or "failed": without waiting."""
        if self.v.alone():
            return "complete"
        if not self.v.chunk.readable():
            return "pending"
        return "complete" if self.v.chunk.error.load() is NULL else "failed"

    def _whole(self):
        """Whether the array is all of its memory."""
        return covers_chunk(&self.v)

    def asnumpy(self):
        """A NumPy array with a copy of the values; waits for them.

        Returns: a ``numpy.ndarray`` of the same shape and dtype.
        Raises: the error of the operation that failed to write the array.
        """
        return copy_out(awaited(self, "asnumpy"))

    def _raw(self, bint writable):
        """A NumPy view of the memory itself, for an op that declared it."""
        return numpy_view(&self.v, writable and not self.v.readonly)

    def _fetched(self, str what):
        """The values, for an op whose result's shape or dtype depends on them: a hidden wait."""
        return copy_out(awaited(self, "?" + what))

    def _number(self, str what):
        """The value of an array without axes, as NumPy's scalar: a hidden wait."""
        return only_value(settled(awaited(self, "?" + what), False))

    def _looked_at(self, str what, function):
        """``function`` of the values, which it only reads and keeps nothing of: a hidden wait."""
        cdef Tensor x = awaited(self, "?" + what)
        if x.v.alone() or x.v.chunk.nbytes <= _COPIED_SOON:
            return function(copy_out(x))
        return looked_at(x, what.removesuffix("()"), function)

    def _on_gpu(self):
        """A CuPy array on the memory itself, for an op that declared it."""
        return gpu_view(self)

    def item(self, *args):
        """One element as a Python scalar; waits for it.

        Args:
            *args: which element: nothing (the only one), an index of the flattened array, or one
                index an axis.
        Returns: a Python number or bool.
        Raises: ValueError if there is not just one element and none is named; IndexError if there
            is no such element.
        """
        cdef Tensor x
        cdef npy_intp at
        if args:
            x = settled(awaited(self, "item"), False)
            if x.v.has_memory() and element_at(x, args[0] if len(args) == 1 else args, &at):
                return element_value(x, at)
            return numpy_view(&x.v, False).item(*args)
        if self.v.layout.size() != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return scalar(self, "item")

    def asscalar(self):
        """The only element as a Python scalar; waits for it (MXNet's name for ``item``).

        Returns: a Python number or bool.
        Raises: ValueError if there is not just one element.
        """
        return self.item()

    def tolist(self):
        """The values as nested lists of Python scalars; waits for them.

        Returns: nested lists, as deep as there are axes; a number without axes.
        Raises: the error of the operation that failed to write the array.
        """
        cdef Tensor x = settled(awaited(self, "?tolist()"), False)
        cdef Layout l
        if x.v.layout.ndim and x.v.has_memory() and info(x.v.dtype).code in b"dl?":
            l = x.v.layout  # a finalizer may give the array another shape meanwhile
            return listed(&l, 0, x.v.elements(), info(x.v.dtype).code)
        return numpy_view(&x.v, False).tolist()

    def tobytes(self, order="C"):
        """The values' bytes; waits for them.

        Returns: bytes.
        Raises: ValueError for another ``order``.
        """
        cdef Tensor x
        x = settled(awaited(self, "?tobytes()"), False)
        if order == "C" and x.v.has_memory() and x.v.layout.c_contiguous(x.v.itemsize()):
            return PyBytes_FromStringAndSize(x.v.elements(), x.v.layout.size() * x.v.itemsize())
        return numpy_view(&x.v, False).tobytes(order)

    def tofile(self, fid, sep="", format="%s"):
        """Writes the values to a file, as bytes or (with ``sep``) as text; waits for them.

        Args:
            fid: a path, or an open file.
            sep: what stands between the elements of text; empty: bytes are written.
            format: how an element of text is written, as in ``format % element``.
        Returns: None.
        Raises: OSError if the file can't be written.
        """
        wait(self, False, "?tofile()")
        if not isinstance(fid, (str, os.PathLike)):
            copy_out(self).tofile(fid, sep, format)
            return
        with replacing(fid) as stream:
            copy_out(self).tofile(stream, sep, format)

    def dump(self, file):
        """Pickles the array to a file, given by its path or open; waits for the values.

        Args:
            file: a path, or an open file.
        Returns: None.
        Raises: OSError if the file can't be written.
        """
        if hasattr(file, "write"):
            pickle.dump(self, file)
            return
        with replacing(file) as stream:
            pickle.dump(self, stream)

    def dumps(self):
        """The pickled array, as bytes; waits for the values.

        Returns: bytes.
        Raises: the error of the operation that failed to write the array.
        """
        return pickle.dumps(self)

    def __bool__(self):
        cdef char* p
        if is_known(self):
            p = self.v.elements()
            if self.v.dtype == D_BOOL:
                return p[0] != 0
            if self.v.dtype == D_F8:
                return (<double*>p)[0] != 0
            if info(self.v.dtype).kind in b"iu":
                return whole_at(p, info(self.v.dtype).size, True) != 0
            if self.v.dtype == D_F4:
                return (<float*>p)[0] != 0
            if self.v.dtype == D_C8:
                return (<float*>p)[0] != 0 or (<float*>p)[1] != 0
            if self.v.dtype == D_C16:
                return (<double*>p)[0] != 0 or (<double*>p)[1] != 0
            if self.v.dtype == D_F2:
                return whole_at(p, 2, False) & 0x7fff != 0
        if self.v.layout.size() != 1:
            if self.v.layout.size() == 0:
                raise ValueError("The truth value of an empty array is ambiguous. "
                                 "Use `array.size > 0` to check that an array is not empty.")
            raise ValueError("The truth value of an array with more than one element is "
                             "ambiguous. Use a.any() or a.all()")
        return bool(scalar(self, "?bool()"))

    def __float__(self):
        if self.v.dtype == D_F8 and is_known(self):
            return (<double*>self.v.elements())[0]
        return float(number(self, "?float()"))

    def __int__(self):
        if self.v.dtype == D_IL and is_known(self):
            return (<int64_t*>self.v.elements())[0]
        if self.v.dtype == D_F8 and is_known(self):
            return PyLong_FromDouble((<double*>self.v.elements())[0])
        return int(number(self, "?int()"))

    def __complex__(self):
        return complex(number(self, "?complex()"))

    def __round__(self, digits=None):
        if self.v.layout.ndim:
            raise TypeError("type NDArray with axes doesn't define __round__: use la.round")
        if self.v.drawn:  # as Python rounds
            return as_pythons(round(scalar(self, "?round()"), digits))
        return round(scalar(self, "?round()")) if digits is None else handed(functions.round(self, digits))

    def __trunc__(self):
        return int(number(self, "?trunc()"))

    def __repr__(self):
        cdef Tensor x = awaited(self, "?repr()")
        text = repr_of_one(only_value(x)) if x.v.layout.ndim == 0 else None
        if text is None:
            text = repr(numpy_view(&x.v, False))
        return with_device(self, text)

    def _repr_html_(self):
        """Shape, dtype, device and state, and a picture of values that are there: without waiting."""
        from lazyarray._html import of_array
        return of_array(self)

    def __str__(self):
        if is_known(self):
            return str(only_element(self) if info(self.v.dtype).kind in b"iub" else only_value(self))
        cdef Tensor x = awaited(self, "?str()")
        a = numpy_view(&x.v, False)
        return str(a[()] if x.v.layout.ndim == 0 else a)

    def __format__(self, spec):
        if spec and self.v.layout.ndim:
            raise TypeError("unsupported format string passed to lazyarray.NDArray.__format__")
        if spec:
            return format(scalar(self, "?format()"), spec)
        return format(str(self), spec)

    # -- NumPy's protocols

    def __array__(self, dtype=None, copy=None):
        if copy is False or copy is None and self.v.layout.ndim and running() == <PyObject*>_AS_STRIDED:
            return protocols.interfaces.shared(self, dtype)
        a = copy_out(awaited(self, "?__array__"))
        return a if dtype is None else a.astype(dtype, copy=False)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        # Mostly a NumPy scalar or array with an operator: np.float64(2) * x.
        cdef tuple given = inputs
        if not kwargs and method == "__call__" and len(given) == 2:
            row = _rows_of.get(ufunc)
            a, b = number_again(given[0]), number_again(given[1])
            if row is not None and (is_numpys(a) if is_tensor(b) else is_tensor(a) and is_numpys(b)):
                return operated(row, a, b)
            if isinstance(row, Ufunc) and _is_plain(a) and _is_plain(b):
                return handed((<Ufunc>row).binary(a, b, None))
        elif not kwargs and method == "__call__" and len(given) == 1 and is_tensor(given[0]):
            row = _rows_of_one.get(ufunc)
            if row is not None:
                return handed((<Ufunc>row).unary(given[0], None))
        if not kwargs and method == "__call__" and is_library_ufunc(ufunc):
            found = direct_elementwise(ufunc, given)
            if found is not None:
                return handed(found)
        return handed(protocols.dispatch.ufunc(ufunc, method, inputs, kwargs))

    def __array_function__(self, func, types, args, kwargs):
        return handed(protocols.dispatch.function(func, args, kwargs, self))

    def __array_namespace__(self, *, api_version=None):
        return namespace(api_version)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        return protocols.dlpack.dlpack(self, stream, max_version, dl_device, copy)

    def __dlpack_device__(self):
        return (self.v.device().dlpack_kind(), 0 if self.v.on_host() else self.v.device().id)

    def __bytes__(self):
        if not self.v.layout.ndim and info(self.v.dtype).kind in b"iu":
            return bytes(int(self))  # so many zeros: Python asks an integer's __index__ before its buffer
        return self.tobytes()

    def ascupy(self):
        """A CuPy array on the memory itself, for arrays on a GPU; waits for their uses.

        Returns: a ``cupy.ndarray`` of the same shape and dtype.
        Raises: ImportError without CuPy; TypeError if the array isn't on a GPU.
        """
        return protocols.interfaces.ascupy(self)

    @property
    def __cuda_array_interface__(self):
        return protocols.interfaces.cuda_interface(self)

    def __reduce__(self):
        leaf = leaf_grad(self) or ()
        if not is_scalar(self) and self.v.device().kind != GPU:
            # NumPy pickles it, and copies it to do so.
            return protocols.pickling.rebuild, (_share.export(self, "?pickle"), self.ctx, *leaf)
        values = copy_out(awaited(self, "?pickle"))
        return protocols.pickling.rebuild, (values[()] if is_scalar(self) else values, self.ctx, *leaf)

    def __reduce_ex__(self, protocol):
        if protocol < 5 or is_scalar(self) or type(self).__reduce__ is not Array.__reduce__:
            return self.__reduce__()
        gpu = self.v.device().kind == GPU
        values = copy_out(awaited(self, "?pickle")) if gpu else _share.export(self, "?pickle")
        pickling = protocols.pickling
        return pickling.on_buffer, (pickling.laid_out(values), self.ctx, *(leaf_grad(self) or ()))

    def __copy__(self):
        return twin(self, {})

    def __deepcopy__(self, memo):
        return twin(self, memo)

    # -- indexing

    def __getitem__(self, key):
        cdef Tensor t
        cdef int kind = INDEX_ADVANCED
        cdef npy_intp at
        if element_at(self, key, &at):
            t = get_element(self, at)
            if t is None and caught_up(self, False) and element_at(self, key, &at):
                t = get_element(self, at)
            if t is not None:
                return handed(t)
        if isinstance(key, tuple) and type(key) is not tuple:
            return self[tuple(key)]
        t = None if is_indices(key) else basic_view(self, key, &kind)
        if kind == INDEX_VIEW:
            return t
        if kind == INDEX_ELEMENT:  # as NumPy's scalar, it doesn't follow the array
            return handed(as_scalar(cast(t, t.v.dtype)))
        t = picked_elements(self, key)
        if t is not None:
            return handed(t)
        plain = with_numbers(self, key, True)
        if plain is not None:
            return basic_view(self, plain, &kind)
        t = gathered(self, key)
        if t is None:
            t = picked(self, key)
        if t is None:
            t = direct_get(self, key)
        return handed(t if t is not None else indexing.get(self, key))


include "_array_type.pxi"
include "_scalar_types.pxi"


cdef int _BINARY = opmap["BINARY_OP"], _COMPARES = opmap["COMPARE_OP"]
cdef int _MATMUL, _IN_PLACE
_MATMUL, _IN_PLACE = map([_name for _name, _ in _nb_ops].index, ("NB_MATRIX_MULTIPLY", "NB_INPLACE_ADD"))


cdef class _UfuncProtocol:
    """``__array_ufunc__`` of the arrays' type.

    NumPy's arrays and scalars ask for it before each operator with one of ours. If it is None they leave the operator
    to us, which takes a tenth of the time of their way through the ufunc. So an operator finds None there (not one
    in place, which NumPy never leaves to others, nor `@`, whose errors are the ufunc's), a call of a ufunc the method.
    """

    cdef object method

    def __get__(self, x, kind):
        if x is not None:
            return MethodType(self.method, x)
        return None if is_operator(_BINARY, _MATMUL, _IN_PLACE, _COMPARES) and not calls_ufuncs() else self.method


cdef int lead_operators() except -1:
    cdef _UfuncProtocol protocol = _UfuncProtocol.__new__(_UfuncProtocol)
    protocol.method = Array.__array_ufunc__
    put_in_type(<PyTypeObject*>Array, "__array_ufunc__", protocol)
    return 0


lead_operators()

lend_arrays(NDArray)
guard_interface(NDArray, opmap["LOAD_ATTR"])
put_in_type(<PyTypeObject*>NDArray, "__hash__", None)  # for isinstance(x, Hashable): the slot stays
for _lent in (Scalar, BoolScalar, RealScalar, IntegralScalar, ComplexScalar):
    tell_no_sequence(<PyTypeObject*>_lent)


include "_indexing.pxi"

check_methods(globals())
for _lent in (Array, NDArray, Scalar, BoolScalar, RealScalar, IntegralScalar, ComplexScalar):
    set_metatype(<PyTypeObject*>_lent, _ArrayType)  # what no class statement of a native class can say
