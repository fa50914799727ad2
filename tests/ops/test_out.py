"""``out=``: the same numbers, refusals and returned arrays as NumPy's, whatever ``out`` is.

What ``out`` is may decide what is computed: a median of singles into doubles is a mean of doubles,
a sum into halves goes by buffers which are kept as halves.
"""

import itertools
import operator

import numpy as np
import pytest

import lazyarray as la
from lazyarray._numpy_facts import REDUCES_INTO_OUT, VERSION

from ..numpys import has

rng = np.random.default_rng(0)
BASE = rng.normal(size=(600, 513)) * 7 + 3
MASK = "x > 1"


def templates(pattern, names):
    return [pattern.format(name) for name in names.split()]


# Of a matrix x into o, which has the result's shape. They are evaluated with xp NumPy or lazyarray.
REDUCTIONS = [
    *templates(
        "xp.{}(x, axis=-1, out=o)",
        "sum prod mean std var max min any all ptp nansum nanprod nanmean nanstd nanvar nanmax "
        "nanmin median nanmedian argmax argmin nanargmax nanargmin",
    ),
    *templates("xp.{}(x, axis=0, out=o)", "sum prod mean std max any ptp nansum median argmin"),
    *templates("xp.{}(x, out=o)", "sum mean var min all ptp nanstd median nanmedian argmax"),
    *templates("xp.{}(x, axis=1, out=o, keepdims=True)", "sum mean std max ptp median argmax"),
    *templates(f"xp.{{}}(x, axis=1, out=o, where={MASK})", "sum prod mean std var any nanmean"),
    *templates("xp.{}(x, axis=1, out=o, dtype='f4')", "sum prod mean std var nansum nanvar"),
    *templates("x.{}(axis=-1, out=o)", "sum prod mean max min any all argmax argmin"),
    *templates("xp.{}(x, axis=1, out=o, initial=3)", "sum prod max"),
    *templates("xp.{}.reduce(x, axis=1, out=(o,))", "add multiply maximum subtract hypot fmin"),
    *templates("xp.{}(x, 1, o)", "max min any all amax nanmax nanmin ptp argmin median"),
    *templates("xp.{}(x, 0, None, o)", "sum prod mean std nansum nanvar"),
    *templates("x.{}(0, o)", "max min argmax argmin"),
    "x.std(0, None, o)",
    "x.var(-1, 'f8', o)",
    f"xp.max(x, axis=1, out=o, where={MASK}, initial=1)",
    "xp.add.reduce(x, 0, 'f8', o)",
    "xp.trace(x, out=o)",
    "x.trace(0, 0, 1, 'f4', o)",
    "xp.vecdot(x, x, out=o)",
    "xp.vecdot(x, x, out=(o,))",
    "xp.matvec(x, x[0], out=o)",
    "xp.percentile(x, 30, axis=-1, out=o)",
    "xp.percentile(x, 30, 1, o, method='nearest')",
    "xp.quantile(x, 0.3, axis=0, out=o, method='lower')",
    "xp.quantile(x, [0.3, 0.6], axis=0, out=o)",
    "xp.quantile(x, xp.array([[0.3], [0.6]]), axis=0, out=o)",
    "xp.nanpercentile(x, 30, axis=-1, out=o)",
    "xp.nanquantile(x, [[0.3, 0.6]], axis=0, out=o, method='weibull')",
]
OTHERS = [
    *templates("xp.{}(x, axis=1, out=o)", "cumsum cumprod nancumsum nancumprod cumulative_sum"),
    *templates("xp.{}(x, out=o)", "cumsum cumprod nancumprod"),
    *templates("x.{}(0, None, o)", "cumsum cumprod"),
    *templates("xp.{}(x, axis=1, dtype='f4', out=o)", "cumsum cumprod"),
    "xp.cumulative_sum(x, axis=1, out=o, include_initial=True)",
    "xp.cumulative_prod(x, axis=0, out=o, include_initial=True)",
    *templates("xp.{}.accumulate(x, axis=0, out=o)", "add maximum subtract hypot"),
    *templates("xp.{}.reduceat(x, [0, 2, 1], axis=1, out=(o,))", "add maximum subtract"),
    *templates("xp.{}.outer(x[:2, 0], x[0, :40], out=o)", "add maximum hypot"),
    *templates(
        "xp.{}(x, out=o)",
        "around round fix isposinf rint floor sqrt square absolute sign logical_not reciprocal exp "
        "isnan negative conjugate",
    ),
    *templates("xp.{}(x, o)", "trunc ceil sin"),
    *templates("xp.{}(x, out=(o,))", "trunc ceil cos"),
    *templates("xp.round(x, {}, out=o)", "1 2 -1"),
    "x.round(1, o)",
    "xp.clip(x, 1, 2, out=o)",
    "xp.clip(x, 1.5, None, out=o)",
    "xp.clip(x, None, None, o)",
    "x.clip(1, xp.max(x), out=o)",
    "xp.add(x, x, o)",
    "xp.add(x, x, out=o, casting='unsafe')",
    f"xp.add(x, x, out=o, where={MASK})",
    f"xp.sqrt(x, out=o, where={MASK})",
    "xp.add(x, x, out=o, dtype='f4')",
    "xp.multiply(x, 1.1, out=(o,))",
    "xp.divide(x, 3, out=o)",
    "xp.less(x, 3, out=o)",
    "xp.power(x, 2, out=o)",
    "xp.floor_divide(x, 3, out=o)",
    "xp.divmod(x, 3, out=(o, None))[0]",
    "xp.frexp(x, out=(None, o))[1]",
    "xp.take(x, [[0, 1, 2, 3]] * 3, out=o)",
    "xp.take(x, [0, 2, 1], 1, o, mode='clip')",
    "x.take(xp.array([0, 2, 1]), 0, o)",
    "xp.choose(xp.zeros(x.shape[1], 'i4'), [x, 1.5], out=o)",
    "x.astype('?').choose(x, x, out=o)",
    "xp.compress([True, False, True], x, axis=0, out=o)",
    "x.compress([True, False, True], 0, o)",
    "xp.concatenate([x[:1], x[1:]], out=o)",
    "xp.concatenate([x[:1], x[1:]], out=o, casting='unsafe')",
    "xp.stack([x[0], x[1], x[2]], out=o)",
    "xp.matmul(x, x.T, o)",
    "xp.matmul(x, x.T, out=(o,))",
    "xp.vecmat(x[0].real, x.T, out=o)",
    "xp.dot(x, x.T, out=o)",
    "xp.outer(x[:2, 0], x[0, :40], out=o)",
]


