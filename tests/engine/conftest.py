"""Fixtures of the engine tests: engines of each kind, gates that always open, and a watchdog."""

import faulthandler
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import pytest

KINDS = ("NaiveEngine", "ThreadedEnginePooled", "ThreadedEnginePerDevice")
TEST_SECONDS = 100  # a test that takes longer hangs, on a busy machine, too
PATIENCE = 50  # the longest any helper waits for what must happen


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    """A hang that even a signal cannot end prints every stack and ends the run."""
    _watch()
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    """The end of a test that failed is watched, too: pytest ends the watch where it reports."""
    _watch()
    return (yield)


def _watch():
    faulthandler.dump_traceback_later(2 * TEST_SECONDS, exit=True, file=sys.__stderr__)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """A hang that notices signals, as every engine wait must, fails its own test only."""

    def late(signum, frame):
        raise TimeoutError(f"{item.name} took more than {TEST_SECONDS} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, TEST_SECONDS)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


class Gate(threading.Event):
    """An event whose wait fails, rather than returns False, when nobody sets it.

    It outlasts its test: an op that gave up before would hide that something waits for it.
    """

    def wait(self, timeout=2 * TEST_SECONDS):
        assert super().wait(timeout), "nobody opened this gate"
        return True


class World:
    """What a test started; at its end gates open first, so that the rest can finish."""

    def __init__(self):
        self.gates, self.threads, self.engines = [], [], []

    def gate(self):
        self.gates.append(Gate())
        return self.gates[-1]

    def spawn(self, fn, *args):
        """Start a thread; .finish() joins it and raises what it raised."""
        thread = _Thread(fn, args)
        self.threads.append(thread)
        thread.start()
        return thread

    def make_engine(self, kind="ThreadedEnginePerDevice", num_workers=2):
        from lazyarray import engine

        cls = getattr(engine, kind)
        made = cls() if kind == "NaiveEngine" else cls(num_workers=num_workers)
        self.engines.append(made)
        return made

    def close(self):
        for gate in self.gates:
            gate.set()
        for thread in self.threads:
            thread.join(PATIENCE)
        for made in self.engines:
            try:
                made.wait_for_all()
            except BaseException:
                pass  # an error the test did not ask for again; it must not print at exit
            made.stop()


class _Thread(threading.Thread):
    def __init__(self, fn, args):
        super().__init__(daemon=True)
        self.fn, self.args, self.error, self.result = fn, args, None, None

    def run(self):
        try:
            self.result = self.fn(*self.args)
        except BaseException as error:
            self.error = error

    def finish(self):
        self.join(PATIENCE)
        assert not self.is_alive(), "the thread hangs"
        if self.error is not None:
            raise self.error
        return self.result


@pytest.fixture
def world():
    made = World()
    yield made
    made.close()


@pytest.fixture
def gate(world):
    return world.gate


@pytest.fixture
def spawn(world):
    return world.spawn


@pytest.fixture
def make_engine(world):
    return world.make_engine


@pytest.fixture
def naive(world):
    return world.make_engine("NaiveEngine")


@pytest.fixture(params=KINDS)
def any_engine(request, world):
    """Each kind of engine; the threaded ones with two workers."""
    return world.make_engine(request.param)


@pytest.fixture(params=KINDS[1:])
def threaded(request, world):
    """Both threaded engines with two workers."""
    return world.make_engine(request.param)


@pytest.fixture(params=KINDS[1:])
def single(request, world):
    """Both threaded engines with one worker (a device)."""
    return world.make_engine(request.param, 1)


@pytest.fixture
def cpu():
    from lazyarray import engine

    return engine.Device("cpu", 0)


@pytest.fixture
def cpu1():
    from lazyarray import engine

    return engine.Device("cpu", 1)


@pytest.fixture
def block(world):
    """block(e, ctx, ...) pushes an op that is running, and stays so, until its gate is set."""

    def block(e, ctx, const_vars=(), mutable_vars=(), **kw):
        started, gate = Gate(), world.gate()

        def hold(run_ctx):
            started.set()
            gate.wait()

        e.push_sync(hold, ctx, const_vars, mutable_vars, **kw)
        started.wait()
        return gate

    return block


@pytest.fixture
def pass_through():
    """Push an unrelated op and wait for it.

    A pool is FIFO, so with one worker free all that was ready before has then run: what has not
    run was not ready.
    """

    def pass_through(e, ctx):
        var = e.new_variable()
        e.push_sync(lambda run_ctx: None, ctx, (), (var,))
        e.wait_for_var(var)

    return pass_through


@pytest.fixture
def eventually():
    def eventually(predicate):
        end = time.monotonic() + PATIENCE
        while not predicate():
            assert time.monotonic() < end, "this never came true"
            time.sleep(0.002)

    return eventually


PREAMBLE = """
import gc, os, signal, sys, threading, time
from lazyarray import engine
cpu = engine.Device("cpu", 0)
signal.alarm(100)  # no process outlives its test
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored under nohup, say

def fork():
    pid = os.fork()
    if pid == 0:
        signal.alarm(100)
    return pid

def exit_code(pid):
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
"""


@pytest.fixture
def script():
    """script(code, **env) runs code, after PREAMBLE, in a fresh interpreter."""
    import lazyarray

    root = str(pathlib.Path(next(iter(lazyarray.__path__))).resolve().parent)

    def start(code, **env):
        full = {k: v for k, v in os.environ.items() if not k.startswith("LAZYARRAY_")}
        path = os.pathsep.join(p for p in (root, full.get("PYTHONPATH")) if p)
        full |= {"PYTHONPATH": path, "PYTHONFAULTHANDLER": "1"} | env
        return subprocess.Popen(
            [sys.executable, "-u", "-c", PREAMBLE + code],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=full,
        )

    def script(code, **env):
        process = start(code, **env)
        try:
            out, err = process.communicate(timeout=250)
        except BaseException:
            process.kill()
            process.communicate()
            raise
        return subprocess.CompletedProcess(process.args[-1], process.returncode, out, err)

    script.start = start
    return script
