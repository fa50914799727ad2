"""The gradient rules of native instructions: those of the table's rows, and of what is no row.

They are ``name: (rule for input a, rule for input b, ...)``; what a rule is says ``op()`` in
elementwise/op.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lazyarray.lazy._lazy import Tensor, note_call, set_gradients, tracked
from lazyarray.lazy.formulas import JOINS
from lazyarray.ops import _rows
from lazyarray.ops import names as op
from lazyarray.ops._differentiable import parameters, refuse, summed_to
from lazyarray.ops._layout import gil_op, viewed
from lazyarray.ops._rows import array
from lazyarray.ops._table import gradients, table
from lazyarray.ops.elementwise.op import Rule
from lazyarray.ops.elementwise.slopes import choose, conj, equal, lost, shared, transposed
from lazyarray.ops.lapack import lapack
from lazyarray.ops.reductions import product_rule

_OPERANDS = {"a": 0, "b": 1, "c": 2}


def _clip_low(g: Any, a: Any, b: Any, c: Any, y: Any) -> Any:
    return choose(op.less(a, b) & op.less_equal(b, c), g, lost(b, y))


def _clip_high(g: Any, a: Any, b: Any, c: Any, y: Any) -> Any:
    return choose(op.greater(op.maximum(a, b), c), g, lost(c, y))


def _cholesky(g: Any, y: Any) -> Any:
    """Murray (2016), "Differentiation of the Cholesky decomposition"."""
    n = y.shape[-1]
    inverse = lapack("inv", y)
    half = np.tril(np.ones((n, n), y.real.dtype)) - 0.5 * np.eye(n, dtype=y.real.dtype)
    s = transposed(inverse) @ (array(half, None, y.device) * (transposed(y) @ g)) @ inverse
    return (s + transposed(s)) / 2


def _cholesky_up(g: Any, y: Any) -> Any:
    return _cholesky(transposed(g), transposed(y))


def _solve_matrix(g: Any, a: Any, y: Any) -> Any:
    return -(lapack("solve", transposed(a), g) @ transposed(y))


def _solve1_matrix(g: Any, a: Any, y: Any) -> Any:
    return _solve_matrix(g[..., None], a, y[..., None])


def _det(g: Any, a: Any, y: Any) -> Any:
    """The cofactors: the inverse has them, and singular values those of a singular matrix."""
    singular = op.equal(y, 0)[..., None, None]
    n = a.shape[-1]
    one = array(np.eye(n, dtype=a.dtype), None, a.device)
    found = conj(y)[..., None, None] * transposed(lapack("inv", choose(singular, one, a)))
    rest = gil_op(
        "linalg.det",
        _cofactors_of_singular,
        [a, y],
        a.shape,
        mini=lambda a, y: a,
        cost=3000 + a.size,
        gradient=(_cofactors_again,),
    )
    return g[..., None, None] * choose(singular, rest, found)


def _cofactors_of_singular(a: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Of the matrices whose determinant is 0; of the others zeros."""
    cofactors = np.zeros_like(a)
    singular = y == 0
    if singular.any():
        u, s, v = np.linalg.svd(a[singular])
        others = [np.prod(np.delete(s, i, -1), -1) for i in range(s.shape[-1])]
        turn = np.conj(np.linalg.det(u) * np.linalg.det(v))[:, None, None]
        cofactors[singular] = turn * (u * np.stack(others, -1)[:, None]) @ v
    return cofactors


def _cofactors_again(g: Any, a: Any, b: Any) -> Any:
    def rule(g: np.ndarray, y: np.ndarray) -> np.ndarray:
        if np.any(y == 0):
            raise np.linalg.LinAlgError("Singular matrix: its det has no second derivative here")
        return np.zeros_like(g)

    return gil_op("linalg.det", rule, [g, b], g.shape, mini=lambda g, y: g)


RULES: dict[str, tuple[Rule, ...]] = {
    **gradients,
    # selection and movement
    "copy": (lambda g: g,),
    "copyto": (lambda g: g,),
    "cast": (lambda g: g,),
    "where": (None, lambda g, a: choose(a, g, 0.0), lambda g, a: choose(a, 0.0, g)),
    "clip": (
        lambda g, a, y: choose(equal(a, y), g, lost(a, y)),
        _clip_low,
        _clip_high,
    ),
    # linear algebra: stacks of matrices
    "vecdot": (
        lambda g, b: conj(g)[..., None] * b,
        lambda g, a: g[..., None] * a,
    ),
    "matvec": (
        lambda g, b: g[..., :, None] * conj(b)[..., None, :],
        lambda g, a: (transposed(a) @ g[..., None])[..., 0],
    ),
    "vecmat": (
        lambda g, b: (b @ conj(g)[..., None])[..., 0],
        lambda g, a: a[..., :, None] * g[..., None, :],
    ),
    "linalg.inv": (lambda g, y: -(transposed(y) @ g @ transposed(y)),),
    "linalg.solve": (_solve_matrix, lambda g, a: lapack("solve", transposed(a), g)),
    "linalg.solve1": (_solve1_matrix, lambda g, a: lapack("solve1", transposed(a), g)),
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
    join = JOINS[name]
    shape, exact = x.shape, join.pairwise  # a sum needs no values
    masks = [] if where is None else [where]

    def rule(gs: list[Any], saved: list[Any]) -> list[Any]:
        g, *values = [
            viewed(v.reshape(kept), np.broadcast_to, shape)
            for v in (gs[0], *saved[len(masks) + 1 :])
        ]
        mask = saved[0] if masks else True
        if not exact and join.largest is None:
            a = choose(mask, saved[-2], 1.0) if masks else saved[-2]
            g = product_rule(g if initial is None else g * conj(initial), a, values[0])
        elif not exact:
            g = shared(g, saved[-2], values[0], mask, axes)
        return [choose(mask, g, 0.0) if masks else g]

    note_call(name, rule, [x], [y], masks if exact else [*masks, x, y])


def of_masked(name: str, inputs: list[Any], where: Any, y: Any, keeps: bool) -> None:
    """Notes an elementwise op that is a call: computed where a mask is true (None: everywhere).

    ``keeps``: elsewhere y has what was in it.
    """
    if name not in RULES and name not in table:
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

    def rule(gs: list[Any], saved: list[Any]) -> list[Any]:
        mask = saved[: len(masks)]
        values = fixed | dict(zip(kept, saved[len(masks) :], strict=True))
        values["g"] = choose(mask[0], gs[0], 0.0) if mask else gs[0]
        found: list[Any] = []
        for own, names, shape, wants in zip(rules, named, shapes, wanted, strict=True):
            r = own(**{p: values[p] for p in names}) if own and wants else None
            if r is not None:
                r = summed_to(choose(mask[0], r, 0.0) if mask else r, shape)
            found.append(r)
        return [*found, choose(mask[0], 0.0, gs[0])] if keeps else found

    note_call(name, rule, [*inputs, y] if keeps else inputs, [y], masks + [places[p] for p in kept])


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
