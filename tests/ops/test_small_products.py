"""Products of stacks of small matrices of floats, by a loop of our own: with NumPy's bits."""

import itertools
import threading
import warnings

import numpy as np
import pytest

import lazyarray as la

from ..lazy.fusing import same

pytestmark = pytest.mark.host  # NumPy's own bits

DTYPES = "fd"
SIZES = (
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    9,
    11,
    12,
    13,
)  # around vectors of 2, 4 and 8, twice of those, and the largest


def stack(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4, shape)).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("turned", [*itertools.product((False, True), repeat=2)])
def test_sizes_and_orders(crew, dtype, turned):
    for n, k, m in itertools.product(SIZES, repeat=3):
        a = stack((5, k, n) if turned[0] else (5, n, k), dtype)
        b = stack((5, m, k) if turned[1] else (5, k, m), dtype, 1)
        x, y = la.array(a), la.array(b)
        if turned[0]:
            a, x = a.transpose(0, 2, 1), x.transpose(0, 2, 1)
        if turned[1]:
            b, y = b.transpose(0, 2, 1), y.transpose(0, 2, 1)
        same(x @ y, a @ b)


@pytest.mark.parametrize("dtype", DTYPES)
def test_by_their_own_transpose(crew, dtype):
    # NumPy's multiplies these in another way.
    for n, k in itertools.product(SIZES, repeat=2):
        a = stack((4, n, k), dtype)
        x = la.array(a)
        same(x @ x.transpose(0, 2, 1), a @ a.transpose(0, 2, 1))
        same(x.transpose(0, 2, 1) @ x, a.transpose(0, 2, 1) @ a)
    a = stack((4, 3, 3), dtype)
    x = la.array(a)
    same(x[0] @ x.transpose(0, 2, 1), a[0] @ a.transpose(0, 2, 1))  # the first of them is
    same(x[::-1] @ x.transpose(0, 2, 1), a[::-1] @ a.transpose(0, 2, 1))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [3, 4, 6, 8, 12])
def test_views(crew, dtype, size):
    a, b = stack((3, 4, size, size), dtype), stack((4, size, size), dtype, 1)
    x, y = la.array(a), la.array(b)
    same(x @ y, a @ b)
    same(x[:, :1] @ y, a[:, :1] @ b)
    same(x @ y[2], a @ b[2])
    same(x[0, 1] @ x, a[0, 1] @ a)
    same(x[..., ::-1, :] @ y, a[..., ::-1, :] @ b)
    same(x[..., 1:, 1:] @ y[..., 1:, 1:], a[..., 1:, 1:] @ b[..., 1:, 1:])
    same(x[..., ::2] @ y[:, ::2], a[..., ::2] @ b[:, ::2])
    same(x.transpose(2, 0, 1, 3)[:, :, 1:3] @ y[0], a.transpose(2, 0, 1, 3)[:, :, 1:3] @ b[0])
    out, want = la.zeros((3, 4, size, size), dtype), np.zeros((3, 4, size, size), dtype)
    for o, w, p, q in ((out, want, x, a), (out[::-1], want[::-1], x, a)):
        la.matmul(p, y, out=o)
        np.matmul(q, b, out=w)
        same(out, want)
    la.matmul(x, y, out=out.swapaxes(-1, -2))
    np.matmul(a, b, out=want.swapaxes(-1, -2))
    same(out, want)
    la.matmul(out, y, out=out)
    np.matmul(want, b, out=want)
    same(out, want)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [2, 3, 4, 7])
def test_special_values(crew, dtype, size):
    tiny, most = np.finfo(dtype).tiny, np.finfo(dtype).max
    values = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, tiny, -tiny, most, -most]
    values = np.array(values, dtype)
    for seed, some in itertools.product(range(20), (values, values[[0, 1, 2, 3, 7, 8]])):
        rng = np.random.default_rng(seed)
        a, b = rng.choice(some, (6, size, size)), rng.choice(some, (6, size, size))
        with np.errstate(all="ignore"):
            same(la.array(a) @ la.array(b), a @ b)


def said(call):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        call()
    return [str(w.message) for w in told]


@pytest.mark.parametrize("dtype", DTYPES)
def test_errors_are_of_what_there_is(crew, dtype):
    # What a shape is tried with is no reason for one.
    a, b = np.ones((3, 5, 6), dtype), np.ones((3, 6, 3), dtype)
    x, y = la.array(a), la.array(b)
    with np.errstate(all="raise"):
        same(x @ y, a @ b)
    for value in (np.inf, np.finfo(dtype).max):
        for i, j in itertools.product(range(5), range(3)):
            a[:], b[:] = 1, 0
            a[1, i, 2], b[1, 2, j] = value, 10
            x, y = la.array(a), la.array(b)
            assert said(lambda x=x, y=y: (x @ y).wait_to_read()) == said(lambda a=a, b=b: a @ b)


@pytest.mark.parametrize("dtype", DTYPES + "FD")
@pytest.mark.parametrize("size", [2, 3, 8, 12, 13, 16])
def test_many(dtype, size):
    # So many that threads share them, or that one had better have them all.
    n = 1 + 3_000_000 // (size**3 + 50)
    a, b = stack((n, size, size), dtype), stack((n, size, size), dtype, 1)
    same(la.array(a) @ la.array(b), a @ b)


def test_threads_that_try_a_shape_at_once():
    a, b = stack((50, 5, 10), "d"), stack((50, 10, 6), "d", 1)
    want, found = a @ b, []

    def multiply():
        for _ in range(20):
            found.append((la.array(a) @ la.array(b)).asnumpy().tobytes() == want.tobytes())

    threads = [threading.Thread(target=multiply) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(found) == 80 and all(found)


@pytest.mark.parametrize("dtype", "FD")
def test_products_of_one_complex_number(dtype):
    """NumPy's own loop multiplies them: BLAS gives NaN for infinities."""
    a, b = np.array([[np.inf + 0j]], dtype), np.array([[1 + 0j]], dtype)
    with np.errstate(all="ignore"):
        for x, y in ((a, b), (a[0], b), (a, b[0]), (a[0], b[0]), (np.stack([a, a]), b)):
            same(la.matmul(la.array(x), la.array(y)), np.matmul(x, y))
    w = la.array(b)
    w.attach_grad()
    with la.autograd.record():
        y = (w @ (w * 2)).real.sum()
    y.backward()
    assert w.grad.tolist() == [[4]]
