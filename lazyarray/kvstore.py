"""KVStore: MXNet's interface to what is shared by devices and processes, on collectives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray import distributed
from lazyarray.engine import bulk
from lazyarray.lazy._lazy import Tensor, paused
from lazyarray.ops._rows import writable

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import Optimizer
    from lazyarray.distributed import Communicator

    Keys = int | str | Sequence[int | str]
    # An array, or several, of a key; or a list of these, of several keys.
    Values = NDArray | Sequence[NDArray] | Sequence[Sequence[NDArray]]

__all__ = ["KVStore", "create"]

Key = int | str
_LOCAL = ("local", "local_update_cpu", "local_allreduce_cpu")
_DEVICE = ("device", "local_allreduce_device")
_SYNC = ("dist_sync", "dist", "dist_device_sync", "dist_sync_device", "horovod")


def create(name: str = "local") -> KVStore:
    """A store of arrays by key, as MXNet's ``mx.kv.create``.

    Args:
        name: "local" or "device": of this process; "dist_sync": of all ranks, which push and pull
            the same keys in the same order.
    Returns: a :class:`KVStore`.
    Raises: ValueError for another name; "dist_async" among them, which says why. TypeError for what
        is no str.

    >>> import lazyarray as la
    >>> kv = la.kvstore.create("local")
    >>> kv.init("w", la.zeros(2))
    >>> kv.push("w", [la.ones(2), la.ones(2)])
    >>> w = la.empty(2)
    >>> kv.pull("w", out=w)
    >>> w.asnumpy()
    array([2., 2.])
    """
    if not isinstance(name, str):
        raise TypeError(f"kvstore.create takes a name, not {type(name).__name__}")
    if name == "dist_async":
        raise ValueError(
            "kvstore 'dist_async' needs a server that each worker updates without the others, and "
            "ranks here only have collectives, which all of them take part in: use 'dist_sync'"
        )
    if name in _SYNC:
        distributed.init()
        return KVStore(name, distributed.world())
    if name in (*_LOCAL, *_DEVICE):
        return KVStore(name, None)
    raise ValueError(f"a kvstore is 'local', 'device' or 'dist_sync', not {name!r}")


class KVStore:
    """Arrays by key. ``push`` adds up what devices and ranks give; ``pull`` hands it out.

    Without an optimiser a push replaces the value by the sum; with one (:meth:`set_optimizer`) the
    sum is a gradient. Nothing waits.

    Of "dist_sync", pushes are issued together at the next call that is no push, the highest
    ``priority`` first, and in the program's order where it is equal. So the order is the same on
    all ranks, as long as they call the same with the same priorities. A push can't go at once: one
    that comes later may have a higher priority, and each rank would see that at another time. That
    costs little, as a backward pass has only been recorded when its gradients are pushed. The end
    of the program issues what is left; ``la.waitall()`` does not.

    Of "local" and "device" priorities are checked, and change nothing: there is no network, for
    which arrays would have to stand in line, and a sum runs as soon as its arrays are ready.

    >>> import lazyarray as la
    >>> kv = la.kvstore.create("dist_sync")
    >>> kv.rank, kv.num_workers, kv.type
    (0, 1, 'dist_sync')
    """

    def __init__(self, name: str, comm: Communicator | None) -> None:
        self.type = name
        self._comm = comm
        self._values: dict[Key, NDArray] = {}
        self._update: Callable[[Key, NDArray, NDArray], None] | None = None
        self._trainers: dict[Key, Any] = {}
        # What was pushed since, and is not yet issued: priority, sum of this rank's arrays.
        self._pushed: dict[Key, tuple[int, NDArray]] = {}

    @property
    def rank(self) -> int:
        """This worker's number."""
        return 0 if self._comm is None else int(self._comm.rank)

    @property
    def num_workers(self) -> int:
        """How many workers there are."""
        return 1 if self._comm is None else int(self._comm.size)

    def barrier(self) -> None:
        """Waits until all workers are here.

        Returns: None.
        Raises: :class:`lazyarray.distributed.RankError` if one is gone.
        """
        self.issue()
        if self._comm is not None:
            self._comm.barrier()

    # MXNet's name in 1.x
    _barrier = barrier

    def init(self, key: Keys, value: Values) -> None:
        """Begins keys with values; those of rank 0, if there are several ranks.

        Args:
            key: an int or a str, or a list of them.
            value: an array; for a list of keys, a list of arrays.
        Returns: None.
        Raises: ValueError for a key that is there already, or another number of values than of
            keys; TypeError for a key of another type, or what is no array.
        """
        self._issue()
        pairs = _pairs("init", key, value)
        taken = set(self._values)
        for k, _ in pairs:
            if k in taken:
                raise ValueError(f"kvstore: the key {k!r} is there already")
            taken.add(k)
        for k, values in pairs:
            with paused():
                with _untold():
                    own = writable(values[0].copy())
                if self._comm is not None:
                    self._comm.broadcast(own, out=own, name=f"key {k}")
            self._values[k] = own

    def push(self, key: Keys, value: Values, priority: int = 0) -> None:
        """Adds up the arrays of each key, over a list and over all ranks, and stores the sum.

        Args:
            key: an int or a str, or a list of them, in which the arrays of equal ones go together.
            value: an array, or a list of several, of the key's shape; for a list of keys, a list of
                these.
            priority: an integer; of "dist_sync", what is pushed with a higher one goes first.
        Returns: None.
        Raises: ValueError for a key without :meth:`init`, another shape, or another number of
            values than of keys; TypeError for a key of another type, what is no array, numbers that
            the key's dtype would not hold (complex ones as real, floats as integers), or a
            ``priority`` that is no integer. Then nothing was pushed.
        """
        rank = _checked_priority(priority)
        pairs = _grouped(_pairs("push", key, value))
        for k, values in pairs:
            _check_values(k, self._known(k), values)
        for k, values in pairs:
            if k in self._pushed:
                self._issue()
            total = self._added(self._values[k], values)
            if self._comm is not None:
                self._comm._process.holders[self] = None
            self._pushed[k] = rank, total
        if self._comm is None:
            self._issue()

    def pull(
        self, key: Keys, out: Values | None = None, priority: int = 0, ignore_sparse: bool = True
    ) -> None:
        """Copies each key's value to an array, or to each of a list of them.

        Args:
            key: an int or a str, or a list of them.
            out: an array, or a list of several, of the key's shape; for a list of keys, a list of
                these.
            priority: for MXNet's signature: an integer.
            ignore_sparse: for MXNet's signature: no arrays are sparse.
        Returns: None.
        Raises: as :meth:`push`; TypeError without ``out``; ValueError if it is read-only.
        """
        _checked_priority(priority)
        if out is None:
            raise TypeError("kvstore: pull needs out=")
        pairs = _pairs("pull", key, out)
        for k, outs in pairs:
            _check_outputs(k, self._known(k), outs)
        self._issue()
        with paused():
            for k, outs in pairs:
                for o in outs:
                    self._values[k].copyto(o)

    def pushpull(
        self, key: Keys, value: Values, out: Values | None = None, priority: int = 0
    ) -> None:
        """:meth:`push`, then :meth:`pull` to ``out``, or to ``value`` itself.

        Without an optimiser the stored value stays as it is: what is pulled is the sum.

        Args:
            key: an int or a str, or a list of them.
            value: what is pushed.
            out: what is written; None: ``value``.
            priority: as for :meth:`push`.
        Returns: None.
        Raises: as :meth:`push` and :meth:`pull`.

        >>> import lazyarray as la
        >>> kv = la.kvstore.create("device")
        >>> kv.init("g", la.zeros(2))
        >>> each = [la.ones(2), la.ones(2) * 2]
        >>> kv.pushpull("g", each)
        >>> each[0].asnumpy(), each[1].asnumpy()
        (array([3., 3.]), array([3., 3.]))
        """
        rank = _checked_priority(priority)
        outs = _pairs("pushpull", key, value if out is None else out)
        pairs = _grouped(_pairs("pushpull", key, value))
        for k, arrays in pairs:
            _check_values(k, self._known(k), arrays)
        for k, arrays in outs:
            _check_outputs(k, self._known(k), arrays)
        if any(k in self._pushed for k, _ in pairs):
            self._issue()
        updates = self._update is not None or self._trainers_of is not None
        with paused():
            totals = {k: self._added(self._values[k], values) for k, values in pairs}
            self._issue({k: (rank, total) for k, total in totals.items()}, updates)
            for k, to in outs:
                found = self._values[k] if updates else totals[k]
                for o in to:
                    found.copyto(o)

    def broadcast(self, key: Keys, value: Values, out: Values, priority: int = 0) -> None:
        """:meth:`init`, then :meth:`pull` to ``out``.

        Args:
            key: an int or a str, or a list of them.
            value: as for :meth:`init`.
            out: as for :meth:`pull`.
            priority: for MXNet's signature: an integer.
        Returns: None.
        Raises: as :meth:`init` and :meth:`pull`.
        """
        _checked_priority(priority)
        values = dict(_pairs("broadcast", key, value))
        for k, outs in _pairs("broadcast", key, out):
            _check_outputs(k, values[k][0], outs)
        self.init(key, value)
        self.pull(key, out, priority)

    # -- updates

    _trainers_of: Callable[[NDArray], Optimizer] | None = None

    def set_optimizer(self, optimizer: Callable[..., Optimizer], **options: object) -> None:
        """Has pushed sums be gradients: ``kv.set_optimizer(la.nn.SGD, lr=0.1)``.

        Each key has an optimiser of its own, ``optimizer([value], **options)``, made at its first
        push.

        Args:
            optimizer: one of ``la.nn``'s classes, or a function that makes an optimiser.
            **options: its arguments.
        Returns: None.
        Raises: TypeError for what can't be called. The first push raises what the optimiser does of
            its arguments.

        >>> import lazyarray as la
        >>> kv = la.kvstore.create("local")
        >>> kv.set_optimizer(la.nn.SGD, lr=0.5)
        >>> w = la.ones(1)
        >>> kv.init(0, w)
        >>> kv.pushpull(0, la.ones(1), out=w)
        >>> w.asnumpy()
        array([0.5])
        """
        if not callable(optimizer):
            raise TypeError(
                f"set_optimizer takes a class and its options, set_optimizer(la.nn.SGD, lr=0.1), "
                f"not a {type(optimizer).__name__}"
            )
        self._issue()
        self._trainers = {}
        self._update = None
        self._trainers_of = lambda value: optimizer([value], **options)

    def set_updater(self, updater: Callable[[Key, NDArray, NDArray], None]) -> None:
        """Has ``updater(key, sum, value)`` change the value in place at each push.

        Args:
            updater: what is called, with a key and two arrays.
        Returns: None.
        Raises: TypeError for what can't be called.

        >>> import lazyarray as la
        >>> kv = la.kvstore.create("local")
        >>> kv.init("w", la.zeros(2))
        >>> def add(key, total, value):
        ...     value += total
        >>> kv.set_updater(add)
        >>> w = la.ones(2)
        >>> kv.push("w", w)
        >>> kv.push("w", w)
        >>> kv.pull("w", out=w)
        >>> w.asnumpy()
        array([2., 2.])
        """
        if not callable(updater):
            raise TypeError(f"an updater is a function, not a {type(updater).__name__}")
        self._issue()
        self._trainers_of, self._update = None, updater

    _set_updater = set_updater

    def issue(self) -> None:
        """Has what was pushed so far go now, instead of at the next call that is no push.

        Returns: None.
        Raises: what an updater raises.

        >>> import lazyarray as la
        >>> kv = la.kvstore.create("dist_sync")
        >>> kv.init("w", la.zeros(2))
        >>> kv.push("w", la.ones(2))
        >>> kv.issue()
        """
        self._issue()

    # -- how

    def _known(self, key: Key) -> NDArray:
        if key not in self._values:
            raise ValueError(f"kvstore: the key {key!r} is not there: call init({key!r}, value)")
        return self._values[key]

    def _issue(
        self, more: Mapping[Key, tuple[int, NDArray]] | None = None, stores: bool = True
    ) -> None:
        """Has all ranks add up what was pushed, and ``more``, which is stored if ``stores``."""
        pushed = {**self._pushed, **(more or {})}
        self._pushed.clear()
        if self._comm is not None:
            self._comm._process.holders.pop(self, None)
        failures: list[BaseException] = []
        for k in sorted(pushed, key=lambda k: -pushed[k][0]):
            total = pushed[k][1]
            if self._comm is not None:
                with paused():
                    self._comm.allreduce(total, out=total, name=f"key {k}")
            if stores or k not in (more or {}):
                try:
                    self._store(k, total)
                except BaseException as failure:  # the other keys' sums: all ranks await them
                    failures.append(failure)
        if failures:
            raise failures[0]

    def _added(self, own: NDArray, values: Sequence[NDArray]) -> NDArray:
        """This rank's arrays, as they are now."""
        with paused(), _untold():
            each = [x.to_device(own.device).astype(own.dtype, copy=False) for x in values]
            total = each[0].copy()
            for x in each[1:]:
                total += x
        return total

    def _store(self, key: Key, total: NDArray) -> None:
        own = self._values[key]
        with paused():
            if self._update is not None:
                self._update(key, total, own)
            elif self._trainers_of is not None:
                trainer = self._trainers.get(key)
                if trainer is None:
                    own.attach_grad()
                    trainer = self._trainers[key] = self._trainers_of(own)
                own.grad[...] = total
                trainer.step()
            else:
                total.copyto(own)


