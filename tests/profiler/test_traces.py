"""The file: operators with their times, lines, ops, bytes and arrows; waits; tracks; counters."""

import contextlib
import inspect
import threading
import time

import numpy as np
import pytest

import lazyarray as la
from lazyarray.engine import Device, FnProperty
from lazyarray.lazy import _lazy
from lazyarray.lazy.cpu.jit._tier import compiled_loops

from .reading import NAIVE, Trace, program

threaded = pytest.mark.skipif(NAIVE, reason="needs workers")
CPU = Device("cpu", 0)


def here():
    return inspect.currentframe().f_back.f_lineno


def test_an_operator_has_its_times_line_ops_and_bytes(profiled):
    x = la.random.uniform(size=(300, 300))
    x.wait_to_read()
    line = []

    def work():
        line.append(here() + 1)
        y = x @ x
        y.wait_to_read()

    trace = profiled(work)
    op = trace.one("operator", "matmul")
    assert op["args"]["line"] == f"{__file__}:{line[0]} in work"
    assert op["args"]["ops"] == [f"matmul test_traces.py:{line[0]}"]
    assert op["args"]["bytes"] == 3 * x.nbytes
    assert op["args"]["GB/s"] == pytest.approx(3 * x.nbytes / op["dur"] / 1e3, rel=0.01, abs=0.001)
    assert op["args"]["device"] == "cpu(0)" and "skipped" not in op["args"]


@pytest.fixture
def unhurried():
    """No idle worker takes what is recorded before all of it is there."""
    old = _lazy._set_policy("age_ns", 1e15)
    yield
    _lazy._set_policy("age_ns", old)


def test_a_fused_operator_names_what_it_fuses(profiled, unhurried):
    x = la.random.uniform(size=1_000_000)
    x.wait_to_read()

    def work():
        with la.engine.bulk(64):
            y = la.sqrt(x * 2 + 1)
        y.wait_to_read()

    op = profiled(work).one("operator", "multiply+add+sqrt")
    assert op["args"]["fused passes"] == 1 and op["args"]["temporaries never made"] == 2
    assert op["args"]["bytes"] == 2 * x.nbytes
    assert [text.split()[0] for text in op["args"]["ops"]] == ["multiply", "add", "sqrt"]


@threaded
def test_ops_that_repeat_are_told_once(profiled):
    x = la.ones(10)
    hold = []
    la.engine.get().push_async(lambda rc, done: hold.append(done), CPU, mutable_vars=[x.var])
    while not hold:
        time.sleep(0.001)

    def work():
        for _ in range(300):
            x.__iadd__(1)
        threading.Timer(0.02, hold[0]).start()

    trace = profiled(work)
    assert x[0].item() == 301
    texts = [text for op in trace.of("operator") for text in op["args"]["ops"]]
    assert {text.rsplit(",")[0] for text in texts} == {texts[0].rsplit(",")[0]}
    assert sum(int(text.split()[-2]) for text in texts if "times" in text) >= 256


@threaded
def test_arrows_follow_the_dependencies(profiled):
    x = la.random.uniform(size=(400, 400))
    x.wait_to_read()

    def work():
        a = x @ x
        b = a @ x
        c = a @ a
        d = b @ c
        d.wait_to_read()

    trace = profiled(work)
    a, b, c, d = (
        op["args"]["seq"] for op in sorted(trace.operators(), key=lambda e: e["args"]["seq"])
    )
    assert trace.edges() == {(a, b), (a, c), (b, d), (c, d)}


def test_arrows_from_what_is_over(profiled):
    """The writer is known when the reader is pushed, though it has ended; a dead array's is not."""
    x = la.random.uniform(size=(300, 300))
    x.wait_to_read()

    def work():
        y = x @ x
        y.wait_to_read()
        z = y @ y
        z.wait_to_read()
        del y, z
        w = x @ x  # takes the memory of one that depended on another
        w.wait_to_read()

    trace = profiled(work)
    first, second, third = sorted(op["args"]["seq"] for op in trace.operators())
    assert trace.edges() == {(first, second)} and third


