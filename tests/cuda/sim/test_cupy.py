"""The stand-in for CuPy: arrays in device memory that CuPy's own rules hold for."""

import importlib
import os
import sys
import threading

import numpy as np
import pytest

from . import ROOM, cache
from .private import copy_of_driver


@pytest.fixture(scope="module")
def cp(tmp_path_factory):
    """The package on a driver of its own; whatever `cupy` there is comes back behind the tests."""

    def take_out():
        names = [n for n in sys.modules if n.split(".")[0] in ("cupy", "cupyx")]
        return {name: sys.modules.pop(name) for name in names}

    library = copy_of_driver(tmp_path_factory.mktemp("driver"))
    before = take_out()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAZYARRAY_CUDA_DRIVER", str(library))
        patch.setenv("LAZYARRAY_SIM_CACHE", str(cache()))
        patch.syspath_prepend(str(ROOM))
        assert os.environ["LAZYARRAY_CUDA_DRIVER"] == str(library)
        package = importlib.import_module("cupy")
        package._sim.set_mode("lazy")
        package._driver.lib.sim_check_hazards(0)
        yield package
        take_out()
        sys.modules.update(before)


@pytest.fixture
def stream(cp):
    made = cp.cuda.Stream(non_blocking=True)
    with made:
        yield made


def same(found, expected):
    """An array of the device, with NumPy's elements and type."""
    assert type(found).__name__ == "ndarray"
    assert type(found).__module__ == "cupy"
    expected = np.asarray(expected)
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    np.testing.assert_array_equal(found.get(), expected)
    return True


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


# --- functions ---

CALLS = [
    ("sort", lambda m, a: m.sort(a[::-1], axis=0)),
    ("argsort", lambda m, a: m.argsort(a, axis=-1)),
    ("matmul", lambda m, a: m.matmul(a, a.T)),
    ("einsum", lambda m, a: m.einsum("ij,kj->ik", a, a)),
    ("cumsum", lambda m, a: m.cumsum(a, axis=1)),
    ("where", lambda m, a: m.where(a > 3, a, 0.0)),
    ("concatenate", lambda m, a: m.concatenate([a, a], axis=1)),
    ("stack", lambda m, a: m.stack((a, a))),
    ("max", lambda m, a: m.max(a, axis=0, keepdims=True)),
    ("mean", lambda m, a: m.mean(a)),
    ("clip", lambda m, a: m.clip(a, 2, 5)),
    ("fft", lambda m, a: m.fft.fft(a)),
    ("norm", lambda m, a: m.linalg.norm(a)),
    ("solve", lambda m, a: m.linalg.solve(a[:, :3] + m.eye(3), a)),
    ("searchsorted", lambda m, a: m.searchsorted(a[0], a[1])),
    ("full_like", lambda m, a: m.full_like(a, 3)),
    ("arange", lambda m, a: m.arange(1, 7, 2)),
    ("pad", lambda m, a: m.pad(a, 1)),
    ("array_equal", lambda m, a: m.array_equal(a, a)),
    ("reshape", lambda m, a: m.reshape(a, (4, 3))),
    ("add", lambda m, a: m.add(a, 1.5)),
    ("sqrt", lambda m, a: m.sqrt(a)),
    ("power", lambda m, a: 2 ** (a - 1) / 3),
    ("compare", lambda m, a: (a > 2) & ~(a == 4)),
    ("reduce", lambda m, a: m.add.reduce(a, axis=1)),
    ("sum", lambda m, a: a.sum(axis=0)),
    ("take", lambda m, a: a.take(m.asarray([0, 2]), axis=1)),
]


@pytest.mark.parametrize(("name", "call"), CALLS, ids=[name for name, _ in CALLS])
def test_functions(cp, stream, name, call):
    host = np.arange(12.0).reshape(3, 4)
    assert same(call(cp, cp.asarray(host)), call(np, host))


