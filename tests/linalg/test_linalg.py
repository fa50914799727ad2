"""Linear algebra equals NumPy's, value for value; its errors come where they can be known."""

import itertools
import warnings

import numpy as np
import pytest

import lazyarray as la
from lazyarray import linalg

from ..ops.compare import asynchronous, check, layouts, pending, rng, same

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


@pytest.mark.parametrize("name", ["eigh", "eig", "svd", "qr", "slogdet"])
def test_named_results(name, direct):
    for a in (POSITIVE, POSITIVE[0]):
        want, got = getattr(np.linalg, name)(a), getattr(linalg, name)(la.array(a))
        assert type(got) is type(want) and all(isinstance(x, la.NDArray) for x in got)


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


def test_norms_of_vectors_with_gaps():
    whole = np.random.default_rng(0).standard_normal((100, 100))
    for a in (whole, whole + 1j * whole.T):
        x = la.array(a)
        for i in range(100):
            for key in [(slice(None), i), (slice(None, None, -2), i), (slice(1, None), [i])]:
                same(linalg.norm(x[key]), np.linalg.norm(a[key]))
            column = (slice(None), slice(i, i + 1))
            same(linalg.norm(x[column]), np.linalg.norm(a[column]))


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
            la.tensordot(x, x, 3), linalg.pinv(x), linalg.matrix_rank(x), linalg.cond(x),
        ]  # fmt: skip
        with pytest.raises(RuntimeError, match="no_sync"):
            linalg.eig(x)
        linalg.eig(x + 1j), linalg.eigvals(x + 1j)
        linalg.lstsq(x[0, :3], x[0, 0, :3]), linalg.tensorinv(x[0].reshape(2, 2, 4))
        linalg.matrix_power(x, -3), linalg.multi_dot([x[0], x[1], x[2], x[0]])
        for ord in (None, 1, 2, -2, 3, "nuc"):
            linalg.norm(x, ord, (1, 2) if ord != 3 else 1)
        with pytest.raises(RuntimeError, match="no_sync"):
            linalg.lstsq(x[0, :, :3], x[0, 0])
    p = POSITIVE
    wanted = [
        np.linalg.inv(p), np.linalg.cholesky(p), *np.linalg.eigh(p), np.linalg.norm(p),
        np.dot(p, p[0]),
        np.tensordot(p, p, 3), np.linalg.pinv(p), np.linalg.matrix_rank(p), np.linalg.cond(p),
    ]  # fmt: skip
    same(got, wanted, strides=False)


@pytest.mark.parametrize(
    ("shape", "b"),
    [((6, 3), (6,)), ((6, 3), (6, 2)), ((3, 6), (3, 2)), ((4, 4), (4,)), ((4, 4), (4, 0)),
     ((0, 3), (0,)), ((5, 0), (5,)), ((4, 3), (3,)), ((4, 3), ()), ((2, 4, 3), (4,)), ((4,), (4,))],
)  # fmt: skip
def test_lstsq(shape, b):
    for dtype in ("d", "f", "D", "l", "e"):
        x, y = [(9 * rng.random(s)).astype(dtype) for s in (shape, b)]
        check("lstsq", x, y, module="linalg", strides=False)
        check("lstsq", x, y, 1e-3, module="linalg", strides=False)
        if len(shape) == 2 and shape[1]:  # of rank 1
            check("lstsq", x[:, :1] * np.ones(3), y, module="linalg", strides=False)


def test_tensors():
    for ind in (1, 2, 3, 0, 2.5):
        for a in (rng.random((4, 6, 8, 3)), rng.random((24, 8, 3)), rng.random((2, 3, 6))):
            check("tensorinv", a, ind, module="linalg", strides=False)
    for args in (
        (rng.random((6, 4, 2, 3, 4)), rng.random((6, 4))),
        (rng.random((6, 4, 2, 3, 4)).transpose(2, 0, 1, 3, 4), rng.random((6, 4)), (0,)),
        (rng.random((6, 4)), rng.random(6)),
        (rng.random((6, 4, 2, 3, 4)), rng.random((6, 4)), (9,)),
    ):
        check("tensorsolve", *args, module="linalg", strides=False)


