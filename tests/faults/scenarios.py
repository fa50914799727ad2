"""Programs for the fault tests: each gives pairs of a lazyarray and what NumPy says it is.

``n`` changes the shapes, so that plans are made anew.
"""

import os
import tempfile

import numpy as np

import lazyarray as la


def fused(n):
    a, b = np.linspace(1, 2, 30_000 + n), np.linspace(3, 5, 30_000 + n)
    x, y = la.array(a), la.array(b)
    z = (x * y + x - y) / (y + 1.5)
    w = la.sqrt(z * z + 1)
    return [(z, (a * b + a - b) / (b + 1.5)), (w, np.sqrt(((a * b + a - b) / (b + 1.5)) ** 2 + 1))]


def reductions(n):
    a = np.linspace(0, 1, 400 * (50 + n % 7)).reshape(400, -1)
    x = la.array(a) + 1
    soft = la.exp(x - x.max(axis=1, keepdims=True))
    soft = soft / soft.sum(axis=1, keepdims=True)
    e = np.exp((a + 1) - (a + 1).max(axis=1, keepdims=True))
    long = la.array(np.arange(300_000.0 + n)) * 0.5
    return [
        (soft, e / e.sum(axis=1, keepdims=True)),
        (x.sum(axis=0), (a + 1).sum(axis=0)),
        (long.sum(), (np.arange(300_000.0 + n) * 0.5).sum()),
    ]


def gathers(n):
    a = np.arange(20_000.0 + n)
    i = np.arange(0, 20_000, 3)
    x = la.array(a) * 2
    picked = x[la.array(i)]
    x[la.array(i[:100])] = -1.0
    kept = x[x > 100.0]
    want = a * 2
    first = want[i]
    want[i[:100]] = -1.0
    return [(picked, first), (x, want), (kept, want[want > 100.0])]


def casts(n):
    a = np.linspace(-3, 3, 20_000 + n)
    x = la.array(a)
    i = (x * 10).astype("int32")
    return [
        (i, (a * 10).astype("int32")),
        ((i + 1).astype("float32") * 2, ((a * 10).astype("int32") + 1).astype("float32") * 2),
    ]


def in_place(n):
    a = np.ones((3000, 70 + n % 50))
    x = la.array(a)
    x += 1
    x[1:] += x[:-1]
    x.T[...] *= 2
    x[::2] = 5.0
    b = a + 1
    b[1:] += b[:-1].copy()
    b *= 2
    b[::2] = 5.0
    return [(x, b), (x.copy() + 1, b + 1)]


def interpreted(n):
    a = np.cos(np.arange(5_000.0 + n))
    x = la.array(a) + 0.0
    return [(la.sort(x), np.sort(a)), (la.cumsum(la.sort(x) * 2), np.cumsum(np.sort(a) * 2))]


def products(n):
    a = np.arange(80.0 * (60 + n % 30)).reshape(80, -1) % 7
    x = la.array(a)
    p = x @ x.T
    return [(p, a @ a.T), (la.linalg.det(p / 1e3 + la.eye(80)) * 0 + 1, np.array(1.0))]


def linear(n):
    """LAPACK's work space, too."""
    size = 110 + n % 30
    a = np.cos(np.arange(size * size)).reshape(size, size) + np.eye(size) * size
    x = la.array(a)
    both = a @ a.T
    q, r = la.linalg.qr(x)
    u, s, v = la.linalg.svd(x)
    w, e = la.linalg.eigh(la.array(both))
    return [
        (la.linalg.solve(x, x @ la.ones(size)), np.ones(size)),
        (la.linalg.inv(x) @ x, np.eye(size)),
        (q @ r, a),
        ((u * s) @ v, a),
        (((e * w) @ e.T - la.array(both)) * 1e-6, np.zeros((size, size))),
        (la.linalg.cholesky(la.array(both)) * 0, np.zeros((size, size))),
        (la.linalg.lstsq(x, x @ la.ones(size))[0], np.ones(size)),
    ]


def transforms(n):
    a = np.sin(np.arange(40_000.0 + n))
    x = la.array(a) * 2
    return [
        (la.fft.fft(x), np.fft.fft(a * 2)),
        (la.fft.irfft(la.fft.rfft(x), len(a)), a * 2),
        (la.fft.fft2(x[:1600].reshape(40, 40)), np.fft.fft2((a * 2)[:1600].reshape(40, 40))),
    ]


