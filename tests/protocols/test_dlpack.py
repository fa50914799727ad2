"""DLPack: memory lent and borrowed, errors, order of ops."""

import array
import gc
import mmap
import time
import weakref

import numpy as np
import numpy.lib.recfunctions
import pytest

import lazyarray as la
from lazyarray.lazy import _share

ONE = la.cpu(1)
naive = isinstance(la.engine.get(), la.engine.NaiveEngine)
asynchronous = pytest.mark.skipif(naive, reason="the naive engine runs each op at the call")


@pytest.mark.host
def test_exports_share_memory():
    x = la.arange(6.0).reshape(2, 3)
    view = np.from_dlpack(x)
    view[0, 0] = 7
    assert x.asnumpy()[0, 0] == 7
    x += 1
    assert view[0, 0] == 8  # at once
    part = np.from_dlpack(x.T[1:])
    assert part.strides == x.T[1:].strides and part[0, 0] == x.asnumpy()[0, 1]
    part[...] = 0
    np.testing.assert_array_equal(x.asnumpy(), [[8, 0, 0], [4, 0, 0]])
    shared = np.asarray(x, copy=False)
    shared[0, 0] = 1
    assert view[0, 0] == 1
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(x, dtype="float32", copy=False)
    copied = np.from_dlpack(x, copy=True)
    copied[...] = 5
    assert x.asnumpy()[0, 0] == 1
    for dtype in "?bBhHiIlLqQefdFD":
        y = la.ones(3, dtype)
        assert np.from_dlpack(y).dtype == y.dtype


@pytest.mark.host
def test_the_count_of_exports():
    x = la.ones(4)
    assert _share.export_count(x) == 0
    a, b = np.from_dlpack(x), np.asarray(x[1:], copy=False)
    inner = a[::2]
    assert _share.export_count(x) == _share.export_count(x[2:]) == 2
    del a
    assert _share.export_count(x) == 2  # `inner` sees the memory still
    del inner, b
    gc.collect()
    assert _share.export_count(x) == 0
    kept = np.from_dlpack(la.arange(4) * 2)  # the memory outlives the array
    assert kept.tolist() == [0, 2, 4, 6]
    x.__dlpack__()  # a capsule that nobody takes
    assert _share.export_count(x) == 0


