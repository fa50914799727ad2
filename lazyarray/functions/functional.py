"""Functions of functions: apply_along_axis, vectorize, piecewise, select, fromfunction."""

from __future__ import annotations

__all__: list[str] = []
