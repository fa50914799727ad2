"""Threads, fork and exit, each in a process of its own."""

import resource
import subprocess
import sys

import pytest

OWN = "e = engine.ThreadedEnginePooled(num_workers=2)\n"
PROCESS = "e = engine.get()\n"
ENGINE = pytest.mark.parametrize("make", [PROCESS, OWN], ids=["process", "own"])


# --- threads -------------------------------------------------------------------------------


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="what the limit means")
def test_workers_have_room_for_deep_recursions():
    """Where the C library gives threads little, as musl and macOS do."""
    code = """
import sys
from lazyarray import cpu, engine
sys.setrecursionlimit(10_000)
def down(n):
    return next(map(down, (n - 1,))) if n else "bottom"  # by way of C
e = engine.ThreadedEnginePooled(num_workers=1)
e.push_sync(lambda rc: print(down(700)), cpu())
e.wait_for_all()
"""
    limits = (256 << 10, resource.getrlimit(resource.RLIMIT_STACK)[1])  # of glibc's threads, too
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, limits),
        timeout=250,
    )
    assert (run.returncode, run.stdout) == (0, "bottom\n"), run.stderr


# --- exit ----------------------------------------------------------------------------------


@ENGINE
def test_pending_work_is_finished_at_exit(make, script):
    code = """
v, ends = e.new_variable(), threading.Event()
e.push_sync(lambda rc: (ends.wait(20), time.sleep(0.2)), cpu, (), (v,))
for i in range(3):
    e.push_sync(lambda rc, i=i: print("op", i), cpu, (), (v,))
e.delete_variable(lambda rc: print("deleted"), cpu, v)
print("end")
ends.set()
"""
    run = script(make + code)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split("\n")[:-1] == ["end", "op 0", "op 1", "op 2", "deleted"]
    assert run.stderr == ""


def test_work_pushed_by_pending_work_is_finished_at_exit(script):
    code = """
e = engine.get()
def outer(rc):
    time.sleep(0.2)
    e.push_sync(lambda rc: print("inner"), cpu)
    print("outer")
e.push_sync(outer, cpu)
"""
    run = script(code)
    assert sorted(run.stdout.split()) == ["inner", "outer"], run.stderr
    assert run.returncode == 0, run.stderr


def test_async_work_is_finished_at_exit(script):
    """By a thread that Python itself joins at exit."""
    code = """
e = engine.get()
v = e.new_variable()
started = threading.Event()  # Python 3.12 starts no thread at exit
def fn(rc, on_complete):
    def later():
        started.set()
        time.sleep(0.2)
        on_complete()
    threading.Thread(target=later).start()
e.push_async(fn, cpu, (), (v,))
e.push_sync(lambda rc: print("after"), cpu, (v,))
started.wait(10)
"""
    run = script(code)
    assert (run.returncode, run.stdout.strip()) == (0, "after"), run.stderr


@ENGINE
def test_unobserved_error_is_printed_at_exit(make, script):
    code = """
def culprit(rc):
    raise LookupError("lost and not found")
e.push_sync(culprit, cpu, (), (e.new_variable(),), name="the culprit")
"""
    run = script(make + code)
    assert run.returncode >= 0, "killed"
    assert "LookupError" in run.stderr and "lost and not found" in run.stderr
    assert "the culprit" in run.stderr


def test_every_unobserved_error_is_printed_at_exit(script):
    """Once each, however many vars it reached."""
    run = script("""
e = engine.get()
def culprit(n):
    raise LookupError("culprit number", n)
for n in range(3):
    a, b = e.new_variable(), e.new_variable()
    e.push_sync(lambda rc, n=n: culprit(n), cpu, (), (a,))
    e.push_sync(lambda rc: None, cpu, (a,), (b,))
try:
    e.wait_for_var(b)
except LookupError:
    print("caught")
""")
    assert run.stdout.strip() == "caught"
    counts = [run.stderr.count(f"LookupError: ('culprit number', {n})") for n in range(3)]
    assert counts == [1, 1, 0], run.stderr


