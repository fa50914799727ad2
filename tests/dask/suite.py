"""Dask's own array tests on lazyarray's blocks: python -m tests.dask.suite CHECKOUT [for pytest]

Two runs: all tests that any backend may run, with ``array.backend: lazyarray``; and Dask's tests of
CuPy, with lazyarray in the place of cupy. ``xfails.txt`` lists what is not to pass, why; what
fails and isn't listed, or is listed and passes, makes the run fail.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import tempfile
from collections import Counter

HERE = pathlib.Path(__file__).parent
# Of other types of arrays, or no arrays.
LEFT_OUT = (
    "test_sparse.py",
    "test_cupy_sparse.py",
    "test_image.py",
    "test_array_expr_incompatible.py",
)


def listed() -> dict[str, str]:
    """The tests that aren't to pass, and why: lines of their ids under lines ``# reason``."""
    reason, found = "", {}
    for line in (HERE / "xfails.txt").read_text().splitlines():
        if line.startswith("#"):
            reason = line[1:].strip()
        elif line.strip():
            found[line.strip()] = reason
    return found


def outcomes(
    folder: pathlib.Path, names: list[str], kind: str, options: list[str]
) -> dict[str, str]:
    """What became of each test."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=no"]
    command += ["-p", "tests.dask.suite_plugin", "-W", "ignore", "-o", "addopts="]
    command += ["--import-mode=importlib", *options, *names]
    root = str(HERE.parent.parent)
    with tempfile.TemporaryDirectory() as made:
        told = pathlib.Path(made) / "outcomes.json"
        env = os.environ | {"DASK_TESTS_KIND": kind, "DASK_TESTS_OUTCOMES": str(told)}
        env["PYTHONPATH"] = os.pathsep.join([root, *sys.path])
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=folder, env=env, check=False
        )
        found: dict[str, str] = json.loads(told.read_text()) if told.exists() else {}
    if not found:  # pytest says why
        raise SystemExit(done.stdout[-3000:] + done.stderr[-3000:])
    return found


def wrong(found: dict[str, str], expected: dict[str, str]) -> list[str]:
    """What is not as the list says."""
    lines = [
        f"{what} {name}"
        for name, what in found.items()
        if what in ("failed", "error") and name not in expected
    ]
    return lines + [
        f"passes, and is listed: {name}" for name in expected if found.get(name) == "passed"
    ]


def main() -> None:
    folder = pathlib.Path(sys.argv[1]) / "dask" / "array" / "tests"
    options = sys.argv[2:]
    names = sorted(p.name for p in folder.glob("test_*.py") if p.name not in LEFT_OUT)
    cupy = [n for n in names if n.startswith("test_cupy")]
    expected = listed()
    with tempfile.TemporaryDirectory() as made:
        for name in cupy:  # CuPy's way to a NumPy array is no method of ours
            text = (folder / name).read_text().replace(".get()", ".asnumpy()")
            (pathlib.Path(made) / name).write_text(text)
        runs = [
            ("backend", outcomes(folder, [n for n in names if n not in cupy], "backend", options)),
            ("cupy", outcomes(pathlib.Path(made), cupy, "cupy", options)),
        ]
    others = []
    for kind, found in runs:
        counts = Counter(found.values())
        ran = len(found) - counts["skipped"]
        print(f"{kind}: {counts['passed']} passed of {ran} that were not skipped", dict(counts))
        reasons = Counter(
            expected.get(name, "not listed")
            for name, what in found.items()
            if what in ("failed", "error")
        )
        for reason, n in reasons.most_common():
            print(f"{n:5}  {reason}")
        others += wrong(found, expected)
    if others:
        raise SystemExit("\n".join(others))


if __name__ == "__main__":
    main()
