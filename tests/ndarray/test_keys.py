"""Indices that are tuples of a class of their own: as tuples."""

from collections import namedtuple

import numpy as np
import pytest

import lazyarray as la

Place = namedtuple("Place", "row column")


class Mine(tuple):
    __slots__ = ()


KEYS = [
    Place(1, 2),
    Place(slice(1, 3), 2),
    Place([0, 2], [1, 4]),
    Mine((np.array([1, 2]), 0)),
    Mine((..., 1)),
    Mine(()),
    Mine((None, 1)),
]


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_named_places(key):
    x = np.arange(25).reshape(5, 5)
    y = la.array(x)
    assert y[key].tolist() == x[key].tolist()
    x[key] += 3
    y[key] += 3
    assert y.tolist() == x.tolist()
    x[key] = y[key] = -1
    assert y.tolist() == x.tolist()


def test_of_scalars():
    assert la.array([7])[0][Mine(())] == 7 and la.array([7])[0][Mine((None,))].tolist() == [7]


KEYS_WITH_ONE = [
    lambda i: i,
    lambda i: (i, slice(None, None, -1)),
    lambda i: (slice(None), i),
    lambda i: (..., i),
    lambda i: (None, i),
    lambda i: (1, i),
    lambda i: (slice(None), i, 0, ...),
]


@pytest.mark.parametrize("key", KEYS_WITH_ONE)
@pytest.mark.parametrize("pending", [False, True])
def test_what_an_array_without_axes_selects_is_a_copy(key, pending):
    x = np.arange(24).reshape(2, 3, 4)
    y, i = la.array(x), la.array(1)
    if pending:
        i *= la.arange(50_000).max() - 49_998
    want, got = x[key(np.array(1))], y[key(i)]
    assert got.strides == want.strides
    x += 100
    y += 100
    assert got.tolist() == want.tolist()
    scalar = np.arange(2)[1]
    assert la.shares_memory(y, y[key(la.array([0, 1])[1])]) and np.shares_memory(x, x[key(scalar)])


KEYS_WITH_NUMBERS = [
    lambda i, array: (i, array([True, False, True])),
    lambda i, array: (array([False, True, True, False]), slice(None), i),
    lambda i, array: (slice(1, None), i, array([2, 0])),
    lambda i, array: (i, slice(None), array([2, 0])),
    lambda i, array: (i, ..., array([2, 0])),
    lambda i, array: (..., i, array([2, 0])),
    lambda i, array: (i, i),
    lambda i, array: (..., i),
    lambda i, array: (i, i, i),
    lambda i, array: (i, i, i, ...),
    lambda i, array: (None, i, i, i),
    lambda i, array: (slice(None), i, slice(2)),
]


@pytest.mark.parametrize("key", KEYS_WITH_NUMBERS)
@pytest.mark.parametrize("i", [1, -2, 3])
def test_a_number_that_was_computed_selects_what_pythons_does(key, i, direct):
    x = np.arange(48).reshape(4, 3, 4)
    y, number = la.array(x), la.array([i, 0])[0]
    try:
        want = x[key(np.int64(i), np.array)]
    except IndexError:
        for act in (lambda k: y[k].wait_to_read(), lambda k: y.__setitem__(k, 1) or la.waitall()):
            with pytest.raises(IndexError):
                act(key(number, la.array))
        return
    got = y[key(number, la.array)]
    assert got.tolist() == want.tolist() and np.shares_memory(x, want) == la.shares_memory(y, got)
    x[key(i, np.array)] *= 3
    y[key(number, la.array)] *= 3
    assert y.tolist() == x.tolist()
    x[key(i, np.array)] = y[key(number, la.array)] = -1
    assert y.tolist() == x.tolist()


RANGES = [
    "x[range(3)]",
    "x[range(5, -1, -2)]",
    "x[range(0)]",
    "x[range(200), y]",
    "x[y, range(0, 400, 2)]",
    "x[range(-3, 0), range(3)]",
    "x[2, range(10)]",
    "x[1:4, range(3)]",
    "x[range(3), None, 0]",
    "x[[1, 2, 3], range(3)]",
    "x[range(2), range(3)]",
    "x[range(1000)]",
    "x[range(0, 10**30, 10**29)]",
    "x[None, range(3)]",
]


