"""The fewest and simplest lines that still fail."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Callable, Iterator

from .programs import Input, Program, is_ours

Fails = Callable[[Program], bool]


def shrink(program: Program, fails: Fails, most: int = 600) -> Program:
    """A smaller program that ``fails``; ``most`` are tried."""
    tried = 0
    changed = True
    while changed:
        changed = False
        for smaller in candidates(program):
            tried += 1
            if tried > most:
                return program
            if fails(smaller):
                program, changed = smaller, True
                break
    return program


def candidates(program: Program) -> Iterator[Program]:
    """Programs a step simpler, the largest steps first."""
    lines, inputs = program.lines, program.inputs
    half = len(lines) // 2
    while half >= 1:
        for at in range(len(lines) - half, -1, -1):
            yield dataclasses.replace(program, lines=lines[:at] + lines[at + half :])
        half //= 2
    for i in range(len(inputs)):
        yield dataclasses.replace(program, inputs=inputs[:i] + inputs[i + 1 :])
    lengths = sorted({n for x in inputs for n in x.shape if n > 1}, reverse=True)
    for n in lengths:
        for less in sorted({1, 2, 3, 8, 64, n // 10, n // 2, n - 1}):
            if 0 < less < n:
                yield resized(program, n, less)
    for i, x in enumerate(inputs):
        for change in ({"order": "C"}, {"values": "small"}, {"dtype": "f8"}):
            y = dataclasses.replace(x, **change)  # type: ignore[arg-type]
            if y != x:
                yield dataclasses.replace(program, inputs=(*inputs[:i], y, *inputs[i + 1 :]))
    for i, line in enumerate(lines):
        for text in simpler(line):
            yield dataclasses.replace(program, lines=(*lines[:i], text, *lines[i + 1 :]))


def resized(program: Program, n: int, less: int) -> Program:
    def of(x: Input) -> Input:
        return dataclasses.replace(x, shape=tuple(less if k == n else k for k in x.shape))

    number = re.compile(rf"(?<![\w.]){n}(?![\w.])")
    lines = tuple(number.sub(str(less), line) for line in program.lines) if n > 9 else program.lines
    return dataclasses.replace(program, inputs=tuple(map(of, program.inputs)), lines=lines)


def simpler(line: str) -> Iterator[str]:
    """The line with one operation replaced by one of its operands."""
    tree = ast.parse(line)
    nodes = [n for n in ast.walk(tree) if isinstance(n, ast.expr)]
    for at, node in enumerate(nodes):
        for child in operands(node):
            if _is_named(child):
                continue
            again = ast.parse(line)
            found = [n for n in ast.walk(again) if isinstance(n, ast.expr)][at]
            text = ast.unparse(_Replace(found, child).visit(again))
            if len(text) < len(line):
                yield text


def _is_named(node: ast.expr) -> bool:
    """Whether it is ``xp``, ``xp.fft`` or the like."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and not is_ours(node.id)


def operands(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.Compare):
        return [node.left, *node.comparators]
    if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Load):
        return [node.value]
    if isinstance(node, ast.Call):
        lines = [a.body if isinstance(a, ast.Lambda) else a for a in node.args]
        return [*lines, *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]
    return []


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.expr, new: ast.expr) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else super().visit(node)
