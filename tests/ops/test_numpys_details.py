"""Details in which NumPy users would notice a difference: bits, flags, elements as numbers."""

import itertools
import math

import numpy as np
import pytest

import lazyarray as la

from .compare import on_gpu, pending


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


# ---- what random programs against NumPy found in November 2026 ----------------------------------


def changed(m, n, dtype, change):
    x = m.ones(n, dtype)
    change(m, x)
    return x


STORES = {
    "put": lambda v: lambda m, x: m.put(x, [0, 1], v),
    "putmask": lambda v: lambda m, x: m.putmask(x, x > 0, v),
    "place": lambda v: lambda m, x: m.place(x, x > 0, v if isinstance(v, list) else [v]),
    "put_along_axis": lambda v: lambda m, x: m.put_along_axis(x, m.array([0, 1]), v, 0),
}


@pytest.mark.parametrize("n", [3, 9000])
@pytest.mark.parametrize("value", [300, -1, 2.5, [1, 2], [1.5], 7, 2j, True], ids=str)
@pytest.mark.parametrize("name", [*STORES, "insert"])
def test_pythons_numbers_become_of_the_dtype_they_are_stored_in(name, value, n):
    for dtype in ("u1", "i4", "f4", "?"):

        def run(m, dtype=dtype):
            if name == "insert":
                return m.insert(m.ones(n, dtype), 0, value)
            return changed(m, n, dtype, STORES[name](value))

        try:
            expected = run(np)
        except (OverflowError, TypeError, ValueError) as error:
            with pytest.raises(type(error)):
                run(la)
        else:
            found = run(la)
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found.asnumpy(), expected)


def test_odd_sequences_of_numbers_are_stored():
    x = la.ones(6, "i4")
    la.putmask(x, la.ones(6, bool), range(3))
    assert x.tolist() == [0, 1, 2, 0, 1, 2]
    within = [1]
    within.append(within)
    for store in (lambda: la.put(x, [0], within), lambda: la.insert(x, 0, within)):
        with pytest.raises(ValueError):
            store()


@pytest.mark.host  # a GPU's own stream isn't the legacy one
def test_to_shuffle_nothing_draws_nothing():
    numbers = []
    for m in (np, la):
        m.random.seed(1)
        m.random.shuffle(m.zeros((2, 0, 3)))
        numbers.append(float(m.random.random()))
    assert numbers[0] == numbers[1]


@pytest.mark.parametrize("ufunc", ["subtract", "divide", "hypot", "logaddexp", "power", "fmax"])
@pytest.mark.parametrize("more", [{}, {"axis": -1}, {"keepdims": True}, {"initial": 1.0}], ids=str)
def test_a_ufunc_reduces_a_number(ufunc, more):
    x = la.asarray(la.ones(100_000).sum() * la.ones(()))[...]
    found = getattr(la, ufunc).reduce(x, **more)
    assert float(found) == float(getattr(np, ufunc).reduce(np.array(1e5), **more))
    with pytest.raises(np.exceptions.AxisError):
        getattr(la, ufunc).reduce(x, axis=1)


def test_casting_of_both_outputs():
    out = la.zeros(3, "i8")
    la.divmod(la.ones(3) * 2.5, 1, out=(out, None), casting="unsafe")
    assert out.tolist() == [2, 2, 2]
    with pytest.raises(TypeError, match="same_kind"):
        la.divmod(la.ones(3) * 2.5, 1, out=(out, None))


def test_clip_takes_a_ufuncs_keywords():
    assert la.clip(la.ones(3), 0, 2, dtype="f4").dtype == np.float32
    assert la.ones(3).clip(0, 2, dtype="f4").dtype == np.float32
    x = la.array([7.0, -1.0, 9.0])
    la.clip(x, 0, 2, where=x > 8, out=x)
    assert x.tolist() == [7, -1, 2]
    assert la.clip(la.ones((3, 4)), 0, 2, order="F").strides == (8, 24)
    with pytest.raises(TypeError):
        la.clip(la.ones(3), 0, 2, dtype="i4")
    for low in (0.5, [0.5, 0.5, 0.5], 1):
        for out in (None, "i8"):
            found = [
                m.clip(
                    m.array([0.2, 1.2, 3.0]),
                    low,
                    1.5,
                    dtype="i8",
                    casting="unsafe",
                    out=None if out is None else m.zeros(3, out),
                )
                for m in (np, la)
            ]
            assert found[1].dtype == found[0].dtype
            assert found[1].tolist() == found[0].tolist()
    x = la.zeros(3)
    la.clip(la.ones(3) * 5, [0, 0, 0], 2, where=la.array([True, False, True]), out=x)
    assert x.tolist() == [2, 0, 2]
    assert la.clip(la.ones(3), 0, 2, where=la.ones((2, 3), bool)).shape == (2, 3)
    with pytest.raises(TypeError, match="unexpected"):
        la.clip(la.ones(3), 0, 2, foo=1)


