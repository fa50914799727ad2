"""How large tiles are: what is used again stays in the cache, what is used once passes through."""

import numpy as np
import pytest

import lazyarray as la
from lazyarray import engine
from lazyarray.lazy._lazy import _policy

from ..ops.compare import on_gpu, there
from .fusing import both, figures, same

LEAST = int(_policy()["least"])
LENGTHS = [LEAST - 1, LEAST, LEAST + 1, 2 * LEAST + 7, 4097, 8191, 8192, 8193, 10_000, 20_001]


def relax(m, x, y):
    """Each step's operand is new, and used once."""
    for k in range(25):
        x += 0.001 * (-(x - 10) / 0.05) + 0.2 * (y + k)
    return x


def histories(m, x, y):
    """Each step leaves an array behind."""
    kept = []
    for _ in range(25):
        x += 0.001 * (-(x - 10) / 0.05) + 0.2 * y
        kept.append(x * 2)
    return kept


def states(m, *arrays):
    """Twelve arrays in turn, each used again after all others."""
    for _ in range(4):
        for a, b in zip(arrays, arrays[1:] + arrays[:1], strict=True):
            a += 0.1 * b * (1 - a)
    return arrays


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("program", [relax, histories, states])
def test_long_chains(program, n):
    rng = np.random.default_rng(0)
    arrays = [rng.random(n) for _ in range(12 if program is states else 2)]
    with figures(inline_ns=0, fuse_ns=0):
        how = both(program, *arrays)
    for run in how.passes:
        assert run["tiles"] <= -(-n // LEAST)


@pytest.mark.parametrize("figure", [1, 4, 256, LEAST])
@pytest.mark.parametrize("n", [LEAST - 1, LEAST + 1, 4097])
def test_any_tile(figure, n):
    rng = np.random.default_rng(1)
    with figures(inline_ns=0, least=figure, tile_bytes=200 if figure < 256 else 65536):
        both(histories, rng.random(n), rng.random(n))


@pytest.mark.parametrize("n", [300, 3999, 4000, 4001, 10_000, 40_000])
@pytest.mark.host  # a GPU's kernels raise no flags
def test_ready_operands_beside_open_work(n):
    """Whether a ready op runs at once or joins what is open: the same bits, errors at the wait."""
    rng = np.random.default_rng(2)
    x, y = rng.random(n), rng.random(n)
    y[n // 2] = 0
    a, b = la.array(x), la.array(y)
    la.waitall()
    with np.errstate(divide="ignore"):
        for k in range(40):
            x += 0.001 * (x - 10) + 1.0 / y.clip(0.01 * k)
            a += 0.001 * (a - 10) + 1.0 / b.clip(0.01 * k)
    same(a, x)
    with np.errstate(divide="raise"):
        for _ in range(10):
            a += 1.0
        with pytest.raises(FloatingPointError):
            (1.0 / b).wait_to_read()
    same(a, x + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1)


@pytest.mark.host  # nothing runs inline on a GPU
def test_it_joins():
    if engine.get().__class__.__name__ == "NaiveEngine":
        pytest.skip("nothing stays open")
    large, b, few = la.ones(10**6), la.ones(10_000), la.ones(100)
    la.waitall()
    with figures(flush_ns=1e15, age_ns=1e15):

        def inlined(work):
            before = engine.get().stats()["inlined"]
            result = work()
            return engine.get().stats()["inlined"] - before, result

        assert inlined(lambda: b * 0.2)[0] == 1
        open_work = large * 2.0
        assert inlined(lambda: few * 0.2)[0] == 1
        count, joined = inlined(lambda: b * 0.2)
        assert count == 0
        same(joined + open_work[:10_000], np.full(10_000, 2.2))


DTYPES = "?bBhHiIlLqQefdgFDG"
ROWS = [(1, 5), (2, 1), (2, 7), (3, 8), (3, 300), (64, 33), (3, 70_001), (2, 3, 1000), (3, 1, 4000)]


@pytest.mark.parametrize("shape", ROWS)
@pytest.mark.parametrize("name", ["max", "min", "sum", "prod", "any", "all", "argmax"])
def test_few_long_rows(shape, name):
    """What a row of results starts from, for each size of an element."""
    rng = np.random.default_rng(3)
    for code in there(DTYPES):
        if code in "FDG" and name.startswith("arg"):
            continue
        if code in "eFD" and name == "prod" and on_gpu():
            continue  # what overflows on the way and the signs of zeros depend on the order
        x = (rng.random(shape) * 4 - 1).astype(code)
        if code in "efdgFDG":
            x.flat[::3] = -0.0
            x.flat[1::7] = np.nan
        a = la.array(x)
        for split in (0, 100_000):
            with figures(split_ns=split, task_ns=0, inline_ns=0), np.errstate(all="ignore"):
                for axis in range(len(shape) - 1):
                    same(getattr(a, name)(axis), getattr(x, name)(axis))
                    same(getattr(a + a, name)(axis), getattr(x + x, name)(axis))
