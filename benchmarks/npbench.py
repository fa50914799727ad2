"""NPBench's kernels, unchanged, on NumPy and on lazyarray.

    python -m benchmarks.npbench CHECKOUT [--presets S M] [--only NAME ...] [--seconds 2]

CHECKOUT is a copy of github.com/spcl/npbench. Each kernel's ``*_numpy.py`` is run twice, in two
processes that take turns: as it is, and with ``numpy`` rebound to ``lazyarray``. Results are
compared by NPBench's own ``validate``, with its tolerances. A time is that of the call and, for
lazyarray, of the wait for everything after it; copies of the arguments are made beforehand, as in
NPBench. The table gives the best times and their ratio.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import importlib.util
import json
import math
import os
import pickle
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy

from benchmarks.worker import settle

SLOW = 2.0  # times NumPy's time: more is a failure


def information(checkout: Path, name: str) -> dict[str, Any]:
    """What NPBench says of a kernel."""
    text = (checkout / "bench_info" / f"{name}.json").read_text()
    return json.loads(text)["benchmark"]


def from_file(path: Path, name: str) -> ModuleType:
    """A module by its file."""
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ---- one library's process ----------------------------------------------------------------------


class Kernel:
    """A kernel and its data, on one library."""

    def __init__(self, checkout: Path, name: str, preset: str, library: str) -> None:
        info = information(checkout, name)
        folder = checkout / "npbench" / "benchmarks" / info["relative_path"]
        self.data: dict[str, Any] = dict(info["parameters"][preset])
        if info.get("init"):
            made = from_file(folder / f"{info['module_name']}.py", "initialization")
            function = getattr(made, info["init"]["func_name"])
            values = function(*[self.data[a] for a in info["init"]["input_args"]])
            outputs = info["init"]["output_args"]
            values = values if len(outputs) > 1 else (values,)
            self.data.update(zip(outputs, values, strict=True))
        self.inputs, self.outputs = info["input_args"], info.get("output_args", ())
        self.arrays = info["array_args"]
        self.copy: Callable[[Any], Any] = numpy.copy
        self.wait: Callable[[], Any] = lambda: None
        if library == "lazyarray":
            import lazyarray

            self.copy, self.wait = lazyarray.array, lazyarray.waitall
            sys.modules["numpy"] = lazyarray  # for the kernel's own imports
        try:
            kernel = from_file(folder / f"{info['module_name']}_numpy.py", "kernel")
        finally:
            sys.modules["numpy"] = numpy
        self.function = getattr(kernel, info["func_name"])

    def run(self) -> tuple[float, list[Any]]:
        """Seconds of one call, and what NPBench compares: the results and the output arguments."""
        data = {a: self.copy(v) if a in self.arrays else v for a, v in self.data.items()}
        arguments = [data[a] for a in self.inputs]
        self.wait()
        gc.collect()
        start = time.perf_counter()
        result = self.function(*arguments)
        self.wait()
        seconds = time.perf_counter() - start
        if result is None:
            results = []
        else:
            results = list(result) if isinstance(result, tuple | list) else [result]
        return seconds, results + [data[a] for a in self.outputs]


def worker(checkout: Path, name: str, preset: str, library: str) -> None:
    """Answers each line read with the seconds of a call; the first with the results' file too."""
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the kernel prints
    try:
        kernel = Kernel(checkout, name, preset, library)
        seconds, results = kernel.run()
        with open(sys.stdin.readline().strip(), "wb") as file:
            pickle.dump([numpy.asarray(r) for r in results], file)
        del results
        print(json.dumps({"seconds": seconds}), file=replies, flush=True)
        for _ in sys.stdin:
            seconds = kernel.run()[0]
            settle()  # or BLAS's threads would watch for more work on the other's cores
            print(json.dumps({"seconds": seconds}), file=replies, flush=True)
    except Exception:
        print(json.dumps({"error": traceback.format_exc()}), file=replies, flush=True)


# ---- the driver ---------------------------------------------------------------------------------


