"""The expressions of generated kernels: what each op computes of one element, by dtype."""

from __future__ import annotations

from typing import NamedTuple

TYPES = {
    "?": "b1", "b": "i1", "B": "u1", "h": "i2", "H": "u2", "i": "i4", "I": "u4", "l": "i8",
    "L": "u8", "q": "i8", "Q": "u8", "e": "f2", "f": "f4", "d": "f8", "F": "c8", "D": "c16",
}  # fmt: skip
"""The name of a dtype's C type in prelude.cuh, by dtype character."""

SIGNED, UNSIGNED, REAL, COMPLEX = "bhilq", "BHILQ", "efd", "FD"


class Unsupported(Exception):
    """An op or a dtype for which no kernel can be generated."""


class Row(NamedTuple):
    """Templates by kind of the first operand's dtype; None where there is no such loop.

    ``{0}``, ``{1}``, ``{2}``: the operands, ``{T}``: their C type, ``{U}``: the unsigned integer to
    compute in. A bool comes as ``bool``, a half as a float; the result becomes the output's dtype.
    Several outputs are divided by `` ; ``.
    """

    bool: str | None = None
    signed: str | None = None
    unsigned: str | None = None
    real: str | None = None
    complex: str | None = None


def _row(
    integer: str | None = None,
    real: str | None = None,
    complex: str | None = None,
    bool: str | None = None,
    signed: str | None = None,
) -> Row:
    return Row(bool, signed or integer, integer, real, complex)


def _same(template: str) -> Row:
    return Row(template, template, template, template, template)


def _wrapped(operator: str, bool: str | None = None) -> Row:
    """Arithmetic that wraps in integers."""
    infix = f"{{0}} {operator} {{1}}"
    return _row(f"{{T}}({{U}}({{0}}) {operator} {{U}}({{1}}))", infix, infix, bool)


def _function(name: str, complex: bool = True) -> Row:
    """A function of one real operand, by its name in C; of a complex one in complex.cuh."""
    return Row(real=f"{name}({{0}})", complex=f"complex_{name}({{0}})" if complex else None)


def _extremum(operator: str, real: str, complex: str, bool: str) -> Row:
    """One of two elements."""
    call = "{}({{0}}, {{1}})"
    integer = f"{{0}} {operator} {{1}} ? {{0}} : {{1}}"
    return _row(integer, call.format(real), call.format(complex), bool)


def _of_float(real: str, complex: str | None = None, integer: str = "false") -> Row:
    """A predicate that is the same for all integers."""
    return Row(integer, integer, integer, real, complex)


_WHOLE = Row("{0}", "{0}", "{0}")  # rounding an integer

_COMPARISONS = {
    "equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">",
    "greater_equal": ">=",
}  # fmt: skip

