# Blocks that an interrupt finds entered or not, never in between.
#
# Python looks for signals between steps of Python code and after calls of native functions, but up to 3.13 not
# between `__enter__` and the block that is then left by `__exit__`, and nowhere inside native code. So what
# enters and leaves is native. (Python 3.14 has a place to look there, for locks too.)


cdef class Scope:
    """A ``with`` block whose ``_enter()`` and ``_leave()`` are Python code, which an interrupt may end anywhere.

    ``_enter()`` gives the block's target. ``_leave()`` undoes all of it that was done, if anything was, and may
    be called again where it was interrupted: it looks at what is there, and says last that it is done.
    """

    def __enter__(self):
        try:
            return self._enter()
        except BaseException:
            end_scope(self)
            raise

    def __exit__(self, *exc):
        end_scope(self)


cdef int end_scope(Scope scope) except -1:
    interrupt = None
    while True:
        try:
            scope._leave()
            break
        except KeyboardInterrupt as exc:
            interrupt = exc
    if interrupt is not None:
        raise interrupt
    return 0


cdef class Stacked:
    """A ``with`` block within which it lies on top of a list: that which ``_stack()`` gives as it begins."""

    cdef list entered

    def __cinit__(self, *args, **kwargs):
        self.entered = []

    def __enter__(self):
        stack = self._stack()
        self.entered.append(stack)
        stack.append(self)
        return self

    def __exit__(self, *exc):
        if not self.entered:
            raise RuntimeError(f"{type(self).__name__}: left more often than entered")
        self.entered.pop().pop()


cdef class Turn:
    """A ``with`` block that one thread at a time may be in; inside it, again and again.

    ``_refuse(thread, inside)`` is called where another thread is inside, or has said by ``owe(True)`` that it
    will come back: it raises. Only in the second case may it return, if that thread is no more.
    Guarded by the GIL: between the last check and the setting no Python runs.
    """

    cdef unsigned long by, owing  # threads; 0: none
    cdef int depth

    def __enter__(self):
        cdef unsigned long me = PyThread_get_thread_ident()
        if self.owing and self.owing != me:
            self._refuse(self.owing, False)
        while self.by and self.by != me:
            self._refuse(self.by, True)
        self.by = me
        self.depth += 1

    def __exit__(self, *exc):
        self.depth -= 1
        if not self.depth:
            self.by = 0

    def owe(self, bint on):
        """Whether this thread has to come back before another one may."""
        self.owing = PyThread_get_thread_ident() if on else 0


cdef list _bulks = []  # for each block of the process that is open: [what the size was before it]


cdef class _BulkSize:
    """Within the block the process's bulk size is another."""

    cdef readonly int size
    cdef list entered  # in `_bulks`

    def __init__(self, size):
        self.size = _checked_bulk(size)
        self.entered = []

    def __enter__(self):
        global _bulk, _bulk_depth
        if _process is not None:
            _process.flush()
        self.entered.append([_bulk])
        _bulks.append(self.entered[-1])
        _bulk = self.size
        _bulk_depth += 1

    def __exit__(self, *exc):
        global _bulk, _bulk_depth
        if not self.entered:
            raise RuntimeError("bulk(): left more often than entered")
        mine = self.entered.pop()
        at = next(i for i, entry in enumerate(_bulks) if entry is mine)
        if at + 1 < len(_bulks):  # another thread's, say, which stays
            _bulks[at + 1][0] = mine[0]
        else:
            _bulk = mine[0]
        del _bulks[at]
        _bulk_depth -= 1
        if _process is not None:
            _process.flush()
