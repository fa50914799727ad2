"""What can go wrong between ranks."""

from __future__ import annotations

__all__ = ["DistributedError", "MismatchError", "RankError"]


class DistributedError(RuntimeError):
    """A collective failed: what is common to all errors between ranks.

    >>> import lazyarray as la
    >>> issubclass(la.distributed.MismatchError, la.distributed.DistributedError)
    True
    """


class MismatchError(DistributedError):
    """The ranks called different collectives, or with different shapes, dtypes or roots.

    >>> import lazyarray as la
    >>> issubclass(la.distributed.MismatchError, RuntimeError)
    True
    """


class RankError(DistributedError):
    """A rank died, has ended, or had no values to take part with: ``rank`` says which one.

    >>> import lazyarray as la
    >>> la.distributed.RankError("rank 2 died", 2).rank
    2
    """

    def __init__(self, text: str, rank: int = -1) -> None:
        super().__init__(text)
        self.rank = rank

    def __reduce__(self) -> tuple[type, tuple[str, int]]:
        return type(self), (str(self), self.rank)