def test_tolerances():
    low = np.outer(np.arange(1.0, 5), np.arange(1.0, 4)) + 1e-9 * rng.random((4, 3))
    stack = np.stack([low, rng.random((4, 3))])
    for a in (low, stack, stack.astype("f4"), stack[..., :0], np.ones(3), np.zeros(3)):
        for name, kwargs in (
            ("pinv", {"rtol": 1e-6}),
            ("pinv", {"rtol": None}),
            ("pinv", {"rtol": np.full(2, 1e-6)}),
            ("pinv", {"rcond": 1e-6}),
            ("pinv", {"rcond": 1e-6, "rtol": 1e-6}),
            ("matrix_rank", {"tol": 1e-6}),
            ("matrix_rank", {"tol": np.full(2, 1e-6)}),
            ("matrix_rank", {"rtol": 1e-6}),
            ("matrix_rank", {"rtol": np.full(2, 1e-6)}),
            ("matrix_rank", {"tol": 1e-6, "rtol": 1e-6}),
        ):
            check(name, a, module="linalg", strides=False, **kwargs)
    check("pinv", POSITIVE, hermitian=True, module="linalg", strides=False)
    check("matrix_rank", POSITIVE, hermitian=True, module="linalg")


@pytest.mark.parametrize("axis", [None, 0, (0,), (0, 2), (2, 0), (0, 1, 2), (-1, -2), 5, (1, 1)])
@pytest.mark.parametrize("ord", [2, 1, 0, 2.5, np.inf, -np.inf])
def test_vector_norm(axis, ord):
    for a in (rng.random((2, 3, 4)), rng.random((2, 3, 4)) * 1j, np.arange(24).reshape(2, 3, 4)):
        for keepdims in (False, True):
            check(
                "vector_norm", a, axis=axis, keepdims=keepdims, ord=ord,
                module="linalg", strides=False,
            )  # fmt: skip


@pytest.mark.parametrize("n", [*range(-3, 9), 21])
def test_matrix_power(n):
    for a in (SQUARE, SQUARE[0].T, SQUARE.astype("f4"), np.arange(9).reshape(3, 3), SQUARE[:0]):
        check("matrix_power", a, n, module="linalg")


def test_multi_dot_takes_the_cheapest_order():
    for lengths in ([10, 100, 5, 50], [3, 1, 7, 2, 9], [2] * 5, [30, 35, 15, 5, 10, 20, 25]):
        parts = [rng.random(p) for p in itertools.pairwise(lengths)]
        check("multi_dot", parts, module="linalg")
        check("multi_dot", [parts[0][0], *parts[1:]], module="linalg")
        last = parts[-1][:, 0].copy()  # a host array comes contiguous, which decides BLAS's bits
        check("multi_dot", [*parts[:-1], last], module="linalg")
        check("multi_dot", [parts[0][0], *parts[1:-1], last], module="linalg")
        out = la.zeros((lengths[0], lengths[-1]))
        assert linalg.multi_dot([la.array(p) for p in parts], out=out) is out
        same(out, np.linalg.multi_dot(parts))


def test_the_stricter_forms_of_linalg():
    v, m = np.arange(3.0), np.ones((2, 3))
    check("outer", v, v, module="linalg")
    check("outer", m, v, module="linalg")
    check("cross", v, v[:2], module="linalg")
    check("cross", m, v, axis=4, module="linalg")
    check("cond", np.zeros((2, 2)), 1, module="linalg")
    check("cond", np.ones((0, 0)), module="linalg")


@pytest.mark.parametrize("n", [2, 65])
@pytest.mark.parametrize("name", ["inv", "solve", "cholesky", "det", "eigvalsh", "qr"])
@pytest.mark.host  # of the CPU's x87 unit
def test_a_flag_that_others_left_is_no_error(name, n):
    """Sorting a long double NaN leaves the x87 unit's invalid flag on the thread."""
    x = la.array(np.array([3, np.nan, 1, 2] * 100, "g"))
    a, b = la.eye(n) * 2, [la.ones(n)] if name == "solve" else []
    for order in (la.sort, la.argsort, la.unique):
        for _ in range(2):
            order(x).wait_to_read()
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                got = getattr(la.linalg, name)(a, *b)
                la.waitall()
            same(got, getattr(np.linalg, name)(a.asnumpy(), *[v.asnumpy() for v in b]))


def test_warnings_name_numpys_function():
    a = np.full((3, 3), 1e200) * np.eye(3)
    for call in (np.linalg.det, lambda x: la.linalg.det(la.array(x)).item()):
        with pytest.warns(RuntimeWarning, match="overflow encountered in det"):
            call(a)


def test_norms_of_several_orders_at_once():
    """They leave the types of others' results alone."""
    x = la.arange(20_000.0) + 1
    for order in ([3], [2.5, 4.0]):
        a = np.arange(1.0, 3.0) if len(order) == 2 else x.asnumpy()
        np.testing.assert_allclose(
            la.linalg.norm(la.array(a) * 1, order).asnumpy(), np.linalg.norm(a, order)
        )
    assert isinstance(la.linalg.norm(x, 3), float)
    assert la.linalg.norm(x, [3]).shape == np.linalg.norm(x.asnumpy(), [3]).shape


