"""The simulated CUDA devices: builds their driver, and says how a process comes to run on them.

    python -m tests.cuda.sim -q tests/ndarray          # a pytest session on simulated devices
    subprocess.run([...], env={**os.environ, **environment()})

Of a CUDA machine there are: the driver (driver.cpp, transfers.cpp; own.cpp: what tests ask of it),
two devices, whose memory the host can not touch, g++ for a compiler (device.h), and a stand-in for
CuPy (cupy/). private.py: a device of a test's own. plugin.py: hazards fail the test they show in.

LAZYARRAY_SIM: ``lazy`` (nothing runs until somebody needs it), ``eager``, ``random:<seed>``.
LAZYARRAY_SIM_HAZARDS=1: accesses that nothing orders are reported. LAZYARRAY_SIM_CAPTURE_US:
captures take so much longer. LAZYARRAY_SIM_PEERS=0: devices have no access to each other.
LAZYARRAY_SIM_CACHE: where compiled kernels are kept.
"""

import functools
import hashlib
import os
import pathlib
import subprocess
import tempfile

ROOM = pathlib.Path(__file__).parent
# Unique symbols would be shared by all copies that are loaded. A checked longjmp, which the
# compilers of some systems make by themselves, refuses to change from one fiber to another.
FLAGS = (
    "-std=c++17", "-O1", "-g", "-Wall", "-Wextra", "-fPIC", "-shared", "-fno-gnu-unique",
    "-fvisibility=hidden", "-U_FORTIFY_SOURCE",
)  # fmt: skip


def cache() -> pathlib.Path:
    """The folder of what is compiled: LAZYARRAY_SIM_CACHE, or one in the system's temp folder."""
    default = pathlib.Path(tempfile.gettempdir()) / f"lazyarray-sim-{os.getuid()}"
    path = pathlib.Path(os.environ.get("LAZYARRAY_SIM_CACHE") or default)
    path.mkdir(parents=True, exist_ok=True)
    return path


@functools.cache
def driver() -> pathlib.Path:
    """The driver's library, built if its sources (by hash) were not; safe at the same time."""
    headers = [path for path in ROOM.glob("*.h") if path.name != "device.h"]
    sources = sorted([*ROOM.glob("*.cpp"), *headers])
    digest = hashlib.sha256(repr(FLAGS).encode())
    for source in sources:
        digest.update(source.name.encode() + b"\0" + source.read_bytes())
    library = cache() / f"driver-{digest.hexdigest()[:20]}.so"
    if not library.exists():
        with tempfile.TemporaryDirectory(dir=cache()) as folder:
            made = pathlib.Path(folder) / library.name
            texts = [str(s) for s in sources if s.suffix == ".cpp"]
            command = ["g++", *FLAGS, *texts, "-o", str(made), "-ldl", "-lpthread"]
            subprocess.run(command, check=True)
            os.replace(made, library)
    return library


def environment(mode: str | None = None, **more: str) -> dict[str, str]:
    """Variables for a process on simulated devices; ``more``: others, as LAZYARRAY_SIM_HAZARDS."""
    paths = [str(ROOM), os.environ.get("PYTHONPATH", "")]
    return {
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        "LAZYARRAY_CUDA_DRIVER": str(driver()),
        "LAZYARRAY_CUDA_BLAS": str(driver()),
        "LAZYARRAY_SIM": mode or os.environ.get("LAZYARRAY_SIM") or "lazy",
        "LAZYARRAY_SIM_CACHE": str(cache()),
        "CUPY_CACHE_IN_MEMORY": "1",  # that folder is enough
        **more,
    }
