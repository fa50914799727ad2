"""Histograms and counts against NumPy: bins, ranges, weights, errors, and what waits."""

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import asynchronous, call, check, layouts, pending, rng, same

FLOATS = rng.standard_normal((3, 4, 2))
INTS = rng.integers(0, 7, (3, 4, 2))
WEIGHTS = rng.random((3, 4, 2))
EDGES = np.array([-1.0, -0.5, 0, 2])
ARRAYS = [
    *layouts(FLOATS),
    FLOATS.astype("f4"),
    FLOATS.astype("e"),
    INTS,
    INTS.astype("u1"),
    (INTS * 30 - 90).astype("i1"),
    np.zeros(3),
    np.zeros(0),
    np.zeros(0, "f4"),
    np.array(2.0),
    [1, 2, 2],
]
BINS = [
    *(1, 5, np.int64(3), 0, -1, 2.5, "auto", "fd", "sqrt", "stone", "doane", "scott", "rice"),
    *("sturges", "none", EDGES, [0, 1, 5], [3, 1], [[1, 2]], [1.0], np.arange(4, dtype="f4")),
]
RANGES = [None, (0, 3), (-0.5, np.float64(2)), (2, 2), (3, 1), (0, np.inf)]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("bins", BINS, ids=str)
def test_histogram(bins):
    for limits in RANGES:
        for a in ARRAYS if limits is None else ARRAYS[:1] + ARRAYS[7:10]:
            check("histogram", a, bins, limits)
            check("histogram_bin_edges", a, bins, limits)
    check("histogram", FLOATS, bins, density=True)
    for w in (WEIGHTS, WEIGHTS.astype("f4"), INTS, WEIGHTS * 1j, WEIGHTS[0], INTS > 3):
        check("histogram", FLOATS, bins, weights=w)
        check("histogram", FLOATS, bins, None, True, w)
    check("histogram_bin_edges", FLOATS, bins, weights=WEIGHTS)


def test_bins_that_are_arrays_here():
    same(la.histogram(FLOATS, la.array(EDGES)), np.histogram(FLOATS, EDGES))
    edges = la.array(EDGES)
    assert la.histogram_bin_edges(FLOATS, edges) is edges
    assert la.histogram(la.array(FLOATS), edges)[1] is edges
    with pytest.raises(ValueError, match="1d"):
        la.histogram(FLOATS, la.ones((2, 2)))
    with pytest.raises(ValueError, match="monotonically"):
        la.histogram(FLOATS, la.array([3, 1]))[0].asnumpy()
    same(la.histogram(FLOATS, 3, la.array([0.0, 1])), np.histogram(FLOATS, 3, (0.0, 1)))


@pytest.mark.parametrize("part", [0, 1])
def test_values_without_limits_are_errors_at_the_wait(part):
    with pytest.raises(ValueError, match="not finite"):
        la.histogram(la.array([1.0, np.nan]), 3)[part].asnumpy()


def test_booleans_are_bytes_with_a_warning():
    with pytest.warns(RuntimeWarning, match="Converting input from bool"):
        counts, _ = la.histogram([True, False, True], 2)
    assert counts.tolist() == [1, 2]


POINTS = rng.standard_normal((20, 3))


@pytest.mark.parametrize("bins", [2, (2, 3, 4), (2, EDGES, 3), [EDGES] * 3, (2, 3), (0, 1, 1),
                                  (2, 2.5, 2), (2, [3, 1], 2), ([[1]], 1, 1)], ids=str)  # fmt: skip
def test_histogramdd(bins):
    ranges = [None, [(-1, 1), None, (0, 2)], [(0, 1)], [(1, 0), None, None]]
    for limits in ranges:
        check_dd(POINTS, bins, limits)
    check_dd(POINTS, bins, density=True)
    check_dd(POINTS, bins, weights=np.arange(20))
    check_dd(POINTS, bins, weights=np.arange(20) * 1j)
    check_dd(POINTS.astype("f4"), bins)
    check_dd(POINTS[:0].astype("f4"), bins)
    check_dd(list(POINTS.T), bins)
    check_dd((POINTS[:, 0], np.arange(20), POINTS[:, 0].astype("f4")), bins)
    check_dd(POINTS[:, 0], bins)
    check_dd(np.asfortranarray(POINTS), bins)


