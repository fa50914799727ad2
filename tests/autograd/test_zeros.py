"""Gradients that are zero: of results without elements, of what doesn't change with its leaves."""

import gc
import weakref

import numpy as np
import pytest

import lazyarray as la
from lazyarray import autograd, nn
from lazyarray.lazy._lazy import recorded, tracked

NOTHING = np.zeros(0, np.int64)


def leaf(values, req="write"):
    x = la.array(np.asarray(values, float))
    x.attach_grad(req)
    x.grad[...] = 7.0  # so that zeros are seen to be written
    return x


def backward_of(function, x):
    with autograd.record():
        y = function(x)
    y.backward()
    return x.grad.asnumpy()


# ---- results without elements -------------------------------------------------------------------

EMPTY = {
    "take": ((3,), lambda x: x[la.zeros(0, "int64")] ** 2),
    "rows": ((3, 2), lambda x: x[la.zeros((0, 4), "int64")]),
    "behind": ((2, 3), lambda x: x[:, NOTHING]),
    "mask": ((3,), lambda x: x[la.zeros(3, bool)]),
    "slice": ((3,), lambda x: x[:0]),
    "la.take": ((3, 2), lambda x: la.take(x, NOTHING, axis=0)),
    "stack": ((0, 3), lambda x: la.stack([x, x])),
    "concatenate": ((0, 3), lambda x: la.concatenate([x, x])),
    "concatenate some": ((0, 3), lambda x: la.concatenate([x, la.ones((2, 3))])),
    "concatenate cast": ((0, 3), lambda x: la.concatenate([x, la.ones((0, 3), "f4")])),
    "hstack": ((3, 0), lambda x: la.hstack([x, x])),
    "tile": ((0, 3), lambda x: la.tile(x, (2, 2))),
    "tile none": ((2, 3), lambda x: la.tile(x, 0)),
    "repeat": ((0, 3), lambda x: la.repeat(x, 2, axis=1)),
    "repeat none": ((2, 3), lambda x: la.repeat(x, 0, axis=1)),
    "repeat each": ((0,), lambda x: la.repeat(x, NOTHING)),
    "roll": ((0, 3), lambda x: la.roll(x, 1)),
    "append": ((0,), lambda x: la.append(x, x)),
    "append some": ((0,), lambda x: la.append(x, [1.0, 2.0])),
    "insert": ((0,), lambda x: la.insert(x, 0, x)),
    "insert some": ((0,), lambda x: la.insert(x, 0, [1.0])),
    "delete": ((2,), lambda x: la.delete(x, [0, 1])),
    "pad": ((0,), lambda x: la.pad(x, 1)),
    "pad rows": ((0, 3), lambda x: la.pad(x, ((0, 0), (1, 1)))),
    "diag": ((0,), la.diag),
    "diag of": ((0, 3), la.diag),
    "resize": ((0,), lambda x: la.resize(x, 3)),
    "resize none": ((3,), lambda x: la.resize(x, 0)),
    "sort": ((0, 3), la.sort),
    "cumsum": ((0, 3), lambda x: la.cumsum(x, axis=0)),
    "matmul": ((0, 3), lambda x: x @ x.T),
    "inner none": ((3, 0), lambda x: x @ x.T),
    "einsum": ((0, 3), lambda x: la.einsum("ij,ik->jk", x, x)),
    "astype": ((0, 3), lambda x: x.astype("f4")),
    "copy": ((0, 3), lambda x: x.copy()),
    "exp": ((0, 3), la.exp),
    "sum": ((0, 3), lambda x: la.sum(x, axis=0)),
    "prod": ((0, 3), lambda x: la.prod(x, axis=0)),
    "add.accumulate": ((0,), lambda x: la.add.accumulate(x)),
    "softmax": ((0, 3), nn.softmax),
    "log_softmax": ((3, 0), nn.log_softmax),
    "relu": ((0, 3), nn.relu),
    "linear": ((0, 3), lambda x: nn.linear(x, la.ones((2, 3)), la.ones(2))),
    "conv2d": ((0, 1, 4, 4), lambda x: nn.conv2d(x, la.ones((2, 1, 3, 3)))),
    "max_pool2d": ((0, 1, 4, 4), lambda x: nn.max_pool2d(x, 2)),
    "layer_norm": ((0, 3), lambda x: nn.layer_norm(x, (3,))),
    "assigned": ((0, 3), lambda x: assigned(x)),
}


