"""Details in which NumPy users would notice a difference: bits, flags, elements as numbers."""

import math

import numpy as np
import pytest

import lazyarray as la

from .compare import pending


def test_dot_of_part_of_a_transposed_matrix():
    a, b = np.random.default_rng(0).standard_normal((40, 40)), np.ones(40)
    x = la.array(a)
    np.testing.assert_array_equal(la.dot(x.T[:38], la.array(b)).asnumpy(), np.dot(a.T[:38], b))
    got = la.dot(la.array(b[:38]), x.T[:38, :30]).asnumpy()
    np.testing.assert_array_equal(got, np.dot(b[:38], a.T[:38, :30]))


@pytest.mark.parametrize(
    "f",
    [
        lambda m: m.array([6e4], dtype="f2") * m.array([6e4], dtype="f2"),
        lambda m: m.exp(m.array([100.0], dtype="f4")),
        lambda m: m.array([1e9]).astype("f2"),
        lambda m: m.array([10**9]).astype("f2"),
        lambda m: m.array([-128], dtype="i1") // m.array([-1], dtype="i1"),
    ],
)
@pytest.mark.host
def test_overflow_that_numpy_raises_itself(f):
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        f(np)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        f(la).asnumpy()


def test_take_out_of_bounds_of_nothing():
    a = np.zeros((0, 3))
    assert la.take(la.array(a), la.array([5]), axis=1).shape == np.take(a, [5], axis=1).shape


# ---- elements as numbers ------------------------------------------------------------------------


def test_a_computed_index_gives_a_view():
    x, order = la.zeros((3, 4)), la.array([2, 0])
    for k in order:
        row = x[k]
        row += 1
    x[la.argmax(la.array([1, 9, 3]))].fill(5)
    x[..., order[0]][1] = 7
    part = x[1:, order[1]]
    part[0] = 8
    np.testing.assert_array_equal(x.asnumpy(), [[1, 1, 1, 1], [8, 5, 7, 5], [1, 1, 1, 1]])


def test_a_view_by_a_computed_index_waits_and_an_element_does_not():
    x, i = la.arange(6.0).reshape(2, 3), la.array([1, 2])
    with la.no_sync():
        assert x[i[0], i[1]].shape == ()
        x[i[0]] = 3.0
        with pytest.raises(RuntimeError, match="index"):
            x[i[0]]
    with pytest.raises(IndexError):
        x[la.array(7)]


def test_assigning_at_a_pending_index_waits_for_nothing():
    x, i = la.zeros(3), la.array(1)
    with pending(i), la.no_sync():
        x[i] = 4.0
    assert x.tolist() == [0.0, 4.0, 0.0]


def test_elements_are_hashed_and_rounded_as_numbers():
    x = la.array([3, 1, 3])
    counts = {}
    for v in x:
        counts[v] = counts.get(v, 0) + 1
    assert counts == {3: 2, 1: 1} and {3: "a"}[x[0]] == "a" and len(set(x)) == 2
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)
    assert round(la.array([2.567])[0], 2).item() == 2.57 and round(la.array(2.5)) == 2
    assert math.trunc(la.array(-2.5)) == -2
    with pytest.raises(TypeError):
        round(la.ones(2))


def test_an_element_repeats_a_sequence():
    n = la.array([2, 3])[0]
    assert [0] * n == [0, 0] == n * [0] and (1,) * n == (1, 1) and "ab" * n == "abab"
    assert (la.array([1, 2]) * [3, 4]).tolist() == [3, 8]
