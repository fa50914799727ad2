# Native views: no values are read, so they are the same at any time.


cdef Tensor reshaped(Tensor x, object shape, object order):
    """The elements in a shape of integers, of which one may be -1, and in the order "C" or "F".

    A view where NumPy's is one; a copy where that is not seen by others. None for anything else.
    """
    cdef npy_intp dims[kMaxDims]
    cdef npy_intp steps[kMaxDims]
    cdef npy_intp size = x.v.layout.size(), itemsize = x.v.itemsize(), product = 1
    cdef int i, n, unknown = -1
    cdef bint fortran = type(order) is str and order == "F", whole, same, narrow = False
    cdef tuple lengths = (shape,) if type(shape) is int or is_tensor(shape) else tuple(shape) if type(shape) is list else \
        shape if type(shape) is tuple else None
    if lengths is None or len(lengths) > kMaxDims or not size or not fortran and (type(order) is not str or order != "C"):
        return None
    n = len(lengths)
    for i in range(n):
        length = lengths[n - 1 - i if fortran else i]
        if not known_integer(length, &dims[i]):
            return None
        if dims[i] == -1 and unknown < 0:
            unknown = i
        elif dims[i] <= 0 or dims[i] > size:
            return None
        elif product > size // dims[i]:  # their product need not be an integer of 64 bits
            return None
        else:
            product *= dims[i]
    if unknown >= 0:
        dims[unknown] = size // product
        product *= dims[unknown]
    if product != size:
        return None
    if is_scalar(x):
        return boxed(x, n) if n else None
    same = n == x.v.layout.ndim and unknown < 0  # as NumPy, which looks at the lengths that are given
    for i in range(n):
        same = same and dims[n - 1 - i if fortran else i] == x.v.layout.shape()[i]
        narrow = narrow or dims[i] == 1
    cdef Tensor t
    if same:
        t = view_of(x)
        t.v.layout = x.v.layout
        return t
    # Fortran's order is that of C, of all axes in the reverse order.
    t = transposed(x) if fortran and x.v.layout.ndim > 1 else x
    whole = contiguous(t)
    if not whole and fortran and narrow:
        return None  # NumPy gives axes of length one other steps
    if not whole and not t.v.layout.reshape(n, dims, itemsize, steps):
        if not lone_ops() or not is_ours(x):
            return None
        t = laid_out(t)
        whole = True
    t = view_of(t)
    t.v.layout.resize(n)
    if n:
        memcpy(t.v.layout.shape(), dims, n * sizeof(npy_intp))
    if whole:
        t.v.layout.set_c_order(itemsize)
    elif n:
        memcpy(t.v.layout.strides(), steps, n * sizeof(npy_intp))
    return transposed(t) if fortran and n > 1 else t


cdef Tensor laid_out(Tensor x):
    """A copy in C order."""
    cdef Tensor t = ordered_copy(x, False)
    return cast_c(x, x.v.dtype) if t is None else t


cdef object quick_reshape(PyObject** args, Py_ssize_t n):
    if n != 2 and n != 3 or not is_tensor(<object>args[0]):
        return None
    return reshaped(<Tensor>args[0], <object>args[1], "C" if n == 2 else <object>args[2])


cdef Tensor raveled(Tensor x):
    """A view of a C-ordered array as a vector; None for any other."""
    cdef npy_intp size = x.v.layout.size()
    if is_scalar(x):
        return boxed(x, 1)
    if not contiguous(x):
        return None
    cdef Tensor t = view_of(x)
    t.v.layout.resize(1)
    t.v.layout.shape()[0] = size
    t.v.layout.strides()[0] = x.v.itemsize()
    return t


cdef Tensor raveled_in(Tensor x, object order, bint copy):
    """All elements in the order "C" or "F", as a view if they lie so and ``copy`` is false.

    None for another order, and where a copy would be seen by others.
    """
    cdef Tensor t = x
    if type(order) is not str or order != "C" and order != "F":
        return None
    if order == "F" and x.v.layout.ndim > 1:
        t = transposed(x)
    if not lone_ops():
        return None if copy else raveled(t)
    if contiguous(t):
        return raveled(duplicate(t) if copy else t)
    return raveled(laid_out(t))


