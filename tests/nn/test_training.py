"""Whole training loops: they learn, never wait, repeat by their seed, and stand errors."""

import numpy as np
import pytest

import lazyarray as la
from lazyarray import nn

OPTIMISERS = {
    "SGD": lambda p: nn.SGD(p, 0.5),
    "Momentum": lambda p: nn.Momentum(p, 0.1, nesterov=True),
    "Adam": lambda p: nn.Adam(p, 0.02),
    "AdamW": lambda p: nn.Adam(p, 0.02, weight_decay=0.01, decoupled=True),
}


def leaves(*arrays):
    for x in arrays:
        x.attach_grad()
    return list(arrays)


def train(make, steps=150):
    """A perceptron on the sign of a product; the losses, and the accuracy."""
    la.random.seed(0)
    x = la.random.randn(128, 4, dtype="float32")
    y = (x[:, 0] * x[:, 1] > 0).astype("int64")
    params = leaves(
        nn.kaiming_uniform((32, 4)),
        la.zeros(32, dtype="float32"),
        nn.kaiming_uniform((2, 32)),
        la.zeros(2, dtype="float32"),
    )
    w1, b1, w2, b2 = params

    def model():
        return nn.linear(nn.dropout(nn.gelu(nn.linear(x, w1, b1)), 0.05), w2, b2)

    trainer, losses = make(params), []
    with la.no_sync():
        for _ in range(steps):
            with la.autograd.record():
                loss = nn.cross_entropy(model(), y, label_smoothing=0.01)
            loss.backward()
            nn.clip_grad_norm(params, 5.0)
            trainer.step()
            losses.append(loss.detach())
        right = (model().argmax(axis=1) == y).mean()
    return [float(v) for v in losses], float(right)


@pytest.mark.parametrize("name", OPTIMISERS)
def test_perceptrons_learn_without_a_wait(name):
    losses, right = train(OPTIMISERS[name])
    assert losses[-1] < 0.4 * losses[0] and right > 0.95


def test_a_seed_repeats_a_run():
    once = train(OPTIMISERS["Adam"], 20)
    assert train(OPTIMISERS["Adam"], 20) == once


def test_a_convolutional_network_learns():
    """Bars that stand or lie, in noise; batch norm's running statistics serve for prediction."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 64)
    images = rng.standard_normal((64, 1, 8, 8)).astype("f4") * 0.3
    for image, label in zip(images, labels, strict=True):
        k = rng.integers(1, 7)
        image[0, :, k] += 1 - label
        image[0, k, :] += label
    la.random.seed(1)
    params = leaves(
        nn.kaiming_uniform((8, 1, 3, 3)),
        la.ones(8, dtype="float32"),
        la.zeros(8, dtype="float32"),
        nn.kaiming_uniform((8, 4, 3, 3)),
        nn.kaiming_uniform((2, 8)),
    )
    w1, scale, shift, w2, w3 = params
    mean, var = la.zeros(8, dtype="float32"), la.ones(8, dtype="float32")
    x, y = la.array(images), la.array(labels)

    def model():
        h = nn.conv2d(x, w1, padding="same")
        h = nn.max_pool2d(nn.relu(nn.batch_norm(h, mean, var, scale, shift)), 2)
        h = nn.relu(nn.conv2d(h, w2, padding="same", groups=2))
        return nn.linear(nn.global_avg_pool(h), w3)

    trainer = nn.Adam(params, 0.02)
    with la.no_sync():
        for _ in range(60):
            with la.autograd.record():
                loss = nn.cross_entropy(model(), y)
            loss.backward()
            trainer.step()
        right = (model().argmax(axis=1) == y).mean()
    assert float(loss) < 0.2 and float(right) > 0.95


def test_a_recurrent_network_learns():
    """The parity of five bits, by a loop in Python."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2, (5, 64))
    y = la.array(bits.sum(axis=0) % 2)
    la.random.seed(2)
    params = leaves(
        nn.xavier_normal((2, 16)),
        nn.xavier_uniform((16, 16)),
        la.zeros(16, dtype="float32"),
        nn.xavier_uniform((2, 16)),
    )
    embedding, recurrent, bias, out = params
    trainer, steps = nn.Adam(params, 0.03), la.array(bits)
    for _ in range(150):
        with la.autograd.record():
            h = la.zeros((64, 16), dtype="float32")
            for t in range(5):
                h = la.tanh(nn.embedding(steps[t], embedding) + nn.linear(h, recurrent, bias))
            loss = nn.cross_entropy(nn.linear(h, out), y)
        loss.backward()
        nn.clip_grad_norm(params, 1.0)
        trainer.step()
    assert float(loss) < 0.1


def test_a_bad_batch_is_an_error_of_its_loss_at_the_wait():
    w = leaves(la.ones((3, 2)))[0]
    with pytest.raises(IndexError, match="target 7 is out of bounds for 3 classes"):
        with la.autograd.record():
            loss = nn.cross_entropy(nn.linear(la.ones((2, 2)), w), la.array([0, 7]))
        loss.item()
    with la.autograd.record():  # and the next one goes on
        loss = nn.cross_entropy(nn.linear(la.ones((2, 2)), w), la.array([0, 1]))
    loss.backward()
    nn.sgd(w, w.grad, 0.1)
    assert np.isfinite(w.asnumpy()).all()


@pytest.mark.parametrize("compiled", [lambda i: True, lambda i: i % 3])
def test_adam_counts_in_compiled_functions(compiled):
    """Its corrections depend on the step: a replay must not go on with that of the capture."""

    def run(compiled):
        (w,) = leaves(la.array([1.0, 2.0]))
        trainer = nn.Adam([w], 0.1)

        def step():
            with la.autograd.record():
                loss = (w * w).sum()
            loss.backward()
            trainer.step()

        replayed = la.compile(step)
        for i in range(10):
            (replayed if compiled(i) else step)()
        return w.tolist(), trainer.steps

    wanted = run(lambda i: False)
    assert wanted[1] == 10
    w, steps = run(compiled)
    assert steps == 10
    np.testing.assert_allclose(w, wanted[0], rtol=1e-12)


def test_adam_goes_on_from_a_count():
    (w,) = leaves(la.array([1.0]))
    trainer = nn.Adam([w], 0.1)
    trainer.steps = 4
    w.grad[:] = 1.0
    trainer.step()
    assert trainer.steps == 5
    v, m, second = la.array([1.0]), la.zeros(1), la.zeros(1)
    nn.adam(v, w.grad, m, second, 0.1, 5)
    assert w.item() == v.item()
    with pytest.raises(TypeError):
        trainer.steps = 1.5
