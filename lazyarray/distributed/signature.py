"""What ranks compare of a call before its data move: words, and a number made of them."""

from __future__ import annotations

import functools
import hashlib
import os
import sys
from collections.abc import Sequence
from typing import Any

__all__ = ["ALIKE", "HEAD", "lines_here", "other_lines", "signed", "text_of", "with_lines"]

HEAD = 16  # bytes of a digest: they go before a message, too
# Of these all ranks get, and give, the same; so they call them from the same lines.
ALIKE = ("allreduce", "allgather", "reduce_scatter", "alltoall")


def text_of(name: str | None, op: str = "", ordered: bool = False, more: str = "") -> str:
    """What ranks compare of a call beside its dtypes and shapes."""
    if name is None and not ordered and not more:
        return op
    if name is not None and not isinstance(name, str):
        raise TypeError(f"the name of a collective is a str, not a {type(name).__name__}")
    called = "" if name is None else repr(name)
    return " ".join(filter(None, [op, "in order" if ordered else "", more, called]))


@functools.lru_cache(4096)
def _signature(name: str, text: str, *kinds: Any) -> tuple[str, bytes, int]:
    words = " ".join([name, *([text] if text else []), *map(str, kinds)])
    digest = hashlib.blake2b(words.encode(), digest_size=HEAD).digest()
    return words, digest, _number(digest)


def _number(digest: bytes) -> int:
    return int.from_bytes(digest[:8], "little") >> 2  # its negative is an int64, too


def signed(name: str, text: str, arrays: Sequence[Any]) -> tuple[str, bytes, int]:
    """What a call with these arrays is: in words, a digest of that, and a number of that."""
    if len(arrays) == 1:  # the most frequent
        return _signature(name, text, arrays[0].dtype, arrays[0].shape)
    return _signature(name, text, *[kind for x in arrays for kind in (x.dtype, x.shape)])


def lines_here() -> str:
    """The user's lines that led here, the innermost first. No folders: machines have others."""
    found, frame = [], sys._getframe(1)
    inner = __name__.partition(".")[0]
    while frame is not None:
        if frame.f_globals.get("__name__", "").partition(".")[0] != inner:
            code = frame.f_code
            file = os.path.basename(code.co_filename)
            found.append(f"{file}:{frame.f_lineno} in {code.co_name}")
        frame = frame.f_back
    return "\n".join(found)


def other_lines(every: Sequence[str]) -> tuple[int, list[str]] | None:
    """The first rank whose lines are not rank 0's, and those of both as far as they differ."""
    other = next((i for i, lines in enumerate(every) if lines != every[0]), None)
    if other is None:
        return None
    paths = [every[0].split("\n"), every[other].split("\n")]
    depth = 0
    while depth + 1 < min(map(len, paths)) and paths[0][depth] == paths[1][depth]:
        depth += 1
    return other, [" called from ".join(path[: depth + 1]) for path in paths]


def with_lines(digest: bytes, lines: str) -> int:
    """The number of a call that is only the same from the same lines."""
    return _number(hashlib.blake2b(digest + lines.encode(), digest_size=HEAD).digest())
