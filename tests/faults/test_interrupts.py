"""Ctrl-C at random moments: see interrupted.py."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.timeout(1500)  # the long versions

MOMENTS = 300 if os.environ.get("LAZYARRAY_TEST_FAULTS") else 40


@pytest.mark.parametrize("seed", [1])
def test_an_interrupt_leaves_nothing_half_done(seed):
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.interrupted", str(seed), str(MOMENTS)],
        capture_output=True, text=True, timeout=600)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    assert f"{MOMENTS} moments" in done.stdout
    print(done.stdout, end="")


def test_no_scope_stays_open():
    """On the code before, one of some 30 trials left something."""
    trials = 10_000 if MOMENTS == 300 else 1500
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.scopes", "1", str(trials)],
        capture_output=True, text=True, timeout=600)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    assert f"{trials} interrupts" in done.stdout
    print(done.stdout, end="")
