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
        e = _TYPES[name]()
        (<Engine>e).is_process = True
        _process = e
        if os.environ.get("LAZYARRAY_ENGINE_INFO", "0") not in ("", "0"):
            print(f"lazyarray: {name}, bulk size {_bulk}, process {os.getpid()}", file=sys.stderr)
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


_bulk = min(int_env("LAZYARRAY_BULK_SIZE", 256, least=0), 1 << 20)



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
            status = c.shutdown(poll_signals, arg)
        if status != OK:
            # A worker that is still inside an op would take the GIL of a dead interpreter.
            print("lazyarray: interrupted at exit; unfinished work is lost", file=sys.stderr)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(130)
        _print_unseen(address)
    with nogil:
        join_destroyers()


def _print_unseen(address, when="at exit"):
    for e in (<CEngine*><size_t>address).take_failures():
        try:
            raise_error(e)
        except BaseException:
            print(f"lazyarray: {when}; an op had failed and nobody had waited for it:",
                  file=sys.stderr)
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
    # Drain without locks until nothing is left of any engine, then take all the locks without
    # letting go of the GIL: nobody can push in between, and nobody who has the GIL can be waiting
    # for one of them.
    cdef CEngine* c
    cdef int64_t left
    deadline = time.monotonic() + FORK_DRAIN_SECONDS
    engines = list(_registry)
    while True:
        if _process is not None:
            _process.flush()
        for address in engines:
            c = <CEngine*><size_t>address
            left = max(0, <int64_t>((deadline - time.monotonic()) * 1e9))
            with nogil:
                c.wait_for_all(NULL, NULL, left)
        for address in engines:
            _fork_drained[address] = (<CEngine*><size_t>address).fork_prepare(0)
        inside = any((<CEngine*><size_t>address).current() is not NULL for address in engines)
        if all(_fork_drained.values()) or inside or time.monotonic() > deadline:
            break
        _after_fork_in_parent()
        time.sleep(0.001)
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
        for e in (<CEngine*><size_t>address).take_failures():
            e.unref()  # the parent prints them
    _fork_drained.clear()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent,
                    after_in_child=_after_fork_in_child)
