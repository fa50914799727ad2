"""Executors: forward and backward as few operators, with the bits of the same code run at once."""

import gc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lazyarray as la

sym, ag = la.sym, la.autograd
RNG = np.random.default_rng(5)


def array(*shape):
    return la.array(RNG.standard_normal(shape))


def same(a, b):
    assert a.dtype == b.dtype and np.array_equal(a.asnumpy(), b.asnumpy(), equal_nan=True)


def mlp(la, x, w, b, t):
    h = la.tanh(x @ w + b)
    return la.mean(la.square(h - t)), h


@pytest.fixture
def net():
    with sym.NameManager():
        return sym.Group(mlp(sym, *map(sym.var, "xwbt")))


@pytest.fixture
def arrays():
    return {"x": array(64, 20), "w": array(20, 30), "b": array(30), "t": array(64, 30)}


def gradients(arrays, heads, *names):
    """The outputs and the gradients of the same code, imperatively."""
    mine = {name: x.copy() for name, x in arrays.items()}
    for name in names:
        mine[name].attach_grad()
    with ag.record():
        outputs = mlp(la, *mine.values())
    ag.backward([*outputs], heads)
    return outputs, {name: mine[name].grad for name in names}


here = la.current_context


def heads():
    return [la.array(2.0), la.array(np.full((64, 30), 0.25))]


def test_gradients_are_those_of_autograd_bit_for_bit(net, arrays):
    e = net.bind(here(), arrays, {n: la.zeros_like(arrays[n]) for n in "xwb"})
    for scale in (1.0, 0.5):
        arrays["w"][:] = arrays["w"] * scale
        out = e.forward(is_train=True)
        e.backward(heads())
        outputs, grads = gradients(arrays, heads(), *"xwb")
        for a, b in zip(out, outputs, strict=True):
            same(a, b)
        for name in "xwb":
            same(e.grad_dict[name], grads[name])
    assert e.grad_dict["t"] is None and e.arg_dict["w"] is arrays["w"]
    assert [*e.output_dict] == net.list_outputs() and e.grad_arrays[0] is e.grad_dict["x"]
    assert e.arg_arrays[1] is arrays["w"] and e.aux_arrays == []


def test_a_call_pushes_its_operators_and_nothing_more(net, arrays):
    e = net.bind(here(), arrays, {n: la.zeros_like(arrays[n]) for n in "xwb"})
    e.forward(is_train=True)
    la.waitall()
    before = la.engine.get().stats()["ops"]
    e.forward(is_train=True)
    assert la.engine.get().stats()["ops"] - before <= 4


def test_forward_takes_arrays_by_name(net, arrays):
    e = net.bind(here(), arrays)
    x = array(64, 20)
    (loss, _) = e.forward(x=x, t=np.zeros((64, 30)))
    same(loss, mlp(la, x, arrays["w"], arrays["b"], la.zeros((64, 30)))[0])
    same(arrays["x"], x)
    with pytest.raises(TypeError, match=r"no argument 'z'.*\['x', 'w', 'b', 't'\]"):
        e.forward(z=1)
    with pytest.raises(ValueError, match=r"argument 'x' has shape \(64, 20\); .* shape \(3, 20\)"):
        e.forward(x=la.ones((3, 20)))


@pytest.mark.parametrize("request_", ["write", "add", "null"])
def test_grad_req(net, arrays, request_):
    grads = {n: la.ones_like(arrays[n]) for n in "xw"}
    e = net.bind(here(), arrays, grads, grad_req={"x": "write", "w": request_})
    for _ in range(2):
        e.forward(is_train=True)
        e.backward(heads())
    (dx, dw) = gradients(arrays, heads(), "x", "w")[1].values()
    same(e.grad_dict["x"], dx)
    if request_ == "null":
        assert e.grad_dict["w"] is None and grads["w"].asnumpy().min() == 1
    elif request_ == "add":
        same(grads["w"], la.ones_like(dw) + dw + dw)
    else:
        same(grads["w"], dw)


def test_grad_req_and_arrays_in_lists(net, arrays):
    grads = [None, la.zeros((20, 30)), la.zeros(30), None]
    e = net.bind(here(), [*arrays.values()], grads, ["null", "write", "add", "null"])
    e.forward(is_train=True)
    e.backward(heads())
    same(grads[1], gradients(arrays, heads(), "w")[1]["w"])


