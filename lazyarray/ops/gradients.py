"""The gradient rules of the op table's rows, and of the native instructions that are no rows.

A row is ``name: (rule for input a, rule for input b, ...)``. A rule is a function whose parameters
say what it needs: ``g`` the gradient of the output (``h`` that of a second one), ``a b c`` the
inputs, ``y`` the output (``z`` a second one); what no rule names is not kept. It gives what is added
to the input's gradient; ``None`` in place of a rule: zero everywhere. All arrays have the op's
iteration space, so rules know nothing of views, broadcasting or axes.

The gradient of a real function f of complex z = x + iy is df/dx + i df/dy, as PyTorch has it: so
holomorphic ops multiply by the conjugate of their derivative.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lazyarray.lazy._lazy import Tensor, set_gradients
from lazyarray.ops._rows import asarray, select
from lazyarray.ops.elementwise import TABLE as _E
from lazyarray.ops.manipulation import broadcast_to

Rule = Callable[..., Any] | None

_OPERANDS = {"a": 0, "b": 1, "c": 2}


def _conj(x: Any) -> Any:
    """The conjugate: ``x`` itself where it is real."""
    if isinstance(x, complex):
        return x.conjugate()
    return _E["conjugate"](x) if isinstance(x, Tensor) and x.dtype.kind == "c" else x


def _where(condition: Any, x: Any, y: Any) -> Any:
    return select(asarray(condition), x, y)


def _fn(name: str) -> Any:
    return _E[name]


_exp, _log, _sin, _cos, _sqrt = map(_fn, ("exp", "log", "sin", "cos", "sqrt"))
_sinh, _cosh, _sign, _abs, _equal = map(_fn, ("sinh", "cosh", "sign", "absolute", "equal"))


def _power_base(g: Any, a: Any, b: Any) -> Any:
    """b a^(b-1), and 0 where b is 0 (a may be 0, too)."""
    if isinstance(b, (int, float)):
        return g * (b * a ** (b - 1)) if b else g * 0
    return g * _conj(_where(_equal(b, 0), 0.0, b * a ** _where(_equal(b, 0), 1.0, b - 1)))


def _power_exponent(g: Any, a: Any, y: Any) -> Any:
    """a^b log(a), and 0 where a is 0."""
    return g * _conj(y * _log(_where(_equal(a, 0), 1.0, a)))


def _chosen(better: str) -> tuple[Rule, Rule]:
    """The rules of maximum and its kin: where the inputs are equal each gets a half."""
    row = _E[better]

    def first(g: Any, a: Any, b: Any) -> Any:
        return g * (row(a, b) + 0.5 * _equal(a, b)).astype(g.dtype, copy=False)

    def second(g: Any, a: Any, b: Any) -> Any:
        return g * (row(b, a) + 0.5 * _equal(a, b)).astype(g.dtype, copy=False)

    return first, second


def _same_kind(g: Any, a: Any) -> Any:
    """``g`` as a's kind of number: the real part, where a gradient of reals came out complex."""
    return g.real if g.dtype.kind == "c" and a.dtype.kind != "c" else g


def _absolute(g: Any, a: Any, y: Any) -> Any:
    if a.dtype.kind == "c":
        return _where(_equal(y, 0), 0.0, g * a / _where(_equal(y, 0), 1.0, y))
    return g * _sign(a)


def _prod(g: Any, a: Any, y: Any) -> Any:
    """y / a; where an element is zero, the product of the others."""
    zero = _equal(a, 0)
    axes = tuple(
        i for i, (n, s) in enumerate(zip(y.shape, y.strides, strict=True)) if s == 0 and n > 1
    )
    zeros = zero.sum(axis=axes, keepdims=True)
    others = _where(zero, 1.0, a)
    product = others.prod(axis=axes, keepdims=True)
    # With one zero only its own gradient is left, with more of them none.
    alone = _where(_equal(zeros, 1) & zero, product, 0.0)
    return g * _conj(_where(_equal(zeros, 0), product / others, alone))


def _extreme(g: Any, a: Any, y: Any) -> Any:
    """Shared among all elements that are the extreme."""
    hits = _equal(a, y)
    axes = tuple(
        i for i, (n, s) in enumerate(zip(y.shape, y.strides, strict=True)) if s == 0 and n > 1
    )
    return (
        g
        * hits
        / hits.sum(axis=axes, keepdims=True, dtype=a.dtype if a.dtype.kind == "f" else None)
    )


def _transposed(x: Any) -> Any:
    return _conj(x.mT)


