"""Starting, stopping, pausing, dumping; settings; blocks."""

import json
import os
import threading
import time

import pytest

import lazyarray as la
from lazyarray.engine import Device

from .reading import Trace

CPU = Device("cpu", 0)


def op(name):
    """An operator of that name, which has run when this returns."""
    la.engine.get().push_sync(lambda rc: None, CPU, name=name)
    la.waitall()


def names(path="profile.json"):
    return [e["name"] for e in Trace(path).check().operators()]


# ---- states --------------------------------------------------------------------------------------


def test_states():
    p = la.profiler
    assert p.state() == "stopped"
    p.pause(), p.resume(), p.stop()
    assert p.state() == "stopped" and not os.path.exists("profile.json")
    p.start(), p.start()
    assert p.state() == "running"
    p.resume()
    assert p.state() == "running"
    p.pause(), p.pause()
    assert p.state() == "paused"
    p.start()
    assert p.state() == "running"
    p.pause(), p.resume()
    assert p.state() == "running"
    p.stop(), p.stop()
    assert p.state() == "stopped"


def test_only_what_ran_between_is_recorded():
    p = la.profiler
    op("before")
    p.start()
    op("one")
    p.pause()
    op("paused")
    p.resume()
    op("two")
    p.stop()
    op("stopped")
    p.start()
    op("three")
    p.dump()
    op("after")
    assert names() == ["one", "two", "three"] and p.state() == "stopped"


def test_the_file_is_written_anew_after_a_finished_dump():
    la.profiler.start()
    op("one")
    la.profiler.dump()
    la.profiler.start()
    op("two")
    la.profiler.stop()
    assert names() == ["two"]
    la.profiler.dump()
    la.profiler.dump()
    assert names() == ["two"]


def test_dump_may_go_on():
    la.profiler.start()
    op("one")
    la.profiler.dump(finished=False)
    assert la.profiler.state() == "running" and names() == ["one"]
    op("two")
    la.profiler.dump(finished=False)
    assert names() == ["one", "two"]


def test_nothing_to_dump():
    from lazyarray.profiler import session

    before, session.session.recording = session.session.recording, None
    try:
        for call in (la.profiler.dump, la.profiler.dumps, la.profiler.summary):
            with pytest.raises(RuntimeError, match="nothing was profiled"):
                call()
    finally:
        session.session.recording = before


def test_many_times():
    for i in range(60):
        la.profiler.start()
        op(str(i))
        la.profiler.stop()
    assert names() == [str(i) for i in range(60)]
    assert threading.active_count() < 20


def test_stop_waits_for_what_was_pushed():
    la.profiler.start()
    la.engine.get().push_sync(lambda rc: time.sleep(0.02), CPU, name="slow")
    la.profiler.stop()
    assert names() == ["slow"]


def test_stop_does_not_raise_what_failed():
    def fails(rc):
        raise ValueError("meant")

    x = la.ones(3)
    if isinstance(la.engine.get(), la.engine.NaiveEngine):
        pytest.skip("it raises at the push")
    la.profiler.start()
    la.engine.get().push_sync(fails, CPU, (), (x.var,))
    la.profiler.stop()
    assert names() == ["fails"]
    for wait in (x.wait_to_read, la.waitall):
        with pytest.raises(ValueError, match="meant"):
            wait()
            la.waitall()
            raise ValueError("meant")  # whichever raised first


def test_from_several_threads():
    errors = []

    def one():
        try:
            for i in range(30):
                la.profiler.start()
                x = la.ones(10) + i
                la.profiler.marker("m")
                la.profiler.dumps()
                la.profiler.pause()
                la.profiler.dump(finished=i % 5 == 0)
                la.profiler.resume()
                assert x.sum().item() == 10 * (1 + i)
                la.profiler.stop()
        except BaseException as exc:
            errors.append(exc)

    threads = [threading.Thread(target=one) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors
    la.profiler.dump()
    Trace("profile.json").check()


def test_operators_use_the_profiler():
    """What stop() waits for may itself mark, write and ask."""

    def uses(rc):
        time.sleep(0.01)
        la.profiler.marker("inside")
        la.profiler.dump(finished=False)
        assert "Markers" not in la.profiler.dumps()

    la.profiler.start()
    la.engine.get().push_sync(uses, CPU)
    la.profiler.dump()
    assert Trace("profile.json").check().one("marker", "inside")


# ---- blocks --------------------------------------------------------------------------------------


def test_a_block_has_its_own_file_and_settings():
    with la.profiler.profile("block.json", profile_memory=False) as block:
        assert la.profiler.state() == "running"
        op("in")
    assert isinstance(block, la.profiler.profile) and la.profiler.state() == "stopped"
    assert names("block.json") == ["in"]
    assert not Trace("block.json").counters("pending operators")
    la.profiler.start()  # the settings are those of before
    op("out")
    la.profiler.stop()
    assert names() == ["out"] and Trace("profile.json").counters("pending operators")


def test_a_block_that_raises_is_written():
    with pytest.raises(KeyError), la.profiler.profile("block.json"):
        op("in")
        raise KeyError("meant")
    assert names("block.json") == ["in"] and la.profiler.state() == "stopped"


def test_ctrl_c_at_the_end_of_a_block(monkeypatch):
    """The wait for what was pushed is given up; what has ended is in the file."""
    from lazyarray.profiler import session

    def interrupted():
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        with la.profiler.profile("block.json"):
            op("one")
            patch.setattr(session.native, "settle", interrupted)
    assert names("block.json") == ["one"]
    assert la.profiler.state() == "stopped" and session.session.config.filename == "profile.json"
    assert session.session.recording.finished


def test_blocks_do_not_nest():
    with la.profiler.profile("outer.json"):
        op("one")
        with pytest.raises(RuntimeError, match="don't nest"), la.profiler.profile("inner.json"):
            pass
        op("two")
    assert names("outer.json") == ["one", "two"] and not os.path.exists("inner.json")
    la.profiler.start()
    with pytest.raises(RuntimeError, match="running"), la.profiler.profile("inner.json"):
        pass
    la.profiler.pause()
    with pytest.raises(RuntimeError, match="running"), la.profiler.profile("inner.json"):
        pass


def test_a_block_may_be_ended_inside():
    with la.profiler.profile("block.json"):
        op("one")
        la.profiler.dump()
        op("two")
    assert names("block.json") == ["one"]


# ---- settings ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"file": "x"}, TypeError, "file"),
        ({"profile_imperativ": True}, TypeError, "did you mean 'profile_imperative'"),
        ({"profile_process": "worker"}, TypeError, "profile_process"),
        ({"filename": 3}, ValueError, "filename"),
        ({"filename": ""}, ValueError, "filename"),
        ({"filename": None}, ValueError, "filename"),
        ({"profile_all": "yes"}, ValueError, "profile_all"),
        ({"profile_memory": None}, ValueError, "profile_memory"),
        ({"aggregate_stats": 2}, ValueError, "aggregate_stats"),
        ({"continuous_dump": 1.0}, ValueError, "continuous_dump"),
        ({"dump_period": 0}, ValueError, "dump_period"),
        ({"dump_period": -1.0}, ValueError, "dump_period"),
        ({"dump_period": float("nan")}, ValueError, "dump_period"),
        ({"dump_period": float("inf")}, ValueError, "dump_period"),
        ({"dump_period": "1"}, ValueError, "dump_period"),
        ({"dump_period": True}, ValueError, "dump_period"),
    ],
)
def test_settings_that_make_no_sense(options, error, says):
    for call in (la.profiler.set_config, lambda **o: la.profiler.profile(**o).__enter__()):
        with pytest.raises(error, match=says):
            call(**options)
        assert la.profiler.state() == "stopped"


