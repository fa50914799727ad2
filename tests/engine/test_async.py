"""push_async: completion from any thread, exactly once, and never a hang."""

import gc
import queue
import threading

import pytest


@pytest.fixture
def finisher(spawn):
    """A foreign thread that calls what it is sent: finisher(fn, *args)."""
    todo = queue.SimpleQueue()

    def run():
        while (job := todo.get()) is not None:
            job[0](*job[1:])

    thread = spawn(run)
    yield lambda *job: todo.put(job)
    todo.put(None)
    thread.finish()


def test_completed_by_a_foreign_thread(any_engine, cpu, finisher):
    e, log = any_engine, []
    var = e.new_variable()

    def finish(on_complete, i):
        log.append(i)
        on_complete()

    for i in range(100):
        e.push_async(lambda rc, oc, i=i: finisher(finish, oc, i), cpu, (), (var,))
    e.wait_for_var(var)
    assert log == list(range(100)) and var.version == 100


def test_completed_before_the_callable_returns(any_engine, cpu):
    var, log = any_engine.new_variable(), []

    def fn(rc, on_complete):
        assert on_complete() is None
        log.append(rc.ctx)

    any_engine.push_async(fn, cpu, (), (var,))
    any_engine.wait_for_var(var)
    any_engine.wait_for_all()
    assert log == [cpu] and var.version == 1


def test_naive_engine_is_complete_when_the_push_returns(naive, cpu):
    """The completion comes later, from elsewhere: the push waits for it."""
    var, done = naive.new_variable(), []

    def fn(rc, on_complete):
        threading.Timer(0.05, lambda: (done.append(1), on_complete())).start()

    naive.push_async(fn, cpu, (), (var,))
    assert done == [1] and var.version == 1


def test_vars_are_held_until_completion(threaded, cpu, pass_through, gate):
    e, held, log, holding = threaded, [], [], gate()
    a, b = e.new_variable(), e.new_variable()

    def fn(rc, on_complete):
        held.append(on_complete)
        holding.set()

    e.push_async(fn, cpu, (a,), (b,))
    e.push_sync(lambda rc: log.append("write a"), cpu, (), (a,))
    e.push_sync(lambda rc: log.append("read b"), cpu, (b,))
    holding.wait()
    pass_through(e, cpu)
    assert log == []
    held[0]()
    e.wait_for_all()
    assert sorted(log) == ["read b", "write a"]


def test_pending_async_ops_hold_no_worker(single, cpu):
    held = queue.SimpleQueue()
    for _ in range(50):
        single.push_async(lambda rc, oc: held.put(oc), cpu, (), (single.new_variable(),))
    var = single.new_variable()
    single.push_sync(lambda rc: None, cpu, (), (var,))
    single.wait_for_var(var)
    for _ in range(50):
        held.get(timeout=20)()
    single.wait_for_all()


