"""Averages and ranges against NumPy."""

import numpy as np
import pytest

import lazyarray as la
from lazyarray.lazy._lazy import gil_ops

from ..ops.compare import check, same
from .samples import AXES, BASES, FLOATS, INTS

pytestmark = pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")


@pytest.mark.parametrize("axis", [*AXES, (0, 1), (-1, 0)])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_ptp_median(axis):
    for a in BASES:
        check("ptp", a, axis)
        check("ptp", a, axis, keepdims=True)
        check("median", a, axis)
        check("median", a, axis, keepdims=True)


@pytest.mark.parametrize(
    ("axis", "weights"),
    [(None, None), (0, None), ((0, 1), None), (None, INTS + 9), (1, np.arange(5.0)),
     (-1, np.arange(6)), ((0, 1), FLOATS[..., 0] + 5), (None, np.arange(5)), (0, np.arange(5)),
     (0, np.zeros(4)), (9, None)],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_average(axis, weights):
    for a in (FLOATS, INTS, FLOATS.astype("f4"), FLOATS[0], FLOATS.T):
        check("average", a, axis, weights)
        check("average", a, axis, weights, returned=True)
        check("average", a, axis, weights, keepdims=True)


@pytest.mark.parametrize("name", ["mean", "std", "var"])
@pytest.mark.parametrize(
    "where", [[1, 0, 1, 0, 2.0], True, np.bool_(True), np.arange(5), np.ones(5)]
)
def test_what_is_no_mask_of_bools_but_a_list_of_numbers(name, where):
    for a in (FLOATS, INTS):
        check(name, a, where=where)
        check(name, a, axis=0, where=where)


@pytest.mark.parametrize("name", ["std", "var"])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1)])
def test_a_known_mean(name, axis):
    for a in (FLOATS, INTS, FLOATS.astype("f4"), FLOATS + 1j):
        for mean in (a.mean(axis, keepdims=True), np.float64(0.5)):
            check(name, a, axis, mean=mean)
            check(name, a, axis, mean=mean, keepdims=True, ddof=1)
            check(name, a, axis, mean=mean, where=a.real > 0)
            check(name, a, axis, mean=mean, where=[True, 0, 1, 0, 2.0])
    check(name, FLOATS, axis, ddof=1, correction=1)  # refused
    check(name, FLOATS, axis, correction=1)


@pytest.mark.parametrize("dtype", "fdDl?")
@pytest.mark.parametrize("axis", [None, 0, 1, (0, 2), (2, 0, 1)])
def test_weighted_averages_of_many(dtype, axis):
    """Weights of the operand's shape, and of its axes in the order given; all as they lie."""
    x = (np.random.default_rng(0).standard_normal((30, 40, 50)) * 5).astype(dtype)
    axes = range(3) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    narrow = tuple(x.shape[i] for i in axes)
    for shape in (x.shape,) if axis is None else (x.shape, narrow):
        w = np.random.default_rng(1).random(shape) + 0.1
        for keepdims in (False, True):
            want = np.average(x, axis, w, True, keepdims=keepdims)
            for a in (la.array(x), la.asfortranarray(la.array(x))):
                theirs = np.average(np.asarray(a), axis, w, True, keepdims=keepdims)
                got = la.average(a, axis, la.array(w), True, keepdims=keepdims)
                for mine, his, sure in zip(got, theirs, want, strict=True):
                    np.testing.assert_array_equal(mine, his, strict=True)
                    np.testing.assert_allclose(mine, sure)
    with pytest.raises(ZeroDivisionError, match="Weights sum to zero"):
        la.average(la.array(x), axis, la.zeros(x.shape)).wait_to_read()


def test_average_without_weight():
    """Sums of zero raise at the wait, also where there is nothing to divide."""
    cases = [
        ((3, 4), 0, (1.0, -1.0, 0.0)),
        ((3, 0), 0, (1.0, -1.0, 0.0)),
        ((0,), None, ()),
        ((50_000,), None, (0.0,) * 50_000),
    ]
    for shape, axis, weights in cases:
        x, w = np.ones(shape), np.array(weights)
        with pytest.raises(ZeroDivisionError, match="Weights sum to zero"):
            np.average(x, axis, w)
        with pytest.raises(ZeroDivisionError, match="Weights sum to zero"):
            la.average(la.array(x), axis, la.array(w)).wait_to_read()
    x, w = np.array([[1e300, 1.0], [0.0, 2.0]]), np.array([1e8, -1e8 * (1 - 1e-10)])
    with np.errstate(all="raise"):
        for xp, make in ((np, np.asarray), (la, la.array)):
            with pytest.raises(FloatingPointError, match="overflow encountered in divide"):
                np.asarray(xp.average(make(x), axis=0, weights=make(w)))


@pytest.mark.parametrize(
    "name", "sum prod max min nanmax nansum any all mean std var".split(), ids=str
)
@pytest.mark.parametrize("n", [3, 40, 3000])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_of_some_elements(name, n, direct):
    random = np.random.default_rng(n)
    for dtype in ("f8", "f4", "i2", "?", "c16"):
        a = random.integers(0, 9, (4, n)).astype(dtype)
        mask = random.integers(0, 2, (4, n)) > 0
        for where in (mask, mask[:, :1], mask.tolist()):
            for axis in (None, 0, 1, (0, 1)):
                for more in ({}, {"initial": 2}, {"keepdims": True}):
                    if "initial" in more and name in ("any", "all", "mean", "std", "var"):
                        continue
                    if "max" in name or name == "min":
                        more = {**more, "initial": 3}
                    check(name, a, axis, where=where, **more)
    check(name, a, where=np.arange(5.0))  # refused
    check(name, a, 2, where=True)


@pytest.mark.parametrize("name", ["std", "var", "mean"])
def test_the_output_of_an_integer_dtype_may_hold_floats(name):
    values = np.arange(30).reshape(5, 6) ** 2
    want = getattr(np, name)(values, axis=0, dtype=int, out=np.zeros(6))
    got = getattr(la, name)(la.array(values), axis=0, dtype=int, out=la.zeros(6))
    np.testing.assert_array_equal(got.asnumpy(), want)
    for xp in (np, la):
        if name == "std":
            with pytest.raises(TypeError):
                xp.std(xp.array(values), axis=0, dtype=int)


@pytest.mark.parametrize("name", ["mean", "var", "std"])
@pytest.mark.parametrize("dtype", ["?", "i1", "u4", "i8"])
def test_integers_in_their_own_dtype_by_name(name, dtype):
    """float64 is what they are added in anyhow: it goes the same way."""
    x = (np.arange(12_000) * 7 % 100).astype(dtype).reshape(120, 100)
    for a in (la.array(x), la.array(x) | la.zeros((), dtype)):
        for axis in (None, 0, 1):
            calls = []
            for given in (None, "f8", float, np.float64):
                before = gil_ops()
                same(getattr(la, name)(a, axis, given), getattr(np, name)(x, axis, given))
                calls.append(gil_ops() - before)
            assert len(set(calls)) == 1
