"""The generators that a device's draws are compared with: NumPy's, or on a GPU what they stand for.

There a draw is expected to be what ``draws`` makes of NumPy's bit generator, called without engine
and recording; tests/cuda/test_draws.py tells whether these numbers are of their distributions.
"""

import inspect
from typing import Any

import numpy as np

import lazyarray as la
from lazyarray.lazy.cuda import draws
from lazyarray.random.devices import _numpys


def of_bits(bits: np.random.BitGenerator, device: Any = None) -> Any:
    """What ``la.random.Generator(bits)`` is expected to draw on a device, or on the current one."""
    on_gpu = la.Context(device or la.current_context()).device_type == "gpu"
    return Gpus(bits) if on_gpu else np.random.Generator(bits)


def default_rng(seed: Any) -> Any:
    """What ``la.random.default_rng(seed)`` is expected to draw on the current device."""
    return of_bits(np.random.default_rng(seed).bit_generator)


def seeded(seed: Any, device: Any = None) -> Any:
    """What the functions of ``la.random`` are expected to draw after ``la.random.seed(seed)``."""
    place = la.Context(device or la.current_context())
    generator = _numpys(seed, place)
    if isinstance(generator, np.random.RandomState):
        return Older(generator)
    return of_bits(generator.bit_generator, place)


class Older:
    """``numpy.random``'s functions, and ``Generator``'s on the same bits where they have none."""

    def __init__(self, generator: np.random.RandomState) -> None:
        self.older = generator
        self.bit_generator = generator._bit_generator
        self.newer = np.random.Generator(self.bit_generator)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.older if hasattr(self.older, name) else self.newer, name)


class Gpus:
    """A generator like NumPy's, some of whose methods draw as a GPU does."""

    def __init__(self, bits: np.random.BitGenerator) -> None:
        self.bit_generator = bits
        self._numpys = np.random.Generator(bits)

    def get_state(self) -> Any:
        return self.bit_generator.state

    # What the functions by older names draw there.
    def rand(self, *shape: int) -> Any:
        return self.random(shape or None)

    def randn(self, *shape: int) -> Any:
        return self.standard_normal(shape or None)

    def randint(self, *args: Any, **kwargs: Any) -> Any:
        return self.integers(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._numpys, name)


def _method(name: str) -> Any:
    numpys = getattr(np.random.Generator, name)
    signature = inspect.signature(getattr(la.random.Generator, name))

    def method(self: Gpus, *args: Any, **kwargs: Any) -> Any:
        import cupy

        judge = np.random.Generator(np.random.PCG64(0))
        like = numpys(judge, *args, **kwargs)  # its shape and class, or NumPy's error
        values = np.asarray(like)
        given = signature.bind(self, *args, **kwargs)
        given.apply_defaults()
        options = {k: v for k, v in given.arguments.items() if k in ("dtype", "endpoint")}
        if options.get("dtype", 0) is None:
            del options["dtype"]
        others = ("self", "size", "out", "method", "dtype", "endpoint")
        parameters = [v for k, v in given.arguments.items() if k not in others]
        if name == "integers" and parameters[1] is None:
            parameters = [0, parameters[0]]
        parameters = [np.array(p) if np.ndim(p) else p for p in parameters]
        drawn = cupy.empty(values.shape, options.get("dtype", values.dtype))
        if not draws.draw(name, self.bit_generator, drawn, tuple(parameters), options):
            return numpys(self._numpys, *args, **kwargs)
        out = given.arguments.get("out")
        if out is None:
            return float(drawn.get()) if isinstance(like, float) else drawn.get()[()]
        out[...] = drawn.get()
        return out

    return method


for _name in [row.name for row in la.random.TABLE] + (
    "random standard_normal standard_exponential standard_gamma integers".split()
):
    setattr(Gpus, _name, _method(_name))
