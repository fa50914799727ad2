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
    assert float(out.split()[-2]) < 3.0
