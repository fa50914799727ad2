"""What the tests of NDArray share: doing the same with NumPy and with lazyarray."""

import os
import warnings

import numpy as np
import pytest

import lazyarray as la

asynchronous = pytest.mark.skipif(
    os.environ.get("LAZYARRAY_ENGINE_TYPE") == "NaiveEngine", reason="about what waits"
)


def memory(run_ctx, x):
    """The array on which an op of one's own, on the current device, does its work."""
    return run_ctx.cupy(x) if x.device.device_type == "gpu" else run_ctx.numpy(x)


TAKES = {
    "itself": lambda a: a,
    "T": lambda a: a.T,
    "strided": lambda a: a[:, ::2],
    "reversed": lambda a: a[::-1, ::-1],
    "vector": lambda a: a[1],
    "scalar": lambda a: a[1, 2, ...],
    "empty": lambda a: a[:0],
}


def both(take="itself", dtype=np.int64):
    host = np.arange(12).astype(dtype).reshape(3, 4)
    mine = la.array(host)
    return (host, TAKES[take](host)), (mine, TAKES[take](mine))


def same(got, want):
    """Compares results: arrays by dtype, shape and values, others by ==."""
    if isinstance(want, tuple):
        assert isinstance(got, tuple) and len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(g, w)
    elif isinstance(got, la.NDArray):
        want = np.asarray(want)
        assert (got.shape, got.dtype) == (want.shape, want.dtype)
        values = got.asnumpy()
        if values.tobytes() != want.tobytes():
            np.testing.assert_array_equal(values, want)
    else:
        assert got == want


def agree(call, take="itself", dtype=np.int64):
    """That a function does the same to a NumPy array and to an NDArray: result, array, error."""
    results = []
    for (whole, x), xp in zip(both(take, dtype), (np, la), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                results.append((call(x, xp), x, whole))
            except Exception as exc:
                results.append(exc)
    want, got = results
    if isinstance(want, Exception):
        assert isinstance(got, type(want)), (got, want)
    else:
        assert not isinstance(got, Exception), got
        same(got, want)
