"""docs/environment.md: each variable that is read is there, and each that is there is read."""

import contextlib
import pathlib
import re
import sys
import types

import pytest

import lazyarray as la
from lazyarray.engine import settings
from lazyarray.lazy.cuda import device

ROOT = pathlib.Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "environment.md").read_text()
NAME = r"(LAZYARRAY_[A-Z_]+)"
KINDS = (".py", ".pyx", ".pxi", ".cpp", ".h")


def text_of(*folders):
    paths = [p for folder in folders for p in sorted((ROOT / folder).rglob("*"))]
    return "\n".join(
        p.read_text() for p in paths if p.suffix in KINDS and p != pathlib.Path(__file__)
    )


LIBRARY, TESTS = text_of("lazyarray"), text_of("tests")
# In the library whatever is written as a whole literal; tests also set what they name.
READ = set(re.findall(f'"{NAME}"', LIBRARY)) - {"LAZYARRAY_NOT_SET"}  # an example's
READ_BY_TESTS = set(
    re.findall(rf'(?:environ(?:\.get\(|\[)|getenv\(|is_on\()"{NAME}"', TESTS)
    + re.findall(rf'"{NAME}" in os.environ', TESTS)
)


def rows(part):
    """The tables' cells by their variable."""
    lines = re.findall(rf"^\| `{NAME}` \| (.+) \|$", part, re.M)
    assert len(lines) == len(dict(lines)), "a variable is there twice"
    return {name: rest.split(" | ") for name, rest in lines}


PARTS = PAGE.partition("## Of the tests")


def test_what_the_library_reads_is_on_the_page():
    assert set(rows(PARTS[0])) == READ and len(READ) > 12


def test_what_the_tests_read_is_on_the_page():
    assert set(rows(PARTS[2])) == READ_BY_TESTS - READ and len(READ_BY_TESTS) > 5


def test_no_other_is_named():
    assert set(re.findall(NAME, PAGE)) == READ | (READ_BY_TESTS - READ)
    for path in {ROOT / "README.md", *(ROOT / "docs").glob("*.md")} - {ROOT / "docs" / "design.md"}:
        assert set(re.findall(rf"\b{NAME}\b", path.read_text())) <= READ | READ_BY_TESTS, path.name


@pytest.mark.parametrize(("name", "default"), re.findall(rf'int_env\("{NAME}", (\d+)[,)]', LIBRARY))
def test_defaults_are_those_of_the_code(name, default):
    if name != "LAZYARRAY_NOT_SET":
        assert rows(PARTS[0])[name][1] == default


def test_integers_of_too_many_bits(monkeypatch):
    monkeypatch.setenv("LAZYARRAY_NOT_SET", str(2**63))
    with pytest.raises(ValueError, match="LAZYARRAY_NOT_SET='9223372036854775808': at most"):
        settings.int_env("LAZYARRAY_NOT_SET", 4)


def test_each_row_says_what_it_does_its_default_and_when_it_is_read():
    for name, (meaning, default, read) in rows(PARTS[0]).items():
        assert meaning and default and read.split()[0] in ("at", "when", "as"), name
    assert "LAZYARRAY_" in la.engine.get.__doc__


def test_an_empty_driver_is_none_given(monkeypatch):
    """It was opened: the program itself, in which no function of CUDA's is found."""
    runtime = types.SimpleNamespace(
        getDeviceCount=lambda: 1, memGetInfo=lambda: None, CUDARuntimeError=Exception
    )
    cupy = types.SimpleNamespace(
        cuda=types.SimpleNamespace(runtime=runtime, Device=contextlib.nullcontext)
    )
    opened = []
    monkeypatch.setitem(sys.modules, "lazyarray.lazy.cuda.room", types.ModuleType("room"))
    monkeypatch.setattr(device, "_cupy", lambda number: cupy)
    monkeypatch.setattr(device, "_opened", set())
    monkeypatch.setattr(device, "_blas", lambda cupy: "")
    monkeypatch.setattr(
        device, "_lazy", types.SimpleNamespace(open_gpu=lambda *a: opened.append(a))
    )
    for given in ("", "mine.so"):
        monkeypatch.setenv("LAZYARRAY_CUDA_DRIVER", given)
        device._opened.clear()
        device.open_device(0)
    assert [driver for _, driver, *_ in opened] == [device.DRIVER, "mine.so"]
