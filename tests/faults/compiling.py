"""Faults while loops are compiled: python -m tests.faults.compiling WAY [SECONDS]

WAY: thread (none can be started), interrupts (Ctrl-C all the while), forks (children go on while
the parent's compiler is at work, which has new loops all the time).
"""

import _thread
import faulthandler
import os
import signal
import sys
import time

import numpy as np

import lazyarray as la
from lazyarray.lazy._lazy import _set_policy
from lazyarray.lazy.cpu.jit import _tier, thread


def program(k):
    """Its structure is one of many: each is a loop of its own."""
    a = np.linspace(0, 1, 20_000 + k % 50)
    x = la.array(a)
    for i in range(8):
        more = k >> i & 1
        x, a = ((v * v + i) / (v * v + 2) if more else v - 0.5 for v in (x, a))
    assert np.array_equal(x.asnumpy(), a)


def no_thread(seconds):
    def fails(*args, **kwargs):
        raise RuntimeError("can't start new thread")

    start, _thread.start_new_thread = _thread.start_new_thread, fails
    for k in range(100):
        program(k)
    time.sleep(0.01)
    assert _tier.jit_mode() == "0"
    _thread.start_new_thread = start
    began = time.monotonic()
    thread._at_exit()
    assert time.monotonic() - began < 4, "the exit waits for a thread that never was"


def until_one_is_used():
    """However long LLVM takes to be there, on a busy machine."""
    k, until = 0, time.monotonic() + 60
    while not _tier.compiled_loops()["ready"] and time.monotonic() < until:
        program(k := k + 1)


def interrupts(seconds):
    until_one_is_used()
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    until, sent, k = time.monotonic() + seconds, 0, 0
    while time.monotonic() < until:
        faulthandler.dump_traceback_later(30, exit=True)
        sent += 1
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.0005 + sent % 37 * 0.0005)
            while True:
                k += 1
                program(k)
        except KeyboardInterrupt:
            pass
    made = _tier.compiled_loops()["ready"]
    assert made > 0
    print(f"{sent} interrupts, each was heard; {made} loops")


def forks(seconds):
    until_one_is_used()
    until, children, k = time.monotonic() + seconds, 0, 0
    while time.monotonic() < until:
        for _ in range(3):
            k += 1
            program(k)
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                signal.alarm(100)
                for i in range(3):
                    program(k + i)
                code = 0
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        children += 1
    made = _tier.compiled_loops()["ready"]
    assert made > 0
    print(f"{children} children right; {made} loops")


if __name__ == "__main__":
    faulthandler.enable()
    _set_policy("compile_ns", 1e4)  # all loops are worth it
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 5
    {"thread": no_thread, "interrupts": interrupts, "forks": forks}[sys.argv[1]](seconds)
    print("ok")