def is_here(text):
    """Whether the NumPy that runs here has such a call, and gets it right."""
    if text == "xp.fix(x, out=o)" and VERSION < (2, 4):  # wrong where it writes over its input
        return False
    return has(text) and not (text == "xp.clip(x, None, None, o)" and VERSION < (2, 1))


REDUCTIONS, OTHERS = ([text for text in texts if is_here(text)] for texts in (REDUCTIONS, OTHERS))
CALLS = REDUCTIONS + OTHERS
CODES = {text: compile(text, text, "eval") for text in CALLS}
FROM = ("?", "u1", "i4", "f2", "f4", "c8")
INTO = ("?", "i1", "i4", "f2", "f4", "f8", "c16")
PAIRS = [("f4", "f8"), ("f8", "f4"), ("f4", "f4"), ("i4", "f4"), ("u1", "i4"), ("f8", "c16")]


def steps(shape, step):
    return (slice(None, None, step),) * len(shape)


LAYOUTS = {
    "C": lambda m, shape, d: m.ones(shape, d),
    "F": lambda m, shape, d: m.ones(shape[::-1], d).T,
    "steps": lambda m, shape, d: m.ones([2 * n for n in shape], d)[steps(shape, 2)],
    "backwards": lambda m, shape, d: m.ones(shape, d)[steps(shape, -1)],
    "F, backwards": lambda m, shape, d: m.ones(shape[::-1], d).T[steps(shape, -1)],
}  # fmt: skip
# NumPy broadcasts into some of these, and crashes with others; what it documents is an error.
WRONG = {
    "too short": lambda m, shape, d: m.ones([*shape[:-1], shape[-1] + 1], d),
    "too many axes": lambda m, shape, d: m.ones((2, *shape), d),
    "no axes": lambda m, shape, d: m.ones((), d),
    "read-only": lambda m, shape, d: m.broadcast_to(m.ones((), d), shape),
}


