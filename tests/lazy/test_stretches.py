"""What runs with no value asked for in between: recorded, once there was enough of it."""

import numpy as np
import pytest

import lazyarray as la
from lazyarray import engine
from lazyarray.lazy._lazy import _set_policy, _stats
from lazyarray.lazy.cpu.jit._tier import _set_jit

from .fusing import explained, figures, same

pytestmark = pytest.mark.host  # of what runs in the calling thread

N = 6000  # x * y costs 2.4 us by estimate, between the figures below
STEPS = 40


@pytest.fixture(autouse=True)
def _figures():
    if type(engine.get()).__name__ == "NaiveEngine":
        pytest.skip("it runs everything at once")
    old = _set_jit("1")
    direct = _set_policy("direct_bytes", 32768)
    la.waitall()
    with figures(
        inline_ns=10000,
        mid_ns=1000,
        stretch_ns=20000,
        cold_stretches=1,
        new_stretches=1,
        age_ns=1e15,
    ):
        yield
    _set_policy("direct_bytes", direct)
    _set_jit(old)


def stencil(xp, asked, steps=STEPS):
    u = xp.linspace(0.0, 1.0, N)
    seen = []
    for i in range(steps):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        if asked:
            seen.append(asked(xp, u, i))
    return u, seen


def recorded(run):
    before = _stats()["recorded"]
    result = run()
    count = _stats()["recorded"] - before
    return result, count


def compared(asked):
    (u, seen), count = recorded(lambda: stencil(la, asked))
    want, want_seen = stencil(np, asked)
    same(u, want)
    assert [float(s) for s in seen] == [float(s) for s in want_seen]
    return count


def test_a_loop_that_asks_for_nothing_is_recorded():
    ops = 7 * STEPS
    assert ops / 2 < compared(None) <= ops


@pytest.mark.parametrize(
    "asked",
    [
        lambda xp, u, i: float(u[3]),
        lambda xp, u, i: float(u.max()),
        lambda xp, u, i: float(xp.sort(u[:50])[7]),
        lambda xp, u, i: u.tolist()[5],
        lambda xp, u, i: 1.0 if u[2] > 0.5 else 0.0,
    ],
    ids=["an element", "a reduction", "at once", "all of it", "a branch"],
)
def test_a_loop_that_asks_each_time_is_not(asked):
    with figures(stretch_ns=60000):  # more than a step costs
        assert compared(asked) <= STEPS


@pytest.mark.parametrize("alike", [True, False])
def test_a_loop_that_asks_after_as_much_each_time_is_recorded_whole(alike):
    """Its first ops run at once only where some rounds ask early."""

    def asked(xp, u, i):
        if alike or i % 2:
            return float(u[3])
        found = float(u[3])
        return found + float((2.0 * u)[4])  # little work, and a value

    with figures(stretch_ns=12000):
        count = compared(asked)
    # mid_ns of views and stores: 5 of a round's 7 ops
    assert count > 6 * (STEPS - 6) if alike else count < 6 * STEPS


def test_a_long_loop_is_learnt_from_each_time_it_runs():
    """However long it was before: one of its many stretches is recorded, not one of many runs."""
    for n in range(6):  # plans that are new each time
        (la.ones(50_000 + n) * 2.0 + 1.0).wait_to_read()
    with figures(stretch_ns=8000, cold_stretches=8, new_stretches=8):
        counts = [compared(None) for _ in range(5)]
    assert min(counts) > 0, counts


def test_a_read_ends_a_stretch_and_another_begins():
    assert 0 < compared(lambda xp, u, i: float(u[1]) if i % 20 == 19 else 0.0) < 7 * STEPS


def test_not_without_a_compiler():
    _set_jit("0")
    assert compared(None) == 0


@pytest.mark.parametrize("name", ["multiply", "exp"])
def test_what_is_never_compiled_stays_where_it_is(name):
    x = np.linspace(0.0, 1.0, N // 4) * (1j if name == "multiply" else 1.0)

    def program(xp, x):
        for _ in range(STEPS):
            found = x * x if name == "multiply" else xp.exp(x)
        return found

    u = la.array(x)
    got, count = recorded(lambda: program(la, u))
    assert count == 0
    same(got, program(np, x))


def test_small_ops_stay_where_they_are():
    with figures(mid_ns=2500):
        assert compared(None) == 0


def test_few_while_nothing_is_compiled():
    with figures(cold_stretches=10**9, new_stretches=10**9):  # the count goes on from test to test
        for _ in range(3):
            assert compared(lambda xp, u, i: float(u[1]) if i % 10 == 9 else 0.0) == 0


def test_stretches_to_learn_from_begin_at_the_same_place_of_a_loop():
    """They are the same plans so, and what they teach serves the next one."""
    for n in range(6):  # plans that are new each time
        (la.ones(50_000 + n) * 2.0 + 1.0).wait_to_read()
    u, v = np.linspace(0.0, 1.0, 7000), np.linspace(1.0, 2.0, 7000)

    def program(u, v):
        for _ in range(60):
            a = u * v
            b = a - v
            u = b + v
        return u

    begin = set()
    for stretch_ns in range(20_000, 36_000, 2000):
        x, y = la.array(u), la.array(v)
        for _ in range(2):  # values after little work: nobody expects more before the next one
            float((x + y)[3])
        with figures(
            stretch_ns=stretch_ns, new_stretches=2, cold_stretches=2, inline_ns=16000, flush_ns=1e15
        ):
            got = program(x, y)
            begin.add(tuple(explained().stages[0][:3]))
        same(got, program(u, v))
    assert len(begin) == 1


@pytest.mark.parametrize("size", [2499, 2500, 6249, 6250, 6251, 25_000, 25_001, 33_000])
def test_sizes_around_the_figures(size):
    def program(xp):
        rng = np.random.default_rng(size)
        x, y = (xp.asarray(rng.random(size)) for _ in range(2))
        found = []
        for i in range(12):
            x = (x * y + 0.25) / (1.5 + y)
            y[i::7] += x[i::7]
            if i % 5 == 4:
                found.append(float(x[i]))
        return x, y, np.array(found)

    for cold in (1, 3, 16):
        with figures(mid_ns=2500, stretch_ns=30000, cold_stretches=cold):
            got, want = program(la), program(np)
        for g, w in zip(got, want, strict=True):
            same(g, w)


def test_errors_and_warnings_of_a_stretch_come_at_the_wait():
    u = la.linspace(0.0, 1.0, N)
    v = u + 1.0
    for _ in range(STEPS):
        v = v * 1.0
    with np.errstate(divide="raise"):
        w = v / u
    with pytest.raises(FloatingPointError, match="divide by zero"):
        (w + v).wait_to_read()
    same(v + 0.0, np.linspace(0.0, 1.0, N) + 1.0)
