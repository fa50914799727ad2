"""Messages, dtypes and statistics where something is refused."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import lazyarray as la

ORDERS = [None, "A", "K", "a", "c", "f", b"F", b"K", "Q", "fortran", "", 5, 1.5, b"x"]
CALLS = {
    "empty": lambda m, o: m.empty((2, 3), order=o),
    "zeros": lambda m, o: (
        m.zeros((2, 3), float, o)
        if isinstance(o, str) and len(o) == 1
        else m.zeros((2, 3), order=o)
    ),
    "ones": lambda m, o: m.ones((2, 3), order=o),
    "full": lambda m, o: m.full((2, 3), 1.5, order=o),
    "array": lambda m, o: m.array([[1, 2], [3, 4]], order=o),
    "array_of_array": lambda m, o: m.array(m.ones((2, 3)).T, order=o),
    "empty_like": lambda m, o: m.empty_like(m.ones((2, 3)).T, order=o),
    "copy": lambda m, o: m.copy(m.ones((2, 3)).T, order=o),
    "flatten": lambda m, o: m.ones((2, 3)).T.flatten(order=o),
    "ravel": lambda m, o: m.ravel(m.ones((2, 3)).T, order=o),
    "reshape": lambda m, o: m.reshape(m.ones((2, 3)).T, (2, 3), order=o),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("order", ORDERS, ids=repr)
def test_orders_are_numpys(call, order):
    def outcome(m):
        try:
            x = call(m, order)
        except (TypeError, ValueError) as exc:
            return type(exc), str(exc)
        return x.shape, x.strides

    assert outcome(la) == outcome(np)


@pytest.mark.parametrize("name", ["rand", "randn"])
def test_draws_of_halves(name):
    draw = getattr(la.random, name)
    la.random.seed(3)
    halves = draw(100, dtype="float16")
    la.random.seed(3)
    assert halves.dtype == np.float16
    np.testing.assert_array_equal(halves.asnumpy(), draw(100).asnumpy().astype("f2"))
    for dtype in ("int32", "complex64", "bool"):
        with pytest.raises(TypeError, match="Unsupported dtype"):
            draw(2, dtype=dtype)
    for dtype in ("float32", "float64"):
        assert draw(2, dtype=dtype).dtype == dtype


PEAK = """
import lazyarray as la, sys
from lazyarray.storage._storage import pool_stats
def peak():
    return pool_stats(la.cpu(0))["peak"]
la.ones(100).wait_to_read()
before = peak()
for n in (1 << 45, 1 << 50, 1 << 56):
    try:
        la.empty(n, "u1").fill(1)
        la.waitall()
        x = la.zeros(n, "u1"); x.wait_to_read()
    except MemoryError:
        pass
assert peak() - before < 1 << 20, (before, peak())
"""


@pytest.mark.parametrize("limit", ["0", "1000000"])
def test_a_failed_allocation_is_no_peak(limit):
    env = os.environ | {"LAZYARRAY_MEM_LIMIT": limit}
    ran = subprocess.run(
        [sys.executable, "-c", PEAK], capture_output=True, text=True, timeout=250, env=env
    )
    assert ran.returncode == 0, ran.stderr


def test_the_tests_of_ctrl_c_work_where_it_is_ignored():
    """As under nohup, and in a shell's background jobs."""
    old = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        ran = subprocess.run(
            [
                sys.executable,
                "-m",
                "pytest",
                "-q",
                "-x",
                "-p",
                "no:cacheprovider",
                "tests/engine/test_interrupt.py",
                "-k",
                "handler_that_returns",
            ],
            capture_output=True,
            text=True,
            timeout=250,
            cwd=__file__.rpartition("/tests/")[0],
        )
    finally:
        signal.signal(signal.SIGINT, old)
    assert ran.returncode == 0, ran.stdout[-2000:]


