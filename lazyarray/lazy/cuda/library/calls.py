"""What the library's functions are given and raise, and the check of indices that they share."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.linalg import LinAlgError

Shape = tuple[int, ...]
Array = Any  # a CuPy array

SUPPORTED = frozenset("?bBhHiIlLqQefdFD")  # dtypes that CuPy has


class Hosted(Exception):
    """The host must do this; raised before anything is written."""


class Call(Protocol):
    """A GUFUNC instruction on a device, as its native loop is told it (see lazy/instr.h)."""

    name: str
    dtypes: list[np.dtype[Any]]  # of the operands: inputs, then outputs
    arrays: list[Array]  # where the kernel has cores: batch axes, then core axes
    shape: Shape  # of the batch
    steps: list[Shape]  # of each operand, bytes along the batch axes
    core: Shape
    core_steps: Shape

    def view(self, k: int, shape: Shape, steps: Shape, dtype: Any = None, offset: int = 0) -> Array:
        """Operand k's memory as an array; ``offset`` and ``steps`` are bytes."""
        ...

    def constant(self, k: int) -> Any:
        """Operand k if it is a constant of the instruction, else None."""
        ...


GUFUNCS: dict[str, Callable[[Call], None]] = {}

MOST = 2**31 - 1  # elements that all of CuPy's kernels count right


def countable(elements: int) -> None:
    """Hosted for more elements than CuPy counts in its 32 bits, where its results are wrong."""
    if elements > MOST:
        raise Hosted(f"{elements} elements")


def runs(*names: str) -> Callable[[Callable[[Call], None]], Callable[[Call], None]]:
    """Notes a function as what runs the GUFUNC kernels of these names; none: of its own name."""

    def note(function: Callable[[Call], None]) -> Callable[[Call], None]:
        for name in names or (function.__name__,):
            GUFUNCS[name] = function
        return function

    return note


def cupy() -> Any:
    """CuPy, which is imported when it is first needed."""
    return importlib.import_module("cupy")


@contextlib.contextmanager
def failing(message: str) -> Iterator[None]:
    """A solver that CuPy finds to have failed is a LinAlgError with NumPy's message."""
    errstate = importlib.import_module("cupyx").errstate
    try:
        with errstate(linalg="raise"):
            yield
    except LinAlgError:
        raise LinAlgError(message) from None


def check_bounds(index: Array, n: int, axis: int) -> None:
    """NumPy's IndexError for the first index that is outside an axis of length n. Waits for it.

    CuPy itself takes an index modulo the length.
    """
    if index.size == 0 or index.dtype.kind == "b":
        return
    flat = index.reshape(-1)
    # One comparison: what is negative still, is huge as an unsigned number. An unsigned index is
    # huge itself where it doesn't fit.
    outside = (flat.astype(np.int64, copy=False) + n).view(np.uint64) >= np.uint64(2 * n)
    if index.dtype.kind == "u":
        outside |= flat >= n
    if bool(outside.any()):
        first = int(flat[int(outside.argmax())])
        raise IndexError(f"index {first} is out of bounds for axis {axis} with size {n}")
