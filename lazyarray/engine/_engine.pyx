# distutils: language = c++
"""The engine's Python face: devices, variables, operators, the three engines, errors."""

import atexit
import contextlib
import enum
import os
import sys
import threading
import time

from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XINCREF
from cython.operator cimport dereference as deref


cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1


class FnProperty(enum.IntEnum):
    """What kind of work an operator does, and so which queue it waits in."""

    NORMAL = 0
    COPY_FROM_GPU = 1
    COPY_TO_GPU = 2
    CPU_PRIORITIZED = 3
    GPU_PRIORITIZED = 4
    ASYNC = 5
    DELETE_VAR = 6
    NO_SKIP = 7


_KINDS = {"cpu": 1, "gpu": 2, "cpu_pinned": 3}
_KIND_NAMES = {v: k for k, v in _KINDS.items()}


cdef class Device:
    """A place where operators run and memory lives: ``Device("cpu", 0)``.

    >>> from lazyarray.engine import Device
    >>> Device("cpu", 1) == Device("cpu", 1), Device("cpu", 1) == Device("cpu", 0)
    (True, False)
    """

    def __cinit__(self, device_type="cpu", device_id=0):
        if isinstance(device_type, Device):
            self.c = (<Device>device_type).c
        else:
            if device_type not in _KINDS:
                raise ValueError(
                    f"unknown device type {device_type!r}: one of {', '.join(_KINDS)}"
                )
            if isinstance(device_id, bool) or not hasattr(device_id, "__index__"):
                raise TypeError(f"a device id is an integer, not {type(device_id).__name__}")
            if not 0 <= device_id.__index__() < 1 << 16:
                raise ValueError(f"a device id is between 0 and 65535, not {device_id}")
            self.c.kind = _KINDS[device_type]
            self.c.id = device_id.__index__()
        self._hash = hash((self.c.kind, self.c.id))

    @property
    def device_type(self):
        """``"cpu"``, ``"gpu"`` or ``"cpu_pinned"``."""
        return _KIND_NAMES[self.c.kind]

    @property
    def device_id(self):
        """The number of the device among its type."""
        return self.c.id

    def __eq__(self, other):
        return isinstance(other, Device) and self.c == (<Device>other).c

    def __hash__(self):
        return self._hash

    def __repr__(self):
        return f"{self.device_type}({self.device_id})"

    def __reduce__(self):
        return type(self), (self.device_type, self.device_id)


cdef class Var:
    """An engine variable: what operators declare that they read and write.

    Made by :meth:`Engine.new_variable`, or ``x.var`` for an array's. All views of one array
    have the same variable; two ``Var`` objects are equal when they name the same variable.
    """

    def __init__(self):
        raise TypeError("variables are made by Engine.new_variable()")

    def __dealloc__(self):
        if self.c is not NULL:
            self.c.unref()

    @property
    def version(self):
        """How many writes have completed on it."""
        return self.c.version.load()

    def __eq__(self, other):
        return isinstance(other, Var) and self.c == (<Var>other).c

    def __hash__(self):
        return hash(<size_t>self.c)

    def __repr__(self):
        return f"<Var {<size_t>self.c:#x} version {self.version}>"


cdef object new_var(CVar* c):
    cdef Var v = Var.__new__(Var)
    v.c = c
    return v


# ---- errors -----------------------------------------------------------------------------------

cdef object _native_types = {
    <int>RUNTIME: RuntimeError,
    <int>VALUE: ValueError,
    <int>MEMORY: MemoryError,
    <int>FLOATING_POINT: FloatingPointError,
    <int>ZERO_DIVISION: ZeroDivisionError,
    <int>OVERFLOW_: OverflowError,
}


cdef object _site_note(const char* name, void* code, int lasti):
    what = f"op {name.decode()!r}" if name is not NULL and name[0] else "an op"
    if code is NULL:
        return f"lazyarray: {what}"
    c = <object><PyObject*>code
    line = site_line(<PyObject*>code, lasti)
    return f"lazyarray: {what} pushed at {c.co_filename}:{line} in {c.co_name}"