def assigned(x):
    y = la.zeros((0, 3))
    y[...] = x
    return y


@pytest.mark.parametrize("name", EMPTY)
@pytest.mark.parametrize("compiled", [False, True])
def test_results_without_elements(name, compiled):
    shape, function = EMPTY[name]
    x = leaf(np.ones(shape))
    function = la.compile(function) if compiled else function
    for _ in range(2):  # a capture, and a replay
        x.grad[...] = 7.0
        g = backward_of(lambda x: (function(x) * 2).sum(), x)
        assert g.shape == shape and not g.any()
    with autograd.record():
        y = function(x)
    if tracked(y):  # else the result has elements, which are constants
        (g,) = autograd.grad([y], [x])
        assert g.shape == shape and not g.asnumpy().any()


@pytest.mark.parametrize(
    "function", [lambda x: la.delete(x, [0, 1, 2]), lambda x: la.repeat(x, [0] * 3)]
)
@pytest.mark.parametrize("view", [lambda x: x, lambda x: la.broadcast_to(x[:1], 3)])
def test_a_copy_without_elements_can_be_written(function, view):
    x = leaf(np.ones(3))

    def overwritten(x):
        y = function(view(x))
        la.sin(y, out=y)  # a view would be read-only, or part of the leaf
        return y.sum()

    assert not backward_of(overwritten, x).any()


@pytest.mark.parametrize("name", EMPTY)
def test_some_elements_beside_none(name):
    shape, function = EMPTY[name]
    x = leaf(np.ones(shape))
    with autograd.record():
        y = (x * 3).sum() + function(x).sum()
    y.backward()
    assert (x.grad.asnumpy() == 3).all() or x.size == 0


def test_gradients_by_arrays_without_elements():
    w, x = leaf(np.ones(3)), leaf(np.ones((0, 3)))
    with autograd.record():
        h = la.concatenate([x * w, x * w])
        loss = (h @ w).sum() + h.sum()
    for g, like in zip(autograd.grad(loss, [w, x, h], retain_graph=True), (w, x, h), strict=True):
        assert g.shape == like.shape and not g.asnumpy().any()
    loss.backward()
    assert w.grad.tolist() == [0, 0, 0] and x.grad.shape == (0, 3)


# ---- what doesn't change with the leaves --------------------------------------------------------

FLAT = {
    "floor": la.floor,
    "sign": la.sign,
    "rint": la.rint,
    "round": la.round,
    "trunc": la.trunc,
    "floor_divide": lambda x: x // 2,
    "heaviside": lambda x: la.heaviside(x, 0.5),
    "greater": lambda x: (x > 0).astype(float),
    "where": lambda x: la.where(x > 0, 1.0, 2.0),
    "isnan": lambda x: la.isnan(x) * 1.0,
    "argmax": lambda x: la.argmax(x) * 1.0,
    "argsort": lambda x: la.argsort(x).astype("f4"),
    "int": lambda x: x.astype(int).astype(float),
    "chain": lambda x: la.floor(la.sin(x * 2)) * 3 + 1,
    "zeros_like": lambda x: la.sign(x) * la.ones(3) + la.arange(3.0),
    "in place": lambda x: in_place(x),
    "bits": lambda x: la.bitwise_and((x * 2).astype(int), 1) * 1.0,
    "count": lambda x: la.count_nonzero(x > 0) * 1.0,
    # by NumPy
    "round of a view": lambda x: la.round(x[::-1], 1),
    "round into": lambda x: la.round(x, 1, out=la.zeros(3)),
    "mean into": lambda x: la.mean(la.floor(x)[:, None], 1, out=la.zeros(3)),
    "quantile into": lambda x: la.quantile(la.floor(x)[None], 0.3, 0, la.zeros(3)),
    # calls with rules for the whole, of what has no gradient
    "linear": lambda x: nn.linear(la.floor(x), la.ones((2, 3))),
    "softmax": lambda x: nn.softmax(la.sign(x)),
    "gelu": lambda x: nn.gelu(la.floor(x)),
    "conv": lambda x: nn.conv1d(la.floor(x)[None], la.ones((2, 1, 2))),
    "embedding": lambda x: nn.embedding(la.argmax(x), la.ones((3, 2))),
    "loss": lambda x: nn.binary_cross_entropy_with_logits(la.floor(x), la.ones(3)),
}


