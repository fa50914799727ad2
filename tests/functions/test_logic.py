"""Comparisons of whole arrays that stay lazy, tests for kinds of numbers, dtypes, layouts."""

import warnings

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import call, check, lay, layouts, rng, same

INF, NAN = np.inf, np.nan
PAIRS = [
    (np.array([1.0, 2, 3]), np.array([1.0, 2 + 1e-9, 3.1])),
    (np.array([1e10, 1e-8]), np.array([1.00001e10, 1e-9])),
    (np.array([INF, -INF, NAN, 0.0]), np.array([INF, INF, NAN, -0.0])),
    (np.array([1, 2], "i4"), np.array([[1], [2]], "u1")),
    (np.array([np.iinfo("i8").min]), np.array([np.iinfo("i8").min])),
    (np.array([1 + 1j, NAN]), np.array([1 + 1j, complex(0, NAN)])),
    (np.array([True, False]), np.array([1, 0])),
    (np.float32([1.0, 2]), 2),
    (3, np.float16([3.001, 1])),
    (np.zeros((0, 3)), np.zeros(3)),
    (np.zeros(2), np.zeros(3)),
    (np.zeros(2), np.zeros((2, 1))),
    (1, 1.0),
    (True, 1),
]
APART = 10  # the shapes of that pair don't broadcast


@pytest.mark.parametrize("nan", [False, True])
@pytest.mark.parametrize("pair", range(len(PAIRS)))
def test_close_and_equal(pair, nan):
    a, b = PAIRS[pair]
    for x, y in ((a, b), (b, a)):
        check("isclose", x, y, equal_nan=nan)
        check("isclose", x, y, 0.1, 0, nan)
        for name, *args in (("allclose", 1e-5, 1e-8, nan), ("array_equal", nan), ("array_equiv",)):
            if name == "allclose" and pair == APART:
                with pytest.raises(ValueError, match="broadcast"):
                    la.allclose(la.array(x), la.array(y))
                continue
            want = getattr(np, name)(x, y, *args)
            assert getattr(la, name)(*map(la.array, (x, y)), *args) is want


def test_tolerances_may_be_arrays():
    a, b = rng.random((3, 4)), rng.random((3, 4))
    check("isclose", a, b, rng.random(4), np.float64(0.1))
    check("isclose", a.astype("f4"), b.astype("f4"), 1e-3, np.array(0.5))


def test_tolerances_that_are_not_finite():
    x = la.ones(2)
    with pytest.warns(RuntimeWarning, match="One of rtol or atol is not valid, atol: inf, rtol: 0"):
        la.isclose(x, x, 0, INF)
    with la.errstate(invalid="raise"), pytest.raises(FloatingPointError):
        la.isclose(x, x, NAN)
    with la.errstate(invalid="ignore"):
        assert la.isclose(x, x, INF).asnumpy().all()


def test_what_is_no_array_equals_nothing():
    for a in ([[1], [1, 2]], "abc", [object()]):
        assert not la.array_equal(la.ones(1), a)
        assert not la.array_equiv(a, la.ones(1))


def test_comparisons_do_not_wait():
    x = la.arange(6.0)
    with la.no_sync():
        close = la.isclose(x, x + 1e-12)
    assert close.all()


@pytest.mark.parametrize("size", [3, 300, 100_000])
def test_pythons_bools_are_of_what_is_pending(size):
    x = la.arange(float(size))
    y = x * 3 - 2 * x
    assert la.allclose(x, y, la.array(0.1)) is True
    assert la.array_equal(x, y + 0, equal_nan=True) is True
    assert la.array_equal(x, y[::-1], equal_nan=True) is False
    assert la.array_equiv(x, y[:1]) is False
    assert la.array_equiv(y, x[None]) is True


def test_pythons_bools_obey_no_sync():
    x = la.arange(100_000.0)
    for function in (la.allclose, la.array_equal, la.array_equiv):
        with la.no_sync(), pytest.raises(RuntimeError, match="no_sync"):
            function(x, x * 2)


def test_an_array_with_nans_equals_itself():
    x = la.array([NAN, 1])
    assert la.array_equal(x, x, equal_nan=True) and not la.array_equal(x, x)


NUMBERS = [
    np.array([INF, -INF, NAN, -0.0, 2.5, -2.5]),
    np.float32([[INF, 1, -INF], [NAN, -1, 0]]),
    np.array([1 + 0j, 2j, NAN, complex(0, NAN), -1 - 0j]),
    np.array([-3, 0, 4], "i2"),
    np.array([True, False]),
    np.array(-1.5),
    np.zeros((0, 2)),
    [1, -2j],
    2,
]


@pytest.mark.parametrize(
    "name", ["isposinf", "isneginf", "isreal", "iscomplex", "real_if_close", "angle", "fix"]
)
@pytest.mark.parametrize("number", range(len(NUMBERS)))
def test_kinds_of_numbers(name, number):
    a = NUMBERS[number]
    for b in layouts(a) if isinstance(a, np.ndarray) else [a]:
        check(name, b)
    if name in ("isposinf", "isneginf", "fix") and getattr(a, "size", 0) > 1:
        out = np.empty(a.shape, bool if name != "fix" else a.dtype)
        want = call(getattr(np, name), (a, out), {})
        got = call(getattr(la, name), (la.array(a), la.array(out)), {})
        if isinstance(want, Exception):
            assert str(got) == str(want)
        else:
            same(got, want)


def test_layouts():
    base = np.arange(6.0).reshape(2, 3)
    for a in layouts(base):
        x = lay(a)
        assert la.isfortran(x) == np.isfortran(a)
        for flags in (None, "F", ["C"], ["A"], "O", "W", ["C_CONTIGUOUS", "E"], ["fortran", "O"]):
            want, got = np.require(a, None, flags), la.require(x, None, flags)
            np.testing.assert_array_equal(got.asnumpy(), want)
            if (flags and "F" in flags) or (flags and "C" in flags):
                assert la.isfortran(got) == np.isfortran(want), flags
            if flags in ("O", ["fortran", "O"]):
                assert got.var != x.var
    assert la.require(x, "f4").dtype == np.float32
    with pytest.raises(ValueError, match="Cannot specify both"):
        la.require(x, None, "CF")
    with pytest.raises(KeyError):
        la.require(x, None, "Q")
    wide = la.broadcast_to(la.ones(1), (3,))
    assert la.require(wide, requirements="W").var != wide.var


def test_invalid_comparisons_give_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        la.isclose(la.array([INF, NAN]), la.array([INF, 1.0])).asnumpy()


def test_equal_to_what_is_no_array():
    class Bad:
        def __array__(self, dtype=None, copy=None):
            raise RuntimeError("no")

    assert not la.array_equal(Bad(), la.ones(3)) and not la.array_equiv(la.ones(3), Bad())
