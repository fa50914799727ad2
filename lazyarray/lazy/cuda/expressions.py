"""The expressions of generated kernels: formulas, casts and constants in CUDA C++, by dtype."""

from __future__ import annotations

import ast

from lazyarray.lazy.formulas import FORMULAS, Join, parsed

TYPES = {
    "?": "b1", "b": "i1", "B": "u1", "h": "i2", "H": "u2", "i": "i4", "I": "u4", "l": "i8",
    "L": "u8", "q": "i8", "Q": "u8", "e": "f2", "f": "f4", "d": "f8", "F": "c8", "D": "c16",
}  # fmt: skip
"""The name of a dtype's C type in prelude.cuh, by dtype character."""

SIGNED, UNSIGNED, REAL, COMPLEX = "bhilq", "BHILQ", "efd", "FD"


class Unsupported(Exception):
    """An op or a dtype for which no kernel can be generated."""


def kind(dtype: str) -> str:
    """The column of a dtype character in a `Formula`."""
    if dtype == "?":
        return "bool"
    for name, characters in (
        ("signed", SIGNED), ("unsigned", UNSIGNED), ("real", REAL), ("complex", COMPLEX),
    ):  # fmt: skip
        if dtype in characters:
            return name
    raise Unsupported(f"dtype {dtype!r}")


_SIGNS: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.BitAnd: "&", ast.BitOr: "|",
    ast.BitXor: "^", ast.Invert: "~", ast.Not: "!", ast.And: "&&", ast.Or: "||", ast.Eq: "==",
    ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip


class _Writer:
    """Writes formulas of operands of these dtypes; ``halves``: of halves as they lie there."""

    def __init__(self, inputs: str, values: list[str], halves: bool) -> None:
        self.dtypes = dict(zip("abc", inputs, strict=False))
        self.stored = dict(zip("abc", values, strict=False))  # as they lie in memory
        self.values = {
            k: f"bool({v})" if t == "?" else f"to_float({v})" if t == "e" and not halves else v
            for (k, t), v in zip(self.dtypes.items(), values, strict=True)
        }
        self.kind = kind(inputs[0])
        self.type = "f4" if inputs[0] == "e" else TYPES[inputs[0]]
        self.wraps = f"u{max(4, int(self.type[1:]))}" if self.kind in ("signed", "unsigned") else ""

    def __call__(self, node: ast.expr) -> str:
        match node:
            case ast.Name(id="pi"):
                return f"pi<{self.type}>"
            case ast.Name(id=name):
                return self.values[name]
            case ast.Constant(value=bool(value)):
                return "true" if value else "false"
            case ast.Constant(value=int(value)):
                return f"{self.type}({value})"
            case ast.BinOp(left=x, op=op, right=y) if self.wraps and _SIGNS[type(op)] in "+-*":
                return self.wrapped(self(x), _SIGNS[type(op)], self(y))
            case ast.BinOp(left=x, op=op, right=y):
                return f"{self.part(x)} {_SIGNS[type(op)]} {self.part(y)}"
            case ast.UnaryOp(op=ast.USub(), operand=x):
                return self.wrapped("0", "-", self(x)) if self.wraps else f"-{self.part(x)}"
            case ast.UnaryOp(op=op, operand=x):
                return f"{_SIGNS[type(op)]}{self.part(x)}"
            case ast.BoolOp(op=op, values=values):
                return f" {_SIGNS[type(op)]} ".join([self.part(x) for x in values])
            case ast.Compare(left=x, ops=[op], comparators=[y]):
                if len({TYPES[t] for t in self.dtypes.values()}) > 1:  # int64 and uint64
                    return f"order({self(x)}, {self(y)}) {_SIGNS[type(op)]} 0"
                return f"{self.part(x)} {_SIGNS[type(op)]} {self.part(y)}"
            case ast.IfExp(test=test, body=yes, orelse=no):
                return f"{self.part(test)} ? {self.moved(yes)} : {self.moved(no)}"
            case ast.Call(func=ast.Name(id=name), args=args):
                return f"{name}({', '.join([self(x) for x in args])})"
            case ast.Attribute(value=x, attr=name):
                return f"{self(x)}.{name}"
        raise TypeError(f"no formula: {ast.unparse(node)}")

    def part(self, node: ast.expr) -> str:
        """A part of a longer expression."""
        whole = isinstance(node, (ast.Name, ast.Constant, ast.Call, ast.Attribute))
        return self(node) if whole else f"({self(node)})"

    def wrapped(self, x: str, sign: str, y: str) -> str:
        """Arithmetic of integers, computed in the unsigned type ``wraps``."""
        return f"{self.type}({self.wraps}({x}) {sign} {self.wraps}({y}))"

    def moved(self, node: ast.expr) -> str:
        """What is chosen is not computed with."""
        if isinstance(node, ast.Name) and self.kind == "bool":
            return self.stored[node.id]
        return self.part(node)