def in_place(x):
    y = la.ones(3)
    y[1:] = la.sign(x)[1:]
    y *= 2
    return y


@pytest.mark.parametrize("name", FLAT)
@pytest.mark.parametrize("compiled", [False, True])
def test_zero_derivatives(name, compiled):
    function = la.compile(FLAT[name]) if compiled else FLAT[name]
    x = leaf([1.5, -2.5, 0.5])
    for _ in range(2):
        x.grad[...] = 7.0
        assert backward_of(lambda x: function(x).sum(), x).tolist() == [0, 0, 0]
    x.attach_grad("add")
    x.grad[...] = 7.0
    assert backward_of(function, x).tolist() == [7, 7, 7]
    with autograd.record():
        y = function(x)
        assert recorded(y)
        assert autograd.grad(y, x).tolist() == [0, 0, 0]


@pytest.mark.parametrize("function", [nn.relu, lambda x: la.clip(x, -1, 1), la.abs])
def test_second_derivatives_that_are_zero(function):
    x = leaf([1.5, -2.5, 0.5])
    with autograd.record():
        y = function(x)
        first = autograd.grad(y, x, create_graph=True)
        total = first.sum()
    assert first.asnumpy().any()
    total.backward()
    assert x.grad.tolist() == [0, 0, 0]
    with autograd.record():
        second = autograd.grad(autograd.grad(function(x), x, create_graph=True), x)
    assert second.tolist() == [0, 0, 0]


def test_a_parameter_beside_what_does_not_change():
    x, weight, bias = leaf([1.5, 2.5]), la.ones((3, 2)), leaf(np.ones(3))
    with autograd.record():
        y = nn.linear(la.floor(x), weight, bias)
    y.backward()
    assert x.grad.tolist() == [0, 0] and bias.grad.tolist() == [1, 1, 1]


def test_constants_among_the_heads():
    x, y = leaf([1, 2]), leaf([3, 4])
    with autograd.record():
        loss = (x * x).sum()
        flat = la.sign(y)
    autograd.backward([loss, la.ones(3), flat, la.array([1, 2]) > 1])
    assert x.grad.tolist() == [2, 4] and y.grad.tolist() == [0, 0]
    with autograd.record():
        loss = (x * x).sum()
    assert autograd.grad([la.ones(3), loss], x).tolist() == [2, 4]
    with autograd.record():
        loss = (x * x).sum()
    with pytest.raises(ValueError, match="shape"):  # checked all the same
        autograd.backward([loss, la.ones(3)], [None, la.ones(2)])


@pytest.mark.parametrize(
    "make",
    [
        lambda x: la.ones(2),
        lambda x: x.detach() * 2,
        lambda x: la.floor(x.detach()),
        lambda x: la.array(x.asnumpy()),
        lambda x: outside(x),
    ],
)
def test_what_was_not_recorded_is_an_error(make):
    x = leaf([1.5, 2.5])
    with autograd.record():
        y = make(x)
    with pytest.raises(RuntimeError, match="wasn't recorded"):
        y.backward()
    with pytest.raises(RuntimeError, match="wasn't recorded"):
        autograd.backward([y, la.ones(2)])
    assert x.grad.tolist() == [7, 7]


def outside(x):
    with autograd.pause():
        return la.floor(x) + x


def test_leaves_that_matter_and_leaves_that_do_not():
    x, y, z = leaf([1.5, 2.5]), leaf([1.0, 2.0]), leaf([1.0, 2.0])
    with autograd.record():
        h = la.where(y > 1.5, x, 0.0)  # y only decides
        h[0] = la.floor(z)[0] + h[0]
    h.backward()
    assert x.grad.tolist() == [0, 1] and y.grad.tolist() == [0, 0] and z.grad.tolist() == [0, 0]


def put(y, i):
    y[i] = 2.0
    return y


