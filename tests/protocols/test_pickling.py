"""Pickles and copies."""

import copy
import os
import pickle
import subprocess
import sys
import threading
import tracemalloc

import numpy as np
import numpy.lib.recfunctions
import pytest

import lazyarray as la
from lazyarray.lazy import _share

ONE = la.cpu(1)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol):
    for x in (
        la.arange(6).reshape(2, 3),
        la.array(2.5, dtype="float32"),
        la.ones((3, 4), ctx=ONE).T[1:],
        la.zeros((2, 0)),
        la.array([1 + 2j, 3]),
    ):
        y = pickle.loads(pickle.dumps(x, protocol))
        assert type(y) is la.NDArray
        assert (y.dtype, y.shape, y.device) == (x.dtype, x.shape, x.device)
        np.testing.assert_array_equal(y.asnumpy(), x.asnumpy())
        assert y.var != x.var


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 1, 0), (2, 0, 1), (1, 2, 0)])
@pytest.mark.parametrize("step", [1, 2, -1])
@pytest.mark.parametrize("n", [4, 60])  # bytes that are copied, or kept
def test_pickled_arrays_lie_as_numpys(protocol, axes, step, n):
    def there_and_back(xp):
        x = xp.arange(12 * n * n).reshape(2 * n, 1, 6 * n).transpose(axes)[::step]
        return x, pickle.loads(pickle.dumps(x, protocol))

    (given, got), (_, want) = there_and_back(la), there_and_back(np)
    np.testing.assert_array_equal(got.asnumpy(), given.asnumpy())
    assert _steps(got) == _steps(want)


def _steps(x):
    return [step for step, length in zip(x.strides, x.shape, strict=True) if length > 1]


@pytest.mark.parametrize("protocol", [2, 4])
@pytest.mark.parametrize("step", [1, 2])
def test_a_pickle_is_of_one_moment(protocol, step):
    """Another thread may write to the array between the pickler's steps, and while it copies."""
    x = la.zeros(100_000)[::step]
    make, arguments = x.__reduce_ex__(protocol)
    x += 1
    assert not make(*arguments).any()
    stop = threading.Event()

    def write():
        while not stop.is_set():
            x.__iadd__(1)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(100):
            y = pickle.loads(pickle.dumps(x, protocol))
            assert (y == y[0]).all()
    finally:
        stop.set()
        writer.join()


LARGE = {
    "rows": lambda: la.ones((300, 400)) * 2,
    "columns": lambda: (la.ones((300, 400)) * 2).T,
    "another device": lambda: la.ones((300, 400), ctx=ONE),
}
ON_HOST = [
    pytest.param(name, marks=[] if name == "another device" else pytest.mark.host) for name in LARGE
]


def memory(x):
    """NumPy's array on the memory of ``x``."""
    return np.asarray(x, copy=False)


def beside(x):
    """A pickle, and the buffers beside it."""
    buffers = []
    return pickle.dumps(x, 5, buffer_callback=buffers.append), buffers


@pytest.mark.parametrize("name", ON_HOST)
def test_buffers_beside_a_pickle_are_not_copied(name):
    """Neither as they are made, nor as an array is made on them: they are shared, as NumPy's."""
    x = LARGE[name]()
    told, (buffer,) = beside([x])
    assert len(told) < 500
    assert np.shares_memory(np.frombuffer(buffer, np.uint8), memory(x))
    received = memoryview(bytearray(buffer))
    (y,) = pickle.loads(told, buffers=[received])
    assert (y.shape, y.dtype, y.device) == (x.shape, x.dtype, x.device)
    assert y.flags.f_contiguous == x.flags.f_contiguous
    assert np.shares_memory(np.frombuffer(received, np.uint8), memory(y))
    z = y + 1
    np.frombuffer(received, x.dtype)[0] = 7  # whoever has the buffer may write to it ...
    assert y[0, 0] == 7 and z[0, 0] == x[0, 0] + 1  # ... after what was pushed before
    np.testing.assert_array_equal(y.asnumpy()[1:], x.asnumpy()[1:])


@pytest.mark.parametrize("n", [100, 400_000])
@pytest.mark.parametrize("step", [1, 2, -1])
def test_what_is_copied_goes_within_the_pickle(n, step):
    """As NumPy's: beside it, it may come as bytes, on which no array can be written to."""
    for xp in (np, la):
        told, buffers = beside(xp.arange(n)[::step])
        y = pickle.loads(told, buffers=[bytes(b) for b in buffers])
        assert (len(buffers), y.flags.writeable) == ((1, False) if step == 1 else (0, True))
        assert y.tolist() == list(range(n))[::step]


@pytest.mark.host
def test_buffers_that_can_not_be_written():
    """As NumPy's: an array on them is read-only, and copies nothing."""
    x = la.arange(100_000.0)
    told, (buffer,) = beside(x)
    y = pickle.loads(told, buffers=[bytes(buffer)])
    assert not y.flags.writeable and (y * 2).sum() == x.sum() * 2
    x.flags.writeable = False
    for protocol in (4, 5):
        want = pickle.loads(pickle.dumps(memory(x), protocol)).flags.writeable
        assert pickle.loads(pickle.dumps(x, protocol)).flags.writeable == want


