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
from cpython.list cimport PyList_New, PyList_SET_ITEM
from cpython.long cimport PyLong_FromDouble
from cpython.ref cimport Py_INCREF
from cpython.sequence cimport PySequence_Check
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
    known_integer,
    info,
    is_scalar,
    kDtypes,
    is_tensor,
    kMaxDims,
    lazy,
    lone_ops,
    np_dtype,
    number_at_hand,
    npy_intp,
    looked_at,
    numpy_view,
    owner_of,
    quick,
    quick_compare,
    quick_inverted,
    quick_logic,
    quick_part,
    quick_unary,
    quick_whole,
    read_out,
    recorder,
    recording,
    returned,
    scalars_are_read,
    set_array_type,
    set_element,
    set_scalar_type,
    settled,
    shape_tuple,
    tuple_of_lengths,
    view_of,
    wait,
    half_value,
    whole_at,
)
from lazyarray.storage._storage cimport Chunk, need_memory
from lazyarray.lazy._lazy cimport noting
from lazyarray.ops._rows cimport MatMul, Reduction, Row, Ufunc, as_tensor_on, call_of_ufunc, calls_ufuncs, converted, converted_operand, derived_made, diagonal_of, direct_elementwise, direct_get, direct_set, duplicate, gathered, goes_first, has_own_way, is_derived, is_foreign, is_held, is_mask, is_operand, is_told, one_to_numpy, plain, masked_set, \
    part_of, picked, picked_elements, raveled_in, reordered, reshaped, squeezed, store_item, stored_at, stored_elements, swapped, told_by_class, transposed, viewed_as, with_places

from lazyarray import _numpy_facts, autograd, functions, ops, protocols
from lazyarray._flat import flagsobj, flatiter
from lazyarray._namespace_info import namespace
from lazyarray._text import repr_of_one
from lazyarray.context import Context
from lazyarray.engine._engine import check_methods
from lazyarray.lazy import _share
from lazyarray.lazy._lazy import Unheld, attach_leaf, detached, gpu_view, leaf_grad
from lazyarray.ops import names as op
from lazyarray.ops._rows import asks, hinted
from lazyarray.functions import indexing
from lazyarray.functions._files import replacing

cnp.import_array()


cdef extern from "Python.h":
    int PySlice_Unpack(object, Py_ssize_t*, Py_ssize_t*, Py_ssize_t*) except -1
    Py_ssize_t PySlice_AdjustIndices(Py_ssize_t, Py_ssize_t*, Py_ssize_t*, Py_ssize_t)
    Py_ssize_t PyNumber_AsSsize_t(object, object) except? -1
    bint PyIndex_Check(object) noexcept
    object PyBytes_FromStringAndSize(const char*, Py_ssize_t)


cdef extern from "engine/types.h" namespace "lazyarray":
    int put_in_type(PyTypeObject*, object, object) except -1
    void set_metatype(PyTypeObject*, object)
    void set_instead(PyTypeObject*, object)
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


cdef object _no_value = np._NoValue  # what help() shows: <no value>

include "_numbers.pxi"
include "_operators.pxi"
include "_methods.pxi"
include "_values.pxi"


# The rows of one and of two inputs by the ufunc that they run.
cdef dict _library_ufuncs = {ufunc: False for ufunc in vars(np).values() if isinstance(ufunc, np.ufunc)}


cdef bint is_library_ufunc(object ufunc) except -1:
    """Whether it is a ufunc of another library than NumPy, for elements and not for objects."""
    found = _library_ufuncs.get(ufunc)
    if found is None:
        found = ufunc.signature is None and any(loop[0] != "O" for loop in ufunc.types)
        # Not those of np.frompyfunc, which hold what a program closes over; and programs may make others without end.
        if found and len(_library_ufuncs) < 2000:
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
    return isinstance(o, Tensor) or (isinstance(o, (float, int)) or isinstance(o, np.generic)) and is_held(o)


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
    __name__ = "var"  # libraries ask methods for theirs

    def __dealloc__(self):
        if self.c is not NULL:  # else made by hand
            (<Chunk*>self.c).end_handle()

    def __call__(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False, **kwargs):
        """The array's variance over ``axis``."""
        if is_derived(self.array):  # as the other methods: see _derived.py
            return _derived._variance(self.array, axis, dtype, out, ddof=ddof, keepdims=keepdims, **kwargs)
        return handed(functions.var(self.array, axis, dtype, out, ddof, keepdims, **kwargs))


