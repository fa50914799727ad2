"""The engine's names: construction, devices, the process's engine, bulk, and bad input."""

import itertools
import os
import threading
import time

import pytest

import lazyarray as la
from lazyarray import engine
from lazyarray.engine import FnProperty


def nothing(run_ctx):
    pass


# --- names -----------------------------------------------------------------------------


def test_device_is_a_value():
    a, b = engine.Device("cpu", 0), engine.Device("cpu", 0)
    assert (a.device_type, a.device_id) == ("cpu", 0)
    assert a == b and hash(a) == hash(b)
    assert a != engine.Device("cpu", 1)
    assert a != engine.Device("gpu", 0)
    assert a != "cpu(0)"
    assert len({a, b, engine.Device("cpu", 1)}) == 2


@pytest.mark.parametrize(
    "args, error",
    [
        (("abacus", 0), ValueError),
        (("cpu", -1), ValueError),
        ((3, 0), (TypeError, ValueError)),
        (("cpu", "0"), TypeError),
    ],
)
def test_bad_device(args, error):
    with pytest.raises(error):
        engine.Device(*args)


def test_function_properties_are_distinct():
    names = (
        "NORMAL COPY_FROM_GPU COPY_TO_GPU CPU_PRIORITIZED GPU_PRIORITIZED ASYNC DELETE_VAR NO_SKIP"
    )
    assert len({getattr(FnProperty, name) for name in names.split()}) == 8


@pytest.mark.parametrize("num_workers", [None, 1, 3])
def test_number_of_workers(num_workers, world, cpu):
    """num_workers ops (at least 2 by default) run at once: each waits for the others."""
    n = num_workers or 2
    for kind in ("ThreadedEnginePooled", "ThreadedEnginePerDevice"):
        e = world.make_engine(kind, num_workers)
        meet = threading.Barrier(n)
        for _ in range(n):
            e.push_sync(lambda run_ctx, meet=meet: meet.wait(20), cpu)
        e.wait_for_all()


def test_one_worker_runs_one_op_at_a_time(single, cpu):
    spans = []
    single.trace_start()
    for _ in range(20):
        single.push_sync(lambda rc: time.sleep(0.002), cpu)  # long enough for a second to start
    single.wait_for_all()
    spans = sorted((r["start"], r["end"]) for r in single.trace_stop())
    assert len(spans) == 20
    assert all(a[1] <= b[0] for a, b in itertools.pairwise(spans))


@pytest.mark.parametrize("kind", ["ThreadedEnginePooled", "ThreadedEnginePerDevice"])
@pytest.mark.parametrize("bad, error", [(0, ValueError), (-1, ValueError), ("2", TypeError)])
def test_bad_number_of_workers(kind, bad, error):
    with pytest.raises(error):
        getattr(engine, kind)(num_workers=bad)


def test_run_context(any_engine, cpu, cpu1):
    seen = []
    for ctx in (cpu, cpu1):
        any_engine.push_sync(lambda run_ctx: seen.append(run_ctx.ctx), ctx)
        any_engine.wait_for_all()
    assert seen == [cpu, cpu1]


def test_run_context_numpy_takes_arrays_only(any_engine, cpu):
    def fn(run_ctx):
        with pytest.raises(TypeError):
            run_ctx.numpy(object())
        with pytest.raises(TypeError):
            run_ctx.cupy(object())
        seen.append(True)

    seen = []
    any_engine.push_sync(fn, cpu)
    any_engine.wait_for_all()
    assert seen == [True]


def test_run_context_cupy_is_of_ops_on_a_gpu(cpu):
    x, seen = la.ones(3), []

    def fn(run_ctx):
        with pytest.raises(ValueError, match="this one is on cpu"):
            run_ctx.cupy(x)
        seen.append(True)

    la.engine.get().push_sync(fn, cpu, [x.var])
    la.waitall()
    assert seen == [True]