def expressions(name: str, inputs: str, outputs: str, values: list[str]) -> list[str]:
    """C expressions of an op's outputs, of the C expressions of its inputs.

    ``inputs``, ``outputs``: dtype characters. Unsupported if there is none.
    """
    for dtype in inputs + outputs:
        kind(dtype)
    if name in ("copy", "cast"):
        return [cast(inputs, outputs, values[0])]
    formula, first = FORMULAS.get(name), inputs[:1]
    halves = formula is not None and first == "e" and formula.half is not None
    text = getattr(formula, "half" if halves else kind(first), None)
    if text is None:
        raise Unsupported(f"{name} of {inputs}")
    write, tree = _Writer(inputs, values, halves), parsed(text)
    parts = [write(x) for x in (tree.elts if isinstance(tree, ast.Tuple) else [tree])]
    rounded = first == "e" and not halves
    return [
        f"to_half({p})" if t == "e" and rounded else p for t, p in zip(outputs, parts, strict=True)
    ]


def cast(source: str, target: str, value: str) -> str:
    """The C expression of ``value`` as another dtype, converted as NumPy does on x86-64."""
    kinds = kind(source), kind(target)
    to = TYPES[target]
    if TYPES[source] == to:
        return value
    match kinds:
        case ("complex", "bool"):
            return f"{value}.re != 0 || {value}.im != 0"
        case ("complex", "complex"):
            part = TYPES[target.lower()]
            return f"{to}{{{part}({value}.re), {part}({value}.im)}}"
        case ("complex", _):
            return cast(source.lower(), target, f"{value}.re")
        case (_, "complex"):
            return f"{to}{{{cast(source, target.lower(), value)}, 0}}"
    if source == "e":
        value = f"to_float({value})"
    if target == "?":
        return f"{value} != 0"
    if source == "?":
        value = f"({value} != 0)"
    if target == "e":
        return f"to_half({value if source == 'd' else f'f4({value})'})"
    if kinds[0] == "real" and target not in REAL:
        way = "to_u8" if to == "u8" else "to_i8" if to in ("u4", "i8") else "to_i4"
        return f"{to}({way}({value}))"
    return f"{to}({value})"


def literal(dtype: str, raw: bytes) -> str:
    """The C expression of an element given by its bytes."""
    name = TYPES[dtype]
    if dtype in COMPLEX:
        part, half = dtype.lower(), len(raw) // 2
        return f"{name}{{{literal(part, raw[:half])}, {literal(part, raw[half:])}}}"
    bits = int.from_bytes(raw, "little")
    if dtype == "e":
        return f"f2{{{bits:#x}}}"
    if dtype in REAL:
        return f"bits_as<{name}>(u{len(raw)}({bits:#x}))"
    return f"{name}({bits:#x})"


def neutral(join: Join, dtype: str) -> str:
    """The C expression of what an extremum over no elements is: it gives way to any element."""
    name, largest = TYPES[dtype], join.largest
    if dtype == "?":
        return f"b1({int(not largest)})"
    if dtype in SIGNED + UNSIGNED:
        bits = 8 * int(name[1])
        low = 1 << (bits - 1) if dtype in SIGNED else 0
        high = (low or 1 << bits) - 1
        return f"{name}({low if largest else high:#x}u{'ll' if bits == 64 else ''})"
    number = f"infinity({TYPES[dtype.lower()]}())"
    if join.skips_nan:
        number = number.replace("infinity", "not_a_number")
    elif largest:
        number = f"-{number}"
    return f"{name}{{{number}, {number}}}" if dtype in COMPLEX else number
