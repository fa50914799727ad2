# Basic indexing: the view that integers, slices, None and Ellipsis select.


cdef enum IndexKind:
    INDEX_VIEW
    INDEX_ELEMENT
    INDEX_ADVANCED


cdef str _NO_KEY = ("only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean "
                    "arrays are valid indices")


cdef bint element_at(Tensor x, object key, npy_intp* at) except -1:
    """Whether the key is nothing but an integer in bounds for each axis; the element's offset.

    An integer is Python's, or one that was computed and is there.
    """
    cdef Layout* l = &x.v.layout
    cdef npy_intp i, n
    cdef int axis
    at[0] = l.offset
    if type(key) is not tuple:
        if l.ndim != 1 or not index_of(key, &i):
            return False
        n = l.shape()[0]
        if i < -n or i >= n:
            return False
        at[0] += (i + n if i < 0 else i) * l.strides()[0]
        return True
    if len(<tuple>key) != l.ndim:
        return False
    for axis in range(l.ndim):
        if not index_of((<tuple>key)[axis], &i):
            return False
        n = l.shape()[axis]
        if i < -n or i >= n:
            return False
        at[0] += (i + n if i < 0 else i) * l.strides()[axis]
    return True


cdef bint flat_at(Tensor x, object key, npy_intp* at) except -1:
    """Whether the key names one of all elements in C order, as in `element_at`."""
    cdef Layout* l = &x.v.layout
    cdef npy_intp i, size = l.size()
    cdef int axis
    if type(key) is tuple or l.ndim < 2:
        return element_at(x, key, at)
    if not index_of(key, &i) or i < -size or i >= size:
        return False
    i += size if i < 0 else 0
    at[0] = l.offset
    for axis in reversed(range(l.ndim)):
        at[0] += i % l.shape()[axis] * l.strides()[axis]
        i //= l.shape()[axis]
    return True


cdef inline bint is_of_all(Tensor x, object key) noexcept:
    """Whether a key is that of the one element of an array without axes."""
    return not x.v.layout.ndim and type(key) is tuple and not (<tuple>key)


cdef bint has_axes(object value):
    """Whether a value is an array with axes, or a list."""
    if is_tensor(value):
        return (<Tensor>value).v.layout.ndim > 0
    return type(value) is list or type(value) is tuple or type(value) is np.ndarray and value.ndim > 0


cdef object like_numpys_element(Tensor to, object value):
    """What is no number as the value of an element: NumPy's error, if it has one, or the value to store."""
    # Values don't matter, and may not be there yet.
    if is_tensor(value):
        like = np.zeros(shape_tuple(&(<Tensor>value).v), np_dtype((<Tensor>value).v.dtype))
    else:
        like = value if type(value) is np.ndarray else type(value)()
    np.empty(1, np_dtype(to.v.dtype))[0] = like
    return value if type(value) is not list and type(value) is not tuple else len(value) > 0  # a bool's is the list's truth


cdef inline bint is_indices(object key) noexcept:
    """Whether a key is an array with axes, and so no basic one."""
    return is_tensor(key) and (<Tensor>key).v.layout.ndim


cdef inline bint is_lone_mask(object key) noexcept:
    """Whether a key is nothing but one of our masks."""
    return is_indices(key) and (<Tensor>key).v.dtype == D_BOOL


cdef enum:
    _LONGEST_RANGE = 1_000_000


cdef object plain_key(Tensor x, object key):
    """A key as the native ways know it: arrays for Python's ranges, and for tuples in it; slices for an ellipsis.

    Without the full slices behind an array, which change nothing: ``x[i, :]`` is ``x[i]``.
    """
    cdef bint changes = False
    cdef int dots = 0
    if type(key) is not tuple:
        return entry_of(key) if type(key) is range else key
    for part in <tuple>key:
        changes = changes or type(part) is range or type(part) is tuple
        dots += part is Ellipsis
    if changes:
        key = tuple([entry_of(part) for part in <tuple>key])
    if dots:
        return key if dots > 1 else without_dots(x, key)
    if ends_whole(<tuple>key) and axes_indexed(<tuple>key) <= x.v.layout.ndim:
        while ends_whole(<tuple>key):
            key = (<tuple>key)[:-1]
    return (<tuple>key)[0] if len(<tuple>key) == 1 and axes_of_array((<tuple>key)[0]) else key


