"""How long OpenBLAS's threads spin: shorter, unless the user has said. Their number stays."""

import os
import subprocess
import sys

import pytest

from lazyarray.lazy import blas

if blas.spin() is None:
    pytest.skip("another BLAS", allow_module_level=True)


def run(program, **environment):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS")}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=kept | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


PROGRAM = """
import os, numpy as np
a = np.ones((300, 300))
a @ a
import lazyarray as la
from lazyarray.lazy import blas
from lazyarray.lazy._lazy import blas_threads
assert (a @ a == 300).all() and ((la.array(a) @ la.array(a)).asnumpy() == 300).all()
print(blas.spin(), blas_threads(), os.environ.get("OPENBLAS_THREAD_TIMEOUT"))
pid = os.fork()
if pid == 0:
    os._exit(int(not (a @ a == 300).all()))
assert os.waitpid(pid, 0)[1] == 0
"""


def test_it_is_shorter():
    assert run(PROGRAM, OPENBLAS_NUM_THREADS="2") == [str(blas.SPIN), "2", "None"]
    assert run(PROGRAM, OPENBLAS_NUM_THREADS="1") == [str(blas.SPIN), "1", "None"]


def test_what_the_user_says_stays():
    assert run(PROGRAM, OPENBLAS_NUM_THREADS="2", OPENBLAS_THREAD_TIMEOUT="12") == ["12", "2", "12"]


def test_beside_other_threads_nothing_is_done():
    busy = (
        "import threading; over = threading.Event(); threading.Thread(target=over.wait).start()\n"
    )
    assert run(busy + PROGRAM + "over.set()", OPENBLAS_NUM_THREADS="2") == ["0", "2", "None"]


def test_threads_that_were_chosen_at_run_time_stay():
    pytest.importorskip("threadpoolctl")
    chosen = "import numpy, threadpoolctl; threadpoolctl.threadpool_limits(1, 'blas')\n"
    assert run(chosen + PROGRAM, OPENBLAS_NUM_THREADS="2")[1] == "1"