cdef CError* error_from_exception(object exc, const char* name, Site* site):
    """A new native error that holds `exc`, its traceback, and a note of where it was pushed."""
    cdef CError* e = new CError(RUNTIME, string())
    note = _site_note(name, site.code if site is not NULL else NULL,
                      site.lasti if site is not NULL else -1)
    with contextlib.suppress(Exception):
        if note not in getattr(exc, "__notes__", ()):
            exc.add_note(note)
    held = (exc, exc.__traceback__)
    Py_INCREF(held)
    e.exception = <void*>held
    e.drop = drop_error
    return e


cdef object _exception_of(CError* e):
    # Under the GIL, which guards `exception`.
    if e.exception is NULL:
        if e.kind == LINALG:
            from numpy.linalg import LinAlgError
            exc = LinAlgError(e.message.decode())
        else:
            exc = _native_types[<int>e.kind](e.message.decode())
        exc.add_note(_site_note(e.op, e.site, e.lasti))
        held = (exc, None)
        Py_INCREF(held)
        e.drop = drop_error
        e.exception = <void*>held
    return <object><PyObject*>e.exception


cdef int raise_error(CError* e, bint seen=True) except -1:
    """Raises what `e` stands for, consuming the reference; does nothing for NULL.

    `seen`: wait_for_all need not raise it again.
    """
    if e is NULL:
        return 0
    if seen:
        e.seen.store(True)
    exc, tb = _exception_of(e)
    e.unref()
    # The traceback is reset each time, or each wait would make it longer.
    raise exc.with_traceback(tb)


cdef int check_status(Status status, object interrupt) except -1:
    if status == OK:
        return 0
    if status == INTERRUPTED:
        raise interrupt[0] if interrupt else KeyboardInterrupt()
    if status == SELF_WAIT:
        raise RuntimeError(
            "this wait can never end: inside an op, it waits for the op itself "
            "(its own output, wait_for_all, or work that depends on it)"
        )
    if status == STOPPED:
        raise RuntimeError("the engine is stopped: call start() before pushing")
    if status == DELETED:
        raise ValueError("the variable has been deleted")
    if status == FOREIGN:
        raise ValueError("the variable belongs to another engine")
    if status == BROKEN:
        raise RuntimeError(
            "this process was forked while engine work was in flight that could not be drained; "
            "its arrays' contents are unknown here"
        )
    raise TimeoutError("engine wait timed out")


cdef cbool _poll(void* arg) noexcept nogil:
    # `arg` is a list that receives the exception of a signal handler.
    with gil:
        try:
            PyErr_CheckSignals()
        except BaseException as exc:
            (<list>arg).append(exc)
            return False
        return True


# ---- Python callables as payloads ---------------------------------------------------------------

