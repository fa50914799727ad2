"""Symbols: graphs built by hand, under MXNet's names."""

import io

import numpy as np
import pytest

import lazyarray as la

sym = la.sym


@pytest.fixture(autouse=True)
def _names():
    with sym.NameManager():
        yield


def evaluated(symbol, **arrays):
    return [y.asnumpy() for y in symbol.eval(**{k: la.array(a) for k, a in arrays.items()})]


A = np.arange(6.0).reshape(2, 3) + 1
B = np.array([2.0, 0.5, 3.0])
OPERATORS = """x + y; 2 - x; x * y; y / x; x // 2; x % 2; x ** 2; x ** 0.5; 2 ** x; -x; +x; abs(x)
x @ x.T; x.T; x.mT; x[0]; x[:, 1:]; x[..., None]; x[[1, 0]]; x.sum(axis=0); x.mean()
x.reshape(3, 2)
x.reshape((-1,)); x.transpose(1, 0); x.transpose(); x.astype("float32"); x.flatten(); x.std(ddof=1)
x.clip(2, 4); x.max(axis=1, keepdims=True); x.cumsum(axis=1); x.real; x.imag; x.var(axis=0); x == y
x < y; x >= y; x != y; x.compress([True, False], axis=0); x.take([1], axis=1); x.argsort(axis=0)
x.swapaxes(0, 1); x.dot(y); x.copy(); x.squeeze(); x.ravel(); x.repeat(2); x.round(1); x.all()
np.exp(x); np.add(x, y); np.concatenate([x, x]); np.linalg.norm(x); np.float64(2) * x
np.ones(3) + x"""


@pytest.mark.parametrize("code", [c.strip() for c in OPERATORS.replace("\n", ";").split(";")])
def test_operators_and_methods_build_what_arrays_compute(code):
    built = eval(code, {"x": sym.var("x"), "y": sym.var("y"), "np": np})
    assert isinstance(built, la.Symbol)
    expected = eval(code, {"x": la.array(A), "y": la.array(B), "np": np}).asnumpy()
    names = built.list_arguments()
    (got,) = evaluated(built, **{k: v for k, v in (("x", A), ("y", B)) if k in names})
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


FUNCTIONS = [
    ("exp", (A,), {}),
    ("where", (A > 2, A, 0.5), {}),
    ("concatenate", ([A, A],), {"axis": 1}),
    ("einsum", ("ij,j->i", A, B), {}),
    ("linalg.norm", (A,), {"axis": 1}),
    ("linalg.inv", (A[:, :2] + np.eye(2),), {}),
    ("fft.fft", (B,), {}),
    ("sort", (-A,), {"axis": 0}),
    ("tensordot", (A, B), {"axes": 1}),
    ("pad", (A, 1), {}),
    ("median", (A,), {}),
    ("interp", (2.0, B, B), {}),
    ("zeros", ((2, 2),), {"dtype": "int8"}),
    ("arange", (5,), {}),
    ("lib.stride_tricks.sliding_window_view", (B, 2), {}),
    ("nn.softmax", (A,), {"axis": -1}),
]


@pytest.mark.parametrize(("name", "args", "kwargs"), FUNCTIONS, ids=[f[0] for f in FUNCTIONS])
def test_functions_of_all_namespaces_build_nodes(name, args, kwargs):
    def reach(space):
        for part in name.split("."):
            space = getattr(space, part)
        return space

    arrays = {}

    def leaf(x):
        if isinstance(x, list):
            return [leaf(p) for p in x]
        if not isinstance(x, np.ndarray):
            return x
        arrays[f"a{len(arrays)}"] = x
        return sym.var(f"a{len(arrays) - 1}")

    built = reach(sym)(*map(leaf, args), name="it", **kwargs)
    assert built.name == "it"
    expected = reach(la)(*args, **kwargs)
    np.testing.assert_array_equal(evaluated(built, **arrays)[0], expected.asnumpy())


def test_random_functions_draw_at_each_evaluation_in_order():
    y = sym.random.normal(size=3) + sym.random.uniform(size=3)
    la.random.seed(7)
    (got,) = evaluated(y)
    la.random.seed(7)
    expected = la.random.normal(size=3) + la.random.uniform(size=3)
    assert got.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("build", "count"),
    [
        (lambda x: sym.split(x, 3, axis=1), 3),
        (lambda x: sym.split(x, [1], axis=1), 2),
        (lambda x: sym.linalg.qr(x), 2),
        (lambda x: sym.linalg.svd(x, full_matrices=False), 3),
        (lambda x: sym.linalg.slogdet(x @ x.T), 2),
        (lambda x: divmod(x, 2), 2),
        (lambda x: sym.modf(x), 2),
        (lambda x: sym.meshgrid(x[0], x[1]), 2),
        (lambda x: sym.unstack(x, num_outputs=2), 2),
    ],
)
def test_several_outputs(build, count):
    x = sym.var("x")
    several = build(x)
    assert len(several) == count and len(list(several)) == count
    assert len(several.eval(x=la.array(A))) == count
    last = several[count - 1]
    assert last.list_outputs() == several.list_outputs()[-1:]
    assert several[several.list_outputs()[0]].list_outputs() == several.list_outputs()[:1]
    assert (last + 1).eval(x=la.array(A))[0].shape == several.eval(x=la.array(A))[-1].shape


