"""Linear algebra equals NumPy's, value for value; its errors come where they can be known."""

import numpy as np
import pytest

import lazyarray as la
from lazyarray import linalg
from lazyarray.ops import linear_algebra

from .compare import asynchronous, check, documented, lay, layouts, pending, rng, same

SQUARE = rng.random((3, 4, 4)) + 3 * np.eye(4)
TALL = rng.random((2, 5, 3))
POSITIVE = SQUARE @ SQUARE.swapaxes(-1, -2)
MATRICES = [
    *layouts(SQUARE)[:2],
    SQUARE[0],
    SQUARE[0].T,
    SQUARE[0, ::2, ::2],
    SQUARE.astype("f4"),
    SQUARE + 1j * SQUARE[::-1],
    (SQUARE * 10).astype("i4"),
    SQUARE[:0],
    np.zeros((0, 0)),
    SQUARE.astype("e"),
    TALL,
    TALL[0].T,
    np.ones(3),
    np.array(1.0),
]


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("inv", ()),
        ("pinv", ()),
        ("pinv", (1e-3,)),
        ("det", ()),
        ("slogdet", ()),
        ("qr", ()),
        ("qr", ("complete",)),
        ("qr", ("r",)),
        ("qr", ("raw",)),
        ("qr", ("other",)),
        ("svd", ()),
        ("svd", (False,)),
        ("svd", (False, False)),
        ("svdvals", ()),
        ("eig", ()),
        ("eigvals", ()),
        ("cond", ()),
        ("cond", (1,)),
        ("cond", ("fro",)),
        ("matrix_rank", ()),
        ("matrix_rank", (0.5,)),
        ("matrix_power", (3,)),
        ("matrix_power", (0,)),
        ("matrix_power", (-2,)),
        ("matrix_power", (1.5,)),
        ("diagonal", ()),
        ("trace", ()),
        ("matrix_transpose", ()),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_functions_of_a_matrix(name, args):
    for a in MATRICES:
        check(name, a, *args, module="linalg", strides=not name.startswith("eig"))


@pytest.mark.parametrize(
    ("name", "args"),
    [("cholesky", ()), ("eigh", ()), ("eigh", ("U",)), ("eigh", ("X",)), ("eigvalsh", ())],
)
def test_functions_of_a_positive_matrix(name, args):
    for a in (POSITIVE, POSITIVE[0].T, POSITIVE.astype("f4"), POSITIVE + 0j, TALL, np.ones(3)):
        check(name, a, *args, module="linalg")
    check("cholesky", POSITIVE, upper=True, module="linalg")


def test_named_results():
    x = la.array(POSITIVE)
    assert linalg.eigh(x)._fields == np.linalg.eigh(POSITIVE)._fields
    assert linalg.svd(x)._fields == np.linalg.svd(POSITIVE)._fields
    assert linalg.qr(x)._fields == np.linalg.qr(POSITIVE)._fields
    assert linalg.slogdet(x)._fields == np.linalg.slogdet(POSITIVE)._fields


@pytest.mark.parametrize(
    "b",
    [np.ones(4), np.ones((4, 2)), rng.random((3, 4, 2)), np.ones((1, 4, 1)), np.ones(3),
     np.ones(()), np.ones((5, 4, 2)), np.ones((3, 2)), np.arange(4),
     np.asfortranarray(rng.random((4, 3)))],
)  # fmt: skip
def test_solve(b):
    for a in (SQUARE, SQUARE[0], SQUARE[1].T, SQUARE.astype("f4"), SQUARE + 0j, TALL, np.ones(3)):
        check("solve", a, b, module="linalg")


@pytest.mark.parametrize("ord", [None, 2, 1, -1, -2, np.inf, -np.inf, 0, 3, "fro", "nuc", "bad"])
def test_norm(ord):
    for a in (*MATRICES, np.arange(5), rng.random((2, 3, 4)).T):
        for axis in (None, 0, -1, (0, 1), (-1, 0), (0, 0), (0, 1, 2), 4):
            for keepdims in (False, True):
                check("norm", a, ord, axis, keepdims, module="linalg")
        if not isinstance(ord, str):
            for axis in (None, 0, (0, 1)):
                check("vector_norm", a, ord=ord or 2, axis=axis, module="linalg")
        check("matrix_norm", a, ord=ord or "fro", module="linalg")


