"""delete_variable: after every earlier use, never blocking, always run."""

import gc
import weakref

import pytest

import lazyarray as la


def test_delete_fn_runs_once_with_its_context(any_engine, cpu1):
    seen = []
    any_engine.delete_variable(lambda rc: seen.append(rc.ctx), cpu1, any_engine.new_variable())
    any_engine.wait_for_all()
    assert seen == [cpu1]


def test_delete_fn_may_be_none(any_engine, cpu):
    var = any_engine.new_variable()
    any_engine.push_sync(lambda rc: None, cpu, (), (var,))
    any_engine.delete_variable(None, cpu, var)
    any_engine.wait_for_all()


@pytest.mark.parametrize("use", ["const_vars", "mutable_vars"])
def test_deletion_follows_every_earlier_use(use, threaded, cpu, block, pass_through):
    e, log = threaded, []
    var = e.new_variable()
    gate = block(e, cpu, **{use: (var,)})
    e.push_sync(lambda rc: log.append("use"), cpu, **{use: (var,)})
    e.delete_variable(lambda rc: log.append("delete"), cpu, var)
    pass_through(e, cpu)
    assert "delete" not in log
    gate.set()
    e.wait_for_all()
    assert log == ["use", "delete"]


def test_deletion_never_blocks_the_pusher(threaded, cpu, block):
    """All the workers are busy and all the vars are in use, yet every call returns."""
    e, deleted = threaded, []
    vs = [e.new_variable() for _ in range(100)]
    gates = [block(e, cpu, vs, ()), block(e, cpu, vs, ())]
    for i, var in enumerate(vs):
        e.push_sync(lambda rc: None, cpu, (), (var,))
        e.delete_variable(lambda rc, i=i: deleted.append(i), cpu, var)
    assert deleted == []
    for gate in gates:
        gate.set()
    e.wait_for_all()
    assert sorted(deleted) == list(range(100))


def test_deletion_of_a_poisoned_var_runs(threaded, cpu):
    e, deleted = threaded, []
    a, b = e.new_variable(), e.new_variable()
    e.push_sync(lambda rc: 1 / 0, cpu, (), (a,))
    e.push_sync(lambda rc: None, cpu, (a,), (b,))  # skipped
    for var in (a, b):
        e.delete_variable(lambda rc: deleted.append(1), cpu, var)
    with pytest.raises(ZeroDivisionError):
        e.wait_for_all()
    assert deleted == [1, 1]


def test_deletion_of_a_poisoned_var_runs_in_the_naive_engine(naive, cpu):
    deleted, var = [], naive.new_variable()
    with pytest.raises(ZeroDivisionError):
        naive.push_sync(lambda rc: 1 / 0, cpu, (), (var,))
    naive.delete_variable(lambda rc: deleted.append(1), cpu, var)
    assert deleted == [1]


def test_error_in_delete_fn_is_not_swallowed(threaded, cpu):
    threaded.delete_variable(lambda rc: {}["gone"], cpu, threaded.new_variable())
    with pytest.raises(KeyError, match="gone"):
        threaded.wait_for_all()
    threaded.wait_for_all()


def test_error_in_delete_fn_raises_at_the_call_in_the_naive_engine(naive, cpu):
    with pytest.raises(KeyError, match="gone"):
        naive.delete_variable(lambda rc: {}["gone"], cpu, naive.new_variable())


def test_deletion_inside_an_op(any_engine, cpu, eventually):
    """Also of a variable that the op itself holds."""
    e, log = any_engine, []
    own, other = e.new_variable(), e.new_variable()

    def fn(rc):
        e.delete_variable(lambda rc: log.append("other"), cpu, other)
        e.delete_variable(lambda rc: log.append("own"), cpu, own)
        log.append("op")

    e.push_sync(fn, cpu, (), (own,))
    eventually(lambda: len(log) == 3)
    e.wait_for_all()
    assert sorted(log) == ["op", "other", "own"]
    assert log.index("op") < log.index("own") or type(e).__name__ == "NaiveEngine"


def test_delete_fn_may_push(any_engine, cpu):
    e, log = any_engine, []
    out = e.new_variable()
    e.delete_variable(
        lambda rc: e.push_sync(lambda rc: log.append(1), cpu, (), (out,)), cpu, e.new_variable()
    )
    e.wait_for_all()
    e.wait_for_var(out)
    assert log == [1]


