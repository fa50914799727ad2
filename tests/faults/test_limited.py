"""Little address space, as after ulimit -v: see limited.py."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.timeout(600)

# Python (3.11) ends a process that has no memory left even for raising a MemoryError.
CPYTHONS = "Cannot recover from MemoryErrors"
THOROUGH = bool(os.environ.get("LAZYARRAY_TEST_FAULTS"))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("seed", range(1, 6) if THOROUGH else [1])
def test_memory_that_runs_out_is_an_error(seed):
    for library in ("asan", "tsan"):
        if library in os.environ.get("LD_PRELOAD", ""):
            pytest.skip("the sanitizer has the address space")
    for again in range(3):
        done = subprocess.run(
            [sys.executable, "-m", "tests.faults.limited", str(seed + 10 * again),
             "60" if THOROUGH else "1.5"],
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
            capture_output=True, text=True, timeout=400)  # fmt: skip
        if CPYTHONS not in done.stderr:
            break
    assert done.returncode == 0, done.stdout + done.stderr[:4000] + done.stderr[-1000:]
    assert done.stdout.endswith("all else right\n")
    assert done.stderr.count("an op had failed") <= 20  # at exit, with the number of the others
    print(done.stdout, end="")