def _diagonal(a: Any, values: Any) -> Any:
    """Matrices with ``values`` (...) times the identity."""
    return values[..., None, None] * asarray(np.eye(a.shape[-1], dtype=a.dtype))


def _cholesky(g: Any, y: Any) -> Any:
    """Murray (2016), "Differentiation of the Cholesky decomposition"."""
    from lazyarray import linalg

    n = y.shape[-1]
    inverse = linalg.inv(y)
    low = asarray(np.tril(np.ones((n, n), y.real.dtype)) - 0.5 * np.eye(n, dtype=y.real.dtype))
    s = _transposed(inverse) @ (low * (_transposed(y) @ g)) @ inverse
    return (s + _transposed(s)) / 2


def _cholesky_up(g: Any, y: Any) -> Any:
    return _cholesky(_transposed(g), _transposed(y))


def _solve1_matrix(g: Any, a: Any, y: Any) -> Any:
    return _solve_matrix(g[..., None], a, y[..., None])


def _solve_matrix(g: Any, a: Any, y: Any) -> Any:
    from lazyarray import linalg

    return -(linalg.solve(_transposed(a), g) @ _transposed(y))


def _solve_right(g: Any, a: Any) -> Any:
    from lazyarray import linalg

    return linalg.solve(_transposed(a), g)


def _det(g: Any, a: Any, y: Any) -> Any:
    from lazyarray import linalg

    return (g * _conj(y))[..., None, None] * _transposed(linalg.inv(a))


_LN2, _LN10 = math.log(2.0), math.log(10.0)
_DEGREE = math.pi / 180
_zero: tuple[Rule, Rule] = (None, None)