def test_completed_by_many_threads(threaded, cpu, spawn):
    e, held, n = threaded, queue.SimpleQueue(), 400
    vs = [e.new_variable() for _ in range(n)]
    for var in vs:
        e.push_async(lambda rc, oc: held.put(oc), cpu, (), (var,))

    def finish():
        for _ in range(n // 4):
            held.get(timeout=20)()

    for thread in [spawn(finish) for _ in range(4)]:
        thread.finish()
    e.wait_for_all()
    assert [v.version for v in vs] == [1] * n


def test_completed_by_a_worker_of_another_engine(threaded, make_engine, cpu):
    other = make_engine("ThreadedEnginePooled", 1)
    var = threaded.new_variable()
    threaded.push_async(lambda rc, oc: other.push_sync(lambda rc: oc(), cpu), cpu, (), (var,))
    threaded.wait_for_var(var)
    other.wait_for_all()
    assert var.version == 1


def test_completed_by_a_later_op_of_the_same_engine(single, cpu):
    held, var = [], single.new_variable()
    single.push_async(lambda rc, oc: held.append(oc), cpu, (), (var,))
    single.push_sync(lambda rc: held[0](), cpu)
    single.wait_for_var(var)
    single.wait_for_all()


# --- errors --------------------------------------------------------------------------------


def test_completed_with_an_error(threaded, cpu, finisher):
    a, b = threaded.new_variable(), threaded.new_variable()
    threaded.push_async(lambda rc, oc: finisher(oc, OSError("disk")), cpu, (), (a,))
    threaded.push_async(lambda rc, oc: oc(error=KeyError("key")), cpu, (), (b,))
    with pytest.raises(OSError, match="disk"):
        threaded.wait_for_var(a)
    with pytest.raises(KeyError, match="key"):
        threaded.wait_for_var(b)


def test_completed_with_none_is_success(any_engine, cpu):
    a, b = any_engine.new_variable(), any_engine.new_variable()
    any_engine.push_async(lambda rc, oc: oc(None), cpu, (), (a,))
    any_engine.push_async(lambda rc, oc: oc(error=None), cpu, (a,), (b,))
    any_engine.wait_for_var(b)
    any_engine.wait_for_all()


def test_naive_engine_raises_the_error_of_the_completion(naive, cpu, finisher):
    with pytest.raises(OSError, match="disk"):
        naive.push_async(lambda rc, oc: finisher(oc, OSError("disk")), cpu)


@pytest.mark.parametrize("bad", ["boom", 3, OSError])
def test_error_must_be_an_exception(bad, any_engine, cpu):
    """The refused call does not count: the op is completed after it."""
    var, caught = any_engine.new_variable(), []

    def fn(rc, on_complete):
        try:
            on_complete(bad)
        except TypeError:
            caught.append(1)
        on_complete()

    any_engine.push_async(fn, cpu, (), (var,))
    any_engine.wait_for_var(var)
    assert caught == [1]


def test_callable_raises_before_completing(threaded, cpu):
    var = threaded.new_variable()

    def fn(rc, on_complete):
        raise OSError("early")

    threaded.push_async(fn, cpu, (), (var,))
    with pytest.raises(OSError, match="early"):
        threaded.wait_for_var(var)
    assert var.version == 1


def test_naive_engine_raises_what_the_callable_raises(naive, cpu):
    def fn(rc, on_complete):
        raise OSError("early")

    with pytest.raises(OSError, match="early"):
        naive.push_async(fn, cpu)


def test_completion_after_the_callable_raised_is_the_second(threaded, cpu):
    """The raise completed the op; the thread that it left behind is told so."""
    var, held = threaded.new_variable(), []

    def fn(rc, on_complete):
        held.append(on_complete)
        raise OSError("early")

    threaded.push_async(fn, cpu, (), (var,))
    with pytest.raises(OSError, match="early"):
        threaded.wait_for_var(var)
    with pytest.raises(RuntimeError):
        held[0]()
    assert var.version == 1


@pytest.mark.parametrize("first", [None, OSError("first")])
def test_second_completion_raises_in_the_caller(first, threaded, cpu):
    e, held, var = threaded, queue.SimpleQueue(), threaded.new_variable()
    e.push_async(lambda rc, oc: held.put(oc), cpu, (), (var,))
    on_complete = held.get(timeout=20)
    on_complete(first)
    for args in ((), (OSError("second"),)):
        with pytest.raises(RuntimeError):
            on_complete(*args)
    if first is None:
        e.wait_for_var(var)
    else:
        with pytest.raises(OSError, match="first"):
            e.wait_for_var(var)
    assert var.version == 1
    e.push_sync(lambda rc: None, cpu)
    if first is None:
        e.wait_for_all()


def test_second_completion_inside_the_callable(any_engine, cpu):
    var, caught = any_engine.new_variable(), []

    def fn(rc, on_complete):
        on_complete()
        with pytest.raises(RuntimeError):
            on_complete()
        caught.append(1)

    any_engine.push_async(fn, cpu, (), (var,))
    any_engine.wait_for_all()
    assert caught == [1] and var.version == 1


def test_one_of_many_completions_wins(threaded, cpu, spawn):
    e, held = threaded, queue.SimpleQueue()
    for _ in range(50):
        var = e.new_variable()
        e.push_async(lambda rc, oc: held.put(oc), cpu, (), (var,))
        on_complete, start = held.get(timeout=20), threading.Barrier(3)

        def finish(on_complete=on_complete, start=start):
            start.wait(20)
            try:
                on_complete()
            except RuntimeError:
                return 0
            return 1

        threads = [spawn(finish) for _ in range(3)]
        assert sum(t.finish() for t in threads) == 1
        e.wait_for_var(var)
        assert var.version == 1


def test_error_after_the_completion_is_printed(script):
    """It is too late to fail the op, whose readers may have run; it must not vanish either."""
    run = script("""
e = engine.get()
v = e.new_variable()
def fn(rc, on_complete):
    on_complete()
    raise LookupError("too late")
e.push_async(fn, cpu, (), (v,))
e.wait_for_var(v)
""")
    assert run.returncode == 0, run.stderr
    assert "LookupError: too late" in run.stderr
    assert "TypeError" not in run.stderr


# --- forgotten completions -----------------------------------------------------------------


def test_forgotten_completion_fails_the_op(threaded, cpu):
    var = threaded.new_variable()
    threaded.push_async(lambda rc, on_complete: None, cpu, (), (var,))
    with pytest.raises(RuntimeError):
        threaded.wait_for_var(var)
    assert var.version == 1


def test_forgotten_completion_raises_in_the_naive_engine(naive, cpu):
    with pytest.raises(RuntimeError):
        naive.push_async(lambda rc, on_complete: None, cpu)


def test_completion_dropped_later_by_another_thread(threaded, cpu, finisher, gate):
    var, held, holding = threaded.new_variable(), [], gate()

    def fn(rc, on_complete):
        held.append(on_complete)
        del on_complete
        holding.set()

    threaded.push_async(fn, cpu, (), (var,))
    holding.wait()
    finisher(held.clear)
    with pytest.raises(RuntimeError):
        threaded.wait_for_var(var)


def test_completion_lost_in_a_reference_cycle(threaded, cpu, gate):
    var, pushed = threaded.new_variable(), gate()

    def fn(rc, on_complete):
        cycle = [on_complete]
        cycle.append(cycle)
        del on_complete
        pushed.set()

    threaded.push_async(fn, cpu, (), (var,))
    pushed.wait()
    threaded.push_sync(lambda rc: gc.collect(), cpu)
    stop = threading.Event()

    def collect():
        while not stop.wait(0.02):
            gc.collect()

    collector = threading.Thread(target=collect)
    collector.start()
    try:
        with pytest.raises(RuntimeError):
            threaded.wait_for_var(var)
    finally:
        stop.set()
        collector.join()


def test_completion_kept_after_use_is_harmless(any_engine, cpu):
    held = []

    def fn(rc, on_complete):
        on_complete()
        held.append(on_complete)

    any_engine.push_async(fn, cpu)
    any_engine.wait_for_all()
    held.clear()
    gc.collect()
    any_engine.wait_for_all()
