"""Parts of one array that share no element, read and written in one pass; and those that do."""

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import asynchronous
from .fusing import same

SHAPES = [(5, 4), (64, 65), (399, 401), (2, 90_000), (70_000, 3), (40, 30, 20)]


def eliminate(xp, x, steps):
    for k in range(steps):
        x[k + 1 :, k] /= x[k, k]
        x[k + 1 :, k + 1 :] -= xp.outer(x[k + 1 :, k], x[k, k + 1 :])


@pytest.mark.parametrize("n", [3, 20, 61, 260, 400])
def test_elimination(n):
    want = np.random.default_rng(n).random((n, n)) + n * np.eye(n)
    x = la.array(want)
    eliminate(np, want, n - 1)
    eliminate(la, x, n - 1)
    same(x, want)


@asynchronous
def test_a_step_of_elimination_is_one_pass():
    x = la.random.rand(400, 400) + la.eye(400)
    x.wait_to_read()
    with la.engine.bulk(1000):
        x[1:, 1:] -= la.outer(x[1:, 0], x[0, 1:])
    x.wait_to_read()
    text = str(la.explain())
    assert "1 temporary never materialised" in text, text


def box(rng, shape, lengths, broadcasts=False):
    """A slice of such a length of each axis, or one element; some go backwards."""
    key = []
    for n, m in zip(shape, lengths, strict=True):
        if broadcasts and rng.random() < 0.4:
            m = 1
        first = int(rng.choice([0, n - m, rng.integers(n - m + 1)]))
        back = rng.random() < 0.1
        last = first - 1 if back else first + m
        key.append(
            slice(first + m - 1, last if last >= 0 else None, -1) if back else slice(first, last)
        )
    return tuple(key)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(15))
def test_boxes_of_one_array(shape, seed):
    rng = np.random.default_rng(seed)
    want = rng.integers(-9, 9, shape).astype(float)
    x = la.array(want)
    with la.engine.bulk(1000):
        for _ in range(5):
            lengths = [int(rng.choice([n, n - 1, (n + 1) // 2])) for n in shape]
            to, one, other = (box(rng, shape, lengths, given) for given in (False, True, True))
            want[to] -= want[one] * 0.5 + want[other]
            x[to] -= x[one] * 0.5 + x[other]
            if rng.random() < 0.5:
                x.wait_to_read()
    same(x, want)