def test_positional_and_keyword_arguments_mean_the_same(any_engine, cpu):
    e = any_engine
    a, b = e.new_variable(), e.new_variable()
    ran = []
    e.push_sync(lambda rc: ran.append(1), cpu, (a,), (b,), FnProperty.NORMAL, 3, "positional")
    e.push_sync(
        lambda rc: ran.append(2),
        ctx=cpu,
        const_vars=[b],
        mutable_vars=[a],
        prop=FnProperty.NORMAL,
        priority=3,
        name="keyword",
    )
    e.wait_for_all()
    assert ran == [1, 2]
    assert (a.version, b.version) == (1, 1)


# --- the process's engine --------------------------------------------------------------


def test_get_returns_one_engine(spawn):
    assert engine.get() is engine.get()
    assert spawn(engine.get).finish() is engine.get()


def test_default_engine_type(script):
    run = script("print(type(engine.get()).__name__)")
    assert run.stdout.strip() == "ThreadedEnginePerDevice", run.stderr


@pytest.mark.parametrize("kind", ["NaiveEngine", "ThreadedEnginePooled", "ThreadedEnginePerDevice"])
def test_engine_type_from_environment(kind, script):
    code = """
print(type(engine.get()).__name__)
e, main, ran = engine.get(), threading.get_ident(), []
v = e.new_variable()
e.push_sync(lambda rc: ran.append(threading.get_ident() == main), cpu, (), (v,))
e.wait_for_var(v)
print(ran)
"""
    run = script(code, LAZYARRAY_ENGINE_TYPE=kind)
    assert run.stdout.split("\n")[:2] == [kind, f"[{kind == 'NaiveEngine'}]"], run.stderr


def test_unknown_engine_type_names_the_valid_ones(script):
    run = script("engine.get()", LAZYARRAY_ENGINE_TYPE="SteamEngine")
    assert run.returncode == 1
    last = run.stderr.strip().splitlines()[-1]
    assert last.startswith("ValueError"), run.stderr
    for name in ("SteamEngine", "NaiveEngine", "ThreadedEnginePooled", "ThreadedEnginePerDevice"):
        assert name in last


def test_worker_count_from_environment(script):
    """Three ops that meet need three workers; the default is the larger of 2 and the cores."""
    code = """
n = max(2, os.cpu_count()) + 1
meet = threading.Barrier(n)
for _ in range(n):
    engine.get().push_sync(lambda rc: meet.wait(20), cpu)
engine.get().wait_for_all()
print("met")
"""
    workers = str(max(2, os.cpu_count()) + 1)
    run = script(code, LAZYARRAY_CPU_WORKER_NTHREADS=workers)
    assert run.stdout.strip() == "met", run.stderr


@pytest.mark.parametrize("bad", ["0", "-2", "many"])
def test_bad_worker_count_in_the_environment(bad, script):
    run = script("engine.get()", LAZYARRAY_CPU_WORKER_NTHREADS=bad)
    assert run.returncode == 1
    last = run.stderr.strip().splitlines()[-1]
    assert last.startswith("ValueError") and "LAZYARRAY_CPU_WORKER_NTHREADS" in last, run.stderr


@pytest.mark.parametrize(("info", "told"), [("1", True), ("0", False), ("", False), ("many", None)])
def test_the_engine_tells_of_itself(info, told, script):
    run = script("engine.get()", LAZYARRAY_ENGINE_INFO=info)
    if told is None:
        assert "ValueError: LAZYARRAY_ENGINE_INFO='many': an integer is wanted" in run.stderr
    else:
        assert ("lazyarray: ThreadedEngine" in run.stderr) is told and run.returncode == 0


def test_threads_that_get_at_once_get_the_same(script):
    run = script("""
sys.setswitchinterval(1e-6)
start, got = threading.Barrier(24), []
def get():
    start.wait(10)
    got.append(engine.get())
threads = [threading.Thread(target=get) for _ in range(24)]
for t in threads: t.start()
for t in threads: t.join()
print(len(got), len(set(map(id, got))))
""")
    assert run.stdout.split() == ["24", "1"], run.stderr