PLACES = {
    "index": lambda y, i: y[i],
    "take": lambda y, i: la.take(y, i, mode="wrap"),
    "mask": lambda y, i: y[:2][i > 0],
    "choose": lambda y, i: la.choose(i, [y[0], y[:2]]),
    "compress": lambda y, i: la.compress(i > 0, y[:2]),
    "store": put,
    "store under a mask": lambda y, i: put(y[:2], i > 0),
    "la.put": lambda y, i: (la.put(y, i, y[:2] * 3), y)[1],
    "put_along_axis": lambda y, i: (la.put_along_axis(y, i, 2.0, 0), y)[1],
    "at": lambda y, i: (la.add.at(y, i, y[:2] * 3), y)[1],
}


@pytest.mark.parametrize("name", PLACES)
def test_leaves_that_only_tell_the_places(name):
    x, w = leaf([0.2, 1.1]), leaf([1.0, 2.0, 3.0])
    with autograd.record():
        y = PLACES[name](w * 1, la.rint(x).astype(int)).sum()
    y.backward()
    assert x.grad.tolist() == [0, 0] and 7 not in w.grad.tolist()


def test_an_overwritten_array_forgets():
    x = leaf([1.5, 2.5])
    with autograd.record():
        y = la.sign(x)
        y[...] = 3.0
        hits = x > 2
        hits[...] = True
    for gone in (y, hits):
        assert not recorded(gone)


def test_a_part_of_a_function_that_gives_none_is_zero():
    class Half(autograd.Function):
        def forward(self, x, y):
            return x * y

        def backward(self, g):
            return g, None

    x, y = leaf([1.0]), leaf([2.0])
    with autograd.record():
        z = Half()(x, y)
    z.backward()
    assert x.grad.tolist() == [1] and y.grad.tolist() == [0]


class Twice(autograd.Function):
    def forward(self, x):
        return x * 2

    def backward(self, g):
        return g * 2


def test_what_is_counted_for_hours_holds_no_graph():
    x = la.ones(3)
    x.attach_grad()
    hits, kept, graphs = la.array(0), [], []
    for _ in range(5):
        twice = Twice()
        graphs.append(weakref.ref(twice))
        with autograd.record():
            scores = twice(x)
            hits += (scores > 0.5).sum()
            kept.append(la.argmax(scores))
        del twice, scores
    la.waitall()
    gc.collect()
    assert all(graph() is None for graph in graphs)
    assert hits.item() == 15 and len(kept) == 5
    x.grad[...] = 7.0
    with autograd.record():
        total = hits * 1.0
    total.backward()
    assert x.grad.tolist() == [0, 0, 0]


def test_leaves_that_are_gone_are_forgotten():
    hits = la.array(0)
    for _ in range(200):
        x = la.ones(3)
        x.attach_grad()
        with autograd.record():
            hits += (x > 0).sum()
    with autograd.record():
        total = hits * 1.0
    total.backward()
    assert x.grad.tolist() == [0, 0, 0]
    del x
    with autograd.record():
        total = hits * 1.0
    total.backward()  # nobody is left to be told


@pytest.mark.parametrize("step_by_step", [False, True])
def test_graphs_give_zeros_too(step_by_step):
    x = la.sym.Variable("x")
    given = la.array([1.5, 2.5])
    grads = {"x": la.array([7.0, 7.0])}
    executor = la.sym.floor(x * 2).bind(la.current_context(), {"x": given}, grads)
    if step_by_step:
        executor.set_monitor_callback(lambda name, value: None)
    for _ in range(2):
        grads["x"][...] = 7.0
        executor.forward(is_train=True)
        executor.backward(la.ones(2))
        assert grads["x"].tolist() == [0, 0]


def test_an_assignment_to_nothing_meets_no_memory_twice():
    """Whatever the steps of its axes are: NumPys differ there."""
    x = la.ones(3)
    x.attach_grad()
    base = la.zeros(4)
    with la.autograd.record():
        nothing = la.lib.stride_tricks.as_strided(base, (0, 3), (0, 0))
        nothing[...] = x
        y = x * 2
    y.backward()
    assert x.grad.tolist() == [2, 2, 2] and base.tolist() == [0, 0, 0, 0]
