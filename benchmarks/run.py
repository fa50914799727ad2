"""``make bench``: the speed table. ``python -m benchmarks.run --help``."""

from __future__ import annotations

import argparse
import importlib.util
import subprocess
import sys
from collections.abc import Iterable
from contextlib import ExitStack

from benchmarks.contestants import CONTESTANTS
from benchmarks.harness import ROOT, Failed, Worker, measure
from benchmarks.report import machine, summary, table
from benchmarks.suite import ROWS, Suite, suite


def start(names: list[str], chosen: Suite, stack: ExitStack) -> list[Worker]:
    """A process for each of these contestants whose library is installed and can be used."""
    workers = []
    for name in names:
        contestant = chosen.contestants[name]
        if not contestant.installed():
            continue
        try:
            worker = Worker(name, chosen)
        except Failed as error:
            if contestant.library in ("numpy", "lazyarray"):
                raise
            print(f"left out: {error}", file=sys.stderr)
            continue
        stack.callback(worker.close)
        workers.append(worker)
    return workers


def print_table(names: list[str], only: str, rounds: int) -> None:
    """Measures the chosen rows and prints the table and its summary."""
    indices = [i for i, row in enumerate(ROWS) if only.lower() in row.name.lower()]
    if not indices:
        raise Failed(f"no row's name has {only!r} in it")
    with ExitStack() as stack:
        workers = start(names, suite("cpu"), stack)
        if not workers:
            raise Failed("none of the libraries is installed")
        print(f"{machine()}; minima of {rounds} rounds, each contestant in its own process\n")
        print("\n".join(f"* {worker.name}: {worker.version}" for worker in workers), flush=True)
        results = measure(workers, indices, rounds)
    taking_part = [w.name for w in workers if any(w.name in r.best for r in results)]
    print("\n" + table(results, taking_part) + "\n")
    for line in summary(results):
        print("*", line, flush=True)


def print_figures(names: list[str], rounds: int) -> None:
    """What is no row of the table, each measured in a fresh process."""
    commands = [["benchmarks.memory", name] for name in ("numpy", "lazyarray") if name in names]
    if "lazyarray" in names:
        commands.append(["benchmarks.parallel", str(rounds)])
        commands.append(["benchmarks.profiling", str(rounds)])
        if importlib.util.find_spec("llvmlite"):
            commands.append(["benchmarks.compiling", str(rounds)])
    for module, argument in commands:
        done = subprocess.run(
            [sys.executable, "-m", module, argument], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        if done.returncode:
            raise Failed(f"{module} failed")
        star = "* " if module == "benchmarks.memory" else ""
        print(star + done.stdout, end="", flush=True)


def add_options(parser: argparse.ArgumentParser, contestants: Iterable[str]) -> None:
    """The options of every table."""
    known = list(contestants)

    def libraries(text: str) -> list[str]:
        names = [name.strip() for name in text.split(",")]
        for name in names:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(known)}")
        return [name for name in known if name in names]  # in the table's order

    parser.add_argument("--rounds", type=positive, default=7, help="how often each row is timed")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows with TEXT in their name")
    parser.add_argument(
        "--libraries",
        type=libraries,
        default=known,
        metavar="A,B",
        help=f"of {', '.join(known)} (default: what is installed)",
    )


def positive(text: str) -> int:
    """An integer of at least 1."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is not at least 1")
    return value


def main() -> None:
    """Prints the table and, unless only some rows are asked for, the single figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_options(parser, CONTESTANTS)
    args = parser.parse_args()
    try:
        print_table(args.libraries, args.only, args.rounds)
        if not args.only:
            print_figures(args.libraries, args.rounds)
    except Failed as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
