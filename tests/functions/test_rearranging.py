"""Elements in another order, against NumPy."""

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import check, layouts

A = {
    (): np.array(3.5),
    (6,): np.arange(6.0),
    (2, 3): np.arange(6.0).reshape(2, 3),
    (4, 3): np.arange(12.0).reshape(4, 3),
    (2, 3, 4): np.arange(24.0).reshape(2, 3, 4),
    (1, 3, 1): np.arange(3.0).reshape(1, 3, 1),
    (0, 3): np.zeros((0, 3)),
}
ARRAYS = [v for a in A.values() for v in layouts(a)]


@pytest.mark.parametrize(
    ("shift", "axis"),
    [
        (1, None),
        (-2, None),
        (0, 0),
        (2, 0),
        (-1, -1),
        (7, 1),
        ((1, 2), (0, 1)),
        (1, (0, -1)),
        ((1, 1), 0),
        ((1, 2), None),
        (1, 5),
        ([[1]], 0),
    ],
)
def test_roll(shift, axis):
    for a in ARRAYS:
        check("roll", a, shift, axis)


def test_a_flip_of_no_axes_is_a_copy():
    for xp in (np, la):
        x = xp.zeros(())
        y = xp.flip(x)
        x += 1
        assert float(y) == 0
