"""``la.trace``: what functions do, as graphs with the same results, effects and bits."""

from operator import imul, setitem

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lazyarray as la
from lazyarray.lazy._lazy import TracingError

sym = la.sym
RNG = np.random.default_rng(3)
X = RNG.standard_normal((4, 3))
W = RNG.standard_normal((3, 5))
V = RNG.standard_normal(6)


def flat(result):
    return [*result] if isinstance(result, (tuple, list)) else [result]


def check(function, *arrays):
    """Traces, and compares calls of the graph, and of the graph from JSON, with the function's."""
    graph = la.trace(function, *map(la.array, arrays))
    mine = [la.array(a) for a in arrays]
    expected = flat(function(*mine))
    graphs = [graph]
    try:
        graphs.append(la.Graph.fromjson(graph.tojson()))
        assert graphs[1].tojson() == graph.tojson() and str(graphs[1]) == str(graph)
    except TypeError as exc:
        assert "no public name" in str(exc)
    for g in graphs:
        theirs = [la.array(a) for a in arrays]
        got = flat(g(*theirs))
        for a, b in zip([*got, *theirs], [*expected, *mine], strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            assert np.array_equal(a.asnumpy(), b.asnumpy(), equal_nan=True), graph
    return graph


def softmax(x):
    e = la.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


# ---- the same graph as by hand ------------------------------------------------------------------

SAME = [
    (lambda la, x, w: la.tanh(x @ w) + 1.0, 2),
    (lambda la, x, w: la.mean(la.square(x * 2.0 - x)), 1),
    (lambda la, x, w: la.concatenate([x, x[::2]], axis=0).sum(axis=1), 1),
    (lambda la, x, w: la.where(x > 0.0, x, 0.1 * x), 1),
    (lambda la, x, w: x - x.max(axis=1, keepdims=True), 1),
    (lambda la, x, w: la.nn.softmax(la.nn.linear(x, w.T)), 2),
    (lambda la, x, w: la.nn.relu(x)[1:, 0], 1),
    (lambda la, x, w: la.linalg.norm(x.T.reshape(2, 6), axis=1), 1),
    (lambda la, x, w: la.zeros((4, 3), "float32") + x.astype("float32"), 1),
    (lambda la, x, w: la.sort(x, axis=0) + la.cumsum(x, axis=1), 1),
    (lambda la, x, w: la.sum(x) / x.sum(axis=0), 1),
    (lambda la, x, w: la.einsum("ij,jk->ik", x, w), 2),
    (lambda la, x, w: la.clip(x, 0, 1) * la.exp(x), 1),
]


@pytest.mark.parametrize(("build", "count"), SAME, ids=range(len(SAME)))
def test_a_trace_prints_as_the_graph_built_by_hand(build, count):
    arrays = [la.array(X), la.array(W)]
    if count == 2:
        traced = la.trace(lambda x, w: build(la, x, w), *arrays)
    else:
        traced = la.trace(lambda x: build(la, x, None), arrays[0])
    x = sym.var("x", shape=X.shape, dtype=X.dtype)
    w = sym.var("w", shape=W.shape, dtype=W.dtype) if count == 2 else None
    with sym.NameManager():
        built = build(sym, x, w).graph
    assert str(traced) == str(built)
    assert np.array_equal(
        traced(*arrays[:count]).asnumpy(), built(*arrays[:count]).asnumpy(), equal_nan=True
    )


# ---- views, in-place code, aliases --------------------------------------------------------------


def shifted(x):
    y = x * 2
    y[1:] += y[:-1]
    z = y[::2]
    z *= 3
    return y, z.T


def assembled(x):
    out = la.empty((2, 3))
    out[0] = x[0]
    out[1] = x[1:].sum(axis=0)
    return out


def mutated(x):
    x[1:] += 1
    x.T[0] = 7
    return x.sum()


def transposed_write(x):
    y = x.copy()
    y.T[1:, ::2] = 5.0
    y.reshape(-1)[3:5] = y.reshape(2, 6)[0, :2]
    return y


def chosen(x):
    y = x.copy()
    y[la.array([0, 2])] = 1
    y[y > 0.5] = 7
    y[y < 0] = la.zeros(3)[0]
    return y[[1, 0]] + y[la.array([3, 3])]


def complex_parts(x):
    z = x + 1j * x[::-1]
    z.real[1:] = 2
    z.imag *= 3
    return z, z.real.sum(axis=0), z.conj().imag


def loop(x):
    out = la.zeros(6)
    for i in range(3):
        out[2 * i : 2 * i + 2] = x[i, :2] * i
    return out


def aliases(x):
    y = x + 0.5
    a, b = y[:2], y[1:3]
    a += b
    b[...] = a
    return a, b, y


def strided_write(x):
    y = x.ravel() * 1.0
    windows = la.lib.stride_tricks.as_strided(y, (3, 2), (32, 8))
    windows *= 2
    return y, windows


def diagonal(x):
    y = x * 1.0
    la.fill_diagonal(y, -1)
    return y


def bits(x):
    return (x.view(np.int64) >> 52) & 0x7FF


PROGRAMS = [
    shifted, assembled, transposed_write, chosen, complex_parts, loop, aliases, strided_write,
    diagonal, bits, softmax,
    lambda x: x.T.reshape(2, 6)[:, ::-1].sum(axis=0) + x.ravel()[2:8],
    lambda x: (x.mean(axis=0), x.var(), x.std(axis=1)),
    lambda x: x**2 + x**3 + 2.0**x + x**0.5,
    lambda x: x.astype(int) // 2 + x.astype("float32"),
    lambda x: la.split(x, 2),
    lambda x: x[:, None] * x[None] - x[:, None],
    lambda x: x.sum(axis=(0,), keepdims=True) + x.sum(),
    lambda x: la.arange(24.0).reshape(2, 3, 4).sum(axis=(0, 2)),
    lambda x: la.arange(24.0).reshape(2, 3, 4) - la.ones((2, 3, 4)).mean((0, 2), keepdims=True),
    lambda x: divmod(x, 0.3),
    lambda x: (la.median(x), la.quantile(x, 0.3), la.percentile(x, 20, axis=0)),
    lambda x: la.linalg.svd(x, full_matrices=False),
    lambda x: (x[0] @ x[1], x @ x[0], x[:, 0] @ x, x @ x.T, x[None] @ x.T),
    lambda x: la.broadcast_to(x, (2, 4, 3)) * 1 + la.broadcast_to(x[0], (4, 3)),
    lambda x: x[0, 0] * x[1, 1] + x[-1, -1],
    lambda x: (x[:0].sum(), x[:0] + 1, la.concatenate([x[:0], x])),
    lambda x: (x.argmax(axis=0), la.argsort(x, axis=1, kind="stable"), la.sort(x)),
    lambda x: la.lib.stride_tricks.sliding_window_view(x, 2, axis=0).sum(axis=-1),
    lambda x: la.pad(x, 1) + 1,
    lambda x: la.apply_along_axis(lambda row: row.sum(), 0, x),
    lambda x: x.flatten() + x.T.flatten(),
    lambda x: la.random.normal(size=3) * 0 + la.nn.dropout(x, 0.0),
    lambda x: (x > 0).sum(dtype="int8") + (x > 0).sum(axis=0),
    lambda x: la.linalg.inv(x.T @ x) @ x.T,
    lambda x: np.exp(x) + np.float64(2) * x,
    lambda x: la.where(x > 0, x, np.float32(0.5)) + la.maximum(x, 0),
    lambda x: x.copyto(la.cpu(1)).as_in_context(x.ctx) + 1,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_programs_have_the_same_results_and_bits(program):
    with np.errstate(all="ignore"):
        check(program, X)


@pytest.mark.parametrize("program", [mutated, lambda x: x.__imul__(2), lambda x: x.sort()])
def test_what_is_written_in_place_is_an_auxiliary_state(program):
    if program.__name__ == "<lambda>":
        graph = check(lambda x: (program(x), x * 1)[1:], X)
    else:
        graph = check(program, X)
    assert graph.list_auxiliary_states() == ["x"] and graph.list_arguments() == []


def test_arrays_of_the_function_itself_are_constants_by_reference():
    table, count = la.ones((3, 2)), la.zeros(())

    def f(x):
        nonlocal count
        y = x @ table + count
        count += 1
        return y

    graph = la.trace(f, la.array(X))
    assert count.item() == 0 and len(graph.updates) == 1
    assert [n.op for n in graph.nodes].count("constant") == 2
    first = graph(la.array(X)).asnumpy()
    table[:] = 2
    assert np.allclose(graph(la.array(X)).asnumpy(), 2 * first + 1)
    assert count.item() == 2  # += in the trace is what each call does


def test_unused_arguments_identity_and_several_of_the_same():
    graph = check(lambda x, y: (x, x + 1, x), X, V)
    assert graph.list_arguments() == ["x", "y"] and "y: float64 (6,)" in str(graph)


def test_only_what_is_needed_is_in_the_graph():
    graph = la.trace(lambda x: (la.exp(x), la.sin(x) * 3)[0], la.spec(3))
    assert [n.op for n in graph.nodes] == ["variable", "exp"]


def test_trees_of_arguments_and_results():
    def f(params, xs, scale=2.0, *, shift):
        return {"y": xs[0] @ params["w"] * scale + shift, "all": [xs[1], (params["b"] + 1, None)]}

    params = {"w": la.array(W), "b": la.ones(2)}
    xs = [la.array(X), la.ones(1)]
    graph = la.trace(f, params, xs, 3.0, shift=la.ones(5))
    assert graph.list_arguments() == ["params_w", "params_b", "xs_0", "xs_1", "shift"]
    for g in (graph, la.Graph.fromjson(graph.tojson())):
        got = g(params, xs, 3.0, shift=la.ones(5))
        assert got["all"][0].tolist() == [1] and got["all"][1][1] is None
        expected = f(params, xs, 3.0, shift=la.ones(5))["y"]
        assert np.array_equal(got["y"].asnumpy(), expected.asnumpy())
        with pytest.raises(TypeError, match="not nested as"):
            g(params, xs, 4.0, shift=la.ones(5))
        with pytest.raises(ValueError, match=r"argument 'shift' has shape \(4,\), not \(5,\)"):
            g(params, xs, 3.0, shift=la.ones(4))


def test_a_reduction_read_in_another_space():
    def f(x):
        return x.max(axis=-1, keepdims=True) * x.reshape(-1)

    check(f, X[:2].reshape(2, 1, 3))


def test_specs_stand_for_arrays():
    graph = la.trace(lambda x, y: x + y, la.spec((2, 3), "float32"), la.spec(3))
    assert str(graph).startswith("Graph(x: float32 (2, 3), y: float64 (3,)):")
    with pytest.raises(TypeError, match="made of integers"):
        la.spec((2.0,))
    with pytest.raises(TypeError, match=r"one tuple, spec\(\(3, 4\)\)"):
        la.spec(3, 4)


def test_a_shape_is_no_example():
    with pytest.raises(AttributeError) as raised:
        la.trace(lambda x: x.sum(), (3, 64))
    assert "la.spec(shape, dtype)" in raised.value.__notes__[-1]


def test_trace_of_an_array_is_numpys():
    assert la.trace(la.array(X)).item() == np.trace(X) == np.trace(la.array(X)).item()
    assert la.trace(a=la.array(X), offset=1).item() == np.trace(X, 1)
    assert la.array(X).trace().item() == np.trace(X)
    check(lambda x: la.trace(x) + x.trace(1), X)


def test_data_dependent_control_flow_raises_with_the_line():
    def f(x):
        if x.sum() > 0:  # this line
            return x
        return -x

    with pytest.raises(TracingError, match="asks for the value") as raised:
        la.trace(f, la.array(X))
    line = f.__code__.co_firstlineno + 1
    assert f"test_trace.py:{line} in f" in raised.value.__notes__[0]
    with pytest.raises(TracingError):
        la.trace(lambda x: x[x > 0], la.array(X))
    assert (la.ones(2) + 1).tolist() == [2, 2]  # nothing is left behind


def test_an_op_without_a_name_is_held_but_not_written():
    def f(x):
        y = x.copy()
        la.add.at(y, [0, 0], 1.0)
        return y

    graph = check(f, V)
    with pytest.raises(TypeError, match=r"no public name .*: add.at0, recorded at .*test_trace.py"):
        graph.tojson()
    e = graph.bind(la.current_context(), [la.array(V)])
    assert np.array_equal(e.forward()[0].asnumpy(), f(la.array(V)).asnumpy())


def test_own_generators_are_held():
    rng = la.random.default_rng(5)
    graph = la.trace(lambda x: x + rng.normal(size=3), la.spec(3))
    fresh = la.random.default_rng(5)
    got = [graph(la.zeros(3)).tolist() for _ in range(2)]
    assert got == [fresh.normal(size=3).tolist() for _ in range(2)]


def test_a_training_step_is_a_graph():
    def step(w, x, t):
        w.attach_grad()
        with la.autograd.record():
            loss = la.mean((x @ w - t) ** 2)
        loss.backward()
        w -= 0.1 * w.grad
        return loss

    t = RNG.standard_normal((4, 5))
    graph = la.trace(step, la.array(W), la.array(X), la.array(t))
    assert graph.list_auxiliary_states() == ["w"]
    mine, theirs = la.array(W), la.array(W)
    for _ in range(3):
        a, b = step(mine, la.array(X), la.array(t)), graph(theirs, la.array(X), la.array(t))
        assert a.item() == b.item()
    assert np.array_equal(mine.asnumpy(), theirs.asnumpy())


def test_modes_are_asked_when_the_graph_runs():
    mean, var = la.zeros(3), la.ones(3)

    def f(x, mean, var):
        return la.nn.dropout(la.nn.batch_norm(x, mean, var), 0.5)

    with la.autograd.train_mode():
        graph = la.trace(f, la.array(X), mean, var)
    assert graph.list_auxiliary_states() == ["mean", "var"]
    assert [n.op for n in graph.nodes if n.op[:2] == "nn"] == ["nn.batch_norm", "nn.dropout"]
    for scope in (la.autograd.train_mode, la.autograd.predict_mode):
        states, others = [la.zeros(3), la.ones(3)], [la.zeros(3), la.ones(3)]
        with scope():
            la.random.seed(1)
            a = f(la.array(X), *states)
            la.random.seed(1)
            b = graph(la.array(X), *others)
        assert np.array_equal(a.asnumpy(), b.asnumpy())
        assert states[0].tolist() == others[0].tolist()


# ---- random programs ----------------------------------------------------------------------------

STEPS = [
    lambda a, b, k: a + b,
    lambda a, b, k: a * b - 1,
    lambda a, b, k: la.tanh(a),
    lambda a, b, k: a.T,
    lambda a, b, k: a[::-1],
    lambda a, b, k: a.sum(axis=k % a.ndim, keepdims=k > 2),
    lambda a, b, k: a.reshape(-1),
    lambda a, b, k: a[1:],
    lambda a, b, k: setitem(a, [slice(1, None), slice(None, None, 2), 0, -1][k % 4], b[0]),
    lambda a, b, k: la.where(a > 0, a, 0.5),
    lambda a, b, k: a @ b,
    lambda a, b, k: la.concatenate([a, b]),
    lambda a, b, k: a.mean(),
    lambda a, b, k: imul(a, 0.5) if a.flags.writeable else None,
    lambda a, b, k: a.max(axis=-1, keepdims=True),
    lambda a, b, k: a[..., None],
    lambda a, b, k: setitem(a, ..., b),
    lambda a, b, k: a.astype("float32").astype(float),
    lambda a, b, k: a.copy(),
    lambda a, b, k: la.broadcast_to(a, (2, *a.shape)),
]


def run(program, *arrays):
    values = [*arrays]
    for step, i, j, k in program:
        try:
            y = STEPS[step](values[i % len(values)], values[j % len(values)], k)
        except TracingError:
            raise
        except (ValueError, IndexError, ZeroDivisionError, TypeError):
            continue
        if y is not None and y.size <= 100:
            values.append(y)
    return values


PROGRAM = st.lists(
    st.tuples(st.integers(0, len(STEPS) - 1), *[st.integers(0, 9)] * 2, st.integers(0, 5)),
    min_size=1,
    max_size=8,
)
SHAPE = st.sampled_from([(3,), (2, 3), (3, 3), (1, 3), (2, 1, 3), ()])


@settings(max_examples=120, deadline=None)
@given(PROGRAM, SHAPE, SHAPE)
def test_random_programs(program, one, two):
    rng = np.random.default_rng(0)
    check(lambda x, y: run(program, x, y), rng.standard_normal(one), rng.standard_normal(two))


def test_a_row_assigned_to_a_whole_array():
    """In the array's own order, on which the bits of its mean depend."""
    rng = np.random.default_rng(0)

    def assigned(x, y):
        x[...] = la.tanh(y)
        return x.mean()

    check(assigned, rng.standard_normal((2, 1, 3)), rng.standard_normal(3))


def test_print_names_index_arrays():
    graph = check(lambda x: x[[2, 0]] * 2, X)
    assert "%0 = x[const0]" in str(graph)


def test_a_trace_inside_errstate_sees_its_own_calls_only():
    for mode in ("ignore", "raise", "warn"):
        with np.errstate(divide=mode):  # the first op looks what it is
            graph = la.trace(lambda x: x.T + 1, la.ones((4, 3)))
        assert [n.op for n in graph.nodes if n.op == "constant"] == []
        assert graph(la.zeros((4, 3))).asnumpy().tolist() == [[1.0] * 4] * 3


def _cumsum(y, x):
    y[:1] = la.cumsum(x[:1])


def _element(y, x):
    y[:1][la.array([0])] = 5.0


def _sort(y, x):
    y[:1].sort()


def _whole(y, x):
    y.reshape(1, 3)[:1, :1][...] = la.ones((1, 1)) * 2


def _view(y, x):
    v = y[:1, None]
    v += la.ones((1, 1))


def _add_at(y, x):
    la.add.at(y[1:2], [0], 1.0)


def _take(y, x):
    la.take(x, la.array([1]), out=y[1:2])


def _inverse(y, x):
    y[2:] = la.linalg.inv(x[:1].reshape(1, 1))[0]


@pytest.mark.parametrize(
    "write", [_cumsum, _element, _sort, _whole, _view, _add_at, _take, _inverse]
)
def test_calls_that_write_parts_of_one_element(write):
    def f(x):
        y = x * 1.0
        write(y, x)
        return y

    x = la.array([3.0, 1.0, 2.0])
    assert la.trace(f, la.spec(3))(x).tolist() == f(x).tolist()


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * x.detach(),
        lambda x: x * x[:].detach().reshape(3),
        lambda x: x + (la.round(x) - x).detach(),
        lambda x: la.nn.dropout(x.detach(), 0.5) * x,
    ],
)
def test_detached_values_are_constants_in_a_graph(f):
    x = la.array([1.0, 2.2, 3.0])
    x.attach_grad()
    graph = la.trace(f, la.spec(3))
    again = la.Graph.fromjson(graph.tojson())
    wanted = []
    for g in (f, graph, again):
        with la.autograd.record(train_mode=False):
            y = g(x)
        y.backward()
        wanted.append((y.tolist(), x.grad.tolist()))
    e = graph.simple_bind(x=(3,))
    if "dropout" not in str(graph):
        e.forward(is_train=True, x=x)
        e.backward()
        wanted.append((e.outputs[0].tolist(), e.grad_dict["x"].tolist()))
    assert all(w == wanted[0] for w in wanted)


