"""Where a compiled function's state may be: each program does the same compiled and op by op."""

import collections
import contextlib
import enum
import functools
import operator
import random
import warnings

import numpy as np
import pytest

import lazyarray as la
from lazyarray.autograd import pause, record

K = 1.0
PROGRAMS = []


def program(f):
    PROGRAMS.append(f)
    return f


def four(f, change=None):
    """The results of four calls, the state changed before the last two."""
    for i in range(4):
        if i == 2 and change is not None:
            change()
        yield f(la.arange(3.0) + i).tolist()


# ---- containers that were there stay themselves -------------------------------------------------


@program
def a_list_beside_an_array(c):
    state = {"h": la.zeros(3), "count": [0], "history": []}

    def step(x):
        state["h"] = state["h"] + x
        state["count"][0] += 1
        state["history"].append(state["h"].sum())
        return state["h"] * state["count"][0]

    yield from four(c(step))
    yield state["count"], [float(s) for s in state["history"]]


@program
def the_state_of_an_optimizer(c):
    state = {"step": 0, "a": {"m": la.zeros(3), "t": 0}, "b": {"m": la.zeros(3), "t": 0}}

    def step(x):
        state["step"] += 1
        for key in ("a", "b"):
            state[key]["m"] = state[key]["m"] * 0.9 + x
            state[key]["t"] += 1
        return state["a"]["m"] * state["step"] + state["b"]["t"]

    yield from four(c(step))
    yield state["step"], state["a"]["t"]


@program
def deques_and_tuples(c):
    class Net:
        pass

    net, scale = Net(), [1.0]
    net.pair = (la.zeros(3), scale)
    net.last = collections.deque([[0], la.zeros(3)])

    def step(x):
        net.pair = (net.pair[0] + x, net.pair[1])
        net.last[0][0] += 1
        return net.pair[0] * net.pair[1][0] + net.last[0][0]

    yield from four(c(step), lambda: scale.append(scale.pop() * 3))
    yield net.pair[1] is scale, net.last[0]


@program
def a_list_from_outside_is_returned(c):
    kept = [1.0]
    step = c(lambda x: {"x": x * 2, "kept": kept})
    yield [step(la.ones(2))["kept"] is kept for _ in range(3)]


# ---- what code not the user's calls or holds ----------------------------------------------------


def changed(**values):
    return lambda: globals().update(values)


def helper_by(decorator):
    def of(c):
        @decorator
        def helper(x):
            return x * K

        globals()["K"] = 1.0
        yield from four(c(lambda x: helper(x) + 1), changed(K=5.0))

    return of


@contextlib.contextmanager
def scaled():
    yield K


for decorate in (
    lambda f: pause()(f),
    lambda f: np.errstate(all="ignore")(f),
    functools.singledispatch,
    lambda f: functools.partial(f),
    lambda f: functools.wraps(f)(lambda *args: f(*args)),
):
    program(helper_by(decorate))


@program
def a_context_manager_made_by_a_decorator(c):
    def step(x):
        with scaled() as k:
            return x * k

    globals()["K"] = 1.0
    yield from four(c(step), changed(K=4.0))


@program
def a_null_context(c):
    context = contextlib.nullcontext(2.0)

    def step(x):
        with context as k:
            return x * k

    yield from four(c(step), lambda: setattr(context, "enter_result", 7.0))


@program
def methods_of_a_partial(c):
    class Net:
        k = 2.0

        def scaled(self, by, x):
            return x * by * self.k

        doubled = functools.partialmethod(scaled, 2.0)

    net = Net()
    yield from four(c(lambda x: net.doubled(x)), lambda: setattr(net, "k", 5.0))


@program
def a_gradient_of_the_users_own(c):
    class Scaled(la.autograd.Function):
        def forward(self, x):
            return x * K

        def backward(self, g):
            return g * K

    globals()["K"] = 1.0
    yield from four(c(lambda x: Scaled()(x)), changed(K=3.0))


@program
def a_method_that_an_object_gets(c):
    class Net:
        def forward(self, x):
            return x * 2

    net = Net()
    yield from four(c(lambda x: net.forward(x)), lambda: setattr(net, "forward", lambda x: x * 9))


@program
def an_attribute_that_comes_later(c):
    class Net:
        pass

    net, other = Net(), Net()

    def step(x):
        try:
            return x * net.k
        except AttributeError:
            return x * getattr(other, "k", 1.0)

    yield from four(c(step), lambda: setattr(net, "k", 7.0))


@program
def an_attribute_that_a_class_gets_later(c):
    class Net:
        pass

    net = Net()

    def step(x):
        try:
            return x * net.k
        except AttributeError:
            return x

    yield from four(c(step), lambda: setattr(Net, "k", 7.0))


@program
def a_global_that_hides_a_builtin(c):
    globals().pop("abs", None)
    step = c(lambda x: x * abs(-2.0))
    yield from four(step, changed(abs=lambda x: 11.0))
    globals().pop("abs", None)


