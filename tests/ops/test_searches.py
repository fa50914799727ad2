"""searchsorted, digitize and interp: NumPy's places for any keys, sorted tables or not."""

import warnings

import numpy as np
import pytest

import lazyarray as la

rng = np.random.default_rng(7)
TABLES = (0, 1, 2, 3, 4, 5, 7, 20, 1000, 20_000)
KEYS = (0, 1, 7, 8, 9, 17, 700, 30_001)


def agree(call, *arrays):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            want = call(np, *arrays)
        except ValueError:
            with pytest.raises(ValueError):
                np.asarray(call(la, *map(la.array, arrays)))
            return
        got = np.asarray(call(la, *map(la.array, arrays)))
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)
    assert (np.signbit(got) == np.signbit(want)).all() or np.isnan(want).any()


def cases(dtype):
    """Tables and keys: with equal numbers, then with some that are none, then out of order."""
    for n in TABLES:
        for m in KEYS:
            table = np.sort((rng.normal(size=n) * 20).astype(dtype))
            keys = (rng.normal(size=m) * 25).astype(dtype)
            if n and m:
                keys[::3] = table[rng.integers(0, n, len(keys[::3]))]
            yield table, keys
            if dtype[0] == "f" and n and m:
                last, some = table.copy(), keys.copy()
                last[-1] = some[rng.integers(m)] = np.nan
                yield last, keys
                yield table, some
            if n and n < 100:
                yield rng.permutation(table), keys


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "i2", "u1"])
def test_places(dtype, direct):
    for table, keys in cases(dtype):
        for side in ("left", "right"):
            if not (np.diff(table) < 0).any():  # else NumPy's are no places
                agree(lambda xp, a, b, s=side: xp.searchsorted(a, b, s), table, keys)
                agree(lambda xp, a, b, s=side: xp.searchsorted(a, b, side=s), table, keys)
                agree(lambda xp, a, b, s=side: a.searchsorted(b, s), table, keys)
            for edges in (table, table[::-1]):
                agree(lambda xp, a, b, s=side: xp.digitize(b, a, s == "left"), edges, keys)
    table = np.sort(rng.random(50))
    agree(lambda xp, a, b: xp.searchsorted(a, b), table[::2], rng.random((40, 5)).T)
    agree(lambda xp, a, b: xp.searchsorted(a[::-1], b, sorter=xp.arange(50)[::-1]), table, table)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
def test_functions_through_points(dtype, direct):
    for points, places in cases(dtype):
        values = rng.normal(size=len(points))
        for odd in (False, True):
            if odd:  # a slope may be no number
                values[::3], values[1::3] = np.inf, np.nan
            for ends in ({}, {"left": -1.0, "right": 5.0}, {"left": 0}, {"period": 30}):
                if len(points) and (np.diff(points) < 0).any() and "period" not in ends:
                    continue
                agree(lambda xp, a, b, c, k=ends: xp.interp(a, b, c, **k), places, points, values)
