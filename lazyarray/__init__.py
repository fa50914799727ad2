"""lazyarray: NumPy-style arrays that run asynchronously on a dependency engine.

Use it as NumPy: every operation returns at once, and runs in order on worker threads.

>>> import lazyarray as la
>>> x = la.linspace(0, 1, 5)
>>> (x * x).sum().item()
1.875
"""

from __future__ import annotations

import difflib as _difflib
import importlib as _importlib
from typing import Any as _Any

import numpy as _np
from numpy import (
    bool_,
    clongdouble,
    complex64,
    complex128,
    double,
    dtype,
    e,
    errstate,
    euler_gamma,
    finfo,
    float16,
    float32,
    float64,
    geterr,
    half,
    iinfo,
    inf,
    int8,
    int16,
    int32,
    int64,
    intp,
    longdouble,
    nan,
    newaxis,
    pi,
    seterr,
    single,
    uint8,
    uint16,
    uint32,
    uint64,
    uintp,
)

from lazyarray import context, engine, lazy, ops, storage
from lazyarray._ndarray import NDArray
from lazyarray.context import Context, cpu, cpu_pinned, current_context, gpu
from lazyarray.lazy import SyncReport, no_sync, sync_report, waitall
from lazyarray.ops.names import *  # noqa: F403

__version__ = "0.1.0"

ndarray = NDArray
bool = _np.bool  # noqa: A001

_public = """
NDArray ndarray Context cpu cpu_pinned gpu current_context SyncReport no_sync sync_report waitall
context engine lazy ops storage linalg random
bool bool_ int8 int16 int32 int64 intp uint8 uint16 uint32 uint64 uintp float16 float32 float64
half single double longdouble complex64 complex128 clongdouble
dtype finfo iinfo errstate seterr geterr pi e euler_gamma inf nan newaxis
""".split()

for _name in ops.SECTIONS:
    _module = _importlib.import_module(f"lazyarray.ops.{_name}")
    for _symbol in _module.__all__:
        globals()[_symbol] = getattr(_module, _symbol)
        _public.append(_symbol)

from lazyarray import linalg, random  # noqa: E402

__all__ = sorted({*_public})  # noqa: PLE0605


def __getattr__(name: str) -> _Any:
    near = _difflib.get_close_matches(name, __all__, 1)
    hint = f": did you mean {near[0]!r}?" if near else ""
    raise AttributeError(f"module 'lazyarray' has no attribute {name!r}{hint}", name=name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
