"""Rows of small training steps: a network with its gradients by hand, Adam, logistic regression."""

from __future__ import annotations

from itertools import pairwise

import numpy

from benchmarks.row import Aim, Array, Module, Row, normal

# ---- a network ----------------------------------------------------------------------------------

LAYERS = (784, 256, 128, 10)
BATCH = 128


def relu(np: Module, x: Array) -> Array:
    """Negative elements to zero."""
    # torch.maximum takes no number.
    return x.clamp(min=0) if np.__name__ == "torch" else np.maximum(x, 0)


def network_step(
    np: Module,
    x: Array,
    target: Array,
    w1: Array,
    b1: Array,
    w2: Array,
    b2: Array,
    w3: Array,
    b3: Array,
) -> tuple[Array, ...]:
    """One step of gradient descent on the mean cross-entropy, in place; gives the loss too."""
    rate = 0.01
    h1 = relu(np, x @ w1 + b1)
    h2 = relu(np, h1 @ w2 + b2)
    logits = h2 @ w3 + b3
    shifted = logits - np.amax(logits, axis=1, keepdims=True)
    e = np.exp(shifted)
    total = e.sum(axis=1, keepdims=True)
    loss = (target * (np.log(total) - shifted)).sum() / BATCH

    d3 = (e / total - target) / BATCH
    d2 = (d3 @ w3.T) * (h2 > 0)
    d1 = (d2 @ w2.T) * (h1 > 0)
    w3 -= rate * (h2.T @ d3)
    b3 -= rate * d3.sum(axis=0)
    w2 -= rate * (h1.T @ d2)
    b2 -= rate * d2.sum(axis=0)
    w1 -= rate * (x.T @ d1)
    b1 -= rate * d1.sum(axis=0)
    return loss, w1, b1, w2, b2, w3, b3


def network() -> list[numpy.ndarray]:
    """A batch, its one-hot targets, and the weights and biases of each layer."""
    rng = numpy.random.default_rng(0)
    x = rng.random((BATCH, LAYERS[0]), dtype="float32")
    arrays = [x, numpy.eye(LAYERS[-1], dtype="float32")[rng.integers(LAYERS[-1], size=BATCH)]]
    for before, after in pairwise(LAYERS):
        weight = rng.standard_normal((before, after), dtype="float32")
        arrays += [weight * numpy.float32((2 / before) ** 0.5), numpy.zeros(after, "float32")]
    return arrays


# ---- Adam ---------------------------------------------------------------------------------------

RATE, BETA1, BETA2, EPSILON = 1e-3, 0.9, 0.999, 1e-8
CORRECTION1, CORRECTION2 = 1 - BETA1**10, 1 - BETA2**10  # of the tenth step


def adam(np: Module, p: Array, g: Array, m: Array, v: Array) -> tuple[Array, ...]:
    """The tenth update, in place."""
    m *= BETA1
    m += (1 - BETA1) * g
    v *= BETA2
    v += (1 - BETA2) * (g * g)
    p -= RATE * (m / CORRECTION1) / (np.sqrt(v / CORRECTION2) + EPSILON)
    return p, m, v


def adam_numexpr(ne: Module, p: Array, g: Array, m: Array, v: Array) -> tuple[Array, ...]:
    """The same in three expressions."""
    numbers = {"r": RATE, "b1": BETA1, "b2": BETA2, "c1": CORRECTION1, "c2": CORRECTION2}
    names = {"p": p, "g": g, "m": m, "v": v}
    # Numbers of the arrays' own type: a Python one would make the expressions float64.
    names |= {name: p.dtype.type(x) for name, x in (numbers | {"one": 1, "eps": EPSILON}).items()}
    ne.evaluate("b1 * m + (one - b1) * g", local_dict=names, out=m)
    ne.evaluate("b2 * v + (one - b2) * (g * g)", local_dict=names, out=v)
    ne.evaluate("p - r * (m / c1) / (sqrt(v / c2) + eps)", local_dict=names, out=p)
    return p, m, v


def parameters() -> list[numpy.ndarray]:
    """Parameters, gradients, and the two moments."""
    p, g, m, v = normal(*[(1_000_000,)] * 4, dtype="float32")
    return [p, g, m / 10, v * v]


# ---- logistic regression ------------------------------------------------------------------------


def logistic(np: Module, x: Array, y: Array) -> Array:
    """The weights after twenty steps of gradient descent."""
    w = np.zeros(x.shape[1], dtype=np.float64)
    for _ in range(20):
        guess = 1.0 / (1.0 + np.exp(-(x @ w)))
        w -= 0.1 * (x.T @ (guess - y)) / x.shape[0]
    return w


def labelled() -> list[numpy.ndarray]:
    """100 points of 10 coordinates, and which side of a plane they are on."""
    x, plane, noise = normal((100, 10), (10,), (100,))
    return [x, (x @ plane + noise > 0).astype(numpy.float64)]


ROWS = [
    Row(
        "training step of a 784-256-128-10 network, batch 128, float32",
        network_step,
        network,
        aims=(Aim(1, ("numpy", "torch")),),
        rtol=1e-3,
    ),
    Row(
        "Adam's update in place, 1M float32",
        adam,
        parameters,
        {"numexpr": adam_numexpr},
        rtol=1e-3,
    ),
    Row(
        "logistic regression, 100 x 10 float64, 20 gradient steps",
        logistic,
        labelled,
        aims=(Aim(1, ("numpy",)),),
        unit="us",
    ),
]
