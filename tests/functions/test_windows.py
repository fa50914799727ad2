"""Windows and special functions equal NumPy's."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import asynchronous, check, layouts, pending, rng


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hanning"])
@pytest.mark.parametrize("M", [-3, 0, 1, 2, 3, 12, 51, 0.5, 7.5, True, np.int8(5), np.float32(9)])
def test_windows(name, M):
    check(name, M)


@pytest.mark.parametrize("M", [-3, 0, 1, 2, 3, 12, 51, 7.5])
@pytest.mark.parametrize("beta", [0, 5, 8.6, 14, np.float32(3)])
def test_kaiser(M, beta):
    check("kaiser", M, beta)


def test_large_windows_are_fused_and_equal():
    check("hanning", 20_000)
    check("kaiser", 20_000, 6.0)


@pytest.mark.parametrize("dtype", ["d", "f", "e", "g", "D", "F", "l", "b", "?"])
@pytest.mark.parametrize("name", ["i0", "sinc"])
def test_special_functions(name, dtype):
    for a in (rng.random((3, 4)) * 20 - 9, np.zeros(()), np.zeros((0, 3)), np.array([0, 1e-30, 8])):
        for x in layouts(a.astype(dtype)):
            check(name, x)


def test_of_other_things():
    check("sinc", 0.5)
    check("sinc", [0, 1])
    check("sinc", np.array([np.nan, np.inf]))
    check("i0", [1.0, 2.0])


@asynchronous
def test_nothing_waits():
    x = la.array(rng.random(5))
    with pending(x), la.no_sync():
        got = [la.sinc(x), la.i0(x), la.hanning(9), la.kaiser(5, 3.0), la.kaiser(5, x[0])]
    assert [g.shape for g in got] == [(5,), (5,), (9,), (5,), (5,)]
    np.testing.assert_array_equal(got[4].asnumpy(), np.kaiser(5, float(x[0])))


def test_a_lazy_length_is_waited_for():
    n = la.array(4)
    np.testing.assert_array_equal(la.hanning(n).asnumpy(), np.hanning(4))
    with la.no_sync(), pytest.raises(RuntimeError, match="no_sync"):
        la.hanning(n)


@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hanning"])
def test_windows_of_long_doubles(name):
    for M in (np.longdouble(7), np.longdouble(0), np.longdouble(2.5)):
        check(name, M)
    check("kaiser", np.longdouble(7), 3)


@pytest.mark.filterwarnings("ignore::lazyarray.HostArrayWarning")
@pytest.mark.parametrize("number", [-(2**70), Fraction(5, 2), Decimal(4), "a", 1j, None])
@pytest.mark.parametrize("name", ["bartlett", "blackman", "hamming", "hanning"])
def test_numbers_of_samples_that_are_objects(name, number):
    """They were AttributeErrors."""
    found = []
    for xp in (np, la):
        try:
            window = getattr(xp, name)(number)
            found.append((window.dtype, window.tolist()))
        except Exception as error:
            found.append(type(error))
    assert found[0] == found[1]
