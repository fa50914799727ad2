"""FnProperty: that each kind runs and keeps order; its queue; priorities; inline execution."""

import threading

import pytest

from lazyarray.engine import FnProperty

ALL = "NORMAL COPY_FROM_GPU COPY_TO_GPU CPU_PRIORITIZED GPU_PRIORITIZED ASYNC DELETE_VAR NO_SKIP"
EVERY = pytest.mark.parametrize("prop", ALL.split())
REPEATABLE = pytest.mark.parametrize("prop", [p for p in ALL.split() if p != "DELETE_VAR"])


@REPEATABLE
def test_each_kind_runs_sync(prop, any_engine, cpu):
    e, seen = any_engine, []
    var = e.new_variable()
    prop = getattr(FnProperty, prop)
    for i in range(20):
        e.push_sync(lambda rc, i=i: seen.append(i), cpu, (), (var,), prop=prop, priority=-i)
    e.wait_for_var(var)
    assert seen == list(range(20)) and var.version == 20


@REPEATABLE
def test_each_kind_runs_async(prop, any_engine, cpu):
    e, seen = any_engine, []
    var = e.new_variable()
    prop = getattr(FnProperty, prop)

    def fn(rc, on_complete, i):
        def finish():
            seen.append(i)
            on_complete()

        threading.Thread(target=finish).start()

    for i in range(10):
        e.push_async(lambda rc, oc, i=i: fn(rc, oc, i), cpu, (), (var,), prop=prop)
    e.wait_for_var(var)
    assert seen == list(range(10)) and var.version == 10


@REPEATABLE
def test_each_kind_as_an_operator(prop, any_engine, cpu):
    e, seen = any_engine, []
    var = e.new_variable()
    op = e.new_operator(lambda rc: seen.append(1), (), (var,), getattr(FnProperty, prop))
    for _ in range(20):
        e.push(op, cpu, priority=2)
    e.delete_operator(op)
    e.wait_for_var(var)
    assert len(seen) == 20 and var.version == 20


def test_delete_var_ends_what_it_writes(any_engine, cpu):
    """Pushed by hand, it is what delete_variable pushes: the last use of its variables."""
    e, seen = any_engine, []
    a, b = e.new_variable(), e.new_variable()
    e.push_sync(lambda rc: seen.append(1), cpu, (), (a, b), prop=FnProperty.DELETE_VAR)
    e.wait_for_all()
    assert seen == [1]
    for var in (a, b):
        with pytest.raises(ValueError):
            e.push_sync(lambda rc: None, cpu, (), (var,))
        with pytest.raises(ValueError):
            e.delete_variable(None, cpu, var)


@EVERY
def test_each_kind_waits_for_its_inputs(prop, threaded, cpu, block, pass_through):
    """The inline kinds too: inline only when ready."""
    e, seen = threaded, []
    var, out = e.new_variable(), e.new_variable()
    gate = block(e, cpu, (), (var,))
    e.push_sync(lambda rc: seen.append(1), cpu, (var,), (out,), prop=getattr(FnProperty, prop))
    pass_through(e, cpu)
    assert seen == []
    gate.set()
    e.wait_for_var(out)
    assert seen == [1]


def test_normal_ops_leave_the_pushers_thread(threaded, cpu):
    ident, var = [], threaded.new_variable()
    threaded.push_sync(lambda rc: ident.append(threading.get_ident()), cpu, (), (var,))

    def fn(rc, on_complete):
        ident.append(threading.get_ident())
        on_complete()

    threaded.push_async(fn, cpu, (), (var,))
    threaded.wait_for_var(var)
    assert len(ident) == 2 and threading.get_ident() not in ident


def test_ready_async_op_runs_inline(threaded, cpu, block):
    """At the call, in the pusher's thread, though no worker is free."""
    gates = [block(threaded, cpu), block(threaded, cpu)]
    seen = []

    def fn(rc, on_complete):
        seen.append(threading.get_ident())
        on_complete()

    threaded.push_async(fn, cpu, prop=FnProperty.ASYNC)
    assert seen == [threading.get_ident()]
    for gate in gates:
        gate.set()


