"""``x[mask]`` and ``x[mask] = values`` where the elements lie one step apart, as a column's do."""

import numpy as np
import pytest

import lazyarray as la
from lazyarray.ops._rows import fill_from

from .fusing import figures, same

SIZES = [0, 1, 7, 8, 9, 63, 64, 65, 1000, 3000, 20000]
STEPS = [-3, -2, -1, 1, 2, 3, 4, 5]
SHARES = [0.0, 0.05, 0.5, 1.0]


@pytest.mark.parametrize("inline_ns", [0, 1e15], ids=["recorded", "at once"])
@pytest.mark.parametrize("dtype", ["?", "u1", "e", "f4", "f8", "g", "D", "G"])
def test_steps_and_sizes(dtype, inline_ns):
    rng = np.random.default_rng(0)
    with figures(inline_ns=inline_ns):
        for n in SIZES:
            for step, share in zip(STEPS * 4, SHARES * 8, strict=True):
                values, p = rng.integers(0, 100, 5 * n).astype(dtype), rng.random(n)
                a, w = la.array(values), values.copy()
                x, y = a[::step][:n], w[::step][:n]
                p = p[: len(y)]
                m, mask = la.array(p) < share, p < share  # the one is pending
                same(x[m], y[mask])
                chosen = rng.integers(0, 100, mask.sum()).astype(dtype)
                x[m], y[mask] = la.array(chosen), chosen
                same(a, w)
                x[::-1][m], y[::-1][mask] = la.array(chosen[:1]).sum(dtype=dtype), chosen[:1].sum()
                same(a, w)
                if dtype != "?":
                    x[m] *= 2
                    y[mask] *= 2
                x[m[::-1]], y[mask[::-1]] = la.array(chosen)[::-1], chosen[::-1]  # no C order
                same(a, w)


@pytest.mark.host  # a GPU reads all values before it writes
@pytest.mark.parametrize("n", [1, 8, 65, 3000])
def test_values_and_masks_that_are_parts_of_the_array(n):
    values = np.arange(3.0 * n)
    mask = np.arange(n) % 3 > 0
    count = mask.sum()
    for first, step in ((0, 1), (1, 2), (n, 1), (0, 3)):
        a, w = la.array(values), values.copy()
        a[::2][:n][la.array(mask)] = a[first::step][:count]
        w[::2][:n][mask] = w[first::step][:count]  # NumPy reads what it has just written
        same(a, w)
    bools = np.arange(3 * n) % 5 > 1
    a, w = la.array(bools), bools.copy()
    for x in (a, w):
        x[::3][x[1::3]] = x[2::3][x[1::3]]
        x[::3][x[::3]] = x[::3][x[::3]][::-1]
    same(a, w)


def test_columns_of_matrices_and_planes():
    rng = np.random.default_rng(0)
    values, mask = rng.random((40, 30, 2)), rng.random((40, 30)) < 0.4
    a, w = la.array(values), values.copy()
    for x, m in ((a, la.array(mask)), (w, mask)):
        x[m, 1] *= -1
        x[:, 3, 0][m[:, 3]] += 5
        x[:, :, 0][m] = x[:, :, 1][m]  # all of both axes, one step apart
        x[::2, :, 1][m[::2]] = x[::2, :, 0][m[::2]]  # not one step apart
        x.T[0][m.T] *= 3  # nor that
    same(a, w)
    for x, m in ((a, la.array(mask)), (w, mask)):
        x[5:6, :, 0][m[5:6]] = x[7:8, :, 0][m[5:6]]  # an axis of length one
    same(a, w)
    same(la.broadcast_to(la.ones((1, 1)), (1, 9))[la.ones((1, 9)) > 0], np.ones(9))


@pytest.mark.host  # a GPU's takes what is contiguous
def test_the_loops_take_what_lies_one_step_apart():
    x, m = la.zeros((6, 4, 2)), la.ones((6, 4)) > 0
    assert fill_from(x[:, :, 1], m, la.ones(24)) and fill_from(x[::-1, 1, 0], m[:, 1], la.ones(6))
    assert fill_from(x[:3, 0, 0], m[::2, 0], la.ones(6)[::2])
    assert not fill_from(x[::2, :, 0], m[::2], la.ones(12))
    assert x.sum() == 24 + 6 + 3


def test_errors():
    x, m = la.zeros((9, 2))[:, 0], la.arange(9) < 4
    with pytest.raises(ValueError, match="cannot assign 3 input values to the 4 output values"):
        x[m] = la.ones(3)
        x.wait_to_read()
    with pytest.raises(IndexError):
        x[la.ones(8) > 0]
    y = la.broadcast_to(la.zeros((1,)), (9,))
    with pytest.raises(ValueError, match="read-only"):
        y[m] = la.ones(4)


def test_gradients_and_graphs():
    x = la.arange(12.0).reshape(6, 2)
    m = la.array([True, False, True, True, False, True])
    x.attach_grad()
    with la.autograd.record():
        loss = (x[:, 1][m] * la.array([1.0, 2.0, 3.0, 4.0])).sum()
    loss.backward()
    assert x.grad[:, 1].tolist() == [1, 0, 2, 3, 0, 4] and not x.grad[:, 0].any()

    @la.compile
    def negated(x, m, values):
        y = x * 1
        y[:, 1][m] = values
        return y

    for _ in range(3):
        want = x.asnumpy()
        want[m.asnumpy(), 1] = [4, 3, 2, 1]
        same(negated(x, m, la.array([4.0, 3.0, 2.0, 1.0])), want)
