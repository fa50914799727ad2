"""Programs of one pass: few temporaries over one space, and all that may be made of them.

What :mod:`tests.fuzz.writing` seldom has together: the same temporary is added up along several
axes, copied to arrays with other steps, cast, changed in place, rolled and picked from, in loops,
and what it was made of is overwritten afterwards. An operation a line, so that no line has
temporaries of its own.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from . import lengths, writing
from .odd import Odd, dtypes
from .programs import PASSES, Program
from .writing import Writer

MOST_ELEMENTS = 60_000
DTYPES = {"f8": 12, "f4": 6, "i8": 3, "i4": 2, "?": 2, "u1": 1, "u4": 1, "D": 1, "f2": 1}
BINARY = (
    "{} + {}", "{} - {}", "{} * {}", "{} / {}", "{} + {}", "{} * {}", "xp.maximum({}, {})",
    "xp.minimum({}, {})", "{} < {}", "{} >= {}", "{} == {}", "{} & {}", "{} % {}", "{} // {}",
    "xp.hypot({}, {})", "xp.copysign({}, xp.nan_to_num({}))", "xp.logical_or({}, {})",
)  # fmt: skip
UNARY = (
    "-{}", "abs({})", "xp.square({})", "xp.sqrt({})", "xp.floor({})", "xp.isnan({})", "~{}",
    "{} ** 2", "{} ** 3", "xp.exp({})", "xp.sin({})", "xp.sign({})", "xp.rint({})",
    "xp.clip({}, -1, 2)", "+{}",
)  # fmt: skip
NUMBERS = ("0", "1", "2", "-1", "0.5", "3.25", "-0.0", "True", "1e300", "np.float32(1.5)", "7")
REDUCTIONS = (
    "sum", "sum", "sum", "sum", "mean", "max", "min", "prod", "any", "all", "var", "std",
    "count_nonzero", "argmax", "nansum", "ptp",
)  # fmt: skip


def write(seed: int, values: str = "") -> Program:
    """The fuzzer's program of this seed: each third is one of these, but on a GPU (``values``)."""
    if values or seed % PASSES:
        return writing.write(seed, values)
    return writing.bounded(lambda: Passes(seed).program(""))


