"""The contestants of the GPU's table: each library on the first CUDA device."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy

from benchmarks.contestants import Contestant, Library

CONTESTANTS = {
    "copy": Contestant("cupy", code="copy"),  # what the memory allows: copies on the device
    "cupy": Contestant("cupy"),
    "torch": Contestant("torch"),
    # All of them have their arrays on the device at the same time.
    "jax": Contestant("jax", (("XLA_PYTHON_CLIENT_PREALLOCATE", "false"),)),
    "lazyarray": Contestant("lazyarray"),
}


def _cupy() -> Library:
    cupy = importlib.import_module("cupy")
    return Library(
        cupy,
        cupy.__version__,
        cupy.array,
        lambda result: cupy.cuda.Stream.null.synchronize(),
        cupy.asnumpy,
        trim=cupy.get_default_memory_pool().free_all_blocks,
    )


def _torch() -> Library:
    torch = importlib.import_module("torch")
    if not torch.cuda.is_available():
        raise RuntimeError("this PyTorch finds no CUDA device")
    return Library(
        torch,
        f"{torch.__version__} (eager; CUDA {torch.version.cuda})",
        lambda a: torch.tensor(a, device="cuda"),
        lambda result: torch.cuda.synchronize(),
        lambda x: x.cpu().numpy(),
        trim=torch.cuda.empty_cache,
    )


def _jax() -> Library:
    jax = importlib.import_module("jax")
    if jax.default_backend() != "gpu":
        raise RuntimeError(f"this JAX runs on {jax.default_backend()!r}, not on a CUDA device")
    jax.config.update("jax_enable_x64", True)
    jax.config.update("jax_default_matmul_precision", "highest")  # float32, as everybody else's
    jnp = importlib.import_module("jax.numpy")
    return Library(
        jnp,
        f"{jax.__version__} (jit)",
        functools.partial(jnp.array, copy=True),
        jax.block_until_ready,
        jit=lambda module, run: jax.jit(run),
    )


def _lazyarray() -> Library:
    la = importlib.import_module("lazyarray")
    la.gpu(0).__enter__()  # for good: bodies make arrays there

    def array(a: numpy.ndarray) -> Any:
        return la.array(a, ctx=la.gpu(0)).wait_to_read()  # the host's memory can go

    def trim() -> None:
        la.waitall()
        la.storage.trim(la.gpu(0))
        importlib.import_module("cupy").get_default_memory_pool().free_all_blocks()

    return Library(
        la,
        la.__version__,
        array,
        lambda result: la.waitall(),
        lambda x: x.asnumpy(),
        trim=trim,
    )


def open_library(name: str) -> Library:
    """Imports a library, which then works on the first CUDA device; raises if it can't."""
    return {"cupy": _cupy, "torch": _torch, "jax": _jax, "lazyarray": _lazyarray}[name]()
