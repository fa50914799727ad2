"""Random expression trees, fused and not, under random figures, equal NumPy bit for bit."""

import os

import hypothesis.strategies as st
import numpy as np
from hypothesis import HealthCheck, given, note, settings

import lazyarray as la
from lazyarray import engine

from .fusing import figures, same

EXAMPLES = int(os.environ.get("LAZYARRAY_TEST_EXAMPLES", "150"))

DTYPES = ["?", "i1", "i4", "u8", "f2", "f4", "f8", "F"]
FAMILIES = [  # shapes that broadcast together
    [(6, 10), (10,), (6, 1), ()],
    [(2, 3, 8), (3, 1), (8,), (2, 1, 8), (2, 3, 1)],
    [(40,), (1,), ()],
    [(5, 33), (5, 1), (33,)],
    [(300,), ()],
    [(1, 7), (7, 1), (7, 7)],
    [(2, 1, 3, 2, 5), (2, 4, 1, 1, 5), (5,)],
]
UNARY = ["negative", "square", "absolute", "sign", "isfinite", "sqrt", "floor", "logical_not"]
BINARY = ["add", "subtract", "multiply", "maximum", "minimum", "less", "equal", "divide"]
REDUCE = ["sum", "prod", "max", "min", "any", "all", "mean"]
SCALARS = [0, 1, 2, -1, 0.5, True, -0.0]
FIGURES = {
    "inline_ns": [0, 0, 4000],
    "cheap_ns": [0, 100, 20000],
    "group_ns": [0, 100000],
    "fuse_ns": [0, 0, 1000],
    "flush_ns": [1, 300, 1e15],
    "age_ns": [0, 1e15],
    "tile_bytes": [8, 200, 1000, 65536],
    "least": [1, 4, 9, 256, 1024],
    "most": [1, 16, 8192],
    "row": [1, 4, 16, 40, 8192],
    "panels": [2, 5, 8],
    "panel": [1, 3, 256],
    "widest": [1, 8, 2048],
    "split_ns": [0, 0, 100000],
    "task_ns": [0, 0, 25000],
}


def evaluate(m, env, e):
    x = evaluated(m, env, e)
    # A 0-d result is an array, here; scalars never change, and are assigned by rules of their own.
    return m.asarray(x) if e[0] != "scalar" else x


def evaluated(m, env, e):
    kind, *rest = e
    if kind == "scalar":
        return rest[0]
    if kind == "var":
        x = env[rest[0]]
        for step in rest[1]:
            x = x.T if step == "T" else x.reshape(step[1]) if step[0] == "reshape" else x[step[1]]
        return x
    if kind == "cast":
        return evaluate(m, env, rest[1]).astype(rest[0])
    if kind == "where":
        return m.where(*[evaluate(m, env, a) for a in rest])
    if kind == "roll":
        shift, axis, arg = rest
        return m.roll(evaluate(m, env, arg), shift, axis)
    if kind == "pick":
        x, i = [evaluate(m, env, a) for a in rest]
        return m.ravel(x)[m.remainder(i.astype("i8"), x.size)] if x.size else x
    if kind == "reduce":
        name, axis, keep, arg = rest
        x = evaluate(m, env, arg)
        return getattr(m, name)(x, axis=axis, keepdims=keep)
    name, *args = rest
    return getattr(m, name)(*[evaluate(m, env, a) for a in args])


