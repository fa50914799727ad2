# Gufunc: rows that run the loop of a generalised ufunc over stacks of matrices.


cdef Cores* cores_of(list axes) except NULL:
    """The core axes of each operand, as numbers of the kernel's core lengths."""
    cdef Cores* cores = new Cores()
    for k, numbers in enumerate(axes):
        cores.n[k] = len(numbers)
        for i, number in enumerate(numbers):
            cores.axes[k][i] = number
    return cores


cdef int lay_as_stacks(Tensor made, list tensors, list cores) except -1:
    """Lays a new result's stack as its operands' lie, as NumPy; what is stacked stays in C order."""
    cdef View lying[4]
    cdef const View* views[4]
    cdef Layout stack
    cdef Layout* l
    cdef Tensor t
    cdef int k, axes = made.v.layout.ndim - len(cores[len(tensors)]), n = len(tensors)
    cdef npy_intp each = made.v.itemsize()
    if n > 4:
        return 0
    for k in range(axes, made.v.layout.ndim):
        each *= made.v.layout.shape()[k]
    for k in range(n):
        t = <Tensor>tensors[k]
        l = &lying[k].layout
        l.resize(t.v.layout.ndim - len(cores[k]))
        memcpy(l.shape(), t.v.layout.shape(), l.ndim * sizeof(npy_intp))
        memcpy(l.strides(), t.v.layout.strides(), l.ndim * sizeof(npy_intp))
        views[k] = &lying[k]
    stack.resize(axes)
    memcpy(stack.shape(), made.v.layout.shape(), axes * sizeof(npy_intp))
    set_k_layout(stack, each, n, views)
    memcpy(made.v.layout.strides(), stack.strides(), axes * sizeof(npy_intp))
    return 0


cdef class Gufunc(Row):
    """A generalised ufunc of one output, such as LAPACK's in ``numpy.linalg``.

    Called with arrays that already have the loop's dtype. ``invalid`` is what the loop's invalid
    flag means, raised as a LinAlgError at the wait. The work is the first array's elements times
    its first core length, or, if ``linear``, just its elements. Threads share a large stack
    where that length is ``shared_from`` or more; None: never. ``silent``: it tells of no
    floating-point errors.
    """

    @property
    def __doc__(self):
        return documented(self.doc, self)

    def __init__(self, object ufunc, *, str name, str section="", str doc="", str invalid=None,
                 double cost=1.0, bint linear=False, object shared_from=0, bint silent=False):
        self.ufunc = ufunc
        self.name = name
        self.section = section
        self.doc = doc
        self.invalid = invalid
        self.cost = cost
        self.linear = linear
        self.shared_from = shared_from
        self.silent = silent
        self.kernels = {}
        inputs, output = ufunc.signature.split("->")
        self.cores = [tuple(filter(None, part.strip("()").split(",")))
                      for part in [*inputs.split("),("), output]]
        self.names = list(dict.fromkeys([d for core in self.cores for d in core]))

    cdef object kernel_for(self, int dtype):
        cdef Kernel* k
        found = self.kernels.get(dtype)
        if found is None:
            nop = len(self.cores)
            k = loop_kernel(self.name, GUFUNC, nop - 1, 1, self.ufunc, (np_dtype(dtype),) * nop)
            if self.ufunc.__name__ != self.name:  # of LAPACK's
                k.told_of = intern_name(self.ufunc.__name__.encode())
            k.checks_flags = not self.silent
            # Such a loop gives the invalid flag back that it met, whoever raised it (a sort of long
            # doubles, say), also in the unit that it doesn't use.
            k.long_double = True
            k.apart = self.shared_from is not None
            k.apart_from = self.shared_from or 0
            k.cores = cores_of([[self.names.index(d) for d in core] for core in self.cores])
            if self.invalid is not None:
                k.invalid = intern_name(self.invalid.encode())
            found = _Kernel.__new__(_Kernel)
            (<_Kernel>found).k = k
            self.kernels[dtype] = found
        return found

    def __call__(self, *arrays, out=None):
        """Records the loop over the broadcast stacks of ``arrays``, into ``out`` if that is given."""
        cdef Tensor t, made, to = None if out is Ellipsis else sole_out(out)
        cdef int nin = len(self.cores) - 1, k, i, axis, n = 0
        cdef Instr* instr
        if len(arrays) != nin:
            raise TypeError(f"{self.name}() takes {nin} arrays but {len(arrays)} were given")
        tensors = [as_tensor(a) for a in arrays]
        cdef Tensor first = tensors[0]
        sizes = {}
        stacks = []
        for k, o in enumerate(tensors):
            t = o
            same_device(first, t)
            core = self.cores[k]
            shape = shape_tuple(&t.v)
            for name, size in zip(core, shape[len(shape) - len(core):]):
                if sizes.setdefault(name, size) != size:
                    raise ValueError(
                        f"{self.name}: Input operand {k} has a mismatch in its core dimension, "
                        f"with gufunc signature {self.ufunc.signature} (size {size} is different "
                        f"from {sizes[name]})")
            stacks.append(shape[:len(shape) - len(core)])
        stack = np.broadcast_shapes(*stacks)
        cdef int axes = len(stack), lead
        cdef Kernel* kernel = (<_Kernel>self.kernel_for(first.v.dtype)).k
        made = make(stack + tuple([sizes[d] for d in self.cores[nin]]), np_dtype(first.v.dtype),
                    first.v.device())
        if to is not None:
            found = loops_output(self.ufunc, to, made, len(self.cores[nin]), tensors)
            if contiguous(found):  # into other outputs NumPy's vecmat writes complex numbers wrongly
                made = found
        elif axes > 1 and made.v.layout.size() and made.v.on_host():
            lay_as_stacks(made, tensors, self.cores)
        tensors.append(made)
        instr = recorder().begin(kernel, nin, 1)
        instr.set_ndim(axes)
        for i in range(axes):
            instr.shape()[i] = stack[i]
        instr.ncore = len(self.names)
        for i in range(instr.ncore):
            instr.core[i] = sizes[self.names[i]]
        for k in range(nin + 1):
            t = tensors[k]
            set_operand(instr, k, &t.v)
            lead = t.v.layout.ndim - len(self.cores[k])  # its own stack axes
            for i in range(axes):
                axis = i - (axes - lead)
                instr.strides(k)[i] = (0 if axis < 0 or t.v.layout.shape()[axis] == 1
                                       else t.v.layout.strides()[axis])
            for i in range(len(self.cores[k])):
                instr.core_steps[n] = t.v.layout.strides()[lead + i]
                n += 1
        instr.ncore_steps = n
        instr.overwrites = covers_chunk(&made.v)
        instr.bytes = made.v.layout.size() * made.v.itemsize()
        cdef double work = <double>first.v.layout.size()
        if not self.linear:
            work *= sizes[self.names[0]]
        instr.wide = is_wide(recorder().executor.runtime, instr[0], work / max(math.prod(stack), 1))
        instr.cost_ns = 1000 + work * self.cost
        emit(instr)
        if to is None:
            return made if out is Ellipsis else returned(made)
        if made is not to:
            assign(to, made)
        return to
