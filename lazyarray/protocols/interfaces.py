"""Arrays as other libraries see them: NumPy's and CUDA's array interfaces, CuPy's arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.context import gpu
from lazyarray.lazy import _share
from lazyarray.lazy.cuda import device as cuda
from lazyarray.ops import _rows

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray


def ascupy(x: NDArray) -> Any:
    """A CuPy array on x's memory; TypeError unless ``x`` is on a GPU. Waits for x's uses.

    Until it and all that shares its memory are gone, each op on ``x`` waits for what was launched
    on the device, and has run when its call returns. ``x.copy()`` first where that costs too much.
    Of an array that is read-only it is a copy: CuPy's arrays can all be written to.
    """
    if x.device.device_type != "gpu":
        raise TypeError(
            f"ascupy: the array is on {x.device!r}; move it with x.to_device(la.gpu(0))"
        )
    return _share.export_gpu(x if x.flags.writeable else x.copy(), "?ascupy()")


def cuda_interface(x: NDArray) -> dict[str, Any]:
    """``x.__cuda_array_interface__``, version 3; AttributeError unless ``x`` is on a GPU.

    The memory is lent for as long as it lives: see :func:`ascupy` for what that costs.
    """
    if x.device.device_type != "gpu":
        raise AttributeError(f"the array is on {x.device!r}, which has no __cuda_array_interface__")
    return {
        "shape": x.shape,
        "typestr": x.dtype.str,
        "data": (_share.lend(x, "?__cuda_array_interface__"), not x.flags.writeable),
        "strides": _steps(x),
        "version": 3,
        "stream": None,  # nothing is under way
    }


def array_interface(x: NDArray) -> dict[str, Any]:
    """``x.__array_interface__``, version 3; AttributeError on a GPU.

    It waits. The memory is lent for as long as it lives: ops on it have run when their call
    returns. It is there for code that reads it by this name, not for NumPy (nor ``hasattr``): that
    looks for it before ``__array__`` and would share the memory, where ``np.asarray(x)`` is a copy.
    """
    if not x.device._on_host:
        raise AttributeError(f"the array is on {x.device!r}, which has no __array_interface__")
    return {
        "version": 3,
        "shape": x.shape,
        "typestr": x.dtype.str,
        "descr": [("", x.dtype.str)],
        "data": (_share.lend(x, "?__array_interface__"), not x.flags.writeable),
        "strides": _steps(x),
    }


def _steps(x: NDArray) -> tuple[int, ...] | None:
    """The strides; None in C order: there are readers that take nothing else (``as_ctypes``)."""
    return None if x.flags.c_contiguous else x.strides


def from_gpu(x: Any) -> NDArray | None:
    """An array on the memory of one of CuPy's, PyTorch's, ... on a GPU; None for anything else."""
    found = cuda.shared(x)
    if found is None:
        return None
    first, nbytes, owner, number, start, code, shape, strides = found
    dtype = np.dtype(code)
    if any(step % dtype.alignment for step in (start, *strides)):
        raise ValueError(f"the GPU's memory of this {dtype} array is not aligned: copy it first")
    readonly = bool(x.__cuda_array_interface__["data"][1])
    return _share.adopt_gpu(
        first, nbytes, owner, gpu(number), start, dtype, shape, strides, readonly
    )


_rows.teach(from_gpu=from_gpu)


def shared(x: NDArray, dtype: Any) -> np.ndarray:
    """``np.asarray(x, copy=False)``: likewise, a NumPy array on x's memory."""
    if dtype is not None and np.dtype(dtype) != x.dtype:
        raise ValueError(f"a {x.dtype} array can't be seen as {np.dtype(dtype)} without a copy")
    return _share.export(x, "?__array__")
