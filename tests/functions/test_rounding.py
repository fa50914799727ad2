"""Rounding and limits against NumPy."""

import warnings

import numpy as np
import pytest

import lazyarray as la

from ..lazy.fusing import figures
from ..ops.compare import call, check, same
from .samples import BASES, FLOATS, INTS

pytestmark = pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")


@pytest.mark.parametrize(
    "limits",
    [(-1, 1), (0, None), (None, 1.5), (None, None), (-1.5, 2), (INTS, None), (FLOATS, 3),
     (np.float32(-1), 1), (-1, INTS[0]), (-1000, 1000), (300, 400), (1, -1), (0, np.nan),
     (1 + 1j, None), (0, INTS[:, :2])],
)  # fmt: skip
def test_clip(limits):
    for a in BASES:
        check("clip", a, *limits)
        check("clip", a, min=limits[0], max=limits[1])
    x = la.array(INTS)
    x.clip(0, 2, out=x)
    same(x, INTS.clip(0, 2))


@pytest.mark.parametrize("decimals", [0, 1, -1, 3])
def test_round(decimals):
    for a in BASES:
        for b in (a, a * 1.23456 if a.dtype.kind in "fc" else a):
            check("round", b, decimals)
            check("around", b, decimals)
    same(la.array(FLOATS).round(decimals), FLOATS.round(decimals))


def test_clip_casts_as_it_is_told():
    for casting in ("no", "equiv", "safe", "unsafe"):
        for low, high in ((-1, 2), (-1.5, 2), (np.float32(-1), None)):
            for a in (INTS, FLOATS, FLOATS.astype("f4")):
                check("clip", a, low, high, casting=casting)
                out = INTS.copy()
                check("clip", a, low, high, out=out, casting=casting)
    same(la.array(INTS).clip(0.5, 2, casting="unsafe"), INTS.clip(0.5, 2, casting="unsafe"))


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        ((), {"a_min": 0, "min": 1}),
        ((), {"a_max": 0, "max": 1}),
        ((), {"a_min": 0}),
        ((0, 1), {"a_min": 0}),
        ((), {"a_min": 0, "a_max": 1, "min": 0}),
        ((0,), {"a_max": 1}),
        ((), {"a_min": 0, "a_max": 1}),
        ((), {}),
    ],
    ids=str,
)
def test_clips_limits_by_both_names(args, kwargs):
    def clipped(xp):
        try:
            return xp.clip(xp.array([-1.0, 0.5, 2.0]), *args, **kwargs).tolist()
        except (TypeError, ValueError) as error:
            return type(error)

    assert clipped(la) == clipped(np)


def test_clip_of_dtypes_that_are_equal_but_two():
    for chars in ("ql", "QL"):  # int64 has two characters
        for char in chars:
            a = np.array([3, 9], char)
            assert la.clip(la.array(a), 4, 5).dtype.char == np.clip(a, 4, 5).dtype.char == char


def test_limits_by_any_name():
    for m in (np, la):
        x = m.arange(3.0)
        for found in (
            m.clip(x, None, a_max=0.5),
            m.clip(x, a_min=None, a_max=0.5),
            m.clip(x, max=0.5),
            m.clip(x, None, 0.5),
            m.clip(x, max=0.5, min=None),
        ):
            assert found.tolist() == [0.0, 0.5, 0.5]
        assert m.clip(x).tolist() == [0.0, 1.0, 2.0]
        for wrong, more in (((1,), {}), ((1,), {"max": 2}), ((), {"a_min": 1}), ((), {"a_max": 1})):
            with pytest.raises(TypeError, match="missing"):
                m.clip(x, *wrong, **more)
        with pytest.raises(ValueError, match="forbidden"):
            m.clip(x, None, None, min=1)


DECIMALS = [1, 2, -1, -3, 8, 9, 10, 11, 20, 300, 320, -310, 400]


def rounded(function, x, decimals):
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        y = function(x, decimals)
        values = np.asarray(y)
    steps = [step for step, n in zip(y.strides, y.shape, strict=True) if n > 1]
    return values, steps, {str(w.message).split("\n")[0] for w in met}


