"""Which branches of the core the fuzzer takes: ``python tools/fuzz_coverage.py --minutes 20``.

(``make fuzz-coverage MINUTES=20``.) In a copy of the built package the extension that plans and
runs passes is compiled with counters; the fuzzer runs there, and gcov tells what it came by.
Printed are a table and the lines of which a branch was not taken, less the ways of exceptions.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILES = (
    "fuse.h", "planner.h", "space.h", "cpu/pass.h", "cpu/pairwise.h", "cpu/gather.h", "cpu/masks.h",
    "cpu/casts.h", "cpu/execute.h",
)  # fmt: skip
# A compiler that has the last word over setup.py's flags.
WRAPPER = """#!/bin/sh
case "$*" in
  */_lazy.*) exec {0} "$@" -O0 -fno-inline --coverage -fprofile-update=atomic ;;
  *) exec {0} "$@" ;;
esac
"""


def build(folder: pathlib.Path) -> None:
    """The package in the folder, with counters in its extension ``lazyarray.lazy._lazy``."""
    shutil.rmtree(folder, ignore_errors=True)
    ignored = shutil.ignore_patterns(".*", "build", "docs", "benchmarks", "__pycache__")
    shutil.copytree(ROOT, folder, ignore=ignored)
    for built in (folder / "lazyarray" / "lazy").glob("_lazy.*.so"):
        built.unlink()
    (folder / "bin").mkdir()
    for name in {str(sysconfig.get_config_var(k)).split()[0] for k in ("CC", "CXX")}:
        wrapper = folder / "bin" / pathlib.Path(name).name
        wrapper.write_text(WRAPPER.format(shutil.which(name)))
        wrapper.chmod(0o755)
    path = os.pathsep.join((str(folder / "bin"), os.environ["PATH"]))
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    subprocess.run(command, cwd=folder, env={**os.environ, "PATH": path}, check=True)


def counts(folder: pathlib.Path) -> dict[str, dict[int, list[int]]]:
    """How often each branch was taken, by file and line; a template's instances are one."""
    (data,) = folder.glob("build/**/_lazy.gcda")
    command = ["gcov", "-b", "--branch-counts", "--json-format", "--stdout", str(data)]
    text = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    found: dict[str, dict[int, list[int]]] = {}
    for file in json.loads(text)["files"]:
        name = file["file"].partition("lazy/")[2]
        if name not in FILES:
            continue
        lines = collections.defaultdict(list)
        for line in file["lines"]:
            branches = line["branches"]
            if any(b["throw"] for b in branches):  # one of a pair
                pairs = zip(branches[::2], branches[1::2], strict=True)
                branches = [b for pair in pairs if not any(b["throw"] for b in pair) for b in pair]
            lines[line["line_number"]].append([b["count"] for b in branches])
        found[name] = {}
        for number, many in lines.items():
            width = max(map(len, many))
            alike = [m for m in many if len(m) == width]
            found[name][number] = [sum(c) for c in zip(*alike, strict=True)]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build" / "coverage")
    options, rest = parser.parse_known_args()
    build(options.folder)
    command = [sys.executable, "tools/fuzz.py", "--minutes", str(options.minutes), *rest]
    paths = {**os.environ, "PYTHONPATH": str(options.folder)}
    status = subprocess.run(command, cwd=options.folder, env=paths).returncode
    for name, lines in sorted(counts(options.folder).items()):
        source = (options.folder / "lazyarray" / "lazy" / name).read_text().splitlines()
        taken = [c for line in lines.values() for c in line]
        print(f"{name}: {len(taken)} branches, {len(taken) - taken.count(0)} taken")
        for number, line in sorted(lines.items()):
            if 0 in line:
                print(f"    {number:4} {line} {source[number - 1].strip()}")
    return status


if __name__ == "__main__":
    sys.exit(main())
