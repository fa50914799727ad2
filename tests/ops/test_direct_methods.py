"""The direct tier's methods, writers and native ways: at once, with NumPy's results."""

import copy
import inspect
import math
import pickle
import random

import numpy as np
import pytest

import lazyarray as la
from lazyarray.ops._rows import DirectMethod

from .compare import asynchronous, pending

pytestmark = pytest.mark.host

METHODS = {n: f for c in la.NDArray.__mro__ for n, f in vars(c).items() if type(f) is DirectMethod}


@pytest.fixture(autouse=True)
def _at_once(direct):
    """Each test with the tier and without."""


@pytest.mark.parametrize("name", sorted(METHODS))
def test_methods_are_as_pythons(name):
    f, x = METHODS[name], la.arange(3.0)
    assert getattr(la.NDArray, name) is f and pickle.loads(pickle.dumps(f)) is copy.copy(f) is f
    assert inspect.signature(f) == inspect.signature(f.recorded) and f.__doc__
    bound = getattr(x, name)
    assert inspect.ismethod(bound) and bound.__self__ is x and bound.__func__ is f
    with pytest.raises(TypeError):
        f()
    with pytest.raises(TypeError):
        f([1, 2])


def test_methods_of_subclasses():
    class Sub(la.NDArray):
        def argsort(self, *args):
            return "mine", super().argsort(*args)

        def sort(self):
            super().sort()

    x = Sub(3)
    x[...] = la.array([3.0, 1.0, 2.0])
    what, order = x.argsort()
    assert what == "mine" and order.tolist() == [1, 2, 0] and x.cumsum().tolist() == [3.0, 4.0, 6.0]
    x.sort()
    assert x.tolist() == [1.0, 2.0, 3.0]


@asynchronous
def test_methods_of_what_is_pending_are_recorded():
    x = la.array([3.0, 1.0, 2.0])
    with pending(x):
        found = [x.argsort(), x.cumsum(), x.take([0, 2]), la.add.accumulate(x), la.add.outer(x, x)]
        x.sort()
        x[la.array([0, 1])] = 7
        la.copyto(x[2:], la.array([8.0]))
    assert [y.tolist() for y in found[:3]] == [[1, 2, 0], [3.0, 4.0, 6.0], [3.0, 2.0]]
    assert x.tolist() == [7.0, 7.0, 8.0]


def test_methods_are_recorded_for_gradients():
    x = la.array([3.0, 1.0, 2.0])
    x.attach_grad()
    with la.autograd.record():
        y = (x.cumsum() + x.take([1, 1, 1]) + la.add.accumulate(x)).sum()
    y.backward()
    assert x.grad.tolist() == [6.0, 7.0, 2.0]


WRITERS = [
    lambda xp, x, k, w: x.sort(),
    lambda xp, x, k, w: x.partition(2),
    lambda xp, x, k, w: x.put(k, w),
    lambda xp, x, k, w: x.put(k, w[:2]),
    lambda xp, x, k, w: xp.put(x, k, 5),
    lambda xp, x, k, w: xp.put(x, [-1, 0, -1], w[:3]),
    lambda xp, x, k, w: xp.putmask(x, x > 1, w),
    lambda xp, x, k, w: xp.place(x, x > 1, w[:2]),
    lambda xp, x, k, w: xp.copyto(x, w),
    lambda xp, x, k, w: xp.copyto(x, w, where=w > 2),
    lambda xp, x, k, w: xp.copyto(x[1:], x[:-1]),
    lambda xp, x, k, w: xp.putmask(x[1:], w[1:] > 0, x[:-1]),
    lambda xp, x, k, w: xp.put_along_axis(x, k, w, 0),
    lambda xp, x, k, w: xp.fill_diagonal(x.reshape(2, 2), 9),
    lambda xp, x, k, w: x.__setitem__(k, w),
    lambda xp, x, k, w: x.__setitem__(k[:2], x[2:]),
    lambda xp, x, k, w: x.__setitem__(k, 2),
    lambda xp, x, k, w: x.__setitem__([0, -1, 0], w[:3]),
    lambda xp, x, k, w: x.__setitem__(k[[1, 1, 1, 3]], w),
    lambda xp, x, k, w: x.reshape(2, 2).__setitem__((k[:2] % 2, [1, 0]), w[::2]),
]


