"""The order in memory of what functions give for views: with gaps, turned round, transposed."""

import numpy as np
import pytest

import lazyarray as la

VIEWS = {
    "transposed": lambda x: x.T,
    "gaps": lambda x: x[:, ::2],
    "gaps transposed": lambda x: x[:, ::2].T,
    "rows": lambda x: x[::2],
    "rows transposed": lambda x: x[::2].T,
    "backwards": lambda x: x[::-1],
    "backwards transposed": lambda x: x[::-1].T,
    "three axes": lambda x: x.reshape(4, 5, 20).transpose(2, 1, 0),
    "three axes mixed": lambda x: x.reshape(4, 5, 20).transpose(1, 0, 2),
    "three axes with gaps": lambda x: x.reshape(4, 5, 20)[:, ::2].transpose(2, 1, 0),
}
CALLS = {
    "round": lambda m, x: m.round(x, 2),
    "round to tens": lambda m, x: m.around(x, -1),
    "clip": lambda m, x: m.clip(x, 1, 5),
    "sort": lambda m, x: m.sort(x, 0),
    "argsort": lambda m, x: m.argsort(x, 0),
    "partition": lambda m, x: m.partition(x, 1, 0),
    "cumsum": lambda m, x: m.cumsum(x, 0),
    "accumulate": lambda m, x: m.maximum.accumulate(x, 0),
    "delete": lambda m, x: m.delete(x, 1, 0),
    "delete one of a list": lambda m, x: m.delete(x, [1], 0),
    "delete some": lambda m, x: m.delete(x, [1, 2], 0),
    "delete a slice": lambda m, x: m.delete(x, slice(0, 4, 2), 1),
    "insert": lambda m, x: m.insert(x, 1, 2.0, 0),
    "insert some": lambda m, x: m.insert(x, [1, 2], 2.0, 0),
    "repeat": lambda m, x: m.repeat(x, [1] * x.shape[0], 0),
    "take": lambda m, x: m.take(x, [0, 1], 0),
    "compress": lambda m, x: m.compress([True, False, True], x, 0),
    "roll": lambda m, x: m.roll(x, 1, 0),
    "pad": lambda m, x: m.pad(x, 1),
    "fft": lambda m, x: m.fft.fft(x, axis=0),
    "nan_to_num": lambda m, x: m.nan_to_num(x),
    "sinc": lambda m, x: m.sinc(x),
    "i0": lambda m, x: m.i0(x / 100),
    "select": lambda m, x: m.select([x > 5], [x]),
    "choose": lambda m, x: m.choose((x > 5).astype(int), [x, x]),
    "digitize": lambda m, x: m.digitize(x, [1.0, 5.0]),
    "isin": lambda m, x: m.isin(x, [1.0, 2.0]),
    "interp": lambda m, x: m.interp(x, [0.0, 1.0], [0.0, 1.0]),
    "outer": lambda m, x: m.add.outer(x, [1.0, 2.0]),
    "unwrap": lambda m, x: m.unwrap(x, axis=0),
    "polyval": lambda m, x: m.polyval([1.0, 2.0], x),
    "sum from": lambda m, x: m.sum(x, 0, initial=2.0),
    "sum where": lambda m, x: m.sum(x, 0, keepdims=True, where=x > 5),
    "sum where of its rows": lambda m, x: m.sum(x, -1, where=m.arange(x.shape[-1]) > 1),
    "nanmax from": lambda m, x: m.nanmax(x, 1, initial=2.0, where=m.isfinite(x)),
    "mask of rows": lambda m, x: x[m.arange(len(x)) % 2 == 0],
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("call", CALLS)
def test_results_lie_as_numpys(call, view):
    x = np.arange(400.0).reshape(20, 20)
    want, got = (CALLS[call](m, VIEWS[view](m.array(x))) for m in (np, la))
    np.testing.assert_array_equal(got.asnumpy(), want)
    assert steps(got) == steps(want)


def steps(x):
    return [s for s, n in zip(x.strides, x.shape, strict=True) if n > 1]


STACKED = {
    "both": lambda m, x: m.matmul(x, x),
    "pending": lambda m, x: (x * 2) @ (x + 1),
    "by one matrix": lambda m, x: x @ x[0, 0],
    "by a broadcast stack": lambda m, x: x[:, :1] @ x,
    "by a smaller stack": lambda m, x: x[0] @ x[:, ::-1],
    "backwards": lambda m, x: x[::-1] @ x[::-1],
    "by a vector": lambda m, x: x @ x[0, 0, 0],
    "a vector by it": lambda m, x: x[0, 0, 0] @ x,
    "cast": lambda m, x: x.astype("f4") @ x,
    "of integers": lambda m, x: (x * 9).astype("i8") @ (x * 9).astype("i8"),
    "its matrices turned": lambda m, x: x @ m.swapaxes(x, -1, -2),
    "a power": lambda m, x: m.linalg.matrix_power(x, 3),
    "then summed": lambda m, x: m.sum(x @ x),
}


@pytest.mark.parametrize("axes", [(1, 0), (0, 1), (2, 0, 1), (1, 2, 0), (2, 1, 0)])
@pytest.mark.parametrize("product", STACKED)
def test_stacks_of_matrices(product, axes):
    """A product of stacks lies as the stacks do, each matrix of it in C order."""
    a = np.random.default_rng(0).random((*(2, 3, 4)[: len(axes)], 7, 7))
    turned = (*axes, len(axes), len(axes) + 1)
    want = STACKED[product](np, np.transpose(a, turned))
    got = STACKED[product](la, la.transpose(la.array(a), turned))
    assert got.strides == want.strides
    assert got.asnumpy().tobytes() == np.asarray(want).tobytes()
