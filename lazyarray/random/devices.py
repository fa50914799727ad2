"""The streams of the devices, which the functions of ``la.random`` draw from."""

from __future__ import annotations

import pickle
import threading
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

import lazyarray._ndarray  # noqa: F401  streams hold arrays
from lazyarray.context import chosen
from lazyarray.engine import Device
from lazyarray.engine._engine import hold_at_fork
from lazyarray.lazy._lazy import Tensor, swap_current_device
from lazyarray.ops.hosts import MOST_AXES, to_host
from lazyarray.random.generator import Generator
from lazyarray.random.legacy import as_randint
from lazyarray.random.module import ModuleStream
from lazyarray.random.stream import Size

if TYPE_CHECKING:
    from lazyarray._ndarray import NDArray
    from lazyarray._types import ArrayLike, DeviceLike, DTypeLike, Seed, State, Stream

__all__ = [
    "default_rng",
    "seed",
    "get_state",
    "set_state",
    "rand",
    "randn",
    "randint",
    "random_integers",
]


def default_rng(
    seed: Seed | Stream | Generator = None, ctx: DeviceLike = None, *, device: DeviceLike = None
) -> Generator:
    """A generator of its own, equal to ``numpy.random.default_rng(seed)`` value for value.

    On a GPU its numbers are others, see :class:`Generator`. ``seed`` may be a bit generator, or a
    generator of NumPy's; one of this package is given back.

    Args:
        seed: a number, a sequence of numbers, a ``SeedSequence``, a bit generator, or a generator
            of NumPy's; one of this package is given back. None: at random.
        ctx: the device that it draws on; None: :func:`lazyarray.current_context`.
        device: the same as ``ctx``, by the array API's name.
    Returns: a :class:`Generator`.
    Raises: what NumPy's ``default_rng`` raises for a wrong seed; ValueError if ``ctx`` and
        ``device`` are different devices.

    >>> import lazyarray as la
    >>> la.random.default_rng(42).integers(100, size=3).asnumpy()
    array([ 8, 77, 65])
    """
    if isinstance(seed, Generator):
        return seed
    given = known(seed)
    return Generator(np.random.default_rng(given), ctx, device=device)._seeded(given)


_FIRST = Device("cpu", 0)


def known(seed: Any) -> Any:
    """A seed with NumPy's numbers for an array's, which is waited for: it judges their dtypes."""
    if _is_deep(seed, 0):
        raise ValueError(f"a seed nests at most {MOST_AXES} sequences")  # NumPy goes on for ever
    given = to_host(seed, "a seed")
    return np.asarray(given)[()] if isinstance(given, np.ndarray) else given


def _is_deep(o: Any, depth: int) -> bool:
    if type(o) is list or type(o) is tuple:  # perhaps one that is in itself
        return depth == MOST_AXES or any(_is_deep(part, depth + 1) for part in o)
    return False


def older(seed: Any) -> np.random.RandomState:
    """NumPy's older generator of a seed; NumPy's errors."""
    if isinstance(seed, np.random.SeedSequence):
        seed = np.random.MT19937(seed)
    return np.random.RandomState(seed)


def _numpys(seed: Any, device: Device) -> np.random.RandomState | np.random.Generator:
    """NumPy's generator of a device: the seed's on ``cpu(0)``, one of its own on each other one."""
    if device == _FIRST:
        return older(seed)
    on_cpu = device.device_type == "cpu"
    base = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    kind = () if on_cpu else tuple(device.device_type.encode())
    key = (*base.spawn_key, *kind, device.device_id)
    base = np.random.SeedSequence(base.entropy, spawn_key=key)
    return older(base) if on_cpu else np.random.default_rng(base)


def _stream(device: Device) -> Any:
    generator = _numpys(_base, device)
    if isinstance(generator, np.random.RandomState):
        return ModuleStream(generator, device)
    return Generator(generator, device)


_lock = threading.Lock()
hold_at_fork(_lock, pushes=True)
_base: Any = np.random.SeedSequence()  # of the last seed() for all devices
_numpys_own: Any = np.random.mtrand._rand
# NumPy's function itself: libraries that call it start our streams, too.
_seed_numpys: Any = getattr(np.random.seed, "__wrapped__", np.random.seed)
# Of NumPy's own stream, from when ours was started: its state, or the seed that it got.
_untouched: bytes | tuple[Any] | None = None
first: ModuleStream = _stream(_FIRST)
_streams: dict[Device, Any] = {_FIRST: first}


def _of(device: Device) -> Any:
    found = _streams.get(device)
    if found is not None:
        return found
    with _lock:
        found = _streams.get(device)
        if found is None:
            found = _streams[device] = _stream(device)
    return found


