"""Differences, integrals, interpolation, filters of sampled functions."""

from __future__ import annotations

__all__: list[str] = []