def same(got, want):
    """Whether all bits are, but for those of a NaN."""
    if (got.dtype, got.shape) != (want.dtype, want.shape):
        return False
    if got.tobytes() == want.tobytes():
        return True
    if got.dtype.kind == "c":
        return same(got.real, want.real) and same(got.imag, want.imag)
    if got.dtype.kind != "f" or not np.array_equal(got, want, equal_nan=True):
        return False
    return np.array_equal(np.signbit(got) & (got == got), np.signbit(want) & (want == want))


def result_shape(text, x):
    """The result's shape, which a call of this dtype may not have."""
    for v in (x, x.astype("f8"), x.astype("i4")):
        try:
            return np.shape(eval(text.replace("(o,)", "o"), {"xp": np, "x": v, "o": None}))
        except TypeError:
            continue
    raise AssertionError(text)


def call(xp, text, x, out):
    """What is in ``out`` then, and whether it came back; or the class of what was raised."""
    before = np.array(out)
    with np.errstate(all="ignore"):
        try:
            result = eval(CODES[text], {"xp": xp, "x": x, "o": out})
        except Exception as exc:
            if xp is la:
                assert same(np.array(out), before), f"{text}: half of it was written"
            return next(c for c in type(exc).__mro__ if c.__module__ == "builtins"), ""
    return np.array(out), result is out


def check(text, x, d, layout, shape, key=...):
    want = call(np, text, x[key], LAYOUTS[layout](np, shape, d))
    got = call(la, text, la.array(x)[key], LAYOUTS[layout](la, shape, d))
    where = f"{text}: {x.dtype} {x.shape} into {d}, {layout}: {got} for {want}"
    if isinstance(want[0], type) or isinstance(got[0], type):
        assert got[0] is want[0], where
    else:
        assert same(got[0], want[0]), where
        assert got[1] == want[1], where


def values(d, shape=(3, 4), order="C"):
    x = BASE[: shape[0], : shape[1]]
    return np.array(x > 2 if d == "?" else x.astype(d), order=order)


pytestmark = [
    pytest.mark.host,
    pytest.mark.filterwarnings("ignore"),
]


@pytest.mark.parametrize("text", CALLS)
def test_every_dtype(text):
    for d in FROM:
        shape = result_shape(text, values(d))
        for to in INTO:
            check(text, values(d), to, "C", shape)


@pytest.mark.parametrize("text", [text for text in CALLS if "out=" not in text])
def test_by_position(text, direct):
    """Where small arrays are given to NumPy at once, this isn't."""
    for d, to in PAIRS:
        check(text, values(d), to, "C", result_shape(text, values(d)))


@pytest.mark.parametrize(
    ("order", "layout"),
    [
        *itertools.product("C", ["F", "steps", "F, backwards"]),
        *itertools.product("F", ["C", "backwards"]),
    ],
)
@pytest.mark.parametrize(("d", "to"), PAIRS[:3])
def test_layouts(d, to, order, layout):
    x = values(d, (9, 40), order)
    for text in CALLS:
        if "choose" in text and layout != "C":
            continue  # NumPy writes beside such outputs
        check(text, x, to, layout, result_shape(text, x))


