"""Checks that no lower room knows of an upper one: python tools/layers.py [--edges] [--picture]

Reads what the package's files name: imports of Python and Cython (late ones, inside functions,
apart), cimports, ``cdef extern from``, ``include`` and C++'s ``#include "..."``; and what they use
of upper files that is handed down to them: ``_public.namespace``, ``_taught["name"]``. An edge
upward is an error, and so is a circle of files, unless it is listed here with its reason; so is one
that is listed and gone. (What is imported for type checkers alone is no edge.)
"""

from __future__ import annotations

import argparse
import ast
import pathlib
import posixpath
import re
import textwrap
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import NamedTuple

PACKAGE = pathlib.Path(__file__).resolve().parent.parent / "lazyarray"
DESIGN = PACKAGE.parent / "docs" / "design.md"  # has the picture of the rooms
# Where meson.build looks for headers, besides the folder of who includes them.
INCLUDES = ("", "engine/core")

# The rooms, lowest first: each may know those above it in this list. Those on one line know nothing
# of each other. A room is a folder (less the rooms in it) or a file, or it says what belongs to it.
ROOMS = """
    engine/core | _gil.py | _numpy_facts.py | version.py
    engine
    storage
    lazy
    lazy/cpu | lazy/cuda
    _public.py | context.py | _docstrings.py
    ops
    functions
    autograd | protocols
    ndarray: _ndarray _numbers _operators _methods _indexing _array_type _scalar_types _derived _flat _text _html _namespace_info _frames _lending _values
    _direct.py | _memmap.py
    linalg | fft.py
    random
    _compile | graph | lib | nn | profiler | testing.py
    polynomial | ma.py | char.py | strings.py | rec.py | ctypeslib.py | typing.py | exceptions.py | dtypes.py
    distributed
    kvstore.py | launch.py
    dask
    _adapters
    package: __init__ _config _scalar_mode _scalars _others _hints _trace matlib __main__
"""  # noqa: E501

# What is allowed all the same: reason, and "file > file file ...". It can only get shorter.
EXCEPTIONS = {
    "the module puts the backends in their places, and makes kernels of our own loops": """
        lazy/_lazy.pxd > lazy/cpu/lines.h lazy/cpu/run.h
        lazy/tensor.pxi > lazy/cpu/backend.h
        lazy/cuda.pxi > lazy/cuda/runner.h
    """,
    "rows call what is taught to them, as they are of the lower room": """
        ops/operands.pxi > functions/conversion.py protocols/dispatch.py protocols/interfaces.py
        ops/product.pxi > functions/products.py
        ops/public.pxi > protocols/dispatch.py
        ops/ufunc.pxi > functions/conversion.py
        ops/ufunc_methods.pxi > protocols/ufunc_methods.py
    """,
    "it finds public functions by names that programs, files or NumPy's protocols give": """
        ops/direct_calls.pxi > __init__.py
        ops/others.pxi > __init__.py
        protocols/dispatch.py > __init__.py
        graph/registry.py > __init__.py
        random/_draws.pyx > __init__.py
        random/mtrand.py > __init__.py
    """,
    "it gives the namespace itself to who asks for it": """
        _namespace_info.py > __init__.py
        _adapters/others.py > __init__.py
    """,
    "it calls what programs call: at once where it can, and with what lies above": """
        functions/archives.py > __init__.py
        functions/conversion.py > __init__.py
        functions/functional.py > __init__.py
        functions/polynomials.py > __init__.py
        dask/arrays.py > __init__.py
        dask/backend.py > __init__.py
        dask/metas.py > __init__.py
        dask/places.py > __init__.py
        dask/wire.py > __init__.py
    """,
}


class Edge(NamedTuple):
    """A file names another; ``how``: import, late, cimport, include, or handed (down)."""

    source: str
    target: str
    how: str
    line: int

    def __str__(self) -> str:
        return f"{self.source}:{self.line} -> {self.target} ({self.how})"


# ---- what files name ----------------------------------------------------------------------------