@pytest.mark.host
@pytest.mark.parametrize("n", [10, 2_000_000])
def test_ops_on_exported_memory_end_before_their_push(n):
    x = la.zeros(n)
    view = np.from_dlpack(x)
    x += 1
    assert view[-1] == 1
    x[:] = la.ones(n) * 3
    assert view[-1] == 3
    la.random.shuffle(x)
    x[n // 2 :] -= 1
    assert view[-1] == 2 and view[0] == 3
    y = x * 2  # an op that only reads it has read it, too
    view[:] = 9
    assert y.asnumpy()[0] == 6
    with la.engine.bulk(100):
        x += 1
        assert view[0] == 10
    gate = []
    la.engine.get().push_sync(
        lambda ctx: (time.sleep(0.05), gate.append(ctx.numpy(x)[0])), la.cpu(0), [x.var]
    )
    assert gate == [10]
    del view
    x += 1
    assert x.asnumpy()[0] == 11


@pytest.mark.host
def test_an_export_waits_for_earlier_uses():
    x = la.zeros(500_000)
    for _ in range(20):
        x += 1
    y = x.sum()
    view = np.from_dlpack(x)
    assert view.min() == view.max() == 20
    view[:] = 0
    assert y.item() == 20 * 500_000


@asynchronous
def test_an_export_of_a_poisoned_array_raises_and_counts_nothing():
    bad = la.array([1, 2]) ** la.array([-1, 2])
    for _ in range(2):
        with pytest.raises(ValueError, match="negative integer powers"):
            np.from_dlpack(bad)
    gc.collect()
    assert _share.export_count(bad) == 0
    with la.no_sync(), pytest.raises(RuntimeError, match="no_sync"):
        np.from_dlpack(la.ones(2))


@pytest.mark.host
@asynchronous
def test_errors_of_ops_on_exported_memory_are_raised_at_the_wait():
    x = la.array([1, 2])
    view = np.from_dlpack(x)
    y = x ** la.array([-1, 2])
    assert view[0] == 1
    with pytest.raises(ValueError, match="negative integer powers"):
        y.asnumpy()


@pytest.mark.host
@asynchronous
def test_an_op_inside_an_op_may_touch_exported_memory():
    x = la.zeros(3)
    view = np.from_dlpack(x)
    out = []

    def inside(ctx):
        y = x + la.arange(3)  # waits for this op, which holds x: left queued, no deadlock
        out.append(y)

    la.engine.get().push_sync(inside, la.cpu(0), mutable_vars=[x.var])
    assert out[0].asnumpy().tolist() == [0, 1, 2] and view.tolist() == [0, 0, 0]


def test_imports_share_memory():
    host = np.arange(6.0).reshape(2, 3)
    x = la.from_dlpack(host)
    x *= 2
    assert host[1, 2] == 10
    host[0, 0] = 5
    assert x.asnumpy()[0, 0] == 5
    assert x.shape == (2, 3) and x.device == la.cpu(0)
    y = la.from_dlpack(host[:, ::-2])
    assert y.strides == host[:, ::-2].strides
    y += 100
    assert host[0, 2] == 104 and x.asnumpy()[0, 2] == 104
    large = np.zeros(1_000_000)
    z = la.from_dlpack(large)
    for i in range(5):
        z += 1
        assert large[-1] == i + 1
    assert la.from_dlpack(np.zeros((0, 3))).shape == (0, 3)
    assert la.from_dlpack(np.array(5.0)).item() == 5


def test_the_same_memory_has_one_variable():
    host = np.arange(10.0)
    x = la.from_dlpack(host)
    again, part = la.from_dlpack(host), la.from_dlpack(host[2:5])
    assert x.var == again.var == part.var
    assert la.shares_memory(x, part)
    part_first = np.arange(8)
    a = la.from_dlpack(part_first[4:])
    assert la.from_dlpack(part_first).var == a.var  # the whole array was taken note of
    mine = la.ones(4, ctx=la.cpu(0))
    assert la.from_dlpack(np.from_dlpack(mine)).var == mine.var
    assert la.from_dlpack(np.from_dlpack(mine)[1:3]).var == mine.var
    assert la.from_dlpack(mine).var == mine.var
    other = np.arange(10.0)
    assert la.from_dlpack(other).var != x.var
    before = x.var
    del x, again, part
    gc.collect()
    assert la.from_dlpack(host).var == before  # `before` holds the memory's variable


def test_imports_keep_the_memory_alive_and_let_it_go():
    for n in (5, 1_000_000):
        host = np.arange(float(n))
        gone = weakref.ref(host)
        x = la.from_dlpack(host[1:])
        y = x[1:]
        z = y + 1
        del host, x
        gc.collect()
        assert gone() is not None and y[0].item() == 2
        del y
        assert z[0].item() == 3
        la.waitall()
        # A worker that let go last leaves the reference to who comes next with the GIL.
        (la.ones(1_000_000) + 1).wait_to_read()
        gc.collect()
        assert gone() is None


def test_what_cannot_be_shared_is_copied_or_refused():
    fixed = np.arange(4.0)
    fixed.flags.writeable = False
    swapped = np.arange(4, dtype=">f8")
    crooked = np.frombuffer(bytearray(33), dtype=np.uint8)[1:].view("f8")
    for host in (fixed, swapped, crooked):
        x = la.from_dlpack(host)
        x += 1
        np.testing.assert_array_equal(host + 1, x.asnumpy())
        with pytest.raises(ValueError, match="can't be shared"):
            la.from_dlpack(host, copy=False)
    host = np.arange(4.0)
    x = la.from_dlpack(host, copy=True)
    x += 1
    assert host[0] == 0
    y = la.from_dlpack(la.ones(2), copy=True)
    assert y.asnumpy().tolist() == [1, 1]
    with pytest.raises(TypeError, match="no dtype"):
        la.from_dlpack(np.array(["a"]))
    with pytest.raises((TypeError, AttributeError)):
        la.from_dlpack([1, 2])


def test_imports_on_devices():
    host = np.zeros(3)
    x = la.from_dlpack(host, device=ONE)
    assert x.device == ONE
    x += 1
    assert host[0] == 1
    y = la.from_dlpack(host, device=la.cpu(0))  # it is on cpu(1) already
    y += 1
    assert host[0] == 1 and y.device == la.cpu(0)
    with pytest.raises(ValueError, match=r"cpu\(1\).*cpu\(0\)"):
        la.from_dlpack(host, device=la.cpu(0), copy=False)
    with ONE:
        assert la.from_dlpack(np.zeros(2)).device == ONE


def _parts(xp, share, memory, first):
    """Vectors on overlapping parts of one memory, which were shared in either order."""
    if first == "low":
        x, y = share(xp, memory, 0), share(xp, memory, 8)
    else:
        y, x = share(xp, memory, 8), share(xp, memory, 0)
    return x, y


@pytest.mark.host
@pytest.mark.parametrize("n", [7, 1000, 100_000])
@pytest.mark.parametrize("first", ["low", "high"])
@pytest.mark.parametrize("kind", ["mmap", "bytearray", "array", "torch"])
def test_overlapping_parts_of_memory_of_others(kind, first, n):
    """They are known to overlap, whichever is imported first."""
    results = []
    for xp in (np, la):
        values = np.arange(n + 1.0)
        if kind == "mmap":
            memory = mmap.mmap(-1, 8 * (n + 1))
            memory[:] = values.tobytes()
        elif kind == "bytearray":
            memory = bytearray(values.tobytes())
        elif kind == "array":
            memory = array.array("d", values.tolist())
        else:
            memory = pytest.importorskip("torch").from_numpy(values)

        def share(xp, memory, offset):
            if kind == "torch":
                return xp.from_dlpack(memory[offset // 8 : offset // 8 + n])
            return xp.frombuffer(memoryview(memory).cast("B")[offset : offset + 8 * n], float)

        x, y = _parts(xp, share, memory, first)
        xp.add(x, 10, out=y)
        y += x
        y[...] = x[::-1]
        assert xp.shares_memory(x, y)
        results.append(np.array(x))
        del x, y
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("n", [10, 70_000])
def test_parts_of_memory_whose_owner_tells_nothing(n):
    """A capsule tells of what it holds alone: a part that came first is a memory of its own."""
    numbers = np.arange(3.0 * n)
    want = numbers.copy()
    part = la.from_dlpack(np.from_dlpack(numbers[n : 2 * n]))
    whole = la.from_dlpack(np.from_dlpack(numbers))
    other = la.from_dlpack(np.from_dlpack(numbers[n // 2 : n]))
    assert la.shares_memory(part, whole) and not la.shares_memory(part, other)
    assert other.var == whole.var  # it is in what is known, though a smaller one begins behind it
    for step in (1, -1):
        whole[n + 1 : 2 * n + 1] += part[::step]
        want[n + 1 : 2 * n + 1] += want[n : 2 * n][::step]
        np.testing.assert_array_equal(numbers, want)
        part[1:] = whole[n : 2 * n - 1][::step]
        want[n + 1 : 2 * n] = want[n : 2 * n - 1][::step].copy()
        np.testing.assert_array_equal(numbers, want)
        la.negative(whole[n - 1 : 2 * n - 1][::step], out=part)
        want[n : 2 * n] = -want[n - 1 : 2 * n - 1][::step]
        np.testing.assert_array_equal(numbers, want)
        la.cumsum(whole[n - 3 : 2 * n - 3], out=part)
        want[n : 2 * n] = np.cumsum(want[n - 3 : 2 * n - 3])
        np.testing.assert_array_equal(numbers, want)
    head = la.from_dlpack(np.from_dlpack(numbers[:n]))
    assert head.var == whole.var
    del part
    gc.collect()
    again = la.from_dlpack(np.from_dlpack(numbers[n : 2 * n]))
    assert again.var == whole.var


def test_two_memories_that_begin_alike():
    numbers = np.arange(20.0)
    first = la.from_dlpack(np.from_dlpack(numbers[:5]))
    whole = la.from_dlpack(np.from_dlpack(numbers))
    last = la.from_dlpack(np.from_dlpack(numbers[15:]))
    assert first.var != whole.var == last.var
    del whole, last
    gc.collect()
    assert la.from_dlpack(np.from_dlpack(numbers[:3])).var == first.var
