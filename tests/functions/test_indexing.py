"""Indexing: what a key selects, its memory order, what it stores, when it waits."""

import contextlib
import itertools
import math

import numpy as np
import pytest

import lazyarray as la
from lazyarray.functions import indexing

from ..ops.compare import asynchronous, lay, pending, rng, same

X = np.arange(120.0).reshape(4, 5, 6)
I, J = np.array([2, 0, -1]), np.array([[1], [0]])
M = X > 50
KEYS = [
    (I,),
    (slice(None), I),
    (slice(None), slice(None), I),
    (I, I),
    (I, slice(None), I),
    (0, slice(None), I),
    (slice(1, 3), I, 0),
    (I, J),
    (J, None, I),
    (None, I, ..., None),
    (..., I),
    (I, ..., I),
    (np.asfortranarray(J + I),),
    (slice(None), np.asfortranarray(J + I), slice(None, None, -2)),
    (np.array(1),),
    (np.array(1), slice(None), np.array(2)),
    (np.int64(1), np.array([2])),
    ([0, 1],),
    ([],),
    ([[0, 1], [1, 0]], [0, 1]),
    (np.array([1, 2], np.uint8),),
    (M,),
    (M[:, 0, 0],),
    (slice(None), M[0]),
    (M[:, :, 0], slice(None, None, 2)),
    (M[:, :, 0], 3),
    (M[:, 0, 0], np.array([True, False, False, True, False])),
    (True,),
    (False,),
    (np.True_, I),
    (None, True, 0),
    ([True, False, True, True],),
    (np.zeros((4, 5, 6), bool),),
]
BAD_KEYS = [
    ([4],),
    (slice(None), [0], [-7]),
    (7, [0]),
    ([0], [0], [0], [0]),
    (I, np.array([0, 1])),
    (1.5,),
    ([1.5],),
    (np.array([1.5]),),
    ("a",),
    ([[0], [0, 1]],),
    (M[:3],),
    (M[..., None],),
    (..., [0], ...),
    ([0], slice(1.5, None)),
    ({},),
]
BASES = [
    X,
    X.transpose(2, 0, 1).copy().transpose(1, 2, 0),
    np.asfortranarray(X),
    np.repeat(X, 2, 1)[:, ::-2],
]


def as_la(key):
    return tuple(la.array(k) if isinstance(k, np.ndarray) else k for k in key)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_get(key):
    for a in BASES:
        same(lay(a)[key], a[key])
        same(lay(a)[as_la(key)], a[key])


@pytest.mark.parametrize("key", BAD_KEYS, ids=str)
def test_get_errors(key):
    with pytest.raises(Exception) as want:
        X[key]
    for k in (key, as_la(key)):
        with pytest.raises(want.type) as got:
            la.array(X)[k].asnumpy()
        assert str(got.value) == str(want.value)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_set(key):
    shape = X[key].shape
    values = [7, 2.5, np.float32(1.5), rng.random(shape), rng.random((1, *shape)), la.array(3.0)]
    if len(shape) > 1 and X[key].size:
        values += [rng.random(shape[-1]), rng.random((*shape[:-1], 1))]
    for a in BASES:
        for value in values:
            for k in (key, as_la(key)):
                want, x = a.copy("K"), la.array(a)
                var, version = x.var, x.var.version
                ours = lay(value) if isinstance(value, np.ndarray) else value
                try:
                    want[key] = value.item() if isinstance(value, la.NDArray) else value
                except TypeError:  # one mask for all axes takes vectors only
                    with pytest.raises(TypeError):
                        x[k] = ours
                    continue
                x[k] = ours
                same(x, want)
                assert x.var == var
                assert x.var.version > version


@pytest.mark.parametrize("n", [6, 300, 20_000])
@pytest.mark.parametrize(
    "view",
    ["[:, None, None]", "[:, None, :]", "[::3, None, :2]", "[:, 3:4, None]", "[:, 1, None, None]"],
)
def test_axes_of_length_one_have_any_step(n, view):
    base = rng.random((n, 8))
    keys = ["m", "m, ..., 0", "i", "i, 0", "None, m", "m[:, 0]", "m[:, 0], 0", "..., [0, 0]"]
    for later in (False, True):
        a, x = base.copy(), la.array(base)
        a, x = (eval(f"v{view}", {"v": v + 1 if later else v}) for v in (a, x))
        picked = rng.random(a.shape[:2]) < 0.4
        places = rng.integers(0, len(a), 9)
        for key in keys:
            want = eval(f"a[{key}]", {"a": a, "m": picked, "i": places})
            ours = {"a": x, "m": la.array(picked), "i": la.array(places)}
            np.testing.assert_array_equal(eval(f"a[{key}]", ours).asnumpy(), want)
            for text in (f"a[{key}] = 7", f"a[{key}] += 2", f"a[{key}] = a[{key}] * 2"):
                exec(text, {"a": a, "m": picked, "i": places})
                exec(text, ours)
                np.testing.assert_array_equal(x.asnumpy(), a)


