"""Graph: printing, pictures, JSON, inference."""

import json
import re

import numpy as np
import pytest

import lazyarray as la
from lazyarray.graph import registry

sym = la.sym


@pytest.fixture(autouse=True)
def _names():
    with sym.NameManager():
        yield


def rich():
    """A graph with every kind of argument that JSON has to hold."""
    x = sym.var("x", shape=(4, None), dtype="float32", attr={"lr_mult": "2"})
    y = sym.clip(x[1:, ..., ::-1], -np.inf, np.float32(2.5))
    z = sym.where(y > 0, y, 1 + 2j).astype(np.dtype("complex64"))
    w = sym.split(sym.concatenate([z, z], axis=0), 2)
    s = sym.var("s", aux=True)
    with la.AttrScope(ctx_group="a"):
        v = w[1] * np.arange(3.0) + s
    u = sym.zeros((2, 3), dtype=np.int8, ctx=la.cpu(0))
    return sym.Group([v, sym.sum(u, axis=(0, 1)), sym.setitem(x, 0, key=(slice(None), 1))])


def test_print():
    x, w = sym.var("x", shape=(2, None)), sym.var("w")
    h = sym.tanh(x @ w, name="h")
    y = sym.sum(h[1:, 0] * 2.0, axis=0)
    graph = sym.Group([y, h]).graph
    assert str(graph) == (
        "Graph(x: (2, ?), w):\n"
        "    %0 = matmul(x, w)\n"
        "    h = tanh(%0)\n"
        "    %1 = h[1:, 0]\n"
        "    %2 = multiply(%1, 2.0)\n"
        "    %3 = sum(%2, axis=0)\n"
        "    return %3, h"
    )
    summary = graph.summary(x=(2, 3), w=(3, 4)).splitlines()
    assert summary[0] == "Graph(x: float64 (2, 3), w: float64 (3, 4)):"
    assert re.fullmatch(r"    h = tanh\(%0\)\s+# float64 \(2, 4\); test_graph.py:\d+", summary[2])


@pytest.mark.parametrize(
    ("key", "shown"),
    [
        (0, "x[0]"),
        ((1, 2), "x[1, 2]"),
        ((slice(None), None), "x[:, None]"),
        (slice(None, None, -1), "x[::-1]"),
        ((Ellipsis, slice(1, 3)), "x[..., 1:3]"),
        ((0,), "x[0,]"),
        ([1, 0], "x[[1, 0]]"),
    ],
)
def test_indices_are_printed_as_written(key, shown):
    assert f"%0 = {shown}\n" in str(sym.var("x")[key].graph)


def test_a_long_graph_prints_and_runs():
    y = x = sym.var("x")
    for _ in range(3000):
        y = y + x
    graph = y.graph
    assert len(graph.nodes) == 3001 and "%2999 = add(%2998, x)" in str(graph)
    assert la.Graph.fromjson(graph.tojson()).eval(x=la.ones(2))[0].tolist() == [3001, 3001]


def dots(source):
    """The nodes and edges of a picture: each line is a statement that Graphviz knows."""
    lines = source.splitlines()
    assert lines[0] == "digraph Graph {" and lines[-1] == "}"
    quoted = r'"(?:[^"\\]|\\.)*"'
    attribute = rf"\w+=(?:{quoted}|[\w#]+)"
    attributes = rf"\[{attribute}(?:, {attribute})*\]"
    nodes, edges = {}, []
    for line in lines[3:-1]:
        node = re.fullmatch(rf"  (\w+) ({attributes});", line)
        edge = re.fullmatch(rf"  (\w+) -> (\w+)(?: ({attributes}))?;", line)
        assert node or edge, line
        if node:
            nodes[node[1]] = node[2]
        else:
            edges.append((edge[1], edge[2], edge[3]))
    assert all(a in nodes and b in nodes for a, b, _ in edges)
    return nodes, edges


