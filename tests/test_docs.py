"""The documentation: its code runs, its names exist, its generated pages are up to date."""

import contextlib
import doctest
import importlib
import io
import os
import pathlib
import re
import sys
from unittest import mock

import numpy as np
import pytest

import lazyarray as la
from lazyarray import protocols

ROOT = pathlib.Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
OPTIONS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


def blocks(path):
    """(line, code) of each block of Python of a page; those for a ``gpu`` where one is."""
    text = path.read_text()
    for found in re.finditer(r"^```python( gpu)?\n(.*?)^```$", text, re.S | re.M):
        if not found[1] or la.gpu_count():
            yield text[: found.start()].count("\n") + 2, found[2]


@pytest.mark.skipif(
    os.environ.get("LAZYARRAY_ENGINE_TYPE") == "NaiveEngine", reason="errors come at the call"
)
@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_code_of_the_pages_runs(path, tmp_path, monkeypatch):
    """The blocks of a page run in order and share their names; with prompts they show results."""
    monkeypatch.chdir(tmp_path)  # some write files
    names, parser, report = {}, doctest.DocTestParser(), []
    runner = doctest.DocTestRunner(verbose=False, optionflags=OPTIONS)
    with mock.patch.dict(os.environ):  # one sets a variable, for the programs that follow it
        for line, code in blocks(path):
            if ">>>" in code:
                test = parser.get_doctest(code, names, f"{path.name}:{line}", str(path), line)
                runner.run(test, out=report.append, clear_globs=False)
                names.update(test.globs)
            else:
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(code, f"{path.name}:{line}", "exec"), names)
    assert not runner.failures, "".join(report)


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.name)
def test_names_on_the_pages_exist(path):
    text = path.read_text()
    for name in set(re.findall(r"\bla((?:\.[a-zA-Z_]\w*)+)", text)):
        thing = la
        for part in name.strip(".").split("."):
            thing = getattr(thing, part, None)
            assert thing is not None or part == "newaxis", f"la{name}"
            if isinstance(thing, la.NDArray):
                break
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        place = path.parent / link
        assert place.exists() or place.with_suffix(".rst").exists(), link


def test_each_public_module_has_a_place_in_the_reference():
    text = "\n".join(p.read_text() for p in (ROOT / "docs" / "api").glob("*.rst"))
    listed = re.findall(r"^\.\. section:: (\S+)$", text, re.M)
    for section in (*la.ops.SECTIONS, *la.functions.SECTIONS, *protocols.SECTIONS):
        assert section.__name__ in listed, section.__name__
    rows = set(re.findall(r"^   :rows: (.+)$", text, re.M))
    assert rows == {row.section for row in la.ops.table.values()}
    once = [name for name in listed if name != "lazyarray.ops.names"]
    assert len(once) == len(set(once)) and all(map(importlib.import_module, listed))
    pages = {p.stem for p in (ROOT / "docs" / "api").glob("*.rst")}
    index = (ROOT / "docs" / "api" / "index.rst").read_text()
    assert set(re.findall(r"^   ([a-z]+)$", index, re.M)) == pages - {"index"}


def test_the_function_table_is_up_to_date():
    page = ROOT / "docs" / "functions.md"
    if f"NumPy {np.__version__} " not in page.read_text():
        pytest.skip("the page is of another version of NumPy")
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import make_function_table
    finally:
        sys.path.pop(0)
    assert make_function_table.changes() == "", "run: python tools/make_function_table.py"
