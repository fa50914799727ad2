"""Random programs. Each line is tried on NumPy as it is written; what NumPy refuses is dropped."""

from __future__ import annotations

import math
import random
import re
import resource
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from . import calls, lengths, outputs
from .phrases import REDUCTIONS, ROWWISE, SCALARS, Phrases
from .programs import ORDERS, Failed, Input, Program, is_ours, put, tried
from .undecided import undecided

MOST_BYTES = 16 << 20
MOST_MEMORY = 6 << 30  # of a process
MOST_OF_A_LINE = 1 << 30  # while it is tried: what is dropped then should not take minutes
NAMES = {"xp": np, "np": np, "sync": lambda x: None, "tried": tried, "put": put}
OPERATORS = ("+", "-", "*", "/", "//", "%", "&", "|", "^")


def bound_memory(more: float) -> None:
    """Lets the process have so many bytes more: all pairs of 100003 elements are a MemoryError, and
    so no line of a program."""
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    limit = most if more == math.inf else int(used + more)
    resource.setrlimit(resource.RLIMIT_AS, (limit, most))


def write(seed: int, values: str = "") -> Program:
    """The program of this seed.

    ``values``: of its inputs (see :class:`Input`), instead of some by the seed.
    """
    return bounded(lambda: Writer(seed).program(values))


def bounded(writes: Callable[[], Program]) -> Program:
    """What is written, with little memory for each line."""
    bound = resource.getrlimit(resource.RLIMIT_AS)
    bound_memory(MOST_OF_A_LINE)
    try:
        return writes()
    finally:
        resource.setrlimit(resource.RLIMIT_AS, bound)


def ours(names: dict[str, Any]) -> dict[str, Any]:
    """The program's names that hold something to go on with."""
    return {n: x for n, x in names.items() if is_ours(n) and not isinstance(x, Failed)}


