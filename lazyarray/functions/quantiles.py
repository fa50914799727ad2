"""Quantiles: percentile, quantile, and what they share."""

from __future__ import annotations

__all__: list[str] = []
