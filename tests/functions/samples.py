"""Arrays of every kind, layout and emptiness, for functions along axes."""

import numpy as np

from ..ops.compare import layouts, rng

FLOATS = rng.integers(-4, 5, (4, 5, 6)) / 2
NANS = np.where(FLOATS > 1.5, np.nan, FLOATS)
INTS = rng.integers(-4, 5, (4, 5, 6))
BASES = [
    *layouts(FLOATS),
    NANS,
    INTS,
    INTS.astype("u1"),
    INTS > 0,
    FLOATS.astype("f4")[0],
    FLOATS.astype("e")[0],
    FLOATS[0, 0],
    FLOATS[:, 2][:, None],  # axes of length one have any step
    FLOATS[::7, :, 2::6],
    FLOATS[1, :, 0][:, None, None],
    FLOATS + 1j * FLOATS[::-1],
    np.array(2.5),
    np.zeros((0, 3)),
    np.zeros((3, 0)),
]
AXES = [None, 0, 1, -1, 3]
