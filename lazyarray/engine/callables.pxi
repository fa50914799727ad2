# Python callables as operators' payloads: RunContext, OnComplete.


cdef class RunContext:
    """What an op's function is called with: ``ctx``, and access to the arrays it declared."""

    def numpy(self, x):
        """A raw NumPy view of ``x``'s memory, writable exactly if ``x.var`` is mutable here.

        Args:
            x: an array in the host's memory.
        Returns: a NumPy array of its shape, valid until the op ends.
        Raises: TypeError for what is no array; ValueError if ``x.var`` was declared in neither set;
            RuntimeError once the op has ended.

        >>> import lazyarray as la
        >>> x, seen = la.arange(3), []
        >>> la.engine.get().push_sync(lambda ctx: seen.append(ctx.numpy(x).sum()), la.cpu(), [x.var])
        >>> la.waitall()
        >>> seen
        [np.int64(3)]
        """
        cdef CUse* u
        if self.op is NULL:
            raise RuntimeError("the op of this run_ctx has ended")
        if not isinstance(getattr(x, "var", None), Var):
            raise TypeError(f"run_ctx.numpy takes an array, not {type(x).__name__}")
        cdef Var var = x.var
        for i in range(self.op.uses.size()):
            u = &self.op.uses[i]
            if u.var == var.c:
                return x._raw(u.write)
        raise ValueError("the array's variable is in neither const_vars nor mutable_vars of this op")

    def cupy(self, x):
        """A CuPy array on ``x``'s memory, of an op that runs on the GPU where ``x`` is.

        Work on it goes to CuPy's current stream, which in such an op is the worker's own: it needs no
        waiting, later ops come after it. Read only what the op reads, write only what it writes.

        Args:
            x: an array on the op's GPU.
        Returns: a CuPy array of its shape, valid until the op ends.
        Raises: TypeError for what is no array; ValueError if it is elsewhere than the op, or not on a GPU,
            or ``x.var`` was declared in neither set; RuntimeError once the op has ended.
        """
        cdef Var var
        if self.op is NULL:
            raise RuntimeError("the op of this run_ctx has ended")
        if not isinstance(getattr(x, "var", None), Var):
            raise TypeError(f"run_ctx.cupy takes an array, not {type(x).__name__}")
        if not self.ctx.c.has_streams():
            raise ValueError(f"run_ctx.cupy is of ops on a GPU: this one is on {self.ctx!r}")
        if x.ctx != self.ctx:
            raise ValueError(f"the array is on {x.ctx!r}, the op on {self.ctx!r}")
        var = x.var
        for i in range(self.op.uses.size()):
            if self.op.uses[i].var == var.c:
                return x._on_gpu()
        raise ValueError("the array's variable is in neither const_vars nor mutable_vars of this op")

    def __repr__(self):
        return f"<RunContext {self.ctx}>"


cdef object _gpu_scope = None
cdef object _gpu_quiesce = None


def set_gpu_scope(scope, quiesce):
    """``scope(number)``: a context in which CuPy's calls go to this thread's stream on a GPU.

    ``quiesce(number)`` waits for all that was launched there, by whomever.
    """
    global _gpu_scope, _gpu_quiesce
    _gpu_scope, _gpu_quiesce = scope, quiesce


cdef int _call_there(object fn, RunContext run_ctx, tuple args) except -1:
    if run_ctx.ctx.c.has_streams() and _gpu_scope is not None:
        with _gpu_scope(run_ctx.ctx.c.id):
            fn(run_ctx, *args)
    else:
        fn(run_ctx, *args)
    return 0


cdef RunContext _run_context(CRunContext& ctx):
    cdef RunContext r = RunContext.__new__(RunContext)
    r.ctx = new_device(ctx.device)
    r.op = ctx.op
    return r


cdef CError* _run_task(void* arg, CRunContext& ctx) noexcept nogil:
    adopt_worker_thread()
    with gil:
        return _call(<PyTask*>arg, ctx)


