"""The simulated driver (the library that LAZYARRAY_CUDA_DRIVER names) through ctypes."""

import ctypes
import os
from ctypes import c_char, c_char_p, c_int, c_int64, c_size_t, c_uint, c_uint64, c_void_p

if "LAZYARRAY_CUDA_DRIVER" not in os.environ:
    raise ImportError("this cupy is a stand-in: it needs the variables of tests.cuda.sim")
lib = ctypes.CDLL(os.environ["LAZYARRAY_CUDA_DRIVER"])  # ctypes calls without the GIL

for _name, _arguments in {
    "cuInit": [c_uint],
    "cuDeviceGetName": [c_char_p, c_int, c_int],
    "cuCtxSetCurrent": [c_void_p],
    "cuStreamCreateWithPriority": [c_void_p, c_uint, c_int],
    "cuStreamDestroy_v2": [c_void_p],
    "cuStreamSynchronize": [c_void_p],
    "cuStreamQuery": [c_void_p],
    "cuStreamWaitEvent": [c_void_p, c_void_p, c_uint],
    "cuEventCreate": [c_void_p, c_uint],
    "cuEventRecord": [c_void_p, c_void_p],
    "cuEventQuery": [c_void_p],
    "cuEventSynchronize": [c_void_p],
    "cuEventDestroy_v2": [c_void_p],
    "cuLaunchKernel": [c_void_p, *[c_uint] * 7, c_void_p, c_void_p, c_void_p],
    "cuModuleLoad": [c_void_p, c_char_p],
    "cuModuleGetFunction": [c_void_p, c_void_p, c_char_p],
    "cuModuleUnload": [c_void_p],
    "cuMemAlloc_v2": [c_void_p, c_size_t],
    "cuMemFree_v2": [c_uint64],
    "cuMemGetInfo_v2": [c_void_p, c_void_p],
    "cuMemHostAlloc": [c_void_p, c_size_t, c_uint],
    "cuMemFreeHost": [c_void_p],
    "cuMemcpyHtoDAsync_v2": [c_uint64, c_void_p, c_size_t, c_void_p],
    "cuMemcpyDtoHAsync_v2": [c_void_p, c_uint64, c_size_t, c_void_p],
    "cuMemcpyDtoDAsync_v2": [c_uint64, c_uint64, c_size_t, c_void_p],
    "cuMemcpyPeerAsync": [c_uint64, c_void_p, c_uint64, c_void_p, c_size_t, c_void_p],
    "cuMemsetD8Async": [c_uint64, c_int, c_size_t, c_void_p],
    "sim_read": [c_uint64, c_size_t, c_void_p, c_void_p],
    "sim_where": [c_uint64],
    "sim_device_of": [c_uint64, c_void_p],
    "sim_log": [c_int],
    "sim_hazards": [c_int],
    "sim_fail_next": [c_char_p, c_int],
    "sim_set_memory": [c_size_t],
    "sim_delay": [c_uint],
    "sim_nccl_init": [c_void_p, c_char_p, c_int, c_int],
    "sim_nccl_group": [c_int],
    "sim_nccl": [
        c_void_p, c_char, c_uint64, c_uint64, c_size_t, c_int, c_int, c_int, c_void_p
    ],
    "sim_set_mode": [c_char_p],
    "sim_poison": [c_uint64, c_size_t, c_void_p],
    "sim_write": [
        c_uint64, c_int, c_void_p, c_void_p, c_int64, c_int64, c_size_t, c_void_p, c_void_p
    ],
}.items():  # fmt: skip
    getattr(lib, _name).argtypes = _arguments
lib.sim_where.restype = c_uint64
lib.sim_pending.restype = c_size_t
lib.sim_log.restype = lib.sim_hazards.restype = c_char_p


class CUDARuntimeError(RuntimeError):
    """A call of CUDA failed; ``status``: its number."""

    def __init__(self, status: int) -> None:
        self.status = status
        name, text = c_char_p(), c_char_p()
        lib.cuGetErrorName(status, ctypes.byref(name))
        lib.cuGetErrorString(status, ctypes.byref(text))
        said = (name.value or b"CUDA_ERROR_UNKNOWN").decode()
        words = said.removeprefix("CUDA_").removeprefix("ERROR_").split("_")
        camel = "cudaError" + "".join(word.capitalize() for word in words)
        camel = {"cudaErrorOutOfMemory": "cudaErrorMemoryAllocation"}.get(camel, camel)
        super().__init__(f"{camel}: {(text.value or b'unknown error').decode()}")

    def __reduce__(self):
        return (type(self), (self.status,))


def check(status: int) -> None:
    if status:
        raise CUDARuntimeError(status)


def context(device: int) -> c_void_p:
    check(lib.cuInit(0))
    made = c_void_p()
    check(lib.cuDevicePrimaryCtxRetain(ctypes.byref(made), device))
    return made


def current_device() -> int:
    """The calling thread's device; the first one where none was chosen (as the runtime has it)."""
    device = c_int()
    if lib.cuCtxGetDevice(ctypes.byref(device)):
        check(lib.cuCtxSetCurrent(context(0)))
        return 0
    return device.value


def in_context():
    """The library, for calls that need a context: as the runtime's functions, these make one."""
    current_device()
    return lib


def set_device(device: int) -> None:
    check(lib.cuCtxSetCurrent(context(device)))
