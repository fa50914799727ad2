"""The documentation: its code runs, its names exist, its generated pages are up to date.

Blocks of Python run; ``python gpu`` where there is a GPU, ``python dask`` where Dask is installed.
Of commands the files, targets, modules and extras exist. Output and figures are ``text``.
"""

import contextlib
import doctest
import importlib
import importlib.util
import io
import os
import pathlib
import re
import shlex
import sys
import tomllib
from unittest import mock

import numpy as np
import pytest

import lazyarray as la
from lazyarray import protocols

ROOT = pathlib.Path(__file__).parent.parent
DOCS = ROOT / "docs"
# What stands at the root is read on its own, beside the pages of docs/.
AT_ROOT = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
PAGES = [*AT_ROOT, *sorted(DOCS.rglob("*.md"))]
DESIGN = [page for page in PAGES if "design" in page.relative_to(ROOT).as_posix()]
OPTIONS = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


def place(path):
    return path.relative_to(ROOT).as_posix()


def fenced(path):
    """(line, kind, text) of each block of a page."""
    text = path.read_text()
    for found in re.finditer(r"^ *```([^\n]*)\n(.*?)^ *```$", text, re.S | re.M):
        yield text[: found.start()].count("\n") + 2, found[1].strip(), found[2]


def blocks(path):
    """(line, code) of each block of Python of a page; those that need something, where it is."""
    there = {
        "python": True,
        "python gpu": la.gpu_count() > 0,
        "python dask": importlib.util.find_spec("distributed") is not None,
    }
    return [(line, code) for line, kind, code in fenced(path) if there.get(kind)]


@pytest.mark.skipif(
    os.environ.get("LAZYARRAY_ENGINE_TYPE") == "NaiveEngine", reason="errors come at the call"
)
@pytest.mark.parametrize("path", list(filter(blocks, PAGES)), ids=place)
def test_code_of_the_pages_runs(path, tmp_path, monkeypatch, asked):
    """The blocks of a page run in order and share their names; with prompts they show results."""
    monkeypatch.chdir(tmp_path)  # some write files
    names, parser, report = {}, doctest.DocTestParser(), []
    runner = doctest.DocTestRunner(verbose=False, optionflags=OPTIONS)
    profiler = importlib.import_module("lazyarray.profiler.session").session
    # One sets a variable, for the programs that follow it, another what the profiler records.
    with mock.patch.dict(os.environ), mock.patch.object(profiler, "config", profiler.config):
        for line, code in blocks(path):
            if ">>>" in code:
                test = parser.get_doctest(code, names, f"{path.name}:{line}", str(path), line)
                runner.run(test, out=report.append, clear_globs=False)
                names.update(test.globs)
            else:
                with contextlib.redirect_stdout(io.StringIO()):
                    exec(compile(code, f"{path.name}:{line}", "exec"), names)
    assert not runner.failures, "".join(report)


@pytest.mark.parametrize("path", PAGES, ids=place)
def test_names_on_the_pages_exist(path):
    text = path.read_text()
    for name in set(re.findall(r"\bla((?:\.[a-zA-Z_]\w*)+)", text)):
        thing = la
        for part in name.strip(".").split("."):
            thing = getattr(thing, part, None)
            assert thing is not None or part == "newaxis", f"la{name}"
            if isinstance(thing, la.NDArray):
                break


KINDS = {"python", "python gpu", "python dask", "sh", "text", "diff"}


@pytest.mark.parametrize("path", PAGES, ids=place)
def test_each_block_is_of_a_kind_that_is_checked(path):
    text = path.read_text()
    found = [(line, kind) for line, kind, _ in fenced(path) if kind not in KINDS]
    assert [(line, kind) for line, kind in found if not kind.startswith("{")] == []
    prose = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.S | re.M)
    # Markdown takes what is indented after an empty line for code, but for what is part of a list.
    assert not re.search(
        r"\n\n {4}\S", re.sub(r"^([*-]|\d+\.) .*?(?=^\S|\Z)", "", prose, flags=re.S | re.M)
    )


def commands():
    """Each line of the pages' shell blocks, without comments."""
    for path in PAGES:
        for line, kind, text in fenced(path):
            for number, words in enumerate(text.splitlines()):
                if kind == "sh" and (command := shlex.split(words, comments=True)):
                    yield pytest.param(command, id=f"{place(path)}:{line + number}")


@pytest.mark.parametrize("command", list(commands()))
def test_commands_name_what_is_there(command):
    command = [word for word in command if not re.match(r"[A-Z_]+=", word)]  # VARIABLE=value
    targets = re.findall(r"^([\w-]+)(?: [\w-]+)*:", (ROOT / "Makefile").read_text(), re.M)
    grouped = re.findall(r"^((?:[\w-]+ )+[\w-]+):", (ROOT / "Makefile").read_text(), re.M)
    targets += [name for names in grouped for name in names.split()]
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    if command[0] == "make":
        assert set(command[1:]) <= set(targets)
    elif command[0] == "pip":
        assert command[1] in ("install", "uninstall")
        named = re.findall(r"\[([\w,]+)\]", " ".join(command))
        assert {extra for names in named for extra in names.split(",")} <= set(extras)
    else:
        assert command[0].rpartition("/")[2] in ("python", "pre-commit", "sh", "export"), command
        if "-m" in command:
            assert importlib.util.find_spec(command[command.index("-m") + 1])
        written = {"program.py", "train.py"}  # the reader's own
        paths = {word for word in command if word.endswith((".py", ".sh"))} - written
        assert [path for path in paths if not (ROOT / path).exists()] == []


