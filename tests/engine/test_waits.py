"""Waits: whose ops they cover, who wakes, and who runs what."""

import itertools
import queue
import threading
import time

import pytest

from lazyarray.engine import FnProperty


def test_wait_covers_the_writers(any_engine, cpu):
    e, seen = any_engine, []
    var = e.new_variable()
    for i in range(100):
        e.push_sync(lambda rc, i=i: seen.append(i), cpu, (), (var,))
    e.wait_for_var(var)
    assert seen == list(range(100))


def test_wait_on_an_untouched_var(any_engine):
    any_engine.wait_for_var(any_engine.new_variable())


def test_wait_for_all_with_nothing_pending(any_engine):
    any_engine.wait_for_all()
    any_engine.wait_for_all()


def test_wait_does_not_cover_readers(threaded, cpu, block):
    """What a reader does cannot change the value."""
    var = threaded.new_variable()
    gate = block(threaded, cpu, (var,))
    threaded.wait_for_var(var)
    gate.set()


def test_wait_does_not_cover_unrelated_ops(threaded, cpu, block):
    other, var = threaded.new_variable(), threaded.new_variable()
    seen = []
    gate = block(threaded, cpu, (), (other,))
    threaded.push_sync(lambda rc: seen.append(1), cpu, (), (var,))
    threaded.wait_for_var(var)
    assert seen == [1]
    gate.set()


def test_wait_covers_writers_through_their_inputs(threaded, cpu, block, spawn, pass_through):
    """The writer is not ready yet: waiting means waiting for what it waits for."""
    e, log = threaded, []
    a, b = e.new_variable(), e.new_variable()
    gate = block(e, cpu, (), (a,))
    e.push_sync(lambda rc: log.append("b"), cpu, (a,), (b,))

    def wait():
        e.wait_for_var(b)
        log.append("waited")

    waiter = spawn(wait)
    pass_through(e, cpu)
    assert log == []
    gate.set()
    waiter.finish()
    assert log == ["b", "waited"]


def test_wait_for_all_covers_everything(threaded, cpu, cpu1, block, spawn, pass_through):
    """Readers, ops without vars, other devices and async ops too."""
    e, log, done = threaded, [], queue.Queue()
    var = e.new_variable()
    gate = block(e, cpu, (var,))
    e.push_sync(lambda rc: log.append("sync"), cpu1, (), (var,))
    e.push_async(lambda rc, on_complete: done.put(on_complete), cpu1)

    def wait():
        e.wait_for_all()
        log.append("waited")

    waiter = spawn(wait)
    pass_through(e, cpu1)
    assert log == []
    gate.set()
    e.wait_for_var(var)
    assert log == ["sync"]
    done.get(timeout=10)()
    waiter.finish()
    assert log == ["sync", "waited"]


def test_wait_for_all_covers_what_pending_ops_push(threaded, cpu, gate):
    """As in MXNet, where it waits until nothing is pending: the inner op is work of the outer."""
    e, log, go = threaded, [], gate()

    def inner(rc):
        go.wait()
        log.append("inner")

    def outer(rc):
        e.push_sync(inner, cpu)
        log.append("outer")
        threading.Timer(0.1, go.set).start()

    e.push_sync(outer, cpu)
    e.wait_for_all()
    assert log == ["outer", "inner"]


def test_all_waiters_wake(threaded, cpu, block, spawn):
    var = threaded.new_variable()
    gate = block(threaded, cpu, (), (var,))
    waiters = [spawn(threaded.wait_for_var, var) for _ in range(10)]
    waiters += [spawn(threaded.wait_for_all) for _ in range(5)]
    gate.set()
    for waiter in waiters:
        waiter.finish()


def test_waiter_does_not_run_python_callables(threaded, cpu, block, spawn):
    """It helps with native ops only: a callable could block it, or need its locks."""
    e, ident = threaded, []
    var = e.new_variable()
    gates = [block(e, cpu), block(e, cpu)]
    e.push_sync(lambda rc: ident.append(threading.get_ident()), cpu, (), (var,))

    def wait():
        e.wait_for_var(var)
        return threading.get_ident()

    waiter = spawn(wait)
    for gate in gates:
        gate.set()
    mine = waiter.finish()
    e.wait_for_var(var)
    assert len(ident) == 1
    assert ident[0] not in (mine, threading.get_ident())


def test_wait_releases_the_gil(threaded, cpu):
    """Only a Python thread can open this gate."""
    var, opened = threaded.new_variable(), threading.Event()
    threaded.push_sync(lambda rc: opened.wait(20), cpu, (), (var,))
    timer = threading.Timer(0.1, opened.set)
    timer.start()
    threaded.wait_for_var(var)
    assert opened.is_set()