class Program:
    """Statements over named arrays, drawn while NumPy runs them; lazyarray replays them."""

    def __init__(self, draw):
        self.draw = draw
        self.statements = []
        rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
        family = self.pick(FAMILIES)
        self.first = {}
        for i in range(draw(st.integers(2, 4))):
            shape = self.pick(family)
            dtype = np.dtype(self.pick(DTYPES))
            values = rng.integers(-3, 4, shape) if dtype.kind != "u" else rng.integers(0, 4, shape)
            if dtype.kind in "fc":
                values = values + rng.random(shape).round(2)
            self.first[i] = np.asarray(values).astype(dtype, order=self.pick("CF"))
        self.env = {i: a.copy("K") for i, a in self.first.items()}
        self.next = len(self.env)
        for _ in range(draw(st.integers(1, 10))):
            self.statement()

    def pick(self, choices):
        return self.draw(st.sampled_from(choices))

    def key(self, a):
        keys = []
        for n in a.shape:
            kind = self.draw(st.integers(0, 6))
            if kind == 0:
                keys.append(slice(None, None, -1))
            elif kind == 1:
                keys.append(slice(self.draw(st.integers(-3, 3)), self.draw(st.integers(-3, 5))))
            elif kind == 2:
                keys.append(slice(None, None, 2))
            elif kind == 3 and n > 1:
                keys.append(slice(1, None) if self.draw(st.booleans()) else slice(None, -1))
            elif kind == 4 and n:
                keys.append(self.draw(st.integers(-n, n - 1)))
            else:
                keys.append(slice(None))
        return (*keys, ...)

    def leaf(self):
        i = self.pick(sorted(self.env))
        steps, a = [], self.env[i]
        if self.draw(st.integers(0, 2)) == 0:
            step = self.pick(["T", "key", "reshape"])
            if step == "key":
                step = ("key", self.key(a))
            elif step == "reshape":
                step = ("reshape", self.pick([(-1,), (*a.shape, 1), (1, *a.shape)]))
            steps.append(step)
        return ("var", i, steps)

    def expr(self, depth):
        kind = self.draw(st.integers(0, 11)) if depth else 0
        if kind == 0:
            return self.leaf()
        if kind == 10:
            places = self.pick(
                [(1, 0), (-1, 0), (1, -1), (-2, -1), (0, 0), (7, None), ((1, -1), (0, 1))]
            )
            return ("roll", *places, self.expr(depth - 1))
        if kind == 11:
            return ("pick", self.expr(depth - 1), self.expr(depth - 1))
        if kind <= 2:
            return ("call", self.pick(UNARY), self.expr(depth - 1))
        if kind <= 6:
            args = [self.expr(depth - 1), self.expr(depth - 1)]
            if self.draw(st.integers(0, 3)) == 0:
                args[self.draw(st.integers(0, 1))] = ("scalar", self.pick(SCALARS))
            return ("call", self.pick(BINARY), *args)
        if kind == 7:
            args = [self.expr(depth - 1) for _ in range(3)]
            if self.draw(st.integers(0, 2)) == 0:
                # No -1: where() refuses what doesn't fit, NumPy wraps it.
                args[self.draw(st.integers(1, 2))] = ("scalar", self.pick([0, 1, 0.5, True]))
            return ("where", *args)
        if kind == 8:
            return ("cast", self.pick(DTYPES), self.expr(depth - 1))
        axis = self.pick([None, 0, -1, 1, (0, 1), (1, 2)])
        return ("reduce", self.pick(REDUCE), axis, self.draw(st.booleans()), self.expr(depth - 1))

    def statement(self):
        kind = self.draw(st.integers(0, 9))
        if kind == 9 and len(self.env) > 2:
            run = ("del", self.pick(sorted(self.env)))
        elif kind <= 3:
            run = ("let", self.next, self.expr(4))
            self.next += 1
        elif kind == 4:
            run = ("let", self.next, self.leaf())
            self.next += 1
        elif kind <= 6:
            i = self.pick(sorted(self.env))
            run = ("into", self.pick(BINARY), i, self.expr(2))
        else:
            i = self.pick(sorted(self.env))
            key = self.key(self.env[i])
            # Often something of the same shape: another piece of the array, moved.
            e = self.expr(2) if self.draw(st.booleans()) else ("var", i, [("key", key)])
            if self.draw(st.booleans()):
                e = ("call", self.pick(BINARY), e, ("scalar", self.pick(SCALARS)))
            run = ("set", i, key, e)
        with np.errstate(all="ignore"):
            try:
                self.do(np, self.env, run)
                error = None
            except Exception as exc:
                error = type(exc)
        self.statements.append((run, error))

    @staticmethod
    def do(m, env, run):
        kind, *rest = run
        if kind == "del":
            del env[rest[0]]
        elif kind == "let":
            env[rest[0]] = evaluate(m, env, rest[1])
        elif kind == "into":
            name, i, e = rest
            value = evaluate(m, env, e)
            getattr(m, name)(env[i], value, out=env[i])
        else:
            i, key, e = rest
            env[i][key] = evaluate(m, env, e)

    def replay(self):
        """The same on lazyarray: its arrays at the end."""
        env = {i: la.array(a) for i, a in self.first.items()}
        with np.errstate(all="ignore"):
            for run, error in self.statements:
                try:
                    self.do(la, env, run)
                except Exception as exc:
                    assert error is not None and isinstance(exc, error), (run, error)
                else:
                    assert error is None, (run, error)
        return env


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_trees(data):
    program = Program(data.draw)
    changes = {name: data.draw(st.sampled_from(values)) for name, values in FIGURES.items()}
    bulk = data.draw(st.sampled_from([1, 7, 100000]))
    order = data.draw(st.permutations(sorted(program.env)))
    note(f"{program.first}, {program.statements}, {changes}, {bulk}, {order}")
    for fuses in (1, 0):
        with figures(fuses=fuses, **changes), engine.bulk(bulk):
            env = program.replay()
            assert sorted(env) == sorted(program.env)
            for i in order:
                same(env[i], program.env[i])
