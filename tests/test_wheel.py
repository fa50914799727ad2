"""What a wheel carries: Python's files, kernels, what is built. Each state has one home."""

import collections
import importlib.machinery
import importlib.metadata
import itertools
import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

import pytest

import lazyarray as la

PACKAGE = pathlib.Path(la.__file__).parent
SUFFIX = importlib.machinery.EXTENSION_SUFFIXES[0]
CORE = PACKAGE / ("liblazyarray.dylib" if sys.platform == "darwin" else "liblazyarray.so")
MODULES = [
    PACKAGE / f"{name}{SUFFIX}"
    for name in "_ndarray autograd/_walk distributed/_task engine/_engine lazy/_lazy lazy/_share "
    "lazy/cpu/jit/_tier nn/_native ops/_rows profiler/_profiler random/_draws "
    "storage/_storage".split()
]
# Beside a checkout's sources stand links (tools/in_place.py), to where Meson has its plan.
IN_PLACE = CORE.is_symlink()


def tool(*command):
    if not shutil.which(command[0]):
        pytest.skip(f"there is no {command[0]}")
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def carried():
    """The paths, below the package's folder, of all that a wheel brings or would bring."""
    if not IN_PLACE:
        files = importlib.metadata.files("lazyarray-engine") or []
        return {f.relative_to("lazyarray") for f in files if f.parts[0] == "lazyarray"}
    folder = CORE.readlink().parents[1]
    plan = json.loads((folder / "meson-info" / "intro-install_plan.json").read_text())
    assert {kind for kind in plan if plan[kind]} <= {"targets", "python"}  # no headers, no data
    # "{py_platlib}/lazyarray/ops/_rows.so"; Python's files as they are now, not when it was set up.
    built = [to["destination"].partition("/")[2] for to in plan["targets"].values()]
    python = tool(sys.executable, os.fspath(PACKAGE.parent / "tools" / "python_sources.py"))
    paths = map(pathlib.PurePosixPath, [*built, *python.split()])
    return {path.relative_to("lazyarray") for path in paths}


def is_bytecode(path):
    return "__pycache__" in path.parts  # pip's own


def test_no_sources_are_carried():
    kinds = {path.suffix for path in carried() if not is_bytecode(path)}
    assert kinds == {".py", ".pyi", ".typed", ".cuh", CORE.suffix}


def test_all_that_is_needed_is_carried():
    here = {
        path.relative_to(PACKAGE).as_posix()
        for kind in ("py", "pyi", "cuh", "typed")
        for path in PACKAGE.rglob(f"*.{kind}")
    }
    built = {path.relative_to(PACKAGE).as_posix() for path in [CORE, *MODULES]}
    assert {path.as_posix() for path in carried() if not is_bytecode(path)} == here | built


def test_files_that_are_read_are_carried():
    """The text of kernels was not: from a wheel no GPU had any."""
    read = set()
    for path in PACKAGE.rglob("*.py"):
        for name in re.findall(r"""["']([\w-]+\.(?:h|cuh|cu))["']""", path.read_text()):
            read.add((path.parent / name).relative_to(PACKAGE))
    assert len(read) == 3
    assert {path.as_posix() for path in read} <= {path.as_posix() for path in carried()}


@pytest.mark.skipif(IN_PLACE, reason="not from a wheel")
def test_the_licence_is_carried():
    distribution = importlib.metadata.distribution("lazyarray-engine")
    assert distribution.metadata.get_all("License-File") == ["LICENSE"]
    (file,) = (f for f in distribution.files or [] if f.name == "LICENSE")
    assert file.parts[0].endswith(".dist-info")
    assert "Apache License" in file.read_text()


def test_what_dask_looks_for_is_carried():
    """Installing is all that its users do: it is found by an entry point."""
    try:
        found = importlib.metadata.distribution("lazyarray-engine").entry_points
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("not installed")
    (point,) = (e for e in found if e.group == "dask.array.backends")
    assert (point.name, point.attr) == ("lazyarray", "LazyarrayBackend")
    package, *inside = point.module.split(".")
    assert package == "lazyarray"
    assert pathlib.PurePosixPath(*inside).with_suffix(".py") in carried()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ELF")