def test_observed_error_is_not_printed_at_exit(script):
    code = """
e = engine.get()
vs = [e.new_variable(), e.new_variable()]
for v in vs:
    e.push_sync(lambda rc: 1 / 0, cpu, (), (v,))
for wait in (lambda: e.wait_for_var(vs[0]), e.wait_for_all):
    try:
        wait()
    except ZeroDivisionError:
        print("caught")
"""
    run = script(code)
    assert run.stdout.split() == ["caught", "caught"]
    assert (run.returncode, run.stderr) == (0, "")


def test_error_during_exit_is_printed(script):
    """The op has not even started when the program ends."""
    code = """
e = engine.get()
v = e.new_variable()
e.push_sync(lambda rc: time.sleep(0.2), cpu, (), (v,))
def culprit(rc):
    raise LookupError("lost and not found")
e.push_sync(culprit, cpu, (), (v,))
"""
    run = script(code)
    assert run.returncode >= 0 and "lost and not found" in run.stderr


def test_exit_code_is_the_programs(script):
    code = """
e = engine.get()
e.push_sync(lambda rc: (time.sleep(0.1), print("ran")), cpu)
sys.exit(3)
"""
    run = script(code)
    assert (run.returncode, run.stdout.strip()) == (3, "ran"), run.stderr


def test_exit_by_an_uncaught_exception(script):
    code = """
e = engine.get()
e.push_sync(lambda rc: (time.sleep(0.1), print("ran")), cpu)
raise KeyError("main")
"""
    run = script(code)
    assert (run.returncode, run.stdout.strip()) == (1, "ran"), run.stderr
    assert "KeyError: 'main'" in run.stderr


def test_exit_with_an_open_bulk_and_idle_workers(script):
    run = script("""
engine.get().push_sync(lambda rc: None, cpu)
engine.get().wait_for_all()
bulk = engine.bulk(100)
bulk.__enter__()
engine.get().push_sync(lambda rc: print("ran"), cpu)
""")
    assert (run.returncode, run.stdout.strip(), run.stderr) == (0, "ran", "")


def test_push_from_an_exit_handler(script):
    """Registered first, it runs last: after the engine's own end its pushes run at the call."""
    run = script("""
import atexit
e = engine.get()
e.push_sync(lambda rc: None, cpu)
def late():
    e.push_sync(lambda rc: print("late"), cpu)
    e.wait_for_all()
atexit.register(late)
""")
    assert (run.returncode, run.stdout.strip()) == (0, "late"), run.stderr


def test_vars_and_operators_left_to_the_interpreter(script):
    """Globals, cycles and module state are torn down in any order."""
    run = script("""
e = engine.get()
own = engine.ThreadedEnginePerDevice(num_workers=1)
class Node: pass
for eng in (e, own):
    a = Node(); a.me = a; a.var = eng.new_variable(); a.eng = eng
    a.op = eng.new_operator(lambda rc, a=a: None, (), (a.var,))
    eng.push(a.op, cpu)
    sys.modules["keep" + str(id(a))] = a
""")
    assert (run.returncode, run.stderr) == (0, "")


def test_daemon_thread_pushing_at_exit(script):
    """It may be cut off anywhere; the process must still end, quietly and with its own code."""
    run = script("""
e = engine.get()
started = threading.Event()
def forever():
    v = e.new_variable()
    while True:
        try:
            e.push_sync(lambda rc: None, cpu, (), (v,))
            e.wait_for_var(v)
        except RuntimeError:
            return
        started.set()
threading.Thread(target=forever, daemon=True).start()
assert started.wait(20)
""")
    assert run.returncode == 0, run.stderr


# --- fork ----------------------------------------------------------------------------------


