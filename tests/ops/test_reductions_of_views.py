"""Reductions of views of every kind have NumPy's bits, whole and in pieces."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import lazyarray as la

from ..lazy.fusing import figures, same

DTYPES = ["f8", "f4", "e", "i8", "i4", "u1", "?", "D"]
LENGTHS = [1, 2, 3, 5, 8, 9, 17, 40, 130]  # around the eight that are added up at once, and 128


def views(rng):
    """An array of NumPy's and ours, changed alike."""
    shape = [int(rng.choice(LENGTHS)) for _ in range(rng.integers(1, 4))]
    x = rng.standard_normal(shape) * 100
    dtype = str(rng.choice(DTYPES))
    x = (x + 1j * x[::-1]).astype(dtype) if dtype == "D" else x.astype(dtype)
    a = la.array(x)
    for _ in range(rng.integers(1, 4)):
        step = rng.integers(6)
        if step == 0:
            key = tuple(slice(int(rng.integers(3)), None, int(rng.integers(1, 4))) for _ in x.shape)
            x, a = x[key], a[key]
        elif step == 1:
            order = tuple(rng.permutation(x.ndim).tolist())
            x, a = x.transpose(order), a.transpose(order)
        elif step == 2 and x.ndim < 4 and x.size:
            axis = int(rng.integers(x.ndim))
            width = int(min(x.shape[axis], rng.choice([2, 3, 9])))
            a = la.lib.stride_tricks.sliding_window_view(a, width, axis)
            x = sliding_window_view(x, width, axis)
        elif step == 3:
            x, a = x[..., ::-1], a[..., ::-1]
        elif step == 4 and x.ndim < 4:
            x, a = x[..., None, :], a[..., None, :]
        elif x.ndim < 4:
            x, a = np.broadcast_to(x, (3, *x.shape)), la.broadcast_to(a, (3, *x.shape))
    return x, a


@pytest.mark.parametrize("call_ns", [1e15, 0], ids=["whole", "in pieces"])
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_any_view(seed, call_ns):
    rng = np.random.default_rng(seed)
    with figures(split_ns=0, task_ns=0, inline_ns=0, call_ns=call_ns):
        for _ in range(120):
            x, a = views(rng)
            if x.size == 0:
                continue
            several = tuple(sorted(rng.choice(x.ndim, min(2, x.ndim), replace=False).tolist()))
            keep = bool(rng.integers(2))
            for axis in (None, *range(x.ndim), several):
                for name in ("sum", "max", "prod", "any") if x.dtype != "D" else ("sum", "prod"):
                    got = getattr(la, name)(a, axis=axis, keepdims=keep)
                    same(got, getattr(np, name)(x, axis=axis, keepdims=keep))


def test_windows():
    x = np.random.default_rng(0).standard_normal(20_000)
    a = la.array(x)
    for width in (2, 5, 7, 8, 9, 128, 129):
        want = sliding_window_view(x, width)
        got = la.lib.stride_tricks.sliding_window_view(a, width)
        for name in ("sum", "max", "mean", "std", "prod"):
            same(getattr(la, name)(got, -1), getattr(np, name)(want, -1))
    want = sliding_window_view(x.reshape(100, 200), (3, 3))
    got = la.lib.stride_tricks.sliding_window_view(a.reshape(100, 200), (3, 3))
    for name in ("sum", "min", "mean"):
        same(getattr(la, name)(got, (-1, -2)), getattr(np, name)(want, (-1, -2)))


def test_a_sum_in_which_an_axis_has_no_steps():
    # NumPy's order was another one for an output of ours, whose axes all have steps.
    x = np.random.default_rng(0).standard_normal((19, 130, 3))
    view = np.broadcast_to(x.transpose(2, 1, 0)[:, :, None], (3, 130, 2, 19))
    got = la.broadcast_to(la.array(x).transpose(2, 1, 0)[:, :, None], (3, 130, 2, 19))
    same(got.sum(3), view.sum(3))
    same(got.sum((0, 3)), view.sum((0, 3)))
