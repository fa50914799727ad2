"""Bits packed in bytes."""

from __future__ import annotations

__all__: list[str] = []