cdef class RunContext:
    """What an op's function is called with: ``ctx``, and access to the arrays it declared."""

    def numpy(self, x):
        """A raw NumPy view of ``x``'s memory, writable exactly if ``x.var`` is mutable here.

        Valid until the op ends. ValueError if ``x.var`` was declared in neither set.
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

    def __repr__(self):
        return f"<RunContext {self.ctx}>"


cdef RunContext _run_context(CRunContext& ctx):
    cdef RunContext r = RunContext.__new__(RunContext)
    cdef Device d = Device.__new__(Device)
    d.c = ctx.device
    d._hash = hash((d.c.kind, d.c.id))
    r.ctx = d
    r.op = ctx.op
    return r


cdef CError* _run_task(void* arg, CRunContext& ctx) noexcept nogil:
    adopt_worker_thread()
    with gil:
        return _call(<PyTask*>arg, ctx)


cdef CError* _call(PyTask* task, CRunContext& ctx):
    cdef const char* name = ctx.op.name
    run_ctx = _run_context(ctx)
    try:
        (<object>task.fn)(run_ctx)
        return NULL
    except BaseException as exc:
        return error_from_exception(exc, name, &task.site)
    finally:
        (<RunContext>run_ctx).op = NULL
        task.clear()  # here, where the GIL is held: a closure may hold much memory


cdef CError* _run_async_task(void* arg, CRunContext& ctx) noexcept nogil:
    adopt_worker_thread()
    with gil:
        _call_async(<PyTask*>arg, ctx)
        return NULL


cdef int _call_async(PyTask* task, CRunContext& ctx) except -1:
    # Once on_complete was called the op and `task` may be gone: take all that is needed first.
    fn = <object>task.fn
    cdef OnComplete done = OnComplete.__new__(OnComplete)
    done.run_ctx = _run_context(ctx)
    done.engine = ctx.engine
    done.op = ctx.op
    done.name = ctx.op.name
    done.site = task.site
    task.site.code = NULL
    try:
        fn(done.run_ctx, done)
    except BaseException as exc:
        if done.op is not NULL:
            done(exc)
        else:
            sys.unraisablehook(_Unraisable(exc, fn))
    return 0


class _Unraisable:
    """The argument that ``sys.unraisablehook`` expects."""

    def __init__(self, exc, obj):
        self.exc_type, self.exc_value, self.exc_traceback = type(exc), exc, exc.__traceback__
        self.err_msg = "Exception ignored in an asynchronous op that had already completed"
        self.object = obj


cdef class OnComplete:
    """Ends an asynchronous op: call it exactly once, from any thread, with an error or nothing."""

    cdef CEngine* engine
    cdef COp* op
    cdef RunContext run_ctx
    cdef const char* name
    cdef Site site

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
            e = error_from_exception(error, self.name, &self.site)
        self.engine.complete(op, e)

    def __dealloc__(self):
        # Dropped uncalled, the op could never end: it fails instead.
        if self.op is not NULL:
            self.engine.complete(self.op, error_from_exception(
                RuntimeError("on_complete was dropped without being called"), self.name, &self.site
            ))
        drop_ref(self.site.code)


cdef void _drop_task(void* arg) noexcept nogil:
    cdef PyTask* task = <PyTask*>arg
    task.clear()
    del task


# ---- engines ------------------------------------------------------------------------------------

cdef class Opr:
    """A reusable operator: what :meth:`Engine.new_operator` returns and :meth:`Engine.push` runs."""

    def __init__(self):
        raise TypeError("operators are made by Engine.new_operator()")

    def __repr__(self):
        return f"<Opr {self.name!r}>"


def _int_env(name, default):
    text = os.environ.get(name)
    if text is None or not text.strip():
        return default
    try:
        value = int(text)
    except ValueError:
        raise ValueError(f"{name}={text!r}: an integer is wanted") from None
    if value < 1:
        raise ValueError(f"{name}={text!r}: at least 1 is wanted")
    return value


cdef FlushHook _flush_hook = NULL
cdef Engine _process = None
cdef int _bulk = 0
cdef int _bulk_depth = 0
cdef bint _exiting = False
_registry = []  # addresses of the live native engines, for fork and exit


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
            num_workers = _int_env("LAZYARRAY_CPU_WORKER_NTHREADS", max(2, os.cpu_count() or 2))
        elif isinstance(num_workers, bool) or not isinstance(num_workers, int):
            raise TypeError(f"num_workers is an integer, not {type(num_workers).__name__}")
        elif num_workers < 1:
            raise ValueError(f"num_workers is at least 1, not {num_workers}")
        self.c = create_engine(
            policy,
            num_workers,
            _int_env("LAZYARRAY_CPU_PRIORITY_NTHREADS", 4),
            _int_env("LAZYARRAY_GPU_WORKER_NTHREADS", 2),
            _int_env("LAZYARRAY_GPU_COPY_NTHREADS", 2),
        )
        self.c.on_thread_exit = leave_worker_thread
        _registry.append(<size_t>self.c)
        if _exiting:
            self.c.shutdown(NULL, NULL)
        return 0

    def __dealloc__(self):
        if self.c is NULL:
            return
        _registry.remove(<size_t>self.c)
        cdef CEngine* c = self.c
        with nogil:
            destroy_engine(c)  # drains

    cdef int flush(self) except -1:
        graveyard().sweep()
        if self.is_process and _flush_hook is not NULL:
            return _flush_hook()
        return 0

    # -- variables

    def new_variable(self):
        """A new variable of this engine."""
        return new_var(new CVar(self.c))

    def delete_variable(self, delete_fn, Device ctx not None, Var var not None):
        """Runs ``delete_fn(run_ctx)`` (or nothing, for None) when every earlier use of ``var`` is done.

        Never waits, and always runs, also on a poisoned variable. ValueError if ``var`` was
        deleted before.
        """
        if delete_fn is not None and not callable(delete_fn):
            raise TypeError(f"delete_fn is callable or None, not {type(delete_fn).__name__}")
        self.push_callable(delete_fn or _nothing, ctx, (), (var,), FnProperty.DELETE_VAR, 0,
                           "delete_variable", False)

    # -- operators

    def new_operator(self, fn, const_vars=(), mutable_vars=(), prop=FnProperty.NORMAL, name=None):
        """A reusable operator that calls ``fn(run_ctx)``; push it any number of times."""
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
        """Ends an operator; pushes made before still run. Does not wait."""
        self.check_operator(op)
        op.deleted = True

    def push(self, Opr op not None, Device ctx not None, object priority=0):
        """Pushes one run of ``op`` on device ``ctx``."""
        self.check_operator(op)
        self.push_callable(op.fn, ctx, op.const_vars, op.mutable_vars, op.prop, priority, op.name,
                           False)

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
        ``mutable_vars``. If it raises, the mutable variables are poisoned: each wait on them
        raises the same exception, and ops that read or write them are skipped.
        """
        _check_callable(fn)
        self.push_callable(fn, ctx, _vars(const_vars, "const_vars"),
                           _vars(mutable_vars, "mutable_vars"), FnProperty(prop), priority,
                           _name(fn, name), False)

    def push_async(self, fn, Device ctx not None, const_vars=(), mutable_vars=(),
                   prop=FnProperty.NORMAL, object priority=0, name=None):
        """Pushes ``fn(run_ctx, on_complete)``, which ends when ``on_complete(error=None)`` is called.

        Exactly once, from any thread; a second call is a RuntimeError.
        """
        _check_callable(fn)
        self.push_callable(fn, ctx, _vars(const_vars, "const_vars"),
                           _vars(mutable_vars, "mutable_vars"), FnProperty(prop), priority,
                           _name(fn, name), True)

    cdef int push_callable(self, object fn, Device ctx, tuple const_vars, tuple mutable_vars,
                           object prop, object priority, str name, bint is_async) except -1:
        if isinstance(priority, bool) or not hasattr(priority, "__index__"):
            raise TypeError(f"priority is an integer, not {type(priority).__name__}")
        cdef int rank = priority.__index__()
        self.flush()
        cdef COp* op = self.c.new_op()
        cdef PyTask* task = new PyTask()
        task.fn = <PyObject*>fn
        Py_INCREF(fn)
        task.site.capture()
        op.name = intern_name(name.encode())
        op.device = ctx.c
        op.priority = rank
        op.prop = <Prop><int>prop
        op.payload.run = _run_async_task if is_async else _run_task
        op.payload.drop = _drop_task
        op.payload.arg = task
        op.payload.is_async = is_async
        cdef Var v
        for o in mutable_vars:
            v = o
            op.merge_use(v.c, True)
        for o in const_vars:
            v = o
            op.merge_use(v.c, False)
        return self.push_op(op)

    cdef int push_op(self, COp* op) except -1:
        """Pushes; where ops run at the call (naive, at exit), waits and raises the op's error."""
        # With the GIL held: nobody takes it under the engine's mutex, so this can't deadlock.
        cdef CEngine* c = self.c
        cdef bint here = c.runs_here()
        # Nor does the pusher go on while an op touches memory that others can see. Not so for an
        # asynchronous one, which may be for the pusher to complete.
        cdef bint exported = False
        cdef size_t i
        if not op.payload.is_async:
            for i in range(op.uses.size()):
                exported = exported or op.uses[i].var.exports.load() > 0
        cdef Status status = c.push(op, True, here or exported)
        check_status(status, None)
        if not here and not exported:
            return 0
        cdef CError* error = NULL
        interrupt = []
        cdef void* arg = <void*>interrupt
        # Inside an op, what can't run yet waits for that op: it is left queued.
        if c.current() is NULL:
            with nogil:
                status = c.wait_op(op, _poll, arg)
        if op.result is not NULL:
            error = op.result.ref()
        c.release(op)
        check_status(status, interrupt)
        if not here and error is not NULL:
            error.unref()
            return 0
        return raise_error(error)

    # -- waits

    cdef int wait_var(self, CVar* var, bint everything) except -1:
        interrupt = []
        cdef void* arg = <void*>interrupt
        cdef CEngine* c = self.c
        cdef Status status
        if c.held() or not (var.idle() if everything else var.readable()):
            with nogil:
                status = c.wait(var, everything, _poll, arg)
            check_status(status, interrupt)
        return raise_error(c.error_of(var))

    def wait_for_var(self, Var var not None):
        """Blocks until the writes of ``var`` pushed before are done; raises what poisoned it."""
        if not self.c.owns(var.c):
            raise ValueError("the variable belongs to another engine")
        self.flush()
        self.wait_var(var.c, False)

    def wait_for_all(self):
        """Blocks until everything pushed before is done.

        Raises the first error, in push order, that no wait has raised yet. RuntimeError inside
        an op.
        """
        self.flush()
        interrupt = []
        cdef void* arg = <void*>interrupt
        cdef CEngine* c = self.c
        cdef Status status
        with nogil:
            status = c.wait_for_all(_poll, arg, -1)
        check_status(status, interrupt)
        raise_error(c.take_failure())

    def throw(self, Var var not None):
        """Raises what ``var`` holds now, without waiting or clearing."""
        if not self.c.owns(var.c):
            raise ValueError("the variable belongs to another engine")
        raise_error(self.c.error_of(var.c), False)

    # -- life

    def start(self):
        """Lets pushes in again after :meth:`stop`."""
        self.c.start()

    def stop(self):
        """Finishes all pushed work and ends the workers; a push is a RuntimeError until start()."""
        self.flush()
        interrupt = []
        cdef void* arg = <void*>interrupt
        cdef CEngine* c = self.c
        cdef Status status
        with nogil:
            status = c.stop(_poll, arg)
        check_status(status, interrupt)

    def notify_shutdown(self):
        """The process is ending: finish all work and end the workers; later pushes run at the call."""
        self.flush()
        interrupt = []
        cdef void* arg = <void*>interrupt
        cdef CEngine* c = self.c
        cdef Status status
        with nogil:
            status = c.shutdown(_poll, arg)
        check_status(status, interrupt)

    # -- settings and figures

    @property
    def bulk_size(self):
        """The greatest number of instructions in the process's open segment (0 and 1: none)."""
        return _bulk

    @bulk_size.setter
    def bulk_size(self, size):
        _set_bulk(size)

    def stats(self):
        """Counters since the start: a dict of ints."""
        cdef EngineStats s = self.c.stats()
        out = {"pushed": s.pushed, "completed": s.completed, "helped": s.helped,
               "waits": s.waits, "threads": s.threads, "pending_bytes": self.c.pending_bytes()}
        if self.is_process:
            for source in stat_sources:
                out.update(source())
        return out

    def trace_start(self):
        """Starts to note when each op is pushed, ready, started and ended."""
        self.flush()
        self.c.take_trace()
        self.c.trace(True)

    def trace_stop(self):
        """Stops tracing and returns one dict an op: times in nanoseconds, in completion order."""
        self.flush()
        self.c.trace(False)
        cdef TraceEvent t
        out = []
        for t in self.c.take_trace():
            out.append({"name": t.name.decode(), "seq": t.seq, "queued": t.queued,
                        "ready": t.ready, "start": t.start, "end": t.end, "worker": t.worker,
                        "skipped": t.skipped, "device": (t.device.kind, t.device.id)})
        return out

    def __repr__(self):
        return f"<{type(self).__name__}{' of the process' if self.is_process else ''}>"


