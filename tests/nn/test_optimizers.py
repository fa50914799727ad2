"""Optimisers: formulas step by step, one fused pass each, state, schedules, clipping, trainers."""

import inspect
import os

import numpy as np
import pytest

import lazyarray as la
from lazyarray import nn

from .checks import close, normal, one_fused_pass

asynchronous = pytest.mark.skipif(
    os.environ.get("LAZYARRAY_ENGINE_TYPE") == "NaiveEngine", reason="nothing is fused"
)


def momentum(w, g, v, mu, lr, nesterov):
    v[:] = mu * v + g
    w -= lr * (g + mu * v if nesterov else v)


def adam(w, g, m, v, lr, step, b1, b2, eps):
    m[:] = b1 * m + (1 - b1) * g
    v[:] = b2 * v + (1 - b2) * g * g
    w -= lr * (m / (1 - b1**step)) / (np.sqrt(v / (1 - b2**step)) + eps)


def numpys(name, w, g, state, step, decay):
    """The step of each optimiser as its paper writes it."""
    if name == "adamw":
        w -= 0.1 * decay * w
    elif decay:
        g = g + decay * w
    if name == "sgd":
        w -= 0.1 * g
    elif name in ("momentum", "nesterov"):
        momentum(w, g, *state, 0.8, 0.1, name == "nesterov")
    elif name in ("adam", "adamw"):
        adam(w, g, *state, 0.1, step, 0.8, 0.95, 1e-6)
    elif name == "rmsprop":
        state[0][:] = 0.9 * state[0] + 0.1 * g * g
        w -= 0.1 * g / (np.sqrt(state[0]) + 1e-6)
    elif name == "adagrad":
        state[0] += g * g
        w -= 0.1 * g / (np.sqrt(state[0]) + 1e-6)


def ours(name, w, g, state, step, decay):
    if name == "sgd":
        nn.sgd(w, g, 0.1, decay)
    elif name in ("momentum", "nesterov"):
        nn.momentum(w, g, *state, 0.1, 0.8, decay, name == "nesterov")
    elif name in ("adam", "adamw"):
        getattr(nn, name)(w, g, *state, 0.1, step, 0.8, 0.95, 1e-6, decay)
    else:
        options = (0.9, 1e-6) if name == "rmsprop" else (1e-6,)
        getattr(nn, name)(w, g, *state, 0.1, *options, decay)


STATES = {
    "sgd": 0,
    "momentum": 1,
    "nesterov": 1,
    "adam": 2,
    "adamw": 2,
    "rmsprop": 1,
    "adagrad": 1,
}


@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize("decay", [0.0, 0.1])
@pytest.mark.parametrize("counter", ["int", "array"])
def test_twenty_steps(name, decay, counter):
    rng = np.random.default_rng(0)
    w = rng.standard_normal((4, 3))
    state = [np.zeros((4, 3)) for _ in range(STATES[name])]
    weight, kept = la.array(w), [la.array(s) for s in state]
    count = la.array(0)
    with la.no_sync():
        for step in range(1, 21):
            g = rng.standard_normal((4, 3))
            count += 1
            ours(name, weight, la.array(g), kept, count if counter == "array" else step, decay)
            numpys(name, w, g, state, step, decay)
    close(weight, w, 1e-10)
    for s, want in zip(kept, state, strict=True):
        close(s, want, 1e-10)


@pytest.mark.parametrize("dtype", ["f2", "f4"])
def test_dtypes_stay(dtype):
    for name, states in STATES.items():
        w = la.array(normal(5).astype(dtype))
        state = [la.zeros(5, dtype=dtype) for _ in range(states)]
        for step in (1, la.array(2)):
            ours(name, w, la.ones(5, dtype=dtype), state, step, 0.1)
        assert w.dtype == dtype and np.isfinite(w.asnumpy()).all()


@asynchronous
@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize("decay", [0.0, 0.1])
@pytest.mark.parametrize("counter", ["int", "array"])
def test_one_fused_pass(name, decay, counter):
    n = 200_000
    w, g = la.ones(n, dtype="f4"), la.ones(n, dtype="f4")
    state = [la.zeros(n, dtype="f4") for _ in range(STATES[name])]
    step = la.array(3) if counter == "array" else 3
    one_fused_pass(lambda: ours(name, w, g, state, step, decay))


def test_updates_are_not_recorded():
    w = la.ones(3)
    w.attach_grad()
    with la.autograd.record():
        loss = (w * w).sum()
        loss.backward()
        nn.sgd(w, w.grad, 0.25)  # a leaf, inside of record()
        loss = (w * 3.0).sum()
    loss.backward()
    assert w.tolist() == [0.5] * 3 and w.grad.tolist() == [3.0] * 3


