"""Linear layers, dropout, embeddings, one-hot rows, initial weights."""

import math

import numpy as np
import pytest

import lazyarray as la
from lazyarray import nn
from lazyarray.random.devices import newer_here

from .checks import check_gradients, close, gradients, normal

# ---- linear -------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(4,), (3, 4), (2, 3, 4), (0, 4)])
@pytest.mark.parametrize("biased", [True, False])
def test_linear(shape, biased):
    arrays = [normal(*shape), normal(5, 4, seed=1)] + [normal(5, seed=2)] * biased
    x, w, *b = arrays
    close(nn.linear(*arrays), x @ w.T + (b[0] if b else 0))
    check_gradients(nn.linear, *arrays)
    turned = [la.array(np.ascontiguousarray(a.T)).T for a in arrays]
    close(nn.linear(*turned), x @ w.T + (b[0] if b else 0))


def test_the_gradient_of_the_weight_comes_in_its_own_order():
    """So that it is not copied on its way: the product itself is what ``grad`` is written from."""
    w = la.ones((5, 4))
    w.attach_grad()
    with la.autograd.record():
        y = nn.linear(la.ones((3, 4)), w).sum()
    (g,) = la.autograd.grad(y, [w])
    assert g.strides == w.strides


@pytest.mark.parametrize("shape", [(0,), (2, 0), (2, 3, 0), (2, 0, 0)])
def test_linear_of_nothing_is_the_bias(shape):
    x, w, b = np.ones(shape), np.ones((4, 0)), normal(4)
    close(nn.linear(x, w, b), np.broadcast_to(b, (*shape[:-1], 4)))
    close(nn.linear(x, w), np.zeros((*shape[:-1], 4)))
    check_gradients(nn.linear, x, w, b)


def test_linear_of_other_numbers():
    assert nn.linear(la.array([1, 2]), la.array([[1, 2]])).tolist() == [5]
    x, w = normal(3, 2) + 1j * normal(3, 2, seed=1), normal(4, 2, seed=2) + 2j
    close(nn.linear(x, w), x @ w.T)
    mixed = nn.linear(la.ones((2, 3), dtype="f4"), la.ones((2, 3), dtype="f4"), la.ones(2))
    assert mixed.dtype == np.float64
    half = nn.linear(*(la.ones(s, dtype="f2") for s in ((2, 3), (2, 3), (2,))))
    assert half.dtype == np.float16


@pytest.mark.parametrize(
    ("x", "w", "b"),
    [((2, 3), (2, 2), (2,)), ((2, 3), (3,), (3,)), ((2, 3), (2, 3), (3,)), ((), (2, 3), (2,))],
)
def test_linear_refuses(x, w, b):
    with pytest.raises(ValueError, match=r"linear: x of shape \(.*weight of shape \(.*bias"):
        nn.linear(la.ones(x), la.ones(w), la.ones(b))


# ---- dropout ------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2"])
def test_dropout_statistics(p, dtype):
    la.random.seed(1)
    n = 100_000
    y = nn.dropout(la.ones(n, dtype=dtype), p, training=True)
    assert y.dtype == dtype
    values = y.asnumpy().astype(float)
    kept = values != 0
    close(np.unique(values[kept]), [1 / (1 - p)], 1e-3)
    assert abs(kept.mean() - (1 - p)) < 5 * math.sqrt(p * (1 - p) / n)


def test_dropout_is_drawn_from_the_devices_stream():
    def draw():
        return nn.dropout(la.ones(50), 0.5, training=True).tolist()

    la.random.seed(3)
    first, second = draw(), draw()
    la.random.seed(3)
    assert [draw(), draw()] == [first, second] and first != second
    la.random.seed(3)
    uniform = newer_here().random(50, "float32").asnumpy()
    assert first == np.where(uniform >= 0.5, 2.0, 0.0).tolist()
    with la.cpu(1):
        other = la.ones(50)
    assert nn.dropout(other, 0.5, training=True).ctx == la.cpu(1)


def test_dropout_modes():
    x = la.ones(1000)
    assert nn.dropout(x) is x  # not in training
    assert nn.dropout(x, 0.0, training=True) is x
    with la.autograd.record():
        assert (nn.dropout(x) == 0).any()
        assert nn.dropout(x, training=False) is x
        with la.autograd.predict_mode():
            assert nn.dropout(x) is x
    with la.autograd.train_mode():
        assert (nn.dropout(x) == 0).any()
    assert not nn.dropout(x, 1.0, training=True).any()


