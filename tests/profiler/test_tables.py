"""dumps() and summary(): sums, their order, their words."""

import inspect
import json
import re
import time

import pytest

import lazyarray as la
from lazyarray.engine import Device
from lazyarray.profiler import pictures
from lazyarray.profiler.summary import bandwidth

from ..waiting import until, waits
from .reading import NAIVE

CPU = Device("cpu", 0)


def sleeps(name, ms, times=1):
    for _ in range(times):
        la.engine.get().push_sync(lambda rc: time.sleep(ms / 1e3), CPU, name=name)


def test_counters_of_no_numbers_are_json():
    with la.profiler.profile("t.json"):
        for value in (float("nan"), 2, float("inf"), 1):
            la.profiler.counter("odd", value)
        la.profiler.counter("all", float("nan"))

    def no(constant):
        raise AssertionError(f"JSON has no {constant}")

    found = json.loads(la.profiler.dumps(format="json"), parse_constant=no)["counters"]
    assert found["odd"] == {"count": 4, "last": 1, "min": 1, "max": "inf"}
    assert found["all"] == {"count": 1, "last": "nan", "min": "nan", "max": "nan"}
    assert "odd" in pictures.counters("t.json")


@pytest.fixture
def recorded():
    x = la.random.uniform(size=(300, 300))
    x.wait_to_read()
    with la.profiler.profile("t.json"):
        sleeps("slow", 12)
        sleeps("fast", 1, times=4)
        with la.profiler.task("the task"), la.profiler.event("the event"):
            y = x @ x
            float(y.sum())
        la.ones(10) + 1
        la.profiler.counter("loss", 3)
        la.profiler.counter("loss", 1)


def table(**options):
    return json.loads(la.profiler.dumps(format="json", **options))


def test_json(recorded):
    found = table()
    rows = {r["name"]: r for r in found["operators"]}
    assert rows["slow"]["count"] == 1 and rows["slow"]["total_ms"] >= 12
    fast = rows["fast"]
    assert fast["count"] == 4 and fast["total_ms"] >= 4
    assert 1 <= fast["min_ms"] <= fast["avg_ms"] <= fast["max_ms"]
    assert fast["avg_ms"] == pytest.approx(fast["total_ms"] / 4)
    matmul = next(r for n, r in rows.items() if "matmul" in n)
    assert matmul["bytes"] >= 3 * 300 * 300 * 8
    assert matmul["GB/s"] == pytest.approx(matmul["bytes"] / matmul["total_ms"] / 1e6)
    assert "add" in [r["name"] for r in found["inline"]]
    assert [r["name"] for r in found["tasks"]] == ["the task"] and found["frames"] == []
    assert [r["name"] for r in found["events"]] == ["the event"]
    assert found["counters"]["loss"] == {"count": 2, "last": 1, "min": 1, "max": 3}
    waits = {r["name"]: r for r in found["waits"]}
    if not NAIVE:
        assert waits["float()"]["file"] == __file__ and waits["float()"]["function"] == "recorded"
    assert found["seconds"] >= 0.012


def test_table(recorded):
    text = la.profiler.dumps()
    line = next(line for line in text.splitlines() if line.startswith("fast"))
    assert line.split()[1] == "4"
    assert re.search(r"^Operators +count +total ms +min +max +avg +MB +GB/s$", text, re.M)
    for title in ("Operations run inline", "Waits", "Events", "Tasks", "Counters"):
        assert re.search(rf"^{title} ", text, re.M), title
    assert "Frames" not in text


def test_a_long_name_does_not_widen_each_row(profiled):
    """One of 100,000 characters beside 50 others made 5 MB of text."""

    def work():
        for i in range(50):
            with la.profiler.event(f"event {i}"):
                pass
        with la.profiler.event("x" * 100_000):
            pass
        la.profiler.counter("y" * 100_000, 1)

    profiled(work)
    text = la.profiler.dumps()
    assert len(text) < 50_000 and "x" * 160 + "..." in text and "y" * 160 + "..." in text


@pytest.mark.parametrize("by", ["total", "count", "min", "max", "avg", "bytes", "name"])
def test_order(recorded, by):
    key = {"count": "count", "bytes": "bytes", "name": "name"}.get(by, f"{by}_ms")
    down = [r[key] for r in table(sort_by=by)["operators"]]
    up = [r[key] for r in table(sort_by=by, ascending=True)["operators"]]
    assert len(down) >= 3
    if by == "name":  # from a on, but for `ascending`
        assert down == sorted(down) and up == sorted(up, reverse=True)
    else:
        assert down == sorted(down, reverse=True) and up == sorted(up)