def test_the_arguments_are_left_as_they_were(net, arrays):
    arrays["w"].attach_grad()
    mine = arrays["w"].grad
    e = net.bind(here(), arrays, {"w": la.zeros((20, 30))})
    e.forward(is_train=True)
    e.backward()
    assert arrays["w"].grad is mine and arrays["x"].grad is None
    assert mine.asnumpy().max() == 0


def test_no_gradients_are_computed_that_nobody_asked_for(net, arrays):
    few = net.bind(here(), arrays, {"b": la.zeros(30)})
    many = net.bind(here(), arrays, {n: la.zeros_like(x) for n, x in arrays.items()})

    def count(e):
        return int(e.debug_str().split(" instructions")[0].rpartition("\n")[2])

    assert count(few) < count(many)


def test_backward_without_gradients_for_the_outputs_takes_ones(arrays):
    y = sym.exp(sym.var("x"))
    e = y.bind(here(), [arrays["x"]], [la.zeros((64, 20))])
    e.forward(is_train=True)
    e.backward()
    same(e.grad_dict["x"], la.exp(arrays["x"]))
    e.forward(is_train=True)
    e.backward(2 * np.ones((64, 20)))
    same(e.grad_dict["x"], la.exp(arrays["x"]) * 2)


def test_simple_bind_makes_arrays_and_skips_integers():
    x, i = sym.var("x"), sym.var("i")
    e = sym.take(x, i, axis=0).simple_bind(here(), type_dict={"i": "int64"}, x=(5, 2), i=(3,))
    assert e.arg_dict["i"].dtype == np.int64 and e.grad_dict["i"] is None
    e.forward(is_train=True, x=np.arange(10.0).reshape(5, 2), i=np.array([1, 1, 4]))
    assert e.outputs[0].tolist() == [[2, 3], [2, 3], [8, 9]]
    e.backward()
    assert e.grad_dict["x"].tolist() == [[0, 0], [2, 2], [0, 0], [0, 0], [1, 1]]


def convolutional(data, label):
    net = sym.nn.conv2d(data, num_filter=4, kernel=(3, 3), padding=1, name="conv1")
    states = [sym.var(f"bn_{n}") for n in ("mean", "var", "weight", "bias")]
    net = sym.nn.relu(sym.nn.batch_norm(net, *states, name="bn"))
    net = sym.nn.max_pool2d(net, 2).reshape(8, -1)
    net = sym.nn.dropout(sym.nn.linear(net, num_hidden=10, name="fc1"), 0.5)
    return sym.nn.cross_entropy(net, label)


def test_a_network_whose_shapes_follow_from_the_datas():
    loss = convolutional(sym.var("data"), sym.var("label"))
    e = loss.simple_bind(here(), type_dict={"label": "int64"}, data=(8, 3, 8, 8), label=(8,))
    shapes = {name: x.shape for name, x in e.arg_dict.items()}
    assert shapes["conv1_weight"] == (4, 3, 3, 3) and shapes["conv1_bias"] == (4,)
    assert shapes["fc1_weight"] == (10, 64) and shapes["bn_weight"] == (4,)
    assert {n: x.shape for n, x in e.aux_dict.items()} == {"bn_mean": (4,), "bn_var": (4,)}
    values = {n: array(*s) for n, s in shapes.items() if n != "label"}
    label = la.array(RNG.integers(0, 10, 8))
    e.copy_params_from(values | {"label": label}, {"bn_var": la.ones(4)})
    mine = {name: x.copy() for name, x in values.items()}
    for x in mine.values():
        x.attach_grad()
    mean, var = la.zeros(4), la.ones(4)
    for _ in range(2):
        la.random.seed(3)
        (out,) = e.forward(is_train=True)
        e.backward()
        la.random.seed(3)
        with ag.record():
            h = la.nn.conv2d(mine["data"], mine["conv1_weight"], mine["conv1_bias"], padding=1)
            h = la.nn.batch_norm(h, mean, var, mine["bn_weight"], mine["bn_bias"])
            h = la.nn.max_pool2d(la.nn.relu(h), 2).reshape(8, -1)
            h = la.nn.dropout(la.nn.linear(h, mine["fc1_weight"], mine["fc1_bias"]), 0.5)
            expected = la.nn.cross_entropy(h, label)
        expected.backward()
        same(out, expected)
        for name, x in mine.items():
            same(e.grad_dict[name], x.grad)
        same(e.aux_dict["bn_mean"], mean)
        same(e.aux_dict["bn_var"], var)
    before = e.aux_dict["bn_mean"].asnumpy()
    e.forward(is_train=False)
    assert np.array_equal(e.aux_dict["bn_mean"].asnumpy(), before)


