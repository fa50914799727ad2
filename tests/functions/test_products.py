"""Products against NumPy: values, shapes, ``out=``, what is refused."""

import math

import numpy as np
import pytest

import lazyarray as la
from lazyarray import _numpy_facts

from ..ops.compare import check, lay, layouts, rng, same
from .samples import BASES, FLOATS

pytestmark = pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")


@pytest.mark.parametrize("args", [(), (1,), (-1, 1, 0), (0, 0, 0), (0, 0, 7), (0, 0, 1, "f4")])
def test_trace(args):
    for a in BASES:
        check("trace", a, *args)
    same(la.array(FLOATS).trace(1), FLOATS.trace(1))


OPERANDS = [
    rng.random(()),
    rng.random(4),
    rng.random(8)[::2],
    rng.random(4)[::-1],
    rng.random((4, 4)),
    rng.random((4, 4)).T,
    rng.random((8, 8))[::2, ::2],
    rng.random((4, 4))[::-1],
    rng.random((1, 4)),
    rng.random((4, 1)),
    rng.random((3, 4)),
    rng.random((4, 3)),
    rng.random((2, 4, 4)),
    rng.random((0, 4)),
    rng.random((4, 0)),
    rng.integers(0, 9, (4, 4)),
    rng.integers(0, 2, 4) > 0,
    rng.random((4, 4)).astype("f4"),
    rng.random((4, 4)).astype("e"),
    rng.random((4, 4)) + 1j,
    rng.random(4) * 1j,
]


@pytest.mark.parametrize(
    "name",
    ["dot", "inner", "vdot", "outer", "kron", "vecdot", "matmul", "matvec", "vecmat", "cross"],
)
@pytest.mark.filterwarnings("ignore:Arrays of 2-dim:DeprecationWarning")
def test_products(name):
    for a in map(np.asarray, OPERANDS):
        for b in map(np.asarray, OPERANDS):
            check(name, a, b)


@pytest.mark.parametrize("shapes", [((63, 3), (189,)), ((1, 4), (2, 2)), ((0, 3), (5, 0))])
def test_vdot_of_other_shapes(shapes, direct):
    check("vdot", *[rng.random(shape) for shape in shapes])


@pytest.mark.parametrize(
    "axes", [0, 1, 2, 3, ([0], [1]), (0, 0), ([0, 1], [1, 0]), ([0], [0, 1]), (-1, 0), (7, 0)]
)
def test_tensordot(axes):
    for a in map(np.asarray, OPERANDS):
        for b in map(np.asarray, OPERANDS):
            check("tensordot", a, b, axes)


def test_dot_out():
    a, b = rng.random((3, 4)), rng.random((4, 2))
    out = la.zeros((3, 2))
    assert la.dot(la.array(a), la.array(b), out) is out
    same(out, a @ b)
    assert la.array(a).dot(b).shape == (3, 2)
    for bad in (la.zeros((2, 3)), la.zeros((3, 2), dtype="f4"), la.zeros((2, 3)).T):
        with pytest.raises(ValueError, match="not acceptable"):
            la.dot(la.array(a), la.array(b), bad)
    check("outer", a, b)
    out = la.zeros((12, 8))
    la.outer(a, b, out)
    same(out, np.outer(a, b))


@pytest.mark.parametrize(
    "a, b",
    [
        ([1.0, 2.0, 3.0], [4.0, 5.0]),
        ([1, 2], [0.5, 1.5, 2.5]),
        ([True, False], [1, 2]),
        ([[1, 2], [3, 4]], [5, 6]),
        ([], [1.0]),
        ((1, 2), [3, 4]),
        ([2**62, 1], [1, 2]),
        (2.0, [1, 2]),
        ([1j, 2], [1.0]),
    ],
)
def test_outer_of_lists(a, b):
    same(la.outer(a, b), np.outer(a, b))
    same(la.outer(la.array(a), b), np.outer(np.array(a), b))


