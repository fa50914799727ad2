"""Public functions build nodes of symbols, and are noted in traces: one graph either way."""

import inspect
import threading

import numpy as np
import pytest

import lazyarray as la
from lazyarray.graph import registry
from lazyarray.ops._rows import Public

sym = la.sym
RNG = np.random.default_rng(5)
X = RNG.standard_normal((4, 3))
W = RNG.standard_normal((3, 5))


def normalised(la, x):
    return (x - la.mean(x, axis=0)) / (la.std(x, axis=0) + 1e-6)


def network(la, x, w):
    h = la.nn.relu(la.nn.linear(normalised(la, x), w.T))
    return la.nn.softmax(h, axis=-1), la.clip(h[1:, ::2], 0, 1).sum(axis=0)


BUILDS = [
    lambda la, x, w: la.exp(x),
    lambda la, x, w: la.nn.softmax(x),
    lambda la, x, w: la.nn.softmax(x, axis=0) @ w,
    lambda la, x, w: la.clip(x, 0, 1),
    lambda la, x, w: la.where(x > 0.0, x, 0.5),
    lambda la, x, w: la.concatenate([x, x * 2.0], axis=1),
    lambda la, x, w: la.stack((x, x)),
    lambda la, x, w: la.sort(x, axis=None),
    lambda la, x, w: la.linalg.norm(x, axis=1),
    lambda la, x, w: la.linalg.inv(x.T @ x),
    lambda la, x, w: la.fft.fft(x)[0],
    lambda la, x, w: la.einsum("ij,jk->ik", x, w),
    lambda la, x, w: la.median(x, axis=0, keepdims=True),
    lambda la, x, w: la.cumsum(x, 1) + la.pad(x, 0),
    lambda la, x, w: la.take(x, [0, 2], axis=0),
    lambda la, x, w: la.random.normal(x, 0.5),
    lambda la, x, w: la.sum(la.tanh(la.matmul(x, w)), axis=1),
    lambda la, x, w: x.clip(0, 1).std(axis=0) + x.mean(),
    lambda la, x, w: la.trace(x, 1) + x.trace(),
    lambda la, x, w: -la.power(x, 3.0) / (1.0 + abs(x)) - x // 0.5,
    lambda la, x, w: x[::2, 1:].T,
    lambda la, x, w: normalised(la, x),
    lambda la, x, w: network(la, x, w)[0],
]


def symbols():
    return (
        sym.var("x", shape=X.shape, dtype=X.dtype),
        sym.var("w", shape=W.shape, dtype=W.dtype),
    )


def without_lines(symbol):
    """A graph's JSON but for the lines that built it, which are not the same."""
    for node in symbol.graph.nodes:
        node.line = None
    return symbol.tojson()


@pytest.mark.parametrize("build", BUILDS, ids=range(len(BUILDS)))
def test_public_functions_of_symbols_build_what_those_of_sym_build(build):
    texts = []
    for space in (la, sym):
        with sym.NameManager(), la.AttrScope(ctx_group="dev1"):
            built = build(space, *symbols())
        assert isinstance(built, la.Symbol)
        texts.append(without_lines(built))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("build", BUILDS, ids=range(len(BUILDS)))
def test_a_trace_is_the_graph_built_by_hand(build):
    traced = la.trace(lambda x, w: build(la, x, w), la.array(X), la.array(W))
    with sym.NameManager():
        built = build(la, *symbols()).graph
    assert str(traced).partition(":\n")[2] == str(built).partition(":\n")[2]
    mine, theirs = [], []
    for graph, found in ((traced, mine), (built, theirs)):
        la.random.seed(1)
        given = {name: la.array({"x": X, "w": W}[name]) for name in graph.list_arguments()}
        found += [y.asnumpy() for y in graph.eval(**given)]
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(a, b)


def test_several_outputs_and_layers_without_weights():
    x = sym.var("x")
    windows = la.lib.stride_tricks.sliding_window_view(x, 2, axis=0)
    assert windows.eval(x=la.array(X))[0].shape == (3, 3, 2)
    assert len(la.split(x, 3, axis=1)) == 3 and len(la.linalg.qr(x)) == 2
    with sym.NameManager():
        mine = la.nn.linear(x, num_hidden=4)
    with sym.NameManager():
        theirs = sym.nn.linear(x, num_hidden=4)
    assert mine.list_arguments() == ["x", "linear0_weight", "linear0_bias"]
    assert without_lines(mine) == without_lines(theirs)


