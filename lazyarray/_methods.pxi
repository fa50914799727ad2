# NDArray's methods that make other arrays: views, copies, reductions, and the like.


cdef Reduction _sum = op.sum
cdef Reduction _prod = op.prod
cdef Reduction _max = op.max
cdef Reduction _min = op.min
cdef Reduction _any = op.any
cdef Reduction _all = op.all
cdef Row _conjugate = op.conjugate
cdef Ufunc _maximum = op.maximum
cdef Ufunc _minimum = op.minimum


cdef object _Type = type


cdef bint owns(Tensor x):
    """Whether an array is all of its memory, which is no other library's."""
    return not x.v.chunk.foreign() and covers_chunk(&x.v)


cdef Tensor resized(Tensor x, tuple shape):
    """A new array of the first elements of ``x``, a contiguous one, and then of zeros."""
    cdef Py_ssize_t n = 1
    for k in shape:
        n *= k
    flat = functions.ravel(x)[:n]
    parts = [flat, functions.zeros(n - flat.size, flat.dtype, device=flat.device)]
    return functions.reshape(functions.concatenate(parts), shape)


def _numpys_astype(x, dtype, order):
    """NumPy's method, of an array or of a scalar, as a function."""
    return x.astype(dtype, order)


cdef inline tuple named(tuple given):
    """What ``*shape`` or ``*axes`` names: the one sequence there, of whatever type, or all of them."""
    if len(given) != 1 or type(given[0]) is int:
        return given
    return given[0] if type(given[0]) is tuple else spread(given)


cdef tuple spread(tuple given):
    if not PySequence_Check(given[0]):  # a set has no order, an iterator no end perhaps
        return given
    try:
        len(given[0])
        return tuple(given[0])
    except TypeError:
        return given


cdef object unasked(object o):
    """An argument of a method, which asks no other class what it gives, as functions do: it is made an array."""
    return functions.asarray(o) if is_foreign(o) else o


