"""The project's own files: what they say of each other, and of the code, is true."""

import importlib
import itertools
import pathlib
import re
import shutil
import subprocess
import tomllib

import pytest

import lazyarray as la

ROOT = pathlib.Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_the_version_is_one():
    meson = re.search(r"version: '([\d.]+)'", (ROOT / "meson.build").read_text())
    assert meson and meson[1] == PROJECT["project"]["version"] == la.__version__
    assert la.version.version == la.version.full_version == la.__version__


def test_the_licence_is_what_the_metadata_says():
    assert PROJECT["project"]["license"] == "Apache-2.0"
    assert PROJECT["project"]["license-files"] == ["LICENSE"]
    text = " ".join((ROOT / "LICENSE").read_text().split())
    assert text.startswith("Apache License Version 2.0, January 2004")
    assert "END OF TERMS AND CONDITIONS" in text


def shown():
    """The files that CONTRIBUTING's example changes, each with a block of the diff."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    for diff in re.findall(r"```diff\n(.*?)```", text, re.S):
        for part in re.split(r"^--- a/.*\n", diff, flags=re.M)[1:]:
            head, *lines = part.splitlines()
            yield head.removeprefix("+++ b/"), lines


@pytest.mark.parametrize(("path", "lines"), list(shown()))
def test_the_example_of_adding_an_op_is_what_stands_there(path, lines):
    after = "\n".join(line[1:] for line in lines if not line.startswith("-"))
    assert any(line.startswith("+") for line in lines)
    assert f"{after}\n" in (ROOT / path).read_text()


def test_the_example_leaves_nothing_out():
    """Where else would the names be? In what is written by tools."""
    written = {"lazyarray/ops/names.pyi"}
    names = re.compile(r"[\"' ]heaviside[\"' ]|step_at_zero")
    named = {
        path.relative_to(ROOT).as_posix()
        for path in itertools.chain(
            (ROOT / "lazyarray").rglob("*.*"), (ROOT / "tests" / "surface").rglob("*.py")
        )
        if path.suffix in (".py", ".pyx", ".pxi", ".pyi", ".h", ".cpp", ".cuh")
        and names.search(path.read_text())
    }
    assert named - written == {path for path, _ in shown()}


def test_paths_in_the_documents_exist():
    for name in ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"):
        text = (ROOT / name).read_text()
        paths = re.findall(r"`((?:lazyarray|tests|tools|docs|examples)/[\w./]+)`", text)
        paths += re.findall(r"\]\(([\w./]+)(?:#[\w-]+)?\)", text)
        assert [path for path in paths if not (ROOT / path).exists()] == []


def test_quick_runs_what_is_there():
    makefile = (ROOT / "Makefile").read_text()
    named = re.search(r"^QUICK := ((?:.*\\\n)*.*)$", makefile, re.M)
    assert named
    paths = re.findall(r"tests/[\w/.]+", named[1])
    assert paths and [path for path in paths if not (ROOT / path).exists()] == []


def test_the_deliberate_faults_fit_the_code(monkeypatch):
    """What `tools/mutants.py` replaces stands there: else a fault could not be tried."""
    monkeypatch.syspath_prepend(ROOT / "tools")
    mutants = importlib.import_module("mutants")
    texts = [
        (number, (ROOT / mutants.CORE / name).read_text(), right)
        for number, (name, right, _) in enumerate(mutants.faults())
    ]
    assert [number for number, text, right in texts if right not in text] == []


def test_the_stress_program_is_in_step_with_the_core():
    """`make sanitize` compiles it, which takes long; that it would is seen here."""
    compiler = next(filter(shutil.which, ("c++", "g++", "clang++")), None)
    source = ROOT / "tests" / "native" / "stress.cpp"
    core = ROOT / "lazyarray" / "engine" / "core"
    if compiler is None or not core.exists():
        pytest.skip("no compiler, or no sources")
    flags = ["-std=c++17", "-fsyntax-only", "-Wall", "-Werror", f"-I{core}"]
    done = subprocess.run([compiler, *flags, source], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
