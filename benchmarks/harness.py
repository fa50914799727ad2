"""The driver: a process for each contestant, who take turns, and whose best rounds count."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.row import Row
from benchmarks.suite import Suite

ROOT = Path(__file__).resolve().parent.parent


class Failed(RuntimeError):
    """A contestant that raised, died or computed something else than the others."""


class Worker:
    """The process of one contestant (benchmarks/worker.py)."""

    def __init__(self, name: str, suite: Suite) -> None:
        self.name, self.suite = name, suite
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker", name, suite.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=os.environ | dict(suite.contestants[name].environment),
        )
        try:
            self.version: str = self._reply("start")["version"]
        except BaseException:
            self.close()
            raise

    def ask(self, what: str, index: int) -> Any:
        """Has a row prepared, timed or dropped; Failed, with its traceback, if that goes wrong."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps([what, index]) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # what it died of is told there
        return self._reply(f"{what} {self.suite.rows[index].name!r}")

    def _reply(self, what: str) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise Failed(f"{self.name} died: {what} (exit status {self.process.wait()})")
        message = json.loads(line)
        if "error" in message:
            raise Failed(f"{self.name} failed: {what}\n{message['error']}")
        return message

    def close(self) -> None:
        """Ends the process."""
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


@dataclass
class Result:
    """A row's times so far, in seconds, by contestant; what counts of them is ``figure``."""

    row: Row
    figure: Callable[[list[float]], float] = min
    times: dict[str, list[float]] = field(default_factory=dict)

    @property
    def best(self) -> dict[str, float]:
        """Each contestant's figure."""
        return {name: self.figure(times) for name, times in self.times.items()}

    def least(self, *names: str) -> float | None:
        """The best time of these contestants, or None if none of them has one."""
        return min((self.best[name] for name in names if name in self.best), default=None)

    def ratio(self, *names: str) -> float | None:
        """lazyarray's time over the best of these contestants' times."""
        own, other = self.best.get("lazyarray"), self.least(*names)
        return own / other if own is not None and other is not None else None


def disagreement(row: Row, expected: list[list[float]], got: list[list[float]]) -> str | None:
    """How two checksums differ by more than the row allows, or None if they agree."""
    if len(expected) != len(got):
        return f"{len(expected)} arrays against {len(got)}"
    for i, (one, other) in enumerate(zip(expected, got, strict=True)):
        allowed = row.rtol * max(one[0], 1e-300)  # of the mean magnitude: single elements cancel
        for a, b in zip(one, other, strict=True):
            if not (math.isfinite(a) and abs(a - b) <= allowed + row.rtol * abs(a)):
                return f"array {i}: (mean |x|, mean, three elements) are {one} against {other}"
    return None


def prepare(workers: Sequence[Worker], index: int) -> tuple[list[Worker], list[str]]:
    """Has a row run once by everyone; gives who takes part in it, and what went wrong.

    That is a contestant that cannot run it, or two that computed different things.
    """
    row = workers[0].suite.rows[index]
    sums: dict[str, list[list[float]]] = {}
    takes_part, wrong = [], []
    for worker in workers:
        try:
            message = worker.ask("prepare", index)
        except Failed as error:
            if worker.process.poll() is not None:
                raise
            wrong.append(str(error))
            continue
        if "absent" in message:
            continue
        takes_part.append(worker)
        if message["checksum"]:
            sums[worker.name] = message["checksum"]
    names = list(sums)
    for name in names[1:]:
        if difference := disagreement(row, sums[names[0]], sums[name]):
            wrong.append(f"{row.name}: {names[0]} and {name} differ\n  {difference}")
    return takes_part, wrong


def take_turns(workers: Sequence[Worker], turn: int, result: Result, index: int) -> None:
    """Times a row once by everyone.

    Each turn begins with another contestant than the last one did, so that none always follows the
    same one.
    """
    first = turn % max(1, len(workers))
    for worker in [*workers[first:], *workers[:first]]:
        seconds = worker.ask("time", index)["seconds"]
        result.times.setdefault(worker.name, []).append(seconds)


def measure(workers: Sequence[Worker], indices: Sequence[int], rounds: int) -> list[Result]:
    """Runs the rows ``rounds`` times, the contestants in turn; the minimum of each counts.

    Failed, with everything that went wrong, if a row could not be prepared by all.
    """
    takes_part, wrong = {}, []
    for index in indices:
        takes_part[index], problems = prepare(workers, index)
        wrong += problems
    if wrong:
        raise Failed("\n\n".join(wrong))
    results = {index: Result(workers[0].suite.rows[index]) for index in indices}
    for turn in range(rounds):
        for index in indices:
            take_turns(takes_part[index], turn, results[index], index)
    return [results[index] for index in indices]
