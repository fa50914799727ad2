"""Functions of functions: what they are given, what is lazy; select, piecewise and block."""

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import call, check, layouts, rng, same

T = rng.standard_normal((2, 3, 4))
V = np.arange(6.0)


# ---- along axes ---------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, -1, 5])
def test_apply_along_axis(axis):
    functions = [
        lambda v: v * 2,
        lambda v: v.sum(),
        lambda v: v[:2].reshape(2, 1) + v[:2],
        lambda v: 3,
        lambda v: [1.5, 2.5],
    ]
    for a in (*layouts(T), V, np.arange(12).reshape(3, 4), np.zeros((0, 2)), np.zeros((2, 0))):
        for function in functions:
            check("apply_along_axis", function, axis, a, strides=False)
    check("apply_along_axis", lambda v, k, by=1: v[:k] * by, axis, T, 2, by=3, strides=False)


def test_apply_along_axis_is_recorded():
    x = la.array(T) * 2
    with la.no_sync():
        got = la.apply_along_axis(lambda v: v - v.mean(), 1, x)
        over = la.apply_over_axes(la.sum, x, (0, -1))
    want = T * 2
    want = np.apply_along_axis(lambda v: v - v.mean(), 1, want)
    np.testing.assert_array_equal(got.asnumpy(), want)
    same(over, np.apply_over_axes(np.sum, T * 2, (0, -1)))


def test_apply_over_axes():
    for axes in (0, [0, 2], (-1,), [], np.int64(1), np.array(1)):
        want = np.apply_over_axes(np.sum, T, axes)
        same(la.apply_over_axes(la.sum, la.array(T), axes), want)
        same(la.apply_over_axes(np.sum, la.array(T), axes), want)
    with pytest.raises(ValueError, match="not returning an array of the correct shape"):
        la.apply_over_axes(lambda x, axis: x[0, 0], la.array(T), 0)


# ---- vectorize ----------------------------------------------------------------------------------


def clip(x, low, high=4):
    """Limits."""
    return min(max(x, low), high)


@pytest.mark.parametrize("otypes", [None, [float], "i", ["f4"]])
def test_vectorize(otypes):
    options = {"otypes": otypes}
    want, got = np.vectorize(clip, **options), la.vectorize(clip, **options)
    assert got.__doc__ == "Limits." and got.__name__ == "clip" and got.pyfunc is clip
    for args, kwargs in [
        ((V, 2), {}),
        ((V, 2), {"high": 3}),
        ((V, V[:, None], 1.5), {}),
        (([1, 2], np.array(1)), {}),
        ((1, 2), {}),
        ((np.zeros((0, 2)), 1), {}),
        ((V, V[:5]), {}),
        ((), {}),
    ]:
        lazily = [la.array(a) if isinstance(a, np.ndarray) else a for a in args]
        w, g = call(want, args, kwargs), call(got, lazily, kwargs)
        if isinstance(w, Exception):
            assert isinstance(g, type(w)), (args, w, g)
        else:
            same(g, w)


def test_vectorize_of_several_results_excluded_arguments_and_signatures():
    x = la.array(V)
    same(la.vectorize(divmod)(x, 4), np.vectorize(divmod)(V, 4))
    pair = la.vectorize(lambda v: (v, 2 * v), otypes="df")(x)
    assert type(pair) is tuple and [p.dtype.char for p in pair] == ["d", "f"]
    same(pair, (V, (2 * V).astype("f4")))
    for options in ({}, {"otypes": [float]}):
        poly = la.vectorize(lambda p, v: sum(p) * v, excluded=[0, "p"], **options)
        for p in ([1, 2], np.array([1.0, 2]), la.array([1.0, 2])):
            same(poly(p, x), 3 * V)
            same(poly(p=p, v=x), 3 * V)
    mean = la.vectorize(lambda v: v.mean(), signature="(n)->()")
    same(mean(la.array(T)), np.vectorize(lambda v: v.mean(), signature="(n)->()")(T))


def test_vectorize_as_a_decorator():
    @la.vectorize(otypes=[int], doc="Other.")
    def f(v):
        return v + 1

    @la.vectorize
    def g(v):
        """Its own."""
        return v + 1

    assert f.__doc__ == "Other." and g.__doc__ == "Its own."
    same(f(la.array(V)), (V + 1).astype(int))
    same(g(la.array(V)), V + 1)


@pytest.mark.parametrize(
    "options", [{"otypes": "!"}, {"otypes": 3}, {"signature": "x"}, {"pyfunc": 3}]
)
def test_vectorize_errors(options):
    options = {"pyfunc": clip, **options}
    with pytest.raises(Exception) as want:
        np.vectorize(**options)
    with pytest.raises(type(want.value)):
        la.vectorize(**options)


@pytest.mark.filterwarnings("ignore::lazyarray.HostArrayWarning")
@pytest.mark.host  # NumPy's strings are in no GPU's memory
def test_vectorize_of_objects():
    for otypes in (None, [object], [str]):
        got = la.vectorize(str, otypes=otypes)(la.ones(2))
        want = np.vectorize(str, otypes=otypes)(np.ones(2))
        assert got.dtype == want.dtype and got.tolist() == want.tolist()