def test_reset():
    la.profiler.start()
    sleeps("one", 1)
    la.waitall()
    assert [r["name"] for r in table(reset=True)["operators"]] == ["one"]
    sleeps("two", 1)
    la.waitall()
    found = table()
    assert [r["name"] for r in found["operators"]] == ["two"] and found["counters"]
    la.profiler.dump()
    assert [r["name"] for r in table()["operators"]] == ["two"]  # also when it is finished


def test_bad_arguments(recorded):
    with pytest.raises(ValueError, match="sort_by"):
        la.profiler.dumps(sort_by="time")
    with pytest.raises(ValueError, match="format"):
        la.profiler.dumps(format="xml")


def test_without_sums():
    with la.profiler.profile("t.json", aggregate_stats=False):
        sleeps("one", 1)
    for call in (la.profiler.dumps, la.profiler.summary):
        with pytest.raises(RuntimeError, match="aggregate_stats"):
            call()


def test_seconds_leave_pauses_out():
    at = [time.perf_counter()]
    la.profiler.start()
    time.sleep(0.01)
    la.profiler.pause()
    at.append(time.perf_counter())
    time.sleep(0.2)
    at.append(time.perf_counter())
    la.profiler.resume()
    time.sleep(0.01)
    la.profiler.stop()
    at.append(time.perf_counter())
    assert 0.02 <= table()["seconds"] <= at[1] - at[0] + at[3] - at[2]


# ---- in words ------------------------------------------------------------------------------------


def test_summary_tells_where_the_time_went(recorded):
    text = la.profiler.summary()
    assert re.search(
        r"^Profiled for [\d.]+ m?s: \d+ operations in \d+ operators, and \d+ tiny", text
    )
    assert re.search(r"^MainThread .*did other things", text, re.M)
    assert re.search(r"once .* ms: slow at .*test_tables.py:\d+ in sleeps", text)
    assert re.search(r"4 times .* ms: fast at", text)
    assert "Memory delivers" in text and "pending" in text
    assert (
        ("There were no workers" in text)
        if NAIVE
        else re.search(r"worker \d+ of .*idle \d+ %", text)
    )


@pytest.mark.skipif(NAIVE, reason="needs workers")
def test_summary_names_the_lines_that_waited():
    x = la.ones(3)
    before = waits()

    def op(rc):
        until(lambda: waits() > before)
        time.sleep(0.05)

    with la.profiler.profile("t.json"):
        la.engine.get().push_sync(op, CPU, (), (x.var,), name="it")
        line = inspect.currentframe().f_lineno + 1
        x.asnumpy()
    text = la.profiler.summary()
    found = re.search(r"It was waited for:\n  ([\d.]+) ms \((\d+) %\), once: (.*)", text)
    assert found and found[3].startswith(f"asnumpy at {__file__}:{line} in ")
    share = 0.1 * float(found[1]) / table()["seconds"]
    assert float(found[1]) >= 50 and int(found[2]) == pytest.approx(share, abs=1)
    waited = re.search(r"^MainThread waited for ([\d.]+) ms", text, re.M)
    assert waited and float(waited[1]) >= float(found[1]) - 0.1


def test_summary_compares_with_the_memory():
    x = la.random.uniform(size=2_000_000)
    x.wait_to_read()
    with la.profiler.profile("t.json"):
        for _ in range(3):
            (x + 1).wait_to_read()
    text = la.profiler.summary()
    found = re.search(r"3 times .*: add at .*; moves ([\d.]+) GB/s, (\d+) % of memory's", text)
    assert found
    digits = 5e9 / bandwidth()  # what the rate's one decimal leaves open
    assert int(found[2]) == pytest.approx(1e11 * float(found[1]) / bandwidth(), abs=1 + digits)


def test_nested_waits_and_operators_count_once():
    """A thread that waits, and meanwhile runs an operator that waits: its time is not doubled."""
    x = la.ones(3)

    def inner(rc):
        la.engine.get().push_sync(lambda rc: time.sleep(0.02), CPU, (), (y.var,))
        y.wait_to_read()

    y = la.zeros(3)
    with la.profiler.profile("t.json"):
        la.engine.get().push_sync(inner, CPU, (), (x.var,))
        x.wait_to_read()
    text = la.profiler.summary()
    shares = [int(s) for s in re.findall(r"\((\d+) %\)", next(
        line for line in text.splitlines() if line.startswith("MainThread")))]  # fmt: skip
    assert sum(shares) <= 103, text
