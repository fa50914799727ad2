"""``RawModule``: modules compiled from CUDA sources, and their functions."""

import ctypes
import os
import pathlib
import sys
import tempfile
import threading

from . import _streams
from ._compile import library
from ._driver import check, current_device, in_context, lib

FOLDER = pathlib.Path(os.environ.get("LAZYARRAY_SIM_CACHE") or tempfile.gettempdir())


class Module:
    def __init__(self):
        self.ptr = 0

    def load_file(self, path):
        handle = ctypes.c_void_p()
        current_device()
        check(lib.cuModuleLoad(ctypes.byref(handle), str(path).encode()))
        self.ptr = handle.value

    def load(self, cubin):
        self.load_file(cubin.decode())

    def __del__(self):
        if self.ptr and not sys.is_finalizing():
            lib.cuModuleUnload(self.ptr)

    def get_function(self, name):
        return Function(self, name)


def compile_using_nvrtc(
    source, options=(), arch=None, filename="kern.cu", name_expressions=None, log_stream=None,
    cache_in_memory=False, jitify=None, method=None,
):  # fmt: skip
    """The path of what g++ made, for a cubin; and no names."""
    return os.fsencode(library(source, options, FOLDER)), None


class Function:
    """A kernel on one device; ``ptr``: its CUfunction."""

    def __init__(self, module, funcname):
        from .cuda.driver import CUDADriverError

        handle = ctypes.c_void_p()
        status = lib.cuModuleGetFunction(ctypes.byref(handle), module.ptr, funcname.encode())
        if status:
            raise CUDADriverError(status)
        self.module, self.ptr = module, handle.value

    def __call__(
        self, grid, block, args, shared_mem=0, stream=None, enable_cooperative_groups=False
    ):
        places = [_parameter(a) for a in args]
        array = (ctypes.c_void_p * len(places))(*[ctypes.addressof(p) for p in places])
        grid, block = (tuple(x) + (1,) * (3 - len(x)) for x in (grid, block))
        check(in_context().cuLaunchKernel(
            self.ptr, *grid, *block, shared_mem, _streams.pointer(stream), array, None
        ))  # fmt: skip


def _parameter(value):
    """One kernel argument as CuPy passes it: arrays by pointer, scalars by their NumPy type."""
    from ._core import ndarray

    if isinstance(value, ndarray):
        return ctypes.c_uint64(value.data.ptr)
    if hasattr(value, "tobytes"):
        raw = value.tobytes()
        return ctypes.create_string_buffer(raw, len(raw))
    if isinstance(value, bool):
        return ctypes.c_bool(value)
    if isinstance(value, int):
        return ctypes.c_int64(value)
    if isinstance(value, float):
        return ctypes.c_double(value)
    raise TypeError(f"Unsupported type {type(value)}")


class RawKernel:
    def __init__(self, code, name, options=(), backend="nvrtc", **more):
        self._module, self.name = RawModule(code=code, options=options, backend=backend), name

    @property
    def kernel(self):
        """The function on the current device."""
        return self._module._function(self.name)

    def compile(self, log_stream=None):
        self.kernel

    def __call__(self, grid, block, args, *, shared_mem=0):
        self.kernel(grid, block, args, shared_mem)


class RawModule:
    def __init__(
        self, code=None, *, path=None, options=(), backend="nvrtc", translate_cucomplex=False,
        enable_cooperative_groups=False, name_expressions=None, jitify=None,
    ):  # fmt: skip
        if (code is None) == (path is None):
            raise TypeError("Exactly one of `code` and `path` keyword arguments must be given.")
        if path is not None or name_expressions is not None:
            raise NotImplementedError("the simulated device compiles sources of C functions only")
        if not isinstance(options, tuple):
            raise TypeError("options must be a tuple")
        self.code, self.options, self.backend = code, options, backend
        self._lock = threading.Lock()
        self._loaded = {}
        self._functions = {}

    @property
    def module(self):
        device = current_device()
        with self._lock:
            if device not in self._loaded:
                self._loaded[device] = made = Module()
                made.load_file(library(self.code, self.options, FOLDER))
            return self._loaded[device]

    def compile(self, log_stream=None):
        self.module

    def _function(self, name):
        key = current_device(), name
        made = self._functions.get(key)
        if made is None:
            made = self._functions[key] = Function(self.module, name)
        return made

    def get_function(self, name):
        kernel = RawKernel.__new__(RawKernel)
        kernel._module, kernel.name = self, name
        kernel.kernel  # CuPy compiles here
        return kernel
