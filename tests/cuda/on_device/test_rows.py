"""Reductions of short rows, and what needs them: one kernel, which keeps rows in registers."""

import numpy as np
import pytest

import lazyarray as la
from lazyarray.lazy import _lazy

from ...lazy.fusing import figures

pytestmark = pytest.mark.usefixtures("whole")

# Around what a thread and a block keep (Launch::elements, kThreads, kRow).
LENGTHS = [2, 3, 32, 33, 64, 65, 129, 1024, 1025, 2049, 4096, 4097]


def softmax(np, x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def layer_norm(np, x):
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(variance + 1e-5) * x[0] + x[:, :1]


def log_sum_exp(np, x):
    most = x.max(axis=1, keepdims=True)
    return np.log(np.exp(x - most).sum(axis=1)) + most[:, 0], most


def in_place(np, x):
    x -= x.mean(axis=1, keepdims=True)
    x /= np.sqrt((x * x).mean(axis=1, keepdims=True)) + 1
    return x


def total_of_rows(np, x):
    """The last total is of other axes."""
    return ((x - x.min(axis=1, keepdims=True)).sum(axis=1) / 3).sum()


def ran(program, *arrays):
    """The results on the device, and how many kernels they took."""
    given = [la.array(a) for a in arrays]
    la.waitall()
    before = _lazy.kernels_launched()
    got = program(la, *given)
    got = [y.asnumpy() for y in (got if isinstance(got, tuple) else (got,))]
    return got, _lazy.kernels_launched() - before


def check(program, *arrays, most=None):
    want = program(np, *[a.copy() for a in arrays])
    got, kernels = ran(program, *arrays)
    for g, w in zip(got, want if isinstance(want, tuple) else (want,), strict=True):
        eps = np.finfo(w.dtype).eps if w.dtype.kind in "fc" else 0
        assert g.dtype == w.dtype
        largest = float(np.abs(w).max()) if w.size else 0
        np.testing.assert_allclose(g, w, rtol=200 * eps, atol=200 * eps * largest)
    assert most is None or kernels <= most
    return kernels


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("m", [1, 70])
@pytest.mark.parametrize("program", [softmax, layer_norm, log_sum_exp, in_place])
def test_rows_are_read_once(gpu, program, m, n):
    x = np.random.default_rng(n).standard_normal((m, n)).astype("f")
    check(program, x, most=1 if n <= 4096 else None)


@pytest.mark.parametrize("dtype", "edFDilB")
def test_dtypes(gpu, dtype):
    x = (np.random.default_rng(0).random((9, 70)) * 9 + 1).astype(dtype)
    if x.dtype.kind in "fc":
        x = x / x.dtype.type(9)

    def program(np, x):
        total = x.sum(axis=1, keepdims=True)
        return x * x - total, total

    kernels = check(program, x)
    if dtype != "B":  # whose sums are of another dtype
        assert kernels == 1


@pytest.mark.parametrize("axes", [(1, 2), (2,), (0, 1, 2)])
def test_several_axes(gpu, axes):
    x = np.random.default_rng(0).random((5, 6, 7))
    check(lambda np, x: x - x.sum(axis=axes, keepdims=True), x, most=1)


def test_axes_that_are_not_the_last(gpu):
    x = np.random.default_rng(0).random((40, 50))
    check(lambda np, x: x / x.sum(axis=0), x)
    check(lambda np, x: x.T / x.T.sum(axis=1, keepdims=True), x)
    check(lambda np, x: np.exp(x[::-1, ::2] - x[::-1, ::2].max(axis=1, keepdims=True)), x)


def test_totals_that_columns_need_are_there_when_they_do(gpu):
    """Sums of rows, added along rows: each row needs all of them."""
    x = np.random.default_rng(0).random((50, 50))

    def crossed(np, x):
        total = x.sum(axis=1)
        return x + total, x - total[:, None]

    check(crossed, x)


def test_a_total_of_the_totals(gpu):
    check(total_of_rows, np.random.default_rng(0).random((300, 40)), most=3)


def test_numbers_of_a_row_that_are_changed_in_place(gpu):
    """All threads of a row have loaded them before one of them stores."""
    rng = np.random.default_rng(0)
    x, s = rng.random((60, 200)), rng.random((60, 1))

    def program(np, x, s):
        y = x * s
        s /= y.sum(axis=1, keepdims=True)
        y = y * s
        s += 1
        return y, s, y.max(axis=1, keepdims=True) + s

    for _ in range(5):
        check(program, x, s, most=1)


def test_rows_of_another_array_that_are_changed(gpu):
    rng = np.random.default_rng(0)
    x, y = rng.random((60, 200)), rng.random((60, 200))

    def program(np, x, y):
        y += x.sum(axis=1, keepdims=True)
        x[...] = y.max(axis=1, keepdims=True)
        y *= x
        return x, y

    check(program, x, y)


def test_kernels_that_a_row_begins_and_ends(gpu):
    """What comes before the first total, and after the last, is in the same kernel."""
    x = np.random.default_rng(0).random((60, 200))

    def program(np, x):
        a = np.sqrt(x) + 1
        b = a.sum(axis=1, keepdims=True)
        c = a / b
        return a, c, np.sin(c) + b

    check(program, x, most=1)


def test_the_bits_are_the_same_at_each_run(gpu):
    x = la.array(np.random.default_rng(0).standard_normal((33, 1000)))
    first = softmax(la, x).asnumpy()
    for _ in range(3):
        np.testing.assert_array_equal(softmax(la, x).asnumpy(), first)


def test_errors_of_the_inputs_reach_all_results(gpu):
    x = la.ones((4, 9))
    with pytest.raises(IndexError):
        bad = x[la.array([7])]
        softmax(la, bad).asnumpy()


def test_without_fusion(gpu):
    with figures(fuses=0):
        check(softmax, np.random.default_rng(0).random((5, 300)))