# `from a.b cimport (c as d, e)`, `import a`: over several lines, too.
_IMPORT = re.compile(
    r"^(?P<indent>[ \t]*)(?:from[ \t]+(?P<module>[\w.]+)[ \t]+)?(?P<verb>cimport|import)[ \t]+"
    r"(?P<names>\([^)]*\)|(?:\\\n|[^\n])*)",
    re.MULTILINE,
)
_INCLUDE = re.compile(
    r'^[ \t]*(?:cdef extern from|include|#[ \t]*include)[ \t]+["\'](?P<file>[^"\'<>]+)',
    re.MULTILINE,
)
# `sys.modules["a.b"]`, `import_module("a.b")`, in Cython.
_LOOKED_UP = re.compile(r"(?:import_module|__import__|modules|modules\.get)[\[(][\"']([\w.]+)")
# What lies above and is handed down: the public namespace, and what `_rows.teach(name=...)` says.
_NAMESPACE = re.compile(r"\b_public\.namespace\b(?! =)")
_TAUGHT = re.compile(r"\b_taught\[[\"'](\w+)")
_TEACHES = re.compile(r"\b_rows\.teach\(([^)]*)\)")
_PYTHON, _CYTHON, _CPP = ("py",), ("pyx", "pxd", "pxi"), ("h", "hpp", "inl", "cpp", "cc", "cu")


class Tree:
    """The sources of a package, by their paths below it, and what names in them mean."""

    def __init__(self, package: pathlib.Path) -> None:
        self.package = package
        self.files = {
            path.relative_to(package).as_posix(): path
            for kind in (*_PYTHON, *_CYTHON, *_CPP)
            for path in package.rglob(f"*.{kind}")
            if not path.read_bytes().startswith(b"/* Generated by Cython")
        }

    def edges(self) -> list[Edge]:
        """Every file that a file names."""
        found: set[Edge] = set()
        for name, path in self.files.items():
            text = path.read_text()
            if name.endswith(_PYTHON):
                named = self._python(name, text)
            elif name.endswith(_CYTHON):
                named = chain(self._cython(name, text), self._includes(name, text))
            else:
                named = self._includes(name, text)
            found.update(named, self._handed(name, text))
        return sorted(edge for edge in found if edge.source != edge.target)

    def _handed(self, name: str, text: str) -> Iterator[Edge]:
        """What a file uses of others that they hand down to it."""
        for found in _NAMESPACE.finditer(text):
            yield Edge(name, "__init__.py", "handed", _line(text, found))
        for found in _TAUGHT.finditer(text):
            yield Edge(name, self._teachers[found[1]], "handed", _line(text, found))

    @cached_property
    def _teachers(self) -> dict[str, str]:
        """The files that teach rows what they call, by its name."""
        return {
            word: name
            for name, path in self.files.items()
            for words in _TEACHES.findall(path.read_text())
            for word in re.findall(r"(\w+)=", words)
        }

    def _modules(self, module: str, names: Iterable[str], kinds: tuple[str, ...]) -> Iterator[str]:
        """The files that ``from module import names`` means; ``import module`` has no names."""
        root, *parts = module.split(".")
        if root != self.package.name:
            return
        for inner in [[*parts, name] for name in names] or [parts]:
            for place in (inner, inner[: len(parts)]):  # a name may be a module's, or in it
                stem = "/".join(place)
                tried = [f"{stem}.{k}" for k in kinds] + [f"{stem}/__init__.{k}" for k in kinds]
                file = next((f for t in tried if (f := t.lstrip("/")) in self.files), None)
                if file:
                    yield file
                    break

    def _python(self, name: str, text: str) -> Iterator[Edge]:
        for node, late in _nodes(ast.parse(text), False):
            for module, names in _imported(node):
                dots = len(module) - len(module.lstrip("."))
                if dots:
                    folders = [self.package.name, *name.split("/")][:-dots]
                    module = ".".join(filter(None, [*folders, module[dots:]]))
                for file in self._modules(module, names, ("py", "pyx")):
                    yield Edge(name, file, "late" if late else "import", getattr(node, "lineno", 0))

    def _cython(self, name: str, text: str) -> Iterator[Edge]:
        text = re.sub(r'"""(?s:.*?)"""', lambda m: re.sub(r"[^\n]", " ", m[0]), text)  # examples
        for found in _IMPORT.finditer(text):
            cimported = found["verb"] == "cimport"
            how = "cimport" if cimported else "late" if found["indent"] else "import"
            names = re.findall(r"([\w.]+)(?:[ \t]+as[ \t]+\w+)?", re.sub("#.*", "", found["names"]))
            for module, inner in (
                [(found["module"], names)]
                if found["module"]
                else [(module, ()) for module in names]
            ):
                for file in self._modules(module, inner, ("pxd",) if cimported else ("py", "pyx")):
                    yield Edge(name, file, how, _line(text, found))
        for found in _LOOKED_UP.finditer(text):
            for file in self._modules(found[1], (), ("py", "pyx")):
                yield Edge(name, file, "late", _line(text, found))

    def _includes(self, name: str, text: str) -> Iterator[Edge]:
        here = name.rpartition("/")[0]
        for found in _INCLUDE.finditer(text):
            places = [
                posixpath.normpath(f"{at or '.'}/{found['file']}") for at in (here, *INCLUDES)
            ]
            file = next((place for place in places if place in self.files), None)
            if file:
                yield Edge(name, file, "include", _line(text, found))
            elif name.endswith(_CPP):  # Cython's may be Python's, or NumPy's
                raise SystemExit(f"{name}:{_line(text, found)}: where is {found['file']!r}?")


