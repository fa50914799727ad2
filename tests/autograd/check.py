"""Gradients compared with central differences, along random lines."""

import numpy as np
import pytest

import lazyarray as la
from lazyarray.lazy._lazy import tracked

late = pytest.mark.skipif(
    isinstance(la.engine.get(), la.engine.NaiveEngine), reason="the naive engine raises at the call"
)


def like(a, rng):
    """Random numbers of a's shape and dtype."""
    d = np.asarray(rng.standard_normal(a.shape))
    return (d + 1j * rng.standard_normal(a.shape) if a.dtype.kind == "c" else d).astype(a.dtype)


def dot(a, b):
    """The real inner product, in double precision."""
    return float(np.sum((np.conj(a.astype(complex)) * b.astype(complex)).real))


def outputs(y):
    return [x for x in (y if isinstance(y, (tuple, list)) else [y]) if x.dtype.kind in "fc"]


def leaves(arrays):
    found = [la.array(a) for a in arrays]
    for x in found:
        x.attach_grad()
    return found


def step_of(arrays):
    return float(max(np.finfo(a.dtype).eps for a in arrays)) ** (1 / 3)


def near(a, b, step, scale=0.0, least=1e-6):
    """Whether two slopes agree as well as a central difference of that step can."""
    return abs(a - b) <= max(300 * step**2, least) * max(1.0, abs(b), scale)


def difference(f, arrays, lines, step):
    """The slope of f, a function of NumPy arrays, along a line."""
    ends = [f([a + (s * step * d).astype(a.dtype) for a, d in zip(arrays, lines, strict=True)])
            for s in (1, -1)]  # fmt: skip
    return (ends[0] - ends[1]) / (2 * step)


def check(function, *arrays, seed=0, least=1e-6):
    """That the gradients of ``function``, by NumPy arrays of floats, are its slopes; gives them.

    ``least`` is the relative error that a slope may have.
    """
    rng = np.random.default_rng(seed)
    arrays = [np.asarray(a) for a in arrays]
    xs = leaves(arrays)
    with la.autograd.record():
        ys = outputs(function(*xs))
    weights = [like(y.asnumpy(), rng) for y in ys]
    heads = [(y, la.array(w)) for y, w in zip(ys, weights, strict=True) if tracked(y)]
    if heads:  # else the gradient is zero
        la.autograd.backward(*map(list, zip(*heads, strict=True)))
    grads = [x.grad.asnumpy() for x in xs]
    assert [g.dtype for g in grads] == [a.dtype for a in arrays]
    assert [g.shape for g in grads] == [a.shape for a in arrays]

    def total(values):
        found = outputs(function(*map(la.array, values)))
        return sum(dot(w, y.asnumpy()) for w, y in zip(weights, found, strict=True))

    step = step_of(arrays)
    for only in [None, *range(len(arrays))] if len(arrays) > 1 else [None]:
        lines = [like(a, rng) * (only in (None, i)) for i, a in enumerate(arrays)]
        lines = [d.astype(a.dtype) for d, a in zip(lines, arrays, strict=True)]
        slope = sum(dot(g, d) for g, d in zip(grads, lines, strict=True))
        want = difference(total, arrays, lines, step)
        scale = sum(float(np.abs(g).sum()) for g in grads)
        assert near(slope, want, step, scale / 10, least), (only, slope, want)
    return grads


def check_twice(function, *arrays, seed=0):
    """That the gradients of the gradients are their slopes."""
    rng = np.random.default_rng(seed)
    arrays = [np.asarray(a) for a in arrays]
    weights, turns = [], [like(a, rng) for a in arrays]

    def slope(xs, create):
        """The first gradients' inner product with fixed directions."""
        with la.autograd.record():
            ys = outputs(function(*xs))
            if not weights:
                weights.extend([la.array(like(y.asnumpy(), rng)) for y in ys])
            heads = [(y, w) for y, w in zip(ys, weights, strict=True) if tracked(y)]
            if not heads:
                return la.array(0.0)
            ys, ws = map(list, zip(*heads, strict=True))
            firsts = la.autograd.grad(ys, xs, ws, create_graph=create)
            parts = [
                (g * la.array(np.conj(u))).real.sum() for g, u in zip(firsts, turns, strict=True)
            ]
            return sum(parts[1:], parts[0])

    xs = leaves(arrays)
    total = slope(xs, True)
    if not tracked(total):
        seconds = [np.zeros_like(a) for a in arrays]
    else:
        seconds = [g.asnumpy() for g in la.autograd.grad(total, xs)]
    lines = [like(a, rng) for a in arrays]
    want = difference(lambda v: slope(leaves(v), False).item(), arrays, lines, step_of(arrays))
    found = sum(dot(g, d) for g, d in zip(seconds, lines, strict=True))
    scale = sum(float(np.abs(g).sum()) for g in seconds)
    assert near(found, want, step_of(arrays), scale), (found, want)
