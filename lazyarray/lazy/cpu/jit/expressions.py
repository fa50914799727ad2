"""Formulas (lazy/formulas.py) in LLVM's language: for one element, or eight as a vector.

What is compiled has the same bits whoever does it: IEEE and integer operations, comparisons,
choices, casts, and the functions below. A formula with anything else stays NumPy's. Values of bools
are ``i1``.
"""

from __future__ import annotations

import ast
import platform
from collections.abc import Callable, Iterator
from functools import cache, partial

from lazyarray.lazy.formulas import FORMULAS, JOINS, parsed

# Our dtypes by their characters: LLVM's type, NumPy's kind.
TYPES = {
    "?": ("i1", "b"),
    "b": ("i8", "i"), "h": ("i16", "i"), "i": ("i32", "i"), "l": ("i64", "i"), "q": ("i64", "i"),
    "B": ("i8", "u"), "H": ("i16", "u"), "I": ("i32", "u"), "L": ("i64", "u"), "Q": ("i64", "u"),
    "f": ("float", "f"), "d": ("double", "f"),
}  # fmt: skip

_KNOWN = "".join(TYPES)

_IS_X86 = platform.machine() == "x86_64"
LANES = 8  # of vectors: NumPy's sums have as many accumulators


class Writer:
    """Collects instructions, and names their results."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.declared: set[str] = set()
        self.count = 0
        self.wide = False  # whether what is written is for eight elements
        self.still: list[bool] = []  # which operands of an op are the same for all elements

    def type(self, element: str) -> str:
        """The type of values: the element's, or a vector of such."""
        return f"<{LANES} x {element}>" if self.wide else element

    def __call__(self, text: str) -> str:
        """Adds an instruction; the name of its result."""
        self.count += 1
        name = f"%v{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

    def taken(self) -> list[str]:
        """What was written since the last time."""
        lines, self.lines = self.lines, []
        return lines

    def intrinsic(self, name: str, type: str, *values: str) -> str:
        """A call of ``llvm.name`` on values of one type."""
        full = f"@llvm.{name}.{_suffix(type)}"
        self.declared.add(f"declare {type} {full}({', '.join([type] * len(values))})")
        return self(f"call {type} {full}({', '.join(f'{type} {v}' for v in values)})")


def _suffix(type: str) -> str:
    lanes, element = _parts(type)
    return ("" if lanes == "" else f"v{LANES}") + {"double": "f64", "float": "f32"}.get(
        element, element
    )


def _parts(type: str) -> tuple[str, str]:
    """What stands around an element's type, and that."""
    return (f"<{LANES} x ", type[len(f"<{LANES} x ") : -1]) if type.startswith("<") else ("", type)


def _like(type: str, element: str) -> str:
    """The type of as many elements of another type."""
    lanes, _ = _parts(type)
    return f"{lanes}{element}>" if lanes else element


def literal(type: str, number: str) -> str:
    """The same number for all elements."""
    lanes, element = _parts(type)
    return f"splat ({element} {number})" if lanes else number


# ---- functions -----------------------------------------------------------------------------------

Value = tuple[str, str, str]  # its name, the type of elements, their kind: b, i, u, f
Rule = Callable[[Writer, str, str, list[str]], str]  # writer, type, kind, values: the result's


class Unknown(Exception):
    """A formula, or a part of one, that is not compiled."""


def _call(name: str, *more: str) -> Rule:
    def rule(w: Writer, t: str, k: str, v: list[str]) -> str:
        if more:  # an immediate argument
            full = f"@llvm.{name}.{_suffix(t)}"
            w.declared.add(f"declare {t} {full}({t}, i1)")
            return w(f"call {t} {full}({t} {v[0]}, {more[0]})")
        return w.intrinsic(name, t, *v)

    return rule


def _truth(w: Writer, t: str, k: str, v: list[str]) -> str:
    if k == "b":
        return v[0]
    zero = literal(t, "0.0" if k == "f" else "0")
    return w(f"{'fcmp une' if k == 'f' else 'icmp ne'} {t} {v[0]}, {zero}")


def _select(w: Writer, t: str, which: str, yes: str, no: str) -> str:
    return w(f"select {_like(t, 'i1')} {which}, {t} {yes}, {t} {no}")


def _chosen(ahead: str) -> Rule:
    """As NumPy's vector loops have it: a NaN stays; of two equal values the second is taken."""

    def rule(w: Writer, t: str, k: str, v: list[str]) -> str:
        a, b = v
        first = w(f"fcmp {ahead} {t} {a}, {b}")
        one = _select(w, t, first, a, b)
        return _select(w, t, w(f"fcmp ord {t} {a}, {a}"), one, a)

    return rule