def test_push_returns_before_the_op_runs(threaded, cpu, gate):
    go, var = gate(), threaded.new_variable()
    for _ in range(1000):
        threaded.push_sync(lambda rc: go.wait(), cpu, (), (var,))
    assert not go.is_set() and var.version == 0
    go.set()
    threaded.wait_for_var(var)
    assert var.version == 1000


def test_naive_engine_runs_at_the_call(naive, cpu):
    ident, var = [], naive.new_variable()
    naive.push_sync(lambda rc: ident.append(threading.get_ident()), cpu, (), (var,))
    assert ident == [threading.get_ident()] and var.version == 1


# --- inside an op --------------------------------------------------------------------------


def test_waiting_for_its_own_output_is_an_error(any_engine, cpu):
    e, said = any_engine, []
    var, other = e.new_variable(), e.new_variable()

    def fn(rc):
        with pytest.raises(RuntimeError) as info:
            e.wait_for_var(var)
        said.append(str(info.value))

    e.push_sync(fn, cpu, (other,), (other, var))
    e.wait_for_var(var)
    assert len(said) == 1 and said[0]


def test_wait_for_all_inside_an_op_is_an_error(any_engine, cpu):
    e, said = any_engine, []
    var = e.new_variable()

    def fn(rc):
        with pytest.raises(RuntimeError) as info:
            e.wait_for_all()
        said.append(str(info.value))

    e.push_sync(fn, cpu, (), (var,))
    e.wait_for_var(var)
    assert len(said) == 1 and said[0]


def test_uncaught_it_is_the_ops_error(threaded, cpu):
    a, b = threaded.new_variable(), threaded.new_variable()
    threaded.push_sync(lambda rc: threaded.wait_for_var(a), cpu, (), (a,))
    threaded.push_sync(lambda rc: threaded.wait_for_all(), cpu, (), (b,))
    for var in (a, b):
        with pytest.raises(RuntimeError):
            threaded.wait_for_var(var)


@pytest.mark.parametrize("prop", ["NORMAL", "ASYNC"])
def test_the_same_inside_an_async_op(prop, threaded, cpu):
    e, said = threaded, []
    var = e.new_variable()

    def fn(rc, on_complete):
        for wait in (lambda: e.wait_for_var(var), e.wait_for_all):
            with pytest.raises(RuntimeError):
                wait()
            said.append(1)
        on_complete()

    e.push_async(fn, cpu, (), (var,), prop=getattr(FnProperty, prop))
    e.wait_for_var(var)
    assert said == [1, 1]


def test_an_op_may_wait_for_what_it_reads(any_engine, cpu):
    e, seen = any_engine, []
    a, b = e.new_variable(), e.new_variable()
    e.push_sync(lambda rc: seen.append("a"), cpu, (), (a,))

    def fn(rc):
        e.wait_for_var(a)
        seen.append("b")

    e.push_sync(fn, cpu, (a,), (b,))
    e.wait_for_var(b)
    assert seen == ["a", "b"]


def test_wait_inside_an_op_covers_earlier_writers_only(threaded, cpu, gate):
    """A later writer may itself wait for this op: waiting for it could not end."""
    e, log, go = threaded, [], gate()
    var, out = e.new_variable(), e.new_variable()
    e.push_sync(lambda rc: (go.wait(), log.append("earlier")), cpu, (), (var,))

    def fn(rc):
        go.wait()
        e.wait_for_var(var)
        log.append("op")

    e.push_sync(fn, cpu, (), (out,))
    e.push_sync(lambda rc: log.append("later"), cpu, (out,), (var,))
    go.set()
    e.wait_for_var(var)
    assert log == ["earlier", "op", "later"]


def test_wait_inside_an_op_raises_the_error_there(threaded, cpu):
    e, caught = threaded, []
    bad, good, out = e.new_variable(), e.new_variable(), e.new_variable()
    e.push_sync(lambda rc: {}["missing"], cpu, (), (bad,))

    def careful(rc):
        with pytest.raises(KeyError, match="missing"):
            e.wait_for_var(bad)
        caught.append(1)

    e.push_sync(careful, cpu, (), (good,))
    e.push_sync(lambda rc: e.wait_for_var(bad), cpu, (), (out,))
    e.wait_for_var(good)
    assert caught == [1]
    with pytest.raises(KeyError, match="missing"):
        e.wait_for_var(out)