class Contestant:
    """The driver's end of a worker."""

    def __init__(self, checkout: Path, name: str, preset: str, library: str) -> None:
        command = [sys.executable, "-m", "benchmarks.npbench", str(checkout)]
        self.process = subprocess.Popen(
            [*command, "--worker", name, preset, library],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        self.best = math.inf

    def turn(self, line: str = "") -> float:
        """Has it run once; RuntimeError, with its traceback, if that fails."""
        assert self.process.stdin is not None and self.process.stdout is not None
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # its last line says why
        reply = json.loads(self.process.stdout.readline() or '{"error": "died"}')
        if "error" in reply:
            raise RuntimeError(reply["error"])
        self.best = min(self.best, reply["seconds"])
        return reply["seconds"]

    def close(self) -> None:
        """Ends the process."""
        self.process.kill()
        self.process.communicate()


def compare(checkout: Path, name: str, preset: str, seconds: float) -> dict[str, Any]:
    """Both libraries' best times of a kernel in ``seconds`` of turns, and whether they agree."""
    info = information(checkout, name)
    validate = from_file(checkout / "npbench" / "infrastructure" / "utilities.py", "util").validate
    contestants = [Contestant(checkout, name, preset, lib) for lib in ("numpy", "lazyarray")]
    try:
        results = []
        with tempfile.TemporaryDirectory() as folder:
            for k, contestant in enumerate(contestants):
                file = os.path.join(folder, str(k))
                contestant.turn(file)
                with open(file, "rb") as stream:
                    results.append(pickle.load(stream))
        tolerances = {k: info[k] for k in ("rtol", "atol", "norm_error") if k in info}
        agree = len(results[0]) == len(results[1]) and validate(*results, "lazyarray", **tolerances)
        end = time.perf_counter() + seconds
        turns = 0
        while turns < 2 or (time.perf_counter() < end and turns < 200):
            for contestant in contestants if turns % 2 else contestants[::-1]:
                contestant.turn()
            turns += 1
        one, other = [c.best for c in contestants]
        return {"numpy": one, "lazyarray": other, "ratio": other / one, "agree": bool(agree)}
    except RuntimeError as error:
        return {"error": str(error)}
    finally:
        for contestant in contestants:
            contestant.close()


def table(checkout: Path, names: Sequence[str], presets: Sequence[str], seconds: float) -> bool:
    """Prints the table; whether all kernels agree."""
    fine = True
    for preset in presets:
        ratios = {}
        print(f"\npreset {preset}\n{'kernel':<28}{'NumPy ms':>10}{'lazyarray':>10}{'ratio':>8}")
        for name in names:
            found = compare(checkout, name, preset, seconds)
            if "error" in found:
                fine = False
                print(f"{name:<28}FAILED: {found['error'].strip().splitlines()[-1]}", flush=True)
                continue
            fine = fine and found["agree"]
            ratios[name] = found["ratio"]
            note = "" if found["agree"] else "  DIFFERS"
            note += "  SLOW" if found["ratio"] > SLOW else ""
            print(
                f"{name:<28}{found['numpy'] * 1e3:>10.2f}{found['lazyarray'] * 1e3:>10.2f}"
                f"{found['ratio']:>8.2f}{note}",
                flush=True,
            )
        if ratios:
            mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
            slow = sum(r > SLOW for r in ratios.values())
            print(
                f"{len(ratios)} of {len(names)} ran, {slow} slower than {SLOW:g} times NumPy; "
                f"geometric mean {1 / mean:.2f} times NumPy's speed"
            )
    return fine


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("checkout", type=Path, help="a copy of github.com/spcl/npbench")
    parser.add_argument("--presets", nargs="+", default=["S", "M"])
    parser.add_argument("--only", nargs="+", help="these kernels (names in bench_info)")
    parser.add_argument("--seconds", type=float, default=2.0, help="turns of one kernel, in all")
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    checkout = options.checkout.resolve()
    if options.worker:
        worker(checkout, *options.worker)
        return 0
    known = sorted(p.stem for p in (checkout / "bench_info").glob("*.json"))
    if not known:
        parser.error(f"no bench_info/*.json in {checkout}")
    unknown = sorted(set(options.only or ()) - set(known))
    if unknown:
        parser.error(f"no such kernel: {', '.join(unknown)}")
    return 0 if table(checkout, options.only or known, options.presets, options.seconds) else 1


if __name__ == "__main__":
    sys.exit(main())
