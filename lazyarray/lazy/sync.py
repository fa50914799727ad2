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

    @property
    def where(self) -> str:
        """The line, and the function that it is in."""
        return f"{self.file}:{self.line} in {self.function}" if self.line else self.file


class SyncReport(list[SyncRow]):
    """Rows by time spent, most first; ``str()`` is a table, ``total`` the number of waits."""

    @property
    def total(self) -> int:
        """How many waits there were, those on complete values included."""
        return sum(row.count for row in self)

    @property
    def seconds(self) -> float:
        """The time spent waiting, of all threads together."""
        return sum(row.seconds for row in self)

    def __str__(self) -> str:
        wide = max((len(row.what) for row in self), default=0)
        lines = [f"{'waits':>8} {'ms':>10}  {'what':<{wide}}  where"]
        for row in self:
            figures = f"{row.count:>8} {row.seconds * 1e3:>10.3f}"
            lines.append(f"{figures}  {row.what:<{wide}}  {row.where}")
        lines.append(f"{self.total:>8} {self.seconds * 1e3:>10.3f}  in all")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        import html

        rows = [
            f"<tr><td>{row.count}</td><td>{row.seconds * 1e3:.3f}</td>"
            f"<td>{html.escape(row.what)}</td><td><code>{html.escape(row.where)}</code></td></tr>"
            for row in self
        ]
        head = "<tr><th>waits</th><th>ms</th><th>what</th><th>where</th></tr>"
        foot = f"<tr><td>{self.total}</td><td>{self.seconds * 1e3:.3f}</td><td>in all</td></tr>"
        return f"<table>{head}{''.join(rows)}{foot}</table>"


def sync_report(*, reset: bool = False) -> SyncReport:
    """Every wait so far by its line; ``reset`` starts the count anew.

    The line is the innermost one outside this package. A wait for values that were there takes no
    time. Of more than 10 000 places the cheapest are added up in one row, ``<elsewhere>``.

    Args:
        reset: whether the count starts anew.
    Returns: a :class:`SyncReport`, a list of rows that prints as a table.
    Raises: nothing.

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
