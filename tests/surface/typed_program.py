"""A program as users write it, for strict type checkers (tests/test_types.py), which also runs."""

import ctypes
import io
import json
from collections.abc import Iterator
from typing import assert_type

import lazyarray as la
from lazyarray import NDArray
from lazyarray.typing import ArrayLike, DTypeLike


def standard(x: ArrayLike, dtype: DTypeLike = "float32") -> NDArray:
    x = la.asarray(x, dtype=dtype)
    return (x - x.mean(axis=0)) / (x.std(axis=0) + 1e-6)


def batches(x: NDArray, y: NDArray, size: int) -> Iterator[tuple[NDArray, NDArray]]:
    order = la.random.permutation(x.shape[0])
    for start in range(0, x.shape[0], size):
        pick = order[start : start + size]
        yield x[pick], y[pick]


# Creation, random numbers.
la.random.seed(7)
rng = la.random.default_rng(3)
n, d = 256, 4
raw = la.random.normal(0.0, 2.0, size=(n, d))
noise = rng.normal(scale=0.1, size=n)
grid = la.linspace(-1, 1, n)
both, step = la.linspace(0, 1, 5, retstep=True)
table = la.zeros((n, d), dtype=la.float32, device=la.cpu())
table[:] = raw
steps = la.arange(n) % 7
truth = la.array([[1.0], [-2.0], [0.5], [3.0]], dtype="float32")
mixed = la.stack([grid, noise, la.full(n, 0.5)], axis=1)
x = standard(raw)

# Indexing and reductions.
even = x[::2, 0]
chosen = x[x[:, 0] > 0]
x[0, :] = la.where(x[0] > 1, 1.0, x[0])
largest, where_it_is = x.max(axis=0), x.argmax(axis=1)
total = la.sum(x, axis=(0, 1), keepdims=True)
values, counts = la.unique(steps, return_counts=True)
middle = la.median(x, axis=0)
heights, edges = la.histogram(noise, bins=10)
clipped = la.clip(x, -2, 2)
ordered = la.sort(la.concatenate([even, chosen[:, 1]]))[::-1]
mean = la.average(x, axis=0, weights=la.ones(n))
rows = la.nonzero(steps == 3)[0]
la.copyto(table, x, where=x > 0)
first = table.copyto(la.cpu())

# Linear algebra.
y = x @ truth + noise[:, None].astype("float32")
normal = x.T @ x
solved = la.linalg.solve(normal, x.T @ y)
u, s, vh = la.linalg.svd(x, full_matrices=False)
q, r = la.linalg.qr(x)
rank, size = la.linalg.matrix_rank(normal), la.linalg.norm(solved - truth)
outer = la.einsum("ij,ik->jk", x, x)
spectrum = abs(la.fft.rfft(noise))

# A loop of autograd by hand.
w: NDArray = la.zeros((d, 1), dtype="float32")
w.attach_grad()
for _ in range(20):
    with la.autograd.record():
        loss = la.mean((x @ w - y) ** 2)
    loss.backward()
    w -= 0.1 * w.grad
with la.autograd.record():
    objective = la.nn.mse_loss(x @ w, y)
slope = la.autograd.grad(objective, w)


# A compiled function.
@la.compile
def predict(x: NDArray, w: NDArray, scale: float = 1.0) -> NDArray:
    return la.tanh(x @ w) * scale


predicted = predict(x, w, scale=2.0)

# Layers and an optimiser.
hidden = la.nn.xavier_uniform((8, d))
out = la.nn.xavier_uniform((1, 8))
for p in (hidden, out):
    p.attach_grad()
adam = la.nn.Adam([hidden, out], lr=0.01)
history: list[float] = []
for xs, ys in batches(x, y, 64):
    with la.autograd.record():
        error = la.nn.huber_loss(la.nn.linear(la.nn.relu(la.nn.linear(xs, hidden)), out), ys)
    error.backward()
    assert_type(error, NDArray)
    adam.step()
    history.append(float(error))

# Files, graphs, the outside.
file = io.BytesIO()
la.save(file, {"w": w, "hidden": hidden})
host = predicted.asnumpy()
text = f"{history[-1]:.3f} {size.item():.3f} {predicted.shape} {predicted.dtype}"
graph = la.trace(predict, x, w)


