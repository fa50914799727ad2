"""A plugin for workers of ``distributed``: how many cores the engine of each may take."""

from __future__ import annotations

from typing import Any

from distributed import WorkerPlugin

from lazyarray import engine

__all__ = ["EngineThreads"]


class EngineThreads(WorkerPlugin):
    """Shares a machine's cores among its workers: ``client.register_plugin(EngineThreads())``.

    An engine serves all threads of its worker, and splits large blocks over the cores it has. Each
    worker is taken to have all of its machine's: with several on one machine they would be in each
    other's way. This gives each its share: the cores divided by how many workers the scheduler
    knows on that machine when the plugin arrives.

    Args:
        cores: for each worker; None: its share.

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

    async def setup(self, worker: Any) -> None:
        """Called by Dask, in each worker's process.

        Args:
            worker: the worker.
        Returns: None.
        Raises: OSError if the worker asks its scheduler, which is gone.
        """
        self._before = engine.get().cores
        cores = self.cores
        if cores is None:
            known = (await worker.scheduler.identity())["workers"].values()
            host = worker.address.partition("://")[2].rpartition(":")[0]
            beside = sum(w["host"] == host for w in known)
            # Workers in one process share one engine: those have no host.
            cores = max(1, self._before // max(1, beside))
        engine.get().cores = cores

    def teardown(self, worker: Any) -> None:
        """Called by Dask as the plugin goes: the engine has what it had.

        Args:
            worker: the worker.
        Returns: None.
        Raises: nothing.
        """
        engine.get().cores = self._before