ROWS: dict[str, Row] = {
    # arithmetic
    "add": _wrapped("+", "{0} || {1}"),
    "subtract": _wrapped("-"),
    "multiply": _wrapped("*", "{0} && {1}"),
    "divide": Row(real="{0} / {1}", complex="{0} / {1}"),
    "negative": _row("{T}({U}(0) - {U}({0}))", "-{0}", "-{0}"),
    "positive": _row("{0}", "{0}", "{0}"),
    "absolute": _row("{0}", "fabs({0})", "complex_abs({0})", "{0}", "{T}(magnitude({0}))"),
    "fabs": Row(real="fabs({0})"),
    "square": _row("{T}({U}({0}) * {U}({0}))", "{0} * {0}", "{0} * {0}"),
    "maximum": _extremum(">", "larger", "first_larger", "{0} || {1}"),
    "minimum": _extremum("<", "smaller", "first_smaller", "{0} && {1}"),
    "fmax": _extremum(">", "larger_number", "larger_number", "{0} || {1}"),
    "fmin": _extremum("<", "smaller_number", "smaller_number", "{0} && {1}"),
    "clip": _same("clipped({0}, {1}, {2})")._replace(complex="complex_clipped({0}, {1}, {2})"),
    "copysign": Row(real="copysign({0}, {1})"),
    "sign": _row("{0} != 0", "signum({0})", "complex_sign({0})", signed="({0} > 0) - ({0} < 0)"),
    "conjugate": _row("{0}", "{0}", "conjugate({0})"),
    "floor_divide": _row("floor_quotient({0}, {1})", "float_floor_quotient({0}, {1})"),
    "remainder": _row("floor_residue({0}, {1})", "float_floor_residue({0}, {1})"),
    "divmod": _row(
        "floor_quotient({0}, {1}) ; floor_residue({0}, {1})",
        "float_floor_quotient({0}, {1}) ; float_floor_residue({0}, {1})",
    ),
    "fmod": _row("residue({0}, {1})", "fmod({0}, {1})"),
    "reciprocal": _row("integer_reciprocal({0})", "{T}(1) / {0}", "reciprocal({0})"),
    "sqrt": _function("sqrt"),
    "cbrt": _function("cbrt", complex=False),
    "gcd": _row("common_divisor({0}, {1})"),
    "lcm": _row("common_multiple({0}, {1})"),
    "heaviside": Row(real="step_at_zero({0}, {1})"),
    "power": _row("integer_power({0}, {1})", "pow({0}, {1})", "complex_pow({0}, {1})"),
    "float_power": Row(real="pow({0}, {1})", complex="complex_pow({0}, {1})"),
    # exponents and logarithms
    "exp": _function("exp"),
    "exp2": _function("exp2"),
    "expm1": _function("expm1"),
    "log": _function("log"),
    "log2": _function("log2"),
    "log10": _function("log10"),
    "log1p": _function("log1p"),
    "logaddexp": Row(real="log_add_exp({0}, {1})"),
    "logaddexp2": Row(real="log_add_exp2({0}, {1})"),
    "ldexp": Row(real="ldexp({0}, clamped({1}))"),
    "frexp": Row(real="mantissa({0}) ; exponent_of({0})"),
    # trigonometry
    "sin": _function("sin"),
    "cos": _function("cos"),
    "tan": _function("tan"),
    "sinh": _function("sinh"),
    "cosh": _function("cosh"),
    "tanh": _function("tanh"),
    "arcsin": _function("asin", complex=False),
    "arccos": _function("acos", complex=False),
    "arctan": _function("atan", complex=False),
    "arcsinh": _function("asinh", complex=False),
    "arccosh": _function("acosh", complex=False),
    "arctanh": _function("atanh", complex=False),
    "arctan2": Row(real="atan2({0}, {1})"),
    "hypot": Row(real="hypot({0}, {1})"),
    "deg2rad": Row(real="{0} * (pi<{T}> / {T}(180))"),
    "rad2deg": Row(real="{0} * ({T}(180) / pi<{T}>)"),
    "erf": _function("erf", complex=False),
    # rounding
    "floor": _WHOLE._replace(real="floor({0})"),
    "ceil": _WHOLE._replace(real="ceil({0})"),
    "trunc": _WHOLE._replace(real="trunc({0})"),
    "rint": _function("rint"),
    "modf": Row(real="fraction({0}) ; trunc({0})"),
    "spacing": Row(real="spacing_of({0})"),
    "nextafter": Row(real="nextafter({0}, {1})"),
    # comparison
    **{name: _same(f"{{0}} {sign} {{1}}") for name, sign in _COMPARISONS.items()},
    # logic
    "logical_and": _same("truth({0}) && truth({1})"),
    "logical_or": _same("truth({0}) || truth({1})"),
    "logical_xor": _same("truth({0}) != truth({1})"),
    "logical_not": _same("!truth({0})"),
    "isfinite": _of_float("is_finite({0})", "is_finite({0}.re) && is_finite({0}.im)", "true"),
    "isinf": _of_float("is_inf({0})", "is_inf({0}.re) || is_inf({0}.im)"),
    "isnan": _of_float("is_nan({0})", "is_nan({0}.re) || is_nan({0}.im)"),
    "signbit": Row(real="copysign({T}(1), {0}) < 0"),
    # bits
    "bitwise_and": _row("{0} & {1}", bool="{0} && {1}"),
    "bitwise_or": _row("{0} | {1}", bool="{0} || {1}"),
    "bitwise_xor": _row("{0} ^ {1}", bool="{0} != {1}"),
    "invert": _row("~{0}", bool="!{0}"),
    "left_shift": _row("shift_left({0}, {1})"),
    "right_shift": _row("shift_right({0}, {1})"),
    "bitwise_count": _row("BIT_COUNT({0})", signed="BIT_COUNT(magnitude({0}))"),
}
for _name, _other in {
    "abs": "absolute", "relu": "maximum", "root": "sqrt", "degrees": "rad2deg",
    "radians": "deg2rad",
}.items():  # fmt: skip
    ROWS[_name] = ROWS[_other]

