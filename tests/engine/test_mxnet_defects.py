"""What MXNet 1.9.1's engine got wrong, each under its name.

The rows about arrays (views, overlap, protocols, autograd, DLPack, the memory budget) are tested
with the arrays.
"""

import threading

import pytest

from lazyarray import engine


class Boom(Exception):
    pass


def boom(run_ctx):
    raise Boom


def test_crossed_pushes_from_two_threads_hang(threaded, cpu, spawn):
    e, count = threaded, [0, 0]
    a, b = e.new_variable(), e.new_variable()
    start = threading.Barrier(2)

    def push(i, reads, writes):
        def add(rc):
            count[i] += 1

        start.wait(20)
        for _ in range(1500):
            e.push_sync(add, cpu, (reads,), (writes,))

    threads = [spawn(push, 0, a, b), spawn(push, 1, b, a)]
    for thread in threads:
        thread.finish()
    e.wait_for_all()
    assert count == [1500, 1500] and (a.version, b.version) == (1500, 1500)


def test_crossed_writes_of_many_vars_hang(threaded, cpu, spawn):
    """Both write both, named in opposite orders."""
    e = threaded
    vs = [e.new_variable() for _ in range(8)]
    start = threading.Barrier(2)

    def push(order):
        start.wait(20)
        for _ in range(800):
            e.push_sync(lambda rc: None, cpu, (), order)

    for thread in [spawn(push, vs), spawn(push, vs[::-1])]:
        thread.finish()
    e.wait_for_all()
    assert [v.version for v in vs] == [1600] * 8


def test_wait_on_one_device_waits_for_another(make_engine, cpu, cpu1, block):
    """25 ops of cpu(0), that do not even run, against one of cpu(1)."""
    e, seen = make_engine("ThreadedEnginePerDevice", 2), []
    gates = [block(e, cpu), block(e, cpu)]
    for _ in range(25):
        e.push_sync(lambda rc: None, cpu, (), (e.new_variable(),))
    var = e.new_variable()
    e.push_sync(lambda rc: seen.append(1), cpu1, (), (var,))
    e.wait_for_var(var)
    assert seen == [1]
    for gate in gates:
        gate.set()


def test_wait_waits_for_unrelated_ops_of_the_same_device(threaded, cpu, block):
    gate, var = block(threaded, cpu), threaded.new_variable()
    for _ in range(25):
        threaded.push_sync(lambda rc: None, cpu, (), (var,))
    threaded.wait_for_var(var)
    assert var.version == 25
    gate.set()


def test_deletion_of_a_poisoned_var_is_skipped(threaded, cpu):
    e, deleted = threaded, []
    for i in range(200):
        a, b = e.new_variable(), e.new_variable()
        e.push_sync(boom, cpu, (), (a,))
        e.push_sync(lambda rc: None, cpu, (a,), (b,))
        e.delete_variable(lambda rc, i=i: deleted.append(i), cpu, a)
        e.delete_variable(lambda rc, i=i: deleted.append(i), cpu, b)
    with pytest.raises(Boom):
        e.wait_for_all()
    assert sorted(deleted) == sorted([*range(200), *range(200)])


def test_first_observer_eats_the_error(threaded, cpu):
    e = threaded
    a, siblings = e.new_variable(), [e.new_variable() for _ in range(3)]
    e.push_sync(boom, cpu, (), (a,))
    for var in siblings:
        e.push_sync(lambda rc: None, cpu, (a,), (var,))
    for var in [*siblings, a, *siblings]:
        with pytest.raises(Boom):
            e.wait_for_var(var)


def test_error_observed_by_wait_for_all_leaves_garbage_readable(threaded, cpu):
    e, ran = threaded, []
    a, b = e.new_variable(), e.new_variable()
    e.push_sync(boom, cpu, (), (a,))
    with pytest.raises(Boom):
        e.wait_for_all()
    e.push_sync(lambda rc: ran.append(1), cpu, (a,), (b,))
    with pytest.raises(Boom):
        e.wait_for_var(b)
    assert ran == []


