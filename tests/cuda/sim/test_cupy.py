"""The stand-in for CuPy: arrays in device memory, its pool, streams and modules."""

import threading

import numpy as np
import pytest

from .private import same

# --- arrays ---


@pytest.mark.parametrize("dtype", list("?bhilqBHILQefdFD"))
def test_elements_come_back(cp, stream, dtype):
    values = np.arange(24).reshape(2, 3, 4).astype(dtype)
    made = cp.asarray(values)
    assert made.strides == values.strides
    assert same(made, values)
    assert same(made.astype("D"), values.astype("D"))
    assert same(cp.array(made, dtype="F"), values.astype("F"))


@pytest.mark.parametrize("dtype", ["g", "S3", "M8[s]", ">f8"])
def test_types_that_a_device_lacks(cp, dtype):
    with pytest.raises(ValueError, match="Unsupported dtype"):
        cp.ndarray((2,), dtype)


VIEWS = [
    lambda a: a[1:, ::-2],
    lambda a: a[..., None, 2],
    lambda a: a[-1, 0, ...],
    lambda a: a.T,
    lambda a: a.T[1:].T,
    lambda a: a.reshape(4, -1),
    lambda a: a.transpose(1, 0),
    lambda a: a.swapaxes(0, 1),
    lambda a: np.moveaxis(a, 0, 1),
    lambda a: np.broadcast_to(a[0], (3, 4)),
    lambda a: np.split(a, 2, axis=1)[1],
    lambda a: a.view(np.int64),
    lambda a: a.real,
    lambda a: a[2:1],
]


@pytest.mark.parametrize("view", VIEWS)
def test_views_wait_for_nothing(cp, stream, view):
    host = np.arange(12.0).reshape(3, 4)
    made = cp.asarray(host)
    pending = cp._sim.pending()
    found = view(made)
    assert cp._sim.pending() == pending > 0
    if found.size:
        assert found.data.ptr - made.data.ptr == (
            view(host).__array_interface__["data"][0] - host.ctypes.data
        )
        assert found.strides == view(host).strides
        assert found.base is made
    assert same(found, view(host))


def test_a_reshape_that_must_copy(cp, stream):
    made = cp.asarray(np.arange(12.0).reshape(3, 4))
    copied = made.T.reshape(12)
    made[...] = 0
    assert same(copied, np.arange(12.0).reshape(3, 4).T.reshape(12))


def test_results_come_in_the_stream_s_order(cp, stream):
    made = cp.asarray(np.arange(3.0))
    stream.synchronize()
    total = cp.sum(made)
    assert cp._sim.pending() == 1
    with cp.cuda.Stream(non_blocking=True) as other:
        assert float(total) != 3  # nothing says that it is to wait
        other.wait_event(stream.record())
        assert float(total) == 3


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (1, 5),
        (np.s_[:, 1:3], 2.5),
        (np.s_[::2, ::-1], np.arange(4.0)),
        (np.s_[...], np.float32(3)),
        (np.arange(12).reshape(3, 4) > 5, 7),
        (np.array([0, 2]), np.arange(4.0)),
    ],
    ids=["row", "columns", "reversed", "all", "mask", "indices"],
)
def test_assignment(cp, stream, key, value):
    host = np.arange(12.0).reshape(3, 4)
    made = cp.asarray(host)
    made[cp.asarray(key) if isinstance(key, np.ndarray) else key] = (
        cp.asarray(value) if isinstance(value, np.ndarray) else value
    )
    host[key] = value
    assert same(made, host)


def test_arrays_of_the_host_are_refused(cp, stream):
    made = cp.asarray(np.arange(3.0))
    for refused in (
        lambda: np.asarray(made),
        lambda: np.array(made),
        lambda: cp.add(made, np.ones(3)),
        lambda: made + np.ones(3),
        lambda: np.add(made, np.ones(3)),
        lambda: cp.concatenate([made, np.ones(3)]),
        lambda: np.add(made, made, out=np.ones(3)),
        lambda: range(made[0].astype(int)),
    ):
        with pytest.raises(TypeError):
            refused()
    with pytest.raises(ValueError, match="cannot be used for fill"):
        made[:] = np.ones(3)
    with pytest.raises(ValueError, match="ambiguous"):
        bool(made)


def test_memory_that_the_pool_does_not_own(cp, stream):
    kept = cp.asarray(np.arange(6.0))
    memory = cp.cuda.UnownedMemory(kept.data.ptr, 48, kept)
    assert memory.device_id == 0
    pointer = cp.cuda.MemoryPointer(memory, 8)
    assert same(cp.ndarray((2, 2), "f8", pointer, (16, 8)), [[1.0, 2.0], [3.0, 4.0]])


# --- memory ---


def test_the_pool_keeps_blocks_by_stream(cp, stream):
    pool = cp.get_default_memory_pool()
    pool.free_all_blocks()
    used = pool.used_bytes()
    block = pool.malloc(1000)
    assert block.ptr % 512 == 0
    assert pool.used_bytes() - used == 1024
    address = block.ptr
    with cp.cuda.Stream(non_blocking=True):
        other = pool.malloc(1000)
    del block
    assert (pool.used_bytes() - used, pool.free_bytes()) == (1024, 1024)
    with cp.cuda.Stream(non_blocking=True):
        assert pool.malloc(1000).ptr != address
    assert pool.malloc(1000).ptr == address
    assert other.mem.size == 1000
    pool.free_all_blocks()
    assert pool.free_bytes() == 0


