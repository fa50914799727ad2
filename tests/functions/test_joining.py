"""Joining and splitting against NumPy: values, dtypes, layouts, errors."""

import itertools

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import asynchronous, call, check, layouts, rng, same

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


PARTS = [
    [np.ones((2, 3)), np.zeros((2, 3), "i4")],
    [np.ones((2, 3)).T, np.zeros((3, 2), "f4").T],
    [np.asfortranarray(np.ones((2, 3))), np.asfortranarray(np.zeros((4, 3)))],
    [np.asfortranarray(np.ones((2, 3))), np.ones((2, 3))],
    [np.arange(3), np.arange(4)],
    [np.ones((2, 3, 4)).swapaxes(0, 1), np.ones((2, 3, 4)).swapaxes(0, 1)],
    [np.ones((2, 3))],
    [np.ones(3), np.ones((1, 3))],
    [np.ones((2, 3)), np.ones((2, 4))],
    [np.ones((0, 3)), np.ones((2, 3), "?")],
    [np.array(1), np.array(2.0)],
    [np.arange(3, dtype="u1"), np.arange(3, dtype="i1")],
    [],
]


@pytest.mark.parametrize("parts", PARTS)
def test_joining(parts):
    for axis in (0, 1, -1, None, 5):
        check("concatenate", parts, axis)
        check("concat", parts, axis)
        check("stack", parts, axis if axis is not None else 2)
    for name in ("hstack", "vstack", "dstack", "column_stack"):
        check(name, parts)
    check("concatenate", parts, dtype="f4")
    check("concatenate", parts, dtype="i4")
    check("concatenate", parts, dtype="i4", casting="unsafe")


@pytest.mark.parametrize("shape", [(5,), (2, 3), (1, 4), (4, 1), (3, 2, 5), (0, 3), (40, 50)])
@pytest.mark.parametrize("dtype", ["d", "f", "q", "?", "D"])
def test_joining_arrays_in_any_order(shape, dtype, direct):
    full = np.arange(np.prod(shape) * 2 + 9).astype(dtype)

    def in_orders(xp):
        x, size = xp.array(full), int(np.prod(shape))
        whole = x[:size].reshape(shape)
        gaps = x[: size * 2].reshape(*shape[:-1], shape[-1] * 2)[..., ::2]
        turned = x[:size].reshape(shape[::-1]).T
        return whole, gaps, turned, xp.broadcast_to(x[: shape[-1]], shape), whole[::-1]

    for parts, want in zip(
        itertools.product(in_orders(la), repeat=2),
        itertools.product(in_orders(np), repeat=2),
        strict=True,
    ):
        for axis in range(len(shape)):
            same(la.concatenate(parts, axis), np.concatenate(want, axis))
            same(la.stack(parts, axis), np.stack(want, axis))
        same(la.stack(parts, -1), np.stack(want, -1))
        same(la.array(parts), np.array(want))
        same(la.array(parts, dtype=np.complex64), np.array(want, dtype=np.complex64))
        for name in ("hstack", "vstack", "dstack", "column_stack"):
            same(getattr(la, name)(parts), getattr(np, name)(want))


def test_concatenate_weak_scalars_and_out():
    check("concatenate", [np.ones(2, "f4"), 3.0, 1], None)
    check("concatenate", [np.ones(2, "f4"), 3.0])
    out = la.zeros((4,), dtype="f4")
    assert la.concatenate([la.ones(2), la.zeros(2)], out=out) is out
    same(out, np.array([1, 1, 0, 0], "f4"))
    for bad, error in [
        ({"out": la.zeros(3)}, ValueError),
        ({"out": la.zeros((4, 1))}, ValueError),
        ({"out": la.zeros(4, dtype="i4")}, TypeError),
        ({"out": out, "dtype": "f4"}, TypeError),
    ]:
        with pytest.raises(error):
            la.concatenate([la.ones(2), la.zeros(2)], **bad)
    x = la.arange(6)
    la.concatenate([x[3:], x[:3]], out=x)  # overlaps, part by part, as NumPy's
    a = np.arange(6)
    np.concatenate([a[3:], a[:3]], out=a)
    same(x, a)


@asynchronous
def test_join_is_poisoned_by_a_part():
    bad = la.linalg.inv(la.zeros((2, 2)))
    joined = la.concatenate([la.ones((2, 2)), bad, la.ones((2, 2))])
    with pytest.raises(np.linalg.LinAlgError):
        joined.asnumpy()


@pytest.mark.parametrize("how", [1, 2, 3, [1, 3], [2, 9], [], (1,), 0, -1, np.array([1, 2]), 1.5])
@pytest.mark.parametrize("name", ["split", "array_split", "hsplit", "vsplit", "dsplit"])
@pytest.mark.filterwarnings("error")
def test_splitting(name, how):
    for a in ARRAYS:
        check(name, a, how)
        if "array" in name or name == "split":
            check(name, a, how, axis=1)
            check(name, a, how, axis=-1)


