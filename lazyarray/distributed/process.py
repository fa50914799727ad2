"""What a process has of the others: its thread, its line to rank 0, who is lost."""

from __future__ import annotations

import math
import os
import pathlib
import secrets
import socket
import sys
import threading
import time
import traceback
from types import TracebackType
from typing import Any

from lazyarray import engine
from lazyarray.context import cpu
from lazyarray.distributed import mpi
from lazyarray.distributed._task import let_waiters_help
from lazyarray.distributed.backend import Backend, Single
from lazyarray.distributed.communicator import Communicator
from lazyarray.distributed.control import Hub, Member, answer_seconds, own_address
from lazyarray.distributed.errors import DistributedError, MismatchError, RankError
from lazyarray.distributed.ledger import UNDER_WAY, Entry, Ledger, compare
from lazyarray.distributed.nccl import Nccl, library
from lazyarray.distributed.thread import CommunicationThread
from lazyarray.lazy._lazy import fail_gpu

__all__ = [
    "init",
    "is_initialized",
    "local_rank",
    "local_size",
    "rank",
    "shutdown",
    "size",
    "world",
]

_LEAVE_SECONDS = 1.0  # for which a collective may go on after one of its ranks has ended
_STUCK_SECONDS = 1.0  # after which a call of MPI's or NCCL's that misses a rank is given up
_LAUNCH_TIMEOUT = 702  # CUDA's number
TIMEOUT = "LAZYARRAY_DISTRIBUTED_TIMEOUT"
CHECK = "LAZYARRAY_DISTRIBUTED_CHECK"
THREADS = "LAZYARRAY_CPU_WORKER_NTHREADS"  # the launcher sets it