@pytest.mark.parametrize("kind", ["ThreadedEnginePooled", "ThreadedEnginePerDevice"])
@pytest.mark.parametrize("workers", [1, 2])
def test_many_more_waiting_ops_than_workers(kind, workers, make_engine, cpu):
    """Each op waits in its worker for an op that can only run after all of them wait."""
    e, n = make_engine(kind, workers), 16
    start, outs = e.new_variable(), [e.new_variable() for _ in range(n)]
    vs = [e.new_variable() for _ in range(n)]
    value, seen, held = [0] * n, [0] * n, []
    running, holding = threading.Semaphore(0), threading.Event()

    def hold(rc, on_complete):
        held.append(on_complete)
        holding.set()

    e.push_async(hold, cpu, (), (start,))
    for i in range(n):
        e.push_sync(lambda rc, i=i: value.__setitem__(i, i + 1), cpu, (start,), (vs[i],))

    def wait_inside(rc, i):
        running.release()
        e.wait_for_var(vs[i])
        seen[i] = value[i]

    for i in range(n):
        e.push_sync(lambda rc, i=i: wait_inside(rc, i), cpu, (), (outs[i],))
    for _ in range(n):
        assert running.acquire(timeout=20), "a waiting op kept its worker"
    assert holding.wait(20)
    held[0]()
    e.wait_for_all()
    assert seen == list(range(1, n + 1))


def test_spare_threads_go_when_the_wait_is_over(single, cpu):
    """Afterwards one worker means one op at a time again."""
    e, held, waiting = single, [], threading.Event()
    start, var = e.new_variable(), e.new_variable()
    e.push_async(lambda rc, on_complete: held.append(on_complete), cpu, (), (start,))
    e.push_sync(lambda rc: None, cpu, (start,), (var,))

    def wait_inside(rc):
        waiting.set()
        e.wait_for_var(var)

    e.push_sync(wait_inside, cpu)
    assert waiting.wait(20)
    held[0]()
    e.wait_for_all()
    e.trace_start()
    for _ in range(20):
        e.push_sync(lambda rc: time.sleep(0.002), cpu)  # long enough for a second one to start
    e.wait_for_all()
    spans = sorted((r["start"], r["end"]) for r in e.trace_stop())
    assert len(spans) == 20
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))


def test_waiting_for_another_engine_inside_an_op(single, make_engine, cpu):
    """It blocks the worker just as well: the op that ends the wait is queued behind it."""
    e, other, held = single, make_engine("ThreadedEnginePooled", 1), []
    var = other.new_variable()
    other.push_async(lambda rc, oc: held.append(oc), cpu, (), (var,), prop=FnProperty.ASYNC)
    e.push_sync(lambda rc: other.wait_for_var(var), cpu)
    e.push_sync(lambda rc: held[0](), cpu)
    try:
        e.wait_for_all()
    finally:
        try:
            held[0]()  # lets a failed test end
        except RuntimeError:
            pass


def test_waiting_inside_an_op_for_what_it_pushed_ends(any_engine, cpu):
    """Whether or not that wait covers the inner op."""
    e, out = any_engine, any_engine.new_variable()

    def fn(rc):
        var = e.new_variable()
        e.push_sync(lambda rc: None, cpu, (), (var,))
        e.wait_for_var(var)

    for _ in range(20):
        e.push_sync(fn, cpu, (), (out,))
    e.wait_for_var(out)
    assert out.version == 20


def test_wait_inside_an_op_behind_a_long_queue(script):
    """The check that the wait can end must neither recurse over the queue nor take its square."""
    run = script("""
e = engine.ThreadedEnginePooled(num_workers=2)
v, out = e.new_variable(), e.new_variable()
op = e.new_operator(lambda rc: None, (), (v,))

def seconds(wait):
    go = threading.Event()
    e.push_sync(lambda rc: go.wait(15), cpu, (), (v,))
    for _ in range(50000):
        e.push(op, cpu)
    threading.Timer(0.2, go.set).start()
    begin = time.monotonic()
    wait()
    return time.monotonic() - begin

def inside():
    e.push_sync(lambda rc: e.wait_for_var(v), cpu, (), (out,))
    e.wait_for_var(out)

outside = seconds(lambda: e.wait_for_var(v))
print(v.version, any(seconds(inside) < 3 * outside + 1 for _ in range(5)))
""")
    assert (run.returncode, run.stdout.strip()) == (0, "50001 True"), run.stderr


def test_waits_nested_in_pushed_ops(single, cpu):
    """Ops that push ops that wait for the outputs of other ops, on one worker."""
    e, log = single, []
    vs = [e.new_variable() for _ in range(6)]

    def outer(rc, i):
        e.push_sync(lambda rc: e.wait_for_var(vs[i]), cpu)
        log.append(i)

    for i in range(6):
        e.push_sync(lambda rc, i=i: outer(rc, i), cpu, (), (vs[i],))
    e.wait_for_all()
    assert sorted(log) == list(range(6))


# --- pushing from inside an op -------------------------------------------------------------


