"""What gradient rules are composed of.

The gradient of a real function f of complex z = x + iy is df/dx + i df/dy, as PyTorch has it: so
holomorphic ops multiply by the conjugate of their derivative.
"""

from __future__ import annotations

from typing import Any

from lazyarray.lazy._lazy import Tensor
from lazyarray.ops._rows import asarray, select
from lazyarray.ops.elementwise.op import TABLE


def call(name: str, *operands: Any) -> Any:
    """The op of that name: rules are written before all ops are there."""
    return TABLE[name](*operands)


def conj(x: Any) -> Any:
    """The conjugate: ``x`` itself where it is real."""
    if isinstance(x, complex):
        return x.conjugate()
    return call("conjugate", x) if isinstance(x, Tensor) and x.dtype.kind == "c" else x


def choose(condition: Any, x: Any, y: Any) -> Any:
    """``x`` where the condition is true, else ``y``."""
    return select(asarray(condition), x, y)


def equal(x: Any, y: Any) -> Any:
    """Where two are equal."""
    return x == y


def nonzero(x: Any) -> Any:
    """``x`` with ones for its zeros, to be divided by."""
    return choose(equal(x, 0), 1.0, x)


def lost(a: Any, y: Any) -> Any:
    """Zeros, but NaN where ``a`` is one and so the result: a choice has no slope there.

    (What ignores NaN, as ``fmax`` does, has other results.)
    """
    return choose(equal(a, a) | equal(y, y), 0.0, a.detach())


def apart(x: Any, y: Any) -> Any:
    """x - y, 0 where both are one infinity."""
    same = equal(x, y)
    return choose(same, 0.0, x) - choose(same, 0.0, y)


def shared(g: Any, a: Any, y: Any, mask: Any, axes: tuple[int, ...]) -> Any:
    """The gradient of an extreme, shared among all elements that are it."""
    hits = equal(a, y) if mask is True else equal(a, y) & mask
    count = call("maximum", hits.sum(axis=axes, keepdims=True), 1)  # none equals a NaN
    return choose(hits, g / count.astype(g.dtype), lost(a, y))


def transposed(x: Any) -> Any:
    """Matrices, conjugated and transposed."""
    return conj(x.mT)
