"""Files: written whole or not at all, and arrays read from them with no trust in what they say."""

from __future__ import annotations

import errno
import io
import math
import os
import pickle
import stat
import struct
import tokenize
import weakref
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import IO, Any

import numpy as np

_NPY = np.lib.format
# What the parsers of headers and archives raise of damaged bytes: anything else, such as what a
# signal's handler raised meanwhile, is no news of the file.
_PARSERS = (
    SyntaxError, TypeError, ValueError, LookupError, AttributeError, OverflowError, EOFError,
    RecursionError, struct.error, tokenize.TokenError, zlib.error,
)  # fmt: skip


class Refused(ValueError):
    """What is no damage: an array that may not be read, or not here."""


@contextmanager
def replacing(path: str | os.PathLike[str], mode: str = "wb") -> Iterator[IO[Any]]:
    """A file that takes the place of ``path`` as the block ends; no trace of it if that fails.

    Its bytes go into the old file where somebody would notice another one: under its other names,
    in memory that it is mapped to, by its owner. So they do where it may not be replaced.
    """
    target = os.path.realpath(os.fspath(path))
    unfinished = os.path.join(os.path.dirname(target), f".la-{os.urandom(8).hex()}.tmp")
    there = os.stat(target) if os.path.exists(target) else None
    regular = there is None or stat.S_ISREG(there.st_mode)
    try:  # from before the file is there: an interrupt leaves no trace either
        beside = _beside(unfinished, there, mode) if regular else None
        if beside is None:  # a pipe, /dev/stdout; what may be written, but nothing beside it
            with open(target, mode, opener=_keeping) as stream:  # a directory is refused here
                yield stream
                if regular:
                    stream.truncate()
            return
        with beside as stream:
            yield stream
        if not _replaced(unfinished, target, there):
            import shutil

            with open(unfinished, "rb") as made, open(target, "wb", opener=_keeping) as stream:
                shutil.copyfileobj(made, stream)
                stream.truncate()
            os.unlink(unfinished)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(unfinished)
        if isinstance(error, OSError) and error.filename == unfinished:
            error.filename = os.fspath(path)  # the caller's name of it
        raise


# Of a folder, or a place in it, that is not the caller's to change, though a file there may be.
_NOT_OURS = (errno.EACCES, errno.EPERM, errno.EROFS, errno.EBUSY)


def _beside(unfinished: str, there: os.stat_result | None, mode: str) -> IO[Any] | None:
    """The file to be written; None if there may be none, but perhaps the old one may be written."""
    try:
        return open(unfinished, mode.replace("w", "x"))
    except OSError as error:
        if there is not None and error.errno in _NOT_OURS:
            return None
        raise


def _replaced(unfinished: str, target: str, there: os.stat_result | None) -> bool:
    """Whether the file has taken the place of the old one, if there is one."""
    try:
        if there is not None:
            made = os.stat(unfinished)
            owners = (there.st_uid, there.st_gid), (made.st_uid, made.st_gid)
            mapped = (there.st_dev, there.st_ino) in _mapped.values()
            if there.st_nlink > 1 or mapped or owners[0] != owners[1]:
                return False
            os.chmod(unfinished, stat.S_IMODE(there.st_mode))
        os.replace(unfinished, target)
    except OSError as error:
        if there is not None and error.errno in _NOT_OURS:
            return False
        raise
    return True


def _keeping(path: str, flags: int) -> int:
    """Opens a file to be written over: who maps it may not find it shorter meanwhile."""
    return os.open(path, flags & ~(os.O_TRUNC | os.O_CREAT))


_mapped: dict[int, tuple[int, int]] = {}  # the device and number of each mapping's file


def note_mapped(host: np.memmap[Any, Any]) -> None:
    """Has the file of a NumPy memmap written in place for as long as anybody has it mapped."""
    mapping: Any = host._mmap  # type: ignore[attr-defined]
    if mapping is None or host.filename is None:
        return
    with suppress(OSError):  # the file may be gone
        there = os.stat(host.filename)
        weakref.finalize(mapping, _mapped.pop, id(mapping), None).atexit = False
        _mapped[id(mapping)] = there.st_dev, there.st_ino


