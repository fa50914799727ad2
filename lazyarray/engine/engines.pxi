# Opr, Engine and the three engines.


cdef class Opr:
    """A reusable operator: what :meth:`Engine.new_operator` returns and :meth:`Engine.push` runs."""

    def __init__(self):
        raise TypeError("operators are made by Engine.new_operator()")

    def __repr__(self):
        return f"<Opr {self.name!r}>"


cdef FlushHook _flush_hook = NULL
cdef Engine _process = None
cdef int _bulk = 0
cdef int _bulk_depth = 0
cdef bint _exiting = False
_registry = {}  # address of each live native engine -> weak reference to its Engine


cdef void set_flush_hook(FlushHook hook):
    global _flush_hook
    _flush_hook = hook


cdef int get_bulk() noexcept:
    return _bulk


cdef bint bulk_is_explicit() noexcept:
    return _bulk_depth > 0


cdef tuple _vars(object vars, str what):
    if isinstance(vars, Var):
        raise TypeError(f"{what} is a sequence of variables, not a single one")
    out = tuple(vars)
    for v in out:
        if not isinstance(v, Var):
            raise TypeError(f"{what} holds variables, not {type(v).__name__}")
    return out


cdef class Engine:
    """A dependency engine: runs pushed operators in push order per variable.

    Two operators of which one writes a variable run in the order in which they were pushed;
    reads of the same variable run together; everything else runs when a worker is free. Any
    thread may push and wait. The model is MXNet's (``include/mxnet/engine.h``).

    Use one of :class:`NaiveEngine`, :class:`ThreadedEnginePooled`,
    :class:`ThreadedEnginePerDevice`, or the process's own from :func:`get`.

    >>> from lazyarray import engine
    >>> e = engine.ThreadedEnginePerDevice()
    >>> v, out = e.new_variable(), []
    >>> for i in range(3):
    ...     e.push_sync(lambda ctx, i=i: out.append(i), engine.Device("cpu"), mutable_vars=[v])
    >>> e.wait_for_var(v)
    >>> out, v.version
    ([0, 1, 2], 3)
    """

    def __cinit__(self, num_workers=None):
        self.c = NULL

    def __init__(self, num_workers=None):
        raise TypeError("choose NaiveEngine, ThreadedEnginePooled or ThreadedEnginePerDevice")

    cdef int create(self, Policy policy, object num_workers) except -1:
        if self.c is not NULL:
            raise RuntimeError("an engine is initialised once")
        if num_workers is None:
            num_workers = int_env("LAZYARRAY_CPU_WORKER_NTHREADS", max(2, os.cpu_count() or 2))
        elif isinstance(num_workers, bool) or not isinstance(num_workers, int):
            raise TypeError(f"num_workers is an integer, not {type(num_workers).__name__}")
        elif num_workers < 1:
            raise ValueError(f"num_workers is at least 1, not {num_workers}")
        self.c = create_engine(
            policy,
            num_workers,
            int_env("LAZYARRAY_CPU_PRIORITY_NTHREADS", 4),
            int_env("LAZYARRAY_GPU_WORKER_NTHREADS", 1),
            int_env("LAZYARRAY_GPU_COPY_NTHREADS", 2),
        )
        self.c.on_thread_exit = leave_worker_thread
        _registry[<size_t>self.c] = weakref.ref(self)
        if _exiting:
            self.c.shutdown(NULL, NULL)
        return 0

    def __dealloc__(self):
        if self.c is NULL:
            return
        if _registry is not None:  # as the interpreter goes away, names go first
            del _registry[<size_t>self.c]
        cdef CEngine* c = self.c
        if c.current() is NULL:
            # What nobody will ever wait for is printed, as at exit.
            with nogil:
                c.wait_for_all(NULL, NULL, -1)
            _print_unseen(c, "an engine went away")
        with nogil:
            destroy_engine(c)  # drains

    cdef int flush(self) except -1:
        graveyard().sweep()
        step_aside()
        if self.is_process and _flush_hook is not NULL:
            return _flush_hook()
        return 0

    # -- variables

    def new_variable(self):
        """A new variable of this engine.

        Returns: a :class:`Var`, of version 0.
        Raises: nothing.
        """
        return new_var(new CVar(self.c))

    def delete_variable(self, delete_fn, Device ctx not None, Var var not None):
        """Runs ``delete_fn(run_ctx)`` when every earlier use of ``var`` is done. Does not wait.

        It always runs, also on a poisoned variable.

        Args:
            delete_fn: what is called; None: nothing is.
            ctx: the device that it runs on.
            var: the variable, which no later operator may use.
        Returns: None.
        Raises: TypeError for what can't be called; ValueError for a variable of another engine, or
            one that was deleted before; RuntimeError after :meth:`stop`.
        """
        if delete_fn is not None and not callable(delete_fn):
            raise TypeError(f"delete_fn is callable or None, not {type(delete_fn).__name__}")
        self.push_callable(delete_fn or _nothing, ctx, (), (var,), (), FnProperty.DELETE_VAR, 0,
                           "delete_variable", False)

    # -- operators

    def new_operator(self, fn, const_vars=(), mutable_vars=(), prop=FnProperty.NORMAL, name=None):
        """A reusable operator that calls ``fn(run_ctx)``; push it any number of times.

        Args:
            fn: what is called, with a :class:`RunContext`.
            const_vars: the variables that it reads.
            mutable_vars: the variables that it writes, or reads and writes.
            prop: what kind of work it is, a :class:`FnProperty`.
            name: what errors and profiles call it; None: as the function is called.
        Returns: an :class:`Opr`.
        Raises: TypeError for what can't be called, what is no sequence of variables, or a name that
            is no string; ValueError for a variable of another engine, or another ``prop``.

        >>> from lazyarray import engine
        >>> e = engine.ThreadedEnginePerDevice()
        >>> v, out = e.new_variable(), []
        >>> op = e.new_operator(lambda ctx: out.append(len(out)), mutable_vars=[v])
        >>> for _ in range(3):
        ...     e.push(op, engine.Device("cpu"))
        >>> e.wait_for_var(v)
        >>> out
        [0, 1, 2]
        """
        _check_callable(fn)
        cdef Opr op = Opr.__new__(Opr)
        op.engine = self
        op.fn = fn
        op.const_vars = _vars(const_vars, "const_vars")
        op.mutable_vars = _vars(mutable_vars, "mutable_vars")
        op.prop = FnProperty(prop)
        op.name = _name(fn, name)
        for v in op.const_vars + op.mutable_vars:
            if not self.c.owns((<Var>v).c):
                raise ValueError("the variable belongs to another engine")
        return op

    def delete_operator(self, Opr op not None):
        """Ends an operator; pushes made before still run. Does not wait.

        Args:
            op: what :meth:`new_operator` made.
        Returns: None.
        Raises: ValueError for an operator of another engine, or one that was deleted before.
        """
        self.check_operator(op)
        op.deleted = True

    def push(self, Opr op not None, Device ctx not None, object priority=0):
        """Pushes one run of ``op`` on device ``ctx``. Does not wait.

        Args:
            op: what :meth:`new_operator` made.
            ctx: the device that it runs on.
            priority: an integer, a hint: of ``CPU_PRIORITIZED`` operators that are ready the highest
                goes first; others are first come, first served.
        Returns: None.
        Raises: ValueError for an operator of another engine, or one that was deleted, as for a
            variable that was; TypeError for a ``priority`` that is no integer; RuntimeError after
            :meth:`stop`. A :class:`NaiveEngine` raises what the function raises.
        """
        self.check_operator(op)
        self.push_callable(op.fn, ctx, op.const_vars, op.mutable_vars, (), op.prop, priority,
                           op.name, False)

    cdef int check_operator(self, Opr op) except -1:
        if op.engine is not self:
            raise ValueError("the operator belongs to another engine")
        if op.deleted:
            raise ValueError("the operator has been deleted")
        return 0

    def push_sync(self, fn, Device ctx not None, const_vars=(), mutable_vars=(),
                  prop=FnProperty.NORMAL, object priority=0, name=None):
        """Pushes ``fn(run_ctx)``, which ends when it returns.

        It runs after every earlier op that writes one of ``const_vars`` or uses one of
        ``mutable_vars``. If it raises, the mutable variables are poisoned: each wait on them raises
        the same exception, and ops that read or write them are skipped.

        Args:
            fn: what is called, with a :class:`RunContext`.
            ctx: the device that it runs on.
            const_vars: the variables that it reads.
            mutable_vars: the variables that it writes, or reads and writes.
            prop: what kind of work it is, a :class:`FnProperty`.
            priority: an integer, a hint: of ``CPU_PRIORITIZED`` operators that are ready the highest
                goes first; others are first come, first served.
            name: what errors and profiles call it; None: as the function is called.
        Returns: None.
        Raises: TypeError for what can't be called, what is no sequence of variables, a ``priority``
            that is no integer, or a name that is no string; ValueError for a variable that is
            another engine's or was deleted, or another ``prop``; RuntimeError after :meth:`stop`. A
            :class:`NaiveEngine` raises what the function raises.
        """
        _check_callable(fn)
        self.push_callable(fn, ctx, _vars(const_vars, "const_vars"),
                           _vars(mutable_vars, "mutable_vars"), (), FnProperty(prop), priority,
                           _name(fn, name), False)

    def push_async(self, fn, Device ctx not None, const_vars=(), mutable_vars=(),
                   prop=FnProperty.NORMAL, object priority=0, name=None, overwrites=()):
        """Pushes ``fn(run_ctx, on_complete)``, which ends when ``on_complete(error=None)`` is called.

        Exactly once, from any thread; a second call is a RuntimeError. Of ``overwrites``, which are
        written too, nothing is read: an error that they hold is over if the op succeeds.

        Args:
            fn: what is called, with a :class:`RunContext` and a function that ends the op.
            ctx: the device that it runs on.
            const_vars: the variables that it reads.
            mutable_vars: the variables that it writes, or reads and writes.
            prop: what kind of work it is, a :class:`FnProperty`.
            priority: an integer, a hint: of ``CPU_PRIORITIZED`` operators that are ready the highest
                goes first; others are first come, first served.
            name: what errors and profiles call it; None: as the function is called.
            overwrites: the variables that it writes without reading them.
        Returns: None.
        Raises: as :meth:`push_sync`.

        >>> import threading
        >>> from lazyarray import engine
        >>> e = engine.ThreadedEnginePerDevice()
        >>> v = e.new_variable()
        >>> def later(run_ctx, on_complete):
        ...     threading.Timer(0.01, on_complete).start()
        >>> e.push_async(later, engine.Device("cpu"), mutable_vars=[v])
        >>> e.wait_for_var(v)
        """
        _check_callable(fn)
        self.push_callable(fn, ctx, _vars(const_vars, "const_vars"),
                           _vars(mutable_vars, "mutable_vars"), _vars(overwrites, "overwrites"),
                           FnProperty(prop), priority, _name(fn, name), True)

    cdef int push_callable(self, object fn, Device ctx, tuple const_vars, tuple mutable_vars,
                           tuple overwrites, object prop, object priority, str name,
                           bint is_async, bint brief=False) except -1:
        if isinstance(priority, bool) or not hasattr(priority, "__index__"):
            raise TypeError(f"priority is an integer, not {type(priority).__name__}")
        cdef int rank = priority.__index__()
        self.flush()
        cdef list exported = []
        if not is_async:
            exported = [v for v in const_vars + mutable_vars if (<Var>v).c.exports.load()]
        if exported and ctx.c.has_streams() and _gpu_quiesce is not None:
            _gpu_quiesce(ctx.c.id)  # of what others do with the memory
        cdef COp* op = self.c.new_op()
        cdef PyTask* task
        cdef Var v
        try:
            task = new PyTask()
            op.payload.drop = _drop_task
            op.payload.arg = task
            task.fn = <PyObject*>fn
            Py_INCREF(fn)
            task.site = op.site = _sites.here()
            op.name = intern_name(name.encode())
            for o in mutable_vars:
                op.merge_use((<Var>o).c, True)
            for o in const_vars:
                op.merge_use((<Var>o).c, False)
            for o in overwrites:
                op.merge_use((<Var>o).c, True, True)
        except BaseException:
            self.c.discard(op)
            raise
        op.device = ctx.c
        op.priority = rank
        op.prop = <Prop><int>prop
        op.payload.run = _run_async_task if is_async else _run_task
        op.payload.is_async = is_async
        op.payload.brief = brief
        written = mutable_vars + overwrites
        for o in written:
            (<Var>o).c.issued += 1
        self.push_op(op, len(exported) > 0, written)
        for o in exported:  # the op has run; what it launched may be under way
            self.finish_var((<Var>o).c)
        return 0

    cdef int finish_var(self, CVar* var) except -1:
        cdef CEngine* c = self.c
        interrupt = []
        cdef void* arg = <void*>interrupt
        cdef Status status
        with nogil:
            status = c.wait(var, True, poll_signals, arg)
        if status != SELF_WAIT:  # else an op that uses it itself pushed this one
            check_status(status, interrupt)
        return 0

    cdef int push_op(self, COp* op, bint exported, tuple written) except -1:
        """Pushes; where ops run at the call (naive, at exit), waits and raises the op's error.

        The writes of ``written`` are counted already, and are no more if the push is refused.
        """
        # With the GIL held: nobody takes it under the engine's mutex, so this can't deadlock.
        cdef CEngine* c = self.c
        cdef bint here = c.runs_here()
        # Nor does the pusher go on while an op touches memory that others can see (`exported`). Not so
        # for an asynchronous one, which may be for the pusher to complete.
        cdef Status status = c.push(op, True, here or exported)
        if status != OK:
            for o in written:
                (<Var>o).c.issued -= 1
        check_status(status, None)
        if not here and not exported:
            return 0
        cdef CError* error = NULL
        interrupt = []
        cdef void* arg = <void*>interrupt
        with nogil:
            status = c.wait_op(op, poll_signals, arg)
        # Inside an op, what waits for that op can't be waited for: it is left queued.
        if status == OK and op.result is not NULL:
            error = op.result.ref()
        c.release(op)
        if status != SELF_WAIT:
            check_status(status, interrupt)
        return raise_error(error)

    # -- waits

    cdef int wait_var(self, CVar* var, bint everything) except -1:
        interrupt = []
        cdef void* arg = <void*>interrupt
        cdef CEngine* c = self.c
        cdef Status status
        # Its ops may be complete and what they launched on a device be under way: the footprint knows.
        if c.held() or not (var.idle() if everything else var.readable()) \
                or var.footprint.load() is not NULL:
            with nogil:
                status = c.wait(var, everything, poll_signals, arg)
            check_status(status, interrupt)
        return raise_error(c.error_of(var))

    def wait_for_var(self, Var var not None):
        """Blocks until the writes of ``var`` pushed before are done.

        Args:
            var: the variable.
        Returns: None.
        Raises: what poisoned the variable; ValueError if it is another engine's; RuntimeError
            inside of an op that it waits for.
        """
        if not self.c.owns(var.c):
            raise ValueError("the variable belongs to another engine")
        cdef int64_t start = wait_starts(self.c)
        self.flush()
        try:
            self.wait_var(var.c, False)
        finally:
            note_wait(self.c, "wait_for_var", start)

    def wait_for_all(self):
        """Blocks until everything pushed before is done.

        Returns: None.
        Raises: the first error, in push order, that no wait has raised yet; RuntimeError inside an
            op.
        """
        cdef CEngine* c = self.c
        cdef int64_t start = wait_starts(c)
        self.flush()
        interrupt = []
        cdef void* arg = <void*>interrupt
        cdef Status status
        with nogil:
            status = c.wait_for_all(poll_signals, arg, -1)
        note_wait(c, "waitall", start)
        check_status(status, interrupt)
        raise_error(c.take_failure())

    def throw(self, Var var not None):
        """Raises what ``var`` holds now, without waiting or clearing.

        Args:
            var: the variable.
        Returns: None, if it holds no error.
        Raises: what poisoned the variable; ValueError if it is another engine's.
        """
        if not self.c.owns(var.c):
            raise ValueError("the variable belongs to another engine")
        raise_error(self.c.error_of(var.c), False)

    def _hand_on(self, Var var not None):
        """As :meth:`throw`, by who hands the error on: others will hear of it."""
        raise_error(self.c.error_of(var.c))

    # -- life

    def start(self):
        """Lets pushes in again after :meth:`stop`.

        Returns: None.
        Raises: nothing.
        """
        cdef CEngine* c = self.c
        with nogil:  # it may wait for workers that end, which need it
            c.start()

    def stop(self):
        """Finishes all pushed work and ends the workers; a push is a RuntimeError until :meth:`start`.

        Returns: None.
        Raises: RuntimeError inside an op.
        """
        self.flush()
        interrupt = []
        cdef void* arg = <void*>interrupt
        cdef CEngine* c = self.c
        cdef Status status
        with nogil:
            status = c.stop(poll_signals, arg)
        check_status(status, interrupt)

    def notify_shutdown(self):
        """The process is ending: finish all work and end the workers; later pushes run at the call.

        Returns: None.
        Raises: RuntimeError inside an op.
        """
        self.flush()
        interrupt = []
        cdef void* arg = <void*>interrupt
        cdef CEngine* c = self.c
        cdef Status status
        with nogil:
            status = c.shutdown(poll_signals, arg)
        check_status(status, interrupt)

    # -- settings and figures

    @property
    def bulk_size(self):
        """The greatest number of instructions in the process's open segment (0 and 1: none)."""
        return _bulk

    @bulk_size.setter
    def bulk_size(self, size):
        _set_bulk(size)

    @property
    def cores(self):
        """How many cores native compute takes at most, as whole operators and in parts of large ones.

        At first those that the process may run on. It can be set while work is under way; BLAS has
        settings of its own.

        >>> from lazyarray import engine
        >>> e = engine.ThreadedEnginePerDevice()
        >>> e.cores = 1
        >>> e.cores
        1
        """
        return self.c.cores()

    @cores.setter
    def cores(self, n):
        if isinstance(n, bool) or not isinstance(n, int):
            raise TypeError(f"cores is an integer, not {type(n).__name__}")
        if n < 1:
            raise ValueError(f"cores is at least 1, not {n}")
        self.c.set_cores(min(n, 1 << 20))

    def stats(self):
        """Counters since the start.

        Returns: a dict of ints: how many ops were "pushed", are "completed" and were run by who
            waited ("helped"); how many "waits" there were; the "threads" that live;
            "pending_bytes", what ops that haven't run will write, and the memory that they alone
            still use. The process's engine adds those of the storage and of recording.
        Raises: nothing.

        >>> from lazyarray import engine
        >>> e = engine.NaiveEngine()
        >>> e.push_sync(lambda ctx: None, engine.Device("cpu"))
        >>> e.stats()["completed"]
        1
        """
        cdef EngineStats s = self.c.stats()
        out = {"pushed": s.pushed, "completed": s.completed, "helped": s.helped,
               "waits": s.waits, "threads": s.threads, "pending_bytes": self.c.pending_bytes()}
        if self.is_process:
            for source in stat_sources:
                out.update(source())
        return out

    def trace_start(self):
        """Starts to note when each op is pushed, ready, started and ended.

        Returns: None.
        Raises: RuntimeError if that is being done already, by the profiler for one.
        """
        if self.c.profiling():
            raise RuntimeError("the engine is being traced already")
        self.flush()
        self.c.profile().take()
        self.c.profile().set(PROFILE_OPS)

    def trace_stop(self):
        """Stops profiling, and gives what was noted since :meth:`trace_start`.

        Returns: a list of one dict an op, in completion order: "name", "seq" (its number),
            "queued", "ready", "start" and "end" in nanoseconds, "worker", "skipped" and "device".
        Raises: nothing.

        >>> from lazyarray import engine
        >>> e = engine.NaiveEngine()
        >>> e.trace_start()
        >>> e.push_sync(lambda ctx: None, engine.Device("cpu"), name="mine")
        >>> [op["name"] for op in e.trace_stop()]
        ['mine']
        """
        self.flush()
        self.c.profile().set(0)
        return _profile_dicts(self.c)

    def __repr__(self):
        return f"<{type(self).__name__}{' of the process' if self.is_process else ''}>"


