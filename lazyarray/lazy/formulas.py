"""What backends are told of ops by the table above: formulas, reductions, what CuPy does alike.

A kernel's name leads here. Nothing below the table asks for an op by a name of its own knowledge,
but for those of ``lazy`` itself: ``copy`` and ``cast``.
"""

from __future__ import annotations

import ast
from functools import cache
from typing import NamedTuple


class Formula(NamedTuple):
    """What an op computes of one element, by the kind of the first operand; None: it has no loop.

    Each is an expression in Python's words: operators, comparisons, ``and or not``, ``x if c else
    y``, numbers, functions by their names. ``a``, ``b``, ``c`` are the operands, several results a
    tuple. On a GPU (cuda/expressions.py) a function is one of prelude.cuh or complex.cuh. The
    compiled tier (cpu/jit/expressions.py) has those with which it gives the bits of NumPy's loops;
    what is made of them is compiled.

    ``half``: on a GPU, of halves as they lie there. Else these are computed with as floats.
    """

    bool: str | None = None
    signed: str | None = None
    unsigned: str | None = None
    real: str | None = None
    complex: str | None = None
    half: str | None = None


def formula(
    every: str | None = None,
    *,
    number: str | None = None,
    integer: str | None = None,
    bool: str | None = None,
    signed: str | None = None,
    real: str | None = None,
    complex: str | None = None,
    half: str | None = None,
) -> Formula:
    """A formula; ``integer``, ``number`` and ``every`` stand for kinds that are not given."""
    number = number or every
    integer = integer or number
    return Formula(
        bool or every, signed or integer, integer, real or number, complex or number, half
    )


def function(name: str, complex: bool = True) -> Formula:
    """A function of one real operand, and (``complex_name``) of a complex one."""
    return Formula(real=f"{name}(a)", complex=f"complex_{name}(a)" if complex else None)


class Join(NamedTuple):
    """A reduction: the op between elements, and whether it finds the largest or the smallest.

    ``skips_nan``: of those that are numbers; ``pairwise``: NumPy adds up floats in pairs;
    ``running``: NumPy's (and CuPy's) function that gives all results on the way.
    """

    op: str
    largest: bool | None = None
    skips_nan: bool = False
    pairwise: bool = False
    running: str = ""


FORMULAS: dict[str, Formula] = {}
JOINS: dict[str, Join] = {}
# By the names of ufuncs: for which dtypes CuPy's function of that name gives NumPy's bits.
CUPY: dict[str, str] = {}


def running() -> dict[str, str]:
    """The functions that give all results on the way, by the op between elements."""
    return {join.op: join.running for join in JOINS.values() if join.running}


@cache
def parsed(text: str) -> ast.expr:
    """A formula's expression, as a tree."""
    return ast.parse(text, mode="eval").body
