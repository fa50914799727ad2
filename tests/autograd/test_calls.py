"""Gradients of functions that run NumPy: sums along an axis, orders, products, transforms."""

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import there
from .check import check, check_twice

RNG = np.random.default_rng(0)
M = RNG.standard_normal((3, 4))
V = RNG.standard_normal(7)
W = RNG.uniform(0.5, 2, 7)
C = RNG.standard_normal(5) + 1j * RNG.standard_normal(5)
GAPS = np.where(RNG.random((4, 5)) < 0.3, np.nan, RNG.standard_normal((4, 5)))


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_running(name, axis):
    check(lambda x: getattr(la, name)(x, axis), M)
    check_twice(lambda x: getattr(la, name)(x, axis), M)
    check(lambda x: getattr(la, name)(x.T[::-1], axis), M)
    check(lambda x: getattr(la, name)(x), C)


@pytest.mark.parametrize("zeros", [[2], [0], [6], [1, 4], [0, 1, 6]])
def test_running_products_of_zeros(zeros):
    v = V.copy()
    v[zeros] = 0
    check(la.cumprod, v)
    check(la.prod, v)


def test_running_extremes():
    check(lambda x: la.maximum.accumulate(x, axis=1), M)
    check(lambda x: la.minimum.accumulate(x), M)
    check(lambda x: la.multiply.accumulate(x), V)
    for dtype in there([np.longdouble]):
        check(lambda x: la.add.accumulate(x, dtype=dtype), M)  # noqa: B023
    check(lambda x: la.cumulative_sum(x, axis=1, include_initial=True), M)
    check(lambda x: la.nancumsum(x), V)


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("kwargs", [{}, {"kind": "stable"}, {"descending": True}], ids=str)
def test_sort(axis, kwargs):
    check(lambda x: la.sort(x, axis, **kwargs), M)
    check_twice(lambda x: la.sort(x, axis, **kwargs) ** 2, M)


@pytest.mark.parametrize("axis", [-1, 0, None])
@pytest.mark.parametrize("name", ["sort", "partition"])
def test_what_is_sorted_has_its_own_bits(name, axis):
    """Not those of an equal element: zeros have signs."""
    a = np.random.default_rng(0).choice([0.0, -0.0, 1.0, -1.0], (24, 20))
    x = la.array(a)
    x.attach_grad()
    more = (2,) if name == "partition" else ()
    with la.autograd.record():
        y = getattr(la, name)(x, *more, axis=axis)
        y.sum().backward()
    assert y.asnumpy().tobytes() == getattr(np, name)(a, *more, axis=axis).tobytes()
    np.testing.assert_array_equal(x.grad.asnumpy(), np.ones_like(a))


def test_partition():
    check(lambda x: la.partition(x, 2, axis=0), M)
    check(lambda x: la.partition(x, 2, axis=None), M)


@pytest.mark.parametrize("method", [
    "linear", "lower", "higher", "midpoint", "nearest", "hazen", "weibull", "inverted_cdf",
    "averaged_inverted_cdf", "median_unbiased"])  # fmt: skip
@pytest.mark.parametrize("axis", [None, 0, (1, 0)], ids=str)
def test_quantiles(method, axis):
    check(lambda x: la.quantile(x, [0.1, 0.45, 0.9], axis, method=method), M)
    check(lambda x: la.nanquantile(x, 0.3, axis, method=method, keepdims=True), M)