cdef object quick_ravel(PyObject** args, Py_ssize_t n):
    if n != 1 and n != 2 or not is_tensor(<object>args[0]):
        return None
    return raveled_in(<Tensor>args[0], "C" if n == 1 else <object>args[1], False)


cdef Tensor permuted(Tensor x, int ndim, const int* axes):
    """A view with these of the array's axes, in this order; -1 is a new one, of length one."""
    cdef Tensor t = view_of(x)
    cdef int i
    t.v.layout.resize(ndim)
    for i in range(ndim):
        t.v.layout.shape()[i] = 1 if axes[i] < 0 else x.v.layout.shape()[axes[i]]
        t.v.layout.strides()[i] = 0 if axes[i] < 0 else x.v.layout.strides()[axes[i]]
    return t


cdef object quick_transpose(PyObject** args, Py_ssize_t n):
    cdef Tensor t = first_array(args) if n == 1 or n == 2 else None
    if t is None:
        return None
    return transposed(t) if n == 1 or <object>args[1] is None else reordered(t, <object>args[1])


cdef Tensor reordered(Tensor t, object order):
    """A view with all axes in the order of a tuple of Python's numbers; None for anything else."""
    cdef int axes[kMaxDims]
    cdef int i, n = t.v.layout.ndim
    cdef uint64_t used = 0
    if type(order) is not tuple or len(<tuple>order) != n:
        return None
    for i in range(n):
        axes[i] = axis_of((<tuple>order)[i], n)
        if axes[i] < 0 or used >> axes[i] & 1:
            return None
        used |= <uint64_t>1 << axes[i]
    return permuted(t, n, axes)


cdef Tensor transposed(Tensor t):
    """A view with the axes in the reverse order."""
    cdef int axes[kMaxDims]
    cdef int i
    for i in range(t.v.layout.ndim):
        axes[i] = t.v.layout.ndim - 1 - i
    return permuted(t, t.v.layout.ndim, axes)


cdef object quick_squeeze(PyObject** args, Py_ssize_t n):
    cdef Tensor t = first_array(args) if n == 1 or n == 2 and <object>args[1] is None else None
    return None if t is None else squeezed(t)


cdef Tensor squeezed(Tensor t):
    """A view without the axes of length one; the array itself, as NumPy, where it has none."""
    cdef int axes[kMaxDims]
    cdef int i, n = 0
    for i in range(t.v.layout.ndim):
        if t.v.layout.shape()[i] != 1:
            axes[n] = i
            n += 1
    return t if n == t.v.layout.ndim else permuted(t, n, axes)


cdef object with_axis(Tensor t, int at):
    cdef int axes[kMaxDims + 1]
    cdef int i, n = t.v.layout.ndim + 1
    if n > kMaxDims:
        return None
    for i in range(n):
        axes[i] = -1 if i == at else i - (i > at)
    return permuted(t, n, axes)


cdef object quick_expand_dims(PyObject** args, Py_ssize_t n):
    cdef int overflow = 0, ndim
    cdef long at
    cdef Tensor t = first_array(args) if n == 2 else None
    if t is None or type(<object>args[1]) is not int or not contiguous(t):
        return None
    ndim = t.v.layout.ndim + 1
    at = PyLong_AsLongAndOverflow(<object>args[1], &overflow)
    if overflow or at < -ndim or at >= ndim:
        return None
    t = with_axis(t, at + ndim if at < 0 else at)
    if t is not None:
        t.v.layout.set_c_order(t.v.itemsize())
    return t


cdef object each_by_itself(Quick way, PyObject** args, Py_ssize_t n):
    """What the way gives for each of several arguments; None where it gives none for one."""
    cdef Py_ssize_t i
    found = []
    for i in range(n):
        one = way(args + i, 1)
        if one is None:
            return None
        found.append(one)
    return tuple(found)


cdef object quick_atleast_1d(PyObject** args, Py_ssize_t n):
    if n > 1:
        return each_by_itself(quick_atleast_1d, args, n)
    cdef Tensor t = only(args, n)
    if t is None:
        return lone_boxed(args, n, 1, quick_atleast_1d)
    return t if t.v.layout.ndim else None


cdef object quick_atleast_2d(PyObject** args, Py_ssize_t n):
    if n > 1:
        return each_by_itself(quick_atleast_2d, args, n)
    cdef Tensor t = only(args, n)
    if t is None:
        return lone_boxed(args, n, 2, quick_atleast_2d)
    if t.v.layout.ndim < 1:
        return None
    return with_axis(t, 0) if t.v.layout.ndim == 1 else t


