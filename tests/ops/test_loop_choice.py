"""``dtype=`` of a ufunc: NumPy's loop, results, layout, errors; natively if casts are safe."""

import itertools
import warnings

import numpy as np
import pytest

import lazyarray as la

from ..lazy.fusing import figures

BINARY = ["add", "multiply", "divide", "maximum", "less", "floor_divide", "power", "logical_and"]
UNARY = ["sqrt", "negative", "absolute", "isnan", "square", "exp"]
DTYPES = "bBhilfdFD?"


def outcome(function, args, dtype):
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        try:
            result = np.asarray(function(*args, dtype=dtype))
        except (TypeError, OverflowError, ValueError) as error:
            return type(error)
    return result, {str(w.message).split("\n")[0] for w in met}


def check(name, args, dtype):
    ours = [la.array(a) if isinstance(a, np.ndarray) else a for a in args]
    want, got = outcome(getattr(np, name), args, dtype), outcome(getattr(la, name), ours, dtype)
    what = f"{name}{[getattr(a, 'dtype', a) for a in args]} as {dtype}"
    if isinstance(want, type):
        assert isinstance(got, type), what
        return
    assert not isinstance(got, type), f"{what}: {got}"
    assert got[0].dtype == want[0].dtype, what
    np.testing.assert_array_equal(got[0], want[0], what)
    assert got[0].strides == want[0].strides, what
    assert got[1] == want[1], what


def values(dtype, shape=(3, 4)):
    x = np.random.default_rng(ord(dtype)).integers(-5, 6, shape)
    return (x > 0) if dtype == "?" else (x * (0.5 if dtype in "fdFD" else 1)).astype(dtype)


@pytest.mark.parametrize("name", BINARY)
def test_two_operands(name):
    for a, b, dtype in itertools.product(DTYPES, DTYPES, DTYPES):
        check(name, (values(a), values(b, (4,))), dtype)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("number", [2, 300, 1.5, True, 2j])
def test_with_numbers(name, number):
    for a, dtype in itertools.product(DTYPES, DTYPES):
        check(name, (values(a), number), dtype)
        check(name, (number, values(a)), dtype)


@pytest.mark.parametrize("name", UNARY)
def test_one_operand(name):
    for a, dtype in itertools.product(DTYPES, DTYPES):
        x = values(a)
        for each in (x, x.T, x[:, ::2], x[::-1], np.broadcast_to(x[:, :1], (3, 4))):
            check(name, (each,), dtype)


def test_it_fuses():
    x = la.array(np.arange(100_000, dtype="i4"))
    la.waitall()
    with figures(age_ns=1e15):  # no idle worker takes the first of them
        y = la.add(x, x, dtype="i8") * 2
        y.wait_to_read()
    assert "fused pass over (100000)" in str(la.explain())


def test_out_and_gradient():
    x, y = np.arange(6, dtype="f4"), np.arange(6, dtype="f8")
    out = la.empty(6, "f8")
    la.multiply(la.array(x), la.array(y), dtype="f8", out=out)
    np.testing.assert_array_equal(out, x * y)
    a = la.array(x)
    a.attach_grad()
    with la.autograd.record():
        la.multiply(a, 2.5, dtype="f8").sum().backward()
    np.testing.assert_array_equal(a.grad, np.full(6, 2.5, "f4"))


SHAPES = [
    ((446, 7), (446, 1)),
    ((20, 100, 30), (20, 100, 1)),
    ((50, 700), (50, 1)),
    ((50, 9000), (50, 1)),
    ((300, 1), (1, 300)),
    ((5, 9000), (1,)),
    ((100, 100, 3), (100, 1, 1)),
]


@pytest.mark.parametrize("dtype", ["f4", "f8", "c16"])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_powers_by_broadcast_exponents(shapes, dtype):
    """The loop squares where its exponent has no step, which NumPy's buffers give it."""
    x = np.abs(np.random.default_rng(0).standard_normal(shapes[0])).astype(dtype)
    for other in (2, -1, 0.5, 3, 1.5):
        k = np.full(shapes[1], other).astype(dtype)
        k.reshape(-1)[::2] = 2
        got = (la.array(x) ** la.array(k)).asnumpy()
        assert got.tobytes() == (x**k).tobytes(), other


STILL = (
    "add multiply bitwise_and bitwise_or logical_and logical_or maximum minimum fmax fmin".split()
)


@pytest.mark.parametrize("name", STILL)
def test_operands_without_a_step_are_written_out(name):
    rng = np.random.default_rng(3)
    for dtype in "?bHil":
        a = rng.integers(-99, 99, (40, 300)).astype(dtype)
        flat = rng.integers(-99, 99, 9000).astype(dtype)
        number = a.dtype.type(5)
        for x, y in (
            (a, a[:, :1]), (a[:, :1], a), (a[:, :1], a[0]), (a.T, a[0, :40]), (a[:, 1:], a[:, :1]),
            (a[:, ::-1], a[:, :1]), (flat, number), (number, flat), (flat[::2], number),
            (flat[:63], number), (flat[1:66], number),
        ):  # fmt: skip
            got = getattr(la, name)(la.array(x), la.array(y)).asnumpy()
            want = getattr(np, name)(x, y)
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want)
        ours = la.array(flat)
        getattr(la, name)(ours, ours[7], out=ours)
        np.testing.assert_array_equal(ours.asnumpy(), getattr(np, name)(flat, flat[7]))
