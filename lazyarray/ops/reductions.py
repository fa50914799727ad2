"""Reductions: rows of ``ufunc.reduce``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from lazyarray.ops._rows import Choice, Reduction, Row
from lazyarray.ops.elementwise.slopes import choose, conj, equal, shared


def _doc(summary: str, name: str, choice: bool, first: bool) -> str:
    dtype = "dtype: what elements are cast to first.\n        " * choice
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


TABLE: dict[str, Row] = {}
GRADIENTS: dict[str, tuple[Callable[..., Any], ...]] = {}


def _reduction(
    kind: type[Reduction],
    name: str,
    ufunc: np.ufunc,
    section: str,
    summary: str,
    *,
    gradient: Callable[..., Any] | None = None,
    cost: float = 0.4,
    **special: Any,
) -> None:
    """Adds a row. Its rule is in the space of the input, along which the output is repeated."""
    doc = _doc(summary, name, kind is Choice, "largest" in special)
    TABLE[name] = kind(ufunc, name=name, section=section, doc=doc, cost=cost, **special)
    if gradient is not None:
        GRADIENTS[name] = (gradient,)


def repeated(y: Any) -> tuple[int, ...]:
    """The axes along which a reduction's result is repeated, over the space of its input."""
    steps = zip(y.shape, y.strides, strict=True)
    return tuple([i for i, (n, step) in enumerate(steps) if step == 0 and n > 1])


def product_rule(g: Any, a: Any, y: Any) -> Any:
    """y / a; where an element is zero, the product of the others."""
    zero, axes = equal(a, 0), repeated(y)
    zeros = zero.sum(axis=axes, keepdims=True)
    others = choose(zero, 1.0, a)
    product = others.prod(axis=axes, keepdims=True)
    # With one zero only its own gradient is left, with more of them none.
    alone = choose(equal(zeros, 1) & zero, product, 0.0)
    return g * conj(choose(equal(zeros, 0), product / others, alone))


def extreme_rule(g: Any, a: Any, y: Any) -> Any:
    """Shared among all elements that are the extreme."""
    return shared(g, a, y, True, repeated(y))


_statistic = partial(_reduction, section="statistics")
_logic = partial(_reduction, Choice, section="logic", decides=True)

_statistic(
    Reduction,
    "sum",
    np.add,
    summary="Sum over axes.",
    gradient=lambda g: g,
    pairwise=True,
    running="cumsum",
)
_statistic(
    Reduction,
    "prod",
    np.multiply,
    summary="Product over axes.",
    gradient=product_rule,
    cost=0.8,
    running="cumprod",
)
_statistic(
    Choice, "max", np.maximum, summary="Maximum over axes.", gradient=extreme_rule, largest=True
)
_statistic(
    Choice, "min", np.minimum, summary="Minimum over axes.", gradient=extreme_rule, largest=False
)
_logic("all", np.logical_and, summary="Whether all over the axes are true.")
_logic("any", np.logical_or, summary="Whether any over the axes is true.")

ALIASES: dict[str, str] = {"amax": "max", "amin": "min"}
