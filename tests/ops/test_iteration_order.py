"""Operands reach loops whose bits depend on it as NumPy's iterator hands them over.

Complex products and moduli have other last bits where the loop can't use vectors: met backwards.
"""

import itertools

import numpy as np
import pytest

import lazyarray as la

from ..lazy.fusing import figures, same

rng = np.random.default_rng(0)

# NumPy's buffer holds 8192 elements: two rows of 4096.
SHAPES = [(2, 2), (3, 100), (2, 4095), (2, 4096), (2, 4097), (3, 2731), (2, 3, 2000), (2, 3, 4097)]
TURNS = {
    "last": (Ellipsis, slice(None, None, -1)),
    "first": (slice(None, None, -1),),
    "all": (slice(None, None, -1), Ellipsis, slice(None, None, -1)),
}


@pytest.mark.parametrize("turn", TURNS)
@pytest.mark.parametrize("shape", SHAPES)
def test_reversed_views(shape, turn):
    x = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype("F")
    y = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype("F")
    a, b, key = la.array(x), la.array(y), TURNS[turn]
    same(la.abs(a[key]), np.abs(x[key]))
    same(la.square(a[key]), np.square(x[key]))
    same(a[key] * b, np.multiply(x[key], y))
    same(b * a[key], np.multiply(y, x[key]))
    same(a[key] * b[::-1], np.multiply(x[key], y[::-1]))
    r, s = np.abs(x).astype("d"), np.abs(y).astype("d")
    c, d = la.array(r), la.array(s)
    same(c[key] ** d, r[key] ** s)
    same(c[key] ** d[key], r[key] ** s[key])


@pytest.mark.parametrize("shape", [(4,), (100,), (10000,), (3, 100), (2, 5000)])
def test_reversed_in_place(shape):
    """With an output that is given, NumPy turns round what all operands walk backwards."""
    x = rng.standard_normal(shape)
    for key in [(slice(None, None, -1),) * len(shape), (..., slice(None, None, -1))]:
        want, got = x.copy(), la.array(x)
        np.exp(want[key], out=want[key])
        la.exp(got[key], out=got[key])
        same(got, want)
        want, got = np.empty(shape), la.empty(shape)
        np.arcsinh(x[key], out=want[key])
        la.arcsinh(la.array(x)[key], out=got[key])
        same(got, want)


@pytest.mark.parametrize("shape", [(2,), (9,), (100,), (10000,), (3, 100), (2, 5000)])
def test_an_output_that_goes_backwards_over_an_input(shape):
    """NumPy computes into a copy of such an output, which goes forwards."""
    x, y = rng.standard_normal((2, *shape)) * 3
    for key in [(slice(None, None, -1),) * len(shape), (..., slice(None, None, -1))]:
        for f in ("sinh", "exp", "arctan", "cbrt"):
            want, got = x.copy(), la.array(x)
            getattr(np, f)(want, out=want[key])
            getattr(la, f)(got, out=got[key])
            same(got, want)
        for other, theirs in [(y, la.array(y)), (y[key], la.array(y)[key]), (1.5, 1.5)]:
            want, got = np.abs(x), la.array(np.abs(x))
            np.power(want, other, out=want[key])
            la.power(got, theirs, out=got[key])
            same(got, want)
            np.arctan2(other, want[..., ::-1], out=want)
            la.arctan2(theirs, got[..., ::-1], out=got)
            same(got, want)


@pytest.mark.parametrize("shape", [(4,), (100,), (10000,), (3, 100), (2, 5000)])
def test_reversed_and_written_over(shape):
    """What is copied, because the output overlaps it, is still walked backwards."""
    x = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype("F")
    y = rng.standard_normal(shape)
    for key in [(slice(None, None, -1),) * len(shape), (..., slice(None, None, -1))]:
        want, got = x.copy(), la.array(x)
        np.multiply(want[key], want, out=want)
        la.multiply(got[key], got, out=got)
        same(got, want)
        want, got = y.copy(), la.array(y)
        np.exp(want[key], out=want)
        la.exp(got[key], out=got)
        same(got, want)


def _signs(axes):
    return [
        tuple(slice(None, None, s) for s in signs)
        for signs in itertools.product((1, -1), repeat=axes)
    ]


@pytest.mark.parametrize("shape", [(33,), (2, 40), (7, 9), (2, 2, 2)])
@pytest.mark.parametrize("dtype", "dfFD")
def test_written_over_in_any_direction(shape, dtype):
    """Which of three operands NumPy's iterator turns round, and hands over by a buffer."""
    x = (rng.standard_normal(shape) + (1j if dtype in "FD" else 0)).astype(dtype)
    for key, other in itertools.product(_signs(len(shape)), repeat=2):
        want, got = x.copy(), la.array(x)
        for a in (want[key], got[key]):
            a *= a[other]
        for xp, a in ((np, want[key]), (la, got[key])):
            xp.exp(a[other], out=a)
            if dtype in "fd":
                xp.cbrt(a[other], out=a)
        same(got, want)


