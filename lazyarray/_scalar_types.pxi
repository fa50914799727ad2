# Scalars: the arrays without axes that NumPy returns as scalars. They never change.


cdef class Scalar(Array):
    """An array without axes that never changes: what NumPy returns as a scalar.

    Reductions to one value, elements, draws without a size, and whatever is computed of these are such;
    their values come later, as any array's. ``s += 1`` makes ``s`` the name of a new one, and assigning
    to it is a TypeError. ``la.array(s)`` is an array that can be changed. They are registered with
    :mod:`numbers` by their dtypes; :func:`lazyarray.set_scalars` gives NumPy's own in their place.

    >>> import numbers, lazyarray as la
    >>> s = la.arange(4.0).sum()
    >>> kept = s
    >>> s += 1
    >>> float(kept), float(s), isinstance(s, numbers.Real)
    (6.0, 7.0, True)
    """

    def __init__(self, value=0):
        """A scalar of ``value``; of float64, int64, complex128 or bool."""
        dtype = _DEFAULTS.get(type(self))
        if dtype is None or np.ndim(value):
            raise TypeError(f"a {type(self).__name__} is what operations give: la.array makes arrays")
        become(self, functions.array(value, dtype))
        self.v.readonly = True

    @property
    def __class__(self):
        # What `isinstance` asks besides the type: a program may ask for a float, or for np.floating.
        return type(np_dtype(self.v.dtype).type().item()) if self.v.drawn else _numpys_types[self.v.dtype]

    def __repr__(self):
        value = only_value(self if is_known(self) else settled(awaited(self, "?repr()"), False))
        text = repr(value.item() if self.v.drawn and self.v.device() == cpu0() else value)
        if self.v.dtype == D_BOOL and not self.v.device() == cpu0():
            text = f"np.bool({value})"
        return with_device(self, text)

    # It never changes: only what autograd or a program knows by it needs another.
    def __copy__(self): return twin(self, {}) if not self.v.alone() and lazy(self.v.chunk).noted() else self
    def __deepcopy__(self, memo): return twin(self, memo) if not self.v.alone() and lazy(self.v.chunk).noted() else self

    # NumPy's scalars know no matrix product; an array beside one says what is wrong.
    def __matmul__(self, other): return NotImplemented
    def __rmatmul__(self, other): return NotImplemented

    # -- elements and views: of a copy

    def __getitem__(self, key):
        cdef tuple keys = tuple(key) if isinstance(key, tuple) else (key,)
        if not keys:
            return handed(self)
        for k in keys:
            if k is not None and k is not Ellipsis and getattr(k, "dtype", type(k)) not in (bool, np.bool_):
                raise IndexError("invalid index to scalar variable.")
        return cast(self, self.v.dtype)[key]

    @property
    def shape(self):
        """``()``."""
        return ()

    @property
    def dtype(self):
        """The NumPy dtype of the value."""
        return np_dtype(self.v.dtype)

    @property
    def T(self):
        """The scalar itself."""
        return handed(self)

    @property
    def real(self):
        """The real part."""
        cdef Tensor t = None if scalars_are_read else quick_part(self, 0)
        if t is None and info(self.v.dtype).kind != b"c":
            return handed(self)
        return as_drawn_as(self, t if t is not None else handed(returned(functions.real(self))))

    @property
    def imag(self):
        """The imaginary part."""
        cdef Tensor t = None if scalars_are_read else quick_part(self, 1)
        return as_drawn_as(self, t if t is not None else handed(returned(functions.imag(self))))

    @property
    def flat(self):
        """The value as a vector of one, to index and to iterate over."""
        return flatiter(cast(self, self.v.dtype))

    @property
    def base(self):
        """None: the value lies in no other array."""
        return None

    def transpose(self, *axes):
        """The scalar itself.

        Args:
            *axes: none, or an empty tuple: there are no axes.
        Returns: the scalar itself.
        Raises: ValueError for any axes.
        """
        return handed(returned(Array.transpose(self, *axes)))

    def reshape(self, *shape, order="C", copy=None):
        """The value in another shape: a scalar in ``()``, else a new array.

        Args:
            *shape: the lengths of the axes, each 1: ints or a tuple.
            order: for the arrays' signature: "C", "F" or "A".
            copy: for the arrays' signature.
        Returns: a scalar, or an array of that shape.
        Raises: ValueError for a shape of another size, or another ``order``.
        """
        cdef Tensor t = reshaped(self, shape, order) if copy is None else None
        return t if t is not None else handed(returned(Array.reshape(self, *shape, order=order, copy=copy)))

    def squeeze(self, axis=None):
        """The scalar itself.

        Args:
            axis: None or ``()``; 0 and -1 are let through, as NumPy does.
        Returns: the scalar itself.
        Raises: AxisError (a ValueError and an IndexError) for other axes.
        """
        return handed(self if axis is None else returned(Array.squeeze(self, axis)))

    def view(self, dtype=None, type=None):
        """The scalar of the same bytes as another dtype.

        Args:
            dtype: a dtype of as many bytes; None: its own.
            type: for the arrays' signature.
        Returns: a scalar.
        Raises: TypeError for what is no dtype; ValueError for one of another size.
        """
        return handed(returned(Array.view(self, dtype, type)))

    def byteswap(self, inplace=False):
        """The scalar of the bytes in the other order.

        Args:
            inplace: for the arrays' signature: the scalar never changes.
        Returns: a new scalar.
        Raises: nothing.
        """
        return handed(returned(Array.byteswap(self)))

    def copy(self, order="C"):
        """A copy, which is a scalar too: ``la.array(s)`` is an array.

        Args:
            order: for the arrays' signature: "C", "F", "A" or "K".
        Returns: a new scalar.
        Raises: ValueError for another ``order``.
        """
        return as_scalar(cast(self, self.v.dtype) if order == "C" else functions.copy(self, order=order))

    def astype(self, dtype, order="K", casting="unsafe", subok=True, copy=True):
        """The value as another dtype.

        Args:
            dtype: the dtype.
            order: for the arrays' signature: "C", "F", "A" or "K".
            casting: which casts are allowed: "no", "equiv", "safe", "same_kind", "unsafe" or "same_value".
            subok: for the arrays' signature.
            copy: for the arrays' signature.
        Returns: a new scalar; NumPy's, of a dtype that lazyarray doesn't hold.
        Raises: TypeError for a cast that ``casting`` forbids, or what is no dtype; ValueError for another
            ``order`` or ``casting``.
        """
        result = Array.astype(self, dtype, order, casting, subok)
        return handed(returned(result)) if isinstance(result, Tensor) else result

    # -- what changes an array changes a copy that nobody sees, as with NumPy's scalars

    def fill(self, value):
        """Changes nothing: it fills a copy that nobody sees, as NumPy's scalars do.

        Args:
            value: a number.
        Returns: None.
        Raises: ValueError for what is no number.
        """
        NDArray.fill(cast(self, self.v.dtype), value)

    def put(self, indices, values, mode="raise"):
        """Changes nothing: it writes to a copy that nobody sees, as NumPy's scalars do.

        Args:
            indices: 0, or -1.
            values: a number.
            mode: what other indices are: "raise" (an error), "wrap" or "clip".
        Returns: None.
        Raises: IndexError for another index; ValueError for what is no number, or another ``mode``.
        """
        NDArray.put(cast(self, self.v.dtype), indices, values, mode)

    def resize(self, *new_shape, refcheck=True):
        """Changes nothing: it resizes a copy that nobody sees, as NumPy's scalars do.

        Args:
            *new_shape: the lengths of axes: ints or a tuple.
            refcheck: for the arrays' signature.
        Returns: None.
        Raises: ValueError for a negative length; TypeError for one that is no integer.
        """
        NDArray.resize(cast(self, self.v.dtype), *new_shape, refcheck=refcheck)

    def sort(self, axis=-1, kind=None, order=None, *, stable=None):
        """An error: there is no axis.

        Args:
            axis: the axis; a scalar has none.
            kind: for the arrays' signature.
            order: for the arrays' signature.
            stable: for the arrays' signature.
        Returns: nothing: it raises.
        Raises: AxisError (a ValueError and an IndexError); TypeError for an ``axis`` that is no integer.
        """
        NDArray.sort(cast(self, self.v.dtype), axis, kind, order, stable=stable)

    def partition(self, kth, axis=-1, kind="introselect", order=None):
        """An error: there is no axis.

        Args:
            kth: for the arrays' signature.
            axis: the axis; a scalar has none.
            kind: for the arrays' signature.
            order: for the arrays' signature.
        Returns: nothing: it raises.
        Raises: AxisError (a ValueError and an IndexError); TypeError for an ``axis`` that is no integer.
        """
        NDArray.partition(cast(self, self.v.dtype), kth, axis, kind, order)

    def setflags(self, write=None, align=None, uic=None):
        """Changes nothing.

        Args:
            write: for the arrays' signature.
            align: for the arrays' signature.
            uic: for the arrays' signature.
        Returns: None.
        Raises: nothing.
        """


