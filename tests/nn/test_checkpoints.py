"""Training that is saved and goes on elsewhere: arrays, optimisers and streams, bit for bit."""

import copy
import io
import pickle
import subprocess
import sys

import numpy as np
import pytest

import lazyarray as la
from lazyarray import nn

TRAINERS = {
    "SGD": lambda p: nn.SGD(p, 0.1, weight_decay=0.01),
    "Momentum": lambda p: nn.Momentum(p, 0.1, 0.8),
    "Nesterov": lambda p: nn.Momentum(p, 0.1, 0.8, 0.1, nesterov=True),
    "Adam": lambda p: nn.Adam(p, 0.1),
    "AdamW": lambda p: nn.Adam(p, 0.1, weight_decay=0.1, decoupled=True),
    "array lr": lambda p: nn.Adam(p, la.array([0.1], dtype="f4")),
}


class Model:
    """A small network with dropout, its optimiser and its generator, as a user may write it."""

    def __init__(self, trainer, dtype="f4"):
        self.rng = la.random.default_rng(3)
        make = np.random.default_rng(0).standard_normal
        self.params = {
            "w1": la.array(make((5, 4)).astype(dtype)),
            "b1": la.zeros(5, dtype=dtype),
            "w2": la.array(make((2, 5)).astype(dtype)),
        }
        for p in self.params.values():
            p.attach_grad()
        self.trainer = TRAINERS[trainer](self.params)
        self.rate = 0.1

    def train(self, steps):
        for _ in range(steps):
            x = self.rng.standard_normal((6, 4), dtype="f4")
            p = self.params
            with la.autograd.record():
                h = nn.dropout(la.tanh(nn.linear(x, p["w1"], p["b1"])), 0.5)
                loss = nn.cross_entropy(h @ p["w2"].T, [0, 1, 1, 0, 1, 0])
            loss.backward()
            self.trainer.step()
            self.rate *= 0.9  # a schedule
            if not isinstance(self.trainer.lr, la.NDArray):
                self.trainer.lr = self.rate
        return self

    def bits(self):
        arrays = {**self.params, **{k: p.grad for k, p in self.params.items() if False}}
        state = self.trainer.state_dict()
        arrays |= {k: v for k, v in state.items() if isinstance(v, la.NDArray)}
        return {k: x.asnumpy().tobytes() for k, x in arrays.items()} | {
            "lr": float(np.ravel(np.asarray(state["lr"]))[0]),
            "steps": state.get("steps"),
        }


def saved_and_loaded(x):
    file = io.BytesIO()
    la.save(file, x)
    file.seek(0)
    return la.load(file)


