"""Arrays of indices, and objects that are indexed to make arrays."""

from __future__ import annotations

__all__: list[str] = []
