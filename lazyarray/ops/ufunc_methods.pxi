# NumPy's methods of ufuncs: reduce, accumulate, outer, at.


cdef dict _folds = {}  # by ufunc and dtype: a loop for such operands and results, or False


cdef Tensor folded_now(object ufunc, Tensor x, object along):
    """``ufunc.reduce`` of an array at hand along an axis, by its loop; None where it isn't that simple."""
    cdef npy_intp shape[kMaxDims]
    cdef npy_intp steps[3]
    cdef npy_intp n = x.v.layout.size(), size = x.v.itemsize(), step = size, outer = 1, length, inner = 1, i, j
    cdef int ndim = x.v.layout.ndim, axis = 0 if along is None and ndim == 1 else axis_of(along, ndim)
    cdef char* args[3]
    cdef Kernel* k
    cdef Tensor out
    if axis < 0 or n < 2 or not may_run_now() or not x.v.near() or n * size > LIGHT_TIMES * most_bytes(True):
        return None
    if ndim == 1:
        step = x.v.layout.strides()[0]
    elif not contiguous(x):
        return None
    key = (ufunc, x.v.dtype)
    found = _folds.get(key)
    if found is None:
        d = np_dtype(x.v.dtype)
        found = False
        # Of integers alone, whose order doesn't matter; and where there is an identity, as these loops raise nothing.
        if d.kind in "biu" and ufunc.identity is not None and f"{d.char}{d.char}->{d.char}" in ufunc.types:
            one = np.asarray(ufunc.reduce(np.zeros(0, d)))
            if one.dtype == d:
                found = _Kernel.__new__(_Kernel)
                (<_Kernel>found).k = k = loop_kernel(ufunc.__name__, REDUCE, 1, 1, ufunc, (d, d, d))
                memcpy(k.identity, cnp.PyArray_DATA(one), d.itemsize)
        _folds[key] = found
    if found is False:
        return None
    k = (<_Kernel>found).k
    for i in range(ndim):
        if i < axis:
            outer *= x.v.layout.shape()[i]
        elif i > axis:
            inner *= x.v.layout.shape()[i]
        if i != axis:
            shape[i - (i > axis)] = x.v.layout.shape()[i]
    length = x.v.layout.shape()[axis]
    out = new_element(x.v.dtype, cpu0()) if ndim == 1 else small_array(x.v.dtype, ndim - 1, shape, True)
    if out is None:
        return None
    for i in range(outer * inner):
        memcpy(out.v.elements() + i * size, k.identity, size)
    steps[0] = steps[2] = 0 if inner == 1 else size
    steps[1] = step
    args[0] = args[2] = out.v.elements()
    args[1] = x.v.elements()
    for i in range(outer):
        for j in range(1 if inner == 1 else length):
            k.fn(args, &length if inner == 1 else &inner, steps, k.data)
            args[1] += size * (length if inner == 1 else inner)
        args[0] += size * inner
        args[2] = args[0]
    return out if ndim == 1 else written(out)


cdef dict _scans = {}  # by ufunc and dtype: NumPy's loop for operands and results of that dtype alone, or False


cdef Tensor scanned_now(object ufunc, Tensor x):
    """``ufunc.accumulate`` of a vector at hand, by NumPy's loop; None where it isn't that simple, or raised a flag."""
    cdef npy_intp steps[3]
    cdef npy_intp n = x.v.layout.size(), rest = n - 1
    cdef char* args[3]
    cdef Kernel* k
    cdef Tensor out
    if x.v.layout.ndim != 1 or n == 0 or not is_ready(x, True):
        return None
    key = (ufunc, x.v.dtype)
    found = _scans.get(key)
    if found is None:
        d = np_dtype(x.v.dtype)
        found = False
        # The first loop that takes the dtype. Sums and products of small integers are wider, powers may fail.
        if d.kind in "biuf" and ufunc not in (np.add, np.multiply, np.power) \
                and next((t for t in ufunc.types if t[:2] == d.char * 2), "")[2:] == f"->{d.char}":
            found = _Kernel.__new__(_Kernel)
            (<_Kernel>found).k = loop_kernel(ufunc.__name__, ELEMENTWISE, 2, 1, ufunc, (d, d, d))
        _scans[key] = found
    if found is False:
        return None
    k = (<_Kernel>found).k
    out = small_array(x.v.dtype, 1, &n, True)
    if out is None:
        return None
    steps[0] = steps[1] = steps[2] = x.v.itemsize()
    memcpy(out.v.chunk.data, x.v.elements(), steps[0])
    args[0], args[1], args[2] = out.v.chunk.data, x.v.elements() + steps[0], out.v.chunk.data + steps[0]
    take_flags(True)
    k.fn(args, &rest, steps, k.data)
    return None if flagged(True) else written(out)