def test_reshape_shares_what_keeps_its_shape(net, arrays):
    e = net.bind(here(), arrays, {n: la.zeros_like(arrays[n]) for n in "wb"})
    small = e.reshape(x=(8, 20), t=(8, 30))
    assert small.arg_dict["w"] is arrays["w"] and small.grad_dict["b"] is e.grad_dict["b"]
    assert small.forward()[1].shape == (8, 30)
    with pytest.raises(ValueError, match=r"'x' grows .* allow_up_sizing"):
        e.reshape(allow_up_sizing=False, x=(128, 20), t=(128, 30))
    assert e.reshape(x=(128, 20), t=(128, 30)).forward()[1].shape == (128, 30)
    with pytest.raises(ValueError, match=r"broadcast together with shapes \(8,30\) \(64,30\)"):
        e.reshape(x=(8, 20))
    with pytest.raises(TypeError, match=r"no arguments \['z'\]"):
        e.reshape(z=(8, 20))
    y = sym.nn.linear(sym.var("x"), num_hidden=3, name="fc")
    e = y.simple_bind(here(), x=(4, 5))
    with pytest.raises(ValueError, match=r"'fc_weight' changes from \(3, 5\) to \(3, 2\)"):
        e.reshape(x=(4, 2))
    assert e.reshape(partial_shaping=True, x=(4, 2)).arg_dict["fc_weight"].shape == (3, 2)


def test_a_traced_graph_is_traced_again_for_other_shapes():
    graph = la.trace(
        lambda x, w: (x @ w).reshape(x.shape[0], -1).sum(axis=0), array(4, 3), array(3, 2)
    )
    e = graph.simple_bind(here())
    e.copy_params_from({"w": la.ones((3, 2))})
    other = e.reshape(allow_up_sizing=True, x=(6, 3))
    other.forward(x=la.ones((6, 3)))
    assert other.outputs[0].tolist() == [18, 18] and other.arg_dict["w"] is e.arg_dict["w"]


def test_copy_params_from(net, arrays):
    e = net.simple_bind(here(), **{n: x.shape for n, x in arrays.items()})
    e.copy_params_from(arrays)
    same(e.forward()[0], mlp(la, *arrays.values())[0])
    with pytest.raises(ValueError, match="no argument 'z'"):
        e.copy_params_from({"z": la.ones(2)})
    e.copy_params_from({"z": la.ones(2)}, allow_extra_params=True)
    with pytest.raises(ValueError, match=r"argument 'b' has shape \(30,\); .* \(3,\)"):
        e.copy_params_from({"b": la.ones(3)})
    with pytest.raises(ValueError, match="no auxiliary state 'b'"):
        e.copy_params_from({}, {"b": la.ones(30)})


def test_the_monitor_hears_of_each_result_and_changes_none(net, arrays):
    e = net.bind(here(), arrays, {n: la.zeros_like(arrays[n]) for n in "xwb"})
    plain = [y.copy() for y in e.forward(is_train=True)]
    e.backward(heads())
    grads = [e.grad_dict[n].copy() for n in "xwb"]
    heard = {}
    e.set_monitor_callback(lambda name, x: heard.setdefault(name, x.asnumpy()))
    for a, b in zip(e.forward(is_train=True), plain, strict=True):
        same(a, b)
    for n in "xwb":
        e.grad_dict[n][:] = 0
    e.backward(heads())
    for n, g in zip("xwb", grads, strict=True):
        same(e.grad_dict[n], g)
    assert [*heard] == [n for n in net.get_internals().list_outputs() if n not in "xwbt"]
    assert np.array_equal(heard["tanh0_output"], plain[1].asnumpy())
    e.set_monitor_callback(lambda name, x: heard.setdefault(name, x), monitor_all=True)
    e.forward()
    assert set("xwbt") <= set(heard)
    heard.clear()
    e.set_monitor_callback(None)
    same(e.forward()[0], plain[0])
    assert not heard


