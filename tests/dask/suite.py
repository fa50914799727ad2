"""Dask's own array tests on lazyarray's blocks: python -m tests.dask.suite CHECKOUT [for pytest]

Two runs: all tests that any backend may run, with ``array.backend: lazyarray``; and Dask's tests of
CuPy, with lazyarray in the place of cupy. ``xfails.txt`` lists what is not to pass, why; what
fails and isn't listed, or is listed and passes, makes the run fail.
"""

from __future__ import annotations

import os
import pathlib
import re
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
    """The tests that aren't to pass, and why: lines of names under lines ``# reason``."""
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
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rA", "--tb=no"]
    command += ["-p", "tests.dask.suite_plugin", "-W", "ignore", "-o", "addopts="]
    command += ["--import-mode=importlib", *options, *names]
    root = str(HERE.parent.parent)
    env = os.environ | {"DASK_TESTS_KIND": kind, "PYTHONPATH": os.pathsep.join([root, *sys.path])}
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=env, check=False)
    found = {}
    for line in done.stdout.splitlines():
        told = re.match(
            r"(PASSED|FAILED|ERROR|XFAIL|XPASS) (?:\S*/)?(test_\w+\.py::.*?)(?: - .*)?$", line
        )
        if told:
            found[told[2]] = told[1]
    if not found:  # pytest says why
        raise SystemExit(done.stdout[-3000:] + done.stderr[-3000:])
    return found


def main() -> None:
    folder = pathlib.Path(sys.argv[1]) / "dask" / "array" / "tests"
    options = sys.argv[2:]
    names = sorted(p.name for p in folder.glob("test_*.py") if p.name not in LEFT_OUT)
    cupy = [n for n in names if n.startswith("test_cupy")]
    expected, wrong = listed(), []
    reasons: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as made:
        for name in cupy:  # CuPy's way to a NumPy array is no method of ours
            text = (folder / name).read_text().replace(".get()", ".asnumpy()")
            (pathlib.Path(made) / name).write_text(text)
        runs = [
            ("backend", outcomes(folder, [n for n in names if n not in cupy], "backend", options)),
            ("cupy", outcomes(pathlib.Path(made), cupy, "cupy", options)),
        ]
    for kind, found in runs:
        counts = Counter(found.values())
        print(f"{kind}: {counts['PASSED']} passed of {len(found)}", dict(counts))
        for name, what in found.items():
            known = next(
                (r for n, r in expected.items() if name == n or name.startswith(n + "[")), None
            )
            if what in ("FAILED", "ERROR"):
                reasons[known or "not listed"] += 1
                if known is None:
                    wrong.append(f"{what} {name}")
            elif what == "PASSED" and known is not None and name in expected:
                wrong.append(f"passes, and is listed: {name}")
    for reason, n in reasons.most_common():
        print(f"{n:5}  {reason}")
    if wrong:
        raise SystemExit("\n".join(wrong))


if __name__ == "__main__":
    main()
