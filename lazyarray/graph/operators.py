"""The ops of graphs that are no public functions: what NDArray does by its syntax, as functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lazyarray.ops import _rows, manipulation

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray

__all__ = ["getitem", "setitem", "strided"]


def getitem(x: Any, /, key: Any) -> NDArray:
    """``x[key]``."""
    item: NDArray = x[key]
    return item


def setitem(x: Any, value: Any, /, key: Any) -> NDArray:
    """A copy of ``x`` in which ``value`` was assigned to ``[key]``."""
    out: NDArray = x.copy("K")
    out[key] = value
    return out


def strided(x: Any, /, shape: Sequence[int], strides: Sequence[int], offset: int = 0) -> NDArray:
    """The elements ``offset + i * strides[0] + ...`` of ``x``, counted in C order."""
    line = manipulation.ravel(x)
    steps = tuple([s * line.itemsize for s in strides])
    return _rows.strided(line, tuple(shape), steps, offset * line.itemsize)
