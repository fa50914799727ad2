"""The profiler: what ran when and where, what waited, what it cost.

:func:`start` and :func:`stop` (or a block, ``with la.profiler.profile("trace.json"):``) record
every operator of the process's engine into a file that https://ui.perfetto.dev and chrome://tracing
open; :func:`dumps` makes a table of it, and :func:`summary` says in words where the time went. The
names are those of MXNet's ``mx.profiler``.

>>> import lazyarray as la
>>> with la.profiler.profile("trace.json"):
...     x = la.ones((300, 300))
...     y = (x @ x + 1).sum()
>>> "matmul" in la.profiler.dumps()
True
"""

from typing import TYPE_CHECKING

from lazyarray import _public
from lazyarray.profiler.scopes import counter, event, frame, marker, task
from lazyarray.profiler.session import (
    autostart,
    dump,
    pause,
    profile,
    resume,
    set_config,
    start,
    state,
    stop,
)
from lazyarray.profiler.summary import summary
from lazyarray.profiler.tables import dumps

__all__ = [
    "counter",
    "dump",
    "dumps",
    "event",
    "frame",
    "marker",
    "pause",
    "profile",
    "resume",
    "set_config",
    "start",
    "state",
    "stop",
    "summary",
    "task",
]

if not TYPE_CHECKING:  # to type checkers it would promise every name
    __getattr__ = _public.refusing(__name__)

autostart()