def check_dd(sample, bins, *args, **kwargs):
    want = call(np.histogramdd, (sample, bins, *args), kwargs)
    parts = [la.array(v) for v in sample] if isinstance(sample, (list, tuple)) else la.array(sample)
    got = call(la.histogramdd, (parts, bins, *args), kwargs)
    if isinstance(want, Exception):
        assert isinstance(got, type(want)), f"{got!r}, not {want!r}"
        return
    if isinstance(got, Exception):
        raise got
    assert isinstance(got[1], list)
    same(got[0], want[0], False)
    same(got[1], want[1])


@pytest.mark.parametrize("bins", [3, (2, 4), EDGES, [EDGES, 2], [EDGES, EDGES], [5]], ids=str)
def test_histogram2d(bins):
    x, y = POINTS[:, 0], POINTS[:, 1]
    check("histogram2d", x, y, bins, strides=False)
    check("histogram2d", x, y, bins, [[-1, 1], [0, 1]], True, np.arange(20), strides=False)
    check("histogram2d", x, y[:4], bins)
    if isinstance(bins, np.ndarray):
        same(la.histogram2d(x, y, la.array(bins)), np.histogram2d(x, y, bins), False)


@pytest.mark.parametrize("n", [2, 300, 9000])
@pytest.mark.parametrize("weighted", [False, True])
def test_bincount_of_the_largest_integer(n, weighted):
    """NumPy 2.4 counts it beyond its memory: the length, one more, is negative there."""
    x = np.zeros(n, np.intp)
    x[1] = np.iinfo(np.intp).max
    weights = [np.ones(n)] if weighted else []
    for given in (la.array(x), x.tolist()):
        with pytest.raises(ValueError, match="array is too big"):
            la.bincount(given, *weights)
        with pytest.raises(ValueError, match="array is too big"):
            la.bincount(given, *map(la.array, weights), minlength=3)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_bincount():
    for x in (INTS[0, 0], [3, 1, 1], [], (), range(0), range(3), np.zeros(0, int), [-1], INTS, 3,
              [1.5], INTS[0, 0] > 1, INTS[0, 0].astype("u1"), np.array([1], "u8")):  # fmt: skip
        for least in (0, 2, 20, -1, None):
            check("bincount", x, minlength=least)
    for w in (WEIGHTS[0, 0], INTS[0, 0], [1, 2, 3], [1j, 1], np.float32([1, 2])):
        check("bincount", INTS[0, 0], w)
        check("bincount", INTS[0, 0], weights=w, minlength=9)
    check("bincount", [], [])


@pytest.mark.parametrize("right", [False, True])
def test_digitize(right):
    for bins in (EDGES, EDGES[::-1], [0, 1], [1], [], [1, 3, 2], [[1, 2]], 1, EDGES.astype("f4")):
        for x in (FLOATS, INTS, 0.5, np.nan, FLOATS * 1j, np.zeros(0)):
            check("digitize", x, bins, right)


@asynchronous
def test_what_waits():
    x, w = la.array(FLOATS), la.array(WEIGHTS)
    with pending(x, w), la.no_sync():
        got = [
            *la.histogram(x, weights=w),
            la.histogram_bin_edges(x, 3),
            la.histogramdd(x[0])[0],
            la.digitize(x, EDGES),
            la.bincount([1, 2], w[0, 0]),
        ]
        for function, args in ((la.histogram, (x, "auto")), (la.bincount, (x[0, 0] > 0,))):
            with pytest.raises(RuntimeError, match="no_sync"):
                function(*args)
    want = [
        *np.histogram(FLOATS, weights=WEIGHTS),
        np.histogram_bin_edges(FLOATS, 3),
        np.histogramdd(FLOATS[0])[0],
        np.digitize(FLOATS, EDGES),
        np.bincount([1, 2], WEIGHTS[0, 0]),
    ]
    same(got, want, False)


def test_counts_of_nothing_look_at_no_weights():
    check("bincount", np.zeros(0, int), np.ones(3))
    check("bincount", np.zeros(0, int), np.ones(1), 4)


# ---- our own counting ---------------------------------------------------------------------------

SAMPLES = {
    "normal": lambda n: rng.standard_normal(n) * 10,
    "whole": lambda n: rng.integers(0, 9, n),  # on edges
    "tenths": lambda n: rng.integers(0, 10, n) / 10,  # nearly on edges
    "far": lambda n: 1e16 + rng.integers(0, 99, n),  # edges that are not apart
    "tiny": lambda n: rng.random(n) * 1e-300,
    "not numbers": lambda n: np.where(rng.random(n) < 0.3, np.nan, rng.random(n)),
}