def test_op_pushed_inside_an_op_on_its_own_output_runs_after_it(threaded, cpu):
    e, log = threaded, []
    var = e.new_variable()

    def outer(rc):
        e.push_sync(lambda rc: log.append("inner"), cpu, (var,), ())
        e.push_sync(lambda rc: log.append("write"), cpu, (), (var,))
        log.append("outer")

    e.push_sync(outer, cpu, (), (var,))
    e.wait_for_all()
    e.wait_for_var(var)
    assert log == ["outer", "inner", "write"] and var.version == 2


def test_op_pushed_inside_an_op_of_the_naive_engine(naive, cpu):
    """It must neither hang nor get lost."""
    log, var = [], naive.new_variable()

    def outer(rc):
        naive.push_sync(lambda rc: log.append("own"), cpu, (), (var,))
        naive.push_sync(lambda rc: log.append("other"), cpu)
        log.append("outer")

    naive.push_sync(outer, cpu, (), (var,))
    naive.wait_for_all()
    assert sorted(log) == ["other", "outer", "own"] and var.version == 2


def test_ops_push_ops_push_ops(any_engine, cpu, eventually):
    e, count = any_engine, [0]
    acc = e.new_variable()

    def spread(rc, depth):
        e.push_sync(lambda rc: count.__setitem__(0, count[0] + 1), cpu, (), (acc,))
        if depth:
            for _ in range(3):
                e.push_sync(lambda rc: spread(rc, depth - 1), cpu)

    e.push_sync(lambda rc: spread(rc, 5), cpu)
    total = sum(3**d for d in range(6))
    eventually(lambda: acc.version == total)
    e.wait_for_all()
    assert count == [total] and acc.version == total


# --- several pushing threads ---------------------------------------------------------------


def test_pushes_from_many_threads(any_engine, cpu, spawn):
    e, count = any_engine, [0]
    var = e.new_variable()

    def add(rc):
        count[0] += 1  # no lock: the variable is what excludes

    def push():
        for _ in range(300):
            e.push_sync(add, cpu, (), (var,))
        e.wait_for_var(var)

    for thread in [spawn(push) for _ in range(4)]:
        thread.finish()
    assert count == [1200] and var.version == 1200


def waited_inside_an_op(spawn, e, cpu, uses, says, push):
    """Has an op that writes one variable wait for another, whose writer was pushed after it."""
    (var, awaited), begun, pushed = uses, threading.Event(), threading.Event()

    def op(rc):
        begun.set()
        pushed.wait(5)
        e.wait_for_var(awaited)
        says()

    thread = spawn(lambda: e.push_sync(op, cpu, (), (var,)))
    assert begun.wait(20)
    push(pushed)
    pushed.set()
    thread.finish()
    e.wait_for_var(var)
    e.wait_for_var(awaited)


def test_an_op_reads_what_was_pushed_after_it(spawn, any_engine, cpu):
    """Undeclared, as a finalizer does that runs inside an op: it is waited for, too."""
    e, seen = any_engine, []
    own, late = e.new_variable(), e.new_variable()

    def write(rc):
        time.sleep(0.1)
        seen.append("written")

    def push(pushed):
        e.push_sync(write, cpu, (), (late,))

    waited_inside_an_op(spawn, e, cpu, (own, late), lambda: seen.append("read"), push)
    assert seen == ["written", "read"]


def test_an_op_does_not_wait_for_what_waits_for_it(spawn, any_engine, cpu):
    """A writer that reads what the op writes has not begun."""
    e, seen = any_engine, []
    var, other = e.new_variable(), e.new_variable()

    def push(pushed):
        if "Naive" in type(e).__name__:  # its push waits for the op
            pushed.set()
        e.push_sync(lambda rc: seen.append("second"), cpu, (var,), (other,))

    waited_inside_an_op(spawn, e, cpu, (var, other), lambda: seen.append("first"), push)
    assert seen == ["first", "second"]


@pytest.mark.parametrize("later", [1, 2, 3])
def test_a_wait_inside_an_op_with_later_ops_that_wait_for_it(threaded, cpu, later):
    """None of them is waited for: what one look found, the next may not take for seen and free."""
    a, b = threaded.new_variable(), threaded.new_variable()
    go, over = threading.Event(), []

    def waits(ctx):
        go.wait(10)
        threaded.wait_for_var(a)
        over.append(True)

    threaded.push_sync(waits, cpu, [], [b])
    threaded.push_sync(lambda ctx: None, cpu, [b], [a])
    for _ in range(later - 1):
        threaded.push_sync(lambda ctx: None, cpu, [], [a])
    go.set()
    done = threading.Thread(target=threaded.wait_for_all, daemon=True)
    done.start()
    done.join(10)
    assert not done.is_alive() and over
