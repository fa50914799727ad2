"""Discrete Fourier transforms: ``numpy.fft`` as asynchronous ops."""

from __future__ import annotations

__all__: list[str] = []