def test_a_wrong_number_of_outputs_is_an_error_that_tells_the_right_one():
    with pytest.raises(TypeError, match=r"unstack gives 2 results, where .* num_outputs=2"):
        sym.unstack(sym.var("x")).eval(x=la.array(A))
    with pytest.raises(TypeError, match="num_outputs"):
        list(sym.unstack(sym.var("x")))


@pytest.mark.parametrize(
    ("number", "error"), [(2**62, MemoryError), (2**70, OverflowError), (-3, ValueError)]
)
def test_numbers_of_outputs_that_cannot_be_are_errors_at_once(number, error):
    for bad in (
        lambda: sym.unstack(sym.var("x"), num_outputs=number),
        lambda: sym.split(sym.var("x"), number),
    ):
        with pytest.raises(error):
            bad()


def test_children_are_those_of_each_node_once():
    x, w = sym.var("x"), sym.var("w")
    parts = sym.split(x, 3, axis=1, num_outputs=3)
    assert sym.Group([*parts]).get_children().list_outputs() == ["x"]
    assert parts.get_children().list_outputs() == ["x"]
    assert sym.Group([parts[0], x @ w]).get_children().list_outputs() == ["x", "x", "w"]
    assert (x * x).get_children().list_outputs() == ["x", "x"]  # of one node


def test_names_and_lists():
    x, w = sym.var("x"), sym.var("w")
    h = sym.tanh(x @ w)
    y = sym.add(h, 1, name="out")
    assert h.name == "tanh0" and y.name == "out" and (x @ w).name == "matmul1"
    assert y.list_arguments() == ["x", "w"] and y.list_outputs() == ["out_output"]
    assert y.list_auxiliary_states() == []
    inner = y.get_internals()
    assert inner.list_outputs() == ["x", "w", "matmul0_output", "tanh0_output", "out_output"]
    inner = inner["tanh0_output"]
    assert inner.list_outputs() == h.list_outputs()
    assert y.get_children().list_outputs() == ["tanh0_output"] and x.get_children() is None
    assert repr(y) == "<Symbol out_output>"
    group = sym.Group([y, h])
    assert repr(group) == "<Symbol group [out_output, tanh0_output]>" and group.name is None
    with sym.Prefix("net_"):
        assert sym.exp(x).name == "net_exp0" and sym.exp(x, name="e").name == "net_e"
    with pytest.raises(ValueError, match="several variables of the graph are called 'x'"):
        (x + sym.var("x")).list_arguments()


def test_attributes():
    with la.AttrScope(ctx_group="dev1", lr_mult="2"):
        with la.AttrScope(ctx_group="dev2"):
            x = sym.var("x", attr={"note": "in"})
        y = sym.exp(x, attr={"note": "out"})
    z = y + 1
    assert x.list_attr() == {"ctx_group": "dev2", "lr_mult": "2", "note": "in"}
    assert y.attr("ctx_group") == "dev1" and y.attr("note") == "out" and z.attr("note") is None
    assert [*z.attr_dict()] == ["x", y.name]
    with pytest.raises(ValueError, match="attributes are strings"):
        la.AttrScope(lr_mult=2)


def test_evaluation_on_a_device():
    (y,) = (sym.var("x") + sym.ones(3)).eval(la.cpu(1), x=la.ones(3))
    assert y.ctx == la.cpu(1) and y.tolist() == [2, 2, 2]


def test_numpys_arrays_are_constants_and_lazy_ones_by_reference():
    w = la.ones(3)
    y = sym.var("x") * w + np.ones(3)
    w[:] = 5
    assert evaluated(y, x=np.ones(3))[0].tolist() == [6, 6, 6]


def test_save_and_load(tmp_path):
    y = sym.exp(sym.var("x"), name="e")
    y.save(tmp_path / "net.json")
    again = sym.load(tmp_path / "net.json")
    assert again.tojson() == y.tojson()
    file = io.StringIO()
    y.save(file)
    assert la.Graph.fromjson(file.getvalue()).list_outputs() == ["e_output"]


