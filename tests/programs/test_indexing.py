"""Programs that index: index tricks, masks, elements as numbers and indices, loops over arrays."""

import itertools
import math

import pytest

from .compare import check, programs


def elements_as_indices(np):
    y = np.array([0.5, 2.5, 1.0])
    x = np.zeros(3, dtype=int)
    x[np.argmax(y)] += 1
    x[y.argmin()] -= 5
    A = np.arange(12).reshape(3, 4)
    i = np.argmax(y)
    A[i, i + 1] = 100
    A[np.argmin(y)][1] = -1 if False else A[np.argmin(y)][1]
    items = ["a", "b", "c"]
    print(items[np.argmax(y)], items[x[1] - 1], "ab" * x[1])
    return x, A, A[i], A[i, :2], A[:i], A[i:], A[: i + 1, i - 1 :: i], A[-i]


def a_row_at_a_computed_place(np):
    # the row is written by index: NumPy's view through a scalar index is not promised here
    A = np.arange(12.0).reshape(3, 4)
    i0 = A[:, 0].argmax()
    A[i0, :] = 0
    A[i0 - 1] *= 2
    A[i0 - 2, :2] += 10
    A[i0][...] = A[i0] + 0
    return A


def sizes_from_values(np):
    x = np.array([1, 0, 1, 1])
    n = x.sum()
    out = np.zeros(n)
    for i in range(n):
        out[i] = i**2
    k = int(x.sum())
    e = np.empty((k, n))
    e.fill(n)
    m = x.max() + 1
    return (
        out, e, np.arange(n), np.eye(n), np.ones((n, 2)), np.linspace(0, 1, n), list(range(n)),
        np.repeat(x, n), np.tile(x, n), np.full(n, 7), np.zeros((m, n)), np.identity(n),
        np.random.default_rng(0).random(n), np.arange(6).reshape(n, 2), np.roll(x, n),
    )  # fmt: skip


def iterating(np):
    A = np.arange(6).reshape(2, 3)
    total = 0
    for row in A:
        row *= 2
        for v in row:
            total += v
    for i, row in enumerate(A):
        row[i] = -1
    for a, b in zip(A[0], A[1]):
        print(a, b, a + b)
    pairs = [(i, float(v)) for i, v in enumerate(A[0] / 2)]
    first, *rest = A[0]
    (p, q, r), s = A
    squares = [v**2 for v in A.flat]
    for idx, v in np.ndenumerate(A):
        assert A[idx] == v
    shape = [ij for ij in np.ndindex(2, 3)]
    return A, total, pairs, first, rest, p + q + r, s, squares, shape, A.flat[3]


def builtins_on_arrays(np):
    x = np.array([3, 1, 2])
    y = np.array([0.1, 0.2, 0.3])
    return [
        max(x), min(x), sum(x), len(x), sorted(x), list(reversed(x)), any(x > 2), all(x > 0),
        2 in x, 7 in x, abs(-x), round(float(y[1]), 1), pow(x, 2), divmod(x, 2),
        max(x, key=lambda v: -v), sum(y), max(y[0], y[1]), int(x[0]), float(x[0]), complex(x[0]),
        bool(x[0]), str(x[0]), [*map(int, x)], list(zip(x.tolist(), y.tolist())),
        x.tolist().index(2), sum(y.tolist()), math.sqrt(y[1]), math.floor(y[2]), math.exp(x[0]),
        math.isclose(y[0], 0.1), math.pi * x, "%d %.2f %s" % (x[0], y[0], x[1]),
        f"{x[0]:03d} {y[0]:.3f} {y[1]:10.2e} {x[2]:>4}", "{} {:.1%}".format(x[0], y[0]), hex(x[0]),
        bin(x[1]), [10, 20, 30, 40][x[1]], divmod(x[0], 2), list(itertools.accumulate(x)),
        set(x.tolist()), tuple(x), dict(enumerate(x.tolist())), math.ceil(y[0]), math.gcd(x[0], 6),
        slice(x[1], x[0]).stop,
    ]  # fmt: skip


