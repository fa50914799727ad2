"""Compiled loops on disk, so that another process need not compile them again.

A file a loop, named by a hash of all that decides what is in it. It is written under another name
and moved to its own, so that who reads it, in whichever process, finds all of it or nothing. What
is not whole, another file's, or not this user's, is as if it were not there; so is a directory that
can't be used.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pathlib
import tempfile

MOST = 4096  # files; of 1 to 10 KB each
_MARK = b"lazyarray loop 1\n"  # counts up with what the compiler is told (see compiler.py)
_DIGEST = 32


def directory() -> pathlib.Path | None:
    """Where loops are kept; None: nowhere.

    ``LAZYARRAY_CACHE_DIR``, or else ``lazyarray`` in the user's directory for such things (the XDG
    standard's). ``LAZYARRAY_CACHE_DIR=0`` keeps nothing.
    """
    given = os.environ.get("LAZYARRAY_CACHE_DIR")
    if given == "0":
        return None
    try:
        home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
        return (pathlib.Path(given) if given else pathlib.Path(home) / "lazyarray") / "loops"
    except RuntimeError:  # nobody knows where this user's home is
        return None


class LoopCache:
    """The loops in a directory, of one compiler for one processor (``target``: which they are)."""

    def __init__(self, path: pathlib.Path | None, target: str) -> None:
        self._path = path
        self._target = target.encode()
        self._stored = 0
        self._opened: bool | None = None  # None: nobody looked yet

    def _open(self) -> bool:
        """Whether the directory is there and is only this user's to write; makes it."""
        if self._opened is None:
            self._opened = False
            with contextlib.suppress(OSError):
                if self._path is not None:
                    self._path.mkdir(mode=0o700, parents=True, exist_ok=True)
                    self._opened = _only_ours(self._path)
        return self._opened

    def _file(self, text: str) -> pathlib.Path:
        assert self._path is not None
        name = hashlib.sha256(self._target + b"\0" + text.encode()).hexdigest()
        return self._path / f"{name}.o"

    def load(self, text: str) -> bytes | None:
        """The object code of a loop with this text; None: it is not there."""
        try:
            if not self._open():
                return None
            file = self._file(text)
            if not _only_ours(file):
                return None
            found = file.read_bytes()
        except OSError:
            return None
        code = found[len(_MARK) + _DIGEST :]
        whole = found.startswith(_MARK) and found[len(_MARK) :][:_DIGEST] == _digest(file, code)
        return code if whole else None

    def store(self, text: str, code: bytes) -> None:
        """Keeps it, if that is possible."""
        with contextlib.suppress(OSError):
            if not self._open():
                return
            file = self._file(text)
            descriptor, temporary = tempfile.mkstemp(dir=self._path, prefix=".", suffix=".part")
            try:
                with os.fdopen(descriptor, "wb") as stream:
                    stream.write(_MARK + _digest(file, code) + code)
                os.replace(temporary, file)
            except BaseException:
                os.unlink(temporary)
                raise
            if self._stored % 256 == 0:
                self._drop_oldest()
            self._stored += 1

    def _drop_oldest(self) -> None:
        """Takes the oldest files away where there are too many, and what a killed writer left."""
        assert self._path is not None
        with os.scandir(self._path) as entries:
            ages = sorted((e.stat(follow_symlinks=False).st_mtime, e.path) for e in entries)
        for _, path in ages[: max(0, len(ages) - MOST)]:
            with contextlib.suppress(OSError):  # another process was first
                os.unlink(path)


def _digest(file: pathlib.Path, code: bytes) -> bytes:
    return hashlib.sha256(file.name.encode() + b"\0" + code).digest()


def _only_ours(path: pathlib.Path) -> bool:
    """Whether nobody but this user can have written it: it is run."""
    status = os.lstat(path)
    return status.st_uid == os.geteuid() and not status.st_mode & 0o022
