"""Broadcasting against NumPy."""

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import call, same


def test_broadcast_arrays():
    parts = [np.arange(3.0), np.arange(2).reshape(2, 1), np.array(5, np.int8)]
    same(la.broadcast_arrays(*map(la.array, parts)), np.broadcast_arrays(*parts))
    with pytest.raises(ValueError, match="shape mismatch"):
        la.broadcast_arrays(la.zeros(2), la.zeros(3))
    with pytest.raises(ValueError, match="read-only"):
        la.broadcast_to(la.zeros(1), (3,))[...] = 1


FITTING = [
    (3,),
    (1,),
    (1, 3),
    (4, 3),
    (2, 1, 3),
    (0, 3),
    (2, 4, 0),
    (4, 1),
    (5, 2, 4, 3),
    (),
    (-1, 3),
]


@pytest.mark.parametrize("shape", FITTING, ids=str)
def test_broadcast_to(shape):
    whole = np.arange(24.0).reshape(2, 4, 3)
    mine = la.array(whole)
    for take in (
        lambda x: x,
        lambda x: x[0, 0],
        lambda x: x[0, 0, ::-1],
        lambda x: x[1, :, 1:2],
        lambda x: x[:1, :1, :1],
        lambda x: x[0, 0, 0, ...],
        lambda x: x[:, :0],
        lambda x: x[0].T[:, ::2].T,
    ):
        want = call(np.broadcast_to, (take(whole), shape), {})
        got = call(la.broadcast_to, (take(mine), shape), {})
        if isinstance(want, Exception):
            assert type(got) is type(want) and str(got) == str(want)
        else:
            same(got, want, strides=want.size > 0)
            assert got.size == 0 or not got.ndim or not got.flags.writeable
            assert not got.ndim or la.shares_memory(got, mine) == (got.size > 0)


def test_broadcast():
    a, b = np.arange(3).reshape(3, 1), np.arange(2.0)
    want, got = np.broadcast(a, b), la.broadcast(la.array(a), b)
    for name in ("shape", "ndim", "nd", "size", "numiter", "index"):
        assert getattr(got, name) == getattr(want, name), name
    assert next(got) == next(want) and got.index == want.index == 1
    assert list(got) == list(want)
    got.reset()
    assert got.index == 0 and len(list(got)) == 6
    with pytest.raises(ValueError):
        la.broadcast(la.ones(2), la.ones(3))
    with la.no_sync():
        assert la.broadcast(la.ones((2, 1)) * 2, la.ones(3)).shape == (2, 3)
    assert la.broadcast().shape == ()


def test_a_broadcast_of_many_and_of_shapes_that_do_not_fit():
    for n in (1, 2, 16, 17, 64):
        b = la.broadcast(*[la.ones((2, 1)), *[la.ones(3)] * (n - 1)])
        assert (b.shape, b.ndim, b.size, b.numiter) == ((2, 3) if n > 1 else (2, 1), 2, b.size, n)
        assert b.size == len(list(b))
    for arrays in ([(3,), (2,)], [(2, 1), (3,), (4, 1, 2)], [(2,)] * 70):
        with pytest.raises(ValueError) as theirs:
            np.broadcast(*map(np.ones, arrays))
        with pytest.raises(ValueError) as ours:
            la.broadcast(*map(la.ones, arrays))
        assert str(ours.value) == str(theirs.value)


def test_iterators_of_a_broadcast():
    def walked(xp):
        b = xp.broadcast(xp.array([1, 2]), xp.array([[3], [4]]))
        u, v = b.iters
        return [int(next(u)), int(next(u)), [int(k) for k in v], b.index, int(next(b)[0]), b.index]

    assert walked(la) == walked(np) and len(la.broadcast(1, 2, 3).iters) == 3
    with la.no_sync(), pytest.raises(RuntimeError, match="broadcast"):
        _ = la.broadcast(la.ones(3), 1).iters


def test_a_broadcast_of_broadcasts():
    for m in (np, la):
        inner = m.broadcast(m.zeros(3), m.ones((4, 1, 1)))
        b = m.broadcast(inner, m.zeros((2, 1)))
        assert (b.shape, b.numiter) == ((4, 2, 3), 3)


@pytest.mark.parametrize(
    "other",
    [
        ["a", "b"],
        None,
        np.array([1, None]),
        np.ma.array([1, 2]),
        np.zeros((2, 1), "i4,f4"),
        np.array(["2020"], "M8[D]"),
    ],
)
def test_broadcasts_of_what_numpy_holds(other):
    got, want = la.broadcast(la.arange(2.0), other), np.broadcast(np.arange(2.0), other)
    assert (got.shape, got.ndim, got.size) == (want.shape, want.ndim, want.size)
    assert list(got) == list(want)
