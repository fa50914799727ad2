"""Ops that others end, and that always run (collectives): when they start, what they heal."""

import threading

import pytest

from lazyarray.engine import FnProperty, ThreadedEnginePerDevice, ThreadedEnginePooled


def broken(e, var, cpu):
    def fail(rc):
        raise ValueError("broken")

    e.push_sync(fail, cpu, (), [var], name="breaks")


def hands_over(seen):
    def fn(rc, on_complete):
        seen.append(threading.current_thread())
        on_complete()

    return fn


def test_one_that_is_ready_runs_in_its_pushers_thread(threaded, cpu):
    seen = []
    threaded.push_async(
        hands_over(seen), cpu, (), [threaded.new_variable()], prop=FnProperty.NO_SKIP
    )
    assert seen == [threading.current_thread()]


def test_one_that_becomes_ready_does_not_wait_for_busy_workers(cpu):
    e = ThreadedEnginePerDevice(2)
    gate, first, seen = threading.Event(), threading.Event(), threading.Event()
    busy = [threading.Event(), threading.Event()]
    for started in busy:
        e.push_sync(
            lambda rc, s=started: (s.set(), gate.wait()), cpu, (), [e.new_variable()], name="busy"
        )
    for started in busy:
        assert started.wait(10)
    var = e.new_variable()
    e.push_sync(lambda rc: first.wait(), cpu, (), [var], prop=FnProperty.CPU_PRIORITIZED)

    def fn(rc, on_complete):
        seen.set()
        on_complete()

    e.push_async(fn, cpu, (), [var], prop=FnProperty.NO_SKIP)
    assert not seen.wait(0.05)
    first.set()
    assert seen.wait(10), "it waits for a worker"
    gate.set()
    e.wait_for_all()


@pytest.mark.parametrize("kind", [ThreadedEnginePerDevice, ThreadedEnginePooled])
def test_what_it_overwrites_is_healed(kind, cpu):
    e = kind(2)
    var, other, source = (e.new_variable() for _ in range(3))
    for v in (var, other):
        broken(e, v, cpu)
    seen = []
    for _ in range(2):
        e.push_async(
            hands_over(seen), cpu, [source], [other], prop=FnProperty.NO_SKIP, overwrites=[var]
        )
    e.wait_for_var(var)
    with pytest.raises(ValueError, match="broken"):
        e.wait_for_var(other)  # written, but perhaps not all of it
    assert (len(seen), var.version, other.version) == (2, 3, 3)


def test_what_it_reads_as_well_is_not_healed(threaded, cpu):
    e = threaded
    for sets in ({"const_vars": 1}, {"mutable_vars": 1}):
        var = e.new_variable()
        broken(e, var, cpu)
        e.push_async(
            hands_over([]),
            cpu,
            **{name: [var] for name in sets},
            prop=FnProperty.NO_SKIP,
            overwrites=[var],
        )
        with pytest.raises(ValueError, match="broken"):
            e.wait_for_var(var)


def test_one_that_fails_poisons_what_it_overwrites(threaded, cpu):
    e, var = threaded, threaded.new_variable()
    e.push_async(
        lambda rc, on_complete: on_complete(KeyError("late")),
        cpu,
        prop=FnProperty.NO_SKIP,
        overwrites=[var],
    )
    with pytest.raises(KeyError, match="late"):
        e.wait_for_var(var)


def test_an_ordinary_op_heals_what_it_overwrites_and_is_not_skipped_for_it(threaded, cpu):
    e, var, ran = threaded, threaded.new_variable(), []
    broken(e, var, cpu)
    e.push_async(
        lambda rc, on_complete: (ran.append(1), on_complete()), cpu, overwrites=[var], name="writes"
    )
    e.wait_for_var(var)
    assert ran == [1]


def test_an_error_that_is_handed_on_counts_as_seen(threaded, cpu):
    e, var = threaded, threaded.new_variable()
    broken(e, var, cpu)
    done = threading.Event()
    e.push_sync(lambda rc: done.set(), cpu, [var], prop=FnProperty.NO_SKIP)
    assert done.wait(10)
    with pytest.raises(ValueError, match="broken"):
        e._hand_on(var)
    e.wait_for_all()  # nothing left to raise


def test_what_is_no_variable_is_refused(threaded, cpu):
    with pytest.raises(TypeError, match="overwrites holds variables"):
        threaded.push_async(lambda rc, on_complete: None, cpu, overwrites=[1])