def dictionary_keys(np):
    x = np.array([1.5, 2.5, 1.5])
    counts = {}
    for v in x:
        counts[float(v)] = counts.get(float(v), 0) + 1
    memo = {int(k): int(k) ** 2 for k in np.arange(4)}
    seen = set()
    for v in x.tolist():
        seen.add(v)
    lookup = dict(zip(["a", "b"], np.array([1, 2])))
    by_tuple = {tuple(row.tolist()): i for i, row in enumerate(np.eye(2, dtype=int))}
    return counts, memo, seen, lookup, by_tuple


def conditions(np):
    x = np.array([1.0, -2.0, 3.0])
    out = []
    if (x > -5).all():
        out.append("all")
    if np.any(x < 0) and not np.isnan(x).any():
        out.append("some")
    if x[0] > 0 and x[1] < 0 or x[2] == 5:
        out.append("mixed")
    if x.max() == 3 == x[2]:
        out.append("chained")
    if not x.size == 0 and x.shape == (3,) and x.ndim == 1:
        out.append("shape")
    if 0 < x[0] < 2 <= x[2]:
        out.append("between")
    while x[0] < 100:
        x *= 2
    sign = "positive" if x.sum() > 0 else "negative"
    try:
        if x > 0:
            out.append("never")
    except ValueError as e:
        out.append(str(e))
    assert x[0] is not None and x is not None
    x[1] = x[1] if x[1] > 0 else 0
    return x, out, sign


def fancy_indexing(np):
    A = np.arange(20).reshape(4, 5)
    rows, cols = np.array([0, 2, 3]), np.array([1, 4])
    B = A.copy()
    B[np.ix_(rows, cols)] = -1
    B[[0, 1], [0, 1]] += 100
    C = A[:, [3, 0]]
    C[0] = 7
    d = A[rows[:, None], cols]
    return [
        B, C, d, A[rows][:, cols], A[rows, 1:3], A[..., -1], A[None, 0],
        A[[True, False, True, False]], A[A % 2 == 0], A[A[:, 0] > 4, 2], A[A.sum(axis=1) > 20],
        A[-1, ::-1], A[::2, ::-2], A[[-1, 0]], A[np.arange(4), A.argmax(1)], A.take([0, 2], axis=1),
        A[(1, 2)], A[[[0, 1], [2, 3]]].shape, np.diag(A[:, ::-1]), A[1][2], A[1:][0][1],
        A[np.newaxis, :, np.newaxis, 2].shape, A[()],
    ]  # fmt: skip


def masks_combined(np):
    x = np.arange(-6, 7)
    m = ((x > -3) & (x < 4)) | (x == 6)
    y = x.copy()
    y[m] = 0
    y[~m & (x % 2 == 0)] *= 10
    z = np.where(m, x, np.where(x > 0, 1, -1))
    chosen = np.select([x < -2, x < 2], [x**2, x * 10], default=99)
    pieces = np.piecewise(x.astype(float), [x < 0, x >= 0], [lambda v: -v, lambda v: v / 2])
    m2 = np.logical_or.reduce([x == k for k in (1, 3, 5)])
    x[np.isin(x, [2, 4])] = -100
    return (
        m, y, z, chosen, pieces, m2, x, np.flatnonzero(m), m.nonzero()[0][0], np.argmax(m), m ^ m2,
    )  # fmt: skip


def sorting_by_columns(np):
    A = np.array([[3, 1, 9], [1, 5, 7], [3, 0, 2], [2, 2, 2]])
    by_second = A[A[:, 1].argsort()]
    order = np.lexsort((A[:, 1], A[:, 0]))
    top2 = np.argpartition(A[:, 2], -2)[-2:]
    ranks = np.empty(4, int)
    ranks[A[:, 1].argsort()] = np.arange(4)
    A.sort(axis=0)
    i = np.argsort(A, axis=1)[:, ::-1]
    return (
        by_second, order, np.sort(top2), ranks, A, np.take_along_axis(A, i, 1),
        np.partition(A[:, 2], 1)[1],
    )  # fmt: skip


