"""Writes the type stubs of what tables make: python tools/make_stubs.py

The op table's rows, the distributions' methods, and the functions of lazyarray.random.
"""

from __future__ import annotations

import inspect
import pathlib
from collections.abc import Callable
from typing import Any

import lazyarray.random as la_random
from lazyarray.ops import names
from lazyarray.ops._rows import Row, Ufunc
from lazyarray.random import distributions
from lazyarray.random.table import TABLE

TARGET = pathlib.Path(names.__file__).with_suffix(".pyi")


def stub() -> str:
    """The text of the op table's stub."""
    kinds = {name: _kind(getattr(names, name)) for name in names.__all__}
    typed = sorted(_SIGNATURES.values())
    lines = [
        "# fmt: off",
        "# The rows of the op table by their public names. Written by tools/make_stubs.py.",
        f"from lazyarray._types import {', '.join(typed)}",
        f"from lazyarray.ops._rows import {', '.join(sorted({*kinds.values()} - {*typed}))}",
        "",
    ]
    lines += [f"{name}: {kind}" for name, kind in kinds.items()]
    return "\n".join(lines) + "\n\n" + _all(names.__all__)


# What a call takes and gives, by the numbers of operands and results: classes of _types.pyi alone.
_SIGNATURES = {(1, 1): "Unary", (2, 1): "Binary", (1, 2): "UnaryPair", (2, 2): "BinaryPair"}


def _kind(row: Row) -> str:
    return _SIGNATURES[row.nin, row.nout] if isinstance(row, Ufunc) else type(row).__name__


def _all(listed: list[str]) -> str:
    return "__all__ = [\n" + _filled([f'"{name}",' for name in listed], "    ") + "\n]\n"


def _filled(words: list[str], indent: str) -> str:
    """Words in as few lines as hold them."""
    lines = [""]
    for word in words:
        if len(indent) + len(lines[-1]) + 1 + len(word) > 100:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return "\n".join(indent + line for line in lines)


# ---- random numbers -----------------------------------------------------------------------------


def _head(function: Callable[..., Any], types: dict[str, str], indent: str = "") -> str:
    """A function's line in a stub; most parameters are a distribution's."""
    types = {**_TYPES, **types}
    words: list[str] = []
    for p in inspect.signature(function).parameters.values():
        if p.kind is p.KEYWORD_ONLY and "*" not in words:
            words.append("*")
        words.append("self" if p.name == "self" else f"{p.name}: {_type(p, types)}{_value(p)}")
    end = f" -> {types['return']}: ..."
    line = f"{indent}def {function.__name__}({', '.join(words)}){end}"
    if len(line) <= 100:
        return line
    body = _filled([*[f"{word}," for word in words[:-1]], words[-1]], f"{indent}    ")
    return f"{indent}def {function.__name__}(\n{body}\n{indent}){end}"


_TYPES = {
    "size": "Size",
    "return": "NDArray",
    "dtype": "DTypeLike",
    "ctx": "DeviceLike",
    "device": "DeviceLike",
    "out": "Out",
}


def _type(p: inspect.Parameter, types: dict[str, str]) -> str:
    found = types.get(p.name, "Any")
    if found != "Any":
        return found
    optional = p.default is None and p.name not in _TYPES
    return _TYPES.get(p.name) or ("ArrayLike | None" if optional else "ArrayLike")


def _value(p: inspect.Parameter) -> str:
    """A parameter's default, as a stub has it."""
    if p.default is p.empty:
        return ""
    if not isinstance(p.default, (int, float, str, type(None))):
        return " = ..."
    return f" = {p.default!r}".replace("'", '"')


def drawn_stub() -> str:
    """The text of the stub of the distributions' methods."""
    lines = [
        "# fmt: off",
        "# The methods that the table of distributions makes. Written by tools/make_stubs.py.",
        "from lazyarray._ndarray import NDArray",
        "from lazyarray._types import ArrayLike, DTypeLike",
        "from lazyarray.random.samples import Samples",
        "from lazyarray.random.stream import Size",
        "",
        "class Distributions(Samples):",
        *[_head(getattr(distributions.Distributions, row.name), {}, "    ") for row in TABLE],
    ]
    return "\n".join(lines) + "\n"


def random_stub() -> str:
    """The text of lazyarray.random's stub."""
    lines = [
        "# fmt: off",
        "# Random numbers: what lazyarray.random offers. Written by tools/make_stubs.py.",
        "import builtins",
        "",
        "from numpy.random import MT19937 as MT19937",
        *[f"from numpy.random import {n} as {n}" for n in _NUMPYS],
        "",
        "from lazyarray._ndarray import NDArray",
        "from lazyarray._types import ArrayLike, DeviceLike, DTypeLike, Out",
        "from lazyarray.random import mtrand as mtrand",
        *[f"from lazyarray.random.devices import {n} as {n}" for n in _WRITTEN],
        "from lazyarray.random.generator import Generator as Generator",
        "from lazyarray.random.legacy import RandomState as RandomState",
        "from lazyarray.random.stream import Size",
        "",
        "FUNCTIONS: list[str]",
        "ALIASES: dict[str, str]",
        "",
    ]
    for name in la_random.FUNCTIONS:
        types = dict(getattr(la_random.ModuleStream, name).__annotations__)
        if types.get("return") == "bytes":
            types["return"] = "builtins.bytes"
        lines.append(_head(getattr(la_random, name), types))
    lines += ["", *[f"{name} = {first}" for name, first in la_random.ALIASES.items()], ""]
    return "\n".join(lines) + "\n" + _all(la_random.__all__)


_NUMPYS = ["PCG64", "PCG64DXSM", "SFC64", "BitGenerator", "Philox", "SeedSequence"]
_WRITTEN = [
    "default_rng",
    "get_state",
    "rand",
    "randint",
    "randn",
    "random_integers",
    "seed",
    "set_state",
]

STUBS = {
    TARGET: stub,
    pathlib.Path(distributions.__file__).with_suffix(".pyi"): drawn_stub,
    pathlib.Path(la_random.__file__).with_suffix(".pyi"): random_stub,
}


if __name__ == "__main__":
    for path, text in STUBS.items():
        path.write_text(text())