def test_the_picture_is_graphviz_source():
    nodes, edges = dots(rich().graph.todot())
    graph = rich().graph
    assert len(nodes) == len(graph.nodes) + len(graph.outputs)
    assert len(edges) == sum(len(n.inputs) for n in graph.nodes) + len(graph.outputs)
    assert any("peripheries=2" in a for a in nodes.values())
    x = sym.var('a "quoted" name')
    nodes, edges = dots((x + 1).graph.todot(**{x.name: (2, 3)}))
    assert edges[0][2] == '[label="float64 (2, 3)"]'

    def f(x):
        x += 1
        return x * 2

    nodes, edges = dots(la.trace(f, la.ones(2)).todot())
    assert any("style=dashed" in (a or "") for *_, a in edges)


# ---- JSON ---------------------------------------------------------------------------------------


def test_json_there_and_back():
    graph = rich().graph
    text = graph.tojson()
    again = la.Graph.fromjson(text)
    assert again.tojson() == text and str(again) == str(graph)
    assert again.list_arguments() == ["x"] and again.list_auxiliary_states() == ["s"]
    assert again.arguments[0].attributes == {"lr_mult": "2"}
    arrays = {"x": la.array(np.arange(12, dtype="f4").reshape(4, 3)), "s": la.ones(3)}
    for a, b in zip(graph.eval(**arrays), again.eval(**arrays), strict=True):
        assert a.dtype == b.dtype and np.array_equal(a.asnumpy(), b.asnumpy())


@pytest.mark.parametrize(
    "dtype",
    ["?", "i1", "u2", "i8", "f2", "f4", "f8", "g", "F", "D"],
    ids=lambda d: np.dtype(d).name,
)
def test_constants_of_all_dtypes_keep_their_bits(dtype):
    value = np.array([[0, 1, 2], [3, 5, 7]]).astype(dtype)
    y = sym.positive(value.T) if dtype != "?" else sym.logical_not(value.T)
    scalar = sym.var("x") + value[1, 2]
    for s, arrays in ((y, {}), (scalar, {"x": la.ones(2, "f2")})):
        again = la.Graph.fromjson(s.tojson())
        (a,), (b,) = s.eval(**arrays), again.eval(**arrays)
        assert a.dtype == b.dtype and np.array_equal(a.asnumpy(), b.asnumpy())


def corrupt(change):
    document = json.loads((sym.exp(sym.var("x"), name="y") + 1).tojson())
    change(document)
    return json.dumps(document)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "no JSON of a graph"),
        ("[]", "not a graph's"),
        ('{"format": "something"}', "not a graph's"),
        (corrupt(lambda d: d.update(version=9)), "version 9, not 1"),
        (corrupt(lambda d: d.pop("outputs")), "corrupt: KeyError"),
        (corrupt(lambda d: d["nodes"][1].update(op="expp")), "no op 'expp': did you mean 'exp"),
        (corrupt(lambda d: d["nodes"][1].update(op="linalg.nothing")), "no op 'linalg.nothing'"),
        (corrupt(lambda d: d["nodes"][1].update(op="engine.get")), "no op 'engine.get'"),
        (corrupt(lambda d: d["nodes"][1].update(args=[{"@": "entry", "of": [2, 0]}])), "a cycle"),
        (corrupt(lambda d: d["nodes"][1].update(args=[{"@": "entry", "of": [1, 0]}])), "a cycle"),
        (corrupt(lambda d: d["nodes"][1].update(args=[{"@": "entry", "of": [-1, 0]}])), "node -1"),
        (
            corrupt(lambda d: d["nodes"][1].update(args=[{"@": "entry", "of": [0, 3]}])),
            "no output 3",
        ),
        (corrupt(lambda d: d["nodes"][1].update(args=[{"@": "magic"}])), "holds a 'magic'"),
        (corrupt(lambda d: d.update(outputs=[[7, 0]])), "an output is of node 7"),
        (corrupt(lambda d: d.update(inputs=[1])), "node 1 is no variable"),
        (corrupt(lambda d: d.update(nodes=[1])), "corrupt: "),
    ],
)
def test_wrong_json(text, message):
    with pytest.raises(ValueError, match=message):
        la.Graph.fromjson(text)


def test_what_json_can_not_hold_is_an_error():
    y = sym.exp(sym.var("x"))
    node = y.graph.nodes[1]
    node.kwargs["where"] = object()
    with pytest.raises(TypeError, match="can't be written as JSON"):
        y.tojson()


