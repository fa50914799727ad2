"""Gradients of decompositions and equations; what is Hermitian goes in as x + x^H."""

import numpy as np
import pytest

import lazyarray as la

from .check import check, check_twice, late

RNG = np.random.default_rng(0)
SQUARE = RNG.standard_normal((3, 3)) + 3 * np.eye(3)
STACK = RNG.standard_normal((2, 3, 3)) + 3 * np.eye(3)
COMPLEX = SQUARE + 1j * RNG.standard_normal((3, 3))
TALL = RNG.standard_normal((5, 3))
WIDE = RNG.standard_normal((2, 3, 5))
B = RNG.standard_normal((3, 2))


def hermitian(x):
    return x + x.conj().mT


def positive(x):
    return x @ x.conj().mT


SQUARES = pytest.mark.parametrize("x", [SQUARE, STACK, COMPLEX], ids=["real", "stack", "complex"])


@SQUARES
@pytest.mark.parametrize(
    "function",
    [
        la.linalg.inv,
        la.linalg.det,
        la.linalg.pinv,
        lambda x: la.linalg.slogdet(x)[1],
        lambda x: la.linalg.slogdet(x)[0],
        lambda x: la.linalg.cholesky(positive(x)),
        lambda x: la.linalg.cholesky(positive(x), upper=True),
        lambda x: la.linalg.eigvalsh(hermitian(x)),
        lambda x: la.linalg.eigh(hermitian(x), "U")[0],
        lambda x: la.linalg.svdvals(x),
        lambda x: la.linalg.matrix_power(x, -2),
        lambda x: la.linalg.matrix_power(x, 5),
        lambda x: la.linalg.solve(x, x.mT @ x),
        lambda x: la.linalg.norm(x, axis=(-2, -1)),
        lambda x: la.linalg.matrix_norm(x, ord="nuc"),
        lambda x: la.linalg.matrix_norm(x, ord=2),
        lambda x: la.linalg.vector_norm(x, axis=-1, ord=3),
        lambda x: la.linalg.cond(x),
        lambda x: la.linalg.cond(x, 1),
    ],
)
def test_functions_of_square_matrices(function, x):
    check(function, x)
    check_twice(function, x)


@SQUARES
def test_vectors(x):
    """Of a complex matrix only what doesn't depend on the vectors' phases is determined."""
    if x.dtype.kind == "c":

        def of_vectors(v):
            projections = v[..., :, None, :] * v.conj()[..., None, :, :]
            return projections * la.arange(1.0, 4)

    else:

        def of_vectors(v):
            return v

    check(lambda x: of_vectors(la.linalg.eigh(hermitian(x))[1]), x)
    check(lambda x: [of_vectors(la.linalg.svd(x)[0]), la.linalg.svd(x)[1]], x)
    check(lambda x: of_vectors(la.linalg.svd(x)[2].mT), x)
    check_twice(lambda x: of_vectors(la.linalg.eigh(hermitian(x))[1]), x)


@pytest.mark.parametrize("x", [TALL, WIDE, TALL + 1j * RNG.standard_normal(TALL.shape), SQUARE],
                         ids=["tall", "wide", "complex", "square"])  # fmt: skip
def test_qr(x):
    check(lambda x: list(la.linalg.qr(x)), x)
    check(lambda x: la.linalg.qr(x)[0] * 2, x)
    check(lambda x: la.linalg.qr(x, mode="r"), x)
    check_twice(lambda x: list(la.linalg.qr(x)), x)
    if x.shape[-2] <= x.shape[-1]:
        check(lambda x: list(la.linalg.qr(x, mode="complete")), x)


@pytest.mark.parametrize("x", [TALL, WIDE], ids=["tall", "wide"])
def test_svd_of_oblong_matrices(x):
    check(lambda x: list(la.linalg.svd(x, full_matrices=False)), x)
    check(lambda x: la.linalg.svd(x, compute_uv=False), x)
    check(lambda x: la.linalg.pinv(x), x)
    check(lambda x: la.linalg.pinv(x, rcond=0.01), x)
    check(lambda x: la.linalg.norm(x[..., :3, :], "nuc", axis=(-2, -1)), x)


def test_svd_of_hermitian_matrices():
    check(lambda x: la.linalg.svd(hermitian(x), hermitian=True)[1], SQUARE)
    check(lambda x: la.linalg.pinv(hermitian(x), hermitian=True), SQUARE)


def test_equal_eigenvalues_leave_the_values_gradients():
    x = la.eye(3)
    x.attach_grad()
    for function in (
        la.linalg.eigvalsh,
        la.linalg.svdvals,
        lambda x: la.linalg.eigh(x)[0],
        lambda x: la.linalg.svd(x)[1],
        lambda x: la.linalg.pinv(x) * -1,
    ):
        with la.autograd.record():
            y = function(x)
        (y.sum() if y.ndim == 1 else la.trace(y)).detach()
        with la.autograd.record():
            z = function(x)
            total = z.sum() if z.ndim == 1 else la.trace(z)
        total.backward()
        np.testing.assert_allclose(x.grad.asnumpy(), np.eye(3), atol=1e-12)


