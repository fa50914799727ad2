"""Faults while loops are compiled: see compiling.py."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("llvmlite")
pytestmark = pytest.mark.timeout(600)

SECONDS = "60" if os.environ.get("LAZYARRAY_TEST_FAULTS") else "0.7"


@pytest.mark.parametrize(
    ("way", "mode"),
    [("thread", "1"), ("interrupts", "1"), ("interrupts", "eager"), ("forks", "1")],
)
def test_nobody_hangs_and_all_is_right(way, mode):
    env = os.environ | {"LAZYARRAY_JIT": mode, "LAZYARRAY_CACHE_DIR": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.compiling", way, SECONDS],
        env=env, capture_output=True, text=True, timeout=500)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    assert done.stdout.endswith("ok\n")
    print(way, mode, done.stdout, end="")
