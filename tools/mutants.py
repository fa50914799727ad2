"""Deliberate faults in the native core: which of them do the tests see, which the fuzzer?

    python tools/mutants.py --tree /tmp/mutants [--only 3,17] [--fuzz 30] [--tests tests/lazy]

Each fault of mutants.txt is built in a copy of the checkout (``--tree``; made if missing, with what
this Python has for the build), the fuzzer is run for some seconds and the tests until one fails. A
fault that nothing sees wants a test. Faults that only change speed don't belong there.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORE = "lazyarray/lazy/"
TESTS = (
    "tests/lazy tests/ndarray tests/ops tests/functions "
    "tests/programs tests/test_programs.py tests/test_fuzz.py"
)


def faults() -> list[tuple[str, str, str]]:
    """(file, what is written there, what is to be written instead), as mutants.txt has them."""
    found = []
    for block in (ROOT / "tools" / "mutants.txt").read_text().split("@ ")[1:]:
        name, *lines = block.splitlines()
        right, wrong = ("\n".join(x[2:] for x in lines if x[0] == sign) for sign in "-+")
        found.append((name, right, wrong))
    return found


def make_tree(tree: pathlib.Path) -> None:
    if not tree.exists():
        subprocess.run(["git", "-C", ROOT, "worktree", "add", "--detach", tree], check=True)
    build(tree)


def build(tree: pathlib.Path) -> None:
    command = [sys.executable, "tools/in_place.py"]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit((done.stdout + done.stderr)[-2000:])


def failure(command: list[str], tree: pathlib.Path) -> str:
    """What the command says of its first failure; nothing if it ends well."""
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    try:
        done = subprocess.run(
            command, cwd=tree, env=environment, capture_output=True, timeout=1200, text=True
        )
    except subprocess.TimeoutExpired:
        return "does not end"
    if not done.returncode:
        return ""
    named = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return named[0].split(" - ")[0] if named else f"exit {done.returncode}"


def try_fault(tree: pathlib.Path, number: int, tests: str, seconds: float) -> str:
    name, right, wrong = faults()[number]
    path = tree / CORE / name
    text = path.read_text()
    assert right in text, f"fault {number}: {name} has changed"
    path.write_text(text.replace(right, wrong, 1))
    try:
        build(tree)
        fuzz = [sys.executable, "tools/fuzz.py", "--minutes", str(seconds / 60)]
        found = failure([*fuzz, "--first", "--jobs", "1"], tree) if seconds else ""
        known = failure([sys.executable, "-m", "pytest", "-x", "-q", *tests.split()], tree)
    finally:
        path.write_text(text)
    by = [who for who, says in (("tests", known), ("fuzzer", found)) if says]
    where = f"{name}: {' '.join(right.split())[:60]}"
    return f"{number:3}  {' and '.join(by) or 'nobody':16}  {where}  {known}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--only", default=",".join(map(str, range(len(faults())))))
    parser.add_argument("--fuzz", type=float, default=30)
    parser.add_argument("--tests", default=TESTS)
    options = parser.parse_args()
    make_tree(options.tree)
    begun = time.monotonic()
    for number in map(int, options.only.split(",")):
        print(try_fault(options.tree, number, options.tests, options.fuzz), flush=True)
    build(options.tree)
    print(f"{time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    main()
