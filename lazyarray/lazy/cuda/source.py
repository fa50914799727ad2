"""Sources of generated kernels: CUDA C++ of fused elementwise instructions and reductions.

A source depends on nothing but its spec, a nest of plain tuples that native code builds:

    (kept, reduced, lanes, wide, operands, constants, body)

``kept``, ``reduced``: numbers of axes, slowest first; without reduced ones it is elementwise.
``lanes``: the index that neighbouring threads of a reduction run along, "reduced" or "kept"; or
"rows n", where a block keeps whole rows, n elements of one in each thread.
``wide``: whether an element's number needs 64 bits; else 31 are enough.
``operands``: (dtype character, "dense" | "one" | "strided" | "row") of each. Dense: element i of
the space lies at ``i * itemsize``; one: all steps are 0; row: an element for each row that is kept.
``constants``: a dtype character of each.
``body``: statements in program order, each value made once:

    ("load", v, operand)  ("const", v, k)  ("store", operand, v)
    ("op", name, in_types, out_types, (v, ...), (v, ...))
    ("reduce", name, in_type, out_type, v, operand, starts_with_first, identity)

where rows are kept, a reduction has a value in the operand's place: what follows uses or stores it.

A kernel takes one struct of 64-bit words. Elementwise: the number of elements, the shape. A
reduction: the numbers of kept and reduced elements, the reduced elements of one split, the
workspace (0 for one split), the shape. Then each operand's pointer, with its byte steps if it is
strided (those of the kept axes for a reduction's output, which always is, and for a row's), then
each constant in two words.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from lazyarray.lazy.cuda.expressions import (
    COMPLEX,
    TYPES,
    Unsupported,
    cast,
    expressions,
    literal,
    neutral,
)
from lazyarray.lazy.formulas import JOINS

__all__ = ["UNROLL", "Spec", "Unsupported", "combines", "prelude", "source", "words"]

UNROLL = 4
"""Elements a thread of an elementwise kernel; a block of 256 threads takes 256 * UNROLL."""

THREADS = 256
MOST_WORDS = 512  # 4 KB of arguments
SLOT = 16  # bytes of an accumulator in the workspace

Spec = tuple[int, int, str, bool, tuple[tuple[str, str], ...], str, tuple[tuple[Any, ...], ...]]


@cache
def _text(name: str) -> str:
    return files("lazyarray.lazy.cuda").joinpath(name).read_text()


def prelude(spec: Spec) -> str:
    """The device code that comes first in a spec's source."""
    return _text("prelude.cuh") + (_text("complex.cuh") if _is_complex(spec) else "")


def source(spec: Spec) -> str:
    """The CUDA C++ of a spec's kernel. Unsupported if an op or a dtype has no expression."""
    for dtype, _ in spec[4]:
        if dtype not in TYPES:
            raise Unsupported(f"dtype {dtype!r}")
    return f"{prelude(spec)}\n{_kernel(spec).text()}"


def words(spec: Spec) -> int:
    """The length of the kernel's argument, in words."""
    return _kernel(spec).words


def keeps_rows(spec: Spec) -> bool:
    """Whether it is one kernel for reductions of rows and what needs them."""
    return spec[2].startswith("rows")


def combines(spec: Spec) -> bool:
    """Whether its source has a second kernel, "combine", for reductions in pieces."""
    return spec[1] > 0 and not keeps_rows(spec)


def _kernel(spec: Spec) -> _Kernel:
    return (_Rows if keeps_rows(spec) else _Reduction if spec[1] else _Elementwise)(spec)


def _is_complex(spec: Spec) -> bool:
    dtypes = "".join(dtype for dtype, _ in spec[4]) + spec[5]
    for s in spec[6]:
        dtypes += s[2] + s[3] if s[0] in ("op", "reduce") else ""
    return any(d in COMPLEX for d in dtypes)