@pytest.mark.parametrize("dtype", ["d", "f", "D", "F", "g", "e", "l", "b", "?"])
@pytest.mark.parametrize("name", ["vecdot", "matvec", "vecmat"])
def test_stacks_of_vectors(name, dtype):
    vectors = (9 * rng.standard_normal((2, 1, 4))).astype(dtype)
    matrix = (9 * rng.standard_normal((3, 4, 4))).astype(dtype)
    if dtype in "DF":
        vectors, matrix = vectors * (1 + 2j), matrix * (3 - 1j)
        vectors, matrix = vectors.astype(dtype), matrix.astype(dtype)
    if not hasattr(np, name):  # an older NumPy: there they are products of matrices
        v = vectors[0]
        if name == "matvec":
            same(la.matvec(la.array(matrix), v), (matrix @ v.T)[..., 0])
        else:
            row = v.conj() if dtype in "DF" else v
            same(la.vecmat(v, la.array(matrix)), (row @ matrix)[:, 0])
        return
    for v in (vectors, vectors[0, 0], vectors[..., ::-1], vectors.real.astype("l")):
        for m in layouts(matrix):
            pair = (m, v) if name == "matvec" else (v, m)
            check(name, *pair, strides=False)
    one = vectors[0, 0]
    check(name, one, one[:3])
    check(name, one, np.array(1.0))
    pair = (matrix, one) if name == "matvec" else (one, matrix)
    want = getattr(np, name)(*pair)
    out = la.empty(want.shape, dtype=dtype)
    assert getattr(la, name)(*map(la.array, pair), out=out) is out
    same(out, want)
    check(name, *pair, dtype="D", strides=False)
    same(getattr(np, name)(*map(la.array, pair)), want)  # by the protocol


def test_vecdot_axis():
    a = rng.random((3, 4, 5))
    check("vecdot", a, a, axis=1, strides=False)
    check("vecdot", a, a[0, :, :1], axis=-2, strides=False)
    check("vecdot", a, a, axis=3)


CUBE, TALL, WIDE = (np.arange(float(math.prod(s))).reshape(s) for s in ((2, 3, 4), (4, 3), (3, 4)))
ALONG = {
    "matmul": [
        (CUBE, CUBE, {"axes": [(1, 2), (2, 1), (0, 1)]}),
        (CUBE, CUBE, {"axes": [(1, 2), (2, 1), (2, 0)]}),
        (CUBE, CUBE, {"axes": [(2, 1), (1, 2), (-1, -3)]}),
        (WIDE, TALL, {"axes": [(-2, -1)] * 3}),
        (WIDE[0], CUBE, {"axes": [(0,), (2, 1), (0,)]}),
        (WIDE[0], WIDE[1], {"axes": [(0,), (0,)]}),
        (WIDE[0], WIDE[1], {"axes": [(0,), (0,), ()]}),
        (WIDE.astype(int), TALL.astype(int), {"dtype": "f4"}),
        (WIDE, TALL, {"dtype": "f4", "axes": [(0, 1), (0, 1), (1, 0)]}),
        (WIDE, TALL, {"dtype": "D"}),
        (WIDE, TALL, {"dtype": int}),
        (WIDE, TALL, {"dtype": int, "casting": "unsafe"}),
        (CUBE, CUBE, {"axes": [(1, 2), (2,), (2, 0)]}),
        (CUBE, CUBE, {"axes": [(1, 2), (2, 5), (2, 0)]}),
        (CUBE, CUBE, {"axes": [(1, 2), (2, 1)]}),
        (CUBE, CUBE, {"axis": 1}),
    ],
    "vecdot": [
        (TALL, WIDE, {"axes": [0, 1]}),
        (TALL, WIDE, {"axes": [(0,), 1, ()]}),
        (WIDE, WIDE, {"axis": 0, "keepdims": True}),
        (WIDE, WIDE, {"keepdims": True}),
        (WIDE, WIDE, {"axes": [0, 0], "axis": 0}),
        (WIDE, WIDE, {"axes": (0, 0)}),
        (WIDE, WIDE, {"axes": [0]}),
        (WIDE, WIDE, {"axes": [5, 5]}),
    ],
    "matvec": [(CUBE[0], TALL, {"axes": [(0, 1), 0, 0]}), (CUBE, TALL, {"axes": [(1, 2), 0]})],
    "vecmat": [(TALL, CUBE[0], {"axes": [1, (0, 1), 0]})],
}