def test_settings_are_kept_until_changed():
    la.profiler.set_config(filename="a.json", profile_memory=False)
    la.profiler.set_config(dump_period=5, continuous_dump=0)
    la.profiler.start()
    op("one")
    la.profiler.dump()
    assert names("a.json") == ["one"]
    assert not Trace("a.json").counters("pending operators")
    la.profiler.set_config(profile_all=True)
    la.profiler.start()
    op("two")
    la.profiler.dump()
    assert names("a.json") == ["two"] and Trace("a.json").counters("pending operators")


def test_all_of_them_less_one():
    la.profiler.set_config(profile_all=False, profile_memory=True)
    la.profiler.start()
    op("one")
    la.profiler.dump()
    assert names() == [] and Trace("profile.json").counters("pending operators")


def test_settings_do_not_change_while_it_runs():
    la.profiler.start()
    with pytest.raises(RuntimeError, match="stop"):
        la.profiler.set_config(filename="b.json")
    la.profiler.pause()
    with pytest.raises(RuntimeError, match="stop"):
        la.profiler.set_config(filename="b.json")


def test_new_settings_end_the_recording():
    la.profiler.start()
    op("one")
    la.profiler.stop()
    la.profiler.set_config(filename="b.json")
    la.profiler.start()
    op("two")
    la.profiler.stop()
    assert names() == ["one"] and names("b.json") == ["two"]


def test_without_continuous_dump_the_file_waits_for_a_dump():
    la.profiler.set_config(continuous_dump=False, dump_period=0.01)
    la.profiler.start()
    op("one")
    time.sleep(0.05)
    assert names() == []
    la.profiler.dump(finished=False)
    assert names() == ["one"]


def test_with_it_the_file_follows():
    la.profiler.set_config(dump_period=0.01)
    la.profiler.start()
    op("one")
    end = time.monotonic() + 20
    while names() != ["one"]:
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("filename", "error"),
    [
        ("no/such/directory.json", FileNotFoundError),
        (".", IsADirectoryError),
        ("/dev/null", OSError),
    ],
)
def test_files_that_cannot_be_written(filename, error):
    la.profiler.set_config(filename=filename)
    with pytest.raises(error):
        la.profiler.start()
    assert la.profiler.state() == "stopped" and not la.engine._engine.get().stats()["pending_bytes"]
    with pytest.raises(error), la.profiler.profile(filename):
        pass
    assert la.profiler.state() == "stopped"


def test_a_path_that_is_a_link_keeps_it(tmp_path):
    os.symlink("real.json", "link.json")
    with la.profiler.profile("link.json"):
        op("one")
    assert os.path.islink("link.json") and names("real.json") == ["one"]
    with la.profiler.profile(tmp_path / "again.json"):
        op("two")
    assert names("again.json") == ["two"]
    assert sorted(os.listdir()) == ["again.json", "link.json", "real.json"]


def test_what_the_file_says_of_itself():
    la.profiler.start()
    la.profiler.dump()
    whole = json.load(open("profile.json"))
    assert whole["displayTimeUnit"] in ("ns", "ms") and whole["otherData"]["started"]


def test_the_engines_own_trace_and_the_profiler_exclude_each_other():
    la.profiler.start()
    with pytest.raises(RuntimeError, match="traced already"):
        la.engine.get().trace_start()
    op("one")
    la.profiler.dump()
    assert names() == ["one"]