# ---- inference ----------------------------------------------------------------------------------


def test_shapes_and_dtypes_follow():
    x, w = sym.var("x"), sym.var("w", dtype="float32")
    y = sym.Group([sym.tanh(x @ w), (x @ w).sum(axis=0) > 0])
    assert y.infer_shape(x=(2, 3), w=(3, 4)) == ([(2, 3), (3, 4)], [(2, 4), (4,)], [])
    known = sym.Group([sym.var("x", shape=(2, 3)) @ sym.var("w", shape=(3, 4)) > 0])
    args, outputs, aux = known.infer_type(x="float32", w="float32")
    assert (args, outputs, aux) == ([np.float32, np.float32], [np.bool], [])
    specs = y.graph.infer(x=la.spec((2, 3), "float32"), w=la.ones((3, 4), "float32"))
    assert [specs[e].dtype for e in y.graph.outputs] == ["float32", "bool"]


def test_inference_runs_nothing():
    y = sym.var("x") @ sym.var("y")
    n = 1 << 20  # terabytes, if anybody made them
    assert y.infer_shape(x=(n, n), y=(n, n))[1] == [(n, n)]


@pytest.mark.parametrize(
    ("build", "shapes"),
    [
        (
            lambda x: sym.nn.linear(x, num_hidden=7, name="f"),
            {"x": (5, 3), "f_weight": (7, 3), "f_bias": (7,)},
        ),
        (
            lambda x: sym.nn.linear(x, num_hidden=7, no_bias=True, name="f"),
            {"x": (2, 5, 3), "f_weight": (7, 3)},
        ),
        (
            lambda x: sym.nn.linear(x, sym.var("w", shape=(4, None)), sym.var("b")),
            {"x": (5, 3), "w": (4, 3), "b": (4,)},
        ),
        (
            lambda x: sym.nn.conv2d(x, num_filter=8, kernel=3, groups=2, name="c"),
            {"x": (1, 4, 9, 9), "c_weight": (8, 2, 3, 3), "c_bias": (8,)},
        ),
        (
            lambda x: sym.nn.conv1d(x, num_filter=8, kernel=(5,), no_bias=True, name="c"),
            {"x": (1, 4, 9), "c_weight": (8, 4, 5)},
        ),
        (
            lambda x: sym.nn.layer_norm(x, 6, sym.var("w"), sym.var("b")),
            {"x": (2, 6), "w": (6,), "b": (6,)},
        ),
        (
            lambda x: sym.nn.group_norm(x, 2, sym.var("w"), sym.var("b")),
            {"x": (2, 6, 5), "w": (6,), "b": (6,)},
        ),
    ],
)
def test_parameters_of_layers_follow_from_the_data(build, shapes):
    graph = build(sym.var("x")).graph
    found = dict(zip(graph.list_arguments(), graph.infer_shape(x=shapes["x"])[0], strict=True))
    assert found == shapes


def mlp():
    h = sym.tanh(sym.nn.linear(sym.var("data"), num_hidden=16, name="fc1"))
    return sym.nn.linear(h, sym.var("fc2_weight", shape=(10, 0)), sym.var("fc2_bias"), name="fc2")


