"""Communicator: a group of ranks, and its collectives, each one asynchronous op of the engine.

An op reads and writes its arrays' variables, and writes the process's channel, which all
communicators share. So collectives run in program order on every rank, whatever else the engine
does; the thread that makes an op ready only hands it to the communication thread.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, overload

import numpy as np

from lazyarray.context import cpu
from lazyarray.distributed import reductions
from lazyarray.distributed._task import Task, on_host
from lazyarray.distributed.arguments import (
    INT,
    integer,
    rank_of,
    reduction,
    result,
    rows_of,
    tag_of,
)
from lazyarray.distributed.backend import Backend
from lazyarray.distributed.errors import MismatchError
from lazyarray.distributed.nccl import Nccl
from lazyarray.distributed.packing import Onto, in_a_row, sent_from, through_host
from lazyarray.distributed.signature import (
    ALIKE,
    HEAD,
    lines_here,
    signed,
    text_of,
    with_lines,
)
from lazyarray.engine._engine import user_line
from lazyarray.functions.creation import empty
from lazyarray.lazy._lazy import Tensor, TracingError, is_capturing
from lazyarray.lazy.cuda.views import on
from lazyarray.ops._differentiable import follows, note
from lazyarray.ops._rows import asarray, scalar_like

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, Single
    from lazyarray.distributed.process import Process

__all__ = ["Communicator"]

_T = TypeVar("_T")

_HOST = cpu(0)
_SMALL = 1 << 16  # bytes of what a thread that waits for it reduces itself


class Communicator:
    """A group of ranks: all of them (:func:`world`), or some (:meth:`split`).

    Its methods are collectives: every rank of it calls the same ones in the same order. They return
    at once; a wait on a result waits for the other ranks. What comes of all ranks has a first axis
    of :attr:`size` rows, one a rank.

    >>> import lazyarray as la
    >>> la.distributed.init()
    >>> comm = la.distributed.world()
    >>> comm.allreduce(la.arange(3)).asnumpy()
    array([0, 1, 2])
    """

    def __init__(
        self, process: Process, backend: Backend, ranks: tuple[int, ...], name: str
    ) -> None:
        self._process = process
        self.backend = backend
        #: The number of this process in the group, and how many there are.
        self.rank: int = backend.rank
        self.size: int = backend.size
        #: Which ranks of the world these are.
        self.ranks = ranks
        self.name = name
        self._splits = 0
        self._freed = False
        self._little: dict[Any, Any] = {}  # what _small gives, but for the arrays
        self._nccl: Nccl | None = None  # once an array on a GPU was given

    def __repr__(self) -> str:
        return f"<Communicator {self.name}: rank {self.rank} of {self.size}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a communicator is of this process: it can't be pickled or copied")

    # -- collectives

    @overload
    def allreduce(
        self,
        x: Sequence[ArrayLike],
        op: str = "sum",
        *,
        out: Sequence[NDArray] | None = None,
        ordered: bool | None = None,
        name: str | None = None,
    ) -> list[NDArray]: ...
    @overload
    def allreduce(
        self,
        x: Single,
        op: str = "sum",
        *,
        out: NDArray | None = None,
        ordered: bool | None = None,
        name: str | None = None,
    ) -> NDArray: ...
    @through_host
    def allreduce(
        self,
        x: Any,
        op: str = "sum",
        *,
        out: Any = None,
        ordered: bool | None = None,
        name: str | None = None,
    ) -> Any:
        """:func:`lazyarray.distributed.allreduce` in this group."""
        if isinstance(x, (list, tuple)):
            return self._allreduce_all(list(x), op, out, ordered, name)
        x, op, ordered = asarray(x), reduction(op, [x]), self._ordered(ordered)
        to = result("allreduce", out, x, x.shape)
        backend = self._backend_of(x)

        def work(task: Task) -> None:
            with Onto(task.view(to)) as flat:
                source = sent_from(task, x, to, flat)
                reductions.allreduce(backend, source, flat, op, ordered)

        rules = [_sum_rule(self, op, ordered)] if op in ("sum", "mean") else None
        small = self._small(x, to, op, ordered)
        text = text_of(name, op, ordered)
        return self._push("allreduce", text, [x], [to], work, [x], rules, out, small=small)

    @through_host
    def reduce(
        self,
        x: ArrayLike,
        root: int = 0,
        op: str = "sum",
        *,
        out: NDArray | None = None,
        ordered: bool | None = None,
        name: str | None = None,
    ) -> NDArray | None:
        """:func:`lazyarray.distributed.reduce` in this group."""
        root, x = rank_of("root", root, self.size), asarray(x)
        op, ordered = reduction(op, [x]), self._ordered(ordered)
        at_root = self.rank == root
        to = result("reduce", out, x, x.shape) if at_root else None
        backend = self._backend_of(x)

        def work(task: Task) -> None:
            if to is None:
                source = in_a_row(task.view(x))
                reductions.reduce(backend, source, None, op, root, ordered)
                return
            with Onto(task.view(to)) as flat:
                source = sent_from(task, x, to, flat)
                reductions.reduce(backend, source, flat, op, root, ordered)

        text = text_of(name, op, ordered, f"to {root}")
        writes = [] if to is None else [to]
        return self._push("reduce", text, [x], writes, work, [x], None, out)

    @overload
    def broadcast(
        self,
        x: Sequence[ArrayLike],
        root: int = 0,
        *,
        out: Sequence[NDArray] | None = None,
        name: str | None = None,
    ) -> list[NDArray]: ...
    @overload
    def broadcast(
        self, x: Single, root: int = 0, *, out: NDArray | None = None, name: str | None = None
    ) -> NDArray: ...
    @through_host
    def broadcast(self, x: Any, root: int = 0, *, out: Any = None, name: str | None = None) -> Any:
        """:func:`lazyarray.distributed.broadcast` in this group."""
        if isinstance(x, (list, tuple)):
            return self._broadcast_all(list(x), root, out, name)
        root, x = rank_of("root", root, self.size), asarray(x)
        to = result("broadcast", out, x, x.shape)
        at_root = self.rank == root
        backend = self._backend_of(x)

        def work(task: Task) -> None:
            with Onto(task.view(to)) as flat:
                if at_root and (source := sent_from(task, x, to, flat)) is not flat:
                    flat[...] = source
                backend.broadcast(flat, root)

        reads = [x] if at_root else []
        text = text_of(name, f"from {root}")
        return self._push("broadcast", text, reads, [to], work, [x], None, out)

    @through_host
    def allgather(
        self, x: ArrayLike, *, out: NDArray | None = None, name: str | None = None
    ) -> NDArray:
        """:func:`lazyarray.distributed.allgather` in this group."""
        x = asarray(x)
        to = result("allgather", out, x, (self.size, *x.shape))
        backend = self._backend_of(x)

        def work(task: Task) -> None:
            with Onto(task.view(to)) as flat:
                backend.allgather(sent_from(task, x, to), flat)

        rules = [lambda g: self.reduce_scatter(g)]
        return self._push("allgather", text_of(name), [x], [to], work, [x], rules, out)

    @through_host
    def gather(
        self, x: ArrayLike, root: int = 0, *, out: NDArray | None = None, name: str | None = None
    ) -> NDArray | None:
        """:func:`lazyarray.distributed.gather` in this group."""
        root, x = rank_of("root", root, self.size), asarray(x)
        to = None
        if self.rank == root:
            to = result("gather", out, x, (self.size, *x.shape))
        backend = self._backend_of(x)

        def work(task: Task) -> None:
            if to is None:
                backend.gather(in_a_row(task.view(x)), None, root)
                return
            with Onto(task.view(to)) as flat:
                backend.gather(sent_from(task, x, to), flat, root)

        writes = [] if to is None else [to]
        text = text_of(name, f"to {root}")
        return self._push("gather", text, [x], writes, work, [x], None, out)

    @through_host
    def scatter(
        self, x: ArrayLike, root: int = 0, *, out: NDArray | None = None, name: str | None = None
    ) -> NDArray:
        """:func:`lazyarray.distributed.scatter` in this group."""
        root, x = rank_of("root", root, self.size), asarray(x)
        at_root = self.rank == root
        shape = rows_of("scatter", x, self.size) if at_root else x.shape
        to = result("scatter", out, x, shape)
        backend = self._backend_of(x)

        def work(task: Task) -> None:
            source = sent_from(task, x, to) if at_root else None
            with Onto(task.view(to)) as flat:
                backend.scatter(source, flat, root)

        reads = [x] if at_root else []
        text = text_of(name, f"from {root}")
        return self._push("scatter", text, reads, [to], work, [to], None, out)

    @through_host
    def reduce_scatter(
        self,
        x: ArrayLike,
        op: str = "sum",
        *,
        out: NDArray | None = None,
        ordered: bool | None = None,
        name: str | None = None,
    ) -> NDArray:
        """:func:`lazyarray.distributed.reduce_scatter` in this group."""
        x = asarray(x)
        op, ordered = reduction(op, [x]), self._ordered(ordered)
        to = result("reduce_scatter", out, x, rows_of("reduce_scatter", x, self.size))
        backend = self._backend_of(x)

        def work(task: Task) -> None:
            source = sent_from(task, x, to).reshape(self.size, to.size)
            with Onto(task.view(to)) as flat:
                reductions.reduce_scatter(backend, source, flat, op, ordered)

        rules = [lambda g: self.allgather(g)] if op == "sum" else None
        text = text_of(name, op, ordered)
        return self._push("reduce_scatter", text, [x], [to], work, [x], rules, out)

    @through_host
    def alltoall(
        self, x: ArrayLike, *, out: NDArray | None = None, name: str | None = None
    ) -> NDArray:
        """:func:`lazyarray.distributed.alltoall` in this group."""
        x = asarray(x)
        rows_of("alltoall", x, self.size)
        to = result("alltoall", out, x, x.shape)
        backend = self._backend_of(x)

        def work(task: Task) -> None:
            with Onto(task.view(to)) as flat:
                backend.alltoall(sent_from(task, x, to), flat)

        rules = [lambda g: self.alltoall(g)]
        return self._push("alltoall", text_of(name), [x], [to], work, [x], rules, out)

    def barrier(self) -> None:
        """:func:`lazyarray.distributed.barrier` in this group."""
        self._wait("barrier", "", lambda task: None, small=(None, None, None, None))

    # -- messages

    @through_host
    def send(self, x: ArrayLike, dest: int, tag: int = 0) -> None:
        """:func:`lazyarray.distributed.send` in this group."""
        x, dest, tag = asarray(x), rank_of("dest", dest, self.size), tag_of(tag)
        _, digest, _ = signed("message", "", [x])

        def work(task: Task) -> None:
            source = task.view(x)
            buffer = np.empty(HEAD + source.nbytes, np.uint8)
            buffer[:HEAD] = np.frombuffer(digest, np.uint8)
            buffer[HEAD:].view(source.dtype).reshape(source.shape)[...] = source
            self.backend.send(buffer, dest, tag)
            self._process.thread.sends(self)

        self._push("send", f"to {dest}", [x], [], work, [x], None, None, dest)

    @through_host
    def recv(
        self, x: ArrayLike, source: int, tag: int = 0, *, out: NDArray | None = None
    ) -> NDArray:
        """:func:`lazyarray.distributed.recv` in this group."""
        x, source, tag = asarray(x), rank_of("source", source, self.size), tag_of(tag)
        to = result("recv", out, x, x.shape)
        _, digest, _ = signed("message", "", [x])

        def work(task: Task) -> None:
            thread = self._process.thread
            message = self.backend.recv(source, tag, thread.poll)
            if message[:HEAD].tobytes() != digest:
                raise MismatchError(
                    f"the message from rank {source} is not the {x.dtype} {x.shape} that recv "
                    f"asked for: it has {message.size - HEAD} bytes"
                )
            view = task.view(to)
            view[...] = message[HEAD:].view(view.dtype).reshape(view.shape)

        return self._push("recv", f"from {source}", [], [to], work, [x], None, out, source)

    # -- groups

    def split(self, color: int | None, key: int = 0) -> Communicator | None:
        """Groups of the ranks that give the same ``color``, in the order of ``key``, then of rank.

        A collective that waits. A rank that gives None is in no group, and gets None.

        Args:
            color: which group, a number from 0 on; or None.
            key: where in it.
        Returns: the new communicator, or None.
        Raises: TypeError for what is no integer; ValueError for a color that is negative, or more
            than 31 bits; :class:`RankError` if a rank is gone; RuntimeError after :func:`shutdown`.

        >>> import lazyarray as la
        >>> la.distributed.init()
        >>> la.distributed.world().split(0).size
        1
        """
        if color is not None:
            color = integer("split: a color is a number from 0 on, or None", color, 0, INT)
        key = integer("split: a key is an integer of 32 bits", key, -INT - 1, INT)
        found: list[Any] = []

        def work(task: Task) -> None:
            every = self.backend.exchange((color, key))
            found.extend((every, self.backend.split(color, key)))

        self._wait("split", "", work)
        self._splits += 1
        every, backend = found
        if color is None:
            return None
        members = sorted((k, r) for r, (c, k) in enumerate(every) if c == color)
        ranks = tuple(self.ranks[r] for _, r in members)
        name = f"{self.name}.split{self._splits}({color})"
        return Communicator(self._process, backend, ranks, name)

    def free(self) -> None:
        """Ends the group: an MPI has room for some 60,000. A collective that waits.

        Groups that are left alone end with :func:`shutdown`.

        Returns: None.
        Raises: ValueError for the world; :class:`RankError` if a rank is gone; RuntimeError after
            :func:`shutdown`, and of every call that comes later.

        >>> import lazyarray as la
        >>> la.distributed.init()
        >>> half = la.distributed.world().split(0)
        >>> half.free()
        """
        if self is self._process.world:
            raise ValueError("free: the world ends with la.distributed.shutdown()")
        self._wait("free", "", lambda task: None)  # all have come here, and called nothing since
        self._freed = True
        if self._nccl is not None:
            self._process.on_gpus.remove((self, self._nccl))
            self._process.thread.call(self._nccl.close)
        self._process.thread.call(self.backend.close)

    def exchange(self, thing: _T) -> list[_T]:
        """Every rank's Python object, by pickle: settings, file names. A collective that waits.

        Args:
            thing: this rank's object.
        Returns: a list of all ranks' objects.
        Raises: what pickling the object raises; :class:`RankError` if a rank is gone; RuntimeError
            after :func:`shutdown`.

        >>> import lazyarray as la
        >>> la.distributed.init()
        >>> la.distributed.world().exchange({"batch": 32})
        [{'batch': 32}]
        """
        sent = pickle.dumps(thing)  # here: in the midst of the collective the others would wait
        found: list[bytes] = []
        self._wait("exchange", "", lambda task: found.extend(self.backend.exchange(sent)))
        return [pickle.loads(each) for each in found]

    # -- several arrays at once

    def _allreduce_all(
        self, xs: list[Any], op: str, out: Any, ordered: bool | None, name: str | None
    ) -> list[Any]:
        """One collective for arrays of one dtype, which are packed."""
        xs = [asarray(x) for x in xs]
        if not xs:
            return []
        op, ordered = reduction(op, xs), self._ordered(ordered)
        if len({x.dtype for x in xs}) > 1:
            raise TypeError("allreduce of several arrays: they have different dtypes")
        outs = [None] * len(xs) if out is None else list(out)
        if len(outs) != len(xs):
            raise ValueError(f"allreduce: {len(outs)} arrays for the results of {len(xs)}")
        tos = [result("allreduce", o, x, x.shape) for x, o in zip(xs, outs, strict=True)]

        if len(xs) == 1:
            return [self.allreduce(xs[0], op, out=outs[0], ordered=ordered, name=name)]
        backend = self._backend_of(xs[0])

        def work(task: Task) -> None:
            views = [task.view(x) for x in xs]
            size, dtype = sum(v.size for v in views), xs[0].dtype
            if backend is self.backend:
                flat = self._process.thread.scratch(size, dtype)
            else:
                flat = np.empty(size, dtype, like=views[0])
            at = 0
            for v in views:
                flat[at : at + v.size].reshape(v.shape)[...] = v
                at += v.size
            reductions.allreduce(backend, flat, flat, op, ordered)
            at = 0
            for to in tos:
                v = task.view(to)
                v[...] = flat[at : at + v.size].reshape(v.shape)
                at += v.size

        self._push("allreduce", text_of(name, op, ordered), xs, tos, work, xs, None, out)
        given = zip(tos, xs, outs, strict=True)
        return [_handed_out(to, x) if o is None else to for to, x, o in given]

    def _broadcast_all(self, xs: list[Any], root: int, out: Any, name: str | None) -> list[Any]:
        outs = [None] * len(xs) if out is None else list(out)
        if len(outs) != len(xs):
            raise ValueError(f"broadcast: {len(outs)} arrays for the results of {len(xs)}")
        return [self.broadcast(x, root, out=o, name=name) for x, o in zip(xs, outs, strict=True)]

    # -- what all of them do

    def _push(
        self,
        name: str,
        text: str,
        reads: list[Any],
        writes: list[Any],
        work: Callable[[Task], None],
        alike: Sequence[Any],
        rules: list[Any] | None,
        out: Any,
        peer: int | None = None,
        small: tuple[Any, ...] | None = None,
    ) -> Any:
        """Pushes a collective; gives what it writes.

        ``alike``: what must be alike on all ranks; ``rules``: its gradient's; ``peer``: the other
        rank of a message; ``small``: see :class:`Task`.
        """
        process = self._process
        process.check()
        if self._freed:
            raise RuntimeError(f"{self.name} was freed")
        if is_capturing():
            raise TracingError(f"{name} talks to other processes: it can't be captured")
        wanted = follows(*reads) or (out is not None and follows(*writes))
        if wanted and (rules is None or out is not None):
            how = " in place" if out is not None else ""
            raise NotImplementedError(
                f"autograd has no gradient rule for {name!r}{how}: use x.detach() if it is meant "
                "as a constant"
            )
        place = _HOST
        if alike and not on_host(alike[0]):
            place = alike[0].device
            text = f"{text} by NCCL".lstrip()
            work = _on_stream(self._backend_of(alike[0]), work)
        words, digest, mark = signed(name, text, alike)
        ranks = self.ranks if peer is None else (self.ranks[peer],)
        entry = process.ledger.add(self.name, words, user_line(), ranks, peer is not None)
        if process.compares_lines and name in ALIKE:
            entry.lines = lines_here()
            mark = with_lines(digest, entry.lines)
        agreed = mark if peer is None else None
        task = Task(process.thread.line, self, entry, agreed, reads, writes, work, small)
        if task.push(place, process.channel, name):
            # The design's rule 11: who shares the memory looks at it when this returns.
            for x in (*reads, *writes):
                if x.var._lent:
                    x.wait_to_write()
        if wanted:
            note(name, rules or [], reads, writes)
        if not writes:
            return None
        return writes[0] if out is not None else _handed_out(writes[0], alike[0])

    def _wait(
        self,
        name: str,
        text: str,
        work: Callable[[Task], None],
        small: tuple[Any, ...] | None = None,
    ) -> None:
        """A collective without arrays, waited for."""
        token = empty(1, "int8", device=cpu(0))
        self._push(name, text, [], [token], work, [], None, token, small=small)
        token.wait_to_read()

    def _stays(self, name: str, arrays: Sequence[Any]) -> bool:
        """Whether a collective of these arrays, of which some are on GPUs, leaves them there."""
        given = [x for x in arrays if x is not None]
        return (
            self._process.by_nccl
            # On an ordered stream "all send first" would wait for ever.
            and name not in ("send", "recv")
            and all(isinstance(x, Tensor) and x.device == given[0].device for x in given)
        )

    def _backend_of(self, x: Any) -> Backend:
        if on_host(x):
            return self.backend
        number = x.device.device_id
        if self._nccl is None:
            self._nccl = Nccl(self.backend, number)
            self._process.on_gpus.append((self, self._nccl))
        if self._nccl.number != number:
            raise ValueError(
                f"a communicator has one GPU of each rank: here {self.name} is on "
                f"gpu({self._nccl.number}), the array on gpu({number}). world().split(0) makes "
                "another one"
            )
        return self._nccl

    def _small(self, x: Any, to: Any, op: str, ordered: bool) -> tuple[Any, ...] | None:
        """How a waiter may do it: the same on all ranks, as MPI's two kinds of calls don't mix."""
        if ordered or x.nbytes > _SMALL or not on_host(x):
            return None
        dtype = x.dtype
        found = self._little.get((op, dtype), self)
        if found is self:  # for the first time
            found, backend = None, self.backend
            if backend.begins is not None and backend.reduces(op, dtype):
                divisor = dtype.type(self.size) if op == "mean" else None
                found = *backend.little(op, dtype), divisor
            self._little[op, dtype] = found
        return None if found is None else ((x, to), *found)

    def _ordered(self, ordered: bool | None) -> bool:
        return self._process.ordered if ordered is None else bool(ordered)


def _on_stream(backend: Any, work: Callable[[Task], None]) -> Callable[[Task], None]:
    """``work`` with what it launches on a GPU going to the op's stream."""

    def launches(task: Task) -> None:
        with on(backend.number, task.stream):
            try:
                work(task)
            finally:
                backend.launched()

    return launches


def _handed_out(to: Any, x: Any) -> Any:
    """A new result: of a scalar a scalar, while the op keeps an array that it can write to."""
    return to if to.ndim else scalar_like(to.reshape(()), x)


def _sum_rule(comm: Communicator, op: str, ordered: bool) -> Any:
    return lambda g: comm.allreduce(g, op, ordered=ordered)
