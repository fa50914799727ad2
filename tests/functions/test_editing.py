"""Elements repeated, added and removed, against NumPy."""

import numpy as np
import pytest

import lazyarray as la
from lazyarray.ops import _layout

from ..ops.compare import check, layouts, rng, same

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning"),
]

A = {
    (): np.array(3.5),
    (6,): np.arange(6.0),
    (2, 3): np.arange(6.0).reshape(2, 3),
    (4, 3): np.arange(12.0).reshape(4, 3),
    (2, 3, 4): np.arange(24.0).reshape(2, 3, 4),
    (1, 3, 1): np.arange(3.0).reshape(1, 3, 1),
    (0, 3): np.zeros((0, 3)),
}
ARRAYS = [v for a in A.values() for v in layouts(a)]


@pytest.mark.parametrize(
    "reps", [2, 1, 0, (2,), (2, 3), (1, 1), (3, 1, 2), [2, 2], (1, 2, 1, 2), ()]
)
def test_tile(reps):
    for a in ARRAYS:
        check("tile", a, reps)


@pytest.mark.parametrize("reps", [np.array([2, 0, 1]), np.array([True, False]), np.array(3)])
def test_tiles_by_arrays(reps):
    want = np.tile(np.arange(6).reshape(2, 3), reps)
    for given in (reps, la.array(reps), reps.tolist()):
        np.testing.assert_array_equal(la.tile(la.arange(6).reshape(2, 3), given), want)
    for xp in (np, la):
        with pytest.raises(TypeError):
            xp.tile(xp.ones(2), xp.array([2.0]))


@pytest.mark.parametrize(
    "repeats", [2, 0, 1, [1, 2], [3, 0, 1], np.array([2]), -1, [1.5, 2], [[1]]]
)
def test_repeat(repeats):
    for a in ARRAYS:
        for axis in (None, 0, 1, -1, 7):
            check("repeat", a, repeats, axis)
    check("repeat", A[2, 3], np.array([1, 0, 2, 1, 1, 1]))
    for dtype in ("u4", "u8"):  # the last is no index
        check("repeat", A[2, 3], np.array([1, 2], dtype), 0)


@pytest.mark.parametrize("dtype", ["f8", "u1", "D"])
@pytest.mark.parametrize("order", "CF")
def test_many_are_repeated_and_left_out_natively(dtype, order, monkeypatch):
    monkeypatch.setattr(_layout, "gil_op", None)
    for shape in [(60_000,), (70, 900), (9, 80, 100)]:
        x = np.asarray((rng.random(shape) * 99).astype(dtype), order=order)
        y = la.array(x)
        for axis in (None, *range(x.ndim)):
            n = x.size if axis is None else x.shape[axis]
            counts = rng.integers(0, 9, n)
            for times in (counts, counts % 2, counts * 0, np.where(counts == 8, 40, 0)):
                same(la.repeat(y, la.array(times), axis), np.repeat(x, times, axis))
            places = rng.integers(-n, n, n // 3)
            for gone in (places, np.sort(places), counts > 4):
                same(la.delete(y, la.array(gone), axis), np.delete(x, gone, axis))


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("append", (np.ones(2),)),
        ("append", (5, 0)),
        ("append", (np.ones((1, 3)), 0)),
        ("delete", (1,)),
        ("delete", (1, 0)),
        ("delete", ([0, 2], -1)),
        ("delete", (slice(None, None, 2), 0)),
        ("delete", (9, 0)),
        ("delete", (np.array([True, False, True]), 1)),
        ("insert", (1, 5.0)),
        ("insert", (0, np.ones((1, 1)))),
        ("insert", (1, 5.0, 0)),
        ("insert", ([0, 2], [1.0, 2.0], -1)),
        ("insert", (1, np.ones(3), 0)),
        ("insert", ([1], np.ones((2, 1)), 1)),
        ("insert", (slice(0, 2), 7, 1)),
        ("insert", (9, 1.0, 0)),
        ("insert", (1, np.ones(5), 0)),
        ("resize", ((3, 4),)),
        ("resize", (7,)),
        ("resize", ((0, 2),)),
        ("resize", ((-1, 2),)),
    ],
)
def test_append_insert_delete_resize(name, args):
    for a in ARRAYS:
        check(name, a, *args, strides=name not in ("delete", "insert"))


def test_trim_zeros_of_all_kinds():
    for a in ([0, 0, 0], [], [0.0, np.nan, 0], [0, 1j, 2, 0], [False, True], [5]):
        for trim in ("fb", "f", "b", "BF"):
            check("trim_zeros", np.array(a), trim)
    m = np.zeros((5, 6, 7))
    m[1:3, 2, 3:5] = [[1, 0], [0, np.nan]]
    for axis in (None, 0, 1, (0, 2), -1):
        check("trim_zeros", m, axis=axis)
        check("trim_zeros", np.zeros((2, 3, 4)), axis=axis)


F = rng.standard_normal((3, 4, 5))


def test_trimming():
    a = np.zeros((5, 6))
    a[1:3, 2:5] = F[:2, 0, :3]
    for x in (a, a.T, a[1:3], a[1], a[1] != 0, a[0], a * 0, np.array(3.0), np.zeros(0), a + 1j * a):
        for trim in ("fb", "f", "B", "bf", "x"):
            for axis in (None, 0, -1, (0, 1), (), 3):
                check("trim_zeros", x, trim, axis)
    x = la.array([0, 1, 2, 0])
    la.trim_zeros(x)[:] = 7  # a view
    assert x.tolist() == [0, 7, 7, 0]


@pytest.mark.parametrize("values", [[0, 1, 0, 2, 0], (0, 0), [1.5], [], (0.0, 3)])
def test_trimmed_sequences_stay_sequences(values):
    for trim in ("fb", "f", "b"):
        assert repr(la.trim_zeros(values, trim)) == repr(np.trim_zeros(values, trim))


@pytest.mark.parametrize("count", [2**62, 2**61 + 1])
def test_more_repeats_than_there_can_be(count):
    x = la.arange(4.0) + 1
    for counts in ([count] * 4, np.array([count] * 4)):
        with pytest.raises(ValueError, match="dimension"):
            la.repeat(x, counts)
