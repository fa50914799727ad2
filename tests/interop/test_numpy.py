"""Other arrays, devices, files and libraries: copies, pickles, npz, DLPack, NumPy's protocols."""

import copy
import gc
import io
import pickle
import threading
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


# ---- copyto and devices -------------------------------------------------------------------------


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


# ---- pickles and files --------------------------------------------------------------------------


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


def test_copy_module():
    x = la.arange(3)
    for y in (copy.copy(x), copy.deepcopy(x), copy.deepcopy([x])[0]):
        y += 1
        assert x.asnumpy().tolist() == [0, 1, 2] and y.asnumpy().tolist() == [1, 2, 3]


def test_save_and_load(tmp_path):
    path = tmp_path / "arrays"  # taken as it is: no suffix is added
    a, b = la.arange(6.0).reshape(2, 3), la.array(True)
    la.save(path, [a, b * 1, np.ones(2, "int8")])
    got = la.load(path)
    assert isinstance(got, list) and [x.dtype for x in got] == ["float64", "int64", "int8"]
    np.testing.assert_array_equal(got[0].asnumpy(), a.asnumpy())
    with np.load(path) as archive:
        assert sorted(archive) == ["arr_0", "arr_1", "arr_2"]
        np.testing.assert_array_equal(archive["arr_0"], a.asnumpy())

    la.save(str(path), {"w/0": a.T, "file": b, "arr_0": a})
    got = la.load(str(path))
    assert isinstance(got, dict) and sorted(got) == ["arr_0", "file", "w/0"]
    np.testing.assert_array_equal(got["w/0"].asnumpy(), a.asnumpy().T)
    assert got["file"].dtype == bool and got["file"].shape == ()
    with np.load(path) as archive:
        np.testing.assert_array_equal(archive["w/0"], a.asnumpy().T)

    la.save(path, a)  # one array: an .npy file
    got = la.load(f"{path}.npy")
    np.testing.assert_array_equal(got.asnumpy(), a.asnumpy())
    np.testing.assert_array_equal(np.load(f"{path}.npy"), a.asnumpy())
    (got,) = _saved_and_loaded([a])
    np.testing.assert_array_equal(got.asnumpy(), a.asnumpy())
    assert _saved_and_loaded(2.5).item() == 2.5
    assert _saved_and_loaded([[1, 2], [3, 4]]).asnumpy().tolist() == [[1, 2], [3, 4]]
    for empty in ([], {}):
        la.save(path, empty)
        assert la.load(path) == empty
    assert all(x.device == ONE for x in _saved_and_loaded([a, a], ctx=ONE))
    with ONE:
        assert _saved_and_loaded([a])[0].device == ONE


def _saved_and_loaded(data, **kwargs):
    file = io.BytesIO()
    la.save(file, data)
    file.seek(0)
    return la.load(file, **kwargs)


def test_load_reads_numpys_files(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.arange(3), y=np.eye(2))
    got = la.load(tmp_path / "a.npz")
    assert sorted(got) == ["x", "y"] and got["x"].asnumpy().tolist() == [0, 1, 2]
    with la.load(tmp_path / "a.npz", mmap_mode="r") as archive:
        assert archive.files == ["x", "y"] and "x" in archive
    np.savez_compressed(tmp_path / "c.npz", np.arange(3))
    assert la.load(tmp_path / "c.npz")["arr_0"].asnumpy().tolist() == [0, 1, 2]
    np.save(tmp_path / "b.npy", np.asfortranarray(np.arange(6).reshape(2, 3)))
    assert la.load(tmp_path / "b.npy").asnumpy().tolist() == [[0, 1, 2], [3, 4, 5]]


