"""All tests, in two sessions of pytest side by side; with arguments, one session with these.

python tools/test_all.py [pytest's arguments]

Many tests wait for processes that they start (compilers, ranks, examples). The others keep one
core busy. With tests/lazy the two sessions take as long.

OpenBLAS's threads spin for 25 ms after each call, on cores that others need. Here they sleep at
once.
"""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import tempfile

FIRST = ["tests/cuda", "tests/distributed", "tests/faults", "tests/lazy", "tests/test_examples.py"]
PYTEST = [str(pathlib.Path(sys.executable).with_name("pytest"))]


def main(arguments: list[str]) -> int:
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")  # the least: 2 ** 4 cycles
    if arguments:
        return subprocess.call([*PYTEST, *arguments])
    with tempfile.TemporaryFile() as said:
        first = subprocess.Popen([*PYTEST, *FIRST], stdout=said, stderr=subprocess.STDOUT)
        try:
            status = subprocess.call([*PYTEST, *(f"--ignore={path}" for path in FIRST)])
            status = first.wait() or status
        finally:
            first.kill()
            first.wait()
            said.seek(0)
            sys.stdout.buffer.write(said.read())
            sys.stdout.flush()
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
