"""Softmax and losses against formulas in NumPy, gradients against differences."""

import itertools
import warnings

import numpy as np
import pytest

import lazyarray as la
from lazyarray import nn

from .checks import check_gradients, close, gradients, normal, one_fused_pass

REDUCTIONS = {"mean": np.mean, "sum": np.sum, "none": lambda x: x}


def log_shares(x, axis):
    """log softmax by its definition, in extended precision."""
    x = x.astype(np.longdouble)
    x = x - x.max(axis=axis, keepdims=True)
    return (x - np.log(np.exp(x).sum(axis=axis, keepdims=True))).astype(float)


# ---- softmax ------------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_softmax_values_and_gradients(axis):
    x = normal(3, 4, 5) * 3
    log = log_shares(x, axis)
    close(nn.log_softmax(x, axis), log)
    close(nn.softmax(x, axis), np.exp(log))
    close(nn.logsumexp(x, axis), np.log(np.exp(x).sum(axis=axis)))
    close(nn.logsumexp(x, axis, True), np.log(np.exp(x).sum(axis=axis, keepdims=True)))
    close(nn.softmax(la.array(x).T, axis), np.exp(log_shares(x.T, axis)))
    for f in (nn.softmax, nn.log_softmax, nn.logsumexp):
        check_gradients(lambda x, f=f: f(x, axis), x)
        check_gradients(lambda x, f=f: f(x.T, axis), x)


def test_the_history_of_a_dropped_result_is_found_again():
    """The rule of softmax needs its result, which nobody holds when the gradient's own is taken."""
    x = la.array([0.1, 0.7])
    x.attach_grad()
    with la.autograd.record():
        y = (nn.softmax(x) * la.array([1.0, 3.0])).sum()
        (g,) = la.autograd.grad(y, [x], create_graph=True)
    p = 1 / (1 + np.exp(0.1 - 0.7))
    close(g, [-2 * p * (1 - p), 2 * p * (1 - p)])
    (h,) = la.autograd.grad(g[1:], [x])
    d = 2 * p * (1 - p) * (1 - 2 * p)
    close(h, [-d, d])


def test_softmax_extremes():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert nn.softmax([1e4, 0.0, -1e4]).tolist() == [1, 0, 0]
        assert nn.log_softmax([1e4, 0.0]).tolist() == [0, -1e4]
        assert nn.logsumexp([[-np.inf, -np.inf], [np.inf, 0], [1e4, 1e4]]).tolist() == [
            -np.inf,
            np.inf,
            1e4 + np.log(2),
        ]
    assert nn.softmax(la.ones((0, 3))).shape == (0, 3)
    assert nn.softmax(la.ones((3, 0))).shape == (3, 0)
    assert nn.logsumexp(la.array(2.0), axis=()).item() == 2
    assert nn.softmax(la.ones(3, dtype="float16")).dtype == np.float16
    assert nn.softmax(la.array([1, 2])).dtype == np.float64
    with pytest.raises(np.exceptions.AxisError):
        nn.softmax(la.ones(3), 1)
    with pytest.raises(np.exceptions.AxisError):
        nn.log_softmax(la.array(1.0))


@pytest.mark.host
def test_softmax_is_one_pass():
    x = la.array(normal(2000, 100))
    kept = []
    one_fused_pass(lambda: kept.append(nn.softmax(x)))
    one_fused_pass(lambda: kept.append(nn.log_softmax(x)))


# ---- cross entropy ------------------------------------------------------------------------------