@pytest.mark.parametrize("name", ["split", "array_split", "hsplit"])
def test_splitting_by_a_word(name):
    with pytest.raises(TypeError, match="indices_or_sections is a number or indices, not '2'"):
        getattr(la, name)(la.ones(4), "2")


def test_unstack():
    for a in ARRAYS:
        check("unstack", a, strides=a.ndim > 1)
        check("unstack", a, axis=-1, strides=a.ndim > 1)
        check("unstack", a, axis=1)
    x = la.zeros((2, 3))
    assert all(part.var == x.var for part in la.unstack(x))


T = rng.standard_normal((2, 3, 4))
V = np.arange(6.0)


O, I = np.ones((2, 2)), np.arange(6).reshape(2, 3)
BLOCKS = [
    [[O, I], [I, O]],
    [[O, I], [np.zeros((1, 5))]],
    [1, 2, V],
    [V, 1.5],
    [[V], [V]],
    [[1, 2], [3, 4]],
    [[[O, O]], [[O, O]]],
    [[T, T], [T, T]],
    [O[None], O],
    O,
    3,
    [I.T, I.T],
    [np.zeros((0, 2)), np.zeros((0, 3))],
    [],
    [[O], []],
    [[O], O],
    [(O, O)],
    (O, O),
    [[O, I], [O, O]],
    [O, I[:1]],
]


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_block(number):
    def lazily(o):
        if isinstance(o, (list, tuple)):
            return type(o)(map(lazily, o))
        return la.array(o) if isinstance(o, np.ndarray) else o

    want = call(np.block, (BLOCKS[number],), {})
    got = call(la.block, (lazily(BLOCKS[number]),), {})
    if isinstance(want, Exception):
        assert type(got) is type(want)
        if not str(want).startswith("all the input"):
            assert str(got) == str(want)
    else:
        same(got, want, strides=False)
        assert not isinstance(BLOCKS[number], np.ndarray) or not la.shares_memory(got, O)


@pytest.mark.parametrize("side", [100, 600])
def test_blocks_that_are_written_part_by_part(side):
    x = np.arange(side * side * 1.0).reshape(side, side)
    a = la.array(x)
    for build in (
        lambda u: [[u, u[:, :1]], [u[:1], u[:1, :1]]],
        lambda u: [[[u, u]], [[u, u]]],
        lambda u: [[u.T, u], [u, u.T]],
        lambda u: [[u[:0], u[:0]], [u, u]],
        lambda u: [[u, u], [u[:, :2]]],
        lambda u: [[u, u], [u, u[:-1]]],
        lambda u: [[u, u], u],
        lambda u: [[u, u], (u, u)],
        lambda u: [u.astype("f4"), u.astype("i1")],
    ):
        want, got = call(np.block, (build(x),), {}), call(la.block, (build(a),), {})
        if isinstance(want, Exception):
            assert type(got) is type(want) and str(got) == str(want)
        else:
            same(got, want)
    a.attach_grad()
    with la.autograd.record():
        y = (la.block([[a, a], [a[:1], a[1:2]]]) * 2).sum()
    y.backward()
    twice = np.full((side, side), 4.0)
    twice[:2] += 2
    same(a.grad, twice)


@pytest.mark.parametrize("side", [256, 257])  # NumPy writes the larger ones part by part
@pytest.mark.parametrize("order", ["C", "F", "K"])
@pytest.mark.parametrize("mixed", [False, True])
def test_the_layout_of_large_blocks(side, order, mixed):
    x = np.arange(side * side * 2.0).reshape(2, side, side)
    x = x.transpose(1, 0, 2) if order == "K" else np.asarray(x, order=order)
    other = x.astype("f4").copy() if mixed else x
    a, b = la.array(x), la.array(other)
    assert a.strides == x.strides
    for build in (lambda u, v: [[u], [v]], lambda u, v: [u], lambda u, v: [[[u]], [[v]]]):
        same(la.block(build(a + 1, b)), np.block(build(x + 1, other)))


def test_more_parts_than_there_could_be():
    for xp in (np, la):
        with pytest.raises(MemoryError):
            xp.array_split(xp.arange(3), 2**63)


@pytest.mark.parametrize("name", ["concatenate", "stack", "hstack", "vstack"])
@pytest.mark.parametrize("casting", ["no", "safe", "unsafe", "foo", None])
def test_casts_are_those_allowed(name, casting, direct):
    want = call(getattr(np, name), ([np.ones(2, int), np.ones(2)],), {"casting": casting})
    got = call(getattr(la, name), ([la.ones(2, int), la.ones(2)],), {"casting": casting})
    if isinstance(want, Exception):
        assert type(got) is type(want) and str(got) == str(want)
    else:
        same(got, want)


def test_joins_longer_than_an_index(direct):
    """Its length was negative."""
    part = la.zeros((0, 2**62), "i1")
    for join in (la.concatenate, la.hstack, lambda parts, axis=1: la.append(*parts, axis=1)):
        with pytest.raises(ValueError, match="negative dimensions are not allowed"):
            join([part, part], **({"axis": 1} if join is la.concatenate else {}))