def test_views_and_learning_rates_of_arrays():
    whole = la.ones((4, 4))
    nn.sgd(whole[::2].T, la.ones((4, 2)), lr=la.array(0.5))
    assert whole.asnumpy()[:, 0].tolist() == [0.5, 1, 0.5, 1]


def test_clip_grad_norm():
    rng = np.random.default_rng(0)
    params = [la.ones(s) for s in ((3,), (2, 2))]
    grads = [rng.standard_normal(p.shape) for p in params]
    norm = np.sqrt(sum((g * g).sum() for g in grads))
    for limit, factor in ((0.5, 0.5 / (norm + 1e-6)), (100.0, 1.0), (la.array(1e9), 1.0)):
        for p, g in zip(params, grads, strict=True):
            p.attach_grad()
            p.grad[...] = g
        with la.no_sync():
            got = nn.clip_grad_norm(params, limit)
        close(got, norm)
        for p, g in zip(params, grads, strict=True):
            close(p.grad, g * factor)
    with pytest.raises(ValueError, match="attach_grad"):
        nn.clip_grad_norm([la.ones(2)], 1.0)
    with pytest.raises(ValueError, match="no arrays"):
        nn.clip_grad_norm([], 1.0)


def test_clip_grad_norm_of_two_devices():
    params = [la.zeros(2, device=la.cpu(i)) for i in (1, 0, 1)]
    for p in params:
        p.attach_grad()
        p.grad[...] = 3
    with la.no_sync():
        norm = nn.clip_grad_norm(params, 1.0)
    assert norm.device == la.cpu(1)
    close(norm, 54**0.5)
    for p in params:
        assert p.grad.device == p.device
        close(p.grad, np.full(2, 3 / 54**0.5), 1e-6)


TRAINERS = {
    "SGD": (lambda p: nn.SGD(p, 0.1, weight_decay=0.1), "sgd"),
    "Momentum": (lambda p: nn.Momentum(p, 0.1, 0.8, 0.1), "momentum"),
    "Nesterov": (lambda p: nn.Momentum(p, 0.1, 0.8, 0.1, nesterov=True), "nesterov"),
    "Adam": (lambda p: nn.Adam(p, 0.1, 0.8, 0.95, 1e-6, 0.1), "adam"),
    "AdamW": (lambda p: nn.Adam(p, 0.1, 0.8, 0.95, 1e-6, 0.1, decoupled=True), "adamw"),
}


@pytest.mark.parametrize("name", TRAINERS)
def test_trainers(name):
    make, function = TRAINERS[name]
    start = [normal(3), normal(2, 2, seed=1)]
    params = [la.array(a) for a in start]
    for p in params:
        p.attach_grad()
    trainer = make(iter(params))
    states = [[np.zeros(a.shape) for _ in range(STATES[function])] for a in start]
    for step in range(1, 6):
        with la.autograd.record():
            loss = sum((p * p * p).sum() for p in params)
        loss.backward()
        trainer.step()
        for w, state in zip(start, states, strict=True):
            numpys(function, w, 3 * w * w, state, step, 0.1)
    for p, w in zip(params, start, strict=True):
        close(p, w, 1e-10)


def test_gradients_that_add_up_are_set_to_zero():
    w = la.ones(2)
    w.attach_grad("add")
    trainer = nn.SGD([w], 0.0)
    for wanted in (2, 4):
        with la.autograd.record():
            loss = (w * 2.0).sum()
        loss.backward()
        assert w.grad.tolist() == [wanted] * 2
    trainer.zero_grad()
    assert w.grad.tolist() == [0, 0]


def test_refused():
    w = la.ones(2)
    for f, more in ((nn.sgd, ()), (nn.momentum, (w,)), (nn.adam, (w, w)), (nn.rmsprop, (w,))):
        with pytest.raises(ValueError, match=r"\(2,\).*\(3,\)"):
            f(w, la.ones(3), *more, 0.1, *(1,) * (f is nn.adam))
    with pytest.raises(TypeError, match="ndarray"):
        nn.sgd(np.ones(2), la.ones(2), 0.1)
    with pytest.raises(ValueError, match="counts from 1"):
        nn.adam(w, w, w.copy(), w.copy(), 0.1, 0)
    with pytest.raises(ValueError, match=r"\(2,\)"):
        nn.adamw(w, w, w.copy(), w.copy(), 0.1, la.array([1, 2]))
    with pytest.raises(ValueError, match="no arrays"):
        nn.SGD([], 0.1)
    with pytest.raises(ValueError, match="attach_grad"):
        nn.Adam([la.ones(2)])


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda w: nn.Adam(w, beta1=1.0), ValueError),
        (lambda w: nn.Adam(w, beta2=-0.1), ValueError),
        (lambda w: nn.Adam(w, eps="a"), TypeError),
        (lambda w: nn.Adam(w, weight_decay=-1), ValueError),
        (lambda w: nn.Momentum(w, 0.1, momentum=float("nan")), ValueError),
        (lambda w: nn.SGD(w, float("nan")), ValueError),
        (lambda w: nn.SGD(w, 0.1, weight_decay=None), TypeError),
    ],
)
def test_numbers_out_of_range_are_refused(make, error):
    w = la.ones(2)
    w.attach_grad()
    with pytest.raises(error):
        make(w)


