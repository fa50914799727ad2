"""The thread that compiles, beside all others: nobody waits for it.

It starts with the first loop that is worth it; LLVM is loaded there. The process ends once it is done with the loop
at hand, as LLVM must not be taken away under it.
"""

from __future__ import annotations

import _thread
import os
import threading
import traceback
from typing import Any

from lazyarray.lazy import _lazy

_compiler: Any = None
_started = _busy = False
_stopped = threading.Event()


def compile(description: str) -> int:
    """The address of the loop; 0 if it can't be compiled."""
    global _compiler
    try:
        if _compiler is None:
            from lazyarray.lazy.cpu.jit.compiler import Compiler

            _compiler = Compiler()
        address: int = _compiler.compile(description)
    except Exception:  # whatever LLVM says: the loops that are there do the work
        if "jit" in os.environ.get("LAZYARRAY_DEBUG", "").split(","):
            traceback.print_exc()
        return 0
    return address


def start() -> None:
    """Starts the thread, unless there is one."""
    global _started
    if not _started:
        _started = True
        _stopped.clear()
        _thread.start_new_thread(_run, ())


def _run() -> None:
    global _busy
    try:
        while (job := _lazy.next_loop()) is not None:
            _busy = True
            number, description = job
            _lazy.loop_made(number, compile(description))
            _busy = False
    finally:
        _stopped.set()


def _at_exit() -> None:
    if _started:
        _lazy.leave_compiler()
        _stopped.wait(5)


def _in_child() -> None:
    global _started, _compiler
    _lazy.leave_compiler(forked=True)
    if _busy:  # LLVM was left in the middle of something
        _lazy._set_jit("0")
    _started = False


threading._register_atexit(_at_exit)  # type: ignore[attr-defined]
os.register_at_fork(after_in_child=_in_child)