class Process:
    """All that is one for the process between :func:`init` and :func:`shutdown`."""

    def __init__(self, backend: str | None, timeout: float, settings: dict[str, Any]) -> None:
        by_nccl = settings["gpu"] == "nccl"
        if by_nccl:
            library()
        self.settings = settings  # what is the same on all ranks
        self.forked = False  # whether this is a child of the process that is a rank
        self.by_nccl = by_nccl
        self.on_gpus: list[tuple[Communicator, Nccl]] = []
        self.timeout = timeout
        self.ordered: bool = settings["ordered"]
        self.compares_lines: bool = settings["check"]
        self.ledger = Ledger()
        self.lost: dict[int, str] = {}
        self.left: dict[int, float] = {}  # when
        self.dying: str | None = None  # why this process ends
        # What holds calls back, to issue them together: in the order in which it began to, which is
        # the same on all ranks. The end has them issued, also if the program has dropped it.
        self.holders: dict[Any, None] = {}
        # What all collectives write, of all communicators: so they run in program order.
        self.channel = engine.get().new_variable()
        # What all saves write: files are written in the program's order, and loads wait for them.
        self.files = engine.get().new_variable()
        self.thread = CommunicationThread(self)
        # When this rank asked rank 0 to compare, while there is no answer. Several threads write
        # it, as a whole, so without a lock.
        self._asked: float | None = None
        self._finished: float | None = None  # when this rank came to its end
        self._end = threading.Event()
        self._clean = True
        self._member: Member | None = None
        self._hub: Hub | None = None
        try:
            self._begin(mpi.launched() if backend is None else backend == "mpi")
        except BaseException:
            self.thread.abandon(DistributedError("la.distributed.init() failed"))
            raise

    def _begin(self, many: bool) -> None:
        self.backend: Backend = self.thread.call(mpi.begin) if many else Single()
        if self.backend.shared:
            let_waiters_help(self.thread.line)
        self.rank, self.size = self.backend.rank, self.backend.size
        self.local_rank, self.local_size = 0, 1
        self._cores = engine.get().cores
        if self.size > 1:
            self._connect()
        elif many and int(os.environ.get("SLURM_STEP_NUM_TASKS", 1)) > 1:
            raise RuntimeError(
                "Slurm started several processes, but MPI sees one in each: try srun --mpi=pmix, "
                "or mpirun inside of the job"
            )
        self.world = Communicator(self, self.backend, tuple(range(self.size)), "world")

    def _connect(self) -> None:
        exchange = self.backend.exchange
        every = self.thread.call(lambda: exchange((socket.gethostname(), self.settings)))
        hosts = [host for host, _ in every]
        for r, (_, other) in enumerate(every):
            for name, value in every[0][1].items():
                if other[name] != value:
                    raise ValueError(
                        f"the ranks differ in what they gave init: {name}={value!r} on rank 0, "
                        f"{name}={other[name]!r} on rank {r}"
                    )
        self.local_rank = hosts[: self.rank].count(hosts[self.rank])
        self.local_size = hosts.count(hosts[self.rank])
        several = len(set(hosts)) > 1
        # Waiters compute, too: together with the workers on this process's share of the cores.
        e = engine.get()
        e.cores = min(e.cores, int(os.environ.get(THREADS) or max(1, e.cores // self.local_size)))
        place: tuple[str, int, str] | None = None
        if self.rank == 0:
            token = secrets.token_hex(16)
            self._hub = Hub(self.size, token, several, self.timeout)
            self._hub.start()
            place = own_address(several), self._hub.port, token
        host, port, token = self.thread.call(lambda: exchange(place))[0]
        self._member = Member((host, port), self.rank, token, self._heard)
        self._member.start()
        if self.timeout:
            threading.Thread(target=self._watch, name="lazyarray watch", daemon=True).start()

    def check(self) -> None:
        """RuntimeError if it is over, or another process's."""
        if current() is not self:
            raise RuntimeError("the communicator's ranks were shut down: la.distributed.shutdown()")

    # -- others

    def fate(self, comm: Communicator, patience: float = _LEAVE_SECONDS) -> RankError | None:
        """Why a collective of ``comm`` that still waits for others will never end, or None."""
        if not self.lost and not self.left:
            return None
        for r in list(self.lost):  # the first one's loss is why the others ended
            if r in comm.ranks:
                return RankError(f"rank {r} {self.lost[r]}", r)
        for r in comm.ranks:
            entry = self.ledger.current
            if r != self.rank and entry is not None and self.has_left(r, entry.since, patience):
                return RankError(f"rank {r} has ended, and called nothing of the kind", r)
        return None

    def has_left(self, r: int, since: float = 0.0, patience: float = _LEAVE_SECONDS) -> bool:
        """Whether a rank calls nothing more, and what it called before would be over by now."""
        return r in self.left and time.monotonic() - max(self.left[r], since) > patience

    def overdue(self) -> None:
        """Has rank 0 compare what the ranks are doing; :meth:`_watch` sees to it that it does."""
        if self._member is not None:
            self._asked = self._asked or time.monotonic()
            self._member.send({"overdue": True})
        else:
            self._print("")

    def _heard(self, message: dict[str, Any]) -> None:
        if "lost" in message and message["lost"] != self.rank:
            self.lost.setdefault(message["lost"], message["why"])
            timer = threading.Timer(_STUCK_SECONDS, self._give_up)
            timer.daemon = True  # the program's end does not wait for it
            timer.start()
        elif "left" in message:
            self.left[message["left"]] = time.monotonic()
        elif "tell" in message and self._member is not None:
            self._member.send({"told": self.ledger.told()})
        elif "report" in message:
            self._asked = None
            self._print(message["report"])
        elif "stuck" in message:
            self._asked = None
            self._print(message["stuck"])
            task = self.thread.task
            fate = None if task is None else self.fate(task.comm, 0)  # compared: it is sure now
            self.thread.abandon(fate or MismatchError(f"no rank can go on:\n{message['stuck']}"))
        elif "end" in message:
            self._clean = bool(message["end"])
            self._end.set()

    def _watch(self) -> None:
        """Looks after what blocks in the backend, and after rank 0, which compares: who watches it?

        A thread that ends with the process.
        """
        told = None
        patience = answer_seconds(self.timeout) + 1.0
        while not self._end.wait(min(max(self.timeout / 4, 0.05), 1.0)):
            asked = self._asked
            if asked is not None and time.monotonic() - asked > patience:
                self._asked = None
                what, _ = compare({self.rank: self.ledger.told()}, set(), math.inf, alone=True)
                self._print(
                    f"  rank 0 does not answer, which compares the ranks: is it stuck?\n{what}"
                )
            entry = self.ledger.current
            if entry is None or entry.state != UNDER_WAY or entry is told:
                continue
            if time.monotonic() - entry.since > self.timeout:
                told = entry
                self.overdue()

    def _give_up(self) -> None:
        """A rank is gone: if MPI waits for it inside of a call, this is over for the program."""
        task = self.thread.task
        if task is not None and task.entry.state == UNDER_WAY:
            fate = self.fate(task.comm)
            if fate is not None:
                self.thread.abandon(fate)
        for comm, nccl in self.on_gpus:
            if (fate := self.fate(comm)) is not None and nccl.waits():
                # What was launched never ends, so nothing that comes after it on the device does.
                print(
                    f"lazyarray.distributed: rank {self.rank}: {fate} while NCCL moved data: "
                    f"gpu({nccl.number}) can't be used any more in this process",
                    file=sys.stderr,
                    flush=True,
                )
                fail_gpu(nccl.number, _LAUNCH_TIMEOUT)
                nccl.abort()  # nobody sees what it leaves

    def _print(self, text: str) -> None:
        lines = "\n".join(f"    {line}" for line in self.ledger.lines())
        what = "a collective is overdue" if self.ledger.current else "other ranks wait"
        if self._finished is not None:
            seconds = time.monotonic() - self._finished
            what = f"has finished, and waits for {seconds:.1f} s for the others to"
        print(
            f"lazyarray.distributed: rank {self.rank}: {what}\n{text}\n"
            f"  rank {self.rank} issued last:\n{lines}",
            file=sys.stderr,
            flush=True,
        )

    # -- the end

    def dies(self, error: BaseException) -> None:
        """Tells the others that this process is about to end with an error."""
        self.dying = why = f"ended with {type(error).__name__}: {error}"
        if isinstance(error, RankError) and (folder := os.environ.get("LAZYARRAY_LAUNCH")):
            # For the launcher: another rank was first.
            pathlib.Path(folder, f"{self.rank}.follows").touch()
        if self._member is not None:
            self._member.send({"died": why})

    def breaks(self, entry: Entry, error: BaseException) -> None:
        """A collective that the ranks had agreed on has failed here: all is over between them."""
        if self.size > 1:
            what = f"failed in {entry.text} from {entry.where}: {type(error).__name__}: {error}"
            if self._member is not None:
                self._member.send({"died": what})
            self.thread.abandon(RankError(f"this rank, {self.rank}, {what}", self.rank))

    def close(self) -> None:
        if self.dying is None and self.thread.over is None:
            for holder in list(self.holders):
                try:
                    holder.issue()
                except Exception:  # what a user's updater raises; the end goes on
                    traceback.print_exc()
        engine.get().cores = self._cores
        let_waiters_help(None)
        if self.dying is not None or self.thread.over is not None:
            if self._member is not None and self.dying is None:
                self._member.send({"died": f"gave up: {self.thread.over}"})
            self.thread.abandon(RankError(f"this rank is ending: {self.dying}", self.rank))
            return
        self.drain(self.channel)
        if self._member is not None:
            self._member.send({"bye": True} if self.thread.over is None else {"died": "gave up"})
        if self.thread.over is None and not self.lost:
            try:
                self.thread.call(self.thread.deliver)
            except RankError as error:  # nobody takes it: the program is wrong, but ends
                print(f"lazyarray.distributed: rank {self.rank}: {error}", file=sys.stderr)
                if self._member is not None:
                    self._member.send({"died": f"sent what nobody received: {error}"})
            for _, nccl in self.on_gpus:
                self.thread.call(nccl.close)
        if self._member is not None:
            self._member.send({"done": True})
            self._finished = told = time.monotonic()
            while not self._end.wait(0.05):
                if self.timeout and time.monotonic() - told > self.timeout:
                    told = time.monotonic()
                    self.overdue()
                if self.lost or self.thread.over is not None:
                    self._clean = False
                    break
            if self._hub is not None:  # the others are told before this process goes on to its end
                self._hub.join(10)
        if self.thread.over is None and isinstance(self.backend, mpi.Mpi):
            world, clean = self.backend, self._clean and not self.lost
            self.thread.call(lambda: mpi.end(world, clean))
        self.thread.abandon(DistributedError("la.distributed was shut down"))

    def drain(self, var: engine.Var) -> None:
        """Waits until all that use a variable are over, whatever became of them."""
        over = threading.Event()  # not set where a device failed that collectives were on

        def run(run_ctx: Any, done: Any) -> None:
            done()
            over.set()

        engine.get().push_async(
            run,
            cpu(0),
            mutable_vars=[var],
            prop=engine.FnProperty.NO_SKIP,
            name="drain",
        )
        last = var._issued
        while not over.wait(0.05) and var.version < last:  # Ctrl-C comes through
            pass


_process: Process | None = None
_excepthook: Any = None


def _in_a_child() -> None:
    if _process is not None:
        _process.forked = True


if hasattr(os, "register_at_fork"):  # asking for the process's number at each call costs 0.3 us
    os.register_at_fork(after_in_child=_in_a_child)


def current() -> Process:
    """The process's; RuntimeError before init(), and in a forked child."""
    if _process is None:
        raise RuntimeError("call la.distributed.init() first")
    if _process.forked:
        raise RuntimeError(
            "this process was forked from one that called la.distributed.init(): it has no rank, "
            "and can't use its parent's"
        )
    return _process


def init(
    backend: str | None = None,
    *,
    timeout: float | None = None,
    ordered: bool | None = None,
    gpu: str | None = None,
    check: bool | None = None,
) -> None:
    """Makes this process one of the ranks that were started together.

    Started by ``python -m lazyarray.launch``, ``mpirun`` or ``srun`` it is a rank of these; started
    plainly it is the only one, and the same program runs without MPI. A second call does nothing.
    The end of the program calls :func:`shutdown`.

    Args:
        backend: "mpi" or "single"; None: what the process was started by.
        timeout: the seconds for which a collective may wait for other ranks before they all print
            what they are doing; 0: never. None: ``LAZYARRAY_DISTRIBUTED_TIMEOUT``, or 60.
        ordered: whether reductions add in the order of the ranks, so that their bits are those of
            the serial sum ``x0 + x1 + ...``; slower. Every call may say otherwise. None: no.
        gpu: how arrays on GPUs travel: "host" (and None), by copies in the host's memory, or
            "nccl", by NCCL from one GPU to the other. Then each rank has a GPU that no other has,
            as ``la.gpu(la.distributed.local_rank())``.
        check: whether ranks compare the lines that led to a call, too, for debugging: of
            ``allreduce``, ``allgather``, ``reduce_scatter`` and ``alltoall``. It finds calls in
            another order that are alike in all else. None: ``LAZYARRAY_DISTRIBUTED_CHECK``, or no.
    Returns: None.
    Raises: ValueError for another backend, a negative ``timeout``, or ``ordered``, ``gpu`` or
        ``check`` that differ between ranks; ModuleNotFoundError where mpi4py is missing;
        ImportError where CuPy has no NCCL; RuntimeError if MPI was initialised for one thread only,
        or if an earlier call was given something else.

    >>> import lazyarray as la
    >>> la.distributed.init()
    >>> la.distributed.size()
    1
    """
    global _process, _excepthook
    if backend not in (None, "mpi", "single"):
        raise ValueError(f"the backends are 'mpi' and 'single', not {backend!r}")
    if gpu not in (None, "host", "nccl"):
        raise ValueError(f"arrays on GPUs travel by 'host' or 'nccl', not {gpu!r}")
    if timeout is not None and (not timeout >= 0 or math.isinf(timeout)):
        raise ValueError(f"timeout is in seconds, 0 for none, not {timeout!r}")
    if _process is not None:
        process = current()
        said = {"timeout": timeout, "ordered": ordered, "gpu": gpu, "check": check}
        now = {"timeout": process.timeout, **process.settings}
        if backend is not None:
            said["backend"] = backend
            now["backend"] = "single" if isinstance(process.backend, Single) else "mpi"
        for name, value in said.items():
            if value is not None and value != now[name]:
                raise RuntimeError(
                    f"la.distributed.init() was called before, with {name}={now[name]!r}, not "
                    f"{value!r}: what is given first counts until shutdown()"
                )
        return
    if timeout is None:
        timeout = float(os.environ.get(TIMEOUT) or 60)
        if not timeout >= 0 or math.isinf(timeout):
            raise ValueError(f"{TIMEOUT} is in seconds, 0 for none, not {timeout!r}")
    if check is None:
        check = os.environ.get(CHECK, "0") not in ("", "0")
    settings = {"ordered": bool(ordered), "gpu": gpu or "host", "check": bool(check)}
    _process = Process(backend, float(timeout), settings)
    if _excepthook is None:
        _excepthook = sys.excepthook
        sys.excepthook = _told
        # After the engine's own, so before it in the order of the end.
        threading._register_atexit(shutdown)  # type: ignore[attr-defined]


def _told(kind: type[BaseException], error: BaseException, tb: TracebackType | None) -> None:
    """As the program ends with an exception: the others are told, too."""
    ends = not (hasattr(sys, "ps1") or sys.flags.interactive)  # at a prompt it goes on
    if ends and _process is not None and not _process.forked:
        _process.dies(error)
    _excepthook(kind, error, tb)


def shutdown() -> None:
    """Finishes all collectives, waits for the other ranks to come here, and ends MPI.

    The end of the program calls it. After it, a process of MPI's can't be a rank again; one that is
    alone can.

    Returns: None.
    Raises: nothing.

    >>> import lazyarray as la
    >>> la.distributed.init()
    >>> la.distributed.shutdown()
    >>> la.distributed.is_initialized()
    False
    """
    global _process
    process = _process
    if process is None or process.forked:
        return
    try:
        process.close()
    finally:
        _process = None
        for _, nccl in process.on_gpus:  # others may still wait for what was launched here
            nccl.abort(_STUCK_SECONDS)


def is_initialized() -> bool:
    """Whether :func:`init` was called, and not :func:`shutdown`.

    Returns: a bool.
    Raises: nothing.

    >>> import lazyarray as la
    >>> la.distributed.init()
    >>> la.distributed.is_initialized()
    True
    """
    return _process is not None and not _process.forked


def world() -> Communicator:
    """All ranks.

    Returns: a :class:`Communicator`.
    Raises: RuntimeError before :func:`init`.

    >>> import lazyarray as la
    >>> la.distributed.init()
    >>> la.distributed.world()
    <Communicator world: rank 0 of 1>
    """
    return current().world


def rank() -> int:
    """This process's number, from 0 on.

    Returns: an int.
    Raises: RuntimeError before :func:`init`.

    >>> import lazyarray as la
    >>> la.distributed.init()
    >>> la.distributed.rank()
    0
    """
    return current().rank


def size() -> int:
    """How many ranks there are.

    Returns: an int.
    Raises: RuntimeError before :func:`init`.

    >>> import lazyarray as la
    >>> la.distributed.init()
    >>> la.distributed.size()
    1
    """
    return current().size


def local_rank() -> int:
    """This process's number among those of its machine: which GPU it may take, say.

    Returns: an int.
    Raises: RuntimeError before :func:`init`.

    >>> import lazyarray as la
    >>> la.distributed.init()
    >>> la.distributed.local_rank()
    0
    """
    return current().local_rank


def local_size() -> int:
    """How many ranks there are on this machine.

    Returns: an int.
    Raises: RuntimeError before :func:`init`.

    >>> import lazyarray as la
    >>> la.distributed.init()
    >>> la.distributed.local_size()
    1
    """
    return current().local_size
