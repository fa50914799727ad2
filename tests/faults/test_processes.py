"""Processes made while work is under way: see pools.py."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.timeout(1500)  # the long versions

THOROUGH = bool(os.environ.get("LAZYARRAY_TEST_FAULTS"))


def pools(method, rounds, threads):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.faults.pools", method, rounds, threads],
        capture_output=True, text=True, timeout=600)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    print(done.stdout, end="")
    return done.stdout


@pytest.mark.parametrize("threads", ["1", "4", "16"] if THOROUGH else ["3"])
@pytest.mark.parametrize("method", ["fork", *(["forkserver", "spawn"] if THOROUGH else [])])
def test_processes_under_load(method, threads):
    assert " right" in pools(method, "10" if THOROUGH else "2", threads)


@pytest.mark.parametrize("threads", ["1", "4", "16"])
def test_a_fork_does_not_wait_for_what_is_pushed_meanwhile(threads):
    """0.1 s where nothing else runs; the machine may be busy. It was 10 s, and then an error."""
    out = pools("raw", "50" if THOROUGH else "5", threads)
    assert float(out.split()[-2]) < 8


AN_OP_WAITS_FOR_A_THREAD = """
import os, threading, time
import lazyarray as la

e, over = la.engine.get(), threading.Event()
e.push_sync(lambda ctx: over.wait(60), la.cpu(), mutable_vars=[e.new_variable()])

def other():
    time.sleep(0.2)  # the fork is under way
    (la.ones(1_000_000) * 3).wait_to_read()
    over.set()

threading.Thread(target=other).start()
began = time.monotonic()
pid = os.fork()
if pid == 0:
    os._exit(0 if (la.ones(100_000) + 1)[3].item() == 2 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
assert time.monotonic() - began < 8
"""


def test_an_op_may_wait_for_a_thread_that_is_held():
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", AN_OP_WAITS_FOR_A_THREAD],
        capture_output=True, text=True, timeout=250)  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stderr
