"""Runs pytest on the simulated devices: ``python -m tests.cuda.sim`` and pytest's arguments."""

import os
import sys

from . import environment

os.execve(
    sys.executable,
    [sys.executable, "-m", "pytest", "-p", "tests.cuda.sim.plugin", *sys.argv[1:]],
    {**os.environ, **environment()},
)
