"""Loops that add up rows, in the order of NumPy's pairwise sum (see pairwise.h).

Up to 128 elements eight sums go through a row side by side, are added up in pairs, and then the
rest one by one: that is ``@leaf``, which also does all else that there is to do for the elements.
Longer rows are cut at half, rounded down to a multiple of eight: ``@pair``. Sums begin at -0.0,
which changes none. A row's sum is added to zero, as NumPy's; that of a tile of a whole array is a
part of one, and is not.
"""

from __future__ import annotations

from lazyarray.lazy.cpu.jit.description import (
    SUMS,
    Loop,
    element_address,
    load_still,
    plus,
    step_of,
)
from lazyarray.lazy.cpu.jit.expressions import LANES, TYPES, Writer, literal

_LEAF = 128  # NumPy's PW_BLOCKSIZE


def scratch(loop: Loop) -> list[str]:
    """Where a row's addresses and its sums are handed over."""
    return [
        f"  %bases = alloca [{len(loop.operands)} x ptr]",
        f"  %sums = alloca [{len(loop.sums)} x i64], align 8",
    ]


def _nothing(c: str) -> str:
    return "-0.0" if TYPES[c][1] == "f" else "0"


def row(loop: Loop) -> list[str]:
    """What the last loop but the innermost does: a row."""
    inner, lines = loop.inner, []
    for k in range(len(loop.operands)):
        lines.append(f"  %base{k} = getelementptr ptr, ptr %bases, i64 {k}")
        lines.append(f"  store ptr %b{k}_{inner}, ptr %base{k}")
    call = f"(ptr %bases, ptr %steps, i64 0, i64 %n{inner}, ptr %sums)"
    lines += [
        f"  %short = icmp sle i64 %n{inner}, {_LEAF}",
        "  br i1 %short, label %leaf, label %pair",
        "leaf:",
        f"  call void @leaf{call}",
        "  br label %summed",
        "pair:",
        f"  call void @pair{call}",
        "  br label %summed",
        "summed:",
    ]
    for j, (value, (_, c)) in enumerate(loop.sums.items()):
        t = TYPES[c][0]
        zero = _nothing(c) if loop.pieces or TYPES[c][1] != "f" else "0.0"
        lines += [
            f"  %sum{j}p = getelementptr i64, ptr %sums, i64 {j}",
            f"  %sum{j} = load {t}, ptr %sum{j}p",
            f"  %total{j} = {plus(c)} {t} {zero}, %sum{j}",
        ]
        to = [operand for operand, given in loop.results.items() if given == value]
        lines += [f"  store {t} %total{j}, ptr %b{operand[1:]}_{inner}" for operand in to]
        if not to:  # its flags are heard of all the same
            lines.append(f"  store volatile {t} %total{j}, ptr %sum{j}p")
    return [*lines, f"  br label %tail{inner - 1}"]


def functions(w: Writer, loop: Loop) -> list[str]:
    """``@leaf`` and ``@pair``."""
    return [*_leaf(w, loop), *_pair(loop)]


_ARGUMENTS = "(ptr %bases, ptr %steps, i64 %from, i64 %n, ptr %sums)"


