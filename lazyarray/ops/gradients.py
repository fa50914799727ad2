"""The gradient rules of the op table's rows, and of the native instructions that are no rows.

A row is ``name: (rule for input a, rule for input b, ...)``. A rule is a function whose parameters
say what it needs: ``g`` the gradient of the output (``h`` that of a second one), ``a b c`` the
inputs, ``y`` the output (``z`` a second one); what no rule names is not kept. It gives what is
added to the input's gradient; ``None`` in place of a rule: zero everywhere. All arrays have the
op's iteration space, so rules know nothing of views, broadcasting or axes.

The gradient of a real function f of complex z = x + iy is df/dx + i df/dy, as PyTorch has it: so
holomorphic ops multiply by the conjugate of their derivative.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from lazyarray.lazy._lazy import Tensor, note_call, set_gradients, tracked
from lazyarray.ops import _rows
from lazyarray.ops._differentiable import parameters, refuse, summed_to
from lazyarray.ops._layout import viewed
from lazyarray.ops._rows import array, asarray, select
from lazyarray.ops.elementwise import TABLE as _E
from lazyarray.ops.lapack import lapack

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


def _nonzero(x: Any) -> Any:
    """``x`` with ones for its zeros, to be divided by."""
    return _where(_equal(x, 0), 1.0, x)


def lost(a: Any, y: Any) -> Any:
    """Zeros, but NaN where ``a`` is one and so the result: a choice has no slope there.

    (What ignores NaN, as ``fmax`` does, has other results.)
    """
    return _where(_equal(a, a) | _equal(y, y), 0.0, a.detach())


def _power_base(g: Any, a: Any, b: Any) -> Any:
    """b a^(b-1), and 0 where b is 0 (a may be 0, too)."""
    if not isinstance(b, Tensor):
        return g * _conj(b * a ** (b - 1)) if b else g * 0
    return g * _conj(_where(_equal(b, 0), 0.0, b * a ** _where(_equal(b, 0), 1.0, b - 1)))


def _power_exponent(g: Any, a: Any, b: Any, y: Any) -> Any:
    """a^b log(a), and 0 where a is 0."""
    if not isinstance(a, Tensor):
        if a == 0:
            return g * lost(b, y)
        if isinstance(a, (int, float)) and a < 0:
            return g * math.nan
        return g * _conj(y * (cmath.log(a) if isinstance(a, complex) else math.log(a)))
    return g * _conj(_where(_equal(a, 0), lost(b, y), y * _log(_nonzero(a))))


def _first_chosen(g: Any, a: Any, b: Any, y: Any) -> Any:
    """Of maximum and its kin: where the inputs are equal each gets a half."""
    return _where(_equal(a, b), 0.5 * g, _where(_equal(a, y), g, lost(a, y)))


def _second_chosen(g: Any, a: Any, b: Any, y: Any) -> Any:
    return _first_chosen(g, b, a, y)


def _apart(x: Any, y: Any) -> Any:
    """x - y, 0 where both are one infinity."""
    same = _equal(x, y)
    return _where(same, 0.0, x) - _where(same, 0.0, y)


def _unit(g: Any, a: Any, y: Any) -> Any:
    """Of sign: of complex numbers the part across their direction, over their length."""
    if a.dtype.kind != "c":
        return None
    return _where(_equal(y, 0), 0.0, (g - y * (_conj(g) * y).real) / _nonzero(_abs(a)))


def _clip_low(g: Any, a: Any, b: Any, c: Any, y: Any) -> Any:
    return _where(_E["less"](a, b) & _E["less_equal"](b, c), g, lost(b, y))


def _clip_high(g: Any, a: Any, b: Any, c: Any, y: Any) -> Any:
    return _where(_E["greater"](_E["maximum"](a, b), c), g, lost(c, y))


def _repeated(y: Any) -> tuple[int, ...]:
    """The axes along which a reduction's result is repeated, over the space of its input."""
    steps = zip(y.shape, y.strides, strict=True)
    return tuple([i for i, (n, step) in enumerate(steps) if step == 0 and n > 1])


def _prod(g: Any, a: Any, y: Any) -> Any:
    """y / a; where an element is zero, the product of the others."""
    zero, axes = _equal(a, 0), _repeated(y)
    zeros = zero.sum(axis=axes, keepdims=True)
    others = _where(zero, 1.0, a)
    product = others.prod(axis=axes, keepdims=True)
    # With one zero only its own gradient is left, with more of them none.
    alone = _where(_equal(zeros, 1) & zero, product, 0.0)
    return g * _conj(_where(_equal(zeros, 0), product / others, alone))