def test_save_and_load_errors(tmp_path):
    with pytest.raises(TypeError, match="keys are strings"):
        la.save(tmp_path / "a", {1: la.ones(1)})
    with pytest.raises(FileNotFoundError):
        la.load(tmp_path / "a", mmap_mode="r+")
    with pytest.raises(ValueError, match="allow_pickle"):
        la.save(tmp_path / "a", [np.array([{}])], allow_pickle=False)
    assert not (tmp_path / "a").exists()
    (tmp_path / "b").write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="neither"):
        la.load(tmp_path / "b")
    with pytest.raises(FileNotFoundError):
        la.load(tmp_path / "c")
    np.save(tmp_path / "o.npy", np.array([{}], object), allow_pickle=True)
    with pytest.raises(ValueError, match="allow_pickle"):
        la.load(tmp_path / "o.npy")


# ---- DLPack -------------------------------------------------------------------------------------


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


# ---- NumPy's protocols --------------------------------------------------------------------------


def test_numpy_reads_arrays():
    x = la.arange(3) * 2
    for got in (np.array(x), np.asarray(x), np.asarray([x, x])[1]):
        assert got.dtype == np.int64 and got.tolist() == [0, 2, 4]
    assert np.asarray(x, dtype="float32").dtype == np.float32
    host = np.asarray(x)
    host[:] = 0
    assert x.asnumpy().tolist() == [0, 2, 4]


def test_ufuncs_run_here():
    x, h = la.array([1.0, 4.0, 9.0]), np.array([1.0, 4.0, 9.0])
    for got, want in [
        (np.sqrt(x), np.sqrt(h)),
        (np.add(x, 1), h + 1),
        (np.add(h, x), h + h),
        (h + x, h + h),
        (h[0] * x, h[0] * h),
        (np.add(x, 1, dtype="float32"), np.add(h, 1, dtype="float32")),
        (np.divmod(x, 2)[1], np.divmod(h, 2)[1]),
        (np.matmul(x, h), np.matmul(h, h)),
        (h @ x, h @ h),
        (np.greater(h, x), h > h),
        (np.float64(3) - x, 3 - h),
    ]:
        assert isinstance(got, la.NDArray) and got.dtype == want.dtype
        np.testing.assert_array_equal(got.asnumpy(), want)
    with la.no_sync():
        np.exp(x) + np.arange(3)


def test_ufunc_out():
    x, h = la.arange(3.0), np.arange(3.0)
    out = la.zeros(3)
    assert np.add(x, 1, out=out) is out and out.asnumpy().tolist() == [1, 2, 3]
    host = np.zeros(3)
    assert np.multiply(x, 2, out=host) is host and host.tolist() == [0, 2, 4]
    h += x
    assert type(h) is np.ndarray and h.tolist() == [0, 2, 4]
    q, r = la.zeros(3), np.zeros(3)
    got = np.divmod(x, 2, out=(q, r))
    assert got[0] is q and got[1] is r and r.tolist() == [0, 1, 0]
    got = np.divmod(x, 2, out=(None, q))
    assert got[1] is q and got[0].asnumpy().tolist() == [0, 0, 1]
    masked = np.full(3, 7.0)
    np.add(x, 1, out=masked, where=la.array([True, False, True]))
    assert masked.tolist() == [1, 7, 3]
    with pytest.raises(TypeError, match="same_kind"):
        np.add(x, 1, out=np.zeros(3, int))
    with pytest.raises(TypeError, match="same_kind"):
        np.add(x, 1, out=la.zeros(3, int))
    with pytest.raises(ValueError, match="broadcast"):
        np.add(x, 1, out=np.zeros(2))
    with la.no_sync(), pytest.raises(RuntimeError, match="no_sync"):
        np.add(x, 1, out=np.zeros(3))


