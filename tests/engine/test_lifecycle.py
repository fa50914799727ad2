"""start, stop, notify_shutdown, and the end of an engine of one's own."""

import gc
import threading

import pytest

from lazyarray import engine


def test_push_after_stop_is_an_error_until_start(any_engine, cpu):
    e, ran = any_engine, []
    var = e.new_variable()
    op = e.new_operator(lambda rc: ran.append("op"), (), (var,))
    e.stop()
    for push in (
        lambda: e.push_sync(lambda rc: ran.append("sync"), cpu, (), (var,)),
        lambda: e.push_async(lambda rc, oc: oc(), cpu, (), (var,)),
        lambda: e.push(op, cpu),
    ):
        with pytest.raises(RuntimeError):
            push()
    e.start()
    e.push_sync(lambda rc: ran.append("sync"), cpu, (), (var,))
    e.push(op, cpu)
    e.wait_for_var(var)
    e.wait_for_all()
    assert ran == ["sync", "op"] and var.version == 2


def test_stop_and_start_again_and_again(any_engine, cpu):
    e, count = any_engine, []
    var = e.new_variable()
    for _ in range(5):
        for _ in range(10):
            e.push_sync(lambda rc: count.append(1), cpu, (), (var,))
        e.stop()
        e.start()
    e.wait_for_var(var)
    assert len(count) == 50 and var.version == 50


def test_stop_and_start_twice(any_engine, cpu):
    any_engine.stop()
    any_engine.stop()
    any_engine.start()
    any_engine.start()
    ran = []
    any_engine.push_sync(lambda rc: ran.append(1), cpu)
    any_engine.wait_for_all()
    assert ran == [1]


def test_stop_before_the_first_push(any_engine):
    """The pools start lazily: there is nothing to join."""
    any_engine.stop()


def test_stop_finishes_pending_work(threaded, cpu, gate):
    e, go, ran = threaded, gate(), []
    var = e.new_variable()
    e.push_sync(lambda rc: go.wait(), cpu, (), (var,))
    e.push_sync(lambda rc: ran.append(1), cpu, (var,), ())
    threading.Timer(0.05, go.set).start()
    e.stop()
    assert ran == [1]


def test_stop_waits_for_async_work(threaded, cpu):
    """No worker is busy with it, and yet it is pending, as is what depends on it."""
    e, ran, held, holding = threaded, [], [], threading.Event()
    var = e.new_variable()

    def fn(rc, on_complete):
        held.append(on_complete)
        holding.set()

    e.push_async(fn, cpu, (), (var,))
    e.push_sync(lambda rc: ran.append(1), cpu, (var,), ())
    assert holding.wait(20)
    timer = threading.Timer(0.1, held[0])
    timer.start()
    e.stop()
    assert ran == [1]
    timer.join()


def test_error_survives_stop(threaded, cpu):
    var = threaded.new_variable()
    threaded.push_sync(lambda rc: 1 / 0, cpu, (), (var,))
    try:
        threaded.stop()
    except ZeroDivisionError:
        pass
    threaded.start()
    with pytest.raises(ZeroDivisionError):
        threaded.wait_for_var(var)


def test_workers_end_with_stop(threaded, cpu, eventually):
    """No thread of the pool is left over, however often it stops."""

    def threads():
        with open("/proc/self/status") as status:
            return int(next(ln for ln in status if ln.startswith("Threads:")).split()[1])

    threaded.push_sync(lambda rc: None, cpu)
    threaded.wait_for_all()
    threaded.stop()
    before = threads()
    for _ in range(10):
        threaded.start()
        threaded.push_sync(lambda rc: None, cpu)
        threaded.wait_for_all()
        threaded.stop()
    eventually(lambda: threads() <= before)


def test_pushes_run_at_the_call_after_notify_shutdown(threaded, cpu):
    e, seen = threaded, []
    var = e.new_variable()
    e.push_sync(lambda rc: None, cpu, (), (var,))
    e.notify_shutdown()
    op = e.new_operator(lambda rc: seen.append(("op", threading.get_ident())), (), (var,))
    e.wait_for_var(var)
    e.push_sync(lambda rc: seen.append(("sync", threading.get_ident())), cpu, (), (var,))
    assert seen == [("sync", threading.get_ident())]
    e.push(op, cpu)
    assert seen[1:] == [("op", threading.get_ident())]
    e.delete_variable(lambda rc: seen.append(("delete", threading.get_ident())), cpu, var)
    assert seen[2:] == [("delete", threading.get_ident())]
    e.wait_for_all()


def test_notify_shutdown_keeps_the_order(threaded, cpu, gate):
    """The push comes after what is pending on its vars, wherever that runs."""
    e, go, log = threaded, gate(), []
    var = e.new_variable()
    e.push_sync(lambda rc: (go.wait(), log.append("before")), cpu, (), (var,))
    threading.Timer(0.05, go.set).start()
    e.notify_shutdown()
    e.push_sync(lambda rc: log.append("after"), cpu, (), (var,))
    e.wait_for_var(var)
    assert log == ["before", "after"]


def test_notify_shutdown_of_the_naive_engine_changes_nothing(naive, cpu):
    ran = []
    naive.notify_shutdown()
    naive.push_sync(lambda rc: ran.append(1), cpu)
    assert ran == [1]


KINDS = pytest.mark.parametrize("kind", ["ThreadedEnginePooled", "ThreadedEnginePerDevice"])


@KINDS
def test_destroying_an_engine_drains_it(kind, cpu, gate):
    go, ran = gate(), []
    e = getattr(engine, kind)(num_workers=1)
    e.push_sync(lambda rc: go.wait(), cpu)
    for _ in range(10):
        e.push_sync(lambda rc: ran.append(1), cpu)
    threading.Timer(0.05, go.set).start()
    del e
    gc.collect()
    assert len(ran) == 10


@KINDS
def test_var_and_operator_outlive_their_engine(kind, cpu):
    e = getattr(engine, kind)(num_workers=1)
    var = e.new_variable()
    op = e.new_operator(lambda rc: None, (), (var,))
    e.push(op, cpu)
    del e
    gc.collect()
    assert var.version in (0, 1)
    del op, var
    gc.collect()


@KINDS
def test_var_of_a_destroyed_engine_is_foreign(kind, cpu):
    """Also where a new engine happens to live at the old one's address."""
    cls = getattr(engine, kind)
    for _ in range(20):
        e = cls(num_workers=1)
        var = e.new_variable()
        del e
        other = cls(num_workers=1)
        with pytest.raises(ValueError):
            other.push_sync(lambda rc: None, cpu, (), (var,))
        with pytest.raises(ValueError):
            other.wait_for_var(var)


@KINDS
def test_many_engines(kind, cpu):
    ran = []
    for _ in range(30):
        e = getattr(engine, kind)(num_workers=2)
        for _ in range(3):
            e.push_sync(lambda rc: ran.append(1), cpu)
        del e
    gc.collect()
    assert len(ran) == 90


@KINDS
def test_last_reference_dropped_by_its_own_op(kind, script):
    """A worker cannot join itself."""
    run = script(f"""
e = engine.{kind}(num_workers=1)
done = threading.Event()
class Fn:
    def __init__(self, e):
        self.e = e
    def __call__(self, rc):
        self.e = None
        done.set()
op = Fn(e)
go = threading.Event()
e.push_sync(lambda rc: go.wait(20), cpu)
e.push_sync(op, cpu)
del e, op
go.set()
assert done.wait(20)
print("done")
""")
    assert (run.returncode, run.stdout.strip()) == (0, "done"), run.stderr
