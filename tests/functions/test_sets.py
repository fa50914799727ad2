"""Sets against NumPy: values, options, errors, and that membership does not wait."""

import itertools

import numpy as np
import pytest

import lazyarray as la
from lazyarray.functions import sets

from ..ops.compare import asynchronous, check, layouts, pending, rng, same

INTS = rng.integers(-3, 4, (3, 4, 2))
FLOATS = np.where(INTS > 2, np.nan, INTS / 2)
ARRAYS = [
    *layouts(INTS),
    FLOATS,
    FLOATS.astype("f4")[0],
    FLOATS + 1j * INTS,
    INTS.astype("u1"),
    INTS > 0,
    np.zeros((0, 3)),
    np.zeros(0, "i8"),
    np.array(3.5),
    np.array([-0.0, 0.0, np.inf, -np.inf]),
]
OPTIONS = [
    {},
    {"return_index": True},
    {"return_inverse": True},
    {"return_counts": True},
    {"return_index": True, "return_inverse": True, "return_counts": True},
    {"equal_nan": False},
    {"axis": 0},
    {"axis": -1, "return_inverse": True, "return_counts": True},
    {"axis": 7},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_unique(options):
    for a in ARRAYS:
        check("unique", a, **options)


@pytest.mark.parametrize("name", ["unique_all", "unique_counts", "unique_inverse"])
def test_named_results(name, direct):
    for a in ARRAYS:
        check(name, a)
        result = getattr(la, name)(la.array(a))
        assert type(result) is type(getattr(np, name)(a))
        assert isinstance(result.values, la.NDArray)


def test_unsorted_values():
    for a in ARRAYS:
        same(la.sort(la.unique_values(a)), np.sort(np.unique_values(a)))
    same(la.sort(la.unique([3, 1, 3], sorted=False)), np.array([1, 3]))


PAIRS = [
    (INTS, [1, 2]),
    (INTS, INTS[0]),
    (INTS, np.arange(-100, 100)),
    (INTS, 2),
    (2, INTS),
    (FLOATS, FLOATS),
    (FLOATS, [0.5, np.nan]),
    (FLOATS, rng.random(100)),
    (FLOATS.astype("f4"), [0.1, 0.5]),
    (INTS.astype("u8"), [-1, 2]),
    (np.array([2**63 + 1], "u8"), np.array([2**62 + 1, 5], "i8")),
    (np.array([2**53 + 1]), [float(2**53)]),
    (INTS > 0, [True]),
    (INTS, [True]),
    (FLOATS + 1j, [1j]),
    (INTS, []),
    ([], INTS),
    (INTS, np.array([0, 2**62])),
]


@pytest.mark.parametrize("kind", [None, "sort", "table", "no"])
@pytest.mark.parametrize("invert", [False, True])
def test_isin(kind, invert):
    for element, among in PAIRS:
        check("isin", element, among, invert=invert, kind=kind, strides=False)
    check("isin", np.arange(6), np.arange(2, 9), True, invert, kind=kind)


@pytest.mark.parametrize("name", ["intersect1d", "union1d", "setdiff1d", "setxor1d"])
def test_two_sets(name):
    for x, y in PAIRS:
        check(name, x, y)
    if name != "union1d":
        check(name, np.arange(5), np.array([7, 3, 9]), assume_unique=True)
    if name == "intersect1d":
        for unique in (False, True):
            check(name, np.arange(5), np.array([7, 3, 9]), unique, return_indices=True)


@asynchronous
def test_what_waits():
    x = la.array(INTS)
    with pending(x), la.no_sync():
        found = [la.isin(x, [1, 2]), la.isin(x, np.arange(100)), la.ediff1d(x, 1)]
        for name in ("unique", "unique_all", "unique_values"):
            with pytest.raises(RuntimeError, match="no_sync"):
                getattr(la, name)(x)
        with pytest.raises(RuntimeError, match="no_sync"):
            la.union1d(x, [1])
        with pytest.raises(np.exceptions.AxisError):
            la.unique(x, axis=3)
    want = [np.isin(INTS, [1, 2]), np.isin(INTS, np.arange(100)), np.ediff1d(INTS, 1)]
    same(found, want)


def test_a_table_that_is_too_large_is_an_error_at_the_wait():
    with pytest.raises(RuntimeError, match="kind='table'"):
        la.isin(la.array(INTS), np.array([-(2**63), 2**63 - 1]), kind="table").asnumpy()


def test_numpys_functions_come_here():
    same(np.unique(la.array([2, 1, 2])), np.array([1, 2]))
    assert np.isin(la.array([1, 2]), [2]).tolist() == [False, True]


def test_unique_values_are_sorted(direct):
    """NumPy leaves their order open, and has another one for small integers."""
    x = np.array([1, 0, 0, 1, 1, 7, 3] * 20)
    assert np.asarray(la.unique_values(la.array(x))).tolist() == [0, 1, 3, 7]


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1"])
def test_unique_of_many(dtype):
    # Threads share the sort from 131,072 elements on.
    n = 131_072
    numbers = np.random.default_rng(0)
    kinds = [
        numbers.integers(0, 9, n),
        numbers.permutation(n),
        numbers.integers(0, 200, (2, n // 2)),
    ]
    if dtype[0] == "f":
        x = numbers.standard_normal(n)
        kinds += [x, np.where(x > 1, np.nan, x), np.where(x > 0, 0.0, -0.0), np.full(n, np.nan)]
    for x in kinds:
        x = x.astype(dtype)
        for size in (n - 1, n) if x.ndim == 1 else (n,):
            y = x[:size]
            a = la.array(y)
            same(la.unique(a), np.unique(y))
            same(la.unique(a, equal_nan=False), np.unique(y, equal_nan=False))
            for i, j, k in itertools.product((False, True), repeat=3):
                same(la.unique(a, i, j, k), np.unique(y, i, j, k))


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u4", "i8", "u8"])
def test_unique_of_integers_from_a_short_range(dtype, monkeypatch):
    monkeypatch.setattr(sets, "_by_sorting", None)
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    numbers = np.random.default_rng(0)
    n = 140_000
    for low, high in [(0, 9), (least, least + 90), (most - 90, most), (most - n // 8 + 1, most)]:
        if high - low > most - least or low < least:
            continue
        x = numbers.integers(low, high, n, dtype=dtype, endpoint=True)
        for inverse, counts in itertools.product((False, True), repeat=2):
            options = {"return_inverse": inverse, "return_counts": counts}
            same(la.unique(la.array(x), **options), np.unique(x, **options))
            turned = x.reshape(100, -1).T
            same(la.unique(la.array(turned), **options), np.unique(turned, **options))
