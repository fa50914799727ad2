"""Picks by indices are part of the pass that uses them: NumPy's numbers, each of its time."""

import numpy as np
import pytest

import lazyarray as la

from .fusing import SMALL, both, figures, same

pytestmark = pytest.mark.host  # GPUs gather by themselves


def bilinear(m, u, v):
    y, x = abs(v) % 1 * (u.shape[0] - 1.01), abs(u) % 1 * (u.shape[1] - 1.01)
    i, j = m.floor(y).astype("i8"), m.floor(x).astype("i8")
    p, q = y - i, x - j
    top = u[i, j] * (1 - q) + u[i, j + 1] * q
    return top * (1 - p) + (u[i + 1, j] * (1 - q) + u[i + 1, j + 1] * q) * p


def table(m, u, v):
    t = v[0]
    i = (abs(u) * 100).astype("i8") % len(t)
    return t[i] * u + t[-1 - i] * v


PROGRAMS = {
    "bilinear": bilinear,
    "a table": table,
    "by rows": lambda m, u, v: u[:, 0][(abs(v) * 10).astype("i4") % len(u)] + v,
    "sums": lambda m, u, v: (u.ravel()[(abs(v) * 10).astype("i8") % u.size] * v).sum(1),
    "columns": lambda m, u, v: (u.ravel()[(abs(v) * 10).astype("i8") % u.size] * v).sum(0),
    "all": lambda m, u, v: (u.ravel()[(abs(v) * 10).astype("i8") % u.size] - v).max(),
    "of a pick": lambda m, u, v: (t := v[0])[(abs(t) * 9).astype("i8") % len(t)][::-1] + t,
    "kept": lambda m, u, v: (r := u.ravel()[(abs(v) * 10).astype("i8") % u.size], r * 2),
    "with a roll": lambda m, u, v: m.roll(u, 1, 1) + u.ravel()[(abs(v) * 10).astype("i8") % u.size],
    "a transpose": lambda m, u, v: u.T.ravel()[(abs(v.T) * 9).astype("i8") % u.size] * v.T,
    "whole rows": lambda m, u, v: u[(abs(v[:, 0]) * 9).astype("i8") % len(u)] * v,
}


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name, small):
    rng = np.random.default_rng(3)
    for shape in [(7, 9), (2, 3), (40, 5)] if small else [(64, 64), (33, 1000), (3000, 3)]:
        u, v = rng.normal(size=(2, *shape))
        with figures(**SMALL if small else {}):
            both(PROGRAMS[name], u, v)


def overwrites_source_after(m, u, i):
    w = u[i] * 2
    u += 1
    return w + u


def overwrites_source_before(m, u, i):
    u *= 2
    return u[i] + u


def overwrites_indices_after(m, u, i):
    w = u[i] * 2
    i[...] = i[::-1].copy()
    return w + u[i]


def into_itself(m, u, i):
    u[...] = u[i]
    u[1:] = u[i][1:] + u[:-1]
    return u.copy()


def walks(m, u, i):
    for _ in range(5):
        u = 0.5 * u + 0.5 * u[i]
        i = i[i]
    return u


@pytest.mark.parametrize(
    "program",
    [
        overwrites_source_after,
        overwrites_source_before,
        overwrites_indices_after,
        into_itself,
        walks,
    ],
)
def test_what_is_read_is_of_its_time(program):
    rng = np.random.default_rng(4)
    for n in (7, 300):
        with figures(**SMALL):
            both(program, rng.normal(size=n), rng.permutation(n))
    both(program, rng.normal(size=90_000), rng.permutation(90_000))


@pytest.mark.parametrize("dtype", ["?", "i2", "f4", "f8", "D", "g"])
def test_dtypes_and_places(dtype):
    rng = np.random.default_rng(5)
    for n in (1, 2, 2049, 40_000):
        x = (rng.random((n, 3)) * 100).astype(dtype)
        a, i, j = la.array(x), rng.integers(-n, n, 5000), rng.integers(-3, 3, 5000)
        b, c = la.array(i), la.array(j)
        with la.engine.bulk(100):
            got = [a[b + 0, c + 0], a[:, 1][b + 0], a[::-1, ::2][b + 0, 1], a.ravel()[b * 3 // 3]]
        same(got[0], x[i, j])
        same(got[1], x[:, 1][i])
        same(got[2], x[::-1, ::2][i, 1])
        same(got[3], x.ravel()[i])


def test_one_pass():
    u, v = np.random.default_rng(0).normal(size=(2, 40, 30))
    with figures(**SMALL):
        ran = both(table, u, v)
    (ops,) = ran.stages
    assert ops.count("take") == 2
    assert ran.in_scratch.count("take") == 2


def test_indices_out_of_bounds():
    for n in (10, 50_000):
        x, i = np.arange(float(n)), np.arange(n)
        i[n // 2] = n + 3
        a, b, z = la.array(x), la.array(i), la.ones(n)
        la.waitall()
        with la.engine.bulk(100):
            y = a[b + 0] * 2
            other = a * 3
            z += a[b + 0]
        with pytest.raises(
            IndexError, match=f"index {n + 3} is out of bounds for axis 0 with size"
        ):
            y.wait_to_read()
        with pytest.raises(IndexError):
            z.wait_to_read()
        same(other, x * 3)
        same(a, x)
        m = la.array(x.reshape(2, -1))
        with la.engine.bulk(100):
            w = m[b * 0, b + 0] + 1
        with pytest.raises(IndexError, match="out of bounds for axis 1"):
            w.wait_to_read()
        found = None
        try:
            found = a[b + 0] + 1
        except IndexError:
            pass
        assert found is None


def test_gradients_and_captured():
    x = np.random.default_rng(7).normal(size=50)
    i = np.random.default_rng(8).integers(0, 50, 200)
    a, b = la.array(x), la.array(i)
    a.attach_grad()
    with la.autograd.record():
        y = (a[b] * a[b]).sum()
    y.backward()
    np.testing.assert_allclose(a.grad.asnumpy(), 2 * x * np.bincount(i, minlength=50))
    step = la.compile(lambda u, i: u[i] * 2 + u[i[::-1]])
    for _ in range(3):
        same(step(la.array(x), b), x[i] * 2 + x[i[::-1]])
