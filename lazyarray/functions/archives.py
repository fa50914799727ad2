"""Files of NumPy's formats: ``.npy`` with one array, ``.npz`` with several."""

from __future__ import annotations

import functools
import os
import pickle
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import AbstractContextManager, nullcontext
from types import SimpleNamespace
from typing import IO, TYPE_CHECKING, Any, Literal

import numpy as np

from lazyarray import _numpy_facts, _public
from lazyarray.context import chosen
from lazyarray.functions._files import Refused, archive_comment, read_archive, read_npy, replacing
from lazyarray.lazy._lazy import Tensor
from lazyarray.ops import hosts

if TYPE_CHECKING:
    from lazyarray._types import ArrayLike, DeviceLike, File
    from lazyarray.engine import Device

__all__ = ["save", "load", "savez", "savez_compressed"]
# The comments of what `save` writes, which NumPy doesn't look at.
_LIST, _DICT = b"lazyarray list", b"lazyarray dict"
_MAGIC = np.lib.format.MAGIC_PREFIX


class Archive(dict[str, Any]):
    """What an ``.npz`` file held: arrays by their names; ``files`` lists those, as NumPy's does.

    A member that is no array is its bytes; one that was refused raises its error when it is read.
    ``f`` has them as attributes; ``fid`` and ``zip`` are None: the file has been read, and closed.
    It prints as NumPy's does, which has read nothing yet.
    """

    fid = zip = None
    _name = "object"  # of the file

    def __repr__(self) -> str:
        names = ", ".join([*self][:5]) + ("..." if len(self) > 5 else "")
        return f"NpzFile {self._name!r} with keys: {names}"

    __str__ = __repr__

    @property
    def files(self) -> list[str]:
        return [*self]

    @property
    def f(self) -> SimpleNamespace:
        return SimpleNamespace(**self)

    # An array is known by its file's name, too.

    def __missing__(self, key: Any) -> Any:
        if key in self:
            return self[key.removesuffix(".npy")]
        raise KeyError(f"{key} is not a file in the archive")

    def __contains__(self, key: object) -> bool:
        found = super().__contains__
        return found(key) or (isinstance(key, str) and found(key.removesuffix(".npy")))

    def __getitem__(self, key: str) -> Any:
        value = super().__getitem__(key)
        if isinstance(value, Refused):
            raise ValueError(*value.args)
        return value

    def __iter__(self) -> Iterator[str]:
        return super().__iter__()  # so that dict(archive) asks __getitem__, as the rest does

    get, values, items = Mapping.get, Mapping.values, Mapping.items  # type: ignore[assignment]
    pop, popitem = MutableMapping.pop, MutableMapping.popitem
    setdefault = MutableMapping.setdefault

    def copy(self) -> dict[str, Any]:
        return dict(self)

    def close(self) -> None:
        """Does nothing: the file was closed when it had been read."""

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *exc: object) -> None:
        pass


