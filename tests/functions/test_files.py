"""Reading and writing in NumPy's formats: the same arrays, the same bytes."""

import gc
import io
import threading
import weakref

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import check, same

TABLE = "# head\n1, 2.5, 3\n4, nan, 6\n"


VALUES = np.arange(4.0).tobytes()


def test_frombuffer_shares_what_can_be_written():
    memory = bytearray(VALUES)
    x = la.frombuffer(memory)
    x += 1
    assert np.frombuffer(memory)[3] == 4
    memory[:8] = bytes(8)
    assert x[0] == 0 and x.flags.writeable and not x.flags.owndata
    with pytest.raises(BufferError):  # the array keeps the memory where it is
        memory.clear()
    late = la.frombuffer(memory, count=2, offset=16)
    assert la.shares_memory(late, x) and late.var == x.var
    late[:] = 7
    assert x.tolist() == [0, 2, 7, 7]
    del x, late
    memory.clear()


def test_frombuffer_of_a_part_first():
    memory = bytearray(VALUES)
    part, x = la.frombuffer(memory, offset=8), la.frombuffer(memory)
    assert part.var == x.var and la.shares_memory(part, x)


@pytest.mark.parametrize("given", [(), (np.int64,), ("u1",), (np.dtype("f4"),), (float, 2, 8),
                                   (float, -1, 16), ("i4", 3, 4)])  # fmt: skip
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, np.asarray])
def test_frombuffer_is_a_view(kind, given):
    memory = np.frombuffer(VALUES) if kind is np.asarray else kind(VALUES)
    x, host = la.frombuffer(memory, *given), np.frombuffer(memory, *given)
    same(x, host)
    assert x.flags.writeable == host.flags.writeable == (kind is bytearray)
    assert la.shares_memory(x, host) and la.shares_memory(x, la.frombuffer(memory, "u1"))
    assert x.var == la.frombuffer(memory).var
    assert np.shares_memory(np.asarray(x, copy=False), host)


@pytest.mark.parametrize("memory", [VALUES, memoryview(VALUES), np.frombuffer(VALUES)])
def test_frombuffer_cannot_be_written_where_the_buffer_cannot(memory):
    x = la.frombuffer(memory)
    with pytest.raises(ValueError, match="read-only"):
        x += 1
    for write in (lambda v: v.__setitem__(0, 1.0), lambda v: la.add(v, 1, out=v),
                  lambda v: v.sort(), lambda v: v.fill(1), lambda v: v.put([0], 1),
                  lambda v: v.flat.__setitem__(0, 1),
                  lambda v: np.asarray(v, copy=False).__setitem__(0, 1),
                  lambda v: la.random.shuffle(v)):  # fmt: skip
        for view in (x, x[1:], x.reshape(2, 2), x.view("i8"), x.base):
            with pytest.raises(ValueError):
                write(view)
    with pytest.raises(ValueError, match="cannot set WRITEABLE flag to True of this array"):
        x.setflags(write=True)
    with pytest.raises(ValueError, match="cannot set WRITEABLE flag to True of this array"):
        x[1:].flags.writeable = True
    seen = []
    look = lambda run: seen.append(run.numpy(x).flags.writeable)  # noqa: E731
    la.engine.get().push_sync(look, la.cpu(), [], [x.var])
    x.wait_to_read()
    assert seen == [False] and bytes(memory) == VALUES


def test_frombuffer_later_imported_by_who_may_write():
    memory = bytearray(VALUES)
    x = la.frombuffer(memoryview(memory).toreadonly())
    with pytest.raises(ValueError):
        x.setflags(write=True)
    y = la.frombuffer(memory)
    y[0] = 5
    assert x[0] == 5 and not x.flags.writeable and x.var == y.var


def test_frombuffer_of_bytes_runs_as_other_arrays():
    memory = np.arange(100_000.0).tobytes()
    x = la.frombuffer(memory)
    gate = threading.Event()
    blocker = la.zeros(100_000)
    la.engine.get().push_sync(lambda run: gate.wait(10), la.cpu(), [], [blocker.var])
    y = x + blocker  # would wait for ever if ops on the memory had to be over
    del x
    gate.set()
    del memory
    np.testing.assert_array_equal(y.asnumpy(), np.arange(100_000.0))


def test_frombuffer_keeps_the_buffer():
    class Memory(bytearray):
        pass

    memory = Memory(VALUES)
    alive = weakref.ref(memory)
    x = la.frombuffer(memory)[1:]
    del memory
    gc.collect()
    assert alive() is not None and x.tolist() == [1, 2, 3]
    del x
    gc.collect()
    assert alive() is None


