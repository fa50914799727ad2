"""A chain's description (see chains.cpp), and how its operands' elements are read and written.

It has four parts, separated by ``|``: how many loops there are; the operands, each
``dtype access step``, with ``r`` for what is read and ``w`` for what is written, and for the
innermost loop's step ``d`` (the items lie one after the other), ``1`` (it stands still), ``c`` (it
does in all loops), ``s``, ``r`` for the sum of a row, ``p`` for that of a piece of one, or ``k``
for the sums of columns; the instructions, each ``name dtypes operand ... result``, where ``a3`` is
operand 3 and ``t3`` a value; and which value each operand that is written gets, ``t3:a5``.
"""

from __future__ import annotations

from collections.abc import Callable

from lazyarray.lazy.cpu.jit.expressions import (
    LANES,
    TYPES,
    Writer,
    cast,
    may_raise,
    needs_operands,
    write,
)
from lazyarray.lazy.formulas import JOINS

SUMS = "rpk"
_AXES = 8  # from one operand's steps to the next's: kAxes of lazy/space.h


class Loop:
    """A description, taken apart."""

    def __init__(self, description: str) -> None:
        loops, operands, instructions, results = description.split("|")
        self.inner = int(loops) - 1
        self.operands = [o.split() for o in operands.split(",")]
        self.instructions = [s.split() for s in instructions.split(",")]
        self.results: dict[str, str] = {}  # the value that an operand gets
        for pair in results.split(","):
            value, operand = pair.split(":")
            self.results[operand] = value
        # By the sums' values: what is added up, and its dtype.
        self.sums = {s[3]: (s[2], s[1][0]) for s in self.instructions if s[0] in JOINS}
        steps = {step for _, _, step in self.operands}
        self.pieces, self.columns = "p" in steps, "k" in steps
        self.unseen = self._unseen()
        self.all_bits: dict[str, str] = {}  # see body()

    def _unseen(self) -> list[tuple[str, str]]:
        """Results of ops that may raise flags, and their dtypes, that no operand needs for sure.

        Flags are heard of whatever becomes of a result: NumPy's loops compute all of it. To LLVM an
        operation has no effect but its result: it drops what nobody needs (the root in
        ``isnan(sqrt(x))``), and moves what is seldom chosen (``where(x == 0, 0, y / x)``) to where
        it is chosen.
        """
        seen = {*self.results.values(), *self.sums}
        unseen = []
        for name, dtypes, *given, result in reversed(self.instructions):
            if result not in seen and name not in JOINS and may_raise(name, dtypes):
                unseen.append((result, dtypes[-1]))
                seen.add(result)
            if result in seen and needs_operands(name, dtypes):
                seen.update(given)
        return unseen

    def still(self, k: int) -> bool:
        """Whether an operand is one element for the whole innermost loop."""
        return self.operands[k][1] == "r" and self.operands[k][2] in "1c"

    def spread(self, w: Writer, kept: dict[str, str]) -> dict[str, str]:
        """The operands that stand still, for eight elements."""
        spread = {}
        for k, (c, _, _) in enumerate(self.operands):
            if self.still(k):
                t = TYPES[c][0]
                many, to_all = w.type(t), f"<{LANES} x i32> zeroinitializer"
                one = w(f"insertelement {many} poison, {t} {kept[f'a{k}']}, i64 0")
                spread[f"a{k}"] = w(f"shufflevector {many} {one}, {many} poison, {to_all}")
        return spread

    def body(
        self, w: Writer, kept: dict[str, str], address: Callable[[int], str]
    ) -> dict[str, str]:
        """Writes what is done for an element, or eight; gives all values by their names.

        ``kept`` has the values of the operands that stand still, ``address(k)`` writes where the
        others' elements are. ``all_bits`` has, by its type, a number that depends on all unseen
        values.
        """
        values = dict(kept)
        for k, (c, access, _) in enumerate(self.operands):
            if access == "r" and not self.still(k):
                values[f"a{k}"] = load(w, c, address(k), self._step(k))
        constants = {f"a{k}" for k, (_, _, step) in enumerate(self.operands) if step == "c"}
        for name, dtypes, *given, result in self.instructions:
            if name not in JOINS:
                still = [g in constants for g in given]
                values[result] = write(w, name, dtypes, [values[g] for g in given], still)
        self.all_bits = {}
        for value, c in self.unseen:
            number = "i32" if c == "f" else "i64"
            t = w.type(number)
            if TYPES[c][1] == "f":
                bits = w(f"bitcast {w.type(TYPES[c][0])} {values[value]} to {t}")
            else:
                bits = cast(w, c, "l", values[value])
            known = self.all_bits.get(number)
            self.all_bits[number] = w(f"or {t} {known}, {bits}") if known else bits
        for k, (c, access, step) in enumerate(self.operands):
            if access == "w" and step not in SUMS:
                _store(w, c, values[self.results[f"a{k}"]], address(k), self._step(k))
        return values

    def sink(self) -> list[str]:
        """Where heard() stores a number that depends on all unseen values."""
        return [f"  %sink = alloca <{LANES} x i64>"] if self.unseen else []

    def heard(
        self, w: Writer, kept: dict[str, str], address: Callable[[int], str]
    ) -> dict[str, str]:
        """The same as body(), with that number stored: the flags of all values are heard of."""
        values = self.body(w, kept, address)
        w.lines += [
            f"  store volatile {w.type(t)} {x}, ptr %sink" for t, x in self.all_bits.items()
        ]
        return values

    def _step(self, k: int) -> str:
        """The name of an operand's step from element to element; "": they lie side by side."""
        return "" if self.operands[k][2] == "d" else f"%s{k}_{self.inner}"


