"""Runs test files in processes of their own, several at a time: one that hangs ends alone.

python tools/test_each.py [--jobs N] [--seconds S] [--logs FOLDER] path ... [-- pytest's arguments]
"""

from __future__ import annotations

import argparse
import collections
import os
import pathlib
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

EACH = 300  # seconds that a file may take
running: set[int] = set()  # process groups


def end(*_: object) -> None:
    """Takes what runs along."""
    for group in list(running):
        os.killpg(group, signal.SIGKILL)
    os._exit(143)


def files(paths: list[str]) -> list[pathlib.Path]:
    """The test files, the largest first; those of the simulated devices only if they are named."""
    found = []
    for path in map(pathlib.Path, paths):
        inside = path.rglob("test_*.py") if path.is_dir() else [path]
        found += [f for f in inside if f == path or ("sim" not in f.parts and "sim" not in f.stem)]
    return sorted(found, key=lambda f: -f.stat().st_size)


def run(file: pathlib.Path, arguments: list[str], log: pathlib.Path, ends: float) -> str:
    """Runs a file; what went wrong, or nothing."""
    left = min(EACH, ends - time.monotonic())
    if left < 1:
        return "not run: out of time"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-rfEs",
        "-p",
        "no:cacheprovider",
        "--tb=short",
    ]
    with log.open("w") as out:
        process = subprocess.Popen(
            [*command, *arguments, str(file)],
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a group, which ends together
        )
        running.add(process.pid)
        try:
            status = process.wait(left)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return "out of time"
        finally:
            running.discard(process.pid)
    return "" if status in (0, 5) else f"status {status}"  # 5: no test in it was chosen


def main() -> None:
    """Runs them, prints what failed, and how many tests there were."""
    own, _, given = " ".join(sys.argv[1:]).partition(" -- ")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=min(8, os.cpu_count() or 1))
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--logs", type=pathlib.Path, default=pathlib.Path("build/tests"))
    parser.add_argument("paths", nargs="+")
    args = parser.parse_args(own.split())
    args.logs.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, end)
    ends = time.monotonic() + args.seconds
    wrong = 0
    total: collections.Counter[str] = collections.Counter()
    with ThreadPoolExecutor(args.jobs) as pool:
        started = {}
        for file in files(args.paths):
            log = args.logs / (str(file).replace(os.sep, "-") + ".log")
            started[pool.submit(run, file, given.split(), log, ends)] = file, log
        for done in as_completed(started):
            file, log = started[done]
            text = log.read_text(errors="replace") if log.exists() else ""
            for n, what in re.findall(
                r"(\d+) (passed|failed|errors?|skipped|xfailed)\b", text[-400:]
            ):
                total[what] += int(n)
            problem = done.result()
            if not problem:
                continue
            wrong += 1
            failures = re.findall(r"^(?:FAILED|ERROR) .*", text, re.M)
            print(f"{file}: {problem} (see {log})")
            print("\n".join(f"  {line}" for line in failures or text.splitlines()[-5:]), flush=True)
    counts = ", ".join(f"{n} {what}" for what, n in total.items()) or "no tests"
    print(f"{counts}; {len(started)} files, {wrong} of them with failures")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
