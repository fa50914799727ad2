"""The tests of ``on_device`` on simulated devices, in a process of their own."""

import os
import pathlib
import subprocess
import sys

import pytest

from tests.cuda.sim import environment

ROOT = pathlib.Path(__file__).parents[2]


# The first compiles all kernels: a minute, several on a busy machine. What hangs in it ends it.
@pytest.mark.timeout(1500)
@pytest.mark.parametrize("mode", ["lazy", "random:1"])
def test_on_device(mode):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p",
         "tests.cuda.sim.plugin", "--tb=short", "tests/cuda/on_device"],
        env={
            **os.environ,
            **environment(mode, LAZYARRAY_SIM_HAZARDS="1", LAZYARRAY_SIM_CAPTURE_US="200"),
        },
        cwd=ROOT, capture_output=True, text=True, timeout=1400,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert " skipped" not in done.stdout
