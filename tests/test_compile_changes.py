"""la.compile of functions whose numbers, draws and gradients change."""

import enum
import itertools
import math
import random

import numpy as np
import pytest

import lazyarray as la
from lazyarray import autograd

from .stateful import Object, Programs, check

program = Programs()


# ---- numbers -------------------------------------------------------------------------------------


@program(captures=2)
def a_counter_in_an_attribute(c):
    o = Object(t=0)

    def step(x):
        o.t += 1
        return x * o.t + 1 / o.t

    return c(step), o.__dict__


@program(captures=2)
def a_rate_that_decays(c):
    o = Object(lr=0.5, w=la.ones(2, "float32"))

    def step(x):
        o.w -= o.lr * x.astype("float32")
        o.lr *= 0.9
        return o.w * 1

    return c(step), o.__dict__


@program(captures=2)
def corrections_as_adam_makes_them(c):
    o = Object(t=0, m=la.zeros(2), beta=0.9)

    def step(x):
        o.t += 1
        o.m = o.beta * o.m + (1 - o.beta) * x
        return o.m / (1 - o.beta**o.t)

    return c(step), o.__dict__


@program(warns="captured 6 times, as t changes")
def a_number_that_python_looks_at(c):
    t = 0

    def step(x):
        nonlocal t
        t += 1
        return x * math.sqrt(t) if t % 2 else x

    return c(step), lambda: t


@program(captures=2)
def a_number_that_is_returned(c):
    t = 0

    def step(x):
        nonlocal t
        t += 2
        return x * 2, t, t / 2

    return c(step), lambda: t


def rates(i):
    return (la.array([1.0 + i, 2.0], dtype="float32"), 0.5 / (i + 1))


@program(captures=1, kinds=3, arguments=rates)
def a_rate_as_an_argument(c):
    return c(lambda x, lr: x * lr + (1 - lr) * 2 - lr / 3), ()


@program(captures=1, kinds=3, arguments=lambda i: (la.array([100, 2], dtype="int8"), i))
def a_small_integer_as_an_argument(c):
    return c(lambda x, n: (x - n, la.maximum(x, n), x > n, x / (n + 1), n - x)), ()


@program(arguments=lambda i: (la.arange(8.0), i + 1), warns="captured anew for each value of n")
def a_length_as_an_argument(c):
    return c(lambda x, n: x[:n].sum() + x.reshape(2, -1)[0, n % 4]), ()


@program(arguments=lambda i: (la.arange(8.0) - 3, [0.5, 2, 2.0, 3, -1, 0.5, 2.0][i]))
def an_exponent_as_an_argument(c):
    return c(lambda x, p: (x * x + 1) ** p), ()


@program(arguments=lambda i: (la.arange(4.0), 0.1 * i), warns="captured anew for each value of k")
def numbers_in_functions_that_want_arrays(c):
    def step(x, k):
        return (
            la.where(x > k, x, k),
            la.clip(x, k, 2),
            la.full(3, k),
            x + np.float32(2) * k,
            la.array([k, 1.0]),
        )

    return c(step), ()


@program(arguments=lambda i: (la.arange(4.0), i + 0.5), warns="captured anew for each value of k")
def a_number_whose_type_is_asked(c):
    return c(lambda x, k: x * k if type(k) is float else x - k), ()


@program(captures=1, kinds=3, arguments=lambda i: (la.arange(4.0), i + 0.5))
def a_number_that_is_an_instance(c):
    return c(lambda x, k: x * k if isinstance(k, float) else x - k), ()


@program(arguments=lambda i: (la.arange(4.0), i * 10))
def numbers_that_change_type_on_the_way(c):
    return c(lambda x, n: x.astype("float32") * (2 ** (5 - n))), ()


@program(arguments=lambda i: (la.arange(3, dtype="int8"), 50 * i, {"scale": [1.5 * i, "x"]}))
def numbers_that_get_out_of_range(c):
    def step(x, n, options):
        return x.astype("int16") + n * 100 + options["scale"][0]

    return c(step), ()


