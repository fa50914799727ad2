"""asyncio: awaiting arrays blocks nothing, and the loop is woken when they are complete."""

import asyncio
import gc
import threading
import time
import weakref

import numpy as np
import pytest

import lazyarray as la

naive = isinstance(la.engine.get(), la.engine.NaiveEngine)
asynchronous = pytest.mark.skipif(naive, reason="the naive engine runs each op at the call")


def held():
    """An array whose writer waits for an event, and that event."""
    x, event = la.full(3, 7.0), threading.Event()
    x.wait_to_read()
    la.engine.get().push_sync(lambda ctx: event.wait(20), la.cpu(0), mutable_vars=[x.var])
    return x, event


def failing():
    return la.array([1, 2]) ** la.array([-1, 2])


def test_what_is_complete_needs_no_turn():
    async def main():
        x = la.ones(3)
        x.wait_to_read()
        assert await x is x
        s = x.sum()
        return float(await s)

    assert asyncio.run(main()) == 3


def test_large_work_is_awaited():
    async def main():
        x = la.ones(1_000_000)
        for _ in range(20):
            x = x * 1.5 + 1
        await x
        assert x._state() == "complete"
        return x

    want = np.ones(1)
    for _ in range(20):
        want = want * 1.5 + 1
    assert asyncio.run(main())[-1] == want[0]


@asynchronous
def test_the_loop_goes_on_meanwhile():
    async def main():
        x, event = held()
        waiting = asyncio.ensure_future(x)
        for _ in range(5):
            await asyncio.sleep(0.002)
            assert not waiting.done()
        event.set()
        assert await waiting is x
        return x.tolist()

    assert asyncio.run(main()) == [7, 7, 7]


@asynchronous
def test_a_sleeping_loop_is_woken():
    async def main():
        x, event = held()
        threading.Timer(0.05, event.set).start()
        start = time.perf_counter()
        await asyncio.wait_for(x, 10)
        return time.perf_counter() - start

    assert asyncio.run(main()) < 5


def test_many_at_once():
    async def one(i):
        x = la.arange(1000.0) * i
        return float(await x.sum())

    async def main():
        found = await asyncio.gather(*map(one, range(50)))
        arrays = [la.ones(100_000) * i for i in range(20)]
        done, other = await asyncio.gather(la.completed(*arrays), one(2))
        assert [float(x[0]) for x in done] == list(range(20)) and other == 999_000
        assert await la.completed() == ()
        return found

    assert asyncio.run(main()) == [499_500.0 * i for i in range(50)]


@asynchronous
def test_errors_are_raised_at_the_await():
    async def main():
        for _ in range(2):
            with pytest.raises(ValueError, match="negative integer powers"):
                await failing()
        bad = failing()
        with pytest.raises(ValueError, match="negative integer powers"):
            await la.completed(la.ones(2), bad + 1)
        with pytest.raises(ValueError, match="negative integer powers"):
            await bad
        bad[:] = 1
        return (await bad).tolist()

    assert asyncio.run(main()) == [1, 1]


@asynchronous
@pytest.mark.parametrize("late", [False, True])
def test_an_op_that_raised_stop_iteration(late):
    def fail(ctx):
        event.wait(20 if late else 0)
        raise StopIteration(3)

    async def main():
        la.engine.get().push_sync(fail, la.cpu(0), mutable_vars=[x.var])
        if late:
            asyncio.get_running_loop().call_later(0.01, event.set)
        with pytest.raises(RuntimeError, match="StopIteration") as told:
            await asyncio.wait_for(x, 10)
        assert isinstance(told.value.__cause__, StopIteration)

    x, event = la.ones(3), threading.Event()
    x.wait_to_read()
    asyncio.run(main())


@asynchronous
def test_an_error_that_comes_while_it_is_awaited():
    async def main():
        x, event = held()
        y = la.array([1, 2, 3]) ** (x.astype(int) - 8)
        waiting = asyncio.ensure_future(y)
        await asyncio.sleep(0.01)
        event.set()
        with pytest.raises(ValueError, match="negative integer powers"):
            await waiting

    asyncio.run(main())


@asynchronous
def test_a_cancelled_await_leaves_the_array():
    async def main():
        x, event = held()
        waiting = asyncio.ensure_future(x)
        await asyncio.sleep(0.002)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(x, 0.01)
        event.set()
        return (await x).tolist()

    assert asyncio.run(main()) == [7, 7, 7]


@asynchronous
def test_a_loop_that_is_closed_before():
    loop = asyncio.new_event_loop()
    x, event = held()

    async def begin():
        waiting = asyncio.ensure_future(x)
        await asyncio.sleep(0.002)
        waiting.cancel()

    loop.run_until_complete(begin())
    loop.close()
    event.set()
    assert x.tolist() == [7, 7, 7]
    la.waitall()


def test_without_a_loop():
    with pytest.raises(StopIteration) as done:
        next(iter(la.ones(2).wait_to_read().__await__()))
    assert done.value.value.tolist() == [1, 1]
    if not naive:
        x, event = held()
        try:
            with pytest.raises(RuntimeError, match="no running event loop"):
                next(iter(x.__await__()))
        finally:
            event.set()
        x.wait_to_read()


@asynchronous
def test_awaiting_is_no_wait():
    async def main():
        x, event = held()
        la.sync_report(reset=True)
        threading.Timer(0.01, event.set).start()
        with la.no_sync():
            await x
        return la.sync_report().total

    assert asyncio.run(main()) == 0


@asynchronous
def test_nothing_is_kept():
    async def main():
        x, event = held()
        gone = weakref.ref(x)
        waiting = asyncio.ensure_future(x)
        await asyncio.sleep(0.002)
        event.set()
        await waiting
        return gone

    gone = asyncio.run(main())
    la.waitall()
    end = time.monotonic() + 10
    while gone() is not None and time.monotonic() < end:
        # A worker's last reference is dropped by who comes next, a moment after its op ended.
        (la.ones(1_000_000) + 1).wait_to_read()
        gc.collect()
    assert gone() is None


def test_readings_between_two_loops_in_two_threads():
    x = la.ones(1_000_000)
    results = []

    def thread():
        async def main():
            y = x
            for _ in range(10):
                y = await (y + 1)
            return float(y[0])

        results.append(asyncio.run(main()))

    threads = [threading.Thread(target=thread) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [11.0] * 4


@asynchronous
def test_gather_takes_arrays():
    async def main():
        (x, event), y, total = held(), la.ones(3), la.ones(100_000).sum() + 0.0
        threading.Timer(0.05, event.set).start()
        return await asyncio.gather(x, y + 1, y + 1, total, asyncio.sleep(0, "other"))

    x, a, b, total, other = asyncio.run(main())
    assert x.tolist() == [7, 7, 7] and a is not b and a.tolist() == b.tolist() == [2, 2, 2]
    assert total == 100_000 and other == "other"


def test_as_completed_takes_arrays():
    async def main():
        arrays = [la.ones(3) * i for i in range(4)]
        return [float((await x)[0]) for x in asyncio.as_completed(arrays)]

    assert sorted(asyncio.run(main())) == [0, 1, 2, 3]


def test_a_failed_array_fails_the_gathering():
    async def main():
        await asyncio.gather(la.ones(3), failing())

    with pytest.raises(ValueError, match="negative integer powers"):
        asyncio.run(main())


def test_arrays_have_no_hash_elsewhere():
    for x in (la.ones(3), la.ones(100_000) + 1):
        with pytest.raises(TypeError, match="unhashable"):
            hash(x)
        with pytest.raises(TypeError, match="unhashable"):
            {x}
