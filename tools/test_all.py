"""All tests, in two sessions of pytest side by side; with arguments, one session with these.

python tools/test_all.py [pytest's arguments]

What mostly waits for processes that it starts (compilers, ranks, workers, examples) takes half of
the time, and one core. The other half is this process's own work, on the other core.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tempfile

WAITING = [
    "tests/cuda", "tests/dask", "tests/distributed", "tests/faults", "tests/profiler",
    "tests/test_docs.py", "tests/test_examples.py", "tests/test_import.py", "tests/test_types.py",
    "tests/test_wheel.py",
]  # fmt: skip
PYTEST = [str(pathlib.Path(sys.executable).with_name("pytest"))]


def main(arguments: list[str]) -> int:
    if arguments:
        return subprocess.call([*PYTEST, *arguments])
    with tempfile.TemporaryFile() as said:
        waiting = subprocess.Popen([*PYTEST, *WAITING], stdout=said, stderr=subprocess.STDOUT)
        try:
            status = subprocess.call([*PYTEST, *(f"--ignore={path}" for path in WAITING)])
            status = waiting.wait() or status
        finally:
            waiting.kill()
            waiting.wait()
            said.seek(0)
            sys.stdout.buffer.write(said.read())
            sys.stdout.flush()
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
