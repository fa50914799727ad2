"""Tests that need a GPU or the simulated one: ``python -m tests.cuda.sim tests/cuda/on_device``."""

import pytest

import lazyarray as la

from ...lazy.fusing import figures


def pytest_collection_modifyitems(items):
    if la.gpu_count() == 0:
        for item in items:
            if "on_device" in item.path.parts:
                item.add_marker(pytest.mark.skip(reason="no GPU: la.gpu_count() is 0"))


@pytest.fixture
def gpu():
    """The first GPU, where the test's arrays are made."""
    with la.gpu(0) as device:
        yield device


@pytest.fixture
def whole():
    """What is recorded stays one segment until it is asked for, however long that takes."""
    with figures(gpu_age_ns=10**15, age_ns=10**15, call_age_ns=10**15):
        yield
