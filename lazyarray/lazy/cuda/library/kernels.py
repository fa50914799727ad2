"""The kernels of kernels.h: compiled by CuPy for a pair of types, started on its current stream."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from lazyarray.lazy.cuda.library import calls

_THREADS = 256
_WORDS = np.dtype([("w", np.int64, (24,))])
_TYPES = {"f": "float", "d": "double", "i": "int", "l": "long long"}
_OPTIONS = ("--std=c++17", "--fmad=false")


@lru_cache(maxsize=1)
def _text() -> str:
    return Path(__file__).with_name("kernels.h").read_text()


@lru_cache(maxsize=64)
def _function(xp: Any, name: str, element: str, index: str) -> Any:
    """CuPy keeps what it compiled for each device, in memory and on disk."""
    head = f"typedef {_TYPES[element]} T;\ntypedef {_TYPES[index]} I;\n"
    return xp.RawModule(code=head + _text(), options=_OPTIONS).get_function(name)


def launch(name: str, element: Any, threads: int, *words: Any, index: Any = "l") -> None:
    """Starts a kernel of so many threads; its words are numbers and the addresses of arrays."""
    if threads == 0:
        return
    args = np.zeros((), _WORDS)
    args["w"][: len(words) + 1] = [threads, *map(_address, words)]
    function = _function(
        calls.cupy(), name, np.dtype(element).char, "i" if np.dtype(index).itemsize == 4 else "l"
    )
    function((-(-threads // _THREADS),), (_THREADS,), (args,))


def _address(word: Any) -> int:
    return int(word) if isinstance(word, (int, np.integer)) else int(word.data.ptr)
