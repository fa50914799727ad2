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
            key = (slice(None),) * int(rng.integers(x.ndim)) + (slice(None, None, -1),)
            x, a = x[key], a[key]
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


@pytest.mark.parametrize("n", [2, 3, 9, 130, 5000, 40_000])
@pytest.mark.parametrize("dtype", [*DTYPES, "g", "u4"])
def test_views_that_go_backwards(n, dtype, direct):
    rng = np.random.default_rng(n)
    base = (rng.standard_normal((n, 3)) * 100).astype(dtype)
    for turn in (
        lambda v: v[::-1],
        lambda v: v[:, ::-1],
        lambda v: v[::-2, ::-1],
        lambda v: v.T[::-1],
        lambda v: v[::-1, 0],
        lambda v: v[::-3, 1],
        lambda v: v.reshape(-1)[::-1],
    ):
        x, a = turn(base), turn(la.array(base))
        for name in ("sum", "prod", "max", "min", "any", "all", "mean", "var")[
            : None if n < 99 else 7
        ]:
            for axis in (None, *range(x.ndim)):
                if name in ("max", "min") and dtype == "D":
                    continue
                with np.errstate(all="ignore"):
                    want = getattr(np, name)(x, axis)
                    same(getattr(la, name)(a, axis), want)
                    if name in ("sum", "max") and axis == 0:
                        out, to = np.zeros_like(want), la.zeros(want.shape, want.dtype)
                        getattr(np, name)(x, axis, out=out)
                        same(getattr(la, name)(a, axis, out=to), out)


NAMES = "bitwise_and bitwise_or bitwise_xor gcd lcm hypot subtract logical_and logical_xor"


@pytest.mark.parametrize("name", NAMES.split())
def test_ops_that_are_no_functions(name, direct):
    rng = np.random.default_rng(0)
    for dtype in ("i1", "u4", "i8", "?", "f8"):
        for shape in [
            (0,),
            (1,),
            (2,),
            (37,),
            (6000,),
            (90_000,),
            (3, 4),
            (4, 0),
            (70, 80),
            (2, 3, 4),
            (2, 30, 500),
        ]:
            x = rng.integers(0, 99, shape).astype(dtype)
            for turn in (lambda v: v, lambda v: v[::-1], lambda v: v[::2], lambda v: v.T):
                v, a = turn(x), turn(la.array(x))
                for axis in (0, -1, None):
                    try:
                        want = getattr(np, name).reduce(v, axis)
                    except (TypeError, ValueError):
                        with pytest.raises((TypeError, ValueError)):
                            getattr(la, name).reduce(a, axis)
                        continue
                    same(getattr(la, name).reduce(a, axis), want)