@pytest.mark.parametrize("exponent", [2.0, -1.0, 1.0, 2, -1, 1, 0.5, 0.0, 3], ids=repr)
def test_complex_powers_are_numpys(exponent):
    if np.lib.NumpyVersion(np.__version__) < "2.3.0":
        pytest.skip("older NumPys have other shortcuts")
    z = np.random.default_rng(1).normal(size=(1000, 2)).view("D").ravel()
    z[:4] = -0j, complex(-0.2, np.inf), complex(np.nan, 1), 0
    bits = "f8" if on_gpu() else "i8"  # a GPU rounds in its own way
    with np.errstate(all="ignore"):
        for x in (z, z.real.copy()):
            np.testing.assert_array_equal(
                (la.array(x) ** exponent).asnumpy().view(bits), (x**exponent).view(bits)
            )
            mine, theirs = la.array(x), x.copy()
            mine **= exponent
            theirs **= exponent
            np.testing.assert_array_equal(mine.asnumpy().view(bits), theirs.view(bits))


def test_bools_to_negative_powers():
    x = la.ones(3, bool)
    with pytest.raises(TypeError):
        x **= -1
    with pytest.raises(ValueError, match="negative integer powers"):
        x**-1


def test_arrays_without_axes_are_arrays_where_numpys_are():
    assert la.asfortranarray(la.array(1.0)).shape == (1,)
    assert type(la.isin(la.array(1), [1])) is la.NDArray
    assert type(la.iscomplex(la.array(1.0))) is not la.NDArray
    assert type(la.sinh(la.ones(1)[0], order="C")) is not la.NDArray


def test_vander_of_complex_numbers():
    z = np.random.default_rng(1).normal(size=(20_000, 2)).view("D").ravel()
    np.testing.assert_array_equal(la.vander(la.array(z), 4).asnumpy(), np.vander(z, 4))


def test_indices_of_all_but_the_first_axis():
    a = np.arange(24.0).reshape(2, 3, 4)
    i, j = np.array([[0], [1]]), np.array([[0, 1], [1, 2]])
    for k in ((i, j), (la.array(i), la.array(j)), (i, 2), ([0, 1], [1, 2])):
        got = la.array(a)[(slice(None), *k)].asnumpy()
        want = [np.asarray(v) for v in k]
        np.testing.assert_array_equal(got, a[(slice(None), *want)])


class First:
    """What asks for its own operators before those of arrays."""

    __array_priority__ = 100

    def __radd__(self, other):
        return "added"

    def __rmatmul__(self, other):
        return "multiplied"

    def __array__(self, dtype=None, copy=None):
        return np.ones(2)


def test_a_priority_goes_before_arrays():
    for m in (np, la):
        assert m.ones(2) + First() == "added"
        assert m.ones(2)[0] + First() == "added"
        assert m.ones(2) @ First() == "multiplied"
        x = m.ones(2)
        x += First()
        assert x == "added"


class Last(First):
    """What asks to be left behind arrays, but not behind numbers."""

    __array_priority__ = -1


class Unclear(First):
    __array_priority__ = None


class Without:
    __array_priority__ = 100

    def __array__(self, dtype=None, copy=None):
        return np.ones(2)


def test_priorities_of_other_kinds():
    for m in (np, la):
        assert m.ones(2)[0] + Last() == "added"
        assert (m.ones(2) + Last()).tolist() == [2, 2]
        assert (m.ones(2) + Unclear()).tolist() == [2, 2]
        assert (m.ones(2) < Unclear()).tolist() == [False, False]
        with pytest.raises(TypeError):
            m.ones(2) + Without()
    assert Without().__array_priority__ > 0


class Held:
    """What gives an array of ours where NumPy asks for one of its own."""

    def __init__(self, a):
        self.a = la.array(a, float)

    def __array__(self, dtype=None, copy=None):
        return la.asarray(self.a, dtype=dtype)


