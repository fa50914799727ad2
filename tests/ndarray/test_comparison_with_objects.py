"""``x == anything``: element by element, as NumPy compares with what is no number."""

import unittest.mock

import numpy as np
import pytest

import lazyarray as la

pytestmark = pytest.mark.filterwarnings("ignore::lazyarray.HostArrayWarning")


class Plain:
    pass


class IsTwo:
    """Compares itself, with numbers alone."""

    def __eq__(self, other):
        return np.ndim(other) == 0 and other == 2

    def __ne__(self, other):
        return not self == other

    __hash__ = None


class HasPriority:
    __array_priority__ = 100

    def __eq__(self, other):
        return "its own"

    __hash__ = None


THINGS = [None, "a", b"x", Plain(), Plain, {1}, frozenset(), {1: 2}, range(1, 3), iter([1]), len]
THINGS += [int, ..., NotImplemented, slice(1), IsTwo(), HasPriority(), unittest.mock.ANY]
THINGS += [np.float32, [1, 2], la.ndarray, la.NDArray]
ARRAYS = {
    "vector": lambda xp: xp.array([1, 2]),
    "scalar": lambda xp: xp.array([1, 2])[1],
    "no axes": lambda xp: xp.array(2),
    "empty": lambda xp: xp.ones((0, 2)),
    "bool": lambda xp: xp.ones(2) > 0,
    "large": lambda xp: xp.ones(100_000) * 2,
}
OPERATIONS = [
    lambda x, other: x == other,
    lambda x, other: x != other,
    lambda x, other: other == x,
    lambda x, other: other != x,
    lambda x, other: np.equal(x, other),
]


@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize("other", THINGS, ids=lambda thing: type(thing).__name__)
def test_equal(array, other):
    for operation in OPERATIONS:
        x, y = (ARRAYS[array](xp) for xp in (np, la))
        try:
            want = operation(x, other)
        except Exception as error:
            with pytest.raises(type(error)):
                operation(y, other)
            continue
        got = operation(y, other)
        if isinstance(want, (str, bool)):
            assert got == want
        else:
            got = np.asarray(got)
            assert (got.dtype, got.shape, got.tolist()) == (want.dtype, want.shape, want.tolist())


def test_arrays_within_an_array_of_objects_are_no_elements():
    parts = np.empty(2, object)
    for values in ([[1, 2], [3]], [[1, 2], [3, 4]]):
        parts[:] = [la.array(v) for v in values]
        for dtype in (int, float, "f4"):
            with pytest.raises(ValueError, match="setting an array element with a sequence"):
                la.array(parts, dtype)
            with pytest.raises(ValueError, match="setting an array element with a sequence"):
                la.array([parts], dtype)


def test_a_class_may_have_another_answer_for_unequal_alone():
    class Odd:
        def __ne__(self, other):
            return other == 3

    x, a = la.arange(4), np.arange(4)
    np.testing.assert_array_equal(np.asarray(x != Odd()), a != Odd())
    np.testing.assert_array_equal(np.asarray(x == Odd()), a == Odd())
    assert bool(x[1] != Odd()) is bool(a[1] != Odd())


class Lends:
    """Tells of memory, as pictures do, and is no sequence."""

    def __init__(self, name, values):
        self.__dict__[name] = getattr(values, name)


@pytest.mark.parametrize("name", ["__array_interface__", "__array_struct__"])
def test_what_tells_of_its_memory_is_an_array(name):
    memory = np.array([1.0, 5.0, 2.0])
    for make in (lambda xp: xp.array([1.0, 2.0, 2.0]), lambda xp: xp.array([1.0, 2.0])[1]):
        for call in (*OPERATIONS, lambda x, o: x + o, lambda x, o: x < o, lambda x, o: o * x):
            got, want = (call(make(xp), Lends(name, memory)) for xp in (la, np))
            assert got.dtype == want.dtype and got.tolist() == want.tolist()


@pytest.mark.parametrize("kind", [np.ndarray, np.float64, la.ndarray, la.NDArray])
def test_a_class_of_arrays_is_no_array(kind):
    x = la.ones(2)
    for call in (
        lambda: x + kind,
        lambda: kind * x,
        lambda: la.sqrt(kind),
        lambda: la.add(x, kind),
    ):
        with pytest.raises(TypeError):
            call()
    assert la.array([kind]).dtype == object


def test_a_class_compares_as_any_object_also_where_classes_are_derived():
    class Mine(la.NDArray):  # from here on arrays have an __array_wrap__
        pass

    for x in (np.array([1, 2]), la.array([1, 2]), Mine((2,))):
        for kind in (la.NDArray, la.ndarray):
            assert np.equal(x, kind).tolist() == [False, False]


@pytest.mark.parametrize("at", [lambda x, o: x @ o, lambda x, o: o @ x])
@pytest.mark.parametrize(
    "other", [None, {1}, {1: 2}, "a", b"x", Plain()], ids=lambda o: type(o).__name__
)
def test_product_with_what_has_no_axes(other, at):
    """NumPy refuses it by a ValueError; strings by a TypeError."""
    for shape in ((), (3,), (2, 3)):
        errors = []
        for xp in (np, la):
            with pytest.raises((TypeError, ValueError)) as caught:
                at(xp.ones(shape), other)
            errors.append(issubclass(caught.type, ValueError))
        assert errors[0] == errors[1]
