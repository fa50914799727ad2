"""What NumPy returns as a scalar is a Scalar here; its arrays without axes are arrays."""

import collections.abc

import numpy as np
import pytest

import lazyarray as la

from . import samples

CALLS, _ = samples.load()
NAMES = sorted(name for name in CALLS if samples.look(np, name, None) is not None)


def wrong_kinds(got, want, path="result"):
    """Where lazyarray gives an array for NumPy's scalar, or the reverse."""
    if isinstance(want, dict):
        for key in want:
            yield from wrong_kinds(got[key], want[key], f"{path}[{key!r}]")
    elif isinstance(want, (tuple, list)):
        for i, (g, w) in enumerate(zip(got, want, strict=True)):
            yield from wrong_kinds(g, w, f"{path}[{i}]")
    elif isinstance(want, (np.generic, bool, int, float, complex)):
        if isinstance(got, la.NDArray) and not isinstance(got, la.Scalar):
            yield f"{path}: NumPy's is a {type(want).__name__}, here an array"
    elif isinstance(want, np.ndarray):
        if isinstance(got, la.Scalar):
            yield f"{path}: NumPy's is an array, here a {type(got).__name__}"
    elif isinstance(want, collections.abc.Iterator):
        yield from wrong_kinds(list(got), list(want), path)


@pytest.mark.parametrize("name", NAMES)
def test_what_numpy_returns_as_a_scalar(name):
    for expression in CALLS[name]:
        want, _given = samples.run(expression, np)
        got, _given = samples.run(expression, la)
        assert list(wrong_kinds(got, want)) == [], expression
