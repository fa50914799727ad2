"""Where arrays lie: copies between devices, buffers of others, who shares memory."""

import gc
import threading
import weakref

import numpy as np
import numpy.lib.recfunctions
import pytest

import lazyarray as la

from ..ops.compare import check, same

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
    blocker = la.zeros(100_000, ctx=la.cpu())
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


ONE = la.cpu(1)
naive = isinstance(la.engine.get(), la.engine.NaiveEngine)
asynchronous = pytest.mark.skipif(naive, reason="the naive engine runs each op at the call")


# ---- devices ------------------------------------------------------------------------------------


def test_copyto_an_array():
    x, y = la.arange(6.0).reshape(2, 3), la.zeros((2, 3))
    assert x.copyto(y) is y
    x += 1
    assert y.asnumpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    z = la.zeros((2, 3), "int8")
    (x / 2).copyto(z)  # cast as by assignment
    assert z.asnumpy().tolist() == [[0, 1, 1], [2, 2, 3]]
    with pytest.raises(ValueError, match=r"\(2, 3\).*\(3, 2\)"):
        x.copyto(la.zeros((3, 2)))
    with pytest.raises(ValueError, match=r"\(3,\)"):
        la.ones(3).copyto(la.zeros((2, 3)))  # no broadcasting
    with pytest.raises(TypeError):
        x.copyto(None)
    with pytest.raises(TypeError):
        x.copyto(np.zeros((2, 3)))
    x.copyto(x)
    view = la.arange(6)
    view[:5].copyto(view[1:])  # overlapping
    assert view.asnumpy().tolist() == [0, 0, 1, 2, 3, 4]


@pytest.mark.parametrize("n", [3, 100000])
def test_copyto_other_devices(n):
    x = la.arange(n)
    x = x + 1
    y = x.copyto(ONE)
    assert y.device == ONE and x.device == la.current_context()
    y += 1
    back = y.copyto(la.cpu(0))
    np.testing.assert_array_equal(back.asnumpy(), np.arange(n) + 2)
    to = la.zeros(n, "float32", ctx=ONE)
    back.copyto(to)
    back *= 0  # after the copy
    np.testing.assert_array_equal(to.asnumpy(), np.arange(n, dtype="float32") + 2)
    part = la.zeros((n, 2), ctx=la.cpu(2))
    x.copyto(part[:, 1])
    np.testing.assert_array_equal(part.asnumpy()[:, 1], np.arange(n) + 1)
    same = x.copyto(la.cpu(0))
    assert same is not x and same.var != x.var
    turned = la.arange(6).reshape(2, 3).T.copyto("cpu:1")
    assert turned.strides == np.arange(6).reshape(2, 3).T.copy("K").strides
    assert turned.asnumpy().tolist() == [[0, 3], [1, 4], [2, 5]]


@asynchronous
def test_copyto_is_pushed_not_run():
    gate = threading.Event()
    x = la.zeros(4)
    la.engine.get().push_sync(lambda ctx: gate.wait(10), la.cpu(0), mutable_vars=[x.var])
    y = x.copyto(ONE)
    z = y + 1
    assert not gate.is_set()
    gate.set()
    assert z.asnumpy().tolist() == [1] * 4


def test_errors_cross_devices():
    if naive:
        pytest.skip("the naive engine raises at the call")
    bad = la.array([1, 2]) ** la.array([-1, 2])
    moved = bad.copyto(ONE)
    with pytest.raises(ValueError, match="negative integer powers"):
        (moved + 1).asnumpy()


def test_long_chains_over_devices_equal_numpy():
    rng = np.random.default_rng(0)
    host = rng.normal(size=50)
    x = la.array(host)
    for i in range(200):
        device = la.cpu(int(rng.integers(3)))
        x = x.to_device(device)
        x = x * 0.5 + i
        host = host * 0.5 + i
    np.testing.assert_array_equal(x.asnumpy(), host)


def test_to_device_and_as_in_context():
    x = la.ones(3)
    here = la.current_context()
    assert x.to_device(here) is x and x.as_in_context(here) is x
    y = x.as_in_context(ONE)
    assert y.ctx == y.context == y.device == ONE
    assert y.to_device("cpu:1") is y
    assert y.to_device("cpu").device == la.cpu(0)
    with pytest.raises(RuntimeError, match=r"gpu\(9\)"):
        x.to_device("gpu:9")
    with pytest.raises(TypeError):
        x.to_device(None)
    with pytest.raises(TypeError):
        x.as_in_context(1)


def test_mixed_devices_raise_and_name_both():
    x, y = la.ones((2, 2)), la.ones((2, 2), ctx=ONE)
    for mix in (
        lambda: x + y,
        lambda: y + x,
        lambda: x @ y,
        lambda: la.where(x > 0, x, y),
        lambda: la.add(x, y),
        lambda: x.__iadd__(y),
        lambda: x.__setitem__(0, y[0]),
        lambda: la.concatenate([x, y]),
        lambda: la.add(x, x, out=y),
        lambda: la.sum(x, where=y > 0),
        lambda: np.maximum(x, y),
    ):
        with pytest.raises(ValueError, match=r"pu\(0\).*cpu\(1\)|cpu\(1\).*pu\(0\)"):
            mix()
    np.testing.assert_array_equal((y + np.ones((2, 2)) + 1 + [1, 2]).asnumpy(), [[4, 5], [4, 5]])
    assert (y + np.ones(2)).device == ONE


# ---- who shares memory --------------------------------------------------------------------------


def both(a, b):
    """What each of the four functions says; they agree."""
    found = {bool(f(a, b)) for f in (la.shares_memory, np.shares_memory)}
    found |= {bool(f(b, a)) for f in (la.shares_memory, np.shares_memory)}
    assert len(found) == 1
    if found == {True}:
        assert la.may_share_memory(a, b) and np.may_share_memory(b, a)
    return found.pop()


def test_imported_memory_is_shared_with_its_owner():
    host = np.arange(12.0)
    x = la.from_dlpack(host)
    assert both(x, host) and both(x[2:], host[:3]) and not both(x[3:], host[:3])
    assert not both(x[::2], host[1::2]) and la.may_share_memory(x[::2], host[1::2])
    assert both(la.from_dlpack(host[4:8]), x) and not both(la.from_dlpack(host[8:]), x[:8])
    assert not both(x, np.arange(12.0)) and not both(x.copy(), host) and not both(x + 1, host)
    data = bytearray(16)
    a, b = la.frombuffer(data, "u1"), la.frombuffer(data, "f8", offset=8, count=1)
    assert both(a, b) and both(a[:9], b) and not both(a[:8], b)
    assert both(a, np.frombuffer(data, "u1")) and la.shares_memory(a, memoryview(data))


@pytest.mark.host  # NumPy's arrays on our memory
def test_exported_memory_is_shared_with_its_array():
    x = la.arange(12.0).reshape(3, 4)
    for host in (np.asarray(x, copy=False), np.from_dlpack(x), np.asarray(x[1], copy=False)):
        assert both(x, host) and both(x[1], host) and not both(x.copy(), host)
    assert not both(x[0], np.asarray(x[1], copy=False))
    assert not both(x, np.asarray(x)) and not both(x, x.asnumpy())
    assert not both(la.empty(3), np.empty(3)) and not both(x, [1, 2])