stat_sources = []  # the upper rooms add their counters here


cdef class NaiveEngine(Engine):
    """Runs each op at the call, in the caller's thread, and raises there. For debugging."""

    def __init__(self, num_workers=None):
        self.create(NAIVE, num_workers)


cdef class ThreadedEnginePooled(Engine):
    """One pool of ``num_workers`` threads for all devices, and one thread for copies."""

    def __init__(self, num_workers=None):
        self.create(POOLED, num_workers)


cdef class ThreadedEnginePerDevice(Engine):
    """A pool of ``num_workers`` threads per device, and a priority pool shared by the CPUs."""

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


# ---- the process's engine -----------------------------------------------------------------------

_TYPES = {c.__name__: c for c in (NaiveEngine, ThreadedEnginePooled, ThreadedEnginePerDevice)}


cdef Engine process_engine():
    global _process
    if _process is None:
        name = os.environ.get("LAZYARRAY_ENGINE_TYPE") or "ThreadedEnginePerDevice"
        if name not in _TYPES:
            raise ValueError(
                f"LAZYARRAY_ENGINE_TYPE={name!r}: the engine types are {', '.join(_TYPES)}"
            )
        e = _TYPES[name]()
        (<Engine>e).is_process = True
        _process = e
    return _process


def get():
    """The engine of this process; its type comes from ``LAZYARRAY_ENGINE_TYPE``."""
    return process_engine()


