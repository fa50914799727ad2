"""Which elements of a data set each rank takes."""

from __future__ import annotations

import operator
from collections.abc import Iterator

import numpy as np

from lazyarray.distributed.process import current

__all__ = ["DistributedSampler"]


class DistributedSampler:
    """This rank's share of the indices 0 to ``length - 1``, in an order that changes by epoch.

    All ranks draw the same order and take turns in it: batch ``k`` of all ranks together is what
    one process would take as its batch ``k``, of ``size`` times as many. All get as many indices:
    the last ones are repeated from the beginning, or left out with ``drop_last``.

    Args:
        length: how many elements there are.
        batch: how many indices a rank takes at a time; None: one array with all of them.
        shuffle: whether to draw an order; else they come as they are.
        seed: what the order depends on, beside the epoch; the same on all ranks.
        drop_last: whether to leave out what can't be shared evenly, and batches that aren't full.
        rank, size: whose share; None: this process's.
    Raises: ValueError for lengths or batches under 1, or a rank that there isn't; TypeError for
        what is no integer.

    >>> import lazyarray as la
    >>> la.distributed.init()
    >>> for indices in la.distributed.DistributedSampler(5, batch=2, shuffle=False):
    ...     print(indices)
    [0 1]
    [2 3]
    [4]
    """

    def __init__(
        self,
        length: int,
        batch: int | None = None,
        *,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
        rank: int | None = None,
        size: int | None = None,
    ) -> None:
        length, seed = operator.index(length), operator.index(seed)
        batch = None if batch is None else operator.index(batch)
        self.rank = current().rank if rank is None else operator.index(rank)
        self.size = current().size if size is None else operator.index(size)
        if length < 1 or (batch is not None and batch < 1) or not 0 <= self.rank < self.size:
            raise ValueError(
                f"DistributedSampler: {length} elements in batches of {batch} for rank "
                f"{self.rank} of {self.size}"
            )
        if drop_last and length < self.size * (batch or 1):
            raise ValueError(f"DistributedSampler: {length} elements are less than one batch each")
        self.length, self.batch = length, batch
        self.shuffle, self.seed, self.drop_last = shuffle, seed, drop_last
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Chooses the epoch's order; each pass over the sampler goes on to the next one.

        Args:
            epoch: a number from 0 on, the same on all ranks.
        Returns: None.
        Raises: nothing; the next pass that shuffles raises ValueError for a negative number.
        """
        self.epoch = epoch

    def indices(self) -> np.ndarray:
        """This rank's indices of the epoch, in order.

        Returns: a NumPy array of integers, of shape ``(n,)``: as many on each rank.
        Raises: ValueError for a negative epoch, if it shuffles.

        >>> import lazyarray as la
        >>> la.distributed.DistributedSampler(5, shuffle=False, rank=1, size=2).indices()
        array([1, 3, 0])
        """
        order = np.arange(self.length)
        if self.shuffle:
            order = np.random.default_rng([self.seed, self.epoch]).permutation(self.length)
        if self.drop_last:
            order = order[: self.length - self.length % self.size]
        else:
            order = np.resize(order, -(-self.length // self.size) * self.size)
        return order[self.rank :: self.size]

    def __len__(self) -> int:
        """How many batches an epoch has."""
        share = self.length // self.size if self.drop_last else -(-self.length // self.size)
        if self.batch is None:
            return 1
        return share // self.batch if self.drop_last else -(-share // self.batch)

    def __iter__(self) -> Iterator[np.ndarray]:
        indices = self.indices()
        self.epoch += 1
        batch = self.batch or len(indices)
        for k in range(len(self)):
            yield indices[k * batch : (k + 1) * batch]
