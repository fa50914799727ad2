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


def devices(mode):
    path = f"{ROOM}:{HERE.parents[1]}"
    return {**environment(mode, LAZYARRAY_SIM_HAZARDS="1"), "PYTHONPATH": path}


@functools.cache
def run_of_cases(mode):
    engine, ranks = RUNS[mode]
    return launched(ranks, "nccl_cases.py", **devices(mode), LAZYARRAY_ENGINE_TYPE=engine)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mode", RUNS)
def test_case(mode, name):
    _, output = run_of_cases(mode)
    for rank in range(RUNS[mode][1]):
        assert f"[{rank}] case {name} ok" in output, output[-6000:]


def test_a_rank_that_dies_while_nccl_moves_data():
    """The others end, where NCCL's communicator, as it is deleted, waits for what never comes."""
    status, output = launched(2, "faults.py", "nccl", **devices("lazy"), LAZYARRAY_LAUNCH_GRACE="4")
    assert status == 137, output
    assert "rank 1 died" in output, output
    assert "while NCCL moved data: gpu(0) can't be used any more in this process" in output, output
    assert "[0] raised" in output, output
    assert "CUDA_ERROR_LAUNCH_TIMEOUT" in output, output
    assert "[0] the host has 3.0" in output, output
    assert "[0] the workers have ended" in output, output
    assert "got" not in output, output


@pytest.mark.parametrize("mode", RUNS)
def test_all_ranks_end_well(mode):
    status, output = run_of_cases(mode)
    assert status == 0, output[-6000:]
    assert "nobody had waited" not in output, output[-6000:]
