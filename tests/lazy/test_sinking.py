"""What a later pass alone needs is computed there: NumPy's numbers, and less memory moved."""

import os
import re

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, settings

import lazyarray as la
from lazyarray import engine

from .fusing import SMALL, both, figures, same

pytestmark = pytest.mark.host  # GPUs copy what is moved round

EXAMPLES = int(os.environ.get("LAZYARRAY_TEST_EXAMPLES", "150"))
SHAPES = [(7, 9), (40, 5), (64, 64), (33, 1000), (300, 301)]


def laplacian(m, u):
    return m.roll(u, 1, 0) + m.roll(u, -1, 0) + m.roll(u, 1, 1) + m.roll(u, -1, 1) - 4 * u


def react(m, u, v):
    reaction = u * v * v
    u, v = (
        u + 0.16 * laplacian(m, u) - reaction + 0.06 * (1 - u),
        v + 0.08 * laplacian(m, v) + reaction - 0.122 * v,
    )
    return u, v


def reaction_and_diffusion(m, u, v):
    for _ in range(4):
        u, v = react(m, u, v)
    return u, v


def reaction_in_slices(m, u, v):
    for _ in range(4):
        inner = u[1:-1, 1:-1]
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        new = inner + 0.1 * (around - 4 * inner) - inner * v[1:-1, 1:-1] * 0.05
        u[1:-1, 1:-1] = new
        v[1:-1, 1:-1] += 0.05 * inner * new
    return u, v


def heat(m, u, v):
    """Many steps in place: the arrays have more entries than are looked at."""
    for _ in range(30):
        for x, to in (u, v), (v, u):
            inner = x[1:-1, 1:-1]
            to[1:-1, 1:-1] = (
                0.125 * (x[2:, 1:-1] - 2.0 * inner + x[:-2, 1:-1])
                + 0.125 * (x[1:-1, 2:] - 2.0 * inner + x[1:-1, :-2])
                + inner
            )
    return u, v


# In each, `t` begins in the pass that writes `u`, and the pass that reads `roll(u)` needs it.


def moves(m, u, v):
    u = u + 1
    t = u * v * v
    return m.roll(u, 1, 0) - t + u * v


def with_its_constant_row(m, u, v):
    u = u + 1
    t = u * v[0]
    return m.roll(u, 1, 0) - t


def by_rows_results(m, u, v):
    u = u + 1
    t = u / (u.sum(1, keepdims=True) + 40.0)
    return m.roll(u, 1, 1) - t


def written_after_in_its_pass(m, u, v):
    u = u + 1
    t = u * v
    v += 2
    return m.roll(u, 1, 0) - t, v


def read_and_written_in_its_pass(m, u, v):
    u = u + 1
    t = u * v
    u *= 2
    return m.roll(u, 1, 0) - t


def written_between(m, u, v):
    u = u + 1
    t = u * v
    v[1:] = v[:-1] * 2
    return m.roll(u, 1, 0) - t + m.roll(v, 1, 0)


def a_part_written_between(m, u, v):
    u = u + 1
    t = u * v
    v[0] = m.roll(v, 1, 0)[1]
    return m.roll(u, 1, 0) - t + m.roll(v, 1, 0)


def written_in_the_later_pass(m, u, v):
    u = u + 1
    t = u * v
    x = m.roll(u, 1, 0) - t
    v -= x
    return x, v


def written_in_the_later_pass_by_another_walk(m, u, v):
    u = u + 1
    t = u * v
    x = m.roll(u, 1, 0) - t
    v[1:] -= x[:-1]
    return x, v


def written_much_later(m, u, v):
    u = u + 1
    t = u * v
    x = m.roll(u, 1, 0) - t
    v[...] = m.roll(x, 1, 1)
    return x, v


def read_in_both(m, u, v):
    u = u + 1
    t = u * v
    s = t.sum(0)
    return m.roll(u, 1, 0) - t + s


def read_elsewhere(m, u, v):
    u = u + 1
    t = u * v
    return m.roll(u, 1, 0) - t, m.roll(t, 1, 0)


def read_by_two_passes(m, u, v):
    u = u + 1
    t = u * v
    x = m.roll(u, 1, 0) - t
    return m.roll(x, 1, 0) - t


