"""The simulated device: building its driver, and running processes on it (more in sim/)."""

import ctypes
import os
import pathlib
import subprocess
import sys

import pytest

from .sim import ROOM, driver, environment


def test_two_builders_at_once(tmp_path):
    room, kept = tmp_path / "room", tmp_path / "kept"
    room.mkdir()  # the driver itself takes ten seconds
    (room / "driver.cpp").write_text(
        '__attribute__((visibility("default"))) int answer() { return 42; }'
    )
    program = "import pathlib; from tests.cuda import sim; "
    program += f"sim.ROOM = pathlib.Path({str(room)!r}); print(sim.driver())"
    command = [sys.executable, "-c", program]
    where = {**os.environ, "LAZYARRAY_SIM_CACHE": str(kept)}
    root = ROOM.parent.parent.parent
    running = [
        subprocess.Popen(command, cwd=root, env=where, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [process.communicate()[0].strip() for process in running]
    assert said[0] == said[1]
    assert [str(p) for p in kept.iterdir()] == [said[0]]
    assert ctypes.CDLL(said[0])["_Z6answerv"]() == 42


INSIDE = """
import cupy
import numpy
def test_devices(): assert cupy.cuda.runtime.getDeviceCount() == 2
def test_hazard():
    with cupy.cuda.Stream(non_blocking=True):
        array = cupy.asarray(numpy.ones(3))
    with cupy.cuda.Stream(non_blocking=True):
        array.get()
    cupy.cuda.runtime.deviceSynchronize()
"""


@pytest.mark.parametrize("checks", ["0", "1"])
def test_pytest_runs_on_it(tmp_path, checks):
    inside = tmp_path / "test_inside.py"
    inside.write_text(INSIDE)
    command = [sys.executable, "-m", "tests.cuda.sim", "-q", "-p", "no:cacheprovider", str(inside)]
    where = {**os.environ, "LAZYARRAY_SIM_HAZARDS": checks, "LAZYARRAY_SIM": "eager"}
    root = ROOM.parent.parent.parent
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, env=where)
    assert ("2 passed, 1 error" if checks == "1" else "2 passed in") in done.stdout
    assert ("unordered with a write" in done.stdout) is (checks == "1")


def test_the_environment_names_what_is_there():
    variables = environment("random:5", LAZYARRAY_SIM_HAZARDS="1")
    assert variables["LAZYARRAY_SIM"] == "random:5"
    assert variables["LAZYARRAY_SIM_HAZARDS"] == "1"
    assert variables["LAZYARRAY_CUDA_DRIVER"] == str(driver())
    assert (pathlib.Path(variables["PYTHONPATH"].split(os.pathsep)[0]) / "cupy").is_dir()
