"""The direct tier: NumPy gets small complete operands at once, and nobody can tell."""

import contextlib
import copy
import inspect
import pickle
import re
import threading
import warnings
import weakref

import numpy as np
import pytest

import lazyarray as la
from lazyarray import _direct
from lazyarray.functions import contraction
from lazyarray.lazy._lazy import _stats, gil_ops
from lazyarray.ops._rows import Direct

from ..lazy.fusing import figures
from ..numpys import OLDER
from ..surface import samples
from .compare import asynchronous, pending, rng

pytestmark = pytest.mark.host

SPACES = {"": la, "linalg.": la.linalg, "fft.": la.fft}
FUNCTIONS = {
    prefix + name: thing
    for prefix, space in SPACES.items()
    for name, thing in vars(space).items()
    if isinstance(thing, Direct)
    and (thing.numpys or name in _direct._NATIVE.split())  # not those of an `out=` alone
}
CALLS, _ = samples.load()
# What writes to `out` goes the long way, which other tests are about.
OF_DIRECT = sorted(
    {
        e
        for name in FUNCTIONS
        for e in CALLS.get(name, ())
        if not re.search(r"empty|out=|, xp.zeros\(3\)\)", e)
    }
)
# NumPy reads past the end of what is empty.
GARBAGE = ("xp.einsum('ii->i', q)", "xp.fft.irfft(f, 5)", "xp.fft.hfft(f, 5)")


def strided(a):
    big = np.zeros([2 * n for n in a.shape], a.dtype)
    big[(slice(None, None, 2),) * a.ndim] = a
    return big, lambda x: x[(slice(None, None, 2),) * a.ndim]


LAYOUTS = {
    "C": lambda a: (a, lambda x: x),
    "F": lambda a: (np.ascontiguousarray(a.T), lambda x: x.T),
    "strided": strided,
    "float32": lambda a: (a.astype("f4") if a.dtype == "f8" else a, lambda x: x),
    "integers": lambda a: ((3 * a).astype(int) if a.dtype == "f8" else a, lambda x: x),
    "longdouble": lambda a: (a.astype("g") if a.dtype == "f8" else a, lambda x: x),
    "empty": lambda a: (a[:0], lambda x: x),
    "one": lambda a: (a[:1], lambda x: x),
}


def told(value):
    """All that a caller sees of a result: kind, dtype, shape, steps, bits."""
    if isinstance(value, tuple | list):
        return isinstance(value, tuple), [told(x) for x in value]
    if not isinstance(value, la.NDArray | np.ndarray | np.generic | bool | int | float | complex):
        return type(value)
    a = np.asarray(value)
    array = isinstance(value, la.NDArray | np.ndarray) and not isinstance(value, la.Scalar)
    order = np.empty_like(a).strides if array and a.size else ()  # of the axes: results are compact
    steps = [s for s, n in zip(order, a.shape, strict=False) if n > 1]
    return array, a.dtype, a.shape, steps, bits(a)


def bits(a):
    if a.dtype.kind in "fc":
        a = np.where(np.isnan(a), np.array(np.nan, a.dtype), a)
    return repr(a.tolist()) if a.dtype.char in "gG" else a.tobytes()


def outcome(expression, xp, layout):
    """What a call gives or raises, what it warns of, and its arguments afterwards."""
    operands = {}
    for name, a in samples.arrays(np).items():
        whole, seen = LAYOUTS[layout](a)
        operands[name] = seen(xp.array(whole))
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        try:
            result = told(eval(expression, {**vars(samples), **operands, "xp": xp}))
        except Exception as error:
            result = type(error).__name__
    try:
        after = {name: bits(np.asarray(x)) for name, x in operands.items()}
    except Exception as error:  # of a write, at the wait
        return type(error).__name__, set(), None
    return result, {str(w.message) for w in given}, after


@pytest.fixture(params=["copies", "loans"])
def lent(request):
    """Whether NumPy gets small arrays' memory, or copies."""
    with figures(lent_bytes=1 if request.param == "loans" else 1 << 60):
        yield request.param == "loans"


