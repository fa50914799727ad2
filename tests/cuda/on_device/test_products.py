"""Matrix products by cuBLAS: every layout that it takes, and those that go by CuPy."""

import itertools

import numpy as np
import pytest

import lazyarray as la

LAYOUTS = ("rows", "columns", "padded", "stepping")
rng = np.random.default_rng(0)


def laid(a, how):
    """An array on the current device with a's values, laid out in one way."""
    if how == "columns":
        return la.array(np.ascontiguousarray(a.swapaxes(-1, -2))).swapaxes(-1, -2)
    if how == "padded":
        whole = np.pad(a, [(0, 0)] * (a.ndim - 1) + [(0, 3)])
        return la.array(whole)[..., : a.shape[-1]]
    if how == "stepping":
        whole = np.zeros((*a.shape[:-2], 2 * a.shape[-2], 2 * a.shape[-1]), a.dtype)
        whole[..., ::2, ::2] = a
        return la.array(whole)[..., ::2, ::2]
    return la.array(a)


def numbers(shape, dtype):
    a = rng.normal(size=shape)
    return (a + 1j * rng.normal(size=shape) if dtype in "FD" else a).astype(dtype)


def agree(got, want):
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    eps = 100 * np.finfo(want.dtype).eps
    np.testing.assert_allclose(got.asnumpy(), want, rtol=eps, atol=eps)


@pytest.mark.parametrize("dtype", "fdFD")
@pytest.mark.parametrize(
    "size", [(3, 4, 5), (1, 4, 5), (3, 1, 5), (3, 4, 1), (1, 1, 1), (16, 33, 8)]
)
def test_layouts(gpu, dtype, size):
    n, k, m = size
    for stacks in [((), ()), ((2,), (2,)), ((2,), ()), ((2, 3), (3,)), ((1,), (4,))]:
        for one, two in itertools.product(LAYOUTS, repeat=2):
            a, b = numbers((*stacks[0], n, k), dtype), numbers((*stacks[1], k, m), dtype)
            x, y = laid(a, one), laid(b, two)
            agree(x @ y, a @ b)
            if stacks == ((), ()):
                out = la.zeros((m, n), dtype=dtype).T
                la.matmul(x, y, out=out)
                agree(out, a @ b)


@pytest.mark.parametrize("dtype", "?bhilBHIe")
def test_other_dtypes(gpu, dtype):
    a = rng.integers(0, 5, (4, 6)).astype(dtype)
    b = rng.integers(0, 5, (6, 3)).astype(dtype)
    got = la.array(a) @ la.array(b)
    np.testing.assert_array_equal(got.asnumpy(), a @ b)
    assert got.dtype == (a @ b).dtype


def test_empty_and_vectors(gpu):
    a, v = rng.normal(size=(3, 4)), rng.normal(size=4)
    agree(la.array(a) @ la.array(v), a @ v)
    agree(la.array(v) @ la.array(a.T), v @ a.T)
    np.testing.assert_allclose(float(la.array(v) @ la.array(v)), v @ v, rtol=1e-14)
    assert (la.ones((3, 0)) @ la.ones((0, 2))).asnumpy().tolist() == [[0, 0]] * 3
    assert (la.ones((0, 3)) @ la.ones((3, 2))).shape == (0, 2)


def test_products_wait_for_what_they_read(gpu):
    a = la.ones((64, 64))
    for _ in range(4):
        a[...] = (a @ a) / 64
        a += 1
    want = np.ones((64, 64))
    for _ in range(4):
        want = (want @ want) / 64 + 1
    agree(a, want)