cdef bint ends_whole(tuple key) except -1:
    """Whether a key's last entry is a full slice behind others."""
    return len(key) > 1 and type(key[-1]) is slice and key[-1] == _EVERYTHING


cdef int axes_indexed(tuple key) except -1:
    """How many axes a key indexes, at most: one that is too long is an error."""
    cdef int axes = 0
    for part in key:
        axes += max(axes_of_array(part), 1)
    return axes


cdef tuple without_dots(Tensor x, tuple key):
    """A key of slices, numbers and arrays with an ellipsis, which stands for some axes, by full slices."""
    cdef int axes = x.v.layout.ndim, one, place = 0, at
    cdef npy_intp number
    cdef bint arrays = False
    for at, part in enumerate(key):
        if part is Ellipsis:
            place = at
            continue
        one = axes_of_array(part)
        arrays = arrays or one > 0
        if not one and type(part) is not slice and not known_integer(part, &number):
            return key
        axes -= max(one, 1) if is_mask(part) else 1
    if not arrays or axes <= 0:
        return key
    return key[:place] + (_EVERYTHING,) * axes + key[place + 1:]


cdef object entry_of(object part):
    """An entry of a key: a range or a tuple as an array or a list, as NumPy takes them, if that is simple."""
    if type(part) is range:
        return np.arange(part.start, part.stop, part.step) if len(part) <= _LONGEST_RANGE else part
    if type(part) is tuple and part:
        first = (<tuple>part)[0]
        if type(first) is int:
            return list(<tuple>part)
        if len(<tuple>part) == 1 and type(first) is not list and axes_of_array(first):
            return first[None]  # what nonzero gives for a vector
    return part


cdef inline bint is_index(object o) except -1:
    """Whether it is an integer to Python, but none of Python's or NumPy's own: SymPy's, a tensor of a framework."""
    return PyIndex_Check(o) and type(o) is not bool and not isinstance(o, Tensor) and not isinstance(o, _numpys_own)


cdef tuple _numpys_own = (np.ndarray, np.generic)


cdef tuple with_integers(tuple keys):
    """The entries of a key with Python's integers for such; None: one has no integer to give."""
    try:
        return tuple([index(k) if is_index(k) else k for k in keys])
    except Exception:  # NumPy asks whether it is an array then
        return None


cdef object with_numbers(Tensor x, object key, bint reads):
    """A key with its 0-d integer arrays as the numbers they hold, where it is a basic one then.

    None for any other key. ``A[i]`` is a view, also where the scalar ``i`` was computed, so reading
    waits for ``i``; not so where an element is selected, or where ``i`` is an array without axes:
    NumPy gives a copy there, which a gather makes. Writing needs no view, so it takes only the
    numbers that are there.
    """
    cdef Tensor t
    cdef int used = 0
    cdef bint found = False, views = False
    if reads and is_tensor(key) and x.v.layout.ndim > 1:  # the commonest, by a shorter way
        t = <Tensor>key
        if is_scalar(t) and info(t.v.dtype).kind in b"iu":
            return scalar(t, "?an index of a view")
        return None
    cdef tuple keys = key if type(key) is tuple else (key,)
    cdef list plain = []
    for k in keys:
        if isinstance(k, Tensor):
            t = <Tensor>k
            if t.v.layout.ndim or info(t.v.dtype).kind not in b"iu" or reads and not is_scalar(t):
                return None
            found = True
            used += 1
        elif k is None or k is Ellipsis:
            views = True
        elif isinstance(k, slice):
            views = True
            used += 1
        elif isinstance(k, int) and type(k) is not bool or is_of(k, np.integer) or is_index(k):
            used += 1
        else:
            return None
    if not found or reads and used >= x.v.layout.ndim and not views:
        return None
    for k in keys:
        if isinstance(k, Tensor):
            t = <Tensor>k
            if reads:
                k = scalar(t, "?an index of a view")
            elif t.v.chunk.plain() and t.v.chunk.readable() and t.v.chunk.error.load() is NULL:
                k = only_element(settled(t, False))
            else:
                return None
        plain.append(k)
    return tuple(plain) if type(key) is tuple else plain[0]


