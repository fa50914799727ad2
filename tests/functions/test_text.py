"""Text of arrays is NumPy's text; its options hold; it waits."""

import numpy as np
import pytest

import lazyarray as la

A = np.linspace(-1, 1, 7).reshape(1, 7) ** 3


@pytest.mark.parametrize("a", [A, A.astype("f4"), np.arange(2000), np.array(2.5), np.array([1j])])
def test_arrays(a):
    x = la.array(a)
    for name in ("array2string", "array_repr", "array_str"):
        assert getattr(la, name)(x) == getattr(np, name)(a)
        assert getattr(la, name)(x, 30, 2, True) == getattr(np, name)(a, 30, 2, True)
    assert la.array2string(x, separator=",", prefix="x = ", threshold=3, sign="+") == (
        np.array2string(a, separator=",", prefix="x = ", threshold=3, sign="+")
    )


def test_numbers():
    for number in (0.1, np.float32(0.1), 1e22, np.float16(3.3)):
        for name in ("format_float_positional", "format_float_scientific"):
            for x in (number, la.array(number)):
                assert getattr(la, name)(x) == getattr(np, name)(number)
                assert getattr(la, name)(x, precision=3, unique=False, trim="-") == (
                    getattr(np, name)(number, precision=3, unique=False, trim="-")
                )
    assert la.base_repr(la.array(255), 16) == "FF" and la.binary_repr(la.array(5), 6) == "000101"


def test_options_hold_for_lazyarrays():
    x = la.array([1 / 3])
    with la.printoptions(precision=2):
        assert str(x) == "[0.33]" and la.get_printoptions()["precision"] == 2
    assert str(x) == "[0.33333333]"


def test_text_waits():
    x = la.ones(2) + 1
    with la.no_sync():
        for name in ("array2string", "array_repr", "array_str"):
            with pytest.raises(RuntimeError, match=name):
                getattr(la, name)(x + 1)