def test_medians():
    check(la.median, V)
    check(lambda x: la.median(x, axis=1), M)
    check(lambda x: la.percentile(x, la.array([20, 70]), axis=0), M)
    check(lambda x: la.quantile(x, 0.4, method="inverted_cdf", weights=W), V)
    check_twice(lambda x: la.median(x) ** 2, V)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_nan_is_left_out():
    x = la.array(GAPS)
    x.attach_grad()
    for function in (la.nanmedian, la.nansum, la.nanmax, la.nanmean, la.nanstd):
        with la.autograd.record():
            y = function(x, axis=1).sum()
        y.backward()
        grads = x.grad.asnumpy()
        assert (grads[np.isnan(GAPS)] == 0).all() and np.isfinite(grads).all()
        step = 1e-6 * RNG.standard_normal(GAPS.shape)
        ends = [function(la.array(GAPS + s * step), axis=1).sum().item() for s in (1, -1)]
        np.testing.assert_allclose((grads * step).sum(), (ends[0] - ends[1]) / 2, rtol=1e-5)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: la.mean(x, axis=0, where=x > 0),
        lambda x: la.sum(x, axis=1, where=x > 0),
        lambda x: la.sum(x, initial=3),
        lambda x: la.prod(x, axis=1, initial=2.0),
        lambda x: la.prod(x, where=x > 0, initial=2.0),
        lambda x: la.max(x, axis=1, where=x > 0, initial=-5),
        lambda x: la.min(x, initial=-0.1),
        lambda x: la.var(x, axis=1),
        lambda x: la.std(x, axis=(0, 1), ddof=1, keepdims=True),
        lambda x: la.var(x, where=la.array([True, False, True, True])),
        lambda x: la.std(x + 1j * x[::-1]),
        lambda x: la.mean(x.astype(np.float16).astype(float)[..., :0].sum() + x),
        lambda x: la.mean(x.T[::2], axis=1, out=la.zeros(2)),
        lambda x: la.ptp(x, axis=0),
        lambda x: la.average(x, weights=abs(x)),
        lambda x: la.average(x, axis=1, weights=abs(x[0]), returned=True),
        lambda x: la.average(x[..., None] * x[0], axis=(2, 0), weights=abs(x.T)),
        lambda x: la.diff(x, 2, axis=0, prepend=x[:1]),
        lambda x: la.trace(x, 1),
        lambda x: la.trapezoid(x, la.cumsum(abs(x[0])), axis=1),
        lambda x: la.gradient(x, la.cumsum(abs(x[0])), axis=1),
        lambda x: la.gradient(x, 0.5, axis=0, edge_order=2),
        lambda x: la.unwrap(x * 9, axis=1),
        lambda x: la.interp(x, la.cumsum(abs(x[0])) - 1, x[1]),
        lambda x: la.interp(x, la.cumsum(abs(x[0])) - 1, x[1], left=0, right=1),
        lambda x: la.interp(x, la.cumsum(abs(x[0])) - 1, x[1] + 1j * x[2]),
        lambda x: la.cov(x),
        lambda x: la.corrcoef(x),
        lambda x: la.linspace(x[0], x[1] * 2, 5, axis=1),
        lambda x: la.linspace(x[0, 0], 3, 5, endpoint=False),
        lambda x: la.bincount([0, 2, 2, 1], weights=x[0]),
        lambda x: la.polyval(x[0], x),
        lambda x: la.polyfit(la.array([0.0, 1.0, 3.0, 4.0]), x[0] ** 2, 2),
        lambda x: la.vander(x[0], 4),
        lambda x: la.apply_along_axis(lambda v: v * v.sum(), 1, x),
        lambda x: la.apply_over_axes(la.sum, x * x, [0, 1]),
        lambda x: la.maximum.reduce(x) + la.add.reduce(x, axis=0) + la.multiply.outer(x, x)[0, 0],
        lambda x: la.sinc(x) + la.nan_to_num(x),
    ],
)
def test_summaries_and_numerics(function):
    check(function, M)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("sizes", [(7, 3), (3, 7), (4, 7), (7, 4), (5, 5), (1, 4)], ids=str)
@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_convolutions(name, sizes, mode):
    n, m = sizes
    function = getattr(la, name)
    check(lambda x, y: function(x, y, mode), V[:n], W[:m])
    check(lambda x, y: function(x, y, mode), RNG.standard_normal(n) + 1j, RNG.random(m) + 2j)


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("n", [None, 3, 4, 9])
@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_transforms(name, n, norm):
    function = getattr(la.fft, name)
    real = name in ("rfft", "ihfft")
    check(lambda x: function(x, n, norm=norm), V if real else RNG.standard_normal(6) + 2j * V[:6])
    if not real:
        check(lambda x: function(x, n, norm=norm), V)
    check(lambda x: function(x, n, axis=0, norm=norm), np.float32(M))


def test_transforms_of_several_axes():
    check(lambda x: la.fft.fft2(x), M)
    check(lambda x: la.fft.irfftn(la.fft.rfftn(x, (4, 5), axes=(0, 1)), (4, 5), axes=(0, 1)), M)
    check(lambda x: la.fft.fftshift(abs(la.fft.fft(x))), V)
    check_twice(lambda x: abs(la.fft.rfft(x)) ** 2, V)


A, B, T = RNG.standard_normal((3, 4)), RNG.standard_normal((4, 2)), RNG.standard_normal((2, 3, 4))
Z = A + 1j * RNG.standard_normal((3, 4))


