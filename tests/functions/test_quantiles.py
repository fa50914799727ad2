"""Quantiles against NumPy: methods, weights, axes, dtypes, errors."""

import math

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import asynchronous, check, layouts, pending, rng, same

FLOATS = rng.standard_normal((3, 4, 2))
WEIGHTS = rng.random((3, 4, 2))
ARRAYS = [
    *layouts(FLOATS),
    FLOATS.astype("f4"),
    FLOATS.astype("e"),
    np.where(FLOATS > 1, np.nan, FLOATS),
    (FLOATS * 9).astype("i8"),
    FLOATS > 0,
    FLOATS * 1j,
    FLOATS[0, 0],
    np.array(2.0),
    np.zeros((0, 3)),
    np.zeros((3, 0)),
]
METHODS = """inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen
weibull linear median_unbiased normal_unbiased lower higher midpoint nearest none""".split()
QS = [0.3, 0, 1, np.float64(0.3), np.float32(0.3), [0.25, 1.0], [[0.1], [0.6]], [], [[[0.5]]],
      1.5, -1, np.nan, [0.5, np.nan], [0, 1], True, "half"]  # fmt: skip
NAMES = ["quantile", "percentile"]


def scaled(name, q):
    return q if "quantile" in name or isinstance(q, (str, bool)) else np.multiply(q, 100).tolist()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", [*NAMES, "nanquantile", "nanpercentile"])
def test_methods(name, method):
    for a in ARRAYS:
        if method == "none" and not a.size:
            continue  # NumPy's nanquantile does not look at it
        for q in (0.3, [0.25, 1.0]):
            check(name, a, scaled(name, q), method=method)
            if a.ndim or method != "none":
                check(name, a, scaled(name, q), 0, method=method)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("q", QS, ids=str)
@pytest.mark.parametrize("name", [*NAMES, "nanquantile"])
def test_arguments(name, q):
    q = scaled(name, q)
    deep = np.ndim(q)
    for a in (FLOATS, ARRAYS[2], FLOATS.astype("f4"), (FLOATS * 9).astype("i8"), np.zeros(0)):
        for axis in (None, 0, -1, (0, 2), (2, 0), [1], (), (0, 0), 3):
            if (deep == 3 and (axis in (3, (0, 0)) or not a.size)) or (not a.size and axis == [1]):
                continue  # an error for two reasons
            if deep == 2 and name == "nanquantile" and axis in (-1, (0, 2), (2, 0), ()):
                continue  # NumPy mixes up the axes
            check(name, a, q, axis)
            check(name, a, q, axis, keepdims=True)
        if a.size and not isinstance(q, str):
            check(name, a, np.array(q))  # an NDArray there: looked at when it runs


def test_points_of_two_axes():
    q = [[0.1, 0.2, 0.3], [0.6, 0.7, 0.8]]
    same(la.nanquantile(la.array(FLOATS), q, -1), np.quantile(FLOATS, q, -1), False)


@pytest.mark.parametrize("method", ["inverted_cdf", "linear"])
@pytest.mark.parametrize("name", [*NAMES, "nanquantile"])
def test_weights(name, method):
    for axis, w in [(None, WEIGHTS), (0, WEIGHTS), ((2, 0), WEIGHTS), (1, WEIGHTS[0, :, 0]),
                    ((2, 0), WEIGHTS[:, 0].T), (0, WEIGHTS[0]), (None, WEIGHTS[0]),
                    (0, -WEIGHTS), (0, WEIGHTS * 0), (9, WEIGHTS)]:  # fmt: skip
        for a in (FLOATS, FLOATS.astype("f4"), ARRAYS[2]):
            check(name, a, scaled(name, [0.2, 0.7]), axis, method=method, weights=w, strides=False)
            check(name, a, scaled(name, 0.2), axis, method=method, weights=w, keepdims=True,
                  strides=False)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_out(name):
    out = la.zeros((2, 4, 2))
    assert getattr(la, name)(la.array(FLOATS), [0.5, 1], 0, out) is out
    same(out, getattr(np, name)(FLOATS, [0.5, 1], 0))
    with pytest.raises(ValueError, match="broadcast"):
        getattr(la, name)(la.array(FLOATS), 0.5, 0, la.zeros((4, 3)))
    x = la.array(FLOATS)
    getattr(la, name)(x, 0.5, overwrite_input=True)
    same(x, FLOATS)


