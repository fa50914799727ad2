"""Every elementwise row of the op table against its NumPy ufunc, generated from the table."""

import numpy as np
import pytest

import lazyarray as la
from lazyarray._numpy_facts import VERSION
from lazyarray.lazy._lazy import _set_policy
from lazyarray.ops import elementwise

from .compare import there

DTYPES = "?bBhHiIlLqQefdgFDG"
rng = np.random.default_rng(0)
# NumPy's own loops differ between strided and contiguous input here (DESIGN section 9).
LAYOUT_DEPENDENT = {
    ("arccos", "e"),
    ("arcsin", "e"),
    ("arctan", "e"),
    ("cbrt", "e"),
    ("log10", "e"),
}
if VERSION == (2, 3):  # ... and here they all do
    LAYOUT_DEPENDENT |= {(name, "e") for name, row in elementwise.TABLE.items() if row.vectors}


def sample(dtype, shape=(6, 8)):
    d = np.dtype(dtype)
    a = rng.integers(0 if d.kind in "bu" else -3, 4, shape)
    if d.kind in "fc":
        a = a + rng.random(shape).round(2)
        a.flat[:3] = [np.nan, np.inf, -0.0]
    if d.kind == "c":
        a = a + 1j * rng.random(shape).round(2)
    return a.astype(d)


def same(got, want, what):
    assert got.dtype == want.dtype, what
    assert got.shape == want.shape, what
    np.testing.assert_array_equal(got.asnumpy(), want, err_msg=str(what))


LAYOUTS = {
    "contiguous": lambda a: a,
    "strided": lambda a: a[::2, 1::3],
    "transposed": lambda a: a.T,
    "reversed": lambda a: a[::-1],
    "broadcast": lambda a: a[:1],
    "element": lambda a: a[1:2, 1:2].reshape(()),
}


@pytest.fixture(params=["inline", "recorded"])
def tier(request):
    old = _set_policy("inline_ns", 4000 if request.param == "inline" else 0)
    yield
    with np.errstate(all="ignore"):
        _set_policy("inline_ns", old)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", sorted(elementwise.TABLE))
def test_row(name, tier):
    row, ufunc = elementwise.TABLE[name], getattr(np, name)
    for dtype in there(DTYPES):
        a = sample(dtype)
        for layout, f in LAYOUTS.items():
            if (name, dtype) in LAYOUT_DEPENDENT and layout not in ("contiguous", "element"):
                continue
            x = f(la.array(a))
            with np.errstate(all="ignore"):
                if row.nin == 1:
                    args, lazy = (f(a),), (x,)
                else:
                    b = sample("i1" if name == "ldexp" else dtype)
                    if name in ("power", "left_shift", "right_shift"):
                        b = np.abs(b) if np.dtype(dtype).kind in "iu" else b
                    args, lazy = (f(a), f(b)), (x, f(la.array(b)))
                try:
                    want = ufunc(*args)
                except TypeError:
                    with pytest.raises(TypeError):
                        row(*lazy)
                    continue
                got = row(*lazy)
            wants, gots = (want, got) if isinstance(want, tuple) else ((want,), (got,))
            for w, g in zip(wants, gots, strict=True):
                same(g, np.asarray(w), (name, dtype, layout))


PAIRS = [
    ("i4", "f4"),
    ("u8", "i8"),
    ("?", "f8"),
    ("f4", "c8"),
    ("i1", "u1"),
    ("e", "i2"),
    ("f4", "f8"),
]


@pytest.mark.parametrize("name", ["add", "multiply", "divide", "less", "maximum", "power"])
@pytest.mark.parametrize("left, right", PAIRS)
def test_promotion(name, left, right):
    a, b = abs(sample(left)[1:]), abs(sample(right)[1:])
    for p, q in ((a, b), (b, a), (a[:, None], b), (a, b[0])):
        with np.errstate(all="ignore"):
            same(
                getattr(la, name)(la.array(p), la.array(q)),
                getattr(np, name)(p, q),
                (p.dtype, q.dtype),
            )