@pytest.mark.parametrize("key", BAD_KEYS, ids=str)
def test_set_errors(key):
    with pytest.raises(Exception) as want:
        X.copy()[key] = 1
    x = la.array(X)
    with pytest.raises(want.type) as got:
        x[as_la(key)] = 1
        x.wait_to_read()
    assert str(got.value) == str(want.value)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (([0, 1],), np.zeros(4)),
        (([0, 1],), np.zeros((3, 1, 1, 6))),
        ((slice(None), I), np.zeros((4, 2, 6))),
        ((M,), np.zeros(4)),
        ((M,), np.zeros((2, 4))),
        ((M[:, :, 0],), np.zeros(5)),
        ((M[:, :, 0],), np.zeros((3, 6))),
        (([0],), 1j),
        (([0],), "a"),
    ],
)
def test_values_that_do_not_fit(key, value):
    with pytest.raises(Exception) as want:
        X.copy()[key] = value
    x = la.array(X)
    with pytest.raises((want.type, TypeError)):
        x[as_la(key)] = la.array(value) if isinstance(value, np.ndarray) else value
        x.wait_to_read()


def test_scalars_are_checked_at_the_call():
    x = la.zeros(3, dtype="i1")
    with pytest.raises(OverflowError):
        x[[0]] = 300
    x[[0]] = np.array([300])  # an array wraps, as NumPy's
    same(x, np.array([44, 0, 0], "i1"))
    with pytest.raises(ValueError, match="read-only"):
        la.broadcast_to(la.zeros(1), (3,))[[0]] = 1


def test_overlap_is_numpys():
    a = np.arange(10)
    x = la.array(a)
    x[[3, 4, 5]] = x[2:5]
    a[[3, 4, 5]] = a[2:5]
    x[x[:3]] = x[7:]
    a[a[:3]] = a[7:]
    same(x, a)
    x[x > 4] = x[: (a > 4).sum()]
    a[a > 4] = a[: (a > 4).sum()]
    same(x, a)
    x[[0, 0, 0]] += 1  # once, as NumPy's
    a[[0, 0, 0]] += 1
    same(x, a)


def test_the_key_may_change_afterwards():
    x = la.array(X)
    i, mask = np.array([1, 2]), M.copy()
    got = x[i]
    x[mask] = 0
    i[:] = 0
    mask[:] = True
    same(got, X[[1, 2]])
    same(x, np.where(M, 0, X))


@asynchronous
def test_only_selecting_by_a_pending_mask_waits():
    x, i, mask = la.array(X), la.array([1, 3]), la.array(M)
    with pending(x, i, mask), la.no_sync():
        got = x[:, i]
        x[mask] = 5.0
        x[mask] = la.array(0.0)
        x[i] = 1.0
        taken = la.take(x, i, 0)
        assert got.shape == (4, 2, 6)
        with pytest.raises(RuntimeError, match="no_sync"):
            x[mask]
    want = np.where(M, 0, X)
    want[[1, 3]] = 1
    same(got, X[:, [1, 3]])
    same(x, want)
    same(taken, want[[1, 3]])


@asynchronous
def test_an_index_out_of_bounds_poisons_only_what_it_made():
    x = la.array(X)
    bad = x[la.array([9])]
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 4"):
        (bad + 1).asnumpy()
    same(x, X)
    x[la.array([9])] = 1
    with pytest.raises(IndexError):
        x.asnumpy()
    x[...] = 3
    same(x, np.full_like(X, 3))


def test_devices():
    with la.cpu(1):
        x = la.array(X)
    same(x[[1, 2]], X[[1, 2]])
    assert x[[1, 2]].ctx == la.cpu(1)
    assert x[la.array(M, ctx=la.cpu(1))].ctx == la.cpu(1)
    with pytest.raises(ValueError, match="different devices"):
        x[la.array([1])]


