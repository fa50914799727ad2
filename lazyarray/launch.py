"""python -m lazyarray.launch -n 4 train.py: runs a program in several processes of this machine.

It finds the MPI (of this Python's environment, else of the system), gives each process its share of
the cores, puts the rank before each line of output, and ends all processes when one fails, with
that rank's status. On several machines use mpirun or srun.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence

__all__ = ["command", "find_mpirun", "main"]

# Of libraries that compute on threads of their own.
_THREADS = (
    "LAZYARRAY_CPU_WORKER_NTHREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
)


def find_mpirun() -> str | None:
    """The program that starts MPI's processes: beside this Python, else on the path.

    Returns: its path, a str; None if there is none.
    Raises: nothing.
    """
    beside = os.pathsep.join([str(pathlib.Path(sys.executable).parent), f"{sys.prefix}/bin"])
    for path in (beside, None):
        for name in ("mpirun", "mpiexec"):
            found = shutil.which(name, path=path)
            if found:
                return found
    return None


def command(mpirun: str, processes: int, program: Sequence[str]) -> list[str]:
    """What starts a program in several processes.

    Args:
        mpirun: MPI's own launcher.
        processes: how many.
        program: the program and its arguments.
    Returns: a list of str: a program and its arguments.
    Raises: OSError if ``mpirun`` can't be run.
    """
    said = subprocess.run([mpirun, "--version"], capture_output=True, text=True, check=False)
    version = said.stdout + said.stderr
    start = [mpirun, "-n", str(processes)]
    if "Open MPI" in version or "Open RTE" in version or "PRTE" in version.upper():
        # More processes than cores, and threads that go where they like.
        start += ["--oversubscribe", "--bind-to", "none"]
        if os.geteuid() == 0:
            start.append("--allow-run-as-root")
    rank = pathlib.Path(__file__).parent / "distributed" / "_rank.py"
    return [*start, sys.executable, "-I", "-S", str(rank), *program]


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _first_failure(folder: str) -> tuple[int, int] | None:
    """(rank, status) of the rank that failed first, and not because of another one."""
    found = []
    for file in pathlib.Path(folder).iterdir():
        if file.name.isdigit():
            when, code = file.read_text().split()
            follows = file.with_suffix(".follows").exists()
            found.append((follows, float(when), int(file.name), int(code)))
    return min(found)[2:] if found else None


def _named(code: int) -> str:
    if code > 128:
        try:
            return f"was ended by {signal.Signals(code - 128).name}"
        except ValueError:
            pass
    return f"ended with status {code}"


def _parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m lazyarray.launch",
        description="Run a Python program in several processes of this machine, as MPI's ranks.",
    )
    parser.add_argument("-n", type=int, default=None, help="processes (default: one a core)")
    parser.add_argument(
        "--threads", type=int, default=None, help="of each process (default: cores / processes)"
    )
    parser.add_argument("--mpirun", default=None, help="MPI's own launcher")
    parser.add_argument("-m", dest="module", action="store_true", help="program is a module")
    parser.add_argument("program", help="a Python file (or, with -m, a module)")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="its arguments")
    args = parser.parse_args(argv)
    for name, value in (("-n", args.n), ("--threads", args.threads)):
        if value is not None and value < 1:
            parser.error(f"{name}: at least 1, not {value}")
    return args


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the program in several processes, and waits for them.

    Args:
        argv: the arguments; None: those of the command line.
    Returns: an int: the status of the rank that failed first, or 0; 2 without MPI.
    Raises: SystemExit for wrong arguments, as ``argparse`` does.
    """
    args = _parsed(argv)
    cores = _cores()
    processes: int = args.n or cores
    mpirun = args.mpirun or find_mpirun()
    if mpirun is None or importlib.util.find_spec("mpi4py") is None:
        what = "no mpirun" if mpirun is None else "no mpi4py"
        print(
            f"lazyarray.launch: there is {what} here: pip install 'lazyarray-engine[mpi]'",
            file=sys.stderr,
        )
        return 2
    program = [sys.executable, *(["-m"] if args.module else []), args.program, *args.arguments]
    threads = str(args.threads or max(1, cores // processes))
    env = {**dict.fromkeys(_THREADS, threads), **os.environ, "PYTHONUNBUFFERED": "1"}
    if args.threads:
        env |= dict.fromkeys(_THREADS, threads)
    # A rank that waits shares its core with those that compute.
    env.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")
    with tempfile.TemporaryDirectory(prefix="lazyarray-launch-") as folder:
        env["LAZYARRAY_LAUNCH"] = folder
        running = subprocess.Popen(command(mpirun, processes, program), env=env)
        while True:
            try:
                code = running.wait()
                break
            except KeyboardInterrupt:  # MPI's launcher got it, too, and ends its processes
                continue
        failure = _first_failure(folder)
    if failure is not None:
        rank, code = failure
        print(f"lazyarray.launch: rank {rank} {_named(code)}", file=sys.stderr)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