# ---- randomness, time and iterators --------------------------------------------------------------


@program(captures=1)
def draws_of_lazyarray(c):
    la.random.seed(5)
    return c(lambda x: x + la.random.uniform(size=2)), ()


@program(warns="random numbers that aren't lazyarray's")
def draws_of_numpy(c):
    np.random.seed(5)
    return c(lambda x: x + np.random.uniform(size=2)), ()


@program(warns="random numbers that aren't lazyarray's")
def draws_of_a_generator(c):
    rng = np.random.default_rng(5)
    return c(lambda x: x * rng.integers(100)), ()


@program(warns="random numbers that aren't lazyarray's")
def draws_of_python(c):
    random.seed(5)
    return c(lambda x: x * random.random()), ()


@program(warns="is an iterator")
def an_iterator(c):
    numbers = itertools.count(3)
    return c(lambda x: x * next(numbers)), ()


# ---- one inside another --------------------------------------------------------------------------


@program(captures=2)
def compiled_inside_compiled(c):
    o = Object(h=la.zeros(2))

    @c
    def inner(x):
        o.h = o.h + x
        return o.h

    return c(lambda x: inner(x) * inner(x * 2)), lambda: o.h


@program()
def recursion(c):
    o = Object(h=la.zeros(2))

    @c
    def f(x, depth):
        o.h = o.h + depth
        return f(x * 2, depth - 1) if depth else x + o.h

    return lambda x: f(x, 3), lambda: o.h


@program(captures=2)
def a_method_of_an_object_that_is_given(c):
    class Cell:
        def __init__(self):
            self.h = la.zeros(2)

        def __call__(self, x):
            self.h = self.h + x
            return self.h

    o = Cell()
    f = c(lambda cell, x: cell(x) * 2)
    return lambda x: f(o, x), lambda: o.h


@program(captures=2)
def methods_that_are_called_by_python(c):
    class Layer:
        def __init__(self):
            self.count = la.zeros(())

        def __getitem__(self, x):
            self.count = self.count + 1
            return x * self.count

        def __enter__(self):
            self.count = self.count * 2
            return self

        def __exit__(self, *exc):
            self.count = self.count + 0.5

    o = Layer()

    def step(x):
        with o as layer:
            return layer[x]

    return c(step), lambda: o.count


# ---- gradients -----------------------------------------------------------------------------------


@program(captures=3)
def a_recurrent_net_with_its_state(c):
    w = la.ones((2, 2)) * 0.3
    w.attach_grad()
    o = Object(h=la.zeros(2))

    def step(x):
        o.h = la.tanh(o.h @ w + x)
        return o.h.sum()

    f = c(step)

    def call(x):
        with autograd.record():
            y = f(x) + f(x * 2)
        y.backward()
        o.h = o.h.detach()
        return y, w.grad.copy()

    return call, lambda: o.h


@program(captures=3)
def weights_bound_anew_in_the_step(c):
    o = Object(w=la.ones(2))
    o.w.attach_grad()

    def step(x):
        with autograd.record():
            loss = ((o.w * x) ** 2).sum()
        loss.backward()
        o.v = o.w - 0.1 * o.w.grad
        o.w[...] = o.v
        return loss

    return c(step), lambda: o.w


@pytest.mark.parametrize("name", program)
def test_programs(name):
    check(program[name])


def test_classes_of_other_metaclasses_are_looked_into():
    """The second call was a TypeError: "Expected type, got EnumType"."""

    class Kind(enum.Enum):
        TWO = 2

    class Meta(type):
        pass

    class Base(metaclass=Meta):
        factor = 3

    def f(x):
        return x * Kind.TWO.value * Base.factor

    compiled = la.compile(f)
    for n in range(4):
        assert compiled(la.ones(3) * n).tolist() == [6.0 * n] * 3
    Base.factor = 5
    assert compiled(la.ones(3)).tolist() == [10.0] * 3
