"""What programs name themselves."""

import inspect
import json
import math
import threading
import time

import numpy as np
import pytest

import lazyarray as la

from .reading import Trace


def spans(trace, kind):
    """name: [(begin, end)] of tasks or frames."""
    open_, out = {}, {}
    for e in trace.events:
        if e.get("cat") == kind:
            if e["ph"] == "b":
                open_[e["id"]] = e
            else:
                b = open_.pop(e["id"])
                assert b["name"] == e["name"] and b["ts"] <= e["ts"]
                out.setdefault(e["name"], []).append((b["ts"], e["ts"], b))
    assert not open_
    return out


@pytest.mark.parametrize("kind", ["task", "frame"])
def test_tasks_and_frames(profiled, kind):
    make = getattr(la.profiler, kind)

    def work():
        with make("outer", domain="d"):
            for _ in range(3):
                with make("inner"):
                    la.ones(3) + 1
        # ends in another thread, and crosses another
        one, two = make("one").start(), make("two").start()
        thread = threading.Thread(target=one.stop)
        thread.start()
        thread.join()
        two.stop()

    found = spans(profiled(work), kind)
    assert {name: len(s) for name, s in found.items()} == {
        "outer": 1,
        "inner": 3,
        "one": 1,
        "two": 1,
    }
    (begin, end, event), *_ = found["outer"]
    assert all(begin <= b <= e <= end for b, e, _ in found["inner"])
    assert event["args"]["domain"] == "d" and "test_scopes.py:" in event["args"]["line"]


def test_events_are_on_their_threads_track(profiled):
    line = []

    def work():
        line.append(inspect.currentframe().f_lineno + 1)
        with la.profiler.event("outer"):
            with la.profiler.event("inner"):
                la.ones(3) * 2

    trace = profiled(work)
    outer, inner = trace.one("event", "outer"), trace.one("event", "inner")
    op = trace.one("inline", "multiply")
    assert outer["tid"] == inner["tid"] == op["tid"] and trace.track(op) == "MainThread"
    for a, b in ((outer, inner), (inner, op)):
        assert a["ts"] <= b["ts"] and b["ts"] + b["dur"] <= a["ts"] + a["dur"]
    assert outer["args"]["line"] == f"{__file__}:{line[0]} in work"


def test_a_scope_may_be_used_again(profiled):
    task = la.profiler.task("t")

    def work():
        for _ in range(2):
            with task as t:
                assert t is task

    assert len(spans(profiled(work), "task")["t"]) == 2
    with pytest.raises(RuntimeError, match="not started"):
        task.stop()
    assert repr(task) == "<task 't'>"


def test_markers(profiled):
    def work():
        la.profiler.marker("here")
        la.profiler.marker("there", domain="d")

    trace = profiled(work)
    assert trace.one("marker", "here")["ph"] == "i"
    assert trace.one("marker", "there")["args"]["domain"] == "d"


def test_counters(profiled):
    def work():
        c = la.profiler.counter("c")
        c.set_value(5)
        c.increment()
        c.increment(2)
        c.decrement(np.int64(4))
        c += 1.5
        c -= np.float32(0.5)
        assert c.value == 5 and repr(c) == "<counter 'c': 5.0>"
        la.profiler.counter("loss", 0.5, domain="train")
        la.profiler.counter("loss", 0.25, domain="train")
        for odd in (math.nan, math.inf, -math.inf, 1e300, 2**70, 2**53 - 1, 0.1):
            la.profiler.counter("odd", odd)

    trace = profiled(work)
    assert trace.counters("c") == [5, 6, 8, 4, 5.5, 5]
    assert trace.counters("loss, train") == [0.5, 0.25]
    assert trace.counters("odd") == ["nan", "inf", "-inf", 1e300, 2**70, 2**53 - 1, 0.1]


def test_counting_from_several_threads():
    c = la.profiler.counter("c", 0)

    def count():
        for _ in range(1000):
            c.increment()

    threads = [threading.Thread(target=count) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert c.value == 4000


@pytest.mark.parametrize("kind", ["task", "frame", "event"])
def test_what_began_before_counts_from_the_start_on(profiled, kind):
    begun = getattr(la.profiler, kind)("early").start()
    time.sleep(0.001)

    def work():
        la.profiler.pause()  # in which it goes on
        time.sleep(0.02)
        la.profiler.resume()
        begun.stop()

    trace = profiled(work)
    assert all(e["ts"] >= 0 for e in trace.events if "ts" in e)
    (row,) = json.loads(la.profiler.dumps(format="json"))[f"{kind}s"]
    assert row["total_ms"] >= 20


@pytest.mark.parametrize("value", ["1", None, 1j, [1]])
def test_counters_count_real_numbers(value):
    c = la.profiler.counter("c")
    for method in (c.set_value, c.increment, c.decrement):
        with pytest.raises(TypeError, match="real numbers"):
            method(value)
    assert c.value == 0


def test_a_counter_does_not_wait_for_an_array():
    for value in (la.ones(1).sum(), la.ones(())):
        with pytest.raises(TypeError, match=r"not arrays: float\(x\)"):
            la.profiler.counter("c", value)


@pytest.mark.parametrize("kind", ["task", "frame", "event", "counter", "marker"])
def test_names_are_strings(kind):
    make = getattr(la.profiler, kind)
    with pytest.raises(TypeError, match="name"):
        make(3)
    with pytest.raises(TypeError, match="domain"):
        make("n", domain=3)


def test_nothing_is_recorded_while_it_is_off(profiled):
    with la.profiler.task("off"), la.profiler.event("off"):
        la.profiler.marker("off")
        la.profiler.counter("off", 1)
    begun_before = la.profiler.task("begun before").start()
    late = []

    def work():
        begun_before.stop()
        late.append(la.profiler.task("ends after").start())

    trace = profiled(work)
    late[0].stop()
    assert set(spans(trace, "task")) == {"begun before"}
    assert not any(e["name"] == "off" for e in trace.events)


STRANGE = ['"', "\\", "\n\t\0\x1f", "é", "→ \U0001f600", "\x7f", "\udc80", "x" * 5000, "é" * 5000,
           "\x01" * 5000, "</script>", ""]  # fmt: skip


def test_strange_names(profiled):
    def work():
        for name in STRANGE:
            la.profiler.marker(name, domain=name)
            with la.profiler.task(name, domain=name), la.profiler.event(name, domain=name):
                pass
            la.profiler.counter(name, 1, domain=name)
            la.engine.get().push_sync(lambda rc: None, la.cpu(), name=name.replace("\udc80", ""))

    trace = profiled(work)
    found = [e["name"] for e in trace.of("marker")]
    for name, got in zip(STRANGE, found, strict=True):
        if len(name) < 100:
            assert got == name.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
        else:
            assert got.endswith("...") and name.startswith(got[:-3]) and len(got) > 50


def test_names_survive_a_dump_with_a_strange_file_name(tmp_path):
    path = tmp_path / 'a "strange" näme\n.json'
    with la.profiler.profile(path):
        la.profiler.marker("m")
    assert Trace(path).one("marker")
    json.loads(la.profiler.dumps(format="json"))