@pytest.mark.parametrize("key", [[0, 0], (slice(None), [0, 0]), (Ellipsis, [0, 0])])
def test_what_is_picked_of_an_empty_broadcast_array_can_be_written(key):
    x = la.broadcast_to(la.zeros((1, 0, 1)), (2, 1, 0, 1))
    picked = x[key]
    picked -= picked
    picked[...] = 1
    assert picked.shape == np.zeros((2, 1, 0, 1))[key].shape
    with pytest.raises(ValueError, match="read-only"):
        x += 1
    wide = la.broadcast_to(la.zeros((1, 3)), (2, 3))
    with pytest.raises(ValueError, match="read-only"):
        wide += 1


@pytest.mark.parametrize("shape", [(3, 2), (40, 2), (0, 2)])
@pytest.mark.parametrize("true", [0, 1, 2])
def test_a_mask_beside_indices_of_as_many(shape, true):
    # How many a mask selects isn't known before the key's shapes are broadcast.
    if true > shape[0]:
        return
    a = np.arange(math.prod(shape)).reshape(shape)
    m, i = np.arange(shape[0]) < true, np.zeros(true, int)
    later = la.argmax(la.zeros((true, 2)), axis=1)
    for key in ((la.array(m), i), (m, la.array(i)), (la.array(m), later), (m, later)):
        same(la.array(a)[key], a[m, i])
        x, want = la.array(a), a.copy()
        x[key], want[m, i] = 7, 7
        same(x, want)