def test_a_symbol_of_a_graph_does_not_drop_its_states():
    def count(x, seen):
        seen += 1
        return x * 2

    graph = la.trace(count, la.spec(3), la.zeros(()))
    file = io.StringIO(graph.tojson())
    with pytest.raises(ValueError, match=r"'seen'.*la\.Graph\.fromjson"):
        sym.fromjson(graph.tojson())
    with pytest.raises(ValueError, match=r"'seen'.*la\.Graph\.load"):
        sym.load(file)


def test_an_index_may_be_a_symbol():
    x, i = sym.var("x"), sym.var("i")
    assert evaluated(x[i], x=A, i=np.array([1, 0, 1]))[0].tolist() == A[[1, 0, 1]].tolist()
    assert evaluated(sym.setitem(x, 0, key=(slice(None), 1)), x=A)[0][:, 1].tolist() == [0, 0]


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        (lambda x: bool(x), TypeError, "no value yet"),
        (lambda x: float(x), TypeError, "no value yet"),
        (lambda x: [*x], TypeError, "of one output has no items"),
        (lambda x: x.shape, AttributeError, "ask infer_shape"),
        (lambda x: x.fill(0), AttributeError, "doesn't change: it has no fill"),
        (lambda x: x.nothing, AttributeError, "a Symbol has no nothing"),
        (lambda x: x.__setitem__(0, 1), TypeError, "setitem"),
        (lambda x: np.asarray(x), TypeError, "functions of la.sym"),
        (lambda x: np.add.reduce(x), TypeError, "functions of la.sym"),
        (lambda x: sym.nothing(x), AttributeError, "la.sym has no function 'nothing'"),
        (lambda x: sym.linalg.nothing(x), AttributeError, "la.sym.linalg has no function"),
        (lambda x: sym.exp(x, out=la.ones(2)), TypeError, "takes no out="),
        (lambda x: sym.exp(), TypeError, "exp: missing a required argument"),
        (lambda x: sym.sum(x, axes=1), TypeError, "sum: got an unexpected keyword argument 'axes'"),
        (lambda x: sym.full(2, object()), TypeError, "can't hold object"),
        (lambda x: sym.Group([x, 1]), TypeError, "made of Symbols, not of int"),
        (lambda x: sym.Variable(3), TypeError, "a variable's name is a string"),
        (lambda x: sym.var("v", shape=(-1,)), ValueError, "can't be negative"),
        (lambda x: (x + 1).eval(), TypeError, r"lacks \['x'\]"),
        (lambda x: (x + 1).eval(x=1, y=2), TypeError, r"no arguments \['y'\]"),
        (lambda x: sym.Group([x, x]).attr("a"), ValueError, "of one output, not of 2"),
        (lambda x: sym.Group([x, x])[1.5], TypeError, "picked by name or number"),
        (lambda x: sym.Group([x, x + 1])["z"], ValueError, "0 outputs are called 'z'"),
        (lambda x: sym.array_repr(x).eval(x=la.ones(2)), TypeError, "gives str, not an NDArray"),
    ],
)
def test_errors(wrong, error, text):
    with pytest.raises(error, match=text):
        wrong(sym.var("x"))


def test_errors_of_functions_tell_the_node_and_its_line():
    y = sym.matmul(sym.var("x"), sym.var("w"), name="fc")
    with pytest.raises(ValueError, match="mismatch") as raised:
        y.eval(x=la.ones((2, 3)), w=la.ones((4, 2)))
    (note,) = raised.value.__notes__
    assert "in node 'fc' of a graph, matmul(x, w) with x (2, 3), w (4, 2)" in note
    assert "test_symbol.py" in note


def test_the_namespace_lists_its_functions():
    assert {"exp", "linalg", "nn", "var", "Group"} <= set(dir(sym)) and "inv" in dir(sym.linalg)
    assert "conv2d" in dir(sym.nn) and sym.exp.__name__ == "exp" and "la.exp" in sym.exp.__doc__


def test_las_own_ops_build_nodes_too():
    x, w = sym.var("x"), sym.var("w")
    mine = la.sum(la.tanh(la.add(la.matmul(x, w), 1.0)), axis=1, keepdims=True)
    theirs = sym.sum(sym.tanh(sym.add(sym.matmul(x, w), 1.0)), axis=1, keepdims=True)
    assert str(mine.graph) == str(theirs.graph)
    a, b = la.ones((2, 3)), la.ones((3, 4))
    assert mine.eval(x=a, w=b)[0].shape == (2, 1)
    assert la.maximum(0.0, x).eval(x=a)[0].shape == (2, 3)
