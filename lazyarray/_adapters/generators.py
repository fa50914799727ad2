"""Generators of random numbers: libraries ask of what type they are."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from lazyarray._adapters.wrapping import WHAT

__all__: list[str] = []

# What says whether a generator of random numbers is one: it gets NumPy's, of the same stream.
TAKES_GENERATORS = {
    "scipy._lib._util": "check_random_state _rng_spawn",
    "scipy.sparse.linalg._eigen._svds": "_iv",
    "scipy.stats._qmc": "check_random_state",
    "sklearn.utils.validation": "check_random_state",
    "networkx.utils.misc": "create_random_state create_py_random_state",
    "pandas.core.common": "random_state",
    "statsmodels.tools.rng_qrng": "check_random_state",
}


def numpys_generator(o: Any) -> Any:
    """``o``, or of a generator of ours (also in a dict, or where it is our module) NumPy's own."""
    if isinstance(o, dict):
        return {key: numpys_generator(value) for key, value in o.items()}
    if isinstance(o, ModuleType):
        return np.random if o.__name__ == "lazyarray.random" else o
    from lazyarray.random.stream import Stream

    if isinstance(o, np.random.Generator) and isinstance(o.bit_generator, Stream):
        return np.random.Generator(o.bit_generator._lent(WHAT)._bit_generator)
    return o._lent(WHAT) if isinstance(o, Stream) else o


def _join() -> None:
    from lazyarray.random import devices

    devices.join(WHAT)


def asked(o: Any) -> Any:
    """The same where a library asks for a generator: NumPy's own stream, too, follows our draws."""
    if o is None or o is np.random.mtrand._rand or isinstance(o, ModuleType):
        _join()
    return numpys_generator(o)


def seeding(function: Callable[..., Any], take: Callable[[Any], Any]) -> Callable[..., Any]:
    """NumPy's ``seed``, which libraries call for the program: its draws are from our stream."""

    @functools.wraps(function)
    def seed(seed: Any = None) -> None:
        function(seed)
        from lazyarray.random import devices

        devices.seed(seed)

    return seed


def drawing(function: Callable[..., Any], take: Callable[[Any], Any]) -> Callable[..., Any]:
    """A method that asks for no generator where it draws from NumPy's own stream."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("random_state") is None:
            _join()
        return function(*args, **kwargs)

    return call
