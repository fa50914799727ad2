"""la.compile of functions that keep arrays: each call equals the plain function's."""

import array
import collections
import contextvars
import copy
import importlib
import itertools
import operator
import pickle
import sys
import threading
import types

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


# ---- the library's containers --------------------------------------------------------------------


class Odd(dict):
    """A dict whose own methods are no use."""

    def clear(self):
        raise AssertionError

    items = update = __iter__ = clear


def counted(state, key):
    def step(x):
        state[key] = state[key] + 1
        return x * state[key]

    return step


KEPT = {
    "Counter": lambda: collections.Counter(n=0),
    "OrderedDict": lambda: collections.OrderedDict(m=1, n=0),
    "defaultdict": lambda: collections.defaultdict(int),
    "UserDict": lambda: collections.UserDict(n=0),
    "ChainMap": lambda: collections.ChainMap({"n": 0}, {"n": 5}),
    "a dict of its own": lambda: Odd(n=0),
    "UserList": lambda: collections.UserList([0]),
    "deque": lambda: collections.deque([0, 1], maxlen=2),
}
SEEN_NOT = {
    "array": lambda: array.array("d", [0]),
    "bytearray": lambda: bytearray(1),
    "memoryview": lambda: memoryview(bytearray(1)),
}


@pytest.mark.parametrize("kind", [*KEPT, *SEEN_NOT])
def test_containers_that_are_not_pythons_own(kind):
    def run(compile):
        state = (KEPT | SEEN_NOT)[kind]()
        key = "n" if isinstance(state, (dict, collections.abc.Mapping)) else 0
        f = compile(counted(state, key))
        return [f(la.ones(1)).item() for _ in range(4)], state[key], len(state)

    if kind in KEPT:
        assert run(la.compile) == run(lambda f: f)
    else:
        with pytest.warns(la.CompileWarning, match=f"has the type {kind}: what changes in it"):
            assert run(la.compile) == run(lambda f: f)


def test_a_counter_that_is_only_read():
    counts = collections.Counter(n=2)
    f = la.compile(lambda x: x * counts["n"])
    assert f(la.ones(1)).item() == 2
    counts["n"] = 7
    assert f(la.ones(1)).item() == 7 and counts == {"n": 7}


def test_modules_without_a_file(tmp_path, monkeypatch):
    (tmp_path / "nowhere").mkdir()
    (tmp_path / "nowhere" / "config.py").write_text("scale = 2.0")
    monkeypatch.syspath_prepend(tmp_path)
    package = importlib.import_module("nowhere.config") and sys.modules["nowhere"]
    made = types.ModuleType("made")
    made.scale = 5.0
    f = la.compile(lambda x: x * package.config.scale * made.scale)
    assert f(la.ones(1)).item() == 10
    package.config.scale = 3.0
    assert f(la.ones(1)).item() == 15
    made.scale = 1.0
    assert f(la.ones(1)).item() == 3


def test_what_is_looked_up_in_other_ways():
    of_thread, variable = threading.local(), contextvars.ContextVar("variable", default=0)
    of_thread.n = 1
    f = la.compile(lambda x: x * of_thread.n)
    with pytest.warns(la.CompileWarning, match="has the type _local"):
        assert f(la.ones(1)).item() == 1
    of_thread.n = 2
    assert f(la.ones(1)).item() == 2

    def step(x):
        variable.set(variable.get() + 1)
        return x * variable.get()

    g = la.compile(step)
    assert [g(la.ones(1)).item() for _ in range(3)] == [1, 2, 3] == [1, 2, variable.get()]
    o = Object(w=1)
    weight = operator.attrgetter("w")
    h = la.compile(lambda x: x * weight(o))
    assert h(la.ones(1)).item() == 1
    o.w = 4
    assert h(la.ones(1)).item() == 4


# ---- methods -------------------------------------------------------------------------------------


class Base:
    k = 2.0

    def __init__(self):
        self.w = la.ones(2)
        self.own = la.compile(self.plain)

    @la.compile
    def f(self, x):
        return x * self.k

    @la.compile
    def go(self, x):
        return x * self.w

    def plain(self, x):
        return x + self.w

    @classmethod
    @la.compile
    def of_class(cls, x):
        return x * cls.k


class Derived(Base):
    k = 5.0

    @la.compile
    def f(self, x):
        return super().f(x) + 100


@la.compile
def at_the_top(x):
    return x * 2


def test_a_compiled_method_calls_that_of_its_base():
    d = Derived()
    for _ in range(3):
        assert d.f(la.ones(1)).item() == 105
    assert super(Derived, d).f(la.ones(1)).item() == 5
    d.f = abs  # as of any object
    assert d.f(-2) == 2


def test_compiled_methods_of_classes():
    assert Base.of_class(la.ones(1)).item() == Base().of_class(la.ones(1)).item() == 2
    assert Derived.of_class(la.ones(1)).item() == 5
    try:
        Derived.k = 6.0
        assert Derived.of_class(la.ones(1)).item() == 6
    finally:
        Derived.k = 5.0


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))])
def test_copies_of_objects_whose_methods_are_compiled(copied):
    o = Base()
    one = la.ones(2)
    o.go(one), o.own(one)
    other = copied(o)
    other.w = other.w + 4
    assert [x.tolist() for x in (o.go(one), o.own(one))] == [[1, 1], [2, 2]]
    assert [x.tolist() for x in (other.go(one), other.own(one))] == [[5, 5], [6, 6]]
    assert copied(o.go)(one).tolist() == [1, 1]
    assert copied(at_the_top) is at_the_top


@pytest.mark.parametrize("name", program)
def test_programs(name):
    check(program[name])
