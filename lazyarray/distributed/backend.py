"""What a communicator runs on: the interface, and the backend of a process that is alone.

Buffers are C-contiguous NumPy arrays. All calls come from the communication thread, one at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from lazyarray.distributed._task import Agreement
from lazyarray.distributed.errors import MismatchError

__all__ = ["Backend", "Single"]

Poll = Callable[[int], None]  # called again and again, with a count, while others are waited for


class Backend:
    """A group of ranks. Each collective comes after :meth:`agree`, so all ranks are there."""

    rank: int
    size: int
    # ``begins(source, target, op)`` is an allreduce whose result has ``Test()``; None where nobody
    # has to be waited for. ``in_place``: what it takes for a source that is the target.
    begins: Callable[[Any, Any, Any], Any] | None = None
    in_place: Any = None
    shared = False  # any thread may call it

    def agreement(self) -> Agreement:
        """By which the ranks agree on the next collective."""
        raise NotImplementedError

    def little(self, op: str, dtype: np.dtype[Any]) -> tuple[Any, Any]:
        """What ``begins`` takes for a dtype, and for an op that :meth:`reduces` it."""
        raise NotImplementedError

    def exchange(self, thing: Any) -> list[Any]:
        """Every rank's Python object."""
        raise NotImplementedError

    def reduces(self, op: str, dtype: np.dtype[Any]) -> bool:
        """Whether allreduce, reduce and reduce_scatter know ``op`` for this dtype."""
        raise NotImplementedError

    def allreduce(self, source: np.ndarray, to: np.ndarray, op: str) -> None:
        """``to`` may be ``source``."""
        raise NotImplementedError

    def reduce(self, source: np.ndarray, to: np.ndarray | None, op: str, root: int) -> None:
        """``to`` is None but at the root."""
        raise NotImplementedError

    def reduce_scatter(self, source: np.ndarray, to: np.ndarray, op: str) -> None:
        raise NotImplementedError

    def broadcast(self, buffer: np.ndarray, root: int) -> None:
        raise NotImplementedError

    def allgather(self, source: np.ndarray, to: np.ndarray) -> None:
        raise NotImplementedError

    def gather(self, source: np.ndarray, to: np.ndarray | None, root: int) -> None:
        raise NotImplementedError

    def scatter(self, source: np.ndarray | None, to: np.ndarray, root: int) -> None:
        raise NotImplementedError

    def alltoall(self, source: np.ndarray, to: np.ndarray) -> None:
        raise NotImplementedError

    def send(self, buffer: np.ndarray, rank: int, tag: int) -> None:
        """Does not wait for the other rank: keeps ``buffer`` until it was sent."""
        raise NotImplementedError

    def recv(self, rank: int, tag: int, poll: Poll) -> np.ndarray:
        """The bytes of the next message."""
        raise NotImplementedError

    def sending(self) -> set[int]:
        """The ranks to which messages are still on their way; has them move on."""
        return set()

    def split(self, color: int | None, key: int) -> Backend | None:
        """The group of the ranks of one color, in the order of their keys; None for no color."""
        raise NotImplementedError

    def close(self) -> None:
        """Ends the group, on all ranks at once."""


class Single(Backend):
    """One rank: nobody to talk to."""

    rank, size = 0, 1

    def __init__(self) -> None:
        self._messages: dict[int, list[np.ndarray]] = {}

    def exchange(self, thing: Any) -> list[Any]:
        return [thing]

    def reduces(self, op: str, dtype: np.dtype[Any]) -> bool:
        return True

    def allreduce(self, source: np.ndarray, to: np.ndarray, op: str) -> None:
        if to is not source:
            to[...] = source

    def reduce(self, source: np.ndarray, to: np.ndarray | None, op: str, root: int) -> None:
        if to is not None and to is not source:
            to[...] = source

    def reduce_scatter(self, source: np.ndarray, to: np.ndarray, op: str) -> None:
        to.reshape(-1)[...] = source.reshape(-1)

    def broadcast(self, buffer: np.ndarray, root: int) -> None:
        pass

    def allgather(self, source: np.ndarray, to: np.ndarray) -> None:
        to.reshape(-1)[...] = source.reshape(-1)

    def gather(self, source: np.ndarray, to: np.ndarray | None, root: int) -> None:
        if to is not None:
            self.allgather(source, to)

    def scatter(self, source: np.ndarray | None, to: np.ndarray, root: int) -> None:
        if source is not None:
            self.allgather(source, to)

    def alltoall(self, source: np.ndarray, to: np.ndarray) -> None:
        self.allgather(source, to)

    def send(self, buffer: np.ndarray, rank: int, tag: int) -> None:
        self._messages.setdefault(tag, []).append(buffer)

    def recv(self, rank: int, tag: int, poll: Poll) -> np.ndarray:
        if not self._messages.get(tag):  # all goes in the program's order: it will not come
            raise MismatchError(f"no message with tag {tag} was sent before: nobody else sends one")
        return self._messages[tag].pop(0)

    def split(self, color: int | None, key: int) -> Backend | None:
        return None if color is None else Single()