def here(ctx: Any, device: Any, *parameters: Any) -> Any:
    """The stream of the device asked for, or else of the arrays, or else of this thread.

    It is a :class:`ModuleStream`, or on a GPU a :class:`Generator`.
    """
    if ctx is not None or device is not None:
        return _of(chosen(ctx, device) or _FIRST)
    for x in parameters:
        if isinstance(x, Tensor):
            return _of(x.device)
    current = swap_current_device(_FIRST)
    if current != _FIRST:
        swap_current_device(current)
    return _of(current)


def _state_of(stream: np.random.RandomState) -> bytes:
    return pickle.dumps(stream.get_state(legacy=False))


def join(what: str) -> None:
    """Makes NumPy's own stream and that of ``cpu(0)`` one: a library is about to draw from NumPy's.

    So the program's draws and the library's follow each other as with NumPy. If somebody has set
    the state of NumPy's stream or drawn from it since it was seeded, both stay what they are. Waits
    for the draws so far, by ``what``.
    """
    global _untouched
    with _lock:
        left, _untouched = _untouched, None
    if isinstance(left, tuple):
        left = _state_of(older(*left))
    if left is not None and left == _state_of(_numpys_own):
        np.random.set_state(first._lent(what).get_state())  # noqa: NPY002 -- that stream is meant
        first._restart(_numpys_own, shared=True)
    elif first._source.now() is _numpys_own:
        first._lent(what)


def newer_here(*parameters: Any) -> Generator:
    """The same as a :class:`Generator`, on the same bits: for draws that are none of NumPy's."""
    stream = here(None, None, *parameters)
    newer: Generator = stream.newer if isinstance(stream, ModuleStream) else stream
    return newer


def seed(seed: Seed = None, ctx: DeviceLike = None, *, device: DeviceLike = None) -> None:
    """Starts the streams of the module's functions anew, in order with the draws around it.

    On ``cpu(0)`` they then give the values that ``numpy.random``'s functions give after
    ``numpy.random.seed(seed)``; each other device has a stream of its own that depends on the seed.
    With ``ctx`` only that device's stream starts anew, with these values. On a GPU it is that of
    ``default_rng(seed)``. None: at random. ``seed`` may be a ``SeedSequence``, too.

    Without ``ctx`` NumPy's own stream starts anew as well, for libraries that draw from it. Those
    that ask for a generator (SciPy, scikit-learn, pandas) continue the stream of ``cpu(0)``, and it
    goes on after them: a program that seeds ``np.random`` once has the same numbers with the import
    changed.

    Args:
        seed: a number, a sequence of numbers, or a ``SeedSequence``; None: at random.
        ctx: the device whose stream starts anew; None: all.
        device: the same as ``ctx``, by the array API's name.
    Returns: None.
    Raises: what NumPy's ``RandomState`` raises for a wrong seed; ValueError if ``ctx`` and
        ``device`` are different devices.

    >>> import numpy as np, lazyarray as la
    >>> la.random.seed(5)
    >>> np.random.seed(5)
    >>> float(la.random.random()) == np.random.random()
    True
    """
    global _base, _untouched
    given = known(seed)
    if ctx is not None or device is not None:
        stream = here(ctx, device)
        old = isinstance(stream, ModuleStream)
        stream._restart(older(given) if old else np.random.default_rng(given))
        return
    if given is None:
        given = np.random.SeedSequence()
    if first._source.now() is _numpys_own:
        first._lent("seed()")  # what was drawn so far comes before the seed of NumPy's
        first._restart(older(0))
        if first._source.now() is not _numpys_own:
            first._seeded(None)
    if isinstance(given, np.random.SeedSequence) or type(first._bits()) is not np.random.MT19937:
        first._restart(older(given))
        _untouched = _state_of(_numpys_own)
    else:
        first.seed(given)
        _seed_numpys(given)
        _untouched = (copy(given),)  # to look at the state takes ten times as long as to seed
    with _lock:
        _base = copy(given)
        streams = list(_streams.items())
    for where, stream in streams:
        if stream is not first:
            stream._restart(_numpys(given, where))


def get_state(legacy: bool = True, ctx: DeviceLike = None, *, device: DeviceLike = None) -> State:
    """The state of a device's stream, as ``numpy.random.get_state``. Waits for its draws so far.

    It is a tuple, or with ``legacy=False`` a dict, which ``numpy.random.set_state`` takes, too; of
    a GPU's stream the bit generator's ``state``.

    Args:
        legacy: whether to give a tuple, not a dict.
        ctx: the device; None: :func:`lazyarray.current_context`.
        device: the same as ``ctx``, by the array API's name.
    Returns: a tuple or a dict.
    Raises: ValueError if ``ctx`` and ``device`` are different devices.

    >>> import lazyarray as la
    >>> state = la.random.get_state()
    >>> x = la.random.random()
    >>> la.random.set_state(state)
    >>> bool(la.random.random() == x)
    True
    """
    stream = here(ctx, device)
    if isinstance(stream, ModuleStream):
        return stream.get_state(legacy)
    return stream._now("get_state()").bit_generator.state


