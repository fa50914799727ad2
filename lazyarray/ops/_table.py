"""The op table, whole: the rows by their names, other names of some, and their gradient rules."""

from __future__ import annotations

import numpy as np

from lazyarray.ops import elementwise, reductions
from lazyarray.ops._rows import MatMul, Row
from lazyarray.ops.elementwise.op import Rule
from lazyarray.ops.elementwise.slopes import transposed

_MATMUL = """Matrix product; axes before the last two are a stack.

    Args:
        a: matrices (..., M, K), or a vector (K,).
        b: matrices (..., K, N), or a vector (K,).
        axes: the axes of these and of the result: [(-2, -1)] * 3 is what None stands for.
    Returns: an array (..., M, N), without the axis that a vector has not.
    Raises: ValueError for a number, if the lengths differ, or if the stacks do not broadcast.

    >>> import lazyarray as la
    >>> la.matmul([[1, 2], [3, 4]], [1, 1]).asnumpy()
    array([3, 7])
    """

table: dict[str, Row] = {
    **elementwise.TABLE,
    **reductions.TABLE,
    "matmul": MatMul(np.matmul, section="linear algebra", doc=_MATMUL),
}
aliases: dict[str, str] = {**elementwise.ALIASES, **reductions.ALIASES}
gradients: dict[str, tuple[Rule, ...]] = {
    **elementwise.GRADIENTS,
    **reductions.GRADIENTS,
    "matmul": (lambda g, b: g @ transposed(b), lambda g, a: transposed(a) @ g),
}
