"""The simulated device's kernels, memory, devices and errors."""

import ctypes
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from . import ROOM
from .private import ILLEGAL_ADDRESS, KERNELS, LAUNCH_FAILED, compiled

# --- kernels ---


@pytest.mark.parametrize("threads", [1, 2, 64, 256, 1024])
def test_barriers_hold(device, kernels, threads):
    stream = device.stream()
    values = np.arange(3000.0)
    source, target = device.array(values, stream), device.memory(8)
    total = device.function(kernels, "total")
    words = [3000, target, source]
    shared = threads * 16
    assert device.launch(total, words, stream, block=(threads, 1, 1), shared=shared) == 0
    assert device.values(target, 1, stream) == values.sum()


def test_a_missing_barrier_shows(device):
    library, stream = compiled(KERNELS, "-DMISSING"), device.stream()
    source, target = device.array(np.ones(256), stream), device.memory(8)
    total = device.function(library, "total")
    assert device.launch(total, [256, target, source], stream, shared=4096) == 0
    assert device.values(target, 1, stream) != 256


def test_indices_and_static_shared_memory(device, kernels):
    stream, target = device.stream(), device.memory(3 * 2 * 4 * 5 * 8)
    indices = device.function(kernels, "indices")
    assert device.launch(indices, [0, target], stream, (3, 2, 1), (5, 4, 1)) == 0
    y, x, ty, tx = np.ogrid[:2, :3, :4, :5]
    expected = x * 100 + y * 10 + ty * 1000 + tx * 10000
    assert (device.values(target, 120, stream) == expected.ravel()).all()


@pytest.mark.parametrize(
    ("name", "first_word"), [("divergent", 0), ("overrun", 32), ("overrun", 90)]
)
def test_a_kernel_that_breaks_the_rules_fails(device, kernels, name, first_word):
    stream, function = device.stream(), device.function(kernels, name)
    assert device.launch(function, [first_word], stream, block=(4, 1, 1), shared=32) == 0
    assert device.call("cuStreamSynchronize", stream) == LAUNCH_FAILED
    assert device.call("cuMemAlloc_v2", ctypes.byref(ctypes.c_uint64()), 8) == LAUNCH_FAILED
    device.lib.sim_clear_errors()
    total = device.function(kernels, "total")
    source, target = device.array([1.0, 2.0], stream), device.memory(8)
    assert device.launch(total, [2, target, source], stream, shared=4096) == 0
    assert device.values(target, 1, stream) == 3


@pytest.mark.parametrize(
    "geometry",
    [
        {"grid": (0, 1, 1)},
        {"grid": (1, 65536, 1)},
        {"block": (1025, 1, 1)},
        {"block": (64, 32, 1)},
        {"shared": 49153},
    ],
)
def test_launches_that_no_device_takes(device, kernels, geometry):
    function = device.function(kernels, "doubled")
    assert device.launch(function, [0], device.stream(), **geometry) == 1


# --- memory ---


def test_memory_is_aligned_and_not_zero(device):
    stream = device.stream()
    places = [device.memory(n) for n in (1, 513, 8)]
    assert all(place % 512 == 0 for place in places)
    assert np.isfinite(device.values(places[2], 1, stream)).all()
    assert device.values(places[2], 1, stream) != 0


def test_freed_memory_is_an_error(device, kernels):
    stream, function = device.stream(), device.function(kernels, "doubled")
    kept, freed = device.memory(8), device.memory(8)
    device.ok("cuMemFree_v2", freed)
    assert device.call("cuMemFree_v2", freed) == 1
    assert device.call("cuMemcpyDtoDAsync_v2", kept, freed, 8, stream) == 1
    assert device.launch(function, [1, kept, freed], stream) == 0
    assert device.call("cuStreamSynchronize", stream) == ILLEGAL_ADDRESS


def test_freeing_waits_for_the_device(device):
    stream, staging = device.stream(), device.pinned(1)
    place = device.array([5.0], stream)
    device.fetch(staging, place, stream)
    device.ok("cuMemFree_v2", place)
    assert staging[0] == 5


def test_copies_stay_inside_an_allocation(device):
    stream, place = device.stream(), device.memory(64)
    host = np.zeros(16)
    assert device.call("cuMemcpyHtoDAsync_v2", place, host.ctypes.data, 72, stream) == 1
    assert device.call("cuMemcpyDtoHAsync_v2", host.ctypes.data, place + 32, 40, stream) == 1
    assert device.call("cuMemsetD8Async", place - 8, ctypes.c_int(0), 8, stream) == 1
    device.ok("cuMemsetD8Async", place + 32, ctypes.c_int(0), 32, stream)


def test_a_kernel_that_writes_behind_an_allocation(device, kernels, capfd):
    stream, place = device.stream(), device.memory(8 * 3)
    function = device.function(kernels, "doubled")
    assert device.launch(function, [4, place, place], stream) == 0
    assert device.call("cuStreamSynchronize", stream) == ILLEGAL_ADDRESS
    assert "doubled wrote behind an allocation of 24 bytes" in capfd.readouterr().err


