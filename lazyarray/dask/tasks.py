"""The end of a task: what it returns is finished there, and an error is raised in the task.

A task that handed on pending arrays would keep fusion across tasks, but its memory would not be
there when Dask measures it, its error would be raised by whoever reads the array next (another
task, the thread that writes to the wire or to disk), and its time would be another task's.
``docs/dask.md`` has what the wait costs.
"""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from lazyarray import storage
from lazyarray.dask._replace import replace
from lazyarray.lazy._lazy import Tensor

__all__ = ["adapt_local", "adapt_monitor", "adapt_worker", "finished"]


def finished(result: Any) -> Any:
    """``result``, when the arrays in it have their values; raises what made one of them fail.

    Looks into containers, arrays of objects, and what pickle would take of other objects.
    """
    for x in list(_arrays(result)):  # all are recorded: a first wait flushes, the rest run by then
        x.wait_to_read()
    return result


def _unfinished(result: Any) -> list[Any]:
    """The arrays in ``result`` that have no values (yet)."""
    return [x for x in _arrays(result) if x._state() != "complete"]


def _arrays(result: Any) -> Iterator[Any]:
    todo, seen = deque([result]), {}
    while todo:
        o = todo.popleft()
        if isinstance(o, Tensor):
            yield o
        elif not isinstance(o, _HOLDS_NOTHING) and id(o) not in seen:
            seen[id(o)] = o  # ... which keeps it: another object could have its number
            todo.extend(_inside(o))


_HOLDS_NOTHING = (str, bytes, int, float, complex, type(None), type, ModuleType)


def _inside(o: Any) -> Iterator[Any]:
    if isinstance(o, np.ndarray):
        if o.dtype == object:
            yield from o.flat
        return
    if isinstance(o, dict):
        yield from o.values()
    elif isinstance(o, (list, tuple, set, frozenset, deque)):
        yield from o
    # What says itself how it is pickled (a client's future, say) may lead to all of the process.
    kind: Any = type(o)
    if kind.__reduce_ex__ is object.__reduce_ex__ and kind.__reduce__ is object.__reduce__:
        try:
            yield o.__getstate__()
        except Exception:  # it can't be pickled, and so isn't sent
            return


class _Finishing:
    """A task that ends when its result is there."""

    __slots__ = ("_task",)

    def __init__(self, task: Callable[[Any], Any]) -> None:
        self._task = task

    def __call__(self, data: Any) -> Any:
        return finished(self._task(data))


class _FinishingLater(_Finishing):
    """The same of a coroutine: the worker's loop goes on."""

    __slots__ = ()

    async def __call__(self, data: Any) -> Any:
        return await asyncio.to_thread(finished, await self._task(data))


def adapt_local(local: Any) -> None:
    """Threads, processes, one after the other: ``dask.local`` has one function for all."""

    def make(run: Any) -> Any:
        def execute_task(key: Any, task_info: Any, dumps: Any, loads: Any, *args: Any) -> Any:
            def load(info: Any) -> Any:
                task, data = loads(info)
                return _Finishing(task), data

            return run(key, task_info, dumps, load, *args)

        return execute_task

    replace(local, "execute_task", make)


def adapt_worker(worker: Any) -> None:
    """A worker of ``distributed``: the size it tells of a result is that of what is there."""

    def make(run: Any) -> Any:
        def run_task(task: Any, data: Any, time_delay: float) -> Any:
            done = run(_Finishing(task), data, time_delay)
            _give_back(worker)
            return done

        return run_task

    def make_later(run: Any) -> Any:
        async def run_task(task: Any, data: Any, time_delay: float) -> Any:
            done = await run(_FinishingLater(task), data, time_delay)
            _give_back(worker)
            return done

        return run_task

    def make_actor(run: Any) -> Any:
        def run_actor(func: Any, *more: Any) -> Any:
            return run(lambda *args, **kwargs: finished(func(*args, **kwargs)), *more)

        return run_actor

    replace(worker, "_run_task_simple", make)
    replace(worker, "_run_task_async", make_later)
    replace(worker, "_run_actor", make_actor)
    _adapt_actors(worker)


def _adapt_actors(worker: Any) -> None:
    """What an actor's ``async`` methods and attributes give ends as a task does."""

    async def ended(answer: dict[str, Any]) -> dict[str, Any]:
        if answer["status"] == "OK" and (pending := _unfinished(answer["result"].data)):
            try:
                await asyncio.to_thread(finished, pending)
            except Exception as error:
                return {"status": "error", "exception": worker.to_serialize(error)}
        return answer

    def make_execute(run: Any) -> Any:
        async def actor_execute(self: Any, *args: Any, **kwargs: Any) -> Any:
            return await ended(await run(self, *args, **kwargs))

        return actor_execute

    def make_attribute(run: Any) -> Any:
        async def actor_attribute(self: Any, *args: Any, **kwargs: Any) -> Any:
            return await ended(run(self, *args, **kwargs))

        return actor_attribute

    replace(worker.Worker, "actor_execute", make_execute)
    replace(worker.Worker, "actor_attribute", make_attribute)
    for running in worker.Worker._instances:  # which look into a table that they have made
        for name in ("actor_execute", "actor_attribute"):
            running.handlers[name] = getattr(running, name)


def adapt_monitor(monitor: Any) -> None:
    """What Dask spills, or a client releases, is given back before it is counted.

    A worker that is paused for its memory runs no task, at whose end it would be.
    """

    def make(run: Any) -> Any:
        def get_process_memory(self: Any) -> int:
            memory: int = run(self)
            if storage.pool_stats()["cached"] and memory > _least():
                storage.trim()
                memory = run(self)
            return memory

        return get_process_memory

    replace(monitor.SystemMonitor, "get_process_memory", make)


def _least() -> float:
    """The memory from which on Dask acts on one of this process's workers."""
    worker = sys.modules.get("distributed.worker")  # a scheduler may have none
    least = float("inf")
    for running in list(worker.Worker._instances) if worker else ():
        manager = running.memory_manager
        parts = [getattr(manager, f"memory_{part}_fraction") for part in _PARTS]
        for part in parts if manager.memory_limit else ():
            if part:  # False: it does not
                least = min(least, part * manager.memory_limit)
    return least


_PARTS = ("target", "spill", "pause")


def _give_back(worker: Any) -> None:
    """Keeps little memory of arrays that are gone: Dask stops a worker by what its process has."""
    try:
        limit = worker.get_worker().memory_manager.memory_limit
    except ValueError:  # no worker: a function that is called by itself
        return
    if limit and storage.pool_stats()["cached"] > limit // _KEPT:
        storage.trim()


_KEPT = 16  # ... this part of what the worker may have
