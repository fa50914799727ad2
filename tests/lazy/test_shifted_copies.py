"""Copies whose target lies some bytes ahead of the source, modulo a page, are loops of our own."""

import numpy as np
import pytest

import lazyarray as la

from .fusing import figures, same


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8", "D", "G"])
def test_shifts(dtype):
    # From 1024 bytes on, in runs of 64.
    rng = np.random.default_rng(0)
    with figures(inline_ns=0, split_ns=0, task_ns=0):
        for n in (1, 63, 64, 65, 1023, 1024, 1025, 5000, 40_000):
            x = rng.integers(0, 100, n + 80).astype(dtype)
            a, out, want = la.array(x), la.zeros(n + 80, dtype), np.zeros(n + 80, dtype)
            for shift in (-65, -64, -1, 0, 1, 2, 3, 15, 16, 63, 64, 65):
                low, high = max(0, -shift), max(0, shift)
                out[high : high + n] = a[low : low + n]
                want[high : high + n] = x[low : low + n]
                same(out, want)
                same(la.roll(a, shift), np.roll(x, shift))
            y, b = x.copy(), la.array(x)
            y[1:], b[1:] = y[:-1].copy(), b[:-1]
            same(b, y)
            same(la.concatenate(([0], a)), np.concatenate(([0], x)))
        m = rng.random((70, 1100)).astype(dtype)
        same(la.roll(la.array(m), 1, 1), np.roll(m, 1, 1))