cdef class Methods(Operators):
    """The methods of arrays and scalars."""

    # -- views

    @property
    def T(self):
        """A view with the axes reversed."""
        cdef Tensor t = view_of(self)
        cdef int i, n = self.v.layout.ndim
        t.v.layout.resize(n)
        for i in range(n):
            t.v.layout.shape()[i] = self.v.layout.shape()[n - 1 - i]
            t.v.layout.strides()[i] = self.v.layout.strides()[n - 1 - i]
        return t

    @property
    def mT(self):
        """A view with the last two axes exchanged."""
        cdef int n = self.v.layout.ndim
        if n < 2:
            raise ValueError("matrix transpose with ndim < 2 is undefined")
        cdef Tensor t = view_of(self)
        t.v.layout = self.v.layout
        t.v.layout.shape()[n - 1] = self.v.layout.shape()[n - 2]
        t.v.layout.shape()[n - 2] = self.v.layout.shape()[n - 1]
        t.v.layout.strides()[n - 1] = self.v.layout.strides()[n - 2]
        t.v.layout.strides()[n - 2] = self.v.layout.strides()[n - 1]
        return t

    @property
    def real(self):
        """The real part: a view of a complex array, the array itself otherwise."""
        if info(self.v.dtype).kind != b"c":
            return self
        cdef Tensor t = part_of(self, 0)
        return functions.real(self) if t is None else t

    @real.setter
    def real(self, value):
        ops.assign_to(functions.real(self), value)

    @property
    def imag(self):
        """The imaginary part: a view of a complex array, zeros otherwise."""
        cdef Tensor t = part_of(self, 1)
        return functions.imag(self) if t is None else t

    @imag.setter
    def imag(self, value):
        if info(self.v.dtype).kind != b"c":
            raise TypeError("array does not have imaginary part to set")
        ops.assign_to(functions.imag(self), value)

    def transpose(self, *axes):
        """A view with the axes permuted (reversed by default).

        Args:
            *axes: the axes in their new order: ints or a tuple; none: reversed.
        """
        cdef Tensor t = None
        if type(self) is NDArray:
            t = reordered(self, named(axes)) if axes else transposed(self)
            if t is not None:
                return t
        if not axes or len(axes) == 1 and axes[0] is None:
            return functions.permute_dims(self)
        return functions.permute_dims(self, named(axes))

    def reshape(self, *shape, order="C", copy=None):
        """The same elements in another shape: a view where NumPy's is one, else a copy."""
        cdef Tensor t
        if not shape:
            raise TypeError("reshape() takes exactly 1 argument (0 given)")
        shape = named(shape)
        if shape[0] is None and len(shape) == 1:
            shape = shape_tuple(&self.v)  # as NumPy has it: as it is
        if copy is None:
            t = reshaped(self, shape, order)
            if t is not None:
                return t
        return functions.reshape(self, shape, order=order, copy=copy)

    def ravel(self, order="C"):
        """All elements along one axis: a view where possible."""
        cdef Tensor t = raveled_in(self, order, False)
        if t is not None:
            return t
        return functions.ravel(self, order=order)

    def flatten(self, order="C"):
        """A copy of all elements along one axis.

        Returns: a vector of all elements.
        Raises: ValueError for another ``order``.
        """
        cdef Tensor t = raveled_in(self, order, True)
        if t is not None:
            return t
        return functions.flatten(self, order=order)

    def swapaxes(self, axis1, axis2):
        """A view with two axes exchanged."""
        cdef Tensor t = swapped(self, axis1, axis2)
        return functions.swapaxes(self, axis1, axis2) if t is None else t

    def squeeze(self, axis=None):
        """A view without axes of length one; the array itself, if it has none."""
        if axis is None and type(self) is NDArray:
            return squeezed(self)
        return functions.squeeze(self, axis=axis)

    def diagonal(self, offset=0, axis1=0, axis2=1):
        """A view of the diagonal."""
        cdef Tensor t = diagonal_of(self, offset, axis1, axis2)
        return functions.diagonal(self, offset, axis1, axis2) if t is None else t

    def view(self, dtype=None, type=None):
        """A view of the same memory, as another dtype, or of a class derived from NDArray.

        Args:
            dtype: the dtype that the bytes are read as, or such a class; None: the array's own.
            type: the class of the view; None: NDArray.
        Returns: an array on the same memory; its last axis has another length if elements have
            another size.
        A dtype that lazyarray does not hold, or for which the memory is not aligned, gives a NumPy array of it;
        a class of NumPy's (``np.matrix``, ``np.ma.MaskedArray``) one of the class.
        Raises: ValueError if the last axis can't be divided so, or for another class; TypeError for
            what is no dtype.
        """
        cdef Tensor t = viewed_as(self, dtype) if type is None else None
        if t is not None:
            return t
        if isinstance(dtype, _Type) and issubclass(dtype, (Tensor, np.ndarray)):
            type, dtype = dtype, None
        if type is not None and not (isinstance(type, _Type) and issubclass(type, (Tensor, np.ndarray))):
            raise ValueError("Type must be a sub-type of ndarray type")
        cdef tuple given = (dtype,)
        try:
            if type is not None and type is not np.ndarray and issubclass(type, np.ndarray):
                given = (self.dtype if dtype is None else dtype, type)
                raise Unheld(f"lazyarray has no {type.__name__}")
            t = viewed_as(self, dtype) if type is not None else None
            if t is None:
                t = functions.view(self, dtype)
            if type is None or _derived is None or not issubclass(type, _derived):
                return t
            return of_class(t, type, self)
        except Unheld:  # on the same memory, too
            ops._differentiable.refuse("view", self)
            return _share.export(self, "?view()").view(*given)

    @property
    def flat(self):
        """The elements in C order, to index, to assign to and to iterate over."""
        return flatiter(self)

    @flat.setter
    def flat(self, value):
        if self.v.readonly:
            raise ValueError("array is read-only")
        flatiter(self)[:] = value

    # -- memory

    @property
    def base(self):
        """The array that this one is a view of; None if it is all of its memory itself.

        Where that array is gone already, a vector of its memory stands for it.
        """
        cdef Tensor owner = owner_of(self)
        if owner is not None and owner is not self:
            return owner
        # Where it is gone, a view of all is an owner as long as there is no other view.
        if owns(self) and (owner is self or self.v.alone() or self.v.chunk.handles.load() <= 1):
            return None
        cdef Tensor t = view_of(self)
        cdef npy_intp size = self.v.itemsize()
        if self.v.layout.offset % size or self.v.chunk.nbytes % size:
            t.v.dtype = dtype_code(np.uint8)
            size = 1
        t.v.readonly = lazy(t.v.chunk).immutable
        t.v.layout.offset = 0
        t.v.layout.resize(1)
        t.v.layout.shape()[0] = self.v.chunk.nbytes // size
        t.v.layout.strides()[0] = size
        if owner is None:
            lazy(t.v.chunk).owner = &t.v
        return t

    @property
    def flags(self):
        """How the array lies in memory, and whether it may be written to."""
        return flagsobj(self)

    def setflags(self, write=None, align=None, uic=None):
        """Sets flags: ``write`` is whether the array may be written to.

        Args:
            write: whether the array may be written to; None: as it is.
            align: for NumPy's signature: arrays are aligned.
            uic: for NumPy's signature: there are no such copies.
        Returns: None.
        Raises: ValueError for what can't be set: that a view of an array that may not may be written to.
        """
        cdef Tensor owner = owner_of(self) if write else None
        if align is not None and not align:
            raise ValueError("cannot set ALIGNED flag to False: arrays are aligned")
        if uic:
            raise ValueError("cannot set WRITEBACKIFCOPY flag to True")
        if write and (lazy(self.v.chunk).immutable or owner is not None and owner is not self and owner.v.readonly):
            raise ValueError("cannot set WRITEABLE flag to True of this array")
        if write is not None:
            self.v.readonly = not write

    @property
    def data(self):
        """A memoryview of the memory itself. Waits; while it lives, ops on the array are synchronous."""
        return _share.export(self, "?data").data

    @property
    def ctypes(self):
        """NumPy's ``ctypes`` of the memory itself. Waits.

        From then on ops on the memory are synchronous: nobody knows how long its address is used.
        """
        memory = _share.export(self, "?ctypes")
        _share.lend(self, "?ctypes")
        return memory.ctypes

    def resize(self, *new_shape, refcheck=True):
        """Changes shape and size in place: new elements are zeros.

        To another size only if the array is all of its memory and, unless ``refcheck`` is false, no
        other array has that memory (ValueError).

        Args:
            *new_shape: the lengths of the axes: ints or a tuple.
            refcheck: whether other arrays on the memory are an error.
        Returns: None.
        Raises: ValueError if the array is not all of its memory, or others have it, too.
        """
        if not new_shape or new_shape[0] is None:
            return
        shape = functions.creation.shape_of(named(new_shape), self.dtype)
        fortran = not self.v.layout.c_contiguous(self.v.itemsize())
        if fortran and not self.v.layout.f_contiguous(self.v.itemsize()):
            raise ValueError("resize only works on single-segment arrays")
        size = 1
        for k in shape:
            size *= k
        if size != self.v.layout.size():
            if not owns(self):
                raise ValueError("cannot resize this array: it does not own its data")
            if refcheck and self.v.chunk.handles.load() > 1:
                raise ValueError(
                    "cannot resize an array that references or is referenced\n"
                    "by another object in this way.\n"
                    "Use the np.resize function to get a new resized copy or\n"
                    " set refcheck=False to disable this check")
        cdef bint readonly = self.v.readonly
        if fortran:  # by the order in memory, as NumPy
            become(self, resized(self.transpose(), shape[::-1]).transpose())
        elif size == self.v.layout.size():
            become(self, functions.reshape(self, shape))
        else:
            become(self, resized(self, shape))
        self.v.readonly = readonly

    def byteswap(self, inplace=False):
        """The values with their bytes in the other order: in a copy, or in place.

        Args:
            inplace: whether the array itself is changed.
        Returns: an array of the same shape and dtype.
        Raises: ValueError if it is read-only and to be changed.
        """
        swapped = ops._layout.gil_op("byteswap", np.ndarray.byteswap, [self], self.shape)
        if not inplace:
            return swapped
        ops.assign_to(self, swapped)
        return self

    # -- copies

    def copy(self, order="C"):
        """A copy with memory of its own."""
        if order == "C" and self.v.layout.c_contiguous(self.v.itemsize()):
            return cast(self, self.v.dtype)
        return functions.copy(self, order=order)

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        """A copy with another dtype, laid out in ``order``; TypeError if ``casting`` forbids it."""
        if casting != "unsafe":
            if casting == "same_value":
                same = functions.dtypes.as_same_value(self, dtype)
                return same if order == "K" else functions.array(same, copy=None, order=order)
            if not np.can_cast(self.dtype, np.dtype(dtype), casting):
                raise TypeError(f"Cannot cast array data from {self.dtype!r} to {np.dtype(dtype)!r} "
                                f"according to the rule {casting!r}")
        try:
            if order == "K":
                if capturing():  # a trace finds the function by its name
                    return functions.astype(self, dtype, copy=copy)
                if not copy and one_to_numpy(dtype_code(dtype), self.v.dtype):
                    return self
                return converted(self, dtype, copy)
            return functions.array(functions.astype(self, dtype, copy=False), copy=copy or None, order=order)
        except Unheld as error:
            return ops.hosts.handed_over(_numpys_astype, (self, dtype, order), {}, error)

    def fill(self, value):
        """Sets every element to a scalar.

        Args:
            value: a number, or an array of one.
        Returns: None.
        Raises: ValueError if the array is read-only, or if ``value`` is not one number.
        """
        if type(value) is not float and type(value) is not int and (
                getattr(value, "ndim", 0) or PySequence_Check(value)
                and not isinstance(value, (Tensor, str, bytes)) and not isinstance(value, _numpys_own)):
            raise ValueError("setting an array element with a sequence.")
        store_item(self, value)

    def copyto(self, other):
        """Copies the values to another array, or to a new one on device ``other``.

        Args:
            other: an array of the same shape, or a device.
        Returns: that array, or a new one of the same shape on that device.
        Raises: ValueError for an array of another shape; TypeError for what is neither.
        """
        return functions.memory.copyto(self, other)

    def as_in_context(self, ctx):
        """The array on device ``ctx``: itself if it is there, else a copy.

        Returns: an array of the same shape.
        Raises: TypeError for what is no device; ValueError if there is no such device.
        """
        return functions.memory.to_device(self, ctx)

    def to_device(self, device, *, stream=None):
        """The array on ``device``: itself if it is there, else a copy (array API).

        Args:
            stream: for the array API's signature: order is kept without.
        Returns: an array of the same shape.
        Raises: TypeError for what is no device; ValueError if there is no such device.
        """
        if type(device) is str and device == "cpu" and self.v.device() == cpu0():
            return self
        return functions.memory.to_device(self, device)

    # -- reductions and the like

    def sum(self, axis=None, dtype=None, out=None, keepdims=False, initial=_no_value, where=True):
        """Sum over axes."""
        if initial is _no_value and where is True and out is None:
            if dtype is None:
                return handed(_sum.reduce(self, axis, None, None, keepdims))
            return _sum.asked(self, axis, dtype, None, keepdims, _no_value, True)
        return handed(_sum(self, axis, dtype, out, keepdims, initial=initial, where=where))

    def prod(self, axis=None, dtype=None, out=None, keepdims=False, initial=_no_value, where=True):
        """Product over axes."""
        if initial is _no_value and where is True and out is None and dtype is None:
            return handed(_prod.reduce(self, axis, None, None, keepdims))
        return handed(_prod(self, axis, dtype, out, keepdims, initial=initial, where=where))

    def max(self, axis=None, out=None, keepdims=False, initial=_no_value, where=True):
        """Maximum over axes."""
        if initial is _no_value and where is True and out is None:
            return handed(_max.reduce(self, axis, None, None, keepdims))
        return handed(_max(self, axis, out, keepdims, initial=initial, where=where))

    def min(self, axis=None, out=None, keepdims=False, initial=_no_value, where=True):
        """Minimum over axes."""
        if initial is _no_value and where is True and out is None:
            return handed(_min.reduce(self, axis, None, None, keepdims))
        return handed(_min(self, axis, out, keepdims, initial=initial, where=where))

    def any(self, axis=None, out=None, keepdims=False, *, where=True):
        """Whether any element over the axes is true."""
        if where is True and out is None:
            return handed(_any.reduce(self, axis, None, None, keepdims))
        return handed(_any(self, axis, out, keepdims, where=where))

    def all(self, axis=None, out=None, keepdims=False, *, where=True):
        """Whether all elements over the axes are true."""
        if where is True and out is None:
            return handed(_all.reduce(self, axis, None, None, keepdims))
        return handed(_all(self, axis, out, keepdims, where=where))

    def mean(self, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
        """Arithmetic mean over axes."""
        return handed(functions.mean(self, axis, dtype, out, keepdims, where=where))

    def std(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False, **kwargs):
        """Standard deviation over axes.

        Args:
            **kwargs: ``mean``, ``where`` and ``correction`` of :func:`std`.
        """
        return handed(functions.std(self, axis, dtype, out, ddof, keepdims, **kwargs))

    def argmax(self, axis=None, out=None, *, keepdims=False):
        """Index of the maximum along an axis (of the flattened array by default)."""
        return handed(functions.argmax(self, axis, out, keepdims=keepdims))

    def argmin(self, axis=None, out=None, *, keepdims=False):
        """Index of the minimum along an axis (of the flattened array by default)."""
        return handed(functions.argmin(self, axis, out, keepdims=keepdims))

    def cumsum(self, axis=None, dtype=None, out=None):
        """Running sum along an axis (of the flattened array by default)."""
        return functions.cumsum(self, axis, dtype, out)

    def cumprod(self, axis=None, dtype=None, out=None):
        """Running product along an axis (of the flattened array by default)."""
        return functions.cumprod(self, axis, dtype, out)

    def dot(self, b, out=None):
        """NumPy's dot product.

        Args:
            b: an array, or what :func:`array` makes one of.
        """
        return handed(functions.dot(self, b) if out is None else functions.dot(self, b, out))

    def trace(self, offset=0, axis1=0, axis2=1, dtype=None, out=None):
        """The sum of a diagonal."""
        return handed(functions.trace(self, offset, axis1, axis2, dtype, out))

    def sort(self, axis=-1, kind=None, order=None, *, stable=None):
        """Sorts in place along an axis. (No ``order``: arrays have no fields.)

        Args:
            order: for NumPy's signature: arrays have no fields.
        Returns: None.
        """
        if order is not None:
            raise ValueError("Cannot specify order when the array has no fields.")
        functions.sort_inplace(self, axis, kind, stable)

    def argsort(self, axis=-1, kind=None, order=None, *, stable=None):
        """The indices that sort the array along an axis. (No ``order``: arrays have no fields.)

        Args:
            order: for NumPy's signature: arrays have no fields.
        """
        return functions.argsort(self, axis, kind, order, stable=stable)

    def partition(self, kth, axis=-1, kind="introselect", order=None):
        """Puts the ``kth`` smallest along an axis in place, smaller ones before, larger ones after.

        Args:
            order: for NumPy's signature: arrays have no fields.
        Returns: None.
        """
        if order is not None:
            raise ValueError("Cannot specify order when the array has no fields.")
        if self.v.readonly:
            raise ValueError("assignment destination is read-only")
        functions.partition_inplace(self, kth, index(axis), kind)

    def argpartition(self, kth, axis=-1, kind="introselect", order=None):
        """The indices that partition the array along an axis.

        Args:
            order: for NumPy's signature: arrays have no fields.
        """
        return functions.argpartition(self, kth, axis, kind, order)

    def take(self, indices, axis=None, out=None, mode="raise"):
        """Elements by index along an axis."""
        return handed(functions.take(self, indices, axis, out, mode))

    def repeat(self, repeats, axis=None):
        """Each element repeated."""
        return functions.repeat(self, repeats, axis)

    def clip(self, min=None, max=None, out=None, *, casting="same_kind", dtype=None, where=True, order="K",
             subok=True):
        """Values limited to a range."""
        # (A trace finds the function by its name.)
        if not capturing() and out is None and dtype is None and casting == "same_kind" and where is True and order == "K" \
                and info(self.v.dtype).kind == b"f" and type(self) is NDArray \
                and (min is None or is_usual(min)) and (max is None or is_usual(max)) \
                and (min is not None or max is not None):
            if min is None or max is None:
                return handed((_maximum if max is None else _minimum).binary(self, max if min is None else min, None))
            return handed(ops._rows.clamp(self, min, max))
        if out is None and (is_foreign(min) or is_foreign(max)):  # NumPy's is a ufunc, which their classes answer
            found = self if min is None else _maximum(self, min)
            return found if max is None else _minimum(found, max)
        return handed(functions.clip(self, min, max, out, casting=casting, dtype=dtype, where=where, order=order))

    def round(self, decimals=0, out=None):
        """Values rounded to a number of decimals."""
        return handed(functions.round(self, decimals, out))

    def conj(self, out=None):
        """Complex conjugate; the array itself if it is real, as NumPy's."""
        if out is not None:
            return _conjugate(self, out)
        return as_drawn_as(self, handed(_conjugate(self))) if info(self.v.dtype).kind == b"c" else self

    def conjugate(self, out=None):
        """Complex conjugate; the array itself if it is real, as NumPy's."""
        if out is not None:
            return _conjugate(self, out)
        return as_drawn_as(self, handed(_conjugate(self))) if info(self.v.dtype).kind == b"c" else self

    def searchsorted(self, v, side="left", sorter=None):
        """Where to insert each of ``v`` into this sorted vector."""
        return handed(functions.searchsorted(self, unasked(v), side, unasked(sorter)))

    def compress(self, condition, axis=None, out=None):
        """The entries along an axis for which a vector of conditions is true."""
        return functions.compress(unasked(condition), self, axis, out)

    def choose(self, *choices, out=None, mode="raise"):
        """At each place the element of that array of ``choices`` which this array names there.

        Args:
            *choices: the arrays that are chosen from, or a list of them.
        """
        given = choices[0] if len(choices) == 1 else choices
        if isinstance(given, (list, tuple)):
            given = [unasked(o) for o in given]
        return handed(functions.choose(self, unasked(given), out, mode))

    def put(self, indices, values, mode="raise"):
        """Stores values at indices of the flattened array.

        Args:
            indices: integers, which count the elements of the flattened array.
            values: what is stored, repeated if there are fewer of them.
        Returns: None.
        """
        functions.put(self, indices, unasked(values), mode)

    def nonzero(self):
        """The indices of the true elements, one array an axis; waits for the values."""
        return functions.nonzero(self)
