"""Sums of floats that lie together, in vectors: NumPy's bits at any length, with its warnings."""

import itertools

import numpy as np
import pytest

import lazyarray as la

# A vector, a leaf, two, and halves that are no multiple of eight; then those of single threads.
LENGTHS = [*range(1, 300), *range(505, 530), 1000, 1023, 4095, 4097, 8193, 30011, 100_003, 330_001]
NAMES = ("sum", "mean", "var", "std")
SPECIAL = (0.0, -0.0, np.nan, np.inf, -np.inf, 3e38, 1e308, 5e-324, 1e-40)


def agree(a, call):
    """The same bits and warnings, of an array of ours and of NumPy's."""
    told = []
    for x in (a, la.array(a)):
        raised = []
        with np.errstate(all="call", under="ignore"), la.errstate(all="call", under="ignore"):
            np.seterrcall(lambda what, _, raised=raised: raised.append(what))
            found = call(x)
            told.append((np.asarray(found), sorted(set(raised))))
    (want, warned), (got, heard) = told
    assert (got.dtype, got.shape, heard) == (want.dtype, want.shape, warned)
    nan = np.isnan(want)
    assert (np.isnan(got) == nan).all() and got[~nan].tobytes() == want[~nan].tobytes()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_of_any_length(name, dtype, direct):
    a = np.random.default_rng(1).normal(size=max(LENGTHS) + 3).astype(dtype)
    for n in LENGTHS:
        agree(a[n % 4 : n % 4 + n], lambda x: getattr(x, name)())
    for n, rows in ((3, 700), (8, 300), (30, 200), (129, 65), (512, 17), (5000, 3)):
        m = a[: n * rows].reshape(rows, n)
        for axis, keepdims in itertools.product((None, 0, 1, -1), (False, True)):
            agree(m, lambda x, k=keepdims, i=axis: getattr(x, name)(axis=i, keepdims=k))
        agree(m.reshape(-1, 1, n), lambda x: getattr(x, name)(2))
        agree(m, lambda x: getattr(x[:, ::2], name)(1))
        agree(m, lambda x: getattr(x.T, name)(1))
        agree(m, lambda x: getattr(x[::-1], name)(1))
        agree(m, lambda x: getattr(x[:, ::-1], name)(1))
        agree(m, lambda x: getattr(x.reshape(-1)[3:], name)())
    if name in ("var", "std"):
        for n, ddof in itertools.product((1, 2, 5, 200), (0, 1, 2, -1)):
            if ddof < n:
                agree(a[:n], lambda x, d=ddof: getattr(x, name)(ddof=d))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_of_special_numbers(name, dtype, direct):
    rng = np.random.default_rng(2)
    for n in (1, 2, 7, 8, 9, 100, 136, 700):
        for few in itertools.combinations_with_replacement(SPECIAL, 2):
            a = rng.normal(size=n)
            a[rng.integers(n)], a[rng.integers(n)] = few
            with np.errstate(all="ignore"):
                a = a.astype(dtype)
            agree(a, lambda x: getattr(x, name)())
        agree(np.full(n, -0.0, dtype), lambda x: getattr(x, name)())
