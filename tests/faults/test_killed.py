"""Writers that are killed leave the file that was there, or the next one, whole: see killed.py."""

import os
import subprocess
import sys

import pytest

from tests.faults.killed import KINDS

pytestmark = pytest.mark.timeout(600)

TIMES = 200 if os.environ.get("LAZYARRAY_TEST_FAULTS") else 4


@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_writer_leaves_a_whole_file(kind):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.faults.killed", kind, str(TIMES)],
        capture_output=True, text=True, timeout=500)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    assert f"{TIMES} writers killed" in done.stdout
    print(done.stdout, end="")
