"""When the simulated device's tasks run, and what shows of a program that orders them wrong."""

import ctypes
import threading

import numpy as np
import pytest

from .private import NOT_READY, Device

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

    def wait():
        device.use(0)
        device.ok("cuStreamSynchronize", slow)

    thread = threading.Thread(target=wait)
    thread.start()
    for _ in range(20):
        device.array([1.0], other)
    assert thread.is_alive()
    thread.join()
    assert device.pending() == 20


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