def test_ufunc_methods():
    h = np.arange(1.0, 7).reshape(2, 3)
    x = la.array(h)
    for ufunc in (
        np.add,
        np.multiply,
        np.maximum,
        np.minimum,
        np.subtract,
        np.logical_xor,
        np.hypot,
    ):
        for axis in (0, 1, -1):
            got, want = ufunc.reduce(x, axis), ufunc.reduce(h, axis)
            np.testing.assert_array_equal(got.asnumpy(), want)
            assert got.dtype == want.dtype
            got, want = ufunc.accumulate(x, axis), ufunc.accumulate(h, axis)
            np.testing.assert_array_equal(got.asnumpy(), want)
            assert got.dtype == want.dtype
    for kwargs in (
        {"keepdims": True},
        {"axis": None},
        {"axis": (0, 1)},
        {"dtype": "float32"},
        {"initial": 5},
        {"where": h > 2, "initial": 0},
    ):
        want = np.add.reduce(h, **kwargs)
        np.testing.assert_array_equal(np.add.reduce(x, **kwargs).asnumpy(), want)
    np.testing.assert_array_equal(
        np.add.outer(x, la.arange(2)).asnumpy(), np.add.outer(h, np.arange(2))
    )
    np.testing.assert_array_equal(
        np.multiply.outer([1, 2], x).asnumpy(), np.multiply.outer([1, 2], h)
    )
    out = la.zeros(3)
    assert np.add.reduce(x, 0, out=out) is out
    np.testing.assert_array_equal(out.asnumpy(), h.sum(0))
    host = np.zeros(3)
    assert np.add.reduce(x, 0, out=host) is host and host.tolist() == [5, 7, 9]
    with pytest.raises(ValueError, match="no identity"):
        np.subtract.reduce(la.zeros((0, 2)))
    with pytest.raises(np.exceptions.AxisError):
        np.add.reduce(x, 5)


def test_ufunc_at():
    h, x = np.zeros(4), la.zeros(4)
    np.add.at(h, [0, 1, 1, -1], [1, 2, 3, 4])
    np.add.at(x, [0, 1, 1, -1], [1, 2, 3, 4])
    np.testing.assert_array_equal(x.asnumpy(), h)
    np.add.at(x, la.array([2, 2]), la.array([1.0, 1.0]))
    assert x[2].item() == 2
    np.negative.at(x, slice(0, 2))
    assert x.asnumpy().tolist() == [-1, -5, 2, 4]
    grid = la.zeros((2, 2), "int64")
    np.add.at(grid, ([0, 0, 1], la.array([1, 1, 0])), 1)
    assert grid.asnumpy().tolist() == [[0, 2], [1, 0]]
    with pytest.raises(TypeError, match="bitwise_and"):
        np.bitwise_and.at(grid, [0], 1.5)
    np.add.at(h, la.array([0, 0]), la.array([1, 2]))  # a NumPy array: at once
    assert h.tolist() == [4, 5, 0, 4]


def test_ufuncs_of_other_libraries_run_as_ops():
    special = pytest.importorskip("scipy.special")
    h = np.array([[0.5, -1.0, 2.0]])
    x = la.array(h)
    with la.no_sync():
        pairs = [
            (special.expit(x), special.expit(h)),
            (special.xlogy(x, 2.5), special.xlogy(h, 2.5)),
            (special.xlogy(h.T, x), special.xlogy(h.T, h)),
            (special.sici(x)[1], special.sici(h)[1]),
            (special.expit(x.astype("float32")), special.expit(h.astype("float32"))),
            (special.xlogy.outer(x, x), special.xlogy.outer(h, h)),
            (special.expit(x, out=la.zeros((1, 3))), special.expit(h)),
        ]
    for got, want in pairs:
        assert isinstance(got, la.NDArray) and got.dtype == want.dtype
        np.testing.assert_array_equal(got.asnumpy(), want)
    kept = la.zeros((1, 3))
    special.expit(x, out=kept, where=x > 0)
    np.testing.assert_array_equal(kept.asnumpy() == 0, h <= 0)
    with pytest.raises(TypeError, match="expit"):
        special.expit(la.array([1j]))
    with pytest.raises(TypeError, match="order"):
        np.add(x, 1, order="F")


