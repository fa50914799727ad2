"""The text of a compiled loop: LLVM's language, made of a chain's description (see chains.cpp).

A description has four parts, separated by ``|``: how many loops there are; the operands, each
``dtype access step``, with ``r`` for what is read and ``w`` for what is written, and for the
innermost loop's step ``d`` (the items lie one after the other), ``1`` (it stands still), ``c`` (it
does in all loops) or ``s``;
the instructions, each ``name dtypes operand ... result``, where ``a3`` is operand 3 and ``t3`` a
value; and which value each operand that is written gets, ``t3:a5``.

The loop is called with the operands' addresses, the loops' counts, and the steps of each operand
over all loops.
"""

from __future__ import annotations

from lazyarray.lazy.cpu.jit.expressions import TYPES, Writer, write

_BYTES = {"i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "float": 4, "double": 8}


_AXES = 8  # from one operand's steps to the next's: kAxes of lazy/space.h


def llvm_text(description: str, name: str) -> str:
    """The module's text, with one function of this name."""
    loops_text, operands_text, steps_text, results_text = description.split("|")
    loops = int(loops_text)
    operands = [o.split() for o in operands_text.split(",")]
    w = Writer()
    head: list[str] = []
    for i in range(loops):
        head.append(f"  %np{i} = getelementptr i64, ptr %counts, i64 {i}")
        head.append(f"  %n{i} = load i64, ptr %np{i}, !invariant.load !2")
    for k in range(len(operands)):
        head.append(f"  %pp{k} = getelementptr ptr, ptr %ptrs, i64 {k}")
        head.append(f"  %b{k}_0 = load ptr, ptr %pp{k}, !invariant.load !2")
        for i in range(loops):
            head.append(f"  %sp{k}_{i} = getelementptr i64, ptr %steps, i64 {k * _AXES + i}")
            head.append(f"  %s{k}_{i} = load i64, ptr %sp{k}_{i}, !invariant.load !2")
    results: dict[str, str] = {}
    for pair in results_text.split(","):
        value, operand = pair.split(":")
        results[operand] = value
    body = _loop(w, loops, operands, [s.split() for s in steps_text.split(",")], results)
    lines = [f"define void @{name}(ptr %ptrs, ptr %counts, ptr %steps) {{", "entry:", *head]
    inner = loops - 1
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
    lines += body
    for i in reversed(range(inner)):
        lines += [
            f"tail{i}:",
            f"  %next{i} = add nuw nsw i64 %i{i}, 1",
            f"  %more{i} = icmp slt i64 %next{i}, %n{i}",
            f"  br i1 %more{i}, label %head{i}, label %{f'tail{i - 1}' if i else 'exit'}",
        ]
    lines += ["exit:", "  ret void", "}", *sorted(w.declared)]
    lines += [
        "!0 = distinct !{}",
        "!1 = distinct !{!1, !3, !4}",
        "!2 = !{}",
        # Operands are the same elements or apart (see chains.h), so no iteration touches another's.
        '!3 = !{!"llvm.loop.parallel_accesses", !0}',
        '!4 = !{!"llvm.loop.vectorize.enable", i1 true}',
    ]
    return "\n".join(lines) + "\n"


def _loop(
    w: Writer,
    loops: int,
    operands: list[list[str]],
    instructions: list[list[str]],
    results: dict[str, str],
) -> list[str]:
    """The innermost loop."""
    inner = loops - 1
    values: dict[str, str] = {}

    def stored(c: str) -> str:
        return "i8" if c == "?" else TYPES[c][0]

    def loaded(k: int, address: str) -> str:
        c = operands[k][0]
        x = w(f"load {stored(c)}, ptr {address}, !llvm.access.group !0")
        return w(f"icmp ne i8 {x}, 0") if c == "?" else x

    def address(k: int) -> str:
        c, _, step = operands[k]
        if step == "d":
            return w(f"getelementptr inbounds {stored(c)}, ptr %b{k}_{inner}, i64 %i")
        return w(f"getelementptr i8, ptr %b{k}_{inner}, i64 {w(f'mul i64 %i, %s{k}_{inner}')}")

    for k, (_, access, step) in enumerate(operands):
        if access == "r" and step in "1c":
            values[f"a{k}"] = loaded(k, f"%b{k}_{inner}")
    before = list(w.lines)
    w.lines.clear()
    for k, (_, access, step) in enumerate(operands):
        if access == "r" and step not in "1c":
            values[f"a{k}"] = loaded(k, address(k))
    constants = {f"a{k}" for k, (_, _, step) in enumerate(operands) if step == "c"}
    for name, dtypes, *given, result in instructions:
        still = [g in constants for g in given]
        values[result] = write(w, name, dtypes, [values[g] for g in given], still)
    for k, (c, access, _) in enumerate(operands):
        if access == "w":
            x = values[results[f"a{k}"]]
            if c == "?":
                x = w(f"zext i1 {x} to i8")
            w.lines.append(f"  store {stored(c)} {x}, ptr {address(k)}, !llvm.access.group !0")
    start = "entry" if inner == 0 else f"head{inner - 1}"
    then = "exit" if inner == 0 else f"tail{inner - 1}"
    return [
        *before,
        "  br label %inner",
        "inner:",
        f"  %i = phi i64 [ 0, %{start} ], [ %next, %inner ]",
        *w.lines,
        "  %next = add nuw nsw i64 %i, 1",
        f"  %more = icmp slt i64 %next, %n{inner}",
        f"  br i1 %more, label %inner, label %{then}, !llvm.loop !1",
    ]