@pytest.mark.parametrize("scalar", [True, 2, 2.5, 1j, np.float32(2), np.int64(3), np.float64(1.5)])
@pytest.mark.parametrize("dtype", "?bBiqefdFD")
def test_weak_scalars(dtype, scalar):
    a = sample(dtype)[1:]
    for op in ("__add__", "__rsub__", "__mul__", "__rtruediv__", "__pow__", "__lt__", "__eq__"):
        with np.errstate(all="ignore"):
            try:
                want = getattr(a, op)(scalar)
            except (TypeError, ValueError) as exc:
                with pytest.raises(type(exc)):
                    getattr(la.array(a), op)(scalar).asnumpy()
                continue
            same(getattr(la.array(a), op)(scalar), want, (dtype, scalar, op))


def test_python_integers_out_of_range():
    x = la.array([1, 2], dtype="u1")
    with pytest.raises(OverflowError):
        x + 300
    with pytest.raises(OverflowError):
        x += 300
    with pytest.raises(OverflowError):
        x[0] = 300
    assert (x < 300).asnumpy().tolist() == [True, True]
    assert (x == -1).asnumpy().tolist() == [False, False]
    assert x.asnumpy().tolist() == [1, 2]


@pytest.mark.parametrize("exponent", [2, 1, 0.5, -1, 3, 0, 2.0, -1.0, 1.5])
@pytest.mark.parametrize("dtype", "iqfdD")
def test_power_operator(dtype, exponent):
    a = abs(sample(dtype)[1:]) + 1
    a = a.astype(dtype)
    with np.errstate(all="ignore"):
        try:
            want = a**exponent
        except ValueError:
            with pytest.raises(ValueError, match="negative integer powers"):
                (la.array(a) ** exponent).asnumpy()
            return
        same(la.array(a) ** exponent, want, (dtype, exponent))


def test_in_place_keeps_the_dtype_or_raises():
    x = la.ones(3, dtype="i4")
    x += 2
    x *= la.array([1, 2, 3], dtype="i8")
    assert x.dtype == np.int32
    assert x.asnumpy().tolist() == [3, 6, 9]
    with pytest.raises(TypeError, match="same_kind"):
        x += 0.5
    with pytest.raises(TypeError, match="same_kind"):
        x /= 2
    y = la.ones(3, dtype="f4")
    y += la.full(3, 0.5, dtype="f8")
    assert y.dtype == np.float32
    with pytest.raises(ValueError, match="broadcast"):
        y += la.ones((2, 3))
    assert y.asnumpy().tolist() == [1.5] * 3


def test_out_and_where():
    a = sample("d")[1:]
    x = la.array(a)
    out = la.zeros(a.shape)
    assert la.multiply(x, 2, out=out) is out
    np.testing.assert_array_equal(out.asnumpy(), a * 2)
    want = np.zeros(a.shape)
    np.add(a, 1, out=want, where=a > 0)
    got = la.zeros(a.shape)
    la.add(x, 1, out=got, where=x > 0)
    np.testing.assert_array_equal(got.asnumpy(), want)
    strided = la.zeros((a.shape[0], 2 * a.shape[1]), dtype=bool)
    la.isfinite(x, out=strided[:, ::2])
    np.testing.assert_array_equal(strided.asnumpy()[:, ::2], np.isfinite(a))
    same(la.add(x, 1, dtype="f4"), np.add(a, 1, dtype="f4", casting="same_kind"), "dtype")


BAD = [
    (lambda np_: np_.add(np_.ones(2), np_.ones(3)), ValueError),
    (lambda np_: np_.ones(2) + "a", TypeError),
    (lambda np_: np_.invert(np_.ones(2)), TypeError),
    (lambda np_: np_.add(np_.ones(2)), TypeError),
    (lambda np_: np_.ones((2, 3)) @ np_.ones((2, 3)), ValueError),
    (lambda np_: np_.ones(()) @ np_.ones(3), ValueError),
    (lambda np_: np_.ones(3).sum(axis=1), np.exceptions.AxisError),
    (lambda np_: np_.ones((2, 2)).sum(axis=(0, 0)), ValueError),
    (lambda np_: np_.zeros((0, 3)).max(axis=0), ValueError),
    (lambda np_: bool(np_.ones(2)), ValueError),
    (lambda np_: float(np_.ones(2)), TypeError),
    (lambda np_: np_.ones(3)[5], IndexError),
    (lambda np_: np_.ones(3)[1, 2], IndexError),
    (lambda np_: np_.ones(3)[..., ...], IndexError),
    (lambda np_: np_.ones(3)["a"], IndexError),
    (lambda np_: len(np_.ones(())), TypeError),
    (lambda np_: hash(np_.ones(3)), TypeError),
    (lambda np_: np_.zeros(-1), ValueError),
    (lambda np_: np_.ones(3).reshape(2, 2), ValueError),
]


