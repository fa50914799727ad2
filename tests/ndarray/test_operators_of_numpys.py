"""Operators whose left operand is NumPy's: it leaves them to us, with equal results."""

import operator

import numpy as np
import pytest

import lazyarray as la

OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "@": operator.matmul,
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    "&": operator.and_,
    "<<": operator.lshift,
}
LEFT = [
    np.float64(2),
    np.float32(2),
    np.int8(3),
    np.uint64(3),
    np.bool_(True),
    np.complex64(1j),
    np.float16(2),
    np.array(2.0),
    np.arange(3),
    np.arange(3, dtype="f4"),
    np.ma.array([1, 2, 3], mask=[0, 1, 0]),
    np.array([1, 2.5, 3], object),
    np.array([]),
]
RIGHT = [
    np.array([1.5, 2.0, 3.0]),
    np.array([2, 3, 1], "i4"),
    np.array([True, False, True]),
    np.array([1.5, 2.0], "f4"),
]


def outcome(f):
    try:
        found = f()
    except Exception as error:
        return type(error)
    values = np.asarray(found)
    return type(found), values.dtype, values.shape, repr(values.tolist())


@pytest.mark.parametrize("right", range(len(RIGHT)))
@pytest.mark.parametrize("left", LEFT, ids=repr)
@pytest.mark.filterwarnings("ignore")
def test_an_operator_is_the_ufunc(left, right):
    x = la.array(RIGHT[right])
    for name, function in OPERATORS.items():
        code = compile(f"left {name} right", "", "eval")
        for operand in (x, x[1]):
            names = {"left": left, "right": operand}
            # operator.mul is a call: NumPy finds the method there, and its ufunc calls it.
            want = outcome(lambda f=function, o=operand: f(left, o))
            assert outcome(lambda c=code, n=names: eval(c, n)) == want, (name, operand)


def test_in_place_numpys_arrays_stay_numpys():
    h, x = np.ones(3), la.arange(3.0)
    same = h
    h += x
    h *= x[2]
    assert h is same and h.tolist() == [2, 4, 6]
    total = np.float64(1)
    total += x[2]
    assert float(total) == 3


class Foreign:
    """What has its own idea of ufuncs."""

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        return ufunc.__name__, [type(i) for i in inputs]

    def __array__(self, dtype=None, copy=None):
        raise AssertionError("not asked")


def test_operators_with_what_has_its_own_ufuncs():
    x = la.arange(3.0)
    assert x + Foreign() == ("add", [la.NDArray, Foreign])
    assert (x < Foreign())[0] == "less"


def test_the_method_is_there_for_who_asks():
    x = la.arange(3.0)
    assert callable(type(x).__array_ufunc__)
    assert callable(la.NDArray.__array_ufunc__)
    assert x.__array_ufunc__(np.add, "__call__", x, 1).tolist() == [1, 2, 3]
    assert np.add(np.float64(1), x[1]) == 2
    assert isinstance(np.multiply(np.arange(3), x), la.NDArray)
    # Within an operator's own instruction, too, a call is a call.
    assert (np.add(np.float64(1), x[1]) + np.add(np.arange(3), x)).tolist() == [2, 4, 6]