cdef bint _is_programs(object exc, CRunContext& ctx) except -1:
    """Whether it is Ctrl-C in an op that its pusher runs, which ends the op, and is the program's as well.

    A waiter hears of it by the op's failure, and so does who pushes to the naive engine.
    """
    return isinstance(exc, KeyboardInterrupt) and threading.get_ident() == threading.main_thread().ident \
        and not helping() and ctx.engine.policy() != NAIVE


cdef CError* _call(PyTask* task, CRunContext& ctx) noexcept:
    cdef const char* name = ctx.op.name
    cdef CError* error
    run_ctx = None
    try:
        run_ctx = _run_context(ctx)
        _call_there(<object>task.fn, run_ctx, ())
        return NULL
    except BaseException as exc:
        programs = _is_programs(exc, ctx)
        error = error_from_exception(exc, name, task.site)
        if programs:  # after the last of Python: there it would come at once
            raise_later(exc)
        return error
    finally:
        if run_ctx is not None:
            (<RunContext>run_ctx).op = NULL
        task.clear()  # here, where the GIL is held: a closure may hold much memory


cdef CError* _run_async_task(void* arg, CRunContext& ctx) noexcept nogil:
    adopt_worker_thread()
    with gil:
        try:
            _call_async(<PyTask*>arg, ctx)
        except BaseException as exc:  # before it was begun: the engine ends it
            return error_from_exception(exc, ctx.op.name, (<PyTask*>arg).site)
        return NULL


cdef int _call_async(PyTask* task, CRunContext& ctx) except -1:
    # Once on_complete was called the op and `task` may be gone: take all that is needed first.
    fn = <object>task.fn
    cdef OnComplete done = OnComplete.__new__(OnComplete)
    done.run_ctx = _run_context(ctx)
    done.engine = ctx.engine
    # Kept alive: destroying an engine waits for its ops, and this one ends through `done`.
    owner = _registry.get(<size_t>ctx.engine)
    done.owner = owner() if owner is not None else None
    done.op = ctx.op
    done.name = ctx.op.name
    done.site = task.site
    try:
        _call_there(fn, done.run_ctx, (done,))
    except BaseException as exc:
        programs = _is_programs(exc, ctx)
        if done.op is not NULL:
            done(exc)
            if programs:
                raise_later(exc)
        elif isinstance(exc, KeyboardInterrupt):  # nothing is left that could fail by it
            raise_later(exc)
        else:
            # The op has ended: all that is left is to print it.
            PyErr_SetObject(type(exc), exc)
            PyErr_WriteUnraisable(fn)
    return 0


@cython.no_gc_clear
cdef class OnComplete:
    """Ends an asynchronous op: call it exactly once, from any thread, with an error or nothing."""

    cdef bint offer(self) except -1:
        """Lets a waiter bring the op on; whether one waits. The op's own function may, before it ends."""
        return self.op is not NULL and self.engine.offer(self.op)

    def __call__(self, error=None):
        if error is not None and not isinstance(error, BaseException):
            raise TypeError(f"on_complete takes an exception or None, not {type(error).__name__}")
        cdef COp* op = self.op
        if op is NULL:
            raise RuntimeError("on_complete was called a second time")
        self.op = NULL
        self.run_ctx.op = NULL
        cdef CError* e = NULL
        if error is not None:
            e = error_from_exception(error, self.name, self.site)
        self.engine.complete(op, e)

    def __dealloc__(self):
        # Dropped uncalled, the op could never end: it fails instead.
        if self.op is not NULL:
            self.engine.complete(self.op, error_from_exception(
                RuntimeError("on_complete was dropped without being called"), self.name, self.site
            ))


cdef void _drop_task(void* arg) noexcept nogil:
    cdef PyTask* task = <PyTask*>arg
    task.clear()
    del task
