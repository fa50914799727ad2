"""Manipulation: views are NumPy's views, copies are NumPy's copies, errors are NumPy's errors."""

import itertools

import numpy as np
import pytest

import lazyarray as la
from lazyarray import _numpy_facts
from lazyarray.functions import manipulation

from ..ops.compare import call, lay, layouts, rng, same, steps, there

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

VIEWS = [
    ("transpose", ()),
    ("transpose", ((1, 0),)),
    ("transpose", ((2, 0, 1),)),
    ("transpose", ((0, 0),)),
    ("permute_dims", ((-1, 0),)),
    ("matrix_transpose", ()),
    ("swapaxes", (0, -1)),
    ("swapaxes", (0, 7)),
    ("moveaxis", (0, -1)),
    ("moveaxis", ([0, 1], [1, 0])),
    ("moveaxis", (0, 9)),
    ("rollaxis", (1,)),
    ("rollaxis", (-1, 1)),
    ("squeeze", ()),
    ("squeeze", (0,)),
    ("squeeze", ((0, 2),)),
    ("squeeze", (5,)),
    ("expand_dims", (0,)),
    ("expand_dims", ((0, -1),)),
    ("expand_dims", (9,)),
    ("broadcast_to", ((2, 3),)),
    ("broadcast_to", ((5, 2, 3, 4),)),
    ("atleast_1d", ()),
    ("atleast_2d", ()),
    ("atleast_3d", ()),
    ("flip", ()),
    ("flip", (0,)),
    ("flip", ((0, -1),)),
    ("flip", (4,)),
    ("fliplr", ()),
    ("flipud", ()),
    ("rot90", ()),
    ("rot90", (2,)),
    ("rot90", (-1, (1, 0))),
    ("rot90", (1, (0, 0))),
    ("diagonal", ()),
    ("diagonal", (1,)),
    ("diagonal", (-1, 1, 0)),
    ("diagonal", (0, 0, 0)),
    ("real", ()),
]


@pytest.mark.parametrize(("name", "args"), VIEWS)
def test_views(name, args):
    for a in ARRAYS:
        want = call(getattr(np, name), (a, *args), {})
        x = lay(a)
        got = call(getattr(la, name), (x, *args), {})
        if isinstance(want, Exception):
            assert isinstance(got, type(want)), (a.shape, got, want)
            continue
        same(got, want)
        assert (got.var == x.var) == isinstance(want, np.ndarray)  # a flip of no axes is a number


@pytest.mark.parametrize("order", ["C", "F", "A"])
@pytest.mark.parametrize(
    "shape",
    [
        6,
        -1,
        (3, 2),
        (2, -1),
        (-1, 2, 2),
        (1, 6, 1),
        (4, 6),
        (3, 4, 2),
        (2, 2, 3, 2),
        (0,),
        (5, 5),
        (-1, -1),
        (3, 0),
        (),
    ],
)
def test_reshape(order, shape):
    for a in ARRAYS:
        x = lay(a)
        want = call(np.reshape, (a, shape), {"order": order})
        got = call(la.reshape, (x, shape), {"order": order})
        if isinstance(want, Exception):
            assert type(got) is type(want)
            assert str(got) == str(want)
            continue
        same(got, want)
        if want.size:
            assert (got.var == x.var) == np.shares_memory(want, a), (a.shape, a.strides)
        view = call(la.reshape, (x, shape), {"order": order, "copy": False})
        assert isinstance(view, ValueError) != np.shares_memory(want, a) or not want.size
        own = la.reshape(x, shape, order=order, copy=True)
        if _numpy_facts.RESHAPE_COPY:
            same(own, np.reshape(a, shape, order=order, copy=True))
        assert own.var != x.var


@pytest.mark.parametrize("bad", [((2, 3.0), {}), ((6,), {"order": "K"}), ((6,), {"order": "X"})])
def test_reshape_errors(bad):
    shape, kwargs = bad
    want = call(np.reshape, (A[6,], shape), kwargs)
    got = call(la.reshape, (lay(A[6,]), shape), kwargs)
    assert type(got) is type(want)
    assert str(got) == str(want)


def test_reshape_reads_copy_as_numpy_does():
    x = la.ones((2, 3))
    for copy in (False, 0, np._CopyMode.NEVER):
        assert la.reshape(x, 6, copy=copy).var == x.var
        with pytest.raises(ValueError, match="Unable to avoid"):
            x.T.reshape(6, copy=copy)
    for copy in (None, np._CopyMode.IF_NEEDED):
        assert x.reshape(6, copy=copy).var == x.var
        assert x.T.reshape(6, copy=copy).shape == (6,)
    with pytest.raises(ValueError, match="copy is True, False or None"):
        x.reshape(6, copy="False")


