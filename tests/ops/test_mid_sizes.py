"""Calls whose operands straddle what is computed at the call, by whom, and what is recorded.

The thresholds, in bytes: 16 KB (lent to NumPy, not copied), 32 KB (`direct_bytes`), 64 KB (results
kept), 128 KB (copied in and out), 400 KB (`hosted_bytes`), 1.6 MB (of functions that do little).
"""

import sys

import numpy as np
import pytest

import lazyarray as la

BYTES = [16384, 32768, 65536, 131072, 400000, 1600000]
LENGTHS = sorted({size // 8 + d for size in BYTES for d in (-1, 0, 1)})
DTYPES = ["f8", "i8", "?", "f4", "i2", "c16"]


def same(got, want):
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(g, w)
        return
    got = np.asarray(got)
    want = np.asarray(want)
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    assert got.ndim < 2 or got.flags.f_contiguous == want.flags.f_contiguous
    np.testing.assert_array_equal(got, want)


def data(n, dtype, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.integers(-2, 3, n) * (1 + 1j if dtype == "c16" else 1)).astype(dtype)


def places(n, seed=1):
    return np.random.default_rng(seed).integers(-n, n, n)


READERS = {
    "count": lambda m, x, k: m.count_nonzero(x),
    "nonzero": lambda m, x, k: m.nonzero(x),
    "where": lambda m, x, k: m.where(x),
    "take": lambda m, x, k: (m.take(x, k), x.take(k[:300]), x[k], x[k[:257]], x[::2][k // 2]),
    "copy": lambda m, x, k: (x.copy(), x[::3].copy(), m.copy(x[::-1])),
    "join": lambda m, x, k: (m.append(x, x[0]), m.r_[x, 1, x], m.c_[x, x], m.tile(x, 2)),
    "like": lambda m, x, k: (m.ones_like(x), m.full_like(x, 1), m.full(x.shape, 3)),
    "square": lambda m, x, k: matrix(m, x),
    "of two": lambda m, x, k: of_two(m, x, k),
}


def matrix(m, x):
    side = int(len(x) ** 0.5)
    a = x[: side * side].reshape(side, side)
    return (
        *(
            m.nonzero(a),
            a.T.copy(),
            m.ascontiguousarray(a.T),
            m.asfortranarray(a),
            m.ones_like(a.T),
        ),
        *(m.zeros_like(a.T), m.full_like(a.T, 1), m.diag(a[0])),
    )


def of_two(m, x, k):
    side = int(len(x) ** 0.5)
    a = x[: side * side].reshape(side, side)
    i, j = k[:700] % side, k[-700:] % side - side
    return a[i, j], a[2, j], a.T[i, j], a[::2, 1:][i // 3, 1]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", READERS)
def test_readers(name, dtype):
    for n in LENGTHS:
        h, k = data(n, dtype), places(n)
        want = READERS[name](np, h, k)
        x = la.array(h)
        x.wait_to_read()
        same(READERS[name](la, x, la.array(k)), want)
        same(READERS[name](la, la.array(h) * 1 if dtype != "?" else x & True, k), want)  # pending


def at(m, x, k, v):
    m.add.at(x, k, v)


def put_along(m, x, k, v):
    side = int(len(x) ** 0.5)
    a = x[: side * side].reshape(side, side)
    m.put_along_axis(a, m.argmax(a, axis=1, keepdims=True), 2, axis=1)


def store_two(m, x, k, v):
    side = int(len(x) ** 0.5)
    a = x[: side * side].reshape(side, side)
    a[k[:700] % side, k[-700:] % side] = v[:700]


WRITERS = {
    "at": at,
    "putmask": lambda m, x, k, v: m.putmask(x, v != 0, [1, 0, 1]),
    "putmask of itself": lambda m, x, k, v: m.putmask(x, x != 0, x),
    "place": lambda m, x, k, v: m.place(x, v != 0, [1, 0, 1]),
    "put": lambda m, x, k, v: m.put(x, k, v),
    "copyto": lambda m, x, k, v: m.copyto(x, v),
    "copyto where": lambda m, x, k, v: m.copyto(x, v, where=v != 0),
    "copyto of a part": lambda m, x, k, v: m.copyto(x[1:], x[:-1]),
    "along": put_along,
    "places": lambda m, x, k, v: x.__setitem__(k, v),
    "a number": lambda m, x, k, v: x.__setitem__(k, 1),
    "some": lambda m, x, k, v: x.__setitem__(k[:300], v[:300]),
    "steps": lambda m, x, k, v: x[::2].__setitem__(k[:300] // 2, v[:300]),
    "two": store_two,
    "all": lambda m, x, k, v: x.__setitem__(slice(None), v),
    "diagonal": lambda m, x, k, v: m.fill_diagonal(x[: len(x) // 50 * 50].reshape(-1, 50), 1),
}


@pytest.mark.parametrize("dtype", ["f8", "i8", "f4", "i2"])
@pytest.mark.parametrize("name", WRITERS)
def test_writers(name, dtype):
    for n in LENGTHS:
        h, k, v = data(n, dtype), places(n), data(n, dtype, 2)
        want = h.copy()
        WRITERS[name](np, want, k, v)
        x = la.array(h)
        x.wait_to_read()
        WRITERS[name](la, x, la.array(k), la.array(v))
        same(x, want)
        x = la.array(h) * 1
        WRITERS[name](la, x, k, v)
        same(x, want)


@pytest.mark.parametrize("n", [4000, 20000, 60000])
def test_writers_that_fail_leave_what_was_there(n):
    """An index beyond the end, after some that are fine."""
    for write in (
        lambda x, k: la.add.at(x, k, 1.0),
        lambda x, k: la.put(x, k, 1.0),
        lambda x, k: x.__setitem__(k, 1.0),
    ):
        x, k = la.zeros(n), la.arange(n)
        k[n - 1] = n
        k.wait_to_read()
        with pytest.raises(IndexError):
            write(x, k)
            x.wait_to_read()


@pytest.mark.parametrize("call", [
    lambda m, n: m.indices((n, n)),
    lambda m, n: m.indices((n, 3, n), dtype="f4"),
    lambda m, n: (m.eye(n), m.eye(n, n + 1, 2), m.identity(n, "i4")),
    lambda m, n: (m.tri(n), m.tril_indices(n), m.triu_indices(n, 1)),
    lambda m, n: (m.mgrid[0:n, 0:n], m.mgrid[0 : 1 : n * 1j, 0:3], m.mgrid[0:n]),
    lambda m, n: m.ogrid[0:n, -n:n],
    lambda m, n: m.mgrid[0:n, 0:2, 0:n],
    lambda m, n: m.fromfunction(lambda i, j: i + j, (n, n)),
])  # fmt: skip
def test_what_is_made_of_numbers(call):
    for n in (15, 16, 31, 32, 33, 63, 64, 65, 127, 128, 179, 180, 181, 256):
        same(call(la, n), call(np, n))


@pytest.mark.parametrize("subscripts", ["i,i->", "i,i,i->i", "i->", "i , i", "i,i"])
def test_einsum_of_vectors(subscripts):
    terms = subscripts.replace(" ", "").split("->")[0].count(",") + 1
    for n in LENGTHS:
        xs = [data(n, "f8", seed) for seed in range(terms)]
        same(la.einsum(subscripts, *map(la.array, xs)), np.einsum(subscripts, *xs))


@pytest.mark.parametrize("subscripts", ["ij->i", "ij,j->i", "ij,ij", "...j,j->...", "ij,jk->ik"])
def test_einsum_of_matrices(subscripts):
    for side in (45, 63, 64, 65, 90, 91, 128, 223, 224):
        a, v = data(side * side, "f8").reshape(side, side), data(side, "f8", 3)
        xs = [a, *([v if ",j-" in subscripts else a] if "," in subscripts else [])]
        same(la.einsum(subscripts, *map(la.array, xs)), np.einsum(subscripts, *xs))


@pytest.mark.parametrize("to", ["i8", "i4", "u8", "i2"])
def test_casts_of_floats(to):
    """What does not fit, in any place of a block of 512, and the least integer, which fits."""
    rng = np.random.default_rng(0)
    for n in (1, 3, 4, 5, 511, 512, 513, 1500, 5000, 60000):
        for bad in (None, np.nan, 1e30, -1e30, -(2.0**63), -(2.0**31), 2.0**31, 2.0**63):
            h = np.trunc(rng.uniform(0, 100, n)) + 0.5
            if bad is not None:
                h[rng.integers(n)] = bad
            with np.errstate(invalid="ignore"):
                want = h.astype(to)
            with la.errstate(invalid="ignore"):
                x = la.array(h)
                x.wait_to_read()
                same(x.astype(to), want)
                same((la.array(h) * 1).astype(to), want)
                if to == "i8":
                    y = la.array(h)
                    la.copyto(y.view("i8"), y, casting="unsafe")
                    same(y.view("i8"), want)
            fits = bad is None or bool(np.array(bad) == np.array(want, "f8").min())
            if fits and to in ("i8", "i4"):
                with la.errstate(invalid="raise"):
                    (la.array(h) * 1).astype(to).wait_to_read()


@pytest.mark.parametrize("dtype", ["f8", "i4", "?", "c16"])
def test_constants(dtype):
    for n in (40, 90, 127, 128, 129, 181, 182, 224, 300):
        for call in (
            lambda m, n: (m.zeros((n, n), dtype), m.ones((n, n), dtype), m.full((n, n), 1, dtype)),
            lambda m, n: (m.full((n, n), True), m.full(n * n, 1.5), m.full((n, n), m.array(3)[()])),
            lambda m, n: (m.eye(n), m.identity(n), m.eye(n, dtype=dtype)),
            lambda m, n: (m.zeros_like(m.ones((n, n), dtype).T), m.full_like(m.eye(n), 7)),
        ):
            same(call(la, n), call(np, n))
    x = la.zeros((181, 182), dtype)
    x[3, 4] = 1
    assert float(la.sum(la.real(x))) == 1.0


def test_indices_that_lie_in_the_array_they_index():
    """They were overwritten while they were read: other elements, or memory that was nobody's."""
    for value in (7, 10**12):
        h = np.arange(2000)[::-1].copy()
        x = la.from_dlpack(h)
        x[h] = value
        assert (x.asnumpy() == value).all()
    h = np.arange(2000)[::-1].copy()
    x, k = la.from_dlpack(h), la.from_dlpack(h)
    x[k] = 3
    assert (x.asnumpy() == 3).all()
    h = np.arange(2000.0)
    x, y, k = la.from_dlpack(h), la.from_dlpack(h), la.arange(2000)[::-1] * 1
    k.wait_to_read()
    x[k] = y
    np.testing.assert_array_equal(x.asnumpy(), np.arange(2000.0)[::-1])


def test_an_array_resized_while_numpy_writes_its_copy():
    """The copy was put in the place of what another array had by then."""
    x, m, v = la.arange(3000.0), la.array(np.arange(3000) % 2 == 0), la.array([5.0, 6.0])
    others = []

    def hook(frame, event, argument):
        if frame.f_code.co_name == "place" and not others:
            x.resize(10, refcheck=False)
            x.resize(3000, refcheck=False)
            others.extend(la.arange(3000.0) for _ in range(6))

    x.asnumpy(), m.asnumpy()
    sys.setprofile(hook)
    try:
        la.place(x, m, v)
    finally:
        sys.setprofile(None)
    assert len(others) == 6
    for other in others:
        np.testing.assert_array_equal(other.asnumpy(), np.arange(3000.0))


SETS = {
    "unique": lambda m, x, k: m.unique(k, return_inverse=True, return_counts=True),
    "unique_counts": lambda m, x, k: m.unique_counts(x),
    "union1d": lambda m, x, k: m.union1d(k, k[::2]),
    "setxor1d": lambda m, x, k: m.setxor1d(x, k),
}


@pytest.mark.parametrize("name", SETS)
def test_sets_of_some_thousand_are_numpys_at_the_call(name, direct):
    for n in (1000, 4097, 6000, 60_000):
        h, k = data(n, "i8"), places(n)
        x, i = la.array(h), la.array(k)
        seen = []
        sys.setprofile(lambda frame, event, _, seen=seen: seen.append(frame.f_code.co_name))
        try:
            got = SETS[name](la, x, i)
        finally:
            sys.setprofile(None)
        same(got, SETS[name](np, h, k))
        if not isinstance(la.engine.get(), la.engine.NaiveEngine):  # it takes no call at once
            assert ("_waited" in seen) == (not direct or n == 60_000)
