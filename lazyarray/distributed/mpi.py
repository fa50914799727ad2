"""MPI, through mpi4py. It runs in the communication thread, MPI's beginning and end, too.

So an MPI that serves one thread only will do, as long as nobody else calls it. One that serves any
is called by threads that wait for a small collective, as well.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from lazyarray.distributed._task import Agreement, Repeated
from lazyarray.distributed.backend import Backend, Poll

__all__ = ["MPI_VARIABLES", "Mpi", "begin", "end", "launched"]

# What those that start MPI's processes set: Open MPI, MPICH (Hydra) and Slurm by PMI, PMIx.
MPI_VARIABLES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "MPI_LOCALNRANKS")


# Bytes that one call of MPI's moves of a rank: many MPIs count elements by 32 bits.
PIECE = 1 << 30


def _row(x: np.ndarray) -> np.ndarray:
    return x.reshape(-1)


def _parts(count: int, itemsize: int) -> list[slice]:
    """Elements that go at once; one part at least, as all ranks call the same."""
    most = max(1, PIECE // itemsize)
    return [slice(k, min(k + most, count)) for k in range(0, max(count, 1), most)]


_OPEN_MPI = {
    # A rank that waits shares its core with those that compute.
    "OMPI_MCA_mpi_yield_when_idle": "1",
    # Nonblocking reductions by recursive doubling: ours are all small, and so take half as many
    # messages one after the other, or (64 KiB) three quarters of the time.
    "OMPI_MCA_coll_libnbc_iallreduce_algorithm": "4",
}


def launched() -> bool:
    """Whether the process was started by an MPI, or by Slurm as one of several."""
    if any(name in os.environ for name in MPI_VARIABLES):
        return True
    # An interactive shell in a job of Slurm's has these, too, but no step of srun's.
    return "SLURM_STEP_ID" in os.environ and int(os.environ.get("SLURM_STEP_NUM_TASKS", 1)) > 1


def _mpi() -> Any:
    try:
        import mpi4py
    except ImportError as error:
        raise ModuleNotFoundError(
            "several processes need mpi4py: pip install 'lazyarray-engine[mpi]'", name="mpi4py"
        ) from error

    mpi4py.rc.initialize = False
    mpi4py.rc.finalize = False
    from mpi4py import MPI

    return MPI


_ours = False  # MPI was begun here; what began it may have failed since, and begin again


def begin() -> Mpi:
    """Starts MPI, unless the user has; gives this package's own group of all ranks."""
    global _ours
    for name, value in _OPEN_MPI.items():
        os.environ.setdefault(name, value)
    MPI = _mpi()
    if MPI.Is_finalized():
        raise RuntimeError(
            "MPI has ended in this process, and can't begin again: call la.distributed.init() once"
        )
    if not MPI.Is_initialized():
        MPI.Init_thread(MPI.THREAD_MULTIPLE)
        _ours = True
    elif MPI.Query_thread() < MPI.THREAD_SERIALIZED:
        raise RuntimeError(
            "MPI was initialised for one thread only, before la.distributed.init(): the "
            "communication thread can't use it. Initialise it with MPI.THREAD_MULTIPLE, or leave "
            "that to init()"
        )
    return Mpi(MPI.COMM_WORLD.Dup())


def end(world: Mpi, clean: bool) -> None:
    """Ends MPI, if :func:`begin` began it; not if ranks are missing, for which it would wait."""
    if clean:
        world.close()
        if _ours:
            _mpi().Finalize()


