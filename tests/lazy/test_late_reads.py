"""Elements read one by one of an array that isn't there: the program waits, and says so."""

import threading

import pytest

import lazyarray as la

pytestmark = pytest.mark.host


@pytest.fixture
def held():
    """An array that is written only once the second one, an event, is set."""
    x = la.zeros(1000)
    x.wait_to_read()
    free = threading.Event()

    def write(run_ctx):
        free.wait(20)
        run_ctx.numpy(x)[:] = range(1000)

    la.engine.get().push_sync(write, la.cpu(0), (), (x.var,))
    yield x, free
    free.set()
    la.waitall()


def soon(free, seconds=0.1):
    threading.Timer(seconds, free.set).start()


def waits():
    return [r for r in la.sync_report() if "one by one" in r.what]


@pytest.mark.parametrize("read", [list, lambda x: [x[i] for i in range(1000)]])
def test_the_rest_is_read_at_once(held, read):
    x, free = held
    soon(free)
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