def read_npy(file: IO[bytes], how: Mapping[str, Any], rest: int | None = None) -> np.ndarray:
    """The array of an ``.npy`` file from where it stands, of which ``rest`` bytes are left.

    ``how`` are the arguments of ``numpy.lib.format.read_array``. ValueError unless it is a file
    with all of its elements; nothing is allocated for others.
    """
    start = file.tell()
    # The end of a compressed stream is known once it is read; NumPy says where that comes too soon.
    measured = type(file).__module__ not in ("gzip", "bz2", "lzma")
    try:
        version = _NPY.read_magic(file)
        if version not in ((1, 0), (2, 0), (3, 0)):
            raise Refused(f"it is of format version {version}")
        header = _NPY.read_array_header_1_0 if version == (1, 0) else _NPY.read_array_header_2_0
        shape, fortran, dtype = header(file, max_header_size=how["max_header_size"])
    except ValueError as exc:
        if "max_header_size" in str(exc):
            raise Refused(*exc.args) from None
        raise
    except _PARSERS as exc:  # NumPy parses the header as Python
        raise ValueError(f"the header is corrupt: {type(exc).__name__}: {exc}") from exc
    if dtype.hasobject:
        if not how["allow_pickle"]:
            raise Refused("Object arrays cannot be loaded when allow_pickle=False")
        file.seek(start)
        return _NPY.read_array(file, **how)
    if any(not isinstance(n, int) or n < 0 for n in shape) or len(shape) > 64:
        raise ValueError(f"an array can't have the shape {shape}")
    here, need = file.tell(), math.prod(shape) * dtype.itemsize
    if rest is None:
        rest = file.seek(0, io.SEEK_END) - start if measured else need + here - start
    if need > rest - (here - start):
        raise ValueError(
            f"the file is cut short: {dtype} of shape {shape} are {need} bytes, and "
            f"{max(rest - (here - start), 0)} are there"
        )
    if type(file) in (io.BufferedReader, io.BytesIO) and need and dtype.subdtype is None:
        # NumPy would parse the header once more, which takes longer than to read a small array.
        file.seek(here)
        array = np.empty(shape[::-1] if fortran else shape, dtype)
        if file.readinto(array.reshape(-1).view(np.uint8).data) != need:  # type: ignore[attr-defined]
            raise ValueError("the file is cut short: somebody wrote to it meanwhile")
        return array.T if fortran else array
    file.seek(start)
    return _NPY.read_array(file, **how)


def read_archive(file: IO[bytes], how: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
    """What an ``.npz`` file holds by name, and its comment; ValueError if it is none, or damaged.

    That is arrays, the bytes of other members, and of those that are refused the errors.
    """
    import zipfile

    damage: tuple[type[BaseException], ...] = (
        *_PARSERS,
        zipfile.BadZipFile,
        pickle.UnpicklingError,
        NotImplementedError,  # of a later version of the format
    )
    with suppress(ImportError):
        import lzma

        damage += (lzma.LZMAError,)
    try:
        archive = zipfile.ZipFile(file)
    except damage as exc:
        raise ValueError(f"load: this is neither an .npz nor an .npy file: {exc}") from exc
    found: dict[str, Any] = {}
    with archive:
        for name in archive.namelist():
            try:
                value: Any = _member(archive, name, how)
            except Refused as exc:
                value = Refused(f"load: {name!r} in the archive is refused: {exc}")
            except damage as exc:
                raise ValueError(f"load: {name!r} in the archive is corrupt: {exc}") from exc
            found[name.removesuffix(".npy")] = value
        return found, archive.comment


def _member(archive: Any, name: str, how: Mapping[str, Any]) -> np.ndarray | bytes:
    try:
        member = archive.open(name)
    except RuntimeError as exc:  # it is encrypted, or compressed in an unknown way
        if type(exc) not in (RuntimeError, NotImplementedError):
            raise
        raise Refused(*exc.args) from exc
    with member:
        data: bytes = member.read()
    if not data.startswith(_NPY.MAGIC_PREFIX):
        return data
    return read_npy(io.BytesIO(data), how, len(data))


def archive_comment(path: str) -> bytes | None:
    """The comment of the archive of arrays, and nothing else, at ``path``; None if it is none."""
    import zipfile

    if not os.path.isfile(path) or not zipfile.is_zipfile(path):
        return None
    with suppress(Exception), zipfile.ZipFile(path) as archive:
        if all(name.endswith(".npy") for name in archive.namelist()):
            return archive.comment
    return None
