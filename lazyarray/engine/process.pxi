# The process's engine: its choice, bulk, exit and fork.


_TYPES = {c.__name__: c for c in (NaiveEngine, ThreadedEnginePooled, ThreadedEnginePerDevice)}


cdef Engine process_engine():
    global _process
    if _process is None:
        name = os.environ.get("LAZYARRAY_ENGINE_TYPE") or "ThreadedEnginePerDevice"
        if name not in _TYPES:
            raise ValueError(
                f"LAZYARRAY_ENGINE_TYPE={name!r}: the engine types are {', '.join(_TYPES)}"
            )
        told = int_env("LAZYARRAY_ENGINE_INFO", 0, least=0)
        e = _TYPES[name]()
        (<Engine>e).is_process = True
        _process = e
        if told:
            print(f"lazyarray: {name}, bulk size {_bulk}, process {os.getpid()}", file=sys.stderr)
    return _process


def get():
    """The engine of this process; its type comes from ``LAZYARRAY_ENGINE_TYPE``.

    Returns: the same object each time.
    Raises: nothing.
    """
    return process_engine()


def _checked_bulk(size):
    if isinstance(size, bool) or not hasattr(size, "__index__"):
        raise TypeError(f"a bulk size is an integer, not {type(size).__name__}")
    n = size.__index__()
    if n < 0:
        raise ValueError(f"a bulk size is not negative: {n}")
    return min(n, 1 << 20)


def _set_bulk(size):
    global _bulk
    n = _checked_bulk(size)
    if _process is not None:
        _process.flush()
    _bulk = n


class _BulkScope(_BulkSize, contextlib.ContextDecorator):
    def _recreate_cm(self):
        return _BulkScope(self.size)


def bulk(size):
    """Within the block, up to ``size`` recorded instructions are planned and pushed together.

    Args:
        size: how many; 0 or 1 pushes each by itself.
    Returns: a scope, for ``with``.
    Raises: TypeError for what is no integer; ValueError for a negative one.

    >>> import lazyarray as la
    >>> with la.engine.bulk(8):
    ...     x = la.ones(4) + 1
    >>> x.asnumpy()
    array([2., 2., 2., 2.])
    """
    return _BulkScope(size)


_bulk = min(int_env("LAZYARRAY_BULK_SIZE", 1024, least=0), 1 << 20)



cdef list living():
    """The engines, which no other thread destroys while they are held."""
    return [e for e in [known() for known in list(_registry.values())] if e is not None]


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
    for engine in living():
        c = (<Engine>engine).c
        status = OK
        if getattr(sys, "last_type", None) is KeyboardInterrupt:
            with nogil:  # what takes but a moment needs no word
                status = c.wait_for_all(poll_signals, arg, 500000000)
            if status == TIMEOUT:
                print("lazyarray: finishing what is pending; Ctrl-C once more ends the process without it",
                      file=sys.stderr)
                status = OK
        if status == OK:
            with nogil:
                status = c.shutdown(poll_signals, arg)
        if status != OK:
            # A worker that is still inside an op would take the GIL of a dead interpreter.
            print("lazyarray: interrupted at exit; unfinished work is lost", file=sys.stderr)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(130)
        _print_unseen(c)
    with nogil:
        join_destroyers()


cdef size_t _MOST_PRINTED = 20


cdef int _print_unseen(CEngine* c, when="at exit") except -1:
    cdef vector[CError*] failures = c.take_failures()
    cdef size_t i
    for i in range(failures.size()):
        if i >= _MOST_PRINTED:
            failures[i].unref()
            continue
        try:
            raise_error(failures[i])
        except BaseException as exc:
            print(f"lazyarray: {when}; an op had failed and nobody had waited for it:",
                  file=sys.stderr)
            # Without the frames of this function and of raise_error: nobody called.
            tb = exc.__traceback__.tb_next.tb_next
            sys.excepthook(type(exc), exc.with_traceback(tb), tb)
    if failures.size() > _MOST_PRINTED:
        print(f"lazyarray: {when}; {failures.size() - _MOST_PRINTED} other ops had failed, too", file=sys.stderr)
    return 0


