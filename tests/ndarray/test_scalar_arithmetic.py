"""Arithmetic of scalars against NumPy's own: bits, dtypes, errors and warnings of each operator."""

import functools
import itertools
import operator
import random
import threading
import warnings

import numpy as np
import pytest

import lazyarray as la
from lazyarray._numpy_facts import VERSION

pytestmark = pytest.mark.host

FLOATS = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    3.0,
    -2.5,
    7.3,
    -7.3,
    1e308,
    -1e308,
    1e-308,
    5e-324,
    1e-200,
]
FLOATS += [
    2.2250738585072014e-308,
    np.inf,
    -np.inf,
    np.nan,
    2.0**53,
    2.0**53 + 2,
    2.0**63,
    -(2.0**63),
]
INTEGERS = [
    0,
    1,
    -1,
    2,
    3,
    -3,
    7,
    10,
    63,
    2**31,
    2**53,
    2**53 + 1,
    -(2**53) - 1,
    2**60 + 2**7,  # between two doubles
    2**60 + 2**7 + 1,
    2**63 - 1,
    -(2**63),
]
LARGE = [2**63, 2**64, -(2**63) - 1, 10**30]
OTHERS = [np.float32(1.5), np.int32(-5), np.uint8(200), np.bool_(True), np.float16(2), True, False]
BINARY = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
]
BINARY += [operator.pow, divmod]
INPLACE = [operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ifloordiv]
INPLACE += [operator.imod, operator.ipow]
COMPARE = [operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge]
UNARY = [operator.neg, operator.pos, abs, float, int, bool, hash, round]


SINGLES = [v for v in FLOATS if abs(v) < 1e38 or v != v or abs(v) == np.inf] + [1e-40, 3e38, 1e20]


NAIVE = isinstance(
    la.engine.get(), la.engine.NaiveEngine
)  # whose scalars are computed as arrays are


def single(rng):
    return np.float32(rng.choice(SINGLES))


def pair(rng):
    return complex(rng.choice(FLOATS), rng.choice(FLOATS))


def drawn(rng):
    """A number, and how it is given: as a scalar of ours, as an array without axes, as it is."""
    return rng.choice(
        [
            lambda: ("ours", single(rng)),
            lambda: ("ours", np.complex128(pair(rng))),
            lambda: ("axes", single(rng)),
            lambda: ("plain", pair(rng)),
            lambda: ("ours", np.float64(rng.choice(FLOATS))),
            lambda: ("ours", np.float64(rng.choice(FLOATS))),
            lambda: ("ours", np.int64(rng.choice(INTEGERS))),
            lambda: ("axes", np.float64(rng.choice(FLOATS))),
            lambda: ("axes", np.int64(rng.choice(INTEGERS))),
            lambda: ("plain", rng.choice(FLOATS)),
            lambda: ("plain", np.float64(rng.choice(FLOATS))),
            lambda: ("plain", rng.choice(INTEGERS + LARGE)),
            lambda: ("plain", rng.choice(OTHERS)),
        ]
    )()


def made(operand, xp):
    kind, value = operand
    if kind == "plain":
        return value
    if kind == "axes":
        return xp.array(value)
    return value if xp is np else la.array([value])[0]


def told(value):
    if isinstance(value, tuple):
        return [told(x) for x in value]
    if type(value) is int:
        return value
    a = np.asarray(value)
    return a.dtype, a.shape, np.where(a != a, np.nan, a).astype(a.dtype).tobytes()


def outcome(f, operands, flags, xp):
    """The result, what the first operand is then, whether it is the result; or the error."""
    values = [made(x, xp) for x in operands]
    first = values[0]
    with warnings.catch_warnings(), np.errstate(all=flags):
        warnings.simplefilter("ignore")
        try:
            result = f(*values)
            for x in result if isinstance(result, tuple) else (result,):
                if isinstance(x, la.NDArray):
                    x.wait_to_read()
            return told(result), told(first), f in INPLACE and result is first
        except Exception as error:
            kinds = (OverflowError, FloatingPointError, ZeroDivisionError, ValueError, TypeError)
            return next(k for k in kinds if isinstance(error, k))


