# distutils: language = c++
"""NDArray: the array that users touch. Its slots call the op table; its views are its own."""

import numpy as np

cimport numpy as cnp
from cpython.object cimport Py_EQ, Py_GE, Py_GT, Py_LE, Py_LT, Py_NE
from libc.string cimport memcpy

from lazyarray.engine._engine cimport Var
from lazyarray.lazy._lazy cimport (
    D_BOOL,
    D_F8,
    D_IL,
    Layout,
    Tensor,
    assign,
    cast,
    dtype_code,
    fill,
    flush,
    from_numpy,
    info,
    kMaxDims,
    np_dtype,
    npy_intp,
    numpy_view,
    set_array_type,
    settled,
    shape_tuple,
    view_of,
    wait,
)
from lazyarray.storage._storage cimport Chunk
from lazyarray.ops._rows cimport MatMul, Reduction, Ufunc, as_tensor_on, is_operand

from lazyarray import ops
from lazyarray.context import Context
from lazyarray.ops import table

cnp.import_array()


cdef extern from "Python.h":
    int PySlice_Unpack(object, Py_ssize_t*, Py_ssize_t*, Py_ssize_t*) except -1
    Py_ssize_t PySlice_AdjustIndices(Py_ssize_t, Py_ssize_t*, Py_ssize_t*, Py_ssize_t)
    Py_ssize_t PyNumber_AsSsize_t(object, object) except? -1


cdef Ufunc _add = table["add"]
cdef Ufunc _subtract = table["subtract"]
cdef Ufunc _multiply = table["multiply"]
cdef Ufunc _divide = table["divide"]
cdef Ufunc _floor_divide = table["floor_divide"]
cdef Ufunc _remainder = table["remainder"]
cdef Ufunc _divmod = table["divmod"]
cdef Ufunc _power = table["power"]
cdef Ufunc _negative = table["negative"]
cdef Ufunc _positive = table["positive"]
cdef Ufunc _absolute = table["absolute"]
cdef Ufunc _invert = table["invert"]
cdef Ufunc _and = table["bitwise_and"]
cdef Ufunc _or = table["bitwise_or"]
cdef Ufunc _xor = table["bitwise_xor"]
cdef Ufunc _left_shift = table["left_shift"]
cdef Ufunc _right_shift = table["right_shift"]
cdef Ufunc _square = table["square"]
cdef Ufunc _sqrt = table["sqrt"]
cdef Ufunc _reciprocal = table["reciprocal"]
cdef Ufunc _less = table["less"]
cdef Ufunc _less_equal = table["less_equal"]
cdef Ufunc _greater = table["greater"]
cdef Ufunc _greater_equal = table["greater_equal"]
cdef Ufunc _equal = table["equal"]
cdef Ufunc _not_equal = table["not_equal"]
cdef Reduction _sum = table["sum"]
cdef Reduction _prod = table["prod"]
cdef Reduction _max = table["max"]
cdef Reduction _min = table["min"]
cdef Reduction _any = table["any"]
cdef Reduction _all = table["all"]
cdef MatMul _matmul = table["matmul"]


cdef inline object binary(Ufunc row, object a, object b):
    if not is_operand(b) or not is_operand(a):
        return NotImplemented
    return row.binary(a, b, None)


cdef inline object inplace(Ufunc row, Tensor a, object b):
    if not is_operand(b):
        return NotImplemented
    return row.binary(a, b, a)


cdef Ufunc power_shortcut(Tensor a, object exponent):
    """NumPy's array ``**`` with these Python exponents runs another ufunc, with other bits."""
    t = type(exponent)
    if t is not int and t is not float:
        return None
    kind = info(a.v.dtype).kind
    if t is int and exponent < 0 and (kind == b"i" or kind == b"b") and a.v.layout.size():
        raise ValueError("Integers to negative integer powers are not allowed.")
    if a.v.layout.ndim == 0:
        return None
    if kind == b"f" or kind == b"c":
        if exponent == 2:
            return _square
        if exponent == 1:
            return _positive
        if exponent == -1:
            return _reciprocal
        if exponent == 0.5:
            return _sqrt
    elif t is int and exponent == 2:  # integers, and bool, whose square is int8
        return _square
    return None