COMPILED = """
import numpy as np
import lazyarray as la
from lazyarray.lazy._lazy import _set_policy
from lazyarray.lazy.cpu.jit import _tier, thread

class Late(Exception): pass

def once(*args):  # as a signal handler that runs in it
    setattr(thread, NAME, real)
    raise Late

real = getattr(thread, NAME)
setattr(thread, NAME, once)
_set_policy("compile_ns", 1e4)
x, heard = la.ones(200_000), 0
for k in range(3000):
    try:
        (((x + k) * 2 - x) / 3).asnumpy()
        if heard and _tier.compiled_loops()["ready"]:
            break
    except Late:
        heard += 1
assert heard == 1, heard
assert _tier.compiled_loops()["ready"] or NAME == "compile"
"""


@pytest.mark.parametrize(("name", "mode"), [("start", "1"), ("compile", "eager")])
def test_what_a_signal_handler_raises_while_loops_are_compiled_is_heard(name, mode):
    """Such as the TimeoutError of an alarm's handler; also where SIGINT is ignored."""
    pytest.importorskip("llvmlite")
    old = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        ran = subprocess.run(
            [sys.executable, "-c", COMPILED.replace("NAME", repr(name))],
            capture_output=True,
            text=True,
            timeout=250,
            env=os.environ
            | {"LAZYARRAY_JIT": mode, "LAZYARRAY_CACHE_DIR": "0", "LAZYARRAY_ENGINE_TYPE": ""},
        )
    finally:
        signal.signal(signal.SIGINT, old)
    assert ran.returncode == 0, ran.stderr


FORKED = """
import os
import signal
import time
import lazyarray as la

class Late(Exception): pass

def ring(number, frame):
    raise Late

signal.signal(signal.SIGALRM, ring)
end, forks = time.monotonic() + 1.5, 0
while time.monotonic() < end:
    forks += 1
    heard, stage, pid, x = False, 0, -1, la.ones(300_000)
    for _ in range(5):
        try:
            while stage < 3:
                if stage == 0:
                    signal.setitimer(signal.ITIMER_REAL, 1e-4 + forks % 20 * 1e-4)
                    y = (x * 2 + forks).sum()
                    pid = os.fork()
                    if pid == 0:
                        os._exit(0 if y.item() == 300_000 * (2 + forks) else 1)
                    stage = 1
                elif stage == 1 and pid > 0:
                    stage = 2  # not twice
                    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
                elif stage == 2 and not heard:
                    time.sleep(5)
                    break
                else:
                    stage += 1
        except Late:
            heard, stage = True, max(stage, 1)
    assert heard, forks
print(forks)
"""


def test_what_a_signal_handler_raises_in_a_fork_is_heard():
    ran = subprocess.run(
        # From 3.12 on Python warns of a fork beside threads, and drops what is raised as it does.
        [sys.executable, "-W", "ignore", "-c", FORKED],
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "Exception ignored" not in ran.stderr, ran.stderr


def test_cupy_is_searched_for_once(monkeypatch):
    """Each search took 60 us, and lost a Ctrl-C that came at the end of it."""
    searched = []

    class Finder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            searched.append(name)

    if "cupy" not in sys.modules:
        la.cpu_pinned()
    monkeypatch.setattr(sys, "meta_path", [Finder, *sys.meta_path])
    la.cpu_pinned()
    assert searched == []


INTERRUPTED = """
import random
import signal
import numpy as np
import lazyarray as la
from lazyarray.lazy._lazy import _set_policy

_set_policy("direct_bytes", 0)  # a call of NumPy's is an op
random.seed(1)
values = np.random.default_rng(0).random(20_000)
x, want, heard = la.array(values), np.histogram(values)[0].tolist(), 0
signal.signal(signal.SIGALRM, signal.default_int_handler)
for size in (2000, 20_000) * 60:  # run by who records it, or by who waits for it
    part, want = x[:size], np.histogram(values[:size])[0].tolist()
    counts = la.histogram(part)[0]
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(1e-5, 1e-3))
        while True:
            counts = la.histogram(part)[0]
            counts.wait_to_read()
    except KeyboardInterrupt:
        heard += 1
    assert counts.tolist() == want
print(heard)
"""


def test_what_an_interrupt_meets_is_no_failure():
    """Ctrl-C in a call of NumPy's that the main thread made became the result's error."""
    ran = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=250
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "120\n"