cdef class BoolScalar(Scalar):
    """A scalar of bool."""


cdef class RealScalar(Scalar):
    """A scalar of a floating-point dtype: a :class:`numbers.Real`."""

    def is_integer(self):
        """Whether the value is a whole number; waits for it.

        Returns: a bool.
        Raises: nothing.
        """
        return float(self).is_integer()

    def as_integer_ratio(self):
        """Two integers whose quotient is the value; waits for it.

        Returns: a tuple of two ints, the second of which is positive.
        Raises: OverflowError for an infinite value; ValueError for a NaN.
        """
        if self.dtype.char == "g":
            return self.asnumpy()[()].as_integer_ratio()
        return float(self).as_integer_ratio()

    def hex(self):
        """The value as a hexadecimal text, ``float``'s; waits for it.

        Returns: a str.
        Raises: nothing.
        """
        return float(self).hex()


cdef class IntegralScalar(Scalar):
    """A scalar of an integer dtype: a :class:`numbers.Integral`."""

    def __index__(self):
        if self.v.dtype == D_IL and is_known(self):
            return (<int64_t*>self.v.elements())[0]
        return scalar(self, "?index()")

    @property
    def numerator(self):
        """The scalar itself."""
        return handed(self)

    @property
    def denominator(self):
        """1."""
        return 1

    def is_integer(self):
        """True.

        Returns: a bool.
        Raises: nothing.
        """
        return True

    def as_integer_ratio(self):
        """The value and 1; waits for it.

        Returns: a tuple of two ints.
        Raises: nothing.
        """
        return int(self), 1

    def bit_count(self):
        """The number of ones in the binary form of the absolute value; waits for it.

        Returns: an int.
        Raises: nothing.
        """
        return abs(int(self)).bit_count()