cdef object quick_atleast_3d(PyObject** args, Py_ssize_t n):
    if n > 1:
        return each_by_itself(quick_atleast_3d, args, n)
    cdef Tensor t = only(args, n)
    cdef int axes[3]
    if t is None:
        return lone_boxed(args, n, 3, quick_atleast_3d)
    if t.v.layout.ndim == 0 or t.v.layout.ndim >= 3:
        return t if t.v.layout.ndim else None
    axes[0], axes[1], axes[2] = (-1, 0, -1) if t.v.layout.ndim == 1 else (0, 1, -1)
    return permuted(t, 3, axes)


cdef Tensor swapped(Tensor x, object first, object second):
    """A view with two axes exchanged; None where that isn't simple."""
    cdef int axes[kMaxDims]
    cdef int i, n = x.v.layout.ndim
    cdef int a = axis_of(first, n), b = axis_of(second, n)
    if a < 0 or b < 0 or is_scalar(x):
        return None
    for i in range(n):
        axes[i] = b if i == a else a if i == b else i
    return permuted(x, n, axes)


cdef int axis_of(object axis, int ndim) noexcept:
    """The number of an axis, Python's int; -1 for anything else."""
    cdef int overflow = 0
    if type(axis) is not int:
        return -1
    cdef long n = PyLong_AsLongAndOverflow(axis, &overflow)
    return -1 if overflow or n < -ndim or n >= ndim else n + ndim if n < 0 else n


cdef Tensor diagonal_of(Tensor x, object offset, object first, object second):
    """A view of the diagonal of two axes, as the last axis; None where that isn't simple."""
    cdef Layout* l = &x.v.layout
    cdef int axes[kMaxDims]
    cdef int i, n = 0, overflow = 0
    cdef int a = axis_of(first, l.ndim), b = axis_of(second, l.ndim)
    if a < 0 or b < 0 or a == b or type(offset) is not int:
        return None
    cdef long k = PyLong_AsLongAndOverflow(offset, &overflow)
    cdef npy_intp rows = l.shape()[a], columns = l.shape()[b]
    if overflow or k > columns or k < -rows:
        return None
    for i in range(l.ndim):
        if i != a and i != b:
            axes[n] = i
            n += 1
    axes[n] = a
    cdef Tensor t = permuted(x, n + 1, axes)
    cdef npy_intp length = min(rows + min(k, 0), columns - max(k, 0))
    t.v.layout.shape()[n] = length
    t.v.layout.strides()[n] = l.strides()[a] + l.strides()[b]
    if length:
        t.v.layout.offset += k * l.strides()[b] if k > 0 else -k * l.strides()[a]
    t.v.readonly = True  # as NumPy's
    return t


cdef object quick_diagonal(PyObject** args, Py_ssize_t n):
    cdef Tensor t = only(args, n)
    return None if t is None else diagonal_of(t, 0, 0, 1)


cdef object quick_matrix_diagonal(PyObject** args, Py_ssize_t n):
    cdef Tensor t = only(args, n)
    return None if t is None else diagonal_of(t, 0, -2, -1)


cdef object quick_moveaxis(PyObject** args, Py_ssize_t n):
    """A view with one axis at another place."""
    cdef Tensor t = first_array(args) if n == 3 else None
    cdef int ndim = 0 if t is None else t.v.layout.ndim
    cdef int a = axis_of(<object>args[1], ndim) if ndim else -1
    cdef int b = axis_of(<object>args[2], ndim) if ndim else -1
    return None if a < 0 or b < 0 else axis_moved(t, a, b)


cdef object quick_rollaxis(PyObject** args, Py_ssize_t n):
    """A view with one axis in front."""
    cdef Tensor t = first_array(args) if n == 2 else None
    cdef int a = -1 if t is None else axis_of(<object>args[1], t.v.layout.ndim)
    return None if a < 0 else axis_moved(t, a, 0)


cdef Tensor axis_moved(Tensor t, int a, int b):
    cdef int axes[kMaxDims]
    cdef int i, k = 0
    for i in range(t.v.layout.ndim):
        if i == b:
            axes[i] = a
            continue
        if k == a:
            k += 1
        axes[i] = k
        k += 1
    return permuted(t, t.v.layout.ndim, axes)


