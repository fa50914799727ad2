"""Loops that add up columns, each from the first row to the last, as NumPy's.

The innermost loop goes along the sums, which lie side by side, and the one around it along the
rows. A few rows are done at once, so that the sums are read and written once for these. They come
in one after the other: ``to + a + b + ...``, from the left.
"""

from __future__ import annotations

from collections.abc import Callable

from lazyarray.lazy.cpu.jit.description import SUMS, Loop, element_address, load_still, plus
from lazyarray.lazy.cpu.jit.expressions import LANES, TYPES, Writer

# Instructions that are written out for rows at once, and rows.
_MOST, _ROWS = 48, 8


def rows_at_once(loop: Loop) -> int:
    """A power of two."""
    n = _ROWS
    while n > 1 and n * len(loop.instructions) > _MOST:
        n //= 2
    return n


def turns(loop: Loop) -> str:
    """How many rows the last turn of the loop around did."""
    return f"  %turns = phi i64 [ {rows_at_once(loop)}, %many_over ], [ 1, %one_over ]"


def rows(w: Writer, loop: Loop) -> list[str]:
    """What the last loop but the innermost does: a few rows, or one."""
    around, count = loop.inner - 1, rows_at_once(loop)
    return [
        f"  %whole = and i64 %n{loop.inner}, -{LANES}",
        f"  %left = sub i64 %n{around}, %i{around}",
        f"  %some = icmp sge i64 %left, {count}",
        "  br i1 %some, label %many, label %one",
        *_part(w, loop, "many", count),
        *_part(w, loop, "one", 1),
    ]


def _part(w: Writer, loop: Loop, name: str, count: int) -> list[str]:
    """So many rows: eight columns at a time, and then the rest one by one."""
    inner, around = loop.inner, loop.inner - 1
    lines = [f"{name}:"]
    bases: list[dict[int, str]] = []
    kept: list[dict[str, str]] = []
    for row in range(count):
        base = {k: f"%b{k}_{inner}" for k in range(len(loop.operands))}
        for k, (_, _, step) in enumerate(loop.operands):
            if row and step not in SUMS and step != "c":
                by = w(f"mul i64 {row}, %s{k}_{around}")
                base[k] = w(f"getelementptr i8, ptr {base[k]}, i64 {by}")
        bases.append(base)
        kept.append(
            {
                f"a{k}": load_still(w, c, base[k])
                for k, (c, _, _) in enumerate(loop.operands)
                if loop.still(k)
            }
        )
    w.wide = True
    spread = [loop.spread(w, values) for values in kept]
    lines += w.taken()
    for wide, begin, end in ((True, "0", "%whole"), (False, "%whole", f"%n{inner}")):
        w.wide = wide
        part = f"{name}_{'wide' if wide else 'rest'}"
        before, then = (name, f"{name}_middle") if wide else (f"{name}_middle", f"{name}_over")
        index = f"%{part}_i"
        lines += [
            f"  %{part}_any = icmp slt i64 {begin}, {end}",
            f"  br i1 %{part}_any, label %{part}, label %{then}",
            f"{part}:",
            f"  {index} = phi i64 [ {begin}, %{before} ], [ %{part}_next, %{part} ]",
        ]
        _add(w, loop, bases, spread if wide else kept, index)
        lines += [
            *w.taken(),
            f"  %{part}_next = add i64 {index}, {LANES if wide else 1}",
            f"  %{part}_more = icmp slt i64 %{part}_next, {end}",
            f"  br i1 %{part}_more, label %{part}, label %{then}",
            f"{then}:",
        ]
    w.wide = False
    return [*lines, f"  br label %tail{around}"]


def _add(
    w: Writer,
    loop: Loop,
    bases: list[dict[int, str]],
    kept: list[dict[str, str]],
    index: str,
) -> None:
    """Adds elements of all the rows to their columns' sums."""

    def address_in(base: dict[int, str]) -> Callable[[int], str]:
        return lambda k: element_address(w, loop, k, base[k], index)

    places, sums, types = {}, {}, {}
    for k, (c, _, step) in enumerate(loop.operands):
        if step in SUMS:
            places[k], types[k] = address_in(bases[0])(k), w.type(TYPES[c][0])
            sums[k] = w(f"load {types[k]}, ptr {places[k]}, align 1")
    for base, still in zip(bases, kept, strict=True):
        values = loop.heard(w, still, address_in(base))
        for k, x in sums.items():
            added, c = loop.sums[loop.results[f"a{k}"]]
            sums[k] = w(f"{plus(c)} {types[k]} {x}, {values[added]}")
    w.lines += [f"  store {types[k]} {x}, ptr {places[k]}, align 1" for k, x in sums.items()]
