"""The rows of the op table by their public names, aliases included.

``names.pyi`` lists them for type checkers and editors: ``tools/make_stubs.py`` writes it.
"""

from __future__ import annotations

from lazyarray.ops._table import aliases, table

_rows = {**table, **{alias: table[name] for alias, name in aliases.items()}}
globals().update(_rows)

__all__ = sorted(_rows)