def _set_bulk(size):
    global _bulk
    if isinstance(size, bool) or not hasattr(size, "__index__"):
        raise TypeError(f"a bulk size is an integer, not {type(size).__name__}")
    n = size.__index__()
    if n < 0:
        raise ValueError(f"a bulk size is not negative: {n}")
    if _process is not None:
        _process.flush()
    old, _bulk = _bulk, min(n, 1 << 20)
    return old


@contextlib.contextmanager
def bulk(size):
    """Within the block, up to ``size`` recorded instructions are planned and pushed together.

    >>> import lazyarray as la
    >>> with la.engine.bulk(8):
    ...     x = la.ones(4) + 1
    >>> x.asnumpy()
    array([2., 2., 2., 2.])
    """
    global _bulk_depth
    old = _set_bulk(size)
    _bulk_depth += 1
    try:
        yield
    finally:
        _bulk_depth -= 1
        _set_bulk(old)


_bulk = min(_int_env("LAZYARRAY_BULK_SIZE", 256) if os.environ.get("LAZYARRAY_BULK_SIZE") != "0"
            else 0, 1 << 20)


# ---- exit and fork ------------------------------------------------------------------------------

def _at_exit():
    # Before the interpreter goes away: afterwards no worker may take the GIL. Pushes that come
    # later still (other threads, atexit functions) run at the call.
    global _exiting
    cdef CEngine* c
    cdef Status status
    interrupt = []
    cdef void* arg = <void*>interrupt
    if _process is not None:
        _process.flush()
    _exiting = True
    for address in list(_registry):
        c = <CEngine*><size_t>address
        with nogil:
            status = c.shutdown(_poll, arg)
        if status != OK:
            # A worker that is still inside an op would take the GIL of a dead interpreter.
            print("lazyarray: interrupted at exit; unfinished work is lost", file=sys.stderr)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(130)
        _print_unseen(address)
    with nogil:
        join_destroyers()