cdef Tensor part_of(Tensor x, int which):
    """The real (0) or imaginary (1) part of a complex array as a view, or zeros of a small real one; else None."""
    cdef Tensor t
    if is_scalar(x) or not lone_ops():
        return None
    if info(x.v.dtype).kind != b"c":
        return zeros_beside(x) if which else None
    t = same_view(x)
    t.v.dtype = D_F8 if x.v.dtype == D_C16 else dtype_code(chr(info(x.v.dtype).code).lower())
    t.v.layout.offset += which * t.v.itemsize()
    return t


cdef Tensor zeros_beside(Tensor x):
    """The imaginary part of a small real array, which nobody may write to; None of any other."""
    cdef Tensor t
    if not may_run_now() or not (x.v.device() == cpu0()):
        return None
    t = small_array(x.v.dtype, x.v.layout.ndim, x.v.layout.shape(), True)
    if t is None:
        return None
    memset(t.v.chunk.data, 0, t.v.chunk.nbytes)
    if in_fortran_order(x):
        lay_in_fortran_order(t)
    t.v.readonly = True
    return written(t)


cdef Tensor same_view(Tensor x):
    """Another view of all of an array."""
    cdef Tensor t = view_of(x)
    t.v.layout = x.v.layout
    return t


cdef object quick_real(PyObject** args, Py_ssize_t n):
    cdef Tensor t = only_tensor(args, n)
    if t is None or info(t.v.dtype).kind != b"c":
        return t
    return quick_part(t, 0) if is_scalar(t) else part_of(t, 0)


cdef object quick_imag(PyObject** args, Py_ssize_t n):
    cdef Tensor t = only_tensor(args, n)
    if t is None:
        return None
    return quick_part(t, 1) if is_scalar(t) else part_of(t, 1)


cdef int native_code(object dtype):
    """The code of a dtype in the machine's byte order, or of the name or type of one; -1 for any other."""
    try:
        if isinstance(dtype, str):
            dtype = np.dtype(dtype)
        if isinstance(dtype, type) or isinstance(dtype, cnp.dtype) and dtype.isnative:
            return dtype_code(dtype)
    except Exception:
        pass
    return -1


cdef Tensor viewed_as(Tensor x, object dtype):
    """A view of the same bytes as numbers of another dtype (None: its own), which is no larger; None for any other."""
    if is_scalar(x) or not lone_ops():
        return None
    cdef int code = x.v.dtype if dtype is None else native_code(dtype), last = x.v.layout.ndim - 1
    cdef npy_intp size = x.v.itemsize()
    if code < 0 or size % info(code).size or info(code).align > info(x.v.dtype).align:
        return None
    if info(code).size != size and (last < 0 or x.v.layout.strides()[last] != size):
        return None
    cdef Tensor t = same_view(x)
    t.v.dtype = code
    if info(code).size != size:  # each element is several
        t.v.layout.shape()[last] *= size // info(code).size
        t.v.layout.strides()[last] = info(code).size
    return t


cdef Tensor duplicate(Tensor x):
    """A copy of an array in C order."""
    cdef Tensor t
    if may_run_now() and x.v.near():
        t = small_array(x.v.dtype, x.v.layout.ndim, x.v.layout.shape())
        if t is not None:
            memcpy(t.v.chunk.data, x.v.elements(), t.v.chunk.nbytes)
            return written(t)
    return cast(x, x.v.dtype)


cdef Tensor ordered_copy(Tensor x, bint fortran):
    """A copy of a small array that is at hand, in C or Fortran order; None for any other."""
    cdef Layout* l = &x.v.layout
    cdef npy_intp size = x.v.itemsize()
    cdef Tensor t
    if not may_run_now() or not x.v.near():
        return None
    t = small_array(x.v.dtype, l.ndim, l.shape(), True)
    if t is None:
        return None
    if fortran:
        lay_in_fortran_order(t)
    copy_steps(<int>size, t.v.chunk.data, t.v.layout.strides(), x.v.elements(), l.strides(), l.shape(), l.ndim)
    return written(t)