def test_lists_of_what_gives_arrays():
    one, other = Held([1, 2]), Held([3, 4])
    assert la.array([one, other]).tolist() == [[1, 2], [3, 4]]
    assert la.asarray([one, la.ones(2)]).tolist() == [[1, 2], [1, 1]]
    assert la.mean([one, other], axis=0).tolist() == [2, 3]
    assert la.array([[one, other]]).shape == (1, 2, 2)
    with pytest.raises(ValueError, match="inhomogeneous"):
        la.array([[1, 2], [3]])


MASKED = [  # n: of a square of vectors A, a square G; masks b of the square, m of a side
    "A[b]",
    "A[..., 0][b]",
    "A[b.T]",
    "A[::2][b[::2]]",
    "A[m]",
    "G[::2][b[::2]]",
    "G.T[b]",
    "G[1:-1, 1:-1][b[1:-1, 1:-1]]",
    "G[m]",
    "A[:, m, 1]",
    "A[b] = 0",
    "A[b] = [1, 2, 3]",
    "A[b.T] = True",
    "A[..., 0][b] = 7",
    "G[m] = 2.5",
    "G[:, m] = 5",
    "A[:, m] = 1",
    "A[:, :, [True, False, True]] = 3",
    "G.T[m] = 4",
]


@pytest.mark.parametrize("n", [1, 3, 40, 120, 250])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i1", "D"])
def test_masks_of_parts_and_of_leading_axes(n, dtype):
    rng = np.random.default_rng(n)
    own = {
        "A": rng.integers(-99, 99, (n, n, 3)).astype(dtype),
        "G": rng.integers(-99, 99, (n, n)).astype(dtype),
        "b": rng.random((n, n)) < 0.4,
        "m": rng.random(n) < 0.4,
    }
    ours = {name: la.array(a) for name, a in own.items()}
    for code in MASKED:
        if " = " in code:
            if dtype == "i1" and "2.5" in code:
                continue
            exec(code, {}, ours)
            exec(code, {}, own)
        else:
            want = eval(code, {}, own)
            got = eval(code, {}, ours)
            assert got.shape == want.shape, code
            np.testing.assert_array_equal(got.asnumpy(), want, code)
    for name, a in own.items():
        np.testing.assert_array_equal(ours[name].asnumpy(), a)


def test_masks_of_leading_axes_are_traced_and_compiled():
    def f(x, k):
        x[k] = 0
        x[x[:, 0] > 4] = 7
        return x + 1

    a, k = np.arange(12.0).reshape(3, 4), np.array([True, False, True])
    want = f(a.copy(), k)
    graph = la.trace(f, la.array(a), la.array(k))
    compiled = la.compile(f)
    for _ in range(3):
        assert compiled(la.array(a), la.array(k)).tolist() == want.tolist()
    assert "setitem" in str(graph) or "where" in str(graph)


def test_masks_of_leading_axes_refuse_what_numpy_refuses():
    x = la.ones((3, 4), "u1")
    with pytest.raises(OverflowError):
        x[la.array([True, False, True])] = 300
    with pytest.raises(IndexError):
        x[la.array([True, False])]
    with pytest.raises(IndexError):
        x[la.array([True, False])] = 1
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        x[la.array([True, False, True])] = 1
    x = la.ones((3, 4))
    mask = la.isnan(la.array([1.0, la.nan, la.nan]))  # pending, perhaps
    x[mask] = 0
    assert x.sum() == 4


@pytest.mark.parametrize(
    "shapes", [(70, 70, 70), (1, 50, 10), (10, 50, 10), (8, 130, 50), (50, 3, 1), (2, 3, 4)]
)
def test_dot_of_parts_has_the_bits_of_numpys(shapes):
    n, k, m = shapes
    wide, other = (np.random.default_rng(n).standard_normal((300, 300)) for _ in range(2))

    def parts(a, rows, columns):
        yield a[:rows, 1 : columns + 1]
        yield a.T[1 : rows + 1, :columns]
        yield a[: 2 * rows : 2, :columns]
        yield a[:rows, : 2 * columns : 2]
        yield a[1 : columns + 1, :rows].T

    pairs = itertools.product(parts(wide, n, k), parts(other, k, m))
    ours = itertools.product(parts(la.array(wide), n, k), parts(la.array(other), k, m))
    for (a, b), (x, y) in zip(pairs, ours, strict=True):
        np.testing.assert_array_equal(la.dot(x, y).asnumpy(), np.dot(a, b))
        np.testing.assert_array_equal(la.dot(x, x.T).asnumpy(), np.dot(a, a.T))
        np.testing.assert_array_equal(
            la.dot(x, x.T, out=la.zeros((n, n))).asnumpy(), np.dot(a, a.T, out=np.zeros((n, n)))
        )