cdef bint added_at(object ufunc, object a, object indices, object value) except -1:
    """``add.at`` or ``subtract.at`` of not many places of a float64 or int64 array; whether it was that simple.

    ``value`` is a number, or as many elements as there are places. Where a flag is raised all is as before.
    """
    cdef Places p
    cdef int64_t number = 0
    cdef char* values = <char*>&number
    cdef npy_intp each = 0
    cdef void* before
    cdef Tensor x, v
    if ufunc is not np.add and ufunc is not np.subtract or Py_TYPE(a) != type_of_arrays():
        return False
    x = <Tensor>a
    # (Of more axes NumPy adds by another loop, which takes the other one of two NaNs.)
    if not (x.v.dtype == D_F8 and x.v.layout.ndim == 1 or x.v.dtype == D_IL) or unwritable(x) \
            or not places_of(&p, x, indices, True):
        return False
    if is_tensor(value):
        v = <Tensor>value
        if v.v.dtype != x.v.dtype or v.v.layout.ndim > 1 or not v.v.at_hand() or not (v.v.device() == cpu0()):
            return False
        if v.v.layout.ndim:
            if v.v.layout.shape()[0] != p.n:
                return False
            each = v.v.layout.strides()[0]
        values = v.v.elements()
        if lie_on(x.v.chunk, values, p.n, each, 8):
            return False
    elif not (type(value) is int or type(value) is float and x.v.dtype == D_F8) or not put_number(values, value, x.v.dtype):
        return False
    before = malloc(p.n * 8)
    if before is NULL:
        return False
    try:
        if x.v.dtype == D_IL:
            add_places[uint64_t](x.v.elements(), values, each, p, x.v.layout, ufunc is np.subtract, <uint64_t*>before)
        else:
            take_flags(False)
            add_places[double](x.v.elements(), values, each, p, x.v.layout, ufunc is np.subtract, <double*>before)
            if flagged():
                restore_places[double](x.v.elements(), p, x.v.layout, <double*>before)
                return False
    finally:
        free(before)
    changed(x.v.chunk)
    return True


cdef inline bint is_ours_alone(object array, object out) noexcept:
    """Whether there is nobody to ask about a call (`told_by_class`), and so no need to write down what it is."""
    return (out is None or Py_TYPE(out) == type_of_arrays()) and is_tensor(array) and not is_derived(array)


cdef inline bint are_ours_alone(object array, object other) noexcept:
    """The same of a pair, of which the other may be a list or a number."""
    return is_ours_alone(array, None) and (
        type(other) is list or type(other) is int or type(other) is float or is_ours_alone(other, None))