# --- bulk ------------------------------------------------------------------------------


def test_bulk_sets_and_restores_the_size():
    before = engine.get().bulk_size
    with engine.bulk(7):
        assert engine.get().bulk_size == 7
        with engine.bulk(0):
            assert engine.get().bulk_size == 0
        assert engine.get().bulk_size == 7
    assert engine.get().bulk_size == before
    with pytest.raises(KeyError), engine.bulk(3):
        raise KeyError
    assert engine.get().bulk_size == before


@pytest.mark.parametrize("bad, error", [(-1, ValueError), ("7", TypeError)])
def test_bad_bulk_size(bad, error):
    before = engine.get().bulk_size
    with pytest.raises(error), engine.bulk(bad):
        pass
    assert engine.get().bulk_size == before


def test_opaque_pushes_are_never_bulked(threaded, cpu, gate):
    """The op starts although the bulk is open, nobody waits and it is far from full."""
    ran = gate()
    with engine.bulk(1000):
        threaded.push_sync(lambda rc: ran.set(), cpu)
        ran.wait()


# --- bad input -------------------------------------------------------------------------

PUSHES = {
    "push_sync": lambda e, fn, ctx, *a, **k: e.push_sync(fn, ctx, *a, **k),
    "push_async": lambda e, fn, ctx, *a, **k: e.push_async(fn, ctx, *a, **k),
    "push": lambda e, fn, ctx, *a, priority=0, **k: e.push(
        e.new_operator(fn, *a, **k), ctx, priority
    ),
}


@pytest.fixture(params=PUSHES)
def push(request):
    return PUSHES[request.param]


def never(*args):
    raise AssertionError("a refused op ran")


@pytest.mark.parametrize("fn", [None, 3, "fn", [nothing]])
def test_fn_must_be_callable(fn, push, any_engine, cpu):
    with pytest.raises(TypeError):
        push(any_engine, fn, cpu)


@pytest.mark.parametrize("ctx", [None, 0, "cpu", ("cpu", 0)])
def test_ctx_must_be_a_device(ctx, push, any_engine):
    with pytest.raises(TypeError):
        push(any_engine, never, ctx)


@pytest.mark.parametrize("bad", [5, [None], ["a"], [3], [object()], [[]]])
@pytest.mark.parametrize("where", ["const_vars", "mutable_vars"])
def test_vars_must_be_iterables_of_vars(bad, where, push, any_engine, cpu):
    with pytest.raises(TypeError):
        push(any_engine, never, cpu, **{where: bad})


@pytest.mark.parametrize("bad", ["high", None, 1.5])
def test_priority_must_be_an_int(bad, push, any_engine, cpu):
    with pytest.raises(TypeError):
        push(any_engine, never, cpu, priority=bad)


@pytest.mark.parametrize("bad", [99, -1, "NORMAL", None])
def test_prop_must_be_a_property(bad, push, any_engine, cpu):
    with pytest.raises((TypeError, ValueError)):
        push(any_engine, never, cpu, prop=bad)


def test_name_must_be_a_string(push, any_engine, cpu):
    with pytest.raises(TypeError):
        push(any_engine, never, cpu, name=7)


@pytest.mark.parametrize("where", ["const_vars", "mutable_vars"])
def test_var_of_another_engine(where, push, any_engine, make_engine, cpu):
    foreign = make_engine().new_variable()
    with pytest.raises(ValueError):
        push(any_engine, never, cpu, **{where: [foreign]})


def test_foreign_var_in_the_other_calls(any_engine, make_engine, cpu):
    other = make_engine()
    foreign = other.new_variable()
    for call in (
        lambda: any_engine.wait_for_var(foreign),
        lambda: any_engine.throw(foreign),
        lambda: any_engine.delete_variable(None, cpu, foreign),
    ):
        with pytest.raises(ValueError):
            call()
    other.push_sync(nothing, cpu, (), (foreign,))  # it was not deleted
    other.wait_for_var(foreign)


