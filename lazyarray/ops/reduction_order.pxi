# The order in which a reduction goes over the axes of an array: NumPy's, or what we leave to NumPy.


cdef enum:
    _BUFFER = 8192  # elements: np.getbufsize()
    _SHORT_ROW = 32  # elements: each takes a call of a loop; of short ones a cast and the compiled tier are faster


cdef bint _cuts_long_rows = not _numpy_facts.BUFFERS_WHERE_IT_PAYS


cdef struct Axes:
    # Those of more than one place, the ones with the longest steps first, joined where that skips nothing.
    int n
    npy_intp shape[kMaxDims]
    npy_intp si[kMaxDims]  # steps of the operand, in bytes
    npy_intp so[kMaxDims]  # of the result
    unsigned int reduced  # bits
    bint contiguous  # the operand


cdef bint lies_forwards(Layout* l) noexcept:
    """Whether the axes of an array lie in memory slowest first, and none goes backwards."""
    cdef npy_intp last = PY_SSIZE_T_MAX, step
    cdef int i
    for i in range(l.ndim):
        if l.shape()[i] > 1:
            step = l.strides()[i]
            if step < 0 or step > last:
                return False
            last = step
    return True


cdef bint goes_backwards(const Layout* l) noexcept:
    """Whether a step along an axis is one down."""
    cdef int i
    for i in range(l.ndim):
        if l.strides()[i] < 0 and l.shape()[i] > 1:
            return True
    return False


cdef bint slowest_first(const Layout* l, npy_intp item, int* order) noexcept:
    """Sorts axes by their steps, as NumPy's iterator does; whether the array is then contiguous.

    As they are if some have no steps: these have no place of their own there.
    """
    cdef int i, j, a
    for i in range(l.ndim):
        if l.strides()[i] == 0 and l.shape()[i] > 1:
            return False
    for i in range(1, l.ndim):
        a = order[i]
        j = i
        while j > 0 and abs(l.strides()[order[j - 1]]) < abs(l.strides()[a]):
            order[j] = order[j - 1]
            j -= 1
        order[j] = a
    for i in range(l.ndim - 1, -1, -1):
        a = order[i]
        if l.shape()[a] > 1:
            if l.strides()[a] != item:
                return False
            item *= l.shape()[a]
    return True


cdef int kept_axes(const Layout* l, unsigned long long mask) noexcept:
    """How many axes of more than one place are not reduced."""
    cdef int i, n = 0
    for i in range(l.ndim):
        n += not mask >> i & 1 and l.shape()[i] > 1
    return n


cdef int slowest_kept(const Layout* l, unsigned long long mask) noexcept:
    """The axis that a reduction may be cut along, into pieces of two places at least; -1 if there is none.

    Of those that aren't reduced, the one with the longest steps: the runs along others stay whole.
    """
    cdef int i, found = -1
    for i in range(l.ndim):
        if not mask >> i & 1 and l.shape()[i] > 3 and (
                found < 0 or l.shape()[found] < 16 and l.shape()[i] > l.shape()[found]
                or l.shape()[i] >= 16 and abs(l.strides()[i]) > abs(l.strides()[found])):
            found = i
    return found


cdef bint joined_axes(Axes* axes, Tensor x, Tensor out, unsigned long long mask, bint sorts) noexcept:
    """The axes of a reduction of ``x`` over those in ``mask``; False where ``out`` lies otherwise than they do.

    ``sorts``: whether NumPy goes by the steps of the input alone.
    """
    cdef const Layout* l = &x.v.layout
    cdef npy_intp outs[kMaxDims]
    cdef int order[kMaxDims]
    cdef npy_intp step = out.v.itemsize()
    cdef bint is_reduced
    cdef int i, a, last, j = 0, n = 0
    for i in range(l.ndim):
        order[i] = i
    axes.contiguous = l.c_contiguous(x.v.itemsize())
    if sorts and not axes.contiguous:
        axes.contiguous = slowest_first(l, x.v.itemsize(), order)
    for i in range(l.ndim - 1, -1, -1):
        a = order[i]
        outs[a] = 0
        if not mask >> a & 1:
            outs[a] = step
            step *= l.shape()[a]
    for a in range(l.ndim if sorts else 0):
        if out.v.layout.ndim < l.ndim and mask >> a & 1:
            continue
        if outs[a] != out.v.layout.strides()[j] and outs[a] and l.shape()[a] > 1:
            return False
        j += 1
    axes.reduced = 0
    for i in range(l.ndim):
        a = order[i]
        if l.shape()[a] == 1:
            continue
        is_reduced = mask >> a & 1
        last = n - 1
        if n > 0 and (axes.reduced >> last & 1) == is_reduced \
                and axes.si[last] == l.strides()[a] * l.shape()[a] and axes.so[last] == outs[a] * l.shape()[a]:
            axes.shape[last] *= l.shape()[a]
        else:
            axes.shape[n] = l.shape()[a]
            if is_reduced:
                axes.reduced |= 1u << n
            last = n
            n += 1
            if n > 31:
                return False
        axes.si[last] = l.strides()[a]
        axes.so[last] = outs[a]
    if n == 0:  # one element, reduced
        n = 1
        axes.shape[0] = 1
        axes.si[0] = axes.so[0] = 0
        axes.reduced = 1
    axes.n = n
    return True