def test_multi_dot_and_cross():
    parts = [rng.random((2, 3)), rng.random((3, 4)), rng.random((4, 5)), rng.random(5)]
    check("multi_dot", parts, module="linalg")
    check("multi_dot", parts[:3], module="linalg")
    check("multi_dot", [np.ones(2), *parts], module="linalg")
    check("multi_dot", parts[:1], module="linalg")
    check("multi_dot", parts[1:] + parts[:1], module="linalg")
    check("multi_dot", [np.ones(()), *parts], module="linalg")
    for a, b in [(rng.random((4, 3)), rng.random(3)), (rng.random((3, 4)), rng.random((3, 4)))]:
        check("cross", a, b, module="linalg")
        check("cross", a, b, axis=0, module="linalg")


@asynchronous
def test_a_singular_matrix_is_an_error_at_the_wait():
    x = la.zeros((2, 2))
    for make in (
        lambda: linalg.inv(x),
        lambda: linalg.solve(x, la.ones(2)),
        lambda: linalg.cholesky(x - 1),
        lambda: linalg.matrix_power(x, -1),
    ):
        bad = make() * 2
        with pytest.raises(np.linalg.LinAlgError):
            bad.asnumpy()
    for make in (lambda: linalg.inv(la.ones((2, 3))), lambda: linalg.det(la.ones(3))):
        with pytest.raises(np.linalg.LinAlgError):
            make()
    with pytest.raises(TypeError, match="float16"):
        linalg.inv(la.ones((2, 2), dtype="e"))
    same(x, np.zeros((2, 2)))


@asynchronous
def test_nothing_waits_but_eig():
    x = la.array(POSITIVE)
    with pending(x), la.no_sync():
        got = [
            linalg.inv(x), linalg.cholesky(x), *linalg.eigh(x), linalg.norm(x), la.dot(x, x[0]),
            la.einsum("kij,kji->k", x, x), la.tensordot(x, x, 3),
        ]  # fmt: skip
        with pytest.raises(RuntimeError, match="no_sync"):
            linalg.eig(x)
    p = POSITIVE
    wanted = [
        np.linalg.inv(p), np.linalg.cholesky(p), *np.linalg.eigh(p), np.linalg.norm(p),
        np.dot(p, p[0]), np.einsum("kij,kji->k", p, p), np.tensordot(p, p, 3),
    ]  # fmt: skip
    same(got, wanted, strides=False)


# ---- products -----------------------------------------------------------------------------------

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


@pytest.mark.parametrize("name", ["dot", "inner", "vdot", "outer", "kron", "vecdot", "matmul"])
def test_products(name):
    for a in map(np.asarray, OPERANDS):
        for b in map(np.asarray, OPERANDS):
            check(name, a, b)


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


A, B, C = rng.random((3, 4)), rng.random((4, 5)), rng.random((2, 3, 4))


@pytest.mark.parametrize(
    "args",
    [
        ("ij,jk->ik", A, B),
        ("ij,jk", A, B),
        ("ij,jk->ki", A, B),
        ("ij->", A),
        ("ij->ji", A),
        ("ij", A),
        ("ba", A),
        ("ii->i", A[:, :3]),
        ("ii", A[:, :3]),
        ("kij,ij->k", C, A),
        ("...ij,jk->...ik", C, B),
        ("...ij,...ij", C, A),
        ("i...->...", C),
        ("k i j , i j -> k", C, A),
        (A, [0, 1], B, [1, 2], [0, 2]),
        (A, [0, 1], B, [1, 2]),
        (C, [..., 0], [0, ...]),
        ("ij,ij->ij", A, A[:1]),
        ("ij,jk->ik", A, A),
        ("ij,jk->il", A, B),
        ("ijk->i", A),
        ("ij,jk", A),
        ("i1->i", A),
        ("ij->ii", A),
    ],
    ids=str,
)
def test_einsum(args):
    check("einsum", *args)
    if isinstance(args[0], str):
        check("einsum", *args, optimize=True)
        arrays = [lay(v.astype("f4")) for v in args[1:]]
        try:
            want = np.einsum(args[0], *[v.astype("f4") for v in args[1:]])
        except ValueError:
            return
        same(la.einsum(args[0], *arrays), want)


@pytest.mark.parametrize("function", documented(linalg, linear_algebra))
def test_documented(function):
    assert ">>>" in function.__doc__
