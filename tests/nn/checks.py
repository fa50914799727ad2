"""What the tests of la.nn share: gradients against finite differences, how a segment ran."""

import re

import numpy as np

import lazyarray as la

from ..lazy.fusing import figures


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def close(got, want, tol=1e-12):
    got = got.asnumpy() if isinstance(got, la.NDArray) else np.asarray(got)
    want = np.asarray(want)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=tol, atol=tol)


def leaves(*arrays):
    made = [la.array(a) for a in arrays]
    for x in made:
        if x.dtype.kind == "f":
            x.attach_grad()
    return made


def gradients(f, *arrays, weights=None):
    """The gradients of ``sum(weights * f(*arrays))`` by the arrays of floats, as NumPy's."""
    xs = leaves(*arrays)
    with la.autograd.record():
        y = f(*xs)
        loss = (y if weights is None else y * la.array(weights)).sum()
    loss.backward()
    return [x.grad.asnumpy() for x in xs if x.grad is not None]


def slope(f, arrays, k, direction, eps):
    up, down = list(arrays), list(arrays)
    up[k], down[k] = arrays[k] + eps * direction, arrays[k] - eps * direction
    return (f(up) - f(down)) / (2 * eps)


def check_gradients(f, *arrays, second=True, eps=1e-5, tol=1e-7):
    """The gradients of f, and theirs, against differences along random directions (float64)."""
    rng = np.random.default_rng(7)
    floats = [k for k, a in enumerate(arrays) if a.dtype.kind == "f"]
    weights = rng.standard_normal(f(*map(la.array, arrays)).shape)

    def value(given):
        return float((f(*map(la.array, given)) * la.array(weights)).sum())

    grads = dict(zip(floats, gradients(f, *arrays, weights=weights), strict=True))
    ways = {k: rng.standard_normal(arrays[k].shape) for k in floats}
    for k in floats:
        want = slope(value, arrays, k, ways[k], eps)
        assert abs((grads[k] * ways[k]).sum() - want) <= tol * (1 + abs(want)), k
    if not second:
        return

    def along(given):  # the gradients' parts along `ways`, whose gradients are second ones
        found = gradients(f, *given, weights=weights)
        return sum((g * ways[k]).sum() for k, g in zip(floats, found, strict=True))

    xs = leaves(*arrays)
    with la.autograd.record():
        loss = (f(*xs) * la.array(weights)).sum()
        first = la.autograd.grad(loss, [xs[k] for k in floats], create_graph=True)
        total = sum([(xs[k] * 0.0).sum() for k in floats])  # so that it has a history in any case
        for k, g in zip(floats, first, strict=True):
            total = total + (g * la.array(ways[k])).sum()
    found = la.autograd.grad(total, [xs[k] for k in floats])
    for k, g in zip(floats, found, strict=True):
        want = slope(along, arrays, k, ways[k], eps)
        assert abs((g.asnumpy() * ways[k]).sum() - want) <= tol * (1 + abs(want)), k


def explained(f):
    """Runs f, and gives what ``la.explain()`` says of it."""
    la.waitall()
    with figures(age_ns=1e15):  # no idle worker takes the first of its ops
        f()
        la.waitall()
    return la.explain()


def one_fused_pass(f):
    """That f ran as one operator of one pass that moves no more memory than it must.

    On a GPU as one kernel; numbers that lie in memory may have operators of their own.
    """
    text = explained(f)
    if "on gpu(" in text:
        assert len(re.findall(r"^  fused into 1 kernel; moves \d+ .B$", text, re.M)) == 1, text
    else:
        assert "in 1 operator," in text, text
        passes = text.count("fused pass over")
        assert passes == 1 and len(re.findall(r"^  \S", text, re.M)) == 1, text
    moved, least = re.search(r"memory moved: (.+?); least possible (.+?);", text).groups()
    assert moved == least, text
