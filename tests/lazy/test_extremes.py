"""The largest and the smallest of many floats, in parts and with what makes them: NumPy's bits."""

import numpy as np
import pytest

import lazyarray as la

from .fusing import figures

pytestmark = pytest.mark.host  # of the CPU's loops


def bits(x):
    """A result's bytes: zeros of both signs differ. (Six of a long double's are nobody's.)"""
    return np.asarray(x).tobytes()[:10]


def lines(n, c, seed):
    """Lines whose extremes are plain, zeros of either sign somewhere, and NaNs."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n).astype(c)
    yield x
    yield -np.abs(x) * (rng.random(n) < 0.5)  # 0.0 and -0.0 are the largest
    for at in (0, n // 3, n - 1):
        y = np.full(n, -0.0, c)
        y[at] = 0.0
        yield y
        yield -y
        z = x.copy()
        z[at] = np.nan
        yield z
        z = x.copy()
        z[at] = np.inf
        z[n // 2] = -np.inf
        yield z
    yield np.full(n, -0.0, c)
    y = np.full(n, np.nan, c)
    y[: n // 2] *= -1
    yield y


@pytest.mark.parametrize("n", [2, 17, 1000, 70_001, 300_000])
@pytest.mark.parametrize("c", "fdeg")
def test_long_lines_in_parts(c, n):
    with figures(split_ns=0, task_ns=5000):
        for x in lines(n, c, n):
            a = la.array(x)
            for step in (1, -1, 2):
                assert bits(a[::step].max()) == bits(x[::step].max())
                assert bits(a[::step].min()) == bits(x[::step].min())
            assert bits(a.reshape(-1, 1).max()) == bits(x.reshape(-1, 1).max())


PROGRAMS = {
    "abs": lambda m, x, y: m.abs(x - y).max(),
    "smallest": lambda m, x, y: m.abs(x - y).min(),
    "square": lambda m, x, y: ((x - y) ** 2).max(),
    "exp": lambda m, x, y: m.exp(x * 1e300 - 1).min(),
    "with a sum": lambda m, x, y: m.abs(x * y).max() + m.abs(x * y).sum(),
    "no abs": lambda m, x, y: (x * y).max(),
    "negative": lambda m, x, y: (-m.abs(x)).max(),
    "kept": lambda m, x, y: largest_of_changed(m, x, y),
    "a part": lambda m, x, y: m.abs(x - y)[1:-1].max(),
    "rows": lambda m, x, y: m.abs(x.reshape(-1, 2) * 0).max(0),
}


def largest_of_changed(m, x, y):
    """What was made without -0.0 is changed before it is reduced: all, in place, or a part."""
    z = m.abs(x)
    z *= -0.0
    u = m.abs(y)
    u[...] = x * -0.0
    v = m.abs(y) * 0
    v[3:5] = -0.0
    w = m.abs(x) * 0
    np_or_la = (z.max(), z.min(), u.max(), v.min(), v.max(), w.max())
    w -= 0.0
    return m.array([*np_or_la, w.min()])


@pytest.mark.parametrize("jit", ["0", "eager"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_extremes_of_what_is_made(name, jit):
    from lazyarray.lazy.cpu.jit._tier import _set_jit

    if jit == "eager":
        pytest.importorskip("llvmlite", reason="llvmlite is not installed: nothing is compiled")
    old = _set_jit(jit)
    program = PROGRAMS[name]
    rng = np.random.default_rng(3)
    try:
        for n in (6, 258, 5000, 40_002):
            x, y = rng.normal(size=(2, n))
            x[rng.random(n) < 0.3] = -0.0
            for u, v in (
                (x, y),
                (x * 0, y * 0),
                (-np.abs(x), y * 0),
                (x.astype("f"), y.astype("f")),
            ):
                for given in ({"row": 64, "least": 256, "tile_bytes": 4096}, {"split_ns": 0}, {}):
                    with (
                        figures(inline_ns=0, fuse_ns=0, age_ns=1e15, **given),
                        np.errstate(all="ignore"),
                    ):
                        for _ in range(2):
                            assert bits(program(la, la.array(u), la.array(v))) == bits(
                                program(np, u.copy(), v.copy())
                            )
                w = v.copy()
                w[n // 2] = np.nan
                with figures(inline_ns=0, fuse_ns=0, row=64), np.errstate(all="ignore"):
                    got = np.asarray(program(la, la.array(u), la.array(w)))
                assert np.array_equal(got, program(np, u.copy(), w.copy()), equal_nan=True)
    finally:
        _set_jit(old)


def test_the_largest_magnitude_is_found_in_one_pass():
    x, y = la.random.rand(50_000), la.random.rand(50_000)
    with figures(inline_ns=0, fuse_ns=0, age_ns=1e15):
        la.abs(x - y).max().wait_to_read()
    assert "2 temporaries never materialised" in la.explain()