def test_a_detached_value_is_not_written_to_in_a_trace():
    def f(x):
        x.detach()[...] = 0
        return x

    with pytest.raises(ValueError, match="read-only"):
        la.trace(f, la.spec(3))


def test_what_a_graph_would_not_keep_is_refused():
    class Halved(la.autograd.Function):
        def forward(self, x):
            return x * 1

        def backward(self, g):
            return g * 0.5

    def paused(x):
        with la.autograd.pause():
            return x * 2

    for f in (lambda x: Halved()(x), paused):
        with pytest.raises(RuntimeError, match="graph"):
            la.trace(f, la.spec(3))


def test_dropout_traced_outside_of_training_is_there_in_training():
    graph = la.trace(lambda x: la.nn.dropout(x, 0.5), la.spec(1000))
    e = graph.simple_bind(x=(1000,))
    (y,) = e.forward(x=la.ones(1000))
    assert y.tolist() == [1] * 1000
    (y,) = e.forward(is_train=True, x=la.ones(1000))
    assert set(y.tolist()) == {0, 2}


@pytest.mark.parametrize(
    "f",
    [
        la.exp,
        la.nn.relu,
        lambda x: la.where(x > 0, x, 1),
        lambda x: la.nn.relu(x.T) * 2,
        lambda x: la.exp(x)[None].reshape(-1),
        lambda x: x + la.exp(x).T.T,
    ],
)
@pytest.mark.parametrize("shape", [(0, 2), (2, 0), (0,), (0, 0)])
def test_arrays_without_elements_are_made_of_what_they_came_from(f, shape):
    check(f, np.zeros(shape))
    graph = la.trace(f, la.spec(shape))
    assert "zeros" not in str(graph) and "x" in str(graph).split("\n", 1)[1]


def test_a_bias_is_used_where_there_are_no_rows():
    graph = la.trace(lambda x, b: x + b, la.spec((0, 2)), la.spec(2))
    assert "add(x, b)" in str(graph)
    check(lambda x, b: x.T * 2 + b, np.zeros((2, 0)), np.zeros((0, 2)))
    check(lambda x: x[:0], np.zeros((1, 2)))
