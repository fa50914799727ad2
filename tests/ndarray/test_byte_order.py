"""Arrays have the machine's byte order; who asks for the other one gets it, in a NumPy array."""

import numpy as np
import pytest

import lazyarray as la

SWAPPED = ">" if np.little_endian else "<"
pytestmark = pytest.mark.filterwarnings("ignore::lazyarray.HostArrayWarning")


@pytest.mark.parametrize("kind", ["i2", "u4", "i8", "f4", "f8", "c8"])
def test_the_bytes_are_those_asked_for(kind):
    dtype, values = np.dtype(SWAPPED + kind), [1, 2, 300]
    x, y = np.array(values, kind), la.array(values, kind)
    for given in (dtype, dtype.str):
        assert y.astype(given).tobytes() == x.astype(given).tobytes()
        assert la.astype(y, given).dtype == dtype
        assert y[2].astype(given).tobytes() == x[2].astype(given).tobytes()
    assert (y * 2).astype(dtype).tolist() == (x * 2).tolist()


@pytest.mark.host  # NumPy's array on our memory
def test_a_view_of_the_other_byte_order_has_other_values_and_is_written_through():
    x, y = np.array([1, 2, 300], "i2"), la.array([1, 2, 300], "i2")
    seen, shown = x.view(SWAPPED + "i2"), y.view(SWAPPED + "i2")
    assert shown.tolist() == seen.tolist() and shown.dtype == seen.dtype
    seen[0] = shown[0] = 7
    assert y.tolist() == x.tolist()
    assert y.byteswap().view(y.dtype.newbyteorder()).tolist() == x.tolist()
    assert y.view(y.dtype.newbyteorder("=")).tolist() == x.tolist()


def test_what_is_read_from_the_other_byte_order_is_an_array():
    dtype = np.dtype(SWAPPED + "i4")
    raw = np.arange(3).astype(dtype)
    for x in (la.array(raw), la.asarray(raw), la.frombuffer(raw.tobytes(), dtype)):
        assert isinstance(x, la.NDArray) and x.dtype.isnative and x.tolist() == [0, 1, 2]


def test_bytes_have_no_byte_order():
    assert isinstance(la.array([1, 2], "u1").astype(SWAPPED + "u1"), la.NDArray)


@pytest.mark.parametrize(
    "make",
    [
        lambda xp, d: xp.zeros(3, d),
        lambda xp, d: xp.ones((2, 40000), dtype=d),
        lambda xp, d: xp.full(3, 7, d),
        lambda xp, d: xp.empty(3, d) * 0,
        lambda xp, d: xp.arange(300, dtype=d),
        lambda xp, d: xp.arange(30000, dtype=d),
        lambda xp, d: xp.linspace(0, 9, 10, dtype=d),
        lambda xp, d: xp.linspace(0, 9, 20000, dtype=d),
        lambda xp, d: xp.eye(3, dtype=d),
        lambda xp, d: xp.array([1, 2], d),
        lambda xp, d: xp.asarray(xp.arange(3), dtype=d),
        lambda xp, d: xp.zeros_like(xp.arange(3), dtype=d),
        lambda xp, d: xp.fromiter(iter([1, 2]), d),
        lambda xp, d: xp.concatenate([xp.arange(3)], dtype=d, casting="unsafe"),
    ],
)
@pytest.mark.parametrize("kind", ["i2", "f4", "f8"])
def test_arrays_are_made_with_the_bytes_asked_for(make, kind):
    dtype = np.dtype(SWAPPED + kind)
    for given in (dtype, dtype.str):
        x, y = make(np, given), make(la, given)
        assert x.dtype == y.dtype and x.tobytes() == y.tobytes()