def _line(text: str, found: re.Match[str]) -> int:
    return text.count("\n", 0, found.start()) + 1


def _nodes(node: ast.AST, late: bool) -> Iterator[tuple[ast.AST, bool]]:
    """All below a node, and whether it runs only as a function is called."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            for other in child.orelse:
                yield other, late
                yield from _nodes(other, late)
            continue
        yield child, late
        later = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        yield from _nodes(child, late or later)


def _imported(node: ast.AST) -> Iterator[tuple[str, list[str]]]:
    """The modules that a statement imports, or finds in ``sys.modules``, and names in them."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, []) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield "." * node.level + (node.module or ""), [alias.name for alias in node.names]
    elif isinstance(node, (ast.Call, ast.Subscript)):
        of = ast.unparse(node.func if isinstance(node, ast.Call) else node.value)
        what = node.args[0] if isinstance(node, ast.Call) and node.args else None
        what = node.slice if isinstance(node, ast.Subscript) else what
        if re.search(r"(import_module|__import__|modules|modules\.get)$", of):
            if isinstance(what, ast.Constant):
                yield str(what.value), []


# ---- what is wrong with it ----------------------------------------------------------------------


class Rooms:
    """Which room a file is in, and how high that is."""

    def __init__(self, table: str) -> None:
        self.levels: dict[str, int] = {}
        self._places: dict[str, str] = {}  # a folder, a file, or its name without the kind
        for level, line in enumerate(table.strip().splitlines()):
            for room in line.split("|"):
                name, _, parts = room.strip().partition(":")
                self.levels[name] = level
                self._places.update({f"{part}.": name for part in parts.split()} or {name: name})

    def of(self, file: str) -> str | None:
        """The innermost room that a file is in; None: it is in none."""
        stem = f"{file.rpartition('.')[0]}."
        folders = [folder.as_posix() for folder in pathlib.PurePosixPath(file).parents]
        return next((self._places[p] for p in (file, stem, *folders) if p in self._places), None)


def faults(
    edges: Collection[Edge],
    files: Iterable[str],
    rooms: Rooms,
    exceptions: dict[str, str],
) -> list[str]:
    """What is wrong, in words."""
    found = [f"{file}: in no room" for file in sorted(files) if rooms.of(file) is None]
    allowed = {
        (source.strip(), target)
        for lines in exceptions.values()
        for source, _, targets in (line.partition(">") for line in lines.strip().splitlines())
        for target in targets.split()
    }
    wrong = {edge: "upward" for edge in edges if _is_upward(edge, rooms)}
    wrong |= {edge: "a circle" for edge in _closing(edges) if edge not in wrong}
    found += [f"{edge}: {what}" for edge, what in sorted(wrong.items()) if edge[:2] not in allowed]
    gone = allowed - {edge[:2] for edge in wrong}
    found += [f"{source} > {target}: an exception that is not needed" for source, target in gone]
    return found