@pytest.mark.parametrize("order", [None, "a", "f", "F"])
def test_an_order_in_small_letters(order):
    x = np.arange(6.0).reshape(2, 3)
    assert la.cbrt(la.array(x), order=order).strides == np.cbrt(x, order=order).strides


@pytest.mark.parametrize(
    "call",
    [
        "np.equal(2**200, -2**200)",
        "np.less(-2**200, 2**64)",
        "np.add(2**200, 1)",
        "np.multiply(2**64 - 1, 2)",
        "np.maximum(2**63, 1)",
        "np.add(2**63, 2**63)",
        "np.lcm(2**100, 6)",
        "np.negative(2**63)",
        "np.negative(2**63, subok=True)",
        "np.abs(2**63 + 3, casting='unsafe')",
        "np.invert(2**63, casting='safe')",
        "np.negative(-(2**63) - 1, subok=True)",
        "np.equal(2**64 - 1, 2**63)",
        "np.equal(-2, np.uint8(200))",
        "np.less(-2, np.uint8(200))",
        "np.greater(np.uint8(200), 300)",
        "np.add(-2**63, 2**63 - 1)",
    ],
)
def test_integers_of_more_than_64_bits_are_numpys(call):
    def outcome(xp):
        try:
            found = eval(call, {"np": xp})
        except (OverflowError, TypeError) as error:
            return type(error)
        return repr(found.asnumpy()[()] if isinstance(found, la.NDArray) else found)

    assert outcome(la) == outcome(np)


def test_assertions_compare_numbers_as_numpys():
    half = la.ones(1, "float16")[0] * 1.4142135
    la.testing.assert_almost_equal(half, np.float16(1.4142135), decimal=12)
    with pytest.raises(AssertionError, match=r"ACTUAL: np\.float64"):
        la.testing.assert_equal(la.ones(1)[0], 2.0)


def test_inserting_nothing():
    x = la.arange(3.0)
    assert la.insert(x, [], []).tolist() == [0, 1, 2]
    assert la.insert(la.ones(10_000), [], []).shape == (10_000,)
    with pytest.raises(IndexError):
        la.insert(la.ones(10_000), np.array([]), [])


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 3)])
@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "logical_or", "subtract", "hypot"])
def test_reductions_without_an_initial_value(name, shape):
    def outcomes(xp):
        for axis in (0, -1, None):
            for given in ({}, {"initial": None}, {"initial": 2}):
                try:
                    yield np.asarray(
                        getattr(xp, name).reduce(xp.zeros(shape), axis, **given)
                    ).tolist()
                except (ValueError, TypeError) as error:
                    yield type(error)

    assert [*outcomes(la)] == [*outcomes(np)]


def laid_out(xp):
    """Operands of one shape, each with another order in memory."""
    return [
        xp.ones((2, 3, 4)),
        xp.ones((4, 3, 2)).T,
        xp.ones((2, 4, 3)).transpose(0, 2, 1),
        xp.ones((8, 3, 2)).T[:, :, ::2],
        xp.ones(4),
        xp.ones((2, 1, 1)),
        2.0,
    ]


def steps(x):
    return [step for step, n in zip(x.strides, x.shape, strict=True) if n > 1]


@pytest.mark.parametrize("dtype", [None, "f4"])
def test_order_a_asks_how_the_operands_lie(dtype):
    for a, b in itertools.product(zip(laid_out(np), laid_out(la), strict=True), repeat=2):
        want = np.add(a[0], b[0], order="A", dtype=dtype)
        got = la.add(a[1], b[1], order="A", dtype=dtype)
        assert got.shape == want.shape and steps(got) == steps(want), (a[0], b[0])
    for a, x in zip(laid_out(np), laid_out(la), strict=True):
        assert steps(la.negative(x, order="A")) == steps(np.negative(a, order="A"))


def test_an_order_may_be_bytes():
    for xp in (np, la):
        x = xp.ones((2, 3)).T
        assert xp.add(x, 1, order=b"C").strides == (16, 8)
        with pytest.raises(ValueError, match="order must be one of"):
            xp.add(x, 1, order=b"Q")


def test_casting_is_no_none():
    for xp in (np, la):
        with pytest.raises(TypeError, match="casting must be str"):
            xp.add(xp.ones(3), 2.0, casting=None)
        assert xp.add(xp.ones(3), 2.0, casting="same_kind").tolist() == [3, 3, 3]
