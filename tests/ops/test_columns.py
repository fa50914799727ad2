"""Vectors with a step, as the columns of a matrix are: the native ways take them, too."""

import numpy as np
import pytest

import lazyarray as la
from lazyarray.lazy._lazy import _stats

from ..lazy.fusing import same

pytestmark = pytest.mark.host
rng = np.random.default_rng(7)

# How a vector lies in its memory.
LAYOUTS = {
    "column": lambda xp, v: xp.array(np.stack([v, v[::-1], v], 1))[:, 0],
    "column of many": lambda xp, v: xp.array(np.tile(v[:, None], (1, 40)))[:, 7],
    "backwards": lambda xp, v: xp.array(v[::-1].copy())[::-1],
    "every other": lambda xp, v: xp.array(np.repeat(v, 2))[1::2],
    "broadcast": lambda xp, v: xp.broadcast_to(xp.array(v[:1]), v.shape),
}
CALLS = """
x[i]
X[i]
X[i, j]
X[i, 2]
X[2, j]
xp.take(x, i)
x.take(i)
xp.take_along_axis(x, i, 0)
put(x, i, 1.5)
put(x, i, f)
put(X, (i, j), f)
put(x, i, x[i] + 1)
xp.bincount(abs(i))
xp.bincount(abs(i), f)
xp.count_nonzero(i)
xp.count_nonzero(f)
xp.count_nonzero(c)
xp.nonzero(i)
xp.flatnonzero(c)
xp.where(c)
xp.where(c, f, g)
xp.argmax(f)
f.argmin()
xp.argsort(i)
xp.sort(f)
xp.sort(i)
xp.unique(i)
xp.cumsum(f)
xp.cumprod(f)
into(xp.cumsum, f, 0, out=f)
into(f.cumprod, 0, None, f)
into(xp.cumsum, g, 0, None, f)
into(xp.cumsum, x[:4], out=f[:4])
xp.diff(f)
xp.interp(f, s, g)
xp.interp(0.3, s, g)
xp.vdot(f, g)
xp.vdot(f, f)
xp.linalg.norm(f)
xp.linalg.norm(f, 1)
xp.average(f, weights=g)
xp.repeat(f, 3)
xp.tile(f, 2)
xp.append(f, g)
xp.insert(f, 3, 1.0)
xp.delete(f, 3)
xp.gradient(f)
xp.trapezoid(f)
xp.trapezoid(f, s)
xp.histogram(f)
xp.histogram(f, 5, (0, 1))
xp.allclose(f, g)
xp.isclose(f, g)
xp.array_equal(f, f2)
xp.searchsorted(s, f)
xp.compress(c, f)
xp.extract(c, f)
xp.choose(abs(j) % 2, [f, g])
xp.partition(i, 2)
xp.lexsort((j, i))
xp.isin(i, j)
xp.union1d(i, j)
""".split("\n")[1:-1]


def put(x, key, value):
    x[key] = value
    return x


def into(function, *args, **given):
    out = given["out"] if given else args[-1]
    function(*args, **given)
    return out


def operands(xp, n, lay):
    r = np.random.default_rng(n)
    vectors = {
        "i": r.integers(-6, 6, n),
        "j": r.integers(-4, 4, n),
        "c": r.random(n) < 0.5,
        "f": r.random(n),
        "g": r.random(n),
        "s": np.sort(r.random(n)),
    }
    found = {name: lay(xp, v) for name, v in vectors.items()}
    found |= {"x": xp.array(r.random(6)), "X": xp.array(r.random((6, 4)))}
    return found | {"f2": xp.array(np.asarray(found["f"])), "xp": xp, "put": put, "into": into}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("n", [4, 7, 300, 3000])
def test_columns_are_as_numpys(n, layout, direct):
    for call in CALLS:
        if layout == "broadcast" and call.startswith("into"):
            continue  # NumPy doesn't write to those
        want = eval(call, operands(np, n, LAYOUTS[layout]))
        same(eval(call, operands(la, n, LAYOUTS[layout])), want)


AT_ONCE = [
    "x[i]", "X[i, j]", "X[i, 2]", "x.take(i)", "put(x, i, 1.5)", "put(X, (i, j), f)",
    "xp.count_nonzero(i)", "xp.where(c, f, g)", "f.argmax()", "xp.sort(f)",
    "xp.interp(0.3, s, g)", "xp.choose(abs(j) % 2, [f, g])",
]  # fmt: skip


@pytest.mark.parametrize("layout", ["column", "column of many"])
def test_columns_run_at_once(layout, direct):
    if not direct:
        return
    for n in (30, 1000):
        given = operands(la, n, LAYOUTS[layout])
        for call in AT_ONCE:
            la.waitall()
            before = _stats()["recorded"]
            eval(call, given)
            assert _stats()["recorded"] == before, call


@pytest.mark.parametrize("dtype", "?bhilLqfdgFD")
@pytest.mark.parametrize("name", ["equal", "not_equal", "less", "greater_equal"])
def test_comparisons_of_mixed_orders(name, dtype):
    """An operand that is read by steps is copied, some of it at a time."""
    ours, numpys = getattr(la, name), getattr(np, name)
    rng = np.random.default_rng(0)
    for n in (1, 15, 16, 17, 100, 513, 1030):
        x = rng.integers(0, 3, (3, n, 6)).astype(dtype)
        if dtype in "fdg":
            x[0, ::3] = np.nan
        y = np.ascontiguousarray(x[::-1])
        a, b = la.array(x), la.array(y)
        with np.errstate(all="raise"), la.errstate(all="raise"):
            same(ours(a[0].T, b[0].T.copy()), numpys(x[0].T, y[0].T.copy()))
            same(ours(b[0].T.copy(), a[0].T), numpys(y[0].T.copy(), x[0].T))
            same(ours(a[0, :, 0], b[0, :, 1].copy()), numpys(x[0, :, 0], y[0, :, 1].copy()))
            same(ours(a[0, ::-1, 2], b[1, :, 1].copy()), numpys(x[0, ::-1, 2], y[1, :, 1].copy()))
            same(ours(a[1, :, 2], 1), numpys(x[1, :, 2], 1))
            same(ours(1, a[1, ::-1, 2]), numpys(1, x[1, ::-1, 2]))
            same(ours(a[:, :, 0], b[:, :, 0].T.copy().T), numpys(x[:, :, 0], y[:, :, 0]))
            out, want = la.zeros((n, 2), bool), np.zeros((n, 2), bool)
            ours(a[0, :, 1], a[0, :, 0].copy(), out=out[:, 1])
            numpys(x[0, :, 1], x[0, :, 0], out=want[:, 1])
            same(out, want)
