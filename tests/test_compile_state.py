"""la.compile of functions that keep arrays: each call equals the plain function's."""

import collections
import itertools

import numpy as np
import pytest

import lazyarray as la

from .stateful import Object, Programs, check

program = Programs()


# ---- arrays in attributes, globals, cells and containers -----------------------------------------


@program(captures=2)
def attribute(c):
    class Cell:
        def __init__(self):
            self.h = la.zeros(2)

        def step(self, x):
            self.h = self.h * 0.5 + x
            return self.h.sum()

    o = Cell()
    return c(o.step), o.__dict__


@program(captures=2)
def attribute_returned(c):
    o = Object(h=la.zeros(2))

    def step(x):
        o.h = o.h * 0.5 + x
        return o.h

    return c(step), lambda: o.h


@program(captures=2)
def attribute_made_at_the_first_call(c):
    class Cell:
        h = None

        def step(self, x):
            if self.h is None:
                self.h = la.zeros(2)
            self.h = self.h + x
            return self.h * 2

    o = Cell()
    return c(o.step), lambda: o.h


@program(captures=2)
def attribute_of_an_attribute(c):
    o = Object(inner=Object(cells=[Object(h=la.ones(2)), Object(h=la.zeros(2))]))

    def step(x):
        for cell in o.inner.cells:
            cell.h = cell.h * 0.5 + x
            x = cell.h
        return x.sum()

    return c(step), lambda: [cell.h for cell in o.inner.cells]


@program(captures=2)
def global_name(c):
    namespace = {"h": la.zeros(2), "la": la}
    exec("def step(x):\n global h\n h = h * .5 + x\n return h.sum()", namespace)
    return c(namespace["step"]), lambda: namespace["h"]


@program(captures=2)
def nonlocal_name(c):
    h = la.zeros(2)

    def step(x):
        nonlocal h
        h = h * 0.5 + x
        return h + 1

    return c(step), lambda: h


@program(captures=2)
def list_item(c):
    hs = [la.zeros(2), la.ones(2)]

    def step(x):
        hs[1] = hs[0] + hs[1] * x
        return hs[1] * 1

    return c(step), hs


@program(captures=2)
def dict_item(c):
    state = {"h": la.zeros(2), "w": la.ones(2)}

    def step(x):
        state["h"] = state["h"] + x * state["w"]
        return state["h"].sum()

    return c(step), state


@program(captures=4)
def deque_of_the_last_three(c):
    last = collections.deque([la.zeros(2)] * 3, maxlen=3)

    def step(x):
        last.append(x * 2)
        return sum(last)

    return c(step), last


@program(captures=2)
def tuple_of_two(c):
    o = Object(state=(la.zeros(2), la.ones(2)))

    def step(x):
        h, k = o.state
        o.state = (la.tanh(h + k), k * x)
        return o.state[0]

    return c(step), lambda: o.state


@program(captures=2)
def new_dict_each_time(c):
    o = Object(state={"h": la.zeros(2), "k": la.ones(2)})

    def step(x):
        o.state = {"h": o.state["h"] + x, "k": o.state["k"] * 2}
        return o.state["k"].sum()

    return c(step), lambda: o.state


@program(captures=2)
def slots(c):
    class Cell:
        __slots__ = ("h",)

    o = Cell()
    o.h = la.zeros(2)

    def step(x):
        o.h = o.h + x
        return o.h * 2

    return c(step), lambda: o.h


@program(captures=2)
def class_attribute(c):
    class Cell:
        h = la.zeros(2)

    def step(x):
        Cell.h = Cell.h + x
        return Cell.h * 2

    return c(step), lambda: Cell.h


@program(captures=2)
def attribute_by_name(c):
    o = Object(h0=la.zeros(2), h1=la.ones(2))

    def step(x):
        for i in range(2):
            setattr(o, f"h{i}", getattr(o, f"h{i}") + x)
        return o.h0 * o.h1

    return c(step), o.__dict__


@program(captures=2)
def property_with_a_setter(c):
    class Cell:
        _h = la.zeros(2)

        @property
        def h(self):
            return self._h * 1

        @h.setter
        def h(self, value):
            self._h = value + 1

    o = Cell()

    def step(x):
        o.h = o.h + x
        return o.h.sum()

    return c(step), lambda: o.h


@program(captures=2)
def two_arrays_that_change_places(c):
    o = Object(a=la.zeros(2), b=la.ones(2))

    def step(x):
        o.a[...] = o.b * 0.5 + x
        o.a, o.b = o.b, o.a
        return o.a + o.b

    return c(step), o.__dict__


@program(captures=2)
def one_array_in_two_places(c):
    o = Object(h=la.zeros(2), last=la.zeros(2))

    def step(x):
        o.last = o.h
        o.h = o.h + x
        return o.h - o.last

    return c(step), o.__dict__