@pytest.mark.parametrize("dtype", ["f8", "i8", "f4"])
@pytest.mark.parametrize("step", [1, 2, -1])
@pytest.mark.parametrize("number", range(len(WRITERS)))
def test_writers(number, step, dtype):
    """Through views, over overlaps, and with an index given twice; each write is counted once."""
    after = []
    for xp in (np, la):
        whole = xp.array(np.array([3, 0, 1, 0, 2, 0, 7, 0], dtype))
        x = whole[: 4 * abs(step) : step] if step > 0 else whole[:4][::-1]
        k, w = xp.array([2, 0, 3, 1]), xp.array(np.array([4, 5, 6, 1], dtype))
        la.waitall()
        before = 0 if xp is np else x.var.version
        assert WRITERS[number](xp, x, k, w) is None
        la.waitall()
        after.append(whole.tolist())
        assert xp is np or x.var.version == before + 1
    assert after[0] == after[1]


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x: x.put([0, 9], 5),
        lambda x: x.__setitem__(la.array([0, 9]), 5.0),
        lambda x: x.__setitem__([0, -5], 5.0),
        lambda x: x.__setitem__(la.array([0, 1]), la.ones(3)),
        lambda x: la.copyto(x, la.ones(3)),
        lambda x: la.put(x, la.array([0, 1, 9]), la.ones(3)),
        lambda x: x.partition(9),
        lambda x: x.sort(axis=3),
    ],
)
def test_nothing_is_half_written(wrong):
    x = la.arange(4.0)
    kept = x.copy()
    try:
        wrong(x)
        x.wait_to_read()
    except (IndexError, ValueError):
        pass  # at the call, or at the wait
    else:
        raise AssertionError("no error")
    if not isinstance(la.engine.get(), la.engine.NaiveEngine):
        kept.wait_to_read()
    assert kept.tolist() == [0.0, 1.0, 2.0, 3.0]


def test_what_is_read_only_stays():
    x = la.arange(4.0)
    x.setflags(write=False)
    for write in (
        lambda: x.sort(),
        lambda: x.put(la.array([0]), la.ones(1)),
        lambda: x.__setitem__(la.array([0, 1]), 5.0),
        lambda: la.copyto(x, la.ones(4)),
        lambda: la.copyto(la.broadcast_to(la.ones(1), (4,)), x),
    ):
        with pytest.raises(ValueError, match="read-only"):
            write()
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0]


VIEWS = [
    lambda x: x.swapaxes(0, 1),
    lambda x: x.swapaxes(-1, 0),
    lambda x: x.real,
    lambda x: x.imag,
    lambda x: x.T.real,
    lambda x: x[:, ::2].imag,
    lambda x: x.view("c16"),
    lambda x: x[1:].view(np.complex128),
]


@pytest.mark.parametrize("number", range(len(VIEWS)))
def test_views_are_views(number):
    a = np.arange(12).reshape(3, 4) * (1 + 2j)
    x = la.array(a)
    seen, want = VIEWS[number](x), VIEWS[number](a)
    assert (seen.strides, seen.dtype, seen.tolist()) == (want.strides, want.dtype, want.tolist())
    assert la.shares_memory(seen, x) and seen.flags.writeable
    seen[...] = 5
    want[...] = 5
    assert x.tolist() == a.tolist()


@pytest.mark.parametrize("offset", range(-4, 6))
@pytest.mark.parametrize("axes", [(0, 1), (1, 0), (0, 2), (-1, 1)])
def test_diagonals(offset, axes):
    a = np.arange(24.0).reshape(2, 3, 4)
    x = la.array(a)
    got, want = x.diagonal(offset, *axes), a.diagonal(offset, *axes)
    assert (got.shape, got.tolist()) == (want.shape, want.tolist())
    assert not got.flags.writeable and (not got.size or la.shares_memory(got, x))