@pytest.mark.parametrize("otypes", [None, "l"])
def test_vectorize_calls_the_function_at_the_call(otypes):
    """It may read what the program changes later."""
    x, host, given, scales = la.arange(3) * 2, np.arange(3), [], []
    for scale in (1, 10):
        scales.append(scale)
        given.append(la.vectorize(lambda u, v: u * scales[-1] + v, otypes=otypes)(x, host))
    with la.no_sync(), pytest.raises(RuntimeError, match="vectorize"):
        la.vectorize(lambda u: u, otypes=otypes)(x * 2)
    host[:] = 100
    assert [y.tolist() for y in given] == [[0, 3, 6], [0, 21, 42]]


def test_a_function_of_elements_may_use_lazyarray():
    for otypes in (None, [float]):
        f = la.vectorize(lambda u: float(la.sqrt(u)) + 1, otypes=otypes)
        same(f(la.array([4.0, 9.0]) * 1), np.array([3.0, 4.0]))


def test_errors_of_the_function_show_at_the_call():
    with pytest.raises(ZeroDivisionError):
        la.vectorize(lambda u: 1 // u, otypes=[int])(la.arange(3))


# ---- by conditions ------------------------------------------------------------------------------

PIECES = [
    (V, lambda v: [v < 2, v >= 4], [-1, 1]),
    (V, lambda v: [v < 2], [lambda v: -v, lambda v: v - v.max()]),
    (V, lambda v: v < 2, [lambda v: v * 10]),
    (V, lambda v: v < 2, [5, lambda v: v * 10]),
    (V, lambda v: [True] * 6, [5]),
    (V, lambda v: [[True, False] * 3, [False] * 6], [5, 6]),
    (V, lambda v: [v < 9, v > 9], [1]),
    (V, lambda v: [v < 9], [1, 2, 3]),
    (np.arange(6), lambda v: [v > 2], [lambda v: v / 2, 7.9]),
    (np.array(3.0), lambda v: [v < 4, v > 4], [lambda v: v * 2, 0]),
    (np.array(3.0), lambda v: v > 4, [lambda v: v * 2, -1]),
    (np.array(3.0), lambda v: True, [lambda v: v * 2]),
    (T, lambda v: [v > 0, v < -0.5], [lambda v: v**2, 3, lambda v: v.size]),
    (np.zeros((0,)), lambda v: [v > 0], [lambda v: 1 / 0, 2]),
]


@pytest.mark.parametrize("number", range(len(PIECES)))
def test_piecewise(number):
    a, conditions, functions = PIECES[number]
    x = la.array(a)
    want = call(np.piecewise, (a, conditions(a), functions), {})
    got = call(la.piecewise, (x, conditions(x), functions), {})
    if isinstance(want, Exception):
        assert type(got) is type(want) and str(got) == str(want)
    else:
        same(got, want)


def test_piecewise_of_numbers_does_not_wait():
    x = la.array(V) * 1
    with la.no_sync():
        got = la.piecewise(x, [x < 2, x > 4], [-1, 1, 7])
        with pytest.raises(RuntimeError):
            la.piecewise(x, [x < 2], [lambda v: v])
    assert got.tolist() == [-1, -1, 7, 7, 7, 1]
    with_args = la.piecewise(x, [x < 2], [lambda v, k, by: v * k + by], 3, by=1)
    assert with_args.tolist() == [1, 4, 0, 0, 0, 0]


# ---- of indices --------------------------------------------------------------------------------


def test_fromfunction():
    for function, shape, dtype in [
        (lambda i, j: i * 10 + j, (2, 3), float),
        (lambda i, j: i == j, (3, 3), int),
        (lambda i: i, (0,), "f4"),
    ]:
        check("fromfunction", function, shape, dtype=dtype, strides=False)
    check("fromfunction", lambda i, by: i * by, (3,), by=2)


def test_otypes_set_later():
    for xp in (np, la):
        f = xp.vectorize(lambda x: x)
        f.otypes = "i"
        assert f(xp.zeros((0, 5), int)).shape == (0, 5)
        assert f(xp.arange(3)).dtype == np.dtype("i")


def test_apply_along_axis_hands_on_the_class():
    found = []
    for xp in (np, la):

        class Mine(xp.ndarray):
            tag = "none"

            def __array_finalize__(self, obj):
                self.tag = getattr(obj, "tag", "none")

        x = xp.arange(6.0).reshape(2, 3).view(Mine)
        x.tag = "x"
        tags = []
        for axis in (0, 1):
            for f in (lambda v: v * 2, lambda v: v.sum(), lambda v: [1, 2]):

                def told(v, f=f, tags=tags):
                    tags.append(v.tag)
                    return f(v)

                for y in (
                    xp.apply_along_axis(told, axis, x),
                    xp.apply_along_axis(told, axis, x, f=f),
                ):
                    tags.append((type(y) is Mine, y.tag, y.tolist()))
        found.append(tags)
    assert found[0] == found[1]
