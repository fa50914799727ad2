# What reads an array's values: waits, copies for NumPy, Python's numbers, text.


# NumPy copies up to this many elements without letting go of the GIL.
cdef enum:
    _COPIED_WITH_THE_GIL = 500
    _COPIED_SOON = 32768  # bytes: to copy them takes less than an instruction


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
    need_memory(x.v.chunk)
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


cdef list listed(Layout* l, int axis, char* p, int dtype):
    """The elements from ``axis`` on, which are there, as nested lists."""
    cdef npy_intp i, n = l.shape()[axis], step = l.strides()[axis]
    cdef list found = PyList_New(n)
    for i in range(n):
        o = number_at(p + i * step, dtype) if axis == l.ndim - 1 else listed(l, axis + 1, p + i * step, dtype)
        Py_INCREF(o)  # stolen
        PyList_SET_ITEM(found, i, o)
    return found


cdef object element_value(Tensor x, npy_intp at):
    """The element at `at` bytes of the memory, as a Python scalar."""
    if not x.v.has_memory():
        return numpy_view(&x.v, False).item()
    return number_at(x.v.elements() + at - x.v.layout.offset, x.v.dtype)


cdef inline object number_at(char* p, int dtype):
    """The element there as a Python scalar."""
    cdef char code = info(dtype).code
    cdef cnp.dtype d
    if code == b"d":
        return (<double*>p)[0]
    elif info(dtype).kind == b"i":
        return whole_at(p, info(dtype).size, True)
    elif info(dtype).kind == b"u":
        return <uint64_t>whole_at(p, info(dtype).size, False)
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
    d = np_dtype(dtype)
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


cdef str with_device(Operators x, str text):
    """A repr with the device, where that is another than cpu(0)."""
    return text if x.v.device() == cpu0() else f"{text[:-1]}, device={x.ctx!r})"


cdef object number(Tensor array, str what):
    """The value of an array without axes as a Python scalar."""
    if array.v.layout.ndim:
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")
    return scalar(array, what)


cdef class Values(Methods):
    """The waiting half of arrays and scalars."""

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
            if x.v.has_memory() and (flat_at(x, args[0], &at) if len(args) == 1 else element_at(x, args, &at)):
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
        if x.v.layout.ndim and x.v.has_memory():
            l = x.v.layout  # a finalizer may give the array another shape meanwhile
            return listed(&l, 0, x.v.elements(), x.v.dtype)
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
        if not isinstance(fid, str) and not isinstance(fid, os.PathLike):
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
            return bool(only_value(self))
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
        if info(self.v.dtype).kind == b"f" and is_known(self):
            return float(only_value(self))
        return float(number(self, "?float()"))

    def __int__(self):
        if self.v.dtype == D_IL and is_known(self):
            return (<int64_t*>self.v.elements())[0]
        if self.v.dtype == D_F8 and is_known(self):
            return PyLong_FromDouble((<double*>self.v.elements())[0])
        if info(self.v.dtype).kind == b"f" and is_known(self):
            return int(only_value(self))
        return int(number(self, "?int()"))

    def __complex__(self):
        if self.v.dtype == D_F8 and is_known(self):
            return PyComplex_FromDoubles((<double*>self.v.elements())[0], 0)
        if self.v.dtype == D_C16 and is_known(self):
            return PyComplex_FromDoubles((<double*>self.v.elements())[0], (<double*>self.v.elements())[1])
        return complex(number(self, "?complex()"))

    def __round__(self, digits=None):
        if self.v.layout.ndim:
            raise TypeError("type NDArray with axes doesn't define __round__: use la.round")
        if self.v.dtype == D_BOOL:
            raise TypeError("type NDArray of bool doesn't define __round__ method")
        if self.v.drawn:  # as Python rounds
            return as_pythons(round(scalar(self, "?round()"), digits))
        return round(scalar(self, "?round()")) if digits is None else handed(functions.round(self, digits))

    def __trunc__(self):
        return int(number(self, "?trunc()"))

    def _as_named(self, values):
        """NumPy's array of the values, which a derived class has written by its own name."""
        return values

    def __repr__(self):
        cdef Tensor x = awaited(self, "?repr()")
        text = repr_of_one(only_value(x)) if x.v.layout.ndim == 0 and not is_derived(self) else None
        if text is None:
            text = repr(self._as_named(numpy_view(&x.v, False)))
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
        if not self.v.layout.ndim:  # as Python's number, also without a text
            return format(scalar(self, "?format()"), spec)
        if spec:
            raise TypeError("unsupported format string passed to lazyarray.NDArray.__format__")
        return str(self)


cdef object detached_in_graph(object notes, Tensor x):
    """The result of a node: a copy, as a node gives new arrays. It is read-only, as writes to it would not reach ``x``."""
    notes.begin("ndarray.detach", (x,), {})
    cdef Tensor t = None
    try:
        t = detached(x.copy(order="K"))
        t.v.readonly = True
        return t
    finally:
        notes.end(t)
