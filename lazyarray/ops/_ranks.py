"""The gradient of medians and quantiles, whose results lie between two neighbours by size."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.lazy._lazy import paused
from lazyarray.ops import elementwise
from lazyarray.ops._moves import numbers
from lazyarray.ops._rows import scatter, select
from lazyarray.ops.indexing import take_along_axis
from lazyarray.ops.manipulation import permute_dims
from lazyarray.ops.sorting import argsort

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray

_isnan, _floor, _minimum, _invert = [
    elementwise.TABLE[name] for name in ("isnan", "floor", "minimum", "invert")
]


def by_rank(axes: tuple[int, ...], ranked: Callable[[NDArray], NDArray]) -> Callable[..., Any]:
    """The gradient rule of medians and quantiles over ``axes``: what lies between two ranks.

    ``ranked`` is the function itself; of the ranks of x's elements in place of these it gives the
    rank, or where between two ranks, each result is found at.
    """

    def rule(g: NDArray, a: NDArray) -> NDArray:
        rest = [i for i in range(a.ndim) if i not in axes]
        n = math.prod([a.shape[i] for i in axes])

        def rows(x: NDArray) -> NDArray:
            return permute_dims(x, [*rest, *axes]).reshape(-1, n)

        with paused():
            order = argsort(rows(a), -1)
            ranks = argsort(order, -1).astype(np.float64)
            gaps = _isnan(rows(a))  # they come last, and have no rank
            inverse = np.argsort([*rest, *axes]).tolist()
            lengths = [a.shape[i] for i in (*rest, *axes)]
            ranks = select(gaps, np.nan, ranks)
            ranks = permute_dims(ranks.reshape(lengths), inverse)
            count = order.shape[0]
            at = ranked(ranks).reshape(-1, count).T  # for each row of x its results
            known = _invert(_isnan(at))
            # A NaN that makes a result one has no slope.
            lost = gaps & _invert(known.all(axis=1, keepdims=True))
            lost = permute_dims(lost.reshape(lengths), inverse)
            at = select(known, at, 0.0)
            low = _floor(at)
            elements = take_along_axis(rows(numbers(a)), order, -1)
            below = low.astype(np.intp)
            above = _minimum(below + 1, n - 1)
        share = (at - low).astype(g.dtype)
        g = select(known, g.reshape(-1, count).T, 0.0)
        total: Any = 0
        for places, part in ((below, g * (1 - share)), (above, g * share)):
            index = take_along_axis(elements, places, -1).reshape(-1)
            total = total + scatter(part.reshape(-1), index, 0, (a.size,))
        found: NDArray = select(lost, a.detach(), total.reshape(a.shape))
        return found

    return rule