def test_an_array_of_points_may_change_afterwards():
    x, q = la.array(FLOATS), np.array([0.5])
    with pending(x):
        result = la.quantile(x, q)
        q[0] = 0
    same(result, np.quantile(FLOATS, [0.5]))


@asynchronous
def test_nothing_waits():
    x, q = la.array(FLOATS), la.array([0.5, 2.0])
    with pending(x, q), la.no_sync():
        result, wrong = la.quantile(x, 0.4, axis=1), la.quantile(x, q)
        with pytest.raises(ValueError, match="range"):
            la.quantile(x, 2)
        with pytest.raises(ValueError, match="not a valid method"):
            la.quantile(x, q, method="none")
        with pytest.raises(TypeError, match="real numbers"):
            la.quantile(x * 1j, 0.5)
    same(result, np.quantile(FLOATS, 0.4, axis=1))
    with pytest.raises(ValueError, match="range"):
        wrong.asnumpy()


def test_a_number_into_an_array_of_one():
    for name in ("percentile", "nanquantile"):
        for shape in ((1,), (1, 1)):
            out = la.zeros(shape)
            assert getattr(la, name)(la.arange(11.0), 0.5, out=out) is out
            assert out.ravel().tolist() == [getattr(np, name)(np.arange(11.0), 0.5)]


OUTS = [(), (1,), (2,), (4,), (3, 4), (2, 4), (7, 2, 4)]


@pytest.mark.parametrize("shape", OUTS, ids=str)
@pytest.mark.parametrize("axis", [None, 0])
@pytest.mark.parametrize("name", ["percentile", "nanquantile", "median", "nanmedian"])
@pytest.mark.filterwarnings("ignore")
def test_an_out_of_another_shape(name, axis, shape):
    """NumPy spreads most results over a larger one."""

    def filled(xp, q, method):
        x, out = np.arange(12.0).reshape(3, 4), xp.full(shape, -1.0)
        x[0, 0] = np.nan
        given = () if "median" in name else (q,)
        kwargs = {} if "median" in name else {"method": method}
        try:
            got = getattr(xp, name)(xp.asarray(x), *given, axis=axis, out=out, **kwargs)
        except (ValueError, TypeError) as error:
            return type(error)
        assert got is out
        return np.asarray(out)

    for q, method in ((0.5, "linear"), ([0.2, 0.7], "linear"), (0.5, "inverted_cdf")):
        got, want = filled(la, q, method), filled(np, q, method)
        np.testing.assert_array_equal(got, want)


def test_which_quantile_has_no_gradient():
    """It was 0 without a word."""
    x, q = la.array([3.0, 1.0, 2.0]), la.array(0.3)
    x.attach_grad()
    q.attach_grad()
    with la.autograd.record():
        for function in (la.quantile, la.nanpercentile):
            with pytest.raises(NotImplementedError, match="for q"):
                function(x, q)
        y = la.quantile(x, q.detach())
    y.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), [0.0, 0.4, 0.6])


# ---- many numbers, of which a few are found without sorting them ---------------------------------