cdef object quick_ascontiguousarray(PyObject** args, Py_ssize_t n):
    cdef Tensor t = only_tensor(args, n)
    if t is None or t.v.layout.ndim == 0:
        return None if t is None else boxed(t, 1)
    return t if contiguous(t) else ordered_copy(t, False)


cdef object quick_asfortranarray(PyObject** args, Py_ssize_t n):
    cdef Tensor t = only_tensor(args, n)
    if t is None or t.v.layout.ndim == 0:
        return None if t is None else boxed(t, 1)
    return t if t.v.layout.f_contiguous(t.v.itemsize()) else ordered_copy(t, True)


cdef object quick_copy_method(PyObject** args, Py_ssize_t n):
    """A copy in C or Fortran order, or as the array lies, where that is one of these."""
    cdef Tensor t = first_array(args) if n == 1 or n == 2 else None
    if t is None:
        return None
    order = "C" if n == 1 else <object>args[1]
    if type(order) is not str:
        return None
    if order == "K":
        order = "C" if contiguous(t) else "F" if in_fortran_order(t) else "K"
    if order != "C" and order != "F":
        return None
    return duplicate(t) if order == "C" and contiguous(t) else ordered_copy(t, order == "F")


cdef Tensor boxed(Tensor x, int ndim):
    """An array of one element, with so many axes, of a scalar that is at hand; None for any other."""
    cdef npy_intp shape[3]
    cdef Tensor t
    if not is_scalar(x) or ndim > 3 or not may_run_now() or not x.v.near():
        return None
    shape[0] = shape[1] = shape[2] = 1
    t = small_array(x.v.dtype, ndim, shape)
    if t is None:
        return None
    memcpy(t.v.chunk.data, x.v.elements(), x.v.itemsize())
    return written(t)


cdef object lone_boxed(PyObject** args, Py_ssize_t n, int ndim, Quick way):
    """A scalar or number of Python's with so many axes, or what the way makes of a list's array; else None."""
    cdef Tensor t
    cdef PyObject* made
    if n == 1 and is_tensor(<object>args[0]):
        return boxed(<Tensor>args[0], ndim)
    t = new_array(args, n, True) if n == 1 and type(<object>args[0]) in _NUMBERS_OR_LIST else None
    if t is None:
        return None
    if t.v.layout.ndim:
        made = <PyObject*>t
        return way(&made, 1)
    while t.v.layout.ndim < ndim:
        t = with_axis(t, 0)
    return t


cdef frozenset _NUMBERS_OR_LIST = frozenset((float, int, complex, list))


cdef bint apart_in_memory(Tensor a, Tensor b) noexcept:
    """Whether the ranges of memory that two arrays lie in have no byte in common."""
    cdef npy_intp low = 0, high = 0, other_low = 0, other_high = 0
    if not a.v.same_memory(b.v):
        return True
    a.v.layout.extent(a.v.itemsize(), low, high)
    b.v.layout.extent(b.v.itemsize(), other_low, other_high)
    return low >= other_high or other_low >= high


cdef object quick_may_share_memory(PyObject** args, Py_ssize_t n):
    if n != 2 or not is_own(<object>args[0]) or not is_own(<object>args[1]):
        return None
    return not apart_in_memory(<Tensor>args[0], <Tensor>args[1])


cdef object quick_shares_memory(PyObject** args, Py_ssize_t n):
    if n != 2 or not is_own(<object>args[0]) or not is_own(<object>args[1]):
        return None
    if apart_in_memory(<Tensor>args[0], <Tensor>args[1]):
        return False
    # What has no gaps in the memory shares what lies in it.
    return True if contiguous(<Tensor>args[0]) and contiguous(<Tensor>args[1]) else None


cdef bint is_own(object o) noexcept:
    """Whether ``o`` is an array on memory that is ours alone."""
    return is_tensor(o) and ((<Tensor>o).v.alone() or not (<Tensor>o).v.chunk.foreign())


cdef object quick_isfortran(PyObject** args, Py_ssize_t n):
    cdef Tensor t = only_tensor(args, n)
    return None if t is None else in_fortran_order(t)


cdef bint in_fortran_order(Tensor t) noexcept:
    return t.v.layout.f_contiguous(t.v.itemsize()) and not contiguous(t)


def lies_in(Tensor x not None, str order):
    """Whether the elements lie without gaps in C order ("C"), or in Fortran's ("F")."""
    return contiguous(x) if order == "C" else x.v.layout.f_contiguous(x.v.itemsize())