WAYS = {
    "pickle": lambda m: pickle.loads(pickle.dumps(m)),
    "pickle 2": lambda m: pickle.loads(pickle.dumps(m, 2)),
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", TRAINERS)
def test_a_whole_model_goes_on(name, way):
    la.random.seed(5)
    model = Model(name).train(3)
    state = la.random.get_state()
    other = WAYS[way](model)
    want = model.train(3).bits()
    la.random.set_state(state)
    assert other.train(3).bits() == want
    for key, p in other.params.items():  # one array, however it is reached
        assert any(p is q for q in other.trainer.params), key
        assert p is not model.params[key]


@pytest.mark.parametrize("name", TRAINERS)
@pytest.mark.parametrize("file", [False, True])
def test_state_dicts_go_on(name, file):
    through = saved_and_loaded if file else copy.deepcopy
    la.random.seed(5)
    model = Model(name).train(3)
    params, state = through(model.params), through(model.trainer.state_dict())
    streams, rng, rate = la.random.get_state(), pickle.dumps(model.rng), model.rate
    want = model.train(3).bits()
    other = Model(name)
    for key, p in other.params.items():
        p[...] = params[key]
    other.trainer.load_state_dict(state)
    other.rng, other.rate = pickle.loads(rng), rate
    la.random.set_state(streams)
    assert other.train(3).bits() == want


def test_in_another_process(tmp_path):
    la.random.seed(5)
    model = Model("Adam").train(3)
    path = tmp_path / "checkpoint"
    with open(path, "wb") as stream:
        pickle.dump({"model": model, "streams": la.random.get_state()}, stream)
    want = model.train(3).bits()
    program = (
        "import pickle, sys, lazyarray as la\n"
        "with open(sys.argv[1], 'rb') as stream: kept = pickle.load(stream)\n"
        f"with la.{la.current_context()!r}:\n"
        "    la.random.set_state(kept['streams'])\n"
        "    print(repr(kept['model'].train(3).bits()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, timeout=250
    )
    assert done.returncode == 0, done.stderr
    assert eval(done.stdout) == want


# ---- arrays -------------------------------------------------------------------------------------

COPIES = {**WAYS, "copy": copy.copy}


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("grad_req", ["write", "add"])
def test_gradients_are_kept(way, grad_req):
    x = la.array([[1.0, 2.0], [3.0, 4.0]]).T
    x.attach_grad(grad_req)
    x.grad[...] = [[5.0, 6.0], [7.0, 8.0]]
    y = COPIES[way](x)
    assert y.grad is not x.grad and y.grad.tolist() == x.grad.tolist()
    assert y.tolist() == x.tolist() and y.strides == x.strides
    with la.autograd.record():
        loss = (y * y).sum()
    loss.backward()
    base = np.array([[5.0, 6], [7, 8]]) * (grad_req == "add")
    assert y.grad.tolist() == (base + 2 * y.asnumpy()).tolist()
    assert x.grad.tolist() == [[5, 6], [7, 8]]
    assert COPIES[way](la.ones(2)).grad is None


@pytest.mark.parametrize("way", WAYS)
def test_shared_arrays_stay_shared(way):
    x = la.ones(2)
    x.attach_grad()
    y, again, grad = WAYS[way]([x, x, x.grad])
    assert y is again and y.grad is grad


def test_a_recorded_copy_keeps_its_history():
    w = la.array([1.0, 2.0])
    w.attach_grad()
    with la.autograd.record():
        y = copy.deepcopy(w)
        loss = (y * y).sum()
    loss.backward()
    assert w.grad.tolist() == [2, 4] == y.grad.tolist()


# ---- streams ------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize(
    "make",
    [
        lambda: la.random.default_rng(1),
        lambda: la.random.RandomState(1),
        lambda: la.random.Generator(la.random.MT19937(2)),
        lambda: la.random.default_rng(1, ctx=la.cpu(1)),
    ],
)
def test_generators_go_on(make, way):
    rng = make()
    rng.standard_normal(3), rng.choice(5, 2)
    other = COPIES[way](rng)
    assert type(other) is type(rng) and other.device == rng.device
    first = [rng.standard_normal(5), rng.uniform(size=3)]
    for got, want in zip([other.standard_normal(5), other.uniform(size=3)], first, strict=True):
        assert got.tolist() == want.tolist()


def test_the_modules_streams_go_on():
    for device in (la.cpu(0), la.cpu(1)):
        la.random.seed(3)
        la.random.normal(size=3, ctx=device)
        state = pickle.loads(pickle.dumps(la.random.get_state(ctx=device)))
        want = la.random.normal(size=3, ctx=device).tolist()
        la.random.set_state(state, ctx=device)
        assert la.random.normal(size=3, ctx=device).tolist() == want


# ---- parameters ---------------------------------------------------------------------------------


def parameter(*shape):
    p = la.ones(shape)
    p.attach_grad()
    p.grad[...] = 1
    return p


@pytest.mark.parametrize(
    "given",
    [
        lambda w: w,
        lambda w: [w],
        lambda w: (w,),
        lambda w: {"w": w},
        lambda w: {"w": w}.values(),
        lambda w: iter([w]),
        lambda w: (p for p in [w]),
    ],
)
@pytest.mark.parametrize("name", ["SGD", "Momentum", "Adam"])
def test_parameters_may_be_given_as(given, name):
    w = parameter(2, 3)
    trainer = TRAINERS[name](given(w))
    trainer.step()
    assert trainer.params[0] is w and len(trainer.params) == 1
    assert (w.asnumpy() < 1).all()