stat_sources = []  # the upper rooms add their counters here


cdef class NaiveEngine(Engine):
    """Runs each op at the call, in the caller's thread, and raises there. For debugging.

    Args:
        num_workers: for the signature of the others: there are no threads.
    Raises: TypeError for a number that is no integer; ValueError for one under 1.
    """

    def __init__(self, num_workers=None):
        self.create(NAIVE, num_workers)


cdef class ThreadedEnginePooled(Engine):
    """One pool of ``num_workers`` threads for all devices, and one thread for copies.

    Args:
        num_workers: the number of threads; None: ``LAZYARRAY_CPU_WORKER_NTHREADS``, or the number of cores, at
            least 2.
    Raises: TypeError for a number that is no integer; ValueError for one under 1.
    """

    def __init__(self, num_workers=None):
        self.create(POOLED, num_workers)


cdef class ThreadedEnginePerDevice(Engine):
    """A pool of ``num_workers`` threads per device, and a priority pool shared by the CPUs.

    Args:
        num_workers: the number of threads of each device; None: ``LAZYARRAY_CPU_WORKER_NTHREADS``, or the number of cores, at
            least 2.
    Raises: TypeError for a number that is no integer; ValueError for one under 1.
    """

    def __init__(self, num_workers=None):
        self.create(PER_DEVICE, num_workers)


def _nothing(run_ctx):
    pass


def _check_callable(fn):
    if not callable(fn):
        raise TypeError(f"fn is callable, not {type(fn).__name__}")


cdef str _name(object fn, object name):
    if name is None:
        name = getattr(fn, "__name__", None) or type(fn).__name__
    if not isinstance(name, str):
        raise TypeError(f"name is a string, not {type(name).__name__}")
    return name