RULES: dict[str, tuple[Rule, ...]] = {
    # arithmetic
    "add": (lambda g: g, lambda g: g),
    "subtract": (lambda g: g, lambda g: -g),
    "multiply": (lambda g, b: g * _conj(b), lambda g, a: g * _conj(a)),
    "divide": (lambda g, b: g / _conj(b), lambda g, b, y: -g * _conj(y / b)),
    "floor_divide": _zero,
    "remainder": (lambda g: g, lambda g, a, b: -g * _E["floor_divide"](a, b)),
    "fmod": (lambda g: g, lambda g, a, b: -g * _E["trunc"](a / b)),
    "divmod": (lambda h: h, lambda h, y: -h * y),
    "power": (_power_base, _power_exponent),
    "float_power": (_power_base, _power_exponent),
    "negative": (lambda g: -g,),
    "positive": (lambda g: g,),
    "reciprocal": (lambda g, y: -g * _conj(y * y),),
    "square": (lambda g, a: g * _conj(2 * a),),
    "sqrt": (lambda g, y: g / _conj(2 * y),),
    "cbrt": (lambda g, y: g / (3 * y * y),),
    "absolute": (_absolute,),
    "fabs": (lambda g, a: g * _sign(a),),
    "sign": (None,),
    "copysign": (lambda g, a, b: g * _sign(a) * _E["copysign"](1.0, b), None),
    "conjugate": (lambda g: _conj(g),),
    "maximum": _chosen("greater"),
    "minimum": _chosen("less"),
    "fmax": _chosen("greater"),
    "fmin": _chosen("less"),
    "hypot": (lambda g, a, y: g * a / y, lambda g, b, y: g * b / y),
    "heaviside": (None, lambda g, a: g * _equal(a, 0)),
    # exponents and logarithms
    "exp": (lambda g, y: g * _conj(y),),
    "exp2": (lambda g, y: g * _conj(y * _LN2),),
    "expm1": (lambda g, y: g * _conj(y + 1),),
    "log": (lambda g, a: g / _conj(a),),
    "log2": (lambda g, a: g / _conj(a * _LN2),),
    "log10": (lambda g, a: g / _conj(a * _LN10),),
    "log1p": (lambda g, a: g / _conj(a + 1),),
    "logaddexp": (lambda g, a, y: g * _exp(a - y), lambda g, b, y: g * _exp(b - y)),
    "logaddexp2": (lambda g, a, y: g * _E["exp2"](a - y), lambda g, b, y: g * _E["exp2"](b - y)),
    "ldexp": (lambda g, b: g * _E["exp2"](asarray(b).astype(g.dtype)), None),
    "frexp": (lambda g, z: g * _E["ldexp"](asarray(1.0).astype(g.dtype), -z),),
    # trigonometry
    "sin": (lambda g, a: g * _conj(_cos(a)),),
    "cos": (lambda g, a: -g * _conj(_sin(a)),),
    "tan": (lambda g, y: g * _conj(1 + y * y),),
    "arcsin": (lambda g, a: g / _conj(_sqrt(1 - a * a)),),
    "arccos": (lambda g, a: -g / _conj(_sqrt(1 - a * a)),),
    "arctan": (lambda g, a: g / _conj(1 + a * a),),
    "arctan2": (
        lambda g, a, b: g * b / (a * a + b * b),
        lambda g, a, b: -g * a / (a * a + b * b),
    ),
    "sinh": (lambda g, a: g * _conj(_cosh(a)),),
    "cosh": (lambda g, a: g * _conj(_sinh(a)),),
    "tanh": (lambda g, y: g * _conj(1 - y * y),),
    "arcsinh": (lambda g, a: g / _conj(_sqrt(a * a + 1)),),
    "arccosh": (lambda g, a: g / _conj(_sqrt(a - 1) * _sqrt(a + 1)),),
    "arctanh": (lambda g, a: g / _conj(1 - a * a),),
    "deg2rad": (lambda g: g * _DEGREE,),
    "radians": (lambda g: g * _DEGREE,),
    "rad2deg": (lambda g: g / _DEGREE,),
    "degrees": (lambda g: g / _DEGREE,),
    # rounding
    **dict.fromkeys(("floor", "ceil", "trunc", "rint", "spacing"), (None,)),
    "modf": (lambda g: g,),
    "nextafter": (lambda g: g, None),
    # selection and movement
    "copy": (lambda g: g,),
    "cast": (lambda g: g,),
    "where": (None, lambda g, a: _where(a, g, 0.0), lambda g, a: _where(a, 0.0, g)),
    "clip": (
        lambda g, a, y: _where(_equal(a, y), g, 0.0),
        lambda g, a, b: _where(_E["less"](a, b), g, 0.0),
        lambda g, a, c: _where(_E["greater"](a, c), g, 0.0),
    ),
    # reductions: in the space of the input, along which the output is repeated
    "sum": (lambda g: g,),
    "prod": (_prod,),
    "max": (_extreme,),
    "min": (_extreme,),
    # linear algebra: stacks of matrices
    "matmul": (lambda g, b: g @ _transposed(b), lambda g, a: _transposed(a) @ g),
    "vecdot": (
        lambda g, b: _conj(g)[..., None] * b,
        lambda g, a: g[..., None] * a,
    ),
    "matvec": (
        lambda g, b: g[..., :, None] * _conj(b)[..., None, :],
        lambda g, a: (_transposed(a) @ g[..., None])[..., 0],
    ),
    "vecmat": (
        lambda g, b: (b @ _conj(g)[..., None])[..., 0],
        lambda g, a: a[..., :, None] * g[..., None, :],
    ),
    "linalg.inv": (lambda g, y: -(_transposed(y) @ g @ _transposed(y)),),
    "linalg.solve": (_solve_matrix, _solve_right),
    "linalg.det": (_det,),
    "linalg.solve1": (_solve1_matrix, _solve_right),
    "linalg.cholesky_lo": (_cholesky,),
    "linalg.cholesky_up": (_cholesky_up,),
}


def of_reduction(name: str, shape: tuple[int, ...], axes: tuple[int, ...]) -> Callable[..., Any]:
    """The rule of a reduction that is a call: that of the instruction, over x's axes."""
    (rule,) = RULES[name]
    named = () if rule is None else tuple(inspect.signature(rule).parameters)
    kept = tuple([1 if i in axes else n for i, n in enumerate(shape)])

    def gradients(g: list[Any], saved: list[Any]) -> list[Any]:
        def spread(v: Any) -> Any:
            return broadcast_to(v.reshape(kept), shape)

        values = {"g": spread(g[0]), "a": saved[0], "y": spread(saved[1])}
        return [rule(**{p: values[p] for p in named})] if rule else [None]

    return gradients


_NUMBERS = _OPERANDS | {"g": -1, "h": -2}


def _numbered(name: str, rules: tuple[Rule, ...]) -> list[tuple[Rule, list[int]]]:
    """Each rule with the operands that its parameters name."""
    numbers = _NUMBERS | {"y": len(rules), "z": len(rules) + 1}
    found: list[tuple[Rule, list[int]]] = []
    for rule in rules:
        named = [] if rule is None else inspect.signature(rule).parameters
        found.append((rule, [numbers[p] for p in named]))
    return found


set_gradients({name: _numbered(name, rules) for name, rules in RULES.items()})