cdef object twin(object array, object memo):
    """A copy, with a gradient of its own if the array has one."""
    kind = _derived if is_derived(array) else Array
    made = kind.copy(array, "K")  # a class that a program derives may have a copy() of its own
    leaf = leaf_grad(array)
    if leaf is not None:
        attach_leaf(made, deepcopy(leaf[0], memo), leaf[1], True)
    return made


cdef class Array(Values):
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
        return tuple_of_lengths(self.v.layout.strides(), self.v.layout.ndim)

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

        In a graph that is traced it is a call of its own, which gives a read-only array.

        Returns: a view of the same shape.
        Raises: nothing.
        """
        if noting() is not NULL:
            return detached_in_graph(<object>noting(), self)
        return detached(self)

    # -- NumPy's protocols

    def __array__(self, dtype=None, copy=None):
        if copy is False or copy is None and self.v.layout.ndim and running() == <PyObject*>_AS_STRIDED:
            return protocols.interfaces.shared(self, dtype)
        a = copy_out(awaited(self, "?__array__"))
        return a if dtype is None else a.astype(dtype, copy=False)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        # Mostly a NumPy scalar or array with an operator: np.float64(2) * x.
        cdef tuple given = inputs
        if derived_made and asks(*inputs, *kwargs.get("out", ())):
            return NotImplemented  # as NumPy's: the class says it itself, or nobody does
        if not kwargs and method == "__call__" and len(given) == 2:
            row = _rows_of.get(ufunc)
            a, b = number_again(given[0]), number_again(given[1])
            if row is _power and is_tensor(b) and isinstance(a, np.inexact):  # most likely an operator's, not np.power's
                row = power_for(<Tensor>b, a)
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
        return handed(protocols.dispatch.function(func, types, args, kwargs, self))

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
        if is_derived(self):  # np.ndarray.__reduce__(self), in a class's own
            return _derived.__reduce__(self)
        cdef Tensor x = awaited(self, "?pickle")
        cdef object values
        cdef bint strided
        if is_scalar(self):
            values = copy_out(x)[()]
        else:  # pickle would have NumPy copy it later, when another thread may write to it
            strided = not x.v.layout.c_contiguous(x.v.itemsize())
            x = settled(x, strided and x.v.layout.size() > _COPIED_WITH_THE_GIL)
            need_memory(x.v.chunk)
            values = numpy_view(&x.v, False)
            if strided and not self.flags.f_contiguous:  # NumPy pickles row by row what has gaps
                values = np.asarray(values, order="C")
            values = protocols.pickling.Copied(values.__reduce__())
        return protocols.pickling.rebuild, (values, self.ctx, *(leaf_grad(self) or ()))

    def __reduce_ex__(self, protocol):
        if protocol < 5 or is_scalar(self) or type(self).__reduce__ is not Array.__reduce__:
            return self.__reduce__()
        values = _share.export(self, "?pickle") if self.v.on_host() else copy_out(awaited(self, "?pickle"))
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
        t = picked(self, key) if is_lone_mask(key) else None
        if t is not None:
            return handed(t)
        t = None if is_indices(key) else basic_view(self, key, &kind)
        if kind == INDEX_VIEW:
            return t
        if kind == INDEX_ELEMENT:  # as NumPy's scalar, it doesn't follow the array
            return handed(as_scalar(cast(t, t.v.dtype)))
        key = plain_key(self, key)
        t = picked_elements(self, key)
        if t is not None:
            return handed(t)
        plain = with_numbers(self, key, True)
        if plain is not None:
            return basic_view(self, plain, &kind)
        split = basic_first(self, key)
        if split is not None:
            return split[0][split[1]]
        t = gathered(self, with_places(self, key, True))
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

def _numpys(*args, **kwargs):
    """What ``ndarray(...)`` is of a dtype that lazyarray doesn't hold: NumPy's; None of others, and of wrong ones."""
    dtype = kwargs.get("dtype") if len(args) < 2 else args[1]
    try:
        if dtype is None or ops._rows.holdable(np.empty(0, dtype)):
            return None
    except TypeError:
        return None
    return ops.hosts.handed_over(np.ndarray, args, kwargs, TypeError(f"lazyarray has no dtype {dtype}"))


set_instead(<PyTypeObject*>NDArray, _numpys)
check_methods(globals())
for _lent in (Array, NDArray, Scalar, BoolScalar, RealScalar, IntegralScalar, ComplexScalar):
    set_metatype(<PyTypeObject*>_lent, _ArrayType)  # what no class statement of a native class can say
