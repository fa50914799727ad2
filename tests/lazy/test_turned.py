"""Transposed copies are loops of our own, which turn blocks of elements."""

import itertools

import numpy as np
import pytest

import lazyarray as la
from lazyarray import engine

from .fusing import figures, same

# Blocks are 8 and 4 rows high, and squares of 2 or 4 elements.
LENGTHS = (1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 13, 17, 40, 129)
RECORDED = {"inline_ns": 0, "split_ns": 0, "task_ns": 0}


def readings(x):
    """Parts of a matrix whose columns lie together, or backwards, or with gaps."""
    return [
        x.T,
        x[::2].T,
        x[:, ::2].T,
        x[:, : max(1, x.shape[1] - 1)].T,
        x[::-1].T,
        x[:, ::-1].T,
        x[1:].T,
    ]


def filled(rng, shape, dtype):
    return rng.integers(0, 100, shape).astype(dtype)


@pytest.mark.parametrize("how", [{}, RECORDED], ids=["at once", "recorded"])
@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "i8", "c8", "D", "G"])
def test_transposed_copies(dtype, how):
    rng = np.random.default_rng(0)
    with figures(**how):
        for h, w in itertools.product(LENGTHS, repeat=2):
            x = filled(rng, (h, w), dtype)
            a = la.array(x)
            for part, want in zip(readings(a), readings(x), strict=True):
                same(part.copy(), want)
                same(la.ascontiguousarray(part), want)
            same(la.asfortranarray(a), x)
            out = la.zeros((w + 2, h + 3), dtype)
            out[1:-1, 1:-2] = a.T
            want = np.zeros((w + 2, h + 3), dtype)
            want[1:-1, 1:-2] = x.T
            same(out, want)
            out = la.zeros((h, w), dtype).T
            out[...] = a.T
            same(out, x.T)


@pytest.mark.parametrize("shape", [(3, 50, 60), (9, 12, 31), (64, 9, 70), (2, 200, 3), (300, 5, 4)])
@pytest.mark.parametrize("dtype", ["i2", "f4", "f8", "D"])
def test_axes_of_three(shape, dtype):
    x = filled(np.random.default_rng(1), shape, dtype)
    a = la.array(x)
    for axes in itertools.permutations(range(3)):
        same(a.transpose(axes).copy(), x.transpose(axes))
        with engine.bulk(20):
            got = (a + a).transpose(axes).copy() * 2
        same(got, (x + x).transpose(axes) * 2)


@pytest.mark.parametrize("n", [511, 512, 513, 1000])
def test_large_ones_are_cut_into_tiles(n):
    x = np.random.default_rng(2).random((n, n + 5))
    a = la.array(x)
    same(a.T.copy(), x.T)
    same(la.ascontiguousarray(a[:, ::-1].T), x[:, ::-1].T)
    b = la.array(x[:, :n])
    b[...] = b.T  # of its own memory
    same(b, x[:, :n].T)


def test_a_square_written_onto_itself():
    for n in LENGTHS:
        x = np.arange(n * n, dtype="f4").reshape(n, n)
        a = la.array(x)
        a[...] = a.T
        same(a, x.T)
        a.T[...] = a
        same(a, x)


BACKWARDS = [
    lambda x: x[:, ::-1].swapaxes(0, 1),
    lambda x: x[::-1].swapaxes(0, 1),
    lambda x: x[::-1, ::-1].swapaxes(0, 1),
    lambda x: x[..., ::-1],
    lambda x: x[::2, ::2],
    lambda x: x[..., 1:],
    lambda x: x.T[::-1],
]


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("view", BACKWARDS)
@pytest.mark.parametrize("shape", [(33, 65), (64, 64), (577, 9, 3), (3000, 2), (16, 7), (15, 8)])
@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8", "D", "?"])
def test_views_of_short_rows_and_backward_ones_are_copied(view, shape, dtype):
    x = (np.arange(np.prod(shape)).reshape(shape) * 7 % 251).astype(dtype)
    y = la.array(x)
    mine, theirs = view(y), view(x)
    np.testing.assert_array_equal(mine.copy().asnumpy(), theirs.copy())
    for other in ("f4", "i4", "u1", "?"):
        found = mine.astype(other)
        np.testing.assert_array_equal(found.asnumpy(), theirs.astype(other))
        assert found.strides == theirs.astype(other).strides
    to = np.zeros(theirs.shape, dtype)
    ours = la.array(to)
    to[::-1], ours[::-1] = theirs, mine
    np.testing.assert_array_equal(ours.asnumpy(), to)