cdef class ComplexScalar(Scalar):
    """A scalar of a complex dtype: a :class:`numbers.Complex`. As a real number it is its real part, with a warning."""

    def __float__(self):
        return float(np_dtype(self.v.dtype).type(number(self, "?float()")))

    def __int__(self):
        return int(np_dtype(self.v.dtype).type(number(self, "?int()")))


cdef tuple _numpys_types = tuple([np_dtype(code).type for code in range(kDtypes)])
cdef dict _DEFAULTS = {BoolScalar: bool, RealScalar: float, IntegralScalar: int, ComplexScalar: complex}


for _kinds, _type, _number, _kind in (
        ("b", BoolScalar, None, np.bool_), ("iu", IntegralScalar, numbers.Integral, np.integer),
        ("f", RealScalar, numbers.Real, np.floating), ("c", ComplexScalar, numbers.Complex, np.complexfloating)):
    set_scalar_type(_kinds, _type)
    put_in_type(<PyTypeObject*>_type, "_kind", _kind)  # for issubdtype
    if _number is not None:
        _number.register(_type)


cdef object _derived = None  # the base of classes that programs derive


def set_derived(kind, new):
    """Makes ``kind`` the base of classes that programs derive; ``new`` is their ``NDArray.__new__``."""
    global _derived
    _derived = kind
    put_in_type(<PyTypeObject*>NDArray, "__new__", staticmethod(new))  # for np.ndarray.__new__(cls, shape)


def of_class(x, kind, parent):
    """A view of an array as one of a derived class, as ``ndarray.view`` makes it; ``parent`` is what it is of."""
    cdef Tensor made = _new_array(kind)
    become(made, cast(x, (<Tensor>x).v.dtype) if is_scalar(x) else x)  # a scalar's memory never changes
    finalize = getattr(made, "__array_finalize__", None)
    if finalize is not None:
        finalize(parent)
    return made


cdef object _new_array = NDArray.__new__


class _ArrayType(type):
    """The array class's own: ``isinstance(s, np.ndarray)`` is false for a Scalar, as for NumPy's scalars.

    So programs tell numbers from arrays. Code that names ``NDArray`` means all of ours, Scalars included; code
    that names ``ndarray``, arrays: NumPy's, too, which hold what lazyarray doesn't and come from other libraries.
    A class that a program derives has ``Derived`` as its base: see _derived.py.
    """

    def __new__(mcls, name, bases, namespace, **kwargs):
        if _derived is not None and not namespace.get("__module__", "").startswith("lazyarray."):
            bases = tuple([_derived if base is NDArray else base for base in bases])
        return type.__new__(mcls, name, bases, namespace, **kwargs)

    def __dir__(cls):
        return [name for name in type.__dir__(cls) if name not in hinted or hasattr(cls, name)]

    def __instancecheck__(cls, x):
        if cls is NDArray and is_tensor(x) and is_scalar(<Tensor>x):
            return are_arrays(True)
        return cls is NDArray and is_array_type(type(x)) or type.__instancecheck__(cls, x)

    def __subclasscheck__(cls, kind):
        return cls is NDArray and is_array_type(kind) or type.__subclasscheck__(cls, kind)


cdef bint are_arrays(bint scalars) except -1:
    """Whether scalars, or else NumPy's arrays, are arrays to the code that asks, by the name that it has for ours."""
    names = names_of_caller()
    return "NDArray" in names if scalars else "ndarray" in names and "NDArray" not in names


cdef bint is_array_type(kind) except -1:
    """The same of a type; false for all others."""
    if type.__subclasscheck__(Scalar, kind):
        return are_arrays(True)
    return type.__subclasscheck__(np.ndarray, kind) and are_arrays(False)