@asynchronous
@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_is_run_at_once_is_as_numpys(layout, direct, lent):
    """All sample calls of those functions: bits, dtype, layout, warnings, arguments."""
    if not direct:
        pytest.skip("other tests are about the long way")
    different = []
    for expression in OF_DIRECT:
        if layout == "empty" and expression in GARBAGE:
            continue
        got, want = (outcome(expression, xp, layout) for xp in (la, np))
        if isinstance(want[0], str) and isinstance(got[0], str):
            # Which of two errors is raised is for other tests; nothing is half-written.
            got, want = got[2], got[2] and outcome("0", np, layout)[2]
        if got != want and not (isinstance(want[0], str) and OLDER):
            different.append(expression)
    assert different == []


def test_einsum_of_a_part_gives_a_view(direct):
    x = la.zeros((4, 8))[:, ::2]
    la.einsum("ii->i", x)[...] = 1
    assert x.tolist() == np.eye(4).tolist()


def test_edges_in_a_list_are_given_back(direct):
    edges = la.arange(4.0)
    _, found = la.histogramdd(la.ones((3, 2)), bins=[3, edges])
    found[1][...] = 9
    assert edges.tolist() == [9.0] * 4


def test_paths_are_pythons_numbers(direct):
    path, _ = la.einsum_path("ij,jk,kl->il", *[la.ones((2, 2))] * 3)
    assert [type(n) for step in path[1:] for n in step] == [int] * 4


@pytest.mark.parametrize("steps", [slice(None), slice(None, None, -1)])
def test_out_by_position(direct, steps):
    """NumPy's choose writes past the end of an ``out`` that goes backwards: it gets none."""
    out = la.zeros(4)[steps]
    assert la.choose(la.array([0, 1, 0, 1]), [la.arange(4.0), 3.0], out, "clip") is out
    assert out.tolist() == [0.0, 3.0, 2.0, 3.0]
    assert la.round(la.array([1.26, 2, 3, 4]), 1, out) is out
    assert out.tolist() == [1.3, 2.0, 3.0, 4.0]


def test_numpys_arrays_are_written_at_once(direct):
    out = np.zeros(3)
    assert la.round(la.arange(3.0) + 0.26, 1, out) is out
    assert out.tolist() == [0.3, 1.3, 2.3]


@pytest.mark.parametrize(
    "call",
    [
        lambda xp: xp.nonzero(np.array([None, 1], object)),
        lambda xp: xp.searchsorted(np.array(["a", "b"]), "b"),
        lambda xp: xp.searchsorted(["a", "b"], "b"),
        lambda xp: xp.nonzero(np.array(["2020-01-01"], "M8[D]")),
        lambda xp: xp.nonzero([np.datetime64("2020-01-01")]),
    ],
)
def test_other_dtypes_are_numpys(direct, call):
    got, want = call(la), call(np)
    if isinstance(want, tuple):
        (got,), (want,) = got, want
    assert isinstance(got, la.NDArray) and got.tolist() == want.tolist()


@asynchronous
def test_a_broadcast_array_is_as_large_as_it_looks(direct, asked):
    x = la.broadcast_to(la.array(1.0), (3000, 3000))
    x.wait_to_read()
    y = la.sort(x, axis=0)
    assert y._state() != "complete"
    y.wait_to_read()


def test_choose_takes_pythons_numbers_as_weak(direct):
    assert la.choose([0, 1], [la.ones(2, "f4"), 2]).dtype == np.float32
    assert la.choose([0, 1], [la.ones(2, "u1"), 2, 3]).dtype == np.uint8
    assert la.choose([0, 1], [1, 2]).dtype == np.int64


def test_the_weights_of_a_mean_are_a_scalar(direct):
    for weights in (None, [1.0, 3.0]):
        _, total = la.average([1, 2], weights=weights, returned=True)
        assert isinstance(total, la.Scalar)


def test_results_of_unknown_size_count_as_waits(direct):
    x = la.arange(3)
    la.waitall()
    la.sync_report(reset=True)
    for f in (la.unique, la.nonzero, la.bincount, la.argwhere):
        f(x)
    assert [row.what for row in la.sync_report()] == [
        "unique()", "nonzero()", "bincount()", "argwhere()",
    ]  # fmt: skip


