"""Reductions: rows of ``ufunc.reduce``."""

from __future__ import annotations

import numpy as np

from lazyarray.ops._rows import Choice, Reduction, Row


def _doc(summary: str, name: str, first: bool) -> str:
    dtype = "" if name in ("sum", "prod") else "dtype: what elements are cast to first.\n        "
    empty = "\n    Raises: ValueError without an element or an ``initial`` one." if first else ""
    return f"""{summary}

    Args:
        {dtype}axis: the axis, or several as a tuple; None: all.
    Returns: an array without these axes.{empty}

    >>> import numpy as np, lazyarray as la
    >>> x = np.array([[0.0, 2.0], [3.0, 4.0]])
    >>> la.{name}(la.array(x), axis=1).asnumpy() == np.{name}(x, axis=1)
    array([ True,  True])
    """


def _row(
    name: str, ufunc: np.ufunc, section: str, summary: str, first: bool = False, cost: float = 0.4
) -> Row:
    doc = _doc(summary, name, first)
    row = Reduction if name in ("sum", "prod") else Choice
    return row(ufunc, name=name, section=section, doc=doc, first=first, cost=cost)


TABLE: dict[str, Row] = {
    "sum": _row("sum", np.add, "statistics", "Sum over axes."),
    "prod": _row("prod", np.multiply, "statistics", "Product over axes.", cost=0.8),
    "max": _row("max", np.maximum, "statistics", "Maximum over axes.", first=True),
    "min": _row("min", np.minimum, "statistics", "Minimum over axes.", first=True),
    "all": _row("all", np.logical_and, "logic", "Whether all over the axes are true."),
    "any": _row("any", np.logical_or, "logic", "Whether any over the axes is true."),
}

ALIASES: dict[str, str] = {"amax": "max", "amin": "min"}

_sum = TABLE["sum"]