def save(
    file: str | os.PathLike[str] | IO[bytes],
    arr: ArrayLike | Mapping[str, ArrayLike],
    allow_pickle: bool = True,
) -> None:
    """Writes an array to an ``.npy`` file as NumPy, a list or dict of arrays to an ``.npz``.

    Waits for the values. What was saved under that path before is gone; if anything fails, it is
    still there. (Where others would notice a new file, as it is mapped or has another name, the old
    one is written over.) Arrays of a list are named ``arr_0``, ``arr_1``, ... as ``numpy.savez``
    names them; ``numpy.load`` reads the file. (A list of numbers is one array.)

    Args:
        file: a path or a binary file. For one array ".npy" is added to a path that lacks it, unless
            that ends in ".npz": then it is a list of one. The path of several is taken as it is,
            but one that ends in ".npy" is of one array, as NumPy's, whatever ``arr`` is.
        arr: an array, or a list or dict of arrays.
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
    comment = _DICT
    suffix = os.fspath(file)[-4:] if isinstance(file, (str, os.PathLike)) else ""
    if suffix == ".npz":
        arr = [arr] if isinstance(arr, (Tensor, np.ndarray)) else arr
    if suffix != ".npy" and isinstance(arr, Mapping):
        named = dict(arr)
        for key in named:
            if not isinstance(key, str):
                raise TypeError(f"save: the keys are strings, not {type(key).__name__}")
    elif (
        suffix != ".npy"
        and isinstance(arr, (list, tuple))
        and all(isinstance(x, (Tensor, np.ndarray)) for x in arr)
    ):
        named = {f"arr_{i}": value for i, value in enumerate(arr)}
        comment = _LIST
    else:
        _write(file, _values(arr), allow_pickle)
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
    if path != name and archive_comment(name) in (_LIST, _DICT):
        os.unlink(name)  # what `save` wrote under this name before: load would find it first


def _values(x: Any, what: str = "save()") -> np.ndarray:
    found = np.asanyarray(hosts.to_host(x, what))
    # Copied as it lies in memory; but NumPy writes an array with gaps row by row.
    gaps = isinstance(x, Tensor) and not x.flags.f_contiguous
    return np.asarray(found, order="C") if gaps else found


def load(
    file: str | os.PathLike[str] | IO[bytes],
    mmap_mode: str | None = None,
    allow_pickle: bool = False,
    fix_imports: bool = True,
    encoding: Literal["ASCII", "latin1", "bytes"] = "ASCII",
    *,
    max_header_size: int = 10000,
    ctx: DeviceLike = None,
    device: DeviceLike = None,
) -> Any:
    """Reads what :func:`save` or NumPy wrote, to the device given or current.

    Strings, dates and records in a file are NumPy arrays, with a :class:`HostArrayWarning`. It is
    read wholly, at the call, but with a ``mmap_mode``.

    Args:
        file: the path that was given to :func:`save`, or a binary file.
        mmap_mode: "r", "r+", "c" or "w+" maps an ``.npy`` file (:class:`memmap`).
        allow_pickle: whether objects may be unpickled, which can run any code; also those of a
            file that is one pickle (:meth:`NDArray.dump`).
        fix_imports: whether Python 2's names of modules in pickled objects are meant.
        encoding: of Python 2's strings in pickled objects.
        max_header_size: characters of a header that are parsed; any with ``allow_pickle``.
    Returns: of an ``.npy`` file an array, of an ``.npz`` file a dict of arrays (with NumPy's
        ``files``, and good for ``with``), and of bytes where it holds something else, or the list
        that was saved.
    Raises: ValueError for objects, unless ``allow_pickle`` (in an ``.npz`` file as they are asked
        for), for what is cut short, and for another ``encoding``; EOFError where nothing is left of
        an open file; OSError if it can't be read.

    >>> import io, lazyarray as la
    >>> file = io.BytesIO()
    >>> la.save(file, [la.arange(2), la.ones(1)])
    >>> _ = file.seek(0)
    >>> [x.asnumpy() for x in la.load(file)]
    [array([0, 1]), array([1.])]
    """
    place = chosen(ctx, device)
    if encoding not in ("ASCII", "latin1", "bytes"):  # others may garble numbers
        raise ValueError("encoding must be 'ASCII', 'latin1', or 'bytes'")
    how = {
        "allow_pickle": allow_pickle,
        "pickle_kwargs": {"encoding": encoding, "fix_imports": fix_imports},
        "max_header_size": sys.maxsize if allow_pickle else max_header_size,
    }
    if not isinstance(file, (str, bytes, os.PathLike)):
        if not hasattr(file, "read"):
            raise TypeError(
                f"expected str, bytes or os.PathLike object, or a file, not {type(file).__name__}"
            )
        if mmap_mode is not None:
            raise ValueError("load: only what has a path can be mapped")
        if not hasattr(file, "tell"):  # NumPy reads what follows on a stream
            return hosts.given(
                np.load(file, None, allow_pickle, fix_imports, encoding=encoding), place
            )
        return _read(file, place, how)
    path = os.fsdecode(file)
    if not os.path.isfile(path) and os.path.isfile(path + ".npy"):
        path += ".npy"
    with open(path, "rb") as stream:
        if mmap_mode is None or stream.read(len(_MAGIC)) != _MAGIC:  # else there is no array to map
            stream.seek(0)
            return _read(stream, place, how)
    return _public.namespace.memmap.of(np.lib.format.open_memmap(path, mmap_mode), place)


def _read(file: IO[bytes], place: Device | None, how: Mapping[str, Any]) -> Any:
    start = file.tell()
    magic = file.read(len(_MAGIC))
    file.seek(start)
    if magic == _MAGIC:
        try:
            array = read_npy(file, how)
        except Refused as exc:
            raise ValueError(*exc.args) from None
        return hosts.given(array, place, alone=True)
    if not magic:
        raise EOFError("No data left in file")
    if how["allow_pickle"] and not magic.startswith(b"PK"):
        try:
            pickled = pickle.load(file, **how["pickle_kwargs"])
        except Exception as exc:
            raise pickle.UnpicklingError(f"load: the file is no pickle: {exc}") from exc
        return hosts.given(pickled, place) if isinstance(pickled, np.ndarray) else pickled
    values, comment = read_archive(file, how)
    found = Archive(
        {
            name: hosts.given(value, place, alone=True) if isinstance(value, np.ndarray) else value
            for name, value in values.items()
        }
    )
    if comment != _LIST:
        found._name = getattr(file, "name", "object")
        return found
    names = [f"arr_{i}" for i in range(len(found))]
    if found.keys() != {*names}:
        raise ValueError(f"load: the archive of a list holds {', '.join(found)}")
    return [found[name] for name in names]


def savez(file: File, *args: ArrayLike, allow_pickle: bool = True, **kwds: ArrayLike) -> None:
    """Writes arrays to an ``.npz`` file, named by keyword or ``arr_0``, ``arr_1``. Waits for them.

    Args:
        file: a path, to which ".npz" is added if it lacks it, or a binary file.
        args: arrays, which are called ``arr_0``, ``arr_1``, ...
        allow_pickle: whether arrays of objects may be pickled.
        kwds: arrays by their names.
    Returns: None.
    Raises: ValueError for a name given twice, or objects that may not be pickled; OSError if the
        file can't be written.

    >>> import io, lazyarray as la
    >>> file = io.BytesIO()
    >>> la.savez(file, la.ones(2), b=la.zeros(1))
    >>> _ = file.seek(0)
    >>> sorted(la.load(file))
    ['arr_0', 'b']
    """
    _zipped("savez", file, args, kwds, allow_pickle)


def savez_compressed(
    file: File, *args: ArrayLike, allow_pickle: bool = True, **kwds: ArrayLike
) -> None:
    """:func:`savez`, compressed. Waits for the values.

    Args:
        file: a path, to which ".npz" is added if it lacks it, or a binary file.
        args: arrays, which are called ``arr_0``, ``arr_1``, ...
        allow_pickle: whether arrays of objects may be pickled.
        kwds: arrays by their names.
    Returns: None.
    Raises: ValueError for a name given twice, or objects that may not be pickled; OSError if the
        file can't be written.

    >>> import io, lazyarray as la
    >>> file = io.BytesIO()
    >>> la.savez_compressed(file, a=la.ones(2))
    >>> _ = file.seek(0)
    >>> la.load(file)["a"].asnumpy()
    array([1., 1.])
    """
    _zipped("savez_compressed", file, args, kwds, allow_pickle)


def _zipped(
    name: str, file: Any, args: tuple[Any, ...], kwds: dict[str, Any], allow_pickle: bool
) -> None:
    """What ``numpy.<name>`` writes: at the path that it gives the file."""
    what = f"{name}()"
    write = getattr(np, name)
    if _numpy_facts.SAVEZ_ALLOWS_PICKLE:
        write = functools.partial(write, allow_pickle=allow_pickle)
    arrays = [_values(a, what) for a in args]
    named = {key: _values(a, what) for key, a in kwds.items()}
    if not isinstance(file, (str, os.PathLike)):
        write(file, *arrays, **named)
        return
    path = os.fspath(file)
    with replacing(path if path.endswith(".npz") else path + ".npz") as stream:
        write(stream, *arrays, **named)
