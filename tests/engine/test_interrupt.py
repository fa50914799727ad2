"""Ctrl-C during a wait, in a process of its own."""

import signal
import time

import pytest

OWN = "e = engine.ThreadedEnginePooled(num_workers=2)\n"
PROCESS = "e = engine.get()\n"
ENGINE = pytest.mark.parametrize("make", [PROCESS, OWN], ids=["process", "own"])


def interrupt(script, code, **env):
    """Run code to its line "ready", send SIGINT a little later, return the seconds it took."""
    process = script.start(code, **env)
    try:
        assert process.stdout.readline().strip() == "ready", process.stderr.read()
        time.sleep(0.3)  # to be inside the wait; the test also holds if it is not
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline().strip() == "interrupted", process.stderr.read()
        seconds = time.monotonic() - begin
        # not communicate(), which would lose what readline() has buffered
        out, err = process.stdout.read(), process.stderr.read()
        process.wait(30)
    except BaseException:
        process.kill()
        process.communicate()
        raise
    return seconds, out.split(), err, process.returncode


WAIT = """
go = threading.Event()
v = e.new_variable()
e.push_sync(lambda rc: go.wait(150), cpu, (), (v,))
print("ready")
try:
    {wait}
except KeyboardInterrupt:
    print("interrupted")
go.set()
e.wait_for_var(v)
w = e.new_variable()
e.push_sync(lambda rc: print("usable"), cpu, (), (w,))
e.wait_for_var(w)
"""


@ENGINE
@pytest.mark.parametrize("wait", ["e.wait_for_var(v)", "e.wait_for_all()"])
def test_ctrl_c_ends_a_wait(make, wait, script):
    seconds = []
    while len(seconds) < 20 and not any(s < 0.5 for s in seconds):  # a busy machine may be late
        taken, out, err, code = interrupt(script, make + WAIT.format(wait=wait))
        assert (out, code) == (["usable"], 0), err
        seconds.append(taken)
    assert min(seconds) < 0.5


def test_uncaught_ctrl_c_ends_the_program(script):
    """The pending op is finished all the same, by a timer here."""
    code = """
e = engine.get()
go = threading.Event()
v = e.new_variable()
e.push_sync(lambda rc: (go.wait(150), print("finished")), cpu, (), (v,))
def opened():
    print("interrupted")
    go.set()
print("ready")
try:
    e.wait_for_var(v)
finally:
    threading.Timer(0.1, opened).start()
"""
    _seconds, out, err, code = interrupt(script, code)
    assert out == ["finished"], err
    assert "KeyboardInterrupt" in err and code in (-signal.SIGINT, 130)


def test_handler_that_returns_lets_the_wait_go_on(script):
    """A signal is not an end: the wait runs its handler and waits again."""
    code = """
e = engine.get()
go = threading.Event()
v = e.new_variable()
e.push_sync(lambda rc: (go.wait(150), print("finished")), cpu, (), (v,))
def handler(*args):
    print("interrupted")
    threading.Timer(0.2, go.set).start()
signal.signal(signal.SIGINT, handler)
print("ready")
e.wait_for_var(v)
print("waited")
"""
    _seconds, out, err, code = interrupt(script, code)
    assert (out, code) == (["finished", "waited"], 0), err


def test_the_end_after_a_ctrl_c_tells_what_it_waits_for(script):
    pushed = """
e = engine.ThreadedEnginePerDevice()
v = e.new_variable()
e.push_sync(lambda rc: (time.sleep({}), print("finished")), cpu, (), (v,))
raise {}
"""
    told = "lazyarray: finishing what is pending; Ctrl-C once more ends the process without it"

    def tells(seconds, error):
        run = script(pushed.format(seconds, error))
        assert run.stdout == "finished\n"
        assert "ignored" not in run.stderr, run.stderr
        return told in run.stderr

    # It is told after half a second: a busy machine may be late either way.
    assert any(tells(1.2, "KeyboardInterrupt") for _ in range(10))
    assert not all(tells(0.1, "KeyboardInterrupt") for _ in range(10))
    assert not tells(1.2, "KeyError")


def test_ctrl_c_ends_the_wait_at_exit(script):
    """An op that never ends must not make a process that only SIGKILL ends."""
    code = """
import atexit
e = engine.get()
held = []
e.push_async(lambda rc, oc: held.append(oc), cpu, prop=engine.FnProperty.ASYNC)
signal.alarm(60)
print("ready")
"""
    process = script.start(code)
    try:
        assert process.stdout.readline().strip() == "ready", process.stderr.read()
        time.sleep(0.5)  # to be at exit; a Ctrl-C that comes earlier ends it too
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    except BaseException:
        process.kill()
        process.communicate()
        raise
    assert process.returncode != -signal.SIGALRM, "it hung until the alarm"


def test_ctrl_c_ends_a_wait_that_takes_part(script):
    """One long pass, on the worker and the thread that waits, which leaves it for a moment."""
    code = """
import numpy as np, lazyarray as la
x = la.full(4_000_000, 0.5)
with la.engine.bulk(1000):
    y = x
    for _ in range(200):
        y = la.sin(y)
print("ready")
try:
    y.wait_to_read()
except KeyboardInterrupt:
    print("interrupted")
    begin = time.monotonic()
y.wait_to_read()
if time.monotonic() - begin > 0.2:
    print("left")
want = np.full(1, 0.5)
for _ in range(200):
    want = np.sin(want)
print(bool((y == want).all()))
"""
    two = {"LAZYARRAY_CPU_WORKER_NTHREADS": "2"}  # or else many cores are done too soon
    for _ in range(10):  # a busy machine may be late
        _seconds, out, err, code_ = interrupt(script, code, **two)
        assert code_ == 0 and out[-1] == "True", err
        if out[0] == "left":
            return
    raise AssertionError("the wait went on to the end of the pass")


def test_an_op_that_its_pusher_runs(script):
    """Ctrl-C ends the op, and is the program's."""
    code = """
import signal
heard = 0
def handler(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, handler)
e = engine.get()
for k in range(6):
    v = e.new_variable()
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        if k % 2:
            e.push_sync(lambda rc: time.sleep(0.2), cpu, (), (v,), prop=engine.FnProperty.ASYNC)
        else:
            e.push_async(lambda rc, done: (time.sleep(0.2), done()), cpu, (), (v,))
        time.sleep(0.3)
    except KeyboardInterrupt:
        heard += 1
    try:
        e.wait_for_var(v)
    except KeyboardInterrupt:
        pass
print(heard)
"""
    run = script(code)
    assert (run.returncode, run.stdout.strip()) == (0, "6"), run.stderr


def test_a_stop_that_waits_for_another_stop(script):
    code = (
        OWN
        + """
import os, signal
go = threading.Event()
e.push_sync(lambda rc: go.wait(20), cpu)
other = threading.Thread(target=e.stop)
other.start()
time.sleep(0.2)
begin = time.monotonic()
try:
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    e.stop()
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - begin < 5)
go.set()
other.join()
"""
    )
    run = script(code)
    assert (run.returncode, run.stdout.strip()) == (0, "interrupted True"), run.stderr
