"""Rows of training steps by autograd: a network, logistic regression, convolutions.

NumPy's code has its gradients by hand. PyTorch runs eagerly; JAX is ``jit(grad(...))``; lazyarray
has two rows each: imperative, and the same step under ``la.compile``.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy

from benchmarks.learning import BATCH, network, network_step
from benchmarks.row import Aim, Array, Body, Module, Row, normal

RATE = 0.01


# ---- a step, for each library --------------------------------------------------------------------

Loss = Callable[..., Any]  # loss(module, data, weights)


def _split(arrays: tuple[Array, ...], weights: int) -> tuple[list[Array], list[Array]]:
    return list(arrays[:-weights]), list(arrays[-weights:])


def imperative(loss: Loss, weights: int) -> Body:
    """lazyarray, op by op."""

    def run(la: Module, *arrays: Array) -> Any:
        data, params = _split(arrays, weights)
        for p in params:
            if p.grad is None:
                p.attach_grad()
        with la.autograd.record():
            value = loss(la, data, params)
        value.backward()
        for p in params:
            p -= RATE * p.grad
        return value, *params

    return run


def compiled(loss: Loss, weights: int) -> Body:
    """lazyarray, the same step replayed."""
    step = imperative(loss, weights)
    kept: list[Any] = []

    def run(la: Module, *arrays: Array) -> Any:
        if not kept:
            _, params = _split(arrays, weights)
            kept.append(la.compile(lambda *xs: step(la, *xs, *params)[0]))
        return kept[0](*arrays[:-weights]), *arrays[-weights:]

    return run


def eager(loss: Loss, weights: int) -> Body:
    """PyTorch."""

    def run(torch: Module, *arrays: Array) -> Any:
        data, params = _split(arrays, weights)
        for p in params:
            p.requires_grad_()
            p.grad = None
        value = loss(torch, data, params)
        value.backward()
        with torch.no_grad():
            for p in params:
                p -= RATE * p.grad
        return value.detach(), *[p.detach() for p in params]

    return run


def traced(loss: Loss, weights: int) -> Body:
    """JAX, whose arrays are never changed: each step begins with the first weights."""

    def run(jnp: Module, *arrays: Array) -> Any:
        import jax

        data, params = _split(arrays, weights)
        value, grads = jax.value_and_grad(lambda ps: loss(jnp, data, ps))(params)
        return value, *[p - RATE * g for p, g in zip(params, grads, strict=True)]

    return run


def rows(
    name: str,
    loss: Loss,
    by_hand: Body,
    inputs: Callable[[], list[numpy.ndarray]],
    weights: int,
    **more: Any,
) -> list[Row]:
    """The imperative row, and the compiled one."""
    others = {"torch": eager(loss, weights), "jax": traced(loss, weights)}
    return [
        Row(
            f"{name}, autograd",
            by_hand,
            inputs,
            variants={**others, "lazyarray": imperative(loss, weights)},
            aims=(Aim(1.0, ("torch",)),),
            **more,
        ),
        Row(
            f"{name}, compiled",
            by_hand,
            inputs,
            variants={**others, "lazyarray": compiled(loss, weights)},
            **more,
        ),
    ]


# ---- the network of learning.py ------------------------------------------------------------------


def functions(np: Module) -> Any:
    """Where a library keeps its functions for networks; None for JAX."""
    return {"torch": lambda: np.nn.functional, "lazyarray": lambda: np.nn}.get(
        np.__name__, lambda: None
    )()


def relu(np: Module, x: Array) -> Array:
    """Negative elements to zero."""
    f = functions(np)
    return f.relu(x) if f else np.maximum(x, 0)


def cross_entropy(np: Module, logits: Array, target: Array) -> Array:
    """The mean over a batch, for one-hot targets."""
    f = functions(np)
    if f:
        return f.cross_entropy(logits, target)
    shifted = logits - logits.max(axis=1, keepdims=True)
    total = np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return (target * (total - shifted)).sum() / target.shape[0]


def network_loss(np: Module, data: list[Array], params: list[Array]) -> Array:
    """The loss of a 784-256-128-10 network."""
    x, target = data
    w1, b1, w2, b2, w3, b3 = params
    h = relu(np, x @ w1 + b1)
    h = relu(np, h @ w2 + b2)
    return cross_entropy(np, h @ w3 + b3, target)


# ---- logistic regression -------------------------------------------------------------------------


def logistic_loss(np: Module, data: list[Array], params: list[Array]) -> Array:
    """The mean negative log-likelihood."""
    x, y = data
    p = 1 / (1 + np.exp(-(x @ params[0])))
    return -(y * np.log(p) + (1 - y) * np.log(1 - p)).mean()


def logistic_by_hand(np: Module, x: Array, y: Array, w: Array) -> Any:
    """The same, and a step, with its gradient by hand."""
    p = 1 / (1 + np.exp(-(x @ w)))
    loss = -(y * np.log(p) + (1 - y) * np.log(1 - p)).mean()
    w -= RATE * (x.T @ (p - y) / len(y))
    return loss, w


def points() -> list[numpy.ndarray]:
    """100 points of 10 features, their classes, the weights."""
    (x,) = normal((100, 10))
    y = (x.sum(axis=1) + normal((100,), seed=1)[0] > 0).astype(float)
    return [x, y, numpy.zeros(10)]


# ---- a convolutional network ---------------------------------------------------------------------

IMAGES, CHANNELS = 64, (1, 8, 16)


def convolutional_loss(np: Module, data: list[Array], params: list[Array]) -> Array:
    """conv 3x3, relu, max pool, twice, then a linear layer: on images of 8 x 8."""
    x, target = data
    k1, b1, k2, b2, w, b = params
    for kernel, bias in ((k1, b1), (k2, b2)):
        x = pooled(np, relu(np, convolved(np, x, kernel, bias)))
    return cross_entropy(np, x.reshape(x.shape[0], -1) @ w + b, target)


def convolved(np: Module, x: Array, kernel: Array, bias: Array) -> Array:
    """A 3 x 3 convolution that keeps the size."""
    f = functions(np)
    if f:
        return f.conv2d(x, kernel, bias, padding=1)
    from jax.lax import conv_general_dilated

    y = conv_general_dilated(x, kernel, (1, 1), ((1, 1), (1, 1)))
    return y + bias[:, None, None]


def pooled(np: Module, x: Array) -> Array:
    """The maxima of 2 x 2 blocks."""
    f = functions(np)
    if f:
        return f.max_pool2d(x, 2)
    n, c, h, w = x.shape
    return x.reshape(n, c, h // 2, 2, w // 2, 2).max(axis=(3, 5))


def _windows(np: Module, x: Array) -> Array:
    """Rows of the 3 x 3 neighbourhoods of each pixel: (n h w, c 9)."""
    n, c, h, w = x.shape
    padded = np.zeros((n, c, h + 2, w + 2), x.dtype)
    padded[:, :, 1:-1, 1:-1] = x
    seen = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return seen.transpose(0, 2, 3, 1, 4, 5).reshape(n * h * w, c * 9)


def convolutional_by_hand(np: Module, x: Array, target: Array, *params: Array) -> Any:
    """The same, and a step, with its gradients by hand."""
    k1, b1, k2, b2, w, b = params
    kept = []
    for kernel, bias in ((k1, b1), (k2, b2)):
        n, c, h, side = x.shape
        rows = _windows(np, x)
        y = (rows @ kernel.reshape(len(kernel), -1).T + bias).reshape(n, h, side, -1)
        y = np.maximum(y, 0)
        blocks = y.reshape(n, h // 2, 2, side // 2, 2, -1)
        best = blocks.max(axis=(2, 4), keepdims=True)
        kept.append((rows, y, blocks == best, (n, c, h, side)))
        x = best[:, :, 0, :, 0].transpose(0, 3, 1, 2)
    flat = x.reshape(len(x), -1)
    logits = flat @ w + b
    shifted = logits - logits.max(axis=1, keepdims=True)
    e = np.exp(shifted)
    total = e.sum(axis=1, keepdims=True)
    loss = (target * (np.log(total) - shifted)).sum() / len(x)

    d = (e / total - target) / len(x)
    grads = [flat.T @ d, d.sum(axis=0)]
    d = (d @ w.T).reshape(x.shape)
    for (rows, y, hits, (n, c, h, side)), kernel in zip(kept[::-1], (k2, k1), strict=True):
        d = d.transpose(0, 2, 3, 1)[:, :, None, :, None]
        d = (hits * d).reshape(y.shape) * (y > 0)
        d = d.reshape(n * h * side, -1)
        grads = [(d.T @ rows).reshape(kernel.shape), d.sum(axis=0), *grads]
        spread = (d @ kernel.reshape(len(kernel), -1)).reshape(n, h, side, c, 3, 3)
        padded = np.zeros((n, c, h + 2, side + 2), y.dtype)
        for i in range(3):
            for j in range(3):
                padded[:, :, i : i + h, j : j + side] += spread[..., i, j].transpose(0, 3, 1, 2)
        d = padded[:, :, 1:-1, 1:-1]
    for p, g in zip(params, grads, strict=True):
        p -= RATE * g
    return loss, *params


def images() -> list[numpy.ndarray]:
    """A batch of images, their one-hot classes, the kernels, biases and weights."""
    rng = numpy.random.default_rng(0)
    x = rng.random((IMAGES, 1, 8, 8), dtype="float32")
    arrays = [x, numpy.eye(10, dtype="float32")[rng.integers(10, size=IMAGES)]]
    for before, after in pairwise(CHANNELS):
        kernel = rng.standard_normal((after, before, 3, 3), dtype="float32")
        arrays += [kernel / numpy.float32(before * 9) ** 0.5, numpy.zeros(after, "float32")]
    features = CHANNELS[-1] * 4
    weight = rng.standard_normal((features, 10), dtype="float32")
    return [*arrays, weight / numpy.float32(features) ** 0.5, numpy.zeros(10, "float32")]


ROWS = [
    *rows(
        f"step of a 784-256-128-10 network, batch {BATCH}, float32",
        network_loss,
        network_step,
        network,
        6,
        rtol=1e-3,
    ),
    *rows(
        "step of logistic regression, 100 x 10 float64",
        logistic_loss,
        logistic_by_hand,
        points,
        1,
        unit="us",
        overhead=True,
    ),
    *rows(
        f"step of a convolutional network, {IMAGES} images of 8 x 8, float32",
        convolutional_loss,
        convolutional_by_hand,
        images,
        6,
        rtol=1e-3,
    ),
]
