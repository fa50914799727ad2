"""Packing bits: every axis and order as NumPy's, lengths that end within a byte, errors."""

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import check, layouts, rng

BITS = [
    rng.random(21) < 0.5,
    rng.integers(0, 3, (3, 10)),
    rng.integers(-2, 2, (2, 9, 3)).astype("i1"),
    np.zeros((0, 4), bool),
    np.array(True),
]
BYTES = [rng.integers(0, 256, n).astype("u1") for n in [(), 5, (3, 4), (2, 3, 4), (0, 2)]]


@pytest.mark.parametrize("order", ["big", "little"])
@pytest.mark.parametrize("axis", [None, 0, -1, 1, 5])
def test_packbits(axis, order):
    for a in BITS:
        for b in layouts(a):
            check("packbits", b, axis=axis, bitorder=order)


@pytest.mark.parametrize("count", [None, 0, 3, 50, -3, -1000])
@pytest.mark.parametrize("axis", [None, 0, -1, 1])
def test_unpackbits(axis, count):
    for a in BYTES:
        if a.size == 0 and count and count > 0:
            continue  # NumPy leaves the result unwritten
        for b in layouts(a):
            check("unpackbits", b, axis=axis, count=count)
            check("unpackbits", b, axis=axis, count=count, bitorder="little")


def test_bits_of_nothing_to_a_count_are_zeros(direct):
    for one in (la.zeros(0, "u1"), la.zeros((0, 3), "u1")):
        assert la.unpackbits(one, count=20).tolist() == [0] * 20
    assert la.unpackbits(la.zeros((2, 0), "u1"), axis=1, count=9).tolist() == [[0] * 9] * 2


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("packbits", (np.ones(3),)),
        ("packbits", (np.ones(3, int), 0, "middle")),
        ("unpackbits", (np.ones(3, int),)),
        ("unpackbits", (np.ones(3, "u1"), 0, 1.5)),
    ],
)
def test_errors_are_raised_at_the_call(name, args):
    with pytest.raises(Exception) as want:
        getattr(np, name)(*args)
    with pytest.raises(type(want.value)):
        getattr(la, name)(la.array(args[0]), *args[1:])


def test_there_and_back_without_a_wait():
    a = rng.random(40) < 0.5
    with la.no_sync():
        back = la.unpackbits(la.packbits(la.array(a)), count=40)
    np.testing.assert_array_equal(back.asnumpy(), a)


def test_an_order_of_bits_that_is_no_text():
    rows = la.broadcast_to(la.ones((1, 1)), (2**30, 0))  # who compares it never ends
    for function in (la.packbits, la.unpackbits):
        with pytest.raises(TypeError, match="must be str"):
            function(la.ones(3, "u1"), bitorder=rows)
