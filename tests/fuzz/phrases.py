"""Expressions of a program, as text: trees of elementwise operations over one space."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np

# One IEEE operation, a comparison or a selection: the same bits whoever computes it.
UNARY = (
    "-{}", "abs({})", "xp.square({})", "xp.sqrt({})", "xp.sqrt(abs({}))", "xp.sign({})",
    "xp.floor({})", "xp.ceil({})", "xp.trunc({})", "xp.rint({})", "xp.isfinite({})",
    "xp.isnan({})", "xp.logical_not({})", "(~{})", "xp.reciprocal({})",
    "xp.signbit(xp.nan_to_num({}))",  # the sign of a NaN is nobody's
    "xp.conjugate({})", "{}.real", "{}.imag", "(+{})", "({} ** 2)", "xp.clip({}, -1, 2)",
    "xp.nan_to_num({})",
)  # fmt: skip
BINARY = (
    "({} + {})", "({} - {})", "({} * {})", "({} / {})", "({} < {})", "({} <= {})",
    "({} == {})", "({} != {})", "({} >= {})", "xp.maximum({}, {})", "xp.minimum({}, {})",
    "({} // {})", "({} % {})", "({} & {})", "({} | {})", "({} ^ {})",
    "xp.logical_and({}, {})", "xp.logical_xor({}, {})", "xp.copysign({}, xp.nan_to_num({}))",
    "xp.heaviside({}, {})", "xp.nextafter({}, {})", "xp.fmod({}, {})",
)  # fmt: skip
PLAIN = BINARY[:4]
# The C library's and NumPy's own polynomials.
LIBM = (
    "xp.exp({})", "xp.exp2({})", "xp.expm1(abs({}))", "xp.log(abs({}))", "xp.log1p(abs({}))",
    "xp.sin({})", "xp.cos({})", "xp.tanh({})", "xp.arctan({})", "xp.cbrt({})", "xp.sinh({})",
    "xp.log2(abs({}))", "xp.power(abs({}), 1.7)", "xp.deg2rad({})", "xp.arcsinh({})",
)  # fmt: skip
LIBM2 = ("xp.arctan2({}, {})", "xp.logaddexp({}, {})", "xp.hypot({}, {})")
REDUCTIONS = (
    "sum", "mean", "max", "min", "prod", "any", "all", "sum", "sum", "mean", "max", "std", "var",
    "count_nonzero", "nansum", "nanmean", "nanprod", "ptp", "argmax", "argmin",
)  # fmt: skip
ROWWISE = ("sum", "max", "min", "mean", "any")  # ... whose results go back into the space
DTYPES = {
    "?": 3, "i1": 2, "u1": 2, "i2": 1, "u2": 1, "i4": 3, "u4": 1, "i8": 5, "u8": 2, "q": 1,
    "f2": 2, "f4": 6, "f8": 12, "g": 1, "F": 2, "D": 2, "G": 1,
}  # fmt: skip
SCALARS = ("0", "1", "2", "-1", "0.5", "3.25", "-0.0", "True", "1e300", "np.float32(1.5)", "7")


class Phrases:
    """Writes expressions of the names in ``env``; all choices are the generator's."""

    def __init__(self, rng: random.Random, env: Mapping[str, Any], libm: bool) -> None:
        self.rng, self.env = rng, env
        self.unary = (*UNARY, *LIBM, *LIBM) if libm else UNARY
        self.binary = (*PLAIN, *PLAIN, *PLAIN, *BINARY, *(LIBM2 if libm else ()))

    def dtype(self) -> str:
        return self.rng.choices([*DTYPES], [*DTYPES.values()])[0]

    def expression(self, space: tuple[int, ...], depth: int) -> str:
        """An expression whose value broadcasts to ``space``."""
        kind = self.rng.random() if depth else 0.0
        if kind < 0.15:
            return self.leaf(space)
        if kind < 0.35:
            return self.rng.choice(self.unary).format(self.expression(space, depth - 1))
        if kind < 0.80:
            two = [self.expression(space, depth - 1) for _ in range(2)]
            if self.rng.random() < 0.2:
                two[self.rng.randrange(2)] = self.rng.choice(SCALARS)
            return self.rng.choice(self.binary).format(*two)
        if kind < 0.86:
            parts = [self.expression(space, depth - 1) for _ in range(3)]
            return "xp.where({}, {}, {})".format(*parts)
        if kind < 0.91:
            return f"({self.expression(space, depth - 1)}).astype({self.dtype()!r})"
        name, axes = self.rng.choice(ROWWISE), self.axes(len(space))
        return f"xp.{name}({self.whole(space, depth - 1)}, axis={axes}, keepdims=True)"

    def whole(self, space: tuple[int, ...], depth: int) -> str:
        """An expression of all of ``space``, where it is to be reduced by axis."""
        text = self.expression(space, depth)
        for name in self.some():
            if np.shape(self.env[name]) == space:
                return f"({text} + {name})" if self.rng.random() < 0.5 else f"({name} * {text})"
        return f"xp.broadcast_to({text}, {space})"

    def axes(self, ndim: int) -> Any:
        """An ``axis=``: None, one of the axes, or some."""
        if not ndim or self.rng.random() < 0.2:
            return None
        if self.rng.random() < 0.5:
            return self.rng.randrange(-ndim, ndim)
        return tuple(sorted(self.rng.sample(range(ndim), self.rng.randint(1, ndim))))

    def some(self) -> list[str]:
        return self.rng.sample([*self.env], len(self.env))

    def leaf(self, space: tuple[int, ...]) -> str:
        """A name, indexed so that it broadcasts to ``space``; or a number."""
        if self.rng.random() < 0.05:
            return self.rng.choice(SCALARS)
        for name in self.some()[:8]:
            x = self.env[name]
            text, shape = name, np.shape(x)
            if len(shape) > 1 and self.rng.random() < 0.25:
                order = self.rng.sample(range(len(shape)), len(shape))
                text, shape = f"xp.transpose({name}, {order})", tuple(shape[i] for i in order)
            if shape and self.rng.random() < 0.08:
                axis, by = self.rng.randrange(len(shape)), self.rng.choice((1, -1, 2, -7, 100))
                text = f"xp.roll({text}, {by}, axis={axis})"
            key = self.fit(shape, space)
            if key is None:
                continue
            if all(k == ":" for k in key):
                return text
            return f"{text}[{', '.join(key)}]"
        return self.rng.choice(SCALARS)

    def fit(self, shape: tuple[int, ...], space: tuple[int, ...]) -> list[str] | None:
        """The key that gives an array of ``shape`` axes of ``space``; None: it has others."""
        key: list[str] = []
        at = len(shape) - 1
        for j in range(len(space) - 1, -1, -1):
            if at < 0:
                break
            fits = shape[at] in (1, space[j])
            if fits and (at == j or self.rng.random() < 0.7):
                flip = self.rng.random() < 0.08 and shape[at] != 1  # see Writer.key
                key.append("::-1" if flip else ":")
                at -= 1
            else:
                key.append("None")
        return None if at >= 0 else key[::-1]
