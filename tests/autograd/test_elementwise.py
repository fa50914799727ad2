"""The rules of the elementwise rows: each against differences, of views, in all dtypes, twice."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import lazyarray as la
from lazyarray.lazy._lazy import tracked
from lazyarray.ops._rows import Ufunc

from .check import check, check_twice, leaves

ROWS = {name: row for name, row in la.ops.table.items() if isinstance(row, Ufunc)}
FLOATS = set("efdgFDG")


def differentiable(row):
    """Whether a loop of the row makes floats of floats."""
    signatures = [t.split("->") for t in row.types]
    return any(FLOATS & set(ins) and FLOATS & set(outs) for ins, outs in signatures)


SMOOTH = sorted(name for name, row in ROWS.items() if differentiable(row))
ZERO = {"floor", "ceil", "trunc", "rint", "spacing", "floor_divide"}


def call(name):
    row = ROWS[name]
    if name == "ldexp":
        return lambda x: row(x, la.array(3))
    if name == "nextafter":
        return lambda x: row(x, 9.0)
    return row


def arity(name):
    return 1 if name in ("ldexp", "nextafter") else ROWS[name].nin


def sample(name, place, shape, rng, dtype=float):
    low, high = (ROWS[name].smooth or [(-2, 2)] * 2)[place]
    return rng.uniform(low, high, shape).astype(dtype)


# ---- what has rules -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(ROWS))
def test_each_row_that_makes_floats_of_floats_has_a_rule_for_each_input(name):
    row = ROWS[name]
    if differentiable(row):
        assert row.gradient is not None and len(row.gradient) == row.nin
    else:  # truth values, integers
        assert row.gradient is None


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "matmul"])
def test_the_other_rows_have_rules(name):
    assert all(callable(rule) for rule in la.ops.table[name].gradient)


def test_rows_expose_their_rules():
    assert la.ops.table["floor"].gradient == (None,)
    assert la.ops.table["all"].gradient is None
    (rule,) = la.exp.gradient
    assert rule(2.0, 3.0) == 6.0


@pytest.mark.parametrize("name", sorted(set(ROWS) - set(SMOOTH)))
def test_rows_without_a_rule_make_constants(name):
    row = ROWS[name]
    x = la.array([1.5, 2.5])
    x.attach_grad()
    with la.autograd.record():
        y = x * 2
        try:
            result = row(*[y] * row.nin)
        except TypeError:  # of integers alone
            return
    assert result.dtype.kind not in "fc" and not tracked(result)


# ---- the gradients ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SMOOTH)
def test_first_and_second_order(name):
    rng = np.random.default_rng(1)
    arrays = [sample(name, i, (3, 4), rng) for i in range(arity(name))]
    grads = check(call(name), *arrays)
    if name in ZERO:
        assert not any(np.any(g) for g in grads)
    check_twice(call(name), *arrays)


@pytest.mark.parametrize("name", SMOOTH)
def test_single_precision_stays_single(name):
    rng = np.random.default_rng(2)
    arrays = [sample(name, i, 5, rng, np.float32) for i in range(arity(name))]
    xs = leaves(arrays)
    with la.autograd.record():
        y = call(name)(*xs)
    y = y[0] if isinstance(y, tuple) else y
    for x, rule in zip(xs, ROWS[name].gradient, strict=False):
        if rule is None or not tracked(y):
            continue
        named = rule.__code__.co_varnames[: rule.__code__.co_argcount]
        values = {"g": la.ones_like(y), "h": la.ones_like(y), "a": xs[0], "b": xs[-1], "y": y}
        values |= {"z": la.array(1)} | ({"b": 3} if name == "ldexp" else {})
        found = rule(**{p: values[p] for p in named})
        assert found is None or found.dtype == np.float32 or name == "float_power", x
    check(call(name), *arrays)


@pytest.mark.parametrize("name", SMOOTH)
def test_half_precision_gives_halves(name):
    rng = np.random.default_rng(3)
    xs = leaves([sample(name, i, 5, rng, np.float16) for i in range(arity(name))])
    if "e" not in "".join(ROWS[name].types):
        pytest.skip("the loop has no halves")
    with la.autograd.record():
        y = call(name)(*xs)
    y = y[0] if isinstance(y, tuple) else y
    if tracked(y):
        y.backward()
    same = leaves([x.asnumpy().astype(float) for x in xs])
    with la.autograd.record():
        z = call(name)(*same)
    z = z[0] if isinstance(z, tuple) else z
    if tracked(z):
        z.backward()
    for x, want in zip(xs, same, strict=True):
        assert x.grad.dtype == np.float16
        np.testing.assert_allclose(x.grad.asnumpy(), want.grad.asnumpy(), rtol=0.03, atol=0.03)


HOLOMORPHIC = [name for name in SMOOTH if "D->D" in "".join(t[-4:] for t in ROWS[name].types)]
COMPLEX = [
    name
    for name in SMOOTH
    if any("D" in t.split("->")[0] for t in ROWS[name].types)
    and name not in ("maximum", "minimum", "fmax", "fmin")  # which compare them
]


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_numbers(name):
    rng = np.random.default_rng(4)
    n = arity(name)
    arrays = [rng.uniform(0.3, 0.9, 6) + 1j * rng.uniform(0.2, 0.9, 6) for _ in range(n)]
    check(call(name), *arrays)
    check_twice(call(name), *arrays)
    if n == 2:  # a real and a complex one
        check(call(name), arrays[0].real, arrays[1])
        check(call(name), arrays[0], arrays[1].real)


@pytest.mark.parametrize("name", [n for n in SMOOTH if arity(n) == 2])
@pytest.mark.parametrize("number", [0, 1])
def test_python_numbers_as_the_other_operand(name, number):
    rng = np.random.default_rng(5)
    constant = float(sample(name, number, (), rng))
    array = sample(name, 1 - number, 4, rng, np.float32)

    def function(x):
        return call(name)(*((constant, x) if number == 0 else (x, constant)))

    check(function, array)


# ---- views, broadcasting ------------------------------------------------------------------------

VIEWS = {
    "plain": lambda n, m: ((n, m), lambda x: x),
    "transposed": lambda n, m: ((m, n), lambda x: x.T),
    "reversed": lambda n, m: ((n, m), lambda x: x[::-1, ::-1]),
    "strided": lambda n, m: ((2 * n, m + 3), lambda x: x[::2, 2:-1]),
    "row": lambda n, m: ((m,), lambda x: x),
    "column": lambda n, m: ((n, 1), lambda x: x),
    "scalar": lambda n, m: ((), lambda x: x),
    "repeated": lambda n, m: ((m,), lambda x: la.broadcast_to(x, (n, m))),
    "windows": lambda n, m: (
        (n + m - 1,),
        lambda x: la.lib.stride_tricks.sliding_window_view(x, m),
    ),
}


PAIRS = ["multiply", "divide", "hypot", "maximum", "arctan2", "power", "logaddexp"]


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(
    name=st.sampled_from(PAIRS),
    views=st.tuples(st.sampled_from(sorted(VIEWS)), st.sampled_from(sorted(VIEWS))),
    sizes=st.tuples(st.integers(1, 4), st.integers(1, 4)),
    same=st.booleans(),
    seed=st.integers(0, 99),
)
def test_views_and_broadcasting(name, views, sizes, same, seed):
    rng = np.random.default_rng(seed)
    made = [VIEWS[v](*sizes) for v in views]
    arrays = [rng.uniform(0.3, 2, shape) for shape, _ in made]
    if same and made[0][0] == made[1][0]:  # two views of one array
        check(lambda x: ROWS[name](made[0][1](x), made[1][1](x)), arrays[0], seed=seed)
    else:
        check(lambda x, y: ROWS[name](made[0][1](x), made[1][1](y)), *arrays, seed=seed)


# ---- edges --------------------------------------------------------------------------------------


def gradient(function, *values, head=None):
    xs = leaves([np.asarray(v) for v in values])
    with la.autograd.record():
        y = function(*xs)
    y.backward(head)
    found = [x.grad.asnumpy().tolist() for x in xs]
    return found[0] if len(found) == 1 else found


INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("function", "values", "want"),
    [
        (lambda x: abs(x), [[-2.0, 0.0, -0.0, 3.0]], [-1, 0, 0, 1]),
        (lambda x: abs(x), [[0j, 3 + 4j]], [0, 0.6 + 0.8j]),
        (la.sign, [[-2.0, 0.0, 1.0]], [0, 0, 0]),
        (la.maximum, [[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]], [[0, 0.5, 1], [1, 0.5, 0]]),
        (la.fmax, [[1.0, NAN], [NAN, 2.0]], [[1, 0], [0, 1]]),
        (la.fmin, [[1.0, NAN], [NAN, 2.0]], [[1, 0], [0, 1]]),
        (lambda x: la.maximum(x, 0), [[-1.0, 0.0, 1.0]], [0, 0.5, 1]),
        (la.hypot, [[0.0, 3.0], [0.0, 4.0]], [[0, 0.6], [0, 0.8]]),
        (la.arctan2, [[0.0, 1.0], [0.0, 1.0]], [[0, 0.5], [0, -0.5]]),
        (lambda x: x**0, [[0.0, 2.0]], [0, 0]),
        (lambda x: x**1, [[0.0, 2.0]], [1, 1]),
        (lambda x: x**2, [[0.0, -2.0]], [0, -4]),
        (lambda x: x**3, [[0.0, -2.0]], [0, 12]),
        (lambda x: 0.0**x, [[0.5, 2.0]], [0, 0]),
        (la.power, [[0.0, 0.0], [0.0, 2.0]], [[0, 0], [0, 0]]),
        (la.power, [[-2.0], [3.0]], [[12], [NAN]]),
        (la.logaddexp, [[-INF, 1.0, INF], [2.0, -INF, 1.0]], [[0, 1, 1], [1, 0, 0]]),
        (la.logaddexp2, [[-INF, 1.0], [2.0, -INF]], [[0, 1], [1, 0]]),
        (la.log1p, [[1e-20, -0.5]], [1, 2]),
        (la.expm1, [[1e-20]], [1]),
        (lambda x: la.clip(x, 0, 1), [[-1.0, 0.0, 0.5, 1.0, 2.0]], [0, 1, 1, 1, 0]),
        (
            lambda x, low, high: la.clip(x, low, high),
            [[0.0, 5.0, 2.0, 2.0], [1.0, 1.0, 1.0, 6.0], [3.0, 3.0, 3.0, 4.0]],
            [[0, 0, 1, 0], [1, 0, 0, 0], [0, 1, 0, 1]],
        ),
        (lambda x: la.where(x > 0, la.log(la.where(x > 0, x, 1)), 0), [[0.0, 2.0]], [0, 0.5]),
        (lambda x, y: la.where(la.array([True, False]), x, y), [[1.0, NAN], [INF, 2.0]],
         [[1, 0], [0, 1]]),
        (lambda x: la.copysign(x, -1.0), [[2.0, -2.0]], [-1, 1]),
        (lambda x: la.ldexp(x, 2), [[1.0, 3.0]], [4, 4]),
        (lambda x: la.heaviside(0.0, x), [[0.5]], [1]),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_edges(function, values, want):
    got = gradient(function, *values)
    np.testing.assert_array_equal(np.array(got), np.array(want))


def test_rules_where_nothing_is_wrong_give_no_warnings(recwarn):
    with np.errstate(all="raise"):
        gradient(la.logaddexp, [-INF, 1.0], [2.0, -INF])
        gradient(la.hypot, [0.0], [0.0])
        gradient(la.power, [0.0, 2.0], [0.0, 2.0])
        gradient(lambda x: abs(x), [0j])
    assert not recwarn.list


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.complex64, np.longdouble])
def test_casts(dtype):
    grads = gradient(lambda x: (x.astype(dtype) * 2).astype(float), [1.0, 2.0])
    assert grads == [2, 2]


def test_real_and_imag():
    assert gradient(lambda z: z.real * 2 + z.imag * 3, [1 + 2j]) == [2 + 3j]
    assert gradient(lambda z: (z.conj() * z).real, [1 + 2j]) == [2 + 4j]
    assert gradient(la.angle, [1 + 0j]) == [1j]
    grads = gradient(lambda x: (x + 1j * x * x).imag, [3.0])
    assert grads == [6]


# ---- where= and out= ----------------------------------------------------------------------------


def test_a_mask_leaves_the_rest():
    mask = la.array([True, False, True])

    def function(x, kept):
        out = kept * 1
        return la.log(x, where=mask, out=out)

    assert gradient(function, [1.0, -1.0, 4.0], [0.0, 7.0, 0.0]) == [[1, 0, 0.25], [0, 1, 0]]


def test_a_mask_of_an_op_in_place():
    def function(x):
        y = x * 1
        return la.multiply(y, y, where=la.array([True, False]), out=y)

    assert gradient(function, [3.0, 5.0]) == [6, 1]


def test_a_mask_broadcasts():
    def function(x, y):
        return la.add(x, y, where=la.array([True, False]), out=la.zeros((3, 2)))

    assert gradient(function, np.ones((3, 1)), np.ones(2)) == [[[1], [1], [1]], [3, 0]]


@pytest.mark.parametrize("kwargs", [{"dtype": np.float64}, {"casting": "same_kind"}])
def test_other_keywords(kwargs):
    check(lambda x, y: la.multiply(x, y, **kwargs), np.ones(3, np.float32), np.float32([1, 2, 3]))


def test_out():
    def function(x):
        out = la.zeros(2)
        la.multiply(x, x, out=out)
        la.add(out, x, out=out)
        return out

    assert gradient(function, [3.0, 4.0]) == [7, 9]


# ---- NumPy's protocols --------------------------------------------------------------------------


def test_numpys_functions():
    assert gradient(lambda x: np.add(np.exp(x) * 0, np.float64(2) * x), [1.0]) == [2]
    assert gradient(lambda x: np.concatenate([x, np.sin(x) * 0 + x]), [1.0]) == [2]


def test_sinc_near_zero():
    """Its quotient has 0/0 there, and cancels nearby; the series of both derivatives don't."""
    x = la.array([0.0, 1e-9, 1e-6, 1e-3, 0.01, -0.01])
    x.attach_grad()
    with la.autograd.record():
        g = la.autograd.grad(la.sinc(x), x, create_graph=True)
        h = la.autograd.grad(g, x)
    v = x.asnumpy()
    p = np.pi**2
    first = -p * v / 3 + p**2 * v**3 / 30 - p**3 * v**5 / 840
    second = -p / 3 + p**2 * v**2 / 10 - p**3 * v**4 / 168
    np.testing.assert_allclose(g.asnumpy(), first, rtol=1e-9)
    np.testing.assert_allclose(h.asnumpy(), second, rtol=1e-9)


def test_sinc():
    v = np.linspace(-3, 3, 41)
    x = la.array(v)
    x.attach_grad()
    with la.autograd.record():
        g = la.autograd.grad(la.sinc(x), x, create_graph=True)
        h = la.autograd.grad(g, x)
    e = 1e-5
    wide = (np.sinc(v + e) - np.sinc(v - e)) / (2 * e)
    np.testing.assert_allclose(g.asnumpy(), wide, atol=1e-8)
    np.testing.assert_allclose(
        h.asnumpy(), (np.sinc(v + 1e-4) - 2 * np.sinc(v) + np.sinc(v - 1e-4)) * 1e8, atol=1e-6
    )
