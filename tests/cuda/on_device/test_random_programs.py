"""Random programs on a GPU equal NumPy: views, writes through them, reductions and their uses.

Numbers are small multiples of a quarter, so results are exact in whatever order they are added.
"""

import random

import numpy as np
import pytest

import lazyarray as la
from lazyarray import engine

from ...lazy.fusing import figures

SHAPES = [(6, 6), (3, 4, 5), (1, 300), (2100, 3), (2,) * 9, (9000,)]
FIGURES = [  # of the policies: all is fused, little is, and long rows are not
    {"fuse_ns": 0, "row": 100_000, "cheap_ns": 1e6, "group_ns": 1e6},
    {"fuse_ns": 1000, "row": 8192, "cheap_ns": 50_000, "group_ns": 1000},
    {"fuse_ns": 0, "row": 4, "cheap_ns": 0, "group_ns": 1000},
]
BINARY = ["add", "subtract", "multiply", "maximum", "less"]
LARGEST = 4096


class Program:
    """Steps found by running them on NumPy, each a function of the values so far and a library."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        numbers = np.random.default_rng(seed)
        self.shape = self.random.choice(SHAPES)
        shapes = [self.shape, self.shape, self.shape[-1:]]
        self.inputs = [numbers.integers(-4, 5, s) / 4 for s in shapes]
        self.inputs[1] = (4 * self.inputs[1]).astype("l")
        self.values = [a.copy() for a in self.inputs]
        self.steps = []
        for _ in range(10):
            getattr(self, self.random.choice(self.STEPS))()

    def pick(self):
        return self.random.choice([i for i, a in enumerate(self.values) if a is not None])

    def do(self, step, writes=None):
        """Takes a step in if NumPy can do it, numbers stay small, and it writes no broadcast."""
        if writes is not None:
            target = self.values[writes]
            if 0 in target.strides or not target.flags.writeable:
                return
        trial = [None if a is None else a.copy() for a in self.values]
        try:
            made = step(trial, np)
        except (TypeError, ValueError):
            return
        new = made if isinstance(made, tuple) else (trial[writes] if made is None else made,)
        if any(np.size(a) > 20_000 or (np.abs(a) > LARGEST).any() for a in new):
            return
        self.steps.append(step)
        self.extend(self.values, step(self.values, np))

    @staticmethod
    def extend(values, made):
        if made is not None:
            values.extend(made if isinstance(made, tuple) else (made,))

    # -- the steps

    def chain(self):
        i, j, name, which = self.pick(), self.pick(), self.random.choice(BINARY), self.pick() % 3

        def step(v, xp):
            t = getattr(xp, name)(v[i], v[j])
            if which == 0:
                return t
            t = t + v[i]
            t *= 2
            return t - v[j] if which == 1 else xp.where(t > 0, v[i], t)

        self.do(step)

    def pairs(self):
        i = self.pick()
        self.do(lambda v, xp: tuple(xp.divmod(v[i], 3)))

    def view(self):
        i = self.pick()
        key = self.random.choice([
            np.s_[::-1], np.s_[..., ::-2], np.s_[1:], np.s_[..., None, 1:], np.s_[:2], np.s_[..., 0]
        ])  # fmt: skip
        self.do(lambda v, xp: v[i][key] if v[i].ndim else v[i].reshape(1, 1))

    def turn(self):
        i = self.pick()
        axes = self.random.sample(range(self.values[i].ndim), self.values[i].ndim)
        self.do(lambda v, xp: v[i].transpose(axes))

    def update(self):
        i, j, name = self.pick(), self.pick(), self.random.choice(BINARY[:3])
        self.do(lambda v, xp: getattr(xp, name)(v[i], v[j], out=v[i]) is None or None, writes=i)

    def shift(self):
        i, add = self.pick(), self.random.random() < 0.5
        to, source = self.random.choice([
            (np.s_[1:], np.s_[:-1]), (np.s_[:-1], np.s_[1:]), (np.s_[:], np.s_[::-1])
        ])  # fmt: skip

        def step(v, xp):
            v[i][to] = v[i][source] + v[i][to] if add else v[i][source]

        self.do(step, writes=i)

    def flip(self):
        """The sign of each element, by its bits."""
        i = self.pick()

        def step(v, xp):
            bits = v[i].view("l")
            bits ^= -(1 << 63)

        if self.values[i].dtype == float:
            self.do(step, writes=i)

    def axes(self, i):
        n = self.values[i].ndim
        return self.random.choice([None, -1, 0, tuple(range(0, n, 2))]) if n else None

    def reduce(self):
        i, name = self.pick(), self.random.choice(["sum", "max", "min", "any"])
        axis, keep = self.axes(i), self.random.random() < 0.5
        self.do(lambda v, xp: getattr(xp, name)(v[i], axis=axis, keepdims=keep))

    def centre(self):
        """Reductions used by ops of the same segment, and reduced again."""
        i = self.pick()
        axis = self.axes(i)

        def step(v, xp):
            y = v[i] - v[i].max(axis=axis, keepdims=True)
            total = y.sum(axis=axis, keepdims=True)
            return 2 * y - total, total + y.min(axis=axis, keepdims=True)

        self.do(step)

    def forget(self):
        if sum(a is not None for a in self.values) > 3:
            self.do(self.dropping(self.pick()))

    @staticmethod
    def dropping(i):
        def step(v, xp):
            v[i] = None
            return ()

        return step

    STEPS = (
        "chain", "chain", "pairs", "view", "view", "turn", "update", "shift", "flip", "reduce",
        "reduce", "centre", "centre", "forget",
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(24))
def test_program(gpu, seed):
    program = Program(seed)
    for changes, bulk in zip(FIGURES, [1000, 7, 1000], strict=True):
        with figures(**changes):
            with engine.bulk(bulk):
                values = [la.array(a) for a in program.inputs]
                for step in program.steps:
                    program.extend(values, step(values, la))
            for got, want in zip(values, program.values, strict=True):
                if want is not None:
                    assert got.dtype == want.dtype
                    np.testing.assert_array_equal(got.asnumpy(), want)