def set_state(state: State, ctx: DeviceLike = None, *, device: DeviceLike = None) -> None:
    """Puts a device's stream into a state, in order with the draws around it.

    Args:
        state: what :func:`get_state` or ``numpy.random.get_state`` gave, or the ``state`` of any
            bit generator of NumPy's.
        ctx: the device; None: :func:`lazyarray.current_context`.
        device: the same as ``ctx``, by the array API's name.
    Returns: None.
    Raises: TypeError or ValueError for what is no state; ValueError if ``ctx`` and ``device`` are
        different devices.

    >>> import numpy as np, lazyarray as la
    >>> la.random.set_state(np.random.RandomState(5).get_state())
    >>> float(la.random.random()) == np.random.RandomState(5).random()
    True
    """
    global _untouched
    stream = here(ctx, device)
    bits = bits_in(state)
    if not isinstance(stream, ModuleStream):
        stream._restart(np.random.Generator(bits))
        return
    anew = np.random.RandomState(bits)
    if isinstance(bits, np.random.MT19937):
        anew.set_state(state)  # with half a pair of normal numbers
        if stream is first:
            _untouched = _state_of(_numpys_own)
    stream._restart(anew)


def bits_in(state: Any) -> np.random.BitGenerator:
    """A bit generator in a state; NumPy's errors."""
    if isinstance(state, list):
        return bits_in(tuple(state))
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


def _standard(generator: Any, name: str, shape: tuple[int, ...] | None, dtype: Any) -> NDArray:
    """A draw without parameters. Halves, which NumPy's generators don't draw, are cast."""
    halves = np.dtype(dtype) == np.float16
    drawn: NDArray = getattr(generator, name)(shape, np.float64 if halves else dtype)
    return drawn.astype(dtype) if halves else drawn


def rand(
    *shape: int, dtype: DTypeLike = np.float64, ctx: DeviceLike = None, device: DeviceLike = None
) -> NDArray:
    """Uniform floats in [0, 1), with the lengths of the axes as arguments.

    Args:
        shape: the lengths of the axes.
        dtype: what the numbers are cast to.
    Returns: an array of that shape; one number without lengths.

    >>> import lazyarray as la
    >>> la.random.rand(2, 3).shape
    (2, 3)
    """
    return _standard(here(ctx, device), "random", shape or None, dtype)


def randn(
    *shape: int, dtype: DTypeLike = np.float64, ctx: DeviceLike = None, device: DeviceLike = None
) -> NDArray:
    """Normal numbers of mean 0 and deviation 1, with the lengths of the axes as arguments.

    Args:
        shape: the lengths of the axes.
        dtype: what the numbers are cast to.
    Returns: an array of that shape; one number without lengths.

    >>> import lazyarray as la
    >>> la.random.randn(2, 3).shape
    (2, 3)
    """
    return _standard(here(ctx, device), "standard_normal", shape or None, dtype)


def randint(
    low: ArrayLike,
    high: ArrayLike | None = None,
    size: Size = None,
    dtype: DTypeLike = np.int64,
    ctx: DeviceLike = None,
    *,
    device: DeviceLike = None,
) -> NDArray:
    """Integers in [low, high), or [0, low) without ``high``.

    Args:
        low: the least integer, or, alone, the upper end.
        high: the upper end, which is not drawn.
        size: the shape of what is drawn; None: that to which the ends broadcast.
        dtype: the dtype of the integers.
    Returns: an array of the shape ``size``; one integer without one.
    Raises: ValueError where no integer lies between the ends, or they are beyond the dtype: at the
        wait if they are NDArrays.

    >>> import lazyarray as la
    >>> bool((la.random.randint(5, size=100) < 5).all())
    True
    """
    stream = here(ctx, device, low, high)
    draw = stream.randint if isinstance(stream, ModuleStream) else stream.integers
    drawn: NDArray = draw(low, high, size, dtype)
    return drawn


def random_integers(
    low: ArrayLike,
    high: ArrayLike | None = None,
    size: Size = None,
    ctx: DeviceLike = None,
    *,
    device: DeviceLike = None,
) -> NDArray:
    """Integers in [low, high], or [1, low] without ``high``; deprecated, as NumPy's is.

    Args:
        low: the least integer, or, alone, the greatest.
        high: the greatest integer.
        size: the shape of what is drawn; None: one.
        ctx: the device of the result; None: :func:`lazyarray.current_context`.
        device: the same as ``ctx``, by the array API's name.
    Returns: an array of the shape ``size``; one integer without one. With a DeprecationWarning.
    Raises: ValueError where no integer lies between the ends; ValueError if ``ctx`` and ``device``
        are different devices.

    >>> import warnings, lazyarray as la
    >>> la.random.seed(0)
    >>> with warnings.catch_warnings(action="ignore"):
    ...     la.random.random_integers(10, size=3).asnumpy()
    array([6, 1, 4])
    """
    low, high = as_randint(low, high)
    return randint(low, high, size, np.dtype("l"), ctx, device=device)