def test_other_types_get_their_turn():
    class Other:
        __array_ufunc__ = None

        def __radd__(self, x):
            return "mine"

    class Eager:
        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            return "eager"

    assert la.ones(2) + Other() == "mine"
    assert np.add(la.ones(2), Eager()) == "eager"
    assert np.add(Eager(), la.ones(2)) == "eager"


def test_functions_run_here():
    x, h = la.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3)
    for call in (
        lambda a: np.concatenate([a, a], axis=1),
        lambda a: np.stack([a, a]),
        lambda a: np.sum(a, axis=0),
        lambda a: np.mean(a),
        lambda a: np.transpose(a),
        lambda a: np.reshape(a, (3, 2)),
        lambda a: np.where(a > 2, a, 0),
        lambda a: np.zeros_like(a),
        lambda a: np.full_like(a, 2),
        lambda a: np.linspace(a[0], a[1], 3),
        lambda a: np.triu(a),
        lambda a: np.copy(a),
        lambda a: np.real(a),
        lambda a: np.std(a, axis=1),
    ):
        got, want = call(x), call(h)
        assert isinstance(got, la.NDArray)
        np.testing.assert_array_equal(got.asnumpy(), want)
    assert isinstance(np.array([1, 2], like=x), la.NDArray)
    assert isinstance(np.zeros(3, like=x), la.NDArray)
    assert np.shape(x) == (2, 3) and np.ndim(x) == 2 and np.size(x) == 6 and np.size(x, 1) == 3
    assert np.result_type(x, 1) == np.float64
    assert np.shares_memory(x, x[0]) and not np.may_share_memory(x, la.ones(3))
    np.testing.assert_array_equal(np.meshgrid(x[0], x[1])[1].asnumpy(), np.meshgrid(h[0], h[1])[1])


@pytest.mark.skipif(not hasattr(la, "linalg"), reason="not built yet")
def test_functions_of_submodules_run_here():
    h = np.array([[2.0, 1.0], [1.0, 3.0]])
    got = np.linalg.inv(la.array(h))
    assert isinstance(got, la.NDArray)
    np.testing.assert_array_equal(got.asnumpy(), np.linalg.inv(h))


def test_numpys_copyto():
    x, host = la.arange(3.0), np.zeros(3)
    np.copyto(host, x)
    assert host.tolist() == [0, 1, 2]
    y = la.zeros(3)
    np.copyto(y, x)
    np.copyto(y, 9, where=np.array([True, False, False]))
    assert y.asnumpy().tolist() == [9, 1, 2]
    with pytest.raises(TypeError, match="same_kind"):
        np.copyto(la.zeros(3, int), x)


def test_unknown_functions_are_named():
    x = la.ones(3)
    file = io.BytesIO()
    np.save(file, x)  # as la.save's
    assert np.load(io.BytesIO(file.getvalue())).tolist() == [1, 1, 1]
    with pytest.raises(TypeError, match=r"numpy\.lib\.recfunctions\.find_duplicates\(\)"):
        np.lib.recfunctions.find_duplicates(x)


def test_one_array_in_an_npz_is_a_list_of_one(tmp_path):
    path = tmp_path / "x.npz"
    la.save(path, la.arange(3))
    (x,) = la.load(path)
    assert x.tolist() == [0, 1, 2]
    with np.load(path) as archive:
        np.testing.assert_array_equal(archive["arr_0"], [0, 1, 2])
    la.save(tmp_path / "y", data=la.ones(2))
    assert la.load(tmp_path / "y.npy").tolist() == [1.0, 1.0]


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


def test_exported_memory_is_shared_with_its_array():
    x = la.arange(12.0).reshape(3, 4)
    for host in (np.asarray(x, copy=False), np.from_dlpack(x), np.asarray(x[1], copy=False)):
        assert both(x, host) and both(x[1], host) and not both(x.copy(), host)
    assert not both(x[0], np.asarray(x[1], copy=False))
    assert not both(x, np.asarray(x)) and not both(x, x.asnumpy())
    assert not both(la.empty(3), np.empty(3)) and not both(x, [1, 2])
