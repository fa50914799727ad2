"""What programs ask of types: a Scalar passes for NumPy's scalar of its dtype, and for no array."""

import copy
import functools
import numbers
import pickle

import numpy as np
import pytest

import lazyarray as la

PYTHONS = [bool, int, float, complex, str, list, numbers.Number, numbers.Real, numbers.Integral]
KINDS = [np.generic, np.number, np.integer, np.signedinteger, np.floating, np.complexfloating]
TYPES = [*PYTHONS, *KINDS, np.bool_, np.float64, np.float32, np.int64, np.int8, np.ndarray]


def an_array(xp):
    """The type of arrays, asked for as NumPy programs do."""
    return type(xp.array([]))


@pytest.mark.parametrize("dtype", "?bBhilLefdgFDG")
def test_scalars_are_numpys_kinds(dtype):
    ours, numpys = la.ones(3, dtype)[1], np.ones(3, dtype)[1]
    assert [isinstance(ours, t) for t in TYPES] == [isinstance(numpys, t) for t in TYPES]
    assert ours.__class__ is type(numpys) and type(ours) is not type(numpys)
    assert isinstance(ours, la.Scalar) and issubclass(type(ours), la.NDArray)


def test_a_kind_is_known_before_the_value():
    with la.no_sync():
        assert isinstance(la.ones(1_000_000).sum(), float)


def test_scalars_are_no_arrays():
    s, zero = la.ones(3).sum(), la.array(3.0)
    assert not isinstance(s, an_array(la)) and isinstance(zero, an_array(la))
    ask = {"la": la, "s": s, "zero": zero}
    assert eval("isinstance(s, la.ndarray), isinstance(s, (list, la.ndarray))", ask) == (
        False,
        False,
    )
    assert eval("isinstance(zero, la.ndarray), isinstance(zero[...], la.ndarray)", ask) == (
        True,
        True,
    )
    assert not eval("isinstance(3, la.ndarray)", ask)


def test_who_asks_for_ndarray_by_our_name_means_scalars_too():
    assert isinstance(la.ones(3).sum(), la.NDArray) and not isinstance(3, la.NDArray)


def test_subclasses_are_asked_as_any():
    class Mine(la.NDArray):
        pass

    assert not isinstance(la.ones(3), Mine) and not isinstance(la.ones(3).sum(), Mine)
    assert issubclass(Mine, la.NDArray) and type(Mine) is type(la.NDArray)


def test_dispatch_by_type():
    @functools.singledispatch
    def name(x):
        return "other"

    name.register(float)(lambda x: "float")
    name.register(la.ndarray)(lambda x: "array")
    assert [name(x) for x in (la.ones(3).sum(), la.ones(3), la.ones(3, "i8").sum())] == [
        "float",
        "array",
        "other",
    ]
    match la.ones(3).sum():
        case float():
            pass
        case _:
            raise AssertionError


def test_copies_and_pickles_stay_scalars():
    s = la.ones(3).sum()
    for t in (copy.copy(s), copy.deepcopy(s), pickle.loads(pickle.dumps(s))):
        assert type(t) is type(s) and float(t) == 3


def test_a_scalar_is_no_constant_of_a_compiled_function():
    class Holder:
        scale = la.ones(2).sum()

    holder = Holder()
    f = la.compile(lambda x: x * holder.scale)
    x = la.ones(3)
    assert f(x).tolist() == f(x).tolist() == [2, 2, 2]
    holder.scale = la.ones(5).sum()
    assert f(x).tolist() == [5, 5, 5]
    g = la.compile(lambda x, s: x * s)
    assert [g(x, la.ones(n).sum()).tolist()[0] for n in (2, 3, 4, 2)] == [2, 3, 4, 2]
