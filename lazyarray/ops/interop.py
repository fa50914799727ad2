"""Arrays on their way elsewhere: to other arrays and devices, to files, to other libraries."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from lazyarray import _numpy_facts, _public
from lazyarray.context import as_device, chosen, cpu, current_context, gpu
from lazyarray.lazy import _share
from lazyarray.lazy._lazy import Tensor, attach_leaf, returned
from lazyarray.lazy.cuda import device as cuda
from lazyarray.ops import _rows, creation, hosts
from lazyarray.ops._files import is_archive, read_archive, read_npy, replacing

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray.engine import Device

__all__ = ["save", "load", "from_dlpack", "to_json"]


# ---- other arrays and devices -------------------------------------------------------------------


def copyto(x: NDArray, other: Any) -> NDArray:
    """Copies ``x`` into array ``other``, or to a new array on device ``other``; returns that array.

    An array may have another dtype, which the values are cast to, but not another shape
    (ValueError). Recorded like any op, also where it crosses devices.

    >>> import lazyarray as la
    >>> la.ones(2).copyto(la.cpu(1)).ctx
    cpu(1)
    """
    if isinstance(other, Tensor):
        to: NDArray = other
        if to.shape != x.shape:
            raise ValueError(f"copyto: shape {x.shape} can't be copied to shape {to.shape}")
        _share.copy_across(to, x)
        return to
    device = as_device(other) if other is not None else None
    if device is None:
        raise TypeError("copyto copies to an NDArray or a Context, not to None")
    return _rows.scalar_like(_share.copied_to(x, device), x)


@_rows.public("to_device")
def to_device(x: NDArray, device: Any) -> NDArray:
    """``x`` itself if it is on ``device``, else a copy of it there.

    >>> import lazyarray as la
    >>> x = la.ones(2)
    >>> x.to_device(la.cpu(0)) is x, x.to_device("cpu:1").device
    (True, cpu(1))
    """
    place = as_device(device)
    if place is None:
        raise TypeError("a device is a Context, not NoneType")
    return x if x.device == place else _rows.scalar_like(_share.copied_to(x, place), x)


def rebuild(
    values: Any, device: Device, grad: NDArray | None = None, grad_req: str = "write"
) -> NDArray:
    """What pickle calls: an array of ``values``, or the scalar of one of NumPy's, on ``device``.

    With its gradient if it had one.
    """
    x: NDArray = _rows.array(values, None, device)
    if isinstance(values, np.generic):
        returned(x)
    if grad is not None:
        attach_leaf(x, grad, grad_req)
    return x


def made(shape: Any, dtype: Any, buffer: Any, offset: int, strides: Any, order: Any) -> NDArray:
    """What ``la.ndarray(...)`` is: a new array, or one on the memory of ``buffer``."""
    if isinstance(buffer, Tensor):
        x: NDArray = buffer
        whole = _rows.probe(x)
        r: np.ndarray = np.ndarray(shape, dtype, whole, offset, strides, order)
        base = _rows.retype(x, r.dtype, r.shape, r.strides)
        return _rows.strided(base, r.shape, r.strides, r.ctypes.data - whole.ctypes.data)
    if buffer is None and strides is None:
        return creation.empty(shape, dtype, order=order or "C")
    return on_memory(np.ndarray(shape, dtype, buffer, offset, strides, order))


def on_memory(host: np.ndarray, device: Device | None = None) -> NDArray:
    """An array on the memory of a new NumPy view of somebody's buffer; read-only if that is.

    A copy where ops can't run on that memory, or for another device than its own.
    """
    if _unusable(host):
        copy: NDArray = _rows.array(host, None, device or _near())
    else:
        x: NDArray = _share.adopt(host, device)
        if device is None or x.device == device:
            return x
        copy = _share.copied_to(x, device)
    copy.setflags(write=host.flags.writeable)
    return copy


def _near() -> Device:
    """The current device, or the host where that is a GPU."""
    device = current_context()
    return cpu(0) if device.device_type == "gpu" else device


def to_json(o: Any) -> Any:
    """``json.dumps(..., default=la.to_json)``: arrays as nested lists, their scalars as numbers.

    NumPy's, too. Waits for the values.

    Args:
        o: an array.
    Returns: nested lists of its shape, or a number: of Python's.
    Raises: TypeError, as json's own, for anything else.

    >>> import json, lazyarray as la
    >>> x = la.array([1.0, 2.5])
    >>> json.dumps({"mean": x.mean(), "values": x}, default=la.to_json)
    '{"mean": 1.75, "values": [1.0, 2.5]}'
    """
    if isinstance(o, (Tensor, np.ndarray, np.generic)):
        array: Any = o
        return array.tolist()
    raise TypeError(f"Object of type {type(o).__name__} is not JSON serializable")


# ---- files --------------------------------------------------------------------------------------

_LIST = b"lazyarray list"  # the archive's comment, which NumPy doesn't look at


class Archive(dict[str, Any]):
    """What an ``.npz`` file held: arrays by their names; ``files`` lists those, as NumPy's does."""

    @property
    def files(self) -> list[str]:
        return [*self]

    def close(self) -> None:
        """Does nothing: the file was closed when it had been read."""

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *exc: object) -> None:
        pass