def test_shapes_with_unknown_lengths():
    args = [(0, 784), (16, 784), (16,), (10, 16), (10,)]
    y = mlp()
    assert y.infer_shape_partial(data=(0, 784)) == (args, [(0, 10)], [])
    assert y.infer_shape_partial(data=(None, 784)) == (args, [(0, 10)], [])
    assert y.infer_shape_partial(data=(-1, 784)) == (args, [(0, 10)], [])
    assert y.infer_shape_partial((0, 784)) == (args, [(0, 10)], [])
    assert y.infer_shape_partial(data=(32, 784))[1] == [(32, 10)]
    assert y.infer_shape_partial()[0] == [None, (16, 0), (16,), (10, 0), None]
    x = sym.var("x")
    group = sym.Group([x.reshape(-1, 4), x.sum(axis=0), sym.concatenate([x, x]), x[:5], x.T])
    assert group.infer_shape_partial(x=(0, 8))[1] == [(0, 4), (8,), (0, 8), (5, 8), (8, 0)]
    z = sym.Group([sym.var("a") + 1, sym.var("b") * 2])
    assert z.infer_shape_partial(b=(3,)) == ([None, (3,)], [None, (3,)], [])
    conv = sym.nn.conv2d(x, num_filter=8, kernel=3, name="c")
    found = conv.infer_shape_partial(x=(0, 3, 16, 16))
    assert found == ([(0, 3, 16, 16), (8, 3, 3, 3), (8,)], [(0, 8, 14, 14)], [])
    with pytest.raises(ValueError):  # what is known doesn't fit
        (x + sym.var("w")).infer_shape_partial(x=(2, 3), w=(4, 3))
    with pytest.raises(TypeError, match="no arguments"):
        x.infer_shape_partial(y=(0, 2))


def test_a_length_of_a_variable_may_follow_later():
    h = sym.var("h", shape=(0, 4))
    y = h * 2
    assert y.infer_shape(h=(3, 4))[1] == [(3, 4)]
    assert y.infer_shape((3, 4))[1] == [(3, 4)]
    with pytest.raises(ValueError, match="the shapes of h, which multiply"):
        y.infer_shape()
    with pytest.raises(ValueError, match="has shape"):
        y.infer_shape(h=(3, 5))
    assert (sym.var("e") + 1).infer_shape(e=(0, 4))[1] == [(0, 4)]  # no elements


@pytest.mark.parametrize(
    ("build", "given", "outputs"),
    [
        (lambda: sym.var("x") + sym.var("y"), {"x": "float32"}, ["float32"]),
        (lambda: sym.var("x") + sym.var("y"), {"x": "float32", "y": "float64"}, ["float64"]),
        (lambda: sym.var("x") + sym.var("y"), {"x": "int8", "y": "int32"}, ["int32"]),
        (lambda: sym.var("x") + sym.var("y"), {}, ["float64"]),
        (lambda: sym.exp(sym.var("x")) > 0, {"x": "float32"}, ["bool"]),
        (lambda: sym.argmax(sym.var("x"), axis=1), {"x": "float32"}, ["int64"]),
        (lambda: sym.var("x") @ sym.var("w"), {"w": "float32"}, ["float32"]),
        (
            lambda: sym.nn.conv2d(sym.var("x"), num_filter=8, kernel=3),
            {"x": "float32"},
            ["float32"],
        ),
        (lambda: mlp(), {"data": "float32"}, ["float32"]),
        (lambda: sym.var("x", shape=(2, 3)).reshape(6), {"x": "int16"}, ["int16"]),
        (lambda: sym.var("x")[0] * 2.5, {"x": "int16"}, ["float64"]),
    ],
)
def test_dtypes_follow_without_shapes(build, given, outputs):
    y = build()
    arguments, found, aux = y.infer_type(**given)
    assert found == [np.dtype(d) for d in outputs] and aux == []
    for name, dtype in zip(y.list_arguments(), arguments, strict=True):
        floats = {np.dtype(d) for d in given.values() if np.dtype(d).kind == "f"}
        default = floats.pop() if len(floats) == 1 else np.dtype(float)
        assert dtype == given.get(name, default)


def test_data_with_too_few_axes_is_told_by_name():
    y = sym.nn.conv2d(sym.var("x"), num_filter=8, kernel=3, name="c")
    with pytest.raises(ValueError, match=r"nn.conv2d of node 'c' takes no data of shape \(3,\)"):
        y.infer_shape(x=(3,))


def test_dtypes_that_need_shapes_ask_for_them():
    x = sym.var("x")
    with pytest.raises(ValueError, match="shape="):
        x.reshape(7, 11).infer_type(x="float32")
    assert sym.var("x", shape=(7, 11)).reshape(77).infer_type("float32")[1] == [np.float32]


