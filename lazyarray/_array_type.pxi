# The array class: what arrays have and scalars have not, so that programs tell them apart as NumPy's
# (`hasattr(x, "__len__")`, `isinstance(x, Iterable)`).


cdef class _Iterator:
    """The entries along the first axis, one after the other."""

    cdef NDArray array
    cdef npy_intp i
    cdef bint late  # whether it has waited for the array

    def __iter__(self):
        return self

    def __next__(self):
        cdef Tensor t
        cdef NDArray x = self.array
        cdef npy_intp i = self.i
        if x is None or x.v.layout.ndim == 0 or i >= x.v.layout.shape()[0]:
            self.array = None
            raise StopIteration
        self.i += 1
        if x.v.layout.ndim == 1 and type(x) is NDArray:  # a derived class may have a way of its own
            t = get_element(x, x.v.layout.offset + i * x.v.layout.strides()[0])
            if t is None and not self.late:
                self.late = True  # once
                self.i = i        # unless a signal's handler raises
                caught_up(x, True)
                if self.array is None or x.v.layout.ndim != 1 or i >= x.v.layout.shape()[0]:
                    self.array = None
                    raise StopIteration
                self.i = i + 1
                t = get_element(x, x.v.layout.offset + i * x.v.layout.strides()[0])
            if t is not None:
                return handed(t)
        return row_at(x, i) if x.v.layout.ndim > 1 and type(x) is NDArray else x[i]

    def __length_hint__(self):
        return 0 if self.array is None else max(self.array.v.layout.shape()[0] - self.i, 0)


cdef class NDArray(Array):
    """An array whose operations run asynchronously, in the order in which they were written.

    Every operation returns at once with an array that will hold the result; ``asnumpy()``,
    ``item()``, ``float(x)``, ``repr(x)`` and the like wait for the value. Views, broadcasting,
    dtypes and errors are NumPy's. Make arrays with :func:`lazyarray.array` and its kin.

    Args:
        shape: the lengths of the axes. Nobody has written the values yet, unless there is a ``buffer``.
        dtype: the dtype of its numbers.
        buffer: what has memory: the array is on it. None: memory of its own.
        offset: the byte of the buffer that the array begins at.
        strides: bytes between neighbours along each axis; None: as ``order`` says.
        order: how the elements lie in memory: "C" or "F".
    Raises: TypeError for a dtype that lazyarray doesn't hold, or a buffer too small; ValueError for a negative
        length, or for strides that leave the buffer.

    >>> import lazyarray as la
    >>> a = la.arange(6.0).reshape(2, 3)
    >>> a[0] += 10
    >>> (a * 2).sum(axis=1).asnumpy()
    array([66., 24.])
    """

    def __init__(self, shape, dtype=float, buffer=None, offset=0, strides=None, order=None):
        """As numpy.ndarray: the class tells."""
        become(self, functions.memory.made(shape, dtype, buffer, offset, strides, order))

    def __setstate__(self, state):
        # As NumPy's, which classes that programs derive call: of its five a version may be left out.
        shape, dtype, fortran, values = state[-4:]
        if not isinstance(values, NDArray):
            values = functions.array(np.ndarray(shape, dtype, values, order="F" if fortran else "C"))
        NDArray.__init__(self, shape, dtype, values, 0, values.strides)

    def __len__(self):
        if self.v.layout.ndim == 0:
            raise TypeError("len() of unsized object")
        return self.v.layout.shape()[0]

    def __iter__(self):
        if self.v.layout.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        cdef _Iterator it = _Iterator.__new__(_Iterator)
        it.array = self
        return it

    def __contains__(self, value):
        equal = self == value
        return bool(equal if type(equal) is bool else equal.any())

    def __index__(self):
        if self.v.layout.ndim or info(self.v.dtype).kind not in b"iu":
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return scalar(self, "?index()")

    # -- its memory

    @property
    def __array_interface__(self):
        return protocols.interfaces.array_interface(self)

    def __getbuffer__(self, Py_buffer* view, int flags):
        lent(self, view, flags)

    def __setitem__(self, key, value):
        cdef int kind = INDEX_ADVANCED
        cdef npy_intp at
        if element_at(self, key, &at) and set_element(self, at, value):
            return
        if isinstance(key, tuple) and type(key) is not tuple:
            self[tuple(key)] = value
            return
        if is_lone_mask(key) and masked_set(self, key, value):
            return
        cdef Tensor t = None if is_indices(key) else basic_view(self, key, &kind)
        if kind == INDEX_ADVANCED:
            key = plain_key(self, key)
            if stored_elements(self, key, value):
                return
            plain = with_numbers(self, key, False)
            split = basic_first(self, key) if plain is None else None
            if plain is not None:
                self[plain] = value
            elif split is not None and (not has_matrix(value)
                                        or 0 < axes_of_array(split[1]) < (<Tensor>split[0]).v.layout.ndim):
                split[0][split[1]] = value
            elif not masked_set(self, key, value) and not stored_at(self, with_places(self, key, False), value) \
                    and not direct_set(self, key, value):
                indexing.set(self, key, value)
        else:
            if (kind == INDEX_ELEMENT or is_of_all(self, key)) and has_axes(value):
                value = like_numpys_element(t, value)
            store_item(t, value)

    def __delitem__(self, key):
        raise ValueError("cannot delete array elements")

    # -- operators in place

    def __iadd__(self, other): return inplace(_add, self, other)
    def __isub__(self, other): return inplace(_subtract, self, other)
    def __imul__(self, other): return inplace(_multiply, self, other)
    def __itruediv__(self, other): return inplace(_divide, self, other)
    def __ifloordiv__(self, other): return inplace(_floor_divide, self, other)
    def __imod__(self, other): return inplace(_remainder, self, other)
    def __iand__(self, other): return inplace(_and, self, other)
    def __ior__(self, other): return inplace(_or, self, other)
    def __ixor__(self, other): return inplace(_xor, self, other)
    def __ilshift__(self, other): return inplace(_left_shift, self, other)
    def __irshift__(self, other): return inplace(_right_shift, self, other)

    def __ipow__(self, other):
        other = plain(other)
        if not _powers_keep_dtypes:
            other = exponent_of(self, other)
        if type(other) is int and other < 0 and info((<Tensor>self).v.dtype).kind == b"b":
            return inplace(_power, self, other)  # no bool comes of it
        cdef Ufunc short = power_shortcut(self, other)
        if short is not None:
            return short.unary(self, self)
        return inplace(_power, self, other)

    def __imatmul__(self, other):
        if derived_made and is_told(other):
            return told_by_class(_matmul, "__call__", (self, other), {"out": (self,), "axes": product_axes(self)})
        if not (<Tensor>self).v.layout.ndim or (other.ndim if is_tensor(other) else np.ndim(other)) < 2:
            raise ValueError("inplace matrix multiplication requires the first operand to have at least one "
                             "and the second at least two dimensions.")
        if is_tensor(other):
            return _matmul.product(self, <Tensor>other, self)
        return operated_inplace(_matmul, self, other)


cpdef list product_axes(Tensor a):
    """What NumPy has its ufunc know in ``a @= b``."""
    return [(-1,), (-2, -1), (-1,)] if a.v.layout.ndim == 1 else [(-2, -1)] * 3


set_array_type(NDArray)
