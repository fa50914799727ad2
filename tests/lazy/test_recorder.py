"""The recorder: inline tier, segments, what shares an operator and what does not."""

import contextlib
import threading
import time

import numpy as np
import pytest

import lazyarray as la
from lazyarray import engine
from lazyarray.lazy._lazy import _set_policy, blas_threads
from lazyarray.ops._layout import gil_op

from ..ops.compare import on_gpu
from ..waiting import until
from .fusing import figures


@pytest.fixture
def recorded():
    """Nothing runs inline."""
    old = _set_policy("inline_ns", 0)
    yield
    la.waitall()
    _set_policy("inline_ns", old)


def held(x):
    """Blocks x's writers until the returned event is set."""
    gate = threading.Event()
    engine.get().push_sync(lambda ctx: gate.wait(20), la.cpu(0), mutable_vars=[x.var])
    return gate


def counts():
    s = engine.get().stats()
    return s["recorded"], s["inlined"]


def idle():
    s = engine.get().stats()
    return s["completed"] == s["pushed"]


def handed_over():
    """How many segments were."""
    s = engine.get().stats()
    return s["plans_made"] + s["plans_found"]


@pytest.mark.host  # nothing runs inline on a GPU
def test_tiny_ready_ops_run_inline():
    x = la.ones(10)
    la.waitall()
    r0, i0 = counts()
    y = x + x * 2
    r1, i1 = counts()
    assert (r1 - r0, i1 - i0) == (0, 2)
    assert y.var.version == 1


def test_an_op_on_a_pending_operand_is_recorded_and_does_not_wait():
    x = la.ones(10)
    gate = held(x)
    r0, i0 = counts()
    y = x + 1
    r1, i1 = counts()
    assert (r1 - r0, i1 - i0) == (1, 0)
    gate.set()
    np.testing.assert_array_equal(y.asnumpy(), 2.0)


def test_large_ops_start_without_a_wait():
    x = la.ones(1_000_000)
    with figures(flush_ns=1000) if on_gpu() else contextlib.nullcontext():  # it is soon done there
        y = x * 2.0
        end = time.monotonic() + 10
        while y.var.version == 0 and time.monotonic() < end:
            time.sleep(0.001)
        assert y.var.version == 1


@pytest.mark.host  # the op reads and writes the host's memory
def test_an_in_place_op_waits_for_earlier_readers(recorded):
    x = la.zeros(10)
    out = la.zeros(10)
    gate = threading.Event()

    def read(ctx):
        gate.wait(20)
        ctx.numpy(out)[...] = ctx.numpy(x)

    engine.get().push_sync(read, la.cpu(0), [x.var], [out.var])
    x += 1
    gate.set()
    np.testing.assert_array_equal(out.asnumpy(), 0.0)
    np.testing.assert_array_equal(x.asnumpy(), 1.0)


def test_a_wait_does_not_wait_for_the_unrelated_part_of_a_segment(recorded):
    with engine.bulk(1000):
        slow, fast = la.zeros(10), la.zeros(10)
        la.waitall()
        gate = held(slow)
        a = slow + 1
        b = fast + 1
        c = a + 1
        d = b + 1
        np.testing.assert_array_equal(d.asnumpy(), 2.0)  # would hang until the gate opens
        gate.set()
        np.testing.assert_array_equal(c.asnumpy(), 2.0)


def test_a_segment_keeps_program_order_through_expensive_ops(recorded):
    rng = np.random.default_rng(0)
    a = rng.random((200, 200))
    with engine.bulk(1000):
        x = la.array(a)
        t = x + 1  # cheap
        m = x @ x  # stands alone
        x += m  # needs both
        t += x
        r = t.asnumpy()
    want = a + a @ a
    np.testing.assert_array_equal(r, a + 1 + want)


def test_versions_count_instructions_in_a_bulk(recorded):
    with engine.bulk(1000):
        x = la.zeros(10)
        la.waitall()
        v = x.var.version
        for _ in range(5):
            x += 1
        x.wait_to_read()
        assert x.var.version == v + 5


@pytest.mark.parametrize("size", [0, 1, 7, 1000])
def test_bulk_sizes(recorded, size):
    with engine.bulk(size):
        assert engine.get().bulk_size == size
        x = la.zeros(4)
        for i in range(20):
            x += i
    np.testing.assert_array_equal(x.asnumpy(), 190.0)


