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
_PIECE = 1 << 18  # bytes that are read at once: they stay in the caches until they are copied
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
    count = math.prod(shape)
    here, need = file.tell(), count * dtype.itemsize
    if rest is None:
        rest = need + here - start
        if measured:
            file.seek(0, io.SEEK_END)  # (which of a program's own kinds of files returns None)
            rest = file.tell() - start
            file.seek(here)
    if need > rest - (here - start):
        raise _cut_short(dtype, shape, need, max(rest - (here - start), 0))
    if version == (3, 0):  # whose header is UTF-8, and so has other names of fields
        file.seek(start)
        return _NPY.read_array(file, **how)
    systems = _NPY.isfileobj(file)
    values = np.fromfile(file, dtype, count) if systems else _received(file, dtype, count)
    if values.size != count:  # somebody has just cut it
        raise _cut_short(dtype, shape, need, values.nbytes)
    return values.reshape(shape[::-1]).T if fortran else values.reshape(shape)


def _cut_short(dtype: np.dtype[Any], shape: Any, need: int, there: int) -> ValueError:
    return ValueError(
        f"the file is cut short: {dtype} of shape {shape} are {need} bytes, and {there} are there"
    )


def _received(file: IO[bytes], dtype: np.dtype[Any], count: int) -> np.ndarray:
    """Elements of what is no file of the system's; fewer where it ends before."""
    values = np.ndarray(count, dtype)  # where `empty` has strings of length 0, it makes them 1
    to, at = values.view(np.uint8) if values.nbytes else np.empty(0, np.uint8), 0
    while at < to.size:
        data = file.read(min(to.size - at, _PIECE))
        if not data:
            return values[: at // dtype.itemsize]
        to[at : at + len(data)] = np.frombuffer(data, np.uint8)
        at += len(data)
    return values


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
        if not member.peek(len(_NPY.MAGIC_PREFIX)).startswith(_NPY.MAGIC_PREFIX):
            data: bytes = member.read()
            return data
        info = archive.getinfo(name)
        if info.compress_type or not member.seekable():  # its size is known once it is read
            data = member.read()
            return read_npy(io.BytesIO(data), how, len(data))
        # As large as it is said to be, but not more than there is before the directory.
        array = read_npy(member, how, min(info.file_size, archive.start_dir))
        member.read()  # to the end, where the checksum is compared
        return array


def archive_comment(path: str) -> bytes | None:
    """The comment of the archive of arrays, and nothing else, at ``path``; None if it is none."""
    import zipfile

    if not os.path.isfile(path) or not zipfile.is_zipfile(path):
        return None
    with suppress(Exception), zipfile.ZipFile(path) as archive:
        if all(name.endswith(".npy") for name in archive.namelist()):
            return archive.comment
    return None
