"""The tests of ``on_device`` on a simulated GPU, in a process of their own."""

import os
import pathlib
import subprocess
import sys

import pytest

from tests.cuda.sim import environment

pytest.importorskip("distributed", reason="distributed is not installed")

ROOT = pathlib.Path(__file__).parents[2]


def test_arrays_on_a_gpu():
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p",
         "tests.cuda.sim.plugin", "--tb=short", "tests/dask/on_device"],
        env={**os.environ, **environment("lazy", LAZYARRAY_SIM_HAZARDS="1")},
        cwd=ROOT, capture_output=True, text=True, timeout=250,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert " skipped" not in done.stdout