MANY = {
    "normal": lambda n: rng.standard_normal(n),
    "few values": lambda n: rng.integers(0, 5, n) * 0.5,
    "one value": lambda n: np.full(n, 2.5),
    "in order": lambda n: np.arange(n) * 0.1,
    "backwards": lambda n: np.arange(n)[::-1] * 0.1,
    "in waves": lambda n: np.arange(n) % 64 * 1.0,
    "infinite": lambda n: np.where(rng.random(n) < 0.3, np.inf, -np.inf) * 1.0,
    "some infinite": lambda n: np.where(rng.random(n) < 0.1, np.inf, rng.random(n)),
    "huge": lambda n: rng.random(n) * 1e308 + 1e308,
    "not a number": lambda n: np.where(np.arange(n) == n // 2, np.nan, rng.random(n)),
    "zeros": lambda n: np.where(rng.random(n) < 0.5, -0.0, 0.0),
    "whole": lambda n: rng.integers(-99, 99, n),
    "singles": lambda n: rng.random(n, "f4"),
}


@pytest.mark.parametrize("kind", MANY)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_many(kind, direct):
    # 512 and 1024 (sorted below), 4096 (a sample is taken), 50,000 doubles (recorded beyond).
    for n in (1, 2, 3, 512, 513, 1024, 1025, 4095, 4096, 50_000, 50_001):
        x = MANY[kind](n)
        a = la.array(x)
        for keep in (False, True):
            same(la.median(a, keepdims=keep), np.median(x, keepdims=keep))
            for q in (0.0, 30, 100.0, [25, 75.0], [[5, 50], [95, 0]], np.linspace(0, 100, 9)):
                want = np.percentile(x, q, keepdims=keep)
                same(la.percentile(a, q, keepdims=keep), want)
            for q in (0.0, 0.999, 1, [0.5], np.array([0.1, 0.9]), np.array([0.5], "f4")):
                same(la.quantile(a, q, keepdims=keep), np.quantile(x, q, keepdims=keep))
        if n % 4 == 0:
            y, b = x.reshape(4, -1), a.reshape(4, -1)
            same(la.median(b), np.median(y))
            same(la.median(b, (0, 1), keepdims=True), np.median(y, (0, 1), keepdims=True))
            same(la.percentile(b, [10, 20], (1, 0)), np.percentile(y, [10, 20], (1, 0)))
            same(la.median(b.T[::-1]), np.median(y.T[::-1]))
            same(la.quantile(b, 0.3, 1), np.quantile(y, 0.3, 1))


@pytest.mark.parametrize("kind", MANY)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_lines(kind):
    # Lines of 1024 are sorted, of 1025 partitioned.
    for shape in ((5, 1), (7, 24), (3, 4, 5), (2, 1024), (2, 1025), (400, 30)):
        x = MANY[kind](math.prod(shape)).reshape(shape)
        a = la.array(x)
        for axis in range(-1, x.ndim - 1):
            for y, b in ((x, a), (x.T, a.T), (x[::-1, ::-1], a[::-1, ::-1])):
                for keep in (False, True):
                    got = la.median(b, axis, keepdims=keep)
                    same(got, np.median(y, axis, keepdims=keep))
                    for q in (0.0, 30, [25, 75.0], [[5, 50], [95, 0]]):
                        got = la.percentile(b, q, axis, keepdims=keep)
                        same(got, np.percentile(y, q, axis, keepdims=keep))
                    for q in (0.999, 1, np.array([0.1, 0.9]), np.array([0.5], "f4")):
                        got = la.quantile(b, q, axis, keepdims=keep)
                        same(got, np.quantile(y, q, axis, keepdims=keep))


@pytest.mark.parametrize("axis", [np.array(1), np.int8(1), la.array(1)], ids=str)
@pytest.mark.parametrize("side", [3, 300])
def test_an_axis_in_an_array(axis, side, direct):
    a = np.random.default_rng(side).normal(size=(side, side))
    for name, args in {
        "median": (), "nanmedian": (), "argmax": (), "argmin": (), "nanargmax": (),
        "percentile": (30,), "quantile": (0.3,), "add.accumulate": (),
    }.items():  # fmt: skip
        np_function, la_function = np, la
        for part in name.split("."):
            np_function, la_function = getattr(np_function, part), getattr(la_function, part)
        got = la_function(la.array(a) * 1, *args, axis=axis)
        np.testing.assert_array_equal(got.asnumpy(), np_function(a, *args, axis=1))


@pytest.mark.parametrize("name", ["median", "nanmedian", "quantile", "nanpercentile", "average"])
@pytest.mark.parametrize(
    "axes", [range(2), range(0), range(1, 2), np.array([1]), np.array([1, 0]), {0, 1}, True]
)
def test_axes_may_be_any_of_many(name, axes, direct):
    a = np.arange(12.0).reshape(2, 3, 2)
    more = (0.3,) if name in ("quantile", "nanpercentile") else ()
    want = getattr(np, name)(a, *more, axis=axes)
    same(getattr(la, name)(la.array(a), *more, axis=axes), want)
    if isinstance(axes, np.ndarray):
        same(getattr(la, name)(la.array(a), *more, axis=la.array(axes)), want)
    if name in ("average", "quantile"):
        by = {"weights": np.ones(a.shape)} | ({"method": "inverted_cdf"} if more else {})
        want = getattr(np, name)(a, *more, axis=iter([0, 2]), **by)
        same(getattr(la, name)(la.array(a), *more, axis=iter([0, 2]), **by), want)


def test_quantiles_at_fractions():
    from fractions import Fraction

    assert la.quantile([1, 2], Fraction(1, 2)) == np.quantile([1, 2], Fraction(1, 2))
