"""``out=`` that is a NumPy array: it is written at once, by every function that has an ``out``."""

import inspect

import numpy as np
import pytest

import lazyarray as la
from lazyarray.ops._rows import Direct

pytestmark = pytest.mark.host
X = np.array([[4.0, 1.0, 3.0], [2.0, 6.0, 5.0]])
WAYS = {
    "add": lambda xp, x, out: xp.add(x, 1, out=out),
    "add, by position": lambda xp, x, out: xp.add(x, 1, out),
    "sqrt under a mask": lambda xp, x, out: xp.sqrt(x, out=out, where=x > 2),
    "clip": lambda xp, x, out: xp.clip(x, 2, 3, out=out),
    "round": lambda xp, x, out: xp.round(x / 3, 1, out),
    "cumsum": lambda xp, x, out: xp.cumsum(x, 1, None, out),
    "method": lambda xp, x, out: x.cumsum(axis=1, out=out),
    "einsum": lambda xp, x, out: xp.einsum("ij->ij", x, out=out),
    "accumulate": lambda xp, x, out: xp.add.accumulate(x, 1, out=out),
    "nan_to_num": lambda xp, x, out: xp.nancumsum(x, 1, out=out),
    "multi_dot": lambda xp, x, out: xp.linalg.multi_dot([x[:, :2], x], out=out),
    "in place": lambda xp, x, out: xp.add(out, x, out=out),
}
SMALL = {
    "sum": lambda xp, x, out: xp.sum(x, axis=0, out=out),
    "max": lambda xp, x, out: xp.max(x, 0, out),
    "mean": lambda xp, x, out: xp.mean(x, axis=0, out=out),
    "std": lambda xp, x, out: xp.std(x, 0, None, out),
    "median": lambda xp, x, out: xp.median(x, axis=0, out=out),
    "nanmax": lambda xp, x, out: xp.nanmax(x, axis=0, out=out),
    "percentile": lambda xp, x, out: xp.percentile(x, 30, axis=0, out=out),
    "matmul": lambda xp, x, out: xp.matmul(x[0, :2], x, out=out),
    "dot": lambda xp, x, out: xp.dot(x[0, :2], x, out=out),
    "take": lambda xp, x, out: xp.take(x, 1, axis=0, out=out),
    "method": lambda xp, x, out: x.mean(axis=0, out=out),
    "sum of a method": lambda xp, x, out: x.sum(axis=0, out=out),
    "reduce": lambda xp, x, out: xp.add.reduce(x, out=out),
}


@pytest.mark.parametrize("name", [*WAYS, *SMALL])
def test_numpys_array_is_written(name, direct):
    call, shape = (WAYS[name], (2, 3)) if name in WAYS else (SMALL[name], (3,))
    got, want = np.full(shape, 9.0), np.full(shape, 9.0)
    assert call(la, la.array(X), got) is got
    call(np, X, want)
    np.testing.assert_array_equal(got, want)


def test_two_outputs(direct):
    q, r = np.zeros(3), la.zeros(3)
    found = la.divmod(la.array([5.0, 6.0, 7.0]), 4, out=(q, r))
    assert found[0] is q and found[1] is r and q.tolist() == [1, 1, 1] and r.tolist() == [1, 2, 3]
    h = np.zeros(3)
    assert la.add(la.ones(3), 1, out=(h,)) is h and h.tolist() == [2, 2, 2]


def test_what_has_gone_wrong_changes_nothing(direct):
    x = la.arange(3.0)
    for out, error in ((np.zeros(3, int), TypeError), (np.zeros(4), ValueError)):
        with pytest.raises(error):
            la.add(x, 1.5, out=out)
        assert not out.any()
    fixed = np.zeros(3)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        la.add(x, 1, out=fixed)
    h = np.full(2, 5.0)
    with pytest.raises(ValueError, match="negative integer powers"):
        la.add(la.array([1, 2]) ** la.array([-1, 2]), 1.0, out=h)
    assert h.tolist() == [5, 5]
    one = np.zeros(())
    assert la.trace(la.eye(3), out=one) is one and la.eye(2).trace(out=one) is one and one == 2
    with la.no_sync(), pytest.raises(RuntimeError, match="no_sync"):
        la.add(x, 1, out=np.zeros(3))
    with pytest.raises(TypeError):
        la.add(x, 1, out=[0.0] * 3)


def test_every_function_with_an_out_is_asked():
    """Functions of Python's that have an ``out`` are behind `Direct`, which looks for NumPy's."""
    for space in (la, la.linalg):
        for name in space.__all__:
            thing = getattr(space, name)
            if inspect.isfunction(thing) and name != "trace":  # graph's is it, too
                assert "out" not in inspect.signature(thing).parameters, name
            elif isinstance(thing, Direct):
                assert thing.recorded is not thing
