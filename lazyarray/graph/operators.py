"""The ops of graphs that are no public functions: what NDArray does by its syntax, as functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.functions import manipulation, memory
from lazyarray.ops import _rows

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray

__all__ = ["getitem", "raised", "setitem", "setview", "strided", "to_device", "view"]


def getitem(x: Any, /, key: Any) -> NDArray:
    """``x[key]``."""
    item: NDArray = x[key]
    return item


def raised(x: Any, y: Any, /) -> NDArray:
    """``x ** y``, which for some numbers ``y`` is another function than ``power``."""
    power: NDArray = x**y
    return power


def setitem(x: Any, value: Any, /, key: Any, *, in_place: bool = False) -> NDArray:
    """A copy of ``x`` with ``value`` assigned to ``[key]``; or ``x`` itself, ``in_place``."""
    x, in_place = _writable(x, in_place)
    out: NDArray = x if in_place else x.copy("K")
    out[key] = value
    return out


def _writable(x: Any, in_place: bool) -> tuple[Any, bool]:
    """``x``, or a copy that may be written: what an op gave as a scalar may have been an array."""
    return (_rows.array(x), True) if _rows.holds_scalar(x) else (x, in_place)


def view(x: Any, /, dtype: Any) -> NDArray:
    """The elements in C order, their bytes taken as another dtype's."""
    return manipulation.view(manipulation.ravel(x), np.dtype(dtype))


def strided(x: Any, /, shape: Sequence[int], strides: Sequence[int], offset: int = 0) -> NDArray:
    """The elements ``offset + i * strides[0] + ...`` of ``x``, counted in C order."""
    line = manipulation.ravel(x)
    steps = tuple([s * line.itemsize for s in strides])
    return _rows.strided(line, tuple(shape), steps, offset * line.itemsize)


def setview(
    x: Any,
    value: Any,
    /,
    part: str | None = None,
    order: Sequence[int] | None = None,
    shape: Sequence[int] | None = None,
    key: Any = None,
    axes: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
    offset: int = 0,
    *,
    in_place: bool = False,
) -> NDArray:
    """A copy of ``x`` in which ``value`` was assigned to a view of it; or ``x``, ``in_place``.

    The view is made in the order of the arguments: of the real or imaginary ``part``, or of the
    memory as another dtype; transposed (``order``), reshaped, indexed, transposed (``axes``). With
    ``strides`` it is that of :func:`strided`, of ``shape``.
    """
    x, in_place = _writable(x, in_place)
    rank = x.ndim
    axes_in = tuple(order) if order is not None else tuple(range(rank))
    back = tuple([int(i) for i in np.argsort(axes_in)])
    laid = x.transpose(axes_in)
    if not (in_place and laid.flags.c_contiguous):
        laid = laid.copy("C")
    target = laid
    if part in ("real", "imag"):
        target = getattr(laid.transpose(back), part)
        target = target.transpose(axes_in) if order is not None else target
    elif part is not None:
        target = view(laid, part)
    if strides is not None:
        target = strided(target, shape or (), strides, offset)
    else:
        target = target if shape is None else manipulation.reshape(target, tuple(shape), copy=False)
        target = target if key is None else target[key]
        target = target if axes is None else target.transpose(tuple(axes))
    target[...] = value
    return laid.transpose(back)


def to_device(x: Any, /, device: Any) -> NDArray:
    """A copy of ``x`` on another device."""
    return memory.to_device(x, device)
