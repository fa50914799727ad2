"""The rest of NumPy's main namespace: functions composed of the op table's, a file a subject."""

from __future__ import annotations

from lazyarray.functions import (
    bits,
    calculus,
    contraction,
    correlation,
    files,
    functional,
    histograms,
    index_tricks,
    iterators,
    logic,
    mapped,
    nanfunctions,
    padding,
    polynomials,
    quantiles,
    sets,
    text,
    windows,
)

SECTIONS = [
    bits,
    calculus,
    contraction,
    correlation,
    files,
    functional,
    histograms,
    index_tricks,
    iterators,
    logic,
    mapped,
    nanfunctions,
    padding,
    polynomials,
    quantiles,
    sets,
    text,
    windows,
]