@pytest.mark.parametrize(("d", "to"), [("f4", "f8"), ("f8", "f2")])
def test_large(d, to):
    """What is cut and shared; NumPy goes by buffers of 8192 elements."""
    for text in CALLS:
        slow = ("median", "tile", "prod", "hypot", "arg", "matmul", "dot")
        x = values(d, (60 if any(word in text for word in slow) else 300, 513))
        check(text, x, to, "C", result_shape(text, x))


@pytest.mark.parametrize("d", ["f4", "f8"])
@pytest.mark.parametrize("how", WRONG)
def test_wrong_outputs(how, d):
    """What NumPy documents is an error, and nothing is written."""
    for text in CALLS:
        shape = result_shape(text, values("f4")) or (3,)
        broadcast = text in OTHERS or "vec" in text  # as ufuncs do
        if (how == "too many axes" and broadcast) or (how == "no axes" and len(shape) == 1):
            continue
        out = WRONG[how](la, shape, d)
        found = call(la, text, la.array(values("f4")), out)
        if any(word in text for word in ("median", "quantile", "percentile")):  # by NumPy, at once
            want = call(np, text, values("f4"), WRONG[how](np, shape, d))
            alike = found[0] is want[0] if isinstance(want[0], type) else same(found[0], want[0])
            assert alike, f"{text}, {how}"
            continue
        # A dtype that doesn't do either may be told of first.
        assert found[0] in (ValueError, TypeError), f"{text}, {how}"


OVERLAPS = {
    "itself": lambda x: x,
    "row": lambda x: x[1],
    "column": lambda x: x[:, 2],
    "transposed": lambda x: x.T,
    "rows backwards": lambda x: x[::-1],
    "columns backwards": lambda x: x[:, ::-1],
    "rows": lambda x: x[:2],
    "an element": lambda x: x[2, 1, ...],
}


@pytest.mark.parametrize("size", [4, 70])
@pytest.mark.parametrize("d", ["f4", "i4"])
def test_over_the_input(d, size):
    """As if the input had been copied (but for ptp, whose maximum is written before)."""
    x = values(d, (size, size))
    for text in CALLS:
        shape = result_shape(text, x)
        for name, view in OVERLAPS.items():
            if view(x).shape != shape or "choose" in text:
                continue
            mine, theirs = la.array(x), x.copy()
            got, want = call(la, text, mine, view(mine)), call(np, text, theirs, view(theirs))
            if isinstance(want[0], type):  # NumPy may have written half of it
                assert got[0] is want[0], f"{text}, {name}"
                continue
            assert got[1] == want[1], f"{text}, {name}"
            assert same(np.array(mine), theirs), f"{text}: {d} over its {name}"


OF_VECTORS = [
    t for t in REDUCTIONS if t.startswith("xp") and "(x, out=o)" in t and "trace" not in t
]


@pytest.mark.parametrize("n", [1, 8192, 8193, 100003])
def test_vectors(n):
    for text, (d, to) in itertools.product(OF_VECTORS, [*PAIRS, ("f8", "f2"), ("?", "f4")]):
        x = np.resize(values(d, (600, 513)), n)
        check(text, x, to, "C", ())
        if REDUCES_INTO_OUT:
            check(text, x, to, "C", (), slice(None, None, -2))


HAVE_NO_RULE = ("reduceat", "hypot", "fmin", "subtract.", "maximum.reduceat")


@pytest.mark.parametrize(("d", "to"), [("f8", "f4"), ("f4", "f8"), ("f4", "f2")])
def test_while_autograd_records(d, to):
    """The same numbers; the gradient is that of the result by itself."""
    for text in CALLS:
        x = values(d)
        shape = result_shape(text, x)
        want = call(np, text, x, np.ones(shape, to))
        if isinstance(want[0], type) or any(word in text for word in HAVE_NO_RULE):
            continue
        a = la.array(x)
        a.attach_grad()
        with la.autograd.record():
            out = la.ones((1, *shape), to)[0, ...]
            result = eval(CODES[text], {"xp": la, "x": a, "o": out})
        assert result is out, text
        assert same(out.detach().asnumpy(), want[0]), text


