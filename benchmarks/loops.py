"""Rows of ordinary programs: time loops in place, loops that look at a value, large operands."""

from __future__ import annotations

import functools

import numpy

from benchmarks.row import Aim, Array, Module, Row, uniform


def relax(np: Module, x: Array, noise: Array) -> Array:
    """A long chain on one array, with a temporary of its own in each step."""
    for _ in range(300):
        x += 0.001 * (-(x - 10) / 0.05) + 0.2 * noise
    return x


def volumes(np: Module, u: Array) -> Array:
    """Finite volumes with a ghost cell at each end."""
    for _ in range(200):
        u[0] = u[1]
        u[-1] = u[-2]
        flux = 0.5 * (u[1:] + u[:-1]) - 0.5 * (u[1:] - u[:-1])
        u[1:-1] = u[1:-1] - 0.1 * (flux[1:] - flux[:-1])
    return u


def laplace(np: Module, u: Array) -> Array:
    """Sweeps until nothing changes, which is asked after each."""
    for _ in range(50):
        old = u.copy()
        u[1:-1, 1:-1] = 0.25 * (old[2:, 1:-1] + old[:-2, 1:-1] + old[1:-1, 2:] + old[1:-1, :-2])
        if np.abs(u - old).max() < 0:
            break
    return u


def most(np: Module, x: Array) -> Array:
    """The greatest of each column of a few long rows."""
    return x.max(0)


def picked(np: Module, x: Array, i: Array) -> Array:
    """Elements in random order."""
    return np.take(x, i)


def counted(np: Module, i: Array, w: Array) -> Array:
    """Weights summed by number."""
    return np.bincount(i, w)


def sparse(np: Module, x: Array) -> Array:
    """Many zeros, of which few are ever touched."""
    zeros = np.zeros(100_000_000)
    zeros[:1000] = x
    return zeros[:1000]


def numbers(top: int) -> list[numpy.ndarray]:
    """A million weights, and a number below ``top`` for each."""
    rng = numpy.random.default_rng(0)
    return [rng.integers(0, top, 1_000_000), rng.random(1_000_000)]


_NUMPYS = {"jax": None, "torch": None}  # arrays that cannot change, and other names
_ONE = (Aim(1.0, ("numpy",)),)

ROWS = [
    Row(
        "a chain in place, 10000 float64, 300 steps",
        relax,
        functools.partial(uniform, (10_000,), (10_000,)),
        _NUMPYS,
        _ONE,
    ),
    Row(
        "finite volumes, 1000 cells, 200 steps",
        volumes,
        functools.partial(uniform, (1000,)),
        _NUMPYS,
        _ONE,
    ),
    Row(
        "Laplace, 64 x 64, 50 sweeps with a test of convergence",
        laplace,
        functools.partial(uniform, (64, 64)),
        _NUMPYS,
        _ONE,
    ),
    Row(
        "x.max(0), 3 x 300000 float64",
        most,
        functools.partial(uniform, (3, 300_000)),
        _NUMPYS,
        _ONE,
    ),
    Row(
        "take of 1M float64 in random order",
        picked,
        lambda: numbers(1_000_000)[::-1],
        _NUMPYS,
        _ONE,
    ),
    Row("bincount of 1M, with weights", counted, lambda: numbers(1000), _NUMPYS, _ONE),
    Row(
        "zeros(10**8), 1000 of them used",
        sparse,
        functools.partial(uniform, (1000,)),
        _NUMPYS,
        _ONE,
        unit="us",
        overhead=True,
    ),
]
