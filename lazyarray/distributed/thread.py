"""The communication thread: it alone calls the backend, one collective after the other.

A collective first has its ranks agree on what they are about to do, and polls meanwhile: there is
where a rank waits for slower ones, and there it can still be told that one of them died. What
follows may block, as all are there.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray import engine, profiler
from lazyarray.distributed.errors import MismatchError, RankError
from lazyarray.distributed.ledger import QUEUED, UNDER_WAY, WAITING

if TYPE_CHECKING:
    from lazyarray.distributed.communicator import Communicator
    from lazyarray.distributed.ledger import Entry
    from lazyarray.distributed.process import Process
    from lazyarray.engine import RunContext

__all__ = ["CommunicationThread", "Task"]

_SPINS = 100  # looks before a waiting rank begins to sleep
_SHORTEST, _LONGEST = 2e-5, 1e-3  # seconds that it sleeps between two looks


class Task:
    """A collective whose arrays are ready: what there is to do, and whom to tell of its end.

    ``mark`` is a number that is the same on all ranks that call the same; None for messages, about
    which nobody agrees.
    """

    def __init__(
        self,
        comm: Communicator,
        entry: Entry,
        mark: int | None,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        work: Callable[[Any], None],
    ) -> None:
        self.comm, self.entry, self.mark, self.work = comm, entry, mark, work
        # Of the arrays as they are now: a backward pass gives `x.grad` other memory.
        self._own = {id(x): x.detach() for x in (*inputs, *outputs)}
        self.inputs = [self.own(x) for x in inputs]  # whose values are needed
        self.run_ctx: RunContext | None = None
        self._done: Callable[[BaseException | None], None] | None = None
        self._lock = threading.Lock()

    def starts(self, run_ctx: RunContext, done: Callable[[BaseException | None], None]) -> None:
        self.run_ctx, self._done = run_ctx, done

    def ends(self, error: BaseException | None = None) -> None:
        """Ends the op, once; whoever comes later does nothing."""
        with self._lock:
            done, self._done = self._done, None
        if done is not None:
            self.entry.becomes("failed" if error is not None else "done")
            done(error)

    def own(self, x: Any) -> Any:
        """What the array was when the collective was called."""
        return self._own[id(x)]

    def view(self, x: Any) -> np.ndarray:
        """The memory of what the array was."""
        assert self.run_ctx is not None
        return self.run_ctx.numpy(self.own(x))

    def failure(self) -> BaseException | None:
        """What is wrong with the inputs."""
        e = engine.get()
        for x in self.inputs:
            try:
                e._hand_on(x.var)
            except BaseException as error:
                return error
        return None


class CommunicationThread:
    """One of a process. ``call`` runs a function in it and waits; ``put`` leaves a task to it."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._queue: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._task: Task | None = None
        self._began = 0.0
        self._told = 0.0
        self._lock = threading.Lock()
        self.over: BaseException | None = None  # why nothing runs any more
        self._scratch = np.empty(0, np.uint8)
        self._backends: list[Any] = []  # those with messages on their way
        self._thread = threading.Thread(
            target=self._run, name="lazyarray communication", daemon=True
        )
        self._thread.start()

    def call(self, function: Callable[[], Any]) -> Any:
        """``function()``, run by the thread; waits, so not for what arrays wait for."""
        answer: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._queue.put((function, answer))
        ok, value = answer.get()
        if not ok:
            raise value
        return value

    def put(self, task: Task) -> None:
        task.entry.becomes(QUEUED)
        if self.over is not None:
            task.ends(self.over)
            return
        self._queue.put(task)
        self._fail_queued_if_over()  # meanwhile: nobody looks at the queue any more

    def abandon(self, error: BaseException) -> None:
        """Ends what is under way, and all that comes, with an error. For other threads.

        What MPI is doing inside a call can't be stopped: the thread may stay in it.
        """
        self.over = self.over or error
        task = self._task
        if task is not None:
            task.ends(error)
        self._fail_queued()
        self._queue.put(None)

    def _fail_queued_if_over(self) -> None:
        if self.over is not None:
            self._fail_queued()

    def _fail_queued(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                item = self._queue.get_nowait()
                if isinstance(item, Task):
                    item.ends(self.over)
                elif item is not None:
                    item[1].put((False, self.over))

    @property
    def task(self) -> Task | None:
        """What it does now."""
        return self._task

    def scratch(self, size: int, dtype: np.dtype[Any]) -> np.ndarray:
        """Memory for the thread's own use, until it is asked for again."""
        nbytes = size * dtype.itemsize
        if self._scratch.size < nbytes:
            self._scratch = np.empty(nbytes, np.uint8)
        return self._scratch[:nbytes].view(dtype)

    def deliver(self) -> None:
        """Waits, in the thread, until all messages are sent."""
        count = 0
        while any(backend.sending() for backend in self._backends):
            if self._process.lost:
                return
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
        while any(backend.sending() for backend in self._backends):
            # Messages on their way move on only while MPI is called.
            try:
                return self._queue.get(timeout=pause)
            except queue.Empty:
                pause = min(2 * pause, _LONGEST)
        self._backends.clear()
        return self._queue.get()

    def sends(self, backend: Any) -> None:
        """Has the thread look after a backend with messages on their way."""
        if backend not in self._backends:
            self._backends.append(backend)

    def poll(self, count: int) -> None:
        """What a rank does while it waits for others: raises if they will never come."""
        task = self._task
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
        self._task = task
        try:
            if self.over is not None:
                raise self.over
            if (fate := self._process.fate(task.comm)) is not None:
                raise fate
            failure = task.failure()
            task.entry.becomes(WAITING)
            self._process.ledger.current = task.entry
            if task.mark is not None:
                self._agree(task, task.mark, failure)
            if failure is not None:
                raise failure
            if task.mark is not None:
                task.entry.becomes(UNDER_WAY)
            with profiler.frame(task.entry.text, "collectives"):
                task.work(task)
            error = None
        except BaseException as exc:
            error = exc
        self._process.ledger.current = None
        self._task = None
        task.ends(error)

    def _agree(self, task: Task, mark: int, failure: BaseException | None) -> None:
        """That all ranks call the same, and have their values; raises on all of them otherwise."""
        backend = task.comm.backend
        if backend.size == 1:
            return
        values = np.array([mark, -mark, failure is not None], np.int64)
        found = backend.agree(values, self.poll)
        if found[0] == -found[1] and not found[2]:
            return
        mine = (task.entry.text, task.entry.where, None if failure is None else _said(failure))
        every = backend.exchange(mine)
        ranks = task.comm.ranks
        texts = [text for text, _, _ in every]
        if any(text != texts[0] for text in texts):
            other = next(i for i, text in enumerate(texts) if text != texts[0])
            what = "; ".join(
                f"rank {ranks[i]} called {every[i][0]} from {every[i][1]}" for i in (0, other)
            )
            raise MismatchError(
                f"the ranks differ at {task.entry.comm} #{task.entry.number}: {what}"
            )
        if failure is None:
            broken = next(i for i, (_, _, why) in enumerate(every) if why)
            raise RankError(
                f"rank {ranks[broken]} has no values for {texts[broken]} from "
                f"{every[broken][1]}: {every[broken][2]}",
                ranks[broken],
            )


def _said(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
