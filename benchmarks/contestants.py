"""The contestants: how each library is opened, given arrays, compiled for and waited for."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy

from benchmarks.row import Array, Module, Row


@dataclass(frozen=True)
class Contestant:
    """A column of the table: a library, in a process with these environment variables.

    It runs the rows' code for ``code``, by default that for its library.
    """

    library: str
    environment: tuple[tuple[str, str], ...] = ()
    code: str = ""

    def installed(self) -> bool:
        """Whether the library can be found."""
        return importlib.util.find_spec(self.library) is not None


CONTESTANTS = {
    "numpy": Contestant("numpy"),
    "torch": Contestant("torch"),
    "jax": Contestant("jax"),
    "numexpr": Contestant("numexpr"),
    "numba": Contestant("numba"),
    "mxnet": Contestant("mxnet"),
    "lazyarray": Contestant("lazyarray"),
    "no-jit": Contestant("lazyarray", (("LAZYARRAY_JIT", "0"),)),
    "lazyarray-1": Contestant("lazyarray", (("LAZYARRAY_CPU_WORKER_NTHREADS", "1"),)),
}


def _nothing(result: Any) -> None:
    """The wait of a library whose calls return when they are done."""


def _no_pool() -> None:
    """The trim of a library that need not give anything back."""


def _as_is(module: Module, run: Callable[..., Any]) -> Callable[..., Any]:
    """The compiler of a library that has none."""
    return run


@dataclass(frozen=True)
class Library:
    """An opened library; only its own process has one."""

    module: Module
    version: str
    array: Callable[[numpy.ndarray], Array]
    wait: Callable[[Any], object] = _nothing
    host: Callable[[Array], numpy.ndarray] = numpy.asarray
    jit: Callable[[Module, Callable[..., Any]], Callable[..., Any]] = _as_is
    trim: Callable[[], object] = _no_pool  # gives memory back that is only kept for reuse

    def prepare(self, name: str, row: Row) -> Callable[[], Any] | None:
        """A function that does the row's work, or None if the library has no part in it."""
        body = row.body_for(name)
        if body is None:
            return None
        run = functools.partial(body, self.module)
        return functools.partial(
            self.jit(self.module, run) if row.jit else run, *map(self.array, row.inputs())
        )


def _plain(name: str) -> Library:
    """NumPy, and what works on its arrays."""
    module = importlib.import_module(name)
    return Library(module, module.__version__, numpy.array)


def _torch(name: str) -> Library:
    torch = importlib.import_module(name)
    threads = f"{torch.__version__} ({torch.get_num_threads()} threads)"
    return Library(torch, threads, torch.tensor, host=lambda x: x.numpy())


def _jax(name: str) -> Library:
    jax = importlib.import_module(name)
    jax.config.update("jax_enable_x64", True)
    jnp = importlib.import_module("jax.numpy")
    # A copy: jax may otherwise share NumPy's memory, or not, as its alignment happens to be.
    return Library(
        jnp,
        jax.__version__,
        functools.partial(jnp.array, copy=True),
        jax.block_until_ready,
        jit=lambda module, run: jax.jit(run),
    )


def _mxnet(name: str) -> Library:
    mxnet = importlib.import_module(name)
    return Library(
        mxnet.nd,
        mxnet.__version__,
        lambda a: mxnet.nd.array(a, dtype=a.dtype),
        lambda result: mxnet.nd.waitall(),
        lambda x: x.asnumpy(),
    )


def _lazyarray(name: str) -> Library:
    la = importlib.import_module(name)
    workers = os.environ.get("LAZYARRAY_CPU_WORKER_NTHREADS", "").strip()
    return Library(
        la,
        f"{la.__version__} (workers: {workers or 'one a core'}; {type(la.engine.get()).__name__})",
        la.array,
        lambda result: la.waitall(),
        lambda x: x.asnumpy(),
    )


def open_library(name: str) -> Library:
    """Imports a library, and no other but the NumPy that makes the inputs."""
    special = {"torch": _torch, "jax": _jax, "mxnet": _mxnet, "lazyarray": _lazyarray}
    return special.get(name, _plain)(name)