def test_operator_of_another_engine(any_engine, make_engine, cpu):
    other = make_engine()
    op = other.new_operator(nothing)
    with pytest.raises(ValueError):
        any_engine.push(op, cpu)
    with pytest.raises(ValueError):
        any_engine.delete_operator(op)
    other.push(op, cpu)
    other.delete_operator(op)


@pytest.mark.parametrize("bad", [None, 3, nothing])
def test_not_a_var_and_not_an_operator(bad, any_engine, cpu):
    for call in (
        lambda: any_engine.wait_for_var(bad),
        lambda: any_engine.throw(bad),
        lambda: any_engine.delete_variable(None, cpu, bad),
        lambda: any_engine.push(bad, cpu),
        lambda: any_engine.delete_operator(bad),
    ):
        with pytest.raises(TypeError):
            call()


def test_delete_fn_must_be_callable_or_none(any_engine, cpu):
    var = any_engine.new_variable()
    with pytest.raises(TypeError):
        any_engine.delete_variable(3, cpu, var)
    any_engine.delete_variable(None, cpu, var)  # the refused call has not deleted it


def test_refused_push_leaves_no_trace(any_engine, make_engine, cpu):
    """A push refused for its last var must not stay enqueued on the vars before it."""
    e = any_engine
    good, read = e.new_variable(), e.new_variable()
    foreign = make_engine().new_variable()
    ended = e.new_variable()
    e.delete_variable(None, cpu, ended)
    for bad in (foreign, ended):
        with pytest.raises(ValueError):
            e.push_sync(never, cpu, (read,), (good, bad))
        with pytest.raises(ValueError):
            e.push_sync(never, cpu, (good, bad), (read,))
    with pytest.raises(TypeError):
        e.push_sync(never, cpu, (read,), (good, None))
    other = e.new_variable()
    for _ in range(20):
        e.push_sync(nothing, cpu, (other,), (good,))
        e.push_sync(nothing, cpu, (good,), (other, read))
        e.push_sync(nothing, cpu, (read, good), ())
    e.wait_for_var(good)
    e.wait_for_all()
    assert (good.version, read.version, other.version) == (20, 20, 20)


# --- ended things ----------------------------------------------------------------------


def test_second_deletion_is_a_value_error(any_engine, cpu):
    var = any_engine.new_variable()
    calls = []
    any_engine.delete_variable(lambda rc: calls.append(1), cpu, var)
    with pytest.raises(ValueError):
        any_engine.delete_variable(lambda rc: calls.append(2), cpu, var)
    any_engine.wait_for_all()
    assert calls == [1]


def test_push_on_a_deleted_var_is_a_value_error(push, any_engine, cpu):
    var = any_engine.new_variable()
    any_engine.delete_variable(None, cpu, var)
    with pytest.raises(ValueError):
        push(any_engine, never, cpu, const_vars=[var])
    with pytest.raises(ValueError):
        push(any_engine, never, cpu, mutable_vars=[var])


def test_var_ends_at_the_call_not_when_the_deletion_runs(threaded, cpu, block):
    var = threaded.new_variable()
    gate = block(threaded, cpu, (), (var,))
    threaded.delete_variable(None, cpu, var)
    with pytest.raises(ValueError):
        threaded.push_sync(never, cpu, (var,))
    with pytest.raises(ValueError):
        threaded.delete_variable(None, cpu, var)
    gate.set()
    threaded.wait_for_all()


def test_operator_whose_var_was_deleted(any_engine, cpu):
    var = any_engine.new_variable()
    op = any_engine.new_operator(never, (), (var,))
    any_engine.delete_variable(None, cpu, var)
    with pytest.raises(ValueError):
        any_engine.push(op, cpu)
    any_engine.delete_operator(op)
