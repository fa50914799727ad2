"""Sphinx's settings, and the directives that write the API pages from the docstrings."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import numpy as np
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import lazyarray as la
from lazyarray import ops
from lazyarray._docstrings import parts
from lazyarray.ops._rows import Row

project = "lazyarray"
author = "the lazyarray developers"
version = release = la.__version__

extensions = ["sphinx.ext.autodoc", "myst_parser"]
exclude_patterns = []
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
html_theme = "furo"
html_title = f"lazyarray {release}"
html_copy_source = False
html_show_sphinx = False
default_role = "literal"  # what NumPy's summaries put between single backquotes
python_use_unqualified_type_names = True
autodoc_typehints = "none"  # the defaults tell more in less space; the stubs have the types
autodoc_member_order = "groupwise"
myst_heading_anchors = 3
toc_object_entries_show_parents = "hide"


class Section(SphinxDirective):
    """Documents the public names of a module, under the names by which users reach them.

    ``.. section:: lazyarray.ops.sorting`` writes each as ``lazyarray.<name>``; ``:as:`` names
    another place. Of a module of rows, ``:rows:`` chooses those of one section of the op table.
    """

    required_arguments = 1
    option_spec = {"as": directives.unchanged, "rows": directives.unchanged}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        module = importlib.import_module(self.arguments[0])
        place = self.options.get("as", "lazyarray")
        wanted = self.options.get("rows")
        lines: list[str] = []
        for name in module.__all__:
            thing = getattr(module, name)
            if wanted is None or (isinstance(thing, Row) and thing.section == wanted):
                lines += entry(place, name, thing)
        return self.parse_text_to_nodes("\n".join(lines))


# Of these what a class inherits is no news.
_PLAIN = "int, float, tuple, list, dict, Exception, ValueError, object"


def entry(place: str, name: str, thing: Any) -> list[str]:
    """The directive that documents one name."""
    first = getattr(thing, "__name__", name)
    kind = "class" if inspect.isclass(thing) else "function" if callable(thing) else "data"
    mine = (getattr(thing, "__module__", None) or type(thing).__module__).startswith("lazyarray")
    numpys = getattr(np, place.rpartition(".")[2], np)  # the same namespace there
    other = ""
    if ops.aliases.get(name, name) != name:
        other = f":func:`{place}.{ops.aliases[name]}`"
    elif mine and first != name and getattr(importlib.import_module(place), first, None) is thing:
        other = f":func:`{place}.{first}`"
    elif not mine and getattr(numpys, name, None) is thing:
        other = f"NumPy's ``{numpys.__name__}.{name}``"
    signature = str(inspect.signature(thing)) if isinstance(thing, Row) else ""  # type: ignore[arg-type]
    if other:
        return [f".. py:{kind}:: {place}.{name}{signature}", "", f"   The same as {other}.", ""]
    if kind == "class":
        options = ["   :members:", f"   :inherited-members: {_PLAIN}"]
        return [f".. autoclass:: {place}.{name}", *options, ""]
    return [f".. auto{kind}:: {place}.{name}{signature}", "   :no-value:" * (kind == "data"), ""]


def fields(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """A docstring's sections as lists of fields (lazyarray/_docstrings.py)."""
    text = "\n".join(lines)
    if not any(line.startswith(("Args:", "Returns:")) for line in lines):
        return
    found = parts(text)
    # Of "a, b: words" each has the words: Sphinx would take "a," for the type of `b`.
    listed = [f":param {n}: {words}" for ns, words in found.args.items() for n in ns.split(", ")]
    told = {"returns": found.returns, "raises": found.raises}
    listed += [f":{title}: {words}" for title, words in told.items() if words]
    lines[:] = [*found.head.splitlines(), "", *listed, "", *found.example.splitlines()]


def setup(app: Sphinx) -> None:
    """What Sphinx calls."""
    app.add_directive("section", Section)
    app.connect("autodoc-process-docstring", fields)