class Writer:
    def __init__(self, seed: int) -> None:
        self.seed, self.rng = seed, random.Random(seed)
        self.env: dict[str, Any] = {}
        self.lines: list[str] = []
        self.inputs: list[Input] = []
        self.phrases = Phrases(self.rng, self.env, libm=self.rng.random() < 0.4)
        self.made = 0

    def program(self, values: str) -> Program:
        rng = self.rng
        space = lengths.shape(rng)
        palette = [self.phrases.dtype() for _ in range(rng.randint(1, 3))]
        kinds_of_values = ("small", "small", "small", "small", "wide", "special", "rare")
        values = values or rng.choice(kinds_of_values)
        for i in range(rng.randint(1, 4)):
            self.input(self.part(space) if i else space, rng.choice(palette), values)
        kinds: list[tuple[Callable[[], str | None], int]] = [
            (self.let, 6), (self.reduce, 6), (self.update, 4), (self.assign, 3), (self.view, 3),
            (self.select, 2), (self.call, 3), (self.outer, 2), (self.drop, 3), (self.wait, 1),
            (self.into, 3), (self.fail, 1), (self.heal, 1), (self.norm, 1), (self.pair, 1),
            (self.regroup, 1),
        ]  # fmt: skip
        for _ in range(rng.randint(2, 14)):
            write, _ = rng.choices(kinds, [weight for _, weight in kinds])[0]
            text = write()
            if text and not self.takes(text):
                self.rewind()
        return Program(tuple(self.inputs), tuple(self.lines), self.seed)

    def input(self, shape: tuple[int, ...], dtype: str, values: str) -> None:
        order = "C" if self.rng.random() < 0.5 else self.rng.choice(ORDERS)
        if dtype in "FDG" and not shape:
            shape = (1,)
        new = Input(self.name(), shape, dtype, order, values, self.rng.randrange(2**31))
        self.inputs.append(new)
        self.env[new.name] = new.view(new.base())

    def part(self, space: tuple[int, ...]) -> tuple[int, ...]:
        """A shape that broadcasts to ``space``, or has some of its axes."""
        rng = self.rng
        kind = rng.random()
        if kind < 0.4:
            return space
        if kind < 0.7:
            return tuple(n if rng.random() < 0.6 else 1 for n in space)[rng.randrange(2) :]
        return tuple(n for n in space if rng.random() < 0.6)

    def name(self) -> str:
        self.made += 1
        return f"x{self.made - 1}"

    def add(self, text: str) -> None:
        """Takes the line in, if NumPy does and its results can be compared."""
        names = {**self.env, **NAMES}
        with np.errstate(all="ignore", invalid="warn"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # A number that its new dtype can't hold becomes one or another, by its place in NumPy's
            # vectors.
            warnings.filterwarnings("error", "invalid value encountered in cast")
            try:
                if undecided(text, names):
                    return
                exec(text, names)
            except Exception:
                return
        new = ours(names)
        for name in new.keys() - self.env.keys():
            x = new[name]
            if not isinstance(x, (np.ndarray, np.generic)) or x.dtype.kind not in "biufc":
                return
            # NumPy multiplies a complex scalar by other code than an array: other last bits.
            if x.nbytes > MOST_BYTES or (x.dtype.kind == "c" and not x.ndim):
                return
        self.env.clear()
        self.env.update(new)
        self.lines.append(text)

    def rewind(self) -> None:
        """Runs the lines again: one that was refused may have written something all the same."""
        again = Program(tuple(self.inputs), tuple(self.lines), self.seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.env.clear()
            self.env.update(ours(again.run(np, again.arrays())))

    # -- kinds of lines

    def space(self) -> tuple[int, ...]:
        return np.shape(self.env[self.rng.choice([*self.env])]) if self.env else ()

    def array(self) -> str | None:
        """The name of an array, which can be written to."""
        names = [n for n, x in self.env.items() if isinstance(x, np.ndarray) and x.flags.writeable]
        return self.rng.choice(names) if names else None

    def let(self) -> str:
        return f"{self.name()} = {self.phrases.expression(self.space(), self.rng.randint(1, 5))}"

    def reduce(self) -> str:
        rng, space = self.rng, self.space()
        over, rest = self.phrases.whole(space, rng.randint(0, 4)), ""
        if rng.random() < 0.05:
            over = f"({over} * 1j)"
        if rng.random() < 0.3:  # several reductions of one temporary
            name = self.name()
            self.add(f"{name} = {over}")
            count = rng.randint(1, 3)
            for _ in range(count):
                axis, of = self.phrases.axes(len(space)), name
                if name in self.env and self.env[name].dtype.kind == "c":
                    of = rng.choice((name, f"{name}.real", f"abs({name})"))
                self.add(f"{self.name()} = xp.{rng.choice(REDUCTIONS)}({of}, axis={axis})")
            return f"del {name}"
        if rng.random() < 0.3:
            rest += ", keepdims=True"
        if rng.random() < 0.1:
            rest += f", dtype={self.phrases.dtype()!r}"
        axes = self.phrases.axes(len(space))
        text = f"xp.{rng.choice(REDUCTIONS)}({over}, axis={axes}{rest})"
        if rng.random() < 0.3:
            text = f"({text} * {self.phrases.leaf(space)})"
        return f"{self.name()} = {text}"

    def norm(self) -> str:
        """Rows, rows of rows and so on, each with what they come to."""
        rng, space, name = self.rng, self.space(), self.name()
        self.add(f"{name} = {self.phrases.whole(space, rng.randint(0, 2))}")
        for k in rng.sample(range(len(space)), len(space)):
            made = self.name()
            self.add(self.less(made, name, k, len(space)))
            if made in self.env:
                self.add(f"del {name}")
                name = made
        axes = self.phrases.axes(len(space))
        return f"{self.name()} = xp.{rng.choice(REDUCTIONS)}({name}, axis={axes})"

    def less(self, made: str, name: str, first: int, ndim: int) -> str:
        """An array and, row by row, what its axes from ``first`` on come to."""
        row = f"xp.{self.rng.choice(ROWWISE)}({name}, axis={(*range(first, ndim),)}, keepdims=True)"
        return f"{made} = ({name} {self.rng.choice('+-*')} {row})"

    def pair(self) -> str:
        """Two temporaries, each reduced by itself, and what they come to together."""
        rng, space = self.rng, self.space()
        names = [self.name(), self.name()]
        axes = self.phrases.axes(len(space))
        for name in names:
            self.add(f"{name} = {self.phrases.whole(space, rng.randint(1, 2))}")
            for _ in range(rng.choice((0, 0, 1, 2)) if space else 0):
                self.add(self.less(name, name, rng.randrange(len(space)), len(space)))
            axes = axes if rng.random() < 0.7 else self.phrases.axes(len(space))
            self.add(f"{self.name()} = xp.{rng.choice(REDUCTIONS)}({name}, axis={axes})")
        self.add(f"{self.name()} = ({names[0]} {rng.choice('+-*')} {names[1]})")
        return f"del {names[0]}, {names[1]}"

    def regroup(self) -> str | None:
        """One line of elements, cut into other axes."""
        rng, space, name = self.rng, self.space(), self.name()
        whole = self.phrases.whole(space, rng.randint(0, 2))
        if len(space) > 1 and rng.random() < 0.3:  # of rows
            whole, space = f"xp.{rng.choice(ROWWISE)}({whole}, axis=-1)", space[:-1]
        self.add(f"{name} = {whole}")
        n = math.prod(space)
        counts = (2, 3, 4, 5, 6, 7, 8, 10, 25, 64, 100)
        rows = rng.choice([k for k in counts if n and n % k == 0] or [1])
        between = f"xp.arange({rows})[:, None]" if rng.random() < 0.5 else f"xp.arange({n // rows})"
        text = f"({name}.reshape({rows}, {n // rows}) {rng.choice('+*')} {between})"
        if rng.random() < 0.5:
            text = f"xp.{rng.choice(REDUCTIONS)}({text}, axis={rng.choice((0, 1, -1))})"
        return f"{self.name()} = {text}"

    def outer(self) -> str | None:
        """All pairs of two arrays' elements, reduced or not."""
        rng = self.rng
        a, b = (rng.choice([*self.env]) for _ in range(2))
        x, y = np.shape(self.env[a]), np.shape(self.env[b])
        if not 0 < len(x) <= 2 or not 0 < len(y) <= 2:
            return None
        try:
            pairs = np.broadcast_shapes((*x, 1), (*y[:-1], 1, y[-1]))
        except ValueError:
            return None
        if math.prod(pairs) > lengths.MOST_ELEMENTS * 2:
            return None
        text = f"({a}[..., :, None] {rng.choice('+-*')} {b}[..., None, :])"
        if rng.random() < 0.5:
            text = f"xp.square({text})"
        if rng.random() < 0.8:
            axis = rng.choice((0, 1, -1, -2, None, (0, 1), (0, -1)))
            text = f"xp.{rng.choice(REDUCTIONS)}({text}, axis={axis})"
        return f"{self.name()} = {text}"

    def key(self, shape: tuple[int, ...]) -> str:
        rng, keys = self.rng, []
        for n in shape:
            kind = rng.randrange(8)
            # (NumPy's loops give one element that goes backwards other last bits than any other.)
            if kind == 0:
                keys.append("::-1" if n != 1 else ":")
            elif kind == 1:
                keys.append(f"{rng.randint(-3, 3)}:{rng.randint(-3, 5)}")
            elif kind == 2:
                keys.append(rng.choice(("::2", "1::2", "::3", "::-2" if n > 2 else "::2")))
            elif kind == 3:
                keys.append(rng.choice(("1:", ":-1", "2:", ":-2")))
            elif kind == 4 and n:
                keys.append(str(rng.randrange(-n, n)))
            else:
                keys.append(":")
        return ", ".join([*keys, "..."])

    def update(self) -> str | None:
        """An in-place operator on an array or on a view of it."""
        rng, name = self.rng, self.array()
        scalars = [n for n, x in self.env.items() if not np.ndim(x)]
        if scalars and rng.random() < 0.3:
            name = rng.choice(scalars)
        if name is None:
            return None
        target = name
        if rng.random() < 0.5:
            target = f"{name}[{self.key(np.shape(self.env[name]))}]"
        x = np.asarray(eval(target, self.env.copy()))
        if x.dtype.kind == "c" and x.size == 1:  # as complex scalars, see add()
            return None
        e = self.phrases.expression(x.shape, rng.randint(0, 3))
        return f"{target} {rng.choice(OPERATORS)}= {e}"

    def assign(self) -> str | None:
        rng, name = self.rng, self.array()
        if name is None:
            return None
        shape = np.shape(self.env[name])
        target = f"{name}[{self.key(shape)}]"
        inner = np.shape(eval(target, self.env.copy()))
        kind = rng.random()
        if kind < 0.3:  # another piece of the array, moved
            moved = f"{name}[{self.key(shape)}]"
            return f"{target} = {moved} {rng.choice('+-*')} {rng.choice(SCALARS)}"
        if kind < 0.4:
            chosen = f"{name}[{name} > {rng.choice(SCALARS)}]"
            value = rng.choice((rng.choice(SCALARS), f"{chosen} {rng.choice('+-*')} 2"))
            return f"{chosen} = {value}"
        if kind < 0.5 and inner:
            by, axes = rng.choice(ROWWISE), tuple(range(rng.randrange(len(inner)), len(inner)))
            whole = self.phrases.whole(inner, rng.randint(0, 2))
            text = f"xp.{by}({whole}, axis={axes}, keepdims=True)"
            return f"{target} = ({text} * {rng.choice(SCALARS)})"
        return f"{target} = {self.phrases.expression(inner, rng.randint(0, 3))}"

    def into(self) -> str | None:
        """A call with ``out=``, of an array that is there or of a new one."""
        text = outputs.call(self.rng, self.env, self.phrases) if self.env else None
        out = text and outputs.choose(self.rng, self.env, text)
        if not text or not out:
            return None
        if out not in self.env:
            name = self.name()
            self.add(f"{name} = {out}")
            out = name
        return text.replace("OUT", out)

    def view(self) -> str:
        rng = self.rng
        name = rng.choice([*self.env])
        x = self.env[name]
        if not x.ndim and rng.random() < 0.5:  # another name of a scalar, which never changes
            return f"{self.name()} = {name}"
        n = x.ndim
        kinds = [f"{name}[{self.key(x.shape)}]", f"{name}[{self.key(x.shape)}]", f"{name}.T"]
        kinds += [f"{name}.reshape(-1)", f"{name}[..., None]", f"xp.squeeze({name})"]
        if n:
            kinds += [f"xp.moveaxis({name}, {rng.randrange(n)}, {rng.randrange(n)})"]
            kinds += [
                f"{name}.reshape({x.shape[0]}, -1)",
                f"xp.broadcast_to({name}, {(2, *x.shape)})",
            ]
        if x.dtype.kind == "c":
            kinds += [f"{name}.real", f"{name}.imag"]
        return f"{self.name()} = {rng.choice(kinds)}"

    def select(self) -> str:
        rng = self.rng
        name = rng.choice([*self.env])
        x = np.asarray(self.env[name])
        if not x.ndim:
            return f"{self.name()} = {name} + {rng.choice(SCALARS)}"
        axis = rng.randrange(x.ndim)
        index = f"(xp.arange({rng.choice(lengths.SMALL)}) * 7) % {max(x.shape[axis], 1)}"
        width, dtype = rng.choice((1, 2, 3, 4, 6)), self.phrases.dtype()
        rows = f"{name}.reshape(-1)[:{60 * width}].astype({dtype!r}).reshape(-1, {width})"
        kinds = [
            f"({rows})[(xp.arange({rng.choice(lengths.SMALL)}) * 7) % {min(x.size, 60) or 1}]",
            f"xp.take({name}, {index}, axis={axis})",
            f"{name}[{index}]" if axis == 0 else f"{name}[:, {index}]",
            f"{name}[{name} > {rng.choice(SCALARS)}]",
            f"xp.cumsum({name}, axis={axis})",
            f"xp.sort({name}, axis={axis})",
            f"xp.argsort({name}, axis={axis}, kind='stable')",
            f"xp.diff({name}, axis={axis})",
            f"xp.roll({name}, 3, axis={axis})",
            f"xp.concatenate([{name}, {name}[::-1]], axis={axis})",
            f"xp.stack([{name}, {name} * 2], axis={axis})",
            f"xp.repeat({name}, 2, axis={axis})",
            f"xp.flip({name}, axis={axis})",
            f"xp.pad({name}, 1)",
            f"xp.nonzero({name})[0]",
            f"xp.unique({name})",
        ]
        return f"{self.name()} = {rng.choice(kinds)}"

    def fail(self) -> None:
        """A line that fails when it is run, as its values have it, and some that need it."""
        rng, found = self.rng, self.failing()
        if not found:
            return
        text, like = found
        try:
            with np.errstate(all="ignore"):
                twin = np.asarray(eval(like, {**self.env, **NAMES}))
        except Exception:
            return
        if twin.nbytes > MOST_BYTES:
            return
        name = self.name()
        if not self.takes(f"{name} = tried(lambda: {text})") or name in self.env:
            return
        others = dict(self.env)
        # What needs it is written with an array in its place, which does not fail.
        self.env[name] = twin
        shown = dict(self.env)
        lines = []
        for _ in range(rng.randint(1, 4)):
            key = self.key(twin.shape)
            e = self.phrases.expression(twin.shape, rng.randint(0, 3))
            kinds = [
                f"({name} {rng.choice('+-*')} {e})",
                f"xp.where({name} > 0, {e}, {e})",
                f"xp.sum({name} * {e}, axis={self.phrases.axes(twin.ndim)})",
                f"(xp.square({name}) + xp.max({name}))",
                f"put({e} + 0 * {name}, xp.index_exp[{key}], {name}[{key}])",
            ]  # fmt: skip
            if eval(f"{name}[{key}]", self.env.copy()).size < twin.size:  # what is whole is healed
                kinds.append(f"put({name}, xp.index_exp[{key}], {e})")
                kinds.append(f"put({name}, xp.index_exp[{key}], ({e} + 1).astype({name}.dtype))")
            if twin.dtype.kind == "i":
                kinds.append(f"({name} ** {e})")
            text = rng.choice(kinds)
            self.env.clear()
            self.env.update(shown)
            made = self.name()
            if self.takes(f"{made} = {text.replace(f'({name} ** ', f'({name} * ')}"):
                self.lines.pop()
                needs = sorted(set(re.findall(r"\bx\d+\b", text)))  # may have failed
                lines.append(f"{made} = tried(lambda: {text}, {', '.join(needs)})")
                shown[made] = self.env[made]
        self.env.clear()
        self.env.update(others)
        self.lines += lines

    def heal(self) -> None:
        """A write that may fail, and one of the whole array after it."""
        rng, name = self.rng, self.array()
        if name is None:
            return
        shape, before, count = np.shape(self.env[name]), dict(self.env), len(self.lines)
        more, *two = (self.phrases.expression(shape, rng.randint(0, 2)) for _ in range(3))
        made, bad, then = self.name(), self.name(), self.name()
        index = f"xp.arange({rng.choice(lengths.SMALL)}) * {rng.choice((7, -7, 1000))}"
        key = rng.choice((f"{index}, 1", f"{made} > {rng.choice(SCALARS)}, [1, 2, 3]"))
        self.add(f"{made} = {name} + 0")
        self.lines.append(f"{bad} = tried(lambda: put({made}, {key}))")
        if rng.random() < 0.5 and self.takes(f"{then} = ({made} * {more})"):
            self.env.pop(then)
            self.lines[-1] = f"{then} = tried(lambda: ({made} * {more}), {bad})"
        self.lines.append(f"del {bad}")
        whole = rng.choice((f"{made}[...] = {two[0]}", f"xp.add({two[0]}, {two[1]}, out={made})"))
        # (A write of nothing heals nothing.)
        if made not in self.env or not math.prod(shape) or not self.takes(whole):
            self.lines[count:] = []
            self.env.clear()
            self.env.update(before)

    def takes(self, text: str) -> bool:
        """Whether the line was taken in."""
        count = len(self.lines)
        self.add(text)
        return len(self.lines) > count

    def failing(self) -> tuple[str, str] | None:
        """An expression that may fail, and one of its shape and dtype that doesn't."""
        rng = self.rng
        name = rng.choice([*self.env])
        x = np.asarray(self.env[name])
        if not x.ndim:
            return None
        axis = rng.randrange(x.ndim)
        index = f"xp.arange({rng.choice(lengths.SMALL)}) * {rng.choice((1, 7, -7, 1000))}"
        kind = rng.randrange(5)
        if kind == 0:
            text = f"xp.take({name}, {index}%s, axis={axis})"
            return text % "", text % " * 0"
        if kind == 1:
            return f"put({name} + 0, {index}, 1)", f"{name} + 0"
        if kind == 2:
            return f"put({name} + 0, {name} > {rng.choice(SCALARS)}, [1, 2, 3])", f"{name} + 0"
        if kind == 3:
            n = rng.randint(1, 4)
            zero = f"xp.zeros(({n}, {n})) * xp.sum(xp.isfinite({name}))"
            return f"xp.linalg.inv({zero})", f"xp.ones(({n}, {n}))"
        whole = [n for n, x in self.env.items() if np.asarray(x).dtype.kind == "i" and np.ndim(x)]
        if not whole:
            return None
        a, b = rng.choice(whole), rng.choice(whole)
        if rng.random() < 0.5:
            b = f"({b} - {rng.choice((1, 3))})"
        return f"(({a} + 1) ** {b})", f"({a} * {b})"

    def call(self) -> str | None:
        """A sample call of NumPy's surface, on the program's arrays."""
        text = calls.written(self.rng, self.env)
        return text and f"{self.name()} = {text}"

    def drop(self) -> str | None:
        return f"del {self.rng.choice([*self.env])}" if len(self.env) > 2 else None

    def wait(self) -> str:
        return f"sync({self.rng.choice([*self.env])})"