def is_left_out(f, operands, flags):
    """What Python or NumPy's scalars compute by other code than arrays, which we take there."""
    if f in (operator.pow, operator.ipow) and any(
        type(v) is np.float32 for k, v in operands if k != "ours" or NAIVE
    ):
        return True
    values = [v for _, v in operands if np.asarray(v).dtype.kind == "c"]
    if f is round and values and VERSION < (2, 3):
        return True  # it is no error there
    far = any(not 1e-300 < abs(part) < 1e300 for v in values for part in (v.real, v.imag) if part)
    if values and (
        NAIVE or (f in (operator.truediv, operator.itruediv) and any(v == 0 for _, v in operands))
    ):
        return True  # Python's complex number raises
    unlike = f in (int, float, operator.pow, operator.ipow) or (f in COMPARE and far)
    return bool(values) and (unlike or flags == "raise" or (far and f not in UNARY))


def wraps(f, operands):
    """Integers wrap in silence, NumPy's scalars warn of it."""
    return all(np.asarray(v).dtype.kind != "f" for _, v in operands)


@pytest.mark.parametrize("flags", ["ignore", "raise"])
@pytest.mark.parametrize("seed", range(4))
def test_operators_are_those_of_numpys_scalars(seed, flags):
    rng = random.Random(seed)
    wrong = []
    for _ in range(2500):
        f = rng.choice(BINARY * 2 + INPLACE + COMPARE * 2 + UNARY)
        operands = [drawn(rng) for _ in range(1 if f in UNARY else 2)]
        if all(kind == "plain" for kind, _ in operands):
            continue
        if f in (hash, round) and (operands[0][0] == "axes" or operands[0][1] != operands[0][1]):
            continue  # NumPy's arrays have neither; a NaN is hashed by its address
        if is_left_out(f, operands, flags):
            continue
        if flags == "raise" and (wraps(f, operands) or f in (operator.pow, operator.ipow)):
            continue  # the C library's flags are not those of a vector loop
        if any(isinstance(v, int) and abs(v) >= 2**63 for _, v in operands) and f in (
            operator.pow, operator.ipow,
        ):  # fmt: skip
            continue  # both are errors, of two kinds
        got, want = (outcome(f, operands, flags, xp) for xp in (la, np))
        if got != want:
            wrong.append((f.__name__, operands, got, want))
    assert wrong == []


def test_equal_numbers_are_one_key():
    for v in (0.0, -0.0, 1.0, 2.0**53, 5):
        kind = np.float64 if isinstance(v, float) else np.int64
        counts = {v: "found"}
        assert counts[la.array([v], kind)[0]] == "found"
        assert {la.array([v], kind)[0]: 1}[v] == 1


def test_in_place_operators_leave_other_names():
    s = kept = la.array([1.5])[0]
    s += 1
    s **= 2
    assert (float(kept), float(s)) == (1.5, 6.25)
    x = y = la.array(1.5)
    x += 1
    x *= x
    assert x is y and float(y) == 6.25


def test_scalars_that_are_used_again_are_not_those_in_use():
    found = [la.arange(3.0)[i % 3] + i for i in range(5000)]
    assert [float(v) for v in found] == [float(i % 3 + i) for i in range(5000)]
    s = found[4].copy()
    view, values, variable = s.reshape(1), np.asarray(s), s.var
    del s, found
    others = [la.arange(3.0)[0] + 7 for _ in range(5000)]
    assert view.tolist() == [5.0] and float(values) == 5.0 and variable.version == 1
    assert {float(v) for v in others} == {7.0}


