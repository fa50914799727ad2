"""Iterators over the memory of arrays: NumPy's own ``nditer``, on what arrays lend it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.lazy import _share
from lazyarray.lazy._lazy import Tensor, TracingError, is_capturing
from lazyarray.ops import _rows
from lazyarray.ops._layout import values

if TYPE_CHECKING:
    from lazyarray._types import ArrayLike

__all__ = ["nditer", "nested_iters"]


def nditer(
    op: ArrayLike | Sequence[ArrayLike | None], *args: object, **kwargs: object
) -> np.nditer:
    """NumPy's iterator over one array or several together; arguments as ``numpy.nditer``.

    It reads and, with ``op_flags=["readwrite"]``, writes the memory of the arrays itself. Waits for
    them; as long as it lives each op on them has run when its call returns. What it yields,
    and what it allocates, are NumPy arrays. TypeError for an array on a GPU.

    Args:
        op: an array, or a sequence of them.
        args: ``numpy.nditer``'s, in its order.
        kwargs: ``numpy.nditer``'s.
    Returns: an iterator of NumPy's.
    Raises: TypeError for an array on a GPU; what ``numpy.nditer`` raises.

    >>> import lazyarray as la
    >>> x = la.arange(3)
    >>> with la.nditer(x, op_flags=["readwrite"]) as it:
    ...     for v in it:
    ...         v[...] = 2 * v
    >>> x.asnumpy()
    array([0, 2, 4])
    """
    iterator: Callable[..., np.nditer] = np.nditer
    return iterator(_lent(op, "nditer()"), *args, **kwargs)


def nested_iters(
    op: ArrayLike | Sequence[ArrayLike | None],
    axes: Sequence[Sequence[int]],
    *args: object,
    **kwargs: object,
) -> tuple[np.nditer, ...]:
    """NumPy's iterators nested in each other, over groups of axes. Waits, as :func:`nditer`.

    Args:
        op: an array, or a sequence of them.
        axes: the groups of axes, outermost first.
        args: ``numpy.nested_iters``'s, in its order.
        kwargs: ``numpy.nested_iters``'s.
    Returns: a tuple of iterators.
    Raises: TypeError for an array on a GPU; what ``numpy.nested_iters`` raises.

    >>> import lazyarray as la
    >>> outer, inner = la.nested_iters(la.arange(4).reshape(2, 2), [[0], [1]])
    >>> [[int(v) for v in inner] for _ in outer]
    [[0, 1], [2, 3]]
    """
    nested: Callable[..., tuple[np.nditer, ...]] = np.nested_iters
    return nested(_lent(op, "nested_iters()"), axes, *args, **kwargs)


def _lent(op: Any, what: str) -> Any:
    """NumPy arrays on the memory of the lazyarrays."""
    if isinstance(op, Tensor):
        if is_capturing():
            raise TracingError(f"{what} asks for the values of an array while it is traced")
        if _rows.holds_scalar(op):  # of which NumPy's iterator has a copy, too
            return values(op, what)
        return _share.export(op, f"?{what}")
    return type(op)([_lent(o, what) for o in op]) if type(op) in (list, tuple) else op