@ENGINE
def test_fork_drains_and_both_sides_go_on(make, script):
    code = """
v, box = e.new_variable(), [0]
def add(rc):
    box[0] += 1
def slow(rc):
    time.sleep(0.2)
    box[0] += 1
e.push_sync(slow, cpu, (), (v,))
for _ in range(99):
    e.push_sync(add, cpu, (), (v,))
pid = fork()
if pid == 0:
    drained = box[0] == 100 and v.version == 100
    for _ in range(50):
        e.push_sync(add, cpu, (), (v,))
    e.wait_for_var(v)
    e.wait_for_all()
    os._exit(0 if drained and box[0] == 150 else 1)
e.push_sync(add, cpu, (), (v,))
e.wait_for_var(v)
print(exit_code(pid), box[0])
"""
    run = script(make + code)
    assert run.stdout.strip() == "0 101", run.stderr


@ENGINE
def test_fork_with_a_pending_error(make, script):
    """The parent lives and still gets its error; so does the child."""
    code = """
v = e.new_variable()
def culprit(rc):
    time.sleep(0.1)
    raise LookupError("lost")
e.push_sync(culprit, cpu, (), (v,))
def caught(wait):
    try:
        wait()
    except LookupError:
        return True
    return False
pid = fork()
if pid == 0:
    ok = caught(lambda: e.wait_for_var(v))
    w = e.new_variable()
    e.push_sync(lambda rc: None, cpu, (), (w,))
    e.wait_for_var(w)
    os._exit(0 if ok else 1)
print(exit_code(pid), caught(e.wait_for_all), caught(lambda: e.wait_for_var(v)))
"""
    run = script(make + code)
    assert run.stdout.strip() == "0 True True", run.stderr
    assert run.returncode == 0, run.stderr


def test_child_ends_by_itself(script):
    """Through the interpreter's exit, with work pending."""
    run = script("""
e = engine.get()
e.push_sync(lambda rc: None, cpu)
pid = fork()
if pid == 0:
    e.push_sync(lambda rc: (time.sleep(0.1), print("child")), cpu)
    sys.exit(4)
print("code", exit_code(pid))
""")
    assert run.stdout.split("\n")[:2] == ["child", "code 4"], run.stderr


def test_fork_of_a_fork(script):
    run = script("""
e = engine.get()
def use():
    v = e.new_variable()
    e.push_sync(lambda rc: None, cpu, (), (v,))
    e.wait_for_var(v)
use()
pid = fork()
if pid == 0:
    use()
    pid = fork()
    if pid == 0:
        use()
        os._exit(0)
    use()
    os._exit(exit_code(pid))
use()
print(exit_code(pid))
""")
    assert run.stdout.strip() == "0", run.stderr


def test_fork_before_the_first_push(script):
    run = script("""
e = engine.get()
pid = fork()
v = e.new_variable()
e.push_sync(lambda rc: None, cpu, (), (v,))
e.wait_for_var(v)
if pid == 0:
    os._exit(0)
print(exit_code(pid))
""")
    assert run.stdout.strip() == "0", run.stderr


def test_fork_while_another_thread_pushes(script):
    run = script("""
e = engine.get()
stop, count, box = threading.Event(), [0], [0]
v = e.new_variable()
def add(rc):
    box[0] += 1
def push():
    while not stop.is_set():
        e.push_sync(add, cpu, (), (v,))
        count[0] += 1
        if count[0] % 50 == 0:
            e.wait_for_var(v)
pusher = threading.Thread(target=push)
pusher.start()
codes = []
for _ in range(40):
    pid = fork()
    if pid == 0:
        w = e.new_variable()
        e.push_sync(lambda rc: None, cpu, (), (w,))
        e.wait_for_var(w)
        e.wait_for_var(v)
        os._exit(0)
    codes.append(exit_code(pid))
stop.set()
pusher.join()
e.wait_for_all()
print(sorted(set(codes)), count == box)
""")
    assert run.stdout.strip() == "[0] True", run.stderr