def test_arrows_of_reads_and_writes(profiled):
    e = la.engine.get()
    var = e.new_variable()
    gate = threading.Event()

    def work():
        wait = (lambda rc: None) if NAIVE else (lambda rc: gate.wait(10))
        e.push_sync(wait, CPU, (), (var,), name="write")
        for name in ("read1", "read2"):
            e.push_sync(lambda rc: None, CPU, (var,), name=name)
        e.push_sync(lambda rc: None, CPU, (), (var,), name="again")
        gate.set()

    trace = profiled(work)
    seq = {op["name"]: op["args"]["seq"] for op in trace.operators()}
    expected = {("write", "read1"), ("write", "read2"), ("read1", "again"), ("read2", "again")}
    if NAIVE:  # each was over when the next was pushed: the last write is still known
        expected = {("write", "read1"), ("write", "read2"), ("write", "again")}
    assert trace.edges() == {(seq[a], seq[b]) for a, b in expected}


def test_python_functions_have_their_names_and_lines(profiled):
    e = la.engine.get()
    line = []

    def mine(rc):
        time.sleep(0.002)

    def work():
        line.append(here() + 1)
        e.push_sync(mine, CPU)

    op = profiled(work).one("operator", "mine")
    assert op["args"]["line"] == f"{__file__}:{line[0]} in work" and op["dur"] >= 2000


def test_an_operator_that_another_pushed_names_it(profiled):
    e = la.engine.get()

    def outer(rc):
        e.push_sync(lambda rc: None, CPU, name="inner")

    trace = profiled(lambda: e.push_sync(outer, CPU))
    assert (
        trace.one("operator", "inner")["args"]["pushed by"]
        == (trace.one("operator", "outer")["args"]["seq"])
    )


def test_skipped_operators(profiled):
    e = la.engine.get()
    var = e.new_variable()

    def fails(rc):
        raise ValueError("meant")

    def work():
        with contextlib.suppress(ValueError):
            e.push_sync(fails, CPU, (), (var,))
        with contextlib.suppress(ValueError):
            e.push_sync(lambda rc: None, CPU, (var,), name="after")

    trace = profiled(work)
    assert "skipped" not in trace.one("operator", "fails")["args"]
    assert trace.one("operator", "after")["args"]["skipped"]
    with contextlib.suppress(ValueError):  # if its push has not raised it
        la.waitall()


def test_asynchronous_operators_have_streams(profiled):
    """They overlap: each of a device's streams holds one at a time."""
    e, held = la.engine.get(), []

    def work():
        for i in range(3):
            e.push_async(
                lambda rc, done: held.append(done), CPU, name=f"copy{i}", prop=FnProperty.ASYNC
            )
        time.sleep(0.002)
        for done in held:
            done()

    if NAIVE:
        pytest.skip("an asynchronous op is waited for at its push")
    trace = profiled(work)
    tracks = {trace.track(op) for op in trace.operators()}
    assert tracks == {f"cpu(0) stream {i}" for i in range(3)}


@threaded
def test_tracks_of_workers_and_threads(profiled, asked):
    x = la.random.uniform(size=(1200, 1200))
    x.wait_to_read()
    waited, begun = [], threading.Event()

    def elsewhere():
        waited.append(float((x @ x).sum()))

    def work():
        thread = threading.Thread(target=elsewhere, name="the other one")
        thread.start()
        la.engine.get().push_sync(lambda rc: begun.set(), CPU, name="sleeps")
        assert begun.wait(60)  # in a worker: nobody waits for it
        # What the profiler knows of a thread is what it has when its entries are read.
        la.profiler.dump(finished=False)
        la.profiler.marker("still here")
        thread.join()

    trace = profiled(work)
    assert "of cpu(0), normal" in trace.track(trace.one("operator", "sleeps"))
    assert trace.track(trace.one("wait", "float()")).endswith(": waits")
    assert trace.track(trace.one("marker")) == "MainThread"


def test_waits_have_their_line(profiled):
    x = la.random.uniform(size=(300, 300))
    line = []

    def work():
        y = (x @ x).sum()
        line.append(here() + 1)
        float(y)
        la.waitall()

    trace = profiled(work)
    assert trace.one("wait", "waitall")["args"]["line"] == f"{__file__}:{line[0] + 1} in work"
    if not NAIVE:
        wait = trace.one("wait", "float()")
        assert wait["args"]["line"] == f"{__file__}:{line[0]} in work"
        assert trace.track(wait) == "MainThread: waits"


