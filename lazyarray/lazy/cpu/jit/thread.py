"""The thread that compiles, beside all others: nobody waits for it.

It starts with the first loop that is worth it; LLVM is loaded there. The process ends once it is
done with the loop at hand, as LLVM must not be taken away under it.
"""

from __future__ import annotations

import _thread
import mmap
import os
import threading
import traceback
from collections.abc import Callable
from typing import Any

ident = 0  # of the thread; 0: there was none yet

_compiler: Any = None
_lock = threading.Lock()  # guards _compiler: with LAZYARRAY_JIT=eager any worker may come here
_leave: Callable[..., None] | None = None  # of who has started the thread; None: there is none
_busy = False
# So much address space there must be: LLVM ends the process where it finds no memory.
_ROOM = 64 << 20
_stopped = threading.Event()


def compile(description: str) -> int:
    """The address of the loop; 0 if it can't be compiled.

    In the main thread (which comes here with LAZYARRAY_JIT=eager) another one does it: an interrupt
    inside llvmlite leaves its lock held, and everybody would wait for that.
    """
    if threading.get_ident() != threading.main_thread().ident:
        return _compile(description)
    found: list[int] = []
    over = _thread.allocate_lock()
    over.acquire()

    def run() -> None:
        try:
            found.append(_compile(description))
        finally:
            over.release()

    _thread.start_new_thread(run, ())  # no Thread: what watches those swallows interrupts
    over.acquire()
    return found[0]


def _compile(description: str) -> int:
    global _compiler
    try:
        mmap.mmap(-1, _ROOM, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()
        with _lock:
            if _compiler is None:
                from lazyarray.lazy.cpu.jit.compiler import Compiler

                _compiler = Compiler()
            address: int = _compiler.compile(description)
    except Exception:  # whatever LLVM says: the loops that are there do the work
        if "jit" in os.environ.get("LAZYARRAY_DEBUG", "").split(","):
            traceback.print_exc()
        return 0
    return address


def start(
    next_loop: Callable[[], tuple[int, str] | None],
    made: Callable[[int, int], None],
    leave: Callable[..., None],
) -> None:
    """Starts the thread, unless there is one: it takes loops and gives their addresses.

    ``leave()`` has ``next_loop`` return None, ``leave(forked=True)`` makes it as new in a child,
    where with ``broken=True`` nothing more is compiled.
    """
    global _leave
    if _leave is None:
        _stopped.clear()
        _thread.start_new_thread(_run, (next_loop, made))
        _leave = leave  # last: where no thread can be started, nobody waits for it at exit


def _run(next_loop: Callable[[], tuple[int, str] | None], made: Callable[[int, int], None]) -> None:
    global _busy, ident
    ident = _thread.get_ident()
    try:
        while (job := next_loop()) is not None:
            _busy = True
            number, description = job
            made(number, compile(description))
            _busy = False
    finally:
        _stopped.set()


def _at_exit() -> None:
    if _leave is not None:
        _leave()
        _stopped.wait(5)


def _in_child() -> None:
    global _leave, _lock, _stopped
    _lock, _stopped = threading.Lock(), threading.Event()
    if _leave is not None:
        _leave(forked=True, broken=_busy)  # LLVM may have been left in the middle of something
        _leave = None


threading._register_atexit(_at_exit)  # type: ignore[attr-defined]
os.register_at_fork(after_in_child=_in_child)
