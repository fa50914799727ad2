"""``la.lib``, ``la.polynomial``, ``la.emath`` and ``la.poly1d``: NumPy's modules of those names."""

import pickle
from importlib import import_module

import numpy as np
import pytest

import lazyarray as la
from lazyarray.lib.stride_tricks import as_strided, sliding_window_view

BASES = ["chebyshev", "hermite", "hermite_e", "laguerre", "legendre", "polynomial"]
numpys_matlib = import_module("numpy.matlib")
CLASSES = ["Chebyshev", "Hermite", "HermiteE", "Laguerre", "Legendre", "Polynomial"]


def same(got, want):
    assert isinstance(got, la.NDArray)
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    np.testing.assert_array_equal(got.asnumpy(), want)


# ---- strides ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("window", "axis"), [(2, 0), ((2, 3), None), ((1, 2), (1, 1)), ((), ()), (4, -1)]
)
def test_windows(window, axis):
    host = np.arange(12).reshape(3, 4)
    with la.no_sync():
        got = sliding_window_view(la.array(host), window, axis)
    want = np.lib.stride_tricks.sliding_window_view(host, window, axis)
    same(got, want)
    assert got.strides == want.strides and not got.flags.writeable


def test_windows_are_views():
    x = la.arange(5)
    windows, own = sliding_window_view(x, 3), sliding_window_view(x, 3, writeable=True)
    x[2] = 9
    assert windows.tolist() == [[0, 1, 9], [1, 9, 3], [9, 3, 4]]
    own[0, 0] = 7
    assert x[0].item() == 7 and la.shares_memory(x, own)
    with pytest.raises(ValueError, match="read-only"):
        windows[0] = 1
    assert sliding_window_view([1, 2, 3], 2).tolist() == [[1, 2], [2, 3]]
    for bad in (6, -1, (2, 2)):
        with pytest.raises(ValueError):
            sliding_window_view(x, bad)


def test_strides():
    x = la.arange(12).reshape(3, 4)
    host = x.asnumpy()
    for args in [
        ((2, 2), (8, 32)),
        ((4, 3), (8, 32)),
        ((5,), (0,)),
        (None, None),
        ((0, 9), (8, 8)),
    ]:
        same(as_strided(x, *args), np.lib.stride_tricks.as_strided(host, *args))
    diagonal = as_strided(x, (3,), (40,))
    diagonal += 100
    assert [x[i, i].item() for i in range(3)] == [100, 105, 110]
    assert not as_strided(x, writeable=False).flags.writeable
    with pytest.raises(ValueError, match="outside"):
        as_strided(x, (13,), (8,))


# ---- polynomials --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BASES)
def test_modules_have_numpys_names(name):
    ours, theirs = getattr(la.polynomial, name), getattr(np.polynomial, name)
    assert dir(ours) == sorted(theirs.__all__)
    for each in theirs.__all__:
        assert getattr(ours, each).__doc__
    with pytest.raises(AttributeError, match="nonsense"):
        ours.nonsense


@pytest.mark.parametrize("name", CLASSES)
def test_series(name):
    ours, theirs = getattr(la.polynomial, name), getattr(np.polynomial, name)
    x = np.linspace(-1, 2, 7)
    p, q = ours([1, 2, 3], domain=[-2, 2]), theirs([1, 2, 3], domain=[-2, 2])
    with la.no_sync():
        got = p(la.array(x))
    same(got, q(x))
    same(p(x), q(x))
    same((p * p - 1).deriv()(la.array(x)), (q * q - 1).deriv()(x))
    same(p.roots(), q.roots())
    for g, w in zip(p.linspace(5), q.linspace(5), strict=True):
        same(g, w)
    assert type(p.integ()) is ours and str(p) == str(q) and p == ours(la.array([1, 2, 3]), [-2, 2])
    fit = ours.fit(la.array(x), la.array(x**2), 2)
    np.testing.assert_array_equal(fit.coef, theirs.fit(x, x**2, 2).coef)
    assert pickle.loads(pickle.dumps(p)) == p