def test_embedding_and_batch_norm():
    i = sym.var("i")
    y = sym.nn.embedding(i, input_dim=10, output_dim=4, name="e")
    e = y.simple_bind(la.current_context(), type_dict={"i": "int64"}, i=(3,))
    assert e.arg_dict["e_weight"].shape == (10, 4) and e.forward()[0].shape == (3, 4)
    b = sym.nn.batch_norm(sym.var("x"), sym.var("m"), sym.var("v"))
    assert b.list_auxiliary_states() == ["m", "v"]
    assert b.infer_shape(x=(2, 5, 3))[2] == [(5,), (5,)]


@pytest.mark.parametrize(
    ("build", "shapes", "error", "text"),
    [
        (
            lambda x: sym.nn.linear(x),
            {},
            TypeError,
            "nn.linear: it has no weight: give it, or num_hidden=",
        ),
        (lambda x: sym.nn.linear(x, sym.var("w"), num_hidden=2), {}, TypeError, "it has one"),
        (lambda x: sym.nn.conv2d(x, num_filter=2, kernel=(1,)), {}, ValueError, "the kernel has 2"),
        (
            lambda x: x @ sym.var("w"),
            {"x": (2, 3)},
            ValueError,
            "the shapes of w, which matmul of node",
        ),
        (lambda x: sym.Group([x, sym.var("z")]), {"x": 2}, ValueError, "shapes of z are not known"),
        (lambda x: x + 1, {"y": (2,)}, TypeError, r"no arguments \['y'\]"),
        (
            lambda x: sym.nn.linear(x, sym.var("w", shape=(2, 9))),
            {"x": (4, 3)},
            ValueError,
            r"\(4, 3\).*\(2, 9\)",
        ),
        (
            lambda x: sym.nn.linear(x, sym.var("w", shape=(2, None, 1))),
            {"x": (4, 3)},
            ValueError,
            r"argument 'w' has shape \(2, \?, 1\), not \(\?, 3\)",
        ),
    ],
)
def test_what_does_not_follow(build, shapes, error, text):
    with pytest.raises(error, match=text):
        build(sym.var("x")).infer_shape(**shapes)


def test_a_graph_is_called_by_position_or_name():
    graph = (sym.var("x") - sym.var("y")).graph
    assert graph(la.ones(2), la.zeros(2)).tolist() == graph(y=la.zeros(2), x=la.ones(2)).tolist()
    with pytest.raises(TypeError, match="takes 2 arrays, not 3"):
        graph(1, 2, 3)


# ---- the registry -------------------------------------------------------------------------------


def test_every_name_of_an_op_has_one_canonical_one():
    for op in registry.names():
        first = registry.canonical(op)
        assert registry.function_of(first) is registry.function_of(op)
        assert registry.canonical(first) == first
    assert registry.canonical("abs") == "absolute" and registry.canonical("concat") == "concatenate"
    assert registry.canonical("permute_dims") == "transpose"


@pytest.mark.parametrize(
    ("op", "args", "kwargs", "normal"),
    [
        ("sum", ("X", 1), {}, (("X",), {"axis": 1})),
        ("sum", (), {"a": "X", "keepdims": False}, (("X",), {})),
        ("where", ("X", 0.5, "Y"), {}, (("X", 0.5, "Y"), {})),
        ("clip", ("X", 0, 1), {}, (("X",), {"a_min": 0, "a_max": 1})),
        ("reshape", ("X", (2, 3)), {"order": "C"}, (("X",), {"shape": (2, 3)})),
        ("concatenate", (["X", "Y"], 1), {}, ((["X", "Y"],), {"axis": 1})),
        ("einsum", ("i,i", "X", "Y"), {}, (("i,i", "X", "Y"), {})),
        ("zeros", ((2, 3), "int8"), {}, ((), {"shape": (2, 3), "dtype": "int8"})),
    ],
)
def test_arguments_have_one_normal_form(op, args, kwargs, normal):
    entries = {name: sym.var(name)._entries[0] for name in "XY"}

    def put(tree):
        if isinstance(tree, (tuple, list)):
            return type(tree)([put(t) for t in tree])
        if isinstance(tree, dict):
            return {k: put(v) for k, v in tree.items()}
        return entries.get(tree, tree) if isinstance(tree, str) else tree

    assert registry.normal_form(op, put(args), put(kwargs)) == put(normal)
