"""Elements read and stored by several arrays of indices: blocks, rows in front, many threads."""

import contextlib
import warnings

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import asynchronous, pending, steps
from .fusing import same

PIECE = 2048  # Gathering::kPiece; a store goes by 256, a gather into rows that lie together by 8
COUNTS = [1, 8, 257, PIECE, 2 * PIECE + 3]
SHAPE = (9, 17, 5, 6)
DTYPES = ["?", "i2", "f4", "f8", "c16", "g", "G"]

# Of indices i to l of axes 0 to 3, and masks m and n of axes 0 and 1.
KEYS = [
    "i, j",
    "i, j, k",
    "i, j, k, l",
    "i, 3",
    "-2, j",
    "i, 3, k",
    "2, j, -1, l",
    "i, j, :",
    "i, ..., 0",
    "i[:, None], j",
    "i[:9, None], j[:5], k[:5]",
    "xp.ix_(i[:20], j[:30])",
    ":, j",
    ":, j, k",
    ":, j, 2",
    ":, :, k",
    ":, :, k, l",
    ":, j, :, :",
    "1:7:2, j",
    "::-1, j, k, 1:",
    "i, 1:3",
    "i, ::-2",
    "i, :, 2",
    "i, j, 1:, :2",
    "..., l",
    "[0, -1, 3], [1, 2, -2]",
    "i, [4] * len(i)",
    "i.astype('i4'), j.astype('i2')",
    "m",
    "m, 2",
    "m, 1:4",
    "m, :, -1",
    "2, n",
    ":, n, 1",
    "m, ::-1, 1, 2:",
]


def indices(count, seed=0):
    rng = np.random.default_rng(seed)
    found = {c: rng.integers(-n, n, count) for c, n in zip("ijkl", SHAPE, strict=True)}
    return found | {"m": rng.random(SHAPE[0]) < 0.5, "n": rng.random(SHAPE[1]) < 0.4}


def selected(xp, x, key, names):
    return eval(f"x[{key}]", {"xp": xp, "x": x} | names)


def store(xp, x, key, names, value, how="="):
    exec(f"x[{key}] {how} value", {"xp": xp, "x": x, "value": value} | names)


def ours(names):
    return {name: la.array(value) for name, value in names.items()}


def bounded(count, key):
    """No more indices than make some thousands of elements each."""
    if key.startswith("i[:, None]"):
        return min(count, 66)  # pairs of them: 2 * PIECE + 260 elements
    return min(count, 257) if key.startswith(":") or "None" in key else count


# Where no more than 257 are taken, larger counts would be the same test again.
CASES = [(n, key) for n in COUNTS for key in KEYS if n <= 257 or bounded(n, key) == n]


@pytest.mark.parametrize("count, key", CASES)
def test_reading(crew, key, count):
    names = indices(bounded(count, key))
    for dtype in DTYPES if count == 257 else ["f8"]:
        base = (np.random.default_rng(1).random(SHAPE) * 200).astype(dtype)
        want = selected(np, base, key, names)
        for later in (False, True):
            x = la.array(base)
            waits = "m" in key or "n" in key
            with pending(x) if later and not waits else contextlib.nullcontext():
                got = selected(la, x, key, ours(names))
            same(got, want)
            assert steps(got) == steps(want)


@pytest.mark.parametrize("layout", ["transposed", "backwards", "apart", "axes of one"])
@pytest.mark.parametrize("key", KEYS)
def test_layouts(key, layout):
    names = indices(100)
    base = np.random.default_rng(1).random(SHAPE)

    def view(x):
        if layout == "transposed":
            return x.transpose(3, 1, 2, 0).swapaxes(0, 3)
        if layout == "backwards":
            return x[::-1, ::-1, ::-1, ::-1]
        if layout == "apart":
            return x[..., ::2]
        return x[:1, :, None, 2]

    if layout == "apart":
        base = np.repeat(base, 2, -1)
    if layout == "axes of one":
        names["i"], names["k"], names["m"] = names["i"] * 0, names["k"] * 0, names["m"][:1] | True
        if any(c in key for c in "1234"):
            pytest.skip("it names places that axes of one lack")
    x, values = la.array(base), base.copy()
    got, want = selected(la, view(x), key, ours(names)), selected(np, view(values), key, names)
    same(got, want)
    for value in (7.0, np.arange(6.0)[-want.shape[-1] :][:1], want * 2):
        store(np, view(values), key, names, value)
        store(la, view(x), key, ours(names), la.array(value) if np.ndim(value) else value)
        same(x, values)


@pytest.mark.parametrize("count, key", CASES)
def test_storing(crew, key, count):
    names = indices(bounded(count, key))
    rng = np.random.default_rng(2)
    for dtype in DTYPES if count == 257 else ["f8"]:
        base = (rng.random(SHAPE) * 200).astype(dtype)
        shape = selected(np, base, key, names).shape
        row = (rng.random(shape[-1:]) * 90).astype(dtype)
        all_ = (rng.random(shape) * 90).astype(dtype)
        for value in (3, base.dtype.type(1), row, all_, all_[..., :1], all_.T.copy().T, all_[::-1]):
            want, x = base.copy(), la.array(base)
            store(np, want, key, names, value)  # of several values for one place the last one stays
            with pending(x) if dtype != "G" else contextlib.nullcontext():
                given = la.array(value) if isinstance(value, np.ndarray) else value
                store(la, x, key, ours(names), given)
            same(x, want)
        if dtype != "?":
            want, x = base.copy(), la.array(base)
            store(np, want, key, names, 1, "+=")
            store(la, x, key, ours(names), 1, "+=")
            same(x, want)