def kept(m, u, v):
    u = u + 1
    t = u * v
    return m.roll(u, 1, 0) - t, t


def overwritten_result(m, u, v):
    u = u + 1
    t = u * v
    t += u
    x = m.roll(u, 1, 0) - t
    t *= x
    return x + t


def two_of_one(m, u, v):
    u = u + 1
    s = u - v
    a, b = s * s, s * 3
    return m.roll(u, 1, 0) - a + m.roll(u, 1, 1) * b


PROGRAMS = [
    reaction_and_diffusion,
    reaction_in_slices,
    heat,
    moves,
    with_its_constant_row,
    by_rows_results,
    written_after_in_its_pass,
    read_and_written_in_its_pass,
    written_between,
    a_part_written_between,
    written_in_the_later_pass,
    written_in_the_later_pass_by_another_walk,
    written_much_later,
    read_in_both,
    read_elsewhere,
    read_by_two_passes,
    kept,
    overwritten_result,
    two_of_one,
]


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("program", PROGRAMS)
def test_numbers(program, small):
    rng = np.random.default_rng(5)
    for shape in SHAPES[:2] if small else SHAPES[2:]:
        u, v = rng.random((2, *shape))
        with figures(**SMALL if small else {"age_ns": 1e15}):
            both(program, u, v)


@pytest.mark.parametrize("program", [moves, written_in_the_later_pass, two_of_one])
def test_it_moves(program):
    u, v = np.random.default_rng(5).random((2, 300, 301))
    with figures(age_ns=1e15):
        ran = both(program, u, v)
    first, later = ran.passes
    assert [op[0] for op in first["ops"]] == ["add"]
    assert all(op[3] for op in later["ops"] if op[0] == "multiply" and op[2] == "(90300)")


@pytest.mark.parametrize("program", [written_after_in_its_pass, read_and_written_in_its_pass, kept])
def test_it_stays(program):
    u, v = np.random.default_rng(5).random((2, 300, 301))
    with figures(age_ns=1e15):
        ran = both(program, u, v)
    assert "multiply" in [op[0] for op in ran.passes[0]["ops"]]


def test_running_ahead_moves_no_more_than_waiting():
    """A step's pass reads what it needs, and nothing is passed on to it but the two arrays."""
    u, v = (la.array(x) for x in np.random.default_rng(5).random((2, 1000, 1000)))
    la.waitall()
    with figures(age_ns=1e15), engine.bulk(1 << 20):
        reaction_and_diffusion(la, u, v)
        megabytes = int(re.search(r"memory moved: (\d+) MB", la.explain())[1])
    # Each step reads and writes both; the last one is two passes, for nothing joins its results.
    assert megabytes <= 8 * (4 * 4 + 3)


def test_nothing_is_passed_on_between_steps():
    u, v = np.random.default_rng(5).random((2, 20, 21))
    with figures(**SMALL):
        ran = both(heat, u, v)
    assert len(ran.passes) == 60
    for one in ran.passes:
        assert sum(op[0] == "multiply" and op[3] for op in one["ops"]) == 4


NAMES = "abcd"
PARTS = "pq"
UPDATES = ["+=", "-=", "*="]


