"""Functions that store against NumPy: by index, by mask, on a diagonal."""

import numpy as np
import pytest

import lazyarray as la
from lazyarray.functions import storing

from ..lazy.fusing import figures
from ..ops.compare import call, lay, layouts, same

X = np.arange(120.0).reshape(4, 5, 6)
I = np.array([2, 0, -1])
M = X > 50
BASES = [
    X,
    X.transpose(2, 0, 1).copy().transpose(1, 2, 0),
    np.asfortranarray(X),
    np.repeat(X, 2, 1)[:, ::-2],
]


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("put", (I, [1.0, 2.0])),
        ("put", ([], 1)),
        ("put", (range(0), 1)),
        ("put", (np.array([200]), 1)),
        ("put", (np.array([200]), 1, "clip")),
        ("putmask", (M, 5)),
        ("putmask", (M, np.arange(3.0))),
        ("place", (M, [1.0, 2.0])),
        ("place", (M, [])),
    ],
)
def test_storing(name, args):
    for a in BASES:
        want, x = a.copy("K"), la.array(a)
        try:
            getattr(np, name)(want, *args)
        except Exception as exc:
            with pytest.raises(type(exc)):
                getattr(la, name)(x, *args)
                x.wait_to_read()
            continue
        getattr(la, name)(x, *[la.array(v) if isinstance(v, np.ndarray) else v for v in args])
        same(x, want)
    with pytest.raises(TypeError):
        getattr(la, name)(a.tolist(), *args)


def test_numpys_arrays_are_changed_too():
    changes = [
        lambda m, x: m.put(x, [0], [5]),
        lambda m, x: m.put(x, m.array([1]), m.array([7.0])),
        lambda m, x: m.putmask(x, x == 5, -1),
        lambda m, x: m.place(x, x < 0, m.array([4.0])),
        lambda m, x: m.put_along_axis(x, m.array([[0], [1], [2]]), 8, 1),
        lambda m, x: m.fill_diagonal(x, m.inf),
        lambda m, x: m.fill_diagonal(x, m.arange(3.0)),
    ]
    x, want = np.ones((3, 3)), np.ones((3, 3))
    for change in changes:
        assert change(la, x) is None
        change(np, want)
        np.testing.assert_array_equal(x, want)


V, N, F = np.arange(3), np.arange(6.0).reshape(2, 3), np.arange(2, dtype="f4")


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize(
    "shape", [(3, 3), (2, 5), (7, 2), (3, 2), (4, 3), (2, 2, 2), (0, 2), (2, 3, 2), (4,)]
)
def test_fill_diagonal(shape, wrap):
    values = [5, 2.7, np.arange(1.0, 3), np.arange(50).reshape(2, 25), [7, 8, 9], np.array(3), []]
    for value in values:
        for dtype in ("f8", "i2"):
            for a in layouts(np.zeros(shape, dtype)):
                a = a.copy("K") if 0 in a.strides else a
                x = lay(a)
                given = la.array(value) if isinstance(value, np.ndarray) else value
                want = call(np.fill_diagonal, (a, value, wrap), {})
                got = call(la.fill_diagonal, (x, given, wrap), {})
                what = f"{a.shape} {a.strides} {value}"
                if isinstance(want, Exception):
                    assert isinstance(got, Exception), (what, want)
                else:
                    assert got is None, (what, got)
                    np.testing.assert_array_equal(x.asnumpy(), a, what)


DST = [np.zeros((2, 3)), np.zeros((2, 3), "i2"), np.zeros((2, 3), "F"), np.zeros((2, 3), bool)]
SRC = [1, 2.5, 300, True, 1j, N, V, np.float32(3), np.arange(4), [1, 2, 3], [[1], [2]]]


@pytest.mark.filterwarnings("ignore:Casting complex values")
@pytest.mark.parametrize("casting", ["same_kind", "unsafe", "safe", "no"])
@pytest.mark.parametrize(
    "where", [True, False, N > 2, V > 0, [True, False, True], [1, 0, 1], V, np.ones(4, bool)]
)
def test_copyto(where, casting):
    for dst in DST:
        for src in SRC:
            a = dst.copy()
            x = la.array(a)
            lazily = [la.array(o) if isinstance(o, np.ndarray) else o for o in (src, where)]
            want = call(np.copyto, (a, src), {"casting": casting, "where": where})
            with np.errstate(all="ignore"):
                got = call(la.copyto, (x, lazily[0]), {"casting": casting, "where": lazily[1]})
            if isinstance(want, Exception):
                assert isinstance(got, Exception), (dst.dtype, src, want)
                continue
            assert got is None, (dst.dtype, src, got)
            np.testing.assert_array_equal(x.asnumpy(), a)