def test_ready_deletion_runs_inline(threaded, cpu, block):
    gates = [block(threaded, cpu), block(threaded, cpu)]
    seen = []
    threaded.delete_variable(
        lambda rc: seen.append(threading.get_ident()), cpu, threaded.new_variable()
    )
    assert seen == [threading.get_ident()]
    for gate in gates:
        gate.set()


def test_inline_error_is_kept_for_the_wait(threaded, cpu):
    """Where a program fails does not depend on what happened to be ready."""
    var = threaded.new_variable()
    threaded.push_sync(lambda rc: 1 / 0, cpu, (), (var,), prop=FnProperty.ASYNC)
    with pytest.raises(ZeroDivisionError):
        threaded.wait_for_var(var)


# --- queues --------------------------------------------------------------------------------


def test_normal_queue_is_first_in_first_out(single, cpu, block):
    log, gate = [], block(single, cpu)
    for i in range(50):
        single.push_sync(lambda rc, i=i: log.append(i), cpu)
    assert log == []
    gate.set()
    single.wait_for_all()
    assert log == list(range(50))


def test_normal_queue_takes_no_account_of_priority(single, cpu, block):
    log, gate = [], block(single, cpu)
    for i in range(50):
        single.push_sync(lambda rc, i=i: log.append(i), cpu, priority=(i * 7) % 11)
    gate.set()
    single.wait_for_all()
    assert log == list(range(50))


def test_deletion_jumps_the_queue(single, cpu, block):
    """Memory goes as soon as it can: before ops that were queued long before it was ready."""
    log, var = [], single.new_variable()
    gate = block(single, cpu, (var,))
    for i in range(3):
        single.push_sync(lambda rc, i=i: log.append(i), cpu)
    single.delete_variable(lambda rc: log.append("delete"), cpu, var)
    gate.set()
    single.wait_for_all()
    assert log == ["delete", 0, 1, 2]


def test_priority_queue_runs_the_highest_first(script):
    code = """
e, log, gate, started = engine.get(), [], threading.Event(), threading.Event()
P = engine.FnProperty.CPU_PRIORITIZED
e.push_sync(lambda rc: (started.set(), gate.wait(20)), cpu, prop=P)
assert started.wait(20)
for p in (1, 50, -3, 0, 7, -20, 49):
    ctx = engine.Device("cpu", p % 2)  # the devices share the priority pool
    e.push_sync(lambda rc, p=p: log.append(p), ctx, prop=P, priority=p)
assert log == []
gate.set()
e.wait_for_all()
print(log)
"""
    run = script(code, LAZYARRAY_CPU_PRIORITY_NTHREADS="1")
    assert run.stdout.strip() == "[50, 49, 7, 1, 0, -3, -20]", run.stderr


def test_priority_pool_has_four_threads(script):
    code = """
meet = threading.Barrier(4)
for _ in range(4):
    engine.get().push_sync(lambda rc: meet.wait(20), cpu, prop=engine.FnProperty.CPU_PRIORITIZED)
engine.get().wait_for_all()
print("met")
"""
    run = script(code)
    assert run.stdout.strip() == "met", run.stderr


def test_prioritized_ops_have_their_own_pool(make_engine, cpu, block):
    e = make_engine("ThreadedEnginePerDevice", 1)
    var = e.new_variable()
    gate = block(e, cpu)
    e.push_sync(lambda rc: None, cpu, (), (var,), prop=FnProperty.CPU_PRIORITIZED)
    e.wait_for_var(var)
    gate.set()


@pytest.mark.parametrize("prop", ["COPY_TO_GPU", "COPY_FROM_GPU"])
def test_copies_have_their_own_queue_in_the_pooled_engine(prop, make_engine, cpu, block):
    e = make_engine("ThreadedEnginePooled", 1)
    var = e.new_variable()
    gate = block(e, cpu)
    e.push_sync(lambda rc: None, cpu, (), (var,), prop=getattr(FnProperty, prop))
    e.wait_for_var(var)
    gate.set()