def test_a_cut_that_is_a_lazyarray(direct):
    a, b = np.diag([1.0, 1.0, 1e-2]), np.arange(3.0)
    for cut in (0.1, 1e-3):
        want = np.linalg.lstsq(a, b, cut)
        for rcond in (la.array([cut])[0], la.array(cut)):
            for got, w in zip(la.linalg.lstsq(la.array(a), la.array(b), rcond), want, strict=True):
                np.testing.assert_array_equal(got.asnumpy(), w)
        fitted = la.polyfit(la.arange(3.0), la.array(b), 1, rcond=la.array([cut])[0])
        np.testing.assert_array_equal(fitted.asnumpy(), np.polyfit(np.arange(3.0), b, 1, cut))


def test_multi_dot_writes_to_an_output_of_its_kind_alone():
    a, b, c = np.arange(6.0).reshape(2, 3), np.ones((3, 2)), np.arange(8.0).reshape(2, 4)
    for xp in (np, la):
        factors = [xp.array(x) for x in (a, b, c)]
        for out in (xp.zeros((2, 4), "f4"), xp.zeros((4, 2)).T, xp.zeros(8)):
            with pytest.raises(ValueError, match="output array is not acceptable"):
                xp.linalg.multi_dot(factors, out=out)
            assert not out.any()
        out = xp.zeros((2, 4))
        assert xp.linalg.multi_dot(factors, out=out) is out
        np.testing.assert_array_equal(np.asarray(out), a @ b @ c)


@pytest.mark.parametrize("dtype", "fdFDl")
@pytest.mark.parametrize(
    "shape",
    # Beside the sizes from which a tall matrix is turned round, and the rows that are at once.
    [(512, 32), (511, 32), (20000, 1), (4096, 4), (130, 127), (264, 66), (263, 66), (16385, 3)],
)
def test_qr_of_tall_matrices(shape, dtype):
    x = np.random.default_rng(0).standard_normal((*shape, 2)) * 9
    x = (x[..., 0] + 1j * x[..., 1] if dtype in "FD" else x[..., 0]).astype(dtype)
    for y in (x, np.asfortranarray(x), x.T, np.repeat(x, 2, 1)[:, ::2]):
        for mode in ("reduced", "r", "raw"):
            found = la.linalg.qr(la.array(y), mode)
            wanted = np.linalg.qr(np.array(y), mode)
            for got, want in zip(map(np.asarray, found), wanted, strict=True):
                assert got.dtype == want.dtype and got.tobytes() == want.tobytes()
            if 1 not in y.shape and mode == "reduced":
                assert [a.strides for a in found] == [a.strides for a in wanted]


def test_qr_of_tall_matrices_without_numbers():
    x = np.ones((20000, 3))
    x[5, 1], x[7, 2] = np.nan, np.inf
    for got, want in zip(la.linalg.qr(la.array(x)), np.linalg.qr(x), strict=True):
        np.testing.assert_array_equal(got.asnumpy(), want)


@pytest.mark.parametrize("mode", ["economic", "e"])
def test_qr_in_economic_mode(mode):
    a = np.random.default_rng(0).random((2, 5, 3))
    found = []
    for xp in (np, la):
        with pytest.warns(DeprecationWarning, match="'economic' option is deprecated"):
            found.append(np.asarray(xp.linalg.qr(xp.array(a), mode)))
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("axes", [(3, 2, 1, 0), (2, 3, 1, 0), (3, 2, 0, 1)])
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("n", [3, 33])
def test_a_stack_lies_as_the_operands(axes, sign, n):
    """What is added up of it comes in another order otherwise."""
    rng = np.random.default_rng(0)
    base = rng.random((n, n, 20, 3)) + 50 * np.eye(n)[:, :, None, None]
    a = base.transpose(axes)[::sign]
    for text in (
        "xp.linalg.inv(a)",
        "xp.linalg.det(a)",
        "xp.linalg.cholesky(a)",
        "xp.linalg.solve(a, a)",
        "xp.linalg.solve(a, a[..., :1])",
        "xp.linalg.solve(a, a[0])",
        "xp.linalg.matrix_power(a, -2)",
        "xp.linalg.pinv(a)",
    ):
        b = la.array(base).transpose(axes)[::sign]
        got = eval(text, {"xp": la, "a": b})
        want = eval(text, {"xp": np, "a": a})
        assert got.strides == want.strides, text
        assert got.sum().item() == want.sum().item(), text
