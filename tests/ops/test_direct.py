"""The direct tier: NumPy gets small complete operands at once, and nobody can tell."""

import contextlib
import copy
import inspect
import pickle
import re
import time
import warnings
import weakref

import numpy as np
import pytest

import lazyarray as la
from lazyarray import _direct
from lazyarray.ops._rows import Direct

from ..numpys import OLDER
from ..surface import samples
from .compare import asynchronous

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


@asynchronous
@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_is_run_at_once_is_as_numpys(layout, direct):
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
def test_a_broadcast_array_is_as_large_as_it_looks(direct):
    x = la.broadcast_to(la.array(1.0), (3000, 3000))
    x.wait_to_read()
    start = time.perf_counter()
    y = la.sort(x, axis=0)
    said = time.perf_counter() - start
    y.wait_to_read()
    assert said < (time.perf_counter() - start) / 2


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
