"""Sums over leading axes, several rows at a time: NumPy's bits, whatever the number of rows."""

import itertools

import numpy as np
import pytest

import lazyarray as la
from lazyarray.lazy._lazy import _policy

from .fusing import figures, same

pytestmark = pytest.mark.host  # NumPy's own bits

# Around the eight rows that are added at a time, and what a tile holds.
ROWS = [1, 2, 3, 7, 8, 9, 10, 15, 16, 17, 25, 40, 130]
COLUMNS = [1, 2, 3, 4, 5, 7, 8, 9, 33, 100, 513]
WIDEST = int(_policy()["widest"] * _policy()["panels"])


def numbers(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    if dtype in "lLiIhB":
        return rng.integers(0, 2**62, shape).astype(dtype)
    x = rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4, shape)
    return (x + 1j * rng.standard_normal(shape) if dtype in "FD" else x).astype(dtype)


def steps(x):
    return [step for step, n in zip(x.strides, x.shape, strict=True) if n > 1]


@pytest.mark.parametrize("dtype", "fdFDelLiIhBg")
def test_lengths(crew, dtype):
    for n in ROWS:
        for m in COLUMNS:
            x = numbers((n, m), dtype)
            a = la.array(x)
            same(a.sum(axis=0), x.sum(axis=0))
            same(a.sum(axis=0, dtype=dtype), x.sum(axis=0, dtype=dtype))
            same(a.T.sum(axis=1), x.T.sum(axis=1))


@pytest.mark.parametrize("dtype", "fdDl")
@pytest.mark.parametrize("tile_bytes", [200, 3000, 98304])
def test_in_passes(dtype, tile_bytes):
    for n in ROWS:
        for m in (3, 8, 64, 600):
            x, y = numbers((n, m), dtype), numbers((2, n, m), dtype, 1)
            a, b = la.array(x), la.array(y)
            with figures(
                split_ns=0, task_ns=0, inline_ns=0, panel=16, tile_bytes=tile_bytes, least=1
            ):
                same((a * a - 1).sum(axis=0), (x * x - 1).sum(axis=0))
                same((a * b).sum(axis=(0, 1)), (x * y).sum(axis=(0, 1)))
                same((a * b).sum(axis=1), (x * y).sum(axis=1))
                same((a.T + a.T).sum(axis=1), (x.T + x.T).sum(axis=1))


@pytest.mark.parametrize("width", [WIDEST - 8, WIDEST, WIDEST + 1, WIDEST + 16, 3 * WIDEST])
def test_wide_rows(width):
    x = numbers((19, width), "d")
    a = la.array(x)
    same(a.sum(axis=0), x.sum(axis=0))
    same((a * 2).sum(axis=0), (x * 2).sum(axis=0))
    same(la.asfortranarray(a).sum(axis=0), np.asfortranarray(x).sum(axis=0))


@pytest.mark.parametrize("dtype", "fdD")
def test_special_values(crew, dtype):
    some = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, np.finfo(dtype).max, 1.0], dtype)
    with np.errstate(all="ignore"):
        for seed in range(30):
            x = np.random.default_rng(seed).choice(some[: 2 + seed % 6], (3 + seed, 11))
            same(la.array(x).sum(axis=0), x.sum(axis=0))
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        la.array(np.full((9, 5), np.finfo(dtype).max, dtype)).sum(axis=0).wait_to_read()


@pytest.mark.parametrize("shape", [(8, 9000), (130, 17), (3, 40, 50), (2, 3, 40, 9), (5, 1, 600)])
@pytest.mark.parametrize("dtype", "fdBD")
def test_axes_in_any_order(crew, shape, dtype):
    x = numbers(shape, dtype)
    a = la.array(x)
    rng = np.random.default_rng(1)
    for _ in range(12):
        order = rng.permutation(x.ndim).tolist()
        y, b = x.transpose(order), a.transpose(order)
        axis = tuple(
            sorted(rng.choice(y.ndim, rng.integers(1, y.ndim + 1), replace=False).tolist())
        )
        for name in ("sum", "max", "prod", "any") if dtype != "D" else ("sum", "prod"):
            with np.errstate(all="ignore"):
                want, got = getattr(y, name)(axis=axis), getattr(b, name)(axis=axis)
                same(got, want)
                assert np.ndim(want) < 2 or steps(got) == steps(want)
                for turn in (False, True):  # an output that lies otherwise than the operand
                    shape_of = want.shape[::-1] if turn else want.shape
                    out, mine = np.empty(shape_of, want.dtype), la.empty(shape_of, want.dtype)
                    out, mine = (out.T, mine.T) if turn else (out, mine)
                    getattr(y, name)(axis=axis, out=out)
                    getattr(b, name)(axis=axis, out=mine)
                    same(mine, out)


