"""``x[mask] = y`` where few, many, all or none are true, around blocks of 512 and eight bools."""

import numpy as np
import pytest

import lazyarray as la
from lazyarray.lazy._lazy import gil_ops

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


@pytest.mark.host
@pytest.mark.parametrize("n", [9, 5000, 60_000])
def test_numpys_masks_need_no_call_of_numpy(n):
    rng = np.random.default_rng(1)
    x, mask = rng.random(n), rng.random(n) < 0.3
    a, rows = la.array(x), la.array(np.stack([x, x], axis=1))
    pending = a * 2
    before = gil_ops()
    with la.no_sync():  # what NumPy holds is known
        got = [a[mask], pending[mask], rows[mask], a[::-1][mask[::-1]]]
        a[mask] = 3
        a[mask] += 1
        rows[mask] = la.ones(2)
    assert gil_ops() == before
    want = [x[mask], x[mask] * 2, np.stack([x, x], axis=1)[mask], x[mask][::-1]]
    for g, w in zip(got, want, strict=True):
        same(g, w)
    same(a, np.where(mask, 4.0, x))


@pytest.mark.host
def test_a_wrong_number_of_values_for_numpys_mask_is_an_error_at_once():
    a, mask = la.zeros(60_000), np.arange(60_000) % 3 == 0
    for count in (19_999, 20_001):
        with la.no_sync(), pytest.raises(ValueError, match="20000"):
            a[mask] = la.ones(count)
    a[mask] = la.ones(20_000)
    assert a.sum() == 20_000