def test_copyto_a_numpy_array_and_by_numpys_name():
    a, x = np.zeros(3), la.arange(3.0)
    la.copyto(a, x, where=x > 1)
    assert a.tolist() == [0, 0, 2]
    np.copyto(a, x)
    assert a.tolist() == [0, 1, 2]
    np.copyto(x, 5, where=x > 0)
    assert x.tolist() == [0, 5, 5]
    y = la.arange(4.0)
    la.copyto(y[1:], y[:-1])
    assert y.tolist() == [0, 0, 1, 2]
    with pytest.raises(ValueError, match="read-only"):
        la.copyto(la.broadcast_to(x, (2, 3)), 1)


def test_stores_do_not_wait():
    x = la.zeros((3, 3))
    with la.no_sync():
        la.fill_diagonal(x, la.arange(3.0) + 1)
        la.fill_diagonal(x, la.array(9.0) * 2)
        la.copyto(x, x + 1, where=x == 0)
    np.testing.assert_array_equal(x.asnumpy(), np.ones((3, 3)) + 17 * np.eye(3))


def test_nothing_to_place():
    for xp in (np, la):
        x = xp.arange(4)
        xp.place(x, [0, 0, 0, 0], [])
        with pytest.raises(ValueError, match="empty array"):
            xp.place(x, [0, 1, 0, 0], [])
        assert x.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("name", ["putmask", "place"])
@pytest.mark.parametrize("large", [False, True])
def test_masks_and_values_are_looked_at_in_the_call(name, large):
    n = 50_000 if large else 5  # small ones are NumPy's, at once
    x, few, halves = la.arange(n), la.ones(2, bool), la.full(n, 0.5)
    with la.engine.bulk(100):
        with pytest.raises(ValueError, match=f"^{name}: mask and data must be the same size$"):
            getattr(la, name)(x, few, 1)
        with pytest.raises(TypeError, match="Cannot cast array data from dtype"):
            getattr(la, name)(x, x > 1, halves)
        with pytest.raises(TypeError, match="Cannot cast scalar from dtype"):
            getattr(la, name)(x, x > 1, la.array(0.5))
    for number in (np.float64(2.5), halves[0] + 2):  # a number is cast, whatever it is
        getattr(la, name)(x, x > 1, number)
    assert x.tolist() == [0, 1] + [2] * (n - 2)


def test_put_at_no_place():
    x = la.arange(3)
    for mode in ("raise", "wrap", "clip"):
        la.put(x, [], 7, mode=mode)
        with la.engine.bulk(100), pytest.raises(IndexError, match="elements of an empty array"):
            la.put(la.zeros(0), [0], 7, mode=mode)
    assert x.tolist() == [0, 1, 2]


def test_what_is_wrong_with_a_store_is_told_at_the_call():
    """Also where the array is pending; it stays as it is."""
    calls = [
        (lambda xp, a: xp.put(a, 0, 1, mode="zz"), ValueError),
        (lambda xp, a: xp.put(a, 1j, 1), TypeError),
        (lambda xp, a: xp.put(a, xp.array(1.0), 1), TypeError),
        (lambda xp, a: xp.put(a, xp.array([1], "u8"), 1), TypeError),
        (lambda xp, a: xp.put(a, [0, 99], 1), IndexError),
        (lambda xp, a: xp.add.at(a, 0, [1, 2]), ValueError),
        (lambda xp, a: xp.add.at(a, (0, [0, 1]), [1, 2, 3]), ValueError),
        (lambda xp, a: xp.add.at(a, 1.0, 1), IndexError),
        (lambda xp, a: xp.add.at(a, xp.array([1.0]), 1), IndexError),
        (lambda xp, a: xp.add.at(a, [0, 99], 1), IndexError),
        (lambda xp, a: xp.put_along_axis(a, np.array([[9]]), 1, 0), IndexError),
    ]
    values = np.arange(12.0).reshape(3, 4)
    for store, error in calls:
        with pytest.raises(error):
            store(np, values.copy())
        x = la.array(values) * 1
        with pytest.raises(error):
            store(la, x)
        np.testing.assert_array_equal(x.asnumpy(), values)
    for index in (np.uint64(1), np.uint8(3), True):
        a, x = values.copy(), la.array(values) * 1
        np.put(a, index, 7)
        la.put(x, index, 7)
        np.testing.assert_array_equal(x.asnumpy(), a)


