"""Order by events: what streams wait for, memory, failures, forks, exit, on the simulated devices.

The work is done by other processes, which have a simulated driver: cases (order_cases.py and
memory_cases.py) in each of its modes, random programs (stream_programs.py) and, here, what a whole
process has to do.
"""

import ast
import functools
import json
import os
import pathlib
import subprocess
import sys

import pytest

from .sim import environment

ROOM = pathlib.Path(__file__).parent
MODES = ["lazy", "eager", "random:7"]
ENGINES = ["ThreadedEnginePerDevice", "ThreadedEnginePooled", "NaiveEngine"]
FILES = ["order_cases.py", "memory_cases.py"]


def named(file):
    """The cases in a file."""
    tree = ast.parse((ROOM / file).read_text())
    return [f.name for f in tree.body if isinstance(f, ast.FunctionDef) and f.name != "failing"]


CASES = {case: file for file in FILES for case in named(file)}
# What only shows with more than one worker, or where the pushing thread has a stream.
OTHERS = {
    "four workers": (
        {"LAZYARRAY_GPU_WORKER_NTHREADS": "4"},
        ["runs_of_a_program_share_nothing", "a_program_s_block_is_free_of_work",
         "memory_is_used_again_after_its_last_uses", "out_of_memory_drains_and_says_so"],
    ),
    "naive": (
        {"LAZYARRAY_ENGINE_TYPE": "NaiveEngine"},
        ["memory_for_all_streams_is_free_of_work", "lent_memory_comes_back_with_its_work_done",
         "a_program_s_block_is_free_of_work", "pinned_memory_is_copied_from_and_to_directly",
         "borrowed_memory_goes_back_with_our_work_done", "copies_between_devices"],
    ),
}  # fmt: skip


def process(arguments, mode="lazy", **more):
    """A finished process of this Python on simulated devices."""
    keep = {k: v for k, v in os.environ.items() if not k.startswith("LAZYARRAY_")}
    given = environment(mode, LAZYARRAY_SIM_HAZARDS="1", **more)
    given["PYTHONPATH"] = os.pathsep.join([given["PYTHONPATH"], *sys.path[:1]])
    return subprocess.run(
        [sys.executable, "-X", "faulthandler", *arguments], env={**keep, **given},
        capture_output=True, text=True, timeout=250,
    )  # fmt: skip


@functools.cache
def outcomes(mode, file, variant=None):
    """What went wrong in each case, or None, by its name; and what the process said."""
    more, cases = OTHERS[variant] if variant else ({}, CASES)
    cases = [case for case in cases if CASES[case] == file]
    base = {"LAZYARRAY_BULK_SIZE": "1", "LAZYARRAY_GPU_WORKER_NTHREADS": "1"}
    done = process([str(ROOM / file), *cases], mode, **{**base, **more})
    return dict(json.loads(line) for line in done.stdout.splitlines()), done.stderr


def judge(found, name):
    outcome, said = found
    assert name in outcome, f"the process ended before it: {said}"
    assert outcome[name] is None, outcome[name] + said


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("case", CASES)
def test_streams(case, mode):
    judge(outcomes(mode, CASES[case]), case)


@pytest.mark.parametrize("mode", ["lazy", "random:7"])
@pytest.mark.parametrize(
    ("variant", "case"), [(v, case) for v, (_, cases) in OTHERS.items() for case in cases]
)
def test_other_engines(variant, case, mode):
    judge(outcomes(mode, CASES[case], variant), case)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("mode", MODES)