def test_a_parameter_without_a_gradient_is_named():
    w, b = la.ones((2, 3)), la.ones(3)
    w.attach_grad()
    with pytest.raises(ValueError, match=r"Adam: parameter 'bias', of shape \(3,\),"):
        la.nn.Adam({"weight": w, "bias": b})


def test_the_norm_of_gradients_of_halves():
    x = la.array([1.0], dtype="f2")
    x.attach_grad()
    x.grad[...] = 300
    assert la.nn.clip_grad_norm(x, 1.0).item() == 300
    assert x.grad.item() == 1


def test_the_norm_of_what_is_none():
    x = la.ones(2)
    x.attach_grad()
    x.grad[...] = [3.0, 4.0]
    assert la.nn.clip_grad_norm({"x": x}, 10.0).item() == 5
    with pytest.raises(TypeError, match="params are arrays, not a str"):
        la.nn.clip_grad_norm("x", 1.0)


@pytest.mark.parametrize("most", [1j, float("nan"), -1, -0.5, "x", None, la.ones(2)])
def test_norms_that_are_none_change_nothing(most):
    x, y = la.ones(2), la.ones(2)
    for p in (x, y):
        p.attach_grad()
        p.grad[...] = 3
    with pytest.raises((TypeError, ValueError), match="clip_grad_norm: max_norm is"):
        la.nn.clip_grad_norm([x, y], most)
    y.grad.flags.writeable = False
    with pytest.raises(ValueError, match="a gradient is read-only"):
        la.nn.clip_grad_norm([x, y], 1.0)
    assert x.grad.tolist() == y.grad.tolist() == [3, 3]


