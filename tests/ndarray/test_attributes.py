"""NDArray's attributes and methods that NumPy's array has: memory, in place, options."""

import inspect
import io
import os
import pickle
import subprocess
import sys
import weakref

import numpy as np
import pytest

import lazyarray as la

from ..numpys import GONE
from ..streams import default_rng
from .agree import TAKES, agree, asynchronous, same

# ---- memory -------------------------------------------------------------------------------------


def test_base_is_the_whole_memory_or_none():
    x = la.arange(12.0).reshape(3, 4)
    for whole in (x, la.ndarray(3), x.copy()):
        assert whole.base is None and whole.flags.owndata
    for part in (x[1:], x[:, 1], x[1, 2, ...], x.view("i4")[..., :1], (x + 1j).real, x[:0]):
        assert part.base is not None and not part.flags.owndata
        assert part.size == 0 or la.shares_memory(part, part.base)
    x[2:].base[0] = 99
    assert x[0, 0].item() == 99
    host = np.zeros(4)
    assert la.from_dlpack(host).base is not None


def test_base_is_the_array_itself_while_it_lives():
    x = la.arange(12.0)
    y = x.reshape(3, 4)
    for view in (x[1:], x[:], x[...], x[::-2], x.view(), y, y.T, y[1:][0], y.ravel(), y.diagonal()):
        assert view.base is x
        assert not view.flags.owndata
    assert x.base is None and x.flags.owndata
    for shape in ((3, 4), (2, 6), 12):  # in place: it is the same memory
        x.shape = shape
        assert x.base is None and x.flags.owndata and y.base is x
    x += 1  # whatever runs meanwhile
    assert y.base is x
    del x, view
    base = y[1:].base  # what stands for it
    same(base, np.arange(12.0) + 1)
    assert y.T.base is base and base.base is None and la.shares_memory(y, base)
    z = la.ndarray((12,), buffer=y)
    assert z.view().base is base and z.base is base  # which z is not, though all of it


def test_base_of_what_dies_or_moves():
    x = la.ones(3)
    view, seen = x[1:], []
    told = weakref.ref(x, lambda _: seen.append(view.base))
    del x
    same(seen[0], np.ones(3))
    assert told() is None and view.base is not None
    x = la.ones(4)
    view = x[1:]
    x.resize(2, 2)
    assert view.base is None or la.shares_memory(view, view.base)
    x = la.ones(4)
    view = x[1:]
    x.resize(6, refcheck=False)  # to other memory
    assert view.base is not x
    same(view.base, np.ones(4))


@pytest.mark.host
def test_data_and_ctypes_are_the_memory_itself():
    x = la.arange(6).reshape(2, 3)
    x += 1
    view = x.data
    assert (view.shape, view.tolist()) == ((2, 3), [[1, 2, 3], [4, 5, 6]])
    x *= 10  # it has run when the line is done
    assert view[0, 0] == 10
    view[1, 2] = -1
    assert x[1, 2].item() == -1
    del view
    assert x.T.ctypes.shape[:] == [3, 2] and x.ctypes.data == x.ctypes.data
    for name in ("data", "ctypes"):
        with la.no_sync(), pytest.raises(RuntimeError, match=f"{name} waits"):
            getattr(x, name)


SHAPES = [(3, 4), (4, 3), 12, -1, (2, -1), (5, 2), (2, 2, 3), (1, 12, 1), (), "a", None, (2.0, 6)]