def test_random_programs(mode, engine):
    """Each program in segments of one and, two at once, in fused ones."""
    seeds = [str(2 * len(mode) + k) for k in range(6)]
    done = process(
        [str(ROOM / "stream_programs.py"), *seeds], mode,
        LAZYARRAY_GPU_WORKER_NTHREADS="4", LAZYARRAY_ENGINE_TYPE=engine,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def run(code, mode="lazy", **more):
    """What a process prints that runs ``code``, with the usual names; it ends well."""
    start = "import numpy as np, lazyarray as la\nfrom cupy import _sim\ng = la.gpu(0)\n"
    done = process(["-c", start + code], mode, **more)
    assert done.returncode == 0, done.stderr
    return done


def test_pools_start_when_they_are_used():
    code = """
import threading
e = la.engine.get()
def made():
    return [line for line in _sim.log(clear=False) if "cuStreamCreate" in line]
assert e.stats()["threads"] == 0 and not made()
x = la.ones(10, ctx=g)
x.wait_to_read()  # whoever waits launches by itself, sooner than a worker that has to wake
assert (e.stats()["threads"], len(made())) == (0, 1)
w = e.new_variable()
e.push_sync(lambda c: None, g, [], [w])
e.wait_for_var(w)
assert (e.stats()["threads"], len(made())) == (1, 2)
y = la.array(np.ones(10), ctx=g)
y.wait_to_read()
assert (e.stats()["threads"], len(made())) == (2, 3)
y.asnumpy()
assert (e.stats()["threads"], len(made())) == (3, 4)
assert all("priority=0" in line for line in made())
v = e.new_variable()
e.push_sync(lambda c: None, g, [], [v], prop=la.engine.FnProperty.GPU_PRIORITIZED)
e.wait_for_var(v)
assert (e.stats()["threads"], len(made())) == (4, 5)
assert "priority=-5" in made()[-1]
"""
    run(code, LAZYARRAY_GPU_WORKER_NTHREADS="1")


def test_memory_is_pinned_before_a_gpu_is_named():
    """It was ordinary memory, for good: copies took six times as long."""
    code = """
import lazyarray as la
from cupy import _sim
x = la.zeros(1000, ctx=la.cpu_pinned())
x.wait_to_read()
assert any("cuMemHostAlloc" in line for line in _sim.log(clear=False))
y = x.to_device(la.gpu(0))
assert float(y.sum()) == 0
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment()},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("prop", ["NORMAL", "COPY_TO_GPU", "COPY_FROM_GPU", "GPU_PRIORITIZED"])
def test_numbers_of_workers(prop):
    """Half of the copy pool's are for each direction."""
    code = f"""
import threading
e, meet, seen = la.engine.get(), threading.Barrier(3), set()
from lazyarray.lazy import _lazy
def op(run_ctx):
    seen.add(_lazy.stream_of_thread(0))
    meet.wait(20)
for _ in range(6):
    e.push_sync(op, g, [], [e.new_variable()], prop=la.engine.FnProperty.{prop})
la.waitall()
assert len(seen) == 3 == e.stats()["threads"], seen
"""
    run(code, LAZYARRAY_GPU_WORKER_NTHREADS="3", LAZYARRAY_GPU_COPY_NTHREADS="6")


def test_limit_statistics_and_trim():
    code = """
import cupy, time
x = la.ones(1 << 17, ctx=g)
x.wait_to_read()
s = la.storage.pool_stats(g)
assert s["limit"] == 3 << 20 and s["in_use"] == 1 << 20 and s["misses"] == 1
y = la.ones(3 << 16, ctx=g)
y.wait_to_read()
cycle = [y]
cycle.append(cycle)
z = la.ones(1 << 18, ctx=g)
try:
    z.wait_to_read()
    raise SystemExit("no MemoryError")
except MemoryError as exc:
    for word in ("2097152 bytes", "gpu(0)", "limit 3145728"):
        assert word in str(exc), exc
del y, cycle  # the collector finds them as memory runs out
z[...] = 5
assert z.asnumpy()[-1] == 5
del z
assert (x + 1).asnumpy()[0] == 2
del x
for _ in range(1000):  # a worker lets go of what its last op used
    if la.storage.pool_stats(g)["in_use"] == 0:
        break
    time.sleep(0.005)
assert la.storage.pool_stats(g)["cached"] > 0
la.storage.trim(g)
s = la.storage.pool_stats(g)
assert s["cached"] == s["in_use"] == 0 and s["peak"] >= 3 << 20
assert cupy.get_default_memory_pool().total_bytes() == 0
"""
    run(code, LAZYARRAY_MEM_LIMIT=str(3 << 20))


@pytest.mark.parametrize("mode", MODES)
def test_a_failed_device_is_met_by_each_wait(mode):
    code = """
x, here = la.ones(10, ctx=g), la.ones(10)
x.wait_to_read()
v = la.engine.get().new_variable()
_sim.fail_next("run", 700)
y = x + 1
for a in (y, y, x, x + 1):
    try:
        a.wait_to_read()
        raise SystemExit("no error")
    except RuntimeError as exc:
        assert "illegal memory access" in str(exc), exc
try:
    y.asnumpy()
    raise SystemExit("no error")
except RuntimeError as exc:
    assert "illegal memory access" in str(exc), exc
assert (here + 1).asnumpy()[0] == 2
try:
    la.waitall()
except RuntimeError as exc:
    assert "illegal memory access" in str(exc), exc
"""
    run(code, mode)


def test_what_is_pending_at_exit_is_done():
    code = """
import atexit
pinned = la.zeros(1000, ctx=la.cpu_pinned())
pinned.wait_to_read()
x = la.ones(1000, ctx=g)
y = x
for _ in range(20):
    y = y * 2
y.copyto(pinned)
atexit.register(lambda: print(_sim.pending(), pinned.asnumpy()[0]))
"""
    done = run(code)
    assert done.stdout.split() == ["0", "1048576.0"]
    assert not done.stderr


def test_failures_that_nobody_waited_for_are_printed_at_exit():
    done = run("_sim.fail_next('cuLaunchKernel', 1)\nx = la.ones(10, ctx=g)\n")
    assert "nobody had waited for it" in done.stderr
    assert "cuLaunchKernel failed" in done.stderr


def test_arrays_that_live_when_the_interpreter_ends():
    code = """
import threading
keep = [la.ones(1000, ctx=g) * k for k in range(10)]
la.held = keep
keep.append(keep)
theirs = keep[0].ascupy()
thread = threading.Thread(target=lambda: keep.append(la.ones(10, ctx=la.gpu(1)).asnumpy()))
thread.start()
thread.join()
"""
    assert not run(code).stderr


def test_a_forked_child_is_told():
    code = """
import gc, os, sys
x = la.ones(1000, ctx=g)
pinned = la.ones(1000, ctx=la.cpu_pinned())
here = la.ones(1000)
y = x + 1
pid = os.fork()
if not pid:
    told = 0
    for f in (x.asnumpy, lambda: (x + 1).wait_to_read(), lambda: la.ones(3, ctx="gpu:0"),
              lambda: la.gpu(1), (pinned + 1).wait_to_read):
        try:
            f()
        except RuntimeError as exc:
            told += "can't be used in a process that was forked" in str(exc)
    fine = (here + 1).asnumpy()[0] == 2
    del x, y, pinned, f
    gc.collect()
    sys.stderr.close()  # of what failed and nobody waited for
    print(told, fine, flush=True)
    sys.exit(0)
_, status = os.waitpid(pid, 0)
assert status == 0, status
assert y.asnumpy()[0] == 2
assert (x * 3).asnumpy()[0] == 3
print("parent")
"""
    assert run(code).stdout.split() == ["5", "True", "parent"]
