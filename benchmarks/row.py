"""What a row of the table is: its inputs, its code for each library, and what it should reach."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy

Array = Any  # an array of whichever library the code runs on
Module = Any  # its namespace: numpy, lazyarray, cupy, torch, jax.numpy, numexpr, numba
Body = Callable[..., Any]  # called as body(module, *arrays); gives what is to be computed

# These run a row's ``body`` as it stands.
NUMPY_STYLE = ("numpy", "lazyarray", "cupy", "torch", "jax")


@dataclass(frozen=True)
class Aim:
    """A limit on lazyarray's time: times the best of ``of``, or seconds where that is empty."""

    limit: float
    of: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """One line of the table: the same work for several libraries.

    ``body`` is ordinary NumPy code. ``variants`` has the code of a library that spells it otherwise
    or is not in ``NUMPY_STYLE``, or None where such a library is to be left out. A body does the
    work ``per`` times; a figure is the time of one. It may change its arrays in place, as long as
    repeating it stays the same work. Under JAX it is compiled unless ``jit`` is False. ``moves`` is
    the least that it has to read from memory and write there, in bytes, where that is what counts.
    """

    name: str
    body: Body
    inputs: Callable[[], Sequence[numpy.ndarray]]
    variants: Mapping[str, Body | None] = field(default_factory=dict)
    aims: tuple[Aim, ...] = ()
    per: int = 1
    unit: str = "ms"
    rtol: float = 1e-6  # between libraries
    jit: bool = True
    moves: int = 0
    overhead: bool = False  # measures calls, not arithmetic: kept out of the main geometric mean

    def body_for(self, library: str) -> Body | None:
        """The code of ``library``, or None if it does not take part."""
        return self.variants.get(library, self.body if library in NUMPY_STYLE else None)


def uniform(*shapes: tuple[int, ...], dtype: str = "float64", seed: int = 0) -> list[numpy.ndarray]:
    """An array of uniform numbers in [0.5, 1.5) for each shape, the same in every process."""
    rng = numpy.random.default_rng(seed)
    return [(rng.random(shape) + 0.5).astype(dtype) for shape in shapes]


def normal(*shapes: tuple[int, ...], dtype: str = "float64", seed: int = 0) -> list[numpy.ndarray]:
    """An array of standard normal numbers for each shape, the same in every process."""
    rng = numpy.random.default_rng(seed)
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]