def expected(x, target, axis, smoothing, reduction, ignored):
    """Cross entropy, a loop over all targets."""
    c = x.shape[axis]
    log = np.moveaxis(log_shares(x, axis), axis, -1)
    losses, counted = np.zeros(target.shape), 0
    for i, t in np.ndenumerate(target):
        if t == ignored:
            continue
        counted += 1
        losses[i] = -(1 - smoothing) * log[i][t] - smoothing / c * log[i].sum()
    if reduction == "mean":
        return losses.sum() / counted
    return losses.sum() if reduction == "sum" else losses


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("ignored", [-100, 2])
@pytest.mark.parametrize(
    ("shape", "axis"), [((6, 4), None), ((2, 4, 3, 2), None), ((2, 3, 4), -1), ((4,), None)]
)
def test_cross_entropy_with_classes(shape, axis, smoothing, reduction, ignored):
    where = min(1, len(shape) - 1) if axis is None else axis % len(shape)
    target = np.random.default_rng(1).integers(0, 4, shape[:where] + shape[where + 1 :])
    if target.ndim:
        target.flat[0], target.flat[1] = 1, ignored
    else:
        target = np.array(1)
    x = normal(*shape) * 4

    def loss(x):
        return nn.cross_entropy(
            x,
            target,
            axis,
            label_smoothing=smoothing,
            reduction=reduction,
            ignore_index=ignored,
        )

    close(loss(x), expected(x, target, where, smoothing, reduction, ignored))
    check_gradients(loss, x)
    check_gradients(lambda x: loss(x.T), x.T.copy())
    if not smoothing:

        def second_half(x):
            log = nn.log_softmax(x, where)
            return nn.nll_loss(log, target, axis, reduction=reduction, ignore_index=ignored)

        close(second_half(x), loss(x).asnumpy())
        check_gradients(second_half, x)


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("shape", [(6, 4), (2, 4, 3), (4,)])
def test_cross_entropy_with_probabilities(shape, smoothing, reduction):
    axis = min(1, len(shape) - 1)
    x, p = normal(*shape), np.random.default_rng(2).random(shape)
    mixed = p * (1 - smoothing) + smoothing / 4
    want = REDUCTIONS[reduction](-(mixed * log_shares(x, axis)).sum(axis=axis))

    def loss(x, p):
        return nn.cross_entropy(x, p, label_smoothing=smoothing, reduction=reduction)

    close(loss(x, p), want)
    check_gradients(loss, x, p)


def test_cross_entropy_dtypes_devices_and_waits():
    x, t = la.array(normal(5, 3).astype("f4")), la.array([0, 1, 2, 0, 1])
    with la.no_sync():
        y = nn.cross_entropy(x, t)
    assert y.dtype == np.float32 and y.shape == ()
    close(nn.cross_entropy(x, t.astype("uint8")), y.asnumpy())
    close(nn.cross_entropy(x, la.array([0, 9, 1, 9, 2, 9, 0, 9, 1])[::2]), y.asnumpy())
    half = nn.cross_entropy(x.astype("f2"), t)
    assert half.dtype == np.float16 and abs(half.item() - y.item()) < 0.01
    with pytest.raises(TypeError, match="int64"):
        nn.cross_entropy(la.ones((2, 2), dtype="int64"), [0, 1])
    with pytest.raises(TypeError, match="bool"):
        nn.cross_entropy(la.ones((2, 2)), [True, False])


def test_large_logits_keep_their_digits():
    x = np.array([[20000.0, 20000.5, 19999.0]], "f4")
    want = expected(x.astype(float), np.array([1]), 1, 0.0, "sum", -100)
    close(nn.cross_entropy(x, [1]), np.float32(want), 1e-6)
    (g,) = gradients(lambda x: nn.cross_entropy(x, [1]), x)
    close(g, np.exp(log_shares(x.astype(float), 1)) - [[0, 1, 0]], 1e-6)


def test_a_class_that_is_none_is_an_error_of_the_loss_alone():
    x = la.ones((2, 3))
    for wrong in (3, -1):
        with pytest.raises(IndexError, match=f"target {wrong} is out of bounds for 3 classes"):
            nn.cross_entropy(x, la.array([0, wrong])).item()
    assert x.sum().item() == 6


def test_cross_entropy_of_nothing_and_of_all_ignored():
    empty = gradients(
        lambda x: nn.cross_entropy(x, np.zeros(0, int), reduction="sum"), np.ones((0, 3))
    )
    assert empty[0].shape == (0, 3)
    ignored = gradients(
        lambda x: nn.cross_entropy(x, [-100, -100], reduction="sum"), np.ones((2, 3))
    )
    assert not ignored[0].any()
    for f in (nn.cross_entropy, nn.nll_loss):  # a batch of padding alone: the mean is 0 / 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            (gradient,) = gradients(lambda x, f=f: f(x, [-100, -100]), np.ones((2, 3)))
        assert not gradient.any()


def test_cross_entropy_refuses():
    x = la.ones((2, 3))
    with pytest.raises(ValueError, match=r"\(2, 3\).*\(2,\).*\(3,\)"):
        nn.cross_entropy(x, [0, 1, 2])
    with pytest.raises(ValueError, match=r"\(2, 3\).*\(3, 2\)"):
        nn.cross_entropy(x, la.ones((3, 2)))
    with pytest.raises(ValueError, match="classes as integers; the target is float64"):
        nn.cross_entropy(x, la.zeros(2))
    with pytest.raises(ValueError, match="reduction"):
        nn.cross_entropy(x, [0, 1], reduction="average")
    with pytest.raises(ValueError, match="label_smoothing"):
        nn.cross_entropy(x, [0, 1], label_smoothing=2.0)
    with pytest.raises(ValueError, match=r"\(\)"):
        nn.nll_loss(la.array(1.0), 0)