# Where halves differ from floats.
_HALVES = {
    "negative": "f2{{u2({0}.bits ^ 0x8000)}}",
    "absolute": "f2{{u2({0}.bits & 0x7fff)}}",
    "maximum": "to_half(first_larger(to_float({0}), to_float({1})))",
    "minimum": "to_half(first_smaller(to_float({0}), to_float({1})))",
    "relu": "to_half(first_larger(to_float({0}), to_float({1})))",
    "nextafter": "next_half({0}, {1})",
    "spacing": "half_spacing({0})",
}

# The op between the elements of a reduction.
JOINS = {
    "sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum", "all": "logical_and",
    "any": "logical_or", "nanmax": "fmax", "nanmin": "fmin",
}  # fmt: skip


def kind(dtype: str) -> str:
    """The column of a dtype character in a `Row`."""
    if dtype == "?":
        return "bool"
    for name, characters in (
        ("signed", SIGNED), ("unsigned", UNSIGNED), ("real", REAL), ("complex", COMPLEX),
    ):  # fmt: skip
        if dtype in characters:
            return name
    raise Unsupported(f"dtype {dtype!r}")


def expressions(name: str, inputs: str, outputs: str, values: list[str]) -> list[str]:
    """C expressions of an op's outputs, of the C expressions of its inputs.

    ``inputs``, ``outputs``: dtype characters. Unsupported if there is none.
    """
    for dtype in inputs + outputs:
        kind(dtype)
    if name in ("copy", "cast"):
        return [cast(inputs, outputs, values[0])]
    if name == "where":
        return [f"{values[0]} ? {values[1]} : {values[2]}"]
    row, first = ROWS.get(name), inputs[:1]
    if first == "e" and name in _HALVES:
        return [_HALVES[name].format(*values)]
    template = getattr(row, kind(first)) if row else None
    if template is None:
        raise Unsupported(f"{name} of {inputs}")
    if name in _COMPARISONS and TYPES[inputs[0]] != TYPES[inputs[1]]:
        template = f"order({{0}}, {{1}}) {_COMPARISONS[name]} 0"  # int64 and uint64
    operands = [
        f"bool({v})" if t == "?" else f"to_float({v})" if t == "e" else v
        for t, v in zip(inputs, values, strict=True)
    ]
    computed = "f4" if first == "e" else TYPES[first]
    parts = [
        part.format(*operands, T=computed, U="u8" if TYPES[first][-1] == "8" else "u4")
        for part in template.split(" ; ")
    ]
    return [f"to_half({p})" if t == "e" else p for t, p in zip(outputs, parts, strict=True)]


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


def neutral(join: str, dtype: str) -> str:
    """The C expression of what an extremum over no elements is: it gives way to any element."""
    name, largest = TYPES[dtype], join in ("maximum", "fmax")
    if dtype == "?":
        return f"b1({int(not largest)})"
    if dtype in SIGNED + UNSIGNED:
        bits = 8 * int(name[1])
        low = 1 << (bits - 1) if dtype in SIGNED else 0
        high = (low or 1 << bits) - 1
        return f"{name}({low if largest else high:#x}u{'ll' if bits == 64 else ''})"
    number = f"infinity({TYPES[dtype.lower()]}())"
    if join in ("fmax", "fmin"):
        number = number.replace("infinity", "not_a_number")
    elif largest:
        number = f"-{number}"
    return f"{name}{{{number}, {number}}}" if dtype in COMPLEX else number
