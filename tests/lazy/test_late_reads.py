"""Elements read one by one of an array that isn't there: the program waits, and says so."""

import signal
import threading
import time

import pytest

import lazyarray as la

from ..waiting import once_waited

pytestmark = pytest.mark.host


@pytest.fixture
def held():
    """An array that is written only once the second one, an event, is set."""
    x = la.zeros(1000)
    x.wait_to_read()
    x[0]  # what is there begins the count anew
    whole, free = x[:], threading.Event()

    def write(run_ctx):
        free.wait(20)
        run_ctx.numpy(whole)[:] = range(1000)

    la.engine.get().push_sync(write, la.cpu(0), (), (x.var,))
    yield x, free
    free.set()
    la.waitall()


def waits():
    return [r for r in la.sync_report() if "one by one" in r.what]


@pytest.mark.parametrize("read", [list, lambda x: [x[i] for i in range(1000)]])
def test_the_rest_is_read_at_once(held, read):
    x, free = held
    once_waited(free.set)
    la.sync_report(reset=True)
    assert [float(s) for s in read(x)] == list(range(1000))
    (place,) = waits()
    assert place.count == 1 and "test_late_reads.py" in place.where


def test_a_few_reads_wait_for_nothing(held):
    x, free = held
    la.sync_report(reset=True)
    few = [x[i] + 1 for i in range(5)] + list(x[:5])
    assert not waits() and few[0]._state() == "pending"
    free.set()
    assert [float(s) for s in few] == [*range(1, 6), *range(5)]


def test_nothing_waits_where_nothing_may(held):
    x, free = held
    with la.no_sync():
        kept = list(x)
        kept += [x[i] for i in range(100)]
    assert kept[0]._state() == "pending"
    with la.engine.bulk(10_000):
        kept += list(x)
    free.set()
    assert [float(s) for s in kept] == [*range(1000), *range(100), *range(1000)]


def test_a_writer_that_waits_for_the_reader(held):
    x, free = held
    kept = list(x) + [x[i] for i in range(1000)]  # each waits once, and not for long
    assert kept[0]._state() == "pending"
    free.set()
    assert [float(s) for s in kept] == [*range(1000), *range(1000)]


@pytest.mark.parametrize("iterates", [False, True])
def test_another_shape_meanwhile(held, iterates):
    x, free = held
    entries = iter(x)

    def shrink(*_):
        free.set()
        x.resize((4,), refcheck=False)

    before = signal.signal(signal.SIGALRM, shrink)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        if iterates:
            assert len(list(entries)) == 4
        else:
            with pytest.raises(IndexError):
                [x[999] for _ in range(16)]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_handler_that_raises_costs_no_element(held):
    x, free = held
    entries = iter(x)

    def fail(*_):
        raise KeyError

    before = signal.signal(signal.SIGALRM, fail)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
        with pytest.raises(KeyError):
            next(entries)
            time.sleep(1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    free.set()
    assert float(next(entries)) == 0.0


def test_a_truth_in_a_list_is_not_asked_for():
    pending, x = la.arange(1e6).sum() > 3, la.zeros(3, bool)
    with la.no_sync():
        x[1] = [pending]
    assert x.tolist() == [False, True, False]


def test_an_error_comes_where_an_element_is_used():
    x = la.linalg.inv(la.zeros((70, 70)))[0]
    elements = list(x)
    assert len(elements) == 70
    with pytest.raises(la.linalg.LinAlgError):
        float(elements[69])


def test_reads_of_what_is_there_begin_the_count_anew(held):
    x, free = held
    y = la.arange(100.0)
    y.wait_to_read()
    la.sync_report(reset=True)
    kept = []
    for i in range(100):
        kept.append(x[i])
        kept.append(y[i])
    assert not waits()
    free.set()
    assert [float(s) for s in kept] == [i for i in range(100) for _ in range(2)]