def test_poly_of_nothing_is_a_scalar(direct):
    assert isinstance(la.poly(la.zeros(0)), la.Scalar)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_functions_are_as_pythons(name):
    f = FUNCTIONS[name]
    assert pickle.loads(pickle.dumps(f)) is f and copy.deepcopy(f) is f
    assert weakref.ref(f)() is f
    assert inspect.isroutine(f) and inspect.signature(f) == inspect.signature(f.recorded)
    assert f.__doc__ and f in {f}


def test_aliases_are_one_function():
    assert (
        la.round is la.around and la.transpose is la.permute_dims and la.asanyarray is not la.array
    )


def test_subclasses_are_asked_for_their_elements(direct):
    class Sub(la.NDArray):
        def __getitem__(self, key):
            return "asked", key

    assert list(Sub((2,))) == [("asked", 0), ("asked", 1)]


def test_the_scalars_of_comparisons_stay_what_they_are():
    x = la.arange(3.0)
    for spoil in (
        lambda b: la.NDArray.shape.__set__(b, (1,)),
        lambda b: la.NDArray.dtype.__set__(b, np.int8),
        lambda b: b.__init__(False),
        lambda b: la.NDArray.__init__(b, (2,)),
    ):
        with contextlib.suppress(TypeError):  # of a method that is the arrays' alone
            spoil(x[0] < 1)
        found = x[0] < 1
        assert found.shape == () and found.dtype == bool and bool(found)


def test_a_matrix_by_itself(direct):
    """NumPy knows that it is one, and adds up in another order."""
    for n in range(1, 40):
        a = np.random.default_rng(n).standard_normal((3, n))
        x = la.array(a)
        np.testing.assert_array_equal(la.inner(x, x).asnumpy(), np.inner(a, a))
        np.testing.assert_array_equal(la.tensordot(x, x.T, 1).asnumpy(), np.tensordot(a, a.T, 1))


# On both sides of what is lent, and of what is too large.
LARGE = [
    "xp.argmax(v)",
    "v.argmin()",
    "xp.median(v)",
    "xp.percentile(v, [30, 70])",
    "xp.nanquantile(v, 0.3)",
    "xp.histogram(v, bins=9)",
    "xp.digitize(v, [0.25, 0.5])",
    "xp.nonzero(v > 0.5)",
    "xp.where(v > 0.5)",
    "xp.where(v > 0.5, v, 0)",
    "v.take(k)",
    "xp.take(v, k, mode='clip')",
    "v[k]",
    "xp.compress(v > 0.5, v)",
    "xp.delete(v, 3)",
    "xp.insert(v, 3, 7)",
    "xp.append(v, 3)",
    "xp.ediff1d(v)",
    "xp.gradient(v)",
    "xp.round(v, 2)",
    "v.round(1)",
    "xp.round(v)",
    "xp.vdot(v, v)",
    "xp.einsum('i,i->', v, v)",
    "xp.einsum('i->i', v)",
    "xp.convolve(v, v[:5])",
    "xp.fft.fft(v)",
    "xp.fft.fftshift(v)",
    "xp.fft.irfft(v)",
    "xp.linalg.norm(v)",
    "xp.bincount(k)",
    "xp.unravel_index(k, (len(k), 2))",
    "xp.choose(k % 2, [v, -v])",
    "xp.tril(v.reshape(-1, 1))",
    "xp.asfortranarray(v.reshape(2, -1))",
    "xp.ascontiguousarray(v[::2])",
    "xp.trace(v.reshape(2, -1))",
    "xp.cumsum(v)",
    "xp.concatenate([v, v, k])",
    "xp.sort(v)",
    "xp.interp(v, xp.linspace(0, 1, 5), xp.arange(5.0))",
    "xp.searchsorted(xp.sort(v), v[:9])",
    "xp.searchsorted(xp.sort(v), 0.5, side='right')",
    "xp.repeat(v, k % 3)",
    "xp.repeat(v.reshape(2, -1), [1, 2], axis=0)",
    "xp.delete(v, v > 0.5)",
    "xp.delete(v.reshape(-1, 2), [True, False], axis=1)",
    "xp.take(v, k - len(v) // 2, mode='wrap')",
    "xp.take(v, 3 * k, mode='wrap')",
]