FOLLOWED = """
    xp.sum(x, 1, out=o); xp.median(x, 1, o); xp.mean(x, 1, out=o); xp.cumsum(x, 1, out=o)
    xp.ptp(x, 0, o); xp.take(x, [1, 0], 0, o); xp.add.accumulate(x, out=o)
    xp.maximum.accumulate(x, 1, out=o); xp.max(x, 0, o); xp.quantile(x, 0.3, 0, o)"""


@pytest.mark.parametrize(
    "text", [t.strip() for t in FOLLOWED.replace("\n", ";").split(";") if t.strip()]
)
def test_gradients(text):
    x = values("f8", (5, 6))
    shape = np.shape(eval(text, {"xp": np, "x": x, "o": None}))
    weights = la.array(BASE[: np.prod(shape), 0].reshape(shape))
    found = []
    for out in (None, la.ones(shape, "f4")):
        a = la.array(x)
        a.attach_grad()
        with la.autograd.record():
            result = eval(text, {"xp": la, "x": a, "o": out})
            (result * weights).sum().backward()
        found.append(a.grad.asnumpy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-6)


def test_an_output_with_a_history():
    """What is written without being recorded would leave the old values' gradient."""
    for text in ("xp.median(x, 1, o)", "xp.sum(x, 1, None, o)", "xp.round(x[:, 0], 1, o)"):
        w = la.ones(3, "f4")
        w.attach_grad()
        with la.autograd.record():
            out = w * 2
            eval(text, {"xp": la, "x": la.array(values("f8")), "o": out})
            (out.sum() + w.sum()).backward()
        assert w.grad.asnumpy().tolist() == [1, 1, 1], text


@pytest.mark.parametrize(("d", "to"), PAIRS[:2])
def test_compiled(d, to):
    for text in CALLS:
        x = values(d)
        shape = result_shape(text, x)
        want = call(np, text, x, np.ones(shape, to))
        if isinstance(want[0], type):
            continue

        def function(a, out, text=text):
            eval(CODES[text], {"xp": la, "x": a, "o": out})
            return out

        compiled = la.compile(function)
        for _ in range(3):
            got = compiled(la.array(x), la.ones(shape, to))
            assert same(got.asnumpy(), want[0]), f"{text}: {d} into {to}"


def test_numpys_functions():
    """NumPy's own, called with an NDArray: ``out`` is either's."""
    x = values("f4")
    for text in CALLS:
        if not text.startswith("xp."):
            continue
        shape = result_shape(text, x)
        want = call(np, text, x, np.ones(shape))
        for out in (la.ones(shape), np.ones(shape)):
            names = {"xp": np, "x": la.array(x), "o": out}
            if isinstance(want[0], type):
                with pytest.raises(want[0]):
                    eval(CODES[text], names)
                continue
            eval(CODES[text], names)
            assert same(np.array(out), want[0]), text


def test_an_array_instead_of_a_scalar(direct):
    """``out=...``, as NumPy's ufuncs take it (since 2.3)."""
    x, s = la.array([[1.0, 2.0], [3.0, 4.0]]), la.array(2.0)
    for scalars in ("array", "numpy"):
        with la.set_scalars(scalars):
            for result in (
                la.add(1, 2, out=...),
                la.sqrt(s, out=...),
                la.add(s, 1, out=..., dtype="f4"),
                la.add.reduce(x[0], out=...),
                la.hypot.reduce(x[0], out=...),
                la.add.outer(1, 2, out=...),
                la.matmul(x[0], x[0], out=...),
                la.vecdot(x[0], x[0], out=...),
                la.clip(s, 1, 2, out=...),
                *la.divmod(s, 2, out=...),
            ):
                assert type(result) is la.NDArray
                assert result.shape == ()
                result += 1  # a scalar would be another
    assert la.add.accumulate(x, out=...).shape == (2, 2)
    for refused in ("sum", "mean", "median", "cumsum", "round", "argmax"):
        with pytest.raises(TypeError):
            getattr(la, refused)(x, out=...)


