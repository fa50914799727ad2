"""What the launcher has MPI start, one a rank: it runs the program, and marks its lines.

Run by its path, without the package: it is in the way of the program's start.
"""

import contextlib
import ctypes
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from typing import IO

RANK_VARIABLES = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID")
GRACE_SECONDS = float(
    os.environ.get("LAZYARRAY_LAUNCH_GRACE") or 2
)  # in which the other ranks say what they miss, before MPI ends them


def dies_with_us() -> None:
    """Has the kernel end the program when this process is killed (Linux)."""
    with contextlib.suppress(Exception):
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Passing(threading.Thread):
    """Passes lines on, until all have closed the pipe: whoever the program has started, too."""

    def __init__(self, source: IO[bytes], to: IO[bytes], prefix: bytes) -> None:
        super().__init__(daemon=True)
        self.source, self.to, self.prefix = source, to, prefix
        self.reads: float | None = None  # since when it waits for a line

    def run(self) -> None:
        self.reads = time.monotonic()
        for line in self.source:
            self.reads = None
            self.to.write(self.prefix + line + (b"" if line.endswith(b"\n") else b"\n"))
            self.to.flush()
            self.reads = time.monotonic()

    def ends(self) -> None:
        """Waits for the end, or, once the program has ended, until nothing came for a while."""
        while self.is_alive():
            if self.reads is not None and time.monotonic() > self.reads + GRACE_SECONDS:
                return
            self.join(0.05)


def main() -> int:
    rank = next((os.environ[name] for name in RANK_VARIABLES if name in os.environ), "?")
    program = subprocess.Popen(
        sys.argv[1:],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=dies_with_us,
        close_fds=False,  # MPICH gives a process its connection by number
    )
    signal.signal(signal.SIGTERM, lambda *_: program.terminate())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program's own affair
    threads = []
    for source, to in ((program.stdout, sys.stdout.buffer), (program.stderr, sys.stderr.buffer)):
        assert source is not None
        threads.append(Passing(source, to, f"[{rank}] ".encode()))
        threads[-1].start()
    code = program.wait()
    if code < 0:
        code = 128 - code
    if code and (folder := os.environ.get("LAZYARRAY_LAUNCH")):
        pathlib.Path(folder, rank).write_text(f"{time.time()} {code}")
    for thread in threads:
        thread.ends()
    if code:
        time.sleep(GRACE_SECONDS)
    return code


if __name__ == "__main__":
    sys.exit(main())
