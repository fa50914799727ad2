"""Compiled loops read a roll where its source is: NumPy's numbers, wherever tiles are cut."""

import os
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

import lazyarray as la
from lazyarray import engine
from lazyarray.lazy.cpu.jit._tier import _set_jit, refused_loops

from .fusing import both, figures, same
from .test_rolls import HAZARDS, PROGRAMS

pytest.importorskip("llvmlite", reason="llvmlite is not installed: nothing is compiled")
pytestmark = pytest.mark.host  # of loops compiled for CPUs

# Each has loops of its own to compile.
EXAMPLES = int(os.environ.get("LAZYARRAY_TEST_EXAMPLES", "60"))
FUSED = {"inline_ns": 0, "fuse_ns": 0, "split_ns": 0, "task_ns": 0, "age_ns": 1e15}


@pytest.fixture(autouse=True)
def eager():
    old = _set_jit("eager")
    refused = set(refused_loops())
    yield
    assert {x for x in set(refused_loops()) - refused if x.startswith("other bits")} == set()
    _set_jit(old)


def thrice(program, *arrays, **changes):
    """Compares results with NumPy's; in the first run, the loops too. The text of how it ran."""
    with figures(**(FUSED | changes)):
        for _ in range(3):
            ran = both(program, *arrays)
    return ran.text


@pytest.mark.parametrize("tile", [600, 5000, 98304])
@pytest.mark.parametrize("program", [*PROGRAMS.values(), *HAZARDS])
def test_programs(program, tile):
    rng = np.random.default_rng(3)
    for shape in [(7, 90), (64, 64), (33, 300), (300, 3)]:
        thrice(program, *rng.normal(size=(2, *shape)), tile_bytes=tile, stream_bytes=tile, least=16)


@pytest.mark.parametrize(
    ("shape", "turned"), [((64, 64), 4), ((90, 20), 2), ((3, 40, 64), 4), ((4097,), None)]
)
def test_it_is_read_in_place(shape, turned):
    """Along rows that would be cut too often it is copied."""
    u, v = np.random.default_rng(3).normal(size=(2, *shape))
    if turned is None:
        text, turned = thrice(lambda m, u, v: m.roll(u, 5) - m.roll(v, -3), u, v), 2
    else:
        text = thrice(PROGRAMS["two of them"], u, v)
    assert f"{turned} rolled operands read in place" in text


@pytest.mark.parametrize("tile", [1000, 98304])
def test_indices_are_written_out(tile):
    """What picks elements is no chain: it needs the roll of its indices."""
    rng = np.random.default_rng(3)
    u, i = rng.normal(size=(40, 64)), rng.integers(0, 40, (2, 50, 60))
    thrice(lambda m, u, i: u[m.roll(i[0], 3, 1), i[1]] * 2 + i[0], u, i, tile_bytes=tile, least=16)
    thrice(lambda m, u, i: u[i[0], m.roll(i[1], 1, 0)] * i[0], u, i, tile_bytes=tile, least=16)


def test_what_is_read_in_vain_is_read_again():
    """A flag that is heard of makes NumPy's loops do the tile once more."""
    u = np.random.default_rng(3).normal(size=(40, 64))
    u[30, 5] = np.inf

    def program(m):
        a = m.array(u)
        with np.errstate(invalid="raise"):
            b = m.roll(a, 1, 0) - m.roll(a, 1, 1)
            c = m.roll(b, 1, 1) * 2 + m.roll(a, -1, 0)
            return c - m.roll(a, 1, 0)

    for inf in (False, True):
        u[30, 6] = np.inf if inf else 0
        u[29, 6] = np.inf if inf else 0
        with figures(**FUSED, tile_bytes=4000, least=64):
            for _ in range(4):
                if not inf:
                    same(program(la), program(np))
                    continue
                with pytest.raises(FloatingPointError):
                    program(la).wait_to_read()


def test_what_lay_where_the_loop_writes_is_moved_again():
    """NumPy's loops do a tile once more for a flag, and read what they had been given before."""
    rng = np.random.default_rng(3)
    u, v = rng.normal(size=(2, 40, 64))
    u[:, 5] = 1e200

    def program(m, u, v):
        r = m.roll(u, 1, 1)
        s = m.sin(r)
        y = r * 1e150 + v
        return m.cos(y) + s

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = program(np, u, v)
        with figures(**FUSED, tile_bytes=4000, least=64):
            for _ in range(4):
                a, b = la.array(u), la.array(v)
                la.waitall()
                with engine.bulk(1 << 20):
                    got = program(la, a, b)
                same(got, want)


@st.composite
def programs(draw, ndim):
    name = st.sampled_from("abc")
    shift = st.one_of(st.integers(-3, 3), st.integers(-400, 400))

    def roll():
        axes = draw(st.lists(st.integers(0, ndim - 1), min_size=1, max_size=ndim, unique=True))
        shifts = tuple(draw(shift) for _ in axes)
        if draw(st.booleans()) and ndim > 1:
            return f"m.roll({draw(name)}, {draw(shift)})"
        return f"m.roll({draw(name)}, {shifts}, {tuple(axes)})"

    lines = []
    for _ in range(draw(st.integers(1, 8))):
        kind = draw(st.integers(0, 9))
        x, y = draw(name), draw(name)
        if kind < 6:
            terms = [roll() for _ in range(draw(st.integers(1, 5)))]
            signs = [draw(st.sampled_from([" + ", " - ", " * "])) for _ in terms]
            lines.append(f"{x} = {y}" + "".join(s + t for s, t in zip(signs, terms, strict=True)))
        elif kind == 6:
            lines.append(f"{x} {draw(st.sampled_from(['+=', '*=']))} {roll()}")
        elif kind == 7:
            lines.append(f"t = {roll()}; t += {y}; {x} = t - {roll()}")
        elif kind == 8:
            lines.append(
                f"{x} = {y} - {roll()}.{draw(st.sampled_from(['max', 'sum']))}(-1, keepdims=True)"
            )
        else:
            lines.append(f"{x} = {y} - {roll()}.sum(0)")
    return "\n".join(lines)


def function(text):
    env = {}
    exec("\n    ".join(["def program(m, a, b, c):", *text.splitlines(), "return a, b, c"]), env)
    return env["program"]


SHAPES = [
    (300,),
    (4097,),
    (12, 40),
    (40, 12),
    (3, 300),
    (130, 70),
    (6, 5, 40),
    (9, 32, 3),
    (2, 4, 3, 50),
]


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.data(),
    st.sampled_from(SHAPES),
    st.sampled_from(["f8", "f4", "i8"]),
    st.sampled_from([300, 4000, 98304]),
)
def test_random_programs(data, shape, dtype, tile):
    text = data.draw(programs(len(shape)))
    note(text)
    rng = np.random.default_rng(len(text))
    arrays = [(rng.random(shape) * 9).astype(dtype) for _ in "ab"]
    wide = (rng.random((*shape[:-1], shape[-1] * 2)) * 9).astype(dtype)
    arrays.append(wide[..., ::2] if data.draw(st.booleans()) else arrays[0] * 2)
    thrice(function(text), *arrays, tile_bytes=tile, stream_bytes=tile, least=16)
