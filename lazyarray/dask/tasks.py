"""The end of a task: what it returns is finished there, and an error is raised in the task.

A task that handed on pending arrays would keep fusion across tasks, but its memory would not be
there when Dask measures it, its error would be raised by whoever reads the array next (another
task, the thread that writes to the wire or to disk), and its time would be another task's.
``docs/dask.md`` has what the wait costs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lazyarray import storage
from lazyarray.dask._replace import replace
from lazyarray.lazy._lazy import Tensor

__all__ = ["adapt_local", "adapt_worker", "finished"]


def finished(result: Any) -> Any:
    """``result``, when the arrays in it have their values; raises what made one of them fail.

    Looks into lists, tuples and dicts.
    """
    found: list[Any] = []
    _collect(result, found, 0)
    for x in found:  # all are recorded: a first wait flushes, and the rest run side by side
        x.wait_to_read()
    return result


def _collect(o: Any, found: list[Any], depth: int) -> None:
    if isinstance(o, Tensor):
        found.append(o)
    elif depth < _DEPTH:
        if isinstance(o, (list, tuple)):
            for each in o:
                _collect(each, found, depth + 1)
        elif isinstance(o, dict):
            for each in o.values():
                _collect(each, found, depth + 1)


_DEPTH = 8  # of nested containers


class _Finishing:
    """A task that ends when its result is there."""

    __slots__ = ("_task",)

    def __init__(self, task: Callable[[Any], Any]) -> None:
        self._task = task

    def __call__(self, data: Any) -> Any:
        return finished(self._task(data))


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

    replace(worker, "_run_task_simple", make)


def _give_back(worker: Any) -> None:
    """Keeps little memory of arrays that are gone: Dask stops a worker by what its process has."""
    try:
        limit = worker.get_worker().memory_manager.memory_limit
    except ValueError:  # no worker: a function that is called by itself
        return
    if limit and storage.pool_stats()["cached"] > limit // _KEPT:
        storage.trim()


_KEPT = 16  # ... this part of what the worker may have