@program()
def the_same_array_twice(c):
    h = la.zeros(2)
    o = Object(a=h, b=h)

    def step(x):
        o.a = o.b = o.a + o.b * x
        o.b += 1
        return o.a * 1

    return c(step), o.__dict__


@program(captures=2)
def an_argument_that_is_kept(c):
    o = Object(last=la.zeros(2))

    def step(x):
        y = x - o.last
        o.last = x
        return y

    return c(step), lambda: o.last


@program(captures=2)
def a_view_that_is_kept(c):
    o = Object(h=la.zeros(2))

    def step(x):
        y = la.stack([o.h, x])
        o.h = y[1] + y[0]
        return y.sum(axis=0)[::-1]

    return c(step), lambda: o.h


@program(captures=1)
def in_place(c):
    o = Object(h=la.zeros(2))

    def step(x):
        o.h *= 0.5
        o.h += x
        return o.h * 1

    return c(step), lambda: o.h


@program(captures=2)
def in_place_and_then_another(c):
    o = Object(h=la.zeros(2))

    def step(x):
        o.h[...] = o.h + x
        o.h = o.h * 2
        o.h += 1
        return o.h.sum()

    return c(step), lambda: o.h


# ---- arrays that others keep ---------------------------------------------------------------------


@program(captures=1)
def a_log_of_losses(c):
    losses = []

    def step(x):
        losses.append(x.sum())
        return x * 2

    return c(step), losses


@program(captures=1)
def a_log_in_an_object(c):
    o = Object(history=[], k=2)

    def step(x):
        y = x * o.k
        o.history.append((y, "step"))
        return y + 1

    return c(step), o.history


@program(warns="captured 6 times, as losses changes")
def a_list_that_grows_and_is_read(c):
    losses = []

    def step(x):
        losses.append(x.sum())
        return sum(losses) / len(losses)

    return c(step), losses


@program(warns="new object of generator")
def a_generator_as_the_result(c):
    def step(x):
        yield x * 2
        yield x * 3

    f = c(step)
    return lambda x: [*f(x)], ()


@program(warns="new object of function")
def a_closure_as_the_result(c):
    def step(x):
        y = x * 2
        return lambda: y + x

    f = c(step)
    return lambda x: f(x)(), ()


@program(warns="changes a list or dict that it was given")
def a_list_that_is_given_grows(c):
    def step(xs):
        xs.append(xs[0] * 2)
        return xs[-1] + 1

    f = c(step)

    def call(x):
        xs = [x]
        return f(xs), xs

    return call, ()


# ---- what changes outside between calls ----------------------------------------------------------


@program(captures=2)
def attribute_bound_anew_outside(c):
    o = Object(w=la.ones(2))
    f = c(lambda x: x * o.w)

    def call(x):
        y = f(x)
        o.w = o.w + 1
        return y

    return call, ()


@program(captures=2)
def a_switch(c):
    o = Object(training=True)
    f = c(lambda x: x * 2 if o.training else x)

    def call(x):
        o.training = not o.training
        return f(x)

    return call, ()


@program()
def closures_over_a_loop_variable(c):
    fs = []
    for i in range(3):
        fs.append(c(lambda x: x * i + len(fs)))  # noqa: B023

    def call(x):
        fs.append(None) if len(fs) < 6 else None
        return [f(x) for f in fs[:3]]

    return call, ()


@program()
def a_list_of_weights_that_changes(c):
    ws = [la.ones(2), la.ones(2) * 2]
    f = c(lambda x: sum(w * x for w in ws))

    def call(x):
        y = f(x)
        ws[len(y) % 2] = ws[0] + ws[1]
        if len(ws) < 4:
            ws.append(la.ones(2) * 3)
        return y

    return call, ()


@program()
def a_helper_that_is_replaced(c):
    helpers = {"f": lambda x: x + 1}
    f = c(lambda x: helpers["f"](x))

    def call(x):
        y = f(x)
        if len(y) == 2 and helpers["f"].__name__ == "<lambda>":

            def other(x):
                return x * 10

            helpers["f"] = other
        return y

    return call, ()


@program(warns="as table changes (the last time from some values to others)")
def a_table_of_numpy(c):
    table = np.ones(2)
    f = c(lambda x: x * la.array(table))

    def call(x):
        y = f(x)
        table[1] += 1
        return y

    return call, ()


@program()
def defaults_and_function_attributes(c):
    def step(x, k=[1.0]):  # noqa: B006
        step.h = getattr(step, "h", 0) + x
        return step.h * k[0]

    f = c(step)

    def call(x):
        step.__defaults__[0][0] += 1
        return f(x)

    return call, ()


@program()
def errstate_and_dtype(c):
    f = c(lambda x: x / 0.0 + la.zeros(2, "float32"))
    kinds = itertools.cycle(["float32", "float64", "int32"])

    def call(x):
        with np.errstate(all="ignore"):
            return f(x.astype(next(kinds)))

    return call, ()


@pytest.mark.parametrize("name", program)
def test_programs(name):
    check(program[name])