def _untold() -> AbstractContextManager[None]:
    """A block of ops that don't raise what their arrays hold, inside a ``try`` either.

    A rank whose array has an error has to take part: the others wait for it, and are told.
    """
    return bulk(1024)


def _pairs(what: str, key: Any, value: Any) -> list[tuple[Key, list[NDArray]]]:
    """Each key with its arrays: one key has one or several, a list of keys as many entries."""
    if isinstance(key, (list, tuple)):
        if not isinstance(value, (list, tuple)) or len(value) != len(key):
            raise ValueError(f"kvstore: {what} of {len(key)} keys takes a list of as many values")
        return [pair for k, v in zip(key, value, strict=True) for pair in _pairs(what, k, v)]
    if not isinstance(key, (int, str)):
        raise TypeError(f"kvstore: a key is an int or a str, not {type(key).__name__}")
    arrays = list(value) if isinstance(value, (list, tuple)) else [value]
    if not arrays:
        raise ValueError(f"kvstore: {what} of no arrays for the key {key!r}")
    for x in arrays:
        if not isinstance(x, Tensor):
            raise TypeError(f"kvstore: values are NDArrays, not {type(x).__name__}")
    return [(key, arrays)]


def _check_values(key: Key, own: NDArray, values: Sequence[NDArray]) -> None:
    """That arrays can be added up as the key's value is: before anything is written."""
    for x in values:
        _check(key, own, x, np.can_cast(x.dtype, own.dtype, "same_kind"))