@pytest.mark.parametrize("take", TAKES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_shape_is_set_in_place(take, shape):
    def change(x, xp):
        y = x[:]
        x.shape = shape
        return x.shape, x.strides if x.size else None, y, xp.shares_memory(x, y)

    agree(change, take)


def test_a_view_keeps_its_shape_and_its_memory():
    x = la.arange(6)
    y = x[2:]
    x.shape = (2, 3)
    x[0] = 9
    same(y, np.array([9, 3, 4, 5]))
    x += 1  # recorded, not run: what was recorded before knows the old shape
    z = x * 2
    x.shape = 6
    same(z, (np.array([[9, 9, 9], [3, 4, 5]]) + 1) * 2)


@pytest.mark.parametrize("take", TAKES)
@pytest.mark.parametrize("dtype", ["f8", "i4", "u1", "c16", "f2", "?"])
def test_the_dtype_is_set_and_viewed(take, dtype):
    def change(x, xp):
        x.dtype = dtype
        return x.dtype, x.shape, x.strides if x.size else None

    agree(change, take, np.int64)
    agree(lambda x, xp: x.view(dtype), take, np.int64)
    agree(lambda x, xp: (x.view(), x.view(xp.ndarray), x.view(type=xp.ndarray)), take)
    agree(lambda x, xp: x.view(np.dtype("i8"), xp.ndarray), take)


def test_what_cannot_be_set():
    x = la.ones((2, 3))
    for name in ("strides", "ndim", "size", "nbytes", "itemsize", "T", "base", "data", "flags"):
        with pytest.raises(AttributeError):
            setattr(x, name, 3)


# ---- in place -----------------------------------------------------------------------------------


@pytest.mark.parametrize("args", [(2, 4), ((2, 4),), (3,), ((0, 2),), (12,), (4, 3), ((),), (None,),
                                  (), (2, -4), ("a",), (2.5,), ([3, 5],)], ids=str)  # fmt: skip
@pytest.mark.parametrize("order", "CF")
def test_resize(args, order):
    host = np.arange(12).reshape(3, 4).copy(order)
    x = la.array(host, order=order)
    try:
        host.resize(*args)
    except Exception as exc:
        with pytest.raises(type(exc)):
            x.resize(*args)
    else:
        assert x.resize(*args) is None
    same(x, host)
    x += 1
    same(x, host + 1)


def test_resize_wants_memory_of_its_own():
    x = la.arange(6)
    y = x[1:]
    with pytest.raises(ValueError, match="references or is referenced"):
        x.resize(9)
    with pytest.raises(ValueError, match="own its data"):
        y.resize(9)
    with pytest.raises(ValueError, match="single-segment"):
        la.arange(12)[::2].resize(3)
    with pytest.raises(ValueError, match="own its data"):
        la.from_dlpack(np.zeros(4)).resize(9)
    x.resize(9, refcheck=False)
    same(x, np.array([0, 1, 2, 3, 4, 5, 0, 0, 0]))
    x[1] = 7
    same(y, np.arange(1, 6))  # it has the old memory
    del y
    z = x.var  # holds the memory
    with pytest.raises(ValueError, match="references"):
        x.resize(2)
    del z
    x.resize(2)
    same(x, np.array([0, 7]))


@pytest.mark.host
def test_memory_is_counted_right_when_arrays_change_place():
    """Arrays that took over other memory let go of theirs, and of that alone."""

    def churn():
        x = la.arange(6).reshape(2, 3)
        y = x.T
        x.resize(3, 4, refcheck=False)
        x.shape = 12
        x.dtype = "f8"
        x.__init__((2, 2))
        x[...] = 5
        assert la.ndarray((2, 2)).shape == (2, 2) and y.tolist() == [[0, 3], [1, 4], [2, 5]]
        return x

    kept = [churn() for _ in range(40)]
    more = [la.full(6, i) for i in range(80)]
    arrays = [*kept, *more]
    places = {a.ctypes.data for a in arrays}
    assert len(places) == len(arrays)
    assert all(k.tolist() == [[5, 5], [5, 5]] for k in kept)
    assert [m.tolist() for m in more] == [[i] * 6 for i in range(80)]


@asynchronous
def test_changes_in_place_do_not_wait_and_come_in_order():
    x = la.random.default_rng(0).random((200, 300))
    with la.no_sync():
        before = x + 1
        x.resize(400, 300)
        x.shape = -1
        x += 1
        x.partition(7)
        y = x.byteswap().byteswap()
    assert before.shape == (200, 300) and bool((y == x).all())
    want = default_rng(0).random((200, 300))
    same(before, want + 1)
    assert x.size == 120000 and float(x[0]) == 1.0


def test_sorting_methods():
    for take in TAKES:
        for dtype in (np.int64, np.float32):
            agree(lambda x, xp: (x[::-1].sort(), x.sort(0)), take, dtype)
            agree(lambda x, xp: (x[..., ::-1].sort(-1, "stable", None), x)[1], take, dtype)
            agree(lambda x, xp: x[..., ::-1].argsort(0, None, None), take, dtype)
            agree(lambda x, xp: x[::-1].argsort(stable=True), take, dtype)
            agree(lambda x, xp: xp.sort(x[..., ::-1], 0), take, dtype)
    for kth in (1, -1, [0, 2], 9, "a", 1.5):

        def parted(x, xp, kth=kth):
            x.partition(kth)
            return xp.sort(x)  # what is on a side, NumPy leaves open

        agree(parted, "reversed")
        agree(lambda x, xp, kth=kth: x.argpartition(kth).shape, "reversed")
    x = la.array([3, 1, 2])
    x.partition(1, 0, "introselect", None)
    assert x.tolist() == [1, 2, 3]
    for bad in (lambda x: x.partition(1, axis=None), lambda x: x.partition(0, 4),
                lambda x: x.sort(order="f"), lambda x: x.argsort(order="f"),
                lambda x: x.partition(0, order="f")):  # fmt: skip
        agree(lambda x, xp, bad=bad: bad(x))


@pytest.mark.parametrize("take", TAKES)
@pytest.mark.parametrize("dtype", ["i8", "f4", "u1", "c8", "?"])
def test_byteswap(take, dtype):
    agree(lambda x, xp: x.byteswap().view("u1" if dtype == "?" else x.dtype), take, dtype)
    agree(lambda x, xp: x.byteswap(inplace=True) is x, take, "i8")


# ---- construction -------------------------------------------------------------------------------


def test_the_constructor():
    host = np.arange(12.0)
    x = la.array(host)
    for args in (
        ((2, 3), "f8"),
        ((2, 3), "f8", 8),
        ((3,), "f8", 16, (24,)),
        ((3, 2), "f8", 0, None, "F"),
        ((4,), "i4", 8),
        ((2, 2), "f8", 0, (-8, 8)),
        ((99,), "f8"),
        ((2,), "f8", 92),
        ((2, 2), "i8", 0, (8, 3)),
    ):
        shape, dtype, *rest = args
        try:
            want = np.ndarray(shape, dtype, host, *rest)
        except Exception as exc:
            with pytest.raises(type(exc)):
                la.ndarray(shape, dtype, x, *rest)
            continue
        if not want.flags.aligned:  # a view of which NumPy would hold
            with pytest.raises(TypeError, match="aligned"):
                la.ndarray(shape, dtype, x, *rest)
            continue
        got = la.ndarray(shape, dtype, x, *rest)
        same(got, want)
        assert la.shares_memory(got, x)
    with pytest.raises(ValueError, match="outside"):  # NumPy reads what is there
        la.ndarray((2,), "f8", x, -8)
    memory = bytearray(24)
    y = la.ndarray(3, buffer=memory)
    y[:] = 2.5
    assert bytes(memory) == np.full(3, 2.5).tobytes()
    assert la.ndarray((2, 3), order="F").strides == (8, 16)
    assert la.ndarray((2, 2), float, strides=(8, 16)).strides == (8, 16)
    assert la.ndarray(4).dtype == "f8" and la.ndarray((), int).shape == ()
    with la.cpu(1):
        assert la.ndarray(3).device == la.cpu(1)
    for bad in ((), ((-2, 3),), ("a",)):
        with pytest.raises((TypeError, ValueError)):
            la.ndarray(*bad)
    for dtype in (object, "M8[s]"):
        with pytest.warns(la.HostArrayWarning):
            assert type(la.ndarray((2,), dtype)) is np.ndarray
    assert isinstance(la.ndarray[int, np.dtype[np.int64]], type(list[int]))


def test_subclasses_are_arrays():
    class Mine(la.NDArray):
        pass

    x = Mine((2, 3))
    x[...] = 4
    x.extra = 1
    assert (x + 1).tolist() == [[5] * 3] * 2 and isinstance(x, Mine)


# ---- out of it ----------------------------------------------------------------------------------


@pytest.mark.parametrize("take", TAKES)
def test_values_leave(take, tmp_path):
    agree(lambda x, xp: (x.tolist(), x.tobytes(), x.tobytes("F"), x.tobytes("A")), take)
    agree(lambda x, xp: tuple(map(str, x.flat)), take)
    agree(lambda x, xp: x.item(), take)
    agree(lambda x, xp: (x.item(1), x.item(-1)), take)
    agree(lambda x, xp: x.item(0, 1), take)
    agree(lambda x, xp: x.item((0, 1)), take)
    agree(lambda x, xp: x.item(99), take)

    def written(x, xp):
        x.tofile(tmp_path / "a")
        x.tofile(tmp_path / "b", ",", "%05d")
        return (tmp_path / "a").read_bytes(), (tmp_path / "b").read_text()

    agree(written, take)

    def dumped(x, xp):
        x.dump(tmp_path / "c")
        stream = io.BytesIO()
        x.dump(stream)
        loads = [(tmp_path / "c").read_bytes(), stream.getvalue(), x.dumps()]
        return tuple(pickle.loads(b) for b in loads)

    agree(dumped, take)


def test_leaving_obeys_no_sync():
    x = la.ones(3)
    for call in (lambda: x.tofile("unwritten"), x.dumps, lambda: x.dump(io.BytesIO()), x.tolist,
                 x.tobytes, lambda: f"{x}", lambda: np.asarray(x.flat)):  # fmt: skip
        with la.no_sync(), pytest.raises(RuntimeError, match="no_sync"):
            call()
    assert not os.path.exists("unwritten")


def test_texts():
    x = la.array([[1.5, 2], [3, 4]])
    device = la.current_context()
    named = "" if device == la.cpu(0) else f", device={device}"
    assert repr(x) == f"array([[1.5, 2. ],\n       [3. , 4. ]]{named})"
    assert repr(la.ones(2, "f4", device="cpu:1")) == (
        "array([1., 1.], dtype=float32, device=cpu(1))"
    )
    assert repr(la.zeros((0, 3))) == repr(np.zeros((0, 3)))[:-1] + f"{named})"
    assert str(x) == f"{x}" == str(x.asnumpy())
    assert f"{la.array(3.14159):.2f}|{la.array(7):>4d}|{la.array(1 + 2j):.1f}" == (
        "3.14|   7|1.0+2.0j"
    )
    with pytest.raises(TypeError, match="unsupported format"):
        f"{x:.2f}"
    with np.printoptions(precision=2, threshold=3):
        y = la.arange(9) / 7
        assert str(y) == str(y.asnumpy()) and repr(y).startswith(repr(y.asnumpy())[:-1])


def test_print_waits():
    code = (
        "import lazyarray as la; x = la.random.default_rng(0).random((500, 500)); "
        "x.sort(); print((x * 0)[:1, :2]); print(f'{x.sum() * 0:.1f}')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[[0. 0.]]\n0.0\n"


# ---- methods ------------------------------------------------------------------------------------

# What is left out: no array here has fields, and none can be put together from parts of elements.
ABSENT = {"getfield", "setfield"}


def test_every_attribute_of_numpys_is_here_but_those_left_out():
    names = {n for n in dir(np.ndarray) if not n.startswith("_") and f"ndarray.{n}" not in GONE}
    assert names - set(dir(la.NDArray)) == ABSENT
    slots = {n for n in dir(np.ndarray) if n.startswith("__")} - set(dir(la.NDArray))
    # What would let NumPy take the memory without waiting, and what only subclasses need.
    assert slots <= {"__array_interface__", "__array_struct__", "__array_finalize__",
                     "__array_wrap__", "__setstate__", "__buffer__"}  # fmt: skip


def test_methods_take_numpys_arguments():
    for name in dir(np.ndarray):
        method = getattr(np.ndarray, name)
        if name.startswith("_") or name in ABSENT or not callable(method):
            continue
        try:
            want = inspect.signature(method).parameters
        except ValueError:
            continue  # an older NumPy
        mine = getattr(la.NDArray, name)
        if name == "var":
            continue
        got = inspect.signature(mine).parameters
        names = [n for n, p in want.items() if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
        positional = [n for n in names if want[n].kind is not inspect.Parameter.KEYWORD_ONLY]
        place = {n: i for i, n in enumerate(got)}
        for n in names[1:]:
            if want[n].kind is inspect.Parameter.POSITIONAL_ONLY or n == "descending":
                continue  # the latter since NumPy 2.5
            assert n in got, f"{name}: {n}"
            if n in positional:
                assert place[n] == positional.index(n), f"{name}: {n}"
            default = want[n].default
            assert got[n].default == default, f"{name}: {n}={got[n].default!r}"


CALLS = [
    "x.sum(0)", "x.sum(0, float)", "x.sum(0, None, None, True)",
    "x.sum(None, None, None, False, 5)",
    "x.sum(0, None, None, True, 5, x > 2)", "x.sum(where=True)", "x.sum(1, where=x > 2)",
    "x.sum(0, None, xp.zeros(4, int))", "x.prod(1, 'f8', None, True, 2)", "x.prod(-1)",
    "x.max(0, None, True)", "x.max(0, None, False, 9, x > 2)", "x.max(1, xp.zeros(3, int))",
    "x.min(initial=-1)", "x.min((0, 1))", "x.all(where=x > 0)",
    "x.any(0, keepdims=True)", "x.mean(0, 'f4', None, True)", "x.mean(where=x > 2)",
    "x.mean(where=True)", "x.std(0, None, None, 1, True)", "x.std(ddof=1)",
    "x.var(0, None, None, 1)",
    "x.argmax(0)", "x.argmin(1, xp.zeros(3, int))", "x.argmax(keepdims=True)",
    "x.cumsum(0, float)", "x.cumprod()", "x.dot(x.T)", "x.dot(x.T, xp.zeros((3, 3), int))",
    "x.trace(1, 0, 1, 'f8')", "x.take([0, 2], 1)", "x.take([0, 99], 1, None, 'clip')",
    "x.repeat(2, 1)", "x.clip(2, 5)", "x.clip(max=5)", "x.clip(2, 5, xp.zeros((3, 4), int))",
    "x.round(-1)", "x.conj()", "x[0].searchsorted([1, 2], 'right')", "x.compress([1, 0, 1], 0)",
    "(x % 2).choose([x, -x])", "x.nonzero()", "x.transpose(1, 0)", "x.transpose((1, 0))",
    "x.transpose(None)", "x.reshape(4, 3)", "x.reshape((4, -1), order='F')", "x.ravel('F')",
    "x.flatten('F')", "x.swapaxes(0, 1)", "x[None].squeeze(0)", "x.diagonal(1)", "x.copy('F')",
    "x.astype('f4')", "x.astype('f4', 'F', 'unsafe', False, False)",
    "x.astype('f4', casting='safe')",
    "x.astype(int, copy=False) is x", "(x.fill(3), x)", "(x.put([0, 5], [7, 8]), x)",
    "(x.put([0, 99], 7, 'clip'), x)", "divmod(x, 5)", "divmod(7, x + 1)", "x // 3 % 2 ** x",
    "pow(x, 2)", "abs(-x)", "~x", "+x", "x << 1 >> 1", "x & 3 | 4 ^ x", "1 - x", "2.0 / (x + 1)",
    "7 // (x + 1)", "7 % (x + 1)", "2 ** x", "x @ x.T", "5 in x", "99 in x", "len(x)", "x == None",
    "x.real", "x.imag", "x.T.mT", "x.item(3)", "[r.tolist() for r in x]", "list(x[0])[2]",
    "x.itemsize, x.nbytes, x.size, x.ndim", "x.dtype", "bool(x[0, 1])", "complex(x[1, 1])",
    pytest.param("x.to_device('cpu') is x", marks=pytest.mark.host), "x.sum(7)",
    "x.max(0, initial=None)", "iter(x[0, 0, ...])",
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_methods_answer_as_numpys(call):
    agree(lambda x, xp: eval(call, {"x": x, "xp": xp}))


def test_a_loop_over_an_array_sees_what_it_writes():
    def sieve(x, xp):
        flags = xp.ones(30, bool)
        flags[:2] = False
        for i, prime in enumerate(flags):
            if prime:
                flags[2 * i :: i] = False
        return flags

    agree(sieve)


@pytest.mark.host  # NumPy's array on our memory
def test_a_view_that_is_not_aligned_is_numpys_of_the_same_memory():
    x = la.arange(17, dtype="u1")
    view = x[1:].view("f8")
    assert isinstance(view, np.ndarray) and np.array_equal(
        view, np.arange(17, dtype="u1")[1:].view("f8")
    )
    view[0] = 2.0
    x += 1
    assert x[1:9].tolist() == [1, 1, 1, 1, 1, 1, 1, 65]


@pytest.mark.host  # NumPy's array on our memory
@pytest.mark.parametrize("kind", [np.matrix, np.ma.MaskedArray, np.recarray, np.memmap])
def test_a_view_of_a_class_of_numpys_is_of_that_class(kind):
    x = la.arange(6.0).reshape(2, 3)
    for view in (x.view(kind), x.view(type=kind), x.view("f8", kind), (x + 0).view(kind)):
        assert type(view) is kind and np.array_equal(view, np.arange(6.0).reshape(2, 3))
    assert type(x.view("i8", kind)) is kind and x.view("i8", kind).dtype == "i8"
    view = x.view(kind)
    view[1, 1] = 9
    assert x[1, 1] == 9
    with la.autograd.record():
        x.attach_grad()
        with pytest.raises(NotImplementedError, match="view"):
            x.view(kind)


def test_astype_of_the_same_value():
    x = la.array([1.0, 2.0])
    if np.lib.NumpyVersion(np.__version__) < "2.4.0":
        with pytest.raises(ValueError, match="casting"):
            x.astype("i4", casting="same_value")
        return
    same(x.astype("i4", casting="same_value"), np.array([1, 2], "i4"))
    assert x[0].astype("u1", casting="same_value") == 1
    same(x.reshape(1, 2).astype("f4", "F", "same_value"), np.array([[1, 2]], "f4"))
    for n in (2, 100_000):
        with pytest.raises(ValueError, match="same_value"):
            (la.ones(n) / 2).astype("i4", casting="same_value").asnumpy()


def test_real_and_imag_are_views():
    def change(x, xp):
        x.real[0] = 5
        x.imag += 1
        x.real = x.imag
        return x.real, x.imag, xp.shares_memory(x, x.real)

    agree(change, "T", np.complex128)
    agree(lambda x, xp: (x.real.flat.__setitem__(slice(None), [1, 2]), x)[1], "T", np.complex64)
    agree(lambda x, xp: setattr(x, "real", 4), "T")
    agree(lambda x, xp: setattr(x, "imag", 4), "T")


def test_html_waits_for_nothing():  # tests/interop/test_notebooks.py has the rest
    x = la.array([1.5, 2.0])
    with la.no_sync():
        assert "(2,) float64" in x._repr_html_()


@pytest.mark.parametrize("shape", [2, (3, 2), (2, 3)])
def test_a_read_only_array_stays_so_when_it_is_resized(shape):
    a, x = np.arange(6.0), la.arange(6.0)
    for one in (a, x):
        one.flags.writeable = False
        one.resize(shape, refcheck=False)
        assert not one.flags.writeable
        with pytest.raises(ValueError):
            one[0] = 9
    np.testing.assert_array_equal(x.asnumpy(), a)