@st.composite
def programs(draw):
    """Statements over four names, which rebind them or write to them; most values die early."""
    name, number = st.sampled_from(NAMES), st.sampled_from([0.5, 2.0, -1.0])
    lines = []
    for _ in range(draw(st.integers(3, 40))):
        x, y, z = draw(name), draw(name), draw(name)
        shift, axis, c = draw(st.sampled_from([1, -1, 2])), draw(st.integers(0, 1)), draw(number)
        update, p, q = draw(st.sampled_from(UPDATES)), *(draw(st.sampled_from(PARTS)) for _ in "pq")
        lines.append(
            draw(
                st.sampled_from(
                    [
                        f"{x} = {y} * {z} - {c}",
                        f"{x} = {y} + {c} * {z}",
                        f"{x} = m.minimum({y}, {c} - {z})",
                        f"{x} = m.roll({y}, {shift}, {axis}) - {c} * {z}",
                        f"{x} = m.roll({y}, {shift}, {axis}) + m.roll({z}, {-shift}, {axis}) + {x}",
                        f"{x} = {y} - {z}.max({axis}, keepdims=True)",
                        f"{x} = {y} - {z}[1] * {c}",
                        f"{x} {update} {y} * 0.5",
                        f"{x}[1:] {update} {y}[:-1] * 0.5",
                        f"{x}[:, ::2] = {y}[:, ::2] + {c}",
                        f"{x}[0] = {y}[1] - {c}",
                        f"{x} = {y}[::-1] - {z}",
                        # Parts that begin further on, and what is no loop over elements.
                        f"{p} = {y}[1:] * {c}",
                        f"{p} = {q} + {z}[1:]",
                        f"{p} = {q} - {z}[:-1] * {c}",
                        f"{x}[1:] {update} {p}",
                        f"{x} = {y} - {p}.max(0)",
                        f"{x}.sort({axis})",
                        f"m.add({x}, {c}, out={x}, where={x} > 0.5)",
                        f"m.cumsum({x}, {axis}, out={x})",
                        f"{x}[m.arange(2) + 1] = {c}",
                        f"{x}[{x} > 0.5] = {c}",
                    ]
                )
            )
        )
    return "\n".join(lines)


def function(text, m):
    env = {"m": m}
    begun = "p = q = a[1:] * 1"
    lines = [f"def program({', '.join(NAMES)}):", begun, *text.splitlines()]
    lines.append(f"return {', '.join(NAMES)}, p, q")
    exec("\n    ".join(lines), env)
    return env["program"]


def sorts(m, x, i):
    x.sort()


def sorts_rows(m, x, i):
    x.reshape(-1, 50)[:, 3:].sort(axis=1)


def adds_where(m, x, i):
    m.add(x, 1, out=x, where=x > 0.5)


def adds_unsafely(m, x, i):
    m.add(x, 1, out=x, casting="unsafe")


def stores(m, x, i):
    x[i] = 7


def sums_up(m, x, i):
    m.cumsum(x, out=x)


def multiplies(m, x, i):
    rows = x.reshape(-1, 50)
    m.matmul(rows[:50, :50].copy(), rows[:50, :50].copy(), out=rows[-50:])


def stores_by_masks(m, x, i):
    x[x > 0.5] = m.arange(float(len(x)))[x > 0.5]


def fills(m, x, i):
    m.put(x, i, 9)


@pytest.mark.parametrize(
    "write",
    [sorts, sorts_rows, adds_where, adds_unsafely, stores, sums_up, multiplies, stores_by_masks,
     fills],
)  # fmt: skip
def test_what_is_written_in_between_by_no_loop_over_elements(write):
    """Their iteration axes say nothing of what they write: the array was read after the write."""

    def shifted(m, x, i):
        made = x[1:] * 2
        write(m, x, i)
        return made + x[1:]

    def of_columns(m, x, i):
        rows = x.reshape(-1, 50)
        made = rows[:, 1:] * 2
        write(m, x, i)
        return made + rows[:, 1:]

    def backwards(m, x, i):
        made = x[::-1] * 2
        made = made[:-1] + 1
        write(m, x, i)
        return made * x[:-1]

    x = np.random.default_rng(4).random(50_000)
    i = np.arange(len(x) // 2) * 2 + 1
    for program in (shifted, of_columns, backwards):
        both(program, x, i)
        with figures(**SMALL):
            both(program, x, i)


@settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    programs(), st.sampled_from([(6, 10), (5, 33), (40, 4), (3, 300)]), st.booleans(), st.booleans()
)
def test_random_programs(text, shape, small, captured):
    note(text)
    first = np.random.default_rng(len(text)).random((4, *shape)).round(2)
    with np.errstate(all="ignore"):
        want = function(text, np)(*[x.copy() for x in first])
    mine = [la.array(x) for x in first]
    la.waitall()
    changes = SMALL if small else {"fuse_ns": 0, "inline_ns": 0, "age_ns": 1e15}
    with np.errstate(all="ignore"), figures(**changes), engine.bulk(1 << 20):
        if captured:
            step = la.compile(function(text, la))
            for _ in range(2):
                got = step(*[la.array(x) for x in first])
        else:
            got = function(text, la)(*mine)
            note(la.explain())
        same(got, want)
