"""The generators of the devices, which the functions of ``la.random`` draw from."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from lazyarray.context import chosen
from lazyarray.engine import Device
from lazyarray.lazy._lazy import Tensor, swap_current_device
from lazyarray.random.generator import Generator
from lazyarray.random.stream import Size

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray

__all__ = ["default_rng", "seed", "get_state", "set_state", "rand", "randn", "randint"]


def default_rng(seed: Any = None, ctx: Any = None, *, device: Any = None) -> Generator:
    """A generator of its own, equal to ``numpy.random.default_rng(seed)`` value for value.

    On a GPU its numbers are others, see :class:`Generator`. ``seed`` may be a bit generator, or a
    generator of NumPy's; one of this package is given back.

    >>> import lazyarray as la
    >>> la.random.default_rng(42).integers(100, size=3).asnumpy()
    array([ 8, 77, 65])
    """
    if isinstance(seed, Generator):
        return seed
    if isinstance(seed, Tensor) and seed.ndim == 0:
        seed = int(seed)
    return Generator(np.random.default_rng(seed), ctx, device=device)


_generators: dict[Device, Generator] = {}
_lock = threading.Lock()
_base = np.random.SeedSequence()  # of the last seed() for all devices
_FIRST = Device("cpu", 0)


def _stream(base: np.random.SeedSequence, device: Device) -> np.random.Generator:
    """The stream of a device: that of the seed on ``cpu(0)``, one of its own on each other one."""
    if device != _FIRST:
        kind = () if device.device_type == "cpu" else tuple(device.device_type.encode())
        key = (*base.spawn_key, *kind, device.device_id)
        base = np.random.SeedSequence(base.entropy, spawn_key=key)
    return np.random.default_rng(base)


def _of(device: Device) -> Generator:
    found = _generators.get(device)
    if found is not None:
        return found
    with _lock:
        found = _generators.get(device)
        if found is None:
            found = _generators[device] = Generator(_stream(_base, device), device)
    return found


def here(ctx: Any, device: Any, *parameters: Any) -> Generator:
    """The generator of the device asked for, or else of the arrays, or else of this thread."""
    if ctx is not None or device is not None:
        return _of(chosen(ctx, device) or _FIRST)
    for x in parameters:
        if isinstance(x, Tensor):
            return _of(x.device)
    current = swap_current_device(_FIRST)
    if current != _FIRST:
        swap_current_device(current)
    return _of(current)


def seed(seed: Any = None, ctx: Any = None, *, device: Any = None) -> None:
    """Starts the streams of the module's functions anew, in order with the draws around it.

    On ``cpu(0)`` they then give the values of ``numpy.random.default_rng(seed)``; each other
    device has a stream of its own that depends on the seed. With ``ctx`` only that device's
    stream starts anew, with that of ``default_rng(seed)``. None: at random.

    >>> import numpy as np, lazyarray as la
    >>> la.random.seed(5)
    >>> float(la.random.random()) == np.random.default_rng(5).random()
    True
    """
    global _base
    place = chosen(ctx, device)
    anew = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    if place is not None:
        _of(place)._restart(np.random.default_rng(anew))
        return
    with _lock:
        _base = anew
        everything = list(_generators.items())
    for where, generator in everything:
        generator._restart(_stream(anew, where))


def get_state(legacy: bool = False, ctx: Any = None, *, device: Any = None) -> Any:
    """The state of a device's stream, which :func:`set_state` takes. Waits for its draws so far.

    It is a bit generator's ``state``; ``legacy`` is there for NumPy's signature.

    >>> import lazyarray as la
    >>> state = la.random.get_state()
    >>> x = la.random.random()
    >>> la.random.set_state(state)
    >>> bool(la.random.random() == x)
    True
    """
    return here(ctx, device)._now("get_state()").bit_generator.state


def set_state(state: Any, ctx: Any = None, *, device: Any = None) -> None:
    """Puts a device's stream into a state, in order with the draws around it.

    ``state`` is what :func:`get_state` gave, the ``state`` of any bit generator of NumPy's, or a
    tuple as ``numpy.random.get_state()`` gives it.

    >>> import numpy as np, lazyarray as la
    >>> la.random.set_state(np.random.PCG64(5).state)
    >>> float(la.random.random()) == np.random.default_rng(5).random()
    True
    """
    here(ctx, device)._restart(np.random.Generator(bits_in(state)))


def bits_in(state: Any) -> np.random.BitGenerator:
    """A bit generator in a state; NumPy's errors."""
    if isinstance(state, tuple):
        kind = state[0] if state else None
    elif isinstance(state, dict):
        kind = state.get("bit_generator")
    else:
        raise TypeError("state must be a dict or a tuple.")
    if kind not in ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"):
        raise ValueError(f"this is no state of a bit generator of NumPy's: {kind!r}")
    bits: np.random.BitGenerator = getattr(np.random, kind)()
    bits.state = state
    return bits


# ---- older names --------------------------------------------------------------------------------


def _standard(
    generator: Generator, name: str, shape: tuple[int, ...] | None, dtype: Any
) -> NDArray:
    """A draw without parameters. Halves, which NumPy's generators don't draw, are cast."""
    halves = np.dtype(dtype) == np.float16
    drawn: NDArray = getattr(generator, name)(shape, np.float64 if halves else dtype)
    return drawn.astype(dtype) if halves else drawn


def rand(*shape: int, dtype: Any = np.float64, ctx: Any = None, device: Any = None) -> NDArray:
    """Uniform floats in [0, 1), with the lengths of the axes as arguments.

    >>> import lazyarray as la
    >>> la.random.rand(2, 3).shape
    (2, 3)
    """
    return _standard(here(ctx, device), "random", shape or None, dtype)


def randn(*shape: int, dtype: Any = np.float64, ctx: Any = None, device: Any = None) -> NDArray:
    """Normal numbers of mean 0 and deviation 1, with the lengths of the axes as arguments.

    >>> import lazyarray as la
    >>> la.random.randn(2, 3).shape
    (2, 3)
    """
    return _standard(here(ctx, device), "standard_normal", shape or None, dtype)


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
    return here(ctx, device, low, high).integers(low, high, size, dtype)
