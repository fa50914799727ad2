"""Reductions equal NumPy's bit for bit, whichever way they are run."""

import itertools

import numpy as np
import pytest

import lazyarray as la

from .compare import on_gpu

rng = np.random.default_rng(0)
SHAPES = [
    (),
    (1,),
    (7,),
    (4, 5),
    (3, 4, 5),
    (2, 1, 4, 3),
    (0, 3),
    (3, 0),
    (300, 40),
    (40, 3000),
    (9001,),
]
LAYOUTS = {
    "C": lambda a: a,
    "F": lambda a: a.T,
    "strided": lambda a: a[..., ::2] if a.ndim else a,
    "reversed": lambda a: a[::-1] if a.ndim else a,
}


def axes_of(ndim):
    single = list(range(-1, ndim)) if ndim else []
    return [None, *single, *itertools.combinations(range(ndim), 2)]


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "any", "all", "mean", "var", "std"])
@pytest.mark.parametrize("dtype", "?bHiqefdD")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_reduction(name, dtype):
    if (name, dtype) == ("prod", "e") and on_gpu():
        pytest.skip("which products of halves overflow on the way depends on the order")
    for shape in SHAPES:
        a = (rng.random(shape) * 4 - 1).astype(dtype)
        for layout, f in LAYOUTS.items():
            v = f(a)
            x = f(la.array(a))
            for axis in axes_of(v.ndim):
                for keepdims in (False, True):
                    what = (name, dtype, shape, layout, axis, keepdims)
                    with np.errstate(all="ignore"):
                        try:
                            want = np.asarray(getattr(np, name)(v, axis=axis, keepdims=keepdims))
                        except ValueError:
                            with pytest.raises(ValueError):
                                getattr(la, name)(x, axis=axis, keepdims=keepdims)
                            continue
                        got = getattr(la, name)(x, axis=axis, keepdims=keepdims)
                    assert got.dtype == want.dtype, what
                    assert got.shape == want.shape, what
                    np.testing.assert_array_equal(got.asnumpy(), want, err_msg=str(what))


def test_arguments():
    a = rng.random((4, 5))
    x = la.array(a)
    np.testing.assert_array_equal(x.sum(dtype="f4").asnumpy(), a.sum(dtype="f4"))
    np.testing.assert_array_equal(la.sum(x, initial=3.0).asnumpy(), a.sum(initial=3.0))
    np.testing.assert_array_equal(
        la.sum(x, axis=0, where=x > 0.5).asnumpy(), np.sum(a, axis=0, where=a > 0.5)
    )
    out = la.zeros(5)
    assert la.sum(x, axis=0, out=out) is out
    np.testing.assert_array_equal(out.asnumpy(), a.sum(axis=0))
    with pytest.raises(ValueError, match="wrong shape"):
        la.sum(x, axis=0, out=la.zeros(4))
    np.testing.assert_array_equal(x.var(axis=0, ddof=1).asnumpy(), a.var(axis=0, ddof=1))


def outcome(call):
    """What a call gives, or the error that it is."""
    try:
        return np.asarray(call()).tolist()
    except (TypeError, ValueError) as e:
        return type(e)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("given", [{"where": None}, {"initial": None}], ids=lambda g: next(iter(g)))
@pytest.mark.parametrize(
    "name",
    "sum prod max min any all mean var std".split()
    + "nansum nanprod nanmax nanmin nanmean nanvar nanstd".split(),
)
def test_none_is_a_value_like_others(name, given):
    """A mask of None is not true; initial=None takes away what an empty sum starts with."""
    # (numpy.mean counts by int(None), but not where there is nothing to count.)
    counts = name in ("mean", "var", "std") and "where" in given
    for shape in [(3,), (4, 5), (40_000,), *([] if counts else [(0,)])]:
        a = np.full(shape, -0.0) if given == {"initial": None} else rng.random(shape)
        x = la.array(a)
        want = outcome(lambda a=a: getattr(np, name)(a, **given))
        assert repr(outcome(lambda x=x: getattr(la, name)(x, **given))) == repr(want), shape
        if not name.startswith("nan"):
            assert repr(outcome(lambda x=x: getattr(x, name)(**given))) == repr(want), shape
        want = outcome(
            lambda a=a: getattr(np, name)(a, **{"where": a > 0.5, "initial": None} | given)
        )
        got = outcome(
            lambda x=x: getattr(la, name)(x, **{"where": x > 0.5, "initial": None} | given)
        )
        assert repr(got) == repr(want), shape