def test_memory_in_common():
    a = np.arange(24.0).reshape(4, 6)
    x = la.array(a)
    parts = [np.s_[:], np.s_[:2], np.s_[2:], np.s_[:, ::2], np.s_[:, 1::2], np.s_[0], np.s_[:0]]
    for p in parts:
        for q in parts:
            for f in ("may_share_memory", "shares_memory"):
                assert getattr(la, f)(x[p], x[q]) == getattr(np, f)(a[p], a[q]), (f, p, q)
    assert not la.may_share_memory(x, x.copy())


def test_ranges_of_floats():
    rng = random.Random(5)
    for _ in range(3000):
        n = rng.choice([1, 2, 3])
        given = [rng.choice([rng.randint(-9, 9), rng.uniform(-9, 9), 0.1, 1.0]) for _ in range(n)]
        if n == 3 and abs(given[2]) < 0.01:
            continue
        got, want = la.arange(*given), np.arange(*given)
        assert got.dtype == want.dtype, given
        np.testing.assert_array_equal(got.asnumpy(), want, str(given))
    for given in ((0, 1, 1e-300), (0.0, math.inf), (0, math.nan, 1.0), (0, 1, 0.0)):
        with pytest.raises((ValueError, ZeroDivisionError, OverflowError, MemoryError)):
            la.arange(*given)


def test_elements_by_integers():
    rng = np.random.default_rng(3)
    for dtype in ("f8", "i8", "f4", "c16", "?"):
        for shape in ((7,), (3, 5)):
            a = rng.integers(0, 9, shape).astype(dtype)
            k = [rng.integers(-n, n, 4) for n in shape]
            for key in (tuple(k), tuple([list(map(int, i)) for i in k])):
                given = tuple([la.array(i) if isinstance(i, np.ndarray) else i for i in key])
                np.testing.assert_array_equal(la.array(a)[given].asnumpy(), a[key])
                x, b = la.array(a), a.copy()
                x[given] = la.array(a.reshape(-1)[:4])
                b[key] = a.reshape(-1)[:4]
                np.testing.assert_array_equal(x.asnumpy(), b)
    for key in ([7], [0, -8], la.array([7])):
        with pytest.raises(IndexError):
            la.arange(7.0)[key].wait_to_read()


def test_large_results_of_small_operands_come_later():
    """NumPy is not asked for what is far larger than its operands."""
    for x in (
        la.zeros((60, 60, 60, 60)),
        la.full((64, 64, 64), 1.0),
        la.tile(la.ones(900), (60, 60)),
    ):
        assert x.size > 10**5


def test_a_scalar_as_an_array():
    s = la.array([3.0])[0]
    for make, ndim in (
        (la.ravel, 1),
        (la.atleast_2d, 2),
        (la.atleast_3d, 3),
        (la.array, 0),
        (la.asarray, 0),
    ):
        x = make(s)
        assert x.ndim == ndim and type(x) is la.NDArray and x.flags.writeable
        x[...] = 4
        assert float(s) == 3.0
    assert s.reshape(1, -1).tolist() == [[3.0]] and s.ravel().tolist() == [3.0]
    assert isinstance(s.reshape(()), la.Scalar) and s.squeeze() is s


def test_what_has_nothing_to_squeeze_is_itself():
    for x in (la.ones((2, 3)), la.ones(3) + 1, la.ones((2, 3)).T):
        assert x.squeeze() is x and la.squeeze(x) is x
    assert la.ones((1, 3)).squeeze().shape == (3,)


def test_one_number_is_written_as_numpy_writes_it():
    rng = random.Random(1)
    numbers = [
        0.0,
        -0.0,
        1e8,
        99999999.99999999,
        1e-4,
        9.99e-5,
        math.inf,
        -math.nan,
        5e-324,
        0.1 + 0.2,
    ]
    numbers += [rng.uniform(-1, 1) * 10.0 ** rng.randint(-12, 12) for _ in range(300)]
    numbers += [round(rng.uniform(-1000, 1000), rng.randint(0, 9)) for _ in range(300)]
    for n in [
        *map(np.float64, numbers),
        *map(np.float32, numbers),
        np.int8(-3),
        np.True_,
        np.complex64(1j),
    ]:
        a = np.array(n)
        assert repr(la.array(a)) == repr(a)
    with np.printoptions(precision=2):
        assert repr(la.array(math.pi)) == "array(3.14)"


