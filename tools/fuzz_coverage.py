"""Which branches of the core the fuzzer takes: ``python tools/fuzz_coverage.py --minutes 20``.

(``make fuzz-coverage MINUTES=20``.) A copy of the package is compiled with counters; the fuzzer
runs there, and gcov tells what it came by. Printed are a table and the lines of which a branch was
not taken, less the ways of exceptions.
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

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILES = (
    "fuse.cpp", "schedule.cpp", "space.cpp", "executor.cpp", "settle.cpp", "cpu/backend.cpp",
    "cpu/planner.cpp", "cpu/plan.cpp", "cpu/pass.cpp", "cpu/pairwise.cpp", "cpu/gather.cpp",
    "cpu/masks.cpp", "cpu/casts.cpp", "cpu/chains.cpp", "cpu/pass_chains.cpp", "cpu/expand.cpp",
    "cpu/roll.cpp", "cpu/elementwise.cpp", "sink.cpp",
)  # fmt: skip


def build(folder: pathlib.Path) -> None:
    """The package in the folder, with counters in its native half."""
    shutil.rmtree(folder, ignore_errors=True)
    ignored = shutil.ignore_patterns(".*", "build", "docs", "benchmarks", "__pycache__")
    shutil.copytree(ROOT, folder, ignore=ignored)
    counters = "-Dcpp_args=-fno-inline -fprofile-update=atomic"
    options = ["-Db_coverage=true", "-Dprofile=no", "-Doptimization=0", "-Db_ndebug=true", counters]
    subprocess.run([sys.executable, "tools/in_place.py", *options], cwd=folder, check=True)


def counts(folder: pathlib.Path) -> dict[str, dict[int, list[int]]]:
    """How often each branch was taken, by file and line; a template's instances are one."""
    seen: dict[str, dict[int, list[list[int]]]] = {
        name: collections.defaultdict(list) for name in FILES
    }
    for data in folder.glob("build/**/*.gcda"):
        command = ["gcov", "-b", "--branch-counts", "--json-format", "--stdout", str(data)]
        text = subprocess.run(
            command, cwd=folder, check=True, capture_output=True, text=True
        ).stdout
        for file in json.loads(text)["files"]:
            for line in (
                file["lines"] if (name := file["file"].rpartition("/lazy/")[2]) in FILES else ()
            ):
                branches = line["branches"]
                if any(b["throw"] for b in branches):  # one of a pair
                    pairs = zip(branches[::2], branches[1::2], strict=True)
                    branches = [b for p in pairs if not any(b["throw"] for b in p) for b in p]
                seen[name][line["line_number"]].append([b["count"] for b in branches])
    found: dict[str, dict[int, list[int]]] = {}
    for name, lines in seen.items():
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
