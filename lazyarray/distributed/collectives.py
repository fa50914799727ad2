"""The collectives of all ranks: functions of :func:`lazyarray.distributed.world`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from lazyarray._docstrings import told_as
from lazyarray.distributed.communicator import Communicator
from lazyarray.distributed.process import world

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, Single

__all__ = [
    "allgather",
    "allreduce",
    "alltoall",
    "barrier",
    "broadcast",
    "gather",
    "recv",
    "reduce",
    "reduce_scatter",
    "scatter",
    "send",
]


@overload
def allreduce(
    x: Sequence[ArrayLike],
    op: str = "sum",
    *,
    out: Sequence[NDArray] | None = None,
    ordered: bool | None = None,
    name: str | None = None,
) -> list[NDArray]: ...
@overload
def allreduce(
    x: Single,
    op: str = "sum",
    *,
    out: NDArray | None = None,
    ordered: bool | None = None,
    name: str | None = None,
) -> NDArray: ...
def allreduce(
    x: Any,
    op: str = "sum",
    *,
    out: Any = None,
    ordered: bool | None = None,
    name: str | None = None,
) -> Any:
    """The reduction of every rank's ``x``, on all of them.

    "sum" and "mean" have gradients. A NaN in any rank's array is one in the result of "max" and
    "min", too. With a list of arrays of one dtype it is one collective, which packs them, and gives
    a list.

    Args:
        x: an array, of one shape and dtype on all ranks; or a list of arrays.
        op: "sum", "mean", "prod", "max" or "min".
        out: the array that the result is written to: ``x`` itself, for one; or a list of them.
        ordered: whether to add in the order of the ranks, ``x0 + x1 + ...``; None: as :func:`init`
            was told.
        name: what ranks compare, too. Two calls alike in all else, in another order on another
            rank, would be mixed up without an error.
    Returns: ``out``, or a new array of x's shape; of a list a list of these.
    Raises: ValueError for another ``op``, or an ``out`` of another shape or dtype; TypeError for
        the mean of integers, an ``out`` that is no array, or a list of several dtypes; RuntimeError
        before :func:`init` and after :func:`shutdown`. The result raises :class:`MismatchError` if
        the ranks differ in what they call, :class:`RankError` if one has no values, or is gone.

    >>> import lazyarray as la
    >>> la.distributed.init()
    >>> la.distributed.allreduce(la.ones(2), "mean").asnumpy()
    array([1., 1.])
    """
    return world().allreduce(x, op, out=out, ordered=ordered, name=name)


def reduce(
    x: ArrayLike,
    root: int = 0,
    op: str = "sum",
    *,
    out: NDArray | None = None,
    ordered: bool | None = None,
    name: str | None = None,
) -> NDArray | None:
    """As :func:`allreduce`, at one rank only.

    Args:
        x: an array, of one shape and dtype on all ranks.
        root: the rank that gets the result.
        op: "sum", "mean", "prod", "max" or "min".
        out: at the root, the array that the result is written to.
        ordered: as in :func:`allreduce`.
        name: as in :func:`allreduce`.
    Returns: at the root ``out`` or a new array of x's shape; None elsewhere.
    Raises: as :func:`allreduce`; ValueError for a root that is no rank.

    >>> import lazyarray as la
    >>> la.distributed.init()
    >>> la.distributed.reduce(la.ones(2)).asnumpy()
    array([1., 1.])
    """
    return world().reduce(x, root, op, out=out, ordered=ordered, name=name)


@overload
def broadcast(
    x: Sequence[ArrayLike],
    root: int = 0,
    *,
    out: Sequence[NDArray] | None = None,
    name: str | None = None,
) -> list[NDArray]: ...
@overload
def broadcast(
    x: Single, root: int = 0, *, out: NDArray | None = None, name: str | None = None
) -> NDArray: ...
def broadcast(x: Any, root: int = 0, *, out: Any = None, name: str | None = None) -> Any:
    """One rank's values, on all.

    Args:
        x: an array; elsewhere than at the root only its shape and dtype count. Or a list of arrays,
            each of which is broadcast.
        root: whose values.
        out: the array that they are written to; ``out=x`` is what loads parameters.
        name: as in :func:`allreduce`.
    Returns: ``out``, or a new array of x's shape; of a list a list of these.
    Raises: as :func:`allreduce`; ValueError for a root that is no rank.

    >>> import lazyarray as la
    >>> la.distributed.init()
    >>> x = la.arange(3)
    >>> la.distributed.broadcast(x, out=x) is x
    True
    """
    return world().broadcast(x, root, out=out, name=name)


def allgather(x: ArrayLike, *, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Every rank's ``x``, on all: stacked along a new first axis. It has a gradient.

    Args:
        x: an array, of one shape and dtype on all ranks.
        out: the array that the result is written to.
        name: as in :func:`allreduce`.
    Returns: ``out``, or a new array, of shape ``(size, *x.shape)``.
    Raises: as :func:`allreduce`.

    >>> import lazyarray as la
    >>> la.distributed.init()
    >>> la.distributed.allgather(la.arange(3)).shape
    (1, 3)
    """
    return world().allgather(x, out=out, name=name)