def test_dropout_gradient_goes_where_the_values_went():
    x = la.array(normal(200))
    x.attach_grad()
    with la.autograd.record():
        y = nn.dropout(x, 0.3)
        z = (y * y).sum()
        (g,) = la.autograd.grad(z, [x], create_graph=True)
        (h,) = la.autograd.grad((g * g).sum(), [x])
    factor = y.asnumpy() / x.asnumpy()
    close(g, 2 * factor**2 * x.asnumpy())
    close(h, 8 * factor**4 * x.asnumpy())


def test_dropout_refuses():
    for p in (-0.1, 1.5, float("nan")):
        with pytest.raises(ValueError, match="probability"):
            nn.dropout(la.ones(2), p)
    with pytest.raises(TypeError, match="int64"):
        nn.dropout(la.array([1, 2]), training=True)


# ---- embeddings ---------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (5,), (2, 3), (0,)])
@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
def test_embedding(shape, dtype):
    weight = normal(4, 3)
    index = np.random.default_rng(1).integers(0, 4, shape).astype(dtype)
    close(nn.embedding(index, weight), weight[index], 0)
    close(nn.embedding(la.array(index), weight), weight[index], 0)
    check_gradients(lambda w: nn.embedding(index, w) ** 2, weight)


def test_embedding_gradient_adds_up_repeated_and_negative_indices():
    (g,) = gradients(lambda w: nn.embedding([1, 1, -1, 0, 1], w), np.ones((4, 2)))
    assert g.tolist() == [[1, 1], [3, 3], [0, 0], [1, 1]]
    for dtype in ("f2", "f4"):
        (g,) = gradients(lambda w: nn.embedding([1, 1], w), np.ones((2, 2), dtype))
        assert g.dtype == dtype and g.tolist() == [[0, 0], [2, 2]]


def test_embedding_does_not_take_the_gil():
    w, index = la.array(normal(500, 64)), la.array(np.arange(4000) % 500)
    w.attach_grad()
    kept = []

    def step():
        with la.autograd.record():
            y = nn.embedding(index, w).sum()
        y.backward()
        kept.append(y)

    before = la.lazy._lazy.gil_ops()
    step()
    la.waitall()
    assert la.lazy._lazy.gil_ops() == before
    close(w.grad, np.full((500, 64), 8.0), 0)


@pytest.mark.parametrize("dtype", ["c8", "c16", "g"])
def test_embedding_refuses_what_has_no_gradient_here(dtype):
    w = la.ones((3, 2), dtype=dtype)
    w.attach_grad()
    assert nn.embedding([1], w).dtype == w.dtype
    with la.autograd.record():
        assert nn.embedding([1], w.detach()).dtype == w.dtype
        with pytest.raises(TypeError, match=f"embedding has no gradient .* of {w.dtype}"):
            nn.embedding([0, 1, 1], w)


def test_embedding_refuses():
    w = la.ones((2, 3))
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        nn.embedding(la.array([5]), w).asnumpy()
    with pytest.raises(TypeError, match="float64"):
        nn.embedding([0.5], w)
    with pytest.raises(ValueError, match=r"\(3,\)"):
        nn.embedding([0], la.ones(3))


def test_one_hot():
    index = np.array([[0, 2], [1, 5]])
    want = (index[..., None] == np.arange(3)).astype("int64")
    for given in (index, la.array(index), index.tolist()):
        got = nn.one_hot(given, 3)
        assert got.dtype == np.int64 and (got.asnumpy() == want).all()
    assert nn.one_hot(index, 3, "float32").dtype == np.float32
    assert nn.one_hot(np.zeros(0, int), 3).shape == (0, 3)
    with pytest.raises(TypeError, match="float64"):
        nn.one_hot([0.5], 2)


# ---- initial weights ----------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(300, 200), (40, 30, 5, 5)], ids=str)
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_initializers(shape, dtype):
    field = math.prod(shape[2:])
    into, out = shape[1] * field, shape[0] * field
    cases = {
        nn.xavier_uniform: math.sqrt(2 / (into + out)),
        nn.xavier_normal: math.sqrt(2 / (into + out)),
        nn.kaiming_uniform: math.sqrt(2 / into),
        nn.kaiming_normal: math.sqrt(2 / into),
        lambda *a, **k: nn.kaiming_normal(*a, 1.0, "fan_out", **k): math.sqrt(1 / out),
    }
    la.random.seed(0)
    for f, deviation in cases.items():
        w = f(shape, dtype=dtype)
        assert w.shape == shape and w.dtype == dtype
        values = w.asnumpy().astype(float)
        assert abs(values.std() / deviation - 1) < 0.02
        assert abs(values.mean()) < deviation * 5 / math.sqrt(values.size)
        if f in (nn.xavier_uniform, nn.kaiming_uniform):
            assert abs(values).max() <= deviation * math.sqrt(3) * 1.001
            assert abs(values).max() > deviation * math.sqrt(3) * 0.99
    la.random.seed(5)
    first = nn.xavier_uniform((3, 4)).tolist()
    la.random.seed(5)
    assert nn.xavier_uniform((3, 4)).tolist() == first


