"""NCCL, through CuPy: the collectives of arrays on GPUs, one of each rank.

A call launches on CuPy's current stream, and returns. Buffers are C-contiguous CuPy arrays. All
ranks have agreed on the call by the host's backend, which also passes on the group's id.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from lazyarray.distributed.backend import Backend

__all__ = ["Nccl", "library"]

# NCCL's own numbers.
_BYTE = 1
_TYPES = {"i1": 0, "u1": 1, "i4": 2, "u4": 3, "i8": 4, "u8": 5, "f2": 6, "f4": 7, "f8": 8}
_OPS = {"sum": 0, "mean": 0, "prod": 1, "max": 2, "min": 3}
_OF_BOOLS = {"sum": 2, "prod": 3, "max": 2, "min": 3}  # NumPy's arithmetic, on bytes


def library() -> Any:
    """CuPy's NCCL; ImportError where it has none."""
    try:
        from cupy.cuda import nccl
    except ImportError as error:
        raise ImportError(f"collectives by NCCL need CuPy with NCCL: {error}") from error
    if not getattr(nccl, "available", False):
        raise ImportError(
            "collectives by NCCL need CuPy with NCCL, and this one has none: install "
            "nvidia-nccl-cu12 (or cu13), or leave arrays on GPUs to the host: init(gpu='host')"
        )
    return nccl


def _stream() -> int:
    import cupy

    return int(cupy.cuda.get_current_stream().ptr)


class Nccl(Backend):
    """The ranks of ``host`` with one GPU each; this one's is ``number``."""

    def __init__(self, host: Backend, number: int) -> None:
        self.host, self.number = host, number
        self.rank, self.size = host.rank, host.size
        self._nccl = library()
        self._comm: Any = None
        self._last: Any = None  # an event after what was launched

    @property
    def _group(self) -> Any:
        """NCCL's communicator, made at the first collective: all ranks are there."""
        if self._comm is None:
            given = self._nccl.get_unique_id() if self.rank == 0 else None
            self._comm = self._nccl.NcclCommunicator(
                self.size, self.host.exchange(given)[0], self.rank
            )
        return self._comm

    def launched(self) -> None:
        """Notes where the current stream is."""
        import cupy

        if self._last is None:
            self._last = cupy.cuda.Event(disable_timing=True)
        self._last.record()

    def waits(self) -> bool:
        """Whether the GPU has not come to the end of what was launched."""
        return self._last is not None and not self._last.done

    # -- reductions

    def reduces(self, op: str, dtype: np.dtype[Any]) -> bool:
        if dtype.kind == "c":  # by their parts
            return op in ("sum", "mean")
        if op in ("max", "min") and dtype.kind == "f":
            return False  # NCCL's maximum may lose a NaN
        return dtype.kind == "b" or dtype.str[1:] in _TYPES

    @staticmethod
    def _typed(x: Any) -> tuple[int, int]:
        """How many numbers of which of NCCL's types."""
        kind, size = x.dtype.kind, x.dtype.itemsize
        if kind == "c":
            return 2 * x.size, _TYPES[f"f{size // 2}"]
        return x.size, _BYTE if kind == "b" else _TYPES[f"{kind}{size}"]

    @staticmethod
    def _op(op: str, x: Any) -> int:
        return (_OF_BOOLS if x.dtype.kind == "b" else _OPS)[op]

    def allreduce(self, source: Any, to: Any, op: str) -> None:
        if to.size:
            self._group.allReduce(
                source.data.ptr, to.data.ptr, *self._typed(to), self._op(op, to), _stream()
            )

    def reduce(self, source: Any, to: Any, op: str, root: int) -> None:
        if source.size:
            self._group.reduce(
                source.data.ptr, 0 if to is None else to.data.ptr,
                *self._typed(source), self._op(op, source), root, _stream(),
            )  # fmt: skip

    def reduce_scatter(self, source: Any, to: Any, op: str) -> None:
        if to.size:
            self._group.reduceScatter(
                source.data.ptr, to.data.ptr, *self._typed(to), self._op(op, to), _stream()
            )

    # -- moves: of bytes, whatever they are

    def broadcast(self, buffer: Any, root: int) -> None:
        if buffer.size:
            at = buffer.data.ptr
            self._group.broadcast(at, at, buffer.nbytes, _BYTE, root, _stream())

    def allgather(self, source: Any, to: Any) -> None:
        if source.size:
            self._group.allGather(source.data.ptr, to.data.ptr, source.nbytes, _BYTE, _stream())

    def gather(self, source: Any, to: Any, root: int) -> None:
        self._messages([root], source, range(self.size) if to is not None else [], to)

    def scatter(self, source: Any, to: Any, root: int) -> None:
        self._messages(range(self.size) if source is not None else [], source, [root], to)

    def alltoall(self, source: Any, to: Any) -> None:
        self._messages(range(self.size), source, range(self.size), to)

    def _messages(
        self, targets: Sequence[int], source: Any, sources: Sequence[int], to: Any
    ) -> None:
        """A part of ``source`` to each target, one of ``to`` from each source: in one launch."""
        group, stream = self._group, _stream()
        self._nccl.groupStart()
        try:
            for x, ranks, call in ((source, targets, group.send), (to, sources, group.recv)):
                if not len(ranks) or not x.size:
                    continue
                part = x.nbytes // len(ranks)
                for i, r in enumerate(ranks):
                    call(x.data.ptr + i * part, part, _BYTE, r, stream)
        finally:
            self._nccl.groupEnd()

    # -- groups

    def close(self) -> None:
        if self._comm is not None:
            self._comm.destroy()
            self._comm = None

    def abort(self, patience: float = 0.0) -> None:
        """Ends it, unless it is closed, and what is still under way after so many seconds.

        For where a rank is gone: NCCL's communicator, also as it is deleted, waits for the others.
        What an aborted call leaves in its arrays is anything.
        """
        comm, self._comm = self._comm, None
        if comm is None:
            return
        end = time.monotonic() + patience
        while self.waits() and time.monotonic() < end:
            time.sleep(0.01)
        comm.abort()