def test_functions_that_give_several(cp, stream):
    host = np.array([3.0, 1.0, 3.0])
    for found, expected in zip(
        cp.unique(cp.asarray(host), return_counts=True),
        np.unique(host, return_counts=True),
        strict=True,
    ):
        assert same(found, expected)
    q, r = cp.linalg.qr(cp.asarray(np.eye(3)))
    assert same(cp.abs(q @ r), np.eye(3))


def test_numpy_s_functions_come_here(cp, stream):
    host = np.array([3.0, 1.0, 2.0])
    made = cp.asarray(host)
    assert same(np.sort(made), np.sort(host))
    assert same(np.add(made, made), host + host)
    assert same(np.linalg.norm(made), np.linalg.norm(host))
    assert same(np.add.reduce(made), host.sum())
    out = cp.asarray(np.zeros(3))
    assert np.multiply(made, 2.0, out=out) is out
    assert same(out, host * 2)
    np.copyto(out, made)
    assert same(out, host)
    np.add.at(out, cp.asarray([0, 0]), 1.0)
    assert same(out, [5.0, 1.0, 2.0])


@pytest.mark.parametrize(
    "call",
    [
        lambda a: np.sort(a, stable=True),
        lambda a: np.sum(a, initial=3),
        lambda a: np.max(a, where=True),
        lambda a: np.take(a, [0], mode="clip"),
        lambda a: np.vecdot(a, a),
        lambda a: np.spacing(a),
        lambda a: np.insert(a, 0, 0),
        lambda a: np.add(a, a, order="K"),
        lambda a: np.fft.fft(a, out=a),
        lambda a: np.linalg.svdvals(a),
        lambda a: np.lib.stride_tricks.as_strided(a, (2,), (8,)),
    ],
)
def test_what_cupy_lacks_is_refused(cp, stream, call):
    with pytest.raises(TypeError):
        call(cp.asarray(np.arange(4.0)))


@pytest.mark.parametrize("method", ["reduce", "accumulate", "at"])
def test_methods_that_ufuncs_of_cupy_lack(cp, stream, method):
    made = cp.asarray(np.arange(4.0))
    with pytest.raises(NotImplementedError, match=f"`cupy_hypot.{method}` is not supported yet"):
        getattr(cp.hypot, method)(made, *([0, 1.0] if method == "at" else []))


def test_indices_out_of_bounds_go_round(cp, stream):
    made = cp.asarray(np.arange(4.0))
    assert same(made[cp.asarray([5, -5])], [1.0, 3.0])
    assert same(cp.take(made, cp.asarray([4, 7])), [0.0, 3.0])
    made[cp.asarray([6])] = 9
    assert same(made, [0.0, 1.0, 9.0, 3.0])
    with pytest.raises(IndexError):
        made[4]


def test_solvers_report_nothing_unless_asked(cp, stream):
    cupyx = importlib.import_module("cupyx")
    singular = cp.asarray(np.zeros((2, 2)))
    assert np.isnan(cp.linalg.inv(singular).get()).all()
    assert np.isnan(cp.linalg.solve(singular, singular).get()).all()
    with cupyx.errstate(linalg="raise"), pytest.raises(np.linalg.LinAlgError):
        cp.linalg.inv(singular)
    with pytest.raises(np.linalg.LinAlgError):
        cp.linalg.inv(cp.asarray(np.zeros((2, 3))))


def test_random_numbers(cp, stream):
    for bits in (cp.random.XORWOW, cp.random.Philox4x3210):
        first, second = (cp.random.Generator(bits(5)) for _ in range(2))
        drawn = first.random((3, 4), dtype=np.float32)
        assert same(drawn, second.random((3, 4), dtype=np.float32).get())
        assert drawn.dtype == np.float32
        out = cp.ndarray((7,), "f8")
        assert first.standard_normal(out=out) is out
        assert same(out, second.standard_normal(7).get())
        whole = first.integers(2, 5, size=100).get()
        assert set(whole.tolist()) == {2, 3, 4}


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
        del kept  # a free block of the pool: it makes room
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
