"""The file whatever becomes of the process: killed, forked, ended; two processes; large files."""

import errno
import json
import os
import random
import signal
import threading
import time

import pytest

import lazyarray as la
from lazyarray.profiler import session

from ..waiting import until
from .reading import Trace, program, whole

BUSY = """
la.profiler.set_config(dump_period=0.001)
la.profiler.start()
print("started", flush=True)
x = la.ones((60, 60)); y = la.ones(10)
for i in range(10**9):
    with la.profiler.task("step"):
        float((x @ x).sum())
        for _ in range(50):
            y += 1
"""


def test_a_killed_process_leaves_a_whole_file(tmp_path):
    """SIGKILL at random moments, also while a larger file is written beside this one."""
    rng = random.Random()
    file, sizes = tmp_path / "profile.json", []
    for _ in range(8):
        process = program(BUSY, tmp_path, wait=False)
        assert process.stdout.readline() == "started\n"
        if len(sizes) == 7 and max(sizes) <= 2000:  # this one gets there on a busy machine, too
            until(lambda: len(whole(file)["traceEvents"]) > 2000)
        time.sleep(rng.random() * 0.25)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        sizes.append(len(json.loads(file.read_text())["traceEvents"]))
    assert max(sizes) > 2000, sizes


def test_the_file_is_whole_for_whoever_reads_it_meanwhile(tmp_path):
    """And grows: nothing that was seen is lost."""
    la.profiler.set_config(dump_period=0.001, profile_memory=False)
    la.profiler.start()
    over = threading.Event()

    def busy():
        n = 0
        while not over.is_set():
            la.profiler.marker(f"{n} {'x' * (n % 150)}")
            n += 1

    thread = threading.Thread(target=busy)
    thread.start()
    counts = []
    least = time.monotonic() + 1.5
    most = least + 60  # for a busy machine
    try:
        while time.monotonic() < least or (counts[-1] <= 1000 and time.monotonic() < most):
            counts.append(len(Trace("profile.json").of("marker")))
    finally:
        over.set()
        thread.join()
    la.profiler.dump()
    assert counts == sorted(counts) and counts[-1] > 1000
    found = [e["name"].split()[0] for e in Trace("profile.json").of("marker")]
    assert found == [str(i) for i in range(len(found))]
    # No room is left in a finished file but at the ends of pages.
    text = (tmp_path / "profile.json").read_text()
    assert (
        text.count(" " * 200) == 0 or len(text) - len(text.replace(" " * 50, "")) < len(text) / 10
    )
    assert os.listdir() == ["profile.json"]


def test_what_finds_no_room_is_counted():
    la.profiler.set_config(continuous_dump=False)
    la.profiler.start()
    x = la.ones(3)
    room = 256 * 8192
    note, kind = la.profiler.session.native.note_span, la.profiler.session.native.MARKER
    for i in range(room + 1000):
        note(kind, "m", "", i, i, 0)
    assert x.sum().item() == 3
    la.profiler.stop()
    lost = session.session.recording.lost
    assert lost >= 1000
    assert f"{lost} entries found no room" in la.profiler.summary()
    la.profiler.dump()
    text = open("profile.json").read()
    assert f'"name":"entries lost","args":{{"count":{lost}}}' in text


def test_a_file_that_can_no_longer_be_written_stops_the_profiler(tmp_path, capfd):
    """The directory goes away, so there is no place for a larger file."""
    os.mkdir("d")
    la.profiler.set_config(filename="d/p.json", continuous_dump=False)
    la.profiler.start()
    for _ in range(3000):
        la.profiler.marker("some text that takes a while to fill the room")
    os.unlink("d/p.json")
    os.rmdir("d")
    with pytest.raises(FileNotFoundError):
        la.profiler.dump(finished=False)
    assert la.profiler.state() == "stopped"
    la.profiler.dump()  # there is nothing left to do
    os.mkdir("d")
    la.profiler.set_config(filename="d/p.json", continuous_dump=True, dump_period=0.01)
    la.profiler.start()
    os.unlink("d/p.json")
    os.rmdir("d")
    for _ in range(3000):
        la.profiler.marker("some text that takes a while to fill the room")
    end = time.monotonic() + 20
    while la.profiler.session.session.writer is not None:
        assert time.monotonic() < end
        time.sleep(0.01)
    assert la.profiler.state() == "stopped"
    assert "the profiler stops" in capfd.readouterr().err


def test_two_processes_do_not_write_one_file(tmp_path):
    la.profiler.start()
    la.profiler.marker("mine")
    done = program("la.profiler.start()", tmp_path)
    assert done.returncode == 1 and "BlockingIOError" in done.stderr
    assert "another recording writes this file" in done.stderr
    la.profiler.dump()
    assert Trace("profile.json").one("marker", "mine")
    assert program("la.profiler.start()", tmp_path).returncode == 0
    assert not Trace("profile.json").of("marker")


