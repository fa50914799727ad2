"""Arrays from and to files, buffers and iterators."""

from __future__ import annotations

__all__: list[str] = []