def test_initializers_refuse():
    with pytest.raises(ValueError, match=r"\(3,\)"):
        nn.kaiming_uniform((3,))
    with pytest.raises(ValueError, match="fan"):
        nn.kaiming_normal((3, 3), mode="fan")
    with pytest.raises(TypeError, match="int64"):
        nn.xavier_normal((3, 3), dtype="int64")


def test_initializers_that_refuse_have_drawn_nothing():
    la.random.seed(3)
    first = la.random.rand().item()
    for f in (nn.xavier_uniform, nn.xavier_normal, nn.kaiming_uniform, nn.kaiming_normal):
        for wrong in ({"shape": (3,)}, {"gain": "x"}, {"dtype": "int64"}, {"mode": "x"}):
            la.random.seed(3)
            with pytest.raises((TypeError, ValueError)):
                f(**{"shape": (3, 2), **wrong})
            assert la.random.rand().item() == first, (f, wrong)


@pytest.mark.parametrize("rows", [7, 300, 5000])
def test_sums_of_halves_in_gradients(rows):
    """Halves end to count at 2048: they are summed as floats."""
    x = la.ones((rows, 3), dtype="f2")
    weight, bias = la.ones((2, 3), dtype="f2"), la.zeros(2, dtype="f2")
    row = la.zeros(3, dtype="f2")
    slopes = la.ones(3, dtype="f2")
    for p in (weight, bias, row, slopes):
        p.attach_grad()
    with la.autograd.record():
        y = nn.linear(x, weight, bias).sum() + (x + row).sum() + nn.prelu(-x, slopes).sum()
    y.backward()
    for p, want in ((bias, rows), (row, rows), (slopes, -rows)):
        assert p.grad.dtype == np.float16
        np.testing.assert_array_equal(p.grad.asnumpy(), np.full(p.shape, want, "f2"))


@pytest.mark.parametrize("axis", [0, -1])
def test_softmax_of_halves_along_long_axes(axis):
    a = np.random.default_rng(3).normal(size=(40, 6000)).astype("f2")
    a = a if axis == -1 else a.T.copy()
    e = np.exp(a.astype("f8") - a.max(axis, keepdims=True))
    share = e / e.sum(axis, keepdims=True)
    x = la.array(a)
    x.attach_grad()
    with la.autograd.record():
        y = nn.softmax(x, axis)
        loss = (y * 3).sum()
    loss.backward()
    assert y.dtype == np.float16
    np.testing.assert_allclose(y.asnumpy(), share, rtol=2e-3, atol=1e-7)
    np.testing.assert_allclose(x.grad.asnumpy(), 0, atol=1e-5)
    log = nn.log_softmax(la.array(a), axis)
    np.testing.assert_allclose(log.asnumpy(), np.log(share), rtol=2e-3)
    total = nn.logsumexp(la.array(a), axis)
    want = np.log(e.sum(axis)) + a.max(axis)
    np.testing.assert_allclose(total.asnumpy(), want, rtol=2e-3)
    assert log.dtype == total.dtype == np.float16


@pytest.mark.parametrize("dtype", ["u1", "i1", "?", "u2", "i4", "u8"])
def test_integers_in_functions_of_floats(dtype):
    a = np.array([0, 1, 5, 100]).astype(dtype)
    b = a.astype("f8")
    e = np.exp(b - b.max())
    wants = {
        "sigmoid": 1 / (1 + np.exp(-b)),
        "log_sigmoid": -np.log1p(np.exp(-b)),
        "silu": b / (1 + np.exp(-b)),
        "softmax": e / e.sum(),
        "log_softmax": b - b.max() - np.log(e.sum()),
        "logsumexp": np.log(e.sum()) + b.max(),
    }
    for name, want in wants.items():
        got = getattr(nn, name)(la.array(a))
        assert got.dtype == np.exp(a).dtype
        np.testing.assert_allclose(got.asnumpy(), want, rtol=3e-3, atol=1e-7)


def test_logsumexp_of_nothing():
    got = nn.logsumexp(la.zeros((2, 0)))
    np.testing.assert_array_equal(got.asnumpy(), [-np.inf, -np.inf])
    assert nn.logsumexp(la.zeros((2, 0)), 0, True).shape == (1, 0)