KINDS = [la.nn.SGD, la.nn.Momentum, la.nn.Adam]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_a_rate_in_an_array_of_one(kind, shape):
    ways = []
    for lr in (0.1, la.full(shape, 0.1)):
        params = [la.ones(3), la.ones(1)[0:1].reshape(())]
        for p in params:
            p.attach_grad()
            p.grad[...] = 2
        trainer = kind(params, lr)
        trainer.step()
        ways.append([p.asnumpy() for p in params])
    for a, b in zip(*ways, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_rate_that_is_not_a_number_changes_nothing(kind):
    w = la.ones(3)
    w.attach_grad()
    trainer = kind([w], 0.1)
    for lr, error in (
        (float("nan"), ValueError),
        (np.float32("nan"), ValueError),
        ("x", TypeError),
    ):
        trainer.lr = lr
        with pytest.raises(error, match="lr is"):
            trainer.step()
    np.testing.assert_array_equal(w.asnumpy(), np.ones(3))
    assert kind is not la.nn.Adam or trainer.steps == 0


def test_states_with_other_numbers():
    w = la.ones(3)
    w.attach_grad()
    trainer = la.nn.SGD([w], lr=1, weight_decay=0)
    trainer.load_state_dict({"lr": 0.5, "weight_decay": 0.01})
    assert trainer.lr == 0.5
    adam = la.nn.Adam([w])
    good = adam.state_dict()
    for key, value in {
        "lr": np.nan,
        "beta1": 2.0,
        "eps": -1,
        "weight_decay": np.nan,
        "steps": -1,
    }.items():
        with pytest.raises(ValueError, match=key):
            adam.load_state_dict({**good, key: value})
    assert adam.options["beta1"] == 0.9


UPDATES = {
    "sgd": 0, "momentum": 1, "adam": 2, "adamw": 2, "rmsprop": 1, "adagrad": 1
}  # fmt: skip


@pytest.mark.parametrize("name", UPDATES)
def test_what_can_not_be_updated_leaves_the_state(name):
    update, many = getattr(la.nn, name), UPDATES[name]
    step = {"step": 1} if "adam" in name else {}

    def arrays(dtype="f8"):
        return [la.ones(3, dtype=dtype), la.ones(3), *[la.ones(3) for _ in range(many)]]

    def check(given, error, lr=0.1, **more):
        with pytest.raises(error):
            update(*given, lr, **{**step, **more})
        for x in given[2:]:
            np.testing.assert_array_equal(x.asnumpy(), np.ones(3))

    for lr, error in ((None, TypeError), ("x", TypeError), (la.ones(2), ValueError)):
        check(arrays(), error, lr)
    check(arrays("i8"), TypeError)
    given = arrays()
    given[0].flags.writeable = False
    check(given, ValueError)
    given = arrays()
    given[1] = given[1] + 1j
    check(given, TypeError)
    elsewhere = la.array(0.5, device=la.cpu(1))
    check(arrays(), ValueError, elsewhere)
    for i in range(1, 2 + many):
        given = arrays()
        given[i] = given[i].to_device(la.cpu(1))
        check(given, ValueError)
    for key in ("eps", "weight_decay", "alpha", "momentum", "beta1", "beta2"):
        if key in inspect.signature(update).parameters:
            for number, error in ((None, TypeError), ("x", TypeError), (elsewhere, ValueError)):
                check(arrays(), error, **{key: number})
    if step:
        check(arrays(), ValueError, step=la.array(2, device=la.cpu(1)))
        check(arrays(), TypeError, step=[1])
        check(arrays(), ValueError, step=0)
        for step["step"] in (1, la.array(1)):
            for number in (1, 1.0, -0.1):
                check(arrays(), ValueError, beta1=number)
                check(arrays(), ValueError, beta2=number)
    if name == "momentum":
        check(arrays(), ValueError, nesterov=np.ones(2))


def trained(start, loss_of, rate, times):
    """The weight that Adam comes to from ``start``; compiled and not, it has the same bits."""
    runs = []
    for compiled in (False, True):
        w = la.array(start)
        w.attach_grad()
        trainer = la.nn.Adam([w], rate)

        def step(w=w, trainer=trainer):
            with la.autograd.record():
                loss = loss_of(w)
            loss.backward()
            trainer.step()

        run = la.compile(step) if compiled else step
        for _ in range(times):
            run()
        runs.append(w.asnumpy())
    np.testing.assert_array_equal(*runs)
    return runs[0]


def test_compiled_adam_has_the_bits_of_eager_adam():
    trained(np.linspace(-1, 1, 50), lambda w: ((w * w - 0.3) ** 2).sum(), 0.01, 120)


@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize("decay", [0.0, 0.1])
@pytest.mark.parametrize("counter", ["int", "array"])
def test_a_complex_weight_is_two_real_ones(name, decay, counter):
    def steps(dtype, shape):
        w = la.array(normal(6).view(dtype).reshape(shape))
        state = [la.zeros(shape, dtype=dtype) for _ in range(STATES[name])]
        for step in range(1, 6):
            g = la.array(normal(6, seed=step).view(dtype).reshape(shape))
            ours(name, w, g, state, la.array(step) if counter == "array" else step, decay)
        return [x.asnumpy().reshape(-1).view("f8") for x in (w, *state)]

    for a, b in zip(steps("c16", (3,)), steps("f8", (6,)), strict=True):
        close(a, b, 1e-14)


def test_a_complex_weight_of_a_compiled_trainer():
    def loss_of(w):
        away = w - (1 + 2j)
        return (away * away.conj()).real.sum()

    found = trained(normal(6).view("c16"), loss_of, 0.05, 400)
    close(found, np.full(3, 1 + 2j), 1e-6)


@pytest.mark.parametrize("name", ["momentum", "adam", "rmsprop", "adagrad"])
@pytest.mark.parametrize("weight, state", [("c16", "f8"), ("f8", "c16")])
def test_a_state_of_another_kind_changes_nothing(name, weight, state):
    w, kept = la.ones(2, dtype=weight), [la.ones(2, dtype=state) for _ in range(STATES[name])]
    with pytest.raises(TypeError, match=f"{name}: a state of {kept[0].dtype} for a weight of"):
        ours(name, w, la.ones(2), kept, 1, 0.0)
    assert w.tolist() == [1, 1] and all(s.tolist() == [1, 1] for s in kept)


def test_the_norm_of_complex_gradients_is_real():
    w = la.zeros(2, dtype="c16")
    w.attach_grad()
    w.grad[...] = [3j, 4]
    norm = nn.clip_grad_norm(w, 1.0)
    assert norm.dtype == "f8" and norm.item() == 5
    close(w.grad, [0.6j, 0.8], 1e-6)