@pytest.mark.parametrize("way", ["ours", "numpys"])
@pytest.mark.parametrize("name", [n for n in ALONG if hasattr(np, n)])
def test_axes_of_vectors_and_matrices(name, way):
    theirs, function = getattr(np, name), getattr(la if way == "ours" else np, name)
    for a, b, options in ALONG[name]:
        try:
            want = theirs(a, b, **options)
        except Exception as error:
            with pytest.raises(type(error)):
                function(la.array(a), la.array(b), **options)
            continue
        got = function(la.array(a), la.array(b), **options)
        same(got, want, strides=False)
        if np.ndim(want):
            out = la.zeros(want.shape, want.dtype)
            assert function(la.array(a), la.array(b), **options, out=out) is out
            same(out, want, strides=False)


def test_gradients_along_axes():
    x, y = la.array(WIDE), la.array(TALL)
    x.attach_grad()
    with la.autograd.record():
        z = la.matmul(x, y, axes=[(1, 0), (1, 0), (1, 0)]).sum()
    z.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), np.tile(TALL.sum(0)[:, None], 4))


@pytest.mark.filterwarnings("ignore:Arrays of 2-dim:DeprecationWarning")
def test_cross():
    a, b = rng.random((3, 4, 3)), rng.random((4, 3))
    for kwargs in (
        {}, {"axisc": 0}, {"axisa": 0}, {"axisa": 0, "axisb": 1, "axisc": 1}, {"axis": 5},
        {"axisc": 7},
    ):  # fmt: skip
        check("cross", a, b, **kwargs)
    check("cross", a, a, axis=0)
    for m, n in ((2, 2), (2, 3), (3, 2), (4, 3)):
        for kind in ("d", "l", "F"):
            x, y = a[..., :m].astype(kind), rng.random((4, n)).astype(kind)
            check("cross", x, y)
    short = la.ones(2)
    if not _numpy_facts.CROSS_OF_THREE:
        with pytest.warns(DeprecationWarning, match="2-dimensional vectors"):
            area = la.cross(short, short * 2)
        area += 5  # as in NumPy an array, not a scalar
        area[...] *= 2
        assert float(area) == 10


def test_cross_as_numpy_has_it_since_2_5(monkeypatch):
    monkeypatch.setattr(_numpy_facts, "CROSS_OF_THREE", True)
    three, two = la.ones(3), la.ones(2)
    assert la.cross(three, three).asnumpy().tolist() == [0, 0, 0]
    for a, b in ((two, two), (three, two), (two, three), (la.ones(4), three)):
        with pytest.raises(ValueError, match=f"they are {len(a)} and {len(b)} dimensional"):
            la.cross(a, b)


@pytest.mark.parametrize("shape", [(5000,), (50, 100), (2, 50, 50)])
@pytest.mark.parametrize("number", [0.0, -0.0, 2.0, np.inf])
@pytest.mark.parametrize("dtype", ["f4", "f8", "e", "D"])
def test_dot_with_a_number(shape, number, dtype):
    """NumPy has BLAS add to zeros: no -0.0, and nothing at all where the number is zero."""
    x = np.resize(np.array([1.0, -0.0, np.inf, np.nan, -2.0]), shape).astype(dtype)
    for a in (x, x.T):
        one = np.array(number, dtype)
        with np.errstate(all="ignore"):
            for want, got in (
                (np.dot(a, one), la.dot(la.asarray(a), la.array(one))),
                (np.dot(one, a), la.dot(la.array(one), la.asarray(a))),
            ):
                same(got, want)
                assert got.strides == want.strides


SHAPES_WITH_ONE_ELEMENT = [
    [(1,), (1,)],
    [(1, 1), (1,)],
    [(1, 1), (1, 1)],
    [(1,), (1, 5)],
    [(1, 1), (1, 400)],
    [(400, 1), (1, 1)],
    [(3, 1), (1,)],
]


@pytest.mark.parametrize("shapes", SHAPES_WITH_ONE_ELEMENT)
@pytest.mark.parametrize("number", [0.0, -0.0, 2.0, np.inf, -1.0])
@pytest.mark.parametrize("dtype", ["f4", "f8", "e", "D", "F"])
def test_dot_of_one_element(shapes, number, dtype, direct):
    """NumPy takes it for a number, by which BLAS adds to zeros: none for infinity times zero."""
    values = np.array([-0.0, 1.0, np.inf, np.nan, -2.0])
    operands = [np.resize(values, s) if np.prod(s) > 1 else np.full(s, number) for s in shapes]
    a, b = [x.astype(dtype) for x in operands]
    with np.errstate(all="ignore"):
        for x, y in ((a, b), (a, np.full(shapes[1], 3.0).astype(dtype))):
            same(la.dot(la.array(x), la.array(y)), np.dot(x, y))
            same(la.dot(la.array(x) + 0, la.array(y) * 1), np.dot(x + 0, y * 1))
            same(la.inner(la.array(x), la.array(y.T)), np.inner(x, y.T))


