"""Remainders, quotients and hypot (lazy/cpu/quotients.h, hypot.h): NumPy's bits and flags."""

import itertools

import numpy as np
import pytest

import lazyarray as la

FUNCTIONS = ["remainder", "floor_divide", "fmod", "divmod"]
LENGTHS = [1, 3, 4, 5, 8, 9, 31, 1000, 4001]
rng = np.random.default_rng(0)


def numbers(c, n):
    """Of several kinds: even steps, all sizes, odd ones, bits at random, just below multiples."""
    info = np.finfo(c)
    odd = [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, info.max, -info.max, info.tiny, 3, 0.1, 1.5]
    odd += [info.smallest_subnormal, info.max / 3, 2.0**23, 2.0**24, 2.0**52, 2.0**53]
    exponents = rng.integers(-300, 300, n) if c == "d" else rng.integers(-38, 38, n)
    yield (rng.random(n) * 20 - 10).astype(c)
    yield (rng.integers(-200, 200, n) * 0.1).astype(c)
    yield (rng.normal(size=n) * 10.0**exponents).astype(c)
    yield rng.choice(np.array(odd, c), n)
    yield np.frombuffer(rng.bytes(n * np.dtype(c).itemsize), c).copy()
    yield np.nextafter((rng.integers(1, 2000, n) * 0.7).astype(c), np.array(-9, c))


def bits(result):
    """Whatever was given, as integers; all NaNs are one."""
    parts = result if isinstance(result, tuple) else (result,)
    for part in map(np.ascontiguousarray, parts):
        if part.dtype.kind == "f":
            part = np.where(np.isnan(part), np.nan, part).view(f"u{part.itemsize}")
        yield part


def told(function, *operands):
    with np.errstate(all="raise"):
        try:
            list(bits(function(*operands)))
        except FloatingPointError as error:
            return str(error)
    return ""


def compare(name, a, b):
    ours = [la.array(x) if isinstance(x, np.ndarray) else x for x in (a, b)]
    with np.errstate(all="ignore"):
        want = list(bits(getattr(np, name)(a, b)))
        for first in (ours[0], la.positive(ours[0])):  # complete, pending
            got = list(bits(getattr(la, name)(first, ours[1])))
            for x, y in zip(got, want, strict=True):
                np.testing.assert_array_equal(x, y)
    if a.dtype.kind == "f":
        assert told(getattr(la, name), *ours) == told(getattr(np, name), a, b)


@pytest.mark.host  # a GPU computes them otherwise
@pytest.mark.parametrize("c", "fd")
@pytest.mark.parametrize("name", [*FUNCTIONS, "hypot"])
def test_reals(name, c):
    for n in LENGTHS:
        for a, b in itertools.product(numbers(c, n), numbers(c, n)):
            compare(name, a, b)
            compare(name, a, b[0])
            compare(name, np.repeat(a, 3)[::3], b[::-1])


@pytest.mark.parametrize("c", "bBhHiIlLqQ")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_integers_by_one_number(name, c):
    info = np.iinfo(c)
    for n in [*LENGTHS, 1024, 1025]:
        a = rng.integers(info.min, info.max, n, dtype=c, endpoint=True)
        a[0] = info.min
        for b in (0, 1, 2, 3, 10, -1, -3, 100, info.max, info.min):
            if b >= info.min:
                one = np.dtype(c).type(b)
                for view in (a, a[::2], a[::-1]):
                    compare(name, view, one)


def test_in_place():
    for c in "dl":
        x = (rng.random(5000) * 1000 - 500).astype(c)
        ours = la.array(x)
        x %= 7
        ours %= 7
        np.testing.assert_array_equal(ours.asnumpy(), x)
        x[1:] %= 3
        ours[1:] %= 3
        np.testing.assert_array_equal(ours.asnumpy(), x)
