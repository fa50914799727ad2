"""The compiled tier has the bits of NumPy's loops, for all ops, dtypes and layouts."""

import itertools
import os
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
from numpy._core import _multiarray_umath as umath

import lazyarray as la
from lazyarray.lazy.cpu.jit._tier import _set_jit, compiled_loops, refused_loops

from .fusing import figures, same

pytest.importorskip("llvmlite", reason="llvmlite is not installed: nothing is compiled")
from lazyarray.lazy.cpu.jit import expressions, source
from lazyarray.lazy.cpu.jit.expressions import can_compile
from lazyarray.ops import elementwise

pytestmark = pytest.mark.host  # of loops compiled for CPUs

# Passes of small arrays, in tiles of a few hundred elements.
FUSED = {"inline_ns": 0, "fuse_ns": 0, "least": 256, "tile_bytes": 4096, "age_ns": 1e15}
DTYPES = list("?bHilLfd")  # the others differ from one of these by their name
COMPILED = [
    name
    for name, row in elementwise.TABLE.items()
    if row.nout == 1 and any(can_compile(name, t.replace("->", "")) for t in row.types)
]
LENGTHS = [1, 3, 8, 31, 65, 257, 1000]


def written(name, dtypes):
    """Whether there are instructions for an op on these dtypes."""
    values = [f"%{i}" for i in range(len(dtypes) - 1)]
    try:
        expressions.write(expressions.Writer(), name, dtypes, values, [True] * len(values))
    except expressions.Unknown:
        return False
    return True


def test_what_can_be_compiled_is_told_from_the_words_of_a_formula():
    loops = {(name, t.replace("->", "")) for name, row in elementwise.TABLE.items()
             for t in row.types if row.nout == 1}  # fmt: skip
    loops |= {("where", f"?{c}{c}{c}") for c in expressions.TYPES}
    held = {(name, t) for name, t in loops if set(t) <= set(expressions.TYPES)}
    assert len(held) > 500
    assert {x for x in held if can_compile(*x)} == {x for x in held if written(*x)}


def other_bits():
    """The loops that gave other bits than NumPy's."""
    return {text for text in refused_loops() if text.startswith("other bits")}


@pytest.fixture(autouse=True)
def eager():
    old = _set_jit("eager")
    refused = other_bits()
    with figures(**FUSED):
        yield
    assert other_bits() == refused
    _set_jit(old)


class Counter:
    """How many loops became ready since the last call."""

    last = 0

    def __call__(self):
        before, self.last = self.last, compiled_loops()["ready"]
        return self.last - before


compiled = Counter()


