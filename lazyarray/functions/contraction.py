"""einsum, whose order of contractions opt_einsum finds."""

from __future__ import annotations

__all__: list[str] = []