def anchors(path):
    """What a page's headings are called in links, as GitHub and MyST name them."""
    headings = re.findall(
        r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.S | re.M), re.M
    )
    plain = [re.sub(r"[^\w\s-]", "", heading.lower()) for heading in headings]
    return {heading.strip().replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("path", [*PAGES, ROOT / "benchmarks" / "README.md"], ids=place)
def test_links_lead_somewhere(path):
    text = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.S | re.M)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if link.startswith(("http:", "https:", "mailto:")):
            continue
        name, _, anchor = link.partition("#")
        page = path.parent / name if name else path
        assert page.exists() or page.with_suffix(".rst").exists(), link
        assert not anchor or anchor in anchors(page), link


@pytest.mark.parametrize("path", PAGES, ids=place)
def test_lines_are_of_normal_width(path):
    if path.name in ("functions.md", "CONTRIBUTING.md"):
        pytest.skip("written by a tool, or changed by many at once")
    text = re.sub(r"^ *```.*?^ *```$", "", path.read_text(), flags=re.S | re.M)
    long = [line for line in text.splitlines() if len(line) > 100 and not line.startswith("|")]
    assert [line for line in long if " " in line[90:]] == []


def tables(path):
    """The rows of a page's tables, by their columns' names."""
    names = None
    for line in path.read_text().splitlines():
        if not line.startswith("|"):
            names = None
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if names is None:
            names = [cell.lower().replace("pytorch", "torch") for cell in cells]
        elif set(line) - set("|-"):
            yield dict(zip(names, cells, strict=True))


def test_figures_of_the_readme_are_those_that_were_measured():
    """Row by row, from one table of benchmarks/README.md: machines are not mixed."""
    measured = [row for row in tables(ROOT / "benchmarks" / "README.md") if "what" in row]
    rows = [row for row in tables(ROOT / "README.md") if "work" in row]
    assert len(rows) > 15
    for row in rows:
        figures = {name: text for name, text in row.items() if name not in ("work", "unit")}
        same = [m for m in measured if m["what"] == row["work"] and figures.items() <= m.items()]
        assert same and row["unit"] == same[0].get("unit", "ms"), row


def test_the_index_lists_every_page():
    listed = set()
    for page in (DOCS / "index.md", DOCS / "design.md"):
        trees = [text for _, kind, text in fenced(page) if kind == "{toctree}"]
        listed |= set(re.findall(r"^[a-z/]+$", "\n".join(trees), re.M))
    pages = {p.relative_to(DOCS).with_suffix("").as_posix() for p in DOCS.rglob("*.md")}
    assert listed == pages - {"index"} | {"api/index"}


# ---- the pages of the design say what the code has -----------------------------------------------

FOLDERS = ("lazyarray", "tests", "tools", "benchmarks", "examples")
SOURCES = (".py", ".pyx", ".pxi", ".pxd", ".h", ".cpp", ".cuh", ".build", ".sh", ".toml")
# Where a path on these pages may begin.
STARTS = ("", "lazyarray", "lazyarray/lazy/cuda", "lazyarray/lazy/cpu")
OTHERS = set(
    "PyArray_Return ElementwiseKernel ReductionKernel OPENBLAS_THREAD_TIMEOUT mpi_yield_when_idle "
    "openblas_read_env blas_thread_shutdown_ openblas_set_threads_callback_function perf Wgnu "
    "funsigned ziglang qemu lazyarray.py".split()
)


@pytest.fixture(scope="module")
def words():
    files = [p for f in FOLDERS for p in (ROOT / f).rglob("*") if p.suffix in SOURCES]
    files += [ROOT / "Makefile", ROOT / "meson.build", ROOT / "pyproject.toml"]
    return set(re.findall(r"\w+", "\n".join(p.read_text() for p in files))) | OTHERS


@pytest.mark.parametrize("path", [*DESIGN, DOCS / "glossary.md"], ids=place)
def test_the_design_names_what_the_code_has(path, words):
    text = re.sub(r"^```.*?^```$", "", path.read_text(), flags=re.S | re.M)
    missing = []
    for quoted in set(re.findall(r"`([^`\n]+)`", text)) - OTHERS:
        if re.fullmatch(r"[\w./*]+(\.(py|pyx|pxi|h|cpp|md|build|sh)|/)", quoted):
            if not any(any((ROOT / start).glob(quoted)) for start in STARTS):
                missing.append(quoted)
        else:
            missing += [w for w in re.findall(r"[A-Za-z_]\w{3,}", quoted) if w not in words]
    assert missing == []


def test_figures_of_the_design_are_those_of_the_code():
    """The table in docs/design/lazy.md: `Policy::name`, or a constant's name, and its value."""
    code = {}
    for path in (ROOT / "lazyarray").rglob("*.h"):
        for struct in re.findall(r"^struct (\w+Policy) {\n(.*?)^};", path.read_text(), re.S | re.M):
            for listed in re.findall(
                r"^  [\w:]*(?:static constexpr )?(?:std::)?\w+ (\w+ = [^;/]+);", struct[1], re.M
            ):
                for name, value in re.findall(r"(\w+) = ([^,]+(?:\([^)]*\)[^,]*)?)", listed):
                    code[f"{struct[0]}::{name}"] = value
    internal = (ROOT / "lazyarray/engine/core/internal.h").read_text()
    code |= dict(re.findall(r"(k\w+Spin) = ([\d']+)", internal))
    page = (DOCS / "design" / "lazy.md").read_text()
    table = re.findall(r"^\| `([\w:]+)` \| (\d+) \|", page, re.M)
    assert len(table) > 20

    def number(text):
        plain = re.sub(r"\b(?:size_t|int64_t|uint64_t)\((\d+)\)", r"\1", text.replace("'", ""))
        return int(eval(plain, {}))

    assert {name: number(code[name]) for name, _ in table} == {n: int(v) for n, v in table}


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
