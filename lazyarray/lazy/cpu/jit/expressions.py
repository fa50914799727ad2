"""What an op is in LLVM's language: an IEEE or integer operation, a comparison, a choice, a cast.

Only these are compiled, because they have the same bits whoever does them. Each row is a function
that writes the instructions for one element, given the operands' values and their type; or for
eight, where the type is a vector's. Values of bools are ``i1``.
"""

from __future__ import annotations

import platform
from collections.abc import Callable
from typing import NamedTuple

# Our dtypes by their characters: LLVM's type, NumPy's kind.
TYPES = {
    "?": ("i1", "b"),
    "b": ("i8", "i"), "h": ("i16", "i"), "i": ("i32", "i"), "l": ("i64", "i"), "q": ("i64", "i"),
    "B": ("i8", "u"), "H": ("i16", "u"), "I": ("i32", "u"), "L": ("i64", "u"), "Q": ("i64", "u"),
    "f": ("float", "f"), "d": ("double", "f"),
}  # fmt: skip


LANES = 8  # of vectors: NumPy's sums have as many accumulators


class Writer:
    """Collects instructions, and names their results."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.declared: set[str] = set()
        self.count = 0
        self.wide = False  # whether what is written is for eight elements

    def type(self, element: str) -> str:
        """The type of values: the element's, or a vector of such."""
        return f"<{LANES} x {element}>" if self.wide else element

    def __call__(self, text: str) -> str:
        """Adds an instruction; the name of its result."""
        self.count += 1
        name = f"%v{self.count}"
        self.lines.append(f"  {name} = {text}")
        return name

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


Rule = Callable[[Writer, str, str, list[str]], str]  # writer, type, kind, values: the result's


class Row(NamedTuple):
    """The rules by the kind of the operands; ``None``: it is not compiled for that kind."""

    bool: Rule | None = None
    signed: Rule | None = None
    unsigned: Rule | None = None
    real: Rule | None = None

    def of(self, kind: str) -> Rule | None:
        return {"b": self.bool, "i": self.signed, "u": self.unsigned, "f": self.real}[kind]


def _plain(op: str) -> Rule:
    """One instruction."""
    return lambda w, t, k, v: w(f"{op} {t} {', '.join(v)}")


def _call(name: str, *more: str) -> Rule:
    def rule(w: Writer, t: str, k: str, v: list[str]) -> str:
        if more:  # an immediate argument
            full = f"@llvm.{name}.{_suffix(t)}"
            w.declared.add(f"declare {t} {full}({t}, i1)")
            return w(f"call {t} {full}({t} {v[0]}, {more[0]})")
        return w.intrinsic(name, t, *v)

    return rule


def _same(w: Writer, t: str, k: str, v: list[str]) -> str:
    return v[0]


def _square(op: str) -> Rule:
    return lambda w, t, k, v: w(f"{op} {t} {v[0]}, {v[0]}")


def _truth(w: Writer, t: str, k: str, v: str) -> str:
    if k == "b":
        return v
    zero = literal(t, "0.0" if k == "f" else "0")
    return w(f"{'fcmp une' if k == 'f' else 'icmp ne'} {t} {v}, {zero}")


def _select(w: Writer, t: str, which: str, yes: str, no: str) -> str:
    return w(f"select {_like(t, 'i1')} {which}, {t} {yes}, {t} {no}")


def _logical(op: str) -> Rule:
    def rule(w: Writer, t: str, k: str, v: list[str]) -> str:
        return w(f"{op} {_like(t, 'i1')} {', '.join([_truth(w, t, k, x) for x in v])}")

    return rule


def _not(w: Writer, t: str, k: str, v: list[str]) -> str:
    bools = _like(t, "i1")
    return w(f"xor {bools} {_truth(w, t, k, v[0])}, {literal(bools, 'true')}")


# On other processors NumPy's vector loops tell the zeros apart.
_X86 = platform.machine() == "x86_64"


