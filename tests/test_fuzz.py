"""The oracle fuzzer finds what is wrong, says it shortly, and finds nothing here."""

import dataclasses
import math
import random

import numpy as np
import pytest

import lazyarray as la

from .fuzz import lengths, oracle, passes, shrink, worker, writing
from .fuzz.programs import PASSES, Failed, Input, Program
from .fuzz.undecided import undecided


def test_shapes_are_bounded():
    sizes = [math.prod(lengths.shape(random.Random(i))) for i in range(20000)]
    assert max(sizes) <= lengths.MOST_ELEMENTS  # 10**8 once: more memory than a process may have


def test_lengths_straddle_every_figure():
    for n in (255, 256, 257, 399, 400, 401, 511, 512, 513, 600, 8191, 8192, 8193, 100003):
        assert n in lengths.POOL


@pytest.mark.parametrize("seed", range(25))
def test_a_few_programs(seed):
    program = writing.write(seed)
    assert Program.from_json(program.to_json()) == program
    oracle.check(program)


@pytest.mark.parametrize("seed", range(0, 15 * PASSES, PASSES))
def test_a_few_programs_of_passes(seed):
    program = passes.write(seed)
    assert Program.from_json(program.to_json()) == program
    oracle.check(program)


def test_programs_of_passes_have_all_kinds_of_lines():
    lines = "\n".join(str(passes.write(seed)) for seed in range(0, 300 * PASSES, PASSES))
    for part in ("for _ in", "xp.roll(", "[...] = ", "out=", "keepdims", "divmod", "%", "where=",
                 ".astype(", "random.seed", "casting='unsafe'", "::-1", "xp.sort(",
                 "sliding_window_view", "matmul", "initial=", ".accumulate(", "xp.copyto(",
                 ):  # fmt: skip
        assert part in lines


X = Input("x0", (3, 600), "f8", "C", "small", 0)
PROGRAM = Program(
    (X, dataclasses.replace(X, name="x1", order="F")),
    ("x2 = x0 * 2", "x3 = (x1 + xp.square(x0[:, ::-1] - 1)).sum(axis=0)", "x4 = x3 + 1", "del x2"),
)


@pytest.fixture
def fault(monkeypatch):
    """A function that is wrong once an array is long enough."""
    right = la.square

    def square(x):
        return right(x) if x.shape[-1] < 64 else right(x) + 1e-9

    monkeypatch.setattr(la, "square", square)


def test_a_fault_is_found_and_made_small(fault):
    def fails(program):
        try:
            oracle.check(program)
        except oracle.Wrong:
            return True
        except Exception:  # NumPy refuses it
            return False
        return False

    assert fails(PROGRAM)
    small = shrink.shrink(PROGRAM, fails)
    assert len(small.lines) == 1
    assert "square" in small.lines[0]
    assert [x.shape for x in small.inputs] in ([(1, 64)], [(2, 64)])


def test_what_differs_is_said():
    zero = np.zeros(3)
    assert oracle.difference(zero, zero) == ""
    assert "3 of 3 differ" in oracle.difference(-zero, zero)
    assert "float32" in oracle.difference(np.zeros(3, "f4"), zero)
    assert oracle.difference(np.array([np.nan]), np.array([-np.nan])) == ""
    assert oracle.difference(np.array([np.nan]), np.array([0.0]))


def test_what_ran_is_told_with_what_is_wrong():
    def check(program):
        raise oracle.Wrong("so")

    reply = worker.answer({"seed": 7}, check)
    assert reply["wrong"] == "so"
    assert Program.from_json(reply["program"]) == writing.write(7)
    assert worker.answer({"seed": 7}, lambda program: None) == {}


def test_what_last_bits_decide_is_not_compared_on_a_gpu():
    # Products of 33 squares, about 1e99, which a GPU takes in another order: any remainder may
    # come of them.
    x = Input("x0", (33, 33), "f8", "C", "small", 0)
    lines = ("x1 = xp.prod(xp.square(x0 * 50), axis=0)", "x2 = x1 % 1.7", "x3 = xp.sin(x0) % 0.5")
    program = Program((x,), lines)
    want = oracle.on_numpy(program)
    assert oracle.steady(program, want) == ["x0", "x1", "x3"]
    assert oracle.on_numpy(program, oracle.Shaken(1))["x1"].tolist() != want["x1"].tolist()