def test_devices_have_their_own_pools(make_engine, cpu, cpu1, block):
    e = make_engine("ThreadedEnginePerDevice", 1)
    gates = [block(e, cpu), block(e, cpu1)]
    for gate in gates:
        gate.set()


def test_a_gpu_has_a_normal_a_priority_and_a_copy_pool(script):
    """Of each GPU its own. Without a device its ops run on CPU threads."""
    run = script(
        """
P = engine.FnProperty
e = engine.ThreadedEnginePerDevice()
gpu0, gpu1 = engine.Device("gpu", 0), engine.Device("gpu", 1)
go, started, log = threading.Event(), threading.Semaphore(0), []
def hold(rc):
    started.release()
    go.wait(15)
normal = [(device, P.NORMAL) for device in (gpu0, gpu1, cpu)]
for ctx, prop in [*normal, (gpu0, P.COPY_TO_GPU), (gpu0, P.GPU_PRIORITIZED)]:
    e.push_sync(hold, ctx, prop=prop)
    assert started.acquire(timeout=10), prop
for p in (1, 9, -4, 5):
    e.push_sync(lambda rc, p=p: log.append(p), gpu0, prop=P.GPU_PRIORITIZED, priority=p)
go.set()
e.wait_for_all()
print(log)
""",
        LAZYARRAY_GPU_WORKER_NTHREADS="1",
        LAZYARRAY_GPU_COPY_NTHREADS="1",
        LAZYARRAY_CPU_WORKER_NTHREADS="1",
    )
    assert run.stdout.strip() == "[9, 5, 1, -4]", run.stderr


def test_pooled_devices_share_one_pool(make_engine, cpu, cpu1, block):
    """In push order, whatever the device."""
    e, log = make_engine("ThreadedEnginePooled", 1), []
    gate = block(e, cpu)
    for i in range(20):
        e.push_sync(lambda rc, i=i: log.append(i), (cpu, cpu1)[i % 2])
    assert log == []
    gate.set()
    e.wait_for_all()
    assert log == list(range(20))


# --- skipping ------------------------------------------------------------------------------


def test_no_skip_runs_on_poisoned_vars(threaded, cpu):
    e, seen = threaded, []
    a, b = e.new_variable(), e.new_variable()
    e.push_sync(lambda rc: 1 / 0, cpu, (), (a, b))
    e.push_sync(lambda rc: seen.append("read"), cpu, (a,), (), prop=FnProperty.NO_SKIP)
    e.push_sync(lambda rc: seen.append("write"), cpu, (a,), (b,), prop=FnProperty.NO_SKIP)
    with pytest.raises(ZeroDivisionError):
        e.wait_for_all()
    assert sorted(seen) == ["read", "write"] and b.version == 2
    with pytest.raises(ZeroDivisionError):
        e.wait_for_var(a)  # reading, skipped or not, heals nothing


@pytest.mark.parametrize("prop", [p for p in ALL.split() if p not in ("NO_SKIP", "DELETE_VAR")])
@pytest.mark.parametrize("how", ["const_vars", "mutable_vars"])
def test_every_other_kind_is_skipped(prop, how, threaded, cpu):
    e, ran = threaded, []
    bad, out = e.new_variable(), e.new_variable()
    e.push_sync(lambda rc: 1 / 0, cpu, (), (bad,))
    sets = {"mutable_vars": [out]}
    sets[how] = [bad, *sets.get(how, ())]
    e.push_sync(lambda rc: ran.append(1), cpu, prop=getattr(FnProperty, prop), **sets)
    with pytest.raises(ZeroDivisionError):
        e.wait_for_var(out)
    assert ran == []


def test_skipped_async_op_completes(threaded, cpu):
    """Its callable never runs, so nobody else would complete it."""
    e, ran = threaded, []
    bad, out = e.new_variable(), e.new_variable()
    e.push_sync(lambda rc: 1 / 0, cpu, (), (bad,))
    e.push_async(lambda rc, on_complete: ran.append(1), cpu, (bad,), (out,))
    with pytest.raises(ZeroDivisionError):
        e.wait_for_var(out)
    assert ran == [] and out.version == 1