def test_groups_on_devices_with_one_copy_for_each_edge():
    with la.AttrScope(ctx_group="one"):
        a = sym.var("a")
        b = sym.exp(a, name="b")
    with la.AttrScope(ctx_group="two"):
        c = (b * 2 + b).sum()
        d = c + sym.ones(())
    with la.AttrScope(ctx_group="one"):
        e = d * 3
    places = {"one": la.cpu(0), "two": la.cpu(1)}
    x = sym.Group([e, c]).simple_bind(la.cpu(0), group2ctx=places, a=(4,))
    outputs = x.forward(is_train=True, a=np.arange(4.0))
    assert [y.ctx for y in outputs] == [la.cpu(0), la.cpu(1)]
    x.backward([la.array(1.0, ctx=la.cpu(0)), la.array(0.0, ctx=la.cpu(1))])
    assert x.grad_dict["a"].ctx == la.cpu(0)
    np.testing.assert_allclose(x.grad_dict["a"].asnumpy(), 9 * np.exp(np.arange(4.0)))
    text = x.debug_str()
    assert text.count("to_device") == 2 and "b_to_cpu1 = to_device(b, device=cpu(1))" in text
    assert "on cpu(1)" in text
    with pytest.raises(ValueError, match=r"'a' is on cpu\(1\), not on cpu\(0\)"):
        c.bind(la.cpu(0), [la.ones(4, ctx=la.cpu(1))], group2ctx=places)


def test_without_groups_all_is_on_the_device_that_bind_names():
    y = sym.var("x") + sym.ones(3)
    e = y.simple_bind(la.cpu(1), x=(3,))
    assert e.forward()[0].ctx == la.cpu(1) and e.outputs[0].tolist() == [1, 1, 1]


def test_shared_memory_is_reused_and_guarded(net, arrays):
    shapes = {n: x.shape for n, x in arrays.items()}
    first = net.simple_bind(here(), **shapes)
    second = net.simple_bind(here(), shared_exec=first, **shapes)
    for e in (first, second):
        e.copy_params_from(arrays)
    for _ in range(2):
        for e in (first, second):
            e.forward(is_train=True)
            e.backward(heads())
            for name, g in gradients(arrays, heads(), *"xwbt")[1].items():
                same(e.grad_dict[name], g)
    first.forward(is_train=True)
    second.forward(is_train=False)
    with pytest.raises(RuntimeError, match="another executor that shares"):
        first.backward(heads())


def test_shared_executors_have_one_block_of_intermediates(net):
    shapes = {"x": (256, 200), "w": (200, 300), "b": (300,), "t": (256, 300)}

    def grown(shared):
        gc.collect()  # what other tests left
        la.waitall()
        before = la.storage.pool_stats(here())["in_use"]
        e = net.simple_bind(here(), grad_req="null", shared_exec=shared, **shapes)
        e.forward()
        la.waitall()
        return e, la.storage.pool_stats(here())["in_use"] - before

    first, alone = grown(None)
    _, beside = grown(first)
    block = int(first.debug_str().split("Total ")[1].split()[0])
    assert block > 256 * 300 * 8 - 1 and alone - beside == pytest.approx(block, rel=0.1)


def test_debug_str_tells_kinds_and_bytes(net, arrays):
    e = net.bind(
        here(),
        arrays,
        {n: la.zeros_like(arrays[n]) for n in "xw"},
        {"x": "add", "w": "write"},
    )
    text = e.debug_str()
    assert "matmul(x, w)     write at " in text
    # What a GPU's kernel keeps in registers has no place.
    on_gpu = here().device_type == "gpu"
    assert ("add(%0, b)       null" if on_gpu else "write-in-place at ") in text
    assert "gradient of x: add" in text and "gradient of b: null" in text
    last = text.splitlines()[-1]
    planned, without, alive = [int(w) for w in last.split() if w.isdigit()]
    assert alive <= planned < without, last


def test_an_output_that_is_an_argument_is_a_copy():
    x = sym.var("x")
    e = sym.Group([x, x]).bind(here(), [la.ones(3)])
    first, second = e.forward()
    first[:] = 5
    assert e.arg_dict["x"].tolist() == [1, 1, 1] and second.tolist() == [1, 1, 1]


def test_a_graph_that_writes_its_arguments_does_so_at_each_forward():
    def f(x, count):
        count += 1
        return x * count

    e = la.trace(f, la.ones(3), la.zeros(())).simple_bind(here())
    assert [e.forward(x=la.ones(3))[0].tolist()[0] for _ in range(3)] == [1, 2, 3]
    assert e.aux_dict["count"].item() == 3