def _print_unseen(address):
    cdef CError* e = (<CEngine*><size_t>address).take_failure()
    if e is NULL:
        return
    try:
        raise_error(e)
    except BaseException:
        print("lazyarray: at exit, an op had failed and nobody had waited for it:", file=sys.stderr)
        sys.excepthook(*sys.exc_info())


def _at_late_exit():
    if _process is not None:
        _process.flush()
    for address in list(_registry):
        _print_unseen(address)


threading._register_atexit(_at_exit)
atexit.register(_at_late_exit)

FORK_DRAIN_SECONDS = 10.0
_fork_drained = {}


def _before_fork():
    cdef CEngine* c
    cdef bint ok
    cdef int64_t left
    if _process is not None:
        _process.flush()
    deadline = time.monotonic() + FORK_DRAIN_SECONDS
    for address in list(_registry):
        c = <CEngine*><size_t>address
        while True:
            left = max(0, <int64_t>((deadline - time.monotonic()) * 1e9))
            with nogil:
                c.wait_for_all(NULL, NULL, left)
            # With the GIL: nobody can push between this and the fork.
            ok = c.fork_prepare(0)
            if ok or time.monotonic() > deadline or c.current() is not NULL:
                break
            c.fork_parent()
        _fork_drained[address] = ok
    if not all(_fork_drained.values()):
        raise RuntimeError(
            "os.fork(): engine work could not be drained (an op waits for the forking thread?); "
            "lazyarray cannot be used in the child"
        )


def _after_fork_in_parent():
    for address in _fork_drained:
        (<CEngine*><size_t>address).fork_parent()
    _fork_drained.clear()


def _after_fork_in_child():
    for address, ok in _fork_drained.items():
        (<CEngine*><size_t>address).fork_child(ok)
    _fork_drained.clear()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent,
                    after_in_child=_after_fork_in_child)