@pytest.mark.parametrize("order", "CFAK")
def test_ravel_flatten_copy(order):
    for a in ARRAYS:
        x = lay(a)
        got, want = x.ravel(order), a.ravel(order)
        same(got, want)
        if a.size:
            assert (got.var == x.var) == np.shares_memory(want, a), (a.shape, a.strides)
        flat = x.flatten(order)
        same(flat, a.flatten(order))
        own = x.copy(order)
        same(own, a.copy(order))
        assert flat.var != x.var
        assert own.var != x.var


def test_writes_go_through_views():
    a = np.arange(24.0).reshape(2, 3, 4)
    x = la.array(a)
    for f in (
        lambda v: v.transpose(2, 0, 1)[1],
        lambda v: v.reshape(6, 4)[::2],
        lambda v: v.swapaxes(0, 1).ravel("K")[3:7],
        lambda v: v.squeeze()[..., -1],
    ):
        f(a)[...] += 100
        part = f(x)
        part += 100
        same(x, a)
    x[...] += 1  # the diagonal is a read-only view: it follows
    assert x.diagonal().var == x.var
    same(x.diagonal(), (a + 1).diagonal())


def test_real_imag_view():
    for d in there("FDG"):
        a = (rng.random((3, 4)) + 1j * rng.random((3, 4))).astype(d)
        for v in layouts(a):
            x = lay(v)
            same(x.real, v.real)
            same(x.imag, v.imag)
            assert x.imag.var == x.var
    x = la.array(a)
    x.imag = 7
    x.real[0] = 1
    a.imag = 7
    a.real[0] = 1
    same(x, a)
    same(la.ones(3).imag, np.zeros(3))
    with pytest.raises(TypeError):
        la.ones(3).imag = 1


@pytest.mark.parametrize("dtype", ["f4", "u8", "i2", "c16", "?", "f8"])
def test_view_dtype(dtype):
    for a in (
        np.arange(8.0),
        np.arange(8.0).reshape(2, 4),
        np.arange(12.0).reshape(3, 4)[:, ::2],
        np.zeros((3, 3)),
        np.array(1.0),
    ):
        want = call(a.view, (dtype,), {})
        x = lay(a)
        got = call(x.view, (dtype,), {})
        if isinstance(want, Exception):
            assert type(got) is type(want)
            assert str(got) == str(want)
        else:
            same(got, want)
            assert got.var == x.var


def test_array_likes():
    same(la.reshape([[1, 2], [3, 4]], 4), np.arange(1, 5))
    same(la.stack([[1, 2], np.array([3, 4])]), np.array([[1, 2], [3, 4]]))
    with la.cpu(1):
        x = la.ones(2)
    assert la.concatenate([[1.0], x]).ctx == la.cpu(1)
    with pytest.raises(ValueError, match="different devices"):
        la.concatenate([x, la.ones(2)])
    assert steps(la.tile(x, 2)) == [8]


def test_reshapes_without_numpys_copy(monkeypatch):
    """NumPy 2.0 has no ``copy=False``: the same views are found without it."""
    random = np.random.default_rng(5)
    base, views = np.arange(240).reshape(2, 3, 4, 5, 2), 0
    cuts = [slice(None), slice(None), slice(None, None, 2), slice(0, 1), slice(None, None, -1), 0]
    for _ in range(1000):
        v = base.transpose(random.permutation(5))
        v = v[tuple(cuts[i] for i in random.integers(len(cuts), size=5))]
        shape, left = [], v.size
        while left > 1:
            shape.append(int(random.choice([n for n in range(2, left + 1) if left % n == 0])))
            left //= shape[-1]
        found, order = [], "CFA"[random.integers(3)]
        for known in (_numpy_facts.RESHAPE_COPY, False):
            monkeypatch.setattr(_numpy_facts, "RESHAPE_COPY", known)
            try:
                found.append(manipulation._in_place(v, (1, *shape, -1), order))
            except ValueError:
                found.append(None)
        want, got = found
        assert (got is None) == (want is None)
        if want is not None:
            views += 1
            assert np.shares_memory(got, v)
            np.testing.assert_array_equal(got, want)
    assert 100 < views < 1000


