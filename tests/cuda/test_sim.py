"""The simulated device's driver: what it shows of a program that is wrong, and of a right one."""

import ctypes
import importlib.util
import os
import pathlib
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from .sim import ROOM, cache, driver, environment
from .sim.private import ILLEGAL_ADDRESS, LAUNCH_FAILED, NOT_READY, Device

SOURCE = """
struct Args { long long w[8]; };  // count, to, from, ...
extern "C" __global__ void doubled(Args a) {
  double* to = (double*)a.w[1]; const double* from = (const double*)a.w[2];
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < a.w[0]) to[i] = from[i] * 2;
}
#ifdef MISSING
#define BARRIER
#else
#define BARRIER __syncthreads()
#endif
extern "C" __global__ void __launch_bounds__(256) total(Args a) {
  extern __shared__ char scratch[];
  double* sums = (double*)scratch; const double* from = (const double*)a.w[2];
  double sum = 0;
  for (long long i = threadIdx.x; i < a.w[0]; i += blockDim.x) sum += from[i];
  sums[threadIdx.x] = sum;
  for (int d = blockDim.x / 2; d; d /= 2) {
    BARRIER;
    if (threadIdx.x < d) sums[threadIdx.x] += sums[threadIdx.x + d];
  }
  if (!threadIdx.x) *(double*)a.w[1] = sums[0];
}
extern "C" __global__ void indices(Args a) {
  __shared__ unsigned in_block;
  if (!threadIdx.x && !threadIdx.y) in_block = 100 * blockIdx.x + 10 * blockIdx.y;
  __syncthreads();
  long long i = ((blockIdx.y * gridDim.x + blockIdx.x) * blockDim.y + threadIdx.y) * blockDim.x;
  ((double*)a.w[1])[i + threadIdx.x] = in_block + threadIdx.y * 1000 + threadIdx.x * 10000;
}
extern "C" __global__ void divergent(Args a) { if (threadIdx.x) __syncthreads(); }
extern "C" __global__ void overrun(Args a) {
  extern __shared__ char scratch[];
  scratch[a.w[0]] = 1;
}
"""


@pytest.fixture
def device(tmp_path):
    return Device(tmp_path)