def test_index_expressions_and_grids():
    v = la.arange(3.0)
    assert la.r_[v, 1, 2:4].tolist() == [0.0, 1.0, 2.0, 1.0, 2.0, 3.0]
    assert la.c_[v, v].shape == (3, 2) and isinstance(la.ogrid[0:2, 0:3], tuple)
    assert la.mgrid[0:2, 0:1:3j].tolist() == np.mgrid[0:2, 0:1:3j].tolist()
    assert la.r_[0 : 10**6].size == 10**6 and la.r_[0:1:1e-6].shape == np.r_[0:1:1e-6].shape
    with pytest.raises(ValueError, match="matrices"):
        la.r_["r", v]
    view = la.fromfunction(lambda i, j: i, (2, 2))
    assert view.tolist() == [[0.0, 0.0], [1.0, 1.0]]


LISTS = {
    "rows": lambda f, i: [[f, 1.5], [2, i]],
    "rows of integers": lambda f, i: [[i, 2], [3, i]],
    "tuples": lambda f, i: ((f, 1), (2, 3)),
    "a row of tuples": lambda f, i: [(1, 2, 3), (i, i, i)],
    "one row": lambda f, i: [[f]],
    "ragged": lambda f, i: [[f, 1.0], [1.0]],
    "numbers and rows": lambda f, i: [1.0, [f]],
    "rows and numbers": lambda f, i: [[f], 1.0],
    "deeper": lambda f, i: [[[f, 1], [2, 3]]],
    "large": lambda f, i: [[2**53 + 1, i], [f, 2]],
    "too large": lambda f, i: [[2**63, i], [1, 2]],
    "far too large": lambda f, i: [[2**70, i]],
    "truths": lambda f, i: [[True, False], [True, True]],
    "truths and numbers": lambda f, i: [[True, 1.5], [i, False]],
    "complex": lambda f, i: [[1j, f], [i, 2]],
    "empty rows": lambda f, i: [[], []],
    "text": lambda f, i: [["a", "b"]],
    "nothing in it": lambda f, i: [[None, f]],
    "arrays without axes": lambda f, i: [[f + 0, f * 2], [f, f]],
    "single precision": lambda f, i: [[np.float32(1.5), f]],
    "numpy": lambda f, i: [[np.float64(1.5), np.int64(3)], [f, i]],
}


@pytest.mark.filterwarnings("ignore::lazyarray.HostArrayWarning")
@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("function", ["array", "asarray", "stack", "sum"])
def test_lists_of_lists(name, function):
    def outcome(xp):
        numbers = xp.array([2.5, 7.0])[1], xp.array([3, 4])[0]
        try:
            return np.asarray(getattr(xp, function)(LISTS[name](*numbers)))
        except (ValueError, TypeError, OverflowError) as exc:
            return type(exc)

    want, got = outcome(np), outcome(la)
    if isinstance(want, type):
        assert isinstance(got, type)
    else:
        assert got.dtype == want.dtype and np.array_equal(got, want)


SCANS = [
    name
    for name in dir(np)
    if isinstance(f := getattr(np, name), np.ufunc) and (f.nin, f.nout, f.signature) == (2, 1, None)
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SCANS)
def test_accumulate(name):
    """Values, dtypes and errors are NumPy's, also where a flag is raised."""

    def run(xp, x, errors):
        with np.errstate(all=errors):
            try:
                result = np.asarray(getattr(xp, name).accumulate(x))
            except (FloatingPointError, TypeError, ValueError) as error:
                return type(error)
        return result.dtype, np.where(result != result, 0, result).tobytes()

    rng = np.random.default_rng(0)
    for d in "?bhilBLQefdF":
        for n in (1, 2, 3, 8, 33, 1000):
            x = (rng.random(n) * 9 - 3).astype(d)
            if d in "efd" and n > 3:
                x[n // 2] = np.inf if n == 8 else np.nan
            for errors in ("ignore", "raise"):
                got, want = run(la, la.array(x), errors), run(np, x, errors)
                assert got == want or issubclass(got, want), (d, n, errors)
