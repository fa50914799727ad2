"""What NumPy's namespace has and lazyarray leaves out, each with its reason."""

from __future__ import annotations

ABSENT: dict[str, str] = {}
