"""Arrays on the memory of files: ``memmap``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from lazyarray._ndarray import NDArray
from lazyarray.context import cpu
from lazyarray.engine import Device
from lazyarray.functions._files import note_mapped
from lazyarray.ops._rows import holdable
from lazyarray.ops.hosts import given, note

if TYPE_CHECKING:
    from os import PathLike

    from lazyarray._types import Array, DTypeLike, File, MapMode, ShapeLike

__all__ = ["memmap"]


class memmap(NDArray):
    """An array on a file's memory, read and written through; arguments as ``numpy.memmap``.

    Only the parts that are used are read. Others may change the file, so each op on the array (or a
    view of it) has run when its call returns; copies (``x * 1.0``, ``la.array(x)``) are arrays
    like any other. ``flush()`` puts what was written into the file; so does its end. What lazyarray
    can't hold, also another byte order, is NumPy's memmap. Waits for its uses in ``flush()``.

    Args:
        filename: the file: a path, or an open one.
        dtype: the dtype of its numbers.
        mode: "r" (read only), "r+", "w+" (made anew) or "c" (what is written stays in memory).
        offset: the byte of the file that the array begins at.
        shape: the lengths of the axes; None: one axis with all there is.
        order: how the elements lie in the file: "C" or "F".
    Raises: OSError for a file that can't be opened; ValueError for another ``mode``, for no
        ``shape`` where the file is made, or for a file that is no whole number of elements.

    >>> import lazyarray as la
    >>> x = la.memmap("numbers.bin", dtype="float64", mode="w+", shape=(2, 3))
    >>> x[1] = [1, 2, 3]
    >>> x.flush()
    >>> la.memmap("numbers.bin", dtype="float64", mode="r", shape=(2, 3)).sum(axis=1).asnumpy()
    array([0., 6.])
    """

    filename: str | PathLike[str] | None
    offset: int
    mode: str
    _host: np.memmap[Any, Any]

    def __new__(
        cls,
        filename: File,
        dtype: DTypeLike = np.uint8,
        mode: MapMode = "r+",
        offset: int = 0,
        shape: ShapeLike | None = None,
        order: Literal["C", "F"] = "C",
    ) -> Self:
        mapped: Any = np.memmap
        made: Any = cls.of(mapped(filename, dtype, mode, offset, shape, order))
        return made

    if not TYPE_CHECKING:  # __new__ has the types

        def __init__(self, *args, **kwargs):
            pass  # it is made

    @classmethod
    def of(cls, host: np.memmap[Any, Any], device: Device | None = None) -> Array:
        """The array of a NumPy memmap, on its memory; a copy on another device than the host.

        Args:
            host: the NumPy memmap.
            device: the device of the result; None: the host.
        Returns: a :class:`memmap`, or an array on the device; ``host`` itself, with a warning, if
            it is of a dtype or byte order that lazyarray doesn't hold.
        Raises: RuntimeError for a GPU that there isn't; TypeError for what is no device.

        >>> import numpy as np, lazyarray as la
        >>> host = np.memmap("numbers.bin", dtype="int64", mode="w+", shape=3)
        >>> la.memmap.of(host).sum().item()
        0
        """
        note_mapped(host)
        if not holdable(host):
            return given(host, device)
        if not host.dtype.isnative or not host.flags.aligned:
            return note(host, f"no memmap of dtype {host.dtype.str} that is not aligned or native")
        x: Any = NDArray.__new__(cls)
        flat = host.reshape(-1, order="A").view(np.ndarray)
        NDArray.__init__(x, host.shape, host.dtype, flat, strides=host.strides)
        x.filename, x.offset, x.mode, x._host = host.filename, host.offset, host.mode, host
        return x if device in (None, cpu(0)) else x.to_device(device)

    def flush(self) -> None:
        """Writes what was changed to the file, after the ops that change it.

        Returns: None.
        Raises: what those ops raise; OSError if the file can't be written.
        """
        self.wait_to_write()
        self._host.flush()