def test_errors_of_values_are_raised_where_they_are_waited_for():
    y = sym.linalg.inv(sym.var("x"))
    e = y.simple_bind(here(), x=(2, 2))
    with pytest.raises(la.linalg.LinAlgError):
        e.forward()[0].asnumpy()
    assert e.forward(x=np.eye(2))[0].tolist() == [[1, 0], [0, 1]]


def shapes_of(arrays):
    return {n: x.shape for n, x in arrays.items()}


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        (lambda n, a: n.bind(here(), {"x": a["x"]}), TypeError, r"args lacks \['w', 'b', 't'\]"),
        (lambda n, a: n.bind(here(), a | {"z": a["x"]}), TypeError, r"args has \['z'\]"),
        (lambda n, a: n.bind(here(), [a["x"]]), TypeError, "args are 1 arrays for"),
        (lambda n, a: n.bind(here(), a | {"x": 1}), TypeError, "'x' has to be an NDArray"),
        (lambda n, a: n.bind(here(), a, grad_req="no"), ValueError, "write, add, null, not 'no'"),
        (lambda n, a: n.bind(here(), a, grad_req=["add"]), ValueError, "1 requests for"),
        (lambda n, a: n.bind(here(), a, grad_req={"z": "add"}), ValueError, r"has \['z'\]"),
        (lambda n, a: n.bind(here(), a, {"x": a["w"]}), ValueError, "gradient of 'x' has shape"),
        (lambda n, a: n.bind(here(), a, aux_states=[a["x"]]), TypeError, "1 arrays for"),
        (lambda n, a: n.bind("tpu", a), ValueError, "tpu"),
        (lambda n, a: n.simple_bind(x=(64, 20)), ValueError, "the shapes of w, which matmul"),
        (lambda n, a: n.simple_bind(here(), z=(1,)), TypeError, r"no arguments \['z'\]"),
        (lambda n, a: n.bind(here(), a).backward(), RuntimeError, "no argument has a gradient"),
    ],
)  # fmt: skip
def test_errors(net, arrays, wrong, error, text):
    with pytest.raises(error, match=text):
        wrong(net, arrays)


def test_shapes_that_do_not_fit_name_the_arguments(net, arrays):
    with pytest.raises(ValueError, match="mismatch") as raised:
        net.bind(here(), arrays | {"w": la.ones((7, 30))})
    assert "x (64, 20), w (7, 30)" in raised.value.__notes__[0]
    y = sym.var("x", shape=(2, 3)) + 1
    with pytest.raises(ValueError, match=r"argument 'x' has shape \(2, 4\), not \(2, 3\)"):
        y.bind(here(), [la.ones((2, 4))])
    with pytest.raises(TypeError, match="only floats have gradients"):
        y.bind(here(), [la.ones((2, 3), "int64")], [la.ones((2, 3), "int64")])


def test_backward_comes_after_a_training_forward(net, arrays):
    e = net.bind(here(), arrays, {"w": la.zeros((20, 30))})
    with pytest.raises(RuntimeError, match="after forward"):
        e.backward()
    e.forward()
    with pytest.raises(RuntimeError, match="after forward"):
        e.backward()
    e.forward(is_train=True)
    with pytest.raises(ValueError, match="1 gradients for 2 outputs"):
        e.backward(la.ones(()))
    with pytest.raises(
        ValueError, match=r"'mean0_output' has shape \(\); a value has shape \(2,\)"
    ):
        e.backward([la.ones(2), None])


def test_data_dependent_graphs_can_not_be_bound():
    y = sym.nonzero(sym.var("x"), num_outputs=1)
    with pytest.raises(la.TracingError if hasattr(la, "TracingError") else RuntimeError) as raised:
        y.bind(here(), [la.ones(3)])
    assert "nonzero" in raised.value.__notes__[0]
    assert y.eval(x=la.array([0.0, 1.0]))[0].tolist() == [1]


# ---- random expressions: trace, JSON, bind ------------------------------------------------------

