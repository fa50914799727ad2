"""Complex numbers: angles, and what is real."""

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import check, rng


def test_angle_in_degrees_and_real_if_close():
    z = rng.standard_normal(5) + 1j * rng.standard_normal(5)
    for a in (z, z.astype("F"), z.real, np.arange(3)):
        check("angle", a, deg=True)
    for tol in (100, 1000, 0.5, 1e-20):
        check("real_if_close", np.array([2.1 + 4e-14j, 5.2 + 3e-15j]), tol)
        check("real_if_close", np.array([2 + 1e-5j], "F"), tol=tol)
    with la.no_sync():
        la.angle(la.array(z))
        la.real_if_close(la.ones(2))
        with pytest.raises(RuntimeError, match="real_if_close"):
            la.real_if_close(la.array(z) * 2)
