"""A plugin for workers of ``distributed``: how many cores the engine of each may take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distributed import WorkerPlugin

from lazyarray import engine

if TYPE_CHECKING:
    from distributed import Worker

__all__ = ["EngineThreads"]


class EngineThreads(WorkerPlugin):
    """Gives each worker's engine as many cores as it has threads.

    An engine serves all threads of its worker, and splits large blocks over the cores it has: at
    first all of the machine's. Several workers on one machine would be in each other's way.
    ``client.register_plugin(EngineThreads())`` keeps each to what Dask itself takes it to have, its
    ``nthreads``, whoever comes and goes beside it.

    Args:
        cores: for each worker; None: as many as its threads, and no more than there are.
    Raises: TypeError for cores that are no integer; ValueError for fewer than one.

    >>> from lazyarray.dask import EngineThreads
    >>> EngineThreads(2).cores
    2
    """

    name = "lazyarray-engine-threads"

    def __init__(self, cores: int | None = None) -> None:
        if cores is not None and (isinstance(cores, bool) or not isinstance(cores, int)):
            raise TypeError(f"cores is an integer or None, not {type(cores).__name__}")
        if cores is not None and cores < 1:
            raise ValueError(f"cores is at least 1, not {cores}")
        self.cores = cores

    def setup(self, worker: Worker) -> None:
        """Called by Dask, in each worker's process.

        Args:
            worker: the worker.
        Returns: None.
        Raises: nothing.
        """
        if not _given:
            _given[None] = engine.get().cores
        _given[worker.address] = self.cores or min(worker.state.nthreads, _given[None])
        _set_cores()

    def teardown(self, worker: Worker) -> None:
        """Called by Dask as the plugin goes: the engine has what it had.

        Args:
            worker: the worker.
        Returns: None.
        Raises: nothing.
        """
        _given.pop(worker.address, None)
        _set_cores()


# What each worker in this process has, as they share one engine; of None, what that had before.
_given: dict[str | None, int] = {}


def _set_cores() -> None:
    all_of_them = _given.get(None, 0)
    shares = [n for worker, n in _given.items() if worker is not None]
    if shares:
        engine.get().cores = max(max(shares), min(sum(shares), all_of_them))
    elif all_of_them:
        engine.get().cores = _given.pop(None)