def coordinates(np):
    A = np.random.default_rng(0).integers(0, 99, (4, 6))
    flat = A.argmax()
    i, j = np.unravel_index(flat, A.shape)
    assert A[i, j] == A.max() == A.flat[flat] == A.ravel()[flat]
    where = np.argwhere(A == A.max())[0]
    r, c = divmod(flat, A.shape[1])
    back = np.ravel_multi_index((i, j), A.shape)
    best = np.unravel_index(np.argsort(A, axis=None)[-3:], A.shape)
    print(f"max at ({i}, {j})")
    return i, j, where, r, c, back, best, A[tuple(where)], A[best], tuple(where.tolist())


def grids_by_index_tricks(np):
    X, Y = np.meshgrid(np.linspace(-1, 1, 3), np.arange(4))
    gy, gx = np.mgrid[:2, 0:6:2]
    oy, ox = np.ogrid[:2, 0:1:3j]
    pts = np.c_[X.ravel(), Y.ravel()]
    r = np.r_[1:4, 0, [7] * 2, np.zeros(2), -1:1:3j]
    iu = np.triu_indices(3, 1)
    M = np.zeros((3, 3))
    M[iu] = [1, 2, 3]
    M[np.tril_indices(3, -1)] = M.T[np.tril_indices(3, -1)]
    np.fill_diagonal(M, 9)
    i, j = np.indices((2, 3))
    return (
        X, Y, gy, gx, oy, ox, pts, r, M, i * j, np.diag_indices(3), np.s_[1:3, ...],
        np.index_exp[::2],
    )  # fmt: skip


def accumulating_at(np):
    idx = np.array([0, 1, 1, 2, 1])
    a, b = np.zeros(4), np.zeros(4)
    np.add.at(a, idx, 1)
    b[idx] += 1
    c = np.ones(4, dtype=int)
    np.multiply.at(c, idx, [2, 3, 4, 5, 6])
    M = np.zeros((2, 3))
    np.add.at(M, (np.array([0, 0, 1]), np.array([1, 1, 2])), np.array([1.0, 2, 3]))
    np.put(a, [0, 3], [10, 20])
    np.subtract.at(M, (slice(None), 0), 1)
    return a, b, c, M, np.bincount(idx, minlength=5), np.bincount(idx, weights=[1, 2, 3, 4, 5])


def ufunc_methods(np):
    x = np.array([1, 5, 2, 8, 3])
    return [
        np.add.reduce(x), np.multiply.reduce(x), np.maximum.reduce(x), np.logical_and.reduce(x > 0),
        np.add.accumulate(x), np.minimum.accumulate(x[::-1]), np.multiply.outer(x, x[:2]),
        np.subtract.outer(x, x), np.add.reduceat(x, [0, 2, 4]), np.maximum.reduceat(x, [0, 3]),
        np.add.reduce(np.ones((2, 3)), axis=1), np.add.reduce(x, where=x > 2, initial=100),
        np.less.outer([1, 2], [1, 2]), np.hypot.outer([3.0], [4.0]), np.gcd.reduce([12, 18]),
        np.add.accumulate(np.ones((2, 3)), axis=1), np.bitwise_or.reduce(x),
        np.power.outer([2, 3], [1, 2]),
    ]  # fmt: skip


def ufunc_arguments(np):
    x = np.array([1.0, 4.0, -9.0, 16.0])
    out = np.zeros(4)
    r = np.sqrt(x, out=out, where=x >= 0)
    assert r is out
    safe = np.divide(1, x - 4, out=np.full(4, -1.0), where=x != 4)
    i = np.add([1, 2], [3, 4], dtype=np.float32)
    buf = np.empty(4, dtype=np.float32)
    np.multiply(x, 2, out=buf, casting="same_kind")
    np.add(x, 1, x)
    frac, whole = np.modf(x / 4)
    q, rem = np.divmod(x, 3)
    m, e = np.frexp(x)
    try:
        np.add(x, 1, out=np.empty(4, int))
    except TypeError as err:
        kind = type(err).__name__
    return (
        out, safe, i, buf, x, frac, whole, q, rem, m, e, kind, np.clip(x, 0, 5, out=x),
        np.ldexp(m, e),
    )  # fmt: skip


