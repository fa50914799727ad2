"""A simulated device of a test's own: its driver loaded once more, and a small wrapper of it."""

import ctypes
import importlib.util
import os
import pathlib
import shutil
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint64, c_void_p

import numpy as np

from . import ROOM, cache, driver

ILLEGAL_ADDRESS, LAUNCH_FAILED, NOT_READY = 700, 719, 600
KERNELS = (ROOM / "kernels.cu").read_text()


def copy_of_driver(folder: pathlib.Path) -> pathlib.Path:
    """Loaded from another path a library has a state of its own."""
    return pathlib.Path(shutil.copy(driver(), folder / f"driver-{os.urandom(8).hex()}.so"))


def compiled(source: str, *options: str) -> pathlib.Path:
    """A source compiled as the stand-in for CuPy does, without that package being imported."""
    path = ROOM / "cupy" / "_compile.py"
    spec = importlib.util.spec_from_file_location("sim_compile", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.library(source, options, cache())


def same(found, expected) -> bool:
    """An array of the device, with NumPy's elements and type."""
    assert type(found).__name__ == "ndarray"
    assert type(found).__module__ == "cupy"
    expected = np.asarray(expected)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found.get(), expected)
    return True


class Device:
    """The driver through ctypes. A call by name: arguments as they are, integers as 64 bits."""

    def __init__(self, folder: pathlib.Path, mode: str = "lazy") -> None:
        self.lib = ctypes.CDLL(str(copy_of_driver(folder)))
        self.lib.sim_log.restype = self.lib.sim_hazards.restype = c_char_p
        self.lib.sim_pending.restype = c_size_t
        assert self.lib.sim_set_mode(mode.encode())
        self.lib.sim_check_hazards(0)
        self.ok("cuInit", 0)
        self.contexts = [self.made("cuDevicePrimaryCtxRetain", c_int(d)) for d in (0, 1)]
        self.use(0)

    def call(self, name: str, *args: object) -> int:
        passed = [c_uint64(a) if isinstance(a, int) else a for a in args]
        return getattr(self.lib, name)(*passed)

    def ok(self, name: str, *args: object) -> None:
        status = self.call(name, *args)
        assert status == 0, f"{name} failed with {status}"

    def made(self, name: str, *args: object) -> int:
        """What a call gives through its first argument."""
        result = c_uint64()
        self.ok(name, byref(result), *args)
        return result.value

    def use(self, device: int) -> None:
        self.ok("cuCtxSetCurrent", self.contexts[device])

    def stream(self, blocking: bool = False) -> int:
        return self.made("cuStreamCreateWithPriority", c_int(0 if blocking else 1), c_int(0))

    def event(self) -> int:
        return self.made("cuEventCreate", c_int(2))

    def memory(self, bytes: int) -> int:
        return self.made("cuMemAlloc_v2", bytes)

    def pinned(self, n: int) -> np.ndarray:
        """n float64 in pinned memory of the host."""
        place = self.made("cuMemHostAlloc", n * 8, c_int(0))
        return np.ctypeslib.as_array(ctypes.cast(place, POINTER(ctypes.c_double)), (n,))

    def put(self, to: int, values: np.ndarray, stream: int) -> None:
        self.ok("cuMemcpyHtoDAsync_v2", to, values.ctypes.data, values.nbytes, stream)

    def fetch(self, to: np.ndarray, source: int, stream: int) -> None:
        self.ok("cuMemcpyDtoHAsync_v2", to.ctypes.data, source, to.nbytes, stream)

    def array(self, values: object, stream: int) -> int:
        """Device memory with these float64, once `stream` has come there."""
        host = np.asarray(values, np.float64)
        place = self.memory(host.nbytes)
        self.put(place, host, stream)
        return place

    def values(self, source: int, n: int, stream: int) -> np.ndarray:
        host = np.empty(n)
        self.fetch(host, source, stream)
        return host

    def function(self, library: pathlib.Path, name: str) -> int:
        module = self.made("cuModuleLoad", str(library).encode())
        return self.made("cuModuleGetFunction", module, name.encode())

    def launch(
        self,
        function: int,
        words: list[int],
        stream: int,
        grid: tuple[int, int, int] = (1, 1, 1),
        block: tuple[int, int, int] = (256, 1, 1),
        shared: int = 0,
    ) -> int:
        args = (ctypes.c_longlong * 8)(*words)
        parameters = (c_void_p * 1)(ctypes.addressof(args))
        sizes = [ctypes.c_uint(n) for n in (*grid, *block, shared)]
        return self.call("cuLaunchKernel", function, *sizes, stream, parameters, None)

    def log(self, clear: bool = True) -> list[str]:
        return self.lib.sim_log(int(clear)).decode().splitlines()

    def hazards(self) -> list[str]:
        return self.lib.sim_hazards(1).decode().splitlines()

    def pending(self) -> int:
        return self.lib.sim_pending()
