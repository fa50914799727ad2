"""DLPack: arrays lent to other libraries, and memory of theirs taken as arrays."""

from __future__ import annotations

import ctypes
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray import _numpy_facts
from lazyarray.context import as_device, cpu
from lazyarray.functions.memory import near, unusable
from lazyarray.lazy import _share
from lazyarray.lazy._lazy import Tensor
from lazyarray.ops import _rows
from lazyarray.protocols.interfaces import ascupy, from_gpu

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, DeviceLike

__all__ = ["from_dlpack"]


_CPU = 1  # DLPack's number


def dlpack(x: NDArray, stream: Any, max_version: Any, dl_device: Any, copy: bool | None) -> Any:
    """``x.__dlpack__``: a capsule on x's memory; while it lives, ops on it are synchronous.

    With ``copy`` it is one on a copy; an array on a GPU is also exported, as a copy, to the host.
    RuntimeError for a stream, which host memory has not; BufferError for any other device, or for
    what DLPack can't describe.
    """
    if not x.device._on_host:
        return _gpu_dlpack(x, stream, max_version, dl_device, copy)
    if stream is not None:
        raise RuntimeError(f"arrays in host memory take stream=None only, not {stream!r}")
    if dl_device is not None and tuple(dl_device) != x.__dlpack_device__():
        raise BufferError(f"an array in host memory can't be exported to device {dl_device!r}")
    given = {} if max_version is None else {"max_version": max_version}
    if copy is not None:
        given["copy"] = copy
    if not _numpy_facts.DLPACK_VERSIONS:
        x, given = x.copy() if copy else x, {}
    return _share.export(x, "?__dlpack__").__dlpack__(**given)


def _gpu_dlpack(x: NDArray, stream: Any, max_version: Any, dl_device: Any, copy: Any) -> Any:
    if dl_device is not None and tuple(dl_device) == (_CPU, 0):
        if copy is False:
            raise BufferError(
                f"an array on {x.device!r} can't be exported to the host without a copy"
            )
        return dlpack(_share.copied_to(x, cpu(0)), stream, max_version, None, None)
    if dl_device is not None and tuple(dl_device) != x.__dlpack_device__():
        raise BufferError(f"an array on {x.device!r} can't be exported to device {dl_device!r}")
    source = x.copy() if copy else x
    # All its uses are over then, so it is safe on whatever stream the consumer names.
    return ascupy(source).__dlpack__(stream=stream, max_version=max_version)


def from_dlpack(x: ArrayLike, /, *, device: DeviceLike = None, copy: bool | None = None) -> NDArray:
    """An array on the memory of ``x``: a NumPy array, or any that speaks DLPack.

    It is shared: each sees what the other writes, so ops on the array have run when their call
    returns, for as long as it lives. The same memory imported again has the same variable. Where
    it can't be shared (read-only, unaligned, another device asked for) the values are copied, or
    with ``copy=False`` a ValueError says so.

    Args:
        x: what has ``__dlpack__``, or a NumPy array.
        device: the device of the result; None: that of ``x``.
        copy: True always copies; False forbids it; None copies where the memory can't be shared.
    Returns: an array of x's shape.
    Raises: ValueError for ``copy=False`` where the memory can't be shared; TypeError for what has
        no ``__dlpack__``.

    >>> import numpy as np, lazyarray as la
    >>> host = np.zeros(3)
    >>> x = la.from_dlpack(host)
    >>> x += 1
    >>> host
    array([1., 1., 1.])
    """
    place = as_device(device)
    if isinstance(x, Tensor):
        shared: NDArray = x[...]
    else:
        there = None if isinstance(x, np.ndarray) else from_gpu(x)
        if there is not None:
            if place is not None and there.device != place and copy is False:
                raise ValueError(f"from_dlpack: the array is on {there.device!r}, not on {place!r}")
            if copy or place not in (None, there.device):
                return _share.copied_to(there, place or there.device)
            return there
        host = x if isinstance(x, np.ndarray) else _imported(x)
        problem = _unshareable(host)
        if copy or problem:
            if copy is False:
                raise ValueError(f"from_dlpack: this memory can't be shared: {problem}")
            return _rows.array(host, None, place or near())
        whole = _storage(x)  # while it lives, its parts are known to be of one memory
        known = None if whole is None else _share.adopt(whole, place)
        shared = _share.adopt(host, place)
        del known
    if place is not None and shared.device != place:
        if copy is False:
            raise ValueError(f"from_dlpack: the array is on {shared.device!r}, not on {place!r}")
        return _share.copied_to(shared, place)
    return _rows.array(shared) if copy else shared


def _storage(x: Any) -> np.ndarray | None:
    """All of the memory that a tensor of PyTorch's is a part of; None of anything else."""
    torch = sys.modules.get("torch")
    if torch is None or type(x) is not getattr(torch, "Tensor", None):
        return None
    storage = x.untyped_storage()
    size = storage.nbytes()
    if not size:
        return None
    memory = (ctypes.c_byte * size).from_address(storage.data_ptr())
    memory.keeper = storage
    return np.frombuffer(memory, np.uint8)


class _Capsule:
    """A capsule that was looked at, for ``np.from_dlpack``."""

    def __init__(self, capsule: Any, device: Any) -> None:
        self._capsule, self._device = capsule, device

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> Any:
        return self._device


def _imported(x: Any) -> np.ndarray:
    """A NumPy array on the memory of what speaks DLPack, which isn't believed blindly."""
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        raise TypeError(f"from_dlpack: {type(x).__name__} has no __dlpack__ and __dlpack_device__")
    try:
        # One that has no version is of memory that may be written.
        capsule = x.__dlpack__(max_version=(1, 0) if _numpy_facts.DLPACK_WRITABLE else None)
    except TypeError:  # it is older than versions
        capsule = x.__dlpack__()
    _share.check_capsule(capsule)
    says_read_only = "versioned" in repr(capsule)
    if says_read_only and not _numpy_facts.DLPACK_VERSIONS:
        raise BufferError("from_dlpack: this NumPy knows no capsules with a version")
    try:
        host: np.ndarray = np.from_dlpack(_Capsule(capsule, x.__dlpack_device__()))
    except RuntimeError as exc:
        raise BufferError(f"from_dlpack: this capsule can't be imported: {exc}") from exc
    return host if _numpy_facts.DLPACK_WRITABLE or says_read_only else _writable(host)


class _Memory:
    """An array's, which may be written."""

    def __init__(self, host: np.ndarray) -> None:
        self.of = host
        interface: Any = host.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}


def _writable(host: np.ndarray) -> np.ndarray:
    """The same memory, which may be written after all."""
    return np.asarray(_Memory(host))


def _unshareable(host: np.ndarray) -> str:
    """Why a NumPy array's memory can't be shared with one that may be written; empty if it can."""
    return unusable(host) if host.flags.writeable else "it is read-only"
