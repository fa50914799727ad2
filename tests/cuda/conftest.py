"""The CuPy that the tests of the library and of draws run on."""

import sys
import types

import numpy as np
import pytest

from lazyarray.lazy.cuda import draws
from lazyarray.lazy.cuda.library import calls, kernels
from tests.cuda.cupy_of_numpy import CUPY, real


@pytest.fixture
def cupy(monkeypatch):
    monkeypatch.setattr(calls, "cupy", lambda: CUPY)
    monkeypatch.setattr(draws, "cupy", lambda: CUPY)
    if real is None:
        monkeypatch.setattr(kernels, "module", CUPY.module)
        cupyx = types.ModuleType("cupyx")
        cupyx.errstate = lambda linalg: np.errstate()
        monkeypatch.setitem(sys.modules, "cupyx", cupyx)
    return CUPY