def _extreme(g: Any, a: Any, y: Any) -> Any:
    """Shared among all elements that are the extreme."""
    return _shared(g, a, y, True, _repeated(y))


def _shared(g: Any, a: Any, y: Any, mask: Any, axes: tuple[int, ...]) -> Any:
    hits = _equal(a, y) & mask
    count = _E["maximum"](hits.sum(axis=axes, keepdims=True), 1)  # none equals a NaN
    return _where(hits, g / count.astype(g.dtype), lost(a, y))


def _transposed(x: Any) -> Any:
    return _conj(x.mT)


def _cholesky(g: Any, y: Any) -> Any:
    """Murray (2016), "Differentiation of the Cholesky decomposition"."""
    n = y.shape[-1]
    inverse = lapack("inv", y)
    half = np.tril(np.ones((n, n), y.real.dtype)) - 0.5 * np.eye(n, dtype=y.real.dtype)
    s = _transposed(inverse) @ (array(half, None, y.device) * (_transposed(y) @ g)) @ inverse
    return (s + _transposed(s)) / 2


def _cholesky_up(g: Any, y: Any) -> Any:
    return _cholesky(_transposed(g), _transposed(y))


def _solve_matrix(g: Any, a: Any, y: Any) -> Any:
    return -(lapack("solve", _transposed(a), g) @ _transposed(y))


def _solve1_matrix(g: Any, a: Any, y: Any) -> Any:
    return _solve_matrix(g[..., None], a, y[..., None])


def _det(g: Any, a: Any, y: Any) -> Any:
    return (g * _conj(y))[..., None, None] * _transposed(lapack("inv", a))


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
    "root": (lambda g, y: g / _conj(2 * _nonzero(y)),),
    "cbrt": (lambda g, y: g / (3 * y * y),),
    "absolute": (lambda g, a: g * _sign(a),),
    "fabs": (lambda g, a: g * _sign(a),),
    "sign": (_unit,),
    "copysign": (lambda g, a, y: g * (_sign(a) * _sign(y)), None),
    "conjugate": (lambda g: _conj(g),),
    **dict.fromkeys(("maximum", "minimum", "fmax", "fmin"), (_first_chosen, _second_chosen)),
    "hypot": (lambda g, a, y: g * a / _nonzero(y), lambda g, b, y: g * b / _nonzero(y)),
    "heaviside": (None, lambda g, a: g * (a == 0)),
    # exponents and logarithms
    "exp": (lambda g, y: g * _conj(y),),
    "exp2": (lambda g, y: g * _conj(y * _LN2),),
    "expm1": (lambda g, y: g * _conj(y + 1),),
    "log": (lambda g, a: g / _conj(a),),
    "log2": (lambda g, a: g / _conj(a * _LN2),),
    "log10": (lambda g, a: g / _conj(a * _LN10),),
    "log1p": (lambda g, a: g / _conj(a + 1),),
    "logaddexp": (
        lambda g, a, y: g * _exp(_apart(a, y)),
        lambda g, b, y: g * _exp(_apart(b, y)),
    ),
    "logaddexp2": (
        lambda g, a, y: g * _E["exp2"](_apart(a, y)),
        lambda g, b, y: g * _E["exp2"](_apart(b, y)),
    ),
    "ldexp": (lambda g, b: _E["ldexp"](g, b), None),
    "frexp": (lambda g, z: _E["ldexp"](g, -z),),
    # trigonometry
    "sin": (lambda g, a: g * _conj(_cos(a)),),
    "cos": (lambda g, a: -g * _conj(_sin(a)),),
    "tan": (lambda g, y: g * _conj(1 + y * y),),
    "arcsin": (lambda g, a: g / _conj(_sqrt(1 - a * a)),),
    "arccos": (lambda g, a: -g / _conj(_sqrt(1 - a * a)),),
    "arctan": (lambda g, a: g / _conj(1 + a * a),),
    "arctan2": (
        lambda g, a, b: g * b / _nonzero(a * a + b * b),
        lambda g, a, b: -g * a / _nonzero(a * a + b * b),
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
    "copyto": (lambda g: g,),
    "cast": (lambda g: g,),
    "where": (None, lambda g, a: _where(a, g, 0.0), lambda g, a: _where(a, 0.0, g)),
    "clip": (
        lambda g, a, y: _where(_equal(a, y), g, lost(a, y)),
        _clip_low,
        _clip_high,
    ),
    # reductions: in the space of the input, along which the output is repeated
    "sum": (lambda g: g,),
    "prod": (_prod,),
    **dict.fromkeys(("max", "min", "nanmax", "nanmin"), (_extreme,)),
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
    "linalg.solve": (_solve_matrix, lambda g, a: lapack("solve", _transposed(a), g)),
    "linalg.solve1": (_solve1_matrix, lambda g, a: lapack("solve1", _transposed(a), g)),
    "linalg.det": (_det,),
    "linalg.cholesky_lo": (_cholesky,),
    "linalg.cholesky_up": (_cholesky_up,),
}


