"""Allocations that fail: MemoryError on the array that it was for, and the program goes on."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from tests.faults.scenarios import ALL

pytestmark = pytest.mark.timeout(1500)  # the long versions

SOURCE = pathlib.Path(__file__).parents[1] / "native" / "faults.cpp"
THOROUGH = bool(os.environ.get("LAZYARRAY_TEST_FAULTS"))
COMPILER = shutil.which(os.environ.get("CXX", "g++")) or shutil.which("c++")


@pytest.fixture(scope="session")
def preloaded(tmp_path_factory):
    """The environment of a process in which allocations can fail."""
    if not sys.platform.startswith("linux") or os.confstr("CS_GNU_LIBC_VERSION") is None:
        pytest.skip("allocations are intercepted in glibc")
    if not COMPILER:
        pytest.skip("no C++ compiler")
    if "libasan" in os.environ.get("LD_PRELOAD", "") or "libtsan" in os.environ.get(
        "LD_PRELOAD", ""
    ):
        pytest.skip("the sanitizer has the allocations")
    library = tmp_path_factory.mktemp("faults") / "faults.so"
    subprocess.run(
        [COMPILER, "-shared", "-fPIC", "-O1", "-std=c++17", "-o", library, SOURCE], check=True
    )
    return {**os.environ, "LD_PRELOAD": str(library), "OPENBLAS_NUM_THREADS": "1"}


def run(env, *args):
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.injected", *map(str, args)],
        env=env, capture_output=True, text=True, timeout=1200)  # fmt: skip
    assert done.returncode == 0, done.stdout[-300:] + done.stderr[-4000:]
    print(done.stdout, end="")
    return done.stdout


# Every position (of some hundred) with LAZYARRAY_TEST_FAULTS=1, else some of them.
@pytest.mark.parametrize("start", range(1, 4) if THOROUGH else [3])
def test_one_allocation_fails(preloaded, start):
    out = run(preloaded, ",".join(ALL), start, 3 if THOROUGH else 47)
    for name in ALL:
        assert f"{name}: " in out
    assert int(out.splitlines()[-1].split()[0]) > 0


def test_all_allocations_fail_from_one_on(preloaded):
    run(preloaded, ",".join(ALL), 2, 1 if THOROUGH else 59, 1_000_000)


def test_the_limit_is_met_anywhere():
    """The pool's limit instead: with more and more of it taken beforehand."""
    env = {**os.environ, "LAZYARRAY_MEM_LIMIT": str(16 << 20)}
    out = run(env, "limit", 60 if THOROUGH else 4)
    assert int(out.splitlines()[-1].split()[0]) > 0


OF_PYTHON = """
import _testcapi
from tests.faults.injected import check
from tests.faults.scenarios import backward

check(backward(0)), check(backward(1))
failed = 0
for n in range(10, 60):
    try:
        _testcapi.set_nomemory(n, n + 1)
        backward(n)
    except MemoryError:
        failed += 1
    except SystemError as exc:  # NumPy forgets to say what was wrong, now and then
        assert "cyfunction" not in str(exc), exc
    finally:
        _testcapi.remove_mem_hooks()
assert failed > 5, failed
"""


@pytest.mark.skipif(not THOROUGH, reason="other NumPys may crash where their own allocations fail")
def test_the_line_that_runs_is_looked_up_without_memory():
    """Python's own allocations: the object of a frame, here. It was a SystemError."""
    pytest.importorskip("_testcapi")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", OF_PYTHON],
        env={**os.environ, "LAZYARRAY_JIT": "0"},
        capture_output=True, text=True, timeout=250)  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_who_runs_ahead_keeps_to_the_limit():
    """Recording does not fill it up with what is not computed yet."""
    code = """
import lazyarray as la
found = []
for i in range(60):
    x = la.ones((500, 500)) * i
    q = la.linalg.inv(x + la.eye(500) * 2000)
    found.append(q[0, 0])
    del x, q
print(sum(v.item() for v in found) > 0)
"""
    env = {**os.environ, "LAZYARRAY_MEM_LIMIT": "13000000"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=250)
    assert done.stdout == "True\n", done.stderr