# Graphs of symbols, and their executors.
data, weight = la.sym.var("data", shape=(None, d)), la.sym.Variable("weight")
net = la.sym.nn.linear(data, weight, name="fc", attr={"lr_mult": "2"})
cost = ((2 * net - 1.0) ** 2).mean() + la.sym.exp(-net).mean()
shapes, dtypes = net.infer_shape(data=(8, d), weight=(2, d)), net.infer_type(data="float32")
partial = net.infer_shape_partial(data=(0, d))
exe = net.simple_bind(la.cpu(), grad_req="write", data=(8, d), weight=(2, d))
forward = exe.forward(is_train=True, data=x[:8])[0]
exe.backward(la.ones((8, 2)))
wgrad = exe.grad_dict["weight"]
bound = cost.bind(la.cpu(), {"data": x[:8], "weight": la.ones((2, d))}, grad_req="null")
evaluated = cost.eval(data=x[:8], weight=la.ones((2, d)))[0]
summary = graph.summary() + net.graph.todot()


# An op with a gradient of its own, functions that take functions, other libraries' interfaces.
class Clipped(la.autograd.Function):
    def forward(self, x: NDArray, low: float) -> NDArray:
        self.save_for_backward(x > low)
        return la.maximum(x, low)

    def backward(self, dy: NDArray) -> tuple[NDArray, None]:
        return dy * self.saved_tensors[0], None


w.attach_grad()
with la.autograd.record():
    lowest = la.sum(Clipped()(w, 0.5))
lowest.backward()
mirrored = la.apply_along_axis(lambda v: v[::-1], 1, mixed)
pieces = la.piecewise(grid, [grid < 0, grid >= 0], [lambda v: -v, 1.0])
padded = la.pad(grid, 2, "constant", constant_values=3)
lower = la.mask_indices(3, la.tril)[0]
spread = la.var(grid, correction=1) + grid.std(correction=1)
fill = ctypes.CDLL(None).memset
fill.argtypes = [la.ctypeslib.ndpointer("f8"), ctypes.c_int, ctypes.c_size_t]
written = json.dumps({"grid": grid[:3]}, default=la.to_json)

# Several processes, of which this is the only one.
la.distributed.init()
world = la.distributed.world()
reduced = la.distributed.allreduce(grid, "mean")
several = la.distributed.allreduce([grid, noise], "mean")
sent = world.broadcast(grid, out=grid)
everyone = world.exchange({"batch": 32})
parallel = la.distributed.DataParallel(adam)
state = parallel.state_dict()
parallel.load_state_dict(state)
stored = la.distributed.save(io.BytesIO(), state)
kv = la.kvstore.create("local")
kv.set_optimizer(la.nn.SGD, lr=0.5)
kv.init("w", w)
kv.pushpull("w", la.ones(w.shape), out=w)
la.waitall()

# No result is Any.
assert_type(grid, NDArray)
assert_type(both, NDArray)
assert_type(table, NDArray)
assert_type(steps, NDArray)
assert_type(truth, NDArray)
assert_type(mixed, NDArray)
assert_type(x, NDArray)
assert_type(even, NDArray)
assert_type(chosen, NDArray)
assert_type(largest, NDArray)
assert_type(where_it_is, NDArray)
assert_type(total, NDArray)
assert_type(values, NDArray)
assert_type(counts, NDArray)
assert_type(middle, NDArray)
assert_type(heights, NDArray)
assert_type(edges, NDArray)
assert_type(clipped, NDArray)
assert_type(ordered, NDArray)
assert_type(mean, NDArray)
assert_type(rows, NDArray)
assert_type(first, NDArray)
assert_type(y, NDArray)
assert_type(normal, NDArray)
assert_type(solved, NDArray)
assert_type(u, NDArray)
assert_type(s, NDArray)
assert_type(vh, NDArray)
assert_type(q, NDArray)
assert_type(r, NDArray)
assert_type(rank, NDArray)
assert_type(size, NDArray)
assert_type(outer, NDArray)
assert_type(spectrum, NDArray)
assert_type(w, NDArray)
assert_type(slope, NDArray)
assert_type(predicted, NDArray)
assert_type(graph, la.Graph)
assert_type(rng, la.random.Generator)
assert_type(forward, NDArray)
assert_type(wgrad, NDArray | None)
assert_type(evaluated, NDArray)
assert_type(lowest, NDArray)
assert_type(mirrored, NDArray)
assert_type(pieces, NDArray)
assert_type(padded, NDArray)
assert_type(lower, NDArray)
assert_type(spread, NDArray)
assert_type(reduced, NDArray)
assert_type(sent, NDArray)
assert_type(several, list[NDArray])
assert_type(everyone, list[dict[str, int]])
assert_type(state, dict[str, NDArray | float])
assert_type(net, la.Symbol)
assert_type(cost, la.Symbol)
assert_type(shapes[0], list[tuple[int, ...]])
assert_type(partial[0], list[tuple[int, ...] | None])
assert_type(exe, la.Executor)
assert_type(bound, la.Executor)
