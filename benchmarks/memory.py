"""The peak memory of the 4M float64 chain: ``python -m benchmarks.memory LIBRARY``."""

from __future__ import annotations

import importlib
import sys

from benchmarks.elementwise import chain
from benchmarks.row import Module

N = 4_000_000
MIB = 2**20


def status(name: str) -> int:
    """A figure of this process from Linux's /proc, in bytes."""
    with open("/proc/self/status") as f:
        for line in f:
            if line.startswith(name + ":"):
                return int(line.split()[1]) * 1024
    raise KeyError(name)


def wait(np: Module) -> None:
    """Waits for everything, where there is anything to wait for."""
    if hasattr(np, "waitall"):
        np.waitall()


def main() -> None:
    """Computes the chain once, in an otherwise fresh process, and prints what that took."""
    library = sys.argv[1]
    np = importlib.import_module(library)
    warm = [np.full(100_000, 1.0 + i) for i in range(4)]
    result = chain(np, *warm)  # loads code, starts threads
    wait(np)
    del warm, result
    if library == "lazyarray":
        np.storage.trim()

    try:
        before = status("VmRSS")
    except (OSError, KeyError):
        print(f"peak memory of {library}: not measured, for want of Linux's /proc")
        return
    # Filled in place: making them otherwise might need more memory than the chain does.
    arrays = [np.full(N, 1.0 + i) for i in range(4)]
    wait(np)
    inputs = status("VmHWM") - before
    arrays.append(chain(np, *arrays))
    wait(np)
    grown, least = status("VmHWM") - before, 5 * 8 * N
    text = (
        f"peak memory of the 4M float64 chain in {library}: {grown / MIB:.0f} MiB, "
        f"{grown / least:.2f} of its inputs and output ({least / MIB:.0f} MiB; "
        f"inputs alone {inputs / MIB:.0f})"
    )
    if library == "lazyarray":
        pool = np.storage.pool_stats()
        text += "; its pool, in MiB: " + ", ".join(
            f"{name} {pool[name] / MIB:.0f}" for name in ("in_use", "peak", "cached")
        )
    print(text)


if __name__ == "__main__":
    main()