cdef class FlagsOf:
    """The part of ``x.flags`` that is asked most: how the elements lie."""

    cdef readonly Tensor _x

    def __init__(self, Tensor x not None):
        self._x = x

    @property
    def c_contiguous(self):
        """As ``numpy.ndarray.flags.c_contiguous``."""
        return contiguous(self._x)

    @property
    def contiguous(self):
        """As ``numpy.ndarray.flags.contiguous``."""
        return contiguous(self._x)

    @property
    def f_contiguous(self):
        """As ``numpy.ndarray.flags.f_contiguous``."""
        return bool(self._x.v.layout.f_contiguous(self._x.v.itemsize()))

    @property
    def fortran(self):
        """As ``numpy.ndarray.flags.fortran``."""
        return bool(self._x.v.layout.f_contiguous(self._x.v.itemsize()))

    def __getitem__(self, key):
        if key == "C_CONTIGUOUS":
            return contiguous(self._x)
        if key == "F_CONTIGUOUS":
            return bool(self._x.v.layout.f_contiguous(self._x.v.itemsize()))
        return self._item(key)


cdef class BroadcastOf:
    """The part of ``broadcast`` that is asked most: the common shape."""

    cdef readonly object _arrays
    cdef tuple lengths

    def __init__(self, *arrays):
        cdef const View* views[_DIRECT_ARGUMENTS]
        cdef Layout space
        cdef int i, n = len(arrays)
        if 0 < n <= _DIRECT_ARGUMENTS:
            for i in range(n):
                if Py_TYPE(arrays[i]) != type_of_arrays():
                    break
                views[i] = &(<Tensor>arrays[i]).v
            else:
                try:
                    broadcast(views, n, &space)
                    self._arrays, self.lengths = arrays, tuple([space.shape()[i] for i in range(space.ndim)])
                    return
                except ValueError:
                    pass  # NumPy has words of its own
        self._arrays, self.lengths = self._taken(arrays)

    @property
    def shape(self):
        """The common shape."""
        return self.lengths


cdef class FlatOf:
    """The part of ``x.flat`` that is asked most: the element of a number, and one after the other."""

    cdef readonly Tensor _x
    cdef readonly npy_intp index

    def __cinit__(self, Tensor x not None):
        self._x = x
        self.index = 0  #: the number of the element that comes next

    def __getitem__(self, key):
        cdef int overflow = 0
        if type(key) is int \
                and 0 <= PyLong_AsLongAndOverflow(key, &overflow) < self._x.v.layout.size() and not overflow:
            return self.element(<npy_intp>key)
        cdef Tensor vector = raveled(self._x) if is_ours(self._x) else None, part = None
        if vector is not None and type(key) is slice:
            part = PyObject_GetItem(vector, key)
            return duplicate(part) if contiguous(part) else cast_c(part, part.v.dtype)
        if vector is not None and type(key) is list:
            part = picked_elements(vector, key)
        return part if part is not None else handed(self._item(key))

    def __setitem__(self, key, value):
        cdef int overflow = 0
        if type(key) is int and is_ours(self._x) \
                and 0 <= PyLong_AsLongAndOverflow(key, &overflow) < self._x.v.layout.size() and not overflow \
                and set_element(self._x, self.offset(<npy_intp>key), value):
            return
        self._store(key, value)

    def __iter__(self):
        return self

    def __next__(self):
        if self.index >= self._x.v.layout.size():
            raise StopIteration
        found = self.element(self.index)
        self.index += 1
        return found

    cdef npy_intp offset(self, npy_intp i) noexcept:
        """Where in the memory the i-th element lies."""
        cdef Layout* l = &self._x.v.layout
        cdef npy_intp offset = l.offset
        cdef int axis
        for axis in range(l.ndim - 1, -1, -1):
            offset += i % l.shape()[axis] * l.strides()[axis]
            i //= l.shape()[axis]
        return offset

    cdef object element(self, npy_intp i):
        """The i-th element; ``i`` is in bounds."""
        cdef Tensor t
        if is_ours(self._x):
            t = get_element(self._x, self.offset(i))
            if t is not None:
                return handed(t)
        return handed(PyObject_GetItem(self._x, self._place(i)))
