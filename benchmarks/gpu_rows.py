"""The rows of the GPU's table: bandwidth, small networks, rows and axes, latency."""

from __future__ import annotations

import functools
import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy

from benchmarks import training
from benchmarks.broadcasting import layer_norm, softmax
from benchmarks.elementwise import black_scholes, chain
from benchmarks.learning import network, network_step
from benchmarks.overhead import look, look_jax
from benchmarks.row import Aim, Array, Body, Module, Row, uniform

STEPS = 20  # of a training loop between two waits


def count(n: int) -> str:
    """A number of elements in few characters."""
    for unit, size in (("M", 10**6), ("k", 10**3)):
        if n >= size:
            return f"{n / size:.3g}{unit}"
    return str(n)


def blocks(*shapes: tuple[int, ...], dtype: str = "float32") -> list[numpy.ndarray]:
    """Uniform numbers in [0.5, 1.5), of large arrays a million again and again: sooner made."""
    few = uniform(*[(min(math.prod(shape), 1 << 20),) for shape in shapes], dtype=dtype)
    return [numpy.resize(block, shape) for block, shape in zip(few, shapes, strict=True)]


def copies(cupy: Module, *arrays: Array) -> None:
    """Copies on the device which read and write five arrays, as a chain or Black-Scholes does."""
    first, second, third = arrays[:3]
    half = first.size // 2
    cupy.copyto(second, first)
    cupy.copyto(third, first)
    cupy.copyto(second[:half], first[:half])


def options(n: int) -> list[numpy.ndarray]:
    """Prices, strikes and times to maturity."""
    price, strike, years = blocks((n,), (n,), (n,))
    price *= 100
    strike *= 100
    years *= 2
    return [price, strike, years]


def bandwidth(scale: float) -> list[Row]:
    """Fused expressions on large arrays, beside copies that move as much."""
    rows = []
    for millions, aims in ((256, (Aim(1 / 0.85, ("copy",)),)), (1, ())):
        n = max(1000, int(millions * 1e6 * scale))
        rows.append(
            Row(
                f"(a*b + c*d - a) / (b + 1.5), {count(n)} float32",
                chain,
                functools.partial(blocks, (n,), (n,), (n,), (n,)),
                {"copy": copies},
                aims,
                rtol=1e-3,
                moves=5 * 4 * n,
            )
        )
    n = max(1000, int(64e6 * scale))
    rows.append(
        Row(
            f"Black-Scholes, {count(n)} options, float32",
            black_scholes,
            functools.partial(options, n),
            {"copy": copies},
            (Aim(1.3, ("jax",)),),
            rtol=1e-3,
            moves=5 * 4 * n,
        )
    )
    return rows


# ---- loops over training steps -------------------------------------------------------------------


def loop(step: Body) -> Body:
    """Steps one after the other, which change the weights in place."""

    def run(np: Module, *arrays: Array) -> Any:
        for _ in range(STEPS):
            result = step(np, *arrays)
        return result

    return run


def loop_jax(step: Body) -> Body:
    """The same of a compiled step that gives new weights."""
    compiled: list[Callable[..., Any]] = []

    def run(jnp: Module, x: Array, target: Array, *weights: Array) -> Any:
        if not compiled:
            compiled.append(importlib.import_module("jax").jit(functools.partial(step, jnp)))
        for _ in range(STEPS):
            loss, *weights = compiled[0](x, target, *weights)
        return loss, *weights

    return run


def networks() -> list[Row]:
    """A network of small layers: its time is the calls, unless these overlap with the work."""
    loss = training.network_loss
    aims = (Aim(0.5, ("cupy",)), Aim(1, ("torch",)))
    by_hand: dict[str, Body | None] = {"jax": loop_jax(network_step)}
    traced: dict[str, Body | None] = {
        "jax": loop_jax(training.traced(loss, 6)),
        "torch": loop(training.eager(loss, 6)),
    }
    kinds = {
        "gradients by hand": by_hand,
        "autograd": traced | {"lazyarray": loop(training.imperative(loss, 6))},
        "autograd, la.compile": traced | {"lazyarray": loop(training.compiled(loss, 6))},
    }
    return [
        Row(
            f"a step of a 784-256-128-10 network, batch 128, float32; {kind}",
            loop(network_step),
            network,
            variants,
            aims,
            per=STEPS,
            unit="us",
            rtol=1e-3,
            jit=False,
        )
        for kind, variants in kinds.items()
    ]


