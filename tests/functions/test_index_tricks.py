"""Grids, index expressions, indices of parts, and stores: NumPy's values, errors and laziness."""

import math

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import asynchronous, call, check, layouts, rng, same

s_ = np.s_


@pytest.mark.parametrize(
    "key",
    [
        s_[0:3],
        s_[:3],
        s_[5:0:-2],
        s_[0:1:0.3],
        s_[0:1:4j],
        s_[0:1:1j],
        s_[0:9:3.7j],
        s_[np.float32(0) : np.float32(1) : 3j],
        s_[0:2, 0:3],
        s_[0:2, -1:1:5j, :2],
        s_[0:3:2, 1.5:4],
        s_[0:0, 0:3],
        s_[np.int8(0) : np.int8(3), 0:2],
        s_[0:5:0],
        s_[0:3, 1],
        s_[()],
        s_["a":2],
    ],
)
def test_grids(key):
    for name in ("mgrid", "ogrid"):
        want = call(getattr(np, name).__getitem__, (key,), {})
        got = call(getattr(la, name).__getitem__, (key,), {})
        if isinstance(want, Exception):
            assert isinstance(got, Exception), (name, want)
        else:
            same(got, want, strides=False)


def test_a_slice_may_hold_an_array():
    n = la.array(3)
    assert la.mgrid[:n].shape == (3,) and la.mgrid[0:n, 0:2].shape == (2, 3, 2)


V, M, F = np.arange(3), np.arange(6.0).reshape(2, 3), np.arange(2, dtype="f4")


@pytest.mark.parametrize(
    "key",
    [
        (V, 7, V),
        (slice(1, 4), 0, 4),
        (slice(-1, 1, 6j), [0] * 3, 5),
        (F, 1),
        (F, 1.5),
        (F, np.float64(1)),
        (np.uint8(1), 300),
        ("-1", M, M),
        ("0,2", V, V),
        ("0,2,0", V, V),
        ("1,2,0", V, slice(0, 3)),
        ("1,3,0", M, M),
        ("0,3,1", M, M),
        ("0,3,-1", M, M),
        ("0,4,2", M, V[None]),
        (M, V),
        (M, M[:1]),
        (),
        ("0",),
        ("x",),
        ("0,a",),
        (V, "0"),
        V,
        3,
        slice(3),
        True,
        (V.astype("i1"), True),
    ],
)
def test_joined(key):
    def lazily(o):
        return tuple(map(lazily, o)) if isinstance(o, tuple) else (
            la.array(o) if isinstance(o, np.ndarray) else o
        )  # fmt: skip

    for name in ("r_", "c_"):
        want = call(getattr(np, name).__getitem__, (key,), {})
        got = call(getattr(la, name).__getitem__, (lazily(key),), {})
        if isinstance(want, Exception):
            assert type(got) is type(want), (name, want, got)
        else:
            same(got, want, strides=False)


def test_joined_without_a_wait_and_without_matrices():
    x = la.arange(3.0)
    with la.no_sync():
        same(la.r_[x * 2, 1], np.r_[0.0, 2, 4, 1])
    for key in (("r", x), ("c", x), "a b; c d"):
        with pytest.raises(ValueError, match="no matrices"):
            la.r_[key]
    assert len(la.r_) == 0
    assert la.r_[la.ones(1, device=la.cpu(1)), 1:3].device == la.cpu(1)


def test_ix():
    for args in ([[0, 2], [1, 3]], [V], [V > 0, V], [[], [1]], [[True, False]], [np.zeros(0)], [3]):
        check("ix_", *[np.array(a) if isinstance(a, np.ndarray) else a for a in args])
    check("ix_", M)
    assert la.ix_() == ()
    with la.no_sync():
        a, b = la.ix_(la.arange(2) * 2, [0])
        assert (a.shape, b.shape) == ((2, 1), (1, 1))
        with pytest.raises(RuntimeError):
            la.ix_(la.arange(2) * 2 > 1)