def _chosen(ahead: str) -> Rule:
    """As NumPy's vector loops have it: a NaN stays; of two equal values the second is taken."""

    def rule(w: Writer, t: str, k: str, v: list[str]) -> str:
        a, b = v
        first = w(f"fcmp {ahead} {t} {a}, {b}")
        one = _select(w, t, first, a, b)
        return _select(w, t, w(f"fcmp ord {t} {a}, {a}"), one, a)

    return rule


def _clipped(least: Rule, most: Rule) -> Rule:
    return lambda w, t, k, v: most(w, t, k, [least(w, t, k, v[:2]), v[2]])


def _clip_between_constants(w: Writer, t: str, k: str, v: list[str]) -> str:
    """NumPy's rule where both bounds stand still: equals stay, a bound's NaN wins."""
    x, least, most = v
    above = _select(w, t, w(f"fcmp olt {t} {x}, {least}"), least, x)
    inside = _select(w, t, w(f"fcmp ogt {t} {above}, {most}"), most, above)
    below = _select(w, t, w(f"fcmp uno {t} {most}, {most}"), most, inside)
    return _select(w, t, w(f"fcmp uno {t} {least}, {least}"), least, below)


def _compared(signed: str, unsigned: str, real: str) -> Row:
    return Row(
        _plain(f"icmp {unsigned}"),
        _plain(f"icmp {signed}"),
        _plain(f"icmp {unsigned}"),
        _plain(f"fcmp {real}"),
    )


_INF = "0x7FF0000000000000"  # of singles, too


def _against_infinity(order: str) -> Rule:
    def rule(w: Writer, t: str, k: str, v: list[str]) -> str:
        return w(f"fcmp {order} {t} {w.intrinsic('fabs', t, v[0])}, {literal(t, _INF)}")

    return rule


def _signbit(w: Writer, t: str, k: str, v: list[str]) -> str:
    i = _like(t, "i32" if _parts(t)[1] == "float" else "i64")
    return w(f"icmp slt {i} {w(f'bitcast {t} {v[0]} to {i}')}, {literal(i, '0')}")


def _sign(w: Writer, t: str, k: str, v: list[str]) -> str:
    x, nought = v[0], literal(t, "0.0")
    zero = _select(w, t, w(f"fcmp oeq {t} {x}, {nought}"), nought, x)
    below = _select(w, t, w(f"fcmp olt {t} {x}, {nought}"), literal(t, "-1.0"), zero)
    return _select(w, t, w(f"fcmp ogt {t} {x}, {nought}"), literal(t, "1.0"), below)


def _real(rule: Rule) -> Row:
    return Row(real=rule)


def _integers(rule: Rule, bool: Rule | None = None, real: Rule | None = None) -> Row:
    return Row(bool, rule, rule, real)


_OR, _AND, _XOR = _plain("or"), _plain("and"), _plain("xor")
_INVERT: Rule = lambda w, t, k, v: w(f"xor {t} {v[0]}, {literal(t, '-1')}")  # noqa: E731

