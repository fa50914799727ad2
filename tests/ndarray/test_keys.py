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
