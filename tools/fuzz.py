"""The oracle fuzzer: ``python tools/fuzz.py --minutes 3`` (``make fuzz MINUTES=3``).

Runs random programs (tests/fuzz, and tests/autograd/fuzzing.py for gradients) on NumPy and on
lazyarray, in as many processes as there are cores, under every type of engine and number of
workers in turn. What fails, crashes or hangs is
made as small as it goes and printed; the exit status is 1 then. ``--seed N`` begins with program
N, ``--only N`` tries that one under every engine.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import pathlib
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.cuda import sim  # noqa: E402
from tests.fuzz import passes, shrink, writing  # noqa: E402
from tests.fuzz.programs import Program  # noqa: E402

ENGINES = [("NaiveEngine", 1)] + [
    (kind, workers)
    for workers in (2, 4, 1, 3)
    for kind in ("ThreadedEnginePerDevice", "ThreadedEnginePooled")
]
GPU = ("gpu", 2)  # simulated (tests/cuda/sim): a kernel takes a second to compile
PROGRAMS = 200  # of a process, then another engine has its turn
ON_GPU = 5
USUAL = 3  # each so-many-th process runs programs in the usual way alone
GRADIENTS = 20  # each so-many-th program is one whose gradients are checked (tests/autograd)
HANGS = 60.0  # seconds, idle or of processor time, after which a program is taken to hang
ENDS = 20.0  # seconds that a process has to end
SHRINKS = 40.0  # seconds for making a program small


class Worker:
    """A process that tries programs (tests/fuzz/worker.py)."""

    def __init__(self, engine: tuple[str, int], usual: bool = False) -> None:
        self.engine = engine
        words = ["gpu"] if engine == GPU else ["usual"] if usual else []
        variables = {"OPENBLAS_NUM_THREADS": "1", "LAZYARRAY_CPU_WORKER_NTHREADS": str(engine[1])}
        if engine == GPU:
            # Kernels and copies run in any order that nothing forbids.
            mode = f"random:{time.time_ns() % 10**6}"
            variables.update(sim.environment(mode, LAZYARRAY_SIM_HAZARDS="1"))
        else:
            variables["LAZYARRAY_ENGINE_TYPE"] = engine[0]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz.worker", *words],
            cwd=ROOT,
            env={"LAZYARRAY_CACHE_DIR": "0", **os.environ, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.replies: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.replies.put(line)
        self.replies.put("")

    def ask(self, **task: object) -> dict[str, str]:
        """What came of a program: {}, "wrong" (also a crash or a hang), or "failed": not ours."""
        assert self.process.stdin
        begun = self.spent()
        try:
            self.process.stdin.write(json.dumps(task) + "\n")
            self.process.stdin.flush()
            line = self.reply(begun)
        except queue.Empty:
            self.kill()
            return {"wrong": f"no answer for {HANGS:.0f} s"}
        except OSError:
            line = ""
        if not line:
            return {"wrong": f"the process ended: {self.process.wait()}"}
        reply: dict[str, str] = json.loads(line)
        return reply

    def reply(self, begun: float) -> str:
        """The next line. On a busy machine a worker that goes on is waited for."""
        seen = begun
        # A simulated GPU's kernels are compiled by other processes, whose time isn't the worker's.
        patience = HANGS * (4 if self.engine == GPU else 1)
        while True:
            try:
                return self.replies.get(timeout=patience)
            except queue.Empty:
                seen, before = self.spent(), seen
                if seen - before < 1 or seen - begun > HANGS:
                    raise

    def spent(self) -> float:
        """Seconds of processor time that the process has had."""
        try:
            stat = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text()
        except OSError:  # it is over
            return 0.0
        user, system = stat.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def is_over(self) -> bool:
        return self.process.poll() is not None

    def end(self) -> str:
        """Lets the process come to its end; what is wrong with that, or nothing."""
        try:
            assert self.process.stdin
            self.process.stdin.close()
            code = self.process.wait(ENDS)
        except subprocess.TimeoutExpired:
            self.kill()
            return f"the process did not end within {ENDS:.0f} s"
        except OSError:
            code = self.process.wait()
        return f"the process ended: {code}" if code else ""

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


class Fuzz:
    """Counts, and what was found; one thread a core asks workers."""

    def __init__(self, seed: int, minutes: float, first: bool = False) -> None:
        self.first = first
        self.seeds = itertools.count(seed)
        self.turns = itertools.cycle([*ENGINES, GPU])
        self.end = time.monotonic() + 60 * minutes
        self.lock = threading.Lock()
        self.tried = self.workers = 0
        self.found: list[str] = []

    def run(self, threads: int) -> None:
        workers = [threading.Thread(target=self.work) for _ in range(threads)]
        for t in workers:
            t.start()
        for t in workers:
            t.join()

    def work(self) -> None:
        while time.monotonic() < self.end:
            with self.lock:
                self.workers += 1
                usual = self.workers % USUAL == 0
                worker = Worker(next(self.turns), usual)
            count = ON_GPU if worker.engine == GPU else 2 * PROGRAMS if usual else PROGRAMS
            for _ in range(count):
                with self.lock:
                    seed = next(self.seeds)
                gradient = seed % GRADIENTS == 0 and worker.engine != GPU
                reply = worker.ask(**{"gradient" if gradient else "seed": seed})
                with self.lock:
                    self.tried += 1
                if reply and self.first:
                    self.found.append(f"seed {seed}, {worker.engine}: {reply}")
                    self.end = 0.0
                elif reply and gradient:
                    self.say(f"gradient {seed}, {worker.engine}:\n{reply}\n")
                elif reply:
                    report(self, seed, worker.engine, reply)
                if worker.is_over() or time.monotonic() >= self.end:
                    break
            if not worker.is_over() and (said := worker.end()):
                self.say(f"{worker.engine} at its end, seeds to {seed}: {said}\n")

    def say(self, text: str) -> None:
        with self.lock:
            self.found.append(text)
            print(text, flush=True)


def report(fuzz: Fuzz, seed: int, engine: tuple[str, int], reply: dict[str, str]) -> None:
    """Makes the program smaller, and prints it."""
    # As it was run: who changes the fuzzer while it runs has other programs in new processes.
    ran = reply.pop("program", None)
    values = "small" if engine == GPU else ""
    ran = ran or written(seed, values)
    if not ran:
        print(f"seed {seed}: NumPy itself crashes or does not end; left out", flush=True)
        return
    program = Program.from_json(ran)
    if "wrong" in reply:
        program, reply = smaller(program, engine, reply)
    text = f"seed {seed}, {engine[0]} of {engine[1]}:\n{program}\n{reply}\n"
    fuzz.say(text)


def written(seed: int, values: str) -> str:
    """The program of a process that ended or hung, unless NumPy alone does so as it is written."""
    script = "from tests.fuzz.passes import write; print(write({}, {!r}).to_json())"
    try:
        done = subprocess.run(
            [sys.executable, "-c", script.format(seed, values)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=HANGS,
        )
    except subprocess.TimeoutExpired:
        return ""
    return "" if done.returncode else done.stdout


def smaller(
    program: Program, engine: tuple[str, int], reply: dict[str, str]
) -> tuple[Program, dict[str, str]]:
    worker = Worker(engine)
    said = reply
    end = time.monotonic() + SHRINKS

    def fails(candidate: Program) -> bool:
        nonlocal worker, said
        if time.monotonic() > end:
            return False
        if worker.is_over():
            worker = Worker(engine)
        answer = worker.ask(program=candidate.to_json(), times=5)
        alike = "wrong" in answer and kind(answer) == kind(reply)
        if alike:
            said = answer
        return alike

    try:
        if fails(program):
            return shrink.shrink(program, fails), said
        return program, {**reply, "note": "not seen again"}
    finally:
        worker.end()


def kind(reply: dict[str, str]) -> str:
    """Of what kind the fault is: wrong values, or an error's type. Another one is another find."""
    text = reply["wrong"]
    return "values" if " differ, " in text else "".join(text.split(": ")[1:2])


def every_engine(seed: int) -> Iterator[str]:
    """What each engine does with one program."""
    for engine in [*ENGINES, GPU]:
        worker = Worker(engine)
        yield f"{engine[0]} of {engine[1]}: {worker.ask(seed=seed, times=5) or 'as NumPy'}"
        worker.end()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=3)
    parser.add_argument("--seed", type=int, default=time.time_ns() // 1000 % 10**9 * 1000)
    parser.add_argument("--only", type=int, help="the program of this seed, under every engine")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--first", action="store_true", help="stop at what fails first, as it is")
    options = parser.parse_args()
    writing.bound_memory(writing.MOST_MEMORY)
    if options.only is not None:
        print(passes.write(options.only))
        for line in every_engine(options.only):
            print(line)
        return 0
    fuzz = Fuzz(options.seed, options.minutes, options.first)
    fuzz.run(options.jobs)
    print(
        f"fuzz: seeds from {options.seed}, {fuzz.tried} programs in {options.minutes:g} minutes "
        f"({fuzz.tried / options.minutes:.0f} a minute), {len(fuzz.found)} wrong"
    )
    return 1 if fuzz.found else 0


if __name__ == "__main__":
    sys.exit(main())
