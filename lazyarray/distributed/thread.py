"""The communication thread: it alone calls the backend, one collective after the other.

A collective first has its ranks agree on what they are about to do, and polls meanwhile: there is
where a rank waits for slower ones, and there it can still be told that one of them died. What
follows may block, as all are there. A small collective that a thread waits for is brought on by
that thread, as far as it goes without others: see :mod:`lazyarray.distributed._task`.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray import profiler
from lazyarray.distributed._task import (
    AGREEING,
    DIFFERS,
    MOVING,
    OVER,
    Line,
    Task,
    is_profiled,
)
from lazyarray.distributed.errors import MismatchError, RankError
from lazyarray.distributed.ledger import UNDER_WAY
from lazyarray.distributed.signature import other_lines

if TYPE_CHECKING:
    from lazyarray.distributed.communicator import Communicator
    from lazyarray.distributed.process import Process

__all__ = ["CommunicationThread", "Task"]

_SPINS = 100  # looks before a waiting rank begins to sleep
_SHORTEST, _LONGEST = 2e-5, 1e-3  # seconds that it sleeps between two looks


class CommunicationThread:
    """One of a process. ``call`` runs a function in it and waits; ``put`` leaves a task to it."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.line = Line(process.ledger, process.lost, process.left)
        self._began = 0.0
        self._told = 0.0
        self._scratch = np.empty(0, np.uint8)
        self._senders: list[Communicator] = []  # those with messages on their way
        self._thread = threading.Thread(
            target=self._run, name="lazyarray communication", daemon=True
        )
        self._thread.start()

    def call(self, function: Callable[[], Any]) -> Any:
        """``function()``, run by the thread; waits, so not for what arrays wait for."""
        answer: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.line.call((function, answer))
        ok, value = answer.get()
        if not ok:
            raise value
        return value

    def abandon(self, error: BaseException) -> None:
        """Ends what is under way, and all that comes, with an error. For other threads.

        What MPI is doing inside a call can't be stopped: the thread may stay in it.
        """
        self.line.over = self.line.over or error
        task = self.line.task
        if task is not None:
            task.ends(error)
        self.line.fail()
        self.line.call(None)

    @property
    def over(self) -> BaseException | None:
        """Why nothing runs any more."""
        return self.line.over

    @property
    def task(self) -> Task | None:
        """What is done now."""
        return self.line.task

    def scratch(self, size: int, dtype: np.dtype[Any]) -> np.ndarray:
        """Memory for the thread's own use, until it is asked for again."""
        nbytes = size * dtype.itemsize
        if self._scratch.size < nbytes:
            self._scratch = np.empty(nbytes, np.uint8)
        return self._scratch[:nbytes].view(dtype)

    def deliver(self) -> None:
        """Waits, in the thread, until all messages are sent; RankError for what nobody receives."""
        count = 0
        while to := {comm.ranks[r] for comm in self._senders for r in comm.backend.sending()}:
            if self._process.lost:
                return
            for rank in sorted(to):
                if self._process.has_left(rank):
                    raise RankError(f"rank {rank} has ended, and did not receive a message", rank)
            self.poll(count)
            count += 1

    # -- the thread itself

    def _run(self) -> None:
        while True:
            item = self._next()
            if item is None:
                return
            if isinstance(item, Task):
                self._collective(item)
                del item  # it holds arrays
                continue
            function, answer = item
            try:
                answer.put((True, function()))
            except BaseException as error:
                answer.put((False, error))
            del item, function, answer

    def _next(self) -> Any:
        pause = _SHORTEST
        while any(comm.backend.sending() for comm in self._senders):
            # Messages on their way move on only while MPI is called.
            try:
                return self.line.get(pause)
            except queue.Empty:
                pause = min(2 * pause, _LONGEST)
        self._senders.clear()
        return self.line.get()

    def sends(self, comm: Communicator) -> None:
        """Has the thread look after a communicator with messages on their way."""
        if comm not in self._senders:
            self._senders.append(comm)

    def poll(self, count: int) -> None:
        """What a rank does while it waits for others: raises if they will never come."""
        task = self.task
        if count < _SPINS:
            if count == 0:
                self._began = self._told = time.monotonic()
            return
        if self.over is not None:
            raise self.over
        if task is not None and (fate := self._process.fate(task.comm)) is not None:
            raise fate
        now = time.monotonic()
        limit = self._process.timeout
        if limit and now - self._told > limit:
            self._told = now
            self._process.overdue()
        time.sleep(min(_SHORTEST * 1.05 ** min(count - _SPINS, 200), _LONGEST))

    def _collective(self, task: Task) -> None:
        self.line.task = task
        moves, scope = False, None
        try:
            if self.over is not None:
                raise self.over
            if (fate := self._process.fate(task.comm)) is not None:
                raise fate
            # In a trace: the data's way, and of small ones the agreement, too.
            if is_profiled():
                scope = profiler.frame(task.entry.text, "collectives").start()
            count, before = 0, AGREEING
            while (state := task.advance()) in (AGREEING, MOVING):
                count = count + 1 if state == before else 1
                before = state
                self.poll(count - 1)
            if state == DIFFERS:
                self._differs(task)
            if task.failure is not None:
                raise task.failure
            if state != OVER:
                if task.mark is not None:
                    task.entry.becomes(UNDER_WAY)
                if scope is not None:
                    scope.start()
                moves = task.mark is not None
                task.work(task)
            if scope is not None:
                scope.stop()
            error = None
        except BaseException as exc:
            task.gives_up()
            error = exc
        self._process.ledger.current = None
        self.line.task = None
        task.ends(error)
        if moves and error is not None and self.over is None:
            # The other ranks have agreed to what this one has left, and may be inside MPI.
            self._process.breaks(task.entry, error)

    def _differs(self, task: Task) -> None:
        """Raises on all ranks, as they do not call the same, or some have no values."""
        failure = task.failure
        entry = task.entry
        mine = (entry.text, entry.where, None if failure is None else _said(failure), entry.lines)
        every = task.comm.backend.exchange(mine)
        ranks = task.comm.ranks
        texts = [each[0] for each in every]
        if any(text != texts[0] for text in texts):
            other = next(i for i, text in enumerate(texts) if text != texts[0])
            what = "; ".join(
                f"rank {ranks[i]} called {every[i][0]} from {every[i][1]}" for i in (0, other)
            )
            raise MismatchError(
                f"the ranks differ at {task.entry.comm} #{task.entry.number}: {what}"
            )
        differ = other_lines([lines for _, _, _, lines in every])
        if differ is not None:
            pairs = zip((0, differ[0]), differ[1], strict=True)
            what = "; ".join(f"rank {ranks[i]} from {lines}" for i, lines in pairs)
            raise MismatchError(
                f"the ranks called {entry.text} ({entry.comm} #{entry.number}) from different "
                f"lines, which init(check=True) compares: {what}"
            )
        if failure is None:
            broken = next(i for i, each in enumerate(every) if each[2])
            raise RankError(
                f"rank {ranks[broken]} has no values for {texts[broken]} from "
                f"{every[broken][1]}: {every[broken][2]}",
                ranks[broken],
            )


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
