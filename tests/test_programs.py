"""Programs that a NumPy user might write, run on NumPy and on lazyarray: the same values."""

import numpy as np
import pytest

import lazyarray as la


class NumpysDraws:
    """NumPy's numbers as arrays of a device: the streams of a GPU give others."""

    def __init__(self, seed):
        self.generator = np.random.default_rng(seed)

    def __getattr__(self, name):
        draw = getattr(self.generator, name)
        return lambda *args, **kwargs: la.array(draw(*args, **kwargs))


def generator(xp, seed):
    """``default_rng(seed)`` with NumPy's numbers, wherever the arrays are made."""
    if xp is la and la.current_context().device_type == "gpu":
        return NumpysDraws(seed)
    return xp.random.default_rng(seed)


def k_means(np):
    rng = generator(np, 0)
    x = rng.normal(size=(200, 2)) + rng.integers(0, 4, size=(200, 1)) * 3
    centres = x[rng.permutation(200)[:4]].copy()
    for _ in range(6):
        nearest = ((x[:, None, :] - centres[None, :, :]) ** 2).sum(axis=-1).argmin(axis=1)
        for j in range(4):
            mine = nearest == j
            if mine.any():
                centres[j] = x[mine].mean(axis=0)
    return centres


def game_of_life(np):
    grid = (generator(np, 1).random((24, 24)) > 0.6).astype(np.uint8)
    for _ in range(10):
        n = np.zeros(grid.shape, dtype=np.int32)
        n[1:-1, 1:-1] = (
            grid[:-2, :-2] + grid[:-2, 1:-1] + grid[:-2, 2:] + grid[1:-1, :-2]
            + grid[1:-1, 2:] + grid[2:, :-2] + grid[2:, 1:-1] + grid[2:, 2:]
        )  # fmt: skip
        alive = ((n == 3) & (grid == 0)) | (((n == 2) | (n == 3)) & (grid == 1))
        grid[...] = 0
        grid[alive] = 1
    return grid


def jacobi(np):
    u = np.zeros((30, 30))
    u[0] = 1.0
    u[:, -1] = np.linspace(0, 1, 30)
    for _ in range(40):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    v = u.copy()
    v[1:-1, 1:-1] += v[2:, 2:]
    u[1:] = u[:-1]
    return np.stack([u, v])


def mandelbrot(np):
    y, x = np.meshgrid(np.linspace(-1.5, 1.5, 30), np.linspace(-2, 1, 30), indexing="ij")
    c = x + 1j * y
    z = np.zeros_like(c)
    count = np.zeros(c.shape, dtype=int)
    for _ in range(15):
        inside = np.abs(z) <= 2
        z[inside] = z[inside] ** 2 + c[inside]
        count[inside] += 1
    return count


def logistic_regression(np):
    rng = generator(np, 3)
    x, truth = rng.standard_normal((200, 5)), rng.standard_normal(5)
    y = (x @ truth + 0.1 * rng.standard_normal(200) > 0).astype(np.float64)
    w, b = np.zeros(5), 0.0
    for _ in range(30):
        p = 1 / (1 + np.exp(-(x @ w + b)))
        w -= 0.5 * (x.T @ (p - y) / 200)
        b = b - 0.5 * (p - y).mean()
    accuracy = ((x @ w + b > 0) == (y > 0.5)).mean()
    return np.concatenate([w, np.array([float(b), float(accuracy)])])


def n_body(np):
    rng = generator(np, 0)
    at, v, mass = rng.normal(size=(12, 3)), np.zeros((12, 3)), rng.uniform(1, 2, 12)
    for _ in range(10):
        d = at[None] - at[:, None]
        r2 = np.sum(d**2, axis=2) + 0.1
        v += 0.01 * (d * (mass[None] / r2**1.5)[..., None]).sum(axis=1)
        at += 0.01 * v
    energy = 0.5 * (mass * np.linalg.norm(v, axis=1) ** 2).sum()
    return np.vstack([at, v, np.full((1, 3), energy)])


def normalisations(np):
    x = generator(np, 0).standard_normal((8, 16)).astype(np.float32)
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    s = e / e.sum(axis=-1, keepdims=True)
    scale = np.sqrt(x.var(-1, keepdims=True) + np.float32(1e-5))
    normed = (x - x.mean(-1, keepdims=True)) / scale
    loss = -np.log(s[np.arange(8), x.argmax(1)])
    return np.concatenate([s.ravel(), normed.flatten(), loss])


def histogram(np):
    x = generator(np, 0).integers(0, 10, 500)
    counts = (x[:, None] == np.arange(10)).sum(axis=0)
    again = np.array([int(np.count_nonzero(x == i)) for i in range(10)])
    bins = np.searchsorted(np.linspace(0, 10, 6), x, side="right")
    return np.concatenate([counts, again, bins, np.repeat(np.arange(10), counts)])