@pytest.mark.parametrize("text", RANGES)
def test_ranges(text, direct):
    """Softmax's gradient, as everybody writes it: ``x[range(n), y] -= 1``."""
    a = np.random.default_rng(0).random((400, 400))
    y = np.random.default_rng(1).integers(0, 400, 200)
    x, ours = la.array(a), la.array(y)
    got, want = [], []
    for found, space in ((got, {"x": x, "y": ours}), (want, {"x": a, "y": y})):
        for run in (text, f"{text} -= 1", f"{text} = 7"):
            try:
                exec(f"r = {run}" if run == text else run, space)
                found.append(np.asarray(space["x"]).tolist())
                found.append(np.asarray(space["r"]).tolist())
            except Exception as error:
                found.append(type(error))
    assert got == want


class Whole:
    """An integer to Python, as SymPy's are, and tensors of frameworks."""

    def __index__(self):
        return 1


class NoWhole:
    def __index__(self):
        raise TypeError("no integer")


@pytest.mark.parametrize("key", [*KEYS_WITH_ONE, lambda i: (la.arange(2)[1], i)])
def test_what_an_integer_of_another_class_selects_is_a_view(key):
    x = np.zeros((2, 3, 4))
    y = la.array(x)
    x[key(1)] += 1
    part = y[key(Whole())]
    part += 1
    assert y.tolist() == x.tolist()
    y[key(Whole())] = x[key(1)] = 5
    assert y.tolist() == x.tolist()


def test_an_element_and_rows_that_an_integer_of_another_class_selects():
    x = np.arange(12.0).reshape(3, 4)
    y = la.array(x)
    assert y[Whole(), Whole()] == x[1, 1] and isinstance(y[Whole(), Whole()], la.Scalar)
    assert y[Whole(), [0, 2]].tolist() == x[1, [0, 2]].tolist()
    assert y[Whole(), y[0] > 1].tolist() == x[1, x[0] > 1].tolist()
    with pytest.raises(IndexError):
        y[NoWhole()]
    with pytest.raises(IndexError, match="out of bounds"):
        y[:1, 1:][Whole()]


@pytest.mark.parametrize("key", [np.timedelta64(1, "D"), np.timedelta64(1)])
def test_a_timedelta_is_no_key(key):
    for x in (np.arange(3), la.arange(3), la.arange(6).reshape(2, 3)):
        with pytest.raises(IndexError, match="only integers"):
            x[key]


VALUES = {  # of shape (n, 1): the step along the last axis is nobody's
    "transposed row": lambda xp, n: xp.arange(1, n + 1).reshape(1, n).T,
    "column": lambda xp, n: xp.arange(2 * n).reshape(2, n).T[:, 1:],
    "backwards": lambda xp, n: xp.arange(n).reshape(1, n).T[::-1],
    "pending": lambda xp, n: (xp.arange(n) * 2).reshape(1, n).T,
    "a step": lambda xp, n: xp.arange(3 * n).reshape(1, 3 * n)[:, ::3].T,
    "one for all": lambda xp, n: xp.full((1, 1), 7),
}
PLACES_OF_A_COLUMN = {
    "one axis": (lambda n: (n,), lambda i: i),
    "two axes": (lambda n: (n, 5), lambda i: (i, [[3]])),
    "a number behind": (lambda n: (n, 1, 3), lambda i: (i, np.zeros((1, 1), int), -1)),
    "a slice before": (lambda n: (2, n), lambda i: (slice(None), i)),
}


@pytest.mark.parametrize("n", [1, 4, 2000])
@pytest.mark.parametrize("values", VALUES)
@pytest.mark.parametrize("places", PLACES_OF_A_COLUMN)
def test_values_with_an_axis_of_length_one_are_stored(places, values, n):
    """Its step in memory was taken for the step from value to value: all places got the first."""
    shape, key = PLACES_OF_A_COLUMN[places]
    i = np.random.default_rng(0).permutation(n).reshape(n, 1)
    x, y = np.zeros(shape(n), int), la.zeros(shape(n), int)
    x[key(i)] = VALUES[values](np, n)
    y[key(la.array(i))] = VALUES[values](la, n)
    assert y.tolist() == x.tolist()
