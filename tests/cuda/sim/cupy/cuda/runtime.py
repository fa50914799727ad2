"""``cupy.cuda.runtime`` of the simulated device: what of CUDA's runtime is asked for."""

import ctypes

from .._driver import CUDARuntimeError as CUDARuntimeError
from .._driver import check, current_device, in_context, lib, set_device

is_hip = False


def getDeviceCount():
    check(lib.cuInit(0))
    count = ctypes.c_int()
    check(lib.cuDeviceGetCount(ctypes.byref(count)))
    return count.value


def getDevice():
    return current_device()


def setDevice(device):
    set_device(device)


def memGetInfo():
    from .._streams import Device

    return Device().mem_info


def deviceSynchronize():
    current_device()
    check(lib.cuCtxSynchronize())


def runtimeGetVersion():
    return 12080


def driverGetVersion():
    return 12080


def getDeviceProperties(device):
    name = ctypes.create_string_buffer(64)
    check(lib.cuDeviceGetName(name, 64, device))
    return {"name": name.value, "major": 9, "minor": 0, "multiProcessorCount": 8}


def streamSynchronize(stream):
    check(in_context().cuStreamSynchronize(stream))