def test_one_failure_in_a_bulk_poisons_the_whole_bulk(threaded, cpu):
    e, ran = threaded, []
    vs = [e.new_variable() for _ in range(10)]
    with engine.bulk(15):
        for i, var in enumerate(vs):
            e.push_sync(boom if i == 4 else lambda rc, i=i: ran.append(i), cpu, (), (var,))
        dependent = e.new_variable()
        e.push_sync(lambda rc: ran.append("dependent"), cpu, (vs[4],), (dependent,))
    for i, var in enumerate(vs):
        if i != 4:
            e.wait_for_var(var)
    for var in (vs[4], dependent):
        with pytest.raises(Boom):
            e.wait_for_var(var)
    assert sorted(ran) == [0, 1, 2, 3, 5, 6, 7, 8, 9]


def test_open_bulk_is_invisible_to_other_threads(spawn, cpu):
    e, box = engine.get(), [0]
    var = e.new_variable()
    with engine.bulk(1000):
        e.push_sync(lambda rc: box.__setitem__(0, 1), cpu, (), (var,))

        def read():
            e.wait_for_var(var)
            return box[0]

        assert spawn(read).finish() == 1
        spawn(e.push_sync, lambda rc: box.__setitem__(0, box[0] + 1), cpu, (), (var,)).finish()
        e.wait_for_var(var)
        assert box == [2]


def test_queued_work_is_dropped_at_exit(script):
    run = script("""
e = engine.get()
v = e.new_variable()
e.push_sync(lambda rc: time.sleep(0.2), cpu, (), (v,))
for i in range(20):
    e.push_sync(lambda rc, i=i: print(i), cpu, (), (v,))
""")
    assert run.stdout.split() == [str(i) for i in range(20)]
    assert run.returncode == 0


def test_error_is_dropped_at_exit(script):
    run = script("""
e = engine.get()
v = e.new_variable()
e.push_sync(lambda rc: time.sleep(0.1), cpu, (), (v,))
e.push_sync(lambda rc: {}["the missing key"], cpu, (), (v,))
""")
    assert "KeyError" in run.stderr and "the missing key" in run.stderr


def test_fork_with_a_pending_error_kills_the_process(script):
    run = script("""
e = engine.get()
v = e.new_variable()
e.push_sync(lambda rc: {}["the missing key"], cpu, (), (v,))
pid = fork()
w, out = e.new_variable(), []
e.push_sync(lambda rc: out.append("works"), cpu, (), (w,))
e.wait_for_var(w)
if pid == 0:
    os._exit(0 if out == ["works"] else 1)
try:
    e.wait_for_var(v)
except KeyError:
    print(exit_code(pid), out)
""")
    assert (run.returncode, run.stdout.strip()) == (0, "0 ['works']"), run.stderr


def test_wait_inside_a_worker_deadlocks(make_engine, cpu):
    """All workers wait for ops that only a worker can run."""
    for kind in ("ThreadedEnginePooled", "ThreadedEnginePerDevice"):
        e, n, held = make_engine(kind, 2), 8, []
        running, holding = threading.Semaphore(0), threading.Event()
        start, vs = e.new_variable(), [e.new_variable() for _ in range(n)]

        def hold(rc, on_complete, held=held, holding=holding):
            held.append(on_complete)
            holding.set()

        e.push_async(hold, cpu, (), (start,))
        for var in vs:
            e.push_sync(lambda rc: None, cpu, (start,), (var,))

        def wait_inside(rc, var, e=e, running=running):
            running.release()
            e.wait_for_var(var)

        for var in vs:
            e.push_sync(lambda rc, var=var, f=wait_inside: f(rc, var), cpu)
        for _ in range(n):
            assert running.acquire(timeout=20)
        assert holding.wait(20)
        held[0]()
        e.wait_for_all()


def test_waiting_for_its_own_output_deadlocks(threaded, cpu):
    """A clear error instead."""
    var = threaded.new_variable()
    threaded.push_sync(lambda rc: threaded.wait_for_var(var), cpu, (), (var,))
    with pytest.raises(RuntimeError, match="own"):
        threaded.wait_for_var(var)
