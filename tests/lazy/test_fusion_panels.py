"""Sums over leading axes, shared out in panels of columns: lengths around every figure."""

import itertools

import numpy as np
import pytest

import lazyarray as la
from lazyarray.lazy._lazy import _policy

from .fusing import SMALL, both, figures, same

PANEL = int(_policy()["panel"])
WIDTHS = [2 * PANEL - 1, 2 * PANEL, 2 * PANEL + 1, 600, 3 * PANEL, 7 * PANEL, 8 * PANEL]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["sum", "mean", "max", "any"])
def test_pairs(name, width):
    """All pairs of a row's numbers: the kept axes are two, and neither operand steps evenly."""
    x = np.random.default_rng(0).random((2, width))
    a = la.array(x)
    for _ in range(3):
        got = getattr((a[:, :, None] - a[:, None, :]) ** 2, name)(axis=0)
        same(got, getattr((x[:, :, None] - x[:, None, :]) ** 2, name)(axis=0))


SHAPES = [
    (3, 8, 600), (5, 600, 8), (2, 512, 513), (2, 3, 4, 512), (4, 2, 3, 1024), (3, 7, 1001),
    (2, 2, 2, 2, 2048), (9, 16, 16, 16), (2, 6, 512, 5),
]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("panel", [1, 16, PANEL])
def test_kept_axes_of_several_lengths(shape, panel):
    """Broadcast, strided and reversed operands, over each run of leading axes."""
    rng = np.random.default_rng(0)
    x, y = rng.random(shape), rng.random((*shape[:-2], 1, shape[-1]))
    z = rng.random((*shape[:-1], shape[-1] * 2))
    a, b, c = la.array(x), la.array(y), la.array(z)
    with figures(split_ns=0, task_ns=0, inline_ns=0, panel=panel):
        for lead, name in itertools.product(range(1, len(shape)), ["sum", "max"]):
            axis = tuple(range(lead))
            got = getattr((a * b - c[..., ::-2]) * 2, name)(axis=axis)
            same(got, getattr((x * y - z[..., ::-2]) * 2, name)(axis=axis))


@pytest.mark.parametrize("order", [[(0, 1), 0], [0, (0, 1)], [0, (0, 1), (0, 1, 2)]])
def test_sums_that_keep_other_axes(order):
    """Panels of what the one keeps would cut what the other adds up."""

    def program(m, x):
        y = x * 2
        return [y.sum(axis=axis) for axis in order]

    with figures(**SMALL | {"panel": 1}):
        both(program, np.random.default_rng(0).random((4, 6, 100)))


@pytest.mark.parametrize("turn", [False, True])
def test_a_copy_that_steps_otherwise(turn):
    """What is only copied is written there at once, in each panel at its place."""

    def program(m, x, b):
        y = x * 2
        sums = y.sum(axis=0)
        target = b.T if turn else b[:, ::2]
        target[...] = y + 1
        return [sums]

    b = np.zeros((96, 4) if turn else (4, 192))
    with figures(**SMALL | {"panel": 1}):
        both(program, np.random.default_rng(0).random((4, 96)), b)
