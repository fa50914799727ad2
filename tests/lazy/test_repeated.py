"""Copies of rows whose elements are each there a few times (lazy/cpu/expand.h)."""

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import there


@pytest.mark.parametrize("dtype", there("?hfdDG"))
@pytest.mark.parametrize("times", [1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 70])
def test_each_a_few_times(dtype, times):
    """What lies beside stays as it is: stores of whole vectors end with the row."""
    for n in (1, 2, 3, 5, 33, 1000, 5000):
        x = np.arange(2 * n) % 7
        for view in (slice(n), slice(None, None, 2), slice(None, n - 1, -1)):
            source = x.astype(dtype)[view]
            np.testing.assert_array_equal(
                la.repeat(la.array(x.astype(dtype))[view], times).asnumpy(),
                np.repeat(source, times),
            )
            want, ours = np.ones(n * times + 64, dtype), la.ones(n * times + 64, dtype)
            want[32:-32].reshape(n, times)[...] = source[:, None]
            ours[32:-32].reshape(n, times)[...] = la.array(x.astype(dtype))[view][:, None]
            np.testing.assert_array_equal(ours.asnumpy(), want)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_along_an_axis(axis):
    x = np.arange(7 * 9 * 11.0).reshape(7, 9, 11)
    for times in (1, 2, 3, 20):
        for view in (lambda v: v, lambda v: v.T, lambda v: v[::2, :, ::-1]):
            got = la.repeat(view(la.array(x)), times, axis)
            np.testing.assert_array_equal(got.asnumpy(), np.repeat(view(x), times, axis))
            pending = la.repeat(view(la.array(x) + 1), times, axis) * 2
            np.testing.assert_array_equal(
                pending.asnumpy(), np.repeat(view(x + 1), times, axis) * 2
            )


@pytest.mark.parametrize("dtype", there("?hfdDG"))
@pytest.mark.parametrize("columns", [1, 2, 3, 7, 8, 9, 40])
def test_rows_a_few_times(dtype, columns):
    """Copies of rows, with few of them together: with and without what is done at the call."""
    for rows in (1, 15, 16, 17, 300, 2100):
        x = (np.arange(rows * columns) % 7).astype(dtype).reshape(rows, columns)
        a = la.array(x)
        large = x.nbytes > 1 << 18
        for times in (0, 1, 2, 3) if large else (0, 1, 2, 3, 5, 17):
            for axis in (None, 0, 1, -2):
                want = np.repeat(x, times, axis)
                np.testing.assert_array_equal(la.repeat(a, times, axis).asnumpy(), want)
            for reps in (times, (times, 1), (2, times), (times, 1, 3)):
                np.testing.assert_array_equal(la.tile(a, reps).asnumpy(), np.tile(x, reps))
                np.testing.assert_array_equal(la.tile(a.T, reps).asnumpy(), np.tile(x.T, reps))
            want, ours = (
                np.ones((rows, times, columns), dtype),
                la.ones((rows, times, columns), dtype),
            )
            want[::-1, :, ::2], ours[::-1, :, ::2] = x[:, None, ::2], a[:, None, ::2]
            np.testing.assert_array_equal(ours.asnumpy(), want)
