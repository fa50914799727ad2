"""``casting="equiv"`` beside Python's numbers, where NumPy's own ``resolve_dtypes`` crashes."""

import warnings

import numpy as np
import pytest

import lazyarray as la


@pytest.mark.parametrize("number", [3.0, 3, True, 1j])
@pytest.mark.parametrize("dtype", [None, "float32", "float64", "int64"])
@pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind", "unsafe"])
def test_numbers(number, dtype, casting):
    for function in ("add", "equal", "divide"):
        for other in (2.0, np.ones(3), np.ones(3, "f4"), np.ones(3, int)):
            found = []
            for xp in (np, la):
                x = la.array(other) if xp is la and isinstance(other, np.ndarray) else other
                try:
                    y = getattr(xp, function)(x, number, dtype=dtype, casting=casting)
                    found.append((y.dtype, y.tolist()))
                except TypeError:
                    found.append(TypeError)
            assert found[0] == found[1], (function, other)


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint64"])
def test_lost_imaginary_parts_are_told_of_once(dtype):
    """Also where a number is out of range, so that NumPy makes the copy."""
    x = np.array([1 + 2j, np.nan, 1e30] * 40)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = la.array(x).astype(dtype).asnumpy()
    texts = [str(w.message) for w in told]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(found, x.astype(dtype))
    assert sorted(texts) == [
        "Casting complex values to real discards the imaginary part",
        "invalid value encountered in cast",
    ]