def compiled(source, *options):
    """A source compiled as the stand-in for CuPy does, without that package being imported."""
    path = ROOM / "cupy" / "_compile.py"
    spec = importlib.util.spec_from_file_location("sim_compile", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.library(source, options, cache())


@pytest.fixture(scope="module")
def kernels():
    return compiled(SOURCE)


# --- what runs, and when ---


def test_nothing_runs_until_it_is_needed(device):
    first, other = device.stream(), device.stream()
    for stream in (first, other):
        device.array([1.0], stream)
    assert device.pending() == 2
    device.ok("cuStreamSynchronize", first)
    assert device.pending() == 1
    assert [line for line in device.log() if line.startswith("run")] == [
        "run cuMemcpyHtoDAsync_v2 stream=2"
    ]


def test_an_event_needs_what_was_before_it_alone(device):
    stream, event = device.stream(), device.event()
    device.array([1.0], stream)
    device.ok("cuEventRecord", event, stream)
    device.array([2.0], stream)
    device.ok("cuEventSynchronize", event)
    assert device.pending() == 1


@pytest.mark.parametrize("waits", [False, True])
def test_a_missing_dependency_shows(device, kernels, waits):
    first, second, event = device.stream(), device.stream(), device.event()
    source, target = device.array([1.0, 2.0], first), device.array([0.0, 0.0], second)
    device.ok("cuStreamSynchronize", second)
    device.ok("cuEventRecord", event, first)
    if waits:
        device.ok("cuStreamWaitEvent", second, event, ctypes.c_int(0))
    doubled = device.function(kernels, "doubled")
    assert device.launch(doubled, [2, target, source], second) == 0
    right = device.values(target, 2, second).tolist() == [2.0, 4.0]
    assert right is waits


def test_a_wait_is_for_the_record_before_it(device):
    first, second, event = device.stream(), device.stream(), device.event()
    device.array([1.0], first)
    device.ok("cuEventRecord", event, first)
    device.ok("cuStreamWaitEvent", second, event, ctypes.c_int(0))
    device.array([2.0], first)
    device.ok("cuEventRecord", event, first)
    device.array([3.0], second)
    device.ok("cuStreamSynchronize", second)
    assert device.pending() == 2  # the second copy and record of `first`


def test_chains_through_streams_run_in_order(device, kernels):
    streams = [device.stream() for _ in range(3)]
    doubled, event = device.function(kernels, "doubled"), device.event()
    places = [device.array([1.0], streams[0]), *(device.memory(8) for _ in range(300))]
    for k in range(300):
        device.ok("cuEventRecord", event, streams[k % 3])
        device.ok("cuStreamWaitEvent", streams[(k + 1) % 3], event, ctypes.c_int(0))
        words = [1, places[k + 1], places[k]]
        assert device.launch(doubled, words, streams[(k + 1) % 3]) == 0
    assert device.values(places[300], 1, streams[0]) == 2.0**300


@pytest.mark.parametrize("pinned", [False, True])
def test_staging_that_is_used_again_too_early_shows(device, pinned):
    stream = device.stream()
    staging = device.pinned(2) if pinned else np.empty(2)
    staging[:] = 1
    place = device.memory(16)
    device.put(place, staging, stream)
    staging[:] = 2
    assert device.values(place, 2, stream).tolist() == ([2, 2] if pinned else [1, 1])


def test_pinned_memory_is_written_when_the_task_runs(device):
    stream, staging = device.stream(), device.pinned(2)
    place = device.array([3.0, 4.0], stream)
    staging[:] = 0
    device.fetch(staging, place, stream)
    assert staging.tolist() == [0, 0]
    device.ok("cuStreamSynchronize", stream)
    assert staging.tolist() == [3, 4]


def test_questions_come_to_an_end(device):
    stream, event = device.stream(), device.event()
    for _ in range(100):
        device.array([1.0], stream)
    device.ok("cuEventRecord", event, stream)
    assert device.call("cuEventQuery", event) == NOT_READY
    assert device.call("cuStreamQuery", stream) == NOT_READY
    for _ in range(50):
        if device.call("cuEventQuery", event) == 0:
            break
    assert device.call("cuEventQuery", event) == 0
    assert device.pending() == 0


def test_the_default_stream_comes_between_blocking_ones(device):
    blocking, free = device.stream(blocking=True), device.stream()
    device.array([1.0], blocking)
    device.array([1.0], free)
    device.array([1.0], 0)
    last = device.array([1.0], blocking)
    device.values(last, 1, blocking)
    ran = [line.rpartition("=")[2] for line in device.log() if line.startswith("run cuMemcpyH")]
    assert ran == [ran[0], "0", ran[0]]
    assert device.pending() == 1


def run_order(folder, mode):
    device = Device(folder, mode)
    streams, event = [device.stream() for _ in range(4)], device.event()
    for k in range(40):
        device.array([k], streams[k * 7 % 4])
        device.ok("cuEventRecord", event, streams[k % 4])
        device.ok("cuStreamWaitEvent", streams[(k + 1) % 4], event, ctypes.c_int(0))
    device.ok("cuCtxSynchronize")
    assert device.pending() == 0
    return [line for line in device.log() if line.startswith("run")]


def test_random_order_is_that_of_its_seed(tmp_path):
    orders = [run_order(tmp_path, f"random:{seed}") for seed in (1, 1, 2, 3)]
    assert orders[0] == orders[1]
    assert len({tuple(order) for order in orders}) > 1
    assert all(sorted(order) == sorted(orders[0]) for order in orders)


def test_eager_mode_runs_at_the_call(tmp_path):
    device = Device(tmp_path, "eager")
    device.array([1.0], device.stream())
    assert device.pending() == 0


@pytest.mark.parametrize("mode", ["lazy", "eager", "random:1", "random:2"])
def test_threads_share_the_device(tmp_path, kernels, mode):
    device = Device(tmp_path, mode)
    device.lib.sim_check_hazards(1)
    doubled = device.function(kernels, "doubled")
    failures = []

    def work(number):
        device.use(0)
        stream, event, staging = device.stream(), device.event(), device.pinned(64)
        place = device.memory(512)
        for k in range(50):
            staging[:] = number * 1000 + k
            device.put(place, staging, stream)
            if device.launch(doubled, [64, place, place], stream):
                failures.append("launch")
            device.fetch(staging, place, stream)
            device.ok("cuEventRecord", event, stream)
            device.ok("cuEventSynchronize", event)
            if (staging != 2 * (number * 1000 + k)).any():
                failures.append((number, k))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert not device.hazards()


def test_tasks_are_put_while_others_run(device):
    slow, other = device.stream(), device.stream()
    for _ in range(20):
        device.array([1.0], slow)
    device.lib.sim_delay(ctypes.c_uint(20_000))
    thread = threading.Thread(target=lambda: device.ok("cuStreamSynchronize", slow))
    thread.start()
    for _ in range(20):
        device.array([1.0], other)
    assert thread.is_alive()
    thread.join()
    assert device.pending() == 20


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
    library, stream = compiled(SOURCE, "-DMISSING"), device.stream()
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


# --- hazards ---


@pytest.mark.parametrize("mode", ["lazy", "eager"])
@pytest.mark.parametrize("order", ["none", "event", "host"])
@pytest.mark.parametrize("what", ["read after write", "write after read", "reads"])
def test_accesses_that_nothing_orders(tmp_path, kernels, mode, order, what, capfd):
    device = Device(tmp_path, mode)
    first, second, event = device.stream(), device.stream(), device.event()
    shared = device.array([1.0], first)
    mine, yours = device.array([0.0], first), device.array([0.0], first)
    device.ok("cuCtxSynchronize")
    device.lib.sim_check_hazards(1)
    doubled = device.function(kernels, "doubled")
    to, source = (shared, mine) if what == "read after write" else (mine, shared)
    device.ok("cuMemcpyDtoDAsync_v2", to, source, 8, first)
    device.ok("cuEventRecord", event, first)
    if order == "event":
        device.ok("cuStreamWaitEvent", second, event, ctypes.c_int(0))
    elif order == "host":
        device.ok("cuEventSynchronize", event)
    to, source = (shared, yours) if what == "write after read" else (yours, shared)
    assert device.launch(doubled, [1, to, source], second) == 0
    device.ok("cuCtxSynchronize")
    found = device.hazards()
    assert bool(found) is (order == "none" and what != "reads"), found
    capfd.readouterr()


# --- building, and running pytest on it ---


def test_two_builders_at_once(tmp_path):
    command = [sys.executable, "-c", "from tests.cuda.sim import driver; print(driver())"]
    where = {**os.environ, "LAZYARRAY_SIM_CACHE": str(tmp_path)}
    root = ROOM.parent.parent.parent
    running = [
        subprocess.Popen(command, cwd=root, env=where, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [process.communicate()[0].strip() for process in running]
    assert said[0] == said[1]
    assert [str(p) for p in tmp_path.iterdir()] == [said[0]]
    ctypes.CDLL(said[0]).cuInit(0)


INSIDE = """
import cupy
import numpy
def test_devices(): assert cupy.cuda.runtime.getDeviceCount() == 2
def test_hazard():
    with cupy.cuda.Stream(non_blocking=True):
        array = cupy.asarray(numpy.ones(3))
    with cupy.cuda.Stream(non_blocking=True):
        array.get()
    cupy.cuda.runtime.deviceSynchronize()
"""


@pytest.mark.parametrize("checks", ["0", "1"])
def test_pytest_runs_on_it(tmp_path, checks):
    inside = tmp_path / "test_inside.py"
    inside.write_text(INSIDE)
    command = [sys.executable, "-m", "tests.cuda.sim", "-q", "-p", "no:cacheprovider", str(inside)]
    where = {**os.environ, "LAZYARRAY_SIM_HAZARDS": checks, "LAZYARRAY_SIM": "eager"}
    root = ROOM.parent.parent.parent
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, env=where)
    assert ("2 passed, 1 error" if checks == "1" else "2 passed in") in done.stdout
    assert ("unordered with a write" in done.stdout) is (checks == "1")


def test_the_environment_names_what_is_there():
    variables = environment("random:5", LAZYARRAY_SIM_HAZARDS="1")
    assert variables["LAZYARRAY_SIM"] == "random:5"
    assert variables["LAZYARRAY_SIM_HAZARDS"] == "1"
    assert variables["LAZYARRAY_CUDA_DRIVER"] == str(driver())
    assert (pathlib.Path(variables["PYTHONPATH"].split(os.pathsep)[0]) / "cupy").is_dir()
