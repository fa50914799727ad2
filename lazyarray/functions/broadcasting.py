"""Broadcasting: arrays, and shapes, stretched to fit each other."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.lazy._lazy import Tensor, Unheld
from lazyarray.ops import _layout
from lazyarray.ops._layout import Shape, operands, values, viewed
from lazyarray.ops._rows import BroadcastOf, asarray, holds_arrays, probe, stretched

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike

__all__ = ["broadcast_to", "broadcast_arrays", "broadcast_shapes", "broadcast"]


def broadcast_to(array: ArrayLike, shape: int | Shape, subok: bool = False) -> NDArray:
    """A view of ``array`` stretched to ``shape`` by NumPy's broadcasting; not for writing.

    Args:
        array: the array.
        shape: the shape to stretch it to.
    Returns: a view of that shape; assigning to it is an error.
    Raises: ValueError if the array does not broadcast to it.

    >>> import lazyarray as la
    >>> la.broadcast_to(la.array([1, 2]), (2, 2)).asnumpy()
    array([[1, 2],
           [1, 2]])
    """
    x = asarray(array)
    simple = stretched(x, shape) if type(shape) is tuple else None
    return viewed(x, np.broadcast_to, shape) if simple is None else simple


def broadcast_arrays(*args: ArrayLike, subok: bool = False) -> tuple[NDArray, ...]:
    """The arrays as views of their common shape.

    Args:
        args: the arrays.
    Returns: a tuple of views; not for writing.
    Raises: ValueError if they have no common shape.

    What no NDArray can hold (``None``, strings, dates) stays NumPy's.

    >>> import lazyarray as la
    >>> [x.shape for x in la.broadcast_arrays(la.zeros(3), la.zeros((2, 1)))]
    [(2, 3), (2, 3)]
    >>> la.broadcast_arrays(None, la.zeros(2))[0]
    array([None, None], dtype=object)
    """
    numpys = {i: a for i, a in enumerate(map(_of_numpys_dtypes, args)) if a is not None}
    mine = _layout.operands(*[a for i, a in enumerate(args) if i not in numpys])
    xs: list[Any] = [numpys[i] if i in numpys else mine.pop(0) for i in range(len(args))]
    shape = np.broadcast_shapes(*[x.shape for x in xs])
    return tuple([x if x.shape == shape else _stretched(x, shape) for x in xs])


def _stretched(x: Any, shape: Shape) -> Any:
    return (broadcast_to if isinstance(x, Tensor) else np.broadcast_to)(x, shape)


def _of_numpys_dtypes(o: Any) -> np.ndarray | None:
    """A NumPy array of what no NDArray can hold; None for all else."""
    if isinstance(o, (Tensor, int, float, complex, np.number)) or holds_arrays(o):
        return None
    found = np.asarray(o)
    return found if found.dtype.kind in "OSUVMm" else None


broadcast_shapes = np.broadcast_shapes


class broadcast(BroadcastOf):
    """The broadcasting of arrays against each other: the common shape, and tuples of elements.

    The shape is known at once. Waits for the values where it is iterated: for NumPy's scalars.

    Args:
        *arrays: what :func:`array` makes arrays of.
    Raises: ValueError for shapes that don't fit, or for more than 64 arrays.

    >>> import lazyarray as la
    >>> b = la.broadcast(la.array([[1], [2]]), [3, 4])
    >>> b.shape, [u * v for u, v in b]
    ((2, 2), [np.int64(3), np.int64(4), np.int64(6), np.int64(8)])
    """

    __slots__ = ("_walk",)
    __signature__ = inspect.signature(lambda *arrays: None)  # of native code's __init__

    @staticmethod
    def _taken(given: tuple[Any, ...]) -> tuple[Sequence[Any], Shape]:
        """The arrays of what isn't all arrays, or doesn't fit, and their common shape."""
        flat: list[Any] = []
        for x in given:
            flat += x._arrays if isinstance(x, broadcast) else [x]
        try:
            arrays = operands(*flat)
            return arrays, np.broadcast(*map(probe, arrays)).shape
        except Unheld:  # NumPy holds them
            arrays = [values(x, "broadcast()") for x in flat]
            return arrays, np.broadcast(*arrays).shape

    @property
    def ndim(self) -> int:
        """The number of its axes."""
        return len(self.shape)

    nd = ndim

    @property
    def size(self) -> int:
        """The number of tuples."""
        return math.prod(self.shape)

    @property
    def numiter(self) -> int:
        """The number of arrays."""
        return len(self._arrays)

    @property
    def index(self) -> int:
        """How many tuples were given so far."""
        return int(self._walk.index) if hasattr(self, "_walk") else 0

    @property
    def iters(self) -> tuple[np.flatiter[np.ndarray], ...]:
        """NumPy's iterators over the arrays, each of the common shape; waits for the values."""
        return self._walker().iters

    def reset(self) -> None:
        """Starts again: the next tuple is the first one.

        Returns: None.
        Raises: nothing.
        """
        if hasattr(self, "_walk"):
            del self._walk

    def __iter__(self) -> broadcast:
        return self

    def __next__(self) -> tuple[Any, ...]:
        return next(self._walker())

    def _walker(self) -> Any:
        if not hasattr(self, "_walk"):
            self._walk = np.broadcast(*[values(x, "broadcast()") for x in self._arrays])
        return self._walk
