"""What makes complex numbers real warns as NumPy does."""

import warnings

import numpy as np
import pytest

import lazyarray as la


def warned(function):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function()
        la.waitall()
    return {w.category for w in caught}


KEYS = [slice(None), ..., 0, [0, 1], np.array([True, False])]


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "bool", "c16"])
@pytest.mark.parametrize("key", KEYS, ids=str)
def test_stored(dtype, key):
    for value in ([1j, 2], 1j):
        found = []
        for xp in (np, la):
            x, v = xp.zeros(2, dtype), xp.array(value)
            if np.ndim(v) and np.zeros(2)[key].shape != (2,):
                v = v[:1] if np.ndim(np.zeros(2)[key]) else v[0]
            found.append(warned(lambda x=x, v=v: x.__setitem__(key, v)))
        assert found[0] == found[1]


def test_a_scalar_as_a_real_number():
    for xp in (np, la):
        z = xp.array([1.5 + 2j, 3])
        for kind in (float, int):
            with pytest.warns(np.exceptions.ComplexWarning):
                assert kind(z[0]) == kind(1.5)
            with pytest.warns(np.exceptions.ComplexWarning):
                assert kind(z.sum()) == kind(4.5)
            with pytest.raises(TypeError):
                kind(xp.array(1j))


@pytest.mark.host  # a GPU's kernels tell of no cast that fails: docs/gpu.md
def test_a_scalar_that_integers_cannot_hold():
    for xp in (np, la):
        x = xp.zeros(2, "i1")
        with (
            warnings.catch_warnings(action="ignore"),
            pytest.raises(OverflowError, match="out of bounds"),
        ):
            x[0] = xp.array([1e9 + 1j])[0]