@pytest.mark.parametrize("dtype", ["f8", "f4", "e", "i8", "u8", "i4", "u1"])
@pytest.mark.parametrize("kind", SAMPLES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_counted_as_numpy_counts(kind, dtype):
    # Blocks of 65,536 weights are added up by themselves; 50,000 doubles are counted at the call.
    for n in (1, 1000, 4097, 50_001, 65_537):
        with np.errstate(all="ignore"):
            x = SAMPLES[kind](n).astype(dtype)
        weights = rng.random(n)
        for bins in (1, 10, 1000):
            for limits in (None, (0, 1), (-5.5, 7), (0.1, 0.9), (np.float32(0), np.float32(3))):
                try:
                    want = np.histogram(x, bins, limits)
                except ValueError:
                    continue  # NaN, or no room for so many
                same(la.histogram(la.array(x), bins, limits), want)
                if bins == 10:
                    for more in ({"weights": weights}, {"density": True}):
                        got = la.histogram(la.array(x), bins, limits, **more)
                        same(got, np.histogram(x, bins, limits, **more))
                    few = weights.astype("f4")
                    got = la.histogram(la.array(x), bins, limits, weights=la.array(few))
                    same(got, np.histogram(x, bins, limits, weights=few))


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u8", "i4", "u1"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", SAMPLES)
def test_counted_between_edges_as_numpy_counts(kind, dtype, direct):
    # 4096 doubles lie on the stack, 1024 edges; 50,000 doubles are counted at the call.
    for n in (1, 7, 512, 513, 4096, 4097, 50_001):
        with np.errstate(all="ignore"):
            x = SAMPLES[kind](n).astype(dtype)
        a = la.array(x)
        for edges in (
            *(EDGES, EDGES.astype("f4"), np.arange(7), np.arange(0, 1.05, 0.1)),
            np.arange(9, dtype="i4"),
            *([0, 1, 1, 4], [0.0, 0.5, 2**60], [-np.inf, 0, np.inf], [3, 3], [0.25, np.nan]),
            *(np.linspace(-9, 9, 1023), np.linspace(-9, 9, 1025)),
        ):
            given = edges if isinstance(edges, list) else la.array(edges)
            counts, borders = la.histogram(a, given)
            same((counts, borders), np.histogram(x, edges))
            assert isinstance(edges, list) or borders is given
            same(la.histogram(a, given, density=True), np.histogram(x, edges, density=True))


def test_edges_that_decrease_are_refused_wherever_they_are(direct):
    x = np.arange(12.0)
    edges = x.copy()
    edges[0] = 123
    for f in (la.histogram, la.histogram_bin_edges):
        for bins in (edges, edges.tolist(), la.array(edges)):
            with pytest.raises(ValueError, match="increase monotonically"):
                result = f(la.array(x), bins)
                (result if f is la.histogram_bin_edges else result[0]).wait_to_read()
    assert la.histogram_bin_edges(la.array(x), la.array(x)).tolist() == x.tolist()


@pytest.mark.parametrize("name", ["histogram", "histogram_bin_edges"])
@pytest.mark.parametrize("number", [2.0, 2j, True, 3, 0])
def test_the_number_of_bins_may_be_a_lazyarray(name, number, direct):
    for pick in (lambda b: b, lambda b: b[()]):
        want = call(getattr(np, name), (np.arange(5.0), pick(np.array(number))), {})
        got = call(getattr(la, name), (la.arange(5.0), pick(la.array(number))), {})
        if isinstance(want, Exception):
            assert type(got) is type(want) and str(got) == str(want)
        else:
            same(got, want)


@pytest.mark.parametrize("most", [0, 1, 5, 2047, 2048, 60_000])
def test_counts_of_many(most):
    """Around the range of which each element of four has a count of its own."""
    for n in (8193, 16_390, 16_391):
        x = np.random.default_rng(n).integers(0, most + 1, n)
        for v in (x, x.astype("u1") if most < 256 else x[::-1], x.astype("i4")):
            for minlength in (0, 9, 100_000):
                same(
                    la.bincount(la.array(v), minlength=minlength),
                    np.bincount(v, minlength=minlength),
                )
            for low in (0, -7, -(2**62)):
                shifted = v + np.int64(low)
                for kind in (
                    {"return_counts": True},
                    {"return_inverse": True, "return_counts": True},
                ):
                    same(la.unique(la.array(shifted), **kind), np.unique(shifted, **kind))
        x[-1] = -1
        check("bincount", x)