UNARY = [
    la.tanh,
    la.exp,
    la.sin,
    la.square,
    lambda x: -x,
    lambda x: x[::-1],
    lambda x: x.T.copy().T,
]
BINARY = [
    la.add,
    la.multiply,
    la.maximum,
    lambda x, y: x - 2 * y,
    lambda x, y: la.where(x > y, x, y),
]
TREE = st.recursive(
    st.integers(0, 2),
    lambda t: (
        st.tuples(st.integers(0, len(UNARY) - 1), t)
        | st.tuples(st.integers(0, len(BINARY) - 1), t, t)
    ),
    max_leaves=6,
)


def evaluated(tree, arrays):
    if isinstance(tree, int):
        return arrays[tree]
    parts = [evaluated(t, arrays) for t in tree[1:]]
    return (UNARY if len(parts) == 1 else BINARY)[tree[0]](*parts)


@settings(max_examples=60, deadline=None)
@given(TREE)
def test_random_expressions_by_way_of_json_and_bind(tree):
    rng = np.random.default_rng(1)
    given_ = [rng.standard_normal((3, 4)) for _ in range(3)]

    def f(x, y, z):
        return la.tanh(evaluated(tree, [x, y, z])).sum(axis=0)

    graph = la.Graph.fromjson(la.trace(f, *map(la.array, given_)).tojson())
    mine = [la.array(a) for a in given_]
    e = graph.bind(here(), mine, [la.zeros((3, 4)) for _ in range(3)])
    (out,) = e.forward(is_train=True)
    e.backward()
    theirs = [la.array(a) for a in given_]
    for x in theirs:
        x.attach_grad()
    with ag.record():
        expected = f(*theirs)
    expected.backward()
    same(out, expected)
    same(e.forward()[0], expected)
    for x, g in zip(theirs, e.grad_arrays, strict=True):
        np.testing.assert_allclose(g.asnumpy(), x.grad.asnumpy(), rtol=1e-13, atol=1e-15)


def test_variables_without_a_dtype_follow_the_only_one_named():
    y = sym.nn.linear(sym.var("x"), num_hidden=3, name="fc")
    e = y.simple_bind(here(), type_dict={"x": "float32"}, x=(2, 4))
    assert {a.dtype for a in e.arg_dict.values()} == {np.dtype("float32")}
    assert e.forward()[0].dtype == np.float32
    both = (sym.var("a", dtype="float32") + sym.var("b", dtype="float64")) * sym.var("c")
    e = both.simple_bind(here(), a=(2,), b=(2,), c=(2,))
    assert e.arg_dict["c"].dtype == np.float64


def test_backward_needs_a_forward_that_trained():
    x = sym.var("x")
    e = sym.square(x).simple_bind(la.current_context(), x=(2,))
    with pytest.raises(RuntimeError, match=r"after forward\(is_train=True\)$"):
        e.backward()
    for calls in ([False], [True, False], [False, False]):
        for is_train in calls:
            e.forward(is_train, x=np.array([1.0, 3.0]))
        with pytest.raises(RuntimeError, match="the last forward kept nothing for gradients"):
            e.backward()
        assert e.grad_dict["x"].tolist() == [0, 0]
    e.forward(is_train=True)
    e.backward()
    assert e.grad_dict["x"].tolist() == [2, 6]


@pytest.mark.parametrize("taken", ["copy", "detach", "part"])
def test_arguments_that_are_views(taken):
    x = la.array([1.0, 2.0, 3.0])
    given = {"copy": x.copy, "detach": x.detach, "part": lambda: x[:]}[taken]()
    gradient = la.zeros(3)
    graph = la.trace(lambda x: (x * x).sum(), la.spec(3))
    e = graph.bind(la.cpu(), {"x": given}, args_grad={"x": gradient})
    e.forward(is_train=True)
    e.backward()
    assert gradient.tolist() == [2, 4, 6]
    assert e.arg_dict["x"] is given


def test_one_array_for_two_arguments_has_a_gradient_for_each():
    """Memory has one gradient; arguments that share it are copies to each other."""
    x, y = la.sym.var("x"), la.sym.var("y")
    memory = la.array([1.0, 2.0, 3.0])
    for a, b in [(memory, memory), (memory[:2], memory[1:])]:
        for wanted in (["x", "y"], ["x"]):
            grads = {name: la.zeros(a.shape) for name in wanted}
            e = (x * la.sym.square(y)).bind(la.cpu(), {"x": a, "y": b}, grads)
            for _ in range(2):
                e.forward(is_train=True)
                e.backward()
                host, other = a.asnumpy(), b.asnumpy()
                np.testing.assert_array_equal(grads["x"].asnumpy(), other**2)
                if "y" in grads:
                    np.testing.assert_array_equal(grads["y"].asnumpy(), 2 * host * other)
                memory += 1  # counts at the next forward