class Places:
    """A class of a program's that stands for an array, as its import has it."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return self.values if dtype is None else self.values.astype(dtype)


@pytest.mark.parametrize("values", [[2, 0], [[1], [3]], [True, False, True, False]])
def test_indices_of_a_class_that_gives_an_array(values):
    a = X.copy()
    x, ours, theirs = la.array(X), Places(la.array(values)), Places(np.array(values))
    same(x[ours], a[theirs])
    same(x[:, :4][:, ours, 1], a[:, :4][:, theirs, 1])
    x[ours], a[theirs] = 7, 7
    same(x, a)
    if values[0] is not True:
        same(la.take(x, ours, axis=1), np.take(a, theirs, axis=1))
        la.put(x, ours, 3)
        np.put(a, theirs, 3)
        same(x, a)


@pytest.mark.parametrize("n", [5, 3000])
def test_tuples_in_a_key_are_sequences(n):
    a = rng.random((n, 4))
    x, places, ours = la.array(a), np.nonzero(a[:, 0] > 0.5), la.nonzero(la.array(a[:, 0] > 0.5))
    for key, there in [
        ((ours, 0), (places, 0)),
        ((ours, (1, 2)[:1]), (places, (1, 2)[:1])),
        (((0, 2, -1), 3), ((0, 2, -1), 3)),
        (((0, 2), (1, 3)), ((0, 2), (1, 3))),
        (((True,) * n, 1), ((True,) * n, 1)),
        (((), 1), ((), 1)),
    ]:
        same(x[key], a[there])
        x[key] = x[key] * -1
        a[there] *= -1
        np.testing.assert_array_equal(x.asnumpy(), a)


KEYS = [
    slice(None),
    slice(1, None),
    slice(None, None, -1),
    0,
    -1,
    ...,
    None,
    "mask",
    "matrix",
    "places",
]


@pytest.mark.parametrize("ndim", [2, 3])
def test_masks_beside_slices_and_numbers(ndim, direct):
    """What is behind a mask is taken first, where that is the same."""
    shape, seeds = (4, 5, 3)[:ndim], np.random.default_rng(0)
    x = seeds.random(shape)
    keys = [k for n in (1, 2, 3) for k in itertools.product(KEYS, repeat=n)]
    for kinds in [
        k for k in keys if {"mask", "matrix", "places"} & {p for p in k if isinstance(p, str)}
    ]:
        rest = ndim - sum(
            {"matrix": 2, ...: 0, None: 0}.get(k if not isinstance(k, slice) else 1, 1)
            for k in kinds
        )
        if rest < 0 or kinds.count(...) > 1:
            continue
        key, axis = [], 0
        for k in kinds:
            lengths = shape[axis : axis + 2]
            made = {
                "mask": lambda n=lengths: seeds.random(n[0]) < 0.6,
                "matrix": lambda n=lengths: seeds.random(n) < 0.6,
                "places": lambda n=lengths: seeds.integers(0, n[0], 3),
            }
            key.append(made[k]() if isinstance(k, str) else k)
            axis += rest if k is ... else 0 if k is None else 2 if k == "matrix" else 1
        ours = tuple(la.array(k) if isinstance(k, np.ndarray) else k for k in key)
        try:
            want = x[tuple(key)]
        except IndexError:
            with pytest.raises(IndexError):
                la.array(x)[ours].wait_to_read()
            continue
        got = la.array(x)[ours]
        np.testing.assert_array_equal(got.asnumpy(), want)
        assert got.shape == want.shape
        values = [
            7.0,
            seeds.random(want.shape),
            seeds.random((1, *want.shape)),
            seeds.random(want.shape[-1:]),
        ]
        for value in values:
            y, mine = x.copy(), la.array(x)
            try:
                y[tuple(key)] = value
            except (ValueError, TypeError) as error:
                with pytest.raises(type(error)):
                    mine[ours] = la.array(value)
                    mine.wait_to_read()
                continue
            mine[ours] = value if isinstance(value, float) else la.array(value)
            np.testing.assert_array_equal(mine.asnumpy(), y)


@pytest.mark.parametrize("shape", [(4, 3), (40, 100, 9), (7, 5, 2, 3), (300, 1), (2000, 40)])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i2", "D", "?"])
def test_rows_where_a_mask_is_true(shape, dtype, direct):
    seeds = np.random.default_rng(len(shape))
    x = (seeds.standard_normal(shape) * 9).astype(dtype)
    for many in range(1, len(shape)):
        mask = seeds.random(shape[:many]) < 0.5
        rows = (seeds.standard_normal((mask.sum(), *shape[many:])) * 9).astype(dtype)
        for value in (rows, rows[:1], rows[0], rows[:, ..., :1], rows[:-1], rows.astype("f8")):
            for late in (False, True):
                y, mine = x.copy(), la.array(x)
                chosen = la.array(mask) & True if late else la.array(mask)
                try:
                    y[mask] = value
                except ValueError as error:
                    with pytest.raises(ValueError, match="shape mismatch"):
                        mine[chosen] = la.array(value)
                        mine.wait_to_read()
                    assert "shape mismatch" in str(error)
                    continue
                mine[chosen] = la.array(value)
                np.testing.assert_array_equal(mine.asnumpy(), y)
                mine[chosen, ...] = la.array(value) if value.ndim == 1 else value
                np.testing.assert_array_equal(mine.asnumpy(), y)


def test_indices_of_too_many_elements():
    with pytest.raises(ValueError, match="too large"):
        la.ones((3,) * 5)[la.ix_(*[np.zeros(7132, int)] * 5)]


VIEWS = [
    lambda x: x.transpose(2, 0, 1),
    lambda x: x[:, :, 3].T,
    lambda x: x[:, 1:3, ::2],
    lambda x: x[:, ::-1],
    lambda x: x[::-1, :, ::-1],
]


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("many", [2, 40])
@pytest.mark.parametrize("ready", [True, False])
def test_rows_that_lie_apart_are_gathered(view, many, ready, monkeypatch):
    monkeypatch.setattr(indexing, "get", None)  # which has NumPy do it, with the GIL
    x = view(np.arange(120.0).reshape(4, 5, 6))
    y = view(la.array(np.arange(120.0).reshape(4, 5, 6)))
    for index in (rng.integers(-len(x), len(x), many), rng.integers(0, len(x), (many, 2))):
        places = la.array(index)
        with contextlib.nullcontext() if ready else pending(places):
            found = y[places]
        same(found, x[index])
        same(y[index], x[index])
        if index.ndim == 1:
            same(y[index.tolist()], x[index.tolist()])
    mask = rng.random(len(x)) < 0.5
    same(y[la.array(mask)], x[mask])
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size"):
        y[la.array([0, 9]) + la.array([0])].asnumpy()


@pytest.mark.parametrize("view", [*VIEWS, lambda x: x.T, lambda x: x[:, 2].T])
@pytest.mark.parametrize("many", [2, 40, 300])
@pytest.mark.parametrize("dtype", ["f8", "u1", "D"])
def test_rows_that_lie_apart_are_stored(view, many, dtype, monkeypatch):
    monkeypatch.setattr(indexing, "set", None)  # which has NumPy do it, with the GIL
    base = (rng.random((4, 5, 6)) * 50).astype(dtype)
    x, y = view(base), view(ours := la.array(base))
    for axis, shape in itertools.product(range(x.ndim - 1), [(many,), (many, 2)]):
        index = rng.integers(-x.shape[axis], x.shape[axis], shape)
        key = (slice(None),) * axis + (index,)
        place = la.array(index)
        lengths = x[key].shape
        values = [3, (rng.random(lengths) * 50).astype(dtype)]
        values += [values[1][..., :1], values[1][0], values[1][:1], values[1][..., :1, :]]
        for value in values:  # of several for one place the last one stays
            x[key] = value
            mine = value if isinstance(value, int) else la.array(value)
            y[(slice(None),) * axis + (place,) if axis else place] = mine
            same(ours, base)
            y[(*key, slice(None))] = mine
            same(ours, base)
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size"):
        y[la.array([0, 9]) + la.array([0])] = 1
        y.asnumpy()


def test_full_slices_behind_an_array_change_nothing(monkeypatch):
    monkeypatch.setattr(indexing, "get", None)
    monkeypatch.setattr(indexing, "set", None)
    x = rng.random((4, 5, 6))
    y = la.array(x)
    i, m, every = np.array([2, 0]), np.array([True, False, True, True]), slice(None)
    for key in [(i, every), (i, every, every), (every, i, every), (m,), (i,)]:
        ours = tuple([la.array(k) if isinstance(k, np.ndarray) else k for k in key])
        same(y[ours], x[key])
        same(y[key], x[key])
        x[key], y[ours] = 7, 7
        same(y, x)
    monkeypatch.undo()
    for key in [(i, every, every, every), (every, i, every, every)]:
        with pytest.raises(IndexError, match="too many indices"):
            y[key]
        with pytest.raises(IndexError, match="too many indices"):
            y[key] = 1


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8", "D"])
@pytest.mark.parametrize("order", "CF")
def test_columns_are_gathered(dtype, order, monkeypatch):
    monkeypatch.setattr(indexing, "get", None)
    for shape in [(7, 90), (8, 90), (300, 40), (1, 50), (5, 40, 3)[: 2 + (order == "C")]]:
        x = np.asarray((rng.random(shape) * 99).astype(dtype), order=order)
        y = la.array(x)
        for many in (1, 17, 200, 2500):
            index = rng.integers(-shape[1], shape[1], many)
            same(y[:, la.array(index)], x[:, index])
            same(la.take(y, la.array(index), axis=1), x.take(index, axis=1))
        with pytest.raises(IndexError, match="index 99 is out of bounds for axis 1 with size"):
            y[:, la.array([99] * 20) + la.array([0])].asnumpy()
    if dtype == "f8":
        y.attach_grad()
        with la.autograd.record():
            y[:, la.array([3] * 20)].sum().backward()
        assert y.grad.sum() == 20 * y[:, 3].size and (y.grad[:, 3] == 20).all()


AMONG_AXES = [
    lambda i, m: (slice(None), m),
    lambda i, m: (slice(None), slice(None), m[:1].repeat(6)),
    lambda i, m: (slice(1, 3), m, slice(None, None, 2)),
    lambda i, m: (..., m, 2),
    lambda i, m: (..., i),
    lambda i, m: (..., [0, 2]),
    lambda i, m: (slice(None), i, ...),
    lambda i, m: (slice(None, None, -1), i),
]


@pytest.mark.parametrize("key", AMONG_AXES)
def test_masks_and_dots_among_axes_are_native(key, monkeypatch):
    monkeypatch.setattr(indexing, "get", None)
    x = np.arange(120.0).reshape(4, 5, 6)
    i, m = np.array([4, 0, -2]), np.array([True, False, True, True, False])
    y = la.array(x)
    ours = key(la.array(i), la.array(m))
    want = x[key(i, m)]
    same(y[ours], want)
    same(y[key(i, m)], want)
    for value in (want + 1, -1):
        x[key(i, m)] = value
        y[ours] = value if isinstance(value, int) else la.array(value)
        same(y, x)


def test_a_mask_behind_slices_is_waited_for_where_it_selects():
    x, mask = la.ones((3, 4)), la.array([True, False, True, False])
    with la.no_sync(), pytest.raises(RuntimeError):
        x[:, mask]
    with pending(mask), la.no_sync():
        x[:, mask] = la.zeros((3, 2))
    assert x.sum().item() == 6 and x[:, mask].shape == (3, 2)
