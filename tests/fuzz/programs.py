"""What a program is: named inputs, and lines of Python on them that both libraries run."""

from __future__ import annotations

import ast
import dataclasses
import json
import math
from collections.abc import Callable
from typing import Any, Self

import numpy as np

PASSES = 3  # each so-many-th program is one of a pass (passes.py), which is compiled more often
ORDERS = ("C", "F", "reversed", "strided", "offset", "inserted")


@dataclasses.dataclass(frozen=True)
class Input:
    """An array: how its values are drawn, and how they lie in memory."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    order: str
    values: str  # "small", "wide", "special" or "rare" (special ones, a few in all)
    seed: int

    def base(self) -> np.ndarray:
        """The memory, the same values at each call; :meth:`view` is the array on it."""
        dtype, rng = np.dtype(self.dtype), np.random.default_rng(self.seed)
        shape = self.shape
        if self.order == "F":
            shape = shape[::-1]
        elif self.order == "strided" and shape:
            shape = (*shape[:-1], shape[-1] * 2)
        elif self.order == "offset":
            shape = (math.prod(shape) + 3,)
        elif self.order == "inserted":
            shape = tuple(n for n in shape if n != 1)
        return np.asarray(self._drawn(rng, dtype, shape))

    def view(self, base: Any) -> Any:
        """The array, on a base of either library."""
        if self.order == "F":
            return base.T
        # (NumPy's loops meet a single element by its view's step, ours don't: other last bits.)
        if self.order == "reversed" and self.shape and set(self.shape) != {1}:
            return base[(slice(None, None, -1),) * len(self.shape)]
        if self.order == "strided" and self.shape:
            return base[..., ::2]
        if self.order == "offset":
            return base[3:].reshape(self.shape)
        if self.order == "inserted":  # axes of length one have a step of zero
            return base[tuple(None if n == 1 else slice(None) for n in self.shape)]
        return base

    def _drawn(self, rng: np.random.Generator, dtype: np.dtype, shape: tuple[int, ...]) -> Any:
        if dtype.kind == "b":
            return np.asarray(rng.random(shape) < 0.5)
        if dtype.kind in "iu":
            info, wide = np.iinfo(dtype), self.values != "small"
            low, high = (info.min, info.max) if wide else (0 if dtype.kind == "u" else -4, 5)
            return rng.integers(low, high, shape, dtype, endpoint=True)
        x = rng.standard_normal(shape)
        if dtype.kind == "c":
            x = x + 1j * rng.standard_normal(shape)
        if self.values == "wide":
            x = x * np.exp(rng.uniform(-9, 9, shape))
        x = np.asarray(x).astype(dtype)
        if self.values in ("special", "rare"):
            at = rng.random(shape)
            part = 0.03 if self.values == "special" else 0.7 / max(x.size, 24)
            for i, v in enumerate((np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, 5e-320)):
                x[(at > part * i) & (at < part * (i + 1))] = v
        return x

    def __str__(self) -> str:
        return f"{self.name} = {self!r}"


@dataclasses.dataclass(frozen=True)
class Failed:
    """What a name holds whose line failed."""

    error: type[Exception]
    handed_on: bool = dataclasses.field(default=False, compare=False)  # a need of the line's failed


def tried(line: Callable[[], Any], *needs: Any) -> Any:
    """What the line gives, or how it fails: of itself, or as what it needs did."""
    for x in needs:
        if isinstance(x, Failed):
            return Failed(x.error, handed_on=True)
    try:
        return line()
    except (ValueError, IndexError) as exc:  # LinAlgError is the first
        return Failed(type(exc))


def put(x: Any, key: Any, value: Any) -> Any:
    x[key] = value
    return x


@dataclasses.dataclass(frozen=True)
class Program:
    """Lines on the inputs' names and on ``xp``. What is compared is every array at the end."""

    inputs: tuple[Input, ...]
    lines: tuple[str, ...]
    seed: int = 0  # of the ways to run it

    def run(self, xp: Any, inputs: dict[str, Any], heard: bool = False) -> dict[str, Any]:
        """The names' values after the last line. ``heard``: floating-point flags are told of."""
        kept: list[Any] = []
        names = {"xp": xp, "np": np, "sync": lambda x: None, "tried": tried, "put": put, **inputs}
        names["keep"] = lambda x: kept.append(x) or x
        with np.errstate(all="warn" if heard else "ignore"):
            exec(self.code(kept=xp is np), names)
        return {name: value for name, value in names.items() if is_ours(name)}

    def arrays(self) -> dict[str, Any]:
        """NumPy's inputs."""
        return {x.name: x.view(x.base()) for x in self.inputs}

    def code(self, kept: bool) -> Any:
        """The lines, compiled. ``kept``: no operand of an operator is a temporary.

        NumPy writes the result of ``a * (b + c)`` over a large temporary, which gives it the
        temporary's layout, and complex numbers other bits.
        """
        tree = ast.parse("\n".join(self.lines))
        if kept:
            tree = ast.fix_missing_locations(_Keeping().visit(tree))
        return compile(tree, "<program>", "exec")

    def elements(self) -> int:
        return sum(math.prod(x.shape) for x in self.inputs)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.inputs), *self.lines])

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        data = json.loads(text)
        inputs = [Input(**{**x, "shape": tuple(x["shape"])}) for x in data["inputs"]]
        return cls(tuple(inputs), tuple(data["lines"]), data["seed"])


class _Keeping(ast.NodeTransformer):
    """``keep(...)`` around what an operator is given."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        node.left, node.right = _keep(node.left), _keep(node.right)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        node.operand = _keep(node.operand)
        return node


def _keep(node: ast.expr) -> ast.expr:
    if isinstance(node, ast.Name | ast.Constant):
        return node
    return ast.Call(ast.Name("keep", ast.Load()), [node], [])


def is_ours(name: str) -> bool:
    """Whether a program's line or input has made the name."""
    return name[0] == "x" and name[1:].isdigit()