@threaded
def test_a_wait_inside_an_operator_is_on_its_workers_track(profiled):
    x = la.random.uniform(size=(400, 400))
    x.wait_to_read()

    def waits(rc):
        (x @ x @ x @ x @ x).wait_to_read()  # not over before it is waited for

    trace = profiled(lambda: la.engine.get().push_sync(waits, CPU))
    track = trace.track(trace.one("wait", "wait_to_read"))
    assert track.startswith("worker ") and track.endswith(": waits")


def test_memory_that_others_can_touch_is_waited_for(profiled):
    x = la.random.uniform(size=(300, 300))
    seen = np.from_dlpack(x)

    def work():
        x.__iadd__(1)

    trace = profiled(work)
    assert trace.of("wait", "memory that others can touch") or NAIVE
    assert seen[0, 0] >= 1


def test_running_too_far_ahead_is_a_wait(profiled):
    x = la.random.uniform(size=(300, 300))
    x.wait_to_read()
    old = _lazy._set_policy("max_pending_ops", 2)
    try:
        trace = profiled(lambda: [x @ x for _ in range(20)])
    finally:
        _lazy._set_policy("max_pending_ops", old)
    assert NAIVE or trace.of("wait", "too far ahead")


def test_inline_operations_are_on_their_callers_track(profiled):
    x = la.ones(10)
    y = la.ones((2, 3))
    line = []

    def work():
        line.append(here() + 1)
        x.__imul__(2)
        y[1, 2] = 5
        y[0, 1] + 1

    trace = profiled(work)
    op = trace.one("inline", "multiply")
    assert trace.track(op) == "MainThread" and op["args"]["bytes"] == 160
    assert op["args"]["line"] == f"{__file__}:{line[0]} in work"
    assert len(trace.of("inline")) >= 4  # single elements, too
    assert y[1, 2] == 5


def test_counters(profiled):
    x = la.random.uniform(size=(500, 500))
    x.wait_to_read()

    def work():
        y = x @ x
        (y @ y).wait_to_read()

    trace = profiled(work)
    pending, size = trace.counters("pending operators"), trace.counters("pending bytes")
    assert max(pending) >= 1 and pending[-1] == 0 and size[-1] == 0
    assert max(size) >= x.nbytes
    assert max(trace.counters("pool memory in use, cpu(0)")) >= 3 * x.nbytes
    assert not profiled(work, profile_memory=False).counters("pending operators")


def test_what_is_not_asked_for_is_not_recorded(profiled):
    x = la.random.uniform(size=(300, 300))

    def work():
        (x @ x + la.ones(3).sum()).wait_to_read()
        la.profiler.marker("m")

    trace = profiled(work, profile_imperative=False)
    assert not trace.of("operator") and not trace.of("inline") and not trace.arrows()
    assert trace.of("marker") and trace.counters("pending operators")
    bare = profiled(work, profile_all=False)
    assert not bare.of("operator") and not any(e["ph"] == "C" for e in bare.events)
    assert bare.of("marker")


@threaded
def test_workers_that_take_part(profiled):
    x = la.random.uniform(size=8_000_000)
    x.wait_to_read()

    def work():
        for _ in range(5):
            (x * 2 + x / 3).wait_to_read()

    trace = profiled(work)
    joined = trace.of("joined")
    assert joined
    operators = {e["args"]["seq"]: e for e in trace.operators()}
    for e in joined:
        op = operators[e["args"]["takes part in"]]
        assert e["name"] == op["name"] and e["tid"] != op["tid"]
        assert op["ts"] <= e["ts"] and e["ts"] + e["dur"] <= op["ts"] + op["dur"] + 0.002


@threaded
def test_a_little_program_runs_in_its_callers_thread(profiled):
    """A worker would have to be woken, and the caller to wait for it."""
    little, large = la.ones((8, 8)), la.ones(3_000_000)

    @la.compile
    def step(x):
        return (x @ x if x.ndim == 2 else la.sin(x)) * 2 + 1

    def work():
        for _ in range(5):
            step(little)
        step(large).wait_to_read()

    work()
    la.waitall()
    trace = profiled(work)
    *of_little, of_large = [op for op in trace.operators() if not op["name"].startswith("copy")]
    assert {trace.track(op) for op in of_little} == {"MainThread"} and len(of_little) >= 5
    assert of_large["args"]["bytes"] >= 2 * large.nbytes