def test_symbols_anywhere_among_the_arguments():
    x, i = sym.var("x"), sym.var("i")
    array = la.array(X)
    assert la.clip(array, x, None).list_arguments() == ["x"]
    assert la.where(array > 0, array, x).list_arguments() == ["x"]
    assert la.block([[array, x], [x, array]]).list_arguments() == ["x"]
    assert array[i].eval(i=la.array([1, 0]))[0].tolist() == X[[1, 0]].tolist()
    assert array.take(i, axis=0).eval(i=la.array([2]))[0].tolist() == X[[2]].tolist()


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda x, a: a.__setitem__([0, 1], x), "setitem changes what it is given"),
        (lambda x, a: a.__setitem__(0, x), "Symbol"),
        (lambda x, a: la.put(a, [0], x), "put changes what it is given"),
        (lambda x, a: la.copyto(x, a), "copyto changes what it is given"),
        (lambda x, a: la.fill_diagonal(a, x), "fill_diagonal changes"),
        (lambda x, a: la.nn.sgd(a, x, lr=0.1), "nn.sgd changes what it is given"),
        (lambda x, a: la.nn.clip_grad_norm([a, x], 1.0), "nn.clip_grad_norm changes"),
        (lambda x, a: la.random.shuffle(x), "random.shuffle changes"),
        (lambda x, a: la.save("x.npy", x), "la.save is no op of graphs"),
        (lambda x, a: la.clip(x, 0, 1, a), "takes no out="),
        (lambda x, a: sym.clip(x, 0, 1, a), "takes no out="),
        (lambda x, a: la.concatenate([x, x], out=a), "takes no out="),
        (lambda x, a: la.nn.softmax(x, axes=1), "unexpected keyword argument 'axes'"),
    ],
)
def test_what_symbols_are_not_for(wrong, text):
    a = la.array(X)
    with pytest.raises(TypeError, match=text):
        wrong(sym.var("x"), a)
    assert a.tolist() == X.tolist()


def test_a_list_in_itself_is_an_error_still():
    sym.var("x")
    endless: list = []
    endless.append(endless)
    with pytest.raises((ValueError, TypeError, RecursionError)):
        la.concatenate(endless)


def test_every_public_function_of_arrays_is_registered():
    """But for those that ask for no values, and NumPy's own."""
    plain = [
        op
        for op in registry.names()
        if inspect.isfunction(registry.function_of(op)) and op.partition(".")[0] in registry.SPACES
    ]
    assert plain == []
    for op in registry.names():
        function = registry.function_of(op)
        if isinstance(function, Public):
            assert registry.canonical(function.op) == registry.canonical(op), op


# ---- notes --------------------------------------------------------------------------------------


def test_threads_that_trace_at_once_do_not_meet():
    go = threading.Barrier(4)
    found: dict[int, list[str]] = {}
    plain: list[list[float]] = []

    def build(k):
        def program(x):
            for _ in range(k):
                x = la.clip(la.nn.softmax(x), 0, 1)
            return la.sort(x) if k % 2 else la.median(x, axis=0)

        return program

    def traces(k):
        found[k] = []
        go.wait()
        for _ in range(15):
            graph = la.trace(build(k), la.array(X))
            found[k].append(" ".join([n.op for n in graph.nodes[1:]]))

    def computes():
        go.wait()
        for _ in range(100):
            plain.append(la.clip(la.array([0.5, 2.0]), 0, 1).tolist())

    threads = [threading.Thread(target=traces, args=(k,)) for k in (1, 2, 3)]
    threads.append(threading.Thread(target=computes))
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for k, texts in found.items():
        last = "sort" if k % 2 else "median"
        assert texts == [" ".join(["nn.softmax clip"] * k + [last])] * 15
    assert plain == [[0.5, 1.0]] * 100


def test_a_call_that_fails_inside_a_trace_leaves_no_trace():
    def f(x):
        with pytest.raises(ValueError, match="axis"):
            la.concatenate([x, x], axis=5)
        return la.sort(x)

    graph = la.trace(f, la.array(X))
    assert [n.op for n in graph.nodes] == ["variable", "sort"]
    assert la.sort(la.array([2, 1])).tolist() == [1, 2]


def test_a_profile_hook_of_the_users_hears_all_of_a_trace():
    import sys

    heard = []

    def hook(frame, event, arg):
        if event == "call":
            heard.append(frame.f_code.co_name)

    def f(x):
        return inner(x)

    def inner(x):
        return la.clip(x, 0, 1)

    sys.setprofile(hook)
    try:
        graph = la.trace(f, la.array(X))
        assert sys.getprofile() is hook
    finally:
        sys.setprofile(None)
    assert "inner" in heard and [n.op for n in graph.nodes] == ["variable", "clip"]


def test_draws_are_nodes():
    graph = la.trace(lambda x: x + la.random.normal(size=3), la.spec(3))
    assert "random.normal" in [n.op for n in graph.nodes]
    again = la.Graph.fromjson(graph.tojson())
    la.random.seed(2)
    expected = la.random.normal(size=3).tolist()
    for g in (graph, again):
        la.random.seed(2)
        assert g(la.zeros(3)).tolist() == expected