BITS = [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift]


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_integers_of_every_size(dtype):
    info = np.iinfo(dtype)
    edges = [
        info.min,
        info.min + 1,
        -8,
        -2,
        -1,
        0,
        1,
        2,
        3,
        7,
        8,
        31,
        63,
        64,
        info.max - 1,
        info.max,
    ]
    values = [np.dtype(dtype).type(v) for v in edges if info.min <= v <= info.max]
    others = [("plain", v) for v in (-1, 0, 1, 2, 7, 8, 63, 64, 255, 256, 2**31, 2**63, True, 1.5)]
    others += [("ours", v) for v in (*values, np.int64(3), np.uint8(200), np.float64(2.5))]
    wrong = []
    for f in [*BITS, *BINARY, *INPLACE, *COMPARE]:
        for v in values:
            for kind, w in others:
                orders = [[("ours", v), (kind, w)], [(kind, w), ("ours", v)]]
                if kind == "ours" and w in values and w.dtype == dtype:
                    orders.pop()  # w's turn comes
                for operands in orders:
                    if f in (operator.pow, operator.ipow) and type(w) is int and w == 2**63:
                        continue  # both are errors, of two kinds
                    got, want = (outcome(f, operands, "ignore", xp) for xp in (la, np))
                    if got != want:
                        wrong.append((f.__name__, operands, got, want))
    for f in UNARY:
        for v in values:
            for kind in ("ours", "axes"):
                if kind == "axes" and f in (hash, round):
                    continue  # NumPy's arrays have neither
                got, want = (outcome(f, [(kind, v)], "ignore", xp) for xp in (la, np))
                if got != want:
                    wrong.append((f.__name__, kind, v, got, want))
    assert wrong == []


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("kind", ["ours", "axes"])
def test_integers_of_every_size_select(dtype, kind):
    info, items = np.iinfo(dtype), list(range(300))
    uses = [
        lambda x, i: x[i],
        lambda x, i: x[i:],
        lambda x, i: x[:i],
        lambda x, i: x[1:i:2],
        lambda x, i: x.reshape(30, 10)[i],
        lambda x, i: x.reshape(30, 10)[i, 3],
        lambda x, i: x.reshape(30, 10)[3, i],
        lambda x, i: x.reshape(30, 10)[[0, 1], i],
        lambda x, i: items[i],
        lambda x, i: items[:i],
        lambda x, i: {3: 4}.get(i),
        lambda x, i: list(range(i))[:9],
        lambda x, i: operator.setitem(x, i, 7),
        lambda x, i: operator.setitem(x, slice(i, None), i),
        lambda x, i: operator.setitem(x.reshape(30, 10), (2, i), 8),
        lambda x, i: f"{i} {i!s} {i:>9} {i:d}",
    ]
    for use in uses:
        for v in {info.min, -2, -1, 0, 1, 3, 9, 127, 128, 255, 256, info.max}:
            if not info.min <= v <= info.max:
                continue
            if use is uses[11] and v > 1000:
                continue
            found = []
            for xp in (la, np):
                x = xp.arange(300.0)
                i = made((kind, np.dtype(dtype).type(v)), xp)
                try:
                    result = use(x, i)
                    if isinstance(result, la.NDArray | np.generic | np.ndarray):
                        result = told(result)
                    found.append((result, x.tolist()))
                except (IndexError, TypeError, ValueError, OverflowError) as error:
                    # Some of NumPy tells an index that no int64 holds from one out of bounds.
                    large = isinstance(error, OverflowError) and v >= 2**63
                    found.append((IndexError if large else type(error), x.tolist()))
            assert found[0] == found[1], (uses.index(use), v)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "i4", "u4", "i8", "u8"])
def test_a_range_of_an_integer_is_one_of_its_dtype(dtype):
    of = np.dtype(dtype).type
    for args in ([5], [1, 5], [1, 9, 2]):
        got = la.arange(*(la.array([of(v)])[0] for v in args))
        want = np.arange(*map(of, args))
        assert told(got) == told(want)
        assert told(la.arange(0, *args[:1], *map(of, args[1:2]))) == told(
            np.arange(0, *args[:1], *map(of, args[1:2]))
        )


HALVES = [0.0, -0.0, 1.0, -2.5, 6.1e-5, 6e-8, 65504.0, np.inf, -np.inf, np.nan, 1e-3, 0.1]
ODD = [0, 1, -1, 0.1, 2.5, 1e-5, 1e-9, 65504, 65519.0, 65520, 70000.0, 1e39, -0.0, 2**60, True]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["f2", "f4", "c8", "c16", "?", "f8"])
def test_numbers_of_every_dtype_are_read_and_written(dtype):
    of = np.dtype(dtype).type
    values = [of(v) for v in HALVES]
    if dtype[0] == "c":
        values += [of(complex(a, b)) for a in HALVES for b in HALVES]
    others = [*ODD, np.inf, np.nan, 1 + 2j, 1e39j, np.float32(2.5), np.float16(0.1), np.int8(3)]
    wrong = []
    for v in values:
        for kind in ("ours", "axes"):
            reads = [bool, float, complex, int, str, repr, np.real, lambda s: s.imag, operator.neg]
            if kind == "ours" and v == v:
                reads.append(hash)
            for f in reads:
                if kind == "axes" and f in (str, repr):
                    continue
                if (dtype == "?" and f is operator.neg) or f is repr:
                    continue
                got, want = (outcome(f, [(kind, v)], "ignore", xp) for xp in (la, np))
                if got != want:
                    wrong.append((f.__name__, kind, v, got, want))
    for w in others:
        found = []
        for xp in (la, np):
            x = xp.zeros(3, dtype)
            try:
                x[1] = w
                x[2:] = w
                found.append(told(x))
            except (TypeError, OverflowError) as error:
                found.append(type(error))
        if found[0] != found[1]:
            wrong.append((w, *found))
        for v in values[:20]:
            for f in (*BINARY[:4], *COMPARE[2:4]):
                if dtype[0] == "c" and (not np.isfinite(v) or not np.isfinite(w)):
                    continue
                if NAIVE and "c" in (dtype[0], np.asarray(w).dtype.kind):
                    continue
                got, want = (
                    outcome(f, [("ours", v), ("plain", w)], "ignore", xp) for xp in (la, np)
                )
                if got != want:
                    wrong.append((f.__name__, v, w, got, want))
    assert wrong == []


