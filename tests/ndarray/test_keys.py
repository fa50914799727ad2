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
