"""Python's operators, by its functions of them, and the rows that compute them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from lazyarray.ops import names as op
from lazyarray.ops._rows import Row

BINARY: dict[Callable[..., Any], Row] = {
    operator.add: op.add,
    operator.sub: op.subtract,
    operator.mul: op.multiply,
    operator.truediv: op.divide,
    operator.floordiv: op.floor_divide,
    operator.mod: op.remainder,
    divmod: op.divmod,
    operator.pow: op.power,
    operator.matmul: op.matmul,
    operator.and_: op.bitwise_and,
    operator.or_: op.bitwise_or,
    operator.xor: op.bitwise_xor,
    operator.lshift: op.left_shift,
    operator.rshift: op.right_shift,
}
COMPARISONS: dict[Callable[..., Any], Row] = {
    operator.eq: op.equal,
    operator.ne: op.not_equal,
    operator.lt: op.less,
    operator.le: op.less_equal,
    operator.gt: op.greater,
    operator.ge: op.greater_equal,
}
UNARY: dict[Callable[..., Any], Row] = {
    operator.neg: op.negative,
    operator.pos: op.positive,
    operator.abs: op.absolute,
    operator.invert: op.invert,
}


# By the names of the methods, and of the reflected ones.
METHODS = {f"__{f.__name__.rstrip('_')}__": r for f, r in (BINARY | COMPARISONS | UNARY).items()}
REFLECTED = {f"__r{f.__name__.rstrip('_')}__": row for f, row in BINARY.items()}
