"""The public namespace, for lower rooms that find functions in it by their names."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

namespace: ModuleType  # lazyarray itself, which says so


def refusing(module: str) -> Callable[[str], Any]:
    """``__getattr__`` of a room: its errors say what to write for what other libraries have."""
    return lambda name: namespace._hints.refuse(sys.modules[module], name)  # noqa: F821
