"""The profiler hook: what is recorded of an op, and that it is off unless asked for."""

import threading
import time

import pytest

from lazyarray.engine import FnProperty

KEYS = {"name", "seq", "queued", "ready", "start", "end", "worker", "skipped"}


def by_name(records):
    return {r["name"]: r for r in records}


def test_records_have_the_fields(any_engine, cpu):
    e = any_engine
    var = e.new_variable()
    e.trace_start()
    before = time.monotonic_ns()
    e.push_sync(lambda rc: None, cpu, (), (var,), name="one")
    e.wait_for_all()
    after = time.monotonic_ns()
    records = e.trace_stop()
    assert [r["name"] for r in records] == ["one"]
    (record,) = records
    assert set(record) >= KEYS
    times = [record[k] for k in ("queued", "ready", "start", "end")]
    assert all(type(t) is int for t in times)
    assert before <= times[0] and times == sorted(times) and times[-1] <= after
    assert type(record["worker"]) is int and type(record["seq"]) is int
    assert record["skipped"] is False


def test_times_follow_the_dependencies(threaded, cpu, gate):
    e, go = threaded, gate()
    a, b = e.new_variable(), e.new_variable()
    e.trace_start()
    e.push_sync(lambda rc: go.wait(), cpu, (), (a,), name="first")
    e.push_sync(lambda rc: None, cpu, (a,), (b,), name="second")
    go.set()
    e.wait_for_all()
    records = by_name(e.trace_stop())
    first, second = records["first"], records["second"]
    assert first["seq"] < second["seq"]
    assert first["queued"] <= second["queued"]
    assert second["ready"] >= first["end"]


def test_waiting_to_be_ready_and_waiting_for_a_worker_differ(single, cpu, block):
    """Behind a busy worker an op is ready at once, and starts late."""
    e = single
    e.trace_start()
    gate = block(e, cpu, name="busy")
    e.push_sync(lambda rc: None, cpu, name="queued")
    gate.set()
    e.wait_for_all()
    records = by_name(e.trace_stop())
    assert records["queued"]["ready"] <= records["busy"]["end"] <= records["queued"]["start"]


def test_worker_numbers(threaded, cpu):
    """Two ops that run at once have two workers; an inline one has none."""
    e, meet = threaded, threading.Barrier(2)
    e.trace_start()
    for name in ("a", "b"):
        e.push_sync(lambda rc: meet.wait(20), cpu, name=name)
    e.push_sync(lambda rc: None, cpu, prop=FnProperty.ASYNC, name="inline")
    e.wait_for_all()
    records = by_name(e.trace_stop())
    assert records["inline"]["worker"] == -1
    workers = {records["a"]["worker"], records["b"]["worker"]}
    assert len(workers) == 2 and min(workers) >= 0


def test_naive_engine_has_no_workers(naive, cpu):
    naive.trace_start()
    naive.push_sync(lambda rc: None, cpu, name="op")
    assert by_name(naive.trace_stop())["op"]["worker"] == -1


def test_skipped_and_failed_ops_are_recorded(threaded, cpu):
    e = threaded
    var = e.new_variable()
    e.trace_start()
    e.push_sync(lambda rc: 1 / 0, cpu, (), (var,), name="failed")
    e.push_sync(lambda rc: None, cpu, (var,), name="skipped")
    with pytest.raises(ZeroDivisionError):
        e.wait_for_all()
    records = by_name(e.trace_stop())
    assert records["failed"]["skipped"] is False
    assert records["skipped"]["skipped"] is True


def test_sequence_is_push_order(threaded, cpu):
    e = threaded
    e.trace_start()
    for i in range(50):
        e.push_sync(lambda rc: None, cpu, name=str(i))
    e.wait_for_all()
    records = sorted(e.trace_stop(), key=lambda r: r["seq"])
    assert [r["name"] for r in records] == [str(i) for i in range(50)]


def test_async_op_ends_when_it_completes(threaded, cpu):
    e, held, holding = threaded, [], threading.Event()
    e.trace_start()

    def fn(rc, on_complete):
        held.append(on_complete)
        holding.set()

    e.push_async(fn, cpu, name="async")
    assert holding.wait(20)
    before = time.monotonic_ns()
    held[0]()
    e.wait_for_all()
    assert by_name(e.trace_stop())["async"]["end"] >= before


def test_operators_and_deletions(any_engine, cpu):
    e = any_engine
    var = e.new_variable()
    e.trace_start()
    op = e.new_operator(lambda rc: None, (), (var,), name="op")
    for _ in range(3):
        e.push(op, cpu)
    e.delete_operator(op)
    e.delete_variable(None, cpu, var)
    e.wait_for_all()
    assert [r["name"] for r in e.trace_stop()].count("op") == 3


def test_off_unless_asked_for(any_engine, cpu):
    e = any_engine
    e.push_sync(lambda rc: None, cpu, name="before")
    e.wait_for_all()
    e.trace_start()
    e.push_sync(lambda rc: None, cpu, name="during")
    e.wait_for_all()
    names = [r["name"] for r in e.trace_stop()]
    e.push_sync(lambda rc: None, cpu, name="after")
    e.wait_for_all()
    assert names == ["during"]
    assert e.trace_stop() == []
    e.trace_start()
    e.push_sync(lambda rc: None, cpu, name="again")
    e.wait_for_all()
    assert [r["name"] for r in e.trace_stop()] == ["again"]


def test_start_and_stop_around_a_running_op(threaded, cpu, block):
    """The op runs when the trace starts, another when it stops: neither breaks it."""
    e = threaded
    gate = block(e, cpu, name="early")
    e.trace_start()
    gate.set()
    e.wait_for_all()
    gate = block(e, cpu, name="late")
    names = {r["name"] for r in e.trace_stop()}
    assert "late" not in names
    gate.set()
    e.wait_for_all()


def test_unnamed_ops_have_a_name(any_engine, cpu):
    e = any_engine
    e.trace_start()
    e.push_sync(lambda rc: None, cpu)
    e.wait_for_all()
    (record,) = e.trace_stop()
    assert isinstance(record["name"], str)
