"""Lower rooms know nothing of upper ones: the check, tools/layers.py, and what it must find."""

import importlib.util
import pathlib
import re
import subprocess
import sys
import textwrap

import pytest

TOOL = pathlib.Path(__file__).parent.parent / "tools" / "layers.py"
spec = importlib.util.spec_from_file_location("layers", TOOL)
layers = importlib.util.module_from_spec(spec)
sys.modules["layers"] = layers  # where NamedTuple looks its types up
spec.loader.exec_module(layers)

ROOMS = """
    core
    low
    left | right
    high: _high _help __init__
"""


def test_no_lower_room_knows_an_upper_one():
    done = subprocess.run([sys.executable, TOOL], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_picture_of_the_rooms_is_theirs():
    page = layers.DESIGN.read_text()
    assert layers.illustrated(page) == page, "run: python tools/layers.py --picture"
    rooms = layers.Rooms(layers.ROOMS).levels
    table = page.partition("| rooms | page |")[2].partition("\n\n")[0]
    listed = [name for row in table.splitlines()[2:] for name in row.split("|")[1].split("`")[1::2]]
    assert sorted(listed) == sorted(rooms), "each room has a page"
    assert layers.picture("low\nleft | right\nhigh: _a _b", 20).splitlines() == [
        "┌──────────────────┐",
        "│       high       │",
        "├──────────────────┤",
        "│   left   right   │",
        "├──────────────────┤",
        "│       low        │",
        "└──────────────────┘",
    ]


def test_the_edges_are_found():
    tree = layers.Tree(layers.PACKAGE)
    edges = {edge[:3] for edge in tree.edges()}
    assert {
        ("context.py", "engine/__init__.py", "import"),
        ("random/devices.py", "_ndarray.pyx", "import"),
        ("protocols/dlpack.py", "lazy/_share.pyx", "import"),
        ("_ndarray.pyx", "context.py", "import"),
        ("_scalar_mode.py", "random/__init__.py", "late"),
        ("__init__.py", "_ndarray.pyx", "import"),
        ("lazy/_lazy.pyx", "storage/_storage.pxd", "cimport"),
        ("ops/_rows.pyx", "lazy/_lazy.pxd", "cimport"),
        ("ops/_rows.pyx", "ops/ufunc.pxi", "include"),
        ("engine/_engine.pxd", "engine/core/engine.h", "include"),
        ("engine/methods.pxi", "engine/methods.h", "include"),
        ("nn/_native.pyx", "nn/picks.h", "include"),
        ("engine/core/waits.cpp", "engine/core/internal.h", "include"),
    } <= edges
    assert ("functions/creation.py", "_ndarray.pyx", "import") not in edges  # for type checkers
    assert len(tree.files) > 200 and len(edges) > 900
    listed = layers.listing(tree.edges(), layers.Rooms(layers.ROOMS))
    assert "functions    -> ops" in listed and " cimport" in listed.splitlines()[-1]


def native(*kinds):
    tree = layers.Tree(layers.PACKAGE)
    return {name: path.read_text() for name, path in tree.files.items() if name.endswith(kinds)}


def test_only_a_device_and_its_backend_know_that_it_is_a_gpu():
    asked = re.compile(
        r"\bkind [!=]= \S*GPU|Device::GPU\b|is_gpu\(|^ +GPU,|\bimport .*\bGPU\b", re.MULTILINE
    )
    asking = {
        name for name, text in native("h", "cpp", "pyx", "pxi", "pxd").items() if asked.search(text)
    }
    assert {n for n in asking if not n.startswith("lazy/cuda/")} == {"engine/core/device.h"}
    assert "lazy/cuda/runner.cpp" in asking


def test_cython_files_hold_one_line_of_cpp_at_the_most():
    block = re.compile(r'cdef extern from \*[^\n]*:\n +"""\n(.*?)\n +"""', re.DOTALL)
    found = {name: block.findall(text) for name, text in native("pyx", "pxi", "pxd").items()}
    assert {n: b for n, blocks in found.items() for b in blocks if b.count("\n") > 3} == {}
    assert any(found.values())


def wrong(tmp_path, files, exceptions=None):
    """What the check says of a package of these files, in which each room has an `a.py`."""
    package = tmp_path / "pack"
    given = {f"{room}/a.py": "" for room in ("core", "low", "left", "right")} | files
    for name, text in given.items():
        path = package / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    tree = layers.Tree(package)
    return layers.faults(tree.edges(), tree.files, layers.Rooms(ROOMS), exceptions or {})


DOWN = {
    "low/a.py": "import pack.core.a\nfrom pack.core import a\nfrom ..core import a\n",
    "left/a.py": "from pack.low.a import f\n",
    "left/n.pyx": "from pack.low.n cimport (  # what\n    f,\n)\ninclude 'x.pxi'\n",
    "low/n.pxd": 'cdef extern from "low/n.h":\n    pass\ncdef extern from "Python.h":\n    pass\n',
    "low/n.h": '#include <vector>\n#include "core/c.h"\n#include "m.h"\n',
    "low/m.h": "",
    "core/c.h": "",
    "_high.pyx": "from pack import low\nfrom pack.left.a import *\nimport numpy\n",
    "_help.py": "import os, pack._high\n",
}


def test_downward_is_right(tmp_path):
    assert wrong(tmp_path, DOWN) == []


UPWARD = {
    "import": ("low/b.py", "from pack.left.a import f\n", "left/a.py (import)"),
    "a name of a room": ("low/b.py", "from pack.left import a as it\n", "left/a.py (import)"),
    "a module": ("low/b.py", "import os, pack.left.a\n", "left/a.py (import)"),
    "in try": ("low/b.py", "try:\n    import pack.left.a\nfinally:\n    1\n", "left/a.py (import)"),
    "in a class": ("low/b.py", "class A:\n    import pack.left.a\n", "left/a.py (import)"),
    "late": ("low/b.py", "def f():\n    from pack._high import x\n", "_high.pyx (late)"),
    "relative": ("low/b.py", "from ..left import a\n", "left/a.py (import)"),
    "the package": ("low/b.py", "def f():\n    import pack\n", "__init__.py (late)"),
    "modules": ("low/b.py", "import sys\nx = sys.modules['pack.left.a']\n", "left/a.py (import)"),
    "get": ("low/b.py", "def f(): return sys.modules.get('pack.left.a')\n", "left/a.py (late)"),
    "by name": ("low/b.py", "f = lambda: import_module('pack.left.a')\n", "left/a.py (late)"),
    "a sibling": ("left/b.py", "import pack.right.a\n", "right/a.py (import)"),
    "types or else": (
        "low/b.py",
        "if TYPE_CHECKING:\n    import pack.right.a\nelse:\n    import pack.left.a\n",
        "left/a.py (import)",
    ),
    "Cython's import": ("low/b.pyx", "from pack.left import a\n", "left/a.py (import)"),
    "Cython's late one": ("low/b.pyx", "def f():\n    import pack.left.a\n", "left/a.py (late)"),
    "Cython's modules": ("low/b.pyx", "sys.modules['pack.left.a']\n", "left/a.py (late)"),
    "the namespace": ("low/b.pyx", "_public.namespace.f()\n", "__init__.py (handed)"),
    "what is taught": ("low/b.pxi", "_taught['rule'](x)\n", "left/t.py (handed)"),
    "cimport": ("low/b.pyx", "from pack.left.n cimport (\n    f,\n)\n", "left/n.pxd (cimport)"),
    "cimport of a module": ("low/b.pxd", "cimport pack.left.n as n\n", "left/n.pxd (cimport)"),
    "cdef extern": ("low/b.pxd", 'cdef extern from "left/n.h" nogil:\n', "left/n.h (include)"),
    "pxi": ("low/b.pyx", 'include "../left/n.pxi"\n', "left/n.pxi (include)"),
    "verbatim C++": (
        "low/b.pyx",
        'cdef extern from *:\n    """\n    #include "left/n.h"\n    """\n',
        "left/n.h (include)",
    ),
    "C++": ("low/b.h", '// what\n  #  include "left/n.h"\n', "left/n.h (include)"),
    "C++ of a sibling": ("right/b.cpp", '#include "left/n.h"\n', "left/n.h (include)"),
}
ALSO = {"left/n.pxd": "", "left/n.pxi": "", "left/n.h": "", "_high.pyx": "", "__init__.py": ""}
ALSO["left/t.py"] = "_rows.teach(rule=f, other=g)\n"


@pytest.mark.parametrize("case", UPWARD)
def test_upward_is_wrong(case, tmp_path):
    name, text, target = UPWARD[case]
    (found,) = wrong(tmp_path, {**ALSO, name: text})
    assert found.startswith(f"{name}:") and found.endswith(f"-> {target}: upward")


def test_examples_types_and_what_cython_generates_are_no_edges(tmp_path):
    text = "import pack.left.a\n"
    files = {
        "low/b.py": f'"""Docs.\n\n>>> {text}"""\nfrom typing import TYPE_CHECKING\n'
        f"if TYPE_CHECKING:\n    {text}",
        "low/c.pyx": f'def f():\n    """Docs.\n\n    {text}    """\n',
        "low/d.cpp": '/* Generated by Cython 3 */\n#include "left/n.h"\n',
        "left/n.h": "",
    }
    assert wrong(tmp_path, files) == []


def test_circles_within_a_room(tmp_path):
    files = {"low/b.py": "from pack.low import c\n", "low/c.py": "import pack.low.b\n"}
    assert wrong(tmp_path, files) == [
        "low/b.py:1 -> low/c.py (import): a circle",
        "low/c.py:1 -> low/b.py (import): a circle",
    ]
    late = {"low/c.py": "def f():\n    import pack.low.b\n"}
    assert wrong(tmp_path, files | late) == ["low/c.py:2 -> low/b.py (late): a circle"]
    assert wrong(tmp_path, {**late, "low/b.py": ""}) == []


def test_circles_of_headers(tmp_path):
    files = {"low/b.h": '#include "c.h"\n', "low/c.h": '#include "low/b.h"\n'}
    assert [text.partition(" ")[0] for text in wrong(tmp_path, files)] == ["low/b.h:1", "low/c.h:1"]


def test_exceptions(tmp_path):
    files = {"low/b.py": "import pack.left.a\nimport pack.right.a\n"}
    one = {"because": "low/b.py > left/a.py\n"}
    assert wrong(tmp_path, files, one) == ["low/b.py:2 -> right/a.py (import): upward"]
    assert wrong(tmp_path, files, {"because": "\n  low/b.py > left/a.py right/a.py\n"}) == []


@pytest.mark.parametrize("line", ["low/a.py > left/a.py", "left/a.py > low/a.py", "no.h > never.h"])
def test_an_exception_that_is_not_needed_is_wrong(line, tmp_path):
    files = {"left/a.py": "import pack.low.a\n"}
    assert wrong(tmp_path, files, {"because": line}) == [f"{line}: an exception that is not needed"]


def test_each_file_is_in_a_room(tmp_path):
    assert wrong(tmp_path, {"new/a.py": "", "other.py": ""}) == [
        "new/a.py: in no room",
        "other.py: in no room",
    ]


def test_an_include_that_is_nowhere(tmp_path):
    with pytest.raises(SystemExit, match=r"low/b.h:2: where is 'gone.h'"):
        wrong(tmp_path, {"low/b.h": '\n#include "gone.h"\n'})


@pytest.mark.parametrize("room", ["functions", "protocols"])
def test_tests_mirror_the_room(room):
    here = {path.stem for path in (layers.PACKAGE / room).glob("[!_]*.py")} - {"absent"}
    tests = {path.stem for path in (pathlib.Path(__file__).parent / room).glob("test_*.py")}
    assert tests == {f"test_{name}" for name in here}