@pytest.mark.parametrize("shape", [(2**40, 0), (2**40, 0, 3), (3, 2**40, 0)], ids=str)
def test_nothing_is_stored_at_once_in_many_rows_of_nothing(shape, direct):
    """It took a step for each row."""
    x = la.ones(shape, "u1")
    x[...] = 2
    x.fill(3)
    x[...] = la.zeros(shape, "u1")
    assert x.size == 0 and la.full(shape, 7, "u1").shape == shape


def test_put_at_an_integer_of_another_class():
    class Whole:
        def __index__(self):
            return 1

    x = la.zeros(3)
    x.put(Whole(), 2.0)
    la.put(x, Whole(), x[1] + 1)
    assert x.tolist() == [0, 3, 0]
    assert la.take(x, Whole()) == 3


@pytest.mark.host  # NumPy's draws
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
def test_places_and_numbers_that_are_scalars_of_floats(dtype, direct):
    """NumPy cuts such a scalar to an integer, and refuses an array; a wait made no difference."""
    made = {}
    for xp in (np, la):
        x = xp.arange(6.0)
        i = xp.arange(4, dtype=dtype)[2]
        xp.put(x, i, 7.0)
        rng = xp.random.default_rng(3)
        drawn = [rng.binomial(i, 0.5, 5), rng.hypergeometric(i, 3, 2, 5), rng.multinomial(i, [1.0])]
        found = [
            x,
            xp.take(x, i),
            xp.repeat(x, i),
            *drawn,
            xp.random.RandomState(5).binomial(i, 0.5),
        ]
        made[xp] = [f.tolist() if xp is la else np.asarray(f).tolist() for f in found]
    assert made[la] == made[np]
    if dtype != "i4":
        for by in (la.take, la.repeat, lambda x, i: la.put(x, i, 1.0)):
            with pytest.raises(TypeError, match="Cannot cast"):
                by(la.arange(6.0), la.arange(3, dtype=dtype)[2:])


def test_an_integer_too_large_for_a_place_is_not_another_one(direct):
    x = la.arange(4.0)
    for at in (lambda i: la.put(x, i, 9.0), lambda i: x.put(i, 9.0), lambda i: la.take(x, i)):
        for i in (2**64 - 1, 2**63, 2**70, -(2**63) - 1):
            with pytest.raises(OverflowError):
                at(i)
    assert x.tolist() == [0, 1, 2, 3]


def test_a_mask_of_copyto_has_no_axis_more():
    for xp in (np, la):
        x = xp.zeros(3)
        for where in (xp.ones((1, 3), bool), xp.ones((2, 3), bool)):
            with pytest.raises(ValueError, match="could not broadcast"):
                xp.copyto(x, 1.0, where=where)
        assert x.tolist() == [0, 0, 0]
        xp.copyto(x, xp.ones((1, 3)), where=xp.array(True))  # the values may have one
        assert x.tolist() == [1, 1, 1]


@pytest.mark.parametrize("dtype", ["f8", "i2", "?"])
def test_arrays_of_one_dtype_are_copied_without_ado(dtype, monkeypatch):
    monkeypatch.setattr(storing, "out_array", None)
    x = (np.arange(120_000).reshape(300, 400) % 7).astype(dtype)
    with figures(direct_bytes=32768):
        for source in (x, x[:1], x[0], x[:, :1], x[::-1, ::-1]):
            y, want = la.zeros((300, 400), dtype), np.zeros((300, 400), dtype)
            la.copyto(y, la.array(source))
            np.copyto(want, source)
            same(y, want)
        y, want = la.array(x), x.copy()
        la.copyto(y[1:], y[:-1])
        np.copyto(want[1:], want[:-1])
        same(y, want)
        with pytest.raises(ValueError, match="could not broadcast"):
            la.copyto(y, la.zeros(7, dtype))