def test_enumerations():
    assert list(la.ndindex(2, 1)) == [(0, 0), (1, 0)]
    assert list(la.ndenumerate(la.array(M))) == list(np.ndenumerate(M))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(6,), 6, (2, 3), (1, 3, 2), (2, 2)])
def test_unravel_index(shape, order):
    for a in [*layouts(rng.integers(0, 6, (2, 4))), np.zeros((0, 2), int), np.array(3, "u1")]:
        check("unravel_index", a, shape, order=order, strides=False)
    for a in (3, [1, 5], [], 1.5, -1, [99]):
        check("unravel_index", a, shape, order, strides=False)
    check("unravel_index", np.array([1.5]), shape)
    check("unravel_index", V, (2, -1))
    check("unravel_index", V, shape, "X")


@pytest.mark.parametrize("mode", ["raise", "wrap", "clip", ("clip", "wrap"), "none"])
def test_ravel_multi_index(mode):
    i, j = rng.integers(-3, 9, (2, 5))
    for index in ((abs(i) % 3, abs(j) % 4), (i, j), (i[:, None], 2), (i, j, i), (i * 1.0, j)):
        check("ravel_multi_index", index, (3, 4), mode=mode)
        check("ravel_multi_index", index, (3, 4), mode, "F")
    check("ravel_multi_index", np.array([i % 3, j % 4]), (3, 4), mode)
    check("ravel_multi_index", [2, 1], (3, 4), mode)


@asynchronous
def test_bounds_of_arrays_show_at_the_wait():
    x = la.arange(9) + 1
    rows, _ = la.unravel_index(x, (2, 3))
    with pytest.raises(ValueError, match="out of bounds"):
        rows.wait_to_read()
    flat = la.ravel_multi_index((x, x), (2, 3))
    with pytest.raises(ValueError, match="invalid entry"):
        flat.wait_to_read()
    with pytest.raises(ValueError):
        la.unravel_index([7], (2, 3))


def test_diagonal_and_triangle_indices():
    for n in (0, 1, 4):
        check("diag_indices", n)
        check("diag_indices", n, 3)
        for k in (-9, -1, 0, 2, 9):
            for m in (None, 0, 3, 7):
                check("tril_indices", n, k, m, strides=False)
                check("triu_indices", n, k, m, strides=False)
    for name in ("tril_indices", "triu_indices"):
        for k in (1.5, -1.5, 2.0, np.float64(0.5), None, "a"):
            check(name, 4, k, strides=False)
        check(name, 2.5, strides=False)
        check(name, 3, 0, 2.5, strides=False)
    check("tril_indices", -1)
    for a in (M, np.eye(3), np.zeros((2, 2, 2)), V):
        for name in ("diag_indices_from", "tril_indices_from", "triu_indices_from"):
            check(name, a, strides=False)
    check("triu_indices_from", M, k=1, strides=False)
    check("tril_indices_from", M, 1, strides=False)
    for k in (0, 1, -1):
        same(la.mask_indices(3, la.tril, k), np.mask_indices(3, np.tril, k), strides=False)
        same(la.mask_indices(3, np.triu, k), np.mask_indices(3, np.triu, k), strides=False)


@pytest.mark.parametrize(
    "shape", [(7,), (3, 5), (1, 1, 4), (1023, 1025), (2**20, 2**31), (3, 2**40, 7), (2**30, 2**32)]
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_unravel_index_of_many(shape, order):
    """At both ends of each row, where a quotient of doubles may be off by one."""
    total, row = math.prod(shape), shape[-1]
    rows = np.random.default_rng(0).integers(0, total // row, 4000)
    for of_row in (0, row - 1, row // 2):
        places = (rows * row + of_row).reshape(-1, 2)
        for x in (places, places[:9], places[:, 0], places.astype("u8")[:5]):
            check("unravel_index", x, shape, order, strides=False)
            same(
                la.unravel_index(la.array(x) + 0, shape, order),
                np.unravel_index(x, shape, order),
                strides=False,
            )
    for wrong in (-1, total):
        places = np.full(5000, total - 1)
        places[-1] = wrong
        check("unravel_index", places, shape, order, strides=False)