@pytest.mark.parametrize("f", [*COMPARE, *BINARY[:-2], divmod])
def test_numpys_scalars_on_the_left(f):
    for v in (np.float64(2.5), np.int64(3), np.float32(1.5), np.uint8(2), np.bool_(True)):
        for w in (2.5, 3):
            got, want = f(v, la.array([w])[0]), f(v, np.array([w])[0])
            assert told(got) == told(want) and isinstance(got, la.NDArray | tuple)
        assert told(f(v, la.arange(1, 4))) == told(f(v, np.arange(1, 4)))
    for odd in (np.array("a"), np.array(None)):
        with pytest.raises(TypeError):
            operator.add(odd, la.array([1.0])[0])


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_an_integer_beside_a_double_is_computed_as_one(dtype):
    """NumPy's loop of arrays gives some of these powers other last bits than its scalars have."""
    of = np.dtype(dtype).type
    pairs = [(7, 1.5), (63, -2.0), (5, 0.3), (3, 2.7), (0, -1.5), (100, 100.25), (1, np.nan)]
    for f in (operator.pow, operator.mod, operator.floordiv, operator.mul, operator.truediv):
        for a, b in pairs:
            for operands in ([of(a), np.float64(b)], [np.float64(b), of(a)]):
                for kinds in (("ours", "ours"), ("ours", "plain")):
                    given = list(zip(kinds, operands, strict=True))
                    got, want = (outcome(f, given, "ignore", xp) for xp in (la, np))
                    assert got == want, (f.__name__, given)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u4", "i8", "u8", "?"])
def test_exponents_that_the_dtype_does_not_hold(dtype):
    for exponent in (
        -1,
        -128,
        -129,
        -200,
        -(2**31),
        -(2**31) - 1,
        -(2**63),
        -(2**63) - 1,
        -(2**70),
    ):
        for at in (0, slice(None)):
            kinds = []
            for xp in (la, np):
                x = xp.array([2, 3]).astype(dtype)[at]
                with pytest.raises((ValueError, OverflowError)) as told:
                    np.asarray(x**exponent)
                kinds.append(told.type)
            assert kinds[0] is kinds[1], (exponent, at)