cdef class UfuncMethods(Row):
    """What an elementwise op does besides being called."""

    def resolve_dtypes(self, dtypes, **kwargs):
        """The dtypes of the loop that NumPy chooses for operands of these.

        Args:
            dtypes: a tuple of NumPy dtypes, inputs then outputs; ``int``, ``float`` or ``complex`` stand for
                Python's numbers; None: an output that is to be found.
            **kwargs: ``signature``, ``casting`` and ``reduction``, as in NumPy.
        Returns: a tuple of NumPy dtypes.
        Raises: TypeError for another number of dtypes, what is no dtype, and where there is no such loop.

        >>> import numpy as np, lazyarray as la
        >>> la.add.resolve_dtypes((np.dtype("int32"), np.dtype("float32"), None))
        (dtype('float64'), dtype('float64'), dtype('float64'))
        """
        return self.ufunc.resolve_dtypes(dtypes, **kwargs)

    def reduce(self, array, axis=0, dtype=None, out=None, keepdims=False, *args, **kwargs):
        """The op between the elements along axes.

        Args:
            array: an array, or what :func:`array` makes one of.
            axis: the axis, or several as a tuple; None: all.
            dtype: the dtype that is computed in and that the result has; None: as NumPy.
            out: an array of the result's shape, which is written and returned.
            keepdims: whether these axes stay, with length one.
            *args: ``initial`` and ``where``, by their places.
            **kwargs: ``initial``: what the result starts from; ``where``: a mask of the elements that count.
        Returns: ``out``, or an array without these axes.
        Raises: ValueError unless the op has two inputs and one output, for several axes if the order matters
            (``subtract``), for no elements if the op has no identity, and for an ``out`` of another shape;
            AxisError (a ValueError and an IndexError) if there is no such axis; TypeError for what is no
            dtype, or one that the op has no loop for.

        >>> import lazyarray as la
        >>> la.multiply.reduce(la.array([[1, 2], [3, 4]]), axis=1).asnumpy()
        array([ 2, 12])
        """
        if not is_ours_alone(array, out):
            given = told({"axis": axis, "dtype": dtype, "out": out, "keepdims": keepdims}) | kwargs
            found = told_by_class(self, "reduce", (array,), given | dict(zip(("initial", "where"), args)) if args else given)
            if found is not NotImplemented:
                return found
        if not args and not kwargs and type(axis) is int and Py_TYPE(array) == Py_TYPE(out) == type_of_arrays():
            row = _reductions.get(self.ufunc)
            if row is not None:
                return handed((<Reduction>row).reduce(<Tensor>array, axis, dtype, out_array(out), keepdims))
        if out is None and not args and not kwargs:
            row = _reductions.get(self.ufunc)
            if row is not None and is_tensor(array) and type(axis) is int:
                return of_class_of(array, handed((<Reduction>row).reduce(<Tensor>array, axis, dtype, None, keepdims)))
            if row is not None and (type(array) is list or type(array) is tuple):
                result = (<Reduction>row).folded(array, axis, dtype, keepdims)
                if result is not None:
                    return result
            if row is None and dtype is None and keepdims is False and Py_TYPE(array) == type_of_arrays():
                result = folded_now(self.ufunc, <Tensor>array, axis)
                if result is not None:
                    return handed(result)
            # Without a row what is recorded is a call of NumPy's, too.
            result = direct_call(self.ufunc.reduce, (array, axis, dtype, None, keepdims), PY_SSIZE_T_MAX, _DIRECT_LENGTH,
                                 LIGHT_TIMES if row is None else 0)
            if result is not None:
                return of_class_of(array, result)
        if len(args) > 2:
            raise TypeError(f"reduce() takes from 1 to 7 positional arguments but {5 + len(args)} were given")
        for name, given in zip(("initial", "where"), args):
            if name in kwargs:
                raise TypeError(f"reduce() got multiple values for argument {name!r}")
            kwargs[name] = given
        # By name, as NumPy has it: a tuple may hold the output then.
        result = handed(self.method("reduce", array, axis, dtype, out=out, keepdims=keepdims, **kwargs))
        return of_class_of(array, result) if out is None else result

    def accumulate(self, array, axis=0, dtype=None, out=None):
        """The op between each element and all before it along an axis.

        Args:
            array: an array, or what :func:`array` makes one of.
            axis: the axis.
            dtype: the dtype that is computed in and that the result has; None: as NumPy.
            out: an array of the result's shape, which is written and returned.
        Returns: ``out``, or an array of the same shape.
        Raises: ValueError unless the op has two inputs and one output, for an ``axis`` that is none, and for
            an ``out`` of another shape; AxisError (a ValueError and an IndexError) if there is no such axis;
            TypeError for an array without axes, or what is no dtype.

        >>> import lazyarray as la
        >>> la.maximum.accumulate(la.array([1, 3, 2, 5])).asnumpy()
        array([1, 3, 3, 5])
        """
        if not is_ours_alone(array, out):
            found = told_by_class(self, "accumulate", (array,), told({"axis": axis, "dtype": dtype, "out": out}))
            if found is not NotImplemented:
                return found
        result = None
        if out is None and dtype is None and isinstance(self, Ufunc) and (<Ufunc>self).line and is_first_axis(axis) \
                and Py_TYPE(array) == type_of_arrays():
            result = running_now(ord((<Ufunc>self).line), <Tensor>array)
        if result is None and out is None and dtype is None and self.ufunc.nin == 2 and self.ufunc.nout == 1 and is_first_axis(axis) \
                and Py_TYPE(array) == type_of_arrays():
            result = scanned_now(self.ufunc, <Tensor>array)
        if out is None and result is None:
            result = direct_call(self.ufunc.accumulate, (array, axis, dtype), PY_SSIZE_T_MAX, _DIRECT_LENGTH, 1)
        if result is None:
            result = self.method("accumulate", array, axis, dtype, out=out)
        return of_class_of(array, result) if out is None else result

    def reduceat(self, array, indices, axis=0, dtype=None, out=None):
        """Reductions of slices along an axis, each from one index to the next.

        Where the next index is no higher there is the one element; the last slice goes to the end.

        Args:
            array: an array, or what :func:`array` makes one of.
            indices: where the slices begin: integers from 0 on.
            axis: the axis.
            dtype: the dtype that is computed in and that the result has; None: as NumPy.
            out: an array of the result's shape, which is written and returned.
        Returns: ``out``, or an array with as many entries along the axis as there are indices.
        Raises: ValueError unless the op has two inputs and one output, and for an ``out`` of another shape;
            IndexError for an index outside of the axis; AxisError (a ValueError and an IndexError) if there
            is no such axis; TypeError for what is no dtype.

        >>> import lazyarray as la
        >>> la.add.reduceat(la.arange(8), [0, 4, 1, 5]).asnumpy()
        array([ 6,  4, 10, 18])
        """
        if out is not None or not are_ours_alone(array, indices):
            found = told_by_class(self, "reduceat", (array, indices), told({"axis": axis, "dtype": dtype, "out": out}))
            if found is not NotImplemented:
                return found
        result = None
        if out is None:  # hosted, for what is recorded is a call of NumPy's, too
            result = direct_call(self.ufunc.reduceat, (array, indices, axis, dtype), PY_SSIZE_T_MAX, _DIRECT_LENGTH,
                                 LIGHT_TIMES)
        if result is None:
            result = self.method("reduceat", array, indices, axis, dtype, out=out)
        return of_class_of(array, result) if out is None else result

    def outer(self, a, b, /, **kwargs):
        """The op of each element of ``a`` with each of ``b``.

        Args:
            a: an array, or what :func:`array` makes one of.
            b: another one.
            **kwargs: those of a call: ``out``, ``where``, ``dtype``, ``casting``.
        Returns: ``out``, or an array of shape ``(*a.shape, *b.shape)``.
        Raises: ValueError unless the op has two inputs, and for a result of another shape that is given;
            TypeError for what is no dtype.

        >>> import lazyarray as la
        >>> la.multiply.outer([1, 2], [3, 4]).asnumpy()
        array([[3, 4],
               [6, 8]])
        """
        if kwargs or not are_ours_alone(a, b):
            found = told_by_class(self, "outer", (a, b), kwargs)
            if found is not NotImplemented:
                return found
        # What comes is as large as the square of the operands.
        result = direct_call(self.ufunc.outer, (a, b), 512) if not kwargs else None
        if result is None:
            result = handed(self.method("outer", a, b, **kwargs))
        return of_class_of(b, of_class_of(a, result)) if kwargs.get("out") is None else result

    def at(self, a, indices, /, *values):
        """The op in place on ``a[indices]``; an index given twice counts twice.

        Args:
            a: the array that is changed.
            indices: which elements: what ``a[indices]`` takes.
            *values: the other operand, which broadcasts to these; nothing, of an op of one input.
        Returns: None.
        Raises: TypeError if ``a`` is no array; IndexError for an index that there isn't; ValueError for
            values that don't broadcast, are missing, or are one too many.

        >>> import lazyarray as la
        >>> x = la.zeros(3)
        >>> la.add.at(x, [0, 0, 2], 1)
        >>> x.asnumpy()
        array([2., 0., 1.])
        """
        found = told_by_class(self, "at", (a, indices, *values), {})
        if found is not NotImplemented:
            return found
        if len(values) == 1 and added_at(self.ufunc, a, indices, values[0]) \
                or direct_write(self.ufunc.at, (a, indices, *values)):
            return None
        return self.method("at", a, indices, *values)

    def method(self, str name, *args, **kwargs):
        """One of NumPy's methods of ufuncs, by name.

        Args:
            name: "reduce", "accumulate", "reduceat", "outer", "at" or "__call__".
            *args: its arguments.
            **kwargs: the same, by name.
        Returns: what the method gives: an array, or None.
        Raises: KeyError for another name; else what the method raises.
        """
        if args and is_unheld(args[0]) and name != "at" and all_plain((args, kwargs.values())) and numpy_may():
            return _taught["of_hosts"](getattr(self.ufunc, name), args, kwargs)
        try:
            return _taught["methods"][name](self.ufunc, *args, **kwargs)
        except Unheld as error:
            return _taught["handed_over"](getattr(self.ufunc, name), args, kwargs, error)