@pytest.mark.parametrize("size", [2046, 2048, 2050, 4096, 4098, 8192, 16384, 16386, 50000, 50002])
def test_large_operands(size, direct):
    rng = np.random.default_rng(size)
    v, k = rng.random(size), rng.integers(0, size, size)
    for expression in LARGE:
        ours, numpys = la.array(v), v.copy()
        got = told(eval(expression, {"xp": la, "v": ours, "k": la.array(k)}))
        want = told(eval(expression, {"xp": np, "v": numpys, "k": k}))
        if expression in (
            "xp.vdot(v, v)",
            "xp.einsum('i,i->', v, v)",
        ):  # the long way cuts sums otherwise
            np.testing.assert_allclose(float(eval(expression, {"xp": la, "v": ours})), v @ v)
        else:
            assert got == want, expression
        np.testing.assert_array_equal(ours.asnumpy(), numpys)


# What is written is one of the operands, given by its place or by its name.
WRITERS = [
    "v.byteswap(True)",
    "v.byteswap(inplace=True)",
    "v.cumsum(0, None, o)",
    "v.round(1, o)",
    "v.take(k, 0, o)",
    "v.clip(0.2, 0.4, o)",
    "(k % 2).choose([v, o], o)",
    "v.dot(v.reshape(-1, 1), o[:1])",
    "v.reshape(2, -1).argmax(0, k[: len(k) // 2])",
    "v.reshape(2, -1).trace(0, 0, 1, None, o[:1].reshape(()))",
    "xp.cumsum(v, 0, None, o)",
    "xp.around(v, 1, o)",
    "xp.take(v, k, 0, o)",
    "xp.median(v.reshape(2, -1), 0, o[: len(o) // 2])",
    "xp.nan_to_num(v, False)",
    "xp.nan_to_num(v, copy=False)",
    "xp.concatenate([v[:9], v[9:]], 0, o)",
    "xp.ptp(v.reshape(2, -1), 0, o[: len(o) // 2])",
    "xp.nancumsum(v, 0, None, o)",
    "v.sort()",
    "v.partition(3)",
    "v.fill(2)",
    "v.put(k, 3)",
]


@pytest.mark.parametrize("size", [10, 2046, 2050, 16386, 50002])
@pytest.mark.parametrize("expression", WRITERS)
def test_what_calls_write(expression, size, direct):
    rng = np.random.default_rng(size)
    numpys = {"v": rng.random(size), "k": rng.integers(0, size, size), "o": np.zeros(size)}
    ours = {name: la.array(x) for name, x in numpys.items()}
    la.waitall()
    eval(expression, {"xp": np}, numpys)
    eval(expression, {"xp": la}, ours)
    for name, x in numpys.items():
        np.testing.assert_array_equal(ours[name].asnumpy(), x, name)


def test_what_is_lent_is_not_written(direct, lent):
    """By calls that say that NumPy may write to it: a copy is written, or the array itself."""
    a = np.random.default_rng(0).random(3000)
    x, y = la.array(a), la.zeros(3000)
    assert la.median(x, None, None, True) == np.median(a)
    assert la.percentile(x, 30, overwrite_input=True) == np.percentile(a, 30)
    np.testing.assert_array_equal(la.sort(x).asnumpy(), np.sort(a))
    assert la.cumsum(x, None, None, y) is y
    np.testing.assert_array_equal(y.asnumpy(), np.cumsum(a))
    x = la.array(a)
    assert la.take(x, la.arange(3000)[::-1], None, x, "clip") is x
    np.testing.assert_array_equal(x.asnumpy(), a[::-1])


def test_views_of_what_is_lent_are_the_arrays(direct, lent):
    x = la.zeros((60, 60))
    la.einsum("ii->i", x)[...] = 1
    assert x.tolist() == np.eye(60).tolist()
    for view in (la.ascontiguousarray(x), la.fft.fftshift(x[:0]), la.asarray(x), x.squeeze()):
        assert view is x or view.size == 0 or la.shares_memory(view, x)
    x = la.zeros((1, 3000))
    la.atleast_2d(x)[0, 1] = 5
    assert x[0, 1] == 5