@pytest.mark.parametrize("kind", [tuple, list, np.array, la.array])
def test_shapes_and_axes_are_any_sequence(kind):
    x = la.arange(6)
    assert x.reshape(kind([2, 3])).shape == (2, 3)
    assert x.reshape(2, 3).transpose(kind([1, 0])).shape == (3, 2)
    assert la.transpose(x.reshape(2, 3), kind([1, 0])).shape == (3, 2)
    x.resize(kind([2, 2]), refcheck=False)
    assert x.tolist() == [[0, 1], [2, 3]]


def test_no_axes_are_no_permutation():
    for xp in (np, la):
        with pytest.raises(ValueError, match="axes don't match"):
            xp.ones((2, 3)).transpose(())


@pytest.mark.parametrize("shape", [(), (1,), (5,), (3, 4), (3, 1), (0, 3), (2, 3, 4), (300, 400)])
@pytest.mark.parametrize("order", "CFAK")
def test_raveled_orders(shape, order, direct):
    a = np.arange(float(np.prod(shape))).reshape(shape)
    views = [lambda v: v, lambda v: v.T, lambda v: v[..., ::2] if v.ndim else v]
    for view, name, pending in itertools.product(views, ("ravel", "flatten"), (False, True)):
        mine = la.array(a) + 0 if pending and a.ndim else la.array(a)
        want, got = getattr(view(a), name)(order), getattr(view(mine), name)(order)
        np.testing.assert_array_equal(got.asnumpy(), want)
        assert np.shares_memory(want, a) == la.shares_memory(got, mine)


@pytest.mark.parametrize("pending", [False, True])
@pytest.mark.parametrize("dtype", ["f8", "f4", "?", "c16"])
def test_reshapes_of_views(dtype, pending, direct):
    """A view wherever NumPy's is one, with its steps; else a copy."""
    random, copies = np.random.default_rng(7), 0
    cuts = [
        lambda n: slice(n),
        lambda n: slice(0, 2 * n, 2),
        lambda n: slice(n - 1, None, -1),
        lambda n: slice(1, n + 1),
    ]
    for _ in range(300):
        shape = random.choice([1, 1, 2, 3, 4, 6], size=random.integers(1, 6)).tolist()
        base = np.arange(np.prod([2 * n + 1 for n in shape])).astype(dtype)
        base = base.reshape([2 * n + 1 for n in shape])
        key = tuple(cuts[random.integers(4)](n) for n in shape)
        axes = random.permutation(len(shape)).tolist()
        made = la.array(base) * np.array(1, dtype) if pending else la.array(base)
        a, mine = base[key].transpose(axes), made[key].transpose(axes)
        lengths, left = [], a.size
        while left > 1:
            lengths.append(int(random.choice([n for n in range(2, left + 1) if left % n == 0])))
            left //= lengths[-1]
        for at in random.integers(len(lengths) + 1, size=random.integers(1, 3)):
            lengths.insert(int(at), 1)
        if random.integers(2):
            lengths[random.integers(len(lengths))] = -1
        order = "CCFA"[random.integers(4)]
        want, got = a.reshape(lengths, order=order), mine.reshape(lengths, order=order)
        assert got.strides == want.strides
        np.testing.assert_array_equal(got.asnumpy(), want)
        want.flat[0] = got[(0,) * got.ndim] = a.flat[-1]
        np.testing.assert_array_equal(mine.asnumpy(), a)  # it is written through, or isn't
        copies += not np.shares_memory(want, a)
    assert 30 < copies < 270


@pytest.mark.parametrize("shape", [(2, 6), (-1,), (2, 2, 3)])
@pytest.mark.parametrize("order", "CF")
def test_gradients_of_a_reshape_that_copies(shape, order):
    x = la.arange(12.0).reshape(3, 4)
    x.attach_grad()
    w = np.arange(12.0).reshape(np.empty(12).reshape(shape).shape)
    with la.autograd.record():
        y = (x.T.reshape(shape, order=order) * w).sum()
    y.backward()
    want = np.empty((4, 3))
    want[...] = w.reshape((4, 3), order=order)
    np.testing.assert_array_equal(x.grad.asnumpy(), want.T)


@pytest.mark.parametrize("shape", [2**70, (2, 2**65), 2**63, -(2**70), (2**70, 12)])
def test_lengths_beyond_64_bits(shape):
    for xp in (np, la):
        with pytest.raises(ValueError, match="Maximum allowed dimension exceeded"):
            xp.arange(12.0).reshape(shape)