def test_functions_of_polynomials():
    x, y = np.linspace(0, 1, 9), np.linspace(1, 3, 9) ** 2
    ours, theirs = la.polynomial, np.polynomial
    u, v = la.array(x), la.array(y, device=la.cpu(0))
    same(ours.polynomial.polyfit(u, v, 2), theirs.polynomial.polyfit(x, y, 2))
    same(ours.polynomial.polyval(u, [1, 2, 3]), theirs.polynomial.polyval(x, [1, 2, 3]))
    same(ours.chebyshev.chebvander(x, 3), theirs.chebyshev.chebvander(x, 3))
    for g, w in zip(ours.legendre.leggauss(5), theirs.legendre.leggauss(5), strict=True):
        same(g, w)
    c, more = ours.hermite.hermfit(u, v, 2, full=True)
    want, their_more = theirs.hermite.hermfit(x, y, 2, full=True)
    same(c, want)
    for g, w in zip(more[:3], their_more[:3], strict=True):
        same(g, np.asarray(w))
    one = la.ones(3, device=la.cpu(1))
    assert ours.polynomial.polyadd(one, [1]).device == la.cpu(1)
    with la.no_sync(), pytest.raises(RuntimeError, match=r"polyadd\(\)"):
        ours.polynomial.polyadd(la.ones(100) + 1, [1])


def test_poly1d():
    p, q = la.poly1d([1, -3, 2]), np.poly1d([1, -3, 2])
    x = np.linspace(0, 3, 7)
    same(p(la.array(x)), q(x))
    same(p(x), q(x))
    same(p.roots, q.roots)
    same((p * p + 1).coeffs, (q * q + 1).coeffs)
    same(p.deriv().c, q.deriv().c)
    same(p.integ(k=1).c, q.integ(k=1).c)
    same(la.poly1d([1, 2], r=True).coef, np.poly1d([1, 2], r=True).coef)
    assert str(p) == str(q) and p.order == 2 and len(p) == 2 and p[1].item() == -3
    assert bool(p == la.poly1d(la.array([1, -3, 2]))) and la.poly1d(p).coeffs is p.coeffs


# ---- dtypes that depend on values ---------------------------------------------------------------


def test_emath():
    for x in (np.array([1.0, -4.0]), np.array([1.0, 4.0])):
        same(la.emath.sqrt(la.array(x)), np.emath.sqrt(x))
        same(la.emath.power(la.array(x), [2, -1]), np.emath.power(x, [2, -1]))
        same(la.emath.log(x), np.emath.log(x))
    assert la.emath.sqrt(-1).item() == 1j
    assert la.emath is la.lib.scimath and dir(la.emath) == sorted(np.emath.__all__)
    with la.no_sync(), pytest.raises(RuntimeError, match=r"sqrt\(\)"):
        la.emath.sqrt(la.ones(100) - 2)


def test_what_is_absent_says_why():
    for name in ("flatiter", "get_include", "info"):
        with pytest.raises(AttributeError, match=f"{name!r}: "):
            getattr(la, name)


# ---- matlib -------------------------------------------------------------------------------------


@pytest.mark.parametrize("times", [(2, 3), (1, 1), (0, 2)])
def test_repmat(times):
    for make in (
        lambda xp: 3,
        lambda xp: [1.0, 2],
        lambda xp: xp.arange(6).reshape(2, 3),
        lambda xp: xp.ones((2, 3), "f4").T,
        lambda xp: xp.ones((2, 0)),
    ):
        with la.no_sync():
            got = la.matlib.repmat(make(la), *times)
        want = numpys_matlib.repmat(make(np), *times)
        same(got, want)
        assert got.flags.c_contiguous == want.flags.c_contiguous
    matrix = np.asmatrix([[1, 2]])
    assert repr(la.matlib.repmat(matrix, 2, 1)) == repr(numpys_matlib.repmat(matrix, 2, 1))
    with pytest.raises(ValueError, match="too many values"):
        la.matlib.repmat(la.ones((1, 1, 1)), 1, 1)


def test_matlib_has_all_names():
    found = []
    for xp, matlib in ((np, numpys_matlib), (la, la.matlib)):
        xp.random.seed(2)
        made = [matlib.rand(2, 2), matlib.randn((1, 2)), matlib.zeros(3), matlib.eye(2)]
        found.append(repr([*made, matlib.identity(2), matlib.ones((1, 2)), matlib.pi]))
    assert found[0] == found[1] and la.matlib.sin is la.sin