def test_running_out_of_memory(device):
    device.lib.sim_set_memory(ctypes.c_size_t(1 << 20))
    kept = device.memory(1 << 19)
    result = ctypes.c_uint64()
    assert device.call("cuMemAlloc_v2", ctypes.byref(result), (1 << 19) + 1) == 2
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    device.ok("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
    assert (free.value, total.value) == (1 << 19, 1 << 20)
    device.ok("cuMemFree_v2", kept)
    device.memory((1 << 19) + 1)


CRASH = """
import ctypes, pathlib, resource, sys
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
from tests.cuda.sim.private import Device
device = Device(pathlib.Path(sys.argv[1]))
place = device.memory(4096)
print("alive", flush=True)
ctypes.string_at(place, 8) if sys.argv[2] == "read" else ctypes.memset(place, 0, 8)
"""


@pytest.mark.parametrize("how", ["read", "write"])
def test_the_host_can_not_touch_device_memory(tmp_path, how):
    root = ROOM.parent.parent.parent
    done = subprocess.run(
        [sys.executable, "-c", CRASH, str(tmp_path), how], cwd=root, capture_output=True, text=True
    )
    assert done.stdout == "alive\n"
    assert done.returncode == -signal.SIGSEGV


# --- devices ---


def test_functions_and_events_belong_to_a_device(device, kernels):
    function, event, here = device.function(kernels, "doubled"), device.event(), device.stream()
    device.use(1)
    there = device.stream()
    assert device.launch(function, [0], there) == 400
    assert device.launch(function, [0], here) == 201
    assert device.call("cuEventRecord", event, there) == 400


@pytest.mark.parametrize("peers", [False, True])
def test_memory_of_another_device(device, kernels, peers):
    stream, function = device.stream(), device.function(kernels, "doubled")
    device.use(1)
    place = device.memory(8)
    device.use(0)
    if peers:
        device.ok("cuCtxEnablePeerAccess", device.contexts[1], ctypes.c_int(0))
        again = device.call("cuCtxEnablePeerAccess", device.contexts[1], ctypes.c_int(0))
        assert again == 704
    assert device.launch(function, [1, place, place], stream) == 0
    expected = 0 if peers else ILLEGAL_ADDRESS
    assert device.call("cuStreamSynchronize", stream) == expected


def test_copies_between_devices(device):
    stream = device.stream()
    source = device.array([7.0], stream)
    device.use(1)
    target = device.memory(8)
    first, second = device.contexts
    assert device.call("cuMemcpyPeerAsync", target, first, source, first, 8, stream) == 1
    device.ok("cuMemcpyPeerAsync", target, second, source, first, 8, stream)
    device.ok("cuStreamSynchronize", stream)
    assert device.values(target, 1, device.stream()) == 7


# --- errors ---


def test_planned_failures(device):
    stream = device.stream()
    device.lib.sim_fail_next(b"cuMemAlloc_v2", 2)
    assert device.call("cuMemAlloc_v2", ctypes.byref(ctypes.c_uint64()), 8) == 2
    place = device.memory(8)
    device.lib.sim_fail_next(b"run", 719)
    device.put(place, np.ones(1), stream)
    assert device.call("cuStreamSynchronize", stream) == 719
    device.lib.sim_clear_errors()
    assert device.call("cuStreamSynchronize", stream) == 0


@pytest.mark.parametrize(
    ("code", "name"),
    [(0, "CUDA_SUCCESS"), (2, "CUDA_ERROR_OUT_OF_MEMORY"), (700, "CUDA_ERROR_ILLEGAL_ADDRESS")],
)
def test_names_of_errors(device, code, name):
    text = ctypes.c_char_p()
    assert device.lib.cuGetErrorName(code, ctypes.byref(text)) == 0
    assert text.value.decode() == name
    assert device.lib.cuGetErrorString(code, ctypes.byref(text)) == 0
    assert device.lib.cuGetErrorName(12345, ctypes.byref(text)) == 1


def test_handles_are_looked_at(device):
    stream, event = device.stream(), device.event()
    device.ok("cuStreamDestroy_v2", stream)
    device.ok("cuEventDestroy_v2", event)
    assert device.call("cuStreamSynchronize", stream) == 400
    assert device.call("cuEventQuery", event) == 400
    assert device.call("cuEventDestroy_v2", event) == 400


def test_a_thread_without_a_context_gets_an_error(device):
    statuses = []

    def work():
        place = ctypes.c_uint64()
        statuses.append(device.call("cuMemAlloc_v2", ctypes.byref(place), 8))
        statuses.append(device.call("cuEventCreate", ctypes.byref(place), ctypes.c_int(0)))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert statuses == [201, 201]


def test_calls_need_a_context(device):
    """Also those that name a stream or an event: a thread has none until it says so."""
    stream, event, place, host = device.stream(), device.event(), device.memory(8), device.pinned(1)
    at = host.ctypes.data
    calls = [
        ("cuEventRecord", event, stream), ("cuEventQuery", event), ("cuEventSynchronize", event),
        ("cuStreamWaitEvent", stream, event, 0), ("cuStreamSynchronize", stream),
        ("cuMemcpyHtoDAsync_v2", place, at, 8, stream), ("cuMemFreeHost", at),
        ("cuMemcpyDtoHAsync_v2", at, place, 8, stream), ("cuMemsetD8Async", place, 0, 8, stream),
    ]  # fmt: skip
    found = []
    thread = threading.Thread(target=lambda: found.extend(device.call(*c) for c in calls))
    thread.start()
    thread.join()
    assert found == [201] * len(calls)
