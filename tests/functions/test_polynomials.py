"""Polynomials equal NumPy's; what waits is what has a length that depends on values."""

import warnings
from fractions import Fraction

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import asynchronous, check, on_gpu, pending, same

rng = np.random.default_rng(3)  # not what others have drawn from: NumPy's errors depend on it

VECTORS = [
    np.array([1.0, -3, 2]),
    np.array([0, 0, 2, 5, 0, 0]),
    np.array([0.0, 0.0]),
    np.array([4.0]),
    np.array([], "d"),
    np.array(3),
    np.array([1, 2, 3], "f4"),
    np.array([1j, 2, 3 - 1j]),
    np.array([True, False, True]),
    np.array([2.0, np.nan, 1]),
    rng.random(9)[::-2],
    np.ones((2, 2)),
]


@pytest.mark.parametrize("name", ["polyadd", "polysub", "polymul", "polydiv", "polyval"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_of_two(name):
    for a in VECTORS:
        for b in VECTORS:
            check(name, a, b, strides=False)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("polyder", ()),
        ("polyder", (0,)),
        ("polyder", (3,)),
        ("polyder", (-1,)),
        ("polyint", ()),
        ("polyint", (0,)),
        ("polyint", (2,)),
        ("polyint", (2, 5)),
        ("polyint", (2, [1, 2])),
        ("polyint", (2, np.array([1j, 2, 3]))),
        ("polyint", (3, [1, 2])),
        ("polyint", (-1,)),
        ("roots", ()),
        ("poly", ()),
        ("vander", ()),
        ("vander", (0,)),
        ("vander", (1,)),
        ("vander", (5,)),
        ("vander", (4, True)),
        ("vander", (-2,)),
        ("vander", (1.5,)),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_of_one(name, args):
    for a in VECTORS:
        # NumPy's dispatcher takes no 0-d array; its polyder computes a product too many.
        if (name, a.ndim) not in (("poly", 0), ("polyder", 2)):
            check(name, a, *args, strides=False)


@pytest.mark.parametrize("dtype", ["?", "b", "i", "f", "d", "F"])
@pytest.mark.parametrize("m", [0, 1, 3])
def test_a_derivative_of_nothing_has_the_dtype_of_a_product(dtype, m):
    check("polyder", np.zeros(0, dtype), m)


def test_poly_of_matrices_and_complex_roots():
    for a in (
        rng.random((5, 5)), rng.random((4, 4)).astype("f4"), np.arange(9).reshape(3, 3),
        rng.random((3, 3)) + 1j, np.array([1 + 1j, 1 - 1j, 2]), rng.random((2, 3)),
        np.zeros((0, 0)), rng.random((3, 3)).astype("e"),
    ):  # fmt: skip
        check("poly", a)


def test_polyval_of_shapes_and_host_coefficients():
    x = rng.random((3, 4))
    for p in ([1, 2, 3], (1.5, 2), np.float32([1, 2]), [1j, 2], [], [[1, 2], [3, 4]]):
        for at in (x, x.astype("f4"), np.arange(2), np.arange(2, dtype="i1"), 5, 2.5):
            check("polyval", p, at)


X = np.sort(rng.random(12))
Y = rng.random(12)


@pytest.mark.parametrize(
    "kwargs",
    [
        {},
        {"cov": True},
        {"cov": "unscaled"},
        {"w": rng.random(12) + 0.5},
        {"w": [1] * 12},
        {"w": np.ones(11)},
        {"w": np.ones((12, 1))},
        {"rcond": 1e-2},
    ],
)
@pytest.mark.filterwarnings("ignore::numpy.exceptions.RankWarning")
def test_polyfit(kwargs):
    for x in (X, X.astype("f4"), np.arange(12), X[:3], X[:, None], X[:0]):
        for y in (Y, np.stack([Y, 2 * Y, Y**2], 1), Y.astype("f4"), Y * 1j, Y[:3]):
            for deg in (0, 1, 3, -1):
                if on_gpu() and "cov" in kwargs and deg >= len(x):
                    continue  # of the inverse of a singular matrix no digit is certain
                check("polyfit", x, y, deg, strides=False, **kwargs)


def test_polyfit_in_full():
    for x, deg in ((X, 2), (X[:3], 2), (X[:3], 4), (X * 0 + 1, 2)):
        for y in (Y[: len(x)], np.stack([Y, Y**2], 1)[: len(x)]):
            *want, limit = np.polyfit(x, y, deg, full=True)
            *got, mine = la.polyfit(la.array(x), la.array(y), deg, full=True)
            assert mine == limit
            same(got, want, strides=False)


def test_the_rank_warning_comes_from_a_worker():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        la.polyfit(la.ones(5), la.ones(5), 2).wait_to_read()
        la.polyfit(la.ones(5), la.ones(5), 2, full=True)[0].wait_to_read()
    assert [w.category for w in seen] == [np.exceptions.RankWarning]


@asynchronous
def test_what_waits():
    p, z = la.array([1.0, 2, 3]), la.array([1 + 1j, 2])
    with pending(p, z), la.no_sync():
        got = [
            la.polyadd(p, [1]), la.polysub(p, p), la.polyval(p, p), la.polyder(p), la.polyint(p),
            la.poly(p), la.vander(p), la.polyfit(p, p, 1), *la.polyfit(p, p, 1, cov=True),
            la.polyfit(p, p, 2, full=True)[1],
        ]  # fmt: skip
        for wait in (
            lambda: la.polymul(p, p),
            lambda: la.polydiv(p, p),
            lambda: la.roots(p),
            lambda: la.poly(z),
            lambda: la.polyfit(p, p, 1, full=True),
        ):
            with pytest.raises(RuntimeError, match="no_sync"):
                wait()
    same(got[2], np.polyval([1.0, 2, 3], np.array([1.0, 2, 3])))


def test_of_poly1d():
    kinds, made = [], []
    for xp in (np, la):
        p, q = xp.poly1d([1.0, 2, 3]), xp.poly1d([3.0, 2, 1])
        found = [p(q), q(p), xp.polyval([1.0, 2], p), xp.polyadd(p, q), xp.polysub(p, [1, 2])]
        found += [xp.polymul([1, 2], p), *xp.polydiv(p, q), *xp.polydiv(p, [1.0, 2])]
        found += [xp.polyder(p), xp.polyint(p, 2), xp.polyval(p, 2.0), p([1.0, 2.0])]
        kinds.append([isinstance(x, np.poly1d) for x in found])
        made.append([np.asarray(x).tolist() for x in found])
    assert kinds[0] == kinds[1] and made[0] == made[1]


def test_what_a_poly1d_makes_is_of_its_class():
    """NumPy's methods make NumPy's: ``isinstance(p.deriv(), la.poly1d)`` was false."""
    p, q = la.poly1d([3.0, 0, 1]), la.poly1d([1.0, 2])
    made = [-p, +p, p + 1, 1 + p, p - q, 1 - p, 2 * p, p * q, p**2, p / 2, *(p / q)]
    made += [*([1.0, 2] / q), p.deriv(), p.integ(2, k=1), np.poly1d([1.0, 2]) + p]
    assert {type(x) for x in made} == {la.poly1d}
    # One that NumPy or SciPy made counts, too; classes that programs derive keep what they are.
    assert isinstance(np.poly1d([1.0]), la.poly1d) and not isinstance([1.0], la.poly1d)
    derived = type("Derived", (la.poly1d,), {})
    assert isinstance(derived([1.0]), derived) and not isinstance(p, derived)


@pytest.mark.parametrize(
    "given", [[Fraction(1, 2), 1], np.array([2, 3], object), np.ma.array([1.0, 2.0]), ["a", "b"]]
)
def test_poly1d_of_what_numpy_holds(given):
    ours, theirs = la.poly1d(given), np.poly1d(given)
    assert isinstance(ours, la.poly1d) and repr(ours) == repr(theirs)
    if not isinstance(given[0], str):
        assert ours(2) == theirs(2) and repr(ours * 2 + 1) == repr(theirs * 2 + 1)


def test_more_derivatives_than_there_are_powers():
    """It went on, with nothing, for as long as was asked."""
    for m in (3, 4, 2**62, 10**30):
        assert la.polyder([1, 2, 3], m).shape == (0,)


@pytest.mark.parametrize("lead", [1.0, 0.0, np.nan, -0.0])
def test_products_of_long_polynomials(lead):
    x, y = np.arange(1.0, 3000), np.arange(5.0)[::-1].copy()
    x[0] = lead
    for a, b in ((x, y), (y, x), (x, x), (x, 2.0), (x * 0, y), (x, [0, 0, 1]), (x[:, None], y)):
        check("polymul", a, b)
