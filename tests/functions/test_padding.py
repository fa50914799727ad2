"""``pad`` in every mode: values, memory order, errors; lazy in all but nothing."""

import numpy as np
import pytest

import lazyarray as la

from ..numpys import refuses
from ..ops.compare import call, check, layouts, rng

A = [
    np.arange(1.0, 6),
    rng.integers(-9, 9, (3, 4)),
    rng.standard_normal((2, 1, 3)).astype("f4"),
    rng.standard_normal((2, 2)) * (1 + 2j),
    np.array([[True, False], [False, False]]),
    np.zeros((0, 2)),
    np.array(3.0),
]
WIDTHS = [0, 1, (2, 3), 9, ((1, 2),), np.array([[2], [5]]), ((0, 3), (7, 1)), {0: 2}, {-1: (1, 3)}]
MODES = [
    ("constant", {}),
    ("constant", {"constant_values": 7}),
    ("constant", {"constant_values": (1.5, -2)}),
    ("constant", {"constant_values": ((1, 2), (3, 4))}),
    ("edge", {}),
    ("linear_ramp", {}),
    ("linear_ramp", {"end_values": (-3, 8.5)}),
    ("maximum", {}),
    ("minimum", {"stat_length": 2}),
    ("maximum", {"stat_length": 0}),
    ("mean", {"stat_length": (1, 3)}),
    ("mean", {}),
    ("median", {"stat_length": ((2, 1), (1, 9))}),
    ("reflect", {}),
    ("reflect", {"reflect_type": "odd"}),
    ("symmetric", {}),
    ("symmetric", {"reflect_type": "odd"}),
    ("wrap", {}),
    ("wrap", {"stat_length": 2}),
    ("unknown", {}),
]


@pytest.mark.parametrize("number", range(len(MODES)))
def test_modes(number):
    mode, kwargs = MODES[number]
    for a in A:
        if a.dtype == bool and mode in ("linear_ramp", "mean", "median"):
            continue
        for b in layouts(a) if a.ndim == 2 else [a]:
            for width in WIDTHS:
                given = width
                want = call(np.pad, (b, given, mode), kwargs)
                if isinstance(want, RuntimeWarning):
                    continue
                check("pad", b, given, mode, **kwargs)


@pytest.mark.parametrize("width", [-1, 1.5, (1, 2, 3), ((1, 2), (3, 4), (5, 6)), {5: 1}, "a"])
def test_wrong_widths(width):
    for mode in ("constant", "edge", lambda *args: None):
        want = call(np.pad, (A[1], width, mode), {})
        got = call(la.pad, (la.array(A[1]), width, mode), {})
        assert isinstance(want, Exception)
        assert type(got) is type(want) or refuses(want), (want, got)


def test_empty_mode_keeps_the_values():
    got = la.pad(la.array(A[1]), 2, "empty")
    assert got.shape == (7, 8)
    np.testing.assert_array_equal(got[2:-2, 2:-2].asnumpy(), A[1])


def test_a_function():
    def fill(vector, widths, axis, kwargs):
        vector[: widths[0]] = kwargs.get("by", 10) + axis
        vector[len(vector) - widths[1] :] = -1

    for a in (A[0], A[1], A[1].T, A[5]):
        check("pad", a, ((2, 1),), fill)
        check("pad", a, 1, fill, by=5)


def test_nothing_waits_and_arrays_may_be_options():
    x = la.arange(6.0).reshape(2, 3) * 2
    with la.no_sync():
        padded = [la.pad(x, 2, mode, **kwargs) for mode, kwargs in MODES[:18] if mode != "maximum"]
        by = la.pad(x, 1, constant_values=la.array(3.0) * 2)
        ends = la.pad(x, 1, constant_values=la.array([1.0, 2.0]))
        ramp = la.pad(x, 2, "linear_ramp", end_values=la.array(4.0))
    host = x.asnumpy()
    np.testing.assert_array_equal(by.asnumpy(), np.pad(host, 1, constant_values=6))
    np.testing.assert_array_equal(ends.asnumpy(), np.pad(host, 1, constant_values=(1, 2)))
    np.testing.assert_array_equal(ramp.asnumpy(), np.pad(host, 2, "linear_ramp", end_values=4))
    for p in padded:
        p.wait_to_read()


def test_a_function_is_called_at_the_call():
    """It may read what the program changes later."""
    fill = [3.0]

    def filled(vector, width, axis, kwargs):
        vector[: width[0]] = vector[-width[1] :] = fill[0]

    got = la.pad(la.arange(3.0) * 2, 1, filled)
    fill[0] = 9.0
    assert got.tolist() == [3, 0, 2, 4, 3]