def _clipped(w: Writer, t: str, k: str, v: list[str]) -> str:
    """Of reals NumPy's rule where both bounds stand still: equals stay, a bound's NaN wins."""
    x, least, most = v
    if k != "f":
        letter = "s" if k == "i" else "u"
        risen = w.intrinsic(f"{letter}max", t, x, least)
        return w.intrinsic(f"{letter}min", t, risen, most)
    if not all(w.still[1:]):
        # NumPy has two rules for zeros: which one a row gets depends on the loops' order.
        raise Unknown("clip between bounds that differ from element to element")
    above = _select(w, t, w(f"fcmp olt {t} {x}, {least}"), least, x)
    inside = _select(w, t, w(f"fcmp ogt {t} {above}, {most}"), most, above)
    below = _select(w, t, w(f"fcmp uno {t} {most}, {most}"), most, inside)
    return _select(w, t, w(f"fcmp uno {t} {least}, {least}"), least, below)


def _shifted(w: Writer, t: str, k: str, v: list[str], left: bool) -> str:
    """By as many bits as a number has, or more, or less than none: all of them leave."""
    a, by = v
    bits = int(_parts(t)[1][1:])
    fits = w(f"icmp ult {t} {by}, {literal(t, str(bits))}")
    if not left and k == "i":  # the sign's bit stays
        return w(f"ashr {t} {a}, {_select(w, t, fits, by, literal(t, str(bits - 1)))}")
    return _select(w, t, fits, w(f"{'shl' if left else 'lshr'} {t} {a}, {by}"), literal(t, "0"))


_INF = "0x7FF0000000000000"  # of singles, too


def _against_infinity(order: str) -> Rule:
    def rule(w: Writer, t: str, k: str, v: list[str]) -> str:
        return w(f"fcmp {order} {t} {w.intrinsic('fabs', t, v[0])}, {literal(t, _INF)}")

    return rule


def _has_sign(w: Writer, t: str, k: str, v: list[str]) -> str:
    i = _like(t, "i32" if _parts(t)[1] == "float" else "i64")
    return w(f"icmp slt {i} {w(f'bitcast {t} {v[0]} to {i}')}, {literal(i, '0')}")


def _signum(w: Writer, t: str, k: str, v: list[str]) -> str:
    x, nought = v[0], literal(t, "0.0")
    zero = _select(w, t, w(f"fcmp oeq {t} {x}, {nought}"), nought, x)
    below = _select(w, t, w(f"fcmp olt {t} {x}, {nought}"), literal(t, "-1.0"), zero)
    return _select(w, t, w(f"fcmp ogt {t} {x}, {nought}"), literal(t, "1.0"), below)


# By their names in formulas: of which kinds of operands, all of one type. The result has that type.
_FUNCTIONS: dict[str, tuple[str, Rule]] = {
    **{name: ("f", _call(name)) for name in "fabs sqrt copysign floor ceil trunc rint".split()},
    "magnitude": ("i", _call("abs", "i1 false")),
    "signum": ("f", _signum),
    "clipped": ("iuf", _clipped),
    "shift_left": ("iu", partial(_shifted, left=True)),
    "shift_right": ("iu", partial(_shifted, left=False)),
}
if _IS_X86:  # elsewhere NumPy's vector loops tell the zeros apart
    _FUNCTIONS |= {"larger": ("f", _chosen("ogt")), "smaller": ("f", _chosen("olt"))}
# ... and a bool.
_PREDICATES: dict[str, tuple[str, Rule]] = {
    "truth": ("biuf", _truth),
    "has_sign": ("f", _has_sign),
    "is_nan": ("f", lambda w, t, k, v: w(f"fcmp uno {t} {v[0]}, {v[0]}")),
    "is_inf": ("f", _against_infinity("oeq")),
    "is_finite": ("f", _against_infinity("one")),
}


# ---- formulas ------------------------------------------------------------------------------------

_KINDS = {"b": "bool", "i": "signed", "u": "unsigned", "f": "real"}
# The instruction for integers, and for reals.
_ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("add", "fadd"), ast.Sub: ("sub", "fsub"), ast.Mult: ("mul", "fmul"),
    ast.Div: ("", "fdiv"), ast.BitAnd: ("and", ""), ast.BitOr: ("or", ""), ast.BitXor: ("xor", ""),
}  # fmt: skip
# How two compare: signed and unsigned integers, reals.
_COMPARED: dict[type[ast.cmpop], tuple[str, str, str]] = {
    ast.Eq: ("eq", "eq", "oeq"), ast.NotEq: ("ne", "ne", "une"), ast.Lt: ("slt", "ult", "olt"),
    ast.LtE: ("sle", "ule", "ole"), ast.Gt: ("sgt", "ugt", "ogt"), ast.GtE: ("sge", "uge", "oge"),
}  # fmt: skip