# ---- numbers ------------------------------------------------------------------------------------


def huber(d, delta):
    return np.where(abs(d) < delta, d * d / 2, delta * (abs(d) - delta / 2))


def binary(p, t):
    return -(t * np.log(p) + (1 - t) * np.log(1 - p))


PAIRS = {
    "mse": (nn.mse_loss, lambda x, t: (x - t) ** 2),
    "l1": (nn.l1_loss, lambda x, t: abs(x - t)),
    "huber": (nn.huber_loss, lambda x, t: huber(x - t, 1)),
    "huber(.3)": (lambda x, t, r: nn.huber_loss(x, t, r, 0.3), lambda x, t: huber(x - t, 0.3)),
    "smooth": (
        lambda x, t, r: nn.smooth_l1_loss(x, t, r, 0.3),
        lambda x, t: huber(x - t, 0.3) / 0.3,
    ),
    "smooth(0)": (lambda x, t, r: nn.smooth_l1_loss(x, t, r, 0), lambda x, t: abs(x - t)),
    "bce": (nn.binary_cross_entropy, binary),
    "bce logits": (
        nn.binary_cross_entropy_with_logits,
        lambda x, t: binary(1 / (1 + np.exp(-x)), t),
    ),
}


@pytest.mark.parametrize(("name", "reduction"), [*itertools.product(PAIRS, REDUCTIONS)])
def test_losses_of_numbers(name, reduction):
    ours, formula = PAIRS[name]
    rng = np.random.default_rng(3)
    x, t = rng.random((4, 5)) * 0.9 + 0.05, rng.random((4, 5))
    close(ours(x, t, reduction), REDUCTIONS[reduction](formula(x, t)))
    check_gradients(lambda x, t: ours(x, t, reduction), x, t, tol=1e-6)
    assert ours(x.astype("f4"), t.astype("f4"), reduction).dtype == np.float32
    assert ours(x.astype("f2"), t.astype("f2"), reduction).dtype == np.float16


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_gradients_of_probabilities_far_out(dtype):
    """By way of sigmoid: of log(sigmoid(x)) it is 1 - sigmoid(x), however small that is."""
    values = [-80.0, -60.0, -40.0, -20.0, 0.0, 10.0]
    for target in (0.0, 0.5, 1.0):
        x = la.array(values, dtype)
        x.attach_grad()
        with la.autograd.record():
            loss = nn.binary_cross_entropy(nn.sigmoid(x), np.full(6, target, dtype), "sum")
        loss.backward()
        want = 1 / (1 + np.exp(-np.array(values))) - target
        np.testing.assert_allclose(x.grad.asnumpy(), want, rtol=2e-3 if dtype == "f4" else 1e-9)
    p = la.array([0.0, 1.0], dtype)  # nothing is infinite
    p.attach_grad()
    with la.autograd.record():
        loss = nn.binary_cross_entropy(p, np.array([1.0, 0.0], dtype), "sum")
    loss.backward()
    np.testing.assert_allclose(p.grad.asnumpy(), [-1e12, 1e12], rtol=1e-6)


def test_losses_of_numbers_at_extremes():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert nn.binary_cross_entropy([0.0, 1.0], [1.0, 1.0], "none").tolist() == [100, 0]
        y = nn.binary_cross_entropy_with_logits([-1e4, 1e4], [1.0, 1.0], "none")
        assert y.tolist() == [1e4, 0]
    for f in (nn.mse_loss, nn.l1_loss, nn.huber_loss, nn.binary_cross_entropy):
        with pytest.raises(ValueError, match=r"\(2, 1\).*\(2,\)"):
            f(la.ones((2, 1)), la.ones(2))
        with pytest.raises(ValueError, match="reduction"):
            f(la.ones(2), la.ones(2), "no")
    with pytest.raises(ValueError, match="delta"):
        nn.huber_loss(la.ones(2), la.ones(2), delta=0)
    with pytest.raises(TypeError, match="int64"):
        nn.mse_loss(la.array([1]), la.array([2]))


def test_smoothing_leaves_ignored_rows_out():
    x = la.array([[0.0, -np.inf, 1.0], [1.0, 2.0, 3.0]])
    x.attach_grad()
    with la.autograd.record():
        loss = nn.cross_entropy(x, [-100, 1], label_smoothing=0.1)
    loss.backward()
    alone = nn.cross_entropy(x[1:], [1], label_smoothing=0.1)
    assert loss.item() == pytest.approx(alone.item())
    assert (x.grad.asnumpy()[0] == 0).all()