@pytest.mark.parametrize("case", range(len(BAD)))
def test_bad_input_raises_at_the_call(case):
    f, error = BAD[case]
    for xp in (np, la):
        with pytest.raises(error):
            f(xp)


@pytest.mark.parametrize("name", ["exp", "exp2", "arctan", "sinh", "tanh"])
@pytest.mark.parametrize(
    "key", [np.s_[:, ::-1], np.s_[::-1, ::-1], np.s_[::-1, ::-1, ::2], np.s_[..., ::-2]]
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_views_that_run_backwards_give_numpys_bits(tier, name, key, order):
    a = np.asarray(np.random.default_rng(0).standard_normal((12, 13, 18)), order=order)
    want = getattr(np, name)(a[key])
    got = getattr(la, name)(la.array(a)[key]).asnumpy()
    assert got.strides == want.strides
    np.testing.assert_array_equal(got, want)


def test_a_mask_and_an_output_that_the_operands_are_broadcast_to():
    for shape in [(2,), (3, 2), (1,)]:
        want, got = np.ones(shape), la.ones(shape)
        mask = np.arange(shape[-1]) % 2 == 0
        np.log2(np.array([8.0]), where=mask, out=want)
        la.log2(la.array([8.0]), where=la.array(mask), out=got)
        np.testing.assert_array_equal(got.asnumpy(), want)
    with pytest.raises(ValueError, match="could not be broadcast together"):
        la.add(la.ones(3), 1, where=la.array([True]), out=la.zeros(2))


def mismatches(xp, one):
    def in_place(x, y):
        x += y

    def store(x, y):
        x[...] = y

    return [
        lambda: one((3, 2)) + one(3),
        lambda: xp.maximum(one((3, 0)), one((2, 0))),
        lambda: xp.where(one(3) > 0, one(2), 1),
        lambda: xp.clip(one(3), one(2), 1),
        lambda: xp.sqrt(one(3), out=one(2)),
        lambda: xp.sqrt(one((2, 3)), out=one((2, 1))),
        lambda: xp.add(one(3), 1, out=one(2)),
        lambda: xp.add(one(2), one(3), dtype="float32"),
        lambda: xp.add(one(3), 1, where=[True, False], out=one(3)),
        lambda: xp.add(one(3), 1, where=one((2, 1, 3)) > 0, out=one(3)),
        lambda: xp.modf(one(3), out=(one(2), None)),
        lambda: in_place(one((3, 2)), one(3)),
        lambda: in_place(one(3), one((2, 3))),
        lambda: store(one((2, 3)), one((3, 2))),
        lambda: one((2, 2, 3)) @ one((5, 3, 3, 2)),
        lambda: one((4, 2, 2, 3)) @ one((5, 3, 2)),
    ]


def test_shapes_that_do_not_fit_are_told_in_numpys_words():
    for numpys, ours in zip(mismatches(np, np.ones), mismatches(la, la.ones), strict=True):
        with pytest.raises(ValueError) as want:
            numpys()
        with pytest.raises(ValueError) as got:
            ours()
        assert str(got.value) == str(want.value)


def test_numpys_bool_and_a_number(direct):
    """NumPy's bool compares with no integer that is larger than a C long."""
    for name in ("add", "fmod", "maximum", "left_shift", "power"):
        for args in ((np.True_, 3), (np.True_, True), (3, np.True_)):
            got, want = getattr(la, name)(*args), getattr(np, name)(*args)
            assert got.dtype == want.dtype and got.item() == want.item()


@pytest.mark.parametrize("indices", [[], [[]], ([],), (slice(None), [])])
@pytest.mark.parametrize("n", [3, 100_000])
def test_at_no_place(n, indices, direct):
    x = la.zeros((n, 2))
    la.add.at(x, indices, 1)
    la.negative.at(x, indices)
    assert not x.any()


def test_an_order_that_is_no_text():
    with pytest.raises(TypeError, match="order must be str"):
        la.abs(la.ones(2), order=la.ones(3))