def test_bulk_refuses_nonsense():
    with pytest.raises(ValueError), engine.bulk(-1):
        pass
    with pytest.raises(TypeError), engine.bulk("8"):
        pass


def test_memory_is_reused():
    la.waitall()
    x = la.ones(1_000_000)
    (x * 2).wait_to_read()
    before = la.storage.pool_stats()
    for _ in range(20):
        y = x * 2
        y.wait_to_read()
        del y
    after = la.storage.pool_stats()
    # One block may still be held by the op whose end woke the waiter.
    assert after["misses"] <= before["misses"] + 2
    assert after["in_use"] <= before["in_use"] + 8_400_000


def test_the_stopped_engine_refuses_arrays():
    e = engine.get()
    x = la.ones(4)
    e.stop()
    try:
        with pytest.raises(RuntimeError, match="stopped"):
            x + 1
    finally:
        e.start()
    np.testing.assert_array_equal((x + 1).asnumpy(), 2.0)


def test_many_threads_record_at_once():
    total = la.zeros(8)
    place, lock = total.device, threading.Lock()

    def work():
        mine = la.zeros(8, ctx=place)  # a thread's own device is the CPU
        for _ in range(300):
            mine += 1
            big = la.ones(3000, ctx=place) * 2  # noqa: F841
        with lock:
            nonlocal total
            total = total + mine

    threads = [threading.Thread(target=work) for _ in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    np.testing.assert_array_equal(total.asnumpy(), 1800.0)


@pytest.mark.host  # nothing runs inline on a GPU
def test_a_loop_of_tiny_ops_catches_up():
    """What would run inline, had its operand been there, is not recorded for ever."""

    def loop(x):
        for i in range(1, 1000):
            x[i % 100] = x[(i - 1) % 100] * 0.5 + 1

    x, y, want = la.zeros(100), la.zeros(()), np.zeros(100)
    gate = held(y)
    x[0] = y
    gate.set()
    until(idle)  # a wait would flush what is open
    r0, i0 = counts()
    loop(x)
    r1, i1 = counts()
    loop(want)
    np.testing.assert_array_equal(x.asnumpy(), want)
    assert r1 - r0 < 100 and i1 - i0 > 1500


def counted(loop, x):
    """How many ops of a loop were recorded, and how many ran at once."""
    r0, i0 = counts()
    x = loop(x)
    r1, i1 = counts()
    want = loop(np.full(3, 0.25))  # forgets what it began with
    np.testing.assert_allclose(x.asnumpy(), want)
    return r1 - r0, i1 - i0


def of_three(x):
    for _ in range(900):
        x = x * 0.5 + 1
    return x


@pytest.mark.host
def test_tiny_ops_behind_open_work_run_it():
    """It costs less than they lose."""
    big = la.ones((150, 400))
    la.waitall()
    with figures(inline_ns=0):
        x = ((big * 0.5 + 1.5) * big).sum(0)[:3]
    recorded, inlined = counted(of_three, x)
    assert recorded < 200 and inlined > 1600, (recorded, inlined)


@pytest.mark.host
def test_tiny_ops_behind_work_under_way_wait_for_it():
    big = la.random.uniform(size=400_000)
    la.waitall()
    x = la.sort(big)[:3]  # takes some 10 ms
    with figures(age_ns=0):
        big + 1  # begins the sort
    with figures(late_ns=1e9):
        recorded, inlined = counted(of_three, x)
    assert recorded < 200 and inlined > 1600, (recorded, inlined)


@pytest.mark.host
def test_a_small_call_that_is_ready_is_run_by_its_pusher():
    x = la.array([1.0, 2.0])
    la.waitall()
    before = engine.get().stats()["pushed"]
    y = la.interp(x, x, x)
    stats = engine.get().stats()
    assert stats["pushed"] == stats["completed"] == before + 1
    assert y.shape == (2,)


def of_draws(x):
    for _ in range(300):
        x = (x + la.random.rand(3) * 0) * 0.5 + 1
    return x


@pytest.mark.host
@pytest.mark.parametrize("loop", [of_three, of_draws])
def test_tiny_ops_and_draws_behind_calls_wait_for_them(loop):
    """A pusher that is busy would let the calls have the GIL only every five milliseconds."""
    with figures(catch_up_ns=2e10):
        time.sleep(1.1)  # by then it is as patient as at first
        x = la.sort(la.random.rand(400_000))[:3]  # draws and the sort take some 10 ms
        recorded, inlined = counted(loop, x)
    assert recorded < 300 and inlined > 600, (recorded, inlined)


@pytest.mark.host
def test_tiny_ops_do_not_wait_for_what_waits_for_them():
    x = la.ones(3)
    gate = held(x)
    before, _ = counts()
    for _ in range(2):  # the second time they are more patient
        x = of_three(x)
    assert counts()[0] - before == 3600
    gate.set()
    np.testing.assert_allclose(x.asnumpy(), 2)


@pytest.mark.host  # a GPU's programs run ahead by its memory
def test_running_ahead_is_bounded():
    """Operands that are made in the loop stay alive only as far as the workers are behind."""
    n = 300
    b = la.array(np.eye(n))
    total = la.zeros((n, n))
    most = 0
    for _ in range(400):
        total = total + la.ones((n, n)) @ b
        most = max(most, la.engine.get().stats()["pending_bytes"])
    assert float(total[0, 0]) == 400
    assert most <= 140 << 20


def rounds(x, y, n, pause=None):
    """A loop's body of ten ops, n times; `pause()` in the midst of the last."""
    for i in range(n):
        a, b = x * 0.5, y * 0.25
        c, d = a + b, a - b
        if pause and i == n - 1:
            pause()
        x, y = c * d + x * 0.5, d - c
        y = y + a * b
    return x, y


def last_segment():
    """How many instructions the segment has that was flushed last."""
    return int(str(la.explain()).split("segment: ")[1].split()[0])


@pytest.mark.host  # a GPU's segments are cut by counts of their own
def test_full_segments_of_a_loop_hold_whole_rounds():
    x = np.linspace(0, 1, 100_000)
    with figures(inline_ns=0, age_ns=1e15):
        one, other = rounds(la.array(x), la.array(x), 110)
        assert last_segment() == 80  # of 1100, at most 1024 a segment
    np.testing.assert_array_equal(one, rounds(x, x, 110)[0])
    np.testing.assert_array_equal(other, rounds(x, x, 110)[1])


def polynomials(x, y, n):
    """An expression of many names that are alive at once, and its sum: 6 n ops."""
    kept = [(x * i + y) * x - y / (i + 1.0) for i in range(n)]
    total = x
    for term in kept:
        total = total + term
    return total


@pytest.mark.host  # a GPU's segments are cut by counts of their own
def test_a_long_expression_with_many_names_is_one_pass():
    x, y = np.linspace(0, 1, 1_000_000), np.linspace(2, 3, 1_000_000)
    a, b = la.array(x), la.array(y)
    la.waitall()
    with figures(age_ns=1e15):
        got = polynomials(a, b, 60)  # its names: 480 MB
        got.wait_to_read()
        assert last_segment() == 360
        assert "in 1 operator, 359 temporaries never materialised" in str(la.explain())
    np.testing.assert_array_equal(got, polynomials(x, y, 60))


@pytest.mark.host  # by the CPU's figures
def test_an_alarm_waits_while_more_comes():
    """It is put off as long as that is little beside what is open."""
    x, age = la.array(np.ones(1_000_000)), 0.05
    la.waitall()

    def steadily():
        """Five times as long as the alarm is set for; and the longest time with nothing new."""
        y, longest, last = x, 0.0, time.perf_counter()
        for _ in range(100):
            y = y * 0.5
            now = time.perf_counter()
            longest, last = max(longest, now - last), now
            time.sleep(0.0025)
        return y, max(longest, time.perf_counter() - last)

    with figures(inline_ns=0, age_ns=1e9 * age, flush_ns=1e5, age_share=1e9):
        for _ in range(100):
            recorded = counts()[0]
            y, longest = steadily()
            assert counts()[0] - recorded == 100
            y.wait_to_read()
            if longest < 0.8 * age:
                break
        assert longest < 0.8 * age, "the machine is too busy"
        assert last_segment() == 100 and float(y[0]) == 0.5**100
    with figures(inline_ns=0, age_ns=1e9 * age, flush_ns=1e5, age_share=0):
        before, n, y = handed_over(), 0, x

        def more():
            nonlocal n, y
            n, y = n + 1, y * 0.5
            return handed_over() > before

        until(more)
        assert float(y[0]) == 0.5**n


@pytest.mark.host  # by the CPU's figures
def test_what_an_idle_worker_takes_of_a_loop_are_whole_rounds():
    x = np.linspace(0, 1, 100_000)
    with figures(inline_ns=0, flush_ns=1e6, age_ns=1000):
        recorded = counts()[0]
        one, other = rounds(la.array(x), la.array(x), 5, lambda: time.sleep(0.2))
        assert counts()[0] - recorded == 50
        assert last_segment() % 10 == 0
    np.testing.assert_array_equal(one, rounds(x, x, 5)[0])
    np.testing.assert_array_equal(other, rounds(x, x, 5)[1])


@pytest.mark.host  # by the CPU's figures
def test_rounds_that_are_taken_are_a_power_of_two():
    """However far the program is, the plan is one of few; also where a round is one line."""

    def hold(begun):
        """Until a worker has taken what there is, or has left too little, where it was early."""
        seen, end = handed_over(), time.monotonic() + 0.3
        until(lambda: handed_over() > seen or (seen > begun and time.monotonic() > end))

    x = np.linspace(0, 1, 3001)
    with figures(inline_ns=0, flush_ns=1e4, age_ns=2e6):
        before = engine.get().stats()["plans_made"]
        for n in range(20, 52):
            want, got, begun = x, la.array(x), handed_over()
            for i in range(n):
                if i == n - 1:
                    hold(begun)
                got = got * 0.5 + 0.25
            for _ in range(n):
                want = want * 0.5 + 0.25
            np.testing.assert_array_equal(got, want)
        # Of 1, 2, ... 32 rounds, and of the 1 to 19 that are left. It was more than one for each n.
        assert engine.get().stats()["plans_made"] - before <= 25


def called(x, ran, ns):
    """A call of NumPy's that is said to take so long."""

    def function(v):
        ran.append(threading.get_ident())
        return v + 1

    result = gil_op("called", function, [x], x.shape, cost=ns)
    ran.clear()  # what ran so far was on a miniature, to learn the dtype
    return result


@pytest.mark.host  # by the CPU's figures
@pytest.mark.parametrize("ns", [1e5, 1e8])
def test_a_call_of_numpys_is_left_to_the_waiter(ns):
    x, ran = la.array(np.ones(1000)), []

    def runs():
        deadline = time.monotonic() + 10
        while not ran and time.monotonic() < deadline:
            time.sleep(0.01)
        return bool(ran)

    la.waitall()
    with figures(age_ns=1e15, call_age_ns=1e15, flush_ns=1e5):
        y = called(x, ran, ns)
        time.sleep(0.05)
        assert not ran
        y.wait_to_read()
        assert ran == [threading.get_ident()]
        ran.clear()
        both = called(called(x, ran, ns) * 2, ran, ns)  # the program goes on
        assert runs()
        np.testing.assert_array_equal(both, np.full(1000, 5.0))
    with figures(age_ns=1e15, call_age_ns=1e6, flush_ns=1e5):
        z = called(x, ran, ns)
        assert runs()  # though nobody waits
        z.wait_to_read()
    with figures(age_ns=1e6, call_age_ns=1e15, flush_ns=1e5):
        z = called(x, ran, ns)
        more = la.ones(10) + z[:10]  # what comes after it is not put off
        assert runs()
        np.testing.assert_array_equal(more, np.full(10, 3.0))


@pytest.mark.host  # by the CPU's figures
@pytest.mark.skipif(blas_threads() < 2, reason="BLAS has one thread")
def test_what_blas_does_on_all_cores_is_left_to_the_waiter():
    a, b = la.array(np.eye(300) * 2), la.array(np.ones(300))
    la.waitall()
    with figures(call_age_ns=1e15):
        for solve in (lambda: la.linalg.solve(a, b), lambda: (a @ a)[:, 0]):
            before = engine.get().stats()["helped"]
            x = solve()
            time.sleep(0.05)
            assert x._state() != "complete"
            x.wait_to_read()
            assert engine.get().stats()["helped"] > before


@pytest.mark.host  # by the CPU's figures
@pytest.mark.parametrize("before", range(5))
def test_a_call_that_nobody_waits_for_runs_all_the_same(before):
    """Also where what came before it in a loop was handed over, and it is left."""
    x, big, ran = la.ones(100), la.ones(400_000), []
    la.waitall()
    kept = []
    for k in range(before + 1):
        kept.append(called(x, ran, 60_000))
        if k == before:
            break
        kept.append(big * 2 + big)
    deadline = time.monotonic() + 10
    while not all(v._state() == "complete" for v in kept) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert all(v._state() == "complete" for v in kept)