class Mpi(Backend):
    """A group of MPI's, with a communicator that nobody else uses."""

    def __init__(self, comm: Any) -> None:
        self._mpi = _mpi()
        self._comm = comm
        comm.Set_errhandler(self._mpi.ERRORS_RETURN)
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        self._items: dict[int, Any] = {}  # MPI's types of so many bytes
        self._reduces: dict[tuple[str, np.dtype[Any]], bool] = {}
        self._pending: list[tuple[Any, int, np.ndarray]] = []  # to whom, and what has to stay
        m = self._mpi
        self.begins, self.in_place = comm.Iallreduce, m.IN_PLACE
        self._agreement = self._prepared()
        self.shared = m.Query_thread() == m.THREAD_MULTIPLE
        self._ops = {"sum": m.SUM, "mean": m.SUM, "prod": m.PROD, "max": m.MAX, "min": m.MIN}
        # NumPy's arithmetic of bools
        self._of_bools = {"sum": m.LOR, "prod": m.LAND, "max": m.LOR, "min": m.LAND}
        self._types = {
            "f4": m.FLOAT, "f8": m.DOUBLE, "c8": m.C_FLOAT_COMPLEX, "c16": m.C_DOUBLE_COMPLEX,
            **{f"i{n}": getattr(m, f"INT{8 * n}_T") for n in (1, 2, 4, 8)},
            **{f"u{n}": getattr(m, f"UINT{8 * n}_T") for n in (1, 2, 4, 8)},
            "b1": m.C_BOOL,
        }  # fmt: skip

    def _prepared(self) -> Agreement:
        """All ranks call it together, where they make the communicator."""
        mine, found = np.zeros(3, np.int64), np.zeros(3, np.int64)
        m, kind = self._mpi, self._mpi.INT64_T
        request: Any
        try:
            request = self._comm.Allreduce_init([mine, 3, kind], [found, 3, kind], m.MAX)
        except NotImplementedError:  # before MPI 4
            request = Repeated(self._comm.Iallreduce, mine, found, m.MAX)
        return Agreement(mine, found, request)

    def agreement(self) -> Agreement:
        if self._agreement.busy:  # with what was given up
            self._agreement = self._prepared()
        return self._agreement

    def exchange(self, thing: Any) -> list[Any]:
        found: list[Any] = self._comm.allgather(thing)
        return found

    # -- reductions

    def reduces(self, op: str, dtype: np.dtype[Any]) -> bool:
        found = self._reduces.get((op, dtype))
        if found is None:
            found = self._reduces[op, dtype] = self._has(op, dtype)
        return found

    def _has(self, op: str, dtype: np.dtype[Any]) -> bool:
        if dtype.str[1:] not in self._types:
            return False  # halves; MPI's long doubles are not everywhere NumPy's
        if op in ("sum", "mean", "prod") and dtype.kind in "iu" and dtype.itemsize < 4:
            return False  # Open MPI's sums of these end at the greatest number, NumPy's go round
        # MPI's maximum of a NaN depends on the order, and complex numbers have none.
        return op not in ("max", "min") or dtype.kind in "iub"

    def _typed(self, x: np.ndarray) -> list[Any]:
        return [x, x.size, self._types[x.dtype.str[1:]]]

    def _op(self, op: str, dtype: np.dtype[Any]) -> Any:
        return (self._of_bools if dtype.kind == "b" else self._ops)[op]

    def little(self, op: str, dtype: np.dtype[Any]) -> tuple[Any, Any]:
        return self._types[dtype.str[1:]], self._op(op, dtype)

    def allreduce(self, source: np.ndarray, to: np.ndarray, op: str) -> None:
        if to.nbytes <= PIECE:  # the most frequent, with as little of Python as can be
            given = self._mpi.IN_PLACE if to is source else self._typed(source)
            self._comm.Allreduce(given, self._typed(to), self._op(op, to.dtype))
            return
        for part in _parts(to.size, to.itemsize):
            given = self._mpi.IN_PLACE if to is source else self._typed(_row(source)[part])
            self._comm.Allreduce(given, self._typed(_row(to)[part]), self._op(op, to.dtype))

    def reduce(self, source: np.ndarray, to: np.ndarray | None, op: str, root: int) -> None:
        for part in _parts(source.size, source.itemsize):
            given = self._mpi.IN_PLACE if to is source else self._typed(_row(source)[part])
            at_root = None if to is None else self._typed(_row(to)[part])
            self._comm.Reduce(given, at_root, self._op(op, source.dtype), root)

    def reduce_scatter(self, source: np.ndarray, to: np.ndarray, op: str) -> None:
        if to.nbytes > PIECE:
            for r, row in enumerate(source.reshape(self.size, -1)):
                self.reduce(row, to if r == self.rank else None, op, r)
            return
        given = [source, to.size, self._types[to.dtype.str[1:]]]
        self._comm.Reduce_scatter_block(given, self._typed(to), self._op(op, to.dtype))

    # -- moves: of items of so many bytes, whatever they are

    def _bytes(self, x: np.ndarray, ranks: int = 1) -> list[Any]:
        n = x.itemsize
        kind = self._items.get(n)
        if kind is None:
            kind = self._items[n] = self._mpi.BYTE.Create_contiguous(n).Commit()
        return [x.reshape(-1).view(np.uint8), x.size // ranks, kind]

    def _columns(self, row: int, *buffers: tuple[np.ndarray | None, int]) -> Iterator[list[Any]]:
        """Parts of each of some ranks' rows, of ``row`` bytes, which lie a row apart.

        ``buffers`` are (array, of how many ranks it has rows).
        """
        for part in _parts(row, 1):
            piece = self._mpi.BYTE.Create_contiguous(part.stop - part.start)
            step = piece.Create_resized(0, row).Commit()
            one = piece.Commit()
            yield [
                None
                if x is None
                else [_row(x).view(np.uint8)[part.start :], 1, one if ranks == 1 else step]
                for x, ranks in buffers
            ]
            step.Free()
            one.Free()

    def broadcast(self, buffer: np.ndarray, root: int) -> None:
        for part in _parts(buffer.size, buffer.itemsize):
            self._comm.Bcast(self._bytes(_row(buffer)[part]), root)

    def allgather(self, source: np.ndarray, to: np.ndarray) -> None:
        if source.nbytes > PIECE:
            for each in self._columns(source.nbytes, (source, 1), (to, self.size)):
                self._comm.Allgather(*each)
            return
        self._comm.Allgather(self._bytes(source), self._bytes(to, self.size))

    def gather(self, source: np.ndarray, to: np.ndarray | None, root: int) -> None:
        if source.nbytes > PIECE:
            for each in self._columns(source.nbytes, (source, 1), (to, self.size)):
                self._comm.Gather(*each, root)
            return
        at_root = None if to is None else self._bytes(to, self.size)
        self._comm.Gather(self._bytes(source), at_root, root)

    def scatter(self, source: np.ndarray | None, to: np.ndarray, root: int) -> None:
        if to.nbytes > PIECE:
            for each in self._columns(to.nbytes, (source, self.size), (to, 1)):
                self._comm.Scatter(*each, root)
            return
        at_root = None if source is None else self._bytes(source, self.size)
        self._comm.Scatter(at_root, self._bytes(to), root)

    def alltoall(self, source: np.ndarray, to: np.ndarray) -> None:
        row = to.nbytes // self.size
        if row > PIECE:
            for each in self._columns(row, (source, self.size), (to, self.size)):
                self._comm.Alltoall(*each)
            return
        self._comm.Alltoall(self._bytes(source, self.size), self._bytes(to, self.size))

    # -- messages

    @contextlib.contextmanager
    def _message(self, buffer: np.ndarray) -> Iterator[list[Any]]:
        """All bytes of a buffer, however many, as one message."""
        m = self._mpi
        if buffer.nbytes <= PIECE:
            yield [buffer, m.BYTE]
            return
        pieces, rest = divmod(buffer.nbytes, PIECE)
        piece = m.BYTE.Create_contiguous(PIECE)
        whole = m.Datatype.Create_struct([pieces, rest], [0, pieces * PIECE], [piece, m.BYTE])
        piece.Free()
        yield [buffer, 1, whole.Commit()]
        whole.Free()  # while it is still used MPI keeps what it needs

    def send(self, buffer: np.ndarray, rank: int, tag: int) -> None:
        with self._message(buffer) as message:
            self._pending.append((self._comm.Isend(message, rank, tag), rank, buffer))

    def recv(self, rank: int, tag: int, poll: Poll) -> np.ndarray:
        status = self._mpi.Status()
        count = 0
        while (message := self._comm.Improbe(rank, tag, status)) is None:
            poll(count)
            count += 1
        buffer = np.empty(status.Get_elements(self._mpi.BYTE), np.uint8)
        with self._message(buffer) as whole:
            message.Recv(whole)
        return buffer

    def sending(self) -> set[int]:
        if self._pending:
            self._pending = [sent for sent in self._pending if not sent[0].Test()]
        return {rank for _, rank, _ in self._pending}

    # -- groups

    def split(self, color: int | None, key: int) -> Backend | None:
        comm = self._comm.Split(self._mpi.UNDEFINED if color is None else color, key)
        return None if color is None else Mpi(comm)

    def close(self) -> None:
        if not self._agreement.busy and not isinstance(self._agreement.request, Repeated):
            self._agreement.request.Free()
        for kind in self._items.values():
            kind.Free()
        self._comm.Free()