def test_fork_that_cannot_drain_is_a_clear_error(script):
    """An op waits for the forking thread: the parent goes on, the child is told."""
    run = script("""
from lazyarray.engine import _engine
_engine.FORK_DRAIN_SECONDS = 0.2
e = engine.get()
go, v, w = threading.Event(), e.new_variable(), e.new_variable()
e.push_sync(lambda rc: go.wait(15), cpu, (), (v,))
try:
    pid = fork()
except RuntimeError:  # no child at all would be as clear
    go.set()
    print("refused")
    sys.exit()
if pid == 0:
    try:
        e.push_sync(lambda rc: None, cpu, (), (w,))
        e.wait_for_var(w)
    except RuntimeError as error:
        os._exit(0 if "fork" in str(error) else 1)
    os._exit(2)
go.set()
e.wait_for_var(v)
print(exit_code(pid), v.version)
""")
    assert run.stdout.strip() in ("0 1", "refused"), run.stderr
    assert run.stdout.strip() == "refused" or "fork" in run.stderr


def test_multiprocessing_pool_by_fork(script):
    run = script("""
import multiprocessing
e = engine.get()
e.push_sync(lambda rc: None, cpu)
def job(i):
    v, out = e.new_variable(), []
    e.push_sync(lambda rc: out.append(i * i), cpu, (), (v,))
    e.wait_for_var(v)
    return out[0]
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(job, range(5)))
""")
    assert run.stdout.strip() == "[0, 1, 4, 9, 16]", run.stderr


def test_fork_in_the_naive_engine(script):
    run = script(
        """
e = engine.get()
v = e.new_variable()
e.push_sync(lambda rc: None, cpu, (), (v,))
pid = fork()
e.push_sync(lambda rc: None, cpu, (), (v,))
e.wait_for_all()
if pid == 0:
    os._exit(v.version)
print(exit_code(pid), v.version)
""",
        LAZYARRAY_ENGINE_TYPE="NaiveEngine",
    )
    assert run.stdout.strip() == "2 2", run.stderr


def test_the_naive_engine_leaves_an_array_usable(script):
    """What it has told in the line of the op is not told again of the array that was written to."""
    run = script(
        """
import lazyarray as la
for n in (5, 300_000):
    for write in ("la.add.at(x, [n + 9], 1)", "x[la.array([n])] = 3", "x **= -1"):
        x = la.arange(n)
        try:
            exec(write)
        except (IndexError, ValueError):
            print(x[2:4].tolist() == [2, 3])
""",
        LAZYARRAY_ENGINE_TYPE="NaiveEngine",
    )
    assert run.stdout.split() == ["True"] * 6, run.stderr


def test_engines_that_go_away_as_the_process_exits(script):
    """By another thread, while the exit waits for the process's own."""
    code = """
p = engine.get()
box = [engine.ThreadedEnginePerDevice(2) for _ in range(8)]
started = threading.Event()
def drop():
    started.wait(5)
    time.sleep(0.2)
    box.clear()
    junk = [bytes([255]) * n for n in range(500, 3000) for _ in range(3)]
    time.sleep(0.5)
threading.Thread(target=drop).start()
def op(rc):
    started.set()
    time.sleep(0.6)
p.push_sync(op, cpu, (), (p.new_variable(),))
started.wait(5)
"""
    run = script(code)
    assert run.returncode == 0, run.stderr


def test_start_while_another_thread_stops(script):
    code = (
        OWN
        + """
v, done = e.new_variable(), False
def starter():
    while not done:
        e.start()
thread = threading.Thread(target=starter)
thread.start()
for _ in range(300):
    e.start()
    try:
        e.push_sync(lambda rc: None, cpu, (), (v,))
    except RuntimeError:
        pass
    e.stop()
done = True
thread.join()
print("over")
"""
    )
    run = script(code)
    assert (run.returncode, run.stdout.strip()) == (0, "over"), run.stderr