@pytest.mark.parametrize(
    ("function", "arrays"),
    [
        (la.dot, [A, B]),
        (la.dot, [T, B]),
        (la.dot, [T, RNG.standard_normal((2, 4, 2))]),
        (la.dot, [T, V[:4]]),
        (la.dot, [V[:4], RNG.standard_normal((2, 4, 2))]),
        (la.dot, [A, np.array(2.0)]),
        (la.vdot, [Z, Z[::-1].copy()]),
        (la.vdot, [A, B[:3].repeat(2, 1)]),
        (la.inner, [T, A]),
        (la.outer, [V, W]),
        (la.tensordot, [T, RNG.standard_normal((3, 4, 2))]),
        (lambda x, y: la.tensordot(x, y, ([1, 2], [0, 1])), [T, A]),
        (la.kron, [A, B]),
        (la.cross, [M[:, :3], M[:, 1:]]),
        (la.vecdot, [Z, A]),
        (la.matvec, [T, V[:4]]),
        (la.vecmat, [V[:3], T]),
        (la.matmul, [T, B]),
        (la.matmul, [V[:3], Z]),
        (lambda x, y: la.einsum("ij,jk->ik", x, y), [A, B]),
        (lambda x, y: la.einsum("bij,kj->bki", x, y), [T, A]),
        (lambda x, y: la.einsum("ij,ij->", x, y), [Z, A]),
        (lambda x, y: la.einsum("bij,ji,bi->b", x, y, x[:, :, 0]), [T, A.T.copy()]),
        (lambda x, y: la.einsum("ij,jk,kl,li->", x, y, y.T, x.T), [A, B]),
        (lambda x, y: la.einsum("...i,i->...", x, y), [T, V[:4]]),
        (lambda x, y: la.linalg.multi_dot([x, y, y.T, x.T]), [A, B]),
    ],
)
def test_products(function, arrays):
    check(function, *arrays)
    check_twice(function, *arrays)


# ---- devices ------------------------------------------------------------------------------------


def test_copies_between_devices():
    x = la.array([1.0, 2.0], ctx=la.cpu(0))
    x.attach_grad()
    with la.autograd.record():
        y = x.as_in_context(la.cpu(1)) * 3
        z = la.zeros(2, ctx=la.cpu(0))
        la.copyto(z, y.as_in_context(la.cpu(0)) * 2)
        w = (z * x).sum()
    w.backward()
    assert x.grad.asnumpy().tolist() == [12, 24]
    assert x.grad.ctx == la.cpu(0)


def test_gradients_stay_on_their_device():
    x = la.array([[3.0, 1.0], [1.0, 2.0]], ctx=la.cpu(1))
    x.attach_grad()
    for function in (la.linalg.cholesky, la.linalg.det, la.sort, la.median, la.cumsum, la.fft.fft):
        with la.autograd.record():
            y = abs(function(x) * 2).sum()
        y.backward()
        assert x.grad.ctx == la.cpu(1) and np.isfinite(x.grad.asnumpy()).all()


# ---- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "name"),
    [
        (lambda x: la.linalg.eig(x @ x.T), "linalg.eig"),
        (lambda x: la.linalg.eigvals(x @ x.T + 0j), "linalg.eigvals"),
        (lambda x: la.linalg.svd(x), "linalg.svd"),
        (lambda x: la.linalg.qr(x.T, "complete"), "linalg.qr"),
        (lambda x: la.unique(x), "unique"),
        (lambda x: la.roots(x[0]), "roots"),
        (lambda x: la.i0(x), "i0"),
        (lambda x: la.histogram(x), "histogram"),
        (lambda x: la.vectorize(lambda v: v * 2)(x), "vectorize"),
        (lambda x: la.random.normal(x, 1.0), "normal"),
        (lambda x: la.arctan2.reduce(x), "arctan2.reduce"),
        (lambda x: la.add.reduceat(x[0], [0, 2]), "add.reduceat"),
        (lambda x: la.interp(x, [0, 1], [2, 3], period=3), "interp"),
        (lambda x: la.sum(x, initial=x[0, 0]), "sum"),
    ],
)
def test_refusals_name_the_function_at_its_line(function, name):
    x = la.array(M)
    x.attach_grad()
    with la.autograd.record(), pytest.raises(NotImplementedError, match=rf"{name}.*detach") as info:
        function(x * 1)
    assert info.traceback[1].name == "<lambda>"
    with la.autograd.record():
        function((x * 1).detach())  # as a constant it may be
    function(x)  # and when nothing is recorded


def test_numbers_that_must_be_known_have_no_gradient():
    """They were constants without a word: a gradient of 0."""
    x, b = la.array([3.0, 1.0, 2.0]), la.array(2.0)
    b.attach_grad()
    for call in (
        lambda: la.var(x, ddof=b),
        lambda: la.logspace(0, 1, 3, base=b),
        lambda: la.arange(b, b + 3),
        lambda: la.mgrid[0:b:3j],
    ):
        call()
        with la.autograd.record(), pytest.raises(NotImplementedError, match="known at the call"):
            call()