def test_chain_of_deletions_does_not_nest_on_the_stack(threaded, cpu, block):
    """Each deletion is ready when one op ends, all at once."""
    e, count = threaded, [0]
    vs = [e.new_variable() for _ in range(20000)]
    gate = block(e, cpu, vs, ())

    def deleted(rc):
        count[0] += 1

    last = e.new_variable()
    for var in vs:
        e.push_sync(deleted, cpu, (), (var, last))
        e.delete_variable(None, cpu, var)
    gate.set()
    e.wait_for_all()
    assert count == [20000]


class Callable:
    """A callable that a weak reference can watch."""

    def __call__(self, *args):
        if len(args) == 2:
            args[1]()


def test_callables_are_released(any_engine, cpu, eventually):
    e, alive = any_engine, []

    def watch():
        fn = Callable()
        alive.append(weakref.ref(fn))
        return fn

    for _ in range(20):
        var = e.new_variable()
        e.push_sync(watch(), cpu, (), (var,))
        e.push_async(watch(), cpu, (), (var,))
        op = e.new_operator(watch(), (), (var,))
        e.push(op, cpu)
        e.delete_operator(op)
        e.delete_variable(watch(), cpu, var)
    e.wait_for_all()
    del op

    def all_gone():
        e.wait_for_all()  # what a native thread dropped goes at a later call
        gc.collect()
        return not any(ref() for ref in alive)

    assert len(alive) == 80
    eventually(all_gone)


def test_skipped_callables_are_released(threaded, cpu, eventually):
    e, alive = threaded, []
    bad = e.new_variable()
    e.push_sync(lambda rc: 1 / 0, cpu, (), (bad,))
    for push in (e.push_sync, e.push_async):
        fn = Callable()
        alive.append(weakref.ref(fn))
        push(fn, cpu, (bad,))
        del fn
    with pytest.raises(ZeroDivisionError):
        e.wait_for_all()

    def all_gone():
        e.wait_for_all()  # what a native thread dropped goes at a later call
        gc.collect()
        return not any(ref() for ref in alive)

    eventually(all_gone)


def test_observed_error_of_a_deleted_var_is_released(threaded, cpu, eventually):
    """An exception holds frames, and these hold arrays."""

    class Marked(Exception):
        pass

    alive = []

    def fn(rc):
        error = Marked()
        alive.append(weakref.ref(error))
        try:
            raise error
        finally:
            del error

    var = threaded.new_variable()
    threaded.push_sync(fn, cpu, (), (var,))
    with pytest.raises(Marked):
        threaded.wait_for_var(var)
    threaded.delete_variable(None, cpu, var)
    threaded.wait_for_all()
    del var

    def gone():
        threaded.wait_for_all()
        gc.collect()
        return alive[0]() is None

    eventually(gone)


def test_observed_errors_do_not_pile_up(threaded, cpu, eventually):
    """A service that handles each error at its own wait never calls wait_for_all."""

    class Marked(Exception):
        pass

    e, alive, n = threaded, [], 300

    def fn(rc):
        error = Marked()
        alive.append(weakref.ref(error))
        try:
            raise error
        finally:
            del error

    for _ in range(n):
        var = e.new_variable()
        e.push_sync(fn, cpu, (), (var,))
        try:
            e.wait_for_var(var)
        except Marked:
            pass
        e.delete_variable(None, cpu, var)
    del var

    def most_are_gone():
        e.push_sync(lambda rc: None, cpu)
        gc.collect()
        return sum(ref() is not None for ref in alive) < n // 2

    assert len(alive) == n
    eventually(most_are_gone)


def test_a_refused_push_counts_no_write(cpu):
    """Else a gradient would miss values that nobody has overwritten."""
    engine = la.engine.get()
    w = la.ones(3)
    w.attach_grad()
    with la.autograd.record():
        x = w * 2
        y = (x * x).sum()
    gone = engine.new_variable()
    engine.delete_variable(None, cpu, gone)
    with pytest.raises(ValueError, match="deleted"):
        engine.push_sync(lambda ctx: None, cpu, [gone], [x.var])
    y.backward()
    assert w.grad.tolist() == [8, 8, 8]