class _Operand(NamedTuple):
    """Where an operand's pointer and steps are among the words."""

    number: int
    dtype: str
    kind: str
    word: int
    axes: int  # that it has steps of

    @property
    def pointer(self) -> str:
        return f"p{self.number}"

    @property
    def type(self) -> str:
        return TYPES[self.dtype]

    def at(self, index: str, k: str = "k") -> str:
        """The element, as an lvalue; it is the thread's k-th."""
        if self.kind == "one":
            return f"*{self.pointer}"
        if self.kind == "dense":
            return f"{self.pointer}[{index}]"
        return f"*({self.type}*)({self.pointer} + {self.offset}[{k}])"

    @property
    def offset(self) -> str:
        return f"o{self.number}"


class _Kernel:
    """What both kinds of kernel share: the layout of the words, values, statements."""

    def __init__(self, spec: Spec, words: int) -> None:
        self.kept, self.reduced, self.lanes, self.wide, operands, constants, self.body = spec
        self.shape = words
        word = words + self.kept + self.reduced
        totals = {s[5] for s in self.body if s[0] == "reduce" and not keeps_rows(spec)}
        self.operands: list[_Operand] = []
        for number, (dtype, kind) in enumerate(operands):
            axes = self.kept if number in totals or kind == "row" else self.kept + self.reduced
            place = _Operand(number, dtype, kind, word, axes)
            self.operands.append(place)
            word += 1 + (axes if kind in ("strided", "row") else 0)
        self.constants, self.constant_word = constants, word
        self.words = word + 2 * len(constants)
        if self.words > MOST_WORDS:
            raise Unsupported(f"{self.words} words of arguments")
        self.dtypes: dict[int, str] = {}  # of values
        for s in self.body:
            match s:
                case ("load", v, operand):
                    self.dtypes[v] = self.operands[operand].dtype
                case ("const", v, k):
                    self.dtypes[v] = constants[k]
                case ("op", _, _, outs, _, made):
                    self.dtypes.update(zip(made, outs, strict=True))
                case ("reduce", _, _, out, _, made, *_) if keeps_rows(spec):
                    self.dtypes[made] = out

    @property
    def index(self) -> str:
        return "u8" if self.wide else "u4"

    def of_elements(self) -> set[int]:
        """Values of which each element has its own, not all elements (or those of a row) one."""
        many: set[int] = set()
        for s in self.body:
            match s:
                case ("load", v, operand) if self.operands[operand].kind in ("dense", "strided"):
                    many.add(v)
                case ("op", _, _, _, given, made) if many.intersection(given):
                    many.update(made)
        return many

    def text(self) -> str:
        raise NotImplementedError

    def head(self, name: str = "kernel") -> list[str]:
        return [f'extern "C" __global__ void {name}(Args a) {{']

    def pointers(self, numbers: list[int]) -> list[str]:
        lines = []
        for n in numbers:
            p = self.operands[n]
            type = "char" if p.kind in ("strided", "row") else p.type
            lines.append(f"  {type}* const {p.pointer} = ({type}*)a.w[{p.word}];")
        return lines

    def first_loads(self) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
        """Statements that may run for several elements before all the others, and the others."""
        first: list[tuple[Any, ...]] = []
        rest: list[tuple[Any, ...]] = []
        stored = False
        for s in self.body:
            stored = stored or s[0] == "store"
            # What lies after a store may read what was stored.
            (first if s[0] == "const" or (s[0] == "load" and not stored) else rest).append(s)
        return first, rest

    def once(self, first: list[tuple[Any, ...]]) -> list[str]:
        """Values that are the same for all elements."""
        lines = []
        for s in first:
            name = TYPES[self.dtypes[s[1]]]
            if s[0] == "const":
                word = self.constant_word + 2 * s[2]
                words = ", ".join(f"a.w[{word + i}]" for i in range(2 if name == "c16" else 1))
                lines.append(f"const {name} v{s[1]} = from_words<{name}>({words});")
            elif self.operands[s[2]].kind == "one":
                lines.append(f"const {name} v{s[1]} = *p{s[2]};")
        return lines

    def each(self, first: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """The loads among them that every element has its own of."""
        return [s for s in first if s[0] == "load" and self.operands[s[2]].kind != "one"]

    def statements(self, rest: list[tuple[Any, ...]], arrays: set[int], index: str) -> list[str]:
        """The body's statements for element k; ``arrays``: values that are arrays by k."""

        def value(v: int) -> str:
            return f"v{v}[k]" if v in arrays else f"v{v}"

        lines = []
        for s in rest:
            match s:
                case ("load", v, operand):
                    lines.append(
                        f"const {TYPES[self.dtypes[v]]} v{v} = {self.operands[operand].at(index)};"
                    )
                case ("store", operand, v):
                    place = self.operands[operand]
                    stored = cast(self.dtypes[v], place.dtype, value(v))
                    lines.append(f"{self.operands[operand].at(index)} = {stored};")
                case ("op", name, ins, outs, given, made):
                    parts = expressions(name, ins, outs, [value(v) for v in given])
                    for v, dtype, part in zip(made, outs, parts, strict=True):
                        lines.append(f"const {TYPES[dtype]} v{v} = {part};")
                case ("reduce", *_):
                    lines.append(self.reduce(s, value(s[4])))
                case _:
                    raise Unsupported(f"statement {s[0]!r}")
        return lines

    def reduce(self, s: tuple[Any, ...], value: str) -> str:
        raise Unsupported("a reduction without reduced axes")

    def offsets(self, operands: list[_Operand], number: str, axes: range, target: str) -> list[str]:
        """Adds up the byte offsets ``target`` of the element with that number on these axes."""
        if not operands or not axes:
            return []
        lines = []
        if len(axes) > 1:
            lines.append(f"{self.index} rest = {number}, at;")
        for axis in reversed(axes):
            length = f"({self.index})a.w[{self.shape + axis}]"
            at = number if len(axes) == 1 else "rest"
            if axis != axes[0]:
                lines.append(f"at = rest % {length}, rest /= {length};")
                at = "at"
            for p in operands:
                step = f"a.w[{p.word + 1 + axis}]"
                lines.append(f"{target.format(p.number)} += (i8){at} * {step};")
        return [f"{{ {' '.join(lines)} }}"] if len(lines) == 1 else ["{", *_indented(lines), "}"]


def _used(s: tuple[Any, ...]) -> tuple[int, ...]:
    """The values that an "op" or a "store" uses."""
    return s[4] if s[0] == "op" else s[2:] if s[0] == "store" else ()


def _made(s: tuple[Any, ...]) -> tuple[int, ...]:
    """The values that an "op" or a "load" makes."""
    return s[5] if s[0] == "op" else s[1:2] if s[0] == "load" else ()


def _assigned(op: tuple[Any, ...], value: Callable[[int], str]) -> list[str]:
    """An op for element k of arrays of values."""
    _, name, ins, outs, given, made = op
    parts = expressions(name, ins, outs, [value(v) for v in given])
    return [f"v{v}[k] = {part};" for v, part in zip(made, parts, strict=True)]


def _indented(lines: list[str], by: int = 2) -> list[str]:
    return [" " * by + line for line in lines]


def _loop(times: int, body: list[str]) -> list[str]:
    """An unrolled loop over the elements k of a thread; nothing without a body."""
    if not body:
        return []
    return ["#pragma unroll", f"for (int k = 0; k < {times}; ++k) {{", *_indented(body), "}"]


def _unrolled(element: str, guard: str, body: list[str]) -> list[str]:
    """The same for those of them that there are."""
    return _loop(UNROLL, [element, guard, *_indented(body), "}"]) if body else []


class _Elementwise(_Kernel):
    """A thread's elements go through the body in step, as many as have a place in its registers.

    So one wait, and one load of a constant, is for all of them. (Black-Scholes of 64M float32 on an
    H200: 381 us, one element after the other 464.) Elements behind the last one take part with
    zeros, which nobody stores.
    """

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec, 1)
        self.many = self.of_elements()

    def text(self) -> str:
        first, rest = self.first_loads()
        self.loaded = {s[1] for s in self.each(first)}
        strided = [p for p in self.operands if p.kind == "strided"]
        self.together = self.in_step(rest)
        self.k = "k" if self.together == UNROLL else "j + k"
        index = self.index
        lines = [f"struct Args {{ i8 w[{self.words}]; }};", *self.head()]
        lines += self.pointers(list(range(len(self.operands))))
        lines += [
            f"  const {index} n = a.w[0];",
            f"  const {index} start = {index}(blockIdx.x) * {THREADS * UNROLL} + threadIdx.x;",
            *_indented(self.once(first)),
        ]
        lines += [f"  i8 {p.offset}[{UNROLL}];" for p in strided]
        lines += [f"  {TYPES[self.dtypes[v]]} v{v}[{UNROLL}];" for v in sorted(self.loaded)]
        fetch = [f"{p.offset}[k] = 0;" for p in strided]
        fetch += self.offsets(strided, "i", range(self.kept), "o{}[k]")
        fetch += [line for s in self.each(first) for line in self.load(s)]
        if fetch:
            fetch = [f"const {index} i = start + k * {THREADS};", *fetch]
        lines += _indented(_loop(UNROLL, fetch))
        body = [line for s in rest for line in self.step(s)]
        if self.together < UNROLL:
            head = f"for (int j = 0; j < {UNROLL}; j += {self.together}) {{"
            body = ["#pragma unroll", head, *_indented(body), "}"]
        return "\n".join([*lines, *_indented(body), "}", ""])

    def in_step(self, rest: list[tuple[Any, ...]]) -> int:
        """How many elements go in step, so that what is needed later has some 64 registers."""
        last = {v: at for at, s in enumerate(rest) for v in _used(s)}
        words = {v: max(1, int(TYPES[self.dtypes[v]][1:]) // 4) for v in self.many}
        live = most = sum(words[v] for v in self.loaded)
        for at, s in enumerate(rest):
            live += sum(words[v] for v in self.many.intersection(_made(s)))
            most = max(most, live)
            ended = {v for v in (*_used(s), *_made(s)) if last.get(v, at) == at}
            live -= sum(words[v] for v in self.many & ended)
        together = UNROLL
        while together > 1 and together * most > 64:
            together //= 2
        return together

    def value(self, v: int) -> str:
        return f"v{v}[{self.k}]" if v in self.loaded else f"v{v}[k]" if v in self.many else f"v{v}"

    def load(self, s: tuple[Any, ...], k: str = "k") -> list[str]:
        """The thread's ``k``-th element, or a zero."""
        _, v, operand = s
        place, name = self.operands[operand].at("i", k), TYPES[self.dtypes[v]]
        return [f"v{v}[k] = {name}();", f"if (i < n) v{v}[k] = {place};"]

    def step(self, s: tuple[Any, ...]) -> list[str]:
        """A statement for the elements that go in step."""
        made = _made(s)
        if made and not self.many.intersection(made):
            return self.once([s]) if s[0] == "load" else self.statements([s], set(), "")
        declared = [f"{TYPES[self.dtypes[v]]} v{v}[{self.together}];" for v in made]
        k = f"({self.k})" if " " in self.k else self.k
        element = f"const {self.index} i = start + {k} * {THREADS};"
        match s:
            case ("load", *_):
                inner = [element, *self.load(s, self.k)]
            case ("store", operand, v):
                place = self.operands[operand]
                stored = cast(self.dtypes[v], place.dtype, self.value(v))
                inner = [element, f"if (i < n) {place.at('i', self.k)} = {stored};"]
            case ("op", *_):
                inner = _assigned(s, self.value)
            case _:
                return self.statements([s], set(), "")  # which says what is wrong with it
        return [*declared, *_loop(self.together, inner)]


class _Total(NamedTuple):
    """One reduction of a body: its accumulator."""

    number: int
    name: str
    dtype: str  # the element's
    acc: str  # the accumulator's
    to: int  # the operand; where rows are kept, the value
    start: str

    @property
    def join(self) -> str:
        return expressions(JOINS[self.name].op, self.acc * 2, self.acc, ["x", "y"])[0]


class _Totals(_Kernel):
    """What has reductions."""

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec, 4)
        self.totals: list[_Total] = []
        for s in self.body:
            if s[0] == "reduce":
                _, name, _, dtype, v, to, first, identity = s
                if name not in JOINS:
                    raise Unsupported(f"reduction {name!r}")
                acc = "f" if dtype == "e" else dtype  # halves are added up as floats
                if first:
                    start = neutral(JOINS[name], acc)
                else:
                    start = cast(dtype, acc, literal(dtype, identity))
                self.totals.append(_Total(len(self.totals), name, self.dtypes[v], acc, to, start))

    def total(self, s: tuple[Any, ...]) -> _Total:
        """A "reduce" statement's."""
        return next(t for t in self.totals if t.to == s[5])

    def reduce(self, s: tuple[Any, ...], value: str) -> str:
        total = self.total(s)
        r = total.number
        return f"t{r}[k] = join{r}(t{r}[k], {cast(total.dtype, total.acc, value)});"

    def joins(self) -> list[str]:
        """How two accumulators of each become one."""
        lines = [f"struct Args {{ i8 w[{self.words}]; }};"]
        for t in self.totals:
            name = TYPES[t.acc]
            lines.append(f"DEVICE {name} join{t.number}({name} x, {name} y) {{ return {t.join}; }}")
        return lines


class _Reduction(_Totals):
    def text(self) -> str:
        return "\n".join([*self.joins(), *self.main(), *self.combine()])

    def main(self) -> list[str]:
        across = self.lanes == "reduced"
        member, team, lane, lanes = "xxyy" if across else "yyxx"
        index = self.index
        first, rest = self.first_loads()
        each = self.each(first)
        outs = {t.to for t in self.totals}
        inner = [p for p in self.operands if p.number not in outs]
        strided = [p for p in inner if p.kind == "strided"]
        lines = [*self.head(), *self.pointers([p.number for p in inner])]
        lines += [
            f"  const {index} kept = a.w[0], reduced = a.w[1], split = a.w[2];",
            f"  const int member = threadIdx.{member}, team = blockDim.{team};",
            f"  const {index} o = {index}(blockIdx.x) * blockDim.{lanes} + threadIdx.{lane};",
            f"  const {index} begin = blockIdx.y * split;",
            f"  const {index} end = reduced - begin < split ? reduced : begin + split;",
            *_indented(self.once(first)),
        ]
        for t in self.totals:
            start = ", ".join([t.start] * UNROLL)
            lines.append(f"  {TYPES[t.acc]} t{t.number}[{UNROLL}] = {{{start}}};")
        lines.append("  if (o < kept) {")
        lines += [f"    i8 base{p.number} = 0;" for p in strided]
        lines += _indented(self.offsets(strided, "o", range(self.kept), "base{}"), 4)
        axes = range(self.kept, self.kept + self.reduced)
        fetch = [f"{p.offset}[k] = base{p.number};" for p in strided]
        fetch += self.offsets(strided, "r", axes, "o{}[k]")
        number = "o * reduced + r"
        fetch += [f"v{s[1]}[k] = {self.operands[s[2]].at(number)};" for s in each]
        body = self.statements(rest, {s[1] for s in each}, number)
        lines.append(f"    for ({index} i = begin + member; i < end; i += {UNROLL} * team) {{")
        lines += [f"      i8 {p.offset}[{UNROLL}];" for p in strided]
        lines += [f"      {TYPES[self.dtypes[s[1]]]} v{s[1]}[{UNROLL}];" for s in each]
        element = f"const {index} r = i + k * team;", "if (r < end) {"
        lines += _indented([*_unrolled(*element, fetch), *_unrolled(*element, body)], 6)
        lines += ["    }", "  }"]
        slots = "threadIdx.y * team, 1" if across else "threadIdx.x, blockDim.x"
        for t in self.totals:
            lines.append(f"  for (int k = 1; k < {UNROLL}; ++k)")
            lines.append(f"    t{t.number}[0] = join{t.number}(t{t.number}[0], t{t.number}[k]);")
        lines += self.teams("[0]", "member", "team", slots)
        lines.append("  if (o < kept && member == 0) {")
        slot = f"(({{}}ull * gridDim.y + blockIdx.y) * kept + o) * {SLOT}"
        lines.append("    if (a.w[3]) {")
        for t in self.totals:
            place = slot.format(t.number)
            lines.append(f"      *({TYPES[t.acc]}*)((char*)a.w[3] + {place}) = t{t.number}[0];")
        lines.append("    } else {")
        lines += _indented(self.store("[0]"), 6)
        return [*lines, "    }", "  }", "}"]

    def combine(self) -> list[str]:
        """The kernel that adds up the splits' accumulators, which lie in the workspace."""
        lines = self.head("combine")
        lines += [
            "  const u8 kept = a.w[0], splits = (a.w[1] + a.w[2] - 1) / a.w[2], o = blockIdx.x;",
            "  const char* const slots = (char*)a.w[3];",
        ]
        for t in self.totals:
            name, r = TYPES[t.acc], t.number
            place = f"(({r} * splits + s) * kept + o) * {SLOT}"
            lines += [
                f"  {name} t{r} = {t.start};",
                "  for (u8 s = threadIdx.x; s < splits; s += blockDim.x)",
                f"    t{r} = join{r}(t{r}, *(const {name}*)(slots + {place}));",
            ]
        lines += self.teams("", "threadIdx.x", "blockDim.x", "0, 1")
        lines += ["  if (threadIdx.x == 0) {", *_indented(self.store(""), 4), "  }", "}", ""]
        return lines

    def teams(self, suffix: str, member: str, team: str, slots: str) -> list[str]:
        lines = []
        for t in self.totals:
            total, name = f"t{t.number}{suffix}", f"{TYPES[t.acc]}, join{t.number}"
            call = f"team_total<{name}>({total}, {member}, {team}, {slots})"
            lines.append(f"  {total} = {call};")
        return lines

    def store(self, suffix: str) -> list[str]:
        """Stores the totals of output ``o``."""
        outs = {t.to: self.operands[t.to] for t in self.totals}
        lines = [f"i8 base{number} = 0;" for number in outs]
        lines += self.offsets(list(outs.values()), "o", range(self.kept), "base{}")
        for t in self.totals:
            out = outs[t.to]
            total = cast(t.acc, out.dtype, f"t{t.number}{suffix}")
            lines.append(f"*({out.type}*)((char*)a.w[{out.word}] + base{t.to}) = {total};")
        return lines


class _Rows(_Totals):
    """A block keeps whole rows, by teams of threads: elements in registers, totals in each thread.

    The body runs statement by statement. Those on a row's elements are loops over a thread's,
    neighbours in one; those on its totals are done by all of its team. What is loaded comes first:
    then the members of a team may store what the others have seen. Threads of a row behind the last
    one, and elements behind a row's end, take part with zeros, which nobody stores or adds up.
    """

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec)
        self.elements = int(spec[2].removeprefix("rows "))
        self.many = self.of_elements()

    def text(self) -> str:
        return "\n".join([*self.joins(), *self.main(), ""])

    def main(self) -> list[str]:
        index, n = self.index, self.elements
        placed = [p for p in self.operands if p.kind in ("strided", "row")]
        lines = [*self.head(), *self.pointers(list(range(len(self.operands))))]
        lines += [
            f"  const {index} kept = a.w[0], reduced = a.w[1];",
            "  const int member = threadIdx.x, team = blockDim.x;",
            f"  const {index} o = {index}(blockIdx.x) * blockDim.y + threadIdx.y;",
            *[f"  i8 base{p.number} = 0;" for p in placed],
            *_indented(self.offsets(placed, "o", range(self.kept), "base{}")),
        ]
        for v in sorted(self.many):
            lines.append(f"  {TYPES[self.dtypes[v]]} v{v}[{n}];")
        loads = [s for s in self.body if s[0] in ("load", "const")]
        for s in loads:
            lines += _indented(self.row(s) if s[1] not in self.many else self.loop([s]))
        stored = {s[1] for s in self.body if s[0] == "store"}
        if any(s[0] == "load" and s[1] not in self.many and s[2] in stored for s in loads):
            lines.append("  __syncthreads();")
        together: list[tuple[Any, ...]] = []  # statements on elements that no total comes between
        for s in [s for s in self.body if s not in loads]:
            if self.on_elements(s):
                together.append(s)
                continue
            if s[0] == "reduce":
                lines += _indented(self.loop(together))
                together = []
            lines += _indented(self.row(s))
        return [*lines, *_indented(self.loop(together)), "}"]

    def on_elements(self, s: tuple[Any, ...]) -> bool:
        """Whether a statement runs for each element of a row."""
        match s:
            case ("store", operand, _):
                return self.operands[operand].kind in ("dense", "strided")
            case ("op", _, _, _, _, made):
                return made[0] in self.many
        return False

    def loop(self, statements: list[tuple[Any, ...]]) -> list[str]:
        """Statements for each element of a thread."""
        if not statements:
            return []
        lines = []
        for s in statements:
            match s:
                case ("load", v, operand):
                    lines += [
                        f"v{v}[k] = {TYPES[self.dtypes[v]]}();",
                        *self.inside(operand, f"v{v}[k] = ", ""),
                    ]
                case ("store", operand, v):
                    stored = cast(self.dtypes[v], self.operands[operand].dtype, self.value(v))
                    lines += self.inside(operand, "", f" = {stored}")
                case ("op", *_):
                    lines += _assigned(s, self.value)
                case ("reduce", _, _, _, v, *_):
                    t = self.total(s)
                    value = cast(t.dtype, t.acc, self.value(v))
                    joined = f"join{t.number}(t{t.number}, {value})"
                    lines.append(f"if (o < kept && r < reduced) t{t.number} = {joined};")
        return _loop(self.elements, [f"const {self.index} r = member + k * team;", *lines])

    def value(self, v: int) -> str:
        return f"v{v}[k]" if v in self.many else f"v{v}"

    def inside(self, operand: int, before: str, after: str) -> list[str]:
        """What is done with an operand's element, written between these, if there is one."""
        p = self.operands[operand]
        if p.kind == "dense":
            return [f"if (o < kept && r < reduced) {before}p{operand}[o * reduced + r]{after};"]
        return [
            "if (o < kept && r < reduced) {",
            f"  i8 o{operand} = base{operand};",
            *_indented(self.offsets([p], "r", range(self.kept, self.kept + self.reduced), "o{}")),
            f"  {before}*({p.type}*)(p{operand} + o{operand}){after};",
            "}",
        ]

    def row(self, s: tuple[Any, ...]) -> list[str]:
        """A statement on what is one for a row."""
        match s:
            case ("const", *_):
                return self.once([s])
            case ("load", _, operand) if self.operands[operand].kind == "one":
                return self.once([s])
            case ("load", v, operand):
                p, name = self.operands[operand], TYPES[self.dtypes[v]]
                place = f"*({p.type}*)(p{operand} + base{operand})"
                return [f"const {name} v{v} = o < kept ? {place} : {name}();"]
            case ("store", operand, v):
                p = self.operands[operand]
                stored = cast(self.dtypes[v], p.dtype, f"v{v}")
                place = f"*({p.type}*)(p{operand} + base{operand})"
                return [f"if (o < kept && member == 0) {place} = {stored};"]
            case ("op", *_):
                return self.statements([s], set(), "")
            case ("reduce", _, _, out, _, made, *_):
                t = self.total(s)
                name, r = TYPES[t.acc], t.number
                call = f"team_total_for_all<{name}, join{r}>"
                given = f"t{r}, member, team, threadIdx.y * team, 1"
                return [
                    f"{name} t{r} = {t.start};",
                    *self.loop([s]),
                    f"const {TYPES[out]} v{made} = {cast(t.acc, out, f'{call}({given})')};",
                ]
        raise Unsupported(f"statement {s[0]!r}")
