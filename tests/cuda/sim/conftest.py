"""Fixtures of the simulated device's tests: a device, kernels on disk, the stand-in for CuPy."""

import importlib
import os
import sys

import pytest

from . import ROOM, cache
from .private import KERNELS, Device, compiled, copy_of_driver


@pytest.fixture
def device(tmp_path):
    return Device(tmp_path)


@pytest.fixture(scope="session")
def kernels():
    return compiled(KERNELS)


@pytest.fixture(scope="module")
def cp(tmp_path_factory):
    """The package on a driver of its own; whatever `cupy` there is comes back behind the tests."""

    def take_out():
        names = [n for n in sys.modules if n.split(".")[0] in ("cupy", "cupyx")]
        return {name: sys.modules.pop(name) for name in names}

    library = copy_of_driver(tmp_path_factory.mktemp("driver"))
    before = take_out()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAZYARRAY_CUDA_DRIVER", str(library))
        patch.setenv("LAZYARRAY_SIM_CACHE", str(cache()))
        patch.syspath_prepend(str(ROOM))
        assert os.environ["LAZYARRAY_CUDA_DRIVER"] == str(library)
        package = importlib.import_module("cupy")
        package._sim.set_mode("lazy")
        package._driver.lib.sim_check_hazards(0)
        yield package
        take_out()
        sys.modules.update(before)


@pytest.fixture
def stream(cp):
    made = cp.cuda.Stream(non_blocking=True)
    with made:
        yield made