def _leaf(w: Writer, loop: Loop) -> list[str]:
    sums = list(enumerate(loop.sums.values()))
    lines = [f"define internal void @leaf{_ARGUMENTS} alwaysinline {{", "entry:"]
    lines += loop.sink()
    kept: dict[str, str] = {}
    for k, (c, _, step) in enumerate(loop.operands):
        if step in SUMS:
            continue
        lines.append(f"  %bp{k} = getelementptr ptr, ptr %bases, i64 {k}")
        lines.append(f"  %b{k} = load ptr, ptr %bp{k}")
        if step == "s":
            lines += step_of(k, loop.inner)
        elif loop.still(k):
            kept[f"a{k}"] = load_still(w, c, f"%b{k}")
    lines += w.taken()

    def part(index: str, kept: dict[str, str]) -> dict[str, str]:
        return loop.heard(w, kept, lambda k: element_address(w, loop, k, f"%b{k}", index))

    lines += ["  %whole = and i64 %n, -8"]
    w.wide = True
    spread = loop.spread(w, kept)
    lines += w.taken()
    lines += [
        "  %some = icmp ne i64 %whole, 0",
        "  br i1 %some, label %wide, label %middle",
        "wide:",
        "  %i = phi i64 [ 0, %entry ], [ %i2, %wide ]",
    ]
    start = {c: literal(w.type(TYPES[c][0]), _nothing(c)) for _, (_, c) in sums}
    for j, (_, c) in sums:
        lines.append(
            f"  %r{j} = phi {w.type(TYPES[c][0])} [ {start[c]}, %entry ], [ %s{j}, %wide ]"
        )
    lines.append("  %at = add i64 %from, %i")
    values = part("%at", spread)
    lines += w.taken()
    for j, (value, c) in sums:
        lines.append(f"  %s{j} = {plus(c)} {w.type(TYPES[c][0])} %r{j}, {values[value]}")
    lines += [
        f"  %i2 = add i64 %i, {LANES}",
        "  %more = icmp slt i64 %i2, %whole",
        "  br i1 %more, label %wide, label %middle",
        "middle:",
    ]
    totals = []
    for j, (_, c) in sums:
        t, many = TYPES[c][0], w.type(TYPES[c][0])
        lines.append(f"  %a{j} = phi {many} [ {start[c]}, %entry ], [ %s{j}, %wide ]")
    for j, (_, c) in sums:
        t, many = TYPES[c][0], w.type(TYPES[c][0])
        parts = [w(f"extractelement {many} %a{j}, i64 {i}") for i in range(LANES)]
        while len(parts) > 1:  # ((0 + 1) + (2 + 3)) + ((4 + 5) + (6 + 7))
            parts = [
                w(f"{plus(c)} {t} {a}, {b}") for a, b in zip(parts[::2], parts[1::2], strict=True)
            ]
        totals.append(parts[0])
    lines += w.taken()
    w.wide = False
    lines += [
        "  %left = icmp slt i64 %whole, %n",
        "  br i1 %left, label %rest, label %done",
        "rest:",
        "  %k = phi i64 [ %whole, %middle ], [ %k2, %rest ]",
    ]
    for j, (_, c) in sums:
        lines.append(f"  %q{j} = phi {TYPES[c][0]} [ {totals[j]}, %middle ], [ %u{j}, %rest ]")
    lines.append("  %there = add i64 %from, %k")
    values = part("%there", kept)
    lines += w.taken()
    for j, (value, c) in sums:
        lines.append(f"  %u{j} = {plus(c)} {TYPES[c][0]} %q{j}, {values[value]}")
    lines += [
        "  %k2 = add i64 %k, 1",
        "  %again = icmp slt i64 %k2, %n",
        "  br i1 %again, label %rest, label %done",
        "done:",
    ]
    for j, (_, c) in sums:
        t = TYPES[c][0]
        lines.append(f"  %e{j} = phi {t} [ {totals[j]}, %middle ], [ %u{j}, %rest ]")
    for j, (_, c) in sums:
        lines.append(f"  %ep{j} = getelementptr i64, ptr %sums, i64 {j}")
        lines.append(f"  store {TYPES[c][0]} %e{j}, ptr %ep{j}")
    return [*lines, "  ret void", "}"]


def _pair(loop: Loop) -> list[str]:
    lines = [
        f"define internal void @pair{_ARGUMENTS} {{",
        "entry:",
        f"  %other = alloca [{len(loop.sums)} x i64], align 8",
        f"  %short = icmp sle i64 %n, {_LEAF}",
        "  br i1 %short, label %one, label %two",
        "one:",
        "  call void @leaf(ptr %bases, ptr %steps, i64 %from, i64 %n, ptr %sums)",
        "  ret void",
        "two:",
        "  %middle = lshr i64 %n, 1",
        "  %half = and i64 %middle, -8",
        "  call void @pair(ptr %bases, ptr %steps, i64 %from, i64 %half, ptr %sums)",
        "  %behind = add i64 %from, %half",
        "  %rest = sub i64 %n, %half",
        "  call void @pair(ptr %bases, ptr %steps, i64 %behind, i64 %rest, ptr %other)",
    ]
    for j, (_, c) in enumerate(loop.sums.values()):
        t = TYPES[c][0]
        lines += [
            f"  %pa{j} = getelementptr i64, ptr %sums, i64 {j}",
            f"  %pb{j} = getelementptr i64, ptr %other, i64 {j}",
            f"  %a{j} = load {t}, ptr %pa{j}",
            f"  %b{j} = load {t}, ptr %pb{j}",
            f"  %c{j} = {plus(c)} {t} %a{j}, %b{j}",
            f"  store {t} %c{j}, ptr %pa{j}",
        ]
    return [*lines, "  ret void", "}"]