def views_and_copies(np):
    a = np.arange(12)
    b = a.reshape(3, 4)
    c = b[1:, ::2]
    c[:] = -1
    d = b.T.ravel()
    d[0] = 99
    e = b.flatten()
    e[:] = 5
    f = a[:]
    f[0] = 42
    g = a[[0, 1]]
    g[:] = 0
    h = np.asarray(a)
    h[1] = 77
    a.shape = (4, 3)
    t = a.T
    t[0, 0] += 1
    assert np.may_share_memory(a, b) and not np.shares_memory(a, d)
    return a, b, c, d, e, g, a.base is None, t.flags.f_contiguous, b.strides, h is f


def broadcasting(np):
    a, b = np.arange(3), np.arange(4)[:, np.newaxis]
    x, y = np.broadcast_arrays(a, b)
    d = np.abs(a - b)
    table = a[:, None, None] * 100 + b[None] * 10 + a
    big = np.broadcast_to(a, (2, 3))
    stacked = np.stack([a, a * 2], axis=-1)
    M = np.ones((3, 4))
    M -= M.mean(axis=1, keepdims=True)
    M[:] = np.arange(4)
    M *= np.arange(3).reshape(-1, 1)
    try:
        a + np.arange(4)
    except ValueError as e:
        message = str(e).strip()
    return (
        x, y, d, table, big, stacked, M, message, np.broadcast_shapes((3, 1), (4,)),
        np.squeeze(M[:, :1]),
    )  # fmt: skip


def set_operations(np):
    a, b = np.array([3, 1, 2, 3, 5]), np.array([2, 3, 4])
    u, first, inverse, counts = np.unique(
        a, return_index=True, return_inverse=True, return_counts=True
    )
    return [
        np.union1d(a, b), np.intersect1d(a, b), np.setdiff1d(a, b), np.setxor1d(a, b),
        np.isin(a, b), u, first, inverse, counts, u[counts.argmax()],
        dict(zip(u.tolist(), counts.tolist())), np.unique([[1, 2], [1, 2], [0, 1]], axis=0),
        len(np.unique(a)) == len(a), a[np.sort(first)],
    ]  # fmt: skip


def joining_and_splitting(np):
    a, b = np.arange(4).reshape(2, 2), np.ones((2, 2), int)
    x = np.array([])
    for i in range(3):
        x = np.append(x, i)
    parts = []
    for i in range(3):
        parts.append(np.full(2, i))
    left, right = np.hsplit(np.arange(8).reshape(2, 4), 2)
    return [
        np.vstack([a, b]), np.hstack((a, b)), np.dstack([a, b]), np.concatenate([a, b], axis=None),
        np.concatenate(parts), np.array(parts), np.vstack(parts), np.stack(parts, 1), x, left,
        right, np.split(np.arange(9), [3, 5]), np.insert(a, 1, 9, axis=1),
        np.delete(np.arange(5), [1, 3]), np.block([[a, b], [b, a]]), np.append(a, [[7, 8]], axis=0),
        np.column_stack([a[0], b[0]]), np.resize(a, (3, 3)),
        np.trim_zeros(np.array([0, 0, 1, 2, 0])), np.array([a, b]).shape,
        np.array([a[0, 0], 2.5, 3]), np.array([[v, v + 1] for v in a[1]]),
        np.asarray([a.sum(), a.max()]),
    ]  # fmt: skip


def reshaping(np):
    x = np.arange(24)
    a = x.reshape(2, 3, -1)
    return [
        a.transpose(1, 0, 2), a.swapaxes(0, 2), np.moveaxis(a, 0, -1), np.rollaxis(a, 2), a.T.shape,
        a.reshape(-1, order="F"), np.expand_dims(x, (0, 2)).shape, a[:, :1].squeeze(1),
        a.ravel("F"), np.atleast_2d(x).shape, np.atleast_1d(5), a.sum((0, 2)), a.max(axis=-1),
        a.cumsum(axis=1), np.rot90(a[0], 2), np.flip(a, 1), x.reshape((4, 6)).diagonal(2),
        np.permute_dims(a, (2, 1, 0)).shape, np.array_split(x, 5)[0],
        a.mean(axis=(1, 2), keepdims=True), np.diff(a, axis=0), a.nbytes, a.itemsize,
    ]  # fmt: skip


@pytest.mark.parametrize("program", programs(globals()))
def test_program(program):
    check(program)
