"""The report of waits: where a program synchronised, how often, for how long."""

from __future__ import annotations

from typing import NamedTuple

from lazyarray.lazy._lazy import sync_rows


class SyncRow(NamedTuple):
    """One place that waits."""

    file: str
    line: int
    function: str
    what: str
    count: int  # type: ignore[assignment]  # hides the tuple's method
    seconds: float


class SyncReport(list[SyncRow]):
    """Rows by time spent, most first; ``str()`` is a table, ``total`` the number of waits."""

    @property
    def total(self) -> int:
        """How many waits there were, those on complete values included."""
        return sum(row.count for row in self)

    def __str__(self) -> str:
        lines = [f"{'waits':>8} {'ms':>10}  what and where"]
        for row in self:
            where = f"{row.what} at {row.file}:{row.line} in {row.function}"
            lines.append(f"{row.count:>8} {row.seconds * 1e3:>10.3f}  {where}")
        return "\n".join(lines)


def sync_report(*, reset: bool = False) -> SyncReport:
    """Every wait so far by its line; ``reset`` starts the count anew.

    >>> import lazyarray as la
    >>> _ = la.sync_report(reset=True)
    >>> x = float(la.ones(3).sum())
    >>> la.sync_report().total
    1
    """
    return SyncReport(
        SyncRow(file, line, function, what, count, ns / 1e9)
        for file, line, function, what, count, ns in sync_rows(reset)
    )
