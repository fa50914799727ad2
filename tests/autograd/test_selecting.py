"""Gradients of selecting and storing: indices, masks, duplicates, and the native scatter."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import lazyarray as la
from lazyarray.ops._rows import scatter

from ..ops.compare import there
from .check import check, check_twice, late

RNG = np.random.default_rng(0)
M = RNG.standard_normal((4, 5))
V = RNG.standard_normal(6)


# ---- reading ------------------------------------------------------------------------------------

KEYS = [
    [2, 0, 2],
    np.array([[1, 1], [0, 3]]),
    (1, [0, 4, 4]),
    ([0, 1], [2, 2]),
    (slice(None), [0, 0]),
    (slice(1, None), np.array([2, 1])),
    ([[0], [1]], [0, 1, 1]),
    ([0, 1], slice(None, None, -2)),
    (None, [0, 0], ..., None),
    M > 0,
    M[:, 0] > 0,
    (slice(None), np.array([True, False, True, True, False])),
    ([True, False, True, False], 1),
    (..., np.array(2)),
]


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("ours", [False, True])
def test_reading_by_arrays(key, ours):
    def made(k):
        return la.array(k) if ours and isinstance(k, (list, np.ndarray)) else k

    key = tuple([made(k) for k in key]) if isinstance(key, tuple) else made(key)
    check(lambda x: x[key], M)
    check(lambda x: x.T[:, ::-1].T[key] if not isinstance(key, la.NDArray) else x[key], M)
    check_twice(lambda x: x[key] ** 2, M)


def test_reading_of_views():
    check(lambda x: x[1:, ::2][[0, 2, 0]], M)
    check(lambda x: x.T[la.array([0, 0, 4])], M)
    check(lambda x: la.broadcast_to(x, (3, 6))[[0, 2]], V)


@late
@pytest.mark.parametrize("place", [0, 1])
def test_an_index_of_several_that_is_out_of_bounds(place):
    x = la.ones((3, 2))
    x.attach_grad()
    keys = [la.array([0, 1]), la.array([1, 0])]
    keys[place] = la.array([0, -4])
    with la.autograd.record():
        y = x[tuple(keys)].sum()
    y.backward()
    for array in (y, x.grad):
        with pytest.raises(IndexError, match="index -4 is out of bounds"):
            array.asnumpy()
    with (
        la.autograd.record(),
        pytest.raises(IndexError, match="index 5 is out of bounds for axis 1"),
    ):
        x[[0, 1], [0, 5]]


def test_an_index_that_is_used_twice_counts_twice():
    x = la.zeros(3)
    x.attach_grad()
    with la.autograd.record():
        y = x[la.array([0, 0, 2, 0])]
    y.backward(la.array([1.0, 10.0, 100.0, 1000.0]))
    assert x.grad.asnumpy().tolist() == [1011, 0, 100]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: la.take(x, [[1, 0], [1, 1]]),
        lambda x: la.take(x, la.array([3, 3]), axis=0),
        lambda x: la.take(x, [4, 0], axis=1),
        lambda x: la.take(x, [9, -9], axis=0, mode="wrap"),
        lambda x: la.take(x, [9, -9], axis=1, mode="clip"),
        lambda x: la.take_along_axis(x, la.argsort(x, axis=0), axis=0),
        lambda x: la.take_along_axis(x, la.argmax(x, axis=1, keepdims=True), axis=1),
        lambda x: la.compress([True, False, True, True], x, axis=0),
        lambda x: la.extract(x > 0, x),
        lambda x: la.choose(la.array([0, 1, 1, 0, 2]), [x[0], x[1], 2.0]),
        lambda x: la.select([x > 0.5, x < 0], [x * 2, x * 3], 7),
        lambda x: la.piecewise(x, [x > 0, x < -1], [lambda v: v * v, 3.0]),
        lambda x: la.repeat(x, [1, 0, 2, 3], axis=0),
        lambda x: la.repeat(x, 2, axis=1),
        lambda x: la.delete(x, [0, 2], axis=1),
        lambda x: la.insert(x, [1, 3], x[:, :2] * 2, axis=1),
        lambda x: la.append(x, x[:1], axis=0),
        lambda x: la.tile(x, (2, 3)),
        lambda x: la.roll(x, (1, -2), (0, 1)),
        lambda x: la.triu(x, 1) + la.tril(x * x),
        lambda x: la.meshgrid(x[0], x[1])[0] * la.meshgrid(x[0], x[1])[1],
        lambda x: la.pad(x, ((1, 2), (0, 3)), "reflect"),
        lambda x: la.pad(x, 2, "mean") + la.pad(x, 2, "linear_ramp"),
        lambda x: la.stack([x, x * x], axis=1),
        lambda x: la.flip(la.rot90(x)),
        lambda x: la.nan_to_num(x),
        lambda x: x.flat[[0, 3, 3]],
        lambda x: la.einsum("ii->i", x[:4, :4]),
        lambda x: la.lib.stride_tricks.sliding_window_view(x, (2, 2)) ** 2,
    ],
)
def test_functions_that_move_elements(function):
    check(function, M)


# ---- writing ------------------------------------------------------------------------------------


def written(write):
    """A function that writes to an intermediate array and gives it."""

    def function(x, *values):
        y = x * 1
        write(y, *values)
        return y

    return function


@pytest.mark.parametrize("key", [k for k in KEYS if not isinstance(k, tuple) or k[0] is not None],
                         ids=str)  # fmt: skip
@pytest.mark.parametrize("ours", [False, True])
def test_writing_by_arrays(key, ours):
    shape = M[key].shape

    def made(k):
        return la.array(k) if ours and isinstance(k, (list, np.ndarray)) else k

    key = tuple([made(k) for k in key]) if isinstance(key, tuple) else made(key)
    check(written(lambda y, v: y.__setitem__(key, v)), M, RNG.standard_normal(shape))
    check(written(lambda y, v: y.__setitem__(key, v)), M, RNG.standard_normal(()))
    check(written(lambda y: y.__setitem__(key, 3.0)), M)
    check_twice(written(lambda y, v: y.__setitem__(key, v * v)), M, RNG.standard_normal(()))


def test_the_last_of_several_values_for_one_place_gets_its_gradient():
    v = la.array([1.0, 2.0, 3.0, 4.0])
    v.attach_grad()
    x = la.zeros(3)
    x.attach_grad()
    with la.autograd.record():
        y = x * 1
        y[la.array([0, 2, 0, 0])] = v
    y.backward(la.array([1.0, 10.0, 100.0]))
    assert y.asnumpy().tolist() == [4, 0, 2]
    assert v.grad.asnumpy().tolist() == [0, 100, 0, 1]
    assert x.grad.asnumpy().tolist() == [0, 10, 0]


def test_writing_adds_and_swaps():
    check(written(lambda y: y.__setitem__([0, 1], y[[1, 0]])), M)
    check(written(lambda y: y.__setitem__(slice(1, None), y[:-1])), M)

    def added(y):
        y[[0, 1, 1]] += 2 * y[[2, 2, 3]]

    check(written(added), M)


def test_a_list_of_arrays_is_stored():
    check(written(lambda y, v: y.__setitem__([0, 2], [v[0], v[1] * 2])), V, V[:2])


@pytest.mark.parametrize(
    "write",
    [
        lambda y, v: la.put(y, [0, 7, 7], v),
        lambda y, v: la.put(y, la.array([0, 25, 7]), v, mode="wrap"),
        lambda y, v: la.putmask(y, y > 0, v),
        lambda y, v: la.place(y, y > 0, v),
        lambda y, v: la.put_along_axis(y, la.argmax(y, axis=0, keepdims=True), v[0], axis=0),
        lambda y, v: la.copyto(y, v[0], where=y > 0),
        lambda y, v: la.fill_diagonal(y, v),
        lambda y, v: y.flat.__setitem__(slice(0, 3), v),
        lambda y, v: y.flat.__setitem__([0, 5, 0], v),
        lambda y, v: la.add.at(y, ([0, 1, 0], [1, 2, 1]), v),
        lambda y, v: la.subtract.at(y, la.array([0, 0]), v[:1]),
        lambda y, v: y.sort(axis=0),
        lambda y, v: y[0].fill(v[0]),
    ],
)
def test_functions_that_write(write):
    check(written(write), M, V[:3])


def test_a_leaf_is_not_written_to():
    x = la.ones(3)
    x.attach_grad()
    with la.autograd.record():
        for write in (
            lambda: x.__setitem__([0, 1], x[1:]),
            lambda: x.sort(),
            lambda: la.put(x, [0], x[1:2]),
            lambda: la.add.at(x, [0], x[1:2]),
            lambda: la.multiply(x, 2, where=x > 0, out=x),
        ):
            with pytest.raises(ValueError, match="attach_grad"):
                write()
    assert x.asnumpy().tolist() == [1, 1, 1]


# ---- the scatter loop ---------------------------------------------------------------------------


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    dtype=st.sampled_from(["f2", "f4", "f8", "g", "c8", "c16", "G"]),
    shape=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    axis=st.integers(0, 2),
    index=st.lists(st.integers(1, 3), max_size=2),
    order=st.sampled_from("CF"),
    seed=st.integers(0, 99),
)
def test_scatter_is_add_at(dtype, shape, axis, index, order, seed):
    assume(there([dtype]))
    rng = np.random.default_rng(seed)
    axis %= len(shape)
    n = shape[axis]
    at = rng.integers(-n, n, index)
    g = rng.integers(-9, 9, (*shape[:axis], *index, *shape[axis + 1 :])).astype(dtype, order=order)
    want = np.zeros(shape, dtype)
    np.add.at(want, (slice(None),) * axis + (at,), g)
    got = scatter(la.array(g), la.array(at), axis, tuple(shape))
    np.testing.assert_array_equal(got.asnumpy(), want)


def test_scatter_adds_in_the_order_of_the_indices():
    values = np.array([1e16, 1.0, -1e16, 1.0])
    for _ in range(5):
        assert scatter(la.array(values), la.zeros(4, int), 0, (1,)).item() == 1.0


@late
def test_an_index_out_of_bounds_is_an_error_of_the_gradient():
    x = la.ones((3, 2))
    x.attach_grad()
    with la.autograd.record():
        y = x[la.array([0, 5])].sum()
    y.backward()
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        y.item()
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        x.grad.asnumpy()
    with pytest.raises(IndexError, match="index 7 is out of bounds"):
        scatter(la.ones(1), la.array([7]), 0, (3,)).asnumpy()


def test_no_wait_is_hidden_in_a_selection_and_its_gradient():
    x, i = la.array(M), la.array([0, 2, 0])
    x.attach_grad()
    with la.no_sync(), la.autograd.record():
        y = x[i] * 1
        y[i] = x[:3]
        y[y > 0] = y[0, 0]
        z = (la.sort(y, axis=0) * la.cumsum(y, axis=1)).sum()
        z.backward()
    assert np.isfinite(x.grad.asnumpy()).all()
