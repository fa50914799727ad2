"""Random programs against differences: what ``fuzzing.py`` makes, and that it notices errors."""

import numpy as np
import pytest

import lazyarray as la
from lazyarray.lazy._lazy import note_call, paused

from . import fuzzing


@pytest.mark.parametrize("block", range(4))
def test_random_programs(block):
    for seed in range(block * 60, (block + 1) * 60):
        found = fuzzing.gradient_case(np.random.default_rng(seed))
        assert found is None, f"seed {seed}:\n{found}"


def noted(name, forward, rule):
    def function(x):
        with paused():
            y = forward(x)
        note_call(name, lambda g, saved: [rule(g[0], *saved)], [x], [y], [x])
        return y

    return function


@pytest.mark.parametrize(
    ("what", "function"),
    [
        ("slope", noted("wrong", lambda x: la.sin(x), lambda g, x: g * la.cos(x) * 1.001)),
        ("slope", lambda x: la.sin(x.detach()) + x),
        ("second", noted("flat", lambda x: x * x * x, lambda g, x: g * (3 * x * x).detach())),
        ("recorded", lambda x: x * (1.0 + la.autograd.is_recording() * 1e-6)),
        ("compiled", lambda x: x * (1.0 + 1e-6 * la.lazy._lazy.is_capturing())),
        ("gradients", lambda x: la.sqrt(x * 0)),
        ("a gradient", noted("shape", lambda x: x * 1, lambda g, x: g.astype("f4") * 1.001)),
    ],
)
def test_errors_are_noticed(what, function):
    arrays = [np.array([0.3, -0.7, 1.1])]
    with np.errstate(all="ignore"):
        fuzzing.check(lambda x: [la.sin(x) * x], arrays, 0)
        with pytest.raises(fuzzing.Wrong, match=what):
            fuzzing.check(lambda x: [function(x)], arrays, 0)


def test_kinks_are_no_errors():
    arrays = [np.array([0.0, 0.0, 1.1])]
    for function in (la.nn.relu, la.abs, la.max, lambda x: la.maximum(x, 0.0)):
        fuzzing.check(lambda x, function=function: [function(x)], arrays, 0)
