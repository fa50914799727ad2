"""What NumPy writes into few elements at hand: with masks, or into an operand's memory."""

import warnings

import numpy as np
import pytest

import lazyarray as la

from .compare import asynchronous, pending, same

pytestmark = pytest.mark.host
rng = np.random.default_rng(7)
LENGTHS = [1, 2, 37, 500, 501, 502, 2000]  # NumPy keeps the GIL for 500
STEPS = {
    "next": lambda a: (a[1:], a[:-1]),
    "last": lambda a: (a[:-1], a[1:]),
    "turned": lambda a: (a[::-1], a),
    "turned back": lambda a: (a, a[::-1]),
    "every other": lambda a: (a[::2], a[::2][::-1]),
    "spread": lambda a: (a[::2], a[: len(a[::2])]),
}


@pytest.mark.parametrize("dtype", ["e", "f", "d", "g", "F", "D", "b", "Q", "?"])
@pytest.mark.parametrize("step", STEPS)
def test_outputs_that_share_memory(step, dtype, direct):
    for n in LENGTHS:
        base = (rng.random(n) * 9 + 1).astype(dtype)
        for name in ("add", "multiply", "maximum", "divide"):
            if name == "divide" and dtype in "bQ?":
                continue
            x, a = base.copy(), la.array(base)
            to, other = STEPS[step](x)
            getattr(np, name)(to, other, out=to)
            ours, others = STEPS[step](a)
            assert getattr(la, name)(ours, others, out=ours) is ours
            same(a, x)
        for name in ("sqrt", "negative") if dtype in "efdgFD" else ():
            x, a = base.copy(), la.array(base)
            to, other = STEPS[step](x)
            getattr(np, name)(other, out=to)
            to, other = STEPS[step](a)
            getattr(la, name)(other, out=to)
            same(a, x)


@pytest.mark.parametrize("dtype", ["e", "f", "d", "D", "i", "?"])
def test_masks(dtype, direct):
    for shape in [(n,) for n in LENGTHS] + [(0,), (3, 4), (20, 25), (20, 26)]:
        base, more = ((rng.random(shape) * 9).astype(dtype) for _ in range(2))
        mask = rng.random(shape) > 0.5
        for turn in (lambda v: v, lambda v: v[::-1], lambda v: v.T):
            for where in (mask, mask[..., :1], True, False):
                if np.ndim(where) and np.ndim(base) > 1 and where.shape != shape:
                    where = mask[:1, :1]
                ours, theirs = where, where
                if np.ndim(where):
                    ours, theirs = turn(la.array(where)), turn(where)
                for here, there in ((True, True), (turn(la.array(more)), turn(more))):
                    x, a = base.copy(), la.array(base)
                    np.add(turn(x), there, out=turn(x), where=theirs)
                    to = turn(a)
                    assert la.add(to, here, out=to, where=ours) is to
                    same(a, x)


def test_what_a_mask_refuses(direct):
    x, mask = la.ones(5), la.array([True, False, True, False, True])
    for call in (
        lambda m, x, k: m.add(x, 1, out=x, where=k[:3]),
        lambda m, x, k: m.add(x, 1j, out=x, where=k),
        lambda m, x, k: m.add(x[:, None], x, out=x, where=k),
    ):
        with pytest.raises(Exception) as theirs:
            call(np, np.ones(5), mask.asnumpy())
        with pytest.raises(type(theirs.value)):
            call(la, x, mask)
            x.wait_to_read()
    assert x.asnumpy().tolist() == [1.0] * 5


@asynchronous
def test_masks_of_what_is_pending(direct):
    x, y, mask = la.ones(5), la.zeros(5), la.array([True, False, True, False, True])
    with pending(x):
        la.add(x, 1, out=y, where=mask)
        la.add(y[1:], y[:-1], out=y[1:])
    want = np.add(np.ones(5), 1, out=np.zeros(5), where=mask.asnumpy())
    want[1:] += want[:-1]
    same(y, want)


def test_flags_are_told_once_and_errors_leave_the_values(direct):
    x = la.array(np.array([1e4, 6e4, 2.0], "e"))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        x[1:] += x[:-1]
        x.wait_to_read()
    assert [w.category for w in told] == [RuntimeWarning]
    assert x.asnumpy().tolist() == [1e4, np.inf, 60000.0]
    x = la.array([1.0, 0.0, 2.0])
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        la.divide(1, x, out=x, where=la.array([True, True, False]))
        x.wait_to_read()
