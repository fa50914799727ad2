"""Polynomials as vectors of coefficients."""

from __future__ import annotations

__all__: list[str] = []
