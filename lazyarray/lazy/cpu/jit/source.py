"""The text of a compiled loop: LLVM's language, made of a chain's description.

The loop is called with the operands' addresses, the loops' counts, and the steps of each operand
over all loops.
"""

from __future__ import annotations

from lazyarray.lazy.cpu.jit import columns, rows
from lazyarray.lazy.cpu.jit.description import Loop, element_address, load, step_of
from lazyarray.lazy.cpu.jit.expressions import Writer


def llvm_text(description: str, name: str) -> str:
    """The module's text, with one function of this name."""
    loop = Loop(description)
    w = Writer()
    operands, inner = loop.operands, loop.inner
    lines = [f"define void @{name}(ptr %ptrs, ptr %counts, ptr %steps) {{", "entry:"]
    sums_rows = loop.sums and not loop.columns
    if sums_rows:
        lines += rows.scratch(loop)
    elif loop.columns:
        lines += loop.sink()
    elif loop.unseen:
        lines += [f"  %sink_{t} = alloca {t}" for t in ("i32", "i64")]
    for i in range(inner + 1):
        lines.append(f"  %np{i} = getelementptr i64, ptr %counts, i64 {i}")
        lines.append(f"  %n{i} = load i64, ptr %np{i}, !invariant.load !2")
    for k in range(len(operands)):
        lines.append(f"  %pp{k} = getelementptr ptr, ptr %ptrs, i64 {k}")
        lines.append(f"  %b{k}_0 = load ptr, ptr %pp{k}, !invariant.load !2")
        for i in range(inner + 1):
            lines += step_of(k, i)
    # No loop is empty: what calls it has tiles with elements.
    for i in range(inner):
        before = "entry" if i == 0 else f"head{i - 1}"
        lines += [
            f"  br label %head{i}",
            f"head{i}:",
            f"  %i{i} = phi i64 [ 0, %{before} ], [ %next{i}, %tail{i} ]",
        ]
        for k in range(len(operands)):
            lines.append(f"  %o{k}_{i} = mul i64 %i{i}, %s{k}_{i}")
            lines.append(f"  %b{k}_{i + 1} = getelementptr i8, ptr %b{k}_{i}, i64 %o{k}_{i}")
    if sums_rows:
        lines += rows.row(loop)
    elif loop.columns:
        lines += columns.rows(w, loop)
    else:
        lines += _elements(w, loop)
    for i in reversed(range(inner)):
        several = loop.columns and i == inner - 1  # rows at a time
        lines += [
            f"tail{i}:",
            *([columns.turns(loop)] if several else []),
            f"  %next{i} = add nuw nsw i64 %i{i}, {'%turns' if several else 1}",
            f"  %more{i} = icmp slt i64 %next{i}, %n{i}",
            f"  br i1 %more{i}, label %head{i}, label %{f'tail{i - 1}' if i else 'exit'}",
        ]
    lines += ["exit:", "  ret void", "}"]
    lines += rows.functions(w, loop) if sums_rows else []
    lines += [
        *sorted(w.declared),
        "!0 = distinct !{}",
        "!1 = distinct !{!1, !3, !4}",
        "!2 = !{}",
        # Operands are the same elements or apart (see chains.h), so no iteration touches another's.
        '!3 = !{!"llvm.loop.parallel_accesses", !0}',
        '!4 = !{!"llvm.loop.vectorize.enable", i1 true}',
    ]
    return "\n".join(lines) + "\n"


def _elements(w: Writer, loop: Loop) -> list[str]:
    """The innermost loop, element by element: LLVM makes vectors of it."""
    inner = loop.inner
    kept = {
        f"a{k}": load(w, c, f"%b{k}_{inner}", "")
        for k, (c, _, _) in enumerate(loop.operands)
        if loop.still(k)
    }
    before = w.taken()
    loop.body(w, kept, lambda k: element_address(w, loop, k, f"%b{k}_{inner}", "%i"))
    start = "entry" if inner == 0 else f"head{inner - 1}"
    then = "exit" if inner == 0 else f"tail{inner - 1}"
    bits = loop.all_bits
    return [
        *before,
        "  br label %inner",
        "inner:",
        f"  %i = phi i64 [ 0, %{start} ], [ %next, %inner ]",
        *(f"  %met_{t} = phi {t} [ 0, %{start} ], [ %all_{t}, %inner ]" for t in bits),
        *w.lines,
        *(f"  %all_{t} = or {t} %met_{t}, {x}" for t, x in bits.items()),
        "  %next = add nuw nsw i64 %i, 1",
        f"  %more = icmp slt i64 %next, %n{inner}",
        "  br i1 %more, label %inner, label %over, !llvm.loop !1",
        "over:",
        *(f"  store volatile {t} %all_{t}, ptr %sink_{t}" for t in bits),
        f"  br label %{then}",
    ]
