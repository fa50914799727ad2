"""Collectives of arrays on GPUs by NCCL: `nccl_cases.py` on simulated devices."""

import functools
import re

import pytest

from tests.cuda.sim import ROOM, environment
from tests.distributed.test_ranks import HERE, launched

NAMES = re.findall(r"^@case\ndef (\w+)", (HERE / "nccl_cases.py").read_text(), re.M)
# Engine, ranks, and when the simulated devices run what they were given.
RUNS = {
    "lazy": ("ThreadedEnginePerDevice", 2),
    "random:2": ("ThreadedEnginePooled", 3),
    "eager": ("NaiveEngine", 2),
}


@functools.cache
def run_of_cases(mode):
    engine, ranks = RUNS[mode]
    devices = environment(mode, LAZYARRAY_SIM_HAZARDS="1", LAZYARRAY_ENGINE_TYPE=engine)
    devices["PYTHONPATH"] = f"{ROOM}:{HERE.parents[1]}"
    return launched(ranks, "nccl_cases.py", **devices)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mode", RUNS)
def test_case(mode, name):
    _, output = run_of_cases(mode)
    for rank in range(RUNS[mode][1]):
        assert f"[{rank}] case {name} ok" in output, output[-6000:]


@pytest.mark.parametrize("mode", RUNS)
def test_all_ranks_end_well(mode):
    status, output = run_of_cases(mode)
    assert status == 0, output[-6000:]
    assert "nobody had waited" not in output, output[-6000:]