def special(c, n, seed):
    """Numbers of a dtype, among them those where loops may differ."""
    rng = np.random.default_rng([seed, n])
    if c == "?":
        return rng.random(n) < 0.5
    if c in "fd":
        info = np.finfo(c)
        odd = [
            0.0,
            -0.0,
            np.inf,
            -np.inf,
            np.nan,
            1,
            -1,
            info.max,
            info.tiny,
            info.smallest_subnormal,
            0.5,
            2.5,
        ]
        x = rng.normal(0, 100, n)
    else:
        info = np.iinfo(c)
        odd = [0, 1, info.max, info.min, info.max - 1, 2, 3]
        x = rng.integers(info.min // 2, info.max // 2, n, endpoint=True)
    x = np.where(rng.random(n) < 0.4, rng.choice(np.array(odd, c), n), x.astype(c))
    return x.astype(c)


def layouts(c, n, seed):
    """Operands of n elements: dense, with a step, backwards, one element for all."""
    yield special(c, n, seed)
    yield special(c, 3 * n, seed)[::3]
    yield special(c, n, seed)[::-1]
    yield np.broadcast_to(special(c, 1, seed), (n,))


def laid_out(a):
    """Ours, with NumPy's steps."""
    if a.base is None or a.ndim != 1:
        return la.array(a)
    if a.strides == (0,):
        return la.broadcast_to(la.array(a[:1]), a.shape)
    step = a.strides[0] // a.itemsize
    if step == -1:
        return la.array(a[::-1].copy())[::-1]
    wide = np.zeros(step * a.size, a.dtype)
    wide[::step] = a
    return la.array(wide)[::step]


def run(f, *arrays):
    """f of NumPy's arrays and of ours, which become one pass."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = f(np, *[a.copy() if a.flags.writeable else a for a in arrays])
        ours = [laid_out(a) for a in arrays]
        la.waitall()
        got = f(la, *ours)
        same(got, want)


def positive(m, x):
    """One more instruction, so that there is a chain."""
    return m.logical_not(x) if x.dtype.kind == "b" else m.positive(x)


@pytest.mark.parametrize("name", [*COMPILED, "clip"])
def test_every_op(name):
    ufunc = umath.clip if name == "clip" else getattr(np, name)
    compiled()
    for c in DTYPES:
        dtypes = c * ufunc.nin
        if name == "clip" and c in "fd":  # below
            continue
        if not any(t.startswith(dtypes) and can_compile(name, dtypes + t[-1]) for t in ufunc.types):
            continue
        for n in LENGTHS:
            kinds = list(layouts(c, n, 1))
            others = list(layouts(c, n, 2))
            third = [special(c, 1, 8)] if n % 2 else others[1:2]
            every = list(itertools.product(*[kinds, others, third][: ufunc.nin]))
            if ufunc.nin > 1 and name != "add":  # dense, steps and one, one and steps
                every = [every[i] for i in (0, 7, 13)]
            for operands in every:
                run(lambda m, *xs: positive(m, getattr(m, name)(*xs)), *operands)
        assert compiled() > 0, c


@pytest.mark.parametrize("c", "fd")
def test_clip_of_reals(c):
    compiled()
    bounds = [0, -0.0, 1.5, -20.0, np.nan, np.inf]
    for n in LENGTHS:
        for x in layouts(c, n, 1):
            for least, most in itertools.product(bounds, bounds):
                run(lambda m, x, a=least, b=most: positive(m, m.clip(x, a, b)), x)
    run(lambda m, x: positive(m, m.clip(x.reshape(25, 40), m.zeros(1, c), m.ones((1, 1), c))),
        special(c, 1000, 3))  # fmt: skip
    assert compiled() > 0


def test_clip_between_arrays_is_left_to_numpy():
    before = set(refused_loops())
    x, zeros = special("d", 1000, 1), np.zeros(1000)
    for least, most in ((zeros, 2.0), (-1.0, zeros), (zeros, zeros)):
        run(lambda m, x, a, b=most: positive(m, m.clip(x, a, b)), x, np.asarray(least))
    fresh = set(refused_loops()) - before
    assert fresh and all(text.startswith("not compiled") for text in fresh)


@pytest.mark.parametrize("source_dtype", DTYPES)
def test_casts(source_dtype):
    compiled()
    for target in DTYPES:
        if not can_compile("cast", source_dtype + target) or source_dtype == target:
            continue
        for n in (1, 7, 64, 257, 1000):
            for x in layouts(source_dtype, n, 3):
                run(lambda m, x, target=target: positive(m, positive(m, x).astype(target)), x)
    assert compiled() > 0


@pytest.mark.parametrize("c", [c for c in DTYPES if c not in "?fd"])
@pytest.mark.parametrize("name", ["left_shift", "right_shift"])
def test_shifts(name, c):
    compiled()
    bits = 8 * np.dtype(c).itemsize
    counts = [0, 1, 5, bits - 1, bits, bits + 3, 100] + ([-1, -bits] if c.islower() else [])
    for n in (7, 1000):
        x = special(c, n, 1)
        many = np.resize(np.array(counts, c), n)
        run(lambda m, x, by: positive(m, getattr(m, name)(x, by)), x, many)
        for by in counts:
            run(lambda m, x, by=by: positive(m, getattr(m, name)(x, np.dtype(c).type(by))), x)
    assert compiled() > 0


@pytest.mark.parametrize("c", [c for c in DTYPES if c != "?"])
def test_where(c):
    compiled()
    for n in LENGTHS:
        for x, y in itertools.product(layouts(c, n, 4), layouts(c, n, 5)):
            run(lambda m, x, y: m.where(m.greater(x, y), m.add(x, y), y), x, y)
    assert compiled() > 0


def test_comparisons_of_not_a_number_as_truth():
    x = special("d", 1000, 6)
    run(lambda m, x: m.logical_or(x, m.isnan(x)), x)
    run(lambda m, x: m.logical_and(x > 0, ~(x < 5)), x)


SHAPES = [(3, 700), (700, 3), (40, 41), (5, 6, 70), (1, 300), (300, 1), (2, 1, 300)]


@pytest.mark.parametrize("shape", SHAPES)
def test_axes(shape):
    """Transposed, sliced and broadcast operands of several axes."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, *shape))
    row, column = x[..., :1], x[:1]
    wide = rng.normal(size=tuple(2 * n for n in shape))
    for f in (
        lambda m, x, y, r, c, w: (x * y + 1) / (y * y + r),
        lambda m, x, y, r, c, w: (x - r) * (y - c) + r * c,
        lambda m, x, y, r, c, w: x.T * 2 + y.T * x.T,
        lambda m, x, y, r, c, w: w[tuple(slice(None, None, 2) for _ in x.shape)] * x + y,
        lambda m, x, y, r, c, w: (x[..., ::-1] + y) * 0.5 - x,
    ):
        compiled()
        run(f, x, y, row, column, wide)
    assert compiled_loops()["ready"] > 0


def updates(m, x, y):
    for k in range(3):
        x += 0.1 * y
        x *= 1 - 0.01 * x
        y -= x / (k + 1)
    return x, y


def stencil(m, x, y):
    for _ in range(2):
        y[1:-1] = 0.25 * (x[:-2] + 2 * x[1:-1] + x[2:])
        x[1:-1] = 0.5 * (y[:-2] + y[2:]) + 0.1 * x[1:-1]
    return x, y


def overlapping(m, x, y):
    x[1:] += 0.5 * x[:-1] + y[1:]
    x[:-1] = x[1:] * 2 - y[:-1]
    x[::-1] -= 0.1 * x * y
    return x, y


@pytest.mark.parametrize("program", [updates, stencil, overlapping])
@pytest.mark.parametrize("n", [4, 255, 256, 257, 1000, 5000])
def test_in_place(program, n):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, n))
    run(program, x, y)
    run(program, x.astype("f"), y.astype("f"))