def test_terms_that_cancel_leave_the_rounding_of_each():
    x = Input("x0", (5, 2), "f8", "C", "small", 0)
    lines = (
        "x1 = x0 - xp.mean(x0, axis=1, keepdims=True)",
        "x2 = xp.mean(x1)",  # zero, but for rounding
        "x3 = x2 % xp.abs(x0)",
        "x4 = x0 + x2",
    )
    program = Program((x,), lines)
    want = oracle.on_numpy(program)
    assert oracle.steady(program, want) == ["x0", "x1", "x2", "x4"]


def test_what_numpy_gives_by_the_loop_it_takes_is_not_asked():
    x = np.ones((2, 3584), "f4").T
    names = {"xp": np, "x0": x, "x1": x > 0, "x2": np.float32(0)}
    for text, left_out in {
        "x3 = xp.arctan2(xp.any(x0, axis=1, keepdims=True), x0[::-1])": True,
        "x3 = xp.arctan2(x0[::-1], x0[::-1])": False,
        "x3 = xp.arctan2(x1, x0)": False,
        "x3 = 0.5 <= (x2 + 0).astype('F')": True,
        "x3 = 0.5 <= x0.astype('F')": False,
        "x3 = 0.5 <= x2.astype('f8')": False,
        "x3 = np.float32(1.5) + 2": True,
        "x3 = np.float32(1.5) + x0": False,
        "x0[1] = np.float32(1.5)": False,
        "x0[:1000, 0] = x0[::2, 0][:1000]": True,
        "x0[:1000, 0] = x0[500:1500, 0]": False,
        "for _ in range(2):\n    x4 = x0 + 1\n    x4[0, ::2] = x4[0, :1792]": False,
    }.items():
        assert undecided(text, names) == left_out, text


def test_shaken_functions_take_arguments_by_position():
    x, to = np.full((2, 3), 1e200), np.zeros((2, 3))
    shaken = oracle.Shaken(1)
    assert shaken.sign(-2) == -1
    assert shaken.cumprod(x, 1, None, to) is to and to[0, 0] == pytest.approx(1e200)
    assert shaken.prod(x, 1, "f8")[0] == np.inf


def test_products_that_overflow_before_they_meet_a_zero_are_not_steady():
    shaken = oracle.Shaken(1)
    for dtype in ("f8", "c16"):
        x = np.full((2, 2000), 1e3, dtype)
        for zeros in (0, -1, [0, -1], [0, 999, -1]):
            x[0] = 1e3
            x[0, zeros] = 0
            assert np.isnan(shaken.prod(x, axis=1)[0])
        assert not np.isfinite(shaken.prod(x, axis=1)[1])
        assert shaken.prod(x[:, :3], axis=1) == pytest.approx(np.prod(x[:, :3], axis=1))


LATER = Program(
    (dataclasses.replace(X, dtype="i8"),),
    (
        "x1 = tried(lambda: (x0 + 1) ** (x0 - 2))",
        "x2 = tried(lambda: xp.sum(x1 * x0, axis=0), x1)",
        "x3 = x0 * 2",
    ),
)


def test_what_fails_later_fails_alone_and_as_numpys():
    want = oracle.on_numpy(LATER)
    assert want["x1"] == want["x2"] == Failed(ValueError)
    oracle.check(LATER)


def test_a_line_may_fail_at_the_call_before_its_operand_does():
    lines = (
        "x1 = tried(lambda: xp.take(x0, xp.arange(3) * 99, axis=0))",
        "x2 = tried(lambda: x1 ** -1, x1)",
    )
    oracle.check(Program(LATER.inputs, lines))


@pytest.mark.parametrize("kind", ["no error", "IndexError"])
def test_another_end_of_what_fails_is_found(monkeypatch, kind):
    def power(x, y):
        return x * y if kind == "no error" else la.take(x, la.array([9]), axis=0)

    monkeypatch.setattr(la, "power", power)
    lines = ("x1 = tried(lambda: xp.power(x0 + 1, x0 - 2))", *LATER.lines[1:])
    with pytest.raises(oracle.Wrong, match=rf"x\d: .*{kind}.* for Failed"):
        oracle.check(dataclasses.replace(LATER, lines=lines))


def test_a_line_that_may_fail_is_made_simpler():
    found = list(shrink.simpler("x1 = tried(lambda: (x0 + 1) ** (x0 - 2), x3)"))
    assert "x1 = (x0 + 1) ** (x0 - 2)" in found
    assert "x1 = tried(lambda: x0 + 1, x3)" in found
    assert not [text for text in found if "= lambda" in text]
