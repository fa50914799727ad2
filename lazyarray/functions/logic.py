"""Comparisons of whole arrays, and tests for kinds of numbers."""

from __future__ import annotations

__all__: list[str] = []