# ---- calls ---------------------------------------------------------------------------------------


def of_reduction(
    name: str, x: Any, y: Any, axes: tuple[int, ...], where: Any = None, initial: Any = None
) -> None:
    """Notes a reduction over ``axes`` of x, or of where a mask is true, that is a call.

    ``initial`` is what it starts with: a constant.
    """
    kept = tuple([1 if i in axes else n for i, n in enumerate(x.shape)])
    shape, exact = x.shape, name == "sum"
    masks = [] if where is None else [where]

    def gradients(gs: list[Any], saved: list[Any]) -> list[Any]:
        g, *values = [
            viewed(v.reshape(kept), np.broadcast_to, shape)
            for v in (gs[0], *saved[len(masks) + 1 :])
        ]
        mask = saved[0] if masks else True
        if name == "prod":
            a = _where(mask, saved[-2], 1.0) if masks else saved[-2]
            g = _prod(g if initial is None else g * _conj(initial), a, values[0])
        elif not exact:
            g = _shared(g, saved[-2], values[0], mask, axes)
        return [_where(mask, g, 0.0) if masks else g]

    note_call(name, gradients, [x], [y], masks if exact else [*masks, x, y])


def of_masked(name: str, inputs: list[Any], where: Any, y: Any, keeps: bool) -> None:
    """Notes an elementwise op that is a call: computed where a mask is true (None: everywhere).

    ``keeps``: elsewhere y has what was in it.
    """
    if name not in RULES and name not in _E:
        refuse(name, *inputs, *([y] if keeps else []))
        return
    rules = RULES.get(name, (None,) * len(inputs))  # isnan and its kin: truth values
    shapes = [getattr(x, "shape", ()) for x in inputs]
    named = [parameters(r) for r in rules]
    places = {**dict(zip("abc", inputs, strict=False)), "y": y}
    wanted = [tracked(x) for x in inputs]
    needed = {p for i, names in enumerate(named) if wanted[i] for p in names}
    kept = [p for p, x in places.items() if p in needed and isinstance(x, Tensor)]
    fixed = {p: x for p, x in places.items() if not isinstance(x, Tensor)}
    masks = [] if where is None else [where]

    def gradients(gs: list[Any], saved: list[Any]) -> list[Any]:
        mask = saved[: len(masks)]
        values = fixed | dict(zip(kept, saved[len(masks) :], strict=True))
        values["g"] = _where(mask[0], gs[0], 0.0) if mask else gs[0]
        found: list[Any] = []
        for rule, names, shape, wants in zip(rules, named, shapes, wanted, strict=True):
            r = rule(**{p: values[p] for p in names}) if rule and wants else None
            if r is not None:
                r = summed_to(_where(mask[0], r, 0.0) if mask else r, shape)
            found.append(r)
        return [*found, _where(mask[0], 0.0, gs[0])] if keeps else found

    note_call(
        name, gradients, [*inputs, y] if keeps else inputs, [y], masks + [places[p] for p in kept]
    )


_NUMBERS = _OPERANDS | {"g": -1, "h": -2}


def _numbered(name: str, rules: tuple[Rule, ...]) -> list[tuple[Rule, list[int]]]:
    """Each rule with the operands that its parameters name."""
    numbers = _NUMBERS | {"y": len(rules), "z": len(rules) + 1}
    found: list[tuple[Rule, list[int]]] = []
    for rule in rules:
        found.append((rule, [numbers[p] for p in parameters(rule)]))
    return found


def teach(table: dict[str, tuple[Rule, ...]]) -> None:
    """Takes rules of instructions, as ``RULES`` has them."""
    RULES.update(table)
    set_gradients({name: _numbered(name, rules) for name, rules in table.items()})


teach(RULES)
_rows.teach(rules=RULES, of_reduction=of_reduction, of_masked=of_masked)
