"""CuPy if it can be imported (the simulated one, or a GPU's); else one made of NumPy and g++."""

import ctypes
import functools
import pathlib
import subprocess
import tempfile
import types

import numpy as np

try:
    import cupy as real
except ImportError:
    real = None


class Device(np.ndarray):
    """An array with CuPy's ``data``, which refuses to become a plain one by itself."""

    @property
    def data(self):
        return types.SimpleNamespace(ptr=self.__array_interface__["data"][0])


class Cupy:
    """NumPy's functions with results as CuPy has them, and modules of kernels."""

    ndarray = Device

    def __init__(self, module=np, folder=None):
        self._module, self._folder = module, folder

    def __getattr__(self, name):
        found = getattr(self._module, name)
        if isinstance(found, types.ModuleType):
            return Cupy(found)
        if isinstance(found, type):
            return found

        def function(*args, **kwargs):
            def made(o):
                if isinstance(o, tuple):
                    return tuple([made(v) for v in o])
                return np.asarray(o).view(Device)

            return made(found(*args, **kwargs))

        return function

    @property
    def random(self):
        """CuPy's generator class, with draws by NumPy's."""
        return types.SimpleNamespace(
            Generator=Generator, Philox4x3210=lambda seed, size: np.random.Philox(seed)
        )

    @functools.cache  # noqa: B019  # there is one of them
    def module(self, text):
        """As lazyarray.lazy.cuda.compiler's."""
        return Module(text, self._folder)


HEAD = """
#define __global__
#define __device__
#define __forceinline__ inline
static struct { unsigned x; } blockIdx, blockDim, threadIdx;
"""
TAIL = """
extern "C" void run_NAME(unsigned grid, unsigned block, Args* a) {
  blockDim.x = block;
  for (blockIdx.x = 0; blockIdx.x < grid; ++blockIdx.x)
    for (threadIdx.x = 0; threadIdx.x < block; ++threadIdx.x) NAME(*a);
}
"""


class Module:
    def __init__(self, code, folder):
        self.code, self.folder = code, folder

    @functools.cache  # noqa: B019  # nor are there many
    def get_function(self, name):
        path = self.folder / f"{name}{len(list(self.folder.iterdir()))}.so"
        flags = ("-O1", "-w", "-ffp-contract=off", "-shared", "-fPIC")
        text = HEAD + self.code + TAIL.replace("NAME", name)
        command = ["g++", "-x", "c++", *flags, "-o", path, "-"]
        subprocess.run(command, input=text, text=True, check=True)
        run = getattr(ctypes.CDLL(str(path)), f"run_{name}")

        def start(grid, block, args):
            (words,) = args
            run(grid[0], block[0], ctypes.c_void_p(words.__array_interface__["data"][0]))

        return start


class Generator:
    def __init__(self, bits):
        self._numpy = np.random.Generator(bits)

    def __getattr__(self, name):
        function = getattr(self._numpy, name)
        return lambda *args, **kwargs: np.asarray(function(*args, **kwargs)).view(Device)


_FOLDER = tempfile.TemporaryDirectory(prefix="lazyarray-kernels-")  # deleted at exit
CUPY = real or Cupy(np, pathlib.Path(_FOLDER.name))