cdef int instructions_of(const Axes* axes, const Kernel* kernel) noexcept:
    """How many instructions reduce in NumPy's order of operations; 0: none do.

    One does where the input is contiguous; elsewhere if its axes come down to two, or to three of which the middle one
    is reduced, or if all of it is reduced along one run of equal steps. Two do where the last axis is reduced and
    others are, too, and rows may be summed up apart: the sums of the rows, which fuse with what comes before, and
    then of these what one instruction does.
    """
    cdef int n = axes.n, i
    cdef unsigned int every = (1u << n) - 1, rest
    if axes.reduced == 0:
        return 0
    if not axes.contiguous:
        # Where steps grow smaller from axis to axis, NumPy goes along them as it would were there no gaps; but of
        # two axes that are both reduced it takes many elements at a time, in a buffer.
        for i in range(n):
            if axes.si[i] == 0 or i and abs(axes.si[i]) > abs(axes.si[i - 1]):
                return 0
        if axes.reduced == every and n > 1 and kernel.split != SPLIT_ANY:
            return 0
    if _cuts_long_rows and axes.reduced >> (n - 1) & 1 and axes.shape[n - 1] > _BUFFER \
            and info(kernel.dtypes[1]).kind in b"fc":
        return 0
    if kernel.join != NULL and n > 1 and axes.reduced >> (n - 1) & 1 and axes.shape[n - 1] < _SHORT_ROW:
        return 0
    rest = axes.reduced & (every >> 1)
    if n > 2 and rest != 0 and rest != axes.reduced and axes.contiguous and kernel.split != SPLIT_NONE:
        return 2
    return axes.contiguous or n < 3 or n == 3 and axes.reduced == 2


cdef int emit_reduction(Kernel* kernel, Tensor x, Tensor out, const Axes* axes) except -1:
    """Records a reduction of x over the axes that are marked."""
    cdef Instr* instr = recorder().begin(kernel, 1, 1)
    cdef npy_intp size = 1
    cdef int i
    for i in range(axes.n):
        size *= axes.shape[i]
    set_operand(instr, 0, &x.v)
    set_operand(instr, 1, &out.v)
    instr.set_ndim(axes.n)
    memcpy(instr.shape(), axes.shape, axes.n * sizeof(npy_intp))
    memcpy(instr.strides(0), axes.si, axes.n * sizeof(npy_intp))
    memcpy(instr.strides(1), axes.so, axes.n * sizeof(npy_intp))
    instr.reduced = axes.reduced
    instr.overwrites = 1
    instr.bytes = out.v.chunk.nbytes
    instr.cost_ns = 40 + size * kernel.cost
    emit(instr)
    return 0


cdef int emit_rows_first(Kernel* kernel, Kernel* of_sums, Tensor x, Tensor out, Axes* axes) except -1:
    """Records the sums of contiguous rows, and the reduction of these over the other axes that are marked."""
    cdef int last = axes.n - 1, i
    cdef npy_intp width = axes.shape[last], step = out.v.itemsize()
    cdef npy_intp count = x.v.layout.size() // width
    cdef Axes rows
    rows.n, rows.reduced, rows.contiguous = 2, 2, True
    rows.shape[0], rows.shape[1] = count, width
    rows.si[0], rows.si[1] = axes.si[last] * width, axes.si[last]
    rows.so[0], rows.so[1] = step, 0
    cdef Tensor sums = empty_like_shape(kernel.dtypes[1], 1, &count, x.v.device())
    emit_reduction(kernel, x, sums, &rows)
    axes.n = last
    axes.reduced &= (1u << last) - 1
    for i in range(last - 1, -1, -1):
        axes.si[i] = step
        step *= axes.shape[i]
    emit_reduction(of_sums, sums, out, axes)
    return 0
