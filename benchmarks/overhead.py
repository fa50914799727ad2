"""What an op costs besides its arithmetic: recording, completion, syncs."""

from __future__ import annotations

from typing import Any

import numpy as np

import lazyarray as la
from benchmarks.harness import Row, installed

N = 10  # elements: the arithmetic is nothing


def _libraries() -> dict[str, tuple[Any, Any]]:
    """Name to (namespace, function that turns a NumPy array into its own)."""
    out: dict[str, tuple[Any, Any]] = {"numpy": (np, np.array), "lazyarray": (la, la.array)}
    for name in installed("torch", "jax", "mxnet"):
        if name == "torch":
            import torch

            out[name] = (torch, torch.tensor)
        elif name == "jax":
            import jax

            jax.config.update("jax_enable_x64", True)
            import jax.numpy as jnp

            out[name] = (jnp, jnp.asarray)
        else:
            import mxnet

            out[name] = (mxnet.nd, lambda a: mxnet.nd.array(a, dtype=a.dtype))
    return out


def _done(x: Any) -> None:
    """Waits for a value that may still be on its way."""
    for method in ("wait_to_read", "block_until_ready"):
        if hasattr(x, method):
            getattr(x, method)()


def rows() -> list[Row]:
    """The rows of this file."""
    libraries = _libraries()
    out = []
    base = np.linspace(0.5, 1.5, N)

    def make(title: str, body: Any, per: int, target: str) -> None:
        runs = {}
        for name, (xp, array) in libraries.items():
            if title.startswith("chain") and name == "jax":
                continue  # has no in-place ops
            runs[name] = body(xp, array(base), array(base))
        out.append(Row(title, runs, per, "us", target))

    def add(xp: Any, x: Any, y: Any) -> Any:
        def run() -> None:
            for _ in range(4000):
                z = x + y
            _done(z)

        return run

    def chain(xp: Any, x: Any, y: Any) -> Any:
        def run() -> None:
            z = x
            for _ in range(4000):
                z += y
            _done(z)

        return run

    def four(xp: Any, x: Any, y: Any) -> Any:
        def run() -> None:
            for _ in range(1000):
                z = (x * y + x - y) / 2.0
            _done(z)

        return run

    def sync(xp: Any, x: Any, y: Any) -> Any:
        def run() -> None:
            for _ in range(500):
                float((x * y).sum())

        return run

    make("x + y, 10 elements, an op", add, 4000, "<= 0.3 us")
    make("chain of 4000 x += y, an op", chain, 4000, "<= 0.5 us")
    make("1000 four-op expressions, an op", four, 4000, "<= 0.5 us")
    make("float((x * y).sum()), complete operands", sync, 500, "<= 2 of NumPy")
    return out
