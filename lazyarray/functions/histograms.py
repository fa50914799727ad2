"""Counting: histograms, bincount, digitize."""

from __future__ import annotations

__all__: list[str] = []
