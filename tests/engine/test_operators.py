"""Reusable operators: pushed many times, from many threads, deleted while in use."""

import gc
import threading
import weakref

import pytest


def test_pushed_many_times(any_engine, cpu):
    e, count = any_engine, [0]
    a, b = e.new_variable(), e.new_variable()

    def add(rc):
        count[0] += 1

    op = e.new_operator(add, (a,), (b,), name="add")
    for _ in range(1000):
        e.push(op, cpu)
    e.wait_for_var(b)
    assert count == [1000] and (a.version, b.version) == (0, 1000)
    e.push(op, cpu)
    e.wait_for_var(b)
    assert count == [1001]
    e.delete_operator(op)


def test_uses_of_a_reading_operator_run_together(threaded, cpu):
    """One handle, two uses at once."""
    meet, var = threading.Barrier(2), threaded.new_variable()
    op = threaded.new_operator(lambda rc: meet.wait(20), (var,))
    threaded.push(op, cpu)
    threaded.push(op, cpu)
    threaded.wait_for_all()


def test_each_push_has_its_own_context_and_priority(any_engine, cpu, cpu1):
    e, seen = any_engine, []
    var = e.new_variable()
    op = e.new_operator(lambda rc: seen.append(rc.ctx), (), (var,))
    for ctx in (cpu, cpu1, cpu1, cpu):
        e.push(op, ctx, 5)
    e.wait_for_var(var)
    assert seen == [cpu, cpu1, cpu1, cpu]


def test_pushed_from_many_threads(any_engine, cpu, spawn):
    e, count = any_engine, [0]
    var = e.new_variable()

    def add(rc):
        count[0] += 1

    op = e.new_operator(add, (), (var,))

    def push():
        for _ in range(300):
            e.push(op, cpu)

    for thread in [spawn(push) for _ in range(4)]:
        thread.finish()
    e.wait_for_var(var)
    assert count == [1200]


def test_pushes_itself(threaded, cpu):
    e, left, done = threaded, [50], threading.Event()
    var = e.new_variable()

    def again(rc):
        left[0] -= 1
        if left[0]:
            e.push(op, cpu)
        else:
            done.set()

    op = e.new_operator(again, (), (var,))
    e.push(op, cpu)
    assert done.wait(20)
    e.wait_for_all()
    assert left == [0] and var.version == 50


def test_deleting_neither_blocks_nor_drops_pending_uses(threaded, cpu, block):
    e, count = threaded, []
    var = e.new_variable()
    gate = block(e, cpu, (), (var,))
    op = e.new_operator(lambda rc: count.append(1), (), (var,))
    for _ in range(3):
        e.push(op, cpu)
    e.delete_operator(op)
    assert count == []
    gate.set()
    e.wait_for_var(var)
    assert count == [1, 1, 1]


def test_deletion_waits_for_the_uses(threaded, cpu, block, eventually):
    """The callable lives as long as a use is pending, and no longer."""

    class Fn:
        def __call__(self, rc):
            pass

    e, fn = threaded, Fn()
    ref = weakref.ref(fn)
    var = e.new_variable()
    gate = block(e, cpu, (), (var,))
    op = e.new_operator(fn, (), (var,))
    del fn
    e.push(op, cpu)
    e.delete_operator(op)
    del op
    gc.collect()
    assert ref() is not None
    gate.set()
    e.wait_for_all()
    eventually(lambda: gc.collect() is not None and ref() is None)


def test_handle_dropped_without_delete_operator(threaded, cpu, block):
    e, count = threaded, []
    var = e.new_variable()
    gate = block(e, cpu, (), (var,))
    op = e.new_operator(lambda rc: count.append(1), (), (var,))
    e.push(op, cpu)
    e.push(op, cpu)
    del op
    gc.collect()
    gate.set()
    e.wait_for_var(var)
    assert count == [1, 1]


def test_deleted_operator_cannot_be_used(any_engine, cpu):
    op = any_engine.new_operator(lambda rc: None)
    any_engine.delete_operator(op)
    with pytest.raises(ValueError):
        any_engine.push(op, cpu)
    with pytest.raises(ValueError):
        any_engine.delete_operator(op)


def test_failed_use_leaves_the_operator_usable(threaded, cpu):
    e, calls = threaded, []
    var = e.new_variable()

    def fn(rc):
        calls.append(1)
        if len(calls) == 1:
            raise OSError("first")

    op = e.new_operator(fn, (), (), name="twice")
    e.push(op, cpu)
    with pytest.raises(OSError, match="first"):
        e.wait_for_all()
    e.push(op, cpu)
    e.wait_for_all()
    assert len(calls) == 2
    e.wait_for_var(var)


def test_deleted_while_running(threaded, cpu, gate):
    e, started, go, seen = threaded, gate(), gate(), []
    var = e.new_variable()

    def fn(rc):
        started.set()
        go.wait()
        seen.append(1)

    op = e.new_operator(fn, (), (var,))
    e.push(op, cpu)
    started.wait()
    e.delete_operator(op)
    del op, fn
    gc.collect()
    go.set()
    e.wait_for_var(var)
    assert seen == [1]
