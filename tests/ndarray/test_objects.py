"""Objects that aren't numbers of Python's or NumPy's, as values of elements and as operands."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import lazyarray as la

pytestmark = pytest.mark.host


class Half:
    def __float__(self):
        return 0.5


class Index:
    def __index__(self):
        return 3


STORES = [
    lambda x, v: x.__setitem__(0, v),
    lambda x, v: x.__setitem__(slice(1, 3), v),
    lambda x, v: x.__setitem__(..., v),
    lambda x, v: x.fill(v),
    lambda x, v: x.__setitem__([0, 2], v),
    lambda x, v: x.__setitem__(x > 1, v),
]


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize(
    "value", [Fraction(7, 2), Decimal("1.5"), Half(), Index(), object(), {1, 2}, map(float, "12")]
)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "?"])
def test_an_object_that_is_stored_is_made_a_number(store, value, dtype):
    def stored(xp):
        x = xp.arange(5).astype(dtype)
        try:
            store(x, value)
        except TypeError as e:
            return str(e), np.asarray(x).tolist()
        return np.asarray(x).tolist()

    assert stored(la) == stored(np)


class Override:
    """Ufuncs are its own; it has no operators."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return ufunc.__name__, method, [type(x) is type(self) for x in inputs]


@pytest.mark.parametrize(
    "line", ["x + o", "x * o", "x @ o", "x < o", "x == o", "x ** o", "divmod(x, o)"]
)
def test_an_object_with_ufuncs_of_its_own_is_an_operand(line):
    got, want = (eval(line, {"x": xp.arange(3), "o": Override()}) for xp in (la, np))
    assert got == want