@pytest.mark.parametrize("lead", [(), (2,), (3, 2)])
def test_products_broadcast_to_their_output(lead):
    a, b, v = values("f4", (3, 4)), values("f4", (4, 5)), values("f4", (1, 4))[0]
    for name, x, y in (("matmul", a, b), ("matmul", v, b), ("matmul", a, v), ("matmul", v, v),
                       ("vecdot", a, v), ("matvec", a, v), ("vecmat", v, b)):  # fmt: skip
        if not hasattr(np, name):
            continue  # an older NumPy
        core = getattr(np, name)(x, y).shape
        for d in ("f4", "f8"):
            want, got = np.ones((*lead, *core), d), la.ones((*lead, *core), d)
            getattr(np, name)(x, y, out=want)
            assert getattr(la, name)(la.array(x), la.array(y), out=got) is got
            np.testing.assert_array_equal(got.asnumpy(), want)
        with pytest.raises(TypeError):
            getattr(la, name)(la.array(x), la.array(y), out=la.ones((*lead, *core), "i4"))
        if core and name != "vecdot":
            with pytest.raises(ValueError):
                getattr(la, name)(la.array(x), la.array(y), out=la.ones((*lead, *core[:-1], 1)))


def test_an_outer_product_where_a_mask_is_true():
    want, got = np.ones((3, 3)), la.ones((3, 3))
    mask = np.eye(3, dtype=bool)
    np.add.outer(np.arange(3.0), np.arange(3.0), out=want, where=mask)
    la.add.outer(la.arange(3.0), la.arange(3.0), out=got, where=mask)
    np.testing.assert_array_equal(got.asnumpy(), want)


def test_numpys_casting_into_a_numpy_array():
    out = np.zeros(3, "i4")
    assert np.add(la.array([1.5, 2.5, 3.5]), 1, out=out, casting="unsafe") is out
    assert out.tolist() == [2, 3, 4]


def test_an_output_in_the_place_of_the_dtype():
    x = la.array(values("f8"))
    for name in ("sum", "prod", "mean", "std", "var", "cumsum", "cumprod", "nansum", "nanmean"):
        with pytest.raises(TypeError):
            getattr(la, name)(x, 0, la.zeros(4))
        with pytest.raises(TypeError):
            getattr(np, name)(np.array(x), 0, np.zeros(4))


def test_integers_are_rounded_already():
    for xp in (np, la):
        x = xp.broadcast_to(xp.arange(3), (2, 3))  # which is read-only
        assert xp.round(x, 1, x) is x
        with pytest.raises(ValueError, match="read-only"):
            xp.round(x * 1.5, 1, xp.broadcast_to(xp.zeros(3), (2, 3)))


def test_products_of_integers_do_not_overflow_on_their_way_into_floats():
    out = la.zeros(100)
    la.cumprod(la.full(100, 10), out=out)
    assert out[-1].item() == pytest.approx(1e100)


VALUES = np.random.default_rng(0).standard_normal((3, 40))


@pytest.mark.parametrize("q", [[0.1, 0.7], [[0.1], [0.7]]])
@pytest.mark.parametrize("keepdims", [False, True])
def test_several_quantiles(q, keepdims):
    want = np.quantile(VALUES.astype("f"), q, axis=0, keepdims=keepdims)
    out = la.zeros(want.shape)
    la.quantile(la.array(VALUES, "f"), q, axis=0, out=out, keepdims=keepdims)
    np.testing.assert_allclose(out.asnumpy(), want, 1e-6)