# NumPy sums rows of more than its buffer piece by piece; at 8 and 128 its sums in pairs begin, cut.
BLOCKS = [
    *[(5, 3, n) for n in (2, 7, 8, 9, 127, 128, 129, 8191, 8192, 8193, 20_000)],
    *[(n, 4, 6) for n in (2, 7, 8, 9, 17, 700)],
    *[(3, n, 5) for n in (2, 8, 33, 600, 2100)],
    *[(4, 3, n, n + 1) for n in (1, 2, 30)],
    (3, 5, 4, 6),
]


@pytest.mark.parametrize("dtype", "fdFDelBg?")
@pytest.mark.parametrize("shape", BLOCKS)
def test_rows_before_their_sums(crew, shape, dtype):
    """Axes apart from each other, the last among them: (0, 2, 3) of a batch of pictures, say."""
    x = numbers(shape, dtype) if dtype != "?" else numbers(shape, "l") % 3 == 0
    a = la.array(x)
    last = x.ndim - 1
    for axis in ((0, last), (1, last), (0, *range(2, x.ndim))):
        for name in ("sum", "mean", "prod", "max", "any", "all"):
            with np.errstate(all="ignore"):
                want, got = getattr(x, name)(axis=axis), getattr(a, name)(axis=axis)
                same(got, want)
                assert steps(got) == steps(want)
                y, b = np.asfortranarray(x), la.asfortranarray(a)
                same(getattr(b, name)(axis=axis), getattr(y, name)(axis=axis))
        if dtype in "fdFD":
            with figures(split_ns=0, task_ns=0, inline_ns=0, panel=16, tile_bytes=3000, least=1):
                same((a * a - a).var(axis=axis), (x * x - x).var(axis=axis))


@pytest.mark.parametrize("dtype", "fdD")
def test_special_values_of_rows(crew, dtype):
    some = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, np.finfo(dtype).max, 1.0], dtype)
    with np.errstate(all="ignore"):
        for seed in range(30):
            x = np.random.default_rng(seed).choice(some[: 2 + seed % 6], (3, 2, 9 + seed))
            same(la.array(x).sum(axis=(0, 2)), x.sum(axis=(0, 2)))
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        x = np.full((2, 3, 1), np.finfo(dtype).max, dtype).repeat(2, 2)
        la.array(x).sum(axis=(0, 2)).wait_to_read()


def test_gradient_of_rows_before_their_sums():
    x = la.array(numbers((3, 4, 5), "d"))
    x.attach_grad()
    with la.autograd.record():
        y = (x.sum(axis=(0, 2)) * la.arange(4.0)).sum()
    y.backward()
    np.testing.assert_array_equal(x.grad, np.broadcast_to(np.arange(4.0)[:, None], (3, 4, 5)))


@pytest.mark.parametrize("dtype", "fdDelBg?")
@pytest.mark.parametrize("shape", [(3, 9, 4, 17), (2, 40, 3, 130), (5, 2, 3, 4, 9), (33, 2, 17, 2)])
def test_every_choice_of_axes(crew, shape, dtype):
    """Where no pass does them, they are one instruction, which threads share."""
    x = numbers(shape, dtype) if dtype != "?" else numbers(shape, "l") % 3 == 0
    a = la.array(x)
    zeros = np.random.default_rng(1).choice([0.0, -0.0, 1.0], shape).astype(dtype)
    for n in range(1, x.ndim + 1):
        for axis in itertools.combinations(range(x.ndim), n):
            for name in ("sum", "max", "min", "prod", "all") if dtype != "D" else ("sum", "prod"):
                with np.errstate(all="ignore"):
                    want, got = getattr(x, name)(axis=axis), getattr(a, name)(axis=axis)
                    same(got, want)
                    assert np.ndim(want) == 0 or steps(got) == steps(want)
                    same(getattr(la.array(zeros), name)(axis), getattr(zeros, name)(axis))


def test_flags_of_shared_reductions(crew):
    x = np.ones((3, 40, 5, 7))
    x[1, 39, 2, 3] = x[2, 39, 4, 3] = np.finfo("d").max
    with np.errstate(over="raise"):
        for axis in ((0, 2), (0, 2, 3), (0, 3)):
            la.array(x[:, :39]).sum(axis=axis).wait_to_read()
            with pytest.raises(FloatingPointError):
                (la.array(x).prod(axis=axis) * 2).wait_to_read()
