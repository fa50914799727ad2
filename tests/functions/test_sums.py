"""Running sums and differences against NumPy."""

import numpy as np
import pytest

import lazyarray as la

from ..ops.compare import call, check, lay, layouts, on_gpu, rng, same
from .samples import AXES, BASES

pytestmark = pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("dtype", [None, "f4", "i2", "c16"])
def test_running(name, dtype):
    if on_gpu() and (name, dtype) == ("cumprod", "f4"):
        pytest.skip("in another order other partial products overflow")
    for a in BASES:
        for axis in AXES:
            check(name, a, axis, dtype)
    other = {"cumsum": "cumulative_sum", "cumprod": "cumulative_prod"}[name]
    for a in BASES:
        for axis in AXES:
            for initial in (False, True):
                check(other, a, axis=axis, dtype=dtype, include_initial=initial)
    out = la.zeros(3)
    assert la.cumsum(la.ones(3), out=out) is out
    same(out, np.arange(1.0, 4))
    assert la.cumulative_sum(out, out=(out,)) is out
    same(out, np.array([1.0, 3, 6]))


@pytest.mark.parametrize("n", [0, 1, 2, 9, -1])
def test_diff(n):
    for a in BASES:
        for axis in (-1, 0, 1, 5):
            if n:
                check("diff", a, n, axis)
                check("diff", a, n, axis, prepend=0, append=[[1.0]] if a.ndim == 2 else 7)
            elif a.ndim:
                same(la.diff(lay(a), 0, axis), a)


@pytest.mark.parametrize("name", ["prepend", "append"])
def test_diff_takes_none_for_no_number(name):
    with pytest.raises(TypeError):
        la.diff(la.arange(3), **{name: None})


WHOLE = rng.integers(-3, 4, (3, 4, 2))
HALVES = np.where(WHOLE > 2, np.nan, WHOLE / 2)
ARRAYS = [
    *layouts(WHOLE),
    HALVES,
    HALVES.astype("f4")[0],
    HALVES + 1j * WHOLE,
    WHOLE.astype("u1"),
    WHOLE > 0,
    np.zeros((0, 3)),
    np.zeros(0, "i8"),
    np.array(3.5),
    np.array([-0.0, 0.0, np.inf, -np.inf]),
]


def test_ediff1d():
    for a in ARRAYS:
        check("ediff1d", a)
        check("ediff1d", a, -9, [1, 2])
        check("ediff1d", a, to_begin=[[0.5]])
        check("ediff1d", a, to_end=1j)
    check("ediff1d", [1, 2, 4], np.float32(1))


@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_running_into_a_small_vector(name):
    """At once, also where it is the operand, or overlaps it."""
    for dtype in "dlfF":
        host = np.arange(1, 9).astype(dtype)
        whole, back = slice(None), slice(None, None, -1)
        for source, to in [(whole, whole), (whole, back), (slice(-1), slice(1, None))]:
            want, got = host.copy(), la.array(host)
            mine = call(getattr(la, name), (got[source],), {"out": got[to]})
            raised = call(getattr(np, name), (want[source],), {"out": want[to]})
            assert isinstance(mine, Exception) == isinstance(raised, Exception)
            np.testing.assert_array_equal(got.asnumpy(), want)