@program
def members_of_an_enum(c):
    class Mode(enum.Enum):
        FAST = 1

        def scale(self):
            return self.k

    Mode.FAST.k = 2.0
    step = c(lambda x: x * Mode.FAST.scale())
    yield from four(step, lambda: setattr(Mode.FAST, "k", 6.0))


@program
def a_number_with_attributes(c):
    class Scale(float):
        pass

    scale = Scale(2.0)
    scale.k = 3.0
    yield from four(c(lambda x: x * scale.k), lambda: setattr(scale, "k", 6.0))


@program
def a_class_of_a_class(c):
    class Meta(type):
        factor = 2.0

        @property
        def scale(cls):
            return cls.factor

        def times(cls, x):
            return x * cls.scale

    class Net(metaclass=Meta):
        pass

    yield from four(c(lambda x: Net.times(x)), lambda: setattr(Meta, "factor", 6.0))


@program
def what_only_numpys_code_names(c):
    poly = la.polynomial.Polynomial([1.0, 2.0])
    yield from four(c(lambda x: x * poly(2.0)), lambda: setattr(poly, "coef", np.array([5.0, 1.0])))


@program
def the_mask_of_a_masked_array(c):
    masked = np.ma.masked_array([1.0, 2.0], [False, True])
    yield from four(c(lambda x: x * masked.sum()), lambda: setattr(masked, "mask", [False, False]))


@program
def an_attribute_called_by_name(c):
    class Net:
        k = 2.0

        def scaled(self, x):
            return x * self.k

    net = Net()
    call = operator.methodcaller("scaled", la.ones(3))
    yield from four(c(lambda x: call(net) * x), lambda: setattr(net, "k", 6.0))


# ---- generators that are made inside ------------------------------------------------------------


@program
def a_generator_made_inside(c):
    yield from four(c(lambda x: x + la.random.default_rng(3).normal(size=3)))
    yield from four(c(lambda x: x + la.random.RandomState(3).rand(3)))
    yield from four(c(lambda x: x + np.random.default_rng(4).normal()))
    yield from four(c(lambda x: x + random.Random(5).random()))


# ---- constants that are equal, but not the same -------------------------------------------------


@program
def constants_that_are_equal(c):
    step = c(lambda x, of: x * next(iter(of)))
    for of in (frozenset([1]), frozenset([1.0]), frozenset([True])):
        yield step(la.arange(3), of).dtype
    divided = c(lambda x, by: x / by)
    with np.errstate(all="ignore"):
        for by in (np.float32(0.0), np.float32(-0.0)):
            yield divided(la.ones(2), by).tolist()


# ---- gradients ----------------------------------------------------------------------------------


@program
def a_result_that_is_overwritten(c):
    w = la.array([1.0, 2.0, 3.0])
    w.attach_grad()
    f = c(lambda x: la.tanh(x * w))
    for inside in (True, False):
        with record():
            y = f(la.array([0.1, 0.2, 0.3]))
            z = y * 1
            if inside:
                y += 1
            s = z.sum()
        if not inside:
            y *= 0
        try:
            s.backward()
            yield w.grad.tolist()
        except RuntimeError:
            yield "overwritten"


@program
def new_arrays_with_gradients(c):
    f = c(lambda x: la.tanh(x * 2) * x)
    for i in range(50):
        x = la.arange(3.0) + i
        x.attach_grad()
        with record():
            y = f(x).sum()
        y.backward()
        yield x.grad.tolist()


@pytest.mark.parametrize("of", PROGRAMS, ids=lambda f: f.__name__)
def test_a_program_does_the_same_compiled(of):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = [*of(lambda f: f)]
        assert [*of(la.compile)] == want


def test_new_arrays_with_gradients_are_told_of():
    f = la.compile(lambda x: x * 2)
    with pytest.warns(la.CompileWarning, match="new arrays with attach_grad"):
        for _ in range(40):
            x = la.ones(3)
            x.attach_grad()
            with record():
                f(x)
    assert len(f.memory()) == 0


def test_many_models_of_which_each_is_trained_are_captured():
    """A capture that was worth it does not count."""
    f = la.compile(lambda x: x * 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(40):
            x = la.ones(3)
            x.attach_grad()
            for _ in range(12):
                with record():
                    f(x)
    assert len(f.memory()) == 1


def test_generators_of_ours_are_drawn_from_in_replays():
    f = la.compile(lambda x, rng: x + rng.normal(size=3))
    rng, host = la.random.default_rng(0), np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            assert f(la.zeros(3), rng).tolist() == host.normal(size=3).tolist()


def test_gradients_of_gradients_are_of_the_state_that_was():
    k, w = [2.0], la.ones(3)
    w.attach_grad()
    f = la.compile(lambda x: (la.sin(x * w) * k[0]).sum())
    with record():
        y = f(la.arange(3.0))
        k[0] = 5.0
        with pytest.raises(RuntimeError, match="not what it was"):
            la.autograd.grad(y, w, create_graph=True)
        k[0] = 2.0
        (g,) = la.autograd.grad(y, [w], create_graph=True)
    np.testing.assert_allclose(g.asnumpy(), 2 * np.arange(3) * np.cos(np.arange(3)))
