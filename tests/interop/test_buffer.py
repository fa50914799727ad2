"""The buffer protocol: who reads bytes reads an array's memory; NumPy goes on making copies."""

import array
import base64
import ctypes
import gc
import gzip
import hashlib
import io
import os
import struct
import sys
import threading
import wave
import zipfile
import zlib

import numpy as np
import pytest

import lazyarray as la
from lazyarray.lazy import _share

pytestmark = pytest.mark.host
naive = isinstance(la.engine.get(), la.engine.NaiveEngine)
asynchronous = pytest.mark.skipif(naive, reason="the naive engine raises at the call")

CALLS = {
    "bytes": "bytes(x)",
    "bytes of a scalar": "bytes(x[1])",
    "bytes of what is not contiguous": "bytes(z.T)",
    "hashlib": "hashlib.sha256(x).hexdigest()",
    "zlib": "zlib.crc32(x)",
    "compress": "zlib.decompress(zlib.compress(x))",
    "base64": "base64.b64encode(x)",
    "struct": "struct.unpack_from('3d', x, 8)",
    "int": "int.from_bytes(x.view('u1')[:8], 'little')",
    "join": "b''.join([x, z])",
    "array": "array.array('d', x.tobytes())",
    "BytesIO": "written(x)",
    "data": "x.data.tolist()",
    "memoryview of data": "memoryview(x.data).nbytes",
    "frombuffer": "np.frombuffer(x.data, 'u1')",
    "ndarray on it": "np.ndarray((2, 2), float, x.data, 8)",
    "compare": "bytes(x) == x.tobytes()",
    "os.write": "piped(x)",
    "text": "str(s, 'ascii')",
}
MODULES = {m.__name__: m for m in (array, base64, hashlib, struct, zlib)} | {"np": np}


def written(x):
    file = io.BytesIO()
    file.write(x)
    return file.getvalue()


def piped(x):
    r, w = os.pipe()
    try:
        os.write(w, x)
        return os.read(r, 1000)
    finally:
        os.close(r)
        os.close(w)


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    def value(xp):
        x = xp.linspace(0, 1, 6) * 3
        names = {"x": x, "z": x.reshape(2, 3), "s": xp.array([104, 105], dtype="u1")}
        return eval(CALLS[name], MODULES | names | {"written": written, "piped": piped})

    np.testing.assert_array_equal(value(la), value(np))


def test_numpy_copies_as_before():
    x = la.arange(3.0)
    for make in (np.asarray, np.array, lambda a: np.asarray(a, np.float64), np.ascontiguousarray):
        host = np.asarray(make(x))
        host[0] = 7
        assert host.flags.writeable and x[0] == 0 and _share.export_count(x) == 0
    assert np.asarray([x, x]).tolist() == [[0, 1, 2]] * 2
    shared = np.asarray(x, copy=False)
    shared[0] = 9
    assert x[0] == 9 and _share.export_count(x) == 1
    with pytest.raises(BufferError, match=r"x\.data"):  # it would give back what it goes on using
        np.ndarray((1,), "u1", x)
    # Read by its name it is there, and lends the memory for good; not for NumPy in the same code.
    address = x.__array_interface__["data"][0]
    assert address == shared.ctypes.data and not np.shares_memory(np.asarray(x), shared)
    assert getattr(x, "__array_interface__", None) is None


def test_who_names_a_memoryview_gets_one():
    x = la.arange(3.0)
    view = memoryview(x)
    assert view.tolist() == [0, 1, 2] and view.format == "d" and _share.export_count(x) == 1
    view[1] = 7.0
    x += 1
    assert x.tolist() == [1, 8, 3] and view.tolist() == [1, 8, 3]
    host = np.asarray(x)  # the price: here it is a view
    x += 1
    assert host.tolist() == [2, 9, 4]
    del view, host
    assert _share.export_count(x) == 0
    assert bytearray(x) == x.tobytes()
    lent = np.frombuffer(x)
    lent[0] = 5
    assert x[0] == 5 and _share.export_count(x) == 1
    del lent
    assert _share.export_count(x) == 0
    fixed = la.zeros(3)
    fixed.setflags(write=False)
    assert memoryview(fixed).readonly
    with pytest.raises(TypeError, match="contiguous"):
        memoryview(la.ones((2, 3)).T).cast("B")


def test_writers_of_the_standard_library():
    x, file = la.arange(300, dtype="i2"), io.BytesIO()
    with gzip.open(file, "wb") as out:
        out.write(x)
    assert gzip.decompress(file.getvalue()) == x.tobytes()
    with zipfile.ZipFile(io.BytesIO(), "w") as archive:
        archive.writestr("x", x)
        assert archive.read("x") == x.tobytes()
    with wave.open(io.BytesIO(), "wb") as sound:
        sound.setparams((1, 2, 8000, 0, "NONE", ""))
        sound.writeframes(x)
        assert sound.tell() == 300
    assert list((ctypes.c_short * 300).from_buffer(x)) == x.tolist()
    assert _share.export_count(x) <= 1


