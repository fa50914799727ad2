"""Sets of values: unique and its kin, membership, unions."""

from __future__ import annotations

__all__: list[str] = []
