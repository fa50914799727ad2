"""A process that tries programs for others: a seed or a program a line in, what came of it out."""

from __future__ import annotations

import contextlib
import functools
import json
import math
import sys
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

import lazyarray as la

from ..autograd.fuzzing import gradient_case
from . import oracle, passes, writing
from .programs import Program


def main() -> None:
    """``python -m tests.fuzz.worker``; on a GPU with ``gpu`` behind it.

    With ``usual`` each program runs in the usual way alone: plans outlive the programs then.
    """
    writing.bound_memory(math.inf)  # what the driver had is no bound for a device's
    check: Callable[[Program], None] = oracle.check
    if "usual" in sys.argv:
        check = functools.partial(oracle.check, only=oracle.Way("usual"))
    write = passes.write
    if "gpu" in sys.argv:
        check = functools.partial(oracle.check_on, la.gpu(0))
        write = functools.partial(passes.write, values="small")
    writing.bound_memory(writing.MOST_MEMORY)
    replies = sys.stdout
    sys.stdout = sys.stderr  # what a program prints is no reply
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line), check, write)), file=replies, flush=True)


def answer(
    task: dict[str, Any],
    check: Callable[[Program], None],
    write: Callable[[int], Program] = passes.write,
) -> dict[str, str]:
    """What is wrong with a task's program; nothing, if it is right."""
    ran: dict[str, str] = {}
    try:
        if "gradient" in task:
            with contextlib.suppress(Exception):  # of what an earlier program let go of
                la.waitall()
            said = gradient_case(np.random.default_rng(task["gradient"]))
            return {"wrong": said} if said else {}
        if "seed" in task:
            program = write(task["seed"])
            ran["program"] = program.to_json()
        else:
            program = Program.from_json(task["program"])
        for _ in range(task.get("times", 1)):
            check(program)
    except oracle.Wrong as exc:
        return {"wrong": str(exc), **ran}
    except Exception:
        # Not lazyarray's: NumPy refuses it (the shrinker's), or the fuzzer itself fails.
        return {"failed": traceback.format_exc(), **ran}
    return {}


if __name__ == "__main__":
    main()