@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name.split(".")[0])
def test_the_library_is_found_from_where_a_module_lies(module):
    text = tool("readelf", "-d", os.fspath(module))
    up = "/".join(["$ORIGIN", *[".."] * (len(module.relative_to(PACKAGE).parts) - 1)])
    assert [p.rstrip("/") for p in re.findall(r"R(?:UN)?PATH.*\[(.*)\]", text)] == [up]
    # Collectives reach the engine by what it is given: that one needs no symbol of the library.
    assert f"[{CORE.name}]" in text or module.name.startswith("_task.")


@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="/proc")
def test_one_library_is_loaded():
    maps = pathlib.Path("/proc/self/maps").read_text()
    assert set(re.findall(r"(/.*/liblazyarray\.so)", maps)) == {os.fspath(CORE.resolve())}


# Of x86 after x86-64-v2: AVX's instructions, and those on other registers that came with AVX2. (Not
# tzcnt, which older ones run as bsf.)
LATER = re.compile(
    r"\s+[0-9a-f]+:\s+(?:v[a-z]\w+|andn|bextr|bls\w+|bzhi|lzcnt|movbe|mulx|pdep|pext|rorx|"
    r"sarx|shlx|shrx)\b"
)
# A function that is only called where the processor has been asked is `wide` or `widest`, by its
# name: `tile_wide` where objdump can't demangle it.
DISPATCHED = re.compile(r"wide(st)?\b|tile_wide")


def of_later_processors(library):
    """The functions, less the dispatched ones, that an x86-64-v2 processor can't run."""
    function, found = "", set()
    code = tool("objdump", "-d", "-C", "--no-show-raw-insn", os.fspath(library))
    for line in code.splitlines():
        if line.endswith(">:"):
            function = line.partition("<")[2][:-2]
        elif LATER.match(line):
            found.add(function)
    return {name for name in found if not DISPATCHED.search(name)}, found


@pytest.mark.skipif(platform.machine() != "x86_64" or sys.platform != "linux", reason="x86-64, ELF")
def test_what_newer_processors_have_is_dispatched():
    if "no symbols" in tool("objdump", "-t", os.fspath(CORE)):
        pytest.skip("a stripped wheel: functions have no names")
    dispatched = set()
    for library in [CORE, *MODULES]:
        wrong, found = of_later_processors(library)
        assert wrong == set(), library.name
        dispatched |= found
    assert any("bounded_wide" in name for name in dispatched)
    assert any("lines::wide" in name for name in dispatched)


# What compilers, Cython and NumPy's headers put into each library, which knows only of itself.
OWN = re.compile(r".*__[Pp]yx|DW\.ref\.|PyArray_|__cpu_|completed\.|__dso")
SYMBOL = re.compile(r"\w+ .{7} \.t?(?:bss|data)\s+(\w+)\s+(?:Base|\.hidden)?\s*(\S.*)")


def state(library):
    """The names of the memory that a library writes to."""
    for table in ("-t", "-T"):
        for line in tool("objdump", table, "-C", os.fspath(library)).splitlines():
            found = SYMBOL.match(line)
            if found and int(found[1], 16) and not OWN.match(found[2]):
                yield found[2]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ELF")
def test_each_state_has_one_home():
    """A static object of a function in a header is one a library: it belongs into a .cpp."""
    homes = collections.defaultdict(set)
    for library in [CORE, *MODULES]:
        for name in state(library):
            homes[name].add(library.name.split(".")[0])
    assert {name: sorted(where) for name, where in homes.items() if len(where) > 1} == {}
    if "no symbols" in tool("objdump", "-t", os.fspath(CORE)):
        pytest.skip("a stripped wheel: only what is exported has names")
    for name in ("interpreter()::", "graveyard()::", "gpus()::", "forking()::", "lazyarray::tls"):
        assert {*itertools.chain(*(homes[n] for n in homes if name in n))} == {"liblazyarray"}, name


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ELF")
def test_a_second_home_is_told(tmp_path):
    """The rule above sees what it is about: two libraries with one header's static object."""
    compiler = next(filter(shutil.which, ("c++", "g++", "clang++")), None)
    if compiler is None:
        pytest.skip("there is no compiler")
    source = tmp_path / "one.cpp"
    source.write_text(
        "namespace lazyarray { inline int& tape() { static int t; return ++t, t; } }\n"
        "int use() { return lazyarray::tape(); }\n"
    )
    library = tmp_path / "libone.so"
    tool(compiler, "-shared", "-fPIC", "-o", os.fspath(library), os.fspath(source))
    assert "lazyarray::tape()::t" in set(state(library))
