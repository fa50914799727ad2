"""Data-parallel training: each rank has its own batch, and all have the mean of the gradients."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.autograd._walk import unwatch, watch
from lazyarray.context import cpu
from lazyarray.distributed.process import current
from lazyarray.ops._rows import asarray

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import Array, Optimizer
    from lazyarray.distributed.communicator import Communicator

__all__ = ["DataParallel"]

MIB = 1 << 20


class DataParallel:
    """An optimiser whose step takes the mean of all ranks' gradients.

    ``step()`` comes after ``backward()``, which has only recorded by then: the collectives of the
    first gradients run while the backward pass still computes the others. Gradients travel in
    buckets, a small one first, in the order in which rank 0's first backward pass completes them.
    Ranks learn that order while they train, and use it from the third step on; before, the last
    parameter's gradient goes first. It does not depend on time, so the same program gives the same
    bits.

    To accumulate gradients, call ``backward()`` several times on ``attach_grad("add")`` before
    ``step()``.

    A parameter that a step did not use counts as zeros here, and so does one that no rank used.

    Running means of batch norm are each rank's own: :func:`broadcast` or :func:`allreduce` them
    before they are saved.

    Args:
        trainer: one of ``la.nn``'s optimisers, ``la.nn.SGD(params, lr)`` for one. Its parameters
            become those of rank 0.
        comm: the ranks; None: all.
        first: the bytes of the first bucket.
        bucket: the bytes of the others. A gradient is never cut.
    Raises: TypeError for what is no optimiser; ValueError for sizes under 1.

    >>> import lazyarray as la
    >>> la.distributed.init()
    >>> w = la.array([1.0])
    >>> w.attach_grad()
    >>> trainer = la.distributed.DataParallel(la.nn.SGD([w], lr=0.25))
    >>> with la.autograd.record():
    ...     loss = (w * w).sum()
    >>> loss.backward()
    >>> trainer.step()
    >>> w.item()
    0.5
    """

    def __init__(
        self,
        trainer: Optimizer,
        *,
        comm: Communicator | None = None,
        first: int = MIB,
        bucket: int = 25 * MIB,
    ) -> None:
        for name in ("params", "step", "state_dict"):
            if not hasattr(trainer, name):
                raise TypeError(
                    f"DataParallel takes an optimiser, la.nn.SGD(params, lr), not a "
                    f"{type(trainer).__name__}"
                )
        if min(first, bucket) < 1:
            raise ValueError("DataParallel: buckets have at least one byte")
        self.trainer = trainer
        self.comm = current().world if comm is None else comm
        self._sizes = first, bucket
        self._order: list[int] | None = None  # in which gradients travel, once it is known
        self._told: NDArray | None = None  # rank 0's order, on its way
        self._steps = 0
        self._averaged = False  # since the last step
        self._completed: list[int] = []  # in the last backward pass
        self._buckets: list[list[int]] | None = None
        self._stamps: list[Any] = [None] * len(trainer.params)
        for p in trainer.params:
            self.comm.broadcast(p, out=p)
        if self.comm.size > 1:
            self._watch()

    def average(self) -> None:
        """Makes each parameter's gradient the mean over the ranks. Does not wait for them.

        :meth:`step` does so; by itself it is for programs that look at gradients, or change them,
        before they step, or have a compiled function step. ``trainer.step()`` of the optimiser
        itself then spares the second average that :meth:`step` takes, of what may have changed.

        Returns: None.
        Raises: ValueError if a parameter has no gradient any more. Waits on the gradients raise
            :class:`RankError` if a rank is gone.
        """
        self._average(zero=True)
        self._averaged = True

    def _average(self, zero: bool) -> None:
        gradients = self._gradients(zero)
        if self.comm.size > 1:
            if self._order is None:
                self._find_order()
            if self._buckets is None:
                self._buckets = self._cut(gradients)
            for bucket in self._buckets:
                each = [gradients[i] for i in bucket]
                self.comm.allreduce(each, "mean", out=each)
        self._stamps = [_stamp(g) for g in gradients]

    def step(self) -> None:
        """Averages the gradients, and has the optimiser take its step.

        Returns: None.
        Raises: as :meth:`average`, and what the optimiser's ``step`` raises.
        """
        self._average(zero=not self._averaged)
        self._averaged = False
        self.trainer.step()

    def zero_grad(self) -> None:
        """Sets the gradients to zero: needed only with ``attach_grad("add")``.

        Returns: None.
        Raises: nothing.
        """
        self.trainer.zero_grad()

    def state_dict(self) -> dict[str, NDArray | float]:
        """The optimiser's state, the same on all ranks.

        Returns: a dict of numbers and arrays by name.
        Raises: nothing.
        """
        return self.trainer.state_dict()

    def load_state_dict(self, state: Mapping[str, Array | float]) -> None:
        """Goes on from a state; every rank loads the same.

        Args:
            state: what :meth:`state_dict` gave.
        Returns: None.
        Raises: what the optimiser's ``load_state_dict`` raises.
        """
        self.trainer.load_state_dict(state)

    # -- how

    def _gradients(self, zero: bool) -> list[NDArray]:
        """The gradients; ``zero``: those not written since the last average by a backward pass."""
        gradients = []
        for i, p in enumerate(self.trainer.params):
            g = p.grad
            if g is None:
                raise ValueError(f"DataParallel: parameter {i} has no gradient: attach_grad()")
            if zero and self._stamps[i] is not None and self._stamps[i] == _stamp(g):
                g[...] = 0
            gradients.append(g)
        return gradients

    def _watch(self) -> None:
        """Looks at backward passes, until the order is known."""
        mine = weakref.ref(self)

        def note(gradients: Sequence[NDArray]) -> None:
            me = mine()
            if me is None or me._told is not None:
                unwatch(note)
                return
            numbers = {id(p.grad): i for i, p in enumerate(me.trainer.params)}
            found = [numbers[id(g)] for g in gradients if id(g) in numbers]
            me._completed = found or me._completed

        watch(note)

    def _find_order(self) -> None:
        """Sends rank 0's order in the first step, and takes it in the third.

        All ranks have to change to it in the same step, and none may wait for others in ``step``.
        A step between gives it the time to come: it is waited for only where rank 0 is two steps
        late.
        """
        self._steps += 1
        if self._steps == 1:
            rest = [i for i in reversed(range(len(self._stamps))) if i not in self._completed]
            order = np.array(self._completed + rest, np.int64)
            self._told = asarray(order, cpu(0))
            self.comm.broadcast(self._told, out=self._told, name="the order of gradients")
        elif self._steps == 3 and self._told is not None:
            self._order = [int(i) for i in self._told.asnumpy()]
            self._buckets = None

    def _cut(self, gradients: Sequence[NDArray]) -> list[list[int]]:
        """The buckets: the same on all ranks, as sizes, dtypes and order are."""
        order = self._order or [*reversed(range(len(gradients)))]
        done: list[list[int]] = []
        open_: dict[Any, tuple[list[int], int]] = {}
        for i in order:
            g = gradients[i]
            bucket, size = open_.get(g.dtype, ([], 0))
            bucket.append(i)
            size += g.nbytes
            if size >= self._sizes[min(len(done), 1)]:
                done.append(bucket)
                open_.pop(g.dtype, None)
            else:
                open_[g.dtype] = bucket, size
        return done + [bucket for bucket, _ in open_.values()]


def _stamp(g: NDArray) -> Any:
    """What changes with every write that was recorded."""
    return g.var, g.var._issued
