"""Numbers of every kind stored in arrays of every dtype, where NumPy stores them, or its errors."""

import array
import warnings

import numpy as np
import pytest

import lazyarray as la

DTYPES = "? b B h H i I l L e f d F D".split()
NUMBERS = [
    0, 1, -1, 3, 127, 128, 255, 256, -129, 65504, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64,
    True, False, 0.0, -0.0, 0.5, 2.5, -0.5, -1.5, 1e-9, 1e-46, 1e5, 3e38, 4e38, 1e300, 9e15, 1e19,
    float("nan"), float("inf"), 1 + 0j, 1 + 2j,
]  # fmt: skip
SCALARS = [
    *(np.float32(v) for v in (2.5, -1.5, 1e30, np.nan)),
    *(np.float16(v) for v in (1.5, -3)),
    *(np.float64(v) for v in (2.5, 1e300, 1e-46)),
    *(np.int8(-3), np.uint8(200), np.int64(300), np.int64(-1), np.uint64(2**63), np.True_),
]
PLACES = {
    "element": lambda m, x, v: x.__setitem__(3, v),
    "element of two": lambda m, x, v: x.reshape(2, 4).__setitem__((1, 2), v),
    "part": lambda m, x, v: x.__setitem__(slice(1, 5, 2), v),
    "flat": lambda m, x, v: x.reshape(2, 4).T.flat.__setitem__(3, v),
    "list": lambda m, x, v: x.__setitem__(slice(2, 4), [v, 1]),
    "tuple": lambda m, x, v: x.__setitem__(slice(2, 5), (1, 0, v)),
    "nested": lambda m, x, v: x.reshape(2, 4).__setitem__(slice(None), [[1, 0, v, 1]]),
    "places": lambda m, x, v: x.__setitem__([1, 2], v),
    "fill": lambda m, x, v: x.fill(v),
}


def outcome(m, store, dtype, value):
    x = m.zeros(8, dtype)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            store(m, x, value)
            x = np.asarray(x)
        except (TypeError, ValueError, OverflowError) as error:
            return type(error)
    return x.tobytes(), sorted({w.category.__name__ for w in told})


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_numbers(place, dtype):
    for value in [*NUMBERS, *SCALARS]:
        if place == "flat" and isinstance(value, np.generic) and not -100 < value < 100:
            continue  # into integers ours is a ValueError, NumPy's any number
        want = outcome(np, PLACES[place], dtype, value)
        got = outcome(la, PLACES[place], dtype, value)
        assert got == want, (place, dtype, value)


@pytest.mark.parametrize("place", ["element", "part", "flat", "list", "fill"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_scalars(place, dtype):
    """Elements of arrays of ours, which are known, and of NumPy's."""
    for kind in "? b B h i l f d".split():
        for value in (0, 1, 3, 100, -1, 2.5):
            if (value == -1 and kind in "?B") or (value == 2.5 and kind not in "fd"):
                continue
            want = outcome(np, PLACES[place], dtype, np.array([value], kind)[0])
            got = outcome(la, PLACES[place], dtype, la.array([value], kind)[0])
            assert got == want, (place, dtype, kind, value)


def test_underflow_is_told():
    for store in (
        lambda m, x: x.__setitem__(3, np.float64(1e-46)),
        lambda m, x: x.__setitem__(3, m.array([1e-46])[0]),
        lambda m, x: x.__setitem__([1, 2], np.float64(1e-46)),
        lambda m, x: m.full(3, np.float64(1e-46), dtype="f4"),
    ):
        for m in (np, la):
            with m.errstate(all="raise"), pytest.raises(FloatingPointError, match="underflow"):
                store(m, m.zeros(8, "f4"))


@pytest.mark.parametrize(
    "value",
    [
        *([1], (1, 2, 3), range(3), np.ones(1), np.ones(3), np.ones((1, 1)), la.ones(3)),
        *(array.array("d", [1, 2, 3]), bytearray(3), memoryview(b"abc"), np.poly1d([1, 2, 3])),
    ],
)
def test_an_array_is_filled_with_one_number_only(value):
    x = la.arange(3.0)
    with pytest.raises(ValueError, match="setting an array element with a sequence"):
        x.fill(value)
    assert x.asnumpy().tolist() == [0, 1, 2]
    x.fill(la.array(2))
    assert x.asnumpy().tolist() == [2, 2, 2]


LISTS = [
    [0], [2.0], [[2.0]], (1,), [None], ["1"], [], (), [1, 2],
    *([np.float64(2)], [np.ones(1)], [la.ones(3).sum()], [la.ones(3)]),
]  # fmt: skip


@pytest.mark.parametrize("dtype", [*DTYPES, "g", "G"])
def test_lists_are_no_elements(dtype):
    """Of whatever, and however many: NumPy takes a bool's truth, and refuses all others."""
    for key, shape in ((1, (3,)), ((1, 2), (2, 3)), ((), ())):
        for value in LISTS:
            found = []
            for m in (np, la):
                x = m.zeros(shape, dtype)
                try:
                    x[key] = value
                    found.append(x.tolist())
                except (TypeError, ValueError) as error:
                    found.append((type(error), str(error)))
                    assert not x.any()
            assert found[0] == found[1], (key, value)


def test_floats_of_a_class_that_says_itself_what_it_is():
    class Half(float):
        def __float__(self):
            return float.__float__(self) / 2

    h = Half(8.0)
    for dtype in ("f8", "f4", "c16"):
        x = np.ones(2, dtype)
        y = la.array(x)
        x[0] = y[0] = h
        assert y.tolist() == x.tolist()
        if dtype != "c16":
            assert (y * h).tolist() == (x * h).tolist()
            assert la.maximum(y, h).tolist() == np.maximum(x, h).tolist()


@pytest.mark.host
@pytest.mark.parametrize("value", [np.nan, 1e30, 300.0, 2.5, -1.0])
@pytest.mark.parametrize("dtype", ["i1", "i8", "u1"])
def test_a_list_of_scalars_of_a_program(value, dtype):
    def outcome(m, make):
        scalar = (m.ones(2) * value)[0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return make(m, scalar).tolist()
            except (ValueError, OverflowError) as error:
                return type(error), str(error)

    for make in (
        lambda m, s: m.array([s], dtype),
        lambda m, s: m.array([1, s], dtype),
        lambda m, s: m.array([[1, 0], [0, s]], dtype),
        lambda m, s: m.asarray((s, s), dtype),
    ):
        assert outcome(la, make) == outcome(np, make)