@pytest.mark.parametrize("dtype", "bhilqBHILQefdgFD")
def test_negative_of_any_steps(dtype):
    """NumPy's own loop is wrong where the input steps by 64 bytes and the output by others."""
    x = (rng.standard_normal(3000) * 50).astype(dtype)
    a = la.array(x)
    for n in (2, 67, 140):
        for step in (1, 2, 3, 4, 5, 8, 16, -1, -4, -8):
            for to in (1, 2, 4, 8, -3):
                out = la.zeros(3000, dtype)
                la.negative(a[::step][:n], out=out[::to][:n])
                same(out[::to][:n], -x[::step][:n].copy())
    b = (rng.standard_normal((3, 600, 8)) * 50).astype(dtype)
    for fuses in (0, 1):
        with figures(fuses=fuses, inline_ns=0):
            same(-la.array(b)[..., ::2][..., ::-1], -b[..., ::2][..., ::-1].copy())


def test_other_results_are_laid_out_as_numpys():
    x = np.asfortranarray(rng.integers(0, 9, (2, 3)).astype("u2"))
    a = la.array(x)
    for got, want in [
        (a != -1, x != -1),
        (la.add(a, 1, where=a >= 0), np.add(x, 1, where=x >= 0, out=None)),
        (la.block(a), np.block(x)),
        (la.insert(a.copy(), [0, 2], 7, axis=1), np.insert(x.copy(), [0, 2], 7, axis=1)),
    ]:
        same(got, want)
        assert got.strides == want.strides


def test_one_complex_element_in_place():
    for _ in range(20):
        x = rng.standard_normal(1) + 1j * rng.standard_normal(1)
        y = rng.standard_normal(1) + 1j * rng.standard_normal(1)
        want, got = x.copy(), la.array(x)
        want *= y
        got *= la.array(y)
        same(got, want)
        same(la.array(x) * la.array(y), x * y)


@pytest.mark.parametrize("dtype", "?bilLefdgFD")
@pytest.mark.parametrize("name", ["mean", "var", "std", "sum", "max"])
def test_results_are_laid_out_as_numpys(name, dtype):
    for shape in [(2, 3, 4), (2, 3, 1), (5, 300)]:
        x = np.asfortranarray((rng.standard_normal(shape) * 9).astype(dtype))
        for axis in range(len(shape)):
            got = getattr(la, name)(la.array(x), axis=axis)
            want = getattr(np, name)(x, axis=axis)
            same(got, want)
            assert got.strides == want.strides, (shape, axis)


def test_integer_means_are_exact_where_numpys_are():
    for dtype in "?bBhHiIlL":
        x = rng.integers(0, 2 if dtype == "?" else 100, (3, 20000)).astype(dtype)
        big = x if dtype == "?" else x * np.array(np.iinfo(dtype).max // 100, dtype)
        for axis in (None, 0, 1):
            same(la.mean(la.array(big), axis=axis), np.mean(big, axis=axis))
            same(la.var(la.array(big), axis=axis), np.var(big, axis=axis))


def test_a_mean_of_more_than_float32_counts():
    """NumPy divides by a double: 2**24 + 1 is none that float32 holds."""
    n = (1 << 24) + 1
    x = rng.random(8).astype("f")
    for shape in ((n,), (2, n)):
        many = np.broadcast_to(x[:1], shape)
        same(la.mean(la.array(many), axis=-1), np.mean(many.copy(), axis=-1))
    for ddof in (0.1, 1, 2.7):
        same(la.var(la.array(x), ddof=ddof), np.var(x, ddof=ddof))
        both = np.stack([x, x[::-1]])
        same(la.std(la.array(both), axis=1, ddof=ddof), np.std(both, axis=1, ddof=ddof))


def test_out_of_a_clip_may_be_larger():
    out = la.zeros((2, 3))
    assert la.clip(la.arange(3.0), 0, 1, out=out) is out
    same(out, [[0.0, 1.0, 1.0]] * 2)
    with pytest.raises(ValueError, match="wrong shape"):
        la.clip(la.zeros((2, 3)), 0, 1, out=la.zeros(3))


# Halves that loops over what lies in a row, and others, round in other ways.
HALVES = np.array([13648, 1360, 4432, 29008, 7504, 22864], "u2").view("f2")
STEPPED = [
    np.s_[::2], np.s_[::-1], np.s_[:, ::2], np.s_[::2, ::2], np.s_[::-1, ::2], np.s_[..., ::-1],
]  # fmt: skip


@pytest.mark.parametrize(
    "name", ["cbrt", "exp", "log10", "sin", "tan", "arctan", "cosh", "negative"]
)
@pytest.mark.parametrize("shape", [(3, 4), (183, 20), (2, 8192), (2, 8194), (12, 5000), (4, 5, 6)])
def test_functions_of_halves(name, shape):
    """NumPy hands them views by way of a buffer, where that pays."""
    every = np.abs(rng.integers(1, 31744, shape).astype("u2").view("f2"))
    for base in (every, np.resize(HALVES, shape)):
        for key in STEPPED:
            for x, y in ((base[key], la.array(base)[key]), (base[key].T, la.array(base)[key].T)):
                with np.errstate(all="ignore"):
                    same(getattr(la, name)(y), getattr(np, name)(x))
                    want, got = np.zeros(x.shape, "f2"), la.zeros(x.shape, "f2")
                    same(getattr(la, name)(y, out=got), getattr(np, name)(x, out=want))
    halves = np.arange(1, 31744, dtype="u2").view("f2")
    with np.errstate(all="ignore"):
        for x in (halves, halves[::2], halves[::-3]):
            same(getattr(la, name)(la.array(halves)[:: x.strides[0] // 2]), getattr(np, name)(x))