class Layer:
    pass


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (lambda w: 3, TypeError, "not a int"),
        (lambda w: "w", TypeError, "not a str"),
        (lambda w: Layer(), TypeError, "Layer.*functions"),
        (lambda w: [w, 3.0], TypeError, "float"),
        (lambda w: [[w]], TypeError, "list"),
        (lambda w: {"w": None}, TypeError, "NoneType"),
        (lambda w: {1: w}, TypeError, "names"),
        (lambda w: np.ones(3), TypeError, "float64"),
        (lambda w: {}, ValueError, "no arrays"),
        (lambda w: [w, w], ValueError, "twice"),
        (lambda w: [la.ones(2)], ValueError, "attach_grad"),
    ],
)
def test_other_parameters_are_refused(given, error, words):
    with pytest.raises(error, match=words):
        nn.Adam(given(parameter(2)))


@pytest.mark.parametrize("lr", ["0.1", None, la.ones(2), la.array(1j), [0.1]])
def test_other_rates_are_refused(lr):
    with pytest.raises((TypeError, ValueError), match="lr"):
        nn.SGD(parameter(2), lr)


# ---- a step that fails --------------------------------------------------------------------------


def refused(trainer, error, words):
    before = [p.tolist() for p in trainer.params], trainer.state_dict()
    with pytest.raises(error, match=words):
        trainer.step()
    after = [p.tolist() for p in trainer.params], trainer.state_dict()
    assert str(before) == str(after)


@pytest.mark.parametrize("name", ["SGD", "Momentum", "Adam"])
def test_a_step_that_fails_changes_nothing(name):
    ps = [parameter(2), parameter(3)]
    trainer = TRAINERS[name](ps)
    trainer.step()
    ps[1].drop_grad()
    refused(trainer, ValueError, "'1' has no gradient")
    ps[1].attach_grad()
    trainer.lr, rate = "fast", trainer.lr
    with pytest.raises(TypeError, match="lr"):
        trainer.step()
    trainer.lr = rate
    ps[1].shape = (3, 1)
    ps[1].attach_grad()
    if name != "SGD":
        refused(trainer, ValueError, r"\(3, 1\).*\(3,\)")
    ps[1].shape = (3,)
    ps[1].attach_grad()
    ps[1].setflags(write=False)
    refused(trainer, ValueError, "read-only")
    ps[1].setflags(write=True)
    trainer.step()
    assert trainer.state_dict().get("steps", 2) == 2


# ---- states -------------------------------------------------------------------------------------


def test_a_state_is_of_its_moment():
    w = parameter(2)
    trainer = nn.Adam({"w": w}, 0.1)
    trainer.step()
    state = trainer.state_dict()
    kept = str(state)
    trainer.step()
    assert str(state) == kept and set(state) == {
        *("lr", "beta1", "beta2", "eps", "weight_decay", "decoupled", "steps"),
        *("mean.w", "var.w"),
    }
    trainer.load_state_dict(state)
    state["mean.w"][...] = 9  # nor does the trainer follow it
    assert trainer.steps == 1 and str(trainer.state_dict()) == kept


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda s: s.pop("mean.0"), ValueError, "lacks 'mean.0'"),
        (lambda s: s.update(velocity=1), ValueError, "also has 'velocity'"),
        (lambda s: s.update({"var.1": la.ones(2)}), ValueError, r"'var.1'.*\(3,\).*\(2,\)"),
        (lambda s: s.update({"var.1": la.ones(3, "f4")}), ValueError, "float32"),
        (lambda s: s.update({"var.1": [1, 2, 3]}), TypeError, "list"),
        (lambda s: s.update({"var.1": None}), TypeError, "NoneType"),
        (lambda s: s.update(lr="a"), TypeError, "'lr'"),
        (lambda s: s.update(lr=la.ones(2)), TypeError, "'lr'"),
        (lambda s: s.update(steps=1.5), TypeError, "'steps'"),
        (lambda s: s.update(steps=-1), ValueError, "-1"),
        (lambda s: s.update(steps=2**70), ValueError, str(2**70)),
        (lambda s: s.update(decoupled=1), TypeError, "'decoupled'"),
        (lambda s: s.update(eps=True), TypeError, "'eps'"),
    ],
)
def test_other_states_are_refused_and_change_nothing(change, error, words):
    trainer = nn.Adam([parameter(2), parameter(3)], 0.1)
    trainer.step()
    state = trainer.state_dict()
    kept = str(state)
    changed = {k: v + 1 if isinstance(v, la.NDArray) else v for k, v in state.items()}
    change(changed)
    with pytest.raises(error, match=words):
        trainer.load_state_dict(changed)
    assert str(trainer.state_dict()) == kept
    with pytest.raises(TypeError, match="list"):
        trainer.load_state_dict([])


