# distutils: language = c++
"""The compiled tier's Python side: what is to be compiled, and what came of it."""

import importlib.util
import os

from libc.stdint cimport int64_t
from libcpp cimport bool as cbool
from libcpp.string cimport string
from libcpp.vector cimport vector

from lazyarray.engine._engine import check_methods
from lazyarray.lazy._lazy import teach_codes
from lazyarray.lazy.cpu.jit.expressions import can_compile

from lazyarray.engine._engine cimport (
    SPAN_EVENT,
    CEngine,
    ProfileSpan,
    adopt_worker_thread,
    process_engine,
    raise_later,
    this_thread,
)
from lazyarray.lazy._lazy cimport npy_intp, recorder

cdef extern from "lazy/cpu/tier.h" namespace "lazyarray" nogil:
    ctypedef void (*LoopFunction "lazyarray::CompiledLoop::Function")(char**, const npy_intp*, const npy_intp*)
    cdef cppclass CompiledLoop:
        const string text
        void made(LoopFunction)
    cdef cppclass Tier:
        cbool on
        void (*wake)() noexcept
        void (*now)(CompiledLoop*) noexcept
        CompiledLoop* next()
        void leave()
        void forked()
        void count(int64_t*)
        vector[string] refused() except +
    Tier& tier()

cdef extern from "Python.h":
    int Py_AddPendingCall(int (*)(void*) noexcept, void*) nogil


cdef int _start_compiler(void* unused) noexcept:
    """In the main thread, between two lines of whatever it runs."""
    try:
        from lazyarray.lazy.cpu.jit import thread

        thread.start(next_loop, loop_made, leave_compiler)
    except (ImportError, RuntimeError, MemoryError):  # then nothing is compiled
        tier().on = recorder().compiles = False
    except BaseException as exc:  # a signal handler's: once more, where it is heard
        _wake_compiler()
        raise_later(exc)
    return 0


cdef void _wake_compiler() noexcept nogil:
    Py_AddPendingCall(_start_compiler, NULL)


cdef void _compile_now(CompiledLoop* loop) noexcept nogil:
    adopt_worker_thread()
    with gil:
        try:
            from lazyarray.lazy.cpu.jit import thread

            _compilation_starts()
            loop_made(<size_t>loop, thread.compile(loop.text.decode()))
        except (ImportError, RuntimeError, MemoryError):
            loop.made(NULL)
        except BaseException as exc:
            loop.made(NULL)
            raise_later(exc)


def next_loop():
    """What to compile next, as (its number, its description); waits for it. None: nothing any more."""
    cdef CompiledLoop* loop
    with nogil:
        loop = tier().next()
    _compilation_starts()
    return None if loop is NULL else (<size_t>loop, loop.text.decode())


def loop_made(size_t number, size_t address):
    """The compiled loop is at this address; 0: it can't be compiled."""
    (<CompiledLoop*>number).made(<LoopFunction>address)
    _compilation_ends()


cdef int64_t _started = 0  # of the compilation that is profiled; 0: none is. GIL; only for people's eyes


cdef void _compilation_starts() noexcept:
    global _started
    cdef CEngine* engine = process_engine().c
    _started = engine.now() if engine.profiling() else 0


cdef void _compilation_ends() noexcept:
    cdef CEngine* engine = process_engine().c
    cdef ProfileSpan s
    if not _started or not engine.profiling():
        return
    s.kind = SPAN_EVENT
    s.name = b"compile a loop"
    s.start, s.end = _started, engine.now()
    s.thread = this_thread()
    s.worker = engine.current_worker()
    engine.profile().add(s)


def leave_compiler(bint forked=False, bint broken=False):
    """Has next_loop() return None; or, in the child of a fork, makes it as new. ``broken``: compiles no more."""
    if broken:
        _set_jit("0")
    if forked:
        tier().forked()
    else:
        tier().leave()


def compiled_loops():
    """How many structures of fused ops are compiled: a dict.

    ``new``: they have not done enough work yet; ``asked``: the compiler has them; ``compiled``: not
    yet compared with NumPy's loops; ``ready``: in use; ``refused``: they can't be compiled, or gave
    other bits.
    """
    cdef int64_t n[6]
    cdef int i
    for i in range(6):
        n[i] = 0
    tier().count(n)
    return {"new": n[0], "asked": n[1], "compiled": n[2] + n[3], "ready": n[4], "refused": n[5]}


def refused_loops():
    """The descriptions (see description.py) of structures that can't be compiled, or gave other bits."""
    return [text.decode() for text in tier().refused()]


def jit_mode():
    """"0": nothing is compiled; "1": what pays; "eager": everything, at once, for tests."""
    return "0" if not tier().on else "1" if tier().now is NULL else "eager"


def _set_jit(str mode):
    """For tests: "0", "1" or "eager", as LAZYARRAY_JIT; the mode before."""
    before = jit_mode()
    if mode not in ("0", "1", "eager"):
        raise ValueError(f"LAZYARRAY_JIT is 0, 1 or eager, not {mode!r}")
    tier().on = recorder().compiles = mode != "0"
    tier().now = NULL
    if mode == "eager":
        tier().now = _compile_now
    recorder().replan()
    return before


cdef int _set_up() except -1:
    mode = os.environ.get("LAZYARRAY_JIT") or "1"
    tier().wake = _wake_compiler
    if mode != "0" and importlib.util.find_spec("llvmlite") is None:
        mode = "0"
    _set_jit(mode)
    if mode != "0":
        teach_codes(can_compile)
    return 0


_set_up()

check_methods(globals())
