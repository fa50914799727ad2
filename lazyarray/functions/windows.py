"""Window functions and other special functions."""

from __future__ import annotations

__all__: list[str] = []
