"""Runs a package's own tests with lazyarray in NumPy's place, and with NumPy, and compares.

    python tools/package_tests.py FOLDER [ARGUMENT ...]

FOLDER is a checkout, or the package itself with its tests in it; the arguments are pytest's (which
tests, ``-k``, ...). Two copies are made. In one of them each ``import numpy`` is lazyarray's, in
the tests, too. It prints both results, and the tests that fail with lazyarray only. What the
package needs must be installed. docs/interop.md has the figures.
"""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# Its other modules (``numpy.testing``, ``numpy.typing``) stay NumPy's, and take our arrays.
IMPORTS = [
    (r"^(\s*)import numpy as (\w+)[ \t]*(#.*)?$", r"\1import lazyarray as \2"),
    (r"^(\s*)import numpy[ \t]*(#.*)?$", r"\1import lazyarray as numpy"),
    (r"^(\s*)from numpy import", r"\1from lazyarray import"),
    (r"^(\s*)from numpy\.(linalg|fft|random) import", r"\1from lazyarray.\2 import"),
    (r"^(\s*)import numpy\.(linalg|fft|random) as (\w+)", r"\1import lazyarray.\2 as \3"),
]
PYTEST = "-q -p no:cacheprovider -W ignore --import-mode=importlib -o addopts=".split()
FAILED = re.compile(r"^((?:FAILED|ERROR) \S+)", re.MULTILINE)


def rewritten(folder: pathlib.Path) -> int:
    """Replaces the imports in all files of a folder; how many had one."""
    changed = 0
    for path in folder.rglob("*.py"):
        text = path.read_text(errors="surrogateescape")
        new = text
        for pattern, instead in IMPORTS:
            new = re.sub(pattern, instead, new, flags=re.MULTILINE)
        if new != text:
            path.write_text(new, errors="surrogateescape")
            changed += 1
    return changed


def tested(folder: pathlib.Path, top: pathlib.Path, arguments: list[str]) -> tuple[set[str], str]:
    """What fails of the package's tests, and the last line that pytest prints."""
    paths = [str(top), str(folder), str(folder / "src"), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *PYTEST, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stdout.strip().splitlines() or done.stderr.strip().splitlines() or ["nothing"]
    return set(FAILED.findall(done.stdout)), lines[-1]


def main() -> None:
    source, *arguments = sys.argv[1:]
    package = pathlib.Path(source).resolve()
    failed = {}
    with tempfile.TemporaryDirectory() as work:
        for name in ("numpy", "lazyarray"):
            top = pathlib.Path(work, name)
            folder = shutil.copytree(package, top / package.name)
            if name == "lazyarray":
                print(f"{rewritten(folder)} files import NumPy")
            failed[name], last = tested(folder, top, arguments)
            print(f"{name}: {last}", flush=True)
    new = sorted(failed["lazyarray"] - failed["numpy"])
    print(f"{len(new)} fail with lazyarray only", *new, sep="\n  ")
    raise SystemExit(bool(new))


if __name__ == "__main__":
    main()
