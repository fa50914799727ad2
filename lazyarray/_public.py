"""The public namespace, for lower rooms that find functions in it by their names."""

from __future__ import annotations

from types import ModuleType

namespace: ModuleType  # lazyarray itself, which says so