def sums_of_rows(m, x, y, row, column, wide):
    z = x * y - column
    s = z.sum(-1)
    t = (z * row).sum(-1, keepdims=True)
    w = wide[..., ::2] + x
    u = w.sum(-1)
    v = m.where(x > y, w, x)
    return s, t, u, v.sum(-1), v - t, (z - s.reshape(t.shape)).sum(-1)


# Around NumPy's blocks of 8 and 128, and their halves; rows are 8,192 elements at most.
@pytest.mark.parametrize("n", [2, 7, 8, 9, 16, 31, 127, 128, 129, 136, 250, 257, 1000, 5003])
@pytest.mark.parametrize("c", "dflbH")
def test_sums_of_rows(c, n):
    rng = np.random.default_rng(n)
    shape = (max(2, 3000 // n), n)
    x, y, row, column, wide = (
        (rng.normal(0, 9, s) * 7).astype(c)
        for s in (shape, shape, (1, n), (shape[0], 1), (shape[0], 2 * n))
    )
    run(sums_of_rows, x, y, row, column, wide)
    if c in "df":
        x[rng.random(shape) < 0.01] = -0.0
        x[1], y[1], column[1] = -0.0, 0.0, 0.0  # sums of zeros with a sign
        run(sums_of_rows, x, y, row, column, wide)


@pytest.mark.parametrize("shape", [(6, 5, 70), (300, 1, 9), (2, 40, 200), (1, 500), (3, 4, 5, 33)])
def test_sums_of_axes(shape):
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(2, *shape))
    for f in (
        lambda m, x, y: (x * y + 1).sum(-1),
        lambda m, x, y: ((x.T - y.T) ** 2).sum(-1),
        lambda m, x, y: ((x - y) * 2).sum((-1, -2)),
        lambda m, x, y: (x[..., ::-1] * y + 3).sum(-1) * (y - x).sum(-1),
        lambda m, x, y: ((x[:, None] - y[None]) ** 2).sum(-1),
        lambda m, x, y: (x / (x * y).sum(-1, keepdims=True)).sum(-1),
        lambda m, x, y: (m.add(x, y, out=x) * 2).sum(-1) + x.sum(-1),
    ):
        run(f, x, y)


def test_sums_are_in_the_loop():
    a, b = la.array(np.ones((60, 70))), la.array(np.ones(70))
    for _ in range(3):
        ((a * b + 1).sum(1) + 2).wait_to_read()
    assert ", 3 instructions compiled" in la.explain()


def whole_sums(m, x, y):
    z = x * y - 2
    v = m.where(x > y, z, x)
    return z.sum(-1), (z * x).sum(-1), v.sum(-1), v - z, m.maximum(v - x, y).sum(-1, keepdims=True)


# Around NumPy's blocks, tiles, and more than what one tile has of a row.
@pytest.mark.parametrize("n", [7, 8, 127, 128, 129, 136, 1000, 4097, 20001, 70003])
@pytest.mark.parametrize("c", "dflbH")
def test_whole_sums(c, n):
    rng = np.random.default_rng(n)
    x, y = (rng.normal(0, 9, (2, n)) * 7).astype(c)
    # Tiles that are fetched ahead are done in parts.
    for ahead in ({}, {"stream": 0, "ns_per_byte": 1e9, "ahead_least": 600}):
        with figures(**ahead):
            run(whole_sums, x, y)
            run(whole_sums, x[::-1], y)
            run(whole_sums, np.stack([x, y, x]), np.stack([y, y, x])[:, ::-1])
            if c in "df":
                zeros = np.where(rng.random(n) < 0.3, -0.0, x * 0)
                run(whole_sums, zeros, np.full(n, -0.0, c))
                run(lambda m, x: (+x * 1).sum(-1), np.full(n, -0.0, c))


def test_whole_sums_are_in_the_loop():
    a, b = la.array(np.ones(30000)), la.array(np.ones(30000))
    for _ in range(3):
        s = ((a - b) ** 2 * 0.5).sum()
        assert s == 0
    assert ", 4 instructions compiled" in la.explain()


def test_a_flag_in_a_whole_sum_is_told():
    x = np.ones(20000)
    x[3000], x[17000] = 1.7e308, 1.7e308  # pieces that overflow only when they meet
    a = la.array(x)
    for _ in range(3):
        with pytest.warns(RuntimeWarning, match="overflow encountered in reduce"):
            s = (a * 1.0 + 1.0).sum()
            assert np.isinf(s)
    x[3001] = 1.7e308
    a = la.array(x)
    for _ in range(3):
        with pytest.warns(RuntimeWarning, match="overflow encountered in reduce"):
            assert np.isinf((a * 1.0 + 1.0).sum())


def sums_of_columns(m, x, y, row, column, wide):
    z = x * y - column
    w = wide[..., ::2] + row
    v = m.where(x > y, w, z)
    return z.sum(0), v.sum(0, keepdims=True), (z * row).sum(0), v - z, (z + 1).sum(0) * 2


# Around vectors of eight, and rows that are done at once.
@pytest.mark.parametrize("n", [2, 7, 8, 9, 16, 31, 63, 130, 257, 2000])
@pytest.mark.parametrize("c", "dflbH")
def test_sums_of_columns(c, n):
    rng = np.random.default_rng(n)
    for rows in (2, 7, 8, 9, max(10, 3001 // n)):
        shape = (rows, n)
        x, y, row, column, wide = (
            (rng.normal(0, 9, s) * 7).astype(c)
            for s in (shape, shape, (1, n), (rows, 1), (rows, 2 * n))
        )
        for ahead in (
            {},
            {"stream": 0, "ns_per_byte": 1e9, "ahead_least": 600},
            {"split_ns": 0, "panel": 8},
        ):
            with figures(**ahead):
                run(sums_of_columns, x, y, row, column, wide)
                run(sums_of_columns, x[::-1], y, row, column[::-1], wide)
        if c in "df":
            x[rng.random(shape) < 0.3] = -0.0
            y[:] = 0.0
            row[:] = -0.0
            column[:] = 0.0
            run(sums_of_columns, x, y, row, column, wide * 0)
            run(lambda m, x: (+x * 1).sum(0), np.full(shape, -0.0, c))


@pytest.mark.parametrize("shape", [(6, 5, 70), (300, 1, 9), (9, 40, 200), (500, 8), (3, 4, 5, 33)])
def test_sums_of_leading_axes(shape):
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=(2, *shape))
    inner = tuple(slice(1, -1) if n > 2 else slice(None) for n in shape)
    for f in (
        lambda m, x, y: (x * y + 1).sum(0),
        lambda m, x, y: ((x - y) * 2).sum((0, 1)),
        lambda m, x, y: ((x[inner] - y[inner]) ** 2).sum(0),
        lambda m, x, y: ((x[inner] - y[inner]) ** 2).sum(tuple(range(len(shape) - 1))),
        lambda m, x, y: (x[..., ::-1] * y + 3).sum(0) * (y - x).sum(0),
        lambda m, x, y: (x - x.mean(0)) / x.std(0),
        lambda m, x, y: (m.add(x, y, out=x) * 2).sum(0) + x.sum(0),
        lambda m, x, y: ((x * y).sum(-1), (x * y + 1).sum(0), (x - y).sum()),
        lambda m, x, y: (x[:, None] * y - 1).sum((0, 1)),
    ):
        run(f, x, y)


def test_sums_of_columns_are_in_the_loop():
    a, b = la.array(np.ones((60, 70))), la.array(np.ones(70))
    for _ in range(3):
        s = (a * b + 1).sum(0)
        s.wait_to_read()
    assert ", 3 instructions compiled" in la.explain()


def test_sums_of_columns_into_what_is_read():
    rng = np.random.default_rng(8)

    def f(m, x, v):
        for _ in range(3):
            v += (x * v - 1).sum(0)
            m.sum(x * 2 - v, axis=0, out=v)
            m.sum(x * 3 - 1, axis=0, out=x[4])
            x[0] = (x * x - x).sum(0)
            x[:] = x * 0.001 - (x * 0.5 + 1).sum(0, keepdims=True)
        return x, v

    for n in (8, 64, 300):
        run(f, rng.normal(size=(90, n)), rng.normal(size=n))


def on_a_line(m, x, y, row, column):
    """Of all of several axes: tiles are pieces of one line, through which some step unevenly."""
    z = (x - y) ** 2 + row * column
    w = m.where(x > y, z, x)
    x += column
    z *= 2
    return z.sum(), m.abs(x * 2 - w).max(), (w + z).min(), (x * row - 1).sum()


# Rows longer and shorter than tiles, and tiles that begin anywhere in one.
@pytest.mark.parametrize(
    "shape", [(7, 300), (300, 7), (40, 41), (3, 2001), (5, 9, 70), (70, 9, 3), (2, 300, 2)]
)
@pytest.mark.parametrize("c", "dfl")
def test_pieces_of_a_line(c, shape):
    rng = np.random.default_rng(len(shape))
    whole = tuple(n + 2 for n in shape)
    inner = (slice(1, -1),) * len(shape)
    other = (*(slice(None, -2),) * (len(shape) - 1), slice(2, None))
    x, y = (rng.normal(0, 9, (2, *whole)) * 7).astype(c)
    row = (rng.normal(0, 9, shape[-1]) * 7).astype(c)
    column = (rng.normal(0, 9, (*shape[:-1], 1)) * 7).astype(c)
    for ahead in ({}, {"stream": 0, "ns_per_byte": 1e9, "ahead_least": 600}, {"split_ns": 0}):
        with figures(row=100, **ahead):
            run(
                lambda m, x, y, r, k: (on_a_line(m, x[inner], y[inner], r, k), x), x, y, row, column
            )
            run(lambda m, x, y, r, k: on_a_line(m, x[other], y[inner], r, k), x, y, row, column)
            run(lambda m, x, y, r, k: on_a_line(m, x[inner], x[other], r, k), x, y, row, column)
            run(
                lambda m, x, y, r, k: on_a_line(m, x[inner], (y[inner] + 1), r, k),
                x,
                y,
                row,
                column,
            )
            run(
                lambda m, x, y, r, k: on_a_line(m, x[inner][..., ::-1], y[other], r, k),
                x,
                y,
                row,
                column,
            )


def test_pieces_of_a_line_are_compiled():
    a = la.array(np.arange(200.0 * 60).reshape(200, 60))
    b = a + 1
    for _ in range(3):
        s = ((a[1:-1, 1:-1] - b[1:-1, 1:-1]) * 3 + 1).sum()
        s.wait_to_read()
    assert s == -2 * 198 * 58
    assert ", 3 instructions compiled" in la.explain()


def test_a_flag_in_a_piece_of_a_line_is_told():
    x = np.ones((300, 50))
    x[233, 7] = 0
    a = la.array(x)
    for _ in range(3):
        with pytest.warns(RuntimeWarning, match="divide by zero encountered in divide"):
            s = (1 / a[1:-1, 1:-1] + 1).max()
            assert np.isinf(s)


def test_what_is_written_on_a_line_is_read_there():
    def f(m, x, y, row):
        x[...] = y * 2
        return ((x + row) * 3).sum()

    y = np.repeat([0.0, 1.5], [2000, 1000])[:, None] * np.ones(20)
    run(f, y * 5, y, np.arange(20.0))  # the tile that is compared shows nothing


def test_what_a_line_is_copied_to_may_have_other_steps():
    """The trial's own results lie in a row; they were written by the steps of the array."""

    def f(m, x, y, z):
        made = y / z
        x.T[...] = made
        return (made + 1).sum()

    rng = np.random.default_rng(9)
    for shape in ((4095, 7), (50, 60, 70)):
        y, z = rng.random(shape) + 1, rng.random(shape) + 1
        run(f, np.ones(shape[::-1]), y, z)


def test_sums_into_what_is_read():
    """Rows' results where others' operands are."""
    rng = np.random.default_rng(8)

    def f(m, x, v):
        for _ in range(3):
            v += (x * v[:, None] - 1).sum(1)
            m.sum(x * 2 - v[:, None], axis=1, out=v)
            x[:, 0] = (x * x - x).sum(1)
            x[:] = x - (x * 0.5 + 1).sum(1, keepdims=True)
        return x, v

    for n in (5, 64, 300):
        run(f, rng.normal(size=(90, n)), rng.normal(size=90))


@pytest.mark.parametrize(
    "axis, shape, places, at",
    [(1, (40, 200), ([3, 3], [5, 6]), 3), (0, (200, 40), ([3, 150], [5, 5]), 5)],
    ids=["rows", "columns"],
)
def test_a_flag_in_a_sum_is_told(axis, shape, places, at):
    x = np.ones(shape)
    x[places] = 1.7e308
    a = la.array(x)
    for _ in range(3):
        with pytest.warns(RuntimeWarning, match="overflow encountered in reduce"):
            s = (a * 1.0 + 1.0).sum(axis)
            s.wait_to_read()
        assert np.isinf(s.asnumpy()[at])
        assert (np.delete(s.asnumpy(), at) == 400).all()


def unused(m, x, y):
    z = x + 0
    w = 1 / z
    w[...] = z * 2
    del z
    return w + y


UNSEEN = {  # programs in which nobody needs what raises a flag
    "chosen": lambda m, x, y: m.where(x == 0, 0.0, y / x) + 1,
    "chosen seldom": lambda m, x, y: m.where(x > 0.75, 1 / x, 0) * y,
    "chosen of sums": lambda m, x, y: m.where(x == 0, 0.0, (y + 1) / x) + 1,
    "summed": lambda m, x, y: m.where(x == 0, 0.0, y / x).sum(-1),
    "summed otherwise": lambda m, x, y: (m.minimum(y / x, 3) + 1).sum(-1),
    "only asked about": lambda m, x, y: m.isnan(m.sqrt(x - 0.25)),
    "only compared": lambda m, x, y: (y / x > 2) & (y > 0),
    "largest": lambda m, x, y: m.maximum(m.minimum(y / x, 7), 1),
    "of whole numbers": lambda m, x, y: m.where(x == 0, 0, (x * 8).astype(int) / x) + y,
    "overwritten": unused,
    "narrowed": lambda m, x, y: m.where(x == 0, 1, (y / m.maximum(x, 1e-300)).astype("f4")),
}


def raised(f, *arrays):
    """What f does to arrays raises; the handler's block is over before it runs."""
    told = set()
    with np.errstate(all="call", call=lambda name, flags: told.add(name)):
        y = f(*arrays)
    np.asarray(y)
    return told


@pytest.mark.parametrize("what", UNSEEN)
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_a_flag_of_what_nobody_needs_is_told(what, dtype):
    def ours(x, y):
        return UNSEEN[what](la, x, y)

    for n, step in itertools.product((5, 64, 203, 1037), (1, 2)):
        x, y = (np.full((6, n * step), v, dtype)[:, ::step] for v in (0.5, 1))
        a, b = laid_out(x), laid_out(y)
        la.waitall()
        quiet = raised(lambda x, y: UNSEEN[what](np, x, y), x, y)
        for _ in range(3):  # the loop is tried, and then used
            assert raised(ours, a, b) == quiet
        for at in {0, 7 % n, n // 2, n - 1}:
            x[3, at] = a[3, at] = 0
            want = raised(lambda x, y: UNSEEN[what](np, x, y), x, y)
            assert want - quiet and raised(ours, a, b) == want, (n, at, step)
            x[3, at] = a[3, at] = 0.5


@pytest.mark.parametrize("length", [127, 128, 129, 200])  # kLongest is 256
def test_chains_of_few_operands(length):
    def f(m, x, y):
        z = x
        for _ in range(length):
            z = z * y - x
        return z, z + y

    compiled()
    with la.engine.bulk(1000):
        run(f, *np.random.default_rng(4).random((2, 900)))
    assert compiled() > 0


@pytest.mark.parametrize("length", [20, 40, 90, 200])
@pytest.mark.parametrize("inputs", [3, 30, 80])  # kPlaces is 64
def test_long_chains(length, inputs):
    """Many instructions, operands, constants, results: a chain ends where something doesn't fit."""

    def f(m, *xs):
        rng = np.random.default_rng([length, inputs])
        values, changed = list(xs), xs[: inputs // 3]
        kept = []
        for k in range(length):
            a, b = (values[i] for i in rng.integers(len(values), size=2))
            kind = rng.integers(6)
            if kind == 0:
                changed[int(rng.integers(len(changed)))].__iadd__(a * 0.25)
            elif kind == 1:
                values.append(m.where(a > b, a, 0.5 * b))
            else:
                values.append((a * float(k + 1) - b) * (1 / (k + 2)))
            if rng.random() < inputs / 200:
                kept.append(values[-1])
        return [*changed, *kept, values[-1]]

    rng = np.random.default_rng(3)
    compiled()
    with la.engine.bulk(1000):
        for n in (3, 700, 2000):
            run(f, *(0.5 + rng.random((inputs, n))))
    assert compiled() > 0


def test_a_temporary_that_others_read_too():
    def f(m, x):
        y = x * 2 + 1
        z = m.exp(y)  # not compiled: between two chains
        w = (z - y) * (z + y)
        return w.sum(), w * 0.5 - 1

    x = np.random.default_rng(2).normal(size=3000)
    with np.errstate(all="ignore"):
        run(f, x)


def test_a_flag_is_told_of_the_instruction_that_raised_it():
    x = np.ones(2000)
    x[1234] = 0
    a = la.array(x)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(2):  # the first compares, the second uses the loop
            y = (a + 0) * 3
            z = 1 / y - 5
            same(z, 1 / ((x + 0) * 3) - 5)
    ours = [str(w.message) for w in seen if w.filename == __file__ and w.lineno < 10**6]
    assert ours.count("divide by zero encountered in divide") >= 2
    assert not [m for m in ours if "multiply" in m or "subtract" in m]


def test_an_error_by_a_flag_is_that_of_its_op_alone():
    x = np.ones(2000)
    x[77] = 0
    for _ in range(3):
        a = la.array(x)
        before = a * 2 + 1
        with np.errstate(divide="raise"):
            bad = 1 / (a * 3)
        after = before * 2 - 1
        late = bad + 1
        for one in (bad, late):
            with pytest.raises(FloatingPointError, match="divide by zero encountered in divide"):
                one.wait_to_read()
        same(before, x * 2 + 1)
        same(after, (x * 2 + 1) * 2 - 1)


def test_in_place_where_a_flag_is_raised_nothing_is_done_twice():
    x = np.linspace(1, 2, 4000)
    y = x.copy()
    y[5] = y[3000] = 0
    with np.errstate(all="ignore"):
        want = x.copy()
        for _ in range(3):
            want += 1 / y
            want *= 0.5
    for _ in range(3):
        a, b = la.array(x), la.array(y)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(3):
                a += 1 / b
                a *= 0.5
            same(a, want)


def test_a_program_whose_results_begin_where_its_operands_end():
    """There two arrays have the same memory, and a loop that raises a flag must be done again."""

    def f(a, b):
        t = a @ b
        u = 1 / (t * 2) - (t + 1) * t
        return ((u > 0) * 1.0) @ b

    rng = np.random.default_rng(0)
    a, b = rng.integers(-2, 3, (2, 60, 60)).astype(float)
    g = la.compile(f)
    with np.errstate(all="ignore"):
        want = f(a, b)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(4):
            same(g(la.array(a), la.array(b)), want)


def test_a_failed_input_fails_what_needs_it():
    x = la.array(np.ones(1000))
    bad = la.linalg.inv(la.zeros((30, 30)))[0, 0]
    good = x * 2 + 1
    both = good * bad - 1
    same(good, np.full(1000, 3.0))
    with pytest.raises(np.linalg.LinAlgError):
        both.wait_to_read()


def test_many_threads_on_one_pass():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 400_000))
    with figures(split_ns=0, task_ns=1000):
        for _ in range(3):
            run(lambda m, x, y: (x * y + x - y) / (x * x + 1), x, y)
            run(updates, x, y)


def test_what_is_described_is_read():
    text = source.llvm_text(
        "2|d r d,f r s,? r 1,d w d|cast fd a1 t0,where ?ddd a2 a0 t0 t1|t1:a3", "loop_of_test"
    )
    assert "define void @loop_of_test" in text
    assert text.count("select") == 1


def test_explain_says_what_is_compiled():
    x, y = la.array(np.ones((2, 5000)))
    for _ in range(2):
        (x * y + 1).wait_to_read()
    assert "2 instructions compiled" in str(la.explain())


def test_loops_in_turn_share_their_scratch():
    """What each of 120 loops writes before it moves it took a place of its own."""

    def back(cp, dp):
        x = dp.copy()
        for i in range(len(x) - 2, -1, -1):
            x[i] = dp[i] - cp[i] * x[i + 1]
        return x

    cp, dp = np.random.default_rng(1).random((2, 120, 3000))
    ours = la.array(cp), la.array(dp)
    for _ in range(2):
        with figures(age_ns=1e15):
            got = back(*ours)
            got.wait_to_read()
        same(got.asnumpy(), back(cp, dp))
    found = re.findall(r"(\d+) bytes of scratch", str(la.explain()))
    assert found and max(map(int, found)) < 10 * dp[0].nbytes, found


# ---- in the background, in processes ------------------------------------------------------------


def test_rounds_of_a_loop_share_their_code():
    def work(x, y, n):
        for _ in range(n):
            a, b = x * 0.5, y * 0.25
            x, y = (a + b) * 0.5 + a, (a - b) * y
        return x, y

    a = np.random.default_rng(0).random(1000)
    compiled()
    made = []
    for n in (10, 15, 20, 25):  # chains of five rounds
        for _ in range(2):
            got = work(la.array(a), la.array(a[::-1].copy()), n)
            for mine, numpys in zip(got, work(a, a[::-1].copy(), n), strict=True):
                same(mine.asnumpy(), numpys)
        made.append(compiled())
    assert made[0] > 0 and not any(made[1:]), made


def python(code, **env):
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=250,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


WORK = """
import numpy as np, lazyarray as la, time
from lazyarray.lazy._lazy import _set_policy
from lazyarray.lazy.cpu.jit._tier import compiled_loops
_set_policy("compile_ns", 1e5)
x = np.random.default_rng(0).random(200_000)
def work(k, a):
    y = a * k + 1
    return (y - a) / (y + k)
def until(n):
    end = time.time() + 60
    while compiled_loops()["ready"] < n and time.time() < end:
        work(2.0, la.array(x)).wait_to_read()
    assert compiled_loops()["ready"] >= n, compiled_loops()
"""


def test_in_the_background():
    python(WORK + "until(1); assert (work(2.0, la.array(x)).asnumpy() == work(2.0, x)).all()")


def test_what_is_captured_is_compiled_at_once():
    python(
        WORK
        + """
_set_policy("compile_ns", 20e6)
f = la.compile(lambda a: work(2.0, a))
f(la.array(x)).wait_to_read()
end = time.time() + 60
while compiled_loops()["compiled"] + compiled_loops()["ready"] == 0 and time.time() < end:
    time.sleep(0.01)
assert compiled_loops()["compiled"] + compiled_loops()["ready"] == 1, compiled_loops()
for _ in range(3):
    assert (f(la.array(x)).asnumpy() == work(2.0, x)).all()
assert compiled_loops()["ready"] == 1
"""
    )


def test_nothing_is_described_before_it_may_be_worth_it():
    python(
        WORK
        + """
_set_policy("age_ns", 1e15)  # else a worker may cut the pass in two
described = []
for enough in (1e12, 1e12, 1.0, 1.0):
    _set_policy("compile_ns", enough)
    work(2.0, la.array(x)).wait_to_read()
    described.append(sum(compiled_loops().values()))
assert described == [0, 0, 1, 1], described
"""
    )


def test_off():
    code = (
        WORK
        + "\nfor _ in range(50): work(2.0, la.array(x)).wait_to_read()\nprint(compiled_loops())"
    )
    assert "'ready': 0" in python(code, LAZYARRAY_JIT="0")


def test_another_word_is_an_error():
    done = subprocess.run(
        [sys.executable, "-c", "import lazyarray"],
        env={**os.environ, "LAZYARRAY_JIT": "fast"},
        capture_output=True,
        text=True,
    )
    assert "ValueError: LAZYARRAY_JIT is 0, 1 or eager, not 'fast'" in done.stderr


def test_a_process_ends_while_it_compiles():
    for _ in range(3):
        python(WORK + "\nfor k in range(3): work(2.0, la.array(x)).wait_to_read()")


def test_fork():
    python(
        WORK
        + """
import os
until(1)
if os.fork() == 0:
    code = 1
    try:
        y = la.array(x)
        assert (work(2.0, y).asnumpy() == work(2.0, x)).all()
        z = (y * y - 1) * y
        for _ in range(20):
            z = (y * y - 1) * y
            z.wait_to_read()
        assert (z.asnumpy() == (x * x - 1) * x).all()
        code = 0
    finally:
        os._exit(code)
assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
assert (work(3.0, la.array(x)).asnumpy() == work(3.0, x)).all()
"""
    )
