"""NumPy's own tests, run on lazyarray: ``tools/numpys_tests.py [lib/test_nanfunctions ...]``.

The test files that NumPy is installed with are copied to a temporary folder, with lazyarray in
numpy's place, and run a file at a time (some ten minutes in all). Each failure is printed in a
line: most are of what arrays here are not (subclasses, objects, private C functions), which
docs/design/testing.md counts. So this is a search, whose finds are read, and no test.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
NUMPY = pathlib.Path(np.__file__).parent
ROOMS = ("_core", "lib", "linalg", "fft", "polynomial", "random", "ma", "matrixlib")
# What is about NumPy's build, C code, dtypes that no array here has, or how it is typed.
LEFT_OUT = """
    _exceptions abstract_interface array_interface cpu_dispatcher cpu_features custom_dtypes cython
    datetime deprecations defchararray extint128 hashtable limited_api mem_policy multiprocessing
    public_api simd simd_module stringdtype strings unicode _datasource _version recfunctions
    extending subclassing multithreading matrix_linalg
""".split()
# In lazyarray's place stay modules of NumPy's that are private.
PRIVATE = r"_core|linalg\._|random\._|lib\._|testing\._|ma\.testutils|polynomial\.polyutils|_utils"
RULES = [
    (r"^(\s*)import numpy as np\b", r"\1import numpy as _numpy; import lazyarray as np"),
    (r"^(\s*)import numpy\s*$", r"\1import lazyarray as numpy"),
    (r"^(\s*)from numpy import", r"\1from lazyarray import"),
    (
        rf"^(\s*)from numpy\.(?!{PRIVATE}|lib\.(?!stride|scimath)|lib import _|_)(\w[\w.]* import)",
        r"\1from lazyarray.\2",
    ),
    (rf"^(\s*)import numpy\.(?!{PRIVATE}|lib\.)(\w[\w.]*) as", r"\1import lazyarray.\2 as"),
    (
        r"\bnp\._core\.umath\.__dict__\.values\(\)",
        "[getattr(np, k, v) for k, v in _numpy._core.umath.__dict__.items()]",
    ),
    (r"\bnp\.(_core|_CopyMode|_NoValue|__config__|lib\._\w+)\b", r"__import__('numpy').\1"),
    # A view that is not aligned is refused, here where the file is imported.
    (r"a\[1:\]\.view\(dtype='f8'\)", "a[:-1].view(dtype='f8')"),
]
CONFTEST = """
import pytest

MARKS = "slow thread_unsafe parallel_threads parallel_threads_limit iterations single_threaded"


def pytest_configure(config):
    for mark in (MARKS + " valgrind_error leaks_references").split():
        config.addinivalue_line("markers", f"{mark}: NumPy's")


def pytest_collection_modifyitems(items):
    # (One hands arrays to a C function that takes whatever it gets for one of NumPy's.)
    items[:] = [
        i for i in items if not i.get_closest_marker("slow") and "incref_elide" not in i.name
    ]
"""


def converted(text: str) -> str:
    for pattern, instead in RULES:
        text = re.sub(pattern, instead, text, flags=re.MULTILINE)
    return text


def write(folder: pathlib.Path, wanted: list[str]) -> list[pathlib.Path]:
    """The converted files in ``folder``, of which those that are to be run are returned."""
    (folder / "conftest.py").write_text(CONFTEST)
    chosen = []
    for room in ROOMS:
        for source in sorted((NUMPY / room / "tests").rglob("*")):
            to = folder / "t" / room / source.relative_to(NUMPY / room / "tests")
            if source.is_dir() or "__pycache__" in source.parts:
                continue
            to.parent.mkdir(parents=True, exist_ok=True)
            if source.suffix != ".py":
                to.write_bytes(source.read_bytes())
                continue
            to.write_text(converted(source.read_text()))
            name = source.stem.removeprefix("test_")
            if to.parent.name != room or not source.stem.startswith("test_") or name in LEFT_OUT:
                continue
            if not wanted or any(w in f"{room}/{source.stem}" for w in wanted):
                chosen.append(to)
    for package in {path.parent for path in (folder / "t").rglob("*.py")} | {folder / "t"}:
        (package / "__init__.py").touch()
    return chosen


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("files", nargs="*", help="parts of room/file, as lib/test_io; none: all")
    wanted = parser.parse_args().files
    failed = passed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "COLUMNS": "200"}
        for path in write(folder, wanted):
            file = path.relative_to(folder / "t").as_posix()
            done = subprocess.run(
                [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=no", "-rfE",
                 "-W", "ignore::lazyarray.HostArrayWarning", str(path)],
                cwd=folder, env=env, capture_output=True, text=True,
            )  # fmt: skip
            lines = done.stdout.splitlines()
            for line in lines:
                if line.startswith(("FAILED", "ERROR")):
                    print(line.replace("t/", "", 1))
            counts = {k: int(n) for n, k in re.findall(r"(\d+) (\w+)", lines[-1] if lines else "")}
            failed += counts.get("failed", 0) + counts.get("error", 0) + counts.get("errors", 0)
            passed += counts.get("passed", 0)
            crash = f", killed by signal {-done.returncode}" if done.returncode < 0 else ""
            print(f"{file}: {lines[-1] if lines else done.stderr[-300:]}{crash}", flush=True)
    print(f"{failed} of {failed + passed} tests failed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
