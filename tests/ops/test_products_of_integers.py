"""Products of integers, bools and halves, by loops of our own, on threads or not: NumPy's bits."""

import itertools
import warnings

import numpy as np
import pytest

import lazyarray as la

from ..lazy.fusing import same

DTYPES = "?bBhHiIlLqQe"
# Around four rows, a vector of columns (8 to 64), and portions of 32 rows.
ROWS, SUMS, COLUMNS = (1, 2, 4, 5, 33, 70), (0, 1, 3, 64), (1, 7, 8, 9, 17, 64, 65, 140)


def matrix(shape, dtype, seed):
    rng = np.random.default_rng(seed)
    if dtype == "?":
        return rng.random(shape) > 0.8
    if dtype == "e":
        return (rng.random(shape) - 0.5).astype(dtype)
    return rng.integers(-(2**31), 2**31, shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_sizes(crew, dtype):
    for n, k, m in itertools.product(ROWS, SUMS, COLUMNS):
        a, b = matrix((n, k), dtype, 0), matrix((k, m), dtype, 1)
        same(la.array(a) @ la.array(b), a @ b)


@pytest.mark.parametrize("dtype", "?bHiQe")
def test_layouts(crew, dtype):
    a, b = matrix((37, 66), dtype, 0), matrix((66, 70), dtype, 1)
    x, y = la.array(a), la.array(b)
    same(la.asfortranarray(x) @ la.asfortranarray(y), a @ b)
    same(x[::-1] @ y[:, ::-1], a[::-1] @ b[:, ::-1])
    same(x[::2, ::3] @ y[::3], a[::2, ::3] @ b[::3])
    same(y.T @ x.T, b.T @ a.T)
    same(x.T @ x, a.T @ a)
    same(x @ y[:, 0], a @ b[:, 0])
    same(x[0] @ y, a[0] @ b)
    same(x[0] @ y[:, 3], a[0] @ b[:, 3])
    same(y.T @ x[0], b.T @ a[0])
    same(x[0, ::-1] @ la.asfortranarray(y), a[0, ::-1] @ b)
    same(x[::2, ::3] @ y[::3, 0], a[::2, ::3] @ b[::3, 0])
    same(x[0, ::2] @ y[::2, ::3], a[0, ::2] @ b[::2, ::3])
    same(la.broadcast_to(x[0], (9, 66)) @ y, np.broadcast_to(a[0], (9, 66)) @ b)
    out = la.zeros((37, 140), dtype)
    la.matmul(x, y, out=out[:, ::2])
    same(out[:, ::2], a @ b)


@pytest.mark.parametrize("dtype", "?Ble")
def test_stacks(crew, dtype):
    a, b, c = matrix((3, 40, 50), dtype, 0), matrix((50, 6), dtype, 1), matrix((3, 50, 7), dtype, 2)
    x, y, z = la.array(a), la.array(b), la.array(c)
    same(x @ y, a @ b)
    same(x @ z, a @ c)
    same(x[:, None] @ z, a[:, None] @ c)
    same(la.dot(x, y), np.dot(a, b))
    same(la.tensordot(x, y, 1), np.tensordot(a, b, 1))
    same(la.inner(x[0], x[1]), np.inner(a[0], a[1]))


def test_long_sums():
    # A tile of columns that would take more than 8 MiB isn't copied.
    k = (8 << 20) // 64 + 3
    a, b = matrix((2, k), "l", 0), matrix((k, 2), "l", 1)
    same(la.array(a) @ la.array(b), a @ b)
    a, b = matrix((2, k), "B", 0), matrix((k, 2), "B", 1)
    same(la.array(a) @ la.array(b), a @ b)


def test_special_halves(crew):
    a = np.array([[np.inf, 1, -0.0], [np.nan, 60000, 0.0], [1, 60000, 60000]] * 20, "e")
    b = np.array([[1, 0, -0.0, 60000]] * 3, "e")
    with np.errstate(all="ignore"):
        same(la.array(a) @ la.array(b), a @ b)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        (la.array(a[2::3]) @ la.array(b)).wait_to_read()


@pytest.mark.parametrize("columns", [1, 5, 9, 17, 33])
def test_flags_of_halves(columns):
    """Lanes beyond the last column are told of nothing."""
    for odd in (np.inf, 6e4, np.nan, 1e-7):
        a, b = matrix((7, 12), "e", 0), np.ones((12, columns), "e")
        a[0, 0] = odd
        told = []
        for x, y in ((a, b), (la.array(a), la.array(b))):
            with warnings.catch_warnings(record=True) as met:
                warnings.simplefilter("always")
                product = np.asarray(x @ y)
            told.append((product.tobytes(), [str(w.message) for w in met]))
        assert told[0] == told[1], odd


@pytest.mark.parametrize("dtype", "Bhld")
def test_dots_of_stacks(dtype, direct):
    for shape in ((2, 3, 4), (4, 1, 6), (3, 0, 4), (3, 4, 0), (4, 77, 77), (2, 3, 4, 5)):
        a = matrix((int(np.prod(shape[:-1])), shape[-1]), dtype, 0).reshape(shape)
        for b in (matrix((shape[-1], 3), dtype, 1), matrix((shape[-1], 1), dtype, 1)[:, 0]):
            for turn in (lambda v: v, lambda v: v[::-1], lambda v: v.swapaxes(0, 1)):
                got, want = la.dot(turn(la.array(a)), la.array(b)), np.dot(turn(a), b)
                same(got, want)
                assert got.strides == want.strides or not want.size
            same(la.array(a).dot(la.array(b)), a.dot(b))
        same(la.inner(la.array(a[0]), la.array(a[0])), np.inner(a[0], a[0].copy()))
        x = la.array(a[0])
        same(la.inner(x, x), np.inner(a[0], a[0]))
        if a.ndim == 3 and a.size:
            same(la.inner(x, x[0]), np.inner(a[0], a[0, 0]))
            same(la.inner(x[0], x), np.inner(a[0, 0], a[0]))
            with pytest.raises(ValueError):
                la.inner(x, x[:, :-1])


@pytest.mark.parametrize("density", [0.002, 0.05, 0.5, 0.99])
def test_bools_in_words(crew, density):
    """Rows of many words and of part of one, whose bits are all set soon, late or never."""
    rng = np.random.default_rng(7)
    for n, k, m in [(3, 40, 64), (9, 33, 127), (5, 200, 513), (40, 70, 600), (70, 1030, 65)]:
        a, b = rng.random((n, k)) < density, rng.random((k, m)) < density
        x, y = la.array(a), la.array(b)
        same(x @ y, a @ b)
        same(x[:, ::-1] @ la.asfortranarray(y), a[:, ::-1] @ b)
        same(y.T[::2] @ x.T, b.T[::2] @ a.T)
        same(x[0] @ y, a[0] @ b)
        same(x.view("u1").astype("?") @ (y.view("u1") * 6).view("?"), a @ b)  # any byte but zero
        out = la.zeros((n, m), bool)
        assert la.dot(x, y, out=out) is out
        same(out, np.dot(a, b))
        same(la.dot(x[0], y[:, 0]), np.dot(a[0], b[:, 0]))