@pytest.mark.parametrize("name", ["cumprod", "multiply.accumulate", "cumsum"])
@pytest.mark.parametrize("shape", [(2, 5000), (300, 2), (200, 3, 50), (2,)])
def test_running_complex_products_into_any_layout(name, shape):
    rng = np.random.default_rng(0)
    x = (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype("F")
    for turn in (
        lambda o: o,
        lambda o: o[(slice(None, None, -1),) * o.ndim],
        lambda o: o.reshape(shape[::-1]).T,
    ):
        for axis in range(len(shape)):
            want, got = turn(np.zeros(shape, "F")), turn(la.zeros(shape, "F"))
            operator.attrgetter(name)(np)(x, axis, None, want)
            operator.attrgetter(name)(la)(la.array(x), axis, None, got)
            np.testing.assert_array_equal(got.asnumpy(), want)


@pytest.mark.parametrize(
    "call",
    [
        "xp.modf(x, out=(x, x))",
        "xp.modf(x, x, x)",
        "xp.modf(x, out=(x[::-1], x))",
        "xp.divmod(x, 2, out=(x, x))",
        "xp.divmod(7, x, out=(x, x))",
        "xp.divmod(x, x[::-1], out=(x, x[::-1]))",
        "xp.frexp(x, out=(x, None))",
    ],
)
def test_two_outs_that_share_memory(call):
    found = []
    for xp in (la, np):
        x = xp.array([1.5, 2.5, 4.0, 8.25])
        eval(call, {"xp": xp, "x": x})
        found.append(x.tolist())
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["modf", "divmod", "frexp"])
@pytest.mark.parametrize("shapes", [((8, 1), (1,)), ((1,), (8,)), ((1,), (2, 1)), ((4,), (4, 1))])
@pytest.mark.parametrize("options", [{}, {"casting": "unsafe"}])
def test_two_outs_of_different_shapes_are_refused(name, shapes, options):
    for xp in (la, np):
        operands = [xp.ones(1)] * (2 if name == "divmod" else 1)
        outs = tuple([xp.zeros(shape) for shape in shapes])
        with pytest.raises(ValueError, match=r"non-broadcastable|could not be broadcast"):
            getattr(xp, name)(*operands, out=outs, **options)
        assert not any(x.any() for x in outs)


@pytest.mark.parametrize("n", [3, 999, 5000, 65_537, 1_000_000])
@pytest.mark.parametrize("name", ["modf", "divmod", "frexp"])
@pytest.mark.parametrize("layout", ["whole", "strided", "other dtypes", "turned"])
def test_both_results_go_into_arrays(name, n, layout):
    # Both copies belong to one maker, which may write its results into their targets itself.
    def made(xp):
        x = xp.linspace(-9, 9, n)
        a, b = xp.zeros(2 * n), xp.zeros(2 * n, "i4" if name == "frexp" else float)
        if layout == "other dtypes":
            a, b = a.astype("f4"), b.astype("i8" if name == "frexp" else "f4")
        a, b = (a[::2], b[1::2]) if layout == "strided" else (a[:n], b[:n])
        if layout == "turned":
            a, b = a[::-1], b[::-1]
        operands = (x * 3, 0.25) if name == "divmod" else (x * 3,)
        got = getattr(xp, name)(*operands, out=(a, b))
        assert got[0] is a and got[1] is b
        return a, b

    for got, want in zip(made(la), made(np), strict=True):
        np.testing.assert_array_equal(got.asnumpy(), want)


@pytest.mark.parametrize("n", [5, 20_000])
def test_two_copies_of_two_results_in_one_pass(n):
    x = np.linspace(-9, 9, n)
    a, b = la.zeros(n), la.zeros(n)
    with la.engine.bulk(64):
        fractions, wholes = la.modf(la.array(x) + 1)
        a[:] = fractions
        b[:] = wholes
        c = a - b
    want = np.modf(x + 1)
    np.testing.assert_array_equal(a.asnumpy(), want[0])
    np.testing.assert_array_equal(b.asnumpy(), want[1])
    np.testing.assert_array_equal(c.asnumpy(), want[0] - want[1])