@pytest.mark.parametrize("many", [100, 1023, 1024, 1025, 5000])
def test_scalars_that_died_in_any_order_live_again(many):
    """Their memory is kept; of many it is put in order first."""
    rng = np.random.default_rng(many)
    values = rng.normal(size=many)
    for dtype in ("f8", "i4", "f8", "c16", "?"):
        x = values.astype(dtype)
        scalars = list(la.array(x))
        kept = dict.fromkeys(rng.permutation(many).tolist())  # a dict frees in its own order
        for i in kept:
            kept[i] = scalars[i]
        scalars.clear()
        again = list(la.array(x[::-1].copy()))[: many // 3]
        assert [v.item() for v in again] == x[::-1][: many // 3].tolist()
        assert all(kept[i].item() == x[i].item() for i in kept)
        del kept
        assert all(v.dtype == x.dtype for v in again)


@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_powers_of_pending_scalars(dtype):
    """The bits of NumPy's scalars, by the C library's power: they were those of arrays."""
    h = np.random.default_rng(0).random(2000).astype(dtype)
    exponents = [0.25, -0.5, 1.5, 0.3, 3, 2, -1, 0.5, 7, np.float64(0.3), np.float32(0.3)]
    gate = threading.Event()
    x = la.array(h)
    la.engine.get().push_sync(lambda ctx: gate.wait(20), la.cpu(0), mutable_vars=[x.var])
    scalars = [x[i] for i in range(len(h))]
    found = [[s**e for s in scalars] for e in exponents]
    found.append([0.7**s for s in scalars])
    found.append([s**t for s, t in zip(scalars, scalars[::-1], strict=True)])
    assert x[3:5].dtype == dtype and not gate.is_set()
    gate.set()
    want = [[s**e for s in h] for e in exponents]
    want.append([0.7**s for s in h])
    want.append([s**t for s, t in zip(h, h[::-1], strict=True)])
    for got, right in zip(found, want, strict=True):
        assert {v.dtype for v in got} == {v.dtype for v in right}
        np.testing.assert_array_equal([float(v) for v in got], [float(v) for v in right])
    with la.autograd.record():
        s = la.array(0.7)
        s.attach_grad()
        y = s[()] ** 3
    y.backward()
    assert float(s.grad) == pytest.approx(3 * 0.7**2)


LIMITS = {
    "?": [0, 1],
    "b": [-128, 5, 127],
    "B": [0, 3, 255],
    "h": [-3, 0],
    "H": [7],
    "i": [-3, 0],
    "I": [7],
    "l": [-(2**63), -7, 0, 9, 2**62],
    "L": [0, 5, 2**63, 2**64 - 1],
    **{code: [-2.5, 0, 3.75] for code in "efdFD"},
}


@pytest.mark.skipif(NAIVE, reason="its scalars are computed as arrays are")
@pytest.mark.parametrize("code", LIMITS)
def test_scalars_of_two_dtypes(code):
    """Values, dtypes and errors, with other dtypes and with Python's numbers, either way round."""
    functions = [f for f in BINARY if f is not operator.pow or code not in "efdFD"] + COMPARE
    functions += [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift]
    pythons = [True, False, 0, 1, -2, 3, 2**40, 1.5, -0.0]
    others = [(p, p) for p in pythons]
    for other, values in LIMITS.items():
        others += [(v[0], la.array(v)[0]) for v in (np.array([w]).astype(other) for w in values)]

    def result(f, x, y):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return told(f(x, y))
            except (TypeError, ValueError, OverflowError, ZeroDivisionError) as error:
                return type(error).__name__

    wrong = []
    for value in LIMITS[code]:
        x = np.array([value]).astype(code)
        for numpys, ours in others:
            for f in functions:
                want, got = result(f, x[0], numpys), result(f, la.array(x)[0], ours)
                if want != got:
                    wrong.append((f.__name__, value, numpys, want, got))
                want, got = result(f, numpys, x[0]), result(f, ours, la.array(x)[0])
                if want != got:
                    wrong.append((f.__name__, numpys, value, want, got))
        for part in ("real", "imag"):
            assert told(getattr(x[0], part)) == told(getattr(la.array(x)[0], part)), part
    assert not wrong, wrong[:10]


@pytest.mark.skipif(NAIVE, reason="its scalars are computed as arrays are")
@pytest.mark.parametrize(
    ("code", "value", "f"), [("l", 2**63 - 1, operator.add), ("h", -32768, operator.sub)]
)
def test_an_overflow_with_a_truth_is_told(code, value, f):
    for xp in (np, la):
        with pytest.warns(RuntimeWarning, match="overflow encountered in scalar"):
            f(xp.array([value], dtype=code)[0], xp.array([True])[0])


@pytest.mark.parametrize("code", ["F", "D"])
@pytest.mark.parametrize("n", [200, 40_000])
def test_complex_scalars_have_numpys_bits_pending_or_not(code, n):
    """Its scalars are multiplied by other code than its arrays."""
    rng = np.random.default_rng(5)
    c = (rng.standard_normal(n) + 1j * rng.standard_normal(n)).astype(code)
    w = c.dtype.type(0.3 - 1.7j)
    a = la.array(c)
    functions = [
        abs,
        lambda s: s * s,
        lambda s: s * s.conjugate(),
        lambda s: s * w,
        lambda s: w * s,
        lambda s: s * 1.5,
        lambda s: s * (2 - 3j),
        lambda s: (s * s.conjugate()).real,
        lambda s: -s * s,
    ]
    for k, f in enumerate(functions):
        want = [f(c[i]) for i in range(50)]
        with la.engine.bulk(1000):
            y = a * 1
            late = [f(y[i]) for i in range(50)]
        y = a * 1
        la.waitall()
        early = [f(y[i]) for i in range(50)]
        for got in (late, early):
            assert [np.asarray(g).tobytes() for g in got] == [x.tobytes() for x in want], k


@pytest.mark.parametrize("dtype", ["i8", "i4", "u1", "f8", "f4"])
@pytest.mark.parametrize("pending", [False, True])
def test_powers_of_scalars_with_numbers_of_another_kind(dtype, pending):
    """NumPy's integer scalars leave a power with a float to the ufunc, which rounds otherwise."""
    for base in range(2, 100):
        a = np.array([base], dtype)
        x = (la.array(a) * np.array(1, dtype)).sum(dtype=dtype) if pending else la.array(a)[0]
        for power in (1.5, 0.3, 2, 3):
            want, got = a[0] ** power, x**power
            np.testing.assert_array_equal(got.asnumpy(), want)
            assert got.dtype == want.dtype


@pytest.mark.parametrize("dtype", "?bBhHiIlLefdFD")
def test_scalars_beside_truths_and_numpys_scalars(dtype):
    others = [True, False, np.True_, np.float32(2), np.float32(0.1), np.float64(2.5), np.int64(3)]
    names = "add sub mul truediv floordiv mod pow eq lt ge and_ or_".split()
    for value, other, name in itertools.product([0, 1, 2, 5, 2.5, np.inf], others, names):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scalar = np.array([value]).astype(dtype)[0]
            for turned in (False, True):
                found = []
                for s in (scalar, la.array(scalar.reshape(1))[0]):
                    pair = (other, s) if turned else (s, other)
                    try:
                        found.append(np.asarray(getattr(operator, name)(*pair)))
                    except (TypeError, ZeroDivisionError, ValueError) as error:
                        found.append(type(error))
                want, got = found
                if isinstance(want, type):
                    assert isinstance(got, type)
                    continue
                assert got.dtype == want.dtype
                np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", ["f8", "D", "u8", "Q", "i8", "u4", "f4"])
@pytest.mark.parametrize("large", [2**63, 2**64 - 59, 2**64, 2**65 + 1, -(2**63) - 1, 2**1030])
def test_python_integers_of_more_than_63_bits(dtype, large):
    def outcome(m, f):
        x = m.array([5, 3, 2.0]).astype(dtype)
        x[1] = (1 << 63) + 4096 if dtype in "u8Q" else 9.5e18 if dtype == "f8" else 7
        try:
            found = f(x)
        except (OverflowError, TypeError, ValueError) as error:
            return type(error)
        return np.asarray(found).dtype, np.asarray(found).tolist()

    def pair(x, name, turned, i):
        return getattr(operator, name)(*((large, x[i]) if turned else (x[i], large)))

    names = "add sub mul truediv floordiv mod lt le eq ne gt ge and_ or_ xor lshift rshift".split()
    calls = [
        functools.partial(pair, name=name, turned=turned, i=i)
        for name, turned, i in itertools.product(names, (False, True), (0, 1))
    ]
    calls += [lambda x: x[1] >> x[2], lambda x: x[1] ^ x[0]]
    calls += [lambda x: (operator.setitem(x, 2, large), x)[1]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for f in calls:
            assert outcome(la, f) == outcome(np, f), f


@pytest.mark.parametrize("dtype", "efdgFDG")
def test_comparisons_tell_what_numpys_scalars_do(dtype):
    """Of complex scalars nothing: the loops of arrays raise a flag for NaN."""
    others = [0, 2.5, float("nan"), 1j, True, 10**30]
    names = "lt le eq ne gt ge".split()
    for value in (0, 2.5, np.nan, -np.inf):
        scalar = np.array([value]).astype(dtype)[0]
        ours = la.array(scalar.reshape(1))[0]
        for f in (bool, int, float, complex, hash):
            want, got = (what_is_told(f, s) for s in (scalar, ours))
            assert want == got or value != value
        for other, name in itertools.product([*others, None], names):
            pair = (scalar, ours) if other is None else (other, other)
            for turned in (False, True):
                want, got = (
                    what_is_told(getattr(operator, name), *((o, s) if turned else (s, o)))
                    for s, o in zip((scalar, ours), pair, strict=True)
                )
                assert want == got, (value, other, name, turned)


def what_is_told(f, *operands):
    """A result, or its error's type, and how many warnings there were."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            found = f(*operands)
        except (TypeError, ValueError, OverflowError) as error:
            return next(t for t in (TypeError, OverflowError, ValueError) if isinstance(error, t))
    return (found if isinstance(found, int | float | complex) else bool(found)), len(seen)
