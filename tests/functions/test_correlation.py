"""Covariance and correlation against NumPy."""

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import asynchronous, call, check, layouts, pending, rng, same

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
M = rng.standard_normal((3, 6))
ARRAYS = [
    *layouts(M),
    M.astype("f4"),
    M.astype("g"),
    rng.integers(-5, 5, (3, 6)),
    M > 0,
    M + 1j * M[::-1],
    M[0],
    M[:, :1],
    np.array(3.0),
    np.zeros((0, 3)),
    np.zeros((3, 0)),
    M[None],
]


@pytest.mark.parametrize("rowvar", [True, False])
@pytest.mark.parametrize("name", ["cov", "corrcoef"])
def test_matrices(name, rowvar):
    for a in ARRAYS:
        check(name, a, rowvar=rowvar, strides=False)
        if a.dtype.kind != "c":
            check(name, a, rowvar=rowvar, dtype="f4", strides=False)
        for y in (M, M[0], M.T, M * 1j, M[0].astype("f4"), M[None]):
            check(name, a, y, rowvar, strides=False)


@pytest.mark.parametrize("more", [{}, {"ddof": 0}, {"ddof": 2}, {"ddof": 30}, {"bias": True},
                                  {"ddof": 1.5}, {"bias": True, "ddof": 1}], ids=str)  # fmt: skip
def test_weights(more):
    f, a = np.array([1, 2, 0, 3, 1, 1]), rng.random(6)
    for f_, a_ in [(f, None), (None, a), (f, a), (f + 0.5, None), (-f, None), (None, -a),
                   (f[:3], None), (None, a[:2]), (f[None], None), (None, a[None]), (f * 0, None),
                   (f.tolist(), a.tolist())]:  # fmt: skip
        for m in (M, M.astype("f4"), M + 1j, rng.integers(-5, 5, (3, 6))):
            check("cov", m, fweights=f_, aweights=a_, **more, strides=False)
            same_host("cov", m, fweights=f_, aweights=a_, **more)


@pytest.mark.parametrize("dtype", ["f2", "f4", "F"])
def test_weights_do_not_make_what_is_computed_in_wider(dtype):
    m, w = rng.standard_normal((3, 1000)), rng.random(1000)
    for more in ({"aweights": w}, {"fweights": rng.integers(0, 4, 1000)}):
        check("cov", m, dtype=dtype, **more, strides=False)


def same_host(name, m, **kwargs):
    """With the weights not as NDArrays."""
    want = call(getattr(np, name), (m,), kwargs)
    got = call(getattr(la, name), (la.array(m),), kwargs)
    if isinstance(want, Exception):
        assert isinstance(got, type(want)), f"{got!r}, not {want!r}"
    else:
        same(got, want, False)


def test_no_degree_of_freedom_warns():
    with pytest.warns(RuntimeWarning, match="Degrees of freedom"):
        la.cov(la.ones((2, 1)))


VECTORS = [M[0], M[0, :2], M[0, :1], M[0, ::-2], rng.integers(-5, 5, 4), M[0].astype("f4"),
           M[0] * 1j + 1, M[0] > 0, np.zeros(0), M, np.array(2.0), 2.5, [1, 2]]  # fmt: skip


@pytest.mark.parametrize("mode", ["valid", "same", "full", "none", 1])
@pytest.mark.parametrize("name", ["correlate", "convolve"])
def test_sequences(name, mode):
    for a in VECTORS:
        for v in VECTORS:
            check(name, a, v, mode)
            check(name, a, v)


@asynchronous
def test_nothing_waits():
    x, w = la.array(M), la.array(np.array([1.0, 2, 0, 3, 1, -1]))
    with pending(x, w), la.no_sync():
        results = [la.cov(x), la.corrcoef(x), la.convolve(x[0], x[1]), la.correlate(x[0], x[1])]
        wrong = la.cov(x, aweights=w)
        with pytest.raises(RuntimeError, match="incompatible"):
            la.cov(x, fweights=w[:2])
        with pytest.raises(ValueError, match="integer"):
            la.cov(x, ddof=0.5)
    wanted = [np.cov(M), np.corrcoef(M), np.convolve(M[0], M[1]), np.correlate(M[0], M[1])]
    same(results, wanted, False)
    with pytest.raises(ValueError, match="aweights cannot be negative"):
        wrong.asnumpy()


def test_means_are_no_integers():
    for m in (np, la):
        with pytest.raises(TypeError, match="subtract"):
            m.cov(m.ones((2, 3)), dtype="i4")


@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_small_vectors_at_once(name, direct):
    for a in ([1.0, 2, 3], [1], [1 + 2j, 3j], [True, False, True], []):
        for v in ([0.5, -1], [2], [1j, 2, 3, 4], np.arange(20), []):
            for mode in ("full", "same", "valid", 2, "f", "x"):
                check(name, np.array(a), np.array(v), mode)
            check(name, a, v)
    check(name, np.ones((2, 2)), np.ones(2))
    check(name, np.array(2.0), np.ones(3))
