"""Looks for what lazyarray needs, before anything native is loaded: the GIL, the main interpreter.

A free-threaded Python switches the GIL on as it loads our modules, which don't declare that they
run without it; but not where ``PYTHON_GIL=0`` or ``-X gil=0`` forbids that.
"""

from __future__ import annotations

import sys
import warnings

if not getattr(sys, "_is_gil_enabled", lambda: True)():
    if getattr(sys.flags, "gil", None) == 0:
        raise ImportError(
            "lazyarray needs the GIL, which guards the recording of operations. Start Python "
            "without PYTHON_GIL=0 and -X gil=0: then the import switches the GIL on"
        )
    warnings.warn(
        "lazyarray needs the GIL, which guards the recording of operations: the import switches it "
        "on, for the whole process. Free-threaded Python is not supported otherwise",
        RuntimeWarning,
        stacklevel=3,
    )


def _in_main_interpreter() -> bool:
    for name in ("_interpreters", "_xxsubinterpreters"):  # from 3.13 on, and before
        try:
            interpreters = __import__(name)
            return bool(interpreters.get_current() == interpreters.get_main())
        except (ImportError, AttributeError):
            continue
    return True


if not _in_main_interpreter():
    raise ImportError(
        "lazyarray runs in the main interpreter of a process only, as NumPy does: its engine and "
        "its threads are one for the process. Use processes instead of subinterpreters"
    )
