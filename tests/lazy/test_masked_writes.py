"""``x[mask] = y`` where few, many, all or none are true, around blocks of 512 and eight bools."""

import numpy as np
import pytest

import lazyarray as la

from .fusing import figures, same

SIZES = [1, 7, 8, 9, 63, 511, 512, 513, 519, 520, 1023, 1024, 1025, 5000]
SHARES = [0.0, 0.003, 0.05, 0.08, 0.09, 0.5, 1.0]  # about a twelfth is few


@pytest.mark.parametrize("inline_ns", [0, 1e15], ids=["recorded", "at once"])
@pytest.mark.parametrize("dtype", ["?", "u1", "e", "i4", "f8", "g", "F", "D"])
def test_sizes_and_shares(dtype, inline_ns):
    rng = np.random.default_rng(0)
    with figures(inline_ns=inline_ns):
        for n in SIZES:
            for share in SHARES:
                mask = rng.random(n) < share
                x, y = rng.integers(0, 100, (2, n)).astype(dtype)
                a, b, m = la.array(x), la.array(y), la.array(mask)
                a[m] = 7
                x[mask] = 7
                same(a, x)
                la.copyto(a, b, where=m)
                np.copyto(x, y, where=mask)
                same(a, x)
                if dtype != "?":
                    a[m] += 1
                    x[mask] += 1
                    same(a, x)
                same(la.where(m, b, a), np.where(mask, y, x))
                same(la.where(m, 3, a), np.where(mask, 3, x))
                a[::-1][m] = 5
                x[::-1][mask] = 5
                same(a, x)
                wide, want = la.zeros((n, 2), dtype), np.zeros((n, 2), dtype)
                wide[:, 0][m] = want[:, 0][mask] = 3
                wide[m, 1] = want[mask, 1] = 2
                same(wide, want)


def test_blocks_of_which_one_has_many():
    mask = np.zeros(512 * 5 + 3, bool)
    mask[512:1024] = True
    mask[1030 : 1030 + 43] = True
    mask[[0, 511, 1535, 1536, 2559, 2562]] = True
    x = np.arange(len(mask)) * 1.5
    a = la.array(x)
    a[la.array(mask)] = -1
    x[mask] = -1
    same(a, x)