# By NumPy's names of the ufuncs.
ROWS: dict[str, Row] = {
    "add": _integers(_plain("add"), _OR, _plain("fadd")),
    "subtract": _integers(_plain("sub"), None, _plain("fsub")),
    "multiply": _integers(_plain("mul"), _AND, _plain("fmul")),
    "divide": _real(_plain("fdiv")),
    "reciprocal": _real(lambda w, t, k, v: w(f"fdiv {t} {literal(t, '1.0')}, {v[0]}")),
    "negative": _integers(
        lambda w, t, k, v: w(f"sub {t} {literal(t, '0')}, {v[0]}"), None, _plain("fneg")
    ),
    "positive": _integers(_same, None, _same),
    "conjugate": _integers(_same, None, _same),
    "absolute": Row(None, _call("abs", "i1 false"), _same, _call("fabs")),
    "fabs": _real(_call("fabs")),
    "square": _integers(_square("mul"), None, _square("fmul")),
    "sqrt": _real(_call("sqrt")),
    "sign": _real(_sign),
    "copysign": _real(_call("copysign")),
    "floor": _real(_call("floor")),
    "ceil": _real(_call("ceil")),
    "trunc": _real(_call("trunc")),
    "rint": _real(_call("rint")),
    "maximum": Row(_OR, _call("smax"), _call("umax"), _chosen("ogt") if _X86 else None),
    "minimum": Row(_AND, _call("smin"), _call("umin"), _chosen("olt") if _X86 else None),
    "clip": Row(
        None,
        _clipped(_call("smax"), _call("smin")),
        _clipped(_call("umax"), _call("umin")),
        _clip_between_constants,
    ),
    "equal": _compared("eq", "eq", "oeq"),
    "not_equal": _compared("ne", "ne", "une"),
    "less": _compared("slt", "ult", "olt"),
    "less_equal": _compared("sle", "ule", "ole"),
    "greater": _compared("sgt", "ugt", "ogt"),
    "greater_equal": _compared("sge", "uge", "oge"),
    "logical_and": Row(*[_logical("and")] * 4),
    "logical_or": Row(*[_logical("or")] * 4),
    "logical_xor": Row(*[_logical("xor")] * 4),
    "logical_not": Row(*[_not] * 4),
    "bitwise_and": _integers(_AND, _AND),
    "bitwise_or": _integers(_OR, _OR),
    "bitwise_xor": _integers(_XOR, _XOR),
    "invert": _integers(_INVERT, _not),
    "isnan": _real(lambda w, t, k, v: w(f"fcmp uno {t} {v[0]}, {v[0]}")),
    "isinf": _real(_against_infinity("oeq")),
    "isfinite": _real(_against_infinity("one")),
    "signbit": _real(_signbit),
}


def cast(w: Writer, source: str, target: str, value: str) -> str:
    """A number as another dtype, both by their characters."""
    (from_element, from_kind), (to_element, to_kind) = TYPES[source], TYPES[target]
    s, t = w.type(from_element), w.type(to_element)
    if s == t:
        return value
    if to_kind == "b":
        return _truth(w, s, from_kind, value)
    if to_kind == "f":
        if from_kind == "f":
            return w(f"{'fpext' if to_element == 'double' else 'fptrunc'} {s} {value} to {t}")
        return w(f"{'sitofp' if from_kind == 'i' else 'uitofp'} {s} {value} to {t}")
    if int(from_element[1:]) > int(to_element[1:]):
        return w(f"trunc {s} {value} to {t}")
    return w(f"{'sext' if from_kind == 'i' else 'zext'} {s} {value} to {t}")


def can_compile(name: str, dtypes: str) -> bool:
    """Whether an op on these dtypes (by their characters, the output's last) is compiled."""
    if any(c not in TYPES for c in dtypes):
        return False
    kinds = [TYPES[c][1] for c in dtypes]
    if name == "copy":  # a bool's byte need not be 0 or 1
        return kinds[0] != "b"
    if name == "cast":
        return kinds[0] != "f" or kinds[1] in "fb"
    if name == "where":
        return kinds[1] != "b"
    if name == "sum":  # of rows
        return dtypes[0] == dtypes[1] and kinds[0] != "b"
    row = ROWS.get(name)
    return row is not None and len(set(dtypes[:-1])) == 1 and row.of(kinds[0]) is not None


def write(w: Writer, name: str, dtypes: str, values: list[str], still: list[bool]) -> str:
    """The instructions of an op on values of these dtypes; the result's name.

    ``still``: which values are the same for all elements.
    """
    if name in ("copy", "cast"):
        return cast(w, dtypes[0], dtypes[-1], values[0])
    if name == "where":
        return _select(w, w.type(TYPES[dtypes[1]][0]), *values)
    t, kind = w.type(TYPES[dtypes[0]][0]), TYPES[dtypes[0]][1]
    rule = ROWS[name].of(kind)
    assert rule is not None, name
    if rule is _clip_between_constants and not all(still[1:]):
        # NumPy has two rules for zeros: which one a row gets depends on the loops' order.
        raise NotImplementedError("clip between bounds that differ from element to element")
    return rule(w, t, kind, values)
