"""Calls of NumPy's that are made in pieces, and loops over batches that threads share."""

import threading
import warnings

import numpy as np
import pytest

import lazyarray as la
from lazyarray.lazy._lazy import Pieces
from lazyarray.ops._layout import cut_apart, cut_places, gil_op, widest

from .fusing import figures, same

pytestmark = pytest.mark.host


@pytest.fixture(params=["whole", "in pieces"])
def cut(request):
    on = request.param == "in pieces"
    least = 0 if on else 1e15
    with figures(split_ns=least, task_ns=0, call_ns=least, inline_ns=0):
        yield on


def numbers(shape, dtype="f8", seed=0):
    rng = np.random.default_rng(seed)
    x = rng.integers(-50, 50, shape).astype(dtype)
    return x + rng.random(shape).astype(dtype) if x.dtype.kind in "fc" else x


SHAPES = [(40,), (1, 40), (7, 30), (30, 7), (3, 4, 50), (2, 1, 1, 9), (5, 0), (0, 5), (64, 1)]
CALLS = {
    "sort": lambda xp, x, axis: xp.sort(x, axis=axis),
    "stable sort": lambda xp, x, axis: xp.sort(x, axis=axis, kind="stable"),
    "argsort": lambda xp, x, axis: xp.argsort(x, axis=axis, kind="stable"),
    "partition": lambda xp, x, axis: xp.sort(xp.partition(x, 0, axis=axis), axis=axis),
    "argmax": lambda xp, x, axis: xp.argmax(x, axis=axis),
    "argmin": lambda xp, x, axis: xp.argmin(x, axis=axis, keepdims=True),
    "nanargmax": lambda xp, x, axis: xp.nanargmax(x, axis=axis),
    "cumsum": lambda xp, x, axis: xp.cumsum(x, axis=axis),
    "cumprod": lambda xp, x, axis: xp.cumprod(x, axis=axis),
    "median": lambda xp, x, axis: xp.median(x, axis=axis),
    "median, kept": lambda xp, x, axis: xp.median(x, axis=axis, keepdims=True),
    "quantile": lambda xp, x, axis: xp.quantile(x, 0.3, axis=axis),
    "percentiles": lambda xp, x, axis: xp.percentile(x, [5, 50.0, 95], axis=axis),
    "percentiles, kept": lambda xp, x, axis: xp.percentile(x, [[5, 9]], axis=axis, keepdims=True),
    "fft": lambda xp, x, axis: xp.fft.fft(x, axis=axis),
    "rfft": lambda xp, x, axis: xp.fft.rfft(x, 12, axis=axis),
    "irfft": lambda xp, x, axis: xp.fft.irfft(x, axis=axis, norm="ortho"),
    "hfft": lambda xp, x, axis: xp.fft.hfft(x, 5, axis=axis),
}
LAYOUTS = {
    "C": lambda xp, x: x,
    "F": lambda xp, x: xp.asfortranarray(x),
    "backwards": lambda xp, x: x[..., ::-1],
    "steps": lambda xp, x: xp.repeat(x, 2, axis=0)[::2],
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", CALLS)
def test_along_each_axis(cut, name, shape):
    call = CALLS[name]
    for layout in LAYOUTS.values():
        x, a = layout(np, numbers(shape)), layout(la, la.array(numbers(shape)))
        for axis in range(-1, len(shape)):
            try:
                want = call(np, x, axis)
            except (ValueError, IndexError):  # of nothing
                continue
            if name == "hfft" and x.size == 0:  # NumPy reads what is not there
                continue
            same(call(la, a, axis), want)


@pytest.mark.parametrize("dtype", ["?", "u1", "i2", "i8", "e", "f4", "g", "F", "D"])
@pytest.mark.parametrize("name", ["sort", "argsort", "median", "quantile", "fft", "cumsum"])
def test_dtypes(cut, name, dtype):
    if name == "quantile" and dtype in "?FD":
        pytest.skip("they have none")
    x = numbers((9, 33), dtype)
    for axis in (0, 1):
        same(CALLS[name](la, la.array(x), axis), CALLS[name](np, x, axis))


@pytest.mark.parametrize("shape", [(), (1,), (40,), (7, 30), (2, 1, 33)])
def test_places_that_are_looked_up(cut, shape):
    x, points = numbers(shape), np.sort(numbers(25, seed=1))
    values = numbers(25, seed=2)
    a, p, v = la.array(x), la.array(points), la.array(values)
    for side in ("left", "right"):
        same(la.searchsorted(p, a, side), np.searchsorted(points, x, side))
    order = np.argsort(values)
    same(la.searchsorted(v, a, sorter=la.array(order)), np.searchsorted(values, x, sorter=order))
    same(la.digitize(a, p, right=True), np.digitize(x, points, right=True))
    same(la.interp(a, p, v), np.interp(x, points, values))
    same(la.interp(a, p, v, -1, 7), np.interp(x, points, values, -1, 7))
    same(la.interp(a, p, v, period=10), np.interp(x, points, values, period=10))


@pytest.mark.parametrize("stack", [(1,), (2,), (33,), (3, 9), (9, 3)])
@pytest.mark.parametrize("n", [1, 3, 8])
def test_stacks_of_matrices(cut, stack, n):
    x = numbers((*stack, n, n)) + 100 * np.eye(n)
    y = numbers((*stack, n, 2), seed=1)
    hermitian = x @ np.swapaxes(x, -1, -2)
    a, b, h = la.array(x), la.array(y), la.array(hermitian)
    same(la.linalg.inv(a), np.linalg.inv(x))
    same(la.linalg.solve(a, b), np.linalg.solve(x, y))
    same(la.linalg.solve(a, b[:1]), np.linalg.solve(x, y[:1]))
    same(la.linalg.det(a), np.linalg.det(x))
    same(la.linalg.slogdet(a), np.linalg.slogdet(x))
    same(la.linalg.cholesky(h), np.linalg.cholesky(hermitian))
    same(la.linalg.eigvalsh(h), np.linalg.eigvalsh(hermitian))
    same(la.linalg.eigh(h), np.linalg.eigh(hermitian))
    same(la.linalg.svd(a), np.linalg.svd(x))
    same(la.linalg.qr(a), np.linalg.qr(x))
    same(la.linalg.pinv(a), np.linalg.pinv(x))
    same(a @ b, x @ y)
    same(la.vecdot(a, a), np.vecdot(x, x))


def test_into_an_output(cut):
    x = numbers((9, 33))
    a, out, want = la.array(x), la.zeros((9, 17), "D"), np.zeros((9, 17), "D")
    np.fft.rfft(x, out=want)
    la.fft.rfft(a, out=out)
    same(out, want)
    to, wanted = la.zeros(33), np.zeros(33)
    la.median(a, 0, out=to)
    same(to, np.median(x, 0, out=wanted))


def test_an_error_is_that_of_the_first_piece(cut):
    if isinstance(la.engine.get(), la.engine.NaiveEngine):
        pytest.skip("its errors come at the call")

    def function(v):
        raise ValueError(f"of {v[0]}")

    x = la.arange(100.0)
    y = gil_op("failing", function, [x], (100,), mini=np.negative, cost=1e6, cut=(0, 0))
    z = y + 1
    for _ in range(2):
        with pytest.raises(ValueError) as caught:
            z.wait_to_read()
        assert str(caught.value) == "of 0.0"
    assert "test_pieces.py" in "".join(caught.value.__notes__)


def test_matrices_of_which_one_is_singular(cut):
    x = np.tile(np.eye(3), (50, 1, 1))
    x[[17, 31]] = 0
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        la.linalg.inv(la.array(x)).wait_to_read()
    x[17] = np.inf
    with pytest.raises(np.linalg.LinAlgError, match="SVD did not converge"):
        la.linalg.svd(la.array(x))[1].wait_to_read()


def test_a_warning_comes_once(cut):
    x = np.full((60, 4), np.inf)
    x[:, :2] = -np.inf
    with warnings.catch_warnings(record=True) as want:
        warnings.simplefilter("always")
        np.median(x, axis=1)
    with warnings.catch_warnings(record=True) as got:
        warnings.simplefilter("always")
        la.median(la.array(x), axis=1).wait_to_read()
    assert [str(w.message) for w in got] == [str(w.message) for w in want]
    assert len(want) == 1
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError):
        la.median(la.array(x), axis=1).wait_to_read()
    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        la.cumprod(la.full((60, 400), 1e300), axis=1).wait_to_read()
    with warnings.catch_warnings(record=True) as got:
        warnings.simplefilter("always")
        la.cumprod(la.full((60, 400), 1e300), axis=1).wait_to_read()
    assert len(got) == 1


def test_threads_take_part():
    # Two calls that wait for each other end only if they run at once.
    if isinstance(la.engine.get(), la.engine.NaiveEngine) or la.engine.get().cores < 2:
        pytest.skip("one thread")
    meet = threading.Barrier(2, timeout=30)

    def function(v):
        if v[0] in (0, 50):
            meet.wait()
        return v + 1

    with figures(call_ns=500_000):
        x = la.arange(100.0)
        y = gil_op("meeting", function, [x], (100,), mini=np.negative, cost=1e6, cut=(0, 0))
        same(y, np.arange(100.0) + 1)


def test_what_is_cut():
    assert widest((3, 9, 9)) == 1
    assert widest((3, 9, 9), 1) == 2
    assert widest((3, 1), -2) is None
    assert widest(()) is None
    assert cut_apart((4, 5, 6), [2]) == (1, 1)
    assert cut_apart((4, 5, 6), [0], keepdims=False) == (2, 1)
    assert cut_apart((4, 5, 6), (0, -1), False, lead=1) == (1, 1)
    assert cut_apart((4, 5), (0, 1)) is None
    assert cut_places((4, 9), 3, 1) == (None, 1, None, 1)
    assert Pieces(None, None, [0, None], False).cut == (0, None)