def _check_outputs(key: Key, own: NDArray, outs: Sequence[NDArray]) -> None:
    """That the key's value can be copied to arrays: before anything is written."""
    for x in outs:
        _check(key, own, x, np.can_cast(own.dtype, x.dtype, "same_kind"))
        if not x.flags.writeable:
            raise ValueError(f"kvstore: an output for the key {key!r} is read-only, or a scalar")


def _check(key: Key, own: NDArray, x: NDArray, holds: bool) -> None:
    if x.shape != own.shape:
        raise ValueError(f"kvstore: an array of shape {x.shape} for the key {key!r} of {own.shape}")
    if not holds:
        raise TypeError(f"kvstore: an array of {x.dtype} for the key {key!r} of {own.dtype}")


def _grouped(pairs: list[tuple[Key, list[NDArray]]]) -> list[tuple[Key, list[NDArray]]]:
    """Each key once, with all its arrays: as MXNet's ``GroupKVPairs``."""
    found: dict[Key, list[NDArray]] = {}
    for k, values in pairs:
        found.setdefault(k, []).extend(values)
    return list(found.items())


def _checked_priority(priority: int) -> int:
    if isinstance(priority, bool) or not hasattr(priority, "__index__"):
        raise TypeError(f"kvstore: priority is an integer, not {type(priority).__name__}")
    return priority.__index__()
