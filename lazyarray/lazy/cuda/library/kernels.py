"""The kernels of kernels.cuh: compiled by CuPy for two types, started on its current stream."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from lazyarray.lazy.cuda.compiler import module

_THREADS = 256
_WORDS = np.dtype([("w", np.int64, (24,))])
_TYPES = {"f": "float", "d": "double", "i": "int", "l": "long long"}


@lru_cache(maxsize=1)
def _text() -> str:
    return Path(__file__).with_name("kernels.cuh").read_text()


@lru_cache(maxsize=64)
def source(element: str, index: str) -> str:
    """The kernels for elements and indices of these dtypes' characters."""
    return f"typedef {_TYPES[element]} T;\ntypedef {_TYPES[index]} I;\n{_text()}"


def launch(name: str, element: Any, threads: int, *words: Any, index: Any = "l") -> None:
    """Starts a kernel of so many threads; its words are numbers and the addresses of arrays."""
    if threads == 0:
        return
    args = np.zeros((), _WORDS)
    args["w"][: len(words) + 1] = [threads, *map(_address, words)]
    text = source(np.dtype(element).char, "i" if np.dtype(index).itemsize == 4 else "l")
    module(text).get_function(name)((-(-threads // _THREADS),), (_THREADS,), (args,))


def _address(word: Any) -> int:
    return int(word) if isinstance(word, (int, np.integer)) else int(word.data.ptr)
