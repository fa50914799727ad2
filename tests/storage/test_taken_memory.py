"""Results whose memory NumPy has allocated: it becomes the array's, from PoolPolicy::taken on."""

import gc
import time
import weakref

import numpy as np
import pytest

import lazyarray as la
from lazyarray.lazy._lazy import Giving
from lazyarray.ops import _rows

from ..ops.compare import same

pytestmark = pytest.mark.host
rng = np.random.default_rng(7)
TAKEN = 65536  # bytes
SIZES = [TAKEN // 8 - 1, TAKEN // 8, TAKEN // 8 + 1, 40_000]


def given(function, shape, dtype=float):
    """An op's result that the function has made, and the array that it gave."""
    seen = []

    def make():
        value = function()
        seen.append(value.ctypes.data)
        return (value,)

    (x,) = _rows.call("made", Giving(make), [], [(shape, np.dtype(dtype))])
    x.wait_to_read()
    return x, seen[0]


def address(x):
    return np.asarray(x, copy=False).ctypes.data


@pytest.mark.parametrize("n", SIZES)
def test_large_results_are_not_copied(n):
    x, at = given(lambda: np.arange(float(n)), (n,))
    assert (address(x) == at) == (8 * n >= TAKEN)
    same(x, np.arange(float(n)))
    assert x.flags.owndata and x.base is None and x.var.version == 1
    x[1:] += 1
    x.resize(n + 3)
    assert x.shape == (n + 3,) and x[n - 1] == n and not x[n:].asnumpy().any()


def test_what_somebody_else_knows_is_copied():
    n = 20_000
    known = np.ones(n)
    kept = []
    backing = np.ones(2 * n)

    def keep():
        kept.append(np.ones(n))
        return kept[-1]

    makers = [lambda: known, keep, lambda: backing[:n], lambda: np.ones(2 * n)[::2],
              lambda: np.ones((n, 1))[:, 0], lambda: np.ones(n, "f4"), lambda: np.ones(n, ">f8"),
              lambda: np.broadcast_to(1.0, n)]  # fmt: skip
    for make in makers:
        x, at = given(make, (n,))
        assert address(x) != at
        x += 1
        same(x, np.full(n, 2.0))
    assert (known == 1).all() and (kept[0] == 1).all() and (backing == 1).all()


def test_two_results_that_are_one_array():
    def make():
        value = np.ones(20_000)
        return value, value

    x, y = _rows.call("made", Giving(make), [], [((20_000,), np.dtype(float))] * 2)
    x += 1
    same(y, np.ones(20_000))
    same(x, np.full(20_000, 2.0))


def test_other_layouts_and_shapes():
    f = np.asfortranarray(rng.random((150, 200)))
    for x, want in [
        given(lambda: np.array(f, order="F"), (150, 200)),
        given(lambda: np.array(f[:1], order="F"), (1, 200)),
    ]:
        del want
        assert np.array_equal(x.asnumpy(), f[: len(x.asnumpy())])
    with pytest.raises(ValueError, match="broadcast"):
        given(lambda: np.ones(20_001), (20_000,))


def test_the_memory_is_counted_and_let_go_of():
    before = la.storage.pool_stats()["in_use"]
    x = la.partition(la.arange(100_000.0), 5).wait_to_read()
    y = la.linspace(0, 1, 100_000).wait_to_read()
    assert la.storage.pool_stats()["in_use"] >= before + x.nbytes + y.nbytes
    del x, y
    la.waitall()
    end = time.monotonic() + 10  # a worker lets go of what it ran a moment after it is complete
    while la.storage.pool_stats()["in_use"] > before + 100:
        assert time.monotonic() < end
        time.sleep(0.01)


def test_numpy_gets_its_array_back():
    class Memory(np.ndarray):
        pass

    alive = []

    def make():
        value = np.ones(20_000)
        alive.append(weakref.ref(value))
        return (value,)

    (x,) = _rows.call("made", Giving(make), [], [((20_000,), np.dtype(float))])
    x.wait_to_read()
    assert alive[0]() is not None
    del x
    la.waitall()
    gc.collect()
    assert alive[0]() is None


def test_an_array_that_has_memory_keeps_it():
    x = la.zeros(20_000)
    x.wait_to_read()
    at = address(x)
    _rows.call("made", Giving(lambda: (np.ones(20_000),)), [], [x])
    same(x, np.ones(20_000))
    assert address(x) == at


def test_errors_of_what_gives():
    def fail():
        raise KeyError("no")

    (x,) = _rows.call("made", Giving(fail), [], [((20_000,), np.dtype(float))])
    with pytest.raises(KeyError):
        x.wait_to_read()
    x[...] = 3
    same(x, np.full(20_000, 3.0))


@pytest.mark.parametrize("n", [4, *SIZES])
def test_calls_give_numpys_arrays(n):
    a = rng.random(n)
    x = la.array(a)
    for name, *args in [("partition", 3), ("argpartition", 3), ("delete", 1), ("insert", 1, 5.0),
                        ("round", 2), ("flatnonzero",), ("argwhere",), ("unique",), ("nonzero",),
                        ("delete", [0, 2]), ("delete", slice(1, 3)), ("insert", [0, 2], [7.0, 8.0]),
                        ("unique_values",), ("convolve", np.ones(3)), ("trim_zeros",)]:  # fmt: skip
        got, want = getattr(la, name)(x, *args), getattr(np, name)(a, *args)
        pairs = zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]
        for mine, numpys in pairs:
            same(mine, numpys)
            if mine.flags.writeable and mine.dtype.kind == "f" and name != "trim_zeros":
                mine *= 2  # its own memory
    same(x, a)
    bits = rng.integers(0, 256, n, np.uint8)
    same(la.unpackbits(la.array(bits)), np.unpackbits(bits))
    same(la.packbits(la.array(bits)), np.packbits(bits))
    for k in (-1, 0, 2):
        for mine, numpys in zip(la.tril_indices(90, k), np.tril_indices(90, k), strict=True):
            same(mine, numpys)
    for name in ("linspace", "geomspace"):
        same(getattr(la, name)(1, 2, n), getattr(np, name)(1, 2, n))


@pytest.mark.parametrize("n", SIZES)
def test_draws_give_numpys_numbers(n):
    la.random.seed(3)
    np.random.seed(3)
    a = np.arange(float(n))
    x = la.array(a)
    for draw in (lambda r, v: r.random_sample(n), lambda r, v: r.normal(1.0, 2.0, size=n),
                 lambda r, v: r.choice(v), lambda r, v: r.choice(v, n),
                 lambda r, v: r.permutation(n), lambda r, v: r.choice(v, 5, False),
                 lambda r, v: r.permutation(v),
                 lambda r, v: r.randint(10, size=n)):  # fmt: skip
        same(draw(la.random, x), draw(np.random, a))
    mine, numpys = la.random.default_rng(1), np.random.default_rng(1)
    for draw in (
        lambda r: r.random(n, dtype="f4"),
        lambda r: r.integers(9, size=n),
        lambda r: r.gamma(2.0, size=n),
    ):
        same(draw(mine), draw(numpys))
    out = la.zeros(n)
    mine.random(out=out)
    same(out, numpys.random(n))
