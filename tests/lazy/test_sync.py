"""Waits are visible: the report, and la.no_sync()."""

import inspect
import math
import pickle
import threading
import time

import numpy as np
import pytest

import lazyarray as la

from ..waiting import until, waits

asynchronous = pytest.mark.skipif(
    isinstance(la.engine.get(), la.engine.NaiveEngine), reason="nothing takes time at a wait"
)


def elsewhere(f):
    """f() in another thread; its error."""
    errors = []

    def run():
        try:
            f()
        except Exception as e:
            errors.append(e)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return errors[0] if errors else None


@pytest.mark.parametrize("scope", [la.no_sync, lambda: la.cpu(1), la.autograd.record])
def test_a_scope_is_left_by_the_thread_that_entered_it(scope):
    def state():
        found = [(la.current_context(), la.autograd.is_recording())]
        try:
            float(la.ones(200_000).sum())
        except RuntimeError:
            found.append("no_sync")
        return found

    outside = state()
    s = scope()
    with pytest.raises(RuntimeError, match="left more often than entered"):
        s.__exit__(None, None, None)
    assert state() == outside
    s.__enter__()
    inside = state()
    assert inside != outside
    assert "left more often" in str(elsewhere(lambda: s.__exit__(None, None, None)))
    assert state() == inside

    def also():
        with s:
            assert state() == inside

    assert elsewhere(also) is None and state() == inside
    s.__enter__()
    s.__exit__(None, None, None)
    assert state() == inside
    s.__exit__(None, None, None)
    assert state() == outside


def test_no_sync_takes_no_arguments():
    with pytest.raises(TypeError):
        la.no_sync("a")


def test_the_report_counts_waits_by_line():
    la.sync_report(reset=True)
    x = la.ones(4)
    for _ in range(3):
        float(x.sum())
    x.asnumpy()
    report = la.sync_report()
    assert report.total == 4
    rows = {row.what: row for row in report}
    assert rows["float()"].count == 3
    assert rows["float()"].file == __file__
    assert rows["float()"].function == "test_the_report_counts_waits_by_line"
    assert "asnumpy" in str(report)
    assert la.sync_report(reset=True).total == 4
    assert la.sync_report().total == 0


HIDDEN = {
    "bool": lambda x: bool(x.sum()),
    "float": lambda x: float(x.sum()),
    "int": lambda x: int(x.sum()),
    "complex": lambda x: complex(x.sum()),
    "repr": repr,
    "str": str,
    "tolist": lambda x: x.tolist(),
    "np.asarray": np.asarray,
    "pickle": pickle.dumps,
    "index": lambda x: [1, 2, 3, 4, 5][x.astype("i8").sum()],
    "mask": lambda x: x[x > 0],
}


@pytest.mark.parametrize("name", HIDDEN)
def test_no_sync_makes_hidden_waits_raise(name):
    x = la.ones(4)
    with la.no_sync(), pytest.raises(RuntimeError, match="no_sync"):
        HIDDEN[name](x)
    HIDDEN[name](x)


def test_no_sync_lets_explicit_waits_through():
    x = la.ones(4)
    with la.no_sync():
        with la.no_sync():
            pass
        assert x.sum().item() == 4
        x.wait_to_read()
        x.asnumpy()
        la.waitall()
        with pytest.raises(RuntimeError):
            float(x.sum())


# ---- the report ---------------------------------------------------------------------------------


def here():
    return inspect.currentframe().f_back.f_lineno


def rows():
    return {(row.line, row.what): row for row in la.sync_report() if row.file == __file__}


def helper(x):
    return float(x.sum()), here()


def test_the_line_is_the_innermost_one_outside_the_package():
    la.sync_report(reset=True)
    x = la.arange(4.0)
    _, line = helper(x)
    helper(x)
    waited = [la.nonzero(x), la.unique(x), np.asarray(x), la.array([x[0], 1.0])], here()
    text = (
        str(x),
        here(),
    )
    in_callback = la.apply_along_axis(lambda row: row * float(row.max()), 0, x), here()
    seen = rows()
    assert seen[line, "float()"].count == 2 and seen[line, "float()"].function == "helper"
    assert {what for at, what in seen if at == waited[1]} >= {"unique()", "__array__"}
    assert seen[text[1] - 1, "str()"].function.startswith("test_the_line")
    assert seen[in_callback[1], "float()"].function == "<lambda>"
    for row in seen.values():
        assert row.where == f"{__file__}:{row.line} in {row.function}"