def fourier(np):
    x = generator(np, 0).standard_normal(32) + 0j

    def transform(x):
        n = x.shape[0]
        if n == 1:
            return x
        even, odd = transform(x[::2]), transform(x[1::2])
        t = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
        return np.concatenate([even + t, even - t])

    y = transform(x)
    return np.concatenate((y.real, y.imag))


def sorting(np):
    x = generator(np, 0).permutation(100).astype(float)
    order = np.argsort(x)
    rank = np.empty_like(order)
    rank[order] = np.arange(100)
    square = x.reshape(10, 10)
    square.sort(axis=0)  # x is its memory
    large = np.nonzero(x > 50)[0]
    parts = [order, np.sort(x)[::-1], rank, x, large, np.diff(x), np.flip(x), np.cumsum(x)]
    return np.concatenate([*parts, np.array([float(np.median(x))])])


def random_walks(np):
    rng = generator(np, 5)
    paths = rng.choice([-1, 1], size=(50, 200)).cumsum(axis=1)
    far = np.abs(paths) >= 10
    return np.concatenate([paths[:, -1], far.any(axis=1), far.argmax(axis=1)])


def training(np):
    rng = generator(np, 0)
    x = rng.random((64, 10), dtype=np.float32)
    y = np.eye(3, dtype=np.float32)[rng.integers(0, 3, 64)]
    w1 = rng.standard_normal((10, 16), dtype=np.float32) * np.float32(0.1)
    w2 = rng.standard_normal((16, 3), dtype=np.float32) * np.float32(0.1)
    b1, b2 = np.zeros(16, np.float32), np.zeros(3, np.float32)
    weights = (w1, b1, w2, b2)
    momenta = [np.zeros_like(w) for w in weights]
    losses = []
    for _ in range(10):
        h = np.maximum(x @ w1 + b1, 0)
        p = h @ w2 + b2
        p -= p.max(axis=1, keepdims=True)
        p = np.exp(p)
        p /= p.sum(axis=1, keepdims=True)
        losses.append(-(y * np.log(p + 1e-9)).sum() / 64)
        dz = (p - y) / 64
        dh = dz @ w2.T
        dh[h <= 0] = 0
        gradients = (x.T @ dh, dh.sum(0), h.T @ dz, dz.sum(0))
        for m, w, g in zip(momenta, weights, gradients, strict=True):
            m *= 0.9
            m += g
            w -= 0.1 * m
    return np.array([float(loss) for loss in losses], np.float32)


def image(np):
    im = np.arange(20 * 30 * 3).astype(np.uint8).reshape(20, 30, 3)
    half, planes = im[::-1, ::-2], im[..., ::-1].transpose(2, 0, 1)
    grey = (im @ np.array([0.3, 0.6, 0.1])).astype(np.uint8)
    pooled = grey.reshape(10, 2, 15, 2).mean(axis=(1, 3))
    im[5:10, 5:10, 0] = 255
    im[::2, ::3] //= 2
    parts = [half, planes, grey, pooled, im, np.rot90(grey), np.roll(grey, 3, axis=1)]
    return np.concatenate([part.ravel() for part in parts])


def masks(np):
    x = generator(np, 0).normal(size=(20, 20))
    x[x < -1] = np.nan
    missing = np.isnan(x)
    x[missing] = 0
    y = np.where(x > 0, x, -x)
    y[~missing & (x > 0.5)] *= 2
    z = np.clip(y, None, 1.5)
    return np.concatenate([x.ravel(), y[y > 0.3], z.ravel(), np.argwhere(z == 1.5).ravel()])


def loops(np):
    triangle = np.zeros((9, 9), dtype=np.int64)
    for i in range(9):
        triangle[i, 0] = 1
        for j in range(1, i + 1):
            triangle[i, j] = triangle[i - 1, j - 1] + triangle[i - 1, j]
    numbers, longest = np.array([1, 5, 2, 8, 3]), np.ones(5, dtype=int)
    for i in range(5):
        for j in range(i):
            if numbers[j] < numbers[i]:
                longest[i] = max(longest[i], longest[j] + 1)
    first, *rest = numbers
    total = sum(numbers)
    picked = triangle[range(3), [0, 1, 2]]
    return np.concatenate([triangle.ravel(), longest, picked, np.array([total, first, len(rest)])])


PROGRAMS = [
    k_means,
    game_of_life,
    jacobi,
    mandelbrot,
    logistic_regression,
    n_body,
    normalisations,
    histogram,
    fourier,
    sorting,
    random_walks,
    training,
    image,
    masks,
    loops,
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_program(program):
    want, got = program(np), program(la)
    assert isinstance(got, la.NDArray)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got.asnumpy(), want)