def streams(n):
    la.random.seed(n)
    want = np.random.RandomState(n)
    drawn = [la.random.normal(size=3_000), la.random.gamma(2.0, size=500)]
    x = la.arange(500.0)
    la.random.shuffle(x)
    wanted = [want.normal(size=3_000), want.gamma(2.0, size=500)]
    y = np.arange(500.0)
    want.shuffle(y)
    return [*zip(drawn, wanted, strict=True), (x, y)]


def backward(n):
    a = np.linspace(0.1, 1, 4_000 + n)
    x = la.array(a)
    x.attach_grad()
    with la.autograd.record():
        y = (la.exp(x) * x + la.tanh(x)).sum()
    y.backward()
    return [(x.grad, np.exp(a) * a + np.exp(a) + 1 - np.tanh(a) ** 2)]


def compiled(n):
    @la.compile
    def step(x, y):
        z = x * y + 1
        return (z / (z.sum() + 2)) @ y

    a, b = np.linspace(0, 1, 1_000 + n), np.linspace(1, 2, 1_000 + n)
    z = a * b + 1
    want = (z / (z.sum() + 2)) @ b
    return [(step(la.array(a), la.array(b)), want) for _ in range(3)]


def executed(n):
    s = la.sym.Variable("a") * la.sym.Variable("b") + 1
    a, b = np.linspace(0, 1, 1_000 + n), np.linspace(1, 2, 1_000 + n)
    bound = s.bind(la.cpu(0), {"a": la.array(a), "b": la.array(b)})
    return [(bound.forward()[0], a * b + 1) for _ in range(2)]


def trained(n):
    """An executor's two passes."""
    y = la.sym.exp(la.sym.var("x") * la.sym.var("w")).sum()
    a, b = np.linspace(0, 1, 1_000 + n), np.linspace(1, 2, 1_000 + n)
    grads = {"x": la.zeros(len(a)), "w": la.zeros(len(a))}
    bound = y.bind(la.cpu(0), {"x": la.array(a), "w": la.array(b)}, grads)
    bound.forward(is_train=True)
    bound.backward()
    return [(grads["x"], np.exp(a * b) * b), (grads["w"], np.exp(a * b) * a)]


def stepped(n):
    """A compiled training step with gradients."""

    @la.compile
    def loss(x, w):
        return (la.tanh(x * w) + w).sum()

    a = np.linspace(0, 1, 500 + n)
    x, w, found = la.array(a), la.array(a + 1), []
    w.attach_grad()
    for _ in range(3):
        with la.autograd.record():
            y = loss(x, w)
        y.backward()
        found.append((w.grad, a * (1 - np.tanh(a * (a + 1)) ** 2) + 1))
    return found[-1:]


def profiled(n):
    la.profiler.stop()  # an interrupt may have come before it was
    la.profiler.set_config(
        filename=os.path.join(tempfile.gettempdir(), f"lazyarray-{os.getpid()}.json")
    )
    try:
        la.profiler.start()
        return fused(n) + in_place(n)
    finally:
        la.profiler.stop()


def drawn(n):
    g, want = la.random.default_rng(n), np.random.default_rng(n)
    u = g.random(3_000)
    v = g.normal(size=2_000)
    return [(u, want.random(3_000)), (v, want.normal(size=2_000))]


def pushed(n):
    e, found = la.engine.get(), []
    v = e.new_variable()
    for i in range(5):
        e.push_sync(lambda ctx, i=i: found.append(i), la.cpu(0), mutable_vars=[v])
    e.wait_for_var(v)
    assert found == [0, 1, 2, 3, 4]
    return []


def tiny(n):
    x = la.zeros(5)
    for i in range(5):
        x[i] = i * 2.0
    s = x[1] + x[2] * 3
    return [
        (x, np.arange(5) * 2.0),
        (s, np.array(14.0)),
        (x.reshape(5, 1) * x, np.outer(np.arange(5) * 2.0, np.arange(5) * 2.0)),
    ]


ALL = {
    f.__name__: f
    for f in (
        fused,
        reductions,
        gathers,
        casts,
        in_place,
        interpreted,
        products,
        linear,
        transforms,
        streams,
        backward,
        compiled,
        stepped,
        executed,
        trained,
        profiled,
        drawn,
        pushed,
        tiny,
    )
}
