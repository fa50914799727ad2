"""What ``lazyarray.linalg`` shares: checks of matrices, and how an op is recorded."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.linalg import LinAlgError

from lazyarray.ops._layout import Cut, Shape, gil_op, operands, widest

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray

__all__: list[str] = []

_SMALL_MATRIX = 64 * 64  # elements: OpenBLAS has one thread for what is smaller


def regular(a: np.ndarray) -> np.ndarray:
    """A miniature with values that every function accepts: an identity."""
    a = np.zeros_like(a)
    if a.ndim >= 2:
        i = np.arange(min(a.shape[-2:]))
        a[..., i, i] = 1
    return a


def record(
    name: str,
    function: Callable[..., Any],
    inputs: Sequence[NDArray],
    shapes: Shape | list[Shape],
    key: Hashable = (),
    mini: Callable[..., Any] | None = None,
    gradient: Sequence[Callable[..., Any] | None] = (),
    shared: bool = True,
) -> Any:
    """One instruction that calls NumPy, whose LAPACK lets go of the GIL.

    ``mini`` stands in for ``function`` on miniatures, which are made regular; ``gradient`` is
    ``gil_op``'s. Threads share a large stack of small matrices if ``shared``.
    """
    small = mini or function
    return gil_op(
        f"linalg.{name}",
        function,
        inputs,
        shapes,
        key,
        mini=lambda *arrays: small(*map(regular, arrays)),
        cost=10_000 + inputs[0].size * min(inputs[0].shape[-2:], default=1),
        gradient=gradient,
        cut=_by_matrices(inputs, len(shapes) if isinstance(shapes, list) else 1)
        if shared
        else None,
    )


def _by_matrices(inputs: Sequence[NDArray], results: int) -> Cut | None:
    """A function of one stack of matrices may be called for some of them, if none is large.

    BLAS itself has threads for large ones.
    """
    axis = widest(inputs[0].shape[:-2])
    large = math.prod(inputs[0].shape[-2:]) > _SMALL_MATRIX
    return None if len(inputs) > 1 or axis is None or large else (axis,) * (1 + results)


def matrices(a: Any) -> tuple[NDArray, Shape, int, int]:
    """An array of matrices, the shape of the stack, and the matrices' rows and columns."""
    (x,) = operands(a)
    if x.ndim < 2:
        raise LinAlgError(
            f"{x.ndim}-dimensional array given. Array must be at least two-dimensional"
        )
    return x, x.shape[:-2], x.shape[-2], x.shape[-1]


def matrix(x: NDArray) -> NDArray:
    """``x``; LinAlgError if it isn't one matrix."""
    if x.ndim != 2:
        raise LinAlgError(f"{x.ndim}-dimensional array given. Array must be two-dimensional")
    return x


def square(a: Any) -> tuple[NDArray, Shape, int]:
    """An array of square matrices, the shape of the stack, and the matrices' side."""
    x, stack, m, n = matrices(a)
    if m != n:
        raise LinAlgError("Last 2 dimensions of the array must be square")
    return x, stack, n
