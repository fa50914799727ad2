"""Reductions of short rows and of few columns: NumPy's numbers, to the sign of a zero."""

import itertools

import numpy as np
import pytest

import lazyarray as la

from .fusing import SMALL, figures, same

pytestmark = pytest.mark.host  # of the CPU's loops

NAMES = ["max", "min", "prod", "sum", "any", "all"]
DTYPES = "?bBhHiIqQefdgFD"


def values(shape, c, seed):
    """Few numbers, zeros of both signs among them, and some NaNs where there are any."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-2, 3, shape).astype(c)
    if x.dtype.kind in "fc":
        x = np.where(rng.random(shape) < 0.5, -x, x).astype(c)  # -0.0
        x.reshape(-1)[rng.random(x.size) < 0.01] = np.nan
    return x


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("c", DTYPES)
def test_rows_and_columns(c, small):
    shapes = [(9, 1), (7, 3), (8, 3), (40, 12), (40, 13), (300, 2), (5, 8, 3), (4, 3, 9)]
    if not small:
        shapes = [(257, 3), (3000, 7), (3000, 8), (40_000, 3), (30, 40, 4), (3, 30_000)]
    with figures(**SMALL if small else {}), np.errstate(all="ignore"):
        for seed, shape in enumerate(shapes):
            x = values(shape, c, seed)
            for name, axis in itertools.product(NAMES, range(-len(shape), 0)):
                a = la.array(x)
                same(getattr(a, name)(axis), getattr(x, name)(axis))
                same(
                    getattr(a[::-1, ..., ::-1], name)(axis), getattr(x[::-1, ..., ::-1], name)(axis)
                )
                same(getattr(a[::2], name)(axis), getattr(x[::2], name)(axis))
            same(la.array(x.T).max(0), x.T.max(0))
            same(la.nanmax(la.array(x), -1), np.nanmax(x, -1))
            same(la.nanmin(la.array(x), 0), np.nanmin(x, 0))


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("c", "fd")
def test_zeros_of_both_signs(name, c):
    rows = np.array(list(itertools.product([0.0, -0.0, -1.0, 1.0, np.nan], repeat=4)), c)
    for x in (rows, rows[:, :3].copy(), np.tile(rows, (60, 1)), rows[:, ::-1], -rows):
        for axis in (0, 1):
            got, want = getattr(la.array(x), name)(axis), getattr(x, name)(axis)
            same(got, want)
            with la.engine.bulk(100):
                y = getattr(la.array(x) * 1, name)(axis) * 1
            same(y, want)
    for first, then in itertools.product(
        [0.0, -0.0], repeat=2
    ):  # a column's result in a later tile
        x = np.full((50_000, 3), -1.0 if name == "max" else 1.0, c)
        x[0], x[-1] = first, then
        same(getattr(la.array(x), name)(0), getattr(x, name)(0))


def test_part_of_a_pass():
    rng = np.random.default_rng(0)
    for shape in [(200, 3), (30_000, 3), (300, 200, 3), (9000, 12)]:
        x = rng.normal(size=shape)
        a = la.array(x)
        la.waitall()
        with la.engine.bulk(1000):
            low, high = (a * 2).min(-1), (a * 2).max(-1)
            got = (a - low[..., None]) / (high - low)[..., None]
            tops = (a * 3).max(0)
        y = x * 2
        same(got, (x - y.min(-1)[..., None]) / (y.max(-1) - y.min(-1))[..., None])
        same(tops, (x * 3).max(0))


def test_flags_of_products():
    x = np.full((100, 3), 1e200)
    a = la.array(x)
    with pytest.warns(RuntimeWarning, match="overflow encountered in"):
        a.prod(-1).wait_to_read()
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        a.prod(-1).wait_to_read()
