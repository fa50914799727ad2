"""Casts equal NumPy's astype, for every pair of dtypes and layout."""

import numpy as np
import pytest

import lazyarray as la

DTYPES = "?bBhHiIlLqQefdgFDG"
rng = np.random.default_rng(0)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("target", DTYPES)
def test_cast(source, target):
    base = rng.integers(0, 100, (6, 10)) + (rng.random((6, 10)) if source in "efdgFDG" else 0)
    a = base.astype(source)
    for view in (lambda v: v, lambda v: v[::2, ::-1], lambda v: v.T, lambda v: v[0, 0]):
        want = view(a).astype(target)
        got = view(la.array(a)).astype(target)
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got.asnumpy(), want)


def test_unsupported_dtypes_say_so():
    for bad in ("O", "U3", "M8[s]", "S1"):
        with pytest.raises(TypeError, match="dtype"):
            la.zeros(3, dtype=bad)
        with pytest.raises(TypeError, match="dtype"):
            la.array(np.zeros(3, bad))
