"""Arrays as text: formatting and print options."""

from __future__ import annotations

__all__: list[str] = []