def test_signs_of_zero_and_nan():
    for values in ([-0.0], [-0.0, -0.0], [0.0, -0.0], [np.nan, 1.0], [1.0, np.nan, 2.0]):
        a = np.array(values)
        for name in ("sum", "max", "min", "prod"):
            want, got = getattr(a, name)(), getattr(la.array(a), name)().item()
            assert np.isnan(want) == np.isnan(got)
            assert np.signbit(want) == np.signbit(got) or np.isnan(want), (values, name)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", "?bHlQefdgFDG")
def test_middle_axes(dtype):
    shapes = [((3, 5, 7), 1), ((8, 2, 2, 3, 16), (1, 2, 3)), ((4, 1000, 3), 1), ((2, 9, 1), 1)]
    for shape, axis in shapes:
        a = (rng.standard_normal(shape) * 3).astype(dtype)
        names = ("sum", "prod", "max", "min", "any", "all", "mean")
        if dtype == "e" and on_gpu():  # which products overflow on the way depends on the order
            names = ("sum", "max", "min", "any", "all", "mean")
        for name in names:
            with np.errstate(all="ignore"):
                want = getattr(np, name)(a, axis=axis)
                got = getattr(la, name)(la.array(a), axis=axis)
            assert (got.dtype, got.strides) == (want.dtype, want.strides)
            np.testing.assert_array_equal(got.asnumpy(), want, err_msg=f"{name} {shape}")


@pytest.mark.host  # a GPU raises no flags
@pytest.mark.parametrize("n", [4, 40000])
@pytest.mark.parametrize("dtype", ["e", "f"])
@pytest.mark.parametrize(
    "function",
    [
        lambda xp, x: x.sum(),
        lambda xp, x: x.prod(),
        lambda xp, x: x.reshape(2, -1).sum(axis=0),
        lambda xp, x: x.reshape(2, -1).sum(axis=1),
        lambda xp, x: xp.cumsum(x),
        lambda xp, x: xp.cumprod(x),
        lambda xp, x: xp.matmul(x[None], x[:, None]),
        lambda xp, x: xp.dot(x, x),
        lambda xp, x: xp.vecdot(x, x),
    ],
)
def test_overflow_is_told(function, dtype, n):
    """Also of halves, whose overflow is raised in another unit's flags."""
    a = np.full(n, np.finfo(dtype).max * 0.9, dtype)
    with np.errstate(over="raise"):
        with pytest.raises(FloatingPointError, match="overflow"):
            function(np, a)
        with pytest.raises(FloatingPointError, match="overflow"):
            function(la, la.array(a)).asnumpy()


@pytest.mark.parametrize("initial", [1j, "x", np.nan, [1, 2], 2**70, np.array([3.0]), object()])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "nansum", "nanmax"])
def test_what_is_no_number_to_start_from_is_refused_at_the_call(name, initial):
    for dtype in "dlb?":
        x, errors = np.ones(5, dtype), []
        for m, values in ((np, x), (la, la.array(x))):
            try:
                with la.autograd.record():  # where nothing is waited for
                    made = getattr(m, name)(values, initial=initial)
                errors.append(repr(np.asarray(made)))
            except Exception as error:  # any of them is compared
                errors.append((type(error), str(error)))
        assert errors[0] == errors[1]


@pytest.mark.parametrize("name", ["sum", "prod", "max", "mean", "std", "var"])
def test_masks_of_other_shapes_are_refused_at_the_call(name):
    first = {"initial": 1} if name == "max" else {}
    for shape in ((3, 4), (5,), (12, 1, 1)):
        with pytest.raises(ValueError), la.autograd.record():
            getattr(la, name)(la.ones(12), where=la.ones(shape, dtype=bool), **first)
    with pytest.raises(TypeError), la.autograd.record():
        getattr(la, name)(la.ones(12), where=la.ones(12, dtype=int), **first)


def test_a_number_to_start_from_is_read_at_the_call():
    first = np.array(5.0)
    total = la.sum(la.ones(100_000), initial=first)
    first[...] = 7
    assert total == 100_005