@pytest.mark.parametrize("more", [{}, {"casting": "same_kind"}, {"dtype": "f8"}, {"where": True}])
@pytest.mark.parametrize("wrong", ["dtype", "shape", "read-only"])
def test_no_output_is_written_where_another_is_refused(more, wrong):
    x, a = la.arange(5.0) / 3, la.zeros(5)
    b = {"dtype": la.zeros(5, "u2"), "shape": la.zeros(4), "read-only": la.zeros(5)}[wrong]
    b.flags.writeable = wrong != "read-only"
    error = TypeError if wrong == "dtype" else ValueError
    for outs in ((a, b), (b, a), (a.asnumpy(), b), (a, b.asnumpy())):
        if wrong == "read-only" and not all(isinstance(o, la.NDArray) for o in outs):
            continue
        with pytest.raises(error):
            la.modf(x, out=outs, **more)
        assert not any(np.asarray(o).any() for o in outs)


@pytest.mark.parametrize("name", ["isnan", "isinf", "isfinite", "signbit"])
@pytest.mark.parametrize("n", [100, 5000, 70_000])
def test_predicates_into_floats_over_themselves(name, n):
    # NumPy's own result is wrong, going backwards: its loops write a strided bool wrongly.
    values = np.arange(n + 1.0) - n // 2
    values[::7] = np.nan
    for one, other in [(slice(0, n), slice(1, n + 1)), (slice(n - 1, None, -1), slice(n, 0, -1))]:
        want = values.copy()
        want[other] = getattr(np, name)(values[one])
        x = la.array(values)
        getattr(la, name)(x[one], out=x[other])
        np.testing.assert_array_equal(x.asnumpy(), want)


@pytest.mark.parametrize("name", ["frexp", "modf"])
@pytest.mark.parametrize(
    "shapes", [((2, 3), None), (None, (2, 3)), ((2, 3), (2, 3)), ((2, 3), (3,))]
)
def test_one_of_two_outputs_makes_the_other_as_large(name, shapes):
    def called(xp):
        kinds = getattr(np, name).resolve_dtypes((np.dtype(float), None, None))[1:]
        outs = [n and xp.zeros(n, kind) for n, kind in zip(shapes, kinds, strict=True)]
        try:
            found = getattr(xp, name)(xp.arange(3) / 2, out=tuple(outs))
        except ValueError as e:
            return str(e).replace(" ", "")
        return [(x.shape, x.tolist()) for x in found]

    assert called(la) == called(np)


@pytest.mark.parametrize("name", ["add", "divide", "maximum", "sqrt", "less"])
@pytest.mark.parametrize("n", [3, 1000, 20000])
@pytest.mark.parametrize("way", ["apart", "in place", "list", "overlapping", "one", "number"])
def test_where_and_out(name, n, way, direct):
    """The masked elements of ``out`` stay, whatever it shares with the operands."""
    seeds = np.random.default_rng(n)
    x, y, mask = seeds.standard_normal(n) * 5, seeds.standard_normal(n), seeds.random(n) < 0.5
    for dtype in ("f8", "f4", "i8"):
        found = []
        for xp in (np, la):
            a, b, out, where = (
                xp.array(v) for v in (x.astype(dtype), y.astype(dtype), np.zeros(n), mask)
            )
            if way == "in place" and dtype == "f8":
                out = a
            elif way == "list":
                where = mask.tolist()
            elif way == "overlapping" and dtype == "f8":
                out, a, b, where = a[:-1], a[1:], b[1:], where[1:]
            elif way == "one":
                where = where[:1]
            elif way == "number":
                b = 2
            with np.errstate(all="ignore"):
                given = (a,) if name == "sqrt" else (a, b)
                assert getattr(xp, name)(*given, out=out, where=where) is out
                found.append(np.asarray(out))
        np.testing.assert_array_equal(found[1], found[0])
