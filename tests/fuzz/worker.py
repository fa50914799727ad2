"""A process that tries programs for others: a seed or a program a line in, what came of it out."""

from __future__ import annotations

import functools
import json
import sys
import traceback

import lazyarray as la

from . import oracle, writing
from .programs import Program


def main() -> None:
    """``python -m tests.fuzz.worker``; on a GPU with ``gpu`` behind it."""
    check = functools.partial(oracle.check_on, la.gpu(0)) if "gpu" in sys.argv else oracle.check
    replies = sys.stdout
    sys.stdout = sys.stderr  # what a program prints is no reply
    for line in sys.stdin:
        task = json.loads(line)
        reply = {}
        try:
            if "seed" in task:
                program = writing.write(task["seed"])
            else:
                program = Program.from_json(task["program"])
            for _ in range(task.get("times", 1)):
                check(program)
        except oracle.Wrong as exc:
            reply = {"wrong": str(exc)}
        except Exception:
            # Not lazyarray's: NumPy refuses it (the shrinker's), or the fuzzer itself fails.
            reply = {"failed": traceback.format_exc()}
        print(json.dumps(reply), file=replies, flush=True)


main()
