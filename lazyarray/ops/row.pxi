# Row: one op of the table; and the loops of NumPy's ufuncs.


cdef class Row:
    """One op of the table: its name, the NumPy ufunc it runs (or None), its section and doc."""

    def __repr__(self):
        return f"<lazyarray op {self.name!r}>"

    @property
    def __name__(self):
        return self.name if self.shown is None else self.shown

    @__name__.setter
    def __name__(self, value):  # as that of NumPy's functions can be set
        self.shown = value

    @property
    def __qualname__(self):
        return self.name

    @property
    def __module__(self):
        return "lazyarray"

    # As functions are to inspect and pydoc: routines, which are no methods. So help() has the signature.
    def __get__(self, instance, owner):
        return self

    @property
    def nargs(self):
        """The number of inputs and outputs of the ufunc."""
        return self.ufunc.nargs

    @property
    def ntypes(self):
        """The number of the ufunc's loops."""
        return self.ufunc.ntypes

    @property
    def types(self):
        """The ufunc's loops as dtype characters: ``"dd->d"``."""
        return self.ufunc.types

    @property
    def identity(self):
        """What leaves other values as they are, 0 for ``add``; None if there is no such value."""
        return self.ufunc.identity

    @property
    def signature(self):
        """The axes that the ufunc works on, ``"(n?,k),(k,m?)->(n?,m?)"``; None: single elements."""
        return self.ufunc.signature

    @property
    def gradient(self):
        """The rules of autograd, one for each input (None: zero everywhere); None without any."""
        return _taught["rules"].get(self.name)

    @property
    def __signature__(self):
        # Of a compiled __call__ inspect knows none.
        import inspect
        if isinstance(self, Ufunc):
            names = "x, /" if (<Ufunc>self).nin == 1 else "x1, x2, /"
            rest = "out=None, *, where=True, dtype=None, casting='same_kind'"
        elif isinstance(self, Reduction):
            names, rest = "a", "axis=None, dtype=None, out=None, keepdims=False, initial=np._NoValue, where=True"
            if isinstance(self, Choice):
                rest = rest.replace(" dtype=None,", "") + ", *, dtype=None"
            if isinstance(self, Reduction) and (<Reduction>self).decides:
                rest = "axis=None, out=None, keepdims=False, *, where=True"
        else:
            names, rest = "a, b, /", "out=None, *, axes=None, dtype=None, casting='same_kind'"
        return inspect.signature(eval(f"lambda {names}, {rest}: None"))

    def __reduce__(self):
        return self.name


cdef int find_loop(object ufunc, tuple dtypes) except -1:
    """The first of the ufunc's loops for these dtypes: later duplicates give other bits."""
    cdef PyUFuncObject* u = <PyUFuncObject*>ufunc
    want = [np.dtype(d).num for d in dtypes]
    for i in range(u.ntypes):
        if [<int>u.types[i * u.nargs + j] for j in range(u.nargs)] == want:
            return i
    raise TypeError(f"ufunc {ufunc.__name__!r} has no loop for {', '.join(map(str, dtypes))}")


cdef Kernel* loop_kernel(str name, KernelKind kind, int nin, int nout, object ufunc,
                         tuple dtypes) except NULL:
    """A kernel that runs the ufunc's loop for these dtypes; the rest is the caller's to set."""
    cdef PyUFuncObject* u = <PyUFuncObject*>ufunc
    cdef int index = find_loop(ufunc, dtypes)
    cdef Kernel* k = new_kernel(name, kind, nin, nout)
    k.fn = u.functions[index]
    k.data = u.data[index]
    for i, d in enumerate(dtypes):
        k.dtypes[i] = dtype_code(d)
        # The C library raises overflow and underflow for these in the x87 unit's flags.
        k.long_double = k.long_double or d.char in "egG"
    return k
