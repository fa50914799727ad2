"""Writes docs/functions.md: what of NumPy is here, and how each function runs, as observed.

python tools/make_function_table.py

It runs the sample calls of ``tests/surface/calls``; the texts of its notes are docstrings'.
"""

from __future__ import annotations

import collections
import difflib
import inspect
import pathlib
import sys
from typing import Any

import numpy as np

import lazyarray as la
from lazyarray.functions.absent import ABSENT, LEFT_OUT, OUTSIDE
from lazyarray.ops._rows import Row

ROOT = pathlib.Path(__file__).parent.parent
TARGET = ROOT / "docs" / "functions.md"

sys.path.insert(0, str(ROOT))
from tests.surface import derivatives, samples  # noqa: E402

Ways = dict[str, str]  # how calls ran, or what became of gradients: the shortest call of each kind

TITLES = {
    "": "numpy",
    "linalg": "numpy.linalg",
    "fft": "numpy.fft",
    "random": "numpy.random",
    "random.Generator": "numpy.random.Generator",
    "ndarray": "numpy.ndarray",
}

HEAD = """# Function table

Which functions of NumPy {version} lazyarray has, and how each runs. Written by
`tools/make_function_table.py`, which runs the sample calls of `tests/surface/calls/` and watches:
the column *how* is what was seen, not what somebody hoped for.

| how | meaning |
|---|---|
| native | recorded, and run by compiled loops without the GIL, fused if elementwise; or a view |
| op | recorded too; when it runs, it (or a part of it) is a call of NumPy that takes the GIL |
| sync | waits for values that a shape or the answer depends on; `la.no_sync()` makes it raise |
| host | answered at once, from shapes and dtypes or without any array |

| gradient | meaning |
|---|---|
| yes | [autograd](autograd.md) follows it: gradients reach its arguments |
| zero | its results don't change with small changes of its arguments: no gradient passes |
| no | it is refused, with a NotImplementedError, when it is recorded on what has a gradient |
| | no floats go in, or none come out |

The column *gradient* is what was seen when the calls were recorded on arrays with gradients; these
were compared with differences of the results. Two words mean that it depends on the arguments; the
note has an example of the slower way, and of what is refused.

| namespace | names in NumPy | of numeric dtypes | here | |
|---|---|---|---|---|
{coverage}

*Of numeric dtypes* leaves out what is
{outside};
the end of each namespace lists what is not here, with the reasons. The sample calls compare results
with NumPy's: their structure, shapes, dtypes and values, bit for bit, but for rounding in
{close}.
"""


def page() -> str:
    """The text of the page."""
    calls, close = samples.load()
    seen = {name: observed(name, calls[name]) for name in calls}
    followed = {name: differentiated(name, calls[name]) for name in calls}
    parts = [
        HEAD.format(
            version=np.__version__,
            coverage="\n".join(map(_coverage, TITLES)),
            outside=", ".join(f"*{category}*" for category in OUTSIDE),
            close=", ".join(f"`{name}`" for name in sorted(close)) or "none",
        )
    ]
    for space, title in TITLES.items():
        parts.append(f"\n## {title}\n")
        sections = collections.defaultdict(list)
        for name in samples.public(space):
            if name not in ABSENT:
                found = row(name, seen.get(name), followed.get(name, {}))
                sections[section_of(name)].append(found)
        for section in sorted(sections):
            if len(sections) > 1:
                parts.append(f"\n### {section}\n")
            parts += [
                "\n| function | how | gradient | note |\n|---|---|---|---|\n",
                *sorted(sections[section]),
            ]
        parts += absent(space)
    return "".join(parts)


def _coverage(space: str) -> str:
    here, numeric = samples.coverage(space)
    share = f"{100 * here / numeric:.0f} %"
    return f"| {TITLES[space]} | {len(samples.public(space))} | {numeric} | {here} | {share} |"


def observed(name: str, expressions: list[str]) -> Ways:
    """The ways in which the sample calls of a function ran, cheapest first; a call for each."""
    found: Ways = {}
    for expression in sorted(expressions, key=len):
        found.setdefault(samples.observe(expression, name).how, expression)
    if len(found) > 1:
        found.pop("host", None)  # a short cut
    return {how: found[how] for how in samples.HOW if how in found}


def differentiated(name: str, expressions: list[str]) -> Ways:
    """What becomes of the gradients of the sample calls of a function; a call for each.

    Calls with ``out=`` count where there are no others: what was in it may have a gradient, too.
    """
    found: Ways = {}
    plain = [e for e in expressions if "out=" not in e] or expressions
    for expression in sorted(plain, key=len):
        found.setdefault(derivatives.observe(expression, name) or "", expression)
    return {what: found[what] for what in ("yes", "zero", "no") if what in found}


def section_of(name: str) -> str:
    """The heading under which a name stands: its row's section, or its module's."""
    thing = samples.look(la, name)
    if isinstance(thing, Row):
        return thing.section.capitalize()
    thing = inspect.unwrap(thing)  # la.trace stands before NumPy's
    module = getattr(thing, "__module__", None) or type(thing).__module__
    if not module.startswith("lazyarray") or module == "lazyarray.random.seeds":
        return "NumPy's own"
    return module.rpartition(".")[2].lstrip("_").replace("_", " ").capitalize()


def row(name: str, ways: Ways | None, gradients: Ways) -> str:
    """A line of a table."""
    thing = samples.look(la, name)
    if ways is not None:
        note = _note(name, thing, ways, gradients)
    elif callable(theirs := samples.look(np, name)) and (
        theirs in (thing, getattr(thing, "__wrapped__", None))
        or thing.__module__ == "lazyarray.random.seeds"
    ):
        note = "NumPy's own"
    else:
        note = "a constant"
    cells = [
        f"`{name.rpartition('.')[2]}`",
        ", ".join(ways or ["host"]),
        ", ".join(gradients),
        note,
    ]
    return f"| {' | '.join(cells)} |\n"


def _note(name: str, thing: Any, ways: Ways, gradients: Ways) -> str:
    notes = []
    first, last = getattr(thing, "__name__", ""), name.rpartition(".")[2]
    if first != last and callable(samples.look(la, first)):
        notes.append(f"`{first}`")
    if "sync" in ways:
        notes.append(samples.waits_sentence(inspect.getdoc(thing)) or "waits")
    *_, worst = ways
    if len(ways) > 1:
        notes.append(f"{worst}: `{ways[worst].replace('xp.', 'la.')}`")
    if "no" in gradients and len(gradients) > 1:
        notes.append(f"no gradient: `{gradients['no'].replace('xp.', 'la.')}`")
    return "; ".join(notes)


def absent(space: str) -> list[str]:
    """What the namespace leaves out, by category."""
    names = set(samples.public(space))
    out = []
    for categories in (LEFT_OUT, OUTSIDE):
        for category, reasons in categories.items():
            rows = [
                f"| `{name.rpartition('.')[2]}` | absent | {reason} |\n"
                for name, reason in reasons.items()
                if name in names
            ]
            if rows:
                out += [f"\n### Absent: {category}\n"]
                out += ["\n| function | how | note |\n|---|---|---|\n", *rows]
    return out


def changes() -> str:
    """What would change if the page were written now."""
    old = TARGET.read_text() if TARGET.exists() else ""
    return "\n".join(difflib.unified_diff(old.splitlines(), page().splitlines(), "old", "new", n=0))


if __name__ == "__main__":
    TARGET.write_text(page())
    print(*map(_coverage, TITLES), sep="\n")
