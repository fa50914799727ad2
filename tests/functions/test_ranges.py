"""Ranges whose ends are arrays."""

import numpy as np
import pytest

import lazyarray as la


def test_ranges_of_arrays_are_asynchronous_inputs():
    start, stop = la.array([0.0, 1.0]), la.array([2.0, 5.0])
    a, b = start.asnumpy(), stop.asnumpy()
    np.testing.assert_array_equal(la.linspace(start, stop, 5).asnumpy(), np.linspace(a, b, 5))
    np.testing.assert_array_equal(la.logspace(start, 3.0, 5).asnumpy(), np.logspace(a, 3.0, 5))
    np.testing.assert_array_equal(
        la.geomspace(1.0, stop, 5, axis=1).asnumpy(), np.geomspace(1.0, b, 5, axis=1)
    )
    assert la.arange(la.array(4)).asnumpy().tolist() == [0, 1, 2, 3]
    _, step = la.linspace(start, stop, 5, retstep=True)
    np.testing.assert_array_equal(step.asnumpy(), np.linspace(a, b, 5, retstep=True)[1])
    for num in (1, 5, 20000):
        assert la.linspace(0, 1, num, retstep=True)[1] == pytest.approx(
            np.linspace(0, 1, num, retstep=True)[1], nan_ok=True
        )