class _Formula:
    """Writes a formula of operands."""

    def __init__(self, w: Writer, operands: list[Value]) -> None:
        self.w = w
        self.operands = dict(zip("abc", operands, strict=False))

    def __call__(self, node: ast.expr) -> Value:
        w = self.w
        match node:
            case ast.Name(id=name) if name in self.operands:
                return self.operands[name]
            case ast.Constant(value=int(number)) if not isinstance(number, bool):
                _, t, k = self.operands["a"]
                return literal(t, f"{number}.0" if k == "f" else str(number)), t, k
            case ast.BinOp(left=x, op=op, right=y):
                (a, b), t, k = self.alike([x, y])
                word = _ARITHMETIC[type(op)][k == "f"]
                if word and k != "b":
                    return w(f"{word} {t} {a}, {b}"), t, k
            case ast.UnaryOp(op=op, operand=x):
                a, t, k = self(x)
                match op, k:
                    case ast.USub(), "f":
                        return w(f"fneg {t} {a}"), t, k
                    case ast.USub(), ("i" | "u"):
                        return w(f"sub {t} {literal(t, '0')}, {a}"), t, k
                    case ast.Invert(), ("i" | "u"):
                        return w(f"xor {t} {a}, {literal(t, '-1')}"), t, k
                    case ast.Not(), "b":
                        return w(f"xor {t} {a}, {literal(t, 'true')}"), t, k
            case ast.BoolOp(op=op, values=[x, y]):
                (a, b), t, k = self.alike([x, y])
                if k == "b":
                    return w(f"{'and' if isinstance(op, ast.And) else 'or'} {t} {a}, {b}"), t, k
            case ast.Compare(left=x, ops=[op], comparators=[y]):
                (a, b), t, k = self.alike([x, y])
                order = _COMPARED[type(op)][{"i": 0, "b": 1, "u": 1, "f": 2}[k]]
                made = w(f"{'fcmp' if k == 'f' else 'icmp'} {order} {t} {a}, {b}")
                return made, _like(t, "i1"), "b"
            case ast.IfExp(test=test, body=x, orelse=y):
                which, _, truth = self(test)
                (a, b), t, k = self.alike([x, y])
                if truth == "b" and k != "b":  # a bool that is moved need not be 0 or 1
                    return _select(w, t, which, a, b), t, k
            case ast.Call(func=ast.Name(id=name), args=args):
                values, t, k = self.alike(args)
                for rules in (_FUNCTIONS, _PREDICATES):
                    kinds, rule = rules.get(name, ("", _truth))
                    if k in kinds:
                        made = rule(w, t, k, values)
                        return (made, t, k) if rules is _FUNCTIONS else (made, _like(t, "i1"), "b")
        raise Unknown(ast.unparse(node))

    def alike(self, nodes: list[ast.expr]) -> tuple[list[str], str, str]:
        """Values that are of one type."""
        values = [self(x) for x in nodes]
        if len({value[1:] for value in values}) > 1:
            raise Unknown("operands of several types")
        return [v for v, _, _ in values], *values[0][1:]


def _text(name: str, kind: str) -> str | None:
    """An op's formula, for operands of which the first is of this kind; None: it has none."""
    text: str | None = getattr(FORMULAS.get(name), _KINDS[kind], None)
    return text


def _write(w: Writer, name: str, dtypes: str, values: list[str]) -> str:
    kinds = [TYPES[c][1] for c in dtypes]
    text = _text(name, kinds[0])
    if text is None:
        raise Unknown(name)
    operands = [
        (v, w.type(TYPES[c][0]), TYPES[c][1]) for v, c in zip(values, dtypes[:-1], strict=True)
    ]
    made, t, k = _Formula(w, operands)(parsed(text))
    if (t, k) != (w.type(TYPES[dtypes[-1]][0]), kinds[-1]) or (k == "b" and made in values):
        raise Unknown(f"{name} as {dtypes[-1]}")
    return made


