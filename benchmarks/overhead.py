"""Rows of what an op costs besides its arithmetic: recording, completion, syncs."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable

import numpy

from benchmarks.row import Aim, Array, Module, Row, uniform


def base() -> list[numpy.ndarray]:
    """Two arrays of ten elements: their arithmetic is nothing."""
    x = numpy.linspace(0.5, 1.5, 10)
    return [x, x.copy()]


def add(np: Module, x: Array, y: Array) -> Array:
    """The same op over and over."""
    for _ in range(4000):
        z = x + y
    return z


def in_place(np: Module, x: Array, y: Array) -> Array:
    """Each op needs the one before."""
    for _ in range(4000):
        x += y
    return x


def four(np: Module, x: Array, y: Array) -> Array:
    """Four ops an expression."""
    for _ in range(1000):
        z = (x * y + x - y) / 2.0
    return z


def sync(np: Module, x: Array, y: Array) -> float:
    """Two tiny ops and a wait for their value."""
    for _ in range(500):
        z = float((x * y).sum())
    return z


def sync_mxnet(nd: Module, x: Array, y: Array) -> float:
    """The same; MXNet's sums are arrays of one element."""
    for _ in range(500):
        z = float((x * y).sum().asscalar())
    return z


def dependent(np: Module, x: Array, y: Array, z: Array) -> Array:
    """A recurrence on tiny arrays."""
    for _ in range(500):  # two ops each
        x = x * y + z
    return x


def dependent_jax(jnp: Module, x: Array, y: Array, z: Array) -> Array:
    """The same as a compiled loop."""
    return importlib.import_module("jax").lax.fori_loop(0, 500, lambda i, x: x * y + z, x)


def look(np: Module, x: Array, y: Array) -> float:
    """A program that looks at a value in each of its steps."""
    total = 0.0
    for _ in range(100):
        total += float((x * y).sum())
    return total


@functools.cache
def _compiled_product() -> Callable[[Array, Array], Array]:
    product: Callable[[Array, Array], Array] = importlib.import_module("jax").jit(
        lambda x, y: (x * y).sum()
    )
    return product


def look_jax(jnp: Module, x: Array, y: Array) -> float:
    """The same with a compiled step."""
    product, total = _compiled_product(), 0.0
    for _ in range(100):
        total += float(product(x, y))
    return total


def _row(
    name: str,
    body: Callable[..., object],
    per: int,
    aim: Aim,
    variants: dict[str, Callable[..., object] | None] | None = None,
) -> Row:
    """A row of single calls, which JAX makes uncompiled."""
    return Row(
        name,
        body,
        base,
        {"mxnet": body} | (variants or {}),
        (aim,),
        per=per,
        unit="us",
        jit=False,
        overhead=True,
    )


ROWS = [
    _row("x + y, 10 elements, an op", add, 4000, Aim(0.3e-6)),
    # JAX has no ops in place
    _row("chain of 4000 x += y, an op", in_place, 4000, Aim(0.5e-6), {"jax": None}),
    _row("1000 four-op expressions, an op", four, 4000, Aim(0.5e-6)),
    _row(
        "float((x * y).sum()), complete operands",
        sync,
        500,
        Aim(2, ("numpy",)),
        {"mxnet": sync_mxnet},
    ),
    Row(
        "x = x * y + z, 1000 dependent ops on 10 elements",
        dependent,
        functools.partial(uniform, (10,), (10,), (10,)),
        {"jax": dependent_jax},
        unit="us",
        overhead=True,
    ),
    Row(
        "a sync each step: 100 times float((x * y).sum()), 1000 elements",
        look,
        functools.partial(uniform, (1000,), (1000,)),
        {"jax": look_jax},
        unit="us",
        jit=False,
        overhead=True,
    ),
]
