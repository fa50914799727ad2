"""What stages become on a GPU: kernels, registers, what is stored between kernels."""

import re
import time

import numpy as np
import pytest

import lazyarray as la
from lazyarray.lazy import _lazy
from lazyarray.lazy.cuda import services

from ...lazy.fusing import figures

pytestmark = pytest.mark.usefixtures("whole")


def launched(function):
    """How many kernels a call launches, and its results as NumPy arrays."""
    la.waitall()
    before = _lazy.kernels_launched()
    results = function()
    la.waitall()
    count = _lazy.kernels_launched() - before
    return count, [np.asarray(r) for r in results]


def explained():
    return re.sub(r"launched in \S+ \S+", "launched", la.explain())


def test_a_chain_is_one_kernel(gpu):
    a, b = la.arange(6.0), la.full(6, 2.0)
    n, (y,) = launched(lambda: [(a * b + a - 1) / (b + 1.5)])
    assert n == 1
    x = np.arange(6.0)
    np.testing.assert_array_equal(y, (x * 2 + x - 1) / 3.5)
    assert "fused into 1 kernel;" in explained()
    assert explained().count("in registers") == 4


@pytest.mark.parametrize("ops", [47, 48, 95, 96, 97, 193])
def test_a_kernel_of_many_ops(gpu, ops):
    """What stays in registers takes nothing of a kernel's argument."""

    def chain(y):
        for k in range(ops):
            y = y * 0.5 if k % 2 else y + k
        return y

    x = np.arange(1500.0)
    a = la.array(x)
    with la.engine.bulk(1000), figures(gpu_age_ns=10**10):  # nobody flushes before, however slow
        n, (y,) = launched(lambda: [chain(a)])
    assert n == -(-ops // 96)  # Builder::kMembers
    np.testing.assert_array_equal(y, chain(x))


@pytest.mark.parametrize("axes", [1, 2, 4])
@pytest.mark.parametrize("arrays", [30, 94, 95, 96, 97, 160])
def test_a_kernel_of_many_operands(gpu, axes, arrays):
    """So many that the words of an argument, or the members of a kernel, are used up."""
    shape = {1: (60,), 2: (12, 5), 4: (5, 2, 3, 2)}[axes]
    whole = np.arange(arrays * 120.0).reshape(arrays, *shape[:-1], 2 * shape[-1])
    given = [la.array(x)[..., ::2] for x in whole]
    kept = []

    def total():
        y = given[0] * 2
        for k, x in enumerate(given[1:]):
            y = y + x
            if k % 10 == 0:
                kept.append(y)
        return [y, *kept]

    with la.engine.bulk(1000):
        _, results = launched(total)
    sums = np.cumsum(whole[..., ::2], axis=0) + whole[0, ..., ::2]
    np.testing.assert_array_equal(results[0], sums[-1])
    for k, y in enumerate(results[1:]):
        np.testing.assert_array_equal(y, sums[10 * k + 1])


def test_a_reduction_closes_a_kernel(gpu):
    a = la.arange(12.0).reshape(3, 4)
    n, (s,) = launched(lambda: [la.exp(a * 0.1).sum(axis=1)])
    assert n == 1
    np.testing.assert_allclose(
        s, np.exp(np.arange(12.0).reshape(3, 4) * 0.1).sum(axis=1), rtol=1e-14
    )


def test_what_uses_a_reduction_of_long_rows_is_another_kernel(gpu):
    """Short rows are another matter: see test_rows.py."""
    x = np.random.default_rng(0).random((3, 5000))
    a = la.array(x)

    def softmax():
        e = la.exp(a - a.max(axis=1, keepdims=True))
        return [e / e.sum(axis=1, keepdims=True)]

    n, (y,) = launched(softmax)
    assert n == 3
    np.testing.assert_allclose(y, np.exp(x) / np.exp(x).sum(axis=1, keepdims=True), rtol=1e-12)
    text = explained()
    assert "fused into 3 kernels" in text
    # exp is stored, for two kernels use it; the difference isn't.
    assert re.search(r"subtract .*in registers", text)
    assert not re.search(r"exp .*in registers", text)


def test_shapes_share_a_source(gpu):
    (la.ones(10) * 3 + 1).wait_to_read()
    before = len(services._functions)
    (la.ones(11) * 5 + 2).wait_to_read()
    (la.ones((4, 5)) * 7 + 3).wait_to_read()
    assert len(services._functions) == before


def test_a_slow_loop_meets_no_new_kernels(gpu):
    """Time does not cut what a program is about to go on with.

    It does cut what a thread stays away from for `gpu_age_ns`, as one does on a busy machine: only
    runs whose lines followed each other sooner say anything.
    """
    age = 5_000_000
    names = "sqrt exp tanh negative abs sin cos log1p square arctan".split() * 3
    lines = [f"    y = np.{name}(y) * 0.5 + 1; pause(0.0004)" for name in names]
    gaps, last = [], 0.0

    def pause(seconds):
        nonlocal last
        gaps.append(time.perf_counter() - last)
        time.sleep(seconds)
        gaps.append(time.perf_counter() - last)
        last = time.perf_counter()

    scope = {"pause": pause}
    exec("\n".join(["def step(np, y):", *lines, "    return y"]), scope)

    def run(rounds):
        nonlocal last
        y = la.full(40, 2.0)
        last = time.perf_counter()
        gaps.clear()
        for _ in range(rounds):
            y = scope["step"](la, y)
        return y.asnumpy()

    quiet = 0
    with figures(gpu_age_ns=age, flush_ns=20_000):
        for _ in range(100):
            known = len(services._functions)
            got = run(8)
            quiet += max(gaps) < 0.8e-9 * age
            if quiet == 2:  # the first one's kernels were new
                break
    assert quiet == 2, "the machine is too busy"
    assert len(services._functions) <= known + 1
    y = np.full(40, 2.0)
    for _ in range(8):
        y = scope["step"](np, y)
    np.testing.assert_allclose(got, y, rtol=1e-12)


def test_in_place_chains_keep_the_order(gpu):
    a = la.arange(8.0)
    b = a * 2
    a += b
    a *= a
    b -= a
    x = np.arange(8.0)
    y = x * 2
    x = (x + y) ** 2
    np.testing.assert_array_equal(a.asnumpy(), x)
    np.testing.assert_array_equal(b.asnumpy(), y - x)


def test_overlapping_writes(gpu):
    a = la.arange(10.0)
    a[1:] = a[:-1] * 2
    a[:-1] += a[1:]
    x = np.arange(10.0)
    x[1:] = x[:-1] * 2
    x[:-1] += x[1:].copy()
    np.testing.assert_array_equal(a.asnumpy(), x)


def test_one_memory_of_two_dtypes(gpu):
    a = la.arange(6.0)
    bits = a.view("int64")
    a *= 3
    bits += 1
    b = a + 0.5
    x = np.arange(6.0)
    x *= 3
    x.view("int64")[...] += 1
    np.testing.assert_array_equal(b.asnumpy(), x + 0.5)


def test_long_sums_are_the_same_each_time(gpu):
    x = np.random.default_rng(0).normal(size=300_000).astype("f")
    a = la.array(x)
    sums = {float(a.sum()) for _ in range(3)}
    assert len(sums) == 1
    np.testing.assert_allclose(sums.pop(), x.sum(dtype="d"), rtol=1e-4, atol=1e-2)
    m = la.array(x.reshape(3000, 100))
    np.testing.assert_allclose(
        m.sum(axis=0).asnumpy(), x.reshape(3000, 100).sum(axis=0), rtol=1e-4, atol=1e-3
    )


def test_a_failed_op_poisons_its_own_outputs(gpu):
    import pytest

    a = la.arange(5)
    bad = a[la.array([7])]
    after = bad + 1
    fine = a * 2
    with pytest.raises(IndexError, match="out of bounds"):
        after.asnumpy()
    assert fine.asnumpy().tolist() == [0, 2, 4, 6, 8]
    bad[...] = 4
    assert bad.asnumpy().tolist() == [4]
    with pytest.raises(ValueError, match="negative integer powers"):
        (a ** la.array([1, -1, 1, 1, 1])).asnumpy()