def test_as_strided_of_numpys_gets_the_memory_itself():
    h = np.arange(12.0).reshape(3, 4)
    x = la.array(h)
    for a, b in ((x, h), (x[:, ::2], h[:, ::2]), (x.T, h.T), (x[1:, 1:], h[1:, 1:])):
        steps = (*b.strides, b.strides[-1])
        shape = (*b.shape[:-1], b.shape[-1] - 1, 2)
        got = np.lib.stride_tricks.as_strided(a, shape, steps)
        np.testing.assert_array_equal(got, np.lib.stride_tricks.as_strided(b, shape, steps))
    view = np.lib.stride_tricks.as_strided(x[:, 0], (3,), (8,))
    view[1] = -1
    assert x[0, 1] == -1
    assert la.lib.stride_tricks.as_strided(x, (2,), (8,)).tolist() == [0, -1]


def test_reading_into_arrays():
    x = la.zeros(3)
    assert io.BytesIO(np.arange(3.0).tobytes()).readinto(x) == 24
    assert x.tolist() == [0, 1, 2]
    struct.pack_into("d", x, 8, 5.0)
    assert x.tolist() == [0, 5, 2]
    x += 1
    part = x[1:]
    io.BytesIO(np.full(2, 8.0).tobytes()).readinto(part)
    assert x.tolist() == [1, 8, 8]
    fixed = la.zeros(3)
    fixed.setflags(write=False)
    with pytest.raises(
        (BufferError, TypeError, ValueError), match=r"read-write|read-only|writable"
    ):
        io.BytesIO(b"12345678").readinto(fixed)
    with pytest.raises((TypeError, BufferError)):
        io.BytesIO(b"12345678").readinto(x[1])
    with pytest.raises((BufferError, ValueError), match="contiguous"):
        hashlib.sha256(la.ones((2, 3)).T)


@asynchronous
def test_what_is_pending_is_waited_for_and_errors_are_raised():
    x = la.ones(1_000_000)
    assert zlib.crc32(x * 2 + 1) == zlib.crc32(np.full(1_000_000, 3.0))
    bad = la.array([1, 2]) ** la.array([-1, 2])
    with pytest.raises(ValueError, match="negative integer powers"):
        hashlib.sha256(bad)
    with la.no_sync(), pytest.raises(RuntimeError, match="no_sync"):
        hashlib.sha256(la.ones(2))
    gc.collect()
    assert _share.export_count(bad) == 0


def test_while_it_is_lent_operations_end_before_their_line():
    x = la.zeros(100_000)
    lent = np.frombuffer(x.data)
    assert _share.export_count(x) == 1
    for i in range(20):
        x += 1
        assert lent[-1] == i + 1
    y = x * 2
    lent[0] = 7  # y had been read from before
    assert y[0] == 40 and x[0] == 7
    x.shape = (100, 1000)
    assert lent.shape == (100_000,)
    del lent
    gc.collect()
    assert _share.export_count(x) == 0


def test_nothing_is_left_behind():
    x = la.ones(10)
    hashlib.sha256(x)
    before = sys.getrefcount(None), sys.getrefcount(x)
    for _ in range(2000):
        hashlib.sha256(x)
        memoryview(x)
        with pytest.raises(BufferError):
            np.ndarray((1,), "u1", x)
    assert abs(sys.getrefcount(None) - before[0]) < 1000 and sys.getrefcount(x) == before[1]
    assert _share.export_count(x) == 0


def test_bytes_and_arrays_are_not_added():
    b = b"a"
    with pytest.raises(TypeError):
        b + la.ones(2)
    with pytest.raises(TypeError):
        b += la.ones(2)
    with pytest.raises(TypeError):
        la.ones(2) + b
    for xp in (la, np):  # which to NumPy is a sequence of numbers
        assert (
            (bytearray(b) + xp.ones(2)).tolist() == (xp.ones(2) + bytearray(b)).tolist() == [98, 98]
        )


def test_threads_lend_while_others_write():
    x = la.zeros(1000)
    seen, stop = [], threading.Event()

    def reader():
        while not stop.is_set():
            values = set(np.frombuffer(x.data).tolist())
            seen.append(len(values))

    thread = threading.Thread(target=reader)
    thread.start()
    for _ in range(300):
        x += 1
    stop.set()
    thread.join()
    assert x[0] == 300 and x[-1] == 300 and seen


def test_a_class_of_the_users():
    class Mine(la.NDArray):
        pass

    x = Mine((3,))
    x[:] = 2
    assert hashlib.sha256(x).digest() == hashlib.sha256(np.full(3, 2.0)).digest()
    assert np.asarray(x).tolist() == [2, 2, 2]
    assert memoryview(x).tolist() == [2, 2, 2]


def test_bytes_of_an_integer_are_so_many_zeros():
    for xp in (np, la):
        n = xp.arange(5)
        assert bytes(n[3]) == bytes(xp.array(3)) == b"\0\0\0"
        assert bytes(n[:2]) == np.arange(2).tobytes()
        assert bytes(xp.array([True])[0]) == b"\1"
        assert bytes(xp.array([3.0])[0]) == np.float64(3).tobytes()
