"""Grids, diagonals and indices against NumPy."""

import numpy as np
import pytest

import lazyarray as la


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("copy", [False, True])
@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_meshgrid(indexing, sparse, copy, count):
    hosts = [np.arange(3), np.array([[1.5, 2], [3, 4]]), np.array(7)][:count]
    kwargs = {"indexing": indexing, "sparse": sparse, "copy": copy}
    want = np.meshgrid(*hosts, **kwargs)
    got = la.meshgrid(*[la.array(h) for h in hosts], **kwargs)
    assert isinstance(got, tuple) and len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        assert g.dtype == w.dtype and g.strides == w.strides
        np.testing.assert_array_equal(g.asnumpy(), w)
    with pytest.raises(ValueError, match="Valid values for `indexing`"):
        la.meshgrid([1], indexing="q")


def test_diag_of_a_matrix_is_a_view():
    x = la.zeros((3, 3))
    d = la.diag(x)
    x += 2
    assert d.var == x.var
    np.testing.assert_array_equal(d.asnumpy(), [2.0, 2.0, 2.0])
    with pytest.raises(ValueError, match="read-only"):
        d += 2


def test_indices_sparse():
    for g, w in zip(la.indices((2, 3), sparse=True), np.indices((2, 3), sparse=True), strict=True):
        np.testing.assert_array_equal(g.asnumpy(), w)
        assert g.shape == w.shape
    assert la.indices(()).shape == np.indices(()).shape


@pytest.mark.parametrize("k", range(-4, 5))
def test_diag_of_a_vector(k):
    for n in (0, 1, 2, 40, 1023):
        for dtype in "d?bD":
            v = np.arange(n).astype(dtype)
            for step in (1, -1, 2):
                got = la.diag(la.array(v)[::step], k)
                want = np.diag(v[::step], k)
                assert got.dtype == want.dtype
                np.testing.assert_array_equal(got.asnumpy(), want)
