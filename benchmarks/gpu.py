"""``make bench-gpu``: the speed table of a GPU. ``python -m benchmarks.gpu --help``."""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.gpu_contestants import CONTESTANTS
from benchmarks.gpu_figures import FIGURES
from benchmarks.harness import ROOT, Failed, Result, Worker, prepare, take_turns
from benchmarks.report import MISSED, aim_text, machine, missed, table
from benchmarks.run import add_options, start
from benchmarks.suite import Suite, suite

NEEDED = 40 * 2**30  # bytes on the device for the largest row at scale 1, everybody's together


class Bench:
    """A run of the table: what was measured so far, and what went wrong."""

    def __init__(self, rounds: int, file: Path | None) -> None:
        self.rounds, self.file = rounds, file
        self.about: dict[str, Any] = {}
        self.results: list[Result] = []
        self.figures: list[dict[str, Any]] = []
        self.failures: list[str] = []

    def measure_rows(self, chosen: Suite, names: list[str], indices: list[int]) -> None:
        """Row by row, so that their arrays needn't all fit; medians of rounds count."""
        with ExitStack() as stack:
            workers = start(names, chosen, stack)
            self.about["libraries"] = {worker.name: worker.version for worker in workers}
            print("\n".join(f"* {w.name}: {w.version}" for w in workers), "\n", flush=True)
            for index in indices:
                result = Result(chosen.rows[index], statistics.median)
                try:
                    self.measure_row(workers, index, result)
                except Failed as error:  # a contestant died
                    self.failed(str(error))
                    workers = revived(workers, stack)
                if result.times:
                    self.results.append(result)
                self.save()

    def measure_row(self, workers: list[Worker], index: int, result: Result) -> None:
        """All rounds of a row; those who can't run it are left out of it, and noted."""
        able, wrong = prepare(workers, index)
        for problem in wrong:
            self.failed(problem)
        for turn in range(self.rounds):
            take_turns(able, turn, result, index)
        for worker in able:
            worker.ask("drop", index)
        shown = ", ".join(f"{name} {t * 1e3:.4g}" for name, t in result.best.items())
        print(f"{result.row.name}, ms: {shown}", file=sys.stderr, flush=True)

    def measure_figures(self, scale: float, text: str) -> None:
        """Each in a process of its own."""
        for name in FIGURES:
            if text.lower() not in name:
                continue
            arguments = [str(self.rounds), str(scale), name]
            done = subprocess.run(
                [sys.executable, "-m", "benchmarks.gpu_figures", *arguments],
                cwd=ROOT,
                stdout=subprocess.PIPE,
                text=True,
            )
            self.figures += map(json.loads, done.stdout.splitlines())
            if done.returncode:
                self.failed(f"the figures of {name!r} failed")
            self.save()

    def failed(self, problem: str) -> None:
        """Notes it, and goes on."""
        self.failures.append(problem)
        print(problem, file=sys.stderr, flush=True)

    def print(self) -> None:
        """The tables, and the aims that were missed."""
        names = [name for name in CONTESTANTS if any(name in r.times for r in self.results)]
        if self.results:
            ratios = {f"/ {name}": (name,) for name in names if name != "lazyarray"}
            print(table(self.results, names, ratios), "\n")
        if self.figures:
            print("| what | figure | aim | found beside |\n|---|---|---|---|")
            for f in self.figures:
                value = f"{f['value']:.3g} {f['unit']}".strip()
                print(f"| {f['what']} | {value} | {limit_text(f)} | {f['beside']} |")
            print()
        late = [f"{f['what']} ({f['value']:.3g})" for f in self.figures if not reached(f)]
        print("* aims missed:", "; ".join(missed(self.results) + late) or "none")
        print("* failures:", len(self.failures) or "none", flush=True)

    def save(self) -> None:
        """Writes what there is to the file, if one was named: all of it, after each row."""
        if self.file is None:
            return
        rows = [
            {
                "what": r.row.name,
                "seconds": r.best,
                "moves": r.row.moves,
                "aims": [aim_text(r, aim).replace("*", "") for aim in r.row.aims],
            }
            for r in self.results
        ]
        figures = [{**f, "reached": reached(f)} for f in self.figures]
        text = {**self.about, "rows": rows, "figures": figures, "failures": self.failures}
        self.file.write_text(json.dumps(text, indent=1) + "\n")


def reached(f: dict[str, Any]) -> bool:
    """Whether a figure is within its limit."""
    return bool(f["value"] <= f["limit"])


def limit_text(f: dict[str, Any]) -> str:
    """A figure's aim, and whether it was missed."""
    return f"<= {f['limit']:g} {f['unit']}".strip() + ("" if reached(f) else MISSED)


def revived(workers: list[Worker], stack: ExitStack) -> list[Worker]:
    """The workers, with new processes for those that died or are in the middle of something."""
    out = []
    for worker in workers:
        worker.process.kill()
        try:
            out.append(Worker(worker.name, worker.suite))
        except Failed as error:
            print(f"left out from here on: {error}", file=sys.stderr)
            continue
        stack.callback(out[-1].close)
    return out


def find_device() -> dict[str, Any]:
    """What the first CUDA device is; Failed, with the reason, if it can't be used."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.gpu_figures", "device"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise Failed(f"no GPU to measure: {done.stderr.strip()}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def fitting(scale: float, free: int) -> float:
    """The scale, or less if there is too little memory for it; of two digits."""
    most = free / NEEDED
    if scale <= most:
        return scale
    digits = 10.0 ** (1 - math.floor(math.log10(most)))
    return math.floor(most * digits) / digits


def main() -> None:
    """Prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser, CONTESTANTS)
    parser.add_argument("--scale", type=float, default=1.0, help="times the sizes (default 1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="the figures, as data")
    args = parser.parse_args()
    try:
        device = find_device()
        scale = fitting(args.scale, device["free"])
        chosen = suite(f"gpu:{scale!r}")
        text = args.only.lower()
        indices = [i for i, row in enumerate(chosen.rows) if text in row.name.lower()]
        if not indices and not any(text in name for name in FIGURES):
            raise Failed(f"no row's name has {args.only!r} in it")
        bench = Bench(args.rounds, args.json)
        bench.about = {"device": device, "scale": scale, "rounds": args.rounds}
        gib = {name: device[name] / 2**30 for name in ("free", "total")}
        print(
            f"{device['name']}, {gib['free']:.0f} of {gib['total']:.0f} GiB free, CUDA "
            f"{device['cuda']} (driver {device['driver']}), sizes times {scale:g}; {machine()}; "
            f"medians of {args.rounds} rounds, each contestant in its own process"
        )
        if indices:
            bench.measure_rows(chosen, args.libraries, indices)
        if "lazyarray" in args.libraries:
            bench.measure_figures(scale, text)
    except Failed as error:
        sys.exit(str(error))
    bench.print()
    sys.exit(1 if bench.failures else 0)


if __name__ == "__main__":
    main()