def gather(
    x: ArrayLike, root: int = 0, *, out: NDArray | None = None, name: str | None = None
) -> NDArray | None:
    """As :func:`allgather`, at one rank only.

    Args:
        x: an array, of one shape and dtype on all ranks.
        root: the rank that gets them.
        out: at the root, the array that the result is written to.
        name: as in :func:`allreduce`.
    Returns: at the root ``out`` or a new array, of shape ``(size, *x.shape)``; None elsewhere.
    Raises: as :func:`allreduce`; ValueError for a root that is no rank.

    >>> import lazyarray as la
    >>> la.distributed.init()
    >>> la.distributed.gather(la.arange(3)).shape
    (1, 3)
    """
    return world().gather(x, root, out=out, name=name)


def scatter(
    x: ArrayLike, root: int = 0, *, out: NDArray | None = None, name: str | None = None
) -> NDArray:
    """A row of the root's array for each rank.

    Args:
        x: at the root an array of shape ``(size, ...)``; elsewhere an array of the shape and dtype
            of one row (``la.empty``), whose values are not read.
        root: whose array.
        out: the array that the row is written to.
        name: as in :func:`allreduce`.
    Returns: ``out``, or a new array of shape ``x.shape[1:]``: this rank's row.
    Raises: as :func:`allreduce`; ValueError for a root that is no rank, or another first axis.

    >>> import lazyarray as la
    >>> la.distributed.init()
    >>> la.distributed.scatter(la.arange(3).reshape(1, 3)).asnumpy()
    array([0, 1, 2])
    """
    return world().scatter(x, root, out=out, name=name)


def reduce_scatter(
    x: ArrayLike,
    op: str = "sum",
    *,
    out: NDArray | None = None,
    ordered: bool | None = None,
    name: str | None = None,
) -> NDArray:
    """The reduction of every rank's array, of which each rank gets its row. "sum" has a gradient.

    Args:
        x: an array of shape ``(size, ...)``, the same on all ranks.
        op: "sum", "mean", "prod", "max" or "min".
        out: the array that the row is written to.
        ordered: as in :func:`allreduce`.
        name: as in :func:`allreduce`.
    Returns: ``out``, or a new array of shape ``x.shape[1:]``.
    Raises: as :func:`allreduce`; ValueError for another first axis.

    >>> import lazyarray as la
    >>> la.distributed.init()
    >>> la.distributed.reduce_scatter(la.ones((1, 3))).asnumpy()
    array([1., 1., 1.])
    """
    return world().reduce_scatter(x, op, out=out, ordered=ordered, name=name)


def alltoall(x: ArrayLike, *, out: NDArray | None = None, name: str | None = None) -> NDArray:
    """Row ``i`` of ``x`` goes to rank ``i``; what came from there is row ``i``. It has a gradient.

    Args:
        x: an array of shape ``(size, ...)``, the same on all ranks.
        out: the array that the result is written to.
        name: as in :func:`allreduce`.
    Returns: ``out``, or a new array of x's shape.
    Raises: as :func:`allreduce`; ValueError for another first axis.

    >>> import lazyarray as la
    >>> la.distributed.init()
    >>> la.distributed.alltoall(la.ones((1, 3))).shape
    (1, 3)
    """
    return world().alltoall(x, out=out, name=name)


def send(x: ArrayLike, dest: int, tag: int = 0) -> None:
    """Sends an array to one rank, which calls :func:`recv`. Does not wait for it.

    Messages of one rank to another come in the order in which they were sent.

    Args:
        x: an array.
        dest: the rank that it goes to.
        tag: a number that sender and receiver agree on.
    Returns: None.
    Raises: TypeError for a rank or a tag that is no integer; ValueError for what is no rank, or a
        tag that is not from 0 to 32767; RuntimeError before :func:`init` and after
        :func:`shutdown`.

    >>> import lazyarray as la
    >>> la.distributed.init()
    >>> la.distributed.send(la.arange(3), 0)
    >>> la.distributed.recv(la.empty(3, int), 0).asnumpy()
    array([0, 1, 2])
    """
    world().send(x, dest, tag)


def recv(x: ArrayLike, source: int, tag: int = 0, *, out: NDArray | None = None) -> NDArray:
    """What a rank has sent.

    Args:
        x: an array of the message's shape and dtype; its values are not read.
        source: the rank that sends.
        tag: as the sender's.
        out: the array that the message is written to: ``x`` itself, for one.
    Returns: ``out``, or a new array of x's shape.
    Raises: TypeError for a rank or a tag that is no integer; ValueError for what is no rank, a tag
        that is not from 0 to 32767, or an ``out`` of another shape or dtype; RuntimeError before
        :func:`init` and after :func:`shutdown`. The result raises :class:`MismatchError` for a
        message of another shape or dtype.

    >>> import lazyarray as la
    >>> la.distributed.init()
    >>> la.distributed.send(la.ones(2), 0, tag=7)
    >>> la.distributed.recv(la.empty(2), 0, tag=7).asnumpy()
    array([1., 1.])
    """
    return world().recv(x, source, tag, out=out)


def barrier() -> None:
    """Waits until all ranks are here, with all collectives before it over.

    Returns: None.
    Raises: :class:`RankError` if one is gone; RuntimeError before :func:`init` and after
        :func:`shutdown`.

    >>> import lazyarray as la
    >>> la.distributed.init()
    >>> la.distributed.barrier()
    """
    world().barrier()


for _name in __all__:
    told_as(globals()[_name])(getattr(Communicator, _name))