cdef object _EVERYTHING = slice(None)


cdef int axes_of_array(object o) except -1:
    """How many axes an entry of a key indexes, if it is an array or a list of integers; else 0."""
    if is_mask(o):
        return o.ndim
    if isinstance(o, Tensor) or type(o) is np.ndarray and o.dtype.kind in "iu":
        return o.ndim > 0
    return type(o) is list and len(<list>o) > 0 and type((<list>o)[0]) is int


cdef tuple basic_first(Tensor x, object key):
    """A view by a key's slices, and its numbers, and what is left of the key; None: the key has none, or they mix.

    ``x[i, :2]`` is ``x[:, :2][i]``, and ``x[mask, 2]`` is ``x[:, 2][mask]``: native ways know keys of arrays with
    nothing but full slices around them. Numbers are indices to NumPy: with a slice between them and an array the
    indexed axes come first in the result (``x[2, :, i]``), and in no view's.
    """
    cdef list view = [], left = []
    cdef int arrays = 0, masks = 0, axes, kind
    cdef npy_intp at
    cdef bint cuts = False, numbers = False, slice_before = False, slice_behind = False
    if type(key) is not tuple or len(<tuple>key) < 2:
        return None
    for o in <tuple>key:
        if type(o) is slice:
            if numbers and not arrays:
                return None
            slice_before, slice_behind = slice_before or not arrays, arrays > 0
            cuts = cuts or (<slice>o).start is not None or (<slice>o).stop is not None or (<slice>o).step is not None
            view.append(o)
            left.append(_EVERYTHING)
        elif known_integer(o, &at):
            if slice_before and slice_behind:
                return None
            numbers = True
            view.append(o)
        elif o is Ellipsis and masks:
            slice_behind = True
            view.append(o)
            left.append(_EVERYTHING)
        else:
            axes = axes_of_array(o)
            if not axes or slice_behind:
                return None
            arrays += 1
            masks += is_mask(o)
            view.extend([_EVERYTHING] * axes)
            left.append(o)
    if not arrays or arrays > 1 and (masks or numbers) or not cuts and not (masks and (numbers or slice_behind)):
        return None
    if masks:  # what is behind it is selected whole in any case
        while left[-1] is _EVERYTHING:
            left.pop()
    return basic_view(x, tuple(view), &kind), left[0] if len(left) == 1 else tuple(left)


cdef bint has_matrix(object value):
    """Whether a value has several axes: what a mask of all axes selects takes none, that of some does."""
    if type(value) is list or type(value) is tuple:
        return any(isinstance(v, (list, tuple, Tensor)) or cnp.PyArray_Check(v) for v in value)
    return value.ndim > 1 if isinstance(value, Tensor) or cnp.PyArray_Check(value) else False


cdef Tensor row_at(Tensor x, npy_intp i):
    """``x[i]`` of an array of two axes or more; ``i`` lies within its length."""
    cdef Layout* l = &x.v.layout
    cdef Tensor v = view_of(x)
    v.v.layout.resize(l.ndim - 1)
    v.v.layout.offset = l.offset + i * l.strides()[0]
    memcpy(v.v.layout.shape(), l.shape() + 1, (l.ndim - 1) * sizeof(npy_intp))
    memcpy(v.v.layout.strides(), l.strides() + 1, (l.ndim - 1) * sizeof(npy_intp))
    return v


cdef Tensor whole_of(Tensor x):
    """``x[...]``."""
    cdef Layout* l = &x.v.layout
    cdef Tensor v = view_of(x)
    v.v.layout.resize(l.ndim)
    memcpy(v.v.layout.shape(), l.shape(), l.ndim * sizeof(npy_intp))
    memcpy(v.v.layout.strides(), l.strides(), l.ndim * sizeof(npy_intp))
    return v