def test_a_state_that_can_not_be_written_changes_nothing():
    trainer = nn.Adam([parameter(2), parameter(3)], 0.1)
    trainer.step()
    kept = str(trainer.state_dict())
    changed = {
        k: v + 1 if isinstance(v, la.NDArray) else v for k, v in trainer.state_dict().items()
    }
    trainer.state[1][1].flags.writeable = False
    with pytest.raises(ValueError, match=r"'var.1', an array of its state, is read-only"):
        trainer.load_state_dict(changed)
    for steps in (2**63, -1):
        with pytest.raises(ValueError, match=f"{steps} steps"):
            trainer.steps = steps
    assert str(trainer.state_dict()) == kept


def test_states_of_numpy_arrays():
    trainer = nn.Momentum([parameter(2)], 0.1)
    state = {k: np.asarray(v) for k, v in trainer.state_dict().items()}
    state["velocity.0"] += 1
    state["lr"] = np.float64(0.5)
    trainer.load_state_dict(state)
    assert trainer.state[0][0].tolist() == [1, 1] and trainer.lr == 0.5
    assert type(trainer.options["nesterov"]) is bool


def test_a_rate_that_is_a_scalar_is_replaced():
    rate = la.full(2, 0.1).mean()
    trainer = nn.SGD([parameter(2)], rate)
    trainer.load_state_dict({"lr": 0.5, "weight_decay": 0.0})
    assert trainer.lr == 0.5 and rate == 0.1


def test_a_rate_in_an_array_stays_that_array():
    lr = la.array(0.5)
    trainer = nn.SGD([parameter(2)], lr)
    state = trainer.state_dict()
    lr[...] = 0.25
    trainer.load_state_dict(state)
    assert trainer.lr is lr and lr.item() == 0.5


def test_a_compiled_step_goes_on_from_a_state():
    def made():
        w = parameter(3)
        trainer = nn.Adam([w], la.array(0.1))

        @la.compile
        def step(x):
            with la.autograd.record():
                loss = ((w - x) ** 2).sum()
            loss.backward()
            trainer.step()

        return w, trainer, step

    w, trainer, step = made()
    x = la.array([1.0, 2.0, 3.0])
    for _ in range(3):
        step(x)
    state, values = trainer.state_dict(), w.copy()
    for _ in range(3):
        step(x)
    want = w.tolist(), trainer.steps
    w[...] = values
    trainer.load_state_dict(state)
    assert trainer.steps == 3
    for _ in range(3):
        step(x)
    assert (w.tolist(), trainer.steps) == want
    other, fresh, again = made()
    other[...] = values
    fresh.load_state_dict(state)
    for _ in range(3):
        again(x)
    assert (other.tolist(), fresh.steps) == want


def test_steps_counted_in_arrays_and_in_numbers_agree():
    found = []
    for counted in (False, True):
        w = la.array(np.linspace(-1, 1, 7, dtype="f4"))
        m, v = la.zeros_like(w), la.zeros_like(w)
        for i in range(1, 30):
            g = la.sin(w * i)
            nn.adam(w, g, m, v, 0.01, la.array(i) if counted else i)
        found.append(w.asnumpy())
    np.testing.assert_allclose(*found, rtol=3e-7)