@pytest.mark.parametrize("number", [0.0, 3.0])
@pytest.mark.parametrize("shapes", [[(), (3,)], *SHAPES_WITH_ONE_ELEMENT])
def test_slopes_of_dot_of_one_element(shapes, number):
    a, b = la.full(shapes[0], number), la.ones(shapes[1]) * 2
    for x in (a, b):
        x.attach_grad()
    with la.autograd.record():
        y = la.dot(a, b).sum()
    y.backward()
    # Every element of the one meets every element of the other.
    np.testing.assert_array_equal(a.grad.asnumpy(), np.full(a.shape, 2.0 * b.size))
    np.testing.assert_array_equal(b.grad.asnumpy(), np.full(b.shape, number * a.size))


@pytest.mark.parametrize("dtype", ["u1", "u8", "i1", "d"])
def test_cross_products_of_integers_overflow_in_silence(dtype):
    a, b = np.array([3, 0, 5], dtype), np.array([1, 100, 1], dtype)
    with np.errstate(all="raise"):
        want = np.cross(a, b)
        got = la.cross(la.array(a), la.array(b))
        assert got.dtype == want.dtype and (got.asnumpy() == want).all()


GUFUNC_OPTIONS = [
    {"order": "F"},
    {"order": "a"},
    {"order": None},
    {"order": "x"},
    {"dtype": "f4"},
    {"dtype": "f4", "casting": "unsafe"},
    {"signature": "DD->D", "order": "F"},
    {"signature": (None, None, "D")},
    {"signature": "d"},
    {"signature": "ff->f"},
    {"signature": "ddd"},
    {"dtype": "D", "signature": "DD->D"},
    {"casting": "no"},
    {"casting": "unsafe"},
    {"subok": False},
]


@pytest.mark.parametrize("options", GUFUNC_OPTIONS, ids=str)
def test_what_generalised_ufuncs_take(options):
    """NumPy's result, its place in memory, or the type of its error."""
    a, b, v = rng.random((2, 5, 4)), rng.random((4, 3)), rng.random(4)
    calls = [
        lambda m, a, b, v, **more: m.matmul(a, b, **more),
        lambda m, a, b, v, **more: m.matmul(v, b, **more),
        lambda m, a, b, v, **more: m.matmul(a.astype("f4"), b, **more),
        lambda m, a, b, v, **more: m.vecdot(a, v, **more),
    ]
    if hasattr(np, "matvec"):
        calls += [
            lambda m, a, b, v, **more: m.matvec(a, v, **more),
            lambda m, a, b, v, **more: m.vecmat(v, b, **more),
        ]
    for out in (None, "f4", "i4", "D"):
        for call in calls:
            found = []
            for m in (np, la):
                operands = [m.array(x) for x in (a, b, v)]
                more = dict(options)
                if out is not None:
                    more["out"] = m.zeros(call(np, a, b, v).shape, out)
                try:
                    result = np.asarray(call(m, *operands, **more))
                    found.append((result.dtype, result.flags.f_contiguous, result.tolist()))
                except (TypeError, ValueError) as error:
                    found.append(TypeError if isinstance(error, TypeError) else ValueError)
            assert found[0] == found[1], (options, out)


@pytest.mark.parametrize("d", "?ilegfF")
def test_dot_by_a_number_into_arrays(d):
    def called(xp, out):
        a, v = xp.array(2).astype(d), xp.array([1, 2, 3, 4]).astype(d)
        outs = {
            "whole": lambda: xp.zeros(4, d),
            "apart": lambda: xp.zeros(8, d)[::2],
            "wider": lambda: xp.zeros(4, "D"),
            "rows": lambda: xp.zeros((2, 4), d),
            "short": lambda: xp.zeros(3, d),
        }
        o = outs[out]()
        try:
            got = [xp.dot(a, v, out=o), xp.dot(v, a, o)]
        except Exception as e:
            return type(e)
        assert got[0] is o and got[1] is o
        return o.tolist()

    for out in ("whole", "apart", "wider", "rows", "short"):
        assert called(la, out) == called(np, out)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (7, 1), (30, 784), (3, 70_001)])