# ---- rows and axes -------------------------------------------------------------------------------


def total(axis: int | None) -> Body:
    """A sum over an axis, or over both."""
    return lambda np, x: x.sum() if axis is None else x.sum(axis=axis)


def reductions(scale: float) -> list[Row]:
    """Softmax, layer norm, sums."""
    m, n = max(8, int(16384 * scale)), 1024
    more: dict[str, Any] = {"unit": "us", "rtol": 1e-3}
    inputs: dict[str, Callable[[], list[numpy.ndarray]]] = {
        "x": functools.partial(blocks, (m, n)),
        "norm": functools.partial(blocks, (m, n), (n,), (n,)),
        "wide": functools.partial(blocks, (m, 4 * n)),
    }
    rows = [
        Row(f"softmax over rows, {m} x {n} float32", softmax, inputs["x"], moves=8 * m * n, **more),
        Row(f"layer norm, {m} x {n} float32", layer_norm, inputs["norm"], moves=8 * m * n, **more),
    ]
    for axis in (0, 1, None):
        what = "everything" if axis is None else f"axis {axis}"
        rows.append(
            Row(
                f"sum over {what}, {m} x {4 * n} float32",
                total(axis),
                inputs["wide"],
                moves=4 * m * 4 * n,
                **more,
            )
        )
    return rows


# ---- latency -------------------------------------------------------------------------------------


def sums(np: Module, x: Array) -> float:
    """A sum and a wait for its value, again and again."""
    for _ in range(STEPS):
        value = float(x.sum())
    return value


@functools.cache
def _compiled_sum() -> Callable[[Array], Array]:
    compiled: Callable[[Array], Array] = importlib.import_module("jax").jit(lambda x: x.sum())
    return compiled


def sums_jax(jnp: Module, x: Array) -> float:
    """The same with a compiled sum."""
    for _ in range(STEPS):
        value = float(_compiled_sum()(x))
    return value


def add(np: Module, x: Array, y: Array) -> Array:
    """One op."""
    return x + y


def dependent(np: Module, x: Array, y: Array, z: Array) -> Array:
    """Each op needs the one before."""
    for _ in range(500):  # two ops each
        x = x * y + z
    return x


@functools.cache
def _compiled_pair() -> Callable[..., Array]:
    compiled: Callable[..., Array] = importlib.import_module("jax").jit(lambda x, y, z: x * y + z)
    return compiled


def dependent_jax(jnp: Module, x: Array, y: Array, z: Array) -> Array:
    """The same with two ops compiled into one."""
    for _ in range(500):
        x = _compiled_pair()(x, y, z)
    return x


def latency(scale: float) -> list[Row]:
    """Calls on small arrays, and waits."""
    n = max(1000, int(1e6 * scale))
    more: dict[str, Any] = {"unit": "us", "rtol": 1e-3, "jit": False, "overhead": True}
    ten = (10,)
    return [
        Row(
            f"float(x.sum()), {count(n)} float32",
            sums,
            functools.partial(blocks, (n,)),
            {"jax": sums_jax},
            per=STEPS,
            **more,
        ),
        Row(
            "float((x * y).sum()), 1000 float64",
            look,
            functools.partial(uniform, (1000,), (1000,)),
            {"jax": look_jax},
            per=100,
            **more,
        ),
        Row("x + y, 10 elements, and a wait", add, functools.partial(uniform, ten, ten), **more),
        Row(
            "x = x * y + z, 1000 dependent ops on 10 elements, an op",
            dependent,
            functools.partial(uniform, ten, ten, ten),
            {"jax": dependent_jax},
            per=1000,
            **more,
        ),
    ]


def rows(scale: float) -> list[Row]:
    """All of them, in the table's order; sizes are times ``scale``, where they are large."""
    return [*bandwidth(scale), *networks(), *reductions(scale), *latency(scale)]
