"""Reductions with ``out``: NumPy's loops, and their order, depend on how out lies in memory."""

import itertools

import numpy as np
import pytest

import lazyarray as la

pytestmark = pytest.mark.host

LAYOUTS = {
    "C": lambda xp, s, d: xp.ones(s, d),
    "F": lambda xp, s, d: xp.ones(s[::-1], d).T,
    "last backwards": lambda xp, s, d: xp.ones(s, d)[..., ::-1],
    "first backwards": lambda xp, s, d: xp.ones(s, d)[::-1],
    "all backwards": lambda xp, s, d: xp.ones(s, d)[(slice(None, None, -1),) * len(s)],
    "every other": lambda xp, s, d: xp.ones((*s[:-1], 2 * s[-1]), d)[..., ::2],
    "a column": lambda xp, s, d: xp.ones((*s, 3), d)[..., 1],
}
SHAPES = [(2, 2, 8, 1), (2, 16), (3, 8, 16), (2, 1000), (9, 40, 50), (40, 9, 50), (300, 5, 9)]


@pytest.mark.filterwarnings("ignore")  # products that overflow
@pytest.mark.parametrize("name", ["prod", "sum", "max"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_bits(name, dtype, layout):
    rng = np.random.default_rng(len(layout))
    for shape in SHAPES:
        x = rng.normal(size=shape).astype(dtype)
        if x.dtype.kind == "c":
            x += 1j * rng.normal(size=shape).astype(x.real.dtype)
        for count in (1, 2):
            for axis in itertools.combinations(range(len(shape)), count):
                kept = tuple(n for i, n in enumerate(shape) if i not in axis)
                if not kept:
                    continue
                want, got = (LAYOUTS[layout](xp, kept, dtype) for xp in (np, la))
                getattr(np, name)(x, axis=axis, out=want)
                getattr(la, name)(la.array(x), axis=axis, out=got)
                np.testing.assert_array_equal(got.asnumpy(), want, err_msg=f"{shape} {axis}")