TAKING_PART = """
import threading, time
e, x = la.engine.get(), la.full(1_000_000, 0.5)
e.cores = 2
la.waitall()
with la.profiler.profile("trace.json"):
    for _ in range(15):
        begun, gate = threading.Event(), threading.Event()
        e.push_sync(lambda rc: (begun.set(), gate.wait(60)), la.cpu())
        assert begun.wait(60)  # one worker of the two is taken
        y = x
        for _ in range(10):
            y = la.sin(y) + x
        time.sleep(0.005)  # the other worker has begun by now, most likely
        e.push_sync(lambda rc: gate.set(), la.cpu(), const_vars=[y.var])
        WAIT
        gate.set()
        la.waitall()
"""


@threaded
@pytest.mark.parametrize("wait", ["y.wait_to_read()", "la.waitall()"])
def test_who_waits_takes_part(tmp_path, wait):
    """There is no other worker, or, as the system may decide, it is in line for the same core."""
    done = program(
        TAKING_PART.replace("WAIT", wait),
        tmp_path,
        LAZYARRAY_CPU_WORKER_NTHREADS="2",
        LAZYARRAY_JIT="0",
    )
    assert done.returncode == 0, done.stderr
    trace = Trace(tmp_path / "trace.json").check()
    assert "MainThread" in {trace.track(e) for e in trace.of("joined")}


PROGRAM = """
x = la.random.uniform(size=(200, 200))
with la.profiler.profile("trace.json"):
    for i in range(3):
        with la.profiler.task("step"):
            y = ((x @ x) * 2 + 1).sum()
            assert float(y) > 0
            z = la.ones(4) + 1
    la.engine.get().push_sync(lambda rc: None, la.cpu(), name="python")
    la.zeros((300, 300), ctx=la.cpu(1)).wait_to_read()
"""


@pytest.mark.parametrize("kind", ["NaiveEngine", "ThreadedEnginePooled", "ThreadedEnginePerDevice"])
def test_each_kind_of_engine(kind, tmp_path):
    done = program(PROGRAM, tmp_path, LAZYARRAY_ENGINE_TYPE=kind)
    assert done.returncode == 0, done.stderr
    trace = Trace(tmp_path / "trace.json").check()
    names = [op["name"] for op in trace.operators()]
    assert sum("matmul" in name for name in names) == 3 and "python" in names
    assert len(trace.of("task", "step")) == 3 and trace.of("inline", "add")
    assert any("sum" in name for name in names)
    if kind != "NaiveEngine":
        assert len(trace.edges()) >= 3 and trace.of("wait", "float()")
        assert any(t.startswith("worker") for t in trace.tracks.values())
    assert trace.whole["otherData"]["program"] == "-c"


def test_several_threads_at_once(profiled):
    errors = []

    def one(n):
        try:
            for i in range(200):
                with la.profiler.event(f"e{n}"):
                    assert float((la.ones(50) * i).sum()) == 50 * i
        except BaseException as exc:
            errors.append(exc)

    def work():
        threads = [threading.Thread(target=one, args=(n,)) for n in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()

    trace = profiled(work)
    assert not errors
    assert all(len(trace.of("event", f"e{n}")) == 200 for n in range(4))
    assert len(trace.of("inline", "multiply")) == 800


def test_results_are_the_same():
    rng = np.random.default_rng(3)
    a, b = rng.random((40, 30)), rng.random((30, 40))
    with la.profiler.profile("t.json"):
        x, y = la.array(a), la.array(b)
        z = (x @ y * 2 + 1)[::2].sum(axis=0)
        z[3] = 7
        got = z.asnumpy()
    want = (a @ b * 2 + 1)[::2].sum(axis=0)
    want[3] = 7
    np.testing.assert_array_equal(got, want)


@threaded
def test_compilations_have_a_track(profiled):
    pytest.importorskip("llvmlite", reason="llvmlite is not installed: nothing is compiled")
    x = la.random.uniform(size=200_000)

    def work():
        old = _lazy._set_policy("compile_ns", 0)
        before = compiled_loops()["ready"]
        try:
            end = time.time() + 60
            while compiled_loops()["ready"] == before and time.time() < end:
                ((x * 3 - 1) / (x + 7) - 11 * x).wait_to_read()
        finally:
            _lazy._set_policy("compile_ns", old)

    trace = profiled(work)
    spans = trace.of("event", "compile a loop")
    assert spans and all(trace.track(span) == "compiler" for span in spans)