def save(file: str | os.PathLike[str] | IO[bytes], data: Any, allow_pickle: bool = True) -> None:
    """Writes an array to an ``.npy`` file as NumPy, a list or dict of arrays to an ``.npz``.

    Waits for the values. What was saved under that path before is gone; if anything fails, it is
    still there. Arrays of a list are named ``arr_0``, ``arr_1``, ... as ``numpy.savez`` names them;
    ``numpy.load`` reads the file. (A list of numbers is one array.)

    Args:
        file: a path or a binary file. For one array ".npy" is added to a path that lacks it, unless
            that ends in ".npz": then it is a list of one. The path of several is taken as it is.
        data: an array, or a list or dict of arrays.
        allow_pickle: whether arrays of objects may be pickled.
    Returns: None.
    Raises: TypeError unless the keys of a dict are strings; ValueError for objects that may not be
        pickled; OSError if the file can't be written.

    >>> import io, lazyarray as la
    >>> file = io.BytesIO()
    >>> la.save(file, {"weight": la.ones(2)})
    >>> _ = file.seek(0)
    >>> la.load(file)["weight"].asnumpy()
    array([1., 1.])
    """
    named: dict[str, Any]
    comment = b""
    if isinstance(file, (str, os.PathLike)) and os.fspath(file).endswith(".npz"):
        data = [data] if isinstance(data, (Tensor, np.ndarray)) else data
    if isinstance(data, Mapping):
        named = dict(data)
        for key in named:
            if not isinstance(key, str):
                raise TypeError(f"save: the keys are strings, not {type(key).__name__}")
    elif isinstance(data, (list, tuple)) and all(isinstance(x, (Tensor, np.ndarray)) for x in data):
        named = {f"arr_{i}": value for i, value in enumerate(data)}
        comment = _LIST
    else:
        _write(file, _values(data), allow_pickle)
        return
    values = {key: _values(value) for key, value in named.items()}  # before the file is touched
    import zipfile

    with _opened(file) as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        archive.comment = comment
        for key, value in values.items():
            with archive.open(key + ".npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, value, allow_pickle=allow_pickle)


def _opened(file: str | os.PathLike[str] | IO[bytes]) -> AbstractContextManager[IO[bytes]]:
    return replacing(file) if isinstance(file, (str, os.PathLike)) else nullcontext(file)


def _write(file: str | os.PathLike[str] | IO[bytes], value: np.ndarray, allow_pickle: bool) -> None:
    """One array, at the path that ``np.save`` gives it."""
    if not isinstance(file, (str, os.PathLike)):
        np.save(file, value, allow_pickle=allow_pickle)
        return
    name = os.fspath(file)
    path = name if name.endswith(".npy") else name + ".npy"
    with replacing(path) as stream:
        np.save(stream, value, allow_pickle=allow_pickle)
    if path != name and is_archive(name):
        os.unlink(name)  # what was saved under this name before: load would find it first


def _values(x: Any) -> np.ndarray:
    return np.asanyarray(hosts.to_host(x, "save()"))


def load(
    file: str | os.PathLike[str] | IO[bytes],
    mmap_mode: str | None = None,
    allow_pickle: bool = False,
    *,
    ctx: Any = None,
    device: Any = None,
) -> Any:
    """Reads what :func:`save` or NumPy wrote, to the device given or current.

    Strings, dates and records in a file are NumPy arrays, with a :class:`HostArrayWarning`. It is
    read wholly, at the call, but with a ``mmap_mode``.

    Args:
        file: the path that was given to :func:`save`, or a binary file.
        mmap_mode: "r", "r+", "c" or "w+" maps an ``.npy`` file (:class:`memmap`).
        allow_pickle: whether objects may be unpickled, which can run any code.
    Returns: of an ``.npy`` file an array, of an ``.npz`` file a dict of arrays (with NumPy's
        ``files``, and good for ``with``), or the list that was saved.
    Raises: ValueError for objects, unless ``allow_pickle``, and for what is cut short; OSError if
        the file can't be read.

    >>> import io, lazyarray as la
    >>> file = io.BytesIO()
    >>> la.save(file, [la.arange(2), la.ones(1)])
    >>> _ = file.seek(0)
    >>> [x.asnumpy() for x in la.load(file)]
    [array([0, 1]), array([1.])]
    """
    place = chosen(ctx, device)
    if not isinstance(file, (str, os.PathLike)):
        if mmap_mode is not None:
            raise ValueError("load: only what has a path can be mapped")
        return _read(file, place, allow_pickle)
    path = os.fspath(file)
    if not os.path.isfile(path) and os.path.isfile(path + ".npy"):
        path += ".npy"
    if mmap_mode is not None and not is_archive(path):
        return _public.namespace.memmap.of(np.lib.format.open_memmap(path, mmap_mode), place)
    with open(path, "rb") as stream:
        return _read(stream, place, allow_pickle)


def _read(file: IO[bytes], place: Device | None, allow_pickle: bool) -> Any:
    start = file.tell()
    magic = file.read(len(np.lib.format.MAGIC_PREFIX))
    file.seek(start)
    if magic == np.lib.format.MAGIC_PREFIX:
        return hosts.given(read_npy(file, allow_pickle=allow_pickle), place)
    values, comment = read_archive(file, allow_pickle)
    found = Archive({name: hosts.given(value, place) for name, value in values.items()})
    if comment != _LIST:
        return found
    names = [f"arr_{i}" for i in range(len(found))]
    if found.keys() != {*names}:
        raise ValueError(f"load: the archive of a list holds {', '.join(found)}")
    return [found[name] for name in names]


# ---- other libraries ----------------------------------------------------------------------------


_CPU = 1  # DLPack's number


def dlpack(x: NDArray, stream: Any, max_version: Any, dl_device: Any, copy: bool | None) -> Any:
    """``x.__dlpack__``: a capsule on x's memory; while it lives, ops on it are synchronous.

    With ``copy`` it is one on a copy; an array on a GPU is also exported, as a copy, to the host.
    RuntimeError for a stream, which host memory has not; BufferError for any other device, or for
    what DLPack can't describe.
    """
    if x.device.device_type == "gpu":
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


def ascupy(x: NDArray) -> Any:
    """A CuPy array on x's memory; TypeError unless ``x`` is on a GPU. Waits for x's uses.

    Until it and all that shares its memory are gone, each op on ``x`` waits for what was launched
    on the device, and has run when its call returns. ``x.copy()`` first where that costs too much.
    """
    if x.device.device_type != "gpu":
        raise TypeError(
            f"ascupy: the array is on {x.device!r}; move it with x.to_device(la.gpu(0))"
        )
    return _share.export_gpu(x, "?ascupy()")


def cuda_interface(x: NDArray) -> dict[str, Any]:
    """``x.__cuda_array_interface__``, version 3; AttributeError unless ``x`` is on a GPU.

    The memory is lent for as long as it lives: see :func:`ascupy` for what that costs.
    """
    if x.device.device_type != "gpu":
        raise AttributeError(f"the array is on {x.device!r}, which has no __cuda_array_interface__")
    return {
        "shape": x.shape,
        "typestr": x.dtype.str,
        "data": (_share.lend(x, "?__cuda_array_interface__"), False),
        "strides": x.strides,
        "version": 3,
        "stream": None,  # nothing is under way
    }


def array_interface(x: NDArray) -> dict[str, Any]:
    """``x.__array_interface__``, version 3; AttributeError on a GPU.

    It waits. The memory is lent for as long as it lives: ops on it have run when their call
    returns. It is there for code that reads it by this name, not for NumPy (nor ``hasattr``): that
    looks for it before ``__array__`` and would share the memory, where ``np.asarray(x)`` is a copy.
    """
    if x.device.device_type == "gpu":
        raise AttributeError(f"the array is on {x.device!r}, which has no __array_interface__")
    return {
        "version": 3,
        "shape": x.shape,
        "typestr": x.dtype.str,
        "descr": [("", x.dtype.str)],
        "data": (_share.lend_host(x, "?__array_interface__"), not x.flags.writeable),
        "strides": x.strides,
    }


def from_gpu(x: Any) -> NDArray | None:
    """An array on the memory of one of CuPy's, PyTorch's, ... on a GPU; None for anything else."""
    found = cuda.shared(x)
    if found is None:
        return None
    first, nbytes, owner, number, start, dtype, shape, strides = found
    return _share.adopt_gpu(
        first, nbytes, owner, gpu(number), start, np.dtype(dtype), shape, strides
    )


_rows.teach(from_gpu=from_gpu)


def shared(x: NDArray, dtype: Any) -> np.ndarray:
    """``np.asarray(x, copy=False)``: likewise, a NumPy array on x's memory."""
    if dtype is not None and np.dtype(dtype) != x.dtype:
        raise ValueError(f"a {x.dtype} array can't be seen as {np.dtype(dtype)} without a copy")
    return _share.export(x, "?__array__")


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> NDArray:
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
            return _rows.array(host, None, place or _near())
        shared = _share.adopt(host, place)
    if place is not None and shared.device != place:
        if copy is False:
            raise ValueError(f"from_dlpack: the array is on {shared.device!r}, not on {place!r}")
        return _share.copied_to(shared, place)
    return _rows.array(shared) if copy else shared


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
    return _unusable(host) if host.flags.writeable else "it is read-only"


def _unusable(host: np.ndarray) -> str:
    """Why ops can't run on a NumPy array's memory; empty if they can."""
    if not host.flags.aligned:
        return "it is not aligned"
    if not host.dtype.isnative:
        return "its byte order is not the machine's"
    return ""