def test_frombuffer_where_ops_cannot_run():
    for dtype in ("f8", ">f8"):  # not aligned; the other byte order
        x = la.frombuffer(b"x" + VALUES, dtype, offset=1)
        assert np.array_equal(x.asnumpy(), np.frombuffer(VALUES, dtype)) and not x.flags.writeable
    x = la.ndarray((2, 2), "f8", VALUES)
    assert not x.flags.writeable and la.shares_memory(x, la.frombuffer(VALUES))


def test_frombuffer_errors():
    check("frombuffer", b"abcdef", "u2", 1, 2)
    check("frombuffer", b"abc", "u2")
    check("frombuffer", b"")
    check("frombuffer", VALUES, float, 5)
    check("frombuffer", VALUES, float, -1, 33)
    check("frombuffer", [1.0])
    check("frombuffer", memoryview(VALUES)[::2])


def test_fromfile(tmp_path):
    file = tmp_path / "data"
    np.arange(6, dtype="i4").tofile(file)
    check("fromfile", file, "i4")
    check("fromfile", str(file), dtype="i4", count=2, offset=4)
    check("fromfile", tmp_path / "none")
    file.write_text("1;2;3")
    check("fromfile", file, float, sep=";")


def test_from_text_and_iterators():
    check("fromstring", "1 2", sep=" ")
    check("fromstring", "1,2,3", dtype="i2", count=2, sep=",")
    check("fromiter", range(5), "f4")
    check("fromiter", range(5), int, 3)
    check("fromiter", range(2), int, 3)
    with pytest.raises(TypeError):
        la.fromstring("1 2")
    same(la.fromiter(iter(la.arange(3.0)), float), np.arange(3.0))


@pytest.mark.filterwarnings("ignore:Input line")
@pytest.mark.parametrize(
    "kwargs",
    [
        {"delimiter": ","},
        {"delimiter": ",", "usecols": 0, "dtype": int},
        {"delimiter": ",", "unpack": True, "skiprows": 1},
        {"delimiter": ",", "max_rows": 1, "ndmin": 2},
        {"delimiter": ",", "converters": {0: lambda s: float(s) * 2}},
        {},
    ],
)
def test_loadtxt(kwargs):
    check("loadtxt", TABLE.splitlines(), strides=False, **kwargs)


def test_genfromtxt():
    check("genfromtxt", ["1,2", "3,"], delimiter=",")
    check("genfromtxt", ["1,2", ",4"], int, delimiter=",", filling_values=-1)
    check("genfromtxt", TABLE.splitlines(), delimiter=",", skip_header=1, usecols=(0, 2))


def test_savetxt():
    a = np.arange(6.0).reshape(2, 3) / 3
    for kwargs in ({}, {"fmt": "%.2f", "delimiter": ";", "header": "h", "footer": "f"}):
        want, got = io.StringIO(), io.StringIO()
        np.savetxt(want, a, **kwargs)
        la.savetxt(got, la.array(a), **kwargs)
        assert got.getvalue() == want.getvalue()
    with pytest.raises(ValueError):
        la.savetxt(io.StringIO(), la.ones((2, 2, 2)))


@pytest.mark.parametrize("name", ["savez", "savez_compressed"])
def test_savez(name, tmp_path):
    getattr(la, name)(tmp_path / "a", la.arange(3), [1, 2], k=la.ones((2, 2)) * 2)
    with np.load(tmp_path / "a.npz") as found:
        assert sorted(found) == ["arr_0", "arr_1", "k"]
        np.testing.assert_array_equal(found["k"], np.full((2, 2), 2.0))
    assert sorted(la.load(tmp_path / "a.npz")) == ["arr_0", "arr_1", "k"]
    with la.no_sync(), pytest.raises(RuntimeError, match=name):
        getattr(la, name)(io.BytesIO(), la.ones(2) * 2)


def test_like_decides_the_device():
    like = la.ones(1, device=la.cpu(1))
    for x in (
        la.fromiter(range(2), int, like=like),
        la.fromstring("1", sep=" ", like=like),
        la.loadtxt(["1"], like=like),
        la.frombuffer(b"12345678", like=like),
        la.fromfunction(lambda i: i, (2,), like=like),
        la.eye(2, like=like),
        la.tri(2, like=like),
        la.identity(2, like=like),
    ):
        assert x.device == la.cpu(1)
