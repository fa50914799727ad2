"""Ranges whose ends are arrays."""

import math
import warnings

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import call, pending


def test_ranges_of_arrays_are_asynchronous_inputs():
    start, stop = la.array([0.0, 1.0]), la.array([2.0, 5.0])
    a, b = start.asnumpy(), stop.asnumpy()
    np.testing.assert_array_equal(la.linspace(start, stop, 5).asnumpy(), np.linspace(a, b, 5))
    np.testing.assert_array_equal(la.logspace(start, 3.0, 5).asnumpy(), np.logspace(a, 3.0, 5))
    np.testing.assert_array_equal(
        la.geomspace(1.0, stop, 5, axis=1).asnumpy(), np.geomspace(1.0, b, 5, axis=1)
    )
    assert la.arange(la.array(4)).asnumpy().tolist() == [0, 1, 2, 3]
    _, step = la.linspace(start, stop, 5, retstep=True)
    np.testing.assert_array_equal(step.asnumpy(), np.linspace(a, b, 5, retstep=True)[1])
    for num in (1, 5, 20000):
        assert la.linspace(0, 1, num, retstep=True)[1] == pytest.approx(
            np.linspace(0, 1, num, retstep=True)[1], nan_ok=True
        )


@pytest.mark.parametrize("num", [8191, 8192, 8193, 65_537])
@pytest.mark.parametrize("endpoint", [True, False])
def test_long_lines_have_numpys_bits(num, endpoint):
    ends = [0, 1, -1.5, 1e-300, 5e-324, 1e308, -1e308, 2**53, 2**53 + 1, 2**60, math.pi, math.inf]
    for start in ends:
        for stop in ends:
            with np.errstate(all="ignore"):
                want = np.linspace(start, stop, num, endpoint)
                got = la.linspace(start, stop, num, endpoint)
                assert got.dtype == want.dtype and got.asnumpy().tobytes() == want.tobytes()


@pytest.mark.parametrize(
    "start", [0, 1.5, [1, 2], np.float32(2), np.arange(2, dtype="f4"), 2j, range(2), True]
)
@pytest.mark.parametrize("stop", [3, -2.5, [5, 6.5], np.float32(7), np.float16(1)])
def test_the_step_of_a_line(start, stop):
    for num in (2, 5, 10_000):
        want = np.linspace(start, stop, num, retstep=True)
        got = la.linspace(start, stop, num, retstep=True)
        for g, w in zip(got, want, strict=True):
            g = np.asarray(g)
            assert g.dtype == np.asarray(w).dtype and g.tobytes() == np.asarray(w).tobytes()


@pytest.mark.parametrize(
    ("start", "stop"),
    [
        (np.uint8([5, 200]), 3),
        (7, np.uint8([5, 200])),
        (np.int8([100, -100]), np.int8([-100, 100])),
        (np.array([True, False]), 3.5),
        ([1, 2], np.array([0, 1], "i2")),
        (range(2), np.float32([5, 6])),
        (np.float32([1, 2]), 3),
    ],
)
def test_the_step_between_arrays_does_not_wrap(start, stop):
    ends = [la.array(e) if isinstance(e, np.ndarray) else e for e in (start, stop)]
    for num in (1, 5):
        want = np.linspace(start, stop, num, retstep=True)
        with pending(*[e for e in ends if isinstance(e, la.NDArray)]):
            got = la.linspace(*ends, num, retstep=True)
        for g, w in zip(got, want, strict=True):
            if isinstance(w, float):
                assert num == 1 and math.isnan(w) and math.isnan(g)
                continue
            assert g.dtype == w.dtype
            np.testing.assert_array_equal(g.asnumpy(), w)


def test_a_range_of_more_than_memory_has():
    with pytest.raises(ValueError, match="Maximum allowed size"):
        la.arange(10**30)


DTYPES = [None, int, float, np.int32, *"bBhHiIqQefdFD?"]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_ranges_of_each_dtype(dtype):
    """Also those that end at what a dtype holds, and one further."""
    ends = [0, 1, -1, 5, -7, 127, 128, -128, -129, 255, 256, 300, 2048, 2050, 65536, (1 << 24) + 3]
    cases = [(n,) for n in ends[:-1]]
    cases += [(a, b) for a in ends for b in ends if abs(a - b) < 400]
    cases += [(*case, step) for case in cases[-100:] for step in (-1, 2, -3, 7, -400)]
    for args in cases:
        want, got = (call(xp.arange, args, {"dtype": dtype}) for xp in (np, la))
        if isinstance(want, Exception):
            assert type(got) is type(want), (args, want, got)
        else:
            assert got.dtype == want.dtype and got.asnumpy().tobytes() == want.tobytes(), args


@pytest.mark.parametrize(
    "ends",
    [
        (2**63 - 1, 2**63 + 2),
        (2**63, 2**63 + 3),
        (-(2**63) - 1, -(2**63) + 2),
        (-(2**63), -(2**63) + 3),
        (2**64, 2**64 + 3),
        (2**62, 2**63, 2**62),
        (1.0, 2**70, 2**69),
    ],
)
def test_ends_beyond_64_bits(ends, direct):
    """They ran over, from the largest integer to the smallest."""
    want = np.arange(*ends)
    with warnings.catch_warnings(action="ignore"):
        got = la.arange(*ends)
    assert got.dtype == want.dtype and got.tolist() == want.tolist()