# NumPy copies up to this many elements without letting go of the GIL.
cdef enum:
    _COPIED_WITH_THE_GIL = 500


cdef class ArrayVar(Var):
    """The engine variable of an array. Called, it is NumPy's method: ``x.var(axis=0)``."""

    cdef Tensor array

    def __dealloc__(self):
        if self.c is not NULL:  # else made by hand
            (<Chunk*>self.c).handles.fetch_sub(1)

    def __call__(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False, **kwargs):
        """The array's variance over ``axis``."""
        return ops.var(self.array, axis, dtype, out, ddof, keepdims, **kwargs)


cdef class NDArray(Tensor):
    """An array whose operations run asynchronously, in the order in which they were written.

    Every operation returns at once with an array that will hold the result; ``asnumpy()``,
    ``item()``, ``float(x)``, ``repr(x)`` and the like wait for the value. Views, broadcasting,
    dtypes and errors are NumPy's. Make arrays with :func:`lazyarray.array` and its kin.

    >>> import lazyarray as la
    >>> a = la.arange(6.0).reshape(2, 3)
    >>> a[0] += 10
    >>> (a * 2).sum(axis=1).asnumpy()
    array([66., 24.])
    """

    __array_priority__ = 1000.0

    # -- what it is

    @property
    def shape(self):
        """The length of each axis, a tuple of ints."""
        return shape_tuple(&self.v)

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
        """The NumPy dtype of the elements."""
        return np_dtype(self.v.dtype)

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
        return Context(_KINDS[self.v.chunk.device.kind], self.v.chunk.device.id)

    @property
    def context(self):
        """The device that the array lives on (MXNet's name for ``ctx``)."""
        return self.ctx

    @property
    def device(self):
        """The device that the array lives on (the array API's name for ``ctx``)."""
        return self.ctx

    def __len__(self):
        if self.v.layout.ndim == 0:
            raise TypeError("len() of unsized object")
        return self.v.layout.shape()[0]

    def __hash__(self):
        raise TypeError("unhashable type: 'NDArray'")

    # -- waiting

    def wait_to_read(self):
        """Blocks until what was written to the array is there; raises what made it fail."""
        wait(self, False, "wait_to_read")
        return self

    def wait_to_write(self):
        """Blocks until every use of the array, reads too, is done."""
        wait(self, True, "wait_to_write")
        return self

    def asnumpy(self):
        """A NumPy array with a copy of the values; waits for them."""
        wait(self, False, "asnumpy")
        return self._copy_out()

    cdef object _copy_out(self):
        cdef Layout* l = &self.v.layout
        cdef bint strided = not l.c_contiguous(self.v.itemsize())
        # NumPy lets go of the GIL as it copies, memcpy doesn't.
        cdef Tensor x = settled(self, strided and l.size() > _COPIED_WITH_THE_GIL)
        cdef cnp.ndarray out
        if strided:
            out = np.empty_like(numpy_view(&self.v, False), subok=False)
            out[...] = numpy_view(&x.v, False)
            return out
        if not x.v.chunk.allocate():
            raise MemoryError(f"unable to allocate {x.v.chunk.nbytes} bytes")
        out = cnp.PyArray_SimpleNew(l.ndim, l.shape(), info(self.v.dtype).type_num)
        memcpy(cnp.PyArray_DATA(out), x.v.chunk.data + x.v.layout.offset, cnp.PyArray_NBYTES(out))
        return out

    def _raw(self, bint writable):
        """A NumPy view of the memory itself, for an op that declared it."""
        return numpy_view(&self.v, writable)

    def _values(self, str what):
        """The values, for an op whose result's shape or dtype depends on them: a hidden wait."""
        wait(self, False, "?" + what)
        return self._copy_out()

    cdef object scalar(self, str what):
        if self.v.layout.size() != 1:
            raise TypeError("only size-1 arrays can be converted to Python scalars")
        wait(self, False, what)
        cdef Tensor x = settled(self, False)
        cdef char* p = x.v.chunk.data + x.v.layout.offset
        if x.v.chunk.data is NULL:
            pass
        elif self.v.dtype == D_F8:
            return (<double*>p)[0]
        elif self.v.dtype == D_IL:
            return (<long*>p)[0]
        elif self.v.dtype == D_BOOL:
            return p[0] != 0
        return numpy_view(&x.v, False).item()

    def item(self, *args):
        """One element as a Python scalar; waits for it."""
        cdef Tensor x
        if args:
            wait(self, False, "item")
            x = settled(self, False)
            return numpy_view(&x.v, False).item(*args)
        if self.v.layout.size() != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return self.scalar("item")

    def asscalar(self):
        """The only element as a Python scalar; waits for it (MXNet's name for ``item``)."""
        return self.item()

    def tolist(self):
        """The values as nested lists of Python scalars; waits for them."""
        cdef Tensor x
        wait(self, False, "?tolist()")
        x = settled(self, False)
        return numpy_view(&x.v, False).tolist()

    def tobytes(self, order="C"):
        """The values' bytes; waits for them."""
        cdef Tensor x
        wait(self, False, "?tobytes()")
        x = settled(self, False)
        return numpy_view(&x.v, False).tobytes(order)

    def __bool__(self):
        if self.v.layout.size() != 1:
            if self.v.layout.size() == 0:
                raise ValueError("The truth value of an empty array is ambiguous. "
                                 "Use `array.size > 0` to check that an array is not empty.")
            raise ValueError("The truth value of an array with more than one element is "
                             "ambiguous. Use a.any() or a.all()")
        return bool(self.scalar("?bool()"))

    def __float__(self):
        return float(self.scalar("?float()"))

    def __int__(self):
        return int(self.scalar("?int()"))

    def __complex__(self):
        return complex(self.scalar("?complex()"))

    def __index__(self):
        if self.v.layout.ndim or info(self.v.dtype).kind not in b"iu":
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return self.scalar("?index()")

    def __repr__(self):
        wait(self, False, "?repr()")
        text = repr(numpy_view(&self.v, False))
        return f"{text[:-1]}, device={self.ctx!r})"

    def __str__(self):
        wait(self, False, "?str()")
        return str(numpy_view(&self.v, False))

    def __format__(self, spec):
        if spec and self.v.layout.ndim:
            raise TypeError("unsupported format string passed to lazyarray.NDArray.__format__")
        if spec:
            return format(self.scalar("?format()"), spec)
        return format(str(self), spec)

    def __iter__(self):
        if self.v.layout.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return iter([self[i] for i in range(self.v.layout.shape()[0])])

    def __contains__(self, value):
        equal = self == value
        return bool(equal if type(equal) is bool else equal.any())

    # -- NumPy's protocols

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            return ops.interop.shared(self, dtype)
        wait(self, False, "?__array__")
        a = self._copy_out()
        return a if dtype is None else a.astype(dtype, copy=False)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return ops.dispatch.ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func, types, args, kwargs):
        return ops.dispatch.function(func, args, kwargs)

    def __dlpack__(self, **kwargs):
        return ops.interop.dlpack(self, kwargs)

    def __dlpack_device__(self):
        return (1, 0)

    def __reduce__(self):
        wait(self, False, "?pickle")
        return ops.interop.rebuild, (self._copy_out(), self.ctx)

    def __copy__(self):
        return self.copy("K")

    def __deepcopy__(self, memo):
        return self.copy("K")

    # -- arithmetic

    def __add__(self, other): return binary(_add, self, other)
    def __radd__(self, other): return binary(_add, other, self)
    def __iadd__(self, other): return inplace(_add, self, other)
    def __sub__(self, other): return binary(_subtract, self, other)
    def __rsub__(self, other): return binary(_subtract, other, self)
    def __isub__(self, other): return inplace(_subtract, self, other)
    def __mul__(self, other): return binary(_multiply, self, other)
    def __rmul__(self, other): return binary(_multiply, other, self)
    def __imul__(self, other): return inplace(_multiply, self, other)
    def __truediv__(self, other): return binary(_divide, self, other)
    def __rtruediv__(self, other): return binary(_divide, other, self)
    def __itruediv__(self, other): return inplace(_divide, self, other)
    def __floordiv__(self, other): return binary(_floor_divide, self, other)
    def __rfloordiv__(self, other): return binary(_floor_divide, other, self)
    def __ifloordiv__(self, other): return inplace(_floor_divide, self, other)
    def __mod__(self, other): return binary(_remainder, self, other)
    def __rmod__(self, other): return binary(_remainder, other, self)
    def __imod__(self, other): return inplace(_remainder, self, other)
    def __divmod__(self, other): return binary(_divmod, self, other)
    def __rdivmod__(self, other): return binary(_divmod, other, self)
    def __and__(self, other): return binary(_and, self, other)
    def __rand__(self, other): return binary(_and, other, self)
    def __iand__(self, other): return inplace(_and, self, other)
    def __or__(self, other): return binary(_or, self, other)
    def __ror__(self, other): return binary(_or, other, self)
    def __ior__(self, other): return inplace(_or, self, other)
    def __xor__(self, other): return binary(_xor, self, other)
    def __rxor__(self, other): return binary(_xor, other, self)
    def __ixor__(self, other): return inplace(_xor, self, other)
    def __lshift__(self, other): return binary(_left_shift, self, other)
    def __rlshift__(self, other): return binary(_left_shift, other, self)
    def __ilshift__(self, other): return inplace(_left_shift, self, other)
    def __rshift__(self, other): return binary(_right_shift, self, other)
    def __rrshift__(self, other): return binary(_right_shift, other, self)
    def __irshift__(self, other): return inplace(_right_shift, self, other)

    def __pow__(self, other, mod):
        if mod is not None:
            return NotImplemented
        cdef Ufunc short = power_shortcut(self, other)
        if short is not None:
            return short.unary(self, None)
        return binary(_power, self, other)

    def __rpow__(self, other, mod):
        return binary(_power, other, self)

    def __ipow__(self, other):
        cdef Ufunc short = power_shortcut(self, other)
        if short is not None:
            return short.unary(self, self)
        return inplace(_power, self, other)

    def __matmul__(self, other):
        if not is_operand(other):
            return NotImplemented
        return _matmul.product(self, as_tensor_on(other, self.v.chunk.device), None)

    def __rmatmul__(self, other):
        if not is_operand(other):
            return NotImplemented
        return _matmul.product(as_tensor_on(other, self.v.chunk.device), self, None)

    def __imatmul__(self, other):
        if not is_operand(other):
            return NotImplemented
        return _matmul.product(self, as_tensor_on(other, self.v.chunk.device), self)

    def __neg__(self): return _negative.unary(self, None)
    def __pos__(self): return _positive.unary(self, None)
    def __abs__(self): return _absolute.unary(self, None)
    def __invert__(self): return _invert.unary(self, None)

    def __richcmp__(self, other, int op):
        if not is_operand(other):
            if (op == Py_EQ or op == Py_NE) and (other is None or isinstance(other, (str, bytes))):
                # Element by element, as in NumPy: `x == None` is an array.
                return ops.full_like(self, op == Py_NE, np.bool_)
            return NotImplemented
        if op == Py_EQ: return _equal.binary(self, other, None)
        if op == Py_NE: return _not_equal.binary(self, other, None)
        if op == Py_LT: return _less.binary(self, other, None)
        if op == Py_LE: return _less_equal.binary(self, other, None)
        if op == Py_GT: return _greater.binary(self, other, None)
        return _greater_equal.binary(self, other, None)

    # -- indexing

    def __getitem__(self, key):
        cdef Tensor t
        cdef int kind = INDEX_ADVANCED
        t = basic_view(self, key, &kind)
        if kind == INDEX_VIEW:
            return t
        if kind == INDEX_ELEMENT:  # as NumPy's scalar, it doesn't follow the array
            return cast(t, t.v.dtype)
        return ops.indexing.get(self, key)

    def __setitem__(self, key, value):
        cdef int kind = INDEX_ADVANCED
        cdef Tensor t = basic_view(self, key, &kind)
        if kind == INDEX_ADVANCED:
            ops.indexing.set(self, key, value)
        else:
            ops.assign_to(t, value)

    def __delitem__(self, key):
        raise ValueError("cannot delete array elements")

    # -- views

    @property
    def T(self):
        """A view with the axes reversed."""
        return self.transpose()

    @property
    def mT(self):
        """A view with the last two axes exchanged."""
        return ops.matrix_transpose(self)

    @property
    def real(self):
        """The real part: a view of a complex array, the array itself otherwise."""
        return ops.real(self)

    @real.setter
    def real(self, value):
        ops.assign_to(ops.real(self), value)

    @property
    def imag(self):
        """The imaginary part: a view of a complex array, zeros otherwise."""
        return ops.imag(self)

    @imag.setter
    def imag(self, value):
        if info(self.v.dtype).kind != b"c":
            raise TypeError("array does not have imaginary part to set")
        ops.assign_to(ops.imag(self), value)

    def transpose(self, *axes):
        """A view with the axes permuted (reversed by default)."""
        if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))):
            axes = axes[0]
        return ops.permute_dims(self, axes or None)

    def reshape(self, *shape, order="C", copy=None):
        """The same elements in another shape: a view where NumPy's is one, else a copy."""
        if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
            shape = tuple(shape[0])
        return ops.reshape(self, shape, order=order, copy=copy)

    def ravel(self, order="C"):
        """All elements along one axis: a view where possible."""
        return ops.ravel(self, order=order)

    def flatten(self, order="C"):
        """A copy of all elements along one axis."""
        return ops.flatten(self, order=order)

    def swapaxes(self, axis1, axis2):
        """A view with two axes exchanged."""
        return ops.swapaxes(self, axis1, axis2)

    def squeeze(self, axis=None):
        """A view without axes of length one."""
        return ops.squeeze(self, axis=axis)

    def diagonal(self, offset=0, axis1=0, axis2=1):
        """A view of the diagonal."""
        return ops.diagonal(self, offset, axis1, axis2)

    def view(self, dtype=None):
        """A view of the same memory, as another dtype of the same size."""
        return ops.view(self, dtype)

    # -- copies

    def copy(self, order="C"):
        """A copy with memory of its own."""
        return ops.copy(self, order=order)

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        """A copy with another dtype, laid out in ``order``; TypeError if ``casting`` forbids it."""
        if casting != "unsafe" and not np.can_cast(self.dtype, np.dtype(dtype), casting):
            raise TypeError(f"Cannot cast array data from {self.dtype!r} to {np.dtype(dtype)!r} "
                            f"according to the rule {casting!r}")
        if order == "K":
            return ops.astype(self, dtype, copy=copy)
        return ops.array(ops.astype(self, dtype, copy=False), copy=copy or None, order=order)

    def fill(self, value):
        """Sets every element to a scalar."""
        ops.assign_to(self, value)

    def copyto(self, other):
        """Copies the values to another array, or to a new one on device ``other``."""
        return ops.interop.copyto(self, other)

    def as_in_context(self, ctx):
        """The array on device ``ctx``: itself if it is there, else a copy."""
        return ops.interop.to_device(self, ctx)

    def to_device(self, device, *, stream=None):
        """The array on ``device``: itself if it is there, else a copy (array API)."""
        return ops.interop.to_device(self, device)

    # -- reductions and the like

    def sum(self, axis=None, dtype=None, out=None, keepdims=False, *, initial=None, where=None):
        """Sum over axes."""
        if initial is None and where is None and out is None:
            return _sum.reduce(self, axis, dtype, None, keepdims)
        return _sum(self, axis, dtype, out, keepdims, initial=initial, where=where)

    def prod(self, axis=None, dtype=None, out=None, keepdims=False, *, initial=None, where=None):
        """Product over axes."""
        return _prod(self, axis, dtype, out, keepdims, initial=initial, where=where)

    def max(self, axis=None, out=None, keepdims=False, *, initial=None, where=None):
        """Maximum over axes."""
        return _max(self, axis, None, out, keepdims, initial=initial, where=where)

    def min(self, axis=None, out=None, keepdims=False, *, initial=None, where=None):
        """Minimum over axes."""
        return _min(self, axis, None, out, keepdims, initial=initial, where=where)

    def any(self, axis=None, out=None, keepdims=False, *, where=None):
        """Whether any element over the axes is true."""
        return _any(self, axis, None, out, keepdims, where=where)

    def all(self, axis=None, out=None, keepdims=False, *, where=None):
        """Whether all elements over the axes are true."""
        return _all(self, axis, None, out, keepdims, where=where)

    def mean(self, axis=None, dtype=None, out=None, keepdims=False, *, where=None):
        """Arithmetic mean over axes."""
        return ops.mean(self, axis, dtype, out, keepdims, where=where)

    def std(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False, **kwargs):
        """Standard deviation over axes."""
        return ops.std(self, axis, dtype, out, ddof, keepdims, **kwargs)

    def argmax(self, axis=None, out=None, *, keepdims=False):
        """Index of the maximum along an axis (of the flattened array by default)."""
        return ops.argmax(self, axis, out, keepdims=keepdims)

    def argmin(self, axis=None, out=None, *, keepdims=False):
        """Index of the minimum along an axis (of the flattened array by default)."""
        return ops.argmin(self, axis, out, keepdims=keepdims)

    def cumsum(self, axis=None, dtype=None, out=None):
        """Running sum along an axis (of the flattened array by default)."""
        return ops.cumsum(self, axis, dtype, out)

    def cumprod(self, axis=None, dtype=None, out=None):
        """Running product along an axis (of the flattened array by default)."""
        return ops.cumprod(self, axis, dtype, out)

    def dot(self, other, out=None):
        """NumPy's dot product."""
        return ops.dot(self, other, out)

    def trace(self, offset=0, axis1=0, axis2=1, dtype=None, out=None):
        """The sum of a diagonal."""
        return ops.trace(self, offset, axis1, axis2, dtype, out)

    def sort(self, axis=-1, kind=None, *, stable=None):
        """Sorts in place along an axis."""
        ops.sort_inplace(self, axis, kind, stable)

    def argsort(self, axis=-1, kind=None, *, stable=None):
        """The indices that sort the array along an axis."""
        return ops.argsort(self, axis=axis, kind=kind, stable=stable)

    def take(self, indices, axis=None, out=None, mode="raise"):
        """Elements by index along an axis."""
        return ops.take(self, indices, axis, out, mode)

    def repeat(self, repeats, axis=None):
        """Each element repeated."""
        return ops.repeat(self, repeats, axis)

    def clip(self, min=None, max=None, out=None):
        """Values limited to a range."""
        return ops.clip(self, min, max, out)

    def round(self, decimals=0, out=None):
        """Values rounded to a number of decimals."""
        return ops.round(self, decimals, out)

    def conj(self):
        """Complex conjugate."""
        return ops.conj(self)

    def conjugate(self):
        """Complex conjugate."""
        return ops.conj(self)

    def searchsorted(self, v, side="left", sorter=None):
        """Where to insert each of ``v`` into this sorted vector."""
        return ops.searchsorted(self, v, side, sorter)

    def compress(self, condition, axis=None, out=None):
        """The entries along an axis for which a vector of conditions is true."""
        return ops.compress(condition, self, axis, out)

    def choose(self, choices, out=None, mode="raise"):
        """At each place the element of that array of ``choices`` which this array names there."""
        return ops.choose(self, choices, out, mode)

    def put(self, indices, values, mode="raise"):
        """Stores values at indices of the flattened array."""
        ops.put(self, indices, values, mode)

    def nonzero(self):
        """The indices of the true elements, one array an axis; waits for the values."""
        return ops.nonzero(self)


set_array_type(NDArray)


include "_indexing.pxi"
