"""What is printed: the table, its summary, and where the figures come from."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence

from benchmarks.harness import Result
from benchmarks.row import Aim

SCALE = {"us": 1e6, "ms": 1e3}


MISSED = ", **missed**"


def aim_text(result: Result, aim: Aim) -> str:
    """An aim and, where its libraries took part, what was reached and whether that will do."""
    if aim.of:
        best = "best of " if len(aim.of) > 1 else ""
        text, got = f"<= {aim.limit:.3g} of {best}{', '.join(aim.of)}", result.ratio(*aim.of)
        shown = "" if got is None else f"{got:.2f}"
    else:
        unit = result.row.unit
        text, got = f"<= {aim.limit * SCALE[unit]:g} {unit}", result.best.get("lazyarray")
        shown = "" if got is None else f"{got * SCALE[unit]:.3g}"
    if got is None:
        return text
    return f"{text}: {shown}" + ("" if got <= aim.limit else MISSED)


RATIOS = {"/ numpy": ("numpy",), "/ best of numpy, torch": ("numpy", "torch")}


def table(
    results: Sequence[Result], names: Sequence[str], ratios: Mapping[str, tuple[str, ...]] = RATIOS
) -> str:
    """The rows as a Markdown table; after the times, lazyarray's ratios, its rate, and the aims."""
    head = ["what", "unit", *names, *(f"lazyarray {title}" for title in ratios)]
    rates = any(result.row.moves for result in results)
    head += ["lazyarray, GB/s"] * rates + ["aim"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for result in results:
        row = result.row
        cells = [row.name, row.unit]
        for name in names:
            t = result.best.get(name)
            cells.append("" if t is None else f"{t * SCALE[row.unit]:.3g}")
        for others in ratios.values():
            ratio = result.ratio(*others)
            cells.append("" if ratio is None else f"{ratio:.2f}")
        if rates:
            t = result.best.get("lazyarray")
            cells.append(f"{row.moves / t / 1e9:.0f}" if row.moves and t else "")
        cells.append("; ".join(aim_text(result, aim) for aim in row.aims))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def geometric_mean(results: Sequence[Result], *peers: str) -> tuple[float, int]:
    """The mean of best(peers) / lazyarray, and over how many rows."""
    ratios = [r for result in results if (r := result.ratio(*peers)) is not None]
    return math.exp(-sum(map(math.log, ratios)) / max(1, len(ratios))), len(ratios)


def summary(results: Sequence[Result]) -> list[str]:
    """The geometric means, the rows behind NumPy and the aims missed."""
    lines = []
    for title, overhead in (("rows of work", False), ("rows of call overhead", True)):
        for peers in (("numpy", "torch"), ("jax", "numba"), ("no-jit",)):
            mean, count = geometric_mean([r for r in results if r.row.overhead is overhead], *peers)
            if count:
                best = f"best({', '.join(peers)})" if len(peers) > 1 else peers[0]
                lines.append(f"geometric mean of {best} / lazyarray: {mean:.2f} ({count} {title})")
    behind = [(r.row.name, ratio) for r in results if (ratio := r.ratio("numpy") or 0.0) > 1]
    if any(r.ratio("numpy") is not None for r in results):
        listed = "; ".join(f"{name} ({ratio:.2f})" for name, ratio in behind)
        lines.append(f"behind numpy: {listed or 'none'}")
    if "lazyarray" in {name for r in results for name in r.best}:
        lines.append(f"aims missed: {'; '.join(missed(results)) or 'none'}")
    return lines


def missed(results: Sequence[Result]) -> list[str]:
    """The aims that were missed, and by how much."""
    return [
        f"{r.row.name} ({text.removesuffix(MISSED)})"
        for r in results
        for aim in r.row.aims
        if (text := aim_text(r, aim)).endswith(MISSED)
    ]


def machine() -> str:
    """One line about where the figures come from, with the load that is there already.

    Libraries whose threads spin at barriers take many times as long beside a busy process.
    """
    model = "unknown processor"
    if os.path.exists("/proc/cpuinfo"):
        with open("/proc/cpuinfo") as f:
            for line in f:
                if line.startswith("model name"):
                    model = line.split(":", 1)[1].strip()
                    break
    return f"{model}, {os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}"
