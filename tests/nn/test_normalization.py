"""Batch, layer and group norm: formulas, gradients, running statistics, modes, errors."""

import numpy as np
import pytest

import lazyarray as la
from lazyarray import nn

from .checks import check_gradients, close, gradients, normal

EPS = 1e-3


def standard(x, axes):
    mean = x.mean(axis=axes, keepdims=True)
    return (x - mean) / np.sqrt(x.var(axis=axes, keepdims=True) + EPS)


def arguments(which, *arrays):
    """The parameters that a case gives, in place, and None for the others."""
    return [a if used else None for a, used in zip(arrays, which, strict=True)]


PARAMETERS = [(False, False), (True, False), (False, True), (True, True)]
SHAPES = [(6, 3), (6, 3, 4), (4, 3, 2, 5), (2, 3, 2, 2, 2)]


@pytest.mark.parametrize("which", PARAMETERS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("order", ["images first", "channels first"])
def test_batch_norm_in_training(shape, which, order):
    x = normal(*shape) * 2 + 1
    w, b = normal(3, seed=1), normal(3, seed=2)
    kept = (1, 3, *(1,) * (len(shape) - 2))
    axes = (0, *range(2, len(shape)))
    want = standard(x, axes) * (w.reshape(kept) if which[0] else 1)
    want = want + (b.reshape(kept) if which[1] else 0)
    flip = order == "channels first"
    given = np.ascontiguousarray(x.swapaxes(0, 1)) if flip else x

    def norm(x, *parameters):
        parameters = iter(parameters)
        w, b = [next(parameters) if used else None for used in which]
        x = x.swapaxes(0, 1) if flip else x
        return nn.batch_norm(x, None, None, w, b, training=True, eps=EPS)

    used = [a for a in arguments(which, w, b) if a is not None]
    close(norm(la.array(given), *map(la.array, used)), want, 1e-10)
    check_gradients(norm, given, *used, tol=1e-6)


@pytest.mark.parametrize("which", PARAMETERS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_batch_norm_in_prediction(shape, which):
    x, mean, var = normal(*shape), normal(3, seed=3), np.random.default_rng(4).random(3) + 0.5
    w, b = normal(3, seed=1), normal(3, seed=2)
    kept = (1, 3, *(1,) * (len(shape) - 2))
    m, v, weight, bias = (a.reshape(kept) for a in (mean, var, w, b))
    want = (x - m) / np.sqrt(v + EPS) * (weight if which[0] else 1) + (bias if which[1] else 0)

    def norm(x, w, b):
        w, b = arguments(which, w, b)
        return nn.batch_norm(x, la.array(mean), la.array(var), w, b, training=False, eps=EPS)

    close(norm(la.array(x), la.array(w), la.array(b)), want)
    check_gradients(lambda x: norm(x, la.array(w), la.array(b)) ** 2, x)
    if all(which):
        check_gradients(norm, x, w, b)


def test_running_statistics_are_updated_in_training_only():
    x, mean, var = normal(5, 3, 4), la.zeros(3), la.ones(3)
    for training in (False, None):  # outside of record() and in prediction
        nn.batch_norm(x, mean, var, training=training)
        assert mean.tolist() == [0, 0, 0] and var.tolist() == [1, 1, 1]
    with la.autograd.record():  # in training, and not recorded itself
        nn.batch_norm(x, mean, var, momentum=0.25)
    close(mean, 0.25 * x.mean(axis=(0, 2)))
    close(var, 0.75 + 0.25 * x.var(axis=(0, 2), ddof=1))
    before = mean.asnumpy()
    with la.autograd.record(train_mode=False):
        nn.batch_norm(x, mean, var)
    with la.autograd.record(), la.autograd.predict_mode():
        nn.batch_norm(x, mean, var)
    close(mean, before, 0)
    with la.autograd.train_mode():
        nn.batch_norm(x, running_var=var)
    close(mean, before, 0)


def test_running_statistics_of_another_dtype():
    mean, var = la.zeros(3, dtype="float32"), la.ones(3, dtype="float32")
    x = la.array(normal(5, 3).astype("f2"))
    y = nn.batch_norm(x, mean, var, training=True)
    assert y.dtype == np.float16 and mean.dtype == np.float32 and mean.asnumpy().any()
    assert nn.batch_norm(x, mean, var).dtype == np.float16


def test_a_large_mean_costs_no_digits():
    x = (normal(1000, 2) + 1e4).astype("f4")
    y = nn.batch_norm(x, training=True, eps=0.0).asnumpy()
    assert abs(y.mean(axis=0)).max() < 1e-2 and abs(y.std(axis=0) - 1).max() < 1e-3


@pytest.mark.parametrize("which", PARAMETERS)
@pytest.mark.parametrize(
    ("shape", "layer"), [((4, 6), 6), ((2, 3, 4), (4,)), ((2, 3, 4), (3, 4)), ((3, 5), (3, 5))]
)
def test_layer_norm(shape, layer, which):
    x, inner = normal(*shape), layer if isinstance(layer, tuple) else (layer,)
    w, b = normal(*inner, seed=1), normal(*inner, seed=2)
    axes = tuple(range(-len(inner), 0))
    want = standard(x, axes) * (w if which[0] else 1) + (b if which[1] else 0)

    def norm(x, w, b):
        return nn.layer_norm(x, layer, *arguments(which, w, b), EPS)

    close(norm(x, w, b), want)
    if all(which):
        check_gradients(norm, x, w, b, tol=1e-6)
    check_gradients(lambda x: norm(x, la.array(w), la.array(b)), x, tol=1e-6)
    turned = la.array(np.ascontiguousarray(x.T)).T
    close(norm(turned, w, b), want)


@pytest.mark.parametrize("which", PARAMETERS)
@pytest.mark.parametrize(
    ("shape", "groups"), [((4, 6), 3), ((2, 6, 5), 2), ((2, 4, 3, 3), 4), ((2, 4, 3, 3), 1)]
)
def test_group_norm(shape, groups, which):
    x, c = normal(*shape), shape[1]
    w, b = normal(c, seed=1), normal(c, seed=2)
    kept = (1, c, *(1,) * (len(shape) - 2))
    want = standard(x.reshape(shape[0], groups, -1), 2).reshape(shape)
    want = want * (w.reshape(kept) if which[0] else 1) + (b.reshape(kept) if which[1] else 0)

    def norm(x, w, b):
        return nn.group_norm(x, groups, *arguments(which, w, b), EPS)

    close(norm(x, w, b), want)
    if all(which):
        check_gradients(norm, x, w, b, tol=1e-6)
    check_gradients(lambda x: norm(x, la.array(w), la.array(b)), x, tol=1e-6)


def test_dtypes_and_waits():
    functions = {
        "batch": lambda x: nn.batch_norm(x, training=True),
        "layer": lambda x: nn.layer_norm(x, 4),
        "group": lambda x: nn.group_norm(x, 3),
    }
    x = normal(2, 3, 4)
    for f in functions.values():
        for dtype in ("f2", "f4", "f8"):
            with la.no_sync():
                y = f(la.array(x.astype(dtype)))
            assert y.dtype == dtype
            close(y.astype("f8"), f(x).asnumpy(), 1e-2)
            assert gradients(f, x.astype(dtype))[0].dtype == dtype
        with pytest.raises(TypeError, match="int64"):
            f(la.ones((2, 3, 4), dtype="int64"))
    assert nn.layer_norm(la.ones((0, 3)), 3).shape == (0, 3)
    assert nn.group_norm(la.ones((0, 4)), 2).shape == (0, 4)


def test_refused():
    x = la.ones((2, 3, 4))
    with pytest.raises(ValueError, match=r"\(2, 3, 4\) has 3 channels.*\(2,\)"):
        nn.batch_norm(x, la.ones(2), la.ones(2), training=True)
    with pytest.raises(ValueError, match="running_mean"):
        nn.batch_norm(x)
    for shape in ((1, 3), (0, 3)):
        with pytest.raises(ValueError, match="less than two numbers"):
            nn.batch_norm(la.ones(shape), training=True)
    with pytest.raises(ValueError, match=r"\(3,\)"):
        nn.batch_norm(la.ones(3), training=True)
    with pytest.raises(ValueError, match=r"\(2, 3, 4\) doesn't end with \(3,\)"):
        nn.layer_norm(x, 3)
    with pytest.raises(ValueError, match=r"\(3,\) for layers of \(4,\)"):
        nn.layer_norm(x, 4, la.ones(3))
    with pytest.raises(ValueError, match="2 groups"):
        nn.group_norm(x, 2)
    with pytest.raises(ValueError, match=r"\(4,\)"):
        nn.group_norm(x, 3, la.ones(4))


def test_running_statistics_that_are_refused_stay():
    x = la.array(normal(4, 3))
    frozen = la.ones(3)
    frozen.flags.writeable = False
    for other in (frozen, la.ones(3, device=la.cpu(1)), la.ones(2), la.ones(3, "i8"), np.ones(3)):
        for first in (True, False):
            mean = la.full(3, 5.0)
            with pytest.raises((TypeError, ValueError)):
                nn.batch_norm(x, *((mean, other) if first else (other, mean)), training=True)
            assert mean.tolist() == [5, 5, 5]


def test_the_shape_of_layers_in_an_array():
    x = la.array(normal(2, 3, 4))
    for whole, plain in ((np.array([3, 4]), (3, 4)), (la.array([4]), 4), (np.array(4), 4)):
        close(nn.layer_norm(x, whole), nn.layer_norm(x, plain))
    for wrong in (4.0, "4", {4}, np.array([4.0]), [3, 4.0], None):
        with pytest.raises(TypeError, match="integer"):
            nn.layer_norm(x, wrong)