def test_a_started_profiler_dumps_at_exit(tmp_path):
    done = program(
        """
la.profiler.start()
import atexit
x = la.ones((300, 300))
y = x @ x
atexit.register(lambda: (la.profiler.marker("at exit"), (la.ones(3) + 1).wait_to_read()))
sys.exit(3)
""",
        tmp_path,
    )
    assert (done.returncode, done.stderr) == (3, "")
    trace = Trace(tmp_path / "profile.json").check()
    assert any("matmul" in op["name"] for op in trace.operators())
    assert trace.one("marker", "at exit")
    assert os.listdir(tmp_path) == ["profile.json"]


def test_an_exception_ends_a_block_at_exit(tmp_path):
    done = program('with la.profiler.profile("p.json"):\n  la.ones(3) + 1\n  1 / 0', tmp_path)
    assert "ZeroDivisionError" in done.stderr
    assert Trace(tmp_path / "p.json").of("inline", "add")


FORK = """
def child(code):
    pid = os.fork()
    if pid == 0:
        signal.alarm(100)
        try:
            code()
        except BaseException as exc:
            print(repr(exc), flush=True)
            os._exit(1)
        sys.exit(0)  # what runs at exit, runs
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0

def inside():
    assert la.profiler.state() == "stopped"
    la.profiler.marker("of the child")
    assert float((la.ones((300, 300)) @ la.ones((300, 300))).sum()) == 300**3

def again():
    inside()
    with la.profiler.profile("child.json"):
        la.profiler.marker("of the child")
    try:
        la.profiler.start()
    except BlockingIOError:
        pass
    else:
        assert not os.path.samefile("profile.json", "profile.json")
"""


@pytest.mark.filterwarnings("ignore")
def test_a_forked_child_leaves_the_parents_file_alone(tmp_path):
    code = (
        FORK
        + """
la.profiler.set_config(dump_period=0.01)
la.profiler.start()
x = la.ones((100, 100))
for i in range(20):
    la.profiler.marker(f"of the parent {i}")
    y = x @ x
    child(again if i % 2 else inside)
la.profiler.dump()
"""
    )
    done = program(code, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    names = [e["name"] for e in Trace(tmp_path / "profile.json").check().of("marker")]
    assert names == [f"of the parent {i}" for i in range(20)]
    assert [e["name"] for e in Trace(tmp_path / "child.json").of("marker")] == ["of the child"]


@pytest.mark.filterwarnings("ignore")
def test_a_fork_inside_a_block(tmp_path):
    code = (
        FORK
        + """
with la.profiler.profile("profile.json"):
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
        la.profiler.marker("parent")
    else:
        la.profiler.marker("child")
if not pid:
    sys.exit(0)
"""
    )
    assert program(code, tmp_path).returncode == 0
    assert [e["name"] for e in Trace(tmp_path / "profile.json").of("marker")] == ["parent"]


# ---- LAZYARRAY_PROFILER_AUTOSTART ----------------------------------------------------------------


def test_autostart(tmp_path):
    code = "assert la.profiler.state() == 'running'; (la.ones(3) + 1).wait_to_read()"
    assert program(code, tmp_path, LAZYARRAY_PROFILER_AUTOSTART="1").returncode == 0
    assert Trace(tmp_path / "profile.json").check().of("inline", "add")
    os.unlink(tmp_path / "profile.json")
    code = "assert la.profiler.state() == 'stopped'"
    for value in ("", "0"):
        assert program(code, tmp_path, LAZYARRAY_PROFILER_AUTOSTART=value).returncode == 0
    assert os.listdir(tmp_path) == []
    for value in ("yes", "2", "-1"):
        done = program(code, tmp_path, LAZYARRAY_PROFILER_AUTOSTART=value)
        assert "ValueError: LAZYARRAY_PROFILER_AUTOSTART" in done.stderr


def test_autostart_in_a_child_process(tmp_path):
    """A program that the profiled one starts runs, unprofiled, and says so."""
    code = """
import subprocess
la.profiler.marker("parent")
done = subprocess.run([sys.executable, "-c", "import lazyarray as la; print(la.profiler.state())"],
                      capture_output=True, text=True)
assert done.stdout == "stopped\\n", done
assert "this process is not profiled" in done.stderr
"""
    done = program(code, tmp_path, LAZYARRAY_PROFILER_AUTOSTART="1")
    assert done.returncode == 0, done.stderr
    assert Trace(tmp_path / "profile.json").one("marker", "parent")


def test_errors_name_the_file():
    with pytest.raises(OSError) as caught:
        la.profiler.profile("nowhere/p.json").__enter__()
    assert caught.value.errno == errno.ENOENT and caught.value.filename.endswith("nowhere/p.json")


def test_a_fork_while_an_op_uses_the_profiler(tmp_path):
    """The session's lock is the fork's only once all ops are done."""
    code = """
la.profiler.state()
x = la.ones(10)
def op(ctx):
    time.sleep(0.3)
    la.profiler.pause()
la.engine.get().push_sync(op, la.cpu(), mutable_vars=[x.var])
begin = time.monotonic()
pid = os.fork()
if pid == 0:
    la.profiler.pause()
    os._exit(0 if (la.ones(200_000) + 1).sum() == 400_000 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
assert time.monotonic() - begin < 8
la.profiler.pause()
"""
    done = program("import os, time\n" + code, tmp_path)
    assert done.returncode == 0, done.stderr