class Passes(Writer):
    """A pass's program."""

    whole: tuple[int, ...]  # the space

    def program(self, values: str) -> Program:
        rng = self.rng
        self.whole = self.sizes()
        values = values or rng.choice(("small", "small", "small", "wide", "special", "rare"))
        palette = rng.choices([*DTYPES], [*DTYPES.values()], k=rng.randint(1, 3))
        odd = Odd(self)
        often = rng.choice((0, 3, 20))  # how often lines are odd
        if often and rng.random() < 0.4:
            palette = dtypes(rng)
        for _ in range(rng.randint(2, 5)):
            self.input(self.larger(), rng.choice(palette), values)
        if rng.random() < 0.1:
            self.lines.append(f"xp.random.seed({rng.randrange(1000)})")
        kinds = [
            (self.make, 12), (self.again, 4), (self.put, 5), (self.total, 6), (self.rows, 2),
            (self.turn, 3), (self.cast, 2), (self.choose, 2), (self.drop, 3), (self.mask, 1),
            (self.other, 1), (self.draw, 0.3), (self.wait, 0.3), (self.given, 2),
            (self.loop, 2), (self.rebind, 2), (self.pick, 2), (self.both, 1), (self.within, 2),
            (odd.line, often),
        ]  # fmt: skip
        for _ in range(rng.randint(3, 22)):
            text = rng.choices([k for k, _ in kinds], [w for _, w in kinds])[0]()
            if text and not self.takes(text):
                self.rewind()
            if rng.random() < 0.3 and (text := self.forget()):  # so that it is a temporary
                self.add(text)
        return Program(tuple(self.inputs), tuple(self.lines), self.seed)

    def forget(self) -> str | None:
        """Lets go of what was made a few lines ago."""
        given = {x.name for x in self.inputs}
        names = [n for n in [*self.env][-6:] if n not in given]
        return f"del {self.rng.choice(names)}" if names else None

    def sizes(self) -> tuple[int, ...]:
        rng = self.rng
        if rng.random() < 0.5:
            while math.prod(found := lengths.shape(rng)) > MOST_ELEMENTS:
                pass
            return found
        axes = rng.choices((1, 2, 3, 4), (2, 6, 4, 1))[0]
        size = math.exp(rng.uniform(math.log(20), math.log(MOST_ELEMENTS)))
        found = []
        for left in range(axes, 0, -1):
            n = round(math.exp(rng.uniform(0, math.log(max(size, 1))))) if left > 1 else int(size)
            if rng.random() < 0.3:
                n = rng.choice([k for k in lengths.POOL if k <= max(size, 1)])
            found.append(max(n, 1))
            size = size / found[-1]
        rng.shuffle(found)
        return tuple(found)

    def larger(self) -> tuple[int, ...]:
        """The space, perhaps turned round or with some of its axes, or larger."""
        rng, space = self.rng, self.whole
        kind = rng.random()
        if kind < 0.35:
            return space
        if kind < 0.5:
            return tuple(rng.sample(space, len(space)))
        if kind < 0.7:
            return self.part(space)
        if kind < 0.8 and math.prod(space) <= MOST_ELEMENTS // 4:
            return tuple(n * rng.choice((1, 2, 2)) for n in space)
        return tuple(n + rng.choice((0, 1, 2)) for n in space)

    # -- operands

    def fitting(self, name: str, space: tuple[int, ...], broadcasts: bool = True) -> list[str]:
        """The name, indexed in ways that give an array of the space."""
        rng = self.rng
        shape = np.shape(self.env[name])
        found = []
        orders = list(itertools.islice(itertools.permutations(range(len(shape))), 24))
        tries = rng.sample(orders, min(len(orders), 6))
        if shape == space and rng.random() < 0.7:
            tries = orders[:1]
        for order in tries:
            turned = tuple(shape[i] for i in order)
            text = name if order == (*sorted(order),) else f"xp.transpose({name}, {order})"
            if len(turned) > len(space) or (len(turned) < len(space) and not broadcasts):
                continue
            keys = []
            for n, to in zip(turned[::-1], space[::-1], strict=False):
                if n == to:
                    keys.append("::-1" if n > 1 and rng.random() < 0.15 else ":")
                elif n == 1 and broadcasts:
                    keys.append(":")
                elif n > to:
                    ways = [f"{n - to}:", f":{to}"]
                    if n == 2 * to:
                        ways += ["::2", "1::2"] + (["::-2"] if to > 1 else [])
                    if n == to + 2:
                        ways += ["1:-1"]
                    keys.append(rng.choice(ways))
                else:
                    break
            else:
                if all(k == ":" for k in keys):
                    found.append(text)
                else:
                    found.append(f"{text}[{', '.join(['...', *keys[::-1]])}]")
        return found

    def operand(self, space: tuple[int, ...] | None = None, broadcasts: bool = True) -> str | None:
        rng, space = self.rng, self.whole if space is None else space
        names = [*self.env]
        if rng.random() < 0.5:  # what was made last
            names = names[-4:]
        for name in rng.sample(names, len(names)):
            found = self.fitting(name, space, broadcasts)
            if found:
                return rng.choice(found)
        return None

    def two(self) -> list[str] | None:
        rng = self.rng
        two = [self.operand(), self.operand()]
        if rng.random() < 0.25:
            two[rng.randrange(2)] = rng.choice(NUMBERS)
        return None if None in two else two  # type: ignore[return-value]

    def value(self, broadcasts: bool = True) -> str | None:
        """An operand, or what an operation makes, which nobody holds."""
        two = self.two()
        if self.rng.random() < 0.5 or not two:
            return self.operand(broadcasts=broadcasts)
        text = f"({self.rng.choice(BINARY).format(*two)})"
        return text if broadcasts or self.shape_of(text) == self.whole else None

    # -- lines

    def make(self) -> str | None:
        if self.rng.random() < 0.3:
            x = self.operand()
            return x and f"{self.name()} = {self.rng.choice(UNARY).format(f'({x})')}"
        two = self.two()
        return two and f"{self.name()} = {self.rng.choice(BINARY).format(*two)}"

    def choose(self) -> str | None:
        a, two = self.operand(), self.two()
        if not a or not two:
            return None
        return f"{self.name()} = xp.where({a} > {self.rng.choice(NUMBERS)}, {two[0]}, {two[1]})"

    def cast(self) -> str | None:
        x, dtypes = self.operand(), (*DTYPES, "f8", "f4", "i8")
        return x and f"{self.name()} = {x}.astype({self.rng.choice(dtypes)!r})"

    def again(self) -> str | None:
        """What is there, changed in place."""
        rng, to = self.rng, self.operand(broadcasts=False)
        x = rng.choice(NUMBERS) if rng.random() < 0.3 else self.operand()
        if not to or not x:
            return None
        if "(" in to:  # a call's result is no target
            name = self.name()
            self.add(f"{name} = {to}")
            to = name
        return f"{to} {rng.choice('+-*/&')}= {x}"

    def put(self) -> str | None:
        """An array copied into another one, whatever its steps."""
        rng, to = self.rng, self.operand(broadcasts=False)
        x = self.value() if rng.random() < 0.95 else rng.choice(NUMBERS)
        if not to or not x:
            return None
        if to.endswith("]"):
            return f"{to} = {x}"
        return f"{to}[...] = {x}"

    def given(self) -> str | None:
        """An operation into an array that is there."""
        rng, to, two = self.rng, self.operand(broadcasts=False), self.two()
        if not to or not two:
            return None
        op = rng.choice(("add", "multiply", "subtract", "maximum", "divide", "less"))
        rest = ", casting='unsafe'" if rng.random() < 0.3 else ""
        if rng.random() < 0.2 and (where := self.operand()):
            rest += f", where={where} > 0"
        return f"xp.{op}({two[0]}, {two[1]}, out={to}{rest})"

    def total(self) -> str | None:
        rng, x = self.rng, self.value(broadcasts=False)
        if not x:
            return None
        axes = self.phrases.axes(len(self.whole))
        if rng.random() < 0.35:
            axes = None
        rest = ", keepdims=True" if rng.random() < 0.3 else ""
        by = rng.choice(REDUCTIONS)
        if by == "sum" and rng.random() < 0.1:
            rest += f", dtype={rng.choice(('f8', 'f4', 'i8'))!r}"
        if rng.random() < 0.15:
            made = self.name()
            self.add(f"{made} = xp.zeros({self.shape_of(f'xp.{by}({x}, axis={axes})')}, 'f8')")
            if made in self.env and isinstance(self.env[made], np.ndarray):
                rest = f", out={made}"
        return f"{self.name()} = xp.{by}({x}, axis={axes}{rest})"

    def shape_of(self, text: str) -> tuple[int, ...]:
        try:
            with np.errstate(all="ignore"):
                return np.shape(eval(text, {**self.env, "xp": np, "np": np}))
        except Exception:
            return ()

    def rows(self) -> str | None:
        """What rows come to, beside the rows."""
        rng, x = self.rng, self.operand(broadcasts=False)
        if not x:
            return None
        first = rng.randrange(len(self.whole)) if self.whole else 0
        axes = tuple(range(first, len(self.whole)))
        made = self.name()
        by = rng.choice(("sum", "max", "mean", "any", "min"))
        self.add(f"{made} = xp.{by}({x}, axis={axes}, keepdims=True)")
        return f"{self.name()} = {x} {rng.choice('+-*')} {made}" if made in self.env else None

    def turn(self) -> str | None:
        """Elements of other places."""
        rng, x = self.rng, self.operand(broadcasts=False)
        if not x or not self.whole:
            return None
        axis = rng.randrange(len(self.whole))
        n = self.whole[axis]
        by = rng.choice((1, -1, 2, 3, -7, n // 2, n - 1, 100))
        index = f"(xp.arange({n}) * {rng.choice((1, 3, 7))} + {rng.choice((0, 1, 5))}) % {n or 1}"
        kinds = [f"xp.roll({x}, {by}, axis={axis})"] * 4
        if len(self.whole) > 1:
            kinds += [f"xp.roll({x}, ({by}, 1), axis=({axis}, {axis - 1}))"]
        kinds += [f"xp.take({x}, {index}, axis={axis})", f"xp.roll({x}, {by})",
                  f"xp.flip({x}, axis={axis})"]  # fmt: skip
        return f"{self.name()} = {rng.choice(kinds)}"

    def rebind(self) -> str | None:
        """A name for something new of the space, made of what it was."""
        names = [n for n, x in self.env.items() if np.shape(x) == self.whole and self.whole]
        x = self.operand()
        if not names or not x:
            return None
        name, rng = self.rng.choice(names), self.rng
        if rng.random() < 0.3:
            by, axis = rng.choice((1, -1, 2)), rng.randrange(len(self.whole))
            return f"{name} = xp.roll({name}, {by}, axis={axis})"
        return f"{name} = {rng.choice(BINARY[:8]).format(*rng.sample((name, x), 2))}"

    def loop(self) -> str | None:
        """Rounds of a few lines."""
        rng = self.rng
        kinds = (self.rebind, self.rebind, self.again, self.put, self.given, self.make, self.within)
        count, before, env = len(self.lines), self.lines[:], dict(self.env)
        for _ in range(rng.randint(2, 6)):
            text = rng.choice(kinds)()
            if text and not self.takes(text):
                self.rewind()
        body = self.lines[count:]
        self.lines[:] = before
        self.env.clear()
        self.env.update(env)
        self.rewind()
        if not body:
            return None
        return "\n    ".join([f"for _ in range({rng.choice((2, 3, 5, 12))}):", *body])

    def pick(self) -> str | None:
        """Elements by computed indices of one axis or two."""
        rng = self.rng
        found = [n for n, x in self.env.items() if 0 < np.ndim(x) <= 2 and np.size(x)]
        index = [n for n, x in self.env.items() if np.ndim(x) and np.asarray(x).dtype.kind in "iu"]
        if not found or not index:
            return None
        name, i, j = rng.choice(found), rng.choice(index), rng.choice(index)
        shape = np.shape(self.env[name])
        made, other = self.name(), self.name()
        self.add(f"{made} = {i} % {shape[0]}")
        if len(shape) == 1:
            return f"{self.name()} = {name}[{made}]"
        self.add(f"{other} = {j} % {shape[1]}")
        return f"{self.name()} = {name}[{made}, {other}]"

    def both(self) -> str | None:
        """Two results."""
        rng, two = self.rng, self.two()
        if not two:
            return None
        made = f"{self.name()}, {self.name()}"
        if rng.random() < 0.5:
            return f"{made} = xp.divmod({two[0]}, {two[1]})"
        return f"{made} = xp.{rng.choice(('modf', 'frexp'))}({two[0]})"

    def mask(self) -> str | None:
        rng, name = self.rng, self.array()
        x = self.env.get(name or "")
        if x is None or not x.shape:
            return None
        others = [n for n, y in self.env.items() if np.shape(y) == x.shape]
        of = f"{rng.choice(others)} > {rng.choice(NUMBERS)}"
        return rng.choice(
            (
                f"{name}[{of}] = {rng.choice(NUMBERS)}",
                f"{self.name()} = {name}[{of}]",
                f"{name}[{of}] *= 2",
            )
        )

    def other(self) -> str | None:
        """No part of a pass."""
        rng, x = self.rng, self.operand(broadcasts=False)
        if not x or not self.whole:
            return None
        axis = rng.randrange(len(self.whole))
        kinds = [
            f"xp.cumsum({x}, axis={axis})", f"xp.sort({x}, axis={axis})", f"xp.ravel({x})",
            f"xp.searchsorted(xp.sort(xp.ravel({x})), {x})", f"xp.diff({x}, axis={axis})",
            f"xp.argsort({x}, axis={axis}, kind='stable')", f"xp.copy({x})", f"{x}.T",
        ]  # fmt: skip
        return f"{self.name()} = {rng.choice(kinds)}"

    def within(self) -> str | None:
        """An array changed by what is no loop over elements."""
        rng, name = self.rng, self.array()
        shape = np.shape(self.env[name]) if name else ()
        if not shape or 0 in shape:
            return None
        axis = rng.randrange(len(shape))
        view = f"{name}[{self.key(shape)}]"
        index = f"(xp.arange({rng.choice(lengths.SMALL)}) * 7) % {shape[0]}"
        kinds = [
            f"{name}.sort(axis={axis})", f"xp.cumsum({name}, axis={axis}, out={name})",
            f"{name}[{index}] = {rng.choice(NUMBERS)}", f"xp.put({name}, {index}, 3)",
            f"{name}[{index}] *= 2", f"xp.copyto({view}, 2, where={view} > 0)",
            f"xp.add({view}, 1, out={view}, casting='unsafe', where={view} > 0)",
            f"xp.clip({view}, 0, 2, out={view})", f"xp.add.at({name}, {index}, 1)",
            f"xp.maximum.accumulate({name}, axis={axis}, out={name})",
        ]  # fmt: skip
        return rng.choice(kinds)

    def draw(self) -> str | None:
        if not any("seed" in line for line in self.lines):
            return None
        shape = self.whole
        kinds = (f"xp.random.random({shape})", f"xp.random.standard_normal({shape})",
                 f"xp.random.randint(0, 9, {shape})")  # fmt: skip
        return f"{self.name()} = {self.rng.choice(kinds)}"