def _is_upward(edge: Edge, rooms: Rooms) -> bool:
    a, b = rooms.of(edge.source) or "", rooms.of(edge.target) or ""
    return a != b and rooms.levels.get(a, 0) <= rooms.levels.get(b, -1)


def _closing(edges: Iterable[Edge]) -> Iterator[Edge]:
    """The edges of circles: late ones where there are some, else all of a circle."""
    edges = [edge for edge in edges if edge.how != "handed"]
    early: dict[str, set[str]] = defaultdict(set)
    every: dict[str, set[str]] = defaultdict(set)
    for edge in edges:
        every[edge.source].add(edge.target)
        if edge.how != "late":
            early[edge.source].add(edge.target)
    for edge in edges:
        ways = every if edge.how == "late" else early
        if edge.source in _reached(edge.target, ways):
            yield edge


def _reached(start: str, ways: dict[str, set[str]]) -> set[str]:
    seen, todo = {start}, [start]
    while todo:
        for file in ways.get(todo.pop(), ()):
            if file not in seen:
                seen.add(file)
                todo.append(file)
    return seen


def listing(edges: Iterable[Edge], rooms: Rooms) -> str:
    """How many edges lead from room to room, upward ones marked."""
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for edge in edges:
        pair = rooms.of(edge.source) or "?", rooms.of(edge.target) or "?"
        if pair[0] != pair[1]:
            counts[pair][edge.how] += 1
    order = [*rooms.levels, "?"]
    lines = []
    for (a, b), kinds in sorted(counts.items(), key=lambda c: tuple(map(order.index, c[0]))):
        up = "  upward" if rooms.levels.get(a, 0) <= rooms.levels.get(b, 0) else ""
        told = ", ".join(f"{n} {how}" for how, n in sorted(kinds.items()))
        lines.append(f"{a:12} -> {b:12} {kinds.total():4}   {told}{up}")
    total = sum((kinds for kinds in counts.values()), Counter())
    told = ", ".join(f"{n} {how}" for how, n in sorted(total.items()))
    return "\n".join([*lines, f"{'all':12}    {'':12} {total.total():4}   {told}"])


def picture(table: str, width: int = 76) -> str:
    """The rooms as boxes on each other, the upper ones on top."""
    lines = [line.strip().partition(":")[0] for line in table.strip().splitlines()]
    boxes = []
    for line in reversed(lines):
        rows = textwrap.wrap("   ".join(line.split(" | ")), width - 4, break_on_hyphens=False)
        boxes.append("\n".join(f"│ {row:^{width - 4}} │" for row in rows))
    side = "─" * (width - 2)
    return f"┌{side}┐\n" + f"\n├{side}┤\n".join(boxes) + f"\n└{side}┘"


def illustrated(page: str) -> str:
    """The page with the picture of these rooms in its place."""
    text = f"\n```text\n{picture(ROOMS)}\n```\n"
    around = re.compile(r"(<!-- rooms -->\n).*?(<!-- end of rooms -->)", re.DOTALL)
    if not around.search(page):
        raise SystemExit("the page has no place for the picture: <!-- rooms -->")
    return around.sub(lambda found: f"{found[1]}{text}\n{found[2]}", page)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--edges", action="store_true", help="count the edges from room to room")
    parser.add_argument("--picture", action="store_true", help="draw the rooms in docs/design.md")
    args = parser.parse_args()
    if args.picture:
        DESIGN.write_text(illustrated(DESIGN.read_text()))
    tree, rooms = Tree(PACKAGE), Rooms(ROOMS)
    edges = tree.edges()
    if args.edges:
        print(listing(edges, rooms))
    found = faults(edges, tree.files, rooms, EXCEPTIONS)
    if found:
        raise SystemExit("\n".join(found))


if __name__ == "__main__":
    main()
