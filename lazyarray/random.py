"""Random numbers: a generator for each device, whose draws happen in push order.

The functions draw from the generator of the device they make the array on; ``default_rng`` makes
generators of their own.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray._generator import Generator, Size
from lazyarray.context import chosen, current_context
from lazyarray.lazy._lazy import Tensor
from lazyarray.ops import _rows

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray.engine import Device

__all__ = [
    "Generator",
    "default_rng",
    "seed",
    "random",
    "rand",
    "uniform",
    "normal",
    "standard_normal",
    "randn",
    "integers",
    "randint",
    "exponential",
    "gamma",
    "beta",
    "poisson",
    "binomial",
    "choice",
    "permutation",
    "shuffle",
]


def default_rng(seed: Any = None, ctx: Any = None, *, device: Any = None) -> Generator:
    """A generator of its own, equal to ``numpy.random.default_rng(seed)`` value for value.

    >>> import lazyarray as la
    >>> la.random.default_rng(42).integers(100, size=3).asnumpy()
    array([ 8, 77, 65])
    """
    if isinstance(seed, Generator):
        return seed
    place = chosen(ctx, device) or current_context()
    return Generator(np.random.default_rng(seed), place)


# ---- the generators of the devices --------------------------------------------------------------

_generators: dict[Device, Generator] = {}
_lock = threading.Lock()
_base = np.random.SeedSequence()  # of the last seed() for all devices


def _stream(base: np.random.SeedSequence, device: Device) -> np.random.Generator:
    """The stream of a device: that of the seed on device 0, one of its own on each other one."""
    if device.device_id:
        key = (*base.spawn_key, device.device_id)
        base = np.random.SeedSequence(base.entropy, spawn_key=key)
    return np.random.default_rng(base)


def _of(device: Device) -> Generator:
    with _lock:
        found = _generators.get(device)
        if found is None:
            found = _generators[device] = Generator(_stream(_base, device), device)
    return found


def _here(ctx: Any, device: Any, *parameters: Any) -> Generator:
    """The generator of the device asked for, or else of the arrays, or else of this thread."""
    place = chosen(ctx, device)
    if place is None:
        place = next((x.device for x in parameters if isinstance(x, Tensor)), None)
    return _of(place or current_context())


def seed(seed: Any = None, ctx: Any = None, *, device: Any = None) -> None:
    """Starts the streams of the module's functions anew, in order with the draws around it.

    On ``cpu(0)`` they then give the values of ``numpy.random.default_rng(seed)``; on each other
    device a stream of its own that depends on the seed. With ``ctx`` only that device's stream
    starts anew, with ``default_rng(seed)``. None: at random.

    >>> import numpy as np, lazyarray as la
    >>> la.random.seed(5)
    >>> float(la.random.random()) == np.random.default_rng(5).random()
    True
    """
    global _base
    place = chosen(ctx, device)
    anew = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    if place is not None:
        _restart(_of(place), np.random.default_rng(anew))
        return
    with _lock:
        _base = anew
        everything = list(_generators.items())
    for where, generator in everything:
        _restart(generator, _stream(anew, where))


def _restart(generator: Generator, anew: np.random.Generator) -> None:
    state = generator._state

    def run(outs: list[np.ndarray], ins: list[np.ndarray]) -> None:
        state[0] = anew

    _rows.call("seed", run, [], [generator._resource], cost=1000, overwrites=False)


def random(
    size: Size = None, dtype: Any = np.float64, ctx: Any = None, *, device: Any = None
) -> NDArray:
    """Uniform floats in [0, 1); see :meth:`Generator.random`.

    >>> import lazyarray as la
    >>> la.random.random((2, 3)).shape
    (2, 3)
    """
    return _here(ctx, device).random(size, dtype)


def rand(*shape: int, dtype: Any = np.float64, ctx: Any = None, device: Any = None) -> NDArray:
    """Uniform floats in [0, 1), with the lengths of the axes as arguments.

    >>> import lazyarray as la
    >>> la.random.rand(2, 3).shape
    (2, 3)
    """
    return _here(ctx, device).random(shape, dtype)


def uniform(
    low: Any = 0.0,
    high: Any = 1.0,
    size: Size = None,
    dtype: Any = None,
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray:
    """Uniform floats in [low, high); see :meth:`Generator.uniform`.

    >>> import lazyarray as la
    >>> bool((la.random.uniform(2, 3, 100) < 3).all())
    True
    """
    return _here(ctx, device, low, high).uniform(low, high, size, dtype)


def normal(
    loc: Any = 0.0,
    scale: Any = 1.0,
    size: Size = None,
    dtype: Any = None,
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray:
    """Normal numbers; see :meth:`Generator.normal`.

    >>> import lazyarray as la
    >>> la.random.normal(la.zeros((3, 1)), 1, (3, 2), dtype="float32").dtype
    dtype('float32')
    """
    return _here(ctx, device, loc, scale).normal(loc, scale, size, dtype)


def standard_normal(
    size: Size = None, dtype: Any = np.float64, ctx: Any = None, *, device: Any = None
) -> NDArray:
    """Normal numbers of mean 0 and deviation 1; see :meth:`Generator.standard_normal`.

    >>> import lazyarray as la
    >>> la.random.standard_normal(4).shape
    (4,)
    """
    return _here(ctx, device).standard_normal(size, dtype)


def randn(*shape: int, dtype: Any = np.float64, ctx: Any = None, device: Any = None) -> NDArray:
    """Normal numbers of mean 0 and deviation 1, with the lengths of the axes as arguments.

    >>> import lazyarray as la
    >>> la.random.randn(2, 3).shape
    (2, 3)
    """
    return _here(ctx, device).standard_normal(shape, dtype)


def integers(
    low: Any,
    high: Any = None,
    size: Size = None,
    dtype: Any = np.int64,
    endpoint: bool = False,
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray:
    """Integers in [low, high), or [0, low) without ``high``; see :meth:`Generator.integers`.

    >>> import lazyarray as la
    >>> bool((la.random.integers(3, 5, 100, endpoint=True) <= 5).all())
    True
    """
    return _here(ctx, device, low, high).integers(low, high, size, dtype, endpoint)


def randint(
    low: Any,
    high: Any = None,
    size: Size = None,
    dtype: Any = np.int64,
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray:
    """Integers in [low, high), or [0, low) without ``high``: :func:`integers` by its older name.

    >>> import lazyarray as la
    >>> bool((la.random.randint(5, size=100) < 5).all())
    True
    """
    return _here(ctx, device, low, high).integers(low, high, size, dtype)


def exponential(
    scale: Any = 1.0,
    size: Size = None,
    dtype: Any = None,
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray:
    """Exponentially distributed numbers; see :meth:`Generator.exponential`.

    >>> import lazyarray as la
    >>> bool((la.random.exponential(2.0, 10) >= 0).all())
    True
    """
    return _here(ctx, device, scale).exponential(scale, size, dtype)


def gamma(
    shape: Any,
    scale: Any = 1.0,
    size: Size = None,
    dtype: Any = None,
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray:
    """Gamma-distributed numbers; see :meth:`Generator.gamma`.

    >>> import lazyarray as la
    >>> la.random.gamma(la.array([1.0, 2.0])).shape
    (2,)
    """
    return _here(ctx, device, shape, scale).gamma(shape, scale, size, dtype)


def beta(
    a: Any,
    b: Any,
    size: Size = None,
    dtype: Any = None,
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray:
    """Beta-distributed numbers; see :meth:`Generator.beta`.

    >>> import lazyarray as la
    >>> bool((la.random.beta(2.0, 3.0, 10) <= 1).all())
    True
    """
    return _here(ctx, device, a, b).beta(a, b, size, dtype)


def poisson(
    lam: Any = 1.0,
    size: Size = None,
    dtype: Any = None,
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray:
    """Poisson-distributed counts; see :meth:`Generator.poisson`.

    >>> import lazyarray as la
    >>> la.random.poisson(4.0, 3).dtype
    dtype('int64')
    """
    return _here(ctx, device, lam).poisson(lam, size, dtype)


def binomial(
    n: Any,
    p: Any,
    size: Size = None,
    dtype: Any = None,
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray:
    """How many of ``n`` trials of probability ``p`` succeed; see :meth:`Generator.binomial`.

    >>> import lazyarray as la
    >>> bool((la.random.binomial(10, 0.5, 20) <= 10).all())
    True
    """
    return _here(ctx, device, n, p).binomial(n, p, size, dtype)


def choice(
    a: Any,
    size: Size = None,
    replace: bool = True,
    p: Any = None,
    axis: int = 0,
    shuffle: bool = True,
    ctx: Any = None,
    *,
    device: Any = None,
) -> NDArray:
    """A sample of ``range(a)``, or of an array along an axis; see :meth:`Generator.choice`.

    >>> import lazyarray as la
    >>> la.random.choice(la.arange(10), 4, replace=False).shape
    (4,)
    """
    return _here(ctx, device, a, p).choice(a, size, replace, p, axis, shuffle)


def permutation(x: Any, axis: int = 0, ctx: Any = None, *, device: Any = None) -> NDArray:
    """``range(x)``, or a copy of an array, in random order; see :meth:`Generator.permutation`.

    >>> import lazyarray as la
    >>> la.random.permutation(5).sum().item()
    10
    """
    return _here(ctx, device, x).permutation(x, axis)


def shuffle(x: NDArray, axis: int = 0) -> None:
    """Puts an array in random order along an axis, in place; see :meth:`Generator.shuffle`.

    >>> import lazyarray as la
    >>> x = la.arange(5)
    >>> la.random.shuffle(x)
    >>> x.sum().item()
    10
    """
    _here(None, None, x).shuffle(x, axis)