def cast(w: Writer, source: str, target: str, value: str) -> str:
    """A number as another dtype, both by their characters."""
    (from_element, from_kind), (to_element, to_kind) = TYPES[source], TYPES[target]
    s, t = w.type(from_element), w.type(to_element)
    if s == t:
        return value
    if to_kind == "b":
        return _truth(w, s, from_kind, [value])
    if to_kind == "f":
        if from_kind == "f":
            return w(f"{'fpext' if to_element == 'double' else 'fptrunc'} {s} {value} to {t}")
        return w(f"{'sitofp' if from_kind == 'i' else 'uitofp'} {s} {value} to {t}")
    if from_kind == "f":  # as x86 does it: to an integer of 32 bits or 64, whose bytes are cut
        from_element = "i64" if to_element == "i64" else "i32"
        value = w(f"fptosi {s} {value} to {w.type(from_element)}")
        s = w.type(from_element)
    if int(from_element[1:]) > int(to_element[1:]):
        return w(f"trunc {s} {value} to {t}")
    if from_element == to_element:
        return value
    return w(f"{'sext' if from_kind == 'i' else 'zext'} {s} {value} to {t}")


@cache
def can_compile(name: str, dtypes: str) -> bool:
    """Whether an op on these dtypes (by their characters, the output's last) is compiled."""
    if dtypes.strip(_KNOWN):
        return False
    kinds = [TYPES[c][1] for c in dtypes]
    if name == "copy":  # a bool's byte need not be 0 or 1
        return kinds[0] != "b"
    if name == "cast":  # to "I" NumPy's loops differ (cpu/casts.cpp); "Q" is no instruction's
        return kinds[0] != "f" or kinds[1] in "fb" or (_IS_X86 and dtypes[1] in "bBhHilq")
    if name in JOINS:  # of rows
        return JOINS[name].pairwise and dtypes[0] == dtypes[1] and kinds[0] != "b"
    return _has_rules(name, dtypes, kinds)


_PLAIN = (
    ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Name, ast.Constant, ast.Load,
)  # fmt: skip


def _parts_of(name: str, dtypes: str) -> Iterator[ast.AST]:
    """The nodes of the formula of an op that is compiled."""
    text = _text(name, TYPES[dtypes[0]][1])
    assert text is not None
    return ast.walk(parsed(text))


@cache
def may_raise(name: str, dtypes: str) -> bool:
    """Whether an op may raise a floating-point flag: it computes floats."""
    if name == "cast":
        return dtypes == "df" or (TYPES[dtypes[0]][1] == "f" and TYPES[dtypes[1]][1] in "iu")
    if dtypes[-1] not in "fd" or name == "copy":
        return False
    return any(
        isinstance(node, ast.BinOp) or (isinstance(node, ast.Name) and node.id == "sqrt")
        for node in _parts_of(name, dtypes)
    )


@cache
def needs_operands(name: str, dtypes: str) -> bool:
    """Whether all operands are needed for any result: of arithmetic, not of what chooses."""
    if name in JOINS:
        return True
    if name in ("cast", "copy"):
        return dtypes[0] in "fd" and dtypes[1] != "?"
    return dtypes[-1] in "fd" and all(
        isinstance(node, _PLAIN)
        or (isinstance(node, ast.Call) and ast.unparse(node.func) == "sqrt")
        for node in _parts_of(name, dtypes)
    )


# Formulas of no operation: constants, and a bool's byte, which need not be 0 or 1.
_NO_OPERATION = ("True", "False", "a")


def _has_rules(name: str, dtypes: str, kinds: list[str]) -> bool:
    """Whether `write` can write the formula, by its words alone.

    Each op of a program is asked for when it is first recorded: to parse the formula takes 20 to
    70 us. Tests hold this against `write`; where it were wrong, a chain would be refused.
    """
    text = _text(name, kinds[0])
    chooses = " if a else " in (text or "")
    if text is None or len(set(dtypes[chooses:-1])) > 1:
        return False
    if kinds[-1] == "b" and (chooses or text in _NO_OPERATION):
        return False
    if "(" not in text:
        return True
    called = [before.split(" ")[-1] for before in text.split("(")[:-1]]
    return all(
        kinds[0] in (_FUNCTIONS.get(word) or _PREDICATES.get(word) or ("",))[0] for word in called
    )


def write(w: Writer, name: str, dtypes: str, values: list[str], still: list[bool]) -> str:
    """The instructions of an op on values of these dtypes; the result's name.

    ``still``: which values are the same for all elements.
    """
    if name in ("copy", "cast"):
        return cast(w, dtypes[0], dtypes[-1], values[0])
    w.still = still
    return _write(w, name, dtypes, values)
