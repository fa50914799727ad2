"""Rows of slices, broadcasting and reductions: Jacobi, a torus, k-means, n-body, softmax, norms."""

from __future__ import annotations

import functools

import numpy

from benchmarks import numba_loops
from benchmarks.row import Aim, Array, Module, Row, normal, uniform

# ---- Jacobi -------------------------------------------------------------------------------------


def sweep(a: Array, b: Array) -> None:
    """Writes the five-point mean of ``b`` to the inside of ``a``."""
    a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[:-2, 1:-1] + b[2:, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:])


def jacobi(np: Module, a: Array, b: Array) -> tuple[Array, Array]:
    """Ten sweeps between two arrays."""
    for _ in range(5):  # two sweeps each
        sweep(a, b)
        sweep(b, a)
    return a, b


def jacobi_jax(jnp: Module, a: Array, b: Array) -> tuple[Array, Array]:
    """The same for arrays that cannot change."""

    def swept(a: Array, b: Array) -> Array:
        return a.at[1:-1, 1:-1].set(
            0.2 * (b[1:-1, 1:-1] + b[:-2, 1:-1] + b[2:, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:])
        )

    for _ in range(5):
        a = swept(a, b)
        b = swept(b, a)
    return a, b


def jacobi_numexpr(ne: Module, a: Array, b: Array) -> tuple[Array, Array]:
    """A sweep is one expression, written into the slice."""

    def swept(a: Array, b: Array) -> None:
        names = {
            "c": b[1:-1, 1:-1],
            "n": b[:-2, 1:-1],
            "s": b[2:, 1:-1],
            "w": b[1:-1, :-2],
            "e": b[1:-1, 2:],
        }
        ne.evaluate("0.2 * (c + n + s + w + e)", local_dict=names, out=a[1:-1, 1:-1])

    for _ in range(5):
        swept(a, b)
        swept(b, a)
    return a, b


def board() -> list[numpy.ndarray]:
    """Two arrays with the same edges."""
    (a,) = uniform((1000, 1000))
    return [a, a.copy()]


# ---- a torus ------------------------------------------------------------------------------------


def neighbours(np: Module, u: Array) -> Array:
    """The five-point Laplacian where the last row is next to the first, and so with columns."""
    return np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4 * u


def reaction(np: Module, u: Array, v: Array) -> tuple[Array, Array]:
    """Five steps of Gray and Scott's reaction and diffusion."""
    for _ in range(5):
        react = u * v * v
        du = 0.16 * neighbours(np, u) - react + 0.06 * (1 - u)
        dv = 0.08 * neighbours(np, v) + react - 0.122 * v
        u, v = u + du, v + dv
    return u, v


# ---- distances ----------------------------------------------------------------------------------


def nearest(np: Module, x: Array, centres: Array) -> Array:
    """The nearest centre of each point, by squared distance: the assignment step of k-means."""
    return ((x[:, None, :] - centres[None, :, :]) ** 2).sum(-1).argmin(1)


def nearest_numexpr(ne: Module, x: Array, centres: Array) -> Array:
    """The distances in one expression; NumPy finds the least."""
    names = {"x": x[:, None, :], "c": centres[None, :, :]}
    return ne.evaluate("sum((x - c) ** 2, axis=2)", local_dict=names).argmin(1)


def bodies(
    np: Module, x: Array, y: Array, z: Array, vx: Array, vy: Array, vz: Array, mass: Array
) -> tuple[Array, ...]:
    """Five steps of all bodies under their mutual, softened gravity; changes them in place."""
    dt, softening = 1e-3, 0.05
    for _ in range(5):
        dx = x[None, :] - x[:, None]
        dy = y[None, :] - y[:, None]
        dz = z[None, :] - z[:, None]
        r2 = dx * dx + dy * dy + dz * dz + softening
        pull = mass / (r2 * np.sqrt(r2))
        vx += dt * (pull * dx).sum(axis=1)
        vy += dt * (pull * dy).sum(axis=1)
        vz += dt * (pull * dz).sum(axis=1)
        x += dt * vx
        y += dt * vy
        z += dt * vz
    return x, y, z, vx, vy, vz


def stars() -> list[numpy.ndarray]:
    """Positions, velocities and masses of 1000 bodies."""
    *state, mass = normal(*[(1000,)] * 7)
    return [*state, numpy.abs(mass) / 1000]


# ---- over rows ----------------------------------------------------------------------------------


def softmax(np: Module, x: Array) -> Array:
    """The softmax of each row."""
    e = np.exp(x - np.amax(x, axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def mean_squared_error(np: Module, x: Array, y: Array) -> Array:
    """The mean of the squared differences."""
    return ((x - y) ** 2).mean()


def mean_squared_error_numexpr(ne: Module, x: Array, y: Array) -> Array:
    """The sum in one expression."""
    return ne.evaluate("sum((x - y) ** 2)") / x.size


def layer_norm(np: Module, x: Array, gamma: Array, beta: Array) -> Array:
    """Each row at mean 0 and variance 1, scaled and shifted by column."""
    centred = x - x.mean(axis=1, keepdims=True)
    variance = (centred * centred).mean(axis=1, keepdims=True)
    return centred / np.sqrt(variance + 1e-5) * gamma + beta


ROWS = [
    Row(
        "Jacobi, 1000 x 1000 float64, 10 sweeps",
        jacobi,
        board,
        {"jax": jacobi_jax, "numexpr": jacobi_numexpr, "numba": numba_loops.jacobi},
        (Aim(0.35, ("numpy",)),),
    ),
    Row(
        "reaction and diffusion by roll, 1000 x 1000 float64, 5 steps",
        reaction,
        functools.partial(uniform, (1000, 1000), (1000, 1000)),
        {"numba": numba_loops.reaction},
    ),
    Row(
        "k-means: the nearest of 64 centres for 20000 points, 8 float64 each",
        nearest,
        functools.partial(normal, (20_000, 8), (64, 8)),
        {"numexpr": nearest_numexpr, "numba": numba_loops.nearest},
        (Aim(0.35, ("numpy",)),),
    ),
    Row("n-body, 1000 bodies, 5 steps, float64", bodies, stars, {"numba": numba_loops.bodies}),
    Row(
        "softmax over rows, 4096 x 512 float32",
        softmax,
        functools.partial(normal, (4096, 512), dtype="float32"),
        {"numba": numba_loops.softmax},
        rtol=1e-3,
    ),
    Row(
        "mean squared error, 4M float64",
        mean_squared_error,
        functools.partial(normal, (4_000_000,), (4_000_000,)),
        {"numexpr": mean_squared_error_numexpr},
    ),
    Row(
        "layer norm, 4096 x 512 float32",
        layer_norm,
        functools.partial(normal, (4096, 512), (512,), (512,), dtype="float32"),
        rtol=1e-3,
    ),
    Row(
        "layer norm, 150000 x 7 float64",
        layer_norm,
        functools.partial(normal, (150_000, 7), (7,), (7,)),
        {},
    ),
]