@pytest.mark.host  # a GPU warns of nothing
@pytest.mark.parametrize("dtype", "efdg")
@pytest.mark.parametrize("shape", [(7,), (5, 9), (3, 1, 4), (70_000,)])
def test_decimals(dtype, shape):
    rng = np.random.default_rng(len(shape))
    with np.errstate(over="ignore"):
        x = (rng.standard_normal(shape) * 10.0 ** rng.integers(-6, 7, shape)).astype(dtype)
    x.flat[:4] = [np.nan, np.inf, -0.0, -np.inf][: x.size]
    a = la.array(x)
    for view in (lambda v: v, lambda v: v.T, lambda v: v[::2], lambda v: v[::-1]):
        for decimals in DECIMALS:
            want, *told = rounded(np.round, view(x), decimals)
            got, *found = rounded(la.round, view(a), decimals)
            np.testing.assert_array_equal(got, want)
            np.testing.assert_array_equal(np.signbit(got), np.signbit(want))
            assert (got.dtype, found) == (want.dtype, told)


@pytest.mark.host  # in a pass
def test_in_a_pass_and_its_gradient():
    x = la.array(np.linspace(-3, 3, 100_001))
    with figures(age_ns=1e15):  # no idle worker takes the first of them
        y = (la.round(x, 2) * 2).sum()
        y.wait_to_read()
    assert "fused pass" in str(la.explain())
    assert y.item() == (np.round(x.asnumpy(), 2) * 2).sum()
    x.attach_grad()
    with la.autograd.record():
        la.round(x, 1).sum().backward()
    np.testing.assert_array_equal(x.grad, np.zeros(x.size))


@pytest.mark.parametrize("dtype", "dfil")
def test_clip_in_place(dtype):
    whole = np.linspace(-9, 9, 36).reshape(6, 6).astype(dtype)
    for part in (lambda m: m, lambda m: m.T, lambda m: m[::2], lambda m: m[1]):
        for limits in [(-5, 5), (0.0, 1), (None, 1), (3, 1)]:
            host, array = whole.copy(), la.array(whole)
            x, y = part(host), part(array)
            want, got = (
                call(np.clip, (x, *limits), {"out": x}),
                call(la.clip, (y, *limits), {"out": y}),
            )
            assert got is y or (isinstance(got, TypeError) and isinstance(want, TypeError))
            x.clip(-1, 1, out=x)
            y.clip(-1, 1, out=y)
            same(array, host)
    fixed = la.ones(3)
    fixed.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        la.clip(fixed, 0, 0.5, out=fixed)


def test_clip_writes_its_output_itself():
    x, out = la.arange(300_000.0), la.empty(300_000)
    la.waitall()
    with figures(age_ns=1e15):
        la.clip(x, 5, 900, out=out).wait_to_read()
        assert "segment: 1 instruction " in str(la.explain())
    same(out, np.clip(np.arange(300_000.0), 5, 900))


def test_clip_into_what_it_reads():
    base = np.random.default_rng(0).normal(size=(60, 70))
    parts = [np.s_[1:], np.s_[:-1], np.s_[::-1], np.s_[:, 3:60], np.s_[:, 10:67]]
    for one in parts:
        for other in parts:
            if base[one].shape != base[other].shape:
                continue
            host, array = base.copy(), la.array(base)
            np.clip(host[one], -1, host[other], out=host[other])
            la.clip(array[one], -1, array[other], out=array[other])
            same(array, host)
            np.clip(host[one], host[other], 0.5, out=host[one])
            la.clip(array[one], array[other], 0.5, out=array[one])
            same(array, host)


def test_clip_takes_its_output_in_a_tuple(direct):
    for limits in ((1, 2), (1, None), (None, 2)):
        out = la.zeros(4)
        assert la.clip(la.arange(4.0), *limits, out=(out,)) is out
        same(out, np.clip(np.arange(4.0), *limits))
    same(la.clip(la.arange(4.0), 1, 2, out=(None,)), np.clip(np.arange(4.0), 1, 2))
    with pytest.raises(ValueError, match="exactly one entry per ufunc output"):
        la.clip(la.arange(4.0), 1, 2, out=())
