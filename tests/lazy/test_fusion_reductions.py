"""Fused elementwise work and reductions over every dtype, size, layout and figure."""

import numpy as np
import pytest

import lazyarray as la
from lazyarray import engine

from .fusing import SMALL, both, explained, figures, grid, same

rng = np.random.default_rng(0)
SIZES = [1, 2, 7, 8, 9, 15, 16, 17, 127, 128, 129, 1000, 8191, 8193, 100_001]
DTYPES = ["f2", "f4", "f8", "g", "F", "D", "i1", "i4", "i8", "u2", "?"]


@pytest.fixture(autouse=True)
def small():
    with figures(**SMALL), engine.bulk(1 << 20):
        yield


def values(shape, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind in "fc":
        out = rng.standard_normal(shape)
        if dtype.kind == "c":
            out = out + 1j * rng.standard_normal(shape)
    else:
        out = rng.integers(0, 2 if dtype.kind == "b" else 100, shape)
    return np.asarray(out).astype(dtype)


# ---- elementwise -------------------------------------------------------------------------------


def test_comparisons_and_where():
    def program(m, a, b):
        c = (a > b) & (a != 0.5) | m.isfinite(b)
        return [c, m.where(c, a * 2, b - 1), m.where(a < b, 0, a + 1), m.where(a < 0.3, b, 2.5)]

    a, b = values(50, "f8"), values(50, "f8")
    how = both(program, a, b)
    assert len(how.passes) == 3  # which have only inputs in common


def test_where_of_three_expressions_is_one_pass():
    a = values(50, "f4")
    how = both(lambda m, a, b: [m.where(a * 2 > b, a + b, a - b) * 3], a, -a)
    assert len(how.stages) == 1 and how.temporaries == 5


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("source", ["?", "i1", "u2", "i8", "f2", "f4", "f8", "g", "F"])
def test_casts_within_a_pass(source):
    def program(m, a):
        return [
            ((a.astype("f4") * 2).astype("i4") + 1).astype("u1") * 2,
            (a.astype("i2").astype("f2") + a).astype("f8") / 3,
            a.astype("F").astype("D") * 1j,
        ]

    how = both(program, np.abs(values(60, source)))
    assert len(how.stages) < 12


def test_mixed_dtypes():
    def program(m, i, f, h, b):
        x = i + f
        y = h * i + b
        return [x * y, x - b, (y > x) + i, i / 3 + h, i // 4 % 5, b * 2.5]

    both(program, values(70, "i4"), values(70, "f4"), values(70, "f2"), values(70, "?"))


def test_python_scalars():
    def program(m, f, i):
        return [(2 - f) / 3 + True, 1.5 * i - 2, (i + 1) % 3 * 2j, f * 1e300, 5 - i, (i > 3) * 2]

    both(program, values(70, "f4"), values(70, "i2"))


@pytest.mark.parametrize("tile", [1, 8, 200, 65536])
def test_broadcasting(tile):
    def rows(m, x, r, c):
        return [(x * 2 + r) / (c + 3), r + c, (x - r) * c - x]

    def distances(m, x, c):
        d = x[:, None, :] - c[None]
        return [(d * d).sum(axis=2), m.sqrt((d**2).sum(-1)).min(axis=1), d]

    def column_first(m, x, r, c):
        t = c + r
        t *= x
        t += r
        return [t, (c * 2 + r) * 3]

    x, r, c = values((9, 14), "f8"), values(14, "f8"), values((9, 1), "f8")
    with figures(tile_bytes=tile, least=1):
        both(rows, x, r, c)
        both(column_first, x, r, c)
        both(distances, values((11, 5), "f4"), values((4, 5), "f4"))


def test_adam():
    def program(m, w, v, s, g):
        for t in range(1, 4):
            v *= 0.9
            v += 0.1 * g
            s *= 0.999
            s += 0.001 * g * g
            w -= 0.01 * (v / (1 - 0.9**t)) / (m.sqrt(s / (1 - 0.999**t)) + 1e-8)
        return []

    arrays = [values((12, 11), "f4") for _ in range(4)]
    arrays[2] = np.abs(arrays[2])
    how = both(program, *arrays)
    assert len(how.passes) == 1 and how.temporaries == 3 * 9


def test_slice_assignment_and_fill():
    def program(m, a, b):
        a[...] = b * 2
        a[:] = a + 1
        b.fill(3) if m is np else b.__setitem__(..., 3)
        b += a
        a[2:5, ::2] = b[2:5, ::2] - 1
        a[0] = 7
        return [a * b]

    both(program, values((6, 8), "f8"), values((6, 8), "f8"))


# ---- reductions --------------------------------------------------------------------------------


def softmax(m, x, axis=-1):
    e = m.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def layer_norm(m, x):
    mean = x.mean(axis=-1, keepdims=True)
    centred = x - mean
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    return centred / m.sqrt(variance + 1e-5)


def logsumexp(m, x, axis=-1):
    top = x.max(axis=axis, keepdims=True)
    return m.log(m.exp(x - top).sum(axis=axis, keepdims=True)) + top


COMPOSED = {
    "softmax": softmax,
    "layer_norm": layer_norm,
    "logsumexp": logsumexp,
    "softmax of columns": lambda m, x: softmax(m, x, 0),
    "logsumexp of all": lambda m, x: logsumexp(m, x, None),
    "norm": lambda m, x: m.sqrt((x * x).sum(axis=-1)),
    "normalised": lambda m, x: x / m.sqrt((x * x).sum(axis=-1, keepdims=True)),
    "standard": lambda m, x: (x - x.mean(axis=0)) / x.std(axis=0),
    "cross entropy": lambda m, x: -(m.log(softmax(m, x) + 1e-6) * x).sum() / x.shape[0],
}


@pytest.mark.parametrize("dtype", DTYPES)
def test_full_reductions_of_every_size(dtype):
    names = ["sum", "prod", "max", "min", "any", "all", "mean"]

    def program(m, a):
        return [getattr(a + a if dtype != "?" else a ^ True, name)() for name in names]

    for size in SIZES:
        a = values(size, dtype)
        for f in grid(row=[4, 128, 8192], tile_bytes=[200, 4000], least=[4, 256]):
            with figures(**f):
                both(program, a)


@pytest.mark.parametrize("axis", [0, 1, -1, (0, 1), (1, 2), (0, 2)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions_over_axes(dtype, axis):
    def program(m, a):
        b = a * a if dtype != "?" else a & True
        out = [b.sum(axis=axis), b.max(axis=axis), b.prod(axis=axis, keepdims=True)]
        return [*out, b.any(axis=axis), b.all(axis=axis), b.min(axis=axis), b.mean(axis=axis)]

    for shape in [(3, 5, 17), (4, 9, 8), (2, 130, 3), (1, 6, 300)]:
        a = values(shape, dtype)
        for f in grid(row=[1, 8, 8192], tile_bytes=[8, 1000], least=[1, 64]):
            with figures(**f):
                both(program, a)
                both(program, np.asfortranarray(a))


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("name", COMPOSED)
def test_composed_reductions(name, dtype):
    program = COMPOSED[name]
    for shape in [(5, 7), (3, 16), (2, 129), (40, 3), (1, 50), (4, 3, 10), (9, 1), (7,)]:
        a = values(shape, dtype)
        for f in grid(row=[4, 64, 8192], tile_bytes=[8, 300, 65536], least=[1, 16]):
            with figures(**f):
                both(lambda m, a: [program(m, a)], a)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_var_and_std_after_fused_work(dtype):
    def program(m, a):
        return [(a * 2).var(), (a + 1).std(axis=0), (a - 3).var(axis=1, keepdims=True)]

    for shape in [(5, 7), (30, 9), (2, 129)]:
        both(program, values(shape, dtype))


def test_a_closed_reduction_is_one_pass_with_its_rows():
    x = la.array(values((20, 10), "f8"))
    la.waitall()
    y = softmax(la, x)
    how = explained()
    assert how.stages == [["maximum", "subtract", "exp", "sum", "divide"]] or len(how.passes) == 1
    assert how.temporaries == 4
    same(y, softmax(np, x.asnumpy()))


def test_rows_longer_than_a_tile_close_a_pass():
    x = la.array(values((4, 400), "f8"))
    la.waitall()
    y = (x * 2).sum(axis=1) + 1
    how = explained()
    assert how.stages[0][0] == "multiply" and len(how.stages) == 2
    assert how.in_scratch == ["multiply"]
    same(y, (x.asnumpy() * 2).sum(axis=1) + 1)


def test_columns_close_a_pass():
    x = la.array(values((40, 30), "f8"))
    la.waitall()
    y = (x * 2).sum(axis=0) + 1
    how = explained()
    assert len(how.stages) == 2 and how.temporaries == 1
    same(y, (x.asnumpy() * 2).sum(axis=0) + 1)


def test_reductions_of_one_pass_share_it():
    def program(m, a):
        b = a * 2
        return [b.sum(axis=1), b.max(axis=1), b.min(axis=1), b.sum()]

    how = both(program, values((30, 12), "f8"))
    assert any(len(stage) >= 4 for stage in how.stages)


@pytest.mark.parametrize("sign", [1, -1])
def test_signs_of_zero(sign):
    for n in (1, 5, 8, 200, 1000):
        for row in (4, 8192):
            with figures(row=row):
                a = np.full(n, sign * 0.0)
                both(lambda m, a: [(a * 1).sum(), (a * 1).max(), m.negative(a).sum()], a)


def test_nan_and_infinity():
    a = values((30, 20), "f8")
    a[3, 4], a[5, 6], a[7] = np.nan, np.inf, -np.inf

    def program(m, a):
        b = a * 2
        out = [b.sum(), b.max(axis=1), b.min(axis=0), softmax(m, b)]
        return [*out, m.isnan(b).any(axis=1), b.argmax()]

    both(program, a)


@pytest.mark.parametrize("tiled", [False, True])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(
    "n",
    [1, 2, 7, 8, 9, 15, 16, 31, 33, 127, 128, 129, 135, 136, 137, 255, 257, 264, 511, 1025, 2100],
)
def test_sums_of_rows(n, dtype, tiled):
    """Lengths around each cut of NumPy's sum; what is no usual number, too."""

    def program(m, a):
        return [
            (a * 3).sum(1),
            (a[::2] + 1).mean(-1, keepdims=True),
            (a - a.sum(1, keepdims=True)).sum(1),
        ]

    for rows in (1, 2, 3, 4, 5, 7, 9, 34):
        usual = (rng.standard_normal((rows, n)) * 10.0 ** rng.integers(-3, 4, (rows, n))).astype(
            dtype
        )
        odd = usual.copy()
        odd[rng.random(odd.shape) < 0.03] = np.inf
        odd[rng.random(odd.shape) < 0.03] = np.nan
        for a in (usual, odd, np.full((rows, n), -0.0, dtype)):
            if tiled:
                both(program, a)
            else:
                with figures(tile_bytes=98304, least=256):
                    both(program, a)


# ---- odd shapes --------------------------------------------------------------------------------


def test_a_total_of_operands_that_step_unevenly_at_other_axes():
    def program(m, x, y):
        return [((x[:, :, :10] + 1) * y[::2]).sum(), (x[:, :, 2:] * y[1::2] + x[:, :, 1:11]).sum()]

    how = both(program, values((4, 5, 12), "f8"), values((8, 5, 10), "f8"))
    assert how.stages[0] == ["add", "multiply", "sum"]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_short_rows_of_every_length(dtype):
    with figures(row=8192):
        for n in range(2, 42):
            both(lambda m, a: [(a * 3).sum(axis=1)], values((30, n), dtype))


@pytest.mark.parametrize("dtype", ["f4", "i8", "D"])
def test_long_rows_of_two_axes(dtype):
    """Each row is cut, and what came of it belongs to an index of two axes."""

    def program(m, x, y):
        pairs = x[:, None] * y
        return [pairs.sum(axis=-1), (pairs[::-1] + y).sum(axis=2)]

    both(program, values((4, 400), dtype), values((5, 400), dtype))


def test_more_than_eight_axes():
    shape = (2, 1, 2, 3, 1, 2, 1, 2, 2, 2)
    big = values(tuple(2 * n for n in shape[:5]) + shape[5:], "f8")
    key = (slice(None, None, 2),) * 5

    def program(m, a, b):
        v = a[key]
        return [(v + 1) * b, v.sum(axis=(0, 3)), (v * b).sum(), (v.T - 1).max(axis=2)]

    both(program, big, values(shape, "f8"))


@pytest.mark.parametrize("row", [1, 8192])
def test_a_refinement_into_eight_axes(row):
    big = values((8, 4, 4, 4, 4, 4, 4), "f8")
    wide = values((4, 4, 128), "f8")

    def program(m, a, w):
        y = a[(slice(None, None, 2),) * 7] + 1  # seven axes that step apart
        z = y.reshape(2, 2, 64) * w[::2, ::2, ::2]  # which cut the first of them in two
        return [z.sum(), z + 1, (z * 2).sum(axis=0)]

    with figures(row=row):
        both(program, big, wide)
    with figures(row=row, least=256, tile_bytes=65536):
        both(program, big, wide)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 1), (0,), (0, 5), (5, 0), (3, 0, 2)])
def test_small_and_empty_arrays(shape):
    def program(m, a):
        b = (a * 2 + 1) / 3
        return [b, b.sum(), b.sum(axis=0) if shape else b, m.where(a > 1, a, b), b.reshape(-1) + 1]

    both(program, values(shape, "f8"))


def test_one_element_among_many():
    def program(m, a, one):
        one += 1
        b = a * one
        s = b.sum()
        one[...] = s
        return [b - one, s * 2]

    both(program, values(50, "f8"), values(1, "f8"))
    both(program, values((5, 10), "f8"), values((1, 1), "f8"))


def test_a_sum_of_more_than_there_is_memory_for():
    # Pieces were listed first, one for each 8192 elements.
    for x in (la.ones(2**50), la.ones((4, 2**50))):
        with pytest.raises(MemoryError, match="unable to allocate"):
            float(x.sum())
    assert float(la.ones(3).sum()) == 3
