"""Processes made while work is under way: see pools.py."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.timeout(1500)  # the long versions

THOROUGH = bool(os.environ.get("LAZYARRAY_TEST_FAULTS"))


@pytest.mark.parametrize("method", ["raw", "fork", *(["forkserver", "spawn"] if THOROUGH else [])])
def test_processes_under_load(method):
    rounds = "10" if THOROUGH else "2"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.faults.pools", method, rounds],
        capture_output=True, text=True, timeout=600)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    assert done.stdout == "ok\n"