@asynchronous
@pytest.mark.parametrize("where", [0, 255, 256, PIECE - 1, PIECE])
@pytest.mark.parametrize("bad", [40, -41, 2**62])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_out_of_bounds(crew, where, bad, axis):
    base = np.zeros((40, 40, 40, 2))
    i = [np.arange(PIECE + 1) % 40 for _ in range(3)]
    i[axis][where] = bad
    text = f"index {bad} is out of bounds for axis {axis} with size 40"
    x, keys = la.array(base), tuple(map(la.array, i))
    got = x[keys]
    with pytest.raises(IndexError, match=text):
        got.wait_to_read()
    got[...] = 1.0  # heals
    same(got, np.ones((PIECE + 1, 2)))
    same(x, base)  # nothing of it was harmed
    for key in (keys, (*[slice(None)] * axis, keys[axis])):
        y = la.array(base)
        y[key] = 5.0
        with pytest.raises(IndexError, match=f"index {bad} is out of bounds"):
            y.wait_to_read()
        y[...] = 2.0
        same(y, np.full(base.shape, 2.0))
    y = la.array(base)
    with pytest.raises(IndexError, match=text):
        y[tuple(i)] = 5.0  # NumPy's indices are known at the call: nothing is written
    same(y, base)


def test_what_is_stored_lies_in_the_array_itself():
    base = np.arange(40_000.0).reshape(200, 200)
    i = np.random.default_rng(0).permutation(200)
    x, want = la.array(base), base.copy()
    x[la.array(i), la.array(i)] = x[0]
    want[i, i] = want[0].copy()
    same(x, want)
    k = la.array(base.astype(int) % 200)
    want = base.astype(int) % 200
    k[k[0], k[1]] = 7  # the indices are what is written to
    want[want[0].copy(), want[1].copy()] = 7
    same(k, want)


def test_gradients_and_programs_go_their_own_way():
    base = np.random.default_rng(0).random((30, 20, 4))
    i, j = la.array([3, -1, 3, 0]), la.array([1, 2, 1, -20])

    def loss(x):
        return (x[i, j] * 2).sum() + x[:, j].sum() + (x[i, 3] ** 2).sum() + x[i, 1:3].sum()

    x = la.array(base)
    x.attach_grad()
    with la.autograd.record():
        loss(x).backward()
    want = np.zeros_like(base)
    np.add.at(want, (i.asnumpy(), j.asnumpy()), 2)
    np.add.at(want, (slice(None), j.asnumpy()), 1)
    np.add.at(want, (i.asnumpy(), 3), 2 * base[i.asnumpy(), 3])
    np.add.at(want, (i.asnumpy(), slice(1, 3)), 1)
    np.testing.assert_allclose(x.grad.asnumpy(), want, rtol=1e-12)

    @la.compile
    def step(x, i, j):
        y = x * 2
        y[i, j] = 1.0
        return y[i, j].sum() + y[:, j].sum()

    y = base * 2
    y[i.asnumpy(), j.asnumpy()] = 1.0
    total = y[i.asnumpy(), j.asnumpy()].sum() + y[:, j.asnumpy()].sum()
    for _ in range(3):
        np.testing.assert_allclose(float(step(la.array(base), i, j)), total, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("op", ["add", "subtract", "maximum"])
@pytest.mark.parametrize("dtype", ["f8", "i8", "f4"])
@pytest.mark.parametrize("count", [0, 1, 64, 255, 256, 257, 700])
def test_combining_at_places(op, dtype, count):
    rng = np.random.default_rng(count)
    for shape, step in (((300,), 1), ((300,), -1), ((9, 70), 1), ((9, 70), 2)):
        base = (rng.standard_normal(shape) * 99).astype(dtype)
        if dtype[0] == "f":
            base.flat[::7] = np.nan
        x, want = la.array(base), base.copy()
        keys = tuple(rng.integers(-n, n, count) for n in want[..., ::step].shape)
        many = (rng.standard_normal(count) * 99).astype(dtype)
        for value in (2, many, many[:1] if count else 2):
            getattr(np, op).at(want[..., ::step], keys, value)
            ours_of = la.array(value) if np.ndim(value) else value
            getattr(la, op).at(x[..., ::step], tuple(la.array(k) for k in keys), ours_of)
            same(x, want)


@pytest.mark.parametrize("handled", ["ignore", "warn", "raise"])
def test_what_overflows_at_a_place(handled):
    base = np.array([1e308, 1.0, np.inf, 2.0])
    where = np.array([1, 0, 0, 3, -1, 1])
    for value in (1.5e308, -np.inf):
        x, want, told = la.array(base), base.copy(), []
        for xp, array, k in ((np, want, where), (la, x, la.array(where))):
            with warnings.catch_warnings(record=True) as seen, np.errstate(all=handled):
                warnings.simplefilter("always")
                try:
                    xp.add.at(array, k, value)
                    raised = None
                except FloatingPointError as error:
                    raised = str(error)
            told.append((raised, [str(w.message) for w in seen]))
        assert told[0] == told[1]
        if handled != "raise":
            same(x, want)


def test_values_and_indices_in_the_array_that_is_added_to():
    x, want = la.arange(20), np.arange(20)
    la.add.at(x, x[::3] // 2, x[::-3])
    np.add.at(want, want[::3].copy() // 2, want[::-3].copy())
    same(x, want)
    la.add.at(x[:9], x[9:12] * 0 + 2, 5)
    np.add.at(want[:9], want[9:12] * 0 + 2, 5)
    same(x, want)
    with pytest.raises(IndexError):
        la.add.at(x, la.array([0, 20]), 1)
    same(x, want)