@pytest.mark.parametrize("protocol", [4, 5])
@pytest.mark.parametrize("name", ["rows", "columns"])
@pytest.mark.host
def test_an_array_gets_the_memory_that_came_within_a_pickle(name, protocol):
    """It is alone in having it, so what is recorded on it may run later."""
    x = LARGE[name]()
    told = pickle.dumps([x, x + 1], protocol)
    before = allocations()
    y, z = pickle.loads(told)
    assert allocations() == before
    assert _share.export_count(y) == _share.export_count(z) == 0
    assert y.flags.writeable and y.flags.f_contiguous == x.flags.f_contiguous
    np.testing.assert_array_equal(y, x)
    np.testing.assert_array_equal(z, x + 1)
    in_use = la.storage.pool_stats()["in_use"]
    del y
    assert la.storage.pool_stats()["in_use"] <= in_use - x.nbytes


@pytest.mark.parametrize("holds", [list, lambda b: [memoryview(b[0])], lambda b: (c for c in b)])
@pytest.mark.host
def test_a_buffer_that_somebody_has_is_shared(holds):
    x = LARGE["rows"]()
    told, (buffer,) = beside([x])
    received = [bytearray(buffer)]
    (y,) = pickle.loads(told, buffers=holds(received))
    assert _share.export_count(y) == 1
    z = y * 2
    received[0][:8] = bytes(8)
    assert y[0, 0] == 0 and z[0, 0] == 4
    views = [memoryview(received.pop())]
    (y,) = pickle.loads(told, buffers=views)
    del x, z
    assert _share.export_count(y) == 1


def test_a_small_bytearray_is_copied():
    received = bytearray(100 * 8)
    told, _ = beside(la.arange(100.0))
    y = pickle.loads(told, buffers=[received])
    received[:] = b"x" * 800
    assert not y.any()


def test_memory_that_came_within_a_pickle_counts_for_the_limit():
    """Beyond it the array goes on sharing the buffer."""
    code = """
import pickle, numpy as np, lazyarray as la
from lazyarray.lazy import _share
told = pickle.dumps(la.ones(100_000), 5)
x = pickle.loads(told)
y = pickle.loads(told)
print(_share.export_count(x), _share.export_count(y), (x.sum() + y.sum()).item())
"""
    env = os.environ | {"LAZYARRAY_MEM_LIMIT": "1500000"}
    env["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env
    )
    assert done.stdout.split() == ["0", "1", "200000.0"]


@pytest.mark.parametrize("name", ON_HOST)
def test_pickling_copies_no_more_than_numpy(name):
    x = LARGE[name]()
    x.wait_to_read()
    for protocol in (4, 5):
        most = []
        for y in (x, memory(x)):
            tracemalloc.start()
            pickle.dumps(y, protocol)
            most.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        assert most[0] < most[1] + 10_000


def allocations():
    stats = la.storage.pool_stats()
    return stats["hits"] + stats["misses"]


@pytest.mark.host
def test_pickling_lends_the_memory_no_longer_than_it_takes():
    x = la.ones(100_000)
    pickle.dumps(x, 5)
    assert _share.export_count(x) == 0
    _, buffers = beside(x)
    assert _share.export_count(x) == 1
    del buffers
    assert _share.export_count(x) == 0


@pytest.mark.parametrize("protocol", [4, 5])
def test_gradients_are_pickled(protocol):
    for x in (la.ones((3, 4)), la.ones((30, 400)).T):
        x.attach_grad("add")
        with la.autograd.record():
            (x * x).sum().backward()
        y = pickle.loads(pickle.dumps(x, protocol))
        np.testing.assert_array_equal(y.grad, x.grad)
        with la.autograd.record():
            (y * 3).sum().backward()
        assert (y.grad == 5).all()


def test_copy_module():
    x = la.arange(3)
    for y in (copy.copy(x), copy.deepcopy(x), copy.deepcopy([x])[0]):
        y += 1
        assert x.asnumpy().tolist() == [0, 1, 2] and y.asnumpy().tolist() == [1, 2, 3]


def test_pickles_name_no_file_of_ours():
    """They outlive where things stand."""
    told = pickle.dumps(la.ones(3), 0)
    assert b"clazyarray\n_rebuild\n" in told and b"protocols" not in told
    assert pickle.loads(told).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "laid",
    [
        (None, bytearray(24), "O", (3,), False),
        (None, bytearray(24), "S8", (3,), False),
        (None, bytearray(24), "f8", (4,), False),
        (None, bytearray(24), "f8", (-3,), False),
        (None, bytearray(24), "f8", None, False),
        (None, memoryview(bytes(24)), "O", (3,), False),
        (None, 3, "f8", (3,), False),
        (None, bytearray(24), "no", (3,), False),
        (7, bytearray(24), "f8", (3,), False),
        (None, bytearray(24)),
    ],
)
def test_what_no_array_was_pickled_as(laid):
    with pytest.raises((TypeError, ValueError, AttributeError)):
        la._on_buffer(laid, la.cpu(0))


def test_another_byte_order():
    received = np.arange(3.0).astype(">f8")
    for buffer in (bytearray(received), memoryview(received.tobytes())):
        x = la._on_buffer((None, buffer, ">f8", (3,), False), la.cpu(0))
        assert x.tolist() == [0, 1, 2]


def test_a_gpu_that_is_not_there():
    """It ended the process."""
    told = la.ones(3).__reduce__()[1]
    with pytest.raises(RuntimeError, match=r"gpu\(63\)"):
        la._rebuild(told[0], la.Context("gpu", 63))
    with pytest.raises(RuntimeError, match=r"gpu\(63\)"):
        la._on_buffer((None, bytearray(24), "f8", (3,), False), la.Context("gpu", 63))
