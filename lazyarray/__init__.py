"""lazyarray: NumPy-style arrays that run asynchronously on a dependency engine.

Use it as NumPy: every operation returns at once, and runs in order on worker threads.

>>> import lazyarray as la
>>> x = la.linspace(0, 1, 5)
>>> (x * x).sum().item()
1.875
"""

from __future__ import annotations

import importlib as _importlib
import os as _os
import sys as _sys
import threading as _threading
import typing as _typing

from lazyarray import _gil as _gil  # first of all
from lazyarray import _numpy_facts as _numpy_facts

# isort: split
from lazyarray import (
    _config,
    _derived,
    _direct,
    _hints,
    _memmap,
    _namespace_info,
    _others,
    _public,
    _scalar_mode,
    _scalars,
    _trace,
    autograd,
    context,
    engine,
    functions,
    lazy,
    ops,
    protocols,
    storage,
    version,
)
from lazyarray._config import *  # noqa: F403
from lazyarray._memmap import *  # noqa: F403
from lazyarray._namespace_info import *  # noqa: F403
from lazyarray._ndarray import NDArray, Scalar
from lazyarray._scalar_mode import *  # noqa: F403
from lazyarray._scalars import *  # noqa: F403
from lazyarray.context import Context, cpu, cpu_pinned, current_context, gpu, gpu_count
from lazyarray.engine._engine import hold_at_fork as _hold_at_fork
from lazyarray.functions.archives import *  # noqa: F403
from lazyarray.functions.bits import *  # noqa: F403
from lazyarray.functions.broadcasting import *  # noqa: F403
from lazyarray.functions.calculus import *  # noqa: F403
from lazyarray.functions.complex_numbers import *  # noqa: F403
from lazyarray.functions.contraction import *  # noqa: F403
from lazyarray.functions.conversion import *  # noqa: F403
from lazyarray.functions.correlation import *  # noqa: F403
from lazyarray.functions.creation import *  # noqa: F403
from lazyarray.functions.dtypes import *  # noqa: F403
from lazyarray.functions.editing import *  # noqa: F403
from lazyarray.functions.files import *  # noqa: F403
from lazyarray.functions.functional import *  # noqa: F403
from lazyarray.functions.histograms import *  # noqa: F403
from lazyarray.functions.index_tricks import *  # noqa: F403
from lazyarray.functions.iterators import *  # noqa: F403
from lazyarray.functions.joining import *  # noqa: F403
from lazyarray.functions.logic import *  # noqa: F403
from lazyarray.functions.manipulation import *  # noqa: F403
from lazyarray.functions.memory import *  # noqa: F403
from lazyarray.functions.nanfunctions import *  # noqa: F403
from lazyarray.functions.padding import *  # noqa: F403
from lazyarray.functions.patterns import *  # noqa: F403
from lazyarray.functions.polynomials import *  # noqa: F403
from lazyarray.functions.products import *  # noqa: F403
from lazyarray.functions.quantiles import *  # noqa: F403
from lazyarray.functions.ranges import *  # noqa: F403
from lazyarray.functions.rearranging import *  # noqa: F403
from lazyarray.functions.rounding import *  # noqa: F403
from lazyarray.functions.searching import *  # noqa: F403
from lazyarray.functions.selecting import *  # noqa: F403
from lazyarray.functions.sets import *  # noqa: F403
from lazyarray.functions.sorting import *  # noqa: F403
from lazyarray.functions.statistics import *  # noqa: F403
from lazyarray.functions.storing import *  # noqa: F403
from lazyarray.functions.sums import *  # noqa: F403
from lazyarray.functions.text import *  # noqa: F403
from lazyarray.functions.windows import *  # noqa: F403
from lazyarray.lazy import SyncReport, explain, no_sync, sync_report, waitall
from lazyarray.ops.hosts import *  # noqa: F403
from lazyarray.ops.names import *  # noqa: F403
from lazyarray.protocols.awaiting import *  # noqa: F403
from lazyarray.protocols.dlpack import *  # noqa: F403
from lazyarray.protocols.pickling import *  # noqa: F403
from lazyarray.protocols.pickling import _Last as _Last  # what pickles name, too
from lazyarray.protocols.pickling import on_buffer as _on_buffer  # noqa: F401
from lazyarray.protocols.pickling import rebuild as _rebuild  # noqa: F401
from lazyarray.version import __version__ as __version__