def _at_late_exit():
    if _process is not None:
        _process.flush()
    for engine in living():
        _print_unseen((<Engine>engine).c)


threading._register_atexit(_at_exit)
atexit.register(_at_late_exit)

FORK_DRAIN_SECONDS = 10.0
_FORK_HOLD_SECONDS = 0.1  # doubled each time that it was not enough


cdef int step_aside() except -1:
    """Before a push: waits while another thread forks, so that all stays drained until it has."""
    while fork_first():
        time.sleep(0.0005)
    return 0


_interrupt = None  # what a signal handler raised as a fork was prepared
# Locks of other modules, those that are taken while the engines still run, and those that are held now.
_held_at_forks, _held_before, _holds = [], [], []
_forking = []  # engines: those that live when a fork comes live until it is over


cdef bint drained_for(double seconds):
    """Whether these engines came to rest in that time. They are asked without the GIL, which ops may need."""
    cdef CEngine* c
    cdef int64_t left
    cdef bint drained = True
    end = time.monotonic() + seconds
    try:
        if _process is not None:
            _process.flush()
    except MemoryError:  # what was recorded stays so, in the child too
        pass
    for engine in _forking:
        c = (<Engine>engine).c
        left = max(0, <int64_t>((end - time.monotonic()) * 1e9))
        with nogil:
            drained = c.fork_prepare(left) and drained
            c.fork_parent()
    return drained


def _before_fork():
    # Other threads' pushes are held back first: under load there is always something new, and what is
    # there already would never end. But an op may wait for a thread that is held: so they are let go
    # after a while, and held for longer the next time. Other modules' hooks may run between this one
    # and the fork, and other threads meanwhile: see core/fork.cpp, which takes the locks.
    cdef vector[CEngine*] all
    global _interrupt
    hold = _FORK_HOLD_SECONDS
    drained = inside = again = False
    _interrupt = None
    deadline = time.monotonic() + FORK_DRAIN_SECONDS / 2
    for lock in _held_before:  # whoever has one for longer than that may wait for this thread
        try:
            if lock.acquire(timeout=max(0, deadline - time.monotonic())):
                _holds.append(lock)
        except BaseException as exc:  # as below
            _interrupt = exc
    deadline = time.monotonic() + FORK_DRAIN_SECONDS
    while not drained and not inside and time.monotonic() < deadline:
        try:
            if again:
                fork_over()
                time.sleep(0.01)
                hold *= 2
            step_aside()  # two threads that fork do so in turn
            all.clear()
            _forking[:] = living()
            for engine in _forking:
                all.push_back((<Engine>engine).c)
                inside = inside or (<Engine>engine).c.current() is not NULL
            fork_comes(all)
            again = True
            drained = drained_for(min(hold, deadline - time.monotonic())) and not inside
        except BaseException as exc:  # a signal handler's; what a hook raises keeps no fork from coming
            _interrupt = exc
    if not drained:
        raise RuntimeError(
            "os.fork(): engine work could not be drained (an op waits for the forking thread?); "
            "lazyarray cannot be used in the child"
        )
    for lock in _held_at_forks:
        lock.acquire()
        _holds.append(lock)


cdef int _let_go() except -1:
    while _holds:
        _holds.pop().release()
    return 0


def hold_at_fork(lock, *, pushes=False):
    """Has a lock be held as the process forks, so that no child finds it taken by a thread that it hasn't got.

    It is taken when the engines are at rest, since ops may need it before; if who holds it ``pushes``, before that.
    """
    (_held_before if pushes else _held_at_forks).append(lock)


def _after_fork_in_parent():
    global _interrupt
    _let_go()
    fork_over()
    _forking.clear()
    if _interrupt is not None:
        raise_later(_interrupt)
        _interrupt = None


def _after_fork_in_child():
    _let_go()
    fork_over()
    for address in list(_registry):
        for e in (<CEngine*><size_t>address).take_failures():
            e.unref()  # the parent prints them
    _forking.clear()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent,
                    after_in_child=_after_fork_in_child)
