"""Lines of a pass's program that meet memory in odd ways.

Aliases, windows, reductions of parts into parts, products in between, repeated places.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np

from . import lengths
from .phrases import DTYPES

if TYPE_CHECKING:
    from .passes import Passes

RESULTS = ("f8", "f4", "i8", "f2", "D", "F", "u1", "?", "g")
# As what memory may be seen: the bits of a NaN are nobody's, so floats are none of integers.
SEEN = {
    "D": ("f8",), "F": ("f4",), "d": ("D",), "f": ("F",), "l": ("u1", "i2", "i4", "u8", "q"),
    "q": ("l",), "i": ("i1", "u2", "u4", "i8"), "I": ("u1", "i4"), "B": ("i1", "u2", "i4"),
    "b": ("u1",), "h": ("u2", "i1"), "H": ("i2", "u1"), "L": ("i4", "u1"), "?": ("u1",),
}  # fmt: skip


class Odd:
    """Writes lines for one program."""

    def __init__(self, program: Passes) -> None:
        self.program, self.rng, self.env = program, program.rng, program.env

    def line(self) -> str | None:
        kinds = (
            (self.alias, 5), (self.typed, 3), (self.windows, 3), (self.part, 4),
            (self.into_part, 4), (self.product, 2), (self.repeated, 3), (self.running, 2),
            (self.copied, 2), (self.sorted, 1), (self.where, 2), (self.reshaped, 1),
            (self.swapped, 2), (self.spread, 2),
        )  # fmt: skip
        return self.rng.choices([k for k, _ in kinds], [w for _, w in kinds])[0]()

    def key(self, name: str) -> str:
        return f"{name}[{self.program.key(np.shape(self.env[name]))}]"

    def shape(self, text: str) -> tuple[int, ...]:
        return self.program.shape_of(text)

    def new(self) -> str:
        return self.program.name()

    def array(self) -> str | None:
        name = self.program.array()
        return name if name and np.ndim(self.env[name]) else None

    def along(self) -> tuple[str, int] | None:
        """A view of an array, and one of its axes."""
        name = self.array()
        if not name:
            return None
        x = self.key(name)
        shape = self.shape(x)
        return (x, self.rng.randrange(len(shape))) if shape else None

    def alias(self) -> str | None:
        """A name for a part of an array, or of a part of one."""
        rng = self.rng
        if rng.random() < 0.7:
            x = self.program.operand(broadcasts=False)
            return x and f"{self.new()} = {x}"
        name = self.array()
        return name and f"{self.new()} = {self.key(name)}"

    def typed(self) -> str | None:
        """A name for the memory of an array, seen as another dtype."""
        rng, name = self.rng, self.array()
        if not name:
            return None
        kind = self.env[name].dtype.char
        if kind in "FDG" and rng.random() < 0.6:
            return f"{self.new()} = {name}.{rng.choice(('real', 'imag'))}"
        if kind not in SEEN:
            return None
        return f"{self.new()} = {name}.view({rng.choice(SEEN[kind])!r})"

    def windows(self) -> str | None:
        """A view whose elements share memory."""
        rng, name = self.rng, self.array()
        if not name:
            return None
        shape = np.shape(self.env[name])
        long = [i for i, n in enumerate(shape) if n > 1]
        if not long:
            return None
        axis = rng.choice(long)
        n = rng.choice([k for k in lengths.SMALL if k <= shape[axis]])
        if np.size(self.env[name]) * n > 200_000:
            return None
        of, slide = name, "xp.lib.stride_tricks.sliding_window_view"
        if rng.random() < 0.3:
            of = self.key(name)
            if (shape := self.shape(of)) and axis < len(shape) and shape[axis] < n:
                return None
        text = f"{slide}({of}, {n}, axis={axis})"
        if rng.random() < 0.3:
            text = f"{text}[..., ::-1]" if n > 1 else text
        if rng.random() < 0.5:
            return f"{self.new()} = {text}"
        by = rng.choice(("sum", "max", "mean", "min", "any", "prod", "std"))
        return f"{self.new()} = xp.{by}({text}, axis={rng.choice((-1, axis, (axis, -1)))})"

    def reduction(self, x: str) -> str:
        """A call that reduces, with options, but for its ``out``."""
        rng, ndim = self.rng, len(self.shape(x))
        by = rng.choice(("sum", "prod", "max", "min", "mean", "any", "all", "std", "argmin"))
        axes: Any = self.program.phrases.axes(ndim)
        if by == "argmin" and isinstance(axes, tuple):
            axes = axes[0]
        rest = ", keepdims=True" if rng.random() < 0.3 else ""
        if by in ("sum", "prod", "max", "min") and rng.random() < 0.4:
            rest += f", initial={rng.choice((0, 1, -1, 3.5))}"
        if by not in ("argmin",) and rng.random() < 0.3:
            where = self.program.operand(self.shape(x))
            if where and (by not in ("max", "min") or "initial" in rest):
                rest += f", where=({where}) > {rng.choice((0, 1))}"
        if by in ("sum", "prod", "mean", "std") and rng.random() < 0.3:
            rest += f", dtype={rng.choice(RESULTS)!r}"
        return f"xp.{by}({x}, axis={axes}{rest}"

    def part(self) -> str | None:
        """Part of an array, reduced."""
        name = self.array()
        return name and f"{self.new()} = {self.reduction(self.key(name))})"

    def into_part(self) -> str | None:
        """A reduction or an operation into part of an array, perhaps of the same one."""
        rng, name = self.rng, self.array()
        if not name:
            return None
        x = self.key(name)
        call = self.reduction(x)
        shape = self.shape(call + ")")
        fitting = [
            text
            for n in [name, *self.env]
            if isinstance(self.env[n], np.ndarray) and self.env[n].flags.writeable
            for text in self.program.fitting(n, shape, broadcasts=False)
            if "(" not in text
        ]
        if not fitting:
            made = self.new()
            self.program.add(f"{made} = xp.zeros({shape}, {rng.choice(RESULTS)!r})")
            if made not in self.env or not isinstance(self.env[made], np.ndarray):
                return None
            fitting = [made]
        return f"{call}, out={rng.choice(fitting)})"

    def product(self) -> str | None:
        """A product, beside what is elementwise."""
        name = self.array()
        x = self.program.operand(broadcasts=False)
        if not x or not name:
            return None
        a, b = self.shape(x), np.shape(self.env[name])
        if len(a) < 2 or len(b) < 2 or a[-2] * b[-2] > 40_000 or a[-1] != b[-1]:
            if not a:
                return None
            return f"{self.new()} = xp.matmul({x}, xp.ones(({a[-1]}, 2), 'f4'))"
        return f"{self.new()} = xp.matmul({x}, xp.swapaxes({name}, -1, -2))"

    def repeated(self) -> str | None:
        """Places that are met several times."""
        rng, name = self.rng, self.array()
        if not name:
            return None
        n = np.shape(self.env[name])[0]
        if not n:
            return None
        count = rng.choice((*lengths.SMALL, 33, 200))
        at = f"(xp.arange({count}) * {rng.choice((0, 1, 3, 7))}) % {n}"
        other = rng.choice((f"{name}[{at}]", "2", f"{name}[0]"))
        return rng.choice(
            (
                f"{name}[{at}] += {other}",
                f"xp.add.at({name}, {at}, {other})",
                f"{name}[{at}] = {other}",
                f"xp.put({name}, {at}, {name}.ravel()[:{count}])",
                f"{self.new()} = xp.take({name}, {at}, axis=0)",
                f"{self.new()} = {name}[{at}, ..., ::-1]",
                f"{name}[::-1][{at}] -= 1",
            )
        )

    def running(self) -> str | None:
        """Running sums, of a view, or into one."""
        rng, along = self.rng, self.along()
        if not along:
            return None
        x, axis = along
        by = rng.choice(("add", "multiply", "maximum", "minimum", "logical_or"))
        rest = f", out={x}" if rng.random() < 0.4 else ""
        return f"{self.new()} = xp.{by}.accumulate({x}, axis={axis}{rest})"

    def copied(self) -> str | None:
        rng, to = self.rng, self.program.operand(broadcasts=False)
        x = self.program.value()
        if not to or not x or "(" in to:
            return None
        rest = ""
        if rng.random() < 0.5 and (where := self.program.operand()):
            rest = f", where=({where}) > {rng.choice((0, 1))}"
        return f"xp.copyto({to}, {x}, casting='unsafe'{rest})"

    def sorted(self) -> str | None:
        rng, along = self.rng, self.along()
        if not along:
            return None
        x, axis = along
        return rng.choice(
            (
                f"{x}.sort(axis={axis})",
                f"{self.new()} = xp.sort({x}, axis={axis})",
                f"{self.new()} = xp.argsort({x}, axis={axis}, kind='stable')",
                f"{self.new()} = xp.median({x}, axis={axis})",
            )
        )

    def where(self) -> str | None:
        """An operation where a mask says so, into what it reads perhaps."""
        rng, to = self.rng, self.program.operand(broadcasts=False)
        two, mask = self.program.two(), self.program.operand()
        if not to or "(" in to or not two or not mask:
            return None
        if rng.random() < 0.4:
            two[rng.randrange(2)] = to
        op = rng.choice(("add", "multiply", "minimum", "divide", "hypot", "logical_xor"))
        return f"xp.{op}({two[0]}, {two[1]}, out={to}, where=({mask}) != 0, casting='unsafe')"

    def spread(self) -> str | None:
        """Along an axis of an array with one more axis, which is one element many times."""
        rng, name = self.rng, self.array()
        if not name or np.size(self.env[name]) > 20_000:
            return None
        shape = [*np.shape(self.env[name])]
        at, axis = rng.randrange(len(shape) + 1), rng.randrange(len(shape) + 1)
        shape.insert(at, rng.choice(lengths.SMALL))
        text = f"xp.broadcast_to(xp.expand_dims({name}, {at}), {(*shape,)})"
        by = rng.choice(("sort", "argmin", "argmax", "cumsum", "sum", "max", "mean", "any", "std"))
        return f"{self.new()} = xp.{by}({text}, axis={axis})"

    def reshaped(self) -> str | None:
        name = self.array()
        if not name:
            return None
        n = int(np.size(self.env[name]))
        rows = self.rng.choice([k for k in lengths.POOL if k <= max(n, 1) and n % k == 0] or [1])
        return f"{self.new()} = {name}.reshape({rows}, -1)"

    def swapped(self) -> str | None:
        """Parts of one array that change places."""
        rng, name = self.rng, self.array()
        if not name:
            return None
        n = np.shape(self.env[name])[0]
        if n < 2:
            return None
        k = rng.randint(1, n - 1)
        return rng.choice(
            (
                f"{name}[:{n - k}] {rng.choice('+-*')}= {name}[{k}:]",
                f"{name}[{k}:] {rng.choice('+-*')}= {name}[:{n - k}]",
                f"{name}[...] = {name}[::-1]",
                f"{name}[{k}:] = {name}[:{n - k}]",
                f"{name}[:{n // 2}], {name}[{n - n // 2}:] = "
                f"{name}[{n - n // 2}:] * 1, {name}[:{n // 2}] * 1",
            )
        )


def dtypes(rng: random.Random) -> list[str]:
    """Some that seldom meet."""
    return rng.choices([*DTYPES], k=rng.randint(1, 3))