_NoValue = _numpy_facts.np._NoValue  # libraries ask for it by this name

ndarray = NDArray
_public.namespace = _sys.modules[__name__]

# Imported when they are used: "room", or "room:name in it".
_LATER = {
    **{
        room: room
        for room in (
            "char ctypeslib distributed dtypes exceptions fft graph kvstore lib linalg ma matlib "
            "nn polynomial profiler random rec strings testing typing"
        ).split()
    },
    "emath": "lib:scimath",
    **{n: f"graph:{n}" for n in "AttrScope Executor Graph Symbol spec sym".split()},
    **{n: f"_compile:{n}" for n in "compile Compiled CompileWarning".split()},
}

__all__ = [
    # arrays, devices, waits
    "NDArray",
    "ndarray",
    "Scalar",
    "Context",
    "cpu",
    "cpu_pinned",
    "gpu",
    "gpu_count",
    "current_context",
    "SyncReport",
    "explain",
    "no_sync",
    "sync_report",
    "waitall",
    # graphs; trace is among the functions, too
    "AttrScope",
    "Executor",
    "Graph",
    "Symbol",
    "spec",
    "sym",
    # compiled functions; not `compile`: a star import would put it in the place of Python's
    "Compiled",
    "CompileWarning",
    # rooms
    "autograd",
    "char",
    "ctypeslib",
    "context",
    "dtypes",
    "emath",
    "engine",
    "exceptions",
    "fft",
    "functions",
    "graph",
    "lazy",
    "lib",
    "linalg",
    "ma",
    "nn",
    "distributed",
    "kvstore",
    "ops",
    "polynomial",
    "profiler",
    "random",
    "rec",
    "storage",
    "strings",
    "testing",
    "typing",
    "version",
]
for _section in (
    _config,
    _derived,
    _memmap,
    _namespace_info,
    _scalar_mode,
    _scalars,
    *ops.SECTIONS,
    *functions.SECTIONS,
    *protocols.SECTIONS,
):
    __all__ += _section.__all__

if _typing.TYPE_CHECKING:
    from lazyarray import (
        char,
        ctypeslib,
        distributed,
        dtypes,
        exceptions,
        fft,
        graph,
        kvstore,
        lib,
        linalg,
        ma,
        nn,
        polynomial,
        profiler,
        random,
        rec,
        strings,
        testing,
        typing,
    )
    from lazyarray import matlib as matlib
    from lazyarray._compile import Compiled, CompileWarning
    from lazyarray._compile import compile as compile
    from lazyarray._trace import trace as trace
    from lazyarray.graph import AttrScope, Executor, Graph, Symbol, spec, sym
    from lazyarray.lib import scimath as emath
else:  # hidden from type checkers, to which it would promise every name
    _importing = _threading.RLock()
    _hold_at_fork(_importing, pushes=True)

    def __getattr__(name: str) -> _typing.Any:
        if name in _LATER:
            room, _, inner = _LATER[name].partition(":")
            with _importing:  # a child of a fork could not import what another thread was importing
                found = _importlib.import_module(f"lazyarray.{room}")
            # For the next time; what somebody else has put there meanwhile stays.
            return globals().setdefault(name, getattr(found, inner) if inner else found)
        if name == "core":  # old programs take names from it, of NumPy's functions, which take ours
            return _numpy_facts.np.core
        return _hints.refuse(_public.namespace, name)


_direct.in_lazyarray(_public.namespace)
globals()["trace"] = _trace.trace  # that of functions is part of it
# Imported with the first docstring that is read, maybe by who walks through these very names.
globals()["_docstrings"] = None
_scalar_mode.from_environment()
_others.watch()
if _os.environ.get("LAZYARRAY_PROFILER_AUTOSTART"):
    from lazyarray import profiler  # which starts


def __dir__() -> list[str]:
    return [*__all__, "compile", "matlib", "__version__"]
