"""Reductions that leave NaNs out."""

from __future__ import annotations

__all__: list[str] = []