def stored(c: str) -> str:
    """The type that an element of a dtype has in memory."""
    return "i8" if c == "?" else TYPES[c][0]


def load(w: Writer, c: str, address: str, step: str) -> str:
    t = stored(c)
    if not w.wide:
        x = w(f"load {t}, ptr {address}, !llvm.access.group !0")
    elif not step:
        x = w(f"load {w.type(t)}, ptr {address}, align 1")
    else:
        x = "poison"
        for i in range(LANES):
            at = w(f"getelementptr i8, ptr {address}, i64 {w(f'mul i64 {step}, {i}')}")
            x = w(f"insertelement {w.type(t)} {x}, {t} {w(f'load {t}, ptr {at}')}, i64 {i}")
    return truth(w, x) if c == "?" else x


def load_still(w: Writer, c: str, address: str) -> str:
    """The element of an operand that stands still: a loop writes no memory that it reads."""
    x = w(f"load {stored(c)}, ptr {address}, !invariant.load !2")
    return truth(w, x) if c == "?" else x


def plus(c: str) -> str:
    """The instruction that adds up elements of a dtype."""
    return "fadd" if TYPES[c][1] == "f" else "add"


def truth(w: Writer, x: str) -> str:
    """Of a bool's byte, or eight."""
    return w(f"icmp ne {w.type('i8')} {x}, {'zeroinitializer' if w.wide else '0'}")


def _store(w: Writer, c: str, x: str, address: str, step: str) -> None:
    t = stored(c)
    if c == "?":
        x = w(f"zext {w.type('i1')} {x} to {w.type('i8')}")
    if not w.wide:
        w.lines.append(f"  store {t} {x}, ptr {address}, !llvm.access.group !0")
    elif not step:
        w.lines.append(f"  store {w.type(t)} {x}, ptr {address}, align 1")
    else:
        for i in range(LANES):
            at = w(f"getelementptr i8, ptr {address}, i64 {w(f'mul i64 {step}, {i}')}")
            one = w(f"extractelement {w.type(t)} {x}, i64 {i}")
            w.lines.append(f"  store {t} {one}, ptr {at}")


def element_address(w: Writer, loop: Loop, k: int, base: str, index: str) -> str:
    """Writes where an operand's element is in the innermost loop."""
    c, _, step = loop.operands[k]
    if step in "dk":
        return w(f"getelementptr inbounds {stored(c)}, ptr {base}, i64 {index}")
    return w(f"getelementptr i8, ptr {base}, i64 {w(f'mul i64 {index}, %s{k}_{loop.inner}')}")


def step_of(k: int, i: int) -> list[str]:
    """Loads operand k's step in loop i."""
    return [
        f"  %sp{k}_{i} = getelementptr i64, ptr %steps, i64 {k * _AXES + i}",
        f"  %s{k}_{i} = load i64, ptr %sp{k}_{i}, !invariant.load !2",
    ]