@pytest.mark.parametrize("b", [B, B[:, 0]], ids=["matrix", "vector"])
def test_equations(b):
    check(la.linalg.solve, SQUARE, b)
    check(la.linalg.solve, COMPLEX, b)
    check(la.linalg.solve, STACK, b)
    check_twice(la.linalg.solve, STACK, b)


@pytest.mark.parametrize("columns", [None, 2])
@pytest.mark.parametrize("x", [TALL, WIDE[0], SQUARE], ids=["tall", "wide", "square"])
def test_least_squares(x, columns):
    b = RNG.standard_normal(x.shape[0] if columns is None else (x.shape[0], columns))

    def function(x, b):
        solution, residuals, _, values = la.linalg.lstsq(x, b)
        return [solution, residuals, values]

    check(function, x, b)
    check(lambda x, b: la.linalg.lstsq(x, b)[0], x, b)


def test_tensor_equations():
    check(lambda x: la.linalg.tensorinv(x.reshape(2, 3, 6)), RNG.standard_normal((6, 6)))
    check(
        lambda x, b: la.linalg.tensorsolve(x.reshape(2, 3, 6), b),
        RNG.standard_normal((6, 6)),
        RNG.standard_normal((2, 3)),
    )


@pytest.mark.parametrize("ord", [None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf])
def test_norms_of_matrices(ord):
    check(lambda x: la.linalg.norm(x, ord), TALL)


@pytest.mark.parametrize("ord", [None, 1, 2, 3, 0.5, np.inf, -np.inf])
def test_norms_of_vectors(ord):
    check(lambda x: la.linalg.norm(x, ord), TALL[:, 0] + 2j)
    check(lambda x: la.linalg.norm(x, ord, axis=0, keepdims=True), TALL)


def test_single_precision_stays_single():
    for function in (la.linalg.inv, la.linalg.det, la.linalg.svdvals, la.linalg.pinv):
        check(function, np.float32(SQUARE))


@late
def test_a_singular_matrix_is_an_error_of_the_gradient():
    x = la.ones((2, 2))
    x.attach_grad()
    with la.autograd.record():
        y = la.linalg.slogdet(x).logabsdet
    y.backward()
    with pytest.raises(np.linalg.LinAlgError):
        x.grad.asnumpy()


def test_the_order_of_a_norm_has_no_gradient():
    """It had a wrong one: that of the powers, without that of the root."""
    x, p = la.array([3.0, 4.0]), la.array(3.0)
    p.attach_grad()
    with la.autograd.record(), pytest.raises(NotImplementedError, match="known at the call"):
        la.linalg.norm(x, p)
    assert float(la.linalg.norm(x, la.array(3.0))) == np.linalg.norm([3.0, 4.0], 3.0)


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
@pytest.mark.parametrize(
    "a, cofactors",
    [
        (np.zeros((1, 1)), np.ones((1, 1))),
        (np.zeros((3, 3)), np.zeros((3, 3))),
        (np.array([[1.0, 2.0], [2.0, 4.0]]), np.array([[4.0, -2.0], [-2.0, 1.0]])),
        (np.diag([3.0, 0.0, 2.0]), np.diag([0.0, 6.0, 0.0])),
    ],
)
def test_the_determinant_of_a_singular_matrix(dtype, a, cofactors):
    n = len(a)
    turn = 1 + 0.5j if dtype == "c16" else 1
    regular = np.eye(n) * 2
    x = la.array((np.stack([a, regular, a]) * turn).astype(dtype))
    x.attach_grad()
    with la.autograd.record():
        y = la.linalg.det(x).real.sum()
    y.backward()
    want = np.stack([cofactors, np.eye(n) * 2 ** (n - 1), cofactors]) * np.conj(turn) ** (n - 1)
    np.testing.assert_allclose(x.grad.asnumpy(), want.astype(dtype), atol=1e-6)


def test_a_singular_matrix_has_no_second_derivative_of_det():
    for a, error in ((np.ones((2, 2)), True), (np.eye(2), False)):
        x = la.array(a)
        x.attach_grad()
        with la.autograd.record():
            g = la.autograd.grad(la.linalg.det(x), x, create_graph=True)
            y = (g * g).sum()
        y.backward()
        if error:
            with pytest.raises(np.linalg.LinAlgError, match="second derivative"):
                x.grad.wait_to_read()
        else:
            assert x.grad.tolist() == [[2, 0], [0, 2]]
