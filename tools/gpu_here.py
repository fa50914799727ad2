"""Whether this machine has a CUDA device: exit status 0, or 1 with the reason. Needs no package."""

import ctypes
import os
import sys


def problem() -> str:
    """What is missing; empty if nothing is."""
    try:
        driver = ctypes.CDLL(os.environ.get("LAZYARRAY_CUDA_DRIVER", "libcuda.so.1"))
    except OSError:
        return "no NVIDIA driver (libcuda.so.1)"
    count = ctypes.c_int()
    status = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    if status:
        return f"the NVIDIA driver finds no device that works (CUresult {status})"
    return "" if count.value else "no CUDA device"


if __name__ == "__main__":
    if missing := problem():
        print(f"skipped: no GPU here: {missing}")
        sys.exit(1)