@pytest.mark.parametrize("what", ["argument", "output"])
def test_what_backward_needs_may_not_be_overwritten_before(what):
    a = la.array([1.0, 2.0])
    e = la.sym.exp(la.sym.var("x")).bind(la.cpu(), {"x": a}, {"x": la.zeros(2)})
    if what == "argument":
        e = la.sym.square(la.sym.var("x")).bind(la.cpu(), {"x": a}, {"x": la.zeros(2)})
    (y,) = e.forward(is_train=True)
    if what == "argument":
        a[:] = 5
    else:
        y[:] = 5
    with pytest.raises(RuntimeError, match="overwritten"):
        e.backward()
    e.forward(is_train=True)
    e.backward()
    host = a.asnumpy()
    want = 2 * host if what == "argument" else np.exp(host)
    np.testing.assert_array_equal(e.grad_dict["x"].asnumpy(), want)


def test_what_is_recorded_is_not_run_by_an_executor():
    x = la.ones(2)
    e = la.sym.exp(la.sym.var("x")).simple_bind(x=(2,))
    e.forward(x=x)
    x.attach_grad()
    with la.autograd.record(), pytest.raises(NotImplementedError, match="call its graph"):
        e.forward(x=x)


def test_an_executor_in_a_compiled_function():
    e = la.sym.exp(la.sym.var("x")).simple_bind(x=(2,))
    f = la.compile(lambda x: e.forward(x=x)[0] * 2)
    with pytest.warns(la.CompileWarning, match="op by op"):
        for k in range(3):
            np.testing.assert_array_equal(f(la.full(2, k)).asnumpy(), 2 * np.exp([k, k]))


def bound(*frozen):
    x, y = sym.var("x"), sym.var("y")
    arrays = {"x": la.full((2, 3), 5.0), "y": la.full((3, 2), 5.0)}
    for name in frozen:
        arrays[name].flags.writeable = False
    return sym.matmul(x, y).bind(la.cpu(), arrays, {n: la.zeros_like(a) for n, a in arrays.items()})


@pytest.mark.parametrize(
    ("y", "error"),
    [(la.ones(9), ValueError), (la.ones((3, 2)) * 1j, TypeError), ([["a"] * 2] * 3, ValueError)],
)
def test_values_are_checked_before_the_first_is_copied(y, error):
    x = la.ones((2, 3))
    e = bound()
    for call in (
        lambda: e.forward(x=x, y=y),
        lambda: e.copy_params_from({"x": x, "y": y}),
        lambda: e.copy_params_from({"x": x}, {"y": x}),
        lambda: e.copy_params_from({"x": x, "z": x}),
    ):
        with pytest.raises((error, ValueError)):
            call()
        assert (e.arg_dict["x"] == 5).all()
    e = bound("y")
    for call in (
        lambda: e.forward(x=x, y=la.ones((3, 2))),
        lambda: e.copy_params_from({"x": x, "y": la.ones((3, 2))}),
    ):
        with pytest.raises(ValueError, match="'y' is a read-only array"):
            call()
        assert (e.arg_dict["x"] == 5).all() and (e.arg_dict["y"] == 5).all()


def test_gradients_that_can_not_be_taken_change_none():
    e = bound()
    e.forward(True)
    with pytest.raises(TypeError, match="complex128"):
        e.backward(la.ones((2, 2)) * 1j)
    e.grad_dict["y"].flags.writeable = False
    with pytest.raises(ValueError, match="gradient of 'y' is a read-only array"):
        e.backward()
    assert not e.grad_dict["x"].any() and not e.grad_dict["y"].any()
    e.grad_dict["y"].flags.writeable = True
    e.backward()
    assert e.grad_dict["x"].all() and e.grad_dict["y"].all()


def test_gradients_are_bound_to_arrays_that_can_be_written():
    x, fixed = sym.var("x"), la.zeros(())
    fixed.flags.writeable = False
    for g in (la.ones(2).sum(), fixed):
        with pytest.raises(ValueError, match="gradient of 'x' is read-only, or a scalar"):
            (x * x).bind(la.cpu(), {"x": la.array(3.0)}, {"x": g})
