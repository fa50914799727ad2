"""Compiling CUDA sources with g++, and the modules and functions that come of it."""

import ctypes
import hashlib
import os
import pathlib
import re
import subprocess
import tempfile
import threading

from . import _streams
from ._driver import check, current_device, lib

DEVICE = pathlib.Path(__file__).parent.parent / "device.h"
FLAGS = ("-O1", "-fPIC", "-shared", "-ffp-contract=off", "-fno-strict-aliasing", "-w")
_KERNEL = re.compile(
    r"__global__\s+(?:__launch_bounds__\s*\([^)]*\)\s*)?void\s+"
    r"(?:__launch_bounds__\s*\([^)]*\)\s*)?(\w+)\s*\("
)


class CompileException(Exception):
    def __init__(self, msg, source, name, options, backend="nvrtc"):
        super().__init__(msg, source, name, options, backend)
        self._msg = msg
        self.source, self.name, self.options, self.backend = source, name, options, backend

    def __str__(self):
        return self._msg

    def get_message(self):
        return self._msg


def _host_text(code):
    """The source as g++ takes it: shared memory in static places, and entries behind."""
    text = re.sub(r"extern\s+__shared__", "extern", code)
    text = re.sub(r"\b__shared__", "static", text)
    entries = "".join(f"SIM_KERNEL({name})\n" for name in dict.fromkeys(_KERNEL.findall(code)))
    return f'#line 1 "source.cu"\n{text}\n#line 1 "entries"\nSIM_LIBRARY\n{entries}'


def library(code, options=()):
    """The compiled library's path; kept on disk by the hash of all that it depends on."""
    kept = [o for o in options if o.startswith(("-D", "-std", "--std"))]
    kept = [o.replace("--std", "-std") for o in kept]
    if not any(o.startswith("-std") for o in kept):
        kept.append("-std=c++17")
    text = _host_text(code)
    digest = hashlib.sha256(DEVICE.read_bytes())
    digest.update(repr((FLAGS, kept, text)).encode())
    folder = pathlib.Path(os.environ.get("LAZYARRAY_SIM_CACHE") or tempfile.gettempdir())
    path = folder / f"kernel-{digest.hexdigest()[:24]}.so"
    if path.exists():
        return path
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        made = pathlib.Path(scratch) / path.name
        command = ["g++", "-x", "c++", *FLAGS, *kept, "-include", str(DEVICE), "-", "-o", str(made)]
        done = subprocess.run([*command, "-lm"], input=text, text=True, capture_output=True)
        if done.returncode:
            raise CompileException(done.stderr, code, path.name, tuple(options))
        os.replace(made, path)
    return path


class Module:
    def __init__(self, path):
        handle = ctypes.c_void_p()
        current_device()
        check(lib.cuModuleLoad(ctypes.byref(handle), str(path).encode()))
        self.ptr = handle.value


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
        check(lib.cuLaunchKernel(
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
                self._loaded[device] = Module(library(self.code, self.options))
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
        return kernel