cdef Tensor view_of_one(Tensor x, object key):
    """The view by one slice or ``...``, or by one integer in bounds of an array of two axes or more; else None."""
    cdef Layout* l = &x.v.layout
    cdef npy_intp n, start, stop, step
    cdef Tensor v
    if type(key) is slice and l.ndim:
        PySlice_Unpack(key, &start, &stop, &step)
        n = PySlice_AdjustIndices(l.shape()[0], &start, &stop, step)
        v = whole_of(x)
        v.v.layout.offset += start * l.strides()[0] if n > 0 else 0
        v.v.layout.shape()[0] = n
        v.v.layout.strides()[0] = step * l.strides()[0]
        return v
    if key is Ellipsis:
        return whole_of(x)
    if l.ndim > 1 and known_integer(key, &n) and -l.shape()[0] <= n < l.shape()[0]:
        return row_at(x, n + l.shape()[0] if n < 0 else n)
    return None


cdef Tensor basic_view(Tensor x, object key, int* kind):
    """The view that a basic index selects, or None (kind INDEX_ADVANCED) for any other index."""
    cdef Tensor v = view_of_one(x, key)
    if v is not None:
        kind[0] = INDEX_VIEW
        return v
    cdef npy_intp shape[2 * kMaxDims]
    cdef npy_intp strides[2 * kMaxDims]
    cdef npy_intp offset = 0, n, i, start, stop, step
    cdef Layout* l = &x.v.layout
    cdef int axis = 0, out = 0, j, used = 0
    cdef bint ellipsis = False, computed = False, views = False
    cdef tuple keys = key if type(key) is tuple else (key,)
    for k in keys:
        if k is None:
            views = True
            continue
        if k is Ellipsis:
            if ellipsis:
                raise IndexError("an index can only have a single ellipsis ('...')")
            ellipsis = views = True
            continue
        t = type(k)
        if t is int or t is slice:
            used += 1
            views = views or t is slice
            continue
        if known_integer(k, &i):
            used += 1
            computed = True
            continue
        if is_of(k, np.integer) or isinstance(k, int) and t is not bool:
            used += 1
            continue
        if is_index(k):
            keys = with_integers(keys)
            if keys is not None:
                return basic_view(x, keys, kind)
        kind[0] = INDEX_ADVANCED
        return None
    if computed and used >= l.ndim and not views:  # an element, which a gather makes
        kind[0] = INDEX_ADVANCED
        return None
    if used > l.ndim:
        raise IndexError(f"too many indices for array: array is {l.ndim}-dimensional, but "
                         f"{used} were indexed")
    kind[0] = INDEX_VIEW
    cdef bint all_ints = used == l.ndim and not ellipsis
    for k in keys:
        if k is None:
            shape[out] = 1
            strides[out] = 0
            out += 1
            all_ints = False
        elif k is Ellipsis:
            for j in range(l.ndim - used):
                shape[out] = l.shape()[axis]
                strides[out] = l.strides()[axis]
                out += 1
                axis += 1
        elif isinstance(k, slice):
            n = l.shape()[axis]
            PySlice_Unpack(k, &start, &stop, &step)
            n = PySlice_AdjustIndices(n, &start, &stop, step)
            if n > 0:
                offset += start * l.strides()[axis]
            shape[out] = n
            strides[out] = step * l.strides()[axis]
            out += 1
            axis += 1
            all_ints = False
        else:
            n = l.shape()[axis]
            try:
                if not known_integer(k, &i):
                    i = PyNumber_AsSsize_t(k, IndexError)
            except TypeError:  # a timedelta64 is an integer by its type alone
                raise IndexError(_NO_KEY) from None
            if i < -n or i >= n:
                raise IndexError(f"index {k} is out of bounds for axis {axis} with size {n}")
            offset += (i + n if i < 0 else i) * l.strides()[axis]
            axis += 1
        if out > kMaxDims:
            raise IndexError(f"number of dimensions must be within [0, {kMaxDims}]")
    while axis < l.ndim:
        shape[out] = l.shape()[axis]
        strides[out] = l.strides()[axis]
        out += 1
        axis += 1
    if out > kMaxDims:
        raise IndexError(f"number of dimensions must be within [0, {kMaxDims}], indexing result "
                         f"would have {out}")
    if all_ints:
        kind[0] = INDEX_ELEMENT
    v = view_of(x)
    v.v.layout.resize(out)
    v.v.layout.offset = x.v.layout.offset + offset
    if out:
        memcpy(v.v.layout.shape(), shape, out * sizeof(npy_intp))
        memcpy(v.v.layout.strides(), strides, out * sizeof(npy_intp))
    return v
