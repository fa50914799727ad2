"""Distributions: a stream with the methods that the table of distributions makes.

The stub beside this file lists them; it is written by tools/make_stubs.py.
"""

from __future__ import annotations

from lazyarray.random.samples import Samples
from lazyarray.random.table import TABLE, method


class Distributions(Samples):
    """The part of a stream that draws independent numbers."""


for _row in TABLE:
    setattr(Distributions, _row.name, method(_row, "Distributions", __name__))
