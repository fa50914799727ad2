"""Sums of integers and bools in wider integers: exact, whatever the vectors, rows and pieces."""

import itertools

import numpy as np
import pytest

import lazyarray as la

from .fusing import figures, same

NARROW = "?bBhHiI"
# Around vectors of 32 bytes, two at a time, and what wider lanes hold: 128 turns of bytes.
LENGTHS = [1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 129, 8191, 8192, 8193, 16385, 40_000]
# Around the eight rows that are added at a time, and the shortest row that is not cast.
ROWS = [1, 2, 7, 8, 9, 17, 31, 32, 33, 65]


def numbers(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    if dtype == "?":
        return rng.random(shape) < 0.5
    of = np.iinfo(dtype)
    return rng.integers(of.min, of.max, shape, dtype, endpoint=True)


def extremes(n, dtype):
    """All the largest, all the smallest."""
    if dtype == "?":
        return [np.ones(n, "?"), np.zeros(n, "?")]
    of = np.iinfo(dtype)
    return [np.full(n, of.max, dtype), np.full(n, of.min, dtype)]


@pytest.mark.parametrize("dtype", NARROW)
def test_lengths(crew, dtype):
    for n in LENGTHS:
        for x in (numbers(n, dtype), *extremes(n, dtype)):
            a = la.array(x)
            same(a.sum(), x.sum())
            same(a[::-1].sum(), x.sum())
            same(a[1::2].sum(), x[1::2].sum())
            same(a.mean(), x.mean())
            same(la.sum(a, dtype="u8"), np.sum(x, dtype="u8"))
            same(la.count_nonzero(a), np.intp(np.count_nonzero(x)))


@pytest.mark.parametrize("dtype", NARROW)
def test_matrices(crew, dtype):
    for n, m in itertools.product(ROWS, [*ROWS, 600]):
        x = numbers((n, m), dtype)
        a = la.array(x)
        for axis in (0, 1, (0, 1)):
            same(a.sum(axis), x.sum(axis))
            same(a.T.sum(axis), x.T.sum(axis))
            same(a[::2, ::3].sum(axis), x[::2, ::3].sum(axis))
            same(a.mean(axis), x.mean(axis))
            same(la.count_nonzero(a > 1, axis), np.asarray(np.count_nonzero(x > 1, axis)))


@pytest.mark.parametrize("dtype", "?bBi")
@pytest.mark.parametrize("axis", [(0, 2), (1, 2), (0, 3), (0, 2, 3), (1, 3), 1])
def test_rows_and_their_sums(crew, dtype, axis):
    for width in (3, 31, 32, 100):
        x = numbers((3, 5, 4, width), dtype)
        a = la.array(x)
        same(a.sum(axis), x.sum(axis))
        same(la.count_nonzero(a, axis), np.count_nonzero(x, axis))
        out = la.zeros(x.sum(axis).shape, "i8")
        la.sum(a, axis, out=out, dtype="i8")
        same(out, x.sum(axis, dtype="i8"))


@pytest.mark.parametrize("dtype", "hHiI")
def test_lanes_do_not_overflow(dtype):
    """Lanes of two neighbours are emptied after 2**15 turns."""
    for x in extremes(2 * 2**15 * 32 + 77, dtype):
        same(la.array(x).sum(), x.sum())


@pytest.mark.parametrize("tile_bytes", [200, 3000, 98304])
def test_in_passes(tile_bytes):
    for shape in [(70_000,), (40, 700), (700, 40), (9, 30, 50)]:
        x, y = numbers(shape, "h"), numbers(shape, "B", 1)
        a, b = la.array(x), la.array(y)
        with figures(split_ns=0, task_ns=0, inline_ns=0, panel=16, tile_bytes=tile_bytes, least=1):
            for axis in (None, 0, -1):
                same((a > 7).sum(axis), (x > 7).sum(axis))
                same((a * 2 > b).mean(axis), (x * 2 > y).mean(axis))
                same((a // 5 + b).sum(axis), (x // 5 + y).sum(axis))


def test_any_byte_but_zero_is_true():
    x = np.arange(300, dtype="u1").view("?")
    a = la.asarray(x)
    assert a.sum().item() == x.sum() == 300 - 2
    rows = np.resize(x, (40, 300))
    same(la.asarray(rows).sum(0), rows.sum(0))
    same(la.asarray(rows).sum(1), rows.sum(1))