@pytest.mark.parametrize("name", ["dot", "matmul"])
def test_a_column_by_a_row(name, shape, dtype):
    # Rounded once, from zero: -0.0 becomes 0.0, as in BLAS.
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -1e308, 1.5]
    rng = np.random.default_rng(0)
    a, b = (np.where(rng.random(n) < 0.3, rng.choice(special, n), rng.random(n)) for n in shape)
    with np.errstate(all="ignore"):
        a, b = a.astype(dtype)[:, None], b.astype(dtype)[None]
        wide = np.repeat(b, 2, 1)
        for x, y in [
            (a, b),
            (a[::-1], b),
            (a, wide[:, ::2]),
            (a, b[:, ::-1]),
            (np.repeat(a, 3, 1)[:, 1:2], b),
        ]:
            want = getattr(np, name)(x, y)
            got = getattr(la, name)(lay(x), lay(y)).asnumpy()
            np.testing.assert_array_equal(got, want)
            numbers = ~np.isnan(want)
            assert (np.signbit(got) == np.signbit(want))[numbers].all()
            out = np.zeros((want.shape[1], want.shape[0]), dtype).T
            np.testing.assert_array_equal(la.matmul(lay(x), lay(y), out=lay(out)).asnumpy(), want)
        stack = np.stack([a, 2 * a, -a])
        np.testing.assert_array_equal((la.array(stack) @ la.array(b)).asnumpy(), stack @ b)


def test_a_column_by_a_row_tells_of_overflow():
    a, b = la.array([[1e300], [1.0]]), la.array([[1e300, 1.0]])
    with pytest.warns(RuntimeWarning, match="overflow encountered in matmul"):
        (a @ b).asnumpy()


@pytest.mark.skipif(not hasattr(np, "matvec"), reason="matvec came with NumPy 2.2")
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "c16"])
def test_products_of_a_matrix_and_a_vector(dtype):
    """Around the sizes from which BLAS is called, and its threads take part."""
    draw = np.random.default_rng(1).standard_normal
    for n, m in ((1, 1), (1, 5), (3, 2), (8, 8), (17, 33), (99, 101), (0, 3), (3, 0), (700, 701)):
        x, v, w = (draw(shape).astype(dtype) for shape in ((n, m), m, n))
        if dtype[0] == "f" and x.size:
            x[0, -1] = np.inf
        for a, b, c in ((x, v, w), (np.asfortranarray(x), v[::-1], w[::-1])):
            check("matvec", a, b)
            check("vecmat", c, a)
    check("matvec", x, w)
    check("vecmat", v, x)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize("n", [0, 1, 2, 7, 8, 33, 129, 4096, 4097, 10_001])
def test_products_of_two_vectors(dtype, n):
    """Around the size up to which the loop is run at once; some raise a flag."""
    a, b = (np.random.default_rng(n).standard_normal((2, 2 * n)) * 9).astype(dtype)
    if dtype[0] == "f" and n:
        b[-1], b[0] = np.nan, np.finfo(dtype).max

    def lines(x, y):
        return [
            (x[:n], y[n:]),
            (x[::2], y[::-2]),
            (x[:n], x[:n]),
            (x[:n], y[:n][::-1]),
            (y[:n], y[:n]),
        ]

    for later in (False, True):
        v, w = la.array(a), la.array(b) + la.zeros((), dtype) if later else la.array(b)
        for given, ours in zip(lines(a, b), lines(v, w), strict=True):
            for name in ("dot", "matmul", "inner"):
                same(getattr(la, name)(*ours), getattr(np, name)(*given))
            same(ours[0] @ ours[1], given[0] @ given[1])
            same(ours[0].dot(ours[1]), given[0].dot(given[1]))
    if n:
        check("dot", a[:n], a[:n])
        with pytest.raises(ValueError, match=r"mismatch|not aligned"):
            la.dot(v, w[:-1])