def test_freed_blocks_are_spoilt_in_their_stream_s_order(cp, stream):
    block = cp.get_default_memory_pool().malloc(8)
    array = cp.ndarray((1,), "f8", block)
    array[...] = 3.0
    address = block.ptr
    copy = array + 0
    del array, block
    again = cp.ndarray((1,), "f8", cp.cuda.MemoryPointer(
        cp.cuda.UnownedMemory(address, 8, None, 0), 0))  # fmt: skip
    assert copy.get()[0] == 3
    assert again.get()[0] != 3


def test_the_pool_runs_out_of_memory(cp, stream):
    pool = cp.get_default_memory_pool()
    pool.free_all_blocks()
    free, total = cp.cuda.runtime.memGetInfo()
    try:
        cp._sim.set_memory(total - free + 4096)
        kept = pool.malloc(4096)
        del kept  # a free block of the pool: it makes space
        kept = pool.malloc(2048)
        with pytest.raises(cp.cuda.memory.OutOfMemoryError, match="Out of memory allocating 4,096"):
            pool.malloc(4000)
    finally:
        cp._sim.set_memory(total)
    pool.set_limit(size=pool.total_bytes() + 512)
    with pytest.raises(cp.cuda.memory.OutOfMemoryError, match="limit set to"):
        pool.malloc(513)
    pool.set_limit(size=0)
    assert kept.mem.size == 2048


# --- devices, streams, kernels ---


def test_devices(cp):
    assert cp.cuda.runtime.getDeviceCount() == 2
    assert cp.cuda.Device().id == 0
    with cp.cuda.Device(1) as second:
        assert cp.cuda.runtime.getDevice() == 1
        made = cp.asarray(np.arange(3.0))
        assert made.device == second
        assert second.compute_capability == "90"
        assert same(made, np.arange(3.0))
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="IllegalAddress"):
        made.get()  # of another device, without access to it
    with pytest.raises(cp.cuda.runtime.CUDARuntimeError, match="InvalidDevice"):
        cp.cuda.Device(2).use()
    cp.cuda.Device(0).use()


def test_streams_belong_to_threads_and_devices(cp):
    owner = cp.cuda.Stream(non_blocking=True)
    with pytest.warns(DeprecationWarning, match="ExternalStream is deprecated"):
        external = cp.cuda.ExternalStream(owner.ptr, 0)
    seen = []
    with external:
        assert cp.cuda.get_current_stream().ptr == external.ptr
        thread = threading.Thread(target=lambda: seen.append(cp.cuda.get_current_stream().ptr))
        thread.start()
        thread.join()
        assert seen == [0]
        with cp.cuda.Device(1):
            assert cp.cuda.get_current_stream().ptr == 0
            with pytest.raises(RuntimeError, match="not created on the current device"):
                external.use()
    assert cp.cuda.get_current_stream().ptr == 0


@pytest.mark.parametrize("mode", ["lazy", "random:5"])
def test_threads_with_streams_of_their_own(cp, mode):
    wrong = []

    def work(number):
        rng = np.random.default_rng(number)
        with cp.cuda.Device(number % 2), cp.cuda.Stream(non_blocking=True):
            for _ in range(30):
                host = rng.random((5, int(rng.integers(1, 40))))
                array = cp.asarray(host)
                array[1:3] = array[0] + array[2:4]
                host[1:3] = host[0] + host[2:4]
                if not (np.sort(array.T * 2, axis=0).get() == np.sort(host.T * 2, axis=0)).all():
                    wrong.append(number)

    cp._sim.set_mode(mode)
    try:
        cp._driver.lib.sim_check_hazards(1)
        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        cp._sim.set_mode("lazy")
        cp._driver.lib.sim_check_hazards(0)
    assert not wrong
    assert not cp._sim.hazards()


def test_streams_of_others(cp):
    class Other:
        owner = cp.cuda.Stream(non_blocking=True)

        def __cuda_stream__(self):
            return 0, self.owner.ptr

    with cp.cuda.Stream.from_external(Other()) as stream:
        assert cp.cuda.get_current_stream().ptr == stream.ptr == Other.owner.ptr
        assert same(cp.asarray(np.ones(3)), np.ones(3))
    with pytest.raises(TypeError, match="__cuda_stream__"):
        cp.cuda.Stream.from_external(5)


SOURCE = """
#ifndef TIMES
#define TIMES 2
#endif
extern "C" __global__ void times(double* to, const double* from, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i] * TIMES;
}
"""


def test_modules(cp, stream):
    made = cp.asarray(np.arange(300.0))
    out = cp.ndarray((300,))
    for options, times in (((), 2), (("-DTIMES=3", "--fmad=false", "--std=c++17"), 3)):
        kernel = cp.RawModule(code=SOURCE, options=options, backend="nvrtc").get_function("times")
        assert kernel.kernel.ptr == kernel.kernel.ptr > 0
        kernel((2,), (256,), (out, made, np.int32(300)))
        assert same(out, np.arange(300.0) * times)
        with cp.cuda.Device(1):
            assert kernel.kernel.ptr != 0
            elsewhere = kernel.kernel.ptr
        assert elsewhere != kernel.kernel.ptr


def test_a_module_that_does_not_compile(cp, stream):
    module = cp.RawModule(code='extern "C" __global__ void f(double* x) { x[0] = y; }')
    with pytest.raises(cp.cuda.compiler.CompileException, match="'y' was not declared"):
        module.get_function("f")
    good = cp.RawModule(code=SOURCE)
    with pytest.raises(cp.cuda.driver.CUDADriverError, match="named symbol not found"):
        good.get_function("absent")