@asynchronous  # else operators do all
@pytest.mark.host  # nothing runs inline on a GPU
def test_to_read_a_number_that_was_computed_at_the_call_is_no_wait():
    la.sync_report(reset=True)
    x = la.arange(4.0)
    for i in range(4):
        if x[i] > 2 and not x[i] == 7:
            float(x[i] + 1), int(x[i]), hash(x[i]), math.sqrt(x[i]), [0] * 9, f"{x[i]:.1f}"
    assert la.sync_report().total == 0
    with la.no_sync(), pytest.raises(RuntimeError, match="no_sync"):
        float(x[1])
    later = (la.ones(1_000_000) * 2).sum()
    assert float(later) == 2_000_000
    assert la.sync_report().total == 1


def slow(seconds, x, then=lambda: None):
    """Records a write of ``x`` that takes that long from when it is waited for."""
    before = waits()

    def run(ctx):
        until(lambda: waits() > before)
        time.sleep(seconds)
        then()

    la.engine.get().push_sync(run, la.cpu(), [], [x.var])


@asynchronous
@pytest.mark.parametrize("helping", [False, True])
def test_the_time_is_what_was_waited(helping):
    la.sync_report(reset=True)
    x, y = la.ones(4), la.ones(4)
    la.waitall()
    if helping:  # a waiter runs what its target depends on itself, waits in it included
        slow(0.1, x, lambda: float(y[0]))
    else:
        slow(0.1, x)
    begun = time.perf_counter()
    x.asnumpy(), x.asnumpy()
    taken = time.perf_counter() - begun
    line = here() - 2
    row = rows()[line, "asnumpy"]
    assert row.count == 2 and 0.09 < row.seconds <= taken
    slow(0.1, x)
    la.waitall()
    assert rows()[here() - 1, "waitall"].seconds > 0.09
    report = la.sync_report()
    assert report.seconds == sum(r.seconds for r in report)
    assert [r.seconds for r in report] == sorted((r.seconds for r in report), reverse=True)


@asynchronous
def test_a_wait_that_raises_counts_with_its_time():
    la.sync_report(reset=True)
    x = la.ones(3)

    def fail():
        raise ValueError("no")

    slow(0.1, x, fail)
    with pytest.raises(ValueError, match="no"):
        x.asnumpy()
    row = rows()[here() - 1, "asnumpy"]
    assert row.count == 1 and row.seconds > 0.09


def test_the_table_is_aligned():
    la.sync_report(reset=True)
    x = la.ones(4)
    for _ in range(1200):
        float(x.sum())
    x.asnumpy()
    head, *table, last = str(la.sync_report()).split("\n")
    what, where = head.index("where"), head.index("ms") + 2
    assert len(table) == 2 and last.endswith("in all") and last.split()[0] == "1201"
    for line in table:
        assert line[what - 1] == " " and line[what:].startswith(__file__)
        assert line[where - 1].isdigit() and line[where] == " "
    assert str(la.SyncReport()).split("\n")[-1].split() == ["0", "0.000", "in", "all"]


def test_the_rows_are_bounded():
    la.sync_report(reset=True)
    x = la.ones(1)
    many = 10500
    source = "def run(x):\n" + "    x.item()\n" * many + "    [x.item() for _ in range(3)]\n"
    scope = {}
    exec(compile(source, "many", "exec"), scope)
    scope["run"](x)
    report = la.sync_report()
    assert len(report) <= 10001 and report.total == many + 3
    (elsewhere,) = [row for row in report if row.file == "<elsewhere>"]
    assert elsewhere.count >= 5000 and elsewhere.where == "<elsewhere>"
    assert "<elsewhere>" in str(report)
    scope["run"](x)  # places that were forgotten come again
    assert la.sync_report(reset=True).total == 2 * (many + 3)
    assert la.sync_report() == []
    assert la.ones(1).item() == 1 and la.sync_report().total == 1


@asynchronous
def test_a_wait_under_way_as_its_place_is_forgotten_counts():
    la.sync_report(reset=True)
    x, y = la.ones(4), la.ones(1)
    la.waitall()
    begun, forgotten = threading.Event(), threading.Event()
    slow(0.06, x, lambda: (begun.set(), forgotten.wait(60)))
    thread = threading.Thread(target=x.asnumpy)
    thread.start()
    assert begun.wait(60)
    source = "def run(x):\n" + "    x.item()\n" * 10500
    scope = {}
    exec(compile(source, "many", "exec"), scope)
    scope["run"](y)
    forgotten.set()
    thread.join()
    report = la.sync_report(reset=True)
    assert report.seconds > 0.05 and len(report) <= 10001 and report.total == 10502
