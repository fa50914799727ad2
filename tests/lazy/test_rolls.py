"""What is moved round is part of the pass that reads it: NumPy's numbers, each of its time."""

import functools
import itertools

import numpy as np
import pytest

import lazyarray as la

from .fusing import SMALL, both, figures, same

pytestmark = pytest.mark.host  # GPUs copy


def laplacian(m, u):
    return m.roll(u, 1, 0) + m.roll(u, -1, 0) + m.roll(u, 1, 1) + m.roll(u, -1, 1) - 4 * u


PROGRAMS = {
    "a stencil": lambda m, u, v: u + 0.1 * laplacian(m, u),
    "two of them": lambda m, u, v: (u + laplacian(m, u) - v, v + laplacian(m, v) * u),
    "several axes": lambda m, u, v: m.roll(u, (1, -2), (0, 1)) * v - m.roll(v, (-1, 1), (0, 1)),
    "one after the other": lambda m, u, v: m.roll(m.roll(u, 1, 0), -1, 1) + v,
    "as one line": lambda m, u, v: m.roll(u, 5) - m.roll(v, -3),
    "rows' sums": lambda m, u, v: (m.roll(u, 1, 1) * v).sum(1),
    "columns' sums": lambda m, u, v: (m.roll(u, 1, 0) * v).sum(0) + (m.roll(u, 1, 1) - v).max(0),
    "all": lambda m, u, v: (m.roll(u, 3, 1) * v).sum() + abs(m.roll(u, 1, 0) - v).max(),
    "by rows' results": lambda m, u, v: m.roll(u - u.mean(1, keepdims=True), 1, 1) * v,
    "a row": lambda m, u, v: u + m.roll(v[1], 1),
    "a transpose": lambda m, u, v: m.roll(u.T, 1, 0) + v.T,
    "parts": lambda m, u, v: m.roll(u[1:, ::2], -1, 1) + v[:-1, ::2],
    "dtypes": lambda m, u, v: m.roll(u > v, 1, 0) & (m.roll(u.astype("f4"), 1, 1) > v),
    "kept": lambda m, u, v: (r := m.roll(u, 1, 1), r + v),
}


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name, small):
    rng = np.random.default_rng(3)
    shapes = [(7, 9), (2, 3), (40, 5)] if small else [(64, 64), (33, 1000), (3000, 3), (300, 301)]
    for shape in shapes:
        u, v = rng.normal(size=(2, *shape))
        with figures(**SMALL if small else {}):
            both(PROGRAMS[name], u, v)


def overwrites_before(m, u, v):
    u += v
    return m.roll(u, 1, 1) * v + u


def overwrites_after(m, u, v):
    w = m.roll(u, 1, 1) + v
    u *= 2
    return w - u


def overwrites_between(m, u, v):
    a = m.roll(u, 1, 0)
    u += v
    b = m.roll(u, 1, 0)
    return a - b


def overwrites_part(m, u, v):
    a = m.roll(u, 1, 0) * v
    u[1:] = a[:-1]
    u[:, 0] = 0
    return a + m.roll(u, -1, 1)


def into_itself(m, u, v):
    u[...] = m.roll(u, 1, 0)
    u[:, 1:] = m.roll(u, 1, 1)[:, 1:] + v[:, 1:]
    return u.copy()


def steps(m, u, v):
    for _ in range(4):
        u = u + 0.1 * laplacian(m, u)
        v -= u
    return u


HAZARDS = [
    overwrites_before,
    overwrites_after,
    overwrites_between,
    overwrites_part,
    into_itself,
    steps,
]


@pytest.mark.parametrize("program", HAZARDS)
def test_what_is_read_is_of_its_time(program):
    rng = np.random.default_rng(4)
    for shape in [(7, 9), (41, 30)]:
        u, v = rng.normal(size=(2, *shape))
        with figures(**SMALL):
            both(program, u, v)
    u, v = rng.normal(size=(2, 300, 200))
    both(program, u, v)


def test_a_stencil_is_one_pass():
    u = np.random.default_rng(0).normal(size=(40, 30))
    with figures(**SMALL):
        ran = both(lambda m, u: u + 0.1 * laplacian(m, u), u)
    (ops,) = ran.stages
    assert ops[:4] == ["roll"] * 4 and "roll" not in ops[4:]
    assert ran.in_scratch.count("roll") == 4


@pytest.mark.parametrize("dtype", ["?", "i2", "f4", "f8", "D", "g", "G"])
def test_shapes_dtypes_and_places(dtype):
    rng = np.random.default_rng(5)
    for shape in [
        (1,),
        (2,),
        (4097,),
        (1, 5),
        (5, 1),
        (3, 4, 5),
        (2, 1, 3, 4),
        (2, 3, 4, 5),
        (2, 3, 2, 3, 2),
        (70, 130),
    ]:
        x = (rng.random(shape) * 100).astype(dtype)
        a, axes = la.array(x), range(len(shape))
        for shift in (0, 1, -1, 3, 1000):
            same(la.roll(a, shift), np.roll(x, shift))
            for axis in axes:
                same(la.roll(a, shift, axis), np.roll(x, shift, axis))
                same(la.roll(a[..., ::-1], shift, axis), np.roll(x[..., ::-1], shift, axis))
        for pair in itertools.combinations(axes, 2):
            same(la.roll(a, (1, 2), pair), np.roll(x, (1, 2), pair))
        same(la.roll(a, tuple(axes), tuple(axes)), np.roll(x, tuple(axes), tuple(axes)))
        same(la.roll(a, (1, 1), (0, 0)), np.roll(x, (1, 1), (0, 0)))


def test_larger_than_the_caches():
    rng = np.random.default_rng(6)
    u, v = rng.normal(size=(2, 1500, 1600))
    for name in ("a stencil", "several axes", "columns' sums", "all"):
        both(PROGRAMS[name], u, v)


def test_gradients_and_captured():
    x = np.random.default_rng(7).normal(size=(6, 8))
    a = la.array(x)
    a.attach_grad()
    with la.autograd.record():
        y = (la.roll(a, (1, 2), (0, 1)) * a).sum() + (la.roll(a, 3) ** 2).sum()
    y.backward()
    want = np.roll(x, (1, 2), (0, 1)) + np.roll(x, (-1, -2), (0, 1)) + 2 * x
    np.testing.assert_allclose(a.grad.asnumpy(), want)
    step = la.compile(lambda u: u + 0.1 * laplacian(la, u))
    u, b = x, la.array(x)
    for _ in range(5):
        u, b = u + 0.1 * laplacian(np, u), step(b)
    same(b, u)


def test_an_error_before_it_is_its_own():
    with figures(**SMALL):
        m = la.zeros((4, 4))
        bad = la.linalg.inv(m) + 1
        y = la.roll(bad, 1, 0) * 2
        with pytest.raises(la.linalg.LinAlgError):
            y.wait_to_read()


def test_the_total_of_several_axes():  # whose tiles are pieces of one line
    u = np.random.default_rng(8).normal(size=(20, 33, 21)).astype("f4")

    def total(m, u, v, ops):
        y = m.roll(u, 1, 0)
        for _ in range(ops):
            y = y * v + 1
        return y.sum()

    with figures(inline_ns=0, fuse_ns=0):
        for ops in (1, 30, 300):  # what the planner keeps of each op was written before its memory
            both(functools.partial(total, ops=ops), u, u[:, :1])
