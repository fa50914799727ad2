"""Operands of every kind, and the memory's address."""

import array
import collections
import operator
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import lazyarray as la


class Vector:
    """A sequence of no known type."""

    def __init__(self, *items):
        self.items = items

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]

    def __radd__(self, other):
        return "mine"


class Prior(Vector):
    __array_priority__ = 10.0


class Own(Vector):
    __array_ufunc__ = None


SEQUENCES = [
    range(3),
    (1, 2, 3),
    (True, 2.5, np.float64(3)),
    (np.float32(1), 2, np.int16(3)),
    (np.uint8(1), True, 2**63),
    [1.5, 2, 3],
    collections.deque([1, 2, 3]),
    array.array("d", [1, 2, 3]),
    bytearray(b"abc"),
    memoryview(b"abc"),
    Vector(1, 2, 3),
]


@pytest.mark.parametrize("other", SEQUENCES, ids=lambda o: type(o).__name__)
def test_any_sequence_is_an_operand(other):
    for dtype in ("f8", "i8"):
        x, y = la.array([3, 1, 2], dtype), np.array([3, 1, 2], dtype)
        for op in (
            lambda a: a + other,
            lambda a: other - a,
            lambda a: a * other,
            lambda a: a < other,
            lambda a: a == other,
            lambda a: a @ other,
            lambda a: np.maximum(a, other),
        ):
            got, want = op(x), op(y)
            assert isinstance(got, la.NDArray) and got.dtype == want.dtype
            assert got.tolist() == want.tolist()
    z = la.ones(3)
    z += other
    assert z.tolist() == (np.ones(3) + other).tolist()
    row = la.zeros((2, 3))
    row[0] = other
    assert row[0].tolist() == np.asarray(other).tolist()
    assert la.add(la.ones(3), other).tolist() == z.tolist()


def test_who_has_a_way_of_his_own_keeps_it():
    x = la.ones(2)
    assert x + Prior(1, 2) == "mine" == x + Own(1, 2)
    assert (x + Vector(1, 2)).tolist() == [2, 3]  # as NumPy: it is a sequence
    for other in (None, "a", object(), {1: 2}, {1}, (i for i in range(2))):
        with pytest.raises(TypeError):
            x + other
    assert (x == None).tolist() == [False, False]  # noqa: E711
    assert not x[0] == "a"


def test_numbers_of_python_that_no_dtype_has():
    x, y = la.array([1, 2]), np.array([1, 2])
    for other in (Fraction(1, 2), Decimal(3)):
        for op in (operator.mul, operator.add, operator.gt, lambda a, b: b - a):
            got, want = op(x, other), op(y, other)
            assert np.asarray(got).dtype == want.dtype and got.tolist() == want.tolist()
    with pytest.raises(TypeError):
        la.ones(2) * Decimal(3)
    with pytest.raises(ValueError, match="inhomogeneous"):
        la.add(x, [[1, 2], [3]])


def test_a_list_of_objects():
    halves = [Fraction(1, 2), Fraction(1, 3)]
    got = la.array([1, 2]) + halves
    assert got.tolist() == [Fraction(3, 2), Fraction(7, 3)]


class Money:
    """A number of a program's own."""

    def __init__(self, amount):
        self.amount = amount

    def __radd__(self, other):
        return type(other).__name__, float(other) + self.amount

    def __gt__(self, other):
        return bool(self.amount > other)


def test_each_element_meets_an_object_of_a_programs_own():
    """As in NumPy, unless the object has a priority: the object got the whole array."""
    for m in (np, la):
        x = m.array([1.0, 2.0])
        assert (x + Money(1)).tolist() == [("float", 2.0), ("float", 3.0)]
        assert (x < Money(1.5)).tolist() == [True, False]
        with pytest.raises(TypeError):
            x - Money(1)
        with pytest.raises(TypeError, match="ufunc 'add'"):
            x += Money(1)
        assert x.tolist() == [1.0, 2.0]
        with pytest.raises(TypeError):
            x + None