def test_results_are_nobodys(direct, lent):
    """Large ones keep the memory that NumPy has allocated."""
    a = np.random.default_rng(0).random(20_000)
    x = la.array(a)
    y = la.fft.fft(x)
    want = np.fft.fft(a)
    y += 1
    np.testing.assert_array_equal(y.asnumpy(), want + 1)
    np.testing.assert_array_equal(x.asnumpy(), a)
    _, edges = la.histogram(x, bins=9000)
    edges[0] = 7
    np.testing.assert_array_equal(la.histogram(x, bins=9000)[1].asnumpy(), np.histogram(a, 9000)[1])


@asynchronous
def test_others_write_when_numpy_is_done(direct, lent):
    """NumPy lets go of the GIL as it sorts; what another thread writes meanwhile comes after it."""
    n, stop = 4000, threading.Event()
    x = la.zeros(n)
    x.wait_to_read()

    def write():
        k = 0
        while not stop.is_set():
            k += 1
            x[:] = k
            x[:] += la.zeros(n)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(300):
            for found in (la.unique(x), la.median(x)[None], la.percentile(x, [0, 100])):
                assert len(set(found.tolist())) == 1
    finally:
        stop.set()
        writer.join()


@asynchronous
@pytest.mark.parametrize("call", ["la.delete(y, 5)", "la.insert(y, 3, 1.0)", "la.fft.rfft(y)"])
def test_little_that_is_open_is_run_by_who_asks(call):
    values = np.arange(15000.0)
    want = eval(call.replace("la.", "np."), {"np": np, "y": values * 2 + 1})
    x = la.array(values)
    la.waitall()
    with figures(direct_bytes=32768, inline_ns=200):
        y = x * 2 + 1
        before = gil_ops()
        got = eval(call, {"la": la, "y": y})
        assert gil_ops() == before  # NumPy got what is there
        np.testing.assert_allclose(got.asnumpy(), want)
        with pending(x):  # something is under way, for as long as it likes
            y = x * 2 + 1
            got = eval(call, {"la": la, "y": y})
            assert gil_ops() == before + 1
        np.testing.assert_allclose(got.asnumpy(), want)
    with figures(direct_bytes=32768, inline_ns=200, gil_ns=0):  # nor where it is more than that
        y = x * 2 + 1
        before = gil_ops()
        got = eval(call, {"la": la, "y": y})
        assert gil_ops() == before + 1
        np.testing.assert_allclose(got.asnumpy(), want)


@asynchronous
@pytest.mark.parametrize("call", ["interp(x, t, y)", "searchsorted(t, x)", "interp(0.3, t, y)"])
def test_a_large_table_is_looked_up_in_at_once(call):
    names = {"t": np.sort(rng.random(100_000)), "y": rng.random(100_000), "x": rng.random(300)}
    want = eval("np." + call, {"np": np, **names})
    ours = {name: la.array(v) for name, v in names.items()}
    la.waitall()
    before = gil_ops()
    with figures(direct_bytes=32768):
        got = eval("la." + call, {"la": la, **ours})
    assert gil_ops() == before
    np.testing.assert_array_equal(got.asnumpy(), want)


@pytest.mark.parametrize("size", [3000, 20000])
def test_few_places_in_a_long_table_are_found_at_once(size, direct):
    table = np.sort(np.random.default_rng(size).random(size))
    x, places = la.array(table), la.array([0.2, 0.7, 0.1])
    la.waitall()
    before = _stats()["recorded"]
    got = la.searchsorted(x, places), la.interp(places, x, x), la.interp(0.3, x, x)
    assert (_stats()["recorded"] == before) == direct
    for g, p in zip(got, (None, places.asnumpy(), 0.3), strict=True):
        want = np.searchsorted(table, places.asnumpy()) if p is None else np.interp(p, table, table)
        np.testing.assert_array_equal(g.asnumpy(), want)


def test_ranges_are_given_to_numpy_as_lists_are(direct, monkeypatch):
    values = np.arange(4.0).reshape(2, 2)
    x = la.array(values)
    with pytest.raises((ValueError, OverflowError)):
        la.einsum(x, range(10**30), range(2))
    assert la.concatenate([range(3), x[0]]).tolist() == [0.0, 1.0, 2.0, 0.0, 1.0]
    if direct:
        monkeypatch.setattr(contraction, "_spelled", None)  # the long way
    got = la.einsum(x, range(2), x, range(2), [0])
    assert got.tolist() == np.einsum(values, range(2), values, range(2), [0]).tolist()
